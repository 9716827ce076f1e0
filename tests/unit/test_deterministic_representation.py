"""Deterministic representations: games against linear programming, codes and least classes against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpaudit.interpret import law
from dpaudit.language import Fixed, ParameterError, Trial
from dpaudit_algorithms.pac.concepts import Points, PointsAndZero, Thresholds, Truth
from dpaudit_algorithms.pac.non_private import ListedConcepts
from dpaudit_algorithms.representations.deterministic_representation import (
    DeterministicRepresentation,
    PointCode,
    PointPolynomials,
)
from dpaudit_algorithms.representations.deterministic_representation_theory import (
    best_mixture,
    counterexample,
    dimension,
    indistinct,
    least_by_pairs,
    least_representation,
)
from dpaudit_algorithms.representations.representation import Hypotheses, OnesAt, error
from dpaudit_algorithms.representations.representation_learner import RepresentationLearner
from dpaudit_audits.representations.deterministic_representation import STARS
from dpaudit_audits.representations.point_representation import HUGE

QUARTER = Fraction(1, 4)


def value(wrong: np.ndarray[Any, Any]) -> float:
    """min over mixtures of rows of the largest column mean, by scipy."""
    k, n = wrong.shape
    found = linprog(
        [0.0] * k + [1.0], np.hstack([wrong.T.astype(float), -np.ones((n, 1))]), np.zeros(n),
        [[1.0] * k + [0.0]], [1.0], [(0, None)] * k + [(None, None)],
    )
    return float(found.fun)


def subsets(points: int) -> list[tuple[int, ...]]:
    return [tuple(x for x in range(points) if h >> x & 1) for h in range(1 << points)]


# --- mixtures --------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=6))
def test_the_best_mixture_is_that_of_a_linear_program(rows: list[list[bool]]) -> None:
    """The class errs where the rows say, for the concept 0; both certificates are held against the value."""
    H = Hypotheses.of(OnesAt(), (tuple(x for x, wrong in enumerate(row) if wrong) for row in rows))
    zero = ListedConcepts(((0,) * 5,))
    best = best_mixture(H, zero, 0)
    wrong = np.array([[x in name for x in range(5)] for name in H.members])
    assert float(best.error) == pytest.approx(value(wrong), abs=1e-9)
    assert sum(best.weights) == sum(best.distribution) == 1
    assert min(*best.weights, *best.distribution) >= 0
    at_points = [sum(w for w, name in zip(best.weights, H.members, strict=True) if x in name) for x in range(5)]
    assert max(at_points) == best.error
    errors = [sum(p for x, p in enumerate(best.distribution) if x in name) for name in H.members]
    assert min(errors) == best.error


def test_a_counterexample_defeats_every_hypothesis() -> None:
    """The four stars: thirds with the constant 0, and no less."""
    H = Hypotheses.of(OnesAt(), ((), *STARS))
    assert [best_mixture(H, Points(6), c).error for c in range(6)] == [Fraction(1, 3)] * 6
    assert counterexample(H, Points(6), Fraction(1, 3)) is None
    truth = counterexample(H, Points(6), Fraction(1, 3) - Fraction(1, 10**9))
    assert truth is not None
    assert min(error(OnesAt(), name, Points(6), truth) for name in H.members) == Fraction(1, 3)


def test_two_constants_are_enough_for_one_half() -> None:
    """Of any class: so α < 1/2 is needed for the lower bound."""
    every = ListedConcepts(tuple(product((0, 1), repeat=3)))
    H = Hypotheses.of(OnesAt(), ((), (0, 1, 2)))
    assert counterexample(H, every, Fraction(1, 2)) is None
    assert counterexample(H, every, Fraction(1, 2) - Fraction(1, 10**9)) is not None


# --- the least classes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(2, 5)])
@pytest.mark.parametrize("concepts", [Points(3), Thresholds(3), PointsAndZero(3), Thresholds(2)])
def test_the_least_representation_by_brute_force(concepts: Any, alpha: Fraction) -> None:
    """All classes of that size less one fail by scipy's values, and the one that is found does not."""
    points = tuple(concepts.points)
    found = least_representation(concepts, alpha)
    targets = [[concepts.label(c, x) for x in points] for c in concepts.concepts]

    def represents(names: tuple[tuple[int, ...], ...]) -> bool:
        labels = np.array([[int(x in name) for x in points] for name in names])
        return all(value(labels != np.array(target)) <= float(alpha) + 1e-9 for target in targets)

    assert represents(found.members)
    assert not any(map(represents, combinations(subsets(len(points)), len(found) - 1))) or len(found) == 1


@pytest.mark.parametrize("size", range(1, 7))
def test_points_and_thresholds_on_few_points_need_themselves(size: int) -> None:
    """DRepDim = ln|C|; from the definition, ln|H| of the smallest 1/4-representation."""
    assert dimension(Points(size)) == math.log(size)
    assert dimension(Thresholds(size)) == math.log(size)


@pytest.mark.slow
def test_seven_points_need_themselves() -> None:
    assert dimension(Points(7)) == math.log(7)


def test_fewer_hypotheses_than_concepts() -> None:
    """0 by the four points of its domain, 1/4 each; and at larger α six points by five hypotheses."""
    assert len(least_representation(PointsAndZero(4))) == 4
    assert len(least_representation(PointsAndZero(5))) == 5
    assert len(least_representation(Points(6), Fraction(1, 3))) == 5
    assert len(least_representation(Points(6), Fraction(33, 100))) == 6
    assert len(least_representation(Thresholds(5), Fraction(2, 5))) == 4


def test_a_class_of_all_functions_needs_itself_on_three_points() -> None:
    """α < 1/3: a hypothesis has to be right at any three points."""
    assert len(least_representation(ListedConcepts(tuple(product((0, 1), repeat=3))))) == 8


def test_four_points_by_hand() -> None:
    """No three hypotheses are right on all triples: without a linear program."""
    for names in combinations(subsets(4), 3):
        assert any(
            not any(all((x in name) == (x == target) for x in three) for name in names)
            for target in range(4)
            for three in combinations(range(4), 3)
        )


# --- the lower bound -------------------------------------------------------------------------------------------------


def test_too_few_hypotheses_leave_two_points_by_all_classes() -> None:
    """All pairs of hypotheses on 5 points, 2 < log 5; all triples on 4 points, where 2^3 ≥ 4 but C(3, 1) = 3 < 4."""
    assert [least_by_pairs(n) for n in (1, 2, 3, 4, 6, 7, 256, 462, 463)] == [1, 2, 3, 4, 4, 5, 11, 11, 12]
    for size, count in ((5, 2), (4, 3)):
        for names in combinations(subsets(size), count):
            truth = indistinct(Hypotheses(OnesAt(), names), range(size))
            assert truth is not None
            assert all(error(OnesAt(), name, Points(size), truth) >= Fraction(1, 2) for name in names)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(3, 200), st.data())
def test_too_few_hypotheses_leave_two_points(size: int, data: st.DataObject) -> None:
    count = (size - 1).bit_length() - 1  # 2^count < size
    names = data.draw(st.lists(st.frozensets(st.integers(0, size - 1)), min_size=count, max_size=count))
    H = Hypotheses.of(OnesAt(), (tuple(sorted(name)) for name in names))
    truth = indistinct(H, range(size))
    assert truth is not None
    assert min(error(OnesAt(), name, Points(size), truth) for name in H.members) >= Fraction(1, 2)


def test_a_representation_leaves_none() -> None:
    assert indistinct(PointCode(20, 0.45, 5).hypotheses, range(20)) is None
    assert indistinct(Hypotheses.of(OnesAt(), STARS), range(6)) is None


# --- codes -----------------------------------------------------------------------------------------------------------

CODES = [(2, 0.25, None), (12, 0.45, None), (12, 0.45, 5), (30, 0.25, None), (64, 0.1, None), (100, 0.3, 8)]


@pytest.mark.parametrize(("domain", "alpha", "letters"), CODES)
def test_codewords_agree_at_few_positions(domain: int, alpha: float, letters: int | None) -> None:
    one = PointCode(domain, alpha, letters)
    H, names = one.hypotheses, one.hypotheses.members
    ones = {x: {name for name in names if H.label(name, x)} for x in range(domain)}
    assert all(sorted(i for i, _ in own) == list(range(one.m)) for own in ones.values())  # one letter each
    assert all(len(ones[x] & ones[y]) <= Fraction(str(alpha)) * one.m for x, y in combinations(range(domain), 2))
    assert one.m <= one.most_positions
    assert set().union(*ones.values()) == set(names)


@pytest.mark.parametrize("alpha", [0.45, 0.3, 0.25, 0.1, 0.04])
@pytest.mark.parametrize("domain", [2, 3, 17, 100, 512])
def test_the_size_is_within_the_constant(domain: int, alpha: float) -> None:
    """|H| ≤ 10·log|X|/α², and not below the lower bounds; the proof's f ≥ 0.6362 and 9.9."""
    one = PointCode(domain, alpha)
    count = len(one.hypotheses)
    assert one.needed <= one.needed_by_pairs <= count <= 10 * math.log2(domain) / alpha**2
    assert one.size <= one.printed_size
    assert one.q * one.most_positions <= max(9.9 * math.log2(domain) / alpha**2, one.q)
    assert math.log(4) - 3 / (alpha * one.q) >= 0.6362


@pytest.mark.parametrize("one", [PointCode(30, 0.25), PointCode(12, 0.45, 5), PointPolynomials(25, 0.3)])
def test_some_hypothesis_is_good_for_random_distributions(one: PointCode | PointPolynomials) -> None:
    rng = np.random.default_rng(1)
    labels = np.array([[one.labelling.label(name, x) for x in range(one.domain)] for name in one.hypotheses.members])
    for concentration in (0.05, 0.3, 1.0):
        for weights in rng.dirichlet(np.full(one.domain, concentration), 200):
            target = int(rng.integers(one.domain))
            errors = (labels != (np.arange(one.domain) == target)) @ weights
            assert errors.min() <= one.alpha + 1e-12


def test_the_guarantee_holds_and_is_of_every_distribution() -> None:
    for one in (PointCode(12, 0.45, 5), PointPolynomials(25, 0.3)):
        for claim in one.utility(0):
            truth = Truth(tuple(range(12)), (1,) * 12, 3)
            assert law(Trial(Fixed((), truth), one, claim.goal), ()).as_dict() == {True: 1.0}
        assert one.represents.probability == one.everywhere.probability == 1.0
    assert PointPolynomials(HUGE, 0.25).utility(0) == (PointPolynomials(HUGE, 0.25).represents,)


@pytest.mark.parametrize(("domain", "alpha"), [(49, 0.25), (50, 0.25), (512, 0.25), (100, 0.45), (300, 0.34)])
def test_polynomials_agree_at_few_positions(domain: int, alpha: float) -> None:
    code = PointPolynomials(domain, alpha).labelling
    assert code.p**code.k >= domain
    assert code.p >= code.m or code.k == 1
    words = [[next(a for a in range(code.p) if code.label((i, a), x)) for i in range(code.m)] for x in range(domain)]
    by_hand = [[sum((x // code.p**j % code.p) * i**j for j in range(code.k)) % code.p for i in range(code.m)]
               for x in range(domain)]
    assert words == by_hand
    most = max(sum(a == b for a, b in zip(words[x], words[y], strict=True)) for x, y in combinations(range(domain), 2))
    assert most <= code.k - 1 <= Fraction(str(alpha)) * code.m
    names = ((0, 3), (code.m - 1, 1))
    assert all(code.labels(name, tuple(range(9))) == [code.label(name, x) for x in range(9)] for name in names)


@pytest.mark.parametrize(("bits", "alpha"), [(8, 0.25), (16, 0.04), (64, 0.25), (64, 0.45)])
def test_the_least_polynomial_code(bits: int, alpha: float) -> None:
    """Against all k and primes, by trial division."""
    primes = [p for p in range(2, 2000) if all(p % d for d in range(2, math.isqrt(p) + 1))]
    sizes = [1 << bits]
    for k in range(2, bits + 1):
        m = math.ceil((k - 1) / Fraction(str(alpha)))
        sizes += [m * p for p in primes if p >= m and p**k >= 1 << bits][:1]
    one = PointPolynomials(1 << bits, alpha)
    assert len(one.hypotheses) == one.labelling.m * one.labelling.p == min(sizes)
    assert one.size == math.log(min(sizes))


def test_the_dimension_of_points_is_of_the_order_of_log_log() -> None:
    """ln needed ≤ DRepDim ≤ ln|H| at α = 1/4, in units of ln log|X|: bounded from both sides, for |X| up to 2^1024."""
    for bits in (2, 4, 8, 16, 64, 256, 512, 1024):
        one = PointPolynomials(1 << bits, 0.25)
        assert math.log(one.needed) == math.log(bits)
        assert math.log(bits) <= math.log(one.needed_by_pairs) <= one.size <= 2.1 * math.log(bits)
    assert math.exp(PointPolynomials(HUGE, 0.25).size) == pytest.approx(2068)
    # the constant of PointCode, up to |X| = 2^696
    assert all((PointPolynomials(1 << b, 0.25).size <= PointPolynomials(1 << b, 0.25).printed_size) is (b < 697)
               for b in (10, 100, 400, 690, 695, 696, 697))


# --- as a probabilistic representation -------------------------------------------------------------------------------


def test_a_learner_runs_on_it() -> None:
    """Lemma 5.12 with β as it was given: n = ⌈(3/(αε))·(ln|H| + ln(1/β))⌉; its law is an exponential mechanism."""
    learner = RepresentationLearner(0.5, PointCode(12, 0.04, beta=0.01))
    assert learner.enough == math.ceil(3 / 0.02 * (math.log(12) + math.log(100)))
    listed = DeterministicRepresentation(Points(2), Hypotheses.of(OnesAt(), ((), (0,), (0, 1))), 0.3)
    found = law(RepresentationLearner(1.0, listed), ((0, 1), (0, 1), (1, 0))).as_dict()
    weights = {(): math.exp(0.5), (0,): math.exp(1.5), (0, 1): math.exp(1.0)}
    assert found == pytest.approx({name: w / sum(weights.values()) for name, w in weights.items()})


def test_it_is_drawn_with_certainty() -> None:
    one = PointCode(12, 0.45, 5)
    assert law(one, ()).as_dict() == {one.hypotheses: 1.0}
    assert one.claim.epsilon == 0


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="alpha"):
        PointCode(12, 0.5)
    with pytest.raises(ParameterError, match="letters"):
        PointCode(12, 0.25, 8)
    with pytest.raises(ParameterError, match="domain"):
        PointCode(1, 0.25)
    with pytest.raises(ParameterError, match="PointPolynomials"):
        PointCode(1 << 11, 0.25)
    with pytest.raises(ParameterError, match="alpha"):
        PointPolynomials(12, 0.7)
    with pytest.raises(ParameterError, match="hypothesis"):
        DeterministicRepresentation(Points(2), Hypotheses(OnesAt(), ()), 0.25)
    with pytest.raises(ParameterError, match="points"):
        least_representation(Points(8))
