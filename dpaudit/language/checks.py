"""Checks of parameters at construction; every failure is one sentence that names the parameter.

A field of a mechanism, goal or quality declares its check in its annotation (`epsilon: checks.Positive`); `Checked`
runs it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from inspect import get_annotations
from numbers import Real
from operator import index
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin
from weakref import WeakKeyDictionary

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.options import Option
from dpaudit.stats.enclosed import is_enclosed, to_float


def number(name: str | Option, value: object) -> float:
    """A finite real number as a float; an enclosed one unchanged.

    Raises:
        ParameterError: it is not a number, or it is NaN or infinite.
    """
    if type(value) is float and math.isfinite(value):
        # most are
        return value
    if is_enclosed(value):
        return to_float(value)  # itself: it behaves like a float
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError("{} must be a number, not {}.", name, repr(value))
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if not math.isfinite(converted):
        raise ParameterError("{} must be finite and within the range of floats, not {}.", name, repr(value))
    return converted


def positive(name: str | Option, value: object) -> float:
    """A finite number above 0.

    Raises:
        ParameterError: it is anything else.
    """
    checked = number(name, value)
    if checked <= 0:
        raise ParameterError("{} must be above 0, not {}.", name, repr(value))
    return checked


def at_least(name: str | Option, value: object, least: float) -> float:
    """A finite number ≥ `least`.

    Raises:
        ParameterError: it is anything else.
    """
    checked = number(name, value)
    if checked < least:
        raise ParameterError("{} must be at least {:g}, not {}.", name, least, repr(value))
    return checked


def probability(name: str | Option, value: object, *, open_ends: bool = False) -> float:
    """A number in [0, 1], or in (0, 1) with `open_ends`.

    Raises:
        ParameterError: it is anything else.
    """
    p = number(name, value)
    if open_ends and not 0 < p < 1:
        raise ParameterError("{} must lie strictly between 0 and 1, not {}.", name, repr(value))
    if not 0 <= p <= 1:
        raise ParameterError("{} must lie in [0, 1], not {}.", name, repr(value))
    return p


def whole(name: str | Option, value: Any, *, least: int | None = None) -> int:
    """An integer, optionally ≥ `least`.

    Raises:
        ParameterError: it is anything else (a bool and 2.0 are not integers here).
    """
    try:
        # numpy's truth values are integers before numpy 2
        if isinstance(value, bool | np.bool_):
            raise TypeError
        integer = index(value)
    except TypeError:
        raise ParameterError("{} must be a whole number, not {}.", name, repr(value)) from None
    if least is not None and integer < least:
        raise ParameterError("{} must be at least {}, not {}.", name, least, repr(value))
    return integer


def unit(name: str, value: object) -> float:
    """A number in (0, 1].

    Raises:
        ParameterError: it is anything else.
    """
    checked = number(name, value)
    if not 0 < checked <= 1:
        raise ParameterError(f"{name} must lie in (0, 1], not {value!r}.")
    return checked


def _one_of(name: str, value: object, choices: tuple[object, ...]) -> object:
    """One of the given choices.

    Raises:
        ParameterError: it is anything else.
    """
    if isinstance(value, bool) or value not in choices:
        raise ParameterError(f"{name} must be {' or '.join(map(repr, choices))}, not {value!r}.")
    return value


# --- checks declared in annotations --------------------------------------------------------------------------------

_Checker: TypeAlias = Callable[[str, Any], object]


@dataclass(frozen=True)
class Check:
    """In an annotation: the check that every value of the field must pass, `Annotated[int, Check(...)]`.

    Args:
        passes: called with the field's name and value; raises a `ParameterError`.
    """

    passes: _Checker


def least(bound: int) -> Check:
    """An integer ≥ bound, as in `size: Annotated[int, checks.least(2)]`."""
    return Check(partial(whole, least=bound))


Number: TypeAlias = Annotated[float, Check(number)]
"""A finite real number."""
Positive: TypeAlias = Annotated[float, Check(positive)]
"""A finite number above 0."""
NonNegative: TypeAlias = Annotated[float, Check(partial(at_least, least=0))]
"""A finite number ≥ 0."""
Probability: TypeAlias = Annotated[float, Check(probability)]
"""A number in [0, 1]."""
OPEN_UNIT = Check(partial(probability, open_ends=True))
OpenUnit: TypeAlias = Annotated[float, OPEN_UNIT]
"""A number in (0, 1)."""
Unit: TypeAlias = Annotated[float, Check(unit)]
"""A number in (0, 1]."""
ExactPositive: TypeAlias = Annotated[float | Fraction, Check(positive)]
"""A finite number above 0, which may be a fraction."""
ExactUnit: TypeAlias = Annotated[float | Fraction, Check(unit)]
"""A number in (0, 1], which may be a fraction."""
Integer: TypeAlias = Annotated[int, Check(whole)]
"""An integer."""
Natural: TypeAlias = Annotated[int, least(0)]
"""An integer ≥ 0."""
Count: TypeAlias = Annotated[int, least(1)]
"""An integer ≥ 1."""


class Checked:
    """A dataclass whose fields are checked at construction, as their annotations declare.

    Checks `Annotated` types with a `Check`, `Literal`, and either of them `| None`; other annotations are only
    documentation. A subclass that redeclares a field without a check, to change its default, keeps the check. A
    subclass with conditions on several fields defines its own `__post_init__`, which calls this one first.
    """

    def __post_init__(self) -> None:
        for name, check in _field_checks(type(self)):
            check(name, getattr(self, name))


_KNOWN: WeakKeyDictionary[type, tuple[tuple[str, _Checker], ...]] = WeakKeyDictionary()


def _field_checks(cls: Any) -> tuple[tuple[str, _Checker], ...]:
    """Fields with a check, in order."""
    known = _KNOWN.get(cls)
    if known is None:
        stated = ((field.name, map(_check_of, _annotations(cls, field.name))) for field in fields(cls))
        checks = ((name, next((check for check in own if check is not None), None)) for name, own in stated)
        known = _KNOWN[cls] = tuple((name, check) for name, check in checks if check is not None)
    return known


def _annotations(cls: type, name: str) -> Iterator[object]:
    """The evaluated annotations of a field, the class's own first; annotations that fail to evaluate are skipped."""
    for owner in cls.__mro__:
        module = sys.modules.get(owner.__module__)
        try:
            annotation = get_annotations(owner).get(name)
            yield eval(annotation, vars(module) if module else {}) if isinstance(annotation, str) else annotation
        except Exception:
            # a user's annotation may be any string: a name that only type checkers resolve, or a sentence
            continue


def _check_of(annotation: object) -> _Checker | None:
    if get_origin(annotation) is Annotated:
        checkers = [extra.passes for extra in get_args(annotation) if isinstance(extra, Check)]
        return checkers[0] if checkers else None
    if get_origin(annotation) is Literal:
        return partial(_one_of, choices=get_args(annotation))
    if get_origin(annotation) in (Union, UnionType) and NoneType in get_args(annotation):
        inner = [_check_of(part) for part in get_args(annotation) if part is not NoneType]
        return _unless_none(inner[0]) if len(inner) == 1 and inner[0] is not None else None
    return None


def _unless_none(check: _Checker) -> _Checker:
    return lambda name, value: None if value is None else check(name, value)
