"""Probabilities as intervals: they contain the true values and the doubles."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from dpaudit.interpret import LawCache, interval_law, law
from dpaudit.interpret.enclosures import probabilities
from dpaudit.language import (
    Categorical,
    Claim,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    Multiplicity,
    Multiset,
    Softmax,
    Uniform,
)
from dpaudit.language.distributions import Bernoulli, Mapped, Product, RandomPairing, Snapping
from dpaudit.stats.arb import PRECISION, to_interval
from dpaudit_algorithms.foundations.a_dist import ADist
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefixLevel
from dpaudit_algorithms.pac.learn_thresholds import LearnThresholds

DIGITS = Context(prec=60)


def widest(enclosures: list[Any]) -> float:
    return max(float(p.rad()) for p in enclosures)


DRAWS: list[Any] = [
    Bernoulli(0.3),
    Bernoulli(1.0),
    Bernoulli(1 - 1e-17, 1e-17),
    Laplace(0.1, 3.0) < 0.7,
    Laplace(0.1, 3.0) >= 40.0,
    ~(Laplace(2.0, 0.5) > -3.0),
    Gaussian(0.3, 2.0) < -9.0,
    Gaussian(0.3, 2.0) > -9.0,
    DiscreteLaplace(2, Fraction(3, 2)) <= 1.5,
    DiscreteLaplace(2, 1.5) > 4,
    Snapping(0.4, 1.0, 20.0) <= 0.0,
    Laplace(0.2, 1.0).clip(-1.0, 2.0) <= -1.0,
    Laplace(0.2, 1.0).clip(-1.0, 2.0) < -1.0,
    Laplace(0.2, 1.0).clip(-1.0, 2.0).clip(-3.0, 2.0) >= 2.0,
    Laplace(0.2, 1.0).clip(-1.0, 2.0).clip(-1.0, 3.0) <= -1.0,
    Laplace(0.2, 1.0).ceil().clip(-3, 4),
    Laplace(0.2, 1.0).floor().clip(-3, 4),
    DiscreteLaplace(1, 2.0).clip(-2, 5),
    Categorical(("a", "b", "c"), (0.2, 0.3, 0.5)),
    Uniform(range(7)),
    Softmax([0.0, 1.0, 1.0, -3.5], 0.7),
    Softmax([0.0, 900.0], 1.0),
    Softmax([0.0, 1.0], -2.0),
    Mapped(Softmax([0.0, 1.0, 2.0], 1.0), lambda i: i % 2),
    Product((Bernoulli(0.25), Uniform((1, 2, 3)))),
    RandomPairing(Multiset.of([0, 0, 1, 2, 2]), min),
]


@pytest.mark.parametrize("draw", DRAWS, ids=repr)
def test_intervals_agree_with_doubles_and_sum_to_one(draw: Any) -> None:
    with ctx.workprec(PRECISION):
        found = probabilities(draw)
        assert widest(found) < 1e-35
        total = sum(found, arb(0))
        assert total.contains(1)
        for p, q in zip(draw.probs.tolist(), found, strict=True):
            assert float(q.mid()) == pytest.approx(p, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(("loc", "scale", "t"), [(0.1, 3.0, 0.7), (0.0, 0.5, -20.25), (5.0, 1.5, 5.0)])
def test_laplace_tails_contain_sixty_digits(loc: float, scale: float, t: float) -> None:
    """By another library's exponential, from the doubles as the fractions that they are."""
    z = (Fraction(t) - Fraction(loc)) / Fraction(scale)
    tail = DIGITS.divide(Decimal(-abs(z.numerator)), Decimal(z.denominator))
    half = DIGITS.divide(DIGITS.exp(tail), Decimal(2))
    below = half if z < 0 else DIGITS.subtract(Decimal(1), half)
    with ctx.workprec(PRECISION):
        inside, outside = probabilities(Laplace(loc, scale) < t)
        for found, value in ((inside, below), (outside, DIGITS.subtract(Decimal(1), below))):
            exact = to_interval(Fraction(value))
            assert found.overlaps(exact)
            assert float(found.rad()) < 1e-35


def test_a_random_pairing_is_exact() -> None:
    draw = RandomPairing(Multiset.of([0, 0, 0, 1, 1, 1]), lambda a, b: a == b)
    exact = draw.fractions()
    # 15 pairings; a 0 and a 1 together three times: 6; once: 9
    assert sorted(exact.values()) == [Fraction(6, 15), Fraction(9, 15)]
    with ctx.workprec(PRECISION):
        assert all(
            p.contains(arb(to_interval(value))) for p, value in zip(probabilities(draw), exact.values(), strict=True)
        )


CASES: list[tuple[Mechanism, Any]] = [
    (LearnThresholds(8, 0.5, 3.0, 1e-3, base=2), ((1, 1), (3, 1), (4, 0), (6, 0))),
    (RecPrefixLevel(64, 2.0, 0.01, 0.9, k=1, base=4), (0, 1, 32, 33, 63)),
]


@pytest.mark.parametrize(("mechanism", "dataset"), CASES, ids=["LearnThresholds", "RecPrefixLevel"])
def test_the_law_in_intervals_is_the_law(mechanism: Mechanism, dataset: Any) -> None:
    doubles, enclosures = law(mechanism, dataset).as_dict(), interval_law(mechanism, dataset).as_dict()
    assert set(doubles) <= set(enclosures)
    for value, p in enclosures.items():
        assert float(p.mid()) == pytest.approx(doubles.get(value, 0.0), rel=1e-11, abs=1e-300)
    with ctx.workprec(PRECISION):
        total = sum(enclosures.values(), arb(0))
    assert total.contains(1)
    assert float(total.rad()) < 1e-30


def test_what_underflows_in_doubles_stays_possible() -> None:
    """A gap of 3,000 standard units: ⊥ has the probability e^-3000/2."""
    found = interval_law(ADist(1.0, 0.05, Multiplicity((0, 1))), (0,) * 3_010).as_dict()
    assert len(found) == 2
    least = min(found.values(), key=lambda p: float(p.mid()))
    assert not least.is_zero()
    assert -3_010 < float(least.log().mid()) < -3_000
    assert math.exp(-3_000) == 0.0


class NoParameter(Mechanism):
    """The same mechanism on doubles and on exact numbers: nothing but the kind of numbers tells its laws apart."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Any:
        return (yield Softmax([0.0, 1.0], 1.0))


@pytest.mark.parametrize("mechanism", [NoParameter(), ADist(1.0, 0.01, Multiplicity((0, 1)))])
def test_a_cache_that_has_the_law_in_doubles_gives_no_doubles_for_intervals(mechanism: Mechanism) -> None:
    cache = LawCache()
    alone = interval_law(mechanism, Multiset.of((0, 0, 1))).as_dict()
    law(mechanism, Multiset.of((0, 0, 1)), cache=cache)
    after = interval_law(mechanism, Multiset.of((0, 0, 1)), cache=cache).as_dict()
    assert widest(list(after.values())) < 1e-30
    assert all(after[outcome].overlaps(p) for outcome, p in alone.items())
