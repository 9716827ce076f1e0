"""From evidence to a verdict: the only place where one is made."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from dpaudit.evidence.assumptions import TYPES, VARIES, refutation
from dpaudit.evidence.curves import Comparison
from dpaudit.evidence.findings import Enumeration, Findings
from dpaudit.evidence.needed import POSSIBLE_RUNS, counted_for_power, violation_to_detect, with_learning
from dpaudit.evidence.sampled import Collected
from dpaudit.language import Claim
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import GroupChains, PrivacyJob, RecordedSamples, WorstCaseSearch
from dpaudit.plans.request import Request
from dpaudit.results.model import Alignment, EvidenceKind, SampledEvidence, Verdict
from dpaudit.results.notes import AlsoCrashed, AlsoProved, Note, SamplesDisagree
from dpaudit.results.reasons import (
    AssumptionViolated,
    ClaimAllowsEverything,
    ConstantOutput,
    Crash,
    CurveRefutation,
    CurveUndecided,
    DivergenceRefutation,
    ExactPairsKeepClaim,
    ExactRefutation,
    FiniteDomainRefutation,
    FollowedNotRefuted,
    Interrupted,
    LowPower,
    LowPowerRecorded,
    MessagesDiffer,
    NoClaim,
    NoEvent,
    NoPairs,
    NotRefuted,
    NotRefutedRecorded,
    Proved,
    ProvedByAlignment,
    ProvedCurve,
    Reason,
    SampledRefutation,
    StreamEnded,
    TimeLimit,
    TooFewRecorded,
    TooFewSamples,
    UnreadOutputs,
    WorstChainKeepsClaim,
    WorstPairKeepsClaim,
)
from dpaudit.results.refutation import ROUNDING, refutes, tolerance
from dpaudit.stats import power
from dpaudit.subjects.stated import is_constant

SLOW = 0.001
"""Seconds of a call from which a time limit's reason says how many samples there must be time for."""
UNREAD = 0.01
"""Share of outputs that may be of types that no event reads."""


class Decision(NamedTuple):
    """What the evidence comes to."""

    verdict: Verdict
    kind: EvidenceKind
    """What the verdict was made from."""
    reason: Reason
    """Why; for INCONCLUSIVE: what to do."""
    notes: tuple[Note, ...] = ()
    """What a reader should know besides."""


def decide(job: PrivacyJob, findings: Findings, request: Request) -> Decision:
    """The verdict that the evidence gives; nothing that is passed in is changed.

    A claim is refuted exactly where a law exceeds it by more than rounding, and by runs where the lower confidence
    bound exceeds it. It passes as proved only where every pair of a stated scope was enumerated, by a program that
    rounded nothing.
    """
    claim = job.claim
    weighed = [c.evidence for c in findings.collected.certified] if findings.collected is not None else []
    best = max(weighed, key=lambda e: (e.epsilon_lower, -e.p_value), default=None)
    state = findings.collected.sequential if findings.collected is not None else None
    enumerated = findings.enumeration
    refuted_exactly = (enumerated is not None and enumerated.refutes) or any(refutes(e, claim) for e in findings.exact)
    refuted_by_runs = (best is not None and best.epsilon_lower > claim.epsilon) or (state is not None and state.refuted)
    divergence = findings.whole_curve if findings.whole_curve is not None and findings.whole_curve.exceeds else None
    besides: tuple[Note, ...] = () if findings.crash is None else (AlsoCrashed(findings.crash),)
    proof = findings.alignment
    if proof is not None:
        besides = (*besides, AlsoProved(proof.scope, float(Fraction(proof.epsilon))))
    if refuted_exactly:
        kind = EvidenceKind.EXACT if enumerated is None else EvidenceKind.EXHAUSTIVE
        return Decision(Verdict.FAIL, kind, _exact_refutation(findings, claim), besides)
    if isinstance(job, RecordedSamples) and not job.claimed and findings.collected is not None:
        if (undecided := _undecided(job, findings, request)) is not None:
            return Decision(Verdict.INCONCLUSIVE, EvidenceKind.SAMPLED, undecided)
        bound = NoClaim(findings.collected.epsilon_lower, claim.delta, 1 - request.alpha)
        return Decision(Verdict.INCONCLUSIVE, EvidenceKind.SAMPLED, bound)
    if divergence is not None:
        kind = EvidenceKind.EXACT if enumerated is None else EvidenceKind.EXHAUSTIVE
        return Decision(Verdict.FAIL, kind, _divergence_refutation(divergence, claim), besides)
    if refuted_by_runs and findings.collected is not None:
        odd = findings.worst is not None and not _by_bits(findings.collected)
        disagreement = (SamplesDisagree(request.alpha),) if odd else ()
        reason = _sampled_refutation(findings.collected, claim, request)
        return Decision(Verdict.FAIL, EvidenceKind.SAMPLED, reason, (*disagreement, *besides))
    kind = _kind(job, findings)
    undecided = _undecided(job, findings, request)
    if proof is not None and (undecided is None or isinstance(undecided, TimeLimit)):
        # one of the two is wrong, or the program is not that of real numbers
        if best is not None and not Fraction(proof.mu_squared) and not claim.delta and (
            best.epsilon_lower > float(Fraction(proof.epsilon)) * (1 + ROUNDING)
        ):
            return Decision(Verdict.INCONCLUSIVE, kind, Crash(besides[-1].sentence(request.door)))
        return Decision(Verdict.PASS, EvidenceKind.ALIGNMENT, _aligned(proof, claim))
    if undecided is not None:
        return Decision(Verdict.INCONCLUSIVE, kind, undecided)
    if enumerated is not None:
        whole = findings.whole_curve
        if claim.curve is not None and enumerated.proof is not None and (whole is None or whole.keeps is not True):
            reason = CurveUndecided(enumerated.what, claim.curve.label)
            return Decision(Verdict.INCONCLUSIVE, kind, reason)
        return Decision(Verdict.PASS, kind, _proof(enumerated, claim))
    open_curve = claim.curve is not None and kind is EvidenceKind.SAMPLED
    if findings.exact and isinstance(job, WorstCaseSearch) and not open_curve:
        return Decision(Verdict.PASS, kind, WorstPairKeepsClaim())
    if findings.exact and isinstance(job, GroupChains):
        return Decision(Verdict.PASS, kind, WorstChainKeepsClaim())
    if findings.exact and kind is EvidenceKind.EXACT:
        return Decision(Verdict.PASS, kind, ExactPairsKeepClaim(len(findings.exact)))
    if best is None and state is not None and state.ended:
        used = max((runs for runs, _ in state.trail), default=0)
        if isinstance(job, RecordedSamples) and job.followed is not None:
            idle = job.followed.idle if math.isfinite(job.followed.idle) else None
            return Decision(Verdict.INCONCLUSIVE, kind, FollowedNotRefuted(used, idle))
        return Decision(Verdict.INCONCLUSIVE, kind, StreamEnded(used, job.runs))
    if best is None or findings.collected is None:
        return Decision(Verdict.INCONCLUSIVE, kind, NoEvent(bool(job.pairs)))
    untested = _untested(job, findings, findings.collected, best, request)
    if untested is not None:
        return Decision(Verdict.INCONCLUSIVE, kind, untested)
    if isinstance(job, RecordedSamples):
        # a stream may end before the runs that were planned
        runs = max(n for n, _ in findings.collected.sequential.trail)
        return Decision(Verdict.PASS, kind, NotRefutedRecorded(1, runs))
    return Decision(Verdict.PASS, kind, NotRefuted(len(findings.collected.sequential.tracks), job.runs))


def _undecided(job: PrivacyJob, findings: Findings, request: Request) -> Reason | None:
    """Why the evidence is not what it should be: a crash, an assumption that does not hold, too little time."""
    if findings.crash is not None:
        return Crash(findings.crash)
    dependent = refutation(findings.assumptions)
    if dependent is not None:
        return AssumptionViolated(dependent.name, dependent.text)
    if findings.interrupted:
        return Interrupted(findings.collected.sequential.runs if findings.collected is not None else 0)
    if findings.cut_short or (findings.collected is not None and findings.collected.cut_short):
        return _time_limit(job, findings, request)
    enumerated = findings.enumeration
    differing = (enumerated is not None and enumerated.differing) or findings.laws.differing
    if differing:
        return MessagesDiffer(differing)
    broken = _broken(findings)
    if TYPES in broken and (VARIES not in broken or is_constant(job.target.subject)):
        # what refutes refutes; what does not may hide in the type
        return AssumptionViolated(TYPES, broken[TYPES])
    return None


def _time_limit(job: PrivacyJob, findings: Findings, request: Request) -> Reason:
    if isinstance(job, RecordedSamples) and job.followed is not None and findings.collected is not None:
        return FollowedNotRefuted(max((runs for runs, _ in findings.collected.sequential.trail), default=0), None)
    needed, call = findings.needed, findings.call_time
    if needed is None or call is None or call < SLOW:
        return TimeLimit(request.time, bool(job.tests))
    return TimeLimit(request.time, True, call, needed.least, needed.for_power, needed.target)


def _broken(findings: Findings) -> dict[str, str]:
    """The assumptions that do not hold, and what shows it."""
    return {record.name: record.text for record in findings.assumptions if record.holds is False}


def _untested(
    job: PrivacyJob, findings: Findings, collected: Collected, best: SampledEvidence, request: Request
) -> Reason | None:
    """Why these samples do not test the claim."""
    broken = _broken(findings)
    if VARIES in broken and not is_constant(job.target.subject):
        return ConstantOutput(broken[VARIES])
    return _blind(job, best) or _unread(collected) or _weak(job, collected, request)


def _kind(job: PrivacyJob, findings: Findings) -> EvidenceKind:
    """Exact only where no pair rests on its runs alone."""
    if findings.enumeration is not None:
        proof = findings.enumeration.proof
        return EvidenceKind.EXHAUSTIVE if proof is None or proof.certain else EvidenceKind.EXACT
    every = findings.exact and len(findings.exact) >= len(job.pairs)
    if job.claim.curve is not None and (findings.whole_curve is None or findings.whole_curve.keeps is not True):
        # single points of a curve prove nothing of the rest
        every = False
    return EvidenceKind.EXACT if every else EvidenceKind.SAMPLED


def _blind(job: PrivacyJob, best: SampledEvidence) -> Reason | None:
    """The reason if these samples could not refute the claim for any mechanism."""
    claim = job.claim
    if claim.delta >= 1:
        return ClaimAllowsEverything()
    # of unequal numbers, what more of the fewer samples could show
    samples = max(best.n, best.m)
    most = power.largest_certifiable(samples, best.alpha, delta=claim.delta)
    if most > claim.epsilon:
        return None
    runs = job.runs
    while runs < POSSIBLE_RUNS and _reach(runs, best, claim) <= claim.epsilon:
        runs *= 2
    kind = TooFewRecorded if isinstance(job, RecordedSamples) else TooFewSamples
    return kind(samples, most, claim.epsilon, runs if runs < POSSIBLE_RUNS else None)


def _unread(collected: Collected) -> Reason | None:
    """Where much of the outputs is nothing that an event could be made from: then it was not tested."""
    share, kind = max(track.learner.unread() for track in collected.sequential.tracks)
    return UnreadOutputs(share, kind) if share > UNREAD else None


def _weak(job: PrivacyJob, collected: Collected, request: Request) -> Reason | None:
    """When these samples would not have refuted a violation that is large: then nothing was tested.

    A violation of ε* is taken to be on an event of probability ½ on one dataset and e^−ε*/2 on the other, as that of a
    noisy count is; or on one of the learned events, where it would show sooner.
    """
    claim = job.claim
    target = violation_to_detect(claim, request.min_power)
    weighed = [certified.evidence for certified in collected.certified]
    if min((e.detectable_epsilon for e in weighed if e.detectable_epsilon is not None), default=math.inf) <= target:
        return None
    needed = counted_for_power(claim, target, alpha=max(e.alpha for e in weighed))
    if needed is not None and max(min(e.n, e.m) for e in weighed) >= needed:
        return None
    kind = LowPowerRecorded if isinstance(job, RecordedSamples) else LowPower
    return kind(job.runs, target, None if needed is None else _rounded_up(with_learning(needed)))


def _rounded_up(runs: int) -> int:
    """To two digits."""
    step: int = 10 ** max(0, len(str(runs)) - 2)
    return -(-runs // step) * step


def _reach(runs: int, best: SampledEvidence, claim: Claim) -> float:
    """The largest ε that `runs` samples per dataset can certify; those used for learning do not count."""
    return power.largest_certifiable(runs - learning_runs(runs), best.alpha, delta=claim.delta)


def _exact_refutation(findings: Findings, claim: Claim) -> Reason:
    delta, enumerated = findings.delta or 0.0, findings.enumeration
    if enumerated is not None and enumerated.refutes and enumerated.proof is not None:
        low = enumerated.proof.epsilon_low
        return FiniteDomainRefutation(enumerated.what, low, delta, claim.epsilon, claim.delta)
    worst = max(
        findings.exact,
        key=lambda e: (math.inf if e.epsilon is None else e.epsilon, e.delta),
    )
    bounds, bound, epsilon, low = worst.bounds, "", worst.epsilon, None
    if bounds is not None:
        low, bound = bounds.epsilon_low, "for certain" if bounds.certain else "at least"
        epsilon = None if worst.by_density else epsilon
    return ExactRefutation(epsilon, low, bound, delta, claim.epsilon, claim.delta)


def _sampled_refutation(collected: Collected, claim: Claim, request: Request) -> Reason:
    state = collected.sequential
    if claim.curve is not None:
        best = collected.best
        return CurveRefutation(
            claim.curve.label, len(state.points or ()), 1 - request.alpha, _by_bits(collected), state.refuted_at,
            state.prior is not None, 0.0 if best is None else best.evidence.epsilon_lower, claim.epsilon, claim.delta,
        )
    return SampledRefutation(
        collected.epsilon_lower, 1 - request.alpha, claim.epsilon, claim.delta, _by_bits(collected), state.refuted_at,
        state.prior is not None,
    )


def _divergence_refutation(comparison: Comparison, claim: Claim) -> Reason:
    assert comparison.order is not None
    assert comparison.divergence is not None
    order = f"{comparison.order:.6g}".replace("inf", "∞")
    divergence = comparison.divergence if math.isfinite(comparison.divergence) else None
    label = claim.curve.label if claim.curve is not None else str(claim)
    return DivergenceRefutation(label, order, divergence, comparison.allowed or 0.0)


def _by_bits(collected: Collected) -> bool:
    """Whether bit patterns are what refutes."""
    best, state = collected.best, collected.sequential
    return state.by_bits(state.strongest) if best is None else best.evidence.family == "bits"


def _aligned(alignment: Alignment, claim: Claim) -> Reason:
    mu, rho = math.sqrt(Fraction(alignment.mu_squared)), float(Fraction(alignment.rho))
    epsilon = float(Fraction(alignment.epsilon))
    return ProvedByAlignment(alignment.scope, alignment.given, epsilon, mu, rho, str(claim), alignment.choices)


def _proof(enumerated: Enumeration, claim: Claim) -> Reason:
    proof = enumerated.proof
    if proof is None:
        return NoPairs(enumerated.what)
    if claim.curve is not None:
        return ProvedCurve(enumerated.what, proof.symmetries, claim.curve.label, ROUNDING, not proof.certain)
    return Proved(
        enumerated.what, proof.symmetries, proof.epsilon_low, proof.epsilon_most, tolerance(claim, proof.rounded),
        not proof.certain, claim.epsilon, claim.delta,
    )
