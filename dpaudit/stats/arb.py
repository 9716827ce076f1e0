"""Intervals of Arb, made from whole numbers, fractions, doubles and enclosed numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, fmpq

from dpaudit.stats.enclosed import is_enclosed, note, short

Ball: TypeAlias = Any
"""An `arb`: the package has no types."""

PRECISION = 128
"""Bits in which balls are computed: sums of a million terms still have more than thirty digits."""
HALF = arb(0.5)


def ball(number: Any) -> Ball:
    """The interval of an integer, a double, a fraction or an enclosed number; a double of many digits is noted."""
    if is_enclosed(number):
        return number.interval
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    if isinstance(number, int | np.integer):
        return arb(int(number))
    if not short(number):
        note(f"the double {float(number)!r}, which a draw was given")
    return arb(float(number))
