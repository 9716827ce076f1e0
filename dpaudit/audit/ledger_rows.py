"""The composition tree of a mechanism as lines of a report."""

from __future__ import annotations

from dpaudit.audit.jobs import Job
from dpaudit.audit.results import LedgerRow
from dpaudit.errors import DpauditError
from dpaudit.interpret import Entry, ledger

RUNS = 4
"""Runs of which the dearest is shown."""


def ledger_rows(job: Job) -> list[LedgerRow]:
    """The ledger on the first pair's left dataset, depth first; nothing where there is no tree."""
    mechanism = job.target.mechanism
    if mechanism is None or not job.case.pairs:
        return []
    try:
        entry = ledger(mechanism, job.case.pairs[0].left, runs=RUNS, seed=0)
    except DpauditError:
        return []
    return _rows(entry, 0) if entry.parts else []


def _rows(entry: Entry, depth: int) -> list[LedgerRow]:
    claim = entry.claim or entry.composed
    text = entry.text
    if claim is None:
        text += " (not accounted for)"
    elif entry.composed is not None and entry.claim is not None:
        parts = entry.composed
        relation = "within its claim" if entry.balanced else "MORE than its claim"
        text += f": its parts compose to ({parts.epsilon:.6g}, {parts.delta:.6g}), {relation}"
    rows = [LedgerRow(depth, text, claim.epsilon if claim else 0.0, claim.delta if claim else 0.0)]
    return rows + [row for part in entry.parts for row in _rows(part, depth + 1)]
