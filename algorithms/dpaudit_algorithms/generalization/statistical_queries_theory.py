"""Accuracy of noisy answers on the sample, and on its distribution by Corollary 4.10."""

from __future__ import annotations

import math
from abc import abstractmethod

from dpaudit.language import SampleSize, UtilityClaim, checks, log
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.generalization.interaction import AccurateAnswers, Interactive


class NoisyAnswersTheory(Interactive):
    """Of `NoisyAnswers`, whose parameters these are."""

    epsilon: float
    delta: float
    k: int
    records: int

    @property
    @abstractmethod
    def scale(self) -> float:
        """Scale of the noise of one answer, in units of q(S)."""

    @abstractmethod
    def quantile(self, p: float) -> float:
        """t with Pr[|noise| > t] = p, in units of `scale`."""

    def sample_accuracy(self, beta: float) -> float:
        """α such that the answers are (α, β)-accurate with respect to the sample: k tails of β/k each.

        It is also the least α from a union bound over k answers, because the tails are exact.
        """
        return self.scale * self.quantile(checks.probability("beta", beta, open_ends=True) / self.k)

    def records_for(self, alpha: float, beta: float) -> int:
        """The least n ≥ 1 for which the answers are (α, β)-accurate with respect to the sample, by the same tails."""
        return max(1, math.ceil(self.sample_accuracy(beta) * self.records / checks.positive("alpha", alpha)))

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(α, 0.05)-accurate on the sample; from Corollary 4.10's n on (α + 10ε, 0.05 + δ/ε)-accurate on D."""
        alpha = self.sample_accuracy(BETA)
        sample = UtilityClaim(AccurateAnswers(self.analyst, alpha, "sample"), all_but(BETA), "§4.5.1, Definition 4.9")
        if records < self.sample_sizes[0].records:
            return (sample,)
        goal = AccurateAnswers(self.analyst, alpha + 10 * self.epsilon)
        return (sample, UtilityClaim(goal, self.confidence(BETA), "§4.5.2, Corollary 4.10"))

    def confidence(self, beta: float) -> float:
        """1 − β − δ/ε."""
        return all_but(beta + self.delta / self.epsilon)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        least = log(2 * self.epsilon * self.k / self.delta) / self.epsilon**2
        return (
            SampleSize(
                max(1, math.ceil(least)),
                "n ≥ (1/ε²)·ln(2εk/δ)",
                "(α, β)-accuracy on the sample implies (α + 10ε, β + δ/ε)-accuracy on the distribution",
                "§4.5.2, Corollary 4.10",
            ),
        )
