"""The engine: from a request to a stream of events that ends in a result."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import sys
import time
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from dpaudit.adversary import Pair
from dpaudit.audit import pictures, sampled, search, sequential, worst_pair
from dpaudit.audit.accounting import shares
from dpaudit.audit.carry import carry_key, carry_notes
from dpaudit.audit.command import command_line
from dpaudit.audit.crash import blamed, described, sentence
from dpaudit.audit.density import REAL_NOISE, Losses, look
from dpaudit.audit.events import AuditFinished, AuditStarted, CheckFinished, CheckStarted, Event, Progress
from dpaudit.audit.exact import Comparison, finite, pair_record, worse
from dpaudit.audit.jobs import Job, jobs_of
from dpaudit.audit.law_table import forget
from dpaudit.audit.ledger_rows import ledger_rows
from dpaudit.audit.plan import Scope
from dpaudit.audit.request import Request
from dpaudit.audit.results import (
    Audit,
    ClaimRecord,
    EvidenceKind,
    ExactEvidence,
    FloatingPoint,
    LedgerRow,
    OutputPlot,
    Proof,
    Result,
    SequentialEvidence,
    Spending,
    Timings,
)
from dpaudit.audit.runner import WORTH_A_POOL, Runner
from dpaudit.audit.side_by_side import Work, side_by_side
from dpaudit.audit.sweep import exceeds, sweep
from dpaudit.audit.verdict import Findings, at_least, decide
from dpaudit.errors import DpauditError, MechanismError, NotEnumerableError, SymmetryError, TimeLimitError
from dpaudit.interpret import LawCache
from dpaudit.language import Mechanism

SHOWN_EXHAUSTIVE = 3
"""Worst pairs of an exhaustive audit that the result keeps."""

Steps: TypeAlias = Generator[Event, None, Audit]


def check(request: Request, *, only: str | None = None) -> Generator[Event, None, None]:
    """Audit everything that a request names.

    Args:
        request: what to check.
        only: the replay id of the one case to run; its share of α stays as it was.

    Yields:
        Events, the last of which is `CheckFinished` with the result. An interrupt (KeyboardInterrupt) ends the
        stream with what was finished until then.

    Raises:
        UsageError and its kinds, before anything is run.
    """
    jobs = jobs_of(request)
    tests = sum(job.tests for job in jobs)
    notes = carry_notes(jobs, request)
    if only is not None:
        jobs = [job for job in jobs if job.replay == only]
    started, clock = datetime.now(UTC), time.monotonic()
    runner = Runner(request.jobs, request.seconds)
    audits: list[Audit] = []
    seconds: dict[str, float] = {}

    def result(*, interrupted: bool = False) -> Result:
        timings = Timings(started.isoformat(timespec="seconds"), time.monotonic() - clock, request.jobs, seconds)
        command = command_line(request)
        return Result(request.seed, request.alpha, audits, environment(), command, timings, interrupted)

    try:
        yield CheckStarted(len(jobs), request.seed, request.alpha)
        # every case spends as much of the family-wise error as it has tests
        work = [
            Work(job, request.alpha * job.tests / max(1, tests), notes.get(job.replay)) for job in jobs
        ]
        while work:
            if request.every is None and runner.jobs > 1 and len(work) > 1 and time.monotonic() - clock > WORTH_A_POOL:
                steps = _side_by_side(work, request, runner)
                work = []
            else:
                steps = _timed(work.pop(0), request, runner)
            for event in steps:
                if isinstance(event, AuditFinished):
                    audits.append(event.audit)
                    seconds[event.audit.replay] = event.seconds
                yield event
    except KeyboardInterrupt:
        yield CheckFinished(result(interrupted=True))
        return
    finally:
        runner.close()
        forget()
    yield CheckFinished(result())


def run(request: Request) -> Result:
    """`check`, and its result alone.

    Raises:
        UsageError and its kinds, before anything is run; KeyboardInterrupt if interrupted.
    """
    for event in check(request):
        if isinstance(event, CheckFinished):
            if event.result.interrupted:
                raise KeyboardInterrupt
            return event.result
    raise AssertionError("the stream ended without a result")


def environment() -> dict[str, str]:
    """Versions that a result depends on."""
    found = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    for package in ("dpaudit", "numpy", "scipy", "scikit-learn", "python-flint"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def _timed(work: Work, request: Request, runner: Runner) -> Generator[Event, None, None]:
    begun = time.monotonic()
    audit = yield from _audit(work, request, runner)
    yield AuditFinished(audit, time.monotonic() - begun)


def _side_by_side(work: list[Work], request: Request, runner: Runner) -> Generator[Event, None, None]:
    """Several cases at once; what is told of them is told in their order."""
    ended: dict[int, tuple[Audit, float]] = {}
    found = side_by_side(work, partial(_alone, request), partial(_gave_up, request), runner)
    for place, one in enumerate(work):
        yield _started(one.job)
        while place not in ended:
            what = f"{len(ended)} of {len(work)} cases done, {runner.jobs} at once"
            yield Progress(len(ended), len(work), what, None)
            at, audit, spent = next(found)
            ended[at] = audit, spent
        yield AuditFinished(*ended[place])


def _alone(request: Request, work: Work, runner: Runner) -> Audit:
    """One case to its end, untold."""
    steps = _audit(work, request, runner)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            audit: Audit = end.value
            return audit


def _gave_up(request: Request, job: Job, error: MechanismError) -> Audit:
    return _result(job, request, Findings(crash=str(error), crashed=True), Runner())


def _started(job: Job) -> AuditStarted:
    return AuditStarted(job.target.name, job.case.label, str(job.claim), 1)


def _audit(work: Work, request: Request, runner: Runner) -> Steps:
    """One case: exact evidence where there is a law, sampled evidence where runs are asked for, one verdict."""
    job = work.job
    yield _started(job)
    found = Findings(notes=[work.note] if work.note else [])
    try:
        if job.hunt is not None:
            job = yield from worst_pair.find_worst(job, runner, found, seed=request.seed)
        elif job.records is not None:
            job = yield from search.find_pairs(job, runner, found, seed=request.seed)
        yield from _exact(job, found, runner)
        if job.tests:
            yield from _sampled(job, request, work.alpha, found, runner)
    except TimeLimitError:
        found.cut_short = True
    except DpauditError as error:
        found.crash = sentence(str(error))
        found.crashed = isinstance(error, MechanismError)
    except Exception as error:
        # a bug of dpaudit's own must not take the other audits' results with it
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        found.crash = f"dpaudit itself failed ({described(error)}); DPAUDIT_TRACEBACK=1 shows where."
        found.crashed = True
    return _result(job, request, found, runner)


def _sampled(
    job: Job, request: Request, alpha: float, found: Findings, runner: Runner
) -> Generator[Event, None, None]:
    """Bet until the claim is refuted or the learning runs are spent, then certify; what a crash leaves stands."""
    counted = job.case.bits or request.bits
    parts = shares(alpha, certify=request.certify, bits=counted)
    carried = request.carried.get(carry_key(job))
    state = sequential.begin(job, parts, seed=request.seed, counted=counted, carried=carried)
    out = found.collected = sampled.Collected(state)
    spent = yield from sequential.explore(job, state, runner, seed=request.seed, certify=request.certify)
    if state.refuted and job.records is not None:
        yield from search.shrink_strongest(job, state, runner, found, seed=request.seed, spent=spent)
    yield from sampled.certify(
        job, state, runner, out, seed=request.seed, spent=spent, certify=request.certify
    )
    found.notes += _limits(job, out)


def _limits(job: Job, out: sampled.Collected) -> list[str]:
    """What these runs could not have seen."""
    best = out.best
    delta = job.claim.delta
    if best is None or not 0 < delta < 3 / best.evidence.n:
        return []
    return [
        f"δ = {delta:.3g} is below what {best.evidence.n:,} runs a side can see (3/N = {3 / best.evidence.n:.2g}): a "
        "violation by events that rare goes unseen; an exact law would show it."
    ]


def _exact(job: Job, found: Findings, runner: Runner) -> Generator[Event, None, None]:
    mechanism = job.target.mechanism
    if mechanism is None or not job.case.exact or job.black_box:
        return
    cache = found.laws
    try:
        for pair in job.case.pairs:
            with runner.limited():
                exact = _compare(job, pair, cache, found)
            found.exact.append(exact)
            yield Progress(0, 1, f"exact laws, pair {len(found.exact)} of {len(job.case.pairs)}", None)
    except NotEnumerableError as error:
        if (job.case.scope is not None and not job.scope_unasked) or not job.tests:
            raise
        found.notes.append(f"No exact law: {error}")
        return
    if job.case.scope is None or (job.scope_unasked and any(one.by_density for one in found.exact)):
        return
    try:
        yield from _exhaust(job, cache, found, runner)
    except (NotEnumerableError, MechanismError) as error:
        if not job.scope_unasked:
            raise
        found.notes.append(f"Not every pair of {job.case.scope} could be compared by exact laws: {error}")


def _compare(job: Job, pair: Pair, cache: LawCache, found: Findings) -> ExactEvidence:
    assert job.target.mechanism is not None
    with contextlib.redirect_stdout(sys.stderr), blamed(job.target.name):
        comparison, exact, event = look(job.target.mechanism, pair, job.claim, cache)
    if isinstance(comparison, Losses) and comparison.real and REAL_NOISE not in found.notes:
        found.notes.append(REAL_NOISE)
    found.delta = exact.delta if found.delta is None else max(found.delta, exact.delta)
    if worse(exact, found.worst):
        found.worst, found.comparison, found.worst_pair, found.worst_event = exact, comparison, pair, event
    return exact


def _exhaust(job: Job, cache: LawCache, found: Findings, runner: Runner) -> Generator[Event, None, None]:
    """Every pair of the scope; only the worst are kept in the result."""
    scope, mechanism = job.case.scope, job.target.mechanism
    assert scope is not None
    assert mechanism is not None
    swept = yield from sweep(mechanism, scope, job.claim, runner, job.target.name)
    if not swept.complete:
        # a violation stands though the time ran out before the last pair
        if swept.worst is not None and exceeds(swept.worst, job.claim):
            found.exact.append(_compare(job, swept.worst.pair, cache, found))
        raise TimeLimitError("The time limit ran out")
    found.enumerated = swept.pairs
    found.scope_done = True
    relation = job.claim.relation.name
    pairs = f"the only {relation} pair" if swept.pairs == 1 else f"all {swept.pairs:,} {relation} pairs"
    found.scope = f"{pairs} of {scope}"
    found.notes += swept.notes
    if swept.worst is None:
        return
    worst = swept.worst
    found.refuted_by_scope = exceeds(worst, job.claim)
    # where rounding alone makes it infinite, what a shade more δ needs
    low = worst.epsilon.low if math.isfinite(worst.epsilon.low) else worst.at_least
    found.proof = Proof(
        finite(low), finite(worst.epsilon.high), finite(worst.at_most), swept.datasets, swept.pairs,
        swept.laws, list(swept.symmetries), swept.confirmed,
    )
    for pair in (worst.pair, *swept.others)[:SHOWN_EXHAUSTIVE]:
        with runner.limited():
            found.exact.append(_compare(job, pair, cache, found))
    # the pair that needs the largest δ at the claimed ε may be another one
    found.delta = max(found.delta or 0.0, swept.delta)
    if found.refuted_by_scope:
        yield from _smallest(job, mechanism, scope, cache, found, runner)


def _smallest(
    job: Job, mechanism: Mechanism, scope: Scope, cache: LawCache, found: Findings, runner: Runner
) -> Generator[Event, None, None]:
    """The violating pair of fewest records, where fewer than the scope's are enough."""
    for records in range(1, scope.records):
        try:
            swept = yield from sweep(mechanism, replace(scope, records=records), job.claim, runner, job.target.name)
        except SymmetryError:
            raise
        except MechanismError:
            # a mechanism may ask for so many records
            continue
        if swept.worst is not None and exceeds(swept.worst, job.claim):
            with runner.limited():
                found.exact.append(_compare(job, swept.worst.pair, cache, found))
            found.notes.append(
                f"{records} {'record is' if records == 1 else 'records are'} enough to refute the claim: "
                f"{swept.worst.pair.left!r} against {swept.worst.pair.right!r} needs "
                f"{at_least(swept.worst.at_least)} at δ = {job.claim.delta:.6g}."
            )
            return


def _result(job: Job, request: Request, found: Findings, runner: Runner) -> Audit:
    verdict, kind, reason = decide(job, found, request)
    collected = found.collected
    state = collected.sequential if collected is not None and collected.sequential.runs else None
    best = collected.best if collected is not None else None
    weighed = best.evidence if best is not None else None
    # the evidence that the verdict was made from is the one that is pictured
    exact_first = found.worst is not None and (kind is not EvidenceKind.SAMPLED or weighed is None)
    worst = found.worst
    pair = event = None
    if exact_first and worst is not None:
        pair, event = worst.pair, worst.event
    elif weighed is not None:
        pair, event = weighed.pair, weighed.event
    elif state is not None:
        pair = pair_record(state.strongest.pair, job.claim)
    elif job.case.pairs:
        pair = pair_record(job.case.pairs[0], job.claim)
    lower = [c.evidence for c in collected.certified] if collected is not None else []
    rows, course = _ledger(job, found, runner)
    same_pair = best is not None and found.worst_pair == best.pair
    return Audit(
        name=job.target.name,
        case=job.case.label,
        mechanism=repr(job.target.subject) if job.target.mechanism is not None else job.target.name,
        title=job.card.title if job.card is not None else job.target.name,
        source=job.target.source,
        differs=list(job.card.differs) if job.card is not None else [],
        verdict=verdict,
        evidence=kind,
        reason=reason,
        claim=_claim_record(job),
        epsilon_lower=collected.epsilon_lower if collected is not None and state is not None else None,
        epsilon_lower_clopper_pearson=max((e.epsilon_lower_clopper_pearson for e in lower), default=None),
        epsilon_exact=worst.epsilon if worst is not None else None,
        delta_exact=found.delta,
        detectable_epsilon=min((e.detectable_epsilon for e in lower if e.detectable_epsilon is not None), default=None),
        confidence=1 - request.alpha,
        runs=found.searched + (state.runs if state is not None else 0),
        pair=pair,
        event=event,
        replay=job.replay,
        expected=job.expected.value if job.expected is not None else None,
        scope=found.scope,
        sampled=lower,
        exact=found.exact,
        profile_plot=pictures.profile(
            job.claim, worst, found.comparison, weighed if same_pair or worst is None else None
        ) if worst is not None or weighed is not None else None,
        output_plot=_outputs(found),
        bound_plot=pictures.bound(best, job.claim.delta) if best is not None else None,
        ledger=rows,
        notes=found.notes + ([job.case.note] if job.case.note else []),
        crashed=found.crashed,
        sequential=_sequential(job, state, request) if state is not None else None,
        floating_point=_floating_point(state) if state is not None else None,
        evidence_plot=pictures.evidence(state) if state is not None else None,
        proof=found.proof,
        spending=course,
    )


def _sequential(job: Job, state: sequential.Sequential, request: Request) -> SequentialEvidence:
    carried = state.carried
    return SequentialEvidence(
        log_e=state.log_e,
        log_peak=float(state.peaks[state.at]),
        alpha=state.shares.sequential,
        refuted_at=state.refuted_at,
        runs=max(runs for runs, _ in state.trail) if state.trail else 0,
        epsilon_lower=state.epsilon_lower,
        carried=carried.log_e if carried is not None else 0.0,
        key=carry_key(job),
        seeds=sorted({request.seed, *(carried.seeds if carried is not None else ())}),
    )


def _floating_point(state: sequential.Sequential) -> FloatingPoint | None:
    looked = [track for track in state.tracks if track.bits_witness is not None]
    if not looked:
        return None
    track = max(looked, key=lambda t: float(t.bits_process.log_peaks[state.at]))
    assert track.bits_witness is not None
    return FloatingPoint(
        leaks=state.leaks,
        log_e=state.bits_peak,
        alpha=state.shares.bits or state.shares.sequential,
        runs=track.bits_runs,
        event=sampled.event_record(track.bits_witness.event),
        counted=state.counted,
    )


def _ledger(job: Job, found: Findings, runner: Runner) -> tuple[list[LedgerRow], Spending | None]:
    if found.crashed or found.cut_short:
        return [], None
    try:
        with runner.limited(), contextlib.redirect_stdout(sys.stderr), blamed(job.target.name):
            return ledger_rows(job, found)
    except DpauditError:
        return [], None


def _outputs(found: Findings) -> OutputPlot | None:
    best = found.collected.best if found.collected is not None else None
    if isinstance(found.comparison, Comparison):
        return pictures.exact_outputs(found.comparison, found.worst_event)
    if best is not None and best.shown is not None:
        return pictures.sampled_outputs(*best.shown, best.witness.event)
    return None


def _claim_record(job: Job) -> ClaimRecord:
    claim = job.claim
    return ClaimRecord(claim.epsilon, claim.delta, claim.relation.name, claim.relation.size, str(claim))
