"""Neighbouring relations: which two datasets a claim speaks about.

A dataset is a tuple of records (order counts, as in X^n) or a `Multiset`; for `Answers`, a tuple of query answers; for
`PrivateRows`, of triples (x, y, p) of which p says whether they are private.
`Relation.size` > 1 is the group version: datasets that a chain of that many neighbours joins.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Any, ClassVar, Self, TypeAlias

from numpy.random import Generator

from dpaudit.errors import ParameterError, UnknownNameError
from dpaudit.language.checks import positive, whole
from dpaudit.language.multiset import Multiset

Dataset: TypeAlias = tuple[Any, ...] | Multiset


@dataclass(frozen=True)
class Relation(ABC):
    """A neighbouring relation, or with `size` k its group version."""

    size: int = 1
    kind: ClassVar[str]
    of_records: ClassVar[bool] = False
    """Whether any permutation of the records' values, the same in all places, makes neighbours of neighbours."""

    def __post_init__(self) -> None:
        whole("the size of a group", self.size, least=1)

    @property
    def name(self) -> str:
        """As in reports and `--relation`: "replace-one", "replace-one:3" for groups of three."""
        return self.kind if self.size == 1 else f"{self.kind}:{self.size}"

    def group(self, k: int) -> Self:
        """The relation of groups of k: k times as many steps."""
        return replace(self, size=self.size * whole("the size of a group", k, least=1))

    @abstractmethod
    def distance(self, left: Dataset, right: Dataset) -> int | None:
        """Fewest single steps from one to the other; None when no number of steps does it."""

    def related(self, left: Dataset, right: Dataset) -> bool:
        """Whether the claim speaks about this pair (equal datasets are related)."""
        distance = self.distance(left, right)
        return distance is not None and distance <= self.size

    def refusal(self, left: Dataset, right: Dataset) -> str:
        """Why the claim does not speak about this pair, as a clause for a sentence; "" where it does."""
        distance = self.distance(left, right)
        if distance is None:
            return f"No number of {self.kind} steps leads from one dataset to the other"
        return f"The two datasets are {distance} {self.kind} steps apart" if distance > self.size else ""

    @abstractmethod
    def neighbours(self, dataset: Dataset, domain: Sequence[Any]) -> Iterator[Dataset]:
        """Every dataset one single step away with records from the domain."""

    @abstractmethod
    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        """A dataset one single step away, changed record and its new value uniform."""

    def random_related(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        """A dataset at most `size` random single steps away."""
        for _ in range(self.size):
            dataset = self.random_neighbour(dataset, domain, rng)
        return dataset

    @abstractmethod
    def scope(self, domain: Sequence[Any], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets that an exhaustive audit of `records` records enumerates."""


@dataclass(frozen=True)
class ReplaceOne(Relation):
    """Two datasets of the same size that differ in one record (thesis, Definition 3.1)."""

    kind: ClassVar[str] = "replace-one"
    of_records: ClassVar[bool] = True

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        if len(left) != len(right):
            return None
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            return _missing(Multiset.of(left), Multiset.of(right))
        return sum(1 for a, b in zip(left, right, strict=True) if a != b)

    def neighbours(self, dataset: Dataset, domain: Sequence[Any]) -> Iterator[Dataset]:
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

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        if not len(dataset):
            return dataset
        at, new = int(rng.integers(len(dataset))), domain[int(rng.integers(len(domain)))]
        if isinstance(dataset, Multiset):
            return dataset.changed(remove=(_record(dataset, at),), add=(new,))
        return (*dataset[:at], new, *dataset[at + 1 :])

    def scope(self, domain: Sequence[Any], records: int, *, ordered: bool) -> list[Dataset]:
        if ordered:
            return list(product(domain, repeat=records))
        return [Multiset.of(chosen) for chosen in combinations_with_replacement(domain, records)]


@dataclass(frozen=True)
class AddRemoveOne(Relation):
    """Two datasets of which one has one record more."""

    kind: ClassVar[str] = "add-remove-one"
    of_records: ClassVar[bool] = True

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            a, b = Multiset.of(left), Multiset.of(right)
            return _missing(a, b) + _missing(b, a)
        # what both share in order stays; everything else is removed or added
        return len(left) + len(right) - 2 * _common(left, right)

    def neighbours(self, dataset: Dataset, domain: Sequence[Any]) -> Iterator[Dataset]:
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

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        if len(dataset) and rng.random() < 0.5:
            at = int(rng.integers(len(dataset)))
            if isinstance(dataset, Multiset):
                return dataset.changed(remove=(_record(dataset, at),))
            return (*dataset[:at], *dataset[at + 1 :])
        new = domain[int(rng.integers(len(domain)))]
        if isinstance(dataset, Multiset):
            return dataset.changed(add=(new,))
        at = int(rng.integers(len(dataset) + 1))
        return (*dataset[:at], new, *dataset[at:])

    def scope(self, domain: Sequence[Any], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets of at most `records` records."""
        return [
            dataset
            for size in range(records + 1)
            for dataset in ReplaceOne().scope(domain, size, ordered=ordered)
        ]


@dataclass(frozen=True)
class Answers(Relation):
    """Two vectors of numeric answers to queries that one record moves: the dataset is the vector of answers itself.

    For mechanisms that are stated on answers to queries of sensitivity 1 (report noisy max, the sparse vector
    technique), or of another one; both vectors have the same length.

    Args:
        size: as of every relation.
        reach: how far one record moves the answers, > 0; 1 unless said otherwise.

    Raises:
        ParameterError: a reach that is no number above 0.
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
        """How far two vectors of answers are apart."""

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        a, b = _answers(left), _answers(right)
        if a is None or b is None or len(a) != len(b):
            return None
        if a == b:
            return 0
        # a sum of decimals that is 1 on paper may exceed it by rounding
        return max(1, math.ceil(self.gap(a, b) / self.reach - 1e-9))

    def neighbours(self, dataset: Dataset, domain: Sequence[Any]) -> Iterator[Dataset]:
        for other in product(dict.fromkeys(domain), repeat=len(dataset)):
            if self.distance(dataset, other) == 1:
                yield other

    def scope(self, domain: Sequence[Any], records: int, *, ordered: bool) -> list[Dataset]:
        """All vectors of `records` answers; their order always counts."""
        return list(product(domain, repeat=records))

    def _moved(self, answer: Any, step: int, domain: Sequence[Any]) -> Any:
        """One answer moved as far as a record does, unless that leaves the range of the domain."""
        moved = answer + (step if self.reach == 1 else step * self.reach)
        return moved if min(domain) <= moved <= max(domain) else answer


@dataclass(frozen=True)
class AnswersLInf(Answers):
    """Every answer moves by at most 1 (the neighbours of report noisy max and of sparse vector techniques)."""

    kind: ClassVar[str] = "answers-linf"

    def gap(self, left: tuple[float, ...], right: tuple[float, ...]) -> float:
        return max((abs(a - b) for a, b in zip(left, right, strict=True)), default=0.0)

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        steps = rng.integers(-1, 2, len(dataset)).tolist()
        return tuple(self._moved(a, step, domain) for a, step in zip(dataset, steps, strict=True))


@dataclass(frozen=True)
class AnswersL1(Answers):
    """The answers move by at most 1 in total (the neighbours of noisy histograms)."""

    kind: ClassVar[str] = "answers-l1"

    def gap(self, left: tuple[float, ...], right: tuple[float, ...]) -> float:
        return math.fsum(abs(a - b) for a, b in zip(left, right, strict=True))

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
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


@dataclass(frozen=True)
class PrivateRows(Relation):
    """One private row replaced by another private row; the public rows, and which rows are private, are the same.

    Records are triples (x, y, p): a point, its label, and p = "priv" or "pub". Of tuples every place keeps its bit;
    of multisets the public part is the same, and the private parts have as many rows.

    Source: Bassily, Moran and Nandi, Learning from Mixtures of Private and Public Populations, Definition 3.1.
    """

    kind: ClassVar[str] = "private-rows"

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        if len(left) != len(right) or not (_is_mixture(left) and _is_mixture(right)):
            return None
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            (a, public), (b, other) = _parts(left), _parts(right)
            return _missing(a, b) if public == other and len(a) == len(b) else None
        changed = 0
        for a, b in zip(left, right, strict=True):
            if a != b:
                if a[2] != PRIVATE or b[2] != PRIVATE:
                    return None
                changed += 1
        return changed

    def refusal(self, left: Dataset, right: Dataset) -> str:
        if self.distance(left, right) is not None:
            return super().refusal(left, right)
        for side in (left, right):
            for at, record in enumerate(side, 1):
                if not _is_row(record):
                    return f"Record {at} is {record!r}: under {self.kind} it must be (x, y, 'priv') or (x, y, 'pub')"
        if len(left) != len(right):
            return f"One dataset has {len(left)} records and the other {len(right)}: {self.kind} replaces private rows"
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            (a, public), (b, other) = _parts(left), _parts(right)
            if len(a) != len(b):
                return (
                    f"One dataset has {len(a)} private rows and the other {len(b)}: under {self.kind} privacy bits are "
                    "fixed"
                )
            row = next(v for v in (*public.values, *other.values) if _count(public, v) != _count(other, v))
            return f"The public row {row!r} is not in both datasets as often: under {self.kind} public rows are fixed"
        at = next(i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a != b and PUBLIC in (a[2], b[2]))
        if left[at][2] != right[at][2]:
            return f"The privacy bit of record {at + 1} differs: under {self.kind} privacy bits are fixed"
        return f"Record {at + 1} is public and differs: under {self.kind} public rows are fixed"

    def neighbours(self, dataset: Dataset, domain: Sequence[Any]) -> Iterator[Dataset]:
        private = [row for row in dict.fromkeys(domain) if _is_private(row)]
        if isinstance(dataset, Multiset):
            for old in dataset.values:
                for new in private if _is_private(old) else ():
                    if new != old:
                        yield dataset.changed(remove=(old,), add=(new,))
            return
        for i, old in enumerate(dataset):
            for new in private if _is_private(old) else ():
                if new != old:
                    yield (*dataset[:i], new, *dataset[i + 1 :])

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        new = [row for row in domain if _is_private(row)]
        old = [i for i, row in enumerate(dataset) if _is_private(row)]
        if not new or not old:
            return dataset
        at, row = old[int(rng.integers(len(old)))], new[int(rng.integers(len(new)))]
        if isinstance(dataset, Multiset):
            return dataset.changed(remove=(_record(dataset, at),), add=(row,))
        return (*dataset[:at], row, *dataset[at + 1 :])

    def scope(self, domain: Sequence[Any], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets of the domain's rows, whatever their public part: those with the same one are related."""
        return ReplaceOne().scope(domain, records, ordered=ordered)


PRIVATE, PUBLIC = "priv", "pub"
"""What stands third in a row of `PrivateRows`."""

REPLACE_ONE = ReplaceOne()
ADD_REMOVE_ONE = AddRemoveOne()
ANSWERS_LINF = AnswersLInf()
ANSWERS_L1 = AnswersL1()
ANSWERS_L2 = AnswersL2()
PRIVATE_ROWS = PrivateRows()
_BY_NAME: dict[str, Relation] = {
    relation.kind: relation
    for relation in (REPLACE_ONE, ADD_REMOVE_ONE, ANSWERS_LINF, ANSWERS_L1, ANSWERS_L2, PRIVATE_ROWS)
}


def relation_names() -> tuple[str, ...]:
    """What `relation_named` knows, without group sizes."""
    return tuple(_BY_NAME)


def relation_named(text: str) -> Relation:
    """The relation of a name.

    "replace-one", "add-remove-one", "answers-linf", "answers-l1", "answers-l2", "private-rows". Groups of three:
    "replace-one:3". Answers that one record moves by 0.25: "answers-l1@0.25".

    Raises:
        UnknownNameError: no such relation.
        ParameterError: a group size that is no whole number ≥ 1, or a reach that is no number above 0.
    """
    named, colon, size = text.strip().lower().partition(":")
    kind, at, reach = named.partition("@")
    found = _BY_NAME.get(kind)
    if found is None or (at and not isinstance(found, Answers)):
        raise UnknownNameError("relation", text, tuple(_BY_NAME))
    if at and isinstance(found, Answers):
        found = replace(found, reach=_reach(reach))
    if not colon:
        return found
    return found.group(whole("the size of a group", int(size) if size.isdecimal() else size, least=1))


def _reach(text: str) -> float:
    try:
        return positive("the reach of a record", float(text))
    except ValueError:
        raise ParameterError(f"The reach of a record must be a number above 0, not {text!r}.") from None


def _answers(dataset: Dataset) -> tuple[float, ...] | None:
    """The vector of answers; None where it is none."""
    if isinstance(dataset, Multiset) or any(isinstance(a, bool) or not isinstance(a, int | float) for a in dataset):
        return None
    return dataset


def _is_row(record: Any) -> bool:
    """Whether it is a triple (x, y, p)."""
    return isinstance(record, tuple) and len(record) == 3 and record[2] in (PRIVATE, PUBLIC)


def _is_private(record: Any) -> bool:
    return _is_row(record) and record[2] == PRIVATE


def _is_mixture(dataset: Dataset) -> bool:
    return all(map(_is_row, dataset.values if isinstance(dataset, Multiset) else dataset))


def _parts(dataset: Dataset) -> tuple[Multiset, Multiset]:
    """The private rows and the public ones."""
    rows = Multiset.of(dataset).items
    private, public = (tuple((row, k) for row, k in rows if row[2] == bit) for bit in (PRIVATE, PUBLIC))
    return Multiset(private), Multiset(public)


def _count(dataset: Multiset, value: Any) -> int:
    return next((count for v, count in dataset.items if v == value), 0)


def _missing(left: Multiset, right: Multiset) -> int:
    """How many records of `left` are not in `right`."""
    other = dict(right.items)
    return sum(max(0, count - other.get(value, 0)) for value, count in left.items)


def _record(dataset: Multiset, at: int) -> Any:
    for value, count in dataset.items:
        if at < count:
            return value
        at -= count
    raise IndexError(at)


def _common(left: tuple[Any, ...], right: tuple[Any, ...]) -> int:
    """Length of the longest common subsequence; equal ends are stripped first, so near datasets are cheap."""
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
