"""The distribution of the privacy loss of moved noise, in doubles: for pictures, where `noise_profile` is for verdicts.

The loss of an output is L = ln(density on the left : on the right), under the left law; `noise_profile` says what it is
for every kind of noise. All of it is symmetric: ln(right : left) under the right law has the same distribution.
Gaussian noise, a single Laplace draw and two-sided geometric ones are in closed form; several Laplace draws, or one
beside Gaussian noise, are put on a grid of losses.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import ndtr

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.noise_profile import Moves

Floats = FloatArray

CELLS, SMOOTHED = 8192, 512
"""Of the sum of several Laplace losses; of one or several under Gaussian noise."""
MOST = 8_000_000
"""Losses, times arguments, of one look."""


class NoiseLosses:
    """The distribution of the loss of independent draws that move.

    Args:
        moves: of all draws that move; `NoiseProfile` takes them too.

    Raises:
        OverflowError: there are too many losses for a picture.
    """

    def __init__(self, moves: Moves) -> None:
        self._mu = math.sqrt(float(sum(mu * mu for mu in moves.gaussian)))
        widths = [float(width) for width in moves.laplace]
        self._lone = widths[0] if len(widths) == 1 and not self._mu else 0.0
        losses, masses = np.zeros(1), np.ones(1)
        if widths and not self._lone:
            losses, masses = _laplace(widths, SMOOTHED if self._mu else CELLS)
        for (gap, scale), times in Counter(moves.geometric).items():
            losses, masses = _joined(losses, masses, *_geometric(gap, float(scale), times))
        order = np.argsort(losses, kind="stable")
        self._losses, self._masses = losses[order], masses[order]
        self._sums = np.concatenate([[0.0], np.cumsum(self._masses)])

    @property
    def atoms(self) -> Floats:
        """Losses that have a probability of their own, ascending."""
        if self._mu:
            return np.empty(0)
        ends = (-self._lone, self._lone) if self._lone else (0.0,)
        return np.unique(np.concatenate([self._losses + end for end in ends]))

    @property
    def range(self) -> tuple[float, float]:
        """Between which losses all of them lie, but for 1e-9 of Gaussian ones a side."""
        reach, centre = 6.0 * self._mu, self._mu**2 / 2
        low, high = float(self._losses[0]), float(self._losses[-1])
        return low - self._lone + centre - reach, high + self._lone + centre + reach

    def below(self, losses: Floats, *, at: bool = True) -> Floats:
        """Pr[L ≤ t] of some t, or Pr[L < t] where not `at`; shape as given."""
        t = np.asarray(losses, dtype=np.float64)
        if not self._mu and not self._lone:
            found: Floats = self._sums[np.searchsorted(self._losses, t, side="right" if at else "left")]
            return np.minimum(found, 1.0)
        if t.size * len(self._losses) > MOST:
            raise OverflowError
        rest = t[..., None] - self._losses
        if self._mu:
            one = ndtr((rest - self._mu**2 / 2) / self._mu)
        else:
            r = self._lone
            inside = np.exp(np.minimum(rest - r, 0.0) / 2) / 2
            under = rest < -r if at else rest <= -r
            over = rest >= r if at else rest > r
            one = np.where(under, 0.0, np.where(over, 1.0, inside))
        return np.minimum(one @ self._masses, 1.0)


def _laplace(widths: list[float], cells: int) -> tuple[Floats, Floats]:
    """Losses of several Laplace draws on a grid: of each, w with 1/2, −w with e^−w/2, w − 2s with density e^−s/2."""
    total = math.fsum(widths)
    step = 2 * total / cells
    masses = np.ones(1)
    for width in widths:
        size = max(round(2 * width / step), 1)
        # the cell of place j is half a step about it
        ends = np.clip((np.arange(size + 2) - 0.5) * width / size, 0.0, width)
        one = -np.diff(np.exp(-ends)) / 2
        one[0] += 0.5
        one[-1] += math.exp(-width) / 2
        masses = np.maximum(fftconvolve(masses, one), 0.0) if len(masses) > 1 else one
    return np.linspace(total, -total, len(masses)), masses / masses.sum()


def _geometric(gap: int, scale: float, times: int) -> tuple[Floats, Floats]:
    """Losses (gap − 2j)/scale of one two-sided geometric draw, `times` over."""
    a = math.exp(-1 / scale)
    one = (1 - a) / (1 + a) * a ** np.arange(gap + 1.0)
    one[0], one[-1] = 1 / (1 + a), a**gap / (1 + a)
    masses = np.ones(1)
    for _ in range(times):
        masses = np.maximum(np.convolve(masses, one), 0.0)
    return (gap * times - 2 * np.arange(len(masses))) / scale, masses


def _joined(losses: Floats, masses: Floats, others: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Of the sums of independent losses."""
    if len(losses) * len(others) > MOST:
        raise OverflowError
    return np.add.outer(losses, others).ravel(), np.multiply.outer(masses, weights).ravel()
