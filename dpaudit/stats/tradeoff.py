"""Trade-off curves: the smallest type II error at every type I error.

A test of "the output has distribution q" against "it has distribution p" that rejects q on an event E has the errors

    α = q(E)   and   β = 1 − p(E).

The trade-off curve is the least β at every α; it is convex and falls from (0, 1 − the mass of p outside the support of
q) to (1, 0). By the Neyman-Pearson lemma its vertices are the events of largest likelihood ratio. A pair is
(ε, δ)-close if and only if no test in either direction lies below
f(α) = max(0, 1 − δ − e^ε α, e^−ε (1 − δ − α))  (Kairouz, Oh and
Viswanath, The Composition Theorem for Differential Privacy, 2015, Theorem 2.1; Dong, Roth and Su, Gaussian Differential
Privacy, 2022, Propositions 2.5 and 2.12), and the curve determines the privacy profile:

    δ(ε) = max over the curve of 1 − β − e^ε α.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray

__all__ = ["curve", "delta_at", "lower_hull", "of_claim", "symmetric"]

Floats = FloatArray


def curve(p: ArrayLike, q: ArrayLike) -> Floats:
    """Vertices (α, β) of the trade-off curve of rejecting q when p is true, shape (k, 2), α ascending.

    Args:
        p, q: two output distributions over the same outcomes, one-dimensional and of equal length.

    The first vertex is (0, 1), the test that never rejects, the last one (1, 0).
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    seen = (p > 0) | (q > 0)
    p, q = p[seen], q[seen]
    with np.errstate(divide="ignore"):
        order = np.argsort(np.log(q) - np.log(p), kind="stable")
    # sum each from the end where it is small
    alpha = np.concatenate([[0.0], np.cumsum(q[order])])
    beta = np.concatenate([np.cumsum(p[order][::-1])[::-1], [0.0]])
    return np.column_stack([np.minimum(alpha, 1.0), np.minimum(beta, 1.0)])


def symmetric(p: ArrayLike, q: ArrayLike) -> Floats:
    """Vertices of the joint curve of tests in both directions: the lower convex hull of `curve` and its mirror image.

    Shape (k, 2), from α = 0 to α = 1. The curve is symmetric in the diagonal.
    """
    one = curve(p, q)
    return lower_hull(np.concatenate([one, one[:, ::-1]]))


def lower_hull(points: Floats) -> Floats:
    """The vertices of the lower convex hull of points (x, y), shape (n, 2); x ascending."""
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    points = points[np.concatenate([[True], np.diff(points[:, 0]) > 0])]
    kept: list[tuple[float, float]] = []
    for x, y in points.tolist():
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2:]
            if (c - a) * (y - b) > (d - b) * (x - a):
                break
            kept.pop()
        kept.append((x, y))
    return np.array(kept)


def delta_at(vertices: Floats, epsilons: ArrayLike) -> Floats:
    """δ of a trade-off curve at an array of ε ≥ 0: the largest 1 − β − e^ε α, but at least 0; shape as given."""
    grid = np.asarray(epsilons, dtype=np.float64)
    factor = np.exp(np.minimum(grid, 700.0))[..., None]
    deltas: Floats = np.maximum(0.0, (1 - vertices[:, 1] - factor * vertices[:, 0]).max(axis=-1))
    return deltas


def of_claim(epsilons: ArrayLike, deltas: ArrayLike, alpha: ArrayLike) -> Floats:
    """The least β that a claim of several (ε, δ), ε ≥ 0, allows at errors α: the largest of their f; shape as `alpha`.
    """
    at = np.asarray(alpha, dtype=np.float64)[..., None]
    epsilon = np.minimum(np.asarray(epsilons, dtype=np.float64), 700.0)
    rest = 1 - np.asarray(deltas, dtype=np.float64)
    lines = np.maximum(rest - np.exp(epsilon) * at, np.exp(-epsilon) * (rest - at))
    betas: Floats = np.maximum(0.0, lines.max(axis=-1))
    return betas
