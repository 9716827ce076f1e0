"""The draw of the exponential mechanism among very many labels with few distinct scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from dpaudit.errors import NotEnumerableError, ParameterError
from dpaudit.language.checks import number
from dpaudit.language.distributions.base import Finite, Values
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosed import near

ENUMERATED_LABELS = 1 << 18
"""More labels than this are sampled, never enumerated."""

Ints = IntArray


class Levels(ABC):
    """Whole-number scores ≥ 0 of the labels 0, …, size − 1, in blocks of consecutive labels.

    A subclass is a value (a frozen dataclass); it may keep computed values in cached properties.
    """

    @property
    @abstractmethod
    def starts(self) -> Ints:
        """The first label of every block, ascending, and the number of labels at the end, shape (blocks + 1,)."""

    @property
    @abstractmethod
    def tally(self) -> Ints:
        """The number of labels of each level in each block, shape (blocks, levels)."""

    @abstractmethod
    def block(self, at: int) -> Ints:
        """The levels of a block's labels, in order."""

    @property
    def size(self) -> int:
        """The number of labels."""
        return int(self.starts[-1])


@dataclass(frozen=True, repr=False)
class LevelSoftmax(Finite):
    """Label i with probability ∝ exp(coefficient · level of i), like `Softmax`, for too many labels for a table.

    Drawn in two steps, which give the same law: a block and level in proportion to its weight, then one of its labels
    uniformly.

    Args:
        levels: of at least one label.
        coefficient: −ε/2 if levels are counts of errors that one record moves by at most 1.

    Raises:
        ParameterError: no labels, or a coefficient that is not a finite number.
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
        probs: FloatArray = weights / weights.sum()
        return probs

    def log_probs(self, levels: Ints) -> FloatArray:
        """ln of the probability of one label of each of these levels."""
        total = float((self.levels.tally.sum(axis=0) * self._weights).sum())
        logs: FloatArray = near(self.coefficient) * (levels - self._best) - np.log(total)
        return logs

    def draw(self, rng: Generator, size: int) -> Values:
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
        """The weight of one label of each level: 1 for the most likely level that occurs, 0 for absent levels above."""
        beyond = np.arange(self.levels.tally.shape[1]) - self._best
        exponents = near(self.coefficient) * beyond
        weights: FloatArray = np.where(exponents > 0, 0.0, np.exp(np.minimum(exponents, 0.0)))
        return weights

    @cached_property
    def _cumulative_cells(self) -> FloatArray:
        return np.cumsum(self.levels.tally * self._weights)

    def _drawn(self, rng: Generator, size: int) -> Ints:
        cells = self._cumulative_cells
        at = np.searchsorted(cells, rng.random(size) * cells[-1], side="right")
        chosen, counts = np.unique(np.minimum(at, np.flatnonzero(np.diff(cells, prepend=0))[-1]), return_counts=True)
        blocks, wanted = np.divmod(chosen, self.levels.tally.shape[1])
        labels = np.empty(size, dtype=np.int64)
        filled, first = 0, np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        for start, stop in zip(first, [*first[1:], len(blocks)], strict=True):
            block = int(blocks[start])
            levels = self.levels.block(block)
            # sort labels of the same level together
            short = levels.astype(np.uint16) if self.levels.tally.shape[1] <= 1 << 16 else levels  # sorted faster
            order = np.argsort(short, kind="stable")
            low = np.searchsorted(levels, wanted[start:stop], side="left", sorter=order)
            high = np.searchsorted(levels, wanted[start:stop], side="right", sorter=order)
            times = counts[start:stop]
            place = rng.integers(np.repeat(low, times), np.repeat(high, times))
            labels[filled : filled + len(place)] = self.levels.starts[block] + order[place]
            filled += len(place)
        return labels
