"""Predict threshold events in fresh samples: the log-ratio of D and D′ as a smooth function of the tail's share.

The events with the best lower bounds are often so rare that the training samples contain only a handful of hits. Larger
tails contain more hits, and the log-ratio rarely jumps. It is modelled as a curve in the logarithm of the tail's share,
with twice integrated white noise as a prior, whose strength is fitted to the counts. With many samples the curve
follows the counts; with few it continues in a straight line, and its error grows with the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from scipy.special import expit, softmax

from dpaudit.outputs.columns import one_thread
from dpaudit.stats.arrays import FloatArray

Floats = FloatArray

WIDEST = 0.5
"""Only threshold events with at most this share of all samples are predicted: wider ones are known well enough."""
TAILS = (1.0, 0.1, 0.05, 0.02, 0.005)
"""Candidate shares of the samples in the tail: the curve often has a kink at the centre of one dataset's noise, and is
straight, or flat, from there on."""
PRIORS = (
    *((2, bend, 1.0, bend) for bend in (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)),
    *((2, bend, share, free) for bend in (0.1, 0.03, 0.01) for share in TAILS[1:] for free in (3.0, 1.0, 0.3)),
    *((1, 0.01, share, free) for share in TAILS[1:] for free in (3.0, 1.0, 0.3, 0.1)),
)
"""The order of the derivative of the curve that is white noise in the tail (1: nearly flat; 2: nearly straight), its
strength, the share of the tail, and the strength of the second derivative further in. They are weighted by evidence.

The strength is the standard deviation of the change in the next lower derivative over a factor e of the share."""
LEVEL, SLOPE = 5.0, 1.0
"""Prior standard deviations of the curve's level, and of its mean slope."""
STEPS, CLOSE = 30, 1e-6
"""Newton's method: most steps, and the tolerance."""
LEAST_GAP = 0.02
"""Smallest distance between cells, on the logarithmic scale; closer cells are treated as this far apart."""


@dataclass(frozen=True)
class Prediction:
    """Predicted shares of some events in fresh samples; NaN without a prediction.

    Args:
        left, right: shares under D and D′, shape (k,).
        error: standard errors of ln(left / right), shape (k,).
    """

    left: Floats
    right: Floats
    error: Floats

    @classmethod
    def nothing(cls, size: int) -> Prediction:
        """No prediction for `size` events."""
        return cls(*(np.full(size, np.nan) for _ in range(3)))

    @classmethod
    def joined(cls, parts: Sequence[Prediction | None], lengths: Sequence[int]) -> Prediction:
        """The predictions concatenated, of as many events each; None if there is no prediction."""
        whole = cls.nothing(sum(lengths))
        for part, length, end in zip(parts, lengths, accumulate(lengths), strict=True):
            if part is not None:
                at = slice(end - length, end)
                whole.left[at], whole.right[at], whole.error[at] = part.left, part.right, part.error
        return whole

    def swapped(self) -> Prediction:
        """D and D′ swapped."""
        return Prediction(self.right, self.left, self.error)


def predict(left: Floats, right: Floats, sizes: tuple[int, int]) -> Prediction:
    """Predicted shares of nested threshold events in fresh samples.

    Args:
        left, right: hits, shape (k,), both ascending or both descending.
        sizes: numbers of samples of D and D′, ≥ 1.
    """
    prediction = Prediction.nothing(len(left))
    total = left + right
    order = np.argsort(total, kind="stable")
    order = order[(total[order] > 0) & (total[order] <= WIDEST * sum(sizes))]
    # threshold events with the same hits count as one
    order = order[np.unique(total[order], return_index=True)[1]]
    if len(order) < 3:
        return prediction
    x, y = np.diff(left[order], prepend=0.0), np.diff(right[order], prepend=0.0)
    held = np.cumsum(x + y)
    at = np.log((held + np.concatenate([[0.0], held[:-1]])) / 2)
    with one_thread():
        shares, errors = _cumulative(x, y, at, sizes)
    # equal hits in another equally rare threshold event: the same samples
    where = np.searchsorted(total[order], total)
    inside = (where < len(order)) & (total > 0)
    where = np.minimum(where, len(order) - 1)
    inside &= total[order][where] == total
    prediction.left[inside], prediction.right[inside] = shares[0][where[inside]], shares[1][where[inside]]
    prediction.error[inside] = errors[where[inside]]
    return prediction


def _cumulative(x: Floats, y: Floats, at: Floats, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Shares of unions of the first cells, shape (2, k), and standard errors of their log-ratio.

    Args:
        x, y: hits of cells under D and D′, shape (k,).
        at: positions of the cells, ascending.
    """
    from scipy.linalg import cho_solve  # as in `_mode`

    total, shift = x + y, np.log(sizes[0] / sizes[1])
    evidence, shares, variances = [], [], []
    curve = np.log((x + 0.5) / (y + 0.5)) - shift
    for order, bend, share, free in PRIORS:
        prior = _precision(at, order, bend, within=float(np.log(share * sum(sizes))), free=free)
        try:
            curve, factor, fit = _mode(x, y, shift, prior, curve)
        except np.linalg.LinAlgError:
            # this prior is too stiff for double precision: use the others
            continue
        evidence.append(fit)
        part, other = expit(curve + shift), expit(-curve - shift)
        # if the two datasets do not overlap here, one of them has almost no hits
        hits = np.maximum(np.stack([np.cumsum(total * part), np.cumsum(total * other)]), 1e-12)
        shares.append(hits / np.array(sizes)[:, None])
        # gradient of ln(one sum) − ln(other sum), to first order in the curve
        slopes = np.tril(np.broadcast_to(total * part * other, (len(x), len(x)))) * (1 / hits).sum(axis=0)[:, None]
        variances.append((slopes * cho_solve(factor, slopes.T).T).sum(axis=1))
    if not evidence:
        return np.full((2, len(x)), np.nan), np.full(len(x), np.nan)
    weights = softmax(np.array(evidence))
    logs = np.log(np.maximum(shares, 1e-300))
    ratios = logs[:, 0] - logs[:, 1]
    mean = weights @ ratios
    spread = weights @ (np.array(variances) + (ratios - mean) ** 2)
    log_shares: Floats = np.tensordot(weights, logs, axes=1)
    return np.exp(log_shares), np.sqrt(spread)


def _precision(at: Floats, order: int, bend: float, *, within: float, free: float) -> Floats:
    """The precision matrix of the prior of the curve at some positions, shape (k, k).

    Args:
        at: positions, ascending, k ≥ 3.
        order, bend: order (1 or 2) and strength of the white noise up to `within`.
        within: the position where the tail ends.
        free: strength of the second derivative's noise beyond.
    """
    gaps = np.maximum(np.diff(at), LEAST_GAP)
    slopes = np.diff(np.eye(len(at)), axis=0) / gaps[:, None]
    bends, middles = np.diff(slopes, axis=0), at[1:-1]
    wide = np.sqrt((gaps[:-1] + gaps[1:]) / 2)
    if order == 1:
        flat, bent = at[1:] <= within, middles > within
        rough = [slopes[flat] * (np.sqrt(gaps[flat]) / bend)[:, None], bends[bent] / (free * wide[bent])[:, None]]
    else:
        rough = [bends / (np.where(middles <= within, bend, free) * wide)[:, None]]
    # level and mean slope, which the rows above leave without a prior
    mean = np.zeros(len(at))
    mean[0], mean[-1] = -1, 1
    loose = [np.full((1, len(at)), 1 / (len(at) * LEVEL)), mean[None] / (gaps.sum() * SLOPE)]
    rows = np.vstack([*rough, *loose])
    precision: Floats = rows.T @ rows
    return precision


def _mode(
    x: Floats, y: Floats, shift: float, prior: Floats, start: Floats
) -> tuple[Floats, tuple[Floats, bool], float]:
    """The most likely curve given the hits, the factor of its precision, and ln of the evidence (Laplace's method)."""
    from scipy.linalg import cho_factor, cho_solve  # a refutation with few samples never comes here

    total = x + y

    def value(curve: Floats) -> float:
        logit = curve + shift
        return float((x * logit - total * np.logaddexp(0, logit)).sum() - curve @ prior @ curve / 2)

    curve, now = start, value(start)
    for _ in range(STEPS):
        part = expit(curve + shift)
        factor = cho_factor(prior + np.diag(total * part * (1 - part)))
        step = cho_solve(factor, x - total * part - prior @ curve)
        length = 1.0
        # the log-posterior is concave, so some halved step improves it
        while (then := value(curve + length * step)) < now and length > 1e-4:
            length /= 2
        curve, gain, now = curve + length * step, then - now, max(now, then)
        if gain < CLOSE:
            break
    part = expit(curve + shift)
    factor = cho_factor(prior + np.diag(total * part * (1 - part)))
    half_logs = np.log(np.diag(factor[0])).sum()
    return curve, factor, now + float(np.linalg.slogdet(prior)[1]) / 2 - float(half_logs)
