"""Noise on the real line, whose comparisons with a number are closed-form Bernoullis."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from dpaudit.errors import ParameterError
from dpaudit.language.checks import number, positive, whole
from dpaudit.language.distributions.base import Bernoulli, Distribution, Finite, Tail, Values
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosed import is_enclosed, near


@dataclass(frozen=True)
class Real(Distribution):
    """A distribution on the real line with a known distribution function."""

    __array_ufunc__: ClassVar[None] = None
    """Numbers and arrays of numpy leave comparisons with it to it (numbers do so anyway since numpy 2)."""
    noise_kind: ClassVar[str | None] = None
    """The kind of noise, in `dpaudit.proofs`, if its first two fields are its location and its scale."""

    @abstractmethod
    def draw(self, rng: Generator, size: int) -> FloatArray:
        """`size` independent values, shape (size,)."""

    @abstractmethod
    def below(self, t: float) -> float:
        """Pr[X < t], accurate in the lower tail."""

    @abstractmethod
    def above(self, t: float) -> float:
        """Pr[X > t], accurate in the upper tail."""

    def at(self, t: float) -> float:
        """Pr[X = t]: 0 for a continuous distribution."""
        return 0.0

    def _event(self, t: float, *, low: bool, closed: bool) -> Bernoulli:
        t = number("the number that noise is compared with", t)
        # doubles are enough: if the numbers are enclosed, the probability is computed from the event
        rounded, to = rounded_noise(self), near(t)
        inside, outside, at = rounded.below(to), rounded.above(to), rounded.at(to)
        if not low:
            inside, outside = outside, inside
        return Bernoulli(
            min(1.0, inside + at * closed), min(1.0, outside + at * (not closed)),
            event=Tail(self, t, low, closed), claim=self.claim,
        )

    def __lt__(self, t: float) -> Bernoulli:
        return self._event(t, low=True, closed=False)

    def __le__(self, t: float) -> Bernoulli:
        return self._event(t, low=True, closed=True)

    def __gt__(self, t: float) -> Bernoulli:
        return self._event(t, low=False, closed=False)

    def __ge__(self, t: float) -> Bernoulli:
        return self._event(t, low=False, closed=True)

    def ceil(self) -> Integer:
        """⌈X⌉, on the integers."""
        return Integer(self, 1, claim=self.claim)

    def floor(self) -> Integer:
        """⌊X⌋, on the integers."""
        return Integer(self, 0, claim=self.claim)

    def clip(self, low: float, high: float) -> Distribution:
        """X clipped to [low, high]: point masses at the ends."""
        return Clipped(self, number("low", low), number("high", high), claim=self.claim)


@dataclass(frozen=True)
class Laplace(Real):
    """Lap(scale) around `loc`: density exp(−|x − loc| / scale) / (2 · scale).  Source: thesis Definition 3.23."""

    noise_kind: ClassVar[str | None] = "laplace"
    loc: float
    scale: float

    def __post_init__(self) -> None:
        number("loc", self.loc)
        positive("scale", self.scale)

    def below(self, t: float) -> float:
        z = (t - self.loc) / self.scale
        return 0.5 * math.exp(z) if z < 0 else 1 - 0.5 * math.exp(-z)

    def above(self, t: float) -> float:
        z = (t - self.loc) / self.scale
        return 0.5 * math.exp(-z) if z > 0 else 1 - 0.5 * math.exp(z)

    def draw(self, rng: Generator, size: int) -> FloatArray:
        return rng.laplace(self.loc, self.scale, size)

    def __add__(self, shift: float) -> Self:
        return replace(self, loc=self.loc + shift)

    def __sub__(self, shift: float) -> Self:
        return replace(self, loc=self.loc - shift)


@dataclass(frozen=True)
class Gaussian(Real):
    """N(mean, sigma²)."""

    noise_kind: ClassVar[str | None] = "normal"
    mean: float
    sigma: float

    def __post_init__(self) -> None:
        number("mean", self.mean)
        positive("sigma", self.sigma)

    def below(self, t: float) -> float:
        from scipy.special import ndtr  # it takes longer than the rest of the language, and few programs need it

        return float(ndtr((t - self.mean) / self.sigma))

    def above(self, t: float) -> float:
        from scipy.special import ndtr  # as above

        return float(ndtr((self.mean - t) / self.sigma))

    def draw(self, rng: Generator, size: int) -> FloatArray:
        return rng.normal(self.mean, self.sigma, size)

    def __add__(self, shift: float) -> Self:
        return replace(self, mean=self.mean + shift)

    def __sub__(self, shift: float) -> Self:
        return replace(self, mean=self.mean - shift)


@dataclass(frozen=True)
class Clipped(Real):
    """`base` clipped to [low, high].

    Raises:
        ParameterError: low > high.
    """

    base: Real
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ParameterError(f"clip needs low ≤ high, not {self.low!r} and {self.high!r}.")

    def below(self, t: float) -> float:
        return 0.0 if t <= self.low else 1.0 if t > self.high else self.base.below(t)

    def above(self, t: float) -> float:
        return 0.0 if t >= self.high else 1.0 if t < self.low else self.base.above(t)

    def at(self, t: float) -> float:
        if self.low == self.high == t:
            return 1.0
        if t == self.low:
            return self.base.below(t) + self.base.at(t)
        if t == self.high:
            return self.base.above(t) + self.base.at(t)
        return self.base.at(t) if self.low < t < self.high else 0.0

    def draw(self, rng: Generator, size: int) -> FloatArray:
        drawn: FloatArray = np.clip(self.base.draw(rng, size), self.low, self.high)
        return drawn


@dataclass(frozen=True)
class Integer(Distribution):
    """`base` rounded up (`up` = 1) or down (0) to an integer; `clip` makes it finite."""

    base: Real
    up: int

    def draw(self, rng: Generator, size: int) -> IntArray:
        noise = self.base.draw(rng, size)
        rounded: FloatArray = np.ceil(noise) if self.up else np.floor(noise)
        if np.abs(rounded).max(initial=0) >= 2.0**63:
            return np.array([int(value) for value in rounded.tolist()], dtype=object)
        return rounded.astype(np.int64)

    @property
    def remedy(self) -> str:
        return "clip it to the range that matters: .clip(low, high)"

    def clip(self, low: int, high: int) -> ClippedInteger:
        """Clipped to {low, …, high}."""
        return ClippedInteger(self.base, self.up, low, high, claim=self.claim)


@dataclass(frozen=True)
class ClippedInteger(Finite):
    """⌈base⌉ or ⌊base⌋ clipped to {low, …, high}, in closed form.

    Raises:
        ParameterError: low > high, or not whole numbers.
    """

    base: Real
    up: int
    low: int
    high: int

    def __post_init__(self) -> None:
        whole("low", self.low)
        whole("high", self.high)
        if self.low > self.high:
            raise ParameterError(f"clip needs low ≤ high, not {self.low!r} and {self.high!r}.")

    @property
    def values(self) -> Values:
        return np.arange(self.low, self.high + 1)

    @property
    def probs(self) -> FloatArray:
        return self._probs

    @cached_property
    def _probs(self) -> FloatArray:
        # value v means base in (v − 1, v] (ceil) or [v, v + 1) (floor): cut the line at low + up, …,
        # high − 1 + up … and take differences of the smaller tail, so that neither tail loses digits
        cuts = [c + (0 if self.up else 1) for c in range(self.low, self.high)]
        if not cuts:
            return np.ones(1)
        base = rounded_noise(self.base)
        low_tail = np.array([base.below(c) + (base.at(c) if self.up else 0.0) for c in cuts])
        high_tail = np.array([base.above(c) + (0.0 if self.up else base.at(c)) for c in cuts])
        inner = np.where(low_tail[1:] < 0.5, np.diff(low_tail), -np.diff(high_tail))
        return np.concatenate([low_tail[:1], np.maximum(inner, 0), high_tail[-1:]])


def rounded_noise(noise: Real) -> Real:
    """The noise with its enclosed parameters replaced by nearby doubles."""
    if not is_dataclass(noise):
        return noise
    held = {one.name: getattr(noise, one.name) for one in fields(noise)}
    changed: dict[str, Any] = {name: value.near for name, value in held.items() if is_enclosed(value)}
    inner = {name: rounded_noise(value) for name, value in held.items() if isinstance(value, Real)}
    changed |= {name: value for name, value in inner.items() if value is not held[name]}
    return replace(noise, **changed) if changed else noise
