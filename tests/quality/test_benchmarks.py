"""Benchmarks are run by hand, some rarely: what they import from dpaudit and from each other must still be there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
IMPORTED = """
import importlib, sys

for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as missing:
        # libraries that are measured have environments of their own
        if missing.name is None or missing.name.partition(".")[0].startswith("dpaudit") or missing.name in sys.argv:
            raise
"""


@pytest.mark.slow
def test_every_benchmark_can_be_imported() -> None:
    names = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
    assert "corpus" in names
    # in a process of its own, as some have the names of modules of Python
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTED, *names], cwd=BENCHMARKS, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
