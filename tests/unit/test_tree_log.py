"""TreeLog: its steps by hand, a law computed apart from the library, and what its open steps come to."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import pytest

from dpaudit.interpret import law
from dpaudit.language import ADD_REMOVE_ONE, BOTTOM, DatasetError, Multiplicity, Multiset, ParameterError, log_star
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.interior_points.tree_log import TreeLog, _leaves, _levels, _trimmed, _weights

Law = dict[Any, float]


def test_steps_by_hand() -> None:
    # S = {0, 0, 3, 3, 7, 7}, t = 1: Ŝ = {0, 3, 3, 7}; n − 3t = 3
    trimmed = _trimmed(Multiset.of((0, 0, 3, 3, 7, 7)), 1)
    assert list(trimmed) == [0, 3, 3, 7]
    w = _weights(trimmed, 3)
    assert [w(0, 0), w(1, 0), w(1, 1), w(2, 0), w(2, 1), w(3, 2), w(3, 3), w(3, 7)] == [4, 3, 1, 1, 2, 0, 2, 1]
    assert list(_levels((4, 3, 2, 2), 3)) == [0, 1, 3]  # to the leaf 3: 1 and 1 leave, none at level 2, and the rest
    assert list(_levels((4, 3, 1), 3)) == [0, 1, 1]  # to the weight t at level 2
    assert list(_levels((4, 1), 3)) == [0, 0, 0]
    assert not len(_levels((1,), -2))  # n < 3t
    assert _leaves(1, 2, 8) == (4, 5, 6, 7)
    assert _leaves(3, 3, 64) == (24, 27, 28, 31)
    assert _leaves(5, 0, 8) == (5,)
    assert _leaves(1, 2, 6) == (4, 5)  # 6 and 7 are read as 5


@pytest.mark.parametrize("t", [0, 1, 3])
def test_trimming_makes_neighbours_of_neighbours(t: int) -> None:
    for n in range(2 * t, 2 * t + 4):
        for S in combinations_with_replacement(range(4), n):
            for x in range(4):
                before, after = _trimmed(Multiset.of(S), t), _trimmed(Multiset.of((*S, x)), t)
                assert ADD_REMOVE_ONE.distance(before, after) == 1
                assert len(before) == n - 2 * t


@pytest.mark.parametrize("S", [(0, 0, 3, 3, 7, 7), (4, 4, 4, 4), (0, 1, 2, 3, 4, 5, 6, 7), (6,), ()])
@pytest.mark.parametrize(("size", "delta"), [(8, 0.3), (7, 0.3), (17, 0.01)])
def test_law_computed_apart(S: tuple[int, ...], size: int, delta: float) -> None:
    records = tuple(min(x, size - 1) for x in S)
    mechanism = TreeLog(size, 1.5, delta, 8, 1, 0.9)
    exact, apart = law(mechanism, records).as_dict(), _tree_log(records, size, 1.5, delta, 1)
    for x in range(size):
        assert exact.get(x, 0.0) == pytest.approx(apart.get(x, 0.0), abs=1e-12)


def _tree_log(S: tuple[int, ...], size: int, epsilon: float, delta: float, t: int) -> Law:
    """Algorithm 1 by lists and dictionaries; β = 0.9, base 4."""
    if size <= 4:
        return _exponential(range(size), S, epsilon)
    bits = math.ceil(math.log2(size))
    inner = sorted(S)[t : len(S) - t]
    found: Law = {}
    for levels, p in _paths(inner, bits, epsilon, t, len(S) - 3 * t):
        for level, q in _tree_log(levels, bits + 1, epsilon, delta, t).items():
            nodes = tuple(x >> (bits - level) for x in inner)
            chooser = ChoosingMechanism(0.9, epsilon, delta, Multiplicity(tuple(range(2**level))))
            for node, s in law(chooser, nodes).as_dict().items():
                v = 0 if node is BOTTOM else int(node)  # type: ignore[call-overload]
                width = 2 ** (bits - level)
                ends = {v * width, (v + 1) * width - 1}
                if width > 1:
                    ends |= {v * width + width // 2 - 1, v * width + width // 2}
                for x, r in _exponential(sorted({min(e, size - 1) for e in ends}), S, epsilon).items():
                    found[x] = found.get(x, 0.0) + p * q * s * r
    return found


def _paths(inner: list[int], bits: int, epsilon: float, t: int, size: int) -> list[tuple[tuple[int, ...], float]]:
    """Step 4 and 5: every D with its probability."""
    if size <= 0:
        return [((), 1.0)]
    done: list[tuple[tuple[int, ...], float]] = []
    open_paths: list[tuple[tuple[int, ...], list[int], int, float]] = [((), inner, 0, 1.0)]
    while open_paths:
        D, under, level, p = open_paths.pop()
        if level == bits or len(under) <= t:
            done.append((D + (level,) * (size - len(D)), p))
            continue
        bit = bits - level - 1
        sides = [[x for x in under if x >> bit & 1 == b] for b in (0, 1)]
        for b in (0, 1):
            if sides[b]:
                other = len(sides[1 - b])
                q = 1.0 if not other else 1 / (1 + math.exp(epsilon * (other - len(sides[b]))))
                more = (level,) * min(other, size - len(D))
                open_paths.append((D + more, sides[b], level + 1, p * q))
    return done


def _exponential(points: Any, S: tuple[int, ...], epsilon: float) -> Law:
    weights = {x: math.exp(epsilon / 2 * min(sum(y <= x for y in S), sum(y >= x for y in S))) for x in points}
    return {x: w / sum(weights.values()) for x, w in weights.items()}


@pytest.mark.parametrize("base", [4, 5, 32])
def test_at_most_log_star_calls(base: int) -> None:
    for size in (*range(2, 400), *(2**i + d for i in range(9, 200) for d in (-1, 0, 1))):
        assert TreeLog(size, base=base).calls <= max(1, log_star(size))


def test_defaults_say_something() -> None:
    default = TreeLog()
    assert default.trim == math.ceil(20 * math.log2(1e13))
    levels, logs = 4, math.log2(20_000)
    assert default.claim.epsilon == pytest.approx(5 * 0.05 * levels * logs)
    assert default.claim.delta == pytest.approx(3e-13 * 20_000 * levels * math.exp(3 * 0.05 * levels * logs))
    assert default.claim.delta < 1e-3
    assert default.claim.relation == ADD_REMOVE_ONE


@pytest.mark.parametrize("data", [{40_000: 10_000}, {4_096: 8_000, 40_000: 8_000}, {4_096: 10_000, 6_144: 10_000}])
def test_it_finds_interior_points_of_many_records(data: dict[int, int]) -> None:
    # no number is printed; the law says 1 − 1e-9
    S = Multiset.counted(data)
    assert law(TreeLog(), S).probability(lambda x: S.values[0] <= x <= S.values[-1]) > 1 - 1e-6


def test_choosing_mechanism_under_add_remove() -> None:
    # Lemma 7.9 is for replace-one; on these it holds under add/remove-one too
    mechanism = ChoosingMechanism(0.9, 2.0, 0.2, Multiplicity((0, 1)))
    laws = {S: law(mechanism, S).as_dict() for S in ADD_REMOVE_ONE.scope((0, 1), 12, ordered=False)}
    for S, p in laws.items():
        for other in ADD_REMOVE_ONE.neighbours(S, (0, 1)):
            if other in laws:
                q = laws[other]
                assert sum(max(0.0, p[x] - math.exp(2.0) * q.get(x, 0.0)) for x in p) <= 0.2


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="base"):
        TreeLog(base=3)
    with pytest.raises(ParameterError, match="epsilon ≤ 2"):
        TreeLog(epsilon=3.0)
    with pytest.raises(ParameterError, match="n must"):
        TreeLog(n=1)
    with pytest.raises(DatasetError, match="at most n"):
        law(TreeLog(8, n=2), (1, 2, 3))
    with pytest.raises(DatasetError, match="whole numbers"):
        law(TreeLog(8, n=4), (9,))
