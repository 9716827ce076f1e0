"""Outputs read before they are tested: `read=` turns a fitted model, an object of a library or a response into values.

A function of the output is post-processing, which cannot make a private mechanism less so (Dwork and Roth, The
Algorithmic Foundations of Differential Privacy, Proposition 2.1). So a violation that is found on what was read is one
of the mechanism, and every lower bound holds for it. A PASS is about what was read alone.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from dpaudit.errors import DpauditError, OutputError, UsageError
from dpaudit.language import Mechanism
from dpaudit.options import READ
from dpaudit.outputs.failures import frames
from dpaudit.subjects.adapters import Adapted
from dpaudit.subjects.target import load_object
from dpaudit.subjects.user_errors import described

Reader = Callable[[Any], object]
"""output → what is tested."""


def reader_of(read: str | Reader) -> Reader:
    """The reader itself, or the one that "file.py:function" or "module:function" names.

    Raises:
        UsageError: there is no such function, or it cannot be called with one output.
    """
    reader = load_object(read)[0] if isinstance(read, str) else read
    name = reader_name(reader)
    if not callable(reader) or isinstance(reader, Mechanism):
        raise UsageError("{} is {}; give a function of one output, such as lambda model: model.coef_.", READ, name)
    try:
        inspect.signature(reader).bind(object())
    except TypeError:
        raise UsageError("{} {} must take one argument, an output.", READ, name) from None
    except ValueError:
        # some functions of compiled libraries have no signature
        pass
    return reader


def reader_name(reader: object) -> str:
    """What a reader is called in messages and reports."""
    return str(getattr(reader, "__name__", type(reader).__name__)).replace("<lambda>", "a lambda")


def reads(reader: Reader, name: str) -> Reader:
    """A reader of the outputs of a function of this name, which names itself where it raises."""
    return _ReadOnce(reader, name)


def reading(
    function: Mechanism | Callable[..., object], read: str | Reader, name: str
) -> Callable[..., object]:
    """A function whose outputs are read; what it states of itself stays.

    Raises:
        UsageError: as `reader_of`, or the function is a mechanism in dpaudit's language.
    """
    reader = reader_of(read)
    if isinstance(function, Mechanism):
        raise UsageError(
            "{} is for functions, and {} is a mechanism in dpaudit's language: return the value from its run.",
            READ, name,
        )
    if isinstance(function, Adapted):
        return dataclasses.replace(function, draw=_ReadDraw(function.draw, reader, name))
    return Reading(function, reader, name)


@dataclass(frozen=True)
class _ReadOnce:
    """A reader that names itself where it raises."""

    reader: Reader
    name: str

    def __call__(self, output: object) -> object:
        try:
            return self.reader(output)
        except (DpauditError, MemoryError):
            raise
        except Exception as error:
            raise OutputError(
                "{} {} raised {} ({}) on an output of {}, which is of type {}.",
                READ, reader_name(self.reader), described(error), frames(error), self.name, type(output).__name__,
            ) from error


@dataclass(frozen=True)
class _ReadDraw:
    """The outputs of an adapter, read."""

    draw: Callable[[Sequence[object], Generator, int], Sequence[object]]
    reader: Reader
    name: str

    def __call__(self, dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        return [_ReadOnce(self.reader, self.name)(output) for output in self.draw(dataset, rng, size)]


class Reading:
    """A function whose every output is read.

    Its attributes are the function's: what a function states of itself (`dpaudit.subjects.stated`) holds for what is
    read, too.
    """

    def __init__(self, function: Callable[..., object], reader: Reader, name: str) -> None:
        self.function, self.reader = function, reader
        self._read = _ReadOnce(reader, name)
        functools.update_wrapper(self, function, updated=())
        self.__signature__ = inspect.signature(function)
        places = list(self.__signature__.parameters)
        self._vectorised = len(places) >= 3 and places[2] == "size"

    def __call__(self, *args: Any) -> object:
        output = self.function(*args)
        if not self._vectorised:
            return self._read(output)
        if not hasattr(output, "__len__") or not hasattr(output, "__iter__"):
            # the target says what it should have been
            return output
        # row by row, as pandas iterates over the names of columns
        rows = output.to_dict("records") if hasattr(output, "to_dict") and hasattr(output, "columns") else output
        return [self._read(one) for one in rows]

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name in ("function", "reader", "_read"):
            raise AttributeError(name)
        return getattr(self.function, name)
