"""Learned scores: logistic regression, boosted trees, and tables of likelihood ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from dpaudit.adversary.events.blocks import Ints
from dpaudit.adversary.events.optimistic_bound import log_ratios
from dpaudit.outputs.columns import Classifier, Encoder, Floats, Linear, Table, one_thread

LINEAR_ROWS = 100_000
"""With more rows than this (of both datasets together) logistic weights hardly change."""
MANY = 50_000
"""From this many rows on, trees learn with a small step size."""
WIDE = 16
"""From this many columns on, each split of a tree considers a quarter of them."""
REPEATED = 2
"""Rows are repeated as often as they were seen, instead of weighted, if they are at most so many times as many."""
EVEN = 0.1
"""Weights count as equal if they differ by less than this fraction of the mean weight of a row."""
LINEAR_DECIMALS = 9
"""Decimals of a logistic weight on a standardised column: fewer than a double has, but more than the data determine."""
RIDGE = 10.0
"""Prior precision of a logistic weight on a feature of unit variance."""


def linear(encoder: Encoder, js: tuple[int, ...], columns: Floats, times: Ints) -> Linear:
    """Ridge logistic regression by Newton's method, on standardised columns; log-odds for equal sample sizes.

    Args:
        encoder: the encoder that made the columns.
        js: the columns to use.
        columns: all columns of the encoder, shape (r, columns).
        times: the count of each row, shape (2, r).
    """
    used = np.flatnonzero(times.sum(axis=0) > 0)
    # rows are grouped by dataset, so a stride thins both equally
    used = used[:: max(1, len(used) // LINEAR_ROWS)]
    rows, counts = columns[used][:, js], times[:, used].astype(np.float64)
    keep = np.isfinite(rows).all(axis=1)
    rows, counts = rows[keep], counts[:, keep]
    totals = counts.sum(axis=1)
    if len(rows) == 0 or min(totals) == 0:
        return Linear(encoder, js, (0.0,) * len(js), 0.0)
    total = counts.sum()
    counts = counts * (total / 2 / totals)[:, None]
    weights = counts.sum(axis=0)
    mean = weights @ rows / total
    spread = np.sqrt(np.maximum(weights @ np.square(rows - mean) / total, 0.0))
    # a column that does not vary has weight 0
    spread[~(spread > 1e-12 * (1 + np.abs(mean)))] = np.inf
    z = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    penalty = np.full(z.shape[1], RIDGE)
    penalty[-1] = 1e-9
    beta = np.zeros(z.shape[1])
    for _ in range(12):
        chance = expit(z @ beta)
        slope = z.T @ (counts[0] - weights * chance) - penalty * beta
        curvature = (z * (weights * np.maximum(chance * (1 - chance), 1e-6))[:, None]).T @ z + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        beta += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-6:
            break
    # matrix products round differently on different processors; the event must not depend on that
    beta = np.round(beta, LINEAR_DECIMALS)
    slopes = np.array([float(f"{slope:.{LINEAR_DECIMALS}g}") for slope in beta[:-1] / spread])
    return Linear(encoder, js, tuple(slopes.tolist()), round(float(beta[-1] - slopes @ mean), LINEAR_DECIMALS))


def mean_linear(members: Sequence[Linear]) -> Linear:
    """The mean of several linear scores on the same columns."""
    weights = np.mean([member.weights for member in members], axis=0)
    bias = float(np.mean([member.bias for member in members]))
    return Linear(members[0].encoder, members[0].columns, tuple(weights.tolist()), bias)


def trees(columns: Floats, times: Ints) -> Classifier | None:
    """Gradient-boosted trees, high where D is more likely; None if a dataset has no samples.

    Args:
        columns: the columns to use, shape (r, columns).
        times: the count of each row, shape (2, r).
    """
    totals = times.sum(axis=1)
    if min(totals) == 0:
        return None
    rows = np.vstack([columns[times[which] > 0] for which in (0, 1)])
    counts = [times[which][times[which] > 0] for which in (0, 1)]
    if totals.sum() <= REPEATED * len(rows):
        # binning weighted rows takes ten times as long
        rows = np.repeat(rows, np.concatenate(counts), axis=0)
        counts = [np.ones(total, dtype=np.int64) for total in totals.tolist()]
    weights = np.concatenate([counts[which] * (totals.sum() / 2 / totals[which]) for which in (0, 1)])
    labels = np.repeat([1, 0], [len(counts[0]), len(counts[1])])
    # with many rows the violation to detect is small, often in events of a few in a thousand: a sum of shallow trees
    # with small steps, small leaves and few columns per split has the smallest error there; 100 trees
    # with steps of 0.03, or 60 with steps of 0.1, found nothing more
    many = len(rows) >= MANY
    shape: dict[str, float] = (
        {"max_iter": 40, "learning_rate": 0.075, "max_leaf_nodes": 4}
        if many
        else {"max_iter": 25, "learning_rate": 0.24, "max_leaf_nodes": 8}
    )
    # the import takes a second, and most audits never need it
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_bins=63, min_samples_leaf=max(20, len(rows) // (2000 if many else 200)),
        max_features=0.25 if many and columns.shape[1] > WIDE else 1.0, l2_regularization=1.0, early_stopping=False,
        random_state=0, **shape,
    )
    # unequal sample sizes shift all scores equally, so thresholds adapt
    even = np.ptp(weights) < EVEN * weights.mean()
    with one_thread():  # again: before the first fit, the caller's limit did not cover scikit-learn's threads
        fitted: Classifier = model.fit(rows, labels, sample_weight=None if even else weights)
    return fitted


def table(encoder: Encoder, j: int, columns: Floats, times: Ints) -> Table:
    """The smoothed log-likelihood ratio of every value of column j.

    Args:
        columns: shape (r, columns).
        times: the count of each row, shape (2, r).
    """
    values, at = np.unique(columns[:, j], return_inverse=True)
    hits = np.array([np.bincount(at, weights=times[which], minlength=len(values)) for which in (0, 1)])
    left, right = times.sum(axis=1).tolist()
    points = log_ratios(hits, (left, right))
    return Table(encoder, j, tuple(values.tolist()), tuple(points.tolist()))
