"""What fine grids of angles cost, and what A_SimpleH loses.  Run: python benchmarks/half_spaces.py [--write]

`--write` puts the tables into half_spaces.md. Losses are exact; seconds are of one core.
"""

from __future__ import annotations

import math
import platform
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np

from dpaudit.interpret import align, law, sample
from dpaudit.language import Multiset
from dpaudit_algorithms.half_spaces.angles import AngleGrid
from dpaudit_algorithms.half_spaces.half_spaces import Angle, MakeData, qualities
from dpaudit_algorithms.half_spaces.simple_half_spaces import ASimpleHCorrected
from dpaudit_audits.half_spaces.half_spaces import UNIT
from dpaudit_audits.half_spaces.simple_half_spaces import READINGS, enough, large, learned, of_grid

GRIDS = (1, 3, 5, 10, 20)
LISTED_LAWS = 200
"""Angles up to which the exact distribution is timed."""
EPSILONS = (0.1, 0.5, 1.0, 2.0)


def seconds(work: Callable[[], Any]) -> float:
    """Of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def distinct(k: int, n: int) -> Multiset:
    """n examples of {−k, …, k}² (fewer where there are not so many), labelled by x + y ≥ 0."""
    points = [x for x in product(range(-k, k + 1), repeat=2) if any(x)][:n]
    return Multiset.of([(x, 1 if sum(x) >= 0 else -1) for x in points])


def costs() -> list[str]:
    """Seconds by grid."""
    rows = [
        "| k | angles | γ | q(S, ·), 200 examples | per example | counts of MakeData | one run of A_SimpleH | exact "
        "distribution, "
        "one copy of each angle | one run, corrected |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    return [*rows, *map(_row, GRIDS)]


def _row(k: int) -> str:
    sine, runs, S = of_grid(k), 100, distinct(k, 200)
    size, C, data = AngleGrid(sine).size, enough(sine), large(200).right
    corrected = ASimpleHCorrected(1.0, 1e-6, k, 200)
    q = seconds(lambda: qualities(sine, S))
    counts = seconds(lambda: MakeData(1.0, sine).counts(S))
    run = seconds(lambda: sample(learned(sine, C), data, runs, seed=1)) / runs
    other = seconds(lambda: sample(corrected, data, runs, seed=1)) / runs
    exact = "–"
    if size <= LISTED_LAWS:
        exact = f"{seconds(lambda: law(learned(sine, min(C, size // 2), cap=1), data)):.3g} s"
    gamma = math.degrees(AngleGrid(sine).gamma)
    return (
        f"| {k} | {size:,} | {gamma:.3g}° | {1e3 * q:.3g} ms | {1e3 * q / len(S.items):.2g} ms | "
        f"{1e3 * counts:.3g} ms | "
        f"{1e3 * run:.3g} ms | {exact} | {1e3 * other:.3g} ms |"
    )


def losses() -> list[str]:
    """What nothing against ((0, −1), −1) loses, by how many elements are kept: ε at δ = 0, and δ at the claimed ε."""
    pair = READINGS[0][2][0]
    rows = ["| C | " + " | ".join(f"ε at δ = 0, ε = {e:g} | δ at ε = {e:g}" for e in EPSILONS) + " |"]
    rows.append("| ---: |" + " ---: | ---: |" * len(EPSILONS))
    for C in range(1, 14):
        cells = [_loss(learned(UNIT, C, e, cap=1), pair, e) for e in EPSILONS]
        rows.append(f"| {C} | " + " | ".join(f"{worst:.4g} | {delta:.4g}" for worst, delta in cells) + " |")
    return rows


def readings() -> list[str]:
    """The pairs of the audits, thirteen angles of one copy, C = 9, ε = 1."""
    rows = [
        "| φ* | turned back | pair | ε at δ = 0 | δ at ε = 1 | with ε/2 for both parts |",
        "| --- | --- | --- | ---: | ---: | --- |",
    ]
    for ties, turned_back, pairs in READINGS:
        for pair in pairs:
            found = [
                _loss(learned(UNIT, 9, budget=budget, cap=1, ties=ties, turned_back=turned_back), pair, 1.0)
                for budget in ("printed", "halves")
            ]
            rows.append(
                f"| {ties} | {'yes' if turned_back else 'no'} | {pair.left!r} → {pair.right!r} | {found[0][0]:.4f} | "
                f"{found[0][1]:.4f} | {found[1][0]:.4f}, {found[1][1]:.4f} |"
            )
    return rows


def sensitivities() -> list[str]:
    """The most angles at which one example counts."""
    rows = [
        "| φ(x) | distance | γ of Lemma 11, k = 1, 2, 3, 5, 10, 20 | γ = 30°, points up to 5 |",
        "| --- | --- | ---: | ---: |",
    ]
    for angle, wrap in product(get_args(Angle), (False, True)):
        found = {MakeData(1.0, Fraction(1, 2 * k * k), angle, wrap).sensitivity_on(k) for k in (1, 2, 3, 5, 10, 20)}
        coarse = MakeData(1.0, UNIT, angle, wrap).sensitivity_on(5)
        shown = ", ".join(map(str, sorted(found)))
        rows.append(f"| {angle} | {'on the circle' if wrap else 'of numbers'} | {shown} | {coarse} |")
    return rows


def _loss(mechanism: Any, pair: Any, epsilon: float) -> tuple[float, float]:
    _, p, q = align(law(mechanism, pair.left), law(mechanism, pair.right))
    grown = math.exp(epsilon)
    delta = max(np.maximum(p - grown * q, 0).sum(), np.maximum(q - grown * p, 0).sum())
    return float(np.abs(np.log(p / q)).max()), float(delta)


def page() -> str:
    """The tables."""
    start = time.perf_counter()
    parts = {
        "## Seconds": [
            "Per grid; 200 examples. Of a run, most is what the interpreter compares and counts (the copies of all",
            "angles are a draw, and part of the data of an applied mechanism), and the learner's scores. q(S, ·) is",
            "computed once per dataset, one vector operation per different example; exact numbers are asked for only",
            "within 10⁻⁹ of a border.",
            "",
            *costs(),
        ],
        "## Number of angles at which an example counts": sensitivities(),
        "## Exact ε of A_SimpleH, by the number of elements that it keeps (k = 1, no noise in MakeData)": losses(),
        "## Its exact ε in every reading (k = 1, C = 9 of 13, ε = 1)": readings(),
    }
    body = "\n\n".join(f"{title}\n\n" + "\n".join(rows) for title, rows in parts.items())
    spent = time.perf_counter() - start
    made = f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one core, {spent:.0f} s"
    head = f"# Half-spaces\n\n`python benchmarks/half_spaces.py --write` made these tables ({made})."
    return f"{head}\nThree dimensions: half_spaces_3d.md.\n\n{body}\n"


def main() -> None:
    """Print the tables, or write them."""
    text = page()
    if "--write" not in sys.argv[1:]:
        print(text)
        return
    Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
