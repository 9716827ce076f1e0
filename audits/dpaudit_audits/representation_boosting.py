"""What to try against the boosting of representations (thesis §5.2.1, Claim 5.16 and Lemma 5.17).

For β a representation that fails with probability just 1/4; for α one whose hypotheses are all wrong somewhere, so that
none is better than 1/4 on the uniform distribution and majorities are needed.
"""

from __future__ import annotations

from dpaudit.adversary.pairs import Pair
from dpaudit.auditing.plan import Case, Plan, UtilityCase
from dpaudit.language import Claim, Fixed, Hypotheses, ListedRepresentation, OnesAt, Representation, Thresholds, Truth
from dpaudit_algorithms.non_private import ListedConcepts
from dpaudit_algorithms.representation_boosting import AlphaBoosted, BetaBoosted

PAIR = Pair((0,), (1,), "whatever the data")
QUARTER = ListedRepresentation(
    Thresholds(3),
    (Hypotheses.of(OnesAt(), ((0,), (0, 1), (0, 1, 2))), Hypotheses.of(OnesAt(), ((), (1,)))),
    (3, 1),
    0.25,
    0.25,
)
"""Thresholds; with probability 1/4 a class that is wrong at the first point."""
WEAK_BETA = 2**-9
WEAK = ListedRepresentation(
    ListedConcepts(((0, 0, 0, 0),)),
    (Hypotheses.of(OnesAt(), ((0,), (1,), (2,), (3,))), Hypotheses.of(OnesAt(), ((0, 1, 2, 3),))),
    (511, 1),
    0.25,
    WEAK_BETA,
)
"""The concept 0 on four points by hypotheses that are wrong at one point each; with probability 2^−9 by all wrong."""


def beta_cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(BetaBoosted(QUARTER, 0.05))


def alpha_cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(AlphaBoosted(WEAK, 0.45, 5))


def _cases(small: Representation) -> tuple[Case, ...]:
    return (
        Case("default", small, (PAIR,), runs=0),
        *(
            Case(f"group of {k}", small, (Pair((0,) * k, (1,) * k, PAIR.label),), Claim(0.0).group(k), runs=0)
            for k in (2, 3)
        ),
    )


def beta_utility_cases() -> tuple[UtilityCase, ...]:
    """β on both sides of the intervals in which no whole M keeps both β and the printed size."""
    truths = (
        Fixed((), Truth((0,), (1,), 1), "all at the point where one class is wrong"),
        Fixed((), Truth((0, 1, 2), (26, 37, 37), 1), "just over 1/4 at that point"),
    )
    return tuple(
        UtilityCase(f"β = {beta:g}, M = {one.M}", one, one.represents, truths, runs=20_000)
        for beta in (0.24, 0.2, 0.06, 0.05, 0.01, 0.001)
        for one in (BetaBoosted(QUARTER, beta),)
    )


def alpha_utility_cases() -> tuple[UtilityCase, ...]:
    """Few rounds by law; as printed by runs."""
    truths = (
        Fixed((), Truth((0, 1, 2, 3), (1, 1, 1, 1), 0), "uniform: no hypothesis is better than 1/4"),
        Fixed((), Truth((0, 1, 2, 3), (6, 3, 2, 1), 0), "uneven"),
        Fixed((), Truth((0,), (1,), 0), "all at one point"),
    )
    few = AlphaBoosted(WEAK, 0.45, 5)
    return (
        UtilityCase("5 rounds", few, few.represents, truths, runs=2_000),
        *(
            UtilityCase(f"α = {alpha:g}, T = {one.T}", one, one.represents, truths, runs=1_000, exact=False)
            for alpha in (0.24, 0.05)
            for one in (AlphaBoosted(WEAK, alpha),)
        ),
    )


BETA_PLAN = Plan("BetaBoosted", beta_cases, utility=beta_utility_cases)
ALPHA_PLAN = Plan("AlphaBoosted", alpha_cases, utility=alpha_utility_cases)
