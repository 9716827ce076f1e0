"""Bounds from canaries where the claim holds with equality: they are too high no more often than alpha allows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import dpaudit
from dpaudit.results.canaries import Method
from dpaudit.results.model import Verdict
from dpaudit.stats import gdp, membership, one_run, tradeoff

ALPHA = 0.05


def on_boundary(epsilon: float, sets: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of randomised response with a continuous score: every high threshold attains epsilon."""
    rng = np.random.default_rng([sets, n])
    high = special.expit(epsilon)
    top = rng.random((sets, n)) < high
    return np.where(top, high, 0.0) + np.where(top, 1 - high, high) * rng.random((sets, n)), rng.random((sets, n))


def most(sets: int) -> int:
    """Errors that occur by chance with probability below 1e-4, if they have probability alpha each."""
    return int(stats.binom.isf(1e-4, sets, ALPHA))


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_the_best_of_all_thresholds(epsilon: float) -> None:
    sets = 500
    pairs = zip(*on_boundary(epsilon, sets, 200), strict=True)
    wrong = sum(membership.upper_errors(*pair, alpha=ALPHA).epsilon(0.0) > epsilon for pair in pairs)
    assert wrong <= most(sets)


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_a_whole_curve_that_the_scores_attain(mu: float) -> None:
    """N(μ, 1) against N(0, 1) attains the trade-off function of μ-GDP at every threshold."""
    sets, rng = 500, np.random.default_rng(int(10 * mu))
    wrong = 0
    for _ in range(sets):
        errors = membership.upper_errors(rng.normal(mu, 1, 200), rng.normal(0, 1, 200), alpha=ALPHA)
        wrong += errors.excess(gdp.tradeoff(mu, errors.fpr)) is not None
    assert wrong <= most(sets)


def test_a_whole_curve_with_vertices_that_the_scores_attain() -> None:
    """Scores of four kinds, with the ratios e^±1.5 and e^±0.5, attain their trade-off function at its vertices."""
    sets, rng = 500, np.random.default_rng(0)
    q = special.expit([-1.5, -0.5, 0.5, 1.5])
    q, p = q / q.sum(), q[::-1] / q.sum()
    alpha, beta = tradeoff.symmetric(p, q).T
    wrong = 0
    for _ in range(sets):
        inside, outside = (3 - rng.choice(4, 200, p=one) + rng.random(200) for one in (p, q))
        errors = membership.upper_errors(inside, outside, alpha=ALPHA)
        wrong += errors.excess(np.interp(errors.fpr, alpha, beta)) is not None
    assert wrong <= most(sets)


@pytest.mark.parametrize(("guess_in", "guess_out"), [(100, 0), (100, 100), (300, 300)])
def test_a_curve_of_guesses_that_the_scores_attain(guess_in: int, guess_out: int) -> None:
    """Canaries of one run, each with a score of four kinds: their trade-off function is not refuted too often."""
    sets, n, rng = 2_000, 1_000, np.random.default_rng(3)
    q = special.expit([-1.5, -0.5, 0.5, 1.5])
    q, p = q / q.sum(), q[::-1] / q.sum()
    curve = one_run.profile_curve(dpaudit.TradeOff(tradeoff.symmetric(p, q).tolist()).lines)
    counts = []
    for _ in range(sets):
        coins = rng.random(n) < 0.5
        kinds = np.where(coins, 3 - rng.choice(4, n, p=p), 3 - rng.choice(4, n, p=q))
        order = np.argsort(kinds + rng.random(n))
        counts.append(int(coins[order[n - guess_in :]].sum() + (~coins[order[:guess_out]]).sum()))
    refutes = {k: one_run.impossible(n, guess_in + guess_out, k, curve, ALPHA) for k in set(counts)}
    assert sum(refutes[k] for k in counts) <= most(sets)
    assert one_run.impossible(n, guess_in + guess_out, guess_in + guess_out, curve, ALPHA)


@pytest.mark.parametrize("sign", [1, -1])
def test_pairs_that_depend_on_each_other_in_any_way(sign: int) -> None:
    """Both scores of a pair are made from one draw: limits of single errors hold all the same."""
    sets, rng = 500, np.random.default_rng(1)
    wrong = 0
    for _ in range(sets):
        draw = rng.normal(0, 1, 200)
        wrong += membership.upper_errors(1 + draw, sign * draw, alpha=ALPHA).mu > 1
    assert wrong <= most(sets)


@pytest.mark.slow
def test_audit_scores_at_a_claimed_curve() -> None:
    sets, rng = 100, np.random.default_rng(2)
    wrong = 0
    for seed in range(sets):
        inside, outside = rng.normal(1, 1, 200), rng.normal(0, 1, 200)
        result = dpaudit.audit_scores(
            inside, outside, dpaudit.GaussianDP(1.0), alpha=ALPHA, seed=seed, progress=False
        )
        wrong += result.verdict is Verdict.FAIL
    assert wrong <= most(sets)


@pytest.mark.slow
def test_audit_scores_at_its_claim() -> None:
    sets = 100
    wrong = 0
    for seed, (inside, outside) in enumerate(zip(*on_boundary(1.0, sets, 200), strict=True)):
        result = dpaudit.audit_scores(inside, outside, epsilon=1.0, alpha=ALPHA, seed=seed, progress=False)
        wrong += result.verdict is Verdict.FAIL
    assert wrong <= most(sets)


@pytest.mark.parametrize("method", ["binomial", "f-dp"])
def test_audit_guesses_of_randomised_response(method: Method) -> None:
    """Exact: the probabilities of the counts that FAIL add up to at most alpha."""
    guessed, epsilon = 60, 1.0
    counts = np.arange(guessed + 1)
    weights = stats.binom.pmf(counts, guessed, special.expit(epsilon))
    fails = np.array([
        dpaudit.audit_guesses(100, guessed, int(k), epsilon=epsilon, alpha=ALPHA, method=method).verdict is Verdict.FAIL
        for k in counts
    ])
    assert float(weights @ fails) <= ALPHA
    assert fails.any()
