"""Pairs of neighbouring datasets, and their sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dpaudit.errors import PairError
from dpaudit.language import Dataset, Multiset, Relation
from dpaudit.language.records import Record, as_record
from dpaudit.language.relation import as_records
from dpaudit.options import RELATION


@dataclass(frozen=True)
class Pair:
    """Two datasets to distinguish.

    Args:
        left, right: tuples of records, or multisets.
        label: a few words about the purpose of the pair.
        source: "specified", "extreme", "random", "found", "exhaustive" or "given".
    """

    left: Dataset
    right: Dataset
    label: str = ""
    source: str = "specified"

    def __post_init__(self) -> None:
        # normalise records, so that equal ones compare equal from here on
        object.__setattr__(self, "left", as_records(self.left))
        object.__setattr__(self, "right", as_records(self.right))

    def distance(self, relation: Relation) -> int:
        """The number of single steps between the two, at most `relation.size`.

        Raises:
            PairError: the claim does not cover this pair.
        """
        if refusal := relation.refusal(self.left, self.right):
            raise PairError(
                "{}, but the claim is about {}: change the pair, or set their relation with {}.",
                refusal, relation.name, RELATION,
            )
        distance = relation.distance(self.left, self.right)
        if distance == 0:
            raise PairError("The two datasets are equal, so no event can distinguish them: change a record.")
        assert distance is not None
        return distance


def sized(pair: Pair, sizes: tuple[int, int] | None) -> bool:
    """Whether both datasets have at least and at most so many records; None for any."""
    return sizes is None or all(sizes[0] <= len(dataset) <= sizes[1] for dataset in (pair.left, pair.right))


def every_pair(relation: Relation, domain: Sequence[Record], records: int, *, ordered: bool) -> Iterator[Pair]:
    """Every unordered pair of distinct related datasets in a finite domain.

    Args:
        relation: neighbours, or groups of its size.
        domain: possible records.
        records: size of the datasets (at most that many under add/remove-one).
        ordered: False if the mechanism depends only on multiplicities; then datasets are multisets.
    """
    domain = tuple(dict.fromkeys(as_record(tuple(domain))))
    datasets = relation.scope(domain, records, ordered=ordered)
    known = set(datasets)
    done: set[Dataset] = set()
    for left in datasets:
        done.add(left)
        for right in related(relation, left, domain, known):
            if right not in done:
                yield Pair(left, right, "", "exhaustive")


def related(
    relation: Relation, left: Dataset, domain: Sequence[Record], known: Collection[Dataset]
) -> Iterator[Dataset]:
    """Every other dataset of a finite domain that is related to this one.

    Args:
        domain: possible records, distinct.
        known: the datasets of the finite domain.
    """
    reached, edge = {left}, [left]
    for _ in range(relation.size):
        if not edge:
            return
        steps = dict.fromkeys(other for dataset in edge for other in relation.neighbours(dataset, domain))
        edge = [other for other in steps if other in known and other not in reached]
        reached.update(edge)
        yield from edge


def as_multisets(pair: Pair) -> Pair:
    """The same pair as multisets."""
    return Pair(Multiset.of(pair.left), Multiset.of(pair.right), pair.label, pair.source)
