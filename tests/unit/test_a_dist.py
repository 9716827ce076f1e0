"""A_dist: the refutation of Proposition 3.28(i) in closed form, its corrected version, utility, edge cases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
from exact_pairs import exact_delta, exact_epsilon

from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, Given, Multiplicity, Multiset, ParameterError, Quality, Scores
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected

TWO = Multiplicity((0, 1))
PRINTED = ADist(1.0, 1e-6, TWO)


@dataclass(frozen=True)
class HeadStart(Quality):
    """Multiplicities, with `start` points for the solution 0."""

    start: int

    def __call__(self, dataset: Any) -> Scores:
        counts = dict(Multiset.of(dataset).items)
        return Scores([self.start + counts.get(0, 0), counts.get(1, 0)])


@dataclass(frozen=True)
class TwoSensitive(Quality):
    sensitivity = 2.0

    def __call__(self, dataset: Any) -> Scores:
        return Scores([2.0 * len(dataset), 0.0])


def lead(records: int, moved: int) -> tuple[Multiset, Multiset]:
    return Multiset.counted({0: records}), Multiset.counted({0: records - moved, 1: moved})


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-6), (1.0, 1e-3), (0.1, 1e-9)])
def test_worst_pair_needs_twice_epsilon(epsilon: float, delta: float) -> None:
    # leads n and n − 2 at least the threshold t: Pr[⊥] = ½·e^{−ε(lead − t)} on both
    mechanism = ADist(epsilon, delta, TWO)
    t = math.log2(1 / delta) / epsilon
    n = math.ceil(t) + 2
    predicted = 2 * epsilon + math.log1p(-2 * delta * math.exp(epsilon * (n - 2 - t)))
    assert exact_epsilon(mechanism, *lead(n, 1), delta) == pytest.approx(predicted, abs=1e-9)
    assert predicted > epsilon


def test_default_pair_to_six_digits() -> None:
    assert exact_epsilon(PRINTED, *lead(22, 1), 1e-6) == pytest.approx(1.999998, abs=5e-7)
    assert exact_delta(PRINTED, *lead(22, 1), 1.0) == pytest.approx(0.295155, abs=5e-7)


def test_eight_records_are_the_fewest() -> None:
    exact = [exact_epsilon(PRINTED, *lead(n, 1), 1e-6) for n in range(1, 9)]
    assert max(exact[:-1]) < 1 < exact[-1] == pytest.approx(1.637624, abs=5e-7)


def test_one_record_is_enough_with_a_head_start() -> None:
    mechanism = ADist(1.0, 1e-6, HeadStart(21))
    assert exact_epsilon(mechanism, (0,), (1,), 1e-6) == pytest.approx(1.9999978583, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_group_claim_is_refuted_by_the_same_factor(k: int) -> None:
    claim = PRINTED.claim.group(k)
    left, right = lead(20 + 2 * k, k)
    assert exact_epsilon(PRINTED, left, right, claim.delta) == pytest.approx(2 * k, abs=2e-4)


def test_sampling_agrees() -> None:
    # five standard deviations: false alarms 6e-7 on either side
    for dataset, gap in zip(lead(22, 1), (22, 20), strict=True):
        p = 0.5 * math.exp(math.log2(1e6) - gap)
        assert law(PRINTED, dataset).as_dict()[BOTTOM] == pytest.approx(p, rel=1e-12)
        got = sample(PRINTED, dataset, 1_000_000, seed=7).counts[BOTTOM] / 1e6
        assert abs(got - p) < 5 * math.sqrt(p * (1 - p) / 1e6)


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 1.0])
def test_natural_logarithm_costs_delta_where_the_maximiser_changes(epsilon: float) -> None:
    # a lead of 2 of solution 1 becomes a tie, which solution 0 wins: 1 is then impossible
    delta = exact_delta(ADist(epsilon, 1e-6, TWO, math.e), (1, 1), (0, 1), 2 * epsilon)
    assert delta == pytest.approx(math.exp(2 * epsilon) / 2 * 1e-6, rel=1e-9)
    assert (delta > 1e-6) == (epsilon > math.log(2) / 2)


def test_base_2_keeps_delta_where_the_maximiser_changes() -> None:
    assert exact_delta(PRINTED, (1, 1), (0, 1), 2.0) < 1e-8


def test_threshold_of_the_corrected_version_needs_its_two() -> None:
    mechanism = ADistCorrected(1.0, 0.05, TWO)
    assert mechanism.threshold == pytest.approx(2 + 2 * math.log(20))
    assert exact_delta(mechanism, (1, 1), (0, 1), 1.0) == pytest.approx(0.025)


@pytest.mark.parametrize("make", [lambda q: ADist(1.0, 0.01, q), lambda q: ADistCorrected(1.0, 0.01, q)])
def test_few_solutions_and_ties(make: Any) -> None:
    assert law(make(Given()), Scores([5.0])).as_dict() == {0: 1.0}
    assert law(make(Given()), Scores([])).as_dict() == {BOTTOM: 1.0}
    assert set(law(make(Given()), Scores([3.0, 7.0, 7.0])).as_dict()) == {1, BOTTOM}


def test_utility_as_printed() -> None:
    # Proposition 3.28(ii): gap ≥ (1/ε)·log(1/(βδ)) gives the maximiser with probability 1 − β
    for beta in (0.2, 0.01):
        gap = math.ceil(math.log2(1 / (beta * 1e-6)))
        assert law(PRINTED, lead(gap, 0)[0]).as_dict()[0] >= 1 - beta


def test_utility_of_the_corrected_version() -> None:
    mechanism = ADistCorrected(0.5, 1e-6, Given())
    for beta in (0.2, 0.01):
        gap = 2 + 2 / 0.5 * math.log(1 / (beta * 1e-6))
        assert law(mechanism, Scores([gap, 0.0])).as_dict()[0] == pytest.approx(1 - beta / 2)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: ADist(0.0, 1e-6, TWO),
        lambda: ADist(1.0, 0.0, TWO),
        lambda: ADist(1.0, 1e-6, TWO, 1.0),
        lambda: ADist(1.0, 1e-6, TwoSensitive()),
        lambda: ADistCorrected(1.0, 1.0, TWO),
    ],
)
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(ParameterError):
        bad()
