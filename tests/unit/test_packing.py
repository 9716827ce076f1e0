"""The packing argument: datasets two records apart, disjoint intervals, colours, and the search for one colour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest

from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, REPLACE_ONE, Claim, Game, Laplace, Mechanism, ParameterError, Program
from dpaudit.plans.plan import Case
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.lower_bounds.packing_game import Packing, PackingGame, balanced, interval_of, lies_in
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholdsCorrected
from dpaudit_algorithms.pac.non_private import ConsistentThreshold
from dpaudit_audits.lower_bounds.packing_game import PLAN as PACKING_PLAN
from dpaudit_audits.lower_bounds.packing_search import Colouring, monochromatic, packing_pair, shares


@dataclass(frozen=True)
class Upwards(Mechanism):
    """The least example labelled 1: consistent where c_t(x) = 1 iff x ≥ t."""

    def run(self, S: Any) -> Any:
        return min((x for x, y in S if y), default=BOTTOM)


@dataclass(frozen=True)
class Noisy(Mechanism):
    """A real threshold near the middle of the sample."""

    def run(self, S: Any) -> Program:
        return (yield Laplace(sum(x for x, _ in S) / len(S), 0.01))


def by_consistency(epsilon: float, size: int = 64) -> ExponentialMechanism:
    return ExponentialMechanism(epsilon, Consistency(size))


def sides(game: PackingGame) -> tuple[float, float]:
    p, q = (law(game, side).as_dict().get(True, 0.0) for side in Game.sides)
    return p, q


@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("n", [2, 4, 6])
def test_datasets_are_two_records_apart_and_intervals_disjoint(n: int, lower: int) -> None:
    for colour in range(n - 1):
        for m in (n, n + 1, 15 * n):
            packing = Packing(tuple(range(10, 10 + 3 * m, 3)), n, colour, lower)
            assert packing.size == m - n + 1
            assert len(packing.centre) == n
            for j in range(packing.size):
                S = packing.dataset(j)
                assert len(S) == n
                distance = REPLACE_ONE.group(2).distance(packing.centre, S)
                # one record for the first and the last, none where there is only one dataset
                assert distance == (j > 0) + (j < packing.size - 1)
                assert [y for _, y in S] == [lower] * (n // 2) + [1 - lower] * (n // 2)
                # I_j is the interval of the colour in S_j
                left, right = packing.interval(j)
                assert (S[colour][0], S[colour + 1][0]) == (left, right)
            for t in range(8, 15 * m):
                held = [j for j in range(packing.size) if lies_in(t, *packing.interval(j), lower)]
                assert len(held) <= 1


def test_fourteen_n_minus_one_vertices_give_thirteen_n_datasets() -> None:
    for n in (2, 4, 10):
        assert Packing(tuple(range(14 * n - 1)), n, 0).size == 13 * n


def test_last_inequality_of_the_proof() -> None:
    # e^{−2}·3/(4n) − δ/e² − δ/e > 1/(13n) if and only if δ·n < (3/(4e²) − 1/13)/(e^{−2} + e^{−1})
    least = (0.75 / math.e**2 - 1 / 13) / (math.exp(-2) + math.exp(-1))
    assert least == pytest.approx(0.048843, abs=1e-6)
    for n in (2, 100):
        for delta, holds in ((0.99 * least / n, True), (1.01 * least / n, False)):
            assert (0.75 / (math.e**2 * n) - delta / math.e**2 - delta / math.e > 1 / (13 * n)) == holds
    # the same with the chain of the game: (3/(4n) − (1 + e)δ)/e²
    assert Claim(1.0, 1e-3).chained(2).delta == pytest.approx((1 + math.e) * 1e-3)


def test_intervals() -> None:
    points = (2, 5, 9)
    assert [interval_of(t, points, 0) for t in (2, 3, 5, 6, 9, 10)] == [None, 0, 0, 1, 1, None]
    assert [interval_of(t, points, 1) for t in (1, 2, 4, 5, 8, 9)] == [None, 0, 0, 1, 1, None]
    assert interval_of(BOTTOM, points) is None
    assert balanced(points[:2], 1) == ((2, 1), (5, 0))
    assert shares({3: 0.5, 5: 0.25, 6: 0.125, BOTTOM: 0.125}, points) == [0.75, 0.125]


@pytest.mark.parametrize("n", [2, 4, 6])
def test_every_accurate_threshold_lies_in_an_interval(n: int) -> None:
    points = tuple(range(3, 3 + 2 * n, 2))
    for t in range(2 * n + 8):
        upwards = sum((x >= t) != y for x, y in balanced(points, 0))
        downwards = sum((x <= t) != y for x, y in balanced(points, 1))
        if upwards <= n / 4:
            assert interval_of(t, points, 0) is not None
        if downwards <= n / 4:
            assert interval_of(t, points, 1) is not None


def test_search_finds_what_is_there() -> None:
    # colours of pairs by parity of their distance; of one parity are the even or the odd numbers alone
    def parity(points: tuple[int, ...]) -> int:
        return (points[2] - points[0]) % 2

    found = monochromatic(range(12), 3, 6, parity)
    assert len(found.points) == 6
    assert {parity(points) for points in combinations(found.points, 3)} == {found.colour}


def test_search_is_complete() -> None:
    # in no set of 4 points of {0, …, 5} do all triples have the first gap the smaller one, or all the other
    def later(points: tuple[int, ...]) -> int:
        return int(points[2] - points[1] > points[1] - points[0])

    def every(size: int, top: int) -> bool:
        return any(
            len({later(triple) for triple in combinations(chosen, 3)}) == 1
            for chosen in combinations(range(top), size)
        )

    for top in range(4, 9):
        for size in (3, 4, 5):
            found = monochromatic(range(top), 3, size, later)
            assert found.complete
            assert bool(found.points) == (size <= top and every(size, top))


def test_search_stops_at_its_limit() -> None:
    found = packing_pair(by_consistency(1.0), range(64), 4, vertices=12, lower=1, limit=300)
    assert found.game is None
    assert found.text.startswith("Before the limit of 300 datasets")


@pytest.mark.slow
def test_geometric_gaps_are_what_the_exponential_mechanism_allows() -> None:
    # interval 2 must outweigh interval 1: last gap > e^{1/2}·middle gap, so that gaps grow: 7 of 64
    found = packing_pair(by_consistency(1.0), range(64), 4, vertices=7, lower=1)
    assert found.game is not None
    assert found.game.packing == Packing((0, 1, 2, 4, 9, 23, 60), 4, 2, 1)
    p, q = sides(found.game)
    assert p <= math.exp(2) * q


def test_colours_by_runs_are_those_of_the_law() -> None:
    exact, sampled = Colouring(by_consistency(6.0), 1), Colouring(by_consistency(6.0), 1, runs=4_000)
    for points in ((0, 1, 2, 3), (0, 20, 21, 22), (5, 6, 30, 60)):
        assert exact(points) == sampled(points)
    assert Colouring(Noisy(), runs=200)((0, 10, 11, 12)) == 0


def test_consistent_thresholds_are_refuted_by_hand() -> None:
    # p = 1, and on S the answer is the lower end of I_0: q = 1/J
    for subject, lower in ((ConsistentThreshold(64), 1), (Upwards(), 0)):
        found = packing_pair(subject, range(64), 4, vertices=15, lower=lower)
        assert found.game is not None
        assert sides(found.game) == pytest.approx((1.0, 1 / 12))
        # Theorem 3.4's ε = 1: e²/12 + (1 + e)·10⁻⁶ < 1
        assert Claim(1.0, 1e-6).chained(2).delta + math.exp(2) / 12 < 1


@pytest.mark.slow(only=["learner"])
@pytest.mark.parametrize(
    "subject", [by_consistency(0.5), by_consistency(2.0), LearnThresholdsCorrected(64)], ids=["0.5", "2", "learner"]
)
def test_private_learners_keep_the_joint_inequality(subject: Mechanism) -> None:
    found = packing_pair(subject, range(64), 2, vertices=12, lower=1)
    assert found.game is not None
    claim = found.game.claim
    assert claim is not None
    p, q = sides(found.game)
    assert p <= math.exp(claim.epsilon) * q + claim.delta
    assert q * found.game.packing.size <= 1 + 1e-12


@pytest.mark.slow(fast=["default"])
@pytest.mark.parametrize("case", PACKING_PLAN.cases()[:8], ids=lambda case: case.label.partition(",")[0])
def test_the_audited_packings_are_what_the_search_finds_first(case: Case) -> None:
    game = case.mechanism
    assert isinstance(game, PackingGame)
    found = packing_pair(
        game.subject, range(64), game.packing.records, vertices=len(game.packing.vertices), lower=1, limit=4_500
    )
    assert found.game == game


def test_claim_is_for_two_records() -> None:
    game = PackingGame(LearnThresholdsCorrected(64, delta=1e-3), Packing((1, 2, 3), 2, 0, 1))
    assert game.claim == Claim(1.0, 1e-3).chained(2)
    assert PackingGame(Upwards(), Packing((1, 2, 3), 2, 0)).claim is None


def test_sampled_game_follows_its_law() -> None:
    game = PackingGame(by_consistency(6.0), Packing(tuple(range(12)), 4, 1, 1))
    p, _ = sides(game)
    hits = sample(game, Game.sides[0], 100_000, seed=9).counts[True]
    # five standard deviations: false alarms below 6e-7
    assert abs(hits / 1e5 - p) < 5 * math.sqrt(p * (1 - p) / 1e5)


def test_bad_packings() -> None:
    for bad in ((0, 1, 2), 3, 0, 0), ((0, 1, 1), 2, 0, 0), ((0,), 2, 0, 0), ((0, 1, 2), 2, 1, 0), ((0, 1, 2), 2, 0, 2):
        with pytest.raises(ParameterError):
            Packing(*bad)
    with pytest.raises(ParameterError, match="vertices"):
        monochromatic(range(5), 4, 3, lambda _: 0)
    with pytest.raises(ParameterError, match="even"):
        packing_pair(Upwards(), range(5), 3)
