"""The Laplace mechanism: sensitivities, tail bound, rounding."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_epsilon
from scipy.stats import laplace

from dpaudit.interpret import law, sample
from dpaudit.language import REPLACE_ONE, Multiset, ParameterError, Query
from dpaudit_algorithms.foundations.laplace_mechanism import (
    Count,
    Histogram,
    LaplaceMechanism,
    LaplaceMechanismRounded,
    tail_bound,
)

S = Multiset.of((0, 1, 1, 2))


@pytest.mark.parametrize("query", [Count(1), Histogram((0,)), Histogram((0, 1)), Histogram((0, 1, 2))])
def test_sensitivity_is_the_largest_distance(query: Query) -> None:
    worst = max(
        np.abs(np.subtract(query(left), query(right))).sum()
        for left in product((0, 1, 2), repeat=3)
        for right in REPLACE_ONE.neighbours(left, (0, 1, 2))
    )
    assert worst == query.sensitivity


def test_noise_is_laplace_around_the_answers() -> None:
    drawn = sample(LaplaceMechanism(0.5, Histogram((0, 1, 2))), S, 100_000, seed=2).reals
    assert drawn.shape == (100_000, 3)
    for i, answer in enumerate((1, 2, 1)):
        # distribution function at five points, five standard deviations: false alarms 6e-7 a point
        for t in (-6, -1, 0, 1, 6):
            p = laplace.cdf(t, scale=4)
            assert abs(np.mean(drawn[:, i] - answer < t) - p) < 5 * math.sqrt(p * (1 - p) / 1e5)


@pytest.mark.parametrize("off_by", [1.0, 4.0, 12.0])
def test_tail_bound(off_by: float) -> None:
    drawn = sample(LaplaceMechanism(0.5, Histogram((0, 1, 2))), S, 100_000, seed=4).reals
    off = np.mean(np.abs(drawn - (1, 2, 1)).max(axis=1) > off_by)
    bound = tail_bound(0.5, 2.0, 3, off_by)
    assert off <= bound + 5 * math.sqrt(bound * (1 - bound) / 1e5)
    assert off == pytest.approx(1 - (1 - math.exp(-off_by / 4)) ** 3, abs=0.01)


def test_rounded_attains_epsilon() -> None:
    mechanism = LaplaceMechanismRounded(0.7, Count(1), -2, 8)
    assert exact_epsilon(mechanism, (0, 0, 0), (1, 0, 0), 0.0) == pytest.approx(0.7)


def test_rounded_is_the_noisy_answer_rounded() -> None:
    exact = law(LaplaceMechanismRounded(1.0, Count(1), 0, 4), S).as_dict()
    for v in range(5):
        low, high = (v if v else -math.inf), (v + 1 if v < 4 else math.inf)
        assert exact[v] == pytest.approx(laplace.cdf(high, loc=2) - laplace.cdf(low, loc=2))


@pytest.mark.parametrize(
    "bad",
    [
        lambda: LaplaceMechanism(0.0, Count()),
        lambda: LaplaceMechanismRounded(1.0, Count(), 3, 3),
        lambda: Histogram(()),
        lambda: Histogram((1, 1)),
    ],
)
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(ParameterError):
        bad()
