"""How far an audit, or the writing of reports, is: on stderr a bar in a terminal, a line in a notebook or a log.

A notebook's line needs no widgets. What is shown is taken away when the audit ends (a log keeps its lines).
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Column
from rich.text import Text

from dpaudit.report.numbers import lower
from dpaudit.results import stream
from dpaudit.results.plain import flat

WAIT = 2.0
"""Seconds; what ends sooner shows no progress."""
BETWEEN_LINES = 5.0
"""Seconds between two lines of a log."""


class Display(Protocol):
    """Where progress is shown."""

    def begin(self, event: stream.AuditStarted, *, place: str) -> None:
        """An audit begins, the `place`-th ("2/5"; "" where there is one)."""

    def advance(self, event: stream.Progress) -> None:
        """It has got this far."""

    def say(self, text: str) -> None:
        """Something that the user should know at once."""

    def close(self) -> None:
        """It has ended: what stands there goes."""


class _TimeLeft(TimeRemainingColumn):
    """The time that is left by the pace so far, and no more than until the time limit.

    Args:
        left: seconds until the time limit, now; None for no limit.
    """

    def __init__(self, left: float | None) -> None:
        super().__init__(compact=True)
        self._until = None if left is None else time.monotonic() + left

    def render(self, task: Task) -> Text:
        """As "01:05", or "-:--" where nobody knows."""
        if self._until is None:
            return super().render(task)
        left = max(0.0, self._until - time.monotonic())
        if task.time_remaining is not None and task.time_remaining < left:
            return super().render(task)
        minutes, seconds = divmod(math.ceil(left), 60)
        return Text(f"≤ {minutes:02d}:{seconds:02d}", style="progress.remaining")


class TerminalBar:
    """A bar on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: RichProgress | None = None
        self._task: TaskID | None = None

    def begin(self, event: stream.AuditStarted, *, place: str) -> None:
        """Draw an empty bar."""
        # Transient: what remains on the terminal is the result alone.
        self._progress = RichProgress(
            TextColumn("{task.fields[audit]}", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[bound]}", markup=False),
            _TimeLeft(event.left),
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            console=self._console,
            transient=True,
            expand=True,
        )
        self._task = self._progress.add_task(
            flat(f"{event.case}, claim {event.claim}"),
            total=max(event.steps, 1),
            audit=flat(f"{event.name} {place}").rstrip(),
            bound="",
        )
        self._progress.start()

    def advance(self, event: stream.Progress) -> None:
        """Fill it."""
        if self._progress is None or self._task is None:
            return
        self._progress.update(
            self._task, completed=event.done, total=max(event.of, 1), description=flat(event.what), bound=_bound(event)
        )

    def say(self, text: str) -> None:
        """Write it above the bar, where it stays."""
        self._console.print(Text(f"dpaudit: {flat(text)}"), soft_wrap=True)

    def close(self) -> None:
        """Take it away."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = self._task = None


class Writing:
    """How far the writing of reports is: a bar on a terminal, from two seconds after it began.

    Args:
        console: where; None, or one that is no terminal, for nowhere.
        steps: how many pieces will be written.
        clock: tells seconds.
    """

    def __init__(self, console: Console | None, steps: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console if console is not None and console.is_terminal else None
        self._steps, self._done = steps, 0
        self._clock = clock
        self._started = clock()
        self._progress: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away, whatever happened."""
        if self._progress is not None:
            self._progress.stop()

    def step(self) -> None:
        """One piece more is written."""
        self._done += 1
        if self._console is None or self._clock() - self._started < WAIT:
            return
        if self._progress is None or self._task is None:
            self._progress = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=16),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeRemainingColumn(compact=True),
                console=self._console,
                transient=True,
            )
            self._task = self._progress.add_task("Writing reports", total=max(self._steps, 1), completed=self._done)
            self._progress.start()
        self._progress.update(self._task, completed=self._done)


class _Handle(Protocol):
    """IPython's handle of an output."""

    def update(self, shown: Mapping[str, str], /, *, raw: bool) -> object:
        """Show something else in its place."""


class NotebookLine:
    """A line of text in a notebook, which is rewritten; `display` is IPython's."""

    def __init__(self, display: Callable[..., _Handle]) -> None:
        self._display = display
        self._handle: _Handle | None = None
        self._head = ""

    def begin(self, event: stream.AuditStarted, *, place: str) -> None:
        """Remember whose line it is."""
        self._head = flat(f"{event.name} {place}").rstrip()

    def advance(self, event: stream.Progress) -> None:
        """Rewrite it."""
        shown = {"text/plain": f"{self._head}: {_line(event)}"}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def say(self, text: str) -> None:
        """Show it in an output of its own, which stays."""
        self._display({"text/plain": f"dpaudit: {flat(text)}"}, raw=True)

    def close(self) -> None:
        """Make it empty; IPython has no way to take it away without the cell's other outputs."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class LogLines:
    """A line now and then, for a stream that is no terminal."""

    def __init__(self, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._last = -BETWEEN_LINES
        self._head = ""

    def begin(self, event: stream.AuditStarted, *, place: str) -> None:
        """Remember whose lines they are."""
        self._head = flat(f"{event.name} {place}").rstrip()

    def advance(self, event: stream.Progress) -> None:
        """Write one, if the last is some time ago."""
        if (now := self._clock()) - self._last >= BETWEEN_LINES:
            self._last = now
            self._say(f"dpaudit: {self._head}: {_line(event)}")

    def say(self, text: str) -> None:
        """Write it, whenever the last line was."""
        self._say(f"dpaudit: {flat(text)}")

    def close(self) -> None:
        """They stay."""


class Watch:
    """Shows an engine's stream on a display, from two seconds after it began; on none, nothing."""

    def __init__(self, display: Display | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._display = display
        self._clock = clock
        self._started = clock()
        self._current: stream.AuditStarted | None = None
        self._shown = False
        self._begun = self._announced = 0

    def __enter__(self) -> Self:
        """The watch itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take away what is shown, whatever happened."""
        self._close()

    def on(self, event: stream.Event) -> None:
        """Show one event of the stream."""
        match event:
            case stream.CheckStarted(audits=audits):
                self._announced = audits
            case stream.AuditStarted():
                self._close()
                self._begun += 1
                self._current = event
            case stream.Progress():
                self._advance(event)
            case stream.Notice(text=text):
                if self._display is not None:
                    self._display.say(text)
            case _:
                self._close()

    def _advance(self, event: stream.Progress) -> None:
        if self._display is None or self._current is None or self._clock() - self._started < WAIT:
            return
        if not self._shown:
            place = f"{self._begun}/{self._announced}" if self._announced > 1 else ""
            self._display.begin(self._current, place=place)
            self._shown = True
        self._display.advance(event)

    def _close(self) -> None:
        if self._display is not None and self._shown:
            self._display.close()
        self._shown = False


def display_for(wanted: bool | None) -> Display | None:
    """Where progress goes: a terminal's stderr or a notebook; None for nowhere.

    Args:
        wanted: False for nowhere; True for lines on stderr where it is no terminal; None to decide, which shows nothing
            in a test and nothing where nobody looks.
    """
    if wanted is False or (wanted is None and "PYTEST_CURRENT_TEST" in os.environ):
        return None
    if (display := _notebook()) is not None:
        return NotebookLine(display)
    if sys.stderr is not None and sys.stderr.isatty():
        return TerminalBar(Console(stderr=True))
    return LogLines(lambda line: print(line, file=sys.stderr, flush=True)) if wanted else None


def _notebook() -> Callable[..., _Handle] | None:
    """IPython's `display`, where this runs in the kernel of a notebook; it is not imported for that."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    display: Callable[..., _Handle] = ipython.display.display
    return display


def _bound(event: stream.Progress) -> str:
    return "" if event.bound is None else f"ε ≥ {lower(event.bound)}"


def _line(event: stream.Progress) -> str:
    parts = [f"{100 * event.done / max(event.of, 1):.0f} %", _bound(event), event.what]
    return flat(", ".join(part for part in parts if part))
