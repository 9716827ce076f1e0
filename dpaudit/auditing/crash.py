"""A crash of somebody else's code, as one sentence that names whose it is."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

from dpaudit.errors import DpauditError, MechanismError

LONGEST = 300
"""Characters of a message that a sentence keeps."""


class StopNow(BaseException):
    """The time limit came; not an `Exception`, so that an `except Exception` on the way does not swallow it."""


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


def sentence(text: str) -> str:
    """The text on one line, with an end."""
    line = one_line(text).rstrip(": ")
    return line if line.endswith((".", "?", "!", "…")) else f"{line}."


def frames(error: BaseException, *, most: int = 3) -> str:
    """Where an error was raised, e.g. "my.py, line 12, in helper; called at my.py, line 20, in f"."""
    last = traceback.extract_tb(error.__traceback__)[1:][-most:]
    places = [f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}" for frame in reversed(last)]
    return "; called at ".join(places) if places else "in its call"


@contextlib.contextmanager
def blamed(name: str) -> Iterator[None]:
    """Whatever is raised inside is the fault of `name`, even `sys.exit()`; an interrupt is nobody's.

    Raises:
        MechanismError: anything was raised that is neither a `DpauditError` nor an interrupt.
    """
    try:
        yield
    except (DpauditError, KeyboardInterrupt, StopNow):
        raise
    except SystemExit as error:
        raise MechanismError(f"{name} called sys.exit({error.code!r}) instead of returning an output.") from error
    except RecursionError as error:
        raise MechanismError(f"{name} recursed too deeply.") from error
    except BaseException as error:
        raise MechanismError(sentence(f"{name} raised {described(error)}")) from error
