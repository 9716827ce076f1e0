"""Exact privacy profiles of two finite output distributions (laws).

A law is a one-dimensional float array of probabilities; ``p[i]`` and ``q[i]`` belong to the same outcome. Each
array must sum to 1 within 1e-9. The profile of p over q is the hockey-stick divergence as a function of
epsilon,

    delta(epsilon) = max over events E of p(E) - exp(epsilon) q(E) = sum_i max(0, p_i - exp(epsilon) q_i)

(G. Barthe and F. Olmedo, "Beyond differential privacy", ICALP 2013; B. Balle, G. Barthe and M. Gaboardi,
"Privacy amplification by subsampling", NeurIPS 2018). A pair is (epsilon, delta)-close when the
profile is at most delta at epsilon in both directions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.stats.arrays import BoolArray, FloatArray

__all__ = [
    "epsilon_at",
    "epsilon_at_symmetric",
    "hockey_stick",
    "optimal_event",
    "profile",
    "profile_symmetric",
    "total_variation",
]

Floats = FloatArray

_SUM_TOLERANCE = 1e-9
_CELLS_AT_ONCE = 1 << 20


def hockey_stick(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """delta(epsilon) of p over q: the sum of max(0, p_i - exp(epsilon) q_i).

    ``epsilon`` may be any real, or infinity (the result is then the mass of p outside the support of q).

    Raises ValueError if p or q is not a law, if their shapes differ, or if epsilon is nan.
    """
    p, q = _laws(p, q)
    return math.fsum(_excess(p, q, epsilon))


def profile(p: ArrayLike, q: ArrayLike, epsilons: ArrayLike) -> Floats:
    """delta(epsilon) of p over q for an array of epsilons, in the shape of that array.

    Raises ValueError as `hockey_stick` does.
    """
    p, q = _laws(p, q)
    grid = np.asarray(epsilons, dtype=np.float64)
    if np.isnan(grid).any():
        raise ValueError("epsilons must not contain nan")
    flat = grid.ravel()
    result = np.empty(flat.size)
    rows = max(1, _CELLS_AT_ONCE // p.size)
    for start in range(0, flat.size, rows):
        # The terms are nonnegative, so a plain (pairwise) sum keeps its relative precision. Prefix sums of
        # p - exp(epsilon) q over sorted ratios would be faster, but lose a delta of 1e-12.
        result[start : start + rows] = _excess(p, q, flat[start : start + rows, None]).sum(axis=1)
    return result.reshape(grid.shape)


def profile_symmetric(p: ArrayLike, q: ArrayLike, epsilons: ArrayLike) -> Floats:
    """The larger of the profiles of p over q and of q over p, in the shape of ``epsilons``.

    Raises ValueError as `hockey_stick` does.
    """
    return np.maximum(profile(p, q, epsilons), profile(q, p, epsilons))


def epsilon_at(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """The smallest epsilon >= 0 at which the profile of p over q is at most delta; inf if there is none.

    Exact up to the rounding of the inputs, without iteration. By the Neyman-Pearson lemma the best events are
    E_k, the k outcomes of largest likelihood ratio. So exp(epsilon) is admissible if and only if
    p(E_k) - exp(epsilon) q(E_k) <= delta for every k, and the smallest one is the largest of the numbers
    (p(E_k) - delta) / q(E_k).

    Raises ValueError if p or q is not a law, if their shapes differ, or if delta is not in [0, 1].
    """
    p, q = _laws(p, q)
    if not 0 <= delta <= 1:
        raise ValueError(f"delta must lie between 0 and 1, not be {delta!r}")
    impossible = q == 0
    if math.fsum(p[impossible]) > delta:
        return math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(impossible, np.inf, np.log(p) - np.log(q))
    order = np.argsort(-ratio, kind="stable")
    p, q = p[order], q[order]
    # Outcomes impossible under q are in every E_k; without an outcome of q after them they give no bound.
    first = int(np.count_nonzero(impossible))
    p_event, q_event = np.cumsum(p)[first:], np.cumsum(q)[first:]
    with np.errstate(over="ignore"):  # ±∞ is the right quotient if q is nearly 0
        k = first + int(np.argmax((p_event - delta) / q_event)) + 1
    # The prefix sums above only choose the event. Its surplus is summed again, correctly rounded and as the
    # distance of exp(epsilon) from 1, so that an epsilon near 0 stays accurate.
    mass = math.fsum(q[:k])
    surplus = math.fsum(np.concatenate((p[:k], -q[:k], [-delta]))) / mass
    return math.log1p(surplus) if surplus > 0 else 0.0


def epsilon_at_symmetric(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """The larger of `epsilon_at` of p over q and of q over p: the exact epsilon of the pair at delta.

    Raises ValueError as `epsilon_at` does.
    """
    return max(epsilon_at(p, q, delta), epsilon_at(q, p, delta))


def optimal_event(p: ArrayLike, q: ArrayLike, epsilon: float) -> BoolArray:
    """Mask of the outcomes with p_i > exp(epsilon) q_i, an event that attains `hockey_stick`; shape of p.

    Raises ValueError as `hockey_stick` does.
    """
    p, q = _laws(p, q)
    return _excess(p, q, epsilon) > 0


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """The total variation distance of p and q, half the sum of |p_i - q_i|.

    Raises ValueError if p or q is not a law, or if their shapes differ.
    """
    p, q = _laws(p, q)
    return math.fsum(np.abs(p - q)) / 2


def _excess(p: Floats, q: Floats, epsilon: float | Floats) -> Floats:
    if np.isnan(epsilon).any():
        raise ValueError("epsilon must not be nan")
    # exp may overflow to inf: that is the right factor unless q_i is 0, where inf * 0 must be 0.
    with np.errstate(over="ignore", invalid="ignore"):
        charged = np.where(q > 0, np.exp(epsilon) * q, 0.0)
    excess: Floats = np.maximum(p - charged, 0.0)
    return excess


def _laws(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError(
            "two laws must be one-dimensional arrays of equal length, "
            f"not of shapes {first.shape} and {second.shape}"
        )
    for law in (first, second):
        # Written so that a nan fails it.
        if not (np.all(law >= 0) and abs(math.fsum(law) - 1) <= _SUM_TOLERANCE):
            raise ValueError(
                "a law must contain non-negative probabilities that sum to 1 within 1e-9; "
                f"this one sums to {math.fsum(law)!r} and its least entry is {law.min()!r}"
            )
    return first, second
