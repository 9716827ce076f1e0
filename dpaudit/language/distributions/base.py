"""The base class of distributions, finite distributions, and combinations: images, continuations, products.

A distribution is a value: a frozen dataclass of its parameters. It never holds a random number generator; the
interpreters pass one to `draw`, or enumerate `values` and `probs`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.errors import MechanismError, NotEnumerableError, ParameterError
from dpaudit.language.checks import number, probability
from dpaudit.language.claim import Claim
from dpaudit.language.numbers import WRITTEN_BITS, written
from dpaudit.outputs.canonical import Output, canonical
from dpaudit.outputs.ranges import Spread, below, wholes
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosed import finite, is_enclosed, near, nears, to_float, vector

ENUMERATED_VALUES = 1 << 24
"""A uniform choice among more values than this is sampled, never enumerated."""

Values: TypeAlias = Sequence[Hashable] | NDArray[np.generic]
"""Values of a distribution; those of a finite one are distinct, and an array if they are integers."""


@dataclass(frozen=True)
class Distribution(ABC):
    """A use of randomness.  `yield` it to draw from it; `return` it as the last draw."""

    claim: Claim | None = field(default=None, kw_only=True, compare=False, repr=False)
    """The privacy loss of the draw, for the ledger: set by `spending`."""

    @abstractmethod
    def draw(self, rng: Generator, size: int) -> Values:
        """`size` independent values: an array whose first axis has that length, or a list."""

    def grouped(self, rng: Generator, size: int) -> list[tuple[Hashable, int]]:
        """`size` independent values as (value, count): runs that drew the same value continue together."""
        drawn = self.draw(rng, size)
        if isinstance(drawn, np.ndarray) and drawn.ndim == 1:
            values, counts = np.unique(drawn, return_counts=True)
            return list(zip(values.tolist(), counts.tolist(), strict=True))
        counted: dict[Hashable, int] = {}
        for value in drawn.tolist() if isinstance(drawn, np.ndarray) else drawn:
            key = canonical(value) if isinstance(value, list) else value
            counted[key] = counted.get(key, 0) + 1
        return list(counted.items())

    @property
    def finite(self) -> bool:
        """Whether the exact law can enumerate it."""
        return False

    @property
    def remedy(self) -> str:
        """What the user can do when the exact law is needed and this distribution cannot be enumerated."""
        return "compare it with a number, or round and clip it, so that it takes finitely many values"

    @property
    def spread(self) -> Spread | None:
        """Its exact law as integer ranges, for whole numbers that are too many to enumerate."""
        return None

    def map(self, function: Callable[[Output], Hashable]) -> Distribution:
        """The distribution of `function(value)`; equal images are merged."""
        return Mapped(self, function, claim=self.claim)

    def then(self, continuation: Callable[[Output], Output]) -> Distribution:
        """Draw, then draw from `continuation(value)`: a distribution, an applied mechanism or an output.

        Same as `value = yield self; return continuation(value)`, but without replaying the path: use it if there is
        heavy deterministic work before the second-to-last draw.
        """
        return Then(self, continuation)

    def spending(self, claim: Claim) -> Self:
        """The same draw, annotated with its privacy loss for the ledger."""
        spent = copy(self)
        # a field that no check depends on
        object.__setattr__(spent, "claim", claim)
        return spent

    def __bool__(self) -> bool:
        """Always raises: `if noise < t` without a `yield` would silently take one branch.

        Raises:
            MechanismError: always.
        """
        raise MechanismError(f"{self!r} was used as a truth value before it was drawn; write (yield …) around it.")


class Finite(Distribution):
    """A distribution with finitely many values, which the exact law enumerates."""

    @property
    def finite(self) -> bool:
        return True

    @property
    @abstractmethod
    def values(self) -> Values:
        """Distinct values; order is part of the distribution (seeds depend on it)."""

    @property
    @abstractmethod
    def probs(self) -> FloatArray:
        """Their probabilities, shape (len(values),), summing to 1."""

    def counts(self, rng: Generator, size: int) -> tuple[IntArray, IntArray]:
        """The counts of the values in `size` draws: indices into `values` (ascending) and counts ≥ 1.

        One multinomial draw, or `size` inverse-cdf draws if the support is much larger than `size`.
        """
        probs = self.probs
        if len(probs) <= 4 * size:
            possible, weights = self._positive
            every = rng.multinomial(size, weights)
            drawn = every.nonzero()[0]
            return possible[drawn], every[drawn]
        cumulative = self._cumulative
        at = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        drawn = np.minimum(at, len(probs) - 1)
        # one draw is the usual case of a mechanism that is applied within another
        return (drawn, np.ones(1, dtype=np.int64)) if size == 1 else np.unique(drawn, return_counts=True)

    def grouped(self, rng: Generator, size: int) -> list[tuple[Hashable, int]]:
        if not self.finite:
            return super().grouped(rng, size)
        index, count = self.counts(rng, size)
        values = self.values
        drawn = values[index].tolist() if isinstance(values, np.ndarray) else [values[i] for i in index.tolist()]
        return list(zip(drawn, count.tolist(), strict=True))

    @cached_property
    def _positive(self) -> tuple[IntArray, FloatArray]:
        """The places of the values of positive probability, and these probabilities."""
        # of these alone, as numpy's multinomial gives its last entry the rounding error
        probs = self.probs
        possible = np.flatnonzero(probs)
        return possible, probs[possible] / probs.sum()

    @cached_property
    def _cumulative(self) -> FloatArray:
        return np.cumsum(self.probs)

    def draw(self, rng: Generator, size: int) -> Values:
        index, count = self.counts(rng, size)
        order = rng.permutation(np.repeat(index, count))
        values = self.values
        return values[order] if isinstance(values, np.ndarray) else [values[i] for i in order]


@dataclass(frozen=True)
class Bernoulli(Finite):
    """True with probability `p`.

    Args:
        p: in [0, 1].
        complement: 1 − p, if it is known more exactly than by subtraction (tails of noise).
        event: the comparison of noise with a number whose rounded probability `p` is; with it the probability can be
            computed to any precision.
    """

    p: float
    complement: float | None = None
    event: Tail | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.p, np.floating):
            # in half precision 1 − p is a different number
            object.__setattr__(self, "p", float(self.p))
        probability("p of a Bernoulli", self.p)
        if self.complement is not None:
            probability("complement of a Bernoulli", self.complement)
        if self.complement is not None and abs(near(self.p) + near(self.complement) - 1) > 1e-9:
            raise ParameterError(f"p and complement of a Bernoulli must sum to 1, not {self.p + self.complement!r}.")

    @property
    def values(self) -> Values:
        return (True, False)

    @property
    def probs(self) -> FloatArray:
        p = near(self.p)
        return np.array([p, 1 - p if self.complement is None else near(self.complement)], dtype=np.float64)

    def __invert__(self) -> Bernoulli:
        """The complementary event."""
        if self.event is None and is_enclosed(self.p):
            return Bernoulli(to_float(1 - self.p), to_float(self.p), claim=self.claim)
        event = None if self.event is None else self.event.opposite
        return Bernoulli(*self.probs[::-1].tolist(), event=event, claim=self.claim)


@dataclass(frozen=True)
class Tail:
    """The event that `noise` is below the number t (`low`) or above it, or equals it (`closed`)."""

    noise: Distribution
    t: float
    low: bool
    closed: bool

    @property
    def opposite(self) -> Tail:
        """The complementary event."""
        return Tail(self.noise, self.t, not self.low, not self.closed)


@dataclass(frozen=True)
class Categorical(Finite):
    """`outcomes[i]` with probability `probabilities[i]`, scaled to sum to exactly 1.

    Raises:
        ParameterError: lengths differ, a probability is negative, or they don't sum to 1 (within 1e-9).
    """

    outcomes: Values
    probabilities: Sequence[float] | FloatArray

    def __post_init__(self) -> None:
        if len(self.outcomes) != len(self.probabilities) or not len(self.outcomes):
            raise ParameterError(
                f"A Categorical needs as many probabilities as values and at least one; "
                f"it got {len(self.outcomes)} values and {len(self.probabilities)} probabilities."
            )
        probs = nears(vector(self.probabilities))
        if not (np.all(probs >= 0) and abs(probs.sum() - 1) < 1e-9):
            raise ParameterError(f"Probabilities must be ≥ 0 and sum to 1; these sum to {probs.sum()!r}.")

    @property
    def values(self) -> Values:
        return self.outcomes

    @cached_property
    def _probs(self) -> FloatArray:
        probs = nears(vector(self.probabilities))
        scaled: FloatArray = probs / probs.sum()
        return scaled

    @property
    def probs(self) -> FloatArray:
        return self._probs


@dataclass(frozen=True, repr=False)
class Uniform(Finite):
    """Each of `outcomes` (at least one; may be a `range` of any length) with the same probability."""

    outcomes: Sequence[Hashable]

    def __post_init__(self) -> None:
        if not self._size:
            raise ParameterError("A Uniform needs at least one value.")

    def __repr__(self) -> str:
        if isinstance(self.outcomes, range) and self._size.bit_length() > WRITTEN_BITS:
            return f"Uniform over {written(self._size)} values"
        return f"Uniform(outcomes={self.outcomes!r})"

    @cached_property
    def _size(self) -> int:
        # `len` cannot return more than 2^63 − 1
        if isinstance(self.outcomes, range):
            return max(0, -(-(self.outcomes.stop - self.outcomes.start) // self.outcomes.step))
        return len(self.outcomes)

    @property
    def finite(self) -> bool:
        return self._size <= ENUMERATED_VALUES

    @property
    def remedy(self) -> str:
        return f"choose among at most {ENUMERATED_VALUES:,} values"

    @property
    def spread(self) -> Spread | None:
        if self.finite or not (isinstance(self.outcomes, range) and self.outcomes.step == 1):
            return None
        return Spread(wholes([self.outcomes.start]), wholes([self.outcomes.stop]), np.ones(1))

    def draw(self, rng: Generator, size: int) -> Values:
        if self.finite:
            return super().draw(rng, size)
        places = rng.integers(self._size, size=size).tolist() if self._size < 1 << 63 else below(rng, self._size, size)
        return [self.outcomes[i] for i in places]

    @property
    def values(self) -> Values:
        return _values(self.outcomes)

    @property
    def probs(self) -> FloatArray:
        return np.full(len(self.outcomes), 1 / len(self.outcomes))


@dataclass(frozen=True, repr=False)
class Softmax(Finite):
    """The draw of the exponential mechanism: label i with probability ∝ exp(coefficient · scores[i]).

    Args:
        scores: shape (k,), k ≥ 1, finite.
        coefficient: ε/2 for a 1-sensitive score.
        labels: k distinct outputs; 0, …, k − 1 by default.

    Raises:
        ParameterError: no scores, scores that are not finite, or the number of labels is not k.
    """

    scores: FloatArray
    coefficient: float
    labels: Values | None = None

    def __post_init__(self) -> None:
        scores = vector(self.scores)
        if scores.ndim != 1 or not scores.size or not finite(scores):
            raise ParameterError("A Softmax needs a vector of at least one score, all of them finite.")
        if self.labels is not None and len(self.labels) != scores.size:
            raise ParameterError(f"A Softmax got {scores.size} scores and {len(self.labels)} labels.")
        number("coefficient", self.coefficient)
        object.__setattr__(self, "scores", scores)

    def __repr__(self) -> str:
        return f"Softmax over {len(self.scores):,} outcomes with coefficient {near(self.coefficient):.6g}"

    @property
    def values(self) -> Values:
        return np.arange(len(self.scores)) if self.labels is None else _values(self.labels)

    @cached_property
    def _probs(self) -> FloatArray:
        # subtract first: the product of the coefficient and a large score would lose digits
        with np.errstate(over="ignore"):  # −∞ is the right exponent for a score this far below the best
            scores = nears(self.scores)
            exponents = scores - (scores.max() if self.coefficient > 0 else scores.min())
            exponents *= near(self.coefficient)
        weights: FloatArray = np.exp(exponents, out=exponents)
        weights /= weights.sum()
        return weights

    @property
    def probs(self) -> FloatArray:
        return self._probs


def _values(values: Values) -> Values:
    """Integer ranges as arrays, so that mixing laws of a million outcomes is vectorised."""
    if isinstance(values, range) and max(abs(values[0]), abs(values[-1])) < 1 << 62:
        return np.arange(values.start, values.stop, values.step)
    return values


PRODUCT_LIMIT = 1_000_000
"""A product with more joint values than this is not enumerated."""


@dataclass(frozen=True)
class Mapped(Finite):
    """The image of `base` under `function`; finite when `base` is."""

    base: Distribution
    function: Callable[[Output], Hashable] = field(repr=False)  # its address would differ from run to run

    @property
    def finite(self) -> bool:
        return self.base.finite

    @property
    def remedy(self) -> str:
        return self.base.remedy

    @cached_property
    def _images(self) -> tuple[dict[Hashable, int], list[int]]:
        """The index of every distinct image, and for every value the index of its image."""
        if not isinstance(self.base, Finite):
            raise NotEnumerableError(f"{self.base!r} cannot be enumerated: {self.base.remedy}.")
        places: dict[Hashable, int] = {}
        of = [places.setdefault(canonical(self.function(value)), len(places)) for value in plain(self.base.values)]
        return places, of

    @property
    def values(self) -> Values:
        return tuple(self._images[0])

    @cached_property
    def _probs(self) -> FloatArray:
        places, of = self._images
        assert isinstance(self.base, Finite)
        probs = [0.0] * len(places)
        for place, p in zip(of, self.base.probs.tolist(), strict=True):
            probs[place] += p
        return np.array(probs)

    @property
    def probs(self) -> FloatArray:
        return self._probs

    def draw(self, rng: Generator, size: int) -> Values:
        if self.finite:
            return super().draw(rng, size)
        return [canonical(self.function(value)) for value in plain(self.base.draw(rng, size))]


@dataclass(frozen=True)
class Then(Distribution):
    """A value of `base`, then a draw from `continuation(value)`."""

    base: Distribution
    continuation: Callable[[Output], Output] = field(repr=False)

    @property
    def remedy(self) -> str:
        return self.base.remedy

    def map(self, function: Callable[[Output], Hashable]) -> Distribution:
        return Then(self, function, claim=self.claim)

    def draw(self, rng: Generator, size: int) -> Values:
        raise TypeError("The interpreters unfold a Then; it cannot be drawn directly.")


@dataclass(frozen=True)
class Product(Finite):
    """Independent parts, drawn together as a tuple (a row of an array when all parts are real).

    Raises:
        ParameterError: no parts.
    """

    parts: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ParameterError("A Product needs at least one part.")
        if any(isinstance(part, Then) for part in self.parts):
            raise ParameterError("A draw with a continuation cannot be part of a Product; yield it on its own.")

    @property
    def finite(self) -> bool:
        return all(part.finite for part in self.parts) and self._size <= PRODUCT_LIMIT

    @property
    def _size(self) -> int:
        size = 1
        for part in self.parts:
            if isinstance(part, Finite):
                size *= len(part.values)
        return size

    @property
    def remedy(self) -> str:
        if all(part.finite for part in self.parts):
            return f"it has {self._size} joint values; use fewer parts"
        return next(part for part in self.parts if not part.finite).remedy

    @property
    def values(self) -> Values:
        return tuple(product(*(plain(part.values) for part in self._finite_parts)))

    @property
    def probs(self) -> FloatArray:
        joint = np.ones(1)
        for part in self._finite_parts:
            joint = np.outer(joint, part.probs).ravel()
        return joint

    @property
    def _finite_parts(self) -> list[Finite]:
        return [part for part in self.parts if isinstance(part, Finite)]

    def draw(self, rng: Generator, size: int) -> Values:
        columns = [part.draw(rng, size) for part in self.parts]
        real = [column for column in columns if isinstance(column, np.ndarray) and column.dtype.kind == "f"]
        if len(real) == len(columns):
            return np.stack(real, axis=1)
        return list(zip(*(plain(column) for column in columns), strict=True))


def independent(part: Distribution, copies: int) -> Product:
    """`copies` independent draws of `part`."""
    return Product((part,) * copies)


def plain(values: Sequence[Any] | NDArray[np.generic]) -> Sequence[Any]:
    """Plain Python values, from an array or a sequence."""
    return values.tolist() if isinstance(values, np.ndarray) else values
