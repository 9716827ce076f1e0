"""Exact halfspaces through points of ℝ^d: A_ConstrHalf, and the halfspace with the smallest empirical error.

Points are tuples of whole numbers or fractions. A halfspace is (w₀, w₁, …, w_d), whole numbers without a common
divisor, for the closed set {x: Σ wᵢxᵢ ≥ w₀}. Nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from dpaudit.language import BoolArray, DatasetError

Point: TypeAlias = tuple[int | Fraction, ...]
Vector: TypeAlias = tuple[int, ...]

Supports: TypeAlias = Literal["transversal", "aligned"]
"""Which halfspace to use if a subset of public points supports many: see `constr_half`."""
EmptySubset: TypeAlias = Literal["skip", "axis"]
"""Whether the empty subset of public points gives nothing, or x₁ ≥ 0 and its opposite."""


@dataclass(frozen=True)
class Family:
    """The output of A_ConstrHalf.

    Args:
        halfspaces: C̃_pub, distinct, in an order that depends only on the set of public points.
        equations: equations of Aff, each (e₀, e₁, …, e_d) for Σ eᵢxᵢ = e₀; () if Aff is ℝ^d or there are no points.
    """

    halfspaces: tuple[Vector, ...]
    equations: tuple[Vector, ...]


@lru_cache(maxsize=256)
def constr_half(
    points: tuple[Point, ...], dimension: int, supports: Supports = "transversal", empty_subset: EmptySubset = "skip"
) -> Family:
    """C̃_pub and Aff of these public points: A_ConstrHalf, a function of only the set of points.

    Step 5 takes any "halfspace that is supported by Ŝ". Let A be the affine hull of Ŝ and w the normal.

    - transversal: if A ≠ Aff, w is a direction of Aff orthogonal to A. So the boundary does not contain Aff, and if A
      has one dimension less than Aff it meets Aff exactly in A.
    - aligned: if Aff ≠ ℝ^d, w is orthogonal to Aff. So the boundary contains Aff, and h ∩ Aff = Aff.

    Args:
        points: the unlabelled public points, shape (n_pub, d); duplicates count once.
        dimension: d.
        supports: "transversal" or "aligned".
        empty_subset: whether Ŝ = ∅ gives x₁ ≥ 0 and its opposite ("axis") or nothing ("skip").

    Source: Bassily, Moran and Nandi, Algorithm 1.
    """
    chosen = tuple(sorted(set(points)))
    if not chosen:
        return Family((), ())  # "we simply return the empty set"
    spanned = _span(chosen)
    equations = tuple(_through(e, chosen[0]) for e in nullspace(spanned, dimension))
    halfspaces: dict[Vector, None] = {}
    for size in range(dimension + 1):  # steps 3 and 4: W
        for subset in combinations(chosen, size):
            if not subset:
                if empty_subset == "axis":
                    halfspaces.update(dict.fromkeys(both((0, 1, *(0,) * (dimension - 1)))))
                continue
            w = _normal(subset, spanned, dimension, supports)
            halfspaces.update(dict.fromkeys(both(_through(w, subset[0]))))  # steps 5 and 6
    return Family(tuple(halfspaces), equations)  # steps 7 and 8


def both(halfspace: Vector) -> tuple[Vector, Vector]:
    """A halfspace and its opposite, in an order that is the same for both."""
    opposite = tuple(-w for w in halfspace)
    return (halfspace, opposite) if halfspace[1:] > opposite[1:] else (opposite, halfspace)


def contains(halfspace: Vector, point: Point) -> bool:
    """Whether the closed halfspace contains the point."""
    return side(halfspace, point) >= 0


def on(equations: Iterable[Vector], point: Point) -> bool:
    """Whether a point satisfies all equations."""
    return all(side(equation, point) == 0 for equation in equations)


def side(halfspace: Vector, point: Point) -> int | Fraction:
    """Σ wᵢxᵢ − w₀."""
    return sum((w * x for w, x in zip(halfspace[1:], point, strict=True)), start=0) - halfspace[0]


def membership(halfspaces: Sequence[Vector], points: Sequence[Point]) -> BoolArray:
    """Which closed halfspaces contain which points, exactly, shape (halfspaces, points)."""
    if not halfspaces or not points:
        return np.zeros((len(halfspaces), len(points)), dtype=bool)
    unit = math.lcm(*(Fraction(x).denominator for point in points for x in point))
    scaled = [[int(x * unit) for x in point] for point in points]
    normals, offsets = [w[1:] for w in halfspaces], [w[0] * unit for w in halfspaces]
    largest = max(abs(w) for row in normals for w in row) * max(abs(x) for row in scaled for x in row)
    small = largest * len(scaled[0]) + max(map(abs, offsets)) < 1 << 62
    kind: Any = np.int64 if small else object  # Python integers if 64 bits might overflow
    W, X, w0 = np.array(normals, dtype=kind), np.array(scaled, dtype=kind), np.array(offsets, dtype=kind)
    inside: BoolArray = (w0[:, None] <= W @ X.T).astype(bool)
    return inside


@lru_cache(maxsize=4096)
def least_errors(examples: tuple[tuple[Point, int, int], ...]) -> int:
    """Fewest errors of a halfspace {x: w·x ≥ w₀} of ℝ^d on labelled examples, including w = 0 (all or nothing).

    From finitely many points a halfspace selects none, all, or (after moving it until it touches as many points as
    possible) one side of a hyperplane of their affine hull through affinely independent points, together with a subset
    of the points on that hyperplane that some halfspace selects. Conversely, a halfspace selects every such set.

    Args:
        examples: (x, records at x with label 0, with label 1), x distinct, at least one.
    """
    ones = sum(one for _, _, one in examples)
    return ones + _least(tuple((x, zero - one) for x, zero, one in examples))


def _least(costs: tuple[tuple[Point, int], ...]) -> int:
    """The least total cost of the points in a halfspace."""
    costs = tuple((x, c) for x, c in costs if c)
    best = min(0, sum(c for _, c in costs))
    if len(costs) < 2:
        return best
    points = tuple(x for x, _ in costs)
    dimension, spanned = len(points[0]), _span(points)
    seen: set[Vector] = set()
    for subset in combinations(points, len(spanned)):
        if len(_span(subset)) < len(spanned) - 1:
            continue
        hyperplane = both(_through(_normal(subset, spanned, dimension, "transversal"), subset[0]))[0]
        if hyperplane in seen:
            continue
        seen.add(hyperplane)
        sides = [(side(hyperplane, x), x, c) for x, c in costs]
        above, below = (sum(c for s, _, c in sides if sign * s > 0) for sign in (1, -1))
        if min(above, below) + sum(min(c, 0) for s, _, c in sides if s == 0) < best:
            best = min(best, min(above, below) + _least(tuple((x, c) for s, x, c in sides if s == 0)))
    return best


def nullspace(rows: Sequence[Sequence[int | Fraction]], dimension: int) -> list[Vector]:
    """A basis of the vectors orthogonal to all rows, in whole numbers without a common divisor, (k, dimension)."""
    reduced, pivots = _reduced(rows)
    basis = []
    for free in (i for i in range(dimension) if i not in pivots):
        vector = [Fraction(0)] * dimension
        vector[free] = Fraction(1)
        for row, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -row[free]
        basis.append(_primitive(vector))
    return basis


def _span(points: Sequence[Point]) -> tuple[Vector, ...]:
    """A basis of the directions of the points' affine hull."""
    first = points[0]
    reduced, _ = _reduced([[a - b for a, b in zip(point, first, strict=True)] for point in points[1:]])
    return tuple(_primitive(row) for row in reduced)


def _normal(subset: tuple[Point, ...], spanned: tuple[Vector, ...], dimension: int, supports: Supports) -> Vector:
    """The normal of the halfspace for the subset; `spanned`: the directions of Aff."""
    own = _span(subset)
    if len(own) == len(spanned) < dimension or (supports == "aligned" and len(spanned) < dimension):
        return nullspace(spanned, dimension)[0]
    if len(spanned) == dimension:
        return nullspace(own, dimension)[0]
    # w = Σ cₖaₖ over the directions aₖ of Aff
    products = [[sum(a * b for a, b in zip(row, direction, strict=True)) for direction in spanned] for row in own]
    c = nullspace(products, len(spanned))[0]
    return _primitive([sum(k * a[i] for k, a in zip(c, spanned, strict=True)) for i in range(dimension)])


def _through(normal: Vector, point: Point) -> Vector:
    """The halfspace with this normal whose boundary holds the point."""
    offset = Fraction(sum((w * x for w, x in zip(normal, point, strict=True)), start=0))
    return (offset.numerator, *(w * offset.denominator for w in normal))


def _reduced(rows: Sequence[Sequence[int | Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form without rows of zeros, and its pivots."""
    left, done, pivots = [[Fraction(x) for x in row] for row in rows], list[list[Fraction]](), list[int]()
    for column in range(len(left[0]) if left else 0):
        at = next((i for i, row in enumerate(left) if row[column]), None)
        if at is None:
            continue
        row = left.pop(at)
        row = [x / row[column] for x in row]
        left, done = (
            [
                [x - other[column] * y for x, y in zip(other, row, strict=True)] if other[column] else other
                for other in part
            ]
            for part in (left, done)
        )
        done.append(row)
        pivots.append(column)
    return done, pivots


def _primitive(vector: Sequence[int | Fraction]) -> Vector:
    """The same direction in whole numbers without a common divisor."""
    unit = math.lcm(*(Fraction(x).denominator for x in vector))
    whole = [int(x * unit) for x in vector]
    divisor = math.gcd(*whole) or 1
    return tuple(x // divisor for x in whole)


def checked(point: Any, dimension: int) -> Point:
    """The point, if it is one of ℝ^d.

    Raises:
        DatasetError: it is not, or its coordinates are not whole numbers or fractions.
    """
    exact = isinstance(point, tuple) and len(point) == dimension
    if not exact or any(isinstance(x, bool) or not isinstance(x, int | Fraction) for x in point):
        raise DatasetError(f"A point must be a tuple of {dimension} whole numbers or fractions, not {point!r}.")
    valid: Point = point
    return valid
