"""Descriptions of data, for `--data`: a small language of record types, in the style of Hypothesis strategies.

    integers(0, 100)   floats(0, 1)   booleans()   sampled_from(["a", "b"])   tuples(integers(0, 9), booleans())
    lists(integers(0, 9), 0, 3)   just("public")

A column of floats can contain NaN, ±inf and −0.0 even if its range is bounded, and comparisons with the ends of the
range do not detect a NaN. So `floats` includes them, unless you pass `allow_nan=False`, `allow_infinity=False` or
`allow_negative_zero=False`. Elsewhere write `nan`, `inf` and `-inf`, as in `sampled_from([0.0, nan])`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable

from dpaudit.adversary.pairs.describe import Floats, Integers, Just, Lists, Records, SampledFrom, Tuples
from dpaudit.errors import DatasetError
from dpaudit.language.records import Record, as_record
from dpaudit.options import DATA

LONGEST_LIST = 1000
"""Most entries of one record: with more, printing one dataset takes megabytes."""


def parse_records(text: str) -> Records:
    """Parse a description of data.

    Raises:
        DatasetError: it is invalid; the message lists the valid forms.
    """
    try:
        return _build(ast.parse(text.strip(), mode="eval").body, text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        if isinstance(error, DatasetError):
            raise
        raise _unknown(text) from None


def _build(node: ast.expr, text: str) -> Records:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise _unknown(text)
    if node.keywords and node.func.id != "floats":
        raise _unknown(text)
    if node.func.id == "tuples" and node.args:
        return Tuples(tuple(_build(arg, text) for arg in node.args))
    if node.func.id == "lists" and len(node.args) == 3:
        return _lists(_build(node.args[0], text), [_literal(arg) for arg in node.args[1:]], text)
    if node.func.id != "floats" and any(map(_too_large, ast.walk(node))):
        raise DatasetError("{} {!r}: a number is too large for a float; write inf if you mean infinity.", DATA, text)
    values = [_literal(arg) for arg in node.args]
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
        case "sampled_from", [list() | tuple() as choices] if len(set(records := _records(choices, text))) > 1:
            return SampledFrom(records)
        case "just", [value]:
            return Just(*_records([value], text))
    raise _unknown(text)


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


def _lists(entry: Records, lengths: list[object], text: str) -> Lists:
    match lengths:
        case [int(least), int(most)] if 0 <= least <= most and most > 0 and bool not in map(type, lengths):
            if most > LONGEST_LIST:
                raise DatasetError("{} {!r}: a list has at most {:,} entries; choose fewer.", DATA, text, LONGEST_LIST)
            return Lists(entry, least, most)
    raise _unknown(text)


def _records(choices: Iterable[object], text: str) -> tuple[Record, ...]:
    """The choices, with lists as tuples at any depth; values that a dataset cannot hold raise an error."""
    records: list[Record] = []
    for choice in choices:
        if isinstance(choice, list | tuple):
            records.append(_records(choice, text))
        elif choice is None or isinstance(choice, bool | int | str | float):
            records.append(as_record(choice))
        else:
            raise _unknown(text)
    return tuple(records)


def _unknown(text: str) -> DatasetError:
    return DatasetError(
        "{} {!r} is not a description of data; use integers(low, high), floats(low, high), booleans(), "
        "sampled_from([…]) of distinct records, just(record), or tuples(…) and lists(…, least, most) of these, with "
        "low < high and "
        "0 ≤ least ≤ most.",
        DATA, text,
    )
