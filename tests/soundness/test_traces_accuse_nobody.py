"""Private functions that a trace could mistake: thresholds, sampling, post-processing, own noise. None gets an alarm.

The draws of a trace depend on its seed; those tried here are fixed. A function that releases a key by chance, with
probability δ, would be accused if this came in all seven runs of one dataset, which has probability δ⁷ at most.
"""

from __future__ import annotations

import math
import secrets
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import dpaudit

A, R = "add-remove-one", "replace-one"
SEEDS = 5


def clipped_afterwards(data: Any, rng: Generator) -> float:
    return float(np.clip(sum(data) + rng.laplace(0, 1), 0, 10))


def positive_part(data: Any, rng: Generator) -> float:
    return max(0.0, len(data) + rng.laplace(0, 1))


def rounded_to_tens(data: Any, rng: Generator) -> float:
    return 10.0 * round((len(data) + rng.laplace(0, 1)) / 10)


def in_logarithms(data: Any, rng: Generator) -> float:
    return math.log1p(abs(len(data) + rng.laplace(0, 1)))


def squared(data: Any, rng: Generator) -> float:
    noisy = len(data) + rng.laplace(0, 1)
    return noisy * noisy


def in_pieces(data: Any, rng: Generator) -> float:
    noisy = len(data) + rng.laplace(0, 1)
    return 2 * noisy if noisy > 3 else noisy - 7


def by_the_inverse_distribution(data: Any, rng: Generator) -> float:
    u = rng.random() - 0.5
    return len(data) - math.copysign(math.log(max(1 - 2 * abs(u), 1e-300)), u)


def of_two_exponentials(data: Any, rng: Generator) -> float:
    return len(data) + rng.exponential(1.0) - rng.exponential(1.0)


def of_standard_draws(data: Any, rng: Generator) -> float:
    sign = 1 if rng.integers(2) else -1
    return len(data) + sign * float(rng.standard_exponential())


def split_noise(data: Any, rng: Generator) -> float:
    return len(data) + rng.laplace(0, 1) + rng.laplace(0, 1)


def noise_of_each_record(data: Any, rng: Generator) -> float:
    """Distributed Gaussian noise: the number of records is public under replace-one."""
    sigma = 4.0 / math.sqrt(len(data))
    return float(sum(x + rng.normal(0, sigma) for x in data))


def correlated_noise(data: Any, rng: Generator) -> Any:
    x = np.array([float(sum(data)), float(len(data))])
    return x + rng.multivariate_normal([0, 0], [[50.0, 25.0], [25.0, 50.0]])


def laplace_of_the_sparse_vector(data: Any, rng: Generator) -> list[bool]:
    """AboveThreshold, with outputs until the first True."""
    bar, said = 1 + rng.laplace(0, 2), []
    for value in range(3):
        said.append(bool(data.count(value) + rng.laplace(0, 4) >= bar))
        if said[-1]:
            break
    return said


def keys_above_a_noisy_bar(data: Any, rng: Generator) -> dict[int, float]:
    """Public keys, shown where their noisy count is large: post-processing."""
    counts = Counter(data)
    noisy = {key: counts[key] + rng.laplace(0, 1) for key in range(3)}
    return {key: count for key, count in noisy.items() if count > 1}


def keys_by_stability(data: Any, rng: Generator) -> dict[int, float]:
    """Secret keys, shown with probability 0.01 where one record has them."""
    noisy = {key: count + rng.laplace(0, 1) for key, count in Counter(data).items()}
    return {key: count for key, count in noisy.items() if count > 1 + math.log(50)}


def propose_test_release(data: Any, rng: Generator) -> str:
    """The most frequent record where it is so by a wide margin: δ = 1e-6."""
    (first, most), *others = Counter(data).most_common()
    margin = most - (others[0][1] if others else 0)
    return str(first) if margin / 2 + rng.laplace(0, 1) > math.log(1e6) else "?"


def exponential_mechanism(data: Any, rng: Generator) -> int:
    weights = np.exp([data.count(value) / 2 for value in range(3)])
    return int(rng.choice(3, p=weights / weights.sum()))


def exponential_mechanism_by_gumbel_noise(data: Any, rng: Generator) -> int:
    return int(np.argmax([data.count(value) + rng.gumbel(0, 2) for value in range(3)]))


def rare_lies(data: Any, rng: Generator) -> list[int]:
    """Randomised response at ε = 6: a record lies with probability 0.0025."""
    return [x if rng.random() < math.e**6 / (1 + math.e**6) else 1 - x for x in data]


def rare_lies_of_secrets(data: Any, rng: Generator) -> list[int]:
    return [x if secrets.randbelow(1000) else 1 - x for x in data]


def of_the_global_generator(data: Any, rng: Generator) -> float:
    return len(data) + np.random.laplace(0, 1)  # noqa: NPY002


def of_its_own_generator(data: Any, rng: Generator) -> float:
    return len(data) + np.random.default_rng().laplace(0, 1)


def of_children(data: Any, rng: Generator) -> list[float]:
    return [len(data) + child.laplace(0, 2) for child in rng.spawn(2)]


def sampled_count(data: Any, rng: Generator) -> float:
    """ln(1 + 0.1 (e^2 − 1)) = 0.5, and 2-DP without sampling."""
    kept = [x for x in data if rng.random() < 0.1]
    return len(kept) + rng.laplace(0, 0.5)


def shuffled_report(data: Any, rng: Generator) -> tuple[float, ...]:
    noisy = [data.count(value) + rng.laplace(0, 2) for value in range(3)]
    rng.shuffle(noisy)
    return tuple(noisy)


def rejection(data: Any, rng: Generator) -> float:
    """Noise is drawn until the output is positive: the loop stops by chance."""
    while True:
        noisy = 3 + len(data) + rng.laplace(0, 2)
        if noisy > 0:
            return noisy


def hash_with_a_public_seed(data: Any, rng: Generator) -> Any:
    """A count sketch whose signs are public, from a seed."""
    signs = np.random.default_rng(7).choice([-1.0, 1.0], 4)
    return signs * np.bincount(data, minlength=4)[:4] + rng.laplace(0, 2, 4)


def noisy_mean(data: Any, rng: Generator) -> float:
    return (sum(data) + rng.laplace(0, 2)) / max(len(data) + rng.laplace(0, 2), 1)


def public_keys_in_the_order_of_the_data(data: Any, rng: Generator) -> list[float]:
    """Draws come in the order of the records, answers in that of the keys."""
    noisy = {key: count + rng.laplace(0, 1) for key, count in Counter(data).items()}
    return [noisy[key] if key in noisy else float(rng.laplace(0, 1)) for key in range(3)]


def empty_is_special(data: Any, rng: Generator) -> float:
    """The branch draws the same noise."""
    if not data:
        return float(rng.laplace(0, 1))
    return float(np.sum(np.clip(data, 0, 1)) + rng.laplace(0, 1))


def discrete_noise(data: Any, rng: Generator) -> int:
    p = 1 - math.exp(-1)
    return len(data) + int(rng.geometric(p)) - int(rng.geometric(p))


def smooth_sensitivity(data: Any, rng: Generator) -> float:
    """A median with Laplace noise of its smooth sensitivity: the scale depends on the data, within (ε, δ)."""
    x = np.sort(np.clip(data, 0, 10)).astype(float)
    n, beta = len(x), 1 / (2 * math.log(2 / 0.01))
    padded = np.concatenate([np.zeros(n), x, np.full(n, 10.0)])
    middle = n + n // 2
    smooth = max(
        math.exp(-k * beta) * max(padded[middle + t] - padded[middle + t - k - 1] for t in range(k + 2))
        for k in range(n + 1)
    )
    return float(padded[middle] + rng.laplace(0, 2 * smooth))


PAIRS = {A: ([0, 1, 1], [0, 1, 1, 1]), R: ([0, 1, 1], [1, 1, 1])}
PRIVATE: tuple[tuple[Callable[..., Any], str, float, float], ...] = (
    (clipped_afterwards, A, 1.0, 0.0), (positive_part, A, 1.0, 0.0), (rounded_to_tens, A, 1.0, 0.0),
    (in_logarithms, A, 1.0, 0.0), (squared, A, 1.0, 0.0), (in_pieces, A, 1.0, 0.0),
    (by_the_inverse_distribution, A, 1.0, 0.0), (of_two_exponentials, A, 1.0, 0.0), (of_standard_draws, A, 1.0, 0.0),
    (split_noise, A, 1.0, 0.0), (noise_of_each_record, R, 1.0, 1e-2), (correlated_noise, A, 1.0, 1e-2),
    (laplace_of_the_sparse_vector, R, 1.0, 0.0), (keys_above_a_noisy_bar, A, 1.0, 0.0),
    (keys_by_stability, A, 1.0, 0.01), (propose_test_release, R, 1.0, 1e-6), (exponential_mechanism, R, 1.0, 0.0),
    (exponential_mechanism_by_gumbel_noise, R, 1.0, 0.0), (rare_lies, R, 6.0, 0.0),
    (rare_lies_of_secrets, R, 7.0, 0.0), (of_the_global_generator, A, 1.0, 0.0), (of_its_own_generator, A, 1.0, 0.0),
    (of_children, A, 1.0, 0.0), (sampled_count, A, 0.5, 0.0), (shuffled_report, A, 0.5, 0.0),
    (rejection, A, 1.0, 0.0), (hash_with_a_public_seed, A, 0.5, 0.0), (noisy_mean, A, 1.0, 0.0),
    (public_keys_in_the_order_of_the_data, A, 1.0, 0.0), (empty_is_special, A, 1.0, 0.0), (discrete_noise, A, 1.0, 0.0),
)


MORE = {A: (([0], [0, 2]), ([1] * 6, [1] * 7)), R: (([0, 0], [0, 2]), ([1] * 6, [1] * 5 + [0]))}


@pytest.mark.parametrize(
    ("function", "relation", "epsilon", "delta"), PRIVATE, ids=[one[0].__name__ for one in PRIVATE]
)
def test_a_private_function_gets_no_alarm(
    function: Callable[..., Any], relation: str, epsilon: float, delta: float
) -> None:
    for pair in (PAIRS[relation], *MORE[relation]):
        for seed in range(SEEDS):
            for one in (pair, pair[::-1]):
                trace = dpaudit.trace(function, epsilon=epsilon, delta=delta, relation=relation, pair=one, seed=seed)
                assert not trace.alarms, f"{pair}, seed {seed}: {trace}"
                assert trace.executions <= 20


def test_noise_of_a_smooth_sensitivity_gets_no_alarm() -> None:
    pair = ([1, 2, 3, 3, 4, 4, 5, 6, 7], [1, 2, 3, 3, 4, 4, 5, 6, 10])
    other = ([1, 2, 3, 3, 4, 4, 5, 6, 7], [1, 2, 3, 3, 3, 4, 5, 6, 7])
    for one in (pair, other):
        for seed in range(SEEDS):
            trace = dpaudit.trace(smooth_sensitivity, epsilon=1.0, delta=0.01, pair=one, seed=seed)
            assert not trace.alarms, str(trace)
