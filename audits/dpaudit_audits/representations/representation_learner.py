"""Audits of the learner from a probabilistic representation (thesis §5.2.1, Lemma 5.12).

Exact privacy with small representations. Utility on worst-case distributions: points learned on a domain of 2^64 from
as many examples as on one of 2^8; hypotheses that are wrong on just over 6α of D; and the events of the proof.
"""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Examples, Points, Thresholds, Truth, all_examples
from dpaudit_algorithms.representations.point_representation import (
    LineHash,
    PointRepresentation,
    PointRepresentationHash,
)
from dpaudit_algorithms.representations.representation import Hypotheses, ListedRepresentation, OnesAt
from dpaudit_algorithms.representations.representation_learner import (
    RepresentationLearner,
    RepresentationLearnerCorrected,
)
from dpaudit_audits.representations.point_representation import ALPHA, BETA, distributions, spread

Learner = RepresentationLearner | RepresentationLearnerCorrected
TWO = ListedRepresentation(Thresholds(2), (Hypotheses.of(Thresholds(2), (0, 1)),), (1,), 0.05, 0.01)
"""THRESH on two points represents itself."""
THREE = ListedRepresentation(
    Thresholds(3),
    (Hypotheses.of(OnesAt(), ((0,), (0, 1), (0, 1, 2))), Hypotheses.of(OnesAt(), ((), (1,)))),
    (19, 1),
    0.05,
    0.05,
)
"""THRESH on three points; with probability 1/20 a class that is wrong at the first. (α, 1/20) for every α, tight."""
HASHES = ListedRepresentation(
    Points(3),
    (Hypotheses.of(LineHash(5, 2), ((0, 2), (1, 1), (3, 4))), Hypotheses.of(LineHash(5, 2), ((2, 0), (4, 3)))),
    (1, 1),
    0.45,
    0.5,
)
"""Two classes of hashes, for privacy alone."""
WRONG = 0.3 + 2**-20
"""Just over 6α of D at α = 0.05."""
LARGE = 46.0
"""About the smallest ε at which the printed n is refuted with `TWO`."""


def cases() -> tuple[Case, ...]:
    """All pairs of small domains, and samples."""
    return _privacy(RepresentationLearner)


def corrected_cases() -> tuple[Case, ...]:
    """The same algorithm."""
    return _privacy(RepresentationLearnerCorrected)


def _privacy(kind: type[Learner]) -> tuple[Case, ...]:
    default = kind(1.0, THREE)
    return (
        Case("default", default, pairs=_pairs(1), runs=5_000),
        Case("every pair of 4 examples, thresholds", default, runs=0, scope=Scope(all_examples(range(3)), 4)),
        Case("every pair of 3 examples, ε = 3", kind(3.0, THREE), runs=0, scope=Scope(all_examples(range(3)), 3)),
        Case(
            "every pair of 5 examples, coins for two points",
            kind(0.5, PointRepresentation(2, 0.5, 0.5)),
            runs=0,
            scope=Scope(all_examples(range(2)), 5),
        ),
        Case("every pair of 3 examples, hashes", kind(1.0, HASHES), runs=0, scope=Scope(all_examples(range(3)), 3)),
        *(Case(f"group of {k}", default, _pairs(k), default.claim.group(k), runs=5_000) for k in (2, 3)),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """Points on domains of any size; thresholds exactly; large ε, and the events of the proof."""
    wide = {k: RepresentationLearner(1.0, PointRepresentationHash(1 << k, ALPHA, BETA)) for k in (8, 16, 64)}
    huge, coins = wide[64], RepresentationLearner(1.0, PointRepresentation(32, ALPHA, BETA))
    two, three = RepresentationLearner(1.0, TWO), RepresentationLearner(1.0, THREE)
    return (
        *(_points(f"points, |X| = 2^{k}", learner, k, 100) for k, learner in wide.items()),
        _points("points, |X| = 2^5, independent coins", coins, 5, 100),
        UtilityCase(
            "points, |X| = 2^64, D on 200 points",
            huge,
            huge.guaranteed,
            (_sampled(huge, spread(1 << 64, 200, 6.001 * ALPHA)),),
            runs=120,
            exact=False,
        ),
        UtilityCase("thresholds on two points", two, two.guaranteed, _two(two.enough), runs=2_000),
        UtilityCase("thresholds on three points", three, three.guaranteed, _three(three.enough), runs=500),
        UtilityCase("two bad ones", three, three.guaranteed, _sides(three.enough), runs=2_000, exact=False),
        UtilityCase(
            "ε = 9.6, just where the printed n is always enough", at_most := RepresentationLearner(9.6, TWO),
            at_most.guaranteed, _two(at_most.enough),
        ),
        *(
            UtilityCase(
                f"ε = {epsilon:g}, n = {learner.enough}",
                learner,
                learner.guaranteed,
                _two(learner.enough),
                expected=Verdict.FAIL,
                note="The printed n is below what E_1 and E_2 need, for every ε.",
                finding=25,
            )
            for epsilon in (LARGE, 300.0)
            for learner in (RepresentationLearner(epsilon, TWO),)
        ),
        *_events(two, three),
    )


def corrected_utility_cases() -> tuple[UtilityCase, ...]:
    """The same inputs; large ε with enough examples."""
    two, three = RepresentationLearnerCorrected(1.0, TWO), RepresentationLearnerCorrected(1.0, THREE)
    half = RepresentationLearnerCorrected(0.5, THREE)
    huge = RepresentationLearnerCorrected(8.0, PointRepresentationHash(1 << 64, ALPHA, BETA))
    return (
        UtilityCase("thresholds on two points", two, two.guaranteed, _two(two.enough), runs=2_000),
        UtilityCase("thresholds on three points", three, three.guaranteed, _three(three.enough), runs=500),
        UtilityCase("two bad ones", three, three.guaranteed, _sides(three.enough), runs=2_000, exact=False),
        UtilityCase("ε = 1/2", half, half.guaranteed, _three(half.enough), runs=500),
        *(
            UtilityCase(f"ε = {epsilon:g}", learner, learner.guaranteed, _two(learner.enough), runs=2_000)
            for epsilon in (LARGE, 300.0)
            for learner in (RepresentationLearnerCorrected(epsilon, TWO),)
        ),
        _points("points, |X| = 2^64, ε = 8", huge, 64, 100),
        _e3(two, Verdict.PASS, 4, 1),
        _e3(two, Verdict.PASS, 40, 3),
    )


def _events(two: Learner, three: Learner) -> tuple[UtilityCase, ...]:
    """E_1 and E_2, of the class and the sample alone; E_3."""
    n, more = 180, 142
    return (
        UtilityCase(f"E_1, n = {n}", THREE, three.e1(n), _three(n), runs=2_000),
        UtilityCase(f"E_2, n = {n}", THREE, three.e2(n), _three(n), runs=2_000),
        UtilityCase(f"E_2, n = {n}, two bad ones", THREE, three.e2(n), _sides(n), runs=3_000, exact=False),
        UtilityCase(f"E_2, n = {more}: from (4/(3α))·ln(|H|/β) on", TWO, two.e2(more), _two(more)),
        # the fewest examples that refute it at ε = 1, and an n at which 1 − |H|·e^{−αεn/2} is above 0
        _e3(two, Verdict.FAIL, 4, 1),
        _e3(two, Verdict.FAIL, 40, 3),
    )


def _e3(two: Learner, expected: Verdict, n: int, behind: int) -> UtilityCase:
    """A hypothesis that is just over αn examples behind the best."""
    few = Multiset.counted({(1, 0): behind, (0, 1): n - behind})
    return UtilityCase(
        f"E_3, n = {n}",
        two.with_class,
        two.e3(n),
        (Fixed(few, Truth((0, 1), (n - behind, behind), 0), f"{behind} of {n} examples tell two thresholds apart"),),
        expected=expected,
        note="A step of the proof: a hypothesis just over αn examples behind the best.",
        finding=26,
    )


def _points(label: str, learner: Learner, bits: int, runs: int) -> UtilityCase:
    near, far = distributions(1 << bits, ALPHA), distributions(1 << bits, 6 * ALPHA)
    return UtilityCase(
        label,
        learner,
        learner.guaranteed,
        tuple(_sampled(learner, truth) for truth in (*near.values(), *far.values())),
        runs=runs,
        exact=False,
        note=f"From {learner.enough} examples, for any domain.",
    )


def _sampled(learner: Learner, truth: Truth) -> Examples:
    concepts = learner.representation.concepts
    assert isinstance(concepts, Points)
    return Examples(concepts, truth, learner.enough)


def _two(records: int) -> tuple[Examples, ...]:
    """The two concepts differ on just over 6α of D; or on all of it."""
    return (
        Examples(Thresholds(2), Truth((0, 1), (1 - WRONG, WRONG), 0), records),
        Examples(Thresholds(2), Truth((1,), (1,), 1), records),
    )


def _three(records: int) -> tuple[Examples, ...]:
    """A bad hypothesis that is wrong on just over 6α; or the point at which the wrong class is wrong."""
    return (
        Examples(Thresholds(3), Truth((0, 1), (1 - WRONG, WRONG), 0), records),
        Examples(Thresholds(3), Truth((0,), (1,), 1), records),
    )


def _sides(records: int) -> tuple[Examples, ...]:
    """Two bad hypotheses on either side of the target, each wrong on just over 6α: too many samples to enumerate."""
    return (Examples(Thresholds(3), Truth((0, 1, 2), (1 - 2 * WRONG, WRONG, WRONG), 1), records),)


def _pairs(moved: int) -> tuple[Pair, ...]:
    """Labels turned where hypotheses differ."""
    return (
        _turned({(1, 1): 8, (0, 1): 4}, (1, 1), (1, 0), moved, "the second point"),
        _turned({(2, 0): 8, (0, 0): 4}, (2, 0), (2, 1), moved, "the third point"),
    )


def _turned(counts: dict[tuple[int, int], int], old: tuple[int, int], new: tuple[int, int], k: int, label: str) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * k, add=(new,) * k), f"{label}, {k} changed")


def _small(kind: type[Learner]) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        every = Hypotheses.of(Thresholds(domain), range(domain))
        return kind(1.0, ListedRepresentation(Thresholds(domain), (every,), (1,), 0.05, 0.05)), Scope(
            all_examples(range(domain)), records
        )

    return small


PLAN = Plan("RepresentationLearner", cases, _small(RepresentationLearner), utility=utility_cases)
CORRECTED_PLAN = Plan(
    "RepresentationLearnerCorrected", corrected_cases, _small(RepresentationLearnerCorrected),
    utility=corrected_utility_cases,
)
