"""Claims that are curves: their profiles against formulas, their points, groups, and their texts."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.errors import ParameterError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    Claim,
    Curve,
    GaussianDP,
    Profile,
    Renyi,
    TradeOff,
    ZeroConcentrated,
    basic_composition,
    parse_curve,
    relation_named,
    zcdp_delta,
)
from dpaudit.language.accounting import accounted, claim_under, dp_sgd, is_accounting
from dpaudit.stats import tradeoff

E = math.e
TRUE, LIE = E / (1 + E), 1 / (1 + E)
CURVES: tuple[Curve, ...] = (
    GaussianDP(0.5), GaussianDP(3.0), Renyi({2: 0.5, 8: 1.1}), Renyi({2: 0.5, math.inf: 1.0}),
    Profile({0: 0.38, 1: 0.13}), TradeOff({0: 1, LIE: LIE, 1: 0}),
)


def gaussian(mu: float, epsilon: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def gaussian_tradeoff(alpha: float) -> float:
    return float(norm.cdf(norm.ppf(1 - alpha) - 0.5)) if 0 < alpha < 1 else 1 - alpha


@pytest.mark.parametrize("mu", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 4.0])
def test_the_gaussian_profile(mu: float, epsilon: float) -> None:
    assert GaussianDP(mu).delta_at(epsilon) == pytest.approx(max(0.0, gaussian(mu, epsilon)), rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.text)
def test_points_are_on_the_curve_and_it_falls(curve: Curve) -> None:
    epsilons, deltas = zip(*curve.points, strict=True)
    assert list(epsilons) == sorted(set(epsilons))
    assert all(d == pytest.approx(curve.delta_at(e), abs=1e-9) for e, d in curve.points)
    assert all(a >= b for a, b in pairwise(deltas))
    assert all(curve.scaled(2.0).delta_at(e) >= d - 1e-12 for e, d in curve.points)
    assert curve.typical in epsilons
    assert pickle.loads(pickle.dumps(curve)) == curve
    assert parse_curve(curve.text) == curve


def test_a_scaled_profile_with_points_that_meet() -> None:
    """What is stated at 0 is moved to 0.2, where what is stated at 0.1 is too."""
    assert Profile({0: 0.3, 0.1: 0.2}).scaled(2.0).lines == ((0.2, 0.2),)


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0])
def test_renyi_allows_exactly_the_bits_within_its_divergence(order: float) -> None:
    """The profile is at least p − e^ε q of every bit whose divergence is allowed, and is attained by one of them."""
    limit, epsilon = 0.4, 0.3
    p, q = np.meshgrid(np.linspace(0.001, 0.999, 700), np.linspace(0.001, 0.999, 700))
    first, second = (
        np.log(a**order * b ** (1 - order) + (1 - a) ** order * (1 - b) ** (1 - order)) / (order - 1)
        for a, b in ((p, q), (q, p))
    )
    allowed = np.maximum(first, second) <= limit
    most = float((p - math.exp(epsilon) * q)[allowed].max())
    assert most <= Renyi({order: limit}).delta_at(epsilon) <= most + 2e-3


def test_renyi_at_many_orders_is_near_zcdp_and_never_below() -> None:
    orders = Renyi([(a, 0.1 * a) for a in (1 + np.geomspace(0.01, 200, 60)).tolist()])
    for epsilon in (0.0, 0.4, 1.0):
        exact = zcdp_delta(0.1, epsilon)
        assert exact * (1 - 1e-5) <= orders.delta_at(epsilon) <= exact * 1.01
    assert ZeroConcentrated(0.1).delta_at(0.4) == zcdp_delta(0.1, 0.4)


def test_a_pure_order_is_pure_dp() -> None:
    pure = Renyi({math.inf: 1.0})
    assert pure.delta_at(0.0) == pytest.approx((E - 1) / (E + 1))
    assert pure.delta_at(1.0) == 0
    assert (1.0, 0.0) in pure.points


def test_one_epsilon_and_delta_as_a_profile() -> None:
    """Kairouz, Oh and Viswanath: below ε₀ the profile is that of randomised response with a leak."""
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert Profile({1.0: 0.01}).delta_at(epsilon) == pytest.approx(Claim(1.0, 0.01).delta_at(epsilon), abs=1e-9)


def test_two_points_of_a_profile_bound_each_other() -> None:
    both = Profile({0: 0.4, 1.0: 0.05})
    assert both.delta_at(0.5) < min(Profile({0: 0.4}).delta_at(0.5), Profile({1.0: 0.05}).delta_at(0.5))


def test_a_tradeoff_function_as_vertices() -> None:
    curve = TradeOff({0: 0.99, LIE * 0.99: LIE * 0.99, 0.99: 0})
    assert curve.lines[0] == (pytest.approx(1.0), pytest.approx(0.01))
    assert curve.delta_at(0.0) == pytest.approx(Claim(1.0, 0.01).delta_at(0.0))


def test_one_sided_tradeoff_functions_hold_in_both_directions() -> None:
    """f with β ≥ 1 − 2α alone: the other direction adds β ≥ (1 − α)/2."""
    curve = TradeOff({0: 1, 0.5: 0})
    assert curve.delta_at(0.0) == pytest.approx(1 / 3)
    assert [epsilon for epsilon, _ in curve.lines] == [pytest.approx(math.log(2))]


def test_a_smooth_tradeoff_function_is_taken_from_below() -> None:
    smooth = TradeOff.of(gaussian_tradeoff)
    for epsilon, delta in smooth.points:
        assert gaussian(0.5, epsilon) <= delta
    for epsilon in (0.0, 0.3, 1.0):
        assert gaussian(0.5, epsilon) <= smooth.delta_at(epsilon) <= gaussian(0.5, epsilon) + 1e-4
    vertices = np.array(smooth.vertices)
    assert (vertices[:, 1] <= [gaussian_tradeoff(a) + 1e-12 for a in vertices[:, 0].tolist()]).all()


def test_the_envelope_of_lines_is_their_largest() -> None:
    lines = ((0.0, 0.4), (0.3, 0.3), (1.0, 0.05), (2.0, 0.001))
    vertices = Profile(lines)._vertices
    alphas = np.linspace(0, 1, 201)
    direct = tradeoff.of_claim([e for e, _ in lines], [d for _, d in lines], alphas)
    assert np.interp(alphas, vertices[:, 0], vertices[:, 1]) == pytest.approx(direct)


def test_groups() -> None:
    assert GaussianDP(0.5).group(3) == GaussianDP(1.5)
    assert ZeroConcentrated(0.1).group(2) == ZeroConcentrated(0.4)
    assert Renyi({2: 0.05, 8: 0.1}).group(2).orders == ((4.0, pytest.approx(0.3)),)
    assert Renyi({16: 0.1}).group(3).orders == ((4.0, pytest.approx(0.9)),)
    with pytest.raises(ParameterError, match="needs an order of at least 4"):
        Renyi({2: 0.05}).group(2)
    doubled = TradeOff.of(gaussian_tradeoff).group(2)
    assert gaussian(1.0, 0.5) <= doubled.delta_at(0.5) <= gaussian(1.0, 0.5) + 1e-3
    claim = Claim.of(GaussianDP(0.5)).group(2)
    assert (claim.curve, claim.relation) == (GaussianDP(1.0), relation_named("replace-one:2"))


def test_claims_of_curves() -> None:
    claim = Claim.of(GaussianDP(0.5), epsilon=0.4, relation=ADD_REMOVE_ONE)
    assert str(claim) == "0.5-GDP under add-remove-one"
    assert claim.delta == GaussianDP(0.5).delta_at(0.4)
    assert claim.delta_at(0.7) == GaussianDP(0.5).delta_at(0.7)
    assert claim.at(1.0) == Claim.of(GaussianDP(0.5), epsilon=1.0, relation=ADD_REMOVE_ONE)
    assert not claim.pure
    assert claim.scaled(4).curve == GaussianDP(1.0)
    assert "curve=GaussianDP(mu=0.5)" in repr(claim)
    with pytest.raises(ParameterError, match=r"make the claim with Claim\.of"):
        Claim(0.4, 0.1, curve=GaussianDP(0.5))
    with pytest.raises(ParameterError, match="use group"):
        claim.chained(2)


def test_other_claims_print_as_before() -> None:
    assert repr(Claim(1.0, 0.1)) == f"Claim(epsilon=1.0, delta=0.1, relation={Claim(1.0).relation!r}, rho=None)"
    assert Claim(1.0).points == ((1.0, 0.0),)
    assert Claim(1.0).at(2.0) == Claim(1.0)


def test_what_follows_from_what() -> None:
    def implies(one: Curve | Claim, other: Curve | Claim) -> bool:
        first, second = (Claim.of(c) if isinstance(c, Curve) else c for c in (one, other))
        return first.implies(second)

    assert implies(GaussianDP(0.5), GaussianDP(0.6))
    assert not implies(GaussianDP(0.6), GaussianDP(0.5))
    assert implies(GaussianDP(0.5), Profile({0: 0.2, 1: 0.01}))
    assert implies(GaussianDP(0.5), Claim(1.0, 0.01))
    assert not implies(GaussianDP(0.5), Claim(1.0, 0.001))
    assert implies(ZeroConcentrated(0.1), Renyi({2: 0.2}))
    assert implies(Renyi({8: 0.3}), Renyi({2: 0.3}))
    assert not implies(Renyi({2: 0.3}), Renyi({8: 0.3}))
    assert implies(Claim(0.4), ZeroConcentrated(0.08))
    assert implies(Claim(1.0), TradeOff({0: 1, LIE: LIE, 1: 0}))
    assert not implies(Claim(1.0, 0.1), Renyi({2: 5.0}))


def test_composition() -> None:
    parts = [Claim.of(GaussianDP(0.3)), Claim.of(GaussianDP(0.4))]
    assert basic_composition(parts).curve == GaussianDP(0.5)
    assert basic_composition([Claim.of(ZeroConcentrated(0.1))] * 2).curve == ZeroConcentrated(0.2)
    mixed = basic_composition([parts[0], Claim(1.0)])
    assert (mixed.curve, mixed.epsilon) == (None, parts[0].epsilon + 1.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gdp(x)", "cannot be read as a claim"),
        ("gdp", "is written as one of"),
        ("laplace(1)", "is written as one of"),
        ("rdp(2)", "write pairs such as 2: 0.5"),
        ("rdp(1: 0.5)", "must be above 1"),
        ("rdp(2: 0.5, 2: 0.6)", "given twice"),
        ("gdp(-1)", "mu must be above 0"),
        ("profile(0: 2)", "must lie in"),
        ("tradeoff(0: 0.5, 0.6: 0.5)", "lies below 1 − α"),
        ("tradeoff(0: 1)", "at least two vertices"),
        ("dp-sgd(rate=0.1)", "write dp-sgd"),
        ("dp-sgd(noise=1, rate=2)", "rate must lie in"),
    ],
)
def test_texts_that_are_no_claims(text: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        parse_curve(text)


def test_profiles_of_functions() -> None:
    assert Profile(GaussianDP(1.0).delta_at, epsilons=[0, 1]).lines == (
        (0.0, GaussianDP(1.0).delta_at(0.0)), (1.0, GaussianDP(1.0).delta_at(1.0)),
    )
    with pytest.raises(ParameterError, match="needs the ε"):
        Profile(GaussianDP(1.0).delta_at)
    with pytest.raises(ParameterError, match="has others"):
        TradeOff.of(lambda alpha: 1.0)


def test_dp_accounting() -> None:
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant, privacy_loss_distribution
    from dp_accounting.rdp import RdpAccountant

    event = accounting.GaussianDpEvent(2.0)
    assert is_accounting(event)
    assert not is_accounting(GaussianDP(1.0))
    claim = accounted(event)
    assert claim.relation == ADD_REMOVE_ONE
    for epsilon, delta in claim.points:
        assert gaussian(0.5, epsilon) <= delta <= gaussian(0.5, epsilon) + 1e-4
    assert accounted(privacy_loss_distribution.from_gaussian_mechanism(2.0)).points[0][1] == pytest.approx(
        gaussian(0.5, 0.0), abs=1e-4
    )
    renyi = accounted(RdpAccountant(orders=[2.0, 8.0]).compose(event)).curve
    assert isinstance(renyi, Renyi)
    assert renyi.orders == ((2.0, pytest.approx(0.25)), (8.0, pytest.approx(1.0)))
    optimistic = privacy_loss_distribution.from_gaussian_mechanism(2.0, pessimistic_estimate=False)
    with pytest.raises(ParameterError, match="optimistic"):
        accounted(optimistic)
    with pytest.raises(ParameterError, match="neighbours are those of add-remove-one"):
        accounted(PLDAccountant().compose(event), relation=relation_named("replace-one"))
    with pytest.raises(ParameterError, match="does not support this event"):
        accounted(accounting.UnsupportedDpEvent())


def of_sampled_gaussian(rate: float, epsilon: float) -> float:
    """δ of Poisson sampling and unit noise in its worse direction, from the densities."""
    grid = np.linspace(-12.0, 13.0, 400_001)
    without = norm.pdf(grid)
    present = (1 - rate) * without + rate * norm.pdf(grid, 1.0)
    both = ((present, without), (without, present))
    return max(float(np.maximum(0.0, a - math.exp(epsilon) * b).sum() * (grid[1] - grid[0])) for a, b in both)


def test_dp_accounting_agrees_with_closed_forms_in_the_worse_direction() -> None:
    """δ from above, and close, at the tested points: Laplace, sampled Gaussian, compositions; as events and PLDs."""
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution as pld

    step = accounting.PoissonSampledDpEvent(0.3, accounting.GaussianDpEvent(1.0))
    composed = accounting.SelfComposedDpEvent(accounting.GaussianDpEvent(2.0), 4)
    sampled = pld.from_gaussian_mechanism(1.0, sampling_prob=0.3)
    cases: list[tuple[object, Callable[[float], float]]] = [
        (accounting.LaplaceDpEvent(2.0), lambda e: max(0.0, 1 - math.exp((e - 0.5) / 2))),
        (pld.from_laplace_mechanism(2.0), lambda e: max(0.0, 1 - math.exp((e - 0.5) / 2))),
        (composed, lambda e: gaussian(1.0, e)),
        (pld.from_gaussian_mechanism(2.0).self_compose(4), lambda e: gaussian(1.0, e)),
        (step, lambda e: of_sampled_gaussian(0.3, e)),
        (sampled, lambda e: of_sampled_gaussian(0.3, e)),
    ]
    for thing, exact in cases:
        claim = accounted(thing)
        assert claim.relation == ADD_REMOVE_ONE
        for epsilon, delta in claim.points:
            # the sum over densities has an error of its own
            assert exact(epsilon) - 1e-9 <= delta <= exact(epsilon) * (1 + 1e-6) + 1e-9


def test_another_adjacency_is_never_assumed() -> None:
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld import privacy_loss_distribution as pld

    replace, users = relation_named("replace-one"), relation_named("users")
    step = accounting.PoissonSampledDpEvent(0.3, accounting.GaussianDpEvent(1.0))
    # accounted anew: one record may move the sum twice as far
    assert accounted(step, relation=replace).curve.delta_at(0.0) > 1.5 * accounted(step).curve.delta_at(0.0)
    assert accounted(step, relation=users).relation == users
    for other in ("replace-one:2", "answers-l2", "add-remove-one:2"):
        with pytest.raises(ParameterError, match="neighbours are those of add-remove-one"):
            accounted(step, relation=relation_named(other))
        with pytest.raises(ParameterError, match="is the profile of datasets of which one has a record more"):
            claim_under(dp_sgd(noise=1.0, rate=0.3), relation_named(other))
    with pytest.raises(ParameterError, match="differs between adding and removing"):
        accounted(pld.from_gaussian_mechanism(1.0, sampling_prob=0.3), relation=replace)
    special = PLDAccountant(accounting.NeighboringRelation.REPLACE_SPECIAL).compose(accounting.GaussianDpEvent(1.0))
    with pytest.raises(ParameterError, match="for which dpaudit has no relation"):
        accounted(special)
    assert accounted(special, relation=ADD_REMOVE_ONE).relation == ADD_REMOVE_ONE


def test_events_that_only_renyi_bounds_know_and_those_that_allow_everything() -> None:
    accounting = pytest.importorskip("dp_accounting")
    curve = accounted(accounting.ZCDpEvent(0.1)).curve
    assert isinstance(curve, Renyi)
    assert dict(curve.orders)[2.0] == pytest.approx(0.2)
    with pytest.raises(ParameterError, match="nothing to test"):
        accounted(accounting.NonPrivateDpEvent())


def test_dp_sgd_as_text() -> None:
    pytest.importorskip("dp_accounting")
    curve = parse_curve("dp-sgd(noise=1.1, rate=0.1, steps=10)")
    assert curve.text == "dp-sgd(noise=1.1, rate=0.1, steps=10)"
    assert curve == dp_sgd(noise=1.1, rate=0.1, steps=10)
    assert claim_under(curve, None).relation == ADD_REMOVE_ONE
    assert claim_under(GaussianDP(1.0), None).relation == relation_named("replace-one")
