"""A proof for every dataset of a claim's scope, where it is found at once."""

from __future__ import annotations

import inspect
import math
from typing import Any

from dpaudit.adversary.pairs.describe import Floats
from dpaudit.errors import ParameterError
from dpaudit.evidence.findings import Findings
from dpaudit.language.containers import Array
from dpaudit.language.scores import Scores
from dpaudit.plans.job import ExhaustiveDomain, GivenPairs, PairSearch, PrivacyJob
from dpaudit.proofs.claimed import answers_of, scope_of_function, scopes_of_claim
from dpaudit.proofs.exact import ROUNDING
from dpaudit.proofs.program import SENSITIVITY
from dpaudit.proofs.prove import QUICK, claimed, prove_widest
from dpaudit.proofs.results import Outcome, Proof
from dpaudit.proofs.scopes import Container as ContainerOfProof
from dpaudit.proofs.scopes import Stated
from dpaudit.proofs.translation import label_of
from dpaudit.results.model import Alignment, ShiftedNoise
from dpaudit.results.notes import WrongSensitivity
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget, MechanismTarget

MOST_VALUES = 64
"""Records of a finite domain beyond which functions are not proved unasked."""


def align_noise(job: PrivacyJob, findings: Findings, runner: Runner) -> None:
    """Try to prove the claim of a mechanism or a function by an alignment of its noise; `findings` gets the proof.

    Raises:
        TimeLimitError: the limit came.
    """
    claim = job.claim
    if not isinstance(job, GivenPairs | PairSearch | ExhaustiveDomain) or not (claim.epsilon > 0 or label_of(claim)):
        return
    if findings.enumeration is not None or not job.exact or job.black_box:
        return
    with runner.guarded(job.target.name):
        outcome = _outcome(job)
        if not isinstance(outcome, Proof):
            return
        given = outcome.stated
        if given and not job.pairs:
            # nothing that a query states would be tested
            return
        if given and (wrong := _wrong_sensitivity(given, job)) is not None:
            findings.notes.append(wrong)
            return
    choices = outcome.certificate["kind"] == "coins"
    # a mechanism's exact output distributions say all of random choices alone
    if not choices or outcome.alignment or not isinstance(job.target, MechanismTarget):
        findings.alignment = Alignment(
            outcome.scope, str(outcome.epsilon), str(outcome.mu_squared), str(outcome.rho),
            [
                ShiftedNoise(
                    str(line.place), line.place.source, line.noise, list(map(str, line.shifts)), str(line.cost)
                )
                for line in outcome.alignment
            ],
            outcome.paths, list(outcome.assumptions), f"{SENSITIVITY}, as on {_pairs(job)}" if given else None, choices,
        )


def _outcome(job: GivenPairs | PairSearch | ExhaustiveDomain) -> Outcome | None:
    """What becomes of a proof; None where there is nothing to be tried."""
    target, claim = job.target, job.claim
    what = claimed(target.subject, claim=claim)
    if isinstance(target, MechanismTarget):
        # a search also tries larger datasets than those of its small domain
        scope = job.scope if isinstance(job, ExhaustiveDomain) else None
        domain, records = (scope.domain, scope.records) if scope is not None else ((), 0)
        scopes = scopes_of_claim(target.subject, claim, domain=domain, records=records, answers=answers_of(job.pairs))
        return prove_widest(target.subject, scopes, what, refute=False, limits=QUICK) if scopes else None
    container = _container(target) if isinstance(target, FunctionTarget) else None
    if container is None:
        return None
    kind = job.records if isinstance(job, PairSearch) else None
    between = (kind.low, kind.high) if isinstance(kind, Floats) else None
    # a vector holds floats alone
    domain = (kind.every(MOST_VALUES) or ()) if kind is not None and container == "list" else ()
    try:
        found = scope_of_function(claim, size=_size(job), between=between, domain=domain)
    except ParameterError:
        return None
    if found is None:
        return None
    return prove_widest(target.subject, (found,), what, refute=False, limits=QUICK, container=container)


def _size(job: GivenPairs | PairSearch | ExhaustiveDomain) -> int | None:
    """The number of records, or answers, of all datasets; None where there are several."""
    if isinstance(job, PairSearch):
        return job.sizes[0] if job.sizes is not None and job.sizes[0] == job.sizes[1] else None
    sizes = {len(dataset) for pair in job.pairs for dataset in (pair.left, pair.right)}
    return sizes.pop() if len(sizes) == 1 else None


def _container(target: FunctionTarget) -> ContainerOfProof | None:
    """What a function f(data, rng) gets its records in; None where proofs do not know it, or the function's form."""
    if target.vectorised or not inspect.isfunction(target.subject):
        return None
    if target.container is None:
        return "list"
    return "vector" if target.container == Array("float64") else None


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
