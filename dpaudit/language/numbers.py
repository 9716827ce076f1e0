"""The logarithms that papers use, and the formatting of whole numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpz

from dpaudit.language.checks import number, whole
from dpaudit.stats.enclosed import is_enclosed

_LAST_TOWER = 65_536
"""2 to the power of 2^65536 is larger than any number that a computer can hold."""
WRITTEN_BITS = 1_024
"""Longer numbers are not written out: Python refuses to print many thousands of digits."""


def ceil_log2(n: int) -> int:
    """⌈log₂ n⌉ of a whole number ≥ 1, exactly."""
    return (whole("n", n, least=1) - 1).bit_length()


def log_star(n: float) -> int:
    """log*: how often log₂ must be applied until the value is ≤ 1.

    Raises:
        ParameterError: NaN or infinite.
    """
    steps, reached = 0, 1
    if isinstance(n, float):
        number("n", n)
    # the first of the towers 1, 2, 4, 16, 65536 that is at least n; no logarithm that would be rounded
    while n > reached:
        steps += 1
        if reached > _LAST_TOWER:
            break
        reached = 1 << reached
    return steps


def written(count: int) -> str:
    """A whole number ≥ 0 with thousands separators, or its approximate power of 2 if it is very long."""
    return f"{count:,}" if count.bit_length() <= WRITTEN_BITS else f"about 2^{count.bit_length() - 1}"


def next_prime(n: int) -> int:
    """The least prime ≥ n. FLINT proves primality; it is not a probabilistic test."""
    candidate = max(2, whole("n", n))
    if candidate > 2:
        candidate |= 1
    while not fmpz(candidate).is_prime():
        candidate += 1 if candidate == 2 else 2
    return candidate


def as_written(number: float) -> Fraction:
    """The decimal that a float was written as: 0.1 is one tenth. In an enclosed run of a program it is an enclosure."""
    if is_enclosed(number):
        return number  # type: ignore[return-value]  # it behaves the same, from decimals
    return _decimal(repr(number.item() if isinstance(number, np.generic) else number))


@lru_cache(maxsize=1024)
def _decimal(digits: str) -> Fraction:
    return Fraction(digits)
