"""A mechanism like A_dist whose exact ε is known; others are in `dpaudit.testing`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Categorical, Claim, Mechanism


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
