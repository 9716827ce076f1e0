"""Lower confidence bounds on ε from 10⁶ samples per dataset on the worst pair, beside its exact ε.

All algorithms of the catalogue whose output distribution can be computed.

`python benchmarks/tightness.py [--seeds 9]` writes benchmarks/tightness.md. The worst pair is the one that `dpaudit
worst` finds on a small domain; without a small domain it is the pair of the plan whose exact ε these samples
can show best. Each audit has its own seed and uses samples alone (`--black-box --certify`). The bound is
at 95 %, so that one in twenty may lie above the exact ε. "Best event" is the bound of the best event by
Clopper–Pearson from its expected counts in the 800,000 samples that are not used for learning, relative to the exact ε.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit.adversary import Pair
from dpaudit.evidence.density import compared
from dpaudit.interpret import LawCache
from dpaudit.plans import registry
from dpaudit.results.datasets import dataset_from_json
from dpaudit.stats import clopper_pearson
from dpaudit_algorithms.foundations.composition import AdvancedComposition

RUNS = 1_000_000
ALPHA = 0.05
SIZES = {
    "ADist": (3, 8), "ADistCorrected": (3, 12), "ChoosingMechanism": (3, 40), "GroupPrivacy": (2, 12),
    "LearnPoints": (3, 24), "LearnPointsCorrected": (3, 9),
}  # fmt: skip
"""Domain and records; 4 and 4 without an entry. They are so small that what happens on the worst pair is not rare."""

OTHERS = {"AdvancedComposition": AdvancedComposition(0.5, 0.0, 6, 0.05)}
"""Parameters other than the plan's, whose worst events are too rare for 10⁶ runs (4e-5 by default)."""
WITHOUT = ("Median", "ConsistentThreshold", "EmpiricalRiskMinimizer")
"""Deterministic: no finite ε to reach."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or [name for name in registry.names(registry.ALGORITHMS) if name not in WITHOUT]
    rows = []
    for name in names:
        rows.append(row(name, options.seeds, options.pairs))
        print(rows[-1], file=sys.stderr, flush=True)
    assert __doc__ is not None
    text = f"{__doc__}\n" + "\n".join([HEAD, RULE, *rows, "", closing(rows)]) + "\n"
    if not options.names:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


HEAD = "| algorithm, claim | worst pair | exact ε | certified ε | ratio | best event | its Pr | above | seconds |"
RULE = "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"


def closing(rows: list[str]) -> str:
    """What all rows say together."""
    cells = [line.split(" | ") for line in rows]
    above, audits = (sum(int(line[7].split(" of ")[i]) for line in cells) for i in (0, 1))
    short = [line[0].removeprefix("| ").partition(",")[0] for line in cells if float(line[4]) < 0.95]
    return (
        f"Above the exact ε: {above} of {audits} audits (at most {ALPHA * audits:.1f} expected). "
        f"Below 95 %: {', '.join(short) or 'none'}."
    )


def row(name: str, seeds: int, pairs: int) -> str:
    """One algorithm."""
    mechanism, pair, evidence = worst_of_plan(name) if registry.plan(name).small is None else worst_found(name, pairs)
    left, right, exact = pair.left, pair.right, evidence.epsilon
    assert exact is not None
    begun = time.monotonic()
    found = [
        dpaudit.audit(
            mechanism, pair=(left, right), runs=RUNS, certify=True, black_box=True, seed=seed, alpha=ALPHA, jobs=1
        ).audits[0]
        for seed in range(1, seeds + 1)
    ]
    seconds = (time.monotonic() - begun) / seeds
    lower = [audit.epsilon_lower or 0.0 for audit in found]
    middle = statistics.median(lower)
    above = sum(1 for one in lower if one > exact)
    cells = (
        f"{name}, {mechanism.claim}", f"{left!r} against {right!r}", f"{exact:.4f}", f"{middle:.4f}",
        f"{middle / exact:.3f}", f"{of_event(evidence, mechanism) / exact:.3f}", f"{max(evidence.p, evidence.q):.3g}",
        f"{above} of {seeds}", f"{seconds:.1f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def worst_found(name: str, pairs: int) -> tuple[Any, Pair, Any]:
    """By a search on a small domain."""
    domain, size = SIZES.get(name, (4, 4))
    small = registry.plan(name).small
    assert small is not None
    mechanism, _ = small(domain, size)
    (audit,) = dpaudit.worst(name, domain=domain, size=size, pairs=pairs).audits
    assert audit.pair is not None
    left, right = (dataset_from_json(side) for side in (audit.pair.left, audit.pair.right))
    return mechanism, Pair(left, right), max(audit.exact, key=lambda one: one.epsilon or 0.0)


def worst_of_plan(name: str) -> tuple[Any, Pair, Any]:
    """Of the pairs that somebody thought of, under the mechanism's own claim."""
    found = []
    cases = [(case.mechanism, case.pairs) for case in registry.plan(name).cases() if case.claim is None]
    for mechanism, pairs in [(OTHERS[name], (Pair((0,), (1,)),))] if name in OTHERS else cases:
        claim = mechanism.claim
        if claim is not None:
            for pair in pairs:
                evidence = compared(mechanism, pair, claim, LawCache()).evidence
                if evidence.epsilon is not None and evidence.p is not None:
                    found.append((mechanism, pair, evidence))
    return max(found, key=lambda one: of_event(one[2], one[0]) / one[2].epsilon)


def of_event(evidence: Any, mechanism: Any) -> float:
    """The lower bound from the best event's expected counts in 800,000 samples per dataset, by Clopper–Pearson."""
    runs = RUNS * 8 // 10
    p, q = max(evidence.p, evidence.q), min(evidence.p, evidence.q)
    counts = [round(runs * one) for one in (p, q)]
    return clopper_pearson.epsilon_lower(
        counts[0], runs, counts[1], runs, delta=mechanism.claim.delta, alpha=ALPHA
    )


if __name__ == "__main__":
    main()
