"""The intervals around the exact ε and δ of a pair: they contain what Fractions and 60 digits say, and they decide."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain, combinations

import pytest
from audit_toys import PAIR, Response
from numpy.random import default_rng

import dpaudit
from dpaudit.adversary import Pair
from dpaudit.evidence import exact
from dpaudit.evidence.density import compared
from dpaudit.interpret import LawCache
from dpaudit.language import Bernoulli, Categorical, Claim, Mechanism, Program, independent
from dpaudit.results.model import ExactEvidence, Verdict


class Table(Mechanism):
    """Five outcomes with given probabilities on each of two datasets."""

    def __init__(self, sides: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
        self.sides = sides

    def run(self, dataset: tuple[int, ...]) -> Categorical:
        return Categorical(tuple(range(5)), self.sides[dataset[0]])


def looked(mechanism: Mechanism, claim: Claim) -> ExactEvidence:
    return compared(mechanism, Pair(*PAIR), claim, LawCache()).evidence


@pytest.mark.parametrize("seed", range(12))
def test_bounds_contain_the_truth_over_all_events(seed: int) -> None:
    """Every one of the 2⁵ events: probabilities are exact fractions of the doubles, ε and δ are decimals."""
    rng = default_rng(seed)
    sides = tuple(tuple(float(x) / 2**20 for x in _parts(rng.integers(1, 2**18, 5).tolist())) for _ in range(2))
    delta, epsilon = float(rng.choice([0.0, 0.01, 0.1])), 0.3
    found = looked(Table((sides[0], sides[1])), Claim(epsilon, delta))
    assert found.bounds is not None
    assert found.bounds.epsilon_low is not None
    assert found.bounds.epsilon_high is not None
    p, q = ([Fraction(x) for x in side] for side in sides)
    events = list(chain.from_iterable(combinations(range(5), k) for k in range(1, 6)))
    with localcontext() as context:
        context.prec = 60
        ratio = max(
            (sum(a[i] for i in event) - Fraction(repr(delta))) / sum(b[i] for i in event)
            for event in events
            for a, b in ((p, q), (q, p))
        )
        most = max(Decimal(0), _decimal(ratio).ln()) if ratio > 0 else Decimal(0)
        grown = Decimal(repr(epsilon)).exp()
        worst = max(
            sum((max(Decimal(0), _decimal(a[i]) - grown * _decimal(b[i])) for i in range(5)), Decimal(0))
            for a, b in ((p, q), (q, p))
        )
        assert Decimal(found.bounds.epsilon_low) <= most <= Decimal(found.bounds.epsilon_high)
        assert Decimal(found.bounds.delta_low) <= worst <= Decimal(found.bounds.delta_high)
    assert found.bounds.epsilon_high - found.bounds.epsilon_low < 1e-13
    assert found.epsilon is not None
    assert found.bounds.epsilon_low <= found.epsilon <= found.bounds.epsilon_high


def _parts(weights: list[int]) -> list[int]:
    """Whole numbers that add up to 2²⁰, so that the doubles made of them add up to 1 exactly."""
    scaled = [max(1, weight * 2**20 // sum(weights)) for weight in weights]
    return [*scaled[:-1], 2**20 - sum(scaled[:-1])]


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


@pytest.mark.slow
def test_a_claim_met_with_equality_stands_and_a_hair_less_does_not() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        for short, verdict in ((0.0, Verdict.PASS), (1e-14, Verdict.PASS), (1e-10, Verdict.FAIL)):
            mechanism = Response(epsilon, claimed=epsilon - short)
            (audit,) = dpaudit.audit(mechanism, pair=([0], [1]), runs=100).audits
            assert audit.verdict is verdict, (epsilon, short)


def test_laws_with_many_outcomes_are_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "MOST_INTERVALS", 1)
    found = looked(Response(1.0), Claim(1.0))
    assert found.bounds is None
    assert found.epsilon == pytest.approx(1.0, abs=1e-12)


def test_an_infinite_epsilon_has_a_bound_in_delta() -> None:
    sides = ((0.5, 0.25, 0.25, 0.0, 0.0), (0.5, 0.25, 0.125, 0.125, 0.0))
    found = looked(Table(sides), Claim(0.0, 0.0))
    assert found.epsilon is None
    assert found.bounds is not None
    assert (found.bounds.epsilon_low, found.bounds.epsilon_high) == (None, None)
    assert found.bounds.delta_low <= 0.125 <= found.bounds.delta_high < math.nextafter(0.125, 1) + 1e-15


class Leaks(Mechanism):
    """Tells its record with probability 0.1, beside three coins: no interval shows that the eight parts are 0.1."""

    def run(self, dataset: tuple[int, ...]) -> Program:
        told = yield Bernoulli(0.1)
        coins = yield independent(Bernoulli(0.1), 3)
        return (dataset[0] if told else None, coins)


def test_an_epsilon_is_finite_where_delta_is_met_with_equality() -> None:
    found = looked(Leaks(), Claim(0.0, 0.1))
    assert found.bounds is not None
    assert found.epsilon == pytest.approx(0.0, abs=1e-9)
    assert found.bounds.epsilon_high == pytest.approx(0.0, abs=1e-9)
    assert looked(Leaks(), Claim(0.0, 0.099)).epsilon is None


def test_epsilon_and_its_bounds_agree_where_doubles_give_out() -> None:
    """1e-400 is no double: the other side has it, so that ε is finite, and large."""
    sides = ((0.75, 0.25, 0.0, 0.0, 0.0), (1.0 - 2.0**-1000, 2.0**-1000, 0.0, 0.0, 0.0))
    found = looked(Table(sides), Claim(1.0, 0.01))
    assert found.bounds is not None
    assert found.bounds.epsilon_low is not None
    assert found.bounds.epsilon_high is not None
    assert found.epsilon is not None
    assert found.bounds.epsilon_low <= found.epsilon <= found.bounds.epsilon_high
    assert found.epsilon == pytest.approx(math.log(0.24) + 1000 * math.log(2), rel=1e-9)


def test_a_leak_of_just_delta_needs_no_infinite_epsilon() -> None:
    """All of δ on an outcome that the other side lacks, and a last digit more of it."""
    delta = 0.1
    leak = math.nextafter(delta, 1)
    sides = ((leak, 0.5, 0.5 - leak, 0.0, 0.0), (0.0, 0.5, 0.5, 0.0, 0.0))
    found = looked(Table(sides), Claim(1.0, delta))
    assert found.bounds is not None
    assert found.epsilon is not None
    assert found.bounds.epsilon_high is not None
    assert found.epsilon <= found.bounds.epsilon_high
