"""A few of the kills of benchmarks/kills.py, which makes 200."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def killed(script: str, folder: Path) -> None:
    """Run a script that forks; in a process of its own, because what is forked must have one thread."""
    words = [sys.executable, "-c", f"import os, sys, pathlib, kills\nfolder = pathlib.Path(sys.argv[1])\n{script}"]
    environment = {**os.environ, **ONE, "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [*words, str(folder)], env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    killed(
        "kills.begin(folder)\n"
        "for command, times in {'verify': 8, '--evidence': 8}.items():\n"
        "    left = kills.kill(folder, command, times, seed=20)\n"
        "    assert left.kills == times, left\n"
        "    assert not (left.broken or left.lost or left.wrong), left\n",
        tmp_path,
    )


@pytest.mark.slow
def test_a_supervised_command_ends_whole_too(tmp_path: Path) -> None:
    killed(
        "kills.begin(folder)\n"
        "left = kills.kill(folder, 'check', 8, seed=22, supervised=True)\n"
        "assert left.kills == 8, left\n"
        "assert not (left.broken or left.lost or left.wrong or left.silent), left\n",
        tmp_path,
    )


@pytest.mark.slow
def test_a_writer_in_place_would_be_found(tmp_path: Path) -> None:
    killed(
        "from dpaudit.report import files\n"
        "def in_place(path, data):\n"
        "    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n"
        "    os.write(handle, data.encode())\n"
        "    os.close(handle)\n"
        "kills.begin(folder)\n"
        "files.write_file = in_place\n"
        "assert kills.kill(folder, '--evidence', 20, seed=21).broken\n",
        tmp_path,
    )
