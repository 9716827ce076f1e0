"""A result that is read back must not contradict itself: bounds and verdicts are computed again from its counts.

What cannot be computed again is held against what must be true of it: an e-process needs the samples themselves, and an
exact ε the mechanism. Whoever changes counts, bounds and verdict together makes another result, which nothing in the
file can tell; `dpaudit replay`, and the command in the result, run the audit itself again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction

from dpaudit.language import Claim, GaussianDP
from dpaudit.language.zcdp import zcdp_delta
from dpaudit.results.figures import PLOTS, columns
from dpaudit.results.model import (
    Alignment,
    Attempt,
    Audit,
    EvidenceKind,
    ExactEvidence,
    Proof,
    Result,
    SampledEvidence,
    SequentialEvidence,
    UtilityAudit,
    Verdict,
)
from dpaudit.results.refutation import exceeds_curve, misses, refutes, tolerance
from dpaudit.stats import clopper_pearson, score_test

SLACK = 1e-9
"""What another version of a library may round otherwise, relative above 1."""
MOST_RUNS = 10**8
"""Of more the score test takes minutes: its bound is held against the observed frequencies, and verdicts against the
Clopper–Pearson bound."""
MOST_EPSILON = 300.0
"""Larger ε are tested as this one (`dpaudit.evidence.sequential`)."""


def contradiction(result: Result) -> str | None:
    """The first thing in a result that its own counts contradict, as "audits[0].verdict: …"; None where all agree."""
    for i, audit in enumerate(result.audits):
        for what in _of_audit(audit):
            return f"audits[{i}].{what}"
    for i, guarantee in enumerate(result.utility):
        for what in _of_guarantee(guarantee):
            return f"utility[{i}].{what}"
    return None


def inconsistency(result: Result) -> str | None:
    """What types cannot say: lists that belong together have one length, hits are at most runs; None if all is so."""
    for i, audit in enumerate(result.audits):
        for what in (*_of_plots(audit), *_of_places(audit)):
            return f"audits[{i}].{what}"
    for i, row in enumerate(result.comparison.rows if result.comparison is not None else []):
        for key, place, there in (("utility", row.utility, result.utility), ("audit", row.audit, result.audits)):
            if place is not None and place >= len(there):
                return f"contest.rows[{i}].{key}: there is no place {place}"
    for i, guarantee in enumerate(result.utility):
        if guarantee.worst is not None and guarantee.worst >= len(guarantee.attempts):
            return f"utility[{i}].worst: {guarantee.worst} is no place in attempts"
        for j, one in enumerate(guarantee.attempts):
            if one.hits > one.runs:
                return f"utility[{i}].attempts[{j}].hits: {one.hits} is more than runs = {one.runs} runs"
    return None


def _of_plots(audit: Audit) -> Iterator[str]:
    for name, plot in audit.plots.items():
        (key, first), *others = columns(plot).items()
        for other, data in others:
            if len(data) != len(first):
                yield f"{PLOTS[name]}.{other}: it has {len(data)} entries, but {key} has {len(first)}"


def _of_places(audit: Audit) -> Iterator[str]:
    one = audit.sequential
    if one is not None and one.refuted_at is not None and one.refuted_at > one.runs:
        yield f"sequential.refuted_at: {one.refuted_at} is more than runs = {one.runs}"
    for j, counts in enumerate(audit.sampled):
        for hits, seen, runs, most in (("x", counts.x, "n", counts.n), ("y", counts.y, "m", counts.m)):
            if seen > most:
                yield f"sampled[{j}].{hits}: {seen} is more than {runs} = {most} runs"


def _of_audit(audit: Audit) -> Iterator[str]:
    claim = Claim(audit.claim.epsilon, audit.claim.delta)
    epsilon = min(claim.epsilon, MOST_EPSILON)
    error = (1 - audit.confidence) * (1 + SLACK) + 1e-15
    alphas = [one.alpha for one in audit.sampled] + ([audit.sequential.alpha] if audit.sequential is not None else [])
    if math.fsum(alphas) > error:
        yield f"confidence: {audit.confidence!r}, but its tests use an error of {math.fsum(alphas):.6g} together"
    for j, one in enumerate(audit.sampled):
        yield from (f"sampled[{j}].{what}" for what in _of_counts(one, claim))
    bounds = [one.epsilon_lower for one in audit.sampled]
    if audit.sequential is not None:
        curve = audit.curve is not None
        yield from (f"sequential.{what}" for what in _of_process(audit.sequential, epsilon, curve=curve))
        bounds.append(audit.sequential.epsilon_lower)
    if not _equal(audit.epsilon_lower or 0.0, max(bounds, default=0.0)):
        yield f"epsilon_lower: {audit.epsilon_lower}, but its evidence gives {max(bounds, default=0.0)!r}"
    counted = max((one.epsilon_lower_clopper_pearson for one in audit.sampled), default=0.0)
    if not _equal(audit.epsilon_lower_clopper_pearson or 0.0, counted):
        yield f"epsilon_lower_clopper_pearson: {audit.epsilon_lower_clopper_pearson}, but its counts give {counted!r}"
    for j, exact in enumerate(audit.exact):
        yield from (f"exact[{j}].{what}" for what in _of_law(exact, claim))
    if audit.alignment is not None:
        yield from _of_alignment(audit.alignment)
    yield from _of_verdict(audit, claim)


def _of_counts(one: SampledEvidence, claim: Claim) -> Iterator[str]:
    if not (one.n and one.m and 0 < one.alpha < 1):
        yield f"alpha: no test of {one.n} and {one.m} runs at {one.alpha!r}"
        return
    counts = f"{one.x:,} of {one.n:,} and {one.y:,} of {one.m:,} runs"
    bound = clopper_pearson.epsilon_lower(one.x, one.n, one.y, one.m, delta=claim.delta, alpha=one.alpha)
    if one.epsilon_lower_clopper_pearson > bound + SLACK * max(1.0, bound):
        stated = one.epsilon_lower_clopper_pearson
        yield f"epsilon_lower_clopper_pearson: {stated!r} is above the {bound!r} that {counts} give"
    # the score test's bound is the larger one as a rule; only one test is made, because the bound itself takes seconds
    more = one.epsilon_lower - SLACK * max(1.0, one.epsilon_lower)
    if more > max(bound, 0.0) and not _rejects(one, claim, min(more, 2 * MOST_EPSILON)):
        yield f"epsilon_lower: {one.epsilon_lower!r} is above what {counts} give"


def _refuting(one: SampledEvidence, claim: Claim) -> bool:
    """Whether the counts refute the claim, recomputed from the counts."""
    counted = clopper_pearson.epsilon_lower(one.x, one.n, one.y, one.m, delta=claim.delta, alpha=one.alpha)
    if max(one.epsilon_lower, counted) > claim.epsilon:
        return True
    if max(one.n, one.m) > MOST_RUNS:
        return False
    epsilon = min(claim.epsilon, MOST_EPSILON)
    # the bound is rounded down, so that a test at the claim itself may reject where the bound does not exceed it
    return _rejects(one, claim, epsilon) and claim.epsilon < score_test.epsilon_lower(
        one.x, one.n, one.y, one.m, delta=claim.delta, alpha=one.alpha
    )


def _rejects(one: SampledEvidence, claim: Claim, epsilon: float) -> bool:
    if max(one.n, one.m) > MOST_RUNS:
        return one.x / one.n > math.exp(min(epsilon, 700.0)) * (one.y / one.m) + claim.delta
    return score_test.rejects(one.x, one.n, one.y, one.m, epsilon=epsilon, delta=claim.delta, alpha=one.alpha)


def _of_process(evidence: SequentialEvidence, epsilon: float, *, curve: bool = False) -> Iterator[str]:
    needed = math.log(1 / evidence.alpha) if 0 < evidence.alpha < 1 else math.inf
    if evidence.log_peak < evidence.log_e - SLACK * max(1.0, abs(evidence.log_e)):
        yield f"log_peak: {evidence.log_peak!r} is below log_e = {evidence.log_e!r}"
    reached = evidence.log_peak >= needed - SLACK * needed
    value = f"an e-value of e^{evidence.log_peak:.6g} at alpha = {evidence.alpha:.3g}"
    # the process of a curve tests several (ε, δ), and bounds no single ε
    if evidence.refuted_at is not None and not (reached and (curve or evidence.epsilon_lower >= epsilon - SLACK)):
        yield f"refuted_at: {evidence.refuted_at}, but {value} does not refute"
    clearly_reached = evidence.log_peak >= needed + SLACK * needed
    if evidence.refuted_at is None and clearly_reached and (curve or evidence.epsilon_lower > epsilon):
        yield f"refuted_at: null, but {value} refutes"
    if evidence.epsilon_lower > epsilon + SLACK and not reached:
        yield f"epsilon_lower: {evidence.epsilon_lower!r} is above the claim, which its e-value does not refute"


def _of_law(evidence: ExactEvidence, claim: Claim) -> Iterator[str]:
    if not 0 <= evidence.delta <= 1 + SLACK:
        yield f"delta: {evidence.delta!r} is no probability"
    if evidence.bounds is not None:
        high = math.inf if evidence.bounds.epsilon_high is None else evidence.bounds.epsilon_high
        low = math.inf if evidence.bounds.epsilon_low is None else evidence.bounds.epsilon_low
        epsilon = math.inf if evidence.epsilon is None else evidence.epsilon
        if not low <= epsilon <= high:
            yield f"epsilon: {evidence.epsilon}, but its bounds are {low!r} and {high!r}"
        least, most = evidence.bounds.delta_low, evidence.bounds.delta_high
        if not least <= evidence.delta <= most:
            yield f"delta: {evidence.delta!r}, but its bounds are {least!r} and {most!r}"
    if evidence.p is not None and evidence.q is not None and claim.epsilon < 700:
        # no event exceeds the hockey-stick divergence
        excess = evidence.p - math.exp(claim.epsilon) * evidence.q
        if excess > evidence.delta + SLACK * max(evidence.p, 1e-6):
            yield f"delta: {evidence.delta!r}, but its event has p − e^ε q = {excess!r}"


def _of_verdict(audit: Audit, claim: Claim) -> Iterator[str]:
    by_runs = audit.sequential is not None and audit.sequential.refuted_at is not None
    by_runs = by_runs or any(_refuting(one, claim) for one in audit.sampled)
    exact_evidence = any(refutes(one, claim) for one in audit.exact)
    exact_evidence = exact_evidence or (audit.curve is not None and exceeds_curve(audit.curve))
    says = f"verdict: {audit.verdict.value}, but "
    if audit.verdict is Verdict.FAIL:
        if not (by_runs or exact_evidence or _scope_refutes(audit.proof, claim)):
            yield f"{says}nothing in its evidence refutes the claim"
        return
    if exact_evidence:
        yield f"{says}its exact ε and δ refute the claim"
    if by_runs and not (audit.reason_code == "no_claim" and claim.epsilon == 0):
        yield f"{says}its counts refute the claim"
    if audit.verdict is Verdict.INCONCLUSIVE:
        return
    if audit.crashed:
        yield f"{says}the mechanism crashed"
    if audit.evidence is EvidenceKind.ALIGNMENT:
        if audit.alignment is None:
            yield f"{says}it holds no alignment"
        elif _is_short(audit.alignment, claim, curve=audit.curve is not None):
            yield f"{says}its alignment proves less than the claim"
    elif audit.evidence is EvidenceKind.EXHAUSTIVE:
        delta = audit.delta_exact or 0.0
        if audit.scope is None:
            yield f"{says}no scope is stated of which every pair was compared"
        elif _scope_refutes(audit.proof, claim) and delta > claim.delta * (1 + SLACK) + 1e-13:
            yield f"{says}its proof refutes the claim"
        elif audit.proof is not None and audit.proof.rounded:
            yield f"{says}its program rounded numbers to doubles, which proves nothing"
        elif audit.proof is not None and (audit.proof.epsilon_high or math.inf) < (audit.proof.epsilon_low or 0.0):
            yield "proof.epsilon_high: it is below epsilon_low"
    elif not (audit.exact if audit.evidence is EvidenceKind.EXACT else audit.sampled or audit.exact):
        yield f"{says}it holds no evidence"


def _is_short(alignment: Alignment, claim: Claim, *, curve: bool) -> bool:
    """Whether an alignment proves less than a claim; of a curve, only its ε and μ are known."""
    epsilon, square = _fraction(alignment.epsilon), _fraction(alignment.mu_squared)
    if curve:
        return False
    if rho := _fraction(alignment.rho):
        # a claim of zCDP is tested at a point of its own
        return zcdp_delta(float(rho), claim.epsilon) > claim.delta * (1 + SLACK) + 1e-13
    spare = claim.epsilon * (1 + SLACK) - float(epsilon)
    if spare < 0 or not square:
        return spare < 0
    return GaussianDP(math.sqrt(square)).delta_at(spare) > claim.delta * (1 + SLACK) + 1e-13


def _of_alignment(alignment: Alignment) -> Iterator[str]:
    for line in alignment.noise:
        if not re.fullmatch(r".+:[1-9]\d{0,8}", line.line):
            yield f"alignment: {line.line!r} is no line of a file"
        shifts = [_fraction(shift) for shift in line.shifts]
        # a mechanism that is proved by itself moves nothing
        if _fraction(line.cost) < 0 or (not shifts and line.noise.endswith(")")):
            yield f"alignment: {line.line} has no shift, or a cost below 0"
    if not alignment.choices and _fraction(alignment.epsilon) + _fraction(alignment.mu_squared) < max(
        (_fraction(line.cost) for line in alignment.noise), default=Fraction(0)
    ):
        yield "alignment: one line costs more than all lines together"


def _fraction(text: str) -> Fraction:
    """A fraction of a certificate.

    Raises:
        ValueError: it is none, or too long to be computed with.
    """
    if not re.fullmatch(r"-?\d{1,400}(/\d{1,400})?", text):
        raise ValueError(f"{text[:40]!r} is no fraction")
    return Fraction(text)


def _scope_refutes(proof: Proof | None, claim: Claim) -> bool:
    """Whether the worst pair of a scope needs more than the claimed ε."""
    if proof is None or proof.pairs == 0:
        return False
    return proof.epsilon_low is None or _exceeds(proof.epsilon_low, proof, claim)


def _exceeds(epsilon: float, proof: Proof, claim: Claim) -> bool:
    return epsilon > claim.epsilon + 2 * tolerance(claim, proof.rounded) * max(1.0, claim.epsilon)


def _of_guarantee(guarantee: UtilityAudit) -> Iterator[str]:
    probability, at_most = guarantee.claim.probability, guarantee.claim.at_most
    for j, one in enumerate(guarantee.attempts):
        yield from (f"attempts[{j}].{what}" for what in _of_attempt(one))
    broken = any(misses(one, probability, at_most=at_most) for one in guarantee.attempts)
    if broken != (guarantee.verdict is Verdict.FAIL):
        what = "violate" if broken else "do not violate"
        yield f"verdict: {guarantee.verdict.value}, but its attempts {what} the guarantee"
    elif guarantee.verdict is Verdict.PASS and (guarantee.crashed or not guarantee.attempts):
        yield "verdict: pass, but no attempt ended" if not guarantee.attempts else "verdict: pass, but it crashed"


def _of_attempt(one: Attempt) -> Iterator[str]:
    if one.low is None or one.high is None:
        if one.runs:
            yield f"low: no limits of {one.runs:,} runs"
        return
    if not (one.runs and 0 < one.alpha < 1):
        yield f"low: {one.low!r} is no limit of {one.runs:,} runs at {one.alpha!r}"
        return
    low, high = clopper_pearson.interval(one.hits, one.runs, alpha=one.alpha)
    if one.low > low + SLACK or one.high < high - SLACK:
        yield f"low: [{one.low!r}, {one.high!r}] is narrower than what {one.hits:,} of {one.runs:,} runs give"


def _equal(a: float, b: float) -> bool:
    return abs(a - b) <= SLACK * max(1.0, abs(a), abs(b))
