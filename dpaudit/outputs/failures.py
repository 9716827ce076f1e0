"""Failures of a mechanism: an exception as an outcome, and as one sentence that says where it was raised."""

from __future__ import annotations

import traceback
from pathlib import Path

from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.form import message_of

LONGEST = 300
"""Characters of a message that a sentence keeps."""


def raised(error: Exception) -> Raised:
    """The outcome of a call, or of an execution path, that raised; called where the error was caught."""
    where = f"{described(error)} ({frames(error)})"
    found = Raised(type(error).__name__, where, error.with_traceback(None), message_of(error))
    # what it holds of the program would be kept alive with it
    error.__context__ = error.__cause__ = None
    return found


def described(error: BaseException) -> str:
    """Type and message of an error on one line, e.g. "ValueError: no such record"."""
    try:
        message = one_line(str(error))
    except Exception:
        # an exception class with a broken __str__
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def one_line(text: str) -> str:
    """The text without line breaks, cut where it becomes unreadable."""
    joined = " ".join(text.split())
    return joined if len(joined) <= LONGEST else joined[: LONGEST - 1] + "…"


def frames(error: BaseException, *, most: int = 3, leave_out: int = 0) -> str:
    """Where an error was raised, e.g. "my.py, line 12, in helper; called at my.py, line 20, in f".

    Args:
        error: that was caught in the frame that called.
        most: frames that are named.
        leave_out: innermost frames that are dpaudit's own.
    """
    found = traceback.extract_tb(error.__traceback__)[1:]
    last = found[: len(found) - leave_out][-most:]
    places = [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in reversed(last)]
    return "; called at ".join(places) if places else "in its call"
