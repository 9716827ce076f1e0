"""Outcomes as JSON from which the same outcomes are made again, by types and values: files are read without pickle."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from dpaudit.outputs.canonical import BOTTOM, NAN, Exited, Raised, Structure, TookLonger
from dpaudit.outputs.ranges import IntegerRange

_RAISED = {kind.__name__: kind for kind in (Raised, TookLonger, Exited)}
_SEVERAL: dict[str, type[tuple[Any, ...]] | type[frozenset[Any]]] = {"tuple": tuple, "frozenset": frozenset}


class NotPlainError(Exception):
    """A value is not made of plain values, but of a class that may do anything when it is made."""


def encoded(value: Hashable) -> list[object]:
    """A plain value as JSON that says its type.

    Raises:
        NotPlainError: it is not one.
    """
    kind = type(value)
    match value:
        case None | str() | bool() if kind in (type(None), str, bool):
            return ["plain", value]
        case int() if kind is int:
            return ["int", hex(value)]
        case float() if kind is float:
            return ["float", value.hex()]
        case bytes() if kind is bytes:
            return ["bytes", value.hex()]
        case tuple() | frozenset() if kind in (tuple, frozenset):
            return [kind.__name__, [encoded(part) for part in value]]
        case Fraction() if kind is Fraction:
            return ["fraction", hex(value.numerator), hex(value.denominator)]
        case IntegerRange() if kind is IntegerRange:
            return ["range", hex(value.start), hex(value.stop)]
        case Structure() if kind is Structure:
            return ["structure", value.kind, [[encoded(name), encoded(part)] for name, part in value.parts]]
        case Raised() if kind.__name__ in _RAISED:
            return [kind.__name__, value.error, value.where, value.message]
    if value is BOTTOM:
        return ["bottom"]
    if value is NAN:
        return ["nan"]
    raise NotPlainError


def decoded(value: list[Any]) -> Hashable:
    """The value of `encoded`.

    Raises:
        ValueError, TypeError, IndexError: there is none.
    """
    kind, *rest = value
    if kind in _SEVERAL:
        return _SEVERAL[kind](decoded(part) for part in rest[0])
    if kind in _RAISED:
        error, where, message = rest
        return _RAISED[kind](error, where, None, message)
    match kind:
        case "plain":
            plain: Hashable = rest[0]
            return plain
        case "int":
            return int(rest[0], 16)
        case "float":
            return float.fromhex(rest[0])
        case "bytes":
            return bytes.fromhex(rest[0])
        case "fraction":
            return Fraction(int(rest[0], 16), int(rest[1], 16))
        case "range":
            return IntegerRange(int(rest[0], 16), int(rest[1], 16))
        case "structure":
            return Structure(rest[0], tuple((decoded(name), decoded(part)) for name, part in rest[1]))
        case "bottom":
            return BOTTOM
        case "nan":
            return NAN
    raise ValueError(kind)


def typed(value: object) -> object:
    """A value with the types of its parts, so that 1, 1.0 and True differ."""
    if type(value) is tuple or type(value) is frozenset:
        return (type(value), type(value)(typed(part) for part in value))
    if type(value) is Structure:
        return (Structure, value.kind, typed(value.parts))
    return (type(value), value)
