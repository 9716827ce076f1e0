"""`dpaudit.audit(…, data=strategy)`: a search in Hypothesis, and an audit of what it finds on fresh runs.

A correct claim is refuted with probability α = 0.001 an audit at most; the seeds are fixed.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase
from numpy.random import Generator

import dpaudit
from dpaudit import strategies as dst
from dpaudit.engine.orchestrator import run
from dpaudit.errors import ParameterError, UsageError
from dpaudit.language import REPLACE_ONE, Bernoulli, Claim, Mechanism, Program, relation_named
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.strategies import search

RUNS: dict[str, Any] = {"runs": 500}


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 pairs a search in place of 500: enough for these, and the property-based tests stay within a minute."""
    defaults = {**(search.find_pairs.__kwdefaults__ or {}), "examples": 30}
    monkeypatch.setattr(search.find_pairs, "__kwdefaults__", defaults)
    assert inspect.signature(search.find_pairs).parameters["examples"].default == 30


def total(S: Any, rng: Generator, size: int) -> Any:
    """ε = 2.5 under both relations, where records differ by 5 or more."""
    return sum(min(x, 5) for x in S) + rng.laplace(0, 2, size)


@dataclass(frozen=True)
class Response(Mechanism):
    """Randomised response on the first record, with ε that its claim may not admit."""

    epsilon: float
    claimed: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.claimed)

    def run(self, S: Any) -> Program:
        lie = yield Bernoulli(1 / (1 + 2.718281828459045**self.epsilon))
        return (S[0] > 3) != lie


def test_a_broken_claim_is_refuted_on_a_shrunk_pair_and_a_true_one_passes() -> None:
    audit = dpaudit.audit(total, 1.0, data=st.integers(0, 100), size=4, runs=1_000).audit
    assert audit.verdict is Verdict.FAIL
    assert audit.case == "found pairs"
    assert audit.pair is not None
    # one record, and no larger than it must be for so few runs to show it
    small, large = sorted([audit.pair.left, audit.pair.right])
    assert small == [0]
    assert len(large) == 1
    assert 3 <= large[0] <= 6
    passed = dpaudit.audit(total, 2.5, data=st.integers(0, 100), size=4, min_power=float("inf"), **RUNS).audit
    assert passed.verdict is Verdict.PASS


def test_a_strategy_of_pairs_under_another_relation() -> None:
    pairs = dst.neighbours("add-remove-one", st.integers(0, 100), max_size=3)
    result = dpaudit.audit(total, 1.0, relation="add-remove-one", data=pairs, **RUNS)
    assert result.audit.verdict is Verdict.FAIL
    assert result.audit.pair is not None
    assert min(result.audit.pair.left, result.audit.pair.right, key=len) == []


@pytest.mark.slow
def test_the_same_seed_gives_the_same_audit() -> None:
    def numbers(seed: int) -> Any:
        audit = dpaudit.audit(total, 8.0, data=st.integers(0, 100), size=2, seed=seed, runs=100).audit
        return audit.replay, audit.pair, audit.epsilon_lower

    assert numbers(4) == numbers(4) != numbers(5)


@pytest.mark.slow
def test_the_audit_is_the_one_of_the_found_pairs_alone() -> None:
    """Nothing of the search is in it: the same pairs, given to the engine, have the same numbers."""
    found = dst.find_pairs(total, st.integers(0, 100), REPLACE_ONE, Claim(1.0), seed=0, size=4, **RUNS)
    searched = dpaudit.audit(total, 1.0, data=st.integers(0, 100), size=4, **RUNS).audit
    assert len(found) == 1
    (by_hand,) = run(Request((total,), epsilon=1.0, pairs=tuple(found), **RUNS)).audits
    assert (by_hand.epsilon_lower, by_hand.runs, by_hand.event) == (
        searched.epsilon_lower, searched.runs, searched.event
    )


def test_all_found_pairs_are_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the second is: the claim falls on it alone."""
    found = [((0,), (1,)), ((0,), (5,))]
    monkeypatch.setattr("dpaudit.strategies.find_pairs", lambda *args, **more: found)
    audit = dpaudit.audit(total, 1.0, data=st.integers(0, 100), **RUNS).audit
    assert audit.verdict is Verdict.FAIL
    assert audit.pair is not None
    assert [audit.pair.left, audit.pair.right] == [[0], [5]]


@pytest.mark.slow
def test_mechanisms_parameters_and_names() -> None:
    """The search is for pairs of the mechanism that is audited, and against its claim."""
    records = st.integers(0, 9)
    assert dpaudit.audit(Response(1.0), data=records, size=2, **RUNS).audit.verdict is Verdict.PASS
    changed = dpaudit.audit(Response(1.0), data=records, size=2, parameters={"epsilon": 2.0}, **RUNS).audit
    assert changed.verdict is Verdict.FAIL
    assert changed.pair is not None
    assert sorted([changed.pair.left, changed.pair.right]) == [[0], [4]]
    named = dpaudit.audit("NoisyHist2", data=st.integers(0, 1), size=3, runs=300)
    assert named.audit.case == "found pairs"
    with pytest.raises(ParameterError, match="nothing"):
        dpaudit.audit(Response(1.0), data=records, parameters={"nothing": 1}, **RUNS)


def test_nothing_is_kept_from_call_to_call() -> None:
    """A result of Python is a function of its arguments, as that of `hypothesis.find` is."""
    before, database = settings.get_current_profile_name(), InMemoryExampleDatabase()
    settings.register_profile("watched", database=database, derandomize=False)
    settings.load_profile("watched")
    try:
        dpaudit.audit(total, 1.0, data=st.integers(0, 100), size=4, **RUNS)
    finally:
        settings.load_profile(before)
    assert not database.data


def test_a_time_limit_is_shared_with_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def find_pairs(*args: Any, **more: Any) -> Any:
        seen.update(more)
        return [((0,), (5,))]

    monkeypatch.setattr("dpaudit.strategies.find_pairs", find_pairs)
    dpaudit.audit(total, 1.0, data=st.integers(0, 100), time=60.0, **RUNS)
    assert seen["time"] == pytest.approx(20)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"pair": ([0], [1])}, "leave pair and game out"),
        ({"groups": 2}, "relation='replace-one:2'"),
        ({"data": st.nothing()}, "no two different datasets"),
        ({"data": 3}, "a description such as"),
    ],
)
def test_refused(more: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        dpaudit.audit(total, 1.0, **{"data": st.integers(0, 1), **RUNS, **more})


@pytest.mark.parametrize("relation", ["add-remove-one", "replace-one:2"])
def test_what_refutes_is_a_pair_of_the_relation_and_of_the_records(relation: str) -> None:
    audit = dpaudit.audit(total, 0.5, relation=relation, data=st.sampled_from([1, 3, 8]), size=3, **RUNS).audit
    assert audit.verdict is Verdict.FAIL
    assert audit.pair is not None
    left, right = tuple(audit.pair.left), tuple(audit.pair.right)
    assert relation_named(relation).related(left, right)
    assert {*left, *right} <= {1, 3, 8}
