"""Utility guarantees of the reductions between thresholds and interior points: Lemma 7.22 and Theorem 7.21."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction

from dpaudit.language import InteriorPoint, Mechanism, SampleSize, UtilityClaim, as_written, log2
from dpaudit_algorithms.pac.concepts import EmpiricalError, GeneralisationError, Thresholds


class ThresholdsFromInteriorPointTheory(Mechanism):
    """Of `ThresholdsFromInteriorPoint`, whose parameters these are."""

    n: int
    alpha: float
    beta: float
    high: int

    @property
    def records(self) -> int:
        """n/(2α), rounded up."""
        return math.ceil(Fraction(self.n) / (2 * as_written(self.alpha)))

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 7.22(1) and Theorem 7.21(1)."""
        thresholds, claims = Thresholds(self.high + 1), []
        empirical, general = (size.records for size in self.sample_sizes)
        if records >= empirical:
            goal = EmpiricalError(thresholds, self.alpha)
            claims.append(UtilityClaim(goal, 1 - self.beta, "§7.5, Lemma 7.22(1)"))
        if records >= general:
            error = GeneralisationError(thresholds, 2 * self.alpha)
            claims.append(UtilityClaim(error, max(0.0, 1 - 2 * self.beta), "§7.5, Theorem 7.21(1)"))
        return tuple(claims)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Of the empirical learner, and of the PAC learner that it then is (Lemma 7.18 with β′ = β)."""
        logs = math.ceil(4 * log2(2 / self.beta) / self.alpha)
        return (
            SampleSize(
                self.records, "n/(2α)", "empirical error ≤ α with probability 1 − β", "§7.5, Lemma 7.22(1)"
            ),
            SampleSize(
                max(self.records, logs),
                "max{n/(2α), 4·log(2/β)/α}",
                "generalisation error ≤ 2α with probability 1 − 2β",
                "§7.5, Theorem 7.21(1)",
            ),
        )


class InteriorPointFromThresholdsTheory(Mechanism):
    """Of `InteriorPointFromThresholds`, whose parameters these are."""

    n: int
    alpha: float
    beta: float
    shrink: int

    @property
    @abstractmethod
    def examples(self) -> int:
        """How many the learner gets."""

    @property
    def misses_count(self) -> bool:
        """Whether ⌊n/2⌋ wrong labels are more than α of the examples, on which the proof rests."""
        return self.n // 2 > as_written(self.alpha) * self.examples

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 7.22(2); nothing for the odd n ≤ 3 and the roundings where ⌊n/2⌋ misses are within α."""
        if records != self.n or self.n < 2 or (self.shrink == 3 and not self.misses_count):
            return ()
        place = "§7.5, Lemma 7.22(2)" if self.shrink == 3 else 'lecture notes, "Learning Thresholds with DP"'
        return (UtilityClaim(InteriorPoint(), 1 - self.beta, place),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """n for a learner of n/(3α) examples; 27αm for a PAC learner of m."""
        pac = math.ceil(Fraction(self.examples, 9))
        return (
            SampleSize(
                self.n,
                f"{self.shrink}·α·m, m = {self.examples} examples of the empirical learner",
                "an interior point with probability 1 − β",
                "§7.5, Lemma 7.22(2)",
            ),
            SampleSize(
                math.ceil(27 * as_written(self.alpha) * pac),
                f"27·α·n, n = {pac} examples of a PAC learner",
                "an interior point with probability 1 − β, from a PAC learner on a subsample of 9n (Lemma 7.20)",
                "§7.5, Theorem 7.21(2)",
            ),
        )
