"""Trade-off curves against privacy profiles, and the pictures of both and of the privacy loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from audit_toys import PAIR, Choice, NoisySum, Response, responses
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import ndtr, ndtri

from dpaudit.adversary import Pair
from dpaudit.engine import orchestrator
from dpaudit.evidence import loss_figures
from dpaudit.evidence.exact import PairLaws, compare
from dpaudit.interpret import LawCache
from dpaudit.language import Claim
from dpaudit.plans.request import Request
from dpaudit.results.model import Audit, Verdict
from dpaudit.stats import clopper_pearson, hockey_stick, tradeoff
from dpaudit.stats.noise_losses import NoiseLosses
from dpaudit.stats.noise_profile import Moves, NoiseProfile
from dpaudit.testing import LeakyResponse

EPSILONS = np.linspace(0, 8, 161)
DRAWN = 1e-3
"""A picture is of 400 pixels."""


def audit(target: Any, **more: Any) -> Audit:
    settings = {"runs": 5_000, "pair": PAIR, **more}
    return orchestrator.run(Request((target,), **settings)).audits[0]


def law(weights: Sequence[int]) -> Any:
    masses = np.array(weights, dtype=np.float64)
    return masses / masses.sum()


weights = st.lists(st.integers(0, 1000), min_size=6, max_size=6).filter(any)


@given(weights, weights)
def test_the_curve_gives_the_profile_back(left: list[int], right: list[int]) -> None:
    p, q = law(left), law(right)
    assert tradeoff.delta_at(tradeoff.curve(p, q), EPSILONS) == pytest.approx(
        hockey_stick.profile(p, q, EPSILONS), abs=1e-13
    )
    assert tradeoff.delta_at(tradeoff.symmetric(p, q), EPSILONS) == pytest.approx(
        hockey_stick.profile_symmetric(p, q, EPSILONS), abs=1e-13
    )


@given(weights, weights)
def test_a_curve_is_convex_and_falls_from_what_is_shared(left: list[int], right: list[int]) -> None:
    p, q = law(left), law(right)
    for vertices in (tradeoff.curve(p, q), tradeoff.symmetric(p, q)):
        alpha, beta = vertices.T
        assert (np.diff(alpha) >= 0).all()
        assert (np.diff(beta) <= 0).all()
        assert (alpha + beta <= 1 + 1e-12).all()
        # cross products of neighbouring steps: each turns left
        steps = np.diff(vertices, axis=0)
        assert (steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0] >= -1e-12).all()
    one = tradeoff.curve(p, q)
    assert one[one[:, 0] == 0][-1, 1] == pytest.approx(p[q > 0].sum())
    both = tradeoff.symmetric(p, q)
    assert both[0].tolist() == [0.0, pytest.approx(min(p[q > 0].sum(), q[p > 0].sum()))]
    # its own mirror, of which what runs along the axis stands upright
    falling = both[both[:, 1] > 0]
    assert np.interp(falling[:, 1], *both.T) == pytest.approx(falling[:, 0], abs=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.2), (3.0, 1e-6), (800.0, 0.1)])
def test_the_curve_of_a_claim_is_its_profile(epsilon: float, delta: float) -> None:
    """f of (ε, δ) is the trade-off curve of randomised response with a leak, which attains the claim."""
    e = math.exp(min(epsilon, 700.0))
    p = np.array([delta, (1 - delta) * e / (1 + e), (1 - delta) / (1 + e), 0.0])
    vertices = tradeoff.symmetric(p, p[::-1])
    grid = np.linspace(0, 1, 101)
    expected = np.interp(grid, *vertices.T)
    assert tradeoff.of_claim([epsilon], [delta], grid) == pytest.approx(expected, abs=1e-12)


MOVES = {
    "Laplace": Moves((Fraction(1),)),
    "a little": Moves((Fraction(1, 100),)),
    "Gaussian": Moves((), (Fraction(1),)),
    "geometric": Moves((), (), ((2, Fraction(3)), (1, Fraction(3)))),
    "Laplace, several": Moves((Fraction(1), Fraction(2), Fraction(1, 2))),
    "Laplace and geometric": Moves((Fraction(1),), (), ((2, Fraction(3)),)),
    "Laplace and Gaussian": Moves((Fraction(1),), (Fraction(1),)),
    "all": Moves((Fraction(1), Fraction(1)), (Fraction(1, 2),), ((2, Fraction(3)),)),
}


@pytest.mark.slow(only=["all", "Laplace and Gaussian"])
@pytest.mark.parametrize("name", MOVES)
def test_losses_of_noise_have_its_profile(name: str) -> None:
    """δ(ε) = E[max(0, 1 − e^(ε − L))], which is ∫ e^(ε − t) Pr[L > t] dt over t > ε."""
    losses, profile = NoiseLosses(MOVES[name]), NoiseProfile(MOVES[name])
    low, high = losses.range
    t = np.linspace(low, high, 200_001)
    above = 1 - np.concatenate([losses.below(part) for part in np.array_split(t, 50)])
    assert losses.below(np.array([low - 1e-9, high + 1e-9])) == pytest.approx([0, 1], abs=1e-8)
    for epsilon in np.linspace(0, 0.9 * high, 7).tolist():
        there = t >= epsilon
        found = trapezoid(np.exp(epsilon - t[there]) * above[there], t[there])
        assert found == pytest.approx(float(profile.curve(np.array([epsilon]))[0]), abs=4e-4)


def test_the_curve_of_gaussian_noise_is_in_closed_form() -> None:
    """Dong, Roth and Su 2022: Φ(Φ⁻¹(1 − α) − μ)."""
    found = audit(NoisySum(gaussian=True), runs=500).tradeoff_plot
    assert found is not None
    alpha = np.array(found.alpha)
    assert found.exact == pytest.approx(ndtr(ndtri(1 - alpha) - 1.0), abs=DRAWN)


@pytest.mark.parametrize("target", [Response(), LeakyResponse(1.0, 0.2), Choice(1.0, 3)])
def test_the_picture_is_the_curve(target: Any) -> None:
    found = audit(target)
    plot = found.tradeoff_plot
    assert plot is not None
    assert plot.exact is not None
    laws = compare(target, Pair(*PAIR), LawCache())
    truth = np.interp(plot.alpha, *tradeoff.symmetric(laws.left, laws.right).T)
    assert plot.exact == pytest.approx(truth, abs=1e-5)
    assert plot.alpha[0] == 0
    assert plot.alpha[-1] == 1
    assert all(claimed <= exact + 1e-5 for claimed, exact in zip(plot.claim, plot.exact, strict=True))
    assert found.profile_plot is not None
    vertices = np.column_stack([plot.alpha, plot.exact])
    assert tradeoff.delta_at(vertices, found.profile_plot.epsilon) == pytest.approx(found.profile_plot.exact, abs=1e-4)


def test_very_many_outcomes_are_thinned_to_what_is_seen() -> None:
    size = 60_000
    p = np.exp(-np.arange(size) / 7_000.0)
    q = np.roll(p, 900)
    laws = PairLaws(range(size), p / p.sum(), q / q.sum())  # type: ignore[arg-type]
    plot = loss_figures.tradeoff_plot(Claim(0.1), laws, None)
    assert plot.exact is not None
    assert len(plot.alpha) <= loss_figures.MOST_POINTS + 4
    truth = np.interp(np.linspace(0, 1, 500), *tradeoff.symmetric(laws.left, laws.right).T)
    assert np.interp(np.linspace(0, 1, 500), plot.alpha, plot.exact) == pytest.approx(truth, abs=DRAWN)


def test_what_is_certified_is_clopper_and_pearsons() -> None:
    found = audit(responses, epsilon=0.5)
    assert found.verdict is Verdict.FAIL
    (e,) = found.sampled
    plot = found.tradeoff_plot
    assert plot is not None
    assert plot.exact is None
    test = plot.certified
    assert test is not None
    assert 1 - test.beta_high == clopper_pearson.lower(e.x, e.n, alpha=e.alpha / 2)
    assert test.alpha_high == clopper_pearson.upper(e.y, e.m, alpha=e.alpha / 2)
    assert test.alpha_low < e.y / e.m < test.alpha_high
    assert test.beta_low < 1 - e.x / e.n < test.beta_high
    # below the claim's curve exactly where the confidence bound on ε exceeds the claim
    certified = math.log((1 - test.beta_high) / test.alpha_high)
    assert certified == pytest.approx(e.epsilon_lower_clopper_pearson)
    left = tradeoff.of_claim([0.5], [0.0], np.array([test.alpha_high]))[0]
    assert (test.beta_high < left) == (e.epsilon_lower_clopper_pearson > 0.5)


def test_losses_of_a_law() -> None:
    plot = audit(LeakyResponse(1.0, 0.2), runs=500).loss_plot
    assert plot is not None
    assert plot.kind == "exact"
    assert (plot.infinite_left, plot.infinite_right) == (pytest.approx(0.2), pytest.approx(0.2))
    at = {round(a + plot.width, 4): v for a, v in zip(plot.above, plot.left, strict=True) if v}
    # ln of the ratio is 1 or −1, and 1 is no more than the claimed ε
    truth = 0.8 * math.e / (1 + math.e)
    assert at == {1.0: pytest.approx(truth, rel=1e-5), min(at): pytest.approx(0.8 - truth, rel=1e-5)}
    assert -1 <= min(at) < -1 + plot.width
    assert plot.beyond_left == pytest.approx(0.2)
    assert plot.delta_left == pytest.approx(0.2)


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.9])
def test_more_losses_lie_beyond_than_delta(epsilon: float) -> None:
    """Pr[L > ε] and δ(ε) differ by e^ε times what the other dataset has there."""
    found = audit(Response(), epsilon=epsilon, runs=500)
    plot = found.loss_plot
    assert plot is not None
    p, q = math.e / (1 + math.e), 1 / (1 + math.e)
    assert plot.beyond_left == pytest.approx(p)
    assert plot.delta_left == pytest.approx(p - math.exp(epsilon) * q)
    assert found.delta_exact == pytest.approx(max(plot.delta_left, plot.delta_right))
    past = sum(v for a, v in zip(plot.above, plot.left, strict=True) if a > epsilon - plot.width / 2)
    assert past == pytest.approx(plot.beyond_left, rel=1e-5), "the claimed ε is an end of a bin"


def test_losses_of_gaussian_noise() -> None:
    plot = audit(NoisySum(gaussian=True), runs=500).loss_plot
    assert plot is not None
    assert plot.kind == "density"
    middles = np.array(plot.above) + plot.width / 2
    assert float(middles @ plot.left) == pytest.approx(0.5, abs=1e-3)  # μ²/2
    assert float((middles - 0.5) ** 2 @ plot.left) == pytest.approx(1.0, abs=2e-2)  # μ²
    assert plot.beyond_left == pytest.approx(1 - ndtr((1 - 0.5) / 1), rel=1e-6)
    assert plot.delta_left == pytest.approx(ndtr(-0.5) - math.e * ndtr(-1.5), rel=1e-6)
    assert plot.infinite_left == 0


def test_counts_show_no_losses() -> None:
    assert audit(responses, epsilon=0.5).loss_plot is None


@pytest.mark.slow(fast=["0.0", "1.7e+308"])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1.0, 700.0, 1e300, 1.7e308])
def test_pictures_are_finite_at_every_claim(epsilon: float) -> None:
    found = audit(Response(), epsilon=epsilon, runs=500)
    plot, losses = found.tradeoff_plot, found.loss_plot
    assert plot is not None
    assert losses is not None
    assert all(map(math.isfinite, [*plot.alpha, *plot.claim, *(plot.exact or []), *losses.above, losses.width]))
    assert plot.alpha == sorted(set(plot.alpha))
    assert sum(losses.left) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_a_claim_of_zcdp_has_a_curve() -> None:
    laws = compare(Response(), Pair(*PAIR), LawCache())
    claim = Claim.zcdp(0.5, epsilon=1.0)
    plot = loss_figures.tradeoff_plot(claim, laws, None)
    assert plot.exact is not None
    # Response has ε = 1, which is ½-zCDP
    assert all(c <= e + 1e-5 for c, e in zip(plot.claim, plot.exact, strict=True))
    assert 10 < len(plot.alpha) <= 2 * loss_figures.MOST_POINTS
    assert plot.claim[0] == pytest.approx(1, abs=1e-2)
