"""Clopper-Pearson limits that hold for all thresholds at once.

Among n independent values, k lie above a threshold. A Clopper-Pearson limit of level η for the probability of lying
above it is valid for one threshold that was fixed before. `local_level` is the η with which the limits hold for every
threshold at once, with probability 1 − alpha, whatever the distribution of the values. So a threshold may be chosen on
the same values.

With U_(1) ≤ … ≤ U_(n) the order statistics of uniform values, all upper limits hold if and only if U_(i) is at least
the η-quantile of its distribution, Beta(i, n − i + 1), for every i. The probability of that is computed, not
approximated: the number of uniform values below t is a Poisson process that has n points, and its distribution is
propagated from one quantile to the next. The lower limits are the upper limits of the complement. Distributions with
atoms are functions of uniform values, so the limits hold for them with at least this probability.

Equal levels at all order statistics keep the limits close to binomial ones in the tails, where those of Dvoretzky,
Kiefer and Wolfowitz (1956) have the width of the middle.

Source: R. Berk and D. Jones, "Goodness-of-fit test statistics that dominate the Kolmogorov statistics", Zeitschrift für
Wahrscheinlichkeitstheorie 47 (1979), for the statistic; V. Gontscharuk, S. Landwehr and H. Finner, "The intermediates
take it all", Biometrical Journal 57 (2015), for equal local levels; A. Moscovich and B. Nadler, "Fast calculation of
boundary crossing probabilities for Poisson processes", Statistics and Probability Letters 123 (2017), for the
computation.
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

_ALL = 400
"""Up to this many values, every order statistic has a limit; of more, as many of each tail, and some between."""
_BETWEEN = 200
_NEGLECTED = 1e-18
"""Probability of a state that is dropped; dropping makes the limits wider."""
_LEVEL_STEPS = 14
"""Of the bisection of ln η; the result is within 1/1,000 below the root."""


def upper_limits(counts: ArrayLike, n: int, *, alpha: float) -> FloatArray:
    """Upper limits of P(X > t) for all thresholds t at once; shape as given.

    Args:
        counts: how many of the n values lie above each threshold, whole numbers.
        n: independent values of one distribution, at least 1.
        alpha: the probability, at most, that any limit falls below its probability.

    Raises ValueError if a count is not between 0 and n, or if alpha is not in (0, 1).
    """
    number = _checked(counts, n)
    # between two order statistics that have limits, the higher limit
    held = _held(n)
    at = held[np.searchsorted(held, number)]
    level = local_level(n, alpha)
    limits: FloatArray = np.where(at == n, 1.0, special.betainccinv(at + 1.0, np.maximum(n - at, 1.0), level))
    return limits


def lower_limits(counts: ArrayLike, n: int, *, alpha: float) -> FloatArray:
    """Lower limits of P(X > t) for all thresholds t at once; otherwise as `upper_limits`.

    Their error of at most alpha is apart from that of the upper limits.
    """
    number = _checked(counts, n)
    held = n - _held(n)[::-1]
    at = held[np.searchsorted(held, number, side="right") - 1]
    level = local_level(n, alpha)
    limits: FloatArray = np.where(at == 0, 0.0, special.betaincinv(np.maximum(at, 1.0), n - at + 1.0, level))
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
    """The level η of each limit, at most alpha, with which all hold with probability at least 1 − alpha.

    Raises ValueError if n is less than 1, or if alpha is not in (0, 1).
    """
    if n < 1:
        raise ValueError(f"the number of values must be at least 1, not {n}")
    check_alpha(alpha)
    # of the uniform values, the (n − k)-th is what the limit for k values above is about
    held = _held(n)
    order = n - held[held < n][::-1]
    low, high = math.log(alpha / len(order)), math.log(alpha)
    if _stays(n, order, math.exp(high)) >= 1 - alpha:
        return math.exp(high)
    for _ in range(_LEVEL_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _stays(n, order, math.exp(middle)) >= 1 - alpha else (low, middle)
    return math.exp(low)


def _held(n: int) -> IntArray:
    """Counts that have a limit of their own, ascending, with n."""
    if n <= 2 * _ALL + _BETWEEN:
        return np.arange(n + 1)
    between = np.linspace(_ALL, n - _ALL, _BETWEEN).astype(np.int64)
    return np.unique(np.concatenate([np.arange(_ALL), between, np.arange(n - _ALL, n + 1)]))


def _stays(n: int, order: IntArray, level: float) -> float:
    """A lower bound, almost equal, on P(U_(i) ≥ its `level`-quantile for every i of `order`)."""
    quantiles = special.betaincinv(order, n - order + 1.0, level)
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
    spread = 9 * math.sqrt(mean) + 20
    least, most = max(0, math.floor(mean - spread)), math.ceil(mean + spread)
    added = np.exp(_log_poisson(np.arange(least, most + 1), mean))
    moved = np.convolve(masses, added)
    kept = np.flatnonzero(moved > _NEGLECTED)
    if not kept.size:
        return np.empty(0), 0
    return moved[kept[0] : kept[-1] + 1], first + least + int(kept[0])


def _log_poisson(counts: IntArray, mean: float) -> FloatArray:
    logs: FloatArray = special.xlogy(counts, mean) - mean - special.gammaln(counts + 1.0)
    return logs


def _checked(counts: ArrayLike, n: int) -> IntArray:
    number = np.asarray(counts)
    if number.dtype.kind not in "iu":
        raise ValueError(f"counts must be whole numbers, not of type {number.dtype}")
    if n < 1:
        raise ValueError(f"the number of values must be at least 1, not {n}")
    if number.size and not (0 <= number.min() and number.max() <= n):
        raise ValueError(f"counts must lie between 0 and the {n} values")
    return number.astype(np.int64)
