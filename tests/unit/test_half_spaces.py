"""MakeData and MakeThrData: which angles examples count at, what that costs, and which angles no grid holds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import get_args

import numpy as np
import pytest
from flint import arb, fmpq
from scipy import stats

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.interpret import align, law, sample
from dpaudit.interpret.enclosures import probabilities
from dpaudit.language import Instance, Laplace, Multiset, NoisyCopies
from dpaudit.plans.plan import Seen
from dpaudit_algorithms.half_spaces.angles import AngleGrid
from dpaudit_algorithms.half_spaces.half_spaces import (
    Angle,
    HoldsBest,
    MakeData,
    MakeDataCorrected,
    MakeThrData,
    agreeing,
    best_quality,
    directions,
    examples,
    qualities,
)
from dpaudit_audits.half_spaces.half_space_figures import angles_of
from dpaudit_audits.half_spaces.half_spaces import (
    COARSE,
    DIAGONAL,
    DOMAIN,
    UNIT,
    borderline,
    narrow,
    near,
    one,
    survives,
)

NONE = Multiset.of([])


def worst_loss(mechanism: object, left: object, right: object) -> float:
    """ε at δ = 0, exactly up to doubles."""
    _, p, q = align(law(mechanism, left), law(mechanism, right))  # type: ignore[arg-type]
    return float(np.abs(np.log(p / q)).max())


def divergence(mechanism: object, left: object, right: object, epsilon: float) -> float:
    """δ at ε, the worse direction."""
    _, p, q = align(law(mechanism, left), law(mechanism, right))  # type: ignore[arg-type]
    grown = math.exp(epsilon)
    return float(max(np.maximum(p - grown * q, 0).sum(), np.maximum(q - grown * p, 0).sum()))


# --- noisy copies ----------------------------------------------------------------------------------------------------


def test_law_of_noisy_copies() -> None:
    copies = NoisyCopies((0, 3), 2.0, 4)
    single = [Laplace(n, 2.0).ceil().clip(1, 4) for n in (0, 3)]
    assert copies.finite
    assert len(copies.values) == len(copies.probs) == 16
    for (a, b), p in zip(copies.values, copies.probs.tolist(), strict=True):
        assert p == pytest.approx(single[0].probs[a - 1] * single[1].probs[b - 1])
    for p, exact in zip(copies.probs.tolist(), probabilities(copies), strict=True):
        assert abs(float(exact.mid()) - p) < 1e-14
    # by hand: max(⌈0 + Lap(2)⌉, 1) is 1 where the noise is at most 1
    assert copies.probs[:4].sum() == pytest.approx(1 - math.exp(-1 / 2) / 2)


def test_draws_of_noisy_copies_follow_their_law() -> None:
    copies = NoisyCopies((0, 2), 1.0, 3)
    drawn_ones = NoisyCopies((0, 2), 1.0).grouped(np.random.default_rng(5), 100_000)
    seen = dict.fromkeys(copies.values, 0)
    for (a, b), times in drawn_ones:
        assert min(a, b) >= 1
        seen[min(a, 3), min(b, 3)] += times
    # false alarms 1e-6
    assert stats.chisquare(list(seen.values()), copies.probs * 100_000).pvalue > 1e-6
    assert NoisyCopies((0,) * 5000, 1.0).draw(np.random.default_rng(1), 3).shape == (3, 5000)


def test_noisy_copies_refuse() -> None:
    assert not NoisyCopies((0,) * 64, 1.0, 2).finite
    assert not NoisyCopies((0,), 1.0).finite
    with pytest.raises(ParameterError):
        NoisyCopies((), 1.0)
    with pytest.raises(ParameterError):
        NoisyCopies((0,), 0.0)
    with pytest.raises(ParameterError):
        NoisyCopies((0,), 1.0, 0)
    with pytest.raises(ParameterError):
        _ = NoisyCopies((0,), 1.0).parts


# --- where an example counts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", get_args(Angle))
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("sine", [UNIT, COARSE, Fraction(1, 8), Fraction(3, 5), Fraction(2, 7)])
def test_counted_by_balls(sine: Fraction, angle: str, wrap: bool) -> None:
    mechanism, grid = MakeData(1.0, sine, angle, wrap), AngleGrid(sine)
    gamma, turn = arb(fmpq(sine.numerator, sine.denominator)).asin(), 2 * arb.pi()
    shifts = {"point": (0,), "border": (1,), "borders": (1, -1)}[angle]
    for x in product(range(-3, 4), repeat=2):
        if not any(x):
            continue
        expected: dict[int, set[int]] = {1: set(), -1: set()}
        for shift, i in product(shifts, range(grid.size)):
            z = {0: x, 1: (-x[1], x[0]), -1: (x[1], -x[0])}[shift]
            phi = arb.atan2(arb(z[1]), arb(z[0])) + (turn if z[1] < 0 else 0)
            gap = abs(phi - i * gamma)
            # an interval around γ itself is a distance of γ, which is not below it
            if gap < gamma or (wrap and abs(turn - gap) < gamma) or (wrap and not abs(turn - gap) > gamma / 2):
                expected[int(grid.labels(x)[i])].add(i)
        for y in (1, -1):
            assert set(mechanism.counted(x, y)) == expected[y], (x, y)


def test_sensitivity_of_every_reading() -> None:
    # by hand on {−k, …, k}²; "point" on the circle counts at three only where a point has an angle in (0, γ)
    printed = {"point": (2, 2), "border": (1, 2), "borders": (2, 3)}
    for angle, k in product(get_args(Angle), (1, 2, 3, 6)):
        found = tuple(MakeData(1.0, Fraction(1, 2 * k * k), angle, wrap).sensitivity_on(k) for wrap in (False, True))
        assert found == printed[angle]
    for angle, wrap in product(get_args(Angle), (False, True)):
        for sine in (COARSE, UNIT, Fraction(1, 8), Fraction(3, 5)):
            reading = MakeData(1.0, sine, angle, wrap)
            assert reading.sensitivity_on(5) <= reading.sensitivity
        assert max(MakeData(1.0, s, angle, wrap).sensitivity_on(5) for s in (COARSE, UNIT)) == reading.sensitivity


def test_the_origin_counts_nowhere() -> None:
    assert MakeData(1.0, UNIT).counts([((0, 0), 1), ((0, 0), -1)]) == (0,) * 13
    assert MakeData(1.0, UNIT).counts([DIAGONAL] * 3)[1:3] == (3, 3)


# --- Lemma 12, privacy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
def test_lemma_12_needs_twice_epsilon(epsilon: float) -> None:
    mechanism, pair = MakeData(epsilon, UNIT, cap=2), one(DIAGONAL)
    # by hand: both counts are at least 2 with probability (e^−ε/2)² and 1/4; δ at ε is (1 − e^−ε)/4
    both = law(mechanism, NONE).probability(lambda S_H: min(S_H[1:3]) == 2)
    assert both == pytest.approx(math.exp(-2 * epsilon) / 4)
    assert law(mechanism, pair.right).probability(lambda S_H: min(S_H[1:3]) == 2) == pytest.approx(1 / 4)
    assert worst_loss(mechanism, pair.left, pair.right) == pytest.approx(2 * epsilon)
    assert divergence(mechanism, pair.left, pair.right, epsilon) == pytest.approx((1 - math.exp(-epsilon)) / 4)
    # where nothing differs, nothing is lost: the angles near the example tell as much
    assert divergence(near(mechanism, DIAGONAL), pair.left, pair.right, epsilon) == pytest.approx(
        (1 - math.exp(-epsilon)) / 4
    )


@pytest.mark.slow
def test_lemma_12_sampled_as_printed() -> None:
    # k = 1, no bound on copies; false alarms 6e-7 each
    runs = 200_000
    for side, p in ((NONE, math.exp(-2) / 4), (Multiset.of([DIAGONAL]), 1 / 4)):
        outputs = sample(MakeData(1.0, UNIT), side, runs, seed=3).counts
        hits = sum(times for S_H, times in outputs.items() if min(S_H[1:3]) >= 2)  # type: ignore[index]
        assert abs(hits / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


@pytest.mark.parametrize("angle", get_args(Angle))
@pytest.mark.parametrize("wrap", [False, True])
def test_which_readings_keep_lemma_12(angle: str, wrap: bool) -> None:
    losses = {}
    for kind in (MakeData, MakeDataCorrected):
        mechanism = kind(1.0, COARSE, angle, wrap, 2)
        losses[kind] = max(worst_loss(mechanism, NONE, Multiset.of([example])) for example in DOMAIN)
    assert (losses[MakeData] <= 1 + 1e-12) == survives(angle, wrap)
    assert losses[MakeData] == pytest.approx(MakeData(1.0, COARSE, angle, wrap).sensitivity_on(1))
    assert losses[MakeDataCorrected] <= 1 + 1e-12


# --- Lemma 12, utility -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [*range(1, 9), 20])
def test_no_angle_of_the_grid_is_best_on_a_border(k: int) -> None:
    sine, S = Fraction(1, 2 * k * k), borderline(10)
    assert best_quality(S) == 10
    assert qualities(sine, S).max() == qualities(sine, S).min() == 5


@pytest.mark.parametrize("k", [*range(1, 9), 20])
def test_every_arc_holds_an_angle_of_the_grid(k: int) -> None:
    # the narrowest arcs of the grid, one after the other around the circle
    sine, around = Fraction(1, 2 * k * k), directions(k)[::2]
    step = max(1, len(around) // 64)
    for v, w in list(zip(around, around[1:] + around[:1], strict=True))[::step]:
        S = Multiset.of([(w, 1), ((-v[0], -v[1]), 1)])
        assert best_quality(S) == 2
        assert qualities(sine, S).max() == 2
    assert qualities(sine, Multiset.of(narrow(k))).max() == 2


def test_the_goal_of_lemmas_12_and_13() -> None:
    goal, S = HoldsBest(UNIT), borderline(2)
    assert not goal.reached(Instance(S), (1,) * 13)
    assert goal.reached(Instance(Multiset.of([DIAGONAL])), (1,) * 13)
    # no half-space explains it; and a point that is too far out for this γ
    assert goal.reached(Instance(Multiset.of([DIAGONAL, ((1, 1), -1)])), (1,) * 13)
    assert goal.reached(Instance(Multiset.of([((2, 2), 1), ((-2, -2), 1)])), (1,) * 13)
    (anchor, S_Thr), = sample(MakeThrData(UNIT, 3), ((1,) * 13, S), 1, seed=1).counts
    assert not goal.reached(Instance(((1,) * 13, S)), (anchor, S_Thr))


# --- qualities -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3])
def test_directions_are_all_ways_to_label(k: int) -> None:
    points = list(product(range(-k, k + 1), repeat=2))

    def labels(u: float, v: float) -> tuple[bool, ...]:
        return tuple(u * x + v * y >= 0 for x, y in points)

    found = [labels(*w) for w in directions(k)]
    assert len(set(found)) == len(found)
    # whole normals from a much finer grid
    finer = {labels(u, v) for u, v in product(range(-6 * k, 6 * k + 1), repeat=2) if (u, v) != (0, 0)}
    assert finer == set(found)
    half = len(found) // 2
    assert [(-u, -v) for u, v in directions(k)[:half]] == list(directions(k)[half:])


def test_qualities_count_right_labels() -> None:
    S = Multiset.counted({((1, 2), 1): 3, ((-1, 0), -1): 2, ((0, 1), -1): 1})
    for i, q in enumerate(qualities(Fraction(1, 8), S).tolist()):
        n = (math.cos(i * math.asin(1 / 8)), math.sin(i * math.asin(1 / 8)))
        right = [(1 if n[0] * x[0] + n[1] * x[1] >= -1e-12 else -1) == y for (x, y), _ in S.items]
        assert q == sum(count for (_, count), good in zip(S.items, right, strict=True) if good)
    assert agreeing(S, (1, 0)) == 3 + 2
    assert best_quality(S) == 6


# --- MakeThrData -----------------------------------------------------------------------------------------------------


def test_threshold_data_by_hand() -> None:
    # q is 1 at the angles 1 … 5 of thirteen, 0 elsewhere: max_7 is 1 … 5, 12, 11; the others are 0, 6 … 10
    S, S_H = [((0, -1), -1)], (1,) * 13
    found = law(MakeThrData(UNIT, 7), (S_H, S)).as_dict()
    assert {anchor for anchor, _ in found} == {0, 6, 7, 8, 9, 10}  # type: ignore[misc]
    assert all(p == pytest.approx(1 / 6) for p in found.values())
    by_anchor: dict[int, Multiset] = dict(tuple(found))  # type: ignore[arg-type]
    # from 6 on: 11 and 12 are the 5th and 6th, 1 … 5 the 8th to 12th, and φ* = 5 is the last
    assert by_anchor[6] == Multiset.of([(j, 1) for j in (5, 6, 8, 9, 10, 11, 12)])
    # from 0 on: 11 and 12 lie beyond φ*
    assert by_anchor[0] == Multiset.of([*((j, 1) for j in range(1, 6)), (11, 0), (12, 0)])
    least = dict(tuple(law(MakeThrData(UNIT, 7, "least"), (S_H, S)).as_dict()))  # type: ignore[arg-type]
    assert least[0] == Multiset.of([(1, 1), *((j, 0) for j in (2, 3, 4, 5, 11, 12))])


def test_threshold_data_counts_copies() -> None:
    S_H = (3, 1, 1, 1, 5)
    # nothing is known: the largest angles come first, with their copies
    found = dict(tuple(law(MakeThrData(COARSE, 7), (S_H, [])).as_dict()))  # type: ignore[arg-type]
    assert found[0] == Multiset.counted({(4, 1): 5, (3, 1): 1, (2, 1): 1})
    chosen = law(MakeThrData(COARSE, 7), (S_H, [])).as_dict()
    assert sorted(p for p in chosen.values()) == pytest.approx([1 / 4, 3 / 4])
    # none is left: no rotation
    assert [anchor for anchor, _ in law(MakeThrData(COARSE, 11), (S_H, [])).as_dict()] == [0]  # type: ignore[misc]
    assert [anchor for anchor, _ in law(MakeThrData(COARSE, 99), (S_H, [])).as_dict()] == [0]  # type: ignore[misc]


@pytest.mark.parametrize("ties", ["last turned", "least turned"])
def test_ties_after_the_rotation(ties: str) -> None:
    S = [((0, 1), 1), ((-1, 0), 1)]
    for anchor, S_Thr in law(MakeThrData(UNIT, 9, ties), ((1,) * 13, S)).as_dict():  # type: ignore[misc]
        best = [j for j, _ in S_Thr.values if qualities(UNIT, examples(S))[(anchor + j) % 13] == 2]
        star = max(best) if ties == "last turned" else min(best)
        assert all(y == (j <= star) for j, y in S_Thr.values)


# --- the rest --------------------------------------------------------------------------------------------------------


def test_the_drawing_has_the_examples_the_best_angles_and_the_angles_returned() -> None:
    pair = one(DIAGONAL)
    drawing = angles_of(UNIT)(Seen(pair, "exact", [0, 3, 4], [0.5, 0.5, 0.0], [0.1, 0.0, 0.9], [False, False, True]))
    assert drawing is not None
    records, dial = drawing.panels
    assert records.title == "Examples: 0 in D, 1 in D′"
    labels = [layer.label for layer in records.layers]
    assert labels == ["label 1", "differs", "", "φ*, D", "φ*, D′"]
    assert (records.layers[0].x, records.layers[0].y) == ([1.0], [1.0])
    # the last angle, 360°, is right on the example: φ* is the same on both sides
    tips = [(layer.x[1], layer.y[1]) for layer in records.layers[3:]]
    assert tips[0] == pytest.approx((0.8, 0.0), abs=1e-9)
    assert tips[1] == pytest.approx((0.8, 0.0), abs=1e-9)
    assert [layer.label for layer in dial.layers if layer.label] == ["D (outward)", "D′ (inward)", "event"]
    assert "0 under D and 0.9 under D′" in drawing.description
    assert angles_of(UNIT)(Seen(pair, "")) is None
    assert angles_of(None).angle((0, 5)) == pytest.approx(math.pi / 2)  # type: ignore[attr-defined]



def test_every_small_sample_of_the_plan_is_one_that_half_spaces_explain() -> None:
    for k in (1, 2, 5):
        assert best_quality(Multiset.of(narrow(k))) == 2
    assert sum(best_quality(Multiset.of(S)) == 2 for S in combinations_with_replacement(DOMAIN, 2)) > 100


def test_bad_input() -> None:
    with pytest.raises(ParameterError):
        MakeData(1.0, Fraction(3, 2))
    with pytest.raises(ParameterError, match="angle"):
        MakeData(1.0, UNIT, "normal")
    with pytest.raises(ParameterError, match="ties"):
        MakeThrData(UNIT, 3, "first")
    with pytest.raises(ParameterError):
        MakeThrData(UNIT, 0)
    for record in (((1, 1), 0), ((1.0, 1), 1), (1, 1), ((1, 1, 1), 1)):
        with pytest.raises(DatasetError):
            law(MakeData(1.0, COARSE, cap=2), [record])
