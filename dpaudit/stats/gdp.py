"""Gaussian differential privacy: the trade-off curve of N(0, 1) against N(μ, 1), and what it says at one (ε, δ).

A mechanism is μ-GDP if no test of D against D′ has errors below

    G(x) = Φ(Φ⁻¹(1 − x) − μ),   x the type I error.

Equivalently its privacy profile is at most δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

Source: J. Dong, A. Roth and W. Su, "Gaussian differential privacy", Journal of the Royal Statistical Society B 84
(2022), Definition 2.6 and Corollary 2.13.

A mechanism that is not μ-GDP need not violate the (ε, δ) that μ-GDP implies: other trade-off curves leave the Gaussian
curve at other points. A lower bound on μ becomes one on ε only if the mechanism's trade-off curve is known to be
Gaussian, and no bound in this package tests that.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.special import log_ndtr, ndtr, ndtri

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.clopper_pearson import check_alpha, check_counts, check_delta, check_epsilon, upper

__all__ = ["delta_of", "epsilon_of", "mu_lower", "mu_of", "mu_of_errors", "mu_of_guesses", "tradeoff"]

_STEPS = 80
_MOST = 1e3
"""Largest μ that is searched; δ is 1 in doubles long before."""


def tradeoff(mu: float, type_one: ArrayLike) -> FloatArray:
    """The least type II error of a test of a μ-GDP mechanism at type I errors in [0, 1]: G above; shape as given.

    Raises ValueError if mu is negative or not finite.
    """
    _check_mu(mu)
    least: FloatArray = ndtr(-ndtri(np.asarray(type_one, dtype=np.float64)) - mu)
    return least


def delta_of(mu: float, epsilon: float) -> float:
    """The least δ at ε of a μ-GDP mechanism.

    Raises ValueError if mu is negative or not finite, or if epsilon is not in [0, 700].
    """
    _check_mu(mu)
    check_epsilon(epsilon)
    return _delta(mu, epsilon)


def _delta(mu: float, epsilon: float) -> float:
    if mu == 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    # exp(first) - exp(second) without cancellation
    return math.exp(first) * -math.expm1(second - first) if second < first else 0.0


def epsilon_of(mu: float, delta: float) -> float:
    """The least ε ≥ 0 at δ of a μ-GDP mechanism, rounded down; infinite at δ = 0 where μ > 0.

    Raises ValueError if mu is negative or not finite, or if delta is not in [0, 1].
    """
    _check_mu(mu)
    check_delta(delta)
    if mu == 0 or _delta(mu, 0.0) <= delta:
        return 0.0
    if delta == 0:
        return math.inf
    low, high = 0.0, 1.0
    while _delta(mu, high) > delta:
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(mu, middle) > delta else (low, middle)
    return low


def mu_of(epsilon: float, delta: float) -> float:
    """The largest μ whose profile is at most δ at ε, rounded down: 0.0 at δ = 0.

    Raises ValueError if epsilon is not in [0, 700], or if delta is not in [0, 1).
    """
    check_epsilon(epsilon)
    if not 0 <= delta < 1:
        raise ValueError(f"delta must lie in [0, 1), not be {delta!r}")
    low, high = 0.0, _MOST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(middle, epsilon) <= delta else (low, middle)
    return low


def mu_of_errors(type_one: float, type_two: float) -> float:
    """The least μ ≥ 0 whose trade-off curve has a test with at most these errors: Φ⁻¹(1 − type I) − Φ⁻¹(type II).

    With upper limits of both errors in place of the errors it is a lower bound. It is 0.0 if the errors add up to 1 or
    more: a test no better than guessing is no evidence, and mirroring it would need *lower* limits of the errors.

    Raises ValueError if an error is not in [0, 1].
    """
    for error in (type_one, type_two):
        if not 0 <= error <= 1:
            raise ValueError(f"an error probability must lie between 0 and 1, not be {error!r}")
    if type_one + type_two >= 1:
        return 0.0
    return max(0.0, -float(ndtri(type_one)) - float(ndtri(type_two)))


def mu_lower(x: int, n: int, y: int, m: int, *, alpha: float) -> float:
    """Lower confidence bound on μ from counts of one event: a mechanism that is μ-GDP for a smaller μ is refuted.

    The event occurred ``x`` times in ``n`` runs on the first dataset and ``y`` times in ``m`` runs on the second, and
    was chosen on other runs. alpha is split evenly between the upper limits of the two errors y/m and 1 − x/n.

    It assumes nothing: every mechanism has a least μ (or none). `epsilon_of` at the result assumes that the
    mechanism's trade-off curve *is* Gaussian, which is not tested.

    Raises ValueError as `clopper_pearson.interval` does.
    """
    x, n = check_counts(x, n)
    y, m = check_counts(y, m)
    check_alpha(alpha)
    return mu_of_errors(upper(y, m, alpha=alpha / 2), upper(n - x, n, alpha=alpha / 2))


def mu_of_guesses(guessed: float, right: float) -> float:
    """The μ for which the best guesses about many canaries, each released with Gaussian noise of its own, are right.

    Every canary's bit has a fair coin; its score is N(±μ/2, 1). Guessed are the signs of the scores that are farthest
    from 0, a share `guessed` of all, and a share `right` of these guesses is right: Φ(μ/2 − t) / `guessed`, where t is
    the threshold that the share has. For powers, not for bounds.

    Raises ValueError if guessed is not in (0, 1], or if right is not in [1/2, 1).
    """
    if not 0 < guessed <= 1:
        raise ValueError(f"guessed must lie in (0, 1], not be {guessed!r}")
    if not 0.5 <= right < 1:
        raise ValueError(f"right must lie in [1/2, 1), not be {right!r}")

    def excess(mu: float) -> float:
        def beyond(t: float) -> float:
            return float(ndtr(mu / 2 - t) + ndtr(-mu / 2 - t)) - guessed

        t = optimize.brentq(beyond, 0.0, mu / 2 + 40, xtol=1e-13) if guessed < 1 else 0.0
        return float(ndtr(mu / 2 - t)) / guessed - right

    # without a choice of what to guess it takes the largest μ
    return float(optimize.brentq(excess, 0.0, 2 * float(ndtri(right)) + 1e-9, xtol=1e-12))


def _check_mu(mu: float) -> None:
    if not 0 <= mu < math.inf:
        raise ValueError(f"mu must be a finite number that is not negative, not {mu!r}")
