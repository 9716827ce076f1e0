"""What to try against the interior point by the exponential mechanism (lecture notes on interior points)."""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.adversary.pairs import Pair
from dpaudit.audit.plan import Case, Plan, Scope
from dpaudit.language import Mechanism, Multiset
from dpaudit_algorithms.interior_point import InteriorPointByMedian, InteriorPointByMedianCorrected


def cases() -> tuple[Case, ...]:
    """Privacy holds; the utility claim does not (FINDINGS.md), which no privacy audit sees."""
    return _both(InteriorPointByMedian)


def corrected_cases() -> tuple[Case, ...]:
    """The same pairs against the score that ties do not fool."""
    return _both(InteriorPointByMedianCorrected)


def _both(kind: type[InteriorPointByMedian] | type[InteriorPointByMedianCorrected]) -> tuple[Case, ...]:
    default = kind(1.0, 64)
    return (
        Case("default", default, pairs=_pairs(1)),
        Case("every pair of 6 records", kind(1.0, 4), runs=0, scope=Scope((1, 2, 3, 4), 6)),
        Case("every pair of 5 records, ε = 0.3", kind(0.3, 5), runs=0, scope=Scope((1, 2, 3, 4, 5), 5)),
        Case("group of 2", default, _pairs(2), default.claim.group(2)),
        Case("group of 3", default, _pairs(3), default.claim.group(3)),
    )


def _pairs(moved: int) -> tuple[Pair, ...]:
    return (
        Pair(
            Multiset.counted({1: 12, 64: 12}),
            Multiset.counted({1: 12 - moved, 64: 12 + moved}),
            f"half at either end, {moved} moved",
        ),
        Pair(
            Multiset.counted({1: 10, 63: 10, 64: 4}),
            Multiset.counted({1: 10 - moved, 63: 10, 64: 4 + moved}),
            f"the whole distribution function falls by {moved}",
        ),
        Pair(Multiset.counted({32: 24}), Multiset.counted({32: 24 - moved, 1: moved}), "all equal"),
    )


def _small(
    kind: type[InteriorPointByMedian] | type[InteriorPointByMedianCorrected],
) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    return lambda domain, records: (kind(1.0, domain), Scope(tuple(range(1, domain + 1)), records))


PLAN = Plan("InteriorPointByMedian", cases, _small(InteriorPointByMedian))
CORRECTED_PLAN = Plan("InteriorPointByMedianCorrected", corrected_cases, _small(InteriorPointByMedianCorrected))
