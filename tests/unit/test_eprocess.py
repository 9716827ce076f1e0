"""The e-process: expectations summed exactly over all outcomes, projections against brute force, and whole paths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from dpaudit.stats import eprocess
from dpaudit.stats.power import information_limit

Floats = NDArray[np.float64]

CLAIMS = [(0.0, 0.0), (0.1, 0.0), (1.0, 0.0), (5.0, 0.0), (0.0, 0.1), (0.4, 0.02), (1.0, 1e-5), (2.0, 0.6), (0.3, 1.0)]
BATCHES = [(1, 1), (8, 8), (12, 3), (1, 9)]
ALTERNATIVES = [(0.9, 0.2), (0.5, 0.02), (0.99, 0.9), (0.02, 1e-6), (1e-7, 1e-9), (1.0, 0.3), (0.4, 0.0), (1.0, 0.0)]


def null_points(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """Points of H0: along its boundary, densest at the ends, and inside."""
    ratio = math.exp(epsilon)
    end = (1 - delta) / ratio
    edge = [end * share for share in (0.0, 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0)]
    points = [(min(1.0, ratio * q + delta), q) for q in edge]
    points += [(0.7 * p, q) for p, q in points] + [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.3, 0.9)]
    return [(p, q) for p, q in points if p <= min(1.0, ratio * q + delta)]


def expectations(log_values: Floats, n: int, m: int, epsilon: float, delta: float) -> Floats:
    """E[e-value] at every null point: ``log_values`` has a row for each x and a column for each y."""
    values = np.exp(log_values)
    found = []
    for p, q in null_points(epsilon, delta):
        law = np.outer(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q))
        found.append((law * values).sum(axis=(-2, -1)))
    return np.array(found)


def outcomes(n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    x, y = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    return x, y


@pytest.mark.parametrize(("n", "m"), BATCHES)
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_expectation_of_a_batch_is_at_most_one_under_the_claim(n: int, m: int, epsilon: float, delta: float) -> None:
    x, y = outcomes(n, m)
    for p, q in ALTERNATIVES:
        log_e = eprocess.log_e_value(x, n, y, m, p=p, q=q, epsilon=epsilon, delta=delta)
        assert expectations(log_e, n, m, epsilon, delta).max() <= 1 + 1e-9


@pytest.mark.parametrize(("n", "m"), BATCHES)
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_expectation_of_a_signal_is_at_most_one_under_the_claim(n: int, m: int, epsilon: float, delta: float) -> None:
    x, y = outcomes(n, m)
    for p, q in [*ALTERNATIVES, (0.5, 0.5), (0.1, 0.9), (0.0, 1.0)]:
        log_e = eprocess.signal_log_e_values(x, n, y, m, p=p, q=q, epsilon=epsilon, delta=delta)
        assert log_e.shape == (eprocess.SIGNALS.size, n + 1, m + 1)
        assert expectations(log_e, n, m, epsilon, delta).max() <= 1 + 1e-9


def test_the_expectation_test_can_fail() -> None:
    """The projection with equal weights is no e-variable for a batch of n != m."""
    n, m, epsilon, delta, p, q = 12, 3, 1.0, 0.0, 0.9, 0.2
    x, y = outcomes(n, m)
    p_null, q_null = eprocess.null_projection(p, q, epsilon=epsilon, delta=delta)
    wrong = stats.binom.logpmf(x, n, p) - stats.binom.logpmf(x, n, p_null)
    wrong += stats.binom.logpmf(y, m, q) - stats.binom.logpmf(y, m, q_null)
    assert expectations(wrong, n, m, epsilon, delta).max() > 1.05


def test_an_alternative_that_obeys_the_claim_changes_nothing() -> None:
    x, y = outcomes(5, 7)
    assert not eprocess.log_e_value(x, 5, y, 7, p=0.3, q=0.3, epsilon=0.1, delta=0.0).any()
    assert not eprocess.log_e_value(x, 5, y, 7, p=0.0, q=0.0, epsilon=0.0, delta=0.0).any()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (30, 30), (40, 3), (2, 1000)])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS[:-1])
def test_projection_minimises_the_divergence(n: int, m: int, epsilon: float, delta: float) -> None:
    ratio = math.exp(epsilon)
    end = (1 - delta) / ratio
    for p, q in ALTERNATIVES[:5]:
        p_null, q_null = eprocess.null_projection(p, q, epsilon=epsilon, delta=delta, n=n, m=m)
        if p <= ratio * q + delta:
            assert (float(p_null), float(q_null)) == (p, q)
            continue

        def divergence(place: float, p: float = p, q: float = q) -> float:
            above = min(ratio * place + delta, 1.0)
            cost = n * p * math.log(p / above) + n * (1 - p) * math.log((1 - p) / max(1 - above, 1e-300))
            return cost + m * q * math.log(q / place) + m * (1 - q) * math.log((1 - q) / (1 - place))

        best = optimize.minimize_scalar(divergence, bounds=(q, min(end, (p - delta) / ratio)), method="bounded")
        assert p_null == pytest.approx(ratio * q_null + delta, rel=1e-12)
        assert divergence(float(q_null)) <= best.fun + 1e-12 * n * m


def test_projection_at_the_corners() -> None:
    everything_allowed = eprocess.null_projection(1.0, 0.0, epsilon=1.0, delta=1.0)
    assert tuple(map(float, everything_allowed)) == (1.0, 0.0)
    p, q = eprocess.null_projection(0.3, 0.0, epsilon=0.0, delta=0.2)
    assert p == pytest.approx(0.2, abs=1e-15)  # the slope at q = 0 is (.3 - .2)/(.2 * .8) - 1 < 0: the corner
    assert q == pytest.approx(0.0, abs=1e-15)
    p, q = eprocess.null_projection(1.0, 0.6, epsilon=0.5, delta=0.0)
    assert p == pytest.approx(1.0, abs=1e-12)
    assert q == pytest.approx(math.exp(-0.5), rel=1e-12)


def test_projection_of_arrays_is_that_of_their_elements() -> None:
    p, q, epsilons = np.array([[0.9], [0.4], [1e-3]]), np.array([[0.3], [0.001], [1e-9]]), np.linspace(0, 6, 13)
    together = eprocess.null_projection(p, q, epsilon=epsilons, delta=0.01, n=5, m=7)
    for i, j in itertools.product(range(3), range(13)):
        alone = eprocess.null_projection(p[i, 0], q[i, 0], epsilon=epsilons[j], delta=0.01, n=5, m=7)
        assert (together[0][i, j], together[1][i, j]) == pytest.approx(tuple(map(float, alone)), rel=1e-12)


def test_an_excluded_outcome_ends_a_test() -> None:
    claim: dict[str, Any] = {"epsilon": 0.0, "delta": 0.1}
    assert eprocess.log_e_value(4, 5, 0, 5, p=1.0, q=0.0, **claim) == -math.inf
    assert eprocess.log_e_value(5, 5, 1, 5, p=1.0, q=0.0, **claim) == -math.inf
    assert 0 < eprocess.log_e_value(5, 5, 0, 5, p=1.0, q=0.0, **claim) < math.inf


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS[:-1])
def test_evidence_is_monotone_in_the_counts(epsilon: float, delta: float) -> None:
    x, y = outcomes(9, 6)
    log_e = eprocess.log_e_value(x, 9, y, 6, p=0.95, q=1e-3, epsilon=epsilon, delta=delta)
    assert (np.diff(log_e, axis=0) >= 0).all()
    assert (np.diff(log_e, axis=1) <= 0).all()


def test_growth_at_the_truth_is_the_information_limit() -> None:
    for (p, q), (epsilon, delta) in itertools.product([(0.9, 0.2), (0.0268, 0.0068)], [(0.1, 0.0), (1.0, 1e-5)]):
        nats = float(eprocess.growth(p, q, p_hat=p, q_hat=q, epsilon=epsilon, delta=delta))
        limit = information_limit(p, q, epsilon=epsilon, delta=delta, alpha=0.05)
        assert math.log(20) / nats == pytest.approx(limit, rel=1e-6)
        other = eprocess.growth(p, q, p_hat=0.9 * p, q_hat=1.1 * q, epsilon=epsilon, delta=delta)
        assert other < nats


def test_growth_is_the_mean_of_the_log_e_value() -> None:
    x, y = outcomes(1, 1)
    log_e = eprocess.log_e_value(x, 1, y, 1, p=0.8, q=0.1, epsilon=0.7, delta=0.01)
    law = np.outer([0.4, 0.6], [0.7, 0.3])
    found = eprocess.growth(0.6, 0.3, p_hat=0.8, q_hat=0.1, epsilon=0.7, delta=0.01)
    assert found == pytest.approx((law * log_e).sum(), rel=1e-12)


def test_growth_falls_with_epsilon() -> None:
    found = eprocess.growth(0.9, 0.1, p_hat=0.9, q_hat=0.1, epsilon=np.linspace(0, 3, 31), delta=0.0)
    assert (np.diff(found) <= 0).all()
    assert found[0] > 0
    assert found[-1] == 0


def test_plug_in_lies_between_the_estimates_and_the_claim() -> None:
    p, q = eprocess.plug_in(60, 100, 20, 100, epsilon=0.5, delta=0.0)
    estimate = 60.5 / 101, 20.5 / 101
    assert math.exp(0.5) * q < p < estimate[0]
    assert estimate[1] < q
    # the more runs show it, the nearer to the estimates
    p_more, q_more = eprocess.plug_in(60_000, 100_000, 20_000, 100_000, epsilon=0.5, delta=0.0)
    assert (p_more, q_more) == pytest.approx((0.6, 0.2), rel=1e-3)


def test_plug_in_projects_where_the_estimates_do() -> None:
    """It is drawn along the line to the projection: the same null point is tested."""
    p, q = eprocess.plug_in(7, 20, 1, 20, epsilon=0.5, delta=0.01)
    found = eprocess.null_projection(p, q, epsilon=0.5, delta=0.01)
    expected = eprocess.null_projection(7.5 / 21, 1.5 / 21, epsilon=0.5, delta=0.01)
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9)


def test_plug_in_changes_nothing_without_evidence() -> None:
    for counts in [(0, 0, 0, 0), (3, 10, 3, 10), (0, 10, 10, 10)]:
        p, q = eprocess.plug_in(*counts, epsilon=0.1, delta=0.0)
        assert not eprocess.log_e_value(5, 8, 2, 8, p=p, q=q, epsilon=0.1, delta=0.0).any()


def test_process_multiplies_and_remembers_its_peaks() -> None:
    grid = [0.0, 0.5, 1.0]
    process = eprocess.EProcess(grid, 0.0)
    assert not process.log_values.any()
    process.update(9, 10, 1, 10, p=0.8, q=0.1)
    first = process.log_values
    assert first == pytest.approx(eprocess.log_e_value(9, 10, 1, 10, p=0.8, q=0.1, epsilon=grid, delta=0.0))
    assert (first > 0).all()
    process.update(1, 10, 5, 10, p=0.8, q=0.1)
    assert (process.log_values < first).all()
    assert (process.log_peaks == first).all()
    process.multiply([1.0, 2.0, -math.inf])
    process.multiply([100.0, 0.0, 50.0])
    assert process.log_values[2] == -math.inf
    assert process.log_peaks[2] == first[2]
    assert process.log_peaks[0] == process.log_values[0]


def test_an_alternative_for_every_epsilon() -> None:
    grid = np.array([0.0, 0.5, 2.0])
    p, q = eprocess.plug_in(60, 100, 20, 100, epsilon=grid, delta=0.0)
    process = eprocess.EProcess(grid, 0.0)
    process.update(30, 50, 10, 50, p=p, q=q)
    for i, epsilon in enumerate(grid):
        alone = eprocess.log_e_value(30, 50, 10, 50, p=p[i], q=q[i], epsilon=epsilon, delta=0.0)
        assert process.log_values[i] == pytest.approx(float(alone), abs=1e-12)


def test_bound_wants_a_peak_at_every_smaller_epsilon() -> None:
    grid = np.array([0.0, 0.1, 0.2, 0.3])
    enough = math.log(20)
    for peaks, bound in [
        ([9, 9, 9, 9], 0.3),
        ([9, 9, 0, 9], 0.1),
        ([9, 0, 9, 9], 0.0),
        ([0, 9, 9, 9], 0.0),
        ([enough, enough, enough, enough - 1e-9], 0.2),
    ]:
        assert eprocess.largest_rejected(grid, np.array(peaks, dtype=float), alpha=0.05) == bound
    assert eprocess.largest_rejected(np.array([0.4]), np.array([0.0]), alpha=0.05) == 0.0


def test_peaks_at_different_times_count_together() -> None:
    process = eprocess.EProcess([0.1, 0.2], 0.0)
    process.multiply([4.0, -2.0])
    process.multiply([-9.0, 6.0])
    assert process.epsilon_lower(0.05) == 0.2
    assert process.epsilon_lower(0.001) == 0.0


def test_mixture_is_the_weighted_average() -> None:
    mixture = eprocess.Mixture([0.1, 0.2], [0.5, 0.25])
    assert mixture.log_values == pytest.approx([0.0, 0.0])
    mixture.update(np.log([[4.0, 2.0], [1.0, 8.0]]))
    assert np.exp(mixture.log_values) == pytest.approx([0.5 * 4 + 0.25 + 0.25, 1 + 2 + 0.25])
    mixture.update([np.array([-math.inf, -math.inf]), np.zeros(2)])
    assert np.exp(mixture.log_values) == pytest.approx([0.5, 0.5])
    assert np.exp(mixture.log_peaks) == pytest.approx([2.5, 3.25])
    assert mixture.epsilon_lower(0.9) == 0.2
    assert mixture.epsilon_lower(0.35) == 0.0


def test_mixture_may_become_zero_at_full_strength() -> None:
    mixture = eprocess.Mixture([0.1], [0.5, 0.5])
    mixture.update([np.array([-math.inf]), np.array([-math.inf])])
    assert mixture.log_values[0] == -math.inf
    assert mixture.log_peaks[0] == 0.0


def test_signal_mixture_averages_its_signals() -> None:
    grid = np.array([0.1, 0.5])
    mixture = eprocess.SignalMixture(grid, 0.0)
    total = np.zeros((eprocess.SIGNALS.size, 2))
    for x, y, p, q in [(5, 2, 0.5, 0.5), (7, 1, 0.6, 0.3), (6, 0, 0.7, 0.2)]:
        mixture.update(x, 8, y, 8, p=p, q=q)
        total += eprocess.signal_log_e_values(x, 8, y, 8, p=p, q=q, epsilon=grid, delta=0.0)
    assert np.exp(mixture.log_values) == pytest.approx(np.exp(total).mean(axis=0))


def test_one_signal_is_a_likelihood_ratio_against_its_projection() -> None:
    """The two forms agree: the alternative that a strength stands for, put through `log_e_value`."""
    epsilon, delta, n, m = 0.3, 0.01, 6, 9
    p_null, q_null = 0.01 + math.exp(0.3) * 0.25, 0.25
    step = math.exp(0.3) * n / m
    noise = math.sqrt(p_null * (1 - p_null) + step**2 * q_null * (1 - q_null) * m / n)
    x, y = outcomes(n, m)
    found = eprocess.signal_log_e_values(x, n, y, m, p=p_null, q=q_null, epsilon=epsilon, delta=delta)
    for i, signal in list(enumerate(eprocess.SIGNALS))[1:]:  # the first strength is cut
        stake = signal / noise
        p, q = p_null + stake * p_null * (1 - p_null), q_null - step * stake * q_null * (1 - q_null)
        expected = eprocess.log_e_value(x, n, y, m, p=p, q=q, epsilon=epsilon, delta=delta)
        assert found[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def paths(
    p: float, q: float, epsilon: float | Floats, delta: float, *, number: int, runs: int, growth: float, seed: int
) -> Iterator[tuple[int, Floats]]:
    """(samples per dataset so far, log values of shape (2, number, grid)) of `number` paths after every batch.

    The first is what `EProcess` has with `plug_in`, the second what `SignalMixture` has: all paths at once.
    """
    rng = np.random.default_rng(seed)
    grid = np.atleast_1d(epsilon)
    x, y, done = np.zeros((number, 1), dtype=np.int64), np.zeros((number, 1), dtype=np.int64), 0
    plugged, signals = np.zeros((number, grid.size)), np.zeros((eprocess.SIGNALS.size, number, grid.size))
    while done < runs:
        size = max(8, math.ceil((growth - 1) * done))
        new_x, new_y = rng.binomial(size, p, (number, 1)), rng.binomial(size, q, (number, 1))
        a, b = eprocess.plug_in(x, done, y, done, epsilon=grid, delta=delta)
        plugged += eprocess.log_e_value(new_x, size, new_y, size, p=a, q=b, epsilon=grid, delta=delta)
        signals += eprocess.signal_log_e_values(new_x, size, new_y, size, p=a, q=b, epsilon=grid, delta=delta)
        x, y, done = x + new_x, y + new_y, done + size
        yield done, np.array([plugged, np.logaddexp.reduce(signals, axis=0) - math.log(len(signals))])


@pytest.mark.parametrize(
    ("q", "epsilon", "delta"),
    [(0.4, 0.1, 0.0), (1e-3, 1.0, 1e-5), (0.005, 5.0, 0.0), (1e-5, 0.5, 1e-4)],
)
def test_share_of_paths_that_ever_reject_a_true_claim(q: float, epsilon: float, delta: float) -> None:
    """2,000 paths of 100,000 samples per dataset, the claim held with equality.

    Two kinds and two levels: the test errs with probability below 4e-6 if the true shares are alpha.
    """
    number, peaks = 2_000, np.zeros(1)
    for _, values in paths(
        math.exp(epsilon) * q + delta, q, epsilon, delta, number=number, runs=100_000, growth=1.2, seed=20
    ):
        peaks = np.maximum(peaks, values[..., 0])
    for alpha, kind in itertools.product((0.05, 0.001), peaks):
        wrong = int((kind >= math.log(1 / alpha)).sum())
        assert stats.binomtest(wrong, number, alpha, alternative="greater").pvalue >= 1e-6


@pytest.mark.parametrize("true_epsilon", [0.55, 0.6])  # between two points of the grid, and on one
def test_bound_ever_exceeds_the_truth_rarely(true_epsilon: float) -> None:
    """500 paths of 3,000 runs; it errs with probability below 2e-6 at a true share of alpha = .05."""
    grid, q, alpha, number = np.linspace(0, 2, 21), 0.2, 0.05, 500
    p, peaks = math.exp(true_epsilon) * q, np.zeros(1)
    for _, values in paths(p, q, grid, 0.0, number=number, runs=3_000, growth=1.3, seed=21):
        peaks = np.maximum(peaks, values)
    for kind in list(peaks):
        bounds = np.array([eprocess.largest_rejected(grid, path, alpha=alpha) for path in np.asarray(kind)])
        over = int((bounds > true_epsilon).sum())
        assert stats.binomtest(over, number, alpha, alternative="greater").pvalue >= 1e-6
        assert 0.2 < float(np.median(bounds)) <= true_epsilon  # and it does see something


def test_a_violation_is_found_before_a_fixed_test_by_two_limits_would() -> None:
    """Laplace noise of scale 1/2 that claims 1: n* = 51 pairs; the Clopper-Pearson split needs 106 for 80 % power."""
    stopped = np.full((2, 400), np.inf)
    for done, values in paths(0.6546, 0.0980, 1.0, 0.0, number=400, runs=300, growth=1.1, seed=22):
        now = (values[..., 0] >= math.log(20)) & np.isinf(stopped)
        stopped[now] = done
    assert (np.median(stopped, axis=1) < 106).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 1.5}, "counts must be whole numbers"),
        ({"x": 11}, "the count must lie between 0 and the 10 runs, not be 11"),
        ({"y": -1}, "the count must lie between 0 and the 10 runs, not be -1"),
        ({"n": 0}, "a number of runs must be a whole number of at least 1, not 0"),
        ({"m": 2.0}, "a number of runs must be a whole number"),
        ({"p": 1.1}, "p must lie between 0 and 1, not be 1.1"),
        ({"q": math.nan}, "q must lie between 0 and 1, not be nan"),
        ({"epsilon": -0.1}, "epsilon must lie between 0 and 700, not be -0.1"),
        ({"epsilon": [0.1, 701.0]}, "epsilon must lie between 0 and 700, not be 701.0"),
        ({"delta": 2.0}, "delta must lie between 0 and 1, not be 2.0"),
    ],
)
@pytest.mark.parametrize("function", [eprocess.log_e_value, eprocess.signal_log_e_values])
def test_bad_input_of_a_batch(function: Any, change: dict[str, Any], message: str) -> None:
    given = {"x": 3, "n": 10, "y": 2, "m": 10, "p": 0.5, "q": 0.2, "epsilon": 0.1, "delta": 0.0, **change}
    with pytest.raises(ValueError, match=message):
        function(**given)


def test_bad_input_of_the_processes() -> None:
    for grid in ([], [0.2, 0.1], [0.1, 0.1], [[0.1]]):
        with pytest.raises(ValueError, match="epsilons must be an ascending list"):
            eprocess.EProcess(grid, 0.0)
    with pytest.raises(ValueError, match="delta must lie between"):
        eprocess.SignalMixture([0.1], -0.5)
    with pytest.raises(ValueError, match="epsilon must lie between 0 and 700, not be 800"):
        eprocess.EProcess([0.1, 800], 0.0)
    process = eprocess.EProcess([0.1, 0.2], 0.0)
    with pytest.raises(ValueError, match=r"shape \(2,\), not \(3,\)"):
        process.multiply([0.0, 0.0, 0.0])
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="must not be NaN or"):
            process.multiply([0.0, value])
    with pytest.raises(ValueError, match="alpha must lie strictly between"):
        process.epsilon_lower(0.0)
    for weights in ([], [0.7, 0.4], [0.5, 0.0], [0.5, math.nan]):
        with pytest.raises(ValueError, match="weights must be positive numbers with a sum of at most 1"):
            eprocess.Mixture([0.1], weights)
    with pytest.raises(ValueError, match=r"shape \(2, 1\), not \(1, 1\)"):
        eprocess.Mixture([0.1], [0.5, 0.5]).update(np.zeros((1, 1)))
    with pytest.raises(ValueError, match="2 peaks were given for 1 values"):
        eprocess.largest_rejected(np.zeros(1), np.zeros(2), alpha=0.05)


def test_no_warnings_at_extremes() -> None:
    with np.errstate(all="raise", under="ignore"):
        for (p, q), epsilon, delta in itertools.product(
            itertools.product([0.0, 1e-300, 0.5, 1.0], repeat=2), [0.0, 30.0, 700.0], [0.0, 1e-300, 0.5, 1.0]
        ):
            claim = {"epsilon": epsilon, "delta": delta}
            assert not np.isnan(eprocess.log_e_value(3, 5, 0, 4, p=p, q=q, **claim))
            assert not np.isnan(eprocess.signal_log_e_values(3, 5, 0, 4, p=p, q=q, **claim)).any()
