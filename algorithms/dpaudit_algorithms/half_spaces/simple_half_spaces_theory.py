"""Utility guarantees of A_SimpleH: Theorem 14, as printed and corrected."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import Goal, Instance, Mechanism, SampleSize, UtilityClaim, as_written, checks, exp, log
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.half_spaces.angles import Sine
from dpaudit_algorithms.half_spaces.half_spaces import agreeing, examples, is_meant, qualities
from dpaudit_algorithms.interior_points.rec_concave import RecConcaveCorrected


class ASimpleHTheory(Mechanism):
    """Of `ASimpleH`, whose parameters these are."""

    sine: Sine
    alpha: float
    beta: float

    @property
    @abstractmethod
    def kept(self) -> int:
        """C = n_Thr."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Theorem 14 from n_Thr examples on: the printed n = O(n_Thr) with the constant 1."""
        if records < self.kept:
            return ()
        return (UtilityClaim(HalfspaceError(self.alpha, self.sine), all_but(self.beta), "§3.1, Theorem 14"),)


class ASimpleHCorrectedTheory(Mechanism):
    """Of `ASimpleHCorrected`, whose parameters these are."""

    epsilon: float
    records: int
    alpha: float

    @property
    @abstractmethod
    def solutions(self) -> int:
        """m, normals of a half-circle."""

    @abstractmethod
    def optimiser(self, half: int) -> ExponentialMechanism | RecConcaveCorrected:
        """Step 2."""

    def failure(self, records: int) -> float:
        """β for r = `records`: β₁ + e^{−εαr/12}; above 1 if there is no guarantee."""
        lost = exp(-self.epsilon * self.alpha * records / 12)
        inner = self.optimiser(0)
        if isinstance(inner, ExponentialMechanism):
            return (self.solutions + 1) * lost
        guaranteed = inner.utility(records)
        return 1 - guaranteed[0].probability + lost if guaranteed else 2.0

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """The bound above, for exactly r examples."""
        failure = self.failure(records) if records == self.records else 2.0
        if failure >= 1:
            return ()
        return (UtilityClaim(HalfspaceError(self.alpha), all_but(failure), "§3.1, Theorem 14, corrected"),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The sample size from which β is at most 0.05; with several calls both failures are at most β/2."""
        inner, choice = self.optimiser(0), 12 / (self.alpha * self.epsilon)
        if isinstance(inner, ExponentialMechanism):
            least, formula = choice * log((self.solutions + 1) / BETA), "(12/(αε))·ln((m + 1)/β)"
        else:
            promise = inner.least_promise(BETA / (4 * inner.calls))
            least = max(promise, choice * log(2 / BETA))
            formula = "max{r of Lemma 6.13, corrected, for α/2, ε̂, δ̂ and β/2; (12/(αε))·ln(2/β)}"
        return (
            SampleSize(
                math.ceil(least),
                f"{formula}, β = {BETA:g}, m = {self.solutions}",
                f"empirical error ≤ α with probability at least {1 - BETA:g}",
                "§3.1, Theorem 14, corrected",
            ),
        )


@dataclass(frozen=True)
class HalfspaceError(Goal):
    """A half-space that labels at most αn of the n examples wrongly.

    Also reached if no half-space explains the sample, or γ is larger than in Lemma 11 for its points.

    Args:
        alpha: > 0.
        sine: sin γ, if the output is the index of an angle; None if it is a normal vector.

    Source: half-spaces paper, Definitions 7 and 8.
    """

    alpha: checks.Positive
    sine: Sine | None = None

    def reached(self, instance: Instance, output: Any) -> bool:
        S = examples(instance.dataset)
        if not is_meant(Fraction(0) if self.sine is None else self.sine, S):
            return True
        right = agreeing(S, output) if self.sine is None else int(qualities(self.sine, S)[output])
        return len(S) - right <= as_written(self.alpha) * len(S)

    def __str__(self) -> str:
        return f"a half-space of empirical error ≤ {self.alpha:.4g}"
