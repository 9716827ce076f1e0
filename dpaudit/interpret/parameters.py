"""Convert a mechanism's parameters to exact numbers, and detect what its program would still round unnoticed.

A parameter counts as the decimal that it was written as, the shortest that identifies its double: in `ADist(0.1, …)` ε
is one tenth. On the converted copy the same program computes 1/ε and ln(1/δ) without rounding, or records that it could
not (`stats.enclosed`).
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import Curve, Mechanism, Multiset
from dpaudit.language.distributions import Distribution
from dpaudit.language.records import Record
from dpaudit.stats.enclosed import Roundings, as_decimal, short

_Parameters = TypeVar("_Parameters")
_PLAIN = (int, str, bytes, bool, type(None))
_OWN = ("dpaudit.language", "dpaudit.interpret", "dpaudit.outputs", "dpaudit.stats")
_ROUNDING = frozenset({
    *("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sqrt", "cbrt", "pow", "power", "float_power", "hypot"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"),
    *("arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh", "erfc", "gamma", "lgamma", "fsum"),
    *("mean", "average", "std", "var", "median", "quantile", "percentile", "linspace", "geomspace", "logspace", "dist"),
})


def exact_mechanism(mechanism: Mechanism, roundings: Roundings) -> Mechanism:
    """The mechanism with exact parameters, including its sub-mechanisms, qualities and queries.

    Args:
        roundings: records the rounded numbers in its program, and those it rounds later.

    Raises:
        Exception: from its `__post_init__`, if that does not accept such numbers.
    """
    for constant, where in _constants(mechanism):
        what = f"{constant}" if type(constant) is str else f"{constant!r}"
        roundings.note(f"{what}, a constant in {where}")
    made: Mechanism = _exact(mechanism, roundings)
    return made


def exact_value(thing: _Parameters, roundings: Roundings) -> _Parameters:
    """A dataclass of parameters (for example a goal) with every float made exact."""
    made: _Parameters = _exact(thing, roundings)
    return made


def exact_dataset(dataset: object, roundings: Roundings) -> object:
    """A dataset with exact records: floats of few digits keep their values, and sums of them are not rounded."""
    if isinstance(dataset, Multiset):
        if all(_nothing_to_round(record) for record, _ in dataset.items):
            return dataset
        return Multiset(tuple((_record(record, roundings), count) for record, count in dataset.items))
    return dataset if _nothing_to_round(dataset) else _record(dataset, roundings)


def _nothing_to_round(record: Record) -> bool:
    """Whether a record contains nothing that could be rounded."""
    kind = type(record)
    if kind is float:
        return short(record) or record != record or record in (float("inf"), float("-inf"))
    if kind in (tuple, list):
        return all(map(_nothing_to_round, record))
    if isinstance(record, np.ndarray) and record.dtype.kind == "f":
        return all(map(_nothing_to_round, record.ravel().tolist()))
    if is_dataclass(record) and not isinstance(record, type) and not hasattr(record, "__fingerprint__"):
        return all(_nothing_to_round(getattr(record, one.name)) for one in fields(record))
    return True


def _record(record: Record, roundings: Roundings) -> Record:
    kind = type(record)
    if kind is float and not _nothing_to_round(record):
        return as_decimal(record, roundings)
    if kind in (tuple, list):
        return kind(_record(part, roundings) for part in record)
    if not _nothing_to_round(record):
        roundings.note(f"records of the type {kind.__name__}")
    return record


def _exact(thing: Any, roundings: Roundings) -> Any:
    """A parameter with every float made exact."""
    kind = type(thing)
    if kind is float:
        # −0.0 stays a float: exact numbers have one zero
        return as_decimal(thing, roundings) if np.isfinite(thing) and str(thing) != "-0.0" else thing
    if kind in _PLAIN or isinstance(thing, type | Enum | FunctionType | ModuleType):
        return thing
    if isinstance(thing, np.floating):
        return as_decimal(float(thing), roundings) if np.isfinite(thing) else thing
    if isinstance(thing, np.ndarray):
        return _array(thing, roundings)
    if kind in (tuple, list, set, frozenset):
        parts = [_exact(part, roundings) for part in thing]
        return thing if all(a is b for a, b in zip(parts, thing, strict=True)) else kind(parts)
    if kind is dict:
        return {key: _exact(value, roundings) for key, value in thing.items()}
    if isinstance(thing, Curve):
        # a claim: no draw uses it
        return thing
    if isinstance(thing, Multiset):
        return exact_dataset(thing, roundings)
    if is_dataclass(thing) and not isinstance(thing, Distribution):
        held = {one.name: getattr(thing, one.name) for one in fields(thing) if one.init}
        made = {name: _exact(value, roundings) for name, value in held.items()}
        return thing if all(made[name] is held[name] for name in held) else _anew(thing, made, roundings)
    if isinstance(thing, Distribution):
        return replace(thing, **{one.name: _exact(getattr(thing, one.name), roundings) for one in fields(thing)})
    if any(type(part) is float and not short(part) for part in getattr(thing, "__dict__", {}).values()):
        roundings.note(f"attributes of a {kind.__name__}, which is not a dataclass")
    return thing


def _anew(thing: Any, parts: dict[str, object], roundings: Roundings) -> Any:
    """A dataclass rebuilt from exact parts; its `__post_init__` runs again."""
    before = roundings.notes
    made = replace(thing, **parts)
    held = getattr(made, "__dict__", {})
    for name in [name for name in held if isinstance(getattr(type(made), name, None), cached_property)]:
        del held[name]
    if set(held) == set(parts) and all(held[name] is part for name, part in parts.items()):
        # it only checked the parts, so its roundings affect no number
        roundings.forget(before)
    return made


def _array(values: NDArray[np.generic], roundings: Roundings) -> NDArray[np.generic]:
    if values.dtype.kind != "f" or all(map(_nothing_to_round, values.ravel().tolist())):
        return values
    array = np.empty(values.shape, dtype=object)
    array.ravel()[:] = [_exact(part, roundings) for part in values.ravel().tolist()]
    return array


# --- constants --------------------------------------------------------------------------------------------------------


def _constants(mechanism: Mechanism) -> Iterator[tuple[float | str, str]]:
    """Floats of many digits in the source code of a mechanism and of those it contains, and functions that round."""
    seen: set[object] = set()
    for part in _parts(mechanism):
        kind = type(part)
        if kind not in seen:
            seen.add(kind)
            for name in ("run", "__call__"):
                yield from _of_attribute(kind, name, seen)


def _parts(thing: Any) -> Iterator[object]:
    if type(thing) in (tuple, list, frozenset, set):
        for part in thing:
            yield from _parts(part)
    elif is_dataclass(thing) and not isinstance(thing, type):
        yield thing
        for one in fields(thing):
            yield from _parts(getattr(thing, one.name))


def _of_attribute(kind: type, name: str, seen: set[object]) -> Iterator[tuple[float | str, str]]:
    """The same for a method, property or constant of a class, and for those that it refers to."""
    if (kind, name) in seen:
        return
    seen.add((kind, name))
    for base in kind.__mro__:
        if name in vars(base):
            held = vars(base)[name]
            break
    else:
        return
    if type(held) is float and name not in getattr(kind, "__dataclass_fields__", {}):
        if not short(held):
            yield held, f"{kind.__name__}.{name}"
        return
    if base.__module__.startswith(_OWN) or not base.__module__ or base is object:
        return
    function = held.fget if isinstance(held, property) else held.func if isinstance(held, cached_property) else held
    function = getattr(function, "__func__", function)
    yield from _of_function(function, kind, seen)


def _of_function(function: object, kind: type | None, seen: set[object]) -> Iterator[tuple[float | str, str]]:
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, FunctionType) or function in seen or function.__module__.startswith(_OWN):
        return
    seen.add(function)
    where = f"{function.__qualname__} of {function.__module__}"
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:
            continue
        if type(held) is float and not short(held):
            yield held, where
    for value in function.__defaults__ or ():
        if type(value) is float and not short(value):
            yield value, where
    for code in _codes(function.__code__):
        for constant in code.co_consts:
            for value in constant if type(constant) is tuple else (constant,):
                if type(value) is float and not short(value) and value == value and abs(value) != float("inf"):
                    yield value, where
        for called in _rounding_calls(code, function.__globals__):
            yield called, where
        for name in code.co_names:
            if kind is not None:
                yield from _of_attribute(kind, name, seen)
            held = function.__globals__.get(name)
            if type(held) is float and not short(held):
                yield held, where
            elif isinstance(held, FunctionType) or hasattr(held, "__wrapped__"):
                yield from _of_function(held, None, seen)


def _rounding_calls(code: CodeType, names: dict[str, object]) -> Iterator[str]:
    """Names of functions of `math`, numpy and scipy that round: on whole numbers this would go unnoticed."""
    last: object = None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            last = names.get(step.argval)
            if isinstance(last, BuiltinFunctionType) and last.__module__ == "math" and last.__name__ in _ROUNDING:
                yield f"math.{last.__name__}"
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(last, ModuleType):
            library = last.__name__.partition(".")[0]
            if library == "scipy" or (library in ("math", "numpy", "cmath") and step.argval in _ROUNDING):
                yield f"{library}.{step.argval}"
            last = getattr(last, step.argval, None)
        elif step.opname not in ("PUSH_NULL", "PRECALL"):
            last = None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


