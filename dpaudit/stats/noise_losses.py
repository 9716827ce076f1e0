"""The privacy loss distribution of shifted noise, in doubles: for plots; verdicts use `noise_profile`.

The loss of an output is L = ln(density under D / density under D′), for outputs drawn on D; `noise_profile` gives it
for every kind of noise. All noise is symmetric: the loss in the other direction has the same distribution.
Gaussian noise, a single Laplace draw and two-sided geometric draws have closed forms; several Laplace draws, or one
together with Gaussian noise, are discretised on a grid of losses.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from scipy.special import ndtr

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.noise_profile import Moves

Floats = FloatArray

CELLS, SMOOTHED = 8192, 512
"""Grid cells for the sum of several Laplace losses; for Laplace losses together with Gaussian noise."""
MOST = 8_000_000
"""Most losses × arguments evaluated at once."""


class NoiseLosses:
    """The distribution of the privacy loss of independent shifted draws.

    Args:
        moves: the shifts of all draws, as for `NoiseProfile`.

    Raises:
        OverflowError: there are too many losses for a plot.
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
        """Losses with positive probability, ascending."""
        if self._mu:
            return np.empty(0)
        ends = (-self._lone, self._lone) if self._lone else (0.0,)
        return np.unique(np.concatenate([self._losses + end for end in ends]))

    @property
    def range(self) -> tuple[float, float]:
        """The range of the losses; for Gaussian noise it omits a probability of 1e-9 at each end."""
        reach, centre = 6.0 * self._mu, self._mu**2 / 2
        low, high = float(self._losses[0]), float(self._losses[-1])
        return low - self._lone + centre - reach, high + self._lone + centre + reach

    def below(self, losses: Floats, *, at: bool = True) -> Floats:
        """Pr[L ≤ t] for an array of t, or Pr[L < t] if not `at`; shape as given."""
        t = np.asarray(losses, dtype=np.float64)
        if not self._mu and not self._lone:
            sums: Floats = self._sums[np.searchsorted(self._losses, t, side="right" if at else "left")]
            return np.minimum(sums, 1.0)
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
    """Losses of several Laplace draws on a grid; each is w with 1/2, −w with e^−w/2, w − 2s with density e^−s/2."""
    from scipy.signal import fftconvolve  # it takes a fifth of a second, and only this figure needs it

    total = math.fsum(widths)
    step = 2 * total / cells
    masses = np.ones(1)
    for width in widths:
        size = max(round(2 * width / step), 1)
        # cell j extends half a step to both sides
        ends = np.clip((np.arange(size + 2) - 0.5) * width / size, 0.0, width)
        one = -np.diff(np.exp(-ends)) / 2
        one[0] += 0.5
        one[-1] += math.exp(-width) / 2
        masses = np.maximum(fftconvolve(masses, one), 0.0) if len(masses) > 1 else one
    return np.linspace(total, -total, len(masses)), masses / masses.sum()


def _geometric(gap: int, scale: float, times: int) -> tuple[Floats, Floats]:
    """The sum of `times` independent losses (gap − 2j)/scale of a two-sided geometric draw."""
    a = math.exp(-1 / scale)
    one = (1 - a) / (1 + a) * a ** np.arange(gap + 1.0)
    one[0], one[-1] = 1 / (1 + a), a**gap / (1 + a)
    masses = np.ones(1)
    for _ in range(times):
        masses = np.maximum(np.convolve(masses, one), 0.0)
    return (gap * times - 2 * np.arange(len(masses))) / scale, masses


def _joined(losses: Floats, masses: Floats, others: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The distribution of the sum of independent losses."""
    if len(losses) * len(others) > MOST:
        raise OverflowError
    return np.add.outer(losses, others).ravel(), np.multiply.outer(masses, weights).ravel()
