"""Pairs of neighbouring datasets as a Hypothesis strategy, for every relation.

The differing records are drawn first and the shared records after them, so that a failing pair shrinks to a simple
difference with few shared records. For other relations, each step is chosen from the relation's `neighbours`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from hypothesis import assume, reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dpaudit.adversary.pairs.alignment import ABSENT, Slot
from dpaudit.adversary.pairs.describe import Records
from dpaudit.errors import DatasetError, ParameterError
from dpaudit.language import (
    PRIVATE,
    AddRemoveOne,
    Answers,
    AnswersL1,
    AnswersL2,
    AnswersLInf,
    Dataset,
    Multiset,
    PrivateRows,
    Relation,
    ReplaceOne,
    Users,
    relation_named,
)
from dpaudit.language.checks import whole
from dpaudit.language.containers import Container
from dpaudit.language.records import as_record, is_number
from dpaudit.strategies.datasets import Described, comparable_records, described_records, handed_over, sizes

MOST_NEIGHBOURS = 1_000
"""A step of an unknown relation is chosen from this many neighbours of a dataset."""
MOST_DOMAIN = 4
"""Number of records besides the dataset's own that such a step may introduce."""

_Datasets: TypeAlias = tuple[tuple[object, ...], tuple[object, ...]]
_Maker: TypeAlias = Callable[[DrawFn, Any, SearchStrategy[object], int, int], _Datasets]
_Value = TypeVar("_Value")


class Neighbours(NamedTuple):
    """Two different datasets that a claim covers: tuples or multisets of records, or frames or arrays."""

    left: Any
    right: Any


def neighbours(
    relation: Relation | str,
    records: Described,
    *,
    min_size: int = 0,
    max_size: int = 10,
    groups: int = 1,
    ordered: bool = True,
) -> SearchStrategy[Neighbours]:
    """A strategy for pairs of different related datasets, in both directions.

    Args:
        relation: a name ("replace-one", "add-remove-one", "replace-one:3"), or any `Relation`, including your own.
        records: a strategy of records, or a description: "integers(0, 100)", or "frame(age=integers(18, 100))" for
            pairs of data frames, and likewise for series and arrays. Numbers for "answers-linf", "answers-l1" and
            "answers-l2", triples (x, y, "priv" or "pub") for "private-rows", (user, …) for "users".
        min_size, max_size: bounds on the number of records of either dataset.
        groups: a factor by which to multiply the largest distance of the two datasets.
        ordered: True for tuples, frames and arrays; False for multisets, whose records must have an order.

    Raises:
        UnknownNameError: no such relation.
        DatasetError: the string is not a description of records.
        ParameterError: invalid sizes or groups, or too few distinct records or sizes for any pair.
        UsageError: pandas or polars is described and is not installed.
    """
    related = (relation_named(relation) if isinstance(relation, str) else relation).group(groups)
    sizes(min_size, max_size)
    described, container = described_records(records, ordered=ordered)
    if isinstance(related, Users):
        related = related.located(None if container is None else container.fields)
    make = _MAKERS.get(type(related), _by_steps)
    if make is _answers and not ordered:
        raise ParameterError(f"{related.name} relates vectors, whose order matters; omit ordered.")
    if make not in (_by_steps, _resized, _users):
        _can_differ(related, described, max_size)
    if make is _users:
        _room_for_a_user(min_size, max_size)
    if make is _resized and not _changes_of_size(related.size, min_size, max_size):
        raise ParameterError(
            f"{related.name} changes the number of records, but max_size equals min_size, {max_size}; raise it."
        )
    named = repr(related.name) if isinstance(relation, str) or type(related) in _MAKERS else repr(related)
    return _pairs(
        _Shown(related, named), _Shown((comparable_records(described), container), repr(records)),
        min_size=min_size, max_size=max_size, ordered=ordered,
    )


class _Shown(Generic[_Value]):
    """An argument with the repr of the original: Hypothesis names a strategy after the arguments of its function."""

    def __init__(self, value: _Value, text: str) -> None:
        self.value = value
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _composed() -> Callable[..., SearchStrategy[Neighbours]]:
    # Hypothesis shows the name of this one
    @st.composite
    def neighbours(
        draw: DrawFn,
        relation: _Shown[Relation],
        records: _Shown[tuple[SearchStrategy[object], Container | None]],
        *,
        min_size: int,
        max_size: int,
        ordered: bool,
    ) -> Neighbours:
        related = relation.value
        make: _Maker = _MAKERS.get(type(related), _by_steps)
        described, container = records.value
        datasets = make(draw, related, described, min_size, max_size)
        left, right = datasets if ordered else map(Multiset.of, datasets)
        # real answers were rounded, or changes cancelled each other
        assume(left != right and related.related(left, right))
        return Neighbours(handed_over(left, container), handed_over(right, container))

    return neighbours


_pairs = _composed()


def _replaced(draw: DrawFn, relation: ReplaceOne, records: SearchStrategy[object], least: int, most: int) -> _Datasets:
    """Up to `size` records replaced by others."""
    k = draw(st.integers(1, min(relation.size, most)))
    changed = [_two(draw, records) for _ in range(k)]
    return _placed(draw, changed, records, least - k, most - k)


def _private(draw: DrawFn, relation: PrivateRows, records: SearchStrategy[object], least: int, most: int) -> _Datasets:
    """Up to `size` private rows replaced by others."""
    k = draw(st.integers(1, min(relation.size, most)))
    changed = [_two(draw, records.filter(_is_private)) for _ in range(k)]
    return _placed(draw, changed, records, least - k, most - k)


def _resized(draw: DrawFn, relation: AddRemoveOne, records: SearchStrategy[object], least: int, most: int) -> _Datasets:
    """Up to `size` records that only one of the datasets has."""
    added, removed = draw(st.sampled_from(_changes_of_size(relation.size, least, most)))
    changed: list[Slot] = [(ABSENT, draw(records)) for _ in range(added)]
    changed += [(draw(records), ABSENT) for _ in range(removed)]
    return _placed(draw, changed, records, least - min(added, removed), most - max(added, removed))


def _users(draw: DrawFn, relation: Users, records: SearchStrategy[object], least: int, most: int) -> _Datasets:
    """Up to `size` users, all of whose records only one of the datasets has."""
    first = draw(st.lists(records, min_size=1, max_size=most))
    users = list(dict.fromkeys(map(relation.user, map(as_record, first))))
    gone = draw(st.lists(st.sampled_from(users), min_size=1, max_size=relation.size, unique=True))
    mine = [record for record in first if relation.user(as_record(record)) in gone]
    others = records.filter(lambda record: relation.user(as_record(record)) not in gone)
    changed: list[Slot] = [(ABSENT, record) for record in mine]
    if relation.size > 1 and draw(st.booleans()):
        # some users in the one, some in the other
        left = set(gone[: len(gone) // 2])
        changed = [(b, a) if relation.user(as_record(b)) in left else (a, b) for a, b in changed]
    elif draw(st.booleans()):
        changed = [(b, a) for a, b in changed]
    fewer, more = sorted(sum(slot[i] is not ABSENT for slot in changed) for i in (0, 1))
    assume(more <= most and least - fewer <= most - more)
    shared = draw(st.lists(others, min_size=max(0, least - fewer), max_size=most - more))
    slots: list[Slot] = [(value, value) for value in shared]
    for slot in changed:
        slots.insert(draw(st.integers(0, len(slots))), slot)
    return tuple(a for a, _ in slots if a is not ABSENT), tuple(b for _, b in slots if b is not ABSENT)


def _answers(
    draw: DrawFn, relation: Answers, records: SearchStrategy[object], least: int, most: int
) -> _Datasets:
    """Answers that move towards other answers, by at most `size` times `reach`: each of them, or in total.

    Values between two possible answers count as possible, so the range is never left.
    """
    number = records.map(_as_number)
    moves = st.lists(st.tuples(number, st.none() | number), min_size=max(1, least), max_size=most)
    left, right = list[object](), list[object]()
    total, used = relation.size * relation.reach, 0.0
    for answer, other in draw(moves):
        step: float = 0
        if other is not None and is_number(answer) and is_number(other):
            limit = _room(relation, total, used)
            in_whole_numbers = isinstance(answer, int) and isinstance(other, int)
            if in_whole_numbers and limit >= 1:
                limit = math.floor(limit)
            elif not in_whole_numbers and not isinstance(relation, AnswersLInf):
                # real answers may divide the step
                limit *= draw(st.sampled_from((1, 0.5)))
            step = max(-limit, min(limit, other - answer))
        # squares, so that sums of whole numbers are exact
        used += step * step if isinstance(relation, AnswersL2) else abs(step)
        left.append(answer)
        right.append(as_record(other if other is not None and answer + step == other else answer + step))
    return tuple(left), tuple(right)


def _room(relation: Answers, total: float, used: float) -> float:
    """How far another answer may move, given the amount used by others: a sum, of squares for `AnswersL2`."""
    if isinstance(relation, AnswersLInf):
        return total
    if isinstance(relation, AnswersL2):
        return math.sqrt(max(0.0, total * total - used))
    return max(0.0, total - used)


def _by_steps(draw: DrawFn, relation: Relation, records: SearchStrategy[object], least: int, most: int) -> _Datasets:
    """Steps to neighbours that the relation enumerates."""
    left = draw(st.lists(records, min_size=least, max_size=most).map(tuple))
    fresh = draw(st.lists(records, min_size=1, max_size=MOST_DOMAIN))
    right: Dataset = left
    for _ in range(draw(st.integers(1, relation.size))):
        domain = tuple(dict.fromkeys((*fresh, *left)))
        steps = [other for other in islice(relation.neighbours(right, domain), MOST_NEIGHBOURS) if other != right]
        if not steps:
            reject()
        right = draw(st.sampled_from(steps))
    assume(least <= len(right) <= most)
    return (left, tuple(right)) if draw(st.booleans()) else (tuple(right), left)


_MAKERS: dict[type[Relation], _Maker] = {
    ReplaceOne: _replaced,
    AddRemoveOne: _resized,
    AnswersLInf: _answers,
    AnswersL1: _answers,
    AnswersL2: _answers,
    PrivateRows: _private,
    Users: _users,
}
"""By exact class, because a subclass may relate fewer datasets."""


def _placed(
    draw: DrawFn, changed: list[Slot], records: SearchStrategy[object], least: int, most: int
) -> _Datasets:
    """The changed slots among shared records, some of which equal the changing records: ties and duplicates."""
    mine = list(dict.fromkeys(value for slot in changed for value in slot if value is not ABSENT))
    kinds = records | st.sampled_from(mine)
    shared = draw(st.lists(kinds, min_size=max(0, least), max_size=most))
    slots: list[Slot] = [(value, value) for value in shared]
    for slot in changed:
        slots.insert(draw(st.integers(0, len(slots))), slot)
    return tuple(a for a, _ in slots if a is not ABSENT), tuple(b for _, b in slots if b is not ABSENT)


def _two(draw: DrawFn, records: SearchStrategy[object]) -> Slot:
    """Two distinct records."""
    old = draw(records)
    return old, draw(records.filter(lambda record: record != old))


def _changes_of_size(steps: int, least: int, most: int) -> list[tuple[int, int]]:
    """Numbers of records that only the right and only the left dataset has, the fewest first."""
    return [
        (added, total - added)
        for total in range(1, steps + 1)
        for added in range(total, -1, -1)
        # the shared records must leave both datasets within their size limits
        if max(0, least - min(added, total - added)) <= most - max(added, total - added)
    ]


def _room_for_a_user(least: int, most: int) -> None:
    if most <= least:
        raise ParameterError(f"users changes the number of records, but max_size equals min_size, {most}; raise it.")


def _can_differ(relation: Relation, records: object, most: int) -> None:
    if whole("max_size", most) == 0:
        raise ParameterError(f"Empty datasets have no {relation.name} neighbours of their size; raise max_size.")
    if isinstance(records, Records) and records.every(1) is not None:
        raise ParameterError(f"{records!r} has only one record, so no two {relation.name} neighbours differ; add more.")


def _as_number(record: object) -> float:
    if isinstance(record, bool) or not isinstance(record, int | float):
        raise DatasetError(f"Neighbouring vectors of answers consist of numbers, but the records include {record!r}.")
    return record


def _is_private(record: object) -> bool:
    if not isinstance(record, tuple) or len(record) != 3:
        raise DatasetError(f"Under private-rows a record is (x, y, 'priv') or (x, y, 'pub'), not {record!r}.")
    return bool(record[2] == PRIVATE)
