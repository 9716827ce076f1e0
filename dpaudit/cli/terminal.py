"""Text to a terminal, file or pipe: nothing is lost, and the exit code is right. Every start imports this."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys

from dpaudit.errors import ReportError
from dpaudit.report import files
from dpaudit.results.plain import flat, visible

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF, errno.EFBIG)
LEAST_COLUMNS = 20
"""A terminal that says that it is narrower is not believed."""


def say(text: str) -> None:
    """Write lines onto stdout, with what cannot be seen as escapes.

    Raises:
        ReportError: they cannot be written.
    """
    try:
        print(visible(text), end="", flush=True)
    except BrokenPipeError:
        files.drop(sys.stdout)
    except OSError as error:
        files.drop(sys.stdout)
        raise unwritten(error) from None


def unwritten(error: OSError) -> ReportError:
    """That stdout cannot be written, and why."""
    return ReportError(f"Cannot write to stdout: {error.strerror or error}.")


def unwritable(error: Exception) -> bool:
    """Whether it is stdout that cannot be written (a file's error names the file)."""
    return isinstance(error, OSError) and error.errno in _UNWRITABLE and error.filename is None


def settle_terminal() -> None:
    """Make the best of what the environment says: no width that nothing fits in, no sign that cannot be written."""
    for descriptor in range(3):
        # what was closed must not become a file of ours, or the pipe to the audits
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    columns = os.environ.get("COLUMNS", "")
    if columns and not (columns.isdecimal() and LEAST_COLUMNS <= int(columns[:9]) <= 10_000):
        del os.environ["COLUMNS"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def complain(message: str) -> None:
    """One sentence on stderr; nowhere, where that cannot be written."""
    try:
        print(f"dpaudit: {flat(message)}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            files.drop(sys.stderr)
