"""Audits of the interior point by RecConcave (thesis §6.4)."""

from __future__ import annotations

from typing import Literal

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit_algorithms.interior_points.interior_point_rec_concave import InteriorPointByRecConcave


def cases() -> tuple[Case, ...]:
    """Specified pairs at two calls, exhaustive finite domains, the printed A_dist where it does no harm, and groups."""
    default, group = InteriorPointByRecConcave(), small(64, 2.0, delta=1e-6)
    scope = Scope((0, 3, 4, 7), 5)
    return (
        Case("default", default, _default_pairs(), runs=20_000),
        Case("small domain, exhaustive: two calls", small(8, 2.0), runs=0, scope=scope),
        Case("small domain, exhaustive: three calls", small(8, 3.0, base=2), runs=0, scope=scope),
        Case(
            "two calls, A_dist as printed",
            small(64, 2.0, a_dist="printed"),
            _pairs(1),
            runs=0,
            note="With two calls the claim holds in ε although A_dist costs twice its claim: see finding 3.",
        ),
        Case("two calls", group, _pairs(1), runs=0),
        *(Case(f"group of {g}", group, _pairs(g), group.claim.group(g), runs=0) for g in (2, 3)),
    )


def small(
    size: int,
    epsilon: float,
    *,
    delta: float = 0.01,
    base: int = 4,
    a_dist: Literal["corrected", "printed"] = "corrected",
) -> InteriorPointByRecConcave:
    """On few points."""
    return InteriorPointByRecConcave(size, epsilon, delta, base=base, a_dist=a_dist)


def utility() -> tuple[UtilityCase, ...]:
    """At the printed number of records, on datasets of few values: ties, the end of X, a width of one."""
    return tuple(
        UtilityCase(
            f'at the printed number of records, a_dist = "{mechanism.a_dist}"',
            mechanism,
            mechanism.utility(n)[0],
            tuple(
                Fixed(Multiset.counted(counts), label=f"{n:,} records, {label}")
                for label, counts in (
                    ("all equal", {40_000: n}),
                    ("all the greatest", {65_535: n}),
                    ("neighbouring points", {9_999: n // 2, 10_000: n - n // 2}),
                    ("one beside the others", {32_767: n - 1, 32_768: 1}),
                )
            ),
        )
        for mechanism in (InteriorPointByRecConcave(), InteriorPointByRecConcave(a_dist="printed"))
        for n in (mechanism.sample_sizes[0].records,)
    )


def _default_pairs() -> tuple[Pair, ...]:
    return (
        _moved("all equal but one", {9_000: 400}, 9_000, 65_535),
        _moved("half at either end", {0: 200, 65_535: 200}, 0, 65_535),
        _moved("a gap of A_dist's threshold", {9_000: 660, 50_000: 330}, 9_000, 50_000),
    )


def _pairs(g: int) -> tuple[Pair, ...]:
    return (
        _moved("all equal but the group", {20: 40}, 20, 63, g),
        _moved("two halves", {20: 30, 40: 30}, 20, 40, g),
        _moved("half at either end", {0: 30, 63: 30}, 0, 63, g),
        _moved("three values", {0: 30, 32: 30, 63: 30}, 0, 63, g),
    )


def _moved(label: str, counts: dict[int, int], old: int, new: int, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


def verified(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """The base case is made small, so that RecConcave recurses."""
    return small(max(2, domain), 2.0, base=2), Scope(tuple(range(domain)), records)


PLAN = Plan("InteriorPointByRecConcave", cases, verified, utility=utility)
