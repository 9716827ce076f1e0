"""Floats read as the real numbers that they round."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np

from dpaudit.errors import ParameterError

SIMPLE = 10**6
"""Largest denominator of a fraction that a float is read as; any other float is read as its binary value."""
ROUNDING = Fraction(1, 10**12)
"""Relative difference of two numbers that counts as rounding of the program's parameters."""
LARGEST = 50
"""Exponents beyond which exponentials are not computed."""
TERMS = 260
"""Of the series of e^ε."""


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


@functools.cache
def exponential_below(epsilon: Fraction) -> Fraction:
    """A fraction that is at most e^ε, and very near for ε up to `LARGEST`: the beginning of its series."""
    term = total = Fraction(1)
    for k in range(1, TERMS):
        term *= min(epsilon, Fraction(LARGEST)) / k
        total += term
    return total


def logarithm_above(value: Fraction) -> Fraction:
    """A fraction that is at least ln(value) and very near, for value ≥ 1."""
    if value == 1:
        return Fraction(0)
    if value > 10**300:
        # too large for a double: twice the power of 2 below it
        return Fraction(value.numerator.bit_length() - value.denominator.bit_length() + 1) * Fraction(7, 10)
    return Fraction(math.log1p(float(value - 1)) * (1 + 1e-14))


def is_short(value: Fraction) -> bool:
    """Whether a number has so few binary digits that floats add several of them without rounding."""
    return value.denominator <= 1 << 30 and not value.denominator & (value.denominator - 1) and abs(value) < 1 << 22
