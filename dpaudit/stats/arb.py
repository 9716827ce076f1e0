"""Convert whole numbers, fractions, doubles and enclosed numbers to Arb intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from dpaudit.stats.enclosed import is_enclosed, note, short

PRECISION = 128
"""Precision of interval arithmetic in bits: sums of a million terms still have more than thirty digits."""
HALF = arb(0.5)


def to_interval(number: Any) -> arb:
    """The interval of an integer, a double, a fraction or an enclosed number; a double of many digits is recorded."""
    if is_enclosed(number):
        return number.interval
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    if isinstance(number, int | np.integer):
        return arb(int(number))
    if not short(number):
        note(f"the double {float(number)!r}, which was passed to a draw")
    return arb(float(number))
