"""What a session shows and writes: the failure, the table, JUnit properties, the report.

Verdicts are of fixed seeds and repeat exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points
from xml.etree import ElementTree

import pytest
from plugin_runs import FEW, Runs
from test_plugin_evidence import RECORD

from dpaudit.errors import UsageError
from dpaudit.options import BLACK_BOX, DATA, PAIR, RUNS, SEED
from dpaudit.pytest_plugin.arguments import KEYWORDS, merged
from dpaudit.pytest_plugin.record import Record
from dpaudit.pytest_plugin.table import summary
from dpaudit.results import json_form

TESTS = """
def test_respond(dp_audit):
    dp_audit(respond, epsilon=1.0, pair=PAIR)

def test_respond_loudly(dp_audit):
    dp_audit(respond_loudly, epsilon=1.0, pair=PAIR)
"""


def normalised(text: str) -> str:
    """Without versions, folders and times."""
    text = re.sub(r"^platform .*$", "platform …", text, flags=re.MULTILINE)
    text = re.sub(r"^rootdir: .*$", "rootdir: …", text, flags=re.MULTILINE)
    text = re.sub(r"^plugins: .*$", "plugins: …", text, flags=re.MULTILINE)
    return re.sub(r" in [\d.]+s( \([\d:]+\))? =+", " in …s ===", text)


@pytest.mark.slow
def test_the_whole_terminal(runs: Runs, snapshot: Callable[[str, str], None]) -> None:
    ran = runs(TESTS, FEW)
    assert ran.outcomes == {"passed": 1, "failed": 1}
    snapshot("pytest_failing.txt", normalised(ran.text))


@pytest.mark.slow
def test_quiet_shows_the_totals_alone(runs: Runs) -> None:
    ran = runs(TESTS, FEW, "-q", "--tb=no")
    assert "dp: 2 audits: 1 FAIL, 1 PASS · not refuted\ndp: α = 0.001 shared over 2 tests" in ran.text
    assert "dp audits" not in ran.text
    silent = runs(None, FEW, "-qq", "--tb=no")
    assert "dp:" not in silent.text


def test_colour_is_pytests_alone(runs: Runs) -> None:
    ran = runs(TESTS, FEW, "--color=no", "-k", "not loudly")
    assert "\x1b" not in ran.text


@pytest.mark.slow
def test_junit_properties(runs: Runs) -> None:
    tests = TESTS + "\ndef test_twice(dp_audit):\n" + 2 * "    dp_audit(respond, epsilon=1.2, pair=PAIR)\n"
    runs(tests, FEW, "--junitxml=junit.xml")
    cases = {
        case.attrib["name"]: {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
        for case in ElementTree.parse(runs.folder / "junit.xml").iter("testcase")
    }
    loud = cases["test_respond_loudly"]
    assert loud["dp.verdict"] == "fail"
    assert loud["dp.claim"] == "(1.0, 0)"
    assert 1 < float(loud["dp.epsilon_lower"]) < 3
    assert int(loud["dp.runs"]) > 0
    assert 0 < float(loud["dp.alpha"]) < 0.001 / 3
    assert loud["dp.again"].startswith("pytest test_suite.py::test_respond_loudly --dp-seed=0 ")
    assert re.fullmatch(r"[0-9a-f]{12}", loud["dp.replay"])
    assert cases["test_respond"]["dp.verdict"] == "pass"
    assert {"dp.verdict", "dp.2.verdict"} <= set(cases["test_twice"])


@pytest.mark.slow
def test_the_report_has_every_audit(runs: Runs) -> None:
    ran = runs(TESTS, FEW, "--dp-report=out/here")
    assert "dp: report in " in ran.text
    text = (runs.folder / "out" / "here" / "result.json").read_text()
    result = json_form.from_json(text, where="result.json")
    assert [(audit.name, audit.case, audit.verdict.value) for audit in result.audits] == [
        ("respond", "test_suite.py::test_respond", "pass"),
        ("respond_loudly", "test_suite.py::test_respond_loudly", "fail"),
    ]
    assert (result.seed, result.alpha) == (0, 0.001)
    assert result.command.startswith("pytest ")
    again = "Again: pytest test_suite.py::test_respond --dp-seed=0"
    assert any(again in note.sentence for note in result.audits[0].notes)
    page = (runs.folder / "out" / "here" / "index.html").read_text()
    assert "test_suite.py::test_respond_loudly" in page


def test_a_report_that_cannot_be_written_is_refused_before_the_tests(runs: Runs) -> None:
    (runs.folder / "out").write_text("")
    ran = runs(TESTS, FEW, "-k", "not loudly", "--dp-report=out")
    assert "Cannot write a report into " in ran.text
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert not ran.audits


def test_a_report_that_would_overwrite_other_pages_is_said(runs: Runs) -> None:
    (runs.folder / "out").mkdir()
    (runs.folder / "out" / "index.html").write_text("<p>mine</p>")
    ran = runs(TESTS, FEW, "-k", "not loudly", "--dp-report=out")
    assert "dp: " in ran.text
    assert "is not of a report that dpaudit wrote; name another folder" in ran.text
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert (runs.folder / "out" / "index.html").read_text() == "<p>mine</p>"


def test_the_mark_and_the_options_explain_themselves(runs: Runs) -> None:
    marks = runs(None, "--markers").text
    assert "@pytest.mark.dp(epsilon, delta, relation, pair, data, …): defaults of dp_audit" in marks
    assert all(key in marks for key in KEYWORDS)
    shown = runs(None, "--help").text
    for option in ("--dp-seed", "--dp-alpha", "--dp-runs", "--dp-time", "--dp-items", "--dp-report", "--dp-evidence"):
        assert option in shown
    fixtures = runs("", "--fixtures").text
    assert "dp_audit -- " in fixtures
    assert runs(TESTS, FEW, "--strict-markers", "-k", "not loudly").outcomes["passed"] == 1


def test_it_is_installed_as_a_plugin() -> None:
    (point,) = (point for point in entry_points(group="pytest11") if point.name == "dpaudit")
    assert point.value == "dpaudit.pytest_plugin"


# --- the table ---

LONG = replace(RECORD, test="tests/mechanisms/test_counts.py::TestNoisyCounts::test_of_all_the_rows[replace-one-0.5]")
FAILED = replace(RECORD, test="test_b.py::test_two", verdict="fail", phrase="FAIL", bound="≥ 1.36", runs=123_456)


def table(*records: Record, width: int) -> list[str]:
    return summary(records, "dp: α = 0.001 shared over 3 tests: 0.00033 each; seed 0", width=width, quiet=False)


@pytest.mark.parametrize("width", [200, 100, 80, 76])
def test_a_row_is_a_line_where_there_is_room(width: int) -> None:
    lines = table(RECORD, LONG, FAILED, width=width)
    assert len(lines) == 7
    assert all(len(line) <= width for line in lines)
    assert lines[1].split() == ["test", "verdict", "claim", "certified", "ε", "runs"]
    assert lines[3].split("  ")[0].endswith("[replace-one-0.5]")
    assert lines[4].endswith("(1.0, 0)  ≥ 1.36       123,456")
    assert lines[-2] == "dp: 3 audits: 1 FAIL, 2 PASS · not refuted"


@pytest.mark.parametrize("width", [60, 40])
def test_a_row_is_two_lines_where_there_is_little(width: int) -> None:
    lines = table(RECORD, LONG, FAILED, width=width)
    assert all(len(line) <= max(width, 50) for line in lines)
    at = next(i for i, line in enumerate(lines) if line.endswith("test_two"))
    assert lines[at + 1] == "  FAIL  (1.0, 0)  ≥ 1.36  123,456"


def test_leaks_of_doubles_are_said_where_they_do_not_count() -> None:
    said = "dp: 1 with a floating-point vulnerability, which counts only with bits=True"
    assert said in table(RECORD, replace(FAILED, leaks=True), width=80)
    assert said not in table(RECORD, FAILED, width=80)


@pytest.mark.slow
def test_leaks_are_seen(runs: Runs) -> None:
    tests = """
def noisy_count(dataset, rng, size):
    return sum(dataset) + rng.laplace(0, 1.0, size)

@pytest.mark.parametrize("bits", [False, True])
def test_it(dp_audit, bits):
    dp_audit(noisy_count, epsilon=1.0, pair=PAIR, bits=bits)
"""
    ran = runs(tests, "--dp-runs=5000", "--tb=no")
    assert [(audit["verdict"], audit["leaks"]) for audit in ran.audits] == [("pass", True), ("fail", False)]


def test_options_of_the_command_line_are_named_as_they_are_here() -> None:
    error = UsageError("raise {} to at least {}; choose another {}.", RUNS, 20, SEED)
    assert error.at("pytest") == "raise runs (--dp-runs) to at least 20; choose another --dp-seed."
    error = UsageError("Give {} or {}, or {}.", PAIR, DATA, BLACK_BOX)
    assert error.at("pytest") == "Give pair or data, or black_box."
    assert UsageError("see `dpaudit check --json`.").at("pytest") == "see `dpaudit check --json`."


def test_pairs_and_data_replace_one_another() -> None:
    mark = {"epsilon": 1.0, "data": "integers(0, 1)", "size": 3}
    assert merged({"pair": (1, 2)}, over=mark) == {"epsilon": 1.0, "pair": (1, 2)}
    assert merged({"data": "booleans()"}, over=mark) == {"epsilon": 1.0, "data": "booleans()", "size": 3}
    assert merged({"size": 5}, over=mark) == {**mark, "size": 5}
    assert merged({"pair": None}, over=mark) == {**mark, "pair": None}


def test_what_passes_from_workers_is_plain() -> None:
    assert Record.from_plain(json.loads(json.dumps(RECORD.to_plain()))) == RECORD
    assert Record.from_plain(replace(RECORD, session=None).to_plain()).session is None
