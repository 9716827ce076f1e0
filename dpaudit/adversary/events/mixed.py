"""Encode outputs without a fixed form, by position: tuples of varying length, mixed symbols and numbers, strings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import repeat, zip_longest
from pathlib import PurePath

import numpy as np

from dpaudit.interpret import outcomes
from dpaudit.language import Bottom
from dpaudit.outputs.canonical import Outcome, Raised, shown
from dpaudit.outputs.columns import SHARP, Encoder, Floats, Values, as_number, flat, sums
from dpaudit.outputs.parts import holds, interval, subjects_of
from dpaudit.stats.arrays import IntArray

POSITIONS = 48
"""Positions of a tuple that get columns; later ones count only for the totals."""
SYMBOLS = 12
"""This many of the most frequent symbols have their own columns; the others share the rest."""


NAMED = 1_000
"""Outputs by which positions are named."""
LARGEST = 1e150
"""Larger numbers are clipped to this, so that sums and differences stay finite."""
CHUNK = 1 << 16
"""Outputs encoded at once: each takes hundreds of bytes of memory meanwhile."""
_PLAIN = frozenset({float, int, bool, str, type(None), Bottom})
_NUMBERS = frozenset({float, int, bool})
_WHOLE = frozenset({int, bool})
_WORDS = frozenset({float, str, type(None), Bottom})
"""Types whose leaves, except floats, never equal a number."""
_Column = tuple[Sequence[Outcome], frozenset[type]]
"""The leaves at one position of every output, and their types."""


@dataclass(frozen=True)
class Mixed(Encoder):
    """Any hashable values, position by position: numbers, symbols, the count of each, and its first position.

    Args:
        places: the number of positions that get columns.
        symbols: the known symbols, as strings.
        kept: the columns that varied when the encoder was made.
        subjects: what the positions are called in sentences.
    """

    places: int
    symbols: tuple[str, ...]
    middles: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()
    kept: tuple[int, ...] = ()
    subjects: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Sequence[Outcome]) -> Mixed:
        """An encoder fitted to the given outputs."""
        parts = _leaves(values)
        leaves = _columns(parts)
        seen: Counter[str] = Counter()
        for column, _ in leaves:
            # by type too: otherwise 1 and True are the same key
            for (_, leaf), times in Counter((type(leaf), leaf) for leaf in column if type(leaf) is not float).items():
                if (symbol := symbol_of(leaf)) is not None:
                    seen[symbol] += times
        places = min(len(leaves), POSITIONS)
        symbols = tuple(s for s, _ in sorted(seen.items(), key=lambda at: (-at[1], at[0]))[:SYMBOLS])
        numbers = _placed(leaves, places)
        middles, scales = [], []
        for placed in numbers.T:
            known = placed[~np.isnan(placed)]
            middle = float(np.median(known)) if len(known) else 0.0
            scale = float(np.abs(known - middle).mean()) if len(known) else 0.0
            middles.append(middle)
            scales.append(scale if scale > 0 else 1.0)
        whole = cls(places, symbols, tuple(middles), tuple(scales))
        columns = whole._all(parts)
        differ = np.flatnonzero(np.ptp(columns, axis=0) > 0) if len(columns) else np.arange(0)
        return cls(places, symbols, tuple(middles), tuple(scales), tuple(differ.tolist()), _subjects(values, places))

    @property
    def names(self) -> tuple[str, ...]:
        every = self._all_names()
        return tuple(every[i] for i in self.kept)

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        whole = tuple(range(len(self.kept)))
        counted = self.totals
        placed = tuple(i for i in whole if i not in counted)
        groups = {"places": placed, "totals": counted, "features": whole}
        return {name: columns for name, columns in groups.items() if columns}

    def encode(self, values: Values) -> Floats:
        if isinstance(values, np.ndarray):
            values = outcomes(values)
        kept = list(self.kept)
        chunks = [self._all(_leaves(values[at : at + CHUNK]))[:, kept] for at in range(0, len(values), CHUNK)]
        return np.vstack(chunks) if chunks else np.empty((0, len(kept)))

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(i for i, column in enumerate(self.kept) if column >= self._totals)

    @property
    def distinct(self) -> tuple[int, ...]:
        # without the smoothed signs of the numbers
        return tuple(i for i, column in enumerate(self.kept) if not self.places <= column < 2 * self.places)

    @property
    def _totals(self) -> int:
        """The index of the first column that describes the whole output."""
        return self.places * (3 + len(self.symbols))

    def sentence(self, column: int, low: float, high: float) -> str:
        i = self.kept[column]
        there = holds(low, high)
        if self.places <= i < 2 * self.places and i + self.places not in self.kept:
            # always a number: the same threshold on the number itself, unless that is too close to a value to be sure
            ends = [self._unsquashed(i - self.places, end) for end in (low, high)]
            if None not in ends:
                return interval(self.subjects[i - self.places], *(end for end in ends if end is not None))
        if self.places * 2 <= i < self._totals and there is not None:
            at = i % self.places
            symbol = "a number" if i < self.places * 3 else self.symbols[i // self.places - 3]
            return f"{self.subjects[at]} {'is' if there else 'is not'} {symbol}"
        first = self._totals + 6
        if first <= i < first + len(self.symbols):
            symbol = self.symbols[i - first]
            if 0 <= low < 1 and math.isinf(high):
                return f"output contains {symbol}"
            if low < 0 <= high < 1:
                return f"output does not contain {symbol}"
        return super().sentence(column, low, high)

    def _unsquashed(self, at: int, end: float) -> float | None:
        """The number at a position whose smoothed sign is this; None if rounding might change its comparisons."""
        if math.isinf(end):
            return end
        if not -1 < end < 1:
            return None
        number = self.middles[at] + self.scales[at] * math.atanh(end) / SHARP
        return None if math.isclose(number, float(f"{number:.6g}"), rel_tol=1e-9, abs_tol=1e-12) else number

    def _all_names(self) -> list[str]:
        subjects, n = self.subjects, self.places
        sometimes = {i - 2 * n for i in self.kept if 2 * n <= i < 3 * n}
        names = [
            f"{subject} (or {self.middles[i]:.3g} if it is not a number)" if i in sometimes else subject
            for i, subject in enumerate(subjects)
        ]
        names += [f"smoothed sign of ({subject} − {self.middles[i]:.3g})" for i, subject in enumerate(subjects)]
        names += [f"{subject} is a number" for subject in subjects]
        names += [f"{subject} is {s}" for s in self.symbols for subject in subjects]
        names += ["length", "count of numbers", "sum", "largest", "smallest", "sum of the smoothed signs"]
        names += [f"count of {s}" for s in self.symbols]
        return names + [f"index of the first {s}" for s in self.symbols]

    def _all(self, parts: Sequence[tuple[Outcome, ...]]) -> Floats:
        leaves = _columns(parts)
        numbers = _placed(leaves, self.places)
        known = ~np.isnan(numbers)
        z = np.clip((numbers - np.asarray(self.middles)) / np.asarray(self.scales), -8, 8)
        squashed = np.where(known, np.tanh(SHARP * z), 0.0)
        plain = np.where(known, numbers, np.asarray(self.middles))
        codes = self._codes(leaves)
        is_symbol = [codes[:, : self.places] == i for i in range(len(self.symbols))]
        every = [codes == i for i in range(len(self.symbols))]
        counts = [where.sum(axis=1, dtype=np.float64) for where in every]
        # a symbol first seen after the encoded positions counts as absent
        first = [
            np.where(where.any(axis=1), np.minimum(where.argmax(axis=1), self.places), float(self.places))
            for where in every
        ]
        empty = ~known.any(axis=1)
        totals = [
            np.fromiter(map(len, parts), dtype=np.float64, count=len(parts)),
            known.sum(axis=1, dtype=np.float64),
            sums(np.where(known, numbers, 0.0)),
            np.where(empty, 0.0, np.where(known, numbers, -np.inf).max(axis=1, initial=-np.inf)),
            np.where(empty, 0.0, np.where(known, numbers, np.inf).min(axis=1, initial=np.inf)),
            sums(squashed),
        ]
        blocks = [plain, squashed, known.astype(np.float64), *(s.astype(np.float64) for s in is_symbol)]
        return np.hstack([*blocks, np.column_stack([*totals, *counts, *first])])

    def _codes(self, columns: Sequence[_Column]) -> IntArray:
        """The index of the known symbol at every position, −1 if none, shape (r, ≥ places); one column or more."""
        code = {symbol: i for i, symbol in enumerate(self.symbols)}
        codes = [_codes(leaves, kinds, code) for leaves, kinds in columns]
        # all outputs may be shorter than those that the encoder was made from
        codes += [np.full(len(columns[0][0]), -1)] * (self.places - len(columns))
        return np.column_stack(codes)


def _subjects(values: Sequence[Outcome], places: int) -> tuple[str, ...]:
    """What each position is called: "output[2]", "character 2", "output.count"; a general name if outputs differ."""
    names: list[set[str]] = [set() for _ in range(places)]
    for value in values[:: max(1, len(values) // NAMED)]:
        for at, name in zip(range(places), subjects_of(value), strict=False):
            names[at].add(name)
    return tuple(one.pop() if len(one) == 1 else f"item {at} of the output" for at, one in enumerate(names))


def _columns(parts: Sequence[tuple[Outcome, ...]]) -> list[_Column]:
    """The leaves by position, NaN after the end of an output, each position with its types."""
    columns = list(zip_longest(*parts, fillvalue=math.nan)) or [(math.nan,) * len(parts)]
    return [(column, frozenset(map(type, column))) for column in columns]


def _leaves(values: Sequence[Outcome]) -> Sequence[tuple[Outcome, ...]]:
    """The leaves of every output; a tuple of plain values is already flat."""
    plain = all(
        type(value) is tuple
        and _PLAIN.issuperset(map(type, value))
        and not (math.inf in value or -math.inf in value)
        for value in values
    )
    return values if plain else [flat(value) for value in values]  # type: ignore[return-value]


def _codes(leaves: Sequence[Outcome], kinds: frozenset[type], code: dict[str, int]) -> IntArray:
    """The indices of the known symbols at one position."""
    if kinds == {float}:
        return np.full(len(leaves), -1)
    if kinds <= _WHOLE:
        try:
            different, at = np.unique(np.array(leaves, dtype=np.int64), return_inverse=True)
        except OverflowError:
            each = (code.get(symbol_of(leaf) or "", -1) for leaf in leaves)
            return np.fromiter(each, dtype=np.int64, count=len(leaves))
        whole: IntArray = np.array([code.get(str(n), -1) for n in different.tolist()], dtype=np.int64)[at]
        return whole
    if kinds <= _WORDS:
        known = {leaf: code.get(symbol_of(leaf) or "", -1) for leaf in set(leaves) if type(leaf) is not float}
        return np.fromiter(map(known.get, leaves, repeat(-1)), dtype=np.int64, count=len(leaves))
    # 1, True and 1.0 are equal, so leaves of these types cannot be looked up by value
    symbols = {id(leaf): leaf for leaf in leaves if type(leaf) is not float}
    codes = {at: code.get(symbol_of(leaf) or "", -1) for at, leaf in symbols.items()}
    return np.fromiter((codes.get(id(leaf), -1) for leaf in leaves), dtype=np.int64, count=len(leaves))


def symbol_of(leaf: Outcome) -> str | None:
    """The string of a leaf that is not a float; whole numbers are symbols too."""
    if isinstance(leaf, float):
        return None
    # equal values must be encoded equally
    if isinstance(leaf, int):
        return str(int(leaf))
    if isinstance(leaf, Fraction) and leaf.denominator == 1:
        return str(leaf.numerator)
    if isinstance(leaf, Decimal) and leaf.is_finite() and leaf == leaf.to_integral_value():
        return str(int(leaf))
    # the repr of any other object might contain its address
    return shown(leaf) if isinstance(leaf, _SYMBOLS) else type(leaf).__name__


_SYMBOLS = (str, bytes, Enum, type(None), frozenset, Raised)


def unread(value: Outcome) -> str | None:
    """The type of a part of an outcome that no encoder reads, if any; such an outcome can only be counted."""
    if type(value) in _PLAIN and type(value) is not int:
        return None
    leaves = (leaf for leaf in flat(value) if type(leaf) is not float and not isinstance(leaf, _SYMBOLS))
    return next((type(leaf).__name__ for leaf in leaves if math.isnan(as_number(leaf))), None)


def _placed(columns: Sequence[_Column], places: int) -> Floats:
    """The numbers of every output by position, infinite ones as ±LARGEST, NaN elsewhere, shape (r, places)."""
    numbers = np.full((len(columns[0][0]), places), np.nan)
    for i, (leaves, kinds) in enumerate(columns[:places]):
        if kinds <= _NUMBERS:
            try:
                numbers[:, i] = np.array(leaves, dtype=np.float64)
            except OverflowError:
                numbers[:, i] = [number_of(leaf) for leaf in leaves]
        elif kinds <= _WORDS:
            if float in kinds or any(type(leaf) is str and len(leaf) > 1 for leaf in leaves):
                numbers[:, i] = [leaf if type(leaf) is float else number_of(leaf) for leaf in leaves]
        else:
            numbers[:, i] = [leaf if type(leaf) is float else number_of(leaf) for leaf in leaves]
    clipped: Floats = np.clip(numbers, -LARGEST, LARGEST)
    return clipped


def number_of(leaf: Outcome) -> float:
    """The number of a leaf, or of its string; NaN if it is none."""
    return math.nan if leaf is None else _written(leaf) if isinstance(leaf, str | bytes) else as_number(leaf)


def _written(string: str | bytes) -> float:
    """The number written in a string, NaN if it is not a number; a single character is a symbol."""
    try:
        return as_number(float(string)) if len(string) > 1 else math.nan
    except ValueError:
        return math.nan


def hidden_texts(value: Outcome) -> set[str | bytes]:
    """The strings among the parts of an outcome that are not numbers: only frequent ones are encoded."""
    if isinstance(value, str | bytes | PurePath):
        return set()  # read letter by letter
    leaves = {leaf for leaf in flat(value) if isinstance(leaf, str | bytes)} - {"inf", "-inf"}
    return {leaf for leaf in leaves if math.isnan(_written(leaf))}
