"""One audit in a few lines of plain text, for the message of a failing test and for what other programs show."""

from __future__ import annotations

from dpaudit.report import utility, wording
from dpaudit.report.datasets import Excerpt, Part, compare
from dpaudit.results.faults import Fault
from dpaudit.results.model import Audit, UtilityAudit
from dpaudit.results.plain import flat


def failure_text(audit: Audit, *, again: str) -> str:
    """What was claimed, what is certified, on which pair, by which event, and how to see it again.

    Args:
        audit: of any verdict; what it has no evidence for is left out.
        again: the command that repeats the audit.
    """
    lines = [
        f"{audit.name}: {wording.headline(audit)}",
        f"  claim   {audit.claim.statement}",
        *_pair(audit),
    ]
    if audit.event is not None:
        evidence = wording.deciding(audit)
        lines.append(f"  event   {wording.event_phrase(audit.event, wording.more_likely_under(audit), evidence)}")
        if evidence is not None:
            lines.append(f"          {wording.counts_sentence(evidence)}")
    lines.append(f"  reason  {audit.reason}")
    lines.append(f"  again   {again}")
    return "\n".join(map(flat, lines))


def headline(audit: Audit | UtilityAudit) -> str:
    """The one sentence that goes with the verdict."""
    return wording.headline(audit) if isinstance(audit, Audit) else utility.headline(audit)


def phrase(audit: Audit | UtilityAudit) -> str:
    """The verdict as all reports write it, e.g. "PASS · proved"."""
    return wording.verdict_phrase(audit) if isinstance(audit, Audit) else utility.verdict_phrase(audit)


def audit_text(audit: Audit | UtilityAudit, *, again: str) -> str:
    """`failure_text`, also for utility guarantees.

    Args:
        audit: of any verdict.
        again: the command that repeats the audit.
    """
    if isinstance(audit, Audit):
        return failure_text(audit, again=again)
    worst = audit.deciding
    lines = [f"{audit.name}: {utility.headline(audit)}", f"  claim   {audit.claim.statement} ({audit.claim.place})"]
    if worst is not None:
        runs = utility.runs_sentence(worst)
        lines.append(f"  inputs  {worst.instances}{f'; {runs}' if runs else ''}")
    return "\n".join(map(flat, [*lines, f"  reason  {audit.reason}", f"  again   {again}"]))


def _pair(audit: Audit) -> list[str]:
    if audit.pair is None:
        return []
    lines = [f"  pair    {wording.pair_name(audit.pair)}"]
    for part in compare(audit.pair.left, audit.pair.right, columns=audit.pair.columns, limit=12):
        if part.columns:
            lines += ["          " + "".join(piece.text for piece in line) for line in part.lines()]
            continue
        head = f"{part.name}: " if part.name else ""
        lines += [f"          {name:5} {head}{excerpt.text()}  ({excerpt.size})" for name, excerpt in _excerpts(part)]
    return lines


def _excerpts(part: Part) -> tuple[tuple[str, Excerpt], ...]:
    return (("D", part.left), ("D′", part.right))


def what_matters(audit: Audit | UtilityAudit, problem: Fault) -> str:
    """The most important sentence about a fault: the bound, or why there is none and what to do."""
    return audit.reason if problem in (Fault.CRASHED, Fault.INCONCLUSIVE) else headline(audit)
