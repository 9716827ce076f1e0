"""The papers' logarithms."""

from __future__ import annotations

import math

from dpaudit.language.checks import number, whole


def ceil_log2(n: int) -> int:
    """⌈log₂ n⌉ of a whole number ≥ 1, exactly."""
    return (whole("n", n, least=1) - 1).bit_length()


def log_star(n: float) -> int:
    """log*: how often log₂ is applied before the value is ≤ 1.

    Raises:
        ParameterError: NaN or infinite.
    """
    steps = 0
    if isinstance(n, float):
        number("n", n)
    while n > 1:
        n = math.log2(n)
        steps += 1
    return steps
