"""Query release, its refinement, and the learner made of two releases: the algebra, the guarantees, the claims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law, sample
from dpaudit.language import (
    Claim,
    DatasetError,
    Fixed,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    Trial,
    UtilityClaim,
)
from dpaudit_algorithms.lower_bounds.query_release import LearnerFromRelease, RefinedRelease, ThresholdRelease
from dpaudit_algorithms.lower_bounds.query_release_theory import PRINTED, CloseAnswers, share
from dpaudit_algorithms.pac.concepts import Points, Thresholds


@dataclass(frozen=True)
class Shifted(Mechanism):
    """A release without noise: every answer off by `shift`, up or down, on datasets of `records` alone."""

    size: int
    shift: Fraction
    records: int = 0

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        return (UtilityClaim(CloseAnswers(Thresholds(self.size), abs(self.shift) or PRINTED), 1.0, "a test"),)

    def run(self, D: Any) -> tuple[Fraction, ...]:
        assert not self.records or len(D) == self.records
        return tuple(share(Thresholds(self.size), j, D) + self.shift for j in range(self.size))


def only(mechanism: Mechanism, dataset: Any) -> Any:
    (output,) = law(mechanism, dataset).as_dict()
    return output


# --- the noisy histogram --------------------------------------------------------------------------------------------


def test_release_attains_its_epsilon() -> None:
    left, right = Multiset.counted({0: 4}), Multiset.counted({0: 3, 1: 1})
    assert exact_epsilon(ThresholdRelease(0.7, 3), left, right, 0.0) == pytest.approx(0.7)
    # of two elements one count is released, and one record moves it by 1
    assert exact_epsilon(ThresholdRelease(0.7, 2), left, right, 0.0) == pytest.approx(0.35)


def test_release_by_hand() -> None:
    exact = law(ThresholdRelease(2.0, 2), Multiset.counted({0: 1, 1: 1})).as_dict()
    a = math.exp(-1)
    middle = (1 - a) / (1 + a)
    assert exact == pytest.approx({(0, 1): (1 - middle) / 2, (Fraction(1, 2), 1): middle, (1, 1): (1 - middle) / 2})


@pytest.mark.slow(fast=["2-*"])
@pytest.mark.parametrize(("size", "n"), [(2, 20), (2, 60), (3, 40), (4, 12)])
def test_release_is_as_accurate_as_guaranteed(size: int, n: int) -> None:
    mechanism = ThresholdRelease(1.0, size, 0.25)
    (guaranteed,) = mechanism.utility(n)
    for D in (Multiset.counted(dict.fromkeys(range(size), n // size)), Multiset.counted({size - 1: n})):
        found = law(Trial(Fixed(D), mechanism, guaranteed.goal), ()).probability(bool)
        assert found >= guaranteed.probability - 1e-12


def test_sample_size_is_the_least() -> None:
    for mechanism in (ThresholdRelease(1.0, 2), ThresholdRelease(1 / 150, 3), ThresholdRelease(0.3, 5, 0.05)):
        (size,) = mechanism.sample_sizes
        assert mechanism.utility(size.records)[0].probability >= 149 / 150
        assert mechanism.utility(size.records - 1)[0].probability < 149 / 150
    assert ThresholdRelease(1 / 150, 2).sample_sizes[0].records == 225_450


# --- the refinement -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.002, 0.005, Fraction(1, 150), Fraction(1, 300)])
@pytest.mark.parametrize("side", [-1, 1])
def test_refinement_stretches_errors_exactly(alpha: float | Fraction, side: int) -> None:
    # an inner answer that is off by α, to either side, becomes one off by 1/150 to that side
    exact = alpha if isinstance(alpha, Fraction) else Fraction(repr(alpha))
    inner = Shifted(3, side * exact)
    refined = RefinedRelease(inner, alpha)
    for records in combinations_with_replacement(range(3), 6):
        D = Multiset.of(records)
        if (6 / (150 * exact)).denominator == 1:
            answers = only(refined, D)
            assert answers == tuple(share(Thresholds(3), j, D) + side * PRINTED for j in range(3))
            (guaranteed,) = refined.utility(6)
            assert guaranteed.goal.reached(Instance(D), answers)
            worse = [a + side * Fraction(1, 10**9) for a in answers]
            assert not guaranteed.goal.reached(Instance(D), worse)


def test_refinement_pads_to_whole_numbers() -> None:
    assert RefinedRelease(Shifted(3, Fraction(0), 10), 0.002).padded(3) == 10
    assert only(RefinedRelease(Shifted(3, Fraction(0), 10), 0.002), (0, 1, 2)) == (Fraction(1, 3), Fraction(2, 3), 1)
    with pytest.raises(DatasetError, match="whole n"):
        law(RefinedRelease(ThresholdRelease(1.0, 2), 0.002), (0, 1))
    assert RefinedRelease(ThresholdRelease(1.0, 2), 0.002).utility(2) == ()
    with pytest.raises(ParameterError, match="alpha"):
        RefinedRelease(ThresholdRelease(1.0, 2), 0.007)


def test_refinement_guarantees_what_the_inner_release_does() -> None:
    inner = ThresholdRelease(1.0, 2, 0.002)
    assert RefinedRelease(inner, 0.002).utility(300)[0].probability == inner.utility(1000)[0].probability
    assert RefinedRelease(inner, 0.001).utility(300) == ()  # the inner release is not so accurate


# --- the learner ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3])
def test_errors_are_the_difference_of_two_answers(size: int) -> None:
    concepts = Thresholds(size)
    examples = [(x, y) for x in range(size) for y in (0, 1)]
    learner = LearnerFromRelease(Shifted(size, Fraction(0), 4), concepts)
    for S in map(Multiset.of, combinations_with_replacement(examples, 4)):
        wrong = [concepts.wrong(c, S) for c in concepts.concepts]
        assert only(learner, S) == wrong.index(min(wrong))
        negatives = sum(1 for _, y in S if y == 0)
        D1, D0 = (Multiset.of(x if y == label else 0 for x, y in S) for label in (1, 0))
        for c in concepts.concepts:
            assert wrong[c] == 4 * share(concepts, c, D0) - 4 * share(concepts, c, D1) + negatives


def test_learner_claims_two_releases_which_is_less_than_the_lemma() -> None:
    learner = LearnerFromRelease(ThresholdRelease(1 / 150, 2), Thresholds(2))
    assert learner.claim.epsilon == pytest.approx(2 / 150)
    assert learner.claim.implies(Claim(1 / 5))


@pytest.mark.slow(only=["61"])
@pytest.mark.parametrize("n", [20, 61])
def test_learner_keeps_its_guarantee_exactly(n: int) -> None:
    learner = LearnerFromRelease(ThresholdRelease(1.0, 2, 0.1), Thresholds(2))
    (guaranteed,) = learner.utility(n)
    for negatives in range(0, n + 1, 4):
        S = Multiset.counted({(0, 1): n - negatives, (1, 0): negatives})
        found = law(Trial(Fixed(S), learner, guaranteed.goal), ()).probability(bool)
        assert found >= guaranteed.probability - 1e-9


def test_lemma_7_30_needs_few_errors_and_many_examples() -> None:
    release = ThresholdRelease(1 / 150, 2)
    learner, n = LearnerFromRelease(release, Thresholds(2)), release.sample_sizes[0].records
    few, good = learner.utility(n)
    assert (few.probability, good.probability) == (pytest.approx(1 - 2 / 150, abs=1e-4), 0.8)
    assert len(LearnerFromRelease(ThresholdRelease(1.0, 2), Thresholds(2)).utility(1_600)) == 1  # below Theorem 3.17


def test_learner_sampled() -> None:
    learner = LearnerFromRelease(ThresholdRelease(0.5, 2), Thresholds(2))
    S, runs = Multiset.counted({(1, 1): 5, (1, 0): 4}), 50_000
    p = law(learner, S).as_dict()[1]
    found = sample(learner, S, runs, seed=4).counts[1]
    # five standard deviations: false alarms 6e-7
    assert abs(found / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="p1"):
        LearnerFromRelease(ThresholdRelease(1.0, 3), Points(3))
    with pytest.raises(ParameterError, match="claims nothing"):
        RefinedRelease(Fixed(()), 0.002)
    with pytest.raises(DatasetError, match="0, …, 2"):
        law(ThresholdRelease(1.0, 3), (0, 3))
    with pytest.raises(DatasetError):
        law(ThresholdRelease(1.0, 3), ())
