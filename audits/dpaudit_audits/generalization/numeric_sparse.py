"""Audit plans for NumericSparse: records that change many answers, releases, and answers at the ends of a guarantee."""

from __future__ import annotations

import math
from dataclasses import replace

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Multiset
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.laplace_mechanism import Count
from dpaudit_algorithms.generalization.numeric_sparse import NumericSparse, NumericSparseCorrected
from dpaudit_audits.foundations.overclaiming import Overclaiming
from dpaudit_audits.generalization.wrong_sparse import Respun

ZEROS, ONES = Count(0), Count(1)
STRETCH = (ZEROS,) * 4 + (ONES,)
RUNS = 2_000
REAL = "The releases are real numbers, so the output distribution is not computed."


def cases(kind: type[NumericSparse]) -> tuple[Case, ...]:
    """A record moved from 0 to 1 lowers every count of zeros, and raises every count of ones."""
    default = kind(1.0, 0.0, 0.0, 1, STRETCH)
    twice = kind(1.0, 0.0, 0.0, 2, STRETCH * 2)
    large = kind(4.0, 0.0, 0.0, 1, STRETCH)
    several = kind(4.0, 0.0, -200.0, 8, (ZEROS,) * 8)
    approximate = kind(1.0, 1e-3, 0.0, 1, STRETCH)
    loose = kind(3.0, 0.01, -2_000.0, 10, (ZEROS,) * 10)
    by_delta = (
        Case("δ = 0.001", approximate, (_moved(1, 0, 1),), runs=RUNS, exact=False),
        Case("ε = 3, δ = 0.01, c = 10 releases", loose, (_moved(9, 0, 1),), runs=RUNS, exact=False),
        Case("group of 2", default, (_moved(2, 0, 2),), default.claim.group(2), runs=RUNS, exact=False),
        Case("group of 3", approximate, (_moved(3, 0, 3),), approximate.claim.group(3), runs=RUNS, exact=False),
    )
    if kind is NumericSparseCorrected:  # with δ = 0 it is the same program
        return (Case("default", approximate, (_moved(1, 0, 1),), runs=RUNS, exact=False), *by_delta[1:])
    return (
        Case("default", default, (_moved(1, 0, 1), _moved(1, 1, 1)), runs=RUNS, exact=False),
        Case("c = 2, every fifth query changes the other way", twice, (_moved(1, 0, 1),), runs=RUNS, exact=False),
        Case("ε = 4", large, (_moved(1, 0, 1),), runs=4 * RUNS, exact=False),
        Case("ε = 4, c = 8 releases, all far above", several, (_moved(9, 0, 1),), runs=RUNS, exact=False),
        *by_delta,
        *wrong(),
    )


def wrong() -> tuple[Case, ...]:
    """Other programs under the same claim: one satisfies it, two do not."""
    once = Respun(1.0, 0.0, 0.0, 2, STRETCH * 2, once=True)
    bare = Respun(1.0, 0.0, 0.5, 1, (ZEROS, ONES), bare=True)
    unscaled = Overclaiming(NumericSparse(44 * 4.0, 0.0, -200.0, 44, (ZEROS,) * 44), Claim(4.0))
    fails = Verdict.FAIL
    return (
        Case(
            "T̂ drawn once", once, (_moved(1, 0, 1),), runs=RUNS, exact=False,
            note="Differs from the printed algorithm and is private: the threshold then adds ε₁/(2c) once.",
        ),
        Case(
            "no noise on the compared answers", bare, (_moved(1, 0, 1),), runs=RUNS, exact=False, expected=fails,
            deliberate=True, note="⊥ and then a number implies 0 < T̂ ≤ 1: impossible under D.",
        ),
        Case(
            "noise of c = 1, c = 44", unscaled, (_moved(5, 0, 1),), runs=5_000, exact=False, expected=fails,
            deliberate=True, note="44 releases, each with noise for one.",
        ),
    )


def utility_cases(kind: type[NumericSparse]) -> tuple[UtilityCase, ...]:
    """Answers just below T − α, just above T + α, at T, and far above; releases; a halt before the last query."""
    printed = kind is NumericSparse
    cases = []
    for delta in (0.0, 1e-6):
        for c, k, beta in ((1, 1, 0.05), (3, 12, 0.5), (10, 10, 0.05)):
            refuted = bool(delta) and printed and beta < 0.5  # with twelve queries β = 0.5 leaves a margin
            cases.append(_ends(kind, delta, c, k, beta, refuted))
    mechanism = kind(1.0, 0.0, 5_000.0, 1, (ONES, ZEROS))
    halting = UtilityCase(
        "the first of two queries far above, c = 1", mechanism, mechanism.utility(0)[0],
        (Fixed(Multiset.counted({1: 10_000}), label="10,000 ones, no zeros"),), 2_000, exact=False,
        expected=Verdict.FAIL if printed else Verdict.PASS,
        note="One query is at least T − α, as c = 1 allows, and it is not the last." if printed else
        "The guarantee does not apply if c queries before the last are at least T − α.",
        finding=31,
    )
    return (*cases, halting)


def _ends(kind: type[NumericSparse], delta: float, c: int, k: int, beta: float, refuted: bool) -> UtilityCase:
    """All queries but the last c just below T − α, the last c at different heights."""
    draft = kind(1.0, delta, 0.0, c, (ZEROS,) * (k - c) + (ONES,) * c, beta)
    T = math.ceil(3 * draft.alpha)
    mechanism = replace(draft, threshold=float(T))
    low, high = math.ceil(T - mechanism.alpha) - 1, math.floor(T + mechanism.alpha) + 1
    instances = tuple(
        Fixed(Multiset.counted({0: low, 1: last}), label=f"{low:,} zeros, {last:,} ones")
        for last in (high, 20 * T, T, low)
    )
    # failure probability of one release of an answer far above
    off = beta / (4 * c * k)
    if delta and kind is NumericSparse:
        off **= 1 / math.sqrt(8)
    note = f"{REAL} Derived by hand: far above the threshold, success has probability {(1 - off) ** c:.6g}."
    return UtilityCase(
        f"c = {c}, k = {k}, β = {beta:g}, δ = {delta:g}", mechanism, mechanism.utility(0)[0], instances, 4_000,
        exact=False, expected=Verdict.FAIL if refuted else Verdict.PASS, note=note, finding=30,
    )


def _moved(zeros: int, ones: int, moved: int) -> Pair:
    """A pair where `moved` zeros become ones."""
    left = Multiset.counted({0: zeros, 1: ones})
    right = Multiset.counted({0: zeros - moved, 1: ones + moved})
    return Pair(left, right, f"{zeros} zeros and {ones} ones, {moved} moved")


PLAN = Plan("NumericSparse", lambda: cases(NumericSparse), utility=lambda: utility_cases(NumericSparse))
CORRECTED_PLAN = Plan(
    "NumericSparseCorrected",
    lambda: cases(NumericSparseCorrected),
    utility=lambda: utility_cases(NumericSparseCorrected),
)
