"""Profiles of moved noise against integrals, brute force, and the privacy loss distributions of dp-accounting."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace, norm

from dpaudit.errors import NotEnumerableError
from dpaudit.stats import noise_profile
from dpaudit.stats.enclosure import Enclosure
from dpaudit.stats.noise_profile import AGREE, Moves, NoiseProfile

F = Fraction
EPSILONS = (0.0, 0.1, 0.5, 0.9, 1.0, 1.3, 2.5)
DELTAS = (0.3, 0.05, 1e-3, 1e-6)


def hockey_stick(p: Callable[[float], float], q: Callable[[float], float], epsilon: float, kinks: list[float]) -> float:
    """∫ max(0, p − e^ε q), the line cut at the kinks of the densities and where the integrand begins."""

    def excess(x: float) -> float:
        return max(0.0, p(x) - math.exp(epsilon) * q(x))

    ends = [-60.0, *kinks, 60.0]
    return math.fsum(
        quad(excess, a, b, epsabs=1e-15, epsrel=1e-12, limit=400)[0]
        for u, v in itertools.pairwise(ends)
        for a, b in itertools.pairwise(np.linspace(u, v, 41).tolist())
    )


def close(found: Enclosure, truth: float, error: float = 1e-9) -> None:
    """Within the error of an integral in doubles, and no wider than guaranteed."""
    assert found.low - error <= truth <= found.high + error
    assert found.high - found.low <= max(AGREE * found.high, 1e-13)


# -- one draw


@pytest.mark.slow(fast=["0.0-r0", "0.5-r1", "1.0-*", "2.5-r1"])
@pytest.mark.parametrize("r", [F(1, 10), F(1), F(3)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_laplace_draw(r: Fraction, epsilon: float) -> None:
    scale = 1 / float(r)
    truth = hockey_stick(
        lambda x: laplace.pdf(x, 0, scale), lambda x: laplace.pdf(x, 1, scale), epsilon,
        [0.0, 0.5 - epsilon * scale / 2, 1.0] if epsilon * scale < 1 else [0.0, 1.0],
    ) + laplace.cdf(-60, 0, scale) * max(0.0, -math.expm1(epsilon - float(r)))
    profile = NoiseProfile(Moves(laplace=(r,)))
    close(profile.delta(epsilon), truth)
    assert profile.supremum.low <= float(r) <= profile.supremum.high


@pytest.mark.slow(fast=["0.0-mu0", "0.5-mu1", "1.0-*", "2.5-mu1"])
@pytest.mark.parametrize("mu", [F(1, 3), F(1), F(4)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_gaussian_draw(mu: Fraction, epsilon: float) -> None:
    m = float(mu)
    truth = hockey_stick(norm.pdf, lambda x: norm.pdf(x, m), epsilon, [m / 2 - epsilon / m])
    profile = NoiseProfile(Moves(gaussian=(mu,)))
    close(profile.delta(epsilon), truth)
    assert profile.supremum.low == math.inf


def test_gaussian_draws_are_one() -> None:
    several, one = NoiseProfile(Moves(gaussian=(F(3), F(4)))), NoiseProfile(Moves(gaussian=(F(5),)))
    assert several.delta(1.5) == one.delta(1.5)
    assert several.epsilon(1e-6) == one.epsilon(1e-6)


@pytest.mark.parametrize(("sigma", "epsilon", "delta"), [(2.4220, 1.6103, 1e-5), (0.2735, 8.875, 0.2)])
def test_values_of_the_corpus(sigma: float, epsilon: float, delta: float) -> None:
    """What the cards of the Gaussian corpus state (Balle and Wang 2018, Theorem 8), to the digits that they give."""
    found = NoiseProfile(Moves(gaussian=(1 / F(sigma),))).epsilon(delta)
    assert found.low == pytest.approx(epsilon, rel=2e-3)


# -- several draws


def laplace_delta(r: float, epsilon: float) -> float:
    """Of one Laplace draw at any ε, also below 0."""
    return -math.expm1(min(0.0, epsilon if epsilon < -r else (epsilon - r) / 2))


def gaussian_delta(mu: float, epsilon: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def with_laplace(r: float, rest: Callable[[float], float], epsilon: float) -> float:
    """δ of a Laplace draw beside noise whose profile is `rest`: that at ε less the draw's loss, on the average."""
    kinks = sorted({0.0, r, *(t for s in (1, -1) for k in (0.0, 1.0) if 0 < (t := (r - epsilon + s * k) / 2) < r)})
    inside = math.fsum(
        quad(lambda t: math.exp(-t) / 2 * rest(epsilon - r + 2 * t), a, b, epsabs=1e-14, epsrel=1e-12)[0]
        for u, v in itertools.pairwise(kinks)
        for a, b in itertools.pairwise(np.linspace(u, v, 9).tolist())
    )
    return rest(epsilon - r) / 2 + math.exp(-r) / 2 * rest(epsilon + r) + inside


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("r", [F(1), F(1, 3), F(7, 10)])
def test_two_laplace_draws(r: Fraction, epsilon: float) -> None:
    truth = with_laplace(float(r), lambda e: laplace_delta(1.0, e), epsilon)
    close(NoiseProfile(Moves(laplace=(F(1), r))).delta(epsilon), truth)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_three_laplace_draws(epsilon: float) -> None:
    def two(e: float) -> float:
        return with_laplace(0.5, lambda at: laplace_delta(1.0, at), e)

    close(NoiseProfile(Moves(laplace=(F(1), F(1, 2), F(1, 5)))).delta(epsilon), with_laplace(0.2, two, epsilon), 1e-8)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_beside_gaussian(epsilon: float) -> None:
    truth = with_laplace(1.0, lambda e: gaussian_delta(0.75, e), epsilon)
    close(NoiseProfile(Moves(laplace=(F(1),), gaussian=(F(3, 4),))).delta(epsilon), truth)


def enumerated(moves: Sequence[tuple[int, Fraction]], epsilon: float) -> Decimal:
    """δ of geometric draws, every outcome by itself: all below and above the two centres are one outcome each."""
    with localcontext(prec=50):
        laws = []
        for gap, scale in moves:
            a = (-Decimal(scale.denominator) / scale.numerator).exp()
            end, inside = 1 / (1 + a), (1 - a) / (1 + a)
            p = [end, *(inside * a**j for j in range(1, gap)), a**gap * end]
            laws.append(list(zip(p, p[::-1], strict=True)))
        total = Decimal(0)
        for outcome in itertools.product(*laws):
            p = math.prod((pair[0] for pair in outcome), start=Decimal(1))
            q = math.prod((pair[1] for pair in outcome), start=Decimal(1))
            total += max(Decimal(0), p - Decimal(epsilon).exp() * q)
        return total


@pytest.mark.parametrize("epsilon", [*EPSILONS, 2.0, 2 / 3])
@pytest.mark.parametrize(
    "moves", [((1, F(1)),), ((3, F(2)), (1, F(2))), ((2, F(1)), (1, F(3)), (4, F(3)), (1, F(5, 2)))]
)
def test_geometric_draws_are_exact(moves: tuple[tuple[int, Fraction], ...], epsilon: float) -> None:
    found = NoiseProfile(Moves(geometric=moves)).delta(epsilon)
    truth = enumerated(moves, epsilon)
    # where ε is the largest loss, 50 digits leave a speck; nothing else is given away
    assert Decimal(found.low) - Decimal("1e-45") <= truth <= Decimal(found.high) + Decimal("1e-45")
    assert found.high - found.low <= 1e-14 * max(found.high, 1e-20)


def test_geometric_beside_laplace_is_in_closed_form() -> None:
    a = math.exp(-0.5)
    truth = (laplace_delta(1.0, 0.7 - 0.5) + a * laplace_delta(1.0, 0.7 + 0.5)) / (1 + a)
    found = NoiseProfile(Moves(laplace=(F(1),), geometric=((1, F(2)),))).delta(0.7)
    assert found.high - found.low < 1e-14
    assert truth == pytest.approx(found.low, rel=1e-13)


# -- bounds


@given(
    st.fractions(F(1, 50), 5, max_denominator=60),
    st.fractions(F(1, 40), 2, max_denominator=40),
    st.floats(-6, 6),
)
def test_grids_are_on_their_sides(width: Fraction, step: Fraction, epsilon: float) -> None:
    """One Laplace draw on any grid: laws, and below and above the closed form everywhere."""
    with ctx.workprec(128):
        _compare_with_closed_form(width, step, epsilon)


def _compare_with_closed_form(width: Fraction, step: Fraction, epsilon: float) -> None:
    truth = noise_profile._laplace(noise_profile.to_interval(width), arb(epsilon))
    sides = []
    for masses_of in (noise_profile._from_below, noise_profile._from_above):
        masses = masses_of(width, step)
        losses = [noise_profile.to_interval(width - j * step) for j in range(len(masses))]
        assert abs(float(sum(masses, arb(0))) - 1) < 1e-30
        assert all(mass >= -1e-30 for mass in masses)
        other = float(sum((p * (-x).exp() for p, x in zip(masses, losses, strict=True)), arb(0)))
        # from above both masses are kept; from below the loss may have been rounded down, so that the right one is more
        assert other == pytest.approx(1) if masses_of is noise_profile._from_above else other > 1 - 1e-12
        sides.append(noise_profile._Table(losses, masses).excess(arb(epsilon)))
    below, above = sides
    assert not below > truth
    assert not above < truth


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=5), st.floats(0, 4), st.booleans())
def test_bounds_close_with_the_square_of_the_step(twentieths: list[int], epsilon: float, awry: bool) -> None:
    """Where the grid holds all losses that have a probability of their own; where not, the bounds hold still."""
    widths = tuple(F(i, 20) for i in twentieths)
    if awry:
        widths = (F(math.pi), *widths)
    found = []
    profile = NoiseProfile(Moves(laplace=widths))
    for _ in range(3):
        profile._limit = 0  # so that nothing is refined by itself
        found.append(profile.delta(epsilon))
        if not awry:
            step = float(profile._step(profile._grid))
            assert found[-1].high - found[-1].low <= len(widths) / 2 * step * step + 1e-15
        profile._limit = noise_profile.ATOMS
        assert profile._refined()
    for one, other in itertools.combinations(found, 2):
        assert one.low <= other.high
        assert other.low <= one.high


@pytest.mark.slow(only=["*-moves4", "1e-06-moves3"])
@pytest.mark.parametrize(
    "moves",
    [
        Moves(laplace=(F(1),)),
        Moves(gaussian=(F(2),)),
        Moves(geometric=((2, F(3)), (1, F(1)))),
        Moves(laplace=(F(1, 2),) * 4),
        Moves(laplace=(F(1, 2),), gaussian=(F(1),), geometric=((1, F(2)),)),
    ],
)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_inverts_delta(moves: Moves, delta: float) -> None:
    profile = NoiseProfile(moves)
    found = profile.epsilon(delta)
    assert found.high - found.low <= 2 * AGREE * max(1.0, found.high)
    assert profile.delta(found.high).low <= delta
    assert found.low == 0 or profile.delta(found.low).high >= delta
    grid = np.linspace(0, 5, 40)
    for at, rough in zip(grid.tolist(), profile.curve(grid).tolist(), strict=True):
        exactly = profile.delta(at)
        assert exactly.low * (1 - 1e-4) - 1e-12 <= rough <= exactly.high * (1 + 1e-9) + 1e-12


def test_pure_epsilon_is_the_largest_loss() -> None:
    found = NoiseProfile(Moves(laplace=(F(1, 200),) * 20, geometric=((3, F(10)),))).epsilon(0.0)
    assert 0.4 in found
    assert found.high - found.low < 1e-15
    assert NoiseProfile(Moves(gaussian=(F(1, 10**6),))).epsilon(0.0) == Enclosure(math.inf, math.inf)


def test_beyond_the_largest_loss_nothing_is_left() -> None:
    for moves in (Moves(laplace=(F(1),)), Moves(laplace=(F(1, 2),) * 2), Moves(geometric=((1, F(1)),))):
        assert NoiseProfile(moves).delta(1.0 + 1e-15) == Enclosure(0.0, 0.0)
        assert NoiseProfile(moves).delta(1.0).high < 1e-15
        assert NoiseProfile(moves).delta(1.0 - 1e-9).low > 0


def test_noise_that_does_not_move() -> None:
    profile = NoiseProfile(Moves())
    assert profile.delta(0.0) == Enclosure(0.0, 0.0)
    assert profile.epsilon(0.0) == Enclosure(0.0, 0.0)


def test_too_many_losses_are_refused() -> None:
    for moves in (Moves(geometric=((1_000_000, F(1)),)), Moves(laplace=(F(1),) * 2000, gaussian=(F(1),))):
        with pytest.raises(NotEnumerableError, match="privacy losses"):
            NoiseProfile(moves)


# -- dp-accounting


@pytest.fixture
def pld() -> Any:
    """Its module of privacy loss distributions; a test dependency, imported here because it is slow to load."""
    return import_module("dp_accounting.pld.privacy_loss_distribution")


def _accounted(make: Callable[..., Any], times: int) -> tuple[Any, Any]:
    """Its pessimistic and its optimistic estimate."""
    high = make(pessimistic_estimate=True, value_discretization_interval=1e-4)
    low = make(pessimistic_estimate=False, value_discretization_interval=1e-4, use_connect_dots=False)
    return high.self_compose(times), low.self_compose(times)


def _agree(profile: NoiseProfile, pessimistic: Any, optimistic: Any, most: float) -> None:
    # its convolutions are in doubles, with tails of 1e-15 cut off
    for epsilon in (0.0, 0.3, 1.0, 2.0, 5.0):
        found = profile.delta(epsilon)
        high, low = (float(side.get_delta_for_epsilon(epsilon)) for side in (pessimistic, optimistic))
        assert found.low <= high + 1e-11, epsilon
        assert found.high >= low - 1e-11, epsilon
        assert high - low <= most
    for delta in (1e-2, 1e-5, 1e-8):
        found = profile.epsilon(delta)
        high, low = (float(side.get_epsilon_for_delta(delta)) for side in (pessimistic, optimistic))
        assert found.low <= high + 1e-5, delta
        assert found.high >= low - 1e-5, delta


TIMES = (1, 2, 5, 20)


@pytest.mark.slow(only=["*-20"])
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("r", [F(1), F(1, 4)])
def test_laplace_as_dp_accounting(pld: Any, r: Fraction, times: int) -> None:
    both = _accounted(lambda **how: pld.from_laplace_mechanism(float(1 / r), **how), times)
    _agree(NoiseProfile(Moves(laplace=(r,) * times)), *both, most=times * 1e-4)


@pytest.mark.slow(fast=["1"])
@pytest.mark.parametrize("times", TIMES)
def test_gaussian_as_dp_accounting(pld: Any, times: int) -> None:
    both = _accounted(lambda **how: pld.from_gaussian_mechanism(2.0, **how), times)
    _agree(NoiseProfile(Moves(gaussian=(F(1, 2),) * times)), *both, most=times * 1e-4)


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("gap", [1, 3])
def test_discrete_laplace_as_dp_accounting(pld: Any, gap: int, times: int) -> None:
    both = _accounted(lambda **how: pld.from_discrete_laplace_mechanism(0.5, sensitivity=gap, **how), times)
    _agree(NoiseProfile(Moves(geometric=((gap, F(2)),) * times)), *both, most=times * 1e-4)


@pytest.mark.slow
def test_mixed_kinds_as_dp_accounting(pld: Any) -> None:
    parts = [
        _accounted(lambda **how: pld.from_laplace_mechanism(2.0, **how), 3),
        _accounted(lambda **how: pld.from_gaussian_mechanism(1.5, **how), 2),
        _accounted(lambda **how: pld.from_discrete_laplace_mechanism(0.5, **how), 4),
    ]
    high, low = (parts[0][side].compose(parts[1][side]).compose(parts[2][side]) for side in (0, 1))
    moves = Moves(laplace=(F(1, 2),) * 3, gaussian=(F(2, 3),) * 2, geometric=((1, F(2)),) * 4)
    _agree(NoiseProfile(moves), high, low, most=1e-3)
