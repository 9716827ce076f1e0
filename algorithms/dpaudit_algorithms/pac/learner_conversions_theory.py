"""Accuracy of private PAC learners as empirical learners, and back: Lemmas 7.18 and 7.20, Theorem 3.5."""

from __future__ import annotations

from abc import abstractmethod

from dpaudit.language import PAC_OVERVIEW, Mechanism, SampleSize, UtilityClaim, as_written
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError, GeneralisationError, Thresholds

LEMMA = "§7.4, Lemma 7.20"
_OVERVIEW = f"{PAC_OVERVIEW}, §3.2, Theorem 3.5"


class EmpiricalTheory(Mechanism):
    """Of both versions; the parameters are those of `EmpiricalLearner`."""

    concepts: ConceptClass
    alpha: float
    beta: float

    @property
    @abstractmethod
    def n(self) -> int:
        """Rows of the dataset."""

    @property
    def _formula(self) -> str:
        return "n = 9m"

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Empirical error at most α with probability 1 − β, on every dataset of n examples labelled by a concept.

        The m rows are independent draws from the uniform distribution on the rows of D, whose error is that on D.
        """
        if records != self.n:
            return ()
        place = f"{LEMMA}; {_OVERVIEW}" if self.alpha == self.beta == 0.25 else LEMMA
        return (UtilityClaim(EmpiricalError(self.concepts, self.alpha), float(1 - as_written(self.beta)), place),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """n rows."""
        return (SampleSize(self.n, self._formula, f"{self.claim}, and accurate on every dataset as on samples", LEMMA),)


class EmpiricalCorrectedTheory(EmpiricalTheory):
    """Of `EmpiricalLearnerCorrected`, where it differs."""

    @property
    def _formula(self) -> str:
        return "n = max{9m, ⌈(e^ε − 1)/(e^{ε/m} − 1)⌉}"


class PacTheory(Mechanism):
    """Of `PacLearner`, whose parameters these are."""

    concepts: Thresholds
    alpha: float
    beta: float
    beta_prime: float

    @property
    @abstractmethod
    def samples(self) -> int:
        """max{n, ⌈4·ln(2/β′)/α⌉}."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Generalisation error at most 2α with probability 1 − β − β′, for every distribution and every target."""
        if records < self.samples:
            return ()
        goal = GeneralisationError(self.concepts, float(2 * as_written(self.alpha)))
        return (UtilityClaim(goal, self._probability, "§7.4, Lemma 7.18"),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The printed number."""
        guarantee = f"generalisation error ≤ {2 * self.alpha:.4g} with probability {self._probability:.4g}"
        return (SampleSize(self.samples, "n ≥ max{n, 4·ln(2/β′)/α}", guarantee, "§7.4, Lemma 7.18"),)

    @property
    def _probability(self) -> float:
        return max(0.0, float(1 - as_written(self.beta) - as_written(self.beta_prime)))
