"""Utility guarantees of query release: of ThresholdRelease, of Theorem 7.29's refinement, and Lemma 7.30."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    DatasetError,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    SampleSize,
    UtilityClaim,
    as_written,
    exp,
    log,
    to_float,
)
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError, GeneralisationError, Thresholds

PRINTED = Fraction(1, 150)
"""ε, α and β of Lemma 7.30's release."""
FIFTH = Fraction(1, 5)
"""ε, α and β of Lemma 7.30's learner."""


def exactly(number: float | Fraction) -> Fraction:
    """A fraction as it is; of a float the decimal that it was written as."""
    return number if isinstance(number, Fraction) else as_written(to_float(number))


def share(concepts: ConceptClass, concept: Any, dataset: Multiset) -> Fraction:
    """c(D): the share of the records that satisfy c.  Source: thesis, section 6.6, Q_c."""
    return Fraction(sum(count for x, count in dataset.items if concepts.label(concept, x)), len(dataset))


@dataclass(frozen=True)
class CloseAnswers(Goal):
    """|a_c − c(D)| ≤ α for every c of the class.  Source: thesis, Definition 6.20."""

    concepts: ConceptClass
    alpha: float | Fraction

    def reached(self, instance: Instance, output: Any) -> bool:
        D, alpha = Multiset.of(instance.dataset), exactly(self.alpha)
        return all(
            abs(a - share(self.concepts, c, D)) <= alpha for c, a in zip(self.concepts.concepts, output, strict=True)
        )

    def __str__(self) -> str:
        return f"all answers within {float(self.alpha):.4g}"


class ThresholdReleaseTheory(Mechanism):
    """Of `ThresholdRelease`, whose parameters these are."""

    size: int
    alpha: float | Fraction

    @property
    @abstractmethod
    def scale(self) -> float:
        """Scale of the noise, in records."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Within α but with probability (|X| − 1)·Pr[|noise| > αn/(|X| − 1)]."""
        goal = CloseAnswers(Thresholds(self.size), self.alpha)
        return (UtilityClaim(goal, max(0.0, 1 - self._failure(records)), "by the noise of its counts"),)

    def _failure(self, records: int) -> float:
        most = math.floor(exactly(self.alpha) * records / (self.size - 1))
        tail = 2 * exp(-(most + 1) / self.scale) / (1 + exp(-1 / self.scale))
        return (self.size - 1) * tail

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        counts = self.size - 1
        needed = self.scale * log(2 * counts / (float(PRINTED) * (1 + exp(-1 / self.scale))))
        # every noise at most m, from m + 1 ≥ needed on; n is the least with αn/(|X| − 1) ≥ m
        records = math.ceil(max(0, math.ceil(needed) - 1) * counts / exactly(self.alpha))
        return (
            SampleSize(
                records,
                "(|X| − 1)·m/α, m = ⌈(2/ε)·ln(300(|X| − 1)/(1 + e^{−ε/2}))⌉ − 1",
                f"all answers within {float(self.alpha):.4g} with probability at least 149/150",
                "by the noise of its counts",
            ),
        )


class RefinedReleaseTheory(Mechanism):
    """Of `RefinedRelease`, whose parameters these are."""

    inner: Mechanism
    alpha: float | Fraction

    @abstractmethod
    def padded(self, records: int) -> int:
        """n, for 150αn records."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Within 1/150, as often as Ã is within α on n records."""
        try:
            n = self.padded(records)
        except DatasetError:
            return ()
        return tuple(
            UtilityClaim(CloseAnswers(claim.goal.concepts, PRINTED), claim.probability, "§7.6, proof of Theorem 7.29")
            for claim in self.inner.utility(n)
            if isinstance(claim.goal, CloseAnswers) and exactly(claim.goal.alpha) <= exactly(self.alpha)
        )


class LearnerFromReleaseTheory(Mechanism):
    """Of `LearnerFromRelease`, whose parameters these are."""

    inner: Mechanism
    concepts: ConceptClass

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Training error ≤ 4α₀ on examples that a concept of C labels, and Lemma 7.30 where Theorem 3.17 gives it."""
        claims = []
        for claim in self.inner.utility(records):
            if not isinstance(claim.goal, CloseAnswers):
                continue
            alpha, beta = 4 * exactly(claim.goal.alpha), 2 * (1 - claim.probability)
            few = EmpiricalError(self.concepts, float(alpha))
            claims.append(UtilityClaim(few, max(0.0, 1 - beta), "§7.6, Lemma 7.30, by two releases"))
            if alpha <= FIFTH / 2 and self._generalises(records, float(FIFTH) - beta):
                good = GeneralisationError(self.concepts, float(FIFTH))
                claims.append(UtilityClaim(good, 0.8, "§7.6, Lemma 7.30"))
        return tuple(claims)

    def _generalises(self, records: int, beta: float) -> bool:
        """Theorem 3.17 with α = 1/5: n ≥ (64·VC/α)·ln(512/(αβ))."""
        return beta > 0 and records >= 64 * self.concepts.vc * 5 * log(512 * 5 / beta)
