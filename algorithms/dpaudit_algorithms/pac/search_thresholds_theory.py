"""The utility of the threshold learner of section 6.3, derived from the guarantees of its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    Goal,
    Instance,
    Mechanism,
    Multiset,
    SampleSize,
    UtilityClaim,
    as_written,
    ceil_log2,
    checks,
    exp,
    log,
)
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.pac.concepts import Thresholds


@dataclass(frozen=True)
class DiverseError(Goal):
    """A concept of empirical error ≤ α, where a threshold labels the sample and ≥ (3α/4)n have either label.

    Args:
        size: |X|.
        alpha: > 0.

    Source: Stemmer's thesis, section 6.3, whose two simplifying assumptions these are.
    """

    size: int
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        S = Multiset.of(instance.dataset)
        ones = sum(count for (_, y), count in S.items if y)
        last, first = max((x for x, y in S.values if y), default=-1), min((x for x, y in S.values if not y), default=0)
        least = as_written(self.alpha) * len(S) * 3 / 4
        if last >= first or min(ones, len(S) - ones) < least:
            return True
        return Thresholds(self.size).wrong(output, S) <= as_written(self.alpha) * len(S)

    def __str__(self) -> str:
        return f"a threshold of empirical error ≤ {self.alpha:.4g} where (3α/4)n or more examples have either label"


class SearchThresholdsTheory(Mechanism):
    """Of both versions; the parameters are those of `SearchThresholds`."""

    size: int
    alpha: float
    epsilon: float
    delta: float
    log_base: float

    @property
    def comparisons(self) -> int:
        """The most noisy comparisons of the search: ⌈log ⌈log|X|⌉⌉."""
        levels = ceil_log2(self.size)
        return ceil_log2(levels) if levels > 1 else 0

    def _misses(self, n: int) -> float:
        """The probability that A_dist gives ⊥ at a lead of (α/4)n above its threshold t: ½·e^{−(ε/4)·(lead − t)}."""
        return exp(min(1.0, log(2 / self.delta, self.log_base) - self.epsilon / 4 * self.alpha * n / 4)) / 2

    @property
    def _ties(self) -> float:
        """The probability that A_dist answers where all qualities are 0: ½·e^{−(ε/4)·t}."""
        return exp(-log(2 / self.delta, self.log_base)) / 2

    def failure(self, n: int) -> float:
        """A bound on the probability that the error is above α, with n examples as section 6.3 assumes.

        A noisy comparison is off by (α/4)n or more; A_dist misses, or answers a tie; the exponential mechanism loses
        (α/4)n or more.
        """
        quarter, k = self.alpha * n / 4, self.comparisons
        search = k * exp(-quarter * self.epsilon / (4 * k)) if k else 0.0
        return search + self._misses(n) + self._ties + 5 * exp(-quarter * self.epsilon / 8)

    def sample_size(self, beta: float) -> int:
        """The least n, up to 1 %, from which `failure` is at most beta.

        Raises:
            ParameterError: beta outside (0, 1), or not above the probability that A_dist answers a tie.
        """
        checks.probability("beta", beta, open_ends=True)
        checks.at_least("beta", beta, 2 * self._ties)
        n = 1
        while self.failure(n) > beta:
            n = math.ceil(n * 1.01) + 1
        return n

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Empirical error ≤ α with the probability that the parts guarantee; none where that is 0."""
        failure = self.failure(records)
        goal = DiverseError(self.size, self.alpha)
        return (UtilityClaim(goal, all_but(failure), self._place),) if failure < 1 else ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """At β = 0.05, where δ affords it."""
        if 2 * self._ties > BETA:
            return ()
        return (
            SampleSize(
                self.sample_size(BETA),
                "least n with k·e^{−αεn/(16k)} + Pr[A_dist misses a lead of αn/4] + Pr[it answers a tie] + "
                f"5·e^{{−αεn/32}} ≤ β, k = {self.comparisons}, β = {BETA:g}",
                f"empirical error ≤ α with probability at least {1 - BETA:g}", self._place,
            ),
        )

    _place = "§6.3, Remark 6.4"


class SearchThresholdsCorrectedTheory(SearchThresholdsTheory):
    """Of `SearchThresholdsCorrected`, where it differs."""

    def _misses(self, n: int) -> float:
        return exp(min(1.0, log(2 / self.delta) - self.epsilon / 8 * (self.alpha * n / 4 - 2))) / 2

    @property
    def _ties(self) -> float:
        return self.delta / 4 * exp(-self.epsilon / 4)

    _place = "§6.3, Remark 6.4, corrected"
