"""What refutes: exact evidence against a claim of privacy, an attempt against a utility guarantee.

Nothing but numbers of the result decides, so that a result that is read back is checked by the rule that made it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpaudit.language import Claim
from dpaudit.results.model import Attempt, CurveRecord, ExactEvidence

ROUNDING = 1e-9
"""Relative, and an absolute 1e-13 on δ: laws are sums of doubles, and a violation must be more than their rounding."""
TOLERANCE = 1e-11
"""Of two ε this close, relative above 1, nothing is said about which is larger; and so much more than δ is allowed,
relative: where δ is all on outcomes that the other dataset lacks, 1e-22 more of it would need an infinite ε. A program
that rounds its numbers to doubles must not refute a claim that it meets with equality: it has to exceed it by more.
"""
CLAIM_ROUNDING = 1e-12
"""The same of a program whose numbers were all exact: the claim is a double that its formula (k·e^{kε}·δ) rounds."""
GUARANTEE_ROUNDING = 1e-12
"""By how much an exact probability must miss the guarantee to violate it: the guarantee is a rounded number."""


def refutes(evidence: ExactEvidence, claim: Claim) -> bool:
    """Whether exact evidence exceeds the claim by more than rounding.

    For a pure claim the likelihood ratio decides, which is accurate however rare the outcome; with δ > 0 the
    divergence at the claimed ε does. Where there are bounds that are certain, those from below must exceed both of the
    claim's numbers.
    """
    if evidence.bounds is not None:
        least = math.inf if evidence.bounds.epsilon_low is None else evidence.bounds.epsilon_low
        allowed = tolerance(claim, evidence.bounds.rounded)
        more = least > claim.epsilon + 2 * allowed * max(1.0, claim.epsilon)
        return more and evidence.bounds.delta_low > claim.delta * (1 + allowed)
    if claim.pure:
        return evidence.epsilon is None or evidence.epsilon > claim.epsilon * (1 + ROUNDING) + 1e-12
    return evidence.delta > claim.delta * (1 + ROUNDING) + 1e-13


def tolerance(claim: Claim, rounded: Sequence[str] | None) -> float:
    """By how much, relative above 1, an interval must lie above a claim to refute it.

    Args:
        claim: the δ of one of zCDP, or of a curve, is from a search, and less precise than a formula.
        rounded: what the program rounded to doubles; None where that is not known.
    """
    searched = claim.rho is not None or claim.curve is not None
    return CLAIM_ROUNDING if rounded is not None and not rounded and not searched else TOLERANCE


def exceeds_curve(curve: CurveRecord) -> bool:
    """Whether the exact parameter of the worst pair exceeds the claimed one by more than rounding."""
    return curve.exact is not None and curve.exact > curve.claimed * (1 + ROUNDING) + 1e-12


def misses(one: Attempt, guaranteed: float, *, at_most: bool, exactly: bool = False) -> bool:
    """Whether the attempt violates the guarantee."""
    if one.exact_low is not None and one.exact_high is not None:
        room = TOLERANCE if one.rounded else GUARANTEE_ROUNDING
        exact_evidence = one.exact_low > guaranteed + room if at_most else one.exact_high < guaranteed - room
        if exact_evidence or exactly:
            return exact_evidence
    if one.low is None or one.high is None:
        return False
    return one.low > guaranteed if at_most else one.high < guaranteed
