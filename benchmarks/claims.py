"""Claims that are curves: are wrong ones refuted, right ones not, and what does testing the whole curve cost?

python benchmarks/claims.py > benchmarks/claims.md
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from scipy import stats

from dpaudit.engine.orchestrator import run
from dpaudit.language import Claim, Curve, GaussianDP, Profile, Renyi, TradeOff, parse_curve
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.stats.eprocess import Counts, EProcess

AUDITS = 200
FIRST_BATCH = 5
GRID = np.linspace(-3.0, 5.0, 33)
ALPHA = 0.001
BOUNDARY = 2_000
BOUNDARY_ALPHA = 0.05
BOUNDARY_AUDITS = 40
BOUNDARY_RUNS = 600
PER_POINT = 20
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
         "rdp(2: 1.0, 8: 1.2)", True, 50_000),
    Case("RDP of Gaussian noise, μ = 1: 0.5 instead of 1 at order 2, right at 8", Gaussian(1.0),
         "rdp(2: 0.5, 8: 4.0)", True, 50_000),
    Case("RDP of Gaussian noise, μ = 1, right at both orders", Gaussian(1.0), "rdp(2: 1.0, 8: 4.0)", False, 50_000),
    Case("0.9-GDP of 1-GDP noise", Gaussian(1.0), "gdp(0.9)", True, 50_000),
    Case("1-GDP of 1-GDP noise", Gaussian(1.0), "gdp(1.0)", False, 50_000),
    Case("PLD, 1 step, rate 0.3 stated as 0.2", SampledGaussian(1.0, 0.3, 1), dp_sgd(0.2, 1), True, 60_000),
    Case("PLD, 1 step, rate 0.3", SampledGaussian(1.0, 0.3, 1), dp_sgd(0.3, 1), False, 60_000),
    Case("PLD, 4 steps, rate 0.3 stated as 0.15", SampledGaussian(1.0, 0.3, 4), dp_sgd(0.15, 4), True, 10_000),
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


def statistic(case: Case, outputs: np.ndarray) -> np.ndarray:
    """What threshold events are made of: the output, or the log-likelihood ratio of several steps."""
    if not isinstance(case.mechanism, SampledGaussian) or case.mechanism.steps == 1:
        return outputs
    rate, noise = case.mechanism.rate, case.mechanism.noise
    ratio: np.ndarray = np.log(1 - rate + rate * np.exp((2 * outputs - 1) / (2 * noise**2))).sum(axis=1)
    return ratio


def refuted_at(
    curve: Curve, draw: Callable[[Generator, int], tuple[np.ndarray, np.ndarray]], runs: int, alpha: float,
    rng: Generator,
) -> int | None:
    """Samples per dataset until the e-process of a curve reaches 1/α; None if it does not.

    Event and point of each batch maximise the standard score of the earlier batches.

    Args:
        curve: the claim.
        draw: counts of nested events in a batch of this size on both datasets.
        runs: most samples per dataset.
        alpha: the error.
        rng: of the samples.
    """
    epsilons, deltas = np.array(curve.points).T
    ratios = np.exp(epsilons)
    x, y = draw(rng, FIRST_BATCH)
    n = FIRST_BATCH
    process = EProcess([0.0], 0.0)
    while n < runs:
        size = min(max(1, n // 5), runs - n)
        a, b = (x + 0.5) / (n + 1), (y + 0.5) / (n + 1)
        noise = np.sqrt(a * (1 - a) + np.multiply.outer(ratios**2, b * (1 - b)))
        point, event = divmod(int(((a - np.multiply.outer(ratios, b) - deltas[:, None]) / noise).argmax()), len(x))
        hits, others = draw(rng, size)
        process.update(
            Counts(int(hits[event]), size, int(others[event]), size), past=Counts(int(x[event]), n, int(y[event]), n),
            point=(float(epsilons[point]), float(deltas[point])),
        )
        x, y, n = x + hits, y + others, n + size
        if process.log_peaks[0] >= math.log(1 / alpha):
            return n
    return None


def of_path(job: tuple[Case, int]) -> int | None:
    """The e-process alone, on threshold events."""
    case, seed = job

    def draw(rng: Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        hits = []
        for dataset in ([1.0], [0.0]):
            values = np.sort(statistic(case, np.asarray(case.mechanism(dataset, rng, size))))
            hits.append(size - np.searchsorted(values, GRID))
        # events and their complements, the one dataset first
        return np.concatenate([hits[0], size - hits[1]]), np.concatenate([hits[1], size - hits[0]])

    return refuted_at(_curve(case.curve), draw, case.runs, ALPHA, np.random.default_rng([1, seed]))


def table(pool: ProcessPoolExecutor) -> Iterator[str]:
    """Wrong and right claims."""
    yield (
        f"| mechanism and claim, most samples per dataset | should be | e-process refutes, of {AUDITS} | "
        "median samples until then | whole audits refute |"
    )
    yield "| --- | --- | --- | --- | --- |"
    for case in CASES:
        jobs = [(case, seed) for seed in range(AUDITS)]
        stops = list(pool.map(of_path, jobs, chunksize=10))
        refuted = [stop for stop in stops if stop is not None]
        median = f"{statistics.median(refuted):,.0f}" if refuted else "–"
        whole = [verdict for verdict, _, _ in pool.map(of_case, jobs, chunksize=10)]
        failed = sum(verdict is Verdict.FAIL for verdict in whole)
        should = "refuted" if case.wrong else "kept"
        yield f"| {case.name}, {case.runs:,} | {should} | {len(refuted)} | {median} | {failed} of {len(whole)} |"
        print(case.name, len(refuted), median, failed, file=sys.stderr, flush=True)


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
def of_boundary(job: tuple[int, int]) -> bool:
    which, seed = job
    _, curve, p, q = BOUNDARY_CASES[which]
    # cells between nested events
    cells = [-np.diff(np.concatenate([[1.0], one, [0.0]])) for one in (p, q)]

    def draw(rng: Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        hits = [rng.multinomial(size, np.clip(one, 0, 1) / one.sum())[::-1].cumsum()[::-1][1:] for one in cells]
        return np.concatenate([hits[0], size - hits[1]]), np.concatenate([hits[1], size - hits[0]])

    return refuted_at(curve, draw, 1_500, BOUNDARY_ALPHA, np.random.default_rng([which, seed])) is not None


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


POWER = (CASES[0], CASES[1], CASES[3], CASES[5], CASES[7])


def of_power(job: tuple[Case, float | None, int]) -> int:
    case, epsilon, seed = job
    curve = _curve(case.curve)
    one = curve if epsilon is None else Profile({epsilon: curve.delta_at(epsilon)})
    runs = 100_000
    tested = replace(case, curve=one.text, runs=runs)
    return of_path((tested, 1_000 + seed)) or runs


def power(pool: ProcessPoolExecutor) -> Iterator[str]:
    """Samples until refutation, of the whole curve and of single points of it."""
    yield (
        "| mechanism and claim | whole curve | best single point | curve / best | median over the points | points |"
    )
    yield "| --- | --- | --- | --- | --- | --- |"
    for case in POWER:
        def median(epsilon: float | None, case: Case = case) -> float:
            return statistics.median(pool.map(of_power, [(case, epsilon, seed) for seed in range(PER_POINT)]))

        points = _curve(case.curve).points
        whole = median(None)
        each = {epsilon: median(epsilon) for epsilon, _ in points[:: max(1, len(points) // 8)]}
        best = min(each, key=each.__getitem__)
        middle = statistics.median(each.values())
        shown = f"{middle:,.0f}" if middle < 100_000 else "not within 100,000"
        yield (
            f"| {case.name} | {whole:,.0f} | {each[best]:,.0f} (ε = {best:.3g}) | {whole / each[best]:.2f} | {shown} | "
            f"{len(each)} |"
        )
        print(case.name, whole, each, file=sys.stderr, flush=True)


def main() -> None:
    with ProcessPoolExecutor(PROCESSES) as pool:
        print("# Claims that are curves\n")
        print(
            "Written by `python benchmarks/claims.py > benchmarks/claims.md`. Fixed seeds, samples alone, "
            f"α = {ALPHA} unless said otherwise.\n"
        )
        print("## Wrong and right claims\n\nThe e-process on threshold events, and whole audits "
            "(learned events, all tests).\n")
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
            f"{PER_POINT} paths each, threshold events. The best single point is known only to someone who knows "
            "the violation.\n"
        )
        for line in power(pool):
            print(line, flush=True)


if __name__ == "__main__":
    main()
