"""Traces of a user's function before its samples: alarms with lines, and which pairs to try first.

An alarm is no evidence: it becomes a FAIL where samples refute the claim. Where there is none, everything is as without
a trace.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

from dpaudit.adversary import Pair
from dpaudit.errors import UsageError
from dpaudit.evidence.assumptions import copies, refutation, shown_dataset
from dpaudit.evidence.findings import Findings
from dpaudit.options import PAIR
from dpaudit.plans.job import GivenPairs, PairSearch, PrivacyJob
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request
from dpaudit.results.notes import Traced
from dpaudit.results.stream import Progress
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.stated import is_reproducible
from dpaudit.subjects.target import FunctionTarget
from dpaudit.traces.alarms import Alarm, Trace
from dpaudit.traces.tracing import MOST_EXECUTIONS, traced

MOST_TRACED = 12
"""Pairs of a search that are traced."""
SAMPLES_TO_TRACE = 500
"""Samples per dataset for which one pair of a search is traced: a trace is a small part of them."""
ALARMED = 3
"""Pairs with an alarm after which no others are traced."""
MOST_NOTES = 3
"""Alarms that are noted."""
SLOW = 1.0
"""Seconds of all traces from which progress is shown."""
TIME_SHARE = 0.1
"""Most of the time that is left which traces may take."""
SLOW_SHARE = 0.5
"""The same of one trace of a function that is so slow that a trace does not fit into the former."""


def trace_pairs(
    job: PrivacyJob, runner: Runner, findings: Findings, *, seed: int
) -> Generator[Progress, None, PrivacyJob]:
    """Trace the function on the first pairs, and note what differs; the job, which begins with the pairs with alarms.

    Args:
        job: on given pairs, or on those that a search begins with.
        runner: its time limit leaves less to be traced, or nothing.
        findings: gets the notes.
        seed: of the draws.
    """
    target = job.target
    if not isinstance(target, FunctionTarget) or not isinstance(job, GivenPairs | PairSearch):
        return job
    if target.call_time is not None or not is_reproducible(target.subject):
        # where the clock decides, or other randomness, the same draws do not give the same output
        return job
    if refutation(findings.assumptions) is not None or (fresh := copies(target)) is None:
        return job
    pairs = job.pairs[: _affordable(job, runner, findings)]
    traces: list[Trace] = []
    for at, pair in enumerate(pairs):
        if MOST_EXECUTIONS * (findings.call_time or 0.0) * len(pairs) > SLOW:
            yield Progress(at, len(pairs), f"tracing the draws, pair {at + 1} of {len(pairs)}", None)
        with runner.guarded(target.name):
            traces.append(traced(fresh(), pair, job.claim, seed=seed))
        if sum(bool(trace.alarms) for trace in traces) >= ALARMED:
            break
    alarmed = sorted((trace for trace in traces if trace.alarms), key=_severity, reverse=True)
    searched = isinstance(job, PairSearch)
    seen: set[tuple[str, str, int]] = set()
    for trace in alarmed:
        for alarm in trace.alarms:
            key = alarm.code, alarm.place.file, alarm.place.line
            if key not in seen and len(seen) < MOST_NOTES:
                seen.add(key)
                findings.notes.append(noted(alarm, trace.pair if searched else None))
    if not searched or not alarmed:
        return job
    first = [trace.pair for trace in alarmed]
    return replace(job, pairs=(*first, *(pair for pair in job.pairs if pair not in first)))


def trace_of(request: Request) -> Trace:
    """The trace of one function on one pair.

    Args:
        request: of one function, a claim and a pair.

    Raises:
        UsageError and its kinds: it cannot be traced, or used as given.
    """
    if request.pair is None:
        raise UsageError("A trace needs two datasets; give {}.", PAIR)
    job = jobs_of(request)[0]
    assert isinstance(job, PrivacyJob)
    if not isinstance(job.target, FunctionTarget):
        raise UsageError(
            f"{job.target.name} is a mechanism in dpaudit's language, whose draws need no trace; use audit or verify."
        )
    if not is_reproducible(job.target.subject):
        raise UsageError(
            f"The randomness of {job.target.name} does not come from rng, so its draws cannot be frozen; use audit."
        )
    if (fresh := copies(job.target)) is None:
        raise UsageError(
            f"{job.target.name} cannot be copied, and a trace must not change its state; remove locks, open files and "
            "other objects that cannot be pickled from its globals."
        )
    return traced(fresh(), job.pairs[0], job.claim, seed=request.seed)


def noted(alarm: Alarm, pair: Pair | None) -> Traced:
    """An alarm as a note.

    Args:
        alarm: of a trace.
        pair: on which it was seen, where nobody gave it; None for a given one.
    """
    shown = "" if pair is None else f"D = {shown_dataset(pair.left)}, D′ = {shown_dataset(pair.right)}"
    return Traced(
        alarm.code, alarm.place.file, alarm.place.line, alarm.place.source, [str(place) for place in alarm.others],
        alarm.part, alarm.left, alarm.right, alarm.cost, shown, alarm.sentence,
    )


def _severity(trace: Trace) -> float:
    """ε that the worst alarm says is needed; infinite where a part of the output has no noise."""
    return max(math.inf if alarm.cost is None else alarm.cost for alarm in trace.alarms)


def _affordable(job: PrivacyJob, runner: Runner, findings: Findings) -> int:
    """How many pairs may be traced: a function of the request alone, unless there is a time limit."""
    most = max(1, min(MOST_TRACED, job.runs // SAMPLES_TO_TRACE))
    left, seconds = runner.left, findings.call_time
    if left is None or not seconds:
        return most
    each = MOST_EXECUTIONS * seconds
    if TIME_SHARE * left < each <= SLOW_SHARE * left:
        # so few samples can be drawn that a trace is the better use of the time
        return 1
    return min(most, int(TIME_SHARE * left / each))
