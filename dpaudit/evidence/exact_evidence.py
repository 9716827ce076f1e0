"""Exact evidence: the laws of a case's pairs, and of every pair of its scope."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np

from dpaudit.adversary import Pair
from dpaudit.errors import MechanismError, NotEnumerableError, SymmetryError, TimeLimitError
from dpaudit.evidence.assumptions import always_fails, copies, only_failures
from dpaudit.evidence.curve_sweep import sweep_curve
from dpaudit.evidence.curves import Comparison, whole_curve, worst_comparison, worst_point
from dpaudit.evidence.density import ComparedPair, Exact, Losses, compared, comparison
from dpaudit.evidence.exact import MOST_INTERVALS, PairLaws, enclosed_laws, finite, worse
from dpaudit.evidence.findings import Enumeration, Findings
from dpaudit.evidence.kept_state import is_examined, refuse_state
from dpaudit.evidence.sweep import exceeds, sweep
from dpaudit.interpret import LawCache
from dpaudit.language import Curve, Mechanism
from dpaudit.outputs.canonical import Raised
from dpaudit.plans.job import ExhaustiveDomain, PairSearch, PrivacyJob
from dpaudit.plans.plan import Scope
from dpaudit.results.model import Proof
from dpaudit.results.notes import (
    CurveLeftOpen,
    ExactFailures,
    Note,
    NotEveryPairExact,
    NotExact,
    OrderMatters,
    RealNoise,
    Rounded,
    SmallerDomain,
)
from dpaudit.results.refutation import refutes
from dpaudit.results.stream import Event, Progress
from dpaudit.stats.log_bounds import LogBounds
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget
from dpaudit.subjects.user_errors import guarded

SHOWN_EXHAUSTIVE = 3
"""Worst pairs of an exhaustive audit that the result keeps."""


def exact_evidence(job: PrivacyJob, findings: Findings, runner: Runner) -> Generator[Event, None, None]:
    """Compare the case's pairs, then every pair of its scope, by exact laws or densities; fills `findings` on the way.

    Raises:
        NotEnumerableError: there is no law, and nothing else to go by.
        TimeLimitError: the limit came; `findings` keeps what it has until then.
    """
    target = job.target
    if not isinstance(target, MechanismTarget) or not job.exact or job.black_box:
        return
    before = copies(target) if is_examined(target) else None
    if job.claim.curve is not None:
        job = yield from _at_worst_point(job, job.claim.curve, target.subject, findings, runner)
    yield from _every(job, target.subject, findings, runner)
    if findings.worst is not None and isinstance(findings.worst.comparison, PairLaws):
        try:
            refuse_state(before, findings.worst.pair, findings.worst.comparison, target.name)
        except MechanismError:
            findings.withdraw()
            raise


def _at_worst_point(
    job: PrivacyJob, curve: Curve, mechanism: Mechanism, findings: Findings, runner: Runner
) -> Generator[Event, None, PrivacyJob]:
    """The job at the point of its curve that the exact pairs exceed most; and what they say of the whole curve.

    Of a finite domain these pairs are its worst one.
    """
    comparisons: list[Exact] = []
    whole: list[Comparison] = []
    found: list[Pair] = []
    if isinstance(job, ExhaustiveDomain):
        swept = yield from sweep_curve(
            mechanism, job.scope, job.claim, curve, runner, job.target.name, findings.laws
        )
        if swept.worst is not None and swept.comparison is not None:
            found.append(swept.worst)
            whole.append(swept.comparison)
    try:
        for pair in (*found, *job.pairs):
            with runner.limited(), guarded(job.target.name):
                one = comparison(mechanism, pair, findings.laws)
                comparisons.append(one)
                if pair in found:
                    continue
                bounds = None
                if isinstance(one, PairLaws) and len(one.left) <= MOST_INTERVALS:
                    laws = enclosed_laws(mechanism, pair, findings.laws)
                    bounds = LogBounds.of_intervals(laws.left, laws.right)
                whole.append(whole_curve(curve, one, bounds))
        with runner.limited():
            job = replace(job, claim=job.claim.at(worst_point(curve, comparisons)))
            findings.whole_curve = worst_comparison(whole)
    except NotEnumerableError:
        # the comparison at one point says so
        return job
    if findings.whole_curve is not None and findings.whole_curve.exceeds:
        # the pair whose divergence refutes, which need not be the one with the largest ε
        job = replace(job, pairs=(*found, *job.pairs))
    findings.job = job
    return job


def _every(
    job: PrivacyJob, mechanism: Mechanism, findings: Findings, runner: Runner
) -> Generator[Event, None, None]:
    cache = findings.laws
    failing: list[Raised | None] = []
    try:
        for pair in job.pairs:
            with runner.limited():
                laws = _compare(job, mechanism, pair, cache, findings).comparison
            failing.append(only_failures(laws.values) if isinstance(laws, PairLaws) else None)
            yield Progress(0, 1, f"exact, pair {len(findings.exact)} of {len(job.pairs)}", None)
    except NotEnumerableError as error:
        if isinstance(job, ExhaustiveDomain) or not job.tests:
            raise
        findings.notes.append(NotExact(error))
        return
    kept = not any(refutes(one, job.claim) for one in findings.exact)
    if kept and findings.whole_curve is not None and findings.whole_curve.keeps is None:
        findings.notes.append(CurveLeftOpen(str(job.claim)))
    if failing and all(failing):
        findings.withdraw()
        raise always_fails(job.target.name, next(one for one in failing if one is not None))
    match job:
        case ExhaustiveDomain():
            yield from _exhaust(job, mechanism, job.scope, cache, findings, runner)
        case PairSearch(small=Scope() as small) if not any(one.by_density for one in findings.exact):
            try:
                yield from _exhaust(job, mechanism, small, cache, findings, runner)
            except (NotEnumerableError, MechanismError) as error:
                findings.notes.append(NotEveryPairExact(str(small), error))
                return
    findings.notes += _failures(findings)


def _compare(
    job: PrivacyJob, mechanism: Mechanism, pair: Pair, cache: LawCache, findings: Findings
) -> ComparedPair:
    """Compare the output distributions of a pair, and update the worst pair."""
    with guarded(job.target.name):
        one = compared(mechanism, pair, job.claim, cache)
    comparison, exact = one.comparison, one.evidence
    if isinstance(comparison, Losses) and comparison.real and RealNoise() not in findings.notes:
        findings.notes.append(RealNoise())
    if exact.bounds is not None and exact.bounds.rounded:
        _note_rounded(exact.bounds.rounded, findings)
    findings.delta = exact.delta if findings.delta is None else max(findings.delta, exact.delta)
    if findings.worst is None or worse(exact, findings.worst.evidence):
        findings.worst = one
    findings.exact.append(exact)
    return one


def _failures(findings: Findings) -> list[Note]:
    """A note on the probabilities of failures on the worst pair."""
    comparison = None if findings.worst is None else findings.worst.comparison
    if not isinstance(comparison, PairLaws) or isinstance(comparison.values, np.ndarray):
        return []
    each = zip(comparison.values, comparison.left.tolist(), comparison.right.tolist(), strict=True)
    failures = [(value, p, q) for value, p, q in each if isinstance(value, Raised) and (p or q)]
    if not failures:
        return []
    values, left, right = zip(*failures, strict=True)
    return [ExactFailures([repr(one) for one in values], [one.where.rstrip(".") for one in values], [*left], [*right])]


def _exhaust(
    job: PrivacyJob, mechanism: Mechanism, scope: Scope, cache: LawCache, findings: Findings, runner: Runner
) -> Generator[Event, None, None]:
    """Compare every pair of the finite domain; the result keeps only the worst."""
    swept = yield from sweep(mechanism, scope, job.claim, runner, job.target.name, cache)
    if not swept.complete:
        # a violation holds even if the time ran out before the last pair
        if swept.worst is not None and exceeds(swept.worst, job.claim):
            _compare(job, mechanism, swept.worst.pair, cache, findings)
        raise TimeLimitError("The time limit ran out")
    relation = job.claim.relation.name
    pairs = f"the only {relation} pair" if swept.pairs == 1 else f"all {swept.pairs:,} {relation} pairs"
    findings.enumeration = Enumeration(f"{pairs} of {scope}", swept.differing)
    if swept.order_seen is not None:
        findings.notes.append(OrderMatters(repr(swept.order_seen)))
    if swept.worst is None:
        return
    worst = swept.worst
    if worst.rounded:
        _note_rounded(worst.rounded, findings)
    # if only rounding makes it infinite, the ε at a slightly larger δ
    low = worst.epsilon.low if math.isfinite(worst.epsilon.low) else worst.at_least
    proof = Proof(
        finite(low), finite(worst.epsilon.high), finite(worst.at_most), swept.datasets, swept.pairs,
        swept.laws, list(swept.symmetries), swept.confirmed, swept.cache, list(worst.rounded),
    )
    refutes = exceeds(worst, job.claim)
    findings.enumeration = replace(findings.enumeration, proof=proof, refutes=refutes)
    for pair in (worst.pair, *swept.others)[:SHOWN_EXHAUSTIVE]:
        with runner.limited():
            _compare(job, mechanism, pair, cache, findings)
    # another pair may need the largest δ at the claimed ε
    findings.delta = max(findings.delta or 0.0, swept.delta)
    if refutes:
        yield from _smallest(job, mechanism, scope, cache, findings, runner)


def _note_rounded(rounded: Sequence[str], findings: Findings) -> None:
    """Add the note once."""
    if not any(isinstance(note, Rounded) for note in findings.notes):
        findings.notes.append(Rounded.of(rounded))


def _smallest(
    job: PrivacyJob, mechanism: Mechanism, scope: Scope, cache: LawCache, findings: Findings, runner: Runner
) -> Generator[Event, None, None]:
    """A violating pair with as few records as possible, if fewer than the domain's suffice."""
    for records in range(1, scope.records):
        try:
            smaller = replace(scope, records=records)
            swept = yield from sweep(mechanism, smaller, job.claim, runner, job.target.name, cache)
        except SymmetryError:
            raise
        except MechanismError:
            # a mechanism may require a minimum number of records
            continue
        if swept.worst is not None and exceeds(swept.worst, job.claim):
            with runner.limited():
                _compare(job, mechanism, swept.worst.pair, cache, findings)
            pair, low = swept.worst.pair, finite(swept.worst.at_least)
            findings.notes.append(SmallerDomain(records, repr(pair.left), repr(pair.right), low, job.claim.delta))
            return
