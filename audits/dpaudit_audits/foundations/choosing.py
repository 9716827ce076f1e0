"""Audits of the choosing mechanism (thesis §7.3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiplicity, Multiset, Quality, Scores
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism


def cases() -> tuple[Case, ...]:
    """Pairs around the threshold, a solution that appears, an even contest; exhaustive at a large δ; groups."""
    default = ChoosingMechanism(0.1, 1.0, 1e-6, Multiplicity((0, 1, 2)))
    return (
        Case("default", default, pairs=tuple(_pair(counts, 1) for counts in _around(141))),
        *(
            Case(
                f"every pair of {records} records, (β, ε, δ) = ({beta:g}, {epsilon:g}, {delta:g})",
                ChoosingMechanism(beta, epsilon, delta, Multiplicity((0, 1, 2))),
                runs=0,
                scope=Scope((0, 1, 2), records),
            )
            for beta, epsilon, delta, records in ((0.9, 2.0, 0.2, 12), (0.5, 2.0, 0.02, 20))
        ),
        Case(
            "every pair of 40 records, two solutions",
            ChoosingMechanism(0.9, 2.0, 1e-3, Multiplicity((0, 1))),
            runs=0,
            scope=Scope((0, 1), 40),
        ),
        Case(
            "every pair of 20 records, growth 2",
            ChoosingMechanism(0.9, 2.0, 0.02, NearBy(3)),
            runs=0,
            scope=Scope((0, 1, 2), 20),
        ),
        Case("group of 2", default, tuple(_pair(c, 2) for c in _around(142)), default.claim.group(2)),
        Case("group of 3", default, tuple(_pair(c, 3) for c in _around(143)), default.claim.group(3)),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Lemmas 7.10 and 7.11 where the optimum just reaches their bounds, and below, where ⊥ is a good answer."""
    cases = []
    for beta, epsilon, delta in ((0.1, 1.0, 1e-6), (0.9, 2.0, 0.9), (0.5, 0.1, 0.5)):
        mechanism = ChoosingMechanism(beta, epsilon, delta, Multiplicity(range(80)))
        reached = math.ceil(2 * mechanism.threshold)
        records = 2 * reached + math.ceil(32 / epsilon * math.log(80 + 4 * reached)) + 80
        above = math.ceil(reached + 16 / epsilon * math.log(records))
        sources = []
        for top in (above, reached, reached // 2, 1):
            label = f"an optimum of {top:,}, one record for each of 79 others"
            sources.append(_filled({0: top} | dict.fromkeys(range(1, 80), 1), records, label))
        for top in (above, reached):
            second = min(top - 1, records - top)
            sources.append(_filled({0: top, 1: second}, records, f"an optimum of {top:,}, one other of {second:,}"))
        for claim, lemma in zip(mechanism.utility(records), ("7.10", "7.11"), strict=True):
            label = f"Lemma {lemma}, (β, ε, δ) = ({beta:g}, {epsilon:g}, {delta:g})"
            cases.append(UtilityCase(label, mechanism, claim, tuple(sources)))
    return tuple(cases)


def _filled(counts: dict[int, int], records: int, label: str) -> Fixed:
    """With records that are no solution, up to so many."""
    return Fixed(Multiset.counted(counts | {1000: records - sum(counts.values())}), label=label)


@dataclass(frozen=True)
class NearBy(Quality):
    """q(S, f) = how many records are f or f + 1, for f in {0, …, domain − 1}: of 2-bounded growth."""

    domain: int
    growth = 2

    def __call__(self, dataset: Any) -> Scores:
        return _near_by(self.domain, Multiset.of(dataset))


@lru_cache(maxsize=256)
def _near_by(domain: int, dataset: Multiset) -> Scores:
    counts = dict(dataset.items)
    return Scores([counts.get(f, 0) + counts.get(f + 1, 0) for f in range(domain)])


def _around(optimum: int) -> tuple[tuple[int, int], ...]:
    """Multiplicities of 0 and 1 before a record is moved."""
    return ((optimum, 0), (optimum, optimum - 1), (optimum + 30, optimum), (optimum - 60, 0))


def _pair(counts: tuple[int, int], moved: int) -> Pair:
    zeros, ones = counts
    left = Multiset.counted({0: zeros, 1: ones})
    right = Multiset.counted({0: zeros - moved, 1: ones + moved})
    return Pair(left, right, f"{zeros} against {ones}, {moved} moved")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """The multiplicities of this many points."""
    points = tuple(range(domain))
    return ChoosingMechanism(0.9, 2.0, 0.2, Multiplicity(points)), Scope(points, records)


PLAN = Plan("ChoosingMechanism", cases, small, utility=utility)
