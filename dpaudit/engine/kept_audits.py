"""Audits that an interrupted command has finished, found by what they depend on: the request, the case and the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from dpaudit.errors import DpauditError
from dpaudit.evidence.side_by_side import AuditResult, Work
from dpaudit.journal import AUDIT, WRITTEN_FROM, Journal, Place
from dpaudit.plans.job import RecordedSamples
from dpaudit.plans.request import Request
from dpaudit.results import json_form
from dpaudit.results.model import Audit, Result, Timings
from dpaudit.subjects.code_key import NoKeyError, code_key, own_code

_ONE = Place(0, 1)


class KeptAudits:
    """What the journal holds of the audits of one command.

    Args:
        journal: whether anything is kept, and of which command.
        request: that they answer.
        environment: versions that they depend on.
        work: the cases, before anything of them has run: a cache that a mechanism fills is no other mechanism.
    """

    def __init__(
        self, journal: Journal, request: Request, environment: Mapping[str, str], work: Sequence[Work]
    ) -> None:
        self._command, self._request, self._environment = journal.command, request, dict(environment)
        about = [request.image(), request.door, sorted(environment.items()), own_code()]
        # recorded outputs cost nothing to audit again, and more of them may have arrived
        kept = [one for one in work if not (journal.is_off or isinstance(one.job, RecordedSamples))]
        self._keys = {one.job.replay: _key(one, about) for one in kept}

    def find(self, work: Work, journal: Journal) -> tuple[AuditResult, float] | None:
        """The audit of a case and the seconds that it took; None where it is not kept."""
        key = self._keys.get(work.job.replay)
        if key is None or not journal.is_there:
            return None
        body = journal.body(AUDIT, key, _ONE)
        if body is None:
            return None
        try:
            seconds, text = json.loads(body)
            (audit,) = json_form.from_json(text, where="the journal").every
            return audit, float(seconds)
        except (DpauditError, ValueError, TypeError):
            return None

    def keep(self, work: Work, audit: AuditResult, seconds: float, journal: Journal) -> None:
        """Keep an audit that has ended, and that no time limit has cut short; what it was made of is deleted."""
        key = self._keys.get(work.job.replay)
        if key is None or audit.crashed:
            return
        journal.keep_result(AUDIT, key, _ONE, json.dumps([seconds, self._text(audit)]).encode())
        if seconds > WRITTEN_FROM:
            # the next time to write may be the end of another long audit
            journal.write()

    def finish(self, journal: Journal) -> None:
        """The command is finished: they are of no more use once its result is written."""
        journal.finished(AUDIT, [key for key in self._keys.values() if key is not None])

    def _text(self, audit: AuditResult) -> str:
        privacy, utility = ([audit], []) if isinstance(audit, Audit) else ([], [audit])
        began = datetime.now(UTC).isoformat(timespec="seconds")
        return json_form.to_json(Result(
            seed=self._request.seed, alpha=self._request.alpha, command=self._command,
            environment=self._environment, interrupted=False, timings=Timings(began, 0.0, 1, {}),
            audits=privacy, utility=utility,
        ))


def _key(work: Work, about: Sequence[object]) -> str | None:
    """What an audit depends on: its whole case, with target, claim and pairs; None where part of it has no key."""
    try:
        parts = [*about, work.job.replay, code_key(work.job), work.alpha, work.key]
    except NoKeyError:
        return None
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
