"""Failures of a mechanism: an exception as an outcome, and as one sentence with its location."""

from __future__ import annotations

import linecache
import re
import sysconfig
from functools import cache, lru_cache
from pathlib import Path

from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.form import message_of

LONGEST = 300
"""Most characters of a message in a sentence."""
LONGEST_LINE = 100
"""Most characters of a line of code in a sentence."""


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


def one_line(text: str, *, most: int = LONGEST) -> str:
    """The text without line breaks, truncated if it is too long."""
    joined = " ".join(text.split())
    return joined if len(joined) <= most else joined[: most - 1] + "…"


def frames(error: BaseException, *, most: int = 3, leave_out: int = 0) -> str:
    """Where an error was raised, e.g. "my.py, line 12, in helper: `return x.mean()`; called at my.py, line 20, in f".

    Of an error that was raised within a library, that place is followed by those of the user's code that led there.

    Args:
        error: an error caught in the calling frame.
        most: the largest number of frames to name.
        leave_out: the number of innermost frames that belong to dpaudit.
    """
    places, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return _located(tuple(places[1 : len(places) - leave_out]), most)


@lru_cache(maxsize=1024)
def _located(stack: tuple[tuple[str, int, str], ...], most: int) -> str:
    """A stack in words, the innermost frame first; cached, because a failure may be one of many thousands."""
    if not stack:
        return "in its call"
    own = [place for place in stack if not _of_a_library(place[0])][-most:]
    named = stack[-most:] if not own else own if own[-1] == stack[-1] else [*own[1 - most :], stack[-1]]
    return "; called at ".join(_place(*place, source=place in own) for place in reversed(named))


def _place(file: str, line: int, name: str, *, source: bool) -> str:
    text = " ".join(linecache.getline(file, line).split()) if source else ""
    shown = f": `{text if len(text) <= LONGEST_LINE else f'{text[: LONGEST_LINE - 1]}…'}`" if text else ""
    return f"{Path(file).name}, line {line}, in {name}{shown}"


def _of_a_library(file: str) -> bool:
    """Whether a file of code is installed, or Python's or dpaudit's own."""
    path = Path(file)
    return file.startswith("<frozen") or "site-packages" in path.parts or any(map(path.is_relative_to, _libraries()))


@cache
def _libraries() -> tuple[Path, ...]:
    return (Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])


def is_typing_error(failure: Raised) -> bool:
    """Whether a failure is one of the program, which no other dataset will heal."""
    return failure.error in _TYPING_ERRORS or hint(failure) != ""


def hint(failure: Raised) -> str:
    """What probably causes a failure, and what to do; "" where nobody knows."""
    return _AS_A_FRAME if _LIST.match(failure.message) else ""


_TYPING_ERRORS = frozenset({"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "SyntaxError"})
_LIST = re.compile(
    "AttributeError: 'list' object has no attribute|TypeError: (list indices must be integers"
    "|unsupported operand type.*'list'|can only concatenate list|can't multiply sequence|bad operand type.*'list')"
)
_AS_A_FRAME = (
    "The dataset is a list of records: begin with `data = np.asarray(data)`, or give the pair as arrays or data frames."
)
