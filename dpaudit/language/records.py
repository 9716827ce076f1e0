"""Records as data: floats that Python's equality gets wrong.

A column of floats may contain NaN, and both −0.0 and 0.0. A mechanism can distinguish them (`x != x`, `1 / x`), so they
are records like any other: NaN equals itself, and −0.0 differs from 0.0. Python's `==` says the opposite in both cases.
Datasets therefore hold these two as `RecordFloat`, so that comparisons, sets and dictionaries are right, and
`plain_record` converts them back before a mechanism sees them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import is_
from typing import Any, TypeAlias

Record: TypeAlias = Any
"""One record of a dataset: any hashable value that its mechanism understands."""


class RecordFloat(float):
    """NaN or −0.0 as a record: equal only to itself, and ordered: −0.0 just below 0.0, NaN above everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return _order(self) == _order(other) if isinstance(other, int | float) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return _order(self) != _order(other) if isinstance(other, int | float) else NotImplemented

    def __lt__(self, other: float) -> bool:
        return _order(self) < _order(other) if isinstance(other, int | float) else NotImplemented

    def __le__(self, other: float) -> bool:
        return _order(self) <= _order(other) if isinstance(other, int | float) else NotImplemented

    def __gt__(self, other: float) -> bool:
        return _order(self) > _order(other) if isinstance(other, int | float) else NotImplemented

    def __ge__(self, other: float) -> bool:
        return _order(self) >= _order(other) if isinstance(other, int | float) else NotImplemented

    def __hash__(self) -> int:
        # Python's hash of NaN differs from object to object
        return hash(math.inf) if math.isnan(self) else float.__hash__(self)


def as_record(value: Record) -> Record:
    """The value as datasets hold it: NaN and −0.0 as `RecordFloat`, inside tuples too; anything else unchanged."""
    if isinstance(value, float):
        if type(value) is RecordFloat or (value == value and (value or math.copysign(1.0, value) > 0)):
            return value
        return RecordFloat(value)
    if type(value) is tuple and not _compares_well(value):
        return _unless_equal(tuple(map(as_record, value)), value)
    return value


def plain_record(record: Record) -> Record:
    """The value as a mechanism sees it: the inverse of `as_record`. Every NaN becomes the same object."""
    if type(record) is RecordFloat:
        return math.nan if math.isnan(record) else -0.0
    if type(record) is tuple and not _compares_well(record):
        return _unless_equal(tuple(map(plain_record, record)), record)
    return record


def is_number(value: object) -> bool:
    """Whether it is a finite int or float, and not a boolean."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def leaves_of(record: Record) -> Iterator[Record]:
    """The values in a record, including those of nested tuples."""
    if isinstance(record, tuple):
        for part in record:
            yield from leaves_of(part)
    else:
        yield record


def exception_of(value: object) -> str:
    """The option of `floats` that controls a value, "allow_nan" for instance; "" for an ordinary value."""
    if not isinstance(value, float):
        return ""
    if not math.isfinite(value):
        return "allow_nan" if math.isnan(value) else "allow_infinity"
    return "allow_negative_zero" if not value and math.copysign(1.0, value) < 0 else ""


_COMPARED_WELL = frozenset({int, bool, str, bytes, type(None)})


def _compares_well(values: tuple[Record, ...]) -> bool:
    """Decided by the types alone, which is fast for long datasets."""
    return _COMPARED_WELL.issuperset(map(type, values))


def _unless_equal(made: tuple[Record, ...], of: tuple[Record, ...]) -> tuple[Record, ...]:
    """The given tuple if none of its parts became another object."""
    return of if all(map(is_, made, of)) else made


def _order(value: float) -> tuple[bool, float, float]:
    # whole numbers are compared as integers: a large one does not fit a float
    number = float(value) if isinstance(value, float) else value
    if number != number:
        return True, 0.0, 0.0
    return False, number, 0.0 if number else math.copysign(1.0, number)
