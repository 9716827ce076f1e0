"""Audits of LearnThresholds (thesis §6.5) and its corrected version."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Examples, Thresholds, Truth, all_examples
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds, LearnThresholdsCorrected
from dpaudit_audits.foundations.quality_figures import QualityFigure
from dpaudit_audits.interior_points.rec_concave import three_calls_of_examples

EXAMPLES = all_examples((0, 3, 4, 7))


def plan(name: str, refuted: bool, make: Callable[..., LearnThresholds | LearnThresholdsCorrected]) -> Plan:
    """Both versions face the same cases; the printed one fails with three calls, and with two where ε̂ is large.

    Args:
        make: the version's class.
    """

    def cases() -> tuple[Case, ...]:
        scope = Scope(EXAMPLES, 3)
        group = make(64, 0.5, 2.0, 1e-6, N=2)
        deep, by_hand = (make(2**33 + 1, delta=delta, N=3) for delta in (1e-6, 9 * 2.0**-100))
        return (
            Case(
                "paper constants, 2^16 thresholds", make(), _default_pairs(), runs=200_000, drawing=consistent(2**16)
            ),
            Case("small domain, exhaustive: two calls", make(8, 0.5, 3.0, 1e-3, N=2, base=4), runs=0, scope=scope),
            Case("small domain, exhaustive: three calls", make(8, 0.5, 4.5, 1e-3, N=3, base=2), runs=0, scope=scope),
            Case(
                "large ε",
                make(41, 1.0, 15.0, 0.06, N=2),
                (_two_peaks(),),
                runs=200_000,
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="ε̂ = 2.5, δ̂ = 0.01: the best threshold moves from 20 to 5, which costs more than A_dist's δ̂.",
                drawing=consistent(41),
            ),
            Case(
                "three calls, every constant as printed",
                deep,
                tuple(
                    three_calls_of_examples(deep.epsilon / 9, deep.delta / 9, deep.alpha / 2, n)
                    for n in (8_000, deep.sample_size(0.05))
                ),
                runs=0,
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="N = 3, |X| = 2^33 + 1; the largest datasets have the sample size of Theorem 6.17 for β = 0.05.",
            ),
            *(
                Case(
                    label,
                    by_hand,
                    (_seven_kinds(n),),
                    runs=0,
                    expected=Verdict.FAIL if refuted else Verdict.PASS,
                    note="δ = 9·2^-100, so that all but one way to the event is negligible; see finding 4.",
                )
                for label, n in (
                    ("three calls, by hand", 36_000),
                    ("three calls, by hand, β = 0.05", by_hand.sample_size(0.05)),
                )
            ),
            *(Case(f"group of {g}", group, _group_pairs(g), group.claim.group(g), runs=100_000) for g in (2, 3)),
        )

    def utility() -> tuple[UtilityCase, ...]:
        utility_cases = []
        for learner, beta in (
            (make(1024, 0.1, 1.0, 1e-6), 0.05),
            (make(1024, 0.5, 20.0, 0.5, N=2), 0.3),
            (make(64, 0.1, 1.0, 1e-6, N=1), 0.05),
        ):
            n = learner.sample_size(beta)
            label = f"|X| = {learner.size}, N = {learner.depth}, α = {learner.alpha:g}, ε = {learner.epsilon:g}"
            sources = tuple(Fixed(barely_bad(learner, n, target)) for target in (0, 1, 31, 32, learner.size - 1))
            utility_cases.append(
                UtilityCase(f"empirical error, {label}", learner, learner.utility(n)[0], sources, runs=5_000)
            )
        drawn = make(64, 0.25, 200.0, 0.5, N=1)
        n = drawn.sample_size(0.3)
        utility_cases.append(UtilityCase(f"PAC, {n} examples", drawn, drawn.utility(n)[1], _drawn(drawn, n)))
        large = make(2, 0.5, 1e4, 0.5, N=1)
        n = large.sample_size(0.2)
        utility_cases.append(
            UtilityCase(
                f"PAC, large ε, {n} example{'s' if n > 1 else ''}",
                large,
                large.utility(n)[1],
                (Examples(Thresholds(2), Truth((0, 1), (49, 51), 0), n),),
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="The printed sample size goes to 0 as ε grows, which no learner's does.",
            )
        )
        three = make(3, 0.1, 2200.0, 0.5, N=1)
        n = three.sample_size(0.05)
        utility_cases.append(
            UtilityCase(
                f"PAC, ε = 2,200, {n} examples of three points",
                three,
                three.utility(n)[1],
                (Examples(Thresholds(3), Truth((0, 1, 2), (7998, 1001, 1001), 1), n),),
                exact=refuted,  # the corrected version's sample has too many outcomes
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="The target switches between two points that are just too heavy to be missed.",
            )
        )
        return tuple(utility_cases)

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        # base 2 makes the recursion as deep as it can be; the privacy proof does not use it
        examples = all_examples(range(domain))
        return make(domain, 0.5, 1.0, 1e-6, base=2), Scope(examples, records)

    return Plan(name, cases, small, utility=utility)


def consistent(size: int) -> QualityFigure:
    """The number of consistent examples of every threshold, drawn."""
    return QualityFigure(Consistency(size), "threshold j", "consistent examples")


def barely_bad(learner: LearnThresholds | LearnThresholdsCorrected, n: int, target: int) -> Multiset:
    """n examples labelled by c_target, of which every other concept errs on just more than αn/2 = the goal's share."""
    wrong = math.floor(learner.alpha / 2 * n) + 1
    counts = {(0, 1): n}
    if target > 0:
        counts = {(0, 1): n - wrong, (target, 1): wrong}
    if target < learner.size - 1:
        counts[0, 1] -= wrong
        counts[target + 1, 0] = wrong
    return Multiset.counted(counts)


def _drawn(learner: LearnThresholds | LearnThresholdsCorrected, n: int) -> tuple[Examples, ...]:
    """Distributions with just more than α on either side of the target's border, and the rest where all agree."""
    share = 100 * learner.alpha + 1
    concepts = Thresholds(learner.size)
    return (
        Examples(concepts, Truth((5, 6), (100 - share, share), 5), n),
        Examples(concepts, Truth((0, learner.size - 1), (100 - share, share), 0), n),
        Examples(concepts, Truth((0, 5), (100 - share, share), 5), n),
    )


def _seven_kinds(n: int) -> Pair:
    data = {(7, 0): 1_800, (5_120, 1): 898, (6_144, 0): 1, (6_144, 1): 1, (6_400, 0): 1_798}
    right = round(0.971875 * n + 112.5)  # by the best thresholds, which label 1 from the first point on
    data[0, 1] = right - sum(count for (_, label), count in data.items() if not label)
    data[0, 0] = n - sum(data.values())
    return _replaced(f"{n:,} examples of seven kinds", data, (6_144, 0), (6_144, 1))


def _two_peaks() -> Pair:
    # Q peaks at 5 and 20 alone; turning the label between them moves their gap from 2 to 0, a tie that 5 wins
    data = {(5, 1): 100, (6, 0): 100, (13, 1): 1, (20, 1): 101, (21, 0): 101}
    return _replaced("the best of two peaks changes", data, (13, 1), (13, 0))


def _default_pairs() -> tuple[Pair, ...]:
    # ε̂ = 1/12 and δ̂ = 1e-6/12: A_dist's threshold is 282
    apart = {(9_000, 1): 300, (9_001, 0): 300, (20_000, 1): 1, (50_000, 1): 583, (50_001, 0): 583}
    return (
        _replaced("consistent with a band of thresholds", {(9_000, 1): 500, (50_000, 0): 500}, (9_000, 1), (65_535, 0)),
        _replaced("one consistent threshold, turned", {(9_000, 1): 500, (9_001, 0): 500}, (9_000, 1), (9_000, 0)),
        _replaced("two peaks, their gap falls through A_dist's threshold", apart, (20_000, 1), (20_000, 0)),
        _replaced("a single example", {(9_000, 1): 1}, (9_000, 1), (9_000, 0)),
    )


def _group_pairs(g: int) -> tuple[Pair, ...]:
    data = {(20, 1): 30, (30, 0): 30}
    return (
        _replaced("labels turned", data, (20, 1), (20, 0), g),
        _replaced("examples moved to the end", data, (30, 0), (63, 1), g),
    )


def _replaced(label: str, counts: dict[Any, int], old: Any, new: Any, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


PLAN = plan("LearnThresholds", True, LearnThresholds)
CORRECTED_PLAN = plan("LearnThresholdsCorrected", False, LearnThresholdsCorrected)
