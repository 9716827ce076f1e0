"""Clusters of dask on this machine, and processes by a mark in their environment: parts of machines.py and failures.py.

Everything that a measurement starts has the mark, workers of workers too, so that what is left of it is found and
ended by number, and nothing else is.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

MARK = "DPAUDIT_BENCHMARK"
"""The variable that processes are found by."""
START = 120.0
"""Seconds in which a cluster must have started."""


def marked(mark: str, **more: str) -> dict[str, str]:
    """The environment of processes with a mark; they import what this process can."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    paths = os.pathsep.join(path for path in [str(Path(__file__).resolve().parents[1]), *sys.path] if path)
    return {**os.environ, **threads, "PYTHONPATH": paths, MARK: mark, **more}


def processes(mark: str) -> dict[int, str]:
    """Those that live and have a mark: id → command line."""
    found = {}
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return found


def seconds_until_gone(mark: str, most: float) -> float | None:
    """How long it takes until no process has a mark; None where some live after so many seconds."""
    begun = time.monotonic()
    while processes(mark):
        if time.monotonic() - begun > most:
            return None
        time.sleep(0.05)
    return time.monotonic() - begun


def end(mark: str) -> None:
    """Kill what has a mark."""
    for _ in range(100):
        left = processes(mark)
        if not left:
            return
        for process in left:
            for number in (signal.SIGCONT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)
        time.sleep(0.1)


def started(
    command: Sequence[str], folder: Path, env: dict[str, str], log: str, **more: Any
) -> subprocess.Popen[bytes]:
    """A process in a session of its own, whose output goes to a file: what it starts may outlive it."""
    with (folder / log).open("ab") as file:
        return subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True, **more,
        )


class DaskCluster:
    """A dask scheduler and worker processes of one thread each, on addresses of this machine alone.

    Args:
        folder: for their files; it is made.
        mark: of all their processes.
        workers: how many; each has a nanny, which starts another one where it dies.
        host: the scheduler's address.
        prefix: words before each command, such as those that run it in a network namespace.
    """

    def __init__(
        self, folder: Path, mark: str, workers: int, *, host: str = "127.0.0.1", prefix: Sequence[str] = ()
    ) -> None:
        folder.mkdir(parents=True)
        self.folder, self.mark, self.host, self._prefix = folder, mark, host, list(prefix)
        self._file = folder / "scheduler.json"
        self._begun = time.monotonic()
        self.scheduler = self._start(self._prefix, "scheduler", "--host", host, "--port", "0")
        while not self.address:
            self._wait("the scheduler does not start")
        self.add(workers, prefix)

    @property
    def address(self) -> str:
        """The scheduler's; "" until it has one."""
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads(self._file.read_text(encoding="utf-8"))["address"])
        return ""

    def add(self, number: int, prefix: Sequence[str] = (), host: str | None = None) -> None:
        """Start so many workers, and wait until they are there."""
        if not number:
            return
        before, self._begun = len(self.workers), time.monotonic()
        self._start(
            prefix, "worker", "--host", host or self.host, "--nthreads", "1", "--nworkers", str(number),
            "--local-directory", str(self.folder),
        )
        while len(self.workers) < before + number:
            self._wait("workers do not start")
        self._start_is_over()

    @property
    def workers(self) -> list[int]:
        """Processes that run what is asked for; their nannies are not among them."""
        return [at for at, line in processes(self.mark).items() if "spawn_main" in line]

    def end(self) -> None:
        """Kill all of them."""
        end(self.mark)
        self.scheduler.wait()

    def _start_is_over(self) -> None:
        # a process is there before it has told the scheduler
        asks = (
            "import sys, distributed\n"
            "with distributed.Client(sys.argv[1], set_as_default=False) as client:\n"
            "    client.wait_for_workers(int(sys.argv[2]), timeout=120)\n"
        )
        command = [*self._prefix, sys.executable, "-c", asks, self.address, str(len(self.workers))]
        assert started(command, self.folder, marked(self.mark), "log").wait(START) == 0, "workers do not start"

    def _start(self, prefix: Sequence[str], what: str, *words: str) -> subprocess.Popen[bytes]:
        command = [
            *prefix, sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", "--scheduler-file",
            str(self._file), *words,
        ]
        return started(command, self.folder, marked(self.mark), "log")

    def _wait(self, what: str) -> None:
        assert time.monotonic() - self._begun < START, f"{what}: see {self.folder / 'log'}"
        time.sleep(0.1)


@contextlib.contextmanager
def dask_cluster(folder: Path, mark: str, workers: int) -> Iterator[DaskCluster]:
    """A cluster that is ended."""
    try:
        cluster = DaskCluster(folder, mark, workers)
        yield cluster
    finally:
        end(mark)
