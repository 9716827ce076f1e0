"""Powers and limits against enumeration, and against a table of what tests cost."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from dpaudit.stats import clopper_pearson, score_test
from dpaudit.stats.power import (
    detectable_epsilon,
    information_limit,
    largest_certifiable,
    rejection_probability,
    runs_needed,
    smallest_visible_delta,
)


def laplace_events(epsilon: float) -> list[tuple[float, float]]:
    """(p, q) of the threshold events {output > t}: Laplace noise of scale 1/epsilon around 1 and around 0."""
    cuts = np.linspace(-1, 3, 801)
    law = stats.laplace(scale=1 / epsilon)
    return [(float(law.sf(t - 1)), float(law.sf(t))) for t in cuts]


def gaussian_events(sigma: float) -> list[tuple[float, float]]:
    cuts = np.linspace(-1, 12, 1301)
    return [(float(stats.norm.sf((t - 1) / sigma)), float(stats.norm.sf(t / sigma))) for t in cuts]


def half_the_sigma_of(epsilon: float, delta: float) -> float:
    """Half the least sigma of a Gaussian mechanism that is (epsilon, delta) (Balle and Wang 2018, Thm 8)."""
    low, high = 0.1, 10.0
    for _ in range(100):
        sigma = (low + high) / 2
        spent = stats.norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * stats.norm.cdf(
            -0.5 / sigma - epsilon * sigma
        )
        low, high = (sigma, high) if spent > delta else (low, sigma)
    return high / 2


def best_event(
    events: list[tuple[float, float]], epsilon: float, delta: float
) -> tuple[tuple[float, float], float]:
    limits = [information_limit(p, q, epsilon=epsilon, delta=delta, alpha=0.05) for p, q in events]
    least = int(np.argmin(limits))
    return events[least], limits[least]


COSTS = [
    # claim, events, and the columns n*, exact score test, Clopper-Pearson split of PEERS.md
    (0.1, 0.0, laplace_events(0.2), 1_389, 1_469, 3_130),
    (1.0, 0.0, laplace_events(2.0), 51, 50, 103),
    (1.0, 1e-5, gaussian_events(half_the_sigma_of(1.0, 1e-5)), 7_531, 7_633, 15_819),
]


@pytest.mark.slow(only=["1.0-1e-05-*"])
@pytest.mark.parametrize(("epsilon", "delta", "events", "limit", "score", "split"), COSTS)
def test_the_cost_table(
    epsilon: float, delta: float, events: list[tuple[float, float]], limit: int, score: int, split: int
) -> None:
    (p, q), found = best_event(events, epsilon, delta)
    assert found == pytest.approx(limit, abs=1.0)
    # The table's runs belong to an event of its own choice and one tooth of the saw: 4 %, not equality.
    assert runs_needed(p, q, epsilon=epsilon, delta=delta, alpha=0.05) == pytest.approx(score, rel=0.04)
    needed = runs_needed(p, q, epsilon=epsilon, delta=delta, alpha=0.05, method="clopper_pearson")
    assert needed == pytest.approx(split, rel=0.04)


@pytest.mark.parametrize("method", ["score", "clopper_pearson"])
@pytest.mark.parametrize("q", [5e-324, 2.2250738585072014e-308, 1e-300, 1e-201])
def test_what_hardly_ever_happens_is_what_never_does(method: Literal["score", "clopper_pearson"], q: float) -> None:
    hardly, never = (
        rejection_probability(0.3, x, 1000, 1000, epsilon=1.0, delta=0.01, alpha=0.001, method=method) for x in (q, 0.0)
    )
    assert hardly == pytest.approx(never)


def test_the_limit_of_a_slight_violation() -> None:
    _, found = best_event(laplace_events(0.11), 0.1, 0.0)
    assert found == pytest.approx(133_076, abs=2)


@pytest.mark.parametrize(
    ("p", "q", "epsilon", "delta"),
    [
        (0.5, 0.2, 0.3, 0.0),
        (0.3, 0.0, 0.5, 0.1),
        (1.0, 0.1, 1.0, 0.0),
        (0.9, 0.3, 0.5, 0.2),
        (1e-3, 1e-5, 1.0, 1e-4),
    ],
)
def test_information_limit_against_a_search_of_the_whole_null(
    p: float, q: float, epsilon: float, delta: float
) -> None:
    end = min(1.0, (1 - delta) / math.exp(epsilon))
    boundary = np.concatenate((np.geomspace(1e-12, end, 200_001), np.linspace(0, end, 200_001)))
    above = np.minimum(math.exp(epsilon) * boundary + delta, 1)

    def divergence(a: float, b: np.ndarray[tuple[int], np.dtype[np.float64]]) -> object:
        return special.rel_entr(a, b) + special.rel_entr(1 - a, 1 - b)

    least = np.min(divergence(p, above) + divergence(q, boundary))  # type: ignore[operator]
    expected = math.log(1 / 0.01) / least
    assert information_limit(p, q, epsilon=epsilon, delta=delta, alpha=0.01) == pytest.approx(
        expected, rel=1e-6
    )


def test_a_claim_that_holds_has_no_limit_and_no_number_of_runs() -> None:
    assert information_limit(0.2, 0.2, epsilon=0.1, delta=0, alpha=0.05) == math.inf
    with pytest.raises(ValueError, match="claim that holds"):
        runs_needed(0.2, 0.2, epsilon=0.1, delta=0, alpha=0.05)


@pytest.mark.slow(fast=["0.0-0.0-0.05-12-*", "0.4-*-12-12", "0.4-0.0-*-30-20"])
@pytest.mark.parametrize(("n", "m"), [(12, 12), (30, 20), (40, 40)])
@pytest.mark.parametrize(
    ("epsilon", "delta", "alpha"), [(0.0, 0.0, 0.05), (0.4, 0.0, 0.1), (0.4, 0.05, 0.05)]
)
def test_power_of_the_score_test_by_enumeration(
    n: int, m: int, epsilon: float, delta: float, alpha: float
) -> None:
    # The outer counts never decide: leave them out of the enumeration where their mass is negligible.
    truths = [(0.5, 0.2), (0.8, 0.3), (0.9, 0.5), (0.35, 0.02), (0.3, 0.3)]
    laws = [
        np.outer(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q))
        for p, q in truths
    ]
    needed = np.max(laws, axis=0) > 1e-4
    rejected = np.zeros(needed.shape, dtype=bool)
    for x, y in zip(*np.nonzero(needed), strict=True):
        rejected[x, y] = score_test.rejects(int(x), n, int(y), m, epsilon=epsilon, delta=delta, alpha=alpha)
    for (p, q), law in zip(truths, laws, strict=True):
        power = rejection_probability(p, q, n, m, epsilon=epsilon, delta=delta, alpha=alpha)
        assert power == pytest.approx(law[rejected].sum(), abs=0.05)


@pytest.mark.parametrize(("p", "q"), [(0.9, 0.2), (0.6, 0.05), (1.0, 0.0), (0.2, 0.2)])
def test_power_of_the_split_bound_by_enumeration(p: float, q: float) -> None:
    n, m, epsilon, delta, alpha = 30, 25, 0.5, 0.02, 0.1
    rejected = np.array(
        [
            [
                clopper_pearson.epsilon_lower(x, n, y, m, delta=delta, alpha=alpha) > epsilon
                for y in range(m + 1)
            ]
            for x in range(n + 1)
        ]
    )
    law = np.outer(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q))
    power = rejection_probability(
        p, q, n, m, epsilon=epsilon, delta=delta, alpha=alpha, method="clopper_pearson"
    )
    assert power == pytest.approx(law[rejected].sum(), abs=1e-12)


def test_power_of_a_large_audit_is_the_normal_power() -> None:
    n, p, q, epsilon = 10**6, 0.3333, 0.3, 0.1
    ratio = math.exp(epsilon)
    mean = (p - ratio * q) / math.sqrt(p * (1 - p) / n + ratio**2 * q * (1 - q) / n)
    expected = stats.norm.sf(stats.norm.isf(0.01) - mean)
    assert 0.2 < expected < 0.9
    power = rejection_probability(p, q, n, n, epsilon=epsilon, delta=0, alpha=0.01)
    assert power == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("method", ["score", "clopper_pearson"])
@pytest.mark.parametrize(("p", "q", "epsilon"), [(0.6, 0.1, 1.0), (0.02, 0.0, 0.1), (1.0, 0.3, 1.1)])
def test_runs_needed_is_where_the_power_is_reached(p: float, q: float, epsilon: float, method: str) -> None:
    arguments = {"epsilon": epsilon, "delta": 0.0, "alpha": 0.05, "method": method}
    runs = runs_needed(p, q, power=0.7, **arguments)  # type: ignore[arg-type]
    assert rejection_probability(p, q, runs, runs, **arguments) >= 0.7  # type: ignore[arg-type]
    assert runs > 1
    assert rejection_probability(p, q, runs - 1, runs - 1, **arguments) < 0.7  # type: ignore[arg-type]


@pytest.mark.parametrize(("n", "q"), [(100, 0.3), (100, 0.01), (10**4, 1e-3), (10**6, 1e-6), (10**6, 0.4)])
def test_detectable_epsilon_is_where_the_power_is_reached(n: int, q: float) -> None:
    found = detectable_epsilon(q, n, n, epsilon=0.2, delta=1e-4, alpha=0.05, power=0.9)

    def power(true_epsilon: float) -> float:
        p = min(1.0, math.exp(true_epsilon) * q + 1e-4)
        return rejection_probability(p, q, n, n, epsilon=0.2, delta=1e-4, alpha=0.05)

    assert 0.2 < found < math.inf
    assert power(found) >= 0.9 - 0.005
    assert power(0.2 + 0.97 * (found - 0.2)) < 0.9


def test_what_cannot_be_detected_is_infinite() -> None:
    claim = {"epsilon": 0.5, "delta": 0.0, "alpha": 0.05}
    assert detectable_epsilon(0.0, 10**6, 10**6, **claim) == math.inf
    assert (
        detectable_epsilon(0.9, 10**6, 10**6, **claim) == math.inf
    )  # exp(0.5) * 0.9 > 1: p is never too large
    assert detectable_epsilon(0.5, 4, 4, **claim) == math.inf
    assert detectable_epsilon(0.5, 400, 400, **claim) < math.inf


@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize("runs", [1, 3, 4, 50, 10**6])
def test_largest_certifiable_is_the_limit_of_its_method(runs: int, alpha: float) -> None:
    split = clopper_pearson.epsilon_lower(runs, runs, 0, runs, delta=0, alpha=alpha)
    limit = largest_certifiable(runs, alpha, method="clopper_pearson")
    assert limit == pytest.approx(split, rel=1e-9, abs=1e-12)
    best = largest_certifiable(runs, alpha)
    assert best >= limit
    if best > 0:
        # At the limit some pair of the null hypothesis shows the extreme counts with probability alpha.
        q = np.linspace(0, math.exp(-best), 100_001)
        worst = np.max((np.exp(best) * q * (1 - q)) ** runs)
        assert worst == pytest.approx(alpha, rel=1e-3)
    else:
        assert (1 / 4) ** runs >= alpha


def test_rules_of_thumb() -> None:
    assert largest_certifiable(10**6, 0.05, method="clopper_pearson") == pytest.approx(
        math.log(10**6 / 3.7), abs=0.005
    )
    assert smallest_visible_delta(1000, 0.05) == pytest.approx(3 / 1000, rel=0.01)
    assert stats.binom.pmf(0, 1000, smallest_visible_delta(1000, 0.05)) == pytest.approx(0.05)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="p must"):
        rejection_probability(1.1, 0.1, 10, 10, epsilon=0, delta=0, alpha=0.05)
    with pytest.raises(ValueError, match="q must"):
        information_limit(0.5, math.nan, epsilon=0, delta=0, alpha=0.05)
    with pytest.raises(ValueError, match="number of runs"):
        rejection_probability(0.5, 0.1, 10, 0, epsilon=0, delta=0, alpha=0.05)
    with pytest.raises(ValueError, match="number of runs"):
        smallest_visible_delta(2.5, 0.05)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alpha"):
        largest_certifiable(10, 0.5)
    with pytest.raises(ValueError, match="power"):
        detectable_epsilon(0.1, 10, 10, epsilon=0, delta=0, alpha=0.05, power=1)


@settings(max_examples=25)
@given(
    runs=st.integers(1, 3_000),
    alpha=st.sampled_from([0.05, 0.001, 1e-6]),
    delta=st.sampled_from([0.0, 1e-6, 0.01, 0.3, 0.9]),
)
def test_largest_certifiable_with_a_delta(runs: int, alpha: float, delta: float) -> None:
    """No counts certify more than x = runs, y = 0 does, and that is at most the limit, and not far below it."""
    reached = score_test.epsilon_lower(runs, runs, 0, runs, delta=delta, alpha=alpha)
    assert reached <= largest_certifiable(runs, alpha, delta=delta) + 1e-9
    assert reached >= largest_certifiable(runs, alpha, delta=delta) - 0.02
