"""The test of Kruskal and Wallis: whether several groups of numbers come from one distribution.

`scipy.stats.kruskal` has the same statistic to the last digit; importing it takes longer than many an audit.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from dpaudit.stats.arrays import FloatArray

__all__ = ["statistic", "tails"]


def statistic(groups: FloatArray) -> float:
    """H, corrected for ties.

    Args:
        groups: shape (groups, numbers of each), at least two of each; not all numbers are equal, and none is NaN.

    Source: Kruskal and Wallis 1952, "Use of ranks in one-criterion variance analysis", JASA 47(260), equation (1.2).
    """
    among, each = groups.shape
    total = among * each
    _, place, ties = np.unique(groups.ravel(), return_inverse=True, return_counts=True)
    # equal numbers share the mean of their ranks
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place].reshape(groups.shape)
    times = ties.astype(np.float64)
    untied = 1 - np.sum(times**3 - times) / (total**3 - total)
    between = sum((ranks.sum(axis=1) ** 2 / each).tolist())
    return float((12.0 / (total * (total + 1)) * between - 3 * (total + 1)) / untied)


def tails(groups: FloatArray) -> tuple[float, float]:
    """The probabilities of an H that is at most, and at least, that of the groups, by the χ² approximation.

    Args:
        groups: as of `statistic`.
    """
    h = max(0.0, statistic(groups))
    return float(special.chdtr(len(groups) - 1, h)), float(special.chdtrc(len(groups) - 1, h))
