"""Distributions of noise: what a shift costs, whether two sums of draws have a bounded ratio, and δ by integration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpaudit.stats.arrays import FloatArray

SAME = 1e-6
"""Relative difference of two scales, or of a cost and a claim, that counts as none."""


def price(distribution: str) -> tuple[float, float]:
    """The cost of moving a standard draw up, and down, by one: where its moment generating function ends."""
    family, _, parameter = distribution.partition("(")
    if family in ("laplace", "logistic"):
        return 1.0, 1.0
    if family in ("exponential", "gumbel", "gamma"):
        return 1.0, math.inf
    if family == "geometric":
        return -math.log1p(-min(float(parameter.rstrip(")")), 1 - 1e-15)), math.inf
    if family in ("cauchy", "student_t"):
        return 0.0, 0.0
    return math.inf, math.inf


def differing(
    left: Sequence[tuple[str, float, int]], right: Sequence[tuple[str, float, int]], slack: float
) -> tuple[int, int] | None:
    """Which draws, of D and of D′, make the ratio of two densities unbounded; None where this is not known.

    Each dataset has (distribution, signed factor, …) for every draw in a number of the output. The moment generating
    function of their sum is finite for λ up to the least price/|factor|. If p ≤ e^ε q everywhere, it is finite for p
    where it is for q: so there is no ε if these ranges differ. Two Gaussian sums of different variance have no ε
    either. Of two heavy tails, such as Cauchy's, nothing is said: another scale may be within the claim.
    """
    wider = tuple(max(range(len(side)), key=lambda i: abs(side[i][1])) for side in (left, right))
    for sign in (1, -1):
        widths = [
            [_width(name, sign * factor) for name, factor, _ in side] for side in (left, right)
        ]
        a, b = max(widths[0]), max(widths[1])
        if a != b and not abs(a - b) <= SAME * max(a, b) + slack:
            at = [side.index(max(side)) if max(side) > 0 else most for side, most in zip(widths, wider, strict=True)]
            return at[0], at[1]
    if all(name == "normal" for name, *_ in (*left, *right)):
        a, b = (math.sqrt(sum(factor**2 for _, factor, _ in side)) for side in (left, right))
        if abs(a - b) > SAME * max(a, b) + slack:
            return wider[0], wider[1]
    return None


def _width(distribution: str, factor: float) -> float:
    """The scale of the exponential upper tail of factor · draw; 0 for a lighter tail, infinite for a heavier one."""
    each = price(distribution)[0 if factor > 0 else 1]
    return abs(factor) / each if each else math.inf


def hockey_stick(
    one: tuple[str, float, float], other: tuple[str, float, float], epsilon: float, within: tuple[float, float]
) -> float:
    """max over events of P[one] − e^ε P[other], by numerical integration; each is (family, location, scale).

    Args:
        one, other: the two distributions.
        epsilon: ε.
        within: bounds to which both are clipped.
    """
    ratio, (low, high) = math.exp(min(700.0, epsilon)), within
    ends = np.geomspace(1e-9, 200, 4000) * max(one[2], other[2])
    around = [location + sign * ends for _, location, _ in (one, other) for sign in (-1, 1)]
    x = np.unique(np.clip(np.concatenate(around), low, high))
    p, q = (_density(family, (x - location) / scale) / scale for family, location, scale in (one, other))
    inside = float(np.trapezoid(np.maximum(p - ratio * q, 0.0), x)) if len(x) > 1 else 0.0
    below, above = (
        [_tail(family, sign * (end - location) / scale) for family, location, scale in (one, other)]
        for sign, end in ((1, low), (-1, high))
    )
    return inside + sum(max(p - ratio * q, 0.0) for p, q in (below, above))


def _tail(family: str, z: float) -> float:
    """The probability of values up to z scales above the location."""
    if family == "normal":
        return math.erfc(-z / math.sqrt(2)) / 2
    return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2


def _density(family: str, z: FloatArray) -> FloatArray:
    density: FloatArray = (
        np.exp(-np.abs(z)) / 2 if family == "laplace" else np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    )
    return density
