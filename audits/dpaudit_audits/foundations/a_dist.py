"""Audits of A_dist (thesis §3.5.3) and its corrected version."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import ADD_REMOVE_ONE, Fixed, Given, Mechanism, Multiplicity, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.goals import ClearBest

TWO, THREE = Multiplicity((0, 1)), Multiplicity((0, 1, 2))


def cases() -> tuple[Case, ...]:
    """The printed algorithm: the lead moves by 2 while the noise is for 1."""
    printed = ADist(1.0, 1e-6, TWO)
    natural = ADist(1.0, 1e-6, TWO, math.e)
    return (
        Case(
            "default",
            printed,
            pairs=(lead(22, 1), lead(20, 1)),
            expected=Verdict.FAIL,
            note="Exact ε of the first pair: 2ε + ln(1 − 2δ·e^{ε(⌈t⌉ − t)}) with t = (1/ε)·log(1/δ).",
        ),
        Case("fewest records", printed, pairs=(lead(8, 1),), runs=0, expected=Verdict.FAIL),
        Case("every pair of 22 records", printed, runs=0, scope=Scope((0, 1), 22), expected=Verdict.FAIL),
        Case("group of 2", printed, (lead(24, 2),), printed.claim.group(2), expected=Verdict.FAIL),
        Case("group of 3", printed, (lead(26, 3),), printed.claim.group(3), expected=Verdict.FAIL),
        Case(
            "natural logarithm, one record",
            natural,
            pairs=(Pair(Multiset.of([1]), Multiset.of([0]), "the maximiser changes"),),
            runs=0,
            expected=Verdict.FAIL,
            note="With log_base = e a maximiser that changes costs more than δ: e^ε·δ/2 here.",
        ),
        Case(
            "natural logarithm, the maximiser of a lead of 2 changes",
            ADist(1.0, 0.05, TWO, math.e),
            pairs=(Pair(Multiset.of([1, 1]), Multiset.of([0, 1]), "a lead of 2 becomes a tie, which 0 wins"),),
            expected=Verdict.FAIL,
            note="δ needed at every ε: e^{2ε}·δ/2, which is 3.69·δ at ε = 1.",
        ),
        Case(
            "every pair of at most 24 records under add/remove-one",
            printed,
            claim=printed.claim.under(ADD_REMOVE_ONE),
            runs=0,
            scope=Scope((0, 1), 24),
            note="Not the claim of the thesis: adding a record moves the lead of a counting quality by 1 only.",
        ),
    )


def corrected_cases() -> tuple[Case, ...]:
    """The corrected algorithm: worst pairs, exhaustive finite domains at a δ within reach, groups."""
    corrected = ADistCorrected(1.0, 1e-6, TWO)
    return (
        Case("default", corrected, pairs=(lead(32, 1), lead(29, 1), lead(22, 1))),
        *(
            Case(
                f"every pair of {records} records, (ε, δ) = ({epsilon:g}, {delta:g})",
                ADistCorrected(epsilon, delta, THREE),
                runs=0,
                scope=Scope((0, 1, 2), records),
            )
            for epsilon, delta, records in ((1.0, 0.05, 12), (2.0, 0.2, 8), (0.5, 0.01, 25))
        ),
        Case("every pair of 32 records", corrected, runs=0, scope=Scope((0, 1), 32)),
        Case(
            "the maximiser of a lead of 2 changes",
            ADistCorrected(1.0, 0.05, TWO),
            pairs=(Pair(Multiset.of([1, 1]), Multiset.of([0, 1]), "a lead of 2 becomes a tie, which 0 wins"),),
            note="This pair needs δ/2 at every ε; without the 2 in the threshold it would need e·δ/2, above δ.",
        ),
        Case("group of 2", corrected, (lead(34, 2),), corrected.claim.group(2)),
        Case("group of 3", corrected, (lead(36, 3),), corrected.claim.group(3)),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Proposition 3.28(ii), to both bases of its log, where the lead is just the printed one."""
    kinds = [
        (f"log to base {'2' if base == 2 else 'e'}", ADist(epsilon, delta, Given(), base))
        for base in (2.0, math.e)
        for epsilon, delta in ((1.0, 1e-6), (0.1, 0.3))
    ]
    return _leads(kinds)


def corrected_utility() -> tuple[UtilityCase, ...]:
    """The corrected guarantee, with exactly the required lead; β/2 is attained."""
    return _leads(
        [("corrected", ADistCorrected(epsilon, delta, Given())) for epsilon, delta in ((1.0, 1e-6), (0.1, 0.3))]
    )


def _leads(kinds: list[tuple[str, ADist]] | list[tuple[str, ADistCorrected]]) -> tuple[UtilityCase, ...]:
    cases = []
    for label, mechanism in kinds:
        for beta in (0.05, 0.9):
            claim = mechanism.guarantee(beta)
            assert isinstance(claim.goal, ClearBest)
            least = claim.goal.lead
            instances = tuple(Fixed(scores) for scores in ((least, 0.0), (0.0, least, 0.0, 0.0), (least + 1, 1.0, 0.5)))
            name = f"{label}, (ε, δ) = ({mechanism.epsilon:g}, {mechanism.delta:g}), β = {beta:g}"
            cases.append(UtilityCase(name, mechanism, claim, instances))
    return tuple(cases)


def lead(records: int, moved: int) -> Pair:
    """All records equal, against `moved` of them at another value: the lead falls by 2·moved."""
    left, right = Multiset.counted({0: records}), Multiset.counted({0: records - moved, 1: moved})
    return Pair(left, right, f"a lead of {records} against one of {records - 2 * moved}")


def _small(kind: type[ADist] | type[ADistCorrected]) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    """δ is so large that few records pass the threshold."""

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        points = tuple(range(domain))
        return kind(1.0, 0.05, Multiplicity(points)), Scope(points, records)

    return small


PLAN = Plan("ADist", cases, _small(ADist), utility=utility)
CORRECTED_PLAN = Plan("ADistCorrected", corrected_cases, _small(ADistCorrected), utility=corrected_utility)
