"""Independent draws of the same distribution, in order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator

from dpaudit.language.checks import whole
from dpaudit.language.distributions.base import PRODUCT_LIMIT, Distribution, Finite, Values, plain
from dpaudit.stats.arrays import FloatArray


@dataclass(frozen=True)
class Repeated(Finite):
    """`copies` independent draws of `part`, as a tuple.

    A single object for thousands of draws, where a `Product` would have thousands of parts.

    Args:
        part: a distribution.
        copies: ≥ 1.

    Raises:
        ParameterError: outside this range.
    """

    part: Distribution
    copies: int

    def __post_init__(self) -> None:
        whole("copies", self.copies, least=1)

    @property
    def finite(self) -> bool:
        if not (isinstance(self.part, Finite) and self.part.finite):
            return False
        each = len(self.part.values)
        # compare bits first: avoid computing a power of thousands of digits
        return each == 1 or (self.copies <= PRODUCT_LIMIT.bit_length() and each**self.copies <= PRODUCT_LIMIT)

    @property
    def remedy(self) -> str:
        return "draw fewer copies, of fewer values" if self.part.finite else self.part.remedy

    @property
    def parts(self) -> tuple[Distribution, ...]:
        """The parts, as in a `Product`."""
        return (self.part,) * self.copies

    @property
    def values(self) -> Values:
        assert isinstance(self.part, Finite)
        return tuple(product(plain(self.part.values), repeat=self.copies))

    @property
    def probs(self) -> FloatArray:
        assert isinstance(self.part, Finite)
        joint, each = np.ones(1), self.part.probs
        for _ in range(self.copies):
            joint = np.outer(joint, each).ravel()
        return joint

    def draw(self, rng: Generator, size: int) -> Values:
        if self.finite:
            return super().draw(rng, size)
        drawn, copies = list(plain(self.part.draw(rng, size * self.copies))), self.copies
        return [tuple(drawn[i : i + copies]) for i in range(0, len(drawn), copies)]
