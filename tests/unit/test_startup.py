"""What commands import: nobody waits for the engine to read a version, a help text or the answer to a typo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LINES = {
    "light": ["--version", "--help", "check --help", "chekc", "check RecPrefx", "verify RecPrefx", "show RecPrefx"],
    "catalogue": ["list", "list --corpus"],
    "refuted": ["check u.py:broken --epsilon 1 --pair [1] [0]"],
}
"""Commands, each after those before it in one process: what one of them imports stays imported."""
ENGINE = ("dpaudit.engine", "dpaudit.evidence", "dpaudit.adversary", "dpaudit.subjects.runner")
WRITERS = (
    "dpaudit.report.html", "dpaudit.report.figures", "dpaudit.report.junit", "dpaudit.report.sarif",
    "dpaudit.report.markdown", "dpaudit.cli.doctor",
)
HEAVY = ("matplotlib", "jinja2", "sklearn", "pandas", "joblib", "scipy.stats", "scipy.optimize", "scipy.signal")
ABSENT = {
    "light": (*ENGINE, *WRITERS, *HEAVY, "dpaudit.language", "numpy", "scipy", "flint", "msgspec"),
    "catalogue": (*ENGINE, *WRITERS, *HEAVY),
    "refuted": (*WRITERS, *HEAVY),
}
"""What must not have been imported when the commands of a stage have ended."""

SCRIPT = """
import contextlib, io, json, sys
from dpaudit.cli.console_script import main
ran = {}
for stage, lines in json.loads(sys.argv[1]).items():
    ran[stage] = {"codes": []}
    for line in lines:
        sys.argv[1:] = line.split()
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
            try:
                main()
            except SystemExit as ended:
                ran[stage]["codes"].append(ended.code)
    ran[stage]["modules"] = list(sys.modules)
print(json.dumps(ran))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[object]]]:
    folder = tmp_path_factory.mktemp("startup")
    (folder / "u.py").write_text("def broken(data, rng, size):\n    return data[0] + rng.laplace(0, 0.2, size)\n")
    words = [sys.executable, "-c", SCRIPT, json.dumps(LINES)]
    # by their path, so that this checkout is imported wherever the test runs
    paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    environment = {**os.environ, "DPAUDIT_ONE_PROCESS": "1", "PYTHONPATH": paths}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    stages: dict[str, dict[str, list[object]]] = json.loads(done.stdout)
    return stages


@pytest.mark.parametrize("stage", LINES)
def test_nothing_heavy_is_imported(stage: str, ran: dict[str, dict[str, list[object]]]) -> None:
    assert sorted(set(ABSENT[stage]) & set(ran[stage]["modules"])) == []


def test_the_commands_ran(ran: dict[str, dict[str, list[object]]]) -> None:
    codes = {stage: part["codes"] for stage, part in ran.items()}
    assert codes == {"light": [0, 0, 0, 2, 2, 2, 2], "catalogue": [0, 0], "refuted": [1]}
