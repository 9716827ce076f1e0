"""Noisy programs of the literature as plain functions, with the smallest ε that holds for each."""

from __future__ import annotations

from typing import Any

import numpy as np


def noisy_max(answers: Any, rng: Any) -> int:
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    return noisy.index(max(noisy))


def noisy_max_argmax(answers: Any, rng: Any) -> int:
    return int(np.argmax(np.array(answers) + rng.laplace(0, 2, len(answers))))


def noisy_max_exponential(answers: Any, rng: Any) -> int:
    return int(np.argmax(np.array(answers) + rng.exponential(2, len(answers))))


def noisy_max_gumbel(answers: Any, rng: Any) -> int:
    return int(np.argmax(np.array(answers) + rng.gumbel(0, 2, len(answers))))


def noisy_max_loop(answers: Any, rng: Any) -> int:
    best, where = None, 0
    for i, answer in enumerate(answers):
        noisy = answer + rng.laplace(0, 2)
        if best is None or noisy > best:
            best, where = noisy, i
    return where


def noisy_max_with_gap(answers: Any, rng: Any) -> tuple[int, float]:
    noisy = [answer + rng.laplace(0, 2) for answer in answers]
    i = noisy.index(max(noisy))
    return i, noisy[i] - max(noisy[:i] + noisy[i + 1:])


def noisy_max_geometric(answers: Any, rng: Any) -> int:
    p = 1 - np.exp(-0.5)
    noisy = [answer + rng.geometric(p) - rng.geometric(p) for answer in answers]
    return noisy.index(max(noisy))


def two_largest(answers: Any, rng: Any) -> list[int]:
    noisy = [answer + rng.laplace(0, 4) for answer in answers]
    return sorted(range(len(answers)), key=lambda i: -noisy[i])[:2]


def above_threshold(answers: Any, rng: Any, epsilon: float = 1.0, threshold: float = 3.0) -> list[bool]:
    noisy_threshold = threshold + rng.laplace(0, 2 / epsilon)
    out = []
    for answer in answers:
        if answer + rng.laplace(0, 4 / epsilon) >= noisy_threshold:
            out.append(True)
            break
        out.append(False)
    return out


def gap_svt(answers: Any, rng: Any, epsilon: float = 1.0, c: int = 1, threshold: float = 0.0) -> list[float]:
    rho = rng.laplace(0, 2 / epsilon)
    out, n = [], 0
    for answer in answers:
        noisy = answer + rng.laplace(0, 4 * c / epsilon)
        if noisy >= threshold + rho:
            out.append(noisy - threshold - rho)
            n += 1
        else:
            out.append(0.0)
        if n >= c:
            break
    return out


def adaptive_svt(answers: Any, rng: Any, epsilon: float = 1.0, threshold: float = 0.0, sigma: float = 5.0) -> Any:
    out = []
    cost, coarse, fine = epsilon / 2, epsilon / 4, epsilon / 4
    rho = rng.laplace(0, 2 / epsilon)
    for answer in answers:
        if cost > epsilon - fine + 1e-12:
            break
        noisy = answer + rng.laplace(0, 4 / coarse)
        if noisy - threshold - rho >= sigma:
            out.append(noisy - threshold - rho)
            cost += coarse / 2
        else:
            again = answer + rng.laplace(0, 2 / fine)
            if again - threshold - rho >= 0:
                out.append(again - threshold - rho)
                cost += fine
            else:
                out.append(0.0)
    return out


def numeric_sparse(answers: Any, rng: Any, epsilon: float = 1.0, c: int = 3, threshold: float = 0.0) -> list[Any]:
    epsilon_1, epsilon_2 = 8 * epsilon / 9, 2 * epsilon / 9
    out: list[Any] = []
    n = 0
    noisy_threshold = threshold + rng.laplace(0, 2 * c / epsilon_1)
    for answer in answers:
        if answer + rng.laplace(0, 4 * c / epsilon_1) >= noisy_threshold:
            out.append(answer + rng.laplace(0, 2 * c / epsilon_2))
            n += 1
            if n >= c:
                break
            noisy_threshold = threshold + rng.laplace(0, 2 * c / epsilon_1)
        else:
            out.append("below")
    return out


def partial_sum(answers: Any, rng: Any) -> float:
    return sum(answers) + rng.laplace(0, 1)


def smart_sum(answers: Any, rng: Any, block: int = 3) -> list[float]:
    out, blocks, latest, exact = [], 0.0, 0.0, 0.0
    for i, answer in enumerate(answers):
        if (i + 1) % block == 0:
            blocks += exact + answer + rng.laplace(0, 1)
            latest, exact = blocks, 0.0
        else:
            latest += answer + rng.laplace(0, 1)
            exact += answer
        out.append(latest)
    return out


def binary_tree(answers: Any, rng: Any) -> list[list[float]]:
    level, out = list(answers), []
    height = 1
    while 2 ** (height - 1) < len(answers):
        height += 1
    while True:
        out.append([total + rng.laplace(0, height) for total in level])
        if len(level) == 1:
            return out
        level = [level[i] + level[i + 1] for i in range(0, len(level), 2)]


def prefix_sums(answers: Any, rng: Any) -> list[float]:
    return list(np.cumsum(np.array(answers) + rng.laplace(0, 1, len(answers))))


def histogram(records: Any, rng: Any) -> Any:
    return np.bincount(np.array(records), minlength=3) + rng.laplace(0, 2, 3)


def histogram_of_present(records: Any, rng: Any) -> dict[Any, float]:
    counts: dict[Any, int] = {}
    for record in records:
        counts[record] = counts.get(record, 0) + 1
    return {value: count + rng.laplace(0, 2) for value, count in counts.items()}


def clipped_sum(records: Any, rng: Any) -> float:
    return np.clip(records, 0, 1).sum() + rng.laplace(0, 1)


def mean_then_clip(records: Any, rng: Any) -> float:
    return np.clip(records.mean(), 0, 1) + rng.laplace(0, 1 / len(records))


def secret_denominator(records: Any, rng: Any) -> float:
    return records.sum() / (1 + records[0]) + rng.laplace(0, 1)


def edge(records: Any, rng: Any) -> Any:
    return "zero" if records[0] <= 0 else records.sum() + rng.laplace(0, 1)
