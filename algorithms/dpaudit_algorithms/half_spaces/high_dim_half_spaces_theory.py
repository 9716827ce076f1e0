"""Utility guarantees of A_HighH: Theorem 21, as printed and corrected."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Goal, Instance, Mechanism, SampleSize, UtilityClaim, as_written, checks, exp, log
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.half_spaces.angles import Sine
from dpaudit_algorithms.half_spaces.high_dim_data import agreements, examples, is_meant


class AHighHTheory(Mechanism):
    """Of `AHighH`, whose parameters these are."""

    sine: Sine
    C: int
    dimension: int
    alpha: float
    beta: float

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Theorem 21 from n_Thr examples on: the printed n = O(n_Thr) with the constant 1."""
        if records < self.C:
            return ()
        goal = HighDimError(self.alpha, self.dimension, self.sine)
        return (UtilityClaim(goal, all_but(self.beta), "§3.2, Theorem 21"),)


class AHighHCorrectedTheory(Mechanism):
    """Of `AHighHCorrected`, whose parameters these are."""

    epsilon: float
    dimension: int
    alpha: float

    @property
    @abstractmethod
    def reach(self) -> int:
        """B."""

    def failure(self, records: int) -> float:
        """β for this number of examples; above 1 if there is no guarantee."""
        d = self.dimension
        return d * (2 * self.reach + 1) * exp(-self.epsilon * self.alpha * records / (2 * d * d))

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """The bound above."""
        if self.failure(records) >= 1:
            return ()
        goal = HighDimError(self.alpha, self.dimension)
        return (UtilityClaim(goal, all_but(self.failure(records)), "§3.2, Theorem 21, corrected"),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The sample size from which β is at most 0.05."""
        d = self.dimension
        least = 2 * d * d / (self.alpha * self.epsilon) * log(d * (2 * self.reach + 1) / BETA)
        formula = f"(2d²/(αε))·ln(d(2B + 1)/β), B = {self.reach}, α = {self.alpha:g}, β = {BETA:g}"
        guarantee = f"empirical error ≤ α with probability at least {1 - BETA:g}"
        return (SampleSize(math.ceil(least), formula, guarantee, "§3.2, Theorem 21, corrected"),)


@dataclass(frozen=True)
class HighDimError(Goal):
    """A half-space that labels at most αn of the n examples wrongly.

    Also reached if no half-space explains the sample, or γ is larger than in Lemma 11 for its points.

    Args:
        alpha: > 0.
        dimension: d.
        sine: sin γ, if the output is the indices of d − 1 angles; None if it is a normal vector.

    Source: half-spaces paper, Definitions 7 and 8.
    """

    alpha: checks.Positive
    dimension: int
    sine: Sine | None = None

    def reached(self, instance: Instance, output: Any) -> bool:
        S = examples(instance.dataset, self.dimension)
        if not is_meant(self.sine, self.dimension, S):
            return True
        if self.sine is None:
            sides = ((sum(a * b for a, b in zip(output, x, strict=True)) >= 0, y == 1, n) for (x, y), n in S.items)
            right = sum(n for positive, meant, n in sides if positive == meant)
        else:
            right = int(agreements(self.sine, self.dimension, S)[tuple(output)])
        return len(S) - right <= as_written(self.alpha) * len(S)

    def __str__(self) -> str:
        return f"a half-space of empirical error ≤ {self.alpha:.4g}"
