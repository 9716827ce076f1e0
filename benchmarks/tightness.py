"""What 10⁶ runs a side certify, against the exact ε, on the worst pair: every algorithm of the catalogue with a law.

`python benchmarks/tightness.py [--seeds 3]` writes benchmarks/tightness.md. The worst pair is that of `dpaudit worst` on
the small domain of the algorithm's plan, at the seed 0; the audits of it have other seeds and know nothing of the law.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import dpaudit
from dpaudit.audit import registry
from dpaudit.audit.datasets import dataset_from_json
from dpaudit.audit.results import Audit

RUNS = 1_000_000
ALPHA = 0.05
SIZES = {
    "ADist": (3, 8), "ADistCorrected": (3, 12), "ChoosingMechanism": (3, 40), "GroupPrivacy": (2, 12),
    "LearnPoints": (3, 24), "LearnPointsCorrected": (3, 9),
}  # fmt: skip
"""Domain and records; 4 and 4 without an entry. They are so small that what happens on the worst pair is not rare."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or [n for n in registry.names(registry.ALGORITHMS) if registry.plan(n).small is not None]
    rows = []
    for name in names:
        rows.append(row(name, options.seeds, options.pairs))
        print(rows[-1], file=sys.stderr, flush=True)
    text = __doc__.partition("\n")[0] + "\n\n" + "\n".join([HEAD, RULE, *rows]) + "\n"
    if not options.names:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


HEAD = "| algorithm, claim | worst pair | exact ε | certified ε | ratio | of the best event | Pr, likelier side | seconds |"
RULE = "| --- | --- | --- | --- | --- | --- | --- | --- |"


def row(name: str, seeds: int, pairs: int) -> str:
    """One algorithm."""
    domain, size = SIZES.get(name, (4, 4))
    plan = registry.plan(name)
    assert plan.small is not None
    mechanism, _ = plan.small(domain, size)
    (worst,) = dpaudit.worst(name, domain=domain, size=size, pairs=pairs).audits
    exact = worst.epsilon_exact
    assert exact is not None
    assert worst.pair is not None
    left, right = (dataset_from_json(side) for side in (worst.pair.left, worst.pair.right))
    begun = time.monotonic()
    found = [
        dpaudit.check(
            mechanism, pair=(left, right), runs=RUNS, certify=True, black_box=True, seed=seed, alpha=ALPHA, jobs=1
        ).audits[0]
        for seed in range(1, seeds + 1)
    ]
    seconds = (time.monotonic() - begun) / seeds
    lower = [audit.epsilon_lower or 0.0 for audit in found]
    middle = statistics.median(lower)
    evidence = max(worst.exact, key=lambda e: e.epsilon or 0.0)
    above = sum(1 for one in lower if one > exact)
    if not exact:
        return f"| {name}, {mechanism.claim} | every pair tried | 0 | {middle:.4f} | – | – | – | {seconds:.1f} |"
    return (
        f"| {name}, {mechanism.claim} | {left!r} against {right!r} | {exact:.4f} | {middle:.4f}"
        f"{f' ({above} of {seeds} above)' if above else ''} | {middle / exact:.3f} | {of_event(evidence, mechanism) / exact:.3f}"
        f" | {max(evidence.p, evidence.q):.3g} | {seconds:.1f} |"
    )


def of_event(evidence: Any, mechanism: Any) -> float:
    """What the best event's expected counts certify from 800,000 runs a side, by Clopper–Pearson."""
    from dpaudit.stats import clopper_pearson

    runs = RUNS * 8 // 10
    p, q = max(evidence.p, evidence.q), min(evidence.p, evidence.q)
    counts = [round(runs * one) for one in (p, q)]
    return clopper_pearson.epsilon_lower(
        counts[0], runs, counts[1], runs, delta=mechanism.claim.delta, alpha=ALPHA
    )


if __name__ == "__main__":
    main()
