"""Sources of mixtures, the bounds of §4 as calculators, and the step of Theorem 4.10's proof that is false."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from scipy.stats import binom

from dpaudit.errors import ParameterError
from dpaudit.interpret import law, sample
from dpaudit.language import Instance, Multiset, Trial
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.mixtures.mixtures import LearnHalf
from dpaudit_algorithms.mixtures.mixtures_data import (
    LEMMA,
    PRINTED,
    Deviation,
    ExcessError,
    NearErm,
    best_error,
    best_errors,
    population_error,
    sample_errors,
)
from dpaudit_algorithms.mixtures.record_sources import (
    Mixed,
    Mixture,
    flipped_bits,
    label_determined,
    noisy_labels,
    private_ones,
)

COIN = label_determined({((0,), 0): 1, ((0,), 1): 1})
THIN = label_determined({((0, 0), 0): 1, ((1, 0), 0): 1, ((2, 0), 1): 2})


def masses(truth: Mixture) -> dict[Any, Fraction]:
    total = sum(truth.weights)
    return {row: Fraction(w, total) for row, w in zip(truth.rows, truth.weights, strict=True)}


def test_privacy_models_by_hand() -> None:
    examples = {((0,), 0): 1, ((1,), 1): 3}
    quarter, rest = Fraction(1, 4), Fraction(3, 4)
    assert masses(label_determined(examples)) == {((0,), 0, "pub"): quarter, ((1,), 1, "priv"): rest}
    assert masses(label_determined(examples, private_label=0)) == {((0,), 0, "priv"): quarter, ((1,), 1, "pub"): rest}
    assert masses(flipped_bits(examples, 0.1)) == {
        ((0,), 0, "priv"): Fraction(1, 40), ((0,), 0, "pub"): Fraction(9, 40),
        ((1,), 1, "priv"): Fraction(27, 40), ((1,), 1, "pub"): Fraction(3, 40),
    }  # fmt: skip
    assert masses(private_ones(examples, 0.5)) == {
        ((0,), 0, "pub"): quarter, ((1,), 1, "priv"): Fraction(3, 8), ((1,), 1, "pub"): Fraction(3, 8),
    }  # fmt: skip
    noisy = noisy_labels([((0,), 1), ((1,), 3)], lambda x: x[0], 0.1)
    assert noisy == {
        ((0,), 0): Fraction(9, 10),
        ((0,), 1): Fraction(1, 10),
        ((1,), 1): Fraction(27, 10),
        ((1,), 0): Fraction(3, 10),
    }
    assert best_error(label_determined(noisy)) == Fraction(1, 10)
    # D̃ does not depend on the privacy bit
    assert {
        flipped_bits(examples, f).examples[(1,), 1] * 4 / sum(flipped_bits(examples, f).weights) for f in (0, 0.1)
    } == {3}


@pytest.mark.parametrize("flip", [-0.1, 1.1, math.nan])
def test_bad_sources(flip: float) -> None:
    for make in (lambda: flipped_bits({((0,), 0): 1}, flip), lambda: private_ones({((0,), 0): 1}, flip),
                 lambda: noisy_labels([((0,), 1)], lambda x: 0, flip)):  # fmt: skip
        with pytest.raises(ParameterError):
            make()
    with pytest.raises(ParameterError, match="weight above 0"):
        label_determined({((0,), 0): 0})
    with pytest.raises(ParameterError, match=r"\(x, 0\) or \(x, 1\)"):
        label_determined({((0,), 2): 1})


def test_records_are_drawn_from_the_mixture() -> None:
    found = law(Mixed(THIN, 2), ()).as_dict()
    assert math.fsum(found.values()) == pytest.approx(1)
    both = Multiset.of((((0, 0), 0, "pub"), ((2, 0), 1, "priv")))
    assert found[Instance(both, THIN)] == pytest.approx(2 * 1 / 4 * 1 / 2)


def test_errors_by_hand() -> None:
    S = Multiset.of((((0, 0), 0, "pub"), ((1, 0), 0, "pub"), ((2, 0), 1, "priv")))
    learner = LearnHalf(1.0, 2)
    for i in range(learner.levels(S).size):
        wrong = {x for x, y in (((0, 0), 0), ((1, 0), 0), ((2, 0), 1)) if learner.hypothesis(S, i).label(x) != y}
        assert sample_errors(learner, S, i) == len(wrong)
        assert population_error(learner, S, i, THIN) == Fraction(sum({0: 1, 1: 1, 2: 2}[x[0]] for x in wrong), 4)
        assert NearErm(learner, 0.34).reached(Instance(S), i) == (len(wrong) <= 1)
        assert ExcessError(learner, 0.25).reached(Instance(S, THIN), i) == (
            population_error(learner, S, i, THIN) <= 0.25
        )
    assert (best_errors(S), best_error(THIN)) == (0, 0)
    with pytest.raises(ParameterError, match="drawn from a mixture"):
        ExcessError(learner, 0.1).reached(Instance(S), 0)


# --- the calculators -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "most"), [(1, 5), (2, 4), (3, 3)])
def test_the_class_is_no_larger_than_the_bound(d: int, most: int) -> None:
    for n in range(most + 1):
        S = tuple((tuple((t + 2) ** k for k in range(1, d + 1)), 0, "pub") for t in range(n))
        for empty_subset in ("skip", "axis"):
            size = LearnHalf(1.0, d, empty_subset=empty_subset).levels(S).size
            assert math.log(size) <= bounds.log_hypotheses(d, n) + 1e-12
    # O(2^d·n^{d²}): the constant is small
    for n in (2, 10, 1000):
        assert bounds.log_hypotheses(d, n) <= d * math.log(2) + d**2 * math.log(n) + d * math.log(2)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "alpha", "beta"), [(1.0, 0.1, 0.05), (4.0, 0.4, 0.2), (0.1, 0.9, 1e-9)])
def test_sample_sizes_are_the_least(d: int, epsilon: float, alpha: float, beta: float) -> None:
    def empirical(n: int, a: float, b: float) -> bool:
        return epsilon * n * a / 2 >= bounds.log_hypotheses(d, n) + math.log(1 / b)

    def apart(n: int, error: float, b: float) -> float:
        L = math.log(n / b)
        return math.sqrt(error * 4 * d**2 * L / n) + 8 * d**2 * L / n + 2 * d**2 / n

    n = bounds.mixture_empirical(d, epsilon, alpha, beta).records
    assert empirical(n, alpha, beta)
    assert not empirical(n - 1, alpha, beta)
    assert all(empirical(m, alpha, beta) for m in (n + 1, 2 * n, 5 * n, 100 * n))

    def realisable(n: int) -> bool:
        return empirical(n, alpha / 2, beta / 2) and alpha / 2 + apart(n, alpha / 2, beta / 2) <= alpha

    n = bounds.mixture_realisable(d, epsilon, alpha, beta).records
    assert realisable(n)
    assert not realisable(n - 1)
    assert all(realisable(m) for m in (n + 1, 2 * n, 100 * n))
    n = bounds.mixture_agnostic(d, epsilon, alpha, beta).records
    assert empirical(n, alpha / 4, beta / 4)
    assert apart(n, 1.0, beta / 4) <= alpha / 4
    assert n >= 50 * (d + 1) / (alpha / 8) ** 2 * math.log(64 / (alpha * beta)) - 1
    with pytest.raises(ParameterError, match="alpha"):
        bounds.mixture_realisable(d, epsilon, 0, beta)
    with pytest.raises(ParameterError, match="epsilon"):
        bounds.mixture_empirical(d, 0, alpha, beta)


def test_the_printed_lemma_gives_another_order_than_theorem_4_9() -> None:
    # Lemma 4.8 multiplies ln(1/β) by k = d²; the theorem prints ln(1/β)/(εα) without
    def slope(d: int) -> float:
        sizes = [bounds.mixture_realisable(d, 1e3, 0.1, beta).records for beta in (1e-100, 1e-200)]
        return (sizes[1] - sizes[0]) / math.log(1e100)

    assert slope(3) / slope(1) == pytest.approx(9, rel=0.02)
    assert slope(2) / slope(1) == pytest.approx(4, rel=0.02)


# --- Claim 4.7 and Theorem 4.9 ---------------------------------------------------------------------------------------


@pytest.mark.slow(only=["0.5"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_claim_4_7_on_every_dataset_of_a_line(epsilon: float) -> None:
    learner = LearnHalf(epsilon, 1)
    for counts in product((0, 1, 3, 9), repeat=4):
        rows = (((0,), 0, "pub"), ((1,), 0, "pub"), ((0,), 1, "priv"), ((2,), 1, "priv"))
        S = Multiset.counted(dict(zip(rows, counts, strict=True)))
        if not len(S):
            continue
        for alpha in (0.1, 0.3):
            goal = NearErm(learner, alpha)
            fails = sum(p for g, p in law(learner, S).as_dict().items() if not goal.reached(Instance(S), g))
            assert fails <= learner.levels(S).size * math.exp(-epsilon * len(S) * alpha / 2)


@pytest.mark.slow
def test_theorem_4_9_fails_for_aligned_supports() -> None:
    # by hand: once (0, 0) and (1, 0) are drawn, every g is constant on the line, and errs with 1/2 on average;
    # with one of them or none drawn some g errs with 1/4, or all have label 1: error 1/2 again
    learner, n = LearnHalf(4.0, 2, supports="aligned"), 16
    trial = Trial(Mixed(THIN, n), learner, ExcessError(learner, 0.4))
    success = law(trial, ()).probability(lambda x: x is True)
    exactly_one = 2 * (Fraction(3, 4) ** n - Fraction(1, 2) ** n)
    assert 0 < success <= float(exactly_one)
    assert success < 0.021
    good = LearnHalf(4.0, 2)
    assert law(Trial(Mixed(THIN, n), good, ExcessError(good, 0.4)), ()).probability(lambda x: x is True) > 0.95
    hits = sample(trial, (), 2_000, seed=3).counts.get(True, 0)
    # six standard deviations of a binomial, false alarms 2e-9
    assert abs(hits / 2_000 - success) < 6 * math.sqrt(success / 2_000)


# --- Lemma 4.8, and the proof of Theorem 4.10 ------------------------------------------------------------------------


def exceeds(n: int, beta: float, *, root: bool) -> float:
    """Pr[|K/n − 1/2| > bound], K the number of labels 1 of n: which is |err − err^|, whatever hypothesis is output."""
    L = math.log(n / beta)
    bound = 8 * L / n + 2 / n

    def outside(k: int) -> bool:
        # err^ is k/n or 1 − k/n; the smaller one has the smaller root
        return abs(k / n - 0.5) > bound + (math.sqrt(min(k, n - k) / n * 4 * L / n) if root else 0.0)

    low, high = -1, n // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if outside(middle) else (low, middle)
    return 2 * float(binom.cdf(low, n, 0.5))


@pytest.mark.parametrize(("n", "beta"), [(30_000, 1 / 8), (100_000, 1 / 8), (5_429, 4.4456985e-06)])
def test_the_bound_without_the_root_is_exceeded(n: int, beta: float) -> None:
    assert exceeds(n, beta, root=False) > beta
    assert exceeds(n, beta, root=True) < beta / 100


@pytest.mark.slow
def test_the_bound_without_the_root_sampled_and_exactly() -> None:
    learner, beta = LearnHalf(1.0, 1), 1 / 8
    trial = Trial(Mixed(COIN, 30_000), learner, Deviation(learner, beta, PRINTED))
    misses = sample(trial, (), 1_500, seed=4).counts[False] / 1_500
    truth = exceeds(30_000, beta, root=False)
    assert truth > 0.24
    # six standard deviations, false alarms 2e-9; the printed bound is 1/8
    assert abs(misses - truth) < 6 * math.sqrt(truth * (1 - truth) / 1_500) < truth - beta
    # at 200 records both bounds are above 1/2, and the laws say so
    for bound in (PRINTED, LEMMA):
        few = Trial(Mixed(COIN, 100), learner, Deviation(learner, 0.9, bound))
        assert law(few, ()).probability(lambda x: x is True) == pytest.approx(1)


@pytest.mark.parametrize("n", [20, 400, 30_000])
@pytest.mark.parametrize("beta", [1e-6, 0.5, 0.999])
def test_lemma_4_8_on_the_coin(n: int, beta: float) -> None:
    assert exceeds(n, beta, root=True) <= beta


def test_bad_goals() -> None:
    learner = LearnHalf(1.0, 1)
    for bad in (lambda: NearErm(learner, 0), lambda: ExcessError(learner, -1), lambda: Deviation(learner, 0),
                lambda: Deviation(learner, 0.1, "none")):  # fmt: skip
        with pytest.raises(ParameterError):
            bad()
