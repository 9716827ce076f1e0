"""The e-process against H0: p <= exp(epsilon) q + delta: evidence that stays valid at any interim analysis.

An event is tested in each direction: the first is more likely on D, the second on D'. H0 is that the claim holds for
both,

    p <= exp(epsilon) q + delta  and  q' <= exp(epsilon) p' + delta,

where the first has probability p on D and q on D', and the second p' and q'. Runs come in batches, n of D and m of D'.
Before a batch (from earlier ones) are chosen: the two events; a point (p0, q0) with p0 = exp(epsilon) q0 + delta, and a
point (p0', q0') with q0' = exp(epsilon) p0' + delta; and stakes s, t >= 0. With

    f = s (1[first] - p0) - t exp(epsilon) (1[second] - p0'),
    g = n/m (t (1[second] - q0') - s exp(epsilon) (1[first] - q0)),

the batch's e-value is the product of 1 + f over the runs on D, and of 1 + g over those on D'. The stakes are so small
that no factor is negative.

**It has expectation <= 1 under H0.** The runs are independent, so the logarithm of the expectation is

    n ln(1 + E f) + m ln(1 + E g)  <=  n E f + m E g
        = n s (p - exp(epsilon) q - delta) + n t (q' - exp(epsilon) p' - delta)  <=  0.

Nothing else is assumed: the points and the stakes only decide how fast it grows if the claim is wrong. Each point is
the one of its line that is nearest to the estimates. For one event with the best stake this is the likelihood ratio
against the reverse information projection of the estimates on H0, which grows fastest.

**A product of such e-values** is a non-negative supermartingale under H0 that starts at 1, so the probability that it
ever reaches 1/alpha is at most alpha, under every stopping rule (J. Ville, "Étude critique de la notion de collectif",
1939). The order within a batch is not recorded, so values exist only at the ends of batches.

Sources: R. Turner, A. Ly and P. Grünwald, "Generic E-variables for exact sequential k-sample tests that allow for
optional stopping", Journal of Statistical Planning and Inference 230 (2024); P. Grünwald, R. de Heide and W. Koolen,
"Safe testing", JRSS B 86 (2024), for the projection; H. Robbins, "Statistical methods related to the law of
the iterated logarithm", Ann. Math. Statist. 41 (1970), for mixtures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.boundary import nearest
from dpaudit.stats.clopper_pearson import check_alpha, check_delta

__all__ = ["SIGNALS", "Counts", "EProcess", "largest_rejected"]

Floats = FloatArray

SIGNALS: Floats = 0.7 / 2.0 ** np.arange(10, dtype=np.float64)
"""Strengths of a violation, as standard scores per pair of runs: from n* = 12 to 3 million pairs at alpha = .05."""

_SUGGESTED = 0.7  # weight of the stakes that the runs suggest
_SHARED = 0.03  # part of every strategy's value that is shared out before a batch
_NO_VIOLATION_WEIGHT = 2.0  # prior weight of no violation; values from 1 to 4 stop about equally early
_LEAST_SIGNAL, _LARGEST_SIGNAL = 0.3, 14.0  # in standard deviations of all past runs
_CERTAIN = 8.0  # from this score on, h(z) = z - 1/z
_LEAST_NOISE = 1e-300  # for each factor of exp(epsilon), so that no stake is infinite
_OPEN = 0.95  # fraction of the largest stakes at which no factor is negative
_SINGULAR = 1e-9  # relative; of two events that say the same the stakes are not determined
_LOG_WEIGHTS: Floats = np.log([_SUGGESTED, *[(1 - _SUGGESTED) / SIGNALS.size] * SIGNALS.size])


class Counts(NamedTuple):
    """Hits of an event: x of n runs on the dataset where it is more likely, and y of m on the other."""

    x: int
    n: int
    y: int
    m: int


class EProcess:
    """The product of batches' e-values, at every epsilon of a grid at once.

    It is an average over strategies: one has the stakes that the runs so far suggest, the others those of the strengths
    `SIGNALS`. The first refutes earlier if the events have been the right ones all along, the others make good for what
    it loses on wrong ones. Before every batch a part of each strategy's value is shared out among all of them by their
    weights, which does not change the average: one that lost while the events were wrong goes on with the others' gain.

    Args:
        epsilons: the grid, ascending, in natural units; it must contain the claimed epsilon, as only `largest_rejected`
            makes a statement about values in between.
        delta: the claim's delta.

    Attributes:
        log_values: the natural logarithm of the current value at each epsilon.
        log_peaks: the largest log value so far, at least 0. Reject the claim at level alpha if it is >= ln(1/alpha).

    Raises ValueError if the grid is empty, not ascending, or not in [0, 700], or if delta is not in [0, 1].
    """

    def __init__(self, epsilons: ArrayLike, delta: float) -> None:
        check_delta(delta)
        self.epsilons, self.delta = _grid(epsilons), delta
        self.log_values: Floats = np.zeros(self.epsilons.size)
        self.log_peaks: Floats = np.zeros(self.epsilons.size)
        self._members: Floats = np.zeros((_LOG_WEIGHTS.size, self.epsilons.size))

    def update(
        self, batch: Counts, *, past: Counts, other: Counts | None = None, other_past: Counts | None = None,
        both: tuple[int, int] = (0, 0), point: tuple[float, float] | None = None,
    ) -> None:
        """Multiply by the e-values of a batch.

        A claim may be a curve, of which every (epsilon, delta) is a null hypothesis that follows from it. Each batch
        may test another one, chosen from earlier batches: if the claim holds, every factor has expectation at most 1.

        Args:
            batch: hits of an event that was chosen before the batch.
            past: of the same event in runs before the batch; any n and m, and 0 of 0 if nothing is known.
            other: hits of another event in the runs of this batch. It is more likely where the first one is less, so
                that its x counts the runs of `batch.y`.
            other_past: as `past`, of the other event.
            both: runs in both events, among those of `batch.x` and those of `batch.y`.
            point: the (epsilon, delta) that the batch tests, if not those of the grid.

        Raises ValueError if a count is not a whole number, or not between 0 and the runs, or there are no runs.
        """
        other = Counts(0, batch.m, 0, batch.n) if other is None else other
        other_past = Counts(0, past.m, 0, past.n) if other_past is None else other_past
        for counts, least in ((batch, 1), (other, 1), (past, 0), (other_past, 0)):
            _check(counts, least=least)
        for a, b, one, runs in ((batch.x, other.y, both[0], other.m), (batch.y, other.x, both[1], other.n)):
            if not max(0, a + b - runs) <= one <= min(a, b):
                raise ValueError(
                    f"of {runs} runs {a} are in the first event and {b} in the other, so not {one} in both"
                )
        if (other.n, other.m) != (batch.m, batch.n):
            raise ValueError(f"the runs of both events are the same, not {batch} and {other}")
        epsilons, delta = (self.epsilons, self.delta) if point is None else (_grid([point[0]]), point[1])
        check_delta(delta)
        shared = np.logaddexp(self._members + math.log1p(-_SHARED), self.log_values + math.log(_SHARED))
        self._members = shared + _log_e_values((batch, other), both, (past, other_past), np.exp(epsilons), delta)
        self.log_values = np.logaddexp.reduce(self._members + _LOG_WEIGHTS[:, None], axis=0)
        self.log_peaks = np.maximum(self.log_peaks, self.log_values)

    def epsilon_lower(self, alpha: float) -> float:
        """A lower confidence bound on epsilon, valid at all times simultaneously: `largest_rejected` of the peaks.

        Raises ValueError if alpha is not in (0, 1).
        """
        return largest_rejected(self.epsilons, self.log_peaks, alpha=alpha)


def largest_rejected(epsilons: Floats, log_peaks: Floats, *, alpha: float) -> float:
    """The largest grid epsilon such that it and all smaller ones have had a peak of at least ln(1/alpha); else 0.0.

    Let ``log_peaks`` be the running maxima of processes, one for each of the ascending ``epsilons``, each an e-process
    if H0 holds at its epsilon. Then the probability that the result ever exceeds the true epsilon is at most alpha.
    Proof: let epsilon* be the true one, the least at which H0 holds, and g the smallest grid point >= epsilon*; if
    there is none, the result cannot exceed epsilon*. H0 holds at g too, as it grows with epsilon. A result above
    epsilon* is at least g, as it is a grid point; so the peak at g has reached ln(1/alpha), like every peak up to the
    result. By Ville's inequality this ever happens with probability at most alpha. (A larger point may peak earlier
    than a smaller one. Requiring all smaller peaks avoids a union bound over the grid.)

    Raises ValueError if alpha is not in (0, 1), or the two arrays are not of the same length.
    """
    check_alpha(alpha)
    if np.shape(epsilons) != np.shape(log_peaks):
        raise ValueError(f"{np.size(log_peaks)} peaks were given for {np.size(epsilons)} values of epsilon")
    reached = np.asarray(log_peaks) >= math.log(1 / alpha)
    length = int(reached.size if reached.all() else np.argmin(reached))
    return float(epsilons[length - 1]) if length else 0.0


def _log_e_values(
    batch: tuple[Counts, Counts], both: tuple[int, int], past: tuple[Counts, Counts], ratio: Floats, delta: float
) -> Floats:
    """ln of the batch's e-values, shape (1 + signals, grid): of the stakes that the past suggests, and of `SIGNALS`.

    Args:
        batch, past: hits of the first event and of the second.
    """
    if delta >= 1:
        # nothing contradicts such a claim
        return np.zeros((1 + SIGNALS.size, ratio.size))
    (x, n, y, m), (y2, _, x2, _) = batch
    weight = n / m
    (p, q), (q2, p2) = (((e.x + 0.5) / (e.n + 1), (e.y + 0.5) / (e.m + 1)) for e in past)
    p0, q0 = nearest(p, q, ratio=ratio, delta=delta, n=n, m=m)
    q20, p20 = nearest(q2, p2, ratio=ratio, delta=delta, n=m, m=n)
    # per pair of runs, with as few as possible in both events: exp(epsilon) may be too large for its square
    noise = np.hypot(np.sqrt(p0 * (1 - p0)), ratio * np.sqrt(weight * q0 * (1 - q0)))
    noise2 = np.hypot(np.sqrt(weight * q20 * (1 - q20)), ratio * np.sqrt(p20 * (1 - p20)))
    noise, noise2 = np.maximum(noise, _LEAST_NOISE * ratio), np.maximum(noise2, _LEAST_NOISE * ratio)
    common = _apart(p0, p20) + weight * _apart(q0, q20)
    common = ratio * common / noise / noise2
    # how far an event is from violating the claim plays no part
    violation, violation2 = np.maximum(p - ratio * q - delta, -1.0), np.maximum(q2 - ratio * p2 - delta, -1.0)
    share, share2, score = _direction(violation / noise, violation2 / noise2, common)
    s, t = share / noise, share2 / noise2
    most = _OPEN / np.maximum(s * p0 + t * ratio * (1 - p20), weight * (s * ratio * (1 - q0) + t * q20))
    suggested = _kept(score * math.sqrt(min(*past[0][1::2], *past[1][1::2]))) * np.maximum(score, 0.0)
    strength = np.concatenate([suggested[None], np.broadcast_to(SIGNALS[:, None], (SIGNALS.size, ratio.size))])
    stake = np.minimum(strength, most)
    left, right = t * ratio * p20 - s * p0, weight * (s * ratio * q0 - t * q20)
    log_e: Floats = (
        (x - both[0]) * np.log1p(stake * (left + s))
        + (x2 - both[0]) * np.log1p(stake * (left - t * ratio))
        + both[0] * np.log1p(stake * (left + s - t * ratio))
        + (n - x - x2 + both[0]) * np.log1p(stake * left)
        + (y - both[1]) * np.log1p(stake * (right - weight * s * ratio))
        + (y2 - both[1]) * np.log1p(stake * (right + weight * t))
        + both[1] * np.log1p(stake * (right + weight * (t - s * ratio)))
        + (m - y - y2 + both[1]) * np.log1p(stake * right)
    )
    return log_e


def _apart(a: Floats, b: Floats) -> Floats:
    """Minus the covariance of two events of these probabilities that have as little as possible in common."""
    return np.minimum(a * b, (1 - a) * (1 - b))


def _direction(first: Floats, second: Floats, common: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of two standardised scores in the sum with the best standard score per pair of runs, and that score.

    The sum has variance 1. Where a share would be negative, it is the larger of the two alone, and the first where both
    are negative.

    Args:
        first, second: expected values of the scores, whose variances are 1.
        common: their correlation.
    """
    common = np.minimum(common, 1 - _SINGULAR)
    a, b = (first - common * second) / (1 - common**2), (second - common * first) / (1 - common**2)
    both = (a > 0) & (b > 0)
    later = second > np.maximum(first, 0.0)
    score = np.where(both, np.sqrt(np.maximum(a * first + b * second, 0.0)), np.where(later, second, first))
    scale = np.where(both, score, 1.0)
    return np.where(both, a, ~later) / scale, np.where(both, b, later) / scale, score


def _signal_shares() -> tuple[Floats, Floats]:
    """Scores z, and the fraction h(z)/z of a violation of z standard deviations that is kept."""
    signal = np.geomspace(_LEAST_SIGNAL, _LARGEST_SIGNAL, 400)
    weight = math.log(_LARGEST_SIGNAL / _LEAST_SIGNAL) / signal.size  # prior density 1/u: uniform in ln u
    z = np.linspace(0.01, _CERTAIN, 400)
    likelihood = weight * np.exp(np.outer(z, signal) - signal**2 / 2)
    mean = (likelihood * signal).sum(axis=1) / (_NO_VIOLATION_WEIGHT + likelihood.sum(axis=1))
    return z, np.minimum(mean / z, 1.0)


_SCORES, _SHARES = _signal_shares()


def _kept(z: Floats) -> Floats:
    """The fraction of a violation of z standard deviations that is not chance, h(z)/z.

    h is the posterior mean of a signal of u standard deviations: prior density 1/u (scale-free, as the true scale is
    unknown) plus a weight of 2 on no violation. Early noise then costs little.
    """
    return np.where(z > _CERTAIN, 1 - 1 / np.maximum(z, _CERTAIN) ** 2, np.interp(z, _SCORES, _SHARES))


def _check(counts: Counts, *, least: int) -> None:
    for hits, runs in ((counts.x, counts.n), (counts.y, counts.m)):
        if not _whole(runs) or runs < least:
            raise ValueError(f"a number of runs must be a whole number of at least {least}, not {runs!r}")
        if not _whole(hits):
            raise ValueError(f"counts must be whole numbers, not {hits!r} of {runs!r}")
        if not 0 <= hits <= runs:
            raise ValueError(f"the count must lie between 0 and the {runs} runs, not be {hits}")


def _whole(number: object) -> bool:
    return isinstance(number, (int, np.integer))


def _grid(epsilons: ArrayLike) -> Floats:
    grid = np.array(epsilons, dtype=np.float64)
    if grid.ndim != 1 or not grid.size or not (np.diff(grid) > 0).all():
        raise ValueError(f"epsilons must be an ascending list of different numbers, not {epsilons!r}")
    wrong = grid[~((grid >= 0) & (grid <= 700))]
    if wrong.size:
        raise ValueError(f"epsilon must lie between 0 and 700, not be {float(wrong[0])!r}")
    return grid
