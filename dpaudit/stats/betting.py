"""How an audit bets: half of the stake by the mixture over signal strengths, half by the plug-in estimate.

The mixture stops earlier where many runs are needed, the plug-in where a few show all; their average is an e-process,
and behind the better of the two by at most ln 2.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.eprocess import EProcess, Mixture, SignalMixture, plug_in

__all__ = ["Bets"]


class Bets:
    """Bets against H0: p ≤ e^ε q + δ on one pair, for a grid of ε at once; the event may change from batch to batch.

    Args:
        epsilons: the grid, ascending.
        delta: of the claim.
        at: place on the grid of the ε that is bet against; the stakes at the others follow it.

    Raises:
        ValueError: as `EProcess`.
    """

    def __init__(self, epsilons: ArrayLike, delta: float, *, at: int) -> None:
        self._signals, self._plug_in = SignalMixture(epsilons, delta), EProcess(epsilons, delta)
        self._both = Mixture(epsilons, (0.5, 0.5))
        self._epsilon, self._delta = float(self._both.epsilons[at]), delta

    @property
    def log_values(self) -> FloatArray:
        """ln of the e-values now, over the grid."""
        return self._both.log_values

    @property
    def log_peaks(self) -> FloatArray:
        """ln of the largest e-values so far, over the grid."""
        return self._both.log_peaks

    def bet(self, x: int, n: int, y: int, m: int, *, past: tuple[int, int, int, int]) -> None:
        """Multiply by the e-values of a batch.

        Args:
            x, n: hits and runs of the batch where the event is likelier.
            y, m: on the other side.
            past: the same four counts of earlier runs, from which the stakes follow.
        """
        p, q = plug_in(past[0], past[1], past[2], past[3], epsilon=self._epsilon, delta=self._delta)
        self._signals.update(x, n, y, m, p=p, q=q)
        self._plug_in.update(x, n, y, m, p=p, q=q)
        self._both.update((self._signals.log_values, self._plug_in.log_values))
