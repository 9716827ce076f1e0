"""Audits of group privacy (thesis, Theorem 3.7)."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy


def cases() -> tuple[Case, ...]:
    """Neighbours, and groups of 2, 3 and 5: kε is attained when pure, and the best possible δ otherwise."""
    approximate, pure = GroupPrivacy(0.5, 0.01), GroupPrivacy(0.5, 0.0, 0.01)
    return tuple(
        case
        for name, mechanism in (("default", approximate), ("pure", pure))
        for case in (
            Case(name, mechanism, pairs=(_pair(0, 1), _pair(3, 1))),
            Case(f"{name}, every pair of 8 records", mechanism, runs=0, scope=Scope((0, 1), 8)),
            *(
                Case(f"{name}, group of {k}", mechanism, (_pair(0, k), _pair(3, k)), mechanism.claim.group(k))
                for k in (2, 3, 5)
            ),
            Case(
                f"{name}, every group of 3 of 8 records",
                mechanism,
                claim=mechanism.claim.group(3),
                runs=0,
                scope=Scope((0, 1), 8),
            ),
        )
    )


def _pair(ones: int, moved: int) -> Pair:
    left = Multiset.counted({0: 8 - ones, 1: ones})
    right = Multiset.counted({0: 8 - ones - moved, 1: ones + moved})
    return Pair(left, right, f"{ones} ones against {ones + moved}")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Records are 0 or 1, for any domain; it counts the ones."""
    return GroupPrivacy(0.5, 0.001), Scope((0, 1), records)


PLAN = Plan("GroupPrivacy", cases, small)
