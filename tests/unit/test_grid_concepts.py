"""Concept classes by brute force: how many concepts, which sets they shatter, and what the print says of that."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from dpaudit.language import ParameterError
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.pac.concepts import ConceptClass, Points, Thresholds
from dpaudit_algorithms.pac.grid_concepts import Halfspaces, Rectangles, ThresholdsND

CLASSES: list[ConceptClass] = [
    *(Thresholds(size) for size in (1, 2, 5)),
    *(Points(size) for size in (1, 2, 5)),
    *(ThresholdsND(*grid) for grid in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (4, 2))),
    *(Rectangles(*grid) for grid in ((1, 1), (1, 2), (2, 1), (3, 1), (2, 2), (3, 2), (2, 3))),
    *(Halfspaces(*grid) for grid in ((1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (3, 2))),
]


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_vc_dimension_by_brute_force(concepts: ConceptClass) -> None:
    shattered = [r for r in range(6) if any(concepts.shatters(B) for B in combinations(concepts.points, r))]
    assert max(shattered) == concepts.vc
    # subsets of shattered sets are shattered
    assert shattered == list(range(concepts.vc + 1))


@pytest.mark.parametrize("concepts", CLASSES, ids=repr)
def test_names_are_of_different_concepts_and_sauer_holds(concepts: ConceptClass) -> None:
    every = concepts.dichotomies(concepts.points)
    assert len(every) == len(set(concepts.concepts)) == len(concepts.concepts)
    assert len(every) <= bounds.sauer(concepts.vc, len(concepts.points))


@pytest.mark.parametrize(("size", "dimension"), [(2, 1), (3, 1), (3, 2), (2, 3)])
def test_rectangles_are_all_that_the_definition_names(size: int, dimension: int) -> None:
    concepts = Rectangles(size, dimension)
    named = {
        tuple(concepts.label((a, b), x) for x in concepts.points) for a, b in product(concepts.points, concepts.points)
    }
    assert named == concepts.dichotomies(concepts.points)
    assert len(concepts.concepts) == (size * (size + 1) // 2) ** dimension + 1


def test_printed_vc_dimensions_are_off_on_small_domains() -> None:
    # "VC(THRESH_X) = 1", "the VC dimension of RECTANGLE_X^ℓ is 2ℓ", "of THRESH_X^ℓ is ℓ"
    assert [Thresholds(k).vc for k in (1, 2, 3)] == [0, 1, 1]
    assert [Rectangles(2, d).vc for d in (1, 2, 3, 4)] == [2, 2, 3, 4]
    assert [Rectangles(3, d).vc for d in (1, 2, 3)] == [2, 4, 6]
    assert [ThresholdsND(k, 3).vc for k in (1, 2, 3)] == [0, 3, 3]


def test_halfspaces_of_a_grid_counted() -> None:
    # twice the number of ways to cut an n × n grid in two by a line, OEIS A114043: 1, 7, 29, 87, 201
    assert [len(Halfspaces(k, 2).concepts) for k in (1, 2, 3, 4, 5)] == [2, 14, 58, 174, 402]
    assert [len(Halfspaces(k, 1).concepts) for k in (1, 2, 5)] == [2, 4, 10]


def test_halfspaces_by_many_directions() -> None:
    concepts = Halfspaces(3, 2)
    found = {
        tuple(int(u * x + v * y >= b) for x, y in concepts.points)
        for u, v in product(range(-7, 8), repeat=2)
        for b in range(-30, 31)
    }
    assert found == concepts.dichotomies(concepts.points)


def test_labels_by_hand() -> None:
    assert ThresholdsND(3, 2).label((1, 2), (1, 0)) == 1
    assert ThresholdsND(3, 2).label((1, 2), (2, 0)) == 0
    assert Rectangles(3, 2).label(((0, 1), (1, 2)), (1, 1)) == 1
    assert Rectangles(3, 2).label(((0, 1), (1, 2)), (1, 0)) == 0
    assert Halfspaces(3, 2).label((2, 1, 1), (0, 2)) == 1
    assert Halfspaces(3, 2).label((3, 1, 1), (0, 2)) == 0
    assert Thresholds(3).dichotomies((1, 2)) == {(0, 0), (1, 0), (1, 1)}


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="size"):
        ThresholdsND(0, 1)
    with pytest.raises(ParameterError, match="dimension"):
        Rectangles(2, 0)
    with pytest.raises(ParameterError, match="1 or 2"):
        Halfspaces(2, 3)
