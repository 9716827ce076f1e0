"""Proves a claim of a program for every dataset of a scope."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.language.claim import Claim
from dpaudit.language.curves import Curve, ZeroConcentrated
from dpaudit.language.mechanism import Mechanism
from dpaudit.options import CLAIM, EPSILON
from dpaudit.proofs.attempt import Attempt, Explored
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.claimed import scopes_of_claim
from dpaudit.proofs.exact import LARGEST, exactly
from dpaudit.proofs.interpreter import is_frozen
from dpaudit.proofs.parts import Parts, Proved, called
from dpaudit.proofs.paths import LIMITS, Finished, Limits, Seen
from dpaudit.proofs.program import paths, stated
from dpaudit.proofs.queries import asked
from dpaudit.proofs.refute import bounded_below, refuted
from dpaudit.proofs.results import Outcome, Proof, Unknown, Unsupported
from dpaudit.proofs.scopes import Answers, Container, Domain, Queries, Records, Scope, ScopeOfClaim, Stream
from dpaudit.proofs.streams import prove_stream
from dpaudit.proofs.translation import label_of, prove_translation

TIGHTER, TIGHTENED = Fraction(999, 1000), 4
"""Each part is proved for an ε that is smaller by this factor, up to this many times: paths may be joined for that."""
MOST_AT_ONCE = 500
"""Paths above which a program is looked at in parts before it is followed at once."""
QUICK = Limits(paths=300, steps=300_000, programs=2_000, states=40)
"""Of a proof that nobody asked for: a second or two."""


def prove(
    target: Any, scope: Scope | None = None, *, epsilon: float | Fraction | None = None, delta: float = 0.0,
    claim: Claim | Curve | None = None, refute: bool = True, lower: bool = False, seed: int = 0,
) -> Outcome:
    """Proves a claim of a program for every dataset of a scope, by aligning the noise of neighbouring datasets.

    The program's source is followed on symbols. On every execution path, a linear program finds the cheapest shift of
    the draws with which the neighbouring dataset takes the same path to the same output; its cost is the ε. Gaussian
    noise is shifted alike on all paths, which proves (ε, δ), zCDP or μ-GDP.

    Args:
        target: a mechanism, or a function f(data, rng) that draws its noise from rng, a numpy Generator. Answers, the
            answers of a Stream and records of a Domain are passed as a tuple, Records as a vector of floats.
        scope: the datasets and their neighbours: `Answers`, `Stream`, `Records` or `Domain`. By default all datasets
            of a mechanism's claim, which it sees through its queries and quality functions, or as answers.
        epsilon: the claim, in natural units; by default the mechanism's own.
        delta: δ of the claim.
        claim: instead of epsilon and delta, a `Claim`, or a curve such as `ZeroConcentrated` or `GaussianDP`.
        refute: whether to look for a violation by sampling if no proof of an ε is found.
        lower: whether to bound ε from below by sampling if a proof of an ε is found; this takes up to a minute.
        seed: of the samples.

    Returns:
        Proof, Refuted or Unknown.

    Raises:
        UsageError: no claim, or more than one; no scope for what has none of its own.
        ParameterError: epsilon or delta is out of range.
    """
    if scope is not None and not isinstance(scope, Answers | Stream | Records | Domain):
        raise UsageError("scope must be Answers, Stream, Records or Domain, not {}.", repr(scope))
    what = claimed(target, epsilon=epsilon, delta=delta, claim=claim)
    if scope is None:
        own = claim if isinstance(claim, Claim) else None
        scopes = scopes_of_claim(target, own) if isinstance(target, Mechanism) else ()
        if not scopes:
            raise UsageError("Give the scope: Answers, Stream, Records or Domain.")
        return prove_widest(target, scopes, what, refute=refute, lower=lower, seed=seed)
    return _outcome(target, scope, what, refute=refute, lower=lower, seed=seed, limits=LIMITS)


def prove_widest(
    target: Any, scopes: Sequence[ScopeOfClaim], what: Claimed, *, refute: bool = True, lower: bool = False,
    seed: int = 0, limits: Limits = LIMITS, container: Container | None = None,
) -> Outcome:
    """The outcome for the first scope in which the program can be followed, else for the last one.

    Args:
        target, refute, lower, seed: as in `prove`.
        scopes: at least one, the widest first.
        what: the claim.
        limits: beyond which a scope is given up.
        container: what a function gets its records in, where that is known.
    """
    for number, scope in enumerate(scopes, 1):
        outcome = _outcome(
            target, scope, what, refute=refute, lower=lower, seed=seed, limits=limits, container=container
        )
        if number == len(scopes) or not isinstance(outcome, Unknown) or outcome.least is not None:
            break
    return outcome


@dataclass(frozen=True)
class Claimed:
    """What is to be proved.

    Args:
        epsilon: of the claim.
        claim: where it is no ε alone.
    """

    epsilon: Fraction
    claim: Claim | None = None


def claimed(
    target: Any, *, epsilon: float | Fraction | None = None, delta: float = 0.0, claim: Claim | Curve | None = None
) -> Claimed:
    """The claim from what is given, or the mechanism's own.

    Raises:
        UsageError: there is none, or more than one.
        ParameterError: epsilon or delta is out of range.
    """
    if claim is not None and (epsilon is not None or delta):
        raise UsageError("Give {} or {}, not both.", CLAIM, EPSILON)
    if isinstance(claim, Curve):
        # the point of it that samples would test is not needed, and takes a while to find
        claim = Claim.of(claim, epsilon=1.0)
    if claim is None and epsilon is None:
        claim = target.claim if isinstance(target, Mechanism) else None
        if claim is None:
            raise UsageError("Give the ε to prove, with {}.", EPSILON)
    if claim is None:
        assert epsilon is not None
        value = exactly(epsilon)
        if value < 0 or not (value or delta):
            raise UsageError("epsilon must be above 0, not {}.", epsilon)
        return Claimed(value, Claim(float(value), delta) if delta else None)
    value = exactly(claim.epsilon)
    if label_of(claim):
        return Claimed(value, claim)
    if value <= 0:
        raise UsageError("epsilon must be above 0, not {}.", claim.epsilon)
    return Claimed(value)


def _outcome(
    target: Any, scope: ScopeOfClaim, what: Claimed, *, refute: bool, lower: bool, seed: int, limits: Limits,
    container: Container | None = None,
) -> Outcome:
    started = time.perf_counter()
    name = target.name if isinstance(target, Mechanism) else getattr(target, "__name__", type(target).__name__)
    seen, explored = Seen(), dict[Explored, list[Finished]]()
    if isinstance(scope, Queries):
        followed: list[list[Finished]] = []
        try:
            scope = asked(
                target, scope,
                lambda data: followed.append(paths(target, lambda: data, limits=limits, seen=seen)),
            )
        except Unsupported as error:
            goal = label_of(what.claim) if what.claim is not None else ""
            return Unknown(error.reason, error.remedy, error.place, what.epsilon, name, str(scope), goal=goal)
        # answers that no dataset may have refute nothing
        refute = lower = False
        if all(is_frozen(each.subject) for each in scope.asked):
            # otherwise a query may be another one in every run
            explored[scope.k, frozenset(), False] = followed[0]
    attempt = Attempt(
        target, scope, what.epsilon, name, limits, container=container, explored=explored, seen=seen
    )
    outcome: Outcome = _first(attempt, what.claim)
    if isinstance(outcome, Proof):
        wrong = check_certificate(outcome.certificate)
        outcome = replace(outcome, stated=stated(target, scope)) if wrong is None else replace(
            attempt.unknown(f"The certificate is not confirmed: {wrong}", "Report this as a bug of dpaudit.", None),
            goal=outcome.goal,
        )
    if refute and isinstance(outcome, Unknown) and what.claim is None:
        found = refuted(attempt, outcome, seed)
        if found is not None:
            outcome = found
    if lower and isinstance(outcome, Proof) and what.claim is None:
        outcome = replace(outcome, lower=bounded_below(attempt, seed))
    return replace(outcome, seconds=time.perf_counter() - started)


def _first(attempt: Attempt, claim: Claim | None) -> Proof | Unknown:
    """A proof by one shift for all paths, or by one for each path where there is no Gaussian noise."""
    if claim is None:
        return _alone(attempt)
    outcome: Proof | Unknown
    if not isinstance(attempt.scope, Stream):
        outcome = _by_parts(attempt, lambda each: prove_translation(each, claim))
        if isinstance(outcome, Proof) or attempt.draws_gaussian:
            return outcome
    epsilon = _implying(claim)
    label = label_of(claim)
    if epsilon is None:
        return replace(attempt.unknown(f"An ε alone proves no claim of {label}.", "", None), goal=label)
    delta = exactly(claim.delta) if claim.curve is None and claim.rho is None else Fraction(0)
    found = _alone(replace(attempt, claimed=epsilon, delta=delta))
    return replace(found, claimed=attempt.claimed, goal=label)


def _alone(attempt: Attempt) -> Proof | Unknown:
    if isinstance(attempt.scope, Stream):
        return prove_stream(attempt)
    return _by_parts(attempt, lambda each: each.outcome())


def _by_parts(attempt: Attempt, find: Callable[[Attempt], Proof | Unknown]) -> Proof | Unknown:
    """A proof, in which what is applied to the whole dataset is proved by itself if there is none otherwise."""
    limits = attempt.limits
    attempt.limits = replace(limits, paths=min(limits.paths, MOST_AT_ONCE))
    outcome = find(attempt)
    attempt.limits = limits
    if not isinstance(outcome, Proof) and attempt.seen.applies:
        parts = Parts(lambda target: _part(attempt, target, limits))
        found = find(Attempt(
            attempt.target, attempt.scope, attempt.claimed, attempt.name, limits, attempt.delta, attempt.container,
            parts=parts,
        ))
        if isinstance(found, Proof) or (outcome.least is None and parts.list):
            outcome = found
    if not isinstance(outcome, Proof) and outcome.least is None and attempt.seen.too_many and (
        limits.paths > MOST_AT_ONCE
    ):
        attempt.clipping = False
        outcome = find(attempt)
    return outcome


def _part(attempt: Attempt, target: Any, limits: Limits) -> Proved | None:
    """The least ε that is proved of a part, up to 0.1 %."""
    container = attempt.handed_in
    if isinstance(target, Mechanism) and container != "tuple":
        return None
    best: Proved | None = None
    claimed = Fraction(LARGEST)
    for _ in range(TIGHTENED):
        mine = Attempt(target, attempt.scope, claimed, called(target), limits, container=container)
        found = mine.outcome()
        if not isinstance(found, Proof):
            break
        best, claimed = Proved(found.epsilon, found.certificate, mine.outputs), found.epsilon * TIGHTER
        if not claimed:
            break
    return best


def _implying(claim: Claim) -> Fraction | None:
    """The largest ε that implies a claim, or a little less; None where none does.

    Source: ε-DP is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
    """
    curve = claim.curve
    rho = curve.rho if isinstance(curve, ZeroConcentrated) else claim.rho
    if rho is not None:
        root = Fraction(math.sqrt(2 * rho)).limit_denominator(10**6)
        return root if root**2 <= 2 * exactly(rho) else root - Fraction(1, 10**6)
    return exactly(claim.epsilon) if curve is None else None
