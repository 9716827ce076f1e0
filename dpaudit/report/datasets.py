"""Two datasets side by side, short enough to read, with what differs between them marked.

`compare` makes parts of a pair. `Part.lines` has their lines of plain text; pages render their pieces, or the rows of a
table (records with named cells). Datasets may hold a million records or be multisets ({"multiset": [[value, count],
...]}); a report shows the records that differ, some of their neighbours, and how many were left out. The full data is
in the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from dpaudit.report.numbers import count
from dpaudit.results.datasets import json_text
from dpaudit.results.model import Json

_CONTEXT = 2  # unchanged items kept on each side of a changed one
_LONGEST_VALUE = 48  # characters
_WIDTH = 88  # characters of a line of a table
_LONGEST_DIFF = 2000  # records per dataset; beyond it difflib's quadratic worst case is not worth the picture


@dataclass(frozen=True)
class Piece:
    """One value, run of equal values, or "… 120 more …"."""

    text: str
    changed: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table, or a gap between rows."""

    number: int | None
    """From 0; None of a gap, whose one piece says what was left out."""
    cells: tuple[Piece, ...]


@dataclass(frozen=True)
class Excerpt:
    """One dataset (or one of its named parts): its pieces in order, and its size in words."""

    pieces: tuple[Piece, ...]
    size: str
    bracketed: bool
    """Whether it is a collection, to be shown in brackets."""
    rows: tuple[Row, ...] = ()
    """Of a table; then `pieces` are the same as a list of records."""

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
    columns: tuple[str, ...] = field(default=(), kw_only=True)
    """Of a table: the names of the cells of its rows; () of another part."""

    def lines(self, *, width: int = _WIDTH) -> list[tuple[Piece, ...]]:
        """Both datasets as lines of plain text, the name D or D′ first; ‹ › are around what differs.

        Args:
            width: characters of a line; columns of a table that do not fit are left out, unchanged ones first.
        """
        if self.columns:
            return self._table_lines(width)
        lines = []
        for name, excerpt in (("D ", self.left), ("D′", self.right)):
            line = [Piece(f"{name} {self.name}: " if self.name else f"{name} ")]
            line.append(Piece("[" if excerpt.bracketed else ""))
            for number, piece in enumerate(excerpt.pieces):
                line += [Piece(", " if number else ""), replace(piece, text=_marked(piece))]
            line.append(Piece("]" if excerpt.bracketed else ""))
            line.append(Piece(f"  ({excerpt.size})" if excerpt.size else ""))
            lines.append(tuple(piece for piece in line if piece.text))
        return lines

    def _table_lines(self, width: int) -> list[tuple[Piece, ...]]:
        both = ("D ", self.left), ("D′", self.right)
        rows = [row for _, excerpt in both for row in excerpt.rows if row.number is not None]
        numbers = max((len(str(row.number)) for row in rows), default=1)
        widths = [
            max([len(name), *(len(row.cells[i].text) for row in rows)]) for i, name in enumerate(self.columns)
        ]
        shown = _fitting(widths, {i for row in rows for i, cell in enumerate(row.cells) if cell.changed}, width)
        left_out = len(self.columns) - len(shown)
        lines: list[tuple[Piece, ...]] = []
        for name, excerpt in both:
            # as wide as a cell with its marks
            heading = "".join(f" {_padded(self.columns[i], widths[i], self._right(rows, i))} " for i in shown)
            more = f"  … {_plural(left_out, 'more column')}" if left_out else ""
            size = f"  ({excerpt.size})" if excerpt.size else ""
            lines.append((Piece(f"{name} {' ' * (numbers + 1)}{heading}".rstrip() + f"{more}{size}"),))
            for row in excerpt.rows:
                if row.number is None:
                    lines.append((Piece(" " * (numbers + 5)), *row.cells))
                    continue
                line = [Piece(f"   {row.number:>{numbers}} ")]
                for i in shown:
                    text = row.cells[i].text
                    space = " " * (widths[i] - len(text))
                    right = self._right(rows, i)
                    line.append(Piece(space if right else ""))
                    line.append(replace(row.cells[i], text=f"‹{text}›" if row.cells[i].changed else f" {text} "))
                    line.append(Piece("" if right else space))
                if line[-1].text.isspace() or not line[-1].text:
                    line.pop()
                line[-1] = replace(line[-1], text=line[-1].text.rstrip())
                lines.append(tuple(piece for piece in line if piece.text))
        return lines

    @staticmethod
    def _right(rows: Sequence[Row], at: int) -> bool:
        """Whether a column is of numbers, which are aligned at their right ends."""
        return all(_is_number(row.cells[at].text) for row in rows)

    @property
    def marked(self) -> bool:
        """Whether anything is marked."""
        return any(piece.changed for piece in (*self.left.pieces, *self.right.pieces))


def compare(left: Json, right: Json, *, columns: Sequence[str] | None = None, limit: int = 24) -> list[Part]:
    """Both datasets in about `limit` pieces each, part by part when they are objects with named parts.

    Args:
        left, right: in JSON form.
        columns: names of the cells of a record, if the records are rows of a table.
        limit: about how many pieces or rows of each dataset are shown.
    """
    if _is_recorded(left) and _is_recorded(right):
        return [Part("", _recording(left), _recording(right))]
    parts = _compare("", left, right, limit)
    if columns and isinstance(left, list) and isinstance(right, list):
        width = len(columns)
        if all(isinstance(row, list) and len(row) == width for row in (*left, *right)):
            (part,) = parts
            own, other = _tables(left, right, limit)
            return [
                Part(
                    part.name,
                    replace(part.left, rows=own, size=_plural(len(left), "row")),
                    replace(part.right, rows=other, size=_plural(len(right), "row")),
                    columns=tuple(map(_name, columns)),
                )
            ]
    return parts


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


def _is_recorded(data: Json) -> bool:
    """Whether it stands for a dataset of which only recorded outputs are known."""
    return isinstance(data, dict) and data.keys() == {"recorded", "outputs"} and isinstance(data["outputs"], int)


def _recording(data: Json) -> Excerpt:
    name, number = str(data["recorded"]), _plural(data["outputs"], "recorded output")
    named = name not in ("D", "D′")
    return Excerpt((Piece(name if named else number),), number if named else "", bracketed=False)


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


def _tables(
    left: list[list[Json]], right: list[list[Json]], limit: int
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The rows of both datasets; of a replaced row the cells that differ are marked, of another one all."""
    first, second = _changes(*([json.dumps(row, sort_keys=True) for row in data] for data in (left, right)))
    places = [i for i, flag in enumerate(first) if flag]
    others = [i for i, flag in enumerate(second) if flag]
    if len(places) != len(others):
        nothing: dict[int, list[Json]] = {}
        return _rows(left, first, nothing, limit), _rows(right, second, nothing, limit)
    # replaced rows come in the same order in both
    beside = dict(zip(places, (right[i] for i in others), strict=True))
    return _rows(left, first, beside, limit), _rows(
        right, second, dict(zip(others, (left[i] for i in places), strict=True)), limit
    )


def _rows(
    data: list[list[Json]], changed: Sequence[bool], beside: dict[int, list[Json]], limit: int
) -> tuple[Row, ...]:
    """The rows of one dataset.

    Args:
        data: its records.
        changed: which of them differ.
        beside: what stands in the place of a changed row in the other dataset.
        limit: about how many to show.
    """

    def row(i: int) -> Row:
        against = beside.get(i)
        marks = [changed[i] and (against is None or cell != against[j]) for j, cell in enumerate(data[i])]
        if changed[i] and not any(marks):
            # equal but for the type, as 1 and True are
            marks = [True] * len(marks)
        return Row(i, tuple(Piece(_cell(cell), mark) for cell, mark in zip(data[i], marks, strict=True)))

    numbers = [Piece(str(i), flag) for i, flag in enumerate(changed)]
    shown = _elided(numbers, [1] * len(numbers), limit, "rows")
    return tuple(Row(None, (one,)) if one.text.startswith("…") else row(int(one.text)) for one in shown)


def _cell(value: Json) -> str:
    """A cell as a table shows it: text without quotes, unless it is not what it looks like."""
    match value:
        case None | True | False:
            return str(value)
        case str() if value and value == value.strip() and value.isprintable() and not _is_number(value):
            if value not in ("None", "True", "False"):
                text = value.removesuffix("T00:00:00")
                return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
    return _value(value)


def _name(column: str) -> str:
    return column if column and column.isprintable() else json.dumps(column)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _padded(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _marked(piece: Piece) -> str:
    return f"‹{piece.text}›" if piece.changed else piece.text


def _fitting(widths: Sequence[int], changed: set[int], width: int) -> list[int]:
    """The columns that fit into a line: those with changes first, then the others from the left."""
    shown: list[int] = []
    used = 8
    for i in sorted(range(len(widths)), key=lambda i: (i not in changed, i)):
        used += widths[i] + 2
        if used > width and shown:
            break
        shown.append(i)
    return sorted(shown)


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


def _elided(pieces: list[Piece], lengths: list[int], limit: int, noun: str = "") -> tuple[Piece, ...]:
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
            more = f"… {count(sum(lengths[i] for i in indices))} more{f' {noun}' if noun else ''}"
            more += f", {count(differing)} of them different …" if differing else " …"
            result.append(Piece(more, differing > 0))
    return tuple(result)


def _plural(number: int, noun: str) -> str:
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
