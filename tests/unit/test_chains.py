"""Chains of neighbours: every link is one, the ends are as far apart as there are links, and nothing is lost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from dpaudit.adversary import Pair, every_pair
from dpaudit.adversary.pairs.chains import Chain, ChainMutations, chain_between, longer, pieces
from dpaudit.adversary.pairs.describe import Integers, SampledFrom
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.evidence import chains
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.worst_pair import Subject, needed
from dpaudit.interpret import LawCache
from dpaudit.language import ADD_REMOVE_ONE, ANSWERS_L1, REPLACE_ONE, Claim, Mechanism, Multiset, Relation, Softmax
from dpaudit.plans.job import GroupChains
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget

RECORDS = Integers(0, 4)
_datasets = st.lists(st.integers(0, 4), max_size=6).map(tuple)


@settings(max_examples=300)
@given(left=_datasets, right=_datasets, relation=st.sampled_from([REPLACE_ONE, ADD_REMOVE_ONE]), counted=st.booleans())
def test_a_chain_between_two_datasets_is_a_shortest_one(
    left: Any, right: Any, relation: Relation, counted: bool
) -> None:
    pair = Pair(Multiset.of(left), Multiset.of(right)) if counted else Pair(left, right)
    distance = relation.distance(pair.left, pair.right)
    chain = chain_between(pair, relation)
    if not distance:
        assert chain is None
        return
    assert chain is not None
    assert len(chain) == distance
    assert chain.holds(relation)
    assert (chain.datasets[0], chain.datasets[-1]) == (pair.left, pair.right)
    for most in (1, 2, 7):
        for piece in pieces(chain, most):
            assert piece.holds(relation)
            assert len(piece) == min(most, distance)


def test_answers_have_no_chains() -> None:
    assert chain_between(Pair((0.0, 0.0), (0.5, 0.5)), ANSWERS_L1) is None


@pytest.mark.slow
@settings(max_examples=60)
@given(
    left=_datasets.filter(bool), relation=st.sampled_from([REPLACE_ONE, ADD_REMOVE_ONE]), counted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_longer_chains_hold(left: Any, relation: Relation, counted: bool, seed: int) -> None:
    rng = default_rng(seed)
    begun = Multiset.of(left) if counted else left
    other = next(relation.neighbours(begun, (0, 4)))
    kept = [Chain((begun, other))]
    for length in range(2, 5):
        kept = [found for chain in kept[:3] for found in longer(chain, relation, RECORDS, rng, 12)]
        assert all(chain.holds(relation) and len(chain) == length for chain in kept)
        if relation is ADD_REMOVE_ONE or length <= len(left):
            assert kept, "there is room for another link"
        around = ChainMutations(relation, length, RECORDS, least=1, most=9).around(kept[:2], rng)
        assert all(chain.holds(relation) and len(chain) == length for chain in around)
        assert all(1 <= len(side) <= 9 for chain in around for side in (chain.datasets[0], chain.datasets[-1]))


def test_the_change_that_was_made_is_repeated_first() -> None:
    chain = Chain((Multiset.counted({0: 5, 3: 1}), Multiset.counted({0: 4, 3: 2})))
    first, second, *_ = longer(chain, REPLACE_ONE, RECORDS, default_rng(0), 6)
    assert first.datasets == (*chain.datasets, Multiset.counted({0: 3, 3: 3}))
    assert second.datasets == (Multiset.counted({0: 6}), *chain.datasets), "at the other end too"
    one, *_ = longer(Chain(((5, 0, 0, 5), (5, 2, 0, 5))), REPLACE_ONE, RECORDS, default_rng(0), 6)
    assert one.datasets[-1] == (5, 2, 2, 5)
    # nothing like it is left: the record beside it takes the new value
    one, *_ = longer(Chain(((7, 8, 9), (7, 2, 9))), REPLACE_ONE, RECORDS, default_rng(0), 6)
    assert one.datasets[-1] == (2, 2, 9)


def test_values_without_an_order_end_a_walk_and_nothing_else() -> None:
    chain = Chain((Multiset.of((0, 0)), Multiset.of((0, 1))))
    found = longer(chain, REPLACE_ONE, SampledFrom((0, 1, "a")), default_rng(0), 20)
    assert all(other.holds(REPLACE_ONE) for other in found)


# --- by law ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Votes(Mechanism):
    """The exponential mechanism over 0, …, options − 1, by multiplicity."""

    epsilon: float = 1.0
    options: int = 3

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Softmax:
        counts = dict(Multiset.of(dataset).items)
        return Softmax([float(counts.get(v, 0)) for v in range(self.options)], self.epsilon / 2)


@dataclass(frozen=True)
class Runs(Mechanism):
    """Of a sequence: how many equal neighbours it has, up to noise; the order of the records counts."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Softmax:
        equal = sum(a == b for a, b in pairwise(dataset))
        return Softmax([-abs(v - equal) / 2 for v in range(len(dataset))], 0.5)


def walked(
    mechanism: Mechanism, domain: tuple[Any, ...], records: int, k: int, *, ordered: bool
) -> tuple[float, Chain]:
    """The worst chain that a walk from pairs of neighbours finds, of so many records at most; and what it needs."""
    assert mechanism.claim is not None
    claims = tuple(mechanism.claim.group(i) for i in range(1, k + 1))
    kind = SampledFrom(domain)
    starts = starting_pairs(REPLACE_ONE, kind, records, default_rng(1))
    if not ordered:
        starts = [Pair(Multiset.of(p.left), Multiset.of(p.right), p.label, p.source) for p in starts]
    job = GroupChains(
        target=MechanismTarget("M", "", mechanism), label="groups", claim=claims[-1], replay="id", runs=200_000,
        claims=claims, starts=tuple(starts), records=kind, most=records,
    )
    search = chains._Laws(job, mechanism, Runner(), Findings())
    for _ in chains._walk(search, job, default_rng(2)):
        pass
    assert search.best is not None
    return needed(Subject(mechanism, search.best.pair), claims[-1]), search.best


def worst(mechanism: Mechanism, domain: tuple[Any, ...], records: int, k: int, *, ordered: bool) -> float:
    """What the worst of all pairs of datasets of so many records at most needs that are k apart."""
    assert mechanism.claim is not None
    claim, cache = mechanism.claim.group(k), LawCache()
    return max(
        needed(Subject(mechanism, pair), claim, cache)
        for size in range(k, records + 1)
        for pair in every_pair(claim.relation, domain, size, ordered=ordered)
        if REPLACE_ONE.distance(pair.left, pair.right) == k
    )


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize(
    ("mechanism", "records", "ordered"), [(Votes(), 5, False), (Votes(2.0, 2), 6, False), (Runs(), 5, True)]
)
def test_the_walk_finds_the_worst_of_all_pairs(mechanism: Mechanism, records: int, k: int, ordered: bool) -> None:
    domain = tuple(range(getattr(mechanism, "options", 2)))
    found, chain = walked(mechanism, domain, records, k, ordered=ordered)
    assert chain.holds(REPLACE_ONE)
    assert len(chain) == k
    assert found == pytest.approx(worst(mechanism, domain, records, k, ordered=ordered), rel=1e-12)
    assert math.isfinite(found)
