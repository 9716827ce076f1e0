"""Quality functions of the exponential mechanism, A_dist and the choosing mechanism."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, SupportsFloat, TypeAlias

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.language.checks import Checked
from dpaudit.language.distributions.step_scores import Solution, StepScores
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record
from dpaudit.language.relation import Dataset
from dpaudit.language.scores import AnyScores, Scores, step_scores
from dpaudit.language.symmetry import Symmetry, exchanges, relabellings
from dpaudit.stats.enclosed import cached

MOST_VALUES = 10_000
"""Most distinct records of a dataset constructed from scores."""
Realised: TypeAlias = tuple[Multiset, Multiset]


class Quality(Checked, ABC):
    """A quality function q(S, ·): a frozen dataclass called on a dataset."""

    sensitivity: float = 1.0
    """Largest difference of one score between two neighbours, under the relation of the mechanism that uses it."""
    growth: int | None = None
    """k if the quality is of k-bounded growth (thesis §7.3.1)."""

    @property
    def n_solutions(self) -> int | None:
        """|H|, the number of solutions, if it is the same for every dataset and all are listed; else None."""
        return None

    @abstractmethod
    def __call__(self, dataset: Any) -> AnyScores:
        """Scores of all solutions; computed once per dataset (cache it: generators are replayed)."""

    def realised(self, left: AnyScores, right: AnyScores, records: int | None = None) -> Realised | None:
        """Two datasets, one replaced record apart, with exactly these scores; None if there are none.

        Args:
            left, right: scores of the same solutions, which are numbered from 0 here.
            records: the number of records of the datasets; the fewest possible by default.

        Raises:
            NotImplementedError: this quality does not implement it.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot construct datasets with given scores.")

    def symmetries(self, domain: Sequence[Record]) -> tuple[Symmetry, ...]:
        """Symmetries of the scores, analogous to `Mechanism.symmetries`: q(record(S), output(h)) = q(S, h).

        A mechanism that breaks ties by the order of solutions inherits only those that leave outputs unchanged.
        """
        return ()


@dataclass(frozen=True)
class Multiplicity(Quality):
    """q(S, x) = the multiplicity of x in S: 1-sensitive, of 1-bounded growth.

    Args:
        solutions: the solution set, in its fixed order; a `range` may have any length.
    """

    solutions: tuple[Solution, ...] | range
    growth = 1

    @property
    def n_solutions(self) -> int:
        listed = self.solutions
        return max(0, listed.stop - listed.start) if isinstance(listed, range) and listed.step == 1 else len(listed)

    def __call__(self, dataset: Dataset) -> AnyScores:
        return _multiplicities(self.solutions, Multiset.of(dataset))

    def realised(self, left: AnyScores, right: AnyScores, records: int | None = None) -> Realised | None:
        """The scores are the counts; a replaced record takes one from a solution and gives one to another."""
        both_counts = []
        for scores in (left, right):
            steps = scores.steps
            if np.any((steps.values < 0) | (steps.values != np.floor(steps.values))):
                return None
            counts: dict[Solution, int] = {}
            for start, stop, value in zip(steps.starts, steps.stops, steps.values, strict=True):
                if value and stop - start > MOST_VALUES:
                    return None
                counts |= {self.solutions[i]: int(value) for i in range(start, stop)} if value else {}
            both_counts.append(counts)
        a, b = (Multiset.counted(counts) for counts in both_counts)
        if len(a) != len(b) or (records is not None and records != len(a)):
            return None
        return (a, b) if sum(max(0, n - both_counts[1].get(x, 0)) for x, n in both_counts[0].items()) == 1 else None

    def symmetries(self, domain: Sequence[Record]) -> tuple[Symmetry, ...]:
        """Exchanging two records that are solutions exchanges their scores; other records have no effect."""
        inside = [record for record in domain if record in self.solutions]
        outside = [record for record in domain if record not in self.solutions]
        return (*relabellings("relabelling", inside), *exchanges("exchange of records that are not solutions", outside))


@lru_cache(maxsize=256)
def _multiplicities(solutions: tuple[Solution, ...] | range, dataset: Multiset) -> AnyScores:
    counts = dict(dataset.items)
    if isinstance(solutions, range) and solutions.step == 1 and solutions:
        first, stop = solutions.start, solutions.stop
        scores = {first: 0}
        for value in sorted(value for value in counts if value in solutions):
            scores |= {int(value): counts[value]} | ({int(value) + 1: 0} if value + 1 < stop else {})
        return step_scores(list(scores), list(scores.values()), stop)
    return Scores([counts.get(solution, 0) for solution in solutions], solutions)


@dataclass(frozen=True)
class PiecewiseConstantScore(Quality):
    """q(S, i) = height(i) + change(i)·Σ S on 0, …, stop − 1: any two vectors of scores, at S = (0,) and (1,).

    A 1-sensitive quality of one record, 0 or 1, is exactly such a pair of vectors: every claim about all 1-sensitive
    qualities applies to this one.

    Args:
        stop: the number of solutions.
        pieces: (start, height, change) from 0 on, starts ascending; both are constant up to the next start.

    Raises:
        ParameterError: pieces that do not start at 0 and ascend, or changes beyond ±1.
    """

    stop: int
    pieces: tuple[tuple[int, float, float], ...]

    def __post_init__(self) -> None:
        starts = [start for start, _, _ in self.pieces]
        if not starts or starts[0] != 0 or any(a >= b for a, b in pairwise([*starts, self.stop])):
            raise ParameterError("The pieces of a piecewise constant score must start at 0, and ascend below its stop.")
        if any(not abs(change) <= 1 for _, _, change in self.pieces):
            raise ParameterError("The changes of a piecewise constant score must lie within -1 and 1.")

    def __call__(self, dataset: Dataset) -> AnyScores:
        return _piecewise_constant(self, sum(dataset))

    @property
    def n_solutions(self) -> int:
        return self.stop

    @property
    def sides(self) -> tuple[AnyScores, AnyScores]:
        """The scores at (0,) and at (1,)."""
        return self((0,)), self((1,))

    def __str__(self) -> str:
        ends = [start for start, _, _ in self.pieces[1:]] + [self.stop]
        return ", ".join(
            f"{start if stop == start + 1 else f'{start}–{stop - 1}'}: {height:g} → {height + change:g}"
            for (start, height, change), stop in zip(self.pieces, ends, strict=True)
        )


@cached(maxsize=256)
def _piecewise_constant(quality: PiecewiseConstantScore, ones: int) -> AnyScores:
    scores = [height + ones * change for _, height, change in quality.pieces]
    return step_scores([start for start, _, _ in quality.pieces], scores, quality.stop)


@dataclass(frozen=True)
class Given(Quality):
    """The dataset *is* the scores: for scores computed by an outer algorithm."""

    def __call__(self, dataset: AnyScores | Iterable[SupportsFloat]) -> AnyScores:
        return dataset if isinstance(dataset, Scores | StepScores) else Scores(tuple(dataset))

