"""Audit plans for Gaussian noise on one answer."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.gaussian import (
    GaussianAnalytic,
    GaussianClassical,
    GaussianClassicalLargeEpsilon,
    GaussianHalfSigma,
)
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((0.0,), (1.0,), "an answer of 0 against one of 1")


def classical_cases() -> tuple[Case, ...]:
    """The calibration in its range."""
    return (Case("(1, 1e-5)", GaussianClassical(), (PAIR,)),)


def half_cases() -> tuple[Case, ...]:
    """Half of the noise, at two δ."""
    return (
        Case(
            "(1, 1e-5)", GaussianHalfSigma(), (PAIR,), runs=1_000_000, expected=Verdict.FAIL
        ),
        Case(
            "(1, 1e-3)", GaussianHalfSigma(1.0, 1e-3), (PAIR,), runs=1_000_000, expected=Verdict.FAIL
        ),
    )


def large_cases() -> tuple[Case, ...]:
    """The calibration far outside its range, where samples can still detect the violation."""
    large = GaussianClassicalLargeEpsilon()
    return (Case("(7, 0.2)", large, (PAIR,), runs=1_000_000, expected=Verdict.FAIL),)


def analytic_cases() -> tuple[Case, ...]:
    """The same ε and δ with enough noise."""
    return (Case("(7, 0.2)", GaussianAnalytic(), (PAIR,), runs=1_000_000),)


def classical_oracle() -> Oracle:
    """Threshold events."""
    return threshold_events(GaussianClassical().sigma)


def half_oracle() -> Oracle:
    """Threshold events, at (1, 1e-5)."""
    return threshold_events(GaussianHalfSigma().sigma)


def large_oracle() -> Oracle:
    """Threshold events."""
    return threshold_events(GaussianClassicalLargeEpsilon().sigma)


def analytic_oracle() -> Oracle:
    """Threshold events."""
    return threshold_events(GaussianAnalytic().sigma)


def threshold_events(sigma: float) -> Oracle:
    """{x ≤ t} for N(0, σ²) against N(1, σ²): optimal events, because the likelihood ratio decreases in x."""
    thresholds = 0.5 + np.linspace(-12, 12, 8001) * max(sigma, 0.5)
    return Oracle(ndtr(thresholds / sigma), ndtr((thresholds - 1) / sigma))


CLASSICAL_PLAN = Plan("GaussianClassical", classical_cases)
HALF_PLAN = Plan("GaussianHalfSigma", half_cases)
LARGE_PLAN = Plan("GaussianClassicalLargeEpsilon", large_cases)
ANALYTIC_PLAN = Plan("GaussianAnalytic", analytic_cases)
