"""Prior evidence: e-values of independent samples multiply, and those of the same samples must not."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audit_toys import PAIR, Response, response, responses
from typed_commands import Typed

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.engine.prior_evidence import evidence_key, evidence_of, prior_notes
from dpaudit.errors import UsageError
from dpaudit.plans import alpha_shares
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request
from dpaudit.results.model import Result, Verdict


def result(target: Any = responses, *, seed: int, epsilon: float = 0.85, **more: Any) -> Result:
    """A few runs of a mechanism whose ε is 1, against a smaller one."""
    return orchestrator.run(Request((target,), seed=seed, epsilon=epsilon, pair=PAIR, runs=400, **more))


def log_e(found: Result) -> float:
    """ln of the e-value of the only audit."""
    evidence = found.audits[0].sequential
    assert evidence is not None
    return evidence.log_e


@pytest.mark.slow
def test_e_values_multiply() -> None:
    first = result(seed=1)
    prior = evidence_of(first, where="first", seed=2)
    alone, both = result(seed=2), result(seed=2, prior=prior)
    plots = [found.audits[0].evidence_plot for found in (alone, both)]
    # while events are learned; the one that is then counted may be another
    learned = [
        [e for runs, e in zip(plot.runs, plot.log10_e, strict=True) if runs <= alpha_shares.learning_runs(400)]
        for plot in plots
        if plot is not None
    ]
    assert len(learned[0]) > 5
    assert [e - log_e(first) / math.log(10) for e in learned[1]] == pytest.approx(learned[0], abs=1e-3)
    evidence = both.audits[0].sequential
    assert evidence is not None
    assert evidence.seeds == [1, 2]
    assert evidence.prior == pytest.approx(log_e(first))


@pytest.mark.slow
def test_sessions_that_show_nothing_alone_refute_together() -> None:
    found, sessions = result(seed=0), 1
    assert found.audits[0].verdict is not Verdict.FAIL
    while found.audits[0].verdict is not Verdict.FAIL and sessions < 60:
        found = result(seed=sessions, prior=evidence_of(found, where="last session", seed=sessions))
        sessions += 1
    audit = found.audits[0]
    assert audit.verdict is Verdict.FAIL
    assert sessions > 2
    assert "in addition to earlier results" in audit.reason
    assert audit.sequential is not None
    assert audit.sequential.seeds == list(range(sessions))
    assert audit.epsilon_lower is not None
    assert 0.85 <= audit.epsilon_lower <= 1.0


def test_evidence_about_something_else_is_refused() -> None:
    first = result(seed=1, epsilon=2.0)
    prior = evidence_of(first, where="first", seed=2)
    says = r"^the earlier result has no evidence .* about responses against 2-DP .*\.$"
    with pytest.raises(UsageError, match=says):
        result(seed=2, prior=prior)
    with pytest.raises(UsageError, match=r"^session\.json has no evidence"):
        result(seed=2, prior=prior, prior_from="session.json")
    exact_only = Request(("A",), prior=prior)
    with pytest.raises(UsageError, match="the earlier result has no evidence"):
        prior_notes([], exact_only, {})
    assert prior_notes([], Request(("A",)), {}) == {}, "none was given"


@pytest.mark.slow
def test_evidence_of_which_only_a_part_matches() -> None:
    def both(*targets: Any, seed: int, **more: Any) -> Result:
        return orchestrator.run(Request(targets, seed=seed, epsilon=0.85, pair=PAIR, runs=400, **more))

    other = result(seed=1, epsilon=2.0)
    session = replace(other, audits=[*result(seed=1).audits, *other.audits])
    prior = evidence_of(session, where="session.json", seed=2)
    found = both(response, responses, seed=2, prior=prior, prior_from="session.json")
    assert [[note.sentence for note in audit.notes] for audit in found.audits] == [
        [
            "No evidence of session.json is used in this audit: it has no e-value of this version of the mechanism "
            "against this claim."
        ],
        ["Evidence of session.json that matches no audit here is not used: responses against "
         f"{other.audits[0].claim.statement}."],
    ]
    alone = both(response, responses, seed=2)
    assert all(audit.notes == [] for audit in alone.audits)
    evidence = [(a.sequential, b.sequential) for a, b in zip(found.audits, alone.audits, strict=True)]
    assert evidence[0][0] == evidence[0][1], "an e-value against another claim says nothing about this one"
    assert evidence[1][0] is not None
    assert evidence[1][0].prior == pytest.approx(log_e(result(seed=1)))


def test_what_was_carried_to_two_cases_counts_once() -> None:
    first = result(seed=1)
    second = result(seed=2, prior=evidence_of(first, where="first", seed=2))
    # a second case of the same mechanism against the same claim: it has runs of its own, and the same evidence before
    twice = replace(second, audits=[second.audits[0], replace(second.audits[0], case="another pair")])
    (prior,) = evidence_of(twice, where="second", seed=3).values()
    own = log_e(second) - log_e(first)
    assert prior.log_e == pytest.approx(log_e(first) + 2 * own)
    assert prior.seeds == (1, 2)


def test_the_same_runs_twice_are_refused() -> None:
    first = result(seed=1)
    with pytest.raises(UsageError, match="was made with seed 1 too"):
        evidence_of(first, where="sessions.json", seed=1)
    later = result(seed=2, prior=evidence_of(first, where="first", seed=2))
    with pytest.raises(UsageError, match="choose another --seed"):
        evidence_of(later, where="sessions.json", seed=1)


def test_what_an_e_value_is_about() -> None:
    def key(target: Any, **more: Any) -> str:
        request = Request((target,), **{"epsilon": 1.0, "pair": PAIR, **more})
        (job,) = jobs_of(request)
        found = evidence_key(job, bits=request.bits)
        assert found.unknown is None
        return found.text

    assert key(response) == key(response, seed=7, runs=50)
    assert key(response) == key(response, pair=((1,), (0,))), "any pair refutes the claim"
    different = [
        key(response), key(responses), key(response, epsilon=1.1), key(response, delta=0.1),
        key(response, relation="add-remove-one", pair=((0,), ())), key(Response()), key(Response(2.0)),
        key(response, bits=True), key(response, call_time=1.0), key(response, call_time=2.0),
    ]
    assert len(set(different)) == len(different)


def test_a_result_without_e_values() -> None:
    empty = replace(result(seed=1), audits=[])
    with pytest.raises(UsageError, match="has no e-values"):
        evidence_of(empty, where="empty.json", seed=2)


def test_carried_from_python() -> None:
    first = dpaudit.audit(responses, epsilon=0.85, pair=PAIR, runs=400, seed=1)
    both = dpaudit.audit(responses, epsilon=0.85, pair=PAIR, runs=400, seed=2, evidence=first)
    evidence = both.audits[0].sequential
    assert evidence is not None
    assert evidence.prior == pytest.approx(log_e(first))


USER = """
import math
def f(data, rng, size):
    p = 1 / (1 + math.exp(-1))
    return (rng.random(size) < p) == bool(data[0])
"""


def test_carried_on_the_command_line(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(USER)
    line = "check u.py:f --epsilon 0.85 --pair [0] [1] --runs 400 --min-power inf"
    assert typed(f"{line} --seed 1 --json one.json").code == 0
    said = typed(f"{line} --seed 2 --evidence one.json --json two.json")
    assert said.code in (0, 1)
    first, second = (json.loads((tmp_path / name).read_text())["audits"][0] for name in ("one.json", "two.json"))
    assert second["sequential"]["prior"] == pytest.approx(first["sequential"]["log_e"])
    assert math.isfinite(second["sequential"]["log_e"])
    # the stored command line carries it too
    assert typed(f"replay {second['replay']}").err.endswith("Reproduced: the same result.\n")
    refused = typed(f"{line} --seed 1 --evidence one.json")
    assert (refused.code, "choose another --seed" in refused.err) == (2, True)
    missing = typed(f"{line} --seed 3 --evidence none.json")
    assert (missing.code, "Cannot read none.json" in missing.err) == (2, True)
    # another text is another mechanism
    (tmp_path / "u.py").write_text(USER.replace("exp(-1)", "exp(-1.0)"))
    said = typed(f"{line} --seed 3 --evidence one.json --json three.json")
    assert said.code == 2
    assert said.sentence.startswith("one.json has no evidence about this audit: it is about f against 0.85-DP")
    assert said.out == ""
    assert not (tmp_path / "three.json").exists()


def test_a_part_that_matches_on_the_command_line(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(USER + USER.replace("def f", "def g"))
    asked = "--epsilon 0.85 --pair [0] [1] --runs 400 --min-power inf"
    assert typed(f"check u.py:f {asked} --seed 1 --json session.json").code == 0
    # sessions may add up in one file
    said = typed(f"check u.py:f u.py:g {asked} --seed 2 --evidence session.json --json session.json")
    assert said.code == 0
    assert said.out.count("No evidence of session.json is used") == 1
    audits = json.loads((tmp_path / "session.json").read_text())["audits"]
    assert [(audit["sequential"]["seeds"], len(audit["notes"])) for audit in audits] == [([1, 2], 0), ([2], 1)]
