"""The e-process: expectations summed exactly over all outcomes, the form of its e-values, and whole paths."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpaudit.stats import eprocess
from dpaudit.stats.boundary import nearest
from dpaudit.stats.eprocess import Counts, EProcess

Floats = NDArray[np.float64]

CLAIMS = [(0.0, 0.0), (0.1, 0.0), (1.0, 0.0), (5.0, 0.0), (0.0, 0.1), (0.4, 0.02), (1.0, 1e-5), (2.0, 0.6), (0.3, 1.0)]
BATCHES = [(1, 1), (8, 8), (12, 3), (1, 9)]
PASTS = [
    Counts(0, 0, 0, 0), Counts(18, 20, 4, 20), Counts(10, 20, 0, 20), Counts(99, 100, 90, 100), Counts(2, 100, 0, 900),
    Counts(20, 20, 6, 20), Counts(400, 1_000, 0, 1_000), Counts(1_000, 1_000, 0, 1_000), Counts(1, 10, 9, 10),
]
FEW = [(1, 1), (3, 3), (4, 2)]
OTHER_PASTS = [Counts(18, 20, 4, 20), Counts(3, 20, 0, 20), Counts(0, 20, 5, 20), Counts(500, 1_000, 1, 1_000)]


def null_points(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """Points of H0: along its boundary, densest at the ends, and inside."""
    ratio = math.exp(epsilon)
    end = (1 - delta) / ratio
    edge = [end * share for share in (0.0, 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0)]
    points = [(min(1.0, ratio * q + delta), q) for q in edge]
    points += [(0.7 * p, q) for p, q in points] + [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.3, 0.9)]
    return [(p, q) for p, q in points if p <= min(1.0, ratio * q + delta)]


def e_values(n: int, m: int, past: Counts, epsilon: float, delta: float) -> Floats:
    """Of every strategy for every outcome (x, y) of a batch, shape (strategies, n + 1, m + 1)."""
    found = [
        [_e_values(Counts(x, n, y, m), past=past, epsilon=epsilon, delta=delta) for y in range(m + 1)]
        for x in range(n + 1)
    ]
    return np.moveaxis(np.array(found), -1, 0)


def _e_values(
    batch: Counts, *, past: Counts, epsilon: float, delta: float, other: Counts | None = None,
    other_past: Counts | None = None, both: tuple[int, int] = (0, 0),
) -> Floats:
    """Of every strategy, shape (strategies,)."""
    other = Counts(0, batch.m, 0, batch.n) if other is None else other
    other_past = Counts(0, past.m, 0, past.n) if other_past is None else other_past
    found: Floats = np.exp(
        eprocess._log_e_values((batch, other), both, (past, other_past), np.exp([epsilon]), delta)[:, 0]
    )
    return found


@pytest.mark.parametrize(("n", "m"), BATCHES)
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_expectation_of_a_batch_is_at_most_one_under_the_claim(n: int, m: int, epsilon: float, delta: float) -> None:
    for past in PASTS:
        values = e_values(n, m, past, epsilon, delta)
        assert (values >= 0).all()
        for p, q in null_points(epsilon, delta):
            law = np.outer(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(m + 1), m, q))
            assert (law * values).sum(axis=(1, 2)).max() <= 1 + 1e-9


def kernels(epsilon: float, delta: float, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """Probabilities under D and D′ of: neither event, the first, the second, both; the claim holds, mostly tightly.

    It holds for the first from D to D′, and for the second from D′ to D.
    """
    ratio, found = math.exp(epsilon), 0
    while found < 12:
        p, q = rng.dirichlet(np.full(4, 0.7), size=2)
        # on the way from q to p the claim is first broken somewhere, if it is
        for share in np.linspace(1, 0, 40):
            left = share * p + (1 - share) * q
            one, other = (side[[1, 2]] + side[3] for side in (left, q))
            if one[0] <= ratio * other[0] + delta and other[1] <= ratio * one[1] + delta:
                found += 1
                yield left, q
                break


@pytest.mark.parametrize(("n", "m"), FEW)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.3, 0.0), (2.0, 0.0), (0.4, 0.02), (1.0, 1e-5)])
def test_expectation_with_two_events_is_at_most_one_under_the_claim(
    n: int, m: int, epsilon: float, delta: float
) -> None:
    """Whatever they have in common, and whatever the past says of it."""
    rng = np.random.default_rng(8)
    # numbers of runs in neither, the first, the second, both
    lefts, rights = ([c for c in itertools.product(range(k + 1), repeat=4) if sum(c) == k] for k in (n, m))
    pairs = [
        (left, right, law) for left, right in kernels(epsilon, delta, rng)
        for law in [np.outer(stats.multinomial.pmf(lefts, n, left), stats.multinomial.pmf(rights, m, right))]
    ]
    moved = 0.0
    for past, other_past in itertools.product([*PASTS[1:3], PASTS[6]], OTHER_PASTS):
        values = np.array([
            [
                _e_values(
                    Counts(a[1] + a[3], n, b[1] + b[3], m), past=past, epsilon=epsilon, delta=delta,
                    other=Counts(b[2] + b[3], m, a[2] + a[3], n), other_past=other_past, both=(a[3], b[3]),
                )
                for b in rights
            ]
            for a in lefts
        ])
        assert (values >= 0).all()
        moved = max(moved, float(np.ptp(values)))
        for _, _, law in pairs:
            assert (law[..., None] * values).sum(axis=(0, 1)).max() <= 1 + 1e-9
    assert moved > 0.5


def test_the_expectation_test_can_fail() -> None:
    """Twice the stakes of the other dataset are no e-value, and neither are hits of one that is left out."""
    n = m = 3
    lefts = [c for c in itertools.product(range(n + 1), repeat=4) if sum(c) == n]
    law = np.outer(*[stats.multinomial.pmf(lefts, n, [0.1, 0.4, 0.1, 0.4])] * 2)
    values = np.array([
        [
            _e_values(
                Counts(a[1] + a[3], n, b[1] + b[3], m), past=Counts(18, 20, 4, 20), epsilon=0.0, delta=0.0,
                other=Counts(b[2], m, a[2] + a[3], n), other_past=Counts(18, 20, 4, 20), both=(a[3], 0),
            )[0]
            for b in lefts
        ]
        for a in lefts
    ])
    assert (law * values).sum() < 1 - 1e-3, "hits that are left out on one side"
    wrong = np.array([
        [
            _e_values(
                Counts(a[1] + a[3], n, b[1] + b[3], m), past=Counts(18, 20, 4, 20), epsilon=0.0, delta=0.0,
                other=Counts(b[2] + b[3], m, a[2], n), other_past=Counts(18, 20, 4, 20), both=(0, b[3]),
            )[0]
            for b in lefts
        ]
        for a in lefts
    ])
    assert (law * wrong).sum() > 1 + 1e-3


@pytest.mark.parametrize(("n", "m"), BATCHES)
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS[:-1])
def test_one_event_gives_a_likelihood_ratio_against_its_projection(
    n: int, m: int, epsilon: float, delta: float
) -> None:
    """The stakes of a strength stand for an alternative, of which the point of the line is the projection."""
    past, ratio = Counts(30, 40, 4, 40), math.exp(epsilon)
    estimate = (30.5 / 41, 4.5 / 41)
    p_null, q_null = map(float, nearest(*estimate, ratio=ratio, delta=delta, n=n, m=m))
    step = ratio * n / m
    noise = math.sqrt(p_null * (1 - p_null) + step * ratio * q_null * (1 - q_null))
    values = e_values(n, m, past, epsilon, delta)
    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
    compared = 0
    for signal, found in zip(eprocess.SIGNALS, values[1:], strict=True):
        stake = signal / noise
        if stake * max(p_null, step * (1 - q_null)) > 0.95:
            # it would make a factor negative, so it is cut
            continue
        compared += 1
        p, q = p_null + stake * p_null * (1 - p_null), q_null - step * stake * q_null * (1 - q_null)
        expected = stats.binom.logpmf(x, n, p) - stats.binom.logpmf(x, n, p_null)
        expected = expected + stats.binom.logpmf(y, m, q) - stats.binom.logpmf(y, m, q_null)
        assert np.log(found) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert compared >= 4


def test_the_suggested_stakes_are_those_of_the_estimates_where_they_are_certain() -> None:
    """Of one event: the likelihood ratio of the estimates against their projection, which grows fastest."""
    past = Counts(600_000, 1_000_000, 200_000, 1_000_000)
    p_null, q_null = map(float, nearest(0.6, 0.2, ratio=math.exp(0.5), delta=0.0, n=1, m=1))
    found = e_values(1, 1, past, 0.5, 0.0)[0]
    expected = np.outer([0.4 / (1 - p_null), 0.6 / p_null], [0.8 / (1 - q_null), 0.2 / q_null])
    assert found == pytest.approx(expected, rel=1e-4)


def test_nothing_is_staked_on_what_is_not_seen() -> None:
    for past in [Counts(0, 0, 0, 0), Counts(3, 10, 3, 10), Counts(0, 10, 10, 10)]:
        assert _e_values(Counts(5, 8, 2, 8), past=past, epsilon=0.1, delta=0.0)[0] == 1


def test_a_second_event_that_shows_as_much_refutes_earlier() -> None:
    """Far apart, both directions together are worth nearly twice the runs."""
    past = Counts(50, 1_000, 10, 1_000)
    alone = np.log(_e_values(Counts(100, 2_000, 20, 2_000), past=past, epsilon=0.5, delta=0.0))
    together = np.log(
        _e_values(
            Counts(100, 2_000, 20, 2_000), past=past, epsilon=0.5, delta=0.0, other=Counts(100, 2_000, 20, 2_000),
            other_past=past,
        )
    )
    assert 1.8 * alone[0] < together[0] < 2.0 * alone[0]


def test_datasets_may_change_places() -> None:
    """The first event and the other one, with the datasets the other way round."""
    first, other = Counts(4, 12, 1, 12), Counts(5, 12, 1, 12)
    past, other_past = Counts(30, 120, 3, 120), Counts(36, 120, 6, 120)
    more = {"epsilon": 0.3, "delta": 0.01}
    one = _e_values(first, past=past, other=other, other_past=other_past, both=(1, 0), **more)
    two = _e_values(other, past=other_past, other=first, other_past=past, both=(0, 1), **more)
    assert one == pytest.approx(two, rel=1e-9)
    assert one[0] != pytest.approx(_e_values(first, past=past, epsilon=0.3, delta=0.01)[0], rel=0.01)


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS[:-1])
def test_evidence_is_monotone_in_the_counts(epsilon: float, delta: float) -> None:
    values = e_values(9, 6, Counts(950, 1_000, 1, 1_000), epsilon, delta)
    assert (np.diff(values, axis=1) >= 0).all()
    assert (np.diff(values, axis=2) <= 0).all()


def test_process_is_the_average_of_its_strategies() -> None:
    grid = np.array([0.1, 0.5])
    process, wealth = EProcess(grid, 0.0), np.ones((1 + eprocess.SIGNALS.size, 2))
    weights = np.exp(eprocess._LOG_WEIGHTS)
    assert weights.sum() == pytest.approx(1)
    past = Counts(0, 0, 0, 0)
    peaks = np.zeros(2)
    for x, y in [(5, 2), (7, 1), (0, 8), (6, 0)]:
        batch = Counts(x, 8, y, 8)
        process.update(batch, past=past)
        # what is shared out before a batch leaves the average as it is
        shared = 0.97 * wealth + 0.03 * (weights @ wealth)
        assert weights @ shared == pytest.approx(weights @ wealth)
        wealth = shared * np.exp(
            eprocess._log_e_values((batch, Counts(0, 8, 0, 8)), (0, 0), (past, Counts(0, past.m, 0, past.n)),
                                   np.exp(grid), 0.0)
        )
        assert np.exp(process.log_values) == pytest.approx(weights @ wealth)
        peaks = np.maximum(peaks, process.log_values)
        assert (process.log_peaks == peaks).all()
        past = Counts(*(a + b for a, b in zip(past, batch, strict=True)))


def test_a_point_takes_the_place_of_the_grid() -> None:
    """Of a curve, every batch may test another (ε, δ)."""
    batch, past = Counts(9, 10, 1, 10), Counts(18, 20, 2, 20)
    one, other = EProcess([0.7], 0.0), EProcess([0.2], 0.05)
    one.update(batch, past=past, point=(0.2, 0.05))
    other.update(batch, past=past)
    assert one.log_values == pytest.approx(other.log_values)
    assert one.log_values[0] > 0


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


def paths(
    p: float, q: float, epsilon: float | list[float], delta: float, *, number: int, runs: int, growth: float, seed: int
) -> Iterator[Iterator[tuple[int, EProcess]]]:
    """(samples per dataset so far, the process) after every batch, of `number` paths; the event and its complement."""
    for path in range(number):
        yield _path(p, q, epsilon, delta, runs=runs, growth=growth, rng=np.random.default_rng([seed, path]))


def _path(
    p: float, q: float, epsilon: float | list[float], delta: float, *, runs: int, growth: float,
    rng: np.random.Generator,
) -> Iterator[tuple[int, EProcess]]:
    process, x, y, done = EProcess(np.atleast_1d(epsilon), delta), 0, 0, 0
    while done < runs:
        size = max(8, math.ceil((growth - 1) * done))
        a, b = int(rng.binomial(size, p)), int(rng.binomial(size, q))
        process.update(
            Counts(a, size, b, size), past=Counts(x, done, y, done),
            other=Counts(size - b, size, size - a, size), other_past=Counts(done - y, done, done - x, done),
        )
        x, y, done = x + a, y + b, done + size
        yield done, process


@pytest.mark.parametrize(
    ("q", "epsilon", "delta"),
    [(0.4, 0.1, 0.0), (1e-3, 1.0, 1e-5), (0.005, 5.0, 0.0), (1e-5, 0.5, 1e-4), (1 / (1 + math.e), 1.0, 0.0)],
)
def test_share_of_paths_that_ever_reject_a_true_claim(q: float, epsilon: float, delta: float) -> None:
    """300 paths of 20,000 samples per dataset, the claim held with equality (the last one in both directions).

    Two levels: the test errs with probability below 2e-6 if the true shares are alpha.
    """
    number = 300
    peaks = []
    for path in paths(
        math.exp(epsilon) * q + delta, q, epsilon, delta, number=number, runs=20_000, growth=1.3, seed=20
    ):
        *_, (_, process) = path
        peaks.append(float(process.log_peaks[0]))
    for alpha in (0.05, 0.001):
        wrong = int((np.array(peaks) >= math.log(1 / alpha)).sum())
        assert stats.binomtest(wrong, number, alpha, alternative="greater").pvalue >= 1e-6


@pytest.mark.parametrize("true_epsilon", [0.55, 0.6])  # between two points of the grid, and on one
def test_bound_ever_exceeds_the_truth_rarely(true_epsilon: float) -> None:
    """200 paths of 3,000 runs; it errs with probability below 1e-6 at a true share of alpha = .05."""
    grid, q, alpha, number = np.linspace(0, 2, 21).tolist(), 0.2, 0.05, 200
    bounds = []
    for path in paths(math.exp(true_epsilon) * q, q, grid, 0.0, number=number, runs=3_000, growth=1.3, seed=21):
        *_, (_, process) = path
        bounds.append(process.epsilon_lower(alpha))
    over = int((np.array(bounds) > true_epsilon).sum())
    assert stats.binomtest(over, number, alpha, alternative="greater").pvalue >= 1e-6
    assert 0.2 < float(np.median(bounds)) <= true_epsilon  # and it does see something


def test_a_violation_is_found_before_a_fixed_test_by_two_limits_would() -> None:
    """Laplace noise of scale 1/2 that claims 1: n* = 51 pairs; the Clopper–Pearson split needs 106 for 80 % power."""
    stopped = [
        next((done for done, process in path if process.log_peaks[0] >= math.log(20)), math.inf)
        for path in paths(0.6546, 0.0980, 1.0, 0.0, number=200, runs=300, growth=1.1, seed=22)
    ]
    assert float(np.median(stopped)) < 106


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 1.5}, "counts must be whole numbers"),
        ({"x": 11}, "the count must lie between 0 and the 10 runs, not be 11"),
        ({"y": -1}, "the count must lie between 0 and the 10 runs, not be -1"),
        ({"n": 0}, "a number of runs must be a whole number of at least 1, not 0"),
        ({"m": 2.0}, "a number of runs must be a whole number"),
        ({"other": Counts(5, 10, 3, 9)}, "the runs of both events are the same"),
        ({"other": Counts(5, 10, 8, 10)}, "of 10 runs 3 are in the first event and 8 in the other, so not 0 in both"),
        ({"other": Counts(5, 10, 8, 10), "both": (4, 0)}, "so not 4 in both"),
        ({"past": Counts(4, 3, 0, 3)}, "the count must lie between 0 and the 3 runs, not be 4"),
        ({"point": (-0.1, 0.0)}, "epsilon must lie between 0 and 700, not be -0.1"),
        ({"point": (0.1, 2.0)}, "delta must lie between 0 and 1, not be 2.0"),
    ],
)
def test_bad_input_of_a_batch(change: dict[str, Any], message: str) -> None:
    counts: Any = {"x": 3, "n": 10, "y": 2, "m": 10, **{k: v for k, v in change.items() if k in "xnym"}}
    more = {"past": Counts(0, 0, 0, 0), **{k: v for k, v in change.items() if k not in "xnym"}}
    process = EProcess([0.1], 0.0)
    with pytest.raises(ValueError, match=message):
        process.update(Counts(**counts), **more)
    assert not process.log_values.any()


def test_bad_input_of_a_process() -> None:
    for grid in ([], [0.2, 0.1], [0.1, 0.1], [[0.1]]):
        with pytest.raises(ValueError, match="epsilons must be an ascending list"):
            EProcess(grid, 0.0)
    with pytest.raises(ValueError, match="delta must lie between"):
        EProcess([0.1], -0.5)
    for epsilon in (800, math.nan):
        with pytest.raises(ValueError, match="epsilon must lie between 0 and 700, not be"):
            EProcess([epsilon], 0.0)
    with pytest.raises(ValueError, match="alpha must lie strictly between"):
        EProcess([0.1], 0.0).epsilon_lower(0.0)
    with pytest.raises(ValueError, match="2 peaks were given for 1 values"):
        eprocess.largest_rejected(np.zeros(1), np.zeros(2), alpha=0.05)


def test_no_warnings_at_extremes() -> None:
    with np.errstate(all="raise", under="ignore"):
        for past, other_past, epsilon, delta in itertools.product(
            [*PASTS, Counts(10**9, 10**9, 0, 10**9)], [None, *OTHER_PASTS, Counts(10**9, 10**9, 0, 10**9)],
            [0.0, 30.0, 700.0], [0.0, 1e-300, 0.5, 1 - 1e-12, 1.0],
        ):
            found = _e_values(
                Counts(3, 5, 0, 4), past=past, other=None if other_past is None else Counts(4, 4, 0, 5),
                other_past=other_past, epsilon=epsilon, delta=delta,
            )
            assert not np.isnan(found).any()
            assert (found > 0).all()
