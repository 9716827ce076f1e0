"""The engine: from a request to a stream of events that ends in a result."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeAlias

from dpaudit.adversary import Pair
from dpaudit.engine.kept_audits import KeptAudits
from dpaudit.engine.prior_evidence import evidence_keys, prior_notes, untouched
from dpaudit.engine.resumed import Resumed
from dpaudit.engine.verdict import decide
from dpaudit.errors import ClusterError, DpauditError, InternalError, MechanismError, TimeLimitError
from dpaudit.evidence import chains, figures, first_calls, loss_figures, sampled, search, sequential, traced, worst_pair
from dpaudit.evidence.aligned import align_noise
from dpaudit.evidence.assumptions import (
    INDEPENDENT,
    SEEDED,
    always_fails,
    examine,
    refutation,
    remarks,
    repeated,
    started,
)
from dpaudit.evidence.curves import curve_record
from dpaudit.evidence.exact import PairLaws, claim_record, pair_record
from dpaudit.evidence.exact_evidence import exact_evidence
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.law_table import forget
from dpaudit.evidence.ledger_rows import ledger_rows
from dpaudit.evidence.needed import detectable, samples_needed
from dpaudit.evidence.pace import foreseen, measure, within_time
from dpaudit.evidence.recorded import dependence, examine_recorded
from dpaudit.evidence.side_by_side import AuditResult, Work, share_of_time, side_by_side
from dpaudit.evidence.utility import audit_utility, undecided, utility_jobs
from dpaudit.extras import installed_version
from dpaudit.journal import Journal, location
from dpaudit.outputs.canonical import Raised
from dpaudit.plans.alpha_shares import of_session, shares
from dpaudit.plans.chain_jobs import all_jobs
from dpaudit.plans.command import command_line
from dpaudit.plans.comparison import recorded, timed
from dpaudit.plans.job import (
    GroupChains,
    Job,
    PairSearch,
    PrivacyJob,
    RecordedSamples,
    UtilityJob,
    WorstCaseSearch,
)
from dpaudit.plans.jobs import comparison_of
from dpaudit.plans.location import location_of
from dpaudit.plans.request import Request
from dpaudit.results.figures import Drawing, OutputPlot
from dpaudit.results.model import (
    AssumptionRecord,
    Audit,
    ClaimRecord,
    EvidenceKind,
    FloatingPoint,
    LedgerRow,
    LossBreakdown,
    Result,
    SequentialEvidence,
    Timings,
    UtilityAudit,
    Verdict,
)
from dpaudit.results.notes import (
    CallTimeOfMechanism,
    Interrupted,
    NoFigure,
    Note,
    RareEvents,
    RecordedEvidence,
    SamplesInTime,
)
from dpaudit.results.reasons import Crash
from dpaudit.results.stream import AuditFinished, AuditStarted, CheckFinished, CheckStarted, Event, Notice, Progress
from dpaudit.subjects.kept_samples import KeptSamples
from dpaudit.subjects.recorded import RecordedTarget
from dpaudit.subjects.runner import WORTH_A_POOL, Runner
from dpaudit.subjects.target import FunctionTarget, MechanismTarget
from dpaudit.subjects.user_errors import described, sentence, show_first_lines_again

PAIRS_EXAMINED = 8
"""Pairs of a search on which every call must fail before a function is said to fail always."""

Steps: TypeAlias = Generator[Event, None, AuditResult]
NOTHING_DONE = Resumed()
LONGEST_CRASH = 2_000
"""Most characters of the sentence on a crash, which names places and lines of code."""
IMPORTS_GRACE = 2.0
"""Seconds beyond the time limit for imports: where they end, every audit says that it had no time."""


def check(
    request: Request, *, only: str | None = None, resumed: Resumed = NOTHING_DONE,
    afterwards: list[Callable[[], None]] | None = None,
) -> Generator[Event, None, None]:
    """Audit everything that a request names.

    Args:
        request: what to check.
        only: the replay id of the one case to run; its share of α stays as it was.
        resumed: what an earlier process did of this request; its events are yielded again, but nothing is run again.
        afterwards: gets what is to be called once the result is written: until then a command that is killed is
            resumed from the journal. None: the result is not written anywhere, and the journal ends with the stream.

    Yields:
        Events, the last of which is `CheckFinished` with the result. An interrupt (KeyboardInterrupt) ends the
        stream with what was finished until then.

    Raises:
        UsageError and its kinds, before anything is run; TimeLimitError, if the time limit comes before that.
    """
    started, clock = datetime.now(UTC) - timedelta(seconds=resumed.seconds), time.monotonic() - resumed.seconds
    journal = Journal(command_line(request), location())
    runner = Runner(request.jobs, request.time, clock, journal=journal, cluster=request.cluster)
    show_first_lines_again()
    try:
        # this imports what is named, which may never end
        with contextlib.nullcontext() if resumed.goes_on else runner.limited(IMPORTS_GRACE):
            jobs = all_jobs(request) if request.only != "utility" else []
            guarantees = utility_jobs(request)
    except TimeLimitError as error:
        raise TimeLimitError("The time limit ran out before the first audit; nothing was run.") from error
    every: list[Job] = [*jobs, *guarantees]
    tests = sum(job.tests for job in every)
    # before anything runs: a cache that a mechanism fills is no other mechanism
    keys = evidence_keys(jobs, request, only=only)
    notes = prior_notes(jobs, request, keys)
    every = [job for job in every if only in (None, job.replay)]
    audits: list[Audit] = []
    utility: list[UtilityAudit] = []
    seconds: dict[str, float] = {}

    def result(*, interrupted: bool = False) -> Result:
        began = started.isoformat(timespec="seconds")
        timings = Timings(began, time.monotonic() - clock, request.jobs, seconds, runner.unused)
        audited = Result(
            seed=request.seed, alpha=request.alpha, command=command_line(request), environment=environment(),
            interrupted=interrupted, timings=timings, audits=audits, utility=utility,
        )
        return (
            audited
            if request.comparison is None
            else recorded(comparison_of(request.comparison), request.comparison, audited)
        )

    try:
        if runner.cluster is not None:
            # that there is none is said before anything is run
            runner.workers()
        yield CheckStarted(len(every), request.seed, request.alpha)
        # α is shared in proportion to numbers of tests
        work = [
            Work(
                job, request.alpha * job.tests / max(1, tests), notes.get(job.replay), key.text if key else "",
                key.code if key else None,
            )
            for job in every
            for key in [keys.get(job.replay)]
        ]
        # a replay must run; and one result that is returned at once is lost with this process alone
        lasting = only is None and (afterwards is not None or len(work) > 1)
        kept = KeptAudits(journal, request, environment(), work if lasting else ())
        if journal.is_there:
            others = [one for one in work if one.job.replay not in resumed.ended]
            earlier = {one.job.replay: found for one in others if (found := kept.find(one, journal)) is not None}
            if earlier:
                some = "An audit was" if len(earlier) == 1 else f"{len(earlier):,} audits were"
                yield Notice(f"{some} finished by an earlier run, which did not end.")
            resumed = replace(resumed, ended=earlier | dict(resumed.ended))
        while work:
            if work[0].job.replay in resumed.ended or work[0].job.replay in resumed.lost:
                steps = _done(work.pop(0), request, resumed)
                yield from _recorded(steps, audits, utility, seconds)
                continue
            if resumed.interrupted:
                raise KeyboardInterrupt
            several = request.verify is None and runner.has_workers and len(work) > 1
            if several and time.monotonic() - clock > WORTH_A_POOL and all(one.job.target.portable for one in work):
                steps = _side_by_side(work, request, runner, kept)
                work = []
            else:
                runner.share = share_of_time([one for one in work if one.job.replay not in resumed.ended])
                steps = _timed(work.pop(0), request, runner, kept)
            yield from _recorded(steps, audits, utility, seconds)
        last = result()
        if not any(one.crashed for one in last.every) and (runner.left is None or runner.left > 0):
            kept.finish(journal)
        if request.comparison is not None:
            last = timed(comparison_of(request.comparison), request.comparison, last)
    except KeyboardInterrupt:
        yield CheckFinished(result(interrupted=True))
        return
    finally:
        runner.close()
        journal.close()
        forget()
    settle = partial(_settle, journal)
    if afterwards is None:
        settle()
    else:
        afterwards.append(settle)
    if journal.trouble:
        yield Notice(f"The journal {location()} was not used: {journal.trouble}.")
    yield CheckFinished(last)


def _settle(journal: Journal) -> None:
    journal.settle()
    journal.close()


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
    versions = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    for package in ("dpaudit", "numpy", "scipy", "scikit-learn", "python-flint"):
        versions[package] = installed_version(package)
    return versions


def _recorded(
    steps: Generator[Event, None, None], audits: list[Audit], utility: list[UtilityAudit], seconds: dict[str, float]
) -> Generator[Event, None, None]:
    """The steps, and what ends in them put down; an interrupt is theirs, wherever it comes."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            event = next(steps) if interrupt is None else steps.throw(interrupt)
        except StopIteration:
            return
        interrupt = None
        if isinstance(event, AuditFinished):
            if isinstance(event.audit, Audit):
                audits.append(event.audit)
            else:
                utility.append(event.audit)
            seconds[event.audit.replay] = event.seconds
        try:
            yield event
        except KeyboardInterrupt as error:
            interrupt = error


def _done(work: Work, request: Request, resumed: Resumed) -> Generator[Event, None, None]:
    """What an earlier process did of a case: its result, or how it ended that process."""
    yield _started(work.job)
    if (earlier := resumed.ended.get(work.job.replay)) is not None:
        yield AuditFinished(*earlier)
    else:
        error = MechanismError(resumed.lost[work.job.replay])
        yield AuditFinished(_gave_up(request, work, error), 0.0)


def _timed(
    work: Work, request: Request, runner: Runner, kept: KeptAudits
) -> Generator[Event, None, None]:
    """One case; of one that is interrupted, what it had until then.

    Raises:
        KeyboardInterrupt: it was interrupted.
    """
    begun, findings = time.monotonic(), _begun(work)
    try:
        audit = yield from _audit(work, request, runner, findings)
    except KeyboardInterrupt:
        if (partial := _interrupted(work, request, runner, findings)) is not None:
            yield AuditFinished(partial, time.monotonic() - begun)
        raise
    if not findings.cut_short:
        kept.keep(work, audit, time.monotonic() - begun, runner.journal)
    yield AuditFinished(audit, time.monotonic() - begun)


def _interrupted(work: Work, request: Request, runner: Runner, findings: Findings) -> Audit | None:
    """What an interrupted audit of privacy had: a refutation, or the pair and the lower bound; None for nothing."""
    job = findings.job or work.job
    if isinstance(job, UtilityJob) or not (findings.collected or findings.exact or findings.job):
        return None
    findings.interrupted = findings.cut_short = True
    findings.notes.append(Interrupted())
    return _result(job, request, findings, runner, work)


def _side_by_side(
    work: list[Work], request: Request, runner: Runner, kept: KeptAudits
) -> Generator[Event, None, None]:
    """Several cases in parallel; events come in their order."""
    ended: dict[int, tuple[AuditResult, float]] = {}
    # workers of a cluster may not have this folder
    path = location() if runner.cluster is None else None
    alone = partial(_alone, request, runner.journal.command, path, kept)
    finished = side_by_side(work, alone, partial(_gave_up, request), runner)
    for place, one in enumerate(work):
        yield _started(one.job, runner)
        while place not in ended:
            what = f"{len(ended)} of {len(work)} cases done, {runner.workers().capacity} at once"
            yield Progress(len(ended), len(work), what, None)
            at, audit, seconds = next(finished)
            ended[at] = audit, seconds
            if runner.left is None or runner.left > 0:
                # a time limit may have cut it short otherwise; workers keep long ones, where they can
                kept.keep(work[at], audit, seconds, runner.journal)
        yield AuditFinished(*ended[place])


def _alone(
    request: Request, command: str, path: Path | None, kept: KeptAudits, work: Work, runner: Runner
) -> AuditResult:
    """One case to its end, without its events, in a worker process; what it draws is kept in the journal at `path`."""
    with contextlib.closing(Journal(command, path)) as runner.journal:
        begun, findings = time.monotonic(), _begun(work)
        steps = _audit(work, request, runner, findings)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                audit: AuditResult = end.value
                break
        if not findings.cut_short:
            kept.keep(work, audit, time.monotonic() - begun, runner.journal)
        runner.journal.settle()
        return audit


def _gave_up(request: Request, work: Work, error: MechanismError) -> AuditResult:
    if isinstance(work.job, UtilityJob):
        return undecided(work.job, request, Crash(error.at(request.door)), crashed=True)
    findings = _begun(work)
    findings.crash, findings.crashed = error.at(request.door), True
    return _result(work.job, request, findings, Runner(), work)


def _begun(work: Work) -> Findings:
    return Findings(notes=[work.note] if work.note is not None else [])


def _started(job: Job, runner: Runner | None = None) -> AuditStarted:
    left = runner.left if runner is not None else None
    return AuditStarted(job.target.name, job.label, str(job.claim), 1, job.replay, left)


def _audit(work: Work, request: Request, runner: Runner, findings: Findings) -> Steps:
    """One case: exact evidence where there is a law, sampled evidence where runs are asked for, one verdict.

    What it finds is put into `findings` on the way, and into the journal.
    """
    runner.kept, runner.repeatable = None, False
    try:
        audit = yield from _evidence(work, request, runner, findings)
        if runner.kept is not None:
            if runner.kept.read:
                yield Notice(f"{runner.kept.read:,} samples were drawn by an earlier run, which did not end.")
            if not (findings.cut_short or findings.crashed):
                runner.kept.finish()
        return audit
    finally:
        if runner.kept is not None:
            runner.kept.write()
            runner.kept = None


def _evidence(work: Work, request: Request, runner: Runner, findings: Findings) -> Steps:
    job = work.job
    yield _started(job, runner)
    if isinstance(job, UtilityJob):
        session = max((prior.session for prior in request.prior.values()), default=1)
        return (yield from audit_utility(job, request, of_session(work.alpha, session), runner))
    if request.call_time is not None and isinstance(job.target, MechanismTarget):
        findings.notes.append(CallTimeOfMechanism())
    try:
        if isinstance(job, RecordedSamples):
            findings.assumptions = examine_recorded(job.target.recorded)
            if refutation(findings.assumptions) is None:
                findings.notes += dependence(job.target.recorded)
            if job.target.recorded.stream is None:
                earlier = request.prior[work.key].data if work.key in request.prior else ()
                findings.notes.append(RecordedEvidence([*earlier, *job.target.recorded.recordings]))
        elif job.tests and job.pairs:
            # before the search, so that a function that fails in every call, or keeps its answers, is reported at once
            yield from _first_calls(job, request, work, findings, runner)
            findings.assumptions = _examined(job, request, runner)
            _keep_samples(job, work, runner, findings)
            job = yield from traced.trace_pairs(job, runner, findings, seed=request.seed)
        match job:
            case WorstCaseSearch():
                job = yield from worst_pair.find_worst(job, runner, findings, seed=request.seed)
            case GroupChains():
                job = yield from chains.find_chain(job, runner, findings, seed=request.seed)
            case PairSearch():
                job = yield from search.find_pairs(
                    job, runner, findings, seed=request.seed, at_once=not request.certify,
                    needed=findings.needed.for_power if findings.needed is not None else None,
                )
        findings.job = job
        yield from exact_evidence(job, findings, runner)
        job = findings.job
        align_noise(job, findings, runner)
        if job.tests and refutation(findings.assumptions) is None:
            yield from _sampled(job, request, work, findings, runner)
    except TimeLimitError:
        findings.cut_short = True
    except ClusterError as error:
        # no other case is to wait for it
        runner.close()
        runner.lost, findings.cut_short, findings.crash = error, True, error.at(request.door)
    except DpauditError as error:
        findings.crash = sentence(error.at(request.door), most=LONGEST_CRASH)
        findings.crashed = isinstance(error, MechanismError)
    except Exception as error:
        # a bug of dpaudit's own must not take the other audits' results with it
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        findings.crash = str(InternalError(described(error)))
        findings.crashed = True
    return _result(findings.job or job, request, findings, runner, work)


def _keep_samples(job: PrivacyJob, work: Work, runner: Runner, findings: Findings) -> None:
    """From now on samples are kept, if it is known that they follow from their seeds alone."""
    target = job.target
    if isinstance(target, MechanismTarget):
        runner.repeatable = True
    elif isinstance(target, FunctionTarget):
        seeded = any(record.name == SEEDED and record.holds for record in findings.assumptions)
        runner.repeatable = seeded and target.call_time is None and refutation(findings.assumptions) is None
    if runner.repeatable and work.code is not None and not isinstance(target, RecordedTarget):
        runner.kept = KeptSamples(runner.journal, target, work.code)


def _sampled(
    job: PrivacyJob, request: Request, work: Work, findings: Findings, runner: Runner
) -> Generator[Event, None, None]:
    """Test until the claim is refuted or the learning samples are used, then count; results before a crash are kept."""
    counted = job.bits or request.bits
    if not findings.assumptions and job.pairs:
        findings.assumptions = _examined(job, request, runner)
        if refutation(findings.assumptions) is not None:
            return
        _keep_samples(job, work, runner, findings)
    prior = request.prior.get(work.key)
    session, before = (prior.session, prior.alpha) if prior is not None else (1, 1.0)
    recorded = job.target.recorded if isinstance(job, RecordedSamples) else None
    counts = not (isinstance(job, RecordedSamples) and job.followed)
    parts = shares(work.alpha, certify=request.certify, bits=counted, session=session, prior=before, counts=counts)
    job = findings.job = _within_time(job, request, parts.final, findings, runner)
    state = sequential.begin(job, parts, seed=request.seed, counted=counted, prior=prior, key=work.key)
    out = findings.collected = sampled.Collected(state)
    fresh = started(job.target, findings.assumptions)
    try:
        used = yield from sequential.explore(job, state, runner, seed=request.seed, certify=request.certify)
        if not (state.refuted and request.stop_at_refutation):
            if state.refuted and isinstance(job, PairSearch):
                yield from search.minimize_strongest(job, state, runner, findings, seed=request.seed, used=used)
            if not findings.exact:
                # exact evidence has chosen the point of a curve already
                job = findings.job = sampled.settled(job, state)
            yield from sampled.certify(
                job, state, runner, out, seed=request.seed, used=used, certify=request.certify
            )
    except KeyboardInterrupt:
        if fresh is not None and not (state.refuted or out.exceeds(job.claim.epsilon)):
            # what is refuted is reported, and rests on what the other process finds
            fresh.close()
            fresh = None
        raise
    finally:
        # also of samples that a time limit or a crash cut short: what was refuted rests on them
        seen = state.monitor.conclude(job.target.name, job.claim)
        # all recorded outputs were examined before, for what was recorded twice
        known = recorded is not None and recorded.stream is None
        if recorded is not None and recorded.stream is not None:
            # what arrived is there now
            findings.assumptions = examine_recorded(recorded)
            if refutation(findings.assumptions) is None:
                findings.notes += dependence(recorded)
            if recorded.files:
                earlier = prior.data if prior is not None else ()
                findings.notes.append(RecordedEvidence([*earlier, *recorded.recordings]))
        findings.assumptions += [record for record in seen if not (known and record.name == INDEPENDENT)]
        findings.assumptions = repeated(state.monitor, fresh, findings.assumptions, runner.left)
        if refutation(findings.assumptions) is not None:
            # no bound holds, so none is shown
            findings.searched += state.runs
            findings.collected = None
    if state.monitor.constant and isinstance(state.monitor.firsts[0], Raised):
        raise always_fails(job.target.name, state.monitor.firsts[0], job.pairs[0].left)
    sampled_pairs = len(state.tracks) + (state.smaller is not None)
    findings.notes += [*remarks(findings.assumptions), *state.monitor.failure_notes(sampled_pairs), *_limits(job, out)]
    if state.refuted and out.best is not None and request.data is not None and request.table is None:
        findings.notes += search.described_exceptions(out.best.pair, request.data)


def _within_time(
    job: PrivacyJob, request: Request, final: float, findings: Findings, runner: Runner
) -> PrivacyJob:
    """The job with the samples that there is time for, where nobody said how many they should be.

    Args:
        final: the error of the last confidence bounds of all pairs together.
    """
    target = job.target
    if runner.left is None or request.runs is not None or isinstance(target, RecordedTarget) or not job.pairs:
        return job
    # a search has measured it already
    pace = runner.pace.get(target.name) if isinstance(job, PairSearch | GroupChains) else None
    if pace is None:
        with runner.guarded(target.name):
            pair = job.pairs[0]
            pace = measure([(target, pair.left), (target, pair.right)], seed=request.seed).seconds
    fewer = within_time(
        job, pace=pace, seconds=runner.left, workers=runner.parallel, alpha=final / job.tests,
        min_power=request.min_power, share=runner.share,
    )
    if fewer.runs < job.runs:
        findings.notes.append(SamplesInTime(request.time, fewer.runs, by_the_clock=True))
    return fewer


def _first_calls(
    job: PrivacyJob, request: Request, work: Work, findings: Findings, runner: Runner
) -> Generator[Event, None, None]:
    """Call a user's function for the first time, and say what matters at once: that it raises, that it is slow."""
    target = job.target
    if not isinstance(target, FunctionTarget):
        return
    seconds = yield from first_calls.try_first(target, _pairs_to_examine(job), runner, seed=request.seed)
    if target.vectorised:
        # its calls take the longer the more samples they give
        return
    findings.call_time = runner.pace[target.name] = seconds
    pairs, left = job.tests, None if runner.left is None else runner.share * runner.left
    if job.claim.delta < 1 and (left is not None or 2 * seconds * job.runs * (pairs + 1) > first_calls.WORTH_SAYING):
        alpha = shares(work.alpha, certify=request.certify, bits=job.bits or request.bits).final / pairs
        findings.needed = samples_needed(job.claim, alpha=alpha, min_power=request.min_power)
        said = first_calls.of_slow_calls(
            target.name, seconds, findings.needed, runs=job.runs, pairs=pairs, limit=left,
            searched=isinstance(job, PairSearch), in_time=_in_time(job, request, alpha * pairs, seconds, runner),
        )
        if said:
            yield Notice(said)


def _in_time(
    job: PrivacyJob, request: Request, final: float, pace: float, runner: Runner
) -> tuple[int, float] | None:
    """The samples per dataset for which there will be time, and the smallest ε that they detect; None if for all."""
    if runner.left is None or request.runs is not None:
        return None
    fewer = foreseen(
        job, pace=pace, seconds=runner.left, workers=runner.parallel, final=final, min_power=request.min_power,
        share=runner.share,
    )
    epsilon = detectable(job.claim, fewer.runs, alpha=final / fewer.tests)
    return None if fewer.runs == job.runs or epsilon is None else (fewer.runs, epsilon)


def _pairs_to_examine(job: PrivacyJob) -> tuple[Pair, ...]:
    return job.pairs[: PAIRS_EXAMINED if isinstance(job, PairSearch) else 1]


def _examined(job: PrivacyJob, request: Request, runner: Runner) -> list[AssumptionRecord]:
    """The assumptions that a few calls test, on the first pair on which not every call fails.

    Raises:
        MechanismError: every call fails, also on other pairs where they are to be searched for.
    """
    failures: list[MechanismError] = []
    target = job.target
    if isinstance(target, RecordedTarget):
        return examine_recorded(target.recorded)
    with runner.guarded(target.name):
        for pair in _pairs_to_examine(job):
            try:
                return examine(target, pair, runs=job.runs, seed=request.seed)
            except MechanismError as error:
                failures.append(error)
    raise failures[0]


def _limits(job: PrivacyJob, out: sampled.Collected) -> list[Note]:
    """Violations that these samples cannot detect."""
    best = out.best
    delta = job.claim.delta
    if best is None or job.claim.curve is not None or not 0 < delta < 3 / best.evidence.n:
        return []
    return [RareEvents(delta, best.evidence.n)]


def _result(job: PrivacyJob, request: Request, findings: Findings, runner: Runner, work: Work) -> Audit:
    verdict, kind, reason, more = decide(job, findings, request)
    notes = [*findings.notes, *more]
    collected = findings.collected
    state = collected.sequential if collected is not None and collected.sequential.runs else None
    best = collected.best if collected is not None else None
    weighed = best.evidence if best is not None else None
    # the evidence that the verdict was made from is the one that is pictured
    worst = findings.worst
    exact, comparison = (worst.evidence, worst.comparison) if worst is not None else (None, None)
    pair = event = None
    by_samples = kind is EvidenceKind.SAMPLED and (weighed is not None or (state is not None and state.refuted))
    if exact is not None and not by_samples:
        pair, event = exact.pair, exact.event
    elif weighed is not None:
        pair, event = weighed.pair, weighed.event
    elif state is not None:
        pair = pair_record(state.strongest.pair, job.claim, job.target)
        if state.refuted:
            # nothing was counted
            event = sampled.event_in_test(job, state)
    elif job.pairs:
        pair = pair_record(job.pairs[0], job.claim, job.target)
    lower = [c.evidence for c in collected.certified] if collected is not None else []
    rows, breakdown = _ledger(job, findings, runner)
    # one figure shows counts and laws of the same pair
    counted = weighed if worst is None or (best is not None and worst.pair == best.pair) else None
    pictured = worst is not None or weighed is not None
    drawing, card, enumerated = _drawing(job, findings, notes), job.target.card, findings.enumeration
    notes += job.notes
    return Audit(
        name=job.target.name,
        case=job.label,
        mechanism=job.target.shown,
        title=card.title if card is not None else job.target.name,
        source=job.target.source,
        deviations=list(card.deviations) if card is not None else [],
        verdict=verdict,
        evidence=kind,
        reason=reason.sentence(request.door),
        reason_code=reason.code,
        reason_values=reason.values(request.door),
        claim=_claimed(job),
        epsilon_lower=collected.epsilon_lower if collected is not None and state is not None else None,
        epsilon_lower_clopper_pearson=max((e.epsilon_lower_clopper_pearson for e in lower), default=None),
        epsilon_exact=exact.epsilon if exact is not None else None,
        delta_exact=findings.delta,
        detectable_epsilon=min((e.detectable_epsilon for e in lower if e.detectable_epsilon is not None), default=None),
        confidence=1 - request.alpha,
        runs=findings.searched + (state.runs if state is not None else 0),
        pair=pair,
        event=event,
        replay=job.replay,
        expected=job.expected,
        scope=enumerated.what if enumerated is not None else None,
        alignment=findings.alignment,
        sampled=lower,
        exact=findings.exact,
        profile_plot=figures.profile(job.claim, exact, comparison, counted) if pictured else None,
        output_plot=_outputs(findings),
        bound_plot=figures.bound(best, job.claim.delta) if best is not None else None,
        ledger=rows,
        notes=[note.record(request.door) for note in notes],
        crashed=findings.crashed,
        sequential=_sequential(state, request) if state is not None else untouched(request, work.key),
        floating_point=_floating_point(state) if state is not None and not _bound_alone(job) else None,
        evidence_plot=figures.evidence(state) if state is not None else None,
        proof=enumerated.proof if enumerated is not None else None,
        loss_breakdown=breakdown,
        chain=chains.concluded(findings.chain, verdict),
        drawing=drawing,
        location=location_of(job.target.subject),
        tradeoff_plot=loss_figures.tradeoff_plot(job.claim, comparison, counted) if pictured else None,
        loss_plot=loss_figures.loss_plot(job.claim, comparison),
        assumptions=findings.assumptions,
        curve=curve_record(job.claim, weighed, findings.whole_curve, comparison, refuted=verdict is Verdict.FAIL),
    )


def _claimed(job: PrivacyJob) -> ClaimRecord:
    """The claim; where only a bound is wanted, the ε = 0 that is tested stands for none."""
    record = claim_record(job.claim)
    return replace(record, statement=f"none; δ = {job.claim.delta:g}") if _bound_alone(job) else record


def _bound_alone(job: PrivacyJob) -> bool:
    """Whether nothing is claimed, and a bound is all that is wanted."""
    return isinstance(job, RecordedSamples) and not job.claimed


def _sequential(state: sequential.Sequential, request: Request) -> SequentialEvidence:
    prior = state.prior
    return SequentialEvidence(
        log_e=state.log_e,
        log_peak=float(state.peaks[state.at]),
        alpha=state.shares.sequential,
        refuted_at=state.refuted_at,
        runs=max(runs for runs, _ in state.trail) if state.trail else 0,
        epsilon_lower=state.epsilon_lower,
        prior=prior.log_e if prior is not None else 0.0,
        key=state.key,
        seeds=sorted({_number(request), *(prior.seeds if prior is not None else ())}),
    )


def _number(request: Request) -> int:
    """What makes the samples of a request its own: the seed, or the hash of recorded outputs."""
    return request.seed if request.recorded is None else request.recorded.number


def _floating_point(state: sequential.Sequential) -> FloatingPoint | None:
    looked = [(track, track.learned_bits) for track in state.tracks if track.learned_bits is not None]
    if not looked:
        return None
    track, learned = max(looked, key=lambda one: float(one[0].bits_process.log_peaks[state.at]))
    return FloatingPoint(
        leaks=state.leaks,
        log_e=state.bits_peak,
        alpha=state.shares.bits or state.shares.sequential,
        runs=track.bits_runs,
        event=sampled.event_record(learned.event),
        counted=state.counted,
    )


def _ledger(job: PrivacyJob, findings: Findings, runner: Runner) -> tuple[list[LedgerRow], LossBreakdown | None]:
    if findings.crashed or findings.cut_short:
        return [], None
    try:
        with runner.guarded(job.target.name):
            return ledger_rows(job, findings)
    except DpauditError:
        return [], None


def _drawing(job: PrivacyJob, findings: Findings, notes: list[Note]) -> Drawing | None:
    if job.drawing is None or findings.crashed:
        return None
    try:
        return figures.drawing(job.drawing, findings)
    except Exception as error:
        # the verdict does not need its figure
        if os.environ.get("DPAUDIT_TRACEBACK"):
            raise
        notes.append(NoFigure(described(error)))
        return None


def _outputs(findings: Findings) -> OutputPlot | None:
    best = findings.collected.best if findings.collected is not None else None
    if findings.worst is not None and isinstance(findings.worst.comparison, PairLaws):
        return figures.exact_outputs(findings.worst.comparison, findings.worst.event)
    if best is not None and best.shown is not None:
        return figures.sampled_outputs(*best.shown, best.learned.event)
    return None
