"""Laws in interval arithmetic that are uniform on long runs of whole numbers (`range_laws` does this with doubles)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from dpaudit.language.distributions import Distribution, StepSoftmax, Uniform
from dpaudit.outputs.canonical import Outcome
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.stats.arb import to_interval

Pieces: TypeAlias = list[tuple[int, int, arb]]
"""(start, stop, total mass of the whole numbers start, …, stop − 1)."""


def pieces(draw: Distribution) -> Pieces | None:
    """The law of a draw from a long range; None if its probabilities have no enclosures."""
    if isinstance(draw, StepSoftmax):
        scores, coefficient = draw.scores, to_interval(draw.coefficient)
        values = scores.values.tolist()
        top = to_interval(max(values) if draw.coefficient > 0 else min(values))
        starts, stops = scores.starts.tolist(), scores.stops.tolist()
        weights = [
            ((to_interval(value) - top) * coefficient).exp() * (stop - start)
            for value, start, stop in zip(values, starts, stops, strict=True)
        ]
        total = sum(weights, arb(0))
        return [(start, stop, w / total) for start, stop, w in zip(starts, stops, weights, strict=True)]
    if isinstance(draw, Uniform) and isinstance(draw.outcomes, range) and draw.outcomes.step == 1:
        return [(draw.outcomes.start, draw.outcomes.stop, arb(1))]
    return None


def refined(
    law: Mapping[Outcome, arb], parts: Pieces, cuts: Iterable[int] = ()
) -> dict[Outcome, arb]:
    """Single outcomes and pieces as one law: whole numbers and ranges between the cuts of all pieces, and the rest.

    Args:
        law: outcomes (including ranges), and their masses.
        parts: more masses.
        cuts: additional points where ranges are cut.
    """
    masses: dict[Outcome, arb] = {}
    on: Pieces = list(parts)
    for value, p in law.items():
        number = _whole(value)
        if isinstance(value, IntegerRange):
            on.append((value.start, value.stop, p))
        elif number is not None:
            on.append((number, number + 1, p))
        else:
            masses[value] = p
    ends = sorted({end for start, stop, _ in on for end in (start, stop)} | set(cuts))
    for start, stop, p in on:
        first, last = bisect_left(ends, start), bisect_left(ends, stop)
        for low, high in zip(ends[first:last], ends[first + 1 : last + 1], strict=True):
            key: Outcome = low if high == low + 1 else IntegerRange(low, high)
            share = p if (low, high) == (start, stop) else p * to_interval(Fraction(high - low, stop - start))
            masses[key] = masses[key] + share if key in masses else share
    return masses


def cuts_of(values: Iterable[Outcome]) -> set[int]:
    """Both ends of every range and whole number."""
    ranges = [
        v if isinstance(v, IntegerRange) else IntegerRange(n, n + 1) for v in values if (n := _whole(v)) is not None
    ]
    return {end for one in ranges for end in (one.start, one.stop)}


def _whole(value: Outcome) -> int | None:
    """A whole number (1.0 and True are 1), or the start of a range."""
    if isinstance(value, IntegerRange):
        return value.start
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return None
