"""The sentences that every report says in the same words: verdicts, bounds, what was not shown.

Console and HTML both call these, so that an auditor never reads two wordings of one result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpaudit.audit.results import (
    Audit,
    EvidenceKind,
    ExactEvidence,
    LedgerRow,
    PairRecord,
    SampledEvidence,
    Verdict,
)
from dpaudit.reporting.numbers import count, exactly, lower, nearest, percent, small, stated, upper

NOT_A_PROOF = "not a proof"


def full_name(audit: Audit) -> str:
    """Name and case, e.g. "RecPrefix · group of 2"."""
    return f"{audit.name} · {audit.case}" if audit.case else audit.name


def verdict_phrase(audit: Audit) -> str:
    """FAIL, "PASS · proved", "PASS · not refuted" or INCONCLUSIVE.

    Only an exhaustive scope proves: exact laws of some pairs say nothing about the pairs not tried.
    """
    if audit.verdict is Verdict.PASS:
        return "PASS · proved" if audit.evidence is EvidenceKind.EXHAUSTIVE else "PASS · not refuted"
    return audit.verdict.value.upper()


def claimed(audit: Audit) -> str:
    """The claim's two numbers, e.g. "(1.0, 1e-06)"."""
    return f"({stated(audit.claim.epsilon)}, {small(audit.claim.delta)})"


def has_exact(audit: Audit) -> bool:
    """Whether any law was enumerated."""
    return audit.epsilon_exact is not None or audit.delta_exact is not None


def exact_is_infinite(audit: Audit) -> bool:
    """Whether the exact ε at the claimed δ is infinite."""
    return audit.epsilon_exact is None and audit.delta_exact is not None


def exact_epsilon(audit: Audit) -> str | None:
    """The exact ε, "∞" where there is none at the claimed δ, None where nothing was enumerated."""
    if audit.epsilon_exact is not None:
        return exactly(audit.epsilon_exact, audit.claim.epsilon)
    return "∞" if exact_is_infinite(audit) else None


def certified_epsilon(audit: Audit) -> str | None:
    """The certified lower bound on ε, rounded down; None when nothing was certified."""
    return None if audit.epsilon_lower is None else lower(audit.epsilon_lower, audit.claim.epsilon)


def certified_sentence(audit: Audit) -> str | None:
    """E.g. "certified ε ≥ 1.37 at δ = 1e-06 (claim 1.0), confidence 99.9 %"."""
    bound = certified_epsilon(audit)
    if bound is None:
        return None
    return (
        f"certified ε ≥ {bound} at δ = {small(audit.claim.delta)} (claim {stated(audit.claim.epsilon)}), "
        f"confidence {percent(audit.confidence)}"
    )


def exact_sentence(audit: Audit) -> str | None:
    """E.g. "exact ε = 1.39 at δ = 0 (claim 1.0); exact δ = 0.21 at ε = 1.0 (claim 0)"."""
    epsilon, claim = exact_epsilon(audit), audit.claim
    if epsilon is None:
        return None
    text = f"exact ε = {epsilon} at δ = {small(claim.delta)} (claim {stated(claim.epsilon)})"
    if audit.delta_exact is not None:
        delta = nearest(audit.delta_exact, claim.delta)
        text += f"; exact δ = {delta} at ε = {stated(claim.epsilon)} (claim {small(claim.delta)})"
    return text


def slack_sentence(audit: Audit) -> str | None:
    """How far a proved claim is from being tight, e.g. "slack 0.0123 in ε, 1e-06 in δ"."""
    parts = []
    if audit.epsilon_exact is not None:
        parts.append(f"{lower(max(audit.claim.epsilon - audit.epsilon_exact, 0.0))} in ε")
    if audit.delta_exact is not None:
        parts.append(f"{lower(max(audit.claim.delta - audit.delta_exact, 0.0))} in δ")
    return f"slack {', '.join(parts)}" if parts else None


def headline(audit: Audit) -> str:
    """The one sentence that goes with the verdict."""
    sampled, exact = certified_sentence(audit), exact_sentence(audit)
    if audit.crashed:
        return "the mechanism crashed; " + (sampled or exact or "nothing certified")
    if audit.verdict is Verdict.FAIL:
        return (exact if audit.evidence is not EvidenceKind.SAMPLED else sampled) or sampled or exact or ""
    if audit.verdict is Verdict.INCONCLUSIVE:
        return sampled or exact or "nothing certified"
    if audit.evidence is EvidenceKind.EXHAUSTIVE:
        return "; ".join(part for part in (exact, slack_sentence(audit)) if part)
    if audit.evidence is EvidenceKind.EXACT:
        return f"{exact or 'exact laws'} on the pairs tried; {NOT_A_PROOF}"
    return f"{sampled or 'nothing certified'}; {NOT_A_PROOF}"


def detectable_sentence(audit: Audit) -> str | None:
    """What a sampled audit would have caught; None where nothing was sampled."""
    if audit.detectable_epsilon is not None:
        bound = upper(audit.detectable_epsilon, audit.claim.epsilon)
        return f"ε = {bound}, with probability 0.9 on the pairs tried"
    if audit.sampled:
        return "none (these runs would have refuted no ε with probability 0.9)"
    return None


def expectation(audit: Audit) -> str | None:
    """ "as expected" or "NOT as expected (expected PASS)"; None where the catalogue expects nothing."""
    if audit.as_expected is None:
        return None
    return "as expected" if audit.as_expected else f"NOT as expected (expected {str(audit.expected).upper()})"


def replay_command(audit: Audit) -> str:
    """What to type to get this one audit again."""
    return f"dpaudit replay {audit.replay}"


def deciding(audit: Audit) -> SampledEvidence | None:
    """The sampled evidence behind the reported pair and event, else the strongest there is."""
    same = [e for e in audit.sampled if e.pair == audit.pair and e.event == audit.event]
    return max(same or audit.sampled, key=lambda e: e.epsilon_lower, default=None)


def counts(evidence: SampledEvidence) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
    """(dataset, runs in the event, runs) for left, then right, whichever was the numerator."""
    numerator, denominator = (evidence.x, evidence.n), (evidence.y, evidence.m)
    left, right = (numerator, denominator) if numerator_side(evidence) == "left" else (denominator, numerator)
    return ("left", *left), ("right", *right)


def numerator_side(evidence: SampledEvidence | ExactEvidence) -> str:
    """The dataset on which the event is likelier, "left" or "right"."""
    return evidence.direction.partition("/")[0]


def reported_exact(audit: Audit) -> ExactEvidence | None:
    """The exact evidence behind the reported pair and event; None where runs are behind it."""
    return next((e for e in audit.exact if e.pair == audit.pair and e.event == audit.event), None)


def likelier_on(audit: Audit) -> str | None:
    """The dataset on which the reported event is likelier; None when no evidence says."""
    evidence = reported_exact(audit) or deciding(audit)
    return None if evidence is None else numerator_side(evidence)


def probabilities_sentence(evidence: ExactEvidence) -> str:
    """E.g. "exactly 0.5 on left, 0.0677 on right"."""
    sides = (evidence.p, evidence.q) if numerator_side(evidence) == "left" else (evidence.q, evidence.p)
    return f"exactly {small(sides[0])} on left, {small(sides[1])} on right"


def counts_sentence(evidence: SampledEvidence) -> str:
    """E.g. "left 5,321 of 1,000,000 runs, right 12 of 1,000,000 runs"."""
    return ", ".join(f"{side} {count(hits)} of {count(runs)} runs" for side, hits, runs in counts(evidence))


def pair_name(pair: PairRecord) -> str:
    """E.g. "one heavy query (random, distance 1)"."""
    source = "" if pair.source == pair.label else f"{pair.source}, "
    return f"{pair.label} ({source}distance {pair.distance})"


def tally(audits: Sequence[Audit]) -> str:
    """All verdicts of a result, worst first: "2 FAIL, 1 INCONCLUSIVE, 40 PASS · proved"."""
    phrases = Counter(verdict_phrase(audit) for audit in audits)
    order = ("FAIL", "INCONCLUSIVE", "PASS · proved", "PASS · not refuted")
    return ", ".join(f"{phrases[phrase]} {phrase}" for phrase in order if phrases[phrase])


def total(audits: Sequence[Audit]) -> str:
    """The title of a report: "RecPrefix: PASS, not refuted", or the tally of several audits, with their one name."""
    if not audits:
        return "No audits"
    if len(audits) == 1:
        return f"{audits[0].name}: {verdict_phrase(audits[0]).replace(' · ', ', ')}"
    names = {audit.name for audit in audits}
    if len(names) == 1:
        return f"{names.pop()}: {tally(audits)}"
    return f"{len(audits)} audits: {tally(audits)}"


def expected_total(audits: Sequence[Audit]) -> str | None:
    """How many verdicts are what the catalogue expects; None when it expects nothing."""
    asked = [audit for audit in audits if audit.as_expected is not None]
    wrong = sum(audit.as_expected is False for audit in asked)
    if not asked:
        return None
    if len(audits) == 1:
        return expectation(audits[0])
    if wrong:
        return f"{wrong} of {len(asked)} NOT as expected"
    return f"all {len(asked)} as expected"


def ledger_claim(row: LedgerRow) -> str:
    """ "(ε, δ)" of one line of the composition."""
    return f"({nearest(row.epsilon)}, {small(row.delta)})"
