"""The witness search finds the events that theory says are best, or as good ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from audit_toys import PAIR, Choice, Gated, Leak, NoisySum, Response
from numpy.random import Generator, default_rng
from scipy import stats

from dpaudit.adversary.event import Event
from dpaudit.adversary.witness import Witness, expected_bound, propose, search
from dpaudit.interpret import Outputs, Tally, sample
from dpaudit.language import BOTTOM, Mechanism
from dpaudit.stats import clopper_pearson

TRAINED = 20_000
ALPHA = 0.001


def learned(left: list[Outputs], right: list[Outputs], **more: Any) -> Witness:
    settings = {"runs": 200_000, "delta": 0.0, "alpha": ALPHA, **more}
    return search((left[0], right[0]), (left[1], right[1]), **settings)


def of_mechanism(mechanism: Mechanism, pair: tuple[Any, Any] = PAIR, **more: Any) -> Witness:
    left, right = ([sample(mechanism, side, TRAINED, seed=10 * s + p) for p in (1, 2)] for s, side in enumerate(pair))
    return learned(left, right, **more)


def of_arrays(draw: Any, **more: Any) -> Witness:
    """`draw(rng, shifted, size)` → outputs of the left or right side."""
    sides = []
    for side in (0, 1):
        made = []
        for phase in (1, 2):
            tally = Tally()
            tally.add_many(draw(default_rng([side, phase]), side, TRAINED))
            made.append(tally.outputs())
        sides.append(made)
    return learned(sides[0], sides[1], **more)


def test_randomised_response() -> None:
    found = of_mechanism(Response(1.0))
    on_left = found.event.atoms == {0} and not found.reverse
    on_right = found.event.atoms == {1} and found.reverse
    assert on_left or on_right
    assert 0.9 < found.expected < 1.0


def test_laplace_gets_a_half_line_or_as_good_an_event() -> None:
    found = of_mechanism(NoisySum(1.0))
    assert found.event.intervals
    assert found.expected > 0.9
    # the density ratio is e everywhere left of 0 and right of 1: the event stays outside
    for low, high in found.event.intervals:
        assert low >= 0.8 if found.reverse else high <= 0.2


def test_gaussian_gets_a_tail() -> None:
    found = of_mechanism(NoisySum(1.0, gaussian=True))
    assert found.expected > 1.2, "the median cut would give ln(0.69 / 0.31) = 0.8"
    inside = sum(stats.norm.cdf(high, 1) - stats.norm.cdf(low, 1) for low, high in found.event.intervals)
    outside = sum(stats.norm.cdf(high, 0) - stats.norm.cdf(low, 0) for low, high in found.event.intervals)
    assert abs(math.log(inside / outside)) > 1.2


def test_a_delta_moves_the_threshold() -> None:
    """With δ = 0.1 the leak of probability 0.1 is allowed, and the event must not be the leak alone."""
    alone = of_mechanism(Leak(1.0, 0.1))
    assert alone.event.atoms in ({"surely 0"}, {"surely 1"})
    assert alone.expected > 6
    allowed = of_mechanism(Leak(1.0, 0.1), delta=0.1)
    assert 0.85 < allowed.expected < 1.0
    assert allowed.event.atoms in ({"surely 0", 0}, {"surely 1", 1})


def test_several_outcomes() -> None:
    found = of_mechanism(Choice(1.0, 4), ((0, 1, 2), (3, 1, 2)))
    assert found.event.atoms in ({0}, {3})
    assert 0.45 < found.expected < 0.5, "the normalising constants are equal, so half of ε is spent"


def test_mixed_outputs() -> None:
    """⊥ is likelier on 0, large numbers on 1."""
    found = of_mechanism(Gated(1.0), ((0,), (3,)))
    assert found.expected > 1.0
    if found.reverse:
        assert found.event.intervals
        assert BOTTOM not in found.event.atoms
    else:
        assert BOTTOM in found.event.atoms or found.event.intervals[0][0] == -math.inf


def test_a_half_line_over_whole_numbers() -> None:
    """A geometric count over a wide range: single outcomes are rare, half-lines are not."""

    def draw(rng: Generator, side: int, size: int) -> Any:
        return rng.geometric(0.005, size) - rng.geometric(0.005, size) + (200 if side else 0)

    found = of_arrays(draw)
    assert found.event.rule is not None
    assert found.expected > 0.9
    threshold = found.event.rule[1]
    if found.event.rule[0] == ">":
        assert all(a > threshold for a in found.event.atoms)  # type: ignore[operator]
        assert found.reverse
    else:
        assert all(a <= threshold for a in found.event.atoms)  # type: ignore[operator]
        assert not found.reverse
    # an outcome that training never saw is counted by its side of the line
    assert found.event.count(Outputs({}, np.array([threshold + 1e6, threshold - 1e6]))) == 1


def test_vectors() -> None:
    """A Gaussian shift along (1, −1, 0, 0): only a direction shows it."""

    def draw(rng: Generator, side: int, size: int) -> Any:
        return rng.normal(size=(size, 4)) + side * np.array([1.0, -1.0, 0, 0])

    found = of_arrays(draw)
    assert found.event.weights is not None
    assert found.event.weights[0] * found.event.weights[1] < 0
    assert found.expected > 1.8, "one coordinate alone shows at most what a shift by 1 does, some 1.4"


def test_vectors_with_an_atom() -> None:
    def draw(rng: Generator, side: int, size: int) -> Any:
        stops = rng.random(size) < (0.5 if side else 0.1)
        return [None if stop else row for stop, row in zip(stops, rng.normal(size=(size, 2)), strict=True)]

    found = of_arrays(draw)
    assert found.event.atoms == {None}
    assert found.reverse
    assert found.expected > 1.4


def test_reals_on_one_side_alone() -> None:
    def draw(rng: Generator, side: int, size: int) -> Any:
        return rng.normal(size=(size, 2)) if side else [None] * size

    assert of_arrays(draw).expected > 5


@pytest.mark.parametrize("value", [0, 1.5, "x", None, BOTTOM, (1, 2), 10**400])
def test_a_constant_shows_nothing(value: Any) -> None:
    found = of_arrays(lambda rng, side, size: [value] * size)
    assert found.expected == 0
    assert isinstance(found.event, Event)


def test_numbers_beyond_floats_get_no_half_lines() -> None:
    found = of_arrays(lambda rng, side, size: [10**400 + int(i) for i in rng.integers(5 * side, 5 * side + 9, size)])
    assert found.expected > 1
    assert found.event.rule is None


def test_equal_laws_promise_nothing() -> None:
    """Of hundreds of candidates the best looks good by chance; its expected bound must not."""
    for seed in range(20):
        rng = default_rng(seed)
        outputs = [Outputs({}, rng.normal(size=2_000)) for _ in range(4)]
        found = learned(outputs[:2], outputs[2:], runs=20_000)
        assert found.expected < 0.05


def test_search_is_a_function_of_its_training_runs() -> None:
    assert of_mechanism(NoisySum(1.0)) == of_mechanism(NoisySum(1.0))


def test_proposals_are_different_and_never_none() -> None:
    rng = default_rng(0)
    both = [Outputs({0: 3, BOTTOM: 1}, rng.normal(size=50)) for _ in (0, 1)]
    events = propose(*both)
    assert len(events) == len(set(events))
    assert propose(Outputs({}, np.empty(0)), Outputs({}, np.empty(0))) == [Event()]


def test_the_expected_bound_is_clopper_pearson_s_on_shares_moved_against_it() -> None:
    runs, trained = 10_000, 10**9
    p, q = np.array([0.5, 0.3, 0.1]), np.array([0.2, 0.3, 0.0])
    bounds = expected_bound(p, q, trained=trained, runs=runs, delta=0.05, alpha=0.01)
    for i in range(3):
        by_hand = clopper_pearson.epsilon_lower(
            round(p[i] * runs), runs, round(q[i] * runs), runs, delta=0.05, alpha=0.01
        )
        assert max(0.0, bounds[i]) == pytest.approx(by_hand, abs=1e-3)
    fewer = expected_bound(p, q, trained=500, runs=runs, delta=0.05, alpha=0.01)
    assert (fewer <= bounds).all()
    assert np.isneginf(expected_bound(np.zeros(1), np.zeros(1), trained=500, runs=10, delta=0.0, alpha=0.01)).all()
