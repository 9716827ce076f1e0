"""The JSON form of a result: the same bytes for the same result, and checked when read back.

The dataclasses of `dpaudit.results.model` are the form: their fields are the keys, in that order, and the schema is
made from them and their docstrings. `format_version` is major.minor: a reader takes every minor version of its own
major version, and ignores keys that it does not know.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
import re
import textwrap
import typing
from collections.abc import Iterable
from enum import Enum
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from dpaudit.errors import ParameterError, ReportError
from dpaudit.results.kinds import Version
from dpaudit.results.model import FORMAT_VERSION, Json, Result
from dpaudit.results.plain import in_json
from dpaudit.results.recheck import contradiction, inconsistency

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_MAJOR = FORMAT_VERSION.partition(".")[0]


def to_json(result: Result) -> str:
    """The result as JSON text, indented by 2, ending in a newline.

    Raises:
        ReportError: NaN, infinity, or anything else that plain JSON cannot hold.
    """
    return in_json(json.dumps(to_object(result), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def to_object(result: Result) -> dict[str, Json]:
    """The result as plain dicts, lists, strings and numbers, in the key order of `to_json`.

    Raises:
        ReportError: as `to_json` does.
    """
    return plain_fields(result, _names(result), "result")


def plain_fields(thing: object, names: Iterable[str], path: str = "") -> dict[str, Json]:
    """The fields of an object as plain JSON; `path` is where it stands, for messages.

    Raises:
        ReportError: as `to_json` does.
    """
    return {name: _plain(getattr(thing, name), f"{path}.{name}".removeprefix(".")) for name in names}


def from_json(text: str, *, where: str) -> Result:
    """The result that `to_json` wrote.

    Args:
        text: the JSON.
        where: names it in messages, such as "results.json".

    Raises:
        ReportError: one sentence, with the path in the object: "results.json is not a result of `dpaudit check --json`:
            audits[2].verdict: invalid enum value 'bad'."
    """
    value = _parsed(text, where)
    try:
        version = msgspec.convert(value, type=_Versioned).format_version
        if version.partition(".")[0] != _MAJOR:
            raise ReportError(
                f"{where}: format_version: {version!r} cannot be read by this dpaudit, which reads {_MAJOR}.x; use the "
                "dpaudit that wrote it (environment.dpaudit)."
            )
        result = msgspec.convert(value, type=Result)
    except msgspec.ValidationError as error:
        raise _refused(where, _with_path(str(error))) from None
    except ParameterError as error:
        raise _refused(where, str(error).rstrip(".")) from None
    if (wrong := inconsistency(result)) is not None:
        raise _refused(where, wrong)
    try:
        lie = contradiction(result)
    except (ValueError, ArithmeticError) as error:
        lie = f"its numbers cannot be computed with ({error})"
    if lie is not None:
        raise ReportError(f"{where} contradicts itself, so it is not what dpaudit wrote: {lie}.")
    return result


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the result, as a fresh dict."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpaudit:result:{_MAJOR}",
        "$comment": f"Format version {FORMAT_VERSION}. No number is NaN or infinite.",
        **described_schema(Result),
    }


class _Versioned(msgspec.Struct):
    """What is read first, as another major version may differ in everything else."""

    format_version: Version


# -- writing


def _plain(value: object, path: str) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain_fields(value, _written(value), path)
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ReportError(f"{path} is {float(value)}, which JSON cannot hold; give a finite number or null.")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ReportError(f"{path} has keys that are not strings, which JSON cannot hold.")
        # in one order, whoever filled the dict
        return {key: _plain(value[key], f"{path}.{key}") for key in sorted(value)}
    raise ReportError(f"{path} is of type {type(value).__name__}, which JSON cannot hold; use plain JSON values.")


def _written(thing: DataclassInstance) -> list[str]:
    """The fields that are written: those that came later only where they hold something."""
    return [
        field.name
        for field in dataclasses.fields(thing)
        if not (field.metadata.get("left_out") and getattr(thing, field.name) is None)
    ]


def _names(thing: DataclassInstance) -> list[str]:
    return [field.name for field in dataclasses.fields(thing)]


# -- reading


def _parsed(text: str, where: str) -> Json:
    # Python's reader and not msgspec's, which takes no half of a surrogate pair: outputs may have them
    def refuse(constant: str) -> NoReturn:
        raise ReportError(f"{where}: {constant} is no JSON number; dpaudit writes finite numbers and null only.")

    def number(literal: str) -> float:
        return value if math.isfinite(value := float(literal)) else refuse(literal)

    try:
        return json.loads(text, parse_constant=refuse, parse_float=number)
    except json.JSONDecodeError as error:
        raise ReportError(
            f"{where}: this is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except (RecursionError, ValueError):  # ValueError: a whole number of more than 4300 digits
        raise ReportError(f"{where}: this JSON is nested too deeply or holds a number too long to read.") from None


def _refused(where: str, what: str) -> ReportError:
    return ReportError(f"{where} is not a result of `dpaudit check --json`: {what}.")


def _with_path(message: str) -> str:
    """The library's "Expected `int`, got `str` - at `$.audits[0].runs`" with the path in front."""
    what, _, path = message.rpartition(" - at `$")
    sentence = what or message
    sentence = sentence[:1].lower() + sentence[1:]
    return f"{path.rstrip('`').removeprefix('.')}: {sentence}" if what else sentence


# -- the schema


def described_schema(kind: object) -> dict[str, object]:
    """The schema of a dataclass or `Struct`, or a union of them, with what the docstrings say of each field."""
    made: dict[str, Any] = msgspec.json.schema(kind)
    for cls in _classes(kind, {}).values():
        about = _descriptions(cls)
        for key, value in made["$defs"][cls.__name__]["properties"].items():
            if key in about:
                value["description"] = about[key]
    return made


def _classes(kind: object, known: dict[str, type]) -> dict[str, type]:
    """All classes with fields that a type is made of, by name."""
    for part in typing.get_args(kind):
        _classes(part, known)
    if not isinstance(kind, type) or kind.__name__ in known:
        return known
    if dataclasses.is_dataclass(kind) or issubclass(kind, msgspec.Struct):
        known[kind.__name__] = kind
        for part in typing.get_type_hints(kind).values():
            _classes(part, known)
    return known


def _descriptions(cls: type) -> dict[str, str]:
    """Field → its docstring: the text below it, or its entry among the class's "Args"."""
    about: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith("dpaudit."):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        listed = (ast.get_docstring(tree) or "").partition("Args:\n")[2].partition("\n\n")[0]
        for names, text in re.findall(r"^    (\w[\w, ]*): (.*(?:\n {8}.*)*)", listed, re.MULTILINE):
            about |= dict.fromkeys(names.split(", "), " ".join(text.split()))
        for field, below in pairwise(tree.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
                about[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return about
