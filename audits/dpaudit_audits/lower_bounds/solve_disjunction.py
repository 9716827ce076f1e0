"""Audits of Solve_D for disjunctions (thesis, Remark 7.27), with private, wrong and useless learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Instance, Mechanism, Multiset, Program, Uniform, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.lower_bounds.disjunctions import Disjunctions, WithElement
from dpaudit_algorithms.lower_bounds.solve_disjunction import SolveDisjunction
from dpaudit_algorithms.pac.concepts import EmpiricalError, Points, Thresholds, all_examples
from dpaudit_algorithms.pac.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_audits.lower_bounds.solve_d import TwoSides


@dataclass(frozen=True)
class LeastErrors(Mechanism):
    """A wrong learner: the first disjunction with the fewest errors, which claims ε."""

    epsilon: float
    concepts: Disjunctions

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> tuple[Any, ...]:
        return min(self.concepts.concepts, key=lambda c: self.concepts.wrong(c, S))


@dataclass(frozen=True)
class BadAxes(Mechanism):
    """As bad a learner as its guarantee allows: for examples (0, 1) of two points alone, wrong on all axes with
    probability 1/4, and otherwise on `bad` random ones in a row.

    Args:
        ell: ℓ.
        bad: how many axes it gets wrong, below ℓ/4.
    """

    ell: int
    bad: int

    @property
    def claim(self) -> Claim:
        return Claim(0.0)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(bad/ℓ)-consistent with probability 3/4, on such examples."""
        goal = EmpiricalError(Disjunctions(with_p0(Points(2)), self.ell), self.bad / self.ell)
        return (UtilityClaim(goal, 0.75, "by its program"),)

    def run(self, S: Any) -> Program:
        if (yield Uniform(range(4))) == 0:
            return (1,) * self.ell
        first = yield Uniform(range(self.ell))
        wrong = {(first + i) % self.ell for i in range(self.bad)}
        return tuple(int(axis in wrong) for axis in range(self.ell))


@dataclass(frozen=True)
class OnePoint(Mechanism):
    """𝒟: a random j of X; half of the examples are (j, 1), the other half the next element, labelled 0.

    Args:
        size: |X| ≥ 2.
        records: of every database.
    """

    size: int
    records: int

    def run(self, dataset: Any) -> Program:
        j = yield Uniform(range(self.size))
        half = self.records // 2
        return Instance(Multiset.counted({(j, 1): half, ((j + 1) % self.size, 0): self.records - half}))

    def __str__(self) -> str:
        return f"{self.records} examples, half (j, 1) and half (j + 1, 0) for a random point j"


def with_p0(axis: Thresholds | Points) -> WithElement:
    """C over {0, …, size − 1} and p₀ = size."""
    return WithElement(axis, axis.size)


def solver(epsilon: float, axis: Thresholds | Points, ell: int, records: int) -> SolveDisjunction:
    """On the exponential mechanism over all disjunctions."""
    learner = FiniteClassLearnerCorrected(epsilon, Disjunctions(with_p0(axis), ell))
    return SolveDisjunction(learner, ell, _source(axis, records), with_p0(axis), axis.size)


def worst_solver(ell: int, bad: int, records: int) -> SolveDisjunction:
    """On `BadAxes`, for a source of examples (0, 1) alone."""
    source = Fixed(Multiset.counted({(0, 1): records}))
    return SolveDisjunction(BadAxes(ell, bad), ell, source, with_p0(Points(2)), 2)


def _source(axis: Thresholds | Points, records: int) -> Mechanism:
    return TwoSides(axis.size, records) if isinstance(axis, Thresholds) else OnePoint(axis.size, records)


def cases() -> tuple[Case, ...]:
    """The example changed stands on a random axis, which only the returned concept tells."""
    default = solver(1.0, Thresholds(3), 2, 6)
    points = solver(1.0, Points(3), 2, 3)
    tied = Multiset.counted({(2, 1): 3, (2, 0): 3})
    C = with_p0(Thresholds(3))
    wrong = SolveDisjunction(LeastErrors(1.0, Disjunctions(C, 2)), 2, TwoSides(3, 6), C, 3)
    return (
        Case("default", default, (_turned(6, 1), _turned(3, 1)), runs=20_000),
        Case(
            "every pair of 3 examples, |X| = 3 and p₀",
            solver(1.0, Thresholds(3), 2, 3),
            runs=0,
            scope=Scope(all_examples(C.points), 3),
        ),
        Case(
            "every pair of 3 examples, points",
            points,
            runs=0,
            scope=Scope(all_examples(with_p0(Points(3)).points), 3),
        ),
        Case(
            "every pair of 6 examples, |X| = 2, three axes",
            solver(0.5, Thresholds(2), 3, 6),
            runs=0,
            scope=Scope(((1, 0), (1, 1)), 6),
        ),
        Case("group of 2", default, (_turned(6, 2),), default.claim.group(2), runs=20_000),
        Case("group of 3", default, (_turned(6, 3),), default.claim.group(3), runs=20_000),
        Case(
            "a wrong learner",
            wrong,
            (Pair(tied, tied.changed(remove=((2, 0),), add=((2, 1),)), "the fewest errors change sides"),),
            runs=20_000,
            expected=Verdict.FAIL, deliberate=True,
            note="It minimises the errors without noise and claims ε = 1.",
        ),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """D from 𝒟, for learners that keep their guarantee and for one that is private and useless."""
    n, C = 100, with_p0(Thresholds(3))
    useless = SolveDisjunction(FiniteClassLearner(1.0, Disjunctions(C, 2)), 2, TwoSides(3, n), C, 3)
    good = (
        ("thresholds, two axes", solver(1.0, Thresholds(3), 2, n)),
        ("thresholds, three axes", solver(1.0, Thresholds(3), 3, n)),
        ("points, two axes", solver(1.0, Points(3), 2, n)),
        ("a learner as bad as its guarantee allows, 16 axes", worst_solver(16, 3, 4)),
    )
    return (
        *(
            UtilityCase(f"Remark 7.27, {label}", mechanism, mechanism.utility(n)[0], (mechanism.source,))
            for label, mechanism in good
        ),
        UtilityCase(
            "Remark 7.27, a private and useless learner",
            useless,
            useless.utility(n)[0],
            (TwoSides(3, n),),
            expected=Verdict.FAIL, deliberate=True,
            note="Solve_D is not at fault: the learner does not satisfy its guarantee (finding on A′).",
        ),
    )


def _turned(positive: int, turned: int) -> Pair:
    left = Multiset.counted({(2, 1): positive, (0, 1): 6 - positive})
    right = left.changed(remove=((2, 1),) * turned, add=((2, 0),) * turned)
    return Pair(left, right, f"{positive} positive examples at 2 of 6, {turned} turned")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Two axes of this many points and p₀."""
    mechanism = solver(1.0, Thresholds(max(2, domain)), 2, records)
    return mechanism, Scope(all_examples(mechanism.concepts.points), records)


PLAN = Plan("SolveDisjunction", cases, small, utility=utility_cases)
