"""Twelve functions with one bug each, and their fixes: a trace must name the line of every bug, and accuse no fix.

A bug is where its function and its fix differ: the line that ends in `# bug`, which the fix changes. The claims are
(ε, δ) = (1, 0) but for the last one. Lap(b) is Laplace noise of scale b.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

EPSILON = 1.0
HOBBIES = ["chess", "judo", "skiing"]
A, R = "add-remove-one", "replace-one"


def share_of_smokers(data: Any, rng: Generator) -> float:
    """The number of records is secret under add-remove-one."""
    smokers = sum(data)
    noisy = smokers + rng.laplace(0, 1 / EPSILON)
    return noisy / len(data)  # bug


def share_of_smokers_fixed(data: Any, rng: Generator) -> float:
    smokers = sum(data)
    noisy = smokers + rng.laplace(0, 2 / EPSILON)
    people = len(data) + rng.laplace(0, 2 / EPSILON)
    return noisy / max(people, 1)


def mean_clipped_late(data: Any, rng: Generator) -> float:
    """The mean is clipped and not each record."""
    mean = float(np.clip(np.mean(data), 0, 1))  # bug
    return mean + rng.laplace(0, 1 / (len(data) * EPSILON))


def mean_clipped_late_fixed(data: Any, rng: Generator) -> float:
    mean = float(np.mean(np.clip(data, 0, 1)))
    return mean + rng.laplace(0, 1 / (len(data) * EPSILON))


def hobbies_present(data: Any, rng: Generator) -> dict[str, float]:
    """Only keys that a record has are in the output."""
    counts = Counter(data)
    return {hobby: counts[hobby] + rng.laplace(0, 1 / EPSILON) for hobby in sorted(counts)}  # bug


def hobbies_present_fixed(data: Any, rng: Generator) -> dict[str, float]:
    counts = Counter(data)
    return {hobby: counts[hobby] + rng.laplace(0, 1 / EPSILON) for hobby in HOBBIES}


def mean_of_tens(data: Any, rng: Generator) -> float:
    """Records go up to 10, and the scale is that of records up to 1."""
    clipped = np.clip(data, 0, 10)
    mean = float(clipped.mean())
    scale = 1 / (len(data) * EPSILON)  # bug
    return mean + rng.laplace(0, scale)


def mean_of_tens_fixed(data: Any, rng: Generator) -> float:
    clipped = np.clip(data, 0, 10)
    mean = float(clipped.mean())
    scale = 10 / (len(data) * EPSILON)
    return mean + rng.laplace(0, scale)


def two_answers_one_noise(data: Any, rng: Generator) -> tuple[float, float]:
    """The difference of the two answers has no noise."""
    noise = rng.laplace(0, 2 / EPSILON)
    young = sum(age < 30 for age in data) + noise
    old = sum(age >= 60 for age in data) + noise  # bug
    return young, old


def two_answers_one_noise_fixed(data: Any, rng: Generator) -> tuple[float, float]:
    noise = rng.laplace(0, 2 / EPSILON)
    young = sum(age < 30 for age in data) + noise
    old = sum(age >= 60 for age in data) + rng.laplace(0, 2 / EPSILON)
    return young, old


def noise_on_another_variable(data: Any, rng: Generator) -> dict[str, float]:
    """The number of records is public under replace-one, and gets the noise of the total."""
    people = float(len(data))
    total = float(np.clip(data, 0, 1).sum())
    people += rng.laplace(0, 1 / EPSILON)  # bug
    return {"people": people, "total": total}


def noise_on_another_variable_fixed(data: Any, rng: Generator) -> dict[str, float]:
    people = float(len(data))
    total = float(np.clip(data, 0, 1).sum())
    total += rng.laplace(0, 1 / EPSILON)
    return {"people": people, "total": total}


def branch_before_the_noise(data: Any, rng: Generator) -> float:
    """Small totals are hidden, by the exact total."""
    total = float(np.clip(data, 0, 1).sum())
    noisy = 0.0
    if total >= 5:  # bug
        noisy = total + rng.laplace(0, 1 / EPSILON)
    return noisy


def branch_before_the_noise_fixed(data: Any, rng: Generator) -> float:
    total = float(np.clip(data, 0, 1).sum())
    noisy = total + rng.laplace(0, 1 / EPSILON)
    if noisy < 5:
        noisy = 0.0
    return noisy


def early_return(data: Any, rng: Generator) -> float | None:
    """The report is missing where a record is invalid."""
    if min(data) < 0:  # bug
        return None
    total = float(np.clip(data, 0, 1).sum())
    return total + rng.laplace(0, 1 / EPSILON)


def early_return_fixed(data: Any, rng: Generator) -> float | None:
    total = float(np.clip(data, 0, 1).sum())
    return total + rng.laplace(0, 1 / EPSILON)


def scale_of_each_key(data: Any, rng: Generator) -> dict[str, float]:
    """Rare hobbies get more noise."""
    counts = Counter(data)
    noisy = {}
    for hobby in HOBBIES:
        scale = 1 / EPSILON if counts[hobby] > 2 else 2 / EPSILON  # bug
        noisy[hobby] = counts[hobby] + rng.laplace(0, scale)
    return noisy


def scale_of_each_key_fixed(data: Any, rng: Generator) -> dict[str, float]:
    counts = Counter(data)
    noisy = {}
    for hobby in HOBBIES:
        scale = 1 / EPSILON if hobby != "chess" else 2 / EPSILON
        noisy[hobby] = counts[hobby] + rng.laplace(0, scale)
    return noisy


def seeded_report(data: Any, rng: Generator) -> float:
    """The author wanted the same report every time."""
    rng = np.random.default_rng(2024)  # bug
    return float(np.clip(data, 0, 1).sum()) + rng.laplace(0, 1 / EPSILON)


def seeded_report_fixed(data: Any, rng: Generator) -> float:
    return float(np.clip(data, 0, 1).sum()) + rng.laplace(0, 1 / EPSILON)


def scale_of_the_range(data: Any, rng: Generator) -> float:
    """The sensitivity is computed from the data."""
    low, high = 0, max(data)
    sensitivity = (high - low) / len(data)  # bug
    return float(np.mean(data)) + rng.laplace(0, sensitivity / EPSILON)


def scale_of_the_range_fixed(data: Any, rng: Generator) -> float:
    low, high = 0, 10
    sensitivity = (high - low) / len(data)
    return float(np.mean(np.clip(data, low, high))) + rng.laplace(0, sensitivity / EPSILON)


def outlier_not_clipped(data: Any, rng: Generator) -> float:
    """Gaussian noise for a sum of records up to 1, which nothing clips."""
    total = float(np.sum(data))  # bug
    sigma = 3.75
    return total + rng.normal(0, sigma)


def outlier_not_clipped_fixed(data: Any, rng: Generator) -> float:
    total = float(np.sum(np.clip(data, 0, 1)))
    sigma = 3.75
    return total + rng.normal(0, sigma)


@dataclass(frozen=True)
class Traced:
    """A function with a bug, its fix, and a pair of datasets on which the bug shows.

    Args:
        bug, fix: the functions.
        pair: D and D′.
        data: a description of the records.
        relation, epsilon, delta: of the claim of both.
    """

    bug: Callable[..., Any]
    fix: Callable[..., Any]
    pair: tuple[list[Any], list[Any]]
    data: str
    relation: str = R
    epsilon: float = EPSILON
    delta: float = 0.0

    @property
    def name(self) -> str:
        """The name of the function with the bug."""
        return self.bug.__name__

    @property
    def bug_line(self) -> int:
        """The line that the fix changes."""
        lines, first = inspect.getsourcelines(self.bug)
        (at,) = [number for number, text in enumerate(lines, first) if text.rstrip().endswith("# bug")]
        return at


UNIT, HOBBY = "floats(0, 1)", "sampled_from(['chess', 'judo', 'skiing'])"
TRACED = (
    Traced(share_of_smokers, share_of_smokers_fixed, ([0, 1], [0, 1, 1]), "integers(0, 1)", A),
    Traced(mean_clipped_late, mean_clipped_late_fixed, ([0.5] * 10, [0.5] * 9 + [50.0]), "floats(0, 100)"),
    Traced(hobbies_present, hobbies_present_fixed, (["chess", "judo"], ["chess", "judo", "skiing"]), HOBBY, A),
    Traced(mean_of_tens, mean_of_tens_fixed, ([0] * 10, [0] * 9 + [10]), "integers(0, 10)"),
    Traced(two_answers_one_noise, two_answers_one_noise_fixed, ([20, 40, 70], [20, 40, 70, 80]), "integers(0, 99)", A),
    Traced(noise_on_another_variable, noise_on_another_variable_fixed, ([0.5, 1.0], [0.5, 0.0]), UNIT),
    Traced(branch_before_the_noise, branch_before_the_noise_fixed, ([1.0] * 5, [1.0] * 4 + [0.0]), UNIT),
    Traced(early_return, early_return_fixed, ([0.5, 0.2], [0.5, -1.0]), "floats(-1, 1)"),
    Traced(scale_of_each_key, scale_of_each_key_fixed, (["judo"] * 2, ["judo"] * 3), HOBBY, A),
    Traced(seeded_report, seeded_report_fixed, ([0.5, 1.0], [0.5, 0.0]), UNIT),
    Traced(scale_of_the_range, scale_of_the_range_fixed, ([1, 2, 3, 10], [1, 2, 3, 4]), "integers(0, 10)"),
    Traced(
        outlier_not_clipped, outlier_not_clipped_fixed, ([0.5] * 5, [0.5] * 4 + [90.0]), "floats(0, 100)", delta=1e-5
    ),
)
