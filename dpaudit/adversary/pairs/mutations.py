"""Small changes of a pair of datasets that leave it related: the steps of the search for worse pairs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import mode
from typing import Any

from numpy.random import Generator

from dpaudit.adversary.pairs.alignment import ABSENT, Slot, aligned, differing_places, joined, shared_places, usable
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.adversary.pairs.starting_pairs import RANDOM, inside, random_related_pairs, starting_pairs
from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Relation
from dpaudit.language.records import is_number

HALVINGS = 12
"""A value close by is up to so many halvings of a random distance away."""
CHILDREN = 6
"""Mutations of every kept pair in a round of a climb; `RANDOM` new random pairs come to them."""


@dataclass(frozen=True)
class RecordMutations:
    """Pairs of datasets, record by record: a neighbourhood to climb in.

    Args:
        relation, records: where mutations stay.
        size: records of the starting pairs and of new random ones.
    """

    relation: Relation
    records: Records
    size: int

    @classmethod
    def like(cls, starts: Sequence[Pair], relation: Relation, records: Records) -> RecordMutations:
        """With new pairs as large as most of the starting ones."""
        return cls(relation, records, mode(len(pair.left) for pair in starts) if starts else 0)

    def starts(self, rng: Generator) -> list[Pair]:
        """What a good tester tries by hand."""
        return starting_pairs(self.relation, self.records, self.size, rng)

    def around(self, kept: Sequence[Pair], rng: Generator) -> list[Pair]:
        """Mutations, and new random pairs."""
        near = [other for pair in kept for other in mutations(pair, self.relation, self.records, rng, CHILDREN)]
        return near + random_related_pairs(self.relation, self.records, self.size, rng, RANDOM)

    def key(self, candidate: Pair) -> Hashable:
        """The two datasets."""
        return candidate.left, candidate.right


def mutations(
    pair: Pair, relation: Relation, records: Records, rng: Generator, number: int
) -> list[Pair]:
    """Up to `number` different pairs close to this one in the search space; fewer where there are no more to be found.

    The shared records change on both sides alike, another record differs, what differs moves to an extreme or
    halfway, the order or the sides change, shared records come and go. The source is "extreme" or "random": a change of
    a pair that somebody gave is not what they gave.
    """
    slots = aligned(pair, relation)
    pair = pair if pair.source == "extreme" else replace(pair, source="random")
    found: dict[tuple[Dataset, Dataset], Pair] = {}
    for _ in range(20 * number):
        if len(found) == number:
            break
        what, change = _CHANGES[int(rng.integers(len(_CHANGES)))]
        changed = change(list(slots), _Palette(pair, relation, records, rng))
        try:
            other = joined(changed, pair, _relabelled(pair.label, what))
        except DatasetError:
            # values of several types have no order, so no multiset holds them
            continue
        unchanged = (other.left, other.right) == (pair.left, pair.right)
        if not unchanged and usable(other, relation) and inside(other, records):
            found.setdefault((other.left, other.right), other)
    return list(found.values())


def _relabelled(label: str, what: str) -> str:
    """The label of a mutation names where it came from and the last change alone."""
    return f"{label.partition(' → ')[0]} → {what}" if label else what


@dataclass(frozen=True)
class _Palette:
    """What the changes of one pair paint with."""

    pair: Pair
    relation: Relation
    records: Records
    rng: Generator

    def value(self) -> Any:
        """A special or exceptional record, one of the pair, one next to or halfway between some, or a random one."""
        mine = [v for side in (self.pair.left, self.pair.right) for v in set(side) if self.records.contains(v)]
        # sets have an order of their own in every process, and a search must be repeatable
        pool = [*self.records.special, *sorted(mine, key=repr)]
        one, other = (pool[self.pick(len(pool))] for _ in range(2))
        exceptional = self.records.exceptional
        match self.pick(6 if exceptional else 5):
            case 0:
                return one
            case 1:
                # the last of the pool is one of the pair's, if it has any
                return pool[-1 - self.pick(len(mine))] if mine else one
            case 2:
                return self.records.nearest(one)
            case 3:
                return self.records.between(one, other)
            case 4:
                return self.records.draw(self.rng)
            case _:
                return exceptional[self.pick(len(exceptional))]

    def close_to(self, value: Any) -> Any:
        """A record near this one, at a random scale."""
        other = self.records.draw(self.rng)
        if self.records.contains(value):
            for _ in range(self.pick(HALVINGS)):
                other = self.records.between(value, other)
        return other

    def pick(self, number: int) -> int:
        """One of `number` places."""
        return int(self.rng.integers(number))


def _paint_all(slots: list[Slot], palette: _Palette) -> list[Slot]:
    value = palette.value()
    for i in shared_places(slots):
        slots[i] = (value, value)
    return slots


def _paint_half(slots: list[Slot], palette: _Palette) -> list[Slot]:
    value, shared = palette.value(), shared_places(slots)
    chosen = shared[: len(shared) // 2] if palette.pick(2) else shared[palette.pick(2) :: 2]
    for i in chosen:
        slots[i] = (value, value)
    return slots


def _paint_one(slots: list[Slot], palette: _Palette) -> list[Slot]:
    if shared := shared_places(slots):
        value = palette.value()
        slots[shared[palette.pick(len(shared))]] = (value, value)
    return slots


def _paint_tie(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """The two values of what differs share the background equally."""
    values = [value for i in differing_places(slots)[:1] for value in slots[i] if value is not ABSENT]
    values += [palette.value()] * (len(values) == 1)
    shared = shared_places(slots)
    for at, i in enumerate(shared):
        slots[i] = (values[at * 2 // len(shared)],) * 2
    return slots


def _repaint(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """One side of what differs gets another value; sometimes its partner keeps the distance, for vectors of numbers."""
    if differing := differing_places(slots):
        i = differing[palette.pick(len(differing))]
        value, side = palette.value(), palette.pick(2)
        pair = [*slots[i]]
        gap = pair[1 - side] - pair[side] if all(is_number(v) for v in (*pair, value)) and palette.pick(2) else None
        pair[side] = value
        if gap is not None:
            pair[1 - side] = value + gap
        slots[i] = (pair[0], pair[1])
    return slots


def _halve(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """One side of what differs moves halfway to the other."""
    if differing := differing_places(slots):
        i = differing[palette.pick(len(differing))]
        a, b = slots[i]
        if all(value is not ABSENT and palette.records.contains(value) for value in (a, b)):
            between = palette.records.between(a, b)
            slots[i] = (between, b) if palette.pick(2) else (a, between)
    return slots


def _nudge(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """One side of what differs moves a little."""
    if differing := differing_places(slots):
        i = differing[palette.pick(len(differing))]
        a, b = slots[i]
        left = b is ABSENT or (a is not ABSENT and palette.pick(2) == 0)
        slots[i] = (palette.close_to(a), b) if left else (a, palette.close_to(b))
    return slots


def _elsewhere(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """What differs moves to the front, to the end, or anywhere."""
    if differing := differing_places(slots):
        slot = slots.pop(differing[palette.pick(len(differing))])
        slots.insert((0, len(slots), palette.pick(len(slots) + 1))[palette.pick(3)], slot)
    return slots


def _another(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """Another record differs instead."""
    differing, shared = differing_places(slots), shared_places(slots)
    if differing and shared:
        i, j = differing[palette.pick(len(differing))], shared[palette.pick(len(shared))]
        a, b = slots[i]
        stays = b if a is ABSENT else a
        slots[i], slots[j] = (stays, stays), (slots[j][0], ABSENT if ABSENT in (a, b) else palette.value())
    return slots


def _further(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """One more record differs, for groups and vectors of numbers."""
    if shared := shared_places(slots):
        i = shared[palette.pick(len(shared))]
        value = slots[i][0]
        moved = value + (1 - 2 * palette.pick(2)) * palette.relation.size if is_number(value) else palette.value()
        slots[i] = (value, moved if palette.pick(2) else palette.value())
    return slots


def _swap(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """The two sides of one slot, or of all, change places."""
    differing = differing_places(slots)
    chosen = differing if len(differing) < 2 or palette.pick(2) else [differing[palette.pick(len(differing))]]
    for i in chosen:
        slots[i] = (slots[i][1], slots[i][0])
    return slots


def _reorder(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """The shared records ascending, descending or shuffled, at the places where shared records were."""
    places = shared_places(slots)
    values = [slots[i] for i in places]
    match palette.pick(3):
        case 0 | 1 as direction if _sortable(values):
            values.sort(reverse=bool(direction))
        case _:
            values = [values[i] for i in palette.rng.permutation(len(values))]
    for i, value in zip(places, values, strict=True):
        slots[i] = value
    return slots


def _grow(slots: list[Slot], palette: _Palette) -> list[Slot]:
    value = palette.value()
    slots.insert(palette.pick(len(slots) + 1), (value, value))
    return slots


def _drop(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """One shared record goes, or half of them."""
    shared = shared_places(slots)
    gone = set(shared[::2]) if palette.pick(2) else {shared[palette.pick(len(shared))]} if shared else set[int]()
    return [slot for i, slot in enumerate(slots) if i not in gone]


_CHANGES: tuple[tuple[str, Callable[[list[Slot], _Palette], list[Slot]]], ...] = (
    ("shared records made equal", _paint_all),
    ("half of the shared records made equal", _paint_half),
    ("one shared record changed", _paint_one),
    ("a tie among the shared records", _paint_tie),
    ("the differing record changed", _repaint),
    ("the differing record moved halfway", _halve),
    ("the differing record moved a little", _nudge),
    ("the differing record put elsewhere", _elsewhere),
    ("another record differs", _another),
    ("one more record differs", _further),
    ("sides swapped", _swap),
    ("shared records reordered", _reorder),
    ("a shared record added", _grow),
    ("shared records removed", _drop),
)


def _sortable(values: list[Slot]) -> bool:
    try:
        sorted(values)
    except TypeError:
        return False
    return True
