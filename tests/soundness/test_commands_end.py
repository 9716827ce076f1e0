"""Commands that are audited leave no process behind: after an audit, its replay, a time limit, Ctrl-C or a SIGTERM."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")

SERVER = """\
import json, random, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    if sys.argv[2] == "hangs":
        time.sleep(1000)
    data = request.get("dataset", globals().get("data"))
    noise = [rng.choice((-1, 1)) * rng.expovariate(1) for _ in range(request["size"])]
    print(json.dumps([sum(data) + one for one in noise]), flush=True)
if sys.argv[2] == "stubborn":
    time.sleep(1000)
"""


def left(mark: str) -> list[str]:
    """The command lines of processes with this word, beside dpaudit's own."""
    lines = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                line = (process / "cmdline").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            if mark in line and "dpaudit" not in line:
                lines.append(line)
    return lines


def none_left(mark: str, within: float = 5.0) -> bool:
    end = time.monotonic() + within
    while left(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return not left(mark)


def begun(folder: Path, mark: str, mode: str, *words: str) -> subprocess.Popen[str]:
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    return subprocess.Popen(
        [
            sys.executable, "-m", "dpaudit", "check", "--command", f"'{sys.executable}' -S server.py {mark} {mode}",
            "--epsilon", "1", "--pair", "[0,1,1]", "[0,1,0]", *words,
        ],
        cwd=folder, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["answers", "stubborn"])
def test_after_an_audit_and_its_replay(mode: str, tmp_path: Path) -> None:
    mark = f"ended-{mode}-{os.getpid()}"
    audit = begun(tmp_path, mark, mode, "--persistent", "batch", "--runs", "2000")
    out, err = audit.communicate(timeout=120)
    assert audit.returncode == 0, err
    assert none_left(mark)
    identifier = re.search(r"dpaudit replay (\w+)", out)
    assert identifier is not None
    paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    replayed = subprocess.run(
        [sys.executable, "-m", "dpaudit", "replay", identifier[1]], cwd=tmp_path, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
    )
    assert replayed.returncode == 0, replayed.stderr
    assert "Reproduced: the same result." in replayed.stderr
    assert none_left(mark)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "jobs"), [("hangs", 1), ("stubborn", 2)])
def test_after_a_time_limit(mode: str, jobs: int, tmp_path: Path) -> None:
    mark = f"late-{mode}-{os.getpid()}"
    audit = begun(
        tmp_path, mark, mode, "--persistent", "single", "--runs", "500000", "--certify", "--jobs", str(jobs),
        "--time", "8",
    )
    out, err = audit.communicate(timeout=120)
    assert audit.returncode == 3, (out, err)
    assert none_left(mark)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["hangs", "stubborn"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_after_a_signal(number: signal.Signals, code: int, mode: str, tmp_path: Path) -> None:
    mark = f"signal-{mode}-{number}-{os.getpid()}"
    audit = begun(
        tmp_path, mark, mode, "--persistent", "single", "--runs", "500000", "--certify", "--jobs", "2"
    )
    end = time.monotonic() + 60
    while not left(mark) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(2)
    assert left(mark)
    audit.send_signal(number)
    _, err = audit.communicate(timeout=60)
    assert audit.returncode == code, err
    assert none_left(mark)
