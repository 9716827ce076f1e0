"""Witness search: learn, on runs that never certify, the event that will show most.

Two disjoint sets of training runs: the first orders the outputs by likelihood ratio and proposes events, the
second, fresh, chooses among them the one whose certified bound is expected to be highest.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from sklearn.linear_model import LogisticRegression

from dpaudit.adversary.event import Event, Interval, score
from dpaudit.interpret import Outputs

BINS = 64
"""Quantile bins of a real output when it is ordered by likelihood ratio."""
THRESHOLDS = 128
"""Half-lines tried in each direction."""
FITTED = 20_000
"""Runs a side on which the direction for vectors is fitted."""


@dataclass(frozen=True)
class Witness:
    """An event, the direction in which it is likelier, and what it is expected to certify."""

    event: Event
    reverse: bool
    """False: likelier on the left dataset; True: on the right one."""
    expected: float
    """Lower bound on ε that certification is expected to give; 0 when it would show nothing."""
    q: float
    """Share of the training runs on the less likely side that fell in the event."""


def search(
    rank: tuple[Outputs, Outputs], select: tuple[Outputs, Outputs], *, runs: int, delta: float, alpha: float
) -> Witness:
    """The best event for telling left from right.

    Args:
        rank: outputs on the left and right dataset from which events are proposed.
        select: fresh outputs on both, which choose among them.
        runs: certifying runs a side that are planned.
        delta: the claim's δ.
        alpha: error of the certifying test.
    """
    candidates = propose(*rank)
    left, right = (np.array([event.count(side) for event in candidates], dtype=np.float64) for side in select)
    n, m = select[0].runs, select[1].runs
    best: Witness | None = None
    best_key = (-np.inf, -np.inf)
    for reverse, (x, a), (y, b) in ((False, (left, n), (right, m)), (True, (right, m), (left, n))):
        bounds = expected_bound(x / a, y / b, trained=min(a, b), runs=runs, delta=delta, alpha=alpha)
        # without a positive bound anywhere, take the most significant difference
        pooled = (x + y + 1) / (a + b + 2)
        z = (x / a - y / b) / np.sqrt(pooled * (1 - pooled) * (1 / a + 1 / b))
        i = int(np.lexsort((z, bounds))[-1])
        if (bounds[i], z[i]) > best_key:
            best_key = (float(bounds[i]), float(z[i]))
            best = Witness(candidates[i], reverse, float(max(0.0, bounds[i])), float(y[i] / b))
    assert best is not None
    return best


def expected_bound(
    p: NDArray[np.float64], q: NDArray[np.float64], *, trained: int, runs: int, delta: float, alpha: float
) -> NDArray[np.float64]:
    """Clopper–Pearson bound on ε that `runs` fresh runs a side would give if they repeated the training shares.

    Shares are moved against the bound by half a run and one standard error of training: an event never seen on one
    side is not taken for impossible there, and the best of many candidates not for as good as it looks.
    """
    p = np.clip(p - 0.5 / trained - np.sqrt(p * (1 - p) / trained), 0, 1) * runs
    q = np.clip(q + 0.5 / trained + np.sqrt(q * (1 - q) / trained), 0, 1) * runs
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(p > 0, betaincinv(np.maximum(p, 1e-9), runs - p + 1, alpha / 2), 0.0)
        high = np.where(q < runs, betaincinv(q + 1, np.maximum(runs - q, 1e-9), 1 - alpha / 2), 1.0)
        bound: NDArray[np.float64] = np.where(low > delta, np.log(np.maximum(low - delta, 1e-300) / high), -np.inf)
    return bound


def propose(left: Outputs, right: Outputs) -> list[Event]:
    """Events worth trying, from one set of training runs; at least one."""
    events = _prefixes(left, right) + _half_lines(left, right)
    if left.reals.ndim == 2 or right.reals.ndim == 2:
        for weights in _directions(left.reals, right.reals):
            events += _real_events(left, right, weights)
    elif len(left.reals) or len(right.reals):
        events += _real_events(left, right, None)
    return list(dict.fromkeys(events)) or [Event()]


def _prefixes(left: Outputs, right: Outputs) -> list[Event]:
    """Atoms in order of smoothed likelihood ratio: every prefix from either end (at most some 300)."""
    atoms = list(dict.fromkeys([*left.counts, *right.counts]))
    if not atoms:
        return []
    x = np.array([left.counts.get(a, 0) for a in atoms], dtype=np.float64)
    y = np.array([right.counts.get(a, 0) for a in atoms], dtype=np.float64)
    ratio = np.log((x + 0.5) / (left.runs + 1)) - np.log((y + 0.5) / (right.runs + 1))
    # among equal ratios the frequent atom first: it makes the better event
    order = np.lexsort((-(x + y), -ratio))
    lengths = np.unique(np.round(np.geomspace(1, len(atoms), min(len(atoms), 150))).astype(int))
    events = []
    for sequence in (order, order[::-1]):
        events += [Event(frozenset(atoms[i] for i in sequence[:length].tolist())) for length in lengths.tolist()]
    return events


def _half_lines(left: Outputs, right: Outputs) -> list[Event]:
    """Half-lines over numbers that came from discrete draws."""
    numbers = sorted(
        {a for side in (left, right) for a in side.counts if isinstance(a, int | float) and not isinstance(a, bool)}
    )
    if len(numbers) < 3 or max(abs(numbers[0]), abs(numbers[-1])) > sys.float_info.max:
        return []
    cuts = np.unique(np.linspace(0, len(numbers) - 2, min(len(numbers) - 1, THRESHOLDS)).astype(int)).tolist()
    events = []
    for cut in cuts:
        t = float(numbers[cut])
        events.append(Event(frozenset(numbers[: cut + 1]), ((-np.inf, t),), None, ("≤", t)))
        events.append(Event(frozenset(numbers[cut + 1 :]), ((t, np.inf),), None, (">", t)))
    return events


def _real_events(left: Outputs, right: Outputs, weights: tuple[float, ...] | None) -> list[Event]:
    """Half-lines and unions of quantile bins by likelihood ratio, on the score of real outputs."""
    a, b = (score(side.reals, weights) for side in (left, right))
    pooled = np.concatenate([a, b])
    cuts = np.unique(np.quantile(pooled, np.linspace(0, 1, THRESHOLDS + 2)[1:-1]))
    # far tails show the most for pure claims
    tails = np.unique(np.quantile(pooled, [0.0005, 0.001, 0.0025, 0.005, 0.995, 0.9975, 0.999, 0.9995]))
    events = [Event(frozenset(), ((-np.inf, t),), weights) for t in (*cuts.tolist(), *tails.tolist())]
    events += [Event(frozenset(), ((t, np.inf),), weights) for t in (*cuts.tolist(), *tails.tolist())]
    edges = np.concatenate([[-np.inf], np.unique(np.quantile(pooled, np.linspace(0, 1, BINS + 1)[1:-1])), [np.inf]])
    x = np.histogram(a, edges)[0] if len(a) else np.zeros(len(edges) - 1)
    y = np.histogram(b, edges)[0] if len(b) else np.zeros(len(edges) - 1)
    ratio = np.log((x + 0.5) / (left.runs + 1)) - np.log((y + 0.5) / (right.runs + 1))
    order = np.argsort(-ratio, kind="stable")
    for sequence in (order, order[::-1]):
        for length in range(1, len(order) + 1):
            events.append(Event(frozenset(), _union(edges, sequence[:length]), weights))
    return events


def _union(edges: NDArray[np.float64], chosen: NDArray[Any]) -> tuple[Interval, ...]:
    """Bins joined into disjoint ascending intervals."""
    joined: list[Interval] = []
    for i in sorted(chosen.tolist()):
        low, high = float(edges[i]), float(edges[i + 1])
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def _directions(left: NDArray[np.float64], right: NDArray[np.float64]) -> list[tuple[float, ...]]:
    """Axes for real vectors: the logistic regression's, and the coordinate whose mean moves most."""
    if not len(left) or not len(right) or left.ndim != right.ndim:
        return [tuple(1.0 for _ in range((left if left.ndim == 2 else right).shape[1]))]
    a, b = left[:FITTED], right[:FITTED]
    spread = np.vstack([a, b]).std(axis=0)
    spread[spread == 0] = 1.0
    fit = LogisticRegression(max_iter=200)
    fit.fit(np.vstack([a, b]) / spread, np.repeat([1, 0], [len(a), len(b)]))
    weights = fit.coef_[0] / spread
    size = np.abs(weights).max()
    coordinate = np.zeros(a.shape[1])
    coordinate[int(np.argmax(np.abs(a.mean(axis=0) - b.mean(axis=0)) / spread))] = 1.0
    found = [tuple(float(f"{w:.6g}") for w in weights / size)] if size > 0 else []
    return [*found, tuple(coordinate.tolist())]
