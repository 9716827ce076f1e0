"""Audits of Theorem 5.18, run: a learner, its representation, boosted, and the learner from that (thesis §5.2.1).

Every number is the printed one. The learners at the start are exponential mechanisms on two to four concepts, whose
premise, (1/4, 1/2)-accuracy, is audited too. Output distributions are exact. Of the lower bound: a random threshold
from fewer examples than are necessary, at which every ε-DP learner has to fail, this one and its like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.interpret import law
from dpaudit.language import Fixed, Mechanism, Multiset, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import (
    ConceptClass,
    Examples,
    GeneralisationError,
    Points,
    Thresholds,
    Truth,
    all_examples,
)
from dpaudit_algorithms.pac.finite_class import FiniteClassLearnerCorrected
from dpaudit_algorithms.representations.representation import Hypotheses, ListedRepresentation
from dpaudit_algorithms.representations.representation_from_learner import RepresentationFromLearnerRefined
from dpaudit_algorithms.representations.round_trip import RoundTrip, RoundTripCorrected
from dpaudit_algorithms.representations.round_trip_theory import HiddenThreshold, learned_at_most

Made = RoundTrip | RoundTripCorrected
LARGE = 5_000.0
"""An ε at which the printed n is refuted."""
QUARTER = 0.25 + 2**-20
"""Just over α on a point where two concepts differ."""


def itself(concepts: ConceptClass) -> ListedRepresentation:
    """C as the representation of itself."""
    names = tuple(concepts.concepts)
    return ListedRepresentation(concepts, (Hypotheses(concepts, names),), (1,), 0.25, 0.25)


def outcomes(concepts: ConceptClass, n: int, epsilon: float) -> RepresentationFromLearnerRefined:
    """What the exponential mechanism over C gives on n zeros (Lemma 5.15, α = 1/4)."""
    return RepresentationFromLearnerRefined(FiniteClassLearnerCorrected(epsilon, concepts), concepts, n, 0.25)


@dataclass(frozen=True)
class Executed(ListedRepresentation):
    """A representation from a learner by its output distribution, so that nobody need execute the learner again.

    Args:
        executed: its size, ln of the number of executions.
    """

    executed: float = 0.0

    @property
    def size(self) -> float:
        """As before: what n is computed with."""
        return self.executed


def executed(one: RepresentationFromLearnerRefined) -> Executed:
    """The output distribution in doubles, which leaves out classes of a probability below 10^−300."""
    found: dict[Any, float] = law(one, ()).as_dict()
    return Executed(one.concepts, tuple(found), tuple(found.values()), 0.25, 0.25, one.size)


TWO = outcomes(Thresholds(2), 5, 0.01)
"""Of two concepts the target is never the less likely one, so that every n will do; 5 is what Lemma 5.15 needs."""
OFTEN = outcomes(Thresholds(2), 8, 1.0)
"""The same learner with another ε, which is run 99 million times: see `executed`."""
FOUR_POINTS = outcomes(Points(4), 9, 1.0)
"""1/4-accurate with probability 0.525 or more; 728 million times."""
FOUR_THRESHOLDS = outcomes(Thresholds(4), 37, 0.25)
"""1/4-accurate with probability 0.5065 or more; 1.2 billion times."""


def cases() -> tuple[Case, ...]:
    """Small domains exhaustively, with few rounds and with every constant as printed."""
    return (
        *_privacy(RoundTrip),
        Case(
            "there and back, every pair of 5 examples of 2 points", RoundTrip(1.0, 0.25, 0.5, TWO), runs=0,
            scope=Scope(all_examples(range(2)), 5), note="Every constant as printed: T = 55, M = 7, 14 executions.",
        ),
    )


def corrected_cases() -> tuple[Case, ...]:
    """The same algorithm."""
    return _privacy(RoundTripCorrected)


def _privacy(kind: type[Made]) -> tuple[Case, ...]:
    default = kind(1.0, 0.25, 0.05, itself(Thresholds(3)))
    few, other = (
        kind(epsilon, 0.25, 0.5, outcomes(concepts, 5, 0.001), 3)
        for epsilon, concepts in ((1.0, Thresholds(3)), (0.5, Points(2)))
    )
    points = kind(3.0, 0.25, 0.5, itself(Points(3)), 3)
    return (
        Case("default", default, _pairs(1), runs=5_000),
        Case("3 rounds, every pair of 2 examples of 3 points", few, runs=0, scope=Scope(all_examples(range(3)), 2)),
        Case("3 rounds, every pair of 4 examples of 2 points", other, runs=0, scope=Scope(all_examples(range(2)), 4)),
        Case("points, ε = 3, every pair of 3 examples", points, runs=0, scope=Scope(all_examples(range(3)), 3)),
        *(Case(f"group of {k}", default, _pairs(k), default.claim.group(k), runs=0) for k in (2, 3)),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """The printed numbers of examples; large ε; the learners at the start; too few examples."""
    note = "The printed n is below what any learner needs, for every ε."
    return (
        *_learned(RoundTrip),
        _exactly(RoundTrip(8.0, 0.25, 0.05, itself(Thresholds(2)))),
        _exactly(RoundTrip(LARGE, 0.25, 0.05, itself(Thresholds(2))), Verdict.FAIL, note),
        *_starting(),
        *_too_few(),
    )


def corrected_utility_cases() -> tuple[UtilityCase, ...]:
    """The same; large ε with enough examples."""
    large = RoundTripCorrected(LARGE, 0.25, 0.25, itself(Thresholds(2)))
    return (
        *_learned(RoundTripCorrected),
        _sampled("2 thresholds by themselves", large, Truth((0, 1), (11, 4), 0), Truth((1,), (1,), 1)),
    )


def _learned(kind: type[Made]) -> tuple[UtilityCase, ...]:
    two, points, thresholds, wide = (
        kind(1.0, 0.25, 0.25, executed(OFTEN)),
        kind(1.0, 0.25, 0.25, executed(FOUR_POINTS)),
        kind(2.0, 0.2, 0.25, executed(FOUR_THRESHOLDS)),
        kind(1.0, 0.1, 0.25, itself(Thresholds(1 << 8))),
    )
    far, fifth, tenth, middle = 1 - QUARTER, 0.2 + 2**-20, 0.1 + 2**-20, 1 << 7
    return (
        _sampled("2 thresholds", two, Truth((0, 1), (far, QUARTER), 0), Truth((1,), (1,), 1)),
        _sampled("4 points", points, Truth((0, 3), (far, QUARTER), 3), Truth((0, 1, 2, 3), (1, 1, 1, 1), 2)),
        _sampled(
            "4 thresholds", thresholds, Truth((0, 1), (1 - fifth, fifth), 0),
            Truth((0, 2, 3), (1 - 2 * fifth, fifth, fifth), 2),
        ),
        _sampled(
            "2^8 thresholds by themselves", wide,
            Truth((0, middle, middle + 1), (1 - 2 * tenth, tenth, tenth), middle),
        ),
    )


def _sampled(what: str, one: Made, *truths: Truth) -> UtilityCase:
    sources = tuple(Examples(one.representation.concepts, truth, one.enough) for truth in truths)
    return UtilityCase(_label(what, one), one, one.guaranteed, sources, runs=60, exact=False)


def _label(what: str, one: Made) -> str:
    return f"{what}, α = {one.alpha:g}, β = {one.beta:g}, ε = {one.epsilon:,g}: n = {one.enough:,}"


def _exactly(one: Made, expected: Verdict = Verdict.PASS, note: str = "") -> UtilityCase:
    """Two thresholds by themselves, which differ on 4/15 of D, or on all of it."""
    return UtilityCase(
        _label("2 thresholds by themselves", one), one, one.guaranteed,
        (
            Examples(Thresholds(2), Truth((0, 1), (11, 4), 0), one.enough),
            Examples(Thresholds(2), Truth((1,), (1,), 1), one.enough),
        ),
        runs=100, expected=expected, note=note,
    )


def _starting() -> tuple[UtilityCase, ...]:
    """What Lemma 5.15 asks of the learner: (1/4, 1/2)-accuracy; and what is made of it, before the last step."""
    quarter = 1 - QUARTER
    rest = 1 - 2 * QUARTER
    hard = {
        TWO: (Truth((0, 1), (11, 4), 0), Truth((1,), (1,), 0)),
        FOUR_POINTS: (Truth((1, 2, 3), (rest, QUARTER, QUARTER), 0), Truth((0, 1), (QUARTER, quarter), 0)),
        FOUR_THRESHOLDS: (
            Truth((0, 2, 3), (rest, QUARTER, QUARTER), 2),
            Truth((0, 1), (quarter, QUARTER), 0),
            Truth((0, 1, 2), (rest, QUARTER, QUARTER), 1),
        ),
    }
    made = RoundTrip(1.0, 0.25, 0.05, executed(FOUR_POINTS))
    boosted = made.learner.representation
    return (
        *(
            UtilityCase(
                f"(1/4, 1/2) from {one.n} examples: {type(one.concepts).__name__}, ε = {one.epsilon:g}",
                one.learner,
                UtilityClaim(GeneralisationError(one.concepts, 0.25), 0.5, "§5.2.1, Lemma 5.15, its premise"),
                tuple(Examples(one.concepts, truth, one.n) for truth in truths),
                runs=2_000,
            )
            for one, truths in hard.items()
        ),
        UtilityCase(
            f"the boosted representation of 4 points, T = {made.T}",
            boosted,
            boosted.represents,
            (
                Fixed((), Truth((0, 1, 2, 3), (1, 1, 1, 1), 0), "uniform"),
                Fixed((), Truth((2,), (1,), 2), "all at the target"),
            ),
            runs=20,
        ),
    )


def _too_few() -> tuple[UtilityCase, ...]:
    """A random threshold from few examples: what bounds every ε-DP learner, tried on two.

    Of 2^13 thresholds, with α = 1/4 and ε = 0.01, the printed lower bound asks for 21.3 examples.
    """
    made = RoundTrip(1.0, 0.25, 0.05, itself(Thresholds(1 << 8)))
    chosen = FiniteClassLearnerCorrected(0.01, Thresholds(1 << 13))
    return tuple(
        UtilityCase(
            f"{n} examples of one of 2^{bits} thresholds, {learner.name}, α = {alpha:g}, ε = {epsilon:g}",
            learner, learned_at_most(bits, alpha, epsilon, n), (HiddenThreshold(bits, alpha, n),), runs=runs,
            exact=False,
        )
        for learner, bits, epsilon, alpha, n, runs in ((made, 8, 1.0, 0.05, 4, 90), (chosen, 13, 0.01, 0.25, 21, 1_200))
    )


def _pairs(moved: int) -> tuple[Pair, ...]:
    """Labels turned where thresholds differ."""
    return (
        _turned({(1, 1): 2, (0, 1): 2}, (1, 1), (1, 0), moved, "the second point"),
        _turned({(2, 0): 3, (1, 1): 1}, (2, 0), (2, 1), moved, "the third point"),
    )


def _turned(counts: dict[tuple[int, int], int], old: tuple[int, int], new: tuple[int, int], k: int, label: str) -> Pair:
    left = Multiset.counted({**counts, old: max(counts[old], k)})
    return Pair(left, left.changed(remove=(old,) * k, add=(new,) * k), f"{label}, {k} changed")


def _small(kind: type[Made]) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        return kind(1.0, 0.25, 0.05, itself(Thresholds(domain))), Scope(all_examples(range(domain)), records)

    return small


PLAN = Plan("RoundTrip", cases, _small(RoundTrip), utility=utility_cases)
CORRECTED_PLAN = Plan(
    "RoundTripCorrected", corrected_cases, _small(RoundTripCorrected), utility=corrected_utility_cases
)
