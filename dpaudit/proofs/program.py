"""A program on symbols: its data, its run, its output."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.language.mechanism import Mechanism
from dpaudit.language.query import Query
from dpaudit.proofs.arrays import Array
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.forms import Cell, Condition, Form, PostProcessed
from dpaudit.proofs.functions import Piecewise, Table
from dpaudit.proofs.interpreter import Interpreter
from dpaudit.proofs.library import LIBRARY
from dpaudit.proofs.paths import LIMITS, CannotMerge, Finished, Limits, Manner, Path, Seen, explore
from dpaudit.proofs.queries import answered_by, unseen
from dpaudit.proofs.results import Place, Unsupported
from dpaudit.proofs.scopes import Answers, Asked, Container, Domain, Records, Scope, Stated, Stream
from dpaudit.proofs.sources import source_of
from dpaudit.proofs.values import (
    Bound,
    Instance,
    Native,
    Noise,
    Output,
    Random,
    Solution,
    Started,
    concrete,
    name_of,
    type_name,
)

ASSUMPTIONS = (
    "numbers are real numbers: floats are read as the numbers that they round, and nothing overflows",
    "noise has its ideal distribution, not that of its floats",
    "equal outputs count as one output, whatever the types of their numbers and texts",
    "the program is what its source says, without threads, signals or changed libraries",
    "running time is not part of the output",
)


SENSITIVITY = "each query is a function of the dataset with the sensitivity that it states"


def stated(target: Any, scope: Scope) -> tuple[Stated, ...]:
    """The queries and quality functions whose stated sensitivities a proof takes for granted."""
    if isinstance(scope, Asked):
        return scope.asked
    if isinstance(scope, Answers | Stream) and isinstance(target, Mechanism) and answers_queries(target):
        return tuple(Stated(query, 1, "total", Fraction(1)) for query in getattr(target, "queries", ()))
    return ()


def assumptions(target: Any, scope: Scope) -> tuple[str, ...]:
    """What a proof takes for granted."""
    return (*ASSUMPTIONS, SENSITIVITY) if stated(target, scope) else ASSUMPTIONS


def symbols(scope: Scope, n: int, container: Container) -> Any:
    """The data of a scope with n answers or records, as the program gets it.

    Args:
        scope: the datasets.
        n: number of answers or records.
        container: what the program gets them in.
    """
    match scope:
        case Asked():
            return unseen(scope)
        case Answers():
            # answers may be ints or floats
            mixed = container != "vector"
            values: list[Any] = [
                Form(records={index: Piecewise.identity(None, None)}, is_mixed=mixed) for index in range(n)
            ]
        case Records():
            identity = Piecewise.identity(exactly(scope.low), exactly(scope.high))
            values = [Form(records={index: identity}) for index in range(n)]
        case Domain():
            values = [Cell(index, Table(scope.values)) for index in range(n)]
        case _:
            raise AssertionError(scope)
    if container == "vector":
        held = np.empty(n, dtype=object)
        for index, value in enumerate(values):
            held[index] = value
        return Array(held, "float", writable=False)
    return list(values) if container == "list" else tuple(values)


def paths(
    target: Any, data: Callable[[], Any], *, answers: bool = False, whole_answers: bool = False,
    limits: Limits = LIMITS, manner: Manner | None = None, seen: Seen | None = None,
) -> list[Finished]:
    """All execution paths of a program on data.

    Args:
        target: a mechanism or a function f(data, rng).
        data: makes the data.
        answers: whether the data are the answers of a mechanism's queries.
        whole_answers: whether the data are whole numbers.
        limits: beyond which it is not followed.
        manner, seen: as in `Path`.

    Raises:
        Unsupported: it cannot be followed.
    """
    return explore(
        lambda path: run(target, data(), path, answers=answers, whole_answers=whole_answers), manner, seen, limits
    )


def run(
    target: Any, data: Any, path: Path, *, answers: bool, whole_answers: bool = False
) -> tuple[Any, Any]:
    """Follows one path of a program."""
    interpreter = Interpreter(path, LIBRARY)
    with refusals(interpreter):
        interpreter.whole_answers, interpreter.handed = whole_answers, data
        if isinstance(target, Mechanism):
            if answers and answers_queries(target):
                interpreter.answering, data = target, answered_by(target, data)
            result = interpreter.run_mechanism(target, data)
        else:
            result = interpreter.call(target, (data, Random()), {})
        return released(interpreter, result), result


@contextmanager
def refusals(interpreter: Interpreter) -> Iterator[None]:
    """Errors while a program is followed, as `Unsupported` with the line."""
    try:
        with np.errstate(all="ignore"):
            yield
    except CannotMerge:
        raise Unsupported(
            "A number that depends on one record takes values that are not one number.", "", interpreter.here
        ) from None
    except Unsupported as error:
        if error.place is None:
            error.place = interpreter.here
        raise
    except DpauditError as error:
        raise Unsupported(str(error), "", interpreter.here) from None
    except RecursionError:
        raise Unsupported("The program is nested too deeply to be followed.", "", interpreter.here) from None
    except (
        LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RuntimeError, MemoryError, AssertionError,
        OSError, ImportError,
    ) as error:
        raise Unsupported(
            f"The program could not be followed ({type(error).__name__}: {error}).", "", interpreter.here
        ) from error


def answers_queries(mechanism: Mechanism) -> bool:
    """Whether a mechanism's method `answers` puts together the answers of its queries, each of sensitivity 1."""
    queries = getattr(mechanism, "queries", None)
    method = inspect.getattr_static(type(mechanism), "answers", None)
    if not isinstance(queries, tuple) or not queries or not isinstance(method, types.FunctionType):
        return False
    node = source_of(method).node
    if not isinstance(node, ast.FunctionDef) or method.__globals__.get("tuple", tuple) is not tuple:
        return False
    given = node.args
    if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg or given.defaults or node.decorator_list:
        return False
    names = [each.arg for each in given.args]
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if len(body) != 1 or len(names) != 2 or names[0] != "self":
        return False
    if {"tuple", "query", "answer"} & {*names, *method.__code__.co_freevars}:
        return False
    data = names[1]
    plain = ast.parse(f"return tuple(answer for query in self.queries for answer in query({data}))").body[0]
    return ast.dump(body[0]) == ast.dump(plain) and all(
        isinstance(each, Query) and exactly(each.sensitivity) == 1 and each.coordinates == 1 for each in queries
    )


def released(interpreter: Interpreter, value: Any) -> Any:
    """Releases an output: what of it depends on data or noise becomes rows; the rest is returned, hashable."""
    place = interpreter.here or Place("", 0, "")
    path = interpreter.path
    match value:
        case Form():
            path.release(value, place)
            return "number" if value.has_data or value.has_noise else ("number", value.constant)
        case Cell():
            path.release(value.classes(), place)
            return "value"
        case Condition():
            return name_of(path.decide(value, place))
        case Array():
            parts = tuple(released(interpreter, part) for part in value.values.ravel())
            return "array", value.values.shape, parts
        case np.ndarray():
            return released(interpreter, Array.of(interpreter, value))
        case list() | tuple() if type(value) in (list, tuple):
            return type(value).__name__, tuple(released(interpreter, part) for part in value)
        case dict() if type(value) is dict:
            return "dict", tuple((name_of(key), released(interpreter, part)) for key, part in value.items())
        case set() | frozenset() if type(value) in (set, frozenset):
            return type(value).__name__, tuple(sorted(map(name_of, value), key=repr))
        case PostProcessed():
            return "post-processed", value.place
        case Instance():
            parts = tuple((name, released(interpreter, part)) for name, part in value.values.items())
            return "instance", id(value.kind), parts
        case Output():
            return "output", value.name
        case Solution():
            return "solution", value.of, value.place
        case Noise() | Random() | Native() | Bound() | Started():
            raise Unsupported("The output is no value.", "Return what is drawn.", place)
    if isinstance(value, bool | np.bool_):
        return name_of(bool(value))
    if type(value) in (np.int64, np.float64, np.str_):
        # numpy's number or text is equal to Python's
        return name_of(value.item())
    if concrete(value):
        return name_of(value)
    raise Unsupported(f"An output of type {type_name(value)} is not followed.", "", place)
