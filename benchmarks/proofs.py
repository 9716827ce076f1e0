"""What proofs for every dataset find, and what they cost.  Run: python benchmarks/proofs.py [--write]

Programs of the literature, each in this process, one after another: the outcome, its ε and the seconds to find and to
check it. `--write` puts the table into proofs.md. Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof, Refuted
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit_algorithms.corpus.above_threshold import AboveThresholdCoarse, AboveThresholdDiscretised
from dpaudit_algorithms.corpus.numerical_sparse_vector import NumericalSVT
from dpaudit_algorithms.corpus.prefix_sum import PrefixSum
from dpaudit_algorithms.corpus.report_noisy_max import ReportNoisyMax3, ReportNoisyMax4
from dpaudit_algorithms.corpus.sparse_vector import SVT1, SVT2, SVT3, SVT4, SVT5, SVT6
from dpaudit_algorithms.foundations.above_threshold import AboveThreshold, CountAtMost
from dpaudit_algorithms.generalization.numeric_sparse import NumericSparse

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.proofs import literature as programs

QUERIES = tuple(CountAtMost(value) for value in range(3))


@dataclass(frozen=True)
class Row:
    """A program and what is asked about it."""

    label: str
    target: Any
    scope: Scope
    epsilon: Fraction = Fraction(1)
    refute: bool = False


def rows() -> Iterator[Row]:
    """Every program with the claim that holds, or with one that does not and a search for a violation."""
    for c in (1, 3, 10):
        yield Row(f"SVT1, c = {c}", SVT1(epsilon=1.0, c=c), Stream())
        yield Row(f"SVT2, c = {c}", SVT2(epsilon=1.0, c=c), Stream())
        yield Row(f"NumericalSVT, c = {c}", NumericalSVT(epsilon=1.0, c=c), Stream())
        yield Row(f"SVT4, c = {c}", SVT4(epsilon=1.0, c=c), Stream(), Fraction(1 + 6 * c, 4))
    yield Row("AboveThreshold", AboveThreshold(1.0, 2.0, QUERIES), Stream())
    yield Row("AboveThresholdDiscretised", AboveThresholdDiscretised(epsilon=1.0), Stream())
    yield Row("AboveThresholdCoarse, step 4", AboveThresholdCoarse(epsilon=1.0, step=4), Stream(), Fraction(4))
    yield Row("NumericSparse, c = 3", NumericSparse(1.0, 0.0, 2.0, 3, QUERIES), Stream())
    yield Row("GapSVT", programs.gap_svt, Stream())
    yield Row("AdaptiveSVT", programs.adaptive_svt, Stream())
    yield Row("noisy maximum, y.index(max(y)), Laplace", programs.noisy_max, Answers(10))
    yield Row("noisy maximum, np.argmax, Laplace", programs.noisy_max_argmax, Answers(10))
    yield Row("noisy maximum, exponential noise", programs.noisy_max_exponential, Answers(10))
    yield Row("noisy maximum, geometric noise", programs.noisy_max_geometric, Answers(10, whole=True))
    yield Row("noisy maximum by a loop, 5 answers", programs.noisy_max_loop, Answers(5))
    yield Row("noisy maximum by a loop", programs.noisy_max_loop, Answers(10))
    yield Row("noisy maximum with its gap", programs.noisy_max_with_gap, Answers(10))
    yield Row("ReportNoisyMax3", ReportNoisyMax3(epsilon=1.0), Answers(10), Fraction(5))
    yield Row("PartialSum", programs.partial_sum, Answers(10, "one"))
    yield Row("SmartSum, T = 20", programs.smart_sum, Answers(20, "one"), Fraction(2))
    yield Row("binary tree", programs.binary_tree, Answers(16, "one"))
    yield Row("PrefixSum, all answers move", PrefixSum(epsilon=1.0), Answers(10), Fraction(10))
    yield Row("PrefixSum, one answer moves", PrefixSum(epsilon=1.0), Answers(10, "one"))
    yield Row("histogram by np.bincount", programs.histogram, Domain(50, (0, 1, 2)))
    yield Row("clip, then sum", programs.clipped_sum, Records(200, -5, 5))
    yield Row("mean, then clip, n = 10", programs.mean_then_clip, Records(10, -5, 5), Fraction(10))
    yield Row("secret denominator", programs.secret_denominator, Records(3, 0, 1))
    yield Row("histogram of the values present", programs.histogram_of_present, Domain(3, (0, 1, 2)), refute=True)
    yield Row("edge", programs.edge, Records(2, 0, 1), refute=True)
    yield Row("ReportNoisyMax4", ReportNoisyMax4(epsilon=1.0), Answers(4), refute=True)
    yield Row("SVT3", SVT3(epsilon=1.0), Stream(), refute=True)
    yield Row("SVT4", SVT4(epsilon=1.0), Stream(), refute=True)
    yield Row("SVT5", SVT5(epsilon=1.0), Stream(), refute=True)
    yield Row("SVT6", SVT6(epsilon=1.0), Stream(), refute=True)


def line(row: Row) -> str:
    """The table's line of a program."""
    begun = time.perf_counter()
    outcome = prove(row.target, row.scope, epsilon=row.epsilon, refute=row.refute)
    spent = time.perf_counter() - begun
    checking = ""
    if isinstance(outcome, Proof):
        begun = time.perf_counter()
        wrong = check_certificate(outcome.certificate)
        assert wrong is None, wrong
        checking = f"{time.perf_counter() - begun:.2f}"
        found = f"proved: {outcome.epsilon}"
    elif isinstance(outcome, Refuted):
        found = f"refuted: more than {outcome.epsilon:.3g}, {2 * outcome.samples:,} samples"
    else:
        found = "unknown" if outcome.least is None else f"unknown: needs {outcome.least}"
    return f"| {row.label} | {row.scope} | {row.epsilon} | {found} | {spent:.2f} | {checking} |"


def main() -> None:
    lines = [
        "# Proofs for every dataset",
        "",
        f"`python benchmarks/proofs.py --write`; one process, {platform.machine()}, Python "
        f"{platform.python_version()}. Seconds to find a proof, or a violation by sampling, and to check the",
        "certificate. ε of a proof is the smallest that the alignment proves.",
        "",
        "| program | scope | claimed ε | outcome, ε | seconds | to check |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows():
        lines.append(line(row))
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
