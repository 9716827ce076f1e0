"""`dpaudit check` of functions as people write them, several in one command: verdicts and exit codes.

A correct claim is refuted with probability α = 0.001 a command at most; the seeds are fixed.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from functions import CASES, Case

from dpaudit.cli import commands

COMMANDS: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    _size = "" if _case.size is None else f"--size {_case.size} "
    COMMANDS[
        f"--epsilon {_case.epsilon} --delta {_case.delta} --relation {_case.relation} {_size}--data "
        + _case.data.replace(" ", "")
    ].append(_case)
"""The functions that one command can audit: same claim, same data."""

QUICK = ["winner"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file of functions, to type in."""
    code = Path(__file__).with_name("functions.py").read_text(encoding="utf-8")
    (tmp_path / "functions.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPAUDIT_STORE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.mark.slow(fast=QUICK)
@pytest.mark.parametrize(("options", "cases"), COMMANDS.items(), ids=[cases[0].name for cases in COMMANDS.values()])
def test_every_verdict_is_the_truth(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: str, cases: list[Case]
) -> None:
    words = ["check", *(f"functions.py:{case.name}" for case in cases), *options.split(), "--runs", "5000"]
    monkeypatch.setattr(sys, "argv", ["dpaudit", *words, "--jobs", "1", "--json", "result.json"])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    said = capsys.readouterr()
    audits = json.loads((folder / "result.json").read_text(encoding="utf-8"))["audits"]
    truth = {case.name: "pass" if case.correct else "fail" for case in cases}
    assert {audit["name"]: audit["verdict"] for audit in audits} == truth, said.out
    assert ended.value.code == ("fail" in truth.values())
    assert said.err == ""
    for name, verdict in truth.items():
        assert f"{verdict.upper()} · not refuted  {name}" in said.out or f"{verdict.upper()}  {name}" in said.out
