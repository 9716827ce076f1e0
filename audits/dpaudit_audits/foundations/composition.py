"""Audits of the composition theorems (thesis §3.1.1): one bit, and groups of bits."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit_algorithms.foundations.composition import AdvancedComposition, BasicComposition, Concatenation
from dpaudit_algorithms.foundations.dominating import DominatingMechanism

BIT = Pair((0,), (1,), "the two bits")
BITS = Scope((0, 1), 1, ordered=True)


def dominating_cases() -> tuple[Case, ...]:
    """The mechanism that attains (ε, δ), and kε on groups of k when pure."""
    return (
        _bits("default", DominatingMechanism(1.0, 1e-6)),
        _bits("a large leak", DominatingMechanism(0.5, 0.1)),
        _bits("pure", DominatingMechanism(1.0)),
        *_groups(DominatingMechanism(1.0, 1e-6)),
    )


def concatenation_cases() -> tuple[Case, ...]:
    """Theorem 3.4 with two different claims."""
    return (
        _bits("default", Concatenation(DominatingMechanism(0.5, 1e-6), DominatingMechanism(0.25, 1e-3))),
        _bits("pure", Concatenation(DominatingMechanism(0.5), DominatingMechanism(1.0))),
        *_groups(Concatenation(DominatingMechanism(0.5), DominatingMechanism(0.25, 1e-3))),
    )


def basic_cases() -> tuple[Case, ...]:
    """Theorem 3.5: attained when pure; with leaks only 1 − (1 − δ)^k of kδ is used."""
    return (
        _bits("default", BasicComposition(0.1, 1e-6, 10)),
        _bits("pure, k = 4", BasicComposition(0.5, 0.0, 4)),
        _bits("large leaks", BasicComposition(0.1, 0.02, 10)),
        _exact("k = 30", BasicComposition(0.1, 1e-6, 30)),
        *_groups(BasicComposition(0.25, 1e-6, 4)),
    )


def advanced_cases() -> tuple[Case, ...]:
    """Theorem 3.6, from ε = 1, where it guarantees little, to many small interactions."""
    return (
        _bits("default", AdvancedComposition(0.1, 1e-6, 30, 1e-6)),
        _bits("large δ′", AdvancedComposition(0.1, 1e-3, 10, 0.1)),
        _exact("ε = 1, k = 8", AdvancedComposition(1.0, 0.0, 8, 1e-6)),
        _exact("δ′ = 1", AdvancedComposition(0.1, 0.0, 20, 1.0)),
        _exact("k = 80", AdvancedComposition(0.1, 1e-6, 80, 1e-3)),
        *_groups(AdvancedComposition(0.1, 1e-6, 4, 0.1)),
    )


def _bits(label: str, mechanism: Mechanism) -> Case:
    """Sampled and exact; the finite domain contains all datasets."""
    return Case(label, mechanism, pairs=(BIT,), scope=BITS)


def _exact(label: str, mechanism: Mechanism) -> Case:
    return Case(label, mechanism, runs=0, scope=BITS)


def _groups(mechanism: Mechanism) -> tuple[Case, ...]:
    """Groups of 2 and 3: all records change, each answers for itself."""
    assert mechanism.claim is not None
    return tuple(
        Case(
            f"group of {k}",
            mechanism,
            (Pair((0,) * k, (1,) * k, f"{k} bits turned"),),
            mechanism.claim.group(k),
            runs=50_000,
        )
        for k in (2, 3)
    )


DOMINATING_PLAN = Plan("DominatingMechanism", dominating_cases)
CONCATENATION_PLAN = Plan("Concatenation", concatenation_cases)
BASIC_PLAN = Plan("BasicComposition", basic_cases)
ADVANCED_PLAN = Plan("AdvancedComposition", advanced_cases)
