"""The guard around somebody else's code: where what it prints goes, and its crash as one sentence that names it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from dpaudit.errors import DpauditError, MechanismError
from dpaudit.outputs.failures import LONGEST, described, one_line

__all__ = ["StopNow", "described", "guarded", "one_line", "sentence", "unheard"]


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


@contextlib.contextmanager
def guarded(name: str) -> Iterator[None]:
    """Run somebody else's code: what it prints goes to stderr, and what it raises, even `sys.exit()`, is its own error.

    `Runner.guarded` does the same within the time limit.

    Args:
        name: of the code, for the message.

    Raises:
        MechanismError: anything was raised that is neither a `DpauditError` nor an interrupt.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (DpauditError, KeyboardInterrupt, StopNow):
        raise
    except SystemExit as error:
        raise MechanismError(f"{name} called sys.exit({error.code!r}) instead of returning an output.") from error
    except RecursionError as error:
        raise MechanismError(f"{name} recursed too deeply.") from error
    except BaseException as error:
        raise MechanismError(sentence(f"{name} raised {described(error)}")) from error
