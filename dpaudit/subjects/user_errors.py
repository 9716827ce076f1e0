"""The guard around somebody else's code: what it prints is cut off, and its crash is one sentence that names it."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

from dpaudit.errors import DpauditError, MechanismError
from dpaudit.outputs.failures import LONGEST, described, one_line

__all__ = ["StopNow", "described", "guarded", "one_line", "sentence", "unheard"]


PRINTED = 10
"""Lines of what a function prints that are shown, in each process of an audit: it is called many thousand times."""


class StopNow(BaseException):
    """The time limit came; not an `Exception`, so that an `except Exception` on the way does not swallow it."""


def unheard(kind: type[BaseException]) -> Callable[[sys.UnraisableHookArgs], object]:
    """A hook for `sys.unraisablehook` while a timer raises this exception, again and again.

    Where it comes while an object is finalised Python would print a traceback, and go on.
    """
    before = sys.unraisablehook
    return lambda one: None if issubclass(one.exc_type, kind) else before(one)


def sentence(text: str, *, most: int = LONGEST) -> str:
    """The text on one line of at most so many characters, with an end."""
    line = one_line(text, most=most).rstrip(": ")
    return line if line.endswith((".", "?", "!", "…")) else f"{line}."


class _FirstLines(io.TextIOBase):
    """The first lines of what somebody else's code prints, to stderr, and one line that says that there are more."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines = 0

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return sys.stderr.fileno()

    @property
    def buffer(self) -> BinaryIO:
        """For bytes, all of which are shown."""
        return sys.stderr.buffer

    def write(self, text: str) -> int:
        if self._lines < PRINTED:
            sys.stderr.write(text)
            self._lines += text.count("\n")
            if self._lines >= PRINTED:
                sys.stderr.write(
                    f"dpaudit: What {self._name} prints from here on is not shown. It is not part of the output that "
                    "is audited, so whoever can read it may learn more than the claim allows.\n"
                )
        return len(text)


_printed: dict[str, _FirstLines] = {}


def first_lines(name: str) -> _FirstLines:
    """The first lines of what somebody else's code prints, or writes to stderr, go to stderr through this.

    Args:
        name: of the code.
    """
    return _printed.setdefault(name, _FirstLines(name))


def show_first_lines_again() -> None:
    """Of every audit the first lines are shown."""
    _printed.clear()


@contextlib.contextmanager
def guarded(name: str) -> Iterator[None]:
    """Run somebody else's code: what it raises, even `sys.exit()`, is its own error.

    The first lines of what it prints go to stderr.

    `Runner.guarded` does the same within the time limit.

    Args:
        name: of the code, for the message.

    Raises:
        MechanismError: anything was raised that is neither a `DpauditError` nor an interrupt.
    """
    try:
        with contextlib.redirect_stdout(first_lines(name)):
            yield
    except (DpauditError, KeyboardInterrupt, StopNow):
        raise
    except SystemExit as error:
        raise MechanismError(f"{name} called sys.exit({error.code!r}) instead of returning an output.") from error
    except RecursionError as error:
        raise MechanismError(f"{name} recursed too deeply.") from error
    except BaseException as error:
        raise MechanismError(sentence(f"{name} raised {described(error)}")) from error
