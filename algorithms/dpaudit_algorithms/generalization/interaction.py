"""Interactive mechanisms, analysts, and the transcripts of their conversations.

An interactive mechanism holds a dataset and answers queries; a query may depend on all earlier answers. Together with
an analyst it is an ordinary mechanism whose output is the transcript. If it is (ε, δ)-DP for k adaptively chosen
queries, it is (ε, δ)-DP with this analyst: the analyst sees the data only through the answers, so the queries are
post-processing (Theorem 3.3). A violation of (ε, δ) by the transcripts of any analyst refutes the claim.

Source: Stemmer's thesis, section 4.5, Definitions 4.8 and 4.9, Figures 4.1 and 4.2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.language import (
    BOTTOM,
    Draw,
    Goal,
    Instance,
    Mechanism,
    Multinomial,
    Multiset,
    Program,
    Query,
    as_written,
    checks,
    to_float,
)

Answering: TypeAlias = Generator[Draw, Any, tuple[Any, Any]]
"""Yields draws, returns (answer, next state)."""


class Predicate(checks.Checked, ABC):
    """A statistical query q: X → {0, 1}, as a frozen dataclass."""

    @abstractmethod
    def __call__(self, x: Any) -> int:
        """q(x), 0 or 1."""

    def count(self, dataset: Any) -> int:
        """The number of records that satisfy the query."""
        return sum(times for x, times in Multiset.of(dataset).items if self(x))

    def share(self, dataset: Any) -> Fraction:
        """q(S), the share of the records that satisfy the query; S must not be empty."""
        records = Multiset.of(dataset)
        return Fraction(self.count(records), len(records))


@dataclass(frozen=True)
class Share(Query):
    """q(S) of n records: one answer, the nearest double, of sensitivity 1/n.

    Args:
        predicate: q.
        records: n ≥ 1.
        points: X, if records have to be among them.

    Raises:
        DatasetError: when called, a dataset of another size, or with records outside of X.
    """

    predicate: Predicate
    records: checks.Count
    points: tuple[Any, ...] | range | None = None

    @property
    def sensitivity(self) -> float:
        return 1 / self.records

    def __call__(self, dataset: Any) -> tuple[float, ...]:
        held = Multiset.of(dataset)
        if len(held) != self.records:
            raise DatasetError(f"The noise is for {self.records:,} records, and the dataset has {len(held):,}.")
        if self.points is not None and not set(held.values) <= set(self.points):
            raise DatasetError("Every record must be one of the points.")
        return (to_float(self.predicate.share(held)),)


@dataclass(frozen=True)
class Population:
    """A distribution D on finitely many points.

    Args:
        points: distinct.
        weights: one number ≥ 0 per point, not all 0, proportional to the probabilities.

    Raises:
        ParameterError: outside these ranges, or a duplicate point.
    """

    points: tuple[Any, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.points) != len(self.weights) or len(set(self.points)) != len(self.points):
            raise ParameterError("A Population needs distinct points, and one weight for each.")
        if not sum(checks.at_least("a weight of a Population", weight, 0) for weight in self.weights):
            raise ParameterError("A Population needs a weight above 0.")

    @classmethod
    def uniform(cls, points: Iterable[Any]) -> Population:
        """Every point with the same probability."""
        distinct = tuple(points)
        return cls(distinct, (1,) * len(distinct))

    @cached_property
    def _whole(self) -> tuple[int, ...]:
        """The weights as whole numbers in the same ratios."""
        exact = [Fraction(weight) for weight in self.weights]
        unit = math.lcm(*(weight.denominator for weight in exact))
        return tuple(int(weight * unit) for weight in exact)

    def mass(self, query: Predicate) -> Fraction:
        """q(D), exact for the weights as doubles."""
        inside = sum(weight for x, weight in zip(self.points, self._whole, strict=True) if query(x))
        return Fraction(inside, sum(self._whole))

    def __str__(self) -> str:
        if len(set(self.weights)) == 1:
            return f"the uniform distribution on {len(self.points):,} points"
        return f"a distribution on {len(self.points):,} points"


@dataclass(frozen=True)
class Samples(Mechanism):
    """Instances of n records drawn independently from D; `Instance.truth` is the `Population`."""

    population: Population
    records: int

    def run(self, dataset: Any) -> Program:
        sample = yield Multinomial(self.population.points, self.population.weights, self.records)
        return Instance(sample, self.population)

    def __str__(self) -> str:
        return f"{self.records:,} records from {self.population}"


class Analyst(checks.Checked, ABC):
    """An analyst, as a frozen dataclass: chooses queries from its own coins and the answers so far."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """k, the largest number of queries."""

    def coins(self) -> Draw | None:
        """The draw before the first query; None for an analyst without randomness."""
        return None

    @abstractmethod
    def query(self, coins: Any, answers: tuple[Any, ...]) -> Predicate | None:
        """The next query; None to stop before `rounds`.

        Args:
            coins: the result of the draw `coins`; None without coins.
            answers: all answers so far, in order.
        """

    @property
    def population(self) -> Population | None:
        """D, in the game Acc of Figure 4.1."""
        return None

    @property
    def sample(self) -> Any | None:
        """S, in the game SampAcc of Figure 4.2."""
        return None


class Interactive(Mechanism):
    """An interactive mechanism in conversation, as a frozen dataclass with a field `analyst`.

    Its output is the transcript: the tuple of answers, or (coins, answers) for an analyst with coins. The queries
    follow from the transcript (`queries_of`). A subclass defines `answer`, and `begin` if it has a state. The
    conversation ends after `analyst.rounds` answers, when the analyst stops, or with the first ⊥.
    """

    analyst: Analyst

    def begin(self, S: Any) -> Program:
        """Yields draws, returns the first state."""
        return None
        yield

    @abstractmethod
    def answer(self, S: Any, state: Any, query: Predicate) -> Answering:
        """Yields draws, returns (answer, next state); the answer is a number, or ⊥ to halt."""

    def run(self, S: Any) -> Program:
        drawn = self.analyst.coins()
        coins = None if drawn is None else (yield drawn)
        state = yield from self.begin(S)
        answers: tuple[Any, ...] = ()
        # for j = 1, …, k: the analyst outputs q_j, the mechanism a_j
        while len(answers) < self.analyst.rounds and (query := self.analyst.query(coins, answers)) is not None:
            answer, state = yield from self.answer(S, state, query)
            answers = (*answers, answer)
            if answer is BOTTOM:
                break
        return answers if drawn is None else (coins, answers)


def queries_of(analyst: Analyst, transcript: Any) -> tuple[Predicate, ...]:
    """The queries of a transcript, in order."""
    coins, answers = (None, transcript) if analyst.coins() is None else transcript
    asked = [analyst.query(coins, answers[:j]) for j in range(len(answers))]
    return tuple(query for query in asked if query is not None)


@dataclass(frozen=True)
class AccurateAnswers(Goal):
    """|a_j − q_j(D)| ≤ α for every answer of the transcript, or |a_j − q_j(S)| ≤ α; ⊥ is never accurate.

    Args:
        analyst: the analyst of the transcript.
        alpha: exactly as written in decimals, > 0.
        of: "distribution" (Definition 4.8; the instance's truth is a `Population`) or "sample" (Definition 4.9).
    """

    analyst: Analyst
    alpha: checks.Positive
    of: str = "distribution"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of not in ("distribution", "sample"):
            raise ParameterError(f'of is "distribution" or "sample", not {self.of!r}.')

    def reached(self, instance: Instance, output: Any) -> bool:
        answers = output if self.analyst.coins() is None else output[1]
        alpha = as_written(self.alpha)
        for query, answer in zip(queries_of(self.analyst, output), answers, strict=True):
            if answer is BOTTOM:
                return False
            true = instance.truth.mass(query) if self.of == "distribution" else query.share(instance.dataset)
            if abs(Fraction(answer) - true) > alpha:
                return False
        return True

    def __str__(self) -> str:
        return f"all answers within {self.alpha:.4g} of the {self.of}"
