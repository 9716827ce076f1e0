"""Audits of query release and the algorithms that use it (thesis §7.6), with private and wrong inner releases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.lower_bounds.query_release import LearnerFromRelease, RefinedRelease, ThresholdRelease
from dpaudit_algorithms.pac.concepts import Examples, Thresholds, Truth, all_examples


@dataclass(frozen=True)
class TooLittleNoise(ThresholdRelease):
    """A wrong release: a quarter of the noise that it needs, and the same claim."""

    @property
    def scale(self) -> float:
        return 1 / (2 * self.epsilon)


def release_cases() -> tuple[Case, ...]:
    """One record moves two counts, in opposite directions."""
    two, three = ThresholdRelease(1.0, 2), ThresholdRelease(1.0, 3)
    return (
        Case("default", three, (_points(0, 1), _points(1, 2)), runs=20_000),
        Case("every pair of 4 records, |X| = 3", three, runs=0, scope=Scope((0, 1, 2), 4)),
        Case("every pair of 10 records, |X| = 2", two, runs=0, scope=Scope((0, 1), 10)),
        Case("group of 2", three, (_points(0, 1, 2),), three.claim.group(2), runs=20_000),
        Case("group of 3", three, (_points(0, 1, 3),), three.claim.group(3), runs=20_000),
        Case(
            "a quarter of the noise",
            TooLittleNoise(1.0, 3),
            (_points(0, 1),),
            runs=20_000,
            expected=Verdict.FAIL, deliberate=True,
            note="A wrong release under this name, which must be caught.",
        ),
    )


def refined_cases() -> tuple[Case, ...]:
    """3 records of 5 (α = 0.004), and 6 of 10."""
    three = RefinedRelease(ThresholdRelease(1.0, 3), 0.004)
    wrong = RefinedRelease(TooLittleNoise(1.0, 2), 0.004)
    return (
        Case("default", three, (_points(0, 1), _points(1, 2)), runs=20_000),
        Case("every pair of 3 records of 5, |X| = 3", three, runs=0, scope=Scope((0, 1, 2), 3)),
        Case(
            "every pair of 3 records of 4, |X| = 2",
            RefinedRelease(ThresholdRelease(0.5, 2), 0.005),
            runs=0,
            scope=Scope((0, 1), 3),
        ),
        Case("group of 2", three, (_points(0, 1, 2),), three.claim.group(2), runs=20_000),
        Case("group of 3", three, (_points(0, 1, 3),), three.claim.group(3), runs=20_000),
        Case(
            "a wrong release", wrong, (_points(0, 1),), runs=20_000, expected=Verdict.FAIL, deliberate=True,
            note="The inner release has a quarter of the noise that it needs.",
        ),
    )


def learner_cases() -> tuple[Case, ...]:
    """One example moves a record of either release."""
    three = LearnerFromRelease(ThresholdRelease(0.5, 3), Thresholds(3))
    two = LearnerFromRelease(ThresholdRelease(0.5, 2), Thresholds(2))
    wrong = LearnerFromRelease(TooLittleNoise(0.5, 2), Thresholds(2))
    return (
        Case("default", three, (_turned(4, 1),), runs=10_000),
        Case("every pair of 2 examples, |X| = 3", three, runs=0, scope=Scope(all_examples(range(3)), 2)),
        Case("every pair of 8 examples, |X| = 2", two, runs=0, scope=Scope(((1, 0), (1, 1)), 8)),
        Case("group of 2", two, (_turned(6, 2),), two.claim.group(2), runs=20_000),
        Case("group of 3", two, (_turned(6, 3),), two.claim.group(3), runs=20_000),
        Case(
            "a wrong release", wrong, (_turned(8, 1),), runs=20_000, expected=Verdict.FAIL, deliberate=True,
            note="The inner release has a quarter of the noise that it needs.",
        ),
    )


def release_utility() -> tuple[UtilityCase, ...]:
    """Datasets at the ends, where nothing is cut off, and in the middle."""
    small = ThresholdRelease(1.0, 3, 0.1)
    printed = ThresholdRelease(1.0, 2)
    enough = printed.sample_sizes[0].records
    return (
        UtilityCase("within 0.1, 80 records", small, small.utility(80)[0], _fixed({0: 28, 1: 26, 2: 26})),
        UtilityCase(
            "(1/150, 1/150)-accurate",
            printed,
            printed.utility(enough)[0],
            _fixed({0: enough // 2, 1: enough - enough // 2}, {1: enough}),
        ),
    )


def refined_utility() -> tuple[UtilityCase, ...]:
    """α-accurate on n records gives 1/150-accurate on 150αn."""
    alpha = 0.002
    refined = RefinedRelease(ThresholdRelease(1.0, 2, alpha), alpha)
    return tuple(
        UtilityCase(f"{m} records", refined, refined.utility(m)[0], _fixed({0: m // 2, 1: m - m // 2}, {1: m}))
        for m in (300, 600)
    )


def learner_utility() -> tuple[UtilityCase, ...]:
    """Lemma 7.30 where the bad concepts differ on just over a fifth of D; and a small one, exactly.

    The release has ε = 1: at ε = 1/150 it takes 150 times as many records to be as accurate.
    """
    small = LearnerFromRelease(ThresholdRelease(1.0, 2, 0.1), Thresholds(2))
    printed, n = LearnerFromRelease(ThresholdRelease(1.0, 3), Thresholds(3)), 4_000
    fifths = Examples(Thresholds(3), Truth((0, 1, 2), (598, 201, 201), 1), n)
    return (
        UtilityCase(
            "training error ≤ 0.4, 60 examples",
            small,
            small.utility(60)[0],
            _fixed({(0, 1): 36, (1, 0): 24}, {(0, 1): 35, (1, 0): 25}),
        ),
        UtilityCase("Lemma 7.30", printed, printed.utility(n)[1], (fifths,), runs=2_000, exact=False),
    )


def _fixed(*datasets: dict[object, int]) -> tuple[Fixed, ...]:
    return tuple(Fixed(Multiset.counted(counts)) for counts in datasets)


def _points(old: int, new: int, moved: int = 1) -> Pair:
    left = Multiset.counted({old: 3})
    return Pair(left, left.changed(remove=(old,) * moved, add=(new,) * moved), f"{moved} moved from {old} to {new}")


def _turned(positive: int, turned: int) -> Pair:
    left = Multiset.counted({(1, 1): positive})
    right = left.changed(remove=((1, 1),) * turned, add=((1, 0),) * turned)
    return Pair(left, right, f"{positive} positive examples, {turned} turned")


def _small(kind: str) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        release, points = ThresholdRelease(1.0, max(2, domain)), tuple(range(max(2, domain)))
        if kind == "learner":
            return LearnerFromRelease(release, Thresholds(release.size)), Scope(all_examples(points), records)
        # n is one more than the number of records
        finer = RefinedRelease(release, Fraction(records, 150 * (records + 1)))
        return (finer if kind == "refined" else release), Scope(points, records)

    return small


RELEASE_PLAN = Plan("ThresholdRelease", release_cases, _small("release"), utility=release_utility)
REFINED_PLAN = Plan("RefinedRelease", refined_cases, _small("refined"), utility=refined_utility)
LEARNER_PLAN = Plan("LearnerFromRelease", learner_cases, _small("learner"), utility=learner_utility)
