"""The test martingale of an audit: the average of the mixture over signal strengths and the plug-in e-process.

The mixture stops earlier if many runs are needed, the plug-in if a few are enough. Their average is an e-process, at
most ln 2 nats below the better of the two.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.eprocess import EProcess, Mixture, SignalMixture, plug_in

__all__ = ["Martingale"]


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

    def update(self, x: int, n: int, y: int, m: int, *, past: tuple[int, int, int, int]) -> None:
        """Multiply by the e-values of a batch.

        Args:
            x, n: hits and runs of the batch on the dataset where the event is more likely.
            y, m: the same on the other dataset.
            past: the same four counts of earlier runs, which determine the alternatives.
        """
        p, q = plug_in(past[0], past[1], past[2], past[3], epsilon=self._epsilon, delta=self._delta)
        self._signals.update(x, n, y, m, p=p, q=q)
        self._plug_in.update(x, n, y, m, p=p, q=q)
        self._both.update((self._signals.log_values, self._plug_in.log_values))
