"""Evenly spaced angles: every sign held against exact fractions, and against intervals of 300 bits."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpaudit.errors import ParameterError
from dpaudit_algorithms.half_spaces.angles import AngleGrid, Root, Sine, Surd, is_fine, minimum_angle, polar

PYTHAGOREAN = {Fraction(3, 5): Fraction(4, 5), Fraction(5, 13): Fraction(12, 13), Fraction(20, 29): Fraction(21, 29)}
"""sin γ → cos γ, both fractions: then so are those of all multiples."""
SINES = (
    *PYTHAGOREAN, Fraction(1), Fraction(1, 2), Fraction(1, 8), Fraction(1, 18), Fraction(1, 50), Fraction(2, 7),
    Root(Fraction(1, 2)), Root(Fraction(1, 10)), minimum_angle(3), Root(Fraction(9, 13)),
)
small = st.integers(-9, 9)


def sign(x: Fraction | int) -> int:
    return (x > 0) - (x < 0)


@cache
def turned(sine: Fraction, i: int) -> tuple[Fraction, Fraction]:
    """(cos iγ, sin iγ) by the addition theorems, in fractions."""
    if i == 0:
        return Fraction(1), Fraction(0)
    c, s = turned(sine, i - 1)
    return c * PYTHAGOREAN[sine] - s * sine, s * PYTHAGOREAN[sine] + c * sine


def angle_interval(sine: Sine, i: int) -> arb:
    """iγ, in an interval."""
    if isinstance(sine, Root):
        return i * arb(fmpq(sine.square.numerator, sine.square.denominator)).sqrt().asin()
    return i * arb(fmpq(sine.numerator, sine.denominator)).asin()


def sign_interval(value: arb) -> int | None:
    """The sign of every number in the interval; None where it holds 0."""
    return 1 if value > 0 else -1 if value < 0 else None


@pytest.fixture(autouse=True)
def bits() -> object:
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@given(st.integers(-60, 60), st.integers(-60, 60), st.integers(0, 50))
def test_signs_of_surds(a: int, b: int, root: int) -> None:
    # a² against b²·root, by fractions; and by intervals where the root is no square
    value = arb(a) + arb(b) * arb(root).sqrt()
    exact = math.isqrt(root) ** 2 == root
    expected = sign(a + b * math.isqrt(root)) if exact else sign_interval(value)
    assert Surd(a, b, root).sign == (0 if a == b == 0 else expected)


@given(small, small, small, small, st.integers(0, 20))
def test_arithmetic_of_surds(a: int, b: int, c: int, d: int, root: int) -> None:
    x, y = Surd(a, b, root), Surd(c, d, root)
    floats = (a + b * math.sqrt(root), c + d * math.sqrt(root))
    for found, expected in ((x + y, sum(floats)), (x - y, floats[0] - floats[1]), (x * y, floats[0] * floats[1])):
        assert found.a + found.b * math.sqrt(root) == pytest.approx(expected, abs=1e-9)
    assert x * 3 == Surd(3 * a, 3 * b, root)


@pytest.mark.parametrize("sine", PYTHAGOREAN)
def test_vectors_in_fractions(sine: Fraction) -> None:
    grid = AngleGrid(sine)
    for i in range(grid.size + 3):
        scale = sine.denominator**i
        for part, exact in zip(grid.vector(i), turned(sine, i), strict=True):
            root = math.isqrt(part.root)
            assert root * root == part.root
            assert Fraction(part.a + part.b * root, scale) == exact


@pytest.mark.parametrize("sine", SINES)
def test_size(sine: Sine) -> None:
    # ⌊2π/γ⌋ + 1; where γ divides 2π, that is where sin γ is 1 or 1/2, by hand
    by_hand = {Fraction(1): 5, Fraction(1, 2): 13, Root(Fraction(1, 2)): 9}
    ratio = 2 * arb.pi() / angle_interval(sine, 1)
    expected = by_hand[sine] if sine in by_hand else int(ratio.floor().unique_fmpz()) + 1
    assert AngleGrid(sine).size == len(AngleGrid(sine)) == expected


def test_minimum_angles() -> None:
    """The least angle between any two points of the grid on no common line, by its definition."""
    for k in (1, 2, 3, 4, 6):
        points = [x for x in product(range(-k, k + 1), repeat=2) if any(x)]
        squares = [
            Fraction((v[0] * w[1] - v[1] * w[0]) ** 2, (v[0] ** 2 + v[1] ** 2) * (w[0] ** 2 + w[1] ** 2))
            for v in points for w in points
        ]
        assert minimum_angle(k) == Root(min(square for square in squares if square))
        assert is_fine(Fraction(1, 2 * k * k), k)
        assert is_fine(minimum_angle(k), k)
        assert not is_fine(minimum_angle(k), k + 1)
    assert [AngleGrid(minimum_angle(k)).size for k in (1, 2, 3)] == [9, 20, 51]


def test_printed_sizes() -> None:
    assert [AngleGrid.for_grid(k).size for k in (1, 3, 5, 20)] == [13, 114, 315, 5027]


@settings(max_examples=300)
@given(st.sampled_from(sorted(PYTHAGOREAN)), st.integers(0, 40), small, small)
def test_sides_in_fractions(sine: Fraction, i: int, a: int, b: int) -> None:
    grid = AngleGrid(sine)
    assume(i < grid.size)
    c, s = turned(sine, i)
    expected = sign(c * a + s * b)
    assert grid.side((i,), (a, b)) == expected
    assert grid._exact_side((i,), (a, b)) == expected
    assert grid.sides((a, b))[i] == expected
    assert grid.labels((a, b))[i] == (1 if expected >= 0 else -1)


@settings(max_examples=200)
@given(st.sampled_from(SINES), st.data(), small, small, small)
def test_sides_in_three_dimensions_by_intervals(sine: Sine, data: st.DataObject, a: int, b: int, c: int) -> None:
    grid = AngleGrid(sine)
    i, j = (data.draw(st.integers(0, grid.size - 1)) for _ in range(2))
    u, v = angle_interval(sine, i), angle_interval(sine, j)
    value = u.cos() * a + u.sin() * (v.cos() * b + v.sin() * c)
    expected = sign_interval(value)
    found = grid.side((i, j), (a, b, c))
    assert found == grid._exact_side((i, j), (a, b, c))
    # an interval of 300 bits that contains 0 is a tie, whose sign no interval decides
    assert found == (0 if expected is None else expected)


@pytest.mark.parametrize("sine", [Fraction(1, 2), Fraction(1), Fraction(1, 18), minimum_angle(1), minimum_angle(2)])
def test_all_sides_of_all_points(sine: Sine) -> None:
    grid = AngleGrid(sine)
    for x in product(range(-3, 4), repeat=2):
        sides = grid.sides(x).tolist()
        for i in range(grid.size):
            angle = angle_interval(sine, i)
            expected = sign_interval(angle.cos() * x[0] + angle.sin() * x[1])
            assert sides[i] == (0 if expected is None else expected), (x, i)


def test_ties_by_hand() -> None:
    # γ = 30°: 90° is 3γ, so (1, 0) lies on that border; 120° is 4γ, at which no point of the grid but the origin lies
    sixth = AngleGrid(Fraction(1, 2))
    assert [i for i, side in enumerate(sixth.sides((1, 0)).tolist()) if side == 0] == [3, 9]
    assert [i for i, side in enumerate(sixth.sides((0, 2)).tolist()) if side == 0] == [0, 6, 12]
    assert 0 not in sixth.sides((1, 1)).tolist()
    assert set(sixth.sides((0, 0)).tolist()) == {0}
    # γ = 90°
    quarter = AngleGrid(Fraction(1))
    assert quarter.sides((2, 0)).tolist() == [1, 0, -1, 0, 1]
    assert quarter.labels((0, -1)).tolist() == [1, -1, 1, 1, 1]
    # in three dimensions: 60° twice, so that n = (1/2, √3/4, 3/4), and ⟨n, (3, 0, −2)⟩ = 0
    assert sixth.side((2, 2), (3, 0, -2)) == 0
    assert sixth.side((2, 2), (3, 1, -2)) == 1


@pytest.mark.parametrize("sine", SINES)
def test_place_of_every_grid_point(sine: Sine) -> None:
    grid = AngleGrid(sine)
    for x in product(range(-5, 6), repeat=2):
        if not any(x):
            continue
        j, exact = grid.place(x)
        assert 0 <= j < grid.size
        phi = arb.atan2(arb(x[1]), arb(x[0]))
        if x[1] < 0:
            phi += 2 * arb.pi()
        assert exact == _on_grid(sine, j, x), (x, j)
        below, above = phi - angle_interval(sine, j), angle_interval(sine, j + 1) - phi
        assert exact or below > 0, (x, j)
        assert above > 0, (x, j)


def _on_grid(sine: Sine, j: int, x: tuple[int, int]) -> bool:
    """Whether jγ is the angle of x: by whole numbers or fractions where the grid has them, else by hand."""
    if isinstance(sine, Root):
        # tan γ = across/along, so that the powers of along + i·across have the angles of the grid
        across, rest = sine.square.numerator, sine.square.denominator - sine.square.numerator
        along, real, imaginary = math.isqrt(across * rest), 1, 0
        for _ in range(j):
            real, imaginary = real * along - imaginary * across, real * across + imaginary * along
        return real * x[1] == imaginary * x[0] and real * x[0] + imaginary * x[1] > 0
    if sine in PYTHAGOREAN:
        c, s = turned(sine, j)
        return c * x[1] == s * x[0] and c * x[0] + s * x[1] > 0
    by_hand = {Fraction(1): {0: (1, 0), 1: (0, 1), 2: (-1, 0), 3: (0, -1)}}
    by_hand[Fraction(1, 2)] = {3 * i: axis for i, axis in by_hand[Fraction(1)].items()}
    # γ/π is irrational for the others (Niven), and tan jγ too unless j = 0
    axis = by_hand.get(sine, {0: (1, 0)}).get(j)
    return axis is not None and x[0] * axis[1] == x[1] * axis[0] and x[0] * axis[0] + x[1] * axis[1] > 0


def test_place_in_three_dimensions() -> None:
    grid = AngleGrid(Fraction(1, 2))
    assert grid.place((0, 3, 4), 1) == (3, True)
    assert grid.place((-1, 0, 0), 1) == (6, True)
    assert grid.place((0, 0, -1), 2) == (9, True)
    # the angle of (1, √2) is 54.7°
    assert grid.place((1, 1, -1), 1) == (1, False)
    with pytest.raises(ParameterError):
        grid.place((1, 0, 0), 2)
    with pytest.raises(ParameterError):
        grid.place((1, 0, 0), 3)


@pytest.mark.parametrize("k", range(1, 9))
def test_lemma_11_by_brute_force(k: int) -> None:
    # sin² of the angle between v and w is (v × w)²/(|v|²·|w|²), exactly; the least is above 1/(2k²)², never at it
    points = [p for p in product(range(-k, k + 1), repeat=2) if any(p)]
    least = min(
        Fraction(cross * cross, (a * a + b * b) * (c * c + d * d))
        for (a, b), (c, d) in product(points, repeat=2)
        if (cross := a * d - b * c)
    )
    assert least > Fraction(1, 2 * k * k) ** 2
    # the least is that of two neighbours in the order of angles, whose cross product is 1
    around = sorted((p for p in points if math.gcd(*p) == 1), key=polar)
    closest = min(Fraction(1, (a * a + b * b) * (c * c + d * d)) for (a, b), (c, d) in pairwise(around))
    assert least == closest


def test_bad_input() -> None:
    for sine in (Fraction(0), Fraction(3, 2), Fraction(-1, 2), 0.5):
        with pytest.raises(ParameterError):
            AngleGrid(sine)  # type: ignore[arg-type]
    for square in (Fraction(0), Fraction(2), Fraction(1, 3)):
        with pytest.raises(ParameterError):
            AngleGrid(Root(square))
    with pytest.raises(ParameterError):
        AngleGrid.for_grid(0)
    with pytest.raises(ParameterError):
        AngleGrid(Fraction(1, 2)).side((1,), (1, 2, 3))


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(
    "sine",
    [Fraction(1), Fraction(1, 2), Fraction(3, 5), Fraction(1, 8), Fraction(1, 18), minimum_angle(1), minimum_angle(2)],
)
def test_near_is_nearer_than_one_step(sine: Sine, wrap: bool) -> None:
    grid = AngleGrid(sine)
    for x in product(range(-3, 4), repeat=2):
        if any(x):
            gaps = [abs(angle - polar(x)) for angle in grid.angles.tolist()]
            gaps = [min(gap, abs(2 * math.pi - gap)) if wrap else gap for gap in gaps]
            # what is off by less than this is a tie: a point whose angle is on the grid is a whole step away
            assert grid.near(x, wrap=wrap) == tuple(j for j, gap in enumerate(gaps) if gap < grid.gamma - 1e-9), x
