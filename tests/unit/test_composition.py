"""Composition, group privacy and post-processing at their worst case, against independent sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_delta, exact_epsilon
from scipy.stats import binom

from dpaudit.interpret import law
from dpaudit.language import DatasetError, Multiset, ParameterError
from dpaudit_algorithms.foundations.composition import (
    AdvancedComposition,
    BasicComposition,
    Concatenation,
    Interactions,
)
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.foundations.post_processing import PostProcessing
from dpaudit_algorithms.interior_points.interior_point_baselines import Median

ZERO, ONE = (0,), (1,)


@pytest.mark.parametrize("at", [0.0, 0.3, 0.7, 1.0, 1.5])
def test_dominating_mechanism_attains_the_whole_profile(at: float) -> None:
    mechanism = DominatingMechanism(1.0, 0.03)
    assert exact_delta(mechanism, ZERO, ONE, at) == pytest.approx(mechanism.claim.delta_at(at), abs=1e-15)


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(0.3, 0.01, 1), (0.3, 0.01, 5), (0.1, 1e-6, 30)])
def test_interactions_have_the_law_of_the_whole_transcript(epsilon: float, delta: float, k: int) -> None:
    # without a leak the number of "likely 1" is binomial; the profile of k-fold composition follows as a plain sum
    mechanism = Interactions(DominatingMechanism(epsilon, delta), k)
    exact = law(mechanism, ONE).as_dict()
    stays = (1 - delta) ** k
    for c in range(k + 1):
        assert exact[(c,)] == pytest.approx(stays * binom.pmf(c, k, 1 / (1 + math.exp(-epsilon))))
    assert exact[("surely 1",)] == pytest.approx(1 - stays)
    for at in (0.0, k * epsilon / 2, k * epsilon):
        c = np.arange(k + 1)
        one, zero = (binom.pmf(c, k, 1 / (1 + math.exp(s * epsilon))) for s in (-1, 1))
        predicted = 1 - stays + stays * np.maximum(0, one - math.exp(at) * zero).sum()
        assert exact_delta(mechanism, ZERO, ONE, at) == pytest.approx(predicted, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("size", [2, 3])
def test_groups_of_records_answer_independently(size: int) -> None:
    pure, leaking = DominatingMechanism(0.5), DominatingMechanism(0.5, 0.01)
    left, right = ZERO * size, ONE * size
    assert exact_epsilon(pure, left, right, 0.0) == pytest.approx(0.5 * size)
    assert exact_delta(leaking, left, right, 0.5 * size + 1e-9) == pytest.approx(1 - 0.99**size)
    assert exact_epsilon(BasicComposition(0.2, 0.0, 3), left, right, 0.0) == pytest.approx(0.6 * size)


def test_one_record_changes_one_answer() -> None:
    mechanism = DominatingMechanism(0.5, 0.01)
    assert exact_delta(mechanism, (0, 1, 0), (0, 1, 1), 0.5 + 1e-9) == pytest.approx(0.01)


@pytest.mark.parametrize("k", [1, 4, 30])
def test_basic_composition_is_attained(k: int) -> None:
    assert exact_epsilon(BasicComposition(0.2, 0.0, k), ZERO, ONE, 0.0) == pytest.approx(0.2 * k)
    assert exact_delta(BasicComposition(0.2, 0.01, k), ZERO, ONE, 0.2 * k + 1e-9) == pytest.approx(1 - 0.99**k)


def test_concatenation_adds_up() -> None:
    mechanism = Concatenation(DominatingMechanism(0.5, 0.01), DominatingMechanism(0.25, 0.02))
    assert (mechanism.claim.epsilon, mechanism.claim.delta) == (0.75, 0.03)
    assert exact_delta(mechanism, ZERO, ONE, 0.75 + 1e-9) == pytest.approx(1 - 0.99 * 0.98)


@pytest.mark.slow(only=["*-30-0.1", "*-30-0.5", "*-30-1.0"])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2, 8, 30])
@pytest.mark.parametrize("delta_prime", [1.0, 0.5, 0.1, 1e-3, 1e-6])
def test_theorem_3_6_holds_at_its_worst_case(epsilon: float, k: int, delta_prime: float) -> None:
    mechanism = AdvancedComposition(epsilon, 1e-3, k, delta_prime)
    claim = mechanism.claim
    assert exact_delta(mechanism.interactions, ZERO, ONE, claim.epsilon) <= claim.delta * (1 + 1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize(("epsilon", "delta", "start"), [(0.5, 1e-3, 0.0), (0.5, 0.0, 1e-4), (1.0, 1e-6, 1e-5)])
def test_group_privacy_attains_what_can_be_attained(k: int, epsilon: float, delta: float, start: float) -> None:
    mechanism = GroupPrivacy(epsilon, delta, start)
    none, some = Multiset.counted({0: 8}), Multiset.counted({0: 8 - k, 1: k})
    best = delta * math.expm1(k * epsilon) / math.expm1(epsilon)
    assert exact_delta(mechanism, none, some, k * epsilon) == pytest.approx(best, rel=1e-9, abs=1e-15)
    assert best <= mechanism.claim.group(k).delta
    if delta == 0:
        assert exact_epsilon(mechanism, none, some, 0.0) == pytest.approx(k * epsilon)


def test_group_privacy_saturates() -> None:
    mechanism = GroupPrivacy(1.0, 0.1)
    probabilities = [law(mechanism, Multiset.counted({1: s})).as_dict().get(True, 0.0) for s in range(1, 9)]
    assert probabilities == sorted(probabilities)
    assert probabilities[-1] == 1.0


def test_post_processing_loses_and_never_gains() -> None:
    first = DominatingMechanism(1.0, 0.02)
    rng = np.random.default_rng(5)
    for _ in range(20):
        channel = tuple(tuple(row) for row in rng.dirichlet([0.3] * 5, 4).tolist())
        for at in (0.0, 0.5, 1.0):
            after = exact_delta(PostProcessing(first, channel), ZERO, ONE, at)
            assert after <= exact_delta(first, ZERO, ONE, at) + 1e-12


@pytest.mark.parametrize(
    "bad",
    [
        lambda: DominatingMechanism(-1.0),
        lambda: DominatingMechanism(1.0, 1.5),
        lambda: BasicComposition(1.0, 0.0, 0),
        lambda: AdvancedComposition(1.5, 0.0, 3, 0.1),
        lambda: AdvancedComposition(1.0, 0.0, 3, 0.0),
        lambda: Concatenation(DominatingMechanism(1.0), Median()),
        lambda: GroupPrivacy(1.0),
        lambda: PostProcessing(DominatingMechanism(1.0), ()),
        lambda: PostProcessing(DominatingMechanism(1.0), ((0.5, 0.4),)),
        lambda: PostProcessing(Median(), ((1.0,),)),
    ],
)
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(ParameterError):
        bad()


@pytest.mark.parametrize("dataset", [(), (2,), (0, 7)])
def test_the_records_are_bits(dataset: tuple[int, ...]) -> None:
    with pytest.raises(DatasetError):
        law(DominatingMechanism(1.0), dataset)
