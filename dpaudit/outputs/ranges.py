"""Ranges of whole numbers, and laws that are uniform on each of a few ranges: for up to 2^64 solutions and more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.stats.arrays import FloatArray, IntArray

Wholes: TypeAlias = NDArray[Any]
"""Whole numbers: int64, or Python integers (an object array) if one does not fit."""

_FITS = 1 << 62
"""Sums and differences of two numbers below this fit into 64 bits."""


@dataclass(frozen=True, order=True)
class IntegerRange:
    """The whole numbers start, …, stop − 1; at least one. In a law it represents its members; it is not an output."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of members."""
        return self.stop - self.start

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.start <= value < self.stop and value == int(value)

    def __str__(self) -> str:
        return f"{self.start}–{self.stop - 1}" if self.size > 1 else f"{self.start}"


@dataclass(frozen=True, eq=False)
class Spread:
    """A law, or a part of one, on whole numbers: uniform on each of a few ranges.

    Args:
        starts, stops: shape (k,); the ranges start, …, stop − 1 are nonempty, disjoint and ascending.
        masses: shape (k,), the total probability of each range.
    """

    starts: Wholes
    stops: Wholes
    masses: FloatArray

    def draw(self, rng: Generator, size: int) -> IntArray | list[int]:
        """`size` independent values; a list if they do not all fit into 64 bits."""
        # only ranges of positive probability: numpy's multinomial gives its last entry the rounding error
        possible = np.flatnonzero(self.masses)
        masses = self.masses[possible]
        times = rng.multinomial(size, masses / masses.sum())
        at, times = possible[times > 0], times[times > 0]
        starts, lengths = self.starts[at], self.stops[at] - self.starts[at]
        order = rng.permutation(size)
        if self.starts.dtype != object:
            drawn = np.repeat(starts, times) + rng.integers(0, np.repeat(lengths, times))
            return drawn[order].astype(np.int64, copy=False)
        values: list[int] = []
        for start, length, many in zip(starts.tolist(), lengths.tolist(), times.tolist(), strict=True):
            values += [start + offset for offset in below(rng, length, many)]
        return [values[i] for i in order.tolist()]


def wholes(values: Iterable[int]) -> Wholes:
    """An array on which sums and differences are exact, shape (k,)."""
    integers = [index(value) for value in values]
    if all(-_FITS < value < _FITS for value in integers):
        return np.array(integers, dtype=np.int64)
    big = np.empty(len(integers), dtype=object)
    big[:] = integers
    return big


def together(ranges: Iterable[IntegerRange]) -> list[IntegerRange]:
    """Disjoint ascending ranges, with adjacent ones merged."""
    merged: list[IntegerRange] = []
    for one in ranges:
        if merged and merged[-1].stop == one.start:
            merged[-1] = IntegerRange(merged[-1].start, one.stop)
        else:
            merged.append(one)
    return merged


def below(rng: Generator, bound: int, size: int) -> list[int]:
    """`size` independent uniform values of 0, …, bound − 1, for any bound."""
    if bound <= 1 << 64:
        values: list[int] = rng.integers(0, bound, size, dtype=np.uint64).tolist()
        return values
    bits = (bound - 1).bit_length()
    words = -(-bits // 64)
    kept: list[int] = []
    # a number with as many bits is below the bound with probability at least ½; redraw the others
    while len(kept) < size:
        rows = rng.integers(0, 1 << 64, (size - len(kept), words), dtype=np.uint64)
        numbers = (int.from_bytes(row.tobytes(), "little") >> 64 * words - bits for row in rows.astype("<u8"))
        kept += [number for number in numbers if number < bound]
    return kept


def mixed(parts: Sequence[tuple[Spread, float]]) -> Spread:
    """Σ weight · part, on the common refinement of their ranges.

    Every mass is a sum of positive terms: differences of running sums would lose small masses next to large ones.
    """
    cuts = sorted({cut for part, _ in parts for ends in (part.starts, part.stops) for cut in ends.tolist()})
    if not cuts:
        return Spread(wholes(()), wholes(()), np.empty(0))
    place = {cut: i for i, cut in enumerate(cuts)}
    ends = wholes(cuts)
    lengths = ends[1:] - ends[:-1]
    masses, covered = np.zeros(len(lengths)), np.zeros(len(lengths), dtype=np.bool_)
    for part, weight in parts:
        first = np.array([place[cut] for cut in part.starts.tolist()], dtype=np.int64)
        cells = np.array([place[cut] for cut in part.stops.tolist()], dtype=np.int64) - first
        at = np.repeat(first - np.cumsum(cells) + cells, cells) + np.arange(cells.sum())
        share = np.ones(len(at))
        cut_up = np.repeat(cells > 1, cells)
        whole = np.repeat(part.stops - part.starts, cells)
        share[cut_up] = (lengths[at[cut_up]] / whole[cut_up]).astype(np.float64)
        masses[at] += weight * np.repeat(part.masses, cells) * share
        covered[at] = True
    return Spread(ends[:-1][covered], ends[1:][covered], masses[covered])
