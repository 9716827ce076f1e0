"""Exact evidence where the output is noise with a density: from the privacy losses of the draws that are released."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from dpaudit.adversary import Event, Pair
from dpaudit.errors import NotEnumerableError
from dpaudit.evidence.exact import LEFT_RIGHT, PairLaws, compare, enclosed, evidence, finite, pair_record
from dpaudit.interpret import LawCache
from dpaudit.interpret.released import Moved, Released, released
from dpaudit.language import Claim, IntegerRange, Mechanism
from dpaudit.language.distributions import DiscreteLaplace, Gaussian, Laplace
from dpaudit.language.distributions.discrete_noise import LARGEST_LOC
from dpaudit.results.model import Bounds, EventRecord, ExactEvidence
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosure import Enclosure
from dpaudit.stats.noise_profile import Moves, NoiseProfile


@dataclass(frozen=True)
class Losses:
    """The privacy losses of a pair whose noise has densities; both directions have the same profile."""

    draws: Released
    noise: NoiseProfile
    wider: NoiseProfile
    """Of the largest scales that the intervals of theirs allow; `noise` itself where they are fractions."""
    narrower: NoiseProfile
    """Of the least."""

    @property
    def real(self) -> bool:
        """Whether some of the noise that moves is real-valued."""
        return any(draw.kind is not DiscreteLaplace and draw.gap for draw in self.draws.draws)

    def profile(self, direction: str, epsilons: FloatArray) -> FloatArray:
        """δ at some ε, for pictures; shape as given."""
        return self.noise.curve(epsilons)

    @property
    def moves(self) -> Moves:
        """How far the draws move, in units of their scales."""
        return _moves(self.draws)


Exact: TypeAlias = PairLaws | Losses


@dataclass(frozen=True)
class ComparedPair:
    """A pair of datasets, compared exactly.

    Args:
        pair: the two datasets.
        comparison: their output distributions, or the privacy losses of their densities.
        evidence: what these say of the claim.
        event: one that attains it; the empty one where none is known.
    """

    pair: Pair
    comparison: Exact
    evidence: ExactEvidence
    event: Event


def compared(mechanism: Mechanism, pair: Pair, claim: Claim, cache: LawCache) -> ComparedPair:
    """Exact evidence of a pair: by the laws of both datasets, or by the densities of what is released.

    Raises:
        NotEnumerableError: the mechanism has no law, or too large a one, and it does more with its noise than to
            release it.
    """
    try:
        laws = compare(mechanism, pair, cache)
    except NotEnumerableError as error:
        try:
            losses = losses_of(mechanism, pair)
            exact, event = density_evidence(losses, pair, claim)
        except NotEnumerableError as other:
            raise NotEnumerableError(f"{error} No closed form either: {other}") from None
        return ComparedPair(pair, losses, exact, event)
    exact, event = evidence(laws, pair, claim)
    return ComparedPair(pair, laws, enclosed(exact, laws, mechanism, pair, claim, cache), event)


def comparison(mechanism: Mechanism, pair: Pair, cache: LawCache) -> Exact:
    """The laws of both datasets, or else the privacy losses of the densities of what is released.

    Raises:
        NotEnumerableError: as `compared`.
    """
    try:
        return compare(mechanism, pair, cache)
    except NotEnumerableError:
        return losses_of(mechanism, pair)


def losses_of(mechanism: Mechanism, pair: Pair) -> Losses:
    """The privacy losses of what a mechanism releases on a pair.

    Raises:
        NotEnumerableError: it does more with its noise than to release it, or there are too many losses.
    """
    draws = released(mechanism, pair.left, pair.right)
    profile = NoiseProfile(_moves(draws))
    if all(draw.around is None for draw in draws.draws):
        return Losses(draws, profile, profile, profile)
    # noise of a larger scale is noise of a smaller one with more added, so that it has a smaller δ at every ε
    narrower, wider = (
        NoiseProfile(_moves(replace(draws, draws=tuple(
            draw if draw.around is None else replace(draw, scale=draw.around[end]) for draw in draws.draws
        ))))
        for end in (0, 1)
    )
    return Losses(draws, profile, wider, narrower)


def density_evidence(losses: Losses, pair: Pair, claim: Claim) -> tuple[ExactEvidence, Event]:
    """ε at the claimed δ and δ at the claimed ε with their bounds, and a threshold event that attains them, if any.

    Raises:
        NotEnumerableError: ε has no bound from above in doubles.
    """
    at_delta = [noise.epsilon(Fraction(repr(claim.delta))) for noise in _ends(losses)]
    at_epsilon = [noise.delta(Fraction(repr(claim.epsilon))) for noise in _ends(losses)]
    epsilon = Enclosure(at_delta[0].low, at_delta[-1].high)
    delta = Enclosure(at_epsilon[0].low, at_epsilon[-1].high)
    if math.isinf(epsilon.high) and math.isfinite(epsilon.low):
        raise NotEnumerableError("The ε of its noise cannot be represented in doubles; use closer datasets.")
    half = _threshold_event(losses.draws, claim, epsilon)
    event, p, q = half if half is not None else (None, None, None)
    exact = ExactEvidence(
        pair=pair_record(pair, claim),
        direction=LEFT_RIGHT,
        event=None if event is None else EventRecord(event.description, event.spec),
        epsilon=finite((epsilon.low + epsilon.high) / 2),
        delta=(delta.low + delta.high) / 2,
        p=p,
        q=q,
        bounds=Bounds(finite(epsilon.low), finite(epsilon.high), delta.low, delta.high, list(losses.draws.rounded)),
        by_density=True,
    )
    return exact, Event() if event is None else event


def _ends(losses: Losses) -> tuple[NoiseProfile, ...]:
    """The profiles from below and from above; one where they are the same."""
    return (losses.noise,) if losses.wider is losses.noise else (losses.wider, losses.narrower)


def _moves(released: Released) -> Moves:
    moved = [draw for draw in released.draws if draw.gap]

    def of(kind: type) -> tuple[Fraction, ...]:
        return tuple(abs(draw.gap) / draw.scale for draw in moved if draw.kind is kind)

    geometric = tuple((int(abs(draw.gap)), draw.scale) for draw in moved if draw.kind is DiscreteLaplace)
    return Moves(of(Laplace), of(Gaussian), geometric)


def _threshold_event(released: Released, claim: Claim, epsilon: Enclosure) -> tuple[Event, float, float] | None:
    """Of a single number, the outputs whose loss exceeds ε, with their probabilities on the left and on the right."""
    if released.line is None or len(released.draws) != 1 or not released.draws[0].gap:
        return None
    (draw,), (c, constant, centre) = released.draws, released.line
    # a shade below the exact ε there is room
    at = claim.epsilon if epsilon.low > claim.epsilon else max(0.0, epsilon.low * (1 - 1e-6))
    reach = _reach(draw, Fraction(at), pure=not claim.delta)
    if reach is None:
        return None
    # from the centre on the left the loss falls towards that on the right
    sign = 1 if draw.gap > 0 else -1
    left = _noise(draw, Fraction(0))
    p, q = left.below(float(reach)) + left.at(float(reach)), 0.0
    right = _noise(draw, abs(draw.gap))
    q = right.below(float(reach)) + right.at(float(reach))
    threshold = c * (centre + sign * reach) + constant
    below = c * sign > 0
    if draw.kind is not DiscreteLaplace:
        end = float(threshold)
        return Event(intervals=((-math.inf, end) if below else (end, math.inf),)), p, q
    if threshold.denominator != 1 or abs(c) != 1:
        return None
    last, far = int(threshold), 2 * LARGEST_LOC
    beyond = IntegerRange(last - far, last + 1) if below else IntegerRange(last, last + far)
    return Event(rule=("≤" if below else "≥", float(last)), ranges=(beyond,)), p, q


def _reach(draw: Moved, epsilon: Fraction, *, pure: bool) -> Fraction | None:
    """How far from the centre on the left, towards the right, the loss exceeds ε; None where it nowhere does."""
    gap, scale = abs(draw.gap), draw.scale
    if draw.kind is Gaussian:
        return gap / 2 - epsilon * scale * scale / gap
    if pure:
        # the loss is largest on the whole threshold event
        return Fraction(0)
    reach = (gap - epsilon * scale) / 2
    if draw.kind is DiscreteLaplace:
        reach = Fraction(math.ceil(reach) - 1)
    return reach if reach >= 0 else None


def _noise(draw: Moved, centre: Fraction) -> Laplace | Gaussian | DiscreteLaplace:
    if draw.kind is DiscreteLaplace:
        return DiscreteLaplace(int(centre), draw.scale)
    return Gaussian(float(centre), float(draw.scale)) if draw.kind is Gaussian else Laplace(
        float(centre), float(draw.scale)
    )
