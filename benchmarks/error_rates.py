"""How often audits err, and what they see: the whole engine, many times over. Writes error_rates.md.

python benchmarks/error_rates.py > benchmarks/error_rates.md
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from dpaudit.audit import engine
from dpaudit.audit.request import DEFAULT_ALPHA, Request
from dpaudit.audit.results import Audit, Verdict
from dpaudit.language import Mechanism
from dpaudit.stats.power import rejection_probability

# the mechanisms are those of the tests
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "quality"))

from error_rates import BIT, SUBJECTS, Gap, RandomisedResponse, exact_epsilon

RUNS = 2_000
AUDITS = 500


def audits(subject: Mechanism, pair: tuple[Any, Any], seeds: range, **more: Any) -> list[Audit]:
    """One audit for every seed, on all cores."""

    def one(seed: int) -> Audit:
        return engine.run(Request((subject,), seed=seed, pair=pair, **more)).audits[0]

    return list(Parallel(n_jobs=-1)(delayed(one)(seed) for seed in seeds))


def error_table() -> None:
    alpha = 0.05
    print(f"## Bounds above the exact ε, α = {alpha}\n")
    print(
        f"{AUDITS} audits of each mechanism, {RUNS:,} certifying runs a side. At most a share of {alpha} may be "
        "overstated.\n"
    )
    print("| mechanism | exact ε | overstated | share | by Clopper–Pearson | median bound |")
    print("| --- | --- | --- | --- | --- | --- |")
    total = [0, 0]
    for name, (mechanism, pair) in SUBJECTS.items():
        epsilon = exact_epsilon(name)
        evidence = [a.sampled[0] for a in audits(mechanism, pair, range(AUDITS), alpha=alpha, runs=RUNS)]
        over = sum(e.epsilon_lower > epsilon for e in evidence)
        by_hand = sum(e.epsilon_lower_clopper_pearson > epsilon for e in evidence)
        median = sorted(e.epsilon_lower for e in evidence)[AUDITS // 2]
        total = [total[0] + over, total[1] + by_hand]
        print(f"| {name} | {epsilon:.4g} | {over} | {over / AUDITS:.3f} | {by_hand} | {median:.3f} |")
    number = AUDITS * len(SUBJECTS)
    print(f"| all | | {total[0]} of {number:,} | {total[0] / number:.4f} | {total[1]} | |")


def false_alarm_table() -> None:
    print(f"\n## Correct mechanisms that FAIL, α = {DEFAULT_ALPHA}\n")
    print(
        f"200 audits each, {RUNS:,} certifying runs a side; the claim is the exact ε, so that every FAIL is an error.\n"
    )
    print("| mechanism | FAIL | expected at most |")
    print("| --- | --- | --- |")
    for name, (mechanism, pair) in SUBJECTS.items():
        epsilon = exact_epsilon(name)
        found = audits(mechanism, pair, range(200), runs=RUNS, epsilon=epsilon)
        print(f"| {name} | {sum(a.verdict is Verdict.FAIL for a in found)} of 200 | {200 * DEFAULT_ALPHA:g} |")


def power_table() -> None:
    print(f"\n## Power: randomised response at ε = 1.2 that claims 1, α = {DEFAULT_ALPHA}\n")
    print("Of 100 audits by runs alone; theory is the power of the test of the best event.\n")
    print("| certifying runs a side | refuted | theory | median bound |")
    print("| --- | --- | --- | --- |")
    p = 1 / (1 + math.exp(-1.2))
    for runs in (2_000, 5_000, 10_000, 20_000):
        found = audits(RandomisedResponse(1.2), BIT, range(100), runs=runs, epsilon=1.0)
        bounds = sorted(a.sampled[0].epsilon_lower for a in found)
        theory = rejection_probability(p, 1 - p, runs, runs, epsilon=1.0, delta=0.0, alpha=DEFAULT_ALPHA)
        print(f"| {runs:,} | {sum(b > 1 for b in bounds)} of 100 | {theory:.3f} | {bounds[50]:.3f} |")


def tightness_table() -> None:
    print(f"\n## Tightness: Pr[⊥] = ½ against ½·e⁻², exact ε = 2, α = {DEFAULT_ALPHA}\n")
    print("Median of 10 audits.\n")
    print("| certifying runs a side | certified ε | share of the exact ε |")
    print("| --- | --- | --- |")
    for runs in (1_000, 10_000, 100_000, 1_000_000):
        found = audits(Gap(), BIT, range(10), runs=runs)
        bound = sorted(a.sampled[0].epsilon_lower for a in found)[5]
        print(f"| {runs:,} | {bound:.4f} | {100 * bound / 2:.1f} % |")


def main() -> None:
    print("# Error rates and power of whole audits\n")
    print("Written by `python benchmarks/error_rates.py > benchmarks/error_rates.md`, some ten minutes on two cores;")
    print("every audit has a seed of its own.\n")
    error_table()
    false_alarm_table()
    power_table()
    tightness_table()


if __name__ == "__main__":
    main()
