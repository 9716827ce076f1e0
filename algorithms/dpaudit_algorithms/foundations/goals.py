"""Goals of algorithms that choose by a quality, or that find a point among the records.

Guarantees with a condition ("where the best solution leads by g, …") hold for every dataset if they are read as "if …,
then": such a goal counts as reached if its condition is not met.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpaudit.language import BOTTOM, Goal, Instance, Multiset, Quality, checks

BETA = 0.05
"""The failure probability at which guarantees that hold for every β are shown."""


def all_but(failure: float) -> float:
    """1 − failure, rounded down, and 0 where that is below 0: the probability of a printed guarantee.

    Rounded down, because 1 − 10⁻³⁰⁰ would be 1 as a double, which nothing random keeps.
    """
    return max(0.0, math.nextafter(1 - failure, 0.0))


@dataclass(frozen=True)
class NearBest(Goal):
    """A solution of score above max q(S, ·) − below.

    Args:
        quality: q.
        below: > 0, in units of the score.

    Source: thesis, Proposition 3.27(ii), where `below` is Δm.
    """

    quality: Quality
    below: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        scores = self.quality(instance.dataset)
        score = scores.of(output)
        return score is not None and score > scores.best().score - self.below

    def __str__(self) -> str:
        return f"a score less than {self.below:.6g} below the best"


@dataclass(frozen=True)
class ClearBest(Goal):
    """The best solution, where its score is above all others by `lead` or more.

    Args:
        quality: q.
        lead: > 0, in units of the score.

    Source: thesis, Proposition 3.28(ii).
    """

    quality: Quality
    lead: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        scores = self.quality(instance.dataset)
        if scores.size < 2:
            return True
        best, second = scores.two_highest()
        return best.score - second.score < self.lead or output == best.solution

    def __str__(self) -> str:
        return f"the best solution where it leads by {self.lead:.6g}"


@dataclass(frozen=True)
class NearBestOrBottom(Goal):
    """A solution of score ≥ max q(S, ·) − below; or ⊥, where that is less than 0.

    Args:
        quality: q: X* × F → ℕ.
        below: > 0, in units of the score.

    Source: thesis, Lemma 7.10, with ⊥ as its proof reads it.
    """

    quality: Quality
    below: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        scores = self.quality(instance.dataset)
        least = (scores.best().score if scores.size else 0.0) - self.below
        if output is BOTTOM:
            return least < 0
        score = scores.of(output)
        return (0.0 if score is None else score) >= least

    def __str__(self) -> str:
        return f"a score at most {self.below:.6g} below the best, or ⊥ where the best is below that"


@dataclass(frozen=True)
class Supported(Goal):
    """A solution of score ≥ 1, where some solution has a score of `guaranteed` or more.

    Source: thesis, Lemma 7.11.
    """

    quality: Quality
    guaranteed: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        scores = self.quality(instance.dataset)
        if not scores.size or scores.best().score < self.guaranteed:
            return True
        score = scores.of(output)
        return score is not None and score >= 1

    def __str__(self) -> str:
        return f"a solution of score ≥ 1 where some score is ≥ {self.guaranteed:.6g}"


@dataclass(frozen=True)
class PromiseKept(Goal):
    """A solution of score ≥ (1 − α)·r, where q(S, ·) is quasi-concave and reaches r.

    Args:
        quality: q, on solutions that are consecutive whole numbers.
        promise: r.
        alpha: α > 0.

    Source: thesis, Definition 6.6.
    """

    quality: Quality
    promise: checks.Number
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        scores = self.quality(instance.dataset)
        values = scores.steps.values.tolist()
        top = values.index(max(values))
        rises = all(a <= b for a, b in pairwise(values[: top + 1]))
        falls = all(a >= b for a, b in pairwise(values[top:]))
        if not (rises and falls) or values[top] < self.promise:
            return True
        score = scores.of(output)
        return score is not None and score >= (1 - self.alpha) * self.promise

    def __str__(self) -> str:
        return f"a score of at least {(1 - self.alpha) * self.promise:.6g} where the promise {self.promise:.6g} is kept"


@dataclass(frozen=True)
class DeepPoint(Goal):
    """x with x_i ≤ x for some record, and x_i ≥ x for at least k records.  Source: thesis, Lemma 7.14."""

    k: checks.Natural

    def reached(self, instance: Instance, output: Any) -> bool:
        S = Multiset.of(instance.dataset)
        return bool(S.values) and S.values[0] <= output and S.at_least(output) >= self.k

    def __str__(self) -> str:
        return f"a point with a record at or below it and {self.k:,} at or above"
