"""Noisy histograms: Laplace noise on every count, with the right scale and with its inverse."""

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
        """ε for counts that change by at most 1 in total."""
        return Claim(self.epsilon, 0.0, ANSWERS_L1)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 1 / self.epsilon

    def run(self, counts: tuple[float, ...]) -> Product:
        return Product(tuple(Laplace(count, self.scale) for count in counts))

    def log_density(self, counts: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Log density of noisy histograms, shape (r, d) → (r,)."""
        return laplace_log_density(outputs - np.array(counts), self.scale)


@dataclass(frozen=True)
class NoisyHist2(NoisyHist1):
    """Every count with independent noise Lap(ε) instead of Lap(1/ε): broken, the true ε is 1/ε.

    Args:
        epsilon: > 0; the claimed ε and, wrongly, the scale of the noise.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 10.
    """

    @property
    def scale(self) -> float:
        """Scale of the noise, inverted."""
        return self.epsilon


def laplace_log_density(noise: NDArray[Any], scale: float) -> FloatArray:
    """Log density of independent Lap(scale) noise, one vector per row: shape (r, d) → (r,)."""
    density: FloatArray = -np.abs(noise).sum(axis=1) / scale - noise.shape[1] * log(2 * scale)
    return density


# --- cards: claims, sources and deviations from the papers ---

NoisyHist1.card = Card(
    name="NoisyHist1",
    system="corpus",
    title="Noisy histogram, Lap(1/ε)",
    paper=STATDP,
    place="Algorithm 9",
    claim="ε-DP where one record moves one count by 1",
    inputs="the counts of a histogram, any number of them (published: 5); epsilon > 0, as published 0.1",
    output="a vector of real numbers, one per count",
    deviations=(
        "The dataset is the vector of counts itself; neighbours move the counts by at most 1 in total.",
        "The output is a vector of doubles; the claim is about real numbers.",
    ),
    variants=("NoisyHist2",),
    known_bug=KnownBug(
        bug="",
        effect="None: one count changes by 1, and its noise has scale 1/ε.",
        epsilon="0.1 = ε: a noisy count outside the interval between the two true counts has a density ratio of e^ε",
    ),
)

NoisyHist2.card = replace(
    NoisyHist1.card,
    name="NoisyHist2",
    title="Noisy histogram, Lap(ε) instead of Lap(1/ε)",
    place="Algorithm 10",
    claim="ε-DP where one record moves one count by 1 (false)",
    variants=("NoisyHist1",),
    known_bug=KnownBug(
        bug="wrong noise scale",
        effect="The scale is the inverse of the correct one. The mechanism is 1/ε-DP: far too little noise for ε < 1.",
        epsilon="10 = 1/ε: one count changes by 1, and its noise has scale 0.1",
    ),
)
