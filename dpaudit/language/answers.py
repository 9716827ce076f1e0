"""Neighbouring relations on vectors of query answers: the dataset is the vector of answers itself."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import ClassVar

from numpy.random import Generator

from dpaudit.language.checks import positive
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record, as_record, is_number
from dpaudit.language.relation import Dataset, Relation


@dataclass(frozen=True)
class Answers(Relation):
    """Two vectors of numeric answers to queries: the dataset is the vector of answers itself.

    For mechanisms stated in terms of query answers (report noisy max, the sparse vector technique). The sensitivity
    of the queries is `reach`; both vectors have the same length.

    Args:
        size: the size of the group, as for every relation.
        reach: how far one record moves the answers, > 0; 1 by default.

    Raises:
        ParameterError: a reach that is not a number above 0.
    """

    reach: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("the reach of a record", self.reach)

    @property
    def name(self) -> str:
        """ "answers-l1", "answers-l1@0.25" where one record moves them by 0.25, with ":3" for groups of three."""
        reach = "" if self.reach == 1 else f"@{self.reach!r}"
        return f"{self.kind}{reach}" + ("" if self.size == 1 else f":{self.size}")

    @abstractmethod
    def gap(self, left: tuple[float, ...], right: tuple[float, ...]) -> float:
        """The distance between two vectors of answers."""

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        a, b = _answers(left), _answers(right)
        if a is None or b is None or len(a) != len(b):
            return None
        if a == b:
            return 0
        # answers that are not numbers have no distance
        moved = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        if not all(map(is_number, chain.from_iterable(moved))):
            return None
        a, b = (tuple(answers) for answers in zip(*moved, strict=True))
        # a sum of decimals that is 1 on paper may exceed it by rounding
        return max(1, math.ceil(self.gap(a, b) / self.reach - 1e-9))

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        for other in product(dict.fromkeys(as_record(tuple(domain))), repeat=len(dataset)):
            if self.distance(dataset, other) == 1:
                yield other

    def scope(self, domain: Sequence[Record], records: int, *, ordered: bool) -> list[Dataset]:
        """All vectors of `records` answers; their order always counts."""
        return list(product(as_record(tuple(domain)), repeat=records))

    def _moved(self, answer: float, step: int, domain: Sequence[Record]) -> float:
        """One answer moved as far as a record can move it, unless that leaves the range of the domain."""
        numbers = [value for value in domain if is_number(value)]
        moved = answer + (step if self.reach == 1 else step * self.reach)
        return moved if numbers and min(numbers) <= moved <= max(numbers) else answer


@dataclass(frozen=True)
class AnswersLInf(Answers):
    """Every answer moves by at most 1 (the neighbours of report noisy max and of sparse vector techniques)."""

    kind: ClassVar[str] = "answers-linf"

    def gap(self, left: tuple[float, ...], right: tuple[float, ...]) -> float:
        return max((abs(a - b) for a, b in zip(left, right, strict=True)), default=0.0)

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        steps = rng.integers(-1, 2, len(dataset)).tolist()
        return tuple(self._moved(a, step, domain) for a, step in zip(dataset, steps, strict=True))


@dataclass(frozen=True)
class AnswersL1(Answers):
    """The answers move by at most 1 in total (the neighbours of noisy histograms)."""

    kind: ClassVar[str] = "answers-l1"

    def gap(self, left: tuple[float, ...], right: tuple[float, ...]) -> float:
        return math.fsum(abs(a - b) for a, b in zip(left, right, strict=True))

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        if not len(dataset):
            return dataset
        at, step = int(rng.integers(len(dataset))), 2 * int(rng.integers(2)) - 1
        return tuple(self._moved(a, step, domain) if i == at else a for i, a in enumerate(dataset))


@dataclass(frozen=True)
class AnswersL2(AnswersL1):
    """The answers move by at most 1 in Euclidean length (the neighbours of the Gaussian mechanism)."""

    kind: ClassVar[str] = "answers-l2"

    def gap(self, left: tuple[float, ...], right: tuple[float, ...]) -> float:
        return math.dist(left, right)


ANSWERS_LINF = AnswersLInf()
ANSWERS_L1 = AnswersL1()
ANSWERS_L2 = AnswersL2()


def _answers(dataset: Dataset) -> tuple[float, ...] | None:
    """The vector of answers; None if the dataset is not one."""
    if isinstance(dataset, Multiset) or any(isinstance(a, bool) or not isinstance(a, int | float) for a in dataset):
        return None
    answers: tuple[float, ...] = as_record(dataset)
    return answers
