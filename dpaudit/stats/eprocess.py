"""E-processes against H0: p <= exp(epsilon) q + delta: evidence that stays valid at any interim analysis.

An event has probability p on the numerator dataset and q on the other. Runs come in batches: x hits in n runs
of the first, y hits in m runs of the second. The alternative (p1, q1) for a batch is fixed before it (it is
predictable; the event may be, too), and the batch's e-value is the likelihood ratio

    E = p1^x (1-p1)^(n-x) q1^y (1-q1)^(m-y) / [p0^x (1-p0)^(n-x) q0^y (1-q0)^(m-y)],

(p0, q0) being the reverse information projection of (p1, q1) on H0: the point of H0 with the least
n KL(p1||p0) + m KL(q1||q0). If (p1, q1) lies in H0 they are equal and E = 1.

**E has expectation <= 1 under every (p, q) of H0.** Summed over the outcomes,

    ln E[E] = n ln(1 + u (p - p0)) + m ln(1 + v (q - q0)),
    u = (p1 - p0) / (p0 (1 - p0)),    v = (q1 - q0) / (q0 (1 - q0)),

which is concave in (p, q), is 0 at (p0, q0) and has gradient (n u, m v) there. The gradient of the divergence that
(p0, q0) minimises over the convex set H0 is -(n u, m v), so n u (p - p0) + m v (q - q0) <= 0 on H0, and a concave
function lies below its tangent. The argument only needs the weights n and m of the divergence to be those of the batch;
n != m is covered. (At p1 = 1 or q1 = 0 the projection may be a corner, p0 = 1 or q0 = 0,
where the derivatives are one-sided and an outcome that (p1, q1) excludes has E = 0; the argument is the same.)
Only the direction of (n u, m v) matters: every (p0, q0) on the line p = exp(epsilon) q + delta and every t >= 0
give an e-value with u = t, v = -t exp(epsilon) n / m, as long as no outcome gets a negative one, because that
alternative projects onto (p0, q0). `SignalMixture` averages over t.

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
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.boundary import nearest
from dpaudit.stats.clopper_pearson import check_alpha, check_delta

__all__ = [
    "SIGNALS",
    "EProcess",
    "Mixture",
    "SignalMixture",
    "growth",
    "largest_rejected",
    "log_e_value",
    "null_projection",
    "plug_in",
    "signal_log_e_values",
]

Floats = FloatArray

SIGNALS: Floats = 0.7 / 2.0 ** np.arange(10, dtype=np.float64)
"""Strengths of a violation, as standard scores per pair of runs: from n* = 12 to 3 million pairs at alpha = .05."""

_NO_VIOLATION_WEIGHT = 2.0  # prior weight of no violation in `plug_in`; values from 1 to 4 stop about equally early
_LEAST_SIGNAL, _LARGEST_SIGNAL = 0.3, 14.0  # in standard deviations of all past runs
_CERTAIN = 8.0  # from this score on, h(z) = z - 1/z
_OPEN = 0.95  # fraction of the largest t at which no outcome gets a negative e-value


def null_projection(
    p: ArrayLike, q: ArrayLike, *, epsilon: ArrayLike, delta: float, n: int = 1, m: int = 1
) -> tuple[Floats, Floats]:
    """(p0, q0), the reverse information projection of (p, q) on H0: p <= exp(epsilon) q + delta.

    It minimises n KL(p||p0) + m KL(q||q0) over H0, and is (p, q) itself if that lies in H0. Arguments are broadcast
    against each other; so are the results.

    Raises ValueError if p, q or delta is not in [0, 1], epsilon is not in [0, 700], or n or m is not a positive
    whole number.
    """
    p, q, ratio = _alternative(p, q, epsilon, delta)
    _counts([0], n)
    _counts([0], m)
    return _projection(p, q, ratio, delta, n, m)


def log_e_value(
    x: ArrayLike, n: int, y: ArrayLike, m: int, *, p: ArrayLike, q: ArrayLike, epsilon: ArrayLike, delta: float
) -> Floats:
    """The natural logarithm of a batch's e-value against H0, for the alternative (p, q) fixed before it.

    The event occurred ``x`` times in ``n`` runs on the first dataset and ``y`` times in ``m`` runs on the
    second. Under every (p, q) of H0 the e-value has expectation at most 1. All arguments except n, m and delta may be
    arrays that broadcast against each other; the result has the broadcast shape (() for scalars). It is -inf if the
    alternative excludes the outcome.

    Raises ValueError as `null_projection` does, or if the counts are not whole numbers with 0 <= x <= n and
    0 <= y <= m.
    """
    x, y = _counts(x, n), _counts(y, m)
    p, q, ratio = _alternative(p, q, epsilon, delta)
    p_null, q_null = _projection(p, q, ratio, delta, n, m)
    log_ratio = _log_likelihood_ratio(x, n, p, p_null) + _log_likelihood_ratio(y, m, q, q_null)
    # without a violation, even an outcome that (p, q) excludes gives 0/0 = 1
    return np.where(p <= ratio * q + delta, 0.0, log_ratio)


def signal_log_e_values(
    x: ArrayLike, n: int, y: ArrayLike, m: int, *, p: ArrayLike, q: ArrayLike, epsilon: ArrayLike, delta: float
) -> Floats:
    """The log e-values of a batch for violations of the strengths `SIGNALS`, shape (signals, ...).

    (p, q) is an estimate of the event's probabilities made before the batch. Take the point of the line
    p = exp(epsilon) q + delta closest to the estimate. The alternative of strength s leaves it in the direction whose
    projection leads back (the module docstring shows why this is an e-value for every such point), so far that a pair
    of runs gives a standard score of s on average; 2 ln(1/alpha)/s^2 pairs refute such a violation. The estimate need
    not violate the claim: use `plug_in`, smoothed frequencies, or (1/2, 1/2) if nothing is known.

    Arguments broadcast, and ValueError is raised, as in `log_e_value`.
    """
    x, y = _counts(x, n), _counts(y, m)
    p, q, ratio = _alternative(p, q, epsilon, delta)
    p_null, q_null = nearest(p, q, ratio=ratio, delta=delta, n=n, m=m)
    step = ratio * n / m  # -v / u of the module docstring
    with np.errstate(divide="ignore"):
        most = np.minimum(1 / p_null, 1 / (step * (1 - q_null)))
        noise = np.hypot(np.sqrt(p_null * (1 - p_null)), step * np.sqrt(q_null * (1 - q_null) * m / n))
        signal = SIGNALS.reshape(-1, *(1,) * np.broadcast(x, y, noise).ndim)
        t = np.minimum(signal / noise, _OPEN * most)
    return (
        x * np.log1p(t * (1 - p_null))
        + (n - x) * np.log1p(-t * p_null)
        + y * np.log1p(-t * step * (1 - q_null))
        + (m - y) * np.log1p(t * step * q_null)
    )


def growth(p: float, q: float, *, p_hat: ArrayLike, q_hat: ArrayLike, epsilon: ArrayLike, delta: float) -> Floats:
    """The expected growth of the log e-value per pair of runs, in nats.

    (p, q) is the truth, (p_hat, q_hat) the tested alternative. The result is largest at (p_hat, q_hat) = (p, q), where
    ln(1/alpha) divided by it is `power.information_limit`.

    Raises ValueError as `null_projection` does, for (p, q) or for (p_hat, q_hat).
    """
    true_p, true_q = _probabilities(p, q)
    p_hat, q_hat, ratio = _alternative(p_hat, q_hat, epsilon, delta)
    p_null, q_null = _projection(p_hat, q_hat, ratio, delta, 1, 1)
    return _log_likelihood_ratio(true_p, 1, p_hat, p_null) + _log_likelihood_ratio(true_q, 1, q_hat, q_null)


def plug_in(x: ArrayLike, n: int, y: ArrayLike, m: int, *, epsilon: ArrayLike, delta: float) -> tuple[Floats, Floats]:
    """An alternative (p1, q1) for the next batch, from the counts of the batches before it.

    The estimates (x + 1/2)/(n + 1) and (y + 1/2)/(m + 1) are shrunk towards their projection on H0, to the degree that
    their violation may be chance. With z = sqrt(2 ln R), R their likelihood ratio against H0, the fraction h(z)/z of
    the violation is kept, where h is the posterior mean of a signal of u standard deviations: prior density 1/u
    (scale-free, as the true scale is unknown) plus a weight of 2 on no violation. Early noise then costs little.
    Estimates in H0 are returned unchanged, and the e-value is 1. Without past counts pass n = m = 0.

    Any predictable alternative is valid; ``benchmarks/sequential.md`` measures this one. If the event stays the same
    for long, `SignalMixture` stops earlier.

    Arguments broadcast as in `log_e_value`. Raises ValueError as `log_e_value` does, except that n = 0 or m = 0 are
    allowed.
    """
    x, y = _counts(x, n, least=0), _counts(y, m, least=0)
    p, q, ratio = _alternative((x + 0.5) / (n + 1), (y + 0.5) / (m + 1), epsilon, delta)
    weights = max(n, 1), max(m, 1)
    p_null, q_null = _projection(p, q, ratio, delta, *weights)
    # Use the estimates as counts: with x itself R could be below 1.
    nats = _log_likelihood_ratio(n * p, n, p, p_null) + _log_likelihood_ratio(m * q, m, q, q_null)
    z = np.sqrt(2 * np.maximum(nats, 0.0))
    share = np.where(z > _CERTAIN, 1 - 1 / np.maximum(z, _CERTAIN) ** 2, np.interp(z, _SCORES, _SHARES))
    return p_null + share * (p - p_null), q_null + share * (q - q_null)


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


class _Path:
    """Values over a grid of epsilon, and their running maxima; every process starts at 1."""

    def __init__(self, epsilons: ArrayLike) -> None:
        self.epsilons = _grid(epsilons)
        self.log_values: Floats = np.zeros(self.epsilons.size)
        self.log_peaks: Floats = np.zeros(self.epsilons.size)

    def epsilon_lower(self, alpha: float) -> float:
        """A lower confidence bound on epsilon, valid at all times simultaneously: `largest_rejected` of the peaks.

        Raises ValueError if alpha is not in (0, 1).
        """
        return largest_rejected(self.epsilons, self.log_peaks, alpha=alpha)

    def _move(self, log_values: Floats) -> None:
        self.log_values = log_values
        self.log_peaks = np.maximum(self.log_peaks, log_values)


class EProcess(_Path):
    """The product of batches' e-values, at every epsilon of a grid at once.

    Args:
        epsilons: the grid, ascending, in natural units; it must contain the claimed epsilon, as only `epsilon_lower`
            makes a statement about values in between.
        delta: the claim's delta.

    Attributes:
        log_values: the natural logarithm of the current value at each epsilon.
        log_peaks: the largest log value so far, at least 0. Reject the claim at level alpha if it is >= ln(1/alpha).

    Raises ValueError if the grid is empty, not ascending, or not in [0, 700], or if delta is not in [0, 1].
    """

    def __init__(self, epsilons: ArrayLike, delta: float) -> None:
        check_delta(delta)
        super().__init__(epsilons)
        self.delta = delta

    def update(self, x: int, n: int, y: int, m: int, *, p: ArrayLike, q: ArrayLike) -> None:
        """Multiply by the e-value of a batch, for the alternative (p, q) that was fixed before it.

        p and q are numbers, or arrays over the grid. Raises ValueError as `log_e_value` does.
        """
        self.multiply(log_e_value(x, n, y, m, p=p, q=q, epsilon=self.epsilons, delta=self.delta))

    def multiply(self, log_values: ArrayLike) -> None:
        """Multiply by external e-values, given as natural logarithms over the grid.

        Under H0 at an epsilon, its e-value must have conditional expectation at most 1 given the past.

        Raises ValueError unless there is one for each epsilon of the grid, none of them NaN or +inf.
        """
        self._move(self.log_values + _evidence(log_values, (self.epsilons.size,)))


class Mixture(_Path):
    """The average of e-processes over the same grid: one test over many pairs, events, powers and directions.

    Averaging needs no correction for multiple tests; the best member loses only ln(1/its weight) nats of evidence. H0
    at an epsilon means that every member's hypothesis holds at it.

    Args:
        epsilons: the grid, as in `EProcess`.
        weights: one for each member, fixed in advance, positive, with a sum <= 1. The remainder is a member of constant
            value 1.

    Raises ValueError for a bad grid, or for weights that are not positive or sum to more than 1.
    """

    def __init__(self, epsilons: ArrayLike, weights: Sequence[float] | Floats) -> None:
        super().__init__(epsilons)
        self._log_weights = _log_weights(weights)

    def update(self, members: Sequence[Floats] | Floats) -> None:
        """Take the members' current ``log_values``, shape (members, grid).

        A member that has not started has the value 1, so zeros here. Call this only after all members have processed
        the batch: if they use the same runs, mixing some before and some after the batch is not an e-process.

        Raises ValueError unless there is a row for each weight and a column for each epsilon, without NaN or +inf.
        """
        shape = self._log_weights.size - 1, self.epsilons.size
        self._move(_log_average(_evidence(members, shape), self._log_weights))


class SignalMixture(_Path):
    """An e-process for an event of unknown probabilities: a mixture over the strength of the violation.

    Its members are the strengths `SIGNALS`, with equal weights; see `signal_log_e_values`. A bad estimate of the
    event's probabilities costs little, a bad one of the strength costs much: hence the mixture. It loses at most ln(10)
    nats against the best member. `EProcess` with `plug_in` is the alternative; ``benchmarks/sequential.md`` compares
    them.

    Args:
        epsilons: the grid, as in `EProcess`.
        delta: the claim's delta.

    Attributes: those of `EProcess`. Raises ValueError as `EProcess` does.
    """

    def __init__(self, epsilons: ArrayLike, delta: float) -> None:
        check_delta(delta)
        super().__init__(epsilons)
        self.delta = delta
        self._members: Floats = np.zeros((SIGNALS.size, self.epsilons.size))
        self._log_weights = _log_weights(np.full(SIGNALS.size, 1 / SIGNALS.size))

    def update(self, x: int, n: int, y: int, m: int, *, p: ArrayLike, q: ArrayLike) -> None:
        """Multiply every member by its e-value of a batch; (p, q) is an estimate made before it.

        p and q are numbers, or arrays over the grid. Raises ValueError as `log_e_value` does.
        """
        batch = signal_log_e_values(x, n, y, m, p=p, q=q, epsilon=self.epsilons, delta=self.delta)
        self._members = self._members + batch
        self._move(_log_average(self._members, self._log_weights))


def _projection(p: Floats, q: Floats, ratio: Floats, delta: float, n: int, m: int) -> tuple[Floats, Floats]:
    p, q, ratio = np.broadcast_arrays(p, q, ratio)
    violated = p > ratio * q + delta
    p_edge, q_edge = nearest(p, q, ratio=ratio, delta=delta, n=n, m=m)
    return np.where(violated, p_edge, p), np.where(violated, q_edge, q)


def _log_likelihood_ratio(hits: Floats, runs: int, p: Floats, p_null: Floats) -> Floats:
    return _times(hits, p, p_null) + _times(runs - hits, 1 - p, 1 - p_null)


def _times(count: Floats, above: Floats, below: Floats) -> Floats:
    """count * ln(above / below): 0 if the count is 0, else -inf if above is 0, for any value of below."""
    possible = (above > 0) & (below > 0)
    ratio = np.log(np.where(possible, above, 1.0) / np.where(possible, below, 1.0))
    log_ratio = np.where(above > 0, ratio, -np.inf)
    product: Floats = np.where(count == 0, 0.0, np.where(count == 0, 1.0, count) * log_ratio)
    return product


def _log_weights(weights: ArrayLike) -> Floats:
    """Logarithms of the members' weights, and of the remainder."""
    given = np.asarray(weights, dtype=np.float64)
    total = float(given.sum())
    if given.ndim != 1 or not given.size or not (given > 0).all() or not total <= 1 + 1e-9:
        raise ValueError(f"weights must be positive numbers with a sum of at most 1, not {weights!r}")
    with np.errstate(divide="ignore"):
        log_weights: Floats = np.log(np.append(given / max(1.0, total), max(0.0, 1 - total)))
    return log_weights


def _log_average(members: Floats, log_weights: Floats) -> Floats:
    constant = np.zeros((1, members.shape[1]))
    average: Floats = np.logaddexp.reduce(np.concatenate((members, constant)) + log_weights[:, None], axis=0)
    return average


def _signal_shares() -> tuple[Floats, Floats]:
    """Scores z, and the fraction h(z)/z of a violation of z standard deviations that `plug_in` keeps."""
    signal = np.geomspace(_LEAST_SIGNAL, _LARGEST_SIGNAL, 400)
    weight = math.log(_LARGEST_SIGNAL / _LEAST_SIGNAL) / signal.size  # prior density 1/u: uniform in ln u
    z = np.linspace(0.01, _CERTAIN, 400)
    likelihood = weight * np.exp(np.outer(z, signal) - signal**2 / 2)
    mean = (likelihood * signal).sum(axis=1) / (_NO_VIOLATION_WEIGHT + likelihood.sum(axis=1))
    return z, np.minimum(mean / z, 1.0)


_SCORES, _SHARES = _signal_shares()


def _alternative(p: ArrayLike, q: ArrayLike, epsilon: ArrayLike, delta: float) -> tuple[Floats, Floats, Floats]:
    """p, q and exp(epsilon) as arrays."""
    p, q = _probabilities(p, q)
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if not ((epsilon >= 0) & (epsilon <= 700)).all():
        raise ValueError(f"epsilon must lie between 0 and 700, not be {_first_bad(epsilon, 700)!r}")
    check_delta(delta)
    return p, q, np.exp(epsilon)


def _probabilities(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    for name, value in (("p", p), ("q", q)):
        if not ((value >= 0) & (value <= 1)).all():
            raise ValueError(f"{name} must lie between 0 and 1, not be {_first_bad(value, 1)!r}")
    return p, q


def _first_bad(values: Floats, most: float) -> float:
    return float(values[~((values >= 0) & (values <= most))].flat[0])


def _counts(hits: ArrayLike, runs: int, *, least: int = 1) -> Floats:
    if not isinstance(runs, (int, np.integer)) or runs < least:
        raise ValueError(f"a number of runs must be a whole number of at least {least}, not {runs!r}")
    given = np.asarray(hits)
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"counts must be whole numbers of type int, not {hits!r} of {runs!r}")
    if not ((given >= 0) & (given <= runs)).all():
        raise ValueError(f"the count must lie between 0 and the {runs} runs, not be {_first_bad(given, runs):g}")
    return given.astype(np.float64)


def _grid(epsilons: ArrayLike) -> Floats:
    grid = np.array(epsilons, dtype=np.float64)
    if grid.ndim != 1 or not grid.size or not (np.diff(grid) > 0).all():
        raise ValueError(f"epsilons must be an ascending list of different numbers, not {epsilons!r}")
    _alternative(0.5, 0.5, grid, 0.0)
    return grid


def _evidence(log_values: ArrayLike | Sequence[Floats], shape: tuple[int, ...]) -> Floats:
    evidence = np.asarray(log_values, dtype=np.float64)
    if evidence.shape != shape:
        raise ValueError(f"log e-values must have the shape {shape}, not {evidence.shape}")
    if not (evidence < np.inf).all():  # false for NaN too
        raise ValueError("log e-values must not be NaN or +inf")
    return evidence
