"""Pairing twice: how far one record reaches, exactly, and what it costs in a family that can be worked out by hand."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, permutations, product

import pytest

from dpaudit.interpret import law
from dpaudit.language import DatasetError, Multiset, ParameterError, RandomOrder
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.interior_points.interior_point_baselines import Median
from dpaudit_algorithms.interior_points.pair_twice import EVERY_LEVEL, ONCE, Paired, PairTwice
from dpaudit_audits.interior_points.pair_twice import counting
from dpaudit_audits.lower_bounds.thresholds_reductions import Marked


def changed(levels: int, order: tuple[int, ...], at: int, new: int) -> list[int]:
    """Places of depth t whose element a new value of y_at changes."""
    step = Paired(counting(levels, ONCE).depth_sizes[:-1])
    y, z = step.depth(order), step.depth((*order[:at], new, *order[at + 1 :]))
    return [i for i, (a, b) in enumerate(zip(y, z, strict=True)) if a != b]


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_one_record_changes_at_most_t_plus_1_elements(levels: int) -> None:
    most = 0
    for order in product((0, 1, 4), repeat=6):
        for at, new in product(range(6), (0, 1, 4)):
            found = changed(levels, order, at, new)
            assert all(at - levels <= i <= at for i in found)
            most = max(most, len(found))
    # six records have 6 − t elements of depth t
    assert most == min(levels + 1, 6 - levels)


@pytest.mark.parametrize("levels", range(1, 16))
def test_beside_equal_records_the_reach_is_that_of_odd_binomials(levels: int) -> None:
    # Pascal's triangle modulo 2: an element is another iff C(t, j) is odd, so 2^{ones of t in binary} are
    n = 3 * levels + 3
    found = changed(levels, (0,) * n, n // 2, 4)
    assert len(found) == 2 ** levels.bit_count()


def reached(left: tuple[int, ...], right: tuple[int, ...], levels: int) -> int:
    """The most elements that differ at depth t, over all shuffles of neighbours that correspond to each other."""
    side_by_side = {Multiset.of(zip(left, right, strict=True))}
    for size in counting(levels, EVERY_LEVEL).depth_sizes[:-1]:
        step = Paired((size,))
        side_by_side = {
            Multiset.of(zip(*(step.depth(side) for side in zip(*order, strict=True)), strict=True))
            for S in side_by_side
            for order in RandomOrder(S).values
        }
    return max(sum(count for (a, b), count in S.items if a != b) for S in side_by_side)


@pytest.mark.parametrize(("levels", "n"), [(1, 3), (2, 6), (3, 11)])
def test_with_a_shuffle_at_every_level_one_record_changes_2_to_the_t(levels: int, n: int) -> None:
    # n is the least at which 2^(t−1) others stand apart, and away from the ends, before the last level
    assert reached((0,) * n, (0,) * (n - 1) + (4,), levels) == 2**levels
    assert reached((0,) * (n - 1), (0,) * (n - 2) + (4,), levels) < 2**levels


def test_never_more_than_2_to_the_t() -> None:
    for rest in combinations_with_replacement((0, 1, 4), 4):
        for old, new in ((0, 1), (0, 4), (1, 4)):
            assert reached((*rest, old), (*rest, new), 2) <= 4


def test_shuffle_once_by_hand() -> None:
    # {0×(n−1), 4}: the other record is at an end with probability 2/n and changes one length; in between it changes two
    n, mechanism = 6, counting(1, ONCE)
    grown = [0.001 * math.exp(0.25 * k) for k in range(3)]
    p = law(mechanism, Multiset.counted({0: n - 1, 4: 1})).as_dict()
    assert p[1] == pytest.approx(2 / n * grown[1] + (1 - 2 / n) * grown[2])
    assert law(mechanism, Multiset.counted({0: n})).as_dict()[1] == pytest.approx(grown[0])


def test_shuffle_at_every_level_by_brute_force() -> None:
    mechanism, S = counting(2, EVERY_LEVEL), (0, 0, 4, 5)
    first, second = (Paired((size,)) for size in mechanism.depth_sizes[:-1])
    total, ways = 0.0, 0
    for order in permutations(S):
        for again in permutations(tuple(first(order))):
            zeros = sum(1 for v in second(again) if v == 0)
            total += 0.001 * math.exp(0.25 * zeros)
            ways += 1
    assert law(mechanism, S).as_dict()[1] == pytest.approx(total / ways)


def test_one_level_is_the_same_with_either_shuffle() -> None:
    S = (0, 1, 2, 4, 4)
    assert law(counting(1, ONCE), S).as_dict() == pytest.approx(law(counting(1, EVERY_LEVEL), S).as_dict())


def test_claims_that_the_text_suggests() -> None:
    assert [counting(t, ONCE).claim.epsilon for t in (0, 1, 2, 3)] == [0.25, 0.5, 0.75, 1.0]
    assert [counting(t, EVERY_LEVEL).claim.epsilon for t in (0, 1, 2, 3)] == [0.25, 0.5, 1.0, 2.0]
    assert PairTwice(counting(1, ONCE).inner, 2**16, 4).depth_sizes == (65536, 17, 6, 4, 3)


def test_fewer_records_than_levels() -> None:
    assert law(counting(3, ONCE), (0, 4)).as_dict()[1] == pytest.approx(0.001)
    assert law(counting(3, EVERY_LEVEL), (0,)).as_dict()[1] == pytest.approx(0.001)


def test_bad_input() -> None:
    inner = Marked(GroupPrivacy(0.25, 0.001), (0,), 1)
    with pytest.raises(ParameterError, match="shuffle"):
        PairTwice(inner, 8, 1, "never")
    with pytest.raises(ParameterError, match="claims nothing"):
        PairTwice(Median(), 8, 1)
    with pytest.raises(DatasetError, match="whole numbers"):
        law(PairTwice(inner, 8, 1), (0, 9))
