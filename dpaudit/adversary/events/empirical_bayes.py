"""Predict the shares of sets of atoms in fresh samples, by empirical Bayes shrinkage of log-ratios towards zero.

Among many atoms some seem to differ by chance, especially rare ones. Their log-ratios are modelled as draws from a
mixture of normals around zero whose weights are fitted to the counts, as in Stephens, False discovery rates: a new deal
(Biostatistics 2017), here with the binomial likelihood. Posterior means need no further correction for selection.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp, softmax

from dpaudit.adversary.events.tail_extrapolation import Prediction
from dpaudit.stats.arrays import FloatArray, IntArray

Floats = FloatArray
Ints = IntArray

CENTRES = np.concatenate([[0.0], np.geomspace(0.003, 12.0, 28)])
"""Centres of the normals in the mixture, symmetric around zero: in many mechanisms many outputs have the same loss, ε
or −ε. The width of each is half its distance to the next."""
WIDTHS = np.concatenate([[CENTRES[1] / 2], np.diff(CENTRES[1:]) / 2, [(CENTRES[-1] - CENTRES[-2]) / 2]])
NODES, REACH = 81, 6.0
"""An atom's posterior is evaluated at NODES log-ratios, evenly spaced over ±REACH standard errors."""
ROUNDS = 60
"""Iterations of expectation maximisation."""


def shrunk(x: Floats, y: Floats, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Posterior means and variances of the fraction of every atom's hits that come from D, shape (k,) each.

    Args:
        x, y: hits under D and D′, shape (k,).
        sizes: numbers of samples of D and D′, ≥ 1.
    """
    shift = float(np.log(sizes[0] / sizes[1]))
    evidence, first, second = _under_each(x, y, shift)
    weights = np.full(len(CENTRES), 1 / len(CENTRES))
    for _ in range(ROUNDS):
        # the prior on the weights counts as one atom in total
        held = softmax(evidence + np.log(weights), axis=1).sum(axis=0) + 1 / len(CENTRES)
        weights = held / held.sum()
    posterior = softmax(evidence + np.log(weights), axis=1)
    mean: Floats = (posterior * first).sum(axis=1)
    variance: Floats = np.maximum((posterior * second).sum(axis=1) - mean**2, 0.0)
    return mean, variance


def sets(x: Floats, y: Floats, sizes: tuple[int, int]) -> tuple[Ints, Prediction]:
    """Atoms in the order of their shrunk ratios, most likely under D first, and predictions for the first i of them.

    Args:
        x, y: hits under D and D′, shape (k,).
        sizes: numbers of samples of D and D′, ≥ 1.

    Returns: the order, shape (k,), and shares and errors of its first 1, …, k atoms.
    """
    part, variance = shrunk(x, y, sizes)
    order: Ints = np.argsort(-part, kind="stable")
    total, part, variance = (x + y)[order], part[order], variance[order]
    # rounding must not push the last sum above the total
    left = np.minimum(np.cumsum(total * part), sizes[0])
    right = np.minimum(np.cumsum(total * (1 - part)), sizes[1])
    spread = np.sqrt(np.cumsum(total**2 * variance))
    error = spread * (1 / np.maximum(left, 1e-300) + 1 / np.maximum(right, 1e-300))
    return order, Prediction(left / sizes[0], right / sizes[1], error)


def _under_each(x: Floats, y: Floats, shift: float) -> tuple[Floats, Floats, Floats]:
    """Under each normal of the mixture: ln of the evidence, and the first two moments of the fraction from D.

    Shape (k, normals) each.
    """
    middle = np.log((x + 0.5) / (y + 0.5)) - shift
    reach = REACH * np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    at = np.linspace(middle - reach, middle + reach, NODES, axis=1)
    part = expit(at + shift)
    likelihood = x[:, None] * (at + shift) - (x + y)[:, None] * np.logaddexp(0, at + shift)
    likelihood -= likelihood.max(axis=1, keepdims=True)
    # a normal narrower than the spacing of the nodes is represented by the nodes next to it
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
