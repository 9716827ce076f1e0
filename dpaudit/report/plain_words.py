"""A refutation in one sentence that a reader can repeat to a colleague, and hints on where the mistake may be.

The probabilities are estimates (counts of fresh samples) or exact, as the verdict is. What is certified is the lower
bound on ε (`wording.certified_sentence`): the confidence in the sentence is that of the refutation.
"""

from __future__ import annotations

import math
import re

from dpaudit.report import wording
from dpaudit.report.numbers import apart, count, lower, nearest, percent, small, stated, ten_to
from dpaudit.results.model import Audit, EvidenceKind, ExactEvidence, Json, SampledEvidence, Verdict

__all__ = ["DETAILS", "bounds", "hints", "meaning", "names_event", "reason_adds", "sentence"]

DETAILS = frozenset({"minimized", "real_noise", "recorded_evidence"})
"""Kinds of notes on how a verdict was made, which change nothing for a reader of it."""
_SAID = frozenset({
    "exact_refutation", "finite_domain_refutation", "sampled_refutation", "curve_refutation", "proved",
    "proved_curve", "not_refuted", "exact_pairs_keep_claim", "worst_pair_keeps_claim", "worst_chain_keeps_claim",
})
"""Kinds of reasons that the sentence and the bound say already."""

LONGEST_EVENT = 60
"""An event with a longer description is named: its description stands in a line of its own."""
LARGEST_FACTOR = 10
"""No multiple of the claimed ε beyond this is taken for a mistake in a factor."""
MANY = 10.0
"""An output that the other dataset never gives is disclosed if it is this many times as likely as δ."""
CLOSE = 0.2
"""Distance of a factor from a whole number, beyond its standard error, up to which it is about that number; and the
largest standard error."""
FAR = 10.0
"""A record this many times as large as the largest other one may be an outlier that is not clipped."""
SMALL = 1e-4
"""Up to this δ, ε is taken to grow with the sensitivity."""
HUGE = 13.0
"""Above this ε, ratios are powers of e."""
_LARGEST = 700.0
"""The exponential of more is no float."""
_UNNAMED = "the event"
_OUTPUT_FAILS = re.compile(r"^output is (?=raises \w+$|took longer than |ends with )")
_FAILURE = re.compile(r"\braises \w+|\btook longer than [\d.]+ s|\bends with (?:exit code \d+|signal \w+)")
_THRESHOLD = re.compile(r"^output (?:>|≤) |< output ≤ ")
_EXACT_VALUE = re.compile(r"^output = (-?\d+\.\d+(?:e[-+]\d+)?|-?\d+e[-+]\d+)$")


def sentence(audit: Audit) -> str | None:
    """What refutes the claim, in plain words; None for another verdict, or where no single event shows it.

    E.g. "P[output > 0.93] is about 0.58 under D′ and 0.06 under D: about 9.3 times as likely, where ε = 1 allows 2.72
    times (99.9 % confidence)."
    """
    if audit.verdict is not Verdict.FAIL:
        return None
    if audit.evidence is EvidenceKind.SAMPLED:
        evidence = wording.deciding(audit)
        return None if evidence is None else _by_samples(audit, evidence)
    exact = wording.reported_exact(audit)
    return None if exact is None else _exactly(audit, exact)


def meaning(audit: Audit) -> str | None:
    """What a verdict means, in a sentence; of a FAIL the one that shows it, and None where no single event does."""
    if audit.verdict is Verdict.FAIL:
        return sentence(audit)
    if audit.verdict is Verdict.INCONCLUSIVE:
        return audit.reason
    if audit.evidence is EvidenceKind.ALIGNMENT and audit.alignment is not None:
        given = f", given that {audit.alignment.given}" if audit.alignment.given else ""
        cost = wording.aligned(audit.alignment)
        how = "A shift of the noise gives" if not audit.alignment.choices else (
            "A shift of the noise and the exact probability of every random choice give" if audit.alignment.noise
            else "The exact probability of every random choice gives"
        )
        return (
            f"{how} every neighbour the same output at a cost of {cost}: proved for "
            f"{audit.alignment.scope}{given}."
        )
    if audit.evidence is EvidenceKind.EXHAUSTIVE:
        return "Every pair of neighbouring datasets of the domain satisfies the claim: proved there, not beyond it."
    if audit.reason_code == "not_refuted" and wording.NOT_A_PROOF not in audit.reason:
        return f"{audit.reason} This is {wording.NOT_A_PROOF}."
    return audit.reason


def bounds(audit: Audit, *, verbose: bool = False) -> list[str]:
    """What is known of ε: in short, by what decided alone, and nothing where samples found nothing."""
    by_samples = audit.evidence is EvidenceKind.SAMPLED
    sampled = wording.certified_sentence(audit, short=not verbose)
    exact = wording.exact_sentence(audit, short=not verbose)
    known = [sentence for sentence in ((sampled, exact) if by_samples else (exact, sampled)) if sentence is not None]
    if not verbose:
        return known[:1] if audit.verdict is Verdict.FAIL or not by_samples else []
    alone = wording.clopper_pearson_sentence(audit) if wording.refuted_by_runs(audit) else None
    return known if alone is None else [*known, alone]


def reason_adds(audit: Audit) -> bool:
    """Whether the reason says what neither the sentence nor the bound does."""
    if audit.verdict is not Verdict.FAIL:
        return False
    earlier = audit.sequential is not None and len(audit.sequential.seeds) > 1
    return earlier or audit.reason_code not in _SAID


def names_event(audit: Audit) -> bool:
    """Whether the sentence names the event, which is short enough for it."""
    return audit.event is not None and _event(audit) != _UNNAMED


def hints(audit: Audit) -> list[str]:
    """Questions that the numbers of a refutation suggest; none for another verdict."""
    if audit.verdict is not Verdict.FAIL:
        return []
    if wording.refuted_by_bits(audit):
        # the note on floating point says what to do
        return []
    first = _repeats(audit) or _failure(audit) or _disclosed(audit) or _exact_value(audit) or _multiple(audit)
    return [hint for hint in (first, _far_record(audit), _empty(audit)) if hint is not None]


# -- the sentence


def _by_samples(audit: Audit, evidence: SampledEvidence) -> str | None:
    more, less = _datasets(evidence)
    p, q = evidence.x / evidence.n, evidence.y / evidence.m
    allowed = _most(audit, q)
    if not p > allowed:
        return None
    confidence = f"({percent(audit.confidence, digits=1)} confidence)"
    if q == 0:
        (shown,) = apart(p)
        factor = f"the {_times(audit)} that " if _is_factor(audit) and audit.claim.epsilon > 0 else ""
        return (
            f"P[{_event(audit)}] is about {shown} under {more}, but the event never occurred in {count(evidence.m)} "
            f"samples of {less}: more than {factor}{_claim(audit)} allows {confidence}."
        )
    if _is_factor(audit):
        p_shown, q_shown = apart(p, q)
        ratio = _ratio(p / q, audit, digits=2)
        about = ratio if ratio.startswith("more") else f"about {ratio}"
        return (
            f"P[{_event(audit)}] is about {p_shown} under {more} and {q_shown} under {less}: {about} times as likely, "
            f"where {_claim(audit)} allows {_times(audit)} {confidence}."
        )
    p_shown, most, q_shown = _rates(p, allowed, q)
    return (
        f"P[{_event(audit)}] is about {p_shown} under {more} and {q_shown} under {less}, where {_claim(audit)} allows "
        f"at most about {most} {confidence}."
    )


def _exactly(audit: Audit, evidence: ExactEvidence) -> str | None:
    more, less = _datasets(evidence)
    how = "(computed from the densities)" if evidence.by_density else "(computed exactly)"
    p, q = evidence.p, evidence.q
    if evidence.event is None or p is None or q is None or not p > _most(audit, q):
        excess = evidence.delta - audit.claim.delta
        if not excess > 0:
            return None
        by = lower(excess, digits=2)
        return f"Some event is more likely under {more} than {_claim(audit)} allows, by {by} {how}."
    event = _event(audit)
    if not _is_factor(audit):
        p_shown, most, q_shown = _rates(p, _most(audit, q), q, digits=3)
        return (
            f"P[{event}] is {p_shown} under {more} and {q_shown} under {less}, where {_claim(audit)} allows at most "
            f"{most} {how}."
        )
    p_shown, q_shown = apart(p, q, digits=3)
    start = f"P[{event}] is {p_shown} under {more} and {q_shown} under {less}"
    if q == 0:
        return f"{start}, which no finite ε allows {how}."
    ratio = _ratio(p / q, audit, digits=3)
    return f"{start}: {ratio} times as likely, where {_claim(audit)} allows {_times(audit)} {how}."


def _datasets(evidence: SampledEvidence | ExactEvidence) -> tuple[str, str]:
    """The dataset under which the event is more likely, and the other one."""
    more = wording.more_likely_dataset(evidence)
    return more, "D′" if more == "D" else "D"


def _event(audit: Audit) -> str:
    description = audit.event.description if audit.event is not None else ""
    description = _OUTPUT_FAILS.sub("it ", description)
    return description if 0 < len(description) <= LONGEST_EVENT else _UNNAMED


def _most(audit: Audit, q: float) -> float:
    """The largest probability that the claim allows where the other dataset has `q`."""
    return math.exp(min(_LARGEST, audit.claim.epsilon)) * q + audit.claim.delta


def _rates(p: float, allowed: float, q: float, *, digits: int = 2) -> tuple[str, str, str]:
    """Three probabilities with as many digits as tell them apart; a claim may allow nothing beyond `q`."""
    if math.isclose(allowed, q, rel_tol=1e-6):
        p_shown, q_shown = apart(p, q, digits=digits)
        return p_shown, q_shown, q_shown
    p_shown, most, q_shown = apart(p, allowed, q, digits=digits)
    return p_shown, most, q_shown


def _is_factor(audit: Audit) -> bool:
    """Whether the claim limits a ratio alone."""
    return audit.claim.delta == 0 and audit.curve is None


def _claim(audit: Audit) -> str:
    claim = audit.claim
    if audit.curve is not None:
        text = audit.curve.allowance
        return f"{text} for groups of {claim.group}" if claim.group > 1 else text
    rho = re.match(r"\S+-zCDP", claim.statement)
    if rho is not None:
        text = f"{rho[0]} (at ε = {_number(claim.epsilon)})"
    elif _is_factor(audit):
        text = f"ε = {_number(claim.epsilon)}"
    else:
        text = f"(ε, δ) = ({_number(claim.epsilon)}, {small(claim.delta)})"
    return f"{text} for groups of {claim.group}" if claim.group > 1 else text


def _number(x: float) -> str:
    return stated(x).removesuffix(".0")


def _times(audit: Audit) -> str:
    """How many times as likely the claim allows an event to be."""
    epsilon = audit.claim.epsilon
    if epsilon == 0:
        return "no difference"
    if epsilon > HUGE:
        return f"e^{_number(epsilon)} times"
    factor = math.exp(epsilon)
    return f"{count(round(factor))} times" if factor >= 1000 else f"{nearest(factor, 1.0)} times"


def _ratio(ratio: float, audit: Audit, *, digits: int) -> str:
    """How many times as likely an event is, rounded down, but not to what is allowed."""
    epsilon = audit.claim.epsilon
    if epsilon > HUGE:
        return f"e^{lower(math.log(ratio), epsilon)}"
    if ratio < 1000:
        return lower(ratio, math.exp(epsilon), digits=digits)
    if ratio < 1e6:
        return count(math.floor(ratio))
    return f"more than {ten_to(math.floor(math.log10(ratio)))}"


# -- the hints


def _repeats(audit: Audit) -> str | None:
    """The output is the same in every call on each dataset."""
    seen = {note.values.get("assumption") for note in audit.notes if note.code == "assumption"}
    if "varies" in seen:
        return "The output repeats exactly: is the generator seeded inside, or is no noise added?"
    if "seeded" in seen and _shares(audit) == (1.0, 0.0):
        return "The output may repeat exactly, as it never depends on chance here: is the generator seeded inside?"
    return None


def _failure(audit: Audit) -> str | None:
    """The event is an exception, or that a call takes long."""
    if audit.event is None:
        return None
    found = _FAILURE.search(audit.event.description)
    if found is None:
        return None
    more = wording.more_likely_under(audit)
    return f"It {found[0]} more often under {more}, and an attacker sees that: can it be avoided for every dataset?"


def _disclosed(audit: Audit) -> str | None:
    """An event that one dataset never gives."""
    shares = _shares(audit)
    # a small δ may allow what is impossible on the other dataset
    if audit.event is None or shares is None or shares[1] != 0 or shares[0] < MANY * audit.claim.delta:
        return None
    more = wording.more_likely_under(audit)
    less = "D′" if more == "D" else "D"
    gives = f"{more} has an output that {less} never gives"
    if audit.evidence is EvidenceKind.SAMPLED:
        gives = f"In these samples {gives}"
    if _THRESHOLD.search(audit.event.description):
        return f"{gives}: is the noise missing, or far too small?"
    return f"{gives}: is a key, a length or a count released without noise?"


def _exact_value(audit: Audit) -> str | None:
    """The event is a single number with digits after the point."""
    if audit.event is None or _EXACT_VALUE.match(audit.event.description) is None:
        return None
    return "The event is a single exact value: is noise clipped or rounded to a bound that depends on the data?"


def _multiple(audit: Audit) -> str | None:
    """The privacy loss is about 2, 3, … times what is claimed."""
    claim = audit.claim
    # with δ, ε need not scale with the noise
    if not claim.epsilon > 0 or claim.group > 1 or claim.delta > SMALL or audit.curve is not None:
        return None
    estimate, error = _estimate(audit)
    if estimate is None:
        return None
    times, spread = estimate / claim.epsilon, error / claim.epsilon
    factor = round(times)
    if not 2 <= factor <= LARGEST_FACTOR or spread > CLOSE or abs(times - factor) > min(1.5 * CLOSE, CLOSE + spread):
        return None
    sampled = audit.evidence is EvidenceKind.SAMPLED
    what = f"The estimate of ε, {nearest(estimate, digits=2)}," if sampled else "ε"
    text = f"{what} is about {factor} × the claim: check the sensitivity and the scale of the noise"
    if factor == 2 and claim.relation == "replace-one":
        text += " (replacing a record can change a result twice as much as adding one)"
    return f"{text}."


def _estimate(audit: Audit) -> tuple[float | None, float]:
    """ε of the event or of the exact distributions, and its standard error."""
    if audit.evidence is not EvidenceKind.SAMPLED:
        return audit.epsilon_exact, 0.0
    evidence = wording.deciding(audit)
    if evidence is None or not evidence.x or not evidence.y:
        return None, 0.0
    p, q = evidence.x / evidence.n, evidence.y / evidence.m
    return math.log(p / q), math.sqrt((1 - p) / evidence.x + (1 - q) / evidence.y)


def _far_record(audit: Audit) -> str | None:
    """A record that only one of the datasets has is far larger than all others."""
    if audit.pair is None:
        return None
    left, right = _numbers(audit.pair.left), _numbers(audit.pair.right)
    if left is None or right is None:
        return None
    shared = [abs(x) for x in left if x in right]
    changed = [x for some, others in ((left, right), (right, left)) for x in some if x not in others]
    largest = max(changed, key=abs, default=0.0)
    if not shared or abs(largest) <= FAR * max(*shared, 1.0):
        return None
    return f"The changed record, {_number(largest)}, is far from the others: is the input clipped?"


def _numbers(dataset: Json) -> list[float] | None:
    """The records as numbers; None where some are not."""
    if not isinstance(dataset, list) or not all(type(one) in (int, float) for one in dataset):
        return None
    return [float(one) for one in dataset]


def _empty(audit: Audit) -> str | None:
    """One of the datasets has no records."""
    pair = audit.pair
    if pair is None or not (pair.left == [] or pair.right == []):
        return None
    name = "D" if pair.left == [] else "D′"
    return f"{name} is empty: is that case handled differently?"


def _shares(audit: Audit) -> tuple[float, float] | None:
    """Probabilities of the event, the larger first: of samples, or exact."""
    if audit.evidence is EvidenceKind.SAMPLED:
        evidence = wording.deciding(audit)
        return None if evidence is None else (evidence.x / evidence.n, evidence.y / evidence.m)
    exact = wording.reported_exact(audit)
    return None if exact is None or exact.p is None or exact.q is None else (exact.p, exact.q)
