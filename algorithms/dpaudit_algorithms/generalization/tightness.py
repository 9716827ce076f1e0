"""The private algorithm that overfits with probability δ/α, which shows that the generalisation bound is tight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    THESIS,
    Bernoulli,
    Card,
    Claim,
    DatasetError,
    Multiset,
    ParameterError,
    Program,
    Uniform,
    as_written,
    checks,
    expm1,
    log1p,
    to_float,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.generalization.tightness_theory import TightnessCorrectedTheory, TightnessTheory


@dataclass(frozen=True)
class _Tightness(TightnessTheory):
    """Base class of both versions, which differ only in the published records."""

    alpha: checks.Positive
    delta: checks.Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.delta < self.alpha <= 1:
            raise ParameterError(f"Theorem 4.5 needs delta < alpha ≤ 1, not alpha = {self.alpha!r}.")

    @property
    def claim(self) -> Claim:
        """(0, δ), Theorem 4.5."""
        return Claim(0.0, self.delta)

    def block_size(self, records: int) -> int:
        """⌈αn⌉ for n records; with fewer than αn, h(S) < α."""
        return math.ceil(as_written(self.alpha) * records)


@dataclass(frozen=True)
class GeneralizationTightness(_Tightness):
    """Publishes each of 1/α blocks of αn records with probability δ.

    The bound δ/(2α) holds if 1/α and αn are whole, and with ⌊1/α⌋ blocks if only αn is. If αn is not whole, a block
    needs ⌈αn⌉ records, and there are only ⌊n/⌈αn⌉⌋ blocks. That is too few for the bound if, for example, there is one
    block and α < 1/2. See finding 27 and `GeneralizationTightnessCorrected`.

    Args:
        alpha: α in (δ, 1].
        delta: δ in [0, 1].

    Raises:
        ParameterError: a parameter outside its range.
        DatasetError: a dataset without an order.

    Source: Stemmer's thesis, section 4.3, Theorem 4.5, algorithms B and A of its proof.
    """

    def blocks(self, records: int) -> int:
        """The number of blocks of ⌈αn⌉ records."""
        return records // self.block_size(records) if records else 0

    def chance(self, records: int) -> float:
        """1 − (1 − δ)^⌊n/⌈αn⌉⌋, the probability that some block of n records is published."""
        return -expm1(self.blocks(records) * log1p(-self.delta))

    def run(self, S: Any) -> Program:
        records, h = in_order(S), frozenset[Any]()
        size = self.block_size(len(records))
        # 1. for 1 ≤ i ≤ 1/α let Ŝ_i = B(S_i): S_i with probability δ, and otherwise the empty database
        for i in range(self.blocks(len(records))):
            if (yield Bernoulli(self.delta)):
                h = h.union(records[i * size : (i + 1) * size])
        # 2. h(x) = 1 iff there is an i with x ∈ Ŝ_i
        return tuple(sorted(h))


@dataclass(frozen=True)
class GeneralizationTightnessCorrected(TightnessCorrectedTheory, _Tightness):
    """Publishes ⌈αn⌉ of the n records with probability δ·n/⌈αn⌉: a cyclic window at a uniform position.

    Privacy: a record is in ⌈αn⌉ of the n windows, so it is published with probability (δ·n/⌈αn⌉)·⌈αn⌉/n = δ. With the
    same coins the outputs on neighbours differ only if the replaced record is published, which gives (0, δ)-DP.

    Utility: δ·n/⌈αn⌉ ≤ δ/α < 1 is a probability because α > δ. It is at least δ/(2α), because αn ≥ 1 gives
    ⌈αn⌉ < αn + 1 ≤ 2αn. If αn is whole it is δ/α, twice the printed bound. No (0, δ)-DP algorithm whose predicates have
    h(U) = 0 does better: by privacy h holds a record of S with a probability at most δ larger than for a fresh record,
    so E[h(S)] ≤ δ, and Pr[h(S) ≥ α] ≤ δ/α by Markov's inequality.

    Args:
        alpha: α in (δ, 1].
        delta: δ in [0, 1].

    Raises:
        ParameterError: a parameter outside its range.
        DatasetError: a dataset without an order.

    Source: Stemmer's thesis, section 4.3, Theorem 4.5, by another construction.
    """

    def chance(self, records: int) -> Fraction:
        """δ·n/⌈αn⌉, the probability that a window of n ≥ 1 records is published."""
        return as_written(self.delta) * records / self.block_size(records)

    def run(self, S: Any) -> Program:
        records = in_order(S)
        n = len(records)
        # nothing, but with probability δ·n/⌈αn⌉
        if not n or not (yield Bernoulli(to_float(self.chance(n)))):
            return ()
        # ⌈αn⌉ records in cyclic order, from a uniform position on
        start = yield Uniform(range(n))
        return tuple(sorted({records[(start + i) % n] for i in range(self.block_size(n))}))


def in_order(S: Any) -> tuple[Any, ...]:
    """The records of a sequence; neighbours differ in one position.

    Raises:
        DatasetError: a dataset without an order, where one record could shift many positions.
    """
    if isinstance(S, Multiset) or not isinstance(S, tuple):
        raise DatasetError(f"The dataset must be a tuple of records, whose order counts, not {S!r}.")
    return S


# --- cards: claims, sources and deviations from the papers ---

_INPUTS = "a sequence of n records; alpha in (delta, 1], delta in [0, 1]"
_OUTPUT = "the set of the points on which h is 1, in ascending order, without repetition"
_CLAIM = "(0, δ)-DP under replace-one; Pr[h(S) ≥ h(U) + α] ≥ δ/(2α) from n ≥ 1/α on, S drawn from U[0, 1]"
_ABOVE_ONE = (
    '"For every α > δ": for α > 1 no predicate has h(S) ≥ α, so the positive printed bound is false there; alpha above '
    "1 is rejected."
)
_DOUBLES = "Records of U[0, 1] are multiples of 2^(−53): h(U) = 0 is that of the continuous distribution."

GeneralizationTightness.card = Card(
    name="GeneralizationTightness",
    system="G1",
    title="The algorithm that shows the generalisation bound to be tight: publishes blocks with probability δ",
    paper=THESIS,
    place="§4.3, Theorem 4.5",
    claim=_CLAIM,
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        'The thesis has "1/α databases of size αn each"; if these are not whole, blocks have ⌈αn⌉ records and there '
        "are ⌊n/⌈αn⌉⌋ blocks, as many as fit; the remaining records are in no block.",
        _ABOVE_ONE,
        _DOUBLES,
    ),
    variants=("GeneralizationTightnessCorrected",),
    findings=(FINDINGS[27],),
)

GeneralizationTightnessCorrected.card = Card(
    name="GeneralizationTightnessCorrected",
    system="G1",
    title="The algorithm that shows the generalisation bound to be tight, for every n ≥ 1/α",
    paper=THESIS,
    place="§4.3, Theorem 4.5, by another construction",
    claim=_CLAIM,
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        "Instead of disjoint blocks, one of the n windows of ⌈αn⌉ records, with total probability δ·n/⌈αn⌉.",
        _ABOVE_ONE,
        _DOUBLES,
    ),
    variants=("GeneralizationTightness",),
)
