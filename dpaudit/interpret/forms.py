"""Draws that cannot be looked at: what a text is sent when it is asked what it does with its noise.

A `Form` stands for Σ cᵢ·drawᵢ + constant with exact fractions. A text may keep it, hand it on, add to it and multiply
it by numbers. Everything else that an object can be asked for (a comparison, a truth value, a conversion, its hash, its
class, an attribute) is written down in the `Notebook` before it raises, so that catching the error hides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NoReturn

from dpaudit.errors import NotEnumerableError
from dpaudit.stats.enclosed import is_enclosed, note, short


@dataclass
class Notebook:
    """What a text did to its draws that is more than to release them."""

    offences: list[str] = field(default_factory=list)

    def refuse(self, what: str) -> NoReturn:
        """Write it down, and raise."""
        self.offences.append(what)
        raise NotEnumerableError(f"Its text {what}.")


class Form:
    """Σ cᵢ·drawᵢ + constant.

    Args:
        parts: draw number → its coefficient, none of them 0.
        constant: what is added.
        notebook: where everything else that is tried is written down.
    """

    __slots__ = ("constant", "notebook", "parts")

    parts: dict[int, Fraction]
    constant: Fraction
    notebook: Notebook

    def __init__(self, parts: dict[int, Fraction], constant: Fraction, notebook: Notebook) -> None:
        self.parts = {draw: c for draw, c in parts.items() if c}
        self.constant = constant
        self.notebook = notebook

    def _added(self, other: Any, sign: int, own: int = 1) -> Form:
        """own·self + sign·other."""
        if is_form(other):
            parts, constant = other.parts, other.constant
        else:
            parts, constant = {}, self._number(other, "adds")
        draws = dict.fromkeys([*self.parts, *parts])
        zero = Fraction(0)
        summed = {draw: own * self.parts.get(draw, zero) + sign * parts.get(draw, zero) for draw in draws}
        return Form(summed, own * self.constant + sign * constant, self.notebook)

    def _number(self, other: Any, does: str) -> Fraction:
        found = exact(other)
        if found is None:
            self.notebook.refuse(f"{does} {_called(other)} to a draw" if does == "adds" else f"{does} {_called(other)}")
        return found

    def _times(self, factor: Fraction) -> Form:
        return Form({draw: factor * c for draw, c in self.parts.items()}, factor * self.constant, self.notebook)

    def __add__(self, other: Any) -> Form:
        return self._added(other, 1)

    def __radd__(self, other: Any) -> Form:
        return self._added(other, 1)

    def __sub__(self, other: Any) -> Form:
        return self._added(other, -1)

    def __rsub__(self, other: Any) -> Form:
        return self._added(other, 1, -1)

    def __mul__(self, other: Any) -> Form:
        return self._times(self._number(other, "multiplies a draw by"))

    def __rmul__(self, other: Any) -> Form:
        return self._times(self._number(other, "multiplies a draw by"))

    def __truediv__(self, other: Any) -> Form:
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

    def __deepcopy__(self, memo: Any) -> Form:
        # a copy with a notebook of its own could be looked at unseen
        return self

    @property  # type: ignore[misc]  # nobody sets it
    def __class__(self) -> Any:
        """What isinstance(draw, …) reads where the type itself does not match."""
        self.notebook.refuse("asks what a draw is an instance of")

    def __getattr__(self, name: str) -> Any:
        # numpy asks every object for its protocols, and makes do without
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self.notebook.refuse(f"asks a draw for its {name}")


def is_form(thing: Any) -> bool:
    """Whether it is one; `isinstance` would ask the object itself."""
    return type(thing) is Form


def exact(number: Any) -> Fraction | None:
    """A finite real number as a fraction; None for anything else."""
    if is_enclosed(number):
        return number.exact  # type: ignore[no-any-return]
    if is_form(number) or not isinstance(number, Real):
        return None
    if isinstance(number, Integral):
        return Fraction(int(number))
    if isinstance(number, Fraction):
        return number
    if not math.isfinite(number):
        return None
    if not short(float(number)):
        note(f"the double {float(number)!r}, which the program holds or has computed")
    return Fraction(float(number))


def _called(thing: Any) -> str:
    return "another draw" if is_form(thing) else f"a {type(thing).__name__}"


def _refusing(what: str) -> Callable[..., Any]:
    def refuse(self: Form, *_: Any, **__: Any) -> Any:
        self.notebook.refuse(what)

    return refuse


_REFUSED = {
    "compares a draw": ("lt", "le", "gt", "ge", "eq", "ne"),
    "branches on a draw": ("bool",),
    "rounds a draw": ("round", "trunc", "floor", "ceil", "int", "index", "floordiv", "rfloordiv"),
    "reads a draw": (
        *("float", "complex", "hash", "str", "repr", "format", "reduce", "reduce_ex", "getstate", "dir", "sizeof"),
    ),
    "bends a draw": (
        *("abs", "mod", "rmod", "divmod", "rdivmod", "pow", "rpow", "rtruediv", "matmul", "rmatmul", "and", "rand"),
        *("or", "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "rrshift", "invert"),
    ),
}
for _what, _names in _REFUSED.items():
    for _name in _names:
        setattr(Form, f"__{_name}__", _refusing(_what))
