"""Pair sources against brute force."""

from __future__ import annotations

from itertools import combinations

import pytest

from dpaudit.adversary.pairs.pair import Pair, as_multisets, every_pair
from dpaudit.errors import PairError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, Multiset, Relation

GROUPS = [relation.group(k) for relation in (REPLACE_ONE, ADD_REMOVE_ONE) for k in (1, 2, 3)]


@pytest.mark.parametrize("relation", GROUPS, ids=lambda relation: relation.name)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(("domain", "records"), [((0, 1, 2), 3), ((0, 1), 4), (("x",), 3), ((0, 1, 2), 0)])
def test_every_pair_is_every_related_pair_once(
    relation: Relation, ordered: bool, domain: tuple[object, ...], records: int
) -> None:
    found = [frozenset((pair.left, pair.right)) for pair in every_pair(relation, domain, records, ordered=ordered)]
    datasets = relation.scope(domain, records, ordered=ordered)
    expected = {frozenset(pair) for pair in combinations(datasets, 2) if relation.related(*pair)}
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_groups_larger_than_any_dataset_are_all_pairs() -> None:
    huge = list(every_pair(ADD_REMOVE_ONE.group(10**22), (0, 1), 2, ordered=True))
    assert huge == list(every_pair(ADD_REMOVE_ONE.group(4), (0, 1), 2, ordered=True))


def test_a_domain_with_repetitions() -> None:
    pairs = list(every_pair(REPLACE_ONE, (0, 1, 1, 0), 2, ordered=False))
    assert len(pairs) == 2
    assert {pair.source for pair in pairs} == {"exhaustive"}


def test_distance_refuses_what_the_claim_does_not_speak_about() -> None:
    with pytest.raises(PairError, match="are 2 replace-one steps apart"):
        Pair((0, 0), (1, 1)).distance(REPLACE_ONE)
    assert Pair((0, 0), (1, 1)).distance(REPLACE_ONE.group(2)) == 2
    with pytest.raises(PairError, match="No number of replace-one steps"):
        Pair((0,), (0, 1)).distance(REPLACE_ONE)
    with pytest.raises(PairError, match="equal"):
        Pair((0,), (0,)).distance(ADD_REMOVE_ONE)


def test_as_multisets() -> None:
    pair = as_multisets(Pair((1, 0), (1, 1), "label", "given"))
    assert pair == Pair(Multiset.of((0, 1)), Multiset.of((1, 1)), "label", "given")
    assert pair.distance(REPLACE_ONE) == 1
