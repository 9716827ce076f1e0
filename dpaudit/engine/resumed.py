"""What an earlier process has done of a request, for the one that goes on (`dpaudit.supervision`)."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

from dpaudit.results.model import Audit, UtilityAudit
from dpaudit.results.stream import AuditFinished, AuditStarted, CheckFinished, CheckStarted, Event
from dpaudit.supervision import Before


@dataclass(frozen=True)
class Resumed:
    """What is done.

    Args:
        ended: replay id → audit and the seconds that it took.
        lost: replay id of an audit that its process did not survive → how the process ended.
        seconds: since the first process began; they count for the time limit.
        interrupted: whether nothing more is to be audited.
        goes_on: whether there was an earlier process.
        finished: whether it had shown and logged the end of the last audit.
    """

    ended: dict[str, tuple[Audit | UtilityAudit, float]] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    goes_on: bool = False
    finished: bool = False

    def reported(self, event: Event) -> bool:
        """Whether an earlier process has shown and logged this event."""
        match event:
            case CheckStarted():
                return self.goes_on
            case AuditStarted():
                return event.replay in self.ended or event.replay in self.lost
            case AuditFinished():
                return event.audit.replay in self.ended
            case CheckFinished():
                return self.finished
        return False


def resumed(before: Before | None) -> Resumed:
    """What is done, from what the supervisor has kept of earlier processes."""
    if before is None:
        return Resumed()
    each: list[tuple[Audit | UtilityAudit, float]] = [pickle.loads(one) for one in before.ended]
    ended = {audit.replay: (audit, seconds) for audit, seconds in each}
    return Resumed(
        ended, dict(before.lost), before.seconds, before.interrupted, goes_on=True, finished=before.finished
    )
