"""Privacy profiles in balls: intervals of doubles that contain the exact value for certain.

Balls are those of Arb (python-flint). What is certain is what follows from the balls of the probabilities; how they
came about is `interpret.balls`' affair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

Ball: TypeAlias = Any
"""An `arb`: the package has no types."""

PRECISION = 128
"""Bits of the balls that are made here."""
_STEPS = 40
"""Of a factor 16 each, by which an upper bound is raised until it is certain."""


@dataclass(frozen=True)
class Enclosure:
    """A number between `low` and `high`, for certain; infinite where both are."""

    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


def outward(number: Ball) -> Enclosure:
    """The doubles around a ball."""
    low, high = float(number.lower()), float(number.upper())
    # conversion rounds to the nearest double, which may lie inside
    return Enclosure(
        low if arb(low) <= number else math.nextafter(low, -math.inf),
        high if arb(high) >= number else math.nextafter(high, math.inf),
    )


def delta_at(p: Sequence[Ball], q: Sequence[Ball], epsilon: Ball | float) -> Ball:
    """The hockey-stick divergence of p over q, Σ max(0, p_i − e^ε q_i), shape (k,) each."""
    with ctx.workprec(PRECISION):
        ratio = arb(epsilon).exp()
        total = arb(0)
        for a, b in zip(p, q, strict=True):
            total += (a - ratio * b).max(arb(0))
        return total


def decimal(number: float) -> Ball:
    """A number of a claim, as the decimal that it was written as: 0.1 is one tenth."""
    exact = Fraction(repr(float(number)))
    with ctx.workprec(PRECISION):
        return arb(fmpq(exact.numerator, exact.denominator))


def epsilon_at(p: Sequence[Ball], q: Sequence[Ball], delta: Ball | float) -> Enclosure:
    """The smallest ε ≥ 0 at which the profile of p over q is at most δ.

    By Neyman and Pearson that is max over events E of ln((p(E) − δ)/q(E)): any event bounds it from below, and the
    profile at a shade more, if it is at most δ there, from above.

    Args:
        p, q: balls of the probabilities of the same outcomes, shape (k,).
        delta: in [0, 1]; a float is taken as the double that it is.
    """
    with ctx.workprec(PRECISION):
        allowed = arb(delta)
        outside = arb(0)
        for a, b in zip(p, q, strict=True):
            if b.is_zero():
                outside += a
        if outside > allowed:
            return Enclosure(math.inf, math.inf)
        if delta == 0:
            losses = [(a / b).log() for a, b in zip(p, q, strict=True) if not a.is_zero() and not b.is_zero()]
            least = arb(0)
            for loss in losses:
                least = least.max(loss)
            found = outward(least)
            return Enclosure(max(0.0, found.low), found.high)
        if delta_at(p, q, 0) <= allowed:
            return Enclosure(0.0, 0.0)
        return _between(p, q, allowed)


def _between(p: Sequence[Ball], q: Sequence[Ball], allowed: Ball) -> Enclosure:
    order = sorted(range(len(p)), key=lambda i: _loss(p[i], q[i]), reverse=True)
    best, mass, other = arb(0), arb(0), arb(0)
    for i in order:
        mass, other = mass + p[i], other + q[i]
        if mass > allowed and other > 0:
            # an event of its own right, whatever the order: the bound holds
            bound = ((mass - allowed) / other).log()
            if bound.mid() > best.mid():
                best = bound
    low = outward(best).low
    above = best.upper()
    step = (1 + above) * arb(2) ** -90
    for _ in range(_STEPS):
        above += step
        if delta_at(p, q, above) <= allowed:
            return Enclosure(max(0.0, low), outward(above).high)
        step *= 16
    return Enclosure(max(0.0, low), math.inf)


def _loss(a: Ball, b: Ball) -> float:
    if b.is_zero():
        return math.inf
    return -math.inf if a.is_zero() else float((a / b).log().mid())
