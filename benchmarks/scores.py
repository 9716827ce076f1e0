"""Scores of canaries and guesses: bounds beside those of jax_privacy.auditing, and error rates.

`python benchmarks/scores.py [--peer PYTHON] [--sets 2000] [--seeds 10] [--only NAME]` writes benchmarks/scores.md
(with --only it replaces those tables of the page alone). --peer is the Python of an environment that has jax_privacy
(`python -m venv …`, `pip install jax_privacy`); without it the tables have no columns for it. Seeds are fixed. α is
0.05 throughout.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from scipy import special, stats

import dpaudit
from dpaudit.api.canaries import CanaryClaim
from dpaudit.language import Curve, GaussianDP, TradeOff, ZeroConcentrated
from dpaudit.stats import gdp, membership, one_run, tradeoff
from dpaudit.stats.arrays import FloatArray

ALPHA = 0.05
MEANS, SIZES, DELTAS = (1.0, 2.0, 4.0), (1_000, 10_000), (0.0, 1e-5)
GUESSED_SHARE = 0.1
"""Of all canaries, those with the highest scores, that are guessed to be in."""
NONPARAMETRIC = ("Bonferroni", "Bonferroni, two-sided", "split", "multi-split")
HERE = Path(__file__).parent


@dataclass
class Peer:
    """jax_privacy in another environment.

    Args:
        python: its interpreter; None for no comparison.
    """

    python: str | None
    folder: Path
    version: str = ""
    questions: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, list[float]]] = field(default_factory=list)

    def ask(
        self, inside: FloatArray, outside: FloatArray, delta: float, names: Sequence[str], *, guesses: int = 1,
        seed: int = 0,
    ) -> int:
        """Put a question about data sets, one in each row, and return its number."""
        number = len(self.questions)
        path = self.folder / f"{number}.npz"
        np.savez(path, inside=inside, outside=outside)
        self.questions.append({
            "path": str(path), "alpha": ALPHA, "delta": delta, "guesses": guesses, "seed": seed, "names": list(names),
        })
        return number

    def run(self) -> None:
        """Have all questions answered."""
        if self.python is None or not self.questions:
            return
        asked = self.folder / "questions.json"
        asked.write_text(json.dumps(self.questions), encoding="utf-8")
        done = subprocess.run(
            [self.python, str(HERE / "scores_peer.py"), str(asked)], capture_output=True, text=True, check=True
        )
        said = json.loads(done.stdout)
        self.version, self.answers = said["version"], said["answers"]


@dataclass
class Table:
    """One table of the page, in Markdown."""

    title: str
    about: str
    head: list[str]
    rows: list[list[str]]

    def text(self) -> str:
        """As Markdown."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        body = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
        return f"## {self.title}\n\n{self.about}\n\n{body}\n"


def normal(mean: float, n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Scores of n canaries in the data, N(mean, 1), and of n left out, N(0, 1)."""
    rng = default_rng([seed, n, int(10 * mean)])
    return rng.normal(mean, 1.0, n), rng.normal(0.0, 1.0, n)


def compared(peer: Peer, seeds: int) -> list[Table]:
    """The bounds on normal scores."""
    asked: dict[tuple[float, int, float], list[int]] = {}
    for mean in MEANS:
        for n in SIZES:
            for delta in DELTAS:
                names = NONPARAMETRIC if delta == 0 else (*NONPARAMETRIC, "one-run", "one-run f-DP", "GDP")
                asked[mean, n, delta] = [
                    peer.ask(*normal(mean, n, seed), delta, names, guesses=int(GUESSED_SHARE * 2 * n), seed=seed)
                    for seed in range(seeds)
                ]
    peer.run()
    first, second, differences = [], [], {"one-run": 0.0, "one-run f-DP": 0.0}
    for (mean, n, delta), numbers in asked.items():
        theirs = {name: [peer.answers[k][name][0] for k in numbers] for name in peer.answers[numbers[0]]} if (
            peer.answers
        ) else {}
        ours: dict[str, list[float]] = {name: [] for name in ("audit", "thresholds", "events", "mu", "gdp", "one", "f")}
        for seed in range(seeds):
            inside, outside = normal(mean, n, seed)
            result = dpaudit.audit_scores(inside, outside, delta=delta, alpha=ALPHA, seed=seed, progress=False)
            ours["audit"].append(result.epsilon_lower or 0.0)
            ours["events"].append(
                dpaudit.audit_samples(inside, outside, delta=delta, alpha=ALPHA, seed=seed, progress=False)
                .epsilon_lower or 0.0
            )
            errors = membership.upper_errors(inside, outside, alpha=ALPHA)
            ours["thresholds"].append(errors.epsilon(delta))
            ours["mu"].append(errors.mu)
            guesses = dpaudit.count_guesses(inside, outside, guess_in=int(GUESSED_SHARE * 2 * n))
            ours["one"].append(one_run.epsilon_lower(*guesses, delta=delta, alpha=ALPHA))
            if delta > 0:
                ours["gdp"].append(gdp.epsilon_of(errors.mu, delta))
                ours["f"].append(gdp.epsilon_of(one_run.mu_lower(*guesses, alpha=ALPHA), delta))
        case = [f"{mean:g}", f"{n:,}", f"{delta:g}"]
        first.append([
            *case, *(_mean(ours[name]) for name in ("audit", "thresholds", "events")),
            *([_mean(theirs[name]) for name in NONPARAMETRIC] if theirs else []),
        ])
        if delta > 0:
            second.append([
                f"{mean:g}", f"{n:,}", f"{gdp.epsilon_of(mean, delta):.2f}", _mean(ours["one"]), _mean(ours["f"]),
                _mean(ours["gdp"]),
                *([_mean(theirs[name]) for name in ("one-run", "one-run f-DP", "GDP")] if theirs else []),
            ])
            if theirs:
                for name, own in (("one-run", "one"), ("one-run f-DP", "f")):
                    far = max(abs(a - b) for a, b in zip(theirs[name], ours[own], strict=True))
                    differences[name] = max(differences[name], far)
    jax = [f"jax {name}" for name in NONPARAMETRIC] if peer.answers else []
    return [
        Table(
            "Non-parametric bounds",
            "n scores N(μ, 1) of canaries in the data and n scores N(0, 1) of canaries left out; lower bounds on ε at "
            f"95 % confidence, means of {seeds} data sets and, in brackets, their standard deviations. `audit_scores` "
            "is what the function reports: the larger of two bounds that share α. The two columns after it have each "
            "of them at the whole α: all thresholds at once (`membership.upper_errors`), and events learned on some of "
            "the scores (`audit_samples`). The true ε is infinite at δ = 0, and in the next table at δ = 1e-05.",
            ["μ", "n", "δ", "`audit_scores`", "thresholds", "events", *jax], first,
        ),
        Table(
            "One-run and Gaussian bounds, δ = 1e-05",
            "The same scores as canaries of one run (every coin independent, which they would be in a mechanism that "
            f"adds noise to each canary): the {GUESSED_SHARE:.0%} of the canaries with the highest scores are guessed "
            "to be in. One-run is the theorem of Steinke, Nasr and Jagielski; f-DP that of Mahloujifar, Melis and "
            "Chaudhuri, and GDP the bound at all thresholds, both of which give μ, and ε only if the trade-off curve "
            "is Gaussian, as it is here." + (
                " Largest difference to jax_privacy on the same guesses, over all data sets: one-run "
                f"{differences['one-run']:.1e}, f-DP {differences['one-run f-DP']:.1e}." if peer.answers else ""
            ),
            ["μ", "n", "true ε", "one-run", "f-DP", "GDP",
             *(["jax one-run", "jax one-run f-DP", "jax GDP"] if peer.answers else [])], second,
        ),
    ]


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.2f} ({np.std(values):.2f})"


# --- error rates at the boundary of the null hypothesis ---


def on_boundary(epsilon: float, delta: float, sets: int, n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Scores of a mechanism that is (ε, δ)-DP with equality at every high threshold: shape (sets, n) each.

    "Out" is uniform on (0, 1). "In" has the density e^ε above 1 − 1/(1 + e^ε) and e^−ε below, and a score of 2 with
    probability δ: randomised response with a continuous score, whose every threshold above 1 − 1/(1 + e^ε) attains ε.
    """
    rng = default_rng([seed, n, int(1000 * epsilon)])
    outside = rng.random((sets, n))
    high = special.expit(epsilon)
    top = rng.random((sets, n)) < high
    width = np.where(top, 1 - high, high)
    inside = np.where(top, high, 0.0) + width * rng.random((sets, n))
    return np.where(rng.random((sets, n)) < delta, 2.0, inside), outside


def responses(epsilon: float, n: int, guessed: int, sets: int, rng: Generator) -> FloatArray:
    """Right guesses among `guessed` canaries, each of which ε-DP randomised response answers."""
    return rng.binomial(guessed, special.expit(epsilon), sets)


def gaussian_guesses(mu: float, n: int, guess_in: int, guess_out: int, sets: int, rng: Generator) -> list[int]:
    """Right guesses about canaries in N(0, 1) noise of shift μ, of the highest and the lowest scores."""
    right = []
    for _ in range(sets):
        coins = rng.random(n) < 0.5
        order = np.argsort(rng.normal(0.0, 1.0, n) + mu * coins)
        right.append(int(coins[order[n - guess_in :]].sum() + (~coins[order[:guess_out]]).sum()))
    return right


def _rate(errors: int, sets: int) -> str:
    return f"{errors / sets:.4f}"


def _too_high(bounds: Sequence[float], truth: float) -> int:
    return int((np.asarray(bounds) > truth).sum())


def boundary(peer: Peer, sets: int) -> Table:
    """Error rates of every bound."""
    rows: list[list[str]] = []
    add = lambda name, case, errors, of=sets: rows.append([name, case, f"{of:,}", _rate(errors, of)])  # noqa: E731
    asked: list[tuple[str, str, int, str, float]] = []
    for n in (100, 1_000):
        for epsilon, delta in ((0.0, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 0.0)):
            inside, outside = on_boundary(epsilon, delta, sets, n, 1)
            bounds = [
                membership.upper_errors(a, b, alpha=ALPHA).epsilon(delta) for a, b in zip(inside, outside, strict=True)
            ]
            case = f"ε = {epsilon:g}, δ = {delta:g} at every threshold, n = {n:,}"
            add("ε, all thresholds at once", case, _too_high(bounds, epsilon))
            if n == 1_000 and delta == 0:
                number = peer.ask(inside, outside, delta, NONPARAMETRIC[:3])
                asked += [(name, case, number, name, epsilon) for name in NONPARAMETRIC[:3]]
    for mu in (0.0, 1.0, 3.0):
        n = 1_000
        pairs = [normal(mu, n, 10_000 + seed) for seed in range(sets)]
        errors = [membership.upper_errors(*pair, alpha=ALPHA) for pair in pairs]
        case = f"N(μ, 1) against N(0, 1), μ = {mu:g}, n = {n:,}"
        add("μ, all thresholds at once", case, _too_high([one.mu for one in errors], mu))
        at_delta = [gdp.epsilon_of(one.mu, 1e-5) for one in errors]
        add("ε at δ = 1e-05 in the Gaussian family", case, _too_high(at_delta, gdp.epsilon_of(mu, 1e-5)))
        number = peer.ask(*(np.array(part) for part in zip(*pairs, strict=True)), 1e-5, ["GDP"])
        asked.append(("GDP", case, number, "GDP", gdp.epsilon_of(mu, 1e-5)))
        areas = [membership.auroc(*pair, alpha=ALPHA) for pair in pairs]
        area = float(special.ndtr(mu / math.sqrt(2)))
        add("AUROC interval", case, sum(not one.low <= area <= one.high for one in areas))
        for fpr in (0.01, 0.1):
            rates = [membership.tpr_at_fpr(*pair, fpr, alpha=ALPHA) for pair in pairs]
            tpr = float(special.ndtr(special.ndtri(fpr) + mu))
            add(f"TPR at FPR {fpr:g}", case, sum(not one.low <= tpr <= one.high for one in rates))
        add("trade-off band", case, sum(_outside_band(pair, mu) for pair in pairs))
    rng = default_rng(2)
    for epsilon in (0.0, 0.5, 2.0):
        n, guessed = 1_000, 300
        right = responses(epsilon, n, guessed, sets, rng).tolist()
        case = f"randomised response, ε = {epsilon:g}, {guessed} guesses of {n:,}"
        for name, bound in (("one-run, binomial", one_run.epsilon_lower), ("one-run, f-DP of (ε, δ)", _curve_bound)):
            known = {k: bound(n, guessed, k, delta=0.0, alpha=ALPHA) for k in set(right)}
            add(name, case, sum(known[k] > epsilon for k in right))
    for block in (1, 20, 60):
        n, guessed, epsilon, delta = 1_000, 300, 1.0, 1e-3
        fails = rng.random(sets) < n * delta / block
        right = (rng.binomial(guessed - block, special.expit(epsilon), sets) + np.where(
            fails, block, rng.binomial(block, special.expit(epsilon), sets)
        )).tolist()
        case = f"with probability {n * delta / block:.3g} it also reveals {block} canaries: ε = 1, δ = {delta:g}"
        for name, bound in (("one-run, binomial", one_run.epsilon_lower), ("one-run, f-DP of (ε, δ)", _curve_bound)):
            known = {k: bound(n, guessed, k, delta=delta, alpha=ALPHA) for k in set(right)}
            add(name, case, sum(known[k] > epsilon for k in right))
    for mu, guess_in, guess_out in ((0.5, 500, 500), (1.0, 100, 0), (1.0, 100, 100), (2.0, 300, 300)):
        n = 1_000
        right = gaussian_guesses(mu, n, guess_in, guess_out, sets, rng)
        known = {k: one_run.mu_lower(n, guess_in + guess_out, k, alpha=ALPHA) for k in set(right)}
        case = f"Gaussian noise, μ = {mu:g}, the {guess_in} highest and {guess_out} lowest of {n:,}"
        add("one-run, f-DP of μ-GDP", case, sum(known[k] > mu for k in right))
    peer.run()
    if peer.answers:
        for name, case, number, key, truth in asked:
            add(f"jax_privacy {name}", case, _too_high(peer.answers[number][key], truth + 1e-4))
    return Table(
        "Error rates at the boundary", "How often a bound is wrong where the claim holds with equality, α = 0.05. The "
        "interval and the band are wrong if the truth is outside. A rate of 0.05 has a standard error of 0.005 in "
        "2,000 data sets.",
        ["bound", "truth", "data sets", "wrong"], rows,
    )


def _curve_bound(n: int, guessed: int, correct: int, *, delta: float, alpha: float) -> float:
    return one_run.curve_epsilon_lower(n, guessed, correct, delta=delta, alpha=alpha)


def _outside_band(pair: tuple[FloatArray, FloatArray], mu: float) -> bool:
    band = membership.tradeoff_band(*pair, alpha=ALPHA)
    fpr, fnr = special.ndtr(-band.threshold), special.ndtr(band.threshold - mu)
    held = (band.fpr_low <= fpr) & (fpr <= band.fpr_high) & (band.fnr_low <= fnr) & (fnr <= band.fnr_high)
    return not bool(held.all())


# --- a claim that is a curve ---

RATIOS = (1.5, 0.5, -0.5, -1.5)
"""Privacy losses of a mechanism with four kinds of scores, each of which has an interval of its own."""


def pieces(sets: int, n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Scores of the mechanism of `RATIOS`, the kind with the largest loss highest: shape (sets, n) each."""
    rng = default_rng([seed, n])
    p, q = piece_probabilities()
    kinds = [len(p) - 1 - rng.choice(len(p), size=(sets, n), p=one) for one in (p, q)]
    return kinds[0] + rng.random((sets, n)), kinds[1] + rng.random((sets, n))


def piece_probabilities() -> tuple[FloatArray, FloatArray]:
    """Of the kinds of scores, in and out: each is the other backwards, with the ratios e^`RATIOS`."""
    q = 1 / (1 + np.exp(np.array(RATIOS)))
    p = q[::-1]
    return p / p.sum(), q / q.sum()


def curves(sets: int) -> Table:
    """How often a claimed curve is refuted at all thresholds at once: at its boundary, and where it is wrong."""
    rows = []
    p, q = piece_probabilities()
    piecewise = TradeOff(tradeoff.symmetric(p, q).tolist())
    laplace = TradeOff.of(lambda a: float(stats.laplace.cdf(stats.laplace.isf(a) - 1)))
    gaussian = lambda mu, n, s: [normal(mu, n, 30_000 + k) for k in range(s)]  # noqa: E731
    shifted = lambda b, n, s: [  # noqa: E731
        (r.laplace(1.0, b, n), r.laplace(0.0, b, n)) for r in (default_rng([k, n, 6]) for k in range(s))
    ]
    cases: list[tuple[str, Curve, str, Sequence[tuple[FloatArray, FloatArray]]]] = [
        (f"{mu:g}-GDP", GaussianDP(mu), f"N({mu:g}, 1) against N(0, 1), n = 1,000", gaussian(mu, 1_000, sets))
        for mu in (0.5, 1.0, 3.0)
    ]
    cases += [
        ("trade-off function with 5 vertices", piecewise, f"the mechanism that has it, n = {n:,}",
         list(zip(*pieces(sets, n, 7), strict=True)))
        for n in (100, 1_000)
    ]
    cases += [
        ("trade-off function of Laplace noise, ε = 1", laplace, "Laplace noise, ε = 1, n = 1,000",
         shifted(1.0, 1_000, sets)),
        ("0.5-zCDP", ZeroConcentrated(0.5), "N(1, 1) against N(0, 1), n = 1,000", gaussian(1.0, 1_000, sets)),
    ]
    wrong = max(1, sets // 10)
    cases += [
        ("0.9-GDP", GaussianDP(0.9), f"wrong: N(1, 1) against N(0, 1), n = {n:,}", gaussian(1.0, n, wrong))
        for n in (1_000, 10_000)
    ]
    cases += [
        ("0.8-GDP", GaussianDP(0.8), "wrong: N(1, 1) against N(0, 1), n = 1,000", gaussian(1.0, 1_000, wrong)),
        ("trade-off function of Laplace noise, ε = 1", laplace, "wrong: Laplace noise, ε = 1.25, n = 1,000",
         shifted(0.8, 1_000, wrong)),
        ("trade-off function with 5 vertices", piecewise, "wrong: N(1.2, 1) against N(0, 1), n = 1,000",
         gaussian(1.2, 1_000, wrong)),
    ]
    for name, curve, truth, pairs in cases:
        claimed = CanaryClaim.of(curve, None, None, None)
        assert claimed.claim is not None
        errors = [membership.upper_errors(*pair, alpha=ALPHA) for pair in pairs]
        whole = sum(one.excess(claimed.least_errors(one.fpr)) is not None for one in errors)
        point = sum(one.epsilon(claimed.claim.delta) > claimed.claim.epsilon for one in errors)
        rows.append([name, truth, f"{len(pairs):,}", _rate(whole, len(pairs)), _rate(point, len(pairs))])
    name, rng = "trade-off function with 5 vertices", default_rng(8)
    draws = rng.random((sets, 1_000))
    kinds = (np.searchsorted(np.cumsum(one[::-1]), u) for one, u in ((p, draws), (q, 1 - draws)))
    both = [kind + rng.random(draws.shape) for kind in kinds]
    claimed = CanaryClaim.of(piecewise, None, None, None)
    errors = [membership.upper_errors(*pair, alpha=ALPHA) for pair in zip(*both, strict=True)]
    whole = sum(one.excess(claimed.least_errors(one.fpr)) is not None for one in errors)
    rows.append([name, "the same, both scores of a pair made from one draw, n = 1,000", f"{sets:,}", _rate(whole, sets),
                 "–"])
    inverse = one_run.profile_curve(claimed.points)
    for guess_in, guess_out in ((100, 0), (100, 100), (300, 300)):
        right = []
        for _ in range(sets):
            coins = rng.random(1_000) < 0.5
            kind = 3 - np.where(coins, rng.choice(4, 1_000, p=p), rng.choice(4, 1_000, p=q))
            order = np.argsort(kind + rng.random(1_000))
            right.append(int(coins[order[1_000 - guess_in :]].sum() + (~coins[order[:guess_out]]).sum()))
        known = {k: one_run.impossible(1_000, guess_in + guess_out, k, inverse, ALPHA) for k in set(right)}
        truth = f"one run: the {guess_in} highest and {guess_out} lowest of 1,000 canaries are guessed"
        rows.append([name, truth, f"{sets:,}", _rate(sum(known[k] for k in right), sets), "–"])
    return Table(
        "A claim that is a curve", "How often limits of the errors at all thresholds refute a claimed curve, α = 0.05: "
        "compared with the whole trade-off function, as `audit_scores` does, and at the one (ε, δ) that a result "
        "reports by default. Both are right to refute in the rows with a wrong claim alone. Guesses from one run are "
        "tested by the f-DP theorem.",
        ["claim", "truth", "data sets", "whole curve", "one (ε, δ)"], rows,
    )


def whole_audit(sets: int) -> Table:
    """`audit_scores` itself, at its claim."""
    rows = []
    n = 300
    inside, outside = on_boundary(1.0, 0.0, sets, n, 3)
    for case, claim, pairs in (
        (f"ε = 1, δ = 0 at every threshold, n = {n:,}", 1.0, list(zip(inside, outside, strict=True))),
        (f"N(1, 1) against N(0, 1), claimed 1-GDP, n = {n:,}", GaussianDP(1.0), [
            normal(1.0, n, 40_000 + seed) for seed in range(sets)
        ]),
    ):
        results = [
            dpaudit.audit_scores(*pair, claim, alpha=ALPHA, seed=seed, progress=False)
            for seed, pair in enumerate(pairs)
        ]
        wrong = sum(one.verdict == "fail" for one in results)
        truths = [1.0 if claim == 1.0 else gdp.epsilon_of(1.0, one.delta) for one in results]
        above = sum((one.epsilon_lower or 0.0) > truth for one, truth in zip(results, truths, strict=True))
        rows.append([case, f"{sets:,}", _rate(wrong, sets), _rate(above, sets)])
    return Table(
        "`audit_scores` at its claim", "The function itself: how often the verdict is FAIL, and how often its bound on "
        "ε is above the truth, where the claim holds with equality.",
        ["truth", "data sets", "FAIL", "bound above ε"], rows,
    )


# --- what happens when an assumption is broken ---


def broken(peer: Peer, sets: int) -> Table:
    """Error rates of every bound where what it assumes does not hold."""
    rows: list[list[str]] = []
    add = lambda bound, assumption, how, errors: rows.append(  # noqa: E731
        [bound, assumption, how, _rate(errors, sets)]
    )
    rng = default_rng(4)
    n, guessed = 1_000, 300

    def one_run_errors(right: Sequence[int], epsilon: float, of: int = guessed) -> int:
        known = {k: one_run.epsilon_lower(n, of, k, delta=0.0, alpha=ALPHA) for k in set(right)}
        return sum(known[k] > epsilon for k in right)

    coins = "independent coins"
    for copies in (2, 10):
        right = (copies * rng.binomial(guessed // copies, special.expit(0.5), sets)).tolist()
        add("one-run, binomial", coins, f"{copies} canaries share a coin and its answer; ε = 0.5", one_run_errors(
            right, 0.5))
    wrong = 0
    votes = rng.binomial(10, special.expit(0.5), (sets, guessed // 10))
    right = (10 * (votes > 5).sum(axis=1)).tolist()
    wrong = one_run_errors(right, 0.5)
    add("one-run, binomial", coins, "10 canaries share a coin, answered apart; guessed by majority; ε = 0.5", wrong)
    right = rng.hypergeometric(n // 2, n // 2, guessed, sets).tolist()
    add("one-run, binomial", coins, "exactly half of the canaries are in; ε = 0, all guesses \"in\"", one_run_errors(
        right, 0.0))
    add("one-run, binomial", "fair coins", "60 % of the canaries are in; ε = 0, all guesses \"in\"", one_run_errors(
        rng.binomial(guessed, 0.6, sets).tolist(), 0.0))
    best = np.zeros(sets, dtype=bool)
    answers = np.cumsum(rng.random((sets, n)) < 0.5, axis=1)
    for tried in range(10, n + 1, 10):
        counts = answers[:, tried - 1].tolist()
        known = {k: one_run.epsilon_lower(n, tried, k, delta=0.0, alpha=ALPHA) > 0 for k in set(counts)}
        best |= np.array([known[k] for k in counts])
    add("one-run, binomial", "number of guesses fixed before", "the best of 10, 20, …, 1,000 guesses; ε = 0", int(
        best.sum()))
    right = (2 * rng.binomial(guessed // 2, float(special.ndtr(0.5)), sets)).tolist()
    known = {k: one_run.mu_lower(n, guessed, k, alpha=ALPHA) for k in set(right)}
    add("one-run, f-DP of μ-GDP", coins, "2 canaries share a coin and its answer; each answer is 1-GDP", sum(
        known[k] > 1 for k in right))
    independent = "independent scores"
    for spread in (0.1, 0.3):
        inside = rng.normal(0.0, 1.0, (sets, n)) + spread * rng.normal(0.0, 1.0, (sets, 1))
        outside = rng.normal(0.0, 1.0, (sets, n)) + spread * rng.normal(0.0, 1.0, (sets, 1))
        bounds = [membership.upper_errors(a, b, alpha=ALPHA) for a, b in zip(inside, outside, strict=True)]
        how = f"all scores in are of one run and all out of another; runs differ by N(0, {spread}²); ε = 0"
        add("ε, all thresholds at once", independent, how, _too_high([one.epsilon(0.0) for one in bounds], 0.0))
        add("μ, all thresholds at once", independent, how, _too_high([one.mu for one in bounds], 0.0))
    for times in (2, 5):
        inside, outside = on_boundary(1.0, 0.0, sets, n // times, 5)
        bounds = [
            membership.upper_errors(np.repeat(a, times), np.repeat(b, times), alpha=ALPHA).epsilon(0.0)
            for a, b in zip(inside, outside, strict=True)
        ]
        how = f"every score is there {times} times; ε = 1"
        add("ε, all thresholds at once", independent, how, _too_high(bounds, 1.0))
    family = "the Gaussian trade-off curve"
    pairs = [(r.laplace(1.0, 1.0, n), r.laplace(0.0, 1.0, n)) for r in map(default_rng, range(sets))]
    epsilons = [gdp.epsilon_of(membership.upper_errors(*pair, alpha=ALPHA).mu, 1e-5) for pair in pairs]
    add("ε at δ = 1e-05 in the Gaussian family", family, "Laplace noise, ε = 1", _too_high(epsilons, 1.0))
    exact = [membership.upper_errors(*pair, alpha=ALPHA).epsilon(1e-5) for pair in pairs]
    add("ε, all thresholds at once", "none of these is broken", "Laplace noise, ε = 1", _too_high(exact, 1.0))
    laplace = peer.ask(*(np.array(part) for part in zip(*pairs, strict=True)), 1e-5, ["GDP"])
    right = rng.binomial(guessed, special.expit(1.0), sets).tolist()
    known = {k: gdp.epsilon_of(one_run.mu_lower(n, guessed, k, alpha=ALPHA), 1e-5) for k in set(right)}
    add("one-run f-DP, ε at δ = 1e-05 in the Gaussian family", family, "randomised response, ε = 1", sum(
        known[k] > 1 for k in right))
    same = [normal(0.0, n, 20_000 + seed) for seed in range(sets)]
    epsilons = [gdp.epsilon_of(membership.upper_errors(*pair, alpha=ALPHA).mu, 1e-5) for pair in same]
    add("ε at δ = 1e-05 in the Gaussian family", "none of these is broken", "a truth of 0", _too_high(epsilons, 0.0))
    nothing = peer.ask(*(np.array(part) for part in zip(*same, strict=True)), 1e-5, ["GDP"])
    peer.run()
    if peer.answers:
        add("jax_privacy GDP", family, "Laplace noise, ε = 1", _too_high(peer.answers[laplace]["GDP"], 1.0 + 1e-4))
        zero = peer.answers[nothing]["GDP"]
        add("jax_privacy GDP", "none of these is broken", f"a truth of 0 (mean bound {np.mean(zero):.2f})", _too_high(
            zero, 1e-4))
    return Table(
        "When an assumption is broken", "The same bounds, on data that contradict what they assume; α = 0.05. A rate "
        "far above 0.05 shows why results name their assumptions. Bounds on μ, and on ε at all thresholds, do not "
        "assume a trade-off curve: on Laplace noise they stay right.",
        ["bound", "assumption", "what was done", "wrong"], rows,
    )


def main() -> None:
    """Write the page, or some of its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter of an environment with jax_privacy")
    parser.add_argument("--sets", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", choices=["compared", "boundary", "curves", "whole", "broken"])
    args = parser.parse_args()
    makers: dict[str, Callable[[Peer], list[Table]]] = {
        "compared": lambda peer: compared(peer, args.seeds),
        "boundary": lambda peer: [boundary(peer, args.sets)],
        "curves": lambda _: [curves(args.sets)],
        "whole": lambda _: [whole_audit(max(1, args.sets // 10))],
        "broken": lambda peer: [broken(peer, args.sets)],
    }
    page = HERE / "scores.md"
    for name, make in makers.items():
        if args.only not in (None, name):
            continue
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            peer = Peer(args.peer, Path(folder))
            tables = make(peer)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)
        before = page.read_text(encoding="utf-8") if page.exists() else HEAD
        page.write_text(_replaced(before, tables, peer.version), encoding="utf-8")


HEAD = """# Scores and guesses

Written by `benchmarks/scores.py`, which says how to repeat it.
"""
ORDER = (
    "Non-parametric bounds", "One-run and Gaussian bounds, δ = 1e-05", "Error rates at the boundary",
    "A claim that is a curve", "`audit_scores` at its claim", "When an assumption is broken",
)


def _replaced(page: str, tables: Sequence[Table], version: str) -> str:
    """The page with these tables, in the order of `ORDER`."""
    head, *parts = page.split("\n## ")
    sections = {part.partition("\n")[0]: f"## {part}".rstrip() for part in parts}
    sections |= {table.title: table.text().rstrip() for table in tables}
    if version:
        head = HEAD.rstrip().replace("Scores and guesses", f"Scores and guesses, beside jax_privacy {version}")
    return "\n\n".join([head.rstrip(), *(sections[title] for title in ORDER if title in sections)]) + "\n"


if __name__ == "__main__":
    main()
