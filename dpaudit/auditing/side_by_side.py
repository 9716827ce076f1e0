"""Whole audits at once, each on a worker process of its own: what each finds depends on its seed alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import cloudpickle
from joblib import delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from dpaudit.auditing.job import Job
from dpaudit.auditing.results import Audit, UtilityAudit
from dpaudit.auditing.runner import Runner
from dpaudit.auditing.utility import UtilityJob
from dpaudit.errors import MechanismError


@dataclass(frozen=True)
class Work:
    """One case to audit.

    Args:
        job: the case.
        alpha: its share of α.
        note: what is to be said of it whatever is found.
        key: what its e-value is evidence about.
    """

    job: Job | UtilityJob
    alpha: float
    note: str | None = None
    key: str = ""


Found: TypeAlias = Audit | UtilityAudit
AuditOne: TypeAlias = Callable[[Work, Runner], Found]
"""(case, what runs it) → its result; it must pickle."""
GaveUp: TypeAlias = Callable[[Work, MechanismError], Found]
"""The result of a case whose worker process did not survive it."""


def portable(job: Job | UtilityJob) -> bool:
    """Whether a case can be sent to a worker process."""
    return isinstance(job, UtilityJob) or job.target.portable


def side_by_side(
    work: Sequence[Work], audit: AuditOne, gave_up: GaveUp, runner: Runner
) -> Iterator[tuple[int, Found, float]]:
    """Audit cases on `runner.jobs` worker processes.

    Yields:
        (place in `work`, its audit, seconds), in whatever order they end.
    """
    deadline = None if runner.left is None else time.time() + runner.left
    # by value, so that a user's file, a lambda or a notebook's function reaches the workers
    payloads = [cloudpickle.dumps((audit, one)) for one in work]
    ended = set[int]()
    pool = runner.parallel(return_as="generator_unordered", batch_size=1)
    try:
        for at, found, seconds in pool(
            delayed(_one)(at, payload, deadline) for at, payload in enumerate(payloads)
        ):
            ended.add(at)
            yield at, found, seconds
        return
    except TerminatedWorkerError:
        # a mechanism took its process with it; alone it can be told which
        left = [at for at in range(len(work)) if at not in ended]
    for at in left:
        try:
            ((_, found, seconds),) = runner.parallel()([delayed(_one)(at, payloads[at], deadline)])
        except TerminatedWorkerError:
            job = work[at].job
            name = job.name if isinstance(job, UtilityJob) else job.target.name
            found, seconds = gave_up(work[at], MechanismError(f"{name} ended its worker process.")), 0.0
        yield at, found, seconds


def _one(at: int, payload: bytes, deadline: float | None) -> tuple[int, Found, float]:
    """One audit in a worker process."""
    audit, work = cloudpickle.loads(payload)
    begun = time.monotonic()
    runner = Runner(1, None if deadline is None else deadline - time.time())
    return at, audit(work, runner), time.monotonic() - begun
