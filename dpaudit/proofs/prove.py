"""Proves that a program is ε-DP for every dataset of a scope."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.language.mechanism import Mechanism
from dpaudit.options import EPSILON
from dpaudit.proofs.attempt import Attempt
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.paths import LIMITS, Limits
from dpaudit.proofs.refute import refuted
from dpaudit.proofs.results import Outcome, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit.proofs.streams import prove_stream

QUICK = Limits(paths=300, steps=300_000, programs=2_000, states=40)
"""Of a proof that nobody asked for: a second or two."""


def prove(
    target: Any, scope: Scope, *, epsilon: float | Fraction | None = None, refute: bool = True, seed: int = 0
) -> Outcome:
    """Proves that a program is ε-DP for every dataset of a scope, by aligning the noise of neighbouring datasets.

    The program's source is followed on symbols. On every execution path, a linear program finds the cheapest shift of
    the draws with which the neighbouring dataset takes the same path to the same output; its cost is the ε.

    Args:
        target: a mechanism, or a function f(data, rng) that draws its noise from rng, a numpy Generator. Answers, the
            answers of a Stream and records of a Domain are passed as a tuple, Records as a vector of floats.
        scope: the datasets and their neighbours: `Answers`, `Stream`, `Records` or `Domain`.
        epsilon: the claim, in natural units; by default the mechanism's own.
        refute: whether to look for a violation by sampling if no proof is found.
        seed: of the samples.

    Returns:
        Proof, Refuted or Unknown.

    Raises:
        UsageError: no claim, or one with δ > 0.
        ParameterError: epsilon is not a finite number.
    """
    if not isinstance(scope, Answers | Stream | Records | Domain):
        raise UsageError("scope must be Answers, Stream, Records or Domain, not {}.", repr(scope))
    return _outcome(target, scope, _claimed(target, epsilon), refute=refute, seed=seed, limits=LIMITS)


def prove_widest(
    target: Any, scopes: Sequence[Scope], *, epsilon: float | Fraction | None = None, refute: bool = True,
    seed: int = 0, limits: Limits = LIMITS,
) -> Outcome:
    """The outcome for the first scope in which the program can be followed, else for the last one.

    Args:
        target, epsilon, refute, seed: as in `prove`.
        scopes: at least one, the widest first.
        limits: beyond which a scope is given up.
    """
    claimed = _claimed(target, epsilon)
    for scope in scopes[:-1]:
        outcome = _outcome(target, scope, claimed, refute=refute, seed=seed, limits=limits)
        if not isinstance(outcome, Unknown) or outcome.least is not None:
            return outcome
    return _outcome(target, scopes[-1], claimed, refute=refute, seed=seed, limits=limits)


def _outcome(
    target: Any, scope: Scope, claimed: Fraction, *, refute: bool, seed: int, limits: Limits
) -> Outcome:
    started = time.perf_counter()
    name = target.name if isinstance(target, Mechanism) else getattr(target, "__name__", type(target).__name__)
    attempt = Attempt(target, scope, claimed, name, limits)
    outcome: Outcome = prove_stream(attempt) if isinstance(scope, Stream) else attempt.outcome()
    if refute and isinstance(outcome, Unknown):
        found = refuted(attempt, outcome, seed)
        if found is not None:
            outcome = found
    return replace(outcome, seconds=time.perf_counter() - started)


def _claimed(target: Any, epsilon: float | Fraction | None) -> Fraction:
    if epsilon is None:
        claim = target.claim if isinstance(target, Mechanism) else None
        if claim is None:
            raise UsageError("Give the ε to prove, with {}.", EPSILON)
        if claim.delta:
            raise UsageError("Only claims with δ = 0 are proved; this one has δ = {}.", claim.delta)
        epsilon = claim.epsilon
    value = exactly(epsilon)
    if value <= 0:
        raise UsageError("epsilon must be above 0, not {}.", epsilon)
    return value
