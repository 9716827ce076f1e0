"""Games on the hard databases D_n: false refutations of private mechanisms, samples until others are refuted, speed.

    python benchmarks/games.py > benchmarks/games.md

Every audit is by samples alone and has a seed of its own; the two datasets of a game are the only pair.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from scipy.stats import binom

import dpaudit
from dpaudit.interpret import sample
from dpaudit.language import WITH, Bernoulli, Claim, Game, Mechanism, Program, Uniform
from dpaudit.results.model import Audit, Verdict
from dpaudit_algorithms.lower_bounds.hard_databases import DigitGuessing
from dpaudit_algorithms.lower_bounds.hard_distributions import base_at
from dpaudit_audits.lower_bounds.hard_databases import baselines, by_depth, nominal, rec_prefix

ALPHA = 0.01
AUDITS = 200
FEWER = 20
RUNS = {1: 1_000, 2: 100, 3: 120}
"""Samples per dataset of an audit of a private mechanism: a run on D_3 takes some ten milliseconds."""
MOST = {1: 5_000, 2: 1_000, 3: 300}
"""Samples per dataset at most until another one is refuted."""


@dataclass(frozen=True)
class RandomRecord(Mechanism):
    """A record at random: (0, 1/n)-DP, always an interior point, and nearly tight in the game."""

    n: int

    @property
    def claim(self) -> Claim:
        return Claim(0.0, 1 / self.n)

    def run(self, S: Any) -> Program:
        return tuple(S)[(yield Uniform(range(self.n)))]


@dataclass(frozen=True)
class BitResponse(Mechanism):
    """Randomised response: on D_1 it attains ε."""

    epsilon: float

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Program:
        (bit,) = S
        told = yield Bernoulli(1 / (1 + math.exp(-self.epsilon)))
        return bit if told else 1 - bit


def audited(game: Game, claim: Claim, runs: int, seed: int) -> Audit:
    """One audit by samples alone."""
    result = dpaudit.audit(
        game,
        epsilon=claim.epsilon,
        delta=claim.delta,
        pair=Game.sides,
        runs=runs,
        alpha=ALPHA,
        seed=seed,
        black_box=True,
    )
    (audit,) = result.audits
    assert not audit.crashed, audit.reason
    return audit


def private_table() -> None:
    print(f"## Private mechanisms at their claims, α = {ALPHA}\n")
    print("Every FAIL is an error; at most a share α may err. p: of the binomial test of that, one-sided.\n")
    print("These are more samples than any audit of the next table needed, except the slowest, at n = 3.\n")
    print("| mechanism | claim | n | audits | samples per dataset | FAIL | allowed | p |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    subjects: list[tuple[str, Mechanism, int, int]] = [
        ("randomised response (attains its claim)", BitResponse(0.2), 1, AUDITS),
        *(("a record at random (attains its claim but for 1/b)", RandomRecord(n), n, AUDITS) for n in (2, 3)),
        *(("exponential mechanism by depth", by_depth(n), n, AUDITS) for n in (1, 2, 3)),
        *(("RecPrefix", rec_prefix(n), n, AUDITS) for n in (2, 3)),
    ]
    errors = total = 0
    for name, subject, n, audits in subjects:
        claim = subject.claim
        assert claim is not None
        game = DigitGuessing(subject, n)
        failed = sum(audited(game, claim, RUNS[n], seed).verdict is Verdict.FAIL for seed in range(audits))
        errors, total = errors + failed, total + audits
        p = float(binom.sf(failed - 1, audits, ALPHA))
        shown = f"({claim.epsilon:g}, {claim.delta:.3g})"
        counts = f"{audits} | {RUNS[n]:,} | {failed} | {ALPHA * audits:g} | {p:.2g}"
        print(f"| {name} | {shown} | {n} | {counts} |", flush=True)
    p = float(binom.sf(errors - 1, total, ALPHA))
    print(f"| all | | | {total:,} | | {errors} | {ALPHA * total:g} | {p:.2g} |\n")


def refuted_table() -> None:
    print("## Mechanisms that are not private, at (0.2, 1/(50n²)): samples per dataset until refuted\n")
    print(f"{FEWER} audits each with α = {ALPHA}; no pair of datasets is given.\n")
    print("| mechanism | n | refuted | samples per dataset: least | median | most |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, subject in baselines().items():
        for n in (1, 2, 3):
            found = [audited(DigitGuessing(subject, n), nominal(n), MOST[n], seed) for seed in range(FEWER)]
            at = sorted(
                audit.sequential.refuted_at
                for audit in found
                if audit.sequential is not None and audit.sequential.refuted_at is not None
            )
            refuted = sum(audit.verdict is Verdict.FAIL for audit in found)
            runs = f"{at[0]} | {median(at):g} | {at[-1]}" if at else "– | – | –"
            print(f"| {name} | {n} | {refuted} of {FEWER} | {runs} |", flush=True)
    print()


def speed_table() -> None:
    print("## Runs of a game per second (with the secret in the data)\n")
    print("At n = 1 equal runs share their execution path: a million take a millisecond.\n")
    print("| mechanism | n | digits × base | runs/s |")
    print("| --- | --- | --- | --- |")
    for name, make in (("median", None), ("exponential mechanism by depth", by_depth), ("RecPrefix", rec_prefix)):
        for n, runs in ((2, 2_000), (3, 60)):
            game = DigitGuessing(baselines()["median"] if make is None else make(n), n)
            start = time.process_time()
            sample(game, WITH, runs, seed=1)
            speed = runs / (time.process_time() - start)
            digits = {2: "2 × 200", 3: "40,000 × 450"}[n]
            assert str(base_at(n)) in digits
            print(f"| {name} | {n} | {digits} | {float(f'{speed:.2g}'):,.0f} |", flush=True)


def main() -> None:
    print("# Games on the hard databases D_n\n")
    print("Written by `python benchmarks/games.py > benchmarks/games.md`, some fifty minutes on a busy core.\n")
    private_table()
    refuted_table()
    speed_table()


if __name__ == "__main__":
    main()
