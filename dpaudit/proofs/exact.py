"""Floats read as the real numbers that they round."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpaudit.errors import ParameterError

SIMPLE = 10**6
"""Largest denominator of a fraction that a float is read as; any other float is read as its binary value."""
ROUNDING = Fraction(1, 10**12)
"""Relative difference of two numbers that counts as rounding of the program's parameters."""


def brief(value: Fraction) -> str:
    """A fraction as text; a decimal where it is long."""
    return str(value) if value.denominator <= SIMPLE else f"{float(value):.6g}"


def exactly(value: object) -> Fraction:
    """The real number that a program's parameter stands for.

    A float is read as the nearest fraction with a denominator of at most 10⁶, if that is within four units of its last
    place (0.1 is 1/10, and so is 0.3 − 0.2), and otherwise as its binary value.

    Raises:
        ParameterError: not a finite number.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | Fraction):
        return Fraction(value)
    if isinstance(value, float) and math.isfinite(value):
        simple = Fraction(value).limit_denominator(SIMPLE)
        near = abs(float(simple) - value) <= 4 * math.ulp(value) and bool(simple) == bool(value)
        return simple if near else Fraction(value)
    raise ParameterError(f"A proof needs finite numbers, not {value!r}.")
