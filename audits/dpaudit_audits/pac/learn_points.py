"""Audits of LearnPoints (thesis §6.2) and its version on the corrected A_dist."""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import ALL_ZERO, Examples, Points, PointsAndZero, Truth, all_examples
from dpaudit_algorithms.pac.learn_points import (
    LearnPoints,
    LearnPointsCorrected,
    LearnPointsZero,
    LearnPointsZeroCorrected,
)

EXAMPLES = ((0, 0), (0, 1), (1, 0), (1, 1))


def cases() -> tuple[Case, ...]:
    """As printed: A_dist's violation shows through the random concept."""
    default = LearnPoints(1.0, 1e-6, 256)
    return (
        Case("default", default, pairs=(_positive(22, 1),), expected=Verdict.FAIL),
        Case("fewest records at |X| = 2", LearnPoints(1.0, 1e-6, 2), (_positive(21, 1),), expected=Verdict.FAIL),
        Case(
            "every pair of 22 positive examples",
            LearnPoints(1.0, 1e-6, 2),
            runs=0,
            scope=Scope(((0, 1), (1, 1)), 22),
            expected=Verdict.FAIL,
        ),
        Case(
            "the proof's own number of examples", default, (_positive(22, 1, others=1_379),), expected=Verdict.FAIL,
            note="Negative examples count nowhere.",
        ),
        Case("group of 2", default, (_positive(24, 2),), default.claim.group(2), expected=Verdict.FAIL),
        Case("group of 3", default, (_positive(26, 3),), default.claim.group(3), expected=Verdict.FAIL),
    )


def corrected_cases() -> tuple[Case, ...]:
    """On the corrected A_dist."""
    default = LearnPointsCorrected(1.0, 1e-6, 256)
    small = LearnPointsCorrected(1.0, 0.05, 2)
    return (
        Case("default", default, pairs=(_positive(32, 1), _positive(22, 1))),
        Case("every pair of 32 positive examples", default, runs=0, scope=Scope(((0, 1), (1, 1)), 32)),
        Case("every pair of 7 examples, δ = 0.05", small, runs=0, scope=Scope(EXAMPLES, 7)),
        Case("group of 2", default, (_positive(34, 2),), default.claim.group(2)),
        Case("group of 3", default, (_positive(36, 3),), default.claim.group(3)),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Lemma 6.2 where δ ≤ β, and where δ is large."""
    smallest, usual = LearnPoints(1.0, 0.9, 4), LearnPoints(1.0, 0.25, 400)
    ten = Truth(tuple(range(10)), (1,) * 10, 10)
    ties = "Without a positive example all qualities are 0, and A_dist gives the solution that ties prefer, here 0."
    return (
        *_accurate(LearnPoints),
        UtilityCase(
            "four points, all examples at the one that ties prefer",
            smallest,
            _guarantee(smallest, 0.99, n := smallest.sample_size(0.99, 0.51)),
            (Examples(Points(4), Truth((0,), (1,), 1), n),),
            expected=Verdict.FAIL,
            note=ties,
        ),
        UtilityCase(
            "400 points, α = 0.1, β = 0.05, δ = 1/4",
            usual,
            _guarantee(usual, 0.1, n := usual.sample_size(0.1, 0.05)),
            (Examples(Points(400), Truth((0,), (1,), 1), n),),
            runs=100_000,
            expected=Verdict.FAIL,
            note=ties,
        ),
        UtilityCase(
            "ten points, α = 0.099, β = 0.05, δ = 0.13",
            (spread := LearnPoints(1.0, 0.13, 405)),
            _guarantee(spread, 0.099, n := spread.sample_size(0.099, 0.05)),
            # every sample has this output distribution: D gives no example the label 1
            (Fixed(Multiset.counted({(0, 0): n}), ten, f"{n} examples of label 0, D uniform on ten points, c_10"),),
            expected=Verdict.FAIL,
            note=ties,
        ),
    )


def corrected_utility() -> tuple[UtilityCase, ...]:
    """The corrected lemma, on the same distributions: it asks for δ ≤ β."""
    large, usual = LearnPointsCorrected(1.0, 0.5, 400), LearnPointsCorrected(1.0, 0.25, 400)
    return (
        *_accurate(LearnPointsCorrected),
        *(
            UtilityCase(
                f"δ = {learner.delta:g}, all examples at the point that ties prefer",
                learner,
                _guarantee(learner, 0.1, n := learner.sample_size(0.1, learner.delta)),
                (Examples(Points(400), Truth((0,), (1,), 1), n),),
            )
            for learner in (large, usual)
        ),
    )


def _accurate(kind: type[LearnPoints] | type[LearnPointsCorrected]) -> tuple[UtilityCase, ...]:
    """Targets that just must be found, targets that need not be, and as many bad concepts as there may be."""
    small, large = kind(4.0, 0.01, 40), kind(4.0, 0.01, 50)
    n, m = small.sample_size(0.5, 0.1), large.sample_size(0.2, 0.2)
    # D(target) just above α, just above α/2 where it must be found, at α/2 and below where it need not
    heavy = ((49, 51), (74, 26), (75, 25), (99, 1))
    light = Truth((0, 1, 2, 3), (1, 1, 1, 1), 49), Truth((*range(8), 49), (11,) * 8 + (10,), 49)
    return (
        UtilityCase(
            "target of 51, 26, 25 and 1 per cent, the rest at one point",
            small,
            _guarantee(small, 0.5, n),
            tuple(Examples(Points(40), Truth((0, 39), weights, 39), n) for weights in heavy),
        ),
        UtilityCase(
            "all points bad that may be",
            large,
            _guarantee(large, 0.2, m),
            tuple(Examples(Points(50), truth, m) for truth in light),
            runs=1_000,
            exact=False,
            note="Too many samples of these points to enumerate.",
        ),
    )


def _guarantee(learner: LearnPoints | LearnPointsCorrected, alpha: float, records: int) -> UtilityClaim:
    claim = learner.guarantee(alpha, records)
    assert claim is not None
    return claim


def _positive(records: int, moved: int, others: int = 0) -> Pair:
    """All positive examples (0, 1), against `moved` of them (1, 1); `others` negative ones beside them."""
    left = Multiset.counted({(0, 1): records, (0, 0): others} if others else {(0, 1): records})
    right = left.changed(remove=((0, 1),) * moved, add=((1, 1),) * moved)
    return Pair(left, right, f"{records} positive examples of one point, {moved} moved to another")


def _small(
    kind: type[LearnPoints] | type[LearnPointsCorrected],
) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    """δ is so large that few records pass A_dist's threshold."""

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        return kind(1.0, 0.05, domain), Scope(all_examples(range(domain)), records)

    return small


def zero_cases() -> tuple[Case, ...]:
    """Remark 6.3 as printed: c_0 tells that A_dist gave ⊥, so as few records refute as for A_dist itself."""
    default = LearnPointsZero(1.0, 1e-6, 256)
    two = LearnPointsZero(1.0, 1e-6, 2)
    fails = Verdict.FAIL
    return (
        Case("default", default, (_positive(22, 1),), expected=fails),
        Case("fewest records", default, (_positive(8, 1),), runs=0, expected=fails),
        Case("every pair of 22 positive examples", two, runs=0, scope=Scope(((0, 1), (1, 1)), 22), expected=fails),
        Case("group of 2", default, (_positive(24, 2),), default.claim.group(2), expected=fails),
        Case("group of 3", default, (_positive(26, 3),), default.claim.group(3), expected=fails),
    )


def zero_corrected_cases() -> tuple[Case, ...]:
    """Remark 6.3 on the corrected A_dist."""
    default = LearnPointsZeroCorrected(1.0, 1e-6, 256)
    small = LearnPointsZeroCorrected(1.0, 0.05, 2)
    two = LearnPointsZeroCorrected(1.0, 1e-6, 2)
    return (
        Case("default", default, (_positive(32, 1), _positive(22, 1))),
        Case("every pair of 32 positive examples", two, runs=0, scope=Scope(((0, 1), (1, 1)), 32)),
        Case("every pair of 7 examples, δ = 0.05", small, runs=0, scope=Scope(EXAMPLES, 7)),
        Case("group of 2", default, (_positive(34, 2),), default.claim.group(2)),
        Case("group of 3", default, (_positive(36, 3),), default.claim.group(3)),
    )


def zero_utility() -> tuple[UtilityCase, ...]:
    """The remark as printed: small domains, c_0 as the target, and a large δ."""
    usual = LearnPointsZero(1.0, 0.25, 4)
    return (
        *_any_domain(LearnPointsZero),
        UtilityCase(
            "four points, α = 0.1, β = 0.05, δ = 1/4",
            usual,
            _guarantee(usual, 0.1, n := usual.sample_size(0.1, 0.05)),
            (Examples(PointsAndZero(4), Truth((0,), (1,), 1), n),),
            runs=100_000,
            expected=Verdict.FAIL,
            note="Without a positive example all qualities are 0, and A_dist gives the solution that ties prefer.",
        ),
    )


def zero_corrected_utility() -> tuple[UtilityCase, ...]:
    """The corrected remark, on the same distributions: it asks for δ ≤ β."""
    large = LearnPointsZeroCorrected(1.0, 0.25, 4)
    return (
        *_any_domain(LearnPointsZeroCorrected),
        UtilityCase(
            "four points, δ = β = 1/4",
            large,
            _guarantee(large, 0.1, n := large.sample_size(0.1, 0.25)),
            (Examples(PointsAndZero(4), Truth((0,), (1,), 1), n),),
        ),
    )


def _any_domain(kind: type[LearnPointsZero] | type[LearnPointsZeroCorrected]) -> tuple[UtilityCase, ...]:
    """Domains for which Lemma 6.2 guarantees nothing: 2/(αβ) is above |X|."""
    small = kind(1.0, 1e-6, 2)
    n = small.sample_size(0.1, 0.05)
    # D(target) at 1, just above α, just above α/2 where it must be found, at α/2 and below where it need not
    truths = (Truth((1,), (1,), 1), *(Truth((0, 1), weights, 1) for weights in ((89, 11), (94, 6), (95, 5), (99, 1))))
    return (
        UtilityCase(
            "two points, α = 0.1, β = 0.05",
            small,
            _guarantee(small, 0.1, n),
            tuple(Examples(PointsAndZero(2), truth, n) for truth in truths),
            runs=2_000,
        ),
        UtilityCase(
            "two points, the target is c_0",
            small,
            _guarantee(small, 0.1, n),
            (Examples(PointsAndZero(2), Truth((0, 1), (1, 1), ALL_ZERO), n),),
            runs=2_000,
        ),
    )


PLAN = Plan("LearnPoints", cases, _small(LearnPoints), utility=utility)
CORRECTED_PLAN = Plan("LearnPointsCorrected", corrected_cases, _small(LearnPointsCorrected), utility=corrected_utility)
ZERO_PLAN = Plan("LearnPointsZero", zero_cases, _small(LearnPointsZero), utility=zero_utility)
ZERO_CORRECTED_PLAN = Plan(
    "LearnPointsZeroCorrected", zero_corrected_cases, _small(LearnPointsZeroCorrected), utility=zero_corrected_utility
)
