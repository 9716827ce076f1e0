"""Audits of AboveThreshold: one record that moves many answers, and answers at the boundary of the guarantee."""

from __future__ import annotations

import math

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Multiset
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit_algorithms.foundations.above_threshold import AboveThreshold, CountAtMost
from dpaudit_algorithms.foundations.laplace_mechanism import Count

ZEROS, ONES = Count(0), Count(1)


def cases() -> tuple[Case, ...]:
    """A record moved from 0 to 1 lowers every count of zeros and raises every count of ones."""
    one = AboveThreshold(1.0, 1.0, (ONES,))
    default = AboveThreshold(1.0, 1.0, (ZEROS,) * 5 + (ONES,) * 5)
    last = AboveThreshold(1.0, 0.0, (ZEROS,) * 9 + (ONES,))
    ranks = AboveThreshold(2.0, 4.0, tuple(CountAtMost(x) for x in range(6)))
    return tuple(
        Case(label, mechanism, pairs, claim, runs=20_000)
        for label, mechanism, pairs, claim in (
            ("default", default, (_moved(5, 5, 1), _moved(1, 0, 1)), None),
            ("the last answer moves the other way", last, (_moved(1, 0, 1), _moved(1, 3, 1)), None),
            ("one query", one, (_moved(1, 1, 1),), None),
            ("ranks, ε = 2", ranks, (_raised(1), _raised(1, 4)), None),
            ("group of 2", default, (_moved(2, 0, 2), _moved(4, 4, 2)), default.claim.group(2)),
            ("group of 3", last, (_moved(3, 0, 3), _moved(3, 3, 3)), last.claim.group(3)),
        )
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """All answers but the last just below T − α, the last just above T + α, or anywhere."""
    cases = []
    for epsilon, k, beta in ((1.0, 1, 0.5), (1.0, 4, 0.05), (0.5, 12, 0.5)):
        mechanism = AboveThreshold(epsilon, 500.0, (ZEROS,) * (k - 1) + (ONES,), beta)
        low, high = math.ceil(500 - mechanism.alpha) - 1, math.floor(500 + mechanism.alpha) + 1
        instances = tuple(
            Fixed(Multiset.counted({0: low, 1: last}), label=f"{low} zeros, {last} ones") for last in (high, 500, low)
        )
        cases.append(
            UtilityCase(f"k = {k}, ε = {epsilon:g}, β = {beta:g}", mechanism, mechanism.utility(0)[0], instances)
        )
    return tuple(cases)


def _moved(zeros: int, ones: int, moved: int) -> Pair:
    """Zeros that become ones, or with a negative number ones that become zeros."""
    left = Multiset.counted({0: zeros, 1: ones})
    right = Multiset.counted({0: zeros - moved, 1: ones + moved})
    return Pair(left, right, f"{zeros} zeros and {ones} ones, {abs(moved)} moved")


def _raised(moved: int, value: int = 0) -> Pair:
    """Records moved from one value to the greatest: every rank between falls."""
    left = Multiset.counted({0: 2, 2: 2, 4: 2})
    right = left.changed(remove=(value,) * moved, add=(5,) * moved)
    return Pair(left, right, f"{moved} moved from {value} to 5")


PLAN = Plan("AboveThreshold", cases, utility=utility_cases)
