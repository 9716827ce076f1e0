"""Solve_D: what it hands to the learner, what it keeps of its answer, and how often that is good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law
from dpaudit.language import (
    Claim,
    DatasetError,
    Fixed,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Trial,
    Uniform,
    UtilityClaim,
)
from dpaudit_algorithms.lower_bounds.solve_d import SolveD
from dpaudit_algorithms.pac.concepts import EmpiricalError, Points, Thresholds
from dpaudit_algorithms.pac.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.grid_concepts import ThresholdsND


@dataclass(frozen=True)
class Shown(Mechanism):
    """A "learner" that returns its dataset in place of every concept."""

    ell: int

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, S: Any) -> tuple[Multiset, ...]:
        return (S,) * self.ell


@dataclass(frozen=True)
class Adversary(Mechanism):
    """A learner that is good on all axes but a random `bad` of `ell`, and on all of them wrong with probability 1/4.

    A wrong axis gets c_0, a good one c_1, for examples (1, 1) alone.
    """

    ell: int
    bad: int

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        goal = EmpiricalError(ThresholdsND(2, self.ell), self.bad / self.ell)
        return (UtilityClaim(goal, 0.75, "a test"),)

    def run(self, S: Any) -> Program:
        if (yield Uniform(range(4))) == 0:
            return (0,) * self.ell
        first = yield Uniform(range(self.ell))
        wrong = {(first + i) % self.ell for i in range(self.bad)}
        return tuple(int(axis not in wrong) for axis in range(self.ell))


def placed(ell: int, D: Any, fresh: Any) -> Iterator[tuple[Multiset, float]]:
    """What the learner gets, with its probability."""
    exact = law(SolveD(Shown(ell), ell, Fixed(fresh), Thresholds(3)), D)
    yield from exact.as_dict().items()  # type: ignore[misc]


def test_steps_1_to_4_by_hand() -> None:
    D, fresh = ((2, 1), (1, 0)), ((1, 1), (2, 0))
    on = {
        axis: Multiset.of(
            ((*(0,) * i, x, *(0,) * (1 - i)), y)
            for i in (0, 1)
            for x, y in (D if i == axis else fresh)
        )
        for axis in (0, 1)
    }
    assert dict(placed(2, D, fresh)) == pytest.approx({on[0]: 0.5, on[1]: 0.5})


@pytest.mark.parametrize("ell", [1, 2, 3])
def test_examples_stay_labelled_by_a_conjunction(ell: int) -> None:
    # D by c_1 and the source by c_0: S by the conjunction that has c_1 on the random axis
    D, fresh = Multiset.of([(0, 1), (1, 1), (2, 0)]), Multiset.of([(0, 1), (1, 0), (2, 0)])
    grid = ThresholdsND(3, ell)
    for S, p in placed(ell, D, fresh):
        assert len(S) == 3 * ell
        consistent = [a for a in grid.concepts if grid.wrong(a, S) == 0]
        assert sum(a_i == 1 for a in consistent for a_i in a) == 1
        assert p == pytest.approx(1 / ell)


def test_one_example_of_D_is_one_of_S() -> None:
    fresh = ((1, 1), (2, 0))
    for old, new in (((2, 1), (2, 0)), ((0, 1), (2, 1))):
        for (left, _), (right, _) in zip(placed(2, (old, (1, 0)), fresh), placed(2, (new, (1, 0)), fresh), strict=True):
            assert Claim(1.0).relation.distance(left, right) == 1


def test_step_6_returns_the_concept_of_the_random_axis() -> None:
    learner = FiniteClassLearnerCorrected(1.0, ThresholdsND(2, 2))
    # 300 examples (1, 1) on the axis of D against 300 of (1, 0) on the other
    solver = SolveD(learner, 2, Fixed(Multiset.counted({(1, 0): 300})), Thresholds(2))
    assert law(solver, Multiset.counted({(1, 1): 300})).as_dict()[1] == pytest.approx(1)


@pytest.mark.parametrize("bad", [1, 2, 3])
def test_theorem_7_26_against_an_adversary(bad: int) -> None:
    # β = 1/4 and α = bad/16: on `bad` of 16 axes all points are errors, fewer than β·16 = 4 axes have more than αn/β
    learner = Adversary(16, bad)
    n = 4
    D = Fixed(Multiset.counted({(1, 1): n}))
    solver = SolveD(learner, 16, D, Thresholds(2))
    (guaranteed,) = solver.utility(n)
    assert guaranteed.probability == 0.5
    assert isinstance(guaranteed.goal, EmpiricalError)
    assert guaranteed.goal.alpha == pytest.approx(bad / 4)
    found = law(Trial(D, solver, guaranteed.goal), ()).probability(bool)
    assert found == pytest.approx(0.75 * (1 - bad / 16))
    assert found >= 0.75**2 > guaranteed.probability


def test_privacy_is_the_learners() -> None:
    solver = SolveD(
        FiniteClassLearnerCorrected(1.0, ThresholdsND(2, 2)), 2, Fixed(Multiset.counted({(1, 1): 6})), Thresholds(2)
    )
    assert solver.claim == Claim(1.0)
    left, right = Multiset.counted({(1, 1): 6}), Multiset.counted({(1, 1): 5, (1, 0): 1})
    assert 0.5 < exact_epsilon(solver, left, right, 0.0) <= 1.0


def test_guarantees_follow_the_learner() -> None:
    source = Fixed(Multiset.counted({(1, 1): 100}))
    for kind in (FiniteClassLearner, FiniteClassLearnerCorrected):
        learner = kind(1.0, ThresholdsND(3, 2))
        (guaranteed,) = SolveD(learner, 2, source, Thresholds(3)).utility(100)
        (inner,) = (claim.goal for claim in learner.utility(200) if isinstance(claim.goal, EmpiricalError))
        assert guaranteed.goal == EmpiricalError(Thresholds(3), 8 * inner.alpha)
        assert guaranteed.probability == 0.75
    assert SolveD(Shown(2), 2, source, Thresholds(3)).utility(100) == ()


def test_grid_thresholds() -> None:
    grid = ThresholdsND(3, 2)
    assert len(grid.concepts) == len(grid.points) == 9
    assert [grid.label((1, 2), x) for x in ((0, 0), (1, 2), (2, 0), (2, 2))] == [1, 1, 0, 0]
    assert (grid.vc, ThresholdsND(1, 4).vc) == (2, 0)


def test_bad_input() -> None:
    learner = FiniteClassLearnerCorrected(1.0, ThresholdsND(2, 2))
    with pytest.raises(DatasetError, match="source"):
        law(SolveD(learner, 2, Fixed(((1, 1),)), Thresholds(2)), ((1, 1), (0, 1)))
    with pytest.raises(ParameterError, match="p1"):
        SolveD(learner, 2, Fixed(()), Points(2))
    with pytest.raises(ParameterError, match="ell"):
        SolveD(learner, 0, Fixed(()), Thresholds(2))
