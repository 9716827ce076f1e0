"""Audit plans for one noisy count in floating point."""

from __future__ import annotations

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import BoolArray, FloatArray
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.floating_point import DiscreteLaplaceMechanism, FloatingPointLaplace, SnappingLaplace
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((0,), (1,), "a count of 0 against one of 1")
ORACLE_RUNS = 2_000_000


def floating_point_cases() -> tuple[Case, ...]:
    """The output doubles reveal the count; over the reals the claim holds."""
    bits = Case(
        "count of 0 or 1, as doubles", FloatingPointLaplace(), (PAIR,), exact=False, bits=True, expected=Verdict.FAIL
    )
    return (bits,)


def snapping_cases() -> tuple[Case, ...]:
    """The same count, snapped, also tested for its low-order bits."""
    return (Case("count of 0 or 1, as doubles", SnappingLaplace(), (PAIR,), exact=False, bits=True),)


def discrete_cases() -> tuple[Case, ...]:
    """The same count with noise on the integers."""
    return (Case("count of 0 or 1", DiscreteLaplaceMechanism(), (PAIR,)),)


def fine(outputs: FloatArray) -> BoolArray:
    """|x| < 1 and x is not a multiple of 2^-53: impossible at a count of 1.

    Let y = fl(1 + z) with |y| < 1. Then z < 0, and z lies in (−2, 0). If z ≤ −1/2, z is a multiple of 2^-53 (doubles of
    [1/2, 2) are), and so is 1 + z, whose rounding keeps it. If z > −1/2, 1 + z lies in (1/2, 1), where all doubles are
    multiples of 2^-53. At a count of 0 the answer is z itself, and near 0 doubles are far finer than that.
    """
    scaled = outputs * 2.0**53  # exact: a power of two
    in_event: BoolArray = (np.abs(outputs) < 1) & (scaled != np.floor(scaled))
    return in_event


def floating_point_oracle() -> Oracle:
    """The event `fine`: its probability estimated from seeded runs at a count of 0, and 0 at a count of 1.

    Better events on the bits of doubles exist; this one is proved.
    """
    outputs = FloatingPointLaplace().bulk(PAIR.left, ORACLE_RUNS, np.random.default_rng(2012))
    p = float(fine(outputs).mean())
    return Oracle(np.array([p, 1.0]), np.array([0.0, 1.0]), exact=False)


def snapping_oracle() -> Oracle:
    """The atoms of the output distribution in real arithmetic: ±B and the multiples of Λ between."""
    mechanism = SnappingLaplace()
    left, right = (mechanism.run(dataset) for dataset in (PAIR.left, PAIR.right))
    steps = round(left.bound / left.step)
    atoms = [k * left.step for k in range(-steps, steps + 1)]
    return Oracle.of_atoms(np.array([left.at(x) for x in atoms]), np.array([right.at(x) for x in atoms]))


def discrete_oracle() -> Oracle:
    """Threshold events on the integers, with geometric tails."""
    a = np.exp(-DiscreteLaplaceMechanism().epsilon)
    thresholds = np.arange(-150, 152)  # beyond that, complements of the tails lose precision

    def at_most(count: int) -> FloatArray:
        steps = np.abs(thresholds - count)
        below, above = a**steps / (1 + a), 1 - a ** (steps + 1) / (1 + a)
        probabilities: FloatArray = np.where(thresholds <= count, below, above)
        return probabilities

    return Oracle(at_most(0), at_most(1))


FLOATING_POINT_PLAN = Plan("FloatingPointLaplace", floating_point_cases)
SNAPPING_PLAN = Plan("SnappingLaplace", snapping_cases)
DISCRETE_PLAN = Plan("DiscreteLaplaceMechanism", discrete_cases)
