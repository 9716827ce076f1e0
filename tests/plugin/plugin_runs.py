"""Runs of pytest inside tests of the plugin: in a folder of their own, without the settings of this project."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

# pytester forgets modules that an inner run has imported first, and numpy cannot be imported twice
import dpaudit.pytest_plugin.auditor
import dpaudit.pytest_plugin.reports
import dpaudit.pytest_plugin.stable
import dpaudit.strategies  # noqa: F401

# exactly 1-DP, and twice as much; 600 samples per dataset are enough for both verdicts
SUITE = """
import numpy as np
import pytest

PAIR = ([0, 1], [1, 1])

def respond(dataset, rng, size):
    return np.where(rng.random(size) < np.e / (1 + np.e), dataset[0], 1 - dataset[0])

def respond_loudly(dataset, rng, size):
    return np.where(rng.random(size) < np.e**3 / (1 + np.e**3), dataset[0], 1 - dataset[0])
"""
FEW = "--dp-runs=600"


@dataclass(frozen=True)
class Ran:
    """What a run of pytest did."""

    code: int
    text: str
    audits: list[dict[str, Any]]
    outcomes: dict[str, int]

    @property
    def numbers(self) -> list[tuple[Any, ...]]:
        """What must be the same when an audit is made again."""
        keys = ("test", "call", "verdict", "bound", "runs", "alpha", "seed")
        return sorted(tuple(audit[key] for key in keys) for audit in self.audits)


class Listener:
    """Gathers the audits of a session."""

    def __init__(self) -> None:
        self.audits: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.audits += getattr(report, "dp_audits", [])


class Runs:
    """`runs(tests, *options)` writes a test file after `SUITE` and runs pytest on it."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.folder = pytester.path
        self.monkeypatch = monkeypatch
        monkeypatch.setenv("COLUMNS", "80")
        for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "FORCE_COLOR", "CI"):
            monkeypatch.delenv(name, raising=False)
        pytester.makepyprojecttoml("[tool.dpaudit]\n")

    def settings(self, text: str) -> None:
        """What `[tool.dpaudit]` holds."""
        self.pytester.makepyprojecttoml(f"[tool.dpaudit]\n{text}\n")

    def __call__(self, tests: str | None, *options: str, width: int = 80, name: str = "test_suite.py") -> Ran:
        if tests is not None:
            (self.folder / name).write_text(f"{SUITE}\n{tests}", encoding="utf-8")
        self.monkeypatch.setenv("COLUMNS", str(width))
        listener = Listener()
        ran = self.pytester.runpytest_inprocess(
            "-p", "no:xdist", "-p", "no:cacheprovider", *options, plugins=[listener]
        )
        outcomes = ran.parseoutcomes() if re.search(r" in [\d.]+s", ran.stdout.str()) else {}
        return Ran(int(ran.ret), ran.stdout.str() + ran.stderr.str(), listener.audits, outcomes)
