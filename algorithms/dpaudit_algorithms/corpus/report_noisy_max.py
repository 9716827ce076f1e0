"""Report noisy max: the index of the largest noisy answer is private, its value is not."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import (
    ANSWERS_LINF,
    STATDP,
    Card,
    Claim,
    DatasetError,
    FloatArray,
    IntArray,
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
class Exponential(Real):
    """The exponential distribution: density exp(−(x − start)/scale)/scale from `start` on.

    Args:
        start: where it begins.
        scale: > 0, its mean over `start`.

    Raises:
        ParameterError: start is not finite, or scale not above 0.
    """

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
        """ε where every answer moves by at most 1."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    def run(self, answers: tuple[float, ...]) -> Noisy:
        noise = yield independent(Laplace(0, 2 / self.epsilon), _length(answers))
        noisy = [answer + eta for answer, eta in zip(answers, noise, strict=True)]
        return noisy.index(max(noisy))

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> IntArray:
        """`size` indices, shape (size,)."""
        noisy = np.array(answers) + rng.laplace(0, 2 / self.epsilon, (size, _length(answers)))
        return np.asarray(noisy.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True)
class ReportNoisyMax2(Mechanism):
    """The index of the largest answer after exponential noise of scale 2/ε: correct.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.
        DatasetError: from `run`: there are no answers.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 6.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε where every answer moves by at most 1."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    def run(self, answers: tuple[float, ...]) -> Noisy:
        noise = yield independent(Exponential(0, 2 / self.epsilon), _length(answers))
        noisy = [answer + eta for answer, eta in zip(answers, noise, strict=True)]
        return noisy.index(max(noisy))

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> IntArray:
        """`size` indices, shape (size,)."""
        noisy = np.array(answers) + rng.exponential(2 / self.epsilon, (size, _length(answers)))
        return np.asarray(noisy.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True)
class ReportNoisyMax3(Mechanism):
    """The largest answer after noise Lap(2/ε), instead of its index: broken.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.
        DatasetError: from `run`: there are no answers.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 7.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε where every answer moves by at most 1, as claimed; the truth is ε/2 times the number of answers."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    def run(self, answers: tuple[float, ...]) -> Noisy:
        noise = yield independent(Laplace(0, 2 / self.epsilon), _length(answers))
        return max(answer + eta for answer, eta in zip(answers, noise, strict=True))

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> FloatArray:
        """`size` values, shape (size,)."""
        noisy = np.array(answers) + rng.laplace(0, 2 / self.epsilon, (size, _length(answers)))
        return np.asarray(noisy.max(axis=1), dtype=np.float64)

    def log_density(self, answers: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Of values, shape (r,): the product of the distribution functions times the sum of density : function."""
        scale = 2 / self.epsilon
        z = (np.asarray(outputs, dtype=np.float64) - np.array(answers)[:, None]) / scale
        tail = np.exp(-np.abs(z)) / 2
        log_below = np.where(z < 0, np.minimum(z, 0) - log(2), np.log1p(-tail))
        density_to_below = np.where(z < 0, 1.0, tail / (1 - tail)) / scale
        density: FloatArray = log_below.sum(axis=0) + np.log(density_to_below.sum(axis=0))
        return density


@dataclass(frozen=True)
class ReportNoisyMax4(Mechanism):
    """The largest answer after exponential noise of scale 2/ε, instead of its index: broken.

    Args:
        epsilon: > 0.

    Raises:
        ParameterError: epsilon is not above 0.
        DatasetError: from `run`: there are no answers.

    Source: Ding et al., Detecting Violations of Differential Privacy (CCS 2018), Algorithm 8.
    """

    epsilon: checks.Positive = 0.1

    @property
    def claim(self) -> Claim:
        """ε where every answer moves by at most 1, as claimed; no ε is the truth."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    def run(self, answers: tuple[float, ...]) -> Noisy:
        noise = yield independent(Exponential(0, 2 / self.epsilon), _length(answers))
        return max(answer + eta for answer, eta in zip(answers, noise, strict=True))

    def bulk(self, answers: tuple[float, ...], size: int, rng: np.random.Generator) -> FloatArray:
        """`size` values, shape (size,)."""
        noisy = np.array(answers) + rng.exponential(2 / self.epsilon, (size, _length(answers)))
        return np.asarray(noisy.max(axis=1), dtype=np.float64)

    def log_density(self, answers: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Of values, shape (r,); −∞ up to the largest answer."""
        scale = 2 / self.epsilon
        x = np.asarray(outputs, dtype=np.float64)
        possible = x > max(answers)
        # a stand-in where the density is 0, so that no logarithm of 0 is taken
        z = (np.where(possible, x, max(answers) + scale) - np.array(answers)[:, None]) / scale
        log_below = np.log(-np.expm1(-z))
        # density : distribution function is 1/(e^z − 1), written so that a large z does not overflow
        density_to_below = np.exp(-z) / -np.expm1(-z) / scale
        density: FloatArray = log_below.sum(axis=0) + np.log(density_to_below.sum(axis=0))
        return np.where(possible, density, -np.inf)


def _length(answers: tuple[float, ...]) -> int:
    if not answers:
        raise DatasetError("Report noisy max needs at least one answer, but the dataset is empty.")
    return len(answers)


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "a vector of answers to queries (published: 5); epsilon > 0, as published 0.1"
_ANSWERS = "The dataset is the vector of answers itself; neighbours move every answer by at most 1."
_TIES = "Ties, which have probability 0 in the reals, go to the first of the largest."
_INDEX = "an index, counted from 0"
_VALUE = "a real number"
_DOUBLE = "The output is a double, not a real number; the claim is about the reals."

ReportNoisyMax1.card = Card(
    name="ReportNoisyMax1",
    system="corpus",
    title="Report noisy max, Laplace noise",
    paper=STATDP,
    place="Algorithm 5",
    claim="ε-DP where one record moves every answer by at most 1",
    inputs=_INPUTS,
    output=_INDEX,
    deviations=(_ANSWERS, _TIES),
    variants=("ReportNoisyMax2", "ReportNoisyMax3", "ReportNoisyMax4"),
    known_bug=KnownBug(
        bug="",
        effect="None: only the index is released.",
        epsilon="0.0946 on the pair tried, by quadrature; at most 0.1 = ε on every pair",
    ),
)

ReportNoisyMax2.card = Card(
    name="ReportNoisyMax2",
    system="corpus",
    title="Report noisy max, exponential noise",
    paper=STATDP,
    place="Algorithm 6",
    claim="ε-DP where one record moves every answer by at most 1",
    inputs=_INPUTS,
    output=_INDEX,
    deviations=(_ANSWERS, _TIES),
    variants=("ReportNoisyMax1", "ReportNoisyMax3", "ReportNoisyMax4"),
    known_bug=KnownBug(
        bug="",
        effect="None: only the index is released.",
        epsilon="0.1 = ε, attained on the pair tried by the index of the answer that moves down, by quadrature",
    ),
)

ReportNoisyMax3.card = Card(
    name="ReportNoisyMax3",
    system="corpus",
    title="Report noisy max, Laplace noise, value released",
    paper=STATDP,
    place="Algorithm 7",
    claim="ε-DP where one record moves every answer by at most 1 (false)",
    inputs=_INPUTS,
    output=_VALUE,
    deviations=(_ANSWERS, _DOUBLE),
    variants=("ReportNoisyMax1", "ReportNoisyMax2", "ReportNoisyMax4"),
    known_bug=KnownBug(
        bug="releases the value, not the index",
        effect="Noise for one index is spent on a value that every answer has a part in: kε/2 with k answers.",
        epsilon="0.25 = 5·ε/2: a small maximum means that all 5 noisy answers are small, each at ε/2; attained by "
        "{output ≤ 1} on answers of 1 against answers of 2",
    ),
)

ReportNoisyMax4.card = Card(
    name="ReportNoisyMax4",
    system="corpus",
    title="Report noisy max, exponential noise, value released",
    paper=STATDP,
    place="Algorithm 8",
    claim="ε-DP where one record moves every answer by at most 1 (false)",
    inputs=_INPUTS,
    output=_VALUE,
    deviations=(_ANSWERS, _DOUBLE),
    variants=("ReportNoisyMax1", "ReportNoisyMax2", "ReportNoisyMax3"),
    known_bug=KnownBug(
        bug="releases the value, not the index",
        effect="Exponential noise is never negative, so a value below the largest answer is impossible; between "
        "answers of 1 and of 2 that is rare, and where one answer stands far above the others it is frequent.",
        epsilon="∞: an output below 2 is impossible on answers of 2 and has probability (1 − e^(−ε/2))^5 = 2.8e-7 "
        "on answers of 1",
    ),
)
