"""The `dpaudit` command: the command line in a process of its own, and a supervisor that outlives it.

A mechanism may call `os._exit`, crash its process, or hang with all signals ignored. The supervisor imports nothing but
the standard library, forks before any thread exists, and then only waits. Where the process is gone without having said
how it ends, the supervisor says which audit was running, and lets another process record that, make the other audits
and write the reports. See decisions/0043.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from dpaudit.supervision import (
    AUDITING,
    LIMIT_GRACE,
    LOADING,
    TOGETHER,
    WRITING,
    Before,
    Page,
    Supervised,
    frames,
    supervise,
)

TICK = 0.25
"""Seconds between two reads of the page: no signal says that a time limit was set there."""
INTERRUPT_GRACE = 3.0
"""Seconds that a process has after a second interrupt, or a SIGTERM, before it is killed."""
END_GRACE = 10.0
"""Seconds that a process has to be gone after it said its exit code; a thread or an atexit handler may hang."""
ACKNOWLEDGED = 0.2
"""Seconds after which an interrupt that the process has not noticed was the supervisor's alone, and is forwarded."""
CRASHED, INTERRUPTED = 4, 130
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36


def main() -> NoReturn:
    """Entry point of the console script and of `python -m dpaudit`."""
    if sys.argv[1:] == ["--version"]:
        sys.exit(_say_version())
    if not _can_supervise():
        from dpaudit.cli.commands import main as command_line

        command_line()
        sys.exit(0)
    try:
        code = _Supervisor().run()
    except KeyboardInterrupt:
        # between two processes
        _complain("Interrupted.")
        code = INTERRUPTED
    sys.exit(code)


def _say_version() -> int:
    """The exit code. Nothing runs that must be supervised, and the parser alone would take longer than the answer."""
    from dpaudit.cli.terminal import complain, say, settle_terminal
    from dpaudit.errors import ReportError
    from dpaudit.extras import installed_version

    settle_terminal()
    try:
        say(f"dpaudit {installed_version('dpaudit')}\n")
    except ReportError as error:
        complain(str(error))
        return error.exit_code
    return 0


def _can_supervise() -> bool:
    """Whether a fork is safe and wanted: not with threads, under a debugger, or where a shell asks for completions."""
    asked = os.environ.get("DPAUDIT_ONE_PROCESS") or "_DPAUDIT_COMPLETE" in os.environ
    traced = sys.gettrace() is not None or sys.getprofile() is not None
    return hasattr(os, "fork") and not asked and not traced and threading.active_count() == 1


@dataclass(frozen=True)
class _End:
    """How a process ended.

    Args:
        code: the exit code that it said beforehand; None where it said none.
        status: what `waitpid` gave.
        late: whether it was killed because it did not react to the time limit.
        interrupted: whether it was killed because it did not react to an interrupt.
    """

    code: int | None
    status: int
    late: bool
    interrupted: bool

    def sentence(self, what: str) -> str:
        """How it ended, and what ended it: a mechanism, or "the import of m.py"."""
        if self.late:
            return f"{what} did not react to the time limit, so dpaudit's process was killed."
        if os.WIFEXITED(self.status):
            return f"{what} ended dpaudit's process with os._exit({os.WEXITSTATUS(self.status)})."
        number = os.WTERMSIG(self.status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = str(number)
        hint = " (the system does that when memory runs out)" if number == signal.SIGKILL else ""
        return f"{what} ended dpaudit's process by signal {name}{hint}."


class _Supervisor:
    """Runs the command line in a process, and in another one where that does not survive a mechanism."""

    def __init__(self) -> None:
        self._page = Page()
        self._kept = bytearray()
        self._terminated = False

    def run(self) -> int:
        """The exit code."""
        _prctl(_SET_CHILD_SUBREAPER, 1)
        begun, before, unexplained = time.monotonic(), None, 0
        while True:
            end = self._one(before)
            if end.code is not None:
                return end.code
            _end_children()
            _tidy_terminal()
            if self._terminated:
                # as a command that nobody supervises ends
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGTERM)
            numbers, running = self._page.read(), self._page.said()
            before = before or Before()
            before.ended += frames(bytes(self._kept))
            before.seconds, before.lines = time.monotonic() - begun, numbers.lines
            before.finished = numbers.phase == WRITING
            if end.interrupted:
                if numbers.phase != AUDITING or before.interrupted:
                    _complain("Interrupted.")
                    return INTERRUPTED
                before.interrupted = True
                continue
            sentence = end.sentence(_subject(running, numbers.phase))
            _complain(sentence)
            if "replay" in running:
                before.lost[running["replay"]] = sentence
            elif numbers.phase == LOADING or unexplained:
                return CRASHED
            else:
                # between two audits, or in a report: no mechanism's fault that could be recorded, so that it may pass
                unexplained += 1

    def _one(self, before: Before | None) -> _End:
        """Run the command line in a process until it is gone."""
        self._page.clear()
        self._kept.clear()
        kept, pipe = os.pipe()
        with _signals() as wake:
            parent = os.getpid()
            child = os.fork()
            if not child:
                os.close(kept)
                _command_line(Supervised(self._page, pipe, before), parent)
            os.close(pipe)
            try:
                return self._watch(child, kept, wake)
            finally:
                os.close(kept)

    def _watch(self, child: int, kept: int, wake: int) -> _End:
        """Wait, forward signals, keep what comes through the pipe, and kill what does not react."""
        patience = _Patience()
        is_open, forward, late, interrupted = True, False, False, False
        since = last = 0.0
        os.set_blocking(kept, False)
        while True:
            select.select([wake, kept] if is_open else [wake], [], [], TICK)
            is_open = is_open and self._receive(kept)
            gone, status = os.waitpid(child, os.WNOHANG)
            if gone:
                self._receive(kept)
                code = self._page.read().code
                return _End(code if code >= 0 else None, status, late, interrupted)
            now = time.monotonic()
            for number in _pending(wake):
                if number == signal.SIGTERM:
                    self._terminated = True
                    os.kill(child, signal.SIGTERM)
                    patience.begin("terminated", INTERRUPT_GRACE)
                elif number == signal.SIGINT:
                    if since and now - last > TOGETHER:
                        interrupted = True
                        patience.begin("interrupted", INTERRUPT_GRACE)
                    since, last, forward = since or now, now, True
            numbers = self._page.read()
            if forward and now - last >= ACKNOWLEDGED:
                forward = False
                if numbers.interrupted < last - TOGETHER:
                    os.kill(child, signal.SIGINT)
            if numbers.code >= 0:
                patience.begin("ended", END_GRACE)
            if numbers.limit and now > numbers.limit:
                patience.begin("late", LIMIT_GRACE)
            else:
                patience.stop("late")
            if patience.over():
                late = patience.over("late")
                os.kill(child, signal.SIGKILL)
                patience = _Patience()

    def _receive(self, kept: int) -> bool:
        """Read what is there; False where nothing more can come."""
        try:
            while part := os.read(kept, 1 << 16):
                self._kept += part
        except BlockingIOError:
            return True
        return False


class _Patience:
    """How long each thing may still take, in ticks: a computer that slept, or a Ctrl-Z, takes none of it."""

    def __init__(self) -> None:
        self._ticks: dict[str, int] = {}
        self._at = time.monotonic()

    def begin(self, what: str, seconds: float) -> None:
        """Let it take so long from now, if it was not begun before."""
        self._ticks.setdefault(what, round(seconds / TICK))

    def stop(self, what: str) -> None:
        """It has ended."""
        self._ticks.pop(what, None)

    def over(self, what: str | None = None) -> bool:
        """Whether anything, or just that, took too long."""
        if what is not None:
            return self._ticks.get(what, 1) <= 0
        now = time.monotonic()
        if now - self._at >= TICK:
            self._at = now
            self._ticks = {name: left - 1 for name, left in self._ticks.items()}
        return any(left <= 0 for left in self._ticks.values())


@contextlib.contextmanager
def _signals() -> Iterator[int]:
    """Signals that are forwarded or waited for arrive as bytes; gives the file to read them from."""
    owner = os.getpid()
    wake, pipe = os.pipe()
    for handle in (wake, pipe):
        os.set_blocking(handle, False)
    taken = [signal.SIGCHLD, signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        taken.append(signal.SIGINT)
    earlier = {number: signal.signal(number, lambda *_: None) for number in taken}
    signal.set_wakeup_fd(pipe, warn_on_full_buffer=False)
    try:
        yield wake
    finally:
        # the forked process comes by here as well when it ends, with handlers of its own
        if os.getpid() == owner:
            signal.set_wakeup_fd(-1)
            for number, handler in earlier.items():
                signal.signal(number, handler)
            os.close(wake)
            os.close(pipe)


def _pending(wake: int) -> list[int]:
    try:
        return list(os.read(wake, 1 << 10))
    except BlockingIOError:
        return []


def _command_line(one: Supervised, parent: int) -> NoReturn:
    """The forked process: the command line, which reports its exit code before anything else can happen to it."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(CRASHED)
    one.take_signals()
    supervise(one)
    code: object = CRASHED
    try:
        from dpaudit.cli.commands import main as command_line

        command_line()
        code = 0
    except SystemExit as ended:
        code = ended.code
        raise
    except KeyboardInterrupt:
        # before the command line could take it
        code = INTERRUPTED
        _complain("Interrupted.")
        sys.exit(INTERRUPTED)
    except BaseException:
        code = 1
        raise
    finally:
        one.tell(code=code if isinstance(code, int) else 0 if code is None else 1)
    sys.exit(0)


def _subject(running: dict[str, str], phase: int) -> str:
    """What was running, as the subject of a sentence."""
    if "name" in running:
        return running["name"]
    if "import" in running:
        return f"The import of {running['import']}"
    return {LOADING: "Something", AUDITING: "Something between two audits", WRITING: "A report"}[phase]


def _prctl(option: int, value: int) -> None:
    """Linux: what happens when a parent or a child ends; nothing elsewhere."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _end_children() -> None:
    """Kill what a process that is gone has left: its worker processes have become the supervisor's children."""
    for _ in range(1000):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        children = _children()
        if not children:
            return
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.005)


def _children() -> list[int]:
    """Linux: the processes whose parent this is; none elsewhere."""
    children = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                    # the name in parentheses may hold anything
                    if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                        children.append(int(name))
    return children


def _tidy_terminal() -> None:
    """Take away what a progress bar leaves: its line, and the cursor that it hides."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K\x1b[?25h")
            sys.stderr.flush()


def _complain(message: str) -> None:
    shown = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in message)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"dpaudit: {shown}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
