"""Blocks of text on stdout, with colour and width: as `terminal`, for what rich makes."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

from dpaudit.cli.terminal import unwritten
from dpaudit.errors import ReportError
from dpaudit.report import files


class OutConsole(Console):
    """A console whose reader may go away (`| head`), or whose disk may be full: what follows is dropped.

    Reports are still written; where it is the disk `failures` says so, once.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr)
        self.failures: list[ReportError] = []

    def on_broken_pipe(self) -> None:
        self.quiet = True
        files.drop(sys.stderr if self.stderr else sys.stdout)

    def print(self, *objects: object, **how: Any) -> None:
        """As `Console.print`; what cannot be written does not end the run."""
        try:
            super().print(*objects, **how)
        except OSError as error:
            self.failures.append(unwritten(error))
            self.on_broken_pipe()


def show(block: object) -> None:
    """Print onto stdout.

    Raises:
        ReportError: it cannot be written.
    """
    out = OutConsole()
    out.print(block)
    for failure in out.failures:
        raise failure
