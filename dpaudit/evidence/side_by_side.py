"""Whole audits at once, each on a worker process of its own: what each finds depends on its seed alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.errors import MechanismError, TimeLimitError
from dpaudit.plans.job import Job
from dpaudit.results.model import Audit, UtilityAudit
from dpaudit.results.notes import Note
from dpaudit.subjects.executors import Shared
from dpaudit.subjects.runner import LOOKS, Runner
from dpaudit.supervision import LIMIT_GRACE


@dataclass(frozen=True)
class Work:
    """One case to audit.

    Args:
        job: the case.
        alpha: its share of α.
        note: what is to be said of it whatever is found.
        key: what its e-value is evidence about.
        code: `code_key` of what is audited, from before it ran; None where it has none, or nothing is kept.
    """

    job: Job
    alpha: float
    note: Note | None = None
    key: str = ""
    code: str | None = None


AuditResult: TypeAlias = Audit | UtilityAudit
AuditOne: TypeAlias = Callable[[Work, Runner], AuditResult]
"""(case, what runs it) → its result; it must pickle."""
GaveUp: TypeAlias = Callable[[Work, MechanismError], AuditResult]
"""The result of a case whose worker process did not survive it."""


def side_by_side(
    work: Sequence[Work], audit: AuditOne, gave_up: GaveUp, runner: Runner
) -> Iterator[tuple[int, AuditResult, float]]:
    """Audit cases on worker processes.

    Yields:
        (place in `work`, its audit, seconds), in whatever order they end.
    """
    deadline = None if runner.left is None else time.time() + runner.left
    pool, ended = runner.workers(), set[int]()
    shared = [pool.share((audit, one)) for one in work]
    try:
        running = {
            pool.submit(_one, at, one, deadline, share_of_time(work[at:], pool.capacity))
            for at, one in enumerate(shared)
        }
        while running:
            with runner.limited(LIMIT_GRACE):
                done, running = wait(running, LOOKS, return_when=FIRST_COMPLETED)
            pool.check()
            # what ended well before what a dead worker took along
            for each in sorted(done, key=lambda each: each.exception() is not None):
                step = each.result()
                ended.add(step[0])
                yield step
        return
    except BrokenExecutor:
        # a mechanism ended its process; run alone, the cases show which
        pool.restart()
        left = [at for at in range(len(work)) if at not in ended]
    except TimeLimitError:
        # every worker has the same limit: those that do not react to it hang, with all signals ignored
        runner.close()
        for at in range(len(work)):
            if at not in ended:
                why = f"{work[at].job.target.name} did not react to the time limit, so its worker process was killed."
                yield at, gave_up(work[at], MechanismError(why)), 0.0
        return
    for at in left:
        share = share_of_time([work[other] for other in left if other >= at])
        for tried in range(1, pool.losses):
            try:
                with runner.limited(LIMIT_GRACE) if runner.left is not None and runner.left > 0 else nullcontext():
                    _, audit_result, seconds = pool.submit(_one, at, shared[at], deadline, share).result()
                break
            except BrokenExecutor:
                # once with others, and each time alone
                pool.restart()
                why = f"{work[at].job.target.name} ended its worker process {tried + 1} times."
                audit_result, seconds = gave_up(work[at], MechanismError(why)), 0.0
            except TimeLimitError:
                pool.restart()
                why = f"{work[at].job.target.name} did not react to the time limit, so its worker process was killed."
                audit_result, seconds = gave_up(work[at], MechanismError(why)), 0.0
                break
        yield at, audit_result, seconds


def share_of_time(work: Sequence[Work], at_once: int = 1) -> float:
    """The share that the first of these cases has of the time left: in proportion to numbers of tests, like α.

    Args:
        work: with the case itself.
        at_once: cases that are audited at the same time.
    """
    tests = sum(one.job.tests for one in work)
    return min(1.0, at_once * work[0].job.tests / tests) if tests else 1.0


def _one(at: int, shared: Shared, deadline: float | None, share: float) -> tuple[int, AuditResult, float]:
    """One audit in a worker process."""
    audit, work = shared.value()
    begun = time.monotonic()
    runner = Runner(1, None if deadline is None else deadline - time.time(), share=share)
    return at, audit(work, runner), time.monotonic() - begun
