"""Claims that are curves: are wrong ones refuted, right ones not, and what does testing the whole curve cost?

python benchmarks/claims.py > benchmarks/claims.md
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy import stats

from dpaudit.engine.orchestrator import run
from dpaudit.language import Claim, Curve, GaussianDP, Profile, Renyi, TradeOff, parse_curve
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.stats.martingale import CurveMartingale

AUDITS = 200
ALPHA = 0.001
BOUNDARY = 2_000
BOUNDARY_ALPHA = 0.05
BOUNDARY_AUDITS = 200
BOUNDARY_RUNS = 600
PER_POINT = 12
PROCESSES = 8

Mechanism = Callable[..., object]


@dataclass(frozen=True)
class Gaussian:
    """A sum with Gaussian noise: μ-GDP with μ = 1/σ for neighbours that differ by 1."""

    sigma: float

    def __call__(self, dataset: list[float], rng: Generator, size: int) -> object:
        return sum(dataset) + rng.normal(0.0, self.sigma, size)


@dataclass(frozen=True)
class SampledGaussian:
    """DP-SGD's core: in each step every record counts with probability `rate`, and noise is added."""

    noise: float
    rate: float
    steps: int

    def __call__(self, dataset: list[float], rng: Generator, size: int) -> object:
        chosen = rng.binomial(round(sum(dataset)), self.rate, (size, self.steps))
        noisy = chosen + rng.normal(0.0, self.noise, (size, self.steps))
        return noisy[:, 0] if self.steps == 1 else noisy


@dataclass(frozen=True)
class Case:
    """A mechanism with a claim."""

    name: str
    mechanism: Mechanism
    curve: str
    wrong: bool
    runs: int


def dp_sgd(rate: float, steps: int) -> str:
    return f"dp-sgd(noise=1.0, rate={rate!r}, steps={steps})"


CASES = (
    Case("RDP of Gaussian noise, μ = 1: right at 2, 1.2 instead of 4 at order 8", Gaussian(1.0),
         "rdp(2: 1.0, 8: 1.2)", True, 20_000),
    Case("RDP of Gaussian noise, μ = 1: 0.5 instead of 1 at order 2, right at 8", Gaussian(1.0),
         "rdp(2: 0.5, 8: 4.0)", True, 20_000),
    Case("RDP of Gaussian noise, μ = 1, right at both orders", Gaussian(1.0), "rdp(2: 1.0, 8: 4.0)", False, 10_000),
    Case("0.9-GDP of 1-GDP noise", Gaussian(1.0), "gdp(0.9)", True, 50_000),
    Case("1-GDP of 1-GDP noise", Gaussian(1.0), "gdp(1.0)", False, 50_000),
    Case("PLD, 1 step, rate 0.3 stated as 0.2", SampledGaussian(1.0, 0.3, 1), dp_sgd(0.2, 1), True, 30_000),
    Case("PLD, 1 step, rate 0.3", SampledGaussian(1.0, 0.3, 1), dp_sgd(0.3, 1), False, 20_000),
    Case("PLD, 4 steps, rate 0.3 stated as 0.15", SampledGaussian(1.0, 0.3, 4), dp_sgd(0.15, 4), True, 5_000),
    Case("PLD, 4 steps, rate 0.3", SampledGaussian(1.0, 0.3, 4), dp_sgd(0.3, 4), False, 5_000),
)


def audit(
    mechanism: Mechanism, claim: Claim, *, runs: int, seed: int, alpha: float = ALPHA
) -> tuple[Verdict, int | None, int]:
    """The verdict, samples per dataset until the e-process refuted, and all samples."""
    request = Request(
        (mechanism,), claim=claim, pair=((1,), (0,)), runs=runs, seed=seed, alpha=alpha, door="Python",
        min_power=math.inf,
    )
    one = run(request).audits[0]
    return one.verdict, None if one.sequential is None else one.sequential.refuted_at, one.runs


@lru_cache(maxsize=8)
def _curve(text: str) -> Curve:
    return parse_curve(text)


def of_case(job: tuple[Case, int]) -> tuple[Verdict, int | None, int]:
    case, seed = job
    return audit(case.mechanism, Claim.of(_curve(case.curve)), runs=case.runs, seed=seed)


def table(pool: ProcessPoolExecutor) -> Iterator[str]:
    """Wrong and right claims."""
    yield "| mechanism and claim | should be | refuted | by the e-process | median samples per dataset until then |"
    yield "| --- | --- | --- | --- | --- |"
    for case in CASES:
        ended = list(pool.map(of_case, [(case, seed) for seed in range(AUDITS)], chunksize=10))
        refuted = sum(verdict is Verdict.FAIL for verdict, _, _ in ended)
        stops = [stop for _, stop, _ in ended if stop is not None]
        median = f"{statistics.median(stops):,.0f}" if stops else "–"
        should = "refuted" if case.wrong else "kept"
        yield f"| {case.name}, {case.runs:,} samples | {should} | {refuted} of {AUDITS} | {len(stops)} | {median} |"
        print(case.name, refuted, median, file=sys.stderr, flush=True)


TRUE = 1 / (1 + math.exp(-1.0))
LIE = 1 - TRUE
THRESHOLDS = np.linspace(-1.5, 2.5, 17)
BOUNDARY_CASES: tuple[tuple[str, Curve, np.ndarray, np.ndarray], ...] = (
    ("1-GDP, threshold events of Gaussian noise", GaussianDP(1.0),
     stats.norm.sf(THRESHOLDS - 1), stats.norm.sf(THRESHOLDS)),
    ("1.232-GDP, randomised response with ε = 1", GaussianDP(2 * float(stats.norm.ppf(TRUE))),
     np.array([TRUE]), np.array([LIE])),
    ("RDP at order 2, randomised response with ε = 1", Renyi({2: math.log(TRUE**2 / LIE + LIE**2 / TRUE)}),
     np.array([TRUE]), np.array([LIE])),
    ("f-DP, randomised response with ε = 1", TradeOff({0: 1, LIE: LIE, 1: 0}), np.array([TRUE]), np.array([LIE])),
    ("profile at two ε, randomised response with ε = 1", Profile({0: TRUE - LIE, 1: 0.0}),
     np.array([TRUE]), np.array([LIE])),
)
BATCHES = [5, *(max(1, round(5 * 1.3**i)) for i in range(1, 22))]
"""Sizes of batches: 1,400 samples per dataset in all."""


def of_boundary(job: tuple[int, int]) -> bool:
    """Whether `CurveMartingale` ever reaches 1/α; event and point of each batch maximise the score of past batches."""
    which, seed = job
    _, curve, p, q = BOUNDARY_CASES[which]
    rng = np.random.default_rng([which, seed])
    epsilons, deltas = np.array(curve.points).T
    ratios = np.exp(epsilons)
    # counts of nested threshold events, from the cells between them
    cells = [-np.diff(np.concatenate([[1.0], one, [0.0]])) for one in (p, q)]
    x, y, n = np.zeros(len(p), dtype=int), np.zeros(len(q), dtype=int), 0
    process = CurveMartingale()
    for size in BATCHES:
        fresh = [rng.multinomial(size, np.clip(one, 0, 1) / one.sum())[::-1].cumsum()[::-1][1:] for one in cells]
        if n:
            a, b = (x + 0.5) / (n + 1), (y + 0.5) / (n + 1)
            noise = np.sqrt(a * (1 - a) + np.multiply.outer(ratios**2, b * (1 - b)))
            scores = (a - np.multiply.outer(ratios, b) - deltas[:, None]) / noise
            point, event = divmod(int(scores.argmax()), len(p))
            process.update(
                int(fresh[0][event]), size, int(fresh[1][event]), size,
                past=(int(x[event]), n, int(y[event]), n), point=(float(epsilons[point]), float(deltas[point])),
            )
        x, y, n = x + fresh[0], y + fresh[1], n + size
    return bool(process.log_peaks[0] >= math.log(1 / BOUNDARY_ALPHA))


def of_boundary_audit(seed: int) -> bool:
    verdict, _, _ = audit(
        Gaussian(1.0), Claim.of(_curve("gdp(1.0)")), runs=BOUNDARY_RUNS, seed=10_000 + seed, alpha=BOUNDARY_ALPHA
    )
    return verdict is Verdict.FAIL


def boundary(pool: ProcessPoolExecutor) -> Iterator[str]:
    """Mechanisms that meet their claims with equality."""
    yield "| claim, met with equality | refuted | of | share |"
    yield "| --- | --- | --- | --- |"
    for which, (name, _, _, _) in enumerate(BOUNDARY_CASES):
        refuted = sum(pool.map(of_boundary, [(which, seed) for seed in range(BOUNDARY)], chunksize=50))
        yield f"| {name}: the e-process | {refuted} | {BOUNDARY:,} | {refuted / BOUNDARY:.4f} |"
        print(name, refuted, file=sys.stderr, flush=True)
    refuted = sum(pool.map(of_boundary_audit, range(BOUNDARY_AUDITS), chunksize=10))
    yield (
        f"| 1-GDP, Gaussian noise: whole audits of {BOUNDARY_RUNS} samples | {refuted} | {BOUNDARY_AUDITS} | "
        f"{refuted / BOUNDARY_AUDITS:.4f} |"
    )


POWER: tuple[tuple[str, Mechanism, Curve, int], ...] = (
    ("0.9-GDP of 1-GDP noise", Gaussian(1.0), GaussianDP(0.9), 100_000),
    ("RDP(2: 1, 8: 1.2) of 1-GDP noise", Gaussian(1.0), Renyi({2: 1.0, 8: 1.2}), 50_000),
)


def of_power(job: tuple[int, float | None, int]) -> int:
    which, epsilon, seed = job
    _, mechanism, curve, runs = POWER[which]
    claim = Claim.of(curve) if epsilon is None else Claim(epsilon, curve.delta_at(epsilon))
    _, stop, _ = audit(mechanism, claim, runs=runs, seed=20_000 + seed)
    return runs if stop is None else stop


def power(pool: ProcessPoolExecutor) -> Iterator[str]:
    """Samples until refutation, of the whole curve and of single points of it."""
    yield (
        "| mechanism and claim | whole curve | best single point | curve / best | "
        "median over the points tried | points tried |"
    )
    yield "| --- | --- | --- | --- | --- | --- |"
    for which, (name, _, curve, runs) in enumerate(POWER):
        def median(epsilon: float | None, which: int = which) -> float:
            jobs = [(which, epsilon, seed) for seed in range(PER_POINT)]
            return statistics.median(pool.map(of_power, jobs, chunksize=4))

        points = curve.points[: 3 * len(curve.points) // 4 : max(1, len(curve.points) // 6)]
        whole = median(None)
        each = {epsilon: median(epsilon) for epsilon, _ in points}
        best = min(each, key=each.__getitem__)
        middle = statistics.median(each.values())
        shown = f"{middle:,.0f}" if middle < runs else f"not within {runs:,}"
        yield (
            f"| {name} | {whole:,.0f} | {each[best]:,.0f} (ε = {best:.3g}) | {whole / each[best]:.2f} | {shown} | "
            f"{len(each)} |"
        )
        print(name, whole, each, file=sys.stderr, flush=True)


def main() -> None:
    with ProcessPoolExecutor(PROCESSES) as pool:
        print("# Claims that are curves\n")
        print(
            "Written by `python benchmarks/claims.py > benchmarks/claims.md`. Fixed seeds. Audits of functions, by "
            f"samples alone, at α = {ALPHA} unless said otherwise.\n"
        )
        print(f"## Wrong and right claims, {AUDITS} audits each\n")
        for line in table(pool):
            print(line, flush=True)
        print(
            f"\n## At the boundary of the null hypothesis\n\nα = {BOUNDARY_ALPHA}; a valid test refutes at most "
            "that share.\n"
        )
        for line in boundary(pool):
            print(line, flush=True)
        print(
            "\n## What testing the whole curve costs\n\nMedian samples per dataset until the e-process refutes, "
            f"{PER_POINT} audits each. The best single point is known only to someone who knows the violation.\n"
        )
        for line in power(pool):
            print(line, flush=True)


if __name__ == "__main__":
    main()
