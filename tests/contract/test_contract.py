"""The contract itself: sound toys keep it, and every clause catches what it is there for."""

from __future__ import annotations

import math
from typing import Any

import contract
import pytest
import toy_catalogue as toys
from contract import CHECKS, Catalogue, Subject, check_registered

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.errors import PairError
from dpaudit.language import Claim, Mechanism
from dpaudit.plans.plan import Case


def subject(mechanism: Mechanism, **changes: Any) -> Subject:
    plan = toys.plan_of(mechanism, **changes)
    return Subject(type(mechanism).__name__, type(mechanism), plan)


@pytest.mark.parametrize("mechanism", toys.SOUND, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_sound_toys_pass(mechanism: Mechanism, check: Any) -> None:
    check(subject(mechanism))


@pytest.mark.parametrize(
    ("mechanism", "check", "says"),
    [
        (toys.NoCard(), contract.check_card, "no card"),
        (toys.OtherName(), contract.check_card, "its card says Another"),
        (toys.NoSource(), contract.check_card, "no Source line"),
        (toys.WithLambda(), contract.check_value, "pickled"),
        (toys.Address(), contract.check_value, "does not say what it is"),
        (toys.AcceptsAnything(), contract.check_parameters, "takes epsilon = nan"),
        (toys.TwoSentences(), contract.check_parameters, "more than one sentence"),
        (toys.Overspends(), contract.check_ledger, "composed 1-DP"),
        (toys.BulkOfAnother(), contract.check_agreement, "bulk"),
        (toys.BulkOfAnother(), contract.check_bulk, "bulk and run differ"),
        (toys.BulkWithoutLaw(), contract.check_bulk, "bulk and run differ"),
        (toys.WrongSampler(), contract.check_agreement, "WrongSampler"),
        (toys.Lopsided(), contract.check_symmetries, "relabelling does not hold"),
        (toys.WrongLaw(), contract.check_laws_sum_to_one, "its law sums to"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Mechanism) else None,
)
def test_broken_toys_are_caught(mechanism: Mechanism, check: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check(subject(mechanism))


SINGLE = (Pair((0, 1), (1, 1)),)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"2": None}, r"no case for groups of \[2\]"),
        ({"3": None}, r"no case for groups of \[3\]"),
        ({"again": Case("pair", toys.Toy(), SINGLE)}, "labels come twice"),
        ({"empty": Case(" ", toys.Toy(), SINGLE)}, "no label"),
        ({"bare": Case("bare", toys.Toy())}, "neither pairs nor a scope"),
    ],
)
def test_broken_plans_are_caught(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        contract.check_plan(subject(toys.Toy(), **changes))


@pytest.mark.parametrize("pair", [Pair((0, 0), (1, 1)), Pair((0,), (0,)), Pair((0,), (0, 1))])
def test_pairs_that_the_claim_does_not_speak_about(pair: Pair) -> None:
    with pytest.raises(PairError):
        contract.check_plan(subject(toys.Toy(), wrong=Case("wrong", toys.Toy(), (pair,))))


def test_a_case_that_claims_nothing() -> None:
    class Silent(toys.Toy):
        claim = None  # type: ignore[assignment]

    with pytest.raises(AssertionError, match="nothing is claimed"):
        contract.check_plan(subject(Silent()))
    claimed = Case("pair", Silent(), SINGLE, Claim(1.0))
    quiet = {"pair": claimed, "scope": None, "2": Case("2", Silent(), SINGLE, Claim(1.0).group(2)),
             "3": Case("3", Silent(), SINGLE, Claim(1.0).group(3))}
    contract.check_plan(subject(Silent(), **quiet))


def test_algorithms_and_plans_come_together() -> None:
    table = {"Toy": "toy_catalogue:Toy"}
    check_registered(Catalogue(table, table))
    with pytest.raises(AssertionError, match="no plan for Toy"):
        check_registered(Catalogue(table, {}))
    with pytest.raises(AssertionError, match="no algorithm for the plans of Toy"):
        check_registered(Catalogue({}, table))
    assert Catalogue(table, table).subject("Toy").kind is toys.Toy
    assert Catalogue.of("math", "cmath").names == []


def test_the_required_runs_have_the_required_power() -> None:
    """By the exact binomial law: false alarms ≤ 5e-7, misses of a one-per-cent shift ≤ 1e-3."""
    from scipy import stats

    for mechanism in toys.SOUND:
        found = subject(mechanism).agreement
        if found is None:
            assert isinstance(mechanism, toys.ToyContinuous)
            continue
        assert 0 < found.p <= 0.5
        spread = stats.norm.isf(contract.FALSE_ALARM / 2) * math.sqrt(found.runs * found.p * (1 - found.p))
        low, high = found.runs * found.p - spread, found.runs * found.p + spread
        alarm = stats.binom.cdf(low, found.runs, found.p) + stats.binom.sf(high, found.runs, found.p)
        assert alarm <= contract.FALSE_ALARM * 1.05
        for q in (found.p * (1 - contract.SHIFT), found.p * (1 + contract.SHIFT)):
            seen = stats.binom.cdf(low, found.runs, q) + stats.binom.sf(high, found.runs, q)
            assert seen >= 1 - contract.MISS
