"""Everything that a run can be written as, by every command: refused before the runs, written whatever else fails."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bad_files import ASKED
from typed_commands import Typed

from dpaudit.cli import commands
from dpaudit.report.files import Outputs
from dpaudit.results import json_form

pytestmark = pytest.mark.filterwarnings("error")
ALL = "--html r.html --json r.json --junit r.xml --sarif r.sarif --markdown r.md --events r.ndjson --report out"
WRITTEN = {"r.html", "r.json", "r.xml", "r.sarif", "r.md", "r.ndjson", "out"}


def _all_there() -> None:
    assert {path.name for path in Path().iterdir()} >= WRITTEN
    result = json_form.from_json(Path("r.json").read_text(encoding="utf-8"), where="r.json")
    assert len(ElementTree.parse("r.xml").findall("testsuite/testcase")) == len(result.every)
    assert json.loads(Path("r.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert Path("r.md").read_text(encoding="utf-8").startswith("## dpaudit: ")
    lines = [json.loads(line) for line in Path("r.ndjson").read_text(encoding="utf-8").splitlines()]
    assert lines[-1]["event"] == "check_finished"
    assert "</html>" in Path("out/index.html").read_text(encoding="utf-8")
    assert "</html>" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.slow(fast=["verify m.py:Flip -*"])
@pytest.mark.usefixtures("files", "catalogue")
@pytest.mark.parametrize(
    "line",
    [
        f"check u.py:fair Response {ASKED}",
        "verify m.py:Flip --domain 2 --size 2",
        "worst m.py:Flip --data booleans() --size 2",
    ],
)
def test_every_command_writes_everything(typed: Typed, line: str) -> None:
    said = typed(f"{line} {ALL}")
    assert said.err == ""
    _all_there()
    result = json_form.from_json(Path("r.json").read_text(encoding="utf-8"), where="r.json")
    for name in WRITTEN - {"out", "r.json"}:
        Path(name).unlink()
    # a stored result comes to the same reports
    Path("r.json").rename("stored.json")
    assert typed(f"report stored.json {ALL}").out == ""
    _all_there()
    assert json_form.from_json(Path("r.json").read_text(encoding="utf-8"), where="r.json") == result
    for name in WRITTEN - {"out"}:
        Path(name).unlink()
    replayed = typed(f"replay {result.audits[0].replay} {ALL}")
    assert "Reproduced" in replayed.err
    _all_there()


@pytest.mark.slow
def test_comparisons_write_everything(typed: Typed) -> None:
    assert typed(f"compare interior-points --n 10 --runs 20 {ALL}").code == 0
    _all_there()
    assert 'id="comparison"' in Path("out/index.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files", "catalogue")
@pytest.mark.parametrize("command", ["check", "verify", "worst", "compare", "report", "replay"])
def test_every_command_offers_everything(typed: Typed, command: str) -> None:
    text = typed(f"{command} --help").out
    for option in inspect.signature(Outputs).parameters:
        assert f"--{option} " in text


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        *((f"--{option} folder", "it is a folder; name a file") for option in ("junit", "sarif", "markdown", "events")),
        *((f"--{option} ''", f"--{option} '' names no file") for option in ("junit", "sarif", "markdown", "events")),
        *((f"--{option} no/x", "there is no folder no") for option in ("junit", "sarif", "markdown", "events")),
        *((f"--{option} u.py", f"--{option} would overwrite u.py") for option in ("junit", "sarif", "markdown")),
        ("--events u.py", "--events would overwrite u.py"),
        ("--junit x --sarif x", "--junit and --sarif cannot both write x; name two files."),
        ("--markdown ./x --events x", "--markdown and --events cannot both write x; name two files."),
        ("--junit - --sarif -", "--junit and --sarif cannot both write to stdout; name a file for one of them."),
        ("--json - --events -", "--json and --events cannot both write to stdout"),
        ("--report -", "--report writes a folder, not stdout; name one."),
        ("--report ''", "--report '' names no folder; give a name."),
        ("--report u.py", "Cannot write a report into u.py: it is a file; name a folder."),
        ("--report no/out", "Cannot write a report into no/out: there is no folder no."),
        ("--report out --html out", "--html and --report cannot both write out"),
        ("--report out --html out/index.html", "--html and --report cannot both write index.html"),
        ("--report out --json out/result.json", "--json and --report cannot both write result.json"),
        ("--report foreign", "foreign/index.html is not of a report that dpaudit wrote; name another folder"),
        ("--report /proc/out", "Cannot write"),
    ],
)
def test_refused_before_the_runs(typed: Typed, words: str, says: str) -> None:
    Path("foreign").mkdir()
    Path("foreign/index.html").write_text("mine")
    before = sorted(path.name for path in Path().iterdir())
    said = typed(f"check u.py:fair {ASKED} {words}")
    assert said.code == 2
    assert says in said.sentence
    assert said.sentence.endswith(".")
    if "/proc" not in words:  # what is no file system is known only when it is written
        assert said.out == ""
        assert before == sorted(path.name for path in Path().iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_a_stored_result_is_not_overwritten_by_its_report(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --report out").code == 0
    before = Path("out/result.json").read_bytes()
    said = typed("report out/result.json --report out")
    assert "--report would overwrite out/result.json, which is read here; name another folder." in said.sentence
    assert typed("report out/result.json --report again").code == 0
    assert Path("again/result.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_files_may_lie_in_the_folder_that_is_made(typed: Typed) -> None:
    words = "--report out --junit out/junit.xml --events out/events.ndjson --markdown out/summary.md"
    assert typed(f"check u.py:fair {ASKED} {words}").err == ""
    names = {path.name for path in Path("out").iterdir()}
    assert names == {"index.html", "result.json", "algorithms", "junit.xml", "events.ndjson", "summary.md"}
    assert typed(f"check u.py:fair {ASKED} {words}").code == 0, "and once more"


@pytest.mark.slow(fast=["-json", "-junit", "--quiet-markdown", "--quiet-events"])
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("option", ["junit", "sarif", "markdown", "events", "json"])
@pytest.mark.parametrize("quiet", ["", "--quiet"])
def test_stdout_holds_that_and_nothing_else(typed: Typed, option: str, quiet: str) -> None:
    said = typed(f"check u.py:fair {ASKED} --{option} - {quiet}")
    assert said.code == 0
    assert said.out.startswith({"junit": "<?xml", "markdown": "## dpaudit"}.get(option, "{"))
    assert ("PASS" in said.err) == (not quiet)


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_an_interrupt_writes_what_is_finished(typed: Typed) -> None:
    assert typed(f"check u.py:fair u.py:interrupts {ASKED} {ALL}").code == 130
    assert ElementTree.parse("r.xml").findall("testsuite/testcase/error")[0].attrib["type"] == "interrupted"
    assert "**Interrupted**" in Path("r.md").read_text(encoding="utf-8")
    (run,) = json.loads(Path("r.sarif").read_text(encoding="utf-8"))["runs"]
    assert run["invocations"][0]["exitCode"] == 130
    assert "Interrupted" in Path("out/index.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_a_full_disk_takes_one_report_and_leaves_the_others(typed: Typed) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    said = typed(f"check u.py:fair {ASKED} --junit /dev/full --sarif r.sarif --report out --markdown r.md")
    assert said.code == 2
    assert said.sentence == "Cannot write /dev/full: No space left on device."
    assert Path("r.sarif").exists()
    assert Path("out/index.html").exists()
    assert Path("r.md").exists()


@pytest.mark.usefixtures("files", "catalogue")
def test_expectations_of_the_catalogue(typed: Typed) -> None:
    said = typed("check Response --expect --junit r.xml --sarif r.sarif --markdown r.md --json r.json")
    assert said.code == 0
    assert ElementTree.parse("r.xml").getroot()[0].attrib["failures"] == "0"
    (run,) = json.loads(Path("r.sarif").read_text(encoding="utf-8"))["runs"]
    assert [bool(one.get("suppressions")) for one in run["results"]] == [True]
    assert "❌" not in Path("r.md").read_text(encoding="utf-8")
    # a stored result knows what was expected, and not whether that was asked for
    assert typed("report r.json --junit plain.xml").code == 0
    assert ElementTree.parse("plain.xml").getroot()[0].attrib["failures"] == "1"
    assert typed("report r.json --junit again.xml --expect").code == 0
    assert Path("again.xml").read_text(encoding="utf-8") == Path("r.xml").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_a_reader_that_goes_away(files: Path) -> None:
    line = f"{sys.executable} -m dpaudit.cli.commands check u.py:fair {ASKED} --events - --json r.json"
    ended = subprocess.run(
        ["bash", "-c", f"{line} | head -n 1; echo ${{PIPESTATUS[0]}}"],
        cwd=files, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    first, code = ended.stdout.splitlines()
    assert json.loads(first)["event"] == "check_started"
    assert code == "0"
    assert json.loads((files / "r.json").read_text(encoding="utf-8"))["audits"], "the run went on"


def test_options_are_those_of_the_outputs() -> None:
    assert list(inspect.signature(commands.check_command).parameters).count("outputs") == 0
    assert set(inspect.signature(Outputs).parameters) <= set(inspect.signature(commands.check_command).parameters)
