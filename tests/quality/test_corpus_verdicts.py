"""Are the bugs of the corpus found, and correct look-alikes let be? Whole audits, with fixed seeds."""

from __future__ import annotations

from functools import cache

import pytest

from dpaudit.engine import orchestrator
from dpaudit.plans import registry
from dpaudit.plans.request import Request
from dpaudit.results.model import Audit, Verdict
from dpaudit.testing import BIT, LaplaceSum

ALPHA = 0.001
BROKEN = (
    "NoisyHist2",
    "TruncatedGeometric",
    "SVT5",
    "PermuteAndFlipBoundedRange",
    "SubsampledLaplace",
    "ClampedToTruth",
    "RoundedToData",
    "FloatingPointLaplace",
)
CORRECT = (
    "TruncatedGeometricBase2",
    "ReportNoisyMax1",
    "ReportNoisyMax2",
    "PermuteAndFlip",
    "ExponentialZCDP",
    "SubsampledLaplacePoisson",
    "ClampedToPublicBounds",
    "DiscreteLaplaceMechanism",
    "SnappingLaplace",
)
RUNS = {"TruncatedGeometric": 1_000_000}
"""Of members whose n* is 58,578 pairs of runs at α = 0.01; every other one gets 20,000."""


@cache
def audits(name: str) -> tuple[Audit, ...]:
    """All cases of the plan, by runs alone."""
    request = Request((name,), seed=7, alpha=ALPHA, runs=RUNS.get(name, 20_000), black_box=True)
    return tuple(orchestrator.run(request).audits)


@pytest.mark.slow(only=["PermuteAndFlipBoundedRange", "TruncatedGeometric"])
@pytest.mark.parametrize("name", BROKEN)
def test_broken_members_fail(name: str) -> None:
    """Misses: n* at α = 0.01 is a twentieth of the budget at most (of `FloatingPointLaplace`, a sixteenth of 4,000)."""
    for audit in audits(name):
        assert audit.verdict is Verdict.FAIL, audit.reason
        assert audit.epsilon_lower is not None
        assert audit.epsilon_lower >= audit.claim.epsilon


@pytest.mark.slow(fast=["TruncatedGeometricBase2", "ReportNoisyMax1", "DiscreteLaplaceMechanism"])
@pytest.mark.parametrize("name", CORRECT)
def test_correct_members_pass(name: str) -> None:
    """False alarm: with fresh seeds at most 0.1 % for each member, 0.9 % for all nine."""
    for audit in audits(name):
        assert audit.verdict is Verdict.PASS, audit.reason


def test_plans_expect_what_the_cards_say() -> None:
    """A member with a bug has a case that must FAIL, and one without has none; the two lists here agree with that."""
    for name in registry.names(registry.CORPUS):
        card = registry.algorithm(name).card
        assert card is not None
        assert card.known_bug is not None
        expected = {case.expected for case in registry.plan(name).cases()}
        assert (Verdict.FAIL in expected) == card.known_bug.broken, name
        assert expected <= {Verdict.FAIL, Verdict.PASS}
        assert expected == {Verdict.FAIL} or name not in BROKEN
        assert expected == {Verdict.PASS} or name not in CORRECT


def test_doubles_of_a_plain_laplace_leak() -> None:
    """And it is the bit patterns that refute it: its reals are private."""
    (audit,) = audits("FloatingPointLaplace")
    assert audit.floating_point is not None
    assert audit.floating_point.leaks
    assert audit.sampled[0].family == "bits"


@pytest.mark.slow
def test_bits_apart_leave_the_verdict_alone() -> None:
    """Where bit patterns do not count, the same leak is a finding and no FAIL. False alarm of FAIL: at most 0.1 %."""
    request = Request((LaplaceSum(0.1),), seed=7, alpha=ALPHA, runs=20_000, pair=BIT, black_box=True)
    (audit,) = orchestrator.run(request).audits
    assert audit.floating_point is not None
    assert audit.floating_point.leaks
    assert not audit.floating_point.counted
    assert audit.verdict is Verdict.PASS


def test_snapped_and_discrete_noise_does_not_leak() -> None:
    """False alarm: at most 0.1 %."""
    (snapped,) = audits("SnappingLaplace")
    assert snapped.floating_point is not None
    assert snapped.floating_point.counted
    assert not snapped.floating_point.leaks
    (discrete,) = audits("DiscreteLaplaceMechanism")
    assert discrete.floating_point is None
