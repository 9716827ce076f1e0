"""The cost of verifying a finite domain, and the savings by symmetries.

Run: python benchmarks/verify.py [--write] [--only costs | --only symmetries]

Every row is measured in a process of its own, so that its peak memory is its own. `--write` puts the tables into
verify.md; with `--only` the other one stays as it is.
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

from dpaudit.evidence.sweep import Swept, sweep
from dpaudit.evidence.symmetries import CONFIRMED_ON
from dpaudit.interpret import LawCache
from dpaudit.plans import registry
from dpaudit.subjects.runner import Runner

JOBS = 2
SEQUENCES, MULTISETS, REDUCED = "sequences", "multisets", "multisets, symmetries"
Row = tuple[str, int, int, str, dict[str, Any]]
"""Algorithm, points of the domain, records, how datasets are enumerated, changed parameters."""
COSTS: list[Row] = [
    *(("LearnThresholds", 8, n, MULTISETS, {}) for n in (1, 2, 3, 4, 5)),
    ("LearnThresholds", 8, 4, MULTISETS, {"base": 32}),
    *(("LearnThresholds", 8, n, SEQUENCES, {}) for n in (2, 3)),
    *(("LearnThresholds", d, 3, MULTISETS, {}) for d in (4, 16)),
    *(("ExponentialMechanism", 4, n, MULTISETS, {}) for n in (4, 8, 16)),
    *(("ExponentialMechanism", 4, n, SEQUENCES, {}) for n in (4, 6)),
    ("ADistCorrected", 3, 40, MULTISETS, {}),
    ("RecPrefix", 16, 4, MULTISETS, {}),
    ("RecPrefix", 16, 5, MULTISETS, {}),
]
SCOPES: list[tuple[str, int, int, dict[str, Any], int]] = [
    *(("ExponentialMechanism", d, d, {}, 6) for d in (4, 5, 6, 7, 8)),
    *(("LearnThresholds", 8, n, {"base": 32}, 3) for n in (2, 3, 4, 5)),
    *(("LearnPointsCorrected", 4, n, {}, 4) for n in (3, 4, 6, 8)),
    *(("InteriorPointByMedianCorrected", 6, n, {}, 5) for n in (4, 5, 10)),
]
"""Algorithm, points of the domain, records, changed parameters; up to how many records sequences are tried."""
SYMMETRIES: list[Row] = [
    (name, domain, records, how, changed)
    for name, domain, records, changed, most in SCOPES
    for how in (SEQUENCES, MULTISETS, REDUCED)
    if how != SEQUENCES or records <= most
]
ROWS = {"costs": COSTS, "symmetries": SYMMETRIES}


def end_of(steps: Generator[Any, None, Swept]) -> Swept:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Swept = end.value
            return found


def measure(row: Row, jobs: int, *, groups: bool) -> dict[str, Any]:
    """Seconds for neighbours, then for groups of 2 and 3 on the same distributions; MiB above the imports.

    Of one process the seconds are those of the processor: the machine may do other things.
    """
    clock = time.process_time if jobs == 1 else time.perf_counter
    name, domain, records, how, changed = row
    small = registry.plan(name).small
    assert small is not None
    mechanism, scope = small(domain, records)
    mechanism = replace(mechanism, **changed)  # type: ignore[type-var]
    scope = replace(scope, ordered=how == SEQUENCES, reduced=how == REDUCED)
    claim = mechanism.claim
    assert claim is not None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runner = Runner(jobs)
    started = clock()
    found = end_of(sweep(mechanism, scope, claim, runner, name, LawCache()))
    neighbours = clock() - started
    started = clock()
    for k in (2, 3):
        if groups and k <= records and not scope.ordered:
            end_of(sweep(mechanism, scope, claim.group(k), runner, name, LawCache()))
    of_groups = clock() - started
    runner.close()
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert found.worst is not None
    return {
        "datasets": found.datasets, "pairs": found.pairs, "laws": found.laws, "symmetries": found.symmetries,
        "epsilon": found.worst.epsilon.low, "claim": claim.epsilon, "delta": claim.delta, "neighbours": neighbours,
        "groups": of_groups, "peak": peak,
    }


def measured(table: str) -> list[tuple[Row, dict[str, Any]]]:
    """Every row of a table, each in a process of its own."""
    found = []
    for at, row in enumerate(ROWS[table]):
        told = subprocess.run(
            [sys.executable, __file__, "--row", table, str(at)], capture_output=True, text=True, check=True
        )
        found.append((row, json.loads(told.stdout)))
        print(row, told.stdout.strip(), file=sys.stderr, flush=True)
    return found


def costs() -> list[str]:
    """All distributions as intervals, then every pair of neighbours, then of groups."""
    lines = [
        f"`python benchmarks/verify.py --write --only costs`; {JOBS} processes, {platform.machine()}, Python "
        f"{platform.python_version()}. Rows: whether the algorithm's indifference to the order of rows is used",
        "(multisets) or not (sequences). Seconds: all distributions and every pair of neighbours; then all groups of 2",
        "and 3 on the same distributions, where the order of rows does not count.",
        "MiB: peak of the main process above its imports.", "",
        "| algorithm | domain | records | rows | datasets | pairs | worst ε | claim | seconds | groups | MiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (name, domain, records, how, changed), found in measured("costs"):
        title = name + "".join(f", {key} = {value}" for key, value in changed.items())
        lines.append(
            f"| {title} | {domain} | {records} | {how} | {found['datasets']:,} "
            f"| {found['pairs']:,} | {found['epsilon']:.6g} | {found['claim']:g} at δ = {found['delta']:g} "
            f"| {found['neighbours']:.1f} | {found['groups']:.1f} | {found['peak']:.0f} |"
        )
    return [
        *lines, "",
        "Ignoring the order of rows saves a factor of up to n! in datasets, at the same worst ε. No other symmetry is",
        "used in this table.",
    ]


def symmetries() -> list[str]:
    """The same domains three times: every sequence, every multiset, one multiset of each orbit."""
    lines = [
        f"`python benchmarks/verify.py --write --only symmetries`; one process, {platform.machine()}, Python "
        f"{platform.python_version()}.",
        "Seconds of the processor: confirming the symmetries, all distributions, every pair of neighbours. Faster:",
        "than the row before it on the same domain. The worst ε of a domain was the same in all its rows to 11 digits,",
        "which the benchmark checks.", "",
        "| algorithm | domain | records | enumerated | distributions computed | of datasets | pairs | seconds | faster "
        "| MiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    before: dict[tuple[str, int, int], dict[str, Any]] = {}
    names: dict[str, None] = {}
    for (name, domain, records, how, changed), found in measured("symmetries"):
        scope = (name, domain, records)
        faster = ""
        if scope in before:
            other = before[scope]
            faster = f"{other['neighbours'] / found['neighbours']:.1f} ×"
            if abs(other["epsilon"] - found["epsilon"]) > 1e-11 * max(1.0, found["epsilon"]):
                raise SystemExit(f"{scope}: {how} gives ε = {found['epsilon']!r}, before it {other['epsilon']!r}")
        before[scope] = found
        title = name + "".join(f", {key} = {value}" for key, value in changed.items())
        for symmetry in found["symmetries"]:
            names[f"{title}: {symmetry}"] = None
        lines.append(
            f"| {title} | {domain} | {records} | {how} | {found['laws']:,} | {found['datasets']:,} "
            f"| {found['pairs']:,} | {found['neighbours']:.2f} | {faster} | {found['peak']:.0f} |"
        )
    return [
        *lines, "", "The symmetries are: " + "; ".join(names) + ".",
        f"Confirming takes up to {2 * CONFIRMED_ON} distributions per generator, so domains of a few hundred datasets "
        "gain",
        "little.",
    ]


TITLES = {"costs": "# Cost of verifying a finite domain", "symmetries": "## Savings by symmetries"}


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "--row":
        table, row = sys.argv[2], ROWS[sys.argv[2]][int(sys.argv[3])]
        print(json.dumps(measure(row, JOBS if table == "costs" else 1, groups=table == "costs")))
        return
    tables = {"costs": costs, "symmetries": symmetries}
    wanted = [sys.argv[sys.argv.index("--only") + 1]] if "--only" in sys.argv else list(tables)
    path = Path(__file__).with_suffix(".md")
    first, found, second = path.read_text(encoding="utf-8").partition(TITLES["symmetries"])
    texts = {"costs": first.strip(), "symmetries": (found + second).strip()}
    for table in wanted:
        texts[table] = "\n".join([TITLES[table], "", *tables[table]()])
    if "--write" in sys.argv:
        path.write_text("\n\n".join(text for text in texts.values() if text) + "\n", encoding="utf-8")
    else:
        sys.stdout.write("\n\n".join(texts[table] for table in wanted) + "\n")


if __name__ == "__main__":
    main()
