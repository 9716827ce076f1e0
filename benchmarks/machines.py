"""One result on one process, several, and clusters, whatever the order and after a kill; and how fast each is.

python benchmarks/machines.py [--quick] [--write] [--keep FILE]

Needs distributed and ray. `--write` puts the tables into machines.md. `--keep` puts results into a file as they come,
and the same command goes on from there. Progress on stderr.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import queue
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from local_cluster import dask_cluster, end, marked, started
from numpy.random import SeedSequence

from dpaudit.cli.run import audit_texts
from dpaudit.engine import orchestrator
from dpaudit.evidence.sampling import batches
from dpaudit.plans import registry
from dpaudit.plans.request import Request
from dpaudit.results.stream import CheckFinished, Notice, Progress
from dpaudit.subjects import runner as runners
from dpaudit.subjects.executors import Workers
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget, Unit, function_target

QUICK = "--quick" in sys.argv
KEEP = Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None
SEEDS, SOME, FEW = (2, 1, 1) if QUICK else (20, 3, 2)
"""Seeds where all are tried, where some are, and where few are: the slow ones."""
CALL = 0.008
"""Seconds of a call of the functions whose results are compared."""
RUNS = 600
"""Samples of each dataset."""
KILLED = (2.5, 7.0)
"""Seconds after the first samples between which a process is killed."""
BEGUN_FILE = "begun"
AT_ONCE = 3
"""Configurations that are tried at the same time: their functions sleep."""
LEAST_SHARE = 0.3
"""Part of the samples that workers must have drawn, so that a comparison says something."""
ORDERS = ("forward", "reversed", "random")


# --- what is audited ---


def scalar(data: Any, rng: Any) -> float:
    """A number."""
    time.sleep(CALL)
    return float(data[0] + rng.laplace())


def vector(data: Any, rng: Any) -> Any:
    """A vector."""
    time.sleep(CALL)
    return data[0] + rng.laplace(size=3)


def counted(data: Any, rng: Any) -> Any:
    """An integer or a text."""
    time.sleep(CALL)
    drawn = int(rng.geometric(0.5))
    return data[0] + drawn if drawn < 4 else "large"


def request_of(name: str, seed: int) -> tuple[Request, str | None]:
    """What is audited under a name, and the case of it where there are several."""
    common: dict[str, Any] = {"seed": seed, "only": "privacy"}
    if name in ("a number", "a vector", "counted"):
        function = {"a number": scalar, "a vector": vector, "counted": counted}[name]
        return Request((function,), epsilon=3.5, pair=((0,), (1,)), runs=RUNS, **common), None
    if name == "several pairs":
        # two of them are tried to the end
        return Request((scalar,), epsilon=1.2, data="integers(0, 1)", size=1, runs=RUNS, **common), None
    if name == "three functions":
        return Request((scalar, counted, vector), epsilon=3.5, pair=((0,), (1,)), runs=RUNS, **common), None
    case = next(case for case in registry.plan("ReleaseThresholds").cases() if "2^16, two steps" in case.label)
    pair = case.pairs[0]
    return Request(
        (case.mechanism,), pair=(pair.left, pair.right), runs=1_500, black_box=True, **common
    ), None


KINDS = ("a number", "a vector", "counted", "a mechanism", "several pairs", "three functions")


# --- one configuration, in a process of its own ---


@dataclass(frozen=True)
class Configuration:
    """How audits are run.

    Args:
        name: in the table.
        jobs: worker processes.
        cluster: the address of one; "ray" for one that is made for it.
        order: in which results arrive; "" for that in which workers give them.
        kinds: of what is audited.
        seeds: with which.
        journal: the file; "off" for none.
    """

    name: str
    jobs: int = 1
    cluster: str | None = None
    order: str = ""
    kinds: tuple[str, ...] = KINDS
    seeds: tuple[int, ...] = (0,)
    journal: str = "off"

    @property
    def has_workers(self) -> bool:
        """Whether samples are to be drawn by others."""
        return self.name != "serial"


class Counted:
    """Another executor, with the number of samples and whole audits that its workers made."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.capacity = inner, inner.capacity

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Have a function called."""
        future: Future[Any] = self.inner.submit(function, *args)
        future.add_done_callback(lambda ended: self._ended(ended, function, args))
        return future

    def _ended(self, future: Future[Any], function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if future.exception() is not None:
            return
        if function is runners._run:
            TASKS.append(sum(part[1] for part in args[0]))
        elif isinstance(found := future.result(), tuple):
            # a whole audit
            TASKS.append(found[1].runs)


TASKS: list[int] = []
"""Samples of every call that a worker has ended, in this process."""


class Ordered(Workers):
    """Calls in a thread of this process; those that wait are made in some order.

    Args:
        capacity: how many workers the runner believes in.
        order: one of `ORDERS`.
    """

    def __init__(self, capacity: int, order: str) -> None:
        super().__init__(capacity)
        self._order, self._rng = order, random.Random(order)
        self._calls = queue.SimpleQueue[Any]()
        threading.Thread(target=self._run, daemon=True).start()

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Have a function called."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self._calls.put((future, function, args))
        return future

    def _run(self) -> None:
        while True:
            waiting = [self._calls.get()]
            while True:
                try:
                    # until the runner has submitted all that it wants to
                    waiting.append(self._calls.get(timeout=0.02))
                except queue.Empty:
                    break
            if self._order == "reversed":
                waiting.reverse()
            elif self._order == "random":
                self._rng.shuffle(waiting)
            for future, function, args in waiting:
                try:
                    future.set_result(function(*args))
                except BaseException as error:
                    future.set_exception(error)


def watch_workers(configuration: Configuration) -> None:
    """Count what workers do, and use the workers of the configuration."""
    own = Runner.workers
    if configuration.order:
        # threads of this process are there at once, also for audits that are too quick for worker processes
        runners.WORTH_A_POOL = runners.WORTH_STARTING = 0.0

    def workers(self: Runner) -> Any:
        if self.executor is None:
            made = Ordered(4, configuration.order) if configuration.order else own(self)
            if configuration.name == "loky 1":
                # one job is no worker
                made = Workers(1)
            self.executor = Counted(made)
        return self.executor

    Runner.workers = workers  # type: ignore[method-assign]


def run_configuration(configuration: Configuration, results: Path) -> None:
    """Audit everything, with a line of results for each."""
    os.environ["DPAUDIT_JOURNAL"] = configuration.journal
    watch_workers(configuration)
    if configuration.cluster == "ray":
        import ray

        ray.init(num_cpus=configuration.jobs, include_dashboard=False, log_to_driver=False)
    try:
        for seed in configuration.seeds:
            for kind in configuration.kinds:
                line = {"kind": kind, "seed": seed, **audited(configuration, kind, seed)}
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    finally:
        if configuration.cluster == "ray":
            ray.shutdown()


def audited(configuration: Configuration, kind: str, seed: int) -> dict[str, Any]:
    """The digest of one audit, and what it took."""
    TASKS.clear()
    begun, said = time.monotonic(), []
    request, only = request_of(kind, seed)
    jobs = 2 if configuration.name == "loky 1" else configuration.jobs
    request = replace(request, jobs=jobs, cluster=configuration.cluster)
    for event in orchestrator.check(request, only=only):
        if isinstance(event, Progress):
            Path(BEGUN_FILE).touch()
        if isinstance(event, Notice):
            said.append(event.text)
        if isinstance(event, CheckFinished):
            found = event.result
    return {
        "digest": hashlib.sha256("\n".join(audit_texts(found)).encode()).hexdigest()[:12],
        "share": sum(TASKS) / max(1, sum(audit.runs for audit in found.audits)), "tasks": len(TASKS),
        "seconds": round(time.monotonic() - begun, 2), "verdicts": [audit.verdict.value for audit in found.audits],
        "resumed": any("by an earlier run" in text for text in said),
        "reasons": [audit.reason for audit in found.audits if audit.verdict.value == "inconclusive"],
    }


# --- all configurations ---


def start(configuration: Configuration, folder: Path, results: Path) -> Any:
    """The process of a configuration."""
    command = [sys.executable, str(Path(__file__).resolve()), "--one", json.dumps(asdict(configuration)), str(results)]
    if QUICK:
        command.append("--quick")
    env = marked(f"machines-{os.getpid()}", HOME=str(folder), DPAUDIT_JOURNAL=configuration.journal)
    return started(command, folder, env, "log")


def results_of(configuration: Configuration, folder: Path) -> list[dict[str, Any]]:
    """What a configuration gives; less than all of it where its process ends with an error, twice."""
    found: list[dict[str, Any]] = []
    for _ in range(2):
        own = Path(tempfile.mkdtemp(dir=folder))
        results = own / "results.jsonl"
        code = start(configuration, own, results).wait()
        found = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()] if (
            results.exists()
        ) else []
        if not code:
            break
        error = (own / "log").read_text(encoding="utf-8", errors="replace")[-1000:]
        ERRORS.append(f"{configuration.name}, seeds {configuration.seeds}: exit code {code}: {error}")
        say(ERRORS[-1])
    say(f"{configuration.name}, seeds {configuration.seeds}: {sum(one['seconds'] for one in found):.0f} s")
    return found


ERRORS: list[str] = []
"""Processes that ended with an error."""


def kept(
    run: Callable[[Configuration, Path], list[dict[str, Any]]], configuration: Configuration, folder: Path
) -> list[dict[str, Any]]:
    """What a configuration gives, from the file that is kept if it is there."""
    # the address of a cluster is another one each time
    key = json.dumps([configuration.name, configuration.kinds, configuration.seeds, run.__name__])
    lines = KEEP.read_text(encoding="utf-8").splitlines() if KEEP is not None and KEEP.exists() else []
    for before in map(json.loads, lines):
        if before["key"] == key:
            found: list[dict[str, Any]] = before["results"]
            return found
    found = run(configuration, folder)
    if KEEP is not None and len(found) == len(configuration.kinds) * len(configuration.seeds):
        with KEEP.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "results": found}) + "\n")
    return found


def interrupted(configuration: Configuration, folder: Path) -> list[dict[str, Any]]:
    """What a configuration of one audit gives when it was killed at a random moment, and is run again."""
    wait = random.Random(configuration.name + configuration.kinds[0] + str(configuration.seeds)).uniform(*KILLED)
    own = Path(tempfile.mkdtemp(dir=folder))
    configuration = replace(configuration, journal=str(own / "journal.sqlite3"))
    process = start(configuration, own, own / "none.jsonl")
    while not (own / BEGUN_FILE).exists() and process.poll() is None:
        time.sleep(0.02)
    time.sleep(wait)
    was_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    written = (own / "journal.sqlite3").exists()
    results = own / "results.jsonl"
    code = start(configuration, own, results).wait()
    if code:
        error = (own / "log").read_text(encoding="utf-8", errors="replace")[-1000:]
        ERRORS.append(f"{configuration.name}: exit code {code}: {error}")
        return []
    (line,) = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    say(f"{configuration.name}, {line['kind']}, killed after {wait:.1f} s: "
        f"{'resumed' if line['resumed'] else 'from the beginning' if was_running else 'it had ended'}")
    return [{**line, "written": written, "killed": was_running}]


def all_results(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Results by configuration."""
    found: dict[str, list[dict[str, Any]]] = {}
    mark = f"machines-{os.getpid()}"

    def tried(
        configurations: list[Configuration], run: Callable[..., list[dict[str, Any]]], *,
        at_once: int = AT_ONCE,
    ) -> None:
        with ThreadPoolExecutor(at_once) as pool:
            several = [pool.submit(kept, run, one, folder) for one in configurations]
            for one, future in zip(configurations, several, strict=True):
                found.setdefault(one.name, []).extend(future.result())

    def parts(name: str, seeds: int, size: int = 1 if QUICK else 4, **more: Any) -> list[Configuration]:
        every = [tuple(range(at, min(at + size, seeds))) for at in range(0, seeds, size)]
        return [Configuration(name, seeds=each, **more) for each in every]

    tried(parts("serial", SEEDS), results_of, at_once=2 * AT_ONCE)
    tried(parts("loky 2", SEEDS, jobs=2), results_of, at_once=AT_ONCE + 1)
    tried([
        *parts("loky 1", FEW, jobs=1), *parts("loky 8", FEW, jobs=8),
        *(one for order in ORDERS for one in parts(f"arriving {order}", SOME, jobs=4, order=order, kinds=KINDS[:5])),
    ], results_of)
    for number, seeds in ((2, SEEDS), (1, FEW), (8, FEW)):
        with dask_cluster(folder / f"dask{number}", f"{mark}-dask{number}", number) as cluster:
            tried(parts(f"dask {number}", seeds, cluster=cluster.address), results_of, at_once=2)
            if number == 2:
                tried([
                    Configuration(f"killed and given again, {name}", jobs=jobs, cluster=address, kinds=(kind,))
                    for name, jobs, address in (
                        ("serial", 1, None), ("loky 2", 2, None), ("dask 2", 1, cluster.address),
                    )
                    for kind in KINDS
                ], interrupted)
    for one in parts("ray 2", FEW, jobs=2, cluster="ray"):
        found.setdefault(one.name, []).extend(kept(results_of, one, folder))
    return found


def table(found: dict[str, list[dict[str, Any]]]) -> tuple[list[str], list[str]]:
    """The table, and what is wrong."""
    expected = {(one["kind"], one["seed"]): one["digest"] for one in found["serial"]}
    common = sorted(key for key in expected if key[1] == 0)
    faults = []
    lines = [
        "| samples drawn by | seeds | audits | the same digest | digest of seed 0 | by workers, least and median |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, results in found.items():
        if not results:
            continue
        same = 0
        for one in results:
            if one["digest"] == expected[one["kind"], one["seed"]]:
                same += 1
            else:
                faults.append(f"{name}: another digest of {one['kind']}, seed {one['seed']}: {one}")
        mine = {(one["kind"], one["seed"]): one["digest"] for one in results}
        kinds = sorted(key for key in common if key in mine)
        digest = hashlib.sha256("".join(mine[key] for key in kinds).encode()).hexdigest()[:12]
        if len(kinds) < len(common):
            digest = ", ".join(mine[key][:4] for key in kinds) + f" (of {len(kinds)})"
        shares = [one["share"] for one in results]
        by_workers = f"{min(shares):.0%}, {statistics.median(shares):.0%}" if name != "serial" else "–"
        if name != "serial" and not name.startswith("killed"):
            faults += [
                f"{name}: workers drew {one['share']:.0%} of {one['kind']}, seed {one['seed']}"
                for one in results if one["share"] < LEAST_SHARE
            ]
        if name.startswith("killed"):
            resumed = sum(one["resumed"] for one in results)
            killed = sum(one["killed"] for one in results)
            name = f"{name} ({killed} killed, {resumed} said that samples were there)"
        lines.append(
            f"| {name} | {len({one['seed'] for one in results})} | {len(results)} | {same} | {digest} | {by_workers} |"
        )
    return lines, faults


# --- speed ---


def sleeps(data: Any, rng: Any) -> float:
    """50 ms of waiting."""
    time.sleep(0.05)
    return float(data[0] + rng.laplace(0, 1))


def straggles(data: Any, rng: Any) -> float:
    """50 ms of waiting, and in one call of a hundred a second."""
    seconds = 1.0 if rng.random() < 0.01 else 0.05
    time.sleep(seconds)
    return seconds


def would_take(data: Any, rng: Any) -> float:
    """The seconds of `straggles`, at once."""
    return 1.0 if rng.random() < 0.01 else 0.05


def units(samples: int, seed: int = 0) -> Iterator[Unit]:
    """Those of an audit of one pair."""
    for batch, size in enumerate(batches(samples)):
        for which in (0, 1):
            yield Unit((which,), size, SeedSequence([seed, batch, which]))


@dataclass(frozen=True)
class Speed:
    """What one run took: seconds of the clock, of this process's CPU, its tasks, samples nobody needed, a digest."""

    seconds: float
    own: float
    tasks: int
    unused: int
    digest: str


def timed(function: Callable[..., Any], samples: int, jobs: int, cluster: str | None, seed: int = 0) -> Speed:
    """Batches of both datasets in order, on workers that have started before."""
    runner, digest = Runner(jobs, cluster=cluster), hashlib.sha256()
    runner.repeatable = True
    tasks: list[int] = []
    try:
        if runner.has_workers:
            runner.executor = Counted(runner.workers())
            warm(runner)
        TASKS.clear()
        begun, own = time.perf_counter(), time.process_time()
        for outputs in runner.run(target_of(function), units(samples, seed), 2 * samples):
            digest.update(outputs.reals.tobytes())
        spent, own = time.perf_counter() - begun, time.process_time() - own
        tasks = TASKS.copy()
        return Speed(spent, own, len(tasks), runner.unused, digest.hexdigest()[:12])
    finally:
        runner.close()


def warm(runner: Runner) -> None:
    """Have every worker import what it needs."""
    pool = runner.workers()
    # what is found out once about all modules that are imported
    pool.share(target_of(sleeps))
    for _ in range(3):
        for each in [pool.submit(imports) for _ in range(4 * pool.capacity)]:
            each.result(120)
    runner.are_ready()
    for future in runner._ready:
        future.result(120)


def imports() -> None:
    """What a worker imports for its first samples, and a moment, so that others get a call too."""
    import dpaudit.subjects.target  # noqa: F401

    time.sleep(0.05)


def each_task(jobs: int, cluster: str | None, tasks: int) -> tuple[float, float]:
    """Seconds of the clock and of this process's CPU for one task that does nothing, of many."""
    runner = Runner(jobs, cluster=cluster)
    try:
        warm(runner)
        begun, own = time.perf_counter(), time.process_time()
        for _ in runner.calls(runners._run, (([],) for _ in range(tasks))):
            pass
        return (time.perf_counter() - begun) / tasks, (time.process_time() - own) / tasks
    finally:
        runner.close()


def target_of(function: Callable[..., Any]) -> FunctionTarget:
    return function_target(function, function.__name__, "here")


def speed_tables(folder: Path) -> tuple[list[str], list[str]]:
    """Tables of speed, and what is wrong."""
    samples, faults = (60 if QUICK else 400), []
    lines = [
        f"50 ms a call, {samples} samples per dataset:", "",
        "| samples drawn by | seconds | faster by | tasks | parent's CPU of a task, ms | digest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    late = [
        "50 ms a call, and one in a hundred takes a second, on 8 workers; ideal is the sum of all calls by 8:", "",
        "| samples drawn by | seed | ideal, seconds | seconds | times the ideal | samples that were not needed |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    small = ["| workers | tasks | clock of a task, ms | parent's CPU of a task, ms |", "| --- | --- | --- | --- |"]
    alone: Speed | None = None

    def measure(name: str, jobs: int, cluster: str | None) -> None:
        nonlocal alone
        one = timed(sleeps, samples, jobs, cluster)
        alone = alone or one
        if one.digest != alone.digest:
            faults.append(f"{name}: another digest of samples")
        own = f"{1000 * one.own / one.tasks:.1f}" if one.tasks else "–"
        lines.append(
            f"| {name} | {one.seconds:.2f} | {alone.seconds / one.seconds:.2f} | {one.tasks or '–'} | {own} | "
            f"{one.digest} |"
        )
        say(lines[-1])
        if jobs == 8 or cluster:
            for seed in range(1 if QUICK else 3):
                at_once = Runner().run(target_of(would_take), units(samples, seed))
                whole = sum(outputs.reals.sum() for outputs in at_once)
                slow = timed(straggles, samples, jobs, cluster, seed)
                late.append(
                    f"| {name} | {seed} | {whole / 8:.2f} | {slow.seconds:.2f} | {8 * slow.seconds / whole:.2f} | "
                    f"{slow.unused} |"
                )
                say(late[-1])
        if jobs > 1 or cluster:
            number = 200 if QUICK else 2000
            clock, own_time = each_task(jobs, cluster, number)
            small.append(f"| {name} | {number:,} | {1000 * clock:.2f} | {1000 * own_time:.2f} |")
            say(small[-1])

    measure("serial", 1, None)
    measure("loky 2", 2, None)
    measure("loky 8", 8, None)
    with dask_cluster(folder / "speed", f"machines-{os.getpid()}-speed", 8) as cluster:
        measure("dask 8", 1, cluster.address)
    return [*lines, "", *late, "", "Tasks that do nothing:", "", *small], faults


# --- both ---


def say(text: str) -> None:
    """Progress."""
    print(f"{time.monotonic() - BEGUN:6.0f} s  {text}", file=sys.stderr, flush=True)


BEGUN = time.monotonic()


def main() -> None:
    """Print the tables."""
    os.environ["DPAUDIT_JOURNAL"] = "off"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        try:
            speed, faults = speed_tables(Path(name))
            found = all_results(Path(name))
        finally:
            end(f"machines-{os.getpid()}")
    compared, more = table(found)
    faults += [*more, *ERRORS]
    import dask
    import ray

    lines = [
        "# One result on any number of machines",
        "",
        f"`python benchmarks/machines.py{' --quick' if QUICK else ''} --write`; {os.cpu_count()} cores, "
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, dask {dask.__version__}, "
        f"ray {ray.__version__}.",
        "",
        "## The same result",
        "",
        f"Audited: functions of {1000 * CALL:g} ms a call that return a number, a vector of three, or an integer or a "
        f"text, {RUNS} samples per dataset; a mechanism of the catalogue (ReleaseThresholds, 2^16 values), from "
        "samples alone; a search for pairs, the best two of which are tried; and three functions in one command, the "
        "last two of which are whole audits side by side where there are workers. A digest is that of all audits of "
        "the result as JSON, without timings. Where results arrive in an order, calls are made in it by a thread of "
        "the same process: all that wait, from the first to the last, from the last to the first, or shuffled. The "
        f"killed ones are killed by SIGKILL {KILLED[0]:g} to {KILLED[1]:g} s after their first samples, and given "
        "again with the same journal. Samples that were drawn twice or were not needed count among those drawn by "
        "workers.",
        "",
        *compared,
        "",
        "## Speed",
        "",
        "The learning phase of an audit without its learner; workers were started before, and the processes share two "
        "cores.",
        "",
        *speed,
    ]
    if faults:
        lines += ["", "## Not as it must be", "", *(f"- {fault}" for fault in faults)]
    print("\n".join(lines))
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    say("done")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    if "--one" in sys.argv:
        at = sys.argv.index("--one")
        given = json.loads(sys.argv[at + 1])
        run_configuration(
            Configuration(**{key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}),
            Path(sys.argv[at + 2]),
        )
    else:
        main()
