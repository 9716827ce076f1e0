"""Time of exact distributions and samples on ranges of up to 2^64.  Run: python benchmarks/scale.py [--write]

LearnThresholds on n examples, a tenth of which have the wrong label. Up to 2^16 thresholds its scores are listed one by
one, beyond in pieces; the last columns give the law of both forms where both can be had, by RecConcave on the same
scores. `--write` puts the tables into scale.md. Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.interpret import align, law, sample
from dpaudit.language import Given, Multiset, Scores
from dpaudit.stats.hockey_stick import epsilon_at_symmetric
from dpaudit_algorithms.interior_points import rec_concave
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.pac import learn_thresholds
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds
from dpaudit_audits.interior_points.rec_concave import three_calls

BITS = (8, 12, 16, 20, 32, 48, 64)
RECORDS = (10, 100, 1000)
RUNS = 10**6
LISTED_UP_TO = 20
TIMES = 3


def examples(bits: int, n: int) -> Multiset:
    """Labelled by the threshold at a third of the range, but for one in ten."""
    rng = np.random.default_rng(100)
    points = [int(x) >> 64 - bits for x in rng.integers(0, 1 << 64, n, dtype=np.uint64)]
    wrong = rng.random(n) < 0.1
    return Multiset.of((x, int(x <= (1 << bits) // 3) ^ int(w)) for x, w in zip(points, wrong.tolist(), strict=True))


def seconds(work: Callable[[], Any]) -> float:
    """The least of a few times, each from the records on: nothing is remembered."""
    best = float("inf")
    for _ in range(TIMES):
        learn_thresholds._consistent.cache_clear()
        rec_concave._intervals.cache_clear()
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def row(bits: int, n: int) -> str:
    """One line of the table."""
    size, S = 1 << bits, examples(bits, n)
    learner = LearnThresholds(size)
    exact = law(learner, S)
    assert abs(float(exact.probs.sum()) - 1) < 1e-9
    lawful, sampled = seconds(lambda: law(learner, S)), seconds(lambda: sample(learner, S, RUNS, seed=100))
    times = ["–", "–", "–"]
    if bits <= LISTED_UP_TO:
        alpha, epsilon, delta = learner._shares()
        recursion = RecConcave(size - 1, Given(), float(n), alpha, epsilon, delta, learner.depth)
        steps = Consistency(size)(S).steps
        one_by_one = Scores(np.repeat(steps.values, (steps.stops - steps.starts).astype(np.int64)))
        both = [seconds(lambda form=form: law(recursion, form)) for form in (one_by_one, steps)]  # type: ignore[misc]
        times = [f"{both[0]:.3f}", f"{both[1]:.3f}", f"{both[0] / both[1]:.1f}"]
    return f"| 2^{bits} | {n:,} | {lawful:.3f} | {sampled:.3f} | {len(exact):,} | {' | '.join(times)} |"


def table() -> str:
    """The times as Markdown."""
    lines = [
        f"| \\|X\\| | n | exact, s | {RUNS:,} samples, s | outcomes or ranges | exact, one by one, s | "
        "exact, in pieces, s | ratio |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for bits in BITS:
        for n in RECORDS:
            lines.append(row(bits, n))
            print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def depth_three() -> str:
    """The exact ε of three calls with the printed base of 32, which begin past 2^32."""
    lines = [
        "| T | ε a step | RecConcave: ε at 9δ | in units of ε | δ at 9ε / 9δ | RecConcaveCorrected: ε at 9δ |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    delta = 1e-9
    for name, T in (("2^33", 2**33), ("2^48", 2**48), ("2^64 − 1", 2**64 - 1)):
        for epsilon in (0.5, 0.25, 0.1):
            r, steps = three_calls(epsilon, delta, T)
            found = []
            for version in (RecConcave, RecConcaveCorrected):
                mechanism = version(T, steps, r, 0.5, epsilon, delta)
                assert mechanism.calls == 3
                _, p, q = align(law(mechanism, (0,)), law(mechanism, (1,)))
                excess = float(max(np.maximum(p - np.exp(9 * epsilon) * q, 0).sum(),
                                   np.maximum(q - np.exp(9 * epsilon) * p, 0).sum()))  # fmt: skip
                found.append((epsilon_at_symmetric(p, q, 9 * delta), excess))
            (worst, excess), (corrected, _) = found
            lines.append(
                f"| {name} | {epsilon} | {worst:.4f} | {worst / epsilon:.3f} | {excess:.1e} / 9e-9 | {corrected:.4f} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write scale.md."""
    text = f"""# Output distributions at scale

`python benchmarks/scale.py --write` made these tables (Python {platform.python_version()}, numpy {np.__version__},
{platform.machine()}, one core; the least of {TIMES} times, each from the records on).

LearnThresholds with ε = 1, δ = 1e-6, α = 0.1 on n examples. n examples cut any range into at most n + 1 pieces of equal
score; a distribution of more than 2^16 outcomes is held as integer ranges with one mass each. The last three columns
are the distribution of RecConcave on the same scores, listed one by one and held in pieces.

{table()}

Depth 3 of RecConcave with every constant as printed (base 32 needs T > 2^32), on the pair of finding 3,
δ = 1e-9 a step; allowed are 9ε at 9δ:

{depth_three()}
"""
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
