"""Utility guarantees: the output is good, with some probability, on some inputs.

A guarantee is tested like a mechanism: `Trial` draws an instance, runs the algorithm on it, and returns whether the
goal was reached. The same interpreters can then sample it, or enumerate its exact distribution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import ParameterError
from dpaudit.language.checks import Checked, probability
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record
from dpaudit.outputs.canonical import Output
from dpaudit.outputs.ranges import IntegerRange


@dataclass(frozen=True)
class Instance:
    """An input, and the ground truth about it.

    Args:
        dataset: the input of the algorithm.
        truth: the distribution and concept that it was drawn from, a secret, …; None if the goal needs nothing.
    """

    dataset: Any
    truth: Any = None


class Goal(Checked, ABC):
    """What a good output is, as a frozen dataclass; its `str` is followed by "with probability at least"."""

    @abstractmethod
    def reached(self, instance: Instance, output: Output) -> bool:
        """Whether the output is good for the instance."""

    def reached_among(self, instance: Instance, outputs: IntegerRange) -> int | None:
        """The number of good outputs in an integer range; None to have `reached` called for each number instead."""
        return None


@dataclass(frozen=True)
class InteriorPoint(Goal):
    """min S ≤ output ≤ max S; ⊥ is not an interior point.  Source: thesis, Definition 7.5."""

    def reached_among(self, instance: Instance, outputs: IntegerRange) -> int:
        values = Multiset.of(instance.dataset).values
        return max(0, min(outputs.stop, values[-1] + 1) - max(outputs.start, values[0])) if values else 0

    def reached(self, instance: Instance, output: Output) -> bool:
        values = Multiset.of(instance.dataset).values
        return bool(values) and not isinstance(output, str) and output in _Between(values[0], values[-1])

    def __str__(self) -> str:
        return "an interior point"


@dataclass(frozen=True)
class _Between:
    """A closed interval; it does not contain values that cannot be compared with its ends."""

    low: Record
    high: Record

    def __contains__(self, x: object) -> bool:
        try:
            return bool(self.low <= x <= self.high)
        except TypeError:
            return False


@dataclass(frozen=True)
class UtilityClaim:
    """The goal is reached with probability at least `probability`, over the instance and the coins.

    Args:
        goal: what a good output is.
        probability: in [0, 1]; use 0 if the printed bound is below 0.
        place: section and theorem of the guarantee.
        at_most: reverse the inequality: with probability at most `probability` (lower bounds on private algorithms).

    Raises:
        ParameterError: outside this range, or no place.
    """

    goal: Goal
    probability: float
    place: str
    at_most: bool = False

    def __post_init__(self) -> None:
        probability("the probability of a utility claim", self.probability)
        if not self.place.strip():
            raise ParameterError("A utility claim must say where it is printed.")

    def __str__(self) -> str:
        return f"{self.goal} with probability at {'most' if self.at_most else 'least'} {self.probability:.9g}"


@dataclass(frozen=True)
class SampleSize:
    """A printed sample size of a utility guarantee.

    Args:
        records: the least whole number that the formula allows.
        formula: as printed, in the mechanism's parameters.
        guarantee: what holds for at least this many records.
        place: section and theorem.
    """

    records: int
    formula: str
    guarantee: str
    place: str
