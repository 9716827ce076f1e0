"""Checks of parameters at construction; every failure is one sentence that names the parameter."""

from __future__ import annotations

import math
from numbers import Real
from operator import index
from typing import Any

from dpaudit.errors import ParameterError
from dpaudit.stats.enclosed import is_enclosed


def number(name: str, value: Any) -> float:
    """A finite real number as a float; an enclosed one as it is.

    Raises:
        ParameterError: it is not a number, or it is NaN or infinite.
    """
    if is_enclosed(value):
        return value  # type: ignore[no-any-return]  # it does what a float does
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} must be a number, not {value!r}.")
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if not math.isfinite(converted):
        raise ParameterError(f"{name} must be finite and within the range of floats, not {value!r}.")
    return converted


def positive(name: str, value: Any) -> float:
    """A finite number above 0.

    Raises:
        ParameterError: it is anything else.
    """
    found = number(name, value)
    if found <= 0:
        raise ParameterError(f"{name} must be above 0, not {value!r}.")
    return found


def at_least(name: str, value: Any, least: float) -> float:
    """A finite number ≥ `least`.

    Raises:
        ParameterError: it is anything else.
    """
    found = number(name, value)
    if found < least:
        raise ParameterError(f"{name} must be at least {least:g}, not {value!r}.")
    return found


def probability(name: str, value: Any, *, open_ends: bool = False) -> float:
    """A number in [0, 1], or in (0, 1) with `open_ends`.

    Raises:
        ParameterError: it is anything else.
    """
    p = number(name, value)
    if open_ends and not 0 < p < 1:
        raise ParameterError(f"{name} must lie strictly between 0 and 1, not {value!r}.")
    if not 0 <= p <= 1:
        raise ParameterError(f"{name} must lie in [0, 1], not {value!r}.")
    return p


def whole(name: str, value: Any, *, least: int | None = None) -> int:
    """An integer, optionally ≥ `least`.

    Raises:
        ParameterError: it is anything else (a bool and 2.0 are not integers here).
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        integer = index(value)
    except TypeError:
        raise ParameterError(f"{name} must be a whole number, not {value!r}.") from None
    if least is not None and integer < least:
        raise ParameterError(f"{name} must be at least {least}, not {value!r}.")
    return integer
