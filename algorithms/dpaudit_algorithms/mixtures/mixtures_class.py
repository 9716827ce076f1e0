"""The finite class 𝒢 of A_LearnHalf, numbered, and the errors of all its hypotheses at once.

The numbering depends only on the public part: first the hypothesis that labels everything 1 (if assumed), then all
single halfspaces of C̃_pub, all pairs, all triples. Pairs {i < j} are sorted by j, then i; triples by the largest, …
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import PUBLIC, DatasetError, IntArray, Levels, Multiset
from dpaudit_algorithms.mixtures.mixtures_geometry import (
    EmptySubset,
    Family,
    Point,
    Supports,
    Vector,
    checked,
    constr_half,
    contains,
    membership,
    on,
)

AllOnes: TypeAlias = Literal["assumed", "steps"]
"""Whether 𝒢 contains the hypothesis that labels everything 1: always, as the paper says, or only from step 8."""

Ints = IntArray
Floats = NDArray[Any]


@dataclass(frozen=True)
class Hypothesis:
    """g(x) = 1 iff x is not in the intersection of the halfspaces and Aff; with `flipped`, 0 and 1 are swapped.

    Args:
        halfspaces: (w₀, w₁, …, w_d) each, for Σ wᵢxᵢ ≥ w₀; None for the hypothesis that labels everything 1.
        equations: equations of Aff, (e₀, e₁, …, e_d) each.
        flipped: whether 0 and 1 are swapped.
    """

    halfspaces: tuple[Vector, ...] | None
    equations: tuple[Vector, ...] = ()
    flipped: bool = False

    def label(self, x: Point) -> int:
        """g(x)."""
        inside = (
            self.halfspaces is not None
            and on(self.equations, x)
            and all(contains(halfspace, x) for halfspace in self.halfspaces)
        )
        return int(inside == self.flipped)


@dataclass(frozen=True)
class Errors(Levels):
    """The number of errors of each hypothesis of 𝒢, minus a common number `base`: step 9.

    A hypothesis errs on Σ_x n₀(x) records, and on n₁(x) − n₀(x) more for every x that it labels 0, where n_y(x) is the
    number of records (x, y). So a halfspace matters only through the points of the data that it contains: equal rows of
    the membership matrix are stored once with a multiplicity, and the errors of all pairs are one matrix product.

    Args:
        records: the dataset, triples (x, y, p).
        dimension: d, 1 to 3.
        supports, empty_subset: see `constr_half`.
        all_ones: whether the hypothesis that labels everything 1 is number 0 ("assumed") or absent ("steps").
        private_label: the label of private records; with 0 the labels are swapped before and after.
    """

    records: Multiset
    dimension: int
    supports: Supports
    empty_subset: EmptySubset
    all_ones: AllOnes
    private_label: int = 1

    def __fingerprint__(self) -> tuple[Any, ...]:
        return self.records, self.dimension, self.supports, self.empty_subset, self.all_ones, self.private_label

    @cached_property
    def family(self) -> Family:
        """C̃_pub and Aff (step 5)."""
        public = {checked(x, self.dimension) for (x, _, p), _ in self.records.items if p == PUBLIC}
        return constr_half(tuple(sorted(public)), self.dimension, self.supports, self.empty_subset)

    @cached_property
    def examples(self) -> tuple[tuple[Point, int, int], ...]:
        """(x, n₀(x), n₁(x)), x ascending (step 7).

        Raises:
            DatasetError: a label that is not 0 or 1.
        """
        counts: dict[Point, list[int]] = {}
        for (x, y, _), count in self.records.items:
            if isinstance(y, bool) or y not in (0, 1):
                raise DatasetError(f"A label must be 0 or 1, not {y!r}.")
            counts.setdefault(checked(x, self.dimension), [0, 0])[y if self.private_label else 1 - y] += count
        return tuple((x, zero, one) for x, (zero, one) in sorted(counts.items()))

    @cached_property
    def starts(self) -> Ints:
        K, first = len(self.family.halfspaces), int(self.all_ones == "assumed")
        sizes = [1] * first + [K] * (K > 0)
        for j in range(2, self.dimension + 1):
            sizes += [math.comb(k, j - 1) for k in range(j - 1, K)]
        total = sum(sizes)
        if total >= 1 << 62:
            raise DatasetError(f"{K:,} halfspaces have {total:.3g} intersections; use fewer public points.")
        return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)

    @cached_property
    def tally(self) -> Ints:
        width = sum(abs(cost) for _, cost in self._inside) + 1
        counts = np.zeros((len(self.starts) - 1, width), dtype=np.int64)
        for at, (j, k) in enumerate(self._blocks):
            if j < 3:
                counts[at] = np.bincount(self.block(at), minlength=counts.shape[1])
                continue
            # count pairs of rows with multiplicity: every pair of halfspaces in both orders, minus pairs with itself
            times = np.bincount(self._row_of[:k]).astype(np.float64)
            levels = self._pairs_with(int(self._row_of[k]), len(times))
            both = np.bincount(levels.ravel(), np.outer(times, times).ravel(), minlength=counts.shape[1])
            counts[at] = (both - np.bincount(levels.diagonal(), times, minlength=counts.shape[1])) / 2
        return counts

    def block(self, at: int) -> Ints:
        j, k = self._blocks[at]
        if j == 0:
            return np.array([self._none])
        if j == 1:
            return self._alone[self._row_of]
        if j == 2:
            return self._with(int(self._row_of[k]))[self._row_of[:k]]
        below = self._row_of[:k]
        two, one = np.tril_indices(k, -1)
        return self._pairs_with(int(self._row_of[k]), int(below.max()) + 1)[below[two], below[one]]

    @cached_property
    def base(self) -> int:
        """Errors at level 0: label 0 on the points of Aff where that has fewer errors, and 1 elsewhere."""
        return self._all_one - self._none

    @property
    def least(self) -> int:
        """The fewest errors of a hypothesis of 𝒢, which must not be empty."""
        return self.base + int(np.flatnonzero(self.tally.any(axis=0))[0])

    def of(self, labels: Ints) -> Ints:
        """The levels of these hypotheses, shape (labels,); their errors are `base` more."""
        levels = np.empty(len(labels), dtype=np.int64)
        at = np.searchsorted(self.starts, labels, side="right") - 1
        kinds = np.array([j for j, _ in self._blocks])[at]
        for j in np.unique(kinds).tolist():
            here = np.flatnonzero(kinds == j)
            if j == 0:
                levels[here] = self._none
                continue
            inside = np.ones((len(here), self._rows.shape[1]), dtype=self._cost.dtype)
            for members in self._members(j, labels[here], at[here]):
                inside *= self._rows[self._row_of[members]]
            levels[here] = self._none + np.rint(inside @ self._cost).astype(np.int64)
        return levels

    def hypothesis(self, label: int) -> Hypothesis:
        """The hypothesis with this number."""
        at = int(np.searchsorted(self.starts, label, side="right")) - 1
        j = self._blocks[at][0]
        if j == 0:
            return Hypothesis(None, (), not self.private_label)
        members = [int(m[0]) for m in self._members(j, np.array([label]), np.array([at]))]
        halfspaces = tuple(self.family.halfspaces[i] for i in sorted(members))
        return Hypothesis(halfspaces, self.family.equations, not self.private_label)

    def _members(self, j: int, labels: Ints, at: Ints) -> Iterator[Ints]:
        """Which halfspaces the hypotheses of these blocks, of j halfspaces each, intersect."""
        rest = labels - self.starts[at]
        if j > 1:
            yield np.array([k for _, k in self._blocks])[at]
        if j > 2:
            pairs = np.arange(len(self.family.halfspaces), dtype=np.int64)
            pairs = pairs * (pairs - 1) // 2
            second = np.searchsorted(pairs, rest, side="right") - 1
            yield second
            rest = rest - pairs[second]
        yield rest

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """(halfspaces in an intersection, the largest of their numbers) of every block."""
        K = len(self.family.halfspaces)
        blocks = [(0, 0)] * (self.all_ones == "assumed") + [(1, 0)] * (K > 0)
        return blocks + [(j, k) for j in range(2, self.dimension + 1) for k in range(j - 1, K)]

    @property
    def _all_one(self) -> int:
        """Errors of labelling everything 1: the records with label 0."""
        return sum(zero for _, zero, _ in self.examples)

    @cached_property
    def _none(self) -> int:
        """The level of labelling everything 1."""
        return -sum(min(0, cost) for _, cost in self._inside)

    @cached_property
    def _inside(self) -> list[tuple[Point, int]]:
        """Points of the data on Aff, and the additional errors from labelling them 0, if not 0."""
        return [(x, one - zero) for x, zero, one in self.examples if one != zero and on(self.family.equations, x)]

    @cached_property
    def _cost(self) -> Floats:
        # a type in which the sums are exact whole numbers
        kind = np.float32 if len(self.records) < 1 << 24 else np.float64
        return np.array([cost for _, cost in self._inside], dtype=kind)

    @cached_property
    def _distinct(self) -> tuple[Floats, Ints]:
        matrix = membership(self.family.halfspaces, [x for x, _ in self._inside])
        if not matrix.size:
            return np.zeros((1, len(self._inside)), dtype=self._cost.dtype), np.zeros(len(matrix), dtype=np.int64)
        packed = np.packbits(matrix, axis=1)
        _, first, row_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return matrix[first[order]].astype(self._cost.dtype), place[row_of.reshape(-1)].astype(np.int64)

    @property
    def _rows(self) -> Floats:
        """Distinct rows of the membership matrix, shape (rows, points), 0 and 1, in order of first occurrence."""
        return self._distinct[0]

    @property
    def _row_of(self) -> Ints:
        """The index of every halfspace's row."""
        return self._distinct[1]

    @cached_property
    def _alone(self) -> Ints:
        return self._rounded(self._rows @ self._cost)

    def _with(self, row: int) -> Ints:
        """Levels of the intersection of one row with every row."""
        return self._rounded(self._rows @ (self._cost * self._rows[row]))

    def _pairs_with(self, row: int, among: int) -> Ints:
        """Levels of the intersections of one row with all pairs of the first rows, shape (among, among)."""
        rows = self._rows[:among]
        return self._rounded((rows * (self._cost * self._rows[row])) @ rows.T)

    def _rounded(self, sums: Floats) -> Ints:
        levels: Ints = self._none + np.rint(sums).astype(np.int64)
        return levels
