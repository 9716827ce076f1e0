"""Noisy histograms: Laplace noise on every count, of the right scale and of its inverse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import (
    ANSWERS_L1,
    STATDP,
    Card,
    Claim,
    FloatArray,
    KnownBug,
    Laplace,
    Mechanism,
    Product,
    checks,
    log,
)


@dataclass(frozen=True)
class NoisyHist1(Mechanism):
    """Every count with independent noise Lap(1/ε): correct.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 9.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε under a move of 1 in total."""
        return Claim(self.epsilon, 0.0, ANSWERS_L1)

    @property
    def scale(self) -> float:
        """Of the noise."""
        return 1 / self.epsilon

    def run(self, counts: tuple[float, ...]) -> Product:
        return Product(tuple(Laplace(count, self.scale) for count in counts))

    def log_density(self, counts: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Of noisy histograms, shape (r, d)."""
        return laplace_log_density(outputs - np.array(counts), self.scale)


@dataclass(frozen=True)
class NoisyHist2(NoisyHist1):
    """Every count with independent noise Lap(ε) in place of Lap(1/ε): broken, the truth is 1/ε.

    Args:
        epsilon: > 0; what is claimed and, wrongly, the scale of the noise.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 10.
    """

    @property
    def scale(self) -> float:
        """Of the noise, inverted."""
        return self.epsilon


def laplace_log_density(noise: NDArray[Any], scale: float) -> FloatArray:
    """The log density of independent Lap(scale) noises, one vector a row: shape (r, d) → (r,)."""
    density: FloatArray = -np.abs(noise).sum(axis=1) / scale - noise.shape[1] * log(2 * scale)
    return density


# --- cards: what is claimed where, and where the text here departs from the print ---

NoisyHist1.card = Card(
    name="NoisyHist1",
    system="corpus",
    title="Noisy histogram, Lap(1/ε)",
    paper=STATDP,
    place="Algorithm 9",
    claim="ε-DP where one record moves one count by 1",
    inputs="the counts of a histogram, any number of them (published: 5); epsilon > 0, as published 0.1",
    output="a vector of as many real numbers",
    deviations=(
        "The dataset is the vector of counts itself; neighbours move the counts by at most 1 in total.",
        "The output is a vector of doubles, not of real numbers; the claim is about the reals.",
    ),
    variants=("NoisyHist2",),
    known_bug=KnownBug(
        bug="",
        effect="None: one count moves by 1, and its noise has scale 1/ε.",
        epsilon="0.1 = ε: a noisy count outside the two true ones has densities in the ratio e^ε",
    ),
)

NoisyHist2.card = replace(
    NoisyHist1.card,
    name="NoisyHist2",
    title="Noisy histogram, Lap(ε) for Lap(1/ε)",
    place="Algorithm 10",
    claim="ε-DP where one record moves one count by 1 (false)",
    variants=("NoisyHist1",),
    known_bug=KnownBug(
        bug="wrong noise scale",
        effect="The scale is the inverse of what it should be: 1/ε-DP, which for ε < 1 is far too little noise.",
        epsilon="10 = 1/ε: one count moves by 1, and its noise has scale 0.1",
    ),
)
