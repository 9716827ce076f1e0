"""Sentences about utility guarantees that all reports share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpaudit.report.numbers import count, lower, percent, small, upper
from dpaudit.results.model import Attempt, UtilityAudit, Verdict

EXACT, CONFIDENT, NOT_REFUTED = "PASS · exact", "PASS · with confidence", "PASS · not refuted"


def verdict_phrase(audit: UtilityAudit) -> str:
    """FAIL, INCONCLUSIVE, or PASS with the kind of evidence on the inputs tried."""
    if audit.verdict is not Verdict.PASS:
        return audit.verdict.value.upper()
    if all(one.exact is not None and not one.rounded for one in audit.attempts):
        return EXACT
    return CONFIDENT if all(_certified(one, audit) for one in audit.attempts) else NOT_REFUTED


def guaranteed(audit: UtilityAudit) -> str:
    """The guaranteed probability, e.g. "≥ 0.75"."""
    return f"{'≤' if audit.claim.at_most else '≥'} {probability(audit.claim.probability)}"


def success(one: Attempt) -> str:
    """The probability of success: exact, or its confidence limits."""
    if one.exact is not None:
        return f"= {probability(one.exact)}"
    if not one.runs or one.low is None or one.high is None:
        return "unknown"
    return f"∈ [{lower(one.low, digits=5)}, {upper(one.high, digits=5)}]"


def least_success(audit: UtilityAudit) -> float:
    """The probability of success on the worst inputs, or its lower limit; -1 if unknown. For sorting."""
    worst = audit.deciding
    least = None if worst is None else worst.exact if worst.exact is not None else worst.low
    return -1.0 if least is None else least


def headline(audit: UtilityAudit) -> str:
    """Measured and guaranteed success on the inputs that are worst for the guarantee."""
    worst = audit.deciding
    measured = "success unknown" if worst is None else f"success {success(worst)}"
    return f"{measured}; guaranteed {guaranteed(audit)}"


def runs_sentence(one: Attempt) -> str | None:
    """E.g. "1,234 of 20,000 samples succeed"; None if nothing was sampled."""
    return f"{count(one.hits)} of {count(one.runs)} samples succeed" if one.runs else None


def tally(audits: Sequence[UtilityAudit]) -> str:
    """All verdicts, worst first."""
    phrases = Counter(verdict_phrase(audit) for audit in audits)
    order = ("FAIL", "INCONCLUSIVE", EXACT, CONFIDENT, NOT_REFUTED)
    return ", ".join(f"{phrases[phrase]} {phrase}" for phrase in order if phrases[phrase])


def probability(p: float) -> str:
    """Six digits; near 1, as the difference to 1."""
    if 0.999 < p < 1:
        return f"1 − {small(1 - p)}"
    return f"{p:.6g}"


def _certified(one: Attempt, audit: UtilityAudit) -> bool:
    if one.exact is not None and not one.rounded:
        return True
    if one.low is None or one.high is None:
        return False
    return one.high <= audit.claim.probability if audit.claim.at_most else one.low >= audit.claim.probability


def picture_sentence(audit: UtilityAudit) -> str:
    """What is drawn beside the probabilities of success."""
    boxes = (
        " Boxes: Clopper–Pearson limits, which hold simultaneously for all guarantees and claims of this report with "
        f"confidence {percent(audit.confidence)}."
    )
    sampled = boxes if audit.runs else ""
    return f"Dashed: the guarantee.{sampled} Vertical lines: exact probabilities (interval arithmetic)."
