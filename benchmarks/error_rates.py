"""How often audits err, and what they see: the whole engine, many times over. Progress on stderr.

python benchmarks/error_rates.py > benchmarks/error_rates.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from joblib import Parallel, delayed
from scipy import stats

from dpaudit.auditing import engine
from dpaudit.auditing.request import DEFAULT_ALPHA, Request
from dpaudit.auditing.results import Audit, Verdict
from dpaudit.stats.power import rejection_probability

# the mechanisms are those of the tests; in front of this file, which has the same name
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "quality"))

import error_rates
from error_rates import BIT, SUBJECTS, Errors, Gap, RandomisedResponse

Made = TypeVar("Made")

QUALITY = sys.path[0]

RUNS = 400
NUMBERS = {"Laplace count, a real number": 80, "vector of 3 Laplace counts": 40}
"""Audits of mechanisms that take longest; of every other `NUMBER`."""
PART = 6
"""All tables of errors but the first have this part of its audits."""
NUMBER = 470


def over(seeds: Sequence[int], one: Callable[[int], Made]) -> list[Made]:
    """`one` of every seed, on all cores."""
    return list(Parallel(n_jobs=-1)(delayed(one)(seed) for seed in seeds))


def errors(name: str, seed: int, alpha: float, claimed: float, certify: bool) -> Errors:
    # workers of a pool know the module by its path alone
    if QUALITY not in sys.path:
        sys.path.insert(0, QUALITY)
    return error_rates.errors(name, seed=seed, alpha=alpha, runs=RUNS, claimed=claimed, certify=certify)


def error_table(*, alpha: float, claimed: float, certify: bool, part: int, first: int) -> None:
    """One table over all mechanisms.

    Args:
        claimed: the claim, divided by the exact ε.
        part: each mechanism's number of audits is divided by it.
        first: the first seed.
    """
    print("| mechanism | exact ε | audits | FAIL | bound above exact ε | e-process alone | certificate alone | share |")
    print("| --- |" + " --- |" * 7)
    every: list[Errors] = []
    for name in SUBJECTS:
        print(f"α = {alpha}, claim {claimed} · ε: {name}", file=sys.stderr, flush=True)
        number = NUMBERS.get(name, NUMBER) // part
        found = over(
            range(first, first + number),
            lambda seed, name=name: errors(name, seed, alpha, claimed, certify),  # type: ignore[misc]
        )
        every += found
        print(f"| {name} | {error_rates.exact_epsilon(name):.4g} | {row(found, alpha)}")
    print(f"| all | | {row(every, alpha)}\n")


def row(found: Sequence[Errors], alpha: float) -> str:
    wrong = sum(e.overstated for e in found)
    chance = stats.binomtest(wrong, len(found), alpha, alternative="greater").pvalue
    cells = [
        f"{len(found):,}",
        str(sum(e.fail for e in found)),
        str(wrong),
        str(sum(e.sequential for e in found)),
        str(sum(e.certificate for e in found)),
        f"{wrong / len(found):.4f} (p = {chance:.2g})",
    ]
    return " | ".join(cells) + " |"


def size_tables() -> None:
    print("## Size: claims that hold with equality\n")
    print(
        f"The claim is the exact ε of the pair, so that every FAIL is an error; {RUNS} runs a side and audit,\n"
        "learning included; runs alone. An audit that is refuted stops, and certifies no longer than it must. At most\n"
        "a share α may err; p: of the binomial test of that, one-sided.\n"
    )
    for alpha, part in ((0.05, 1), (DEFAULT_ALPHA, PART)):
        print(f"### α = {alpha}\n")
        error_table(alpha=alpha, claimed=1.0, certify=False, part=part, first=0)


def coverage_table() -> None:
    print("## Coverage: bounds of audits that go on (`--certify`), α = 0.05\n")
    print(
        "The claim is half of the exact ε: it is false, FAIL is right, and what may exceed the exact ε in a share α\n"
        "of audits is the bound.\n"
    )
    error_table(alpha=0.05, claimed=0.5, certify=True, part=PART, first=100_000)


def audits(subject: RandomisedResponse | Gap, seeds: range, *, runs: int, epsilon: float, certify: bool) -> list[Audit]:
    """One audit by runs alone for every seed."""

    def one(seed: int) -> Audit:
        if QUALITY not in sys.path:
            sys.path.insert(0, QUALITY)
        request = Request(
            (subject,), seed=seed, pair=BIT, runs=runs, epsilon=epsilon, certify=certify, black_box=True
        )
        return engine.run(request).audits[0]

    return over(seeds, one)


def power_table() -> None:
    print(f"## Power: randomised response at ε = 1.2 that claims 1, α = {DEFAULT_ALPHA}\n")
    print(
        "Of 50 audits by runs alone. Theory: the power of the score test of the best event with all the runs and all\n"
        "of α, the event known. Stop: runs a side at which the e-process refutes the claim.\n"
    )
    print("| runs a side | refuted | theory | median stop |")
    print("| --- | --- | --- | --- |")
    p = 1 / (1 + math.exp(-1.2))
    for runs in (2_000, 5_000, 10_000, 20_000):
        print(f"power, {runs} runs", file=sys.stderr, flush=True)
        found = audits(RandomisedResponse(1.2), range(50), runs=runs, epsilon=1.0, certify=False)
        stops = sorted(
            math.inf if a.sequential is None or a.sequential.refuted_at is None else a.sequential.refuted_at
            for a in found
        )
        theory = rejection_probability(p, 1 - p, runs, runs, epsilon=1.0, delta=0.0, alpha=DEFAULT_ALPHA)
        refuted = sum(a.verdict is Verdict.FAIL for a in found)
        stop = "–" if math.isinf(stops[25]) else f"{stops[25]:,.0f}"
        print(f"| {runs:,} | {refuted} of 50 | {theory:.3f} | {stop} |")


def tightness_table() -> None:
    print(f"\n## Tightness: Pr[⊥] = ½ against ½·e⁻², exact ε = 2, α = {DEFAULT_ALPHA}\n")
    print("Median of 10 audits that go on (`--certify`).\n")
    print("| runs a side | certified ε | share of the exact ε |")
    print("| --- | --- | --- |")
    for runs in (1_000, 10_000, 100_000, 1_000_000):
        found = audits(Gap(), range(10), runs=runs, epsilon=1.0, certify=True)
        bound = sorted(a.epsilon_lower or 0.0 for a in found)[5]
        print(f"| {runs:,} | {bound:.4f} | {100 * bound / 2:.1f} % |")


def main() -> None:
    print("# Error rates and power of whole audits\n")
    print("Written by `python benchmarks/error_rates.py > benchmarks/error_rates.md`, some ten minutes on two cores;")
    print("every audit has a seed of its own, and searches its own events.\n")
    size_tables()
    coverage_table()
    power_table()
    tightness_table()


if __name__ == "__main__":
    main()
