"""Toy mechanisms with known exact ε, for tests of code that audits mechanisms.

Each docstring states what is claimed and which ε is true for it; where both differ, a correct audit refutes the claim:

    from dpaudit.testing import BIT, RandomisedResponse

    assert my_audit(RandomisedResponse(1.0), *BIT).passes
    assert my_audit(RandomisedResponse(1.2, claimed=1.0), *BIT).fails

Comes in: parameters. Goes out: mechanisms in dpaudit's language, and functions of a dataset and a generator.
May import: `language`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import Categorical, Claim, IntArray, Laplace, Mechanism, checks, exp

__all__ = [
    "BIT", "LaplaceSum", "LeakyResponse", "RandomisedResponse", "RoundedLaplaceSum", "WithoutBulk",
    "randomised_response", "randomised_responses",
]  # fmt: skip

BIT = ((0,), (1,))
"""Two neighbouring datasets of one bit, on which each toy here needs all of its ε."""


@dataclass(frozen=True)
class RandomisedResponse(Mechanism):
    """Returns the bit of its dataset with probability e^ε / (1 + e^ε), and the other bit otherwise.

    Claims `claimed`, which is `epsilon` by default. The true ε is `epsilon`.

    Args:
        epsilon: above 0.
        claimed: the claimed ε; None for the true one.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Warner, Randomized response (1965), section 2.
    """

    epsilon: float = 1.0
    claimed: float | None = None

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> Claim:
        """`claimed`-DP under replace-one."""
        return Claim(self.epsilon if self.claimed is None else self.claimed)

    def run(self, dataset: Any) -> Categorical:
        """One draw of two values."""
        (bit,) = dataset
        return Categorical((bit, 1 - bit), (1 / (1 + exp(-self.epsilon)), 1 / (1 + exp(self.epsilon))))


@dataclass(frozen=True)
class LeakyResponse(Mechanism):
    """Returns the text "surely 0" or "surely 1", which names its bit, with probability δ; else randomised response.

    Claims (`epsilon`, `delta`). That is exact: at `delta` the true ε is `epsilon`, and at any smaller δ no ε suffices.
    """

    epsilon: float = 1.0
    delta: float = 0.1

    @property
    def claim(self) -> Claim:
        """(ε, δ)-DP under replace-one."""
        return Claim(self.epsilon, self.delta)

    def run(self, dataset: Any) -> Categorical:
        """One draw of three values."""
        (bit,) = dataset
        kept = (1 - self.delta) / (1 + exp(self.epsilon))
        return Categorical((f"surely {bit}", bit, 1 - bit), (self.delta, exp(self.epsilon) * kept, kept))


@dataclass(frozen=True)
class LaplaceSum(Mechanism):
    """The sum of its bits plus Laplace noise of scale 1/ε: a real number, which has a density.

    Claims `epsilon`. The true ε is `epsilon`, attained by every threshold event outside both sums.
    """

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        """ε-DP under replace-one."""
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Laplace:
        """One draw."""
        return Laplace(float(sum(dataset)), 1 / self.epsilon)


@dataclass(frozen=True)
class RoundedLaplaceSum(Mechanism):
    """The sum of its bits plus Laplace noise of scale 1/ε, rounded up and clipped to 0, …, `most`.

    Claims `epsilon`. The true ε is `epsilon`, attained by the output 0.
    """

    epsilon: float = 1.0
    most: int = 6

    @property
    def claim(self) -> Claim:
        """ε-DP under replace-one."""
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Any:
        """One draw of `most` + 1 values."""
        return Laplace(sum(dataset), 1 / self.epsilon).ceil().clip(0, self.most)


@dataclass(frozen=True)
class WithoutBulk(Mechanism):
    """Another mechanism without its `bulk`, so that samples come from its `run`. Claims what `inner` claims."""

    inner: Mechanism

    @property
    def claim(self) -> Claim | None:
        """The claim of `inner`."""
        return self.inner.claim

    def run(self, dataset: Any) -> Any:
        """The program of `inner`."""
        return self.inner.run(dataset)


def randomised_response(dataset: Any, rng: Generator) -> int:
    """Randomised response on one bit, as a function of one sample. The true ε is 1."""
    bit = int(dataset[0])
    return bit if rng.random() < np.e / (1 + np.e) else 1 - bit


def randomised_responses(dataset: Any, rng: Generator, size: int) -> IntArray:
    """Randomised response on one bit, vectorised: an array of `size` samples. The true ε is 1."""
    samples: IntArray = np.where(rng.random(size) < np.e / (1 + np.e), dataset[0], 1 - dataset[0])
    return samples
