"""Symbolic draws, which show what a program does with its noise.

A `Form` represents Σ cᵢ·drawᵢ + constant with exact fractions. A program may store it, pass it on, add to it and
multiply it by numbers. Any other operation (a comparison, a truth value, a conversion, its hash, its class, an
attribute) is recorded in the `Notebook` before it raises, so that catching the error hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import NoReturn, TypeGuard

from dpaudit.errors import NotEnumerableError
from dpaudit.stats.enclosed import is_enclosed, note, short


@dataclass
class Notebook:
    """Records the operations of a program on its draws other than releasing them."""

    offences: list[str] = field(default_factory=list)

    def refuse(self, what: str) -> NoReturn:
        """Record the operation, and raise."""
        self.offences.append(what)
        raise NotEnumerableError(f"Its program {what}.")


class Form:
    """Σ cᵢ·drawᵢ + constant.

    Args:
        parts: draw number → its coefficient, not 0.
        constant: the constant term.
        notebook: records all other operations.
    """

    __slots__ = ("constant", "notebook", "parts")

    parts: dict[int, Fraction]
    constant: Fraction
    notebook: Notebook

    def __init__(self, parts: dict[int, Fraction], constant: Fraction, notebook: Notebook) -> None:
        self.parts = {draw: c for draw, c in parts.items() if c}
        self.constant = constant
        self.notebook = notebook

    def _added(self, other: object, sign: int, own: int = 1) -> Form:
        """own·self + sign·other."""
        if is_form(other):
            parts, constant = other.parts, other.constant
        else:
            parts, constant = {}, self._number(other, "adds")
        draws = dict.fromkeys([*self.parts, *parts])
        zero = Fraction(0)
        summed = {draw: own * self.parts.get(draw, zero) + sign * parts.get(draw, zero) for draw in draws}
        return Form(summed, own * self.constant + sign * constant, self.notebook)

    def _number(self, other: object, does: str) -> Fraction:
        value = exact(other)
        if value is None:
            self.notebook.refuse(f"{does} {_called(other)} to a draw" if does == "adds" else f"{does} {_called(other)}")
        return value

    def _times(self, factor: Fraction) -> Form:
        return Form({draw: factor * c for draw, c in self.parts.items()}, factor * self.constant, self.notebook)

    def __add__(self, other: object) -> Form:
        return self._added(other, 1)

    def __radd__(self, other: object) -> Form:
        return self._added(other, 1)

    def __sub__(self, other: object) -> Form:
        return self._added(other, -1)

    def __rsub__(self, other: object) -> Form:
        return self._added(other, 1, -1)

    def __mul__(self, other: object) -> Form:
        return self._times(self._number(other, "multiplies a draw by"))

    def __rmul__(self, other: object) -> Form:
        return self._times(self._number(other, "multiplies a draw by"))

    def __truediv__(self, other: object) -> Form:
        by = self._number(other, "divides a draw by")
        if not by:
            self.notebook.refuse("divides a draw by 0")
        return self._times(1 / by)

    def __neg__(self) -> Form:
        return self._times(Fraction(-1))

    def __pos__(self) -> Form:
        return self

    def __copy__(self) -> Form:
        return self

    def __deepcopy__(self, memo: object) -> Form:
        # operations on a copy with its own notebook would go unnoticed
        return self

    @property  # type: ignore[misc]  # never set
    def __class__(self) -> type:
        """Read by isinstance(draw, …) if the type itself does not match."""
        self.notebook.refuse("asks what a draw is an instance of")

    def __getattr__(self, name: str) -> object:
        # numpy asks every object for its protocols, and works without them
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self.notebook.refuse(f"asks a draw for its {name}")


def is_form(thing: object) -> TypeGuard[Form]:
    """Whether it is a `Form`; `isinstance` would ask the object itself."""
    return type(thing) is Form


def exact(number: object) -> Fraction | None:
    """A finite real number as a fraction; None for anything else."""
    if is_enclosed(number):
        return number.exact
    if is_form(number) or not isinstance(number, Real):
        return None
    if isinstance(number, Integral):
        return Fraction(int(number))
    if isinstance(number, Fraction):
        return number
    if not math.isfinite(number):
        return None
    if not short(float(number)):
        note(f"the double {float(number)!r}, which the program contains or has computed")
    return Fraction(float(number))


def _called(thing: object) -> str:
    return "another draw" if is_form(thing) else f"a {type(thing).__name__}"


def _refusing(what: str) -> Callable[..., NoReturn]:
    def refuse(self: Form, *_: object, **__: object) -> NoReturn:
        self.notebook.refuse(what)

    return refuse


_REFUSED = {
    "compares a draw": ("lt", "le", "gt", "ge", "eq", "ne"),
    "branches on a draw": ("bool",),
    "rounds a draw": ("round", "trunc", "floor", "ceil", "int", "index", "floordiv", "rfloordiv"),
    "reads a draw": (
        *("float", "complex", "hash", "str", "repr", "format", "reduce", "reduce_ex", "getstate", "dir", "sizeof"),
    ),
    "applies a nonlinear operation to a draw": (
        *("abs", "mod", "rmod", "divmod", "rdivmod", "pow", "rpow", "rtruediv", "matmul", "rmatmul", "and", "rand"),
        *("or", "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "rrshift", "invert"),
    ),
}
for _what, _names in _REFUSED.items():
    for _name in _names:
        setattr(Form, f"__{_name}__", _refusing(_what))
