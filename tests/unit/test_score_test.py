"""The exact score test against brute force: every outcome, a fine grid of the nuisance parameter."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from dpaudit.stats import clopper_pearson, score_test
from dpaudit.stats.power import largest_certifiable

Floats = NDArray[np.float64]

CLAIMS = [(0.0, 0.0), (0.4, 0.0), (1.5, 0.0), (0.0, 0.1), (0.4, 0.02), (1.0, 0.3)]


def likelihood(x: int, n: int, y: int, m: int, p: float, q: float) -> float:
    return float(stats.binom.logpmf(x, n, p) + stats.binom.logpmf(y, m, q))


def reference_statistic(x: int, n: int, y: int, m: int, epsilon: float, delta: float) -> float:
    """T by the roots of the likelihood cubic and the ends of the boundary, the likeliest of them."""
    ratio = math.exp(epsilon)
    surplus = x / n - ratio * y / m - delta
    if surplus <= 0:
        return 0.0
    q = np.polynomial.Polynomial([0, 1])
    p = ratio * q + delta
    roots = (ratio * (x - n * p) * q * (1 - q) + (y - m * q) * p * (1 - p)).roots()
    end = min(1.0, (1 - delta) / ratio)
    real = [float(root) for root in np.real(roots[np.abs(np.imag(roots)) < 1e-7])]
    places = [0.0, end, *(root for root in real if 0 < root < end)]
    best = max(places, key=lambda place: likelihood(x, n, y, m, min(1.0, ratio * place + delta), place))
    variance = (ratio * best + delta) * (1 - ratio * best - delta) / n + ratio**2 * best * (1 - best) / m
    return surplus / math.sqrt(variance) if variance > 1e-15 else 0.0


@functools.cache
def reference_table(n: int, m: int, epsilon: float, delta: float) -> Floats:
    return np.array(
        [[reference_statistic(x, n, y, m, epsilon, delta) for y in range(m + 1)] for x in range(n + 1)]
    )


def outcome_laws(n: int, m: int, p: Floats, q: Floats) -> Floats:
    """The probability of every outcome (x, y) for each p and q: an array of shape (points, n + 1, m + 1)."""
    of_x = stats.binom.pmf(np.arange(n + 1), n, p[:, None])
    of_y = stats.binom.pmf(np.arange(m + 1), m, q[:, None])
    laws: Floats = of_x[:, :, None] * of_y[:, None, :]
    return laws


@functools.cache
def boundary(n: int, m: int, epsilon: float, delta: float) -> tuple[Floats, Floats, Floats]:
    """q, p and the outcome law at 801 points of the null boundary, dense near its ends."""
    end = min(1.0, (1 - delta) / math.exp(epsilon))
    q = end * np.sin(np.linspace(0, math.pi / 2, 801)) ** 2
    p = np.minimum(math.exp(epsilon) * q + delta, 1.0)
    return q, p, outcome_laws(n, m, p, q)


@pytest.mark.parametrize(("n", "m"), [(12, 12), (9, 4)])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_statistic_agrees_with_the_cubic(n: int, m: int, epsilon: float, delta: float) -> None:
    x, y = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    table = score_test.statistic(x, n, y, m, epsilon=epsilon, delta=delta)
    assert table == pytest.approx(reference_table(n, m, epsilon, delta), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("n", "m"), [(12, 12), (9, 4), (5, 40)])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_region_is_where_the_statistic_is_as_large(n: int, m: int, epsilon: float, delta: float) -> None:
    x, y = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    table = score_test.statistic(x, n, y, m, epsilon=epsilon, delta=delta)
    # A statistic of 1e-16 is a zero with a rounding error.
    for threshold in np.unique(table[table > 1e-9]):
        region = score_test.Region(n, m, math.exp(epsilon), delta, float(threshold))
        inside = x >= region.least(0, m)
        assert (inside == (table >= threshold * (1 - 1e-9))).all()


@settings(max_examples=300)
@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 8),
    st.sampled_from([0.0, 1e-9, 1e-3, 0.2, 0.9]),
)
def test_statistic_is_monotone(n: int, m: int, a: float, b: float, epsilon: float, delta: float) -> None:
    """The three facts that the module proves and everything else rests on."""
    x, y = round(a * (n - 1)), round(b * m)
    here, right, above = score_test.statistic(
        np.array([x, x + 1, x]), n, np.array([y, y, min(m, y + 1)]), m, epsilon=epsilon, delta=delta
    )
    (later,) = score_test.statistic(np.array([x]), n, np.array([y]), m, epsilon=epsilon + 0.01, delta=delta)
    slack = 1e-7 * here
    assert right >= here - slack
    assert above <= here + slack
    assert later <= here + slack


@settings(max_examples=60)
@given(
    st.sampled_from([30, 1000, 30_000]),
    st.sampled_from([30, 3000, 30_000]),
    st.floats(0.001, 0.9),
    st.floats(0.001, 0.9),
    st.sampled_from([(0.0, 0.0), (0.5, 1e-3), (3.0, 0.0)]),
    st.floats(0.1, 6),
)
def test_region_probability_is_the_binomial_sum(
    n: int, m: int, p: float, q: float, claim: tuple[float, float], threshold: float
) -> None:
    region = score_test.Region(n, m, math.exp(claim[0]), claim[1], threshold)
    y = np.arange(m + 1)
    expected = np.sum(stats.binom.pmf(y, m, q) * stats.binom.sf(region.least(0, m) - 1, n, p))
    result = region.probability(np.array([p]), np.array([1 - p]), np.array([q]), np.array([1 - q]))[0]
    assert expected * (1 - 1e-9) <= result <= expected * (1 + 1e-6) + 5e-15


@pytest.mark.slow(fast=["*-8-8-*", "0.4-0.02-*"])
@pytest.mark.parametrize("berger_boos", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize(("n", "m"), [(8, 8), (12, 5), (4, 12)])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_p_value_against_brute_force(
    n: int, m: int, epsilon: float, delta: float, berger_boos: float
) -> None:
    table = reference_table(n, m, epsilon, delta)
    q, p, law = boundary(n, m, epsilon, delta)
    for x in range(n + 1):
        for y in range(m + 1):
            value = score_test.p_value(x, n, y, m, epsilon=epsilon, delta=delta, berger_boos=berger_boos)
            if table[x, y] == 0:
                assert value == 1
                continue
            allowed = np.ones(q.size, dtype=bool)
            if berger_boos > 0:
                p_low, p_high = proportion_confint(x, n, berger_boos / 2, "beta")
                q_low, q_high = proportion_confint(y, m, berger_boos / 2, "beta")
                allowed = (p_low <= p) & (p <= p_high) & (q_low <= q) & (q <= q_high)
            if not allowed.any():
                continue
            worst = law[:, table >= table[x, y] * (1 - 1e-6)].sum(axis=1)[allowed].max()
            assert value >= min(1.0, worst + berger_boos) * (1 - 1e-9)
            # Above: 1 % of tolerance, and what the grid misses at the ends of the confidence set.
            assert value <= (worst + berger_boos) * (1.012 if berger_boos == 0 else 1.05) + 1e-12


def test_the_interior_of_the_null_hypothesis_is_no_worse() -> None:
    n, m, epsilon, delta = 8, 6, 0.5, 0.05
    table = reference_table(n, m, epsilon, delta)
    for x, y in [(4, 0), (6, 1), (8, 3), (8, 0)]:
        value = score_test.p_value(x, n, y, m, epsilon=epsilon, delta=delta, berger_boos=0)
        inside = table >= table[x, y] * (1 - 1e-6)
        for q in np.linspace(0, 1, 41):
            p = np.linspace(0, min(1.0, math.exp(epsilon) * q + delta), 21)
            assert (outcome_laws(n, m, p, np.full(p.size, q))[:, inside].sum(axis=1) <= value).all()


@pytest.mark.parametrize(("x", "n", "y", "m"), [(7, 10, 2, 10), (9, 12, 3, 8), (3, 5, 1, 14), (6, 6, 0, 3)])
def test_barnards_test_is_the_case_of_epsilon_and_delta_zero(x: int, n: int, y: int, m: int) -> None:
    expected = stats.barnard_exact([[x, y], [n - x, m - y]], alternative="greater", pooled=True)
    value = score_test.p_value(x, n, y, m, epsilon=0, delta=0, berger_boos=0)
    assert score_test.statistic(np.array([x]), n, np.array([y]), m, epsilon=0, delta=0)[0] == pytest.approx(
        expected.statistic
    )
    assert expected.pvalue * (1 - 1e-6) <= value <= expected.pvalue * 1.012


@pytest.mark.slow(fast=["*-12-12"])
@pytest.mark.parametrize(("n", "m"), [(12, 12), (20, 20), (25, 8)])
@pytest.mark.parametrize(
    ("epsilon", "delta", "alpha"),
    [(0.0, 0.0, 0.05), (0.4, 0.0, 0.2), (0.4, 0.02, 0.05), (0.8, 0.0, 0.02), (1.0, 0.3, 0.1)],
)
def test_size_by_enumeration(n: int, m: int, epsilon: float, delta: float, alpha: float) -> None:
    rejected = np.array(
        [
            [score_test.rejects(x, n, y, m, epsilon=epsilon, delta=delta, alpha=alpha) for y in range(m + 1)]
            for x in range(n + 1)
        ]
    )
    _, _, law = boundary(n, m, epsilon, delta)
    size = law[:, rejected].sum(axis=1).max()
    assert size <= alpha
    # And it is used: a test that never rejects would pass the line above.
    assert size >= 0.3 * alpha


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_rejects_is_the_p_value_held_against_alpha(delta: float) -> None:
    n, m, epsilon, alpha = 14, 11, 0.3, 0.1
    seen = set()
    for x in range(n + 1):
        for y in range(m + 1):
            value = score_test.p_value(x, n, y, m, epsilon=epsilon, delta=delta, berger_boos=alpha / 1000)
            decision = score_test.rejects(x, n, y, m, epsilon=epsilon, delta=delta, alpha=alpha)
            seen.add(decision)
            # The p-value may be reported up to 1 % too high, the decision is finer.
            if value <= alpha or value > 1.011 * alpha:
                assert decision == (value <= alpha)
    assert seen == {True, False}


@pytest.mark.parametrize(("x", "y"), [(6, 0), (7, 1), (9, 2)])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_error_of_the_confidence_set_is_paid_for(x: int, y: int, delta: float) -> None:
    """At an α less than α/1000 above the supremum the counts are not rejected, and a little further up they are.

    The supremum is over the confidence set of error α/1000, by brute force over 1,001 of its points.
    """
    n = m = 12
    epsilon = 0.3
    table, ratio = reference_table(n, m, epsilon, delta), math.exp(epsilon)
    inside = table >= table[x, y] * (1 - 1e-6)

    def worst(alpha: float) -> float:
        p_low, p_high = proportion_confint(x, n, alpha / 2000, "beta")
        q_low, q_high = proportion_confint(y, m, alpha / 2000, "beta")
        grid = np.linspace(max(q_low, (p_low - delta) / ratio), min(q_high, (p_high - delta) / ratio), 1_001)
        y_law = stats.binom.pmf(np.arange(m + 1), m, grid[:, None])
        x_law = stats.binom.pmf(np.arange(n + 1), n, ratio * grid[:, None] + delta)
        return float(np.einsum("ix,xy,iy->i", x_law, inside.astype(float), y_law).max())

    def rejected(times: float) -> bool:
        """At `times` the supremum."""
        alpha = 0.05
        for _ in range(8):
            alpha = worst(alpha) * times
        return score_test.rejects(x, n, y, m, epsilon=epsilon, delta=delta, alpha=alpha)

    assert not rejected(1 + 0.6e-3)
    assert rejected(1 + 1.6e-3)


@functools.cache
def bounds(n: int, m: int, delta: float, alpha: float) -> Floats:
    return np.array(
        [
            [score_test.epsilon_lower(x, n, y, m, delta=delta, alpha=alpha) for y in range(m + 1)]
            for x in range(n + 1)
        ]
    )


@pytest.mark.slow(fast=["12-*"])
@pytest.mark.parametrize(
    ("n", "m", "delta", "alpha"), [(9, 9, 0.0, 0.05), (8, 8, 0.1, 0.2), (12, 4, 0.02, 0.1), (4, 12, 0.0, 0.3)]
)
def test_epsilon_lower_covers_by_enumeration(n: int, m: int, delta: float, alpha: float) -> None:
    table = bounds(n, m, delta, alpha)
    worst = 0.0
    for epsilon in np.linspace(0, 3, 31):
        _, _, law = boundary(n, m, float(epsilon), delta)
        worst = max(worst, float(law[:, table > epsilon].sum(axis=1).max()))
    assert worst <= alpha
    assert worst >= 0.3 * alpha


@pytest.mark.slow
def test_epsilon_lower_is_monotone_in_the_counts_and_exceeds_the_split_bound() -> None:
    n, m, delta, alpha = 9, 9, 0.0, 0.05
    table = bounds(n, m, delta, alpha)
    assert (np.diff(table, axis=0) >= -1e-3).all()
    assert (np.diff(table, axis=1) <= 1e-3).all()
    split = np.array(
        [
            [clopper_pearson.epsilon_lower(x, n, y, m, delta=delta, alpha=alpha) for y in range(m + 1)]
            for x in range(n + 1)
        ]
    )
    assert (table >= split).all()


@pytest.mark.slow(fast=["0.0-*"])
@pytest.mark.parametrize(("delta", "alpha"), [(0.0, 0.05), (0.1, 0.2)])
def test_epsilon_lower_inverts_the_brute_force_p_value(delta: float, alpha: float) -> None:
    """Every epsilon below the bound is rejected, by enumeration; just above it one is not."""
    n, m = 9, 9
    bound_table = bounds(n, m, delta, alpha)
    level, certified = alpha - alpha / 1000, 0
    for x, y in [(9, 0), (9, 1), (8, 0), (9, 3), (7, 1), (5, 0), (6, 2), (4, 0), (3, 1)]:
        p_low, p_high = proportion_confint(x, n, alpha / 2000, "beta")
        q_low, q_high = proportion_confint(y, m, alpha / 2000, "beta")

        bound = float(bound_table[x, y])
        below = np.linspace(0, bound, 12)[: None if bound > 0 else 0]
        above = np.linspace(bound + 5e-3, bound + 0.1, 8)
        worst = []
        for epsilon in [*below, *above]:
            ratio, table = math.exp(epsilon), reference_table(n, m, float(epsilon), delta)
            if table[x, y] == 0:
                worst.append(1.0)
                continue
            inside = table >= table[x, y] * (1 - 1e-6)
            low, high = max(q_low, (p_low - delta) / ratio), min(q_high, (p_high - delta) / ratio)
            grid = np.linspace(low, high, 101) if low <= high else np.empty(0)
            # the end of the grid may lie above p = 1 by a rounding error
            laws = outcome_laws(n, m, np.minimum(ratio * grid + delta, 1.0), grid)
            worst.append(float(laws[:, inside].sum(axis=1).max(initial=0)))
        assert max(worst[: len(below)], default=0) <= level
        assert max(worst[len(below) :]) > level
        certified += bound > 0
    assert certified >= 4


@pytest.mark.parametrize(
    ("n", "m", "delta", "alpha"),
    [(14, 5, 0.02, 0.1), (10**5, 10**5, 0.001, 0.05), (1000, 1000, 0.0, 0.005), (50, 20_000, 0.3, 0.6)],
)
def test_epsilon_lower_is_below_the_first_epsilon_that_is_not_rejected(
    n: int, m: int, delta: float, alpha: float
) -> None:
    checked = 0
    for y, extra in itertools.product([0, 1, 4], [2, 8, 30]):
        x = min(n, math.ceil(n * delta) + extra)
        bound = score_test.epsilon_lower(x, n, y, m, delta=delta, alpha=alpha)
        # A verdict by `rejects` and a verdict by the bound must not contradict each other.
        for epsilon in np.linspace(0, bound, 9)[:-1] if bound > 0 else []:
            assert score_test.rejects(x, n, y, m, epsilon=float(epsilon), delta=delta, alpha=alpha)
            checked += 1
        near = np.linspace(bound * 1.001 + 2e-4, bound * 1.001 + 0.1, 12)
        assert not all(
            score_test.rejects(x, n, y, m, epsilon=float(epsilon), delta=delta, alpha=alpha)
            for epsilon in near
        )
    assert checked > 0


@pytest.mark.parametrize("runs", [10, 1000, 10**6])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_no_bound_passes_the_limit_of_every_procedure(runs: int, alpha: float) -> None:
    limit = largest_certifiable(runs, alpha)
    bound = score_test.epsilon_lower(runs, runs, 0, runs, delta=0, alpha=alpha)
    assert limit - 0.002 <= bound <= limit


@pytest.mark.parametrize(
    ("x", "y", "epsilon", "delta"),
    [(502_000, 500_000, 0.0, 0.0), (183_200, 110_000, 0.5, 0.001), (12_400, 10_000, 0.2, 0.0)],
)
def test_a_million_runs_agree_with_the_normal_law(x: int, y: int, epsilon: float, delta: float) -> None:
    n = 10**6
    (value,) = score_test.statistic(np.array([x]), n, np.array([y]), n, epsilon=epsilon, delta=delta)
    expected = stats.norm.sf(value)
    assert 1e-4 < expected < 0.2
    p_value = score_test.p_value(x, n, y, n, epsilon=epsilon, delta=delta)
    assert expected * 0.98 <= p_value <= expected * 1.06
    assert score_test.rejects(x, n, y, n, epsilon=epsilon, delta=delta, alpha=1.1 * p_value)
    assert not score_test.rejects(x, n, y, n, epsilon=epsilon, delta=delta, alpha=0.9 * p_value)


@pytest.mark.parametrize(("n", "m", "ratio", "delta"), [(2000, 2000, 1.5, 0.0), (300, 5000, 4.0, 0.01)])
def test_supremum_bounds_a_dense_grid(n: int, m: int, ratio: float, delta: float) -> None:
    region = score_test.Region(n, m, ratio, delta, 2.0)
    for low, high in [(0.0, 0.01), (0.02, 0.1), (0.0, (1 - delta) / ratio)]:
        q = np.linspace(low, high, 4001)
        p = np.minimum(ratio * q + delta, 1.0)
        dense = float(region.probability(p, 1 - p, q, 1 - q).max())
        bound = score_test.supremum(region, ratio, delta, (low, high))
        assert dense * (1 - 1e-9) <= bound <= dense * 1.011
        assert score_test.supremum(region, ratio, delta, (low, high), level=1.001 * bound) <= 1.001 * bound
        assert score_test.supremum(region, ratio, delta, (low, high), level=0.98 * dense) > 0.98 * dense


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": 2.5}, "whole numbers"),
        ({"y": np.float64(1)}, "whole numbers"),
        ({"x": 11}, "between 0 and the 10 runs"),
        ({"m": 0}, "at least 1"),
        ({"epsilon": -0.1}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 1.5}, "delta"),
        ({"berger_boos": -1e-6}, "berger_boos"),
        ({"berger_boos": 1.0}, "berger_boos"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, float], message: str) -> None:
    arguments = {"x": 5, "n": 10, "y": 1, "m": 10, "epsilon": 0.1, "delta": 0.0} | changes
    with pytest.raises(ValueError, match=message):
        score_test.p_value(**arguments)  # type: ignore[arg-type]


def test_a_bad_alpha_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha"):
        score_test.rejects(5, 10, 1, 10, epsilon=0.1, delta=0, alpha=0)
    with pytest.raises(ValueError, match="alpha"):
        score_test.epsilon_lower(5, 10, 1, 10, delta=0, alpha=1)


@pytest.mark.parametrize(
    ("x", "y", "delta"), [(0, 0, 0.0), (0, 10, 0.0), (10, 10, 0.0), (5, 5, 0.0), (10, 0, 1.0), (1, 0, 0.1)]
)
def test_the_bound_is_zero_where_the_counts_agree_with_the_claim(x: int, y: int, delta: float) -> None:
    assert score_test.p_value(x, 10, y, 10, epsilon=0, delta=delta) == 1
    assert not score_test.rejects(x, 10, y, 10, epsilon=0, delta=delta, alpha=0.4)
    assert score_test.epsilon_lower(x, 10, y, 10, delta=delta, alpha=0.4) == 0
