"""Units of work, in order, on one process or several, within a time limit."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from numpy.random import SeedSequence

from dpaudit.errors import ClusterError, MechanismError, TimeLimitError
from dpaudit.interpret import Counted, Drawn, Outputs, merged, summed
from dpaudit.journal import WRITTEN_EVERY, Journal
from dpaudit.outputs.canonical import shown
from dpaudit.outputs.plain_json import abridged
from dpaudit.subjects.clusters import connected
from dpaudit.subjects.command import end_commands
from dpaudit.subjects.executors import Executor, Shared, Workers
from dpaudit.subjects.kept_samples import KeptSamples
from dpaudit.subjects.recorded import RecordedTarget
from dpaudit.subjects.target import FunctionTarget, MechanismTarget, Target, Unit, drawn
from dpaudit.subjects.user_errors import StopNow, guarded, unheard
from dpaudit.supervision import until

_T = TypeVar("_T")
WORTH_A_POOL = 3.0
"""Seconds of work left that are worth starting worker processes for."""
WORTH_STARTING = 0.5
"""Seconds of work done before they are started: most audits end before."""
TASK = 0.1
"""Seconds that one call in a worker process should take."""
WINDOW = 8
"""Most tasks for each worker process that are not taken yet: a slow one at their head holds up no others."""
QUEUED = 2
"""Most of them that are not done: a worker process has its next one at hand."""
PAUSES = 2.0
"""The next pause between two requests for outputs is taken to be at most this many times the longest so far: a learner
refits when its samples have grown by about as much. Enough tasks wait for the workers to fill it."""
DEEPEST = 100
"""Most tasks for each worker process that wait for that reason."""
LOOKS = 10.0
"""Seconds after which one looks whether workers can still be reached."""
LATE, LATER = 1.0, 4.0
"""A task is late after this many seconds, and this many times what such tasks take."""
FOREVER = 1e8
"""Seconds beyond which a time limit is none; longer ones overflow timers."""
INSIST = 0.5
"""Seconds after which a function that ignored the time limit is interrupted again."""


@dataclass
class Runner:
    """Runs units; results come in the units' order, whatever the number of workers.

    Args:
        jobs: worker processes at most.
        seconds: time limit over everything that this runner does; None for none.
    """

    jobs: int = 1
    seconds: float | None = None
    started: float = field(default_factory=time.monotonic)
    pace: dict[str, float] = field(default_factory=dict)
    """Seconds that a run of a target took, the last time it was asked for some in this process."""
    unused: int = 0
    """Runs that worker processes have begun, or done, and that were not needed."""
    share: float = 1.0
    """The part of the time left that the present audit may plan with, so that audits after it have theirs."""
    journal: Journal = field(default_factory=lambda: Journal("", None))
    """What an interrupted command has computed; by default nothing is kept."""
    kept: KeptSamples | None = None
    """What an interrupted audit has drawn, and what this one draws."""
    repeatable: bool = False
    """Whether outputs follow from the seeds alone, so that it does not matter if a call is made twice."""
    cluster: str | None = None
    """The address of a cluster whose workers to use, instead of some of this machine."""
    lost: ClusterError | None = None
    """Why the cluster is not used any more."""
    executor: Executor | None = None
    """Worker processes, from when they are worth their start."""
    _ready: list[Future[None]] = field(default_factory=list)

    @property
    def left(self) -> float | None:
        """Seconds until the limit."""
        if self.seconds is None or self.seconds >= FOREVER:
            return None
        return self.seconds - (time.monotonic() - self.started)

    @property
    def has_workers(self) -> bool:
        """Whether worker processes may do something."""
        return self.jobs > 1 or self.cluster is not None

    @property
    def parallel(self) -> int:
        """How many samples may be drawn at the same time.

        Raises:
            ClusterError: as of `workers`.
        """
        return self.jobs if self.cluster is None else self.workers().capacity

    @contextlib.contextmanager
    def within(self, share: float) -> Iterator[None]:
        """What runs inside has this share of the time that is left; without a limit there is none inside either."""
        limit, left = self.seconds, self.left
        if left is not None:
            self.seconds = time.monotonic() - self.started + share * left
        try:
            yield
        finally:
            self.seconds = limit

    def run(
        self, target: Target, units: Iterable[Unit], runs: int | None = None
    ) -> Generator[Drawn, None, None]:
        """Outputs of every unit, or what was counted in them, in their order.

        Worker processes run ahead of what was taken, by no more runs than were taken, at first by a block each; what
        they do is not needed if no more is taken.

        Args:
            target: what is run.
            units: read as they are needed.
            runs: of all units together; None where later units depend on what was taken, so that none runs ahead.

        Raises:
            TimeLimitError: the limit came; outputs yielded until then are good.
            MechanismError: the target ended its worker process, or does not reach it.
        """
        workers = self.has_workers and runs is not None and target.portable
        kept = self.kept is not None and self.kept.target is target
        if isinstance(target, RecordedTarget) or runs is None or not (workers or kept):
            for unit in units:
                yield self._here(target, unit)
            return
        with contextlib.closing(_Ahead(self, target, units, runs, workers=workers)) as ahead:
            yield from ahead.outputs()

    def _here(self, target: Target, unit: Unit) -> Drawn:
        """The outputs of a unit, in this process."""
        begun = time.monotonic()
        with self.limited():
            outputs = drawn(target, unit)
        # small units overstate what a run costs, so the last one counts
        self.pace[target.name] = (time.monotonic() - begun) / unit.runs
        return outputs

    def workers(self) -> Executor:
        """The worker processes, until `close`.

        Raises:
            ClusterError: there is no cluster, or there was one and it does not answer.
        """
        if self.executor is None:
            if self.lost is not None:
                raise self.lost
            self.executor = Workers(self.jobs) if self.cluster is None else connected(self.cluster)
        return self.executor

    def are_ready(self) -> bool:
        """Whether worker processes have started; the first time that one asks they are told to."""
        if self.cluster is not None:
            # they have said their versions
            return True
        if not self._ready:
            pool = self.workers()
            self._ready = [pool.submit(_nothing) for _ in range(pool.capacity)]
        return any(each.done() for each in self._ready)

    def calls(self, function: Callable[..., _T], arguments: Iterable[tuple[Any, ...]]) -> Iterator[_T]:
        """What a function gives in worker processes for each of several arguments, in their order.

        Raises:
            TimeLimitError: the limit came.
            BrokenExecutor: a worker died.
        """
        pool, waiting = self.workers(), deque[Future[_T]]()
        for each in arguments:
            waiting.append(pool.submit(function, *each))
            if len(waiting) >= 2 * pool.capacity:
                yield self.result(waiting.popleft())
        while waiting:
            yield self.result(waiting.popleft())

    def result(self, future: Future[_T]) -> _T:
        """The result of a call.

        Raises:
            TimeLimitError: the limit came.
            BrokenExecutor: a worker died.
        """
        try:
            # no timer: it would come at the same moment as the end of this wait
            return future.result(self.time_to_wait())
        except TimeoutError:
            raise TimeLimitError(_LIMIT) from None

    def time_to_wait(self) -> float | None:
        """Seconds until the limit, for a wait that ends by itself; None without one.

        Raises:
            TimeLimitError: it has come.
        """
        left = self.left
        if left is not None and left <= 0:
            raise TimeLimitError(_LIMIT)
        return left

    def close(self) -> None:
        """End the worker processes, if any: later ones must see the user's modules as they are then.

        Commands that were started here end too.
        """
        end_commands()
        if self.executor is not None:
            self.executor.close()
            self.executor = None
            self._ready = []

    @contextlib.contextmanager
    def limited(self, grace: float = 0.0) -> Iterator[None]:
        """Interrupt what runs inside when the limit comes (in the main thread; elsewhere it is only checked before).

        Args:
            grace: so many seconds later, where processes that have the same limit are waited for.
        """
        left = self.left
        if left is None:
            yield
            return
        left += grace
        if left <= 0:
            raise TimeLimitError(_LIMIT)
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            yield
            return

        # around the timer: messages to the supervisor must not be interrupted either
        with until(left), _timer(left):
            yield

    @contextlib.contextmanager
    def guarded(self, name: str) -> Iterator[None]:
        """Run somebody else's code within the time limit.

        Raises:
            TimeLimitError: the limit came.
            MechanismError: as `user_errors.guarded`.
        """
        with self.limited(), guarded(name):
            yield


@contextlib.contextmanager
def _timer(left: float) -> Iterator[None]:
    """Interrupt what runs inside after so many seconds.

    Raises:
        TimeLimitError: it was interrupted.
    """
    armed = True

    def stop(signum: int, frame: object) -> None:
        if armed:
            raise StopNow

    before, hook = signal.signal(signal.SIGALRM, stop), sys.unraisablehook
    try:
        sys.unraisablehook = unheard(StopNow)
        try:
            # the limit may come as soon as the timer is set
            signal.setitimer(signal.ITIMER_REAL, left, INSIST)
            yield
        finally:
            # an assignment is not interrupted, and the calls below must not be: the timer would go on for ever
            armed = False
    except StopNow:
        raise TimeLimitError(_LIMIT) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook


def _nothing() -> None:
    """What the first call of every worker does."""


def _run(work: Sequence[tuple[Shared, int, SeedSequence, int]]) -> tuple[float, list[Drawn]]:
    """Parts of units in a worker process: (what they share, runs, seed, runs before them); the seconds they took."""
    begun = time.monotonic()
    found = []
    for shared, runs, seed, first in work:
        target, dataset, count = shared.value()
        found.append(drawn(target, Unit(dataset, runs, seed, first, count)))
    return time.monotonic() - begun, found


def _merged(parts: Sequence[Drawn]) -> Drawn:
    """The parts of one unit, all of which are outputs or all are counts."""
    whole = [part for part in parts if isinstance(part, Outputs)]
    return merged(whole) if whole else summed([part for part in parts if isinstance(part, Counted)])


@dataclass(eq=False)
class _Task:
    """Parts of units, one after another in the plan, that a worker runs together."""

    parts: list[Unit]
    found: list[Drawn] | None = None
    """Their outputs, of a task whose outputs are kept."""
    futures: list[Future[tuple[float, list[Drawn]]]] = field(default_factory=list)
    sent: float = 0.0
    losses: int = 0
    """How often it was lost with a worker that it may have ended."""

    @property
    def is_lost(self) -> bool:
        """Whether its worker died."""
        return self.done is not None and isinstance(self.done.exception(), BrokenExecutor)

    @property
    def runs(self) -> int:
        return sum(part.runs for part in self.parts)

    @property
    def done(self) -> Future[tuple[float, list[Drawn]]] | None:
        """The first of its calls that has ended well; if none will, one that has not."""
        ended = [each for each in self.futures if each.done()]
        good = next((each for each in ended if each.exception() is None), None)
        return good or (ended[0] if len(ended) == len(self.futures) > 0 else None)

    @property
    def is_done(self) -> bool:
        return self.found is not None or self.done is not None


class _Ahead:
    """Units in parts: those that are kept, and others here or on worker processes, a window ahead of what was taken.

    Args:
        runner, target, units: as of `Runner.run`.
        runs: of all units together.
        workers: whether worker processes can do them.
    """

    def __init__(
        self, runner: Runner, target: MechanismTarget | FunctionTarget, units: Iterable[Unit], runs: int, *,
        workers: bool,
    ) -> None:
        self.runner, self.target, self.rest, self.workers = runner, target, runs, workers
        self.kept = runner.kept if runner.kept is not None and runner.kept.target is target else None
        self.units, self.parts = iter(units), deque[Unit]()
        self.planned = deque[Unit]()
        """Units of which not all parts have been taken."""
        self.waiting = deque[_Task]()
        self.arrived = SimpleQueue[tuple[_Task, Future[Any]]]()
        """Calls that have ended, by threads of the executor."""
        self.running = 0
        """Calls that have not."""
        self.over = False
        """Whether there are no more units."""
        self.unsent = deque[_Task]()
        """Tasks that were lost with a worker, and are to be sent again."""
        self.suspects = deque[_Task]()
        """Those that were lost so often that they are done alone."""
        self.looked = 0.0
        """When one last looked for late tasks."""
        self.flying = self.taken = 0
        self.pause = 0.0
        """The longest time until more outputs were asked for."""
        self.shared: dict[tuple[int, int], tuple[Unit, Shared]] = {}
        self.begun = time.monotonic()

    def outputs(self) -> Iterator[Drawn]:
        """The outputs of every unit."""
        got: list[Drawn] = []
        missing = 0
        for number, outputs in self._parts():
            got.append(outputs)
            missing = (missing or self.planned[0].runs) - number
            if not missing:
                self.planned.popleft()
                yield _merged(got)
                got = []

    def close(self) -> None:
        """Give up what nobody will take."""
        if self.waiting and self.runner.executor is not None:
            self.runner.executor.drop()
        for task in self.waiting:
            begun = any(future.running() or future.done() for future in task.futures)
            self.runner.unused += task.runs if begun else 0
        self.waiting.clear()

    def _parts(self) -> Iterator[tuple[int, Drawn]]:
        """(number of runs, outputs) of every part of a unit."""
        while (part := self._next(self._alone())) is not None:
            unit, outputs = part
            if outputs is None and self._worth_workers() and self.runner.are_ready():
                self.parts.appendleft(unit)
                yield from self.on_workers()
                return
            if outputs is None:
                begun = time.monotonic()
                outputs = self.runner._here(self.target, unit)
                if self.kept is not None:
                    self.kept.keep(unit, outputs, time.monotonic() - begun)
            yield unit.runs, outputs
            self._took(unit.runs)

    def _worth_workers(self) -> bool:
        """Whether there is enough to do for worker processes."""
        ahead = self.rest * self.runner.pace.get(self.target.name, 0.0)
        spent = time.monotonic() - self.begun
        return self.workers and ahead > WORTH_A_POOL and (self.runner.executor is not None or spent > WORTH_STARTING)

    def _took(self, runs: int) -> None:
        self.taken += runs
        self.rest -= runs

    def _alone(self) -> int:
        """Runs of one part, where this process does them: it looks after each whether there are workers."""
        pace = self.runner.pace.get(self.target.name, 0.0)
        if self.rest * pace <= WORTH_A_POOL:
            return self.rest
        return self._together() if self.workers else max(1, round(WRITTEN_EVERY / pace))

    def _together(self) -> int:
        """Runs that take about as long as a task should."""
        pace = self.runner.pace.get(self.target.name, 0.0)
        return max(1, round(TASK / pace)) if pace else 1

    def _next(self, most: int) -> tuple[Unit, Drawn | None] | None:
        """The next part of a unit: one that is kept, with its outputs, or about so many runs, in whole blocks."""
        if not self.parts:
            if (unit := next(self.units, None)) is None:
                self.over = True
                return None
            self.planned.append(unit)
            self.parts.append(unit)
        unit = self.parts.popleft()
        block = self.target.block
        size, outputs = max(1, most // block) * block, None
        if self.kept is not None:
            place, outputs = self.kept.next(unit)
            size = place.size if outputs is not None else min(size, place.size)
        if unit.runs <= size:
            return unit, outputs
        self.parts.appendleft(replace(unit, runs=unit.runs - size, first=unit.first + size))
        return replace(unit, runs=size), outputs

    # --- on workers ---

    def on_workers(self) -> Iterator[tuple[int, Drawn]]:
        while True:
            try:
                self._look()
                if self.suspects:
                    self._try_alone(self.suspects.popleft())
                    continue
                while self.unsent:
                    self._send(self.unsent[0])
                    self.unsent.popleft()
                self._fill()
                if not self.waiting and self.over:
                    return
                if not self.waiting or not self.waiting[0].is_done:
                    self._arrive()
                    continue
                found = self._found(self.waiting[0])
            except BrokenExecutor:
                self.runner.workers().restart()
                self._lost()
                continue
            task = self.waiting.popleft()
            self.flying -= task.runs
            for part, outputs in zip(task.parts, found, strict=True):
                self._took(part.runs)
                given = time.monotonic()
                yield part.runs, outputs
                self.pause = max(self.pause, time.monotonic() - given)

    def _lost(self) -> None:
        """What was lost with a worker is done again; what was lost several times, one task at a time."""
        most = self.runner.workers().losses
        for task in self.waiting:
            if task.is_lost:
                task.losses += 1
                task.futures = []
        again = [task for task in self.waiting if task.found is None and not task.futures]
        self.unsent = deque(task for task in again if task.losses < most // 2)
        self.suspects = deque(task for task in again if task.losses >= most // 2)

    def _try_alone(self, task: _Task) -> None:
        """Do a task while nothing else is done; if its worker ends, its parts one by one.

        Raises:
            BrokenExecutor: a worker had died before.
            MechanismError: its only part was lost too often.
        """
        # those of a cluster go on, and one of them may be what ended the worker, which it could do again
        while self.running:
            self._arrive()
        self._send(task)
        while not task.is_done:
            self._arrive()
        if not task.is_lost:
            return
        pool = self.runner.workers()
        pool.restart()
        task.losses += 1
        task.futures = []
        if len(task.parts) > 1:
            # one of them did it
            parts = [_Task([part], losses=pool.losses // 2) for part in task.parts]
            at = self.waiting.index(task)
            del self.waiting[at]
            for one in reversed(parts):
                self.waiting.insert(at, one)
            self.suspects.extendleft(reversed(parts))
            return
        if task.losses >= pool.losses:
            (part,) = task.parts
            raise MechanismError(
                f"{self.target.name} ended its worker process {task.losses} times on {abridged(shown(part.dataset))} "
                f"(seed {part.seed.entropy}, from sample {part.first} on)."
            )
        self.suspects.appendleft(task)

    def _found(self, task: _Task) -> list[Drawn]:
        """The outputs of a task that is done.

        Raises:
            BrokenExecutor: its worker died; and what the target raised.
        """
        if task.found is not None:
            return task.found
        assert task.done is not None
        seconds, found = task.done.result()
        self.runner.pace[self.target.name] = seconds / task.runs
        return found

    def _arrive(self) -> None:
        """Wait until a call has ended, and keep what it gave: it may be long before it is taken.

        Raises:
            TimeLimitError: the limit came.
        """
        late, left = self._late(), self.runner.time_to_wait()
        with contextlib.suppress(Empty):
            self._arrived(*self.arrived.get(timeout=min(LOOKS, late or LOOKS, LOOKS if left is None else left)))
        self._look()
        self.runner.workers().check()
        if late is not None:
            self._send_late_again()

    def _look(self) -> None:
        """Keep what has ended, without waiting."""
        with contextlib.suppress(Empty):
            while True:
                self._arrived(*self.arrived.get_nowait())

    def _arrived(self, task: _Task, future: Future[tuple[float, list[Drawn]]]) -> None:
        self.running -= 1
        if self.kept is not None and task.done is future and future.exception() is None:
            seconds, found = future.result()
            for part, outputs in zip(task.parts, found, strict=True):
                self.kept.keep(part, outputs, seconds * part.runs / task.runs)

    def _late(self) -> float | None:
        """Seconds until one looks for tasks that are late; None where none is to be done twice."""
        if self.suspects or not self.runner.repeatable or self.running >= self.runner.workers().capacity:
            # whatever was idle would do fresh ones; a copy of what depends on more than its seed is another sample
            return None
        return max(LATE, LATER * TASK)

    def _send_late_again(self) -> None:
        """Where workers have nothing else to do, they do again what takes much longer than such tasks take."""
        now = time.monotonic()
        if now - self.looked < LATE:
            return
        self.looked = now
        usual = self.runner.pace.get(self.target.name, 0.0)
        for task in self.waiting:
            if self.running >= self.runner.workers().capacity:
                return
            since = now - task.sent
            # most are not late: what is quick to find out comes first
            if since > LATE and len(task.futures) == 1 and since > LATER * usual * task.runs and not task.is_done:
                self.runner.unused += task.runs
                self._send(task)

    def _fill(self) -> None:
        """Submit tasks up to the window's end."""
        pool = self.runner.workers()
        together = self._together()
        # of a slow function a block takes longer than a task should: at first every worker has one all the same
        window = max(self.taken, pool.capacity * self.target.block)
        queued = pool.capacity * self._queued()
        waiting = queued + (WINDOW - QUEUED) * pool.capacity
        while len(self.waiting) < waiting and self.flying < window and self.running < queued:
            # small tasks at first, and at the end: all workers have some
            most = max(1, min(together, self.rest // (4 * pool.capacity), window // (2 * pool.capacity)))
            parts: list[Unit] = []
            kept: tuple[Unit, Drawn] | None = None
            while (some := most - sum(part.runs for part in parts)) > 0 and (part := self._next(some)) is not None:
                unit, outputs = part
                if outputs is not None:
                    kept = unit, outputs
                    break
                parts.append(unit)
            if parts:
                self._add(_Task(parts))
            if kept is not None:
                self._add(_Task([kept[0]], [kept[1]]))
            if not parts and kept is None:
                return

    def _queued(self) -> int:
        """How many unfinished tasks each worker may have: nothing is submitted until more outputs are asked for."""
        if self.runner.cluster is not None:
            # a cluster runs them even if they are not needed any more, and a function that ends its worker ends many
            return QUEUED
        usual = max(TASK, self.runner.pace.get(self.target.name, 0.0) * self.target.block)
        return max(QUEUED, min(DEEPEST, math.ceil(PAUSES * self.pause / usual)))

    def _add(self, task: _Task) -> None:
        self.flying += task.runs
        self.waiting.append(task)
        if task.found is None:
            self._send(task)

    def _send(self, task: _Task) -> None:
        work = [(self._with_target(part), part.runs, part.seed, part.first) for part in task.parts]
        future = self.runner.workers().submit(_run, work)
        task.futures.append(future)
        task.sent = time.monotonic()
        self.running += 1
        arrived = self.arrived
        future.add_done_callback(lambda ended: arrived.put((task, ended)))

    def _with_target(self, unit: Unit) -> Shared:
        """The target, a dataset and what is counted, for workers."""
        key = id(unit.dataset), id(unit.count)
        if key not in self.shared:
            with guarded(self.target.name):
                # the unit with it, so that no other object has one of these ids
                self.shared[key] = unit, self.runner.workers().share((self.target, unit.dataset, unit.count))
        return self.shared[key][1]


_LIMIT = "The time limit ran out"
