"""Laws in balls that are uniform on long runs of whole numbers (see `span_laws` for the same in doubles)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from dpaudit.language.distributions import Distribution, StepSoftmax, Uniform
from dpaudit.outputs.spans import Span
from dpaudit.stats.arb import Ball, ball

Pieces: TypeAlias = list[tuple[int, int, Ball]]
"""(start, stop, mass of the whole numbers start, …, stop − 1 together)."""


def pieces(draw: Distribution) -> Pieces | None:
    """The law of a draw from a long range; None where its probabilities are not known as balls."""
    if isinstance(draw, StepSoftmax):
        scores, coefficient = draw.scores, ball(draw.coefficient)
        values = scores.values.tolist()
        top = ball(max(values) if draw.coefficient > 0 else min(values))
        starts, stops = scores.starts.tolist(), scores.stops.tolist()
        weights = [
            ((ball(value) - top) * coefficient).exp() * (stop - start)
            for value, start, stop in zip(values, starts, stops, strict=True)
        ]
        total = sum(weights, arb(0))
        return [(start, stop, w / total) for start, stop, w in zip(starts, stops, weights, strict=True)]
    if isinstance(draw, Uniform) and isinstance(draw.outcomes, range) and draw.outcomes.step == 1:
        return [(draw.outcomes.start, draw.outcomes.stop, arb(1))]
    return None


def refined(law: Mapping[Hashable, Ball], parts: Pieces, cuts: Iterable[int] = ()) -> dict[Hashable, Ball]:
    """Single outcomes and pieces as one law: whole numbers and spans between the cuts of all pieces, and the rest.

    Args:
        law: outcomes, spans among them, and their masses.
        parts: more masses.
        cuts: where spans are cut besides.
    """
    found: dict[Hashable, Ball] = {}
    on: Pieces = list(parts)
    for value, p in law.items():
        number = _whole(value)
        if isinstance(value, Span):
            on.append((value.start, value.stop, p))
        elif number is not None:
            on.append((number, number + 1, p))
        else:
            found[value] = p
    ends = sorted({end for start, stop, _ in on for end in (start, stop)} | set(cuts))
    for start, stop, p in on:
        first, last = bisect_left(ends, start), bisect_left(ends, stop)
        for low, high in zip(ends[first:last], ends[first + 1 : last + 1], strict=True):
            key: Hashable = low if high == low + 1 else Span(low, high)
            share = p if (low, high) == (start, stop) else p * ball(Fraction(high - low, stop - start))
            found[key] = found[key] + share if key in found else share
    return found


def cuts_of(values: Iterable[Any]) -> set[int]:
    """Both ends of every span and whole number."""
    spans = [v if isinstance(v, Span) else Span(n, n + 1) for v in values if (n := _whole(v)) is not None]
    return {end for span in spans for end in (span.start, span.stop)}


def _whole(value: Any) -> int | None:
    """A whole number (1.0 and True are 1), or where a span begins."""
    if isinstance(value, Span):
        return value.start
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    return None
