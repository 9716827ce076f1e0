"""Private functions of many kinds, none of which a trace may accuse: each satisfies its claim for real numbers.

Where the reason is no textbook mechanism with its textbook scale, a comment gives it. Lap(b) is Laplace noise of
scale b; A and R are the relations add-remove-one and replace-one.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

A, R = "add-remove-one", "replace-one"
KEYS = ["a", "b", "c"]
OWN, OTHER = np.random.default_rng(2), random.Random(0)  # whose next 30 draws are above 0.05
TURNS = itertools.cycle([0, 1])


@dataclass(frozen=True)
class Private:
    """A function that satisfies its claim.

    Args:
        function: the function.
        epsilon, delta, relation: its claim.
        pairs: neighbouring datasets.
    """

    function: Callable[..., Any]
    epsilon: float
    delta: float
    relation: str
    pairs: tuple[tuple[Any, Any], ...]

    @property
    def name(self) -> str:
        """Of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)


PRIVATE: list[Private] = []
COUNTS = (([0, 0, 1], [0, 0, 1, 1]), ([0, 0, 1, 1], [0, 0, 1, 1, 1]), ([], [2]))
BIT = (([0], [1]),)


def _claims(epsilon: float, delta: float, relation: str, *pairs: tuple[Any, Any]) -> Callable[..., Any]:
    def keep(function: Any) -> Any:
        PRIVATE.append(Private(function, epsilon, delta, relation, pairs))
        return function

    return keep


def _counted(data: Any) -> Any:
    return np.bincount(np.asarray(data, dtype=int), minlength=3)


def _sigma(epsilon: float, delta: float) -> float:
    """The least σ of the Gaussian mechanism of sensitivity 1 (Balle and Wang 2018, Theorem 8), by bisection."""
    low, high = 1e-3, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        a, b = (math.erfc(-(s / (2 * middle) - epsilon * middle) / math.sqrt(2)) / 2 for s in (1, -1))
        low, high = (middle, high) if a - math.exp(epsilon) * b > delta else (low, middle)
    return high


def _told(bit: int, wrong: bool) -> int:
    return 1 - bit if wrong else bit


# choices, thresholds and loops -------------------------------------------------------------------------


@_claims(1, 0, A, *COUNTS)
def report_noisy_max(data: Any, rng: Generator) -> int:
    return int(np.argmax(_counted(data) + rng.laplace(0, 2, 3)))


@_claims(1, 0, A, *COUNTS)
def gumbel_max(data: Any, rng: Generator) -> str:
    return KEYS[int(np.argmax(_counted(data) / 2 + rng.gumbel(size=3)))]


@_claims(1, 0, A, *COUNTS)
def chosen_and_counted(data: Any, rng: Generator) -> tuple[int, float]:
    counts = _counted(data)
    best = int(np.argmax(counts / 4 + rng.gumbel(size=3)))
    return best, float(counts[best] + rng.laplace(0, 2))


@_claims(1, 0, A, *COUNTS)
def exponential_mechanism(data: Any, rng: Generator) -> int:
    weights = np.exp(_counted(data) / 2)
    return int(rng.choice(3, p=weights / weights.sum()))


@_claims(1, 0, R, ([1, 4, 7, 9, 2], [1, 4, 7, 9, 10]))
def quantile(data: Any, rng: Generator) -> float:
    ends = np.concatenate([[0.0], np.sort(np.clip(data, 0, 10)), [10.0]])
    utility = -np.abs(np.arange(len(ends) - 1) - len(data) // 2)
    with np.errstate(divide="ignore"):
        at = int(np.argmax(np.log(np.diff(ends)) + utility / 2 + rng.gumbel(size=len(utility))))
    return float(rng.uniform(ends[at], ends[at + 1]))


@_claims(1, 0, A, ([9] * 10, [9] * 11), ([5, 9, 3], [5, 9, 3, 9]))
def sparse_vector(data: Any, rng: Generator) -> tuple[bool, ...]:
    threshold, answers = 10 + rng.laplace(0, 2), []
    for day in range(10):
        answers.append(bool(sum(x == day for x in data) + rng.laplace(0, 4) > threshold))
        if answers[-1]:
            break
    return tuple(answers)


@_claims(1, 0.01, A, (["x"] * 3, ["x"] * 3 + ["y"]), (["x"] * 30, ["x"] * 31), ([], ["y"]))
def keys_that_occur_often(data: Any, rng: Generator) -> dict[str, float]:
    # a key of one record passes with probability exp(1 − threshold)/2 = δ/2
    noisy = {key: count + rng.laplace() for key, count in Counter(data).items()}
    return {key: value for key, value in noisy.items() if value > 1 + math.log(1 / 0.01)}


@_claims(1, 0, A, ([1] * 37, [1] * 38), ([1] * 60, [1] * 61))
def small_counts_suppressed(data: Any, rng: Generator) -> float | None:
    noisy = len(data) + rng.laplace()
    return noisy if noisy >= 50 else None


@_claims(30, 0, A, ([0], []), ([0, 0], [0]))
def threshold_at_a_large_epsilon(data: Any, rng: Generator) -> float:
    noisy = len(data) + rng.laplace(0, 1 / 30)
    return noisy if noisy > 0.5 else 0.0


@_claims(100, 0, A, ([], [0]))
def comparison_at_a_huge_epsilon(data: Any, rng: Generator) -> bool:
    return len(data) + rng.laplace(0, 0.01) > 0.5


@_claims(1, 0.002, A, ([2.0] * 9, [2.0] * 10), ([2.0] * 2, [2.0] * 3))
def propose_test_release(data: Any, rng: Generator) -> float | None:
    if len(data) - 1 + rng.laplace(0, 2) < 2 * math.log(500):
        return None
    return float(2.0 + rng.laplace(0, 2))


@_claims(1, 0, A, ([1] * 5, [1] * 6))
def clipped_at_a_noisy_bound(data: Any, rng: Generator) -> tuple[list[float], float]:
    bound, bounds = 1.0, []
    for _ in range(3):
        above = sum(x > bound for x in data) + rng.laplace(0, 6)
        bounds.append(bound := bound * math.exp(0.1 * (above - 1)))
    return bounds, float(np.clip(data, 0, bound).sum() + rng.laplace(0, 2 * bound))


# counts, sums and what is made of them -----------------------------------------------------------------


@_claims(1, 0, A, ([1.0, 2.5], [1.0, 2.5, 9.9]), ([], [3.0]))
def shares_of_fixed_bins(data: Any, rng: Generator) -> Any:
    counts, _ = np.histogram(np.clip(data, 0, 10), bins=5, range=(0, 10))
    noisy = np.maximum(counts + rng.laplace(0, 1, 5), 0)
    return noisy / max(noisy.sum(), 1e-9)


@_claims(1, 0, A, ([0, 3, 5], [0, 3, 5, 6]), ([], [7]))
def binary_tree(data: Any, rng: Generator) -> list[float]:
    levels = [np.bincount(np.asarray(data, dtype=int), minlength=8).astype(float)]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
    noisy = [level + rng.laplace(0, 4, len(level)) for level in levels]
    prefixes = []
    for end in range(1, 9):
        begun, total = 0, 0.0
        for height in (3, 2, 1, 0):
            if end - begun >= 1 << height:
                total += noisy[height][begun >> height]
                begun += 1 << height
        prefixes.append(total)
    return prefixes


@_claims(1, 0, A, *COUNTS)
def discrete_laplace_clipped(data: Any, rng: Generator) -> list[int]:
    p = 1 - math.exp(-1)
    return [int(x) for x in np.clip(_counted(data) + rng.geometric(p, 3) - rng.geometric(p, 3), 0, 5)]


@_claims(1, 0, A, *COUNTS)
def order_of_noisy_counts(data: Any, rng: Generator) -> tuple[list[int], int, dict[str, int]]:
    p = 1 - math.exp(-1)
    counts = _counted(data) + rng.geometric(p, 3) - rng.geometric(p, 3)
    large = {KEYS[i]: int(x) for i, x in enumerate(counts) if x > 2}
    return np.argsort(-counts).tolist(), int(counts.max() - counts.min()), large


@_claims(1, 0, A, ([1] * 37, [1] * 38))
def one_count_in_many_forms(data: Any, rng: Generator) -> dict[str, Any]:
    noisy = len(data) + rng.laplace()
    return {
        "raw": noisy, "people": max(0, round(noisy)), "text": f"{noisy:.1f}", "tens": 10 * round(noisy / 10),
        "double": 2 * noisy, "square": noisy**2, "from": noisy - 3, "to": noisy + 3,
    }


@_claims(1, 0, A, (["a"], ["a", "b"]), ([], ["b"]))
def keys_in_the_order_of_the_records(data: Any, rng: Generator) -> dict[str, float]:
    noisy = {key: count + rng.laplace() for key, count in Counter(data).items()}
    for key in KEYS:
        if key not in noisy:
            noisy[key] = rng.laplace()
    return noisy


@_claims(1, 0, A, *COUNTS)
def counts_that_fit_their_total(data: Any, rng: Generator) -> Any:
    counts = _counted(data) + rng.laplace(0, 2, 3)
    return counts + (len(data) + rng.laplace(0, 2) - counts.sum()) / 3


@_claims(1, 0, R, ([1, 2, 1], [1, 2, 0]))
def clipped_counts(data: Any, rng: Generator) -> Any:
    return np.clip(_counted(data) + rng.laplace(0, 2, 3), 0, 3)


class Budget:
    """A budget of ε, spent by counts."""

    def __init__(self, rng: Generator, epsilon: float) -> None:
        self.rng, self.left = rng, epsilon

    def count(self, values: Any, epsilon: float) -> float:
        """A noisy count of what is true."""
        assert epsilon <= self.left
        self.left -= epsilon
        return sum(map(bool, values)) + self.rng.laplace(0, 1 / epsilon)


@_claims(1, 0, A, ([20, 70], [20, 70, 30]))
def counts_of_one_budget(data: Any, rng: Generator) -> dict[str, float]:
    budget = Budget(rng, 1.0)
    adults, old = (budget.count([x > age for x in data], 0.5) for age in (18, 65))
    return {"adults": adults, "old": old, "share": old / adults}


@_claims(1, 0, A, ([1, 2], [1, 2, 2]))
def counts_of_child_generators(data: Any, rng: Generator) -> list[float]:
    return [len(data) + child.laplace(0, 2) for child in rng.spawn(2)]


# other noise -------------------------------------------------------------------------------------------


@_claims(1, 0, R, ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 50.0]))
def median_with_cauchy_noise(data: Any, rng: Generator) -> float:
    # smooth sensitivity (Nissim, Raskhodnikova, Smith 2007): β = ε/6, noise 6 S/ε, whose scale depends on the data
    n, middle = len(data), len(data) // 2
    padded = np.concatenate([[0.0] * n, np.sort(np.clip(data, 0, 10)), [10.0] * n])
    smooth = max(
        math.exp(-k / 6) * max(padded[n + middle + t] - padded[n + middle + t - k - 1] for t in range(k + 2))
        for k in range(n)
    )
    return float(padded[n + middle] + 6 * smooth * rng.standard_cauchy())


@_claims(1, 0, A, ([0.5], [0.5, 1.0]))
def noise_in_shares(data: Any, rng: Generator) -> float:
    # the difference of two sums of n Gamma(1/n) draws is Laplace noise for every n
    n = len(data)
    return float(sum(data) + (rng.gamma(1 / n, 1, n) - rng.gamma(1 / n, 1, n)).sum())


@_claims(1, 0, A, ([0.5], [0.5, 1.0]))
def laplace_by_gaussians(data: Any, rng: Generator) -> float:
    a, b, c, d = rng.normal(size=4)
    return float(sum(data) + a * b + c * d)


@_claims(1, 0, A, ([1.0] * 4, [1.0] * 5), ([0.0] * 4, [0.0] * 4 + [1.0]))
def clamped_with_a_scale_of_the_data(data: Any, rng: Generator) -> float:
    # within [0, 1] the log-ratio is at most ln((n + 1)/n) + 1/4 + n |Δmean|/4 < 1
    return float(np.clip(np.mean(data) + rng.laplace(0, 4 / len(data)), 0, 1))


@_claims(1, 0, R, ([-5.0], [5.0]))
def clamped_between_the_locations(data: Any, rng: Generator) -> float:
    # both tails are cut inside ±5: ε = ln(2 exp(4.9/9) − 1) = 0.90, and the shift alone costs 10/9
    return float(np.clip(np.clip(data[0], -5, 5) + rng.laplace(0, 9), -0.1, 0.1))


@_claims(1, 1e-5, R, ([0.0], [1.0]))
def clamped_gaussian(data: Any, rng: Generator) -> float:
    # the best thresholds against (1, 1e-5) are near −10.8 and 11.8, and nothing beyond −9 and 10 is seen
    return float(np.clip(np.clip(data[0], 0, 1) + rng.normal(0, 0.9 * _sigma(1, 1e-5)), -9, 10))


@_claims(1, 1e-6, A, (np.ones((2, 3)), np.ones((3, 3))))
def gaussian_sum_of_vectors(data: Any, rng: Generator) -> Any:
    clipped = data / np.maximum(1, np.linalg.norm(data, axis=1))[:, None]
    return clipped.sum(axis=0) + rng.normal(0, _sigma(1, 1e-6), 3)


@_claims(1, 1e-6, A, ([1, 1], [1, 1, 1]))
def two_gaussian_counts(data: Any, rng: Generator) -> list[float]:
    return [len(data) + rng.normal(0, _sigma(1, 1e-6) * math.sqrt(2)) for _ in range(2)]


@_claims(1, 1e-5, R, (np.array([[3.0, 4.0], [0.1, 0.2]]), np.array([[3.0, 4.0], [-9.0, -1.0]])))
def two_steps_of_sgd(data: Any, rng: Generator) -> Any:
    weights = np.zeros(2)
    for _ in range(2):
        gradients = weights - data
        gradients = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1))[:, None]
        weights = weights - 0.1 * (gradients.sum(axis=0) + rng.normal(0, 2 * _sigma(0.5, 5e-6), 2)) / len(data)
    return weights


# coins, samples and orders -----------------------------------------------------------------------------


@_claims(1, 0, A, ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 9.0]))
def sum_of_a_poisson_sample(data: Any, rng: Generator) -> float:
    sample = np.asarray(data)[rng.random(len(data)) < 0.25]
    return float(np.clip(sample, 0, 10).sum() + rng.laplace(0, 10 / math.log1p((math.e - 1) / 0.25)))


@_claims(1, 0, R, ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 9.0]))
def mean_of_a_sample(data: Any, rng: Generator) -> float:
    sample = rng.choice(np.clip(data, 0, 10), 2, replace=False)
    return float(sample.mean() + rng.laplace(0, 5 / math.log1p((math.e - 1) * 2)))


@_claims(3, 0, R, *BIT)
def told_by_a_shuffled_card(data: Any, rng: Generator) -> int:
    cards = [True] + [False] * 19
    rng.shuffle(cards)
    return _told(data[0], cards[0])


@_claims(3, 0, R, *BIT)
def told_by_an_order(data: Any, rng: Generator) -> int:
    return _told(data[0], rng.permutation(20)[0] == 0)


@_claims(3, 0, R, *BIT)
def told_by_an_integer(data: Any, rng: Generator) -> int:
    return _told(data[0], rng.integers(20) == 7)


@_claims(3, 0, R, *BIT)
def told_by_a_poisson_count(data: Any, rng: Generator) -> int:
    return _told(data[0], bool(rng.poisson(-math.log(1 - 2 / (1 + math.exp(3))) / 2) % 2))


@_claims(3, 0, R, *BIT)
def told_by_a_generator_of_its_own(data: Any, rng: Generator) -> int:
    return _told(data[0], OWN.random() < 0.05)


@_claims(3, 0, R, *BIT)
def told_by_a_generator_of_the_system(data: Any, rng: Generator) -> int:
    return _told(data[0], random.Random().random() < 0.05)


@_claims(3, 0, R, *BIT)
def told_by_a_helper(data: Any, rng: Generator) -> int:
    return _told(data[0], _coin() < 0.05)


def _coin() -> float:
    return OTHER.random()


class Nested:
    """A generator that no name of the function refers to directly."""

    def __init__(self) -> None:
        self.within = [{"generator": np.random.default_rng(2)}]

    def __call__(self, data: Any, rng: Generator) -> int:
        return _told(data[0], self.within[0]["generator"].random() < 0.05)


PRIVATE.append(Private(Nested(), 3, 0, R, BIT))


@_claims(1, 0, R, *BIT)
def answers_in_turns(data: Any, rng: Generator) -> int:
    # not of the data at all
    return next(TURNS)
