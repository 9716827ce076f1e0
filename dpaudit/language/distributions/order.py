"""Random orders of a multiset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from dpaudit.errors import NotEnumerableError
from dpaudit.language.distributions.base import Finite, Values
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record
from dpaudit.stats.arrays import FloatArray

ENUMERATED_ORDERS = 40_320
"""More distinct orders than this (the number for 8 distinct records) are sampled, never enumerated."""


@dataclass(frozen=True)
class RandomOrder(Finite):
    """The records in a uniformly random order, as a tuple; equal orders are one value.

    Args:
        records: the multiset to shuffle.
    """

    records: Multiset

    @cached_property
    def orders(self) -> int:
        """The number of distinct orders: n!/Π cᵢ!, all equally likely."""
        return math.factorial(len(self.records)) // math.prod(math.factorial(c) for _, c in self.records.items)

    @property
    def finite(self) -> bool:
        return self.orders <= ENUMERATED_ORDERS

    @property
    def remedy(self) -> str:
        return "shuffle fewer records, or fewer distinct ones"

    def draw(self, rng: Generator, size: int) -> list[tuple[Record, ...]]:
        values = self.records.values
        places = np.tile(np.repeat(np.arange(len(values)), self.records.counts), (size, 1))
        return [tuple(values[i] for i in row) for row in rng.permuted(places, axis=1).tolist()]

    @cached_property
    def _values(self) -> tuple[tuple[Record, ...], ...]:
        if not self.finite:
            raise NotEnumerableError(f"{len(self.records):,} records have {self.orders:,} orders: {self.remedy}.")
        return tuple(_orders(self.records))

    @property
    def values(self) -> Values:
        return self._values

    @property
    def probs(self) -> FloatArray:
        return np.full(self.orders, 1 / self.orders)


def _orders(records: Multiset) -> Iterator[tuple[Record, ...]]:
    """All distinct orders, in lexicographic order."""
    values = records.values
    order = [i for i, (_, count) in enumerate(records.items) for _ in range(count)]
    while True:
        yield tuple(values[i] for i in order)
        at = len(order) - 2
        while at >= 0 and order[at] >= order[at + 1]:
            at -= 1
        if at < 0:
            return
        with_ = len(order) - 1
        while order[with_] <= order[at]:
            with_ -= 1
        order[at], order[with_] = order[with_], order[at]
        order[at + 1 :] = reversed(order[at + 1 :])
