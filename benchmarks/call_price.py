"""What a sample of a function costs beside the function: microseconds a call. Writes call_price.md.

python benchmarks/call_price.py > benchmarks/call_price.md

A function is called in a bare loop with one generator, and as dpaudit draws samples: fresh records, a random stream for
every ten calls, failures as outcomes, outputs counted. Then all of `dpaudit.audit` with a million samples per dataset,
of which the statistics are a part. Both take turns; each figure is the least of several, in CPU of one process.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

import dpaudit
from dpaudit.subjects.target import function_target

ROUNDS = 5
CALLS = 200_000
RUNS = 1_000_000
DATASETS = ([0, 1, 1], [0, 1, 0])


def noisy_count(data: list[int], rng: Generator) -> float:
    return sum(data) + rng.laplace(0, 2)


def noisy_mean(data: list[int], rng: Generator) -> Any:
    return np.mean(data) + rng.laplace(0, 2 / len(data))


def response(data: list[int], rng: Generator) -> int:
    return int(rng.random() < (0.6 if data[-1] else 0.4))


def histogram(data: list[int], rng: Generator) -> tuple[float, ...]:
    return tuple(data.count(value) + rng.laplace(0, 4) for value in (0, 1))


def answers(data: list[int], rng: Generator) -> Any:
    return np.bincount(data, minlength=2) + rng.laplace(0, 4, 2)


FUNCTIONS: tuple[Callable[..., Any], ...] = (noisy_count, noisy_mean, response, histogram, answers)


def bare(function: Callable[..., Any], calls: int) -> float:
    """Seconds of a loop."""
    rng, records = default_rng(0), list(DATASETS[0])
    begun = time.process_time()
    for _ in range(calls):
        function(records, rng)
    return time.process_time() - begun


def sampled(function: Callable[..., Any], calls: int) -> float:
    """Seconds of as many samples."""
    target = function_target(function, function.__name__, "benchmark")
    begun = time.process_time()
    target.runs(DATASETS[0], calls, SeedSequence(0))
    return time.process_time() - begun


def audited(function: Callable[..., Any]) -> float:
    """Seconds of an audit that does not refute."""
    begun = time.process_time()
    dpaudit.audit(function, epsilon=1.0, pair=DATASETS, runs=RUNS, jobs=1)
    return time.process_time() - begun


def main() -> None:
    """Print the table."""
    rows = []
    for function in FUNCTIONS:
        sampled(function, 1_000)
        rounds = [(bare(function, CALLS), sampled(function, CALLS)) for _ in range(ROUNDS)]
        loop, ours = (min(each) * 1e6 / CALLS for each in zip(*rounds, strict=True))
        whole = audited(function) * 1e6 / (2 * RUNS)
        cells = (loop, ours, ours - loop, whole, whole / loop)
        rows.append(f"| `{function.__name__}` | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    print(
        "# What a sample of a function costs\n\n"
        "Written by `python benchmarks/call_price.py > benchmarks/call_price.md`. Microseconds of CPU a call, of\n"
        "functions that are called once for each sample, on [0, 1, 1]:\n"
        f"the least of {ROUNDS} rounds of {CALLS:,} calls, in a bare loop and as samples; and of an audit of a claim\n"
        f"that is not refuted with {RUNS:,} samples per dataset, all of it: its learning of events too. Python\n"
        f"{platform.python_version()}, numpy {np.__version__}, {platform.machine()}.\n\n"
        "| function | alone | as a sample | more | in an audit | in an audit / alone |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    print("\n".join(rows))


if __name__ == "__main__":
    main()
