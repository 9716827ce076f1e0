"""Laws whose outcomes are ranges of whole numbers, with equally likely members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from dpaudit.errors import NotEnumerableError
from dpaudit.language.distributions import plain
from dpaudit.outputs.canonical import Outcome
from dpaudit.outputs.ranges import IntegerRange, Spread, mixed, wholes
from dpaudit.stats.arrays import FloatArray, IntArray

Outcomes: TypeAlias = tuple[Outcome, ...] | IntArray

LISTED_MEMBERS = 1_000_000
"""Ranges with more members than this are not expanded for a draw that the program continues from."""
_AT_ONCE = 256
"""Number of laws collected before computing their common refinement."""


def has_ranges(values: object) -> bool:
    """Whether some outcome of a law is a range."""
    return isinstance(values, tuple) and any(type(value) is IntegerRange for value in values)


class RangeMixture:
    """Sums weighted spreads."""

    def __init__(self) -> None:
        self._parts: list[tuple[Spread, float]] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add(self, spread: Spread, mass: float) -> None:
        """Add a spread with weight `mass`."""
        self._parts.append((spread, mass))
        if len(self._parts) == _AT_ONCE:
            self._parts = [(mixed(self._parts), 1.0)]

    def add_all(self, values: Iterable[Outcome], probs: FloatArray, mass: float) -> list[tuple[Outcome, float]]:
        """Add the whole numbers and ranges of a law; return its other outcomes with their share of `mass`."""
        spread, others = _parted(values, probs)
        self.add(spread, mass)
        return [(value, mass * p) for value, p in others]

    def law(self, values: Iterable[Outcome], probs: FloatArray) -> tuple[Outcomes, FloatArray]:
        """The sum of everything added and a law of single outcomes: outcomes and probabilities."""
        spread, others = _parted(values, probs)
        total = mixed([*self._parts, (spread, 1.0)])
        return (
            (*_outcomes(total), *(value for value, _ in others)),
            np.concatenate([total.masses, [p for _, p in others]]),
        )


def aligned(left: Outcomes, p: FloatArray, right: Outcomes, q: FloatArray) -> tuple[Outcomes, FloatArray, FloatArray]:
    """Two laws over the common refinement of their ranges and the union of their other outcomes.

    Within a range of the refinement both laws are uniform, so a divergence of the masses equals that of the laws.
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
    """The law with its ranges expanded into members.

    Raises:
        NotEnumerableError: the ranges have too many members.
    """
    if not has_ranges(values):
        return values, probs
    sizes = [value.size if isinstance(value, IntegerRange) else 1 for value in values]
    if sum(sizes) > LISTED_MEMBERS:
        raise NotEnumerableError(
            f"The {where} has {sum(sizes):,} values, and the program may branch on each; at most {LISTED_MEMBERS:,} "
            "are enumerated: make it the last draw, or choose a smaller range."
        )
    single: list[Outcome] = []
    for value in values:
        single += range(value.start, value.stop) if isinstance(value, IntegerRange) else [value]
    # one by one: they may be intervals
    each = np.array([p / size for p, size in zip(probs, sizes, strict=True)])
    return tuple(single), np.repeat(each, sizes)


def _parted(values: Iterable[Outcome], probs: FloatArray) -> tuple[Spread, list[tuple[Outcome, float]]]:
    """The part of a law on whole numbers (1.0 and True are 1), and its other outcomes."""
    on: list[tuple[int, int, float]] = []
    others: list[tuple[Outcome, float]] = []
    for value, p in zip(values, probs.tolist(), strict=True):
        if isinstance(value, IntegerRange):
            on.append((value.start, value.stop, p))
        elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            on.append((int(value), int(value) + 1, p))
        else:
            others.append((value, p))
    on.sort()
    starts, stops = wholes([start for start, _, _ in on]), wholes([stop for _, stop, _ in on])
    return Spread(starts, stops, np.array([p for _, _, p in on], dtype=np.float64)), others


def _outcomes(spread: Spread) -> Sequence[Outcome]:
    """The outcomes of a spread; a range of one member becomes that number."""
    return [
        start if stop == start + 1 else IntegerRange(start, stop)
        for start, stop in zip(spread.starts.tolist(), spread.stops.tolist(), strict=True)
    ]
