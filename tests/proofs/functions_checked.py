"""Functions as users write them, audited with a proof."""

from __future__ import annotations

from typing import Any

import numpy as np


def list_sum(data: Any, rng: Any) -> Any:
    return sum(min(max(x, 0.0), 1.0) for x in data) + rng.laplace(0, 1)


def joined(data: Any, rng: Any) -> Any:
    """A list becomes twice as long, and the numbers of a vector twice as large."""
    return len(data + data) + rng.laplace(0, 1)


def histogram(data: Any, rng: Any) -> Any:
    return [sum(x == value for x in data) + rng.laplace(0, 2) for value in range(4)]


def vector_sum(data: Any, rng: Any) -> Any:
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 1)


def answers_of_two(data: Any, rng: Any) -> Any:
    return [answer + rng.laplace(0, 2) for answer in data]


def coin(data: Any, rng: Any) -> Any:
    return [x if rng.random() < 0.7 else 1 - x for x in data]


def several(data: Any, rng: Any, size: int) -> Any:
    return sum(data) + rng.laplace(0, 1, size)


def coin_and_count(data: Any, rng: Any) -> Any:
    return coin(data, rng), sum(data) + rng.laplace(0, 10)


def first_above(data: Any, rng: Any) -> Any:
    threshold = rng.laplace(0, 6)
    return next((place for place, x in enumerate(data) if x + rng.laplace(0, 12) >= threshold), None)


def above_three_times(data: Any, rng: Any) -> Any:
    return first_above(data, rng), first_above(data, rng), first_above(data, rng)
