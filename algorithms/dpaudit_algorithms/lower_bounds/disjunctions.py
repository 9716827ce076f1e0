"""Disjunctions of ℓ concepts, one for every axis, and classes with an element that all concepts label with 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

from dpaudit.language import ParameterError, checks
from dpaudit_algorithms.pac.concepts import ConceptClass


@dataclass(frozen=True)
class WithElement(ConceptClass):
    """C over X ∪ {p₀}, with c(p₀) = 0 for every c ∈ C.

    No class of the thesis has such an element in X. POINT_X, POINT_X with c_0, THRESH_X^ℓ, RECTANGLE_X^ℓ and the
    half-spaces of a grid have a concept that labels it 1, for every element. For thresholds p₀ is an element above all
    of X: THRESH_X with p₀ is THRESH over X ∪ {p₀} without the greatest threshold.

    Args:
        axis: C, over X.
        p0: p₀, not in X.

    Raises:
        ParameterError: p0 is in X.

    Source: Stemmer's thesis, section 7.6, Remark 7.27.
    """

    axis: ConceptClass
    p0: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p0 in self.axis.points:
            raise ParameterError(f"p0 must not be in X; {self.p0!r} is.")

    @cached_property
    def points(self) -> tuple[Any, ...]:
        return (*self.axis.points, self.p0)

    @cached_property
    def concepts(self) -> tuple[Any, ...]:
        return tuple(self.axis.concepts)

    def label(self, concept: Any, x: Any) -> int:
        return 0 if x == self.p0 else self.axis.label(concept, x)

    @property
    def vc(self) -> int:
        """That of C: p₀ has one label, so that no shattered set holds it."""
        return self.axis.vc


@dataclass(frozen=True)
class Disjunctions(ConceptClass):
    """All c = (c_1, …, c_ℓ) of concepts of C, with c(x) = c_1(x_1) ∨ … ∨ c_ℓ(x_ℓ) for x in X^ℓ.

    Two names may denote the same function.

    Args:
        axis: C, over X.
        ell: ℓ ≥ 1.

    Raises:
        ParameterError: ell below 1.

    Source: Stemmer's thesis, section 7.6, Remark 7.27; Definition 7.25 has ∧ for ∨.
    """

    axis: ConceptClass
    ell: checks.Count

    @cached_property
    def points(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(product(self.axis.points, repeat=self.ell))

    @cached_property
    def concepts(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(product(self.axis.concepts, repeat=self.ell))

    def label(self, concept: tuple[Any, ...], x: tuple[Any, ...]) -> int:
        return int(any(self.axis.label(c, x_i) for c, x_i in zip(concept, x, strict=True)))

    @cached_property
    def vc(self) -> int:
        """By trying all sets of points, so for small classes alone.

        With p₀ it is at least ℓ·VC(C): a shattered set of C, put on every axis, is shattered axis by axis.
        """
        size = 0
        while any(self.shatters(points) for points in combinations(self.points, size + 1)):
            size += 1
        return size
