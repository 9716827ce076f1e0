"""ReorderSliceCompute: an adaptive choice of disjoint slices, each handed to a private algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    ADD_REMOVE_ONE,
    HALFSPACES,
    Card,
    Claim,
    CutGeometric,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    checks,
    log2,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.half_spaces.reorder_slice_compute_theory import slice_composition
from dpaudit_algorithms.half_spaces.sorters import Sorter, estranged

CHECKED_RECORDS = 4
"""Sorters that are no fixed order are tried on all datasets of at most so many records."""


@dataclass(frozen=True)
class ReorderSliceCompute(Mechanism):
    """Algorithm 7: τ times, the m̃ = m + Geom(1 − e^{−ε}) largest records by E_i leave the dataset and go to A.

    Its lemma as printed is a claim with an O(·), which is no number: `claim` is the explicit bound of
    `slice_composition`, and `lemma_20` the printed one for a constant of the reader's choice. Two things of Lemma 20
    are refuted, for every constant (FINDINGS.md): it does not ask that sorters map neighbours to neighbours, and its
    2δτ is too little for τ = 1, ε > ln 2 and τ = 2, ε > ln 2.5.

    A sorter that is no `FixedOrder` is tried when the mechanism is made, on all datasets of at most 4 records of
    `values`: public ones, for a refusal at run time would tell on the dataset. What passes is not proved.

    Args:
        epsilon: ε > 0, of A and of Geom.
        delta: δ in [0, 1), of A.
        tau: τ ≥ 1.
        m: ≥ 1.
        sorters: E_1, …, E_τ.
        inner: A, (ε, δ)-DP under add/remove-one.
        delta_prime: δ′ in [0, 1), of the claim; the algorithm does not use it.
        values: records on which sorters are tried.
        unchecked: take any sorters; the claim is then none that anybody has proved.

    Raises:
        ParameterError: a parameter outside its range, an inner algorithm whose claim is not (ε, δ), or a sorter that
            does not map neighbours to neighbours.

    Source: half-spaces paper, Algorithm 7 and Lemma 20, after Cohen, Lyu, Nelson, Sarlós and Stemmer (STOC 2023).
    """

    epsilon: checks.Positive
    delta: float
    tau: checks.Count
    m: checks.Count
    sorters: tuple[Sorter, ...]
    inner: Mechanism
    delta_prime: float = 0.01
    values: tuple[Any, ...] = ()
    unchecked: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("delta", "delta_prime"):
            if checks.probability(name, getattr(self, name)) == 1:
                raise ParameterError(f"{name} must be below 1.")
        if len(self.sorters) != self.tau:
            raise ParameterError(f"tau = {self.tau} needs as many sorters, not {len(self.sorters)}.")
        asked = Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)
        if not claim_of(self.inner).implies(asked):
            raise ParameterError(f"The inner algorithm must be {asked}; {self.inner.name} is {self.inner.claim}.")
        for sorter in self.sorters if not self.unchecked else ():
            self._accept(sorter)

    def _accept(self, sorter: Sorter) -> None:
        if sorter.fixed:
            return
        if not self.values:
            raise ParameterError(f"{sorter!r} is no fixed order: give `values`, records on which it can be tried.")
        found = estranged(sorter, self.values, CHECKED_RECORDS)
        if found is not None:
            raise ParameterError(
                f"{sorter!r} does not map neighbours to neighbours: {found[0]!r} becomes {sorter(found[0])!r} and "
                f"{found[1]!r} becomes {sorter(found[1])!r}; use a fixed order, or unchecked=True to see what it costs."
            )

    @property
    def claim(self) -> Claim:
        """The explicit bound of `slice_composition`."""
        return slice_composition(self.epsilon, self.delta, self.tau, self.delta_prime)

    def lemma_20(self, constant: float) -> Claim:
        """Lemma 20 with this constant in place of its O(·), log to base 2: (constant·ε·log₂(1/δ′), δ′ + 2δτ).

        Raises:
            ParameterError: δ′ = 0, for which it says nothing.
        """
        if not self.delta_prime:
            raise ParameterError("delta_prime must be above 0 for Lemma 20 to say anything.")
        spent = checks.positive("constant", constant) * self.epsilon * log2(1 / self.delta_prime)
        return Claim(spent, min(1.0, self.delta_prime + 2 * self.delta * self.tau), ADD_REMOVE_ONE)

    def run(self, S: Any) -> Program:
        return (yield _Iterations(self, 1).on(Multiset.of(S)))  # S_0 = S; for i = 1, 2, …, τ do; return r_1, …, r_τ


@dataclass(frozen=True)
class _Iterations(Mechanism):
    """Iterations i, …, τ of the loop, on S_{i−1}; its own mechanism, so that equal remainders share one law."""

    whole: ReorderSliceCompute
    i: int

    def run(self, S: Any) -> Program:
        whole, i = self.whole, self.i
        largest = whole.sorters[i - 1](S)  # E_i(S_{i−1}), the largest first
        more: int = yield CutGeometric(whole.epsilon, max(0, len(largest) - whole.m))
        m = whole.m + more  # m̃ ← m + Geom(1 − e^{−ε})
        S_i = Multiset.of(largest[m:])  # S_i ← S_{i−1} ∖ max_m̃(S_{i−1})
        r_i = yield whole.inner.on(Multiset.of(largest[:m]))  # r_i ← A(max_m̃(S_{i−1}))
        if i == whole.tau:
            return (r_i,)
        return (r_i, *(yield _Iterations(whole, i + 1).on(S_i)))


# --- cards: what is claimed where, and where the text here departs from the print ---

ReorderSliceCompute.card = Card(
    name="ReorderSliceCompute",
    system="H6",
    title="Reorder, slice, compute: slices chosen one after the other, each for a private algorithm",
    paper=HALFSPACES,
    place="§3.2, Alg. 7, Lemma 20",
    claim="(O(ε·log(1/δ′)), δ′ + 2δτ)-DP for any δ′ > 0, under add/remove-one",
    inputs="n whole numbers; 0 < epsilon, 0 ≤ delta < 1, τ ≥ 1, m ≥ 1, τ sorters, an (ε, δ)-DP algorithm",
    output="(r_1, …, r_τ), what the inner algorithm said of each slice",
    deviations=(
        "Fewer than m̃ records left: all of them are taken.",
        "Geom is drawn up to the number of records that are left: a larger one would take no more.",
        "O(·) is no number: what is held against the laws is an explicit bound that is proved here.",
        "Sorters must map neighbours to neighbours, which the paper does not ask: without it nothing holds.",
        "A that is pure (δ = 0) and any ε > 0 will do, too.",
    ),
    variants=("BasicComposition", "AdvancedComposition"),
)
