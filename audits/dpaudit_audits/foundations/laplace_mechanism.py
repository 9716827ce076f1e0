"""Audits of the Laplace mechanism (thesis §3.5.1)."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram, LaplaceMechanism, LaplaceMechanismRounded


def cases() -> tuple[Case, ...]:
    """A count and a histogram; the output is real, and its density is what is known exactly."""
    count = LaplaceMechanism(1.0, Count(1))
    histogram = LaplaceMechanism(1.0, Histogram((0, 1, 2)))
    return (
        Case("count", count, pairs=(_pair(1),)),
        Case("histogram of three values", histogram, pairs=(_pair(1),)),
        Case("count, group of 2", count, (_pair(2),), count.claim.group(2)),
        Case("count, group of 3", count, (_pair(3),), count.claim.group(3)),
    )


def rounded_cases() -> tuple[Case, ...]:
    """Rounded and clipped, the output distribution is exact and its two ends attain ε."""
    count = LaplaceMechanismRounded(1.0, Count(1), -3, 9)
    histogram = LaplaceMechanismRounded(0.5, Histogram((0, 1, 2)), -2, 6)
    return (
        Case("count", count, pairs=(_pair(1),)),
        Case("every pair of 6 records, count", count, runs=0, scope=Scope((0, 1), 6)),
        Case("every pair of 4 records, histogram", histogram, runs=0, scope=Scope((0, 1, 2), 4)),
        Case("count, group of 2", count, (_pair(2),), count.claim.group(2)),
        Case("count, group of 3", count, (_pair(3),), count.claim.group(3)),
    )


def utility() -> tuple[UtilityCase, ...]:
    """The tail bound, which one coordinate attains."""
    count = LaplaceMechanism(1.0, Count(1))
    histogram = LaplaceMechanism(0.5, Histogram((0, 1, 2)))
    note = "The outputs are real numbers, so their distribution is not enumerated; by hand the bound is {}."
    attained, near = note.format("attained"), note.format("1 − (1 − e^{−εΔ/k})^ℓ but for terms of its square")
    data = (Fixed(Multiset.counted({0: 6, 1: 3})),)
    return (
        UtilityCase("count, off by at most 3", count, count.guarantee(3.0), data, exact=False, note=attained),
        UtilityCase("count, off by at most 1/2", count, count.guarantee(0.5), data, exact=False, note=attained),
        UtilityCase("histogram", histogram, histogram.utility(9)[0], data, exact=False, note=near),
    )


def _pair(moved: int) -> Pair:
    left, right = Multiset.counted({0: 6}), Multiset.counted({0: 6 - moved, 1: moved})
    return Pair(left, right, f"a count of 0 against one of {moved}")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """The number of ones, rounded and clipped; records are 0 or 1, for any domain."""
    return LaplaceMechanismRounded(1.0, Count(1), -2, records + 2), Scope((0, 1), records)


PLAN = Plan("LaplaceMechanism", cases, utility=utility)
ROUNDED_PLAN = Plan("LaplaceMechanismRounded", rounded_cases, small)
