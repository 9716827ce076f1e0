"""Encode outputs whose parts have names: dicts, Series, data frames, and anything that contains them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpaudit.adversary.events.mixed import CHUNK, LARGEST, number_of, symbol_of
from dpaudit.interpret import outcomes
from dpaudit.outputs.canonical import Outcome, Structure, shown
from dpaudit.outputs.columns import SHARP, Encoder, Floats, Values, coarse, sums
from dpaudit.outputs.parts import (
    ABOUT,
    ITEM,
    ORDER,
    PRESENCE,
    SIZE,
    WITHIN,
    Layout,
    Place,
    equal,
    holds,
    interval,
    layout,
    present,
    subject,
    taken_apart,
)
from dpaudit.stats.arrays import BoolArray, IntArray

MOST_PLACES = 64
"""Parts of an output that get columns: those that differ most between the datasets, if there are more."""
MOST_LEAVES = 1_000_000
"""Parts examined to make an encoder; of larger outputs fewer are examined."""
SYMBOLS, WHOLE_NUMBERS = 12, 4
"""This many of the most frequent values of a part get a column each; of numbers, which have thresholds too, fewer."""
FREQUENT = 0.002
"""Least share of the outputs for a value to have a column."""


@dataclass(frozen=True)
class Feature:
    """One column.

    Args:
        kind: "present", "number", "is", "largest" (of all numbers), "total", or for learned scores "filled" (a number,
            `middle` where there is none) and "squashed".
        place: the part that is read.
        value: for "is" the value's symbol, for "total" which one.
        shown: the value in words.
        written: whether the number is written in a string.
        partial: whether some outputs have no such number; learned scores leave such a column out.
    """

    kind: str
    place: Place = ()
    value: str = ""
    shown: str = ""
    middle: float = 0.0
    scale: float = 1.0
    written: bool = False
    partial: bool = False

    @property
    def name(self) -> str:
        """The column as the subject of a sentence."""
        if self.kind == "total":
            return _TOTALS[self.value]
        if self.kind in ("present", "is", "largest"):
            return self.sentence(0.5, math.inf)
        name = f"the number in {subject(self.place)}" if self.written else subject(self.place)
        if self.kind == "filled":
            return f"{name} (or {self.middle:.3g} if there is none)"
        return f"smoothed sign of ({name} − {self.middle:.3g})" if self.kind == "squashed" else name

    def sentence(self, low: float, high: float) -> str:
        """What it means that the column is in (low, high]."""
        if self.kind not in ("present", "is", "largest"):
            return interval(self.name, low, high)
        there = holds(low, high)
        if there is None:
            return "any output" if low < 1 <= high else "no output"
        if self.kind == "present":
            return present(self.place, there)
        if self.kind == "is":
            return equal(self.place, self.shown, there)
        return f"{subject(self.place)} is {'' if there else 'not '}the largest number"


_TOTALS = {
    "sum": "the sum of all numbers", "most": "the largest number", "least": "the smallest number",
    "numbers": "the count of numbers",
}


@dataclass(frozen=True)
class Keyed(Encoder):
    """Outputs part by part, each found by its key, label, field or index.

    A threshold on a number holds for no output without this number, so that its description is true as it stands.

    Args:
        features: the columns, without those that did not vary or repeat others when the encoder was made.
        places: the numbers that are compared for the largest one.
    """

    features: tuple[Feature, ...]
    places: tuple[Place, ...] = ()
    readable: ClassVar[bool] = True

    @classmethod
    def of(cls, values: Sequence[Outcome], times: IntArray) -> Keyed:
        """An encoder fitted to the given outputs.

        Args:
            values: r outputs.
            times: how often each occurred under D and D′, shape (2, r).
        """
        some = [len(taken_apart(value)[1]) for value in values[:100]]
        stride = max(1, math.ceil(sum(some) / max(1, len(some)) * len(values) / MOST_LEAVES))
        reader = _Reader(values[::stride])
        places = _differing(reader, times[:, ::stride])
        features = _features(reader, places)
        numbers = tuple(
            one.place for one in features
            if one.kind == "number" and _is_value(one.place) and varies(reader.numbers(one.place))
        )
        if len(numbers) > 1:
            features += [Feature("total", value=total) for total in _TOTALS]
            features += [Feature("largest", place) for place in numbers if len(numbers) <= SYMBOLS]
        whole = cls(tuple(features), numbers)
        columns = whole.columns(reader)
        seen: set[bytes] = set()
        kept = []
        for feature, column in zip(features, columns.T, strict=True):
            # a 0-1 column and its complement have the same threshold events
            flipped = 1 - column if len(column) and column[0] == 1 and feature.kind in _ZERO_ONE else column
            image = (feature.kind == "squashed").to_bytes(1, "big") + (flipped + 0.0).tobytes()
            if varies(column) and image not in seen:
                seen.add(image)
                kept.append(replace(feature, partial=bool(np.isnan(column).any())))
        return cls(tuple(kept), numbers)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def sentence(self, column: int, low: float, high: float) -> str:
        return self.features[column].sentence(low, high)

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        shared = [i for i, one in enumerate(self.features) if one.kind != "squashed" and not one.partial]
        squashed = [i for i, one in enumerate(self.features) if one.kind == "squashed" or one.kind in _ZERO_ONE]
        groups = {"parts": tuple(shared), "squashed": tuple(squashed)}
        return {name: columns for name, columns in groups.items() if columns}

    @property
    def single(self) -> tuple[int, ...]:
        return tuple(i for i, one in enumerate(self.features) if one.kind not in ("filled", "squashed"))

    def encode(self, values: Values) -> Floats:
        if isinstance(values, np.ndarray):
            values = outcomes(values)
        chunks = [self.columns(_Reader(values[at : at + CHUNK])) for at in range(0, len(values), CHUNK)]
        return np.vstack(chunks) if chunks else np.empty((0, len(self.features)))

    def columns(self, reader: _Reader) -> Floats:
        """The columns of some outputs, shape (r, features)."""
        columns = np.zeros((reader.size, len(self.features)))
        largest = self._largest(reader) if any(one.kind == "largest" for one in self.features) else None
        for i, one in enumerate(self.features):
            if one.kind == "present":
                columns[:, i] = reader.present(one.place)
            elif one.kind == "is":
                columns[:, i] = reader.equal(one.place, one.value)
            elif one.kind == "total":
                columns[:, i] = reader.totals[one.value]
            elif one.kind == "largest" and largest is not None:
                columns[:, i] = largest == self.places.index(one.place)
            else:
                numbers = reader.numbers(one.place)
                known = ~np.isnan(numbers)
                if one.kind == "number":
                    columns[:, i] = numbers
                elif one.kind == "filled":
                    columns[:, i] = np.where(known, numbers, one.middle)
                else:
                    z = np.clip((numbers - one.middle) / one.scale, -8, 8)
                    columns[:, i] = np.where(known, np.tanh(SHARP * z), 0.0)
        return columns

    def _largest(self, reader: _Reader) -> IntArray:
        """The index in `places` of the largest number of every output; −1 if it has none there."""
        numbers = np.column_stack([reader.numbers(place) for place in self.places])
        rows = np.where(np.isnan(numbers), -np.inf, numbers)
        some = np.isfinite(rows).any(axis=1)
        size = np.where(np.isnan(numbers), 0.0, np.abs(numbers)).max(axis=1, keepdims=True)
        # numbers that are equal up to rounding count as equally large
        at: IntArray = np.where(some, coarse(rows, size).argmax(axis=1), -1)
        return at


NEW_KEYS = 0.1
"""From this many sets of keys per output on, the keys are read too."""
_ZERO_ONE = frozenset({"present", "is", "largest"})


def varies(column: Floats) -> bool:
    """Whether a column has several values; NaN stands for none."""
    known = column[~np.isnan(column)]
    return len(known) > 0 and (len(known) < len(column) or bool(np.ptp(known) > 0))


@dataclass
class _Alike:
    """Outputs of one layout: their rows, and the leaves of each."""

    layout: Layout
    rows: list[int]
    leaves: list[tuple[Outcome, ...]]


class _Reader:
    """Reads the parts of some outputs place by place, each once."""

    def __init__(self, values: Sequence[Outcome]) -> None:
        self.size = len(values)
        self._numbers: dict[Place, Floats] = {}
        self._symbols: dict[Place, list[str | None]] = {}
        groups: dict[Outcome, _Alike] = {}
        for row, value in enumerate(values):
            skeleton, leaves = taken_apart(value)
            if (group := groups.get(skeleton)) is None:
                group = groups[skeleton] = _Alike(layout(value, skeleton), [], [])
            group.rows.append(row)
            group.leaves.append(leaves)
        self.groups = list(groups.values())

    def leaves(self, place: Place) -> list[Outcome]:
        """The part of every output at a place."""
        leaves: list[Outcome] = [ABSENT] * self.size
        for group in self.groups:
            at = group.layout.places.get(place)
            if at is not None:
                for row, one in zip(group.rows, group.leaves, strict=True):
                    leaves[row] = one[at]
            elif place in group.layout.fixed:
                for row in group.rows:
                    leaves[row] = group.layout.fixed[place]
        return leaves

    def present(self, place: Place) -> BoolArray:
        """A mask of the outputs that have a part at a place."""
        mask = np.zeros(self.size, dtype=np.bool_)
        for group in self.groups:
            if place in group.layout.places or place in group.layout.fixed:
                mask[group.rows] = True
        return mask

    def numbers(self, place: Place) -> Floats:
        """The numbers at a place, NaN where there is none."""
        if place not in self._numbers:
            numbers = self._numbers[place] = np.full(self.size, np.nan)
            for group in self.groups:
                at = group.layout.places.get(place)
                if at is not None:
                    numbers[group.rows] = _clipped([leaves[at] for leaves in group.leaves])
                elif place in group.layout.fixed:
                    numbers[group.rows] = number_of(group.layout.fixed[place])
        return self._numbers[place]

    def symbols(self, place: Place) -> list[str | None]:
        """The symbols at a place, None where there is none."""
        if place not in self._symbols:
            self._symbols[place] = list(map(_symbol, self.leaves(place)))
        return self._symbols[place]

    def equal(self, place: Place, symbol: str) -> BoolArray:
        """A mask of the outputs with this symbol at a place."""
        return np.array([one == symbol for one in self.symbols(place)], dtype=np.bool_)

    @cached_property
    def totals(self) -> dict[str, Floats]:
        """The sum, extremes and number of all numbers of every output, wherever they are; shape (r,) each."""
        totals = {name: np.full(self.size, np.nan) for name in _TOTALS}
        for group in self.groups:
            places = [at for place, at in group.layout.places.items() if _is_value(place)]
            rows = np.empty((len(group.rows), 0))
            if places:
                rows = np.column_stack([_clipped([leaves[at] for leaves in group.leaves]) for at in places])
            known = ~np.isnan(rows)
            empty = ~known.any(axis=1)
            totals["numbers"][group.rows] = known.sum(axis=1)
            totals["sum"][group.rows] = sums(np.where(known, rows, 0.0))
            most = np.where(known, rows, -np.inf).max(axis=1, initial=-np.inf)
            least = np.where(known, rows, np.inf).min(axis=1, initial=np.inf)
            totals["most"][group.rows] = np.where(empty, np.nan, most)
            totals["least"][group.rows] = np.where(empty, np.nan, least)
        return totals


ABSENT = Structure("absent", ())
"""Stands for a part that an output lacks."""


def _clipped(leaves: Sequence[Outcome]) -> Floats:
    """The numbers of some leaves, NaN for those that have none."""
    if set(map(type, leaves)) != {float}:
        leaves = [leaf if type(leaf) is float else number_of(leaf) for leaf in leaves]
    numbers = np.array(leaves, dtype=np.float64)
    clipped: Floats = np.clip(numbers, -LARGEST, LARGEST)
    return clipped


def _symbol(leaf: Outcome) -> str | None:
    if leaf is WITHIN or leaf is ABSENT:
        return None
    if type(leaf) is float:
        # 3 and 3.0 are equal, so they are the same symbol
        return str(int(leaf)) if leaf.is_integer() else None if math.isfinite(leaf) else repr(leaf)
    if type(leaf) is tuple:
        return ", ".join(map(shown, leaf))
    return symbol_of(leaf)


def _is_value(place: Place) -> bool:
    """Whether a place is that of a part which the function returned, not of a size, an order or a name."""
    return not any(kind in (SIZE, ORDER, ABOUT) for kind, _ in place)


def _differing(reader: _Reader, times: IntArray) -> list[Place]:
    """The places that get columns, in order of first occurrence."""
    often: Counter[Place] = Counter()
    for group in reader.groups:
        often.update(dict.fromkeys((*group.layout.fixed, *group.layout.places), len(group.rows)))
    # where hardly any two outputs have the same keys, the keys themselves are numbers or symbols to learn from
    orders = len(reader.groups) > max(MOST_PLACES, NEW_KEYS * reader.size) or _orders_matter(reader.groups)
    least = max(2.0, FREQUENT * reader.size) if len(often) > MOST_PLACES else 0.0
    places = [
        place for place, times in often.items() if times >= least and (orders or not place or place[-1][0] != ORDER)
    ]
    if len(places) <= MOST_PLACES or not times.sum(axis=1).all():
        return places[:MOST_PLACES]
    scores = [_difference(reader.leaves(place), times) for place in places]
    best = sorted(range(len(places)), key=lambda at: (-scores[at], at))[:MOST_PLACES]
    return [places[at] for at in sorted(best)]


def _orders_matter(groups: Sequence[_Alike]) -> bool:
    """Whether the same keys came in different orders."""
    known: dict[tuple[Place, frozenset[Outcome]], Outcome] = {}
    for group in groups:
        for place, order in group.layout.fixed.items():
            whole = bool(place) and place[-1][0] == ORDER and not isinstance(place[-1][1], tuple)
            if whole and isinstance(order, tuple) and known.setdefault((place, frozenset(order)), order) != order:
                return True
    return False


def _difference(leaves: Sequence[Outcome], times: IntArray) -> float:
    """Standard errors by which the parts at a place differ between the datasets: in presence, mean, or a symbol."""
    n, m = times.sum(axis=1).tolist()

    def share(mask: BoolArray) -> float:
        x, y = (times[:, mask].sum(axis=1) / (n, m)).tolist()
        both = (x * n + y * m) / (n + m)
        return float(abs(x - y) / math.sqrt(max(both * (1 - both), 1 / (n + m)) * (1 / n + 1 / m)))

    score = share(np.array([leaf is not ABSENT for leaf in leaves], dtype=np.bool_))
    numbers = _clipped(leaves)
    known = ~np.isnan(numbers)
    if min(held := times[:, known].sum(axis=1).tolist()) > 1:
        numbers, weights = numbers[known], times[:, known]
        means = weights @ numbers / held
        spread = math.sqrt(float((weights @ np.square(numbers - numbers.mean())).sum()) / sum(held))
        if spread > 0:
            score = max(score, float(abs(means[0] - means[1])) / (spread * math.sqrt(1 / held[0] + 1 / held[1])))
    symbols = list(map(_symbol, leaves))
    for symbol, _ in Counter(symbols).most_common(WHOLE_NUMBERS):
        score = max(score, share(np.array([one == symbol for one in symbols], dtype=np.bool_)))
    return round(score, 6)


def _features(reader: _Reader, places: Sequence[Place]) -> list[Feature]:
    """The columns of some places: the easiest to read come first, because of equal columns only the first is kept."""
    presence = [Feature("present", place) for place in places if place and place[-1][0] in PRESENCE]
    sizes: list[Feature] = []
    values: list[Feature] = []
    learned: list[Feature] = []
    for place in places:
        leaves = [leaf for leaf in reader.leaves(place) if leaf is not ABSENT and leaf is not WITHIN]
        numbers = reader.numbers(place)
        known = numbers[~np.isnan(numbers)]
        written = any(type(leaf) in (str, bytes) for leaf in leaves)
        into = values if _is_value(place) else sizes
        if len(known) and set(map(type, leaves)) != {bool}:
            middle = float(np.median(known))
            scale = float(np.abs(known - middle).mean()) or 1.0
            into.append(Feature("number", place, written=written))
            if len(known) < len(numbers):
                learned.append(Feature("filled", place, written=written, middle=middle))
            if _is_value(place):
                learned.append(Feature("squashed", place, written=written, middle=middle, scale=scale))
        elif len(leaves) < len(numbers) and place and place[-1][0] == ITEM:
            # a list that is too short is already known by its length
            continue
        into += _symbols(place, reader)
    return [*presence, *sizes, *values, *learned]


def _symbols(place: Place, reader: _Reader) -> list[Feature]:
    """A column for each frequent value at a place."""
    if place and place[-1][0] == SIZE:
        return []
    leaves = reader.leaves(place)
    symbols = reader.symbols(place)
    often = Counter(symbol for symbol in symbols if symbol is not None)
    kinds = {type(leaf) for leaf in leaves if leaf is not ABSENT}
    most = SYMBOLS if kinds.isdisjoint({int, float}) else WHOLE_NUMBERS
    words = {"0": "False", "1": "True"} if kinds <= {bool, type(None)} else {}
    ranked = sorted(often.items(), key=lambda at: (-at[1], at[0]))[:most]
    return [
        Feature("is", place, symbol, words.get(symbol, symbol)) for symbol, times in ranked
        if times >= max(2.0, FREQUENT * len(leaves)) or len(often) <= most
    ]
