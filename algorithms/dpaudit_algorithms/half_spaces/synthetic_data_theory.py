"""Utility of SyntheticData, Remark 6.22: how close a database is to another one for all queries of a class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import Goal, Instance, Mechanism, Multiset, UtilityClaim, checks
from dpaudit_algorithms.half_spaces.release_thresholds_theory import distance
from dpaudit_algorithms.lower_bounds.query_release_theory import CloseAnswers, exactly, share
from dpaudit_algorithms.pac.concepts import ConceptClass, Thresholds


class SyntheticDataTheory(Mechanism):
    """Of `SyntheticData`, whose parameters these are."""

    inner: Mechanism
    concepts: ConceptClass
    alpha: float | Fraction

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(α + α₀)-close, as often as Est is α₀-close to S, for every α₀ ≤ α that the release guarantees."""
        claims = []
        for claim in self.inner.utility(records):
            goal = claim.goal
            if not isinstance(goal, CloseAnswers) or goal.concepts != self.concepts:
                continue
            if (inner := exactly(goal.alpha)) <= (own := exactly(self.alpha)):
                close = CloseDatabase(self.concepts, own + inner)
                claims.append(UtilityClaim(close, claim.probability, "§6.6.1, Remark 6.22"))
        return tuple(claims)


@dataclass(frozen=True)
class CloseDatabase(Goal):
    """The output is a database Ŝ with |Q_c(S) − Q_c(Ŝ)| ≤ α for every c of the class.

    Args:
        concepts: C.
        alpha: > 0, exactly as written in decimals, or a fraction.

    Source: thesis, Definition 6.20.
    """

    concepts: ConceptClass
    alpha: checks.ExactPositive

    def reached(self, instance: Instance, output: Any) -> bool:
        return furthest(self.concepts, Multiset.of(instance.dataset), Multiset.of(output)) <= exactly(self.alpha)

    def __str__(self) -> str:
        return f"synthetic data {float(self.alpha):.4g}-close for the class"


def furthest(concepts: ConceptClass, S: Multiset, other: Multiset) -> Fraction:
    """The largest |Q_c(S) − Q_c(other)| over c in C, of two databases that are not empty."""
    if isinstance(concepts, Thresholds):
        return distance(S, other)
    return max(abs(share(concepts, c, S) - share(concepts, c, other)) for c in concepts.concepts)
