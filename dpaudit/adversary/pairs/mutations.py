"""Small changes of a pair of datasets that keep it related: the steps of the search for worse pairs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import mode

from numpy.random import Generator

from dpaudit.adversary.pairs.alignment import ABSENT, Slot, aligned, differing_places, joined, shared_places, usable
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.pair import Pair, sized
from dpaudit.adversary.pairs.starting_pairs import RANDOM, inside, random_related_pairs, starting_pairs
from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Relation
from dpaudit.language.records import Record, is_number

HALVINGS = 12
"""A nearby value is a random distance away, halved up to this many times."""
CHILDREN = 6
"""Mutations of every kept pair in a round of a climb, in addition to `RANDOM` new random pairs."""


@dataclass(frozen=True)
class RecordMutations:
    """Pairs of datasets, record by record: a neighbourhood to climb in.

    Args:
        relation, records: every mutation is related by `relation` and consists of `records`.
        size: the number of records of the starting pairs and of new random ones.
        sizes: least and most records of a dataset; None for any.
    """

    relation: Relation
    records: Records
    size: int
    sizes: tuple[int, int] | None = None

    @classmethod
    def like(
        cls, starts: Sequence[Pair], relation: Relation, records: Records, sizes: tuple[int, int] | None = None
    ) -> RecordMutations:
        """A neighbourhood whose new pairs have the most common size of the starting pairs."""
        return cls(relation, records, mode(len(pair.left) for pair in starts) if starts else 0, sizes)

    def starts(self, rng: Generator) -> list[Pair]:
        """The pairs that a good tester would try by hand."""
        return starting_pairs(self.relation, self.records, self.size, rng)

    def around(self, kept: Sequence[Pair], rng: Generator) -> list[Pair]:
        """Mutations, and new random pairs."""
        near = [
            other
            for pair in kept
            for other in mutations(pair, self.relation, self.records, rng, CHILDREN, sizes=self.sizes)
        ]
        random = random_related_pairs(self.relation, self.records, self.size, rng, RANDOM)
        return near + [pair for pair in random if sized(pair, self.sizes)]

    def key(self, candidate: Pair) -> Hashable:
        """The two datasets."""
        return candidate.left, candidate.right


def mutations(
    pair: Pair,
    relation: Relation,
    records: Records,
    rng: Generator,
    number: int,
    *,
    sizes: tuple[int, int] | None = None,
) -> list[Pair]:
    """Up to `number` distinct pairs close to this one in the search space; fewer if there are no more.

    Shared records change equally in both datasets, another record differs, the differing record moves to an extreme or
    halfway, the order or the datasets are swapped, shared records are added or removed. The source is "extreme" or
    "random", never "given": a mutation is not the pair that the user gave.
    """
    slots = aligned(pair, relation)
    changes = (*_CHANGES, *_USERS_CHANGES) if relation.kind == "users" else _CHANGES
    pair = pair if pair.source == "extreme" else replace(pair, source="random")
    pairs: dict[tuple[Dataset, Dataset], Pair] = {}
    for _ in range(20 * number):
        if len(pairs) == number:
            break
        what, change = changes[int(rng.integers(len(changes)))]
        changed = change(list(slots), _Palette(pair, relation, records, rng))
        try:
            other = joined(changed, pair, _relabelled(pair.label, what))
        except DatasetError:
            # values of mixed types have no order, so they cannot form a multiset
            continue
        unchanged = (other.left, other.right) == (pair.left, pair.right)
        if not unchanged and sized(other, sizes) and usable(other, relation) and inside(other, records):
            pairs.setdefault((other.left, other.right), other)
    return list(pairs.values())


def _relabelled(label: str, what: str) -> str:
    """The label of a mutation: the original pair and only the last change."""
    return f"{label.partition(' → ')[0]} → {what}" if label else what


@dataclass(frozen=True)
class _Palette:
    """The values and random choices for mutations of one pair."""

    pair: Pair
    relation: Relation
    records: Records
    rng: Generator

    def value(self) -> Record:
        """A special or exceptional record, one of the pair, one next to or halfway between those, or a random one."""
        mine = [v for dataset in (self.pair.left, self.pair.right) for v in set(dataset) if self.records.contains(v)]
        # the order of sets differs between processes, and a search must be reproducible
        pool = [*self.records.special, *sorted(mine, key=repr)]
        one, other = (pool[self.pick(len(pool))] for _ in range(2))
        exceptional = self.records.exceptional
        match self.pick(6 if exceptional else 5):
            case 0:
                return one
            case 1:
                # the last of the pool is a record of the pair, if it has any
                return pool[-1 - self.pick(len(mine))] if mine else one
            case 2:
                return self.records.nearest(one)
            case 3:
                return self.records.between(one, other)
            case 4:
                return self.records.draw(self.rng)
            case _:
                return exceptional[self.pick(len(exceptional))]

    def close_to(self, value: Record) -> Record:
        """A record near this one, at a random scale."""
        other = self.records.draw(self.rng)
        if self.records.contains(value):
            for _ in range(self.pick(HALVINGS)):
                other = self.records.between(value, other)
        return other

    def pick(self, number: int) -> int:
        """A random index below `number`."""
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
    """Half of the shared records take each of the two differing values."""
    values = [value for i in differing_places(slots)[:1] for value in slots[i] if value is not ABSENT]
    values += [palette.value()] * (len(values) == 1)
    shared = shared_places(slots)
    for at, i in enumerate(shared):
        slots[i] = (values[at * 2 // len(shared)],) * 2
    return slots


def _repaint(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """Change the differing record in one dataset; for vectors of numbers, sometimes move the other one along."""
    if differing := differing_places(slots):
        i = differing[palette.pick(len(differing))]
        value, which = palette.value(), palette.pick(2)
        pair = [*slots[i]]
        gap = pair[1 - which] - pair[which] if all(is_number(v) for v in (*pair, value)) and palette.pick(2) else None
        pair[which] = value
        if gap is not None:
            pair[1 - which] = value + gap
        slots[i] = (pair[0], pair[1])
    return slots


def _halve(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """Move the differing record of one dataset halfway to the other."""
    if differing := differing_places(slots):
        i = differing[palette.pick(len(differing))]
        a, b = slots[i]
        if all(value is not ABSENT and palette.records.contains(value) for value in (a, b)):
            between = palette.records.between(a, b)
            slots[i] = (between, b) if palette.pick(2) else (a, between)
    return slots


def _nudge(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """Move the differing record of one dataset a little."""
    if differing := differing_places(slots):
        i = differing[palette.pick(len(differing))]
        a, b = slots[i]
        left = b is ABSENT or (a is not ABSENT and palette.pick(2) == 0)
        slots[i] = (palette.close_to(a), b) if left else (a, palette.close_to(b))
    return slots


def _elsewhere(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """Move the differing record to the front, to the end, or to a random position."""
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
    """Swap the two records of one slot, or of all."""
    differing = differing_places(slots)
    chosen = differing if len(differing) < 2 or palette.pick(2) else [differing[palette.pick(len(differing))]]
    for i in chosen:
        slots[i] = (slots[i][1], slots[i][0])
    return slots


def _reorder(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """Sort the shared records up or down, or shuffle them, within their positions."""
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
    """Remove one shared record, or half of them."""
    shared = shared_places(slots)
    removed = set(shared[::2]) if palette.pick(2) else {shared[palette.pick(len(shared))]} if shared else set[int]()
    return [slot for i, slot in enumerate(slots) if i not in removed]


def _more(slots: list[Slot], palette: _Palette) -> list[Slot]:
    """The differing record once more, or three times."""
    if differing := differing_places(slots):
        slot = slots[differing[palette.pick(len(differing))]]
        at = palette.pick(len(slots) + 1)
        slots[at:at] = [slot] * (1 + 2 * palette.pick(2))
    return slots


_CHANGES: tuple[tuple[str, Callable[[list[Slot], _Palette], list[Slot]]], ...] = (
    ("shared records made equal", _paint_all),
    ("half of the shared records made equal", _paint_half),
    ("one shared record changed", _paint_one),
    ("a tie among the shared records", _paint_tie),
    ("the differing record changed", _repaint),
    ("the differing record moved halfway", _halve),
    ("the differing record moved a little", _nudge),
    ("the differing record moved elsewhere", _elsewhere),
    ("another record differs", _another),
    ("one more record differs", _further),
    ("datasets swapped", _swap),
    ("shared records reordered", _reorder),
    ("a shared record added", _grow),
    ("shared records removed", _drop),
)


_USERS_CHANGES: tuple[tuple[str, Callable[[list[Slot], _Palette], list[Slot]]], ...] = (
    ("one more record of the differing user", _more),
)
"""Besides, where a user has any number of records."""


def _sortable(values: list[Slot]) -> bool:
    try:
        sorted(values)
    except TypeError:
        return False
    return True
