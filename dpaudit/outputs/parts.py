"""The parts of an outcome by their place, and places and events in words: "the value at 'x'", "column 'age', row 0".

A dict may lack a key and a list may be short, so parts are found by key, label, field or index, never by counting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property, lru_cache
from pathlib import PurePath
from typing import Any

from dpaudit.outputs.canonical import KEYED, Outcome, Raised, Structure, shown

Step = tuple[str, Outcome]
"""One step from an outcome to a part of it: what kind of step, and the key, label, field or index."""
Place = tuple[Step, ...]
"""The steps from an outcome to one of its parts; () is the outcome itself."""
KEY, LABEL, FIELD, ITEM, RANK, CELL, COLUMN, ROW, MEMBER = (
    "key", "label", "field", "item", "rank", "cell", "column", "row", "member"
)
ABOUT = "about"
"""What pandas keeps beside the values, such as the name of an index."""
SIZE = "size"
"""How many parts of one kind there are."""
ORDER = "order"
"""The keys or labels in the order in which they came; a step by an index is to one of them."""
PRESENCE = frozenset({KEY, LABEL, COLUMN, ROW, MEMBER})
"""Steps to parts that some outputs have and others lack."""


class Within(Enum):
    """The part at the place of a container: its own parts are at places within."""

    WITHIN = "within"


WITHIN = Within.WITHIN


@dataclass(frozen=True)
class Layout:
    """What outputs with the same containers have in common: dicts of the same keys, lists of the same length.

    Args:
        fixed: containers, with their sizes and orders, by their place.
        places: the index of every leaf by its place.
    """

    fixed: Mapping[Place, Outcome]
    places: Mapping[Place, int]

    @cached_property
    def texts(self) -> bool:
        """Whether all keys and labels are strings, which only equal strings: 1 and True are equal keys."""
        steps = (step for place in (*self.fixed, *self.places) for step in place)
        return all(type(key) is str for kind, key in steps if kind in PRESENCE)


def taken_apart(outcome: Outcome) -> tuple[Outcome, tuple[Outcome, ...]]:
    """The skeleton of an outcome, which is equal for outcomes with the same layout, and its leaves in a fixed order."""
    leaves: list[Outcome] = []
    return _strip(outcome, leaves), tuple(leaves)


def _strip(value: Outcome, leaves: list[Outcome]) -> Outcome:
    """The skeleton of a part; appends its leaves in the order in which `_visit` comes to them."""
    kind = type(value)
    if kind in _LEAVES:
        leaves.append(value)
        return None
    if isinstance(value, Structure):
        if value.kind == "DataFrame":
            held = dict(value.parts)
            columns = held.pop("values")
            assert isinstance(columns, tuple)
            inside = [_strip(cell, leaves) for cells in columns for cell in cells]
            labels = (held.pop("columns"), held.pop("index"))
            beside = [(name, _strip(part, leaves)) for name, part in held.items()]
            return (kind, value.kind, labels, tuple(inside), tuple(beside))
        items = value.items() if value.kind in KEYED else value.parts
        return (kind, value.kind, tuple([(name, _strip(part, leaves)) for name, part in items]))
    if isinstance(value, tuple):
        return (kind, tuple([_strip(part, leaves) for part in value]))
    if isinstance(value, frozenset):
        return value
    if (named := _fields(value)) is not None:
        return (kind, tuple([_strip(getattr(value, one.name), leaves) for one in named]))
    leaves.append(value)
    return None


def layout(outcome: Outcome, skeleton: Outcome) -> Layout:
    """The layout of an outcome with this skeleton; a program has few, and each is made once."""
    known = _LAYOUTS.get(skeleton)
    if known is None:
        if len(_LAYOUTS) >= MOST_LAYOUTS:
            _LAYOUTS.clear()
        made = _Making({}, {})
        _visit(outcome, (), made)
        known = _LAYOUTS[skeleton] = Layout(made.fixed, made.places)
    return known


_LAYOUTS: dict[Outcome, Layout] = {}
MOST_LAYOUTS = 1_000
"""Layouts that are kept; a program whose keys are random has as many as outputs."""


@dataclass
class _Making:
    fixed: dict[Place, Outcome]
    places: dict[Place, int]


def has_names(outcome: Outcome) -> bool:
    """Whether an outcome is, or contains in tuples, a dict, data frame or other structure whose parts have names."""
    if type(outcome) is tuple:
        return any(map(has_names, outcome))
    return type(outcome) is Structure and len(outcome.parts) > 0


def _fields(value: Any) -> tuple[Field[Any], ...] | None:
    """The fields of a dataclass; None for anything else."""
    return fields(value) if is_dataclass(value) and not isinstance(value, type | Raised) else None


def _visit(value: Outcome, place: Place, made: _Making) -> None:
    if isinstance(value, Structure):
        made.fixed[place] = WITHIN
        _visit_structure(value, place, made)
    elif isinstance(value, tuple):
        made.fixed[place] = WITHIN
        names = getattr(value, "_fields", None)
        if names is None:
            made.fixed[(*place, (SIZE, ITEM))] = len(value)
        for at, part in enumerate(value):
            _visit(part, (*place, (ITEM, at) if names is None else (FIELD, names[at])), made)
    elif isinstance(value, frozenset):
        made.fixed[place] = WITHIN
        made.fixed[(*place, (SIZE, MEMBER))] = len(value)
        for member in value:
            made.fixed[(*place, (MEMBER, member))] = WITHIN
    elif (named := _fields(value)) is not None:
        made.fixed[place] = WITHIN
        for one in named:
            _visit(getattr(value, one.name), (*place, (FIELD, one.name)), made)
    else:
        made.places[place] = len(made.places)


def _visit_structure(value: Structure, place: Place, made: _Making) -> None:
    if value.kind in KEYED:
        step = KEY if value.kind == "dict" else LABEL
        items = value.items()
        _order(step, [key for key, _ in items], place, made.fixed)
        for (_, part), step_to in zip(items, _steps(step, [key for key, _ in items]), strict=True):
            _visit(part, (*place, step_to), made)
    elif value.kind == "DataFrame":
        held = dict(value.parts)
        labels, index, columns = held.pop("columns"), held.pop("index"), held.pop("values")
        assert isinstance(labels, tuple)
        assert isinstance(index, tuple)
        assert isinstance(columns, tuple)
        rows = _steps(ROW, index)
        _order(COLUMN, labels, place, made.fixed)
        _order(ROW, index, place, made.fixed)
        made.fixed.update({(*place, row): WITHIN for row in rows})
        for column, cells in zip(_steps(COLUMN, labels), columns, strict=True):
            made.fixed[(*place, column)] = WITHIN
            for row, cell in zip(rows, cells, strict=True):
                _visit(cell, (*place, (CELL, (column[1], row[1]))), made)
        for name, part in held.items():
            _visit(part, (*place, (ABOUT, name)), made)
    elif value.kind == "named Series":
        for name, part in value.parts:
            _visit(part, place if name == "items" else (*place, (ABOUT, name)), made)
    else:
        for name, part in value.parts:
            _visit(part, (*place, (FIELD, name)), made)


def _order(step: str, keys: Iterable[Outcome], place: Place, parts: dict[Place, Outcome]) -> None:
    keys = tuple(keys)
    parts[(*place, (SIZE, step))] = len(keys)
    parts[(*place, (ORDER, step))] = keys
    for at, key in enumerate(keys):
        parts[(*place, (ORDER, (step, at)))] = key


def _steps(kind: str, keys: Iterable[Outcome]) -> list[Step]:
    """A step to every key; labels that repeat are distinguished by their number."""
    keys = tuple(keys)
    if len(set(keys)) == len(keys):
        return [(kind, key) for key in keys]
    seen: dict[Outcome, int] = {}
    steps: list[Step] = []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        steps.append((kind, key if seen[key] == 1 else Structure("repeated", (("label", key), ("number", seen[key])))))
    return steps


_LEAVES = frozenset({float, int, str, bool, type(None)})
"""Types of most leaves, which need no further look."""


@lru_cache(maxsize=4096)
def subject(place: Place) -> str:
    """A place in words, as the subject of a sentence."""
    if not place:
        return "output"
    kind, key = place[-1]
    if kind == SIZE:
        inside = place[:-1]
        return f"{_SIZES[str(key)]}{_of(inside)}"
    if kind == ORDER:
        if isinstance(key, tuple):
            step, at = key
            return f"the {_ordinal(int(at) + 1)} {_NAMES[step]}{_of(place[:-1])}"
        return f"the order of the {_NAMES[str(key)]}s{_of(place[:-1])}"
    words = ""
    for at, (kind, key) in enumerate(place):
        words = _further(words, kind, key, first=at == 0)
    return words


def _further(words: str, kind: str, key: Outcome, *, first: bool) -> str:
    if kind in (KEY, LABEL):
        return f"the value at {_label(key)}" if first else f"{words}[{_label(key)}]"
    if kind == FIELD:
        return f"{words or 'output'}.{key}"
    if kind == ITEM:
        return f"{words or 'output'}[{key}]"
    if kind == RANK:
        return f"{words or 'output'} sorted[{key}]" if words else f"item {key} of the sorted output"
    if kind == CELL:
        assert isinstance(key, tuple)
        column, row = key
        cell = f"column {_label(column)}, row {_label(row)}"
    elif kind in (COLUMN, ROW):
        cell = f"{kind} {_label(key)}"
    elif kind == ABOUT:
        cell = _about(str(key))
    else:
        cell = f"member {_label(key)}"
    return f"{words}, {cell}" if words else cell


def _about(name: str) -> str:
    """A part that pandas keeps beside the values: "names 2" is what `_beside` calls it."""
    what, _, at = name.partition(" ")
    of = {"0": "the output", "1": "the columns", "2": "the index"}.get(at, f"column number {at}")
    return f"the {what} of {of}"


def _of(place: Place) -> str:
    return f" of {subject(place)}" if place else ""


def _label(key: Outcome) -> str:
    if isinstance(key, Structure) and key.kind == "repeated":
        (_, label), (_, number) = key.parts
        return f"{shown(label)} (number {number})"
    return shown(key)


def subjects_of(outcome: Outcome) -> Iterator[str]:
    """The places of the leaves of an outcome without keys in words, in the order of `columns.flat`."""
    if isinstance(outcome, str | bytes | PurePath):
        for at in range(len(str(outcome) if isinstance(outcome, PurePath) else outcome)):
            yield f"{'byte' if isinstance(outcome, bytes) else 'character'} {at}"
    else:
        yield from map(subject, _flat_places(outcome, ()))


def _flat_places(value: Any, place: Place) -> Iterator[Place]:
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        for at, part in enumerate(value):
            yield from _flat_places(part, (*place, (ITEM, at) if names is None else (FIELD, names[at])))
    elif isinstance(value, frozenset):
        # members with parts of their own are rare
        for at in range(len(value)):
            yield (*place, (RANK, at))
    elif (named := _fields(value)) is not None:
        for one in named:
            yield from _flat_places(getattr(value, one.name), (*place, (FIELD, one.name)))
    else:
        yield place


def present(place: Place, there: bool) -> str:
    """Whether an output has a part at a place, in words; its last step is in `PRESENCE`."""
    kind, key = place[-1]
    whole = place[:-1]
    if kind == MEMBER:
        return f"{subject(whole)} {'contains' if there else 'does not contain'} {_label(key)}"
    name = f"row with index {_label(key)}" if kind == ROW else f"{_NAMES[kind]} {_label(key)}"
    return f"{name}{_of(whole)} is {'present' if there else 'missing'}"


def equal(place: Place, value: str, holds: bool) -> str:
    """Whether the part at a place is one value, in words."""
    kind, key = place[-1] if place else ("", "")
    if kind == ORDER and not isinstance(key, tuple):
        verb = "come" if holds else "do not come"
        return f"the {_NAMES[str(key)]}s{_of(place[:-1])} {verb} in the order {value}"
    return f"{subject(place)} {'is' if holds else 'is not'} {value}"


def interval(name: str, low: float, high: float) -> str:
    """A number in (low, high], in words; an end may be infinite."""
    if low == math.nextafter(high, -math.inf):
        return f"{name} = {high:.17g}" if float(f"{high:.6g}") != high else f"{name} = {high:.6g}"
    if math.isinf(low) and math.isinf(high):
        return f"{name} is any number"
    # scales are cut just below frequent values: "> 2" would exclude the 2 that is meant
    least, above = (math.nextafter(low, math.inf) + 0.0, "≥") if _just_below(low) else (low, ">")
    most, below = (math.nextafter(high, math.inf) + 0.0, "<") if _just_below(high) else (high, "≤")
    if math.isinf(low):
        return f"{name} {below} {most:.6g}"
    if math.isinf(high):
        return f"{name} {above} {least:.6g}"
    return f"{least:.6g} {'≤' if above == '≥' else '<'} {name} {below} {most:.6g}"


def _just_below(end: float) -> bool:
    """Whether an end is the double below a number that has few digits."""
    after = math.nextafter(end, math.inf)
    return math.isfinite(end) and (after == 0 or float(f"{end:.6g}") == after)


def holds(low: float, high: float) -> bool | None:
    """Whether (low, high] contains 1 and not 0, the other way round (False), or both or none (None)."""
    yes, no = low < 1 <= high, low < 0 <= high
    return None if yes == no else yes


def _ordinal(number: int) -> str:
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NAMES = {KEY: "key", LABEL: "index", COLUMN: "column", ROW: "row"}
_SIZES = {
    KEY: "number of keys", LABEL: "length", COLUMN: "number of columns", ROW: "number of rows", ITEM: "length",
    MEMBER: "number of members",
}
