"""A result written where an earlier one was read: what the earlier one knew and the new one does not is kept."""

from __future__ import annotations

from dataclasses import replace

from dpaudit.results.model import Audit, NoteRecord, Result, UtilityAudit
from dpaudit.results.notes import KeptFromEarlier


def with_earlier(result: Result, earlier: Result) -> Result:
    """`result`, and every audit of the earlier one that it does not replace, with a note.

    An audit replaces an earlier one of the same name, case and claim. Where the earlier one has an e-value it does so
    only if it has one too, and either the earlier one went into it, or it is about another key (the mechanism was
    changed, and evidence begins anew). So a run that was interrupted, ran out of time or crashed takes nothing away.
    """
    kept = [audit for audit in earlier.audits if not any(_replaces(new, audit) for new in result.audits)]
    guarantees = [one for one in earlier.utility if not any(_same(new, one) for new in result.utility)]
    # only the command line writes over a file
    note = KeptFromEarlier(earlier.seed).record("command line")
    return replace(
        result,
        audits=[*result.audits, *(replace(audit, notes=_noted(audit, note)) for audit in kept)],
        utility=[*result.utility, *(replace(one, notes=_noted(one, note)) for one in guarantees)],
    )


def _replaces(new: Audit, old: Audit) -> bool:
    if old.sequential is None:
        return _same(new, old)
    if new.sequential is None:
        return False
    if new.sequential.key == old.sequential.key:
        return set(old.sequential.seeds) <= set(new.sequential.seeds)
    return _same(new, old)


def _same(new: Audit | UtilityAudit, old: Audit | UtilityAudit) -> bool:
    return (new.name, new.case, new.claim) == (old.name, old.case, old.claim)


def _noted(audit: Audit | UtilityAudit, note: NoteRecord) -> list[NoteRecord]:
    # once: a file may be written over many times before an audit is made again
    return audit.notes if any(known.code == note.code for known in audit.notes) else [*audit.notes, note]
