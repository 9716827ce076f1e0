"""The test martingale of an audit: the average of the mixture over signal strengths and the plug-in e-process.

The mixture stops earlier if many runs are needed, the plug-in if a few are enough. Their average is an e-process, at
most ln 2 nats below the better of the two.

A claim may be a curve, of which every (ε, δ) is a null hypothesis that follows from it. `CurveMartingale` tests one of
them in each batch, chosen from earlier batches. If the claim holds, so does the hypothesis of every batch, and each
factor has conditional expectation at most 1: the product is an e-process against the claim, whatever was chosen, with
one α for the whole curve.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.eprocess import (
    SIGNALS,
    EProcess,
    Mixture,
    SignalMixture,
    log_e_value,
    plug_in,
    signal_log_e_values,
)

__all__ = ["CurveMartingale", "Martingale"]


class Martingale:
    """Tests H0: p ≤ e^ε q + δ on one pair, for a whole grid of ε; the event may change from batch to batch.

    Args:
        epsilons: the grid, ascending.
        delta: the claim's δ.
        at: grid index of the tested ε; the alternatives at the other ε follow from it.

    Raises:
        ValueError: as `EProcess`.
    """

    def __init__(self, epsilons: ArrayLike, delta: float, *, at: int) -> None:
        self._signals, self._plug_in = SignalMixture(epsilons, delta), EProcess(epsilons, delta)
        self._both = Mixture(epsilons, (0.5, 0.5))
        self._epsilon, self._delta = float(self._both.epsilons[at]), delta

    @property
    def log_values(self) -> FloatArray:
        """ln of the current e-values, over the grid."""
        return self._both.log_values

    @property
    def log_peaks(self) -> FloatArray:
        """ln of the largest e-values so far, over the grid."""
        return self._both.log_peaks

    def update(
        self, x: int, n: int, y: int, m: int, *, past: tuple[int, int, int, int],
        point: tuple[float, float] | None = None,
    ) -> None:
        """Multiply by the e-values of a batch.

        Args:
            x, n: hits and runs of the batch on the dataset where the event is more likely.
            y, m: the same on the other dataset.
            past: the same four counts of earlier runs, which determine the alternatives.
            point: not used: the hypothesis is always the same.
        """
        p, q = plug_in(past[0], past[1], past[2], past[3], epsilon=self._epsilon, delta=self._delta)
        self._signals.update(x, n, y, m, p=p, q=q)
        self._plug_in.update(x, n, y, m, p=p, q=q)
        self._both.update((self._signals.log_values, self._plug_in.log_values))


class CurveMartingale:
    """Tests a claim of many (ε, δ) on one pair; both the event and the (ε, δ) may change from batch to batch.

    It has the form of a `Martingale` with a single ε on its grid, which stands for the whole claim.
    """

    def __init__(self) -> None:
        self._signals: FloatArray = np.zeros(SIGNALS.size)
        self._plug_in = 0.0
        self._peak = 0.0

    @property
    def log_values(self) -> FloatArray:
        """ln of the current e-value, shape (1,)."""
        signals = float(np.logaddexp.reduce(self._signals)) - math.log(SIGNALS.size)
        return np.array([float(np.logaddexp(signals, self._plug_in)) - math.log(2)])

    @property
    def log_peaks(self) -> FloatArray:
        """ln of the largest e-value so far, shape (1,)."""
        return np.array([self._peak])

    def update(
        self, x: int, n: int, y: int, m: int, *, past: tuple[int, int, int, int],
        point: tuple[float, float] | None = None,
    ) -> None:
        """Multiply by the e-values of a batch against p ≤ e^ε q + δ.

        Args:
            x, n, y, m, past: as of `Martingale.update`.
            point: (ε, δ) of the claim, chosen before the batch.

        Raises:
            ValueError: there is no point.
        """
        if point is None:
            raise ValueError("a batch needs the (ε, δ) that it tests")
        epsilon, delta = point
        hits, runs, others, other_runs = past
        p, q = plug_in(hits, runs, others, other_runs, epsilon=epsilon, delta=delta)
        self._signals = self._signals + signal_log_e_values(x, n, y, m, p=p, q=q, epsilon=epsilon, delta=delta)
        self._plug_in += float(log_e_value(x, n, y, m, p=p, q=q, epsilon=epsilon, delta=delta))
        self._peak = max(self._peak, float(self.log_values[0]))
