"""dp-recorder's example bugs, by samples and in their deterministic parts: CPU seconds and samples. Progress on stderr.

python benchmarks/recorder_bugs.py > benchmarks/recorder_bugs.md
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

# CPU seconds are of one thread
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "quality"))

from recorder_bugs import BUGS, RecorderBug

import dpaudit
from dpaudit.report.numbers import count, lower
from dpaudit.results.model import Verdict

RELATION = "add-remove-one"
HEAD = """\
# dp-recorder's example bugs

Written by `python benchmarks/recorder_bugs.py > benchmarks/recorder_bugs.md`. The example bugs of dp-recorder's
artifact (arXiv 2602.17454), and a missing value that shows in synthetic data, as reported of dpmm; each is written from
its definition, with its fix (`tests/quality/recorder_bugs.py`). The claim is ε = 1 under add-remove-one, α = 0.001,
seed 0; dpaudit gets a description of the records and searches for the pair itself.

"By samples" is `dpaudit.audit` with its default budget: CPU seconds after imports, samples of both datasets with those
of the search, and the lower bound on ε that it had when it stopped at the refutation. "By stability" is
`dpaudit.audit_stability` of the deterministic part that the bug is in, with what the mechanism takes for granted of it:
the number of pairs that were tried, and the smallest pair. The last columns are the fix with 5,000 samples of each
dataset of a pair: no fix may be accused. dp-recorder finds its examples on a pair that is given, with every noise call
annotated.
"""


def main() -> None:
    """Print the tables."""
    print(HEAD)
    heads = ("bug", "by samples: CPU s", "samples", "ε ≥", "by stability: CPU s", "pairs", "D", "D′", "distance",
             "claimed", "the fix", "CPU s")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for bug in BUGS:
        print(f"| {' | '.join(_row(bug))} |", flush=True)
        print(bug.name, file=sys.stderr, flush=True)


def _row(bug: RecorderBug) -> list[str]:
    begun = time.process_time()
    found = dpaudit.audit(bug.broken, 1.0, relation=RELATION, data=bug.data)
    samples = time.process_time() - begun
    assert found.verdict is Verdict.FAIL
    begun = time.process_time()
    unstable = dpaudit.audit_stability(bug.part, bug.stability, metric=bug.metric, relation=RELATION, data=bug.data)
    stability = time.process_time() - begun
    assert unstable.verdict is Verdict.FAIL
    assert unstable.pair is not None
    begun = time.process_time()
    fixed = dpaudit.audit(bug.fixed, 1.0, relation=RELATION, data=bug.data, runs=5_000)
    again = time.process_time() - begun
    bound = found.epsilon_lower
    verdict = {"pass": "not refuted", "inconclusive": "inconclusive", "fail": "**accused**"}[fixed.verdict.value]
    return [
        f"{bug.name}: {bug.about}", f"{samples:.1f}", count(found.audit.runs), "–" if bound is None else lower(bound),
        f"{stability:.2f}", count(unstable.pairs), _shown(unstable.pair.left), _shown(unstable.pair.right),
        unstable.distance or "–", unstable.allowed or "–", verdict, f"{again:.1f}",
    ]


def _shown(dataset: list[object]) -> str:
    return f"`{[float('nan') if record == {'float': 'nan'} else record for record in dataset]}`"




if __name__ == "__main__":
    main()
