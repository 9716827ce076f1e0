"""SyntheticData: the search against brute force, the 2α of Remark 6.22 and that it is needed, exact output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from exact_pairs import exact_epsilon
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.interpret import law, sample
from dpaudit.language import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    Claim,
    DatasetError,
    Fixed,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    Relation,
    Trial,
    UtilityClaim,
)
from dpaudit_algorithms.half_spaces.synthetic_data import SyntheticData, close_database
from dpaudit_algorithms.half_spaces.synthetic_data_theory import CloseDatabase, furthest
from dpaudit_algorithms.lower_bounds.query_release import ThresholdRelease
from dpaudit_algorithms.lower_bounds.query_release_theory import CloseAnswers, share
from dpaudit_algorithms.pac.concepts import ConceptClass, Points, PointsAndZero, Thresholds
from dpaudit_algorithms.pac.grid_concepts import Halfspaces, Rectangles, ThresholdsND
from dpaudit_audits.half_spaces.synthetic_data import NoisyAnswers, over, over_thresholds, worst

CLASSES: tuple[ConceptClass, ...] = (
    Thresholds(1), Thresholds(3), Points(3), PointsAndZero(2), Rectangles(3, 1), ThresholdsND(2, 2), Halfspaces(3, 1),
    Halfspaces(2, 2),
)


@dataclass(frozen=True)
class Given(Mechanism):
    """A "release" of the answers that it is given."""

    answers: tuple[Any, ...]
    relation: Relation = REPLACE_ONE

    @property
    def claim(self) -> Claim:
        return Claim(1.0, 0.0, self.relation)

    def run(self, S: Any) -> tuple[Any, ...]:
        return self.answers


@dataclass(frozen=True)
class Exact(Mechanism):
    """A release of the true answers, less `by`, that guarantees what it is told to."""

    concepts: ConceptClass
    guaranteed: UtilityClaim | None = None
    by: Fraction = Fraction(0)

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        return (self.guaranteed,) if self.guaranteed else ()

    def run(self, S: Any) -> tuple[Fraction, ...]:
        return tuple(share(self.concepts, c, Multiset.of(S)) - self.by for c in self.concepts.concepts)


def databases(C: ConceptClass, records: int) -> list[Multiset]:
    """All of this size, in the order of the search: the fewest records at the first point first."""
    all_of_them = [Multiset.of(records) for records in combinations_with_replacement(C.points, records)]
    counts = [dict(S.items) for S in all_of_them]
    order = sorted(range(len(counts)), key=lambda i: [counts[i].get(x, 0) for x in C.points])
    return [all_of_them[i] for i in order]


def answers_of(C: ConceptClass, S: Multiset) -> list[Fraction]:
    return [share(C, c, S) for c in C.concepts]


def close(C: ConceptClass, S: Multiset, answers: Any, alpha: Any) -> bool:
    """Definition 6.20."""
    return all(abs(a - q) <= alpha for a, q in zip(answers, answers_of(C, S), strict=True))


def only(mechanism: Mechanism, dataset: Any) -> Any:
    (output,) = law(mechanism, dataset).as_dict()
    return output


# --- the search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", CLASSES, ids=str)
@given(data=st.data())
def test_search_finds_the_first_close_database(C: ConceptClass, data: st.DataObject) -> None:
    records = data.draw(st.integers(1, 4))
    alpha = Fraction(data.draw(st.integers(1, 6)), 12)
    S = Multiset.of(data.draw(st.lists(st.sampled_from(C.points), min_size=records, max_size=records)))
    noise = data.draw(st.lists(st.integers(-4, 4), min_size=len(C.concepts), max_size=len(C.concepts)))
    answers = [q + Fraction(z, 12) for q, z in zip(answers_of(C, S), noise, strict=True)]
    expected = next((T for T in databases(C, records) if close(C, T, answers, alpha)), None)
    assert close_database(C, answers, records, alpha) == expected
    if close(C, S, answers, alpha):
        # Remark 6.22: S itself is one; and the triangle inequality
        assert expected is not None
        assert furthest(C, S, expected) <= 2 * alpha


@pytest.mark.parametrize("C", [Thresholds(2), Thresholds(3), Points(2), Points(3), PointsAndZero(1)], ids=str)
def test_remark_6_22_for_all_answers_on_a_grid(C: ConceptClass) -> None:
    records, alpha = 3, Fraction(1, 3)
    for answers in product([Fraction(i, 6) for i in range(7)], repeat=len(C.concepts)):
        near = [S for S in databases(C, records) if close(C, S, answers, alpha)]
        found = close_database(C, answers, records, alpha)
        assert found == (near[0] if near else None)
        for S in near:
            assert found is not None
            assert CloseDatabase(C, 2 * alpha).reached(Instance(S), found)


def test_bounds_are_exact() -> None:
    # 1/2 + 1/10 = 3/5 of 10 records, not one more; alpha is the decimal, and a float answer is its exact value
    C = Thresholds(2)
    assert close_database(C, (Fraction(7, 10), 1), 10, 0.1) == Multiset.counted({0: 6, 1: 4})
    assert close_database(C, (Fraction(7, 10) + Fraction(1, 10**9), 1), 10, 0.1) == Multiset.counted({0: 7, 1: 3})
    assert close_database(C, (0.7, 1.0), 10, 0.1) == Multiset.counted({0: 6, 1: 4})  # 0.7 is below 7/10
    assert close_database(C, (0.3, 1.0), 10, 0.1) == Multiset.counted({0: 2, 1: 8})  # 0.3 is below 3/10
    assert close_database(C, (Fraction(1, 2), 1), 1, 0.49) is None
    assert close_database(C, (0, Fraction(89, 100)), 10, 0.1) is None  # the greatest threshold has the answer 1
    assert close_database(C, (Fraction(3, 2), 1), 10, 0.1) is None
    assert close_database(C, (Fraction(-1, 2), 1), 10, 0.1) is None


def test_one_pass_for_large_domains() -> None:
    size, n = 2**11, 10**6
    C = Thresholds(size)
    # answers that fall and rise: S spread out, with noise of ± 1/200
    answers = [Fraction(j + 1, size) + Fraction((j * 37) % 5 - 2, 400) for j in range(size - 1)]
    found = close_database(C, (*answers, Fraction(1)), n, Fraction(1, 200))
    assert found is not None
    total, worst_error = 0, Fraction(0)
    counts = dict(found.items)
    for j, a in enumerate((*answers, Fraction(1))):
        total += counts.get(j, 0)
        worst_error = max(worst_error, abs(Fraction(total, n) - a))
    assert total == n
    assert worst_error <= Fraction(1, 200)
    S = Multiset.counted({j: n // size + (j < n % size) for j in range(size)})
    assert furthest(C, S, found) <= Fraction(1, 100) + Fraction(1, size)
    # a fall by more than 2α has no database
    assert close_database(C, (*answers[:-1], Fraction(98, 100), Fraction(1)), n, Fraction(1, 200)) is None


def test_search_over_many_points() -> None:
    # a histogram of 60 points, answers up to α below and above
    C, n, alpha = Points(60), 600, Fraction(1, 100)
    S = Multiset.counted(dict.fromkeys(range(60), 10))
    answers = [Fraction(1, 60) + (alpha if x % 2 else -alpha) for x in range(60)]
    found = close_database(C, answers, n, alpha)
    assert found is not None
    assert close(C, found, answers, alpha)
    assert furthest(C, S, found) <= 2 * alpha


# --- the factor 2 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 20, 40])
def test_two_alpha_is_attained(n: int) -> None:
    C, alpha = Thresholds(2), Fraction(1, 10)
    mechanism = SyntheticData(Exact(C, by=alpha), C, alpha)
    S = Multiset.counted({0: n // 2, 1: n // 2})
    assert close(C, S, [q - alpha for q in answers_of(C, S)], alpha)
    assert furthest(C, S, only(mechanism, S)) == 2 * alpha


@pytest.mark.parametrize(("k", "n"), [(2, 2), (2, 4), (3, 2), (3, 5), (4, 2), (4, 6), (5, 2)])
def test_no_rule_is_much_better_for_points(k: int, n: int) -> None:
    # S_x: 2αn = 2 records more at x than at each other point; all have the same answers within α
    C, alpha = Points(k), Fraction(1, n)
    base, rest = divmod(n - 2, k)
    assert rest == 0
    hard = [Multiset.counted({z: base + 2 * (z == x) for z in range(k)}) for x in range(k)]
    answers = [(1 - 2 * alpha) / k + alpha] * k
    assert all(0 <= a <= 1 for a in answers)
    assert all(close(C, S, answers, alpha) for S in hard)
    bound = 2 * alpha * (1 - Fraction(1, k))
    for size in range(1, 7):
        for T in databases(C, size):
            assert max(furthest(C, S, T) for S in hard) >= bound
    # attained by the uniform database
    assert max(furthest(C, S, Multiset.of(range(k))) for S in hard) == bound
    # and the first database that is close is 2α off from all but one of them
    found = close_database(C, answers, n, alpha)
    assert found in hard
    assert [furthest(C, S, found) for S in hard].count(2 * alpha) == k - 1


def test_a_private_release_that_errs_to_one_side() -> None:
    mechanism, S = worst(0.1), Multiset.counted({0: 600, 1: 600})
    (guaranteed,) = mechanism.utility(1_200)
    assert guaranteed.goal == CloseDatabase(Thresholds(2), Fraction(1, 5))
    exact = law(mechanism, S).as_dict()
    far = math.fsum(p for T, p in exact.items() if Fraction(18, 100) <= furthest(Thresholds(2), S, T) <= Fraction(1, 5))
    assert far >= guaranteed.probability > 0.998


# --- the mechanism --------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    # noise −1, 0, 1 on one count of {0, 1}: answers 0, 1/2, 1; at α = 1/4 each is one database of 2 records
    a = math.exp(-1)
    middle = (1 - a) / (1 + a)
    exact = law(SyntheticData(ThresholdRelease(2.0, 2), Thresholds(2), 0.25), (0, 1)).as_dict()
    sides = (1 - middle) / 2
    assert exact == pytest.approx({Multiset.of((1, 1)): sides, Multiset.of((0, 1)): middle, Multiset.of((0, 0)): sides})
    # at α = 1/2 the first of two databases is taken
    exact = law(SyntheticData(ThresholdRelease(2.0, 2), Thresholds(2), 0.5), (0, 1)).as_dict()
    assert exact == pytest.approx({Multiset.of((1, 1)): 1 - sides, Multiset.of((0, 1)): sides})


def test_a_fixed_database_if_none_is_close() -> None:
    C = Points(3)
    mechanism = SyntheticData(Given((Fraction(0),) * 3), C, 0.1)
    for S in databases(C, 4):
        assert only(mechanism, S) == Multiset.counted({0: 4})
    # sums of all but the last answer above 1
    assert only(SyntheticData(Given((1, 1, 0)), C, 0.25), (0, 1)) == Multiset.of((0, 0))
    assert only(SyntheticData(Given((1, 0, 1)), Thresholds(3), 0.25), (2, 1)) == Multiset.of((0, 0))


MECHANISMS = {"thresholds": over_thresholds(0.7, 3, 0.25), "points": over(0.7, Points(3), 0.1)}


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_privacy_is_that_of_the_release(mechanism: SyntheticData) -> None:
    for rest in combinations_with_replacement(range(3), 2):
        for old, new in ((0, 1), (1, 2), (2, 0)):
            left, right = Multiset.of((*rest, old)), Multiset.of((*rest, new))
            here, inner = (exact_epsilon(one, left, right, 0.0) for one in (mechanism, mechanism.inner))
            assert here <= inner + 1e-12
            assert inner <= 0.7 + 1e-12


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.35])
def test_guarantee_is_kept_exactly(alpha: float) -> None:
    for mechanism, n in ((over_thresholds(1.5, 3, alpha), 12), (over(2.0, Points(2), alpha), 15)):
        (guaranteed,) = mechanism.utility(n)
        assert guaranteed.probability == mechanism.inner.utility(n)[0].probability
        for S in (Multiset.counted({0: n}), Multiset.counted({0: n - n // 2, 1: n // 2})):
            near = law(Trial(Fixed(S), mechanism.inner, mechanism.inner.utility(n)[0].goal), ()).probability(bool)
            found = law(Trial(Fixed(S), mechanism, guaranteed.goal), ()).probability(bool)
            assert found >= near - 1e-12
            assert near >= guaranteed.probability - 1e-12


def test_guarantees_follow_the_release() -> None:
    C = Thresholds(3)

    def guaranteed(concepts: ConceptClass, alpha: Any) -> tuple[UtilityClaim, ...]:
        inner = Exact(C, UtilityClaim(CloseAnswers(concepts, alpha), 0.9, "a test"))
        return SyntheticData(inner, C, 0.2).utility(10)

    (same,) = guaranteed(C, 0.2)
    assert (same.goal, same.probability) == (CloseDatabase(C, Fraction(2, 5)), 0.9)
    (finer,) = guaranteed(C, 0.05)
    assert finer.goal == CloseDatabase(C, Fraction(1, 4))
    assert guaranteed(C, 0.3) == ()  # S need not be close to the answers
    assert guaranteed(Thresholds(4), 0.2) == ()
    assert SyntheticData(Exact(C), C, 0.2).utility(10) == ()


def test_sampled_as_computed() -> None:
    mechanism, D, runs = over(1.0, Points(3), 0.25), Multiset.of((0, 0, 1)), 50_000
    output, p = max(law(mechanism, D).as_dict().items(), key=lambda one: one[1])
    found = sample(mechanism, D, runs, seed=5).counts[output]
    # five standard deviations: false alarms 6e-7
    assert abs(found / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


def test_noisy_answers_move_by_their_sensitivity() -> None:
    scales = {C: NoisyAnswers(1.0, C, 0.1).scale for C in (Points(3), Thresholds(4), ThresholdsND(2, 2))}
    assert list(scales.values()) == [2, 3, 3]
    left, right = Multiset.counted({0: 3}), Multiset.counted({0: 2, 1: 1})
    assert exact_epsilon(NoisyAnswers(0.6, Points(3), 0.1), left, right, 0.0) == pytest.approx(0.6)


def test_furthest_is_definition_6_20() -> None:
    # thresholds have a shorter way, which must agree
    for S, T in product(databases(Thresholds(4), 3), databases(Thresholds(4), 2)):
        by_definition = max(
            abs(a - b) for a, b in zip(answers_of(Thresholds(4), S), answers_of(Thresholds(4), T), strict=True)
        )
        assert furthest(Thresholds(4), S, T) == by_definition


def test_bad_input() -> None:
    C = Thresholds(3)
    with pytest.raises(ParameterError, match="claims nothing"):
        SyntheticData(Fixed(()), C, 0.1)
    with pytest.raises(ParameterError, match="replace-one"):
        SyntheticData(Given((), ADD_REMOVE_ONE), C, 0.1)
    for alpha in (0, 1.5, -0.1):
        with pytest.raises(ParameterError, match="alpha"):
            SyntheticData(Exact(C), C, alpha)
    for S in ((), (0, 3), ("a",)):
        with pytest.raises(DatasetError, match="in X"):
            law(SyntheticData(Exact(C), C, 0.1), S)
    with pytest.raises(ParameterError, match="3 answers, not 2"):
        law(SyntheticData(Given((0, 1)), C, 0.1), (0, 1))
