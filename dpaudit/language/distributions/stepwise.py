"""The exponential mechanism on scores that are constant on long runs of solutions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from dpaudit.errors import ParameterError
from dpaudit.language.checks import number
from dpaudit.language.distributions.base import Distribution
from dpaudit.language.enclosed import near, nears
from dpaudit.language.numbers import written
from dpaudit.language.spans import Spread

if TYPE_CHECKING:
    from dpaudit.language.step_scores import StepScores


@dataclass(frozen=True, repr=False)
class StepSoftmax(Distribution):
    """A solution with probability ∝ exp(coefficient · its score): a piece of the scores, then uniform in it.

    Its law is exact, as masses of pieces: see `Distribution.spread`.

    Args:
        scores: of at least one solution.
        coefficient: ε/2 for a 1-sensitive score.

    Raises:
        ParameterError: no solutions.
    """

    scores: StepScores
    coefficient: float

    def __post_init__(self) -> None:
        if not len(self.scores.values):
            raise ParameterError("A softmax needs at least one solution.")
        number("coefficient", self.coefficient)

    def __repr__(self) -> str:
        return f"Softmax over {written(self.scores.size)} outcomes with coefficient {near(self.coefficient):.6g}"

    @property
    def remedy(self) -> str:
        return "use it as the last draw, where its outcomes need not be told apart, or choose among fewer solutions"

    @cached_property
    def spread(self) -> Spread:
        values, coefficient, size = nears(self.scores.values), near(self.coefficient), self.scores.size
        # differences first: a coefficient times a large score would lose their digits
        with np.errstate(over="ignore"):  # −∞ is the right exponent of a score so far from the best
            exponents = coefficient * (values - (values.max() if coefficient > 0 else values.min()))
        # shares of the whole: lengths themselves may be beyond floats
        weights = np.exp(exponents) * ((self.scores.stops - self.scores.starts) / size).astype(np.float64)
        return Spread(self.scores.starts, self.scores.stops, weights / weights.sum())

    def draw(self, rng: Generator, size: int) -> Any:
        return self.spread.draw(rng, size)
