"""Search for pairs of datasets that show a claim to be false, when nothing is known of the program but its outputs.

First what a good tester tries by hand (`starting_pairs`), then small changes of what looks best so far (`mutations`),
kept or dropped by an estimated bound (`climb`). Nothing here runs a mechanism: the caller's `score` does, and since it
is an estimate from runs, what the search returns is a suggestion; the verdict needs fresh runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import mode

from numpy.random import Generator

from dpaudit.adversary.pairs.climb import Climbed, Scored, climb
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.mutations import mutations
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.adversary.pairs.starting_pairs import RANDOM, random_related_pairs, starting_pairs
from dpaudit.language import Relation

__all__ = ["Climbed", "Pairs", "Scored", "climb", "mutations", "starting_pairs"]

CHILDREN = 6
"""Mutations of every kept pair in a round of a climb; `RANDOM` new random pairs come to them."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of datasets, record by record.

    Args:
        relation, records: where mutations stay.
        size: records of the new random pairs.
    """

    relation: Relation
    records: Records
    size: int

    @classmethod
    def like(cls, starts: Sequence[Pair], relation: Relation, records: Records) -> Pairs:
        """With new pairs as large as most of the starting ones."""
        return cls(relation, records, mode(len(pair.left) for pair in starts) if starts else 0)

    def around(self, kept: Sequence[Pair], rng: Generator) -> list[Pair]:
        """Mutations, and new random pairs."""
        near = [other for pair in kept for other in mutations(pair, self.relation, self.records, rng, CHILDREN)]
        return near + random_related_pairs(self.relation, self.records, self.size, rng, RANDOM)

    def key(self, candidate: Pair) -> Hashable:
        """The two datasets."""
        return candidate.left, candidate.right
