"""Exact evidence: both directions, the right dataset on top, and proofs that leave no pair out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dpaudit.adversary import Pair
from dpaudit.engine import orchestrator
from dpaudit.errors import TimeLimitError
from dpaudit.evidence import law_table
from dpaudit.evidence.exact import compare, enclosed, evidence
from dpaudit.interpret import LawCache, law
from dpaudit.language import Bernoulli, Claim, Laplace, Mechanism, Program
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request, VerifyMode
from dpaudit.results.model import EvidenceKind, Verdict


@dataclass(frozen=True)
class Lopsided(Mechanism):
    """True with probability 1/2 or 1/10: ln 5 is needed in one direction, ln 1.8 in the other."""

    claim = Claim(1.0)

    def run(self, dataset: Any) -> Bernoulli:
        return Bernoulli(0.5 if dataset == (0,) else 0.1)


@pytest.mark.parametrize("top", [0, 1])
def test_the_worse_direction_is_found_and_named(top: int) -> None:
    mechanism, pair = Lopsided(), Pair((top,), (1 - top,), "", "given")
    comparison = compare(mechanism, pair, LawCache())
    found, event = evidence(comparison, pair, mechanism.claim)
    assert found.epsilon == pytest.approx(math.log(5))
    assert found.delta == pytest.approx(0.5 - math.e * 0.1)
    assert found.direction == ("left/right" if top == 0 else "right/left")
    assert (found.p, found.q) == (pytest.approx(0.5), pytest.approx(0.1))
    # the event is the one that attains it, on the dataset that is named first
    on_top, other = (pair.left, pair.right) if found.direction == "left/right" else (pair.right, pair.left)
    for dataset, share in ((on_top, found.p), (other, found.q)):
        assert law(mechanism, dataset).probability(lambda v: v in event.atoms) == pytest.approx(share)
    bounds = enclosed(found, comparison, mechanism, pair, mechanism.claim, LawCache()).bounds
    assert bounds is not None
    assert bounds.epsilon_low is not None
    assert bounds.epsilon_high is not None
    assert bounds.epsilon_low <= math.log(5) * (1 + 1e-15) <= bounds.epsilon_high * (1 + 2e-15)
    assert bounds.epsilon_low == pytest.approx(math.log(5), rel=1e-14)


@pytest.mark.parametrize("pair", [((0,), (1,)), ((1,), (0,))])
def test_a_violation_in_either_direction_refutes(pair: Any) -> None:
    """A claim between the two numbers."""
    (found,) = orchestrator.run(Request((Lopsided(),), pair=pair, runs=500)).audits
    assert (found.verdict, found.evidence) == (Verdict.FAIL, EvidenceKind.EXACT)
    (found,) = orchestrator.run(Request((Lopsided(),), pair=pair, runs=500, epsilon=math.log(5) * (1 + 1e-9))).audits
    assert found.verdict is Verdict.PASS


@dataclass(frozen=True)
class SometimesReal(Mechanism):
    """Randomised response; on records from 2 on it depends on a real number, and has no exact distribution."""

    claim = Claim(1.0)

    def run(self, dataset: Any) -> Program:
        (record,) = dataset
        if record > 1:
            noise = yield Laplace(0, 1)
            return noise > 0
        return Bernoulli(1 / (1 + math.exp(-1 if record else 1)))


def test_evidence_is_called_exact_only_where_every_pair_is() -> None:
    request = Request((SometimesReal(),), pair=((0,), (1,)), runs=2_000)
    (job,) = jobs_of(request)
    pairs = (Pair((0,), (1,), "one", "given"), Pair((2,), (3,), "other", "given"))
    job = replace(job, pairs=pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orchestrator, "all_jobs", lambda _: [job])
        (found,) = orchestrator.run(request).audits
    assert len(found.exact) == 1
    assert found.verdict is not Verdict.FAIL
    assert found.evidence is EvidenceKind.SAMPLED


@dataclass(frozen=True)
class Slow(Mechanism):
    """Randomised response on the first record; time runs out on datasets with more than `most` ones."""

    most: int

    claim = Claim(1.0)

    def run(self, dataset: Any) -> Bernoulli:
        if sum(dataset) > self.most:
            raise TimeLimitError("The time limit ran out")
        return Bernoulli(1 / (1 + math.exp(-1 if sum(dataset) else 1)))


@pytest.mark.parametrize(("most", "verdict"), [(9, Verdict.PASS), (8, Verdict.INCONCLUSIVE), (4, Verdict.INCONCLUSIVE)])
def test_a_scope_of_which_some_pairs_were_not_compared_is_not_proved(
    monkeypatch: pytest.MonkeyPatch, most: int, verdict: Verdict
) -> None:
    """Without the last dataset the laws of some pairs are there, and keep the claim; without many of them none are."""
    monkeypatch.setattr(law_table, "_LATEST", {})
    request = Request((Slow(most),), data="sampled_from([0, 1])", verify=VerifyMode(None, 9))
    (found,) = orchestrator.run(request).audits
    assert found.verdict is verdict
    assert (found.proof is not None) == (verdict is Verdict.PASS)
