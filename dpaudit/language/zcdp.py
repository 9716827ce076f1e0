"""The privacy profile of zero-concentrated differential privacy: an upper bound on the δ that ρ allows to events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpaudit.language.checks import at_least, positive, probability
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosed import as_chosen, near, unwatched

ORDERS = 48
"""Rényi orders whose constraints are kept at first; fewer make the bound larger, never too small."""
GRID = 80
"""Orders at which the standard conversion is evaluated before the best of them is refined."""
CELLS = 32
"""Cells into which a segment of q is divided at each step."""
SLACK = 1e-6
"""Relative excess of the bound over the maximum, in addition to the excess from the omitted orders."""
HALVINGS = 64
"""Of an interval in [0, 1]: as many as doubles distinguish near 1."""
INVISIBLE = 1e-12
"""A standard δ below this is returned directly: there the event bound is no smaller, and lacks precision."""

Floats = FloatArray


def zcdp_of_pure(epsilon: float) -> float:
    """ρ = ε²/2: every ε-DP mechanism is ρ-zCDP.  Source: Bun and Steinke 2016, Proposition 1.4.

    Raises:
        ParameterError: ε is negative or not finite.
    """
    return at_least("epsilon", epsilon, 0) ** 2 / 2


def zcdp_delta_by_moments(rho: float, epsilon: float) -> float:
    """A δ such that every ρ-zCDP mechanism is (ε, δ)-DP: the standard conversion.

    inf over a > 1 of exp((a − 1)(aρ − ε))/a · (1 − 1/a)^(a − 1). The bound holds at every a, so an inexact infimum
    is still valid.

    Raises:
        ParameterError: ρ is not above 0, or ε is negative.

    Source: Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy (2020), Proposition 12 with
    D_a ≤ ρa.
    """
    positive("rho", rho)
    at_least("epsilon", epsilon, 0)

    def log_delta(log_order: float) -> float:
        more = math.exp(log_order)  # a − 1
        a = 1 + more
        return more * (a * rho - epsilon) - math.log(a) + more * (math.log(more) - math.log(a))

    # the best a is near (1 + ε/ρ)/2 where δ is small, and of the order of 1/√ρ at ε = 0
    most = 10 * (1 + epsilon / rho + 1 / math.sqrt(rho))
    grid = np.linspace(math.log(1e-6), math.log(most), GRID)
    best = int(np.argmin([log_delta(x) for x in grid.tolist()]))
    around = (float(grid[max(0, best - 1)]), float(grid[min(GRID - 1, best + 1)]))
    # it takes a tenth of a second, and few mechanisms are claimed in ρ-zCDP
    from scipy.optimize import minimize_scalar

    minimum = minimize_scalar(log_delta, bounds=around, method="bounded", options={"xatol": 1e-10})
    # a δ that underflowed to 0 would be too small
    return math.exp(min(0.0, max(-700.0, float(minimum.fun))))


@lru_cache(maxsize=4096)
def zcdp_delta(rho: float, epsilon: float) -> float:
    """An upper bound on the largest p − e^ε q of an event under ρ-zCDP: the smallest δ that covers all events.

    Let an event have probability p on one dataset and q on the other. Whether it happens is a post-processing of the
    output, so D_a(Bern(p) ‖ Bern(q)) ≤ ρa and D_a(Bern(q) ‖ Bern(p)) ≤ ρa for all orders a > 1, and δ(ε) is at most
    the largest p − e^ε q in the region R of such (p, q). (The maximum is attained: a mechanism that outputs only
    whether the event happened is ρ-zCDP.) The function returns an upper bound on that maximum:

    1. Finitely many orders are kept, which makes R larger; the next steps use that larger region.
    2. R is convex, as Rényi divergences are jointly quasi-convex (van Erven and Harremoës 2014), and
       contains (0, 0) and (1, 1). So g(q), the largest p with (p, q) in R, is concave with its largest value at q = 1,
       hence non-decreasing. Bisection finds it from above: both divergences grow with p > q.
    3. By monotonicity p − e^ε q ≤ g(b) − e^ε a for all q in [a, b]. By concavity, where the values of
       g(q) − e^ε q at the ends of cells are largest at one of them, the maximum lies in its two neighbouring cells.
       Those are divided again until e^ε(b − a) is 1e-6 of the maximum, and the last bound is returned.
    4. The standard conversion holds too, and the smaller of the two is returned. In exact arithmetic the standard δ
       is smaller at most by the excess of step 3: it follows from the constraint of a single order a, without the
       events' complements.

    Raises:
        ParameterError: ρ is not above 0, or ε is negative.

    Source: Bun and Steinke, Concentrated Differential Privacy (2016), Definition 1.1, and that post-processing does
    not increase Rényi divergence; the rest is proved here.
    """
    by_moments = zcdp_delta_by_moments(rho, epsilon)
    if by_moments < INVISIBLE:
        return by_moments
    more = np.geomspace(1e-3, 100 * max(1.0, epsilon / rho), ORDERS)  # a − 1
    # p > p − e^ε q: a maximum near by_moments has q not much below e^-ε·by_moments
    edges = np.concatenate([[0.0], np.geomspace(1e-6 * by_moments * math.exp(-epsilon), 1.0, 3 * CELLS)])
    more = _binding(edges, more, rho, epsilon)  # keep these orders from here on, so that all segments bound one region
    return _largest_excess(edges, more, (1 + more) * rho, epsilon, by_moments)


def renyi_delta_by_moments(orders: Sequence[float], divergences: Sequence[float], epsilon: float) -> float:
    """A δ such that every mechanism with these Rényi bounds is (ε, δ)-DP: the standard conversion at the best order.

    Args:
        orders: each above 1; infinity is pure DP.
        divergences: the bound at each order.
        epsilon: ≥ 0.

    Source: Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy (2020), Proposition 12.
    """
    least = 0.0
    for a, divergence in zip(orders, divergences, strict=True):
        if math.isinf(a):
            if epsilon >= divergence:
                return 0.0
            continue
        log_delta = (a - 1) * (divergence - epsilon) - math.log(a) + (a - 1) * math.log1p(-1 / a)
        least = min(least, log_delta)
    # a δ that underflowed to 0 would be too small
    return math.exp(max(-700.0, least))


@lru_cache(maxsize=4096)
def renyi_delta(orders: tuple[float, ...], divergences: tuple[float, ...], epsilon: float) -> float:
    """An upper bound, tight to 1e-6, on the largest p − e^ε q of an event under Rényi bounds at some orders.

    As `zcdp_delta`, of the region of all (p, q) with D_a(Bern(p) ‖ Bern(q)) and D_a(Bern(q) ‖ Bern(p)) at most the
    bound of order a, for every order: that is all that the bounds say of an event, as a mechanism that outputs only
    whether the event happened is as private. The order infinity is p ≤ e^ε q for events and their complements.

    Args:
        orders, divergences, epsilon: as of `renyi_delta_by_moments`.
    """
    by_moments = renyi_delta_by_moments(orders, divergences, epsilon)
    for a, divergence in zip(orders, divergences, strict=True):
        if math.isinf(a) and epsilon < divergence:
            # randomised response is the worst of all pure mechanisms
            pure = -math.expm1(epsilon - divergence) / (1 + math.exp(-divergence))
            by_moments = min(by_moments, pure * (1 + 1e-12))
    finite = [(a - 1, divergence) for a, divergence in zip(orders, divergences, strict=True) if math.isfinite(a)]
    if by_moments < INVISIBLE or not finite:
        return by_moments
    more, limits = (np.array(part, dtype=np.float64) for part in zip(*finite, strict=True))
    edges = np.concatenate([[0.0], np.geomspace(1e-6 * by_moments * math.exp(-epsilon), 1.0, 3 * CELLS)])
    return _largest_excess(edges, more, limits, epsilon, by_moments)


def _largest_excess(edges: Floats, more: Floats, limits: Floats, epsilon: float, by_moments: float) -> float:
    """An upper bound on the largest p − e^ε q of the region, by steps 3 and 4 of `zcdp_delta`."""
    while True:
        best, most = _best(edges, more, limits, epsilon)
        a, b = max(0, best - 1), min(len(edges) - 1, best + 1)
        width = float(edges[b] - edges[a])
        if math.exp(epsilon) * width <= SLACK * most or width <= 1e-15 * edges[b]:
            value, end = _largest_p(edges[[best, b]], more, limits) - math.exp(epsilon) * edges[[best, a]]
            if math.exp(epsilon) * width <= SLACK * value or width <= 1e-15 * edges[b]:
                return min(by_moments, max(0.0, float(end)), 1.0)
        edges = np.linspace(edges[a], edges[b], CELLS + 1)


def _binding(q: Floats, more: Floats, rho: float, epsilon: float) -> Floats:
    """The orders that bind near the maximum, and finer ones around the tightest; any choice is valid."""
    limits = (1 + more) * rho
    best, _ = _best(q, more, limits, epsilon)
    excess = _excess(_largest_p(q[[best]], more, limits), q[[best]], more, limits).max(axis=0)[:, 0]
    kept = more[np.argsort(-excess)[: ORDERS // 6]]
    return np.concatenate([kept, kept[0] * np.geomspace(0.6, 1.7, ORDERS // 4)])


def _largest_p(q: Floats, more: Floats, limits: Floats) -> Floats:
    """An upper bound on the largest p ≥ q with D_a(Bern(p) ‖ Bern(q)) and D_a(Bern(q) ‖ Bern(p)) within all limits.

    Args:
        q: shape (k,), in [0, 1].
        more: a − 1, shape (orders,).
        limits: of D_a, such as ρa, shape (orders,).
    """
    low, high = q.copy(), np.ones_like(q)
    for _ in range(HALVINGS):
        low, high = _halved(low, high, q, more, limits)
    return high


def _best(q: Floats, more: Floats, limits: Floats, epsilon: float) -> tuple[int, float]:
    """The place of the largest p − e^ε q, of the p of `_largest_p`, and an upper bound on it."""
    places, scaled = np.arange(len(q)), math.exp(epsilon) * q
    low, high = q.copy(), np.ones_like(q)
    for _ in range(HALVINGS):
        low, high = _halved(low, high, q, more, limits)
        # the others are below one that is still there
        left = high - scaled >= (low - scaled).max()
        places, q, scaled, low, high = places[left], q[left], scaled[left], low[left], high[left]
        if len(places) == 1:
            break
    best = int(np.argmax(high - scaled))
    return int(places[best]), float(high[best] - scaled[best])


def _halved(low: Floats, high: Floats, q: Floats, more: Floats, limits: Floats) -> tuple[Floats, Floats]:
    """The half of each interval of p that has the largest one within the limits."""
    p = (low + high) / 2
    allowed = (_excess(p, q, more, limits) <= 0).all(axis=(0, 1))
    return np.where(allowed, p, low), np.where(allowed, high, p)


def _excess(p: Floats, q: Floats, more: Floats, limits: Floats) -> Floats:
    """D_a minus its limit in both directions, minus an allowance for rounding; shape (2, orders, k)."""
    extra = more[:, np.newaxis]
    a = 1 + extra
    (log_p, log_not_p), (log_q, log_not_q) = _logs(p), _logs(q)
    # ln Σ p^a q^(1 − a) = ln Σ exp(ln p + (a − 1) ln(p/q))
    happens, not_happens = log_p - log_q, log_not_p - log_not_q
    moments = np.stack(
        [
            np.logaddexp(log_p + extra * happens, log_not_p + extra * not_happens),
            np.logaddexp(log_q - extra * happens, log_not_q - extra * not_happens),
        ]
    )
    size = np.abs(log_p) + np.abs(log_q) + np.abs(log_not_p) + np.abs(log_not_q)
    excess: Floats = (moments - 1e-14 * (1 + a * size)) / extra - limits[:, np.newaxis]
    return excess


def _logs(p: Floats) -> tuple[Floats, Floats]:
    """ln p and ln(1 − p); 0 is replaced by 1e-300, which only makes divergences from it smaller."""
    tiny = 1e-300
    return np.log(np.maximum(p, tiny)), np.log(np.maximum(1 - p, tiny))


def zcdp_budget(epsilon: float, delta: float) -> float:
    """A lower bound, tight to 1e-6, on the largest ρ such that no event of a ρ-zCDP mechanism has p − e^ε q above δ.

    Raises:
        ParameterError: ε ≤ 0, or δ outside (0, 1).
    """
    positive("epsilon", epsilon)
    probability("delta", delta, open_ends=True)
    with unwatched():
        budget = _budget(near(epsilon), near(delta))
    return as_chosen(budget)


@lru_cache(maxsize=256)
def _budget(epsilon: float, delta: float) -> float:
    # (√(ε + ln(1/δ)) − √ln(1/δ))² is small enough (Bun and Steinke 2016, Proposition 1.3)
    low = (epsilon / (math.sqrt(epsilon + math.log(1 / delta)) + math.sqrt(math.log(1 / delta)))) ** 2
    high = 2 * low
    while zcdp_delta(high, epsilon) <= delta:
        low, high = high, 2 * high
    while high > low * (1 + 1e-6):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if zcdp_delta(middle, epsilon) <= delta else (low, middle)
    return low
