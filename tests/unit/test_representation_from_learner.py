"""Representations from private learners: against closed forms, their sizes, and the last step of Lemma 5.15."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, Fixed, Multiset, ParameterError, Trial
from dpaudit_algorithms.pac.concepts import Thresholds, Truth
from dpaudit_algorithms.pac.finite_class import FiniteClassLearnerCorrected
from dpaudit_algorithms.representations.representation import Hypotheses, error
from dpaudit_algorithms.representations.representation_from_learner import RepresentationFromLearner
from dpaudit_audits.representations.representation_from_learner import MANY, of_many, plain, refined

EDGE = Truth((0, 1), (1, 1), 0)
"""Only c_0 is within 1/4 of the target on it."""


def test_the_probability_is_that_of_independent_executions() -> None:
    one = plain(2, 3, 1.0)
    assert one.executions == math.ceil(2 * math.log(4) * math.exp(3)) == 56
    # both thresholds label 0 with 1, so that zeros of label 0 are wrong for both
    p = law(one.learner, Multiset.counted({(0, 0): 3})).as_dict()[0]
    assert p == pytest.approx(0.5)
    found = law(Trial(Fixed((), EDGE), one, one.represents.goal), ()).probability(bool)
    assert found == pytest.approx(1 - (1 - p) ** 56)


def test_the_least_that_privacy_leaves_is_enough() -> None:
    """(1 − e^{−nε}/2)^K ≤ 1/4 with K rounded up, and (1 − e^{−8αεn}/4)^K: the step of both proofs, on a grid."""
    for y in (1.0, 1.01, 1.5, 3.0, 20.0, 1e4):
        assert (1 - 1 / (2 * y)) ** math.ceil(2 * math.log(4) * y) <= 0.25
        assert (1 - 1 / (4 * y)) ** math.ceil(4 * math.log(4) * y) <= 0.25


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.001), (1, 1.0), (3, 1.0), (8, 0.7)])
def test_lemma_5_14_has_room_for_rounding(n: int, epsilon: float) -> None:
    one = plain(2, n, epsilon)
    assert one.proof_size <= one.size <= one.printed_size


@pytest.mark.parametrize(("epsilon", "holds"), [(0.02, True), (0.05, True), (0.1, False), (0.3, False), (1.0, False)])
def test_the_last_step_of_lemma_5_15(epsilon: float, holds: bool) -> None:
    """ln(8·ln 4) + 8αεn ≤ nεα + 3, at the smallest n that the proof allows: false from 7αεn = 0.5939 on."""
    one = refined(2, 5, epsilon)
    assert one.least == 5
    assert (one.proof_size <= one.printed_size) is holds
    assert holds is (7 * 0.25 * epsilon * 5 <= 3 - math.log(8 * math.log(4)))


def test_from_which_epsilon_on_it_is_false_for_every_n_allowed() -> None:
    """αn ≥ 3·ln(4)/4, so 7αεn > 3 − ln(8·ln 4) whenever ε > 0.0816."""
    edge = (3 - math.log(8 * math.log(4))) / (7 * 3 * math.log(4) / 4)
    assert edge == pytest.approx(0.0816, abs=5e-5)


@pytest.mark.slow
def test_the_class_that_is_drawn_is_larger_than_printed() -> None:
    """32 executions of a learner with 1,000 outcomes give more than e^{3.125} = 22.76 different ones."""
    one = of_many(5, 0.1)
    assert 2 * one.executions == 32
    assert math.exp(one.printed_size) == pytest.approx(22.76, abs=0.01)
    different = {0: 1.0}
    for _ in range(32):
        after = dict.fromkeys(range(max(different) + 2), 0.0)
        for k, p in different.items():
            after[k] += p * k / MANY
            after[k + 1] += p * (1 - k / MANY)
        different = after
    # what the audit calls success
    assert sum(p for k, p in different.items() if k <= 22) < 1e-10
    counts = sample(one, (), 200, seed=5).counts
    assert {len(H) for H in counts} <= set(range(24, 33))  # less than 24: probability 7e-10 a run
    assert sum(p for k, p in different.items() if k < 24) < 1e-9


@pytest.mark.parametrize("weights", [(1,), (1, 1, 1), (26, 26, 26, 22), (1,) * MANY])
def test_the_learner_of_many_outcomes_is_accurate(weights: tuple[int, ...]) -> None:
    one = of_many(5, 0.1)
    truth = Truth(tuple(range(len(weights))), weights, 0)
    outcomes = law(one.learner, ()).as_dict()
    good = sum(p for j, p in outcomes.items() if error(one.labelling, j, one.concepts, truth) <= Fraction(1, 4))
    assert good >= 0.5


@pytest.mark.parametrize(("n", "epsilon"), [(1, 1.0), (3, 1.0), (5, 0.1)])
def test_the_learner_of_the_audits_is_what_the_lemmas_ask_for(n: int, epsilon: float) -> None:
    """(α, 1/2)-accurate, as the target is no less likely than the other threshold on every sample that it labels."""
    learner = FiniteClassLearnerCorrected(epsilon, Thresholds(2))
    for target, k in ((target, k) for target in (0, 1) for k in range(n + 1)):
        S = Multiset.counted({(1, target): k, (0, 1): n - k})
        assert law(learner, S).as_dict()[target] >= 0.5


def test_bottom_is_no_hypothesis() -> None:
    one = plain(2, 1, 1.0)
    assert one._of(frozenset({BOTTOM, 1})) == Hypotheses(Thresholds(2), (1,))


def test_sampled() -> None:
    """Both thresholds come out at once in all but 2·2^{−8} of the runs; false alarm: 6 standard deviations, 2e-9."""
    one = plain(2, 1, 1.0)
    assert one.executions == 8
    runs, p = 20_000, 1 - 2 * 0.5**8
    hits = sample(one, (), runs, seed=3).counts[Hypotheses(Thresholds(2), (0, 1))]
    assert abs(hits - runs * p) < 6 * math.sqrt(runs * p * (1 - p))


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="n must be at least"):
        refined(2, 4, 0.1)
    with pytest.raises(ParameterError, match="alpha"):
        refined(2, 50, 0.1, 0.3)
    with pytest.raises(ParameterError, match="too often"):
        RepresentationFromLearner(FiniteClassLearnerCorrected(1.0, Thresholds(2)), Thresholds(2), 100, 0.25)
