"""Audits of the representations made from private learners (thesis §5.2.1, Lemmas 5.14 and 5.15), exactly.

The learner is the exponential mechanism over two thresholds, which prefers the target on every sample: so it is
(α, 1/2)-accurate for every n and α. Of the distributions, those on which the two differ are all that matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Mechanism, Uniform
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import Points, Thresholds, Truth
from dpaudit_algorithms.pac.finite_class import FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.non_private import ListedConcepts
from dpaudit_algorithms.representations.representation import Representation
from dpaudit_algorithms.representations.representation_from_learner import (
    RepresentationFromLearner,
    RepresentationFromLearnerRefined,
)

PAIR = Pair((0,), (1,), "whatever the data")


MANY = 1_000


@dataclass(frozen=True)
class AnyPoint(Mechanism):
    """A learner of the concept 0 that reads no data: the indicator of a uniform one of many points.

    More than 3 points do not have mass above 1/4, so it is (1/4, 1/2)-accurate for every D, and two executions hardly
    ever give the same hypothesis.

    Args:
        epsilon: > 0, what it claims; its privacy loss is 0.
    """

    epsilon: float

    @property
    def claim(self) -> Claim:
        """ε, which is more than it needs."""
        return Claim(self.epsilon)

    def run(self, S: Any) -> Uniform:
        return Uniform(range(MANY))


def of_many(n: int, epsilon: float) -> RepresentationFromLearnerRefined:
    """Lemma 5.15 on the learner with many outcomes, at α = 1/4."""
    concepts = ListedConcepts(((0,) * MANY,))
    return RepresentationFromLearnerRefined(AnyPoint(epsilon), concepts, n, 0.25, Points(MANY))


def plain(size: int, n: int, epsilon: float) -> RepresentationFromLearner:
    """Lemma 5.14 on the learner of thresholds on this many points, at α = 1/4."""
    return RepresentationFromLearner(
        FiniteClassLearnerCorrected(epsilon, Thresholds(size)), Thresholds(size), n, 0.25
    )


def refined(size: int, n: int, epsilon: float, alpha: float = 0.25) -> RepresentationFromLearnerRefined:
    """Lemma 5.15 on the same."""
    return RepresentationFromLearnerRefined(
        FiniteClassLearnerCorrected(epsilon, Thresholds(size)), Thresholds(size), n, alpha
    )


def cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(plain(2, 1, 1.0))


def refined_cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(refined(2, 5, 0.001))


def _cases(small: Representation) -> tuple[Case, ...]:
    return (
        Case("default", small, (PAIR,), runs=0),
        *(
            Case(f"group of {k}", small, (Pair((0,) * k, (1,) * k, PAIR.label),), Claim(0.0).group(k), runs=0)
            for k in (2, 3)
        ),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """As many executions as printed."""
    return tuple(
        _case(one, one.n, size)
        for size, n, epsilon in ((2, 1, 1.0), (2, 3, 1.0), (2, 8, 0.5))
        for one in (plain(size, n, epsilon),)
    )


def refined_utility_cases() -> tuple[UtilityCase, ...]:
    """As many executions as printed, on zeros of both labels; of a learner of many outcomes, how large they make H."""
    many = of_many(5, 0.1)
    worst = Fixed((), Truth((0, 1, 2), (1, 1, 1), 0), "three points, each above 1/4")
    return (
        *(
            _case(one, one.n, size)
            for size, n, epsilon, alpha in ((2, 5, 0.1, 0.25), (2, 11, 0.1, 0.1), (2, 6, 0.3, 0.25))
            for one in (refined(size, n, epsilon, alpha),)
        ),
        UtilityCase(f"{MANY:,} outcomes", many, many.represents, (worst,), runs=80, exact=False),
        UtilityCase(
            f"size(ℋ) with {MANY:,} outcomes",
            many,
            many.sized,
            (worst,),
            runs=40,
            exact=False,
            expected=Verdict.FAIL,
            note="A step of the proof, ln(8·ln 4) + 8αεn ≤ nεα + 3: false from 7αεn = 0.5939 on.",
        ),
    )


def _case(one: RepresentationFromLearner | RepresentationFromLearnerRefined, n: int, size: int) -> UtilityCase:
    truths = {
        f"c_{target}, D on {size} points": Truth(tuple(range(size)), (1,) * size, target) for target in range(size)
    }
    return UtilityCase(
        f"|X| = {size}, n = {n}, ε = {one.epsilon:g}, α = {one.alpha:g}: {one.executions} executions",
        one,
        one.represents,
        tuple(Fixed((), truth, label) for label, truth in truths.items()),
        runs=5 if one.executions < 100 else 0,  # many executions are slow to sample, and fast to enumerate
    )


PLAN = Plan("RepresentationFromLearner", cases, utility=utility_cases)
REFINED_PLAN = Plan("RepresentationFromLearnerRefined", refined_cases, utility=refined_utility_cases)
