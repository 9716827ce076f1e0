"""The mechanisms of the comparison, with numpy alone, so that the environment of every tool can import them.

Each is one vectorised function, which all tools sample. Where a tool cannot take its output, its script says what it
takes instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[[int, Any, int], Any]
"""(0 or 1 for the dataset, generator, number of samples) → outputs of shape (size,) or (size, d)."""

STOPPED = -1
"""An answer after the stop, of techniques whose answers are 0 and 1."""
NOT_ABOVE, NOT_ANSWERED = -1000.0, -2000.0
"""Symbols among the numbers of SVT3, as in DP-Sniper's own implementation."""


@dataclass(frozen=True)
class Subject:
    """A mechanism on one pair of datasets, and a claim about it.

    Args:
        name: for the tables.
        function: as above.
        epsilon, delta: of the claim.
        exact: the least ε at the claim's δ on this pair, infinite if there is none. Those of sparse vector techniques
            are of the exact distributions in dpaudit_audits.corpus.sparse_vector, rounded up.
        symbols: values that are no numbers, for tools that are told.
        summary: the output for tools that need one number or a few categories, as their authors do it.
    """

    name: str
    function: Function
    epsilon: float
    exact: float
    delta: float = 0.0
    symbols: tuple[float, ...] = ()
    summary: Callable[[Any], Any] | None = None

    @property
    def holds(self) -> bool:
        """Whether the claim is true on the pair."""
        return self.exact <= self.epsilon * (1 + 1e-9)


def laplace(scale: float) -> Function:
    """A count of 1 or 0 with Laplace noise: ε = 1/scale."""
    return lambda which, rng, size: which + rng.laplace(scale=scale, size=size)


def noisy_max(answers: tuple[tuple[float, ...], tuple[float, ...]], *, noise: str, index: bool) -> Function:
    """Report noisy max with scale 20 (Ding et al., CCS 2018, Algorithms 5 to 8): the index, or wrongly the value."""

    def function(which: int, rng: Any, size: int) -> Any:
        draw = getattr(rng, noise)(scale=20, size=(size, len(answers[0])))
        noisy = np.array(answers[which], dtype=np.float64) + draw
        return noisy.argmax(axis=1) if index else noisy.max(axis=1)

    return function


def histogram(which: int, rng: Any, size: int) -> Any:
    """Five counts with noise of scale ε = .1 instead of 1/ε (Ding et al., Algorithm 10); one count differs by 1."""
    return np.array([1.0 + which, 1, 1, 1, 1]) + rng.laplace(scale=0.1, size=(size, 5))


EQUAL_OR_HALVES = ((1,) * 10, (2,) * 5 + (0,) * 5)
HALVES = ((1,) * 5 + (0,) * 5, (0,) * 5 + (1,) * 5)
LAST_DOWN = ((1,) * 10, (2,) * 9 + (0,))
SPLIT_TIES = ((-2, -4, 0, -2, 2, 0, 4, 2, 6, 4), (-3, -3, -1, -1, 1, 1, 3, 3, 5, 5))
Answers = tuple[tuple[float, ...], tuple[float, ...]]


def sparse_vector(
    answers: Answers, *, threshold: float, rho: float, nu: float, stops: bool = True, numbers: bool = False
) -> Function:
    """The techniques of Lyu, Su and Li (VLDB 2017), c = 1: the noise of the threshold has scale rho, of answers nu.

    Args:
        nu: 0 for no noise.
        stops: whether nothing is answered after the first answer above.
        numbers: whether the noisy answer that is above is printed.
    """

    def function(which: int, rng: Any, size: int) -> Any:
        true = np.array(answers[which], dtype=np.float64)
        level = threshold + rng.laplace(scale=rho, size=(size, 1))
        noisy = true + (rng.laplace(scale=nu, size=(size, len(true))) if nu else np.zeros((size, len(true))))
        above = noisy >= level
        after = np.cumsum(above, axis=1) - above > 0 if stops else np.zeros_like(above)
        if numbers:
            return np.where(after, NOT_ANSWERED, np.where(above, noisy, NOT_ABOVE))
        return np.where(after, STOPPED, above.astype(np.int64))

    return function


def from_first_half(output: Any) -> Any:
    """StatDP's number for techniques that do not stop: Hamming distance to "the first half is above"."""
    expected = np.arange(output.shape[1]) < output.shape[1] // 2
    return (output != expected).sum(axis=1)


def numbers_not_above(output: Any) -> Any:
    """StatDP's number for techniques that stop: how many answers are not above."""
    return (output == 0).sum(axis=1)


def not_above_and_last(output: Any) -> Any:
    """For SVT3: how many answers are not above, and the last number."""
    shown = output > NOT_ABOVE
    return np.stack([(output == NOT_ABOVE).sum(axis=1), np.where(shown, output, 0.0).sum(axis=1)], axis=1)


def gaussian(scale: float) -> Function:
    """A count of 1 or 0 with Gaussian noise."""
    return lambda which, rng, size: which + rng.normal(scale=scale, size=size)


def one_of_ten(which: int, rng: Any, size: int) -> Any:
    """Ten numbers with Laplace noise of scale 2, of which the seventh is the record's: ε = 1/2."""
    return rng.laplace(scale=2, size=(size, 10)) + np.array([0.0] * 6 + [which] + [0.0] * 3)


KERNEL = np.random.default_rng(30).dirichlet(np.full(30, 5.0), size=2)


def thirty_codes(which: int, rng: Any, size: int) -> Any:
    """One of 30 codes, whose order means nothing."""
    return rng.choice(30, size=size, p=KERNEL[which])


def gaussian_delta(scale: float, epsilon: float) -> float:
    """δ of Gaussian noise at sensitivity 1 (Balle and Wang, ICML 2018, Theorem 8)."""
    a, b = 1 / (2 * scale), epsilon * scale

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(a - b) - math.exp(epsilon) * below(-a - b)


def least(wrong: Callable[[float], bool], low: float, high: float) -> float:
    """The number between at which `wrong` becomes false, by bisection."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if wrong(middle) else (low, middle)
    return high


SIGMA = least(lambda scale: gaussian_delta(scale, 1.0) > 1e-3, 0.05, 100.0)
"""The least σ that is (1, 1e-3)-private."""
TOO_SMALL = 0.8 * SIGMA
CODES = float(np.abs(np.log(KERNEL[0] / KERNEL[1])).max())

ALL_UP = ((1.0,) * 5, (2.0,) * 5)
ONE_DOWN = ((1.0,) * 5, (0.0, 2.0, 2.0, 2.0, 2.0))

SUBJECTS = {
    "laplace": Subject("Laplace", laplace(10), 0.1, 0.1),
    "laplace half": Subject("Laplace, half of the noise", laplace(5), 0.1, 0.2),
    # by numerical integration
    "max index": Subject("ReportNoisyMax1", noisy_max(ONE_DOWN, noise="laplace", index=True), 0.1, 0.094615),
    # each of five answers goes up by 1 at scale 20, and all lower tails multiply
    "max value": Subject("ReportNoisyMax3", noisy_max(ALL_UP, noise="laplace", index=False), 0.1, 0.25),
    # below 1 nothing is possible on the second dataset
    "max value, exponential": Subject(
        "ReportNoisyMax4", noisy_max(ALL_UP, noise="exponential", index=False), 0.1, math.inf
    ),
    "histogram": Subject("NoisyHist2", histogram, 0.1, 10.0, summary=lambda output: output[:, 0]),
    "SVT1": Subject(
        "SVT1", sparse_vector(EQUAL_OR_HALVES, threshold=0.5, rho=20, nu=40), 0.1, 0.088526, symbols=(STOPPED,),
        summary=numbers_not_above,
    ),
    "SVT3": Subject(
        "SVT3", sparse_vector(LAST_DOWN, threshold=1, rho=20, nu=20, numbers=True), 0.1, 0.5,
        symbols=(NOT_ABOVE, NOT_ANSWERED), summary=not_above_and_last,
    ),
    "SVT4": Subject(
        "SVT4", sparse_vector(HALVES, threshold=1, rho=40, nu=1 / 0.075), 0.1, 0.171664, symbols=(STOPPED,),
        summary=numbers_not_above,
    ),
    "SVT5": Subject(
        "SVT5", sparse_vector(SPLIT_TIES, threshold=1, rho=20, nu=0, stops=False), 0.1, math.inf,
        summary=from_first_half,
    ),
    "SVT6": Subject(
        "SVT6", sparse_vector(EQUAL_OR_HALVES, threshold=1, rho=20, nu=20, stops=False), 0.1, 0.420032,
        summary=from_first_half,
    ),
    "gaussian": Subject("Gaussian", gaussian(SIGMA), 1.0, 1.0, 1e-3),
    "gaussian small": Subject(
        "Gaussian, .8 of the σ", gaussian(TOO_SMALL), 1.0,
        least(lambda epsilon: gaussian_delta(TOO_SMALL, epsilon) > 1e-3, 0.0, 20.0), 1e-3,
    ),
    "ten": Subject("one of ten leaks", one_of_ten, 0.3, 0.5),
    "codes": Subject("30 codes", thirty_codes, 0.6 * CODES, CODES),
}
"""By the names that the scripts take."""
