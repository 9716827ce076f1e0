"""Claims: the privacy profile against the pair that dominates, and the algebra."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dpaudit
from dpaudit.errors import ParameterError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    Claim,
    Gaussian,
    Mechanism,
    advanced_composition,
    basic_composition,
    optimal_composition,
)
from dpaudit.results.model import Verdict
from dpaudit.stats.hockey_stick import hockey_stick

EPSILONS = st.floats(0, 8)
DELTAS = st.sampled_from([0.0, 1e-9, 1e-3, 0.2, 1.0])
quick = settings(max_examples=150)


def dominating(claim: Claim) -> tuple[np.ndarray, np.ndarray]:
    """Randomised response with a leak: Kairouz, Oh and Viswanath 2015, Theorem 3.3."""
    e = math.exp(claim.epsilon)
    p = np.array([claim.delta, (1 - claim.delta) * e / (1 + e), (1 - claim.delta) / (1 + e), 0.0])
    return p, p[::-1].copy()


def worst_event(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    events = (np.array(event) for event in product([False, True], repeat=len(p)))
    return max(float(p[event].sum() - math.exp(epsilon) * q[event].sum()) for event in events)


@quick
@given(EPSILONS, DELTAS, st.floats(0, 10))
def test_profile_is_that_of_the_dominating_pair(epsilon: float, delta: float, at: float) -> None:
    claim = Claim(epsilon, delta)
    p, q = dominating(claim)
    assert claim.delta_at(at) == pytest.approx(worst_event(p, q, at), abs=1e-12)
    assert claim.delta_at(at) == pytest.approx(worst_event(q, p, at), abs=1e-12)


@settings(max_examples=300)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=6), st.data(), st.floats(0, 3))
def test_profile_bounds_every_pair_that_keeps_the_claim(weights: list[float], data: st.DataObject, at: float) -> None:
    other = data.draw(st.lists(st.floats(0.01, 1), min_size=len(weights), max_size=len(weights)))
    p, q = np.array(weights) / sum(weights), np.array(other) / sum(other)
    epsilon = data.draw(st.floats(0, 2))
    claim = Claim(epsilon, max(0.0, hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)))
    assert max(hockey_stick(p, q, at), hockey_stick(q, p, at)) <= claim.delta_at(at) + 1e-12


def test_profile_does_not_overflow() -> None:
    assert Claim(1e6).delta_at(0) == pytest.approx(1)
    assert Claim(1e6, 0.5).delta_at(1e7) == 0.5
    assert Claim(1.0).delta_at(1.0) == 0


@pytest.mark.parametrize("epsilon", [-1, float("nan"), float("inf"), "1", None, True])
def test_bad_epsilon(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Claim(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [-1e-9, 1.1, float("nan"), "0"])
def test_bad_delta(delta: object) -> None:
    with pytest.raises(ParameterError, match="delta"):
        Claim(1, delta)  # type: ignore[arg-type]


def test_group_privacy() -> None:
    """Thesis Theorem 3.7: (kε, k·e^{kε}·δ)."""
    claim = Claim(0.5, 1e-6)
    assert claim.group(1) is claim
    three = claim.group(3)
    assert three.epsilon == pytest.approx(1.5)
    assert three.delta == pytest.approx(3 * math.exp(1.5) * 1e-6)
    assert three.relation == REPLACE_ONE.group(3)
    assert claim.group(2).relation.name == "replace-one:2"
    assert Claim(300, 1e-9).group(10).delta == 1.0
    assert Claim(1e5).group(10) == Claim(1e6, 0, REPLACE_ONE.group(10))
    for bad in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="size of a group"):
            claim.group(bad)  # type: ignore[arg-type]


@quick
@given(st.floats(0.01, 2), st.sampled_from([0.0, 1e-4, 0.05]), st.integers(2, 4))
def test_group_claim_bounds_chains(epsilon: float, delta: float, k: int) -> None:
    """A chain of k neighbours, each step as far as the claim lets it go, keeps the group claim."""
    e = math.exp(epsilon)
    p = np.array([1.0, 0.0])
    start = p
    for _ in range(k):
        # the most mass that one step may take from the first outcome
        p = np.array([max(0.0, (p[0] - delta) / e, 1 - (e * p[1] + delta)), 0.0])
        p[1] = 1 - p[0]
    grouped = Claim(epsilon, delta).group(k)
    assert hockey_stick(start, p, grouped.epsilon) <= grouped.delta + 1e-12
    assert hockey_stick(p, start, grouped.epsilon) <= grouped.delta + 1e-12


def test_basic_composition() -> None:
    """Thesis Theorem 3.4."""
    composed = basic_composition([Claim(0.1, 1e-6), Claim(0.2, 2e-6), Claim(0.3)])
    assert composed.epsilon == pytest.approx(0.6)
    assert composed.delta == pytest.approx(3e-6)
    assert basic_composition([Claim(1, 0.7), Claim(1, 0.7)]).delta == 1.0
    assert basic_composition(Claim(0.1) for _ in range(10)).epsilon == 1.0
    assert Claim(0.1, 0.01).scaled(3) == Claim(0.1 * 3, 0.03)
    with pytest.raises(ParameterError, match="at least one"):
        basic_composition([])
    with pytest.raises(ParameterError, match="different relations"):
        basic_composition([Claim(1), Claim(1, relation=ADD_REMOVE_ONE)])


def test_advanced_composition() -> None:
    """Thesis Theorem 3.6: √(2k ln(1/δ′))·ε + 2kε²."""
    composed = advanced_composition(Claim(0.1, 1e-8), 100, 1e-6)
    assert composed.epsilon == pytest.approx(math.sqrt(200 * math.log(1e6)) * 0.1 + 200 * 0.01)
    assert composed.delta == pytest.approx(1e-6 + 1e-6)
    for epsilon, k, delta in [(0, 5, 0.1), (1.5, 5, 0.1), (0.1, 0, 0.1), (0.1, 5, 0.0), (0.1, 5, 1.5), (0.1, 2.0, 0.1)]:
        with pytest.raises(ParameterError):
            advanced_composition(Claim(epsilon), k, delta)  # type: ignore[arg-type]


@quick
@given(st.floats(0.05, 1), st.integers(1, 6), st.sampled_from([1e-3, 0.05, 0.5]))
def test_advanced_composition_bounds_randomised_response(epsilon: float, k: int, delta_prime: float) -> None:
    p, q = (np.array([1.0]), np.array([1.0]))
    one = math.exp(epsilon) / (1 + math.exp(epsilon))
    for _ in range(k):
        p, q = np.outer(p, [one, 1 - one]).ravel(), np.outer(q, [1 - one, one]).ravel()
    composed = advanced_composition(Claim(epsilon), k, delta_prime)
    assert hockey_stick(p, q, composed.epsilon) <= composed.delta + 1e-12
    basic = basic_composition([Claim(epsilon)] * k)
    assert hockey_stick(p, q, basic.epsilon) <= basic.delta + 1e-12


@quick
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.3]), st.sampled_from([0.0, 1e-4, 0.1])), min_size=1, max_size=4
    ),
    st.floats(0, 4),
)
def test_optimal_composition_is_that_of_the_dominating_pairs(parts: list[tuple[float, float]], at: float) -> None:
    claims = [Claim(*part) for part in parts]
    p, q = np.array([1.0]), np.array([1.0])
    for claim in claims:
        one, other = dominating(claim)
        p, q = np.outer(p, one).ravel(), np.outer(q, other).ravel()
    delta = optimal_composition(claims, at)
    assert delta == pytest.approx(hockey_stick(p, q, at), abs=1e-12)
    assert delta <= basic_composition(claims).delta_at(at) + 1e-12


def test_optimal_composition_of_many() -> None:
    many = [Claim(0.01, 1e-9)] * 1000
    theorem = advanced_composition(many[0], 1000, 1e-6)
    assert optimal_composition(many, theorem.epsilon) <= theorem.delta
    assert optimal_composition(many, 0.0) == pytest.approx(optimal_composition(many[:500] + many[500:], 0.0))
    assert optimal_composition([Claim(1.0, 1.0), Claim(1.0)], 5.0) == 1.0
    # too many different ones to enumerate: basic composition bounds them
    spread = [Claim(0.001 * i) for i in range(1, 40)]
    assert optimal_composition(spread, 0.5) == basic_composition(spread).delta_at(0.5)


@quick
@given(EPSILONS, DELTAS, EPSILONS, DELTAS)
def test_implies_is_what_the_profile_says(e1: float, d1: float, e2: float, d2: float) -> None:
    a, b = Claim(e1, d1), Claim(e2, d2)
    p, q = dominating(a)
    kept = max(worst_event(p, q, e2), worst_event(q, p, e2))
    # within rounding of the border both answers are right
    assume(abs(kept - d2) > 1e-12)
    assert a.implies(b) == (kept <= d2)


def test_implies_up_to_rounding() -> None:
    claim = Claim(1.0, 1e-6)
    assert claim.implies(claim)
    assert claim.implies(Claim(1.1, 1e-6))
    assert not claim.implies(Claim(1.0, 1e-7))
    assert not claim.implies(Claim(0.9, 1e-6))
    assert not claim.implies(claim.under(ADD_REMOVE_ONE))
    assert Claim(0.5).implies(Claim(0.4, 0.1))
    for total, parts in [(0.3, [0.1, 0.2]), (30.0, [0.1] * 300), (7.0, [0.7] * 10), (1.0, [1 / 3] * 3)]:
        assert Claim(sum(parts)).implies(Claim(total))


def test_prints() -> None:
    assert str(Claim(1.0)) == "1-DP under replace-one"
    assert str(Claim(0.5, 1e-6).group(2)).startswith("(1, 5.43656e-06)-DP under replace-one:2")
    assert Claim(1).pure
    assert not Claim(1, 0.1).pure


def test_numbers_of_other_types_are_the_floats_that_they_are() -> None:
    for one in (np.float64(0.5), np.float32(0.5), Fraction(1, 2)):
        claim = Claim(one, one)
        assert (repr(claim), type(claim.epsilon), type(claim.delta)) == (repr(Claim(0.5, 0.5)), float, float)
    assert type(Claim(1).epsilon) is int
    with pytest.raises(ParameterError, match="rho"):
        Claim(1.0, 0.5, rho="x")  # type: ignore[arg-type]


def test_a_claim_with_numbers_of_numpy_is_audited_by_density() -> None:
    @dataclass(frozen=True)
    class Noise(Mechanism):
        @property
        def claim(self) -> Claim:
            return Claim(np.float64(1.0), np.float64(0.05))

        def run(self, data: Any) -> Any:
            """One draw."""
            return Gaussian(float(sum(data)), 1.5)

    assert dpaudit.audit(Noise(), pair=((1,), (0,)), runs=2_000, progress=False).verdict is Verdict.PASS
