"""Laws whose outcomes are runs of whole numbers with one probability for each of their members."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from dpaudit.errors import NotEnumerableError
from dpaudit.language.distributions import plain
from dpaudit.outputs.spans import Span, Spread, mixed, wholes
from dpaudit.stats.arrays import FloatArray, IntArray

Outcomes: TypeAlias = tuple[Hashable, ...] | IntArray

LISTED_MEMBERS = 1_000_000
"""Spans with more members than this are not taken apart for a draw on which the text goes on."""
_AT_ONCE = 256
"""So many laws wait for their common refinement."""


def has_spans(values: Any) -> bool:
    """Whether some outcome of a law is a span."""
    return isinstance(values, tuple) and any(type(value) is Span for value in values)


class SpanMixture:
    """Sums weighted spreads."""

    def __init__(self) -> None:
        self._parts: list[tuple[Spread, float]] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add(self, spread: Spread, mass: float) -> None:
        """One more, that has `mass` of the whole."""
        self._parts.append((spread, mass))
        if len(self._parts) == _AT_ONCE:
            self._parts = [(mixed(self._parts), 1.0)]

    def add_all(self, values: Iterable[Any], probs: FloatArray, mass: float) -> list[tuple[Hashable, float]]:
        """The whole numbers and spans of a law; its other outcomes, with their share of `mass`, are handed back."""
        found, others = _parted(values, probs)
        self.add(found, mass)
        return [(value, mass * p) for value, p in others]

    def law(self, values: Iterable[Any], probs: FloatArray) -> tuple[Outcomes, FloatArray]:
        """What was added together with a law of single outcomes: outcomes and probabilities."""
        found, others = _parted(values, probs)
        total = mixed([*self._parts, (found, 1.0)])
        return (
            (*_outcomes(total), *(value for value, _ in others)),
            np.concatenate([total.masses, [p for _, p in others]]),
        )


def aligned(left: Outcomes, p: FloatArray, right: Outcomes, q: FloatArray) -> tuple[Outcomes, FloatArray, FloatArray]:
    """Two laws over the common refinement of their spans and the union of their other outcomes.

    Within a span of the refinement both laws are uniform, so that a divergence of the masses is one of the laws.
    """
    (a, others_a), (b, others_b) = _parted(plain(left), p), _parted(plain(right), q)
    onto_left, onto_right = mixed([(a, 1.0), (b, 0.0)]), mixed([(a, 0.0), (b, 1.0)])
    masses_a, masses_b = dict(others_a), dict(others_b)
    union = tuple(dict.fromkeys([*masses_a, *masses_b]))
    return (
        (*_outcomes(onto_left), *union),
        np.concatenate([onto_left.masses, [masses_a.get(value, 0.0) for value in union]]),
        np.concatenate([onto_right.masses, [masses_b.get(value, 0.0) for value in union]]),
    )


def members(values: Outcomes, probs: FloatArray, where: str) -> tuple[Outcomes, FloatArray]:
    """The law with its spans taken apart.

    Raises:
        NotEnumerableError: they have too many members.
    """
    if not has_spans(values):
        return values, probs
    sizes = [value.size if isinstance(value, Span) else 1 for value in values]
    if sum(sizes) > LISTED_MEMBERS:
        raise NotEnumerableError(
            f"The {where} has {sum(sizes):,} values, on each of which the text may go on; at most {LISTED_MEMBERS:,} "
            "are told apart: make it the last draw, or choose a smaller range."
        )
    single: list[Hashable] = []
    for value in values:
        single += range(value.start, value.stop) if isinstance(value, Span) else [value]
    # one by one: they may be balls
    each = np.array([p / size for p, size in zip(probs, sizes, strict=True)])
    return tuple(single), np.repeat(each, sizes)


def _parted(values: Iterable[Any], probs: FloatArray) -> tuple[Spread, list[tuple[Hashable, float]]]:
    """The part of a law on whole numbers (1.0 and True are 1), and its other outcomes."""
    on: list[tuple[int, int, float]] = []
    others: list[tuple[Hashable, float]] = []
    for value, p in zip(values, probs.tolist(), strict=True):
        if isinstance(value, Span):
            on.append((value.start, value.stop, p))
        elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            on.append((int(value), int(value) + 1, p))
        else:
            others.append((value, p))
    on.sort()
    starts, stops = wholes([start for start, _, _ in on]), wholes([stop for _, stop, _ in on])
    return Spread(starts, stops, np.array([p for _, _, p in on], dtype=np.float64)), others


def _outcomes(spread: Spread) -> Sequence[Hashable]:
    """A span of one member is that number."""
    return [
        start if stop == start + 1 else Span(start, stop)
        for start, stop in zip(spread.starts.tolist(), spread.stops.tolist(), strict=True)
    ]
