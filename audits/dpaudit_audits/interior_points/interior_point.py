"""Audits of the interior point by the exponential mechanism (lecture notes on interior points)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.interior_points.interior_point import (
    Depth,
    InteriorPointByMedian,
    InteriorPointByMedianCorrected,
)
from dpaudit_audits.foundations.quality_figures import QualityFigure


def cases() -> tuple[Case, ...]:
    """Privacy holds; the utility claim does not (finding 5), which `utility` below shows."""
    return _both(InteriorPointByMedian)


def corrected_cases() -> tuple[Case, ...]:
    """The same pairs against the score that ties do not fool."""
    return _both(InteriorPointByMedianCorrected)


def _both(kind: type[InteriorPointByMedian] | type[InteriorPointByMedianCorrected]) -> tuple[Case, ...]:
    default = kind(1.0, 64)
    drawing = QualityFigure(Depth(64), "point y", "depth") if kind is InteriorPointByMedianCorrected else None
    return (
        Case("default", default, pairs=_pairs(1), drawing=drawing),
        Case("every pair of 6 records", kind(1.0, 4), runs=0, scope=Scope((1, 2, 3, 4), 6)),
        Case("every pair of 5 records, ε = 0.3", kind(0.3, 5), runs=0, scope=Scope((1, 2, 3, 4, 5), 5)),
        Case("group of 2", default, _pairs(2), default.claim.group(2)),
        Case("group of 3", default, _pairs(3), default.claim.group(3)),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Equal records leave every point with the same score: the output is uniform."""
    smallest, large = InteriorPointByMedian(1.0, 2), InteriorPointByMedian(1.0, 64)
    (size,) = large.sample_sizes
    equal = "All records equal: |n/2 − #{x_i ≤ y}| = n/2 for every y."
    return (
        UtilityCase(
            "six equal records of two values",
            smallest,
            smallest.utility(6)[0],
            (Fixed(Multiset.counted({1: 6})),),
            expected=Verdict.FAIL,
            note=f"{equal} With two values no dataset of fewer records exceeds the bound.",
        ),
        UtilityCase(
            "equal records, at the printed number of them",
            large,
            large.utility(size.records)[0],
            (Fixed(Multiset.counted({32: size.records})),),
            expected=Verdict.FAIL,
            note=equal,
        ),
        UtilityCase(
            "seven equal records of two values",
            smallest,
            smallest.utility(7)[0],
            (Fixed(Multiset.counted({2: 7})),),
            expected=Verdict.FAIL,
            note=equal,
        ),
        UtilityCase(
            "three distinct records at ε = 6",
            (odd := InteriorPointByMedian(6.0, 8)),
            odd.utility(3)[0],
            (Fixed(Multiset.of((4, 5, 6))),),
            expected=Verdict.FAIL,
            note="With an odd number no y has n/2 records at or below it; distinct records suffer at large ε only.",
        ),
        _every_dataset(InteriorPointByMedian(1.0, 2), 5),
        UtilityCase(
            "distinct records",
            large,
            large.utility(32)[0],
            (Fixed(Multiset.of(range(17, 49)), label="17, 18, …, 48"),),
        ),
    )


def corrected_utility() -> tuple[UtilityCase, ...]:
    """Every dataset of a few records, equal ones, and those that leave the most points outside."""
    large = InteriorPointByMedianCorrected(1.0, 64)
    (size,) = large.sample_sizes
    n = size.records
    half, rest = n // 2, n - n // 2
    data = ({1: n}, {32: n}, {64: n}, {1: half, 2: rest}, {1: 1, 32: n - 2, 64: 1}, {32: half, 33: rest})
    return (
        UtilityCase(
            "the printed number of records",
            large,
            large.utility(n)[0],
            tuple(Fixed(Multiset.counted(counts)) for counts in data),
        ),
        _every_dataset(InteriorPointByMedianCorrected(1.0, 2), 6),
        _every_dataset(InteriorPointByMedianCorrected(3.0, 4), 4),
    )


def _every_dataset(mechanism: InteriorPointByMedian | InteriorPointByMedianCorrected, n: int) -> UtilityCase:
    every = combinations_with_replacement(range(1, mechanism.domain + 1), n)
    sources = tuple(Fixed(Multiset.of(records)) for records in every)
    label = f"every dataset of {n} records of {mechanism.domain} values"
    return UtilityCase(label, mechanism, mechanism.utility(n)[0], sources, runs=2_000)


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


PLAN = Plan("InteriorPointByMedian", cases, _small(InteriorPointByMedian), utility=utility)
CORRECTED_PLAN = Plan(
    "InteriorPointByMedianCorrected",
    corrected_cases,
    _small(InteriorPointByMedianCorrected),
    utility=corrected_utility,
)
