"""The engine's stream of events while audits run.

The engine yields these in order; `dpaudit.report.console` shows them, tests collect them, and a run that is
cut short has already emitted every result it had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from dpaudit.results.model import Audit, Result, UtilityAudit


@dataclass(frozen=True)
class CheckStarted:
    """The whole invocation begins; `audits` many cases will be tried."""

    audits: int
    seed: int
    alpha: float


@dataclass(frozen=True)
class AuditStarted:
    """One case begins."""

    name: str
    case: str
    claim: str
    steps: int
    """Units of work: `Progress.done` counts up to this."""
    replay: str = ""
    """Its replay id."""
    left: float | None = field(default=None, compare=False)
    """Seconds until the time limit; None for no limit."""


@dataclass(frozen=True)
class Progress:
    """Some runs or enumerations are done."""

    done: int
    of: int
    what: str
    """E.g. "certifying, pair 2 of 5, 400,000 of 1,000,000 runs"."""
    bound: float | None
    """Best certified lower bound on ε so far in this audit."""


@dataclass(frozen=True)
class Notice:
    """Something that the user should know at once, while the audit goes on."""

    text: str
    """One sentence or two."""


@dataclass(frozen=True)
class AuditFinished:
    """One case ended with its verdict."""

    audit: Audit | UtilityAudit
    seconds: float


@dataclass(frozen=True)
class CheckFinished:
    """All is done, or was cut short (`result.interrupted`)."""

    result: Result


Recorded: TypeAlias = CheckStarted | AuditStarted | Progress | AuditFinished | CheckFinished
"""Events that depend on the request alone, and not on how fast the machine is."""
Event: TypeAlias = Recorded | Notice


def events_of(result: Result) -> Iterator[Event]:
    """The events of a finished result, without `Progress` and `Notice`."""
    yield CheckStarted(len(result.every), result.seed, result.alpha)
    for audit in result.every:
        yield AuditStarted(audit.name, audit.case, audit.claim.statement, 1)
        yield AuditFinished(audit, result.timings.audits.get(audit.replay, 0.0))
    yield CheckFinished(result)
