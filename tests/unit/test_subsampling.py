"""Subsampling with replacement: Lemma 7.19, every inequality of its proof, and when (ε, δ) itself is kept."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import pytest
from numpy.random import default_rng
from scipy import stats

from dpaudit.interpret import law, sample
from dpaudit.language import (
    ADD_REMOVE_ONE,
    BOTTOM,
    Claim,
    DatasetError,
    Multinomial,
    Multiplicity,
    Multiset,
    ParameterError,
)
from dpaudit_algorithms.foundations.a_dist import ADist
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.foundations.subsampling import Subsampled, kept, least_rows, tight_claim
from dpaudit_algorithms.interior_points.interior_point_baselines import Median
from dpaudit_audits.foundations.subsampling import Overclaiming

EPSILONS = (1e-6, 1e-3, 0.1, 0.25, 0.5, 0.75, 1.0)
SIZES = [
    (m, n) for m in (1, 2, 3, 5, 10, 100, 10_000) for n in sorted({2 * m, 2 * m + 1, 3 * m, 9 * m, 100 * m}) if n >= 2
]


def ones(rows: int, count: int) -> Multiset:
    return Multiset.counted({0: rows - count, 1: count})


def says_true(mechanism: Subsampled, count: int) -> float:
    return law(mechanism, ones(mechanism.n, count)).as_dict().get(True, 0.0)


# --- the proof's inequalities, one after the other -------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_inequality_of_the_proof(epsilon: float) -> None:
    u, v = math.expm1(epsilon), -math.expm1(-epsilon)
    assert u * v == pytest.approx(u - v)
    for m, n in SIZES:
        up, down = m * math.log1p(u / n), m * math.log1p(-v / n)  # ln A₊^m, ln A₋^m
        # m·ln(A₊/A₋) ≤ 2·sinh(ε)·m/n ≤ 6εm/n
        assert up - down <= 2 * math.sinh(epsilon) * m / n * (1 + 1e-12) <= 6 * epsilon * m / n
        # A₋^m ≥ exp(−2v·m/n) and A₊^m ≤ exp(u·m/n)
        assert down >= -2 * v * m / n
        assert up <= u * m / n
        # both fractions at most 2m/n
        assert -math.expm1(-2 * v * m / n) / v <= 2 * m / n
        assert math.expm1(u * m / n) / u <= 2 * m / n
        # e^{6εm/n}·2m/n + 2m/n ≤ e^{6εm/n}·4m/n, and all of it against what was there before
        tight = tight_claim(Claim(epsilon, 1e-9), m, n)
        assert tight.delta <= math.exp(6 * epsilon * m / n) * 4 * m / n * 1e-9 / 2 * (1 + 1e-9)


def test_how_large_the_printed_constants_have_to_be() -> None:
    ratios = [tight_claim(Claim(e), m, n).epsilon / (e * m / n) for e, (m, n) in product(EPSILONS, SIZES)]
    assert max(ratios) <= 2 * math.sinh(1)
    assert max(ratios) > 2.350  # the printed constant is 6
    assert 6 / (2 * math.sinh(1)) == pytest.approx(2.5528, abs=1e-4)


# --- what is attained ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), [(1, 2), (3, 6), (4, 20), (20, 40)])
@pytest.mark.parametrize(("delta", "start"), [(0.0, 1e-12), (1e-12, 0.0), (1e-12, 1e-12)])
def test_7_2_is_attained_and_7_3_holds(m: int, n: int, delta: float, start: float) -> None:
    mechanism = Subsampled(GroupPrivacy(1.0, delta, start), m, n)
    up = (1 + math.expm1(1) / n) ** m
    assert says_true(mechanism, 0) == start
    assert says_true(mechanism, 1) == pytest.approx(start * up + (up - 1) / math.expm1(1) * delta, rel=1e-9)
    # from all ones, one fewer: q_k falls; (7.3) as printed lacks a factor e^{−ε} before δ, to the safe side
    down = (1 - (1 - math.exp(-1)) / n) ** m
    full, less = says_true(mechanism, n), says_true(mechanism, n - 1)
    printed = full * down - (1 - down) / (1 - math.exp(-1)) * delta
    assert less >= printed - 1e-15
    if full < 1e-3:  # where p(s) still grows by its first term
        assert less == pytest.approx(full * down - math.exp(-1) * (1 - down) / (1 - math.exp(-1)) * delta, rel=1e-9)


def test_claims_by_hand() -> None:
    mechanism = Subsampled(GroupPrivacy(0.5, 1e-6), 10, 40)
    assert mechanism.claim == Claim(0.75, math.exp(0.75) * 1e-6)
    assert mechanism.claim.delta < 4 * mechanism.tight.delta
    assert mechanism.tight.implies(mechanism.claim)
    assert tight_claim(Claim(0.0, 0.01), 3, 6) == Claim(0.0, 0.01)
    assert mechanism.sample_sizes[0].records == 20


def test_sampled_as_exactly() -> None:
    mechanism = Subsampled(GroupPrivacy(1.0, 0.0, 1e-3), 20, 40)
    expected = 1e-3 * (1 + math.expm1(1) / 40) ** 20
    hits = sample(mechanism, ones(40, 1), 2_000_000, seed=1).counts[True]
    # five standard deviations: false alarms 6e-7
    assert abs(hits / 2e6 - expected) < 5 * math.sqrt(expected / 2e6)


@pytest.mark.slow(only=["3"])
@pytest.mark.parametrize("size", [3, 20])
def test_few_samples_counted_by_their_law_and_many_drawn_one_by_one(size: int) -> None:
    # 21 and 231 different samples are counted where there are as many runs; both ways follow the same law
    draw, runs = Multinomial((0, 1, 2), (5, 3, 2), size), 200_000
    for found in (draw.grouped(default_rng(1), runs), Counter(draw.draw(default_rng(2), runs)).items()):
        counts = dict(found)
        assert sum(counts.values()) == runs
        expected = {s: float(p) * runs for s, p in draw.fractions().items()}
        large = [s for s in expected if expected[s] >= 20]
        statistic = sum((counts.get(s, 0) - expected[s]) ** 2 / expected[s] for s in large)
        # false alarms: 1e-6 each
        assert stats.chi2.sf(statistic, len(large)) > 1e-6


def test_order_of_the_rows_does_not_matter() -> None:
    mechanism = Subsampled(DominatingMechanism(1.0, 0.01), 2, 4)
    assert law(mechanism, (1, 0, 0, 1)).as_dict() == law(mechanism, (0, 0, 1, 1)).as_dict()


# --- inner mechanisms that claim too much ----------------------------------------------------------------------------


def test_a_dist_as_printed_breaks_through_the_slack() -> None:
    inner = ADist(1.0, math.exp(-30), Multiplicity((0, 1)))
    mechanism = Subsampled(inner, 64, 128)
    laws = [law(mechanism, ones(128, count)).as_dict() for count in (0, 1)]
    p, q = laws[0][BOTTOM], laws[1][BOTTOM]
    assert q > math.exp(mechanism.claim.epsilon) * p + mechanism.claim.delta
    assert math.log(q / p) == pytest.approx(64 * math.log1p(math.expm1(2) / 128), rel=1e-3)


# --- when (ε, δ) itself is kept --------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0, 3.4, 6.0])
def test_least_rows_is_least_and_attained(m: int, epsilon: float) -> None:
    n = least_rows(epsilon, m)
    assert kept(epsilon, m, n)
    assert n == 1 or not kept(epsilon, m, n - 1)
    # the worst mechanism, pure and with a leak, at the least n and at one row fewer
    for rows, holds in ((n, True), (n - 1, False)):
        if rows < 1:
            continue
        start = 1e-12 * math.exp(-epsilon * m)
        up = math.exp(m * math.log1p(math.expm1(epsilon) / rows))
        assert (start * up <= math.exp(epsilon) * start * (1 + 1e-12)) == holds
        assert ((up - 1) / math.expm1(epsilon) <= 1 + 1e-12) == holds


def test_two_draws_of_eighteen_rows() -> None:
    # (17 + e^ε)² = 324·e^ε at e^ε = 1 and at e^ε = 289
    assert kept(math.log(289) - 1e-9, 2, 18)
    assert not kept(math.log(289) + 1e-9, 2, 18)


# --- bad input -------------------------------------------------------------------------------------------------------


def test_bad_input() -> None:
    inner = GroupPrivacy(1.0, 0.0, 0.1)
    with pytest.raises(ParameterError, match="n must be at least 2m = 6"):
        Subsampled(inner, 3, 5)
    with pytest.raises(ParameterError, match="m must be at least 1"):
        Subsampled(inner, 0, 5)
    with pytest.raises(ParameterError, match="epsilon ≤ 1"):
        Subsampled(GroupPrivacy(1.1, 0.0, 0.1), 2, 5)
    with pytest.raises(ParameterError, match="claims nothing"):
        Subsampled(Median(), 2, 5)
    for claim in (Claim(1.0, relation=ADD_REMOVE_ONE), Claim.zcdp(0.1, epsilon=1.0), Claim(1.0).group(2)):
        with pytest.raises(ParameterError, match="under replace-one"):
            Subsampled(Overclaiming(inner, claim), 2, 5)
    with pytest.raises(DatasetError, match="n = 6 rows"):
        law(Subsampled(inner, 3, 6), ones(7, 1))
    with pytest.raises(ParameterError, match="epsilon"):
        least_rows(701.0, 2)
