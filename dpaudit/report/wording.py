"""Sentences that all reports share: verdicts, bounds, and what was not shown.

Every report format calls these functions, so that one result has one wording.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from dpaudit.options import CERTIFY
from dpaudit.report import utility
from dpaudit.report.numbers import (
    count,
    exactly,
    lower,
    nearest,
    percent,
    power_below,
    power_rounded,
    power_text,
    small,
    stated,
    upper,
)
from dpaudit.results.model import (
    Alignment,
    Audit,
    Bounds,
    EventRecord,
    EvidenceKind,
    ExactEvidence,
    FloatingPoint,
    PairRecord,
    Proof,
    Result,
    SampledEvidence,
    SequentialEvidence,
    UtilityAudit,
    Verdict,
)
from dpaudit.results.plain import flat
from dpaudit.results.reasons import aligned_cost

ROUNDS = "its program's numbers are rounded to doubles"
NOT_A_PROOF = "not a proof"
PROOFS = {
    EvidenceKind.EXHAUSTIVE: "PASS · proved",
    EvidenceKind.ALIGNMENT: "PASS · proved for every dataset",
}
"""What is said of a PASS by evidence that is a proof: on a finite domain, or for every dataset of a scope."""
VULNERABLE = "floating-point vulnerability"
_LEARNED = {
    "atoms": "learned as a set of outcomes",
    "half-line": "learned as a threshold event",
    "bins": "learned as a union of intervals",
    "logistic": "learned by logistic regression",
    "boosting": "learned by boosted trees",
    "density": "learned from the mechanism's own density",
    "bits": "learned from the bit patterns of floating-point outputs",
}
_SEEDS_SHOWN = 6


def full_name(audit: Audit | UtilityAudit) -> str:
    """Name and case on one line, e.g. "RecPrefix · group of 2"."""
    return flat(f"{audit.name} · {audit.case}" if audit.case else audit.name)


def scope_line(audit: Audit) -> str | None:
    """The finite domain that was enumerated, its reduction by symmetries, the use of the cache; None without one."""
    proof = audit.proof
    if not audit.scope or proof is None:
        return audit.scope
    text = audit.scope
    if proof.symmetries and proof.laws is not None:
        *others, last = proof.symmetries
        names = f"{', '.join(others)} and {last}" if others else last
        on = "1 dataset" if proof.confirmed == 1 else f"{count(proof.confirmed)} datasets"
        text += (
            f", up to {names} (declared, and confirmed on {on}): {count(proof.laws)} of {count(proof.datasets)} output "
            "distributions computed"
        )
    return f"{text}; {proof.cache}" if proof.cache else text


def recorded(audit: Audit) -> bool:
    """Whether it is of recorded outputs."""
    return audit.pair is not None and audit.pair.source == "recorded"


def verdict_phrase(audit: Audit) -> str:
    """FAIL, one of the proofs, "PASS · not refuted", INCONCLUSIVE, or BOUND where no claim was stated.

    A proof is an audit of all pairs of a finite domain, or an alignment of the noise for every dataset of a scope.
    Exact results on some pairs say nothing about the others.
    """
    if audit.verdict is Verdict.PASS:
        return PROOFS.get(audit.evidence, "PASS · not refuted")
    return "BOUND" if audit.reason_code == "no_claim" else audit.verdict.value.upper()


def is_proved(audit: Audit | UtilityAudit) -> bool:
    """Whether its claim is proved, on a finite domain or for every dataset of a scope."""
    return isinstance(audit, Audit) and audit.verdict is Verdict.PASS and audit.evidence in PROOFS


def aligned(alignment: Alignment) -> str:
    """What a proof by an alignment costs: "ε = 1"."""
    rho, mu = float(Fraction(alignment.rho)), math.sqrt(Fraction(alignment.mu_squared))
    return aligned_cost(float(Fraction(alignment.epsilon)), mu, rho)


def two_sides(audit: Audit) -> str | None:
    """The interval of ε from samples and a proof; None where either is missing, or Gaussian noise has no ε."""
    bound = certified_epsilon(audit)
    if audit.alignment is None or bound is None or not is_proved(audit) or audit.claim.delta or audit.curve is not None:
        return None
    most = exactly(float(Fraction(audit.alignment.epsilon)), audit.claim.epsilon)
    return f"ε ∈ [{bound}, {most}], the lower end with {percent(audit.confidence)} confidence"


def claimed(audit: Audit) -> str:
    """The claim's two numbers, e.g. "(1.0, 1e-06)"; of a curve its name, e.g. "0.5-GDP"."""
    if audit.curve is not None:
        return audit.curve.label
    return f"({stated(audit.claim.epsilon)}, {small(audit.claim.delta)})"


def has_exact(audit: Audit) -> bool:
    """Whether any output distribution was computed exactly."""
    return audit.epsilon_exact is not None or audit.delta_exact is not None


def exact_is_infinite(audit: Audit) -> bool:
    """Whether the exact ε at the claimed δ is infinite."""
    return audit.epsilon_exact is None and audit.delta_exact is not None


def exact_epsilon(audit: Audit) -> str | None:
    """The exact ε, "∞" if no finite ε holds at the claimed δ, None if nothing was computed exactly."""
    if audit.epsilon_exact is not None:
        worst = next((e for e in audit.exact if e.epsilon == audit.epsilon_exact), None)
        return exactly(audit.epsilon_exact, audit.claim.epsilon) if worst is None else evidence_epsilon(worst, audit)
    return "∞" if exact_is_infinite(audit) else None


def enclosed(audit: Audit) -> str:
    """The exact ε after "ε": the interval "∈ [4.9115027, 4.9115028]" that it lies in, or "= 4.911503".

    The ends are rounded outward. An ε that is infinite or 0 has no interval.
    """
    certain: Proof | Bounds | None = audit.proof
    if certain is None:
        certain = next((one.bounds for one in audit.exact if one.epsilon == audit.epsilon_exact), None)
    if certain is None or not certain.epsilon_low or certain.epsilon_high is None:
        return f"= {exact_epsilon(audit)}"
    low = lower(certain.epsilon_low, audit.claim.epsilon, digits=8)
    high = upper(certain.epsilon_high, audit.claim.epsilon, digits=8)
    return f"∈ [{low}, {high}] (of rounded numbers)" if certain.rounded else f"∈ [{low}, {high}]"


def evidence_epsilon(evidence: ExactEvidence, audit: Audit) -> str:
    """The exact ε of a pair: "∞", seven digits, or "1.597533 to 1.597549" if its bounds are further apart."""
    epsilon, bounds = evidence.epsilon, evidence.bounds
    if epsilon is None:
        return "∞"
    if bounds is not None and bounds.epsilon_low is not None and bounds.epsilon_high is not None:
        ends = lower(bounds.epsilon_low, digits=7), upper(bounds.epsilon_high, digits=7)
        # the enclosure of an exact 0 has a positive width
        if bounds.epsilon_high - bounds.epsilon_low > max(1e-8 * bounds.epsilon_high, 1e-15):
            return f"{ends[0]} to {ends[1]}"
    return exactly(epsilon, audit.claim.epsilon)


def certified_epsilon(audit: Audit) -> str | None:
    """The lower confidence bound on ε, rounded down; None without one."""
    return None if audit.epsilon_lower is None else lower(audit.epsilon_lower, audit.claim.epsilon)


def certified_sentence(audit: Audit, *, short: bool = False) -> str | None:
    """E.g. "ε ≥ 1.37 at δ = 1e-06 with 99.9 % confidence (claim 1.0)"; in `short` the error has one digit."""
    bound = certified_epsilon(audit)
    if bound is None:
        return None
    if (of_curve := curve_bound(audit)) is not None and short:
        return f"{of_curve} with {percent(audit.confidence, digits=1)} confidence (claim {stated_curve(audit)})"
    more = "" if of_curve is None else f"{of_curve} (claim {stated_curve(audit)}); "
    # the e-process refuted the claimed ε itself and nothing above it
    at_claim = audit.verdict is Verdict.FAIL and audit.epsilon_lower == audit.claim.epsilon > 0
    return more + (
        f"ε {'>' if at_claim else '≥'} {bound} at δ = {small(audit.claim.delta)} with "
        f"{percent(audit.confidence, digits=1 if short else 2)} confidence (claim {stated(audit.claim.epsilon)})"
    )


def curve_bound(audit: Audit) -> str | None:
    """The lower confidence bound on the parameter of a curve, e.g. "μ ≥ 0.47"; None without one."""
    curve = audit.curve
    if curve is None or curve.lower is None:
        return None
    return f"{curve.parameter} ≥ {lower(curve.lower, curve.claimed)}"


def stated_curve(audit: Audit) -> str:
    """The claimed value of what `curve_bound` bounds."""
    return "" if audit.curve is None else stated(audit.curve.claimed)


def curve_exact(audit: Audit) -> str | None:
    """The exact parameter of the worst pair, e.g. "exact μ = 0.5"; None where it is not known."""
    curve = audit.curve
    if curve is None or curve.exact is None:
        return None
    return f"exact {curve.parameter} = {exactly(curve.exact, curve.claimed)}"


def exact_sentence(audit: Audit, *, short: bool = False) -> str | None:
    """E.g. "exact ε = 1.39 at δ = 0 (claim 1.0); exact δ = 0.21 at ε = 1.0 (claim 0)", or in `short` its beginning."""
    epsilon, claim = exact_epsilon(audit), audit.claim
    if epsilon is None:
        return None
    if (of_curve := curve_exact(audit)) is not None and short:
        return f"{of_curve} (claim {stated_curve(audit)})"
    text = f"exact ε = {epsilon} at δ = {small(claim.delta)} (claim {stated(claim.epsilon)})"
    if audit.delta_exact is not None and not short:
        delta = nearest(audit.delta_exact, claim.delta)
        text += f"; exact δ = {delta} at ε = {stated(claim.epsilon)} (claim {small(claim.delta)})"
    return f"{text}; {ROUNDS}" if rounds(audit) else text


def rounds(audit: Audit) -> bool:
    """Whether the program of the exact numbers rounds some of its numbers to doubles."""
    bounds: list[Proof | Bounds | None] = [audit.proof, *(one.bounds for one in audit.exact)]
    return any(one is not None and one.rounded for one in bounds)


def gap_sentence(audit: Audit) -> str | None:
    """The gap between a proved claim and the exact values, e.g. "gap to the claim: 0.0123 in ε, 1e-06 in δ"."""
    parts = []
    if audit.epsilon_exact is not None:
        parts.append(f"{lower(max(audit.claim.epsilon - audit.epsilon_exact, 0.0))} in ε")
    if audit.delta_exact is not None:
        parts.append(f"{lower(max(audit.claim.delta - audit.delta_exact, 0.0))} in δ")
    return f"gap to the claim: {', '.join(parts)}" if parts else None


def clopper_pearson_sentence(audit: Audit) -> str | None:
    """E.g. "Clopper–Pearson alone: ε ≥ 1.35"; None without counts.

    A reader who trusts only this bound must see at once if it does not refute the claim by itself.
    """
    bound, claim = audit.epsilon_lower_clopper_pearson, audit.claim.epsilon
    by_runs = refuted_by_runs(audit)
    if bound is None:
        return "Clopper–Pearson alone: no bound, as no event was counted on fresh samples" if by_runs else None
    text = f"Clopper–Pearson alone: ε ≥ {lower(bound, claim)}"
    return f"{text}, which does not refute the claim by itself" if by_runs and bound <= claim else text


def refuted_by_runs(audit: Audit) -> bool:
    """Whether the verdict is FAIL and rests on samples."""
    return audit.verdict is Verdict.FAIL and audit.evidence is EvidenceKind.SAMPLED


def refuted_by_bits(audit: Audit) -> bool:
    """Whether the verdict is FAIL and rests on the bit patterns of floating-point outputs."""
    evidence = deciding(audit) if refuted_by_runs(audit) else None
    return evidence is not None and evidence.family == "bits"


def evidence_sentence(audit: Audit) -> str | None:
    """The e-value, e.g. "2,500 against the claim; refuted after 1,800 samples per dataset"; None without one."""
    evidence = audit.sequential
    if evidence is None:
        return None
    text, comma = f"{e_value(audit)} against the claim", ""
    if len(evidence.seeds) > 1:
        text += f", {power_below(_log10(evidence.prior))} of it from earlier results ({_results(audit, evidence)})"
        comma = ","
    if evidence.refuted_at is None:
        return f"{text}{comma} after {count(evidence.runs)} samples per dataset; {threshold(audit)} refutes"
    fell = evidence.log_e < math.log(1 / evidence.alpha) <= evidence.log_peak
    once = f" at {power_below(_log10(evidence.log_peak))}" if fell else ""
    return f"{text}; refuted{once} after {count(evidence.refuted_at)} samples per dataset"


def e_value(audit: Audit) -> str:
    """The last value of the e-process, rounded down: "5.1 × 10¹⁶"; "" without one."""
    evidence = audit.sequential
    return "" if evidence is None else power_below(_log10(evidence.log_e), _shown_threshold(evidence))


def threshold(audit: Audit) -> str:
    """The value at which the e-process refutes, "2,230"; "" without one."""
    evidence = audit.sequential
    return "" if evidence is None else power_text(_shown_threshold(evidence))


def _shown_threshold(evidence: SequentialEvidence) -> Decimal:
    """It, rounded away from the e-value, so that their order stays visible."""
    return power_rounded(-math.log10(evidence.alpha), up=evidence.refuted_at is None)


def _results(audit: Audit, evidence: SequentialEvidence) -> str:
    """Which results an e-value combines; recorded outputs have hashes in the place of seeds, which a note names."""
    return f"{len(evidence.seeds)} in all" if recorded(audit) else _seeds(evidence.seeds)


def _seeds(seeds: Sequence[int]) -> str:
    """The seeds of all results that an e-value combines, this one included."""
    shown = ", ".join(map(str, seeds[:_SEEDS_SHOWN]))
    return f"seeds in all: {shown}{f' and {len(seeds) - _SEEDS_SHOWN} more' if len(seeds) > _SEEDS_SHOWN else ''}"


def _log10(natural: float) -> float:
    return natural / math.log(10)


def leaks(audit: Audit) -> bool:
    """Whether the bit patterns of its doubles refute the claim."""
    return audit.floating_point is not None and audit.floating_point.leaks


def leaks_beside(audit: Audit) -> bool:
    """Whether they do although the verdict is not FAIL: a reader of PASS must see this too."""
    return leaks(audit) and audit.verdict is not Verdict.FAIL


def floating_point_sentence(audit: Audit) -> str | None:
    """What the low-order bits of floating-point outputs revealed; None if they were not tested."""
    bits = audit.floating_point
    if bits is None:
        return None
    if not bits.leaks:
        text = f"no vulnerability found in the low-order bits, {count(bits.runs)} samples per dataset"
        return f"{text}; they count in the verdict" if bits.counted else text
    shown = f", for example by the event “{bits.event.description}”" if bits.event is not None else ""
    return (
        f"the low-order bits of its outputs distinguish D from D′{shown} ({count(bits.runs)} samples per dataset); "
        f"{_counted(bits)}. Use discrete noise or snapping"
    )


def floating_point_lines(audit: Audit) -> tuple[str, str]:
    """What a floating-point vulnerability means, and the remedy in code."""
    counted = audit.floating_point is not None and audit.floating_point.counted
    return (
        f"The output's last digits reveal more than is claimed{'' if counted else ' (not counted)'}.",
        "Fix: round to a whole number k and add discrete Laplace noise, k + rng.geometric(p) - rng.geometric(p) with "
        "p = 1 - exp(-epsilon / sensitivity of k); or use snapping.",
    )


def _counted(bits: FloatingPoint) -> str:
    return "this counts in the verdict" if bits.counted else "with the option bits this counts in the verdict"


def leaking(audits: Sequence[Audit]) -> str | None:
    """The audits with a floating-point vulnerability whose verdict is not FAIL; None without any."""
    names = list(dict.fromkeys(full_name(a) for a in audits if leaks_beside(a)))
    return f"floating-point vulnerability, not counted: {', '.join(names)}" if names else None


def certify_sentence(result: Result) -> str | None:
    """How to get a larger bound, where an audit stopped as soon as its claim was refuted; None otherwise."""
    stopped = any(
        refuted_by_runs(audit) and audit.sequential is not None and audit.sequential.refuted_at is not None
        # of recorded outputs all are used
        and not recorded(audit)
        for audit in result.audits
    )
    if not stopped or "certify" in result.command:
        return None
    option = CERTIFY.called("command line" if result.command.startswith("dpaudit ") else "Python")
    return f"Stopped once refuted; {option} uses all samples, for a sharper bound on ε."


def headline(audit: Audit) -> str:
    """The sentence that goes with the verdict."""
    text = _headline(audit)
    return f"{text}; {VULNERABLE}" if leaks_beside(audit) else text


def _headline(audit: Audit) -> str:
    sampled, exact = certified_sentence(audit), exact_sentence(audit)
    if audit.crashed:
        return "the mechanism crashed; " + (sampled or exact or "no lower bound on ε")
    if audit.verdict is Verdict.FAIL:
        return (exact if audit.evidence is not EvidenceKind.SAMPLED else sampled) or sampled or exact or ""
    if audit.verdict is Verdict.INCONCLUSIVE:
        return sampled or exact or "no lower bound on ε"
    if audit.evidence is EvidenceKind.ALIGNMENT and audit.alignment is not None:
        return f"{aligned(audit.alignment)} for {audit.alignment.scope}"
    if audit.evidence is EvidenceKind.EXHAUSTIVE:
        return "; ".join(part for part in (exact, gap_sentence(audit)) if part)
    if audit.evidence is EvidenceKind.EXACT:
        return f"{exact or 'exact'} on the pairs tried; {NOT_A_PROOF}"
    return f"{sampled or 'no lower bound on ε'}; {NOT_A_PROOF}"


def detectable_sentence(audit: Audit) -> str | None:
    """The smallest ε that the samples would have detected; None if nothing was sampled.

    It is of the events that were tried: one of probability 1e-6 is not seen in 1e5 samples, whatever its ε.
    """
    if audit.detectable_epsilon is not None:
        bound = upper(audit.detectable_epsilon, audit.claim.epsilon)
        # of a curve, one point was counted, which the claim beside the sentence does not show
        at = f" at δ = {audit.claim.delta:.3g}" if audit.curve is not None else ""
        return (
            f"a violation of ε ≥ {bound}{at} by an event as likely as those tried would have been detected with "
            "probability 0.9, by a rarer one perhaps not"
        )
    if audit.sampled:
        return "no violation would have been detected with probability 0.9 (too few samples)"
    return None


def expectation(audit: Audit | UtilityAudit) -> str | None:
    """ "as expected" or "NOT as expected (expected PASS)"; None if the catalogue expects no verdict."""
    if audit.as_expected is None:
        return None
    return "as expected" if audit.as_expected else f"NOT as expected (expected {str(audit.expected).upper()})"


def replay_command(audit: Audit | UtilityAudit) -> str:
    """The command that repeats this audit."""
    return f"dpaudit replay {audit.replay}"


def assumed(audit: Audit) -> str | None:
    """What the bounds on recorded outputs assume, in short; None for other audits, and where there are none."""
    if not recorded(audit) or not any(record.holds is None for record in audit.assumptions):
        return None
    return "independent outputs and neighbouring datasets, which cannot be checked on a recording"


def again(result: Result, audit: Audit | UtilityAudit) -> str:
    """The command that repeats one audit of a result; for a result made in Python, the call, as nothing is stored."""
    return replay_command(audit) if result.command.startswith("dpaudit ") else result.command


def deciding(audit: Audit) -> SampledEvidence | None:
    """The sampled evidence behind the reported pair and event, else the strongest there is."""
    same = [e for e in audit.sampled if e.pair == audit.pair and e.event == audit.event]
    return max(same or audit.sampled, key=lambda e: e.epsilon_lower, default=None)


def counts(evidence: SampledEvidence) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
    """(dataset, samples in the event, samples) for D, then for D′."""
    numerator, denominator = (evidence.x, evidence.n), (evidence.y, evidence.m)
    left, right = (numerator, denominator) if more_likely_dataset(evidence) == "D" else (denominator, numerator)
    return ("D", *left), ("D′", *right)


def more_likely_dataset(evidence: SampledEvidence | ExactEvidence) -> str:
    """The dataset under which the event is more likely, "D" or "D′"."""
    return "D" if evidence.direction.startswith("left/") else "D′"


def reported_exact(audit: Audit) -> ExactEvidence | None:
    """The exact evidence behind the reported pair and event; None if it was sampled."""
    return next((e for e in audit.exact if e.pair == audit.pair and e.event == audit.event), None)


def more_likely_under(audit: Audit) -> str | None:
    """The dataset under which the reported event is more likely, "D" or "D′"; None without evidence."""
    evidence = reported_exact(audit) or deciding(audit)
    return None if evidence is None else more_likely_dataset(evidence)


def event_phrase(event: EventRecord | None, dataset: str | None, evidence: SampledEvidence | None = None) -> str:
    """An event, the dataset under which it is more likely, and how it was learned if `evidence` is about this event."""
    if event is None:
        return "none in closed form"
    text = f"{event.description}, more likely under {dataset}" if dataset else event.description
    if evidence is None or evidence.event != event or not (how := learned(evidence)):
        return text
    return f"{text}; {how}"


def learned(evidence: SampledEvidence) -> str:
    """How an event was learned, e.g. "learned as a threshold event"; "" where the result does not say (format 1.0)."""
    return _LEARNED.get(evidence.family, f"learned by {evidence.family}" if evidence.family else "")


def probabilities_sentence(evidence: ExactEvidence) -> str:
    """E.g. "probability 0.5 under D, 0.0677 under D′"."""
    if evidence.p is None or evidence.q is None:
        return ""
    probabilities = (evidence.p, evidence.q) if more_likely_dataset(evidence) == "D" else (evidence.q, evidence.p)
    return f"probability {small(probabilities[0])} under D, {small(probabilities[1])} under D′"


def counts_sentence(evidence: SampledEvidence) -> str:
    """E.g. "5,321 of 1,000,000 samples of D, 12 of 1,000,000 of D′"."""
    first, second = counts(evidence)
    return f"{count(first[1])} of {count(first[2])} samples of D, {count(second[1])} of {count(second[2])} of D′"


def pair_name(pair: PairRecord) -> str:
    """E.g. "one heavy query (random, distance 1)"."""
    if pair.source == "recorded":
        return pair.label
    source = "" if pair.source == pair.label else f"{pair.source}, "
    return f"{pair.label} ({source}distance {pair.distance})"


def tally(audits: Sequence[Audit]) -> str:
    """All verdicts of a result, worst first: "2 FAIL, 1 INCONCLUSIVE, 40 PASS · proved"."""
    phrases = Counter(verdict_phrase(audit) for audit in audits)
    order = ("FAIL", "INCONCLUSIVE", *PROOFS.values(), "PASS · not refuted")
    return ", ".join(f"{phrases[phrase]} {phrase}" for phrase in order if phrases[phrase])


def total(audits: Sequence[Audit]) -> str:
    """The title of a report: "RecPrefix: PASS, not refuted", or the tally of several audits, with their one name."""
    if not audits:
        return "No audits"
    if len(audits) == 1:
        leak = f"; {VULNERABLE}" if leaks_beside(audits[0]) else ""
        return f"{audits[0].name}: {verdict_phrase(audits[0]).replace(' · ', ', ')}{leak}"
    names = {audit.name for audit in audits}
    if len(names) == 1:
        return f"{names.pop()}: {tally(audits)}"
    return f"{len(audits)} audits: {tally(audits)}"


def title(result: Result) -> str:
    """The title of a report: what was audited, with the tally of privacy and that of utility."""
    guarantees = result.utility
    if result.comparison is not None:
        return (
            f"{result.comparison.title}: {len({row.algorithm for row in result.comparison.rows})} algorithms compared"
        )
    if not guarantees:
        return total(result.audits)
    names = {audit.name for audit in guarantees}
    summary = utility.tally(guarantees)
    if len(guarantees) == 1:
        summary = utility.verdict_phrase(guarantees[0]).replace(" · ", ", ")
    if result.audits:
        return f"{total(result.audits)}; utility {summary}"
    what = f"{names.pop()}: utility" if len(names) == 1 else f"{len(guarantees)} utility guarantees:"
    return f"{what} {summary}"


def subject(result: Result) -> str:
    """What several audits are about: the name of their algorithm, how many there are, or the title of a comparison."""
    names = {audit.name for audit in result.every}
    if result.comparison is not None:
        return title(result)
    return names.pop() if len(names) == 1 else f"{count(len(result.every))} audits of {len(names)} algorithms"


def conclusion(result: Result) -> list[str]:
    """What several audits show, a sentence each for privacy and for utility."""
    privacy = [f"Privacy: {_privacy(result.audits)}."] if result.audits else []
    return [*privacy, f"Utility: {_utility(result.utility)}."] if result.utility else privacy


def _privacy(audits: Sequence[Audit]) -> str:
    fails = [audit for audit in audits if audit.verdict is Verdict.FAIL]
    open_ = sum(audit.verdict is Verdict.INCONCLUSIVE for audit in audits)
    kept = len(audits) - len(fails) - open_
    found = []
    for kind, where in ((EvidenceKind.EXHAUSTIVE, "on a finite domain"), (EvidenceKind.ALIGNMENT, "for every dataset")):
        proofs = sum(is_proved(audit) and audit.evidence is kind for audit in audits)
        found += [f"{proofs} {'proves' if proofs == 1 else 'prove'} the claim {where}"] if proofs else []
    proved = f" ({', '.join(found)})" if found else ""
    undecided = f"; {open_} inconclusive" if open_ else ""
    if not fails:
        return f"no violation found in {_audits(kept)}{proved}{undecided}" if kept else f"{_audits(open_)} inconclusive"
    rest = f"; no violation found in {kept}{proved}" if kept else ""
    verb = "finds" if len(fails) == 1 else "find"
    return f"{len(fails)} of {_audits(len(audits))} {verb} a violation{_foreseen(fails)}{rest}{undecided}"


def _utility(audits: Sequence[UtilityAudit]) -> str:
    fails = [audit for audit in audits if audit.verdict is Verdict.FAIL]
    open_ = sum(audit.verdict is Verdict.INCONCLUSIVE for audit in audits)
    kept = len(audits) - len(fails) - open_
    undecided = f"; {open_} inconclusive" if open_ else ""
    if not kept and not fails:
        return f"{open_} inconclusive"
    verb = "fails" if len(fails) == 1 else "fail"
    failed = f"{len(fails)} of {count(len(audits))} guarantees {verb}{_foreseen(fails)}"
    verb = "holds" if kept == 1 else "hold"
    if not fails:
        return f"{kept} {'guarantee' if kept == 1 else 'guarantees'} {verb} on the inputs tried{undecided}"
    return f"{failed}{f'; {kept} {verb} on the inputs tried' if kept else ''}{undecided}"


def _audits(number: int) -> str:
    return "1 audit" if number == 1 else f"{count(number)} audits"


def _foreseen(fails: Sequence[Audit | UtilityAudit]) -> str:
    return ", as expected" if all(audit.as_expected for audit in fails) else ""


def expected_total(audits: Sequence[Audit | UtilityAudit]) -> str | None:
    """How many verdicts are as the catalogue expects; None if it expects none."""
    asked = [audit for audit in audits if audit.as_expected is not None]
    wrong = sum(audit.as_expected is False for audit in asked)
    if not asked:
        return None
    if len(audits) == 1:
        return expectation(audits[0])
    if wrong:
        return f"{wrong} of {len(asked)} NOT as expected"
    return f"all {len(asked)} as expected"


def error_sentence(result: Result) -> str:
    """Seed and family-wise error, or that nothing was sampled."""
    every = result.every
    if every and not result.interrupted and not any(audit.runs or audit.crashed for audit in every):
        if any(audit.verdict is Verdict.INCONCLUSIVE for audit in every):
            return f"seed {result.seed}: nothing was sampled"
        return "exact: nothing was sampled"
    over = "this audit" if len(every) == 1 else "all audits"
    return f"seed {result.seed}, family-wise error {small(result.alpha)} over {over}"

