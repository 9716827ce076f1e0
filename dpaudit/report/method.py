"""The method and the assumptions of an audit, in sentences."""

from __future__ import annotations

import math

from dpaudit.report import wording
from dpaudit.report.chains import estimated
from dpaudit.report.numbers import count, error, power_below, small
from dpaudit.results.model import Audit, Chain, CurveRecord, EvidenceKind, FloatingPoint, SequentialEvidence, Verdict


def method(audit: Audit, alpha: float) -> list[str]:
    """Paragraphs; `alpha` is the family-wise error over all audits of the result."""
    paragraphs = []
    if wording.recorded(audit):
        paragraphs.append(_recorded(audit))
    if audit.sequential is not None:
        paragraphs += [_sequential(audit.sequential, curve=audit.curve), _counting(audit)]
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


def _recorded(audit: Audit) -> str:
    trusted = " ".join(record.text for record in audit.assumptions if record.holds is None)
    return (
        "The samples are recorded outputs: nothing was run for this audit. Each output is used once, in an order that "
        "does not depend on the outputs; all that follows about samples is about them, and a batch has as large a "
        f"share of the outputs on D as of those on D′. {trusted}"
    ).rstrip()


def _sequential(evidence: SequentialEvidence, *, curve: CurveRecord | None = None) -> str:
    text = (
        "Both datasets of every pair were sampled in batches. The claim says p ≤ e^ε q + δ for the probabilities "
        "p and q of an event under D and D′. The pairs were chosen before the first test. The first batch of a pair "
        "is used for learning only. Every later batch first tests the events learned from the earlier batches, one for "
        "each direction, and is then used for learning too. A test multiplies, over the samples of the batch, factors "
        "whose product has expectation at most 1 if the claim holds. The product over a pair's batches, averaged over "
        "strategies and pairs, is an e-process: if the claim holds, it ever reaches 1/α′ with probability at most α′ "
        f"= {small(evidence.alpha)}, by Ville's inequality. It can therefore be checked after every batch. "
        f"{_level(curve)} "
        "Sampling for the e-process stops when the claim is refuted, unless the option certify is set."
    )
    if len(evidence.seeds) > 1:
        text += (
            f" The e-process was multiplied by the e-value {power_below(evidence.prior / math.log(10))} of earlier "
            "results: e-values of independent samples multiply. This assumes that the earlier results were not "
            "selected by their outcome."
        )
    return text


def _level(curve: CurveRecord | None) -> str:
    if curve is None:
        return (
            "The claim is refuted when the e-process has reached 1/α′ at the claimed ε and at every smaller ε of a "
            "grid, so the same α′ covers its bound on ε."
        )
    return (
        f"The claim is a curve, {curve.label}, from which {count(curve.points)} (ε, δ) were taken. Each of them "
        "follows from the claim. Every batch tests the one at which the earlier batches show most, so that one α′ "
        "covers them all. The claim is refuted when the e-process has reached 1/α′."
    )


def _counting(audit: Audit) -> str:
    if not audit.sampled:
        return "No event was counted on fresh samples, so there is no Clopper–Pearson bound."
    trained = max(evidence.runs_trained for evidence in audit.sampled)
    return (
        f"The event learned from {count(trained)} samples per dataset was then frozen and counted on fresh samples of "
        "both datasets, which the e-process uses too. After a refutation only the strongest pair is counted, or a "
        "minimised pair, which the e-process does not use. Inverting the exact unconditional score test gives a lower "
        "confidence bound on ε; the Clopper–Pearson bound, which needs more samples, is shown beside it. Without "
        "certify the event of a refuted claim is counted in half as many samples as its refutation took. Of another "
        "claim there are interim analyses after doubling numbers of samples, and counting ends at the first one at "
        "which the claim is refuted, by its Clopper–Pearson bound or by the e-process. Each interim analysis has its "
        "own share of α, which covers the early stopping. With certify there is one analysis, at the end. The lower "
        "confidence bound on ε is the largest of these bounds and of the bound of the e-process; they hold "
        "simultaneously."
    )


def _bit_patterns(bits: FloatingPoint) -> str:
    tested = (
        "The bit patterns of floating-point outputs were tested in the same way and on the same samples "
        f"({count(bits.runs)} per dataset), with one e-process for each pair"
    )
    if bits.counted:
        return f"{tested}. These e-processes are part of the average above, so they count in the verdict."
    return (
        f"{tested}. They have their own share of the error, {small(bits.alpha)}, and do not count in the verdict: a "
        "floating-point vulnerability is a defect of the noise sampler. Discrete noise or snapping fixes it; the "
        "mechanism itself need not change."
    )


def _errors(audit: Audit, evidence: SequentialEvidence, alpha: float) -> str:
    bits = audit.floating_point
    apart = f", the bit patterns have {small(bits.alpha)}" if bits is not None and not bits.counted else ""
    sessions = len(evidence.seeds)
    counts = (
        "the counts share 99 % of the rest, over pairs and interim analyses; 1 % is left for later sessions"
        if sessions == 1
        else f"the counts share 1/{count(100 * sessions * (sessions - 1))} of their single-session share, over pairs "
        "and interim analyses, so that evidence can accumulate over any number of sessions"
    )
    return (
        "Confidence is family-wise: the probability that samples refute any true claim of this report, or that any "
        f"lower confidence bound exceeds the true ε, is at most {small(alpha)}"
        f"{', over all sessions that accumulate evidence' if sessions > 1 else ''}. The audits share it in proportion "
        f"to their numbers of pairs. Within this audit the e-process has {small(evidence.alpha)}{apart}, and {counts}. "
        "These shares cover the choice of pairs, events and directions, interim analyses, and early stopping. "
        "The samples are assumed to be independent: the mechanism keeps no state between runs, and its randomness is "
        "as good as claimed."
    )


def _walking(chain: Chain) -> str:
    by = "estimates from separate samples" if estimated(chain) else "the exact ε of their ends"
    return (
        f"The pair was found by a search over chains of neighbouring datasets; {count(chain.walked)} chains were "
        "examined. The search starts from neighbouring pairs and extends chains at both ends, by changes like those "
        f"already in the chain and by others. It keeps the best few of each length by {by}. If every link is "
        "(ε, δ)-DP, then the ends of a chain of k links are (kε, δ·(1 + e^ε + … + e^{(k−1)ε}))-DP, which is at most "
        "the k·e^{kε}·δ of Theorem 3.7 of Stemmer's thesis. Ends that exceed this bound refute the claim for "
        "neighbours. Ends that exceed only a claim about groups do not."
    )


def _enumeration(audit: Audit) -> str:
    pairs = _pairs(sum(not evidence.by_density for evidence in audit.exact))
    scope = wording.scope_line(audit)
    where = f" Finite domain: {scope}." if scope else ""
    if audit.proof is not None and audit.proof.symmetries:
        where += (
            " A symmetry says that a permutation of the records permutes the output distribution. "
            "The mechanism declares it, and its author has to prove it. Here it was confirmed on some datasets "
            "in interval arithmetic and then used on all."
        )
    bounds = [one.bounds for one in audit.exact if one.bounds is not None and not one.by_density]
    certain = all(one.certain for one in bounds)
    enclosures = f" in interval arithmetic: {_RIGOROUS if certain else _OF_ROUNDED}" if bounds else ""
    return (
        f"The output distributions on both datasets of {pairs} were computed exactly, and from them δ(ε), the "
        f"hockey-stick divergence, in both directions{enclosures}. There is no sampling error.{where}"
    )


def _densities(audit: Audit) -> str:
    pairs = _pairs(sum(evidence.by_density for evidence in audit.exact))
    return (
        f"On {pairs} the program was run with symbolic draws, which can only be returned, added, and multiplied by "
        "numbers, and then with numbers. This shows that the program releases all of its noise and that the scales do "
        "not depend on the noise. The privacy loss is therefore the sum of the privacy losses of independent draws "
        "with known distributions. Its δ(ε) was enclosed in interval arithmetic, by closed forms or between two "
        "grids, for "
        "real-valued noise; it is the same in both directions. There is no sampling error. A program that checks the "
        "types of its draws could deceive this test."
    )


_RIGOROUS = "the exact values lie within the given bounds"
_OF_ROUNDED = "the values of the program as rounded to doubles lie within the given bounds"


def _pairs(number: int) -> str:
    return "one pair" if number == 1 else f"{count(number)} pairs"


def _meaning(audit: Audit) -> str:
    phrase = wording.verdict_phrase(audit)
    if audit.crashed:
        return "The mechanism raised an error or broke a rule, so this audit could not be completed."
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
                f"{phrase} means that the samples could not decide: the claim is neither refuted nor supported."
            )
        case Verdict.PASS, EvidenceKind.EXHAUSTIVE:
            return (
                f"{phrase} means that the claim holds on every pair of neighbouring datasets of the finite domain. It "
                "says nothing about larger datasets, other domains or other parameters."
            )
        case Verdict.PASS, EvidenceKind.ALIGNMENT:
            assert audit.alignment is not None
            return (
                f"{phrase} means that the claim holds for {audit.alignment.scope}, under these assumptions: "
                f"{'; '.join(audit.alignment.assumptions)}. The samples, which are of the program as it runs, do not "
                "refute it."
            )
    detectable = wording.detectable_sentence(audit)
    power = f" Power: {detectable}." if detectable else ""
    return (
        f"{phrase} means that no violation was found on the pairs tried. This is {wording.NOT_A_PROOF}: the claim "
        f"can still be false on pairs, events or parameters that were not tried.{power}"
    )
