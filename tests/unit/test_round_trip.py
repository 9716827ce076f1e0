"""The round trip of Theorem 5.18: its majorities and sizes against brute force, and both of its ends in numbers."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, gammaln, xlogy
from scipy.stats import binom

from dpaudit.interpret import law, sample
from dpaudit.language import Multiset, ParameterError, Trial
from dpaudit_algorithms.pac.concepts import Examples, GeneralisationError, Points, Thresholds, Truth
from dpaudit_algorithms.pac.finite_class import FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.non_private import ListedConcepts
from dpaudit_algorithms.representations.representation import Hypotheses, OnesAt
from dpaudit_algorithms.representations.representation_boosting import AlphaBoosted, BetaBoosted
from dpaudit_algorithms.representations.round_trip import (
    Draws,
    MajorityFunctions,
    RoundTrip,
    RoundTripCorrected,
    Union,
    majority_functions,
)
from dpaudit_algorithms.representations.round_trip_theory import (
    LOST,
    HiddenThreshold,
    gap,
    guessed,
    learned_at_most,
    milestones,
    necessary,
    printed_rounds,
    sufficient,
    thresholds_need,
)
from dpaudit_audits.representations.representation_boosting import QUARTER
from dpaudit_audits.representations.round_trip import (
    FOUR_POINTS,
    FOUR_THRESHOLDS,
    LARGE,
    TWO,
    Executed,
    executed,
    itself,
)


def majorities(labelling: Any, points: range, classes: list[tuple[Any, ...]]) -> set[tuple[int, ...]]:
    """All majorities of one of each class, by trying all choices: their ones."""
    found = set()
    for chosen in product(*classes):
        votes = [sum(labelling.label(h, x) for h in chosen) for x in points]
        found.add(tuple(x for x in points if 2 * votes[x] >= len(classes)))
    return found


def counted(classes: list[tuple[Any, ...]]) -> tuple[tuple[tuple[Any, ...], int], ...]:
    return tuple(sorted(Counter(classes).items()))


# --- majorities ------------------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=6))
def test_majorities_of_thresholds_are_their_medians(chosen: list[set[int]]) -> None:
    classes = [tuple(sorted(one)) for one in chosen]
    thresholds = Thresholds(5)
    found = majority_functions(thresholds, tuple(range(5)), counted(classes))
    assert found.labelling == thresholds
    by_hand = majorities(thresholds, range(5), classes)
    assert {tuple(range(j + 1)) for j in found.members} == by_hand
    assert len(found) == len(by_hand)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.sets(st.frozensets(st.integers(0, 2)), min_size=1, max_size=4), min_size=1, max_size=5))
def test_majorities_of_any_functions(chosen: list[set[frozenset[int]]]) -> None:
    classes = [tuple(sorted(tuple(sorted(name)) for name in one)) for one in chosen]
    found = majority_functions(OnesAt(), (0, 1, 2), counted(classes))
    assert set(found.members) == majorities(OnesAt(), range(3), classes)


def test_without_hypotheses_there_are_no_majorities() -> None:
    assert not majority_functions(Thresholds(3), (0, 1, 2), (((), 1), ((0, 1), 2))).members
    assert not majority_functions(OnesAt(), (0, 1, 2), (((), 1),)).members


@pytest.mark.parametrize("T", [1, 2, 3, 4])
def test_the_law_is_that_of_the_boosting(T: int) -> None:
    """`AlphaBoosted` on `BetaBoosted`, whose outcomes are named by their choices, with equal functions merged."""
    beta = 0.2 if T < 3 else 0.01
    boosted = AlphaBoosted(BetaBoosted(QUARTER, beta), 0.5, T)
    by_hand: Counter[frozenset[Any]] = Counter()
    for outcome, p in law(boosted, ()).as_dict().items():
        names = majorities(OnesAt(), range(3), [H.members for H in outcome.classes])
        by_hand[frozenset(names)] += p
    found = {frozenset(H.members): p for H, p in law(MajorityFunctions(boosted), ()).as_dict().items()}
    assert found == pytest.approx(dict(by_hand))


def test_draws_and_unions_are_what_they_stand_for() -> None:
    union = law(Union(QUARTER, 3), ()).as_dict()
    boosted = {H.members: p for H, p in law(BetaBoosted(QUARTER, 0.05), ()).as_dict().items()}
    assert BetaBoosted(QUARTER, 0.05).M == 3
    assert union == pytest.approx(boosted)
    a, b = ((0,), (0, 1), (0, 1, 2)), ((), (1,))
    counts = law(Draws(Union(QUARTER, 1), 4), ()).as_dict()
    for k in range(5):
        outcome = counted([a] * (4 - k) + [b] * k)
        assert counts[outcome] == pytest.approx(math.comb(4, k) * 0.25**k * 0.75 ** (4 - k))


# --- sizes -----------------------------------------------------------------------------------------------------------


def test_the_printed_numbers_by_hand() -> None:
    """α = 1/4, β = 1/2, 14 executions: T = ⌈14·ln 48⌉ = 55, M = ⌈ln 440⌉ = 7, n = ⌈72·(55·(ln 14 + ln 7) + ln 8)⌉."""
    one = RoundTrip(1.0, 0.25, 0.5, TWO)
    assert one.T == printed_rounds(0.25) == 55
    inner = one.boosted.representation
    assert isinstance(inner, BetaBoosted)
    assert inner.M == 7
    assert TWO.size == pytest.approx(math.log(14))
    assert one.boosted.size == pytest.approx(55 * math.log(98))
    assert one.enough == math.ceil(72 * (55 * math.log(98) + math.log(8))) == 18307
    assert one.boosted.alpha == pytest.approx(0.25 / 6)
    assert one.boosted.beta == pytest.approx(0.5 / 4)
    assert sufficient(TWO.size, 0.25, 0.5, 1.0) == pytest.approx(one.enough, abs=1.1)


@pytest.mark.parametrize("alpha", [0.25, 0.1, 0.01])
@pytest.mark.parametrize("beta", [0.5, 0.05])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 9.0])
def test_the_learner_asks_for_what_the_theorem_says(alpha: float, beta: float, epsilon: float) -> None:
    start = itself(Thresholds(16))
    one, corrected = (kind(epsilon, alpha, beta, start) for kind in (RoundTrip, RoundTripCorrected))
    assert abs(one.enough - sufficient(math.log(16), alpha, beta, epsilon)) <= 1.1
    assert corrected.enough == pytest.approx(max(1.0, epsilon) * sufficient(math.log(16), alpha, beta, epsilon), abs=2)
    (claim,) = one.utility(one.enough)
    assert claim.probability == pytest.approx(1 - beta)
    assert one.utility(one.enough - 1) == ()


def test_executed_is_the_same_representation() -> None:
    """Its size, which n is computed with, and its distribution: all four points but for 10^−300."""
    one = executed(FOUR_POINTS)
    assert isinstance(one, Executed)
    assert one.size == FOUR_POINTS.size == math.log(2 * math.ceil(4 * math.log(4) * math.exp(18)))
    assert one.classes == (Hypotheses(Points(4), (0, 1, 2, 3)),)
    # each has probability ≥ e^{−9/2}/4 on nine zeros, so one is missing with probability 4·(1 − that)^{3.6·10^8}
    assert 4 * math.exp(-0.25 * math.exp(-4.5) * FOUR_POINTS.executions) == 0.0


# --- the learners at the start ---------------------------------------------------------------------------------------


def accuracy(start: Any, grid: int) -> float:
    """The least Pr[error ≤ 1/4] of the exponential mechanism, apart from the language, over all D in steps of 1/grid.

    Errors of exactly 1/4 count as bad, which is the limit from above.
    """
    concepts, n, size = start.concepts, start.n, len(start.concepts.points)
    counts = np.array([k for k in product(range(n + 1), repeat=size) if sum(k) == n], dtype=float)
    ways = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1)
    least = 1.0
    for target in concepts.concepts:
        wrong = np.array([[concepts.label(c, x) != concepts.label(target, x) for x in concepts.points]
                          for c in concepts.concepts])
        scores = np.exp(-start.epsilon / 2 * counts @ wrong.T)
        for weights in product(range(grid + 1), repeat=size):
            if sum(weights) == grid:
                p = np.exp(ways + xlogy(counts, np.array(weights) / grid).sum(axis=1))
                good = 4 * wrong @ np.array(weights) < grid
                least = min(least, float(p @ (scores[:, good].sum(axis=1) / scores.sum(axis=1))))
    return least


def test_the_learners_are_what_the_lemma_asks_for() -> None:
    """(1/4, 1/2)-accuracy on a grid of distributions; the least is at its edge, and what the audits try."""
    assert accuracy(FOUR_POINTS, 12) == pytest.approx(0.525224, abs=1e-6)
    assert accuracy(FOUR_THRESHOLDS, 8) == pytest.approx(0.506503, abs=1e-6)
    assert all(8 * one.alpha * one.epsilon * one.n == one.exponent for one in (TWO, FOUR_POINTS, FOUR_THRESHOLDS))


# --- both ends -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_no_hypothesis_knows_a_random_threshold(bits: int) -> None:
    """All hypotheses on 2^bits points: the most of (c_j, D_j) for which one is 1/4-good, in units of 2^−bits."""
    size = 1 << bits
    truths = [milestones(bits, j) for j in range(size)]
    assert all(len(set(points)) == bits and min(points) >= 1 for points in truths)
    most = max(
        sum(4 * sum((h >> x & 1) != (x <= j) for x in points) <= bits for j, points in enumerate(truths))
        for h in range(1 << size)
    )
    assert Fraction(most, size) == guessed(bits)


def test_every_hypothesis_guesses_alike() -> None:
    """2^4 points: for random hypotheses the number of wrong milestones is binomial, each of them."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        h = rng.integers(0, 2, 16)
        wrong = Counter(sum(int(h[x] != (x <= j)) for x in milestones(4, j)) for j in range(16))
        assert [wrong[k] for k in range(5)] == [math.comb(4, k) for k in range(5)]


def test_thresholds_need_a_size_that_grows() -> None:
    """K·g ≥ 3/4: 2^2 concepts need 3 hypotheses of their 4; then about 0.131 for every bit, of ln 2 there is."""
    assert guessed(2) == Fraction(1, 4)
    assert thresholds_need(2) == math.log(3)
    assert thresholds_need(16) == math.log(20)
    for bits in (1, 4, 16, 64, 256, 1024):
        assert 0 <= thresholds_need(bits) <= bits * math.log(2)
    rate = math.log(2) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75)
    assert thresholds_need(4096) / 4096 == pytest.approx(rate, abs=0.002)


@pytest.mark.parametrize("bits", [13, 64, 1024])
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_both_ends_hold_a_learner_between_them(bits: int, epsilon: float) -> None:
    """The exponential mechanism over 2^bits thresholds is (1/4, 1/4)-accurate from ln(4(|H| − 1))/ln(1/q) examples.

    That is no fewer than are necessary, with RepDim from below; and the printed sufficient number, with RepDim from
    above, is larger, by less than the gap and the ratio of both bounds on RepDim.
    """
    q = 1 + math.expm1(-epsilon / 2) / 4
    n = (math.log(4) + bits * math.log(2)) / -math.log(q)
    low, high = thresholds_need(bits), bits * math.log(2)
    least, most = necessary(low, 0.25, epsilon), sufficient(high, 0.25, 0.25, epsilon)
    assert 0 < least < n < most
    if low > 2 * LOST:
        assert most / least < 2.5 * gap(0.25) * high / low


def test_the_gap_by_computation() -> None:
    """Both ends are linear in RepDim: their ratio tends to 144·T, whatever ε and β."""
    assert gap(0.25) == 7_920
    for alpha, beta, epsilon in ((0.25, 0.5, 1.0), (0.01, 0.05, 0.1)):
        ratios = [sufficient(k, alpha, beta, epsilon) / necessary(k, alpha, epsilon) for k in (10.0, 1e3, 1e6)]
        assert ratios[0] > ratios[1] > ratios[2] > gap(alpha)
        assert ratios[2] == pytest.approx(gap(alpha), rel=1e-4)
    # Θ(ln(1/α)), between 14·144 and 4 times as much from α = 1/4 on
    for alpha in (0.25, 0.1, 1e-3, 1e-9):
        assert 1 <= gap(alpha) / (14 * 144 * math.log(1 / alpha)) < 3


def test_the_lower_bound_says_nothing_of_small_classes() -> None:
    """ln(8·ln 4) = 2.406 is above ln 11; so n = Ω(RepDim(C)/(αε)) does not follow for small classes, nor hold.

    The two constants on one point have RepDim ln 2: no hypothesis is right for both with probability 3/4. The
    exponential mechanism tells them apart with probability 0.952 from 6 examples at ε = 1, for every α.
    """
    assert pytest.approx(2.406, abs=5e-4) == LOST
    assert necessary(math.log(11), 1e-9, 1e-9) < 0 < necessary(math.log(12), 1e-9, 1e-9)
    constants = ListedConcepts(((0,), (1,)))
    learner = FiniteClassLearnerCorrected(1.0, constants)
    for target in (0, 1):
        source = Examples(constants, Truth((0,), (1,), target), 6)
        for alpha in (0.25, 1e-6, 1e-300):
            success = law(Trial(source, learner, GeneralisationError(constants, alpha)), ()).probability(bool)
            assert success == pytest.approx(1 / (1 + math.exp(-3)))
            assert success >= 0.95
    # at β = 1/2 even none is needed for two thresholds, whose RepDim is ln 2, too
    assert thresholds_need(1) == math.log(2)
    none = Examples(Thresholds(2), Truth((1,), (1,), 1), 0)
    coin = Trial(none, FiniteClassLearnerCorrected(0.1, Thresholds(2)), GeneralisationError(Thresholds(2), 1e-6))
    assert law(coin, ()).probability(bool) == 0.5


def test_the_start_bounds_the_dimension() -> None:
    """RepDim(C) ≤ ln(8·ln 4) + 8αεn for the learners of the audits, by the sizes of the classes themselves."""
    for start in (TWO, FOUR_POINTS, FOUR_THRESHOLDS):
        high = math.log(len(start.concepts.concepts))
        assert high <= start.proof_size <= start.size
        assert start.n >= necessary(high, 0.25, start.epsilon)


@pytest.mark.parametrize("records", [0, 1, 2, 4, 6])
@pytest.mark.parametrize(("alpha", "epsilon"), [(0.25, 0.5), (0.1, 1.0)])
def test_few_examples_teach_no_private_learner(records: int, alpha: float, epsilon: float) -> None:
    """Exactly, on four thresholds: the exponential mechanism is below the bound, which at n = 0 it attains nearly."""
    claim = learned_at_most(2, alpha, epsilon, records)
    learner = FiniteClassLearnerCorrected(epsilon, Thresholds(4))
    success = law(Trial(HiddenThreshold(2, alpha, records), learner, claim.goal), ()).probability(bool)
    assert claim.at_most
    assert success <= claim.probability
    if records == 0:
        assert success == pytest.approx(float(guessed(2)))
        assert claim.probability == pytest.approx(float(guessed(2)))


def test_below_the_necessary_number_success_is_below_one_half() -> None:
    for bits, alpha, epsilon in ((16, 0.25, 0.01), (64, 0.05, 0.1), (64, 0.25, 0.02)):
        n = math.ceil(necessary(thresholds_need(bits), alpha, epsilon)) - 1
        assert n > 3 * math.log(4) / (4 * alpha)
        assert learned_at_most(bits, alpha, epsilon, n).probability < 0.5


# --- the learner -----------------------------------------------------------------------------------------------------


def test_thresholds_by_themselves_are_chosen_from_by_the_exponential_mechanism() -> None:
    """All majorities of thresholds are thresholds, and all come: nothing but Softmax is left."""
    S = Multiset.counted({(0, 1): 2, (1, 0): 1, (2, 1): 1})
    found = law(RoundTrip(0.8, 0.25, 0.1, itself(Thresholds(4))), S).as_dict()
    wrong = [Thresholds(4).wrong(j, S) for j in range(4)]
    weights = [math.exp(-0.4 * w) for w in wrong]
    assert found == pytest.approx({j: w / sum(weights) for j, w in enumerate(weights)})


def test_points_by_themselves_have_the_constant_0_too() -> None:
    """55 rounds: a point in 28 of them, or none."""
    (H,) = law(RoundTrip(1.0, 0.25, 0.1, itself(Points(3))).learner.representation, ()).as_dict()
    assert Hypotheses(OnesAt(), ((), (0,), (1,), (2,))) == H


def failure(epsilon: float, n: int, p: float) -> float:
    """Pr[c_1 comes out for c_0]: Σ_k Bin(n, p)(k)/(1 + e^{εk/2}), apart from the language."""
    k = np.arange(n + 1)
    return float(binom.pmf(k, n, p) @ expit(-epsilon * k / 2))


def test_for_every_epsilon_is_refuted_at_large_epsilon() -> None:
    """n = ⌈(72/ε)·(55·(ln 2 + ln 9) + ln 80)⌉ is 3 at ε = 5,000; c_1 has error 4/15 > 1/4."""
    start, p = itself(Thresholds(2)), 4 / 15
    literal, corrected = (kind(LARGE, 0.25, 0.05, start) for kind in (RoundTrip, RoundTripCorrected))
    assert literal.enough == math.ceil(72 / LARGE * (55 * math.log(18) + math.log(80))) == 3
    source = Examples(Thresholds(2), Truth((0, 1), (11, 4), 0), 3)
    success = law(Trial(source, literal, literal.guaranteed.goal), ()).probability(bool)
    assert 1 - success == pytest.approx(failure(LARGE, 3, p)) == pytest.approx((1 - p) ** 3 / 2)
    assert success < literal.guaranteed.probability
    assert failure(LARGE, corrected.enough, p) < 1e-300


def test_there_and_back_sampled() -> None:
    """The learner of the audits with three rounds: c_1 for c_0 as often as the closed form says.

    All 42 executions give both thresholds but for 2·2^−12 or less; false alarm: 6 standard deviations, 2e-9.
    """
    one = RoundTrip(0.7, 0.25, 0.5, TWO, 3)
    S = Multiset.counted({(1, 0): 3, (0, 1): 2})
    exact = law(one, S).as_dict()
    assert exact[1] == pytest.approx(1 / (1 + math.exp(0.35 * 3)), abs=1e-9)
    runs = 20_000
    hits = sample(one, S, runs, seed=4).counts[1]
    assert abs(hits - runs * exact[1]) < 6 * math.sqrt(runs * exact[1] * (1 - exact[1]))


def test_bad_parameters() -> None:
    start = itself(Thresholds(2))
    with pytest.raises(ParameterError, match="alpha"):
        RoundTrip(1.0, 0.3, 0.1, start)
    with pytest.raises(ParameterError, match="beta"):
        RoundTrip(1.0, 0.25, 0.6, start)
    with pytest.raises(ParameterError, match="representation"):
        RoundTrip(1.0, 0.25, 0.1, None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="boosted"):
        RoundTrip(1.0, 0.25, 0.1, itself(Points(6)))
    assert RoundTrip(1.0, 0.25, 0.1, itself(Points(6)), 5).T == 5
