"""A noisy count of a sample, claimed with privacy amplification, which needs a secret random sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from dpaudit.language import (
    REPLACE_ONE,
    Card,
    Categorical,
    Claim,
    DatasetError,
    FloatArray,
    KnownBug,
    Laplace,
    Mechanism,
    Program,
    checks,
    expm1,
    log,
    log1p,
)

AMPLIFICATION = "Balle, Barthe and Gaboardi, Privacy Amplification by Subsampling (NeurIPS 2018)"
Floats = FloatArray


@dataclass(frozen=True)
class _SampledCount(Mechanism):
    """Laplace noise that is ε₀-DP without sampling, and claimed ε-DP with it, for ε = ln(1 + γ(e^ε₀ − 1))."""

    epsilon: checks.Positive
    rate: checks.Unit

    @property
    def unamplified(self) -> float:
        """ε₀ = ln(1 + (e^ε − 1)/γ), the privacy of the noise alone."""
        return log1p(expm1(self.epsilon) / self.rate)

    @property
    def claim(self) -> Claim:
        """ε, after amplification."""
        return Claim(self.epsilon, 0.0, REPLACE_ONE)


@dataclass(frozen=True)
class SubsampledLaplace(_SampledCount):
    """The number of ones among the first ⌊γn⌋ records, with noise of scale 1/ε₀: amplification without sampling.

    Args:
        epsilon: > 0, claimed.
        rate: γ in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Balle, Barthe and Gaboardi 2018, sampling without replacement, applied to a sample that is not random.
    """

    epsilon: float = 0.1
    rate: float = 0.1

    def run(self, records: Any) -> Laplace:
        sample = records[: math.floor(self.rate * len(records))]
        return Laplace(_ones(sample), 1 / self.unamplified)

    def log_density(self, records: Any, outputs: Floats) -> Floats:
        """Log density of the outputs, shape (r,)."""
        sample = records[: math.floor(self.rate * len(records))]
        return _laplace(outputs, _ones(sample), self.unamplified)


@dataclass(frozen=True)
class SubsampledLaplacePoisson(_SampledCount):
    """The number of ones in a sample that holds each record with probability γ, with noise of scale 1/ε₀.

    Let P_K be the output distribution with K ones. Then P_{K+1} = (1 − γ)·P_K + γ·P_K(· − 1), and the density of the
    shifted distribution is within a factor e^±ε₀ of P_K's. Hence P_{K+1}/P_K ≤ 1 + γ(e^ε₀ − 1) = e^ε and
    P_K/P_{K+1} ≤ 1/(1 − γ(1 − e^-ε₀)) ≤ e^ε.

    Args:
        epsilon: > 0, claimed.
        rate: γ in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Balle, Barthe and Gaboardi 2018, Theorem 8.
    """

    epsilon: float = 0.1
    rate: float = 0.1

    def run(self, records: Any) -> Program:
        from scipy.stats import binom  # it takes half a second, and `dpaudit list` imports this file

        ones = _ones(records)
        sampled = yield Categorical(tuple(range(ones + 1)), binom.pmf(np.arange(ones + 1), ones, self.rate))
        return Laplace(sampled, 1 / self.unamplified)

    def log_density(self, records: Any, outputs: Floats) -> Floats:
        """Log density of the mixture over the number of sampled ones, shape (r,)."""
        from scipy.stats import binom  # as above

        ones = _ones(records)
        parts = [
            binom.logpmf(k, ones, self.rate) + _laplace(outputs, k, self.unamplified) for k in range(ones + 1)
        ]
        density: Floats = logsumexp(parts, axis=0)
        return density


def _ones(records: Any) -> int:
    if any(record not in (0, 1) for record in records):
        raise DatasetError(f"The records must be 0 and 1, not {records!r}.")
    return int(sum(records))


def _laplace(outputs: Floats, centre: float, epsilon: float) -> Floats:
    density: Floats = log(epsilon / 2) - epsilon * np.abs(outputs - centre)
    return density


# --- cards: claims, sources and deviations from the papers ---

SubsampledLaplace.card = Card(
    name="SubsampledLaplace",
    system="corpus",
    title="Noisy count of the first records, amplification claimed",
    paper=AMPLIFICATION,
    place="amplification by sampling without replacement (replace-one), on a fixed sample",
    claim="ln(1 + γ(e^ε₀ − 1))-DP for a share γ of the records and an ε₀-DP answer on it",
    inputs="a tuple of records 0 and 1; epsilon (claimed), the share γ",
    output="a real number",
    deviations=("The sample is the first ⌊γn⌋ records, as in a batch of unshuffled data.",),
    variants=("SubsampledLaplacePoisson",),
    known_bug=KnownBug(
        bug="amplification without a secret random sample",
        effect="The first records have the unamplified ε₀; the others have perfect privacy.",
        epsilon="ε₀ = ln(1 + (e^ε − 1)/γ), attained by the first record: 0.7187 for (0.1, γ = 0.1)",
    ),
)

SubsampledLaplacePoisson.card = Card(
    name="SubsampledLaplacePoisson",
    system="corpus",
    title="Noisy count of a Poisson sample",
    paper=AMPLIFICATION,
    place="Theorem 8 (Poisson sampling)",
    claim="ln(1 + γ(e^ε₀ − 1))-DP for a Poisson sample of rate γ and an ε₀-DP answer on it",
    inputs="a tuple of records 0 and 1; epsilon (claimed), the rate γ",
    output="a real number",
    deviations=(
        "Only ones are sampled, because zeros do not change the count.",
        "The theorem is about adding or removing a record. Replacing a record changes the count of ones in the same "
        "way, so the claim is made for replace-one.",
    ),
    variants=("SubsampledLaplace",),
    known_bug=KnownBug(
        bug="",
        effect="The sample is random and secret, so most answers do not depend on the record at all.",
        epsilon="ε, attained by answers above 1 for counts of 1 against 0",
    ),
)
