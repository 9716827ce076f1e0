"""Recorded outputs: bounds on scores, error rates at the boundary of a claim, and what broken assumptions do.

python benchmarks/recorded.py [DATA SETS] > benchmarks/recorded.md

Progress on stderr; half an hour on one core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from statistics import median
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.stats import clopper_pearson, power, score_test
from dpaudit.subjects.recorded import Arrival, Followed, Recorded

DATA_SETS = 2_000
BROKEN = 200
FOLLOWED = 400
ALPHA = 0.05
EPSILON = 1.0
SMALL = 100
Both = tuple[Any, Any]


def response(rng: Generator, n: int) -> Both:
    """Randomised response at ε = 1: every event meets the claim with equality or is below it."""
    p = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    return (rng.random(n) < p).astype(int), (rng.random(n) < 1 - p).astype(int)


def laplace(rng: Generator, n: int) -> Both:
    """Laplace noise at ε = 1: every threshold beyond the means meets the claim with equality."""
    return rng.laplace(1, 1 / EPSILON, n), rng.laplace(0, 1 / EPSILON, n)


def resampled(rng: Generator, n: int) -> Both:
    """Ten times as many outputs of randomised response, drawn from n stored ones."""
    left, right = response(rng, n)
    return rng.choice(left, 10 * n), rng.choice(right, 10 * n)


def resampled_laplace(rng: Generator, n: int) -> Both:
    """The same of Laplace noise: real values repeat."""
    left, right = laplace(rng, n)
    return rng.choice(left, 10 * n), rng.choice(right, 10 * n)


def opposed(rng: Generator, n: int) -> Both:
    """Pairs in which D and D′ share the random number, in opposite directions."""
    p, shared = math.exp(EPSILON) / (1 + math.exp(EPSILON)), rng.random(n)
    return (shared < p).astype(int), (shared > p).astype(int)


def blocks(rng: Generator, n: int) -> Both:
    """Ten copies of each of n outputs, as ten statistics of one training run would be."""
    left, right = response(rng, n)
    return np.repeat(left, 10), np.repeat(right, 10)


def refuted(make: Callable[[Generator, int], Both], n: int, data_sets: int, **options: Any) -> tuple[int, int]:
    """How often the claim ε = 1 was refuted, and how often there was no bound because independence is contradicted."""
    fails = contradicted = 0
    # what a PASS requires is no matter here, and the same counts come again and again
    options["min_power"] = math.inf
    for seed in range(data_sets):
        left, right = make(default_rng([seed, n]), n)
        audit = dpaudit.audit_samples(left, right, EPSILON, alpha=ALPHA, **options).audit
        fails += audit.verdict is Verdict.FAIL
        contradicted += audit.reason_code == "assumption_violated"
        if seed % 100 == 99:
            print(f"{make.__name__} {', '.join(options)}: {seed + 1} of {data_sets}, {fails} refuted", file=sys.stderr)
    return fails, contradicted


def followed(make: Callable[[Generator, int], Both], data_sets: int) -> int:
    """How often the claim ε = 1 was refuted by 30 files, of up to 19 outputs on D and 11 on D′, at any time."""
    fails = 0
    for seed in range(data_sets):
        rng = default_rng([seed, 30])
        files = []
        for name in map(str, range(30)):
            n, m = int(rng.integers(1, 20)), int(rng.integers(1, 12))
            left, right = make(rng, max(n, m))
            files.append(Arrival(left[:n], right[:m], name, name))
        recorded = Recorded([], [], stream=Followed(iter(files), idle=0.0))
        request = Request(targets=("files",), recorded=recorded, epsilon=EPSILON, alpha=ALPHA, seed=seed)
        fails += orchestrator.run(request).audits[0].verdict is Verdict.FAIL
        if seed % 100 == 99:
            print(f"{make.__name__} in files: {seed + 1} of {data_sets}, {fails} refuted", file=sys.stderr)
    return fails


def remember() -> None:
    """Keep what the slow functions of counts give."""
    for module, name in ((score_test, "epsilon_lower"), (score_test, "p_value"), (power, "detectable_epsilon")):
        setattr(module, name, cache(getattr(module, name)))


def main() -> None:
    """Measure, and write the tables."""
    remember()
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    print("# Recorded outputs\n")
    print("`python benchmarks/recorded.py > benchmarks/recorded.md`\n")
    print("## Lower confidence bounds on ε\n")
    print("Scores N(μ, 1) on D and N(0, 1) on D′; no claim, δ = 0, α = 0.05; 20 data sets.\n")
    print("| μ | scores | median | least | largest |\n|--:|--:|--:|--:|--:|")
    for mean in (1, 2, 4):
        for n in (1_000, 10_000):
            found = []
            for seed in range(20):
                rng = default_rng([seed, mean, n])
                result = dpaudit.audit_samples(rng.normal(mean, 1, n), rng.normal(0, 1, n), alpha=ALPHA)
                found.append(result.epsilon_lower or 0.0)
            print(f"| {mean} | {n:,} + {n:,} | {median(found):.2f} | {min(found):.2f} | {max(found):.2f} |", flush=True)
    print("\n## Error rate at the boundary\n")
    print(f"ε = 1 is claimed and true, α = 0.05, {SMALL} + {SMALL} outputs, seed 0 of the audit.\n")
    print("| outputs | data sets | refuted | share | 99 % interval |\n|---|--:|--:|--:|--:|")
    for name, make in (("randomised response", response), ("Laplace", laplace)):
        fails, _ = refuted(make, SMALL, data_sets)
        low, high = clopper_pearson.interval(fails, data_sets, alpha=0.01)
        share = f"{fails / data_sets:.4f}"
        print(f"| {name} | {data_sets:,} | {fails} | {share} | {low:.4f} to {high:.4f} |", flush=True)
    for name, make in (("randomised response", response), ("Laplace", laplace)):
        fails = followed(make, FOLLOWED)
        low, high = clopper_pearson.interval(fails, FOLLOWED, alpha=0.01)
        share = f"{fails / FOLLOWED:.4f}"
        print(f"| {name}, files as they come | {FOLLOWED} | {fails} | {share} | {low:.4f} to {high:.4f} |", flush=True)
    print("\n## Broken assumptions\n")
    print(
        f"The same claim, which is true; {BROKEN} data sets. The outputs are made from {SMALL} independent ones on "
        "each dataset; “no bound” is INCONCLUSIVE because the data contradict independence.\n"
    )
    print("| outputs | declared | refuted | no bound |\n|---|---|--:|--:|")
    labels = np.repeat(np.arange(SMALL), 10)
    cases: list[tuple[str, str, Callable[[Generator, int], Both], dict[str, Any]]] = [
        ("real values, drawn ten times from a store", "nothing", resampled_laplace, {}),
        ("bits, drawn ten times from a store", "nothing", resampled, {}),
        ("bits, ten copies of each, one after another", "nothing", blocks, {}),
        ("bits, ten copies of each, one after another", "blocks", blocks, {"blocks": (labels, labels + SMALL)}),
        ("bits, opposed in pairs", "nothing", opposed, {}),
        ("bits, opposed in pairs", "paired", opposed, {"paired": True}),
    ]
    for name, declared, make, options in cases:
        fails, none = refuted(make, SMALL, BROKEN, **options)
        print(f"| {name} | {declared} | {fails} | {none} |", flush=True)


if __name__ == "__main__":
    main()
