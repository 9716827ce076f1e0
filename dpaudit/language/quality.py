"""Qualities: what the exponential mechanism, A_dist and the choosing mechanism choose by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpaudit.language.multiset import Multiset
from dpaudit.language.scores import AnyScores, Scores, step_scores
from dpaudit.language.step_scores import StepScores


class Quality(ABC):
    """A quality function q(S, ·): a frozen dataclass called on a dataset."""

    sensitivity: float = 1.0
    growth: int | None = None
    """k if it is of k-bounded growth (thesis §7.3.1)."""

    @abstractmethod
    def __call__(self, dataset: Any) -> AnyScores:
        """Scores of all solutions; computed once per dataset (cache it: generators are replayed)."""


@dataclass(frozen=True)
class Multiplicity(Quality):
    """q(S, x) = how often x stands in S: 1-sensitive, of 1-bounded growth.

    Args:
        solutions: the solution set, in its fixed order; a `range` of any length will do.
    """

    solutions: tuple[Any, ...] | range
    growth = 1

    def __call__(self, dataset: Any) -> AnyScores:
        return _multiplicities(self.solutions, Multiset.of(dataset))


@lru_cache(maxsize=256)
def _multiplicities(solutions: tuple[Any, ...] | range, dataset: Multiset) -> AnyScores:
    counts = dict(dataset.items)
    if isinstance(solutions, range) and solutions.step == 1 and solutions:
        first, stop = solutions.start, solutions.stop
        scores = {first: 0}
        for value in sorted(value for value in counts if value in solutions):
            scores |= {int(value): counts[value]} | ({int(value) + 1: 0} if value + 1 < stop else {})
        return step_scores(list(scores), list(scores.values()), stop)
    return Scores([counts.get(solution, 0) for solution in solutions], solutions)


@dataclass(frozen=True)
class Given(Quality):
    """The dataset *is* the scores: for qualities computed by an outer algorithm."""

    def __call__(self, dataset: Any) -> AnyScores:
        return dataset if isinstance(dataset, Scores | StepScores) else Scores(tuple(dataset))

