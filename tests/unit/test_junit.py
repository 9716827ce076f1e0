"""JUnit XML: well-formed, of the common form, and of one mind with the exit code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import example_results
import pytest

from dpaudit.report.junit import to_junit
from dpaudit.results.faults import exit_code
from dpaudit.results.model import Result, Timings, Verdict

EXAMPLES = {**example_results.every(), "hostile": example_results.hostile()}
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped", "timestamp"},
    "testcase": {"name", "classname", "time"},
    "properties": set(),
    "property": {"name", "value"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
}
"""Those of Jenkins' junit-10.xsd (which has `errors` where all readers, and all writers, have `error`)."""
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "testcase": {"properties", "failure", "error", "system-out"},
    "properties": {"property"},
}
TIME = re.compile(r"[0-9]{1,3}(,?[0-9]{3})*(\.[0-9]{0,3})?")


def _suite(result: Result, *, expect: bool = False) -> Element:
    suite = ElementTree.fromstring(to_junit(result, expect=expect).encode())[0]
    assert suite.tag == "testsuite"
    return suite


def _facts(case: Element) -> dict[str, str]:
    return {one.attrib["name"]: one.attrib["value"] for one in case.iter("property")}


@pytest.mark.parametrize("name", ["several", "utility", "crashed", "hostile"])
def test_whole_text(name: str, snapshot: Callable[[str, str], None]) -> None:
    snapshot(f"junit_{name}.xml", to_junit(EXAMPLES[name]))


@pytest.mark.parametrize("expect", [False, True])
@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_is_of_the_common_form(name: str, interrupted: bool, expect: bool) -> None:
    result = replace(EXAMPLES[name], interrupted=interrupted)
    root = ElementTree.fromstring(to_junit(result, expect=expect).encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) <= ATTRIBUTES[element.tag], element.tag
        assert {inner.tag for inner in element} <= INSIDE.get(element.tag, set()), element.tag
        assert TIME.fullmatch(element.attrib.get("time", "0"))
    suite = root[0]
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases) == len(result.every) + interrupted
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert int(suite.attrib["errors"]) == len(suite.findall("testcase/error"))
    assert suite.attrib["skipped"] == "0"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
    for case in cases:
        assert case.attrib["name"]
        assert case.attrib["classname"]
        assert len(case.findall("failure") + case.findall("error") + case.findall("system-out")) == 1
    places = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("expect", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_agrees_with_the_exit_code(name: str, expect: bool) -> None:
    suite, code = _suite(EXAMPLES[name], expect=expect), exit_code(EXAMPLES[name], expect=expect)
    failures, errors = int(suite.attrib["failures"]), suite.findall("testcase/error")
    assert (failures == 0 and not errors) == (code == 0)
    assert (failures > 0) >= (code == 1)
    assert any(error.attrib["type"] == "crashed" for error in errors) == (code == 4)
    assert (failures == 0 and bool(errors)) >= (code == 3)


def test_what_the_catalogue_expects_is_no_failure_where_it_is_asked_for() -> None:
    refuted = example_results.infinite()
    assert (refuted.verdict, refuted.expected) == (Verdict.FAIL, "fail")
    result = example_results.result(refuted)
    assert _suite(result).attrib["failures"] == "1"
    (case,) = _suite(result, expect=True).findall("testcase")
    assert case.find("failure") is None
    assert (case.findtext("system-out") or "").startswith("FAIL, as expected\n")
    assert _facts(case)["verdict"] == "fail"
    passed = example_results.result(replace(example_results.proved(), expected="fail"))
    assert _suite(passed).attrib["failures"] == "0"
    failure = _suite(passed, expect=True).find("testcase/failure")
    assert failure is not None
    assert failure.attrib["type"] == "unexpected"
    assert failure.attrib["message"].startswith("PASS NOT as expected (expected FAIL): ")


def test_an_interrupted_run_has_not_passed() -> None:
    suite = _suite(replace(EXAMPLES["proved"], interrupted=True))
    assert (suite.attrib["tests"], suite.attrib["errors"]) == ("2", "1")
    error = suite.find("testcase/error")
    assert error is not None
    assert error.attrib["type"] == "interrupted"


def test_facts_are_exact() -> None:
    (case,) = _suite(EXAMPLES["fail"]).findall("testcase")
    assert (case.attrib["classname"], case.attrib["name"]) == ("NoisyMax", "paper constants")
    facts = _facts(case)
    assert facts["epsilon_lower"] == "1.3741"
    assert facts["epsilon_exact"] == "1.3912"
    assert (facts["replay"], facts["seed"], facts["verdict"]) == ("7f3a-c01d", "20250711", "fail")
    (infinite,) = _suite(EXAMPLES["infinite"]).findall("testcase")
    assert _facts(infinite)["epsilon_exact"] == "infinite"
    assert "epsilon_lower" not in _facts(infinite)


def test_nothing_but_the_times_differs() -> None:
    result = EXAMPLES["several"]
    other = replace(result, timings=Timings("2031-01-01T01:00:00+02:00", 98765.4321, 64, {}))
    timeless = re.compile(r' (time|timestamp)="[^"]*"')
    assert timeless.sub("", to_junit(other)) == timeless.sub("", to_junit(result))
    assert 'timestamp="2030-12-31T23:00:00"' in to_junit(other)
    assert 'time="98765.432"' in to_junit(other)
    assert "timestamp" not in to_junit(replace(result, timings=Timings("", 0.0, 0, {})))


def test_nothing_is_read_as_markup() -> None:
    text = to_junit(EXAMPLES["hostile"])
    assert "<script" not in text
    # XML 1.0 can hold neither; a person sees that they were there
    assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\u202e]", text)
    assert "\\x1b[31m" in text
    assert "\\ud800" in text
    assert not any("\n" in failure.attrib["message"] for failure in _suite(EXAMPLES["hostile"]).iter("failure"))
