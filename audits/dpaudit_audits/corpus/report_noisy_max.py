"""Audit plans for report noisy max: indices by quadrature, largest values in closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import FloatArray
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.report_noisy_max import (
    ReportNoisyMax1,
    ReportNoisyMax2,
    ReportNoisyMax3,
    ReportNoisyMax4,
)
from dpaudit_audits.corpus.oracle import Oracle

Floats = FloatArray
Noise = Callable[[Floats], tuple[Floats, Floats]]
"""Maps points of any shape to the density and the log CDF of noise of scale 1."""

INDEX_PAIR = Pair((1, 1, 1, 1, 1), (0, 2, 2, 2, 2), "one answer moves down, all others up (published pattern)")
VALUE_PAIR = Pair((1, 1, 1, 1, 1), (2, 2, 2, 2, 2), "all answers move up (published pattern)")
SCALE = 2 / 0.1
"""2/ε for the published ε."""
NODES = 40
"""Nodes of the Gauss–Legendre rule per panel; a panel is at most one scale wide."""
REACH = 45
"""Panels below the smallest and above the largest answer; noise beyond has probability below 1e-19."""
CELLS = 200_000
"""Number of cells that the values are divided into."""


def cases_1() -> tuple[Case, ...]:
    """The published pattern with the largest true ε, 0.0946."""
    return (Case("one answer down, the others up", ReportNoisyMax1(), (INDEX_PAIR,), exact=False),)


def cases_2() -> tuple[Case, ...]:
    """A published pattern that attains ε."""
    return (Case("one answer down, the others up", ReportNoisyMax2(), (INDEX_PAIR,), exact=False),)


def cases_3() -> tuple[Case, ...]:
    """The published pattern that needs the fewest samples."""
    mechanism = ReportNoisyMax3()
    return (
        Case("all answers up", mechanism, (VALUE_PAIR,), runs=1_000_000, exact=False, expected=Verdict.FAIL),
    )


def cases_4() -> tuple[Case, ...]:
    """The published pattern that needs the fewest samples."""
    mechanism = ReportNoisyMax4()
    return (
        Case("all answers up", mechanism, (VALUE_PAIR,), runs=1_000_000, exact=False, expected=Verdict.FAIL),
    )


def oracle_1() -> Oracle:
    """By quadrature."""
    return _index_oracle(laplace)


def oracle_2() -> Oracle:
    """By quadrature."""
    return _index_oracle(exponential)


def oracle_3() -> Oracle:
    """From the distribution function of the largest value."""
    return value_oracle(VALUE_PAIR, laplace)


def oracle_4() -> Oracle:
    """From the distribution function of the largest value."""
    return value_oracle(VALUE_PAIR, exponential)


def laplace(z: Floats) -> tuple[Floats, Floats]:
    """Lap(1)."""
    tail = np.exp(-np.abs(z)) / 2
    return tail, np.where(z < 0, np.minimum(z, 0) - np.log(2), np.log1p(-tail))


def exponential(z: Floats) -> tuple[Floats, Floats]:
    """Exponential noise of mean 1; 0 counts as part of the support."""
    with np.errstate(divide="ignore"):
        return np.where(z < 0, 0.0, np.exp(-np.abs(z))), np.log(-np.expm1(-np.maximum(z, 0)))


def index_law(answers: tuple[float, ...], noise: Noise) -> Floats:
    """Probability that index i is the largest: ∫ density(x − aᵢ) Π_{j ≠ i} Pr[noise ≤ x − aⱼ] dx, shape (d,).

    Gauss–Legendre quadrature on panels that are split at every answer, where the integrand has kinks.
    """
    at = np.array(answers, dtype=np.float64) / SCALE
    cuts = np.union1d(np.arange(np.floor(at.min()) - REACH, np.ceil(at.max()) + REACH + 1), at)
    node, weight = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(cuts)[:, None] / 2
    x, w = (cuts[:-1, None] + half * (1 + node)).ravel(), (half * weight).ravel()
    density, log_below = noise(x - at[:, None])
    others = [np.exp(np.delete(log_below, i, axis=0).sum(axis=0)) for i in range(len(at))]
    probabilities: Floats = (density * np.array(others)) @ w
    return probabilities


def value_cells(answers: tuple[float, ...], noise: Noise, edges: Floats) -> Floats:
    """Probabilities of the largest value in (−∞, e₀], (e₀, e₁], …, (e_k, ∞), shape (k + 2,)."""
    log_below = noise((edges - np.array(answers, dtype=np.float64)[:, None]) / SCALE)[1].sum(axis=0)
    low, high = log_below[:-1], log_below[1:]
    # F(e₁) − F(e₀) from the logarithms, to keep precision where F is near 0 or 1
    with np.errstate(invalid="ignore"):
        inner = np.where(np.isneginf(high), 0.0, -np.exp(high) * np.expm1(low - high))
    return np.concatenate([[np.exp(log_below[0])], inner, [-np.expm1(log_below[-1])]])


def value_oracle(pair: Pair, noise: Noise) -> Oracle:
    """The oracle of the largest value, divided into small cells."""
    answers = [*pair.left, *pair.right]
    # narrow cells near the answers, with the answers as edges; the tails stay whole without loss
    edges = np.union1d(np.linspace(min(answers) - 20 * SCALE, max(answers) + 30 * SCALE, CELLS), answers)
    return Oracle.of_atoms(*(value_cells(tuple(side), noise, edges) for side in (pair.left, pair.right)))


def _index_oracle(noise: Noise) -> Oracle:
    left, right = (index_law(tuple(side), noise) for side in (INDEX_PAIR.left, INDEX_PAIR.right))
    return Oracle.of_laws(dict(enumerate(left.tolist())), dict(enumerate(right.tolist())))


PLAN_1 = Plan("ReportNoisyMax1", cases_1)
PLAN_2 = Plan("ReportNoisyMax2", cases_2)
PLAN_3 = Plan("ReportNoisyMax3", cases_3)
PLAN_4 = Plan("ReportNoisyMax4", cases_4)
