"""Samples until a claim is refuted, beside the information limit.

python benchmarks/stopping.py --jobs 2 > benchmarks/stopping.md

Eight mechanisms that the auditor was not made on, and 100 drawn at random: finite kernels and noise of random scale.
What has ended is kept (--keep FILE, by default benchmarks/stopping.jsonl), and the same command goes on where it was
stopped; --tables prints what there is and runs nothing. Delete the file to begin anew. Progress on stderr.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import resumable
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from scipy import integrate, optimize, stats
from scipy.special import rel_entr

import dpaudit
from dpaudit.evidence.sampling import batches
from dpaudit.plans.alpha_shares import shares
from dpaudit.stats.boundary import nearest
from dpaudit.stats.eprocess import Counts, EProcess
from dpaudit.stats.power import runs_needed

KEPT = Path(__file__).resolve().parent / "stopping.jsonl"
ALPHA = 0.05
RUNS = 1_000_000
SEEDS = 15
RANDOM = 100
LEAST, MOST = 10, 20_000
"""n* of the mechanisms that are drawn."""
CELLS = 20_000
KNOWN_SEEDS = 200
"""Paths on which the event is known; they cost next to nothing."""

Floats = NDArray[np.float64]
Function = Callable[[tuple[int, ...], Generator, int], Any]
ONE, ZERO = (1,), (0,)
"""The two datasets of every pair."""


@dataclass(frozen=True)
class Subject:
    """A mechanism that violates its claim, and its output distributions in cells of equal likelihood ratio.

    Args:
        name: for the tables.
        function: f(dataset, rng, size).
        p, q: probabilities of the cells on the two datasets.
        epsilon, delta: of the claim.
    """

    name: str
    function: Function
    p: Floats
    q: Floats
    epsilon: float
    delta: float = 0.0


# --- what is known of the distributions -------------------------------------------------------------------------------


def limit(subject: Subject) -> tuple[float, float, float]:
    """n*, and the probabilities of the event that has it on the dataset where it is more likely and on the other."""
    found = [least(subject, reverse=reverse) for reverse in (False, True)]
    n_star, inside = min(found, key=lambda one: one[0])
    p, q = float(subject.p[inside].sum()), float(subject.q[inside].sum())
    return n_star, max(p, q), min(p, q)


def events(subject: Subject) -> tuple[Floats, Floats]:
    """Probabilities of the best event, of the best one of the other direction apart from it, and of the rest."""
    found = [least(subject, reverse=reverse) for reverse in (False, True)]
    reverse = found[1][0] < found[0][0]
    first, second = (inside for _, inside in (found[::-1] if reverse else found))
    apart = (first, second & ~first, ~(first | second))
    left, right = (np.array([side[inside].sum() for inside in apart]) for side in (subject.p, subject.q))
    left, right = left / left.sum(), right / right.sum()
    return (right, left) if reverse else (left, right)


def least(subject: Subject, *, reverse: bool) -> tuple[float, NDArray[np.bool_]]:
    """The least n* of all unions of cells in one direction, and that union: it has the cells of largest ratios."""
    more, less = (subject.q, subject.p) if reverse else (subject.p, subject.q)
    ratio, delta = math.exp(subject.epsilon), subject.delta
    inside = np.zeros(len(more), dtype=np.bool_)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(more > 0, more / less, 0.0), kind="stable")
    a, b = (np.minimum(np.cumsum(side[order]), 1.0)[:-1] for side in (more, less))
    outside = a > ratio * b + delta + 1e-12
    if not outside.any():
        return math.inf, inside
    a_null, b_null = nearest(a, b, ratio=ratio, delta=delta, n=1, m=1)
    nats = rel_entr(a, a_null) + rel_entr(1 - a, 1 - a_null) + rel_entr(b, b_null) + rel_entr(1 - b, 1 - b_null)
    at = int(np.argmax(np.where(outside, nats, -1.0)))
    inside[order[: at + 1]] = True
    return math.log(1 / ALPHA) / float(nats[at]), inside


def exact(p: Floats, q: Floats, delta: float) -> float:
    """The least ε at δ, of both directions."""

    if delta == 0:
        either = (p > 1e-15) | (q > 1e-15)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(p[either]) - np.log(q[either])).max())

    def worst(epsilon: float) -> float:
        ratio = math.exp(epsilon)
        return max(float(np.maximum(p - ratio * q, 0).sum()), float(np.maximum(q - ratio * p, 0).sum())) - delta

    if worst(0.0) <= 0:
        return 0.0
    return float(optimize.brentq(worst, 0.0, 30.0)) if worst(30.0) < 0 else math.inf


def shifted(law: Any, shift: float, *, whole: bool = False) -> tuple[Floats, Floats]:
    """The cells of noise that is added to `shift` and to 0."""
    if whole:
        values = np.arange(-3_000, 3_001)
        return law.pmf(values - shift), law.pmf(values)
    edges = np.concatenate([[-np.inf], np.linspace(law.ppf(1e-12), law.ppf(1 - 1e-12) + shift, CELLS), [np.inf]])
    return np.diff(law.cdf(edges - shift)), np.diff(law.cdf(edges))


def noise(
    name: str, law: Any, epsilon: float, delta: float = 0.0, *, shift: float = 1.0, whole: bool = False
) -> Subject:
    """Additive noise."""

    def function(dataset: tuple[int, ...], rng: Generator, size: int) -> Any:
        return dataset[0] * (int(shift) if whole else shift) + law.rvs(size=size, random_state=rng)

    return Subject(name, function, *shifted(law, shift, whole=whole), epsilon, delta)


def kernel(name: str, p: Floats, q: Floats, values: list[Any], epsilon: float, delta: float = 0.0) -> Subject:
    """A finite output distribution for each dataset."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values

    def function(dataset: tuple[int, ...], rng: Generator, size: int) -> Any:
        return list(objects[rng.choice(len(values), size=size, p=p if dataset[0] else q)])

    return Subject(name, function, p, q, epsilon, delta)


def staircase(epsilon: float, sensitivity: int, step: int) -> Any:
    """The staircase mechanism's noise on integers: P(k) ∝ exp(−ε ⌊(|k| + sensitivity − step)/sensitivity⌋)."""
    values = np.arange(-600, 601)
    weights = np.exp(-epsilon * ((np.abs(values) + sensitivity - step) // sensitivity))
    return stats.rv_discrete(values=(values, weights / weights.sum()))


def gaussian_scale(epsilon: float, delta: float) -> float:
    """The least σ for (ε, δ) at sensitivity 1 (Balle and Wang, ICML 2018)."""

    def surplus(sigma: float) -> float:
        a, b = 1 / (2 * sigma), epsilon * sigma
        return float(stats.norm.cdf(a - b) - math.exp(epsilon) * stats.norm.cdf(-a - b)) - delta

    return float(optimize.brentq(surplus, 0.05, 100.0))


# --- the mechanisms ---------------------------------------------------------------------------------------------------


def noisy_max() -> Subject:
    """Of scores 1, 0, …, 0 or 0, 1, …, 1, the index of the largest with Laplace noise of scale 2."""
    first = np.array([1.0] + [0.0] * 7)

    def function(dataset: tuple[int, ...], rng: Generator, size: int) -> Any:
        return ((first if dataset[0] else 1 - first) + rng.laplace(scale=2, size=(size, 8))).argmax(axis=1)

    law = stats.laplace(scale=2)

    def chances(scores: Floats) -> Floats:
        first_wins = integrate.quad(
            lambda x: law.pdf(x - scores[0]) * law.cdf(x - scores[1]) ** 7, -60, 60, points=[0, 1], limit=200
        )[0]
        return np.array([first_wins, *[(1 - first_wins) / 7] * 7])

    return Subject("index of the noisy max of 8, claimed .5", function, chances(first), chances(1 - first), 0.5)


def subsampled_response() -> Subject:
    """The record is used with probability .3, then randomised response with ε = 2 on it, else a fair coin."""
    yes = 0.3 / (1 + math.exp(-2)) + 0.7 * 0.5
    p, q = np.array([1 - yes, yes]), np.array([yes, 1 - yes])
    return kernel("subsampled randomised response, claimed at .6 of its ε", p, q, [0, 1], 0.6 * exact(p, q, 0.0))


def one_of_ten() -> Subject:
    """Ten numbers with Laplace noise of scale 2, of which the seventh is the record's."""
    law = stats.laplace(scale=2)

    def function(dataset: tuple[int, ...], rng: Generator, size: int) -> Any:
        return rng.laplace(scale=2, size=(size, 10)) + np.array([0.0] * 6 + [dataset[0]] + [0.0] * 3)

    return Subject("one of 10 numbers leaks, .5 claimed .3", function, *shifted(law, 1.0), 0.3)


def strings() -> Subject:
    rng = default_rng(30)
    p, q = rng.dirichlet(np.full(30, 5.0), size=2)
    return kernel("30 strings, claimed at .6 of their ε", p, q, [f"s{i}" for i in range(30)], 0.6 * exact(p, q, 0.0))


def none_or_float(name: str, scale: float, absent: float, epsilon: float, delta: float = 0.0) -> Subject:
    """None with some probability, else a number with Laplace noise."""
    law = stats.laplace(scale=scale)

    def function(dataset: tuple[int, ...], rng: Generator, size: int) -> Any:
        numbers = (dataset[0] + law.rvs(size=size, random_state=rng)).tolist()
        return [None if gone else x for gone, x in zip((rng.random(size) < absent).tolist(), numbers, strict=True)]

    p, q = (np.append(side * (1 - absent), absent) for side in shifted(law, 1.0))
    return Subject(name, function, p, q, epsilon, delta)


def named(number: int) -> Subject:
    """One of eight."""
    makers: tuple[Callable[[], Subject], ...] = (
        lambda: noise("Laplace .25 claimed .15", stats.laplace(scale=4), 0.15),
        lambda: noise("integer staircase .5 claimed .3", staircase(0.5, 3, 2), 0.3, shift=3, whole=True),
        noisy_max,
        lambda: noise("Gaussian, .8 of the σ of (1, 1e-3)", stats.norm(scale=0.8 * gaussian_scale(1, 1e-3)), 1, 1e-3),
        subsampled_response,
        one_of_ten,
        strings,
        lambda: none_or_float("None or a number, .4 claimed .2", 2.5, 0.5, 0.2),
    )
    return makers[number]()


def drawn(number: int) -> Subject:
    """The mechanism of a seed, of which half are finite kernels."""
    rng = default_rng([26, number])
    while True:
        subject = _kernel(number, rng) if number % 2 else _noise(number, rng)
        if subject is not None and LEAST <= limit(subject)[0] <= MOST:
            return subject


def _kernel(number: int, rng: Generator) -> Subject | None:
    outcomes = int(rng.integers(2, 13))
    p, q = rng.dirichlet(np.full(outcomes, float(rng.choice([0.5, 1, 3]))), size=2)
    share, delta = float(rng.uniform(0.3, 0.85)), float(rng.choice([0, 0, 1e-3, 1e-2]))
    epsilon = exact(p, q, delta)
    # between likelihood ratios of e^10 nothing is to be learned about the auditor
    if not 0 < epsilon < 10:
        return None
    values = list(range(outcomes)) if rng.random() < 0.5 else [f"s{i}" for i in range(outcomes)]
    return kernel(f"{number}: kernel of {outcomes}", p, q, values, share * epsilon, delta)


def _noise(number: int, rng: Generator) -> Subject | None:
    kind = str(rng.choice(["Laplace", "Gaussian", "discrete Laplace", "logistic", "Student", "staircase", "or None"]))
    scale = float(np.exp(rng.uniform(math.log(0.5), math.log(10))))
    share, delta = float(rng.uniform(0.3, 0.85)), float(rng.choice([0, 1e-3, 1e-2]))
    if kind in ("Gaussian", "Student"):
        delta = max(delta, 1e-3)
    whole = kind in ("discrete Laplace", "staircase")
    name = f"{number}: {kind}, scale {scale:.2g}"
    if kind == "or None":
        absent = float(rng.uniform(0.1, 0.9))
        made = none_or_float(name, scale, absent, 0.0, delta)
    else:
        shift = int(rng.integers(1, 5)) if kind == "staircase" else 1
        law = {
            "Laplace": lambda: stats.laplace(scale=scale),
            "Gaussian": lambda: stats.norm(scale=scale),
            "discrete Laplace": lambda: stats.dlaplace(1 / scale),
            "logistic": lambda: stats.logistic(scale=scale),
            "Student": lambda: stats.t(3, scale=scale),
            "staircase": lambda: staircase(1 / scale, shift, int(rng.integers(1, shift + 1))),
        }[kind]()
        made = noise(name, law, 0.0, delta, shift=shift, whole=whole)
    epsilon = exact(made.p, made.q, delta)
    if not 0 < epsilon < 10:
        return None
    return Subject(name, made.function, made.p, made.q, share * epsilon, delta)


def subject_of(kind: str, number: int) -> Subject:
    """The mechanism of a task."""
    return named(number) if kind == "named" else drawn(number)


# --- one task ---------------------------------------------------------------------------------------------------------


def one(kind: str, number: int, seed: int) -> dict[str, Any]:
    """One audit; of seed −1 what is computed once, and the stops where the event is known."""
    subject = subject_of(kind, number)
    if seed < 0:
        return known(subject)
    result = dpaudit.audit(
        subject.function, (subject.epsilon, subject.delta), relation="replace-one", pair=(ONE, ZERO), runs=RUNS,
        # different seeds for each mechanism: with the same ones, chance would move all medians together
        alpha=ALPHA, seed=1_000 * (number + RANDOM * (kind == "named")) + seed, progress=False,
    )
    audit = result.audits[0]
    at = audit.sequential.refuted_at if audit.sequential is not None else None
    return {"at": at, "in all": audit.runs / 2, "verdict": audit.verdict.value, "lower": audit.epsilon_lower}


def known(subject: Subject) -> dict[str, Any]:
    """n*, the Clopper–Pearson split with the event known, and stops of the e-process where the events are known."""
    n_star, p, q = limit(subject)
    claim = {"epsilon": subject.epsilon, "delta": subject.delta}
    split = runs_needed(p, q, **claim, alpha=ALPHA, power=0.8, method="clopper_pearson")
    threshold = math.log(1 / shares(ALPHA, certify=False, bits=False).sequential)
    left, right = events(subject)
    stops: list[float | None] = []
    for seed in range(KNOWN_SEEDS):
        rng, process = default_rng(seed), EProcess([subject.epsilon], subject.delta)
        seen, done = np.zeros((2, 3), dtype=np.int64), 0
        for size in batches(RUNS // 5):
            hits = np.array([rng.multinomial(size, side) for side in (left, right)])
            (x, other_y, _), (y, other_x, _) = hits.tolist()
            (past_x, past_other_y, _), (past_y, past_other_x, _) = seen.tolist()
            process.update(
                Counts(x, size, y, size), past=Counts(past_x, done, past_y, done),
                other=Counts(other_x, size, other_y, size), other_past=Counts(past_other_x, done, past_other_y, done),
            )
            seen, done = seen + hits, done + size
            if float(process.log_peaks[0]) >= threshold:
                stops.append(done)
                break
        else:
            stops.append(None)
    return {
        "name": subject.name, "epsilon": subject.epsilon, "delta": subject.delta, "n*": n_star, "p": p, "q": q,
        "split": split, "known": middle(stops),
    }


# --- tables -----------------------------------------------------------------------------------------------------------


def middle(stops: list[float | None]) -> float:
    """The median, of which None is infinite."""
    return statistics.median(math.inf if stop is None else stop for stop in stops)


def geometric(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def tables(done: dict[resumable.Key, dict[str, Any]]) -> None:
    """The benchmark's text."""
    print("# Samples until a claim is refuted\n")
    print(
        f"Tables of `python benchmarks/stopping.py`; {SEEDS} different seeds for each mechanism, α = {ALPHA}, "
        f"at most {RUNS:,} samples per dataset.\n"
        "Samples are those of each dataset, medians over the seeds, learning included. n*: the information limit "
        "of the\nbest event at all of α (`power.information_limit`), which no sequential test of that event beats on "
        "average.\n"
        "Events known: the e-process on the best event of each direction, median of "
        f"{KNOWN_SEEDS} seeds. Split: samples for\n80 % power of Clopper–Pearson bounds on the best event. In all: "
        "samples when the audit ends, of which later ones\nmake the lower bound."
    )
    ratios: dict[str, list[tuple[float, float, float, float]]] = {}
    for kind, count in (("named", 8), ("random", RANDOM)):
        print(f"\n## {'Eight mechanisms' if kind == 'named' else 'Drawn at random'}\n")
        print(
            "| mechanism | ε, δ claimed | n* | refuted | / n* | events known / n* | split | in all / refuted | CPU s |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        for number in range(count):
            fixed = done.get((kind, number, -1))
            audits = [done[kind, number, seed] for seed in range(SEEDS) if (kind, number, seed) in done]
            if fixed is None or not audits:
                continue
            at, n_star = middle([audit["at"] for audit in audits]), fixed["n*"]
            spent = statistics.median(audit["in all"] / (audit["at"] or math.inf) for audit in audits)
            seconds = statistics.median(audit["seconds"] for audit in audits)
            ratios.setdefault(kind, []).append((at / n_star, fixed["known"] / n_star, spent, at / fixed["split"]))
            print(
                f"| {fixed['name']} | {fixed['epsilon']:.3g}, {fixed['delta']:g} | {n_star:,.0f} | {at:,.0f} "
                f"| {at / n_star:.2f} | {fixed['known'] / n_star:.2f} | {fixed['split']:,} | {spent:.2f} "
                f"| {seconds:.1f} |"
            )
    print("\n## All\n")
    print(
        "| | / n*, geometric mean | most | events known / n*, geometric mean | most | in all / refuted, most "
        "| later than the split |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind, rows in ratios.items():
        stop, event, spent, split = (list(column) for column in zip(*rows, strict=True))
        later = sum(ratio > 1 for ratio in split)
        print(
            f"| {kind} | {geometric(stop):.2f} | {max(stop):.2f} | {geometric(event):.2f} | {max(event):.2f} "
            f"| {max(spent):.2f} | {later} of {len(split)} |"
        )


def main() -> None:
    given = resumable.arguments(__doc__, KEPT)
    if not given.tables:
        parts = [("named", 8), ("random", RANDOM)]
        keys = [
            (kind, number, seed) for kind, count in parts if given.part in (None, kind) for number in range(count)
            for seed in range(-1, SEEDS)
        ]
        resumable.run(keys, one, given)
    tables(resumable.results(given.keep))


if __name__ == "__main__":
    sys.exit(main())
