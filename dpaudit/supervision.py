"""What the command line's process tells the process that supervises it (`dpaudit.cli.console_script`).

A mechanism runs in dpaudit's process and can end it at any moment, so what must outlive it is kept outside: a page of
shared memory says what is running, and a pipe takes every audit that has ended. Where nobody supervises (the Python
API, pytest, a command line that is called by a program) every function here does nothing.

This module is imported before the supervisor forks, so it imports little.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

LIMIT_GRACE = 5.0
"""Seconds beyond the time limit after which a process that does not react is killed."""
TOGETHER = 0.5
"""Seconds within which two interrupts are one: the terminal's, and the same one forwarded."""

LOADING, AUDITING, WRITING = range(3)
"""Phases of a command: until the first audit begins, audits, and reports."""

_PAGE = 4096
# limit: when the time limit comes, by the monotonic clock, 0 for none; interrupted: when the process last noticed an
# interrupt; lines: of the log of events; phase; code: the exit code, -1 until the process ends in an orderly way
_NUMBERS = struct.Struct("ddqqq")
_TEXT = struct.Struct("I")
_FRAME = struct.Struct("!I")


@dataclass(frozen=True)
class Numbers:
    """The numbers on the page."""

    limit: float = 0.0
    interrupted: float = 0.0
    lines: int = 0
    phase: int = LOADING
    code: int = -1


class Page:
    """Memory that both processes share: numbers, and in words what is running."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _PAGE)
        self.clear()

    def clear(self) -> None:
        """Begin anew, for another process."""
        self.write(Numbers())
        self.say({})

    def read(self) -> Numbers:
        """The numbers."""
        return Numbers(*_NUMBERS.unpack_from(self._memory, 0))

    def write(self, numbers: Numbers) -> None:
        """All numbers."""
        each = (numbers.limit, numbers.interrupted, numbers.lines, numbers.phase, numbers.code)
        _NUMBERS.pack_into(self._memory, 0, *each)

    def set_limit(self, limit: float) -> None:
        """The first number alone: it changes with every unit of work."""
        struct.pack_into("d", self._memory, 0, limit)

    def say(self, running: dict[str, str]) -> None:
        """What is running: "import" for a user's file, or "replay" and "name" for an audit; nothing between them."""
        text = json.dumps(running).encode()
        room = _PAGE - _NUMBERS.size - _TEXT.size
        if len(text) > room:
            text = json.dumps({key: value[:200] for key, value in running.items()}).encode()[:room]
        begin = _NUMBERS.size + _TEXT.size
        self._memory[begin : begin + len(text)] = text
        _TEXT.pack_into(self._memory, _NUMBERS.size, len(text))

    def said(self) -> dict[str, str]:
        """What `say` said last; nothing where the process died in the middle of it."""
        (length,) = _TEXT.unpack_from(self._memory, _NUMBERS.size)
        begin = _NUMBERS.size + _TEXT.size
        try:
            said = json.loads(self._memory[begin : begin + length])
        except ValueError:
            return {}
        return said if isinstance(said, dict) else {}


@dataclass
class Before:
    """What processes before this one have left, for the one that goes on.

    Args:
        ended: pickled audits that had ended, in their order; bytes that only dpaudit's own process reads.
        lost: replay id of each audit that its process did not survive, and the sentence that says how it ended.
        seconds: since the first process began.
        lines: of the log of events that are written already.
        interrupted: whether nothing more is to be audited.
        finished: whether the last audit had ended, so that only reports are left to write.
    """

    ended: list[bytes] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    lines: int = 0
    interrupted: bool = False
    finished: bool = False


class Supervised:
    """What the supervised process does."""

    def __init__(self, page: Page, pipe: int, before: Before | None) -> None:
        self._page, self._pipe, self._process = page, pipe, os.getpid()
        self._interrupted = 0.0
        self.before = before

    @property
    def here(self) -> bool:
        """Whether this is that process, and not one that a mechanism has forked."""
        return os.getpid() == self._process

    def tell(self, **numbers: Any) -> None:
        """Change numbers on the page."""
        if self.here:
            self._page.write(replace(self._page.read(), **numbers))

    def running(self, **what: str) -> None:
        """Say what is running."""
        if self.here:
            self._page.say(what)

    def set_limit(self, limit: float) -> None:
        """When the time limit comes."""
        if self.here:
            self._page.set_limit(limit)

    def keep(self, ended: bytes) -> None:
        """Hand over an audit that has ended."""
        if not self.here:
            return
        rest = memoryview(_FRAME.pack(len(ended)) + ended)
        # a mechanism may have closed every file; then only what is kept is lost, and the audits go on
        with contextlib.suppress(OSError):
            while rest:
                rest = rest[os.write(self._pipe, rest) :]

    def interrupt(self, signum: int, frame: object) -> None:
        """The handler of SIGINT: an interrupt that comes twice, from the terminal and forwarded, counts once."""
        now = time.monotonic()
        self.tell(interrupted=now)
        if now - self._interrupted > TOGETHER:
            self._interrupted = now
            raise KeyboardInterrupt

    def take_signals(self) -> None:
        """Handle signals as a process of its own does."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self.interrupt)


def frames(content: bytes) -> list[bytes]:
    """What `keep` handed over; of the last one, if it is cut, nothing."""
    messages, at = [], 0
    while at + _FRAME.size <= len(content):
        (length,) = _FRAME.unpack_from(content, at)
        if at + _FRAME.size + length > len(content):
            break
        messages.append(content[at + _FRAME.size : at + _FRAME.size + length])
        at += _FRAME.size + length
    return messages


_supervised: Supervised | None = None


def supervise(one: Supervised) -> None:
    """This process is supervised from now on."""
    global _supervised
    _supervised = one


def supervised() -> Supervised | None:
    """The supervised process that this is; None where nobody supervises it."""
    return _supervised if _supervised is not None and _supervised.here else None


@contextlib.contextmanager
def until(left: float) -> Iterator[None]:
    """What runs inside must react to its time limit: if it does not, the supervisor kills the process.

    Args:
        left: seconds until the limit.
    """
    one = supervised()
    if one is None:
        yield
        return
    one.set_limit(time.monotonic() + left)
    try:
        yield
    finally:
        one.set_limit(0.0)


@contextlib.contextmanager
def importing(where: str) -> Iterator[None]:
    """Import a user's file or module inside."""
    one = supervised()
    if one is None:
        yield
        return
    one.running(**{"import": where})
    try:
        yield
    finally:
        one.running()
