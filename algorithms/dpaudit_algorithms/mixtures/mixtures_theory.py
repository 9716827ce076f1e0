"""Utility guarantees of A_LearnHalf: Lemma 4.6, Claim 4.7, and Theorems 4.9 and 4.10."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from dpaudit.language import Mechanism, SampleSize, UtilityClaim, checks, exp
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.mixtures.mixtures_class import Errors, Hypothesis
from dpaudit_algorithms.mixtures.mixtures_data import NearErm

ALPHA = 0.1
"""The error for which guarantees that hold for every α are shown."""


class LearnHalfTheory(Mechanism):
    """Of `LearnHalf`, whose parameters these are."""

    epsilon: float
    dimension: int

    @abstractmethod
    def levels(self, S: Any) -> Errors:
        """𝒢 and the errors of its members on the dataset, minus the errors that all have in common."""

    @abstractmethod
    def hypothesis(self, S: Any, number: int) -> Hypothesis:
        """The hypothesis with this number, an output."""

    def failure(self, alpha: float, size: int, records: int) -> float:
        """|𝒢|·e^{−εnα/2}, the bound in Lemma 4.6's proof on the probability of more than αn errors above the best."""
        return size * exp(max(-700.0, -self.epsilon * records * alpha / 2))

    def guarantee(self, alpha: float, S: Any) -> UtilityClaim:
        """Claim 4.7 on this dataset: err^ ≤ err^ of the best halfspace + alpha, except with probability |𝒢|·e^{−εnα/2}.

        Raises:
            ParameterError: alpha outside (0, 1).
        """
        checks.probability("alpha", alpha, open_ends=True)
        failure = self.failure(alpha, self.levels(S).size, len(S))
        return UtilityClaim(NearErm(self, alpha), all_but(failure), "§4, Claim 4.7, with the constants of its proof")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Claim 4.7 with α = 0.1 and the least β for this number of records, all of them public."""
        if not records:
            return ()
        log_size = bounds.log_hypotheses(self.dimension, records)
        failure = exp(min(0.0, log_size - self.epsilon * records * ALPHA / 2))
        claim = UtilityClaim(NearErm(self, ALPHA), all_but(failure), "§4, Claim 4.7, with the constants of its proof")
        return (claim,) if failure < 1 else ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Claim 4.7, Theorems 4.9 and 4.10 at α = 0.1, β = 0.05, with the constants of their proofs."""
        given = (self.dimension, self.epsilon, ALPHA, BETA)
        return (
            bounds.mixture_empirical(*given),
            bounds.mixture_realisable(*given),
            bounds.mixture_agnostic(*given),
        )
