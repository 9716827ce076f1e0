"""One audit in a few lines of plain text, for the message of a failing test."""

from __future__ import annotations

from dpaudit.auditing.results import Audit
from dpaudit.reporting import wording
from dpaudit.reporting.datasets import Part, Side, compare


def failure_text(audit: Audit, *, again: str) -> str:
    """What was claimed, what is certified, on which pair, by which event, and how to see it again.

    Args:
        audit: of any verdict; what it has no evidence for is left out.
        again: the command that makes the same audit again.
    """
    lines = [
        f"{audit.name}: {wording.headline(audit)}",
        f"  claim   {audit.claim.statement}",
        *_pair(audit),
    ]
    if audit.event is not None:
        evidence = wording.deciding(audit)
        lines.append(f"  event   {wording.event_phrase(audit.event, wording.likelier_on(audit), evidence)}")
        if evidence is not None:
            lines.append(f"          {wording.counts_sentence(evidence)}")
    lines.append(f"  reason  {audit.reason}")
    lines.append(f"  again   {again}")
    return "\n".join(lines)


def _pair(audit: Audit) -> list[str]:
    if audit.pair is None:
        return []
    lines = [f"  pair    {wording.pair_name(audit.pair)}"]
    for part in compare(audit.pair.left, audit.pair.right, limit=12):
        head = f"{part.name}: " if part.name else ""
        lines += [f"          {name:5} {head}{side.text()}  ({side.size})" for name, side in _sides(part)]
    return lines


def _sides(part: Part) -> tuple[tuple[str, Side], ...]:
    return (("left", part.left), ("right", part.right))
