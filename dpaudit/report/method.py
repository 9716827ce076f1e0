"""How a verdict was made and what it assumes, in sentences that fit the audit at hand."""

from __future__ import annotations

import math

from dpaudit.report import wording
from dpaudit.report.chains import estimated
from dpaudit.report.numbers import count, error, small
from dpaudit.results.model import Audit, Chain, EvidenceKind, FloatingPoint, SequentialEvidence, Verdict


def method(audit: Audit, alpha: float) -> list[str]:
    """Paragraphs; `alpha` is the family-wise error over all audits of the result."""
    paragraphs = []
    if audit.sequential is not None:
        paragraphs = [_betting(audit.sequential), _counting(audit)]
        if audit.floating_point is not None:
            paragraphs.append(_bit_patterns(audit.floating_point))
        paragraphs.append(_errors(audit, audit.sequential, alpha))
    if any(not evidence.by_density for evidence in audit.exact):
        paragraphs.append(_enumeration(audit))
    if any(evidence.by_density for evidence in audit.exact):
        paragraphs.append(_densities(audit))
    if audit.chain is not None:
        paragraphs.append(_walking(audit.chain))
    return [*paragraphs, _meaning(audit)]


def _betting(evidence: SequentialEvidence) -> str:
    text = (
        "The runs came in batches on both datasets of every pair. The claim says p ≤ e^ε q + δ for the probabilities "
        "p and q of an event on the two datasets. The pairs were chosen before the first bet. The first batch of a "
        "pair was learned from; on every other one the audit bet on the event and the direction that all earlier "
        "batches had taught, and only then learned from it. The winnings, averaged over the pairs, are an "
        "e-process (each bet is a likelihood ratio against its reverse information projection on the claim): if the "
        f"claim holds, it ever reaches 1/α′ with probability at most α′ = {small(evidence.alpha)}, by Ville's "
        "inequality, so it may be looked at after every batch. It refutes when it has reached 1/α′ at the claimed ε "
        "and at every smaller ε of a grid, so the same α′ covers its bound on ε. Betting stopped as soon as the claim "
        "was refuted, unless the option certify was set."
    )
    if len(evidence.seeds) > 1:
        text += (
            f" The e-process was multiplied by the e-value 10^{evidence.carried / math.log(10):.2f} of earlier "
            "results: e-values of independent runs multiply. This takes for granted that the earlier results were "
            "not picked for what they showed."
        )
    return text


def _counting(audit: Audit) -> str:
    if not audit.sampled:
        return "No event was certified: no count on fresh runs came to its end."
    trained = max(evidence.runs_trained for evidence in audit.sampled)
    return (
        f"The event learned from {count(trained)} runs a side was then frozen and counted on fresh runs of both "
        "datasets, which the e-process went on betting on; once the claim was refuted, on the strongest pair only, or "
        "on a smaller one found from it, on which nothing is bet. The exact unconditional score test gives a bound on "
        "ε by inversion; the Clopper–Pearson bound, which needs more runs, is shown beside it. Without certify the "
        "counts are weighed at looks of doubling size, and counting ends at the first look whose Clopper–Pearson "
        "bound exceeds the claim; every look has an error of its own, so that stopping there is paid for. With "
        "certify there is one look, at the end. The certified ε is the largest of these bounds and of the "
        "e-process' own; they hold together."
    )


def _bit_patterns(found: FloatingPoint) -> str:
    looked = (
        "The bit patterns of the doubles among the outputs were bet on too, in the same way and on the same runs "
        f"({count(found.runs)} a side), each pair by an e-process of its own"
    )
    if found.counted:
        return f"{looked}. These are members of the average above, and so count in the verdict."
    return (
        f"{looked}. They have {small(found.alpha)} of the error for themselves and do not count in the verdict: what "
        "the low bits give away is a fault of the arithmetic, and may be mended without touching the mechanism."
    )


def _errors(audit: Audit, evidence: SequentialEvidence, alpha: float) -> str:
    found = audit.floating_point
    apart = f", the bit patterns have {small(found.alpha)}" if found is not None and not found.counted else ""
    nights = len(evidence.seeds)
    counts = (
        "the counts share the rest, but for a hundredth that is left for later nights, over pairs and looks"
        if nights == 1
        else f"the counts share a {count(100 * nights * (nights - 1))}th of what they would have alone, so that they "
        "may be made on any number of nights, over pairs and looks"
    )
    return (
        "Confidence is family-wise: the probability that any claim of this report is refuted by runs though it "
        f"holds, or that any certified ε is above the true one, is at most {small(alpha)}"
        f"{', over all nights whose evidence is carried over' if nights > 1 else ''}. The audits share it by "
        f"their numbers of pairs. Within this one the e-process has {small(evidence.alpha)}{apart}, and {counts}; "
        "pairs, events, directions, looks and stopping are all paid for. It "
        "assumes that runs are independent: the mechanism keeps nothing from one run to the next, and its randomness "
        "is as good as claimed."
    )


def _walking(chain: Chain) -> str:
    by = "estimates from runs of their own" if estimated(chain) else "the exact ε of their ends"
    return (
        f"The pair was found by walking chains of neighbours, of which {count(chain.walked)} were looked at. From "
        "pairs of neighbours, chains were made longer at both ends by changes like those that they had, and by others; "
        f"the best few of every length were kept by {by}. If every link keeps (ε, δ), then by going from link to link "
        "the ends keep (kε, δ·(1 + e^ε + … + e^{(k−1)ε})), which is no more than the k·e^{kε}·δ of Theorem 3.7 of "
        "Stemmer's thesis. Ends that exceed that refute the claim for neighbours; ends that exceed no more than what "
        "is claimed of groups do not."
    )


def _enumeration(audit: Audit) -> str:
    pairs = _pairs(sum(not evidence.by_density for evidence in audit.exact))
    scope = wording.scope_line(audit)
    where = f" Scope: {scope}." if scope else ""
    if audit.proof is not None and audit.proof.symmetries:
        where += (
            " A symmetry says that if records are exchanged, the law of the output is the same but for an exchange of "
            "outputs. The mechanism declares it and owes the proof; here it was confirmed on some datasets in "
            "interval arithmetic, and then used on all."
        )
    bounds = [one.bounds for one in audit.exact if one.bounds is not None and not one.by_density]
    certain = all(one.certain for one in bounds)
    balls = f", in interval arithmetic: {'for certain' if certain else _OF_ROUNDED}, {_WITHIN}" if bounds else ""
    return (
        f"The law of the output was enumerated on both datasets of {pairs}, and δ(ε), the hockey-stick "
        f"divergence, computed from it in both directions{balls}. No sampling error enters.{where}"
    )


def _densities(audit: Audit) -> str:
    pairs = _pairs(sum(evidence.by_density for evidence in audit.exact))
    return (
        f"On {pairs} the text was run with objects in place of its draws that can be handed on, added and multiplied "
        "by numbers and nothing else, then with numbers: all of its noise is released, and its scales do not depend "
        "on it. So the privacy loss is the sum of those of independent draws, whose laws are known. Its δ(ε) was "
        "enclosed in interval arithmetic, by closed forms or between two grids, for real-valued noise; both directions "
        "have the same. No sampling error enters. A text that tells objects from numbers by their type could deceive "
        "this."
    )


_WITHIN = "the numbers lie within the bounds that are given"
_OF_ROUNDED = "of the program with its numbers as they are rounded to doubles"


def _pairs(number: int) -> str:
    return "one pair" if number == 1 else f"{count(number)} pairs"


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
