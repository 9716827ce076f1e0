"""ReorderSliceCompute: an adaptive choice of disjoint slices, each passed to a private algorithm."""

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
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.half_spaces.reorder_slice_compute_theory import slice_composition
from dpaudit_algorithms.half_spaces.sorters import Sorter, estranged

CHECKED_RECORDS = 4
"""Sorters other than fixed orders are tested on all datasets with at most this many records."""


@dataclass(frozen=True)
class ReorderSliceCompute(Mechanism):
    """Algorithm 7: τ times, remove the m̃ = m + Geom(1 − e^{−ε}) largest records by E_i and pass them to A.

    The printed lemma has an O(·), which is not a number: `claim` is the explicit bound of `slice_composition`, and
    `lemma_20` is the printed claim for a given constant. For every constant its δ′ + 2δτ is too small for τ = 1,
    ε > ln 2 and τ = 2, ε > ln 2.5 (finding 21); and it does not say that sorters map neighbours to neighbours, which it
    needs and those of Theorem 21 do not do (finding 22).

    A sorter other than a `FixedOrder` is tested at construction, on all datasets of at most 4 records of `values`.
    These are public, because a rejection at run time would depend on the dataset. Passing the test is not a proof.

    Args:
        epsilon: ε > 0, of A and of Geom.
        delta: δ in [0, 1), of A.
        tau: τ ≥ 1.
        m: ≥ 1.
        sorters: E_1, …, E_τ.
        inner: A, (ε, δ)-DP under add/remove-one.
        delta_prime: δ′ in [0, 1), of the claim; the algorithm does not use it.
        values: records on which sorters are tested.
        unchecked: accept any sorters; the claim is then not proved.

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
            raise ParameterError(f"tau = {self.tau} needs {self.tau} sorters, not {len(self.sorters)}.")
        asked = Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)
        if not claim_of(self.inner).implies(asked):
            raise ParameterError(f"The inner algorithm must be {asked}; {self.inner.name} is {self.inner.claim}.")
        for sorter in self.sorters if not self.unchecked else ():
            self._accept(sorter)

    def _accept(self, sorter: Sorter) -> None:
        if sorter.fixed:
            return
        if not self.values:
            raise ParameterError(f"{sorter!r} is not a fixed order: give `values`, records on which to test it.")
        pair = estranged(sorter, self.values, CHECKED_RECORDS)
        if pair is not None:
            raise ParameterError(
                f"{sorter!r} does not map neighbours to neighbours: {pair[0]!r} becomes {sorter(pair[0])!r} and "
                f"{pair[1]!r} becomes {sorter(pair[1])!r}; use a fixed order, or unchecked=True to measure its cost."
            )

    @property
    def claim(self) -> Claim:
        """The explicit bound of `slice_composition`."""
        return slice_composition(self.epsilon, self.delta, self.tau, self.delta_prime)

    def lemma_20(self, constant: float) -> Claim:
        """Lemma 20 with this constant in place of its O(·), log to base 2: (constant·ε·log₂(1/δ′), δ′ + 2δτ).

        Raises:
            ParameterError: δ′ = 0, for which the lemma is vacuous.
        """
        if not self.delta_prime:
            raise ParameterError("Lemma 20 needs delta_prime above 0.")
        epsilon = checks.positive("constant", constant) * self.epsilon * log2(1 / self.delta_prime)
        return Claim(epsilon, min(1.0, self.delta_prime + 2 * self.delta * self.tau), ADD_REMOVE_ONE)

    def run(self, S: Any) -> Program:
        return (yield _Iterations(self, 1).on(Multiset.of(S)))  # S_0 = S; for i = 1, 2, …, τ do; return r_1, …, r_τ


@dataclass(frozen=True)
class _Iterations(Mechanism):
    """Iterations i, …, τ of the loop, on S_{i−1}; a separate mechanism, computed once for equal remainders."""

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


# --- cards: claims, sources and deviations from the papers ---

ReorderSliceCompute.card = Card(
    name="ReorderSliceCompute",
    system="H6",
    title="Reorder, slice, compute: adaptively chosen slices, each for a private algorithm",
    paper=HALFSPACES,
    place="§3.2, Alg. 7, Lemma 20",
    claim="(O(ε·log(1/δ′)), δ′ + 2δτ)-DP for any δ′ > 0, under add/remove-one",
    inputs="n whole numbers; 0 < epsilon, 0 ≤ delta < 1, τ ≥ 1, m ≥ 1, τ sorters, an (ε, δ)-DP algorithm",
    output="(r_1, …, r_τ), the outputs of the inner algorithm on the slices",
    deviations=(
        "If fewer than m̃ records are left, all of them are taken.",
        "Geom is truncated at the number of remaining records; a larger value would take no more.",
        "O(·) is not a number: the tested claim is an explicit bound that is proved here.",
        "Sorters must map neighbours to neighbours; the paper does not require it, but without it no bound holds.",
        "A pure A (δ = 0) and any ε > 0 are also allowed.",
    ),
    variants=("BasicComposition", "AdvancedComposition"),
    findings=(FINDINGS[21], FINDINGS[22]),
)
