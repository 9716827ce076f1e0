"""Noise without a floating-point vulnerability: discrete Laplace noise, and snapped Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator

from dpaudit.errors import ParameterError
from dpaudit.language.checks import number, positive, whole
from dpaudit.language.distributions.real import ClippedInteger, Real
from dpaudit.stats.arrays import BoolArray, FloatArray, IntArray
from dpaudit.stats.enclosed import is_enclosed, near

MOST_NUMERATOR = 1 << 53
MOST_DENOMINATOR = 1 << 61
"""With a larger numerator or denominator of the scale, draws would overflow 64-bit integers."""
LARGEST_LOC = 1 << 61
ETA = 2.0**-53
"""Half the distance of 1 from the next double: the relative error of one rounding."""
HARD_DIGITS = 60
"""Decimal digits that decide the rounding of a logarithm of a double: about 36 are needed in the worst case."""

Bools = BoolArray
Floats = FloatArray
Integers = IntArray


@dataclass(frozen=True)
class DiscreteLaplace(Real):
    """Two-sided geometric noise around an integer: Pr[X = x] = (1 − a)/(1 + a) · a^|x − loc|, a = exp(−1/scale).

    Given a generator of perfectly random bits, `draw` follows exactly this law: it uses only whole numbers and
    Bernoulli draws of rational probability (`scale` counts as the fraction that it is in binary).
    `below`, `above`, `at` and the law of `clip` return probabilities as doubles, accurate to a few units in the last
    place.

    Args:
        loc: an integer, of absolute value at most 2^61.
        scale: > 0, a double or a Fraction; any double from 2^-8 to 2^53 works. 1/ε for a count.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy (2020), Algorithms 1 and 2.
    """

    noise_kind: ClassVar[str | None] = "geometric"
    loc: int
    scale: float | Fraction

    def __post_init__(self) -> None:
        if is_enclosed(self.loc) and self.loc.is_integer():
            object.__setattr__(self, "loc", int(self.loc))
        if abs(whole("loc", self.loc)) > LARGEST_LOC:
            raise ParameterError(f"loc must be at most 2^61 in absolute value, not {self.loc!r}.")
        positive("scale", self.scale)
        if is_enclosed(self.scale):
            return  # draws use a scale that is a double
        numerator, denominator = self._ratio
        if numerator > MOST_NUMERATOR or denominator > MOST_DENOMINATOR:
            raise ParameterError(
                f"scale must be a fraction of at most 2^53 over 2^61 in lowest terms, not {self.scale!r}."
            )

    @property
    def _ratio(self) -> tuple[int, int]:
        return Fraction(self.scale).as_integer_ratio()

    @property
    def _a(self) -> float:
        return math.exp(-1 / self.scale)

    def below(self, t: float) -> float:
        if math.isinf(t):
            return float(t > 0)
        steps = self.loc - (math.ceil(t) - 1)  # from loc down to the greatest integer below t
        return _tail(self._a, self.scale, steps) if steps > 0 else 1 - _tail(self._a, self.scale, 1 - steps)

    def above(self, t: float) -> float:
        if math.isinf(t):
            return float(t < 0)
        steps = math.floor(t) + 1 - self.loc
        return _tail(self._a, self.scale, steps) if steps > 0 else 1 - _tail(self._a, self.scale, 1 - steps)

    def at(self, t: float) -> float:
        if math.isinf(t) or t != math.floor(t):
            return 0.0
        return -math.expm1(-1 / self.scale) / (1 + self._a) * math.exp(-abs(int(t) - self.loc) / self.scale)

    def draw(self, rng: Generator, size: int) -> Integers:  # type: ignore[override]  # integers stay integers
        """`size` independent integers, shape (size,)."""
        drawn = np.empty(size, dtype=np.int64)
        missing = size
        while missing:
            # a geometric number of scale t divided by s, and a sign; reject a negative zero and draw again
            magnitude = _geometric(rng, missing, *self._ratio)
            negative = rng.integers(2, size=missing).astype(np.bool_)
            kept = ~(negative & (magnitude == 0))
            signed = np.where(negative, -magnitude, magnitude)[kept]
            drawn[size - missing : size - missing + len(signed)] = signed
            missing -= len(signed)
        return drawn + self.loc

    def clip(self, low: float, high: float) -> ClippedInteger:
        """Clipped to {low, …, high}: a finite law in closed form."""
        return ClippedInteger(self, 0, whole("low", low), whole("high", high), claim=self.claim)

    def __add__(self, shift: int) -> Self:
        return replace(self, loc=self.loc + shift)

    def __sub__(self, shift: int) -> Self:
        return replace(self, loc=self.loc - shift)


@dataclass(frozen=True)
class Snapping(Real):
    """Mironov's snapping mechanism: clamp_B(⌊clamp_B(value) ⊕ S ⊗ λ ⊗ LN(U*)⌉_Λ), in doubles with their roundings.

    U* is a double in (0, 1) drawn with the probability of the reals that round to it (exponent geometric, 52
    random bits), S a random sign, LN the correctly rounded logarithm, Λ the least power of two ≥ λ, and ⌊·⌉_Λ the
    nearest multiple of Λ with ties towards +∞. For values that one record moves by at most 1 this is
    (1/λ)(1 + 2^-49 B)-DP as a mechanism on doubles.

    `draw` follows the algorithm to the last bit. numpy does not guarantee the rounding of its logarithm (the
    vectorised one may be off by one to four units in the last place), so LN uses an extended-precision logarithm
    whenever its error cannot change the rounding. Otherwise, or if the platform has no extended precision, it uses 60
    decimal digits. `below`, `above` and `at` give the law in real arithmetic: the probability that reals with the same
    roundings to Λ would have; the law of the doubles differs by a relative error of the order of 2^-49·B/λ.

    Args:
        value: the true answer.
        scale: λ > 0.
        bound: B, with λ < B < 2^46·λ.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Mironov, On Significance of the Least Significant Bits for Differential Privacy (CCS 2012), section 5.2,
    Theorem 1.
    """

    value: float
    scale: float
    bound: float

    def __post_init__(self) -> None:
        number("value", self.value)
        positive("scale", self.scale)
        if not self.scale < positive("bound", self.bound) < 2.0**46 * self.scale:
            raise ParameterError(
                f"bound must lie between scale and 2^46·scale, not {self.bound!r} for a scale of {self.scale!r}."
            )

    @property
    def step(self) -> float:
        """Λ, the least power of two ≥ λ."""
        if is_enclosed(self.scale):
            unit = math.ldexp(1.0, math.frexp(near(self.scale))[1] - 2)
            return next(2.0**k * unit for k in range(5) if 2.0**k * unit >= self.scale)
        mantissa, exponent = math.frexp(self.scale)
        return math.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)

    @property
    def _centre(self) -> float:
        return min(max(self.value, -self.bound), self.bound)

    def below(self, t: float) -> float:
        if t <= -self.bound:
            return 0.0
        if t > self.bound:
            return 1.0
        return self._short_of(math.ceil(t / self.step))

    def above(self, t: float) -> float:
        if t >= self.bound:
            return 0.0
        return 1.0 if t < -self.bound else self._from(math.floor(t / self.step) + 1)

    def at(self, t: float) -> float:
        if t == -self.bound:
            return self._short_of(math.floor(t / self.step) + 1)
        if t == self.bound:
            return self._from(math.ceil(t / self.step))
        if abs(t) > self.bound or t % self.step != 0:
            return 0.0
        k = round(t / self.step)
        low, high = self._short_of(k), self._from(k + 1)
        if low > 0.5:  # the difference of the smaller tails is more accurate
            return self._from(k) - high
        return self._short_of(k + 1) - low if high > 0.5 else 1 - (low + high)

    def _short_of(self, k: int) -> float:
        """Pr[⌊Y⌉_Λ < kΛ]: [(k − 1/2)Λ, (k + 1/2)Λ) is rounded to kΛ."""
        z = ((k - 0.5) * self.step - self._centre) / self.scale
        return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)

    def _from(self, k: int) -> float:
        """Pr[⌊Y⌉_Λ ≥ kΛ]."""
        z = ((k - 0.5) * self.step - self._centre) / self.scale
        return 0.5 * math.exp(-z) if z > 0 else 1 - 0.5 * math.exp(z)

    def draw(self, rng: Generator, size: int) -> Floats:
        sign = 2.0 * rng.integers(2, size=size) - 1.0
        noise = sign * self.scale * correctly_rounded_log(uniform_doubles(rng, size))
        multiples = _nearest((self._centre + noise) / self.step)
        drawn: Floats = np.clip(multiples * self.step, -self.bound, self.bound)
        return drawn + 0.0  # turns −0.0 into 0.0


def uniform_doubles(rng: Generator, size: int) -> Floats:
    """Doubles in (0, 1), each with the probability of the reals that are rounded down to it; shape (size,).

    The exponent −k has probability 2^-k, using as many random bits as needed, and the mantissa is uniform.
    """
    exponent = np.ones(size, dtype=np.int64)
    open_ends = np.arange(size)
    while len(open_ends):
        bits = rng.integers(0, 1 << 64, size=len(open_ends), dtype=np.uint64)
        lowest = bits & (~bits + np.uint64(1))
        zeros = np.where(bits == 0, 64, np.frexp(lowest.astype(np.float64))[1] - 1)
        exponent[open_ends] += zeros
        open_ends = open_ends[bits == 0]
    mantissa = rng.integers(1 << 52, 1 << 53, size=size).astype(np.float64)
    doubles: Floats = np.ldexp(mantissa, -52 - exponent)
    return doubles


def correctly_rounded_log(u: Floats) -> Floats:
    """ln u rounded to the nearest double, for doubles u in (0, 1); shape as given.

    numpy's extended-precision logarithm is off by less than 4 of its own units in the last place. If the midpoint of
    two doubles lies within this error, the logarithm is computed in decimals, which are correctly rounded.
    """
    wide = np.log(u.astype(np.longdouble))
    error = 4 * np.finfo(np.longdouble).eps * np.abs(wide)
    low, high = (wide - error).astype(np.float64), (wide + error).astype(np.float64)
    rounded: Floats = wide.astype(np.float64)
    context = Context(prec=HARD_DIGITS)
    for i in np.flatnonzero(low != high).tolist():
        rounded[i] = float(Decimal(float(u[i])).ln(context))
    return rounded


def _nearest(y: Floats) -> Floats:
    """⌊y⌉ with ties towards +∞; adding 1/2 first would round 0.49999999999999994 up."""
    floor = np.floor(y)
    nearest: Floats = np.where(y - floor >= 0.5, floor + 1, floor)
    return nearest


def _tail(a: float, scale: float | Fraction, steps: int) -> float:
    """Pr[X ≥ loc + steps] = a^steps/(1 + a), steps ≥ 1."""
    return math.exp(-steps / scale) / (1 + a)


def _geometric(rng: Generator, size: int, t: int, s: int) -> Integers:
    """⌊G/s⌋ for G geometric, Pr[G = g] ∝ exp(−g/t): U + tV with U in {0, …, t − 1} and V from coins of exp(−1)."""
    remainder = np.empty(size, dtype=np.int64)
    missing = size
    while missing:
        u = rng.integers(t, size=missing)
        u = u[_exponential_coin(rng, u, t)]
        remainder[size - missing : size - missing + len(u)] = u
        missing -= len(u)
    whole_parts = np.zeros(size, dtype=np.int64)
    going = np.arange(size)
    while len(going):
        going = going[_exponential_coin(rng, np.ones(len(going), dtype=np.int64), 1)]
        whole_parts[going] += 1
    # a V above 500, which would overflow 64 bits for the largest t, has a probability of e^-500
    magnitude: Integers = (remainder + t * whole_parts) // s
    return magnitude


def _exponential_coin(rng: Generator, numerators: Integers, denominator: int) -> Bools:
    """Independent coins of probabilities exp(−numerators/denominator), numerators ≤ denominator; shape as given.

    Coins of γ/1, γ/2, … are tossed until one fails; the index of that coin is odd with probability exp(−γ).
    """
    odd = np.zeros(len(numerators), dtype=np.bool_)
    going, k = np.arange(len(numerators)), 1
    while len(going):
        odd[going] = k % 2 == 1
        going = going[rng.integers(denominator * k, size=len(going)) < numerators[going]]
        k += 1
    return odd
