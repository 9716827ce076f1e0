"""Verdicts: what refutes, what passes, and whether the remedies work."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from audit_toys import PAIR, Choice, NoisySum, Response, response, responses
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from dpaudit.engine import orchestrator
from dpaudit.engine.verdict import POSSIBLE_RUNS
from dpaudit.plans.request import Request
from dpaudit.results.faults import exit_code
from dpaudit.results.model import Audit, EvidenceKind, Verdict
from dpaudit.results.reasons import rounded_down
from dpaudit.stats import power
from dpaudit.testing import LeakyResponse


def audit(target: Any, **more: Any) -> Audit:
    """The only audit of a request."""
    settings = {"runs": 20_000, "pair": PAIR, **more}
    return orchestrator.run(Request((target,), **settings)).audits[0]


def test_fail_by_runs() -> None:
    found = audit(responses, epsilon=0.5)
    assert found.verdict is Verdict.FAIL
    assert found.evidence is EvidenceKind.SAMPLED
    assert found.epsilon_lower is not None
    assert 0.5 < found.epsilon_lower <= 1.1
    assert re.fullmatch(
        r"The samples show ε ≥ 0\.[5-9]\d* at δ = 0 \(claimed 0\.5\) with 99\.9 % confidence; "
        r"the e-process refuted the claim after [\d,]+ samples per dataset\.",
        found.reason,
    )


def test_pass_by_runs_is_no_proof() -> None:
    found = audit(responses, epsilon=1.0)
    assert found.verdict is Verdict.PASS
    assert found.evidence is EvidenceKind.SAMPLED
    assert found.reason == (
        "No violation was found on 1 pair with up to 20,000 samples per dataset. This is not a proof."
    )


def test_an_exact_fail_beats_samples() -> None:
    found = audit(Response(1.0, 0.9), runs=200)
    assert found.verdict is Verdict.FAIL
    assert found.evidence is EvidenceKind.EXACT
    assert "need ε = 1 (for certain ε ≥ 0.999999999999) at δ = 0 (claimed 0.9)" in found.reason


@pytest.mark.slow
def test_a_law_is_not_refuted_by_its_own_rounding() -> None:
    for epsilon in (0.1, 0.3, 1 / 3, 1.0, math.pi, 20.0):
        assert audit(Response(epsilon), runs=100).verdict is Verdict.PASS
        assert audit(Response(epsilon, epsilon * (1 - 1e-6)), runs=100).verdict is Verdict.FAIL
    for delta in (1e-9, 1e-3, 0.3):
        assert audit(LeakyResponse(1.0, delta), runs=100).verdict is Verdict.PASS
        assert audit(LeakyResponse(1.0, delta), runs=100, delta=delta * 0.999).verdict is Verdict.FAIL


def test_an_exact_pass_is_a_proof_only_of_a_finite_domain() -> None:
    found = audit(Choice(1.0, 3), pair=((0, 1), (1, 1)), runs=500)
    assert found.verdict is Verdict.PASS
    assert found.evidence is EvidenceKind.EXACT
    assert found.reason.endswith("not a proof.")


@pytest.mark.parametrize(("runs", "epsilon"), [(100, 10.0), (16, 1.0), (64, 1.0), (50, 5.0), (1, 0.1)])
def test_runs_that_can_never_reach_the_claim_and_the_remedy_works(runs: int, epsilon: float) -> None:
    def tells_all(dataset: Any, rng: Generator, size: int) -> Any:
        return [dataset[0]] * size

    found = audit(tells_all, epsilon=epsilon, runs=runs)
    if runs == 64:
        assert found.verdict is Verdict.FAIL, "the runs that the remedy for ε = 1 names are enough"
        return
    assert found.verdict is Verdict.INCONCLUSIVE
    assert not found.crashed
    remedy = re.search(r"raise --runs to at least ([\d,]+)\.", found.reason)
    assert remedy is not None, found.reason
    more = int(remedy[1].replace(",", ""))
    assert audit(tells_all, epsilon=epsilon, runs=more).verdict is Verdict.FAIL


def test_with_a_delta_the_remedy_counts_it_in() -> None:
    def tells_all(dataset: Any, rng: Generator, size: int) -> Any:
        return [dataset[0]] * size

    found = audit(tells_all, epsilon=1.0, delta=0.99, runs=1_000)
    assert found.verdict is Verdict.INCONCLUSIVE
    remedy = re.search(r"raise --runs to at least ([\d,]+)\.", found.reason)
    assert remedy is not None
    more = int(remedy[1].replace(",", ""))
    assert audit(tells_all, epsilon=1.0, delta=0.99, runs=more).verdict is Verdict.FAIL


def test_a_claim_beyond_all_runs() -> None:
    found = audit(response, epsilon=60.0, runs=500)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.endswith("audit a smaller ε or compute the output distributions exactly.")
    assert power.largest_certifiable(POSSIBLE_RUNS, 0.001) < 60


def test_delta_one_allows_everything() -> None:
    found = audit(response, epsilon=1.0, delta=1.0, runs=500)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "name a smaller --delta" in found.reason


def test_a_law_that_the_runs_contradict_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Two(NoisySum):
        """Its bulk tells all, its law nothing."""

        def run(self, dataset: Any) -> Any:
            return 0

        def bulk(self, dataset: Any, size: int, rng: Generator) -> Any:
            return [dataset[0]] * size

    found = audit(Two())
    assert found.verdict is Verdict.FAIL
    assert found.evidence is EvidenceKind.SAMPLED
    assert any("`run`, or this is the one audit in 1,000 with a false alarm" in note.sentence for note in found.notes)


def test_crash_and_time_limit_are_inconclusive() -> None:
    def crashes(dataset: Any, rng: Generator) -> int:
        raise OSError("gone")

    found = audit(crashes, epsilon=1.0)
    assert (found.verdict, found.crashed, found.reason) == (
        Verdict.INCONCLUSIVE, True,
        f"crashes raised OSError: gone (test_verdict.py, line {crashes.__code__.co_firstlineno + 1}, in crashes: "
        '`raise OSError("gone")`) in every call, for example on [0].',
    )
    found = audit(response, epsilon=1.0, time=1e-6)
    assert (found.verdict, found.crashed) == (Verdict.INCONCLUSIVE, False)
    assert "raise --time or lower --runs" in found.reason


@settings(max_examples=300)
@given(st.floats(1e-6, 700))
def test_a_bound_is_never_rounded_up(bound: float) -> None:
    assert float(rounded_down(bound)) <= bound * (1 + 1e-12)
    assert float(rounded_down(bound)) >= bound * 0.98


@pytest.mark.slow
def test_exit_codes() -> None:
    def code(*targets: Any, **more: Any) -> int:
        return exit_code(orchestrator.run(Request(targets, pair=PAIR, runs=500, **more)))

    def crashes(dataset: Any, rng: Generator) -> int:
        raise OSError

    assert code(Response()) == 0
    assert code(Response(), Response(1.0, 0.5)) == 1
    assert code(response, epsilon=9.0) == 3
    assert code(Response(1.0), response, epsilon=0.9) == 1, "FAIL before INCONCLUSIVE"
    assert code(Response(1.0), crashes, epsilon=0.5) == 4, "a crash before all"
