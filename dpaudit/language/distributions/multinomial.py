"""Independent draws from a finite law, kept as a multiset: random samples, and resampling with replacement."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.random import Generator

from dpaudit.errors import NotEnumerableError, ParameterError
from dpaudit.language.checks import at_least, whole
from dpaudit.language.distributions.base import Finite, Values
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record
from dpaudit.stats.arrays import FloatArray, IntArray

ENUMERATED_SAMPLES = 50_000
"""More distinct samples than this are drawn at random, never enumerated."""
FEW_SAMPLES = 256
"""Up to this many distinct samples, repeated draws are one multinomial draw from their law."""


@dataclass(frozen=True)
class Multinomial(Finite):
    """The multiset of `size` independent draws, each `outcomes[i]` with probability ∝ `weights[i]`.

    With the multiplicities of a dataset as weights it is a subsample with replacement.

    Args:
        outcomes: distinct values that can be ordered, ascending or not.
        weights: one number ≥ 0 per outcome, not all 0; whole numbers and floats are used exactly.
        size: ≥ 0.

    Raises:
        ParameterError: outside these ranges.
    """

    outcomes: tuple[Record, ...]
    weights: tuple[float, ...]
    size: int

    def __post_init__(self) -> None:
        whole("the size of a sample", self.size, least=0)
        if len(self.outcomes) != len(self.weights) or not self.outcomes:
            raise ParameterError(
                f"A Multinomial needs as many weights as values and at least one; it got {len(self.outcomes)} values "
                f"and {len(self.weights)} weights."
            )
        if not sum(at_least("a weight of a Multinomial", weight, 0) for weight in self.weights):
            raise ParameterError("A Multinomial needs a weight above 0.")

    @cached_property
    def _possible(self) -> tuple[tuple[Record, ...], tuple[int, ...]]:
        """Values of positive weight, ascending, and their weights as whole numbers in the same ratios."""
        kept = sorted((value, Fraction(w)) for value, w in zip(self.outcomes, self.weights, strict=True) if w > 0)
        unit = math.lcm(*(w.denominator for _, w in kept))
        return tuple(value for value, _ in kept), tuple(int(w * unit) for _, w in kept)

    @property
    def finite(self) -> bool:
        return self._different <= ENUMERATED_SAMPLES

    @property
    def _different(self) -> int:
        """The number of possible samples."""
        values, _ = self._possible
        return math.comb(self.size + len(values) - 1, len(values) - 1)

    @property
    def remedy(self) -> str:
        return "draw fewer records, or from fewer distinct ones"

    def draw(self, rng: Generator, size: int) -> list[Multiset]:
        values, _ = self._possible
        return [self._multiset(values, row) for row in self._rows(rng, size).tolist()]

    def grouped(self, rng: Generator, size: int) -> list[tuple[Hashable, int]]:
        if self._different <= min(FEW_SAMPLES, size):
            return super().grouped(rng, size)
        values, _ = self._possible
        rows, counts = np.unique(self._rows(rng, size), axis=0, return_counts=True)
        return [(self._multiset(values, row), count) for row, count in zip(rows.tolist(), counts.tolist(), strict=True)]

    def _rows(self, rng: Generator, size: int) -> IntArray:
        _, weights = self._possible
        total = sum(weights)
        return rng.multinomial(self.size, [w / total for w in weights], size=size)

    @staticmethod
    def _multiset(values: tuple[Record, ...], row: list[int]) -> Multiset:
        return Multiset(tuple((value, count) for value, count in zip(values, row, strict=True) if count))

    def fractions(self) -> dict[Multiset, Fraction]:
        """The probability of every sample, exactly, in the order of `values`.

        Raises:
            NotEnumerableError: there are too many.
        """
        if not self.finite:
            raise NotEnumerableError(f"A sample of {self.size:,} has too many values: {self.remedy}.")
        values, weights = self._possible
        whole_weight = sum(weights) ** self.size
        ways = math.factorial(self.size)
        probabilities = {}
        for row in _compositions(self.size, len(values)):
            mass = ways
            for count, weight in zip(row, weights, strict=True):
                mass = mass // math.factorial(count) * weight**count
            probabilities[self._multiset(values, row)] = Fraction(mass, whole_weight)
        return probabilities

    @cached_property
    def _law(self) -> dict[Multiset, Fraction]:
        return self.fractions()

    @property
    def values(self) -> Values:
        return tuple(self._law)

    @property
    def probs(self) -> FloatArray:
        return np.array([float(p) for p in self._law.values()])


def _compositions(total: int, parts: int) -> Iterator[list[int]]:
    """All lists of `parts` whole numbers ≥ 0 that sum to `total`."""
    if parts == 1:
        yield [total]
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield [first, *rest]
