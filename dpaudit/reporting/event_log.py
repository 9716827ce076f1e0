"""The events of a run, written while it goes on (`--events`)."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from dpaudit.auditing.events import Event
from dpaudit.errors import ReportError
from dpaudit.reporting.files import STDOUT, Outputs, say
from dpaudit.reporting.ndjson import to_line


class EventLog:
    """Writes every event as a line of NDJSON, at once; what cannot be written does not end the run.

    Use it as a context manager. Nothing is opened before the first event, which comes only when the request is known
    to be right.
    """

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs
        self._file: TextIO | None = None
        self._written = 0
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
            # what could not be written is told already
            with contextlib.suppress(OSError):
                self._file.close()

    def on(self, event: Event) -> None:
        """Append one event."""
        path = self._outputs.events
        if path is None or self.failure is not None:
            return
        try:
            line = to_line(event, self._written)
            # first: an interrupt on the way leaves a gap, and not a number twice
            self._written += 1
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
            self._file = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115  # closed on leaving
        self._file.write(line)
        self._file.flush()
