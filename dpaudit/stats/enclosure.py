"""Privacy profiles in interval arithmetic (Arb): intervals of doubles that provably contain the exact value.

The result is rigorous given enclosures of the probabilities, which `interpret.enclosures` computes with Arb
(python-flint).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

PRECISION = 128
"""Precision of the intervals created here, in bits."""
_STEPS = 40
"""Number of attempts to raise an upper bound, by a factor 16 each, until it is certain."""


@dataclass(frozen=True)
class Enclosure:
    """A number that provably lies between `low` and `high`; infinite if both are."""

    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


def outward(number: arb) -> Enclosure:
    """The tightest doubles around an interval."""
    low, high = float(number.lower()), float(number.upper())
    # conversion rounds to the nearest double, which may lie inside
    return Enclosure(
        low if arb(low) <= number else math.nextafter(low, -math.inf),
        high if arb(high) >= number else math.nextafter(high, math.inf),
    )


def delta_at(p: Sequence[arb], q: Sequence[arb], epsilon: arb | float) -> arb:
    """The hockey-stick divergence of p over q, Σ max(0, p_i − e^ε q_i), shape (k,) each."""
    with ctx.workprec(PRECISION):
        ratio = arb(epsilon).exp()
        total = arb(0)
        for a, b in zip(p, q, strict=True):
            total += (a - ratio * b).max(arb(0))
        return total


def decimal(number: float) -> arb:
    """A number in a claim, as the decimal that it was written as: 0.1 is one tenth."""
    exact = Fraction(repr(float(number)))
    with ctx.workprec(PRECISION):
        return arb(fmpq(exact.numerator, exact.denominator))


def epsilon_at(p: Sequence[arb], q: Sequence[arb], delta: arb | float) -> Enclosure:
    """The smallest ε ≥ 0 at which the profile of p over q is at most δ.

    By the Neyman-Pearson lemma this is the maximum over events E of ln((p(E) − δ)/q(E)). Any event gives a lower bound;
    a slightly larger ε at which the profile is at most δ is an upper bound.

    Args:
        p, q: enclosures of the probabilities of the same outcomes, shape (k,).
        delta: in [0, 1]; a float means exactly that double.
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
            enclosure = outward(least)
            return Enclosure(max(0.0, enclosure.low), enclosure.high)
        if delta_at(p, q, 0) <= allowed:
            return Enclosure(0.0, 0.0)
        return _between(p, q, allowed)


def _between(p: Sequence[arb], q: Sequence[arb], allowed: arb) -> Enclosure:
    order = sorted(range(len(p)), key=lambda i: _loss(p[i], q[i]), reverse=True)
    best, mass, other = arb(0), arb(0), arb(0)
    for i in order:
        mass, other = mass + p[i], other + q[i]
        if mass > allowed and other > 0:
            # any event gives a valid bound, regardless of the order
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


def _loss(a: arb, b: arb) -> float:
    if b.is_zero():
        return math.inf
    return -math.inf if a.is_zero() else float((a / b).log().mid())
