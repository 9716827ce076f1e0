"""Exact privacy loss of one pair, both directions: what the algorithms' tests share."""

from __future__ import annotations

from dpaudit.interpret import align, law
from dpaudit.language import Dataset, Mechanism
from dpaudit.stats.hockey_stick import epsilon_at_symmetric, profile_symmetric


def exact_epsilon(mechanism: Mechanism, left: Dataset, right: Dataset, delta: float) -> float:
    """Smallest ε at δ."""
    _, p, q = align(law(mechanism, left), law(mechanism, right))
    return epsilon_at_symmetric(p, q, delta)


def exact_delta(mechanism: Mechanism, left: Dataset, right: Dataset, epsilon: float) -> float:
    """Smallest δ at ε."""
    _, p, q = align(law(mechanism, left), law(mechanism, right))
    return float(profile_symmetric(p, q, [epsilon])[0])
