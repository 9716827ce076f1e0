"""How often the sequential test errs where the claim holds with equality. Writes sequential.md; progress on stderr.

python benchmarks/sequential.py > benchmarks/sequential.md

The events are known here; `stopping.py` has whole audits, and when they stop.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpaudit.stats.eprocess import Counts, EProcess
from dpaudit.stats.power import Method, rejection_probability

Floats = NDArray[np.float64]

ALPHAS = (0.05, 0.001)
FIRST, GROWTH = 8, 1.2
PATHS, HORIZON = 400, 20_000
METHODS: tuple[Method, ...] = ("score", "clopper_pearson")


def process_path(
    epsilons: Floats, delta: float, left: Floats, right: Floats, *, both: bool, samples: int, seed: tuple[int, ...]
) -> EProcess:
    """The e-process after so many samples per dataset.

    Args:
        epsilons, delta: of the claim.
        left, right: probabilities of the first event, of the second, and of neither under D and D′.
        both: whether the second is tested too.
        samples: of each dataset.
        seed: of the samples.
    """
    rng, process = np.random.default_rng(seed), EProcess(epsilons, delta)
    seen, done = np.zeros((2, 3), dtype=np.int64), 0
    while done < samples:
        size = max(FIRST, math.ceil((GROWTH - 1) * done))
        hits = np.array([rng.multinomial(size, side) for side in (left, right)])
        (x, x2, _), (y, y2, _) = hits.tolist()
        (past_x, past_x2, _), (past_y, past_y2, _) = seen.tolist()
        process.update(
            Counts(x, size, y, size), past=Counts(past_x, done, past_y, done),
            other=Counts(y2, size, x2, size) if both else None,
            other_past=Counts(past_y2, done, past_x2, done) if both else None,
        )
        seen, done = seen + hits, done + size
    return process


def settings() -> Iterator[tuple[str, float, float, float, Floats, Floats]]:
    """(the second event, q, ε, δ, probabilities under D, under D′); the claim holds with equality for the first."""
    for delta, epsilon, q in itertools.product((0.0, 1e-5, 0.01), (0.1, 1.0, 5.0), (1e-5, 1e-3, 0.1, 0.5)):
        p = math.exp(epsilon) * q + delta
        if p + q <= 1:
            # as likely as the first, with the datasets in each other's place
            yield "a mirror image", q, epsilon, delta, np.array([p, q, 1 - p - q]), np.array([q, p, 1 - p - q])
    # both at the boundary, and nothing else
    for epsilon in (0.1, 1.0, 3.0):
        q = 1 / (1 + math.exp(epsilon))
        yield "the rest", q, epsilon, 0.0, np.array([1 - q, q, 0]), np.array([q, 1 - q, 0])


def size_table() -> None:
    """Share of paths that ever reject."""
    print("\n## Share of paths that ever reject a true claim\n")
    print(
        f"The claim holds with equality, p = e^ε q + δ; {PATHS:,} paths of {HORIZON:,} samples per dataset, tested\n"
        "after every batch. A share is marked if it is above α with a binomial p-value below 1e-6. The fixed tests:\n"
        "their rejection probability at 1,000 samples per dataset, computed (`power.rejection_probability`; "
        "approximate for\nthe score test).\n"
    )
    print(
        "| q | ε | δ | second event | one event .05 | both .05 | one .001 | both .001 | score .05 | split .05 "
        "| score .001 | split .001 |"
    )
    print("| --- |" + " --- |" * 11)
    for second, q, epsilon, delta, left, right in settings():
        print(f"q = {q:g}, ε = {epsilon:g}, δ = {delta:g}", file=sys.stderr, flush=True)
        peaks = np.array([
            [
                float(process_path(
                    np.array([epsilon]), delta, left, right, both=both, samples=HORIZON, seed=(round(1e6 * q), path)
                ).log_peaks[0])
                for path in range(PATHS)
            ]
            for both in (False, True)
        ])
        shares = [share(peaks[both] >= math.log(1 / alpha), alpha) for alpha in ALPHAS for both in (0, 1)]
        claim = {"epsilon": epsilon, "delta": delta}
        fixed = [
            f"{rejection_probability(float(left[0]), q, 1_000, 1_000, **claim, alpha=alpha, method=method):.4f}"
            for alpha in ALPHAS for method in METHODS
        ]
        print(f"| {q:.3g} | {epsilon:g} | {delta:g} | {second} | " + " | ".join([*shares, *fixed]) + " |", flush=True)


def coverage_table() -> None:
    """Share of paths on which the bound ever exceeds the truth."""
    paths = 200
    print("\n## Share of paths on which the bound ever exceeds the true ε\n")
    print(
        f"The bound is `epsilon_lower` on a grid of 41 levels up to 4, over all batches of {paths} paths of "
        f"{HORIZON:,} samples per\ndataset. p = e^ε q + δ at the true ε; 0.55, 2.05 and 0.05 lie between two levels of "
        "the grid. The second event is a mirror image.\n"
    )
    print("| q | true ε | δ | one event .05 | both .05 | both .001 | median bound .05: one | both |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    grid = np.linspace(0, 4, 41)
    for number, (q, epsilon, delta) in enumerate(
        [(0.2, 0.5, 0.0), (0.2, 0.55, 0.0), (0.01, 2.0, 0.0), (0.01, 2.05, 0.01), (1e-3, 3.0, 0.0), (0.45, 0.05, 0.0)]
    ):
        print(f"coverage q = {q}, ε = {epsilon}, δ = {delta}", file=sys.stderr, flush=True)
        p = math.exp(epsilon) * q + delta
        left, right = np.array([p, q, 1 - p - q]), np.array([q, p, 1 - p - q])
        bounds: dict[tuple[bool, float], list[float]] = {}
        for both, path in itertools.product((False, True), range(paths)):
            process = process_path(
                grid, delta, left, right, both=both, samples=HORIZON, seed=(1_000 + number, path)
            )
            for alpha in ALPHAS:
                bounds.setdefault((both, alpha), []).append(process.epsilon_lower(alpha))
        shares = [
            share(np.array(bounds[key]) > epsilon, key[1]) for key in ((False, 0.05), (True, 0.05), (True, 0.001))
        ]
        medians = [f"{np.median(bounds[both, 0.05]):.1f}" for both in (False, True)]
        print(f"| {q:g} | {epsilon:g} | {delta:g} | " + " | ".join([*shares, *medians]) + " |", flush=True)


def share(wrong: NDArray[np.bool_], alpha: float) -> str:
    number = int(wrong.sum())
    significant = stats.binomtest(number, wrong.size, alpha, alternative="greater").pvalue < 1e-6
    return f"{number / wrong.size:.4f}" + (" **above α**" if significant else "")


def main() -> None:
    print("# How often the sequential test errs\n")
    print("Written by `python benchmarks/sequential.py > benchmarks/sequential.md`, some minutes on one core.")
    print(
        f"Fixed seeds. A batch of {FIRST} samples per dataset, then each a fifth of all so far. One event: `EProcess` "
        "of an\nevent of probabilities p and q; both: also of a second event apart from it, in the other direction.\n"
        "[stopping.md](stopping.md) has whole audits."
    )
    size_table()
    coverage_table()


if __name__ == "__main__":
    main()
