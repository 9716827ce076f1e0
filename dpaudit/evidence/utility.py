"""Audits of utility guarantees: the probability of success on every source of inputs, exact and from samples."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import zlib
from collections.abc import Generator, Iterable

from numpy.random import SeedSequence, default_rng

from dpaudit.errors import DpauditError, MechanismError, NotEnumerableError, TimeLimitError, UsageError
from dpaudit.evidence.success import Judged, exactly
from dpaudit.interpret import Counted, Outputs
from dpaudit.language import Mechanism, Trial
from dpaudit.options import BLACK_BOX, DATA, DELTA, EPSILON, GAME, GROUPS, PAIR, PARAMETERS, RELATION, UTILITY
from dpaudit.plans import registry
from dpaudit.plans.comparison import comparison_entries
from dpaudit.plans.findings import case_notes
from dpaudit.plans.job import UtilityJob
from dpaudit.plans.jobs import comparison_of
from dpaudit.plans.location import location_of
from dpaudit.plans.plan import UtilityCase, refuse_twins
from dpaudit.plans.request import ID_VERSION, ComparisonSpec, Request
from dpaudit.results.figures import Drawing
from dpaudit.results.model import Attempt, EvidenceKind, UtilityAudit, UtilityRecord, Verdict
from dpaudit.results.notes import NoFigure, NoteRecord, Rounded, SuccessNotExact
from dpaudit.results.reasons import (
    Crash,
    GuaranteeBroken,
    GuaranteeExactlyBroken,
    GuaranteeExactlyKept,
    GuaranteeKept,
    GuaranteeNotRefuted,
    GuaranteeTimeLimit,
    Reason,
)
from dpaudit.results.refutation import misses
from dpaudit.results.stream import Progress
from dpaudit.stats import clopper_pearson
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget, Unit
from dpaudit.subjects.user_errors import described, sentence

PARTS = 4
"""Batches of samples of one source of inputs; progress is reported after each."""


def utility_jobs(request: Request) -> list[UtilityJob]:
    """The utility guarantees of a request's algorithms, in order; none where it changes what they are run on.

    Raises:
        UsageError: only guarantees are asked for, and there are none, or they would be of something else.
    """
    if request.comparison is not None:
        return _comparison_jobs(request, request.comparison)
    alone = request.only == "utility"
    if request.verify is not None or request.worst_case is not None or request.only == "privacy":
        return []
    changed = (
        request.groups or request.parameters or request.given_pairs or request.data or request.game
        or request.black_box
    )
    if alone and changed:
        raise UsageError(
            "{} tests the utility guarantees of the catalogue unchanged; leave {}, {}, {}, {}, {} and {} out.",
            UTILITY, GROUPS, PARAMETERS, PAIR, DATA, GAME, BLACK_BOX,
        )
    stated = (request.claim, request.epsilon, request.delta, request.relation)
    if alone and any(given is not None for given in stated):
        raise UsageError(
            "{} tests no privacy claim; leave {}, {} and {} out.", UTILITY, EPSILON, DELTA, RELATION
        )
    if changed:
        return []
    jobs = [job for target in request.targets for job in _jobs_of(request, target)]
    if alone and not jobs:
        names = ", ".join(str(target) for target in request.targets[:3])
        raise UsageError(
            "{} has no utility guarantee; leave {} out to test its privacy.", names, UTILITY
        )
    return jobs


def _jobs_of(request: Request, target: object) -> Iterable[UtilityJob]:
    if not isinstance(target, str) or target not in registry.names() | registry.names(registry.CORPUS):
        return
    plan = registry.plan(target)
    cases = plan.utility() if plan.utility is not None else ()
    refuse_twins(target, cases)
    for case in cases:
        yield _job(request, target, case, case.expected)


def _comparison_jobs(request: Request, spec: ComparisonSpec) -> list[UtilityJob]:
    """The success of every algorithm of a comparison, at every size."""
    entries = comparison_entries(comparison_of(spec), spec)
    return [_job(request, entry.method, entry.utility, None) for entry in entries if entry.utility is not None]


def _job(request: Request, name: str, case: UtilityCase, expected: Verdict | None) -> UtilityJob:
    image = {"request": request.image(), "name": name, "utility": case.label, "format": ID_VERSION}
    replay = hashlib.sha256(json.dumps(image, sort_keys=True).encode()).hexdigest()[:12]
    runs = case.runs if request.runs is None or not case.runs else request.runs
    target = MechanismTarget(name, "", case.mechanism)
    return UtilityJob(target=target, case=case, replay=replay, expected=expected, runs=runs)


def audit_utility(
    job: UtilityJob, request: Request, alpha: float, runner: Runner
) -> Generator[Progress, None, UtilityAudit]:
    """One guarantee to its end.

    Args:
        alpha: the job's share of the family-wise error, divided evenly among its sources.
    """
    attempts: list[Attempt] = []
    notes = [note.record(request.door) for note in case_notes(job.target.name, job.case, job.expected)]
    crash, crashed, cut_short = None, False, False
    try:
        for number, source in enumerate(job.case.instances):
            yield from _attempt(job, source, number, request, alpha / max(1, job.tests), runner, attempts, notes)
    except TimeLimitError:
        cut_short = True
    except DpauditError as error:
        crash, crashed = sentence(error.at(request.door)), isinstance(error, MechanismError)
    verdict, kind, reason = _decide(job, attempts, request, crash=crash, cut_short=cut_short)
    drawing = None if crash is not None or cut_short else _drawn(job, request, runner, notes)
    return _result(job, request, verdict, kind, reason, attempts, notes, crashed=crashed, drawing=drawing)


def _drawn(job: UtilityJob, request: Request, runner: Runner, notes: list[NoteRecord]) -> Drawing | None:
    """The case's picture, from runs with a part of the seed that no source of inputs has."""
    if job.case.drawing is None:
        return None
    try:
        with runner.limited(), contextlib.redirect_stdout(sys.stderr):
            seed = SeedSequence([request.seed, _key(job), len(job.case.instances), 1])
            return job.case.drawing(default_rng(seed))
    except Exception as error:
        # the verdict does not need its figure
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        notes.append(NoFigure(described(error)).record(request.door))
        return None


def _successes(outputs: Outputs) -> int:
    return outputs.counts.get(True, 0)


def _key(job: UtilityJob) -> int:
    return zlib.crc32(f"{job.target.name}/{job.label}".encode())


def undecided(job: UtilityJob, request: Request, reason: Reason, *, crashed: bool) -> UtilityAudit:
    """The result for a guarantee about which nothing is known."""
    kind = EvidenceKind.SAMPLED
    return _result(job, request, Verdict.INCONCLUSIVE, kind, reason, [], [], crashed=crashed)


def _result(
    job: UtilityJob, request: Request, verdict: Verdict, kind: EvidenceKind, reason: Reason,
    attempts: list[Attempt], notes: list[NoteRecord], *, crashed: bool, drawing: Drawing | None = None,
) -> UtilityAudit:
    claim, card = job.claim, job.target.card
    return UtilityAudit(
        name=job.target.name,
        case=job.label,
        mechanism=job.target.shown,
        title=card.title if card is not None else job.target.name,
        source=claim.place,
        deviations=list(card.deviations) if card is not None else [],
        verdict=verdict,
        evidence=kind,
        reason=reason.sentence(request.door),
        reason_code=reason.code,
        reason_values=reason.values(request.door),
        claim=UtilityRecord(str(claim.goal), claim.probability, claim.at_most, claim.place, str(claim)),
        attempts=attempts,
        worst=_worst(attempts, at_most=claim.at_most),
        confidence=1 - request.alpha,
        runs=sum(one.runs for one in attempts),
        replay=job.replay,
        expected=job.expected,
        notes=notes,
        crashed=crashed,
        location=location_of(job.target.subject),
        drawing=drawing,
    )


def _attempt(
    job: UtilityJob, source: Mechanism, number: int, request: Request, alpha: float, runner: Runner,
    attempts: list[Attempt], notes: list[NoteRecord],
) -> Generator[Progress, None, None]:
    """The probability of success on one source; it is added to `attempts`, also where time runs out on the way."""
    trial = Trial(source, job.target.subject, job.claim.goal)
    what = f"instances {number + 1} of {len(job.case.instances)}"
    exact = None
    if job.case.exact:
        yield Progress(0, 1, f"exact, {what}", None)
        with runner.guarded(job.target.name):
            try:
                exact = exactly(trial)
            except NotEnumerableError as error:
                if not job.runs:
                    raise
                if (note := SuccessNotExact(error).record(request.door)) not in notes:
                    notes.append(note)
    hits = done = 0
    try:
        key = _key(job)
        target = MechanismTarget(job.target.name, "", Judged(source, job.target.subject, job.claim.goal))
        sizes = [job.runs // PARTS + (part < job.runs % PARTS) for part in range(PARTS)]
        units = [
            Unit((), size, SeedSequence([request.seed, key, number, 0, 0, 0, part]), count=_successes)
            for part, size in enumerate(sizes)
            if size
        ]
        for found in runner.run(target, units, job.runs):
            assert isinstance(found, Counted)
            hits += found.hits
            done += found.runs
            yield Progress(done, job.runs, f"{what}, {done:,} of {job.runs:,} runs", None)
    finally:
        if done or exact is not None:
            lower, upper = clopper_pearson.interval(hits, done, alpha=alpha) if done else (None, None)
            if exact is None:
                attempts.append(Attempt(str(source), None, None, None, hits, done, lower, upper, alpha))
            else:
                ends = (exact.nearest, exact.low, exact.high)
                attempts.append(Attempt(str(source), *ends, hits, done, lower, upper, alpha, exact.rounded))
                if exact.rounded and (note := Rounded.of(exact.rounded).record(request.door)) not in notes:
                    notes.append(note)


def _decide(
    job: UtilityJob, attempts: list[Attempt], request: Request, *, crash: str | None, cut_short: bool
) -> tuple[Verdict, EvidenceKind, Reason]:
    """Verdict, what it was made from, and why."""
    claim = job.claim
    broken = [one for one in attempts if misses(one, claim.probability, at_most=claim.at_most)]
    sampled = [one for one in attempts if one.exact is None]
    confidence = 1 - request.alpha
    if broken:
        worst = broken[_worst(broken, at_most=claim.at_most) or 0]
        if worst.exact is not None and misses(worst, claim.probability, at_most=claim.at_most, exactly=True):
            exactly_broken = GuaranteeExactlyBroken(worst.exact, claim.probability, claim.at_most, worst.instances)
            return Verdict.FAIL, EvidenceKind.EXACT, exactly_broken
        limit = worst.low if claim.at_most else worst.high
        assert limit is not None
        return Verdict.FAIL, EvidenceKind.SAMPLED, GuaranteeBroken(
            worst.hits, worst.runs, limit, confidence, claim.probability, claim.at_most, worst.instances
        )
    kind = EvidenceKind.SAMPLED if sampled or not attempts else EvidenceKind.EXACT
    if crash is not None:
        return Verdict.INCONCLUSIVE, kind, Crash(crash)
    if cut_short or not attempts:
        return Verdict.INCONCLUSIVE, kind, GuaranteeTimeLimit()
    if not sampled:
        return Verdict.PASS, kind, GuaranteeExactlyKept(len(attempts), any(one.rounded for one in attempts))
    if all(_kept(one, claim.probability, at_most=claim.at_most) for one in attempts):
        return Verdict.PASS, kind, GuaranteeKept(len(attempts), confidence)
    return Verdict.PASS, kind, GuaranteeNotRefuted(len(attempts))


def _kept(one: Attempt, guaranteed: float, *, at_most: bool) -> bool:
    """Whether the attempt is known to satisfy the guarantee."""
    if one.exact is not None:
        return True
    if one.low is None or one.high is None:
        return False
    return one.high <= guaranteed if at_most else one.low >= guaranteed


def _worst(attempts: list[Attempt], *, at_most: bool) -> int | None:
    def success(i: int) -> float:
        one = attempts[i]
        return one.exact if one.exact is not None else one.hits / one.runs if one.runs else 0.0

    best = max if at_most else min
    return best(range(len(attempts)), key=success, default=None)
