"""The numbers behind the figures of a pair as a test and as a privacy loss: trade-off curve and loss histogram."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from dpaudit.evidence.density import Exact, Losses
from dpaudit.evidence.exact import LEFT_RIGHT, RIGHT_LEFT, PairLaws
from dpaudit.evidence.figures import drawn_curve
from dpaudit.language import Claim
from dpaudit.results.figures import CertifiedTest, LossPlot, TradeoffPlot, rounded
from dpaudit.results.model import SampledEvidence
from dpaudit.stats import clopper_pearson, hockey_stick, tradeoff
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.noise_losses import NoiseLosses

Floats = FloatArray

MOST_POINTS = 64
"""Of a trade-off curve."""
_FINE = 4e-4
"""How far, as a part of the axis, a curve may run from its kept points: a ninth of a pixel."""
_CELLS = 1 << 13
"""Of many vertices that share such a part of both axes one is used."""
BINS = 48
_NEAR = 1e-9
"""Relative above 1: a loss this near to an end is on it; laws are sums of doubles."""
_FLAT = 1e-6
"""Losses within so much of 0, relative above 1, are none to a figure."""
_SEEN = 1e-12
"""Rarer losses do not stretch the axis."""


def tradeoff_plot(claim: Claim, comparison: Exact | None, sampled: SampledEvidence | None) -> TradeoffPlot:
    """Type II against type I error: what the claim leaves, the pair's exact curve, and the event that was counted."""
    vertices = None
    if comparison is not None:
        with contextlib.suppress(OverflowError):
            vertices = _thinned(_vertices(comparison))
    epsilons, deltas, kinks = _claimed(claim)
    # where both curves bend, they are said exactly
    bends = kinks if vertices is None else np.concatenate([vertices[:, 0], kinks])
    grid = np.unique(rounded(bends))
    exact = None if vertices is None else rounded(np.interp(grid, vertices[:, 0], vertices[:, 1]))
    return TradeoffPlot(
        grid.tolist(), rounded(tradeoff.of_claim(epsilons, deltas, grid)), exact,
        None if sampled is None else certified_test(sampled),
    )


def certified_test(sampled: SampledEvidence) -> CertifiedTest:
    """The limits of both errors of the counted event."""
    p_low, p_high = clopper_pearson.interval(sampled.x, sampled.n, alpha=sampled.alpha)
    q_low, q_high = clopper_pearson.interval(sampled.y, sampled.m, alpha=sampled.alpha)
    return CertifiedTest(sampled.alpha, q_low, q_high, 1 - p_high, 1 - p_low)


def loss_plot(claim: Claim, comparison: Exact | None) -> LossPlot | None:
    """The distribution of the privacy loss; None without laws, or where there are too many losses for a figure.

    Counts give none: an outcome that was seen on one dataset alone would have an infinite loss, and one that was seen
    twice here and once there a loss of ln 2, whatever the laws are.
    """
    if comparison is None:
        return None
    if isinstance(comparison, Losses):
        try:
            return _by_density(claim, comparison)
        except OverflowError:
            return None
    return _from_laws(claim, comparison)


def _vertices(comparison: Exact) -> Floats:
    if isinstance(comparison, PairLaws):
        p, q = comparison.left, comparison.right
        one = _few(tradeoff.curve(p, q))
        return tradeoff.lower_hull(np.concatenate([one, one[:, ::-1]]))
    losses = NoiseLosses(comparison.moves)
    low, high = losses.range
    t = np.unique(np.concatenate([np.linspace(low, high, 1025), _sparse(losses.atoms)]))
    # rejecting where the loss is above t, or at least t: α = Pr[L < −t], or Pr[L ≤ −t], both directions being alike
    vertices = [np.column_stack([losses.below(-t, at=not at), losses.below(t, at=at)]) for at in (True, False)]
    return tradeoff.lower_hull(np.concatenate([*vertices, np.array([[0.0, 1.0], [1.0, 0.0]])]))


def _few(points: Floats) -> Floats:
    """The points of a convex curve, of very many some that are as good for a figure."""
    if len(points) <= _CELLS:
        return points
    cells = np.round(points * _CELLS).astype(np.int64)
    _, first = np.unique(cells[:, 0] * (_CELLS + 1) + cells[:, 1], return_index=True)
    # where the curve leaves the axis and where it meets the other one stays exact
    ends = [int(np.flatnonzero(points[:, 0] == 0)[-1]), int(np.flatnonzero(points[:, 1] == 0)[0])]
    kept: Floats = points[np.unique(np.concatenate([first, ends]))]
    return kept


def _sparse(values: Floats) -> Floats:
    return values if len(values) <= 2048 else values[:: len(values) // 1024]


def _thinned(points: Floats) -> Floats:
    """Douglas and Peucker's, as coarse as it takes for `MOST_POINTS`."""
    tolerance = _FINE
    while True:
        kept, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
        while stack:
            first, last = stack.pop()
            if last - first < 2:
                continue
            (a, b), (c, d) = points[first], points[last]
            inner = points[first + 1 : last]
            length = math.hypot(c - a, d - b)
            away = np.abs((c - a) * (inner[:, 1] - b) - (d - b) * (inner[:, 0] - a)) / max(length, 1e-300)
            at = int(np.argmax(away))
            if away[at] > tolerance:
                kept.add(first + 1 + at)
                stack += [(first, first + 1 + at), (first + 1 + at, last)]
        if len(kept) <= MOST_POINTS:
            return points[sorted(kept)]
        tolerance *= 1.5


def _claimed(claim: Claim) -> tuple[Floats, Floats, Floats]:
    """ε and δ whose curves make up the claim's, and the α at which that bends."""
    curve = drawn_curve(claim)
    if curve is None:
        epsilon, delta = min(claim.epsilon, 700.0), claim.delta
        kink = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
        return np.array([claim.epsilon]), np.array([delta]), np.array([0.0, kink, 1 - delta, 1.0])
    epsilons, deltas = (np.array(part) for part in zip(*curve.points, strict=True))
    epsilons = np.minimum(epsilons, 700.0)
    alpha = np.unique(np.concatenate([np.linspace(0, 1, 400), np.geomspace(1e-6, 1, 200)]))
    points = np.column_stack([alpha, tradeoff.of_claim(epsilons, deltas, alpha)])
    return epsilons, deltas, _thinned(points)[:, 0]


def _from_laws(claim: Claim, comparison: PairLaws) -> LossPlot:
    losses: list[Floats] = []
    masses: list[Floats] = []
    infinite: list[float] = []
    for direction in (LEFT_RIGHT, RIGHT_LEFT):
        p, q = comparison.oriented(direction)
        both = (p > 0) & (q > 0)
        losses.append(np.log(p[both]) - np.log(q[both]))
        masses.append(p[both])
        infinite.append(math.fsum(p[(p > 0) & (q == 0)]))
    edges = _edges(claim.epsilon, [one[mass >= _SEEN] for one, mass in zip(losses, masses, strict=True)])
    beyond: list[float] = []
    shares: list[Floats] = []
    for one, mass, rest in zip(losses, masses, infinite, strict=True):
        beyond.append(math.fsum(mass[one > _past(claim.epsilon)]) + rest)
        # (above, above + width]: what is on an end belongs to the bin below it
        at = np.searchsorted(edges + _NEAR * np.maximum(1.0, np.abs(edges)), one, side="left") - 1
        shares.append(np.bincount(np.clip(at, 0, len(edges) - 2), mass, len(edges) - 1).astype(np.float64))
    exact = [hockey_stick.hockey_stick(*comparison.oriented(d), claim.epsilon) for d in (LEFT_RIGHT, RIGHT_LEFT)]
    # δ is never more, but for the rounding of a loss of ε
    deltas = [min(pair) for pair in zip(exact, beyond, strict=True)]
    return _loss_plot("exact", claim, edges, shares, infinite, beyond, deltas)


def _by_density(claim: Claim, comparison: Losses) -> LossPlot:
    losses = NoiseLosses(comparison.moves)
    edges = _edges(claim.epsilon, [np.array(losses.range)])
    below = losses.below(edges + _NEAR * np.maximum(1.0, np.abs(edges)))
    below[0], below[-1] = 0.0, 1.0
    share = np.diff(below)
    beyond = max(0.0, 1 - float(losses.below(np.array([_past(claim.epsilon)]))[0]))
    enclosure = comparison.noise.delta(claim.epsilon)
    delta = (enclosure.low + enclosure.high) / 2
    return _loss_plot("density", claim, edges, [share] * 2, [0.0] * 2, [max(beyond, delta)] * 2, [delta] * 2)


def _past(epsilon: float) -> float:
    """A loss that is more than ε, and not for the rounding of doubles alone."""
    return epsilon + _NEAR * max(1.0, epsilon)


def _edges(epsilon: float, losses: list[Floats]) -> Floats:
    """Ends of bins of one width that hold all losses; the claimed ε is one of them, if it is not far outside."""
    points = np.concatenate([*losses, [0.0]])
    low, high = float(points.min()), float(points.max())
    if not high - low > _FLAT * max(1.0, high):
        reach = max(min(epsilon, 1.0), 0.01)
        low, high = -reach, reach
    width = (high - low) / (BINS - 2)
    start = epsilon if low - width < epsilon < high + (high - low) else low - width / 2
    first, last = (math.ceil((end - start - _NEAR * max(1.0, abs(end))) / width) for end in (low, high))
    return start + width * np.arange(first - 1, last + 1, dtype=np.float64)


def _loss_plot(
    kind: str, claim: Claim, edges: Floats, shares: list[Floats], infinite: list[float], beyond: list[float],
    deltas: list[float],
) -> LossPlot:
    return LossPlot(
        kind=kind,
        above=rounded(edges[:-1]),
        width=rounded(np.diff(edges[:2]))[0],
        left=rounded(shares[0]),
        right=rounded(shares[1]),
        infinite_left=infinite[0],
        infinite_right=infinite[1],
        epsilon=claim.epsilon,
        beyond_left=beyond[0],
        beyond_right=beyond[1],
        delta_left=deltas[0],
        delta_right=deltas[1],
    )
