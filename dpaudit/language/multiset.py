"""Datasets as multiplicities of their values: most algorithms here use nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit.errors import DatasetError
from dpaudit.language.records import Record, as_record
from dpaudit.stats.arrays import IntArray

_MOST = 2**63 - 1


@dataclass(frozen=True)
class Multiset:
    """A dataset as sorted (value, multiplicity) items: 745,000 records of three values are three items.

    Build it with `Multiset.of` (any iterable of records) or `Multiset.counted` (value → multiplicity).
    """

    items: tuple[tuple[Record, int], ...]

    @classmethod
    def of(cls, records: Iterable[Hashable] | Multiset) -> Multiset:
        """The multiset of the records.

        Raises:
            DatasetError: records that cannot be ordered or hashed.
        """
        if isinstance(records, Multiset):
            return records
        try:
            return cls.counted(Counter(records))
        except TypeError as error:
            raise DatasetError(f"These records cannot form a multiset: {error}.") from None

    @classmethod
    def counted(cls, multiplicities: dict[Record, int]) -> Multiset:
        """From value → multiplicity; multiplicities of 0 are dropped.

        Raises:
            DatasetError: a multiplicity that is negative or not a whole number, more records than a signed 64-bit
                integer can count, or records without an order.
        """
        for value, count in multiplicities.items():
            if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
                raise DatasetError(f"The multiplicity of {value!r} must be a whole number ≥ 0, not {count!r}.")
        if sum(map(int, multiplicities.values())) > _MOST:
            raise DatasetError(f"A dataset holds at most {_MOST:,} records.")
        try:
            items = [(v, int(c)) for v, c in multiplicities.items() if c]
            # NaN is neither below nor above other numbers, so sorting would fail
            mixed = not {int, bool, str}.issuperset(map(type, multiplicities))
            return cls(tuple(sorted(items, key=lambda item: as_record(item[0])) if mixed else sorted(items)))
        except TypeError as error:
            raise DatasetError(f"These records cannot form a multiset: {error}.") from None

    def __len__(self) -> int:
        return sum(count for _, count in self.items)

    def __iter__(self) -> Iterator[Record]:
        for value, count in self.items:
            for _ in range(count):
                yield value

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{value!r}×{count:,}" for value, count in self.items) + "}"

    @property
    def values(self) -> tuple[Record, ...]:
        """Distinct values, ascending."""
        return tuple(value for value, _ in self.items)

    @property
    def counts(self) -> IntArray:
        """Multiplicities in the order of `values`, shape (number of distinct values,)."""
        return np.array([count for _, count in self.items], dtype=np.int64)

    def smallest(self, size: int) -> Multiset:
        """The `size` smallest records (none if size ≤ 0)."""
        kept, room = [], size
        for value, count in self.items:
            if room <= 0:
                break
            kept.append((value, min(count, room)))
            room -= count
        return Multiset(tuple(kept))

    def at_least(self, value: Record) -> int:
        """How many records are ≥ value."""
        return sum(count for v, count in self.items if v >= value)

    def at_most(self, value: Record) -> int:
        """How many records are ≤ value."""
        return sum(count for v, count in self.items if v <= value)

    def changed(self, *, remove: Iterable[Record] = (), add: Iterable[Record] = ()) -> Multiset:
        """A copy with some records removed and some added.

        Raises:
            DatasetError: a record to remove is not there.
        """
        counts = Counter(dict(self.items))
        for value in remove:
            if not counts[value]:
                raise DatasetError(f"There is no record {value!r} to remove.")
            counts[value] -= 1
        counts.update(add)
        return Multiset.counted(dict(counts))
