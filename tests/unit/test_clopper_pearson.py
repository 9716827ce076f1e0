"""Clopper-Pearson limits against two other implementations, their equations, and full enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from dpaudit.stats import clopper_pearson

ALPHAS = (0.5, 0.1, 0.05, 1e-3, 1e-9)


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    runs = draw(st.integers(1, 10**6))
    return draw(st.integers(0, runs)), runs


@settings(max_examples=100)
@given(counts(), st.sampled_from(ALPHAS))
def test_interval_agrees_with_statsmodels(count: tuple[int, int], alpha: float) -> None:
    expected = proportion_confint(*count, alpha=alpha, method="beta")
    assert clopper_pearson.interval(*count, alpha=alpha) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize(("successes", "runs"), [(0, 7), (1, 7), (4, 7), (7, 7), (31, 1000)])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_limits_agree_with_binomtest(successes: int, runs: int, alpha: float) -> None:
    def scipy_interval(alternative: Literal["two-sided", "less", "greater"]) -> tuple[float, float]:
        test = stats.binomtest(successes, runs, alternative=alternative)
        result = test.proportion_ci(1 - alpha, "exact")
        return result.low, result.high

    interval = clopper_pearson.interval(successes, runs, alpha=alpha)
    assert interval == pytest.approx(scipy_interval("two-sided"))
    assert clopper_pearson.lower(successes, runs, alpha=alpha) == pytest.approx(scipy_interval("greater")[0])
    assert clopper_pearson.upper(successes, runs, alpha=alpha) == pytest.approx(scipy_interval("less")[1])


@settings(max_examples=100)
@given(counts(), st.sampled_from(ALPHAS))
def test_limits_solve_their_equations(count: tuple[int, int], alpha: float) -> None:
    successes, runs = count
    low = clopper_pearson.lower(successes, runs, alpha=alpha)
    high = clopper_pearson.upper(successes, runs, alpha=alpha)
    if successes > 0:
        assert stats.binom.sf(successes - 1, runs, low) == pytest.approx(alpha, rel=1e-6)
    else:
        assert low == 0
    if successes < runs:
        assert stats.binom.cdf(successes, runs, high) == pytest.approx(alpha, rel=1e-6)
    else:
        assert high == 1


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_epsilon_lower_covers_by_enumeration(delta: float, alpha: float) -> None:
    n, m = 11, 8
    bounds = np.array(
        [
            [clopper_pearson.epsilon_lower(x, n, y, m, delta=delta, alpha=alpha) for y in range(m + 1)]
            for x in range(n + 1)
        ]
    )
    assert (bounds > 0).any()
    for q in np.linspace(0.01, 0.9, 30):
        for epsilon in np.linspace(0, 3, 31):
            p = min(1.0, math.exp(epsilon) * q + delta)
            weight = np.outer(
                stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q)
            )
            # Where p was cut to 1 the least admissible epsilon is smaller than the one of the grid.
            truth = max(0.0, math.log((p - delta) / q)) if p > delta else 0.0
            assert weight[bounds > truth + 1e-12].sum() <= alpha


def test_epsilon_lower_is_the_ratio_of_two_one_sided_limits() -> None:
    low = clopper_pearson.lower(40, 50, alpha=0.01)
    high = clopper_pearson.upper(3, 60, alpha=0.01)
    bound = clopper_pearson.epsilon_lower(40, 50, 3, 60, delta=0.02, alpha=0.02)
    assert bound == pytest.approx(math.log((low - 0.02) / high))


@pytest.mark.parametrize(
    ("x", "y", "delta"),
    [(0, 0, 0.0), (0, 100, 0.0), (100, 100, 0.0), (5, 0, 0.5), (100, 0, 1.0), (50, 50, 0.0)],
)
def test_epsilon_lower_is_zero_if_the_counts_show_nothing(x: int, y: int, delta: float) -> None:
    assert clopper_pearson.epsilon_lower(x, 100, y, 100, delta=delta, alpha=0.05) == 0.0


@pytest.mark.parametrize("function", [clopper_pearson.lower, clopper_pearson.upper, clopper_pearson.interval])
@pytest.mark.parametrize(
    ("successes", "runs", "alpha", "message"),
    [
        (2.5, 10, 0.05, "whole numbers"),
        (np.float64(2.0), 10, 0.05, "whole numbers"),
        (2, 10.0, 0.05, "whole numbers"),
        (11, 10, 0.05, "between 0 and the 10 runs"),
        (-1, 10, 0.05, "between 0 and the 10 runs"),
        (0, 0, 0.05, "at least 1"),
        (2, 10, 0.0, "alpha"),
        (2, 10, 1.0, "alpha"),
        (2, 10, math.nan, "alpha"),
    ],
)
def test_bad_arguments_are_refused(
    function: Callable[..., object], successes: int, runs: int, alpha: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(successes, runs, alpha=alpha)


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan])
def test_epsilon_lower_refuses_a_bad_delta(delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        clopper_pearson.epsilon_lower(5, 10, 1, 10, delta=delta, alpha=0.05)


def test_numpy_integers_are_counts() -> None:
    expected = clopper_pearson.interval(3, 10, alpha=0.05)
    assert clopper_pearson.interval(np.int64(3), np.int32(10), alpha=0.05) == expected  # type: ignore[arg-type]
