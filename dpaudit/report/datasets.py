"""Two datasets side by side, short enough to read, with what differs between them marked.

Datasets may hold a million records or be multisets ({"multiset": [[value, count], ...]}); a report shows the
records that differ, some of their neighbours, and how many were left out. The full data is in the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from dpaudit.report.numbers import count
from dpaudit.results.datasets import json_text
from dpaudit.results.model import Json

_CONTEXT = 2  # unchanged items kept on each side of a changed one
_LONGEST_VALUE = 48  # characters
_LONGEST_DIFF = 2000  # records per dataset; beyond it difflib's quadratic worst case is not worth the picture


@dataclass(frozen=True)
class Piece:
    """One value, run of equal values, or "… 120 more …"."""

    text: str
    changed: bool = False


@dataclass(frozen=True)
class Excerpt:
    """One dataset (or one of its named parts): its pieces in order, and its size in words."""

    pieces: tuple[Piece, ...]
    size: str
    bracketed: bool
    """Whether it is a collection, to be shown in brackets."""

    def text(self) -> str:
        """Plain text; what differs is in ‹ ›."""
        body = ", ".join(f"‹{piece.text}›" if piece.changed else piece.text for piece in self.pieces)
        return f"[{body}]" if self.bracketed else body


@dataclass(frozen=True)
class Part:
    """A named part of both datasets ("" for the whole), e.g. the public rows."""

    name: str
    left: Excerpt
    right: Excerpt

    @property
    def marked(self) -> bool:
        """Whether anything is marked."""
        return any(piece.changed for piece in (*self.left.pieces, *self.right.pieces))


def compare(left: Json, right: Json, *, limit: int = 24) -> list[Part]:
    """Both datasets in about `limit` pieces each, part by part when they are objects with named parts."""
    return _compare("", left, right, limit)


def _compare(name: str, left: Json, right: Json, limit: int) -> list[Part]:
    if _is_multiset(left) or _is_multiset(right):
        counts_left, counts_right = _multiset(left), _multiset(right)
        if counts_left is not None and counts_right is not None:
            return [_compare_multisets(name, counts_left, counts_right, limit)]
    if isinstance(left, list) and isinstance(right, list):
        return [_compare_lists(name, left, right, limit)]
    if isinstance(left, dict) and isinstance(right, dict) and left and left.keys() == right.keys():
        return [
            part
            for key in left
            for part in _compare(f"{name}.{key}" if name else str(key), left[key], right[key], limit)
        ]
    changed = left != right
    return [Part(name, *(Excerpt((Piece(_value(v), changed),), "", bracketed=False) for v in (left, right)))]


def _value(value: Json) -> str:
    text = json_text(value)
    if len(text) > _LONGEST_VALUE:
        half = _LONGEST_VALUE // 2 - 1
        text = f"{text[:half]}…{text[-half:]}"
    return text


def _is_multiset(data: Json) -> bool:
    return isinstance(data, dict) and data.keys() == {"multiset"}


def _multiset(data: Json) -> dict[str, tuple[str, int]] | None:
    """Full JSON text of a value → (its short text, its count); None if it is no well-formed collection."""
    if _is_multiset(data):
        data = data["multiset"]
    elif isinstance(data, list):
        data = [[value, 1] for value in data]
    if not isinstance(data, list):
        return None
    result: dict[str, tuple[str, int]] = {}
    for pair in data:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], int)):
            return None
        key = json.dumps(pair[0], sort_keys=True)
        result[key] = (_value(pair[0]), result.get(key, ("", 0))[1] + pair[1])
    return result


def _compare_multisets(
    name: str, left: dict[str, tuple[str, int]], right: dict[str, tuple[str, int]], limit: int
) -> Part:
    keys = list(left) + [key for key in right if key not in left]
    rows = [
        ((left.get(key) or right[key])[0], left.get(key, ("", 0))[1], right.get(key, ("", 0))[1])
        for key in keys
    ]
    excerpts = []
    for which, data in ((1, left), (2, right)):
        pieces = [Piece(f"{row[0]} × {count(int(row[which]))}", row[1] != row[2]) for row in rows]
        records = sum(times for _, times in data.values())
        size = f"{_plural(records, 'record')}, {_plural(len(data), 'value')}"
        excerpts.append(Excerpt(_elided(pieces, [1] * len(pieces), limit), size, bracketed=True))
    return Part(name, *excerpts)


def _compare_lists(name: str, left: list[Json], right: list[Json], limit: int) -> Part:
    texts = [[json.dumps(v, sort_keys=True) for v in data] for data in (left, right)]
    flags = _changes(*texts)
    excerpts = []
    for data, keys, changed in zip((left, right), texts, flags, strict=True):
        pieces, lengths, start = [], [], 0
        for (_, flag), run in groupby(zip(keys, changed, strict=True)):
            length = len(list(run))
            text = _value(data[start])
            # A run of two is shorter written out.
            pieces += (
                [Piece(f"{text} × {count(length)}", flag)] if length > 2 else [Piece(text, flag)] * length
            )
            lengths += [length] if length > 2 else [1] * length
            start += length
        excerpts.append(Excerpt(_elided(pieces, lengths, limit), _plural(len(data), "record"), bracketed=True))
    return Part(name, *excerpts)


def _changes(left: Sequence[str], right: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Which positions of each dataset differ: by position, unless aligning the two explains it with less."""
    pairs = list(zip_longest(left, right))
    by_position = [a != b for a, b in pairs]
    positional = by_position[: len(left)], by_position[: len(right)]
    if sum(by_position) <= 1 or max(len(left), len(right)) > _LONGEST_DIFF:
        return positional
    aligned = [True] * len(left), [True] * len(right)
    for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        for flags, start in ((aligned[0], block.a), (aligned[1], block.b)):
            flags[start : start + block.size] = [False] * block.size
    shorter = sum(map(sum, aligned)) < sum(map(sum, positional))
    return aligned if shorter else positional


def _elided(pieces: list[Piece], lengths: list[int], limit: int) -> tuple[Piece, ...]:
    """About `limit` pieces: changed ones, their neighbours, both ends; gaps say how much is missing."""
    if len(pieces) <= limit:
        return tuple(pieces)
    changed = [i for i, piece in enumerate(pieces) if piece.changed]
    shown = changed[: max(limit // 3, 1)]
    keep = {j for i in shown for j in range(i - _CONTEXT, i + _CONTEXT + 1)} | {0, 1, len(pieces) - 1}
    if not shown:
        keep |= set(range(limit // 2))
    result: list[Piece] = []
    for kept, group in groupby(range(len(pieces)), key=lambda i: i in keep):
        indices = list(group)
        if kept or len(indices) == 1:
            result += [pieces[i] for i in indices]
        else:
            differing = sum(pieces[i].changed for i in indices)
            more = f"… {count(sum(lengths[i] for i in indices))} more"
            more += f", {count(differing)} of them different …" if differing else " …"
            result.append(Piece(more, differing > 0))
    return tuple(result)


def _plural(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
