"""Utility guarantees of the interior point by RecConcave: Theorem 6.14(2)."""

from __future__ import annotations

import math
from abc import abstractmethod

from dpaudit.language import InteriorPoint, Mechanism, SampleSize, UtilityClaim, log2
from dpaudit_algorithms.interior_points.rec_concave_theory import iterated_log

PLACE = "§6.4, Theorem 6.14(2)"


class InteriorPointByRecConcaveTheory(Mechanism):
    """Of `InteriorPointByRecConcave`, whose parameters these are."""

    size: int
    epsilon: float
    delta: float
    alpha: float
    beta: float

    @property
    @abstractmethod
    def calls(self) -> int:
        """N."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Theorem 6.14(2), solved for the least β."""
        beta = 6 * self.calls / self.delta * 2 ** (self._logs - -(-records // 2) / self._unit)
        return (UtilityClaim(InteriorPoint(), 1 - beta, PLACE),) if beta < 1 else ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The least n whose promise ⌈n/2⌉ is enough for β."""
        r = math.ceil(self._unit * (log2(6 * self.calls / (self.beta * self.delta)) + self._logs))
        formula = "⌈n/2⌉ ≥ 8^N·(36N/(αε))·(log(6N/(βδ)) + log…log T)"
        return (SampleSize(2 * r - 1, formula, "an interior point with probability 1 − β", PLACE),)

    @property
    def _logs(self) -> float:
        """log…log T, N times."""
        return iterated_log(self.size - 1, self.calls)

    @property
    def _unit(self) -> float:
        """8^N·36N/(αε)."""
        return (1 << 3 * self.calls) * 36 * self.calls / (self.alpha * self.epsilon)
