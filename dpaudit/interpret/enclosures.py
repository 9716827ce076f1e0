"""Enclosures of the probabilities of a finite draw: intervals that contain them despite all rounding.

The numbers that a program passes to its draws (scores, scales, thresholds) are whole numbers, fractions or enclosed
numbers (`stats.enclosed`); a double with many digits, which may have been rounded, is recorded. From there on every
number is an Arb interval (F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE
Transactions on Computers 2017).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import singledispatch
from itertools import pairwise

from flint import arb

from dpaudit.errors import NotEnumerableError
from dpaudit.language.distributions import (
    Bernoulli,
    Categorical,
    Clipped,
    ClippedInteger,
    CutGeometric,
    DiscreteLaplace,
    Distribution,
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
from dpaudit.stats.arb import HALF, to_interval
from dpaudit.stats.enclosed import keying


@singledispatch
def probabilities(draw: Finite) -> list[arb]:
    """The probabilities of a draw's values, in order.

    A draw of unknown type counts as a table of doubles, which is scaled to sum to 1.

    Raises:
        NotEnumerableError: a part of the draw cannot be enumerated.
    """
    return _scaled([to_interval(p) for p in draw.probs.tolist()])


@probabilities.register
def _(draw: Categorical) -> list[arb]:
    return _scaled([to_interval(p) for p in draw.probabilities])


@probabilities.register
def _(draw: Bernoulli) -> list[arb]:
    if draw.event is not None:
        return [_tail(draw.event), _tail(draw.event.opposite)]
    if draw.complement is None or draw.p < draw.complement:
        return [to_interval(draw.p), 1 - to_interval(draw.p)]
    return [1 - to_interval(draw.complement), to_interval(draw.complement)]


@probabilities.register
def _(draw: Uniform) -> list[arb]:
    return [1 / arb(len(draw.outcomes))] * len(draw.outcomes)


@probabilities.register
def _(draw: RandomOrder) -> list[arb]:
    return [1 / arb(draw.orders)] * len(draw.values)


@probabilities.register
def _(draw: Softmax) -> list[arb]:
    coefficient = to_interval(draw.coefficient)
    scores = draw.scores.tolist()
    top = to_interval(max(scores) if draw.coefficient > 0 else min(scores))
    with keying():
        weights = {score: ((to_interval(score) - top) * coefficient).exp() for score in set(scores)}
        return _scaled([weights[score] for score in scores])


@probabilities.register
def _(draw: LevelSoftmax) -> list[arb]:
    coefficient, levels = to_interval(draw.coefficient), draw.each.tolist()
    top = max(levels) if draw.coefficient > 0 else min(levels)
    weights = {level: (coefficient * (level - top)).exp() for level in set(levels)}
    return _scaled([weights[level] for level in levels])


@probabilities.register
def _(draw: Mapped) -> list[arb]:
    if not isinstance(draw.base, Finite):
        raise NotEnumerableError(f"{draw.base!r} cannot be enumerated; {draw.base.remedy}.")
    merged: dict[Hashable, arb] = {}
    for value, p in zip(plain(draw.base.values), probabilities(draw.base), strict=True):
        image = canonical(draw.function(value))
        merged[image] = merged[image] + p if image in merged else p
    return list(merged.values())


@probabilities.register
def _(draw: Product | NoisyCopies | Repeated) -> list[arb]:
    joint = [arb(1)]
    for part in draw.parts:
        if not isinstance(part, Finite):
            raise NotEnumerableError(f"{part!r} cannot be enumerated; {part.remedy}.")
        each = probabilities(part)
        joint = [p * q for p in joint for q in each]
    return joint


@probabilities.register
def _(draw: RandomPairing | Multinomial) -> list[arb]:
    return [to_interval(p) for p in draw.fractions().values()]


@probabilities.register
def _(draw: CutGeometric) -> list[arb]:
    rate = to_interval(draw.rate)
    tails = [(-k * rate).exp() for k in range(draw.most + 1)]  # Pr[G ≥ k]
    return [*(high - low for high, low in pairwise(tails)), tails[-1]]


@probabilities.register
def _(draw: ClippedInteger) -> list[arb]:
    cuts = [c + (0 if draw.up else 1) for c in range(draw.low, draw.high)]
    if not cuts:
        return [arb(1)]
    noise = draw.base
    tails = [_below(noise, c) + (_at(noise, c) if draw.up else 0) for c in cuts]
    inner = [high - low for low, high in pairwise(tails)]
    return [tails[0], *inner, _above(noise, cuts[-1]) + (0 if draw.up else _at(noise, cuts[-1]))]


def _scaled(weights: list[arb]) -> list[arb]:
    total = arb(0)
    for weight in weights:
        total += weight
    return [weight / total for weight in weights]


def _tail(event: Tail) -> arb:
    strict = _below(event.noise, event.t) if event.low else _above(event.noise, event.t)
    return strict + _at(event.noise, event.t) if event.closed else strict


@singledispatch
def _below(noise: Distribution, t: float) -> arb:
    """Pr[noise < t]."""
    raise NotEnumerableError(
        f"The probabilities of {noise!r} are not known to arbitrary precision; use Laplace or Gaussian noise."
    )


@singledispatch
def _above(noise: Distribution, t: float) -> arb:
    """Pr[noise > t]; by reflection for symmetric noise."""
    return 1 - _below(noise, t) - _at(noise, t)


@singledispatch
def _at(noise: Distribution, t: float) -> arb:
    """Pr[noise = t]."""
    return arb(0)


@_below.register
def _(noise: Laplace, t: float) -> arb:
    return _laplace_below((to_interval(t) - to_interval(noise.loc)) / to_interval(noise.scale), left=t < noise.loc)


@_above.register
def _(noise: Laplace, t: float) -> arb:
    return _laplace_below((to_interval(noise.loc) - to_interval(t)) / to_interval(noise.scale), left=t > noise.loc)


@_below.register
def _(noise: Gaussian, t: float) -> arb:
    return ((to_interval(noise.mean) - to_interval(t)) / (to_interval(noise.sigma) * arb(2).sqrt())).erfc() * HALF


@_above.register
def _(noise: Gaussian, t: float) -> arb:
    return ((to_interval(t) - to_interval(noise.mean)) / (to_interval(noise.sigma) * arb(2).sqrt())).erfc() * HALF


@_below.register
def _(noise: Clipped, t: float) -> arb:
    return arb(0) if t <= noise.low else arb(1) if t > noise.high else _below(noise.base, t)


@_above.register
def _(noise: Clipped, t: float) -> arb:
    return arb(0) if t >= noise.high else arb(1) if t < noise.low else _above(noise.base, t)


@_at.register
def _(noise: Clipped, t: float) -> arb:
    if noise.low == noise.high == t:
        return arb(1)
    if t == noise.low:
        return _below(noise.base, t) + _at(noise.base, t)
    if t == noise.high:
        return _above(noise.base, t) + _at(noise.base, t)
    return _at(noise.base, t) if noise.low < t < noise.high else arb(0)


@_below.register
def _(noise: DiscreteLaplace, t: float) -> arb:
    return _geometric_from(noise, noise.loc - (math.ceil(t) - 1)) if abs(t) < math.inf else arb(float(t > 0))


@_above.register
def _(noise: DiscreteLaplace, t: float) -> arb:
    return _geometric_from(noise, math.floor(t) + 1 - noise.loc) if abs(t) < math.inf else arb(float(t < 0))


@_at.register
def _(noise: DiscreteLaplace, t: float) -> arb:
    if not abs(t) < math.inf or t != math.floor(t):
        return arb(0)
    a = (-1 / to_interval(noise.scale)).exp()
    return (1 - a) / (1 + a) * (-abs(int(t) - noise.loc) / to_interval(noise.scale)).exp()


@_below.register
def _(noise: Snapping, t: float) -> arb:
    if t <= -noise.bound:
        return arb(0)
    return arb(1) if t > noise.bound else _snapped_below(noise, math.ceil(t / noise.step))


@_above.register
def _(noise: Snapping, t: float) -> arb:
    if t >= noise.bound:
        return arb(0)
    return arb(1) if t < -noise.bound else 1 - _snapped_below(noise, math.floor(t / noise.step) + 1)


@_at.register
def _(noise: Snapping, t: float) -> arb:
    if t == -noise.bound:
        return _snapped_below(noise, math.floor(t / noise.step) + 1)
    if t == noise.bound:
        return 1 - _snapped_below(noise, math.ceil(t / noise.step))
    if abs(t) > noise.bound or t % noise.step != 0:
        return arb(0)
    k = round(t / noise.step)
    return _snapped_below(noise, k + 1) - _snapped_below(noise, k)


def _laplace_below(z: arb, *, left: bool) -> arb:
    """Pr[X < z] for Laplace noise of scale 1; `left`: z < 0."""
    return z.exp() * HALF if left else 1 - (-z).exp() * HALF


def _geometric_from(noise: DiscreteLaplace, steps: int) -> arb:
    """Pr[X ≥ loc + steps], which by symmetry is Pr[X ≤ loc − steps]."""
    scale = to_interval(noise.scale)
    over = 1 + (-1 / scale).exp()
    return (-steps / scale).exp() / over if steps > 0 else 1 - (-(1 - steps) / scale).exp() / over


def _snapped_below(noise: Snapping, k: int) -> arb:
    """Pr[snapped noise < k·Λ], in real arithmetic."""
    cut = (k - HALF) * arb(noise.step)  # a power of two
    centre = min(max(noise.value, -noise.bound), noise.bound)
    return _laplace_below((cut - to_interval(centre)) / to_interval(noise.scale), left=(k - 0.5) * noise.step < centre)
