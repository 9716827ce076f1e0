"""Lower bounds on privacy from one training run: guesses of which canaries were included.

Each of ``n`` canaries is included or left out by its own fair coin, and the mechanism runs once. From its output the
auditor guesses the coins of ``guessed`` canaries and abstains on the others; ``correct`` guesses are right.

**(ε, δ)**, `p_value` and `epsilon_lower`. If the mechanism is (ε, δ)-DP for adding or removing one canary, then with
W ~ Bin(guessed, e^ε / (e^ε + 1))

    P(correct ≥ v) ≤ P(W ≥ v) + 2 n δ · max over i in 1, …, v of P(v > W ≥ v − i) / i.

Source: T. Steinke, M. Nasr and M. Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023, Theorem 5.2
(the case δ = 0) and Theorem 5.3, with the algorithm of Appendix D.

**Trade-off curves**, `tail_bound` and `mu_lower`. If the mechanism is f-DP for replacing one canary's coin, write
F = 1 − f for the largest power at a type I error, p_j for the probability of exactly j correct guesses, and

    R_i = Σ_{j ≥ i} j p_j / n,   H_i = Σ_{j ≥ i} (guessed − j) p_j / n.

Flipping the coin of a canary that was guessed correctly makes one correct guess wrong. By the f-DP of that flip,
averaged over canaries and coins (F is concave), R_{i+1} ≤ F(H_i), while R_0 + H_0 = guessed / n. A probability τ of
v or more correct guesses forces R and H to grow as i falls from v to 0; if they end above guessed / n, then
P(correct ≥ v) < τ.

Source: S. Mahloujifar, L. Melis and K. Chaudhuri, "Auditing f-differential privacy in one run", ICML 2025 (arXiv
2410.22235, 2024), Theorem 3.2 (the recursion) and Algorithm 3 (with abstentions), for k = 2.

Both assume that the coins are fair, independent and unknown to whatever chose the guesses, and that ``guessed`` was
fixed before the run (only at δ = 0 does `p_value` hold also for a number of guesses that depends on the output).
Canaries may interact in the mechanism in any way. Numbers of guesses tried on the same run need a correction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from scipy import stats
from scipy.special import expit, ndtr, ndtri

from dpaudit.stats.clopper_pearson import check_alpha, check_counts, check_delta, check_epsilon

__all__ = [
    "approximate_curve", "check_guesses", "curve_epsilon_lower", "epsilon_lower", "gaussian_curve", "impossible",
    "mu_lower", "p_value", "profile_curve", "tail_bound",
]

InverseOfPower: TypeAlias = Callable[[float], float]
"""The least type I error with this power: the inverse of F = 1 − f, as a function on [0, 1]."""

_STEPS = 60
_MOST_EPSILON = 700.0
_MOST_MU = 1e3
_ROUNDING = 1e-9
"""Relative; how far above guessed / n the recursion must end."""


def check_guesses(n: int, guessed: int, correct: int) -> tuple[int, int, int]:
    """The counts as Python ints; ValueError unless 0 ≤ correct ≤ guessed ≤ n and n ≥ 1."""
    guessed, n = check_counts(guessed, n)
    if guessed == 0:
        if correct != 0:
            raise ValueError(f"{correct} correct guesses of none are impossible")
        return n, 0, 0
    correct, guessed = check_counts(correct, guessed)
    return n, guessed, correct


def p_value(n: int, guessed: int, correct: int, *, epsilon: float, delta: float) -> float:
    """A p-value of "the mechanism is (ε, δ)-DP", by the first theorem above.

    Args:
        n: canaries, each included by a fair coin of its own.
        guessed: how many coins were guessed, fixed before the run if δ > 0.
        correct: how many of these guesses are right.
        epsilon: in [0, 700].
        delta: in [0, 1].

    Raises ValueError if an argument is out of range.
    """
    n, guessed, correct = check_guesses(n, guessed, correct)
    check_epsilon(epsilon)
    check_delta(delta)
    if correct == 0:
        return 1.0
    right = float(expit(epsilon))
    tail = float(stats.binom.sf(correct - 1, guessed, right))
    if delta == 0:
        return min(1.0, tail)
    # P(v > W >= v - i), i = 1, …, v
    near = np.cumsum(stats.binom.pmf(np.arange(correct - 1, -1, -1), guessed, right))
    steepest = float((near / np.arange(1, correct + 1)).max())
    return min(1.0, tail + 2 * n * delta * steepest)


def epsilon_lower(n: int, guessed: int, correct: int, *, delta: float, alpha: float) -> float:
    """Lower confidence bound on ε at δ: every smaller ε has a p-value of at most alpha; 0.0 if there is none.

    The true tail probability increases with ε and lies below the p-value at each ε, so any ε that is rejected is a
    valid bound, whether or not the p-values increase. The result is rounded down.

    Raises ValueError as `p_value` does, or if alpha is not in (0, 1).
    """
    n, guessed, correct = check_guesses(n, guessed, correct)
    check_delta(delta)
    check_alpha(alpha)
    return _largest(
        lambda epsilon: p_value(n, guessed, correct, epsilon=epsilon, delta=delta) <= alpha, _MOST_EPSILON
    )


def gaussian_curve(mu: float) -> InverseOfPower:
    """μ-GDP for `tail_bound`: the power Φ(Φ⁻¹(x) + μ), inverted."""
    if not 0 <= mu < math.inf:
        raise ValueError(f"mu must be a finite number that is not negative, not {mu!r}")
    return lambda power: float(ndtr(ndtri(power) - mu))


def approximate_curve(epsilon: float, delta: float) -> InverseOfPower:
    """(ε, δ) for `tail_bound`: the power min(δ + e^ε x, 1 − e^−ε (1 − δ − x), 1), inverted."""
    check_epsilon(epsilon)
    check_delta(delta)
    ratio = math.exp(epsilon)
    return lambda power: max(0.0, (power - delta) / ratio, 1 - delta - ratio * (1 - power))


def profile_curve(points: Sequence[tuple[float, float]]) -> InverseOfPower:
    """Several (ε, δ) that all hold, for `tail_bound`: the smallest of their powers, inverted.

    Args:
        points: at least one (ε, δ), as for `approximate_curve`.
    """
    for epsilon, delta in points:
        check_epsilon(epsilon)
        check_delta(delta)
    epsilons, deltas = np.array(points, dtype=np.float64).T
    ratios = np.exp(epsilons)

    def inverse(power: float) -> float:
        lines = np.maximum((power - deltas) / ratios, 1 - deltas - ratios * (1 - power))
        return max(0.0, float(lines.max()))

    return inverse


def tail_bound(n: int, guessed: int, correct: int, curve: InverseOfPower) -> float:
    """A p-value of "no coin can be told better than this curve allows", by the second theorem above; rounded up.

    Args:
        n, guessed, correct: as for `p_value`; ``guessed`` must have been fixed before the run.
        curve: `gaussian_curve`, `approximate_curve` or `profile_curve`, or the inverse of another concave power curve
            of a symmetric trade-off curve.

    Raises ValueError if a count is out of range.
    """
    n, guessed, correct = check_guesses(n, guessed, correct)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if impossible(n, guessed, correct, curve, middle) else (middle, high)
    return high


def curve_epsilon_lower(n: int, guessed: int, correct: int, *, delta: float, alpha: float) -> float:
    """Lower confidence bound on ε at δ as `epsilon_lower`, by the second theorem, with `approximate_curve`.

    It loses little when n δ is large, where the first theorem loses everything, and a few thousandths otherwise.

    Raises ValueError as `epsilon_lower` does.
    """
    n, guessed, correct = check_guesses(n, guessed, correct)
    check_delta(delta)
    check_alpha(alpha)
    return _largest(
        lambda epsilon: impossible(n, guessed, correct, approximate_curve(epsilon, delta), alpha), _MOST_EPSILON
    )


def mu_lower(n: int, guessed: int, correct: int, *, alpha: float) -> float:
    """Lower confidence bound on μ: that the mechanism is μ-GDP is rejected for every smaller μ; 0.0 if for none.

    It makes no assumption about the shape of the trade-off curve: being μ-GDP is what is rejected. `gdp.epsilon_of` at
    the result assumes that the curve *is* Gaussian. Rounded down.

    Raises ValueError as `p_value` does, or if alpha is not in (0, 1).
    """
    n, guessed, correct = check_guesses(n, guessed, correct)
    check_alpha(alpha)
    return _largest(lambda mu: impossible(n, guessed, correct, gaussian_curve(mu), alpha), _MOST_MU)


def impossible(n: int, guessed: int, correct: int, curve: InverseOfPower, tail: float) -> bool:
    """Whether a probability `tail` of at least this many correct guesses contradicts the curve; see `tail_bound`."""
    if correct == 0:
        return False
    right, wrong = tail * correct / n, tail * (guessed - correct) / n
    for i in range(correct - 1, -1, -1):
        least = curve(min(right, 1.0))
        if least <= wrong:
            # right does not change either, so nothing will from here on
            break
        right += i / (guessed - i) * (least - wrong)
        wrong = least
        if right > 1:
            break
    return right + wrong > guessed / n * (1 + _ROUNDING)


def _largest(rejected: Callable[[float], bool], most: float) -> float:
    """A value that is rejected, close to the last one; 0.0 if 0 is not rejected."""
    if not rejected(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while rejected(high):
        low, high = high, 2 * high
        if high > most:
            return low
    while high - low > 1e-9 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low
