"""Audits of the two reductions between thresholds and interior points (thesis §7.5, Lemma 7.22)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import AnyScores, Claim, Fixed, Mechanism, Multiset, Program, Quality, Scores, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.interior_points.interior_point import Depth, InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefixLevel
from dpaudit_algorithms.lower_bounds.thresholds_reductions import (
    InteriorPointFromThresholds,
    InteriorPointFromThresholdsCorrected,
    ThresholdsFromInteriorPoint,
    ThresholdsFromInteriorPointCorrected,
)
from dpaudit_algorithms.pac.concepts import Examples, Thresholds, Truth, all_examples
from dpaudit_algorithms.pac.learn_thresholds import Consistency
from dpaudit_audits.foundations.overclaiming import Overclaiming

RUNS = 30_000

Learner = type[ThresholdsFromInteriorPoint] | type[ThresholdsFromInteriorPointCorrected]
Finder = type[InteriorPointFromThresholds] | type[InteriorPointFromThresholdsCorrected]


@dataclass(frozen=True)
class Marked(Mechanism):
    """The worst case of group privacy, counting some rows: two more of them cost (2ε, (1 + e^ε)δ), and no less.

    The output is a concept or 0.
    """

    counter: GroupPrivacy
    rows: tuple[Any, ...]
    concept: int

    @property
    def claim(self) -> Claim:
        return self.counter.claim

    def run(self, dataset: Any) -> Program:
        marked = sum(count for row, count in Multiset.of(dataset).items if row in self.rows)
        said = yield self.counter.on(Multiset.counted({1: marked}))
        return self.concept if said else 0


@dataclass(frozen=True)
class GoodEnough(Quality):
    """min(#{i : c_j(x_i) = y_i}, enough): all concepts with few enough errors are alike; 1-sensitive."""

    size: int
    enough: int

    def __call__(self, dataset: Any) -> AnyScores:
        return _capped(self.size, self.enough, Multiset.of(dataset))


@lru_cache(maxsize=64)
def _capped(size: int, enough: int, S: Multiset) -> AnyScores:
    scores = Consistency(size)(S).steps
    flat = [
        min(float(value), float(enough))
        for start, stop, value in zip(scores.starts, scores.stops, scores.values, strict=True)
        for _ in range(start, stop)
    ]
    return Scores(flat)


# --- thresholds from interior points ---------------------------------------------------------------------------------


def learner_plan(name: str, kind: Learner, refuted: bool) -> Plan:
    """Both versions face the same cases; their privacy holds."""

    def cases() -> tuple[Case, ...]:
        default = kind(InteriorPointByMedianCorrected(1.0, 64), 24, 0.1, 0.157, 1, 64)
        prefixes = RecPrefixLevel(8, 0.5, 1e-3, 0.9, k=1, base=4)
        wrong = Overclaiming(InteriorPointByMedianCorrected(1.0, 2), Claim(0.5))
        return (
            Case("default", default, _label_pairs(1), runs=RUNS),
            Case("every pair of 8 examples of 2 points", _of_median(kind, 8, 2), runs=0, scope=_scope(2, 8)),
            Case("every pair of 5 examples of 3 points", _of_median(kind, 6, 3), runs=0, scope=_scope(3, 5)),
            Case("odd n: every pair of 5 examples", _of_median(kind, 5, 3), runs=0, scope=_scope(3, 5)),
            Case("more is padded than given", _of_median(kind, 12, 3), runs=0, scope=_scope(3, 3)),
            Case(
                "RecPrefix inside, every pair of 4 examples",
                kind(prefixes, 4, 0.5, 0.5, 0, 7),
                runs=0,
                scope=Scope(all_examples((0, 1, 6, 7)), 4),
            ),
            Case(
                "A_dist, corrected, inside",
                kind(ADistCorrected(2.0, 0.01, Depth(2)), 10, 0.5, 0.5, 1, 2),
                runs=0,
                scope=_scope(2, 7),
            ),
            Case(
                "A_dist as printed inside",
                kind(ADist(1.0, 0.01, Depth(2)), 16, 0.5, 0.5, 1, 2),
                runs=0,
                scope=_scope(2, 9),
                expected=Verdict.FAIL,
                deliberate=True,
                note="Two rows move the gap of two depths by 4, which costs A_dist as printed 4ε of the 2ε: finding 1.",
            ),
            Case(
                "an inner algorithm that claims half of what it spends",
                kind(wrong, 8, 0.25, 0.5, 1, 2),
                runs=0,
                scope=_scope(2, 8),
                expected=Verdict.FAIL,
                deliberate=True,
                note="The claim is computed from the inner one, and is as wrong.",
            ),
            *(Case(f"group of {g}", default, _label_pairs(g), default.claim.group(g), runs=0) for g in (2, 3)),
        )

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        return _of_median(kind, 2 * max(1, records // 2), domain), _scope(domain, records)

    def utility() -> tuple[UtilityCase, ...]:
        fails = Verdict.FAIL if refuted else Verdict.PASS
        smallest = kind(InteriorPointByMedianCorrected(1.0, 2), 2, 0.5, 0.27, 1, 2)
        default = kind(InteriorPointByMedianCorrected(1.0, 64), 60, 0.1, 2e-5, 1, 64)
        pac = next(size.records for size in default.sample_sizes if "Theorem" in size.place)
        thresholds, m = Thresholds(65), default.records
        return (
            UtilityCase(
                "smallest case",
                smallest,
                _guarantee(smallest, 2, "Lemma 7.22"),
                (_fixed({(2, 0): 2}, "two examples (2, 0)"),),
                expected=fails,
                note="β = 0.27 covers the inner algorithm's exact error on every dataset, 1/(1 + e).",
            ),
            UtilityCase(
                "equal examples of label 0",
                default,
                _guarantee(default, m, "Lemma 7.22"),
                (
                    _fixed({(2, 0): m}, f"{m} examples (2, 0)"),
                    _fixed({(1, 1): m - 60, (2, 0): 60}, "two neighbouring points"),
                ),
                expected=fails,
                note="An interior point of half ones, half twos is 1 or 2, and c_2 labels (2, 0) wrongly.",
            ),
            UtilityCase(
                "examples that do not tie at label 0",
                default,
                _guarantee(default, m, "Lemma 7.22"),
                (
                    _fixed({(64, 1): m}, f"{m} examples (64, 1)"),
                    _fixed({(30, 1): m - 30, **{(31 + i, 0): 1 for i in range(30)}}, "different examples of label 0"),
                    _fixed({(32, 1): m}, "label 1 alone"),
                ),
            ),
            UtilityCase(
                "a distribution on one point",
                default,
                _guarantee(default, pac, "Theorem 7.21"),
                (Examples(thresholds, Truth((2,), (1,), 1), pac),),
                expected=fails,
            ),
            UtilityCase(
                "two neighbouring points",
                default,
                _guarantee(default, pac, "Theorem 7.21"),
                (Examples(thresholds, Truth((1, 2), (3, 1), 1), pac),),
                expected=fails,
                runs=2_000,
                exact=False,
            ),
            UtilityCase(
                "a uniform distribution",
                default,
                _guarantee(default, pac, "Theorem 7.21"),
                (Examples(thresholds, Truth(tuple(range(1, 65)), (1,) * 64, 32), pac),),
                runs=500,
                exact=False,
            ),
        )

    return Plan(name, cases, small, utility=utility)


def _of_median(kind: Learner, n: int, domain: int) -> ThresholdsFromInteriorPoint:
    return kind(InteriorPointByMedianCorrected(1.0, domain), n, 0.25, 0.5, 1, domain)


def _scope(domain: int, records: int) -> Scope:
    return Scope(all_examples(range(1, domain + 1)), records)


def _label_pairs(moved: int) -> tuple[Pair, ...]:
    # D′ is {63×16, 64×8}: 63 has nearly all weight, and two rows that go from 64 to 63 cost nearly 2ε
    shifts = {(64, 1): 4, (63, 1): 20, (63, 0): 8, (64, 0): 88}
    return (
        _moved("a one at 64 turns into a zero at 63", shifts, (64, 1), (63, 0), moved),
        _moved("the same where zeros are lowered", {(63, 1): 108, (64, 1): 4, (64, 0): 8}, (64, 1), (64, 0), moved),
        _moved("labels turned in place", {(1, 1): 60, (64, 0): 60}, (1, 1), (1, 0), moved),
        _moved("few ones: a pad goes", {(1, 0): 119 - moved, (64, 1): 1 + moved}, (64, 1), (1, 0), moved),
    )


# --- interior points from thresholds ---------------------------------------------------------------------------------


def finder_plan(name: str, kind: Finder, refuted: bool) -> Plan:
    """Both versions face the same cases; their privacy holds."""

    def learner(epsilon: float, domain: int) -> ExponentialMechanism:
        return ExponentialMechanism(epsilon, Consistency(domain))

    def of(epsilon: float, domain: int, n: int, alpha: float = 0.125, beta: float = 0.5) -> Any:
        return kind(learner(epsilon, domain), n, alpha, beta, 0, domain - 1)

    def cases() -> tuple[Case, ...]:
        default, n = of(1.0, 64, 24), 24
        rows = ((1, 1), (2, 0)) if refuted else ((1, 1), (3, 0))
        tight = tuple(Marked(count, rows, 2) for count in (GroupPrivacy(0.5, 0.01), GroupPrivacy(0.5, 0.0, 0.01)))
        wrong = Overclaiming(learner(2.0, 4), Claim(0.4))
        return (
            Case("default", default, _middle_pairs(n, default.high, 1), runs=RUNS),
            *(
                Case(f"every pair of {k} records of {m} points", of(1.0, m, k), runs=0, scope=_points(m, k))
                for m, k in ((2, 8), (4, 6), (3, 5))
            ),
            *(
                Case(
                    f"an inner mechanism that spends all on every row, {name}",
                    kind(inner, 4, 0.25, 0.5, 0, 3),
                    runs=0,
                    scope=_points(3, 4),
                    note="Attains (2ε, (1 + e^ε)δ): {0, 0, 1, 1} and {0, 1, 1, 2} differ in two rows that it counts.",
                )
                for name, inner in zip(("δ > 0", "pure"), tight, strict=True)
            ),
            Case(
                "A_dist, corrected, inside",
                kind(ADistCorrected(2.0, 1e-6, Consistency(2)), 6, 0.0625, 0.5, 0, 1),
                runs=0,
                scope=_points(2, 6),
            ),
            Case(
                "an inner learner that claims a fifth of what it may spend",
                kind(wrong, 6, 0.125, 0.5, 0, 3),
                runs=0,
                scope=_points(4, 6),
                expected=Verdict.FAIL,
                deliberate=True,
                note="The claim is computed from the inner one, and is as wrong.",
            ),
            *(
                Case(f"group of {g}", default, _middle_pairs(n, default.high, g), default.claim.group(g), runs=0)
                for g in (2, 3)
            ),
        )

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        return of(1.0, domain, records), _points(domain, records)

    def utility() -> tuple[UtilityCase, ...]:
        fails = Verdict.FAIL if refuted else Verdict.PASS
        # (|X| − 1)·e^{−ε(αm + 1)/2}: Proposition 3.27(ii), as at most αm wrong labels are whole
        small, n = of(1.0, 2, 2, 0.1667, 0.3776), 30
        default = of(2.0, 8, n, 0.125, 1.2e-4)
        utility_cases = [
            UtilityCase(
                "smallest case",
                small,
                _guarantee(small, 2, "Lemma 7.22"),
                (_fixed({1: 2}, "two records 1"),),
                expected=fails,
                note="X = {0, 1}, four examples; two concepts differ in one of them or more, so β = 1/(1 + e^{ε/2}).",
            ),
            UtilityCase(
                "equal records",
                default,
                _guarantee(default, n, "Lemma 7.22"),
                tuple(_fixed({v: n}, f"{n} records {v}") for v in (3, 7)),
                expected=fails,
                note="The learner is asked for (v, 1) and (v, 0), which no threshold gives." if refuted else "",
            ),
            UtilityCase(
                "the two middle records differ",
                default,
                _guarantee(default, n, "Lemma 7.22"),
                (
                    _fixed({3: n // 2, 4: n // 2}, "neighbouring points, half each"),
                    _fixed({0: n // 2, 1: n // 2}, "the least two points, half each"),
                    _fixed({6: n // 2, 7: n // 2}, "the greatest two points, half each"),
                    _fixed({0: n // 2, 7: n // 2}, "both ends"),
                ),
            ),
        ]
        if refuted:
            utility_cases += _fake_samples()
        return tuple(utility_cases)

    return Plan(name, cases, small, utility=utility)


def _fake_samples() -> tuple[UtilityCase, ...]:
    """n/α − n fake samples, as in the lecture notes: a miss costs n/2 of n/α, which a learner with error α may."""
    n, alpha, size, epsilon = 24, 0.125, 64, 2.0
    cases = []
    for shrink, where, expected in ((1, "Learning", Verdict.FAIL), (3, "Lemma 7.22", Verdict.PASS)):
        m = round(n / (shrink * alpha))
        # all errors up to αm/2 are alike, and more than αm lie αm/2 + 1 below: Proposition 3.27(ii)
        allowed = round(alpha * m) // 2
        beta = (size - 1) * math.exp(-epsilon * (allowed + 1) / 2)
        learner = ExponentialMechanism(epsilon, GoodEnough(size, m - allowed))
        mechanism = InteriorPointFromThresholds(learner, n, alpha, beta, 0, size - 1, shrink=shrink)
        cases.append(
            UtilityCase(
                f"n/({shrink}α) examples" if shrink > 1 else "fake samples: n/α examples, as in the lecture notes",
                mechanism,
                _guarantee(mechanism, n, where),
                (_fixed({31: n // 2, 32: n // 2}, f"{n} records, {m - n} fake ones"),),
                expected=expected,
                note="A miss costs n/2 examples, half of what a learner with error α is allowed of n/α; of n/(3α) "
                "it is more than allowed. The learner does not tell concepts apart whose error is at most α/2.",
            )
        )
    return tuple(cases)


def _points(domain: int, records: int) -> Scope:
    return Scope(tuple(range(domain)), records)


def _middle_pairs(n: int, top: int, moved: int) -> tuple[Pair, ...]:
    half, middle = n // 2, top // 2
    return (
        _moved("from the least to the greatest", {0: half, middle: half}, 0, top, moved),
        _moved("the middle goes over a gap", {1: half, top - 1: half}, 1, top - 1, moved),
        _moved("all equal", {top: n}, top, 0, moved),
        _moved("all equal, in the middle", {middle: n}, middle, top, moved),
    )


def _moved(label: str, counts: dict[Any, int], old: Any, new: Any, times: int) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


def _fixed(counts: dict[Any, int], label: str) -> Fixed:
    return Fixed(Multiset.counted(counts), label=label)


def _guarantee(mechanism: Mechanism, records: int, place: str) -> UtilityClaim:
    """The guarantee there for this many records."""
    return next(claim for claim in mechanism.utility(records) if place in claim.place)


PLAN = learner_plan("ThresholdsFromInteriorPoint", ThresholdsFromInteriorPoint, True)
CORRECTED_PLAN = learner_plan("ThresholdsFromInteriorPointCorrected", ThresholdsFromInteriorPointCorrected, False)
BACK_PLAN = finder_plan("InteriorPointFromThresholds", InteriorPointFromThresholds, True)
BACK_CORRECTED_PLAN = finder_plan("InteriorPointFromThresholdsCorrected", InteriorPointFromThresholdsCorrected, False)
