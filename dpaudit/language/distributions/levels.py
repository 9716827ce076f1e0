"""The exponential mechanism's draw among very many labels with few different scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.errors import NotEnumerableError, ParameterError
from dpaudit.language.checks import number
from dpaudit.language.distributions.base import Finite, Values
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosed import near

ENUMERATED_LABELS = 1 << 18
"""More labels than this are drawn, never enumerated."""

Ints = IntArray


class Levels(ABC):
    """Scores of the labels 0, …, size − 1 that are whole numbers ≥ 0, in blocks of consecutive labels.

    A subclass is a value (a frozen dataclass); what it computes may be kept in cached properties.
    """

    @property
    @abstractmethod
    def starts(self) -> Ints:
        """The first label of every block, ascending, and the number of labels at the end, shape (blocks + 1,)."""

    @property
    @abstractmethod
    def tally(self) -> Ints:
        """How many labels of every block have every level, shape (blocks, levels)."""

    @abstractmethod
    def block(self, at: int) -> Ints:
        """The levels of a block's labels, in their order."""

    @property
    def size(self) -> int:
        """How many labels there are."""
        return int(self.starts[-1])


@dataclass(frozen=True, repr=False)
class LevelSoftmax(Finite):
    """Label i with probability ∝ exp(coefficient · level of i), as `Softmax`, for labels that are too many for a table.

    Drawn in two steps, which is the same law: a block and level with its share of the weight, then one of its labels,
    each as likely as the others.

    Args:
        levels: of at least one label.
        coefficient: −ε/2 where levels are counts of errors that one record moves by at most 1.

    Raises:
        ParameterError: no labels, or a coefficient that is no finite number.
    """

    levels: Levels
    coefficient: float

    def __post_init__(self) -> None:
        number("coefficient", self.coefficient)
        if not self.levels.size:
            raise ParameterError("A LevelSoftmax needs at least one label.")

    def __repr__(self) -> str:
        return f"LevelSoftmax over {self.levels.size:,} labels with coefficient {near(self.coefficient):.6g}"

    @property
    def finite(self) -> bool:
        return self.levels.size <= ENUMERATED_LABELS

    @property
    def remedy(self) -> str:
        return f"choose among at most {ENUMERATED_LABELS:,} labels, here with fewer public points"

    @cached_property
    def each(self) -> Ints:
        """The level of every label, shape (labels,).

        Raises:
            NotEnumerableError: there are too many.
        """
        if not self.finite:
            raise NotEnumerableError(f"{self.levels.size:,} labels are too many for a table: {self.remedy}.")
        return np.concatenate([self.levels.block(at) for at in range(len(self.levels.starts) - 1)])

    @property
    def values(self) -> Values:
        return np.arange(len(self.each))

    @property
    def probs(self) -> FloatArray:
        weights = self._weights[self.each]
        found: FloatArray = weights / weights.sum()
        return found

    def log_probs(self, levels: Ints) -> FloatArray:
        """ln of the probability of one label of each of these levels."""
        total = float((self.levels.tally.sum(axis=0) * self._weights).sum())
        found: FloatArray = near(self.coefficient) * (levels - self._best) - np.log(total)
        return found

    def draw(self, rng: Generator, size: int) -> Any:
        if self.finite:
            return super().draw(rng, size)
        return rng.permutation(self._drawn(rng, size))

    @property
    def _best(self) -> int:
        """The level of the largest weight."""
        occur = np.flatnonzero(self.levels.tally.sum(axis=0))
        return int(occur[-1] if self.coefficient > 0 else occur[0])

    @cached_property
    def _weights(self) -> FloatArray:
        """Of one label of each level, 1 for the likeliest that occurs; of levels beyond it, which occur nowhere, 0."""
        beyond = np.arange(self.levels.tally.shape[1]) - self._best
        exponents = near(self.coefficient) * beyond
        found: FloatArray = np.where(exponents > 0, 0.0, np.exp(np.minimum(exponents, 0.0)))
        return found

    @cached_property
    def _cumulative_cells(self) -> FloatArray:
        return np.cumsum(self.levels.tally * self._weights)

    def _drawn(self, rng: Generator, size: int) -> Ints:
        cells = self._cumulative_cells
        at = np.searchsorted(cells, rng.random(size) * cells[-1], side="right")
        chosen, counts = np.unique(np.minimum(at, np.flatnonzero(np.diff(cells, prepend=0))[-1]), return_counts=True)
        blocks, wanted = np.divmod(chosen, self.levels.tally.shape[1])
        found = np.empty(size, dtype=np.int64)
        filled, first = 0, np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        for start, stop in zip(first, [*first[1:], len(blocks)], strict=True):
            block = int(blocks[start])
            levels = self.levels.block(block)
            # labels of one level stand together
            short = levels.astype(np.uint16) if self.levels.tally.shape[1] <= 1 << 16 else levels  # sorted faster
            order = np.argsort(short, kind="stable")
            low = np.searchsorted(levels, wanted[start:stop], side="left", sorter=order)
            high = np.searchsorted(levels, wanted[start:stop], side="right", sorter=order)
            times = counts[start:stop]
            place = rng.integers(np.repeat(low, times), np.repeat(high, times))
            found[filled : filled + len(place)] = self.levels.starts[block] + order[place]
            filled += len(place)
        return found
