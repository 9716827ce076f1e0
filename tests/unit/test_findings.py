"""Findings and the audits that show them; `dpaudit finding`."""

from __future__ import annotations

import re

import pytest
from typed_commands import Typed

from dpaudit.language import Finding, Severity
from dpaudit.plans import registry
from dpaudit.plans.findings import findings, shown_by
from dpaudit.plans.plan import Case, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.findings import FINDINGS

ASYMPTOTIC = {34}
"""Findings about an Ω(…), whose constant is not stated: no audit at one set of parameters refutes it."""


def failing(name: str) -> list[Case | UtilityCase]:
    """The cases of an algorithm that the catalogue expects to fail, but for those that are wrong on purpose."""
    plan = registry.plan(name)
    every = [*plan.cases(), *(plan.utility() if plan.utility is not None else ())]
    return [case for case in every if case.expected is Verdict.FAIL and not case.deliberate]


def test_the_cards_have_all_findings() -> None:
    assert {number: located.finding for number, located in findings().items()} == FINDINGS


@pytest.mark.parametrize("name", sorted({n for located in findings().values() for n in located.algorithms}))
def test_what_fails_shows_one_finding_and_every_finding_is_shown(name: str) -> None:
    card = registry.algorithm(name).card
    assert card is not None
    # a baseline claims no privacy; that it has none is no finding
    cases = [case for case in failing(name) if card.private or isinstance(case, UtilityCase)]
    shown = [shown_by(name, case) for case in cases]
    assert None not in shown
    assert {one.number for one in shown if one is not None} == {one.number for one in card.findings if one.case}


@pytest.mark.parametrize("number", FINDINGS)
def test_the_case_of_a_finding_shows_it(number: int) -> None:
    located = findings()[number]
    if not located.finding.case:
        assert number in ASYMPTOTIC or located.finding.severity in (Severity.STEP, Severity.TYPO)
        return
    (case,) = [case for case in failing(located.algorithms[0]) if case.label == located.finding.case
               and isinstance(case, Case) == (located.finding.kind == "privacy")]
    assert shown_by(located.algorithms[0], case) == located.finding


def test_a_finding_has_its_files() -> None:
    for number, located in findings().items():
        assert located.page is not None
        assert located.script is not None
        assert located.page.name == f"{number:02}.md"


def test_a_finding_is_shown_and_its_audit_run(typed: Typed) -> None:
    said = typed("finding 5")
    assert said.code == 0
    text = " ".join(said.out.split())
    assert "Finding 5 The median utility does not find an interior point where records are equal" in text
    assert "refuted: the statement is false as it is used" in text
    assert "docs/findings/05.py" in text
    assert re.search(r"FAIL .*InteriorPointByMedian · six equal records of two values", text)
    assert text.count("FAIL") == 1
    assert "Finding 5 (refuted)" in text


def test_of_a_finding_without_an_audit_the_script_is_run(typed: Typed) -> None:
    said = typed("finding 33")
    assert said.code == 0
    assert "the script alone: no audit is about it" in said.out
    assert "1/(20n) = 1/2000" in said.out
    said = typed("finding 33 --json -")
    assert said.code == 2
    assert "No audit shows finding 33, so that it has no report." in said.err


def test_all_are_listed(typed: Typed) -> None:
    lines = typed("finding").out.splitlines()
    assert [int(m[0]) for line in lines if (m := re.match(r"\d+", line))] == list(FINDINGS)


@pytest.mark.parametrize(("words", "says"), [
    ("finding 99", f"There is no finding 99; `dpaudit finding` lists all {len(FINDINGS)}."),
    ("finding --json -", "Give the number of a finding; a list of all has no report."),
    ("finding x", "should be a valid integer"),
])
def test_bad_words(typed: Typed, words: str, says: str) -> None:
    said = typed(words)
    assert said.code == 2
    assert says in said.err


@pytest.mark.parametrize("changed", [{"kind": "speed"}, {"title": " "}, {"witness": ""}, {"place": ""}])
def test_a_finding_has_all_parts(changed: dict[str, str]) -> None:
    parts = {"kind": "privacy", "title": "t", "place": "p", "epsilon": "e", "witness": "w"} | changed
    with pytest.raises(ValueError, match="Finding 1 "):
        Finding(1, severity=Severity.TYPO, **parts)
