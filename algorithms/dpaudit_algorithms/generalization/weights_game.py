"""The accuracy game of private multiplicative weights with the overfitter, at scales too large for simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import IntArray, ParameterError, checks, exp, log1p
from dpaudit_algorithms.generalization.accuracy_games import AccuracyGame, occupancies
from dpaudit_algorithms.generalization.analysts import Overfitter
from dpaudit_algorithms.generalization.multiplicative_weights import PrivateMultiplicativeWeights

LOST = 1.0
"""The error assigned to a game with an update of x^0; no error of a share is much larger."""


@dataclass(frozen=True)
class WeightsGame(AccuracyGame):
    """`AccuracyGame` of private multiplicative weights with `Overfitter`, counted as lost with the first update.

    D and x^0 are uniform, so every answer f(x^0) is q(D). Until an update the answer for each cell is 1/m, which is not
    above 1/m, so the last query is empty. Given T̂ the comparisons are independent, with gaps ±(r/n − 1/m) for a cell of
    r records, and 0 twice at the end. Only the numbers of cells with r records are drawn (`occupancies`).

    Args:
        answers: `PrivateMultiplicativeWeights` on the cells 0, …, m − 1, with an `Overfitter`.
        records: n ≥ 1, equal to the n of the mechanism.

    Raises:
        ParameterError: another mechanism or analyst, other points or another n.
    """

    def __post_init__(self) -> None:
        checks.whole("records", self.records, least=1)
        answers = self.answers
        if not isinstance(answers, PrivateMultiplicativeWeights) or not isinstance(answers.analyst, Overfitter):
            raise ParameterError("The shortcut is for PrivateMultiplicativeWeights with an Overfitter.")
        if answers.points != range(answers.analyst.cells) or answers.records != self.records:
            raise ParameterError("The mechanism must have range(cells) as its points, and the n of the game.")

    def bulk(self, dataset: Any, size: int, rng: Generator) -> list[float]:
        tables = occupancies(len(self._mechanism.points), self.records, size, rng)
        return [0.0 if rng.random() < self._quiet(table, rng) else LOST for table in tables]

    @property
    def _mechanism(self) -> PrivateMultiplicativeWeights:
        assert isinstance(self.answers, PrivateMultiplicativeWeights)
        return self.answers

    def _quiet(self, cells: IntArray, rng: Generator) -> float:
        """The probability that no comparison is above T̂, which is drawn; cells[r] cells hold r records."""
        from scipy import stats  # it takes half a second, and `dpaudit list` imports this file

        mechanism = self._mechanism
        noisy, nu = mechanism.T + rng.laplace(0, mechanism.noise.threshold), mechanism.noise.compared
        m, n = len(mechanism.points), self.records
        r = np.flatnonzero(cells)
        gaps = (r * m - n) / (float(n) * m)
        above = np.stack([stats.laplace.sf((noisy - gaps) / nu), stats.laplace.sf((noisy + gaps) / nu)])
        last = 2 * log1p(-float(stats.laplace.sf(noisy / nu)))
        return exp(float((cells[r] * np.log1p(-above).sum(axis=0)).sum()) + last)
