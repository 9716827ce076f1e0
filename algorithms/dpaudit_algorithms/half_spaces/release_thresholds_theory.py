"""Utility guarantees of ReleaseThresholds, in place of Theorem 6.23, and how close data are for thresholds."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

from dpaudit.language import (
    Claim,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    SampleSize,
    UtilityClaim,
    checks,
    exp,
    sqrt,
)
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.lower_bounds.query_release_theory import exactly


class ReleaseThresholdsTheory(Mechanism):
    """Of `ReleaseThresholds`, whose parameters these are."""

    size: int
    alpha: float | Fraction

    @property
    @abstractmethod
    def most_steps(self) -> int:
        """M."""

    @property
    @abstractmethod
    def part(self) -> Claim:
        """(ε₀, δ₀) of each of the three mechanisms of a step."""

    @property
    @abstractmethod
    def calls(self) -> int:
        """N, the number of calls of RecConcave on all of X."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """1/ε₀, the noise scale of a count, in records."""

    @abstractmethod
    def tau(self, records: int) -> float:
        """τ = αn/8, in records."""

    @abstractmethod
    def end_finder(self, start: int, records: int) -> Mechanism:
        """RecConcave for the end of the piece that begins at `start`."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """α-close, and α/2-close as in the proof, with the least β for this number of records."""
        beta = self.failure(records)
        if beta >= 1:
            return ()
        place = "Definition 6.20, by the construction"
        goals = (CloseData(self.alpha), CloseData(exactly(self.alpha) / 2))
        return tuple(UtilityClaim(goal, all_but(beta), place) for goal in goals)

    def failure(self, records: int) -> float:
        """The bound on the probability that the synthetic data are not α/2-close; at least 1 if vacuous."""
        M, tau = self.most_steps, self.tau(records)
        if records < 1 or min(math.ceil(16 / exactly(self.alpha)), self.size) > M:
            return 1.0
        y = tau / (sqrt(8) * self.scale)
        noise = 4 * exp(-min(y * y / (2 * M), y))
        return noise + M * self._step_fails(records)

    def _step_fails(self, records: int) -> float:
        """The bound on the probability that RecConcave misses half of the quality promise."""
        guaranteed = self.end_finder(0, records).utility(0)
        probability = 1 - guaranteed[0].probability if guaranteed else 1.0
        if self.calls == 1:
            probability = min(probability, self.size * exp(-self.part.epsilon / 24 * self.tau(records)))
        return probability

    def least_records(self, beta: float) -> int:
        """The least n from which the failure is at most beta.

        Raises:
            ParameterError: beta outside (0, 1), or no n is enough: fewer steps than the proof needs, or base > 32.
        """
        return least_records(self.failure, beta)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The least n for β = 0.05, if the construction has a guarantee."""
        try:
            records = self.least_records(BETA)
        except ParameterError:
            return ()
        return (
            SampleSize(
                records,
                f"4e^(−L) + M·(failure of RecConcave at r = αn/16) ≤ {BETA:g}, L = min(y²/(2M), y), y = ε₀αn/(8√8)",
                f"{float(self.alpha):.4g}-close for all thresholds with probability at least {1 - BETA:g}",
                "Theorem 6.23, by the construction",
            ),
        )


def least_records(failure: Callable[[int], float], beta: float) -> int:
    """The least n with failure(n) ≤ beta, for a decreasing `failure`.

    Raises:
        ParameterError: beta outside (0, 1), or no such n up to 2^60.
    """
    checks.probability("beta", beta, open_ends=True)
    high = 1
    while failure(high) > beta:
        high *= 2
        if high > 1 << 60:
            raise ParameterError(f"No number of records is enough for beta = {beta} with these steps and this base.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if failure(middle) <= beta else (middle, high)
    return high


@dataclass(frozen=True)
class CloseData(Goal):
    """The output is a database Ŝ with |Q_c(S) − Q_c(Ŝ)| ≤ α for every threshold c.

    Args:
        alpha: > 0, exactly as written in decimals, or a fraction.

    Source: thesis, Definition 6.20 for THRESH_X.
    """

    alpha: checks.ExactPositive

    def reached(self, instance: Instance, output: Any) -> bool:
        return distance(Multiset.of(instance.dataset), Multiset.of(output)) <= exactly(self.alpha)

    def __str__(self) -> str:
        return f"synthetic data {float(self.alpha):.4g}-close for thresholds"


def distance(S: Multiset, other: Multiset) -> Fraction:
    """The largest |Q_c(S) − Q_c(other)| over thresholds c; 1 if one database is empty."""
    if not S.items or not other.items:
        return Fraction(1)
    n, m = len(S), len(other)
    # both sides are constant between values
    return max(
        Fraction(abs(m * up_to(S, x) - n * up_to(other, x)), n * m) for x in {*S.values, *other.values}
    )


def between(S: Multiset, low: int, high: int) -> int:
    """#S[low, high], 0 where low > high."""
    return up_to(S, high) - up_to(S, low - 1) if low <= high else 0


def up_to(S: Multiset, x: int) -> int:
    """#S[min X, x]."""
    values, totals = _totals(S)
    return totals[bisect_right(values, x)]


@lru_cache(maxsize=256)
def _totals(S: Multiset) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Distinct values, ascending, and the number of records before each of them and in total."""
    return S.values, (0, *accumulate(count for _, count in S.items))
