"""Neighbours of a real table: what its records are, and which pairs to try first.

A description of the records is read off the table: numbers lie between the smallest and the largest of their column,
and text, booleans, dates and categories are those of their column. So replaced rows stay within the observed ranges,
and missing values occur only in columns that have some.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from dpaudit.adversary.pairs.alignment import usable
from dpaudit.adversary.pairs.describe import Floats, Integers, Just, Records, SampledFrom, Tuples
from dpaudit.adversary.pairs.minimize import simplicity
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.adversary.pairs.starting_pairs import RANDOM, random_related_pairs, starting_pairs
from dpaudit.language import Dataset, Relation, Users
from dpaudit.language.containers import Container
from dpaudit.language.records import Record, exception_of, is_number

MOST_PLACES = 24
"""Rows of a table that are removed or replaced in the pairs to try first."""


@dataclass(frozen=True)
class Optional(Records):
    """A record that may be missing.

    Args:
        present: the others.
    """

    present: Records

    def draw(self, rng: Generator) -> Record:
        return None if rng.random() < 0.1 else self.present.draw(rng)

    @property
    def extremes(self) -> tuple[Record, Record]:
        return self.present.extremes

    def contains(self, value: Record) -> bool:
        return value is None or self.present.contains(value)

    @property
    def special(self) -> tuple[Record, ...]:
        return (*self.present.special, None)

    @property
    def exceptional(self) -> tuple[Record, ...]:
        return (*self.present.exceptional, None)

    def every(self, most: int) -> tuple[Record, ...] | None:
        present = self.present.every(most - 1)
        return None if present is None else (*present, None)

    def nearest(self, value: Record) -> Record:
        return self.present.extremes[0] if value is None else self.present.nearest(value)

    def between(self, left: Record, right: Record) -> Record:
        return left if left is None or right is None else self.present.between(left, right)

    def simpler(self, value: Record) -> Iterator[Record]:
        yield None
        if value is not None:
            yield from self.present.simpler(value)


@dataclass(frozen=True)
class Observed(Records):
    """Records of a table: one of its own, or one that its columns' values allow.

    Args:
        kind: what the columns allow.
        rows: those of the table.
    """

    kind: Records
    rows: tuple[Record, ...]

    def draw(self, rng: Generator) -> Record:
        # fields that belong together are seldom drawn together
        return self.rows[int(rng.integers(len(self.rows)))] if rng.random() < 0.5 else self.kind.draw(rng)

    @property
    def extremes(self) -> tuple[Record, Record]:
        return self.kind.extremes

    def contains(self, value: Record) -> bool:
        return self.kind.contains(value)

    @property
    def special(self) -> tuple[Record, ...]:
        return self.kind.special

    @property
    def exceptional(self) -> tuple[Record, ...]:
        return self.kind.exceptional

    def every(self, most: int) -> tuple[Record, ...] | None:
        return self.kind.every(most)

    def nearest(self, value: Record) -> Record:
        return self.kind.nearest(value)

    def between(self, left: Record, right: Record) -> Record:
        return self.kind.between(left, right)

    def simpler(self, value: Record) -> Iterator[Record]:
        yield from self.kind.simpler(value)


def observed_records(table: Sequence[Record], container: Container | None) -> Records:
    """The records that the values of a table allow.

    Args:
        table: its records, at least one.
        container: what it was given in, which tells categories from numbers; None for a list.
    """
    rows = tuple(table)
    widths = {len(row) if isinstance(row, tuple) else None for row in rows}
    finite = () if container is None else container.finite
    if len(widths) == 1 and (width := widths.pop()):
        closed = finite if len(finite) == width else (False,) * width
        kind: Records = Tuples(
            tuple(_column([row[i] for row in rows], closed=closed[i]) for i in range(width))
        )
    else:
        kind = _column(rows, closed=finite == (True,))
    return Observed(kind, rows)


def table_pairs(relation: Relation, records: Records, table: tuple[Record, ...], rng: Generator) -> list[Pair]:
    """Neighbours of a table, most promising first: its extreme and its rarest rows removed or replaced, rows added.

    Args:
        relation: neighbours, or groups of its size.
        records: what the table's values allow (`observed_records`).
        table: at least one record.
        rng: for the random rows.
    """
    if isinstance(relation, Users):
        return _users_pairs(relation, records, table, rng)
    if not relation.of_records:
        # datasets of answers have no rows to remove or replace
        return starting_pairs(relation, records, len(table), rng)
    chosen: dict[frozenset[Dataset], Pair] = {}
    step = min(relation.size, len(table))
    low, high = records.extremes
    places = _places(table, rng)
    new = [low, high, *records.exceptional, *records.special, *(records.draw(rng) for _ in range(RANDOM))]

    def add(right: tuple[Record, ...], label: str, source: str = "extreme") -> None:
        pair = Pair(table, right, label, source)
        if usable(pair, relation):
            chosen.setdefault(frozenset((pair.left, pair.right)), pair)

    if relation.kind == "add-remove-one":
        for at in places:
            at = min(at, len(table) - step)
            add((*table[:at], *table[at + step :]), f"{_rows(at, step)} removed")
        for record in new:
            add((*table, *(record,) * relation.size), "a row added" if step == 1 else f"{step} rows added")
    else:
        for at in places:
            at = min(at, len(table) - step)
            for record, what in ((low, "lowest"), (high, "highest")):
                add((*table[:at], *(record,) * step, *table[at + step :]), f"{_rows(at, step)} replaced by the {what}")
        for record in new[2:]:
            for at in dict.fromkeys((places[0], len(table) - 1)):
                at = min(at, len(table) - step)
                add((*table[:at], *(record,) * step, *table[at + step :]), f"{_rows(at, step)} replaced")
    pairs = list(chosen.values())
    return pairs + random_related_pairs(relation, records, len(table), rng, RANDOM)


def _users_pairs(relation: Users, records: Records, table: tuple[Record, ...], rng: Generator) -> list[Pair]:
    """All records of a user removed: of those with the extreme and rarest rows, with most and with fewest records.

    Records of new users are added if the table's values allow one.
    """
    of = relation.of(table)
    extreme = [relation.user(table[at]) for at in _places(table, rng)]
    by_number = sorted(of, key=lambda user: len(of[user]))
    users = list(dict.fromkeys((by_number[-1], by_number[0], *extreme)))
    pairs: list[Pair] = []
    for at, user in enumerate(users):
        gone = {user, *users[at + 1 : at + relation.size]}
        right = tuple(record for record in table if relation.user(record) not in gone)
        shown = f"user {user!r}" if len(gone) == 1 else f"{len(gone)} users"
        pairs.append(Pair(table, right, f"all {len(table) - len(right)} records of {shown} removed", "extreme"))
    low, high = records.extremes
    for record in dict.fromkeys((low, high, *records.exceptional, *(records.draw(rng) for _ in range(RANDOM)))):
        if relation.user(record) not in of:
            added = ((k, (*table, *(record,) * k)) for k in (1, 5))
            pairs += [Pair(table, right, f"a user with {k} records added", "extreme") for k, right in added]
    different = {(pair.left, pair.right): pair for pair in pairs if usable(pair, relation)}
    return [*different.values(), *random_related_pairs(relation, records, len(table), rng, RANDOM)]


def _rows(at: int, step: int) -> str:
    """Rows are counted from 0, as in the table that the pair is shown as."""
    return f"row {at}" if step == 1 else f"rows {at} to {at + step - 1}"


def _places(table: tuple[Record, ...], rng: Generator) -> list[int]:
    """Rows to change first: those with the smallest and largest numbers and the rarest values, both ends, others."""
    rows = [row if isinstance(row, tuple) else (row,) for row in table]
    chosen: list[int] = []
    for i in range(min(map(len, rows))):
        column = [row[i] for row in rows]
        numbers = [at for at, value in enumerate(column) if is_number(value)]
        if numbers:
            chosen += [max(numbers, key=lambda at: column[at]), min(numbers, key=lambda at: column[at])]
        counts = Counter(column)
        if len(numbers) < len(column):
            chosen.append(min(range(len(column)), key=lambda at: counts[column[at]]))
    chosen += [len(table) - 1, 0, *map(int, rng.permutation(len(table))[:RANDOM])]
    return list(dict.fromkeys(chosen))[:MOST_PLACES]


def _column(values: Sequence[Record], *, closed: bool) -> Records:
    """What one column allows.

    Args:
        values: that were observed.
        closed: whether no others are possible, as of categories.
    """
    present = [value for value in values if value is not None]
    if not present:
        return Just(None)
    kind = _present(present, closed=closed)
    return kind if len(present) == len(values) else Optional(kind)


def _present(values: Sequence[Record], *, closed: bool) -> Records:
    distinct = list(dict.fromkeys(values))
    if not closed and all(isinstance(value, int | float) and not isinstance(value, bool) for value in distinct):
        numbers = [value for value in distinct if is_number(value)]
        low, high = min(numbers, default=0), max(numbers, default=0)
        if all(isinstance(value, int) for value in distinct):
            if low < high and low >= -(2**63) and high < 2**63:
                return Integers(low, high)
        elif low < high and math.isfinite(float(high) - float(low)):
            odd = {exception_of(value) for value in distinct}
            allowed = [name in odd for name in ("allow_nan", "allow_infinity", "allow_negative_zero")]
            return Floats(float(low), float(high), *allowed)
    if len(distinct) == 1:
        return Just(distinct[0])
    return SampledFrom(tuple(sorted(distinct, key=simplicity)))
