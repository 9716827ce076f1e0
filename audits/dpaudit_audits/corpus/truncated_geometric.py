"""Audit plans for GeoSample under both readings of its logarithm."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.truncated_geometric import TruncatedGeometric, TruncatedGeometricBase2
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((0,), (1,), "a count of 0 against 1")


def cases() -> tuple[Case, ...]:
    """A count of 0 against 1: the output 0 has probability 9/17 against 8/17."""
    return (Case("a count of 0 against 1", TruncatedGeometric(), (PAIR,), runs=1_000_000, expected=Verdict.FAIL),)


def base2_cases() -> tuple[Case, ...]:
    """A count of 0 against 1: the output 0 has probability 33/65 against 32/65."""
    return (Case("a count of 0 against 1", TruncatedGeometricBase2(), (PAIR,)),)


def oracle() -> Oracle:
    """From the truncated geometric distribution with e^ε = 9/8."""
    return _oracle(Fraction(9, 8))


def base2_oracle() -> Oracle:
    """From the truncated geometric distribution with e^ε = 33/32."""
    return _oracle(Fraction(33, 32))


def truncated_geometric(growth: Fraction, n: int, count: int) -> dict[int, Fraction]:
    """The exact distribution of two-sided geometric noise, Pr[z] ∝ growth^−|z − count|, clamped to {0, …, n}."""
    shrink = 1 / growth
    peak = (1 - shrink) / (1 + shrink)
    law = {z: peak * shrink ** abs(z - count) for z in range(1, n)}
    # geometric series: everything at 0 or below, and everything at n or above
    law[0] = shrink**count / (1 + shrink)
    law[n] = shrink ** (n - count) / (1 + shrink)
    return law


def _oracle(growth: Fraction) -> Oracle:
    n = TruncatedGeometric().n
    left, right = (truncated_geometric(growth, n, count) for side in (PAIR.left, PAIR.right) for count in side)
    return Oracle.of_laws({z: float(p) for z, p in left.items()}, {z: float(p) for z, p in right.items()})


PLAN = Plan("TruncatedGeometric", cases)
BASE2_PLAN = Plan("TruncatedGeometricBase2", base2_cases)
