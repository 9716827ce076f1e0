"""Algorithm B, its expectation bound and soft choice, the numbers of its proof, and predicates that generalise."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import pytest
from exact_pairs import exact_epsilon

from dpaudit.errors import DatasetError
from dpaudit.interpret import law
from dpaudit.language import Claim, Instance, Mechanism, ParameterError, Trial
from dpaudit_algorithms.foundations.composition import Concatenation
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.generalization.algorithm_b import AlgorithmB
from dpaudit_algorithms.generalization.algorithm_b_theory import SoftChoice, SubDatabases, Thresholded
from dpaudit_algorithms.generalization.interaction import Population
from dpaudit_algorithms.generalization.predicates import (
    AllBut,
    Among,
    EachByItself,
    Errs,
    Generalises,
    GuessedBits,
    ItsParts,
    ItsPoints,
    LargestCell,
    LargestCells,
    MemorisedErrors,
    PredicatesOf,
    mass,
)
from dpaudit_algorithms.generalization.tightness import GeneralizationTightness
from dpaudit_algorithms.pac.concepts import Thresholds

FAIR, SKEWED = Population((0, 1), (1, 1)), Population((0, 1), (3, 1))


def revealing(epsilon: float, delta: float, population: Population) -> AlgorithmB:
    return AlgorithmB(PredicatesOf(GeneralizationTightness(1.0, delta), ItsPoints()), population, epsilon, delta)


def guessing(epsilon: float, delta: float, population: Population = FAIR, k: int = 1) -> AlgorithmB:
    return AlgorithmB(PredicatesOf(DominatingMechanism(epsilon, delta), GuessedBits()), population, epsilon, delta, k)


def by_hand(mechanism: AlgorithmB, S: tuple[int, ...], delta: float) -> dict[object, float]:
    """The law of B when A reveals its sub-database with probability δ, apart from the mechanism's text."""
    points, weights = mechanism.population.points, mechanism.population.weights
    n = len(S) // mechanism.parts
    blocks = [S[i * n : (i + 1) * n] for i in range(mechanism.parts)]
    found: Counter[object] = Counter()
    for leaks in product((True, False), repeat=mechanism.parts):
        p = math.prod(delta if leak else 1 - delta for leak in leaks)
        F = set()
        for t, (leak, block) in enumerate(zip(leaks, blocks, strict=True), start=1):
            table = tuple(int(leak and x in block) for x in points)
            F |= {(table, t), (tuple(1 - v for v in table), t)}
        weight = {}
        for table, t in F:
            on_sample = sum(table[points.index(x)] for x in blocks[t - 1]) / n
            on_d = sum(v * w for v, w in zip(table, weights, strict=True)) / sum(weights)
            weight[table, t] = math.exp(mechanism.epsilon * n / 2 * (on_sample - on_d))
        for pair, w in weight.items():
            found[pair] += p * w / sum(weight.values())
    return dict(found)


@pytest.mark.parametrize(("S", "delta"), [((0, 1, 1, 0), 0.25), ((1, 1, 0, 1, 1, 1, 0, 0), 0.25), ((1, 0), 0.5)])
def test_b_is_what_is_printed(S: tuple[int, ...], delta: float) -> None:
    mechanism = revealing(1.0, delta, SKEWED)
    assert law(mechanism, S).as_dict() == pytest.approx(by_hand(mechanism, S, delta))


def test_number_of_sub_databases() -> None:
    # as written: 0.3/0.1 is 3, though the doubles' quotient is below
    assert revealing(0.3, 0.1, FAIR).parts == 3
    assert revealing(0.3, 0.07, FAIR).parts == 4
    assert revealing(0.3, 0.3, FAIR).parts == 1


@pytest.mark.parametrize("epsilon", [0.3, 1.5])
def test_more_than_epsilon_is_spent_and_not_two(epsilon: float) -> None:
    # T = 1, A pure and its answer seen in F: ε, and (1 + e^ε)/2 more by the choice where D is almost all on 1
    inner = PredicatesOf(DominatingMechanism(epsilon), GuessedBits(((), (1,))))
    mechanism = AlgorithmB(inner, Population((0, 1), (1, 10**9)), epsilon, 0.9 * epsilon if epsilon < 1 else 0.9)
    loss = exact_epsilon(mechanism, (0,), (1,), 0.0)
    assert loss == pytest.approx(epsilon + math.log((1 + math.exp(epsilon)) / 2), abs=1e-6)
    assert epsilon < loss < 2 * epsilon


def expectation(mechanism: AlgorithmB, n: int) -> float:
    """E[h*(S_t*) − h*(D)] by enumeration, apart from `PicksOnItsOwn`."""
    points, weights = mechanism.population.points, mechanism.population.weights
    mass = {x: w / sum(weights) for x, w in zip(points, weights, strict=True)}
    total = 0.0
    for S in product(points, repeat=n * mechanism.parts):
        p = math.prod(mass[x] for x in S)
        for (table, t), q in law(mechanism, S).as_dict().items():
            values = dict(zip(points, table, strict=True))
            block = S[(t - 1) * n : t * n]
            gap = sum(values[x] for x in block) / n - sum(mass[x] * values[x] for x in points)
            total += p * q * gap
    return total


@pytest.mark.parametrize(
    ("mechanism", "n"),
    [
        (guessing(0.1, 0.03), 1),
        (guessing(0.2, 0.1, SKEWED), 1),
        (guessing(0.2, 0.1, SKEWED, k=2), 2),
        (revealing(0.2, 0.1, SKEWED), 2),
    ],
)
def test_the_coin_turns_the_expectation_into_a_probability(mechanism: AlgorithmB, n: int) -> None:
    exact = expectation(mechanism, n)
    above, below, sharp, sharp_below = mechanism.utility(n * mechanism.parts)
    p = law(Trial(SubDatabases(mechanism.population, mechanism.parts, n), mechanism, above.goal), ()).probability(bool)
    assert p == pytest.approx((1 + exact) / 2, abs=1e-12)
    assert 0 < exact <= mechanism.sharpened < mechanism.gap
    assert below.probability < sharp_below.probability < p < sharp.probability < above.probability


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_half_of_the_sharpened_lemma_is_reached_by_a_fair_bit(epsilon: float, delta: float) -> None:
    # one record of {0, 1}, T = 1, told as well as (ε, δ) allows: p − q = (1 − δ)·tanh(ε/2)/2 + δ/2
    told = law(PredicatesOf(DominatingMechanism(epsilon, delta), GuessedBits()), (1,)).as_dict()
    p = sum(q for (h,), q in told.items() if h(1))
    gain = p - 0.5
    assert gain == pytest.approx(((1 - delta) * math.tanh(epsilon / 2) + delta) / 2)
    assert gain <= math.tanh(epsilon / 2) + 2 * delta / (1 + math.exp(epsilon))


@pytest.mark.parametrize("values", [(10, 0), (3, 1, 4, 1, 5), (7,) * 9, (1, *[0] * 99)])
@pytest.mark.parametrize("eta", [0.3, 2.0, 9.0])
def test_claim_4_4(values: tuple[int, ...], eta: float) -> None:
    choice = SoftChoice(values, 10, eta)
    weights = [math.exp(eta * v / 10) for v in values]
    mean = sum(v / 10 * w for v, w in zip(values, weights, strict=True)) / sum(weights)
    (claim,) = choice.utility(0)
    assert law(Trial(Thresholded(10), choice, claim.goal), ()).probability(bool) == pytest.approx(mean)
    assert mean >= max(values) / 10 - math.log(len(values)) / eta


# --- the proof's numbers ---------------------------------------------------------------------------------------------


def grid() -> list[tuple[float, float, int]]:
    """(ε, ε/δ, k), ε up to 1/3 and ε/δ from just above 4; whole, and just below the next whole number."""
    return [
        (epsilon, ratio, k)
        for epsilon in (1e-3, 0.05, 0.1, 0.2, 0.3, 0.3333)
        for ratio in (4.0001, 4.5, 4.9999, 5.0, 5.9999, 8.0, 100.0, 1e6)
        for k in (1, 10)
    ]


def proof(epsilon: float, ratio: float, k: int, some: float | None, log2: bool = False) -> float:
    """By how much the two bounds contradict each other at n = log(2εk/δ)/ε²; without `some`, its exact value."""
    parts = math.floor(ratio)
    far = 1 - (1 - 1 / ratio) ** parts if some is None else some
    n = (math.log2 if log2 else math.log)(2 * ratio * k) / epsilon**2
    lower = 10 * epsilon * far - 2 / (epsilon * n) * math.log(2 * parts * k)
    return lower - (math.exp(2 * epsilon) - 1 + parts * epsilon / ratio)


def test_the_printed_half_does_not_close_where_epsilon_over_delta_is_whole() -> None:
    for epsilon, ratio, k in grid():
        if ratio == math.floor(ratio):
            assert proof(epsilon, ratio, k, 0.5) < 0
            mechanism = revealing(epsilon, epsilon / ratio, FAIR)
            assert mechanism.closing_size(0.5) > mechanism.printed_size


def test_it_closes_without_that_loss() -> None:
    least = 1 - 0.8**4
    for epsilon, ratio, k in grid():
        assert 1 - (1 - 1 / ratio) ** math.floor(ratio) > least > 0.59
        assert proof(epsilon, ratio, k, least) > 0
        assert proof(epsilon, ratio, k, None) > 0
    # 3.904ε > e^{2ε} − 1 + ε up to ε = 1/3: the right side is convex, and less at both ends
    assert 10 * least / 3 - 2 / 3 > math.expm1(2 / 3) + 1 / 3


def test_with_base_two_it_closes_where_the_theorem_says_anything() -> None:
    for epsilon, ratio, k in grid():
        if epsilon <= 0.1:
            assert proof(epsilon, ratio, k, 0.5, log2=True) > 0
    assert proof(0.3, 8.0, 1, 0.5, log2=True) < 0
    # 5ε − 2ε·ln 2 − ε − (e^{2ε} − 1) changes its sign between
    assert (4 - 2 * math.log(2)) * 0.256 > math.expm1(0.512)
    assert (4 - 2 * math.log(2)) * 0.257 < math.expm1(0.514)


def test_the_sizes_that_are_shown() -> None:
    mechanism = revealing(0.1, 0.02, FAIR)
    printed, half, corrected = (size.records for size in mechanism.sample_sizes)
    assert printed == math.ceil(100 * math.log(10)) == 231
    # ε/δ = 5: room is 0.5 − (e^{0.2} − 1) − 0.1 with 1/2, and (1 − 0.8^5)·1 − … without
    room = 0.4 - math.expm1(0.2)
    assert half == math.floor(2 * math.log(10) / (0.1 * room)) + 1 == 258
    assert corrected == math.floor(2 * math.log(10) / (0.1 * (room + 0.5 - 0.8**5))) + 1
    assert corrected < printed < half
    assert revealing(0.34, 0.05, FAIR).sample_sizes == () == revealing(0.2, 0.05, FAIR).sample_sizes


# --- predicates ------------------------------------------------------------------------------------------------------


def test_what_generalises() -> None:
    S, goal = (0, 0, 1, 1), Generalises(0.3)
    fair = Instance(S, Population((0, 1), (4, 1)))
    # |1/2 − 1/5| = 0.3 is not below 0.3
    assert not goal.reached(fair, (Among(frozenset((1,))),))
    assert goal.reached(fair, (Among(frozenset(())), Among(frozenset((0, 1)))))
    assert not goal.reached(fair, (Among(frozenset(())), Among(frozenset((1,)))))
    assert not goal.reached(Instance(S, "U"), (Among(frozenset((1,))),))
    examples = Instance(((0, 1), (1, 1)), Population(((0, 1), (1, 1)), (1, 1)))
    assert goal.reached(examples, (Errs(Thresholds(2), 0),))
    assert Errs(Thresholds(2), 0)((1, 1)) == 1 != Errs(Thresholds(2), 1)((1, 1))


def test_the_largest_cell_is_the_first_of_equals() -> None:
    assert LargestCell(("a", "b", "c"))((1.0, 2.0, 2.0)) == (Among(frozenset(("b",))),)


def test_several_predicates() -> None:
    cells = ("a", "b", "c")
    assert LargestCells(cells, 2)((1.0, 3.0, 2.0)) == (Among(frozenset(("b",))), Among(frozenset(("b", "c"))))
    assert LargestCells(cells, 1)((1.0, 2.0, 2.0)) == LargestCell(cells)((1.0, 2.0, 2.0))
    assert ItsParts((2, 4))((0, 1, 3)) == (Among(frozenset((0, 1))), Among(frozenset((3,))))
    both = EachByItself((ItsPoints(), ItsParts((1, 2))))
    assert both(((0, 1), (0, 1))) == (Among(frozenset((0, 1))), Among(frozenset((0,))), Among(frozenset((1,))))
    # one that is off is enough
    assert not Generalises(0.5).reached(Instance((0, 1, 2, 3), "U"), (Among(frozenset(())), Among(frozenset((0, 3)))))


def test_half_of_a_sample_by_heart() -> None:
    S, goal = (0, 1, 2, 3), Generalises(0.5)
    (errors,) = MemorisedErrors()((0, 1))
    assert errors == AllBut(frozenset((0, 1)))
    assert (errors(0), errors(2)) == (0, 1)
    assert mass("U", errors) == 1
    assert mass("U", Among(frozenset((0, 1)))) == 0
    # error 1/2 on S and 1 on D; a quarter less
    assert not goal.reached(Instance(S, "U"), (errors,))
    assert goal.reached(Instance(S, "U"), MemorisedErrors()((0,)))
    with pytest.raises(ParameterError, match="Population"):
        mass("U", Errs(Thresholds(2), 0))


def test_b_needs_as_many_predicates_as_were_said() -> None:
    two = Concatenation(DominatingMechanism(0.1), DominatingMechanism(0.1))
    inner = PredicatesOf(two, EachByItself((GuessedBits(), GuessedBits())))
    S = (0, 1, 1, 0)
    with pytest.raises(ParameterError, match="k must be 2"):
        law(AlgorithmB(inner, FAIR, 0.2, 0.05), S)
    found = law(AlgorithmB(inner, FAIR, 0.2, 0.05, 2), S).as_dict()
    assert sum(found.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("k", [1, 2, 10])
def test_the_printed_size_grows_with_k(k: int) -> None:
    mechanism = AlgorithmB(PredicatesOf(DominatingMechanism(0.05), GuessedBits()), FAIR, 0.05, 0.012, k)
    assert mechanism.printed_size == math.ceil(400 * math.log(0.1 * k / 0.012)) == {1: 849, 2: 1126, 10: 1770}[k]


def test_what_is_refused() -> None:
    inner: Mechanism = PredicatesOf(DominatingMechanism(0.5), GuessedBits())
    assert inner.claim == Claim(0.5)
    for epsilon, delta in ((0.4, 0.05), (0.5, 0.0), (0.5, 0.6), (-0.5, 0.1)):
        with pytest.raises(ParameterError):
            AlgorithmB(inner, FAIR, epsilon, delta)
    for S in ((0, 1, 0), (), (0, 1, 0, 1, 2, 0, 0, 0)):
        with pytest.raises(DatasetError):
            law(revealing(0.5, 0.12, FAIR), S)
    assert revealing(0.5, 0.12, FAIR).utility(7) == ()
    assert revealing(0.05, 0.012, FAIR).generalises(848) is None
