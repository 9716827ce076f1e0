"""Boosting of representations: unions, majorities, the thought experiment against brute force, and its factor 2."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.interpret import law
from dpaudit.language import Fixed, Hypotheses, OnesAt, ParameterError, Trial, Truth, error
from dpaudit_algorithms.non_private import ListedConcepts
from dpaudit_algorithms.representation_boosting import (
    AlphaBoosted,
    BetaBoosted,
    Majorities,
    Majority,
    error_bound,
)
from dpaudit_audits.representation_boosting import QUARTER, WEAK, WEAK_BETA

FIRST = Truth((0,), (1,), 1)


@pytest.mark.parametrize("beta", [0.24, 0.2, 0.05, 0.01])
def test_a_union_fails_where_all_its_parts_do(beta: float) -> None:
    one = BetaBoosted(QUARTER, beta)
    found = law(Trial(Fixed((), FIRST), one, one.represents.goal), ()).probability(bool)
    assert found == pytest.approx(1 - 0.25**one.M)
    assert beta >= 0.25**one.M


@pytest.mark.parametrize(
    ("beta", "least", "fits"),
    [(0.24, 2, False), (0.136, 2, False), (0.135, 2, True), (0.06, 3, False), (0.0498, 3, False), (0.0497, 3, True),
     (0.015, 4, True), (0.003, 5, True)],
)
def test_no_whole_number_keeps_both_in_two_intervals(beta: float, least: int, fits: bool) -> None:
    """The least M with 4^{−M} ≤ β is above ln(1/β) for β in (e^{−2}, 1/4) and (e^{−3}, 1/16), and nowhere below."""
    one = BetaBoosted(QUARTER, beta)
    assert one.least == least
    assert (least <= math.log(1 / beta)) is fits
    assert one.least <= one.M


def test_beyond_the_two_intervals_there_is_room() -> None:
    """⌈L/ln 4⌉ ≤ L from L = 3 on, as L/ln 4 + 1 ≤ L from L = 3.6 on and 3 does for L in [3, 3·ln 4]."""
    for L in np.linspace(3, 60, 4_000):
        assert math.ceil(L / math.log(4) - 1e-12) <= L


def test_majorities_by_definition() -> None:
    M = Majority(OnesAt())
    assert [M.label(((0,), (1,)), x) for x in (0, 1, 2)] == [1, 1, 0]  # a tie is 1
    assert [M.label(((0,), (1,), (1, 2)), x) for x in (0, 1, 2)] == [0, 1, 0]


def test_the_thought_experiment_against_brute_force() -> None:
    """Random classes and distributions: its success gives a majority within the mended bound, so that one exists."""
    rng = np.random.default_rng(1)
    succeeded = failed = 0
    for _ in range(150):
        target = tuple(int(b) for b in rng.integers(2, size=5))
        concepts = ListedConcepts((target,))
        truth = Truth(tuple(range(5)), tuple(rng.dirichlet(np.ones(5)).tolist()), 0)
        T = int(rng.integers(1, 7))
        classes = []
        for _ in range(T):
            flipped = rng.random((3, 5)) < 0.25
            names = [tuple(x for x in range(5) if target[x] != wrong[x]) for wrong in flipped.astype(int).tolist()]
            classes.append(Hypotheses.of(OnesAt(), names))
        H = Majorities(tuple(classes))
        best = min(
            error(H.labelling, name, concepts, truth) for name in product(*(one.members for one in H.classes))
        )
        found = H.chosen(concepts, truth)
        if found is None:
            failed += 1
        else:
            succeeded += 1
            reached = error(H.labelling, found, concepts, truth)
            assert best <= reached <= error_bound(T)
        assert H.has_good(concepts, truth, best)
        assert not H.has_good(concepts, truth, best - Fraction(1, 10**9))
    assert succeeded > 20
    assert failed > 20


def test_the_printed_step_lacks_a_factor_two() -> None:
    """T = 2: h_1 errs at y of mass 1/4, h_2 at x alone. R_2 = {x}, and D_2(x) = (2/3)·D(x), not (4/3)·D(x)."""
    concepts, truth = ListedConcepts(((0, 0, 0),)), Truth((0, 1, 2), (1, 2, 5), 0)
    classes = (Hypotheses.of(OnesAt(), [(1,)]), Hypotheses.of(OnesAt(), [(0,)]))
    assert Majorities(classes).chosen(concepts, truth) == ((1,), (0,))
    first = error(OnesAt(), (1,), concepts, truth)
    assert first == Fraction(1, 4)
    D, later = Fraction(1, 8), (1 - first / (1 - first)) * Fraction(1, 8)
    assert later == D * Fraction(1, 2) * Fraction(4, 3)
    assert later < D * Fraction(4, 3)


@pytest.mark.parametrize("T", [10, 12, 20, 34])
def test_the_factor_is_attained_for_every_even_number_of_rounds(T: int) -> None:
    """x errs in T/2 rounds, T the last of them, the others have error just 1/4: D_T(x) = D(x)·½·(4/3)^{T/2}."""
    errs = T // 2 - 1
    assert Fraction(2) ** errs * Fraction(2, 3) ** (T - 1 - errs) == Fraction(1, 2) * Fraction(4, 3) ** (T // 2)


def test_the_conclusion_survives() -> None:
    """At T = 14·ln(2/α) the mended bound is at most 0.735·α; rounding T up only lowers it."""
    for alpha in np.concatenate([np.linspace(0.001, 1, 500), np.geomspace(1e-12, 1e-3, 50)]).tolist():
        real = 14 * math.log(2 / alpha)
        assert (real + 2) / 4 * 0.75 ** (real / 2) <= 0.735 * alpha
        assert error_bound(math.ceil(real)) <= 0.735 * alpha
        assert error_bound(math.ceil(real), printed=True) < error_bound(math.ceil(real))


def test_rounds_by_law() -> None:
    """All T classes have to be the good one, unless the majority outvotes a bad one."""
    one = AlphaBoosted(WEAK, 0.45, 5)
    assert one.beta == 5 * WEAK_BETA
    uniform = Truth((0, 1, 2, 3), (1, 1, 1, 1), 0)
    found = law(Trial(Fixed((), uniform), one, one.represents.goal), ()).probability(bool)
    # up to two classes of the constant 1 can be outvoted by three hypotheses that err at one point each, error 1/4 or 0
    p = WEAK_BETA
    lost = sum(math.comb(5, k) * p**k * (1 - p) ** (5 - k) for k in range(3, 6))
    assert 1 - 5 * p <= found <= 1 - lost + 1e-12


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="beta"):
        BetaBoosted(QUARTER, 0.25)
    with pytest.raises(ParameterError, match="1/T"):
        AlphaBoosted(QUARTER, 0.1)
    with pytest.raises(ParameterError, match="alpha"):
        AlphaBoosted(WEAK, 1.0)
