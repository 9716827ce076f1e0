"""What counts say about an event: how far it speaks against a claim, and what bound fresh runs would certify.

The choice of an event among many is paid for in nats, as in minimum description length: what seems to differ most has
been helped by chance, and the more there was to choose from, the more.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from scipy.special import betaincinv, ndtri, rel_entr

from dpaudit.adversary.events.tail_extrapolation import Foreseen
from dpaudit.outputs.columns import Floats
from dpaudit.stats.arrays import BoolArray
from dpaudit.stats.boundary import nearest

PSEUDO = 1.0
"""Pseudo-counts of a cell, split between the sides as all runs are."""
RARITY = 0.5
"""How much of what being rare costs an event is paid for where it is bet on: with more, small violations by rare events
were bet on too late, and what is lost on a bad bet is little. Where it is to be certified all of it is paid for."""
CHOICE = 1.0
"""Nats that the choice of a threshold adds to what an event seems to show."""
BISECTIONS = 24
"""For a bound: of at most ln(runs) + 1."""


def log_ratios(hits: Floats, sizes: tuple[int, int]) -> Floats:
    """Smoothed ln(share on the left : share on the right) of cells, shape (cells,).

    Args:
        hits: shape (2, cells).
        sizes: runs on the left and on the right.
    """
    total = max(1, sizes[0] + sizes[1])
    left, right = max(sizes[0], 0.5) / total, max(sizes[1], 0.5) / total
    found: Floats = np.log((hits[0] + PSEUDO * left) / left) - np.log((hits[1] + PSEUDO * right) / right)
    return found


def evidence(x: Floats, n: int, y: Floats, m: int, *, ratio: float, delta: float) -> Floats:
    """Nats against H0: p ≤ ratio · q + δ in smoothed counts, x of n against y of m; negative inside H0.

    The log-likelihood ratio to the nearest point of H0, n KL(p‖p′) + m KL(q‖q′).
    """
    p, q = (x + 0.5) / (n + 1), (y + 0.5) / (m + 1)
    outside = p > ratio * q + delta
    q_null = np.where(outside, nearest(p, q, ratio=ratio, delta=delta, n=max(n, 1), m=max(m, 1))[1], q)
    p_null = np.minimum(ratio * q_null + delta, 1.0)
    nats = n * (rel_entr(p, p_null) + rel_entr(1 - p, 1 - p_null))
    nats += m * (rel_entr(q, q_null) + rel_entr(1 - q, 1 - q_null))
    return np.where(outside, nats, -np.minimum(nats, sys.float_info.max))


def rarity(share: Floats) -> Floats:
    """Nats that an event's share of all runs costs, one for every factor e by which it is below that of a common one.

    Far from one half there are more thresholds to choose from.
    """
    inside = np.clip(share, 1e-9, 1 - 1e-9)
    return -np.log(4 * inside * (1 - inside))


def discounted(x: int, n: int, y: int, m: int, *, price: float, ratio: float, delta: float) -> tuple[int, int]:
    """Hits drawn towards H0: p ≤ ratio · q + δ, by the nats that the choice among many events may have added.

    Args:
        x, n, y, m: hits and runs, each ≥ 1 runs.
        price: ≥ 0 nats; with as much evidence or less the hits are on the edge of H0.
    """
    nats = float(evidence(np.array([x]), n, np.array([y]), m, ratio=ratio, delta=delta)[0])
    if not nats > 0:
        return x, y
    p, q = (x + 0.5) / (n + 1), (y + 0.5) / (m + 1)
    p_null, q_null = map(float, nearest(p, q, ratio=ratio, delta=delta, n=n, m=m))
    # in standard deviations of the evidence, not in nats: those are their square
    kept = math.sqrt(max(0.0, nats - price) / nats)
    p, q = p_null + kept * (p - p_null), q_null + kept * (q - q_null)
    x, y = (min(max(0, round(share * (runs + 1) - 0.5)), runs) for share, runs in ((p, n), (q, m)))
    return x, y


def expected_bound(
    p: Floats, q: Floats, *, trained: int, runs: int, delta: float, alpha: float, caution: Floats | float = 1.0
) -> Floats:
    """Clopper–Pearson bound on ε that `runs` fresh runs a side would give if they repeated the training shares.

    Shares are moved against the bound by half a run and `caution` standard errors of training: an event never seen on
    one side is not taken for impossible there, and the best of many candidates not for as good as it looks.

    Args:
        p, q: shares of the training runs, shape (k,).
        trained: training runs a side, ≥ 1.
        runs: certifying runs a side, ≥ 1.
        delta: the claim's δ.
        alpha: error of the certifying test.
        caution: standard errors, one number or shape (k,).
    """
    p = np.clip(p - 0.5 / trained - caution * np.sqrt(p * (1 - p) / trained), 0, 1) * runs
    q = np.clip(q + 0.5 / trained + caution * np.sqrt(q * (1 - q) / trained), 0, 1) * runs
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(p > 0, betaincinv(np.maximum(p, 1e-9), runs - p + 1, alpha / 2), 0.0)
        high = np.where(q < runs, betaincinv(q + 1, np.maximum(runs - q, 1e-9), 1 - alpha / 2), 1.0)
        bound: Floats = np.where(low > delta, np.log(np.maximum(low - delta, 1e-300) / high), -np.inf)
    return bound


def foreseen_bound(
    foreseen: Foreseen, *, runs: int, delta: float, alpha: float, caution: Floats | float = 0.0
) -> Floats:
    """Score bound on ε of events whose shares in fresh runs are foreseen, shape (k,); NaN where they are not.

    Args:
        foreseen: with the side where the events are likelier on the left.
        runs, delta, alpha: as for `expected_bound`.
        caution: standard errors by which the log-ratio is mistrusted, one number or shape (k,).
    """
    told = ~np.isnan(foreseen.error)
    p, q = np.where(told, foreseen.left, 0.5), np.where(told, foreseen.right, 0.5)
    # the pooled share is known much better than what the sides have of it
    half = np.exp(-caution * np.where(told, foreseen.error, 0.0) / 2)
    bound = score_bound(np.clip(p * half, 0, 1), np.clip(q / half, 0, 1), runs=runs, delta=delta, alpha=alpha)
    return np.where(told, bound, np.nan)


def score_bound(p: Floats, q: Floats, *, runs: int, delta: float, alpha: float) -> Floats:
    """The bound when `runs` runs a side repeat these shares: normal approximation of the score test, which decides.

    Clopper–Pearson's is much lower for rare events (37 hits against 5 at α = 0.04: ε ≥ 0.76, by the score test 1.2), so
    it would choose commoner ones. That is as well where an event is known by its own few hits alone (`expected_bound`).
    −∞ below 0, where it does not matter how far.
    """
    z = float(ndtri(1 - alpha))
    above = np.maximum(p - delta, 0.0)
    low, high = np.zeros(len(p)), np.full(len(p), math.log(runs) + 1.0)

    def rejected(epsilon: Floats) -> BoolArray:
        ratio = np.exp(epsilon)
        # the likeliest q on p = ratio · q + δ: exact for δ = 0 (Farrington and Manning, Statistics in Medicine 1990)
        middle = ratio * (1 + q) + 1 + above
        root = np.sqrt(np.maximum(middle**2 - 8 * ratio * (above + q), 0.0))
        q_null = np.minimum(2 * (above + q) / (middle + root), 1.0)
        p_null = np.minimum(ratio * q_null + delta, 1.0)
        spread = np.sqrt((p_null * (1 - p_null) + ratio**2 * q_null * (1 - q_null)) / runs)
        beyond: BoolArray = p - delta - ratio * q > z * spread
        return beyond

    positive = rejected(low)
    for _ in range(BISECTIONS):
        half = (low + high) / 2
        inside = rejected(half)
        low, high = np.where(inside, half, low), np.where(inside, high, half)
    return np.where(positive, low, -np.inf)
