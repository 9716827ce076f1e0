"""Enclosures of ε and δ contain what rational arithmetic says, and are narrow."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.interpret.balls import ball
from dpaudit.stats.enclosure import delta_at, epsilon_at, outward

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
    found = epsilon_at([ball(x) for x in p], [ball(x) for x in q], delta)
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
    found = outward(delta_at([ball(x) for x in p], [ball(x) for x in q], epsilon))
    # e^ε is rounded at its fiftieth digit
    assert found.low - 1e-40 <= exact <= found.high + 1e-40
    assert found.high - found.low < 1e-14


def test_an_attained_claim_is_enclosed() -> None:
    """Randomised response at odds of 3 : 1 needs ln 3, by one outcome or the other."""
    p, q = [ball(Fraction(3, 4)), ball(Fraction(1, 4))], [ball(Fraction(1, 4)), ball(Fraction(3, 4))]
    found = epsilon_at(p, q, 0.0)
    assert found.low <= math.log(3) <= found.high
    assert math.log(3) in found
    assert found.high - found.low < 1e-15


@pytest.mark.parametrize("delta", [0.5, 0.7])
def test_mass_that_the_other_side_lacks(delta: float) -> None:
    p, q = [ball(0.5), ball(0.5)], [ball(0), ball(1)]
    found = epsilon_at(p, q, delta)
    assert found.high == 0.0
    assert epsilon_at(p, q, 0.25).low == math.inf
