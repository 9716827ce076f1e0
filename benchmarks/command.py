"""What a mechanism in another program costs beside its own time. Writes command.md.

python benchmarks/command.py > benchmarks/command.md

The program is `command_programs/laplace.c`, which measures its own time: from a request that it has read to the answer
that it writes. It adds up its outputs and its seconds in a file, all its processes together. What is left of the wall
time of the same calls, or of the whole audit, is what the command costs beside it.
"""

from __future__ import annotations

import os
import platform
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

import dpaudit
from dpaudit.subjects.command import end_commands

SOURCE = Path(__file__).parent / "command_programs" / "laplace.c"
PAIR = ([0, 1, 1], [0, 1, 0])
MOST = 50.0
"""Microseconds a sample beside the program's own, at most."""
ROUNDS = 3
RUNS = 50_000
"""Samples per dataset of an audit."""


def own(file: Path) -> tuple[int, float]:
    """Outputs and seconds of all processes of the program."""
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    return sum(int(made) for made, _ in rows), sum(float(seconds) for _, seconds in rows)


def audited(function: Callable[..., object]) -> tuple[int, float]:
    """Samples of an audit, of both datasets together, and its seconds."""
    begun = time.perf_counter()
    result = dpaudit.audit(function, 1.0, pair=PAIR, runs=RUNS, certify=True, seed=1)
    return result.audit.runs, time.perf_counter() - begun


def called(function: Any, size: int | None) -> tuple[int, float]:
    """Outputs of requests without an audit, and their seconds; of requests for one output, as an audit sends them."""
    rng, dataset = default_rng(0), list(PAIR[0])
    begun = time.perf_counter()
    if size is not None:
        for _ in range(20):
            function(dataset, rng, size)
        return 20 * size, time.perf_counter() - begun
    for _ in function.each(dataset, rng, RUNS):
        pass
    return RUNS, time.perf_counter() - begun


def vectorised(data: list[int], rng: Generator, size: int) -> np.ndarray:
    """The same mechanism in Python."""
    return sum(data) + rng.laplace(0, 1, size)


def single(data: list[int], rng: Generator) -> float:
    """The same, one output at a time."""
    return float(sum(data) + rng.laplace(0, 1))


def cpu() -> float:
    """Seconds of CPU of this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def least(measure: Callable[[Path], tuple[int, float, float, float]]) -> str:
    """The row of the round with the least time beside the program's own, and whether that is little enough."""
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            samples, seconds, inside, used = measure(Path(folder) / "own")
            parts = (seconds - inside, seconds, inside, used - inside)
            beside, whole, inside, used = (1e6 * part / samples for part in parts)
            rounds.append((beside, whole, inside, used, samples))
    beside, whole, inside, used, samples = min(rounds, key=lambda one: one[0])
    kept = "kept" if beside <= MOST else "MISSED"
    return f"{samples:,} | {whole:.2f} | {inside:.3f} | {beside:.2f} | {used:.2f} | {MOST:g} ({kept})"


def main() -> None:
    """Measure, and print the page."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("There is no C compiler (cc or gcc).")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "laplace"
        subprocess.run([compiler, "-O2", "-o", program, SOURCE, "-lm"], check=True)

        def row(
            persistent: str, call: Callable[[Callable[..., object]], tuple[int, float]]
        ) -> Callable[[Path], tuple[int, float, float, float]]:
            def measure(file: Path) -> tuple[int, float, float, float]:
                text = f"{shlex.quote(str(program))} 1 {shlex.quote(str(file))}"
                command = dpaudit.command(text, persistent=persistent)
                before = cpu()
                samples, seconds = call(command)
                # the program writes its own time when it ends
                end_commands()
                used = cpu() - before
                made, inside = own(file)
                # copies and other processes that the audit tests its assumptions with have made some more
                assert made >= samples, (made, samples)
                return samples, seconds, inside * samples / made, used

            return measure

        lines = [
            ("calls alone, `batch` of 10,000", row("batch", lambda f: called(f, 10_000))),
            ("calls alone, `batch` of 100", row("batch", lambda f: called(f, 100))),
            ("calls alone, `single`", row("single", lambda f: called(f, None))),
            ("whole audit, `batch`", row("batch", audited)),
            ("whole audit, `single`", row("single", audited)),
        ]
        table = [f"| {what} | {least(measure)} |" for what, measure in lines]
        beside = []
        for function in (vectorised, single):
            samples, seconds = min((audited(function) for _ in range(ROUNDS)), key=lambda one: one[1])
            beside.append(f"`{function.__name__}` {1e6 * seconds / samples:.2f} µs a sample")
    load = os.getloadavg()[0]
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    print(f"""# What a mechanism in another program costs

Written by `python benchmarks/command.py > benchmarks/command.md`: `command_programs/laplace.c`, a private sum in C that
answers requests (`--persistent`). Wall time in µs a sample on one core; the program measures its own time, in the same
calls, and what is left is the cost beside it: of a whole audit with everything that dpaudit does. The best of {ROUNDS}
rounds. The CPU is that of dpaudit and of the program, without its own time.
{platform.machine()}, {os.cpu_count()} processors with a load of {load:.0f}, so that wall time may
include waiting; {versions}.

| what | samples | all | the program's own | beside it | CPU beside it | at most |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(table)}

Whole audits of the same mechanism as a function in Python: {", ".join(beside)}.""")


if __name__ == "__main__":
    main()
