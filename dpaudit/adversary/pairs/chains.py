"""Chains of neighbours: how a search gets from two neighbours to datasets that are k steps apart.

A chain is S_0, S_1, …, S_k, each a neighbour of the one before, with S_0 and S_k no fewer than k steps apart. If every
link satisfies (ε, δ), the ends satisfy (kε, δ·Σ_{i<k} e^{iε}). So the ends test group privacy, and the links show where
a group's privacy loss comes from. A chain can be extended at both ends: by repeating its latest change on another
record, by any other change in the chain, and by arbitrary neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from numpy.random import Generator

from dpaudit.adversary.pairs.alignment import ABSENT, Slot, aligned
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.histogram_mutations import HistogramMutations
from dpaudit.adversary.pairs.mutations import mutations
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Multiset, Relation
from dpaudit.language.records import Record

CHILDREN = 8
"""New ends of a chain that lost a link, and changes of its pair as a whole, in a round of a climb."""
FEW = 48
"""Up to this many neighbours of an end are all tried; if there are more, this many at random."""
SMALL = 400
"""Datasets of at most this size are changed record by record, larger ones only by counts."""
WALKED = " → walked on"


@dataclass(frozen=True)
class Chain:
    """Datasets, each a neighbour of the one before; a single dataset is a chain without links.

    Args:
        datasets: S_0, …, S_k.
        label: the label of the original pair.
        source: the source of the original pair.
    """

    datasets: tuple[Dataset, ...]
    label: str = ""
    source: str = "specified"

    def __len__(self) -> int:
        """The number of links."""
        return len(self.datasets) - 1

    @property
    def pair(self) -> Pair:
        """The two ends of the chain."""
        return Pair(self.datasets[0], self.datasets[-1], self.label, self.source)

    @property
    def links(self) -> tuple[Pair, ...]:
        """The pairs of neighbours, in order."""
        return tuple(
            Pair(left, right, f"link {i}: {self.label}", self.source)
            for i, (left, right) in enumerate(zip(self.datasets, self.datasets[1:], strict=False), 1)
        )

    def holds(self, relation: Relation) -> bool:
        """Whether every link is one step of the relation, and the distance of the ends is the number of links."""
        steps = all(relation.distance(pair.left, pair.right) == 1 for pair in self.links)
        return steps and relation.distance(self.datasets[0], self.datasets[-1]) == len(self)

    def part(self, start: int, links: int) -> Chain:
        """The part of `links` links from dataset `start` on."""
        return replace(self, datasets=self.datasets[start : start + links + 1])


def chain_between(pair: Pair, relation: Relation) -> Chain | None:
    """A shortest chain from one dataset of a pair to the other, changing one difference at a time.

    Args:
        relation: the relation of single steps.

    Returns:
        None if there is no such chain, or the two datasets are equal.
    """
    if not relation.of_records or not relation.distance(pair.left, pair.right):
        return None
    if isinstance(pair.left, Multiset) or isinstance(pair.right, Multiset):
        datasets = _multisets_between(Multiset.of(pair.left), Multiset.of(pair.right), relation)
    else:
        datasets = _sequences_between(pair, relation)
    chain = Chain(tuple(datasets), pair.label, pair.source)
    return chain if chain.holds(relation) else None


def pieces(chain: Chain, most: int) -> list[Chain]:
    """The chain itself, or if it is too long its first and its last `most` links."""
    if len(chain) <= most:
        return [chain]
    return [chain.part(0, most), chain.part(len(chain) - most, most)]


def longer(chain: Chain, relation: Relation, records: Records, rng: Generator, number: int) -> list[Chain]:
    """Up to `number` chains with one more link, at either end; first those that repeat a change of the chain.

    Args:
        relation: the relation of single steps.
        records: the kind of new records; the chain's own records occur too.
    """
    chains: dict[tuple[Dataset, Dataset], Chain] = {}
    palette = _palette(chain, records)
    ways = [_ends(chain, relation, palette, rng), _ends(_reversed(chain), relation, palette, rng)]
    turn = 0
    while ways and len(chains) < number:
        try:
            forward, end = next(ways[turn % len(ways)])
        except (StopIteration, DatasetError):
            # values of mixed types have no order, so they cannot form a multiset
            ways.pop(turn % len(ways))
            continue
        turn += 1
        other = replace(forward, datasets=(*forward.datasets, end))
        if relation.distance(other.datasets[0], end) != len(other):
            continue
        other = other if forward.datasets[0] == chain.datasets[0] else _reversed(other)
        label = other.label if other.label.endswith(WALKED) else f"{other.label}{WALKED}"
        chains.setdefault((other.datasets[0], other.datasets[-1]), replace(other, label=label, source="found"))
    return list(chains.values())


@dataclass(frozen=True)
class ChainMutations:
    """Chains of a fixed number of links: a neighbourhood to climb in.

    Args:
        relation: the relation of single steps.
        links: the number of links of every chain.
        records: the kind of record.
        least, most: bounds on the number of records of a dataset; None for no bound.
    """

    relation: Relation
    links: int
    records: Records
    least: int = 0
    most: int | None = None

    def around(self, kept: Sequence[Chain], rng: Generator) -> list[Chain]:
        """Chains with other last or first links, and with other datasets around the same differences."""
        near: list[Chain] = []
        for chain in kept:
            for start in (0, 1):
                near += longer(chain.part(start, self.links - 1), self.relation, self.records, rng, CHILDREN // 2)
            near += [self._through(pair) for pair in self._changed(chain.pair, rng)]
        return [chain for chain in near if len(chain) == self.links and self.admits(chain)]

    def key(self, candidate: Chain) -> Hashable:
        """The two ends: the datasets between them do not affect their laws."""
        return candidate.datasets[0], candidate.datasets[-1]

    def admits(self, chain: Chain) -> bool:
        """Whether the ends are neither too small nor too large."""
        sizes = len(chain.datasets[0]), len(chain.datasets[-1])
        return min(sizes) >= self.least and (self.most is None or max(sizes) <= self.most)

    def _changed(self, pair: Pair, rng: Generator) -> list[Pair]:
        group = self.relation.group(self.links)
        size = max(len(pair.left), len(pair.right))
        pairs = mutations(pair, group, self.records, rng, CHILDREN) if size <= SMALL else []
        datasets = (pair.left, pair.right)
        if all(isinstance(each, Multiset) and all(map(self.records.contains, each.values)) for each in datasets):
            most = self.most if self.most is not None else 2 * size + self.links
            pairs += HistogramMutations(group, self.records, most).around([pair], rng)
        return pairs

    def _through(self, pair: Pair) -> Chain:
        return chain_between(pair, self.relation) or Chain((pair.left,))


def _reversed(chain: Chain) -> Chain:
    return replace(chain, datasets=chain.datasets[::-1])


def _palette(chain: Chain, records: Records) -> tuple[Record, ...]:
    """Records for new ends: those that differ along the chain, special ones, then some of the others."""
    changed = [v for step in _steps_of(chain) for v in step if v is not ABSENT]
    many = records.every(12) or (*records.special, *records.exceptional)
    near = [records.nearest(v) for v in changed if records.contains(v)]
    first = chain.datasets[0]
    mine = first.values[:4] if isinstance(first, Multiset) else first[:4]
    return tuple(dict.fromkeys((*changed, *many, *near, *mine)))


def _steps_of(chain: Chain) -> list[Slot]:
    """(old, new) of every link; `ABSENT` if a record was added or removed."""
    return [_step(left, right) for left, right in zip(chain.datasets, chain.datasets[1:], strict=False)]


def _step(left: Dataset, right: Dataset) -> Slot:
    removed, added = Counter(_counts(left)), Counter(_counts(right))
    return next(iter(removed - added), ABSENT), next(iter(added - removed), ABSENT)


def _counts(dataset: Dataset) -> dict[Record, int]:
    return dict(dataset.items) if isinstance(dataset, Multiset) else Counter(dataset)


def _ends(
    chain: Chain, relation: Relation, palette: Sequence[Record], rng: Generator
) -> Iterator[tuple[Chain, Dataset]]:
    """Neighbours that extend the chain at its end: repeated changes, the latest first, then all or some others."""
    last = chain.datasets[-1]
    for old, new in dict.fromkeys(reversed(_steps_of(chain))):
        for other in _repeated(chain, old, new):
            yield chain, other
    every = len(last.values if isinstance(last, Multiset) else last) * len(palette)
    if every <= FEW:
        others = list(relation.neighbours(last, palette))
        yield from ((chain, others[i]) for i in rng.permutation(len(others)).tolist())
    else:
        for _ in range(FEW):
            yield chain, relation.random_neighbour(last, palette, rng)


def _repeated(chain: Chain, old: Record, new: Record) -> Iterator[Dataset]:
    """The change old → new on another record of the last dataset: on an equal one, else on an adjacent one."""
    last = chain.datasets[-1]
    if isinstance(last, Multiset):
        olds = [old] if old is ABSENT or old in last.values else [v for v in last.values if v != new]
        for one in olds:
            remove, add = (() if v is ABSENT else (v,) for v in (one, new))
            yield last.changed(remove=remove, add=add)
        return
    # the positions next to the last change, in both directions, then from the ends
    at = _place(chain.datasets[-2], last)
    if old is ABSENT:
        yield from ((*last[:i], new, *last[i:]) for i in dict.fromkeys((at, len(last), 0)))
        return
    beside = sorted(range(len(last)), key=lambda i: abs(i - at))
    like = [i for i in beside if last[i] == old] or [i for i in beside if last[i] != new]
    for i in dict.fromkeys((*like[:2], *like[-1:])):
        yield (*last[:i], *(() if new is ABSENT else (new,)), *last[i + 1 :])


def _place(before: Dataset, after: Dataset) -> int:
    """The first index where two sequences differ."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(before), len(after)))


def _sequences_between(pair: Pair, relation: Relation) -> Iterator[Dataset]:
    slots = aligned(pair, relation)
    if relation.kind == "add-remove-one":
        # replacing a record is two steps
        slots = [part for a, b in slots for part in (((a, b),) if _one_step(a, b) else ((a, ABSENT), (ABSENT, b)))]
    done = [a for a, _ in slots]
    yield tuple(value for value in done if value is not ABSENT)
    for i, (a, b) in enumerate(slots):
        if a is ABSENT or b is ABSENT or a != b:
            done[i] = b
            yield tuple(value for value in done if value is not ABSENT)


def _one_step(a: Record, b: Record) -> bool:
    return a is ABSENT or b is ABSENT or bool(a == b)


def _multisets_between(left: Multiset, right: Multiset, relation: Relation) -> Iterator[Dataset]:
    a, b = Counter(dict(left.items)), Counter(dict(right.items))
    removed, added = list((a - b).elements()), list((b - a).elements())
    yield left
    if relation.kind == "add-remove-one":
        for value in removed:
            left = left.changed(remove=(value,))
            yield left
        for value in added:
            left = left.changed(add=(value,))
            yield left
        return
    for old, new in zip(removed, added, strict=True):
        left = left.changed(remove=(old,), add=(new,))
        yield left
