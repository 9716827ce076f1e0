"""What the qualities of A_HighH cost in three dimensions, and how many labellings its grid of angles misses.

`python benchmarks/half_spaces_3d.py --write` writes benchmarks/half_spaces_3d.md. Times are the least of three, on one
core: the sides of a new point for all directions of the grid (doubles, and exact numbers where a double is near 0),
Q(S, ·) of 20 points whose sides are known, a run of A_HighH with the learner of its audits.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.interpret import sample
from dpaudit.language import Multiset
from dpaudit_algorithms.half_spaces.angles import AngleGrid, _sides
from dpaudit_algorithms.half_spaces.high_dim_data import agreements, coordinate_quality
from dpaudit_audits.half_spaces.high_dim_half_spaces import halfspaces

RUNS = 100
TITLE = (
    "| k | angles | directions | cells | with a direction | sides of a point, ms | of them exact | Q of 20, ms | "
    "a run, ms |"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--most", type=int, default=4, help="largest k")
    options = parser.parse_args()
    lines = [TITLE, "| ---: " * 9 + "|", *(_row(k) for k in range(1, options.most + 1))]
    text = "\n".join(
        (
            "# Half-spaces in three dimensions",
            "",
            f"`python benchmarks/half_spaces_3d.py --write` made this table (Python {platform.python_version()}, numpy",
            f"{np.__version__}, {platform.machine()}, one core; the least of 3 times).",
            "",
            "Points are those of {−k, …, k}³, γ is that of Lemma 11. The planes x⊥ cut space into cells: in one cell",
            "all half-spaces label all points alike. The grid has (⌊2π/γ⌋ + 1)² directions.",
            "",
            *lines,
            "",
        )
    )
    if options.write:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def _row(k: int) -> str:
    grid = AngleGrid.for_grid(k)
    points = _planes(k)
    some = [tuple(x) for x in points[np.linspace(0, len(points) - 1, min(20, len(points))).astype(int)].tolist()]
    near_zero = []
    for x in some:
        n = np.array([np.cos(grid.angles)[:, None] + 0 * grid.angles, *_rest(grid)])
        near_zero.append(int((np.abs(np.tensordot(np.array(x), n, 1)) <= 1e-9).sum()))
    S = Multiset.of((x, 1) for x in some)

    def sides() -> None:
        _sides.cache_clear()
        for x in some:
            grid.sides(x)

    def quality() -> None:
        agreements.cache_clear()
        coordinate_quality.cache_clear()
        coordinate_quality(grid.sine, 3, S)

    mechanism = halfspaces(grid.sine, grid.size, cap=None)
    each = _least(sides) / len(some)
    q, run = _least(quality), _least(lambda: sample(mechanism, S, RUNS, seed=1)) / RUNS
    every = np.stack([grid.sides(tuple(x)).ravel() for x in points.tolist()], axis=1)
    signs = np.unique(every, axis=0)
    numbers: tuple[Any, ...] = (
        k,
        f"{grid.size:,}",
        f"{grid.size**2:,}",
        f"{_cells(points):,}",
        f"{int((signs != 0).all(axis=1).sum()):,}",
        f"{1e3 * each:.2f}",
        f"{np.mean(near_zero):.0f}",
        f"{1e3 * q:.2f}",
        f"{1e3 * run:.2f}",
    )
    return "| " + " | ".join(map(str, numbers)) + " |"


def _rest(grid: AngleGrid) -> tuple[Any, Any]:
    sine = np.sin(grid.angles)
    return np.multiply.outer(sine, np.cos(grid.angles)), np.multiply.outer(sine, sine)


def _planes(k: int) -> Any:
    """One point for every plane."""
    return np.array([x for x in product(range(-k, k + 1), repeat=3) if x > (0, 0, 0) and math.gcd(*x) == 1])


def _cells(points: Any) -> int:
    """2 + 2·Σ (planes through a line − 1), over the lines in which planes meet."""
    first, second = np.triu_indices(len(points), 1)
    lines = np.cross(points[first], points[second])
    lines //= np.gcd.reduce(lines, axis=1)[:, None]
    lead = np.where(lines[:, 0] != 0, lines[:, 0], np.where(lines[:, 1] != 0, lines[:, 1], lines[:, 2]))
    lines = np.unique(lines * np.sign(lead)[:, None], axis=0)
    return 2 + 2 * sum(int(((part @ points.T == 0).sum(axis=1) - 1).sum()) for part in np.array_split(lines, 50))


def _least(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
