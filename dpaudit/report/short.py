"""One audit in a few lines of plain text, for the message of a failing test and for what other programs show."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.report import plain_words, utility, wording
from dpaudit.report.datasets import Excerpt, Part, compare
from dpaudit.results.faults import Fault
from dpaudit.results.model import Audit, UtilityAudit, Verdict
from dpaudit.results.plain import flat


def failure_text(audit: Audit, *, again: str, verbose: bool = False) -> str:
    """What was found in plain words, on which pair, what is certified, and how to see it again.

    Args:
        audit: of any verdict; what it has no evidence for is left out.
        again: the command that repeats the audit.
        verbose: whether to say how the verdict was made, too.
    """
    failed = audit.verdict is Verdict.FAIL
    plain = plain_words.meaning(audit)
    lines = [f"{audit.name}: {plain or wording.headline(audit)}"]
    if failed or verbose:
        lines += _rows("pair", _pair(audit, verbose=verbose))
        lines += _event(audit, said=plain is not None, verbose=verbose)
        lines += _rows("bound", plain_words.bounds(audit, verbose=verbose)[plain is None :])
    lines += _rows("hint", plain_words.hints(audit))
    lines += _rows("trace", [note.sentence.removeprefix("Trace: ") for note in audit.notes if note.code == "trace"])
    lines += _rows("claim", [audit.claim.statement])
    detectable = wording.detectable_sentence(audit) if verbose or not failed else None
    lines += _rows("power", [detectable] if detectable is not None else [])
    if wording.leaks_beside(audit) or wording.refuted_by_bits(audit):
        lines += _rows("floats", wording.floating_point_lines(audit))
    evidence = wording.evidence_sentence(audit) if verbose else None
    lines += _rows("e-value", [evidence] if evidence is not None else [])
    if (verbose and plain != audit.reason) or plain_words.reason_adds(audit):
        lines += _rows("reason", [audit.reason])
    lines += _rows("again", [again])
    return "\n".join(map(flat, lines))


def _rows(label: str, texts: Sequence[str]) -> list[str]:
    """A line for each text, the first one labelled."""
    return [f"  {'' if number else label:7} {text}" for number, text in enumerate(texts)]


def _event(audit: Audit, *, said: bool, verbose: bool) -> list[str]:
    """The event, unless the sentence named it, and how often it occurred."""
    if audit.event is None:
        return []
    evidence = wording.deciding(audit)
    named = said and plain_words.names_event(audit) and not verbose
    shown = wording.event_phrase(audit.event, wording.more_likely_under(audit), evidence if verbose else None)
    return [
        *_rows("event", [] if named else [shown]),
        *_rows("counts", [] if evidence is None else [wording.counts_sentence(evidence)]),
    ]


def headline(audit: Audit | UtilityAudit) -> str:
    """The one sentence that goes with the verdict."""
    return wording.headline(audit) if isinstance(audit, Audit) else utility.headline(audit)


def phrase(audit: Audit | UtilityAudit) -> str:
    """The verdict as all reports write it, e.g. "PASS · proved"."""
    return wording.verdict_phrase(audit) if isinstance(audit, Audit) else utility.verdict_phrase(audit)


def audit_text(audit: Audit | UtilityAudit, *, again: str) -> str:
    """`failure_text` in full, also for utility guarantees.

    Args:
        audit: of any verdict.
        again: the command that repeats the audit.
    """
    if isinstance(audit, Audit):
        return failure_text(audit, again=again, verbose=True)
    worst = audit.deciding
    lines = [f"{audit.name}: {utility.headline(audit)}", f"  claim   {audit.claim.statement} ({audit.claim.place})"]
    if worst is not None:
        runs = utility.runs_sentence(worst)
        lines.append(f"  inputs  {worst.instances}{f'; {runs}' if runs else ''}")
    return "\n".join(map(flat, [*lines, f"  reason  {audit.reason}", f"  again   {again}"]))


def _pair(audit: Audit, *, verbose: bool) -> list[str]:
    if audit.pair is None:
        return []
    lines = [wording.pair_name(audit.pair)] if verbose else []
    for part in compare(audit.pair.left, audit.pair.right, columns=audit.pair.columns, limit=12):
        if part.columns:
            lines += ["".join(piece.text for piece in line) for line in part.lines()]
            continue
        head = f"{part.name}: " if part.name else ""
        lines += [
            f"{name:3} {head}{excerpt.text()}{f'  ({excerpt.size})' if excerpt.size else ''}"
            for name, excerpt in _excerpts(part)
        ]
    return lines


def _excerpts(part: Part) -> tuple[tuple[str, Excerpt], ...]:
    return (("D", part.left), ("D′", part.right))


def what_matters(audit: Audit | UtilityAudit, problem: Fault) -> str:
    """The most important sentence about a fault: the bound, or why there is none and what to do."""
    return audit.reason if problem in (Fault.CRASHED, Fault.INCONCLUSIVE) else headline(audit)
