"""A proof for every dataset of a claim's scope, where it is found at once."""

from __future__ import annotations

import math
from typing import Any

from dpaudit.evidence.findings import Findings
from dpaudit.language.scores import Scores
from dpaudit.plans.job import ExhaustiveDomain, GivenPairs, PairSearch, PrivacyJob
from dpaudit.proofs.claimed import answers_of, scopes_of_claim
from dpaudit.proofs.exact import ROUNDING
from dpaudit.proofs.program import SENSITIVITY
from dpaudit.proofs.prove import QUICK, claimed, prove_widest
from dpaudit.proofs.results import Proof
from dpaudit.proofs.scopes import Stated
from dpaudit.proofs.translation import label_of
from dpaudit.results.model import Alignment, ShiftedNoise
from dpaudit.results.notes import WrongSensitivity
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget


def align_noise(job: PrivacyJob, findings: Findings, runner: Runner) -> None:
    """Try to prove a mechanism's claim by an alignment of its noise; `findings` gets the proof.

    Raises:
        TimeLimitError: the limit came.
    """
    target, claim = job.target, job.claim
    if not isinstance(target, MechanismTarget) or not isinstance(job, GivenPairs | PairSearch | ExhaustiveDomain):
        return
    stated = claim.epsilon > 0 or label_of(claim)
    if findings.enumeration is not None or not job.exact or job.black_box or not stated:
        return
    # a search also tries larger datasets than those of its small domain
    scope = job.scope if isinstance(job, ExhaustiveDomain) else None
    domain, records = (scope.domain, scope.records) if scope is not None else ((), 0)
    with runner.guarded(target.name):
        scopes = scopes_of_claim(target.subject, claim, domain=domain, records=records, answers=answers_of(job.pairs))
        if not scopes:
            return
        what = claimed(target.subject, claim=claim)
        outcome = prove_widest(target.subject, scopes, what, refute=False, limits=QUICK)
        given = outcome.stated if isinstance(outcome, Proof) else ()
        if given and not job.pairs:
            # nothing that a query states would be tested
            return
        if given and (wrong := _wrong_sensitivity(given, job)) is not None:
            findings.notes.append(wrong)
            return
    # of coins, exact output distributions say all
    if isinstance(outcome, Proof) and outcome.certificate["kind"] != "coins":
        findings.alignment = Alignment(
            outcome.scope, str(outcome.epsilon), str(outcome.mu_squared), str(outcome.rho),
            [
                ShiftedNoise(
                    str(line.place), line.place.source, line.noise, list(map(str, line.shifts)), str(line.cost)
                )
                for line in outcome.alignment
            ],
            outcome.paths, list(outcome.assumptions), f"{SENSITIVITY}, as on {_pairs(job)}" if given else None,
        )


def _wrong_sensitivity(given: tuple[Stated, ...], job: PrivacyJob) -> WrongSensitivity | None:
    """A query whose answers differ by more than the sensitivity that it states; None where none do."""
    for number, each in enumerate(given, 1):
        for pair in job.pairs:
            difference = _distance(each, each.subject(pair.left), each.subject(pair.right))
            if difference > job.claim.relation.size * each.sensitivity * (1 + ROUNDING):
                return WrongSensitivity(
                    f"query {number}" if each.moves == "total" else type(each.subject).__name__, difference,
                    float(each.sensitivity), pair.label,
                )
    return None


def _distance(each: Stated, left: Any, right: Any) -> float:
    """How far answers differ in total, or how far one of the scores does; ∞ where they are not as many as stated."""
    if each.moves == "each":
        if isinstance(left, Scores) and isinstance(right, Scores) and list(left.solutions) != list(right.solutions):
            return math.inf
        left, right = left.values, right.values
    if len(left) != each.k or len(right) != each.k:
        return math.inf
    distances = [abs(float(x) - float(y)) for x, y in zip(left, right, strict=True)]
    return sum(distances) if each.moves == "total" else max(distances)


def _pairs(job: PrivacyJob) -> str:
    return "the pair tried" if len(job.pairs) == 1 else f"all {len(job.pairs)} pairs tried"
