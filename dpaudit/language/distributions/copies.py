"""Noisy counts of several values, rounded up and at least 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from dpaudit.errors import ParameterError
from dpaudit.language.checks import positive, whole
from dpaudit.language.distributions.base import PRODUCT_LIMIT, Finite, Values
from dpaudit.language.distributions.real import ClippedInteger, Laplace
from dpaudit.stats.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class NoisyCopies(Finite):
    """max(⌈n + Lap(scale)⌉, 1) for every count n, independently, as a tuple; each at most `cap`.

    A single object for thousands of counts, where a `Product` would have thousands of parts.

    Args:
        centres: the counts n, whole numbers, at least one.
        scale: > 0, of the noise.
        cap: ≥ 1; without it the counts are unbounded and have no finite law.

    Raises:
        ParameterError: outside these ranges.
    """

    centres: tuple[int, ...]
    scale: float
    cap: int | None = None

    def __post_init__(self) -> None:
        if not self.centres:
            raise ParameterError("NoisyCopies needs at least one count.")
        positive("scale", self.scale)
        if self.cap is not None:
            whole("cap", self.cap, least=1)

    @property
    def finite(self) -> bool:
        return self.cap is not None and self.cap ** min(len(self.centres), 64) <= PRODUCT_LIMIT

    @property
    def remedy(self) -> str:
        return "give it a cap, or fewer counts, so that it takes few values"

    @property
    def parts(self) -> tuple[ClippedInteger, ...]:
        """The law of every count; requires a cap."""
        if self.cap is None:
            raise ParameterError("Without a cap the counts have no finite law.")
        return tuple(Laplace(n, self.scale).ceil().clip(1, self.cap) for n in self.centres)

    @property
    def values(self) -> Values:
        assert self.cap is not None
        return tuple(product(range(1, self.cap + 1), repeat=len(self.centres)))

    @property
    def probs(self) -> FloatArray:
        joint = np.ones(1)
        for part in self.parts:
            joint = np.outer(joint, part.probs).ravel()
        return joint

    def draw(self, rng: Generator, size: int) -> IntArray:
        """Shape (size, number of counts)."""
        noisy = rng.laplace(0.0, self.scale, (size, len(self.centres)))
        noisy += np.array(self.centres, dtype=np.float64)
        np.ceil(noisy, out=noisy)
        np.clip(noisy, 1, self.cap, out=noisy)
        return noisy.astype(np.int64)

    def grouped(self, rng: Generator, size: int) -> list[tuple[Hashable, int]]:
        if self.finite:
            return super().grouped(rng, size)
        return list(Counter(map(tuple, self.draw(rng, size).tolist())).items())
