"""What it costs to enclose the privacy profile of composed noise.  Run: python benchmarks/density.py [--write]

One process. `--write` puts the table into density.md. Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from dpaudit.stats.noise_profile import Moves, NoiseProfile

DELTA = 1e-5
TIMES = (1, 2, 5, 20, 100, 500)


def rows() -> Iterator[tuple[str, int, Moves]]:
    """Kind of noise, draws, how far they move."""
    for times in TIMES:
        yield "Laplace, scale 1", times, Moves(laplace=(Fraction(1),) * times)
    for times in TIMES:
        yield "Laplace, scale 10", times, Moves(laplace=(Fraction(1, 10),) * times)
    for times in (2, 5, 20):
        uneven = tuple(Fraction(0.1 + 0.05 * i) for i in range(times))
        yield "Laplace, scales 1/(0.1 + 0.05i)", times, Moves(laplace=uneven)
    for times in (1, 20, 500):
        yield "Gaussian, σ = 2", times, Moves(gaussian=(Fraction(1, 2),) * times)
    for times in (1, 20, 500):
        yield "geometric, scale 2", times, Moves(geometric=((1, Fraction(2)),) * times)
    for times in (1, 5, 20):
        mixed = Moves((Fraction(1, 2),) * times, (Fraction(1, 2),) * times, ((1, Fraction(2)),) * times)
        yield "one each: Laplace, Gaussian, geometric", 3 * times, mixed


def main() -> None:
    lines = [
        "# Cost of the profile of composed noise",
        "",
        f"`python benchmarks/density.py --write`; one process, {platform.machine()}, Python "
        f"{platform.python_version()}. Every draw moves by 1. Enclosed are ε at δ = {DELTA:g} and δ at half of that ε;",
        "seconds for the two together, and the widths of the enclosures, that of δ relative.",
        "",
        "| noise | draws | ε | width of ε | width of δ | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind, times, moves in rows():
        begun = time.perf_counter()
        profile = NoiseProfile(moves)
        epsilon = profile.epsilon(DELTA)
        delta = profile.delta(epsilon.low / 2)
        spent = time.perf_counter() - begun
        lines.append(
            f"| {kind} | {times} | {epsilon.low:.6g} | {epsilon.high - epsilon.low:.1g} | "
            f"{(delta.high - delta.low) / delta.high:.1g} | {spent:.2f} |"
        )
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
