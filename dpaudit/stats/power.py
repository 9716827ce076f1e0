"""The power of a sample size, and the sample size that a violation needs.

An event has probability p on the first dataset and q on the second; it is counted in n and m runs. The
claim is p <= exp(epsilon) q + delta. Powers of the score test are exact binomial sums for the region {T >=
t}; the only approximation is t, the critical value of a test whose confidence set depends on the observation
(see `rejection_probability`). Powers of the Clopper-Pearson bound are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import special

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.boundary import nearest
from dpaudit.stats.clopper_pearson import check_alpha, check_delta, check_epsilon
from dpaudit.stats.score_test import Region, nuisance_segment, supremum

__all__ = [
    "Method",
    "detectable_epsilon",
    "information_limit",
    "largest_certifiable",
    "most_revealing",
    "rejection_probability",
    "runs_needed",
    "smallest_visible_delta",
]

Method = Literal["score", "clopper_pearson"]

_BERGER_BOOS_SHARE = 1e-3  # as in `score_test.rejects`
_NORMAL_FROM = 1e4  # binomial variances from which the normal critical value is precise enough for a power
_CLOSE = 0.01  # relative distance from the normal quantile at which a critical value is sought first
_ROUGH = 1e-3  # relative resolution of critical values for detectable epsilons
_RESOLUTION = 1e-4  # of other critical values, and of epsilons, relative


def rejection_probability(
    p: float,
    q: float,
    n: int,
    m: int,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    method: Method = "score",
) -> float:
    """The probability that the test of p <= exp(epsilon) q + delta rejects, for the true p and q.

    ``method="score"``: `score_test.rejects`. Its decision is modelled as T >= t with a single t: the least for which
    the largest probability of {T >= t} is at most alpha, over the confidence set of the observation on the boundary of
    rejection closest to (p, q). From binomial variances of 10^4 on, t is the normal quantile. The probability of
    {T >= t} is then an exact sum. At 12 to 40 runs the result is within 0.05 of a full enumeration (it is a planning
    figure; no error rate depends on it).

    ``method="clopper_pearson"``: `clopper_pearson.epsilon_lower` > epsilon. Exact.

    Raises ValueError if p, q or delta is not in [0, 1], n or m is not a positive whole number, epsilon is
    not in [0, 700] or alpha not in (0, 1/2).
    """
    _check(p, q, epsilon, delta, alpha)
    _check_runs(n)
    _check_runs(m)
    if method == "clopper_pearson":
        return _clopper_pearson_power(p, q, n, m, math.exp(epsilon), delta, alpha)
    region = _typical_region(p, q, n, m, math.exp(epsilon), delta, alpha)
    return 0.0 if region is None else _probability(region, p, q)


def detectable_epsilon(
    q: float, n: int, m: int, *, epsilon: float, delta: float, alpha: float, power: float = 0.9
) -> float:
    """The smallest true epsilon* at which the score test of a claim rejects with probability ``power``.

    The claim is p <= exp(epsilon) q + delta. The truth is assumed to be p = min(1, exp(epsilon*) q + delta). The
    result is math.inf if even p = 1 is not rejected often enough, and at q = 0: then p = delta for every
    epsilon*. ``q`` is an estimate; a smaller one gives a larger result only up to a point, and 0 is
    uninformative, so pass an upper confidence limit.

    As approximate as `rejection_probability`. Raises ValueError as it does, or if power is not in (0, 1).
    """
    _check(1.0, q, epsilon, delta, alpha)
    _check_runs(n)
    _check_runs(m)
    _check_power(power)
    ratio = math.exp(epsilon)
    if q == 0 or ratio * q + delta >= 1:
        return math.inf
    ceiling = math.log((1 - delta) / q)

    def truth(true_epsilon: float) -> float:
        return 1.0 if true_epsilon >= ceiling else min(1.0, math.exp(true_epsilon) * q + delta)

    def least(region: Region) -> float:
        if _probability(region, 1.0, q) < power:
            return math.inf
        low, high = epsilon, ceiling
        while high - low > _RESOLUTION * high:
            middle = (low + high) / 2
            if _probability(region, truth(middle), q) >= power:
                high = middle
            else:
                low = middle
        return high

    # The critical value depends only weakly on the truth: a guess by the normal quantile is enough to compute it.
    guess = least(Region(n, m, ratio, delta, -float(special.ndtri(alpha))))
    region = _typical_region(truth(guess), q, n, m, ratio, delta, alpha, resolution=_ROUGH)
    return math.inf if region is None else least(region)


def most_revealing(
    q: FloatArray, n: int, *, epsilon: float, delta: float, alpha: float, power: float = 0.9
) -> int | None:
    """The index of the event, given its probability q on the second dataset, with the smallest detectable violation.

    None if no event can show a violation. The choice uses the normal approximation of the score test with n runs on
    each dataset; `detectable_epsilon` computes the detectable violation of the chosen event.

    Args:
        q: shape (k,), in [0, 1].

    Raises ValueError as `detectable_epsilon` does.
    """
    _check(1.0, 0.5, epsilon, delta, alpha)
    _check_runs(n)
    _check_power(power)
    ratio = math.exp(epsilon)
    null = ratio * q + delta
    possible = (q > 0) & (null < 1)
    if not possible.any():
        return None
    factor = float(special.ndtri(1 - alpha) + special.ndtri(power))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = null.copy()
        for _ in range(20):
            spread = np.sqrt((np.clip(p * (1 - p), 0, 0.25) + ratio**2 * q * (1 - q)) / n)
            p = null + factor * np.maximum(spread, 1 / n)
        # beyond p = 1 no violation is detectable; further beyond is worse
        shown = np.where(possible, np.where(p < 1, np.log((np.minimum(p, 1) - delta) / q), 1e6 * p), np.inf)
    return int(np.argmin(shown))


def information_limit(p: float, q: float, *, epsilon: float, delta: float, alpha: float) -> float:
    """n* = ln(1/alpha) / min over the null hypothesis of KL(p||p') + KL(q||q'), in pairs of runs.

    No sequential test of error alpha stops earlier on average, up to the factor ``power`` (A. Wald, "Sequential
    tests of statistical hypotheses", Ann. Math. Statist. 16, 1945, section 4.7; in this form S. Garivier
    and E. Kaufmann, COLT 2016). A fixed-size test of moderate power may need slightly fewer.
    math.inf if the claim holds for (p, q). Logarithms are natural.

    Raises ValueError if p, q or delta is not in [0, 1], epsilon is not in [0, 700] or alpha not in (0, 1/2).
    """
    _check(p, q, epsilon, delta, alpha)
    ratio = math.exp(epsilon)
    if p <= ratio * q + delta:
        return math.inf
    # The closest null point in this divergence is the maximum-likelihood estimate for the frequencies p and q.
    p_null, q_null = map(float, nearest(p, q, ratio=ratio, delta=delta, n=1, m=1))
    divergence = _divergence(p, p_null) + _divergence(q, q_null)
    return math.log(1 / alpha) / divergence if divergence > 0 else math.inf


def runs_needed(
    p: float,
    q: float,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    power: float = 0.8,
    method: Method = "score",
) -> int:
    """The number of runs on each dataset with which the test of a claim rejects with probability ``power``.

    The claim is p <= exp(epsilon) q + delta. The power of an exact test is a saw-tooth in n: the result
    reaches ``power`` and one run fewer does not, but with a few more runs the power may again be lower by the height of
    a tooth.

    Raises ValueError as `rejection_probability` does, if power is not in (0, 1), or if the claim holds for
    (p, q), because then no number of runs refutes it.
    """
    _check_power(power)
    limit = information_limit(p, q, epsilon=epsilon, delta=delta, alpha=alpha)
    if math.isinf(limit):
        raise ValueError(
            f"p = {p!r} is at most exp(epsilon) q + delta: no number of runs refutes a claim that holds"
        )

    def enough(runs: int) -> bool:
        chance = rejection_probability(
            p, q, runs, runs, epsilon=epsilon, delta=delta, alpha=alpha, method=method
        )
        return chance >= power

    return _least(enough, start=max(1, math.ceil(limit)))


def largest_certifiable(runs: int, alpha: float, *, delta: float = 0.0, method: Method = "score") -> float:
    """The largest lower confidence bound on epsilon at delta that ``runs`` runs on each dataset can ever give.

    It is attained at the counts x = runs, y = 0. ``method="score"`` is the limit of every valid procedure: at ratio
    c = exp(epsilon) the probability of these counts, p^runs (1 - q)^runs under p = c q + delta, must nowhere exceed
    alpha. At delta 0 and c >= 2 the worst pair is p = 1, q = 1/c, so c <= 1 / (1 - alpha^(1/runs)), about
    runs / ln(1/alpha); if that c is below 2 it is p = c/2, q = 1/2, and c <= 4 alpha^(1/runs). At delta > 0 it is
    p = 1, q = (1 - delta)/c if that is at most (c - delta)/2c, and q = (c - delta)/2c otherwise.
    ``method="clopper_pearson"`` is the largest Clopper-Pearson bound, r / (1 - r) with r = (alpha/2)^(1/runs) at
    delta 0: about runs / ln(2/alpha), which is runs / 3.7 at alpha = 0.05.

    Raises ValueError if runs is not a positive whole number, alpha is not in (0, 1/2) or delta not in [0, 1].
    """
    _check_runs(runs)
    _check_test_alpha(alpha)
    check_delta(delta)
    if delta >= 1:
        return 0.0
    if method == "clopper_pearson":
        exponent = math.log(alpha / 2) / runs
        excess = math.exp(exponent) - delta
        return max(0.0, math.log(excess) - math.log(-math.expm1(exponent))) if excess > 0 else 0.0
    exponent = math.log(alpha) / runs
    r = math.exp(exponent)
    if r * (2 - delta) >= 1:
        return max(0.0, math.log1p(-delta) - math.log(-math.expm1(exponent)))
    return max(0.0, math.log(2 * r - delta + 2 * math.sqrt(r * (r - delta)))) if r > delta else 0.0


def smallest_visible_delta(runs: int, alpha: float) -> float:
    """1 - alpha^(1/runs), about 3 / runs at alpha = 0.05: rarer events may never occur in all the runs.

    An event of this probability has no hit in ``runs`` runs with probability alpha. So zero hits only bound a
    probability by this number, and counting one event cannot distinguish a smaller delta from 0.

    Raises ValueError if runs is not a positive whole number or alpha is not in (0, 1).
    """
    _check_runs(runs)
    check_alpha(alpha)
    return -math.expm1(math.log(alpha) / runs)


def _typical_region(
    p: float, q: float, n: int, m: int, ratio: float, delta: float, alpha: float, *, resolution: float = _RESOLUTION
) -> Region | None:
    """The region {T >= t} that models the test near the truth (p, q); None if there is nothing to reject."""
    if delta >= 1:
        return None
    q_null = min(q, (1 - delta) / ratio)
    if p > ratio * q + delta:
        q_null = float(nearest(p, q, ratio=ratio, delta=delta, n=n, m=m)[1])
    p_null = min(1.0, ratio * q_null + delta)
    quantile = -float(special.ndtri(alpha))
    x_variance, y_variance = n * p_null * (1 - p_null), m * q_null * (1 - q_null)
    if min(x_variance, y_variance) >= _NORMAL_FROM:
        return Region(n, m, ratio, delta, quantile)
    # The observation with T = z whose constrained estimate is the null point: by the likelihood equation it lies in
    # the direction (variance of x, -ratio * variance of y) from there, in frequencies.
    noise = math.sqrt(x_variance / n**2 + ratio**2 * y_variance / m**2)
    if noise == 0:
        return None
    reach = quantile / noise
    x = min(n, max(0, round(n * p_null + reach * x_variance / n)))
    y = min(m, max(0, round(m * q_null - reach * ratio * y_variance / m)))
    berger_boos = alpha * _BERGER_BOOS_SHARE
    segment = nuisance_segment(x, n, y, m, ratio, delta, berger_boos)
    level = alpha - berger_boos

    def admissible(threshold: float) -> bool:
        region = Region(n, m, ratio, delta, threshold)
        return supremum(region, ratio, delta, segment, level=level) <= level

    # the normal quantile is nearly always close
    width = _CLOSE * quantile
    low = high = quantile
    if admissible(quantile):
        while admissible(low := max(low - width, quantile / 2)) and low > quantile / 2:
            high, width = low, 2 * width
    else:
        while not admissible(high := high + width):
            low, width = high, 2 * width
            if high > 100 * quantile:  # T is bounded on these counts: no region is small enough
                return None
    while high - low > resolution * high:
        middle = (low + high) / 2
        if admissible(middle):
            high = middle
        else:
            low = middle
    return Region(n, m, ratio, delta, high)


def _probability(region: Region, p: float, q: float) -> float:
    return float(region.probability(np.array([p]), np.array([1 - p]), np.array([q]), np.array([1 - q]))[0])


def _clopper_pearson_power(
    p: float, q: float, n: int, m: int, ratio: float, delta: float, alpha: float
) -> float:
    # it takes half a second, and powers of the score test do without
    from scipy import stats

    q = q if q > 1e-200 else 0.0  # scipy's binom.pmf overflows near the smallest normal numbers
    # Nine standard deviations plus an allowance for the Poisson tail: the omitted mass is below 1e-15.
    spread = 36 + 9 * math.sqrt(m * q * (1 - q))
    y = np.arange(max(0, math.floor(m * q - spread)), min(m, math.ceil(m * q + spread)) + 1)
    q_upper = np.ones(y.size)
    q_upper[y < m] = special.betainccinv(y[y < m] + 1, m - y[y < m], alpha / 2)
    edge = ratio * q_upper + delta
    possible = edge < 1
    # p_lo(x) > edge if and only if P(Bin(n, edge) >= x) < alpha/2.
    least = stats.binom.isf(alpha / 2, n, edge[possible]) + 1
    return float(np.sum(stats.binom.pmf(y[possible], m, q) * stats.binom.sf(least - 1, n, p)))


def _least(enough: Callable[[int], bool], start: int) -> int:
    """A whole number near ``start`` that is enough while its predecessor is not."""
    low, high = 0, start
    while not enough(high):
        low, high = high, 2 * high
    if low == 0:
        low = high // 2
        while low > 0 and enough(low):
            low, high = low // 2, low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _divergence(p: float, q: float) -> float:
    return float(special.rel_entr(p, q) + special.rel_entr(1 - p, 1 - q))


def _check(p: float, q: float, epsilon: float, delta: float, alpha: float) -> None:
    for name, value in (("p", p), ("q", q)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie between 0 and 1, not be {value!r}")
    check_epsilon(epsilon)
    check_delta(delta)
    _check_test_alpha(alpha)


def _check_test_alpha(alpha: float) -> None:
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha must lie strictly between 0 and 1/2, not be {alpha!r}")


def _check_runs(runs: int) -> None:
    if not (isinstance(runs, (int, np.integer)) and runs >= 1):
        raise ValueError(f"a number of runs must be a whole number of at least 1, not {runs!r}")


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise ValueError(f"power must lie strictly between 0 and 1, not be {power!r}")
