"""Bounds of divergences, of the μ of Gaussian DP and of profiles, from bounds of probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import norm

from dpaudit.stats.log_bounds import LogBounds, divergences, gaussian_mu, profile

ORDERS = np.array([1.001, 2.0, 8.0, 300.0, math.inf])
EPSILONS = np.array([0.0, 0.3, 1.0, 5.0])


def distribution(rng: np.random.Generator, k: int, *, zeros: bool = False) -> list[Fraction]:
    """Rational probabilities over some orders of magnitude."""
    weights = [Fraction(int(w)) for w in np.ceil(np.exp(rng.uniform(0, 12, k)))]
    if zeros:
        weights[int(rng.integers(k))] = Fraction(0)
    return [w / sum(weights) for w in weights]


def intervals(probabilities: list[Fraction]) -> list[arb]:
    with ctx.workprec(200):
        return [arb(fmpq(p.numerator, p.denominator)) for p in probabilities]


def exact_divergence(p: list[Fraction], q: list[Fraction], order: float) -> arb:
    with ctx.workprec(300):
        both = list(zip(intervals(p), intervals(q), strict=True))
        if any(a > 0 and b.is_zero() for a, b in both):
            return arb("inf")
        if math.isinf(order):
            most = arb(0)
            for a, b in both:
                most = most.max((a / b).log()) if a > 0 else most
            return most
        total = sum(((a.log() + (a.log() - b.log()) * (arb(order) - 1)).exp() for a, b in both if a > 0), arb(0))
        return total.log() / (arb(order) - 1)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_bounds_hold_the_exact_values(seed: int, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    p, q = distribution(rng, 6), distribution(rng, 6, zeros=zeros)
    bounds = LogBounds.of_intervals(intervals(p), intervals(q))
    low, high = divergences(bounds, ORDERS)
    for i, order in enumerate(ORDERS.tolist()):
        exact = exact_divergence(p, q, order)
        assert not arb(low[i]) > exact
        assert not arb(high[i]) < exact
        assert math.isinf(low[i]) or high[i] - low[i] < 1e-9 * max(1.0, low[i])
    low, high = profile(bounds, EPSILONS)
    for i, epsilon in enumerate(EPSILONS.tolist()):
        with ctx.workprec(200):
            ratio = arb(epsilon).exp()
            delta = sum(((a - ratio * b).max(arb(0)) for a, b in zip(intervals(p), intervals(q), strict=True)), arb(0))
        assert not arb(low[i]) > delta
        assert not arb(high[i]) < delta
        assert high[i] - low[i] < 1e-13


def least_mu(p: list[float], q: list[float]) -> float:
    """Over all events, in both directions."""
    events = chain.from_iterable(combinations(range(len(p)), r) for r in range(1, len(p)))
    needed = [0.0]
    for event in events:
        a, b = math.fsum(p[i] for i in event), math.fsum(q[i] for i in event)
        needed += [float(norm.ppf(a) - norm.ppf(b)), float(norm.ppf(b) - norm.ppf(a))]
    return max(needed)


@pytest.mark.parametrize("seed", range(20))
def test_the_least_mu_is_that_of_all_events(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), 2).tolist()
    bounds = LogBounds.of_doubles(p, p, q, q)
    low, high = (np.maximum(a, b) for a, b in zip(gaussian_mu(bounds), gaussian_mu(bounds.turned), strict=True))
    assert low == pytest.approx(least_mu(p, q), abs=1e-12)
    assert high == pytest.approx(least_mu(p, q), abs=1e-12)
    assert low <= high
    # the order in which pairs are given, and other pairs beside them, change nothing
    stacked = LogBounds.of_doubles([p, q], [p, q], [q, p], [q, p])
    assert gaussian_mu(stacked)[1].max() == high


@pytest.mark.parametrize("seed", range(20))
def test_wide_bounds_hold_whatever_the_probabilities_are(seed: int) -> None:
    """Of 200 pairs within the bounds, none is outside of what these give."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), 2)
    width = 0.3
    ends = [np.maximum(0, one * scale) for one in (p, q) for scale in (1 - width, 1 + width)]
    bounds = LogBounds.of_doubles(*ends)
    mu = [np.maximum(a, b) for a, b in zip(gaussian_mu(bounds), gaussian_mu(bounds.turned), strict=True)]
    deltas, orders = profile(bounds, EPSILONS), divergences(bounds, ORDERS)
    for _ in range(200):
        a, b = p * rng.uniform(1 - width, 1 + width, 5), q * rng.uniform(1 - width, 1 + width, 5)
        a[0], b[0] = 1 - a[1:].sum(), 1 - b[1:].sum()
        if not (ends[0][0] <= a[0] <= ends[1][0] and ends[2][0] <= b[0] <= ends[3][0]):
            continue
        one = LogBounds.of_doubles(a, a, b, b)
        assert mu[0] - 1e-12 <= least_mu(a.tolist(), b.tolist()) <= mu[1] + 1e-12
        assert (profile(one, EPSILONS)[0] <= deltas[1]).all()
        assert (profile(one, EPSILONS)[1] >= deltas[0]).all()
        assert (divergences(one, ORDERS)[0] <= orders[1]).all()
        assert (divergences(one, ORDERS)[1] >= orders[0]).all()


def test_probabilities_that_no_double_holds_keep_their_ratio() -> None:
    with ctx.workprec(128):
        p, q = arb(-800).exp(), arb(-803).exp()
        bounds = LogBounds.of_intervals([p, 1 - p], [q, 1 - q])
    low, high = divergences(bounds, np.array([2.0, math.inf]))
    assert high[1] == pytest.approx(3.0, abs=1e-9)
    assert low[1] == pytest.approx(3.0, abs=1e-9)
    assert high[0] < 1e-9
    low_mu, high_mu = gaussian_mu(bounds)
    assert high_mu == pytest.approx(low_mu, abs=1e-9)
    # Φ⁻¹(e^-800) is about −40
    assert 0.07 < high_mu < 0.08
    doubles = LogBounds.about([0.0, 1.0], [0.0, 1.0], error=1e-11)
    assert divergences(doubles, np.array([math.inf]))[1] == math.inf, "what doubles lost may have any ratio"
