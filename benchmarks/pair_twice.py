"""What pairing twice costs, in units of the inner ε.  Run: python benchmarks/pair_twice.py [--write]

`--write` puts the tables into pair_twice.md. The first two are exact: the distribution of the elements of depth
t, and the worst of all ε-DP mechanisms on it by linear programming. The third is sampled, with bounds at 99.9 %.
"""

from __future__ import annotations

import math
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from dpaudit.interpret import LawCache, law, sample
from dpaudit.language import REPLACE_ONE, Claim, Mechanism, Multiset
from dpaudit.stats.clopper_pearson import lower, upper
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.interior_points.pair_twice import EVERY_LEVEL, ONCE, PairTwice
from dpaudit_audits.lower_bounds.thresholds_reductions import Marked

DOMAIN = (0, 1, 2, 4)
EPSILONS = (0.25, 1.0, 4.0)
SETTINGS = ((1, ONCE), (2, ONCE), (3, ONCE), (2, EVERY_LEVEL), (3, EVERY_LEVEL))
RUNS = 20_000


@dataclass(frozen=True)
class Shown(Mechanism):
    """Not private: shows the elements of the last depth. Its claim is there to be given to `PairTwice`."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Any:
        return Multiset.of(dataset).items


def elements(levels: int, shuffle: str, S: Multiset, cache: LawCache) -> dict[Multiset, float]:
    """The distribution of the multiset of depth t."""
    found = law(PairTwice(Shown(), 8, levels, shuffle), S, cache=cache).as_dict()
    return {Multiset(items): p for items, p in found.items()}  # type: ignore[arg-type]


def worst_ratio(p: dict[Multiset, float], q: dict[Multiset, float], epsilon: float) -> float:
    """ln of the largest E_p[f]/E_q[f] with f(M) ≤ e^{ε·d(M, M′)}·f(M′): what an ε-DP mechanism can tell apart.

    Every such f, scaled down, is the probability of an event of some ε-DP mechanism; d is the replace-one distance.
    """
    points = list({**p, **q})
    rows, k = [], len(points)
    for i in range(k):
        for j in range(k):
            if i != j:
                row = np.zeros(k)
                row[i], row[j] = 1.0, -math.exp(epsilon * (REPLACE_ONE.distance(points[i], points[j]) or 0))
                rows.append(row)
    if not rows:
        return 0.0
    gain = np.array([p.get(M, 0.0) for M in points])
    cost = np.array([[q.get(M, 0.0) for M in points]])
    solved = linprog(-gain, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=cost, b_eq=[1.0], method="highs")
    return math.log(-float(solved.fun or 0.0))


def exhaustive(levels: int, shuffle: str, n: int) -> dict[float, float]:
    """The worst over all pairs of n records of DOMAIN, in units of the inner ε."""
    cache, laws = LawCache(), dict[Multiset, dict[Multiset, float]]()
    for S in REPLACE_ONE.scope(DOMAIN, n, ordered=False):
        laws[Multiset.of(S)] = elements(levels, shuffle, Multiset.of(S), cache)
    worst = dict.fromkeys(EPSILONS, 0.0)
    for S, p in laws.items():
        for other in REPLACE_ONE.neighbours(S, DOMAIN):
            for epsilon in EPSILONS:
                worst[epsilon] = max(worst[epsilon], worst_ratio(p, laws[Multiset.of(other)], epsilon) / epsilon)
    return worst


def beside_equal(levels: int, shuffle: str, n: int, epsilon: float) -> float:
    """n records 0 against n − 1 and a 4, with a mechanism that counts the lengths 0, in units of its ε."""
    cache = LawCache()
    sides = ({0: n}, {0: n - 1, 4: 1})
    means = []
    for S in map(Multiset.counted, sides):
        found = elements(levels, shuffle, S, cache)
        means.append(math.fsum(p * math.exp(epsilon * dict(M.items).get(0, 0)) for M, p in found.items()))
    return math.log(means[1] / means[0]) / epsilon


def certified(levels: int, shuffle: str, n: int, epsilon: float) -> tuple[float, float]:
    """The same sampled: a lower and an upper bound on ln(p/q)/ε, each at 99.9 %."""
    reach = 2**levels
    start = 0.4 * math.exp(-epsilon * reach)
    mechanism = PairTwice(Marked(GroupPrivacy(epsilon, 0.0, start), (0,), 1), 8, levels, shuffle)
    hits = sample(mechanism, Multiset.counted({0: n - 1, 4: 1}), RUNS, seed=levels).counts.get(1, 0)
    # with equal records no length is 0, so q = start is known
    return tuple(math.log(bound(hits, RUNS, alpha=0.001) / start) / epsilon for bound in (lower, upper))  # type: ignore[return-value]


def tables() -> str:
    """All tables as Markdown."""
    lines = [
        "## Exact: every pair of n records of {0, 1, 2, 4} ⊂ {0, …, 7}, the worst of all ε-DP inner mechanisms",
        "",
        "| levels t | shuffled | n | loss at ε = 0.25 | ε = 1 | ε = 4 | t + 1 | 2^t |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for levels, shuffle in SETTINGS:
        for n in (4, 5, 6):
            worst = exhaustive(levels, shuffle, n)
            numbers = " | ".join(f"{worst[epsilon]:.3f}" for epsilon in EPSILONS)
            lines.append(f"| {levels} | {shuffle} | {n} | {numbers} | {levels + 1} | {2**levels} |")
            print(lines[-1], file=sys.stderr)
    lines += [
        "",
        "## Exact: one record beside n − 1 equal ones, counted at full price (inner ε = 1)",
        "",
        "| levels t | shuffled | loss at n = 10 | 20 | 30 | 100 | 1,000 | t + 1 | 2^t | 2^{ones of t in binary} |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    limits = {(2, EVERY_LEVEL): 100, (3, EVERY_LEVEL): 30}
    for levels, shuffle in (*((t, ONCE) for t in range(1, 8)), (2, EVERY_LEVEL), (3, EVERY_LEVEL)):
        cells = [
            f"{beside_equal(levels, shuffle, n, 1.0):.3f}" if n <= limits.get((levels, shuffle), 1_000) else "–"
            for n in (10, 20, 30, 100, 1_000)
        ]
        row = [str(levels), shuffle, *cells, str(levels + 1), str(2**levels), str(2 ** levels.bit_count())]
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], file=sys.stderr)
    lines += [
        "",
        f"## Sampled: the same, a shuffle at every level ({RUNS:,} runs, inner ε = 0.25)",
        "",
        "| levels t | n | loss, from | to | t + 1 | 2^t |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for levels, n in ((3, 100), (3, 300), (4, 100), (4, 300)):
        low, high = certified(levels, EVERY_LEVEL, n, 0.25)
        lines.append(f"| {levels} | {n} | {low:.2f} | {high:.2f} | {levels + 1} | {2**levels} |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them."""
    started = time.perf_counter()
    found = tables()
    text = (
        "# Pairing twice: the cost of a level\n\n"
        "`python benchmarks/pair_twice.py --write` made these tables "
        f"(Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one core, "
        f"{time.perf_counter() - started:.0f} s).\n"
        "The thesis (end of §7.3.2) asks what happens to privacy when every record is paired twice at every level.\n"
        "The loss is the ε of the whole, in units of the ε of the mechanism that looks at the elements of depth t.\n"
        "The text has t + 1 for one shuffle, and 2^t where every level is shuffled; by group privacy both are upper\n"
        "bounds.\n\n"
        f"{found}\n\n"
        "With one shuffle, t levels cost at most t + 1, and sometimes less: beside equal records a changed\n"
        "one reaches 2^{ones of t in binary} elements (Pascal's triangle modulo 2), which is t + 1 for t = 1, 3, 7\n"
        "and 2 for t = 2 and 4. With a shuffle at every level the loss goes up to 2^t where there are many more than\n"
        "4^t records; among few records the changed elements meet, or are at the ends, and the loss is smaller.\n"
    )
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
