"""Where units of samples run: worker processes of this machine, behind `concurrent.futures`.

Order, windows, retries and what counts as a result are the runner's; moving bytes and processes is the executor's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import queue
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dpaudit.subjects import by_value

if TYPE_CHECKING:
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

T = TypeVar("T")
INLINE = 32_768
"""Bytes of a value that go with every call that needs it; larger ones are written to a file once."""
KEPT = 16
"""Values that a worker keeps for later calls."""
LOOKS_AGAIN = 1.0
"""Seconds between two looks of a worker whether the process that started it lives."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Shared:
    """A value that many calls need, pickled by value; a worker unpickles it once.

    Args:
        key: hash of the content.
        content: the bytes, if they go with every call.
        path: the file of them, if they are many; with neither, the worker must have the value (`keep_value`).
    """

    key: str
    content: bytes | None
    path: Path | None = None

    def value(self) -> Any:
        """The value, in a worker process.

        Raises:
            NotHereError: it does not have it.
        """
        if self.key not in _KEPT:
            content = self.path.read_bytes() if self.path is not None else self.content
            if content is None:
                raise NotHereError(self.key)
            keep_value(self.key, unpacked(content))
        _KEPT.move_to_end(self.key)
        return _KEPT[self.key]


class NotHereError(Exception):
    """A worker does not have a value, and was not given it."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def keep_value(key: str, value: object) -> None:
    """Keep a value for later calls, in a worker process."""
    _KEPT[key] = value
    if len(_KEPT) > KEPT:
        _KEPT.popitem(last=False)


_KEPT = OrderedDict[str, Any]()


def packed(value: object) -> bytes:
    """A value for a worker process.

    It is pickled by value, so that a user's file, a lambda or a notebook's function reaches the worker, and with
    `sys.path`: the worker may have been started before a folder was added.
    """
    return pickle.dumps((list(sys.path), by_value.dumps(value)))


def unpacked(content: bytes) -> Any:
    """The value of `packed`, in a worker process."""
    path, value = pickle.loads(content)
    sys.path[:] = path
    return pickle.loads(value)


def called(function: Shared, *args: Any) -> Any:
    """In a worker: the result of a shared function."""
    return function.value()(*args)


class Executor(Protocol):
    """What a runner needs of worker processes.

    Args:
        capacity: calls that run at once.
        losses: how often a call must be lost with its worker before its function is blamed: other things end processes.
    """

    capacity: int
    losses: int

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Have a function called in a worker; its arguments are pickled."""

    def share(self, value: object) -> Shared:
        """A value for the arguments of many calls."""

    def drop(self) -> None:
        """Give up the calls that have not begun, where that can be known; they never end."""

    def restart(self) -> None:
        """Begin anew after a worker has died, if calls that others do are lost with it."""

    def check(self) -> None:
        """Ask, now and then, whether the workers can still be reached.

        Raises:
            ClusterError: they cannot.
        """

    def close(self) -> None:
        """End the workers, whatever they do."""


class Workers:
    """Worker processes of this machine, started as they are needed; they end when this process does.

    Args:
        capacity: how many.
    """

    losses = 4

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._pool: ProcessPoolExecutor | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Have a function called in a worker."""
        if self._pool is None:
            # most audits end before worker processes are worth their start, so that what starts them is imported then
            from joblib.externals.loky.process_executor import ProcessPoolExecutor

            # it replaces a worker whose memory has grown by 300 MB, and nothing is lost
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
            each = str(max(1, (os.cpu_count() or 1) // self.capacity))
            self._pool = ProcessPoolExecutor(
                self.capacity, initializer=_end_with, initargs=(os.getpid(),),
                env={name: each for name in _THREADS if name not in os.environ},
            )
        future: Future[T] = self._pool.submit(function, *args)
        return future

    def share(self, value: object) -> Shared:
        """A value for the arguments of many calls."""
        content = packed(value)
        key = hashlib.sha256(content).hexdigest()
        if len(content) <= INLINE:
            return Shared(key, content)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dpaudit-", ignore_cleanup_errors=True)
        path = Path(self._folder.name) / key
        path.write_bytes(content)
        return Shared(key, None, path)

    def drop(self) -> None:
        """Give up the calls that have not begun."""
        if self._pool is not None:
            # cancelled futures would make loky's thread fail when it ends
            with contextlib.suppress(queue.Empty):
                while True:
                    self._pool._pending_work_items.pop(self._pool._work_ids.get_nowait(), None)

    def restart(self) -> None:
        """Begin anew."""
        if self._pool is not None:
            # loky's thread looks for the calls of these numbers, which it has forgotten when it has killed the workers
            with contextlib.suppress(queue.Empty):
                while True:
                    self._pool._work_ids.get_nowait()
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def check(self) -> None:
        """They are on this machine: a worker that dies is noticed."""

    def close(self) -> None:
        """End the workers."""
        self.restart()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it does; an interrupt is that process's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while _lives(parent):
            time.sleep(LOOKS_AGAIN)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="dpaudit-parent").start()


def _lives(process: int) -> bool:
    if hasattr(os, "getppid") and os.name == "posix":
        return os.getppid() == process
    import psutil

    return bool(psutil.pid_exists(process))
