"""The exact unconditional score test of H0: p <= exp(epsilon) q + delta.

X ~ Bin(n, p) counts an event on the first dataset, Y ~ Bin(m, q) on the second. The statistic is that of
C. Farrington and G. Manning, "Test statistics and sample size formulae for comparative binomial trials with
null hypothesis of non-zero risk difference or non-unity relative risk", Statistics in Medicine 9 (1990),
with the boundary p = c q + delta, c = exp(epsilon):

    T(x, y) = (x/n - c y/m - delta) / sqrt(p'(1-p')/n + c^2 q'(1-q')/m),

(p', q') the maximum-likelihood estimate on the boundary. Its distribution is never approximated: a p-value is the
supremum over the nuisance parameter of the exact binomial probability of {T >= T(x, y)}, restricted to a
confidence set whose error is added (R. Berger and D. Boos, "P values maximized over a confidence set for
the nuisance parameter", JASA 89, 1994).

The computation uses three facts about T. Write u = (x - n p')/(p'(1-p')), a = u(1-2p')/n and b = c
u(1-2q')/m. The likelihood equation is c u = (m q' - y)/(q'(1-q')), so T = u sqrt(p'(1-p')/n + c^2
q'(1-q')/m). Where T > 0, y >= 0 gives c u <= m/(1-q') and b < 1; x <= n gives u <= n/p' and a > -1.
Differentiating T^2 along the estimate:

 1. T increases in x. With h = m q' - y the derivative has the sign of
    (h + 2y(1-q'))/m + 2p'(1-p')(h/(1-q') + y/q')/(n c^2) - h(2p'-1)/(n c); by u <= n/p' the negative part is
    at most q'(1-q'), and the first term is at least 2q'(1-q') if q' >= 1/2 and at least q' otherwise.
 2. T decreases in y: exchange (x, p) with (m - y, 1 - q), which keeps the form of the problem.
 3. T decreases in c. The derivative has the opposite sign of a quantity not below c u (1+a)(2-b) > 0.

By 1 and 2 a region {T >= t} is given by the least x for every y; its probability increases in p and
decreases in q, so the supremum over the composite null hypothesis is attained on the boundary. By 3
`epsilon_lower` rejects whole intervals of epsilon.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.boundary import nearest
from dpaudit.stats.clopper_pearson import check_alpha, check_counts, check_delta, check_epsilon, interval

__all__ = ["Region", "epsilon_lower", "nuisance_segment", "p_value", "rejects", "statistic", "supremum"]

Floats = FloatArray
Ints = IntArray

_TIE = 1e-10  # relative; statistics that differ by less are equal up to rounding, and count as equal
_NEGLECTED = 1e-15  # each binomial tail left out of a sum is at most this, and is added to the sum
_TOLERANCE = 0.01  # relative; how far a reported p-value may lie above the supremum
_CELLS_AT_ONCE = 1 << 17  # of a matrix of probabilities, so that it fits the processor's cache
_BERGER_BOOS_SHARE = 1e-3  # of alpha, for the confidence set of the nuisance parameter
_EPSILON_RESOLUTION = 1e-4  # relative


def p_value(
    x: int, n: int, y: int, m: int, *, epsilon: float, delta: float, berger_boos: float = 1e-6
) -> float:
    """An exact p-value of H0: p <= exp(epsilon) q + delta, against p > exp(epsilon) q + delta.

    The event occurred ``x`` times in ``n`` runs on the first dataset and ``y`` times in ``m`` runs on the
    second. Under every (p, q) of the null hypothesis the result is at most a with probability at most a,
    for every a. It is an upper bound on the supremum, at most 1 % above it, not a maximum over a grid.

    ``berger_boos`` is the error of the confidence set of (p, q) over which the supremum is taken. It is
    added, so the result is never below it. At 0 the supremum is over the whole boundary, which is slow from
    n = 10^5 on.

    Raises ValueError if the counts are not whole numbers with 0 <= x <= n and 0 <= y <= m, if epsilon is
    not in [0, 700], if delta is not in [0, 1] or berger_boos not in [0, 1).
    """
    x, n, y, m = _check(x, n, y, m, epsilon, delta)
    if not 0 <= berger_boos < 1:
        raise ValueError(f"berger_boos must lie in [0, 1), not be {berger_boos!r}")
    ratio = math.exp(epsilon)
    value = float(_statistic(np.array([x]), n, np.array([y]), m, ratio, delta)[0])
    if not value > 0:
        return 1.0
    region = Region(n, m, ratio, delta, value)
    segment = nuisance_segment(x, n, y, m, ratio, delta, berger_boos)
    return min(1.0, supremum(region, ratio, delta, segment) + berger_boos)


def rejects(x: int, n: int, y: int, m: int, *, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether the exact p-value of H0: p <= exp(epsilon) q + delta is at most alpha.

    Same test as `p_value` with berger_boos = alpha / 1000, but only as precise as the decision needs. The
    error of the test is at most alpha, including that of the confidence set. Raises ValueError as `p_value` does,
    or if alpha is not in (0, 1).
    """
    x, n, y, m = _check(x, n, y, m, epsilon, delta)
    check_alpha(alpha)
    ratio = math.exp(epsilon)
    value = float(_statistic(np.array([x]), n, np.array([y]), m, ratio, delta)[0])
    if not value > 0:
        return False
    berger_boos = alpha * _BERGER_BOOS_SHARE
    segment = nuisance_segment(x, n, y, m, ratio, delta, berger_boos)
    level = alpha - berger_boos
    return supremum(Region(n, m, ratio, delta, value), ratio, delta, segment, level=level) <= level


def epsilon_lower(x: int, n: int, y: int, m: int, *, delta: float, alpha: float) -> float:
    """A lower confidence bound on epsilon: `rejects` is true at every smaller epsilon >= 0.

    For every (p, q), the least epsilon with p <= exp(epsilon) q + delta is below the result with probability
    at most alpha. The result is rounded down, by about 1e-4 (relative) or a thousandth of its distance from
    the plug-in estimate ln((x/n - delta)/(y/m)); with small counts, by up to a few hundredths. It is
    0.0 if there is no positive bound.

    The p-value need not be monotone in epsilon (each epsilon orders the outcomes differently), so a
    bisection would be invalid: the tests it skips might not reject. Here whole intervals [a, b] of
    epsilon are rejected at once. By fact 3 of the module docstring, for epsilon in [a, b],

        {T_epsilon >= T_epsilon(x, y)} is contained in {T_a >= T_b(x, y)},

    and its null hypothesis in that of b, so one supremum bounds every p-value of the interval. The
    intervals are adjacent, start at 0, and shrink as the p-value approaches alpha.

    Raises ValueError as `p_value` does, or if alpha is not in (0, 1).
    """
    x, n, y, m = _check(x, n, y, m, 0.0, delta)
    check_alpha(alpha)
    berger_boos = alpha * _BERGER_BOOS_SHARE
    level = alpha - berger_boos
    # Above the plug-in estimate the counts agree with the claim.
    if x / n <= delta:
        return 0.0
    ceiling = math.log((x / n - delta) / (y / m)) if y > 0 else math.inf

    def rejected(start: float, stop: float) -> bool:
        ratio = math.exp(stop)
        value = float(_statistic(np.array([x]), n, np.array([y]), m, ratio, delta)[0])
        if not value > 0:
            return False
        segment = nuisance_segment(x, n, y, m, ratio, delta, berger_boos)
        region = Region(n, m, math.exp(start), delta, value)
        return supremum(region, ratio, delta, segment, level=level) <= level

    bound = 0.0
    if ceiling <= 0 or not rejected(bound, bound):
        return bound
    step = min(1.0, ceiling / 2)
    while step > max(_EPSILON_RESOLUTION * bound, 1e-3 * min(ceiling - bound, 0.1)):
        if rejected(bound, bound + step):
            bound += step
        else:
            step /= 2
    return bound


def statistic(x: Ints, n: int, y: Ints, m: int, *, epsilon: float, delta: float) -> Floats:
    """T(x, y) for arrays of counts of equal shape; 0 where it is not positive (never rejected there).

    Raises ValueError if epsilon is not in [0, 700] or delta not in [0, 1].
    """
    check_epsilon(epsilon)
    check_delta(delta)
    return _statistic(x, n, y, m, math.exp(epsilon), delta)


class Region:
    """{(x, y): T(x, y) >= threshold}, stored as the least x for every y, computed on demand.

    ``threshold`` must be positive; ``ratio`` is exp(epsilon). Statistics within 1e-10 of the threshold are
    inside.
    """

    def __init__(self, n: int, m: int, ratio: float, delta: float, threshold: float) -> None:
        self.n, self.m = n, m
        self._ratio, self._delta = ratio, delta
        self._threshold = threshold * (1 - _TIE)
        self._first = 0
        self._least = np.empty(0, dtype=np.int64)

    def least(self, first: int, last: int) -> Ints:
        """The least x in the region for y = first, ..., last."""
        if first < self._first or last >= self._first + self._least.size:
            # A margin, because the next request is nearly always for a neighbouring range.
            margin = (last - first) // 4
            self._first = max(0, first - margin)
            self._least = self._solve(
                np.arange(self._first, min(self.m, last + margin) + 1, dtype=np.float64)
            )
        return self._least[first - self._first : last - self._first + 1]

    def _solve(self, y: Floats) -> Ints:
        n, m, c, delta = self.n, self.m, self._ratio, self._delta
        if delta >= 1:
            return np.full(y.size, n + 1, dtype=np.int64)

        # For fixed y both x and T have closed forms in the constrained estimate q, and T increases in it.
        def at(q: Floats) -> tuple[Floats, Floats]:
            p = np.minimum(c * q + delta, 1.0)
            u = (m - y / np.maximum(q, 1e-300)) / (c * (1 - q))
            return n * p + u * p * (1 - p), u * np.sqrt(p * (1 - p) / n + c * c * q * (1 - q) / m)

        # Rounding x down by the possible arithmetic error only enlarges the region.
        def rounded(x: Floats) -> Floats:
            least: Floats = np.ceil(x - (1e-7 + 1e-14 * n))
            return least

        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # The estimate at x = n: the root of the likelihood equation, or the corner p = 1.
            linear = m * delta - (y + n) * c
            total = np.abs(linear) + np.sqrt(linear * linear + 4 * (m + n) * c * delta * y)
            # The usual formula, or its conjugate where the usual one would cancel.
            root = np.where(linear > 0, 2 * delta * y / total, total / (2 * (m + n) * c))
            high = np.minimum(root, min(1.0, (1 - delta) / c))
            low = np.minimum(y / m, high)
            # T in the corner q = 1 is 0/0. There y = m, and no x is above the null hypothesis.
            none = ~(at(high)[1] >= self._threshold)
            for step in range(64):
                # x increases in q too: if both ends round to the same count, more steps would not change it
                if step >= 16 and step % 4 == 0 and np.array_equal(rounded(at(low)[0]), rounded(at(high)[0])):
                    break
                middle = (low + high) / 2
                inside = at(middle)[1] >= self._threshold
                high = np.where(inside, middle, high)
                low = np.where(inside, low, middle)
            x = at(high)[0]
        if y[0] == 0 and delta > 0:
            # For small x the estimate stays in the corner q = 0, where T is linear in x.
            corner = math.sqrt(n * delta * (1 - delta))
            if m * corner / (c * n) >= self._threshold:
                x[0], none[0] = n * delta + self._threshold * corner, False
        least = rounded(x)
        return np.where(none | ~(least <= n), n + 1, np.maximum(least, 0)).astype(np.int64)

    def probability(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        """Upper bounds, tight up to rounding, on the probability of the region for arrays p, 1-p, q, 1-q.

        The arrays should be sorted: adjacent entries share the windows of counts that are summed.
        """
        result = np.empty(p.size)
        start = 0
        while start < p.size:
            width = 1 + int(max(_spread(self.n, p[start]), _spread(self.m, q[start])))
            stop = min(p.size, start + max(1, _CELLS_AT_ONCE // (4 * width)))
            part = slice(start, stop)
            result[part] = self._chunk(p[part], not_p[part], q[part], not_q[part])
            start = stop
        return result

    def _chunk(self, p: Floats, not_p: Floats, q: Floats, not_q: Floats) -> Floats:
        x_first, pmf_x = _binomial(self.n, p.tobytes(), not_p.tobytes())
        y_first, pmf_y = _binomial(self.m, q.tobytes(), not_q.tobytes())
        # tail[:, j] = P(X >= x_first + j); 1 left of the window, only neglected mass right of it.
        tail = np.zeros((p.size, pmf_x.shape[1] + 1))
        tail[:, :-1] = np.cumsum(pmf_x[:, ::-1], axis=1)[:, ::-1]
        tail[:, 0] = 1.0
        least = self.least(y_first, y_first + pmf_y.shape[1] - 1)
        column = np.clip(least - x_first, 0, pmf_x.shape[1])
        total: Floats = np.einsum("ij,ij->i", pmf_y, tail[:, column])
        # The exponent of a pmf is a sum of terms that do not exceed log n! (or n), each with a relative
        # error of a few 2^-53; log n! bounds their sum.
        rounding = 1e-15 * (float(special.gammaln(self.n + 2)) + float(special.gammaln(self.m + 2)))
        return np.minimum(total * (1 + rounding) + 4 * _NEGLECTED, 1.0)


def nuisance_segment(
    x: int, n: int, y: int, m: int, ratio: float, delta: float, error: float
) -> tuple[float, float]:
    """The q of the null boundary p = ratio q + delta inside a confidence rectangle of (p, q); (1, 0) if none.

    The rectangle is the product of two Clopper-Pearson intervals, each of error ``error`` / 2. The
    probability of a region grows with p and falls with q, so over the rectangle and the null hypothesis it
    is largest on this segment, unless the rectangle's corner (greatest p, least q) is itself in the null
    hypothesis. Then x/n <= ratio y/m + delta, which no caller passes.
    """
    if error > 0:
        p_low, p_high = interval(x, n, alpha=error / 2)
        q_low, q_high = interval(y, m, alpha=error / 2)
    else:
        p_low, p_high, q_low, q_high = 0.0, 1.0, 0.0, 1.0
    low, high = max(q_low, (p_low - delta) / ratio), min(q_high, (p_high - delta) / ratio)
    return (low, high) if low <= high else (1.0, 0.0)


def supremum(
    region: Region, ratio: float, delta: float, segment: tuple[float, float], *, level: float | None = None
) -> float:
    """An upper bound on sup P(region) over the boundary p = ratio q + delta, q in ``segment``.

    Without ``level`` it is at most 1 % above the supremum. With ``level`` it is only precise enough to decide on
    which side of ``level`` the supremum lies. A result of at most ``level`` is always right; a result above it
    is wrong only if the supremum is within 0.01 % below ``level``.

    The probability at q + s is the sum over the region of pmfs whose logarithms are concave in s, so
    each lies below its tangent: pmf(q) exp(s * score). The sum of the tangents is convex in s, hence on |s|
    <= w largest at s = -w or w; and a binomial pmf times the exponential of a linear function is again a
    binomial pmf, times a constant of about exp(w^2 information / 2). So two exact probabilities bound a
    whole interval, with an error of second order, and intervals a fraction of a standard deviation wide are
    enough.
    """
    low, high = segment
    if low > high:
        return 0.0
    centre, half = np.array([(low + high) / 2]), np.array([(high - low) / 2])
    price = 0.1
    best = resolved = 0.0
    while centre.size:
        centre, half = _refine(region, ratio, delta, centre, half, price)
        p, q = ratio * centre + delta, centre
        here = region.probability(p, 1 - p, q, 1 - q)
        best = max(best, float(here.max()))
        if level is not None and best > level:
            return best
        upper = np.maximum(
            _tangent_bound(region, ratio, p, q, half), _tangent_bound(region, ratio, p, q, -half)
        )
        bar = best * (1 + _TOLERANCE) if level is None else level
        open_ = upper > bar
        if price < 1e-4:  # `level` is so close to the supremum that resolving it further costs too much
            open_[:] = False
        resolved = max(resolved, float(np.where(open_, 0.0, upper).max()))
        centre, half = centre[open_], half[open_]
        price /= 4
    return min(1.0, max(best, resolved))


def _tilts(ratio: float, p: Floats, q: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """The change in the log-odds of p and of q when following the tangent at q for ``shift``."""
    return shift * ratio / (p * (1 - p)), shift / (q * (1 - q))


def _log_price(region: Region, ratio: float, p: Floats, q: Floats, shift: Floats) -> Floats:
    """The logarithm of the constant: the tangent's total mass, which is 1 at shift 0."""
    tilt_p, tilt_q = _tilts(ratio, p, q, shift)
    return region.n * (np.log1p(p * np.expm1(tilt_p)) - p * tilt_p) + region.m * (
        np.log1p(q * np.expm1(tilt_q)) - q * tilt_q
    )


def _tangent_bound(region: Region, ratio: float, p: Floats, q: Floats, shift: Floats) -> Floats:
    tilt_p, tilt_q = _tilts(ratio, p, q, shift)
    odds_p, odds_q = special.logit(p) + tilt_p, special.logit(q) + tilt_q
    moved = region.probability(
        special.expit(odds_p), special.expit(-odds_p), special.expit(odds_q), special.expit(-odds_q)
    )
    return moved * np.exp(_log_price(region, ratio, p, q, shift))


def _refine(
    region: Region, ratio: float, delta: float, centre: Floats, half: Floats, price: float
) -> tuple[Floats, Floats]:
    """Halve the intervals until the logarithm of each one's constant is at most ``price``."""
    while True:
        p = ratio * centre + delta
        cost = np.maximum(
            _log_price(region, ratio, p, centre, half), _log_price(region, ratio, p, centre, -half)
        )
        wide = ~(cost <= price)
        if not wide.any():
            order = np.argsort(centre)
            return centre[order], half[order]
        quarter = half[wide] / 2
        centre = np.concatenate((centre[~wide], centre[wide] - quarter, centre[wide] + quarter))
        half = np.concatenate((half[~wide], quarter, quarter))


def _statistic(x: Ints, n: int, y: Ints, m: int, ratio: float, delta: float) -> Floats:
    p_hat, q_hat = x / n, y / m
    surplus = p_hat - ratio * q_hat - delta
    p, q = nearest(p_hat, q_hat, ratio=ratio, delta=delta, n=n, m=m)
    variance = p * (1 - p) / n + ratio * ratio * q * (1 - q) / m
    # A surplus without variance arises only from rounding, at delta = 1; return zero so that the test does not reject.
    return np.where(
        (surplus > 0) & (variance > 0), surplus / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0
    )


def _spread(trials: int, p: float) -> float:
    """Bernstein's bound on the deviation of a count from its mean, except with _NEGLECTED probability in each tail."""
    nats = -math.log(_NEGLECTED)
    return nats / 3 + math.sqrt(nats * nats / 9 + 2 * trials * p * (1 - p) * nats)


@lru_cache(maxsize=32)  # a power tries a dozen thresholds with the same p and q; at most 8 MB
def _binomial(trials: int, p_bytes: bytes, not_p_bytes: bytes) -> tuple[int, Floats]:
    """The first count of a window, and the pmf on it, one row per p; each tail outside has at most _NEGLECTED.

    Args:
        trials: number of trials.
        p_bytes, not_p_bytes: arrays of p and 1 − p, as bytes.
    """
    p, not_p = np.frombuffer(p_bytes), np.frombuffer(not_p_bytes)
    nats = -math.log(_NEGLECTED)
    spread = nats / 3 + np.sqrt(nats * nats / 9 + 2 * trials * p * not_p * nats)
    first = max(0, math.floor(float((trials * p - spread).min())))
    last = min(trials, math.ceil(float((trials * p + spread).max())))
    k = np.arange(first, last + 1, dtype=np.float64)
    log_choose = special.gammaln(trials + 1) - special.gammaln(k + 1) - special.gammaln(trials - k + 1)
    # log 0 is replaced by a number so that 0 * log 0 is 0 and the exponential of the rest is 0.
    with np.errstate(divide="ignore"):
        log_p, log_not_p = np.maximum(np.log(p), -1e300), np.maximum(np.log(not_p), -1e300)
    with np.errstate(over="ignore"):
        exponent = log_choose + np.outer(log_p, k) + np.outer(log_not_p, trials - k)
    return first, np.exp(np.minimum(exponent, 0.0))


def _check(x: int, n: int, y: int, m: int, epsilon: float, delta: float) -> tuple[int, int, int, int]:
    check_epsilon(epsilon)
    check_delta(delta)
    return (*check_counts(x, n), *check_counts(y, m))
