"""Units of work, in order, on one process or several, within a time limit."""

from __future__ import annotations

import contextlib
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import TimeoutError as PoolTimeoutError
from typing import TYPE_CHECKING, Any

from numpy.random import SeedSequence

from dpaudit.errors import MechanismError, TimeLimitError
from dpaudit.interpret import Outputs
from dpaudit.language import Dataset
from dpaudit.subjects import by_value
from dpaudit.subjects.command import end_commands
from dpaudit.subjects.target import Target
from dpaudit.subjects.user_errors import StopNow, guarded, unheard
from dpaudit.supervision import until

if TYPE_CHECKING:
    from joblib import Parallel

WORTH_A_POOL = 3.0
"""Seconds of work left that are worth starting worker processes for."""
FOREVER = 1e8
"""Seconds beyond which a time limit is none; longer ones overflow timers."""
INSIST = 0.5
"""Seconds after which a function that ignored the time limit is interrupted again."""


@dataclass(frozen=True)
class Unit:
    """Some runs on one dataset, with a seed of their own."""

    dataset: Dataset
    runs: int
    seed: SeedSequence


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
    _opened: bool = False

    @property
    def left(self) -> float | None:
        """Seconds until the limit."""
        if self.seconds is None or self.seconds >= FOREVER:
            return None
        return self.seconds - (time.monotonic() - self.started)

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

    def run(self, target: Target, units: Sequence[Unit]) -> Iterator[Outputs]:
        """Outputs of every unit.

        Raises:
            TimeLimitError: the limit came; outputs yielded until then are good.
        """
        done = 0
        while done < len(units):
            rest = sum(unit.runs for unit in units[done:])
            worth = rest * self.pace.get(target.name, 0.0) > WORTH_A_POOL
            if self.jobs > 1 and target.portable and len(units) - done > 1 and worth:
                yield from self._pooled(target, units[done:])
                return
            begun = time.monotonic()
            with self.limited():
                outputs = target.runs(units[done].dataset, units[done].runs, units[done].seed)
            # small batches overstate what a run costs; only large ones are worth a pool, so the last counts
            self.pace[target.name] = (time.monotonic() - begun) / units[done].runs
            yield outputs
            done += 1

    def parallel(self, **how: object) -> Parallel:
        """Worker processes, until `close`."""
        # most audits end before worker processes are worth their start, so that what starts them is imported then
        from joblib import Parallel

        self._opened = True
        return Parallel(n_jobs=self.jobs, **how)

    def close(self) -> None:
        """End the worker processes, if any: later ones must see the user's modules as they are then.

        Commands that were started here end too.
        """
        end_commands()
        if self._opened:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor().shutdown(wait=True, kill_workers=True)
            self._opened = False

    def _pooled(self, target: Target, units: Sequence[Unit]) -> Iterator[Outputs]:
        from joblib import delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        pool = self.parallel(return_as="generator", timeout=self.left, pre_dispatch="2*n_jobs")
        with guarded(target.name):
            payload = packed(target)
        work = iter(pool(delayed(_run_pickled)(payload, unit) for unit in units))
        for _ in units:
            try:
                with self.limited():
                    outputs = next(work)
            except (PoolTimeoutError, TimeoutError):
                raise TimeLimitError(_LIMIT) from None
            except TerminatedWorkerError as error:
                raise MechanismError(f"{target.name} ended its worker process.") from error
            yield outputs

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


def packed(value: object) -> bytes:
    """A value for a worker process.

    It is pickled by value, so that a user's file, a lambda or a notebook's function reaches the worker, and with
    `sys.path`: the worker may have been started by other code before a folder was added.
    """
    return pickle.dumps((list(sys.path), by_value.dumps(value)))


def unpacked(payload: bytes) -> Any:
    """The value of `packed`, in a worker process."""
    path, value = pickle.loads(payload)
    sys.path[:] = path
    return pickle.loads(value)


def _run_pickled(payload: bytes, unit: Unit) -> Outputs:
    """One unit in a worker process."""
    target: Target = unpacked(payload)
    return target.runs(unit.dataset, unit.runs, unit.seed)


_LIMIT = "The time limit ran out"
