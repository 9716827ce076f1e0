"""Clopper-Pearson limits that hold for all thresholds at once.

Among n independent values, k lie above a threshold. A Clopper-Pearson limit of level η for the probability of lying
above it is valid for one threshold that was fixed before. With the levels

    η_k = η · max((k + 1)^(−3/4), 1/50)

and the η that `local_level` computes, the limits hold for every threshold at once, with probability 1 − alpha, whatever
the distribution of the values. So a threshold may be chosen on the same values.

With U_(1) ≤ … ≤ U_(n) the order statistics of uniform values, all upper limits hold if and only if every U_(n − k) is
at least the η_k-quantile of its distribution, Beta(n − k, k + 1). The probability of that is computed, not
approximated: the number of uniform values below t is a Poisson process that has n points, and its distribution is
propagated from one quantile to the next. The lower limits are the upper limits of the complement. Distributions with
atoms are functions of uniform values, so the limits hold for them with at least this probability.

The band of Dvoretzky, Kiefer and Wolfowitz (1956) has the same width everywhere, and is useless for small
probabilities. Equal levels η_k keep the limits close to binomial ones in the tails. A bound on ε is a ratio of
probabilities, the denominator of which is best taken small, so the levels here are largest for small counts: a
count of 0 gets about a quarter of alpha. The weights are fixed; any would be valid.

Source: R. Berk and D. Jones, "Goodness-of-fit test statistics that dominate the Kolmogorov statistics", Zeitschrift für
Wahrscheinlichkeitstheorie 47 (1979), for the statistic; V. Gontscharuk, S. Landwehr and H. Finner, "The intermediates
take it all", Biometrical Journal 57 (2015), for levels at single order statistics; A. Moscovich and B. Nadler, "Fast
calculation of boundary crossing probabilities for Poisson processes", Statistics and Probability Letters 123 (2017),
for the computation.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.clopper_pearson import check_alpha

__all__ = ["dkw_width", "local_level", "lower_limits", "upper_limits"]

_ALL = 200
"""Up to this many values above, or below, every count has limits of its own."""
_RATIO = 1.02
"""Between neighbouring counts with limits of their own, beyond that; others have the limits of the next such count."""
_MOST_BETWEEN = 170
"""Of such counts on either side: their spacing grows where there are more than 10,000 values."""
_NEGLECTED = 1e-15
"""Probability of a state that is dropped; dropping makes the limits wider."""
_BRACKET = 6
_LEVEL_STEPS = 8
"""Of the bisection of ln η; the result is less than 1 % below the root."""


def upper_limits(counts: ArrayLike, n: int, *, alpha: float) -> FloatArray:
    """Upper limits of P(X > t) for all thresholds t at once; shape as given.

    Args:
        counts: how many of the n values lie above each threshold, whole numbers.
        n: independent values of one distribution, at least 1.
        alpha: the probability, at most, that any limit falls below its probability.

    Raises ValueError if a count is not between 0 and n, or if alpha is not in (0, 1).
    """
    number = _checked(counts, n)
    held, limits = _table(n, alpha)
    # a count without limits of its own has the next higher limit
    found: FloatArray = limits[np.searchsorted(held, number)]
    return found


def lower_limits(counts: ArrayLike, n: int, *, alpha: float) -> FloatArray:
    """Lower limits of P(X > t) for all thresholds t at once; otherwise as `upper_limits`.

    Their error of at most alpha is apart from that of the upper limits.
    """
    limits: FloatArray = 1 - upper_limits(n - _checked(counts, n), n, alpha=alpha)
    return limits


def dkw_width(n: int, *, alpha: float) -> float:
    """The width of the one-sided band of Dvoretzky, Kiefer and Wolfowitz, for comparison: √(ln(1/alpha) / 2n).

    Source: P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18
    (1990), Corollary 1; for alpha up to 1/2.
    """
    check_alpha(alpha)
    return math.sqrt(math.log(1 / alpha) / (2 * n))


@lru_cache(maxsize=256)
def local_level(n: int, alpha: float) -> float:
    """The level η, at most alpha, with which all limits hold together with probability at least 1 − alpha.

    Raises ValueError if n is less than 1, or if alpha is not in (0, 1).
    """
    if n < 1:
        raise ValueError(f"the number of values must be at least 1, not {n}")
    check_alpha(alpha)
    held = _held(n)
    counts = held[held < n][::-1]
    low, high = math.log(alpha / len(counts)), math.log(alpha)
    if _together(n, counts, math.exp(high)) >= 1 - alpha:
        return math.exp(high)
    # the root is seldom below, and a narrow bracket saves half of the steps
    if _together(n, counts, alpha / _BRACKET) >= 1 - alpha:
        low = math.log(alpha / _BRACKET)
    for _ in range(_LEVEL_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _together(n, counts, math.exp(middle)) >= 1 - alpha else (low, middle)
    return math.exp(low)


@lru_cache(maxsize=64)
def _table(n: int, alpha: float) -> tuple[IntArray, FloatArray]:
    """Counts that have limits of their own, and their upper limits: they depend on no data."""
    held = _held(n)
    level = local_level(n, alpha) * _weights(held)
    return held, np.where(held == n, 1.0, special.betainccinv(held + 1.0, np.maximum(n - held, 1.0), level))


def _weights(counts: IntArray) -> FloatArray:
    return np.maximum(np.exp(-0.75 * np.log1p(counts)), 0.02)


def _held(n: int) -> IntArray:
    """Counts that have limits of their own, ascending, with 0 and n."""
    half = n // 2
    few = min(_ALL, half)
    steps = min(_MOST_BETWEEN, max(2, math.ceil(math.log((half + 1) / (few + 1), _RATIO)) + 1))
    between = np.geomspace(few + 1, half + 1, steps) - 1
    low = np.concatenate([np.arange(few), between.astype(np.int64)])
    return np.unique(np.concatenate([low, n - low]))


def _together(n: int, counts: IntArray, level: float) -> float:
    """A lower bound, almost equal, on the probability that the limits of all these counts, descending, hold."""
    order = n - counts
    quantiles = special.betaincinv(order, counts + 1.0, level * _weights(counts))
    masses, first = np.ones(1), 0  # of the number of points so far, from `first` on
    before = 0.0
    for most, quantile in zip((order - 1).tolist(), quantiles.tolist(), strict=True):
        masses, first = _moved(masses, first, n * (quantile - before))
        # U_(i) >= quantile: at most i - 1 points lie below it
        masses = masses[: most - first + 1]
        if not masses.size:
            return 0.0
        before = quantile
    rest = n - first - np.arange(masses.size)
    last = np.exp(_log_poisson(rest, n * (1 - before)) - _log_poisson(np.array([n]), float(n)))
    return float(masses @ last)


def _moved(masses: FloatArray, first: int, mean: float) -> tuple[FloatArray, int]:
    """The distribution of the number of points after a Poisson number of this mean more."""
    spread = 7.5 * math.sqrt(mean) + 18
    least, most = max(0, math.floor(mean - spread)), math.ceil(mean + spread)
    added = np.exp(_log_poisson(np.arange(least, most + 1), mean))
    moved = np.convolve(masses, added)
    kept = np.flatnonzero(moved > _NEGLECTED)
    if not kept.size:
        return np.empty(0), 0
    return moved[kept[0] : kept[-1] + 1], first + least + int(kept[0])


def _log_poisson(counts: IntArray, mean: float) -> FloatArray:
    return np.asarray(special.xlogy(counts, mean) - mean - special.gammaln(counts + 1.0), dtype=np.float64)


def _checked(counts: ArrayLike, n: int) -> IntArray:
    number = np.asarray(counts)
    if number.dtype.kind not in "iu":
        raise ValueError(f"counts must be whole numbers, not of type {number.dtype}")
    if n < 1:
        raise ValueError(f"the number of values must be at least 1, not {n}")
    if number.size and (number.min() < 0 or number.max() > n):
        raise ValueError(f"counts must lie between 0 and the {n} values")
    return number.astype(np.int64)
