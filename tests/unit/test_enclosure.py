"""Enclosures of ε and δ contain what rational arithmetic says, and are narrow."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, product

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.stats import hockey_stick
from dpaudit.stats.arb import to_interval
from dpaudit.stats.enclosure import PRECISION, delta_at, epsilon_at, outward

DIGITS = Context(prec=50)


def exact_ratio(p: list[Fraction], q: list[Fraction], delta: Fraction) -> Fraction | None:
    """The largest (p(E) − δ)/q(E) over all events, at least 1; None where it is infinite. Brute force."""
    best = Fraction(1)
    places = range(len(p))
    for size in range(1, len(p) + 1):
        for event in combinations(places, size):
            mass, other = sum(p[i] for i in event) - delta, sum(q[i] for i in event)
            if mass > 0:
                if other == 0:
                    return None
                best = max(best, Fraction(mass / other))
    return best


@st.composite
def laws(draw: st.DrawFn) -> tuple[list[Fraction], list[Fraction]]:
    size = draw(st.integers(1, 6))
    weights = [draw(st.lists(st.integers(0, 1_000), min_size=size, max_size=size)) for _ in range(2)]
    p, q = ([w or (i == 0) for i, w in enumerate(row)] if not any(row) else row for row in weights)
    return [Fraction(w, sum(p)) for w in p], [Fraction(w, sum(q)) for w in q]


@given(laws(), st.sampled_from([0.0, 1e-9, 0.015625, 0.1, 0.5]))
def test_epsilon_contains_brute_force_over_all_events(
    pair: tuple[list[Fraction], list[Fraction]], delta: float
) -> None:
    p, q = pair
    found = epsilon_at([to_interval(x) for x in p], [to_interval(x) for x in q], delta)
    ratio = exact_ratio(p, q, Fraction(delta))
    if ratio is None:
        assert found.low == math.inf
        return
    exact = DIGITS.ln(DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
    assert Decimal(found.low) <= exact <= Decimal(found.high)
    assert found.high - found.low <= 1e-14 * (1 + float(exact))


@given(laws(), st.sampled_from([0.0, 0.25, 1.0, 3.0]))
def test_delta_contains_the_sum(pair: tuple[list[Fraction], list[Fraction]], epsilon: float) -> None:
    p, q = pair
    ratio = Fraction(DIGITS.exp(Decimal(epsilon)))
    exact = sum((max(Fraction(0), a - ratio * b) for a, b in zip(p, q, strict=True)), Fraction(0))
    found = outward(delta_at([to_interval(x) for x in p], [to_interval(x) for x in q], epsilon))
    # e^ε is rounded at its fiftieth digit
    assert found.low - 1e-40 <= exact <= found.high + 1e-40
    assert found.high - found.low < 1e-14


def test_an_attained_claim_is_enclosed() -> None:
    """Randomised response at odds of 3 : 1 needs ln 3, by one outcome or the other."""
    p, q = (
        [to_interval(Fraction(3, 4)), to_interval(Fraction(1, 4))],
        [to_interval(Fraction(1, 4)), to_interval(Fraction(3, 4))],
    )
    found = epsilon_at(p, q, 0.0)
    assert found.low <= math.log(3) <= found.high
    assert math.log(3) in found
    assert found.high - found.low < 1e-15


@pytest.mark.parametrize("delta", [0.5, 0.7])
def test_mass_that_the_other_side_lacks(delta: float) -> None:
    p, q = [to_interval(0.5), to_interval(0.5)], [to_interval(0), to_interval(1)]
    found = epsilon_at(p, q, delta)
    assert found.high == 0.0
    assert epsilon_at(p, q, 0.25).low == math.inf


@settings(max_examples=300)
@given(st.integers(-(10**18), 10**18), st.integers(1, 10**18))
def test_the_doubles_around_a_ball_contain_it(numerator: int, denominator: int) -> None:
    """Also where the nearest double of an end lies inside the interval."""
    exact = Fraction(numerator, denominator)
    with ctx.workprec(PRECISION):
        found = outward(arb(numerator) / denominator)
    assert Fraction(found.low) <= exact <= Fraction(found.high)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_an_enclosure_holds_for_every_law_in_wide_intervals(delta: float) -> None:
    """Intervals of radius 1e-4, and pairs of laws inside them: mass is moved from any outcome to any other."""
    p, q, radius = [0.5, 0.3, 0.15, 0.05], [0.2, 0.3, 0.2, 0.3], 1e-4
    found = epsilon_at([arb(x, radius) for x in p], [arb(x, radius) for x in q], delta)
    needed = []
    for up_p, down_p, up_q, down_q in product(range(4), repeat=4):
        inside_p, inside_q = list(p), list(q)
        for law, up, down in ((inside_p, up_p, down_p), (inside_q, up_q, down_q)):
            law[up] += 0.9999 * radius * (up != down)
            law[down] -= 0.9999 * radius * (up != down)
        needed.append(hockey_stick.epsilon_at(inside_p, inside_q, delta))
    assert found.low <= min(needed) < max(needed) <= found.high
    # and what is not certain is not far from what is possible
    assert found.high - found.low <= 3 * (max(needed) - min(needed))


@pytest.mark.parametrize("radius", [1e-3, 2.3e-3, 5e-3, 0.023])
def test_an_outcome_known_less_well_than_the_best_event_counts_with_all_that_it_may_have(radius: float) -> None:
    """The best event is the first outcome alone; the second may have a higher likelihood ratio, or a lower one."""
    q, delta = [0.25, 0.14, 0.61], 0.01
    found = epsilon_at([arb(0.6), arb(0.33, radius), arb(0.07, radius)], [arb(x) for x in q], delta)
    for up in (-0.9999 * radius, 0.0, 0.9999 * radius):
        assert found.low <= hockey_stick.epsilon_at([0.6, 0.33 + up, 0.07 - up], q, delta) <= found.high
