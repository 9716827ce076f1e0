"""How a verdict was made and what it assumes, in sentences that fit the audit at hand."""

from __future__ import annotations

from dpaudit.audit.results import Audit, EvidenceKind, Verdict
from dpaudit.reporting import wording
from dpaudit.reporting.numbers import count, error, small


def method(audit: Audit, alpha: float) -> list[str]:
    """Paragraphs; `alpha` is the family-wise error over all audits of the result."""
    paragraphs = [_sampling(audit, alpha)] if audit.sampled else []
    if audit.exact:
        paragraphs.append(_enumeration(audit))
    return [*paragraphs, _meaning(audit)]


def _sampling(audit: Audit, alpha: float) -> str:
    trained = max(evidence.runs_trained for evidence in audit.sampled)
    learned = (
        f"Events were learned on {count(trained)} training runs a side; training runs never certify. "
        if trained
        else "No event was learned: those tried were fixed beforehand. "
    )
    return (
        f"{learned}Each event was then counted on fresh, independent runs of both datasets. The claim says "
        "p ≤ e^ε q + δ for the probabilities p and q of the event; the exact unconditional score test "
        "decides, and the certified ε is its inversion (Clopper–Pearson, which needs more runs, is shown "
        "beside it). "
        f"Confidence is family-wise: the error {error(audit.confidence)} of this audit is spent over all "
        "its pairs, events and directions, and the error over all audits of this report is at most "
        f"{small(alpha)}. It assumes that runs are independent: the mechanism keeps nothing from one run "
        "to the next, and its randomness is as good as claimed."
    )


def _enumeration(audit: Audit) -> str:
    pairs = "one pair" if len(audit.exact) == 1 else f"{count(len(audit.exact))} pairs"
    where = f" Scope: {audit.scope}." if audit.scope else ""
    return (
        f"The law of the output was enumerated on both datasets of {pairs}, and δ(ε), the hockey-stick "
        f"divergence, computed from it in both directions. No sampling error enters.{where}"
    )


def _meaning(audit: Audit) -> str:
    phrase = wording.verdict_phrase(audit)
    if audit.crashed:
        return "The mechanism raised an error or misbehaved, so this audit could not be completed."
    match audit.verdict, audit.evidence:
        case Verdict.FAIL, EvidenceKind.SAMPLED:
            return (
                f"{phrase} means that the claim is refuted for this mechanism with these parameters: if it "
                f"held, this audit would say FAIL with probability at most {error(audit.confidence)}."
            )
        case Verdict.FAIL, _:
            return (
                f"{phrase} means that the claim is refuted for this mechanism with these parameters, exactly."
            )
        case Verdict.INCONCLUSIVE, _:
            return (
                f"{phrase} means that this budget could not decide: neither a refutation nor a reassurance."
            )
        case Verdict.PASS, EvidenceKind.EXHAUSTIVE:
            return (
                f"{phrase} means that the claim holds on every neighbouring pair of the scope. About larger "
                "datasets, other domains and other parameters it says nothing."
            )
    detectable = wording.detectable_sentence(audit)
    caught = f" Smallest violation that would have been seen: {detectable}." if detectable else ""
    return (
        f"{phrase} means that nothing was found on the pairs tried. It is {wording.NOT_A_PROOF}: the claim "
        f"may still be false on pairs, events or parameters that were not tried.{caught}"
    )
