"""Audit plans for noisy counts that are post-processed with or without access to the data."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.not_post_processing import ClampedToPublicBounds, ClampedToTruth, RoundedToData
from dpaudit_audits.corpus.oracle import Oracle

COUNTS = Pair((6,), (5,), "a count of 6 against one of 5")
TWO_COUNTS = Pair((2, 8), (2, 9), "counts of 2 and 8 against 2 and 9")


def truth_cases() -> tuple[Case, ...]:
    """A count in the middle of its range."""
    return (Case("count of 5 or 6", ClampedToTruth(), (COUNTS,), exact=False, expected=Verdict.FAIL),)


def data_cases() -> tuple[Case, ...]:
    """Another count changes, and with it the set of possible answers; the output distribution is finite."""
    return (Case("two counts", RoundedToData(), (TWO_COUNTS,), expected=Verdict.FAIL),)


def public_cases() -> tuple[Case, ...]:
    """The same count, between public bounds."""
    return (Case("count of 5 or 6", ClampedToPublicBounds(), (COUNTS,), exact=False),)


def below(t: float, centre: float, epsilon: float) -> float:
    """Pr[X < t] for Laplace noise of scale 1/ε around the centre."""
    return 0.5 * math.exp(epsilon * (t - centre)) if t < centre else 1 - 0.5 * math.exp(-epsilon * (t - centre))


def truth_oracle() -> Oracle:
    """Atoms at 0, 5 and 6; (0, 5) divided into cells; the interval (5, 6)."""
    epsilon = ClampedToTruth().epsilon
    edges = np.linspace(0, 5, 501).tolist()
    six, five = ([below(t, c, epsilon) for t in edges] for c in (6, 5))
    # the mass beyond the count is at the count
    p = [six[0], *np.diff(six), 0.0, 0.5 - six[-1], 0.5]
    q = [five[0], *np.diff(five), 0.5, 0.0, 0.0]
    return Oracle.of_atoms(np.array(p), np.array(q))


def data_oracle() -> Oracle:
    """Three answers: 2 below the midpoint, otherwise 8 under D and 9 under D′."""
    epsilon = RoundedToData().epsilon
    eight, nine = 0.5 * math.exp(-3 * epsilon), 0.5 * math.exp(-3.5 * epsilon)
    return Oracle.of_laws({2: 1 - eight, 8: eight}, {2: 1 - nine, 9: nine})


def public_oracle() -> Oracle:
    """Atoms at the bounds, and cells between them; the ratio is largest at the upper bound."""
    mechanism = ClampedToPublicBounds()
    edges = np.linspace(mechanism.low, mechanism.high, 1001).tolist()
    six, five = ([below(t, c, mechanism.epsilon) for t in edges] for c in (6, 5))
    p, q = ([side[0], *np.diff(side), 1 - side[-1]] for side in (six, five))
    return Oracle.of_atoms(np.array(p), np.array(q))


TRUTH_PLAN = Plan("ClampedToTruth", truth_cases)
DATA_PLAN = Plan("RoundedToData", data_cases)
PUBLIC_PLAN = Plan("ClampedToPublicBounds", public_cases)
