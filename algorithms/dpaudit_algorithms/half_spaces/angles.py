"""Evenly spaced angles, exactly: on which side of a halfspace an integer grid point lies, without rounding errors.

The angle γ between neighbours is given by its sine. That is a fraction p/q, or the root of one where the tangent is a
fraction; so q·(cos γ, sin γ) = (√D, p) with whole p, q and D = q² − p², or with whole p and √D and q = √(D + p²). All
sines and cosines of multiples of γ, and products of them, are then (a + b·√r)/q^m with whole a, b and r = D or r = q²,
and comparing whole numbers gives their signs. Doubles are used if they are far from 0, exact numbers otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import ParameterError
from dpaudit.language import FloatArray, checks

Point: TypeAlias = Sequence[int]
"""A point of the integer grid, or a direction, shape (d,)."""
_CLEAR = 1e-9
"""Doubles of order 1 this far from 0 have the right sign: their errors are below 1e-13."""


@dataclass(frozen=True)
class Surd:
    """a + b·√root, for whole a, b and root ≥ 0."""

    a: int
    b: int
    root: int

    def __add__(self, other: Surd) -> Surd:
        return Surd(self.a + other.a, self.b + other.b, self.root)

    def __sub__(self, other: Surd) -> Surd:
        return Surd(self.a - other.a, self.b - other.b, self.root)

    def __mul__(self, other: Surd | int) -> Surd:
        if isinstance(other, int):
            return Surd(self.a * other, self.b * other, self.root)
        return Surd(self.a * other.a + self.b * other.b * self.root, self.a * other.b + self.b * other.a, self.root)

    @property
    def sign(self) -> int:
        """−1, 0 or 1."""
        a, b = (self.a > 0) - (self.a < 0), (self.b > 0) - (self.b < 0)
        if not self.root or not b or a == b:
            return a if not self.root or not b else b
        if not a:
            return b
        # a and b have opposite signs
        gap = self.a * self.a - self.b * self.b * self.root
        return a if gap > 0 else b if gap < 0 else 0


@dataclass(frozen=True)
class Root:
    """√square: a sine that is no fraction."""

    square: Fraction

    def __str__(self) -> str:
        return f"√({self.square})"


Sine: TypeAlias = Fraction | Root
"""sin γ; a `Root` of a sine whose tangent is a fraction."""


GAMMA = (
    '"γ as guaranteed in Lemma 11" is read as its bound, sin γ = 1/(2k²), 30° at k = 1. The lemma\'s γ is "the minimum '
    '(positive) angle" itself, 45° at k = 1: sine = minimum_angle(k).'
)
"""A deviation, for the cards."""


@lru_cache(maxsize=64)
def minimum_angle(k: int) -> Sine:
    """The sine of the least angle between two vectors of {−k, …, k}² that are on no common line.

    The other reading of "γ as guaranteed in Lemma 11", whose statement calls γ "the minimum (positive) angle": 45° at
    k = 1. Its tangent is |det|/⟨v, w⟩, a fraction.

    Args:
        k: ≥ 1.
    """
    reach = range(checks.whole("k", k, least=1) + 1)
    # by the symmetries of the grid both are in the first quadrant
    vectors = [(a, b) for a in reach for b in reach if math.gcd(a, b) == 1]
    tangents = [
        Fraction(det, v[0] * w[0] + v[1] * w[1])
        for v in vectors for w in vectors
        if (det := v[0] * w[1] - v[1] * w[0]) > 0 and (v[0] * w[0] + v[1] * w[1]) > 0
    ]
    least = min(tangents)
    return Root(least**2 / (1 + least**2))


def is_fine(sine: Sine, k: int) -> bool:
    """Whether γ is as in Lemma 11 for {−k, …, k}², in either reading: at most the minimum angle."""
    least = minimum_angle(k)
    assert isinstance(least, Root)
    return (sine.square if isinstance(sine, Root) else sine * sine) <= least.square


@dataclass(frozen=True)
class AngleGrid:
    """H_γ = {i·γ : i = 0, 1, …, ⌊2π/γ⌋}, with sin γ = `sine` and 0 < γ ≤ π/2.

    The angle i·γ represents the unit vector n = (cos iγ, sin iγ) and the half-space that labels x with 1 iff
    ⟨n, x⟩ ≥ 0. In d dimensions d − 1 angles represent n = (cos φ₁, sin φ₁·cos φ₂, …, sin φ₁ ⋯ sin φ_{d−1}). If γ
    divides 2π, both ends are listed although they are one direction, as in the definition.

    Args:
        sine: sin γ, in (0, 1].

    Raises:
        ParameterError: a sine outside (0, 1], or the root of a fraction where the tangent is none.

    Source: half-spaces paper, section 3.1, `Discretize`.
    """

    sine: Sine

    def __post_init__(self) -> None:
        square = self.sine.square if isinstance(self.sine, Root) else self.sine
        if not isinstance(square, Fraction) or not 0 < square <= 1:
            raise ParameterError(f"The sine of γ must be a Fraction in (0, 1], not {self.sine!r}.")
        if isinstance(self.sine, Root) and math.isqrt(product := _tangent(square)) ** 2 != product:
            raise ParameterError(f"Where the sine of γ is a root, its tangent must be a fraction, not for {self.sine}.")

    @classmethod
    def for_grid(cls, k: int) -> AngleGrid:
        """γ as in Lemma 11 for X = {−k, …, k}: sin γ = 1/(2k²)."""
        return cls(Fraction(1, 2 * checks.whole("k", k, least=1) ** 2))

    @property
    def gamma(self) -> float:
        """γ in radians, rounded; no decision depends on it."""
        return math.asin(math.sqrt(self.sine.square) if isinstance(self.sine, Root) else self.sine)

    @cached_property
    def _whole(self) -> tuple[int, int] | None:
        """q·(cos γ, sin γ) of a sine that is a root, in lowest terms; None of one that is a fraction."""
        if not isinstance(self.sine, Root):
            return None
        along, across = math.isqrt(_tangent(self.sine.square)), self.sine.square.numerator
        shared = math.gcd(along, across)
        return along // shared, across // shared

    @cached_property
    def _radicand(self) -> int:
        """r of the class's exact numbers a + b·√r."""
        if self._whole is not None:
            return self._whole[0] ** 2 + self._whole[1] ** 2
        assert isinstance(self.sine, Fraction)
        return self.sine.denominator**2 - self.sine.numerator**2

    def _scale(self, i: int) -> Surd:
        """q^i, the length of `vector`."""
        if self._whole is None:
            assert isinstance(self.sine, Fraction)
            return Surd(self.sine.denominator**i, 0, self._radicand)
        power = self._radicand ** (i // 2)
        return Surd(0, power, self._radicand) if i % 2 else Surd(power, 0, self._radicand)

    @cached_property
    def size(self) -> int:
        """The number of angles, ⌊2π/γ⌋ + 1."""
        last = round(2 * math.pi / self.gamma) + 1
        # near 2π the sine is negative below, 0 at, positive above it
        while self.vector(last)[1].sign > 0:
            last -= 1
        return last + 1

    def __len__(self) -> int:
        return self.size

    @cached_property
    def angles(self) -> FloatArray:
        """i·γ in radians, rounded, shape (size,); for figures, and to check where doubles are enough."""
        return np.arange(self.size, dtype=np.float64) * np.float64(self.gamma)

    def vector(self, i: int) -> tuple[Surd, Surd]:
        """q^i·(cos iγ, sin iγ), exactly."""
        if self._whole is None:
            assert isinstance(self.sine, Fraction)
            return _power(self.sine.numerator, self._radicand, i)
        along, across = self._whole
        cosine, sine = (value.a + value.b * along for value in _power(across, along**2, i))
        return Surd(cosine, 0, self._radicand), Surd(sine, 0, self._radicand)

    # which side --------------------------------------------------------------------------------------------------

    def side(self, chosen: Sequence[int], x: Point) -> int:
        """The sign of ⟨n, x⟩: −1, 0 or 1.

        Args:
            chosen: the indices of the d − 1 angles.
            x: d whole numbers.
        """
        if len(chosen) != len(x) - 1:
            raise ParameterError(f"A point with {len(x)} coordinates needs {len(x) - 1} angles, not {len(chosen)}.")
        value = float(x[-1])
        for i, coordinate in zip(reversed(chosen), reversed(x[:-1]), strict=True):
            value = math.cos(i * self.gamma) * coordinate + math.sin(i * self.gamma) * value
        if abs(value) > _CLEAR * (1 + sum(map(abs, x))):
            return 1 if value > 0 else -1
        return self._exact_side(chosen, x)

    def _exact_side(self, chosen: Sequence[int], x: Point) -> int:
        value, scale = Surd(x[-1], 0, self._radicand), Surd(1, 0, self._radicand)
        for i, coordinate in zip(reversed(chosen), reversed(x[:-1]), strict=True):
            cosine, sine = self.vector(i)
            value = cosine * (scale * coordinate) + sine * value
            scale = scale * self._scale(i)
        return value.sign

    def sides(self, x: Point) -> NDArray[np.int8]:
        """`side` of x for all choices of d − 1 angles, shape (size,) · (d − 1)."""
        return _sides(self, tuple(x))

    def labels(self, x: Point) -> NDArray[np.int8]:
        """The labels that the half-spaces give x, 1 where ⟨n, x⟩ ≥ 0 and −1 elsewhere, shape (size,) · (d − 1)."""
        return np.where(self.sides(x) >= 0, np.int8(1), np.int8(-1))

    # angles of points --------------------------------------------------------------------------------------------

    def place(self, x: Point, i: int = 1) -> tuple[int, bool]:
        """The last j with j·γ ≤ φ, and whether they are equal, where φ is the i-th angle of x.

        That is the angle of (x_i, ‖(x_{i+1}, …, x_d)‖) in [0, π], and for i = d − 1 of (x_{d−1}, x_d) in [0, 2π).

        Args:
            x: d ≥ 2 whole numbers; not all of x_i, …, x_d may be 0.
            i: 1 ≤ i < d.

        Raises:
            ParameterError: x has no such angle.
        """
        if not 1 <= i < len(x) or not any(x[i - 1 :]):
            raise ParameterError(f"{tuple(x)} has no angle number {i}.")
        first, rest = x[i - 1], x[i:]
        square = sum(c * c for c in rest)
        negative = len(rest) == 1 and rest[0] < 0
        angle = math.atan2(-math.sqrt(square) if negative else math.sqrt(square), first) % (2 * math.pi)
        j = min(self.size - 1, int(angle / self.gamma) + 1)
        while (order := self._order(j, angle, first, square, negative)) > 0:
            j -= 1
        return j, order == 0

    def near(self, x: Point, i: int = 1, *, wrap: bool = False) -> tuple[int, ...]:
        """The indices j of the angles with |φ − j·γ| < γ, where φ is the i-th angle of x, ascending.

        Args:
            x, i: as in `place`.
            wrap: whether the distance is taken on the circle, instead of between two numbers.

        Raises:
            ParameterError: x has no such angle.
        """
        j, exact = self.place(x, i)
        last = self.size - 1
        indices = {j} if exact or j == last else {j, j + 1}
        # just below 2π (only for the last angle of x): the mirror image is within γ above 0
        if wrap and i == len(x) - 1 and self.place((x[-2], -x[-1]))[0] == 0:
            indices.add(0)
        # above 0: 2π − last·γ + φ < γ, that is, φ < ω = size·γ − 2π ≤ π/2, or sin ω·cos φ > cos ω·sin φ
        if wrap and j == 0:
            cosine, sine = self.vector(self.size)
            left, square = sine * x[i - 1], sum(c * c for c in x[i:])
            if left.sign > 0 and (left * left - cosine * cosine * square).sign > 0:
                indices.add(last)
        return tuple(sorted(indices))

    def _order(self, j: int, angle: float, first: int, square: int, negative: bool) -> int:
        """The sign of j·γ − φ, φ being the angle of (first, ±√square)."""
        gap = j * self.gamma - angle
        if abs(gap) > _CLEAR:
            return 1 if gap > 0 else -1
        cosine, sine = self.vector(j)
        # the angles are close, so the sign of sin(jγ − φ) = sin(jγ)·cos φ − cos(jγ)·sin φ decides
        left, right = sine * first, cosine * (-1 if negative else 1)
        ls, rs = left.sign, right.sign if square else 0
        if ls != rs:
            return 1 if ls > rs else -1
        return ls * (left * left - right * right * square).sign


def polar(x: Point) -> float:
    """The angle of a point of the plane in [0, 2π), in radians, rounded; for figures."""
    return math.atan2(x[1], x[0]) % (2 * math.pi)


def _tangent(square: Fraction) -> int:
    """A whole number that is a square exactly where the tangent is a fraction, for sin² = square."""
    return square.numerator * (square.denominator - square.numerator)


@lru_cache(maxsize=8192)
def _power(p: int, root: int, m: int) -> tuple[Surd, Surd]:
    """The real and imaginary part of (√root + i·p)^m."""
    if m == 0:
        return Surd(1, 0, root), Surd(0, 0, root)
    half = _power(p, root, m // 2)
    square = _times(half, half)
    return square if m % 2 == 0 else _times(square, (Surd(0, 1, root), Surd(p, 0, root)))


def _times(z: tuple[Surd, Surd], w: tuple[Surd, Surd]) -> tuple[Surd, Surd]:
    return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]


@lru_cache(maxsize=4096)
def _sides(grid: AngleGrid, x: tuple[int, ...]) -> NDArray[np.int8]:
    cosines, sines = np.cos(grid.angles), np.sin(grid.angles)

    def outward(value: FloatArray, coordinate: int) -> FloatArray:
        turned: FloatArray = np.multiply.outer(sines, value)
        turned += (cosines * coordinate).reshape(-1, *(1,) * value.ndim)
        return turned

    values = reduce(outward, reversed(x[:-1]), np.asarray(float(x[-1])))
    signs: NDArray[np.int8] = np.sign(values).astype(np.int8)
    for chosen in np.argwhere(np.abs(values) <= _CLEAR * (1 + sum(map(abs, x)))).tolist():
        signs[tuple(chosen)] = grid._exact_side(chosen, x)
    signs.flags.writeable = False
    return signs
