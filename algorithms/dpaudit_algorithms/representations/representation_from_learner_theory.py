"""Sizes of the representations from a private learner: Lemmas 5.14 and 5.15."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Goal, Instance, UtilityClaim, log
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.representations.representation import Representation, Represents


class FromLearnerTheory(Representation):
    """Of both versions; the parameters are those of `RepresentationFromLearner`."""

    n: int

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """ε of the learner."""

    @property
    @abstractmethod
    def exponent(self) -> float:
        """ln of what the number of executions is proportional to."""

    @property
    @abstractmethod
    def executions(self) -> int:
        """How often the learner is run on one database."""

    @property
    def printed_size(self) -> float:
        """nε + 2."""
        return self.exponent + 2

    @property
    def proof_size(self) -> float:
        """ln(2·ln 4) + nε."""
        return log(2 * log(4)) + self.exponent

    @property
    def size(self) -> float:
        """ln of the number of executions."""
        return log(self.executions)


class FromLearnerRefinedTheory(FromLearnerTheory):
    """Of `RepresentationFromLearnerRefined`, where it differs."""

    @property
    def represents(self) -> UtilityClaim:
        """(1/4, 1/4), whatever the learner's α."""
        return UtilityClaim(Represents(self.concepts, 0.25), all_but(0.25), self.place)

    @property
    def sized(self) -> UtilityClaim:
        """The proof's last step: no class that is drawn is larger than nεα + 3."""
        return UtilityClaim(NoLarger(self.printed_size), 1.0, "§5.2.1, proof of Lemma 5.15, size(ℋ)")

    @property
    def printed_size(self) -> float:
        """nεα + 3."""
        return self.n * self.epsilon * self.alpha + 3

    @property
    def proof_size(self) -> float:
        """ln(8·ln 4) + 8αεn."""
        return log(8 * log(4)) + self.exponent

    @property
    def size(self) -> float:
        """ln of the number of executions on both databases."""
        return log(2 * self.executions)


@dataclass(frozen=True)
class NoLarger(Goal):
    """ln|H| ≤ size, of the class H that is drawn: with probability 1, as size(ℋ) is the largest.

    Args:
        size: a natural logarithm.

    Source: Stemmer's thesis, section 5.2, Definition 5.6.
    """

    size: float

    def reached(self, instance: Instance, output: Any) -> bool:
        return bool(output.size <= self.size)

    def __str__(self) -> str:
        return f"a class of size ln|H| ≤ {self.size:.4g}"
