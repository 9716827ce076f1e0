"""The committed report is of this catalogue: every case of every plan, with the verdict that the plan expects.

`make report` writes it anew; what it says of two findings is compared with what the laws say today.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpaudit.auditing import Request, registry, run
from dpaudit.auditing.contest import bouts
from dpaudit.auditing.plan import UtilityCase
from dpaudit.auditing.request import Versus
from dpaudit.auditing.results import Result
from dpaudit.reporting import json_form

REPORTS = Path(__file__).resolve().parents[2] / "reports"


@pytest.fixture(scope="module")
def result() -> Result:
    """The committed result."""
    path = REPORTS / "catalogue.json"
    return json_form.from_json(path.read_text(encoding="utf-8"), where=path.name)


def test_it_holds_every_case_and_no_other(result: Result) -> None:
    planned = [
        (name, case.label, str(case.tested), case.expected.value)
        for name in registry.names()
        for case in registry.plan(name).cases()
    ]
    assert [(a.name, a.case, a.claim.statement, a.expected) for a in result.audits] == planned


def test_it_holds_every_promise_and_no_other(result: Result) -> None:
    planned = [
        (name, case.label, str(case.claim), case.expected.value, [str(source) for source in case.instances])
        for name in registry.names()
        for case in _promises(name)
    ]
    found = [
        (a.name, a.case, a.claim.statement, a.expected, [one.instances for one in a.attempts]) for a in result.utility
    ]
    assert found == planned


def test_every_verdict_is_as_expected(result: Result) -> None:
    assert [f"{a.name}: {a.case}" for a in result.every if a.as_expected is not True] == []


def test_its_mechanisms_are_the_plans(result: Result) -> None:
    planned = [repr(case.mechanism) for name in registry.names() for case in registry.plan(name).cases()]
    assert [a.mechanism for a in result.audits] == planned


def test_its_findings_are_what_the_laws_say_today(result: Result) -> None:
    fresh = {(a.name, a.case): a for a in run(Request(("ADist", "LearnPoints"), runs=1_000)).audits}
    committed = [a for a in result.audits if (a.name, a.case) in fresh]
    assert len(committed) == len(fresh) > 0
    for audit in committed:
        now = fresh[audit.name, audit.case]
        infinite = audit.epsilon_exact is None
        assert now.epsilon_exact == (None if infinite else pytest.approx(audit.epsilon_exact, rel=1e-9))
        assert now.delta_exact == pytest.approx(audit.delta_exact, rel=1e-9)
        assert now.verdict == audit.verdict


def test_the_page_belongs_to_the_data(result: Result) -> None:
    page = (REPORTS / "catalogue.html").read_text(encoding="utf-8")
    assert page.count("dpaudit replay") >= len(result.every)
    assert all(audit.replay in page for audit in result.every)


def test_the_comparison_is_of_todays_algorithms() -> None:
    path = REPORTS / "interior-points.json"
    compared = json_form.from_json(path.read_text(encoding="utf-8"), where=path.name)
    assert compared.contest is not None
    contest = registry.contest("interior-points")()  # type: ignore[call-arg]
    planned = [(bout.entrant, bout.records, bout.note) for bout in bouts(contest, Versus("interior-points"))]
    assert [(row.algorithm, row.records, row.note) for row in compared.contest.rows] == planned
    for row, bout in zip(compared.contest.rows, bouts(contest, Versus("interior-points")), strict=True):
        assert row.utility is not None
        assert bout.utility is not None
        assert compared.utility[row.utility].mechanism == repr(bout.utility.mechanism)
    page = (REPORTS / "interior-points.html").read_text(encoding="utf-8")
    assert all(audit.replay in page for audit in compared.every[:5])


def _promises(name: str) -> tuple[UtilityCase, ...]:
    plan = registry.plan(name)
    return plan.utility() if plan.utility is not None else ()
