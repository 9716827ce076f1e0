"""Audits of the exponential mechanism (thesis §3.5.2)."""

from __future__ import annotations

import math

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiplicity, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.goals import BETA


def cases() -> tuple[Case, ...]:
    """Two solutions reach ε as the score of the worse one falls behind; many solutions; groups."""
    two = ExponentialMechanism(1.0, Multiplicity((0, 1)))
    many = ExponentialMechanism(1.0, Multiplicity(tuple(range(64))))
    return (
        Case("default", two, pairs=(_pair(12, 0, 1), _pair(6, 6, 1), _pair(9, 3, 1))),
        Case("64 solutions", many, pairs=(_pair(20, 0, 1), _pair(10, 10, 1))),
        Case("every pair of 12 records", two, runs=0, scope=Scope((0, 1), 12)),
        Case(
            "every pair of 6 records, three solutions",
            ExponentialMechanism(2.0, Multiplicity((0, 1, 2))),
            runs=0,
            scope=Scope((0, 1, 2), 6),
        ),
        Case("group of 2", two, (_pair(12, 0, 2), _pair(6, 6, 2)), two.claim.group(2)),
        Case("group of 3", two, (_pair(12, 0, 3), _pair(6, 6, 3)), two.claim.group(3)),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Proposition 3.27(ii) where it is nearly attained: all solutions but one just bad enough."""
    cases = []
    for epsilon, solutions, behind in ((1.0, 2, 4), (1.0, 64, 12), (0.1, 8, 60), (4.0, 200, 5)):
        mechanism = ExponentialMechanism(epsilon, Multiplicity(tuple(range(solutions))))
        data = tuple(
            Fixed(
                Multiset.counted(dict.fromkeys(range(solutions), rest) | {0: behind + rest}),
                label=f"{behind + rest} records of one solution, {rest} of every other",
            )
            for rest in (0, 3)
        )
        label = f"ε = {epsilon:g}, {solutions} solutions, all others {behind} below the best"
        cases.append(UtilityCase(label, mechanism, mechanism.guarantee(solutions, behind), data))
    default = ExponentialMechanism(1.0, Multiplicity(tuple(range(64))))
    least = math.ceil(2 * math.log(64 / BETA))
    spread = (
        Fixed(Multiset.counted({0: least})),
        Fixed(Multiset.counted(dict.fromkeys(range(64), 3)), label="3 records of every solution"),
        Fixed(Multiset.counted({x: x + 1 for x in range(64)}), label="1, 2, …, 64 records of the solutions"),
        Fixed(Multiset(()), label="no records"),
    )
    cases.append(UtilityCase("the bound at 0.05", default, default.utility(least)[0], spread))
    return tuple(cases)


def _pair(zeros: int, ones: int, moved: int) -> Pair:
    left = Multiset.counted({0: zeros, 1: ones})
    right = Multiset.counted({0: zeros - moved, 1: ones + moved})
    return Pair(left, right, f"{zeros} against {ones}, {moved} moved")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """The multiplicities of this many points."""
    points = tuple(range(domain))
    return ExponentialMechanism(1.0, Multiplicity(points)), Scope(points, records)


PLAN = Plan("ExponentialMechanism", cases, small, utility=utility)
