"""SARIF: valid by the standard's own schema, and every kind of fault under its rule."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import example_results
import pytest
from jsonschema import Draft4Validator, FormatChecker

import dpaudit
from dpaudit.plans import registry
from dpaudit.report.bug_classes import OWN, known_bug_of
from dpaudit.report.sarif import stability_to_sarif, to_sarif
from dpaudit.results.model import Audit, Location, Result, Timings, UtilityAudit

EXAMPLES = {**example_results.every(), "hostile": example_results.hostile()}
SCHEMA = Path(__file__).parents[1] / "schemas" / "sarif-2.1.0.json"


def _run(result: Result, *, expect: bool = False) -> dict[str, Any]:
    (run,) = json.loads(to_sarif(result, expect=expect))["runs"]
    assert isinstance(run, dict)
    return run


def _of(*audits: Audit | UtilityAudit) -> Result:
    privacy = [audit for audit in audits if isinstance(audit, Audit)]
    return replace(
        example_results.result(*privacy), utility=[audit for audit in audits if isinstance(audit, UtilityAudit)]
    )


def _rules(*audits: Audit | UtilityAudit, expect: bool = False) -> list[tuple[str, str]]:
    return [(one["ruleId"], one["level"]) for one in _run(_of(*audits), expect=expect)["results"]]


@pytest.fixture(scope="module")
def validator() -> Draft4Validator:
    """The standard's own schema."""
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")), format_checker=FormatChecker())


@pytest.mark.parametrize("name", ["several", "utility", "hostile"])
def test_whole_text(name: str, snapshot: Callable[[str, str], None]) -> None:
    snapshot(f"sarif_{name}.sarif", to_sarif(EXAMPLES[name]))


@pytest.mark.parametrize("expect", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_is_valid_and_of_one_piece(name: str, expect: bool, validator: Draft4Validator) -> None:
    value = json.loads(to_sarif(EXAMPLES[name], expect=expect))
    assert [error.message for error in validator.iter_errors(value)] == []
    (run,) = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    # each rule once, and only those that are used
    assert [rule["id"] for rule in rules] == list(dict.fromkeys(one["ruleId"] for one in run["results"]))
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["locations"][0]["logicalLocations"][0]["name"]
        for location in one["locations"]:
            if "physicalLocation" in location:
                uri = location["physicalLocation"]["artifactLocation"]["uri"]
                assert re.fullmatch(r"[A-Za-z0-9._~%-][A-Za-z0-9._~%/-]*", uri), "relative, and a URI"
    prints = [one["partialFingerprints"]["dpauditClaim/v1"] for one in run["results"]]
    same = {(a.name, a.case, a.claim.statement) for a in EXAMPLES[name].every}
    assert len(set(prints)) == len(prints) or len(same) < len(EXAMPLES[name].every)


def test_the_schema_refuses_what_is_no_sarif(validator: Draft4Validator) -> None:
    value = json.loads(to_sarif(EXAMPLES["several"]))
    value["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(value)


def test_kinds_of_fault() -> None:
    fail, infinite, leaks = example_results.fail(), example_results.infinite(), example_results.leaks()
    group = replace(fail, claim=replace(fail.claim, group=2))
    exact = replace(infinite, epsilon_exact=1.5)
    assert _rules(fail) == [("privacy-claim-refuted-by-samples", "error")]
    assert _rules(exact) == [("privacy-claim-refuted-exactly", "error")]
    assert _rules(infinite) == [("unbounded-privacy-loss", "error")]
    assert _rules(group) == [("group-claim-refuted", "error")]
    assert _rules(leaks) == [("floating-point-vulnerability", "warning")]
    assert _rules(example_results.bits_counted()) == [("floating-point-vulnerability", "error")]
    assert _rules(example_results.broken_guarantee()) == [("utility-guarantee-refuted", "error")]
    assert _rules(example_results.crashed()) == [("mechanism-crashed", "error")]
    assert _rules(example_results.inconclusive()) == [("inconclusive", "note")]
    assert _rules(example_results.proved(), example_results.not_refuted(), example_results.certified_guarantee()) == []
    unexpected = replace(example_results.proved(), expected="fail")
    assert _rules(unexpected) == []
    assert _rules(unexpected, expect=True) == [("unexpected-verdict", "error")]


def test_every_rule_is_explained() -> None:
    for rule in OWN.values():
        assert re.fullmatch("[a-z-]+", rule.id)
        assert rule.name == "".join(word.capitalize() for word in rule.id.split("-"))
        assert rule.level in ("error", "warning", "note")
        assert all(text.endswith(".") for text in (rule.short, rule.full, rule.remedy))
    assert len(OWN) == 10


def test_a_member_of_the_corpus_has_its_bug_class() -> None:
    card = registry.algorithm("SVT4").card
    assert card is not None
    assert card.known_bug is not None
    refuted = replace(example_results.infinite(), name="SVT4", source=card.source)
    run = _run(_of(refuted))
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("corpus/wrong-noise-scale", "WrongNoiseScale")
    assert card.known_bug.effect in rule["help"]["text"]
    assert "SVT4: " in rule["help"]["markdown"]
    # a function of somebody's own may have that name, too
    assert known_bug_of(replace(refuted, source="mine.py")) is None
    assert _rules(replace(refuted, source="mine.py")) == [("unbounded-privacy-loss", "error")]


def test_what_is_expected_is_suppressed_where_that_is_asked_for() -> None:
    (plain,) = _run(_of(example_results.infinite()))["results"]
    assert "suppressions" not in plain
    (expected,) = _run(_of(example_results.infinite()), expect=True)["results"]
    assert [one["kind"] for one in expected["suppressions"]] == ["external"]
    (wrong,) = _run(_of(example_results.fail()), expect=True)["results"]
    assert "suppressions" not in wrong


def test_invocation_says_how_it_ended() -> None:
    (ended,) = _run(EXAMPLES["several"])["invocations"]
    assert (ended["executionSuccessful"], ended["exitCode"]) == (True, 1)
    assert (ended["startTimeUtc"], ended["endTimeUtc"]) == ("2025-07-11T09:30:00Z", "2025-07-11T09:30:12Z")
    (cut,) = _run(replace(EXAMPLES["several"], interrupted=True))["invocations"]
    assert (cut["executionSuccessful"], cut["exitCode"]) == (False, 130)
    assert cut["toolExecutionNotifications"]
    (crash,) = _run(EXAMPLES["crashed"])["invocations"]
    assert (crash["executionSuccessful"], crash["exitCode"]) == (False, 4)


def test_nothing_but_the_times_differs() -> None:
    result = EXAMPLES["several"]
    other = replace(result, timings=Timings("2031-01-01T00:00:00+00:00", 98765.4, 64, {}))
    timeless = re.compile(r'"(start|end)TimeUtc": "[^"]*"')
    assert timeless.sub("", to_sarif(other)) == timeless.sub("", to_sarif(result))
    assert timeless.search(to_sarif(replace(result, timings=Timings("", 0.0, 0, {})))) is None


def test_a_file_is_named_as_it_lies_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source" / "dpaudit_somewhere").mkdir(parents=True)
    (tmp_path / "source" / "dpaudit_somewhere" / "__init__.py").write_text("")
    (tmp_path / "source" / "dpaudit_somewhere" / "mean.py").write_text("def f(): ...")
    monkeypatch.syspath_prepend(str(tmp_path / "source"))
    where = Location("dpaudit_somewhere/mean.py", 1, 1, "dpaudit_somewhere.mean.f")

    def uri() -> str:
        (one,) = _run(_of(replace(example_results.fail(), location=where)))["results"]
        found = one["locations"][0]["physicalLocation"]
        assert found["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        assert found["region"] == {"startLine": 1, "endLine": 1}
        return str(found["artifactLocation"]["uri"])

    monkeypatch.chdir(tmp_path)
    assert uri() == "source/dpaudit_somewhere/mean.py"
    monkeypatch.chdir(tmp_path / "source")
    assert uri() == "dpaudit_somewhere/mean.py"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert uri() == "dpaudit_somewhere/mean.py"


def test_without_a_place_there_is_a_name() -> None:
    (one,) = _run(_of(example_results.broken_guarantee()))["results"]
    assert one["locations"] == [
        {
            "logicalLocations": [
                {
                    "name": "InteriorPointByMedian",
                    "fullyQualifiedName": "InteriorPointByMedian",
                    "kind": "function",
                }
            ]
        }
    ]


def test_messages_hold_no_arguments_and_no_links() -> None:
    text = to_sarif(EXAMPLES["hostile"])
    assert "\x1b" not in text
    assert "\ud800" not in text
    for one in _run(EXAMPLES["hostile"])["results"]:
        message = one["message"]["text"]
        assert "{" not in message.replace("{{", "")
        assert not re.search(r"\]\(\d", message)
        assert "\n" not in message


def test_an_audit_of_stability_is_valid(validator: Draft4Validator) -> None:
    for claim in (1, 9):
        value = json.loads(stability_to_sarif(dpaudit.audit_stability(sum, claim, data="integers(0, 9)", size=1)))
        assert list(validator.iter_errors(value)) == []
        assert len(value["runs"][0]["results"]) == (claim == 1)
