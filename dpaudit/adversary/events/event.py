"""Events: sets of outputs, as atoms and intervals of a score."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from dpaudit.interpret import Outputs, outcomes
from dpaudit.language import IntegerRange
from dpaudit.outputs.canonical import Outcome, Raised, real_shape, shown
from dpaudit.outputs.columns import Axis, Column, Floats, Numbers, Values
from dpaudit.outputs.parts import interval
from dpaudit.outputs.plain_json import abridged, jsonable
from dpaudit.stats.arrays import BoolArray, FloatArray

Interval = tuple[float, float]
"""(low, high] on the real score; ends may be infinite."""


@dataclass(frozen=True)
class Event:
    """Outputs that are one of `atoms`, are whole numbers in `ranges`, or have a score in one of the `intervals`.

    Without an axis only outputs that contain floats have a score; with an axis, all outputs that it can read.

    Args:
        atoms: single outcomes (numbers from discrete draws, ⊥, strings, tuples).
        intervals: disjoint, ascending; the score of a real output is itself, of a vector weights · output.
        weights: shape (d,) for real vectors; None for numbers.
        rule: (operator, threshold) if the atoms are those of a threshold event; used in the description.
        axis: scores the outputs instead, if the score was learned or is more than a weighted sum.
        ranges: disjoint, ascending; whole numbers that are too many to list among the atoms.
    """

    atoms: frozenset[Outcome] = frozenset()
    intervals: tuple[Interval, ...] = ()
    weights: tuple[float, ...] | None = None
    rule: tuple[str, float] | None = None
    axis: Axis | None = None
    ranges: tuple[IntegerRange, ...] = ()

    def count(self, outputs: Outputs) -> int:
        """The number of outputs in the event."""
        lone = self.axis is None and not self.intervals and not self.ranges
        if lone and len(self.atoms) < len(outputs.counts):
            hits = sum(outputs.counts.get(atom, 0) for atom in self.atoms)
        elif outputs.counts:
            times = np.fromiter(outputs.counts.values(), dtype=np.int64, count=len(outputs.counts))
            hits = int(times[self.marks(list(outputs.counts))].sum())
        else:
            hits = 0
        return hits + sum(int(np.count_nonzero(self.marks(values))) for values in outputs.uncounted)

    def count_with(self, other: Event, outputs: Outputs) -> tuple[int, int, int]:
        """The numbers of outputs in this event, in the other one, and in both."""
        hits = np.zeros(3, dtype=np.int64)
        times = np.fromiter(outputs.counts.values(), dtype=np.int64, count=len(outputs.counts))
        for values, often in ((list(outputs.counts), times), *((values, None) for values in outputs.uncounted)):
            one, two = self.marks(values), other.marks(values)
            hits += [np.count_nonzero(m) if often is None else often[m].sum() for m in (one, two, one & two)]
        return int(hits[0]), int(hits[1]), int(hits[2])

    def marks(self, values: Values) -> BoolArray:
        """A mask of the outcomes in the event, for an array of reals, shape (r, *d), or outcomes of any kind.

        Whether an outcome is in the event depends only on that outcome: not on the others, nor on being in an array.
        """
        inside = np.zeros(len(values), dtype=np.bool_)
        if self.intervals and len(values):
            inside |= _inside(self.scores(values), self.intervals)
        if isinstance(values, np.ndarray):
            return inside | self._listed_among(values)
        if self.atoms:
            inside |= np.fromiter((value in self.atoms for value in values), dtype=np.bool_, count=len(values))
        if self.ranges:
            inside |= np.fromiter(map(self._in_a_range, values), dtype=np.bool_, count=len(values))
        return inside

    def _listed_among(self, reals: Floats) -> BoolArray:
        """A mask of the rows of an array of reals that are atoms, or whole numbers in ranges."""
        if reals.ndim == 1:
            inside = np.isin(reals, self._numbers) if self._numbers else np.zeros(len(reals), dtype=np.bool_)
            if self.ranges:
                inside |= np.fromiter(map(self._in_a_range, reals.tolist()), dtype=np.bool_, count=len(reals))
            return inside
        if not any(isinstance(atom, tuple) and len(atom) == reals.shape[1] for atom in self.atoms):
            return np.zeros(len(reals), dtype=np.bool_)
        return np.fromiter((row in self.atoms for row in outcomes(reals)), dtype=np.bool_, count=len(reals))

    @cached_property
    def _numbers(self) -> tuple[float, ...]:
        """The atoms that a float can equal: 1 and 1.0 are the same atom, as in Python."""
        numbers = [(_float(atom), atom) for atom in self.atoms if isinstance(atom, int | float)]
        return tuple(number for number, atom in numbers if number == atom)

    def _in_a_range(self, value: Outcome) -> bool:
        """Whether a range contains it; a range of a law, which no range of the event cuts, is decided by its start."""
        if isinstance(value, IntegerRange):
            value = value.start
        if not isinstance(value, int | float) or value in (math.inf, -math.inf):
            return False
        at = bisect_right(self.ranges, value, key=lambda one: one.start) - 1
        return at >= 0 and value in self.ranges[at]

    def scores(self, values: Values) -> FloatArray:
        """The scores of outcomes on the axis of the intervals, shape (r,); NaN for those without a score."""
        if self.axis is not None:
            return self.axis.scores(values)
        if isinstance(values, np.ndarray):
            return score(values, self.weights)
        return np.array([_lone_score(value, self.weights) for value in values], dtype=np.float64)

    @property
    def axis_name(self) -> str:
        """A name for the score of the intervals, as the subject of a sentence."""
        if self.axis is not None:
            return self.axis.name
        return "output" if self.weights is None else "weights · output"

    @property
    def description(self) -> str:
        """A readable description: "output is one of {⊥}", "output > 3.2"."""
        parts = []
        if self.rule is not None:
            parts.append(f"output {self.rule[0]} {self.rule[1]:.6g}")
            others = [a for a in self.atoms if isinstance(a, bool) or not isinstance(a, int | float)]
            if others:
                parts.append(_listed(others))
        elif self.atoms or self.ranges:
            parts.append(_listed(list(self.atoms), self.ranges))
        if self.intervals and self.rule is None:
            parts.append(" or ".join(self._sentence(low, high) for low, high in self.intervals[:4]))
            if len(self.intervals) > 4:
                parts[-1] += f" or {len(self.intervals) - 4} more intervals"
        return ", or ".join(parts) if parts else "no output"

    def _sentence(self, low: float, high: float) -> str:
        return interval(self.axis_name, low, high) if self.axis is None else self.axis.sentence(low, high)

    @property
    def spec(self) -> dict[str, object]:
        """JSON form; three or more consecutive whole numbers are a range [first, last], an axis is under "score"."""
        consecutive, others = _consecutive(self.atoms, self.ranges)
        spec: dict[str, object] = {
            "atoms": [jsonable(a, abridge=True) for a in _ordered(others)],
            "ranges": [list(ends) for ends in consecutive],
            "intervals": [[None if np.isinf(e) else e for e in pair] for pair in self.intervals],
            "weights": None if self.weights is None else list(self.weights),
        }
        if self.axis is not None and self.axis != Column(Numbers()):
            ends = [end for pair in self.intervals for end in pair if np.isfinite(end)]
            spec["score"] = {**self.axis.spec, "threshold": ends[0] if len(ends) == 1 else None}
        return spec


def score(reals: FloatArray, weights: tuple[float, ...] | None) -> FloatArray:
    """Scores, shape (r,), of real outputs, shape (r, *d): their sum, or weights · output; NaN if sizes differ."""
    if reals.ndim == 1 and weights is None:
        return reals
    rows = reals.reshape(len(reals), -1)
    if weights is not None and len(weights) != rows.shape[1]:
        return np.full(len(rows), np.nan)
    # column by column: a matrix product may round differently for another number of rows
    on_axis = np.zeros(len(rows))
    for at in range(rows.shape[1]):
        on_axis += rows[:, at] if weights is None else weights[at] * rows[:, at]
    return on_axis


def _lone_score(value: Outcome, weights: tuple[float, ...] | None) -> float:
    """The score of a single outcome, the same as in an array of reals; NaN if it is not real."""
    shape = real_shape(value)
    return math.nan if shape is None else float(score(np.array(value, dtype=np.float64)[None], weights)[0])


def _float(number: float) -> float:
    """A number as a float; infinite if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _inside(scores: FloatArray, intervals: tuple[Interval, ...]) -> BoolArray:
    ends = np.array(intervals)
    at = np.searchsorted(ends[:, 0], scores, side="left") - 1
    inside: BoolArray = (at >= 0) & (scores <= ends[np.maximum(at, 0), 1])
    return inside


def _listed(atoms: list[Outcome], ranges: tuple[IntegerRange, ...] = ()) -> str:
    consecutive, others = _consecutive(frozenset(atoms), ranges)
    # sort an atom by itself, a range by its first number
    names = {a: (f"{a}–{b}", b - a + 1) for a, b in consecutive} | {a: (abridged(shown(a)), 1) for a in others}
    ordered = [names[a] for a in _ordered(list(names))]
    texts = [text for text, _ in ordered]
    if len(texts) > 8:
        hidden = sum(size for _, size in ordered[6:])
        return f"output is one of {{{', '.join(texts[:6])}, … {hidden} more}}"
    if len(atoms) == 1 and not ranges and isinstance(atoms[0], Raised):
        return f"the call {atoms[0]!r}"
    return f"output is {texts[0]}" if len(atoms) == 1 and not ranges else f"output is one of {{{', '.join(texts)}}}"


def _consecutive(
    atoms: frozenset[Outcome], ranges: tuple[IntegerRange, ...] = ()
) -> tuple[list[tuple[int, int]], list[Outcome]]:
    """Ranges and runs of three or more consecutive whole numbers as (first, last), ascending, and all other atoms."""
    whole = sorted(a for a in atoms if isinstance(a, int) and not isinstance(a, bool))
    consecutive: list[tuple[int, int]] = []
    others = [a for a in atoms if not isinstance(a, int) or isinstance(a, bool)]
    for _, run in groupby(enumerate(whole), lambda at: at[1] - at[0]):
        members = [a for _, a in run]
        if len(members) >= 3:
            consecutive.append((members[0], members[-1]))
        else:
            others += members
    return sorted([*consecutive, *((one.start, one.stop - 1) for one in ranges)]), others


def _ordered(atoms: list[Any]) -> list[Any]:
    """The atoms in canonical order; sets are compared by their repr, because `<` on sets means subset."""
    try:
        if all(map(_comparable, atoms)):
            return sorted(atoms)
    except TypeError:
        pass
    return sorted(atoms, key=lambda a: (type(a).__name__, shown(a)))


def _comparable(atom: Outcome) -> bool:
    return all(map(_comparable, atom)) if type(atom) is tuple else isinstance(atom, int | float | str | bytes)

