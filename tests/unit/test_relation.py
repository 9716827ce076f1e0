"""Relations against brute force over all datasets of small domains."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import SampledFrom
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.minimize import minimize
from dpaudit.adversary.pairs.mutations import mutations
from dpaudit.adversary.pairs.observed import observed_records, table_pairs
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.errors import PairError, ParameterError, UnknownNameError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    ANSWERS_L1,
    ANSWERS_LINF,
    PRIVATE_ROWS,
    REPLACE_ONE,
    USERS,
    Dataset,
    Multiset,
    Relation,
    Users,
    relation_named,
)
from dpaudit.strategies import datasets

RELATIONS = [REPLACE_ONE, ADD_REMOVE_ONE]
DOMAIN = (0, 1, 2)
RECORDS = datasets("integers(0, 2)", max_size=5)
quick = settings(max_examples=150)


def all_tuples(largest: int) -> list[tuple[int, ...]]:
    return [records for n in range(largest + 1) for records in product(DOMAIN, repeat=n)]


def one_step(relation: Relation, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """The definition, for tuples."""
    if relation == REPLACE_ONE:
        return len(left) == len(right) and sum(a != b for a, b in zip(left, right, strict=True)) == 1
    short, long = sorted((left, right), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


def one_step_of_multisets(relation: Relation, left: Multiset, right: Multiset) -> bool:
    orders = set(permuted(left)), set(permuted(right))
    return any(one_step(relation, a, b) for a in orders[0] for b in orders[1])


def permuted(dataset: Multiset) -> list[tuple[int, ...]]:
    return [records for records in product(DOMAIN, repeat=len(dataset)) if Multiset.of(records) == dataset]


def breadth_first(start: Any, datasets: list[Any], step: Any) -> dict[Any, int]:
    distances, edge, steps = {start: 0}, [start], 0
    while edge:
        steps += 1
        edge = [d for d in datasets if d not in distances and any(step(e, d) for e in edge)]
        distances.update(dict.fromkeys(edge, steps))
    return distances


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("ordered", [True, False])
def test_distance_is_the_shortest_chain(relation: Relation, ordered: bool) -> None:
    tuples = all_tuples(3)
    datasets: list[Any] = tuples if ordered else list({Multiset.of(records): None for records in tuples})
    step = one_step if ordered else one_step_of_multisets
    for start in datasets[:: 1 if not ordered else 3]:
        reached = breadth_first(start, datasets, lambda a, b: step(relation, a, b))
        for other in datasets:
            assert relation.distance(start, other) == reached.get(other)
            for k in (1, 2, 3):
                assert relation.group(k).related(start, other) == (reached.get(other, 99) <= k)


@quick
@given(RECORDS, RECORDS, RECORDS, st.sampled_from(RELATIONS))
def test_distance_is_a_metric(a: Any, b: Any, c: Any, relation: Relation) -> None:
    assert relation.distance(a, b) == relation.distance(b, a)
    assert (relation.distance(a, b) == 0) == (a == b)
    ab, bc, ac = relation.distance(a, b), relation.distance(b, c), relation.distance(a, c)
    if ab is not None and bc is not None:
        assert ac is not None
        assert ac <= ab + bc
    unordered = relation.distance(Multiset.of(a), Multiset.of(b))
    assert unordered == relation.distance(a, Multiset.of(b)) == relation.distance(Multiset.of(a), b)
    if ab is not None:
        assert unordered is not None
        assert unordered <= ab


def test_the_longest_common_subsequence_counts_for_add_remove() -> None:
    assert ADD_REMOVE_ONE.distance((1, 2, 3), (1, 3)) == 1
    assert ADD_REMOVE_ONE.distance((1, 2, 3, 4), (4, 1, 2, 3)) == 2
    assert ADD_REMOVE_ONE.distance((1, 2), (2, 1)) == 2
    assert ADD_REMOVE_ONE.distance(Multiset.of((1, 2)), Multiset.of((2, 1))) == 0
    assert ADD_REMOVE_ONE.distance((), (1, 1)) == 2
    assert ADD_REMOVE_ONE.distance((0, 1) * 3, (1, 0) * 3) == 2
    assert ADD_REMOVE_ONE.distance((1,) * 50_000 + (2,), (1,) * 50_000) == 1
    assert REPLACE_ONE.distance((1, 2), (2, 1)) == 2
    assert REPLACE_ONE.distance((1, 2), (1,)) is None
    assert REPLACE_ONE.distance(Multiset.of((1, 1, 2)), Multiset.of((2, 2, 2))) == 2


@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_are_all_of_one_step(relation: Relation) -> None:
    for dataset in all_tuples(3):
        everything = all_tuples(4)
        assert set(relation.neighbours(dataset, DOMAIN)) - {dataset} == {
            other for other in everything if one_step(relation, dataset, other)
        }
        multiset = Multiset.of(dataset)
        found = list(relation.neighbours(multiset, DOMAIN))
        assert len(found) == len(set(found))
        assert set(found) == {
            Multiset.of(other) for other in everything if relation.distance(multiset, Multiset.of(other)) == 1
        }


@quick
@given(RECORDS, st.sampled_from(RELATIONS), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
def test_random_neighbours_are_related(
    records: tuple[int, ...], relation: Relation, k: int, seed: int, ordered: bool
) -> None:
    rng = np.random.default_rng(seed)
    dataset: Dataset = records if ordered else Multiset.of(records)
    assert relation.related(dataset, relation.random_neighbour(dataset, DOMAIN, rng))
    group = relation.group(k)
    assert group.related(dataset, group.random_related(dataset, DOMAIN, rng))
    again = np.random.default_rng(seed)
    assert relation.random_neighbour(dataset, DOMAIN, again) == relation.random_neighbour(
        dataset, DOMAIN, np.random.default_rng(seed)
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("ordered", [True, False])
def test_random_neighbours_reach_every_neighbour(relation: Relation, ordered: bool) -> None:
    start: Dataset = (0, 1, 1) if ordered else Multiset.of((0, 1, 1))
    rng = np.random.default_rng(0)
    found = {relation.random_neighbour(start, DOMAIN, rng) for _ in range(3000)}
    assert found - {start} == set(relation.neighbours(start, DOMAIN)) - {start}


@pytest.mark.parametrize("relation", RELATIONS)
def test_scope_is_every_dataset(relation: Relation) -> None:
    everything = [r for r in all_tuples(3) if len(r) == 3 or relation == ADD_REMOVE_ONE]
    assert sorted(map(str, relation.scope(DOMAIN, 3, ordered=True))) == sorted(map(str, everything))
    multisets = relation.scope(DOMAIN, 3, ordered=False)
    assert len(multisets) == len(set(multisets))
    assert set(multisets) == {Multiset.of(records) for records in everything}


@pytest.mark.parametrize("relation", [*RELATIONS, REPLACE_ONE.group(3), ADD_REMOVE_ONE.group(2).group(2)])
def test_names_read_back(relation: Relation) -> None:
    assert relation_named(relation.name) == relation
    assert relation_named(f" {relation.name.upper()} ") == relation


def test_groups_of_groups_multiply() -> None:
    assert ADD_REMOVE_ONE.group(2).group(3).size == 6
    assert ADD_REMOVE_ONE.group(2).group(3).name == "add-remove-one:6"


@pytest.mark.parametrize("name", ["replace-one:0", "replace-one:-1", "replace-one:", "replace-one:x", "replace-one:²",
                                  "replace-one:1.5"])
def test_bad_group_sizes(name: str) -> None:
    with pytest.raises(ParameterError, match="size of a group"):
        relation_named(name)


def test_unknown_name_shows_the_names() -> None:
    with pytest.raises(UnknownNameError, match="replace-one or add-remove-one or answers-linf or"):
        relation_named("nearby")


# --- vectors of query answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "linf", "l1"),
    [
        ((1, 1, 1), (1, 1, 1), 0, 0),
        ((1, 1, 1), (2, 0, 1), 1, 2),
        ((1, 1, 1), (2, 0, 2), 1, 3),
        ((1, 1, 1), (3, 1, 1), 2, 2),
        ((0.5, 0.25), (0.6, 0.65), 1, 1),
        ((0.1, 0.2), (1.1, 0.2), 1, 1),
        ((0.1, 0.2), (1.2, 0.2), 2, 2),
        ((0.3,) * 10, (0.4,) * 10, 1, 1),
    ],
)
def test_distances_of_answers(left: Any, right: Any, linf: int, l1: int) -> None:
    assert ANSWERS_LINF.distance(left, right) == ANSWERS_LINF.distance(right, left) == linf
    assert ANSWERS_L1.distance(left, right) == ANSWERS_L1.distance(right, left) == l1
    assert ANSWERS_L1.related(left, right) is (l1 <= 1)
    assert ANSWERS_L1.group(3).related(left, right) is (l1 <= 3)


@pytest.mark.parametrize("other", [(1, 2), (1, 2, "x"), (True, 1, 1), Multiset.of((1, 1, 1))])
@pytest.mark.parametrize("relation", [ANSWERS_LINF, ANSWERS_L1])
def test_what_is_no_vector_of_as_many_answers(relation: Relation, other: Any) -> None:
    assert relation.distance((1, 1, 1), other) is None
    assert not relation.related((1, 1, 1), other)


@pytest.mark.parametrize("relation", [ANSWERS_LINF, ANSWERS_L1])
def test_neighbours_of_answers(relation: Relation) -> None:
    domain = (0, 1, 2, 3)
    by_hand = {other for other in product(domain, repeat=3) if relation.distance((1, 0, 3), other) == 1}
    assert set(relation.neighbours((1, 0, 3), domain)) == by_hand
    assert len(by_hand) == (11 if relation is ANSWERS_LINF else 4)
    rng = np.random.default_rng(0)
    seen = {relation.random_neighbour((1, 0, 3), domain, rng) for _ in range(500)}
    assert by_hand <= seen <= by_hand | {(1, 0, 3)}
    assert relation_named(relation.name) == relation
    assert relation.scope((0, 1), 2, ordered=False) == [(0, 0), (0, 1), (1, 0), (1, 1)]


# --- private rows ------------------------------------------------------------------------------------------------

ROWS = (((0,), 0, "priv"), ((0,), 1, "priv"), ((1,), 1, "priv"), ((0,), 0, "pub"), ((1,), 1, "pub"))


def one_private_step(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """The definition, for tuples."""
    changed = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    return len(changed) == 1 and changed[0][0][2] == changed[0][1][2] == "priv"


@pytest.mark.parametrize("ordered", [True, False])
def test_private_rows_distance_is_the_shortest_chain(ordered: bool) -> None:
    tuples = list(product(ROWS, repeat=3))
    scope = PRIVATE_ROWS.scope(ROWS, 3, ordered=ordered)
    assert sorted(map(str, scope)) == sorted({str(d if ordered else Multiset.of(d)) for d in tuples})
    orders: dict[Any, list[Any]] = {}
    for records in tuples:
        orders.setdefault(records if ordered else Multiset.of(records), []).append(records)
    close = {
        (a, b) for a in scope for b in scope if any(one_private_step(x, y) for x in orders[a][:1] for y in orders[b])
    }
    for start in scope[:: 7 if ordered else 2]:
        reached = breadth_first(start, scope, lambda a, b: (a, b) in close)
        for other in scope:
            assert PRIVATE_ROWS.distance(start, other) == reached.get(other)
            assert PRIVATE_ROWS.distance(Multiset.of(start), other) == PRIVATE_ROWS.distance(start, Multiset.of(other))
            for k in (1, 2, 3):
                related = reached.get(other, 99) <= k
                assert PRIVATE_ROWS.group(k).related(start, other) == related
                assert (PRIVATE_ROWS.group(k).refusal(start, other) == "") == related
        near = {other for other in scope if (start, other) in close}
        assert set(PRIVATE_ROWS.neighbours(start, ROWS)) == near
        rng = np.random.default_rng(0)
        seen = {PRIVATE_ROWS.random_neighbour(start, ROWS, rng) for _ in range(300)}
        # at most 9 neighbours, each drawn with probability 1/9 at least: one is missed with less than 1e-13
        assert near <= seen <= near | {start}


@pytest.mark.parametrize(
    ("right", "why"),
    [
        ((ROWS[0], ROWS[4]), "Record 2 is public and differs"),
        ((ROWS[3], ROWS[3]), "The privacy bit of record 1 differs"),
        ((ROWS[0],), "2 records and the other 1"),
        ((ROWS[0], ROWS[3], ROWS[3]), "2 records and the other 3"),
        ((ROWS[0], 5), "Record 2 is 5"),
        ((ROWS[0], ((0,), 0, "secret")), "Record 2 is"),
    ],
)
def test_private_rows_say_why_a_pair_is_refused(right: tuple[Any, ...], why: str) -> None:
    left = (ROWS[0], ROWS[3])
    assert why in PRIVATE_ROWS.refusal(left, right)
    assert PRIVATE_ROWS.distance(left, right) is None
    with pytest.raises(PairError, match=why):
        Pair(left, right).distance(PRIVATE_ROWS)
    assert PRIVATE_ROWS.refusal(left, left) == ""


@pytest.mark.parametrize(
    ("right", "why"),
    [
        ((ROWS[0], ROWS[4]), "public row .* is more frequent in one dataset"),
        ((ROWS[3], ROWS[3]), "1 private rows and the other 0"),
    ],
)
def test_private_rows_say_why_multisets_are_refused(right: tuple[Any, ...], why: str) -> None:
    with pytest.raises(PairError, match=why):
        Pair(Multiset.of((ROWS[0], ROWS[3])), Multiset.of(right)).distance(PRIVATE_ROWS)


def test_private_rows_too_far_apart() -> None:
    left, right = (ROWS[0], ROWS[0], ROWS[3]), (ROWS[1], ROWS[1], ROWS[3])
    with pytest.raises(PairError, match="are 2 private-rows steps apart"):
        Pair(left, right).distance(PRIVATE_ROWS)
    assert Pair(left, right).distance(PRIVATE_ROWS.group(2)) == 2
    assert relation_named("private-rows:2") == PRIVATE_ROWS.group(2)


@pytest.mark.parametrize("k", [1, 2])
def test_searches_under_private_rows_make_legal_pairs(k: int) -> None:
    relation, records = PRIVATE_ROWS.group(k), SampledFrom(ROWS)
    starts = starting_pairs(relation, records, 5, np.random.default_rng(0))
    mixed = [pair for pair in starts if {row[2] for row in pair.left} == {"priv", "pub"}]
    assert len(starts) >= 20
    assert len(mixed) >= 5
    changed = [q for pair in starts[::5] for q in mutations(pair, relation, records, np.random.default_rng(1), 20)]
    assert len(changed) > 50
    for pair in (*starts, *changed):
        pair.distance(relation)
    for pair in mixed[:3]:
        small = minimize(pair, lambda p: True, relation=relation, records=records).pair
        small.distance(relation)
        assert len(small.left) == 1


def test_an_answer_outside_the_domain_does_not_jump() -> None:
    rng = np.random.default_rng(0)
    for relation in (ANSWERS_LINF, ANSWERS_L1):
        for _ in range(50):
            assert relation.related((9.0, 1), relation.random_neighbour((9.0, 1), (0, 1, 2), rng))


# --- users ---------------------------------------------------------------------------------------------------------

VISITS = ((0, 0), (0, 1), (1, 0))


def one_user_step(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    """The definition, for tuples: one has all records of one user more."""
    short, long = sorted((left, right), key=len)
    return len(long) > len(short) and any(
        tuple(row for row in long if row[0] != user) == short and user not in {row[0] for row in short}
        for user in {row[0] for row in long}
    )


def all_visits(largest: int, rows: tuple[Any, ...] = VISITS) -> list[tuple[Any, ...]]:
    return [records for n in range(largest + 1) for records in product(rows, repeat=n)]


@pytest.mark.parametrize("ordered", [True, False])
def test_users_distance_is_the_shortest_chain(ordered: bool) -> None:
    tuples = all_visits(3, (*VISITS, (2, 0)) if ordered else VISITS)
    orders: dict[Any, list[Any]] = {}
    for records in tuples:
        orders.setdefault(records if ordered else Multiset.of(records), []).append(records)
    datasets = list(orders)
    close = {
        (a, b) for a in datasets for b in datasets
        if any(one_user_step(x, y) for x in orders[a][:1] for y in (orders[b] if ordered else map(tuple, [b])))
    }
    close |= {(b, a) for a, b in close}
    for start in datasets[:: 9 if ordered else 1]:
        reached = breadth_first(start, datasets, lambda a, b: (a, b) in close)
        for other in datasets:
            assert USERS.distance(start, other) == USERS.distance(other, start) == reached[other]
            for k in (1, 2, 3):
                related = reached[other] <= k
                assert USERS.group(k).related(start, other) == related
                assert (USERS.group(k).refusal(start, other) == "") == related


def test_users_whose_records_interleave_differently() -> None:
    a, b, c = (0, 0), (1, 0), (2, 0)
    # without user 0 both are (b, c); user 0 is removed and added elsewhere
    assert USERS.distance((a, b, c), (b, c, a)) == 2
    assert USERS.distance((a, b, c), (c, b, a)) == 4
    assert USERS.distance((a, a, b), (a, b, a)) == 2
    assert USERS.distance(Multiset.of((a, b, c)), (c, b, a)) == 0
    many = tuple((i, 0) for i in range(40))
    assert USERS.distance(many, (*many[1:], many[0])) == 2
    crowd = tuple((i, 0) for i in range(2_000))
    assert USERS.distance(crowd, (*crowd[1:], crowd[0])) == 2
    assert USERS.distance(crowd, (*crowd[2:], *crowd[:2])) == 4
    # beyond the users that are searched exactly, never too few
    assert USERS.distance(many, many[::-1]) == 78


def test_users_of_a_cell() -> None:
    assert USERS.distance((1, 2, 1), (2,)) == 1
    by_name = relation_named("users:who")
    assert isinstance(by_name, Users)
    located = by_name.located(("day", "who"))
    assert located.distance(((0, "a"), (0, "b"), (1, "a")), ((0, "b"),)) == 1
    assert located.name == by_name.name == "users:who"
    with pytest.raises(ParameterError, match="names the column 'who'; these records have day, user"):
        by_name.located(("day", "user"))
    with pytest.raises(ParameterError, match="have none with a name"):
        by_name.located(None)
    with pytest.raises(ParameterError, match="has no cell 1"):
        located.distance(((0,),), ())


@pytest.mark.parametrize(
    ("text", "column", "size"),
    [("users", "", 1), ("users:3", "", 3), ("users:Customer Id", "Customer Id", 1), ("Users:a:2", "a", 2),
     ("users:a:b", "a:b", 1)],
)
def test_names_of_users(text: str, column: str, size: int) -> None:
    relation = relation_named(text)
    assert isinstance(relation, Users)
    assert (relation.column, relation.size) == (column, size)
    assert relation_named(relation.name) == relation


@pytest.mark.parametrize("ordered", [True, False])
def test_neighbours_of_users_are_all_of_one_step(ordered: bool) -> None:
    for records in all_visits(2):
        start: Dataset = records if ordered else Multiset.of(records)
        scope = USERS.scope(VISITS, 3, ordered=ordered)
        assert set(scope) == {r if ordered else Multiset.of(r) for r in all_visits(3)}
        near = list(USERS.neighbours(start, VISITS))
        assert len(near) == len(set(near))
        assert {other for other in near if len(other) <= 3} == {d for d in scope if USERS.distance(start, d) == 1}
        rng = np.random.default_rng(0)
        seen = {USERS.random_neighbour(start, VISITS, rng) for _ in range(300)}
        assert all(USERS.related(start, other) for other in seen)
        # neighbours with one record more, and those without a user, are drawn with probability 1/24 at least: one of
        # them is missed with probability below 1e-4 (fixed seed)
        assert {other for other in near if len(other) <= len(start) + 1} <= seen
    with pytest.raises(ParameterError, match="at most 3 records can be enumerated"):
        USERS.scope(VISITS, 4, ordered=ordered)


@pytest.mark.parametrize("k", [1, 2])
def test_searches_under_users_make_legal_pairs(k: int) -> None:
    relation, records = USERS.group(k), parse_records("tuples(integers(0, 4), integers(0, 9))")
    starts = starting_pairs(relation, records, 5, np.random.default_rng(0))
    assert any(abs(len(pair.left) - len(pair.right)) >= 5 for pair in starts)
    changed = [q for pair in starts[::9] for q in mutations(pair, relation, records, np.random.default_rng(1), 20)]
    assert len(changed) > 50
    for pair in (*starts, *changed):
        pair.distance(relation)
    for pair in starts[:6]:
        small = minimize(pair, lambda p: True, relation=relation, records=records).pair
        assert len(small.left) + len(small.right) == 1


def test_users_of_a_table_are_removed_whole() -> None:
    table = tuple((user, day) for user, days in ((7, 5), (8, 1), (9, 2)) for day in range(days))
    pairs = table_pairs(USERS, observed_records(table, None), table, np.random.default_rng(0))
    assert {len(pair.right) for pair in pairs} >= {3, 7, 6}
    for pair in pairs:
        pair.distance(USERS)
