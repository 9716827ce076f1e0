"""Kinds of record: drawing one, special values to try first, and an order of simplicity.

`dpaudit.adversary.pairs.description` parses them from a string such as "integers(0, 100)".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product, zip_longest

from numpy.random import Generator

from dpaudit.language.records import Record, as_record, exception_of, is_number

MOST_SPECIAL = 12
"""Most special records of a kind: testing every pair of them must stay cheap."""


@dataclass(frozen=True)
class Records(ABC):
    """A kind of record: how to draw one, its two extremes, and other values to test."""

    @abstractmethod
    def draw(self, rng: Generator) -> Record:
        """One random record."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[Record, Record]:
        """The lowest and the highest record (for choices: the first and the last)."""

    @abstractmethod
    def contains(self, value: Record) -> bool:
        """Whether the value is a record of this kind."""

    @property
    def special(self) -> tuple[Record, ...]:
        """Distinct records that often break programs, the extremes first: ends, 0, ±1 and values next to an end."""
        return _different(self.extremes)

    @property
    def exceptional(self) -> tuple[Record, ...]:
        """Distinct records that arithmetic and comparisons treat as exceptions: NaN, ±inf, −0.0."""
        return ()

    def every(self, most: int) -> tuple[Record, ...] | None:
        """All records of this kind; None if there are more than `most`."""
        return None

    def nearest(self, value: Record) -> Record:
        """The closest record to `value` that differs from it; `value` itself if it is the only record."""
        low, high = self.extremes
        return high if value == low else low

    def between(self, left: Record, right: Record) -> Record:
        """A record halfway, which may be one of the two."""
        return left

    def simpler(self, value: Record) -> Iterator[Record]:
        """Records to try in place of `value`, the simplest first, then ever closer to it, as in a bisection."""
        yield from self.extremes


@dataclass(frozen=True)
class Integers(Records):
    """Whole numbers from low to high, both included."""

    low: int
    high: int

    def draw(self, rng: Generator) -> int:
        return int(rng.integers(self.low, self.high + 1))

    def every(self, most: int) -> tuple[Record, ...] | None:
        return tuple(range(self.low, self.high + 1)) if self.high - self.low < most else None

    @property
    def extremes(self) -> tuple[Record, Record]:
        return self.low, self.high

    def contains(self, value: Record) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    @property
    def special(self) -> tuple[Record, ...]:
        middle = (self.low + self.high) // 2
        values = (self.low, self.high, 0, 1, -1, self.low + 1, self.high - 1, middle)
        return _different(value for value in values if self.contains(value))

    def nearest(self, value: Record) -> Record:
        return value + 1 if value < self.high else value - 1

    def between(self, left: Record, right: Record) -> Record:
        return (left + right) // 2

    def simpler(self, value: Record) -> Iterator[Record]:
        yield from (v for v in (0, 1, -1) if self.contains(v))
        yield from _approaching(_closest_to_zero(self.low, self.high), value)


@dataclass(frozen=True)
class Floats(Records):
    """Real numbers from low to high, and the special floats NaN, ±inf, −0.0."""

    low: float
    high: float
    allow_nan: bool = True
    allow_infinity: bool = True
    allow_negative_zero: bool = True

    def draw(self, rng: Generator) -> float:
        return float(rng.uniform(self.low, self.high))

    @property
    def extremes(self) -> tuple[Record, Record]:
        return self.low, self.high

    def contains(self, value: Record) -> bool:
        if exception := exception_of(value):
            allowed: bool = getattr(self, exception)
            return allowed and (not math.isfinite(value) or self.low <= 0.0 <= self.high)
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    @property
    def exceptional(self) -> tuple[Record, ...]:
        return tuple(as_record(v) for v in (math.nan, math.inf, -math.inf, -0.0) if self.contains(v))

    @property
    def special(self) -> tuple[Record, ...]:
        middle = self.low + (self.high - self.low) / 2
        beside = math.nextafter(self.low, self.high), math.nextafter(self.high, self.low)
        values = (self.low, self.high, 0.0, 1.0, -1.0, middle, *beside)
        return _different(value for value in values if self.contains(value))

    def nearest(self, value: Record) -> Record:
        if not is_number(value):
            return self.low if value == -math.inf else self.high
        if exception_of(value):
            # −0.0
            return 0.0
        return math.nextafter(value, self.high if value < self.high else self.low)

    def between(self, left: Record, right: Record) -> Record:
        return left + (right - left) / 2 if is_number(left) and is_number(right) else left

    def simpler(self, value: Record) -> Iterator[Record]:
        end = _closest_to_zero(self.low, self.high)
        if not is_number(value):
            yield from (float(v) for v in (0, 1, -1, end) if self.contains(v))
            return
        whole = [*_approaching(math.ceil(end), math.trunc(value)), math.trunc(value)] if value != end else []
        rounded = (round(value, digits) for digits in (1, 2, 3))
        yield from (float(v) for v in (0, 1, -1, end, *whole, *rounded) if self.contains(v))


@dataclass(frozen=True)
class SampledFrom(Records):
    """One of some given records."""

    choices: tuple[Record, ...]

    def draw(self, rng: Generator) -> Record:
        return self.choices[int(rng.integers(len(self.choices)))]

    def every(self, most: int) -> tuple[Record, ...] | None:
        return self.choices if len(self.choices) <= most else None

    @property
    def extremes(self) -> tuple[Record, Record]:
        return self.choices[0], self.choices[-1]

    def contains(self, value: Record) -> bool:
        return value in self.choices

    @property
    def special(self) -> tuple[Record, ...]:
        return _different((*self.extremes, *self.choices[1 : MOST_SPECIAL - 1]))

    def nearest(self, value: Record) -> Record:
        """The next choice in the list; for the last choice, the previous one."""
        at = self.choices.index(value)
        beside = self.choices[at + 1 :] or self.choices[:at][::-1]
        return next((choice for choice in beside if choice != value), value)

    def between(self, left: Record, right: Record) -> Record:
        return self.choices[(self.choices.index(left) + self.choices.index(right)) // 2]

    def simpler(self, value: Record) -> Iterator[Record]:
        yield from self.choices


@dataclass(frozen=True)
class Tuples(Records):
    """Records of several fields."""

    parts: tuple[Records, ...]

    def draw(self, rng: Generator) -> Record:
        return tuple(part.draw(rng) for part in self.parts)

    def every(self, most: int) -> tuple[Record, ...] | None:
        parts = [part.every(most) for part in self.parts]
        known = [part for part in parts if part is not None]
        small = len(known) == len(parts) and math.prod(map(len, known)) <= most
        return tuple(product(*known)) if small else None

    @property
    def extremes(self) -> tuple[Record, Record]:
        ends = [part.extremes for part in self.parts]
        return tuple(low for low, _ in ends), tuple(high for _, high in ends)

    def contains(self, value: Record) -> bool:
        return (
            isinstance(value, tuple)
            and len(value) == len(self.parts)
            and all(part.contains(field) for part, field in zip(self.parts, value, strict=True))
        )

    @property
    def special(self) -> tuple[Record, ...]:
        """The extremes, and each of them with one field changed to a special value of its own."""
        changed = (
            (*end[:i], value, *end[i + 1 :])
            for i, part in enumerate(self.parts)
            for value in part.special
            for end in self.extremes
        )
        return _different((*self.extremes, *changed))[:MOST_SPECIAL]

    @property
    def exceptional(self) -> tuple[Record, ...]:
        """The lowest record with one field changed to an exceptional value, field after field."""
        low, _ = self.extremes
        each = [[(*low[:i], v, *low[i + 1 :]) for v in part.exceptional] for i, part in enumerate(self.parts)]
        return _in_turn(each)[:MOST_SPECIAL]

    def nearest(self, value: Record) -> Record:
        """The first field that can move is moved."""
        moved = (
            (*value[:i], part.nearest(field), *value[i + 1 :])
            for i, (part, field) in enumerate(zip(self.parts, value, strict=True))
        )
        return next((other for other in moved if other != value), value)

    def between(self, left: Record, right: Record) -> Record:
        return tuple(part.between(a, b) for part, a, b in zip(self.parts, left, right, strict=True))

    def simpler(self, value: Record) -> Iterator[Record]:
        """All fields at their simplest, then one field at a time."""
        yield tuple(next(part.simpler(field), field) for part, field in zip(self.parts, value, strict=True))
        for i, (part, field) in enumerate(zip(self.parts, value, strict=True)):
            yield from ((*value[:i], other, *value[i + 1 :]) for other in part.simpler(field))


@dataclass(frozen=True)
class Lists(Records):
    """Records that are lists (stored as tuples) of `least` to `most` entries of one kind."""

    entry: Records
    least: int
    most: int

    def draw(self, rng: Generator) -> Record:
        return tuple(self.entry.draw(rng) for _ in range(int(rng.integers(self.least, self.most + 1))))

    @property
    def extremes(self) -> tuple[Record, Record]:
        low, high = self.entry.extremes
        return (low,) * self.least, (high,) * self.most

    def contains(self, value: Record) -> bool:
        return (
            isinstance(value, tuple)
            and self.least <= len(value) <= self.most
            and all(self.entry.contains(entry) for entry in value)
        )

    @property
    def special(self) -> tuple[Record, ...]:
        """The extremes, and for every special entry the longest, the shortest and (if allowed) the one-entry list."""
        lengths = dict.fromkeys((self.most, self.least, min(self.most, max(self.least, 1))))
        values = ((entry,) * length for length in lengths for entry in self.entry.special)
        return _different((*self.extremes, *values))[:MOST_SPECIAL]

    @property
    def exceptional(self) -> tuple[Record, ...]:
        """One exceptional entry, among as few others as possible."""
        low, _ = self.entry.extremes
        rest = (low,) * (max(self.least, 1) - 1)
        return tuple((*rest, value) for value in self.entry.exceptional)

    def nearest(self, value: Record) -> Record:
        """The last entry moved; an empty list gets one."""
        if not value:
            return (self.entry.extremes[0],) * min(1, self.most)
        moved = (*value[:-1], self.entry.nearest(value[-1]))
        if moved != value:
            return moved
        return value[:-1] if len(value) > self.least else (*value, value[-1]) if len(value) < self.most else value

    def between(self, left: Record, right: Record) -> Record:
        """A list of intermediate length, with entries of the longer one."""
        short, long = sorted((left, right), key=len)
        return long[: (len(short) + len(long)) // 2]

    def simpler(self, value: Record) -> Iterator[Record]:
        """Shorter lists, then simpler entries."""
        yield from (value[:length] for length in _approaching(self.least, len(value)))
        for i, entry in enumerate(value):
            yield from ((*value[:i], other, *value[i + 1 :]) for other in self.entry.simpler(entry))
        if len(value) > self.least:
            yield from ((*value[:i], *value[i + 1 :]) for i in range(len(value) - 1))


@dataclass(frozen=True)
class Just(Records):
    """A single fixed value: for a public field, or a dataset where only the size is private."""

    value: Record

    def draw(self, rng: Generator) -> Record:
        return self.value

    def every(self, most: int) -> tuple[Record, ...] | None:
        return (self.value,)

    @property
    def extremes(self) -> tuple[Record, Record]:
        return self.value, self.value

    def contains(self, value: Record) -> bool:
        return bool(value == self.value)


def _different(values: Iterable[Record]) -> tuple[Record, ...]:
    return tuple(dict.fromkeys(values))


def _in_turn(rows: Iterable[Iterable[Record]]) -> tuple[Record, ...]:
    """The first of every row, then the second of every row, and so on, without duplicates."""
    absent = object()
    columns = zip_longest(*rows, fillvalue=absent)
    return _different(value for column in columns for value in column if value is not absent)


def _closest_to_zero(low: Record, high: Record) -> Record:
    return min(max(0, low), high)


def _approaching(end: int, value: int) -> Iterator[int]:
    """Whole numbers from `end` towards `value`, halving the remaining distance each time; `value` is excluded."""
    gap = value - end
    while gap:
        yield value - gap
        gap = gap // 2 if gap > 0 else -(-gap // 2)
