"""Algorithm B of the high-probability generalisation bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    Mechanism,
    ParameterError,
    Program,
    Scores,
    as_written,
    cached,
    checks,
    to_float,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.generalization.algorithm_b_theory import THEOREM, AlgorithmBTheory
from dpaudit_algorithms.generalization.interaction import Population, Predicate
from dpaudit_algorithms.generalization.tightness import in_order

Table: TypeAlias = tuple[int, ...]
"""A predicate as its values on the points of the population, in order."""


@dataclass(frozen=True)
class AlgorithmB(AlgorithmBTheory):
    """Run A on each of T = ⌊ε/δ⌋ sub-databases and pick a predicate whose mean there differs from its mean on D.

    Privacy: a replaced record is in one sub-database, so A's outputs on all of them are jointly (ε, δ)-DP. Given these,
    the score n·(h(S_t) − h(D)) changes by at most 1, and the exponential mechanism adds ε. The result is (2ε, δ), for
    every ε and δ.

    The theorem is true, but its proof has a gap. With "≥ 1/2", 5ε − (2/(εn))·ln(2Tk) must exceed e^{2ε} − 1 + Tδ; at
    the printed n it is 3ε or slightly more, and the right side is more than 3ε if ε/δ is whole. The proof works with
    1 − (1 − δ/ε)^⌊ε/δ⌋ ≥ 1 − (4/5)^4 = 0.5904 for ε/δ > 4: then 3.904ε > e^{2ε} − 1 + ε for ε ≤ 1/3, because
    e^{2ε} − 1 is convex and below 2.844ε there. (Or with 1/2 and `Lemma 4.2, sharpened`: 3ε > tanh(ε) + ε.)

    Lemma 4.2 sharpened: let p = E[h(S_t)], q = E[h(D)], τ = Tδ, for an (ε, δ)-DP algorithm. Its proof gives
    p ≤ e^ε·q + τ. For the negated predicates, exchanging z and x_{m,i}, it gives 1 − q ≤ e^ε·(1 − p) + τ. With
    d = p − q these are d ≤ (e^ε − 1)q + τ and e^ε·d ≤ (e^ε − 1)(1 − q) + τ, and their sum is
    d ≤ tanh(ε/2) + 2τ/(1 + e^ε). The same holds for −d.

    Args:
        inner: A, (ε, δ)-DP under replace-one; its output is a tuple of k predicates.
        population: D, known.
        epsilon: ε > 0.
        delta: δ in (0, ε].
        k: number of predicates that A outputs, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range, an A whose claim does not imply (ε, δ), or one that outputs
            another number of predicates.
        DatasetError: not T·n records in order, n ≥ 1.

    Source: Stemmer's thesis, section 4.2, Theorem 4.3 and algorithm B of its proof, Lemma 4.2, Claim 4.4.
    """

    inner: Mechanism
    population: Population
    epsilon: checks.Positive
    delta: checks.Probability
    k: checks.Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.delta <= self.epsilon:
            raise ParameterError(f"delta must lie in (0, epsilon], not {self.delta!r}.")
        if not claim_of(self.inner).implies(Claim(self.epsilon, self.delta)):
            raise ParameterError(f"A must be ({self.epsilon!r}, {self.delta!r})-DP, and claims {self.inner.claim}.")

    @property
    def claim(self) -> Claim:
        """(2ε, δ)."""
        return Claim(2 * self.epsilon, self.delta)

    @property
    def parts(self) -> int:
        """T = ⌊ε/δ⌋, with ε and δ as written in decimals."""
        return math.floor(as_written(self.epsilon) / as_written(self.delta))

    def run(self, S: Any) -> Program:
        databases = self._split(in_order(S))
        F: set[tuple[Table, int]] = set()  # step 1
        for t, S_t in enumerate(databases, start=1):  # step 2
            predicates = yield self.inner.on(S_t)  # step 2(a)
            if len(predicates) != self.k:
                raise ParameterError(f"k must be {len(predicates)}, as many predicates as A outputs, not {self.k}.")
            for h in predicates:  # step 2(b)
                table = tuple(h(x) for x in self.population.points)
                F |= {(table, t), (tuple(1 - value for value in table), t)}
        # step 3: (h*, t*) with probability ∝ exp((εn/2)·(h*(S_t*) − h*(D)))
        n, where, labels = len(databases[0]), {x: i for i, x in enumerate(self.population.points)}, tuple(sorted(F))
        scores = [sum(h[where[x]] for x in databases[t - 1]) - n * _mass(self.population, h) for h, t in labels]
        return Scores([to_float(score) for score in scores], labels).softmax(self.epsilon / 2)

    def _split(self, records: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        n, rest = divmod(len(records), self.parts)
        if rest or not n:
            raise DatasetError(f"The dataset must be {self.parts} sub-databases of n ≥ 1 records, not {len(records)}.")
        if not set(records) <= set(self.population.points):
            raise DatasetError("Every record must be a point of the population.")
        return [records[i * n : (i + 1) * n] for i in range(self.parts)]


@dataclass(frozen=True)
class _Tabled(Predicate):
    points: tuple[Any, ...]
    table: Table

    def __call__(self, x: Any) -> int:
        return self.table[self.points.index(x)]


@cached(maxsize=4096)
def _mass(population: Population, table: Table) -> Fraction:
    return population.mass(_Tabled(population.points, table))


# --- cards: claims, sources and deviations from the papers ---

AlgorithmB.card = Card(
    name="AlgorithmB",
    system="G5",
    title="Algorithm B: picks a predicate that distinguishes a sub-database from its known distribution",
    paper=THESIS,
    place=f"{THEOREM}, algorithm B of its proof; Lemma 4.2, Claim 4.4; Theorems 4.1 and 4.7",
    claim="(2ε, δ)-DP under replace-one, if A is (ε, δ)-DP",
    inputs="a sequence of T·n records, T = ⌊ε/δ⌋, n ≥ 1: S_1, …, S_T one after the other; A, D, epsilon > 0, "
    "0 < delta ≤ epsilon, k ≥ 1",
    output="(h*, t*): the values of h* on the points of D, in their order; t* in 1, …, T",
    deviations=(
        "Theorem 4.3 requires ε < 1/3 and δ < ε/4; B and its privacy do not, and are also tested outside this range.",
        "X is the finite set of points of D; predicates that are equal on X are one element of the set F.",
        "log is natural, as the proof of Claim 4.4 needs; with base 2 the printed n is larger, and the proof works "
        "for ε ≤ 0.256.",
        "Lemma 4.2 bounds an expectation; it is tested as the probability (1 + E[h(S_t) − h(D)])/2 of an event.",
        "For ε > 1/10 Theorem 4.3 is vacuous, because 10ε > 1.",
    ),
    findings=(FINDINGS[32],),
)
