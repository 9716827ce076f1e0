"""Mechanisms that crash, hang or misbehave through the real command line: the right exit code, and the rest is kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from bad_files import ASKED
from typed_commands import Typed, in_a_process

from dpaudit.adversary import Learner
from dpaudit.results import json_form

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.slow(fast=["--certify"])
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("option", ["--certify", "--bits", "--black-box", "--seed 1 --evidence r.json"])
def test_a_crash_under_every_option(typed: Typed, option: str) -> None:
    assert typed(f"check u.py:raises u.py:fair {ASKED} --json r.json").code == 4
    said = typed(f"check u.py:raises u.py:fair {ASKED} {option} --json s.json")
    assert said.code == 4
    assert said.err == ""
    audits = json.loads(Path("s.json").read_text())["audits"]
    assert [(a["verdict"], a["crashed"]) for a in audits] == [("inconclusive", True), ("pass", False)]

CRASHES = [
    ("raises", "raises raised ValueError: no such luck (u.py, line "),
    ("raises_nothing", "raises_nothing raised ValueError (u.py, line "),
    ("raises_lines", "raises_lines raised ValueError: line one line two line three (u.py, line "),
    ("raises_mute", "raises_mute raised Mute (u.py, line "),
    ("an_object", "equals only itself"),
    ("too_few", "asked for 5 outputs and returned 4"),
    ("only_one", "returned one int"),
    ("a_scalar", "returned one ndarray"),
    ("a_string", "returned one str"),
    ("exits", "exits called sys.exit(0)"),
    ("exits_saying", "exits_saying called sys.exit('bye')"),
    ("deep", "deep raised RecursionError: maximum recursion depth exceeded"),
    ("stops", "stops raised StopIteration (u.py, line "),
    ("closes", "closes raised GeneratorExit."),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "says"), CRASHES, ids=[name for name, _ in CRASHES])
def test_a_function_that_crashes(typed: Typed, name: str, says: str) -> None:
    said = typed(f"check u.py:{name} {ASKED}")
    assert said.code == 4
    assert said.out.startswith("INCONCLUSIVE")
    assert "the mechanism crashed" in said.out
    assert says in said.reason
    assert said.reason.endswith(".")
    assert "Traceback" not in said.out + said.err
    assert said.err == ""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Exits", "Exits called sys.exit(1)"),
        ("Bulky", "Bulky raised IndexError: bulk fell over."),
    ],
)
def test_a_mechanism_that_crashes(typed: Typed, name: str, says: str) -> None:
    said = typed(f"check m.py:{name} {ASKED}")
    assert said.code == 4
    assert says in said.reason
    assert said.err == ""


@pytest.mark.slow(fast=["huge"])
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["kinds", "lengths", "shapes", "huge", "complexes", "many_complexes"])
def test_odd_but_good(typed: Typed, name: str) -> None:
    said = typed(f"check u.py:{name} {ASKED} --json r.json --html r.html")
    assert said.code == 0
    assert said.err == ""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "value"),
    [("nothing", "None"), ("nan", "nan"), ("nans", "nan"), ("inf", "inf"), ("nan_tuple", "(1.0, nan)"),
     ("a_dict", "{'a': 1}"), ("a_set", "{1}"), ("nested", "((1,), {2})"), ("mutates", "2")],
)
def test_a_constant_output_is_inconclusive(typed: Typed, name: str, value: str) -> None:
    """Nothing was tested; and every call of `mutates` gets a fresh list."""
    said = typed(f"check u.py:{name} {ASKED}")
    assert said.code == 3
    assert f"samples were {value}. Nothing was tested. Is a `return` missing" in said.reason


@pytest.mark.usefixtures("files")
def test_failures_are_outcomes(typed: Typed) -> None:
    said = typed(f"check u.py:rarely {ASKED} --runs 4000")
    assert said.code == 0
    assert "raises ZeroDivisionError" in said.out
    said = typed(f"check u.py:one_side {ASKED}")
    assert said.code == 1
    assert "raises KeyError" in said.out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["spins", "sleeps", "stubborn"])
def test_a_function_that_hangs(typed: Typed, name: str) -> None:
    said = typed(f"check u.py:{name} {ASKED} --time 0.2 --json r.json")
    assert said.code == 3
    assert "before the time limit of 0.2 s; raise --time or lower --runs." in said.reason
    assert json.loads(Path("r.json").read_text())["audits"][0]["verdict"] == "inconclusive"


@pytest.mark.slow
@pytest.mark.usefixtures("files", "pool")
def test_a_function_that_hangs_in_a_worker(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARENT", str(os.getpid()))
    line = f"check u.py:sleeps_in_a_worker {ASKED} --jobs 2 --time 3 --json r.json"
    said = typed(line)
    assert said.code == 3
    assert "before the time limit of 3 s" in said.reason
    assert json.loads(Path("r.json").read_text())["timings"]["seconds"] < 10


@pytest.mark.usefixtures("files")
def test_a_long_time_limit_is_none(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --time 1e300").code == 0


@pytest.mark.usefixtures("files")
def test_a_huge_claim(typed: Typed) -> None:
    said = typed("check u.py:fair --epsilon 1e308 --pair [0] [1] --runs 500 --json r.json --html r.html")
    assert said.code == 3
    assert said.err == ""
    assert "audit a smaller ε or compute the output distributions exactly." in said.reason
    assert typed("check m.py:Flip --epsilon 1e308 --pair [0] [1] --runs 500 --html r.html").code == 0


@pytest.mark.slow(fast=["--quiet"])
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("quiet", ["", "--quiet"])
def test_an_interrupt_keeps_what_is_finished(typed: Typed, quiet: str) -> None:
    said = typed(f"check u.py:fair u.py:interrupts {ASKED} {quiet} --json - --html r.html")
    assert said.code == 130
    assert "nterrupted" in said.err
    result = json.loads(said.out)
    assert [audit["name"] for audit in result["audits"]] == ["fair"]
    assert result["interrupted"] is True
    assert Path("r.html").exists()
    assert typed(f"replay {result['audits'][0]['replay']}").code == 0, "it was stored"


@pytest.mark.usefixtures("files")
def test_an_interrupt_while_a_file_is_imported(typed: Typed) -> None:
    said = typed(f"check interrupting.py:f {ASKED}")
    assert said.code == 130
    assert said.sentence == "Interrupted."


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("moment", ["AuditStarted", "Progress", "AuditFinished", "CheckFinished"])
def test_an_interrupt_while_something_is_shown(typed: Typed, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    from dpaudit.report.console import ConsoleReporter

    shown = ConsoleReporter.on

    def on(self: ConsoleReporter, event: Any) -> None:
        if type(event).__name__ == moment and not getattr(event, "result", None):
            raise KeyboardInterrupt
        if moment == type(event).__name__ == "CheckFinished":
            raise KeyboardInterrupt
        shown(self, event)

    monkeypatch.setattr(ConsoleReporter, "on", on)
    said = typed(f"check u.py:fair {ASKED} --json r.json")
    assert said.code == 130
    result = json.loads(Path("r.json").read_text())
    assert result["interrupted"] is True
    assert len(result["audits"]) == (moment != "AuditStarted")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_a_crash_keeps_the_results_before_and_after_it(typed: Typed) -> None:
    said = typed(f"check u.py:fair u.py:raises m.py:Flip {ASKED} --json r.json --html r.html")
    assert said.code == 4
    result = json_form.from_json(Path("r.json").read_text(), where="r.json")
    assert [(a.name, a.verdict.value, a.crashed) for a in result.audits] == [
        ("fair", "pass", False),
        ("raises", "inconclusive", True),
        ("Flip", "pass", False),
    ]
    assert "raises raised ValueError" in Path("r.html").read_text()


@pytest.mark.usefixtures("files")
def test_a_bug_of_our_own_keeps_the_other_results(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    certify = Learner.certify
    calls: list[int] = []

    def broken(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise AssertionError("not\nthought of")
        return certify(*args, **kwargs)

    monkeypatch.setattr(Learner, "certify", broken)
    said = typed(f"check u.py:fair u.py:nothing m.py:Flip {ASKED} --json r.json")
    assert said.code == 4
    assert said.err == ""
    audits = json.loads(Path("r.json").read_text())["audits"]
    assert [a["verdict"] for a in audits] == ["pass", "inconclusive", "pass"]
    assert audits[1]["reason"] == (
        "dpaudit itself failed (AssertionError: not thought of); DPAUDIT_TRACEBACK=1 shows where."
    )


@pytest.mark.usefixtures("catalogue")
def test_a_bug_before_the_audits_is_one_sentence(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpaudit.engine import orchestrator

    def broken(*args: Any) -> Any:
        raise AssertionError("not thought of")

    monkeypatch.setattr(orchestrator, "all_jobs", broken)
    said = typed("check Response")
    assert said.code == 4
    assert said.sentence.startswith("dpaudit itself failed (AssertionError: not thought of)")


@pytest.mark.slow
def test_a_crash_in_a_process(files: Path) -> None:
    ended = in_a_process(f"check u.py:prints u.py:exits {ASKED} --json - --quiet", files)
    assert ended.returncode == 4
    assert [audit["crashed"] for audit in json.loads(ended.stdout)["audits"]] == [False, True]
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("dpaudit: What ")]
    assert set(lines) == {"noise"}
