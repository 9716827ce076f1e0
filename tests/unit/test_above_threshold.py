"""AboveThreshold against its law by quadrature, which knows nothing of its text."""

from __future__ import annotations

import math

import pytest

from dpaudit.interpret import sample
from dpaudit.language import Instance, Multiset, ParameterError
from dpaudit_algorithms.foundations.above_threshold import AboveThreshold, AccurateAbove, CountAtMost
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram
from dpaudit_algorithms.foundations.sparse_vector_outputs import ABOVE, BELOW
from dpaudit_audits.corpus.sparse_vector_laws import Pattern, pattern_law


def by_quadrature(mechanism: AboveThreshold, D: Multiset) -> dict[Pattern, float]:
    """Which answers are above, up to the halt: scales 2/ε and 4/ε as printed."""
    epsilon = mechanism.epsilon
    return pattern_law(mechanism.answers(D), mechanism.threshold, 2 / epsilon, 4 / epsilon, 1)


def counts(mechanism: AboveThreshold, D: Multiset, runs: int, seed: int) -> dict[Pattern, int]:
    found = sample(mechanism, D, runs, seed=seed).counts
    assert all(isinstance(output, tuple) for output in found)
    return {tuple(said == ABOVE for said in output): times for output, times in found.items()}  # type: ignore[attr-defined]


def test_samples_follow_the_law() -> None:
    mechanism = AboveThreshold(1.0, 3.0, (Count(0), Count(1), CountAtMost(1)))
    D, runs = Multiset.counted({0: 2, 1: 4, 7: 1}), 100_000
    assert mechanism.answers(D) == (2.0, 4.0, 6.0)
    exact = by_quadrature(mechanism, D)
    assert math.fsum(exact.values()) == pytest.approx(1)
    found = counts(mechanism, D, runs, 5)
    for pattern, p in exact.items():
        # five standard deviations: false alarms 6e-7 each
        assert abs(found.get(pattern, 0) / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


@pytest.mark.parametrize("threshold", [-10, -2, 0, 1, 5, 20])
@pytest.mark.parametrize(("k", "zeros", "ones"), [(2, 1, 0), (5, 1, 0), (10, 1, 0), (5, 3, 4), (10, 8, 2)])
def test_epsilon_by_quadrature(threshold: int, k: int, zeros: int, ones: int) -> None:
    mechanism = AboveThreshold(1.0, float(threshold), (Count(0),) * (k - 1) + (Count(1),))
    p, q = (
        by_quadrature(mechanism, Multiset.counted({0: a, 1: b})) for a, b in ((zeros, ones), (zeros - 1, ones + 1))
    )
    assert max(abs(math.log(p[pattern] / q[pattern])) for pattern in p) <= 1 + 1e-9


def test_epsilon_is_nearly_attained() -> None:
    mechanism = AboveThreshold(1.0, -10.0, (Count(0),) * 9 + (Count(1),))
    p, q = (by_quadrature(mechanism, Multiset.counted(D)) for D in ({0: 1}, {1: 1}))
    last: Pattern = (False,) * 9 + (True,)
    assert math.log(q[last] / p[last]) == pytest.approx(0.9960125, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "k", "beta"), [(1.0, 1, 0.99), (1.0, 1, 0.05), (0.5, 4, 0.5), (2.0, 12, 0.5)])
def test_utility_by_quadrature(epsilon: float, k: int, beta: float) -> None:
    mechanism = AboveThreshold(epsilon, 500.0, (Count(0),) * (k - 1) + (Count(1),), beta)
    low, high = math.ceil(500 - mechanism.alpha) - 1, math.floor(500 + mechanism.alpha) + 1
    (claim,) = mechanism.utility(0)
    for last in (low, 500, high):
        D = Multiset.counted({0: low, 1: last})
        reached = math.fsum(
            p
            for pattern, p in by_quadrature(mechanism, D).items()
            if claim.goal.reached(Instance(D), tuple(ABOVE if above else BELOW for above in pattern))
        )
        assert reached >= claim.probability
        assert reached > 1 - beta / 4  # the slack: less than a quarter of β is ever used here


def test_what_is_accurate() -> None:
    goal = AccurateAbove((Count(0), Count(1)), 10.0, 3.0)
    low = Instance(Multiset.counted({0: 6, 1: 14}))
    assert goal.reached(low, (BELOW, ABOVE))
    assert not goal.reached(low, (BELOW, BELOW))
    assert not goal.reached(low, (ABOVE,))
    assert goal.reached(Instance(Multiset.counted({0: 6, 1: 8})), (BELOW, BELOW))
    assert goal.reached(Instance(Multiset.counted({0: 7, 1: 14})), (ABOVE,))  # a query close to T: no guarantee


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="queries"):
        AboveThreshold(1.0, 0.0, ())
    with pytest.raises(ParameterError, match="sensitivity"):
        AboveThreshold(1.0, 0.0, (Histogram((0, 1)),))
    assert AboveThreshold(1.0, 0.0, (Count(0),) * 3, 0.1).alpha == pytest.approx(8 * math.log(60))
