"""The JSON form of a result: the same bytes for the same result, and checked when read back.

`format_version` is major.minor (history in the schema's "$comment"): a reader takes every minor version of
its own major version, ignores keys it does not know, and reads a key that a later minor version added as its default
where an earlier one left it out.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from importlib.resources import files
from numbers import Integral, Real
from typing import Any, NoReturn, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from dpaudit.errors import ParameterError, ReportError
from dpaudit.results.model import FORMAT_VERSION, Audit, Json, Result, UtilityAudit
from dpaudit.results.plain import in_json
from dpaudit.results.recheck import contradiction

# The contract keys stand first, in the order of the documentation; the others follow as they are declared.
_FIRST: Mapping[type, tuple[str, ...]] = {
    Result: ("format_version", "seed", "alpha", "audits", "utility"),
    Audit: (
        *("name", "verdict", "evidence", "claim", "epsilon_lower", "epsilon_exact", "detectable_epsilon"),
        *("confidence", "runs", "pair", "event", "replay", "expected"),
    ),
}
_LAST: Mapping[type, tuple[str, ...]] = {Result: ("timings",)}
_KINDS: Mapping[str, str] = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}
_PLOTS = (
    *(("profile_plot", "epsilon"), ("output_plot", "labels"), ("bound_plot", "runs"), ("evidence_plot", "runs")),
    *(("tradeoff_plot", "alpha"), ("loss_plot", "above")),
)
"""Plots of an audit, each with the list that the others must be as long as."""
_T = TypeVar("_T")


def to_json(result: Result) -> str:
    """The result as JSON text: contract keys first, indented by 2, ending in a newline.

    Raises `ReportError` for NaN, infinity, and anything else that plain JSON cannot hold.
    """
    return in_json(json.dumps(to_object(result), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def to_object(result: Result) -> dict[str, Json]:
    """The result as plain dicts, lists, strings and numbers, in the key order of `to_json`."""
    value = _plain(result, "result")
    assert isinstance(value, dict)
    return value


def audit_object(audit: Audit | UtilityAudit) -> dict[str, Json]:
    """One audit in the form that it has in `to_object`.

    Raises:
        ReportError: as `to_json` does.
    """
    value = _plain(audit, "audit")
    assert isinstance(value, dict)
    return value


def from_json(text: str, *, where: str) -> Result:
    """The result that `to_json` wrote.

    `where` names the text in messages ("results.json"). Raises `ReportError` with one sentence that holds the
    path in the object: "results.json is not a result of `dpaudit check --json`: audits[2].verdict: 'bad' is not one of
    fail, pass, inconclusive.".
    """
    value = _parsed(text, where)
    if not isinstance(value, dict):
        raise ReportError(f"{where}: this JSON is {_kind(value)}, not an object with a result.")
    _check_version(value, where)
    errors = list(_validator().iter_errors(value))
    if errors:
        # By path, so that the message does not depend on the order in which the schema is walked.
        first = min(
            (_leaf(error) for error in errors), key=lambda e: [str(part).zfill(9) for part in e.absolute_path]
        )
        others = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise _refused(where, f"{_at(first.absolute_path)}{_sentence(first)}{others}")
    try:
        result = _built(Result, value)
    except OverflowError:
        raise _refused(where, "a number is too large for a float") from None
    except ParameterError as error:
        raise _refused(where, str(error).rstrip(".")) from None
    _check_consistent(result, where)
    try:
        wrong = contradiction(result)
    except (ValueError, ArithmeticError) as error:
        wrong = f"its numbers cannot be computed with ({error})"
    if wrong is not None:
        raise ReportError(f"{where} contradicts itself, so it is not what dpaudit wrote: {wrong}.")
    return result


def schema() -> dict[str, Any]:
    """The published JSON Schema (2020-12) of the result, as a fresh dict."""
    loaded: dict[str, Any] = json.loads(_schema_text())
    return loaded


@cache
def _schema_text() -> str:
    return files("dpaudit.results").joinpath("schema/result.schema.json").read_text(encoding="utf-8")


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


# -- writing


def _plain(value: object, path: str) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(getattr(value, name), f"{path}.{name}") for name in _field_order(type(value))}
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ReportError(
                f"{path} is {float(value)}, which JSON cannot hold; give a finite number or null."
            )
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ReportError(f"{path} has keys that are not strings, which JSON cannot hold.")
        # Sorted: whoever filled the dict may have done so in any order.
        return {key: _plain(value[key], f"{path}.{key}") for key in sorted(value)}
    raise ReportError(
        f"{path} is of type {type(value).__name__}, which JSON cannot hold; use plain JSON values."
    )


@cache
def _field_order(cls: type) -> tuple[str, ...]:
    # a subclass without fields of its own is written as what it is a kind of
    first, last = (next((table[c] for c in cls.__mro__ if c in table), ()) for table in (_FIRST, _LAST))
    fields = dataclasses.fields(cls)
    return (*first, *(f.name for f in fields if f.name not in first + last), *last)


# -- reading


def _parsed(text: str, where: str) -> Json:
    def refuse(constant: str) -> NoReturn:
        raise ReportError(
            f"{where}: {constant} is no JSON number; dpaudit writes finite numbers and null only."
        )

    def number(literal: str) -> float:
        return value if math.isfinite(value := float(literal)) else refuse(literal)

    try:
        return json.loads(text, parse_constant=refuse, parse_float=number)
    except json.JSONDecodeError as error:
        raise ReportError(
            f"{where}: this is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from None
    except (RecursionError, ValueError):  # ValueError: a whole number of more than 4300 digits
        raise ReportError(
            f"{where}: this JSON is nested too deeply or holds a number too long to read."
        ) from None


def _refused(where: str, what: str) -> ReportError:
    return ReportError(f"{where} is not a result of `dpaudit check --json`: {what}.")


def _check_version(value: dict[str, Json], where: str) -> None:
    version = value.get("format_version")
    if not isinstance(version, str):
        return  # missing or of a wrong type: the schema says so
    if version.partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
        raise ReportError(
            f"{where}: format_version: {version!r} cannot be read by this dpaudit, which reads "
            f"{FORMAT_VERSION.partition('.')[0]}.x; use the dpaudit that wrote it (environment.dpaudit)."
        )


def _check_consistent(result: Result, where: str) -> None:
    """What the schema cannot say: lists that belong together are of one length, hits are at most runs."""
    for i, audit in enumerate(result.audits):
        for name, key in _PLOTS:
            plot = getattr(audit, name)
            if plot is None:
                continue
            length = len(getattr(plot, key))
            for field in dataclasses.fields(plot):
                data = getattr(plot, field.name)
                if isinstance(data, list) and len(data) != length:
                    path = f"audits[{i}].{name}.{field.name}"
                    raise _refused(where, f"{path}: it has {len(data)} entries, but {key} has {length}")
        sequential = audit.sequential
        if sequential is not None and sequential.refuted_at is not None and sequential.refuted_at > sequential.runs:
            path = f"audits[{i}].sequential.refuted_at"
            raise _refused(where, f"{path}: {sequential.refuted_at} is more than runs = {sequential.runs}")
        for j, evidence in enumerate(audit.sampled):
            for hits, runs in (("x", "n"), ("y", "m")):
                seen, most = getattr(evidence, hits), getattr(evidence, runs)
                if seen > most:
                    raise _refused(where, f"audits[{i}].sampled[{j}].{hits}: {seen} is more than {runs} = {most} runs")


    for i, row in enumerate(result.contest.rows if result.contest is not None else []):
        for key, there in (("utility", result.utility), ("audit", result.audits)):
            at = getattr(row, key)
            if at is not None and not at < len(there):
                raise _refused(where, f"contest.rows[{i}].{key}: there is no place {at}")
    for i, promise in enumerate(result.utility):
        if promise.worst is not None and not promise.worst < len(promise.attempts):
            raise _refused(where, f"utility[{i}].worst: {promise.worst} is no place in attempts")
        for j, one in enumerate(promise.attempts):
            if one.hits > one.runs:
                path = f"utility[{i}].attempts[{j}].hits"
                raise _refused(where, f"{path}: {one.hits} is more than runs = {one.runs} runs")


def _leaf(error: ValidationError) -> ValidationError:
    """Of an object-or-null, the complaint about the object: "is not null" helps nobody."""
    if error.validator == "oneOf" and error.instance is not None and isinstance(error.instance, dict):
        inner = [e for e in error.context or () if e.absolute_schema_path[-1] != "type" or e.relative_path]
        if inner:
            return _leaf(inner[0])
    return error


def _sentence(error: ValidationError) -> str:
    value: Json = error.instance
    allowed: Any = error.validator_value
    match error.validator:
        case "enum":
            choices = ", ".join("null" if choice is None else str(choice) for choice in allowed)
            return f"{_shown(value)} is not one of {choices}"
        case "type":
            kinds = [allowed] if isinstance(allowed, str) else allowed
            return f"{_shown(value)} is {_kind(value)}, not {' or '.join(_KINDS[kind] for kind in kinds)}"
        case "required":
            missing = next(key for key in allowed if key not in value)
            return f"the key {missing!r} is missing"
        case "minimum":
            return f"{_shown(value)} is less than {allowed}"
        case "exclusiveMinimum":
            return f"{_shown(value)} is not more than {allowed}"
        case "maximum":
            return f"{_shown(value)} is more than {allowed}"
        case "oneOf":
            return f"{_shown(value)} is {_kind(value)}, not an object or null"
        case "pattern":
            return f"{_shown(value)} is not of the form major.minor, as in {FORMAT_VERSION}"
        case _:
            return error.message


def _at(path: Iterable[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{text.removeprefix('.')}: " if text else ""


def _shown(value: Json) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:50]}…"


def _kind(value: Json) -> str:
    if isinstance(value, bool):
        return _KINDS["boolean"]
    kinds = {dict: "object", list: "array", str: "string", int: "number", float: "number", type(None): "null"}
    return _KINDS[kinds[type(value)]]


def _built(cls: type[_T], value: dict[str, Json]) -> _T:
    hints = typing.get_type_hints(cls)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # every caller passes a dataclass
    # what a minor version left out has a default; the schema has refused the lack of anything else
    given = [field.name for field in fields if field.name in value]
    return cls(**{name: _converted(hints[name], value[name]) for name in given})


def _converted(hint: Any, value: Json) -> Any:
    """`value`, which the schema has accepted, as what the dataclass declares."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _converted(next(a for a in args if a is not type(None)), value)
    if origin is list:
        return [_converted(args[0], item) for item in value]
    if origin is dict:
        return {key: _converted(args[1], item) for key, item in value.items()}
    if hint is Any:
        return value
    if dataclasses.is_dataclass(hint):
        return _built(typing.cast("type[Any]", hint), value)
    return hint(value)  # float: 1 → 1.0; int: 1.0 → 1; an enum by its value
