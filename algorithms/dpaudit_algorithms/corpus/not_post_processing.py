"""Noisy counts that are post-processed with access to the data, and one without."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.language import (
    ANSWERS_L1,
    DWORK_ROTH,
    Card,
    Categorical,
    Claim,
    Distribution,
    Finite,
    KnownBug,
    Laplace,
    Mechanism,
    ParameterError,
    checks,
)


@dataclass(frozen=True)
class _NoisyCount(Mechanism):
    """A count with Laplace noise of scale 1/ε, mapped into a range."""

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε, as if the steps after the noise did not read the data."""
        return Claim(self.epsilon, 0.0, ANSWERS_L1)


@dataclass(frozen=True)
class ClampedToTruth(_NoisyCount):
    """A noisy count clamped to [0, the true count], as if no answer may exceed the true count.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Dwork and Roth 2014, Theorem 3.6, invalidated by a step that reads the data again.
    """

    def run(self, answers: Any) -> Distribution:
        (count,) = answers
        checks.at_least("the count", count, 0)
        return Laplace(count, 1 / self.epsilon).clip(0, count)


@dataclass(frozen=True)
class RoundedToData(_NoisyCount):
    """A noisy answer to the first of several counts, rounded to the nearest count that occurs in the data.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Dwork and Roth 2014, Theorem 3.6, invalidated by a step that reads the data again.
    """

    def run(self, answers: Any) -> Finite:
        present = sorted(set(answers))
        noisy = Laplace(answers[0], 1 / self.epsilon)
        middles = [(a + b) / 2 for a, b in pairwise(present)]
        # the noisy answer is nearest to present[i] between the middles on either side
        short_of = [0.0, *(noisy.below(middle) for middle in middles), 1.0]
        return Categorical(tuple(present), np.diff(short_of))


@dataclass(frozen=True)
class ClampedToPublicBounds(_NoisyCount):
    """A noisy count clamped to the public bounds [low, high].

    Args:
        epsilon: > 0.
        low, high: low < high, chosen independently of the data.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth 2014, Theorem 3.6 and Proposition 2.1.
    """

    low: checks.Number = 0.0
    high: checks.Number = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low >= self.high:
            raise ParameterError(f"low must be below high, not {self.low!r} and {self.high!r}.")

    def run(self, answers: Any) -> Distribution:
        (count,) = answers
        return Laplace(count, 1 / self.epsilon).clip(self.low, self.high)


# --- cards: claims, sources and deviations from the papers ---

ClampedToTruth.card = Card(
    name="ClampedToTruth",
    system="corpus",
    title="Noisy count clamped to the true count",
    paper=DWORK_ROTH,
    place="Theorem 3.6 and Proposition 2.1, misapplied",
    claim="ε-DP, as post-processing of an ε-DP answer",
    inputs="one count as (count,), ≥ 0; epsilon > 0",
    output="a real number in [0, count]; both ends have positive probability",
    variants=("ClampedToPublicBounds", "RoundedToData"),
    known_bug=KnownBug(
        bug="post-processing that reads the data again",
        effect="More than half of the runs return the true count, and no answer exceeds it.",
        epsilon="infinite: an answer above 5 has probability 1/2 + (1 − e^-ε)/2 at a count of 6 (0.5476 at ε = "
        "0.1) and 0 at a count of 5",
    ),
)

RoundedToData.card = Card(
    name="RoundedToData",
    system="corpus",
    title="Noisy count rounded to the nearest count in the data",
    paper=DWORK_ROTH,
    place="Theorem 3.6 and Proposition 2.1, misapplied",
    claim="ε-DP, as post-processing of an ε-DP answer",
    inputs="counts (c₁, …, c_k); the query is c₁; epsilon > 0",
    output="one of the counts; ties go to the smaller one",
    variants=("ClampedToPublicBounds", "ClampedToTruth"),
    known_bug=KnownBug(
        bug="post-processing that reads the data again",
        effect="The answer is always a number that occurs in the data.",
        epsilon="infinite: the answer 8 has probability e^(-3ε)/2 (0.3704 at ε = 0.1) on (2, 8) and 0 on (2, 9)",
    ),
)

ClampedToPublicBounds.card = Card(
    name="ClampedToPublicBounds",
    system="corpus",
    title="Noisy count clamped to public bounds",
    paper=DWORK_ROTH,
    place="Theorem 3.6 and Proposition 2.1",
    claim="ε-DP, as post-processing of an ε-DP answer",
    inputs="one count as (count,); epsilon > 0, public bounds low < high",
    output="a real number in [low, high]; both ends have positive probability",
    variants=("ClampedToTruth", "RoundedToData"),
    known_bug=KnownBug(
        bug="",
        effect="The bounds do not depend on the data, so clamping is post-processing.",
        epsilon="ε, attained at either bound where both counts lie inside the bounds",
    ),
)
