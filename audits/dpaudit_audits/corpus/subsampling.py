"""Audit plans for noisy counts of a sample."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import FloatArray
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.subsampling import SubsampledLaplace, SubsampledLaplacePoisson
from dpaudit_audits.corpus.oracle import Oracle

RECORDS = 20
PAIR = Pair((1,) + (0,) * (RECORDS - 1), (0,) * RECORDS, "the first record is 1, or no record is")
GRID = np.linspace(-40.0, 41.0, 8101)


def cases() -> tuple[Case, ...]:
    """A change of the first record, which is always in the sample."""
    return (Case("first record", SubsampledLaplace(), (PAIR,), exact=False, expected=Verdict.FAIL),)


def poisson_cases() -> tuple[Case, ...]:
    """The same pair; the sample is random."""
    return (Case("first record", SubsampledLaplacePoisson(), (PAIR,), exact=False),)


def noise_scale(epsilon: float, rate: float) -> float:
    """1/ε₀ for ε = ln(1 + γ(e^ε₀ − 1))."""
    return 1 / math.log(1 + (math.exp(epsilon) - 1) / rate)


def above(thresholds: FloatArray, centre: float, scale: float) -> FloatArray:
    """Pr[X > t] of Laplace noise, same shape as `thresholds`."""
    z = (thresholds - centre) / scale
    tail = 0.5 * np.exp(-np.abs(z))
    probabilities: FloatArray = np.where(z > 0, tail, 1 - tail)
    return probabilities


def oracle() -> Oracle:
    """Threshold events {x > t} for descending t: noise around 1 against noise around 0."""
    mechanism = SubsampledLaplace()
    scale = noise_scale(mechanism.epsilon, mechanism.rate)
    thresholds = GRID[::-1]
    return Oracle(above(thresholds, 1, scale), above(thresholds, 0, scale))


def poisson_oracle() -> Oracle:
    """Threshold events {x > t}: the one is in the sample with probability γ, and the ratio still increases in x."""
    mechanism = SubsampledLaplacePoisson()
    scale, rate = noise_scale(mechanism.epsilon, mechanism.rate), mechanism.rate
    thresholds = GRID[::-1]
    none = above(thresholds, 0, scale)
    return Oracle((1 - rate) * none + rate * above(thresholds, 1, scale), none)


PLAN = Plan("SubsampledLaplace", cases)
POISSON_PLAN = Plan("SubsampledLaplacePoisson", poisson_cases)
