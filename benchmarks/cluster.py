"""One audit on up to 4,096 workers, simulated.  Run: python benchmarks/cluster.py [--write]

The runner is the product's; workers, their clock and the queue of what has ended are those of `simulated.py`. What the
executors and the learner cost is measured first, on this machine. `--write` puts the tables into cluster.md. It takes
half an hour, most of it the learner. Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import psutil
import simulated
from numpy.random import SeedSequence
from simulated import SAMPLE, SLOWER, SPREAD, STRAGGLERS, cluster

from dpaudit.adversary.events.learner import Learner
from dpaudit.evidence.sampled import _analyses, _batches, _parts
from dpaudit.evidence.sampling import LEARN, Batch, Draws, batches
from dpaudit.interpret import Outputs
from dpaudit.journal import Journal
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.subjects.clusters import connected
from dpaudit.subjects.executors import Executor, Workers
from dpaudit.subjects.kept_samples import KeptSamples
from dpaudit.subjects.runner import _run
from dpaudit.subjects.target import BLOCK, function_target

CALLS, REPEATS = 2_000, 3
AT_ONCE = 100
"""Calls that have been submitted and have not ended, while what they cost is measured."""
NUMBERS = 20
"""Real numbers in an output."""
MACHINES = (1, 16, 256, 4_096)
FORMER_UNIT = 5_000
"""Samples of a unit before samples belonged to blocks."""


def said(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


# --- what executors cost ---


@dataclass(frozen=True)
class Cost:
    """Of a call that does nothing, in seconds: of this process's CPU, of the scheduler's, and until the next one."""

    name: str
    own: float
    scheduler: float
    passed: float


def nothing(data: Any, rng: Any) -> float:
    """A sample that takes no time."""
    return 0.5


def _calls(executor: Executor, number: int) -> None:
    target = function_target(nothing, "nothing", "here")
    shared = [executor.share((target, (which,), None)) for which in (0, 1)]
    ended = queue.SimpleQueue[Any]()
    for at in range(number + AT_ONCE):
        if at < number:
            work = [(shared[at % 2], BLOCK, SeedSequence([0, 0, 0, at % 2, 0, at, 0]), 0)]
            executor.submit(_run, work).add_done_callback(ended.put)
        if at >= AT_ONCE:
            ended.get().result()


def cost_of(name: str, executor: Executor, scheduler: Callable[[], float] = lambda: 0.0) -> Cost:
    """Measure it: the least of several times, as others may use this machine."""
    said(f"{name}: {CALLS:,} calls that do nothing")
    _calls(executor, AT_ONCE)
    found = list[list[float]]()
    for _ in range(REPEATS):
        begun = time.process_time(), scheduler(), time.perf_counter()
        _calls(executor, CALLS)
        ended = time.process_time(), scheduler(), time.perf_counter()
        found.append([(after - before) / CALLS for before, after in zip(begun, ended, strict=True)])
    return Cost(name, *map(min, zip(*found, strict=True)))


def loky() -> Cost:
    """Two worker processes of this machine."""
    executor = Workers(2)
    try:
        return cost_of("loky", executor)
    finally:
        executor.close()


def dask() -> Cost:
    """A scheduler and two workers, each a process of this machine."""
    with tempfile.TemporaryDirectory() as folder, _dask(Path(folder)) as (address, scheduler):
        executor = connected(address)
        try:
            return cost_of("dask", executor, lambda: sum(scheduler.cpu_times()[:2]))
        finally:
            executor.close()


@contextmanager
def _dask(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    import distributed

    file, processes = folder / "scheduler.json", list[subprocess.Popen[bytes]]()

    def start(what: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", "--scheduler-file"]
        processes.append(subprocess.Popen(
            [*command, str(file), *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ))

    try:
        start("scheduler", "--port", "0")
        while not file.exists() or not file.read_text(encoding="utf-8").strip():
            time.sleep(0.1)
        time.sleep(0.5)
        address = str(json.loads(file.read_text(encoding="utf-8"))["address"])
        for _ in range(2):
            start("worker", "--nthreads", "1", "--no-nanny")
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, psutil.Process(processes[0].pid)
    finally:
        for process in processes:
            process.kill()
            process.wait()


# --- what the learner costs ---


@dataclass(frozen=True)
class Learning:
    """Seconds of CPU that the learner takes between batches of so many samples of each dataset, and after the last."""

    samples: int
    pauses: list[float]
    last: float

    @property
    def all(self) -> float:
        """Together."""
        return sum(self.pauses) + self.last


def learning(samples: int, numbers: int) -> Learning:
    """Measure it, with normal vectors of so many numbers whose means differ a little."""
    rng, learner, done = np.random.default_rng(0), Learner(seed=0), 0
    pauses, said_at = list[float](), time.monotonic()
    for size in batches(samples):
        shape = size if numbers == 1 else (size, numbers)
        fresh = [Outputs({}, (rng.normal(0.05 * which, 1, shape),)) for which in (0, 1)]
        begun = time.process_time()
        if done:
            event = learner.choose_event(epsilon=1.0, delta=0.0).event
            for outputs in fresh:
                event.count(outputs)
        learner.add(*fresh)
        pauses.append(time.process_time() - begun)
        done += size
        if time.monotonic() - said_at > 5:
            said(f"learner, {numbers} numbers: {done:,} of {samples:,}")
            said_at = time.monotonic()
    begun = time.process_time()
    learner.refit()
    learner.choose_event(epsilon=1.0, delta=0.0)
    learner.certify(epsilon=1.0, delta=0.0, runs=4 * samples, alpha=0.025)
    return Learning(samples, pauses, time.process_time() - begun)


# --- the simulation ---


@dataclass(frozen=True)
class Simulated:
    """What came of an audit."""

    seconds: float
    learning: float
    """Seconds until the event was chosen."""
    busy: float
    """Share of the workers' time in which they drew samples."""
    own: float
    """Share of the time in which the audit's process did something."""
    tasks: int
    cpu: float
    """Seconds of CPU of the runner for each task, here."""


def audit(
    runs: int, workers: int, cost: float, learned: Learning, *, block: int = BLOCK, journal: Path | None = None
) -> Simulated:
    """One pair with a claim that holds, so that all samples are drawn: `runs` of each dataset."""
    said(f"{2 * runs:,} samples, {block} a task, on {workers:,} workers, {1e3 * cost:.2f} ms a call")
    kept = None if journal is None else partial(_kept, journal)
    pair, first = SimpleNamespace(left=(0,), right=(1,)), learning_runs(runs)
    with cluster(workers, block, cost, kept) as (runner, target, clock):
        job: Any = SimpleNamespace(target=target, label="")
        track: Any = SimpleNamespace(pair=pair, index=0)
        planned = [Batch(track.pair, size, 0, LEARN, number) for number, size in enumerate(batches(first))]
        draws = Draws(job, runner, planned, seed=0, runs=2 * first)
        for pause in learned.pauses:
            draws.next()
            clock.work(pause)
        draws.close()
        clock.work(learned.last)
        learning_ended = clock.now
        sizes = [0, *(size for _, size in _analyses(runs - first, certify=False))]
        parts = list(chain(*(_parts(size - before) for before, size in pairwise(sizes))))
        draws = Draws(job, runner, _batches(track, parts), seed=0, runs=2 * (runs - first), count=_hits)
        said_at = time.monotonic()
        for number in range(len(parts)):
            draws.next_parts()
            if time.monotonic() - said_at > 5:
                said(f"  {sum(parts[: number + 1]):,} of {sum(parts):,} counted")
                said_at = time.monotonic()
        draws.close()
        if runner.kept is not None:
            runner.kept.write()
            runner.kept._journal.write()
        clock.work(0.0)
        did: simulated.Workers = target.workers
        assert did.samples >= 2 * runs
        own = clock.cpu + cost * did.tasks + learned.all
        return Simulated(
            clock.now, learning_ended, did.busy() / (workers * clock.now), own / clock.now, did.tasks,
            clock.cpu / max(1, did.tasks),
        )


def _hits(outputs: Outputs) -> int:
    return 0


def _kept(path: Path, target: Any) -> KeptSamples:
    return KeptSamples(Journal("benchmark", path), target, "code")


def former(runs: int, workers: int, learned: Learning) -> float:
    """Seconds where every batch was waited for, in units of at most so many samples, with nothing else in between."""
    first = learning_runs(runs)
    sizes = [0, *(size for _, size in _analyses(runs - first, certify=False))]
    counted = chain(*(_parts(size - before) for before, size in pairwise(sizes)))
    mean = SAMPLE * (1 + STRAGGLERS * (SLOWER - 1))
    drawn = sum(
        max(min(size, FORMER_UNIT), 2 * size / workers) * mean for size in chain(batches(first), counted)
    )
    return drawn + learned.all if workers > 1 else 2 * runs * mean + learned.all


# --- the tables ---


def shown(seconds: float) -> str:
    """A time."""
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


class Table:
    """Rows, which are also printed as they come.

    Args:
        heads: of the columns.
    """

    def __init__(self, *heads: str) -> None:
        self.lines = list[str]()
        self.add(*heads)
        self.add(*("---" for _ in heads))

    def add(self, *cells: str) -> None:
        """A row."""
        self.lines.append(f"| {' | '.join(cells)} |")
        print(self.lines[-1], flush=True)


def page(called: Table, learner: Table, most: Table, several: Table, causes: Table, runs: int) -> str:
    """The tables, and what they mean."""
    return f"""# One audit on thousands of workers

`python benchmarks/cluster.py --write`; {os.cpu_count()} cores, which other work may have shared,
{platform.machine()}, Python {platform.python_version()}.

Nobody has 4,096 workers at hand, so they are simulated: the product's own `Runner.run`, from `evidence.sampling.Draws`
on, with an executor whose workers are numbers and a clock that jumps to the end of the next call. On this clock a
sample takes {SAMPLE:g} s (log-normal, {SPREAD:.0%}; one in {1 / STRAGGLERS:,.0f} takes {SLOWER:g} times as long).
In the process of the audit every call takes what it took here, the learner too, and so does the runner's own code, as
its CPU is measured while the simulation runs. The claim holds, so that all samples are drawn; the first ones are drawn
in the process of the audit, before anybody knows that they are slow. Networks, workers that come and go, and a dask
scheduler that has more to do for more workers are not simulated.

## What was measured

Milliseconds for each of {CALLS:,} calls that do nothing, on two workers of this machine, the least of {REPEATS} times:
CPU of two processes, and the time that passed, in which scheduler, workers and whatever else runs share the cores.
Simulated is the CPU: of the process of the audit for loky, and of this process and the scheduler together for dask, as
if they took turns on one core; with *a core each* it is the larger of the two.

{_text(called)}

CPU seconds of the learner in one audit, beside sampling. While it learns nothing is submitted: the longest pause is
that after one batch. After the last batch workers have nothing to do until the event is chosen. In the tables below an
output has {NUMBERS} numbers.

{_text(learner)}

## As many tasks as there may be, on {MACHINES[-1]:,} workers

A function that is called once for each output is run in blocks of {BLOCK} samples, which share a random stream, and a
task is at least one block. The rows with one sample a task are what the runner would do if a block were one. *At best*
is all samples' time divided by the workers.

{_text(most)}

## {2 * runs:,} samples of {SAMPLE:g} s

*Formerly* is computed: every batch was waited for before the next one began, and was two units, or as many as
{FORMER_UNIT:,} samples each give; nothing but the longest unit, the number of workers and the learner is counted. One
worker is the process of the audit itself.

{_text(several)}

## What {MACHINES[-1]:,} workers wait for

The last row of the table before, with one thing changed.

{_text(causes)}
"""


def waits(runs: int, cost: float, learned: Learning) -> Table:
    """An audit on the most workers, as it is and with one thing changed each."""
    causes = Table("what is otherwise", "time", "workers busy", "until learned", "runner's CPU, ms a task")
    same = {"SPREAD": 0.0, "STRAGGLERS": 0.0}
    free = replace(learned, pauses=[0.0] * len(learned.pauses), last=0.0)
    with tempfile.TemporaryDirectory() as folder:
        for name, change, arguments in (
            ("nothing", {}, (runs, cost, learned, BLOCK, None)),
            ("calls cost nothing", {}, (runs, 0.0, learned, BLOCK, None)),
            ("the learner takes no time", {}, (runs, cost, free, BLOCK, None)),
            ("all samples take the same time", same, (runs, cost, learned, BLOCK, None)),
            ("a sample a task", {}, (runs, cost, learned, 1, None)),
            ("all of these", same, (runs, 0.0, free, 1, None)),
            ("with a journal", {}, (runs, cost, learned, BLOCK, Path(folder) / "journal.sqlite3")),
        ):
            number, each, learns, block, journal = arguments
            with mock.patch.multiple(simulated, **{"SPREAD": SPREAD, "STRAGGLERS": STRAGGLERS, **change}):
                came = audit(number, MACHINES[-1], each, learns, block=block, journal=journal)
            causes.add(
                name, shown(came.seconds), f"{came.busy:.0%}", shown(came.learning), f"{1e3 * came.cpu:.2f}"
            )
    return causes


def main() -> None:
    costs, called = [loky(), dask()], Table("executor", "process of the audit", "scheduler", "passed for each call")
    for each in costs:
        scheduler = f"{1e3 * each.scheduler:.2f}" if each.scheduler else "–"
        called.add(each.name, f"{1e3 * each.own:.2f}", scheduler, f"{1e3 * each.passed:.2f}")
    of_loky, of_dask = costs
    learned = {
        (samples, numbers): learning(samples, numbers)
        for numbers in (1, NUMBERS) for samples in (10_000, 100_000, 400_000)
    }
    learner = Table("samples of each dataset", "an output", "seconds", "longest pause", "after the last batch")
    for (samples, numbers), one in learned.items():
        learner.add(
            f"{samples:,}", f"{numbers} number{'s' * (numbers > 1)}", f"{one.all:.1f}", f"{max(one.pauses):.1f}",
            f"{one.last:.1f}",
        )
    together, apart = of_dask.own + of_dask.scheduler, max(of_dask.own, of_dask.scheduler)
    kinds = (("loky", of_loky.own), ("dask", together), ("dask, a core each", apart))
    mean = SAMPLE * (1 + STRAGGLERS * (SLOWER - 1))
    most = Table(
        "samples", "in a task", "tasks", "executor", "ms a call", "time", "at best", "workers busy",
        "process of the audit busy", "runner's CPU, ms a task",
    )
    for runs, block in ((500_000, 1), (500_000, BLOCK), (5_000_000, BLOCK)):
        for name, cost in kinds:
            if block > 1 and cost == apart:
                continue
            came = audit(runs, MACHINES[-1], cost, learned[learning_runs(runs), NUMBERS], block=block)
            most.add(
                f"{2 * runs:,}", f"{block}", f"{came.tasks:,}", name, f"{1e3 * cost:.2f}", shown(came.seconds),
                shown(2 * runs * mean / MACHINES[-1]), f"{came.busy:.0%}", f"{came.own:.0%}", f"{1e3 * came.cpu:.2f}",
            )
    runs = 50_000
    slow = learned[learning_runs(runs), NUMBERS]
    several = Table(
        "workers", "executor", "formerly", "now", "at best", "workers busy", "until learned", "runner's CPU, ms a task"
    )
    for workers in MACHINES:
        name, cost = kinds[0] if workers <= 16 else kinds[1]
        came = audit(runs, workers, cost, slow)
        cpu = f"{1e3 * came.cpu:.2f}" if came.tasks else "–"
        several.add(
            f"{workers:,}", name if workers > 1 else "none", shown(former(runs, workers, slow)), shown(came.seconds),
            shown(2 * runs * mean / workers), f"{came.busy:.0%}", shown(came.learning), cpu,
        )
    causes = waits(runs, together, slow)
    text = page(called, learner, most, several, causes, runs)
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


def _text(table: Table) -> str:
    return "\n".join(table.lines)


if __name__ == "__main__":
    main()
