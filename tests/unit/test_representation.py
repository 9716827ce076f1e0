"""Probabilistic representations of point functions, and the learner from one: against closed forms and brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.interpret import law, sample
from dpaudit.language import Fixed, Instance, Multiset, ParameterError, Trial, next_prime
from dpaudit_algorithms.pac.concepts import Examples, Points, Thresholds, Truth
from dpaudit_algorithms.representations.point_representation import (
    LineHash,
    PointRepresentation,
    PointRepresentationHash,
)
from dpaudit_algorithms.representations.representation import (
    Executions,
    Hypotheses,
    HypothesisError,
    ListedRepresentation,
    OnesAt,
    Represents,
    error,
)
from dpaudit_algorithms.representations.representation_learner import (
    Agreement,
    RepresentationLearner,
    RepresentationLearnerCorrected,
)
from dpaudit_algorithms.representations.representation_learner_theory import NoneLooksGood, SomeFewErrors
from dpaudit_audits.representations.point_representation import HUGE, just_above, spread
from dpaudit_audits.representations.representation_learner import TWO, WRONG

HALF = Truth((0, 1, 2), (2, 1, 1), 1)
WORST = [(3, 0.3), (2, 0.45), (6, 0.16), (2, 0.9), (4, 0.24), (9, 0.1)]


def success(goal_of: Represents, truth: Truth, one: PointRepresentation | PointRepresentationHash) -> float:
    return law(Trial(Fixed((), truth), one, goal_of), ()).probability(bool)


# --- classes and errors ----------------------------------------------------------------------------------------------


def test_errors_are_those_by_definition() -> None:
    for name in [(), (0,), (1,), (0, 1), (0, 1, 2)]:
        by_hand = sum(
            (Fraction(w, 4) for x, w in ((0, 2), (1, 1), (2, 1)) if (x in name) != (x == 1)), Fraction(0)
        )
        assert error(OnesAt(), name, Points(3), HALF) == by_hand


def test_wrong_counts_examples_of_any_label() -> None:
    H = Hypotheses.of(OnesAt(), [(0, 1), (1,), ()])
    S = [(0, 1), (0, 1), (1, 0), (2, 1), (2, 0), (1, 1)]
    assert H.members == ((), (0, 1), (1,))
    assert H.wrong(S) == [sum(int(x in h) != y for x, y in S) for h in H.members]
    assert H.wrong([(0, 7), (1, 7)]) == [2, 2, 2]
    assert Agreement(H)(S).values.tolist() == [6 - w for w in H.wrong(S)]


def test_a_class_represents_if_some_hypothesis_is_near_enough() -> None:
    goal = Represents(Points(3), 0.25)
    at = Instance((), HALF)
    assert goal.reached(at, Hypotheses.of(OnesAt(), [(0,), ()]))  # () is wrong at 1 alone, of mass 1/4
    assert not goal.reached(at, Hypotheses.of(OnesAt(), [(0,), (0, 1)]))
    assert not goal.reached(at, Hypotheses(OnesAt(), ()))
    assert HypothesisError(Points(3), OnesAt(), 0.25).reached(at, (1, 2))
    with pytest.raises(ParameterError):
        goal.reached(Instance(()), Hypotheses(OnesAt(), ()))


def test_executions_are_independent() -> None:
    coin = PointRepresentation(1, 0.5, 0.5, 1)
    one, none = (Hypotheses(OnesAt(), (h,)) for h in ((0,), ()))
    for times in (1, 2, 5):
        found = law(Executions(coin, times), ()).as_dict()
        assert found[frozenset({one})] == pytest.approx(0.25**times)
        assert found[frozenset({none})] == pytest.approx(0.75**times)


@pytest.mark.parametrize("classes", [(), (Hypotheses(OnesAt(), ()),)])
def test_a_listed_representation_has_hypotheses(classes: tuple[Hypotheses, ...]) -> None:
    with pytest.raises(ParameterError):
        ListedRepresentation(Points(2), classes, (1,) * len(classes), 0.1, 0.1)


# --- points ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 9, 24, 25, 1 << 16, 1 << 64])
def test_next_prime(n: int) -> None:
    found = next_prime(n)
    assert found == {2: 2, 3: 3, 4: 5, 9: 11, 24: 29, 25: 29, 1 << 16: 65537, 1 << 64: (1 << 64) + 13}[n]


def test_hashes_are_pairwise_independent() -> None:
    p, q = 11, 4
    H = LineHash(p, q)
    names = list(product(range(p), repeat=2))
    for x, y in ((0, 1), (3, 8), (10, 2)):
        both = sum(H.label(h, x) * H.label(h, y) for h in names)
        assert both == q * q
        assert sum(H.label(h, x) for h in names) == q * p
    points = (0, 5, 7)
    assert all(H.labels(h, points) == [H.label(h, x) for x in points] for h in names)


@pytest.mark.slow(only=["9-*", "6-*"])
@pytest.mark.parametrize(("domain", "alpha"), WORST)
def test_one_hypothesis_of_either_kind_is_good_as_often_as_guaranteed(domain: int, alpha: float) -> None:
    goal = Represents(Points(domain), alpha)
    truths = [just_above(domain, alpha), just_above(domain, alpha, 0.5), Truth((0,), (1,), 0)]
    for truth in truths:
        by_coins = success(goal, truth, PointRepresentation(domain, alpha, 0.5, 1))
        by_hash = success(goal, truth, PointRepresentationHash(domain, alpha, 0.5, 1))
        assert by_coins >= alpha / 4
        # what the printed M needs: (1 − s)^M ≤ β
        assert by_hash >= -math.expm1(-alpha / 4)


def test_coins_against_the_closed_form() -> None:
    """Mass just above α on every point: only the target's own indicator will do."""
    domain, alpha = 4, 0.24
    r = alpha / 2
    found = success(Represents(Points(domain), alpha), just_above(domain, alpha), PointRepresentation(4, alpha, 0.5, 1))
    assert found == pytest.approx(r * (1 - r) ** 3)


@pytest.mark.parametrize("alpha", [0.05, 0.16, 0.3, 0.45, 0.6, 0.9])
def test_the_proof_for_hashes(alpha: float) -> None:
    """The bound of the docstring, and that it is enough for M, for all primes from 8/α on up to a few hundred."""
    p = next_prime(math.ceil(8 / alpha))
    while p < 400:
        r = math.floor(alpha * p / 2) / p
        t = alpha / 2 - r
        bound = r * (1 - r / alpha + (1 / alpha - 1) / p)
        assert bound >= alpha / 4 + t * (0.5 - alpha / 2 - 2 * t / alpha + t) - 1e-12
        assert bound >= -math.expm1(-alpha / 4)
        p = next_prime(p + 1)


@pytest.mark.parametrize(("p", "q"), [(17, 4), (19, 4), (23, 5)])
def test_no_distribution_on_few_points_beats_the_proof_for_hashes(p: int, q: int) -> None:
    """Random distributions on up to five points, all (a, b)."""
    rng = np.random.default_rng(3)
    alpha = 2 * q / p + 1 / p
    H, names = LineHash(p, q), list(product(range(p), repeat=2))
    for _ in range(60):
        points = rng.choice(p, size=int(rng.integers(2, 6)), replace=False).tolist()
        weights = rng.dirichlet(np.full(len(points), 0.7)).tolist()
        good = sum(
            sum(w for x, w in zip(points, weights, strict=True) if H.label(h, x) != (x == points[0])) <= alpha
            for h in names
        )
        r = q / p
        assert good / p**2 >= r * (1 - r / alpha + (1 / alpha - 1) / p) - 1e-12


def test_bulk_and_text_draw_the_same_class_sizes() -> None:
    r = PointRepresentationHash(HUGE, 0.4, 0.3)
    (H,) = sample(r, (), 1, seed=4).counts
    assert isinstance(H, Hypotheses)
    assert len(H) == r.M == math.ceil(10 * math.log(1 / 0.3))
    assert all(0 <= a < r.p and 0 <= b < r.p for a, b in H.members)


def test_where_the_printed_class_would_be_empty() -> None:
    """β > e^{−α/4}: (4/α)·ln(1/β) < 1, and "|H| ≤ 0.84" leaves only the empty class."""
    r = PointRepresentation(2, 0.5, 0.9)
    assert r.printed_size < 0
    assert r.M == 1
    assert r.size == 0


# --- the learner -----------------------------------------------------------------------------------------------------


def test_the_sample_size_does_not_depend_on_the_domain() -> None:
    sizes = {
        RepresentationLearner(1.0, PointRepresentationHash(1 << bits, 0.04, 0.05)).enough for bits in (8, 16, 64, 1000)
    }
    assert sizes == {math.ceil(3 / 0.04 * (math.log(300) + math.log(20)))} == {653}


def test_the_law_is_a_mixture_of_exponential_mechanisms() -> None:
    H, G = Hypotheses.of(OnesAt(), [(), (0,)]), Hypotheses.of(OnesAt(), [(0,), (0, 1), (1,)])
    learner = RepresentationLearner(0.8, ListedRepresentation(Points(2), (H, G), (3, 1), 0.1, 0.1))
    S = ((0, 1), (1, 0), (1, 1))
    by_hand: dict[tuple[int, ...], float] = {}
    for share, one in ((0.75, H), (0.25, G)):
        weights = {h: math.exp(0.4 * sum(int(x in h) == y for x, y in S)) for h in one.members}
        for h, w in weights.items():
            by_hand[h] = by_hand.get(h, 0.0) + share * w / sum(weights.values())
    assert law(learner, S).as_dict() == pytest.approx(by_hand)


def failure(epsilon: float, n: int, wrong: float) -> float:
    """Pr[c_1 comes out for c_0]: Σ_k Bin(n, p)(k)/(1 + e^{εk/2}), apart from the language."""
    return sum(
        math.comb(n, k) * wrong**k * (1 - wrong) ** (n - k) / (1 + math.exp(min(700.0, epsilon * k / 2)))
        for k in range(n + 1)
    )


@pytest.mark.parametrize(
    ("epsilon", "n", "fails"), [(1.0, 318, False), (45.0, 8, False), (46.0, 7, True), (300.0, 2, True)]
)
def test_for_every_epsilon_is_refuted_at_large_epsilon(epsilon: float, n: int, fails: bool) -> None:
    learner = RepresentationLearner(epsilon, TWO)
    assert learner.enough == n
    instances = Examples(Thresholds(2), Truth((0, 1), (1 - WRONG, WRONG), 0), n)
    missed = law(Trial(instances, learner, learner.guaranteed.goal), ()).probability(lambda good: not good)
    assert missed == pytest.approx(failure(epsilon, n, WRONG))
    assert (missed > 4 * TWO.beta) is fails
    corrected = RepresentationLearnerCorrected(epsilon, TWO)
    assert failure(epsilon, corrected.enough, WRONG) < 4 * TWO.beta


def test_for_every_epsilon_sampled() -> None:
    """False alarm: 6 standard deviations, 2e-9."""
    learner = RepresentationLearner(300.0, TWO)
    instances = Examples(Thresholds(2), Truth((0, 1), (1 - WRONG, WRONG), 0), 2)
    runs, p = 100_000, 1 - failure(300.0, 2, WRONG)
    hits = sample(Trial(instances, learner, learner.guaranteed.goal), (), runs, seed=2).counts[True]
    assert abs(hits - runs * p) < 6 * math.sqrt(runs * p * (1 - p))


def test_e3_as_printed_and_corrected() -> None:
    """3 of 40 examples tell two thresholds apart, one over αn = 2: the worse has probability 1/(1 + e^{1.5})."""
    literal, corrected = RepresentationLearner(1.0, TWO), RepresentationLearnerCorrected(1.0, TWO)
    S = Multiset.counted({(1, 0): 3, (0, 1): 37})
    found = law(Trial(Fixed(S), literal.with_class, literal.e3(40).goal), ()).probability(bool)
    assert found == pytest.approx(1 - 1 / (1 + math.exp(1.5)))
    assert literal.e3(40).probability == pytest.approx(1 - 2 * math.exp(-20))
    assert corrected.e3(40).probability == pytest.approx(1 - 2 * math.exp(-1))
    assert literal.e3(40).probability > found > corrected.e3(40).probability


@pytest.mark.parametrize(("n", "p"), [(50, 0.1), (142, 0.3), (200, 0.06)])
def test_the_chernoff_bound_of_e2(n: int, p: float) -> None:
    """Pr[Bin(n, p) ≤ np/2] ≤ e^{−np/8}, which is e^{−3nα/4} at p = 6α; the printed e^{−nα/4} is a weaker bound."""
    below = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(math.floor(n * p / 2) + 1))
    assert below <= math.exp(-n * p / 8) <= math.exp(-n * p / 24)


def test_the_events_by_brute_force() -> None:
    H = Hypotheses.of(Thresholds(2), (0, 1))
    truth = Truth((0, 1), (0.5, 0.5), 0)
    for k in range(21):
        S = Multiset.counted({(1, 0): k, (0, 1): 20 - k})
        at = Instance(S, truth)
        assert SomeFewErrors(0.05).reached(at, H)
        assert SomeFewErrors(0.05).reached(at, Hypotheses.of(Thresholds(2), (1,))) is (k <= 2)
        assert NoneLooksGood(TWO, 0.05).reached(at, H) is (k > 3)


def test_a_wide_distribution_is_learned() -> None:
    """One run on a distribution over hundreds of points of a domain of 2^64: the output names a hash of small error."""
    learner = RepresentationLearner(1.0, PointRepresentationHash(HUGE, 0.04, 0.05))
    instances = Examples(Points(HUGE), spread(HUGE, 500, 0.3), learner.enough)
    hits = sample(Trial(instances, learner, learner.guaranteed.goal), (), 8, seed=6).counts.get(True, 0)
    # fails with probability at most 4β = 1/5 a run: fewer than 2 of 8 with probability below 1e-4
    assert hits >= 2


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="domain"):
        PointRepresentation(0, 0.1, 0.1)
    with pytest.raises(ParameterError, match="alpha"):
        PointRepresentationHash(4, 1.0, 0.1)
    with pytest.raises(ParameterError, match="hypotheses"):
        PointRepresentationHash(4, 0.5, 0.1, 0)
    with pytest.raises(ParameterError, match="Representation"):
        RepresentationLearner(1.0, None)  # type: ignore[arg-type]
