"""The neighbouring relation of users: all records of one person are added or removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from typing import ClassVar, Self

from numpy.random import Generator

from dpaudit.errors import ParameterError
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record, as_record
from dpaudit.language.relation import AddRemoveOne, Dataset, Relation, as_records
from dpaudit.options import SIZE

MOST_ADDED = 3
"""Records of a new user that `Users.neighbours` enumerates, and of a dataset that `Users.scope` does."""
MOST_CONFLICTS = 16
"""Users whose records interleave differently, up to which the distance is exact; beyond it may be too large."""
MOST_COMPARED = 64
"""Users of whom every two are compared for that; with more the distance may be too large."""


@dataclass(frozen=True)
class Users(Relation):
    """One dataset has one user more than the other, with any number of records; the other records are the same.

    A record is a tuple, and its first cell (or the cell of `column`) says whose it is; a record that is no tuple is a
    user itself. In tuples the records keep their order. A user whose records change is two steps: removed, and added.

    Args:
        column: the name of the user's column in frames; "" for the first cell.
        cell: the cell of the user in a record, from 0; `located` finds that of `column`.
    """

    column: str = ""
    cell: int = 0
    kind: ClassVar[str] = "users"

    @property
    def name(self) -> str:
        """ "users", "users:name of the column", with ":3" for groups of three."""
        words = (self.kind, *((self.column,) if self.column else ()), *((str(self.size),) if self.size > 1 else ()))
        return ":".join(words)

    def located(self, columns: Sequence[str] | None) -> Self:
        """The relation on records that have these cells.

        Raises:
            ParameterError: there is no such column.
        """
        if not self.column:
            return self
        if not columns:
            raise ParameterError(
                f"{self.name} names a column, and these records have none with a name; give a DataFrame, or put the "
                "user into the first cell and write users."
            )
        if self.column not in columns:
            raise ParameterError(
                f"{self.name} names the column {self.column!r}; these records have {', '.join(columns)}."
            )
        return replace(self, cell=list(columns).index(self.column))

    def user(self, record: Record) -> Record:
        """Whose record it is.

        Raises:
            ParameterError: it has too few cells.
        """
        if not isinstance(record, tuple):
            return as_record(record)
        if self.cell >= len(record):
            raise ParameterError(f"The record {record!r} has no cell {self.cell}, which is the user under {self.name}.")
        return as_record(record[self.cell])

    def of(self, dataset: Dataset) -> dict[Record, tuple[Record, ...]]:
        """The records of every user, in their order."""
        lists: dict[Record, list[Record]] = {}
        for record in dataset:
            lists.setdefault(self.user(record), []).append(record)
        return {user: tuple(records) for user, records in lists.items()}

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        left, right = as_records(left), as_records(right)
        unordered = isinstance(left, Multiset) or isinstance(right, Multiset)
        if unordered:
            left, right = Multiset.of(left), Multiset.of(right)
        mine, others = self.of(left), self.of(right)
        same = [user for user, records in mine.items() if others.get(user) == records]
        different = len(mine) + len(others) - 2 * len(same)
        if unordered:
            return different
        return different + 2 * self._out_of_order(tuple(left), tuple(right), frozenset(same))

    def _out_of_order(
        self, left: tuple[Record, ...], right: tuple[Record, ...], same: frozenset[Record]
    ) -> int:
        """The fewest users to remove from both, so that the records of the others come in the same order.

        Two sequences with the same records of every user are equal if their restrictions to any two users are, so this
        is the smallest vertex cover of the pairs of users that come in another order.
        """
        a, b = ([user for user in map(self.user, dataset) if user in same] for dataset in (left, right))
        if a == b:
            return 0
        if len(same) > MOST_COMPARED:
            return _greedy(a, b)
        swapped = [
            (u, v) for u, v in combinations(dict.fromkeys(a), 2)
            if [w for w in a if w in (u, v)] != [w for w in b if w in (u, v)]
        ]
        return _cover(tuple(swapped))

    def refusal(self, left: Dataset, right: Dataset) -> str:
        refusal = super().refusal(left, right)
        if not refusal:
            return ""
        mine, others = self.of(as_records(left)), self.of(as_records(right))
        changed = next((user for user in mine if user in others and mine[user] != others[user]), None)
        why = "" if changed is None else f" (user {changed!r} has other records, which is a removal and an addition)"
        return f"{refusal}{why}"

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        """Every dataset without one user, and with one new user that has up to `MOST_ADDED` records."""
        dataset, domain = as_records(dataset), tuple(dict.fromkeys(as_record(tuple(domain))))
        mine = self.of(dataset)
        for user in mine:
            yield self._without(dataset, user)
        new = {user: records for user, records in self.of(domain).items() if user not in mine}
        for number in range(1, MOST_ADDED + 1):
            for records in new.values():
                if isinstance(dataset, Multiset):
                    for added in combinations_with_replacement(records, number):
                        yield dataset.changed(add=added)
                    continue
                for added in product(records, repeat=number):
                    for places in combinations(range(len(dataset) + number), number):
                        yield _interleaved(dataset, added, places)

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Record], rng: Generator) -> Dataset:
        """One user removed, or a new one added, each with probability ½ where both are possible.

        A new user has k records with probability 2⁻ᵏ, drawn from the domain's records of that user.
        """
        mine = list(self.of(dataset))
        new = {user: records for user, records in self.of(tuple(domain)).items() if user not in set(mine)}
        if mine and (not new or rng.random() < 0.5):
            return self._without(dataset, mine[int(rng.integers(len(mine)))])
        if not new:
            return dataset
        records = list(new.values())[int(rng.integers(len(new)))]
        number = int(rng.geometric(0.5))
        added = tuple(records[int(i)] for i in rng.integers(len(records), size=number))
        if isinstance(dataset, Multiset):
            return dataset.changed(add=added)
        places = sorted(int(at) for at in rng.choice(len(dataset) + number, number, replace=False))
        return _interleaved(dataset, added, tuple(places))

    def scope(self, domain: Sequence[Record], records: int, *, ordered: bool) -> list[Dataset]:
        """All datasets of at most `records` records.

        Raises:
            ParameterError: more than `MOST_ADDED` records, as `neighbours` would miss larger users.
        """
        if records > MOST_ADDED:
            raise ParameterError(
                "Datasets of at most {} records can be enumerated under {}, not {}; give {} {}.",
                MOST_ADDED, self.name, records, SIZE, MOST_ADDED,
            )
        return AddRemoveOne().scope(domain, records, ordered=ordered)

    def _without(self, dataset: Dataset, user: Record) -> Dataset:
        if isinstance(dataset, Multiset):
            return Multiset(tuple((v, count) for v, count in dataset.items if self.user(v) != user))
        return tuple(record for record in dataset if self.user(record) != user)


USERS = Users()


def _interleaved(
    dataset: tuple[Record, ...], added: tuple[Record, ...], places: tuple[int, ...]
) -> tuple[Record, ...]:
    """The dataset with new records, which stand at these places of the result, ascending."""
    made = list(dataset)
    for at, record in zip(places, added, strict=True):
        made.insert(at, record)
    return tuple(made)


def _greedy(left: list[Record], right: list[Record]) -> int:
    """Users to remove from two sequences of users, one after the other, until they are equal; not always the fewest."""
    removed = 0
    while left != right:
        u, v = next((u, v) for u, v in zip(left, right, strict=True) if u != v)
        # the one without which the sequences agree for longer
        ways = [[[w for w in users if w != gone] for users in (left, right)] for gone in (u, v)]
        left, right = max(ways, key=lambda way: _common_start(*way))
        removed += 1
    return removed


def _common_start(left: list[Record], right: list[Record]) -> int:
    return next((i for i, (u, v) in enumerate(zip(left, right, strict=True)) if u != v), len(left))


@lru_cache(maxsize=4096)
def _cover(edges: tuple[tuple[Record, Record], ...]) -> int:
    """The size of a smallest vertex cover; of many vertices, that of a greedy one, which may be larger."""
    if not edges:
        return 0
    degrees: dict[Record, int] = {}
    for edge in edges:
        for end in edge:
            degrees[end] = degrees.get(end, 0) + 1
    busiest = max(degrees, key=lambda end: degrees[end])
    if degrees[busiest] == 1:
        # no two edges share an end
        return len(edges)
    without = 1 + _cover(tuple(edge for edge in edges if busiest not in edge))
    if len(degrees) > MOST_CONFLICTS:
        return without
    ends = {end for edge in edges if busiest in edge for end in edge} - {busiest}
    rest = tuple(edge for edge in edges if not ends & {*edge})
    return min(without, len(ends) + _cover(rest))
