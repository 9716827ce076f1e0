"""What fresh runs will show of sets of atoms: log-ratios shrunk towards zero by what all atoms together show.

Of many atoms some seem to differ by chance, the rare ones most. Their log-ratios are taken for draws from a mixture of
normals around zero whose weights the counts choose, as in Stephens, False discovery rates: a new deal (Biostatistics
2017), here with the binomial likelihood. Posterior means need no further discount for having been picked.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp, softmax

from dpaudit.adversary.events.tail_extrapolation import Foreseen
from dpaudit.stats.arrays import FloatArray, IntArray

Floats = FloatArray
Ints = IntArray

CENTRES = np.concatenate([[0.0], np.geomspace(0.003, 12.0, 28)])
"""Of the normals in the mixture, to either side of zero alike: many mechanisms give many outputs the same loss, ε or
−ε. Each is half as wide as it is far from the next."""
WIDTHS = np.concatenate([[CENTRES[1] / 2], np.diff(CENTRES[1:]) / 2, [(CENTRES[-1] - CENTRES[-2]) / 2]])
NODES, REACH = 81, 6.0
"""Log-ratios at which an atom's posterior is held, evenly over so many of its standard errors to either side."""
ROUNDS = 60
"""Of expectation and maximisation."""


def shrunk(x: Floats, y: Floats, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Posterior means and variances of the left's part in the hits of every atom, shape (k,) each.

    Args:
        x, y: hits on the left and on the right, shape (k,).
        sizes: runs on the left and on the right, ≥ 1.
    """
    shift = float(np.log(sizes[0] / sizes[1]))
    evidence, first, second = _under_each(x, y, shift)
    weights = np.full(len(CENTRES), 1 / len(CENTRES))
    for _ in range(ROUNDS):
        # one atom's worth of prior for all normals together
        held = softmax(evidence + np.log(weights), axis=1).sum(axis=0) + 1 / len(CENTRES)
        weights = held / held.sum()
    posterior = softmax(evidence + np.log(weights), axis=1)
    mean: Floats = (posterior * first).sum(axis=1)
    variance: Floats = np.maximum((posterior * second).sum(axis=1) - mean**2, 0.0)
    return mean, variance


def sets(x: Floats, y: Floats, sizes: tuple[int, int]) -> tuple[Ints, Foreseen]:
    """Atoms in the order of their shrunk ratios, the likeliest on the left first, and what is foreseen of the first i.

    Args:
        x, y: hits on the left and on the right, shape (k,).
        sizes: runs on the left and on the right, ≥ 1.

    Returns: the order, shape (k,), and shares and errors of the first 1, …, k of it.
    """
    part, variance = shrunk(x, y, sizes)
    order: Ints = np.argsort(-part, kind="stable")
    total, part, variance = (x + y)[order], part[order], variance[order]
    # rounding must not carry the last sum above all runs
    left = np.minimum(np.cumsum(total * part), sizes[0])
    right = np.minimum(np.cumsum(total * (1 - part)), sizes[1])
    spread = np.sqrt(np.cumsum(total**2 * variance))
    error = spread * (1 / np.maximum(left, 1e-300) + 1 / np.maximum(right, 1e-300))
    return order, Foreseen(left / sizes[0], right / sizes[1], error)


def _under_each(x: Floats, y: Floats, shift: float) -> tuple[Floats, Floats, Floats]:
    """Under each of the mixture's normals: ln of the evidence, and the first two moments of the left's part.

    Shape (k, normals) each.
    """
    middle = np.log((x + 0.5) / (y + 0.5)) - shift
    reach = REACH * np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    at = np.linspace(middle - reach, middle + reach, NODES, axis=1)
    part = expit(at + shift)
    likelihood = x[:, None] * (at + shift) - (x + y)[:, None] * np.logaddexp(0, at + shift)
    likelihood -= likelihood.max(axis=1, keepdims=True)
    # a normal narrower than the distance of the nodes is held by those beside it
    gaps = (at[:, 1] - at[:, 0])[:, None]
    shape = (len(x), len(CENTRES))
    evidence, first, second = np.empty(shape), np.empty(shape), np.empty(shape)
    for i, (centre, width) in enumerate(zip(CENTRES.tolist(), WIDTHS.tolist(), strict=True)):
        wide = np.hypot(width, gaps / 2)
        prior = np.logaddexp(-0.5 * ((at - centre) / wide) ** 2, -0.5 * ((at + centre) / wide) ** 2)
        logs = likelihood + prior - np.log(wide / gaps)
        evidence[:, i] = logsumexp(logs, axis=1)
        held = np.exp(logs - evidence[:, i, None])
        first[:, i], second[:, i] = (held * part).sum(axis=1), (held * part**2).sum(axis=1)
    return evidence, first, second
