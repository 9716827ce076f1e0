"""Failures of a mechanism: an exception as an outcome, and as one sentence with its location."""

from __future__ import annotations

import traceback
from pathlib import Path

from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.form import message_of

LONGEST = 300
"""Most characters of a message in a sentence."""


def raised(error: Exception) -> Raised:
    """The outcome of a call, or of an execution path, that raised; called where the error was caught."""
    where = f"{described(error)} ({frames(error)})"
    outcome = Raised(type(error).__name__, where, error.with_traceback(None), message_of(error))
    # otherwise the traceback would keep objects of the program alive
    error.__context__ = error.__cause__ = None
    return outcome


def described(error: BaseException) -> str:
    """Type and message of an error on one line, e.g. "ValueError: no such record"."""
    try:
        message = one_line(str(error))
    except Exception:
        # an exception class with a broken __str__
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def one_line(text: str) -> str:
    """The text without line breaks, truncated if it is too long."""
    joined = " ".join(text.split())
    return joined if len(joined) <= LONGEST else joined[: LONGEST - 1] + "…"


def frames(error: BaseException, *, most: int = 3, leave_out: int = 0) -> str:
    """Where an error was raised, e.g. "my.py, line 12, in helper; called at my.py, line 20, in f".

    Args:
        error: an error caught in the calling frame.
        most: the largest number of frames to name.
        leave_out: the number of innermost frames that belong to dpaudit.
    """
    stack = traceback.extract_tb(error.__traceback__)[1:]
    last = stack[: len(stack) - leave_out][-most:]
    places = [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in reversed(last)]
    return "; called at ".join(places) if places else "in its call"
