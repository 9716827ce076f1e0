"""Time and memory of RecConcave's exact distribution and samples.  Run: python benchmarks/rec_concave.py [--write]

Every row is measured in a process of its own, so that its peak memory is its own. `--write` puts the table into
rec_concave.md. Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from dpaudit.interpret import law, sample
from dpaudit.language import Given, Scores
from dpaudit_algorithms.interior_points.rec_concave import RecConcave

BITS = (8, 10, 12, 14, 16, 18, 20)
RUNS = (10**3, 10**4, 10**5, 10**6, 10**7)
ROWS = [(bits, 10**6) for bits in BITS] + [(8, runs) for runs in RUNS if runs != 10**6]


def measure(bits: int, runs: int) -> dict[str, float]:
    """Seconds of the exact distribution and of `runs` samples on |X| = 2^bits, and MiB above the imports."""
    T = 2**bits - 1
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # a plateau with slopes: every k, both ⊥ and wide unions have a share
    distance = np.abs(np.arange(T + 1) - T // 3) / T
    mechanism, Q = RecConcave(T, Given(), 400.0, 0.5, 0.1, 1e-6), Scores(500 - np.minimum(1000 * distance, 500))
    started = time.perf_counter()
    exact = law(mechanism, Q)
    lawful = time.perf_counter() - started
    assert abs(float(exact.probs.sum()) - 1) < 1e-9
    started = time.perf_counter()
    outputs = sample(mechanism, Q, runs, seed=1)
    sampled = time.perf_counter() - started
    assert outputs.runs == runs
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"law": lawful, "sample": sampled, "mib": peak, "distinct": len(outputs.counts)}


def table() -> str:
    """The results as Markdown."""
    lines = [
        "| \\|X\\| | samples | exact, s | sampled, s | peak MiB above imports | distinct outputs sampled |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for bits, runs in ROWS:
        command = [sys.executable, __file__, "--row", str(bits), str(runs)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        lines.append(
            f"| 2^{bits} | {runs:,} | {row['law']:.3f} | {row['sample']:.3f} | {row['mib']:.0f} | {row['distinct']:,} |"
        )
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it."""
    if "--row" in sys.argv:
        at = sys.argv.index("--row")
        print(json.dumps(measure(int(sys.argv[at + 1]), int(sys.argv[at + 2]))))
        return
    text = (
        "# RecConcave: exact distribution and samples\n\n"
        "`python benchmarks/rec_concave.py --write` made this table "
        f"(Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, one core).\n"
        "The scores are a plateau with slopes, ε = 0.1, δ = 1e-6. Samples share paths, so their number hardly "
        "matters;\n"
        "at large |X| most of the time of sampling is drawing and counting distinct outputs.\n\n"
        f"{table()}\n"
    )
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
