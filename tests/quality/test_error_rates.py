"""Is the error really at most α, and the power what was promised? Seeds are fixed, so every test is deterministic.

A subset of benchmarks/error_rates.py, which counts thousands of audits.
"""

from __future__ import annotations

import math

import error_rates
import pytest
from error_rates import BIT, SUBJECTS, Gap, RandomisedResponse
from scipy import stats

from dpaudit.auditing import engine
from dpaudit.auditing.request import DEFAULT_ALPHA, Request
from dpaudit.auditing.results import Verdict

RUNS = 400
FAST = (
    "randomised response",
    "randomised response with a leak",
    "Laplace count, rounded and cut",
    "exponential mechanism",
)


def test_claims_that_hold_with_equality_fail_in_a_share_alpha_at_most() -> None:
    """40 audits at α = 0.05 of claims that are exact: FAIL in at most 9.

    False alarm: an engine that errs exactly with probability α exceeds 9, the 1 − 10⁻⁴ quantile of Binomial(40, α), in
    at most one of 10⁴ choices of seeds; one that errs with probability 0.42 stays below it in one of 100.
    """
    found = [error_rates.errors(name, seed=seed, alpha=0.05, runs=RUNS) for name in FAST for seed in range(10)]
    limit = stats.binom.ppf(1 - 1e-4, len(found), 0.05)
    assert sum(e.fail for e in found) <= limit
    assert sum(e.overstated for e in found) <= limit


def test_reals_and_vectors_do_not_fail_at_the_default_alpha() -> None:
    """5 audits at α = 0.001 of exact claims about reals: none FAILs.

    False alarm: with fresh seeds at most 0.5 %.
    """
    for name, seeds in (("Laplace count, a real number", 4), ("vector of 3 Laplace counts", 1)):
        for seed in range(seeds):
            assert not error_rates.errors(name, seed=seed, alpha=DEFAULT_ALPHA, runs=RUNS).fail, (name, seed)


def test_bounds_of_audits_that_go_on_are_overstated_in_a_share_alpha_at_most() -> None:
    """28 audits with `--certify` at α = 0.05 of half the exact ε: the bound exceeds the exact ε in at most 7.

    False alarm: 7 is the 1 − 10⁻⁴ quantile of Binomial(28, α). That the bounds are not merely low: half of the claims
    are refuted at least, where each of them is false by a factor of 2.
    """
    found = [
        error_rates.errors(name, seed=seed, alpha=0.05, runs=RUNS, claimed=0.5, certify=True)
        for name in FAST
        for seed in range(7)
    ]
    assert sum(e.overstated for e in found) <= stats.binom.ppf(1 - 1e-4, len(found), 0.05)
    assert sum(e.fail for e in found) >= len(found) / 2


def test_exact_epsilons_are_what_the_mechanisms_say() -> None:
    for name in SUBJECTS:
        assert error_rates.exact_epsilon(name) == pytest.approx(1.0)


@pytest.mark.parametrize("name", FAST[:2])
@pytest.mark.parametrize("certify", [False, True])
def test_the_short_cut_errs_where_the_engine_does(name: str, certify: bool) -> None:
    """Same counts; where the engine's bound is above ε, so is the short cut's (α = 0.3, for more of both)."""
    truth = error_rates.exact_epsilon(name)
    for seed in range(2):
        audit = error_rates.audited(name, seed=seed, alpha=0.3, runs=RUNS, epsilon=truth, certify=certify)
        with error_rates.weighed_against(truth):
            short = error_rates.audited(name, seed=seed, alpha=0.3, runs=RUNS, epsilon=truth, certify=certify)
        (full,), (cut,) = audit.sampled, short.sampled
        assert (full.n, full.x, full.y, full.alpha) == (cut.n, cut.x, cut.y, cut.alpha)
        if full.epsilon_lower > truth:
            assert cut.epsilon_lower > truth
        if audit.verdict is Verdict.FAIL:
            assert short.verdict is Verdict.FAIL


def test_the_short_cut_sees_an_error() -> None:
    """A claim of 0.5 held against a truth that is said to be 0.5 where it is 1: the bound is overstated."""
    with error_rates.weighed_against(0.5):
        audit = error_rates.audited(
            "randomised response", seed=0, alpha=0.05, runs=2_000, epsilon=0.5, certify=False
        )
    assert audit.verdict is Verdict.FAIL
    assert audit.sampled[0].epsilon_lower > 0.5


def test_power() -> None:
    """Randomised response at ε = 1.2 that claims 1 is refuted from 20,000 runs a side in all of 10 audits.

    False alarm: n* is below 1,100 runs at the e-process' share of α and the certificate of the best event has a power
    above 1 − 10⁻⁶ here, so that a miss is beyond chance.
    """
    for seed in range(10):
        request = Request((RandomisedResponse(1.2),), seed=seed, runs=20_000, pair=BIT, epsilon=1.0, black_box=True)
        assert engine.run(request).audits[0].verdict is Verdict.FAIL, seed


def test_tightness() -> None:
    """A gap like A_dist's, Pr[⊥] = ½ against ½·e⁻², from 10⁶ runs a side: at least 95 % of ε = 2 is certified.

    False alarm: the bound is expected at 1.987 with a standard deviation of 0.005; 1.9 is 17 of them below, and above 2
    it lies with probability at most α = 0.001.
    """
    request = Request((Gap(),), seed=1, runs=1_000_000, pair=BIT, certify=True)
    (audit,) = engine.run(request).audits
    (evidence,) = audit.sampled
    assert audit.epsilon_exact == pytest.approx(2.0)
    assert audit.epsilon_lower is not None
    assert 0.95 * 2 <= audit.epsilon_lower <= 2.0
    by_counts = math.log((evidence.x / evidence.n) / (evidence.y / evidence.m))
    assert evidence.epsilon_lower <= by_counts
