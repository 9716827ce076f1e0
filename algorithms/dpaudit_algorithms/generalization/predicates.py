"""Algorithms that output predicates, and the goal that predicates have similar means on a sample and its distribution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpaudit.language import Claim, Goal, Instance, Mechanism, Multiset, ParameterError, Program, as_written, checks
from dpaudit_algorithms.generalization.interaction import Population, Predicate
from dpaudit_algorithms.pac.concepts import ConceptClass


@dataclass(frozen=True)
class Among(Predicate):
    """h(x) = 1 iff x is one of `points`."""

    points: frozenset[Any]

    def __call__(self, x: Any) -> int:
        return int(x in self.points)

    def __repr__(self) -> str:
        return f"Among({{{', '.join(map(repr, sorted(self.points)))}}})"

    def __str__(self) -> str:
        return "x in {" + ", ".join(map(str, sorted(self.points))) + "}"


@dataclass(frozen=True)
class AllBut(Predicate):
    """h(x) = 1 iff x is not one of `points`."""

    points: frozenset[Any]

    def __call__(self, x: Any) -> int:
        return int(x not in self.points)


@dataclass(frozen=True)
class Errs(Predicate):
    """f(x, y) = 1 iff a concept does not label x with y.  Source: Stemmer's thesis, proof of Theorem 4.7."""

    concepts: ConceptClass
    concept: Any

    def __call__(self, x: Any) -> int:
        point, label = x
        return int(self.concepts.label(self.concept, point) != label)


class Reading(checks.Checked, ABC):
    """Maps an output to predicates, as a frozen dataclass."""

    @abstractmethod
    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        """h_1, …, h_k."""


@dataclass(frozen=True)
class ItsPoints(Reading):
    """The output is a tuple of points, on which h is 1."""

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return (Among(frozenset(output)),)


@dataclass(frozen=True)
class ItsPoint(Reading):
    """The output is the one point on which h is 1."""

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return (Among(frozenset((output,))),)


@dataclass(frozen=True)
class GuessedBits(Reading):
    """The output is that of `DominatingMechanism` on bits; h_i is 1 on the points that the i-th answer reports.

    Args:
        told: the points for the answers 0 and 1.
    """

    told: tuple[tuple[Any, ...], tuple[Any, ...]] = ((0,), (1,))

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return tuple(Among(frozenset(self.told[answer >= 2])) for answer in output)


@dataclass(frozen=True)
class LargestCell(Reading):
    """The output is a vector of noisy counts, one for each cell; h is 1 on the cell of the largest.

    Args:
        cells: in the order of the counts.
    """

    cells: tuple[Any, ...]

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return (Among(frozenset((self.cells[max(range(len(self.cells)), key=lambda i: output[i])],))),)


@dataclass(frozen=True)
class LargestCells(Reading):
    """The output is a vector of noisy counts, one for each cell; h_i is 1 on the cells of the i largest, i = 1, …, k.

    Args:
        cells: in the order of the counts.
        k: at most as many as there are cells.
    """

    cells: tuple[Any, ...]
    k: int

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        order = sorted(range(len(self.cells)), key=lambda i: -output[i])
        return tuple(Among(frozenset(self.cells[i] for i in order[:many])) for many in range(1, self.k + 1))


@dataclass(frozen=True)
class ItsParts(Reading):
    """The output is a tuple of numbers; h_i is 1 on the numbers in the i-th of k intervals.

    Args:
        ends: k ascending numbers; the i-th interval goes from the previous end, or −∞, up to its own end, exclusive.
    """

    ends: tuple[float, ...]

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        starts = (float("-inf"), *self.ends[:-1])
        return tuple(
            Among(frozenset(x for x in output if low <= x < high)) for low, high in zip(starts, self.ends, strict=True)
        )


@dataclass(frozen=True)
class EachByItself(Reading):
    """The output is a tuple of outputs of several algorithms, each with its own reading.

    Args:
        readings: one for each output, in order.
    """

    readings: tuple[Reading, ...]

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return tuple(h for reading, one in zip(self.readings, output, strict=True) for h in reading(one))


@dataclass(frozen=True)
class MemorisedErrors(Reading):
    """The output is a tuple of points; the hypothesis labels these 1, all others 0; f is its error if all labels are 1.
    """

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return (AllBut(frozenset(output)),)


@dataclass(frozen=True)
class ItsErrors(Reading):
    """The output is a concept; f is its error."""

    concepts: ConceptClass

    def __call__(self, output: Any) -> tuple[Predicate, ...]:
        return (Errs(self.concepts, output),)


@dataclass(frozen=True)
class PredicatesOf(Mechanism):
    """A private algorithm whose output is read as k predicates, by post-processing.

    Args:
        inner: the algorithm.
        reading: maps its outputs to predicates.
    """

    inner: Mechanism
    reading: Reading

    @property
    def claim(self) -> Claim | None:
        """The claim of the algorithm, by Theorem 3.3."""
        return self.inner.claim

    @property
    def name(self) -> str:
        return f"predicates of {self.inner.name}"

    def run(self, S: Any) -> Program:
        output = yield self.inner.on(S)
        return self.reading(output)


@dataclass(frozen=True)
class Generalises(Goal):
    """|h_i(S) − h_i(D)| < `below` for each of the k predicates of the output.

    The instance's truth is D, a `Population`; any other value means a distribution without atoms, on which finitely
    many points have mass 0.

    Args:
        below: > 0, exactly as written in decimals.

    Source: Stemmer's thesis, Theorems 4.1 and 4.3.
    """

    below: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        records = _counted(instance.dataset)
        limit = as_written(self.below)
        return all(abs(h.share(records) - mass(instance.truth, h)) < limit for h in output)

    def __str__(self) -> str:
        return f"every |h(S) − h(D)| < {self.below:.6g}"


@lru_cache(maxsize=4096)
def mass(truth: Any, h: Predicate) -> Fraction:
    """h(D), with D as in `Generalises`.

    Raises:
        ParameterError: D is not a `Population`, and h is not given by finitely many points.
    """
    if isinstance(truth, Population):
        return truth.mass(h)
    if isinstance(h, Among | AllBut):
        return Fraction(isinstance(h, AllBut))
    raise ParameterError(f"The mass of {h!r} is only known for a Population.")


@lru_cache(maxsize=64)
def _counted(dataset: Any) -> Multiset:
    return Multiset.of(dataset)
