"""The example bugs of dp-recorder and a leak of missing values, written from their definitions, each with its fix.

Cebere, Erb, Desfontaines, Bellet and Fitzsimons, "Privacy in Theory, Bugs in Practice: A Grey-Box Auditing Framework of
Differential Privacy Libraries" (arXiv 2602.17454), and the examples of its artifact: a size that is taken for public,
classes that are inferred from the data, a budget that is spent twice, a NaN that clipping keeps, a sensitivity that
becomes 0, a sum of what was not clipped. The seventh is reported of dpmm: missing values get a category only where
there is one, so that the synthetic data have missing values only then.

Each is a function with a claim of ε = 1, and the deterministic part that the bug is in with the stability that its
noise or its control flow takes for granted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

EPSILON = 1.0
Records = list[float]
Outputs = NDArray[np.float64]


@dataclass(frozen=True)
class RecorderBug:
    """A bug, its fix, and its deterministic part.

    Args:
        name: in tables.
        about: what is wrong, in a sentence.
        broken, fixed: mechanisms that claim to be 1-DP under add-remove-one.
        data: a description of records.
        part: a deterministic function of the broken mechanism.
        stability, metric: what the mechanism takes for granted of it.
    """

    name: str
    about: str
    broken: Callable[..., object]
    fixed: Callable[..., object]
    data: str
    part: Callable[[Any], object]
    stability: float
    metric: str = "absolute"


def clipped(data: Records, limit: float) -> Outputs:
    return np.clip(np.array(data, dtype=float), -limit, limit)


# -- the number of records is taken for public


def private_mean(data: Records, rng: Generator, size: int) -> Outputs:
    noisy_sum = clipped(data, 1).sum() + rng.laplace(0, 1 / EPSILON, size)
    with np.errstate(divide="ignore"):
        return noisy_sum / len(data)


def private_mean_fixed(data: Records, rng: Generator, size: int) -> Outputs:
    noisy_sum = clipped(data, 1).sum() + rng.laplace(0, 2 / EPSILON, size)
    return noisy_sum / np.maximum(1, len(data) + rng.laplace(0, 2 / EPSILON, size))


# -- classes are inferred from the data


def counts_of_classes(data: Records, rng: Generator) -> list[float]:
    classes = np.unique(np.array(data))
    return [data.count(c) + rng.laplace(0, len(classes) / EPSILON) for c in classes]


def counts_of_classes_fixed(data: Records, rng: Generator) -> list[float]:
    return [data.count(c) + rng.laplace(0, 1 / EPSILON) for c in (0, 1, 2)]


# -- the budget is spent twice


def sum_and_count(data: Records, rng: Generator, size: int) -> Outputs:
    queries = np.array([sum(data), len(data)], dtype=float)
    return queries + rng.laplace(0, 1 / EPSILON, (size, 2))


def sum_and_count_fixed(data: Records, rng: Generator, size: int) -> Outputs:
    queries = np.array([sum(data), len(data)], dtype=float)
    return queries + rng.laplace(0, 2 / EPSILON, (size, 2))


# -- clipping keeps a NaN


def sum_with_nan(data: Records, rng: Generator, size: int) -> Outputs:
    return clipped(data, 5).sum() + rng.laplace(0, 5 / EPSILON, size)


def sum_without_nan(data: Records, rng: Generator, size: int) -> Outputs:
    return np.nan_to_num(clipped(data, 5)).sum() + rng.laplace(0, 5 / EPSILON, size)


# -- the sensitivity is computed as 0

FEATURES = DEGREE = 5


def degree_noise(data: Records, rng: Generator, size: int) -> Outputs:
    return sum(data) + rng.laplace(0, (FEATURES - DEGREE) / EPSILON, size)


def degree_noise_fixed(data: Records, rng: Generator, size: int) -> Outputs:
    return sum(data) + rng.laplace(0, max(1, FEATURES - DEGREE) / EPSILON, size)


# -- what is summed is not what was clipped


def sum_of_raw(data: Records, rng: Generator, size: int) -> Outputs:
    return np.array(data, dtype=float).sum() + rng.laplace(0, 5 / EPSILON, size)


def sum_of_clipped(data: Records, rng: Generator, size: int) -> Outputs:
    return clipped(data, 5).sum() + rng.laplace(0, 5 / EPSILON, size)


# -- a missing value shows in the synthetic data

SYNTHETIC = 4
"""Records of the synthetic data."""


def categories(data: Records) -> list[float]:
    """Those that are declared, and one for missing values where there is one."""
    return [0.0, 1.0, 2.0, *[math.nan] * any(map(math.isnan, data))]


def synthetic(data: Records, rng: Generator) -> list[float]:
    return _sampled(data, categories(data), rng)


def synthetic_fixed(data: Records, rng: Generator) -> list[float]:
    return _sampled(data, [0.0, 1.0, 2.0, math.nan], rng)


def _sampled(data: Records, values: list[float], rng: Generator) -> list[float]:
    """Records drawn in proportion to noisy counts."""
    counts = [sum(x == value or (x != x and value != value) for x in data) for value in values]
    weights = np.maximum(0.01, counts + rng.laplace(0, 1 / EPSILON, len(values)))
    return [values[i] for i in rng.choice(len(values), SYNTHETIC, p=weights / weights.sum())]


_FINITE = "allow_nan=False, allow_infinity=False"
BUGS = (
    RecorderBug(
        "size taken for public", "the noisy sum is divided by the number of records",
        private_mean, private_mean_fixed, f"floats(-2, 2, {_FINITE})", len, 0,
    ),
    RecorderBug(
        "classes inferred", "counts of the classes that occur",
        counts_of_classes, counts_of_classes_fixed, "integers(0, 2)", lambda data: len(set(data)), 0,
    ),
    RecorderBug(
        "budget spent twice", "a sum and a count with the whole ε each",
        sum_and_count, sum_and_count_fixed, "integers(0, 1)", lambda data: [sum(data), len(data)], 1, "l1",
    ),
    RecorderBug(
        "NaN kept by clipping", "the sum of clipped records is NaN if one is",
        sum_with_nan, sum_without_nan, "floats(-9, 9)", lambda data: clipped(data, 5).sum(), 5,
    ),
    RecorderBug(
        "sensitivity computed as 0", "the scale is 0 where the degree is the number of features",
        degree_noise, degree_noise_fixed, "integers(0, 1)", sum, FEATURES - DEGREE,
    ),
    RecorderBug(
        "sum of unclipped records", "the records are clipped, and the raw ones are summed",
        sum_of_raw, sum_of_clipped, f"floats(-100, 100, {_FINITE})", lambda data: np.array(data, dtype=float).sum(), 5,
    ),
    RecorderBug(
        "NaN in synthetic data", "missing values get a category only where there is one",
        synthetic, synthetic_fixed, "sampled_from([0.0, 1.0, 2.0, nan])", categories, 0, "discrete",
    ),
)
