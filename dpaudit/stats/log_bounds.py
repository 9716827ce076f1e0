"""Rényi divergences, Gaussian DP and privacy profiles of two distributions of which only bounds are known.

Bounds are of the logarithms of probabilities, so that a probability that no double holds (e^-800) keeps its ratio to
that of the other distribution. Every result is a lower and an upper bound, rounded outwards: what is below the lower
one is refuted, and what is above the upper one is proved: the probabilities may be anywhere between their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtri, ndtri_exp

from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosure import PRECISION, outward

__all__ = ["LogBounds", "divergences", "gaussian_mu", "profile"]

ULP = 2.0**-52
"""Relative distance of two doubles."""
LEAST = 1e-290
"""Below it the doubles become inaccurate."""

Floats = FloatArray


@dataclass(frozen=True)
class LogBounds:
    """Bounds of ln p and ln q over the same outcomes, shape (…, k) each; −inf for a probability of 0.

    They are already a little wider than what they were made from: by what a product with an order, a difference and an
    exponential may add in rounding.
    """

    p_low: Floats
    p_high: Floats
    q_low: Floats
    q_high: Floats

    @classmethod
    def of_doubles(cls, p_low: ArrayLike, p_high: ArrayLike, q_low: ArrayLike, q_high: ArrayLike) -> LogBounds:
        """From bounds of the probabilities themselves."""
        ends = [np.asarray(one, dtype=np.float64) for one in (p_low, p_high, q_low, q_high)]
        with np.errstate(divide="ignore"):
            return cls(*(_wider(np.log(end), up=bool(i % 2)) for i, end in enumerate(ends)))

    @classmethod
    def about(cls, p: ArrayLike, q: ArrayLike, *, error: float) -> LogBounds:
        """From probabilities that were computed in doubles.

        Args:
            p, q: the probabilities; one below 1e-290, also 0, may have been anything below that.
            error: the largest relative error of the others.
        """
        ends: list[Floats] = []
        for one in (np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)):
            lost = one < LEAST
            ends += [np.where(lost, 0.0, one * (1 - error)), np.where(lost, LEAST, one * (1 + error))]
        return cls.of_doubles(*ends)

    @classmethod
    def of_intervals(cls, p: Sequence[arb], q: Sequence[arb]) -> LogBounds:
        """From enclosures of the probabilities, shape (k,) each."""
        ends = [_logs(one) for one in (p, q)]
        return cls(*(_wider(end, up=bool(i % 2)) for i, end in enumerate((*ends[0], *ends[1]))))

    @property
    def turned(self) -> LogBounds:
        """The two distributions in the other order."""
        return LogBounds(self.q_low, self.q_high, self.p_low, self.p_high)

    def __getitem__(self, at: int | IntArray) -> LogBounds:
        """Of some of the pairs, by their first axis."""
        return LogBounds(self.p_low[at], self.p_high[at], self.q_low[at], self.q_high[at])


def _logs(probabilities: Sequence[arb]) -> tuple[Floats, Floats]:
    low, high = np.full((2, len(probabilities)), -math.inf)
    with ctx.workprec(PRECISION):
        for i, one in enumerate(probabilities):
            least, most = one.lower(), one.upper()
            if least > 0:
                low[i] = outward(least.log()).low
            if most > 0:
                high[i] = outward(most.log()).high
    return low, high


def _wider(logs: Floats, *, up: bool) -> Floats:
    with np.errstate(invalid="ignore"):
        room = 2 * ULP * (1 + np.abs(logs))
        moved = logs + room if up else logs - room
    return np.where(np.isneginf(logs), logs, moved)


def divergences(bounds: LogBounds, orders: Floats) -> tuple[Floats, Floats]:
    """Bounds of D_α(p ‖ q) at orders α > 1, infinity included; shape (…, orders) each.

    Source: van Erven and Harremoës, Rényi Divergence and Kullback-Leibler Divergence (2014), Definition 2.
    """
    return (
        np.maximum(0.0, _divergences(bounds.p_low, bounds.q_high, orders, up=False)),
        np.maximum(0.0, _divergences(bounds.p_high, bounds.q_low, orders, up=True)),
    )


def _divergences(log_p: Floats, log_q: Floats, orders: Floats, *, up: bool) -> Floats:
    # without p an outcome adds nothing, and the end of p that is 0 is one of its bounds
    with np.errstate(invalid="ignore"):
        loss = np.where(np.isneginf(log_p), -math.inf, log_p - log_q)
    found = np.empty((*loss.shape[:-1], len(orders)))
    for i, order in enumerate(orders.tolist()):
        if math.isinf(order):
            found[..., i] = loss.max(axis=-1)
            continue
        # ln Σ p^α q^(1 − α) = ln Σ exp(ln p + (α − 1) ln(p/q))
        with np.errstate(invalid="ignore", divide="ignore"):
            terms = np.where(np.isneginf(log_p), -math.inf, log_p + (order - 1) * loss)
            moment = _log_sum(terms)
            room = ULP * (loss.shape[-1] + 8) * (1 + np.abs(moment))
            found[..., i] = np.where(np.isinf(moment), moment, moment + room if up else moment - room) / (order - 1)
    return found


def _log_sum(terms: Floats) -> Floats:
    infinite = np.isposinf(terms).any(axis=-1)
    total: Floats = np.asarray(logsumexp(np.where(np.isposinf(terms), 0.0, terms), axis=-1))
    return np.where(infinite, math.inf, total)


def profile(bounds: LogBounds, epsilons: Floats) -> tuple[Floats, Floats]:
    """Bounds of δ(ε) = Σ max(0, p − e^ε q) at each ε; shape (…, epsilons) each."""
    return (
        _profile(bounds.p_low, bounds.q_high, epsilons, up=False),
        _profile(bounds.p_high, bounds.q_low, epsilons, up=True),
    )


def _profile(log_p: Floats, log_q: Floats, epsilons: Floats, *, up: bool) -> Floats:
    found = np.empty((*log_p.shape[:-1], len(epsilons)))
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_p), 0.0, log_q - log_p)
    room = ULP * (log_p.shape[-1] + 8)
    for i, epsilon in enumerate(epsilons.tolist()):
        # e^(ε + ln q − ln p) with its own rounding
        other = np.minimum(0.0, ratio + epsilon * (1 - 2 * ULP if up else 1 + 2 * ULP))
        total = (np.exp(log_p) * -np.expm1(other)).sum(axis=-1)
        found[..., i] = total * (1 + room if up else 1 - room)
    return np.clip(found, 0.0, 1.0)


def gaussian_mu(bounds: LogBounds) -> tuple[Floats, Floats]:
    """Bounds of the least μ ≥ 0 at which p − e^ε q of every event is at most that of μ-GDP, at every ε ≥ 0.

    Both orders of p and q together give the least μ of Gaussian DP. Shape (…) each.

    From above: an event S has p(S) − e^ε q(S) ≤ Σ_S (p⁺ − e^ε q⁻) with the upper ends of p and the lower ends of q. At
    each ε the right side is largest for a set of all outcomes with p⁺ > e^ε q⁻: a prefix, in the order of p⁺/q⁻, with
    sums (P, Q). It is enough that these satisfy P − e^ε Q ≤ δ_μ(ε) for all ε ≥ 0, for which it is enough that

        Φ⁻¹(P) − Φ⁻¹(Q) ≤ μ            (the trade-off curve of μ-GDP lies below (Q, 1 − P)), or
        P + Q ≥ 1 and P − Q ≤ δ_μ(0)   (P − s Q − δ_μ(ln s) falls for s ≥ 1, as −dδ_μ/ds ≤ Φ(−μ/2) ≤ Q).

    The second is used where P + Q > 1: it loses no digits there. From below: every event needs Φ⁻¹(p) − Φ⁻¹(q).

    Source: Dong, Roth and Su, Gaussian Differential Privacy (2022), Definition 2.6 and Corollary 2.13.
    """
    with np.errstate(invalid="ignore"):
        above = np.where(np.isneginf(bounds.p_high), -math.inf, bounds.p_high - bounds.q_low)
        below = np.where(np.isneginf(bounds.p_low), -math.inf, bounds.p_low - bounds.q_high)
    order = np.argsort(-above, axis=-1, kind="stable")
    high = _needed(_sums(bounds.p_high, order, up=True), _sums(bounds.q_low, order, up=False))
    inside = np.take_along_axis(above, order, axis=-1) >= 0
    order_below = np.argsort(-below, axis=-1, kind="stable")
    low = _needed(_sums(bounds.p_low, order_below, up=False), _sums(bounds.q_high, order_below, up=True))
    return low.max(axis=-1, initial=0.0), np.where(inside, high, 0.0).max(axis=-1, initial=0.0)


def _sums(logs: Floats, order: IntArray, *, up: bool) -> Floats:
    sums = np.logaddexp.accumulate(np.take_along_axis(logs, order, axis=-1), axis=-1)
    # the error of a sum counts in a later one by its share of that, so that |ln| of the later one bounds them all
    with np.errstate(invalid="ignore"):
        room = ULP * (logs.shape[-1] + 8) * (1 + np.abs(sums))
        return np.where(np.isneginf(sums), sums, np.minimum(0.0, sums + room if up else sums - room))


def _needed(log_p: Floats, log_q: Floats) -> Floats:
    """The least μ of events with these probabilities, in doubles."""
    p, q = np.exp(log_p), np.exp(log_q)
    with np.errstate(invalid="ignore"):
        quantiles = _quantile(log_p) - _quantile(log_q)
        between = 2 * ndtri(np.clip((1 + p - q) / 2, 0.5, 1.0))
        needed = np.where(p + q > 1, between, quantiles)
    return np.where(np.isnan(needed), 0.0, needed)


def _quantile(log_p: Floats) -> Floats:
    """Φ⁻¹ of a probability that is given by its logarithm, accurate at both ends."""
    with np.errstate(invalid="ignore"):
        middle = np.where(log_p < -math.log(2), ndtri(np.exp(log_p)), -ndtri(-np.expm1(log_p)))
        small = ndtri_exp(np.minimum(log_p, -600.0))
    return np.where(np.isneginf(log_p), -math.inf, np.where(log_p < -600.0, small, middle))
