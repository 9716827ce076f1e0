"""RecPrefix: an interior point of a dataset, by recursion on the lengths of common prefixes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np

from dpaudit.language import (
    BOTTOM,
    THESIS,
    Card,
    Claim,
    DatasetError,
    Draw,
    FloatArray,
    Laplace,
    Multiset,
    ParameterError,
    Program,
    Quality,
    RandomPairing,
    Scores,
    Softmax,
    ceil_log2,
    checks,
    log,
    log_star,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.interior_points.rec_prefix_theory import RecPrefixLevelTheory, RecPrefixTheory


@dataclass(frozen=True)
class CommonPrefix:
    """Length of the longest common prefix of two numbers written with `bits` bits, in {0, …, bits}."""

    bits: int

    def __call__(self, a: int, b: int) -> int:
        return self.bits - (a ^ b).bit_length()


@dataclass(frozen=True)
class Agreements(Quality):
    """q(S, I) = how many records begin with the prefix I of `length` out of `bits` bits: of 1-bounded growth.

    Only the prefixes that occur are listed (the others score 0); a prefix is given as the number it spells.
    """

    bits: int
    length: int
    growth = 1

    def __call__(self, dataset: Any) -> Scores:
        return _agreements(self.bits - self.length, Multiset.of(dataset))


@dataclass(frozen=True)
class RecPrefixLevel(RecPrefixLevelTheory):
    """The recursive algorithm RecPrefix, with the parameters of one level and Lemma 7.16's claim.

    Args:
        size: |X| ≥ 1; the records are 0, …, size − 1.
        epsilon: of every private step, > 0; at most 2 where there is a choosing mechanism (Lemma 7.9).
        delta: in (0, 1).
        beta: in (0, 1).
        k: half the number of greatest records left out, ≥ 0; ⌊(386/ε)·ln(4/(βεδ))⌋ without it.
        base: |X| up to which the exponential mechanism is used, ≥ 4 (below, the recursion would not end).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 7.3.2, algorithm RecPrefix and Lemmas 7.14 and 7.16.
    """

    size: checks.Count = 2**16
    epsilon: checks.Positive = 0.125
    delta: checks.OpenUnit = 1.25e-7
    beta: checks.OpenUnit = 0.1 / 12
    k: checks.Natural | None = None
    base: Annotated[int, checks.least(4)] = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > self.base and self.epsilon > 2:
            raise ParameterError(f"The choosing mechanism of step 5 needs epsilon ≤ 2 a level, not {self.epsilon!r}.")

    @property
    def claim(self) -> Claim:
        """(2εN, 2δN), Lemma 7.16."""
        return Claim(self.epsilon, self.delta).scaled(2 * self.calls)

    @property
    def calls(self) -> int:
        """N: how many calls there are, the first one counted."""
        return 1 if self.size <= self.base else 1 + self.next_level.calls

    @property
    def bits(self) -> int:
        """b = ⌈log₂|X|⌉."""
        return ceil_log2(self.size)

    @property
    def trim(self) -> int:
        """k, half the number of greatest records that step 2 leaves out."""
        return rounded_k(self.epsilon, self.delta, self.beta) if self.k is None else self.k

    @cached_property
    def next_level(self) -> RecPrefixLevel:
        """The recursive call of step 4: same parameters, on X′ = {0, …, b}."""
        return RecPrefixLevel(self.bits + 1, self.epsilon, self.delta, self.beta, self.k, self.base)

    def run(self, dataset: Any) -> Program:
        S = Multiset.of(dataset)
        check_records(S, self.size)
        # 1. |X| ≤ 32: the exponential mechanism with q(S, x) = min(#{x_j ≥ x}, #{x_j ≤ x})
        if self.size <= self.base:
            return Softmax(_depths(S, self.size), self.epsilon / 2).spending(Claim(self.epsilon))
        # 2. Y: the n − 2k smallest, in random order
        k, bits = self.trim, self.bits
        Y = S.smallest(len(S) - 2 * k)
        # 3. S′: the lengths of the common prefixes of y_{2j−1} and y_{2j}; a bijection between the shuffles of
        # neighbours makes S′ of neighbours neighbours, so this costs nothing
        lengths = RandomPairing(Y, CommonPrefix(bits)).spending(Claim(0.0))
        # 4. z ← RecPrefix(S′)
        z = yield lengths.then(self.next_level.on)
        length = min(z + 1, bits)
        # 5. L: a prefix of z + 1 bits with many agreements, by the choosing mechanism
        L = yield ChoosingMechanism(self.beta, self.epsilon, self.delta, Agreements(bits, length)).on(S)
        # 6. L0 = L0…0, L1 = L1…1
        L0 = (0 if L is BOTTOM else L) << (bits - length)
        L1 = min(L0 + (1 << (bits - length)) - 1, self.size - 1)
        if L0 == L1:
            return L0  # steps 7 and 8 choose between equals
        # 7. big^ = #{x_j ≥ L1} + Lap(1/ε)
        big = Laplace(S.at_least(L1), 1 / self.epsilon).spending(Claim(self.epsilon))
        # 8. L1 if big^ ≥ 3k/2, else L0
        return L1 if (yield big >= 3 * k / 2) else L0


@dataclass(frozen=True)
class RecPrefix(RecPrefixTheory):
    """RecPrefix as Theorem 7.8 executes it: with β/(3·log*|X|), ε/(2·log*|X|), δ/(2·log*|X|) at every level.

    Success with probability 1 − β needs n ≥ (18500/ε)·2^{log*|X|}·log*|X|·ln(4·log*|X|/(βεδ)) records. At large ε that
    is too few, down to none from ε = 4·log*|X|/(βδ) on: see finding 7. Where βεδ ≤ (16·log*|X|/3)^{1/3}, so for every
    ε ≤ 1, the printed number is at least what Observation 7.13 asks for.

    Args:
        size: |X| ≥ 1; the records are 0, …, size − 1.
        epsilon: of the whole, > 0.
        delta: of the whole, in (0, 1).
        beta: failure probability of the whole, in (0, 1).
        k: as in `RecPrefixLevel`.
        base: as in `RecPrefixLevel`.

    Raises:
        ParameterError: a parameter outside its range, or a share ε/(2·log*|X|) above 2.

    Source: Stemmer's thesis, Theorem 7.8.
    """

    size: checks.Count = 2**16
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6
    beta: checks.OpenUnit = 0.1
    k: int | None = None
    base: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.level  # checks the rest, and that a level's ε is at most 2

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 7.8."""
        return Claim(self.epsilon, self.delta)

    @property
    def levels(self) -> int:
        """log*|X|, which bounds the recursive calls (Observation 7.12; tested for |X| + 1 prefix lengths, base ≥ 4)."""
        return max(1, log_star(self.size))

    @property
    def level(self) -> RecPrefixLevel:
        """The algorithm with Theorem 7.8's share of the parameters."""
        t = self.levels
        return RecPrefixLevel(
            self.size, self.epsilon / (2 * t), self.delta / (2 * t), self.beta / (3 * t), self.k, self.base
        )

    def run(self, S: Any) -> Draw:
        return self.level.on(S)


def rounded_k(epsilon: float, delta: float, beta: float) -> int:
    """k = ⌊(386/ε)·ln(4/(βεδ))⌋, step 2 of RecPrefix; at least 0."""
    return max(0, math.floor(386 / epsilon * log(4 / (beta * epsilon * delta))))


@lru_cache(maxsize=4096)
def _agreements(drop: int, S: Multiset) -> Scores:
    counts: dict[int, int] = {}
    for value, count in S.items:
        counts[value >> drop] = counts.get(value >> drop, 0) + count
    return Scores(list(counts.values()), tuple(counts))


@lru_cache(maxsize=4096)
def _depths(S: Multiset, size: int) -> FloatArray:
    """q(S, x) = min(#{x_j ≥ x}, #{x_j ≤ x}) for every x, shape (size,)."""
    counts = np.zeros(size)
    for value, count in S.items:
        counts[value] = count
    at_most = np.cumsum(counts)
    depths: FloatArray = np.minimum(at_most, len(S) - at_most + counts)
    depths.flags.writeable = False
    return depths


def check_records(S: Multiset, size: int) -> None:
    """Whole numbers in 0, …, size − 1.

    Raises:
        DatasetError: another record.
    """
    for value in S.values[:1] + S.values[-1:]:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
            raise DatasetError(f"The records must be whole numbers in 0, …, {size - 1}, not {value!r}.")


# --- cards: what is claimed where, and where the text here departs from the print ---

_OUTPUT = "a point of X = {0, …, size − 1}, meant to lie between the least and the greatest record"
_DEVIATIONS = (
    "Elements are written with b = ⌈log₂|X|⌉ bits (the print: log|X|), and L₁ is clamped to the last element of X.",
    "Prefix lengths of b bits take the b + 1 values 0, …, b, so |X′| = ⌈log₂|X|⌉ + 1 (the print: log|X|).",
    "An equal pair has prefix length b; z = b would ask step 5 for b + 1 bits: the length is min(z + 1, b).",
    "Odd n − 2k: the last element of the shuffled order stays unpaired and is dropped.",
    "n ≤ 2k: Y and S′ are empty; the recursion goes on with the empty dataset.",
    "⊥ from the choosing mechanism: L is the all-zero prefix of that length.",
    "Only multiplicities matter, so shuffling and pairing is one draw of the multiset of prefix lengths.",
    "k and the size 32 of the base case are parameters; the privacy proof uses neither. The utility guarantee is for "
    "the printed k, and for base ≤ 32, for which the proof of Lemma 7.14 holds as it is.",
)

RecPrefix.card = Card(
    name="RecPrefix",
    system="I2",
    title="RecPrefix: a private interior point by recursion on prefix lengths",
    paper=THESIS,
    place="§7.3.2, Theorem 7.8",
    claim="(ε, δ)-DP under replace-one",
    inputs="records in {0, …, size − 1}; size = |X|, epsilon, delta, beta of the whole; k, base",
    output=_OUTPUT,
    deviations=(
        *_DEVIATIONS,
        "|X| = 1, where log*|X| = 0: the shares are those of log*|X| = 1.",
        "Theorem 7.8's number of records is at least 1: without a record there is no interior point.",
    ),
    variants=("RecPrefixLevel",),
    findings=(FINDINGS[7],),
)

# not registered: it is audited as a part of RecPrefix
_LEVEL = replace(
    RecPrefix.card,
    name="RecPrefixLevel",
    title="RecPrefix with the parameters of one level",
    place="§7.3.2, Lemma 7.16",
    claim="(2εN, 2δN)-DP under replace-one, over N recursive calls",
    inputs="records in {0, …, size − 1}; size, epsilon, delta, beta of every level; k, base",
    deviations=(
        *_DEVIATIONS,
        "N is the exact number of calls, counting the first, which the size alone determines.",
    ),
    variants=("RecPrefix",),
)
RecPrefixLevel.card = _LEVEL
