"""Constants of the proofs behind the utility guarantees, one by one, where a slip would not show in a law."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from dpaudit.interpret import law
from dpaudit.language import Given, Trial, log_star
from dpaudit_algorithms.foundations.goals import PromiseKept
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefix, RecPrefixLevel, rounded_k
from dpaudit_algorithms.pac.concepts import Examples, GeneralisationError, Points, Truth
from dpaudit_algorithms.pac.learn_points import LearnPoints, LearnPointsCorrected
from dpaudit_audits.interior_points.rec_concave import peaks


def matchings(n: int, distance: int) -> list[int]:
    """How many sets of j disjoint pairs i < i′ ≤ i + distance there are in 1, …, n, for j = 0, 1, …"""
    # state: which of the last `distance` points are free for a later partner
    states: dict[tuple[bool, ...], Counter[int]] = {(False,) * distance: Counter({0: 1})}
    for _ in range(n):
        following: dict[tuple[bool, ...], Counter[int]] = {}
        for free, counts in states.items():
            ways = [((*free[1:], True), 0)]
            for i, open_ in enumerate(free):
                if open_:
                    ways.append(((*free[:i], False, *free[i + 1 :], False)[1:], 1))
            for state, more in ways:
                target = following.setdefault(state, Counter())
                for j, count in counts.items():
                    target[j + more] += count
        states = following
    total: Counter[int] = Counter()
    for counts in states.values():
        total.update(counts)
    return [total[j] for j in range(n // 2 + 1)]


def at_least(n: int, distance: int, r: int) -> Fraction:
    """Pr[at least r of the ⌊n/2⌋ pairs of a random pairing of 1, …, n are so close]."""
    def pairings(m: int) -> int:
        return math.prod(range(m if m % 2 else m - 1, 0, -2))

    moments = [Fraction(count * pairings(n - 2 * j), pairings(n)) for j, count in enumerate(matchings(n, distance))]
    return sum(
        ((-1) ** (j - r) * math.comb(j - 1, r - 1) * moments[j] for j in range(r, n // 2 + 1)), start=Fraction(0)
    )


def test_close_pairs_counted_by_hand() -> None:
    # of the three pairings of 1, 2, 3, 4: {12, 34} has two adjacent pairs, {13, 24} none, {14, 23} one
    assert [at_least(4, 1, r) for r in (1, 2)] == [Fraction(2, 3), Fraction(1, 3)]
    assert at_least(4, 2, 2) == Fraction(2, 3)


@pytest.mark.parametrize("r", [12, 13, 23, 24, 30])
def test_claim_7_15(r: int) -> None:
    """Exactly, for n up to 5r. Up to r = 11 the distance r/12 is below 1, and there are no close pairs."""
    for n in range(2 * r, 5 * r, r // 3):
        assert 0 < at_least(n, r // 12, r) <= Fraction(1, 2**r)


def test_observation_7_13() -> None:
    for size, epsilon, delta, beta in product((40, 2**16, 2**300), (0.01, 1.0, 2.0), (1e-9, 0.9), (1e-6, 0.3)):
        level = RecPrefixLevel(size, epsilon, delta, beta)
        n = level.sample_sizes[0].records
        for _ in range(level.calls):
            assert n >= level.least
            n = (n - 2 * level.trim) // 2
        assert level.utility(level.sample_sizes[0].records) or 3 * level.beta * level.calls >= 1


def test_theorem_7_8_asks_for_what_observation_7_13_needs() -> None:
    """Where βεδ ≤ (16·log*|X|/3)^{1/3}; above, there are parameters at which it does not."""
    fewer = 0
    for size, epsilon, delta, beta in product(
        (2, 16, 2**16, 2**300), (0.01, 1.0, 1.5, 3.0, 12.0), (1e-9, 0.5, 0.99), (1e-6, 0.5, 0.99)
    ):
        t = log_star(size)
        if epsilon > 4 * t:
            continue  # beyond Lemma 7.9
        whole = RecPrefix(size, epsilon, delta, beta)
        short = whole.sample_sizes[0].records < whole.level.sample_sizes[0].records
        if (beta * epsilon * delta) ** 3 <= 16 * t / 3:
            assert not short
        fewer += short
    assert fewer


def test_constants_of_lemma_7_14() -> None:
    """k, the base case, close pairs, the prefix of step 5, step 8: wherever the lemma guarantees anything for N ≥ 2."""
    for epsilon, delta, beta in product((0.001, 0.1, 1.0, 1.9, 2.0), (1e-9, 0.3, 0.999), (1e-9, 0.01, 0.1, 1 / 6)):
        logs = math.log(4 / (beta * epsilon * delta))
        k, n = rounded_k(epsilon, delta, beta), 1540 / epsilon * logs
        assert 32 * math.exp(-epsilon * (n / 2 - k) / 2) <= beta
        assert 2.0 ** -(k - 1) < beta
        assert (k - 1) / 24 >= 16 / epsilon * logs
        assert math.exp(-epsilon * k / 2) <= beta
        assert k >= 2 / epsilon * math.log(1 / beta)


def test_the_floor_in_k_matters_only_where_lemma_7_14_is_void() -> None:
    # ln(4/(βεδ)) < ε: 386/24 leaves no room for "k − 1" and the floor
    epsilon, delta, beta = 2.0, 0.9, 0.9
    assert (rounded_k(epsilon, delta, beta) - 1) / 24 < 16 / epsilon * math.log(4 / (beta * epsilon * delta))
    assert 3 * beta * 2 > 1


def test_corrected_rec_concave_asks_for_more_at_large_epsilon() -> None:
    for epsilon in (0.1, 1.0, 240.0):
        printed, corrected = (kind(40, Given(), 1.0, 0.5, epsilon, 0.9) for kind in (RecConcave, RecConcaveCorrected))
        assert printed.least_promise(0.9) == corrected.least_promise(0.9)
    printed, corrected = (kind(40, Given(), 1.0, 0.5, 1000.0, 0.5) for kind in (RecConcave, RecConcaveCorrected))
    r = printed.least_promise(0.1)
    assert corrected.least_promise(0.1) > 1.5 * r
    # … and needs more: a lead below 2 comes out of neither A_dist, so that index 0 is returned
    lead = RecConcaveCorrected(4096, Given(), 1.8, 0.5, 1000.0, 0.5)
    assert lead.calls == 2
    assert law(lead, tuple(1.8 if i == 3000 else 0.0 for i in range(4097))).as_dict().get(3000, 0.0) < 0.5


@pytest.mark.slow(fast=["*-31"])
@pytest.mark.parametrize("T", [31, 40])
@pytest.mark.parametrize("kind", [RecConcave, RecConcaveCorrected])
def test_lemma_6_13_with_room(T: int, kind: type[RecConcave] | type[RecConcaveCorrected]) -> None:
    """A thousandth of the printed promise is not enough; a fifth is, on the same scores."""
    least = kind(T, Given(), 1.0, 0.5, 1.0, 1e-6).least_promise(0.05)
    for share, enough in ((0.2, True), (0.001, False)):
        r = share * least
        mechanism = kind(T, Given(), r, 0.5, 1.0, 1e-6)
        goal = PromiseKept(Given(), r, 0.5)
        worst = min(law(Trial(s, mechanism, goal), ()).as_dict().get(True, 0.0) for s in peaks(T, r))
        assert (worst >= 1 - 2 * 0.05 * mechanism.calls) == enough


def test_corrected_lemma_6_2_in_its_second_case() -> None:
    """1/(1 − x) + 2^{−16x} ≤ 2 up to x = 0.45, and 3/4 + (β/2)^{8.2}/β ≤ 1 beyond."""
    assert all(1 / (1 - x) + 2 ** (-16 * x) <= 2 for x in (i / 1000 for i in range(451)))
    assert all(0.75 * beta + (beta / 2) ** 8.2 <= beta for beta in (i / 1000 for i in range(1, 1000)))


@pytest.mark.parametrize("kind", [LearnPoints, LearnPointsCorrected])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.45, 0.5])
def test_lemma_6_2_where_the_target_is_light_and_delta_is_beta(
    kind: type[LearnPoints] | type[LearnPointsCorrected], share: float
) -> None:
    # one bad point, the first: as large a share of 2/(αβ) points as that gets is at α = 0.9, |X| = 5
    alpha, beta = 0.9, 0.45
    learner = kind(4.0, beta, 5)
    n = learner.sample_size(alpha, beta)
    weights = (round(1000 * (1 - share * alpha)), round(1000 * share * alpha))
    source = Examples(Points(5), Truth((0, 4), weights, 4), n)
    failure = law(Trial(source, learner, GeneralisationError(Points(5), alpha)), ()).as_dict().get(False, 0.0)
    assert failure <= beta
    if share == 0:
        assert failure > 0.2
