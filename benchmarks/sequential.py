"""When the sequential test stops, and how often it errs. Writes sequential.md; progress on stderr.

python benchmarks/sequential.py > benchmarks/sequential.md
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from dpaudit.stats import eprocess
from dpaudit.stats.power import Method, information_limit, rejection_probability, runs_needed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALPHAS = (0.05, 0.001)
GROWTH = 1.1
FIRST = 8
SEEDS = 1_000
PATHS = 2_000
HORIZON = 100_000
METHODS: tuple[Method, ...] = ("score", "clopper_pearson")


@dataclass(frozen=True)
class Case:
    """An event of a mechanism that violates its claim."""

    name: str
    epsilon: float
    delta: float
    p: float
    q: float


def laplace(scale: float, epsilon: float) -> tuple[float, float]:
    """The best half-line for Laplace noise around 1 and around 0."""
    law = stats.laplace(scale=scale)
    return best([(float(law.sf(t - 1)), float(law.sf(t))) for t in np.linspace(-1, 3, 801)], epsilon, 0.0)


def gaussian(sigma: float, epsilon: float, delta: float) -> tuple[float, float]:
    law = stats.norm(scale=sigma)
    return best([(float(law.sf(t - 1)), float(law.sf(t))) for t in np.linspace(-1, 20, 2101)], epsilon, delta)


def sparse_vector(epsilon: float) -> tuple[float, float]:
    """The best event of a sparse vector that answers everything: 1[a_i + Lap(2/ε) >= ρ + 1], ρ ~ Lap(2/ε), i = 1..10.

    Ten queries of value 1, against five of value 2 and five of value 0. Given ρ the answers are independent; ρ is
    integrated out by Gauss-Legendre between the kinks of the integrand. The numbers of positive answers among the first
    five and the last five are sufficient.
    """
    scale, five = 2 / epsilon, np.arange(6)
    places, weights = np.polynomial.legendre.leggauss(200)
    left, right = np.zeros((6, 6)), np.zeros((6, 6))
    kinks = [-40 * scale, -10 * scale, -1.0, 0.0, 1.0, 10 * scale, 40 * scale]
    for low, high in itertools.pairwise(kinks):
        rho = (low + high) / 2 + (high - low) / 2 * places
        mass = weights * (high - low) / 2 * stats.laplace.pdf(rho, scale=scale)

        def positives(value: float, rho: Floats = rho) -> Floats:
            chance = stats.laplace.sf(rho + 1 - value, scale=scale)
            return special.binom(5, five)[:, None] * chance ** five[:, None] * (1 - chance) ** (5 - five)[:, None]

        left += (mass * positives(1.0)) @ positives(1.0).T
        right += (mass * positives(2.0)) @ positives(0.0).T
    order = np.argsort(-(left / right).ravel())
    p, q = np.cumsum(left.ravel()[order])[:-1], np.cumsum(right.ravel()[order])[:-1]
    return best([(float(a), float(b)) for a, b in zip(p, q, strict=True)], epsilon, 0.0)


def best(events: list[tuple[float, float]], epsilon: float, delta: float) -> tuple[float, float]:
    """The event with the least n*."""
    return min(events, key=lambda event: information_limit(*event, epsilon=epsilon, delta=delta, alpha=0.05))


def cases() -> list[Case]:
    classical = math.sqrt(2 * math.log(1.25e5))  # σ of the (1, 1e-5) Gaussian mechanism in the textbooks
    return [
        Case("Laplace ε = .2 claimed .1", 0.1, 0.0, *laplace(1 / 0.2, 0.1)),
        Case("Laplace 2 claimed 1", 1.0, 0.0, *laplace(1 / 2, 1.0)),
        Case("Gaussian with half the classical σ of (1, 1e-5)", 1.0, 1e-5, *gaussian(classical / 2, 1.0, 1e-5)),
        Case("SVT6 claimed .1", 0.1, 0.0, *sparse_vector(0.1)),
        Case("Laplace .11 claimed .1", 0.1, 0.0, *laplace(1 / 0.11, 0.1)),
    ]


def paths(
    p: float, q: float, epsilon: float | Floats, delta: float, *, number: int, seed: int, growth: float = GROWTH
) -> Iterator[tuple[int, Floats]]:
    """(samples per dataset so far, log values of shape (kinds, number, grid)) after every batch, for ever.

    The kinds: `EProcess` with `plug_in`; `SignalMixture`; `EProcess` that knows p and q. All paths at once.
    """
    rng = np.random.default_rng(seed)
    grid = np.atleast_1d(epsilon)
    x, y, done = np.zeros((number, 1), dtype=np.int64), np.zeros((number, 1), dtype=np.int64), 0
    plugged, known = np.zeros((number, grid.size)), np.zeros((number, grid.size))
    signals = np.zeros((eprocess.SIGNALS.size, number, grid.size))
    while True:
        size = math.ceil((growth - 1) * done) if done else FIRST
        new_x, new_y = rng.binomial(size, p, (number, 1)), rng.binomial(size, q, (number, 1))
        a, b = eprocess.plug_in(x, done, y, done, epsilon=grid, delta=delta)
        plugged += eprocess.log_e_value(new_x, size, new_y, size, p=a, q=b, epsilon=grid, delta=delta)
        signals += eprocess.signal_log_e_values(new_x, size, new_y, size, p=a, q=b, epsilon=grid, delta=delta)
        known += eprocess.log_e_value(new_x, size, new_y, size, p=p, q=q, epsilon=grid, delta=delta)
        x, y, done = x + new_x, y + new_y, done + size
        yield done, np.array([plugged, np.logaddexp.reduce(signals, axis=0) - math.log(len(signals)), known])


def stopping_times(case: Case, *, seed: int, growth: float) -> Floats:
    """Samples per dataset until the claim is rejected, shape (kinds, alphas, seeds); inf after 40 n*."""
    most = 40 * information_limit(case.p, case.q, epsilon=case.epsilon, delta=case.delta, alpha=min(ALPHAS))
    found = np.full((3, len(ALPHAS), SEEDS), np.inf)
    for done, values in paths(
        case.p, case.q, case.epsilon, case.delta, number=SEEDS, seed=seed, growth=growth
    ):
        for i, alpha in enumerate(ALPHAS):
            now = (values[..., 0] >= math.log(1 / alpha)) & np.isinf(found[:, i])
            found[:, i][now] = done
        # nothing but medians and 80 % quantiles is shown
        if done > most or (np.isfinite(found).mean(axis=2) > 0.85).all():
            return found
    raise AssertionError("paths do not end")


def hoeffding(case: Case, alpha: float) -> float:
    """Samples per dataset for 80 % power (normal approximation) of the test by Hoeffding's inequality.

    The mean of X - e^ε Y - δ, whose range is 1 + e^ε, must exceed (1 + e^ε) sqrt(ln(1/α)/(2n)).
    """
    ratio = math.exp(case.epsilon)
    surplus = case.p - ratio * case.q - case.delta
    noise = math.sqrt(case.p * (1 - case.p) + ratio**2 * case.q * (1 - case.q))
    return (((1 + ratio) * math.sqrt(math.log(1 / alpha) / 2) + stats.norm.ppf(0.8) * noise) / surplus) ** 2


def stopping_table(alpha_index: int, found: list[tuple[Case, Floats]]) -> None:
    alpha = ALPHAS[alpha_index]
    print(f"\n## Samples until a claim is refuted, α = {alpha}\n")
    print(
        "| case | p, q of the event | n* | p and q known | plug-in | mixture | mixture / n* "
        "| mixture, 80 % stopped | score test | Clopper–Pearson split | Hoeffding |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for case, times in found:
        claim = {"epsilon": case.epsilon, "delta": case.delta, "alpha": alpha}
        limit = information_limit(case.p, case.q, **claim)
        score = runs_needed(case.p, case.q, epsilon=case.epsilon, delta=case.delta, alpha=alpha)
        split = runs_needed(
            case.p, case.q, epsilon=case.epsilon, delta=case.delta, alpha=alpha, method="clopper_pearson"
        )
        plugged, mixed, known = np.median(times[:, alpha_index], axis=1)
        late = np.quantile(times[1, alpha_index], 0.8)
        print(
            f"| {case.name} | {case.p:.4f}, {case.q:.4f} | {limit:,.0f} | {known:,.0f} | {plugged:,.0f} "
            f"| {mixed:,.0f} | {mixed / limit:.2f} | {late:,.0f} "
            f"| {score:,} | {split:,} | {hoeffding(case, alpha):,.0f} |"
        )


def growth_table() -> None:
    print("\n## How fast batches grow\n")
    print("Median stop of the mixture at α = .05 divided by n*, other seeds than above.\n")
    factors = (1.05, 1.1, 1.2, 1.3)
    print("| case | " + " | ".join(f"{factor}" for factor in factors) + " |")
    print("| --- |" + " --- |" * len(factors))
    for number, case in enumerate(cases()):
        cells = []
        for factor in factors:
            progress(f"{case.name}, batches × {factor}")
            limit = information_limit(case.p, case.q, epsilon=case.epsilon, delta=case.delta, alpha=0.05)
            times = stopping_times(case, seed=200 + number, growth=factor)
            cells.append(f"{np.median(times[1, 0]) / limit:.2f}")
        print(f"| {case.name} | " + " | ".join(cells) + " |")


def size_table() -> None:
    print("\n## Share of paths that ever reject a true claim\n")
    print(
        f"The claim holds with equality, p = e^ε q + δ; {PATHS:,} paths of {HORIZON:,} samples per dataset, tested\n"
        "after every batch. A share is marked if it is above α with a binomial p-value below 1e-6. The fixed tests:\n"
        "their rejection probability at 1,000 samples per dataset, computed (`power.rejection_probability`; "
        "approximate for\n"
        "the score test).\n"
    )
    print(
        "| q | ε | δ | plug-in .05 | mixture .05 | plug-in .001 | mixture .001 "
        "| score .05 | split .05 | score .001 | split .001 |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    grid = [(q, e, d) for d in (0.0, 1e-5, 0.01) for e in (0.1, 1.0, 5.0) for q in (1e-5, 1e-3, 0.1, 0.5)]
    for number, (q, epsilon, delta) in enumerate(grid):
        p = math.exp(epsilon) * q + delta
        if p > 0.999:
            continue
        progress(f"null q = {q}, ε = {epsilon}, δ = {delta}")
        peaks = np.zeros((3, PATHS))
        for done, values in paths(p, q, epsilon, delta, number=PATHS, seed=1_000 + number):
            peaks = np.maximum(peaks, values[..., 0])
            if done >= HORIZON:
                break
        cells = [share((peaks[kind] >= math.log(1 / a)), a) for a in ALPHAS for kind in (0, 1)]
        for alpha in ALPHAS:
            for method in METHODS:
                chance = rejection_probability(
                    p, q, 1_000, 1_000, epsilon=epsilon, delta=delta, alpha=alpha, method=method
                )
                cells.append(f"{chance:.4f}")
        print(f"| {q:g} | {epsilon:g} | {delta:g} | " + " | ".join(cells) + " |")


def coverage_table() -> None:
    print("\n## Share of paths on which the bound ever exceeds the true ε\n")
    print(
        "The bound is `epsilon_lower` on a grid of 41 levels up to 4, over all batches of 500 paths of 20,000 "
        "samples per dataset.\np = e^ε q + δ at the true ε; 0.55, 2.05 and 0.05 lie between two levels of the grid.\n"
    )
    print("| q | true ε | δ | plug-in .05 | mixture .05 | mixture .001 | median bound .05: plug-in | mixture |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    grid = np.linspace(0, 4, 41)
    for number, (q, epsilon, delta) in enumerate(
        [(0.2, 0.5, 0.0), (0.2, 0.55, 0.0), (0.01, 2.0, 0.0), (0.01, 2.05, 0.01), (1e-3, 3.0, 0.0), (0.5, 0.05, 0.0)]
    ):
        progress(f"coverage q = {q}, ε = {epsilon}, δ = {delta}")
        peaks = np.zeros((3, 500, grid.size))
        p = math.exp(epsilon) * q + delta
        for done, values in paths(p, q, grid, delta, number=500, seed=2_000 + number, growth=1.2):
            peaks = np.maximum(peaks, values)
            if done >= 20_000:
                break
        bounds = {
            (kind, alpha): np.array([eprocess.largest_rejected(grid, path, alpha=alpha) for path in peaks[kind]])
            for kind in (0, 1)
            for alpha in ALPHAS
        }
        shares = [share(bounds[key] > epsilon, key[1]) for key in ((0, 0.05), (1, 0.05), (1, 0.001))]
        medians = [f"{np.median(bounds[kind, 0.05]):.1f}" for kind in (0, 1)]
        print(f"| {q:g} | {epsilon:g} | {delta:g} | " + " | ".join([*shares, *medians]) + " |")


def share(wrong: NDArray[np.bool_], alpha: float) -> str:
    number = int(wrong.sum())
    significant = stats.binomtest(number, wrong.size, alpha, alternative="greater").pvalue < 1e-6
    return f"{number / wrong.size:.4f}" + (" **above α**" if significant else "")


def progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def timed(table: Callable[[], None]) -> None:
    progress(table.__name__)
    table()


def main() -> None:
    print("# The sequential test: stopping times and errors\n")
    print("Written by `python benchmarks/sequential.py > benchmarks/sequential.md`, a few minutes on one core.")
    print("Fixed seeds.")
    print(
        f"""
The process does not know p and q. A batch of {FIRST} samples per dataset, then each a tenth of all so far. Stops are
medians over {SEEDS:,} seeds, in samples per dataset, at the end of a batch: neighbouring values are 10 % apart. Plug-in
is `EProcess` with `plug_in`, mixture is `SignalMixture`, whose signals were chosen on these cases with other seeds;
"p and q known" is `EProcess` with the true p and q. n* is `power.information_limit`; the event is the threshold event
(SVT6: the likelihood-ratio event) that minimises it. For the fixed tests: the samples for 80 % power, Hoeffding's by
the normal approximation. SVT6: ten queries of value 1 against five of 2 and five of 0, threshold 1, all answered."""
    )
    found = []
    for number, case in enumerate(cases()):
        progress(case.name)
        found.append((case, stopping_times(case, seed=100 + number, growth=GROWTH)))
    for i in range(len(ALPHAS)):
        stopping_table(i, found)
    timed(growth_table)
    timed(size_table)
    timed(coverage_table)


if __name__ == "__main__":
    main()
