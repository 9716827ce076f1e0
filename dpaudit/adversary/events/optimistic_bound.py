"""Score an event by its counts: its evidence against a claim, and the bound expected from fresh samples.

The choice of an event among many has a cost in nats, as in minimum description length: the event that seems to differ
most owes part of that to chance, and more so the more events there were to choose from.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from scipy.special import betaincinv, ndtri, rel_entr

from dpaudit.adversary.events.tail_extrapolation import Prediction
from dpaudit.outputs.columns import Floats
from dpaudit.stats.arrays import BoolArray
from dpaudit.stats.boundary import nearest

PSEUDO = 1.0
"""Pseudo-counts of a cell, split between D and D′ in proportion to their sample sizes."""
CHOICE = 1.0
"""Nats that the choice of a threshold adds to the apparent evidence of an event."""
BISECTIONS = 24
"""Bisection steps for a bound, which is at most ln(samples) + 1."""


def log_ratios(hits: Floats, sizes: tuple[int, int]) -> Floats:
    """Smoothed ln(share under D / share under D′) of cells, shape (cells,).

    Args:
        hits: shape (2, cells).
        sizes: numbers of samples of D and D′.
    """
    total = max(1, sizes[0] + sizes[1])
    left, right = max(sizes[0], 0.5) / total, max(sizes[1], 0.5) / total
    ratios: Floats = np.log((hits[0] + PSEUDO * left) / left) - np.log((hits[1] + PSEUDO * right) / right)
    return ratios


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
    """Cost in nats of an event's share of all samples: one nat for every factor e below that of a common event.

    Far from one half there are more thresholds to choose from.
    """
    inside = np.clip(share, 1e-9, 1 - 1e-9)
    return -np.log(4 * inside * (1 - inside))


def expected_bound(
    p: Floats, q: Floats, *, trained: int, runs: int, delta: float, alpha: float, caution: Floats | float = 1.0
) -> Floats:
    """Clopper–Pearson bound on ε from `runs` fresh samples per dataset, if they repeated the training shares.

    Shares are discounted by half a sample and `caution` standard errors of training: an event never seen on one dataset
    does not count as impossible there, and the best of many candidates does not count as good as its shares suggest.

    Args:
        p, q: shares in the training samples, shape (k,).
        trained: training samples per dataset, ≥ 1.
        runs: fresh samples per dataset, ≥ 1.
        delta: the claim's δ.
        alpha: error probability of the bound.
        caution: standard errors, one number or shape (k,).
    """
    p = np.clip(p - 0.5 / trained - caution * np.sqrt(p * (1 - p) / trained), 0, 1) * runs
    q = np.clip(q + 0.5 / trained + caution * np.sqrt(q * (1 - q) / trained), 0, 1) * runs
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(p > 0, betaincinv(np.maximum(p, 1e-9), runs - p + 1, alpha / 2), 0.0)
        high = np.where(q < runs, betaincinv(q + 1, np.maximum(runs - q, 1e-9), 1 - alpha / 2), 1.0)
        bound: Floats = np.where(low > delta, np.log(np.maximum(low - delta, 1e-300) / high), -np.inf)
    return bound


def predicted_bound(
    predicted: Prediction, *, runs: int, delta: float, alpha: float, caution: Floats | float = 0.0
) -> Floats:
    """Score bound on ε of events from their predicted shares in fresh samples, shape (k,); NaN without a prediction.

    Args:
        predicted: its `left` is the dataset where the events are more likely.
        runs, delta, alpha: as for `expected_bound`.
        caution: standard errors by which the log-ratio is discounted, one number or shape (k,).
    """
    known = ~np.isnan(predicted.error)
    p, q = np.where(known, predicted.left, 0.5), np.where(known, predicted.right, 0.5)
    # the pooled share is known much better than its split between the datasets
    half = np.exp(-caution * np.where(known, predicted.error, 0.0) / 2)
    bound = score_bound(np.clip(p * half, 0, 1), np.clip(q / half, 0, 1), runs=runs, delta=delta, alpha=alpha)
    return np.where(known, bound, np.nan)


def score_bound(p: Floats, q: Floats, *, runs: int, delta: float, alpha: float) -> Floats:
    """The bound if `runs` samples per dataset repeat these shares, by a normal approximation of the score test.

    The final bound uses the score test too. Clopper–Pearson is much lower for rare events (37 hits against 5 at
    α = 0.04: ε ≥ 0.76, by the score test 1.2), so it would choose more common ones. That is right for an event known
    only by its own few hits (`expected_bound`). Bounds below 0 are returned as −∞.
    """
    z = float(ndtri(1 - alpha))
    above = np.maximum(p - delta, 0.0)
    low, high = np.zeros(len(p)), np.full(len(p), math.log(runs) + 1.0)

    def rejected(epsilon: Floats) -> BoolArray:
        ratio = np.exp(epsilon)
        # the maximum-likelihood q on p = ratio · q + δ: exact for δ = 0 (Farrington and Manning, Statistics in Medicine
        # 1990)
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
