"""Do whole audits have the stated power? Seeds are fixed, so every test is deterministic.

How often audits err is tested in tests/soundness; benchmarks/error_rates.py has the long version of both.
"""

from __future__ import annotations

import math

import pytest
from exact_mechanisms import Gap

from dpaudit.engine import orchestrator
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.testing import BIT, RandomisedResponse


@pytest.mark.slow
def test_power() -> None:
    """Randomised response at ε = 1.2 that claims 1 is refuted from 20,000 samples of each dataset in all of 10 audits.

    False alarm: n* is below 1,100 samples at the e-process' share of α and the confidence bound of the best event has
    a power above 1 − 10⁻⁶ here, so a miss is beyond chance.
    """
    for seed in range(10):
        request = Request((RandomisedResponse(1.2),), seed=seed, runs=20_000, pair=BIT, epsilon=1.0, black_box=True)
        assert orchestrator.run(request).audits[0].verdict is Verdict.FAIL, seed


def test_tightness() -> None:
    """A gap like A_dist's, Pr[⊥] = ½ against ½·e⁻², 10⁶ samples of each: the bound is at least 95 % of ε = 2.

    False alarm: the bound is expected at 1.987 with a standard deviation of 0.005; 1.9 is 17 of them below, and above 2
    it lies with probability at most α = 0.001.
    """
    request = Request((Gap(),), seed=1, runs=1_000_000, pair=BIT, certify=True)
    (audit,) = orchestrator.run(request).audits
    (evidence,) = audit.sampled
    assert audit.epsilon_exact == pytest.approx(2.0)
    assert audit.epsilon_lower is not None
    assert 0.95 * 2 <= audit.epsilon_lower <= 2.0
    by_counts = math.log((evidence.x / evidence.n) / (evidence.y / evidence.m))
    assert evidence.epsilon_lower <= by_counts
