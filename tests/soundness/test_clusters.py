"""Clusters: the same result as on one process, whatever happens to workers and schedulers."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numpy.random import Generator, SeedSequence

import dpaudit
from dpaudit import journal as journals
from dpaudit.cli.run import audit_texts
from dpaudit.engine import orchestrator
from dpaudit.errors import ClusterError, MechanismError, UsageError
from dpaudit.interpret.stored import to_bytes
from dpaudit.plans.request import Request
from dpaudit.results.model import Result
from dpaudit.results.stream import CheckFinished, Notice
from dpaudit.subjects import clusters, runner
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import Unit, function_target, load_object

WORKERS = 2


class Machines:
    """A dask scheduler and workers, as processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, list[subprocess.Popen[bytes]]()
        self.scheduler = self._start("scheduler", "--port", "0")
        file = folder / "scheduler.json"
        begun = time.monotonic()
        while not file.exists() or not file.read_text(encoding="utf-8").strip():
            assert time.monotonic() - begun < 60, "the scheduler does not start"
            time.sleep(0.1)
        time.sleep(0.2)
        self.address = str(json.loads(file.read_text(encoding="utf-8"))["address"])
        for _ in range(WORKERS):
            # no nanny: the test is who starts another one
            self._start("worker", "--nthreads", "2", "--no-nanny")
        self.wait()

    def wait(self, number: int = WORKERS) -> None:
        """Until so many workers are there."""
        import distributed

        # its types say less than what it takes
        client: Any = distributed.Client
        with client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        """Those that live."""
        return [one for one in self.processes[1:] if one.poll() is None]

    def another(self) -> None:
        """One more worker."""
        self._start("worker", "--nthreads", "2", "--no-nanny")

    def end(self) -> None:
        """Kill all of them."""
        for one in self.processes:
            with contextlib.suppress(ProcessLookupError):
                one.send_signal(signal.SIGCONT)
                one.kill()
            one.wait()

    def _start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", "--scheduler-file"]
        one = subprocess.Popen(
            [*command, str(self.folder / "scheduler.json"), *words], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"},
        )
        self.processes.append(one)
        return one


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """A cluster of the test's own."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Machines(folder)
    yield made
    made.end()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers take over after the first part of a unit."""
    monkeypatch.setattr(runner, "WORTH_A_POOL", 0.0)
    monkeypatch.setattr(runner, "WORTH_STARTING", -1.0)


def noisy(data: Any, rng: Generator) -> float:
    """A function."""
    time.sleep(0.002)
    return float(data[0] + rng.laplace())


def _units(number: int = 6, runs: int = 100) -> list[Unit]:
    return [Unit((at % 2,), runs, SeedSequence([3, at])) for at in range(number)]


def _run(target: Any, address: str | None, units: list[Unit] | None = None) -> list[bytes]:
    chosen = _units() if units is None else units
    running = Runner(1, cluster=address)
    if address is not None:
        # there is no first part here, then
        running.workers()
    try:
        return [to_bytes(outputs) for outputs in running.run(target, chosen, sum(unit.runs for unit in chosen))]
    finally:
        running.close()


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_workers_of_a_cluster_draw_the_same_samples(machines: Machines, tmp_path: Path) -> None:
    target = function_target(noisy, "noisy", "here")
    assert _run(target, machines.address) == _run(target, None)
    # larger than what goes with every call, and from a file with a module beside it, which is nowhere on the workers
    (tmp_path / "beside_it.py").write_text("TABLE = list(range(50_000))\ndef shift(x): return x + TABLE[1]\n")
    text = "import beside_it\ndef f(data, rng): return beside_it.shift(data[0]) + rng.normal()\n"
    (tmp_path / "of_a_project.py").write_text(text)
    sys.path.insert(0, str(tmp_path))
    try:
        f, _ = load_object(f"{tmp_path / 'of_a_project.py'}:f")
        assert callable(f)
        ours = function_target(f, "f", "here")
        assert _run(ours, machines.address) == _run(ours, None)
    finally:
        sys.path.remove(str(tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_a_worker_that_is_killed_changes_nothing(machines: Machines) -> None:
    target, units = function_target(noisy, "noisy", "here"), _units(20)
    expected = _run(target, None, units)
    running = Runner(1, cluster=machines.address)
    running.workers()
    found = []
    for at, outputs in enumerate(running.run(target, units, 2000)):
        found.append(to_bytes(outputs))
        if at == 4:
            machines.workers[0].kill()
            machines.another()
    running.close()
    assert found == expected


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_a_function_that_ends_its_worker_is_named(machines: Machines) -> None:
    parent = os.getpid()

    def kills(data: Any, rng: Generator) -> float:
        time.sleep(0.002)
        if data[0] == 3 and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return float(rng.normal())

    units = [*_units(4), Unit((3,), 100, SeedSequence([5]))]
    running = Runner(1, cluster=machines.address)
    running.workers()
    what = r"kills ended its worker process 2 times on \(3,\) \(seed \[5\], from sample \d+ on\)"
    ended = threading.Event()

    def replace_workers() -> None:
        while not ended.wait(0.2):
            if len(machines.workers) < WORKERS:
                machines.another()

    replacing = threading.Thread(target=replace_workers)
    replacing.start()
    try:
        with pytest.raises(MechanismError, match=what):
            list(running.run(function_target(kills, "kills", "here"), units, 500))
    finally:
        ended.set()
        replacing.join()
        running.close()


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_a_cluster_whose_workers_are_all_gone(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "ASKED_EVERY", 1.0)
    monkeypatch.setattr(clusters, "WITHOUT_WORKERS", 3.0)
    monkeypatch.setattr(runner, "LOOKS", 1.0)
    running = Runner(1, cluster=machines.address)
    running.workers()
    outputs = running.run(function_target(noisy, "noisy", "here"), _units(200), 20_000)
    for _ in range(3):
        next(outputs)
    for one in machines.workers:
        one.kill()
    with pytest.raises(ClusterError, match="has had no workers for 3 seconds; what was computed is kept"):
        list(outputs)
    running.close()


def slow(data: Any, rng: Generator) -> float:
    """A function for whole audits."""
    time.sleep(0.005)
    return float(data[0] + rng.laplace())


def _audit(stop: Any = None, **more: Any) -> tuple[Result, list[str]]:
    """The result and what was said; `stop` is called after 15 events."""
    said: list[str] = []
    for at, event in enumerate(orchestrator.check(Request((slow,), epsilon=1.5, pair=((0,), (1,)), runs=600, **more))):
        if isinstance(event, Notice):
            said.append(event.text)
        if stop is not None and at == 15:
            stop()
        if isinstance(event, CheckFinished):
            return event.result, said
    raise AssertionError("no result")


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("what", ["killed", "frozen"])
def test_a_scheduler_that_is_lost_is_said_and_the_audit_goes_on_later(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = _audit()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DPAUDIT_JOURNAL", str(tmp_path / "journal.sqlite3"))
    monkeypatch.setattr(journals, "WRITTEN_EVERY", 0.0)
    monkeypatch.setattr(journals, "WRITTEN_FROM", 0.0)
    for name, seconds in (("ASKED_EVERY", 1.0), ("PATIENCE", 3.0)):
        monkeypatch.setattr(clusters, name, seconds)
    monkeypatch.setattr(runner, "LOOKS", 1.0)
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    first = Machines(folders[0])
    try:
        sign = signal.SIGKILL if what == "killed" else signal.SIGSTOP
        begun = time.monotonic()
        found, _ = _audit(lambda: first.scheduler.send_signal(sign), cluster=first.address)
        assert time.monotonic() - begun < 60
    finally:
        first.end()
    assert found.audits[0].verdict.value == "inconclusive"
    assert "does not answer any more; what was computed is kept in the journal" in found.audits[0].reason
    second = Machines(folders[1])
    try:
        found, said = _audit(cluster=second.address)
    finally:
        second.end()
    assert audit_texts(found) == audit_texts(expected)
    assert any("samples were drawn by an earlier run" in text for text in said)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_workers_of_ray_draw_the_same_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    parent = os.getpid()

    def kills(data: Any, rng: Generator) -> float:
        time.sleep(0.02)
        if data[0] == 3 and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return float(rng.normal())

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        target = function_target(noisy, "noisy", "here")
        assert _run(target, "ray") == _run(target, None)
        with pytest.raises(MechanismError, match="kills ended its worker process 2 times"):
            _run(function_target(kills, "kills", "here"), "ray", [*_units(2), Unit((3,), 100, SeedSequence([5]))])
        other = {**clusters.versions(), "numpy": "1.0"}
        monkeypatch.setattr(clusters, "versions", lambda: other)
        with pytest.raises(ClusterError, match=r"A worker of the cluster has numpy \d.*, and this process numpy 1\.0"):
            clusters.connected("ray")
        assert ray.is_initialized(), "it is left as it was"
    finally:
        ray.shutdown()


@pytest.mark.slow
def test_workers_with_other_versions_are_refused(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {**clusters.versions(), "numpy": "1.0"}
    monkeypatch.setattr(clusters, "versions", lambda: other)
    what = r"The worker tcp://.* of the cluster has numpy \d.*, and this process numpy 1\.0"
    with pytest.raises(ClusterError, match=what):
        clusters.connected(machines.address)
    monkeypatch.undo()
    # one that comes after the others were asked
    executor = clusters.connected(machines.address)
    monkeypatch.setattr(clusters, "versions", lambda: other)
    with pytest.raises(ClusterError, match=r"A worker of the cluster has numpy \d.*, and this process numpy 1\.0"):
        executor.submit(os.getpid).result(30)
    executor.close()


@pytest.mark.slow
def test_an_address_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", 1.0)
    with pytest.raises(ClusterError, match=r"No dask scheduler answers at tcp://127\.0\.0\.1:1 \("):
        clusters.connected("tcp://127.0.0.1:1")
    with pytest.raises(ClusterError, match="No dask scheduler answers"):
        dpaudit.audit(slow, epsilon=1.0, pair=((0,), (1,)), cluster="tcp://127.0.0.1:1", progress=False)


@pytest.mark.parametrize("address", ["host", "8786", "", "rays"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match="is no address of a cluster"):
        clusters.connected(address)


def test_clusters_and_clients_are_taken_by_their_address() -> None:
    from dpaudit.api.arguments import cluster_address

    class Given:
        """As those of dask."""

        scheduler_address = "tcp://host:1"

    assert cluster_address(Given()) == "tcp://host:1"
    assert cluster_address("ray") == "ray"
    assert cluster_address(None) is None
    with pytest.raises(UsageError, match="cluster must be a dask cluster or client"):
        cluster_address(3)
