"""Symbolic numbers: a constant, plus a function of each record, plus a multiple of each draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from dpaudit.proofs.exact import brief, exactly
from dpaudit.proofs.functions import RecordFunction, Table
from dpaudit.proofs.results import Place, Unsupported

MOST_PARTS = 16
"""Noisy numbers that a number was made of, beyond which this is not remembered."""
_LINEAR = "Only sums of noise, of functions of single records, and of multiples of these can be followed."


@dataclass(frozen=True, eq=False)
class Form:
    """constant + Σ records[i](record i) + Σ draws[j] · draw j.

    Args:
        constant: without data and noise.
        records: by the index of the record; never a constant function.
        draws: coefficients by the index of the draw on the path; never 0.
    """

    constant: Fraction = Fraction(0)
    records: dict[int, RecordFunction] = field(default_factory=dict)
    draws: dict[int, Fraction] = field(default_factory=dict)
    is_int: bool = False
    """Whether it is known to be an int, not a float."""
    is_mixed: bool = False
    """Whether it may be an int for some records and a float for others."""
    noisy: tuple[tuple[Form, Fraction], ...] = ()
    """Multiples of noisy numbers that it was made of, beside data without noise; only a hint."""

    @property
    def has_data(self) -> bool:
        """Whether it depends on a record."""
        return bool(self.records)

    @property
    def has_noise(self) -> bool:
        """Whether it depends on a draw."""
        return bool(self.draws)

    def key(self) -> object:
        """Equal for equal forms; hashable."""
        return (
            self.constant,
            tuple(sorted((index, function.key()) for index, function in self.records.items())),
            tuple(sorted(self.draws.items())),
        )

    def plus(self, other: Form, factor: Fraction = Fraction(1)) -> Form:
        """self + factor · other."""
        if not factor:
            return self
        constant = self.constant + factor * other.constant
        records = dict(self.records)
        for index, function in other.records.items():
            mine = records.pop(index, None)
            both = (
                function.combined(Fraction(0), factor, Fraction(0)) if mine is None
                else mine.combined(function, Fraction(1), factor)
            )
            if (value := both.constant()) is None:
                records[index] = both
            else:
                constant += value
        draws = dict(self.draws)
        for index, coefficient in other.draws.items():
            total = draws.pop(index, Fraction(0)) + factor * coefficient
            if total:
                draws[index] = total
        return Form(constant, records, draws, *_types(self, other, factor), _noisy(self, other, factor))

    def scaled(self, factor: Fraction) -> Form:
        """factor · self."""
        if factor == 1:
            return self
        found = Form().plus(self, factor)
        return Form(found.constant, found.records, found.draws, *_types(self, self, factor), found.noisy)

    def beside_noise(self) -> Form:
        """What it is made of beside its noisy parts."""
        rest = Form(self.constant, self.records, self.draws)
        for part, factor in self.noisy:
            rest = rest.plus(Form(part.constant, part.records, part.draws), -factor)
        return rest

    def typed(self, *, is_int: bool = False, is_mixed: bool = False) -> Form:
        """The same number of another type."""
        if (is_int, is_mixed) == (self.is_int, self.is_mixed):
            return self
        return Form(self.constant, self.records, self.draws, is_int, is_mixed, self.noisy)

    def times(self, other: Form) -> Form:
        """The product.

        Raises:
            Unsupported: it is not a form.
        """
        for one, two in ((self, other), (other, self)):
            if not one.has_data and not one.has_noise:
                return two.scaled(one.constant).typed(
                    is_int=self.is_int and other.is_int, is_mixed=self.is_mixed or other.is_mixed
                )
        mine, theirs = self.single(), other.single()
        if mine is not None and theirs is not None and mine[0] == theirs[0]:
            return of_function(mine[0], mine[1].times(theirs[1])).typed(
                is_int=self.is_int and other.is_int, is_mixed=self.is_mixed or other.is_mixed
            )
        what = "noise" if self.has_noise or other.has_noise else "different records"
        raise Unsupported(f"A product of numbers that depend on {what} is not linear.", _LINEAR)

    def single(self) -> tuple[int, RecordFunction] | None:
        """The record and the function of it, if the form depends on one record alone and on no noise."""
        if self.draws or len(self.records) != 1:
            return None
        ((index, function),) = self.records.items()
        return index, function.combined(self.constant, Fraction(1), Fraction(1)) if self.constant else function

    def extremes(self) -> tuple[Fraction | None, Fraction | None]:
        """Bounds over all datasets, None where there are none; for forms without noise."""
        low: Fraction | None = self.constant
        high: Fraction | None = self.constant
        for function in self.records.values():
            least, most = function.extremes()
            low = None if low is None or least is None else low + least
            high = None if high is None or most is None else high + most
        return low, high

    def __repr__(self) -> str:
        parts = [] if not self.constant and (self.records or self.draws) else [str(self.constant)]
        parts += [f"f(record {index})" for index in self.records]
        parts += [f"{coefficient}·draw {index}" for index, coefficient in self.draws.items()]
        return " + ".join(parts)


def _types(one: Form, other: Form, factor: Fraction) -> tuple[bool, bool]:
    """Whether one + factor · other is an int, and whether it may be an int or a float."""
    return one.is_int and other.is_int and factor.denominator == 1, one.is_mixed or other.is_mixed


def _noisy(one: Form, other: Form, factor: Fraction) -> tuple[tuple[Form, Fraction], ...]:
    """The noisy parts of one + factor · other, where data without noise is beside them."""
    if not one.draws and not other.draws:
        return ()
    if (one.records and not one.draws) or (other.records and not other.draws):
        # data beside noise: of one record with what was beside it before, or beside all of it
        noise, data, factors = (one, other, (Fraction(1), factor)) if one.draws else (other, one, (factor, Fraction(1)))
        rest = noise.beside_noise().scaled(factors[0]).plus(data, factors[1]) if noise.noisy else data
        if noise.noisy and len(rest.records) <= 1:
            return tuple((part, factors[0] * coefficient) for part, coefficient in noise.noisy)
        return ((noise, factors[0]),)
    if not one.noisy and not other.noisy:
        return ()
    mine = one.noisy or (((one, Fraction(1)),) if one.draws else ())
    theirs = other.noisy or (((other, Fraction(1)),) if other.draws else ())
    found = (*mine, *((part, factor * coefficient) for part, coefficient in theirs))
    return found if len(found) <= MOST_PARTS else ()


@dataclass(frozen=True, eq=False)
class Condition:
    """A comparison of a form with 0; symbol is ">=", ">", "==" or "!="."""

    form: Form
    symbol: str

    def negated(self) -> Condition:
        """The opposite."""
        match self.symbol:
            case ">=":
                return Condition(self.form.scaled(Fraction(-1)), ">")
            case ">":
                return Condition(self.form.scaled(Fraction(-1)), ">=")
            case _:
                return Condition(self.form, "!=" if self.symbol == "==" else "==")


@dataclass(frozen=True, eq=False)
class Cell:
    """A value that is no number and depends on one record: a condition, or an object from a finite domain.

    Args:
        record: its index.
        function: a condition, or a table of objects.
    """

    record: int
    function: RecordFunction

    @property
    def is_condition(self) -> bool:
        """Whether its values are True and False."""
        return self.function.is_condition

    def negated(self) -> Cell:
        """The opposite of a condition."""
        if isinstance(self.function, Table):
            return Cell(self.record, Table(tuple(not value for value in self.function.values)))
        return Cell(self.record, self.as_form().records[self.record].compared("=="))

    def as_form(self) -> Form:
        """The number, or 1 where a condition holds and 0 elsewhere.

        Raises:
            Unsupported: some value is no number.
        """
        function = self.function
        if isinstance(function, Table):
            if not all(isinstance(value, bool | int | float | Fraction) for value in function.values):
                raise Unsupported("A record that is no number is computed with.")
            mixed = len({type(value) for value in function.values}) > 1
            mixed = mixed or function.is_mixed
            are_ints = not mixed and all(type(value) is int for value in function.values)
            function = Table(tuple(exactly(value) for value in function.values), mixed)
            return of_function(self.record, function).typed(is_int=are_ints, is_mixed=mixed)
        return of_function(self.record, function.combined(Fraction(0), Fraction(1), Fraction(0)))

    def classes(self) -> Form:
        """A number that is equal for two records exactly if their values are equal and of one type."""
        if not isinstance(self.function, Table):
            return self.as_form()
        distinct: list[Any] = []
        places = []
        for value in self.function.values:
            place = next((i for i, other in enumerate(distinct) if identical(value, other)), len(distinct))
            if place == len(distinct):
                distinct.append(value)
            places.append(Fraction(place))
        return of_function(self.record, Table(tuple(places)))


def identical(left: Any, right: Any) -> bool:
    """Whether two values are known to be the same in every respect: one object, or plain scalars or tuples of them."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if type(left) is tuple:
        return len(left) == len(right) and all(map(identical, left, right))
    # repr: 0.0 and −0.0 are equal
    return type(left) in _SCALARS and bool(left == right) and repr(left) == repr(right)


_SCALARS = (bool, int, float, str, bytes, Fraction)


def of_function(index: int, function: RecordFunction) -> Form:
    """The form of one function of a record, which may be constant."""
    value = function.constant()
    return Form(constant=value) if value is not None else Form(records={index: function})


def constant(value: object) -> Form:
    """A number as a form."""
    return Form(exactly(value), is_int=isinstance(value, int | np.integer) and not isinstance(value, bool))


@dataclass(frozen=True)
class Kind:
    """A kind of noise around 0.

    Args:
        name: in words.
        is_whole: whether draws are whole numbers.
        moves: "both": a shift by s costs |s| / scale; "up": only shifts s ≥ 0 have a cost, s / scale; "none": no shift
            has a bounded cost.
    """

    name: str
    is_whole: bool
    moves: Literal["both", "up", "none"]


KINDS = {
    "laplace": Kind("Laplace", False, "both"),
    "exponential": Kind("Exponential", False, "up"),
    "gumbel": Kind("Gumbel", False, "up"),
    "geometric": Kind("DiscreteLaplace", True, "both"),
    "rounded": Kind("Laplace, rounded,", True, "both"),
    "one-sided": Kind("Geometric", True, "up"),
    "uniform": Kind("Uniform", False, "none"),
    "normal": Kind("Normal", False, "none"),
    "maximum": Kind("Maximum", False, "none"),
    "mechanism": Kind("", False, "up"),
}
"""The kinds of noise: with density p of draws, p(x) ≤ exp(cost(s)) · p(x + s) for every x and every shift s.

A mechanism that is proved by itself counts as one that is shifted by 1, for its ε."""


@dataclass(frozen=True, eq=False)
class Part:
    """A mechanism or function that is proved by itself.

    Args:
        name: of it.
        number: among the parts of the program.
        target: itself.
        epsilon: what was proved.
        shape: of all of its outputs, as in `parts`.
        certificate: of its proof.
    """

    name: str
    number: int
    target: Any
    epsilon: Fraction
    shape: Any
    certificate: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}, {brief(self.epsilon)}-DP"


@dataclass(frozen=True)
class Draw:
    """A draw of noise around 0 on a path.

    Args:
        kind: in `KINDS`.
        scale: a shift by s costs |s| / scale.
        place: the line that draws.
        part: the mechanism, where it is one that is proved by itself.
    """

    kind: str
    scale: Fraction
    place: Place
    part: Part | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number."""
        return KINDS[self.kind].is_whole

    @property
    def moves(self) -> str:
        """Which shifts it allows, as in `Kind`."""
        return KINDS[self.kind].moves

    def __str__(self) -> str:
        if self.part is not None:
            return str(self.part)
        return f"{KINDS[self.kind].name}({brief(self.scale)})"


Made: TypeAlias = Literal["int", "float", "numpy", "truth", "text", ""]
"""The Python type of a value: an int, a float, a number of numpy's, True or False, a str; "" if not known."""


@dataclass(frozen=True, eq=False)
class PostProcessed:
    """A value that is computed from released numbers and constants alone.

    Args:
        place: its number among those of the path: one place is one value.
        function: computes it from the arguments.
        args: forms that are released, post-processed values, and constants.
        made: its type.
        is_positive: whether it is known to be above 0.
    """

    place: int
    function: Callable[..., Any]
    args: tuple[Any, ...]
    made: Made
    is_positive: bool = False

    def __bool__(self) -> bool:
        raise TypeError("A post-processed value is used as a condition.")


def is_symbolic(value: object) -> bool:
    """Whether a value itself is a symbol."""
    return isinstance(value, Form | Condition | Cell | PostProcessed)


def combine(
    left: Cell, right: Cell | object, operation: Callable[[Any, Any], Any], *, swapped: bool = False
) -> Table:
    """An operation on tables of the same record, or on a table and an object, value by value."""
    if not isinstance(left.function, Table):
        raise Unsupported("This operation needs a finite domain of records.", "Give a finite domain.")
    mine = left.function.values
    if isinstance(right, Cell):
        assert isinstance(right.function, Table)
        others: tuple[Any, ...] = right.function.values
    else:
        others = (right,) * len(mine)
    return Table(tuple(operation(y, x) if swapped else operation(x, y) for x, y in zip(mine, others, strict=True)))
