"""Cost of the statistics: seconds for a test, and samples for a rejection. Writes the tables of stats_cost.md.

python benchmarks/stats_cost.py > benchmarks/stats_cost.md
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from scipy import stats

from dpaudit.stats import clopper_pearson, score_test
from dpaudit.stats.power import information_limit, rejection_probability, runs_needed

ALPHA = 0.05
SIZES = (10**3, 10**4, 10**5, 10**6)


def seconds(call: Callable[[], object]) -> float:
    """The median of five timings, after one call that warms the caches."""
    call()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[2]


def milliseconds(call: Callable[[], object]) -> str:
    value = 1000 * seconds(call)
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def time_table() -> None:
    print("## Time of one call\n")
    print("Milliseconds, one core. x is the count for which T = 1.8 (p-value about .036) at the claim.\n")
    print("| q, claimed ε, δ | n = m | `p_value` | `rejects` | `epsilon_lower` | Clopper–Pearson bound |")
    print("| --- | --- | --- | --- | --- | --- |")
    for q, epsilon, delta in [(0.5, 0.1, 0.0), (0.01, 1.0, 0.0), (0.01, 1.0, 1e-3), (0.3, 0.0, 0.0)]:
        for n in SIZES:
            y, ratio = round(q * n), math.exp(epsilon)
            x = int(score_test.Region(n, n, ratio, delta, 1.8).least(y, y)[0])
            claim = {"epsilon": epsilon, "delta": delta}
            calls: list[Callable[[], object]] = [
                partial(score_test.p_value, x, n, y, n, **claim),
                partial(score_test.rejects, x, n, y, n, alpha=ALPHA, **claim),
                partial(score_test.epsilon_lower, x, n, y, n, delta=delta, alpha=ALPHA),
                partial(clopper_pearson.epsilon_lower, x, n, y, n, delta=delta, alpha=ALPHA),
            ]
            cells = " | ".join(f"{milliseconds(call)}" for call in calls)
            print(f"| {q}, {epsilon}, {delta:g} | {n:,} | {cells} |")


def laplace_events(epsilon: float) -> list[tuple[float, float]]:
    """(p, q) of half-lines {output > t}: Laplace noise of scale 1/epsilon around 1 and around 0."""
    law = stats.laplace(scale=1 / epsilon)
    return [(float(law.sf(t - 1)), float(law.sf(t))) for t in np.linspace(-1, 3, 801)]


def gaussian_events(sigma: float) -> list[tuple[float, float]]:
    return [
        (float(stats.norm.sf((t - 1) / sigma)), float(stats.norm.sf(t / sigma)))
        for t in np.linspace(-1, 12, 1301)
    ]


def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The least sigma of an (epsilon, delta) Gaussian mechanism (Balle and Wang, ICML 2018, Theorem 8)."""
    low, high = 0.1, 10.0
    for _ in range(100):
        sigma = (low + high) / 2
        a, b = 0.5 / sigma, epsilon * sigma
        needed = stats.norm.cdf(a - b) - math.exp(epsilon) * stats.norm.cdf(-a - b)
        low, high = (sigma, high) if needed > delta else (low, sigma)
    return high


Case = tuple[str, float, float, list[tuple[float, float]]]


def cases() -> list[Case]:
    sigma = gaussian_sigma(1.0, 1e-5) / 2
    return [
        ("Laplace ε = .2 claimed .1", 0.1, 0.0, laplace_events(0.2)),
        ("Laplace 2 claimed 1", 1.0, 0.0, laplace_events(2.0)),
        ("Gaussian with half the σ of (1, 1e-5)", 1.0, 1e-5, gaussian_events(sigma)),
        ("Laplace .11 claimed .1", 0.1, 0.0, laplace_events(0.11)),
    ]


def cost_table() -> None:
    print("\n## Samples for 80 % power\n")
    print(
        "α = .05, the threshold event that minimises n*. Pairs of samples; one tooth of the saw (see `runs_needed`).\n"
    )
    print("| case | p, q of the event | n* | exact score test | Clopper–Pearson split | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, epsilon, delta, events in cases():
        claim = {"epsilon": epsilon, "delta": delta, "alpha": ALPHA}
        limit, p, q = min((information_limit(p, q, **claim), p, q) for p, q in events)
        score = runs_needed(p, q, epsilon=epsilon, delta=delta, alpha=ALPHA)
        split = runs_needed(p, q, epsilon=epsilon, delta=delta, alpha=ALPHA, method="clopper_pearson")
        cells = f"{p:.4f}, {q:.4f} | {limit:,.0f} | {score:,} | {split:,} | {split / score:.2f}"
        print(f"| {name} | {cells} |")


def error_table() -> None:
    print("\n## Size and power by full enumeration\n")
    print(
        "Every outcome is decided by the test itself; size is the largest rejection probability at 801 points"
    )
    print("of the null boundary; power is at p, q. Predicted: `rejection_probability` of the score test.\n")
    print("| n = m | ε, δ, α | size, score | size, split | p, q | power, score | power, split | predicted |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for n, epsilon, delta, alpha, p, q in [
        (15, 0.0, 0.0, 0.05, 0.7, 0.3),
        (15, 0.5, 0.05, 0.1, 0.9, 0.2),
        (30, 0.0, 0.0, 0.05, 0.6, 0.3),
        (30, 0.5, 0.0, 0.05, 0.8, 0.2),
        (30, 0.5, 0.05, 0.01, 0.8, 0.1),
        (45, 1.0, 0.0, 0.05, 0.6, 0.1),
        (45, 0.1, 0.001, 0.001, 0.6, 0.1),
    ]:
        end = min(1.0, (1 - delta) / math.exp(epsilon))
        null = end * np.sin(np.linspace(0, math.pi / 2, 801)) ** 2
        laws = [outcomes(n, math.exp(epsilon) * place + delta, place) for place in null]
        truth = outcomes(n, p, q)
        sizes, powers = [], []
        methods: tuple[Literal["score", "split"], ...] = ("score", "split")
        for method in methods:
            table = np.array(
                [[decide(method, x, y, n, epsilon, delta, alpha) for y in range(n + 1)] for x in range(n + 1)]
            )
            sizes.append(max(law[table].sum() for law in laws))
            powers.append(truth[table].sum())
        predicted = rejection_probability(p, q, n, n, epsilon=epsilon, delta=delta, alpha=alpha)
        print(
            f"| {n} | {epsilon}, {delta:g}, {alpha} | {sizes[0]:.5f} | {sizes[1]:.5f} | {p}, {q} "
            f"| {powers[0]:.3f} | {powers[1]:.3f} | {predicted:.3f} |"
        )


def outcomes(n: int, p: float, q: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    counts = np.arange(n + 1)
    return np.outer(stats.binom.pmf(counts, n, min(1.0, p)), stats.binom.pmf(counts, n, q))


def decide(
    method: Literal["score", "split"], x: int, y: int, n: int, epsilon: float, delta: float, alpha: float
) -> bool:
    if method == "score":
        return score_test.rejects(x, n, y, n, epsilon=epsilon, delta=delta, alpha=alpha)
    return clopper_pearson.epsilon_lower(x, n, y, n, delta=delta, alpha=alpha) > epsilon


def main() -> None:
    print("# Cost of the statistics\n")
    print("Written by `python benchmarks/stats_cost.py > benchmarks/stats_cost.md`, on one core.\n")
    time_table()
    cost_table()
    error_table()


if __name__ == "__main__":
    main()
