"""Concept classes over grids {0, …, k − 1}^ℓ: thresholds and rectangles in ℓ dimensions, and halfspaces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from typing import TypeAlias

from dpaudit.errors import ParameterError
from dpaudit.language import checks
from dpaudit_algorithms.pac.concepts import ConceptClass

Vector: TypeAlias = tuple[int, ...]
"""A point of a grid, shape (ℓ,)."""


@dataclass(frozen=True)
class _Grid(ConceptClass):
    """A class over X^ℓ, X = {0, …, size − 1}."""

    size: checks.Count
    dimension: checks.Count

    @cached_property
    def points(self) -> tuple[Vector, ...]:
        return tuple(product(range(self.size), repeat=self.dimension))


@dataclass(frozen=True)
class ThresholdsND(_Grid):
    """THRESH_X^ℓ: c_a(x) = 1 iff x_i ≤ a_i for all i, for a in X^ℓ, X = {0, …, size − 1}.

    Args:
        size: |X| ≥ 1.
        dimension: ℓ ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Definition 7.23.
    """

    @property
    def concepts(self) -> tuple[Vector, ...]:
        return self.points

    def label(self, concept: Vector, x: Vector) -> int:
        return int(all(b <= a for a, b in zip(concept, x, strict=True)))

    @property
    def vc(self) -> int:
        """ℓ, as printed, where |X| ≥ 2; one concept where |X| = 1.

        The ℓ points that are 1 in one coordinate and 0 elsewhere are shattered. Of ℓ + 1 points choose one with the
        greatest x_i for every i: a concept that labels these 1 labels the others 1.
        """
        return self.dimension if self.size > 1 else 0


@dataclass(frozen=True)
class Rectangles(_Grid):
    """RECTANGLE_X^ℓ: c_[a, b](x) = 1 iff a_i ≤ x_i ≤ b_i for all i, for a and b in X^ℓ, X = {0, …, size − 1}.

    A concept is named (a, b). Where some a_i > b_i it is empty: of these one is listed.

    Args:
        size: |X| ≥ 1.
        dimension: ℓ ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Definition 6.19.
    """

    @cached_property
    def concepts(self) -> tuple[tuple[Vector, Vector], ...]:
        intervals = tuple(combinations_with_replacement(range(self.size), 2))
        boxes = [
            (tuple(low for low, _ in sides), tuple(high for _, high in sides))
            for sides in product(intervals, repeat=self.dimension)
        ]
        if self.size > 1:
            boxes.append(((1,) * self.dimension, (0,) * self.dimension))
        return tuple(boxes)

    def label(self, concept: tuple[Vector, Vector], x: Vector) -> int:
        low, high = concept
        return int(all(a <= c <= b for a, b, c in zip(low, high, x, strict=True)))

    @property
    def vc(self) -> int:
        """2ℓ, as printed, where |X| ≥ 3; max{2, ℓ} where |X| = 2; one concept where |X| = 1.

        A set is shattered if and only if no point of it lies in the smallest rectangle that holds the others, that
        is, each is the only least or the only greatest of them in some coordinate. That makes 2ℓ at most, attained
        around the point (1, …, 1). Where |X| = 2 a coordinate with an only greatest point has no only least one,
        unless there are two points in all.
        """
        if self.size == 1:
            return 0
        return max(2, self.dimension) if self.size == 2 else 2 * self.dimension


@dataclass(frozen=True)
class Halfspaces(_Grid):
    """Halfspaces on a grid: h_w(x) = 1 iff Σ w_i·x_i ≥ w_0, for x in {0, …, size − 1}^d.

    A concept is named (w_0, w_1, …, w_d), whole numbers, one name for each way to label the grid. That is every
    way there is: a halfspace that labels a finite set can be turned a little, so that no two points of the grid lie on
    a line parallel to its border, and only the order of w·x over the points counts; that changes where w is
    perpendicular to a difference of two points, and the sum of two such directions that are next to each other lies
    between them.

    Args:
        size: points along an axis, ≥ 1.
        dimension: d, 1 or 2.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces with public data, section 2, "Halfspaces and Hyperplanes"; the grid makes the class finite.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension > 2:
            raise ParameterError(f"The dimension of Halfspaces must be 1 or 2, not {self.dimension}.")

    @cached_property
    def concepts(self) -> tuple[Vector, ...]:
        names: dict[Vector, Vector] = {}
        for direction in _generic(self.size, self.dimension):
            heights = sorted({_dot(direction, x) for x in self.points})
            for bound in (*heights, heights[-1] + 1):
                name = (bound, *direction)
                names.setdefault(tuple(self.label(name, x) for x in self.points), name)
        return tuple(names.values())

    def label(self, concept: Vector, x: Vector) -> int:
        return int(_dot(concept[1:], x) >= concept[0])

    @property
    def vc(self) -> int:
        """d + 1; on one point 1."""
        return self.dimension + 1 if self.size > 1 else 1


def _generic(size: int, dimension: int) -> list[Vector]:
    """Directions w, one for every order of w·x over the grid in which no two points are equal."""
    if dimension == 1:
        return [(1,), (-1,)]
    if size == 1:
        return [(1, 0)]
    reach = range(1 - size, size)
    critical = [(x, y) for x, y in product(reach, reach) if math.gcd(x, y) == 1]
    critical.sort(key=lambda w: _angle(*w))
    return [(a + c, b + d) for (a, b), (c, d) in zip(critical, critical[1:] + critical[:1], strict=True)]


def _angle(x: int, y: int) -> Fraction:
    """A number that grows with the angle of (x, y), from −1 at −90° on."""
    slope = Fraction(y, abs(x) + abs(y))
    return slope if x >= 0 else 2 - slope


def _dot(w: Vector, x: Vector) -> int:
    return sum(a * b for a, b in zip(w, x, strict=True))
