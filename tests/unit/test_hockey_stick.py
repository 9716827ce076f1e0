"""Privacy profiles of finite laws against all 2^k events and against closed forms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpaudit.stats import hockey_stick as hs

Floats = NDArray[np.float64]

# Weights that bring ties, zeros on either side, and ratios of very different size.
WEIGHTS = st.sampled_from([0, 0, 1, 1, 2, 3, 10, 1000, 10**7])


@st.composite
def laws(draw: st.DrawFn) -> tuple[Floats, Floats]:
    size = draw(st.integers(1, 7))
    p = np.array(draw(st.lists(WEIGHTS, min_size=size, max_size=size)), dtype=float)
    q = np.array(draw(st.lists(WEIGHTS, min_size=size, max_size=size)), dtype=float)
    assume(p.sum() > 0 and q.sum() > 0)
    return p / p.sum(), q / q.sum()


def events(size: int) -> list[NDArray[np.bool_]]:
    return [np.array(event) for event in itertools.product([False, True], repeat=size)]


@settings(max_examples=150)
@given(laws(), st.sampled_from([-1.0, 0.0, 0.3, 1.0, 5.0]))
def test_divergence_is_the_best_event(pair: tuple[Floats, Floats], epsilon: float) -> None:
    p, q = pair
    best = max(p[event].sum() - math.exp(epsilon) * q[event].sum() for event in events(p.size))
    value = hs.hockey_stick(p, q, epsilon)
    assert value == pytest.approx(best, abs=1e-12)
    event = hs.optimal_event(p, q, epsilon)
    assert p[event].sum() - math.exp(epsilon) * q[event].sum() == pytest.approx(value, abs=1e-12)
    assert not event[p <= math.exp(epsilon) * q].any()


@settings(max_examples=150)
@given(laws(), st.sampled_from([0.0, 1e-12, 1e-6, 0.01, 0.3, 1.0]))
def test_epsilon_at_is_the_worst_event(pair: tuple[Floats, Floats], delta: float) -> None:
    p, q = pair
    # In exact arithmetic on the same floats, so that a tie at delta is decided alike.
    worst = 0.0
    for event in events(p.size):
        surplus = sum(map(Fraction, p[event]), Fraction(0)) - Fraction(delta)
        mass = sum(map(Fraction, q[event]), Fraction(0))
        # 1e-15: the masses of two laws sum to 1 only up to rounding.
        if surplus > 1e-15:
            worst = max(worst, math.log(surplus / mass) if mass else math.inf)
    value = hs.epsilon_at(p, q, delta)
    assert value == pytest.approx(worst, rel=1e-11, abs=1e-14)
    if 0 < value < math.inf:
        assert hs.hockey_stick(p, q, value) == pytest.approx(delta, rel=1e-9, abs=1e-14)


@settings(max_examples=50)
@given(laws())
def test_profile_is_the_divergence_at_each_epsilon(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    grid = np.array([[-1.0, 0.0, 0.5], [2.0, 800.0, np.inf]])
    for function, reverse in ((hs.profile, False), (hs.profile_symmetric, True)):
        expected = [
            max(hs.hockey_stick(p, q, e), hs.hockey_stick(q, p, e) if reverse else 0.0) for e in grid.ravel()
        ]
        result = function(p, q, grid)
        assert result.shape == grid.shape
        assert result.ravel() == pytest.approx(expected, rel=1e-12, abs=1e-300)


@settings(max_examples=50)
@given(laws())
def test_total_variation_is_the_divergence_at_zero(pair: tuple[Floats, Floats]) -> None:
    p, q = pair
    assert hs.total_variation(p, q) == pytest.approx(hs.hockey_stick(p, q, 0.0), abs=1e-12)
    assert hs.total_variation(p, q) == hs.total_variation(q, p)


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 20.0])
def test_randomised_response(epsilon: float) -> None:
    keep, turn = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    p, q = np.array([keep, turn]), np.array([turn, keep])
    assert hs.epsilon_at_symmetric(p, q, 0.0) == pytest.approx(epsilon, rel=1e-6 if epsilon < 1e-6 else 1e-12)
    assert hs.hockey_stick(p, q, epsilon) == pytest.approx(0, abs=1e-15)
    assert hs.total_variation(p, q) == pytest.approx(math.tanh(epsilon / 2))
    claimed = epsilon / 2
    assert hs.hockey_stick(p, q, claimed) == pytest.approx(keep - math.exp(claimed) * turn)


def geometric_pair(epsilon: float, reach: int) -> tuple[Floats, Floats]:
    """The two-sided geometric law around 0 and around 1, clipped to -reach, ..., reach + 1."""
    ratio = math.exp(-epsilon)
    k = np.arange(-reach, reach + 2)

    def clipped(centre: int) -> Floats:
        law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(k - centre).astype(float)
        law[0], law[-1] = (
            ratio ** abs(k[0] - centre) / (1 + ratio),
            ratio ** abs(k[-1] - centre) / (1 + ratio),
        )
        return law

    return clipped(0), clipped(1)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_discretised_laplace(epsilon: float) -> None:
    p, q = geometric_pair(epsilon, 12)
    # The outcomes up to 0 have ratio e^epsilon and mass 1/(1 + e^-epsilon), all others ratio e^-epsilon.
    mass = 1 / (1 + math.exp(-epsilon))
    assert hs.epsilon_at_symmetric(p, q, 0.0) == pytest.approx(epsilon, rel=1e-12)
    for claimed in (0.0, epsilon / 3, epsilon):
        expected = mass * (1 - math.exp(claimed - epsilon))
        assert hs.hockey_stick(p, q, claimed) == pytest.approx(expected, abs=1e-15)
        # At delta = profile(claimed) the claim is just met.
        if 0 < claimed < epsilon:
            assert hs.epsilon_at(p, q, expected) == pytest.approx(claimed, rel=1e-12)


def test_a_tiny_delta_is_solved_to_full_precision() -> None:
    # One outcome of mass 1e-11 that q never shows, and one of ratio 2^20 and mass 2^-30.
    rare, spill = 2.0**-30, 1e-11
    p = np.array([spill, rare, 1 - rare - spill])
    q = np.array([0.0, rare * 2.0**-20, 1 - rare * 2.0**-20])
    assert hs.epsilon_at(p, q, 0.0) == math.inf
    assert hs.epsilon_at(p, q, spill / 2) == math.inf
    assert hs.epsilon_at(p, q, spill) == pytest.approx(20 * math.log(2), rel=1e-12)
    half = spill + rare / 2
    assert hs.epsilon_at(p, q, half) == pytest.approx(19 * math.log(2), rel=1e-12)
    assert hs.hockey_stick(p, q, 30.0) == pytest.approx(spill, rel=1e-12)
    assert hs.hockey_stick(p, q, math.inf) == spill


def test_many_outcomes_do_not_wear_the_digits() -> None:
    generator = np.random.default_rng(7)
    q = generator.dirichlet(np.ones(200_000))
    tilt = np.exp(1e-9 * generator.standard_normal(q.size))
    p = q * tilt / math.fsum(q * tilt)
    epsilon = hs.epsilon_at(p, q, 0.0)
    assert epsilon == pytest.approx(float(np.max(np.log1p((p - q) / q))), rel=1e-7)
    delta = hs.hockey_stick(p, q, 1e-9)
    assert hs.epsilon_at(p, q, delta) == pytest.approx(1e-9, rel=1e-5)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [1.0], "equal length"),
        ([[1.0]], [[1.0]], "one-dimensional"),
        ([], [], "equal length"),
        ([0.5, 0.4], [0.5, 0.5], "sum to 1"),
        ([0.5, 0.5], [0.5, 0.5 + 2e-9], "sum to 1"),
        ([0.5, 0.5 - 2e-9], [0.5, 0.5], "sum to 1"),
        ([1.5, -0.5], [0.5, 0.5], "non-negative"),
        ([0.5, 0.5], [math.nan, 1.0], "sum to 1"),
    ],
)
def test_what_is_no_law_is_refused(p: list[float], q: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hs.hockey_stick(p, q, 0.0)
    with pytest.raises(ValueError, match=message):
        hs.epsilon_at(p, q, 0.0)


def test_bad_parameters_are_refused() -> None:
    law = [0.5, 0.5]
    with pytest.raises(ValueError, match="delta"):
        hs.epsilon_at(law, law, -1e-9)
    with pytest.raises(ValueError, match="nan"):
        hs.hockey_stick(law, law, math.nan)
    with pytest.raises(ValueError, match="nan"):
        hs.profile(law, law, [0.0, math.nan])


@pytest.mark.filterwarnings("error")
def test_a_quotient_beyond_the_range_of_floats_is_no_warning() -> None:
    # the likeliest outcome on the left has less than δ there, and next to nothing on the right
    p, q = [1e-5, 0.5, 0.5 - 1e-5], [1e-315, 0.25, 0.75]
    assert hs.epsilon_at(p, q, 1e-4) == pytest.approx(math.log((0.5 - 9e-5) / 0.25))
