"""The baselines: what they output, that they learn, and that one record gives them away."""

from __future__ import annotations

import math
from statistics import median_low
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_delta, exact_epsilon

from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, DatasetError, Mechanism, ParameterError, Trial
from dpaudit_algorithms.interior_points.interior_point_baselines import Median
from dpaudit_algorithms.pac.concepts import Examples, GeneralisationError, Truth
from dpaudit_algorithms.pac.non_private import ConsistentThreshold, EmpiricalRiskMinimizer, ListedConcepts, thresholds


def output(mechanism: Mechanism, S: tuple[Any, ...]) -> Any:
    (only,) = sample(mechanism, S, 1).counts
    return only


def test_empirical_risk_minimizer() -> None:
    mechanism = EmpiricalRiskMinimizer(thresholds(4))
    assert output(mechanism, ((1, 1), (3, 0))) == 1  # c₁ and c₂ are consistent, the first wins
    assert output(mechanism, ((0, 0), (3, 1))) == 3  # none is: c₀, c₁ and c₂ err twice, c₃ once
    assert output(mechanism, ()) == 0


def test_least_error_where_nothing_is_consistent() -> None:
    S = ((0, 0), (1, 1), (2, 1), (3, 0))
    errors = [sum(h[x] != y for x, y in S) for h in thresholds(4)]
    assert output(EmpiricalRiskMinimizer(thresholds(4)), S) == errors.index(min(errors)) == 2


def test_median_is_the_lower_median() -> None:
    rng = np.random.default_rng(1)
    for n in range(1, 12):
        S = tuple(rng.integers(0, 6, n).tolist())
        assert output(Median(), S) == median_low(S)
    with pytest.raises(DatasetError):
        output(Median(), ())


def test_consistent_threshold() -> None:
    mechanism = ConsistentThreshold(8)
    assert output(mechanism, ((1, 1), (4, 1), (6, 0))) == 4
    assert output(mechanism, ((6, 0),)) == 0
    assert output(mechanism, ((4, 0), (6, 1))) is BOTTOM
    assert output(mechanism, ((0, 0),)) is BOTTOM  # every threshold labels 0 with 1


def test_theorem_2_1_measured() -> None:
    # |H|·e^{−n/4} ≤ 1/4 bounds the failures; 400 samples, five standard deviations: false alarms below 6e-7
    mechanism = EmpiricalRiskMinimizer(thresholds(8))
    n = math.ceil(4 * math.log(4 * 8))
    rng = np.random.default_rng(6)
    failures = 0
    for _ in range(400):
        xs = rng.integers(0, 8, n)
        j = output(mechanism, tuple((int(x), int(x <= 3)) for x in xs))
        failures += abs(j - 3) / 8 > 0.25
    assert failures <= 100 + 5 * math.sqrt(400 * 0.25 * 0.75)


@pytest.mark.parametrize(
    ("mechanism", "left", "right"),
    [
        (EmpiricalRiskMinimizer(), ((1, 1),), ((5, 1),)),
        (ConsistentThreshold(8), ((1, 1),), ((5, 1),)),
        (Median(), (0,), (9,)),
    ],
)
def test_one_record_gives_it_away(mechanism: Mechanism, left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    assert exact_epsilon(mechanism, left, right, 1e-6) == math.inf
    assert exact_delta(mechanism, left, right, 50.0) == 1.0


@pytest.mark.parametrize(
    "bad",
    [
        lambda: EmpiricalRiskMinimizer(()),
        lambda: EmpiricalRiskMinimizer(((0, 1), (1,))),
        lambda: EmpiricalRiskMinimizer(((0, 2),)),
        lambda: ConsistentThreshold(0),
        lambda: thresholds(0),
    ],
)
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(ParameterError):
        bad()


# --- utility --------------------------------------------------------------------------------------------------------


def learned(mechanism: EmpiricalRiskMinimizer, truth: Truth, n: int) -> float:
    """Probability of error ≤ 1/4, exactly."""
    goal = GeneralisationError(mechanism.concepts, 0.25)
    return law(Trial(Examples(mechanism.concepts, truth, n), mechanism, goal), ()).probability(bool)


@pytest.mark.parametrize("n", [1, 5, 10, 14, 20])
def test_theorem_2_1_by_hand(n: int) -> None:
    # c_0 comes first, and is wrong on one point of mass 0.251
    mechanism = EmpiricalRiskMinimizer()
    found = learned(mechanism, Truth((0, 1), (749, 251), 1), n)
    assert found == pytest.approx(1 - 0.749**n)
    assert found >= mechanism.utility(n)[0].probability == max(0, 1 - 8 * math.exp(-n / 4))


def test_theorem_2_2_worst_order() -> None:
    # both ends come before the target, and each is wrong on just over a quarter
    mechanism = EmpiricalRiskMinimizer(((0, 1, 1, 1), (0, 0, 0, 1), (0, 0, 1, 1)))
    for n, enough in ((7, False), (8, True), (10, True)):
        found = learned(mechanism, Truth((0, 1, 2), (498, 251, 251), 2), n)
        assert found == pytest.approx(1 - 2 * 0.749**n + 0.498**n)
        assert (found >= 0.75) == enough
    limit = 1 - 2 * 0.75**10 + 0.5**10  # as both ends come down to a quarter
    assert limit == pytest.approx(0.888349, abs=1e-6)


def test_sample_sizes_of_the_risk_minimizer() -> None:
    assert [size.records for size in EmpiricalRiskMinimizer().sample_sizes] == [14, 10]
    assert [size.records for size in EmpiricalRiskMinimizer(((0, 1, 0), (1, 0, 1))).sample_sizes] == [9]
    assert EmpiricalRiskMinimizer(((0, 1, 0), (1, 0, 1))).utility(20)[0].probability == 1 - 2 * math.exp(-5)


def test_vc_dimension_of_a_list() -> None:
    assert ListedConcepts(thresholds(5)).vc == 1
    assert ListedConcepts(((0, 1),)).vc == 0
    assert ListedConcepts(tuple((a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1))).vc == 3
    assert ListedConcepts(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0))).vc == 2
