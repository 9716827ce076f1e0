"""The closest point of the claim's line: the slope's sign on both sides of it, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.stats.boundary import nearest

CLOSE = Fraction(1, 10**12)


def slope(q: Fraction, p_hat: float, q_hat: float, ratio: float, delta: float, n: int, m: int) -> Fraction:
    """The derivative of the log-likelihood along the line, times what is positive between its ends."""
    p = Fraction(ratio) * q + Fraction(delta)
    return Fraction(ratio) * n * (Fraction(p_hat) - p) * q * (1 - q) - m * (q - Fraction(q_hat)) * p * (1 - p)


def frequencies(generator: np.random.Generator, number: int) -> float:
    """Anything in [0, 1]: counted, or very near to either end, or an end."""
    kind = generator.integers(4)
    if kind == 0:
        return int(generator.integers(number + 1)) / number
    near = 10 ** float(generator.uniform(-9, 0))
    return (near, 1 - near, float(generator.integers(2)))[kind - 1]


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-5, 0.1, 0.9])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0, 50.0])
def test_the_slope_changes_its_sign_there(epsilon: float, delta: float) -> None:
    generator = np.random.default_rng(20261122)
    ratio = math.exp(epsilon)
    end = (1 - Fraction(delta)) / Fraction(ratio)
    for _ in range(300):
        n, m = (int(10 ** generator.uniform(0, 6)) for _ in range(2))
        p_hat, q_hat = frequencies(generator, n), frequencies(generator, m)
        p, found = map(float, nearest(p_hat, q_hat, ratio=ratio, delta=delta, n=n, m=m))
        assert p == min(ratio * found + delta, 1.0)
        at = (p_hat, q_hat, ratio, delta, n, m)
        below, above = Fraction(found) * (1 - CLOSE), max(Fraction(found) * (1 + CLOSE), Fraction(1, 10**300))
        # at the ends of the line there is nothing beyond
        assert below <= 0 or slope(below, *at) >= 0, at
        assert above >= end or slope(above, *at) <= 0, at


def test_ends_of_the_line_are_reached_exactly() -> None:
    assert tuple(map(float, nearest(0.3, 0.0, ratio=1.0, delta=0.2, n=1, m=1))) == (0.2, 0.0)
    assert tuple(map(float, nearest(1.0, 0.9, ratio=2.0, delta=0.0, n=1, m=1))) == (1.0, 0.5)
    assert tuple(map(float, nearest(1.0, 0.9, ratio=2.0, delta=0.5, n=1, m=1))) == (1.0, 0.25)
    assert tuple(map(float, nearest(0.0, 0.0, ratio=2.0, delta=0.0, n=1, m=1))) == (0.0, 0.0)
    assert tuple(map(float, nearest(0.5, 0.5, ratio=2.0, delta=1.0, n=1, m=1))) == (1.0, 0.0)


def test_a_point_of_the_line_stays_where_it_is() -> None:
    for delta in (0.0, 0.01):
        found = nearest(0.25 * 1.5 + delta, 0.25, ratio=1.5, delta=delta, n=70, m=9)
        assert tuple(map(float, found)) == pytest.approx((0.25 * 1.5 + delta, 0.25), rel=1e-14)


def test_arguments_are_broadcast() -> None:
    p_hat, q_hat, ratios = np.array([[0.9], [0.4]]), np.array([[0.3], [0.001]]), np.exp(np.linspace(0, 6, 5))
    for delta in (0.0, 0.01):
        together = nearest(p_hat, q_hat, ratio=ratios, delta=delta, n=5, m=7)
        assert together[0].shape == together[1].shape == (2, 5)
        for i in range(2):
            for j in range(5):
                alone = nearest(p_hat[i, 0], q_hat[i, 0], ratio=ratios[j], delta=delta, n=5, m=7)
                assert (together[0][i, j], together[1][i, j]) == pytest.approx(tuple(map(float, alone)), rel=1e-12)
