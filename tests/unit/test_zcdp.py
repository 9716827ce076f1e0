"""zCDP claims: their δ is never below what a ρ-zCDP mechanism reaches, and never above the standard conversion."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from dpaudit.errors import ParameterError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    Claim,
    basic_composition,
    zcdp_delta,
    zcdp_delta_by_moments,
    zcdp_of_pure,
)

RHOS = (1e-4, 0.003, 0.02, 0.125, 0.5, 2.0, 9.0)
EPSILONS = (0.0, 0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 3.5, 6.0, 10.0)


def gaussian(rho: float, epsilon: float) -> float:
    """δ of N(0, 1) against N(√(2ρ), 1), which is ρ-zCDP with equality: Balle and Wang 2018, Theorem 8."""
    m = math.sqrt(2 * rho)
    first, second = log_ndtr(m / 2 - epsilon / m), epsilon + log_ndtr(-m / 2 - epsilon / m)
    return max(0.0, -math.exp(first) * math.expm1(min(0.0, second - first)))


def divergence(p: float, q: float, a: float) -> float:
    """D_a(Bern(p) ‖ Bern(q)) for p, q in (0, 1)."""
    happens = a * math.log(p) + (1 - a) * math.log(q)
    not_happens = a * math.log1p(-p) + (1 - a) * math.log1p(-q)
    return float(np.logaddexp(happens, not_happens)) / (a - 1)


@pytest.mark.slow(fast=["0.0001", "0.125", "9.0"])
@pytest.mark.parametrize("rho", RHOS)
def test_never_below_a_gaussian(rho: float) -> None:
    for epsilon in EPSILONS:
        assert zcdp_delta(rho, epsilon) >= gaussian(rho, epsilon)
        assert zcdp_delta_by_moments(rho, epsilon) >= gaussian(rho, epsilon)


@pytest.mark.parametrize("rho", RHOS)
def test_never_above_the_standard_conversion(rho: float) -> None:
    """The standard one is the infimum over all orders: a grid of them finds nothing smaller."""
    for epsilon in EPSILONS:
        standard = zcdp_delta_by_moments(rho, epsilon)
        assert 0 < zcdp_delta(rho, epsilon) <= standard
        a = 1 + np.geomspace(1e-3, 1e5, 4000)
        logs = (a - 1) * (a * rho - epsilon) - np.log(a) + (a - 1) * np.log1p(-1 / a)
        assert standard <= math.exp(max(-700.0, min(0.0, float(logs.min())))) * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=80)
@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-6, 1 - 1e-6), st.sampled_from(EPSILONS[:7]))
def test_never_below_randomised_responses(p: float, q: float, epsilon: float) -> None:
    """Announcing an event of probability p or q is ρ-zCDP for the ρ that its divergences need, over many orders.

    Orders between the grid's may need a little more, so ρ is raised by the largest ratio of neighbouring orders.
    """
    orders = 1 + np.geomspace(1e-4, 1e4, 400)
    rho = max(max(divergence(p, q, a), divergence(q, p, a)) / a for a in orders.tolist())
    # D_a does not fall in a, so that between two orders D_a/a exceeds the ratio at the upper one by their ratio at most
    rho *= max(b / a for a, b in pairwise(orders.tolist()))
    if rho > 1e-9:
        assert p - math.exp(epsilon) * q <= zcdp_delta(rho, epsilon) + 1e-12


@pytest.mark.slow(fast=["0.3"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_is_attained_by_an_event(epsilon: float) -> None:
    """It is not only a bound: some event whose divergences are within ρa, over a grid of orders, comes within 1 %."""
    rho = 0.125
    orders = (1 + np.geomspace(1e-3, 1e3, 200)).tolist()
    best = 0.0
    for q in np.geomspace(0.003, 0.7, 80).tolist():
        low, high = q, 1 - 1e-9
        for _ in range(20):
            p = (low + high) / 2
            kept = all(max(divergence(p, q, a), divergence(q, p, a)) <= rho * a for a in orders)
            low, high = (p, high) if kept else (low, p)
        best = max(best, low - math.exp(epsilon) * q)
    assert 0.99 * zcdp_delta(rho, epsilon) <= best <= zcdp_delta(rho, epsilon)


def test_at_zero_it_is_pinskers_bound() -> None:
    """At ε = 0 and small ρ the orders near 1 bind: δ = √(ρ/2) to first order."""
    assert zcdp_delta(1e-4, 0.0) == pytest.approx(math.sqrt(1e-4 / 2), rel=1e-2)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.floats(1e-3, 4), st.floats(0, 6))
def test_falls_in_epsilon_and_grows_in_rho(rho: float, epsilon: float) -> None:
    here = zcdp_delta(rho, epsilon)
    assert zcdp_delta(rho, epsilon + 0.1) <= here * (1 + 1e-6)
    assert zcdp_delta(rho * 1.05, epsilon) >= here * (1 - 1e-6)


def test_far_out_it_is_positive() -> None:
    assert 0 < zcdp_delta(1e-3, 50.0) < 1e-300
    assert zcdp_delta(1e6, 0.0) <= 1
    assert zcdp_delta(100.0, 1e6) > 0


# --- claims ----------------------------------------------------------------------------------------------------------


def test_claim_of_zcdp() -> None:
    claim = Claim.zcdp(0.125, epsilon=0.8, relation=ADD_REMOVE_ONE)
    assert (claim.rho, claim.epsilon, claim.relation) == (0.125, 0.8, ADD_REMOVE_ONE)
    assert claim.delta == zcdp_delta(0.125, 0.8)
    for epsilon in (0.0, 0.5, 0.8, 2.0):
        assert claim.delta_at(epsilon) == zcdp_delta(0.125, epsilon)
    assert Claim.zcdp(0.125, epsilon=0.8).relation == REPLACE_ONE
    assert pickle.loads(pickle.dumps(claim)) == claim
    assert hash(replace(claim)) == hash(claim)


def test_text() -> None:
    claim = Claim.zcdp(0.125, epsilon=0.8)
    assert str(claim) == f"0.125-zCDP under replace-one, tested at (0.8, {claim.delta:.6g})"
    assert str(Claim(0.8, 0.05)) == "(0.8, 0.05)-DP under replace-one"


def test_group_of_zcdp() -> None:
    claim = Claim.zcdp(0.125, epsilon=0.8)
    group = claim.group(3)
    assert group == Claim.zcdp(9 * 0.125, epsilon=3 * 0.8, relation=REPLACE_ONE.group(3))
    assert claim.group(1) == claim
    assert group.delta >= gaussian(9 * 0.125, 2.4)  # k times the sensitivity is k² times the ρ of a Gaussian


def test_composition_of_zcdp() -> None:
    claim = Claim.zcdp(0.1, epsilon=0.5)
    assert claim.scaled(4) == Claim.zcdp(0.4, epsilon=2.0)
    together = basic_composition([claim, Claim.zcdp(0.2, epsilon=0.25)])
    assert together.rho == pytest.approx(0.3)
    assert together.epsilon == 0.75
    mixed = basic_composition([claim, Claim(1.0)])
    assert mixed == Claim(1.5, claim.delta)


def test_under_keeps_rho() -> None:
    claim = Claim.zcdp(0.1, epsilon=0.5)
    assert claim.under(ADD_REMOVE_ONE) == Claim.zcdp(0.1, epsilon=0.5, relation=ADD_REMOVE_ONE)


def test_implies() -> None:
    claim = Claim.zcdp(0.1, epsilon=0.5)
    assert claim.implies(claim)
    assert claim.implies(Claim.zcdp(0.11, epsilon=2.0))
    assert not claim.implies(Claim.zcdp(0.09, epsilon=0.5))
    assert claim.implies(Claim(0.5, claim.delta))
    assert claim.implies(Claim(1.0, zcdp_delta(0.1, 1.0)))
    assert not claim.implies(Claim(0.5, claim.delta * 0.99))
    assert not Claim(0.5, claim.delta).implies(claim)
    assert Claim(math.sqrt(0.2)).implies(claim)
    assert not Claim(math.sqrt(0.21)).implies(claim)
    assert not Claim(0.1).implies(claim.under(ADD_REMOVE_ONE))


def test_zcdp_is_not_pure() -> None:
    assert not Claim.zcdp(0.001, epsilon=300.0).pure
    assert Claim(1.0).pure


def test_pure_privacy_in_zcdp() -> None:
    assert zcdp_of_pure(0.5) == 0.125
    # randomised response is the worst ε-DP mechanism, and keeps ρ = ε²/2 at every order
    for epsilon in (0.1, 1.0, 3.0):
        p = 1 / (1 + math.exp(-epsilon))
        assert all(divergence(p, 1 - p, a) <= zcdp_of_pure(epsilon) * a for a in (1.001, 1.1, 2.0, 10.0, 100.0))


@pytest.mark.parametrize("rho", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_bad_rho(rho: object) -> None:
    with pytest.raises(ParameterError, match="rho"):
        Claim.zcdp(rho, epsilon=1.0)  # type: ignore[arg-type]


def test_bad_point() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Claim.zcdp(0.1, epsilon=-1.0)
    with pytest.raises(ParameterError, match=r"Claim\.zcdp"):
        Claim(0.8, 0.05, rho=0.125)
    with pytest.raises(ParameterError, match="epsilon"):
        zcdp_of_pure(-1.0)
    with pytest.raises(ParameterError, match="epsilon"):
        Claim.zcdp(0.1, epsilon=1.0).delta_at(-0.5)
