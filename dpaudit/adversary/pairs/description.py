"""Descriptions of data, for `--data`: a small language of record types, in the style of Hypothesis strategies.

    integers(0, 100)   floats(0, 1)   booleans()   sampled_from(["a", "b"])   tuples(integers(0, 9), booleans())
    lists(integers(0, 9), 0, 3)   just("public")

A column of floats can contain NaN, ±inf and −0.0 even if its range is bounded, and comparisons with the ends of the
range do not detect a NaN. So `floats` includes them, unless you pass `allow_nan=False`, `allow_infinity=False` or
`allow_negative_zero=False`. Elsewhere write `nan`, `inf` and `-inf`, as in `sampled_from([0.0, nan])`.

A function gets a list of records, unless the description says otherwise:

    frame(age=integers(18, 100), sex=sampled_from(["f", "m"]))   a pandas DataFrame; polars(…) one of polars
    series(floats(0, 1))                                         a pandas Series
    array(integers(0, 1))                                        a numpy array; of tuples(…) or lists(…, k, k) a 2-D one
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpaudit.adversary.pairs.describe import Floats, Integers, Just, Lists, Records, SampledFrom, Tuples
from dpaudit.errors import DatasetError
from dpaudit.language.containers import Array, Column, Container, Frame, Library
from dpaudit.language.records import Record, as_record
from dpaudit.options import DATA

LONGEST_LIST = 1000
"""Most entries of one record: with more, printing one dataset takes megabytes."""


@dataclass(frozen=True)
class Description:
    """What a description says.

    Args:
        records: the kind of record.
        container: what a function gets them in; None for a list.
    """

    records: Records
    container: Container | None = None


def parse_records(text: str) -> Records:
    """The kind of record that a description of data describes.

    Raises:
        DatasetError: it is invalid; the message lists the valid forms.
    """
    return parse_description(text).records


def parse_description(text: str) -> Description:
    """Parse a description of data.

    Raises:
        DatasetError: it is invalid; the message lists the valid forms.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CONTAINERS:
            return _CONTAINERS[node.func.id](node, text)
        return Description(_build(node, text))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        if isinstance(error, DatasetError):
            raise
        raise _unknown(text) from None


def _frame(node: ast.Call, text: str) -> Description:
    """frame(age=integers(0, 9), …) or polars(…); columns whose name is no Python name in a dict: frame({"a b": …})."""
    columns: list[tuple[str, ast.expr]] = []
    for argument in node.args:
        if not isinstance(argument, ast.Dict):
            raise _unknown_container(text)
        for key, value in zip(argument.keys, argument.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise _unknown_container(text)
            columns.append((key.value, value))
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _unknown_container(text)
        columns.append((keyword.arg, keyword.value))
    names = [name for name, _ in columns]
    if not columns or len(set(names)) < len(names):
        raise _unknown_container(text)
    parts = tuple(_build(value, text) for _, value in columns)
    library: Library = "polars" if isinstance(node.func, ast.Name) and node.func.id == "polars" else "pandas"
    made = tuple(Column(name, _dtype(part, library)) for name, part in zip(names, parts, strict=True))
    return Description(Tuples(parts), Frame(library, made))


def _series(node: ast.Call, text: str) -> Description:
    if len(node.args) != 1 or node.keywords:
        raise _unknown_container(text)
    records = _build(node.args[0], text)
    return Description(records, Frame("pandas", (Column(None, _dtype(records, "pandas")),), series=True))


def _array(node: ast.Call, text: str) -> Description:
    if len(node.args) != 1 or node.keywords:
        raise _unknown_container(text)
    records = _build(node.args[0], text)
    if isinstance(records, Tuples) and not any(isinstance(part, Tuples | Lists) for part in records.parts):
        return Description(records, Array(_array_dtype(records.parts), (len(records.parts),)))
    if isinstance(records, Lists) and records.least == records.most:
        return Description(records, Array(_array_dtype((records.entry,)), (records.most,)))
    return Description(records, Array(_array_dtype((records,))))


_CONTAINERS = {"frame": _frame, "polars": _frame, "series": _series, "array": _array}


def _kinds(records: Records) -> set[type]:
    """The types of the values of a column."""
    match records:
        case Integers():
            return {int}
        case Floats():
            return {float}
        case SampledFrom():
            return {float if isinstance(value, float) else type(value) for value in records.choices}
        case Just():
            return {float if isinstance(records.value, float) else type(records.value)}
    return {tuple}


def _dtype(records: Records, library: Library) -> str:
    """The dtype that the library gives a column of such values."""
    kinds = _kinds(records)
    missing = type(None) in kinds
    kinds -= {type(None)}
    if library == "polars":
        if kinds == {int, float}:
            kinds = {float}
        names: dict[type, str] = {int: "Int64", float: "Float64", bool: "Boolean", str: "String"}
        return names[kinds.pop()] if len(kinds) == 1 and kinds <= names.keys() else "Object"
    if kinds == {int, float} and not missing:
        return "float64"
    nullable: dict[type, str] = {int: "Int64", bool: "boolean", str: "str"}
    plain: dict[type, str] = {int: "int64", float: "float64", bool: "bool", str: "str"}
    known = nullable if missing else plain
    return known[kinds.pop()] if len(kinds) == 1 and kinds <= known.keys() else "object"


def _array_dtype(parts: Iterable[Records]) -> str:
    """The dtype that numpy gives an array of such values."""
    kinds = set[type]().union(*map(_kinds, parts))
    if kinds == {int, float}:
        kinds = {float}
    names: dict[type, str] = {int: "int64", float: "float64", bool: "bool", str: "str"}
    return names[kinds.pop()] if len(kinds) == 1 and kinds <= names.keys() else "object"


def _build(node: ast.expr, text: str) -> Records:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise _unknown(text, node)
    if node.keywords and node.func.id != "floats":
        raise _unknown(text, node)
    if node.func.id == "tuples" and node.args:
        return Tuples(tuple(_build(arg, text) for arg in node.args))
    if node.func.id == "lists" and len(node.args) == 3:
        return _lists(_build(node.args[0], text), [_literal(arg) for arg in node.args[1:]], text, node)
    if node.func.id != "floats" and any(map(_too_large, ast.walk(node))):
        raise DatasetError("{} {!r}: a number is too large for a float; write inf if you mean infinity.", DATA, text)
    try:
        values = [_literal(arg) for arg in node.args]
    except (ValueError, TypeError):
        raise _unknown(text, node) from None
    match node.func.id, values:
        case "integers", [int(low), int(high)] if low < high:
            if not -(2**63) <= low < high < 2**63:
                raise DatasetError("{} {!r}: integers must fit into 64 bits; choose a smaller range.", DATA, text)
            return Integers(int(low), int(high))
        case "floats", [int() | float() as low, int() | float() as high] if low < high:
            if not math.isfinite(float(high) - float(low)):
                raise DatasetError("{} {!r}: the range of floats must be finite; choose a smaller one.", DATA, text)
            return Floats(float(low), float(high), **_allowed(node.keywords, text))
        case "booleans", []:
            return SampledFrom((False, True))
        case "sampled_from", [list() | tuple() as choices] if len(set(records := _records(choices, text, node))) > 1:
            return SampledFrom(records)
        case "just", [value]:
            return Just(*_records([value], text, node))
    raise _unknown(text, node)


def _literal(node: ast.expr) -> object:
    """The value of a literal, which may contain `nan` and `inf`.

    Raises:
        ValueError: it is not a literal.
    """
    return ast.literal_eval(_NAMED_FLOATS.visit(node))


def _too_large(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and math.isinf(node.value)


class _NamedFloats(ast.NodeTransformer):
    """`nan` and `inf` as constants."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(float(node.id)) if node.id in ("nan", "inf") else node


_NAMED_FLOATS = _NamedFloats()


def _allowed(keywords: list[ast.keyword], text: str) -> dict[str, bool]:
    """The arguments of `floats` that exclude special values."""
    allowed: dict[str, bool] = {}
    for keyword in keywords:
        value = _literal(keyword.value)
        if keyword.arg not in _ALLOW or not isinstance(value, bool) or keyword.arg in allowed:
            raise DatasetError("{} {!r}: floats takes {}, each True or False.", DATA, text, ", ".join(_ALLOW))
        allowed[keyword.arg] = value
    return allowed


_ALLOW = ("allow_nan", "allow_infinity", "allow_negative_zero")


def _lists(entry: Records, lengths: list[object], text: str, node: ast.expr) -> Lists:
    match lengths:
        case [int(least), int(most)] if 0 <= least <= most and most > 0 and bool not in map(type, lengths):
            if most > LONGEST_LIST:
                raise DatasetError("{} {!r}: a list has at most {:,} entries; choose fewer.", DATA, text, LONGEST_LIST)
            return Lists(entry, least, most)
    raise _unknown(text, node)


def _records(choices: Iterable[object], text: str, node: ast.expr) -> tuple[Record, ...]:
    """The choices, with lists as tuples at any depth; values that a dataset cannot hold raise an error."""
    records: list[Record] = []
    for choice in choices:
        if isinstance(choice, list | tuple):
            records.append(_records(choice, text, node))
        elif choice is None or isinstance(choice, bool | int | str | float):
            records.append(as_record(choice))
        else:
            raise _unknown(text, node)
    return tuple(records)


def _unknown_container(text: str) -> DatasetError:
    return DatasetError(
        "{} {!r} describes no table; write frame(age=integers(18, 100), sex=sampled_from(['f', 'm'])), polars(…) of "
        "the same form, series(floats(0, 1)), array(integers(0, 1)) or array(tuples(…)).",
        DATA, text,
    )


def _unknown(text: str, node: ast.expr | None = None) -> DatasetError:
    """The error of a text that describes nothing.

    Args:
        node: the part that does not, if known.
    """
    part = None if node is None else ast.get_source_segment(text.strip(), node)
    where = "" if part is None or part == text.strip() else f", because of {part}"
    return DatasetError(
        "{} {!r} is not a description of data{}; use integers(low, high), floats(low, high), booleans(), "
        "sampled_from([…]) of distinct records, just(record), or tuples(…) and lists(…, least, most) of these, with "
        "low < high and 0 ≤ least ≤ most; or frame(column=…, …), series(…) or array(…) of these.",
        DATA, text, where,
    )
