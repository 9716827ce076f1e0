"""Functions of one record: exact and piecewise linear on an interval, or a table on a finite domain."""

from __future__ import annotations

import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpaudit.proofs.results import Unsupported

MOST_PIECES = 2_000
"""Pieces of a function beyond which it is not followed."""
ZERO, ONE = Fraction(0), Fraction(1)
Line: TypeAlias = tuple[Fraction, Fraction]
"""Slope and intercept."""
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq, "!=": operator.ne,
}


class RecordFunction(ABC):
    """A function of one record, with values that are numbers or, as a condition, True and False."""

    is_condition: bool

    @abstractmethod
    def combined(self, other: RecordFunction | Fraction, a: Fraction, b: Fraction) -> RecordFunction:
        """a · self + b · other."""

    @abstractmethod
    def compared(self, symbol: str) -> RecordFunction:
        """The condition that the value is ≥, >, ==, … 0."""

    @abstractmethod
    def times(self, other: RecordFunction) -> RecordFunction:
        """The product; raises Unsupported where it is not of this kind."""

    @abstractmethod
    def floored(self) -> RecordFunction:
        """The largest whole number that is not above the value."""

    @abstractmethod
    def constant(self) -> Fraction | None:
        """The value if it is the same for every record."""

    @abstractmethod
    def extremes(self) -> tuple[Fraction | None, Fraction | None]:
        """Infimum and supremum; None where there is none."""

    @property
    @abstractmethod
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""

    @property
    def keeps_whole(self) -> bool:
        """Whether it is a multiple, by a whole number, of the record, plus a whole number."""
        return False

    @abstractmethod
    def numbers(self) -> list[Fraction]:
        """Numbers that determine the function up to its domain; those of its multiples are multiples of them."""

    @abstractmethod
    def key(self) -> object:
        """Equal for equal functions; hashable."""


@dataclass(frozen=True)
class Table(RecordFunction):
    """A value for each record of a finite domain: any objects, while the program computes with them."""

    values: tuple[Any, ...]
    is_mixed: bool = False
    """Whether the type of a number tells more of the record than its value."""

    @property
    def is_condition(self) -> bool:  # type: ignore[override]
        return all(isinstance(value, bool) for value in self.values)

    def combined(self, other: RecordFunction | Fraction, a: Fraction, b: Fraction) -> Table:
        others = other.values if isinstance(other, Table) else (other,) * len(self.values)
        mixed = self.is_mixed or (isinstance(other, Table) and other.is_mixed)
        return Table(tuple(a * Fraction(x) + b * Fraction(y) for x, y in zip(self.values, others, strict=True)), mixed)

    def compared(self, symbol: str) -> Table:
        return Table(tuple(bool(COMPARISONS[symbol](value, 0)) for value in self.values))

    def times(self, other: RecordFunction) -> Table:
        if not isinstance(other, Table):
            raise Unsupported("A product of two numbers that depend on a record is not linear.", _FINITE)
        products = tuple(Fraction(x) * Fraction(y) for x, y in zip(self.values, other.values, strict=True))
        return Table(products, self.is_mixed or other.is_mixed)

    def floored(self) -> Table:
        return Table(tuple(Fraction(math.floor(value)) for value in self.values), self.is_mixed)

    def constant(self) -> Fraction | None:
        numbers = {Fraction(value) for value in self.values}
        return numbers.pop() if len(numbers) == 1 else None

    def extremes(self) -> tuple[Fraction | None, Fraction | None]:
        numbers = [Fraction(value) for value in self.values]
        return min(numbers), max(numbers)

    @property
    def is_whole(self) -> bool:
        return not self.is_mixed and all(Fraction(value).denominator == 1 for value in self.values)

    def numbers(self) -> list[Fraction]:
        return [Fraction(value) for value in self.values]

    def key(self) -> object:
        return tuple(self.numbers())


@dataclass(frozen=True)
class Piecewise(RecordFunction):
    """A piecewise linear function on [cuts[0], cuts[-1]], or on all real numbers.

    Args:
        cuts: ascending; on an interval its two ends are the first and the last.
        at: the values at the cuts.
        between: slope and intercept on the open intervals before, between and after the cuts; on a bounded interval
            only between them.
        bounded: whether the domain is bounded.
        is_condition: whether the values 0 and 1 mean False and True.
    """

    cuts: tuple[Fraction, ...]
    at: tuple[Fraction, ...]
    between: tuple[Line, ...]
    bounded: bool
    is_condition: bool = False

    @classmethod
    def identity(cls, low: Fraction | None, high: Fraction | None) -> Piecewise:
        """x itself, on [low, high] or, without bounds, on all real numbers."""
        if low is None or high is None:
            return cls((), (), ((ONE, ZERO),), bounded=False)
        return cls((low, high), (low, high), ((ONE, ZERO),), bounded=True)

    def _intervals(self) -> list[tuple[Fraction | None, Fraction | None]]:
        ends: list[Fraction | None] = list(self.cuts) if self.bounded else [None, *self.cuts, None]
        return list(itertools.pairwise(ends))

    def refined(self, extra: Iterable[Fraction]) -> Piecewise:
        """The same function with further cuts."""
        new = sorted(set(extra) - set(self.cuts))
        if not new:
            return self
        cuts = sorted({*self.cuts, *new})
        if len(cuts) > MOST_PIECES:
            raise Unsupported(f"A function of one record has more than {MOST_PIECES:,} pieces.")
        value = dict(zip(self.cuts, self.at, strict=True))
        ends: list[Fraction | None] = list(cuts) if self.bounded else [None, *cuts, None]
        between = []
        place = 0
        lines = self._intervals()
        for low, high in itertools.pairwise(ends):
            while not _within(low, high, lines[place]):
                place += 1
            between.append(self.between[place])
            if high is not None and high not in value:
                slope, intercept = self.between[place]
                value[high] = slope * high + intercept
        at = tuple(value[cut] for cut in cuts)
        return Piecewise(tuple(cuts), at, tuple(between), self.bounded, self.is_condition)

    def combined(self, other: RecordFunction | Fraction, a: Fraction, b: Fraction) -> RecordFunction:
        if isinstance(other, Rounded | Curved):
            return other.combined(self, b, a)
        if not isinstance(other, Piecewise):
            assert isinstance(other, Fraction)
            return Piecewise(
                self.cuts, tuple(a * value + b * other for value in self.at),
                tuple((a * slope, a * intercept + b * other) for slope, intercept in self.between), self.bounded,
            )
        left, right = self.refined(other.cuts), other.refined(self.cuts)
        return Piecewise(
            left.cuts, tuple(a * x + b * y for x, y in zip(left.at, right.at, strict=True)),
            tuple((a * s + b * t, a * c + b * d) for (s, c), (t, d) in zip(left.between, right.between, strict=True)),
            self.bounded,
        ).simplified()

    def simplified(self) -> Piecewise:
        """Without cuts at which nothing changes."""
        keep = []
        for index, cut in enumerate(self.cuts):
            if self.bounded and index in (0, len(self.cuts) - 1):
                keep.append(index)
                continue
            before = self.between[index - 1 if self.bounded else index]
            after = self.between[index if self.bounded else index + 1]
            if before != after or before[0] * cut + before[1] != self.at[index]:
                keep.append(index)
        if len(keep) == len(self.cuts):
            return self
        if self.bounded:
            between = tuple(self.between[index] for index in keep[:-1])
        else:
            between = (self.between[0], *(self.between[index + 1] for index in keep))
        return Piecewise(
            tuple(self.cuts[index] for index in keep), tuple(self.at[index] for index in keep), between, self.bounded,
            self.is_condition,
        )

    def compared(self, symbol: str) -> Piecewise:
        roots = []
        for (low, high), (slope, intercept) in zip(self._intervals(), self.between, strict=True):
            if slope:
                root = -intercept / slope
                if (low is None or low < root) and (high is None or root < high):
                    roots.append(root)
        fine = self.refined(roots)
        holds = COMPARISONS[symbol]
        between = []
        for (low, high), (slope, intercept) in zip(fine._intervals(), fine.between, strict=True):
            inside = _inside(low, high)
            between.append((ZERO, ONE if holds(slope * inside + intercept, 0) else ZERO))
        return Piecewise(
            fine.cuts, tuple(ONE if holds(value, 0) else ZERO for value in fine.at), tuple(between), self.bounded, True
        ).simplified()

    def times(self, other: RecordFunction) -> RecordFunction:
        if isinstance(other, Curved):
            return other.times(self)
        if not isinstance(other, Piecewise):
            raise Unsupported("A product of two numbers that depend on a record is not linear.", _FINITE)
        left, right = self.refined(other.cuts), other.refined(self.cuts)
        between = []
        for (s, c), (t, d) in zip(left.between, right.between, strict=True):
            if s and t:
                if not self.bounded:
                    raise Unsupported("A product of two numbers that depend on a record is not linear.", _FINITE)
                return product(self, other, left._product_range(right))
            between.append((s * d + t * c, c * d))
        return Piecewise(
            left.cuts, tuple(x * y for x, y in zip(left.at, right.at, strict=True)), tuple(between), self.bounded
        ).simplified()

    def _product_range(self, other: Piecewise) -> tuple[Fraction, Fraction]:
        """The extremes of the product with a function that has the same cuts."""
        found = [x * y for x, y in zip(self.at, other.at, strict=True)]
        for (low, high), (s, c), (t, d) in zip(self._intervals(), self.between, other.between, strict=True):
            assert low is not None
            assert high is not None
            places = [low, high]
            if s and t and low < (vertex := -(s * d + t * c) / (2 * s * t)) < high:
                places.append(vertex)
            found += [(s * place + c) * (t * place + d) for place in places]
        return min(found), max(found)

    def value(self, record: Fraction) -> Fraction:
        """The value at a record."""
        for cut, value in zip(self.cuts, self.at, strict=True):
            if record == cut:
                return value
        slope, intercept = self.between[sum(cut < record for cut in self.cuts) - self.bounded]
        return slope * record + intercept

    def floored(self) -> RecordFunction:
        if not self.bounded and not self.cuts and self.between[0][0]:
            return Rounded(*self.between[0])
        steps = []
        for (low, high), (slope, intercept) in zip(self._intervals(), self.between, strict=True):
            if not slope:
                continue
            if low is None or high is None:
                raise Unsupported("A number without bounds is rounded.", "Clip it first.")
            ends = sorted((slope * low + intercept, slope * high + intercept))
            first, last = math.ceil(ends[0]), math.floor(ends[1])
            if last - first > MOST_PIECES:
                raise Unsupported(f"Rounding a record gives more than {MOST_PIECES:,} values.", _FINITE)
            steps += [(step - intercept) / slope for step in range(first, last + 1)]
        low_end, high_end = (self.cuts[0], self.cuts[-1]) if self.bounded else (None, None)
        fine = self.refined(
            step for step in steps if (low_end is None or low_end <= step) and (high_end is None or step <= high_end)
        )
        between = []
        for (low, high), (slope, intercept) in zip(fine._intervals(), fine.between, strict=True):
            between.append((ZERO, Fraction(math.floor(slope * _inside(low, high) + intercept))))
        return Piecewise(
            fine.cuts, tuple(Fraction(math.floor(value)) for value in fine.at), tuple(between), self.bounded
        ).simplified()

    def constant(self) -> Fraction | None:
        if any(slope for slope, _ in self.between):
            return None
        numbers = {*self.at, *(intercept for _, intercept in self.between)}
        return numbers.pop() if len(numbers) == 1 else None

    @property
    def keeps_whole(self) -> bool:
        return not self.cuts and all(number.denominator == 1 for number in self.between[0])

    def limits(self) -> list[Fraction]:
        """The values at the cuts, and the one-sided limits there."""
        numbers = list(self.at)
        for (low, high), (slope, intercept) in zip(self._intervals(), self.between, strict=True):
            numbers += [slope * end + intercept for end in (low, high) if end is not None]
            if low is None and high is None:
                numbers.append(intercept)
        return numbers

    def extremes(self) -> tuple[Fraction | None, Fraction | None]:
        numbers = self.limits()
        low, high = min(numbers), max(numbers)
        if not self.bounded:
            rising, falling = self.between[-1][0] > 0, self.between[-1][0] < 0
            rises, falls = self.between[0][0] > 0, self.between[0][0] < 0
            return (None if falling or rises else low), (None if rising or falls else high)
        return low, high

    @property
    def is_whole(self) -> bool:
        return all(number.denominator == 1 for number in self.at) and all(
            not slope and intercept.denominator == 1 for slope, intercept in self.between
        )

    def numbers(self) -> list[Fraction]:
        return [*(slope for slope, _ in self.between), *self.limits()]

    def key(self) -> object:
        return self.cuts, self.at, self.between


@dataclass(frozen=True)
class Rounded(RecordFunction):
    """factor · ⌊slope · x + intercept⌋ + shift, on all real numbers x.

    It stands for whole numbers alone: nothing else that depends on the same answer is known of it.
    """

    slope: Fraction
    intercept: Fraction
    factor: Fraction = ONE
    shift: Fraction = ZERO
    is_condition: bool = False

    def combined(self, other: RecordFunction | Fraction, a: Fraction, b: Fraction) -> RecordFunction:
        if isinstance(other, Fraction):
            return Rounded(self.slope, self.intercept, a * self.factor, a * self.shift + b * other)
        if isinstance(other, Rounded) and (other.slope, other.intercept) == (self.slope, self.intercept):
            factor = a * self.factor + b * other.factor
            shift = a * self.shift + b * other.shift
            if not factor:
                return Piecewise.identity(None, None).combined(shift, ZERO, ONE)
            return Rounded(self.slope, self.intercept, factor, shift)
        raise Unsupported("A rounded answer is combined with other numbers that depend on this answer.")

    def compared(self, symbol: str) -> RecordFunction:
        raise Unsupported("A rounded answer is compared before noise is added.", "Clip it first.")

    def times(self, other: RecordFunction) -> RecordFunction:
        raise Unsupported("A product of two numbers that depend on a record is not linear.", _FINITE)

    def floored(self) -> RecordFunction:
        if self.is_whole:
            return self
        raise Unsupported("A rounded answer is rounded again.")

    def constant(self) -> Fraction | None:
        return None

    def extremes(self) -> tuple[Fraction | None, Fraction | None]:
        return None, None

    @property
    def is_whole(self) -> bool:
        return self.factor.denominator == 1 and self.shift.denominator == 1

    def numbers(self) -> list[Fraction]:
        return [self.factor]

    def key(self) -> object:
        return self.slope, self.intercept, self.factor, self.shift


@dataclass(frozen=True, eq=False)
class Atom:
    """A function of a record that is not linear, of which its values' interval is known.

    Args:
        key: equal for equal functions.
        low, high: bounds on its values; None where there is none.
        value: at a record, up to rounding; None where it depends on what was released before.
    """

    key: object
    low: Fraction | None
    high: Fraction | None
    value: Callable[[Fraction], Fraction] | None


@dataclass(frozen=True, eq=False)
class Curved(RecordFunction):
    """A piecewise linear function plus multiples of atoms, on an interval.

    Nothing is known of two atoms of one record but their intervals, which can only raise ε.

    Args:
        base: the linear part.
        atoms: with their coefficients, which are not 0; in the order of their keys.
    """

    base: Piecewise
    atoms: tuple[tuple[Atom, Fraction], ...]
    is_condition: bool = False

    def combined(self, other: RecordFunction | Fraction, a: Fraction, b: Fraction) -> RecordFunction:
        if isinstance(other, Table | Rounded):
            raise Unsupported(_CURVED, _FINITE)
        base = self.base.combined(other.base if isinstance(other, Curved) else other, a, b)
        found = {atom.key: (atom, a * factor) for atom, factor in self.atoms}
        for atom, factor in other.atoms if isinstance(other, Curved) else ():
            found[atom.key] = atom, found.get(atom.key, (atom, ZERO))[1] + b * factor
        atoms = tuple(
            sorted(((atom, factor) for atom, factor in found.values() if factor), key=lambda each: repr(each[0].key))
        )
        assert isinstance(base, Piecewise)
        return Curved(base, atoms) if atoms else base

    def compared(self, symbol: str) -> RecordFunction:
        raise Unsupported("A number that is not linear in a record is compared before noise is added.", _FINITE)

    def times(self, other: RecordFunction) -> RecordFunction:
        if not isinstance(other, Piecewise | Curved):
            raise Unsupported(_CURVED, _FINITE)
        (a, b), (c, d) = self.extremes(), other.extremes()
        if a is None or b is None or c is None or d is None:
            raise Unsupported(_CURVED, _FINITE)
        ends = a * c, a * d, b * c, b * d
        return product(self, other, (min(ends), max(ends)))

    def floored(self) -> RecordFunction:
        raise Unsupported("A number that is not linear in a record is rounded.", _FINITE)

    def constant(self) -> Fraction | None:
        return None

    def extremes(self) -> tuple[Fraction | None, Fraction | None]:
        low, high = self.base.extremes()
        for atom, factor in self.atoms:
            first, last = (atom.low, atom.high) if factor > 0 else (atom.high, atom.low)
            low = None if low is None or first is None else low + factor * first
            high = None if high is None or last is None else high + factor * last
        return low, high

    @property
    def is_whole(self) -> bool:
        return False

    def numbers(self) -> list[Fraction]:
        return [*self.base.numbers(), *(factor for _, factor in self.atoms)]

    def key(self) -> object:
        return "curved", self.base.key(), tuple((atom.key, factor) for atom, factor in self.atoms)

    def value(self, record: Fraction) -> Fraction:
        """The value at a record, up to rounding.

        Raises:
            NotOfRecord: it depends on more than the record.
        """
        total = self.base.value(record)
        for atom, factor in self.atoms:
            if atom.value is None:
                raise NotOfRecord
            total += factor * atom.value(record)
        return total


class NotOfRecord(Exception):
    """A value depends on what was released before, and not on a record alone."""


def product(one: Piecewise | Curved, other: Piecewise | Curved, extremes: tuple[Fraction, Fraction]) -> Curved:
    """The product of two functions of a record, which is not linear, with its extremes."""
    key = ("*", *sorted((one.key(), other.key()), key=repr))
    return curved(Atom(key, *extremes, lambda record: one.value(record) * other.value(record)), one)


def ratio(one: RecordFunction, other: RecordFunction) -> Curved:
    """The quotient of two functions of a record on an interval, with its extremes.

    Raises:
        Unsupported: they are on no interval, or the divisor may be 0.
    """
    if not isinstance(one, Piecewise | Curved) or not isinstance(other, Piecewise | Curved):
        raise Unsupported(_CURVED, _FINITE)
    least, most = other.extremes()
    first, last = one.extremes()
    if least is None or most is None or first is None or last is None:
        raise Unsupported(_CURVED, _FINITE)
    if least <= 0 <= most:
        raise Unsupported("A number is divided by one that may be 0 for some record.", "Divide by max(…, 1).")
    if isinstance(one, Piecewise) and isinstance(other, Piecewise) and one.bounded and other.bounded:
        left, right = one.refined(other.cuts), other.refined(one.cuts)
        # (s x + c) / (t x + d) is monotone between two cuts
        found = [x / y for x, y in zip(left.at, right.at, strict=True)]
        for ends, (s, c), (t, d) in zip(itertools.pairwise(left.cuts), left.between, right.between, strict=True):
            found += [(s * end + c) / (t * end + d) for end in ends]
    else:
        found = [x / y for x in (first, last) for y in (least, most)]
    key = "/", one.key(), other.key()
    return curved(Atom(key, min(found), max(found), lambda record: one.value(record) / other.value(record)), one)


def extreme(sign: int, of: RecordFunction, bound: Fraction) -> Curved:
    """The larger of a function of a record and a number, or the smaller one for sign −1."""
    assert isinstance(of, Piecewise | Curved)
    choose = max if sign > 0 else min
    return curved(Atom(
        (choose.__name__, bound, of.key()), *limited(sign, of.extremes(), bound),
        lambda record: choose(of.value(record), bound),
    ), of)


def limited(
    sign: int, extremes: tuple[Fraction | None, Fraction | None], bound: Fraction
) -> tuple[Fraction | None, Fraction | None]:
    """The extremes of the larger of a value and a number, or the smaller one for sign −1."""
    low, high = extremes
    if sign > 0:
        return bound if low is None else max(low, bound), None if high is None else max(high, bound)
    return None if low is None else min(low, bound), bound if high is None else min(high, bound)


def curved(atom: Atom, like: Piecewise | Curved) -> Curved:
    """An atom as a function on the interval of another one."""
    base = like.base if isinstance(like, Curved) else like
    nothing = base.combined(ZERO, ZERO, ZERO)
    assert isinstance(nothing, Piecewise)
    return Curved(nothing.simplified(), ((atom, ONE),))


def rising(name: str, function: Callable[[float], float], of: RecordFunction) -> Curved:
    """A function that rises, such as exp, of a number that depends on a record.

    Raises:
        Unsupported: the number is not on an interval, or the function has no value there.
    """
    if not isinstance(of, Piecewise | Curved):
        raise Unsupported(_CURVED, _FINITE)
    low, high = of.extremes()
    if low is None or high is None:
        raise Unsupported(_CURVED, _FINITE)
    try:
        first, last = float(low), float(high)
        first, last = _down(first) if Fraction(first) > low else first, _up(last) if Fraction(last) < high else last
        bounds = Fraction(_down(_down(function(first)))), Fraction(_up(_up(function(last))))
    except (ValueError, OverflowError, ZeroDivisionError):
        raise Unsupported(f"{name} is not finite for some record.", "Clip the record first.") from None
    return curved(Atom((name, of.key()), *bounds, lambda record: Fraction(function(float(of.value(record))))), of)


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)


_CURVED = "A function of a record that is not linear has no bounds here."
_FINITE = "Give a finite domain of records."


def _within(
    low: Fraction | None, high: Fraction | None, interval: tuple[Fraction | None, Fraction | None]
) -> bool:
    first, last = interval
    return (first is None or (low is not None and low >= first)) and (
        last is None or (high is not None and high <= last)
    )


def _inside(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A number in an open interval."""
    if low is None and high is None:
        return ZERO
    if low is None:
        assert high is not None
        return high - 1
    return low + 1 if high is None else (low + high) / 2
