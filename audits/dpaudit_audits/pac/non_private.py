"""The baselines that claim no privacy, each held against a nominal (1, 1e-6)-DP: they must be caught."""

from __future__ import annotations

from itertools import combinations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Examples, Truth, all_examples
from dpaudit_algorithms.pac.non_private import ConsistentThreshold, EmpiricalRiskMinimizer, thresholds

NOMINAL = Claim(1.0, 1e-6)
EXAMPLES = all_examples(range(3))


def empirical_risk_cases() -> tuple[Case, ...]:
    """One example moves the first consistent threshold."""
    return _caught(
        EmpiricalRiskMinimizer(),
        {1: _examples(1), 2: _examples(2), 3: _examples(3)},
        EmpiricalRiskMinimizer(thresholds(3)),
        Scope(EXAMPLES, 3),
    )


def empirical_risk_utility() -> tuple[UtilityCase, ...]:
    """Theorems 2.1 and 2.2 where a bad concept survives longest: what tells it from the target has mass 1/4."""
    default, n = EmpiricalRiskMinimizer(), 14
    pairs = EmpiricalRiskMinimizer((*_twos(7), (0,) * 7))
    ends_first = EmpiricalRiskMinimizer(((0, 1, 1, 1), (0, 0, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1), (0, 0, 0, 0)))
    quarters = Truth((0, 1, 2), (498, 251, 251), 2)
    return (
        UtilityCase(
            "Theorem 2.1, thresholds",
            default,
            default.utility(n)[0],
            (Examples(default.concepts, Truth((0, 1), (749, 251), 1), n),),
        ),
        UtilityCase(
            "Theorem 2.1, 21 bad concepts with few errors in common",
            pairs,
            pairs.utility(18)[0],
            (Examples(pairs.concepts, Truth(tuple(range(7)), (1,) * 7, 21), 18),),
            runs=5_000,
        ),
        UtilityCase(
            "Theorem 2.2, 10 examples, both ends before the target",
            ends_first,
            ends_first.utility(10)[-1],
            (Examples(ends_first.concepts, quarters, 10),),
            note="The worst case of any order of thresholds: fails with probability 2·(3/4)^10 − (1/2)^10 at most.",
        ),
        UtilityCase(
            "Theorem 2.2, 10 examples, the order of the domain",
            default,
            default.utility(10)[-1],
            (Examples(default.concepts, Truth((0, 1), (749, 251), 1), 10),),
        ),
    )


def _twos(points: int) -> tuple[tuple[int, ...], ...]:
    """The concepts that label two points with 1."""
    return tuple(tuple(int(x in pair) for x in range(points)) for pair in combinations(range(points), 2))


def consistent_threshold_cases() -> tuple[Case, ...]:
    """One example moves the greatest positive one."""
    return _caught(
        ConsistentThreshold(8),
        {1: _examples(1), 2: _examples(2), 3: _examples(3)},
        ConsistentThreshold(3),
        Scope(EXAMPLES, 3),
    )


def _examples(moved: int) -> Pair:
    """Positive examples at 1 and negative ones at 6, against `moved` positive ones at 5 instead."""
    left = Multiset.counted({(1, 1): 4, (6, 0): 4})
    right = Multiset.counted({(1, 1): 4 - moved, (5, 1): moved, (6, 0): 4})
    return Pair(left, right, f"{moved} positive example(s) moved from 1 to 5")


def _caught(default: Mechanism, pairs: dict[int, Pair], small: Mechanism, scope: Scope) -> tuple[Case, ...]:
    return (
        Case("default", default, (pairs[1],), NOMINAL, runs=20_000, expected=Verdict.FAIL),
        Case("every pair of 3 records", small, (), NOMINAL, runs=0, scope=scope, expected=Verdict.FAIL),
        *(
            Case(f"group of {k}", default, (pairs[k],), NOMINAL.group(k), runs=20_000, expected=Verdict.FAIL)
            for k in (2, 3)
        ),
    )


EMPIRICAL_RISK_PLAN = Plan("EmpiricalRiskMinimizer", empirical_risk_cases, utility=empirical_risk_utility)
CONSISTENT_THRESHOLD_PLAN = Plan("ConsistentThreshold", consistent_threshold_cases)
