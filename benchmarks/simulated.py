"""A cluster that is not there: workers on a clock of its own, behind the executor that `dpaudit.subjects.runner` uses.

The runner's code is the product's: what it submits, when, in which order, and what it sends twice. Only its clock and
the queue of calls that have ended are replaced. Three things take time on that clock: samples, on the workers; the
executor's work for every call and the learner's, in the process of the audit; and the CPU time that the runner's own
code takes here, as it is measured while it runs.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty
from typing import Any
from unittest import mock

import numpy as np

from dpaudit.interpret import Counted, Outputs, counted
from dpaudit.subjects import runner
from dpaudit.subjects.executors import Shared
from dpaudit.subjects.kept_samples import KeptSamples
from dpaudit.subjects.runner import Runner

SAMPLE = 10.0
"""Seconds that a sample takes."""
SPREAD = 0.1
"""Standard deviation of their logarithm."""
STRAGGLERS, SLOWER = 0.001, 5.0
"""Share of the samples that take much longer, and how much."""
DRAWN = 1 << 20


class Clock:
    """Seconds since an audit began; what is due happens when it passes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.cpu = 0.0
        """Seconds of CPU that the code of the audit took."""
        self._due: list[tuple[float, int, Future[Any], Any]] = []
        self._calls = itertools.count()
        self._last = time.process_time()

    def monotonic(self) -> float:
        """As `time.monotonic`."""
        return self.now

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """What the audit's code took until now passes; what runs inside takes none."""
        spent = time.process_time() - self._last
        self.cpu += spent
        self.pass_to(self.now + spent)
        try:
            yield
        finally:
            self._last = time.process_time()

    def work(self, seconds: float) -> None:
        """The audit's process does something else for so long."""
        with self.aside():
            self.pass_to(self.now + seconds)

    def at(self, when: float, future: Future[Any], result: object) -> None:
        """A call ends then."""
        heapq.heappush(self._due, (when, next(self._calls), future, result))

    @property
    def next(self) -> float:
        """When the next call ends."""
        return self._due[0][0] if self._due else float("inf")

    def pass_to(self, when: float) -> None:
        """Let time pass."""
        while self._due and self._due[0][0] <= when:
            at, _, future, result = heapq.heappop(self._due)
            self.now = max(self.now, at)
            future.set_result(result)
        self.now = max(self.now, when)


class Arrivals:
    """A `SimpleQueue` on a clock: who waits lets time pass."""

    clock: Clock

    def __class_getitem__(cls, item: object) -> type[Arrivals]:
        return cls

    def __init__(self) -> None:
        self._items = deque[Any]()

    def put(self, item: object) -> None:
        """Add."""
        self._items.append(item)

    def get_nowait(self) -> Any:
        """Take the first.

        Raises:
            Empty: there is none.
        """
        with self.clock.aside():
            pass
        if not self._items:
            raise Empty
        return self._items.popleft()

    def get(self, timeout: float) -> Any:
        """Take the first, at the latest then.

        Raises:
            Empty: there is none.
        """
        with self.clock.aside():
            until = self.clock.now + timeout
            while not self._items and self.clock.next <= until:
                self.clock.pass_to(self.clock.next)
            if not self._items:
                self.clock.pass_to(until)
                raise Empty
            return self._items.popleft()


class Workers:
    """An executor whose workers are numbers: when each is free.

    Args:
        capacity: how many.
        clock: on which they work.
        cost: seconds of the audit's process for every call.
        seed: of how long samples take.
    """

    def __init__(self, capacity: int, clock: Clock, cost: float, seed: int = 1) -> None:
        self.capacity, self.tasks, self.samples = capacity, 0, 0
        self._clock, self._cost = clock, cost
        self._free = [0.0] * capacity
        self._busy: list[tuple[float, float]] = []
        rng = np.random.default_rng(seed)
        each = SAMPLE * rng.lognormal(-SPREAD * SPREAD / 2, SPREAD, DRAWN)
        self._each = np.where(rng.random(DRAWN) < STRAGGLERS, SLOWER * each, each)
        self._at = 0

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """As of `dpaudit.subjects.executors.Executor`; of parts of units, the only calls that there are."""
        with self._clock.aside():
            (work,) = args
            drawn = [(counts if shared.key else outputs)(size) for shared, size, *_ in work]
            runs = sum(size for _, size, *_ in work)
            future: Future[Any] = Future()
            future.set_running_or_notify_cancel()
            self._clock.pass_to(self._clock.now + self._cost)
            begins = max(self._clock.now, heapq.heappop(self._free))
            seconds = self.seconds(runs)
            heapq.heappush(self._free, begins + seconds)
            self._busy.append((begins, begins + seconds))
            self._clock.at(begins + seconds, future, (seconds, drawn))
            self.tasks += 1
            self.samples += runs
        return future

    def seconds(self, runs: int) -> float:
        """That so many samples take one after another."""
        if self._at + runs > DRAWN:
            self._at = 0
        self._at += runs
        return float(self._each[self._at - runs : self._at].sum())

    def busy(self) -> float:
        """Seconds that all workers together have worked until now."""
        now = self._clock.now
        return sum(min(end, now) - begin for begin, end in self._busy if begin < now)

    def share(self, value: Any) -> Shared:
        """What of it matters here: whether samples are counted."""
        _, _, count = value
        return Shared("" if count is None else "counted", b"")

    def drop(self) -> None:
        """What is submitted is begun."""

    def restart(self) -> None:
        """None of them dies."""

    def check(self) -> None:
        """They are there."""

    def close(self) -> None:
        """There is nothing to end."""


@lru_cache(maxsize=1024)
def outputs(runs: int) -> Outputs:
    """So many of them."""
    return Outputs({}, (np.zeros(runs),))


@lru_cache(maxsize=1024)
def counts(runs: int) -> Counted:
    """Of an event, in so many outputs."""
    return counted(outputs(runs), lambda outputs: 0)


@dataclass(frozen=True)
class Slow:
    """A target on this clock.

    Args:
        block: samples that share a random stream, and so a task.
        workers: whose samples they are, where the audit's process draws them.
        clock: of the audit.
    """

    block: int
    workers: Workers
    clock: Clock
    name: str = "slow"
    portable: bool = True

    def runs(self, dataset: object, size: int, seed: object, first: int = 0) -> Outputs:
        """In the audit's process."""
        with self.clock.aside():
            seconds = self.workers.seconds(size)
            self.workers._busy.append((self.clock.now, self.clock.now + seconds))
            self.workers.samples += size
            self.clock.pass_to(self.clock.now + seconds)
            return outputs(size)


@contextlib.contextmanager
def cluster(
    workers: int, block: int, cost: float, kept: Callable[[Any], KeptSamples] | None = None
) -> Iterator[tuple[Runner, Slow, Clock]]:
    """A runner of so many workers, and a target for it; with one worker, the process of the audit itself."""
    clock = Clock()
    executor = Workers(workers, clock, cost)
    target: Any = Slow(block, executor, clock)
    arrivals = type("Arrivals", (Arrivals,), {"clock": clock})
    with mock.patch.object(runner, "time", clock), mock.patch.object(runner, "SimpleQueue", arrivals):
        running = Runner(cluster="simulated" if workers > 1 else None, repeatable=True)
        running.executor = executor if workers > 1 else None
        running.kept = None if kept is None else kept(target)
        with clock.aside():
            pass
        yield running, target, clock
