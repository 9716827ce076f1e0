"""Halfspaces through points, exactly: against fractions, and against dichotomies found in another way."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpaudit.errors import DatasetError
from dpaudit_algorithms.mixtures.mixtures_geometry import (
    EmptySubset,
    Supports,
    checked,
    constr_half,
    contains,
    least_errors,
    membership,
    nullspace,
    on,
    side,
)

quick = settings(max_examples=120)
BIG = st.integers(-(10**30), 10**30)
COORDINATE = st.one_of(st.integers(-3, 3), st.fractions(-3, 3, max_denominator=5), BIG)


def points(dimension: int, most: int = 5) -> Any:
    return st.lists(st.tuples(*[COORDINATE] * dimension), min_size=1, max_size=most).map(tuple)


def rank(rows: list[list[Fraction]]) -> int:
    """By minors: the largest square part with a determinant that is not 0."""
    if not rows:
        return 0
    for k in range(min(len(rows), len(rows[0])), 0, -1):
        for chosen in combinations(rows, k):
            for columns in combinations(range(len(rows[0])), k):
                if determinant([[row[c] for c in columns] for row in chosen]):
                    return k
    return 0


def determinant(matrix: list[list[Fraction]]) -> Fraction:
    if len(matrix) == 1:
        return Fraction(matrix[0][0])
    return sum(
        (
            (-1) ** c * matrix[0][c] * determinant([row[:c] + row[c + 1 :] for row in matrix[1:]])
            for c in range(len(matrix))
        ),
        start=Fraction(0),
    )


def hull_dimension(subset: Any) -> int:
    return rank([[Fraction(a) - b for a, b in zip(x, subset[0], strict=True)] for x in subset[1:]])


@quick
@given(
    st.integers(1, 3).flatmap(points), st.sampled_from(get_args(Supports)), st.sampled_from(get_args(EmptySubset))
)
def test_the_family_of_public_points(given_points: Any, supports: Supports, empty_subset: EmptySubset) -> None:
    d = len(given_points[0])
    family = constr_half(given_points, d, supports, empty_subset)
    chosen = sorted(set(given_points))
    whole = hull_dimension(chosen)
    assert len(family.equations) == d - whole
    assert rank([[Fraction(c) for c in e[1:]] for e in family.equations]) == d - whole
    assert all(on(family.equations, x) for x in chosen)
    assert len(set(family.halfspaces)) == len(family.halfspaces)
    known = set(family.halfspaces)
    assert all(any(w[1:]) and tuple(-c for c in w) in known for w in known)
    axis = {(0, 1, *(0,) * (d - 1)), (0, -1, *(0,) * (d - 1))}
    assert axis <= known or empty_subset == "skip"
    if empty_subset == "skip":
        assert all(any(side(w, x) == 0 for x in chosen) for w in known)
    for size in range(1, d + 1):
        for subset in combinations(chosen, size):
            own = hull_dimension(subset)
            through = [w for w in known if all(side(w, x) == 0 for x in subset)]
            assert through
            flat = [w for w in through if all(side(w, x) == 0 for x in chosen)]
            if supports == "transversal" and own < whole:
                assert len(flat) < len(through)
            if whole < d and (supports == "aligned" or own == whole):
                assert flat


@pytest.mark.slow
@quick
@given(st.integers(1, 3).flatmap(lambda d: st.tuples(points(d), points(d, 4))))
def test_memberships_are_those_of_fractions(both: Any) -> None:
    public, others = both
    d = len(public[0])
    halfspaces = constr_half(public, d).halfspaces
    found = membership(halfspaces, (*public, *others))
    for row, w in zip(found.tolist(), halfspaces, strict=True):
        exact = [sum(Fraction(a) * b for a, b in zip(w[1:], x, strict=True)) >= w[0] for x in (*public, *others)]
        assert row == exact == [contains(w, x) for x in (*public, *others)]


def test_no_floating_ties() -> None:
    # on a line but for one part in 10^40: a double cannot tell
    far = (3 * 10**20, 10**20)
    ((w0, w1, w2),) = [w for w in constr_half(((0, 0), far), 2).halfspaces if side(w, far) == 0 == side(w, (0, 0))][:1]
    assert (w0, abs(w1), abs(w2)) == (0, 1, 3)
    assert side((w0, w1, w2), (3 * 10**20 + 1, 10**20)) in (1, -1)


@pytest.mark.parametrize(
    ("public", "supports", "halfspaces", "equations"),
    [
        (((0, 0), (2, 2)), "transversal", {(0, 1, 1), (4, 1, 1), (0, 1, -1)}, {(0, -1, 1)}),
        (((0, 0), (2, 2)), "aligned", {(0, 1, -1)}, {(0, -1, 1)}),
        (((0, 0), (1, 0), (0, 1)), "aligned", {(0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 1, 1)}, set()),
        (((3,), (5,), (3,)), "transversal", {(3, 1), (5, 1)}, set()),
        (((3, 4),), "transversal", {(3, 1, 0)}, {(3, 1, 0), (4, 0, 1)}),
        ((), "transversal", set(), set()),
    ],
)
def test_families_by_hand(public: Any, supports: Supports, halfspaces: set[Any], equations: set[Any]) -> None:
    d = len(public[0]) if public else 2
    family = constr_half(public, d, supports)
    assert set(family.halfspaces) == halfspaces | {tuple(-c for c in w) for w in halfspaces}
    assert set(family.equations) == equations


def test_number_of_halfspaces_in_general_position() -> None:
    # on the moment curve no d + 1 points are on a hyperplane, and the chosen ones of fewer points are others
    for d, n in ((1, 7), (2, 7), (3, 6)):
        curve = tuple(tuple((t + 2) ** k for k in range(1, d + 1)) for t in range(n))
        sizes = sum(len(list(combinations(curve, i))) for i in range(1, d + 1))
        assert len(constr_half(curve, d).halfspaces) <= 2 * sizes
        through = {w for w in constr_half(curve, d).halfspaces if sum(side(w, x) == 0 for x in curve) == d}
        assert len(through) >= 2 * len(list(combinations(curve, d)))


def separable(inside: list[Any], outside: list[Any]) -> bool:
    """Whether w·x ≥ w₀ + 1 inside and ≤ w₀ − 1 outside has a solution: by linear programming, no geometry."""
    rows = [[-c for c in x] + [1.0] for x in inside] + [[*x, -1.0] for x in outside]
    d = len((inside + outside)[0])
    return bool(
        linprog(
            np.zeros(d + 1), A_ub=np.array(rows, dtype=float), b_ub=[-1.0] * len(rows), bounds=[(None, None)] * (d + 1)
        ).status
        == 0
    )


@pytest.mark.slow(fast=["1-*"])
@pytest.mark.parametrize(("d", "grid"), [(1, range(6)), (2, range(3)), (3, range(2))])
def test_least_errors_over_all_dichotomies(d: int, grid: range) -> None:
    rng = np.random.default_rng(d)
    places = list(product(grid, repeat=d))
    for _ in range(4):
        chosen = [places[i] for i in rng.choice(len(places), min(6, len(places)), replace=False)]
        cuts = []
        for labels in product((0, 1), repeat=len(chosen)):
            inside = [x for x, y in zip(chosen, labels, strict=True) if y]
            outside = [x for x, y in zip(chosen, labels, strict=True) if not y]
            if not inside or not outside or separable(inside, outside):
                cuts.append(labels)
        for _ in range(12):
            counts = rng.integers(0, 4, (len(chosen), 2)).tolist()
            wanted = min(sum(count[1 - y] for count, y in zip(counts, cut, strict=True)) for cut in cuts)
            examples = tuple((x, zero, one) for x, (zero, one) in zip(chosen, counts, strict=True))
            assert least_errors(examples) == wanted


def test_nullspace_is_at_right_angles() -> None:
    assert nullspace([], 2) == [(1, 0), (0, 1)]
    assert nullspace([(2, 4)], 2) == [(-2, 1)]
    assert nullspace([(1, 2), (3, 4)], 2) == []
    assert nullspace([(Fraction(1, 2), Fraction(1, 3), 0)], 3) == [(-2, 3, 0), (0, 0, 1)]


@pytest.mark.parametrize("bad", [(1,), (1, 2, 3), 5, (0.5, 1), (True, 1), [1, 2], ("1", 2)])
def test_bad_points(bad: Any) -> None:
    with pytest.raises(DatasetError, match="tuple of 2 whole numbers or fractions"):
        checked(bad, 2)
