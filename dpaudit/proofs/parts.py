"""Parts: what a program applies to its whole dataset, and what is proved by itself (composition).

A program may apply mechanisms or functions to its dataset, and go on with their outputs. Where it cannot be followed
through all of them at once, each is proved by itself, in the same scope; its ε is what it costs. Its output is as
likely on D′ as on D but for a factor exp(ε), and what follows depends on D through the dataset alone, as composition
theorems ask for.

Source: Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), Theorem 3.14 and Appendix B.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpaudit.proofs.arrays import Array
from dpaudit.proofs.forms import Cell, Condition, Form, Made, Part, PostProcessed
from dpaudit.proofs.functions import Table
from dpaudit.proofs.results import Place
from dpaudit.proofs.values import Output, Recorded, is_fixed

if TYPE_CHECKING:
    from dpaudit.proofs.paths import Path

MOST_PARTS = 20
"""Mechanisms and functions that are proved by themselves."""
Shape: TypeAlias = Any
"""Of a value: "number", "truth", "text" or "any"; of a list or tuple its class and the shapes in it; of an array of
numbers its kind and numpy's shape."""


@dataclass(frozen=True)
class Proved:
    """What was proved of a part.

    Args:
        epsilon: as of a `Part`.
        certificate: the same.
        outputs: on symbols, of all paths that were followed.
    """

    epsilon: Fraction
    certificate: dict[str, Any]
    outputs: Sequence[Any]


@dataclass(eq=False)
class Parts:
    """The parts of a program.

    Args:
        prove: proves what is given of a mechanism or function; None where it cannot.
    """

    prove: Callable[[Any], Proved | None]
    known: dict[object, tuple[Any, Part | None]] = field(default_factory=dict)

    def of(self, target: Any, key: object) -> Part | None:
        """The part that is applied; None where nothing is proved of it.

        Args:
            target: a mechanism or function.
            key: equal for one of them alone.
        """
        if key not in self.known:
            # until it is proved, it is followed where it applies itself
            self.known[key] = target, None
            found = self.prove(target) if len(self.known) <= MOST_PARTS else None
            if found is not None:
                part = Part(
                    called(target), len(self.list), target, found.epsilon, shape_of(found.outputs), found.certificate
                )
                self.known[key] = target, part
        return self.known[key][1]

    @property
    def list(self) -> list[Part]:
        """All parts, in the order of their numbers."""
        return [part for _, part in self.known.values() if part is not None]


def called(target: Any) -> str:
    """The name of a mechanism or function."""
    if type(target) is functools.partial:
        return called(target.func)
    return target.__name__ if isinstance(target, types.FunctionType) else type(target).__name__


def shape_of(outputs: Iterable[Any]) -> Shape:
    """The shape that all outputs have."""
    shapes = list(map(_shape_of, outputs))
    return functools.reduce(_common, shapes) if shapes else "any"


def _shape_of(value: Any) -> Shape:
    match value:
        case bool() | np.bool_() | Condition():
            return "truth"
        case Form():
            return "number"
        case Cell():
            possible = value.function.values if isinstance(value.function, Table) else (
                (False,) if value.is_condition else (0,)
            )
            return shape_of(possible)
        case PostProcessed():
            return value.made if value.made in ("truth", "text") else "number"
        case list() | tuple() if type(value) in (list, tuple):
            return type(value), tuple(map(_shape_of, value))
        case Array():
            held = tuple(map(_shape_of, value.values.ravel()))
            return (value.kind, value.values.shape) if value.kind != "bool" and set(held) == {"number"} else "any"
    if type(value) in (int, float, np.int64, np.float64):
        return "number"
    return "text" if type(value) is str else "any"


def _common(one: Shape, other: Shape) -> Shape:
    if one == other:
        return one
    both = isinstance(one, tuple) and isinstance(other, tuple) and one[0] is other[0] and one[0] in (list, tuple)
    if not both or len(one[1]) != len(other[1]):
        return "any"
    return one[0], tuple(map(_common, one[1], other[1]))


def output_of(path: Path, part: Part, index: int, place: Place) -> Any:
    """The output of a part, of which nothing is known but its shape, and that it is the same on D and on D′.

    Args:
        path: the execution path.
        part: was applied.
        index: of it among the draws.
        place: the line.
    """
    applied = sum(draw.part is not None for draw in path.draws[:index])

    def value(shape: Shape, where: tuple[int, ...], made: Made = "") -> Any:
        if isinstance(shape, str):
            name, recorded = f"value {where} of output {applied}, part {part.number}", Recorded(applied, where)
            if shape == "any":
                return Output(name, recorded)
            kind: Made = "truth" if shape == "truth" else "text" if shape == "text" else made
            return path.post_process(name, recorded, (), kind, place)
        kind_of, inner = shape
        if kind_of in (list, tuple):
            return kind_of(value(each, (*where, number)) for number, each in enumerate(inner))
        held = np.empty(math.prod(inner), dtype=object)
        for number in range(len(held)):
            held[number] = value("number", (*where, number), "numpy")
        return Array(held.reshape(inner), kind_of, writable=False)

    return value(part.shape, ())


def bound(
    function: types.FunctionType, args: Sequence[Any], keywords: dict[str, Any]
) -> tuple[Any, Any, functools.partial[Any]] | None:
    """The first two arguments of a call, and the function with the others; None where these are no constants."""
    code = function.__code__
    if code.co_posonlyargcount or code.co_argcount < 2 or len(args) > code.co_argcount or code.co_flags & (
        inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
        | inspect.CO_ASYNC_GENERATOR
    ):
        return None
    # a function may have a signature of its own that says something else
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    positional, defaults = names[:code.co_argcount], function.__defaults__ or ()
    given = dict(zip(positional[len(positional) - len(defaults):], defaults, strict=True))
    given |= {**(function.__kwdefaults__ or {}), **dict(zip(positional, args, strict=False))}
    if keywords.keys() & set(positional[:len(args)]) or keywords.keys() - set(names):
        return None
    given |= keywords
    others = {name: given[name] for name in names[2:] if name in given}
    if given.keys() != set(names) or not all(map(is_fixed, others.values())):
        return None
    return given[names[0]], given[names[1]], functools.partial(function, **others)
