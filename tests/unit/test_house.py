"""The house rules: imports, sizes, tables, the README's commands, nothing of anybody's machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {".py", ".md", ".toml", ".txt", ".json", ".html", ".j2", ".svg", ".yml", ".yaml", ".cfg", ".ini", ".css", ""}

# written in parts, so that this file does not find itself
ROOTS = ("ho" + "me", "ro" + "ot", "Us" + "ers", "wo" + "rk", "tm" + "p")
HOSTS = ("pypi" + r"\.org", "python" + r"hosted\.org", "--index" + "-url", "PIP_INDEX" + "_URL")
MACHINE_PATHS = re.compile(r"(?<![\w.$}])/(?:" + "|".join(ROOTS) + r")/\w")
REGISTRIES = re.compile("|".join(HOSTS))


def tracked() -> list[Path]:
    """Files under version control or about to be; all files where there is no git."""
    try:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, stdin=subprocess.DEVNULL)
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        hidden = re.compile(r"(^|/)(\.(?!ci/)|__pycache__|dist|build)")
        paths = [p for p in ROOT.rglob("*") if not hidden.search(str(p.relative_to(ROOT)))]
    return [path for path in paths if path.is_file() and path.suffix in TEXTS]


@pytest.mark.slow(fast=["pypi*"])
@pytest.mark.parametrize(("pattern", "what"), [(MACHINE_PATHS, "path of a machine"), (REGISTRIES, "registry")])
def test_nothing_of_a_machine_in_any_file(pattern: re.Pattern[str], what: str) -> None:
    found = []
    for path in tracked():
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [
            f"{path.relative_to(ROOT)}:{i}: {line.strip()[:100]}"
            for i, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    assert not found, f"{what} in:\n" + "\n".join(found[:20])


def test_imports_go_down_only() -> None:
    pytest.importorskip("importlinter", reason="import-linter comes with the dev tools")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_readme_has_the_two_commands() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    audit = re.compile(r"pip install -e \. && dpaudit check RecPrefix --html \S+")
    assert sum(audit.fullmatch(line) is not None for line in lines) == 1
    assert lines.count("pip install -e '.[test]' && pytest") == 1
    # what .ci/run extracts is that line and no other
    extracted = [line for line in lines if line.startswith("pip install -e ") and line.endswith("pytest")]
    assert extracted == ["pip install -e '.[test]' && pytest"]


def test_relative_links_lead_somewhere() -> None:
    broken = []
    for path in tracked():
        if path.suffix != ".md":
            continue
        targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
        broken += [
            f"{path.relative_to(ROOT)}: {target}"
            for target in targets
            if "://" not in target and not (path.parent / target).exists()
        ]
    assert not broken


@pytest.mark.slow
def test_the_overview_of_verdicts_is_current() -> None:
    command = [sys.executable, str(ROOT / "tools" / "verdicts.py"), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""


def test_decisions_are_numbered_without_gaps_and_short() -> None:
    records = sorted(path.name for path in (ROOT / "decisions").glob("*.md"))
    assert [int(name[:4]) for name in records] == list(range(1, len(records) + 1))
    for name in records:
        text = (ROOT / "decisions" / name).read_text(encoding="utf-8")
        assert "**Decision.**" in text
        assert len(text.splitlines()) <= 20


def test_make_lists_its_tasks() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    tasks = re.findall(r"^([a-z]+):.*## \S", text, flags=re.MULTILINE)
    assert tasks == [
        "help", "setup", "check", "test", "slow", "mutants", "tables", "docs", "report", "paper", "bench", "wheel",
        "ci",
    ]  # fmt: skip


def test_the_ci_script_is_well_formed() -> None:
    script = ROOT / ".ci" / "run"
    assert script.read_text(encoding="utf-8").splitlines()[0] == "#!/usr/bin/env bash"
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")
    ran = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
