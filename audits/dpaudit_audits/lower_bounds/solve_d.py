"""Audits of Solve_D (thesis §7.6), with private, wrong and useless learners for two and three axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Instance, Mechanism, Multiset, Program, Uniform
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.lower_bounds.solve_d import SolveD
from dpaudit_algorithms.pac.concepts import Thresholds, all_examples
from dpaudit_algorithms.pac.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.grid_concepts import ThresholdsND


@dataclass(frozen=True)
class LeastErrors(Mechanism):
    """A wrong learner: the first concept with the fewest errors, which claims ε."""

    epsilon: float
    concepts: ThresholdsND

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> tuple[int, ...]:
        return min(self.concepts.concepts, key=lambda c: self.concepts.wrong(c, S))


@dataclass(frozen=True)
class TwoSides(Mechanism):
    """𝒟: a random j < |X| − 1; half of the examples are (j, 1), the other half (j + 1, 0), so that c_j alone is good.

    Args:
        size: |X| ≥ 2.
        records: of every database.
    """

    size: int
    records: int

    def run(self, dataset: Any) -> Program:
        j = yield Uniform(range(self.size - 1))
        half = self.records // 2
        return Instance(Multiset.counted({(j, 1): half, (j + 1, 0): self.records - half}))

    def __str__(self) -> str:
        return f"{self.records} examples, half (j, 1) and half (j + 1, 0) for a random j"


def solver(epsilon: float, size: int, ell: int, records: int) -> SolveD:
    """On the exponential mechanism over the grid."""
    learner = FiniteClassLearnerCorrected(epsilon, ThresholdsND(size, ell))
    return SolveD(learner, ell, TwoSides(size, records), Thresholds(size))


def cases() -> tuple[Case, ...]:
    """The example changed stands on a random axis, which only the returned concept tells."""
    default = solver(1.0, 3, 2, 6)
    tied = Multiset.counted({(2, 1): 3, (2, 0): 3})
    wrong = SolveD(LeastErrors(1.0, ThresholdsND(3, 2)), 2, TwoSides(3, 6), Thresholds(3))
    return (
        Case("default", default, (_turned(6, 1), _turned(3, 1)), runs=20_000),
        Case("every pair of 3 examples, |X| = 3", solver(1.0, 3, 2, 3), runs=0, scope=Scope(all_examples(range(3)), 3)),
        Case(
            "every pair of 6 examples, |X| = 2, three axes",
            solver(0.5, 2, 3, 6),
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
    """D from 𝒟, for a learner that keeps its guarantee and for one that is private and useless."""
    n = 100
    three = solver(1.0, 3, 3, n)
    good = solver(1.0, 3, 2, n)
    useless = SolveD(FiniteClassLearner(1.0, ThresholdsND(3, 2)), 2, TwoSides(3, n), Thresholds(3))
    return (
        UtilityCase("Theorem 7.26, two axes", good, good.utility(n)[0], (TwoSides(3, n),)),
        UtilityCase("Theorem 7.26, three axes", three, three.utility(n)[0], (TwoSides(3, n),)),
        UtilityCase(
            "Theorem 7.26, a private and useless learner",
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
    """Two axes of this many points."""
    return solver(1.0, domain, 2, records), Scope(all_examples(range(domain)), records)


PLAN = Plan("SolveD", cases, small, utility=utility_cases)
