"""Exact evidence of noise with a density, from a mechanism to a verdict."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from audit_toys import PAIR, Folded, NoisySum

from dpaudit.adversary import Pair
from dpaudit.engine import orchestrator
from dpaudit.evidence.density import density_evidence, losses_of
from dpaudit.evidence.exact import LEFT_RIGHT
from dpaudit.interpret import sample
from dpaudit.language import Claim, Mechanism, Program
from dpaudit.language.distributions import DiscreteLaplace, Gaussian, Laplace, independent
from dpaudit.plans import registry
from dpaudit.plans.request import Request
from dpaudit.report.html import to_html
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Audit, Bounds, EvidenceKind, ExactEvidence, Verdict
from dpaudit.results.refutation import TOLERANCE, refutes
from dpaudit_audits.corpus import ORACLES
from dpaudit_audits.corpus.oracle import Oracle

SINGLE = Pair((0,), (1,))


@dataclass(frozen=True)
class Noisy(Mechanism):
    """One number: `factor` · (the sum + noise) + `shift`, written as a user would."""

    noise: Any
    factor: float = 1.0
    shift: float = 0.0
    claimed: Claim | None = None

    @property
    def claim(self) -> Claim | None:
        return self.claimed

    def run(self, dataset: Any) -> Program:
        return self.factor * (sum(dataset) + (yield self.noise)) + self.shift


@dataclass(frozen=True)
class Counts(Mechanism):
    """The sum, `times` times, with Laplace noise of scale 1; what is claimed may be too little."""

    times: int = 3
    claimed: Claim = Claim(3.0)  # noqa: RUF009

    @property
    def claim(self) -> Claim:
        return self.claimed

    def run(self, dataset: Any) -> Any:
        return independent(Laplace(float(sum(dataset)), 1.0), self.times)


def audit(mechanism: Mechanism, pair: Any = PAIR, **more: Any) -> Audit:
    (found,) = orchestrator.run(Request((mechanism,), pair=pair, runs=1_000, **more)).audits
    return found


def found_of(mechanism: Mechanism, claim: Claim, pair: Pair = SINGLE) -> ExactEvidence:
    exact, _ = density_evidence(losses_of(mechanism, pair), pair, claim)
    return exact


# --- the event ----------------------------------------------------------------------------------------------------


@pytest.mark.slow(fast=["noise0-claim1--1.0-2.0-pair0", "noise1-claim0--1.0-2.0-pair0", "noise2-*--1.0-2.0-pair0"])
@pytest.mark.parametrize("pair", [((0,), (1,)), ((1,), (0,)), ((0,), (2,))])
@pytest.mark.parametrize(("factor", "shift"), [(1.0, 0.0), (-1.0, 2.0), (0.5, 0.25)])
@pytest.mark.parametrize("claim", [Claim(0.3), Claim(0.3, 0.01), Claim(0.01, 0.3), Claim(5.0, 1e-3)])
@pytest.mark.parametrize("noise", [Laplace(0, 2), Gaussian(0, 1.5), DiscreteLaplace(0, 3.0)])
def test_the_event_attains_what_is_reported(
    noise: Any, claim: Claim, factor: float, shift: float, pair: tuple[Any, Any]
) -> None:
    """p − e^ε q of the threshold event is the profile at its ε, and runs fall into it as often as it says."""
    mechanism = Noisy(noise, factor, shift)
    sides = Pair(*pair)
    losses = losses_of(mechanism, sides)
    exact, event = density_evidence(losses, sides, claim)
    if exact.event is None:
        # where a threshold event of whole numbers is not one of the output's, or nowhere is there a loss as large
        assert isinstance(noise, DiscreteLaplace)
        assert abs(factor) != 1 or exact.epsilon == 0
        return
    assert exact.p is not None
    assert exact.q is not None
    at = claim.epsilon if exact.epsilon is None or exact.epsilon > claim.epsilon else exact.epsilon * (1 - 1e-6)
    if claim.delta:
        assert exact.p - math.exp(at) * exact.q == pytest.approx(losses.noise.delta(at).low, rel=1e-5, abs=1e-9)
    elif exact.epsilon is not None:
        assert exact.p / exact.q == pytest.approx(math.exp(exact.epsilon))
    for side, truth in zip(pair, (exact.p, exact.q), strict=True):
        hits = event.count(sample(mechanism, side, 20_000, seed=3))
        assert abs(hits - 20_000 * truth) <= 5 * math.sqrt(20_000 * truth * (1 - truth)) + 1


# --- the verdict --------------------------------------------------------------------------------------------------


def test_bounds_refute_only_where_both_exceed_the_claim() -> None:
    claim = Claim(1.0, 1e-3)
    pair = found_of(NoisySum(), claim).pair
    more, less = 1 + 4 * TOLERANCE, 1 - 4 * TOLERANCE
    for epsilon, delta, expected in [(more, more, True), (more, less, False), (less, more, False), (1.0, 1.0, False)]:
        bounds = Bounds(epsilon, 2.0, 1e-3 * delta, 1e-2)
        found = ExactEvidence(pair, LEFT_RIGHT, None, 1.5, 5e-3, None, None, bounds)
        assert refutes(found, claim) is expected
    infinite = ExactEvidence(pair, LEFT_RIGHT, None, None, 5e-3, None, None, Bounds(None, None, 5e-3, 5e-3))
    assert refutes(infinite, Claim(1.0))
    assert not refutes(infinite, Claim(1.0, 1e-2))


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1 / 3, 1.0, 7.7])
def test_a_claim_met_with_equality_stands_and_a_shade_less_falls(epsilon: float) -> None:
    """1/ε and the quotient by it are rounded; a tenth of a billionth less is no rounding."""
    mechanism = Noisy(Laplace(0, 1 / epsilon))
    assert not refutes(found_of(mechanism, Claim(epsilon)), Claim(epsilon))
    less = Claim(epsilon * (1 - 1e-10) - 1e-10)
    assert refutes(found_of(mechanism, less), less)


def test_a_gaussian_keeps_no_pure_claim() -> None:
    found = audit(NoisySum(gaussian=True))
    assert found.verdict is Verdict.FAIL
    assert found.evidence is EvidenceKind.EXACT
    assert found.epsilon_exact is None
    assert found.delta_exact is not None
    assert "no finite ε" in found.reason


def test_a_pass_is_no_proof_and_says_what_it_is_about() -> None:
    found = audit(NoisySum())
    assert found.verdict is Verdict.PASS
    assert found.evidence is EvidenceKind.EXACT
    assert found.proof is None
    assert "not a proof" in found.reason
    assert "real_noise" in [note.code for note in found.notes]
    assert found.epsilon_exact == pytest.approx(1.0, abs=1e-14)
    assert found.profile_plot is not None
    assert found.profile_plot.exact is not None
    truth = [max(0.0, -math.expm1((e - 1) / 2)) for e in found.profile_plot.epsilon]
    assert found.profile_plot.exact == pytest.approx(truth, rel=1e-5, abs=1e-12)  # a picture has six digits
    curve = losses_of(NoisySum(), SINGLE).profile("left/right", np.array(found.profile_plot.epsilon))
    assert curve == pytest.approx(truth, abs=1e-12)
    assert found.output_plot is not None
    assert found.output_plot.kind == "sampled"


def test_whole_numbers_need_no_word_about_reals() -> None:
    found = audit(Noisy(DiscreteLaplace(0, 1.0), claimed=Claim(1.0)))
    assert found.evidence is EvidenceKind.EXACT
    assert "real_noise" not in [note.code for note in found.notes]


@pytest.mark.slow
def test_several_draws_have_bounds_and_no_event() -> None:
    found = audit(Counts(3, Claim(2.9, 1e-4)))
    assert found.verdict is Verdict.FAIL
    (exact,) = found.exact
    assert exact.bounds is not None
    assert exact.event is exact.p is exact.q is found.event is None
    # at δ = 1e-4 three draws need nearly all of their 3
    assert exact.bounds.epsilon_low is not None
    assert exact.bounds.epsilon_high is not None
    assert 2.9 < exact.bounds.epsilon_low <= exact.bounds.epsilon_high < 3
    assert not refutes(found_of(Counts(3, Claim(3.0)), Claim(3.0)), Claim(3.0))


@pytest.mark.parametrize("mutant", [Noisy(Laplace(0, 0.9)), Noisy(Laplace(0, 1.0), shift=3.0, factor=2.0)])
def test_mutants_of_laplace_noise(mutant: Noisy) -> None:
    """Less noise is refuted; a public factor of noise and answer together is not less noise."""
    assert refutes(found_of(mutant, Claim(1.0)), Claim(1.0)) is (mutant.noise.scale < 1)


def test_what_is_refused_is_sampled_with_a_reason() -> None:
    found = audit(Folded())
    assert found.evidence is EvidenceKind.SAMPLED
    (note,) = found.notes
    assert note.sentence.startswith("Not computed exactly: The draw 1 of Folded is Laplace")
    assert "No closed form either: Folded applies a nonlinear operation to a draw" in note.sentence


@dataclass(frozen=True)
class OnePair(Mechanism):
    """Releases its noise on one dataset alone."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Program:
        noise = yield Laplace(float(sum(dataset)), 1.0)
        return noise if sum(dataset) else abs(noise)


def test_both_datasets_must_release() -> None:
    assert audit(OnePair()).evidence is EvidenceKind.SAMPLED
    assert audit(OnePair(), ((1,), (2,))).evidence is EvidenceKind.EXACT


# --- the catalogue ------------------------------------------------------------------------------------------------

DENSITIES = (
    *("GaussianClassical", "GaussianHalfSigma", "GaussianClassicalLargeEpsilon", "GaussianAnalytic"),
    *("NoisyHist1", "NoisyHist2", "LaplaceParallel", "PrefixSum", "DiscreteLaplaceMechanism"),
)


@pytest.mark.parametrize("name", DENSITIES)
def test_members_of_the_corpus_agree_with_their_oracles(name: str) -> None:
    """Their own best events, computed apart from this, attain what is reported; and the verdict is the expected one."""
    case = registry.plan(name).cases()[0]
    claim = case.tested
    assert claim is not None
    found = found_of(case.mechanism, claim, case.pairs[0])
    module, _, attribute = ORACLES[name].partition(":")
    oracle: Oracle = getattr(__import__(module, fromlist=[attribute]), attribute)()
    rest = oracle.rest or (1 - oracle.p, 1 - oracle.q)
    ratio = math.exp(claim.epsilon)
    attained = max(float(np.max(oracle.p - ratio * oracle.q)), float(np.max(rest[1] - ratio * rest[0])))
    assert found.delta == pytest.approx(max(0.0, attained), rel=2e-3, abs=1e-9)
    assert found.bounds is not None
    assert refutes(found, claim) is (case.expected is Verdict.FAIL)


def test_the_laplace_mechanism_of_the_catalogue() -> None:
    for case in registry.plan("LaplaceMechanism").cases():
        claim = case.tested
        assert claim is not None
        found = found_of(case.mechanism, claim, case.pairs[0])
        assert found.bounds is not None
        # every case attains its claim
        assert found.bounds.epsilon_low is not None
        assert found.bounds.epsilon_high is not None
        assert found.bounds.epsilon_low <= claim.epsilon <= found.bounds.epsilon_high
        assert not refutes(found, claim)


# --- reports ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_written_and_read_back() -> None:
    result = orchestrator.run(Request((Counts(2, Claim(1.0, 0.1)),), pair=PAIR, runs=1_000))
    assert from_json(to_json(result), where="x") == result
    page = to_html(result)
    assert "none in closed form" in page
    # rounded to the sides on which they stay true, of what is 1.597540…
    assert re.search(r"1\.5975[34]\d+ to 1\.59754\d+", page)
    assert "for real-valued noise" in page
