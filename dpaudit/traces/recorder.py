"""A generator that records its draws, and a tape that says which values they get.

Noise is drawn in standard units: a value is location + scale · z, and the tape holds the z. A tape can be recorded
(z from the bit generator), replayed (the z of another run), or pushed far out, which shows whether an output depends on
a draw at all. Draws that are no noise, such as a coin or a random order, are recorded as they fall.
"""

from __future__ import annotations

import linecache
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.random import BitGenerator, Generator, SeedSequence

from dpaudit.stats.arrays import FloatArray

Push: TypeAlias = Literal["none", "up", "down", "mixed"]
"""Where the draws of a run lie: where they fall, far above, far below, or far out on both sides."""
FAR = 40.0
"""Scales by which noise is pushed, at least."""
NEAR = 1e-3
"""Where noise that is never negative is pushed instead of below zero."""
MOST_DRAWS = 4_096
"""Draws of a run beyond which only their number is kept."""
LONGEST_SOURCE = 120
"""Most characters of a line of source that are shown."""

SYMMETRIC = frozenset({"laplace", "normal", "logistic", "cauchy", "student_t"})
"""Noise whose distribution is the same with the sign changed."""
NOISE = SYMMETRIC | {"exponential", "gumbel", "gamma", "geometric"}
"""What counts as noise: a location and a scale times a standard draw. Anything else is other randomness."""


@dataclass(frozen=True, order=True)
class Place:
    """A line of source.

    Args:
        file: below the working directory, or its name.
        line: its number, from 1.
        source: its text; "" where it cannot be read.
    """

    file: str
    line: int
    source: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of one call of a distribution.

    Args:
        place: the line that calls it.
        distribution: its name, with parameters that are neither location nor scale: "laplace", "geometric(0.63)".
        location, scale: one for each draw; NaN for what is no noise.
        standard: the draws in standard units.
        seeded: whether they come from a generator that the function seeds itself: the same in every run.
    """

    place: Place
    distribution: str
    location: FloatArray
    scale: FloatArray
    standard: FloatArray
    seeded: bool = False

    @property
    def family(self) -> str:
        """The distribution without its parameters."""
        return self.distribution.partition("(")[0]

    @property
    def is_noise(self) -> bool:
        """Whether the draws are noise, which has a location and a scale, and fresh in every run."""
        return self.family in NOISE and not self.seeded

    @property
    def is_other(self) -> bool:
        """Whether the draws are other fresh randomness: coins, samples, orders."""
        return self.family not in NOISE and not self.seeded

    @property
    def values(self) -> FloatArray:
        """The draws as the function got them."""
        if self.family not in NOISE:
            return self.standard
        with np.errstate(invalid="ignore"):
            return self.location + self.scale * self.standard

    def __str__(self) -> str:
        size = f" × {self.standard.size}" if self.standard.size != 1 else ""
        first = [f"{each[0]:.6g}" for each in (self.location, self.scale, self.values) if each.size]
        about = f" of location {first[0]}, scale {first[1]}: {first[2]}" if self.is_noise and len(first) == 3 else ""
        return f"{self.place}: {self.distribution}{size}{about}{', …' if about and size else ''}"


@dataclass(eq=False)
class Tape:
    """The draws of one run, and where their values come from.

    Args:
        seed: of the run.
        push: whether draws are pushed far out.
        frozen: draws to replay, as far as distribution and number agree.
        pushed: draws that are pushed, at most: a loop that waits for a value in the middle must end.
        far: scales by which they are pushed.
    """

    seed: SeedSequence
    push: Push = "none"
    frozen: Sequence[Draws] = ()
    pushed: int = 0
    far: float = FAR
    draws: list[Draws] = field(default_factory=list)
    seeded_at: list[Place] = field(default_factory=list)
    """Lines at which the function seeded a generator of its own."""
    count: int = 0
    own_randomness: bool = False
    """Whether it used randomness that no tape can freeze."""
    torch_seeded: bool = False
    """Whether it seeded torch, whose draws are then the same in every run."""

    def generator(self) -> RecordingGenerator:
        """The generator that the function gets."""
        own = RecordingGenerator(np.random.PCG64(self.seed))
        own.follow(self)
        return own

    def standard(self, distribution: str, size: int, fresh: Callable[[int], Any], positive: bool) -> FloatArray:
        """Noise in standard units: frozen, pushed or fresh."""
        drawn = np.asarray(fresh(size), dtype=np.float64).reshape(size)
        if self.push != "none" and self.count < self.pushed:
            spread = np.random.default_rng(self.seed.spawn(1)[0]).uniform(0.5, 1.5, size)
            whole = distribution.startswith("geometric")
            if self.push == "mixed":
                signs = np.where(np.random.default_rng(self.seed.spawn(1)[0]).random(size) < 0.5, -1.0, 1.0)
                drawn = self.far / 2 * spread * (1.0 if positive else signs)
            elif self.push == "up" or not positive:
                drawn = self.far * spread * (1.0 if self.push == "up" else -1.0)
            else:
                drawn = NEAR * spread
            return np.maximum(np.round(drawn), 1.0) if whole else drawn
        at = len(self.draws)
        if at < len(self.frozen) and self.frozen[at].distribution == distribution:
            kept = self.frozen[at].standard[:size]
            drawn[: len(kept)] = kept
        return drawn

    def add(self, draws: Draws) -> None:
        """Record the draws of a call."""
        self.count += draws.standard.size
        if self.count <= MOST_DRAWS:
            self.draws.append(draws)


@lru_cache(maxsize=4096)
def is_own_code(file: str) -> bool:
    """Whether a file of code is the user's: not installed, and neither Python's nor dpaudit's."""
    if file.startswith("<frozen") or file == "<string>":
        return False
    path = Path(file)
    if {"site-packages", "dist-packages"} & set(path.parts):
        return False
    libraries = (Path(sysconfig.get_path("stdlib")), Path(__file__).parents[1])
    return not any(map(path.is_relative_to, libraries))


@lru_cache(maxsize=4096)
def place_of(file: str, line: int) -> Place:
    """A line as results show it, without the path of any machine."""
    path = Path(file)
    try:
        shown = path.resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        shown = path.name
    source = " ".join(linecache.getline(file, line).split())
    return Place(shown, line, source if len(source) <= LONGEST_SOURCE else f"{source[: LONGEST_SOURCE - 1]}…")


def calling_place() -> Place:
    """The innermost line of the user's code that is being run."""
    frame = sys._getframe(1)
    outer = frame
    while frame is not None:
        if is_own_code(frame.f_code.co_filename):
            return place_of(frame.f_code.co_filename, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return place_of(outer.f_code.co_filename, outer.f_lineno)


def _shape(size: Any, *parameters: Any) -> tuple[int, ...] | None:
    """The shape of an array of draws; None for a single draw."""
    if size is None:
        shape = np.broadcast_shapes(*(np.shape(each) for each in parameters))
        return shape or None
    return tuple(np.atleast_1d(np.asarray(size, dtype=int)).tolist())


def _filled(out: Any, dtype: Any, value: Any) -> Any:
    """A result in the array that the caller gave for it, or of the type that was asked for."""
    if out is not None:
        out[...] = value
        return out
    if np.dtype(dtype) == np.float64:
        return value
    return np.asarray(value, dtype=dtype) if np.ndim(value) else np.dtype(dtype).type(value)


class RecordingGenerator(Generator):
    """A `numpy.random.Generator` that records every draw on a tape.

    It passes `isinstance(rng, numpy.random.Generator)`. Without a tape it is a plain generator.
    """

    _tape: Tape | None = None
    _seeded = False

    def __init__(self, bit_generator: BitGenerator) -> None:
        super().__init__(bit_generator)
        self._plain = Generator(bit_generator)

    def follow(self, tape: Tape, *, seeded: bool = False) -> None:
        """Record on this tape from now on.

        Args:
            tape: to record on.
            seeded: whether the function seeded the generator itself.
        """
        self._tape, self._seeded = tape, seeded

    def restart(self) -> None:
        """Draw the same in every run from now on."""
        self._plain, self._seeded = Generator(np.random.PCG64(0)), True

    def spawn(self, n_children: int) -> list[Generator]:
        """Children, whose draws are recorded too."""
        children: list[Generator] = []
        for bits in self.bit_generator.spawn(n_children):
            child = RecordingGenerator(bits)
            if self._tape is not None:
                child.follow(self._tape, seeded=self._seeded)
            children.append(child)
        return children

    def record(
        self, distribution: str, location: Any, scale: Any, size: Any, fresh: Callable[[int], Any], *,
        positive: bool = False, place: Place | None = None,
    ) -> Any:
        """Noise, location + scale · z, recorded: a number, or an array of the shape that numpy would give.

        Args:
            distribution: its name, with its other parameters.
            location, scale, size: as numpy's.
            fresh: makes so many standard draws.
            positive: whether they are never negative.
            place: the line that draws; the innermost one of the user's code without it.
        """
        shape = _shape(size, location, scale)
        number = int(np.prod(shape)) if shape is not None else 1
        b = np.broadcast_to(np.asarray(scale, dtype=np.float64), shape or ()).reshape(number)
        if (b < 0).any():
            raise ValueError("scale < 0")
        at = np.broadcast_to(np.asarray(location, dtype=np.float64), shape or ()).reshape(number)
        if self._tape is None or self._seeded:
            z = np.asarray(fresh(number), dtype=np.float64).reshape(number)
        else:
            z = self._tape.standard(distribution, number, fresh, positive)
        draws = Draws(place or calling_place(), distribution, at.copy(), b.copy(), z, self._seeded)
        if self._tape is not None:
            self._tape.add(draws)
        values = draws.values
        return values.reshape(shape) if shape is not None else float(values[0])

    def _other(self, distribution: str, value: Any) -> Any:
        """Record a draw that is no noise."""
        if self._tape is not None:
            numbers = np.asarray(value)
            if numbers.dtype.kind not in "biuf":
                numbers = np.full(numbers.shape, np.nan)
            flat = numbers.astype(np.float64).reshape(-1)
            missing = np.full(flat.shape, np.nan)
            self._tape.add(Draws(calling_place(), distribution, missing, missing, flat, self._seeded))
        return value

    # -- noise

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.record("laplace", loc, scale, size, lambda n: self._plain.laplace(size=n))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.record("normal", loc, scale, size, self._plain.standard_normal)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        size = out.shape if out is not None and size is None else size
        return _filled(out, dtype, self.record("normal", 0.0, 1.0, size, self._plain.standard_normal))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self.record("exponential", 0.0, scale, size, self._plain.standard_exponential, positive=True)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
    ) -> Any:
        size = out.shape if out is not None and size is None else size
        drawn = self.record("exponential", 0.0, 1.0, size, self._plain.standard_exponential, positive=True)
        return _filled(out, dtype, drawn)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.record("gumbel", loc, scale, size, lambda n: self._plain.gumbel(size=n))

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.record("logistic", loc, scale, size, lambda n: self._plain.logistic(size=n))

    def standard_cauchy(self, size: Any = None) -> Any:
        return self.record("cauchy", 0.0, 1.0, size, self._plain.standard_cauchy)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        if np.ndim(shape):
            return self._other("gamma of shapes", self._plain.gamma(shape, scale, size))
        name = f"gamma({float(shape):g})"
        return self.record(name, 0.0, scale, size, lambda n: self._plain.standard_gamma(shape, n), positive=True)

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return _filled(out, dtype, self.gamma(shape, 1.0, size))

    def standard_t(self, df: Any, size: Any = None) -> Any:
        if np.ndim(df):
            return self._other("student_t of degrees", self._plain.standard_t(df, size))
        return self.record(f"student_t({float(df):g})", 0.0, 1.0, size, lambda n: self._plain.standard_t(df, n))

    def geometric(self, p: Any, size: Any = None) -> Any:
        if np.ndim(p):
            return self._other("geometric of probabilities", self._plain.geometric(p, size))
        name = f"geometric({float(p)!r})"
        drawn = self.record(name, 0.0, 1.0, size, lambda n: self._plain.geometric(p, n), positive=True)
        return drawn.astype(np.int64) if isinstance(drawn, np.ndarray) else int(drawn)

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: float = 1e-8,
        *, method: Any = "svd",
    ) -> Any:
        mean, cov = np.asarray(mean, dtype=np.float64), np.asarray(cov, dtype=np.float64)
        self._plain.multivariate_normal(mean, cov, check_valid=check_valid, tol=tol, method=method)
        _, s, v = np.linalg.svd(cov)
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        z = self.record("normal", 0.0, 1.0, (*shape, len(mean)), self._plain.standard_normal)
        return mean + z @ (np.sqrt(s)[:, None] * v)

    # -- other randomness

    def shuffle(self, x: Any, axis: Any = 0) -> None:
        self._plain.shuffle(x, axis)
        self._other("shuffle", np.empty(0))

    def bytes(self, length: Any) -> Any:
        drawn = self._plain.bytes(length)
        self._other("bytes", np.empty(0))
        return drawn


def _recorded(name: str) -> Callable[..., Any]:
    plain = getattr(Generator, name)

    def method(self: RecordingGenerator, *args: Any, **kwargs: Any) -> Any:
        return self._other(name, plain(self._plain, *args, **kwargs))

    method.__name__ = name
    method.__doc__ = plain.__doc__
    return method


OTHERS = (
    "beta", "binomial", "chisquare", "choice", "dirichlet", "f", "hypergeometric", "integers", "lognormal", "logseries",
    "multinomial", "multivariate_hypergeometric", "negative_binomial", "noncentral_chisquare", "noncentral_f", "pareto",
    "permutation", "permuted", "poisson", "power", "random", "rayleigh", "triangular", "uniform", "vonmises", "wald",
    "weibull", "zipf",
)
"""Distributions that are recorded as they are: no noise with a location and a scale."""
for _name in OTHERS:
    setattr(RecordingGenerator, _name, _recorded(_name))
