"""One audit in a few lines of plain text, for the message of a failing test and for what other programs show."""

from __future__ import annotations

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
        lines += _pair(audit, verbose=verbose)
    if audit.event is not None and (failed or verbose):
        evidence = wording.deciding(audit)
        if verbose or not (plain is not None and plain_words.names_event(audit)):
            shown = evidence if verbose else None
            lines.append(f"  event   {wording.event_phrase(audit.event, wording.more_likely_under(audit), shown)}")
        if evidence is not None:
            lines.append(f"  counts  {wording.counts_sentence(evidence)}")
    if (failed or verbose) and plain is not None:
        lines.append(f"  bound   {wording.headline(audit)}")
    lines += [f"  hint    {hint}" for hint in plain_words.hints(audit)]
    lines.append(f"  claim   {audit.claim.statement}")
    if (verbose or not failed) and (detectable := wording.detectable_sentence(audit)) is not None:
        lines.append(f"  power   {detectable}")
    if verbose:
        more = (("bound", wording.clopper_pearson_sentence(audit)), ("e-value", wording.evidence_sentence(audit)))
        lines += [f"  {label:7} {text}" for label, text in more if text is not None]
    if (verbose and plain != audit.reason) or plain_words.reason_adds(audit):
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
    for part in compare(audit.pair.left, audit.pair.right, limit=12):
        head = f"{part.name}: " if part.name else ""
        lines += [f"{name:3} {head}{excerpt.text()}  ({excerpt.size})" for name, excerpt in _excerpts(part)]
    return [f"  {'' if number else 'pair':7} {line}" for number, line in enumerate(lines)]


def _excerpts(part: Part) -> tuple[tuple[str, Excerpt], ...]:
    return (("D", part.left), ("D′", part.right))


def what_matters(audit: Audit | UtilityAudit, problem: Fault) -> str:
    """The most important sentence about a fault: the bound, or why there is none and what to do."""
    return audit.reason if problem in (Fault.CRASHED, Fault.INCONCLUSIVE) else headline(audit)
