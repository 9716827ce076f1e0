"""Audits that an interrupted command has finished, found by what they depend on: the request, the case and the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from dpaudit.errors import DpauditError
from dpaudit.evidence.side_by_side import AuditResult, Work
from dpaudit.journal import AUDIT, WRITTEN_FROM, Journal, Place
from dpaudit.plans.request import Request
from dpaudit.results import json_form
from dpaudit.results.model import Audit, Result, Timings
from dpaudit.subjects.code_key import NoKeyError, code_key, own_code

_ONE = Place(0, 1)


class KeptAudits:
    """What the journal holds of the audits of one command.

    Args:
        journal: where they are kept.
        request: that they answer.
        environment: versions that they depend on.
        work: the cases, before anything of them has run: a cache that a mechanism fills is no other mechanism.
    """

    def __init__(
        self, journal: Journal, request: Request, environment: Mapping[str, str], work: Sequence[Work]
    ) -> None:
        self._journal, self._request, self._environment = journal, request, dict(environment)
        about = [request.image(), request.door, sorted(environment.items()), own_code()]
        # a command with one case has its samples and output distributions
        several = () if journal.is_off or len(work) < 2 else work
        self._keys = {one.job.replay: _key(one, about) for one in several}
        self._used: set[str] = set()

    def find(self, work: Work) -> tuple[AuditResult, float] | None:
        """The audit of a case and the seconds that it took; None where it is not kept."""
        key = self._keys.get(work.job.replay)
        if key is None or not self._journal.is_there:
            return None
        body = self._journal.body(AUDIT, key, _ONE)
        if body is None:
            return None
        try:
            seconds, text = json.loads(body)
            (audit,) = json_form.from_json(text, where="the journal").every
            found = audit, float(seconds)
        except (DpauditError, ValueError, TypeError):
            return None
        self._used.add(key)
        return found

    def keep(self, work: Work, audit: AuditResult, seconds: float) -> None:
        """Keep an audit that has ended, and that no time limit has cut short."""
        key = self._keys.get(work.job.replay)
        if key is None or audit.crashed:
            return
        self._used.add(key)
        self._journal.keep(AUDIT, key, _ONE, json.dumps([seconds, self._text(audit)]).encode())
        if seconds > WRITTEN_FROM:
            # its samples are deleted, and the next time to write may be the end of another long audit
            self._journal.write()

    def forget(self) -> None:
        """Delete them: the command is finished."""
        self._journal.forget(AUDIT, self._used)

    def _text(self, audit: AuditResult) -> str:
        privacy, utility = ([audit], []) if isinstance(audit, Audit) else ([], [audit])
        began = datetime.now(UTC).isoformat(timespec="seconds")
        return json_form.to_json(Result(
            seed=self._request.seed, alpha=self._request.alpha, command=self._journal.command,
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
