"""Gaussian noise on one answer: the classical calibration inside and outside its range, and with σ halved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from scipy.special import log_ndtr

from dpaudit.language import (
    ANSWERS_L1,
    DWORK_ROTH,
    Card,
    Claim,
    FloatArray,
    Gaussian,
    KnownBug,
    Mechanism,
    ParameterError,
    checks,
    exp,
    expm1,
    log,
    sqrt,
)

BALLE_WANG = "Balle and Wang, Improving the Gaussian Mechanism for Differential Privacy (ICML 2018)"
Floats = FloatArray


def classical_sigma(epsilon: float, delta: float) -> float:
    """√(2·ln(1.25/δ))/ε for sensitivity 1.  Source: Dwork and Roth 2014, Theorem A.1 (for ε < 1)."""
    return sqrt(2 * log(1.25 / delta)) / epsilon


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """The exact δ at ε of N(0, σ²) against N(1, σ²).

    Φ(1/2σ − εσ) − e^ε·Φ(−1/2σ − εσ).  Source: Balle and Wang 2018, Theorem 8.
    """
    first, second = log_ndtr(0.5 / sigma - epsilon * sigma), epsilon + log_ndtr(-0.5 / sigma - epsilon * sigma)
    return float(-exp(first) * expm1(min(0.0, second - first)))


@dataclass(frozen=True)
class _NoisyAnswer(Mechanism):
    """An answer of sensitivity 1 with noise N(0, σ²), claimed (ε, δ)-DP."""

    epsilon: checks.Positive
    delta: checks.OpenUnit

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return classical_sigma(self.epsilon, self.delta)

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta, ANSWERS_L1)

    def run(self, answers: Any) -> Gaussian:
        (answer,) = answers
        return Gaussian(answer, self.sigma)

    def log_density(self, answers: Any, outputs: Floats) -> Floats:
        """Log density of the outputs, shape (r,)."""
        (answer,) = answers
        density: Floats = -0.5 * ((outputs - answer) / self.sigma) ** 2 - log(self.sigma * sqrt(2 * math.pi))
        return density


@dataclass(frozen=True)
class GaussianClassical(_NoisyAnswer):
    """An answer with noise N(0, σ²), σ = √(2·ln(1.25/δ))/ε, at ε ≤ 1.

    Args:
        epsilon: in (0, 1].
        delta: in (0, 1).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth 2014, Theorem A.1.
    """

    epsilon: float = 1.0
    delta: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > 1:
            raise ParameterError(f"The classical calibration needs epsilon ≤ 1, not {self.epsilon!r}.")


@dataclass(frozen=True)
class GaussianHalfSigma(GaussianClassical):
    """The classical Gaussian mechanism with half the standard deviation.

    Args, Raises: as for `GaussianClassical`.

    Source: Dwork and Roth 2014, Theorem A.1, with σ halved.
    """

    @property
    def sigma(self) -> float:
        """Half of the classical standard deviation."""
        return super().sigma / 2


@dataclass(frozen=True)
class GaussianClassicalLargeEpsilon(_NoisyAnswer):
    """An answer with noise N(0, σ²), σ = √(2·ln(1.25/δ))/ε, at an ε far above the range of the theorem.

    Whether the formula fails depends on δ. It fails from ε = 8.42 on at δ = 1e-5, from 7.46 at 1e-3, from 6.77 at 0.01
    and from 5.29 at 0.2 (by the exact privacy profile).

    Args:
        epsilon: > 0.
        delta: in (0, 1).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth 2014, Theorem A.1, outside its range; Balle and Wang 2018, section 2.
    """

    epsilon: float = 7.0
    delta: float = 0.2


@dataclass(frozen=True)
class GaussianAnalytic(_NoisyAnswer):
    """An answer with noise N(0, σ²) for the smallest σ whose exact privacy profile is at most δ at ε.

    Args:
        epsilon: > 0.
        delta: in (0, 1).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Balle and Wang 2018, Theorem 8 and Algorithm 1.
    """

    epsilon: float = 7.0
    delta: float = 0.2

    @property
    def sigma(self) -> float:
        return self._sigma

    @cached_property
    def _sigma(self) -> float:
        from scipy.optimize import brentq  # it takes a tenth of a second, and `dpaudit list` imports this file

        low, high = 1e-3 / (1 + self.epsilon), 1.0
        while gaussian_delta(high, self.epsilon) > self.delta:
            high *= 2
        root = float(brentq(lambda s: gaussian_delta(s, self.epsilon) - self.delta, low, high, xtol=1e-15, rtol=1e-13))
        return root * (1 + 1e-12)  # round towards more noise


# --- cards: claims, sources and deviations from the papers ---

GaussianClassical.card = Card(
    name="GaussianClassical",
    system="corpus",
    title="Gaussian mechanism, classical calibration",
    paper=DWORK_ROTH,
    place="Theorem 3.22, Theorem A.1",
    claim="(ε, δ)-DP for σ ≥ √(2·ln(1.25/δ))·Δ/ε, ε in (0, 1)",
    inputs="one answer as (answer,) of sensitivity 1; epsilon, delta",
    output="a real number",
    deviations=("ε = 1 is allowed, although the theorem requires ε < 1; the exact profile shows that it holds.",),
    variants=("GaussianHalfSigma", "GaussianClassicalLargeEpsilon", "GaussianAnalytic"),
    known_bug=KnownBug(
        bug="",
        effect="More noise than necessary: the tail bound behind the formula is loose.",
        epsilon="0.751 at δ = 1e-5 for (1, 1e-5), by the exact profile (Balle and Wang 2018, Theorem 8)",
    ),
)

GaussianHalfSigma.card = replace(
    GaussianClassical.card,
    name="GaussianHalfSigma",
    title="Gaussian mechanism with half of its noise",
    place="Theorem A.1, σ halved",
    claim="(ε, δ)-DP, though σ is half of what the theorem requires",
    deviations=("σ is half of the printed one, as after forgetting the sensitivity or a factor of 2.",),
    variants=("GaussianClassical",),
    known_bug=KnownBug(
        bug="wrong noise scale",
        effect="Half the noise; the mechanism exceeds both ε and δ.",
        epsilon="1.610 at δ = 1e-5 for (1, 1e-5), and δ = 0.0017 at ε = 1; by the exact profile (Balle and Wang "
        "2018, Theorem 8)",
    ),
)

GaussianClassicalLargeEpsilon.card = replace(
    GaussianClassical.card,
    name="GaussianClassicalLargeEpsilon",
    title="Gaussian mechanism, classical calibration at a large ε",
    place="Theorem A.1, used outside its range ε < 1",
    claim="(ε, δ)-DP for σ = √(2·ln(1.25/δ))·Δ/ε, though ε > 1",
    deviations=(
        "ε = 7 and δ = 0.2 are not for practical use. They make the violation detectable with a million samples: at "
        "a small δ the formula fails too, but on events too rare to count (δ = 0.01 needs at least six million "
        "samples).",
    ),
    variants=("GaussianClassical", "GaussianAnalytic"),
    known_bug=KnownBug(
        bug="calibration used outside its range",
        effect="The noise decreases as 1/ε, but an ε this large needs noise of the order of 1/√ε.",
        epsilon="8.875 at δ = 0.2 for (7, 0.2), and δ = 0.366 at ε = 7; by the exact profile (Balle and Wang "
        "2018, Theorem 8)",
    ),
)

GaussianAnalytic.card = replace(
    GaussianClassical.card,
    name="GaussianAnalytic",
    title="Gaussian mechanism, analytic calibration",
    paper=BALLE_WANG,
    place="Theorem 8, Algorithm 1",
    claim="(ε, δ)-DP for every ε > 0",
    deviations=("A root finder computes σ, instead of the bisection of Algorithm 1.",),
    variants=("GaussianClassical", "GaussianClassicalLargeEpsilon"),
    known_bug=KnownBug(
        bug="",
        effect="Correct: the smallest noise that satisfies the claim, at any ε.",
        epsilon="ε at δ, attained: the profile of Theorem 8 is exact",
    ),
)
