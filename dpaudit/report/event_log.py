"""The events of a run, written while it goes on (`--events`)."""

from __future__ import annotations

import contextlib
import os
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from dpaudit.errors import ReportError
from dpaudit.report.files import STDOUT, Outputs, say
from dpaudit.report.ndjson import to_line
from dpaudit.results.stream import Event, Notice
from dpaudit.whole_files import encoded


class EventLog:
    """Writes every event as a line of NDJSON, at once; what cannot be written does not end the run.

    It is the one file that is not put in its place whole, because it is read while the run goes on: a process that is
    killed may leave a last line without its end.

    Use it as a context manager. Nothing is opened before the first event, which comes only when the request is known
    to be right.
    """

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._file: FileIO | None = None
        self.written = 0
        """Lines so far."""
        self._goes_on = False
        self.failure: ReportError | None = None
        """Why the lines end early; None where they do not."""

    def __enter__(self) -> Self:
        """The log itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, whatever happened."""
        if self._file is not None:
            # the write error has been reported already
            with contextlib.suppress(OSError):
                self._file.close()

    def go_on(self, lines: int) -> None:
        """Another process has written so many lines: keep them, and count on from there."""
        self.written, self._goes_on = lines, lines > 0

    def on(self, event: Event) -> None:
        """Append one event; a notice is for those who watch."""
        path = self._outputs.events
        if isinstance(event, Notice) or path is None or self.failure is not None:
            return
        try:
            line = to_line(event, self.written)
            # first: an interrupt on the way leaves a gap, and not a number twice
            self.written += 1
            self._append(path, line)
        except OSError as error:
            self.failure = ReportError(f"Cannot write {path}: {error.strerror or error}.")
        except ReportError as error:
            self.failure = error

    def _append(self, path: str, line: str) -> None:
        if path == STDOUT:
            say(line)
            return
        if self._file is None:
            if self._outputs.report:
                Path(self._outputs.report).mkdir(exist_ok=True)
            self._file = FileIO(path, "a" if self._goes_on else "w")
        rest = memoryview(encoded(line))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            # of a line that was begun nothing stays: a log of whole lines can be read
            with contextlib.suppress(OSError):
                os.ftruncate(self._file.fileno(), self._file.tell() - (len(encoded(line)) - len(rest)))
            raise
