"""The probabilities of a finite draw as balls: intervals that contain them, whatever was rounded on the way.

The numbers that a program hands to its draws (scores, scales, thresholds) are whole numbers, fractions or enclosed
numbers (`language.enclosed`); a double of many digits, which may have been rounded, is noted. From them on every number
is an interval of Arb (F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE
Transactions on Computers 2017).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import singledispatch
from itertools import pairwise
from typing import Any

from flint import arb

from dpaudit.errors import NotEnumerableError
from dpaudit.language.distributions import (
    Bernoulli,
    Categorical,
    Clipped,
    ClippedInteger,
    CutGeometric,
    DiscreteLaplace,
    Finite,
    Gaussian,
    Laplace,
    LevelSoftmax,
    Mapped,
    Multinomial,
    NoisyCopies,
    Product,
    RandomOrder,
    RandomPairing,
    Repeated,
    Snapping,
    Softmax,
    Uniform,
)
from dpaudit.language.distributions.base import Tail, plain
from dpaudit.outputs.canonical import canonical
from dpaudit.stats.arb import HALF, Ball, ball
from dpaudit.stats.enclosed import keying


@singledispatch
def probabilities(draw: Finite) -> list[Ball]:
    """The probabilities of a draw's values, in their order.

    A draw of a kind that is not known here counts as a table of doubles, which is scaled to sum to 1.

    Raises:
        NotEnumerableError: a part of it cannot be enumerated.
    """
    return _scaled([ball(p) for p in draw.probs.tolist()])


@probabilities.register
def _(draw: Categorical) -> list[Ball]:
    return _scaled([ball(p) for p in draw.probabilities])


@probabilities.register
def _(draw: Bernoulli) -> list[Ball]:
    if draw.event is not None:
        return [_tail(draw.event), _tail(draw.event.opposite)]
    if draw.complement is None or draw.p < draw.complement:
        return [ball(draw.p), 1 - ball(draw.p)]
    return [1 - ball(draw.complement), ball(draw.complement)]


@probabilities.register
def _(draw: Uniform) -> list[Ball]:
    return [1 / arb(len(draw.outcomes))] * len(draw.outcomes)


@probabilities.register
def _(draw: RandomOrder) -> list[Ball]:
    return [1 / arb(draw.orders)] * len(draw.values)


@probabilities.register
def _(draw: Softmax) -> list[Ball]:
    coefficient = ball(draw.coefficient)
    scores = draw.scores.tolist()
    top = ball(max(scores) if draw.coefficient > 0 else min(scores))
    with keying():
        weights = {score: ((ball(score) - top) * coefficient).exp() for score in set(scores)}
        return _scaled([weights[score] for score in scores])


@probabilities.register
def _(draw: LevelSoftmax) -> list[Ball]:
    coefficient, levels = ball(draw.coefficient), draw.each.tolist()
    top = max(levels) if draw.coefficient > 0 else min(levels)
    weights = {level: (coefficient * (level - top)).exp() for level in set(levels)}
    return _scaled([weights[level] for level in levels])


@probabilities.register
def _(draw: Mapped) -> list[Ball]:
    if not isinstance(draw.base, Finite):
        raise NotEnumerableError(f"{draw.base!r} cannot be enumerated: {draw.base.remedy}.")
    merged: dict[Hashable, Ball] = {}
    for value, p in zip(plain(draw.base.values), probabilities(draw.base), strict=True):
        image = canonical(draw.function(value))
        merged[image] = merged[image] + p if image in merged else p
    return list(merged.values())


@probabilities.register
def _(draw: Product | NoisyCopies | Repeated) -> list[Ball]:
    joint = [arb(1)]
    for part in draw.parts:
        if not isinstance(part, Finite):
            raise NotEnumerableError(f"{part!r} cannot be enumerated: {part.remedy}.")
        each = probabilities(part)
        joint = [p * q for p in joint for q in each]
    return joint


@probabilities.register
def _(draw: RandomPairing | Multinomial) -> list[Ball]:
    return [ball(p) for p in draw.fractions().values()]


@probabilities.register
def _(draw: CutGeometric) -> list[Ball]:
    rate = ball(draw.rate)
    tails = [(-k * rate).exp() for k in range(draw.most + 1)]  # Pr[G ≥ k]
    return [*(high - low for high, low in pairwise(tails)), tails[-1]]


@probabilities.register
def _(draw: ClippedInteger) -> list[Ball]:
    cuts = [c + (0 if draw.up else 1) for c in range(draw.low, draw.high)]
    if not cuts:
        return [arb(1)]
    noise = draw.base
    tails = [_below(noise, c) + (_at(noise, c) if draw.up else 0) for c in cuts]
    inner = [high - low for low, high in pairwise(tails)]
    return [tails[0], *inner, _above(noise, cuts[-1]) + (0 if draw.up else _at(noise, cuts[-1]))]


def _scaled(weights: list[Ball]) -> list[Ball]:
    total = arb(0)
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def _tail(event: Tail) -> Ball:
    side = _below(event.noise, event.t) if event.low else _above(event.noise, event.t)
    return side + _at(event.noise, event.t) if event.closed else side


@singledispatch
def _below(noise: Any, t: float) -> Ball:
    """Pr[noise < t]."""
    raise NotEnumerableError(f"{noise!r} has no probabilities to any precision; use Laplace or Gaussian noise.")


@singledispatch
def _above(noise: Any, t: float) -> Ball:
    """Pr[noise > t]; of a symmetric noise by its mirror image."""
    return 1 - _below(noise, t) - _at(noise, t)


@singledispatch
def _at(noise: Any, t: float) -> Ball:
    """Pr[noise = t]."""
    return arb(0)


@_below.register
def _(noise: Laplace, t: float) -> Ball:
    return _laplace_below((ball(t) - ball(noise.loc)) / ball(noise.scale), left=t < noise.loc)


@_above.register
def _(noise: Laplace, t: float) -> Ball:
    return _laplace_below((ball(noise.loc) - ball(t)) / ball(noise.scale), left=t > noise.loc)


@_below.register
def _(noise: Gaussian, t: float) -> Ball:
    return ((ball(noise.mean) - ball(t)) / (ball(noise.sigma) * arb(2).sqrt())).erfc() * HALF


@_above.register
def _(noise: Gaussian, t: float) -> Ball:
    return ((ball(t) - ball(noise.mean)) / (ball(noise.sigma) * arb(2).sqrt())).erfc() * HALF


@_below.register
def _(noise: Clipped, t: float) -> Ball:
    return arb(0) if t <= noise.low else arb(1) if t > noise.high else _below(noise.base, t)


@_above.register
def _(noise: Clipped, t: float) -> Ball:
    return arb(0) if t >= noise.high else arb(1) if t < noise.low else _above(noise.base, t)


@_at.register
def _(noise: Clipped, t: float) -> Ball:
    if noise.low == noise.high == t:
        return arb(1)
    if t == noise.low:
        return _below(noise.base, t) + _at(noise.base, t)
    if t == noise.high:
        return _above(noise.base, t) + _at(noise.base, t)
    return _at(noise.base, t) if noise.low < t < noise.high else arb(0)


@_below.register
def _(noise: DiscreteLaplace, t: float) -> Ball:
    return _geometric_from(noise, noise.loc - (math.ceil(t) - 1)) if abs(t) < math.inf else arb(float(t > 0))


@_above.register
def _(noise: DiscreteLaplace, t: float) -> Ball:
    return _geometric_from(noise, math.floor(t) + 1 - noise.loc) if abs(t) < math.inf else arb(float(t < 0))


@_at.register
def _(noise: DiscreteLaplace, t: float) -> Ball:
    if not abs(t) < math.inf or t != math.floor(t):
        return arb(0)
    a = (-1 / ball(noise.scale)).exp()
    return (1 - a) / (1 + a) * (-abs(int(t) - noise.loc) / ball(noise.scale)).exp()


@_below.register
def _(noise: Snapping, t: float) -> Ball:
    if t <= -noise.bound:
        return arb(0)
    return arb(1) if t > noise.bound else _snapped_below(noise, math.ceil(t / noise.step))


@_above.register
def _(noise: Snapping, t: float) -> Ball:
    if t >= noise.bound:
        return arb(0)
    return arb(1) if t < -noise.bound else 1 - _snapped_below(noise, math.floor(t / noise.step) + 1)


@_at.register
def _(noise: Snapping, t: float) -> Ball:
    if t == -noise.bound:
        return _snapped_below(noise, math.floor(t / noise.step) + 1)
    if t == noise.bound:
        return 1 - _snapped_below(noise, math.ceil(t / noise.step))
    if abs(t) > noise.bound or t % noise.step != 0:
        return arb(0)
    k = round(t / noise.step)
    return _snapped_below(noise, k + 1) - _snapped_below(noise, k)


def _laplace_below(z: Ball, *, left: bool) -> Ball:
    """Pr[X < z] for Laplace noise of scale 1; `left`: z < 0."""
    return z.exp() * HALF if left else 1 - (-z).exp() * HALF


def _geometric_from(noise: DiscreteLaplace, steps: int) -> Ball:
    """Pr[X ≥ loc + steps], and by symmetry Pr[X ≤ loc − steps]."""
    scale = ball(noise.scale)
    over = 1 + (-1 / scale).exp()
    return (-steps / scale).exp() / over if steps > 0 else 1 - (-(1 - steps) / scale).exp() / over


def _snapped_below(noise: Snapping, k: int) -> Ball:
    """Pr[snapped noise < k·Λ], in real arithmetic."""
    cut = (k - HALF) * arb(noise.step)  # a power of two
    centre = min(max(noise.value, -noise.bound), noise.bound)
    return _laplace_below((cut - ball(centre)) / ball(noise.scale), left=(k - 0.5) * noise.step < centre)
