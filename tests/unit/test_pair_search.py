"""The search for pairs: what it starts from, that it stays in the claim, and that it finds planted flaws.

The toy mechanisms are exact: a function gives the bound of a pair without sampling. "Random search" below is the best
of at least as many random pairs as the climb asked for scores.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from dpaudit.adversary.pairs.alignment import ABSENT, aligned, joined
from dpaudit.adversary.pairs.climb import Climbed, climb
from dpaudit.adversary.pairs.describe import Just, Lists, Records
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.mutations import RecordMutations, mutations
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.adversary.pairs.starting_pairs import random_related_pairs, starting_pairs
from dpaudit.errors import DatasetError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, Multiset, Relation, relation_named

KINDS = ["replace-one", "add-remove-one", "answers-linf", "answers-l1"]
RELATIONS = [relation_named(kind).group(k) for kind in KINDS for k in (1, 2, 3)]
DATA = [
    "integers(0, 1)", "integers(-5, 100)", f"integers({-2**63}, {2**63 - 1})", "floats(0, 1)", "floats(-1e6, 2)",
    "booleans()", "sampled_from(['a', None, 3, 'b{}'])", "sampled_from([[1, 2], [3]])", "just(3)",
    "tuples(integers(0, 9), booleans())", "tuples(just('x'), floats(0, 5), sampled_from(['p', 'q', 'r']))",
    "lists(integers(0, 9), 0, 3)", "lists(booleans(), 2, 2)", "tuples(lists(integers(0, 1), 0, 2), integers(0, 1))",
]  # fmt: skip
WIDE = parse_records("integers(-1000000, 1000000)")
quick = settings(max_examples=120)


def good(pair: Pair, relation: Relation, records: Records) -> bool:
    """What every pair of the search must be."""
    return (
        pair.left != pair.right
        and relation.related(pair.left, pair.right)
        and pair.source in ("extreme", "random")
        and pair.label != ""
        and all(records.contains(value) for side in (pair.left, pair.right) for value in side)
    )


@pytest.mark.slow(fast=["*-replace-one", "*-add-remove-one:2", "*-answers-linf", "*-answers-l1:3"])
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
@pytest.mark.parametrize("data", DATA)
def test_starting_pairs_are_related_different_and_once(relation: Relation, data: str) -> None:
    records = parse_records(data)
    for size in (0, 1, 2, 5, 8):
        pairs = starting_pairs(relation, records, size, default_rng(size))
        assert all(good(pair, relation, records) for pair in pairs)
        assert len({frozenset((pair.left, pair.right)) for pair in pairs}) == len(pairs)
        assert pairs == starting_pairs(relation, records, size, default_rng(size))
        numbers = data.startswith(("integers", "floats"))
        if relation.kind.startswith("answers"):
            # floats(0, 1) and integers(0, 1) have room for a move by one from an end
            assert numbers or not pairs
        elif data != "just(3)" and size >= 5:
            assert {pair.source for pair in pairs} == {"extreme", "random"}


@pytest.mark.slow
@quick
@given(st.sampled_from(RELATIONS), st.sampled_from(DATA), st.integers(0, 7), st.integers(0, 2**32), st.booleans())
def test_mutations_are_related_different_and_reproducible(
    relation: Relation, data: str, size: int, seed: int, multiset: bool
) -> None:
    records, rng = parse_records(data), default_rng(seed)
    pairs = starting_pairs(relation, records, size, rng, random=4)
    if not pairs:
        return
    pair = pairs[int(rng.integers(len(pairs)))]
    if multiset and not relation.kind.startswith("answers") and "None" not in data:
        pair = Pair(Multiset.of(pair.left), Multiset.of(pair.right), pair.label, "given")
        if not relation.related(pair.left, pair.right) or pair.left == pair.right:
            return
    found = mutations(pair, relation, records, default_rng(seed), 12)
    assert all(good(other, relation, records) for other in found)
    keys = {(other.left, other.right) for other in found}
    assert len(keys) == len(found) <= 12
    assert (pair.left, pair.right) not in keys
    assert all(type(other.left) is type(pair.left) and type(other.right) is type(pair.right) for other in found)
    assert found == mutations(pair, relation, records, default_rng(seed), 12)


@pytest.mark.slow
def test_mutations_reach_every_pair_of_a_small_space() -> None:
    """From one pair, by mutations of mutations, every related pair of up to three bits; nothing is out of reach."""
    records, rng = parse_records("booleans()"), default_rng(0)
    start = Pair((False, False), (False, True), "start", "extreme")
    reached, edge = {(start.left, start.right)}, [start]
    for _ in range(8):
        edge = [other for pair in edge for other in mutations(pair, REPLACE_ONE, records, rng, 16)]
        edge = [other for other in edge if len(other.left) <= 3 and (other.left, other.right) not in reached]
        reached |= {(other.left, other.right) for other in edge}
    bits = [d for n in (1, 2, 3) for d in product((False, True), repeat=n)]
    assert reached == {(a, b) for a in bits for b in bits if a != b and REPLACE_ONE.related(a, b)}


@quick
@given(st.sampled_from(RELATIONS), st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), max_size=6))
def test_alignment_loses_nothing_and_shares_the_most(relation: Relation, left: list[int], right: list[int]) -> None:
    for pair in (Pair(tuple(left), tuple(right)), Pair(Multiset.of(left), Multiset.of(right))):
        slots = aligned(pair, relation)
        again = joined(slots, pair, "")
        assert (again.left, again.right) == (pair.left, pair.right)
        assert (ABSENT, ABSENT) not in slots
        distance = relation.distance(pair.left, pair.right)
        if relation.kind.endswith("-one") and distance is not None:
            changed = [slot for slot in slots if slot[0] != slot[1]]
            steps = sum(1 if relation.kind == "replace-one" or ABSENT in slot else 2 for slot in changed)
            assert steps == distance


def labels(data: str, relation: Relation, size: int) -> set[str]:
    return {pair.label for pair in starting_pairs(relation, parse_records(data), size, default_rng(0))}


@pytest.mark.parametrize(
    ("relation", "pair"),
    [
        (REPLACE_ONE, ((0,) * 5, (0, 0, 0, 0, 9))),
        (REPLACE_ONE, ((9,) * 5, (0, 9, 9, 9, 9))),
        (REPLACE_ONE, ((0, 0, 0, 9, 9), (0, 0, 9, 9, 9))),
        (REPLACE_ONE, ((0, 0, 9, 9, 0), (0, 0, 9, 9, 9))),
        (REPLACE_ONE, ((0, 1, 0, 1, 0), (0, 1, 0, 1, 9))),
        (REPLACE_ONE, ((1,) * 5, (1, 1, 1, 1, 2))),
        (REPLACE_ONE.group(2), ((0,) * 5, (0, 0, 0, 9, 9))),
        (ADD_REMOVE_ONE, ((), (9,))),
        (ADD_REMOVE_ONE, ((0,), (0, 0))),
        (ADD_REMOVE_ONE, ((0, 1, 0, 1, 0), (0, 1, 0, 1, 0, 9))),
        (ADD_REMOVE_ONE, ((0, 0, 9, 9), (0, 0, 9, 9, 9))),
        (relation_named("answers-linf"), ((4,) * 5, (5, 3, 3, 3, 3))),
        (relation_named("answers-linf"), ((4,) * 5, (5, 5, 5, 3, 3))),
        (relation_named("answers-l1"), ((4,) * 5, (5, 4, 4, 4, 4))),
    ],
    ids=str,
)
def test_the_pairs_a_tester_tries_first(relation: Relation, pair: tuple[Any, Any]) -> None:
    size = 4 if pair[0] == (0, 0, 9, 9) else 5
    found = starting_pairs(relation, parse_records("integers(0, 9)"), size, default_rng(0))
    assert frozenset(pair) in {frozenset((p.left, p.right)) for p in found}


def test_labels_say_what_is_provoked() -> None:
    for word in ("outlier", "tie", "first", "nearest", "special", "ascending", "descending", "different", "twice"):
        assert any(word in label for label in labels("integers(-9, 9)", REPLACE_ONE, 6)), word
    assert any(label.startswith("empty") for label in labels("booleans()", ADD_REMOVE_ONE, 6))
    assert not any(label.startswith("empty") for label in labels("booleans()", REPLACE_ONE, 6))
    assert all(len(label) < 120 for label in labels("lists(integers(0, 9), 0, 1000)", REPLACE_ONE, 3))


def spread(dataset: Any) -> int:
    return max(dataset) - min(dataset) if len(dataset) else 0


def broken_at_zero(pair: Pair) -> float:
    return 3.0 if (0 in pair.left) != (0 in pair.right) else 0.1


def scaled_by_own_range(pair: Pair) -> float:
    """Noise calibrated to the range of the data: ln of how much it changes. At most ln 2,000,001 = 14.5."""
    return abs(math.log((spread(pair.left) + 1) / (spread(pair.right) + 1)))


def looks_at_the_first(pair: Pair) -> float:
    """Broken when the first record changes and all others are equal."""
    return 3.0 if len(pair.left) > 1 and pair.left[0] != pair.right[0] and len(set(pair.left[1:])) == 1 else 0.1


def breaks_ties(pair: Pair) -> float:
    """The most frequent value without noise, when the two highest counts, of at least four, are next to each other."""
    winners = []
    for side in (pair.left, pair.right):
        top = Counter(side).most_common(2)
        if len(top) < 2 or top[0][1] < 4 or top[1][1] < top[0][1] - 1:
            return 0.1
        winners.append(top[0][0])
    return 3.0 if winners[0] != winners[1] else 0.1


def wide(starts: list[Pair]) -> RecordMutations:
    """Where the climbs of these tests walk."""
    return RecordMutations.like(starts, REPLACE_ONE, WIDE)


def last(states: Any) -> Climbed[Pair]:
    *_, state = states
    assert isinstance(state, Climbed)
    return state


def random_search(score: Callable[[Pair], float], calls: int, seed: int) -> float:
    rng = default_rng([seed, 1])
    best = -math.inf
    for _ in range(calls):
        left = tuple(WIDE.draw(rng) for _ in range(10))
        right = REPLACE_ONE.random_related(left, [WIDE.draw(rng) for _ in range(8)], rng)
        best = max(best, score(Pair(left, right)))
    return best


@pytest.mark.parametrize(
    ("score", "wanted"),
    [(broken_at_zero, 3), (scaled_by_own_range, 13), (looks_at_the_first, 3), (breaks_ties, 3)],
)
def test_flaws_that_starting_pairs_show(score: Callable[[Pair], float], wanted: float) -> None:
    """Found in the first round, 250 scores; 5,000 random pairs do not show them (exact scores, ten seeds)."""
    for seed in range(10):
        starts = starting_pairs(REPLACE_ONE, WIDE, 10, default_rng(seed))
        state = next(
            climb(starts, lambda pair, _: score(pair), wide(starts), rng=default_rng(seed), rounds=1)
        )
        assert state.best[0].score >= wanted
        assert state.calls <= 250
    assert random_search(score, 5000, 0) < wanted


@pytest.mark.slow(only=["breaks_ties-*"])
@pytest.mark.parametrize(("score", "wanted"), [(scaled_by_own_range, 9.0), (breaks_ties, 3.0)])
def test_a_climb_from_random_pairs_alone(score: Callable[[Pair], float], wanted: float) -> None:
    """Mutations, not the starting pairs, lead there: within 2,500 scores, where random search stays far below.

    Five fixed seeds; of 30 seeds 30 and 26 got there, the others stayed on the plateau until patience ended.
    """
    for seed in range(5):
        rng = default_rng(seed)
        starts = random_related_pairs(REPLACE_ONE, WIDE, 10, rng, 16)
        state = last(
            climb(starts, lambda pair, _: score(pair), wide(starts), rng=rng, rounds=30, patience=8)
        )
        assert state.best[0].score >= wanted
        assert state.calls <= 2500
        assert random_search(score, 2500, seed) < wanted / 2


def test_a_noisy_score_still_leads_there() -> None:
    """Noise of deviation 1 at effort 1 around a score cut at 3, as an estimated bound is (20 seeds, fixed)."""
    found = []
    for seed in range(20):
        rng, noise = default_rng(seed), default_rng([seed, 2])

        def noisy(pair: Pair, effort: int, noise: Any = noise) -> float:
            return float(min(scaled_by_own_range(pair), 3) + noise.normal() / math.sqrt(effort))

        starts = starting_pairs(REPLACE_ONE, WIDE, 10, rng)
        state = last(climb(starts, noisy, wide(starts), rng=rng, rounds=6))
        found.append(min(scaled_by_own_range(state.best[0].item), 3))
    assert sum(bound == 3 for bound in found) >= 18
    assert min(found) > 2


def test_a_lucky_estimate_is_not_kept() -> None:
    """Where there is nothing to find, the last score is a fresh estimate's, not the highest of all that were seen.

    Four final estimates of deviation 1/4: their maximum has mean 0.26 and deviation 0.18, so the mean of 20 exceeds 0.5
    with probability below 1e-6. The highest of 100 estimates of deviation 1 has mean 2.5 and deviation 0.43, so the
    mean of 20 of them is below 2 with probability below 1e-6 too.
    """
    lasts, highest = [], []
    for seed in range(20):
        rng, noise, seen = default_rng(seed), default_rng([seed, 3]), list[float]()

        def nothing(pair: Pair, effort: int, noise: Any = noise, seen: list[float] = seen) -> float:
            seen.append(float(noise.normal() / math.sqrt(effort)))
            return seen[-1]

        starts = starting_pairs(REPLACE_ONE, WIDE, 10, rng)
        state = last(climb(starts, nothing, wide(starts), rng=rng, rounds=4))
        assert state.calls == len(seen)
        assert state.best[0].effort >= 8
        lasts.append(state.best[0].score)
        highest.append(max(seen))
    assert sum(lasts) / 20 < 0.5
    assert sum(highest) / 20 > 2


def test_what_a_climb_counts_and_guarantees() -> None:
    asked: list[tuple[Pair, int]] = []

    def score(pair: Pair, effort: int) -> float:
        asked.append((pair, effort))
        return scaled_by_own_range(pair)

    def run() -> list[Climbed[Pair]]:
        rng = default_rng(7)
        starts = starting_pairs(REPLACE_ONE, WIDE, 6, rng)
        return list(climb(starts, score, wide(starts), rng=rng, rounds=5, width=3, patience=9))

    states = run()
    assert [state.rounds for state in states] == [1, 2, 3, 4, 5]
    assert states[-1].calls == len(asked)
    assert states[-1].work == sum(effort for _, effort in asked)
    # exact scores: the best never gets worse
    assert all(a.best[0].score <= b.best[0].score for a, b in pairwise(states))
    for state in states:
        assert len(state.best) == 3
        assert [s.score for s in state.best] == sorted((s.score for s in state.best), reverse=True)
        assert all(s.score == scaled_by_own_range(s.item) for s in state.best)
    efforts = [effort for _, effort in asked]
    assert set(efforts) >= {1, 2, 4, 8}
    assert all(efforts.count(e) >= efforts.count(2 * e) for e in (1, 2, 4))
    assert run() == states


def test_the_end_of_a_climb() -> None:
    rng = default_rng(0)
    starts = starting_pairs(REPLACE_ONE, WIDE, 6, rng)
    flat = list(
        climb(starts, lambda pair, _: 0.0, wide(starts), rng=rng, rounds=50, patience=3)
    )
    assert len(flat) == 4
    assert list(climb([], lambda pair, _: 0.0, wide([]), rng=rng)) == []
    nan = last(climb(starts, lambda pair, _: math.nan, wide(starts), rng=rng, rounds=2))
    assert {scored.score for scored in nan.best} == {-math.inf}


@pytest.mark.parametrize("after", [0, 1, 40, 100, 300])
def test_a_climb_that_is_stopped(after: int) -> None:
    asked = 0

    def score(pair: Pair, effort: int) -> float:
        nonlocal asked
        asked += 1
        return scaled_by_own_range(pair)

    rng = default_rng(0)
    starts = starting_pairs(REPLACE_ONE, WIDE, 6, rng)
    state = last(
        climb(starts, score, wide(starts), rng=rng, rounds=50, stop=lambda: asked >= after)
    )
    assert state.calls == asked == after
    assert bool(state.best) == (after > 0)
    assert len(state.best) <= 4
    if after >= 100:
        assert state.best[0].score >= 13


def test_what_lists_and_just_describe() -> None:
    assert parse_records("lists(integers(0, 9), 0, 3)") == Lists(parse_records("integers(0, 9)"), 0, 3)
    assert parse_records("just('a')") == Just("a")
    assert parse_records("just([1, 2])") == Just((1, 2))
    lists = parse_records("lists(booleans(), 1, 3)")
    drawn = {lists.draw(rng) for rng in [default_rng(0)] for _ in range(500)}
    assert drawn == {d for n in (1, 2, 3) for d in product((False, True), repeat=n)}
    assert lists.extremes == ((False,), (True, True, True))
    assert parse_records("just(3)").draw(default_rng(0)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "lists(integers(0, 9))", "lists(integers(0, 9), 3, 2)", "lists(integers(0, 9), -1, 2)", "lists(3, 0, 2)",
        "lists(integers(0, 9), 0, 0)", "lists(integers(0, 9), False, True)", "lists(integers(0, 9), 0, 1.0)",
        "lists(integers(0, 9), 0, 10000)", "just()", "just(1, 2)", "just({1: 2})", "just(1e999)",
        "just(integers(0, 1))",
    ],
)  # fmt: skip
def test_lists_and_just_that_are_refused(text: str) -> None:
    says = r"^--data .*(just\(record\).*lists\(…, least, most\)|at most 1,000|too large)"
    with pytest.raises(DatasetError, match=says):
        parse_records(text)


@quick
@given(st.sampled_from(DATA), st.integers(0, 2**32))
def test_what_records_propose_are_records(data: str, seed: int) -> None:
    records, rng = parse_records(data), default_rng(seed)
    value, other = records.draw(rng), records.draw(rng)
    assert records.contains(value)
    assert not records.contains(ABSENT)
    assert len(set(records.special)) == len(records.special)
    assert set(records.extremes) <= set(records.special)
    only = data == "just(3)"
    for v in (value, *records.special):
        proposed = [records.nearest(v), records.between(v, other), *records.simpler(v)]
        assert all(records.contains(p) for p in proposed)
        assert (records.nearest(v) == v) == only
    assert records.between(value, value) == value


def test_a_bisection_towards_zero() -> None:
    assert list(parse_records("integers(0, 100)").simpler(100)) == [0, 1, 0, 50, 75, 88, 94, 97, 99]
    assert list(parse_records("integers(5, 100)").simpler(8)) == [5, 7]
    assert list(parse_records("integers(-100, -5)").simpler(-9)) == [-5, -7, -8]
    assert next(parse_records("floats(0.25, 1)").simpler(0.75)) == 1.0
