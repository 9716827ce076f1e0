"""Twenty correct mechanisms, each audited on a pair on which it spends all, or nearly all, that it claims.

Any FAIL is false. The suite of `benchmarks/plugin_error_rate.py`; `pytest benchmarks/plugin_suite` runs it once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.stats import norm

from dpaudit.language import Bernoulli, Claim, Laplace, Mechanism

ADD = "add-remove-one"
BITS = ([0, 1, 1], [1, 1, 1])


def flips(rng: Generator, epsilon: float, size: Any = None) -> Any:
    """Whether randomised response lies."""
    return rng.random(size) >= 1 / (1 + math.exp(-epsilon))


def geometric(rng: Generator, epsilon: float, size: Any = None) -> Any:
    """Two-sided geometric noise for a count."""
    p = 1 - math.exp(-epsilon)
    return rng.geometric(p, size) - rng.geometric(p, size)


def delta_of(sigma: float, epsilon: float) -> float:
    """The δ of a count with Gaussian noise at ε (Balle and Wang 2018, Theorem 5)."""
    half = 1 / (2 * sigma)
    return float(norm.cdf(half - epsilon * sigma) - math.exp(epsilon) * norm.cdf(-half - epsilon * sigma))


SIGMA = brentq(lambda sigma: delta_of(sigma, 1.0) - 0.05, 0.1, 10)


def test_laplace_count(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator) -> float:
        return sum(data) + rng.laplace(0, 1.0)

    dp_audit(f, epsilon=1.0, pair=BITS)


def test_laplace_sum(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        return sum(min(max(x, 0), 10) for x in data) + rng.laplace(0, 20.0, size)

    dp_audit(f, epsilon=0.5, pair=([3, 0], [3, 15]))


def test_clamped_mean(dp_audit: Any) -> None:
    def f(data: list[float], rng: Generator, size: int) -> Any:
        return np.mean(np.clip(data, 0, 1)) + rng.laplace(0, 1 / len(data) / 2.0, size)

    dp_audit(f, epsilon=2.0, pair=([0.2, 0.9, 0.0, 0.4], [0.2, 0.9, 1.0, 0.4]))


def test_geometric_count(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator) -> int:
        return int(sum(data) + geometric(rng, 1.0))

    dp_audit(f, epsilon=1.0, pair=BITS)


def test_gaussian_count(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        return sum(data) + rng.normal(0, SIGMA, size)

    dp_audit(f, epsilon=1.0, delta=0.05, pair=BITS)


def test_median_by_the_exponential_mechanism(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        below = np.array([sum(x < v for x in data) for v in range(8)])
        above = np.array([sum(x > v for x in data) for v in range(8)])
        weights = np.exp(-0.5 * 1.0 * np.maximum(below, above))
        return rng.choice(8, size, p=weights / weights.sum())

    dp_audit(f, epsilon=1.0, pair=([0, 3, 7], [7, 3, 7]))


def test_most_frequent_by_the_exponential_mechanism(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        weights = np.exp(0.5 * 1.0 * np.bincount(data, minlength=2))
        return rng.choice(len(weights), size, p=weights / weights.sum())

    dp_audit(f, epsilon=1.0, pair=([0, 0, 1], [1, 0, 1]))


def test_noisy_argmax(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        return np.argmax(np.bincount(data, minlength=3) + rng.exponential(2.0, (size, 3)), axis=1)

    dp_audit(f, epsilon=1.0, pair=([0, 1, 2], [1, 1, 2]))


def test_randomised_response_in_words(dp_audit: Any) -> None:
    def f(data: list[str], rng: Generator) -> str:
        lie = flips(rng, 1.0)
        return "yes" if (data[0] == "yes") != lie else "no"

    dp_audit(f, epsilon=1.0, pair=(["yes"], ["no"]))


def test_randomised_response_of_five(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        truth = rng.random(size) < math.exp(2.0) / (math.exp(2.0) + 4)
        return np.where(truth, data[0], (data[0] + rng.integers(1, 5, size)) % 5)

    dp_audit(f, epsilon=2.0, pair=([0], [3]))


def test_above_threshold(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        # queries: how many records are at least 1, 2, 3, 4; the first that is about 2 or more
        answers = np.array([sum(x >= v for x in data) for v in (1, 2, 3, 4)])
        above = answers + rng.laplace(0, 4.0, (size, 4)) >= 2 + rng.laplace(0, 2.0, (size, 1))
        return np.where(above.any(axis=1), above.argmax(axis=1), 4)

    dp_audit(f, epsilon=1.0, relation=ADD, pair=([0, 0, 2], [0, 0, 2, 4]))


def test_histogram(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        return np.bincount(data, minlength=2) + rng.laplace(0, 1.0, (size, 2))

    dp_audit(f, epsilon=1.0, relation=ADD, pair=([0, 1], [0, 1, 1]))


def test_stable_histogram(dp_audit: Any) -> None:
    def f(data: list[str], rng: Generator) -> str:
        counts = {word: data.count(word) for word in sorted(set(data))}
        noisy = {word: count + rng.laplace(0, 1.0) for word, count in counts.items()}
        # a count of 1 passes with probability δ
        return ",".join(f"{w}:{round(n)}" for w, n in noisy.items() if n > 1 + math.log(1 / (2 * 0.05)))

    dp_audit(f, epsilon=1.0, delta=0.05, relation=ADD, pair=([], ["rare"]))


def test_two_counts_composed(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator) -> tuple[int, int]:
        return int(sum(data) + geometric(rng, 0.5)), int(sum(data) + geometric(rng, 0.5))

    dp_audit(f, epsilon=1.0, pair=BITS)


def test_subsampled_randomised_response(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        taken = rng.random((size, max(1, len(data)))) < 0.5
        seen = (taken * np.array(data or [0])).any(axis=1)
        return seen != flips(rng, 2.0, size)

    dp_audit(f, epsilon=math.log1p(0.5 * math.expm1(2.0)), relation=ADD, pair=([], [1]))


@dataclass(frozen=True)
class Response(Mechanism):
    """Randomised response as a mechanism, which has a law."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Any:
        lie = yield Bernoulli(1 / (1 + math.exp(self.epsilon)))
        return bool(dataset[0]) != bool(lie)


def test_mechanism_with_a_law(dp_audit: Any) -> None:
    dp_audit(Response(1.0), pair=([0], [1]))


@dataclass(frozen=True)
class RoundedCount(Mechanism):
    """A Laplace count, rounded up and cut."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Any:
        return Laplace(float(sum(dataset)), 1 / self.epsilon).ceil().clip(0, 5)


def test_mechanism_by_runs_alone(dp_audit: Any) -> None:
    dp_audit(RoundedCount(1.0), pair=BITS, black_box=True)


def test_name_and_shame(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        tells = rng.random(size) < 0.05
        return np.where(tells, 10 + data[0], data[0] ^ flips(rng, 1.0, size))

    dp_audit(f, epsilon=1.0, delta=0.05, pair=([0], [1]))


def test_unary_encoding(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        bits = np.eye(3, dtype=bool)[data[0]] != flips(rng, 0.5, (size, 3))
        return [tuple(map(bool, row)) for row in bits]

    dp_audit(f, epsilon=1.0, pair=([0], [2]))


def test_rounded_laplace_count(dp_audit: Any) -> None:
    def f(data: list[int], rng: Generator, size: int) -> Any:
        return np.clip(np.round(sum(data) + rng.laplace(0, 1.0, size)), -5, 10).astype(int)

    dp_audit(f, epsilon=1.0, pair=([0, 0], [1, 0]))
