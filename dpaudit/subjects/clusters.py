"""Clusters of dask and of ray as executors: units of samples on workers of any number of machines.

A cluster is somebody else's: dpaudit connects to it, hands it calls, and leaves it as it was. Workers are processes
with the same Python, dpaudit and numerical libraries; one with others is refused, because samples would depend on who
draws them. A worker asks for what many calls need (a function, a dataset) when it does not have it, by its hash, so it
may come, die and be replaced at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import pickle
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

import cloudpickle

from dpaudit.errors import ClusterError, DpauditError, UsageError
from dpaudit.extras import install_command
from dpaudit.subjects import by_value
from dpaudit.subjects.code_key import is_of_library
from dpaudit.subjects.executors import Executor, NotHereError, Shared, T, keep_value

PACKAGES = ("dpaudit", "numpy", "scipy", "cloudpickle")
"""Packages whose versions must be the same everywhere."""
PATIENCE = 15.0
"""Seconds in which a scheduler must answer."""
WITHOUT_WORKERS = 40.0
"""Seconds in which a dask cluster must replace workers that have died."""
ASKED_EVERY = 10.0
"""Seconds between two times that one asks whether it does."""
_LOGS = ("distributed", "distributed.client", "distributed.core", "distributed.comm", "tornado.application", "asyncio")
_ONE_AT_A_TIME = threading.Lock()


def connected(address: str) -> Executor:
    """The executor of a cluster.

    Args:
        address: of a dask scheduler ("tcp://host:8786", "tls://…"), "ray" for the ray cluster of this machine, or
            "ray://host:10001".

    Raises:
        UsageError: the address is none, or the package is not installed.
        ClusterError: nobody answers there, there are no workers, or they have other versions.
    """
    kind = Ray if address == "ray" or address.startswith("ray://") else Dask if "://" in address else None
    if kind is None:
        raise UsageError(
            f"{address!r} is no address of a cluster; write that of a dask scheduler, such as tcp://host:8786, or ray, "
            "or ray://host:10001."
        )
    return kind(address)


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """What workers must have in common."""
    return _asking_versions()()


def _call(
    wanted: Mapping[str, str], function: bytes, given: Mapping[str, bytes], arguments: tuple[Any, ...]
) -> tuple[bool, Any]:
    """In a worker: whether the call was made, and its result; if not, the hash of what is missing.

    Raises:
        ClusterError: this worker has other versions.
    """
    if wanted != versions():
        # it came after the others were asked
        raise ClusterError(_differing("A worker", versions(), wanted))
    # threads of one worker would share what a function keeps, and what it prints
    with _ONE_AT_A_TIME:
        for key, content in given.items():
            keep_value(key, pickle.loads(content))
        try:
            return True, cloudpickle.loads(function)(*arguments)
        except NotHereError as error:
            return False, error.key


def _differing(who: str, there: Mapping[str, str], here: Mapping[str, str]) -> str:
    name = next(name for name in here if there.get(name) != here[name])
    has = there.get(name, "unknown")
    its = f"no {name}" if has == "unknown" else f"{name} {has}"
    return f"{who} of the cluster has {its}, and this process {name} {here[name]}; install the same version in both."


class Cluster(ABC):
    """What clusters have in common.

    Args:
        address: of the cluster.
    """

    capacity: int
    losses = 2
    """Clusters themselves try a call several times."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._contents: dict[str, bytes] = {}
        self._running: set[Future[Any]] = set()
        self._asked = time.monotonic()

    def submit(self, function: Callable[..., T], /, *args: Any) -> Future[T]:
        """Have a function called in a worker."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        self._running.add(future)
        self._send(future, by_value.dumps(function), args, ())
        return future

    def share(self, value: object) -> Shared:
        """A value for the arguments of many calls; workers get it when they first need it."""
        with _by_value():
            content = by_value.dumps(value)
        key = hashlib.sha256(content).hexdigest()
        self._contents[key] = content
        return Shared(key, None)

    def drop(self) -> None:
        """Do nothing: what the cluster has was begun with its submission."""
        return

    def restart(self) -> None:
        """Do nothing: the cluster replaces workers that have died, and the others go on."""
        return

    def check(self) -> None:
        """Ask, now and then, whether the cluster is still there.

        Raises:
            ClusterError: it does not answer.
        """
        if time.monotonic() - self._asked < ASKED_EVERY:
            return
        self._ask()
        self._asked = time.monotonic()

    def _send(self, outer: Future[Any], function: bytes, args: tuple[Any, ...], keys: tuple[str, ...]) -> None:
        given = {key: self._contents[key] for key in keys}
        inner = self._start(_call, versions(), function, given, args)
        inner.add_done_callback(lambda ended: self._ended(ended, outer, function, args))

    def _ended(self, inner: Future[Any], outer: Future[Any], function: bytes, args: tuple[Any, ...]) -> None:
        try:
            made, result = self._result(inner)
            if not made:
                self._send(outer, function, args, (result,))
                return
        except BaseException as error:
            self._finish(outer, error=error)
        else:
            self._finish(outer, result)

    def _finish(self, outer: Future[Any], result: object = None, error: BaseException | None = None) -> None:
        # a call that was given up may end all the same
        if outer in self._running:
            self._running.discard(outer)
            if error is None:
                outer.set_result(result)
            else:
                outer.set_exception(error)

    def _give_up(self, error: BaseException) -> None:
        """End every call that has not."""
        for future in list(self._running):
            self._finish(future, error=error)

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The cluster at {self.address} does not answer any more; what was computed is kept in the journal, and "
            "the same command goes on from there."
        )

    @abstractmethod
    def _start(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Have a worker call a function."""

    @abstractmethod
    def _result(self, inner: Future[Any]) -> tuple[bool, Any]:
        """What a call gave.

        Raises:
            BrokenExecutor: its worker died.
            ClusterError: the cluster is gone.
        """

    @abstractmethod
    def _ask(self) -> None:
        """Ask whether the cluster is there.

        Raises:
            ClusterError: it does not answer.
        """

    @abstractmethod
    def close(self) -> None:
        """Leave the cluster."""


class Dask(Cluster):
    """Workers of a dask cluster.

    Args:
        address: of its scheduler.

    Raises:
        UsageError: distributed is not installed.
        ClusterError: nobody answers, there are no workers, or they have other versions.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        distributed = _imported("distributed", "dask")
        self._killed = distributed.KilledWorker
        # they write a traceback for every message that is not answered; what matters of them is said by `check`
        self._logs = {name: logging.getLogger(name).level for name in _LOGS}
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(f"No dask scheduler answers at {address} ({_first_line(error)}).") from None
        try:
            self.capacity = len(self._client.nthreads())
            if not self.capacity:
                raise ClusterError(f"The dask cluster at {address} has no workers.")
            there = self._client.run(_asking_versions())
        except BaseException:
            self.close()
            raise
        for name, found in there.items():
            if found != versions():
                self.close()
                raise ClusterError(_differing(f"The worker {name}", found, versions()))
        self._pool = self._client.get_executor(pure=False, retries=0)
        self._had_workers = time.monotonic()

    def _start(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = self._pool.submit(function, *args)
        return future

    def _result(self, inner: Future[Any]) -> tuple[bool, Any]:
        if inner.cancelled():
            raise self._gone()
        try:
            made, result = inner.result()
        except self._killed as error:
            raise BrokenExecutor(str(error)) from None
        return made, result

    def _ask(self) -> None:
        try:
            workers = self._client.sync(self._client.scheduler.ncores, callback_timeout=PATIENCE)
        except Exception:
            self._give_up(self._gone())
            raise self._gone() from None
        if workers:
            self._had_workers = time.monotonic()
        elif time.monotonic() - self._had_workers > WITHOUT_WORKERS:
            error = ClusterError(
                f"The cluster at {self.address} has had no workers for {WITHOUT_WORKERS:g} seconds; what was computed "
                "is kept in the journal, and the same command goes on from there."
            )
            self._give_up(error)
            raise error

    def close(self) -> None:
        """Leave the cluster."""
        self._give_up(BrokenExecutor("the cluster is left"))
        with contextlib.suppress(Exception):
            self._client.close(timeout=1)
        for name, level in self._logs.items():
            logging.getLogger(name).setLevel(level)


class Ray(Cluster):
    """Workers of a ray cluster.

    Args:
        address: "ray" for the cluster that this process has joined, or that this machine is part of, or
            "ray://host:10001".

    Raises:
        UsageError: ray is not installed.
        ClusterError: nobody answers, or its workers have other versions.
    """

    def __init__(self, address: str) -> None:
        super().__init__(address)
        ray = self._ray = _imported("ray", "ray")
        self._is_own = not ray.is_initialized()
        try:
            if self._is_own:
                ray.init("auto" if address == "ray" else address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (OSError, ValueError, RuntimeError) as error:
            raise ClusterError(f"No ray cluster answers at {address} ({_first_line(error)}).") from None
        try:
            self.capacity = int(ray.cluster_resources().get("CPU", 0))
            if not self.capacity:
                raise ClusterError(f"The ray cluster at {address} has no CPUs.")
            self._remote = ray.remote(num_cpus=1, max_retries=0)(_called)
            found = ray.get(ray.remote(num_cpus=1, max_retries=0)(_asking_versions()).remote(), timeout=60)
        except BaseException as error:
            self.close()
            if isinstance(error, DpauditError | KeyboardInterrupt):
                raise
            raise ClusterError(f"The ray cluster at {address} does not run tasks ({_first_line(error)}).") from None
        if found != versions():
            self.close()
            raise ClusterError(_differing("A worker", found, versions()))

    def _start(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = self._remote.remote(function, *args).future()
        return future

    def _result(self, inner: Future[Any]) -> tuple[bool, Any]:
        errors = self._ray.exceptions
        try:
            made, result = inner.result()
        except (errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            raise BrokenExecutor(_first_line(error)) from None
        except errors.RayTaskError as error:
            raise error.cause from None
        except (errors.RaySystemError, errors.RpcError, ConnectionError):
            raise self._gone() from None
        return made, result

    def _ask(self) -> None:
        answers = threading.Event()

        def ask() -> None:
            with contextlib.suppress(Exception):
                self._ray.cluster_resources()
                answers.set()

        threading.Thread(target=ask, daemon=True, name="dpaudit-ray").start()
        if not answers.wait(PATIENCE):
            raise self._gone()

    def close(self) -> None:
        """Leave the cluster."""
        self._give_up(BrokenExecutor("the cluster is left"))
        if self._is_own:
            with contextlib.suppress(Exception):
                self._ray.shutdown()


def _imported(package: str, extra: str) -> Any:
    """A package that not everybody needs.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return import_module(package)
    except ImportError:
        text = f"A cluster of {extra} needs the package {package}: {install_command(extra)}."
        raise UsageError(text) from None


def _called(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def _asking_versions() -> Callable[[], dict[str, str]]:
    """A function that finds the versions, and is pickled by value: a worker may have no dpaudit."""
    packages = PACKAGES

    def found() -> dict[str, str]:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        there = {"Python": f"{platform.python_implementation()} {platform.python_version()}"}
        for name in packages:
            try:
                there[name] = version(name)
            except PackageNotFoundError:
                there[name] = "unknown"
        if there["dpaudit"] != "unknown":
            from dpaudit.subjects.code_key import own_version

            there["dpaudit"] += f" ({own_version()[:8]})"
        return there

    return found


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


@contextlib.contextmanager
def _by_value() -> Iterator[None]:
    """Pickle modules of the user's project by value: a worker on another machine has none of them."""
    known = cloudpickle.list_registry_pickle_by_value()
    added = [module for name, module in list(sys.modules.items()) if name not in known and _is_of_project(module)]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)


def _is_of_project(module: object) -> bool:
    if not isinstance(module, ModuleType) or sys.modules.get(module.__name__) is not module:
        return False
    return module.__name__ != "__main__" and isinstance(getattr(module, "__file__", None), str) and not is_of_library(
        module.__name__
    )
