"""Lemma 7.22: two rows change and no more; its utility fails if records are equal, not in the corrected versions."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from dpaudit.interpret import law, sample
from dpaudit.language import (
    REPLACE_ONE,
    Claim,
    DatasetError,
    Fixed,
    Instance,
    InteriorPoint,
    Mechanism,
    Multiset,
    ParameterError,
    Trial,
)
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.interior_point_baselines import Median
from dpaudit_algorithms.lower_bounds.thresholds_reductions import (
    InteriorPointFromThresholds,
    InteriorPointFromThresholdsCorrected,
    ThresholdsFromInteriorPoint,
    ThresholdsFromInteriorPointCorrected,
)
from dpaudit_algorithms.pac.concepts import EmpiricalError, Thresholds
from dpaudit_algorithms.pac.learn_thresholds import Consistency
from dpaudit_audits.lower_bounds.thresholds_reductions import GoodEnough, Overclaiming

BOTH = (ThresholdsFromInteriorPoint, ThresholdsFromInteriorPointCorrected)
BACK = (InteriorPointFromThresholds, InteriorPointFromThresholdsCorrected)


def success(mechanism: Mechanism, dataset: Any, goal: Any) -> float:
    return law(Trial(Fixed(Multiset.of(dataset)), mechanism, goal), ()).probability(lambda reached: reached is True)


def labelled(domain: range, m: int) -> list[Multiset]:
    """All datasets of m examples that a threshold labels."""
    return [
        Multiset.of((x, int(x <= j)) for x in xs) for j in domain for xs in combinations_with_replacement(domain, m)
    ]


def given(mechanism: Mechanism, dataset: Any) -> Multiset:
    """What the inner algorithm gets."""
    applied: Any = mechanism.run(dataset)
    if not hasattr(applied, "dataset"):
        applied = next(applied)
    found: Multiset = applied.dataset
    return found


# --- privacy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(("n", "records"), [(4, 4), (5, 4), (6, 3), (2, 5), (1, 3)])
def test_one_example_changes_two_rows_at_most(kind: type[ThresholdsFromInteriorPoint], n: int, records: int) -> None:
    reduction = kind(InteriorPointByMedianCorrected(1.0, 3), n, 0.25, 0.5, 1, 3)
    domain = tuple(product((1, 2, 3), (0, 1)))
    most = 0
    for D in REPLACE_ONE.scope(domain, records, ordered=False):
        assert len(given(reduction, D)) == n
        for other in REPLACE_ONE.neighbours(D, domain):
            most = max(most, REPLACE_ONE.distance(given(reduction, D), given(reduction, other)) or 0)
    assert most == (1 if n == 1 else 2)


@pytest.mark.parametrize("kind", BACK)
@pytest.mark.parametrize("n", [2, 4, 5, 6])
def test_one_record_changes_two_rows_at_most(kind: type[InteriorPointFromThresholds], n: int) -> None:
    reduction = kind(ExponentialMechanism(1.0, Consistency(4)), n, 0.125, 0.5, 0, 3)
    most = 0
    for S in REPLACE_ONE.scope((0, 1, 2), n, ordered=False):
        assert len(given(reduction, S)) == reduction.examples
        for other in REPLACE_ONE.neighbours(S, (0, 1, 2)):
            most = max(most, REPLACE_ONE.distance(given(reduction, S), given(reduction, other)) or 0)
    assert most == 2


def test_claim_is_that_of_two_steps() -> None:
    inner = Overclaiming(InteriorPointByMedianCorrected(1.0, 4), Claim(0.5, 0.01))
    reduction = ThresholdsFromInteriorPoint(inner, 4, 0.25, 0.1, 1, 4)
    assert reduction.claim.epsilon == 1.0
    assert reduction.claim.delta == pytest.approx((1 + math.exp(0.5)) * 0.01)
    assert reduction.claim.relation == REPLACE_ONE


# --- thresholds from interior points ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 4, 6])
def test_printed_learner_fails_on_equal_examples(n: int) -> None:
    # X = {1, 2}, α = 1/2: D′ is half ones, half twos, which the inner algorithm cannot distinguish; c_2(2) = 1
    inner = InteriorPointByMedianCorrected(1.0, 2)
    error = max(
        1 - success(inner, S, InteriorPoint()) for S in combinations_with_replacement((1, 2), n)
    )
    assert error == pytest.approx(1 / (1 + math.exp(n / 2)))
    goal = EmpiricalError(Thresholds(3), 0.5)
    printed, corrected = (kind(inner, n, 0.5, 0.3, 1, 2) for kind in BOTH)
    assert printed.records == n
    worst = min(labelled(range(1, 3), n), key=lambda D: success(printed, D, goal))
    assert success(printed, worst, goal) == pytest.approx(1 / 2)
    assert success(printed, [(2, 0)] * n, goal) == pytest.approx(1 / 2)
    assert min(success(corrected, D, goal) for D in labelled(range(1, 3), n)) >= 1 - error - 1e-12


def test_printed_learner_fails_surely_on_the_greatest_interior_point() -> None:
    # an algorithm without any error: the greatest record
    class Greatest(Median):
        def run(self, S: Any) -> Any:
            return Multiset.of(S).values[-1]

    inner = Overclaiming(Greatest(), Claim(0.0))
    goal = EmpiricalError(Thresholds(5), 0.25)
    printed, corrected = (kind(inner, 4, 0.25, 0.1, 1, 4) for kind in BOTH)
    assert success(printed, [(3, 0)] * 8, goal) == 0
    for D in labelled(range(1, 5), 5):
        assert success(corrected, D, EmpiricalError(Thresholds(5), 0.4)) == 1


@pytest.mark.parametrize(("n", "alpha"), [(4, 0.5), (6, 0.75), (5, 0.5), (3, 0.5), (1, 0.25)])
def test_corrected_learner_on_every_dataset(n: int, alpha: float) -> None:
    # every interior point is good, so the error is the inner algorithm's; as printed some are bad
    reduction = ThresholdsFromInteriorPointCorrected(InteriorPointByMedianCorrected(1.0, 4), n, alpha, 0.1, 1, 4)
    goal, allowed = EmpiricalError(Thresholds(5), alpha), -(-n // 2) - 1
    for D in labelled(range(1, 5), reduction.records):
        values = given(reduction, D).values
        for x in range(values[0], values[-1] + 1):
            assert goal.concepts.wrong(x, D) <= allowed
            assert goal.reached(Instance(D), x)


def test_printed_learner_sampled() -> None:
    reduction = ThresholdsFromInteriorPoint(InteriorPointByMedianCorrected(1.0, 64), 60, 0.1, 2e-5, 1, 64)
    trial = Trial(Fixed(Multiset.counted({(2, 0): 300})), reduction, EmpiricalError(Thresholds(65), 0.1))
    runs = 100_000
    # the truth is 1/2; five standard deviations, false alarms 6e-7; guaranteed 1 − 2e-5
    assert abs(sample(trial, (), runs, seed=5).counts[True] / runs - 0.5) < 5 * math.sqrt(0.25 / runs)
    (guarantee,) = (claim for claim in reduction.utility(300))
    assert guarantee.probability == 1 - 2e-5


# --- interior points from thresholds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_printed_finder_fails_on_two_equal_records(epsilon: float) -> None:
    # X = {0, 1}, D = {(0,1), (1,1), (1,0)×2}: c_0 labels 3 rightly, c_1 labels 2; the only interior point is 1
    learner = ExponentialMechanism(epsilon, Consistency(2))
    beta = 1 / (1 + math.exp(epsilon / 2))
    guaranteed = EmpiricalError(Thresholds(2), 0.1667)
    assert max(1 - success(learner, D, guaranteed) for D in labelled(range(2), 4)) == pytest.approx(beta)
    printed = InteriorPointFromThresholds(learner, 2, 0.1667, 0.4, 0, 1)
    assert (printed.examples, printed.misses_count) == (4, True)
    assert given(printed, [1, 1]) == Multiset.counted({(0, 1): 1, (1, 1): 1, (1, 0): 2})
    assert success(printed, [1, 1], InteriorPoint()) == pytest.approx(beta)
    corrected = InteriorPointFromThresholdsCorrected(learner, 2, 0.1667, 0.4, 0, 1)
    assert given(corrected, [1, 1]) == Multiset.counted({(0, 1): 3, (1, 1): 1})
    assert success(corrected, [1, 1], InteriorPoint()) == pytest.approx(1 - beta)


def test_more_pads_make_it_worse() -> None:
    # records at max X: each pad (max X, 0) speaks against the only interior point
    for n, pads in ((6, 1), (12, 2), (24, 4), (96, 16)):
        printed = InteriorPointFromThresholds(ExponentialMechanism(1.0, Consistency(2)), n, 0.25, 0.1, 0, 1)
        assert printed.examples == n + 2 * pads
        assert success(printed, [1] * n, InteriorPoint()) == pytest.approx(1 / (1 + math.exp(pads / 2)))


@pytest.mark.parametrize(("n", "size"), [(4, 4), (6, 3)])
def test_printed_finder_holds_where_the_middle_records_differ(n: int, size: int) -> None:
    # exactly there a threshold labels D, and every threshold of error ≤ α is an interior point
    printed = InteriorPointFromThresholds(ExponentialMechanism(1.0, Consistency(size)), n, 0.125, 0.1, 0, size - 1)
    concepts, goal = Thresholds(size), EmpiricalError(Thresholds(size), 0.125)
    for S in combinations_with_replacement(range(size), n):
        D = given(printed, S)
        agrees = any(concepts.wrong(c, D) == 0 for c in concepts.concepts)
        assert agrees == (S[n // 2 - 1] < S[n // 2])
        for c in concepts.concepts:
            if goal.reached(Instance(D), c):
                assert S[0] <= c <= S[-1]


@pytest.mark.parametrize(("n", "size"), [(4, 3), (6, 2), (5, 3), (2, 4)])
def test_corrected_finder_on_every_dataset(n: int, size: int) -> None:
    corrected = InteriorPointFromThresholdsCorrected(
        ExponentialMechanism(1.0, Consistency(size)), n, 0.125, 0.1, 0, size - 1
    )
    concepts, goal = Thresholds(size), EmpiricalError(Thresholds(size), 0.125)
    assert corrected.misses_count
    for S in combinations_with_replacement(range(size), n):
        D = given(corrected, S)
        assert any(concepts.wrong(c, D) == 0 for c in concepts.concepts)
        for c in concepts.concepts:
            if goal.reached(Instance(D), c):
                assert S[0] <= c <= S[-1]


def test_fake_samples_of_the_lecture_notes() -> None:
    # n/α examples: a miss costs n/2, which is α/2 of them; a learner that is content with α/2 is as good as uniform
    n, alpha, size = 24, 0.125, 64
    learner = ExponentialMechanism(2.0, GoodEnough(size, 180))
    notes = InteriorPointFromThresholds(learner, n, alpha, 0.1, 0, size - 1, shrink=1)
    assert notes.examples == 192
    assert not notes.misses_count
    S = Multiset.counted({31: 12, 32: 12})
    assert success(notes, S, InteriorPoint()) == pytest.approx(2 / 63, abs=1e-9)
    # the learner's guarantee holds: e^{−13} for each of at most 63 concepts of error above α
    assert success(learner, given(notes, S), EmpiricalError(Thresholds(size), alpha)) > 1 - 63 * math.exp(-13)
    thesis = InteriorPointFromThresholds(ExponentialMechanism(2.0, GoodEnough(size, 60)), n, alpha, 0.1, 0, size - 1)
    assert success(thesis, S, InteriorPoint()) > 0.97


# --- sizes and refusals ----------------------------------------------------------------------------------------------


def test_sample_sizes_as_printed() -> None:
    learner = ThresholdsFromInteriorPoint(InteriorPointByMedianCorrected(1.0, 64), 60, 0.1, 0.01, 1, 64)
    assert [size.records for size in learner.sample_sizes] == [300, math.ceil(40 * math.log2(200))]
    assert [claim.probability for claim in learner.utility(306)] == [0.99, 0.98]
    assert len(learner.utility(305)) == 1
    assert not learner.utility(299)
    finder = InteriorPointFromThresholds(ExponentialMechanism(1.0, Consistency(4)), 54, 0.25, 0.1, 0, 3)
    assert (finder.examples, [size.records for size in finder.sample_sizes]) == (72, [54, 54])


def test_odd_and_tiny_sizes_guarantee_what_they_can() -> None:
    for n in range(1, 40):
        finder = InteriorPointFromThresholds(ExponentialMechanism(1.0, Consistency(4)), n, 0.25, 0.1, 0, 3)
        assert (finder.examples - n) % 2 == 0
        assert 3 * 0.25 * finder.examples >= n
        assert bool(finder.utility(n)) == (n // 2 > 0.25 * finder.examples)
        assert not finder.utility(n + 1)


def test_one_point() -> None:
    # X = {1}: the only concept is c_1, which labels everything with 1
    learner = ThresholdsFromInteriorPoint(InteriorPointByMedianCorrected(1.0, 1), 4, 0.25, 0.1, 1, 1)
    assert law(learner, [(1, 1)] * 8).as_dict() == {1: 1.0}


def test_bad_input() -> None:
    inner = InteriorPointByMedianCorrected(1.0, 4)
    with pytest.raises(ParameterError, match="claims nothing"):
        ThresholdsFromInteriorPoint(Median(), 4, 0.25, 0.1, 1, 4)
    with pytest.raises(ParameterError, match="high"):
        ThresholdsFromInteriorPoint(inner, 4, 0.25, 0.1, 2, 1)
    with pytest.raises(ParameterError, match="shrink"):
        InteriorPointFromThresholds(inner, 4, 0.25, 0.1, 1, 4, shrink=2)
    with pytest.raises(ParameterError, match="alpha"):
        InteriorPointFromThresholds(inner, 4, 0.5, 0.1, 1, 4)
    with pytest.raises(ParameterError, match="replace-one"):
        ThresholdsFromInteriorPoint(Overclaiming(inner, Claim(1.0).group(2)), 4, 0.25, 0.1, 1, 4)
    with pytest.raises(DatasetError, match="example"):
        law(ThresholdsFromInteriorPoint(inner, 4, 0.25, 0.1, 1, 4), [(5, 1)])
    with pytest.raises(DatasetError, match="n = 4"):
        law(InteriorPointFromThresholds(inner, 4, 0.25, 0.1, 1, 4), [1, 2])
    with pytest.raises(DatasetError, match="lie in"):
        law(InteriorPointFromThresholds(inner, 4, 0.25, 0.1, 1, 4), [1, 2, 3, 9])
