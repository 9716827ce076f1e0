"""What a trace finds in twelve functions with one bug each, and what it changes in the audit. Writes trace.md.

python benchmarks/trace.py > benchmarks/trace.md

Times are CPU of this process. An audit without a trace is the same audit with the trace left out.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "quality"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "users"))

import functions
from traced_functions import TRACED, Traced

import dpaudit
from dpaudit.evidence import traced as stage

ROUNDS = 7
RUNS = 5_000
MANY = 100_000


def half_of_the_noise(data: Any, rng: np.random.Generator, size: int) -> Any:
    """0.02-DP and not 0.01-DP."""
    return len(data) + rng.laplace(0, 50, size)


def sigma_too_small(data: Any, rng: np.random.Generator, size: int) -> Any:
    """σ = 5.5 is needed for (1, 1e-9)."""
    return len(data) + rng.normal(0, 5.0, size)


def main() -> None:
    print("# Traces\n")
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}"
    print(
        f"`python benchmarks/trace.py` made these tables ({versions}). Times are CPU, the median of {ROUNDS} traces; "
        "the first one in a process also imports what it needs.\n"
    )
    print("## Twelve functions with one bug each, and their fixes\n")
    print(
        "The line of a bug is the one that its fix changes. An alarm names a line, and up to two more: the line that "
        "computes the value, the branch.\n"
    )
    print("| function | alarm | executions | ms | bug's line is | lines named | alarms of the fix | executions | ms |")
    print("| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for case in TRACED:
        (trace, ms), (fixed, fixed_ms) = _timed(case, case.bug), _timed(case, case.fix)
        (alarm,) = trace.alarms
        lines = [place.line for place in alarm.places]
        where = ("named first", "named second", "named third")[lines.index(case.bug_line)]
        print(
            f"| `{case.name}` | `{alarm.code}` | {trace.executions} | {ms:.1f} | {where} | {len(lines)} | "
            f"{len(fixed.alarms)} | {fixed.executions} | {fixed_ms:.1f} |"
        )
    print("\n## The whole audit, with and without the trace\n")
    print(
        f"Samples of both datasets until the verdict, those of the search for pairs included (at most {RUNS:,} per "
        "dataset and pair to test, seed 0).\n"
    )
    print("| function | pair given | samples | pairs searched | samples | without the trace | samples |")
    print("| --- | --- | ---: | --- | ---: | --- | ---: |")
    for case in TRACED:
        given, searched = _audited(case, pair=case.pair), _audited(case, data=case.data)
        kept, stage.trace_pairs = stage.trace_pairs, _left_out
        try:
            without = _audited(case, data=case.data)
        finally:
            stage.trace_pairs = kept
        cells = [cell for result in (given, searched, without) for cell in _cells(result)]
        print(f"| `{case.name}` | {' | '.join(cells)} |")
    print("\n## Violations that samples do not see\n")
    print(f"Each function takes a size; the audit has {MANY:,} samples of each dataset.\n")
    print("| function | claim | alarm | executions | ε by the trace | verdict of the audit |")
    print("| --- | --- | --- | ---: | ---: | --- |")
    for function, claim in ((half_of_the_noise, (0.01, 0.0)), (sigma_too_small, (1.0, 1e-9))):
        where = {"relation": "add-remove-one", "pair": ([0], [0, 1])}
        trace = dpaudit.trace(function, claim, **where)
        result = dpaudit.audit(function, claim, runs=MANY, **where)
        (alarm,) = trace.alarms
        stated = f"ε = {claim[0]}" + (f", δ = {claim[1]}" if claim[1] else "")
        print(
            f"| `{function.__name__}` | {stated} | `{alarm.code}` | {trace.executions} | {alarm.cost:.4g} | "
            f"{_cells(result)[0]} |"
        )
    print("\n## Functions as people write them (tests/users/functions.py)\n")
    print("| | functions | with an alarm | most executions | median ms |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, cases in (("correct", functions.CORRECT), ("wrong", functions.WRONG)):
        traces = [_traced(case, case.function) for case in cases]
        alarmed = sum(bool(trace.alarms) for trace, _ in traces)
        print(
            f"| {name} | {len(cases)} | {alarmed} | {max(trace.executions for trace, _ in traces)} | "
            f"{statistics.median(ms for _, ms in traces):.1f} |"
        )


def _timed(case: Traced, function: Callable[..., Any]) -> tuple[Any, float]:
    each = [_traced(case, function) for _ in range(ROUNDS)]
    return each[0][0], statistics.median(ms for _, ms in each)


def _traced(case: Any, function: Callable[..., Any]) -> tuple[Any, float]:
    begun = time.process_time()
    trace = dpaudit.trace(
        function, epsilon=case.epsilon, delta=case.delta, relation=case.relation, pair=case.pair
    )
    return trace, 1_000 * (time.process_time() - begun)


def _audited(case: Traced, **placed: Any) -> dpaudit.Result:
    return dpaudit.audit(
        case.bug, epsilon=case.epsilon, delta=case.delta, relation=case.relation, runs=RUNS, **placed
    )


def _cells(result: dpaudit.Result) -> tuple[str, str]:
    name = result.verdict.value.upper()
    return name, f"{result.audit.runs:,}"


def _left_out(job: Any, *_: Any, **__: Any) -> Generator[Any, None, Any]:
    yield from ()
    return job


if __name__ == "__main__":
    main()
