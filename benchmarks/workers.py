"""How much faster several worker processes sample one function.  Run: python benchmarks/workers.py [--write]

The learning phase of an audit without its learner: batches of both datasets, in order, with the workers started before.
`--write` puts the table into workers.md. Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numpy.random import SeedSequence

from dpaudit.evidence.sampling import batches
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget, Unit, function_target

ROUNDS = 40_000


def sleeps(data: Any, rng: Any) -> float:
    """50 ms of waiting."""
    time.sleep(0.05)
    return float(data[0] + rng.laplace(0, 1))


def computes(data: Any, rng: Any) -> float:
    """A few milliseconds of Python."""
    total = 0
    for i in range(ROUNDS):
        total += i * i
    return float(data[0] + rng.laplace(0, 1))


def adds(data: Any, rng: Any) -> float:
    """A microsecond."""
    return float(data[0] + rng.laplace(0, 1))


def units(samples: int) -> Iterator[Unit]:
    """Those of an audit of one pair."""
    for batch, size in enumerate(batches(samples)):
        for which in (0, 1):
            yield Unit((which,), size, SeedSequence([batch, which]))


def sampled(target: FunctionTarget, samples: int, jobs: int) -> tuple[float, str, int]:
    """Seconds, a digest of all outputs, and samples that were not needed."""
    runner, digest = Runner(jobs), hashlib.sha256()
    while jobs > 1 and not runner.are_ready():
        time.sleep(0.01)
    begun = time.perf_counter()
    for outputs in runner.run(target, units(samples), 2 * samples):
        digest.update(outputs.reals.tobytes())
    spent = time.perf_counter() - begun
    runner.close()
    return spent, digest.hexdigest()[:12], runner.unused


def main() -> None:
    lines = [
        "# Worker processes for one function",
        "",
        f"`python benchmarks/workers.py --write`; {os.cpu_count()} cores, {platform.machine()}, Python "
        f"{platform.python_version()}.",
        "Workers were started before. The digest is that of all outputs in their order.",
        "",
        "| a call | samples per dataset | jobs | seconds | faster by | digest |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    cases: tuple[tuple[Callable[..., Any], int, tuple[int, ...]], ...] = (
        (sleeps, 400, (1, 2, 8)), (computes, 3_000, (1, 2)), (adds, 100_000, (1, 2)),
    )
    for function, samples, several in cases:
        alone = 0.0
        for jobs in several:
            spent, digest, _ = sampled(function_target(function, function.__name__, "here"), samples, jobs)
            alone = alone or spent
            lines.append(
                f"| {function.__doc__} | {samples:,} | {jobs} | {spent:.2f} | {alone / spent:.2f} | {digest} |"
            )
            print(lines[-1], flush=True)
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
