"""What a new user meets first: `dpaudit` alone, the example, the doctor, settings of a project, completion."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typed_commands import Typed

from dpaudit import config
from dpaudit.cli import commands, doctor
from dpaudit.cli.first import EXAMPLE, WELCOME
from dpaudit.errors import MissingPackageError, UsageError


def test_alone_it_says_what_to_do_next(typed: Typed) -> None:
    said = typed("")
    assert (said.code, said.out, said.err) == (2, WELCOME, "")


@pytest.mark.slow
def test_its_first_two_commands_find_the_bug(typed: Typed) -> None:
    example, check = [line.split("  ")[1] for line in WELCOME.splitlines() if line.startswith("  dpaudit ")][:2]
    assert typed(example.removeprefix("dpaudit ").strip()).code == 0
    words = shlex.split(check)
    broken = typed(*words[1:])
    assert broken.code == 1
    assert broken.out.startswith("FAIL  broken · found pairs\n")
    assert "(1 record)" in broken.out
    # α = 0.001 is its chance of a false alarm, and the seed is fixed
    corrected = typed(*[word.replace("broken", "fixed") for word in words[1:]], "--runs", "5000")
    assert corrected.code == 0


def test_every_command_of_the_welcome_parses() -> None:
    group: Any = typer.main.get_command(commands.app)
    options = {name for option in group.get_params(group.make_context("dpaudit", ["list"])) for name in option.opts}
    for line in WELCOME.splitlines():
        if line.startswith("  dpaudit "):
            words = shlex.split(line.strip().split("   ")[0])[1:]
            if words[0].startswith("--"):
                assert words[0] in options
            else:
                assert group.commands[words[0]].make_context(words[0], words[1:]).params


def test_the_example_overwrites_nothing(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "noisy_count.py").write_text("mine", encoding="utf-8")
    said = typed("example")
    assert said.code == 2
    assert said.sentence == "noisy_count.py already exists and is not overwritten; name another file."
    assert (tmp_path / "noisy_count.py").read_text(encoding="utf-8") == "mine"
    assert typed("example other.py").code == 0
    assert (tmp_path / "other.py").read_text(encoding="utf-8") == EXAMPLE
    assert "there is no folder" not in typed("example nowhere/x.py").sentence
    assert typed("example nowhere/x.py").code == 2


def test_nothing_to_check_names_the_example(typed: Typed) -> None:
    assert "dpaudit example" in typed("check").sentence


def write_settings(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_settings_are_defaults_that_options_override(typed: Typed, tmp_path: Path) -> None:
    typed("example")
    write_settings(tmp_path, "[tool.dpaudit]\nalpha = 0.01\nseed = 3\nruns = 2000\nbits = true\n")
    line = "check noisy_count.py:fixed --epsilon 1 --pair [0] [1] --quiet --json r.json"
    # its doubles leak, which counts with bits
    assert typed(line).code == 1
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (result["seed"], result["alpha"]) == (3, 0.01)
    assert typed(f"{line} --no-bits --alpha 0.001 --seed 0").code == 0
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (result["seed"], result["alpha"]) == (0, 0.001)
    # the command gives the same result whatever is set where it is typed
    assert "--alpha 0.001 --no-bits --seed 0" in result["command"]
    assert "--runs 2000" in result["command"]


def test_a_replay_is_of_the_stored_command_whatever_is_set_by_then(typed: Typed, tmp_path: Path) -> None:
    typed("example")
    first = typed("check noisy_count.py:broken --epsilon 1 --pair [0] [1]")
    identifier = first.out.partition("dpaudit replay ")[2].split()[0]
    write_settings(tmp_path, "[tool.dpaudit]\nalpha = 0.1\nseed = 9\n")
    again = typed(f"replay {identifier}")
    assert (again.code, again.err) == (1, "Reproduced: the same result.\n")


def test_settings_are_shown_with_where_they_come_from(typed: Typed, tmp_path: Path) -> None:
    rows = {line.split()[0]: line for line in typed("--show-config").out.splitlines()[1:]}
    assert set(rows) == {*config.SETTINGS, "store"}
    assert all("default" in row for row in rows.values())
    write_settings(tmp_path, "[tool.dpaudit]\nalpha = 0.05\n[tool.other]\nx = 1\n")
    (tmp_path / "below").mkdir()
    said = typed("--show-config")
    assert str(tmp_path / "pyproject.toml") in said.out
    rows = {line.split()[0]: line for line in said.out.splitlines()[1:]}
    assert rows["alpha"].split()[1:3] == ["0.05", "[tool.dpaudit]"]
    assert config.read(tmp_path / "below").values == {"alpha": 0.05}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.dpaudit]\nalpa = 1\n", "has no setting 'alpa'; did you mean alpha?"),
        ("[tool.dpaudit]\nxyz = 1\n", "has no setting 'xyz'; it may have runs, time"),
        ("[tool.dpaudit]\nruns = 1.5\n", "runs in [tool.dpaudit]"),
        ("[tool.dpaudit]\nruns = true\n", "must be of type int, not True"),
        ("[tool]\ndpaudit = 3\n", "must be a table, not 3"),
        ("[tool.dpaudit\n", "Cannot read"),
    ],
)
def test_settings_that_cannot_be(typed: Typed, tmp_path: Path, text: str, says: str) -> None:
    write_settings(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        config.read()
    assert says in str(refused.value)
    said = typed("check Response")
    assert said.code == 2
    assert says in said.sentence
    # what helps to mend it still works
    assert typed("check --help").code == 0
    assert says in str(doctor._settings())


def test_a_whole_number_may_stand_for_a_double(tmp_path: Path) -> None:
    write_settings(tmp_path, "[tool.dpaudit]\ntime = 3\n")
    value = config.read(tmp_path).values["time"]
    assert isinstance(value, float)
    assert value == 3.0


def test_the_doctor_finds_all_well_here(typed: Typed) -> None:
    said = typed("doctor")
    assert said.code == 0, said.out
    assert not [line for line in said.out.splitlines() if line.startswith("✗")]
    for what in ("Python", "needs", "catalogue", "store", "statistics", "exact", "audit", "processes"):
        assert any(line.startswith(f"✓ {what} ") for line in said.out.splitlines()), what


@pytest.mark.slow
def test_the_doctor_says_what_is_missing(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    version = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name in ("scipy", "pytest") else version(name))
    said = typed("doctor")
    assert said.code == 2
    assert any(line.startswith("✗ needs") and "scipy" in line for line in said.out.splitlines())
    assert any(line.startswith("– [test]") and "pytest" in line for line in said.out.splitlines())
    assert said.out.endswith("1 to fix.\n")


def test_the_doctor_says_which_libraries_can_be_audited(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor.metadata, "requires",
        lambda package: [
            'opendp>=0.14; extra == "opendp"', 'diffprivlib<0.7,>=0.6.6; extra == "diffprivlib"',
            'python-dp>=1.1.5; extra == "python-dp"',
        ],
    )
    extras = {"get_all": lambda self, key: ["opendp", "diffprivlib", "python-dp"]}
    monkeypatch.setattr(doctor.metadata, "metadata", lambda package: type("Metadata", (), extras)())
    installed = {"opendp": "0.16.0", "diffprivlib": "0.7.1"}
    monkeypatch.setattr(doctor, "_version", installed.get)
    lines = [str(finding) for finding in doctor._packages()]
    assert lines[-3:] == [
        "✓ [opendp]           opendp 0.16.0",
        "– [diffprivlib]      diffprivlib<0.7,>=0.6.6 is wanted, 0.7.1 is installed: pip install "
        "'diffprivlib<0.7,>=0.6.6' for versions that go together",
        "– [python-dp]        without python-dp: pip install 'python-dp>=1.1.5'",
    ]


def test_a_missing_package_is_named_where_dpaudit_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(package: str) -> list[str]:
        raise doctor.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(doctor.metadata, "requires", absent)
    assert str(MissingPackageError("a part", "OpenDP", "opendp")) == (
        "a part needs OpenDP, which is not installed: run pip install -e '.[opendp]'."
    )


@pytest.mark.parametrize("broken", ["_statistics", "_exact", "_audits", "_same_on_two"])
def test_the_doctor_tells_a_wrong_number(typed: Typed, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    for check in ("_statistics", "_exact", "_audits", "_same_on_two"):
        monkeypatch.setattr(doctor, check, lambda check=check: check != broken)
    said = typed("doctor")
    assert said.code == 2
    assert "please report it" in said.out


def completed(shell: str, line: str) -> set[str]:
    """What a shell is offered after a line."""
    environment = {**os.environ, "_DPAUDIT_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        environment |= {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    else:
        environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-m", "dpaudit.cli.commands"], env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return {word.split("\t")[0] for word in done.stdout.split("\n") if word}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_shells_are_told_what_may_follow(shell: str) -> None:
    assert completed(shell, "dpaudit ver") == {"verify"}
    assert {"--epsilon", "--expect"} <= completed(shell, "dpaudit check --e")
    assert completed(shell, "dpaudit check RecPre") == {"RecPrefix"}
    assert "add-remove-one" in completed(shell, "dpaudit check RecPrefix --relation a")
