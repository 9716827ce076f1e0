"""What fresh runs will show of half-lines of a score: the sides' log-ratio as a smooth function of how rare they are.

The best events to certify are often so rare that the runs to learn from show a handful of each. Their neighbours show
more, and the log-ratio rarely jumps: it is a curve in the logarithm of the tail's share, with a twice integrated white
noise for a prior, whose strength the counts choose. Where there are many runs that follows the counts; where there are
few it carries on in a straight line, and its error grows with the distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, softmax

from dpaudit.outputs.columns import one_thread
from dpaudit.stats.arrays import FloatArray, IntArray

Floats = FloatArray

WIDEST = 0.5
"""Largest share of all runs in a half-line that is foreseen: the wider ones are known well enough."""
TAILS = (1.0, 0.1, 0.05, 0.02, 0.005)
"""Shares of the runs in what is taken for the tail: the curve often has a kink where the noise of one side has its
middle, and is straight, or flat, from there on."""
PRIORS = (
    *((2, bend, 1.0, bend) for bend in (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)),
    *((2, bend, share, free) for bend in (0.1, 0.03, 0.01) for share in TAILS[1:] for free in (3.0, 1.0, 0.3)),
    *((1, 0.01, share, free) for share in TAILS[1:] for free in (3.0, 1.0, 0.3, 0.1)),
)
"""Which derivative of the curve is white noise in the tail (1: it is nearly flat; 2: nearly straight), how strong, how
large a share the tail is, and how strong the second derivative is further in. They are weighed by their evidence.

The strength is what the derivative before it changes by over a factor e of the share, in standard deviations."""
LEVEL, SLOPE = 5.0, 1.0
"""Prior standard deviations of the curve's level, and of its mean slope."""
STEPS, CLOSE = 30, 1e-6
"""Newton's: at most, and where they end."""
LEAST_GAP = 0.02
"""Cells nearer to each other than that, on the scale of logarithms, are taken to be so far apart."""


@dataclass(frozen=True)
class Foreseen:
    """What is expected of some events in fresh runs; NaN where nothing is said.

    Args:
        left, right: shares on the left and on the right, shape (k,).
        error: standard errors of ln(left : right), shape (k,).
    """

    left: Floats
    right: Floats
    error: Floats

    @classmethod
    def nothing(cls, size: int) -> Foreseen:
        """Of so many events."""
        return cls(*(np.full(size, np.nan) for _ in range(3)))

    @classmethod
    def joined(cls, parts: Sequence[Foreseen]) -> Foreseen:
        """One after the other."""
        rows = ([part.left for part in parts], [part.right for part in parts], [part.error for part in parts])
        return cls(*(np.concatenate(row) for row in rows))

    def of(self, where: IntArray, *, reverse: bool) -> Foreseen:
        """Of some of the events, with the sides swapped when `reverse`."""
        some = Foreseen(self.left[where], self.right[where], self.error[where])
        return some.swapped() if reverse else some

    def swapped(self) -> Foreseen:
        """Left for right."""
        return Foreseen(self.right, self.left, self.error)


def foresee(left: Floats, right: Floats, sizes: tuple[int, int]) -> Foreseen:
    """Shares of nested half-lines in fresh runs.

    Args:
        left, right: hits, shape (k,), both ascending or both descending.
        sizes: runs on the left and on the right, ≥ 1.
    """
    found = Foreseen.nothing(len(left))
    total = left + right
    order = np.argsort(total, kind="stable")
    order = order[(total[order] > 0) & (total[order] <= WIDEST * sum(sizes))]
    # half-lines with the same hits are one
    order = order[np.unique(total[order], return_index=True)[1]]
    if len(order) < 3:
        return found
    x, y = np.diff(left[order], prepend=0.0), np.diff(right[order], prepend=0.0)
    held = np.cumsum(x + y)
    at = np.log((held + np.concatenate([[0.0], held[:-1]])) / 2)
    with one_thread():
        shares, errors = _cumulative(x, y, at, sizes)
    # equal numbers of hits in another half-line that is as rare: the same runs
    where = np.searchsorted(total[order], total)
    inside = (where < len(order)) & (total > 0)
    where = np.minimum(where, len(order) - 1)
    inside &= total[order][where] == total
    found.left[inside], found.right[inside] = shares[0][where[inside]], shares[1][where[inside]]
    found.error[inside] = errors[where[inside]]
    return found


def _cumulative(x: Floats, y: Floats, at: Floats, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Shares of unions of the first cells, shape (2, k), and standard errors of their log-ratio.

    Args:
        x, y: hits of cells on the left and on the right, shape (k,).
        at: where the cells lie, ascending.
    """
    total, shift = x + y, np.log(sizes[0] / sizes[1])
    evidence, shares, variances = [], [], []
    curve = np.log((x + 0.5) / (y + 0.5)) - shift
    for order, bend, share, free in PRIORS:
        prior = _precision(at, order, bend, within=float(np.log(share * sum(sizes))), free=free)
        try:
            curve, factor, fit = _mode(x, y, shift, prior, curve)
        except np.linalg.LinAlgError:
            # too stiff a prior for double precision: the others remain
            continue
        evidence.append(fit)
        part, other = expit(curve + shift), expit(-curve - shift)
        # where the sides do not overlap, one of them has next to nothing
        hits = np.maximum(np.stack([np.cumsum(total * part), np.cumsum(total * other)]), 1e-12)
        shares.append(hits / np.array(sizes)[:, None])
        # of ln of the one sum less ln of the other, to first order in the curve
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
    """Of the prior of the curve at some places, shape (k, k).

    Args:
        at: ascending, k ≥ 3.
        order, bend: of the white noise up to `within`; 1 or 2.
        within: the place where the tail ends.
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
    # level and mean slope, or what the rows above leave open would have no prior
    mean = np.zeros(len(at))
    mean[0], mean[-1] = -1, 1
    loose = [np.full((1, len(at)), 1 / (len(at) * LEVEL)), mean[None] / (gaps.sum() * SLOPE)]
    rows = np.vstack([*rough, *loose])
    precision: Floats = rows.T @ rows
    return precision


def _mode(
    x: Floats, y: Floats, shift: float, prior: Floats, start: Floats
) -> tuple[Floats, tuple[Floats, bool], float]:
    """The likeliest curve given the hits, the factor of its precision, and ln of the evidence (Laplace's method)."""
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
        # the logarithm of the posterior is concave: half the step is better somewhere
        while (then := value(curve + length * step)) < now and length > 1e-4:
            length /= 2
        curve, gain, now = curve + length * step, then - now, max(now, then)
        if gain < CLOSE:
            break
    part = expit(curve + shift)
    factor = cho_factor(prior + np.diag(total * part * (1 - part)))
    half_logs = np.log(np.diag(factor[0])).sum()
    return curve, factor, now + float(np.linalg.slogdet(prior)[1]) / 2 - float(half_logs)
