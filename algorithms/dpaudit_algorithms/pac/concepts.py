"""Concept classes over finite domains, and what it means that a concept is good for a sample or a distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.errors import ParameterError
from dpaudit.language import Goal, Instance, Mechanism, Multinomial, Multiset, Program, as_written, checks


class ConceptClass(checks.Checked, ABC):
    """Concepts c: X → {0, 1} over a finite domain X, as a frozen dataclass; a concept is named by a plain value.

    Source: Stemmer's thesis, section 3.2.
    """

    @property
    @abstractmethod
    def points(self) -> Sequence[Any]:
        """The domain X, distinct and ordered."""

    @property
    @abstractmethod
    def concepts(self) -> Sequence[Any]:
        """Names of all concepts, distinct; learners return one of them."""

    @abstractmethod
    def label(self, concept: Any, x: Any) -> int:
        """c(x), 0 or 1."""

    @property
    @abstractmethod
    def vc(self) -> int:
        """The VC dimension (Definition 3.15)."""

    def dichotomies(self, points: Sequence[Any]) -> frozenset[tuple[int, ...]]:
        """Π_C(B): all ways in which concepts label the points, each a tuple in their order (Definition 3.13)."""
        return frozenset(tuple(self.label(concept, x) for x in points) for concept in self.concepts)

    def shatters(self, points: Sequence[Any]) -> bool:
        """Whether every labelling of the points is that of some concept (Definition 3.14)."""
        return len(self.dichotomies(points)) == 1 << len(points)

    def wrong(self, concept: Any, dataset: Any) -> int:
        """How many examples (x, y) of a dataset the concept labels otherwise than y."""
        return sum(count for (x, y), count in Multiset.of(dataset).items if self.label(concept, x) != y)


@dataclass(frozen=True)
class _OnLine(ConceptClass):
    """Concepts on X = {0, …, size − 1}, one for each element."""

    size: checks.Count

    @property
    def points(self) -> range:
        return range(self.size)

    @property
    def concepts(self) -> range:
        return range(self.size)

    @property
    def vc(self) -> int:
        # with one element there is one concept, the constant 1
        return min(1, self.size - 1)


@dataclass(frozen=True)
class Thresholds(_OnLine):
    """THRESH_X: c_j(x) = 1 iff x ≤ j, for j in X = {0, …, size − 1}.  Source: thesis, Definition 3.9."""

    def label(self, concept: int, x: int) -> int:
        return int(x <= concept)


@dataclass(frozen=True)
class Points(_OnLine):
    """POINT_X: c_j(x) = 1 iff x = j, for j in X = {0, …, size − 1}.  Source: thesis, Definition 3.8."""

    def label(self, concept: int, x: int) -> int:
        return int(x == concept)


ALL_ZERO = -1
"""Names the concept that labels no point 1, in `PointsAndZero`."""


@dataclass(frozen=True)
class PointsAndZero(_OnLine):
    """POINT_X with the concept c_0 ≡ 0, which is named `ALL_ZERO`.  Source: thesis, Remark 6.3."""

    @property
    def concepts(self) -> range:
        return range(ALL_ZERO, self.size)

    @property
    def vc(self) -> int:
        # both labels of any one point; no concept labels two points 1
        return 1

    def label(self, concept: int, x: int) -> int:
        return int(x == concept)


def all_examples(points: Iterable[Any]) -> tuple[tuple[Any, int], ...]:
    """Every example (x, y) over these points: each with the label 0, then with 1."""
    return tuple((x, y) for x in points for y in (0, 1))


@dataclass(frozen=True)
class Truth:
    """Where labelled examples come from.

    Args:
        points: distinct points of X.
        weights: the distribution D: as many numbers ≥ 0, in the ratios of their probabilities.
        target: the concept that labels them.
    """

    points: tuple[Any, ...]
    weights: tuple[float, ...]
    target: Any


@dataclass(frozen=True)
class Examples(Mechanism):
    """Instances of n examples (x, c(x)), x drawn independently from D and labelled by the target concept c.

    The dataset is a multiset; `Instance.truth` is the `Truth`.
    """

    concepts: ConceptClass
    truth: Truth
    records: int

    def run(self, dataset: Any) -> Program:
        examples = tuple((x, self.concepts.label(self.truth.target, x)) for x in self.truth.points)
        sample = yield Multinomial(examples, self.truth.weights, self.records)
        return Instance(sample, self.truth)

    def __str__(self) -> str:
        if len(self.truth.points) == 1:
            where = f"all at {self.truth.points[0]!r}"
        else:
            where = f"drawn from {_shown(self.truth.points, self.truth.weights)}"
        return f"{self.records:,} examples {where}, labelled by c_{self.truth.target}"


@dataclass(frozen=True)
class AnyLabels:
    """Where examples come from whose labels no concept needs to explain: the distribution P of the agnostic case.

    Args:
        examples: distinct examples (x, y).
        weights: the distribution P: as many numbers ≥ 0, in the ratios of their probabilities.
    """

    examples: tuple[tuple[Any, int], ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class AgnosticExamples(Mechanism):
    """Instances of n examples (x, y) drawn independently from P; `Instance.truth` is the `AnyLabels`."""

    truth: AnyLabels
    records: int

    def run(self, dataset: Any) -> Program:
        sample = yield Multinomial(self.truth.examples, self.truth.weights, self.records)
        return Instance(sample, self.truth)

    def __str__(self) -> str:
        drawn = "1 example" if self.records == 1 else f"{self.records:,} examples"
        return f"{drawn} drawn from {_shown(self.truth.examples, self.truth.weights)}"


@dataclass(frozen=True)
class EmpiricalError(Goal):
    """The output names a concept that labels at most αn of the n examples wrongly.  Source: thesis, Definition 3.12."""

    concepts: ConceptClass
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        examples = Multiset.of(instance.dataset)
        return self.concepts.wrong(output, examples) <= as_written(self.alpha) * len(examples)

    def __str__(self) -> str:
        return f"a concept of empirical error ≤ {self.alpha:.4g}"


@dataclass(frozen=True)
class GeneralisationError(Goal):
    """The output names a concept that differs from the target with probability at most α under D.

    Source: thesis, Definition 3.10.
    """

    concepts: ConceptClass
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        truth = instance.truth
        if not isinstance(truth, Truth):
            raise ParameterError("A generalisation error is of examples drawn from a distribution: see `Examples`.")
        label = self.concepts.label
        weights = [Fraction(w) for w in truth.weights]
        wrong = sum(
            w for x, w in zip(truth.points, weights, strict=True) if label(output, x) != label(truth.target, x)
        )
        return wrong <= as_written(self.alpha) * sum(weights)

    def __str__(self) -> str:
        return f"a concept of generalisation error ≤ {self.alpha:.4g}"


def _shown(values: Sequence[Any], weights: Sequence[float]) -> str:
    """A distribution, its first values at most."""
    total = sum(Fraction(w) for w in weights)
    shown = [f"{x!r}: {float(Fraction(w) / total):.4g}" for x, w in list(zip(values, weights, strict=True))[:6]]
    return "{" + ", ".join(shown) + (", …" if len(values) > 6 else "") + "}"


