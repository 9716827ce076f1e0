"""From evidence to a verdict: the only place where one is made."""

from __future__ import annotations

import math

from dpaudit.evidence.assumptions import TYPES, VARIES, refutation
from dpaudit.evidence.exact import at_least, rounded_down
from dpaudit.evidence.findings import Enumeration, Findings
from dpaudit.evidence.sampled import Collected
from dpaudit.language import Claim
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import GroupChains, PrivacyJob, WorstCaseSearch
from dpaudit.plans.request import Request
from dpaudit.results.model import EvidenceKind, SampledEvidence, Verdict
from dpaudit.results.refutation import refutes, tolerance
from dpaudit.stats import power
from dpaudit.subjects.stated import is_constant

_CONSTANT = (
    "Nothing was tested. Is a `return` missing, or the dataset not read? Of a function that is meant to be constant, "
    "say so: `f.constant = True`."
)
UNREAD = 0.01
"""Share of outputs that may be of types that no event reads."""
SMALLEST = 0.1
"""The ε of which a multiple must be seen where the claim is ε = 0."""
POSSIBLE_RUNS = 10**12
"""No remedy names more runs than this."""


def decide(job: PrivacyJob, found: Findings, request: Request) -> tuple[Verdict, EvidenceKind, str]:
    """The verdict, what it was made from, and why (for INCONCLUSIVE: what to do).

    A claim is refuted exactly where a law exceeds it by more than rounding, and by runs where the lower confidence
    bound exceeds it. It passes as proved only where every pair of a stated scope was enumerated, by a program that
    rounded nothing.
    """
    claim = job.claim
    weighed = [c.evidence for c in found.collected.certified] if found.collected is not None else []
    best = max(weighed, key=lambda e: (e.epsilon_lower, -e.p_value), default=None)
    state = found.collected.sequential if found.collected is not None else None
    enumerated = found.enumeration
    refuted_exactly = (enumerated is not None and enumerated.refutes) or any(refutes(e, claim) for e in found.exact)
    refuted_by_runs = (best is not None and best.epsilon_lower > claim.epsilon) or (state is not None and state.refuted)
    if refuted_exactly:
        if found.crash is not None:
            found.notes.append(found.crash)
        kind = EvidenceKind.EXACT if enumerated is None else EvidenceKind.EXHAUSTIVE
        return Verdict.FAIL, kind, _exact_refutation(found, claim)
    if refuted_by_runs:
        assert found.collected is not None
        if found.worst is not None and not _by_bits(found.collected):
            found.notes.append(
                "The runs refute what the exact laws do not: its `bulk` or law disagrees with its `run`, "
                f"or this is the one audit in {round(1 / request.alpha):,} that errs."
            )
        if found.crash is not None:
            found.notes.append(found.crash)
        return Verdict.FAIL, EvidenceKind.SAMPLED, _sampled_refutation(found.collected, claim, request)
    kind = _kind(job, found)
    if found.crash is not None:
        return Verdict.INCONCLUSIVE, kind, found.crash
    dependent = refutation(found.assumptions)
    if dependent is not None:
        return Verdict.INCONCLUSIVE, kind, dependent.text
    if found.cut_short or (found.collected is not None and found.collected.cut_short):
        limit = f"the time limit of {request.seconds:g} s" if request.seconds is not None else "the time limit"
        less = "lower --runs" if job.tests else "make --domain or --size smaller"
        reason = f"Nothing is refuted, but {limit} ran out first; raise --time or {less}."
        return Verdict.INCONCLUSIVE, kind, reason
    differing = (enumerated is not None and enumerated.differing) or found.laws.differing
    if differing:
        return Verdict.INCONCLUSIVE, kind, differing
    broken = {record.name: record.text for record in found.assumptions if record.holds is False}
    if TYPES in broken and (VARIES not in broken or is_constant(job.target.subject)):
        # what refutes refutes; what does not may hide in the type
        return Verdict.INCONCLUSIVE, kind, broken[TYPES]
    if enumerated is not None:
        return Verdict.PASS, kind, _proof(enumerated, claim)
    if best is None and not found.exact:
        remedy = "raise --runs" if job.pairs else "give --pair, or --data with --size"
        return Verdict.INCONCLUSIVE, kind, f"No event was certified on any pair; {remedy}."
    if found.exact and isinstance(job, WorstCaseSearch):
        return Verdict.PASS, kind, "The worst pair that a search found keeps the claim: not a proof."
    if found.exact and isinstance(job, GroupChains):
        return Verdict.PASS, kind, "The ends of the worst chain that a search walked keep the claim: not a proof."
    if found.exact and kind is EvidenceKind.EXACT:
        return Verdict.PASS, kind, (
            f"The exact laws of {_pairs(len(found.exact))} keep the claim; no other pair was tried: not a proof."
        )
    assert best is not None
    assert found.collected is not None
    if VARIES in broken and not is_constant(job.target.subject):
        return Verdict.INCONCLUSIVE, kind, f"{broken[VARIES]} {_CONSTANT}"
    blind = _blind(job, best)
    if blind is not None:
        return Verdict.INCONCLUSIVE, kind, blind
    weak = _unread(found.collected) or _weak(job, found.collected, request)
    if weak is not None:
        return Verdict.INCONCLUSIVE, kind, weak
    return Verdict.PASS, kind, (
        f"Nothing was refuted on {_pairs(len(found.collected.sequential.tracks))} with up to {job.runs:,} runs a side; "
        "this is not a proof."
    )


def _kind(job: PrivacyJob, found: Findings) -> EvidenceKind:
    """Exact only where no pair rests on its runs alone."""
    if found.enumeration is not None:
        proof = found.enumeration.proof
        return EvidenceKind.EXHAUSTIVE if proof is None or proof.certain else EvidenceKind.EXACT
    every = found.exact and len(found.exact) >= len(job.pairs)
    return EvidenceKind.EXACT if every else EvidenceKind.SAMPLED


def _blind(job: PrivacyJob, best: SampledEvidence) -> str | None:
    """The remedy when these runs could not have refuted the claim whatever the mechanism did."""
    claim = job.claim
    if claim.delta >= 1:
        return "A claim with delta = 1 allows everything; name a smaller --delta."
    most = power.largest_certifiable(best.n, best.alpha, delta=claim.delta)
    if most > claim.epsilon:
        return None
    runs = job.runs
    while runs < POSSIBLE_RUNS and _reach(runs, best, claim) <= claim.epsilon:
        runs *= 2
    remedy = f"raise --runs to at least {runs:,}" if runs < POSSIBLE_RUNS else "audit a smaller ε or use an exact law"
    return (
        f"{best.n:,} runs a side can certify at most ε = {most:.3g}, which is no more than the claimed "
        f"{claim.epsilon:g}; {remedy}."
    )


def _unread(collected: Collected) -> str | None:
    """The remedy where much of the outputs is nothing that an event could be made from: then it was not tested."""
    share, kind = max(track.learner.unread() for track in collected.sequential.tracks)
    if share <= UNREAD:
        return None
    return (
        f"{100 * share:.3g} % of the outputs have parts of type {kind} that dpaudit does not read, and hardly two of "
        "them are equal, so they were not tested; return numbers, texts, dates, or tuples, sets, dicts, arrays or "
        "dataclasses of these."
    )


def _weak(job: PrivacyJob, collected: Collected, request: Request) -> str | None:
    """The remedy when these samples would not have refuted a violation that is large: then nothing was tested.

    A violation of ε* is taken to be on an event of probability ½ on one dataset and e^−ε*/2 on the other, as that of a
    noisy count is; or on one of the learned events, where it would show sooner.
    """
    claim = job.claim
    target = request.min_power * (claim.epsilon or SMALLEST)
    weighed = [certified.evidence for certified in collected.certified]
    if min((e.detectable_epsilon for e in weighed if e.detectable_epsilon is not None), default=math.inf) <= target:
        return None
    p = 0.5 + claim.delta / 2
    q = (p - claim.delta) * math.exp(-target)
    alpha = max(e.alpha for e in weighed)
    needed = POSSIBLE_RUNS
    if power.information_limit(p, q, epsilon=claim.epsilon, delta=claim.delta, alpha=alpha) < POSSIBLE_RUNS:
        needed = power.runs_needed(p, q, epsilon=claim.epsilon, delta=claim.delta, alpha=alpha, power=0.9)
    if max(e.n for e in weighed) >= needed:
        return None
    runs = needed
    while runs - learning_runs(runs) < needed:
        runs = math.ceil(1.02 * runs)
    remedy = f"raise --runs to about {_rounded_up(runs):,}" if needed < POSSIBLE_RUNS else "use an exact law"
    return (
        f"Nothing was refuted, but {job.runs:,} samples of each dataset would not have shown a violation of ε ≥ "
        f"{target:.3g} with probability 0.9; {remedy}, or accept less with a larger --min-power."
    )


def _rounded_up(runs: int) -> int:
    """To two digits."""
    step: int = 10 ** max(0, len(str(runs)) - 2)
    return -(-runs // step) * step


def _reach(runs: int, best: SampledEvidence, claim: Claim) -> float:
    """The largest ε that a budget of `runs` a side can certify: what is not spent on learning certifies."""
    return power.largest_certifiable(runs - learning_runs(runs), best.alpha, delta=claim.delta)


def _exact_refutation(found: Findings, claim: Claim) -> str:
    worst = max(
        found.exact,
        key=lambda e: (math.inf if e.epsilon is None else e.epsilon, e.delta),
    )
    epsilon = "no finite ε" if worst.epsilon is None else f"ε = {worst.epsilon:.7g}"
    if worst.bounds is not None:
        certain = at_least(worst.bounds.epsilon_low)
        how = "for certain" if worst.bounds.certain else "at least"
        epsilon = certain if worst.by_density or worst.epsilon is None else f"{epsilon} ({how} {certain})"
    enumerated = found.enumeration
    if enumerated is not None and enumerated.refutes and enumerated.proof is not None:
        return (
            f"The exact laws of {enumerated.what} refute the claim: in interval arithmetic the worst pair needs "
            f"{at_least(enumerated.proof.epsilon_low)} at δ = {claim.delta:.6g} (claimed {claim.epsilon:.6g}), and "
            f"up to δ = {found.delta or 0.0:.6g} is needed at ε = {claim.epsilon:.6g}."
        )
    return (
        f"The exact laws of related pairs need {epsilon} at δ = {claim.delta:.6g} (claimed {claim.epsilon:.6g}), "
        f"and up to δ = {found.delta or 0.0:.6g} at ε = {claim.epsilon:.6g}."
    )


def _sampled_refutation(collected: Collected, claim: Claim, request: Request) -> str:
    text = (
        f"Runs certify ε ≥ {rounded_down(collected.epsilon_lower)} at δ = {claim.delta:.6g} "
        f"(claimed {claim.epsilon:.6g}) with confidence {100 * (1 - request.alpha):g} %"
    )
    state = collected.sequential
    if _by_bits(collected):
        text += ", by the bit patterns of its doubles"
    if state.refuted_at is not None:
        earlier = " on top of earlier results" if state.carried is not None else ""
        text += f"; the e-process refuted the claim after {state.refuted_at:,} runs a side{earlier}"
    return text + "."


def _by_bits(collected: Collected) -> bool:
    """Whether bit patterns are what refutes."""
    best = collected.best
    return best is not None and best.evidence.family == "bits"


def _proof(enumerated: Enumeration, claim: Claim) -> str:
    proof = enumerated.proof
    if proof is None:
        return f"There is no pair in {enumerated.what}."
    given = f", given the symmetries that it declares ({', '.join(proof.symmetries)})" if proof.symmetries else ""
    allowed = tolerance(claim, proof.rounded)
    met = abs((proof.epsilon_low or 0.0) - claim.epsilon) <= 2 * allowed * max(1.0, claim.epsilon)
    how = "met with equality" if met else f"claimed {claim.epsilon:.6g}"
    most = "no bound" if proof.epsilon_most is None else f"more than {proof.epsilon_most:.12g}"
    what = "" if proof.certain else " of the program with its rounded numbers"
    rounding = "the rounding of the claim" if proof.certain else "the rounding of its numbers, so this is no proof"
    return (
        f"The exact laws of {enumerated.what}{what} keep the claim{given}. In interval arithmetic the worst pair needs "
        f"{at_least(proof.epsilon_low)} at δ = {claim.delta:.6g} ({how}), and no pair {most}, to within "
        f"{rounding} ({allowed:g})."
    )


def _pairs(number: int) -> str:
    return "1 pair" if number == 1 else f"{number:,} pairs"
