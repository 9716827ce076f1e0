"""What a target names, and the claim that it is tested against, for all front ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from dpaudit.errors import UsageError
from dpaudit.language import REPLACE_ONE, Claim, Mechanism
from dpaudit.options import DELTA, EPSILON, READ, RELATION
from dpaudit.plans import registry
from dpaudit.plans.plan import Plan
from dpaudit.plans.request import Request
from dpaudit.subjects.adapters import adapted
from dpaudit.subjects.foreign import refused
from dpaudit.subjects.read import reading
from dpaudit.subjects.stated import stated_claim
from dpaudit.subjects.target import instantiate, load_object, with_parameters


@dataclass(frozen=True)
class CatalogueSubject:
    """An algorithm of the catalogue.

    Args:
        name: as it is registered.
        plan: its instances, and what to try against them.
    """

    name: str
    plan: Plan


@dataclass(frozen=True)
class OwnSubject:
    """A mechanism or function of the user's own.

    Args:
        value: with the parameters of the request.
        name: in messages and reports.
        source: the file or module that it is from, or "python".
    """

    value: Mechanism | Callable[..., object]
    name: str
    source: str


Subject: TypeAlias = CatalogueSubject | OwnSubject


def subject_of(request: Request, target: str | Callable[..., object] | Mechanism) -> Subject:
    """What one target of a request stands for.

    Raises:
        UsageError and its kinds: as `resolved`; UnknownNameError: the catalogue has no such name.
    """
    if registry.in_catalogue(target):
        if request.read is not None:
            raise UsageError(
                "{} is for functions of your own, and {} is an algorithm of the catalogue.", READ, target
            )
        return CatalogueSubject(target, registry.plan(target))
    return resolved(request, target)


def resolved(request: Request, target: str | Callable[..., object] | Mechanism) -> OwnSubject:
    """A mechanism or function of the user's own, with the parameters of the request.

    Raises:
        UsageError and its kinds: there is no such thing, it cannot be audited, or it refuses its parameters.
    """
    subject, source = load_object(target) if isinstance(target, str) else (target, "python")
    subject = adapted(subject)
    name = target.rpartition(":")[2] if isinstance(target, str) else name_of(subject)
    if isinstance(subject, type) and issubclass(subject, Mechanism):
        subject = instantiate(subject, request.parameters)
    elif isinstance(subject, Mechanism) and request.parameters:
        subject = with_parameters(subject, request.parameters)
    if not isinstance(subject, Mechanism) and not callable(subject):
        raise UsageError(refused(subject, name if isinstance(target, str) else ""))
    if request.read is not None:
        subject = reading(subject, request.read, name)
    return OwnSubject(subject, name, source)


def name_of(subject: object) -> str:
    """The name of a function or mechanism in messages and reports."""
    return getattr(subject, "__name__", type(subject).__name__)


def own_claim(subject: object) -> Claim | None:
    """The claim of a mechanism, or the one that a function declares; None without one."""
    return subject.claim if isinstance(subject, Mechanism) else stated_claim(subject, name_of(subject))


def tested_claim(request: Request, own: Claim | None, name: str) -> Claim:
    """The claim of a request; parts that it does not state are those of the subject's claim.

    Raises:
        UsageError: neither states ε.
    """
    claim = _stated(request, own, name)
    relation = request.located(claim.relation)
    return claim if relation == claim.relation else replace(claim, relation=relation)


def _stated(request: Request, own: Claim | None, name: str) -> Claim:
    if request.claim is not None:
        return request.claim
    relation = request.stated_relation
    if own is None:
        if request.epsilon is None:
            raise UsageError(
                "What does {} claim? Give {} (and {}, {} if needed).", name, EPSILON, DELTA, RELATION
            )
        own = Claim(request.epsilon, request.delta or 0.0, relation or REPLACE_ONE)
    if request.epsilon is None and request.delta is None and relation is None:
        # unchanged, as it may be more than (ε, δ)
        return own
    return Claim(
        own.epsilon if request.epsilon is None else request.epsilon,
        own.delta if request.delta is None else request.delta,
        relation or own.relation,
    )


def refuse_half(
    target: object, *, claimed: bool, placed: bool, how_to_claim: str, how_to_place: str
) -> None:
    """Report a missing claim or missing datasets of a function at once.

    Args:
        target: the subject; names and mechanisms have both.
        claimed: whether ε is given.
        placed: whether datasets, or a source of them, are given.
        how_to_claim, how_to_place: what to give, in the terms of the front end.

    Raises:
        UsageError: one of them is missing.
    """
    if isinstance(target, str | Mechanism | type) or not callable(target):
        return
    if not claimed and own_claim(target) is None:
        raise UsageError(f"What does {name_of(target)} claim? {how_to_claim}")
    if not placed:
        raise UsageError(f"Which datasets should {name_of(target)} be tested on? {how_to_place}")
