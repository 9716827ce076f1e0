"""The private learner for finite classes: its sign as printed and as meant, and the constants of its proof."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law, sample
from dpaudit.language import Mechanism, Multiset, ParameterError, Trial
from dpaudit_algorithms.pac.concepts import Examples, GeneralisationError, Points, Thresholds, Truth
from dpaudit_algorithms.pac.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.finite_class_theory import NoBadSample, lemma_3_2

QUARTER = GeneralisationError(Thresholds(2), 0.25)


def distinguished(n: int) -> Examples:
    return Examples(Thresholds(2), Truth((1,), (1,), 0), n)


def success(mechanism: Mechanism, instances: Examples) -> float:
    """Probability of error ≤ 1/4, over sample and coins."""
    return law(Trial(instances, mechanism, GeneralisationError(instances.concepts, 0.25)), ()).probability(bool)


def at_most(n: int, k: int, p: Fraction) -> Fraction:
    """Pr[Bin(n, p) ≤ k], apart from the multinomials of the language."""
    return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))


def test_the_printed_sign_prefers_what_errs_most() -> None:
    S = Multiset.counted({(1, 0): 3})
    # c_1 labels all three examples wrongly, c_0 none
    assert law(FiniteClassLearner(1.0, Thresholds(2)), S).as_dict()[1] == pytest.approx(1 / (1 + math.exp(-1.5)))
    assert law(FiniteClassLearnerCorrected(1.0, Thresholds(2)), S).as_dict()[0] == pytest.approx(
        1 / (1 + math.exp(-1.5))
    )


@pytest.mark.parametrize("n", [0, 1, 2, 45, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_theorem_3_3_is_refuted_for_every_number_of_examples(n: int, epsilon: float) -> None:
    found = success(FiniteClassLearner(epsilon, Thresholds(2)), distinguished(n))
    assert found == pytest.approx(1 / (1 + math.exp(epsilon * n / 2)), rel=1e-9)
    assert found <= 0.5


def test_theorem_3_3_sampled() -> None:
    mechanism = FiniteClassLearner(0.1, Thresholds(2))
    runs = 100_000
    p = 1 / (1 + math.exp(1.0))
    found = sample(Trial(distinguished(20), mechanism, QUARTER), (), runs, seed=3).counts[True]
    # five standard deviations: false alarms 6e-7
    assert abs(found / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


@pytest.mark.parametrize("kind", [FiniteClassLearner, FiniteClassLearnerCorrected])
def test_both_signs_are_equally_private(kind: type[FiniteClassLearner]) -> None:
    left, right = Multiset.counted({(1, 1): 12}), Multiset.counted({(1, 1): 11, (1, 0): 1})
    assert 0.95 < exact_epsilon(kind(1.0, Thresholds(2)), left, right, 0.0) <= 1.0


def test_signs_mirror_each_other() -> None:
    # turning all labels turns wrong into right
    for S in combinations_with_replacement(((0, 1), (1, 0), (1, 1), (2, 0), (2, 1)), 3):
        turned = [(x, 1 - y) for x, y in S]
        printed = law(FiniteClassLearner(0.7, Thresholds(3)), Multiset.of(S)).as_dict()
        meant = law(FiniteClassLearnerCorrected(0.7, Thresholds(3)), Multiset.of(turned)).as_dict()
        assert printed == pytest.approx(meant)


# --- the proof's constants ----------------------------------------------------------------------------------------


def test_printed_chernoff_bound_by_exact_binomials() -> None:
    quarter = Fraction(1, 4)
    above = [n for n in range(1, 61) if at_most(n, n // 8, quarter) > Fraction(math.exp(-n / 8))]
    assert above == [*range(16, 22), *range(24, 61)]
    # err_S ≤ ½·err_D, as the line reads, at any error p above 1/4: p = 2k/n is where k errors come in
    least = min(
        n for n in range(1, 20) for k in range(n // 8, n // 2 + 1)
        if Fraction(2 * k, n) > quarter and at_most(n, k, Fraction(2 * k, n)) > Fraction(math.exp(-n / 8))
    )
    assert least == 14
    assert float(at_most(14, 2, Fraction(2, 7))) == pytest.approx(0.190425, abs=1e-6)
    # with the factor 1/4 that was left out it holds
    assert all(at_most(n, n // 8, quarter) <= Fraction(math.exp(-n / 32)) for n in range(1, 400))


def test_union_bound_fails_first_at_24_examples_of_two_concepts() -> None:
    def bad(size: int, n: int) -> float:
        points, weights, target = ((0, 1), (749, 251), 0) if size == 2 else ((1, 0, 2), (251, 498, 251), 1)
        concepts = Thresholds(size)
        instances = Examples(concepts, Truth(points, weights, target), n)
        trial = Trial(instances, FiniteClassLearner(1.0, concepts), NoBadSample(concepts))
        return 1 - law(trial, ()).probability(bool)

    fails = [n for n in range(1, 30) if bad(2, n) > 2 * math.exp(-n / 8)]
    assert fails == [24, 25, 26]
    assert bad(2, 24) == pytest.approx(float(at_most(24, 3, Fraction(251, 1000))), rel=1e-12)
    assert bad(2, 24) == pytest.approx(0.1129276877)
    # 7/8 at the n that the printed bound needs: 8·ln 24 = 25.4
    assert FiniteClassLearner(1.0, Thresholds(3)).sample_sizes[2].records == 26
    assert bad(3, 26) == pytest.approx(0.1552607342)
    assert bad(3, 26) > 1 / 8


def test_lemma_3_2_holds_and_is_nearly_attained() -> None:
    for size in (1, 2, 10, 10**6):
        for a in (0.01, 1.0, 3.0, 10.0):
            for epsilon in (0.1, 1.0, 5.0):
                found, bound = lemma_3_2(size, epsilon, a)
                share = (1 - 1 / size) * math.exp(-a)
                assert found == pytest.approx(share / (1 + share), rel=1e-9)
                assert found < bound
    found, bound = lemma_3_2(10**6, 1.0, 10.0)
    assert found / bound > 0.9999
    assert lemma_3_2(2, 1.0, 1e-9)[0] == pytest.approx(1 / 3)  # far from it with two outputs and small a


# --- the corrected learner --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_corrected_bound_holds_and_is_half_used(epsilon: float, size: int) -> None:
    mechanism = FiniteClassLearnerCorrected(epsilon, Thresholds(size))
    for n in (1, 5, 20, 60):
        alike = Examples(Thresholds(size), Truth((0, 1), (749, 251), 0), n)
        assert success(mechanism, alike) >= mechanism.utility(n)[-1].probability


def test_corrected_bound_by_hand() -> None:
    mechanism = FiniteClassLearnerCorrected(1.0, Thresholds(8))
    q = 1 - (1 - math.exp(-0.5)) / 4
    assert mechanism.utility(40)[-1].probability == pytest.approx(1 - 7 * q**40)
    assert [size.records for size in mechanism.sample_sizes] == [67, 33, 134]
    # at the printed proof's n the failure is below 0.04 for every class and ε ≤ 1
    for size in (2, 3, 10, 1000):
        for epsilon in (0.01, 0.3, 1.0):
            other = FiniteClassLearnerCorrected(epsilon, Points(size))
            assert other.utility(other.printed_size)[-1].probability > 0.96


def test_guarantees_begin_at_the_printed_sizes() -> None:
    mechanism = FiniteClassLearner(1.0, Thresholds(8))
    assert mechanism.printed_size == math.ceil(16 * math.log(64)) == 67
    assert [claim.probability for claim in mechanism.utility(67)] == [0.75, 0.875]
    assert [claim.probability for claim in mechanism.utility(66)] == [0.875]
    assert mechanism.utility(8) == ()  # 2·ln 64 = 8.3: an error of more than n examples


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        FiniteClassLearner(1.5, Thresholds(2))
    with pytest.raises(ParameterError, match="epsilon"):
        FiniteClassLearnerCorrected(0.0, Thresholds(2))
