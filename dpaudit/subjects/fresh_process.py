"""A process that has never called the audited function: calls that are repeated there show what it keeps between them.

One server process for each process that audits. It is started when a first function is audited, imports dpaudit while
the audit goes on, and makes a child of its own for every audit, so that no audit finds what another one has left.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import cloudpickle

from dpaudit.interpret import Outputs
from dpaudit.subjects import by_value
from dpaudit.subjects.command import INSIDE, end_commands
from dpaudit.subjects.foreign import USER_MODULE
from dpaudit.subjects.target import Target, Unit, module_of_file

PATIENCE = 30.0
"""Seconds for which an answer is awaited; a repeated call that hangs is ended then."""
IMPATIENCE = 2.0
"""The same where the time limit has come."""
LARGEST = 1 << 26
"""Bytes of a pickled function beyond which it is not sent."""

_NEW, _REPEAT, _END = "new", "repeat", "end"
_ORDERLY = 77
"""Exit code of a child that has answered all that it was asked."""


@dataclass
class FreshProcess:
    """A child that has loaded one function.

    Args:
        server: what it is a child of.
        payload: what the child was made from.
        number: of the child; answers carry it.
    """

    server: _Server
    payload: bytes
    number: int

    def repeat(self, units: Sequence[Unit], left: float | None = None) -> list[Outputs] | None:
        """The outputs of units of samples; None where the function does not run there, or not in time.

        Args:
            units: to run.
            left: seconds until the time limit, or since it if negative; None for none.
        """
        end = time.monotonic() + (PATIENCE if left is None else min(PATIENCE, max(left, IMPATIENCE)))
        with _lock:
            if self.server.child != self.number:
                return None  # an audit that began later has taken the server
            try:
                self.server.send(_REPEAT, self.number, list(units))
                while self.server.line.poll(max(0.0, end - time.monotonic())):
                    number, answer = pickle.loads(self.server.line.recv_bytes())
                    if number == self.number:
                        return None if answer is None else list(answer)
            except Exception:  # outputs of classes that are not known here among them
                return None
            self.server.kill()
            return None

    def anew(self) -> FreshProcess:
        """The same with another child, which has called nothing yet."""
        with _lock, suppress(OSError):
            self.number = self.server.begin(self.payload)
        return self

    def close(self) -> None:
        """End the child; the server goes on."""
        with _lock:
            self.server.end(self.number)


def fresh_process(target: Target) -> FreshProcess | None:
    """A child that loads a function, in the background; None where there can be none.

    The function is loaded as a new run of its program would: its module is imported anew where it has one that can be
    imported, so that what is drawn at import is drawn again.
    """
    if not hasattr(os, "fork") or os.environ.get(INSIDE) or not sys.executable or not target.portable:
        return None
    try:
        with _by_reference():
            subject = by_value.dumps(target)
        files = [
            str(Path(module.__file__).resolve()) for name, module in list(sys.modules.items())
            if name.startswith(USER_MODULE) and name.encode() in subject and module.__file__
        ]
        payload = pickle.dumps((list(sys.path), files, subject))
    except Exception:
        return None
    return _begun(payload) if len(payload) <= LARGEST else None


def serve(handle: int) -> None:
    """Be the server.

    Args:
        handle: file descriptor of the line to the process that audits.
    """
    line = Connection(handle)
    with suppress(EOFError, OSError):
        while True:
            kind, (number, payload) = pickle.loads(line.recv_bytes())
            if kind != _NEW:
                continue  # to a child that has ended before
            child = os.fork()
            if not child:
                try:
                    _be_child(line, number, payload)
                finally:
                    os._exit(_ORDERLY)
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status) != _ORDERLY:
                line.send_bytes(pickle.dumps((number, None)))


class _Server:
    """The server of this process."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.children = 0
        self.child: int | None = None
        self.line, theirs = Pipe()
        path = os.pathsep.join(entry for entry in sys.path if entry)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"from dpaudit.subjects.fresh_process import serve; serve({theirs.fileno()})"],
                pass_fds=[theirs.fileno()],
                # a file that is changed within a second has the bytecode of before
                env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", INSIDE: "1"},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                # Ctrl-C is for the process that audits; when that ends, so does the server, whose line is closed then
                start_new_session=True,
            )
        atexit.register(self.kill)

    @property
    def usable(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def send(self, kind: str, number: int, what: object) -> None:
        self.line.send_bytes(by_value.dumps((kind, (number, what))))

    def begin(self, payload: bytes) -> int:
        if self.child is not None:
            self.end(self.child)
        self.children += 1
        self.send(_NEW, self.children, payload)
        self.child = self.children
        return self.child

    def end(self, number: int) -> None:
        if self.child == number:
            self.child = None
            with suppress(OSError):
                self.send(_END, number, None)

    def kill(self) -> None:
        """End it and its child; the next function gets another server."""
        atexit.unregister(self.kill)
        if self.owner != os.getpid():
            return
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.line.close()
        _server.clear()


_server: list[_Server] = []
_lock = threading.Lock()


def _begun(payload: bytes) -> FreshProcess | None:
    with _lock:
        if _server and not _server[0].usable:
            _server.clear()
        try:
            if not _server:
                _server.append(_Server())
            return FreshProcess(_server[0], payload, _server[0].begin(payload))
        except OSError:
            _server.clear()
            return None


def _be_child(line: Connection, number: int, payload: bytes) -> None:
    path, files, subject = pickle.loads(payload)
    sys.path[:] = path
    target: Target | None = None
    with suppress(BaseException):
        signal.alarm(round(PATIENCE))
        for file in files:
            module_of_file(Path(file))
        sys.path[:] = path  # in the order of the process that audits
        target = pickle.loads(subject)
    while True:
        signal.alarm(0)
        kind, (_, units) = pickle.loads(line.recv_bytes())
        if kind == _END:
            end_commands()
            return
        # ends the process where the function hangs
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(round(PATIENCE))
        answer = None
        with suppress(BaseException):
            if target is not None:
                answer = [target.runs(unit.dataset, unit.runs, unit.seed) for unit in units]
        line.send_bytes(by_value.dumps((number, answer)))


@contextmanager
def _by_reference() -> Iterator[None]:
    """Pickle the functions of files that were given by path by reference: the child loads the files itself."""
    names = [name for name in cloudpickle.list_registry_pickle_by_value() if name.startswith(USER_MODULE)]
    modules = [sys.modules[name] for name in names if name in sys.modules]
    for module in modules:
        cloudpickle.unregister_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
