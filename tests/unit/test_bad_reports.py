"""Reports, results and stores that cannot be read or written: one clear sentence, and what was computed is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bad_files import ASKED
from typed_commands import Typed

from dpaudit.results import json_form

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("report", "Missing argument 'RESULTS.json'"),
        ("report ''", "'' names no file to read"),
        ("report -", "Cannot read -: No such file"),
        ("report missing.json", "No such file"),
        ("report folder", "Is a directory"),
        ("report binary.json", "not UTF-8"),
        ("report broken.json", "broken.json: this is not JSON"),
        ("report empty.json", "empty.json: this is not JSON"),
        ("report number.json", "expected `object`, got `int`"),
        ("report other_version.json", "'9.0' cannot be read"),
        ("report wrong.json", "object missing required field `seed`"),
        ("report nan.json", "NaN is no JSON number"),
        ("replay", "Missing argument 'ID'"),
        ("replay ''", "There is no store"),
        ("replay folder", "There is no store"),
        ("replay 123456789abc", "There is no store"),
        ("replay 123456789abc --jobs ''", "--jobs"),
    ],
)
def test_reports_and_replays(typed: Typed, line: str, says: str) -> None:
    said = typed(line)
    assert said.code == 2
    assert says in said.err
    assert said.err.startswith("dpaudit: ")
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


@pytest.mark.usefixtures("files")
def test_a_report_that_cannot_be_written(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json good.json").code == 0
    for words, says in {
        "--html folder": "it is a folder",
        "--html ''": "--html '' names no file",
        "--html -": "--html writes a file, not stdout",
        "--html missing/x.html": "there is no folder missing",
        "--html ./good.json": "--html would overwrite ./good.json",
    }.items():
        said = typed(f"report good.json {words}")
        assert said.code == 2
        assert says in said.sentence
        assert said.sentence.endswith(".")
    assert typed("report good.json --html good.html").code == 0
    assert json.loads(Path("good.json").read_text())["audits"], "what is read is not written over"


@pytest.mark.usefixtures("files")
def test_a_replay_whose_report_cannot_be_written(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json r.json").code == 0
    known = json.loads(Path("r.json").read_text())["audits"][0]["replay"]
    for words, says in {"--html folder": "it is a folder", "--json ''": "names no file", "--html u.py": "over"}.items():
        said = typed(f"replay {known} {words}")
        assert said.code == 2
        assert says in said.sentence
    assert Path("u.py").read_text().startswith("\nimport asyncio")


@pytest.mark.usefixtures("files")
def test_an_empty_name_of_the_store_is_none(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPAUDIT_STORE", "")
    assert typed(f"check u.py:fair {ASKED}").err == ""
    assert Path(".dpaudit/audits.sqlite3").is_file()
    monkeypatch.setenv("DPAUDIT_STORE", "folder")
    assert "The store folder cannot be written" in typed(f"check u.py:fair {ASKED}").sentence
    assert "There is no store at folder" in typed("replay 123456789abc").sentence


@pytest.mark.usefixtures("files")
def test_evidence_that_cannot_be_carried_over(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json r.json").code == 0
    said = typed(f"check u.py:fair {ASKED} --evidence r.json --json again.json")
    assert said.code == 2
    assert "r.json was made with seed 0 too" in said.sentence
    assert "choose another --seed." in said.sentence
    assert said.out == ""
    assert not Path("again.json").exists()
    result = json.loads(Path("r.json").read_text())
    for audit in result["audits"]:
        audit["sequential"] = None
    Path("without.json").write_text(json.dumps(result), encoding="utf-8")
    said = typed(f"check u.py:fair {ASKED} --seed 1 --evidence without.json")
    assert said.code == 2
    assert "without.json has no e-values" in said.sentence


@pytest.mark.usefixtures("files")
def test_replay_of_an_unknown_id(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json r.json").code == 0
    known = json.loads(Path("r.json").read_text())["audits"][0]["replay"]
    said = typed(f"replay {known[:-1]}z")
    assert said.code == 2
    assert f"Did you mean {known}?" in said.sentence


@pytest.mark.usefixtures("files")
def test_a_corrupt_store(typed: Typed) -> None:
    Path(".dpaudit").mkdir()
    Path(".dpaudit/audits.sqlite3").write_text("this is no database, " * 100)
    said = typed("replay 123456789abc")
    assert said.code == 2
    assert "cannot be read" in said.sentence
    said = typed(f"check u.py:fair {ASKED} --json r.json")
    assert said.code == 0, "a result does not depend on whether it can be stored"
    assert "cannot be written" in said.sentence
    assert json_form.from_json(Path("r.json").read_text(), where="r.json").audits


@pytest.mark.usefixtures("files")
def test_a_store_that_is_a_folder(typed: Typed) -> None:
    Path(".dpaudit/audits.sqlite3").mkdir(parents=True)
    assert "There is no store" in typed("replay 123456789abc").sentence
    assert "cannot be written" in typed(f"check u.py:fair {ASKED}").sentence


@pytest.mark.usefixtures("files")
def test_a_disk_that_is_full(typed: Typed) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    said = typed(f"check u.py:fair {ASKED} --html /dev/full --json r.json")
    assert said.code == 2
    assert "No space left" in said.sentence
    assert "PASS" in said.out
    assert Path("r.json").exists(), "the other report is written all the same"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("subject", ["u.py:prints", "m.py:Prints"])
def test_printing_does_not_corrupt_json(typed: Typed, subject: str) -> None:
    said = typed(f"check {subject} {ASKED} --json - --quiet")
    assert said.code == 0
    assert json.loads(said.out)["audits"][0]["verdict"] == "pass"
    assert "noise" in said.err
