"""Neighbouring relations: the pairs of datasets that a claim covers.

A dataset is a tuple of records (order matters, as in X^n) or a `Multiset`; relations on other datasets are in `answers`
and `private_rows`, and `relations` looks them all up by name.
`Relation.size` > 1 is the group version: datasets joined by a chain of that many neighbouring steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any, ClassVar, Self, TypeAlias

from numpy.random import Generator

from dpaudit.language.checks import whole
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record, as_record, plain_record

Dataset: TypeAlias = tuple[Record, ...] | Multiset
"""What relations compare. A mechanism may take any other object too."""


def as_records(dataset: Dataset) -> Dataset:
    """The dataset with its records as `as_record` gives them, so that equal ones are equal."""
    if not isinstance(dataset, Multiset):
        return tuple(as_record(tuple(dataset)))
    given = dataset.values
    values = as_record(given)
    if values is given:
        return dataset
    counts: dict[Record, int] = {}
    for value, (_, count) in zip(values, dataset.items, strict=True):
        counts[value] = counts.get(value, 0) + count
    return Multiset.counted(counts)


def plain_records(dataset: Any) -> Any:
    """The dataset as a mechanism sees it, with NaN and −0.0 as plain floats; anything else unchanged."""
    if isinstance(dataset, Multiset):
        return Multiset(tuple((plain_record(value), count) for value, count in dataset.items))
    return plain_record(dataset)


@dataclass(frozen=True)
class Relation(ABC):
    """A neighbouring relation, or with `size` k its group version."""

    size: int = 1
    kind: ClassVar[str]
    of_records: ClassVar[bool] = False
    """Whether permuting the records' values, in the same way everywhere, maps neighbours to neighbours."""

    def __post_init__(self) -> None:
        whole("the size of a group", self.size, least=1)

    @property
    def name(self) -> str:
        """The name in reports and `--relation`: "replace-one", "replace-one:3" for groups of three."""
        return self.kind if self.size == 1 else f"{self.kind}:{self.size}"

    def group(self, k: int) -> Self:
        """The relation of groups of k: k times as many steps."""
        return replace(self, size=self.size * whole("the size of a group", k, least=1))

    @abstractmethod
    def distance(self, left: Dataset, right: Dataset) -> int | None:
        """Fewest single steps from one to the other; None if there is no such chain."""

    def related(self, left: Dataset, right: Dataset) -> bool:
        """Whether the claim covers this pair (equal datasets are related)."""
        distance = self.distance(left, right)
        return distance is not None and distance <= self.size

    def refusal(self, left: Dataset, right: Dataset) -> str:
        """Why the claim does not cover this pair, as a clause for a sentence; "" if it does."""
        distance = self.distance(left, right)
        if distance is None:
            return f"No number of {self.kind} steps leads from one dataset to the other"
        return f"The two datasets are {distance} {self.kind} steps apart" if distance > self.size else ""

    @abstractmethod
    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        """Every dataset one single step away with records from the domain, converted by `as_records`."""

    @abstractmethod
    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        """A dataset one single step away; the changed record and its new value are uniform."""

    def random_related(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        """A dataset at most `size` random single steps away."""
        for _ in range(self.size):
            dataset = self.random_neighbour(dataset, domain, rng)
        return dataset

    @abstractmethod
    def scope(self, domain: Sequence[Record], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets that an exhaustive audit of `records` records enumerates."""


@dataclass(frozen=True)
class ReplaceOne(Relation):
    """Two datasets of the same size that differ in one record (thesis, Definition 3.1)."""

    kind: ClassVar[str] = "replace-one"
    of_records: ClassVar[bool] = True

    def refusal(self, left: Dataset, right: Dataset) -> str:
        # sizes differ where one dataset is the other without a row: the claim may be under add-remove-one
        sizes = "" if len(left) == len(right) else f", as they have {len(left):,} and {len(right):,} records"
        refusal = super().refusal(left, right)
        return refusal and f"{refusal}{sizes}"

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        left, right = as_records(left), as_records(right)
        if len(left) != len(right):
            return None
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            return missing(Multiset.of(left), Multiset.of(right))
        return sum(1 for a, b in zip(left, right, strict=True) if a != b)

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        dataset, domain = as_records(dataset), as_record(tuple(domain))
        if isinstance(dataset, Multiset):
            for old in dataset.values:
                for new in domain:
                    if new != old:
                        yield dataset.changed(remove=(old,), add=(new,))
            return
        for i, old in enumerate(dataset):
            for new in domain:
                if new != old:
                    yield (*dataset[:i], new, *dataset[i + 1 :])

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        if not len(dataset):
            return dataset
        at, new = int(rng.integers(len(dataset))), domain[int(rng.integers(len(domain)))]
        if isinstance(dataset, Multiset):
            return dataset.changed(remove=(record_at(dataset, at),), add=(new,))
        return (*dataset[:at], new, *dataset[at + 1 :])

    def scope(self, domain: Sequence[Record], records: int, *, ordered: bool) -> list[Dataset]:
        domain = as_record(tuple(domain))
        if ordered:
            return list(product(domain, repeat=records))
        return [Multiset.of(chosen) for chosen in combinations_with_replacement(domain, records)]


@dataclass(frozen=True)
class AddRemoveOne(Relation):
    """Two datasets, one with one record more than the other."""

    kind: ClassVar[str] = "add-remove-one"
    of_records: ClassVar[bool] = True

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        left, right = as_records(left), as_records(right)
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            a, b = Multiset.of(left), Multiset.of(right)
            return missing(a, b) + missing(b, a)
        # the longest common subsequence stays; everything else is removed or added
        return len(left) + len(right) - 2 * _common(left, right)

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        dataset, domain = as_records(dataset), as_record(tuple(domain))
        if isinstance(dataset, Multiset):
            for old in dataset.values:
                yield dataset.changed(remove=(old,))
            for new in domain:
                yield dataset.changed(add=(new,))
            return
        for i in range(len(dataset)):
            yield (*dataset[:i], *dataset[i + 1 :])
        for i in range(len(dataset) + 1):
            for new in domain:
                yield (*dataset[:i], new, *dataset[i:])

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        if len(dataset) and rng.random() < 0.5:
            at = int(rng.integers(len(dataset)))
            if isinstance(dataset, Multiset):
                return dataset.changed(remove=(record_at(dataset, at),))
            return (*dataset[:at], *dataset[at + 1 :])
        new = domain[int(rng.integers(len(domain)))]
        if isinstance(dataset, Multiset):
            return dataset.changed(add=(new,))
        at = int(rng.integers(len(dataset) + 1))
        return (*dataset[:at], new, *dataset[at:])

    def scope(self, domain: Sequence[Record], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets of at most `records` records."""
        return [
            dataset
            for size in range(records + 1)
            for dataset in ReplaceOne().scope(domain, size, ordered=ordered)
        ]


REPLACE_ONE = ReplaceOne()
ADD_REMOVE_ONE = AddRemoveOne()


def missing(left: Multiset, right: Multiset) -> int:
    """The number of records of `left` that are not in `right`."""
    other = dict(right.items)
    return sum(max(0, count - other.get(value, 0)) for value, count in left.items)


def record_at(dataset: Multiset, at: int) -> Record:
    """The record at an index, in the order of the values."""
    for value, count in dataset.items:
        if at < count:
            return value
        at -= count
    raise IndexError(at)


def _common(left: tuple[Record, ...], right: tuple[Record, ...]) -> int:
    """Length of the longest common subsequence; equal ends are stripped first, so similar datasets are fast."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    left, right = left[start:], right[start:]
    end = 0
    while end < min(len(left), len(right)) and left[-1 - end] == right[-1 - end]:
        end += 1
    left, right = left[: len(left) - end], right[: len(right) - end]
    row = [0] * (len(right) + 1)
    for a in left:
        diagonal = 0
        for j, b in enumerate(right, 1):
            diagonal, row[j] = row[j], diagonal + 1 if a == b else max(row[j], row[j - 1])
    return start + end + row[-1]
