"""Audits of the representations of point functions (thesis §5.3): distributions just above α, on any domain.

The claim is about every target and distribution. It is hardest where the target and as many other points as there is
room for have mass just above α each: then a hypothesis is good only if it hits the target and nothing else.
"""

from __future__ import annotations

import math

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Truth
from dpaudit_algorithms.representations.point_representation import PointRepresentation, PointRepresentationHash
from dpaudit_algorithms.representations.representation import Representation

HUGE = 1 << 64
ALPHA, BETA = 0.04, 0.05
PAIR = Pair((0,), (1,), "whatever the data")


def point(i: int, domain: int) -> int:
    """The i-th of points that lie scattered over {0, …, domain − 1}, all different for i < domain."""
    odd = domain // 5 * 2 + 1  # without a factor in common with a power of two, which the larger domains are
    return (i * odd + 3) % domain if domain & (domain - 1) == 0 else i


def just_above(domain: int, alpha: float, own: float | None = None) -> Truth:
    """Mass just above α on as many points as there is room for; the target has mass `own`, the same without it.

    Args:
        own: 0 ≤ own < 1; 0 for a target that no example ever shows.
    """
    if own is None:
        others = max(1, min(domain - 1, math.ceil(1 / alpha) - 2))
        own = 1 / (others + 1)
    else:
        others = min(domain - 1, max(1, int((1 - own) / (alpha * 1.0001))))
    share = (1 - own) / others
    spots = tuple(point(i, domain) for i in range(others + 1))
    return Truth(spots, (own, *[share] * others), spots[0])


def spread(domain: int, points: int, own: float) -> Truth:
    """The target has mass `own`, the rest is spread evenly over this many points less one."""
    spots = tuple(point(i, domain) for i in range(points))
    return Truth(spots, (own, *[(1 - own) / (points - 1)] * (points - 1)), spots[0])


def distributions(domain: int, alpha: float) -> dict[str, Truth]:
    """Distributions of few points by what their target's mass is."""
    return {**easier(domain, alpha), **hardest(domain, alpha)}


def easier(domain: int, alpha: float) -> dict[str, Truth]:
    """Those on which more hypotheses are good than those that hit the target alone."""
    return {
        "target of mass 0, others just above α": just_above(domain, alpha, 0.0),
        "target of mass 1/2, others just above α": just_above(domain, alpha, 0.5),
    }


def hardest(domain: int, alpha: float) -> dict[str, Truth]:
    """The case nearest to the guarantee; it needs the most samples."""
    return {"target and others just above α": just_above(domain, alpha)}


def fixed(truths: dict[str, Truth]) -> tuple[Fixed, ...]:
    """A representation reads nothing: only the target and the distribution."""
    return tuple(Fixed((), truth, label) for label, truth in truths.items())


def cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(PointRepresentation(2, 0.5, 0.5), PointRepresentation(32, ALPHA, BETA))


def hash_cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(PointRepresentationHash(3, 0.4, 0.5, 1), PointRepresentationHash(HUGE, ALPHA, BETA))


def _cases(small: Representation, large: Representation) -> tuple[Case, ...]:
    return (
        Case("default", small, (PAIR,), runs=0),
        Case(
            "as printed", large, (PAIR,), runs=60, exact=False, expected=Verdict.INCONCLUSIVE,
            note="It reads no data; the runs only show that it runs at the printed size.",
        ),
        *(
            Case(f"group of {k}", small, (Pair((0,) * k, (1,) * k, PAIR.label),), Claim(0.0).group(k), runs=0)
            for k in (2, 3)
        ),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """Exactly on two points, one hypothesis exactly on more, and samples on 32 points."""
    coins = PointRepresentation(2, 0.5, 0.5)
    even = {"half on the target": Truth((0, 1), (1, 1), 0), "just above α": Truth((0, 1), (51, 49), 0),
            "all on the target": Truth((0,), (1,), 0), "all elsewhere": Truth((1,), (1,), 0)}
    third, one = PointRepresentation(3, 0.3, 0.4, 1), PointRepresentation(5, 0.19, 0.4, 1)
    printed = PointRepresentation(32, ALPHA, BETA)
    return (
        UtilityCase("α = β = 1/2 on two points", coins, coins.represents, fixed(even), runs=2_000),
        UtilityCase("one hypothesis, three points", third, third.utility(0)[-1], fixed(
            {**distributions(3, 0.3), "all on the target": Truth((0,), (1,), 0)}
        ), runs=5_000),
        UtilityCase("one hypothesis, five points", one, one.utility(0)[-1], fixed(distributions(5, 0.19)), runs=5_000),
        UtilityCase("32 points", printed, printed.represents, fixed(easier(32, ALPHA)), runs=500, exact=False),
        UtilityCase(
            "32 points, all just above α", printed, printed.represents, fixed(hardest(32, ALPHA)), runs=2_000,
            exact=False,
        ),
    )


def hash_utility_cases() -> tuple[UtilityCase, ...]:
    """One hypothesis exactly at the smallest primes, where q/p is farthest from α/2; and |X| = 2^64 as printed."""
    singles = [PointRepresentationHash(domain, alpha, 0.4, 1) for domain, alpha in ((3, 0.3), (2, 0.45), (6, 0.16))]
    wide = PointRepresentationHash(HUGE, ALPHA, BETA)
    return (
        *(
            UtilityCase(
                f"one hypothesis, |X| = {one.domain}, α = {one.alpha}, p = {one.p}", one, one.utility(0)[-1],
                fixed({**distributions(one.domain, one.alpha), "all on the target": Truth((0,), (1,), 0)}), runs=2_000,
            )
            for one in singles
        ),
        UtilityCase("|X| = 2^64", wide, wide.represents, fixed(easier(HUGE, ALPHA)), runs=900, exact=False),
        UtilityCase(
            "|X| = 2^64, all just above α", wide, wide.represents, fixed(hardest(HUGE, ALPHA)), runs=1_600,
            exact=False,
        ),
        UtilityCase(
            "|X| = 2^64, D on 200 points", wide, wide.represents,
            fixed({"target just above α, the rest spread": spread(HUGE, 200, 0.0401)}), runs=500, exact=False,
        ),
    )


PLAN = Plan("PointRepresentation", cases, utility=utility_cases)
HASH_PLAN = Plan("PointRepresentationHash", hash_cases, utility=hash_utility_cases)
