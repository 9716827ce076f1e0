"""Report noisy max: the index of the largest noisy answer is private, its value is not."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import (
    ANSWERS_LINF,
    STATDP,
    Card,
    Claim,
    DatasetError,
    FloatArray,
    KnownBug,
    Laplace,
    Mechanism,
    Product,
    Real,
    checks,
    exp,
    expm1,
    independent,
    log,
)

Noisy = Generator[Product, tuple[float, ...], Any]


@dataclass(frozen=True)
class Exponential(checks.Checked, Real):
    """The exponential distribution, shifted: density exp(−(x − start)/scale)/scale for x ≥ start.

    Args:
        start: left end of the support.
        scale: > 0, the mean of x − start.

    Raises:
        ParameterError: start is not finite, or scale not above 0.
    """

    noise_kind: ClassVar[str | None] = "exponential"
    start: checks.Number
    scale: checks.Positive

    def below(self, t: float) -> float:
        return -expm1(-max(0.0, t - self.start) / self.scale)

    def above(self, t: float) -> float:
        return exp(-max(0.0, t - self.start) / self.scale)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        return self.start + rng.exponential(self.scale, size)


@dataclass(frozen=True)
class ReportNoisyMax1(Mechanism):
    """The index of the largest answer after noise Lap(2/ε): correct.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.
        DatasetError: from `run`: there are no answers.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 5.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε if every answer changes by at most 1."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    @property
    def noise(self) -> Real:
        """Noise on every answer."""
        return Laplace(0, 2 / self.epsilon)

    def run(self, answers: tuple[float, ...]) -> Noisy:
        noise = yield independent(self.noise, _length(answers))
        noisy = [answer + eta for answer, eta in zip(answers, noise, strict=True)]
        return noisy.index(max(noisy))

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """`size` indices, shape (size,)."""
        return np.asarray(self._noisy(answers, size, rng).argmax(axis=1), dtype=np.int64)

    def _noisy(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> FloatArray:
        """Noisy answers, shape (size, answers)."""
        shape = size, _length(answers)
        return np.array(answers) + self.noise.draw(rng, math.prod(shape)).reshape(shape)


@dataclass(frozen=True)
class ReportNoisyMax2(ReportNoisyMax1):
    """The index of the largest answer after exponential noise of scale 2/ε: correct.

    Args, Raises: as for `ReportNoisyMax1`.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 6.
    """

    @property
    def noise(self) -> Real:
        return Exponential(0, 2 / self.epsilon)


@dataclass(frozen=True)
class ReportNoisyMax3(ReportNoisyMax1):
    """The largest answer after noise Lap(2/ε), instead of its index: broken.

    The true ε is ε/2 times the number of answers.

    Args, Raises: as for `ReportNoisyMax1`.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 7.
    """

    def run(self, answers: tuple[float, ...]) -> Noisy:
        noise = yield independent(self.noise, _length(answers))
        return max(answer + eta for answer, eta in zip(answers, noise, strict=True))

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """`size` values, shape (size,)."""
        return np.asarray(self._noisy(answers, size, rng).max(axis=1), dtype=np.float64)

    def log_density(self, answers: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Log density of values, shape (r,): the product of the CDFs times the sum of the density-to-CDF ratios."""
        scale = 2 / self.epsilon
        z = (np.asarray(outputs, dtype=np.float64) - np.array(answers)[:, None]) / scale
        tail = np.exp(-np.abs(z)) / 2
        log_below = np.where(z < 0, np.minimum(z, 0) - log(2), np.log1p(-tail))
        density_to_below = np.where(z < 0, 1.0, tail / (1 - tail)) / scale
        density: FloatArray = log_below.sum(axis=0) + np.log(density_to_below.sum(axis=0))
        return density


@dataclass(frozen=True)
class ReportNoisyMax4(ReportNoisyMax3):
    """The largest answer after exponential noise of scale 2/ε, instead of its index: broken for every ε.

    Args, Raises: as for `ReportNoisyMax1`.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 8.
    """

    @property
    def noise(self) -> Real:
        return Exponential(0, 2 / self.epsilon)

    def log_density(self, answers: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Log density of values, shape (r,); −∞ up to the largest answer."""
        scale = 2 / self.epsilon
        x = np.asarray(outputs, dtype=np.float64)
        possible = x > max(answers)
        # use a placeholder where the density is 0, to avoid log(0)
        z = (np.where(possible, x, max(answers) + scale) - np.array(answers)[:, None]) / scale
        log_below = np.log(-np.expm1(-z))
        # density / CDF is 1/(e^z − 1), written so that a large z does not overflow
        density_to_below = np.exp(-z) / -np.expm1(-z) / scale
        density: FloatArray = log_below.sum(axis=0) + np.log(density_to_below.sum(axis=0))
        return np.where(possible, density, -np.inf)


def _length(answers: tuple[float, ...]) -> int:
    if not answers:
        raise DatasetError("Report noisy max needs at least one answer, but the dataset is empty.")
    return len(answers)


# --- cards: claims, sources and deviations from the papers ---

ReportNoisyMax1.card = Card(
    name="ReportNoisyMax1",
    system="corpus",
    title="Report noisy max, Laplace noise",
    paper=STATDP,
    place="Algorithm 5",
    claim="ε-DP where one record moves every answer by at most 1",
    inputs="a vector of answers to queries (published: 5); epsilon > 0, as published 0.1",
    output="an index, counted from 0",
    deviations=(
        "The dataset is the vector of answers itself; neighbours move every answer by at most 1.",
        "Ties, which have probability 0 over the reals, go to the first of the largest answers.",
    ),
    variants=("ReportNoisyMax2", "ReportNoisyMax3", "ReportNoisyMax4"),
    known_bug=KnownBug(
        bug="",
        effect="None: only the index is released.",
        epsilon="0.0946 on the audited pair, by quadrature; at most 0.1 = ε on every pair",
    ),
)

ReportNoisyMax2.card = replace(
    ReportNoisyMax1.card,
    name="ReportNoisyMax2",
    title="Report noisy max, exponential noise",
    place="Algorithm 6",
    variants=("ReportNoisyMax1", "ReportNoisyMax3", "ReportNoisyMax4"),
    known_bug=KnownBug(
        bug="",
        effect="None: only the index is released.",
        epsilon="0.1 = ε, attained on the audited pair by the index of the answer that moves down, by quadrature",
    ),
)

ReportNoisyMax3.card = replace(
    ReportNoisyMax1.card,
    name="ReportNoisyMax3",
    title="Report noisy max, Laplace noise, value released",
    place="Algorithm 7",
    claim="ε-DP where one record moves every answer by at most 1 (false)",
    output="a real number",
    deviations=(
        "The dataset is the vector of answers itself; neighbours move every answer by at most 1.",
        "The output is a double; the claim is about real numbers.",
    ),
    variants=("ReportNoisyMax1", "ReportNoisyMax2", "ReportNoisyMax4"),
    known_bug=KnownBug(
        bug="releases the value, not the index",
        effect="The noise is calibrated to releasing an index, but every answer affects the value: the loss is kε/2 "
        "with k answers.",
        epsilon="0.25 = 5·ε/2: a small maximum means that all 5 noisy answers are small, with a loss of ε/2 each; "
        "attained by {output ≤ 1} on answers of 1 against answers of 2",
    ),
)

ReportNoisyMax4.card = replace(
    ReportNoisyMax3.card,
    name="ReportNoisyMax4",
    title="Report noisy max, exponential noise, value released",
    place="Algorithm 8",
    variants=("ReportNoisyMax1", "ReportNoisyMax2", "ReportNoisyMax3"),
    known_bug=KnownBug(
        bug="releases the value, not the index",
        effect="Exponential noise is never negative, so a value below the largest answer is impossible. The event is "
        "rare for answers of 1 against 2, and frequent if one answer is far above the others.",
        epsilon="∞: an output below 2 is impossible on answers of 2 and has probability (1 − e^(−ε/2))^5 = 2.8e-7 "
        "on answers of 1",
    ),
)
