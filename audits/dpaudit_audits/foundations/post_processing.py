"""Audits of post-processing (thesis, Theorem 3.3)."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.foundations.post_processing import PostProcessing

IDENTITY = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
NOISY = ((0.7, 0.2, 0.1), (0.6, 0.3, 0.1), (0.1, 0.5, 0.4), (0.0, 0.1, 0.9))


def cases() -> tuple[Case, ...]:
    """A function that loses nothing attains the claim, a noisy one stays inside."""
    lossless = PostProcessing(DominatingMechanism(1.0, 0.01), IDENTITY)
    noisy = PostProcessing(DominatingMechanism(1.0, 0.01), NOISY)
    pair, scope = Pair((0,), (1,), "the two bits"), Scope((0, 1), 1, ordered=True)
    return (
        Case("default", lossless, pairs=(pair,), scope=scope),
        Case("noisy", noisy, pairs=(pair,), scope=scope),
        *(
            Case(f"group of {k}", lossless, (Pair((0,) * k, (1,) * k, f"{k} bits turned"),), lossless.claim.group(k))
            for k in (2, 3)
        ),
    )


PLAN = Plan("PostProcessing", cases)
