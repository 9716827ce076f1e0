"""Half-lines are extrapolated from their neighbours, better than from their own hits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from dpaudit.adversary.events.candidates import Candidates, Group, Offers
from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.optimistic_bound import predicted_bound
from dpaudit.adversary.events.tail_extrapolation import Prediction, predict
from dpaudit.stats import score_test

RUNS = 200_000
Below = Callable[[np.ndarray], np.ndarray]


def drawn(left: Below, right: Below, edges: np.ndarray, seed: int) -> list[np.ndarray]:
    """Hits below every edge on either side."""
    rng = default_rng([seed, 3])
    shares = [np.diff(np.concatenate([[0.0], below(edges), [1.0]])) for below in (left, right)]
    return [np.cumsum(rng.multinomial(RUNS, share))[:-1].astype(float) for share in shares]


def gaussians() -> tuple[Below, Below]:
    return (lambda e: stats.norm.cdf(e, 0, 2)), (lambda e: stats.norm.cdf(e, 1, 2))


def laplaces() -> tuple[Below, Below]:
    return (lambda e: stats.laplace.cdf(e, 0, 2)), (lambda e: stats.laplace.cdf(e, 1, 2))


@pytest.mark.parametrize("sides", [gaussians(), laplaces()], ids=["gaussian", "laplace"])
def test_rare_threshold_events_are_known_better_than_from_their_own_hits(sides: tuple[Below, Below]) -> None:
    edges = np.linspace(-18, 2, 80)
    p, q = (side(edges) for side in sides)
    rare = (p > 5e-5) & (p < 2e-3)
    assert rare.sum() >= 5
    own, told = [], []
    for seed in range(100, 112):
        x, y = drawn(*sides, edges, seed)
        found = predict(x, y, (RUNS, RUNS))
        own.append(np.log((x + 0.5) / (y + 0.5))[rare] - np.log(p / q)[rare])
        told.append(np.log(found.left / found.right)[rare] - np.log(p / q)[rare])
    assert np.sqrt(np.mean(np.square(told))) < 0.8 * np.sqrt(np.mean(np.square(own)))


@pytest.mark.parametrize("sides", [gaussians(), laplaces()], ids=["gaussian", "laplace"])
def test_the_truth_is_within_the_errors(sides: tuple[Below, Below]) -> None:
    edges = np.linspace(-12, 2, 40)
    p, q = (side(edges) for side in sides)
    off = []
    for seed in range(100, 120):
        x, y = drawn(*sides, edges, seed)
        found = predict(x, y, (RUNS, RUNS))
        off.append((np.log(found.left / found.right) - np.log(p / q)) / found.error)
    apart = np.concatenate(off)
    apart = apart[~np.isnan(apart)]
    assert np.mean(np.abs(apart) < 3) > 0.95


def test_errors_grow_where_there_is_less_to_see() -> None:
    edges = np.linspace(-8, 0, 30)
    x, y = drawn(*gaussians(), edges, 100)
    error = predict(x, y, (RUNS, RUNS)).error
    known = np.flatnonzero(~np.isnan(error))
    assert error[known[0]] > 2 * error[known[-1]]


def test_half_lines_from_above_are_the_same_as_from_below() -> None:
    edges = np.linspace(-8, 0, 30)
    x, y = drawn(*gaussians(), edges, 100)
    up, down = predict(x, y, (RUNS, RUNS)), predict(x[::-1], y[::-1], (RUNS, RUNS))
    np.testing.assert_allclose(up.left, down.left[::-1])
    np.testing.assert_allclose(up.error, down.error[::-1])


def test_sides_can_be_swapped_and_of_different_sizes() -> None:
    x = np.array([3.0, 9.0, 40.0, 100.0, 900.0])
    y = np.array([1.0, 8.0, 30.0, 90.0, 800.0])
    one, other = predict(x, y, (5_000, 9_000)), predict(y, x, (9_000, 5_000)).swapped()
    np.testing.assert_allclose(one.left, other.left, rtol=1e-4)
    np.testing.assert_allclose(one.right, other.right, rtol=1e-4)
    # together they are what was seen
    np.testing.assert_allclose(one.left[-1] * 5_000 + one.right[-1] * 9_000, 1_700, rtol=1e-3)


def test_too_few_half_lines_and_wide_ones_are_not_foreseen() -> None:
    for hits in ([], [0.0, 0.0, 0.0], [4.0, 4.0, 9.0]):
        assert np.isnan(predict(np.array(hits), np.array(hits), (100, 100)).error).all()
    wide = predict(np.array([5.0, 20, 30, 95]), np.array([4.0, 12, 33, 90]), (100, 100))
    assert np.isnan(wide.error).tolist() == [False, False, False, True]


def test_no_hits_on_one_side_is_not_taken_for_impossible() -> None:
    x = np.array([10.0, 20.0, 40.0, 80.0])
    found = predict(x, np.zeros(4), (1_000, 1_000))
    assert (found.right > 0).all()
    assert found.left * 1_000 + found.right * 1_000 == pytest.approx(x, rel=1e-4)


@pytest.mark.parametrize(
    ("x", "y", "runs", "delta"),
    [(37, 5, 800_000, 0.0), (18_000, 16_500, 800_000, 0.0), (900, 180, 800_000, 1e-5), (5_000, 2_000, 10_000, 0.05)],
)
def test_the_bound_is_that_of_the_score_test(x: int, y: int, runs: int, delta: float) -> None:
    shares = Prediction(np.array([x / runs, np.nan]), np.array([y / runs, np.nan]), np.array([0.1, np.nan]))
    found = predicted_bound(shares, runs=runs, delta=delta, alpha=0.04)
    exact = score_test.epsilon_lower(x, runs, y, runs, delta=delta, alpha=0.04)
    assert found[0] == pytest.approx(exact, rel=0.02)
    assert np.isnan(found[1])
    assert predicted_bound(shares, runs=runs, delta=delta, alpha=0.04, caution=1.0)[0] < found[0]


def test_sides_that_hardly_overlap_are_extrapolated_too() -> None:
    x = np.cumsum(np.full(40, 5_000.0))
    y = np.concatenate([np.zeros(39), [3.0]])
    for left, right in ((x, y), (y, x)):
        found = predict(left, right, (RUNS, RUNS))
        assert np.isfinite(found.error).any()
        assert not np.isinf(found.error).any()


def test_an_extrapolation_is_for_the_dataset_on_which_an_event_is_more_likely() -> None:
    left, right = np.cumsum([2.0, 5.0, 9.0, 30.0]), np.cumsum([1.0, 1.0, 3.0, 10.0])
    found = predict(left, right, (1_000, 2_000))
    candidates = Candidates()
    for reverse in (False, True):
        # the first group has no prediction
        candidates.offer(Group(left[:2], right[:2], reverse, 0.0, "atoms", lambda _: Event()))
        candidates.offer(Group(left, right, reverse, 0.0, "half-line", lambda _: Event(), predicted=found))
    offered: list[Offers] = []

    def score(of: Offers) -> tuple[np.ndarray, np.ndarray]:
        offered.append(of)
        return of.x, of.y

    candidates.best((1_000, 2_000), score)
    ahead, back = (of.predicted for of in offered)
    assert np.isnan(ahead.error[:2]).all()
    assert (ahead.left[2:] > ahead.right[2:]).all()
    assert (ahead.left[2:] == found.left).all()
    assert np.array_equal(back.left, ahead.right, equal_nan=True)
    assert np.array_equal(back.right, ahead.left, equal_nan=True)
    assert np.array_equal(back.error, ahead.error, equal_nan=True)
