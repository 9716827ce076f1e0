"""Scores that are learned: logistic regression, boosted trees, and tables of likelihood ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from dpaudit.adversary.events.blocks import Ints
from dpaudit.adversary.events.optimistic_bound import log_ratios
from dpaudit.outputs.columns import Encoder, Floats, Linear, Table, one_thread

LINEAR_ROWS = 100_000
"""Rows, both sides together, beyond which logistic weights hardly change."""
MANY = 50_000
"""Rows from which trees are grown slowly."""
WIDE = 16
"""Columns from which each split of a tree looks at a quarter of them."""
EVEN = 0.1
"""Of the mean weight of a row, how far weights may lie apart to be taken for equal."""
LINEAR_DECIMALS = 9
"""Of a logistic weight on a standardised column: far from the last ones, and more than sampling knows."""
RIDGE = 10.0
"""Prior precision of a logistic weight on a feature of unit variance."""


def linear(encoder: Encoder, js: tuple[int, ...], columns: Floats, times: Ints) -> Linear:
    """A ridge logistic regression by Newton's method, on standardised columns; log-odds of equally many runs a side.

    Args:
        encoder: what made the columns.
        js: which of them are used.
        columns: all of the encoder's, shape (r, columns).
        times: how often each row came, shape (2, r).
    """
    used = np.flatnonzero(times.sum(axis=0) > 0)
    # the sides stand in blocks, so a stride thins both alike
    used = used[:: max(1, len(used) // LINEAR_ROWS)]
    rows, counts = columns[used][:, js], times[:, used].astype(np.float64)
    keep = np.isfinite(rows).all(axis=1)
    rows, counts = rows[keep], counts[:, keep]
    sides = counts.sum(axis=1)
    if len(rows) == 0 or min(sides) == 0:
        return Linear(encoder, js, (0.0,) * len(js), 0.0)
    total = counts.sum()
    counts = counts * (total / 2 / sides)[:, None]
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
    # products of matrices round differently on other processors, and an event must not depend on that
    beta = np.round(beta, LINEAR_DECIMALS)
    slopes = np.array([float(f"{slope:.{LINEAR_DECIMALS}g}") for slope in beta[:-1] / spread])
    return Linear(encoder, js, tuple(slopes.tolist()), round(float(beta[-1] - slopes @ mean), LINEAR_DECIMALS))


def mean_linear(members: Sequence[Linear]) -> Linear:
    """The mean of several scores on the same columns, which is linear too."""
    weights = np.mean([member.weights for member in members], axis=0)
    bias = float(np.mean([member.bias for member in members]))
    return Linear(members[0].encoder, members[0].columns, tuple(weights.tolist()), bias)


def trees(columns: Floats, times: Ints) -> Any | None:
    """Gradient-boosted trees, high where left is likelier; None where one side is empty.

    Args:
        columns: those that are used, shape (r, columns).
        times: how often each row came, shape (2, r).
    """
    sides = times.sum(axis=1)
    if min(sides) == 0:
        return None
    rows = np.vstack([columns[times[side] > 0] for side in (0, 1)])
    counts = [times[side][times[side] > 0].astype(np.float64) for side in (0, 1)]
    weights = np.concatenate([counts[side] * (sides.sum() / 2 / sides[side]) for side in (0, 1)])
    labels = np.repeat([1, 0], [len(counts[0]), len(counts[1])])
    # what takes many rows to see is a small violation, often in events of a few in a thousand: a sum of many shallow
    # trees with small steps and small leaves, each split from a few columns only, errs least about it
    many = len(rows) >= MANY
    shape: dict[str, Any] = (
        {"max_iter": 100, "learning_rate": 0.03, "max_leaf_nodes": 4}
        if many
        else {"max_iter": 60, "learning_rate": 0.1, "max_leaf_nodes": 8}
    )
    # it takes a second to import, and most audits end without it
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_bins=63, min_samples_leaf=max(20, len(rows) // (2000 if many else 200)),
        max_features=0.25 if many and columns.shape[1] > WIDE else 1.0, l2_regularization=1.0, early_stopping=False,
        random_state=0, **shape,
    )
    # bins of weighted rows take ten times as long, and of uneven sides all scores move alike: no threshold sees it
    even = np.ptp(weights) < EVEN * weights.mean()
    with one_thread():  # again: the caller's did not know scikit-learn's threads when this is its first fit
        return model.fit(rows, labels, sample_weight=None if even else weights)


def table(encoder: Encoder, j: int, columns: Floats, times: Ints) -> Table:
    """The smoothed log-likelihood ratio of every value of column j.

    Args:
        columns: shape (r, columns).
        times: how often each row came, shape (2, r).
    """
    values, at = np.unique(columns[:, j], return_inverse=True)
    hits = np.array([np.bincount(at, weights=times[side], minlength=len(values)) for side in (0, 1)])
    left, right = times.sum(axis=1).tolist()
    points = log_ratios(hits, (left, right))
    return Table(encoder, j, tuple(values.tolist()), tuple(points.tolist()))
