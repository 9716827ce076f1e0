"""Probabilistic representations: hypothesis classes drawn at random, in which some hypothesis is near the target.

A representation (H, P) is a mechanism that reads no data: a run is a draw of a class H_i ~ P. Its hypotheses need not
be concepts of the class C that it represents; they are named by plain values, which a `Labelling` reads.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from typing import Any, Protocol, runtime_checkable

from dpaudit.errors import ParameterError
from dpaudit.language import (
    Categorical,
    Claim,
    Draw,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    Program,
    UtilityClaim,
    as_written,
    checks,
    to_float,
)
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.pac.concepts import ConceptClass, Truth


@runtime_checkable
class Labelling(Protocol):
    """The meaning of a hypothesis' name: a `ConceptClass` is one, frozen dataclasses with `label` are others."""

    def label(self, concept: Any, x: Any) -> int:
        """h(x), 0 or 1."""


@dataclass(frozen=True)
class OnesAt:
    """Hypotheses named by the points that they label 1, as an ascending tuple."""

    def label(self, concept: tuple[Any, ...], x: Any) -> int:
        return int(x in concept)


def labels_at(labelling: Labelling, name: Any, points: Sequence[Any]) -> list[int]:
    """h(x) of one hypothesis at many points: by the labelling's own `labels`, where it has one that is faster."""
    faster = getattr(labelling, "labels", None)
    if faster is not None:
        labels: list[int] = faster(name, points)
        return labels
    return [labelling.label(name, x) for x in points]


@dataclass(frozen=True)
class Hypotheses:
    """A hypothesis class H: the names of its hypotheses, and what they mean.

    Args:
        labelling: (name, x) → h(x).
        members: different names, ascending; () for the empty class.
    """

    labelling: Labelling
    members: tuple[Any, ...]

    @classmethod
    def of(cls, labelling: Labelling, names: Iterable[Any]) -> Hypotheses:
        """The class of these names, each once, in an order that depends on nothing else."""
        return cls(labelling, tuple(sorted(set(names))))

    def __len__(self) -> int:
        return len(self.members)

    @property
    def size(self) -> float:
        """size(H) = ln|H|; −∞ of the empty class."""
        return math.log(len(self.members)) if self.members else -math.inf

    def label(self, name: Any, x: Any) -> int:
        """h(x), 0 or 1."""
        return self.labelling.label(name, x)

    def wrong(self, dataset: Any) -> list[int]:
        """Of every hypothesis, how many examples (x, y) of a dataset it labels otherwise than y."""
        items = Multiset.of(dataset).items
        points = [x for (x, _), _ in items]
        # a label 0 is wrong where y is not 0; by what a label 1 is better or worse
        zeros = sum(count for (_, y), count in items if y != 0)
        more = [count * (int(y != 1) - int(y != 0)) for (_, y), count in items]
        return [zeros + sum(compress(more, labels_at(self.labelling, name, points))) for name in self.members]

    def has_good(self, concepts: ConceptClass, truth: Truth, alpha: Fraction) -> bool:
        """Whether some hypothesis has error_D(c, h) ≤ α."""
        return any(error(self.labelling, name, concepts, truth) <= alpha for name in self.members)


def error(labelling: Labelling, name: Any, concepts: ConceptClass, truth: Truth) -> Fraction:
    """error_D(c, h): the probability under D that a hypothesis and the target differ, exactly.

    Source: thesis, Definition 3.10.
    """
    points, zeros, more, total = _weighed(concepts, truth)
    return Fraction(zeros + sum(compress(more, labels_at(labelling, name, points))), total)


@lru_cache(maxsize=64)
def _weighed(concepts: ConceptClass, truth: Truth) -> tuple[tuple[Any, ...], int, tuple[int, ...], int]:
    """The points of D that have mass; the error of the hypothesis 0, what a label 1 adds at each point, and the mass of
    all, as whole numbers."""
    kept = [(x, Fraction(w)) for x, w in zip(truth.points, truth.weights, strict=True) if w > 0]
    unit = math.lcm(*(w.denominator for _, w in kept))
    masses = [(x, int(w * unit), concepts.label(truth.target, x)) for x, w in kept]
    zeros = sum(mass for _, mass, target in masses if target)
    more = tuple(-mass if target else mass for _, mass, target in masses)
    return tuple(x for x, _, _ in masses), zeros, more, sum(mass for _, mass, _ in masses)


def truth_of(instance: Instance) -> Truth:
    """The target and the distribution of an instance.

    Raises:
        ParameterError: it has none.
    """
    if not isinstance(instance.truth, Truth):
        raise ParameterError("An error is of a target and a distribution: give the instance a Truth.")
    return instance.truth


@dataclass(frozen=True)
class HypothesisError(Goal):
    """The output names a hypothesis, a concept or not, that differs from the target with probability at most α under D.

    Source: thesis, Definition 3.10, of improper learners.
    """

    concepts: ConceptClass
    labelling: Labelling
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        return error(self.labelling, output, self.concepts, truth_of(instance)) <= as_written(self.alpha)

    def __str__(self) -> str:
        return f"a hypothesis of generalisation error ≤ {self.alpha:.4g}"


@dataclass(frozen=True)
class Represents(Goal):
    """The output is a hypothesis class with some h of error_D(c, h) ≤ α.

    Source: thesis, Definitions 5.1 and 5.6.
    """

    concepts: ConceptClass
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        return bool(output.has_good(self.concepts, truth_of(instance), as_written(self.alpha)))

    def __str__(self) -> str:
        return f"a class with a hypothesis of generalisation error ≤ {self.alpha:.4g}"


class Representation(Mechanism):
    """A pair (H, P) as a mechanism: its `run` draws a class H_i ~ P and reads no data.

    Subclasses give `concepts`, `alpha` and `beta` as fields or properties, and the rest below.

    Source: thesis, Definitions 5.6 and 5.9.
    """

    concepts: ConceptClass
    """C, the class that is represented."""
    alpha: float
    beta: float

    @property
    @abstractmethod
    def labelling(self) -> Labelling:
        """The meaning of the names of hypotheses, the same for all H_i."""

    @property
    @abstractmethod
    def printed_size(self) -> float:
        """size(H) as the source states it."""

    @property
    @abstractmethod
    def size(self) -> float:
        """max ln|H_i| as it is here, whole numbers of hypotheses."""

    @property
    def claim(self) -> Claim:
        """0: no data is read."""
        return Claim(0.0)

    @property
    def place(self) -> str:
        """Where it is said that C is represented."""
        return "§5.2, Definition 5.6" if self.card is None else self.card.place

    @property
    def represents(self) -> UtilityClaim:
        """For every c and D: some h ∈ H_i has error ≤ α, with probability at least 1 − β over H_i ~ P."""
        return UtilityClaim(Represents(self.concepts, self.alpha), all_but(self.beta), self.place)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """It represents C, for any number of records: none is read."""
        return (self.represents,)


@dataclass(frozen=True)
class ListedRepresentation(Representation):
    """A representation given by its list of classes and their probabilities.

    That it represents C is what the user says of it, and what an audit of its `represents` tries.

    Args:
        concepts: C.
        classes: H_1, …, H_r, at least one, none empty and all with the same labelling.
        weights: P: r numbers ≥ 0, not all 0, in the ratios of their probabilities.
        alpha: > 0.
        beta: in (0, 1).

    Raises:
        ParameterError: outside these ranges.

    Source: thesis, Definition 5.6; with one class, Definition 5.1.
    """

    concepts: ConceptClass
    classes: tuple[Hypotheses, ...]
    weights: tuple[float, ...]
    alpha: checks.Positive
    beta: checks.Number

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.classes or not all(map(len, self.classes)):
            raise ParameterError("A representation needs at least one class, and no class without hypotheses.")
        if len({H.labelling for H in self.classes}) != 1:
            raise ParameterError("All classes of a representation need the same labelling.")
        if len(self.weights) != len(self.classes) or min(self.weights) < 0 or not sum(self.weights):
            raise ParameterError(f"Each of the {len(self.classes)} classes needs a weight ≥ 0, and one more than 0.")
        if not 0 < self.beta < 1:
            raise ParameterError(f"beta must lie strictly between 0 and 1, not {self.beta!r}.")

    @property
    def labelling(self) -> Labelling:
        return self.classes[0].labelling

    @property
    def printed_size(self) -> float:
        return self.size

    @property
    def size(self) -> float:
        return max(H.size for H in self.classes)

    def run(self, dataset: Any) -> Draw:
        total = sum(map(Fraction, self.weights))
        return Categorical(self.classes, [to_float(Fraction(w) / total) for w in self.weights])


@dataclass(frozen=True)
class Executions(Mechanism):
    """The set of the outputs of this many independent executions of a mechanism on the same data, as a frozenset.

    One half after the other, so that an output distribution merges equal sets and runs share them.

    Args:
        mechanism: what is executed.
        times: ≥ 1.
    """

    mechanism: Mechanism
    times: int

    def run(self, dataset: Any) -> Program:
        if self.times == 1:
            outcome = yield self.mechanism.on(dataset)
            return frozenset({outcome})
        half = self.times // 2
        first = yield Executions(self.mechanism, half).on(dataset)
        second = yield Executions(self.mechanism, self.times - half).on(dataset)
        return first | second
