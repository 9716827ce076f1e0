"""The functions of `dpaudit` are typed for those who use them: mypy --strict passes on a script that does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # it needs the packages of [dev]

ROOT = Path(__file__).resolve().parents[2]


def test_a_users_script_passes_strict_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy comes with the dev tools")
    # every `type: ignore` in the script is an error that must be there: --strict reports those that are not needed
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "--config-file", os.devnull]
    command += ["--follow-imports", "silent", "--explicit-package-bases", str(Path(__file__).with_name("typed_use.py"))]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
