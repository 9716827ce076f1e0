"""The numbers behind the plots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from audit_toys import PAIR, Choice, Gated, NoisySum, Response, responses
from numpy.random import Generator

from dpaudit.adversary import Event, Pair
from dpaudit.engine import orchestrator
from dpaudit.evidence import figures
from dpaudit.evidence.exact import compare
from dpaudit.interpret import LawCache, Outputs
from dpaudit.language import BOTTOM, Claim
from dpaudit.plans.request import Request
from dpaudit.results.figures import OutputPlot, rounded
from dpaudit.results.model import Audit
from dpaudit.stats import clopper_pearson
from dpaudit.testing import LeakyResponse, RoundedLaplaceSum

DRAWN = 1e-5
"""Pictures have six digits."""


def audit(target: Any, **more: Any) -> Audit:
    settings = {"runs": 5_000, "pair": PAIR, **more}
    return orchestrator.run(Request((target,), **settings)).audits[0]


def well_formed(plot: OutputPlot | None) -> OutputPlot:
    assert plot is not None
    assert len(plot.labels) == len(plot.left) == len(plot.right) == len(plot.event)
    assert all(0 <= v <= 1 for v in plot.left + plot.right)
    return plot


@pytest.mark.slow(fast=["target0", "target3"])
@pytest.mark.parametrize("target", [Response(), LeakyResponse(), Choice(1.0, 3), RoundedLaplaceSum()])
def test_exact_outputs_are_the_law(target: Any) -> None:
    found = audit(target)
    plot = well_formed(found.output_plot)
    assert plot.kind == "exact"
    laws = compare(target, Pair(*PAIR), LawCache())
    order = figures._reading_order(laws.values)
    assert plot.labels == [str(laws.values[i]) for i in order]
    assert plot.left == rounded(laws.left[order])
    assert plot.right == rounded(laws.right[order])
    # the event, on what the picture is of
    (exact,) = found.exact
    p, q = (side[order][np.array(plot.event)].sum() for side in laws.oriented(exact.direction))
    assert (p, q) == pytest.approx((exact.p, exact.q))


@pytest.mark.slow(fast=["target0"])
@pytest.mark.parametrize("target", [NoisySum(), NoisySum(gaussian=True), Gated()])
def test_sampled_reals_are_binned(target: Any) -> None:
    plot = well_formed(audit(target, epsilon=1.0).output_plot)
    assert plot.kind == "sampled"
    assert sum(plot.left) == pytest.approx(1, abs=DRAWN)
    assert sum(plot.right) == pytest.approx(1, abs=DRAWN)
    assert any(plot.event)
    assert not all(plot.event)
    if isinstance(target, Gated):
        assert plot.labels[-1] == "⊥"


def test_sampled_outcomes_are_the_counts() -> None:
    found = audit(responses, epsilon=1.0)
    (evidence,) = found.sampled
    plot = well_formed(found.output_plot)
    assert plot.labels == ["0", "1"]
    assert sum(plot.event) == 1
    sides = {"left/right": (plot.left, plot.right), "right/left": (plot.right, plot.left)}[evidence.direction]
    at = plot.event.index(True)
    assert (sides[0][at], sides[1][at]) == (evidence.x / evidence.n, evidence.y / evidence.m)


@pytest.mark.slow
def test_many_outcomes_keep_the_heavy_ones() -> None:
    def words(dataset: Any, rng: Generator) -> str:
        return f"word {int(rng.geometric(0.02))}"

    plot = well_formed(audit(words, epsilon=1.0).output_plot)
    assert len(plot.labels) == figures.SHOWN_OUTCOMES
    assert plot.omitted > 0
    assert plot.labels == sorted(plot.labels)


@pytest.mark.parametrize("offset", [0, -(10**6), 2**61, 2**63, 10**400])
def test_many_whole_numbers(offset: int) -> None:
    left, right = (Outputs({offset + i: 10 + i for i in range(side, 100)}) for side in (0, 5))
    plot = well_formed(figures.sampled_outputs(left, right, Event(frozenset(range(offset, offset + 50)))))
    assert len(plot.labels) <= figures.BINS
    assert sum(plot.left) == pytest.approx(1, abs=DRAWN)
    assert plot.event == sorted(plot.event, reverse=True)
    assert any(plot.event)


def test_reading_order_is_numbers_then_names() -> None:
    values = ["b", 3, BOTTOM, -1.5, "a", 10**400, None]
    found = [values[i] for i in figures._reading_order(values)]
    assert found == [-1.5, 3, 10**400, None, "a", "b", BOTTOM]


def test_constant_reals_have_bins_too() -> None:
    outputs = Outputs({}, (np.full(10, 2.5),))
    plot = well_formed(figures.sampled_outputs(outputs, outputs, Event(frozenset(), ((2.0, 3.0),))))
    assert sum(plot.left) == 1.0


@pytest.mark.parametrize("target", [Response(), LeakyResponse(1.0, 0.2)])
def test_the_profile_of_the_claim_lies_above_the_exact_one(target: Any) -> None:
    found = audit(target)
    plot = found.profile_plot
    assert plot is not None
    assert plot.exact is not None
    assert plot.certified is not None
    for epsilon, claim, exact, certified in zip(plot.epsilon, plot.claim, plot.exact, plot.certified, strict=True):
        assert exact <= claim + DRAWN
        assert certified <= exact + DRAWN
        assert exact == pytest.approx(claim, rel=DRAWN), "randomised response with a leak attains its claim everywhere"
        if epsilon >= 1.0:
            assert claim == target.claim.delta
    # and where the pictures come from, to the last digits
    curve = compare(target, Pair(*PAIR), LawCache()).profile("left/right", np.array(plot.epsilon))
    assert curve == pytest.approx([target.claim.delta_at(e) for e in plot.epsilon], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1.0, 700.0, 1e300, 1.7e308])
def test_the_profile_is_finite_at_every_claim(epsilon: float) -> None:
    found = audit(Response(), epsilon=epsilon, runs=500)
    plot = found.profile_plot
    assert plot is not None
    assert all(map(math.isfinite, plot.epsilon))
    assert plot.epsilon == sorted(set(plot.epsilon))
    assert plot.certified is not None
    assert all(0 <= v <= 1 for v in plot.certified)
    assert plot.claim == rounded(Claim(epsilon).delta_at(e) for e in plot.epsilon)


@pytest.mark.parametrize("certify", [False, True])
def test_the_bound_after_every_batch(certify: bool) -> None:
    """A fifth of the samples learn; the others are counted, at analyses that double unless all are used anyway."""
    found = audit(responses, epsilon=1.0, certify=certify)
    plot = found.bound_plot
    assert plot is not None
    if certify:
        assert plot.runs == [1_000, 2_000, 3_000, 4_000]
    else:
        assert plot.runs == [32, 63, 125, 250, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000]
    (e,) = found.sampled
    assert e.n == plot.runs[-1]
    assert plot.bound[-1] == clopper_pearson.epsilon_lower(e.x, e.n, e.y, e.m, delta=0.0, alpha=e.alpha)
