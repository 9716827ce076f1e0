"""The results of audits by canaries as plain text, 80 columns wide."""

from __future__ import annotations

import textwrap

from dpaudit.report.numbers import count, lower, nearest, percent, small, stated, upper
from dpaudit.results.canaries import Bound, CanaryRecord, GuessesRecord, ScoresRecord
from dpaudit.results.plain import flat
from dpaudit.stats.membership import Interval

_WIDTH, _LABEL = 80, 12
_STATED = 8
"""Characters of a number that somebody wrote."""


def canaries_title(result: CanaryRecord) -> str:
    """What was audited, e.g. "196 of 200 guesses right, 1,000 canaries in one run"."""
    match result:
        case ScoresRecord():
            return f"scores of {count(result.n_in)} canaries in the data and {count(result.n_out)} left out"
        case GuessesRecord():
            right = f"{count(result.correct)} of {count(result.guessed)} guesses right"
            return f"{right}, {count(result.n)} canaries in one run"
    raise TypeError(type(result).__name__)


def canaries_line(result: CanaryRecord) -> str:
    """The verdict, what was audited, and the bound, on one line."""
    bound = "" if result.epsilon_lower is None else f"; ε ≥ {lower(result.epsilon_lower, result.epsilon)}"
    return f"{result.verdict.upper()}: {canaries_title(result)}{bound}"


def canaries_text(result: CanaryRecord) -> str:
    """What the command line prints."""
    rows = [("", result.reason), *_bound_rows(result)]
    if isinstance(result, ScoresRecord):
        rates = "; ".join(f"{interval(tpr)} at FPR {small(fpr)}" for fpr, tpr in result.tpr_at_fpr)
        rows += [("AUROC", interval(result.auroc)), ("TPR", rates)]
    rows += [("note", note) for note in notes(result)]
    if result.claim is not None:
        rows.append(("claim", result.claim))
    rows.append(("alpha", f"{small(result.alpha)}, of the verdict; every further figure has this error by itself"))
    return "\n".join([f"{result.verdict.upper()}  {canaries_title(result)}", *(_row(*row) for row in rows)])


def notes(result: CanaryRecord) -> list[str]:
    """What else a reader should know: signs of a wrong direction, and of dependent scores."""
    if not isinstance(result, ScoresRecord):
        return []
    found = [note.sentence for audit in result.samples.audits for note in audit.notes if note.code == "assumption"]
    if result.auroc.high < 0.5:
        found.append("Scores are lower for canaries in the data: negate them, so that high means in.")
    return found


def interval(one: Interval) -> str:
    """E.g. "0.756 [0.728, 0.782]", rounded outwards."""
    return f"{nearest(one.estimate)} [{lower(one.low)}, {upper(one.high)}]"


def claimed_number(claim: float) -> str:
    """A claimed ε or μ: as it was stated, or four digits of a point of a curve, which nobody stated."""
    return stated(claim) if len(stated(claim)) <= _STATED else nearest(claim, digits=4)


def bound_numbers(result: CanaryRecord, bound: Bound) -> str:
    """E.g. "μ ≥ 0.82 and ε ≥ 3.48 at δ = 1e-05"; μ alone where μ is claimed and the bound decides."""
    against = bound.decides and result.claim is not None
    parts = []
    if bound.mu is not None:
        parts.append(f"μ ≥ {lower(bound.mu, result.mu if against else None)}")
    if bound.epsilon is not None and not (parts and against):
        parts.append(f"ε ≥ {lower(bound.epsilon, result.epsilon if against else None)} at δ = {small(bound.delta)}")
    return " and ".join(parts)


def _bound_rows(result: CanaryRecord) -> list[tuple[str, str]]:
    """The bounds, and under those that assume the same, what it is."""
    rows = []
    claim = result.epsilon if result.mu is None else result.mu
    for place, bound in enumerate(result.bounds):
        claimed = f" (claim {claimed_number(claim)})" if claim is not None and bound.decides else ""
        numbers, confidence = bound_numbers(result, bound), percent(bound.confidence)
        label = "bound" if bound.decides else "if GDP"
        rows.append((label, f"{numbers} with {confidence} confidence{claimed}, by {bound.name}"))
        if place + 1 == len(result.bounds) or result.bounds[place + 1].assumes != bound.assumes:
            rows.append(("assumes", bound.assumes))
    return rows


def _row(label: str, text: str) -> str:
    indent = " " * (_LABEL if label else 2)
    return textwrap.fill(
        flat(text), _WIDTH, initial_indent=f"  {label:<{_LABEL - 2}}" if label else indent, subsequent_indent=indent,
        break_on_hyphens=False, break_long_words=False,
    )
