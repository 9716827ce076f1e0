"""The neighbouring relation of mixtures: triples (x, y, p), where p says whether the row is private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record
from dpaudit.language.relation import Dataset, Relation, ReplaceOne, as_records, missing, record_at

PRIVATE, PUBLIC = "priv", "pub"
"""The values of p, the third entry of a row of `PrivateRows`."""



@dataclass(frozen=True)
class PrivateRows(Relation):
    """One private row replaced by another private row; the public rows, and the privacy of each row, are the same.

    Records are triples (x, y, p): a point, its label, and p = "priv" or "pub". In tuples every position keeps its bit;
    multisets have the same public part and equally many private rows.

    Source: Bassily, Moran and Nandi, Learning from Mixtures of Private and Public Populations, Definition 3.1.
    """

    kind: ClassVar[str] = "private-rows"

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        left, right = as_records(left), as_records(right)
        if len(left) != len(right) or not (_is_mixture(left) and _is_mixture(right)):
            return None
        if isinstance(left, Multiset) or isinstance(right, Multiset):
            (a, public), (b, other) = _parts(left), _parts(right)
            return missing(a, b) if public == other and len(a) == len(b) else None
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
        left, right = as_records(left), as_records(right)
        for dataset in (left, right):
            for at, record in enumerate(dataset, 1):
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
            return f"The public row {row!r} is more frequent in one dataset: under {self.kind} public rows are fixed"
        at = next(i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a != b and PUBLIC in (a[2], b[2]))
        if left[at][2] != right[at][2]:
            return f"The privacy bit of record {at + 1} differs: under {self.kind} privacy bits are fixed"
        return f"Record {at + 1} is public and differs: under {self.kind} public rows are fixed"

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        dataset = as_records(dataset)
        private = [row for row in dict.fromkeys(as_records(tuple(domain))) if _is_private(row)]
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

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        new = [row for row in domain if _is_private(row)]
        old = [i for i, row in enumerate(dataset) if _is_private(row)]
        if not new or not old:
            return dataset
        at, row = old[int(rng.integers(len(old)))], new[int(rng.integers(len(new)))]
        if isinstance(dataset, Multiset):
            return dataset.changed(remove=(record_at(dataset, at),), add=(row,))
        return (*dataset[:at], row, *dataset[at + 1 :])

    def scope(self, domain: Sequence[Record], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets of the domain's rows, with any public part: only those with the same public part are related."""
        return ReplaceOne().scope(domain, records, ordered=ordered)


PRIVATE_ROWS = PrivateRows()


def _is_row(record: Record) -> bool:
    """Whether it is a triple (x, y, p)."""
    return isinstance(record, tuple) and len(record) == 3 and record[2] in (PRIVATE, PUBLIC)


def _is_private(record: Record) -> bool:
    return _is_row(record) and record[2] == PRIVATE


def _is_mixture(dataset: Dataset) -> bool:
    return all(map(_is_row, dataset.values if isinstance(dataset, Multiset) else dataset))


def _parts(dataset: Dataset) -> tuple[Multiset, Multiset]:
    """The private rows and the public ones."""
    rows = Multiset.of(dataset).items
    private, public = (tuple((row, k) for row, k in rows if row[2] == bit) for bit in (PRIVATE, PUBLIC))
    return Multiset(private), Multiset(public)


def _count(dataset: Multiset, value: Record) -> int:
    return next((count for v, count in dataset.items if v == value), 0)
