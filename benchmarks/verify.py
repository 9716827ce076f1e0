"""What it costs to verify a scope.  Run: python benchmarks/verify.py [--write]

Every row is measured in a process of its own, so that its peak memory is its own. `--write` puts the table into
verify.md.
Nothing here is a test: compare rows within one run.
"""

from __future__ import annotations

import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.audit import registry
from dpaudit.audit.runner import Runner
from dpaudit.audit.sweep import Swept, sweep

JOBS = 2
ROWS: list[tuple[str, int, int, bool, dict[str, Any]]] = [
    *(("LearnThresholds", 8, n, False, {}) for n in (1, 2, 3, 4, 5)),
    ("LearnThresholds", 8, 4, False, {"base": 32}),
    *(("LearnThresholds", 8, n, True, {}) for n in (2, 3)),
    *(("LearnThresholds", d, 3, False, {}) for d in (4, 16)),
    *(("ExponentialMechanism", 4, n, False, {}) for n in (4, 8, 16)),
    *(("ExponentialMechanism", 4, n, True, {}) for n in (4, 6)),
    ("ADistCorrected", 3, 40, False, {}),
    ("RecPrefix", 16, 4, False, {}),
    ("RecPrefix", 16, 5, False, {}),
]
"""Algorithm, points of the domain, records, whether rows count in their order, changed parameters."""


def end_of(steps: Generator[Any, None, Swept]) -> Swept:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Swept = end.value
            return found


def measure(row: int) -> dict[str, Any]:
    """Seconds for neighbours, then for groups of 2 and 3 on the same laws; MiB above the imports."""
    name, domain, records, ordered, changed = ROWS[row]
    small = registry.plan(name).small
    assert small is not None
    mechanism, scope = small(domain, records)
    mechanism = replace(mechanism, **changed)  # type: ignore[type-var]
    scope = replace(scope, ordered=ordered)
    claim = mechanism.claim
    assert claim is not None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runner = Runner(JOBS)
    started = time.perf_counter()
    found = end_of(sweep(mechanism, scope, claim, runner, name))
    neighbours = time.perf_counter() - started
    started = time.perf_counter()
    for k in (2, 3):
        if k <= records and not ordered:
            end_of(sweep(mechanism, scope, claim.group(k), runner, name))
    groups = time.perf_counter() - started
    runner.close()
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert found.worst is not None
    return {
        "datasets": found.datasets, "pairs": found.pairs, "epsilon": found.worst.epsilon.low, "claim": claim.epsilon,
        "delta": claim.delta, "neighbours": neighbours, "groups": groups, "peak": peak,
    }


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--row":
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    lines = [
        "# What verifying a scope costs", "",
        f"`python benchmarks/verify.py --write`; {JOBS} processes, {platform.machine()}, Python "
        f"{platform.python_version()}. Rows: whether the algorithm's indifference to the order of rows is used",
        "(multisets) or not (sequences). Seconds: all laws in balls and every pair of neighbours; then all groups of 2",
        "and 3 on the same laws, where rows do not count in their order.",
        "MiB: peak of the main process above its imports.", "",
        "| algorithm | domain | records | rows | datasets | pairs | worst ε | claim | seconds | groups | MiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row, (name, domain, records, ordered, changed) in enumerate(ROWS):
        told = subprocess.run(
            [sys.executable, __file__, "--row", str(row)], capture_output=True, text=True, check=True
        )
        found = json.loads(told.stdout)
        title = name + "".join(f", {key} = {value}" for key, value in changed.items())
        lines.append(
            f"| {title} | {domain} | {records} | {'sequences' if ordered else 'multisets'} | {found['datasets']:,} "
            f"| {found['pairs']:,} | {found['epsilon']:.6g} | {found['claim']:g} at δ = {found['delta']:g} "
            f"| {found['neighbours']:.1f} | {found['groups']:.1f} | {found['peak']:.0f} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    lines += [
        "",
        "Ignoring the order of rows saves a factor of up to n! in datasets, at the same worst ε. No other symmetry is",
        "used.",
    ]
    text = "\n".join(lines) + "\n"
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
