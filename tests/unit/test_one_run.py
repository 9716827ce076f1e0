"""Bounds from one training run, against exact mechanisms, linear programs and the published algorithm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from dpaudit.stats import gdp, one_run

ALPHA = 0.05


def published_p_value(m: int, r: int, v: int, eps: float, delta: float) -> float:
    """As Appendix D of Steinke, Nasr and Jagielski describes it, term by term."""
    q = 1 / (1 + math.exp(-eps))
    beta = sum(stats.binom.pmf(k, r, q) for k in range(v, r + 1))
    alpha = max((sum(stats.binom.pmf(k, r, q) for k in range(v - i, v)) / i for i in range(1, v + 1)), default=0.0)
    return min(1.0, beta + 2 * m * delta * alpha)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize(("n", "guessed", "correct"), [(10, 1, 1), (10, 10, 7), (100, 40, 31), (1000, 100, 0)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_p_value_is_the_published_one(n: int, guessed: int, correct: int, epsilon: float, delta: float) -> None:
    ours = one_run.p_value(n, guessed, correct, epsilon=epsilon, delta=delta)
    assert ours == pytest.approx(published_p_value(n, guessed, correct, epsilon, delta), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("n", "guessed", "correct", "delta", "printed"),
    [(1_000, 100, 75, 1e-4, 0.673), (100_000, 1_510, 1_439, 1e-5, 2.675)],
)
def test_printed_bounds(n: int, guessed: int, correct: int, delta: float, printed: float) -> None:
    """Numbers of Steinke, Nasr and Jagielski (arXiv 2305.08846v1), Appendix D (page 46) and Section 7 (page 28).

    95 % confidence. The paper rounds the first and truncates the second (2.67585), so a unit of the last digit is
    allowed.
    """
    assert one_run.epsilon_lower(n, guessed, correct, delta=delta, alpha=ALPHA) == pytest.approx(printed, abs=1e-3)


def published_audit(inverse: one_run.InverseOfPower, m: int, c: int, guesses: int, tau: float) -> bool:
    """Whether Algorithm 3 of Mahloujifar, Melis and Chaudhuri (arXiv 2410.22235), k = 2, accepts the curve."""
    h, r = [0.0] * (c + 1), [0.0] * (c + 1)
    h[c], r[c] = tau * (guesses - c) / m, tau * c / m
    for i in range(c - 1, -1, -1):
        h[i] = max(h[i + 1], inverse(min(1.0, r[i + 1])))
        r[i] = r[i + 1] + i / (guesses - i) * (h[i] - h[i + 1])
    return r[0] + h[0] <= guesses / m


@pytest.mark.parametrize(("slope", "accepted"), [(0.5, True), (2.0, False)])
def test_decisions_of_the_authors_code(slope: float, accepted: bool) -> None:
    """Those in the test of PrivacyGuard (facebookresearch), m = 1,000, 100 of 200 guesses right, threshold 0.05."""
    assert one_run.impossible(1_000, 200, 100, lambda x: min(1.0, slope * x), ALPHA) is not accepted
    assert published_audit(lambda x: min(1.0, slope * x), 1_000, 100, 200, ALPHA) is accepted


@pytest.mark.parametrize(("n", "guessed", "correct"), [(100, 100, 70), (1_000, 300, 240), (1_000, 800, 500)])
@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5, 1.0])
def test_the_recursion_is_the_published_algorithm(n: int, guessed: int, correct: int, mu: float) -> None:
    curve = one_run.gaussian_curve(mu)
    accepted = published_audit(curve, n, correct, guessed, ALPHA)
    assert one_run.impossible(n, guessed, correct, curve, ALPHA) is not accepted


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.7, 0.0), (1.0, 0.01), (3.0, 0.2)])
def test_a_profile_of_one_point(epsilon: float, delta: float) -> None:
    one, several = one_run.approximate_curve(epsilon, delta), one_run.profile_curve([(epsilon, delta)])
    for power in np.linspace(0, 1, 101).tolist():
        assert several(power) == pytest.approx(one(power), abs=1e-15)


@pytest.mark.parametrize("guessed", [1, 10, 1000])
def test_all_right_in_closed_form(guessed: int) -> None:
    """All right with δ = 0: P(Bin(r, q) ≥ r) = q^r, so ε = logit(α^(1/r))."""
    expected = max(0.0, float(special.logit(ALPHA ** (1 / guessed))))
    bound = one_run.epsilon_lower(guessed, guessed, guessed, delta=0.0, alpha=ALPHA)
    assert bound == pytest.approx(expected, rel=1e-7)
    assert bound <= expected


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("guessed", [5, 60, 300])
def test_exact_error_for_randomised_response(epsilon: float, guessed: int) -> None:
    """Right guesses are Bin(r, q): the error, summed over all counts, is at most α, and most of α where it can be."""
    counts = np.arange(guessed + 1)
    weights = stats.binom.pmf(counts, guessed, special.expit(epsilon))
    for bound in (one_run.epsilon_lower, one_run.curve_epsilon_lower):
        wrong = np.array([bound(2 * guessed, guessed, int(k), delta=0.0, alpha=ALPHA) > epsilon for k in counts])
        error = float(weights @ wrong)
        assert error <= ALPHA
        if guessed == 300 and bound is one_run.epsilon_lower:
            assert error > ALPHA / 2


@pytest.mark.parametrize("mu", [0.0, 0.2, 1.0, 3.0])
@pytest.mark.parametrize("n", [5, 60, 300])
def test_exact_error_for_gaussian_noise(mu: float, n: int) -> None:
    """A canary in N(0, 1) noise of shift μ is guessed right with probability Φ(μ/2), independently of the others."""
    counts = np.arange(n + 1)
    weights = stats.binom.pmf(counts, n, special.ndtr(mu / 2))
    wrong = np.array([one_run.mu_lower(n, n, int(k), alpha=ALPHA) > mu for k in counts])
    assert float(weights @ wrong) <= ALPHA


def random_mechanism(rng: np.random.Generator, m: int, guessed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(coins, guesses, probabilities of guesses given coins): a random table, close to a response to every coin."""
    coins = np.array(list(itertools.product((-1, 1), repeat=m)))
    guesses = np.array([g for g in itertools.product((-1, 0, 1), repeat=m) if np.count_nonzero(g) == guessed])
    noise = rng.normal(0, rng.uniform(0.1, 1.5), (len(coins), len(guesses)))
    strength = rng.uniform(0, 2) * (coins @ guesses.T) + noise
    return coins, guesses, special.softmax(strength, axis=1)


def flips(coins: np.ndarray) -> list[tuple[int, int]]:
    return [(i, j) for i, a in enumerate(coins) for j, b in enumerate(coins) if np.count_nonzero(a != b) == 1]


@pytest.mark.parametrize("seed", range(40))
def test_theorems_hold_for_random_mechanisms(seed: int) -> None:
    """Every table of probabilities has, at each δ, a least ε; no count is likelier than both theorems allow there."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    guessed = int(rng.integers(1, m + 1))
    coins, guesses, table = random_mechanism(rng, m, guessed)
    right = ((coins[:, None, :] * guesses[None, :, :]) > 0).sum(axis=2)
    pairs = flips(coins)
    ratios = np.array([np.log(table[i] / table[j]) for i, j in pairs])
    for epsilon in (0.0, 0.5 * float(ratios.max()), float(ratios.max())):
        delta = max(float(np.maximum(0, table[i] - math.exp(epsilon) * table[j]).sum()) for i, j in pairs)
        for correct in range(guessed + 1):
            chance = float((table * (right >= correct)).sum(axis=1).mean())
            assert chance <= one_run.p_value(m, guessed, correct, epsilon=epsilon, delta=delta) + 1e-12
            curve = one_run.approximate_curve(epsilon, delta)
            assert chance <= one_run.tail_bound(m, guessed, correct, curve) + 1e-12
    grid = np.linspace(0.0, float(ratios.max()), 9)
    profile = one_run.profile_curve([
        (e, max(float(np.maximum(0, table[i] - math.exp(e) * table[j]).sum()) for i, j in pairs)) for e in grid.tolist()
    ])
    for correct in range(guessed + 1):
        chance = float((table * (right >= correct)).sum(axis=1).mean())
        assert chance <= one_run.tail_bound(m, guessed, correct, profile) + 1e-12


@pytest.mark.parametrize(("n", "guessed", "correct"), [(12, 12, 9), (12, 8, 7), (30, 20, 15), (30, 20, 20)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.7, 0.0), (1.0, 0.01)])
def test_recursion_is_the_linear_program(n: int, guessed: int, correct: int, epsilon: float, delta: float) -> None:
    """The largest P(correct ≥ v) under R_{i+1} ≤ F(H_i) for all i, by a solver; F is a minimum of lines."""
    j = np.arange(guessed + 1)
    lines = [(math.exp(epsilon), delta), (math.exp(-epsilon), 1 - math.exp(-epsilon) * (1 - delta)), (0.0, 1.0)]
    rows, limits = [], []
    for i in range(guessed):
        upper_right = np.where(j >= i + 1, j / n, 0.0)
        upper_wrong = np.where(j >= i, (guessed - j) / n, 0.0)
        for slope, offset in lines:
            rows.append(upper_right - slope * upper_wrong)
            limits.append(offset)
    solved = optimize.linprog(
        -(j >= correct).astype(float), A_ub=np.array(rows), b_ub=limits, A_eq=np.ones((1, guessed + 1)), b_eq=[1.0]
    )
    bound = one_run.tail_bound(n, guessed, correct, one_run.approximate_curve(epsilon, delta))
    assert -solved.fun == pytest.approx(bound, abs=1e-7)


def test_large_n_delta_loses_the_first_theorem_and_not_the_second() -> None:
    counts = (10_000, 300, 290)
    assert one_run.epsilon_lower(*counts, delta=1e-3, alpha=ALPHA) < 1.0
    assert one_run.curve_epsilon_lower(*counts, delta=1e-3, alpha=ALPHA) > 2.0


def test_gaussian_bound_is_the_tail_bound_inverted() -> None:
    mu = one_run.mu_lower(1000, 300, 240, alpha=ALPHA)
    assert one_run.tail_bound(1000, 300, 240, one_run.gaussian_curve(mu * 0.999)) < ALPHA
    assert one_run.tail_bound(1000, 300, 240, one_run.gaussian_curve(mu * 1.001)) > ALPHA
    assert gdp.epsilon_of(mu, 1e-5) == pytest.approx(1.8925, abs=1e-3)


@pytest.mark.parametrize("counts", [(0, 0, 0), (10, 11, 5), (10, 5, 6), (10, 0, 1), (10, 5, -1)])
def test_impossible_counts(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        one_run.epsilon_lower(*counts, delta=0.0, alpha=ALPHA)


def test_no_guesses_say_nothing() -> None:
    assert one_run.epsilon_lower(10, 0, 0, delta=0.0, alpha=ALPHA) == 0
    assert one_run.mu_lower(10, 0, 0, alpha=ALPHA) == 0
