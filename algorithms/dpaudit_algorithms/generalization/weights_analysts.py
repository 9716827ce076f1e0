"""Analysts of private multiplicative weights who know x^t, which follows from the transcript."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from dpaudit.language import BOTTOM, Multiset, ParameterError, cached, checks
from dpaudit_algorithms.generalization.interaction import Analyst
from dpaudit_algorithms.generalization.multiplicative_weights import Weights, mean, mw, uniform, values
from dpaudit_algorithms.generalization.predicates import Among


@dataclass(frozen=True)
class Following(Analyst):
    """Asks k queries that depend on x^t and on S, which the analyst chooses, as in the game SampAcc.

    Args:
        held: S; all records must be in X.
        points: X.
        alpha: α of the mechanism; η = α/2.
        k: ≥ 1.

    Raises:
        ParameterError: k < 1, or a record that is not in X.
    """

    held: Multiset
    points: tuple[Any, ...]
    alpha: float
    k: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if not set(self.held.values) <= set(self.points):
            raise ParameterError("All records of held must be among the points.")

    @property
    def rounds(self) -> int:
        return self.k

    @property
    def sample(self) -> Multiset:
        return self.held

    def query(self, coins: Any, answers: tuple[Any, ...]) -> Among:
        return self.asked(followed(self, answers), answers)

    def gaps(self, x: Weights) -> Weights:
        """S − x^t at every point."""
        return tuple(share - w for share, w in zip(self._shares, x, strict=True))

    @cached_property
    def _shares(self) -> Weights:
        times = dict(self.held.items)
        return tuple(times.get(point, 0) / len(self.held) for point in self.points)

    @abstractmethod
    def asked(self, x: Weights, answers: tuple[Any, ...]) -> Among:
        """The next query, at x^t."""


@cached(maxsize=8192)
def followed(analyst: Following, answers: tuple[Any, ...]) -> Weights:
    """x^t after these answers: every answer other than f(x^t) itself is an update."""
    if not answers:
        return uniform(analyst.points)
    x = followed(analyst, answers[:-1])
    f = values(analyst.query(None, answers[:-1]), analyst.points)
    a = answers[-1]
    return x if a is BOTTOM or a == mean(f, x) else mw(x, f, a, analyst.alpha / 2)


@dataclass(frozen=True)
class WorstFor(Following):
    """Asks for all points whose weight in x^t is too small: no query has a larger f(S) − f(x^t)."""

    def asked(self, x: Weights, answers: tuple[Any, ...]) -> Among:
        return Among(frozenset(point for point, gap in zip(self.points, self.gaps(x), strict=True) if gap > 0))


@lru_cache(maxsize=64)
def subsets(points: tuple[Any, ...]) -> tuple[tuple[int, ...], ...]:
    """Every f: X → {0, 1}, as its values."""
    return tuple(product((0, 1), repeat=len(points)))


@dataclass(frozen=True)
class Hovering(Following):
    """Asks for the subset whose f(S) − f(x^t) is nearest to `target`, where a comparison is least certain.

    Args:
        target: in units of f(S); T for the comparisons, or near 3α for the largest error.
        turns: number of queries after an update (or the start) that hold the suspect and not the other; later queries,
            until the next update, hold the other and not the suspect. 0 allows all subsets. If the suspect becomes the
            other on the neighbouring dataset, the first queries decrease and the later ones increase.
        suspect, other: records.
    """

    target: float
    turns: int = 0
    suspect: Any = None
    other: Any = None

    def asked(self, x: Weights, answers: tuple[Any, ...]) -> Among:
        gaps = self.gaps(x)
        best = min(self._allowed(answers), key=lambda f: abs(mean(f, gaps) - self.target))
        return Among(frozenset(point for point, inside in zip(self.points, best, strict=True) if inside))

    def _allowed(self, answers: tuple[Any, ...]) -> list[tuple[int, ...]]:
        if not self.turns:
            return list(subsets(self.points))
        since = 0
        while since < len(answers) and followed(self, answers[: len(answers) - since]) == followed(
            self, answers[: len(answers) - since - 1]
        ):
            since += 1
        with_it, without = (self.suspect, self.other) if since < self.turns else (self.other, self.suspect)
        inside, outside = self.points.index(with_it), self.points.index(without)
        return [f for f in subsets(self.points) if f[inside] and not f[outside]]
