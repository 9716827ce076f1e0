"""One noisy count in floating point: the vulnerable textbook sampler, and two safe samplers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import (
    ANSWERS_L1,
    Card,
    Claim,
    DiscreteLaplace,
    FloatArray,
    KnownBug,
    Laplace,
    Mechanism,
    ParameterError,
    Snapping,
    checks,
)

MIRONOV = "Mironov, On Significance of the Least Significant Bits for Differential Privacy (CCS 2012)"
DISCRETE_GAUSSIAN = "Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy (NeurIPS 2020)"
Floats = FloatArray


@dataclass(frozen=True)
class FloatingPointLaplace(Mechanism):
    """A count plus −b·sgn(U)·ln(1 − 2|U|) for U uniform on (−1/2, 1/2), computed in doubles; b = 1/ε.

    Over the reals this is the Laplace mechanism, which is ε-DP. In doubles the set of possible outputs depends on the
    count: 1 + noise loses low-order bits that 0 + noise keeps.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Mironov 2012, the attacked sampler.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε, as over the reals."""
        return Claim(self.epsilon, 0.0, ANSWERS_L1)

    def run(self, answers: Any) -> Laplace:
        (count,) = answers
        return Laplace(count, 1 / self.epsilon)

    def bulk(self, answers: Any, size: int, rng: Generator) -> Floats:
        """The textbook sampler; shape (size,)."""
        (count,) = answers
        u = rng.random(size) - 0.5
        noisy: Floats = count - 1 / self.epsilon * np.sign(u) * np.log(1 - 2 * np.abs(u))
        return noisy

    def log_density(self, answers: Any, outputs: Floats) -> Floats:
        """Log density of Laplace noise over the reals, shape (r,); it ignores the low-order bits."""
        (count,) = answers
        density: Floats = np.log(self.epsilon / 2) - self.epsilon * np.abs(outputs - count)
        return density


@dataclass(frozen=True)
class SnappingLaplace(Mechanism):
    """A count with Mironov's snapped noise of scale λ = 1/ε: clamp_B(⌊clamp_B(count) ⊕ S ⊗ λ ⊗ LN(U*)⌉_Λ).

    Args:
        epsilon: > 0.
        bound: B, with λ < B < 2^46·λ.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Mironov 2012, the snapping mechanism and its privacy theorem.
    """

    epsilon: checks.Positive = 0.1
    bound: checks.Positive = 1024.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 / self.epsilon < self.bound < 2.0**46 / self.epsilon:
            raise ParameterError(f"bound must lie between 1/epsilon and 2^46/epsilon, not {self.bound!r}.")

    @property
    def claim(self) -> Claim:
        """1/λ + 2^-49·B/λ."""
        return Claim(self.epsilon * (1 + 2.0**-49 * self.bound), 0.0, ANSWERS_L1)

    def run(self, answers: Any) -> Snapping:
        (count,) = answers
        return Snapping(count, 1 / self.epsilon, self.bound)


@dataclass(frozen=True)
class DiscreteLaplaceMechanism(Mechanism):
    """A count plus discrete Laplace noise: an integer, hence without low-order bits.

    Args:
        epsilon: > 0; the scale of the noise is 1/ε (rounded to a double, which is then used exactly).

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020, Algorithm 2.
    """

    epsilon: checks.Positive = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        DiscreteLaplace(0, 1 / self.epsilon)

    @property
    def claim(self) -> Claim:
        """ε; 1/ε rounded to a double corresponds to an ε with a relative error of 2^-53."""
        return Claim(self.epsilon, 0.0, ANSWERS_L1)

    def run(self, answers: Any) -> DiscreteLaplace:
        (count,) = answers
        return DiscreteLaplace(count, 1 / self.epsilon)

    def log_density(self, answers: Any, outputs: Floats) -> Floats:
        """Log probabilities of integers, shape (r,)."""
        (count,) = answers
        probability: Floats = np.log(np.tanh(self.epsilon / 2)) - self.epsilon * np.abs(outputs - count)
        return probability


# --- cards: claims, sources and deviations from the papers ---

FloatingPointLaplace.card = Card(
    name="FloatingPointLaplace",
    system="corpus",
    title="Laplace mechanism with the textbook sampler in doubles",
    paper=MIRONOV,
    place="the textbook sampler attacked in the paper",
    claim="ε-DP for a query of sensitivity 1",
    inputs="one count as (count,); epsilon > 0",
    output="a double",
    deviations=(
        "U = 1/2, which has probability 2^-53, gives an infinite answer and is not redrawn, as in the textbook.",
        "`run` describes the ideal mechanism, Laplace noise over the reals; the audit samples from `bulk`.",
    ),
    variants=("SnappingLaplace", "DiscreteLaplaceMechanism"),
    known_bug=KnownBug(
        bug="leaks through the low bits of doubles",
        effect="Some doubles are possible outputs on only one of the two datasets; over the reals it is ε-DP.",
        epsilon="infinite: an output near 0 is always a multiple of 2^-53 at a count of 1, and often is not at a "
        "count of 0 (about 0.03 of all outputs at ε = 0.1); ε over the reals",
    ),
)

SnappingLaplace.card = Card(
    name="SnappingLaplace",
    system="corpus",
    title="Laplace mechanism, snapped to a grid of powers of two",
    paper=MIRONOV,
    place="the snapping mechanism and its privacy theorem",
    claim="(1/λ + 2^-49·B/λ)-DP for a query of sensitivity 1 and λ < B < 2^46·λ",
    inputs="one count as (count,); epsilon = 1/λ > 0, the bound B",
    output="a double: a multiple of Λ, the least power of two ≥ λ, in [−B, B], or ±B",
    deviations=("Parameters are given as ε = 1/λ, so that the claim is ε(1 + 2^-49·B).",),
    variants=("FloatingPointLaplace", "DiscreteLaplaceMechanism"),
    known_bug=KnownBug(
        bug="",
        effect="Outputs are rounded to a grid as coarse as the noise, which removes the low-order bits.",
        epsilon="at most ε(1 + 2^-49·B) by the theorem, as claimed; at ε = 0.1 and counts 0 and 1 both ends of "
        "the grid attain ε up to rounding",
    ),
)

DiscreteLaplaceMechanism.card = Card(
    name="DiscreteLaplaceMechanism",
    system="corpus",
    title="Discrete Laplace (two-sided geometric) mechanism",
    paper=DISCRETE_GAUSSIAN,
    place="Algorithm 2; the mechanism is that of Ghosh, Roughgarden and Sundararajan (2009)",
    claim="ε-DP for an integer query of sensitivity 1",
    inputs="one count as (count,), a whole number; epsilon > 0",
    output="a whole number",
    variants=("FloatingPointLaplace", "SnappingLaplace"),
    known_bug=KnownBug(
        bug="",
        effect="The sampler uses integers and coins with rational bias, so nothing is rounded.",
        epsilon="ε, attained: every output ≤ 0 is e^ε times as likely at a count of 0 as at a count of 1",
    ),
)
