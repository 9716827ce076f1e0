"""Audits of the boosting of representations (thesis §5.2.1, Claim 5.16 and Lemma 5.17).

For β a representation that fails with probability just 1/4; for α one whose hypotheses are all wrong somewhere, so that
none is better than 1/4 on the uniform distribution and majorities are needed. The steps of Lemma 5.17's proof are tried
on their own, exactly: that its thought experiment succeeds, and what it says of the masses D_t(R_t).
"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Thresholds, Truth
from dpaudit_algorithms.pac.non_private import ListedConcepts
from dpaudit_algorithms.representations.representation import Hypotheses, ListedRepresentation, OnesAt, Representation
from dpaudit_algorithms.representations.representation_boosting import AlphaBoosted, BetaBoosted

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


@dataclass(frozen=True)
class Digits:
    """Hypotheses named 0, …, T − 1: the i-th is 1 where the i-th binary digit of x is; −1 names the constant 0."""

    def label(self, concept: int, x: int) -> int:
        return x >> concept & 1 if concept >= 0 else 0


def errors_at_will(T: int) -> tuple[ListedRepresentation, Truth]:
    """The concept 0 on all strings of T digits with at most T/2 ones, by itself and by T hypotheses that err at theirs.

    D has every digit 1 with probability 1/4, independently, but for the strings left out; so each of the T hypotheses
    has error just below 1/4 until it was taken, and more after that.
    """
    points = tuple(x for x in range(1 << T) if x.bit_count() <= T // 2)
    weights = tuple(3 ** (T - x.bit_count()) for x in points)
    every = Hypotheses.of(Digits(), range(-1, T))
    concepts = ListedConcepts(((0,) * (1 << T),))
    return ListedRepresentation(concepts, (every,), (1,), 0.25, 2**-10), Truth(points, weights, 0)


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
    """Few rounds exactly, the printed number by samples; the steps of the proof exactly."""
    truths = {
        "uniform: no hypothesis is better than 1/4": Truth((0, 1, 2, 3), (1, 1, 1, 1), 0),
        "uneven": Truth((0, 1, 2, 3), (6, 3, 2, 1), 0),
        "all at one point": Truth((0,), (1,), 0),
    }
    inputs = tuple(Fixed((), truth, label) for label, truth in truths.items())
    known = tuple(Fixed(truth, truth, label) for label, truth in truths.items())
    few, *printed = AlphaBoosted(WEAK, 0.45, 5), AlphaBoosted(WEAK, 0.24), AlphaBoosted(WEAK, 0.05)
    return (
        UtilityCase("5 rounds", few, few.represents, inputs, runs=2_000),
        *(
            UtilityCase(f"α = {one.alpha:g}, T = {one.T}", one, one.represents, inputs, runs=300, exact=False)
            for one in printed
        ),
        *(
            UtilityCase(
                f"the thought experiment, the {which} of good hypotheses, α = {one.alpha:g}, T = {one.T}",
                one.experiment(best=which == "best"),
                one.succeeds,
                known,
                runs=500,
            )
            for which in ("best", "worst")
            for one in printed
        ),
        *_steps(2, 2),
        *_steps(10, None),
    )


def _steps(T: int, rounds: int | None) -> tuple[UtilityCase, ...]:
    """The proof's D_t(R_t) and D(R), as printed and as it follows; T = 10 is the printed one for 0.98."""
    representation, truth = errors_at_will(T)
    one = AlphaBoosted(representation, 0.98, rounds)
    known = (Fixed(truth, truth, f"digits that are 1 with probability 1/4, at most {T // 2} of {T}"),)
    experiment = one.experiment(best=False)
    mass = "A step of the proof: t is one of the T/2 rounds, but D_t is made by those before it; 1/2 is missing."
    # from T = 8 on the bound holds, whatever becomes of the steps that it is the sum of
    total, expected = ("The sum of these steps, for few rounds.", Verdict.FAIL) if T < 8 else ("", Verdict.PASS)
    return (
        UtilityCase(
            f"D_t(R_t), T = {T}", experiment, one.mass_grows(), known, runs=100, expected=Verdict.FAIL, note=mass
        ),
        UtilityCase(f"D_t(R_t), T = {T}, corrected", experiment, one.mass_grows(printed=False), known, runs=100),
        UtilityCase(
            f"D(R), T = {T}", experiment, one.error_bounded(), known, runs=100, expected=expected, note=total
        ),
        UtilityCase(f"D(R), T = {T}, corrected", experiment, one.error_bounded(printed=False), known, runs=100),
    )


BETA_PLAN = Plan("BetaBoosted", beta_cases, utility=beta_utility_cases)
ALPHA_PLAN = Plan("AlphaBoosted", alpha_cases, utility=alpha_utility_cases)
