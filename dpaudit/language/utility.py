"""What an algorithm promises beside privacy: that its output is good, with some probability, on some inputs.

A promise is tried like a mechanism: `Trial` draws an instance, runs the algorithm on it, and returns whether the goal
was reached. So it can be sampled, and its law enumerated, by the same interpreters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import ParameterError
from dpaudit.language.checks import Checked, probability
from dpaudit.language.multiset import Multiset
from dpaudit.outputs.spans import Span


@dataclass(frozen=True)
class Instance:
    """An input, and what is known of it beside.

    Args:
        dataset: what the algorithm is run on.
        truth: the distribution and concept that it was drawn from, a secret, …; None where nothing is needed.
    """

    dataset: Any
    truth: Any = None


class Goal(Checked, ABC):
    """What a good output is, as a frozen dataclass; `str` of it goes on with "… with probability at least"."""

    @abstractmethod
    def reached(self, instance: Instance, output: Any) -> bool:
        """Whether the output is good for the instance."""

    def reached_among(self, instance: Instance, span: Span) -> int | None:
        """How many of the whole numbers of a span are good outputs; None where they are to be asked for one by one."""
        return None


@dataclass(frozen=True)
class InteriorPoint(Goal):
    """min S ≤ output ≤ max S; ⊥ is no interior point.  Source: thesis, Definition 7.5."""

    def reached_among(self, instance: Instance, span: Span) -> int:
        values = Multiset.of(instance.dataset).values
        return max(0, min(span.stop, values[-1] + 1) - max(span.start, values[0])) if values else 0

    def reached(self, instance: Instance, output: Any) -> bool:
        values = Multiset.of(instance.dataset).values
        return bool(values) and not isinstance(output, str) and output in _Between(values[0], values[-1])

    def __str__(self) -> str:
        return "an interior point"


@dataclass(frozen=True)
class _Between:
    """A closed interval; what cannot be compared with its ends is not in it."""

    low: Any
    high: Any

    def __contains__(self, x: Any) -> bool:
        try:
            return bool(self.low <= x <= self.high)
        except TypeError:
            return False


@dataclass(frozen=True)
class UtilityClaim:
    """The goal is reached with probability at least `probability`, over the instance and the coins.

    Args:
        goal: what a good output is.
        probability: in [0, 1]; a printed bound below 0 promises nothing: 0.
        place: section and theorem of the promise.
        at_most: the other way: with probability at most `probability` (what lower bounds say of private algorithms).

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
            raise ParameterError("A utility claim says where it is printed.")

    def __str__(self) -> str:
        return f"{self.goal} with probability at {'most' if self.at_most else 'least'} {self.probability:.9g}"


@dataclass(frozen=True)
class SampleSize:
    """A printed number of records from which something is promised.

    Args:
        records: the least whole number that the formula allows.
        formula: as printed, in the mechanism's parameters.
        promise: what holds from so many on.
        place: section and theorem.
    """

    records: int
    formula: str
    promise: str
    place: str
