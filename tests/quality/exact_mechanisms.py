"""Small mechanisms whose exact ε is known, in dpaudit's language."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Categorical, Claim, Laplace, Mechanism

BIT = ((0,), (1,))
"""The pair on which each of them needs all of its ε."""


@dataclass(frozen=True)
class RandomisedResponse(Mechanism):
    """Exactly ε-DP."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Categorical:
        (bit,) = dataset
        return Categorical((bit, 1 - bit), (1 / (1 + math.exp(-self.epsilon)), 1 / (1 + math.exp(self.epsilon))))


@dataclass(frozen=True)
class Gap(Mechanism):
    """A_dist where ⊥ has probability one half, and half that times e^−ε on the neighbour."""

    epsilon: float = 2.0

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Categorical:
        p = 0.5 if dataset[0] == 0 else 0.5 * math.exp(-self.epsilon)
        return Categorical(("⊥", "solution"), (p, 1 - p))


@dataclass(frozen=True)
class LaplaceNumber(Mechanism):
    """A count with Laplace noise, as a real number: exactly ε-DP, attained by every half-line outside both counts."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Laplace:
        return Laplace(float(sum(dataset)), 1 / self.epsilon)
