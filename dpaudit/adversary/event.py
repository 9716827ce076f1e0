"""Events: sets of outputs, as atoms and intervals of a score."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.adversary.features import Axis, Column, Numbers
from dpaudit.interpret import Outputs
from dpaudit.language import Span

LONGEST, SHOWN = 1_000, 160
"""The text of an outcome that is longer than this is cut to so many characters: a hypothesis class has thousands."""

Interval = tuple[float, float]
"""(low, high] on the real score; ends may be infinite."""


@dataclass(frozen=True)
class Event:
    """Outputs that are one of `atoms`, are whole numbers in `spans`, or have a score in one of the `intervals`.

    Without an axis only outputs that hold floats have a score, with an axis all that it can read.

    Args:
        atoms: outcomes that are counted (numbers from discrete draws, ⊥, strings, tuples).
        intervals: disjoint, ascending; a real output's score is itself, for vectors weights · output.
        weights: shape (d,) for real vectors; None for numbers.
        rule: (operator, threshold) when the atoms are those of a half-line, for the sentence.
        axis: what scores the outputs instead, when it was learned or is more than a weighted sum.
        spans: disjoint, ascending; whole numbers that are too many to be listed among the atoms.
    """

    atoms: frozenset[Hashable] = frozenset()
    intervals: tuple[Interval, ...] = ()
    weights: tuple[float, ...] | None = None
    rule: tuple[str, float] | None = None
    axis: Axis | None = None
    spans: tuple[Span, ...] = ()

    def count(self, outputs: Outputs) -> int:
        """How many of the runs fell in the event."""
        lone = self.axis is None and not self.intervals and not self.spans
        if lone and len(self.atoms) < len(outputs.counts):
            hits = sum(outputs.counts.get(atom, 0) for atom in self.atoms)
        elif outputs.counts:
            times = np.fromiter(outputs.counts.values(), dtype=np.int64, count=len(outputs.counts))
            hits = int(times[self.marks(list(outputs.counts))].sum())
        else:
            hits = 0
        if self.intervals and len(outputs.reals):
            hits += int(np.count_nonzero(self.marks(outputs.reals)))
        if outputs.others:
            hits += int(np.count_nonzero(self.marks(outputs.others)))
        return hits

    def marks(self, values: Sequence[Hashable] | NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of some outputs are inside: an array of reals, shape (r,) or (r, d), or outputs of any kind."""
        inside = np.zeros(len(values), dtype=np.bool_)
        if self.intervals and len(values):
            inside |= _inside(self.scores(values), self.intervals)
        if self.atoms and not isinstance(values, np.ndarray):
            inside |= np.fromiter((value in self.atoms for value in values), dtype=np.bool_, count=len(values))
        if self.spans and not isinstance(values, np.ndarray):
            inside |= np.fromiter(map(self._spanned, values), dtype=np.bool_, count=len(values))
        return inside

    def _spanned(self, value: Hashable) -> bool:
        """Whether one of the spans holds it; a span of a law, which no span of the event cuts, goes by its start."""
        if isinstance(value, Span):
            value = value.start
        if not isinstance(value, int | float):
            return False
        at = bisect_right(self.spans, value, key=lambda span: span.start) - 1
        return at >= 0 and value in self.spans[at]

    def scores(self, values: Sequence[Hashable] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Where outputs lie on the axis of the intervals, shape (r,); NaN for those that have no score."""
        if self.axis is not None:
            return self.axis.scores(values)
        if isinstance(values, np.ndarray):
            return score(values, self.weights)
        return np.array([_lone_score(value, self.weights) for value in values], dtype=np.float64)

    @property
    def axis_name(self) -> str:
        """What the intervals are about, as the subject of a sentence."""
        if self.axis is not None:
            return self.axis.name
        return "output" if self.weights is None else "weights · output"

    @property
    def description(self) -> str:
        """A sentence a person reads: "output is one of {⊥}", "output > 3.2"."""
        parts = []
        if self.rule is not None:
            parts.append(f"output {self.rule[0]} {self.rule[1]:.6g}")
            others = [a for a in self.atoms if isinstance(a, bool) or not isinstance(a, int | float)]
            if others:
                parts.append(_listed(others))
        elif self.atoms or self.spans:
            parts.append(_listed(list(self.atoms), self.spans))
        if self.intervals and self.rule is None:
            parts.append(" or ".join(_interval(self.axis_name, low, high) for low, high in self.intervals[:4]))
            if len(self.intervals) > 4:
                parts[-1] += f" or {len(self.intervals) - 4} more intervals"
        return ", or ".join(parts) if parts else "no output"

    @property
    def spec(self) -> Any:
        """JSON form; three or more consecutive whole numbers are a range [first, last], an axis stands in "score"."""
        ranges, others = _ranges(self.atoms, self.spans)
        spec: dict[str, Any] = {
            "atoms": [jsonable(a, abridge=True) for a in _ordered(others)],
            "ranges": [list(ends) for ends in ranges],
            "intervals": [[None if np.isinf(e) else e for e in pair] for pair in self.intervals],
            "weights": None if self.weights is None else list(self.weights),
        }
        if self.axis is not None and self.axis != Column(Numbers()):
            ends = [end for pair in self.intervals for end in pair if np.isfinite(end)]
            spec["score"] = {**self.axis.spec, "threshold": ends[0] if len(ends) == 1 else None}
        return spec


def score(reals: NDArray[np.float64], weights: tuple[float, ...] | None) -> NDArray[np.float64]:
    """Real outputs on one axis, shape (r,)."""
    if reals.ndim == 1:
        return reals
    direction = np.ones(reals.shape[1]) if weights is None else np.asarray(weights)
    on_axis: NDArray[np.float64] = reals @ direction
    return on_axis


def _lone_score(value: Any, weights: tuple[float, ...] | None) -> float:
    """The score of an output that stands alone: a float, or a tuple of numbers with a float among them."""
    if isinstance(value, float):
        return value if weights is None else np.nan
    if not isinstance(value, tuple) or not any(isinstance(part, float) for part in value):
        return np.nan
    if any(isinstance(part, bool) or not isinstance(part, int | float) for part in value):
        return np.nan
    if weights is not None and len(weights) != len(value):
        return np.nan
    return float(score(np.array([value], dtype=np.float64), weights)[0])


def jsonable(value: Any, *, abridge: bool = False) -> Any:
    """Plain JSON for an outcome or record; what JSON cannot hold is shown by its repr, `abridged` if that is wanted."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, tuple | list):
        return [jsonable(part, abridge=abridge) for part in value]
    return abridged(repr(value)) if abridge else repr(value)


def abridged(text: str) -> str:
    """The text itself, or where it is long its beginning and what tells it from others that begin so."""
    if len(text) <= LONGEST:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[:SHOWN]}… ({len(text):,} characters, {digest})"


def _inside(scores: NDArray[np.float64], intervals: tuple[Interval, ...]) -> NDArray[np.bool_]:
    ends = np.array(intervals)
    at = np.searchsorted(ends[:, 0], scores, side="left") - 1
    inside: NDArray[np.bool_] = (at >= 0) & (scores <= ends[np.maximum(at, 0), 1])
    return inside


def _listed(atoms: list[Any], spans: tuple[Span, ...] = ()) -> str:
    ranges, others = _ranges(frozenset(atoms), spans)
    # an atom stands for itself, a range by its first number for all of it
    names = {a: (f"{a}–{b}", b - a + 1) for a, b in ranges} | {a: (abridged(repr(a)), 1) for a in others}
    ordered = [names[a] for a in _ordered(list(names))]
    texts = [text for text, _ in ordered]
    if len(texts) > 8:
        hidden = sum(size for _, size in ordered[6:])
        return f"output is one of {{{', '.join(texts[:6])}, … {hidden} more}}"
    return f"output is {texts[0]}" if len(atoms) == 1 and not spans else f"output is one of {{{', '.join(texts)}}}"


def _ranges(atoms: frozenset[Any], spans: tuple[Span, ...] = ()) -> tuple[list[tuple[int, int]], list[Any]]:
    """Spans and runs of three or more consecutive whole numbers as (first, last), ascending, and all other atoms."""
    whole = sorted(a for a in atoms if isinstance(a, int) and not isinstance(a, bool))
    ranges: list[tuple[int, int]] = []
    others = [a for a in atoms if not isinstance(a, int) or isinstance(a, bool)]
    for _, run in groupby(enumerate(whole), lambda at: at[1] - at[0]):
        members = [a for _, a in run]
        if len(members) >= 3:
            ranges.append((members[0], members[-1]))
        else:
            others += members
    return sorted([*ranges, *((span.start, span.stop - 1) for span in spans)]), others


def _ordered(atoms: list[Any]) -> list[Any]:
    try:
        return sorted(atoms)
    except TypeError:
        return sorted(atoms, key=lambda a: (type(a).__name__, repr(a)))


def _interval(name: str, low: float, high: float) -> str:
    if np.isinf(low) and np.isinf(high):
        return f"{name} is any number"
    if np.isinf(low):
        return f"{name} ≤ {high:.6g}"
    return f"{name} > {low:.6g}" if np.isinf(high) else f"{low:.6g} < {name} ≤ {high:.6g}"
