"""Solve_D for disjunctions: de Morgan, classes with p₀, what Remark 7.27 gives, and the constants of section 7.6."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_epsilon
from scipy.optimize import linprog

from dpaudit.interpret import law, sample
from dpaudit.language import (
    Bernoulli,
    Claim,
    DatasetError,
    Fixed,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Trial,
)
from dpaudit_algorithms.lower_bounds.disjunctions import Disjunctions, WithElement
from dpaudit_algorithms.lower_bounds.hard_distributions import success_bound
from dpaudit_algorithms.lower_bounds.query_release import LearnerFromRelease
from dpaudit_algorithms.lower_bounds.solve_d import SolveAxis, SolveD
from dpaudit_algorithms.lower_bounds.solve_disjunction import SolveDisjunction
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError, Points, PointsAndZero, Thresholds
from dpaudit_algorithms.pac.finite_class import FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.grid_concepts import Halfspaces, Rectangles, ThresholdsND
from dpaudit_audits.lower_bounds.solve_disjunction import OnePoint, solver, worst_solver


@dataclass(frozen=True)
class Complement(ConceptClass):
    """1 − c for every c of C."""

    axis: ConceptClass

    @property
    def points(self) -> Any:
        return self.axis.points

    @property
    def concepts(self) -> Any:
        return self.axis.concepts

    @property
    def vc(self) -> int:
        return self.axis.vc

    def label(self, concept: Any, x: Any) -> int:
        return 1 - self.axis.label(concept, x)


@dataclass(frozen=True)
class Conjunctions(Disjunctions):
    """C^ℓ of Definition 7.25."""

    def label(self, concept: Any, x: Any) -> int:
        return int(all(self.axis.label(c, x_i) for c, x_i in zip(concept, x, strict=True)))


@dataclass(frozen=True)
class Relabelled(Mechanism):
    """A mechanism on examples whose labels are exchanged."""

    inner: Mechanism

    @property
    def claim(self) -> Claim | None:
        return self.inner.claim

    def run(self, S: Any) -> Any:
        return self.inner.on(exchanged(S))


@dataclass(frozen=True)
class Shown(Mechanism):
    """A "learner" that returns its dataset in place of every concept."""

    ell: int

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, S: Any) -> tuple[Multiset, ...]:
        return (S,) * self.ell


def exchanged(S: Any) -> Multiset:
    return Multiset.counted({(x, 1 - y): count for (x, y), count in Multiset.of(S).items})


def zero_elements(C: ConceptClass) -> list[Any]:
    """All p₀ of C."""
    return [x for x in C.points if not any(C.label(c, x) for c in C.concepts)]


def placed(ell: int, D: Any, fresh: Any, C: ConceptClass, p0: Any) -> Iterator[tuple[Multiset, float]]:
    """What the learner gets, with its probability."""
    exact = law(SolveDisjunction(Shown(ell), ell, Fixed(fresh), C, p0), D)
    yield from exact.as_dict().items()  # type: ignore[misc]


TOP = WithElement(Thresholds(3), 3)


# --- the algorithm ---------------------------------------------------------------------------------------------------


def test_steps_1_to_4_by_hand() -> None:
    D, fresh = ((2, 1), (3, 0)), ((1, 1), (2, 0))
    first = [((2, 3), 1), ((3, 3), 0), ((3, 1), 1), ((3, 2), 0)]
    second = [((3, 2), 1), ((3, 3), 0), ((1, 3), 1), ((2, 3), 0)]
    expected = {Multiset.of(first): 0.5, Multiset.of(second): 0.5}
    assert dict(placed(2, D, fresh, TOP, 3)) == pytest.approx(expected)


@pytest.mark.parametrize("axis", [Thresholds(3), Points(3)])
@pytest.mark.parametrize("ell", [1, 2, 3])
def test_examples_stay_labelled_by_a_disjunction(axis: Thresholds | Points, ell: int) -> None:
    # D by c_1, the source by c_0: S by the disjunction that has c_1 on the random axis and c_0 on the others, only
    C = WithElement(axis, 3)
    D, fresh = (Multiset.of((x, C.label(c, x)) for x in C.points) for c in (1, 0))
    together = Disjunctions(C, ell)
    seen = set()
    for S, p in placed(ell, D, fresh, C, 3):
        assert len(S) == 4 * ell
        (consistent,) = [h for h in together.concepts if together.wrong(h, S) == 0]
        assert sorted(consistent) == [0] * (ell - 1) + [1]
        seen.add(consistent.index(1))
        assert p == pytest.approx(1 / ell)
    assert seen == set(range(ell))


def test_one_example_of_D_is_one_of_S() -> None:
    fresh = ((1, 1), (2, 0))
    for old, new in (((2, 1), (2, 0)), ((0, 1), (3, 1))):
        left, right = (placed(2, (one, (1, 0)), fresh, TOP, 3) for one in (old, new))
        for (S, _), (other, _) in zip(left, right, strict=True):
            assert Claim(1.0).relation.distance(S, other) == 1


@pytest.mark.parametrize("axis", [Thresholds(2), Points(2), Thresholds(3)])
@pytest.mark.parametrize("ell", [1, 2, 3])
def test_it_is_solve_d_of_the_complements(axis: Thresholds | Points, ell: int) -> None:
    # de Morgan: the same output distribution as Solve_D on complements, with all labels exchanged and p₁ = p₀
    C, p0 = WithElement(axis, axis.size), axis.size
    fresh = Multiset.of([(0, 1), (p0, 0)])
    learner = FiniteClassLearnerCorrected(1.0, Disjunctions(C, ell))
    here = SolveDisjunction(learner, ell, Fixed(fresh), C, p0)
    there = SolveD(Relabelled(learner), ell, Fixed(exchanged(fresh)), Complement(C), p0)
    for D in product(product(C.points, (0, 1)), repeat=2):
        assert law(here, Multiset.of(D)).as_dict() == pytest.approx(law(there, exchanged(D)).as_dict(), abs=1e-15)


@pytest.mark.parametrize("bad", [1, 2, 3])
def test_utility_against_the_worst_learner(bad: int) -> None:
    # β = 1/4 and α = bad/16: on `bad` of 16 axes all examples are errors, fewer than β·16 = 4 axes have more than αn/β
    mechanism = worst_solver(16, bad, 4)
    (guaranteed,) = mechanism.utility(4)
    assert guaranteed.probability == 0.5
    assert isinstance(guaranteed.goal, EmpiricalError)
    assert guaranteed.goal.alpha == pytest.approx(bad / 4)
    found = law(Trial(mechanism.source, mechanism, guaranteed.goal), ()).probability(bool)
    assert found == pytest.approx(0.75 * (1 - bad / 16))
    assert found >= 0.75**2 > guaranteed.probability
    # and the learner itself keeps its guarantee on S, as the disjunction's errors are counted there
    together = Disjunctions(mechanism.concepts, 16)
    S = Multiset.counted({(tuple(0 if i == t else 2 for i in range(16)), 1): 4 for t in range(16)})
    wrong = tuple(int(t < bad) for t in range(16))
    assert together.wrong(wrong, S) == 4 * bad


@pytest.mark.parametrize("ell", [2, 3])
def test_guarantees_follow_the_learner(ell: int) -> None:
    mechanism = solver(1.0, Points(3), ell, 100)
    (guaranteed,) = mechanism.utility(100)
    (inner,) = (claim.goal for claim in mechanism.inner.utility(100 * ell) if isinstance(claim.goal, EmpiricalError))
    assert guaranteed.goal == EmpiricalError(WithElement(Points(3), 3), 8 * inner.alpha)
    assert guaranteed.probability == 0.75
    source = OnePoint(3, 100)
    assert law(Trial(source, mechanism, guaranteed.goal), ()).probability(bool) >= 0.75


def test_privacy_is_the_learners() -> None:
    mechanism = solver(1.0, Thresholds(2), 2, 6)
    assert mechanism.claim == Claim(1.0)
    left, right = Multiset.counted({(1, 1): 6}), Multiset.counted({(1, 1): 5, (1, 0): 1})
    assert 0.5 < exact_epsilon(mechanism, left, right, 0.0) <= 1.0


def test_sampled_as_computed() -> None:
    mechanism, D, runs = solver(1.0, Points(3), 2, 4), Multiset.counted({(1, 1): 3, (3, 0): 1}), 50_000
    p = law(mechanism, D).as_dict()[1]
    found = sample(mechanism, D, runs, seed=7).counts[1]
    # five standard deviations: false alarms 6e-7
    assert abs(found / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


def test_bad_input() -> None:
    learner = FiniteClassLearnerCorrected(1.0, Disjunctions(TOP, 2))
    with pytest.raises(ParameterError, match="p0 must be labelled 0 by every concept; 2 is not"):
        SolveDisjunction(learner, 2, Fixed(()), TOP, 2)
    with pytest.raises(ParameterError, match="p1 must be labelled 1 by every concept; 3 is not"):
        SolveD(learner, 2, Fixed(()), TOP, 3)
    with pytest.raises(ParameterError, match="ell"):
        SolveDisjunction(learner, 0, Fixed(()), TOP, 3)
    with pytest.raises(ParameterError, match="claims nothing"):
        SolveDisjunction(Fixed(()), 2, Fixed(()), TOP, 3)
    with pytest.raises(ParameterError, match="p0 must not be in X"):
        WithElement(Points(3), 2)
    with pytest.raises(ParameterError, match="ell"):
        Disjunctions(TOP, 0)
    with pytest.raises(DatasetError, match="source"):
        law(SolveDisjunction(learner, 2, Fixed(((1, 1),)), TOP, 3), ((1, 1), (0, 1)))
    assert issubclass(SolveD, SolveAxis)


# --- which classes have p₀, and what it means for points -------------------------------------------------------------


@pytest.mark.parametrize(
    "C",
    [
        Thresholds(1), Thresholds(4), Points(1), Points(4), PointsAndZero(1), PointsAndZero(4), ThresholdsND(3, 2),
        Rectangles(3, 2), Halfspaces(4, 1), Halfspaces(3, 2),
    ],
)
def test_no_class_of_the_thesis_has_a_p0_until_one_is_added(C: ConceptClass) -> None:
    assert zero_elements(C) == []
    assert zero_elements(WithElement(C, "p0")) == ["p0"]
    # c(max X) = 1 for the greatest threshold only
    assert zero_elements(WithElement(Thresholds(3), 3)) == [3]


@pytest.mark.parametrize("axis", [Thresholds(3), Points(3), PointsAndZero(2), Points(1)])
def test_vc_dimensions(axis: ConceptClass) -> None:
    C = WithElement(axis, "p0")
    brute = max(k for k in range(4) if any(C.shatters(points) for points in combinations(C.points, k)))
    assert C.vc == brute
    for ell in (1, 2):
        assert Disjunctions(C, ell).vc >= ell * C.vc


def test_disjunctions_of_thresholds_are_thresholds_upside_down() -> None:
    # 1 − (x ≤ a ∨ y ≤ b) = (k − x ≤ k − 1 − a) ∧ (k − y ≤ k − 1 − b), p₀ = k becoming min X
    k = 3
    upside_down, grid = Disjunctions(WithElement(Thresholds(k), k), 2), ThresholdsND(k + 1, 2)
    for a, x in product(upside_down.concepts, upside_down.points):
        mirrored = tuple(k - 1 - a_i for a_i in a), tuple(k - x_i for x_i in x)
        assert upside_down.label(a, x) == 1 - grid.label(*mirrored)


def test_points_conjunctions_are_points_and_disjunctions_are_not() -> None:
    points = Points(3)
    together = Conjunctions(points, 2)
    assert all(together.label(c, x) == int(c == x) for c, x in product(together.concepts, together.points))
    assert together.vc == 1
    assert Disjunctions(WithElement(points, 3), 2).vc == 2
    # the counterpart for disjunctions: complements of points have no p₀, and are disjoined to one of them
    complements = Disjunctions(Complement(points), 2)
    assert zero_elements(Complement(points)) == []
    assert all(complements.label(c, x) == int(c != x) for c, x in product(complements.concepts, complements.points))


def test_points_need_log_size_examples_without_delta() -> None:
    # packing: D_x = n copies of (x, 1); of any ε-DP learner the mean success is at most e^{εn}/|X|
    size, n, epsilon = 64, 3, 1.0
    learner = FiniteClassLearnerCorrected(epsilon, WithElement(Points(size), size))
    mean = math.fsum(law(learner, Multiset.counted({(x, 1): n})).as_dict()[x] for x in range(size)) / size
    assert mean <= math.exp(epsilon * n) / size


# --- "requires sample complexity ℓn", read literally -----------------------------------------------------------------


@dataclass(frozen=True)
class Ladder(Mechanism):
    """The best ε-DP learner of {0, 1_x}: 1_x with a probability that depends on (positive − negative) examples at x."""

    epsilon: float

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Program:
        counts = dict(Multiset.of(S).items)
        lead = counts.get((1, 1), 0) - counts.get((1, 0), 0)
        wrong = ladder(self.epsilon, abs(lead))
        return (yield Bernoulli(1 - wrong if lead > 0 else wrong))


def ladder(epsilon: float, k: int) -> float:
    """The least error of an ε-DP guess between two datasets at distance k, the same on both."""
    down = math.exp(-epsilon * (k // 2))
    return down / 2 if k % 2 == 0 else down / (1 + math.exp(epsilon))


def least(good: Callable[[int], bool]) -> int:
    n = 0
    while not good(n):
        n += 1
    return n


def exactly_needed(alpha: float, beta: float, epsilon: float) -> int:
    """The sample complexity of {0, 1_x} for ε-DP (α, β)-PAC learners.

    If x has a probability above α the learner must say whether it is labelled 1. With K ~ Bin(n, α) examples at x, in
    the limit, the two datasets are at distance K, and an ε-DP learner errs on one of them with ladder(ε, K) at least,
    on average; `Ladder` attains it.
    """
    def error(n: int) -> float:
        weights = (math.comb(n, k) * alpha**k * (1 - alpha) ** (n - k) for k in range(n + 1))
        return math.fsum(w * ladder(epsilon, k) for k, w in enumerate(weights))

    return least(lambda n: error(n) <= beta)


def enough(ell: int, alpha: float, beta: float, epsilon: float) -> int:
    """Examples from which the exponential mechanism is an (α, β)-PAC learner for disjunctions of ℓ of {0, 1_x}.

    A disjunction of error p > α comes out with probability at most (1 − p·(1 − e^{−ε/2}))^n, as its mean weight is that
    and the target's is 1; there are 2^ℓ − 1 besides the target.
    """
    kept = 1 - alpha * (1 - math.exp(-epsilon / 2))
    return math.ceil(math.log((2**ell - 1) / beta) / -math.log(kept))


def test_literal_ell_n_is_false_at_the_same_alpha_and_beta() -> None:
    assert (exactly_needed(0.1, 0.05, 1.0), enough(2, 0.1, 0.05, 1.0)) == (56, 102)  # 102 < 2·56
    assert (exactly_needed(0.1, 0.001, 1.0), enough(10, 0.1, 0.001, 1.0)) == (154, 345)  # 345 < 10·154
    # for a fixed ℓ the ratio tends to 1 as β → 0; at β = 2^{−ℓ} it is about 2, so that no Ω(ℓn) holds for all ℓ and β
    for ell in (8, 16, 24):
        assert enough(ell, 0.25, 2.0**-ell, 1.0) < 2.3 * exactly_needed(0.25, 2.0**-ell, 1.0)
    assert enough(3, 0.25, 1e-12, 1.0) < 1.11 * exactly_needed(0.25, 1e-12, 1.0)
    # with Theorem 7.26's α/β and 2β there is no contradiction
    for ell in (2, 3, 10):
        assert enough(ell, 0.01, 0.1, 1.0) > ell * exactly_needed(0.1, 0.2, 1.0)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5])
def test_ladder_is_the_least_error(epsilon: float, k: int) -> None:
    # linear program: p_0, …, p_k along k replacements, minimise the mean of p_0 and 1 − p_k
    rows, bounds = [], []
    factor = math.exp(epsilon)
    for i in range(k):
        for a, b in ((i, i + 1), (i + 1, i)):
            row = np.zeros(k + 1)
            row[a], row[b] = 1, -factor  # p_a ≤ e^ε·p_b
            rows.append(row)
            bounds.append(0.0)
            row = np.zeros(k + 1)
            row[a], row[b] = -1, factor  # 1 − p_a ≤ e^ε·(1 − p_b)
            rows.append(row)
            bounds.append(factor - 1)
    cost = np.zeros(k + 1)
    cost[0] += 0.5
    cost[k] -= 0.5
    solved = linprog(cost, A_ub=rows or None, b_ub=bounds or None, bounds=(0, 1))
    assert solved.fun + 0.5 == pytest.approx(ladder(epsilon, k), abs=1e-9)


def test_ladder_is_private() -> None:
    examples = ((0, 0), (1, 0), (1, 1))
    for rest in product(examples, repeat=3):
        for old, new in combinations(examples, 2):
            left, right = Multiset.of((*rest, old)), Multiset.of((*rest, new))
            assert exact_epsilon(Ladder(0.8), left, right, 0.0) <= 0.8 + 1e-12


@pytest.mark.parametrize("ell", [1, 2])
def test_enough_is_enough_exactly(ell: int) -> None:
    # the exponential mechanism at that n, each x_i alone with probability just above α
    alpha, beta, epsilon = 0.4, 0.1, 1.0
    n = enough(ell, alpha, beta, epsilon)
    C = WithElement(PointsAndZero(1), 1)
    together = Disjunctions(C, ell)
    learner = FiniteClassLearnerCorrected(epsilon, together)
    alone = [tuple(0 if i == t else 1 for i in range(ell)) for t in range(ell)]
    for target in together.concepts:
        failed = 0.0
        for counts in product(range(n + 1), repeat=ell):
            rest = n - sum(counts)
            if rest < 0:
                continue
            ways = math.factorial(n) // math.prod(map(math.factorial, (*counts, rest)))
            weight = ways * alpha ** sum(counts) * (1 - ell * alpha) ** rest
            S = {(z, together.label(target, z)): k for z, k in zip(alone, counts, strict=True)}
            S[((1,) * ell, 0)] = rest
            outputs = law(learner, Multiset.counted(S)).as_dict()
            right = math.fsum(
                p for h, p in outputs.items() if all(together.label(h, z) == together.label(target, z) for z in alone)
            )
            failed += weight * (1 - right)
        assert failed <= beta


# --- the constants of section 7.6 ------------------------------------------------------------------------------------


def subsampled(epsilon: float, m: int, times: int) -> tuple[float, float]:
    """(ε̃, δ̃/δ) of m rows drawn from times·m, by (7.2) and (7.3) as printed."""
    n = times * m
    up, down = (1 + math.expm1(epsilon) / n) ** m, (1 + math.expm1(-epsilon) / n) ** m
    ratio = up / down
    return math.log(ratio), ratio * (down - 1) / math.expm1(-epsilon) + (up - 1) / math.expm1(epsilon)


SIZES = (*range(1, 500), 10**3, 10**4, 10**6)


def test_theorem_7_24_needs_4050_by_lemma_7_20_but_1500_by_its_proof() -> None:
    # a learner for m examples is an empirical one for 9m = ℓn₀, and 1/(50n₀²) = ℓ²/(50·9²·m²)
    by_statement = 50 * 9**2
    assert by_statement == 4050 > 1500
    # but subsampling lowers δ, which Lemma 7.20 does not say: by Lemma 7.19's (6εm/n, e^{6εm/n}·4m/n·δ) to 0.62·δ
    by_lemma_7_19 = by_statement * math.exp(6 * 0.5 / 9) * 4 / 9
    assert by_lemma_7_19 == pytest.approx(2512.10, abs=0.01)
    # and by the inequalities of its proof to 0.2373·δ: the printed 1500 is enough
    shrunk = [subsampled(0.5, m, 9) for m in SIZES]
    by_proof = by_statement * max(delta for _, delta in shrunk)
    assert by_proof == pytest.approx(960.98, abs=0.01)
    assert by_proof < 1500
    # even where n₀ = 9m/ℓ, above 5, is rounded up to whole examples
    assert by_proof * (6 / 5) ** 2 < 1500
    # with the best constants of Lemma 7.19's form, e − 1/e for its 6 (at ε ≤ 1) and 2 for its 4
    assert math.e - 1 / math.e < 2.3505
    assert by_statement * math.exp(2.3505 * 0.5 / 9) * 2 / 9 == pytest.approx(1025.6, abs=0.1)


def test_lemma_7_28_does_not_follow_at_one_half_but_theorem_7_24_needs_less() -> None:
    # Lemma 7.22(2) doubles ε = 1/2 to 1, and Lemma 7.6 is for ε < 1/4; its P_n is above 3/4 there
    def bound(epsilon: float, n: int) -> float:
        e = math.exp(epsilon)
        return e / (e + 1) + (e + 1) * math.fsum(1 / (50 * j * j) for j in range(1, n + 1))

    assert bound(0.2, 3) == pytest.approx(success_bound(3, 0.2))
    with pytest.raises(ParameterError, match="1/4"):
        success_bound(1, 1.0)
    assert bound(1.0, 1) == pytest.approx(0.8054, abs=1e-4)
    assert bound(1.0, 1) > 0.75 > math.e / (math.e + 1)
    # in Theorem 7.24 the learner was subsampled before: ε̃ < 1/8, which Lemma 7.22(2) doubles to less than 1/4
    assert max(epsilon for epsilon, _ in (subsampled(0.5, m, 9) for m in SIZES)) == pytest.approx(0.1158, abs=1e-4)
    a, b = math.expm1(0.5) / 9, -math.expm1(-0.5) / 9
    assert a + b / (1 - b) < 1 / 8  # for all m: m·ln(1 + a/m) ≤ a, −m·ln(1 − b/m) ≤ b/(1 − b)
    assert bound(2 * 0.1159, 10_000) < 0.633 < 0.75
    # alone, Lemma 7.28 holds at ε = 1/2 for α ≤ 1/10 with the bases 400j² in place of 50j² (δ is that of 7.22(2))
    for n in (*range(1, 200), 10**3, 10**5):
        delta = (1 + math.exp(0.5)) * 9 * 0.1**2 / (50 * n * n)
        guesses = math.fsum(math.e / (400 * j * j) for j in range(2, min(n, 2000) + 1)) + math.e / (400 * 2000)
        assert (math.e + delta) / (math.e + 1) + guesses + (n - 1) * delta < 0.75


def test_delta_survives_lemma_7_22_for_small_alpha() -> None:
    # δ of Lemma 7.28 is for n = n′/(3α) examples, n′ records of Lemma 7.6: (1 + e^ε)·δ ≤ 1/(50n′²) iff 9α²(1 + e^ε) ≤ 1
    largest = 1 / (3 * math.sqrt(1 + math.exp(0.5)))
    assert largest == pytest.approx(0.2048, abs=1e-4)
    # along Theorem 7.24's way, at α/β = 8α: 0.2373·81/1500·9·(8α)²·(1 + e^ε̃) ≤ 1/50
    shrunk = max(delta for _, delta in (subsampled(0.5, m, 9) for m in SIZES))
    left = shrunk * 81 / 1500 * 9 * 64 * (1 + math.exp(0.1158))
    assert math.sqrt(1 / (50 * left)) == pytest.approx(0.0357, abs=1e-4)


def test_theorem_7_29_gets_nothing_from_theorem_7_24() -> None:
    # it hands a (1/5, 1/5)-accurate learner to a theorem for β = 1/8; and (α/β)-consistent with α ≥ β is no condition
    alpha, beta = Fraction(1, 5), Fraction(1, 5)
    assert beta > Fraction(1, 8)
    assert alpha / beta >= 1
    assert alpha / Fraction(1, 8) > 1
    concepts, S = Thresholds(3), Multiset.of([(0, 0), (1, 1), (2, 0)])
    for c in concepts.concepts:
        assert concepts.wrong(c, S) <= alpha / beta * len(S)
    # the constants: 7500 = 5·1500, and 5·4050 by Lemma 7.20's statement, 5·961 by its proof
    assert (5 * 1500, 5 * 4050) == (7500, 20_250)
    assert 5 * 960.98 < 7500


def test_theorem_7_29_survives_by_two_releases() -> None:
    # LearnerFromRelease is (2ε, 2δ)-DP and (4/150)-consistent with probability 1 − 2/150 on as many examples, so also
    # with 1 − β for β = 1/8: α/β < 1/3, as Lemma 7.22(2) needs, and no PAC learner is in between
    release = Fraction(1, 150)
    assert LearnerFromRelease.card.system == "L5"
    alpha, beta = 4 * release, Fraction(1, 8)
    assert 2 * release < beta
    assert alpha / beta == Fraction(16, 75) < Fraction(1, 3)
    # m = ℓn₀, n′ = 3·(16/75)·n₀ records of Lemma 7.6, which needs (1 + e^{2ε})·2δ ≤ 1/(50n′²)
    constant = 50 * float(3 * alpha / beta) ** 2 * (1 + math.exp(2 / 150)) * 2
    assert constant == pytest.approx(82.47, abs=0.01)
    assert constant < 7500
    assert 4 / 150 < 1 / 4


def test_theorems_7_24_and_7_29_are_not_for_every_alpha() -> None:
    # of the concepts max X^ℓ (all 1) and min X^ℓ (1 at min X^ℓ alone) one errs at most half of the time
    grid = ThresholdsND(3, 2)
    every, few = (2, 2), (0, 0)
    for target, x in product(grid.concepts, grid.points):
        y = grid.label(target, x)
        assert grid.label(every, x) == 1
        assert grid.label(few, x) in (y, 0)
    # so the exponential mechanism on these two is a (3/4, 1/8)-accurate, (1/2, 0)-DP learner from 18 examples on, for
    # every X and ℓ
    def fails(n: int, p: float) -> float:
        """The worse concept is chosen, if the labels 1 have the probability p."""
        return math.fsum(
            math.comb(n, k) * p**k * (1 - p) ** (n - k) / (1 + math.exp((2 * k - n) / 4)) for k in range(n + 1)
        )

    assert least(lambda n: fails(n, 0.75) <= 1 / 8) == 18
    assert all(fails(18, p / 100) <= 1 / 8 for p in range(75, 101))
    # and the answer 1/2 to all queries is within 1/2, from no examples at all
    assert all(abs(Fraction(1, 2) - Fraction(k, 7)) <= Fraction(1, 2) for k in range(8))


def test_amplification_by_the_proof() -> None:
    # (1 − β)² > 1 − 2β for β > 0; the learner's sample complexity is above ℓn (empirical) or ℓn/9 (PAC)
    for beta in (Fraction(1, 8), Fraction(1, 100), Fraction(49, 100)):
        assert (1 - beta) ** 2 > 1 - 2 * beta
    # 9 is enough for all ε ≤ 1: neither ε nor δ grows (and 3.3 would be)
    for epsilon in (0.01, 0.1, 0.5, 0.9, 1.0):
        for m in SIZES:
            kept, delta = subsampled(epsilon, m, 9)
            assert kept <= epsilon
            assert delta <= 1
