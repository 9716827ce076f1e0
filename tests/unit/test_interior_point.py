"""Interior points by the exponential mechanism: the printed utility claim is false where records are equal."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import pytest

from dpaudit.interpret import law, sample
from dpaudit.language import DatasetError, Multiset, ParameterError
from dpaudit_algorithms.interior_points.interior_point import (
    Depth,
    InteriorPointByMedian,
    InteriorPointByMedianCorrected,
    MedianUtility,
)


def failure(mechanism: InteriorPointByMedian | InteriorPointByMedianCorrected, S: Multiset) -> float:
    """Probability that the output is no interior point, exactly."""
    return law(mechanism, S).probability(lambda y: not S.values[0] <= y <= S.values[-1])


def printed(mechanism: InteriorPointByMedian | InteriorPointByMedianCorrected, n: int) -> float:
    return mechanism.domain * math.exp(-mechanism.epsilon * n / 4)


@pytest.mark.parametrize("n", [6, 7, 40, 4000])
def test_printed_utility_is_refuted_by_equal_records(n: int) -> None:
    # u = n/2 everywhere, so that the output is uniform, whatever n
    mechanism = InteriorPointByMedian(1.0, 2)
    assert failure(mechanism, Multiset.counted({1: n})) == pytest.approx(1 / 2)
    assert printed(mechanism, n) < 1 / 2


def test_printed_utility_fewest_records() -> None:
    mechanism = InteriorPointByMedian(1.0, 2)
    for n in range(1, 7):
        worst = max(failure(mechanism, Multiset.of(S)) for S in combinations_with_replacement((1, 2), n))
        assert (worst > printed(mechanism, n)) == (n == 6)


def test_printed_utility_sampled() -> None:
    mechanism = InteriorPointByMedian(1.0, 64)
    outputs = sample(mechanism, Multiset.counted({32: 100}), 100_000, seed=11).counts
    # the truth is 63/64; five standard deviations, false alarms 6e-7; printed bound: 8.9e-10
    assert abs(1 - outputs[32] / 1e5 - 63 / 64) < 5 * math.sqrt(63 / 64 / 64 / 1e5)
    assert printed(mechanism, 100) < 1e-9


@pytest.mark.parametrize(("domain", "n"), [(2, 8), (3, 7), (4, 6), (5, 5)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_corrected_utility_holds_on_every_dataset(domain: int, n: int, epsilon: float) -> None:
    mechanism = InteriorPointByMedianCorrected(epsilon, domain)
    for S in combinations_with_replacement(range(1, domain + 1), n):
        assert failure(mechanism, Multiset.of(S)) <= (domain - 1) * math.exp(-epsilon * n / 4) + 1e-12


def test_scores_by_hand() -> None:
    S = Multiset.of((1, 1, 3))
    assert MedianUtility(3)(S).values.tolist() == [-0.5, -0.5, -1.5]
    assert Depth(3)(S).values.tolist() == [2.0, 1.0, 1.0]


def test_bad_input() -> None:
    with pytest.raises(ParameterError):
        InteriorPointByMedian(0.0, 4)
    with pytest.raises(ParameterError):
        InteriorPointByMedianCorrected(1.0, 0)
    with pytest.raises(DatasetError):
        law(InteriorPointByMedian(1.0, 4), (5,))
