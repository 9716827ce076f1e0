"""Audits of the private learner for finite classes (overview §3): the sign as printed, and as intended.

Concepts that are wrong on just over 1/4 of D are the worst case: they are bad, and look as good as a bad one can.
"""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism, Multiset, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Examples, Thresholds, Truth, all_examples
from dpaudit_algorithms.pac.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.finite_class_theory import NoBadSample

Learner = FiniteClassLearner | FiniteClassLearnerCorrected
BAD = 251
"""Thousandths of D on which a bad concept is wrong."""


def cases() -> tuple[Case, ...]:
    """As printed: as private as with the right sign."""
    return _privacy(FiniteClassLearner)


def corrected_cases() -> tuple[Case, ...]:
    """The same pairs against the right sign."""
    return _privacy(FiniteClassLearnerCorrected)


def _privacy(kind: type[Learner]) -> tuple[Case, ...]:
    default = kind(1.0, Thresholds(8))
    return (
        Case("default", default, pairs=_pairs(1), runs=50_000),
        Case(
            "every pair of 4 examples, |H| = 3",
            kind(1.0, Thresholds(3)),
            runs=0,
            scope=Scope(all_examples(range(3)), 4),
        ),
        Case(
            "every pair of 10 examples, |H| = 2, ε = 0.3",
            kind(0.3, Thresholds(2)),
            runs=0,
            scope=Scope(all_examples(range(2)), 10),
        ),
        Case("group of 2", default, _pairs(2)[:2], default.claim.group(2), runs=50_000),
        Case("group of 3", default, _pairs(3)[:2], default.claim.group(3), runs=50_000),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """As printed: it prefers the worst hypotheses, so every guarantee fails as soon as there are examples."""
    two, eight = FiniteClassLearner(1.0, Thresholds(2)), FiniteClassLearner(1.0, Thresholds(8))
    return (
        _case("Theorem 3.3, two concepts", two, two.printed_size, _distinguished, expected=Verdict.FAIL),
        _case("Theorem 3.3, eight concepts", eight, eight.printed_size, _distributions, expected=Verdict.FAIL),
        _case("Lemma 3.2, two concepts", two, two.printed_size, _distinguished, guarantee=1, expected=Verdict.FAIL),
        _sample_case(two, 24, two.no_bad_sample(24), "the bound |H|·e^(−n/8)", Verdict.FAIL),
        _sample_case(
            FiniteClassLearner(1.0, Thresholds(3)),
            26,
            UtilityClaim(NoBadSample(Thresholds(3)), 0.875, "§3, proof of Theorem 3.3, n ≥ 8·ln(8|H|)"),
            "7/8 from n = 8·ln(8|H|) on",
            Verdict.FAIL,
        ),
    )


def corrected_utility_cases() -> tuple[UtilityCase, ...]:
    """With the right sign all guarantees hold; the proof's bound on bad samples with n/32 instead of n/8."""
    two, eight = (FiniteClassLearnerCorrected(1.0, Thresholds(size)) for size in (2, 8))
    half = FiniteClassLearnerCorrected(0.5, Thresholds(8))
    return (
        _case("Theorem 3.3, two concepts", two, two.printed_size, _distinguished),
        _case("Theorem 3.3, eight concepts", eight, eight.printed_size, _distributions),
        _case("Theorem 3.3, ε = 1/2", half, half.printed_size, _seven_alike),
        _case("Theorem 3.3, D uniform", eight, eight.printed_size, _uniform, runs=2_000),
        _case("Lemma 3.2, eight concepts", eight, eight.printed_size, _seven_alike, guarantee=1),
        _case("fewest examples of the corrected bound", eight, 33, _distributions, guarantee=-1),
        _case("fewest examples of the corrected bound, two concepts", two, 14, _distinguished, guarantee=-1),
        *(
            _sample_case(FiniteClassLearnerCorrected(1.0, Thresholds(size)), n, None, "|H|·e^(−n/32)", Verdict.PASS)
            for size, n in ((2, 24), (3, 48), (2, 89))
        ),
    )


def _case(
    label: str,
    mechanism: Learner,
    records: int,
    instances: Callable[[Thresholds, int], tuple[Examples, ...]],
    *,
    guarantee: int = 0,
    runs: int = 20_000,
    expected: Verdict = Verdict.PASS,
) -> UtilityCase:
    concepts = mechanism.concepts
    assert isinstance(concepts, Thresholds)
    claim = mechanism.utility(records)[guarantee]
    return UtilityCase(label, mechanism, claim, instances(concepts, records), runs, expected=expected, finding=13)


def _sample_case(
    mechanism: Learner, records: int, claim: UtilityClaim | None, bound: str, expected: Verdict
) -> UtilityCase:
    """A guarantee about the sample alone; two bad concepts of the three err on different examples."""
    size = mechanism.size
    weights = {2: (1000 - BAD, BAD), 3: (BAD, 1000 - 2 * BAD, BAD)}[size]
    # the bad ones of {c_0, c_1, c_2} differ from c_1 at 1 and at 2
    points, target = ((0, 1), 0) if size == 2 else ((1, 0, 2), 1)
    return UtilityCase(
        f"bad samples, |H| = {size}, n = {records}: {bound}",
        mechanism,
        claim or mechanism.no_bad_sample(records),
        (Examples(Thresholds(size), Truth(points, weights, target), records),),
        expected=expected,
        note="A step of the proof: the output plays no part in it.",
        finding=14,
    )


def _distinguished(concepts: Thresholds, records: int) -> tuple[Examples, ...]:
    """Every example tells the two concepts apart; or just over a quarter of them do."""
    return (
        Examples(concepts, Truth((1,), (1,), 0), records),
        Examples(concepts, Truth((0, 1), (1000 - BAD, BAD), 0), records),
    )


def _distributions(concepts: Thresholds, records: int) -> tuple[Examples, ...]:
    """All bad concepts look alike; or there are two kinds of them, on either side of the target."""
    middle = concepts.size // 2
    sides = Truth((0, middle, middle + 1), (1000 - 2 * BAD, BAD, BAD), middle)
    return (*_seven_alike(concepts, records), Examples(concepts, sides, records))


def _seven_alike(concepts: Thresholds, records: int) -> tuple[Examples, ...]:
    """All concepts but the target are wrong on the same examples."""
    return (Examples(concepts, Truth((0, 1), (1000 - BAD, BAD), 0), records),)


def _uniform(concepts: Thresholds, records: int) -> tuple[Examples, ...]:
    """Too many samples to enumerate, and no paths to share."""
    size = concepts.size
    return (Examples(concepts, Truth(tuple(range(size)), (1,) * size, size // 2), records),)


def _pairs(moved: int) -> tuple[Pair, ...]:
    """Labels turned: every score moves by as many, in both directions."""
    return (
        _turned({(4, 1): 20}, (4, 1), (4, 0), moved, "all examples say j ≥ 4"),
        _turned({(4, 0): 20}, (4, 0), (4, 1), moved, "all examples say j < 4"),
        _turned({(4, 1): 10, (4, 0): 10}, (4, 1), (4, 0), moved, "even scores"),
        _turned({(2, 1): 8, (5, 0): 8}, (2, 1), (7, 1), moved, "the target in the middle"),
    )


def _turned(counts: dict[tuple[int, int], int], old: tuple[int, int], new: tuple[int, int], k: int, label: str) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * k, add=(new,) * k), f"{label}, {k} changed")


def _small(kind: type[Learner]) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    return lambda domain, records: (kind(1.0, Thresholds(domain)), Scope(all_examples(range(domain)), records))


PLAN = Plan("FiniteClassLearner", cases, _small(FiniteClassLearner), utility=utility_cases)
CORRECTED_PLAN = Plan(
    "FiniteClassLearnerCorrected", corrected_cases, _small(FiniteClassLearnerCorrected), utility=corrected_utility_cases
)
