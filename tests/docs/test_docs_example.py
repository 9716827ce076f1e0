"""The example workflow: it is YAML, its options exist, and its commands run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from docs_blocks import DOCS
from test_docs_run import environment

from dpaudit.cli import commands

yaml = pytest.importorskip("yaml", reason="PyYAML comes with the docs extra")

TEXT = (DOCS / "examples" / "github-action.yml").read_text(encoding="utf-8")
MADE = {
    "function": ["reports/junit.xml", "reports/dpaudit.sarif", "reports/summary.md", "reports/report.html", "summary"],
    "tests": ["reports/junit.xml", "reports/index.html", "reports/result.json", "summary"],
    "nightly": [".dpaudit/evidence.json", "reports/index.html"],
}
"""Job → the files that its commands write."""


@pytest.fixture
def workflow() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(TEXT)
    return found


def typed(workflow: dict[str, Any]) -> list[list[str]]:
    """The words of every dpaudit and pytest command of the steps."""
    steps = [step for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    lines = [shlex.split(line) for step in steps for line in step["run"].replace("\\\n", " ").splitlines()]
    return [words for words in lines if words and words[0] in ("dpaudit", "pytest")]


def test_it_is_a_workflow() -> None:
    found = yaml.safe_load(TEXT)
    assert set(found["jobs"]) == set(MADE)
    assert all("run" in step or "uses" in step for job in found["jobs"].values() for step in job["steps"])


def test_every_step_after_the_audit_runs_whatever_it_says() -> None:
    for job in yaml.safe_load(TEXT)["jobs"].values():
        at = next(i for i, step in enumerate(job["steps"]) if re.search("pytest|dpaudit check", step.get("run", "")))
        assert all(re.search(r"always\(\)|!cancelled\(\)", step.get("if", "")) for step in job["steps"][at + 1 :])


def test_its_options_are_those_of_the_parsers(workflow: dict[str, Any]) -> None:
    group: Any = typer.main.get_command(commands.app)
    helped = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True,
        check=True, stdin=subprocess.DEVNULL,
    ).stdout
    of_pytest = set(re.findall(r"(?<![\w-])--[\w-]+", helped)) | {"--junitxml"}
    for words in typed(workflow):
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        if words[0] == "pytest":
            assert used <= of_pytest, words
        else:
            known = {option for parameter in group.commands[words[1]].params for option in parameter.opts}
            assert used <= known, words


@pytest.mark.slow(fast=["nightly"])
@pytest.mark.parametrize("job", MADE)
def test_its_commands_run(
    workflow: dict[str, Any], job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "counts.py").write_text(
        "def noisy_count(data, rng, size):\n    return sum(data) + rng.laplace(0, 1, size)\n", encoding="utf-8"
    )
    (tmp_path / "test_counts.py").write_text(
        "from counts import noisy_count\n\n\ndef test_count(dp_audit):\n"
        "    dp_audit(noisy_count, epsilon=1.0, pair=([1], [0]), runs=2_000)\n",
        encoding="utf-8",
    )
    # the example's own 100,000 runs take longer than a test may
    (tmp_path / "pyproject.toml").write_text("[tool.dpaudit]\nruns = 2000\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    for step in workflow["jobs"][job]["steps"]:
        if "run" in step and "pip install" not in step["run"]:
            ran = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", step["run"]], capture_output=True, text=True, check=False,
                stdin=subprocess.DEVNULL, timeout=300,
            )
            assert ran.returncode == 0, f"{step['run']}\n{ran.stdout}\n{ran.stderr}"
    assert [name for name in MADE[job] if not (tmp_path / name).stat().st_size] == []
    # what is uploaded and cached is what was written
    for step in workflow["jobs"][job]["steps"]:
        given = step.get("with", {})
        for path in filter(None, (given.get("path"), given.get("sarif_file"))):
            assert (tmp_path / path).exists(), path
