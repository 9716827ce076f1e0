"""The point of the line p = exp(epsilon) q + delta that is closest to given frequencies.

It minimises n KL(p_hat||p) + m KL(q_hat||q) over the line: the maximum-likelihood estimate on the boundary of the null
hypothesis, and the reverse information projection onto it from outside.

Source: C. Farrington and G. Manning, "Test statistics and sample size formulae for comparative binomial trials with
null hypothesis of non-zero risk difference or non-unity relative risk", Statistics in Medicine 9 (1990).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray

__all__ = ["nearest"]

Floats = FloatArray

_STEPS = 200  # bisection alone needs about 65; Newton's method from the cubic's root needs one or two
_CLOSE = 1e-3  # relative; nearer than this, Newton's method doubles the number of correct digits at each step
_WIDE = 4.0  # ends of a bracket whose quotient is larger are halved on the scale of logarithms
_ENOUGH = 1e-13  # relative; an error r of the projection raises an expectation by a factor 1 + O(runs * r^2)


def nearest(
    p_hat: ArrayLike, q_hat: ArrayLike, *, ratio: ArrayLike, delta: float, n: float, m: float
) -> tuple[Floats, Floats]:
    """(p, q), the point of the line p = ratio q + delta in the unit square closest to (p_hat, q_hat).

    The frequencies may lie on either side of the line. Arguments are broadcast against each other; so are the results.

    Args:
        p_hat, q_hat: in [0, 1].
        ratio: exp(epsilon), at least 1.
        delta: in [0, 1].
        n, m: weights of the two divergences, positive.
    """
    p_hat, q_hat, ratio = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (p_hat, q_hat, ratio)))
    end = (1 - delta) / ratio
    across = np.clip((p_hat - delta) / ratio, 0.0, end)
    inside = np.minimum(q_hat, end)
    # the divergence is convex in q along the line, and its slope changes sign between these two, or at an end
    low, high = np.minimum(inside, across), np.maximum(inside, across)
    if delta == 0:
        q = np.clip(_root(p_hat, q_hat, ratio, n, m), low, high)
    else:
        q = _newton(p_hat, q_hat, ratio, delta, n, m, low, high)
    return np.minimum(ratio * q + delta, 1.0), q


def _root(p_hat: Floats, q_hat: Floats, ratio: Floats, n: float, m: float) -> Floats:
    """The zero of the slope at delta = 0: for p the smaller root of (n + m) p^2 - b p + ratio (x + y), over ratio.

    The discriminant is a sum of nonnegative terms, and the root is a quotient, so nothing cancels. Everything is
    divided by ratio, so nothing overflows.
    """
    x, y = n * p_hat, m * q_hat
    left, right = n + y, (m + x) / ratio
    radical = np.sqrt((left - right) ** 2 + 4 * (n - x) * (m - y) / ratio)
    root: Floats = 2 * (x + y) / (left + right + radical) / ratio
    return root


def _cubic(p_hat: Floats, q_hat: Floats, ratio: Floats, delta: float, n: float, m: float) -> Floats:
    """The zero at any delta as the middle root of a cubic, up to about 1e-8; Farrington and Manning's closed form."""
    surplus, rest = p_hat - delta, 1 - delta
    # q^3 + b q^2 + c q + d
    scale = ratio * (n + m)
    b = -(n * (surplus + ratio) + m * (rest - delta + ratio * q_hat)) / scale
    c = (n * surplus + m * ((rest - delta) * q_hat - delta * rest / ratio)) / scale
    d = m * q_hat * delta * rest / (ratio * scale)
    third = b / 3
    middle = third * third * third - third * c / 2 + d / 2
    radius = np.sqrt(np.maximum(third * third - c / 3, 0.0))
    angle = np.arccos(np.clip(-middle / radius**3, -1.0, 1.0)) / 3
    root: Floats = 2 * radius * np.cos(angle - 2 * np.pi / 3) - third
    return root


def _newton(
    p_hat: Floats, q_hat: Floats, ratio: Floats, delta: float, n: float, m: float, low: Floats, high: Floats
) -> Floats:
    """The same zero at any delta: Newton's method, with bisection if a step leaves the bracket or is slow."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # the corners q = 0 and p = 1, which the iteration would never reach
        none = (q_hat == 0) & (ratio * n * (p_hat - delta) <= m * delta * (1 - delta))
        high = np.where(none, low, high)
        end = (1 - delta) / ratio
        certain = (p_hat == 1) & (ratio * n * end * (1 - end) >= m * (end - q_hat))
        low = np.where(certain, high, low)
        q = _cubic(p_hat, q_hat, ratio, delta, n, m)
        # NaN if the three roots coincide, or if the ratio overflows
        q = np.where((q > low) & (q < high), q, (low + high) / 2)
        for step in range(_STEPS):
            p = ratio * q + delta
            p_spread, q_spread = p * (1 - p), q * (1 - q)
            rising = ratio * n * (p_hat - p) / p_spread - m * (q - q_hat) / q_spread
            bend = ratio**2 * n * ((p_hat - p) ** 2 + p_hat * (1 - p_hat)) / p_spread**2
            bend = bend + m * ((q - q_hat) ** 2 + q_hat * (1 - q_hat)) / q_spread**2
            newton = rising / bend
            converged = (np.abs(newton) <= _ENOUGH * q) | (high - low <= _ENOUGH * high)
            if converged.all():
                break
            low, high = np.where(rising > 0, q, low), np.where(rising > 0, high, q)
            # of ends of different size, the middle of their logarithms
            wide = (low > 0) & (high > _WIDE * low)
            guess, middle = q + newton, np.where(wide, np.sqrt(low) * np.sqrt(high), (low + high) / 2)
            usable = (guess > low) & (guess < high) & ((step % 4 != 3) | (np.abs(newton) <= _CLOSE * q))
            q = np.where(converged, q, np.where(usable, guess, middle))
    return q
