"""Sorters, which order a dataset as a sequence: some map neighbours to neighbours, and some do not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any, ClassVar

from dpaudit.language import DatasetError, Multiset


class Sorter(ABC):
    """E: orders a dataset as a sequence, largest record first; a frozen dataclass, deterministic.

    Lemma 20 needs a sorter that maps neighbours to neighbours: E(S + x) is E(S) with x inserted. The half-spaces paper
    does not say so.
    """

    fixed: ClassVar[bool] = False
    """Whether it is known to map neighbours to neighbours for all datasets."""

    @abstractmethod
    def __call__(self, S: Multiset) -> tuple[Any, ...]:
        """All records of S, largest first."""


class FixedOrder(Sorter):
    """Sorts by `key`, and by the records themselves if keys are equal.

    It maps neighbours to neighbours: the order of two records does not depend on the others, so x is inserted into E(S)
    without reordering it. Equal records are indistinguishable.
    """

    fixed = True

    @abstractmethod
    def key(self, record: Any) -> Any:
        """Greater keys come first."""

    def __call__(self, S: Multiset) -> tuple[Any, ...]:
        return tuple(sorted(S, key=lambda record: (self.key(record), record), reverse=True))


@dataclass(frozen=True)
class Largest(FixedOrder):
    """Numbers, the greatest first."""

    def key(self, record: Any) -> Any:
        return record


@dataclass(frozen=True)
class Smallest(FixedOrder):
    """Numbers, the least first."""

    def key(self, record: Any) -> Any:
        return -record


@dataclass(frozen=True)
class Farthest(FixedOrder):
    """Numbers by their distance from a public one, the farthest first."""

    centre: float

    def key(self, record: Any) -> Any:
        return abs(record - self.centre)


@dataclass(frozen=True)
class Listed(FixedOrder):
    """The order of a list that holds every possible record once.

    Raises:
        DatasetError: a record that is not on the list.
    """

    values: tuple[Any, ...]

    def key(self, record: Any) -> Any:
        if record not in self.values:
            raise DatasetError(f"{record!r} is not among the records that the sorter lists, {self.values!r}.")
        return -self.values.index(record)


@dataclass(frozen=True)
class ByParity(Sorter):
    """The least first if the number of records is even, else the greatest first: it does not preserve neighbours."""

    def __call__(self, S: Multiset) -> tuple[Any, ...]:
        return tuple(S) if len(S) % 2 == 0 else tuple(S)[::-1]


@dataclass(frozen=True)
class FarthestFromMedian(Sorter):
    """Numbers by their distance from the (lower) median of the dataset: one record changes the median and the order."""

    def __call__(self, S: Multiset) -> tuple[Any, ...]:
        records = tuple(S)
        median = records[(len(records) - 1) // 2] if records else 0
        return tuple(sorted(records, key=lambda record: (abs(record - median), record), reverse=True))


@lru_cache(maxsize=256)
def estranged(sorter: Sorter, values: tuple[Any, ...], records: int) -> tuple[Multiset, Multiset] | None:
    """The first neighbours S, S + x whose sequences are not neighbours; None if there are none in this domain.

    Args:
        sorter: E.
        values: possible records.
        records: the largest size of S + x.
    """
    for size in range(records):
        for chosen in combinations_with_replacement(values, size):
            S = Multiset.of(chosen)
            short = sorter(S)
            for x in values:
                longer = sorter(larger := S.changed(add=(x,)))
                if all((*longer[:i], *longer[i + 1 :]) != short for i in range(len(longer))):
                    return S, larger
    return None
