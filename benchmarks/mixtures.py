"""What A_LearnHalf costs against n_pub and d.  Run: python benchmarks/mixtures.py [--write]

`--write` puts the table into mixtures.md. Times are of one run each, one core; the shares and ratios within a run are
what another machine should find again.
"""

from __future__ import annotations

import math
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.interpret import sample
from dpaudit.language import Multiset
from dpaudit_algorithms.mixtures.mixtures import LearnHalf

RUNS = 100_000
RECORDS = 200
MOST = 4_000_000_000
"""Larger classes are counted, and neither tallied nor drawn from."""
SETTINGS = tuple((d, n_pub) for d in (1, 2, 3) for n_pub in (10, 15, 20, 40, 60, 100))


def dataset(dimension: int, n_pub: int) -> Multiset:
    """RECORDS points of a grid of 20,001^d: n_pub public ones of label 0, private ones of label 1."""
    rng = np.random.default_rng([dimension, n_pub])
    points = rng.integers(-10_000, 10_001, (RECORDS, dimension)).tolist()
    return Multiset.of((tuple(x), int(i >= n_pub), "priv" if i >= n_pub else "pub") for i, x in enumerate(points))


def timed(work: Callable[[], Any]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def size_of(dimension: int, halfspaces: int) -> int:
    """|𝒢| of so many halfspaces, with the hypothesis that labels everything 1."""
    return sum(math.comb(halfspaces, j) for j in range(dimension + 1))


def row(dimension: int, n_pub: int, unit: float | None) -> tuple[str, float | None]:
    """A line of the table, and its total; `unit`: that of the line which ratios are to."""
    S, learner = dataset(dimension, n_pub), LearnHalf(1.0, dimension)
    levels = learner.levels(S)
    geometry = timed(lambda: levels.family)
    halfspaces = len(levels.family.halfspaces)
    size = size_of(dimension, halfspaces)
    start = f"| {dimension} | {n_pub} | {halfspaces:,} | {size:.3g} | "
    if size > MOST:
        return f"{start}{geometry:.2g} | – | – | – | – | – |", None
    rows = timed(lambda: levels._rows)
    tally = timed(lambda: levels.tally)
    draws = timed(lambda: sample(learner, S, RUNS, seed=1))
    total = geometry + rows + tally + draws
    share = max((geometry, "geometry"), (rows, "memberships"), (tally, "errors of all"), (draws, "draws"))
    ratio = f"{total / unit:.1f}" if unit else "1"
    cells = f"{geometry:.2g} | {rows:.2g} | {tally:.2g} | {draws:.2g} | {share[1]} {share[0] / total:.0%} | {ratio} |"
    return start + cells, total


def table() -> str:
    """The table as Markdown."""
    lines = [
        "| d | n_pub | halfspaces | hypotheses | geometry, s | memberships, s | errors of all, s | "
        f"{RUNS:,} draws, s | most of it | total, to the first of its d |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |",
    ]
    units: dict[int, float | None] = {}
    for dimension, n_pub in SETTINGS:
        line, total = row(dimension, n_pub, units.get(dimension))
        units.setdefault(dimension, total)
        lines.append(line)
        print(line, file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it."""
    started = time.perf_counter()
    found = table()
    text = (
        "# A_LearnHalf: cost against n_pub and d\n\n"
        "`python benchmarks/mixtures.py --write` made this table "
        f"(Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one core, "
        f"{time.perf_counter() - started:.0f} s).\n"
        f"n = {RECORDS} records at random points, ε = 1; one dataset, its class and {RUNS:,} draws.\n\n"
        f"{found}\n\n"
        "Below 10 ms the shares are noise. Geometry is exact arithmetic with fractions, once for every public\n"
        "part. Memberships are one product of whole numbers. The errors of all intersections of two are products\n"
        "of 0/1 matrices, row by row; of three, one such product for each halfspace, and counting its entries. A\n"
        "draw chooses a block (all hypotheses with the same largest halfspace) and a number of errors, then\n"
        "computes that block again. Where d = 3 the class has n_pub^9 members but for a constant: a few dozen\n"
        "public points are too many for a sampler that looks at each.\n"
    )
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
