"""Pairs of large datasets represented by their counts: a search changes counts, not single records.

For mechanisms that depend only on multiplicities. Their difficult cases are ties, leads just as large as a threshold,
and datasets of a single value. So a search begins with histograms of one and of two values, and moves counts by powers
of two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from numpy.random import Generator

from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.errors import DatasetError
from dpaudit.language import Multiset, Relation
from dpaudit.language.records import Record

CHILDREN = 12
"""Mutations of every kept pair in a round of a climb."""
RANDOM = 4
"""New random pairs in a round."""
FEW = 12
"""Up to this many distinct records are all tried against each other at the start; otherwise only the special ones."""


@dataclass(frozen=True)
class HistogramMutations:
    """Pairs of multisets with a shared part; one neighbouring step, or as many as the relation's size, apart.

    Args:
        relation: replace-one or add-remove-one, or groups of them.
        records: the kind of record.
        most: the largest number of records of a dataset.
    """

    relation: Relation
    records: Records
    most: int

    def starts(self, rng: Generator) -> list[Pair]:
        """Histograms of one and of two values, of all sizes up to `most`, by doubling."""
        sizes = sorted({self.most, *(size for k in range(40) if (size := 1 << k) < self.most)})
        pairs: list[Pair | None] = []
        for a in self._palette:
            for b in self._palette:
                if a == b:
                    continue
                for size in sizes:
                    shared = size - self.relation.size
                    for ties in (0, shared // 2, shared // 4):
                        for other in dict.fromkeys((a, self.records.between(a, b))):
                            counts = Counter({other: shared - ties}) + Counter({b: ties})
                            pairs.append(self._pair(counts, a, b, "counts of two values"))
        return [pair for pair in pairs if pair is not None] + self._random_pairs(rng)

    def around(self, kept: Sequence[Pair], rng: Generator) -> list[Pair]:
        """Small changes of the kept pairs, and some new ones."""
        near = [self._changed(pair, rng) for pair in kept for _ in range(CHILDREN)]
        return [pair for pair in near if pair is not None] + self._random_pairs(rng)

    def key(self, candidate: Pair) -> Hashable:
        """The two datasets."""
        return candidate.left, candidate.right

    @cached_property
    def _palette(self) -> tuple[Record, ...]:
        return self.records.every(FEW) or self.records.special[:FEW]

    def _pair(self, shared: Counter[Record], old: Record, new: Record, label: str) -> Pair | None:
        """The pair of a shared part and the differing records; None if the claim does not cover it."""
        step = self.relation.size
        counts = {value: count for value, count in shared.items() if count > 0}
        if any(count < 0 for count in shared.values()) or sum(counts.values()) + step > self.most:
            return None
        if not all(self.records.contains(value) for value in (*counts, old, new)) or old == new:
            return None
        try:
            common = Multiset.counted(counts)
            right = common.changed(add=(new,) * step)
            left = common if self.relation.kind == "add-remove-one" else common.changed(add=(old,) * step)
        except DatasetError:
            # values of mixed types have no order
            return None
        return Pair(left, right, label, "extreme") if self.relation.distance(left, right) else None

    def _random_pairs(self, rng: Generator) -> list[Pair]:
        pairs = []
        for _ in range(RANDOM):
            values = [self.records.draw(rng) for _ in range(1 + int(rng.integers(4)))]
            shared = Counter({value: int(self.most * rng.random() / len(values)) for value in values})
            old, new = (self.records.draw(rng) if rng.integers(2) else values[0] for _ in range(2))
            pairs.append(self._pair(shared, old, new, "random counts"))
        return [pair for pair in pairs if pair is not None]

    def _changed(self, pair: Pair, rng: Generator) -> Pair | None:
        left, right = (Counter(dict(Multiset.of(dataset).items)) for dataset in (pair.left, pair.right))
        shared = left & right
        old = next(iter(left - right), None)
        new = next(iter(right - left), None)
        # if one dataset has no record of its own, use another one
        old, new = new if old is None else old, old if new is None else new
        pool = sorted({*shared, old, new, *self._palette}, key=repr)
        for _ in range(1 + int(rng.integers(3))):
            match int(rng.integers(6)):
                case 0 | 1:
                    value = self._value(pool, rng)
                    shared[value] = max(0, shared[value] + self._number(rng))
                case 2:
                    # two counts move together, or one gives to the other
                    one, other, by = self._value(pool, rng), self._value(pool, rng), self._number(rng)
                    shared[one] = max(0, shared[one] + by)
                    shared[other] = max(0, shared[other] + (by if rng.integers(2) else -by))
                case 3:
                    # a tie, or a lead
                    one, other = self._value(pool, rng), self._value(pool, rng)
                    shared[one] = max(0, shared[other] + (self._number(rng) if rng.integers(2) else 0))
                case 4:
                    one, other = self._value(pool, rng), self._value(pool, rng)
                    shared[other] += shared.pop(one, 0)
                case _:
                    value = self._value(pool, rng)
                    old, new = (value, new) if rng.integers(2) else (old, value)
                    if rng.integers(2):
                        old, new = new, old
        return self._pair(shared, old, new, pair.label)

    def _value(self, pool: list[Record], rng: Generator) -> Record:
        one, other = (pool[int(rng.integers(len(pool)))] for _ in range(2))
        match int(rng.integers(8)):
            case 0:
                return self.records.draw(rng)
            case 1:
                return self.records.nearest(one)
            case 2:
                return self.records.between(one, other)
            case _:
                return one

    def _number(self, rng: Generator) -> int:
        """A number of records, small or large."""
        return int((2 * rng.integers(2) - 1) * 2 ** rng.integers(max(1, self.most.bit_length())))
