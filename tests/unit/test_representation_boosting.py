"""Boosting of representations: unions, majorities, the thought experiment against brute force, and its factor 2."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.interpret import law
from dpaudit.language import Fixed, ParameterError, Trial
from dpaudit_algorithms.pac.concepts import Truth
from dpaudit_algorithms.pac.non_private import ListedConcepts
from dpaudit_algorithms.representations.majorities import Majorities, Majority, ThoughtExperiment
from dpaudit_algorithms.representations.representation import Hypotheses, OnesAt, error
from dpaudit_algorithms.representations.representation_boosting import AlphaBoosted, BetaBoosted
from dpaudit_algorithms.representations.representation_boosting_theory import error_bound, growth, last_errors
from dpaudit_audits.representations.representation_boosting import QUARTER, WEAK, WEAK_BETA, errors_at_will

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
    """Random classes and distributions: its success gives a majority within the corrected bound, so that one exists."""
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


def exactly(T: int) -> list[tuple[Fraction, Fraction]]:
    """(D(R_t), D_t(R_t)) on `errors_at_will` in fractions, h_t the t-th: apart from the text, and without doubles."""
    _, truth = errors_at_will(T)
    first = {x: Fraction(w, sum(truth.weights)) for x, w in zip(truth.points, truth.weights, strict=True)}
    D, found = dict(first), []
    for t in range(T):
        R_t = [x for x in D if 2 * x.bit_count() >= T and x.bit_length() == t + 1]
        found.append((sum(first[x] for x in R_t), sum(D[x] for x in R_t)))
        error = sum(mass for x, mass in D.items() if x >> t & 1)
        assert Fraction(1, 10) < error <= Fraction(1, 4)
        D = {x: (2 if x >> t & 1 else 1 - error / (1 - error)) * mass for x, mass in D.items()}
        assert sum(D.values()) == 1
    return [pair for pair in found if pair[0]]


@pytest.mark.parametrize("T", [2, 4, 6, 10])
def test_the_step_fails_on_errors_at_will(T: int) -> None:
    representation, truth = errors_at_will(T)
    (names,) = law(ThoughtExperiment(representation, T, best=False), truth).as_dict()
    assert sorted(names) == list(range(T))  # each once; D is the same for every order of the digits
    exact = exactly(T)
    found = last_errors(representation, truth, names)
    assert [pair for both in found for pair in both] == pytest.approx([float(part) for both in exact for part in both])
    # T is even, so that (4/3)^{T/2} is a fraction; the last rounds miss it, and keep half of it
    assert any(later < Fraction(4, 3) ** (T // 2) * before for before, later in exact)
    assert all(later >= Fraction(growth(T)) * before for before, later in exact)
    assert sum(before for before, _ in exact) <= error_bound(T)


def test_how_far_it_fails() -> None:
    assert exactly(2) == [(Fraction(1, 5), Fraction(1, 5)), (Fraction(1, 5), Fraction(3, 20))]
    assert sum(before for before, _ in exactly(2)) == Fraction(2, 5) > error_bound(2, printed=True)
    before, later = exactly(10)[-1]
    assert float(later / before) == pytest.approx(2.956579, abs=1e-6)
    assert Fraction(4, 3) ** 5 > 4.2


@pytest.mark.parametrize("T", [10, 12, 20, 34])
def test_the_factor_is_attained_for_every_even_number_of_rounds(T: int) -> None:
    """x errs in T/2 rounds, T the last of them, the others have error just 1/4: D_T(x) = D(x)·½·(4/3)^{T/2}."""
    errs = T // 2 - 1
    assert growth(T) == Fraction(2) ** errs * Fraction(2, 3) ** (T - 1 - errs) == Fraction(4, 3) ** (T // 2) / 2


def test_the_conclusion_survives() -> None:
    """At T = 14·ln(2/α) the corrected bound is (α/2)^{2.01} at most; rounding T up only lowers it."""
    for alpha in np.concatenate([np.linspace(0.001, 0.999, 500), np.geomspace(1e-12, 1e-3, 50)]).tolist():
        T = math.ceil(14 * math.log(2 / alpha))
        assert T >= 10
        assert error_bound(T) <= (alpha / 2) ** 2.01 < alpha
    for T in range(1, 100):
        assert error_bound(T) <= 0.75 ** (T / 2) * (1 + 1e-12)
        assert (error_bound(T) <= error_bound(T, printed=True)) is (T >= 8 or T in (5, 7))


@pytest.mark.parametrize("best", [True, False])
@pytest.mark.parametrize("T", [3, 30, 52])
def test_the_thought_experiment_exactly(T: int, best: bool) -> None:
    """It fails with the first bad class, and only then: (511/512)^T, just above the union bound."""
    uniform = Truth((0, 1, 2, 3), (1, 1, 1, 1), 0)
    found = law(ThoughtExperiment(WEAK, T, best), uniform)
    assert found.as_dict()[None] == pytest.approx(1 - (1 - WEAK_BETA) ** T, rel=1e-12)
    assert len(found.as_dict()) == 2


def test_past_rounds_that_fail() -> None:
    """A bad class votes and is outvoted; the experiment of the proof has failed."""
    good, bad = WEAK.classes
    uniform = Truth((0, 1, 2, 3), (1, 1, 1, 1), 0)
    H = Majorities((good, bad, good))
    assert H.chosen(WEAK.concepts, uniform) is None
    assert H.has_good(WEAK.concepts, uniform, Fraction(1, 4))  # both good ones err at the same point
    assert not H.has_good(WEAK.concepts, uniform, Fraction(1, 5))
    # many classes, of which a few are bad: too many majorities to try, and the continued experiment finds one
    H = Majorities((good, bad) * 5 + (good,) * 20)
    assert H.chosen(WEAK.concepts, uniform) is None
    assert H.has_good(WEAK.concepts, uniform, Fraction(1, 4))
    assert not Majorities((bad,) * 30).has_good(WEAK.concepts, uniform, Fraction(9, 10))


def test_rounds_exactly() -> None:
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
