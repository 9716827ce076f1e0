"""An audit of stability, from its request to its result."""

from __future__ import annotations

import time
from collections.abc import Generator

from dpaudit.adversary import Pair
from dpaudit.engine.orchestrator import environment
from dpaudit.evidence.stability import StabilityFindings, Tried, concluded, find_violation
from dpaudit.plans.location import location_of
from dpaudit.plans.stability import StabilityJob, StabilityRequest, stability_job
from dpaudit.results.datasets import dataset_to_json
from dpaudit.results.records import PairRecord
from dpaudit.results.stability import StabilityCode, StabilityRecord
from dpaudit.results.stream import AuditStarted, Progress
from dpaudit.subjects.user_errors import show_first_lines_again


def check_stability(request: StabilityRequest) -> Generator[AuditStarted | Progress, None, StabilityRecord]:
    """Search for a violation; the result is the generator's value.

    Raises:
        UsageError and its kinds: nothing can be tried as given, or the function is not deterministic.
        MechanismError: it raises on every dataset, or its outputs do not suit the metric.
    """
    begun = time.monotonic()
    show_first_lines_again()
    job = stability_job(request)
    yield AuditStarted(job.target.name, "stability", job.claim, 1, job.replay)
    findings = StabilityFindings(notes=list(job.notes))
    yield from find_violation(job, findings, seed=request.seed, most=request.pairs, limit=request.time)
    return _result(request, job, findings, time.monotonic() - begun)


def run_stability(request: StabilityRequest) -> StabilityRecord:
    """`check_stability`, and its result alone."""
    steps = check_stability(request)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            record: StabilityRecord = end.value
            return record


def _result(
    request: StabilityRequest, job: StabilityJob, findings: StabilityFindings, seconds: float
) -> StabilityRecord:
    verdict, code, reason = concluded(job, findings, request.time)
    worst = findings.worst
    return StabilityRecord(
        name=job.target.name,
        verdict=verdict,
        reason=reason,
        reason_code=code,
        claim=job.claim,
        relation=job.relation.name,
        any_order=job.any_order,
        metric=job.metric,
        pair=None if worst is None else _pair(worst.pair, job),
        outputs=[] if worst is None else worst.shown(),
        distance=None if worst is None else worst.distance.text(),
        distance_float=None if worst is None or worst.distance.value is None else float(worst.distance),
        allowed=None if worst is None else str(worst.allowed),
        allowed_float=None if worst is None else float(worst.allowed),
        excess_float=None if worst is None else worst.excess,
        pairs=findings.pairs,
        skipped=findings.skipped,
        proved=code is StabilityCode.PROVED,
        domain=findings.domain,
        notes=[*findings.notes, *_notes(findings, worst)],
        source=job.source,
        location=None if job.subject is None else location_of(job.subject),
        seed=request.seed,
        command=request.command(),
        replay=job.replay,
        environment=environment(),
        seconds=seconds,
    )


def _pair(pair: Pair, job: StabilityJob) -> PairRecord:
    columns = None if job.target.container is None else list(job.target.container.fields) or None
    distance = job.relation.distance(pair.left, pair.right) or 0
    left, right = dataset_to_json(pair.left), dataset_to_json(pair.right)
    return PairRecord(pair.label, pair.source, distance, left, right, columns)


def _notes(findings: StabilityFindings, worst: Tried | None) -> list[str]:
    """What was skipped, and that real numbers were rounded."""
    if not findings.skipped or worst is None:
        return []
    why = f": {findings.refusal}" if findings.refusal else ", as the function raised on both datasets."
    return [f"{findings.skipped:,} pairs were skipped{why}"]
