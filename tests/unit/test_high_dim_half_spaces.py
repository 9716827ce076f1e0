"""Half-spaces in d dimensions: what the grid of angles misses, what one example does to it, and what is corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from dpaudit.interpret import law, sample
from dpaudit.language import DatasetError, Fixed, Multiset, ParameterError, Trial
from dpaudit.stats import clopper_pearson
from dpaudit_algorithms.half_spaces.angles import AngleGrid
from dpaudit_algorithms.half_spaces.high_dim_data import (
    MakeHighDimData,
    MakeHighDimDataCorrected,
    agreements,
    best_agreement,
    box_agreements,
    coordinate_quality,
    near,
    reach,
)
from dpaudit_algorithms.half_spaces.high_dim_half_spaces import AHighH, AHighHCorrected, labelled, largest
from dpaudit_audits.half_spaces.high_dim_half_spaces import (
    EXPLAINED,
    FINE,
    NARROW,
    NARROW_NORMAL,
    ONE,
    OPPOSITE,
    QUARTERS,
    READINGS,
    TWELFTHS,
    FirstAngle,
    QuickThresholds,
    corners,
    grid_directions,
    halfspaces,
)

CUBE = tuple(x for x in product((-1, 0, 1), repeat=3) if any(x))


def planes(k: int) -> np.ndarray:
    """One point of {−k, …, k}³ for every plane x⊥."""
    reach_of = product(range(-k, k + 1), repeat=3)
    return np.array([x for x in reach_of if x > (0, 0, 0) and math.gcd(*x) == 1])


def cells(k: int) -> int:
    """Into how many cells the planes cut space: 2 + 2·Σ (planes through a line − 1), over all lines where some meet."""
    points = planes(k)
    first, second = np.triu_indices(len(points), 1)
    lines = np.cross(points[first], points[second])
    lines //= np.gcd.reduce(lines, axis=1)[:, None]
    lead = np.where(lines[:, 0] != 0, lines[:, 0], np.where(lines[:, 1] != 0, lines[:, 1], lines[:, 2]))
    lines = np.unique(lines * np.sign(lead)[:, None], axis=0)
    return 2 + 2 * int(((lines @ points.T == 0).sum(axis=1) - 1).sum())


def reached(k: int) -> int:
    """In how many cells there is a direction of the grid of Lemma 11."""
    grid = AngleGrid.for_grid(k)
    signs = np.unique(np.stack([grid.sides(tuple(x)).ravel() for x in planes(k).tolist()], axis=1), axis=0)
    return int((signs != 0).all(axis=1).sum())


# --- Lemma 17 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "all_cells", "with_a_direction"), [(1, 96, 32), (2, 1248, 878), (3, 10_944, 6_223)])
def test_cells_without_a_direction_of_the_grid(k: int, all_cells: int, with_a_direction: int) -> None:
    assert cells(k) == all_cells
    assert reached(k) == with_a_direction


def test_three_points_of_a_cell_that_the_grid_misses() -> None:
    # strictly inside: no border is needed
    assert all(sum(a * b for a, b in zip(NARROW_NORMAL, x, strict=True)) > 0 for x, _ in NARROW)
    S = Multiset.of(NARROW)
    assert best_agreement(S, 3) == 3
    assert agreements(TWELFTHS, 3, S).max() == 2
    # by hand: n₁ ≤ n₂ ≤ n₃ and n₂ + n₃ ≤ n₁ leave n₁ ≤ n₂ ≤ n₃ ≤ 0, −n₂ ≤ −n₁ ≤ −n₂ − n₃, for |cot φ₁| = 0, 1/√3, √3, ∞
    # and (−n₂, −n₃)/|sin φ₁| = (1, 0) or (√3/2, 1/2): none fits
    for A, B in ((1.0, 0.0), (math.sqrt(3) / 2, 0.5)):
        assert not any(A <= cot <= A + B for cot in (0, 1 / math.sqrt(3), math.sqrt(3), math.inf))


def test_the_corners_of_that_cell() -> None:
    rays = corners(NARROW)
    assert len(rays) == 3
    assert all(y * sum(a * b for a, b in zip(n, x, strict=True)) >= 0 for n in rays for x, y in NARROW)
    # no direction of the grid is in the cone that they span
    inside = np.linalg.solve(np.array(rays, dtype=float).T, grid_directions(TWELFTHS).T)
    assert not (inside >= -1e-9).all(axis=0).any()


def test_two_points_are_only_missed_on_a_border() -> None:
    missed = set()
    for x, z in combinations(CUBE, 2):
        for y in product((-1, 1), repeat=2):
            S = Multiset.of(((x, y[0]), (z, y[1])))
            if agreements(TWELFTHS, 3, S).max() < best_agreement(S, 3):
                assert x == tuple(-c for c in z)
                assert y == (1, 1)
                missed.add(frozenset((x, z)))
    assert missed == {frozenset((x, tuple(-c for c in x))) for x in product((-1, 1), repeat=3)}
    assert frozenset(x for x, _ in OPPOSITE) in missed


def test_one_point_is_never_missed() -> None:
    for x in CUBE:
        for y in (-1, 1):
            assert agreements(TWELFTHS, 3, Multiset.of(((x, y),))).max() == 1


def test_the_guarantee_fails_for_certain() -> None:
    mechanism = halfspaces(TWELFTHS, 13)
    S = Multiset.counted(dict.fromkeys(NARROW, 7))
    goal = mechanism.utility(len(S))[0].goal
    assert sample(Trial(Fixed(S), mechanism, goal), (), 300, seed=2).counts == {False: 300}


# --- Lemma 16 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3])
def test_one_example_moves_a_quality_by_one(dimension: int) -> None:
    rng = np.random.default_rng(4)
    points = [tuple(x) for x in product((-1, 0, 1), repeat=dimension)]
    every = [(x, y) for x in points for y in (-1, 1)]
    furthest = 0
    for _ in range(150):
        drawn = [every[i] for i in rng.integers(len(every), size=5)]
        S, more = Multiset.of(drawn[:4]), Multiset.of(drawn)
        other = Multiset.of((*drawn[:3], drawn[4]))
        for prefix in ((), (int(rng.integers(13)),))[: dimension - 1]:
            for neighbour in (more, other):  # one example more, and one replaced
                gap = coordinate_quality(TWELFTHS, dimension, S, prefix) - coordinate_quality(
                    TWELFTHS, dimension, neighbour, prefix
                )
                furthest = max(furthest, int(np.abs(gap).max()))
    assert furthest == 1


def test_quality_by_hand() -> None:
    # φ₁ ∈ {0, π/2, π, 3π/2, 2π}: cos φ₁ < 0 at π alone
    assert coordinate_quality(QUARTERS, 3, Multiset.of(ONE)).tolist() == [0, 0, 1, 0, 0]
    assert agreements(QUARTERS, 3, Multiset.of(ONE), (2,)).tolist() == [1] * 5


# --- Algorithm 4 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sine", [QUARTERS, TWELFTHS, Fraction(1, 8)])
@pytest.mark.parametrize("i", [1, 2])
@pytest.mark.parametrize("angle", ["point", "border"])
@pytest.mark.parametrize("wrap", [False, True])
def test_an_example_counts_at_no_more_angles_than_said(sine: Fraction, i: int, angle: str, wrap: bool) -> None:
    for meant in ("plane", "prefix"):
        prefixes = [(j,) for j in range(0, AngleGrid(sine).size, 3)] if meant == "prefix" and i == 2 else [()]
        for prefix in prefixes:
            data = MakeHighDimData(1.0, sine, i, 3, angle, meant, wrap, prefix=prefix if meant == "prefix" else ())
            most = max(len(data.counted(x, y)) for x in CUBE for y in (-1, 1))
            assert most <= data.sensitivity


def test_corollary_18_exactly() -> None:
    x = (((1, 1, 1), 1),)
    for kind, needed in ((MakeHighDimData, 2.0), (MakeHighDimDataCorrected, 1.0)):
        mechanism = kind(1.0, QUARTERS, cap=4)
        assert mechanism.counted(*x[0]) == (0, 1)
        P, Q = law(mechanism, ()).as_dict(), law(mechanism, x).as_dict()
        assert max(abs(math.log(P[S_H] / Q[S_H])) for S_H in P) == pytest.approx(needed)


def test_near_by_hand() -> None:
    data = MakeHighDimData(1.0, QUARTERS)
    # the first angle of (1, 1, 1) is between 0 and π/2, that of (0, 1, 0) is π/2
    assert near(data, (1, 1, 1)) == (0, 1)
    assert near(data, (0, 1, 0)) == (1,)
    second = MakeHighDimData(1.0, QUARTERS, 2)
    assert near(second, (1, 0, 0)) == ()  # no second angle
    assert near(second, (0, 1, -1)) == (3, 4)
    assert near(MakeHighDimData(1.0, QUARTERS, 2, wrap=True), (0, 1, -1)) == (0, 3, 4)


# --- Theorem 21 ------------------------------------------------------------------------------------------------------


def by_hand(size: int, gamma: float, epsilon: float) -> float:
    """ln Pr[φ*_1 = 2π or the angle before] of no example over one: φ* is the last angle, or the last below 3π/2."""
    top, star = size - 1, math.ceil(3 * math.pi / (2 * gamma) - 1e-9) - 1
    weights = [math.fsum(math.exp(-epsilon / 2 * abs(j - best)) for j in range(size)) for best in (top, star)]
    return epsilon / 2 * (top - star) + math.log(weights[1] / weights[0])


@pytest.mark.parametrize(("sine", "least"), [(QUARTERS, 1.1), (TWELFTHS, 2.4), (FINE, 14.9)])
def test_one_example_moves_the_first_angle(sine: Fraction, least: float) -> None:
    grid = AngleGrid(sine)
    mechanism = FirstAngle(halfspaces(sine, grid.size))
    P, Q = law(mechanism, ()).as_dict(), law(mechanism, ONE).as_dict()
    last = grid.size - 1
    loss = math.log(P[last] / Q[last])
    assert loss == pytest.approx(by_hand(grid.size, grid.gamma, 1.0))
    assert loss > least > mechanism.claim.epsilon


@pytest.mark.parametrize("sine", [QUARTERS, TWELFTHS])
def test_that_example_counts_at_no_angle_in_any_reading(sine: Fraction) -> None:
    # so S_H has the same law with it and without, and all that moves is φ*_1; on the finer grid, literally
    assert MakeHighDimData(1.0, FINE).counted(*ONE[0]) == ()
    for i, angle, wrap in product((1, 2), ("point", "border"), (False, True)):
        assert MakeHighDimData(1.0, sine, i, 3, angle, "plane", wrap).counted(*ONE[0]) == ()
        prefix = (1,) * (i - 1)
        assert MakeHighDimData(1.0, sine, i, 3, angle, "prefix", wrap, prefix=prefix).counted(*ONE[0]) == ()


@pytest.mark.parametrize("label", READINGS)
def test_every_reading_is_refuted(label: str) -> None:
    mechanism = halfspaces(TWELFTHS, 13, **READINGS[label])
    P, Q = law(mechanism, ()).as_dict(), law(mechanism, ONE).as_dict()
    excess = max(math.fsum(max(0, A.get(o, 0) - math.e * B.get(o, 0)) for o in A) for A, B in ((P, Q), (Q, P)))
    assert excess > 0.1 > mechanism.claim.delta


def test_one_example_changes_which_half_spaces_come_out() -> None:
    """Finding 20's pair, with half-spaces as functions; the event was found with samples of other seeds."""
    runs, points = 600, np.array([(0, -1, 0), (0, 1, 4), (1, -4, 4), (1, 0, 0)])
    mechanism = AHighH(0.9, 0.01, Fraction(1, 32), QuickThresholds(0.9, 202, ahead=30), 90)
    hits = []
    for S in ((), ONE):
        hits.append(0)
        for (i, j), count in sample(mechanism, S, runs, seed=4).counts.items():
            first, second = i * math.asin(1 / 32), j * math.asin(1 / 32)
            normal = (math.cos(first), math.sin(first) * math.cos(second), math.sin(first) * math.sin(second))
            labels = points @ normal >= -1e-9
            hits[-1] += count * (labels.tolist() == [False, False, False, True])
    lower = clopper_pearson.epsilon_lower(hits[1], runs, hits[0], runs, delta=0.01, alpha=0.001)
    assert lower > 0.9


@pytest.mark.slow
def test_sampled_without_a_cap() -> None:
    mechanism = halfspaces(FINE, 155, cap=None)
    with_one, without = (
        sum(count for (first, _), count in sample(mechanism, S, 300, seed=6).counts.items() if first > 99)
        for S in (ONE, ())
    )
    assert without > 250
    assert with_one < 10


def test_largest_and_labels_by_hand() -> None:
    Q = np.array([2, 0, 2, 1])
    kept, others = largest(Q, (1, 3, 2, 1), 4)
    assert dict(kept) == {2: 2, 0: 1, 3: 1}
    assert others is not None
    assert list(others.values) == [1]
    # φ* = 2, the last of the best; 0, 2, 3 with the anchor 1 stand at 3, 1, 2
    assert labelled(Q, kept, 1, "last") == Multiset.counted({(3, 0): 1, (1, 1): 2, (2, 0): 1})
    assert labelled(Q, kept, 1, "least") == Multiset.counted({(3, 1): 1, (1, 1): 2, (2, 1): 1})
    assert largest(Q, (1, 1, 1, 1), 9)[1] is None


# --- corrected --------------------------------------------------------------------------------------------------------


def test_the_box_holds_every_face() -> None:
    B = reach(1, 3)
    box = np.array(list(product(range(-B, B + 1), repeat=3)))
    faces = np.unique(np.sign(box @ planes(1).T), axis=0)
    whole = faces[(faces != 0).all(axis=1)]
    assert len(whole) == cells(1)
    # Euler: a sphere cut into cells by circles has cells − edges + vertices = 2; and the origin is the last face
    # a face in no plane is left to `whole`: numpy 1.26 knows no rank of an empty matrix
    ranks = [np.linalg.matrix_rank(planes(1)[face == 0]) for face in faces if (face == 0).any()]
    edges, vertices = ranks.count(1), ranks.count(2)
    assert len(whole) - edges + vertices == 2
    assert len(faces) == len(whole) + edges + vertices + 1


@pytest.mark.parametrize("sample_", [NARROW, OPPOSITE])
def test_corrected_guarantee_where_the_grid_fails(sample_: tuple[tuple[tuple[int, ...], int], ...]) -> None:
    mechanism = AHighHCorrected(1.0, 1, 3, 0.3)
    n = mechanism.sample_sizes[0].records
    S = Multiset.counted({example: -(-n // len(sample_)) for example in sample_})
    guarantee = mechanism.utility(len(S))[0]
    outcome = sample(Trial(Fixed(S), mechanism, guarantee.goal), (), 400, seed=8).counts
    assert outcome.get(True, 0) >= 0.95 * 400


def test_corrected_law_by_hand_in_the_plane() -> None:
    mechanism = AHighHCorrected(1.0, 1, 2)
    assert mechanism.reach == 2
    P, Q = law(mechanism, ()).as_dict(), law(mechanism, (((1, 0), 1),)).as_dict()
    assert (0, 0) not in P
    # nothing to score: w_1 is uniform, and then w_2, which is not 0 where w_1 is
    assert P[(1, 0)] == pytest.approx(1 / 25)
    assert P[(0, 1)] == pytest.approx(1 / 20)
    assert max(abs(math.log(P[w] / Q[w])) for w in P) <= 1.0


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="angle"):
        MakeHighDimData(1.0, QUARTERS, angle="corner")
    with pytest.raises(ParameterError, match="i must"):
        MakeHighDimData(1.0, QUARTERS, 3)
    with pytest.raises(ParameterError, match="delta_prime"):
        halfspaces(QUARTERS, 3, budget="theorem", delta_prime=0.5)
    with pytest.raises(ParameterError, match="learner"):
        halfspaces(QUARTERS, 3).__class__(0.5, 0.01, QUARTERS, QuickThresholds(1.0, 5), 3)
    with pytest.raises(ParameterError, match="candidates"):
        AHighHCorrected(1.0, 9)
    with pytest.raises(DatasetError):
        law(halfspaces(QUARTERS, 3), (((1, 0), 1),))
    with pytest.raises(DatasetError):
        box_agreements(1, 3, Multiset.of((((2, 0, 0), 1),)))


@pytest.mark.parametrize("dimension", [2, 4])
def test_other_dimensions(dimension: int) -> None:
    mechanism = halfspaces(QUARTERS, 5, dimension=dimension)
    S = (((1,) * dimension, 1), ((0, 1, *(0,) * (dimension - 2)), -1))
    (output, *_) = sample(mechanism, S, 20, seed=1).counts
    assert len(output) == dimension - 1


@dataclass(frozen=True)
class PlainCounts(MakeHighDimData):
    """As many copies of each angle as the counts give, without noise."""

    def run(self, S: Any) -> Any:
        return tuple(max(count, 1) for count in self.counts(S))


@dataclass(frozen=True)
class WithoutNoise(AHighH):
    """A_HighH on such copies: then it has a law."""

    def data(self, i: int, prefix: tuple[int, ...]) -> MakeHighDimData:
        d = super().data(i, prefix)
        return PlainCounts(d.epsilon, d.sine, d.i, d.dimension, d.angle, d.meant, d.wrap, d.cap, d.prefix)


@pytest.mark.parametrize(
    ("readings", "success"),
    [
        ({}, 0.287728),
        ({"removed": "counted"}, 0.395319),
        ({"removed": "none"}, 0.399651),
        ({"angle": "border"}, 0.419406),
        ({"meant": "prefix"}, 0.287728),
    ],
)
def test_it_need_not_learn_where_the_grid_holds_the_answer(readings: dict[str, str], success: float) -> None:
    """Finding 19, at n = 120."""
    subject = WithoutNoise(1.0, 0.01, TWELFTHS, QuickThresholds(1.0, 13), 111, **readings)  # type: ignore[arg-type]
    S = Multiset.counted(dict.fromkeys(EXPLAINED, 40))
    right = agreements(TWELFTHS, 3, S)
    assert right.max() == 120
    found = law(subject, S).as_dict()
    assert math.fsum(p for angles, p in found.items() if right[angles] >= 108) == pytest.approx(success, abs=1e-6)
