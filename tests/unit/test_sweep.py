"""Sweeps of small scopes against brute force over every pair, and laws that are kept when one is interrupted."""

from __future__ import annotations

import math
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from flint import arb

from dpaudit.adversary import every_pair
from dpaudit.evidence import law_table
from dpaudit.evidence.sweep import Swept, exceeds, sweep
from dpaudit.interpret import LawCache, align, interval_law, law
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, Bernoulli, Categorical, Claim, Mechanism, Multiplicity
from dpaudit.plans.plan import Scope
from dpaudit.stats import hockey_stick
from dpaudit.stats.enclosure import Enclosure, outward
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import load_object
from dpaudit.testing import LeakyResponse
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.pac.concepts import all_examples
from dpaudit_algorithms.pac.learn_thresholds import LearnThresholds

Value = TypeVar("Value")
EXAMPLES = all_examples(range(4))


def end_of(steps: Generator[Any, None, Value]) -> Value:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: Value = end.value
            return value


def swept(mechanism: Mechanism, scope: Scope, claim: Claim, jobs: int = 1) -> Swept:
    return end_of(sweep(mechanism, scope, claim, Runner(jobs), "a mechanism", LawCache()))


def brute_force(mechanism: Mechanism, scope: Scope, claim: Claim) -> tuple[int, float, float]:
    """Pairs, the largest ε at the claimed δ, the largest δ at the claimed ε, by doubles and one pair at a time."""
    cache = LawCache()
    pairs, epsilon, delta = 0, 0.0, 0.0
    for pair in every_pair(claim.relation, scope.domain, scope.records, ordered=scope.ordered):
        _, p, q = align(law(mechanism, pair.left, cache=cache), law(mechanism, pair.right, cache=cache))
        pairs += 1
        for a, b in ((p, q), (q, p)):
            epsilon = max(epsilon, hockey_stick.epsilon_at(a, b, claim.delta))
            delta = max(delta, hockey_stick.hockey_stick(a, b, claim.epsilon))
    return pairs, epsilon, delta


THREE = Multiplicity((0, 1, 2))
CASES: list[tuple[str, Mechanism, Scope, Claim | None]] = [
    ("two outcomes", ExponentialMechanism(1.0, Multiplicity((0, 1))), Scope((0, 1), 6), None),
    ("three outcomes", ExponentialMechanism(2.0, THREE), Scope((0, 1, 2), 5), None),
    ("refuted", ADist(1.0, 0.05, THREE), Scope((0, 1, 2), 6), None),
    ("corrected", ADistCorrected(1.0, 0.05, THREE), Scope((0, 1, 2), 6), None),
    ("choosing", ChoosingMechanism(0.9, 2.0, 0.2, THREE), Scope((0, 1, 2), 7), None),
    ("labelled", LearnThresholds(4, 0.5, 1.0, 1e-6, base=2), Scope(EXAMPLES, 3), None),
    ("add or remove", ADist(1.0, 0.05, THREE), Scope((0, 1, 2), 5), Claim(1.0, 0.05, ADD_REMOVE_ONE)),
    ("rows in order", ExponentialMechanism(1.0, THREE), Scope((0, 1, 2), 3, ordered=True), None),
]


@pytest.mark.slow(only=["labelled-*"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("mechanism", "scope", "claim"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_worst_pair_is_that_of_brute_force(
    mechanism: Mechanism, scope: Scope, claim: Claim | None, k: int
) -> None:
    stated = claim or mechanism.claim
    assert stated is not None
    stated = stated.group(k) if k > 1 else stated
    found = swept(mechanism, scope, stated)
    pairs, epsilon, delta = brute_force(mechanism, scope, stated)
    assert found.pairs == pairs
    assert found.worst is not None
    assert found.delta == pytest.approx(delta, rel=1e-9, abs=1e-12)
    assert found.worst.epsilon.low == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
    assert found.worst.epsilon.high - found.worst.epsilon.low <= 1e-14 * (1 + epsilon)
    assert found.worst.at_most == pytest.approx(found.worst.epsilon.low, rel=3e-11, abs=3e-11)
    # the pair that is shown is the one that needs it
    p, q = (law(mechanism, side) for side in (found.worst.pair.left, found.worst.pair.right))
    _, left, right = align(p, q)
    top, bottom = (left, right) if found.worst.direction == "left/right" else (right, left)
    assert hockey_stick.epsilon_at(top, bottom, stated.delta) == pytest.approx(epsilon, rel=1e-9, abs=1e-9)


def test_a_claim_met_with_equality_is_not_exceeded() -> None:
    """A leak with probability δ is exactly (ε, δ): its text rounds, and that must not refute it."""
    for epsilon, delta in ((1.0, 0.1), (0.3, 1e-6), (2.5, 0.01)):
        mechanism = LeakyResponse(epsilon, delta)
        found = swept(mechanism, Scope((0, 1), 1, ordered=True), mechanism.claim)
        assert found.worst is not None
        assert found.worst.at_least == pytest.approx(epsilon, rel=1e-9)
        assert found.worst.at_least <= found.worst.at_most <= epsilon * (1 + 1e-10)
        assert not exceeds(found.worst, mechanism.claim)
        assert exceeds(found.worst, Claim(epsilon * (1 - 1e-9), delta))


def test_mass_beyond_delta_on_one_side_alone_is_infinite() -> None:
    found = swept(LeakyResponse(1.0, 0.1), Scope((0, 1), 1, ordered=True), Claim(1.0, 0.05))
    assert found.worst is not None
    assert found.worst.epsilon.low == math.inf


def test_a_scope_without_pairs() -> None:
    found = swept(ExponentialMechanism(1.0, THREE), Scope((0,), 3), Claim(1.0))
    assert (found.pairs, found.worst) == (0, None)


@pytest.mark.slow
def test_workers_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, scope = LearnThresholds(4, 0.5, 1.0, 1e-6, base=2), Scope(EXAMPLES, 4)
    assert mechanism.claim is not None
    alone = swept(mechanism, scope, mechanism.claim)
    law_table.forget()
    monkeypatch.setattr(law_table, "WORTH_A_POOL", 0.0)
    runner = Runner(2)
    try:
        assert end_of(sweep(mechanism, scope, mechanism.claim, runner, "a mechanism", LawCache())) == alone
    finally:
        runner.close()


@pytest.mark.slow
def test_laws_in_spans_are_cut_alike() -> None:
    """Each dataset cuts 2^64 solutions elsewhere; the worst pair is that of brute force all the same."""
    mechanism = LearnThresholds(2**64, 0.5, 2.0, 1e-6, base=2)
    points = (5, 2**40, 2**63)
    scope = Scope(all_examples(points), 2)
    for claim in (mechanism.claim, mechanism.claim.group(2), Claim(1e-3)):
        found = swept(mechanism, scope, claim)
        pairs, epsilon, delta = brute_force(mechanism, scope, claim)
        assert found.pairs == pairs
        assert found.worst is not None
        assert found.worst.epsilon.low == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
        assert found.worst.at_most == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
        assert found.delta == pytest.approx(delta, rel=1e-9, abs=1e-12)


MOVED = """
from dpaudit.language import Bernoulli, Mechanism
import moved_constants
class Coin(Mechanism):
    def run(self, dataset):
        return Bernoulli(moved_constants.a)
"""


def test_laws_are_found_again_by_what_they_depend_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another folder the program is the same one, and with another text in a file that it imports it is not."""

    def of(folder: str, beside: str, doubles: str = "") -> str | None:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "moved_constants.py").write_text(beside)
        (tmp_path / folder / "moved.py").write_text(MOVED)
        with monkeypatch.context() as patch:
            patch.syspath_prepend(tmp_path / folder)
            patch.setattr(sys, "modules", dict(sys.modules))
            made, _ = load_object(f"{tmp_path / folder / 'moved.py'}:Coin")
            assert isinstance(made, type)
            return law_table._about(made(), REPLACE_ONE, Scope((0, 1), 2), doubles)

    first = of("here", "a = 0.5")
    assert first is not None
    assert of("there", "a = 0.5") == first
    assert of("elsewhere", "a = 0.25") != first
    assert of("in doubles", "a = 0.5", "it does not run on exact numbers") != first


def test_laws_of_what_has_no_key_are_not_kept() -> None:
    @dataclass(frozen=True)
    class Evaluated(Mechanism):
        def run(self, dataset: Any) -> Bernoulli:
            return Bernoulli(eval("0.5"))

    assert law_table._about(Evaluated(), REPLACE_ONE, Scope((0, 1), 2), "") is None


@dataclass(frozen=True)
class NearlyAlike(Mechanism):
    """The worst pair, (0,) and (2,), needs 1e-7 more than the others, which differ by more probability in all."""

    claim = Claim(2.0)

    def run(self, dataset: Any) -> Categorical:
        (record,) = dataset
        first, last = ((0.5, 0.1), (0.5 * math.exp(-1), 0.05), (0.5, 0.1 * math.exp(-1 - 1e-7)))[record]
        return Categorical(("first", "middle", "last"), (first, 1 - first - last, last))


def test_no_pair_is_passed_over_where_doubles_around_its_laws_are_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound by which pairs are passed over is an upper one: here the doubles are a relative 1e-6 apart."""

    def wide(number: Any) -> Enclosure:
        around = outward(number)
        return Enclosure(around.low * (1 - 1e-6), around.high * (1 + 1e-6))

    monkeypatch.setattr(law_table, "_LATEST", {})
    monkeypatch.setattr(law_table, "outward", wide)
    found = swept(NearlyAlike(), Scope((0, 1, 2), 1, ordered=True), NearlyAlike.claim)
    assert found.worst is not None
    assert (found.worst.pair.left, found.worst.pair.right) == ((0,), (2,))
    assert found.worst.epsilon.low == pytest.approx(1 + 1e-7, abs=1e-12)
    assert found.worst.at_most >= 1 + 1e-7 - 1e-15


def test_laws_in_a_table_contain_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_table, "_LATEST", {})
    scope, mechanism = Scope((0, 1, 2), 3), ExponentialMechanism(0.7, THREE)
    assert mechanism.claim is not None
    steps = law_table.law_table(mechanism, mechanism.claim.relation, scope, Runner(1), "a mechanism", LawCache())
    table = end_of(steps)
    strictly = 0
    for at, dataset in enumerate(table.datasets):
        low, high = table.laws(np.array([at]))
        exact = interval_law(mechanism, dataset).as_dict()
        for column, outcome in enumerate(table.outcomes):
            assert arb(float(low[0, column])) <= exact[outcome] <= arb(float(high[0, column]))
            strictly += low[0, column] < high[0, column]
    assert strictly > 0
