"""The baselines that claim no privacy, each held against a nominal (1, 1e-6)-DP: they must be caught."""

from __future__ import annotations

from dpaudit.adversary.pairs import Pair
from dpaudit.audit.plan import Case, Plan, Scope
from dpaudit.audit.results import Verdict
from dpaudit.language import Claim, Mechanism, Multiset
from dpaudit_algorithms.non_private import ConsistentThreshold, EmpiricalRiskMinimizer, Median, thresholds

NOMINAL = Claim(1.0, 1e-6)
EXAMPLES = tuple((x, y) for x in range(3) for y in (0, 1))


def empirical_risk_cases() -> tuple[Case, ...]:
    """One example moves the first consistent threshold."""
    return _caught(
        EmpiricalRiskMinimizer(),
        {1: _examples(1), 2: _examples(2), 3: _examples(3)},
        EmpiricalRiskMinimizer(thresholds(3)),
        Scope(EXAMPLES, 3),
    )


def median_cases() -> tuple[Case, ...]:
    """One record moves the median across the domain."""
    pairs = {
        k: Pair(Multiset.counted({0: 5, 9: 4}), Multiset.counted({0: 5 - k, 9: 4 + k}), "the median moves")
        for k in (1, 2, 3)
    }
    return _caught(Median(), pairs, Median(), Scope((0, 1, 2), 3))


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


EMPIRICAL_RISK_PLAN = Plan("EmpiricalRiskMinimizer", empirical_risk_cases)
MEDIAN_PLAN = Plan("Median", median_cases)
CONSISTENT_THRESHOLD_PLAN = Plan("ConsistentThreshold", consistent_threshold_cases)
