"""Distributions made of others: images, continuations, independent products."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.errors import NotEnumerableError, ParameterError
from dpaudit.language.distributions.base import Distribution, Finite, Values
from dpaudit.language.outputs import canonical

PRODUCT_LIMIT = 1_000_000
"""A product with more joint values than this is not enumerated."""


@dataclass(frozen=True)
class Mapped(Finite):
    """The image of `base` under `function`; finite when `base` is."""

    base: Distribution
    function: Callable[[Any], Hashable] = field(repr=False)  # its address would differ from run to run

    @property
    def finite(self) -> bool:
        return self.base.finite

    @property
    def remedy(self) -> str:
        return self.base.remedy

    @cached_property
    def _images(self) -> tuple[dict[Hashable, int], list[int]]:
        """The place of every image, and that of the image of every value."""
        if not isinstance(self.base, Finite):
            raise NotEnumerableError(f"{self.base!r} cannot be enumerated: {self.base.remedy}.")
        places: dict[Hashable, int] = {}
        of = [places.setdefault(canonical(self.function(value)), len(places)) for value in plain(self.base.values)]
        return places, of

    @property
    def values(self) -> Values:
        return tuple(self._images[0])

    @cached_property
    def _probs(self) -> NDArray[np.float64]:
        places, of = self._images
        assert isinstance(self.base, Finite)
        probs = [0.0] * len(places)
        for place, p in zip(of, self.base.probs.tolist(), strict=True):
            probs[place] += p
        return np.array(probs)

    @property
    def probs(self) -> NDArray[np.float64]:
        return self._probs

    def draw(self, rng: Generator, size: int) -> Any:
        if self.finite:
            return super().draw(rng, size)
        return [canonical(self.function(value)) for value in plain(self.base.draw(rng, size))]


@dataclass(frozen=True)
class Then(Distribution):
    """A value of `base`, then a draw from `continuation(value)`."""

    base: Distribution
    continuation: Callable[[Any], Any] = field(repr=False)

    @property
    def remedy(self) -> str:
        return self.base.remedy

    def map(self, function: Callable[[Any], Hashable]) -> Distribution:
        return Then(self, function, claim=self.claim)

    def draw(self, rng: Generator, size: int) -> Any:
        raise TypeError("A Then is unfolded by the interpreters; it has no draw of its own.")


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
    def probs(self) -> NDArray[np.float64]:
        joint = np.ones(1)
        for part in self._finite_parts:
            joint = np.outer(joint, part.probs).ravel()
        return joint

    @property
    def _finite_parts(self) -> list[Finite]:
        return [part for part in self.parts if isinstance(part, Finite)]

    def draw(self, rng: Generator, size: int) -> Any:
        columns = [part.draw(rng, size) for part in self.parts]
        if all(isinstance(column, np.ndarray) and column.dtype.kind == "f" for column in columns):
            return np.stack(columns, axis=1)
        return list(zip(*(plain(column) for column in columns), strict=True))


def independent(part: Distribution, copies: int) -> Product:
    """`copies` independent draws of `part`."""
    return Product((part,) * copies)


def plain(values: Any) -> Any:
    """Plain Python values, whatever holds them."""
    return values.tolist() if isinstance(values, np.ndarray) else values
