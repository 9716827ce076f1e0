"""Claims that are curves: where a pair's exact profile exceeds the claimed one, whole curves compared, and bounds.

A refutation is always one (ε, δ) of the curve, or one Rényi order, at which the pair exceeds the claim for certain. A
comparison of whole curves passes where the pair keeps every (ε, δ) of the claim, or every order, up to `ROUNDING`. Of
distributions with finitely many outcomes both rest on bounds of their probabilities (`stats.log_bounds`), and where
these decide nothing, the comparison does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.special import ndtri

from dpaudit.evidence.density import Exact, Losses
from dpaudit.evidence.exact import PairLaws
from dpaudit.language import Claim
from dpaudit.language.curves import LARGEST, Curve, GaussianDP, Profile, Renyi, TradeOff, ZeroConcentrated
from dpaudit.results.model import CurveRecord, SampledEvidence
from dpaudit.results.refutation import ROUNDING
from dpaudit.stats import clopper_pearson, log_bounds, tradeoff
from dpaudit.stats.arrays import BoolArray, FloatArray
from dpaudit.stats.log_bounds import LogBounds

MOST_VERTICES = 4_000
"""Vertices of an exact trade-off curve among which the one that exceeds the claim most is looked for."""
FINE = 2_000
"""ε at which profiles of densities are compared."""
ORDERS: FloatArray = 1 + np.geomspace(1e-4, 1e4, 800)
"""Rényi orders at which a claim of zCDP is compared with exact divergences."""

Floats = FloatArray


@dataclass(frozen=True)
class Comparison:
    """What a comparison of whole curves gave.

    Args:
        keeps: whether the pair keeps the claim; None where it could not be decided.
        order: of a claim of divergences, the order that decides, and inf for zCDP at large orders.
        divergence: the pair's, at that order; a lower bound within rounding.
        allowed: the claimed one.
        parameter: of a claim of Gaussian DP, the least μ of the pair; None where it is infinite or not known.
    """

    keeps: bool | None
    order: float | None = None
    divergence: float | None = None
    allowed: float | None = None
    parameter: float | None = None

    @property
    def exceeds(self) -> bool:
        """Whether a divergence exceeds the claimed one."""
        return self.keeps is False and self.divergence is not None


def worst_point(curve: Curve, pairs: list[Exact]) -> float:
    """The ε of the curve at which one of the pairs exceeds it most; the usual one where none does."""
    excess, epsilon = max((_worst_point(curve, pair) for pair in pairs), default=(0.0, 0.0))
    return epsilon if excess > 0 else curve.typical


def _worst_point(curve: Curve, pair: Exact) -> tuple[float, float]:
    # of many lines samples test a part, and exact distributions all of them
    points = curve.lines if isinstance(curve, Profile | TradeOff) else curve.points
    epsilons, deltas = (np.array(part) for part in zip(*points, strict=True))
    if isinstance(pair, Losses):
        excess = np.asarray(pair.noise.curve(epsilons)) - deltas
        most = int(excess.argmax())
        return float(excess[most]), float(epsilons[most])
    vertices = np.concatenate([_vertices(pair), _vertices(pair)[:, ::-1]])
    q, p = vertices[:, 0], 1 - vertices[:, 1]
    alone = float(p[q <= 0].max(initial=0.0))
    if alone > 0 and not isinstance(curve, Profile | TradeOff):
        # what one dataset alone has is allowed by no smooth curve
        at_alone = curve.epsilon_at(alone / 2)
        if math.isfinite(at_alone):
            return alone / 2, at_alone
    excess = p[:, None] - np.exp(np.minimum(epsilons, LARGEST)) * q[:, None] - deltas
    vertex, at = divmod(int(excess.argmax()), excess.shape[1])
    best = float(excess[vertex, at]), float(epsilons[at])
    if isinstance(curve, Profile | TradeOff):
        return best
    p_at, q_at = float(p[vertex]), float(q[vertex])
    if isinstance(curve, GaussianDP):
        return max(best, _worst_of_gaussian(curve, p, q))
    # p − e^ε q − δ(ε) is concave in e^ε

    def at_epsilon(epsilon: float) -> float:
        return p_at - math.exp(epsilon) * q_at - curve.delta_at(epsilon)

    low = float(epsilons[max(0, at - 1)])
    high = float(epsilons[min(len(epsilons) - 1, at + 1)])
    for _ in range(12):
        third = (high - low) / 3
        if at_epsilon(low + third) < at_epsilon(high - third):
            low += third
        else:
            high -= third
    middle = (low + high) / 2
    return max(best, (at_epsilon(middle), middle))


def _worst_of_gaussian(curve: GaussianDP, p: Floats, q: Floats) -> tuple[float, float]:
    """Of the event that needs the largest μ the point where p − e^ε q − δ(ε) is largest, at Φ(−ε/μ − μ/2) = q."""
    with np.errstate(invalid="ignore"):
        needed = ndtri(p) - ndtri(q)
    # where p is near 1 its complement on the other dataset says the same, and has more digits
    worst = int(np.argmax(np.where(np.isfinite(needed) & (p + q <= 1), needed, -np.inf)))
    epsilon = min(LARGEST, max(0.0, -curve.mu * (float(ndtri(q[worst])) + curve.mu / 2)))
    if not math.isfinite(epsilon):
        return 0.0, 0.0
    return float(p[worst]) - math.exp(epsilon) * float(q[worst]) - curve.delta_at(epsilon), epsilon


def _vertices(pair: PairLaws) -> Floats:
    vertices = tradeoff.curve(pair.left, pair.right)
    return vertices[:: max(1, len(vertices) // MOST_VERTICES)]


def whole_curve(curve: Curve, pair: Exact, bounds: LogBounds | None = None) -> Comparison:
    """Whether the exact distributions of a pair keep the whole claim, in both directions.

    Args:
        curve: the claim.
        pair: the distributions.
        bounds: of the probabilities of finitely many outcomes; without them those of doubles are used, in which a
            probability below 1e-290 is lost.
    """
    if isinstance(pair, PairLaws):
        if bounds is None:
            bounds = LogBounds.about(pair.left, pair.right, error=ROUNDING / 100)
        return within_bounds(curve, bounds)
    if isinstance(curve, Renyi | ZeroConcentrated):
        return _by_divergence(curve, pair)
    if isinstance(curve, Profile | TradeOff):
        return Comparison(_keeps_lines(curve.lines, pair))
    assert isinstance(curve, GaussianDP)
    return Comparison(_densities_keep(curve, pair))


def within_bounds(curve: Curve, bounds: LogBounds) -> Comparison:
    """Whether a pair of distributions keeps the whole claim, in both directions, from bounds of shape (k,)."""
    margins = Margins.of(curve, bounds)
    return margins.comparison(())


@dataclass(frozen=True)
class Margins:
    """How pairs compare with a curve at everything that decides, which is a number for each of n tests.

    Args:
        low, high: bounds of what the pairs need, shape (…, n): the least μ; δ at every line; D_α at every order.
        allowed: what the claim allows, shape (n,).
        orders: the orders of a claim of divergences.
        rho: of a claim of zCDP.
        mu: whether it is the least μ.
    """

    low: Floats
    high: Floats
    allowed: Floats
    orders: Floats | None = None
    rho: float | None = None
    mu: bool = False

    @classmethod
    def of(cls, curve: Curve, bounds: LogBounds) -> Margins:
        """Of pairs whose probabilities have these bounds, in both directions."""
        both = bounds, bounds.turned
        if isinstance(curve, Renyi | ZeroConcentrated):
            orders, limits = _orders(curve)
            ends = [log_bounds.divergences(one, orders) for one in both]
            low, high = (np.maximum(ends[0][i], ends[1][i]) for i in (0, 1))
            return cls(low, high, limits, orders, curve.rho if isinstance(curve, ZeroConcentrated) else None)
        if isinstance(curve, Profile | TradeOff):
            epsilons, deltas = (np.array(part) for part in zip(*curve.lines, strict=True))
            # a claim of δ = 0 has no other room than in ε
            room = ROUNDING * np.maximum(1.0, epsilons)
            low = np.maximum(*(log_bounds.profile(one, epsilons + room)[0] for one in both))
            high = np.maximum(*(log_bounds.profile(one, epsilons + room)[1] for one in both))
            return cls(low, high, deltas)
        assert isinstance(curve, GaussianDP)
        ends = [log_bounds.gaussian_mu(one) for one in both]
        low, high = (np.maximum(ends[0][i], ends[1][i])[..., np.newaxis] for i in (0, 1))
        return cls(low, high, np.array([curve.mu]), mu=True)

    @property
    def kept(self) -> BoolArray:
        """Which pairs keep the claim for certain, shape (…)."""
        inside = self.high <= self.allowed + self._room
        if self.rho is None or self.orders is None:
            return np.asarray(inside.all(axis=-1))
        # every ε-DP pair is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4)
        pure = self.high[..., -1] ** 2 / 2 <= self.rho
        # beyond the last order D_α is at most D_∞
        beyond = self.high[..., -1] <= self.rho * self.orders[-2]
        return np.asarray(pure | (inside.all(axis=-1) & beyond & _fine(self.high[..., :-1], self.rho)))

    @property
    def exceeded(self) -> BoolArray:
        """Which pairs exceed the claim for certain."""
        return np.asarray((self.low > self.allowed + self._room).any(axis=-1))

    @property
    def ratio(self) -> Floats:
        """The most that a test of each pair needs, as a share of what is allowed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(np.isfinite(self.allowed), self.high / np.maximum(self.allowed, 1e-300), 0.0)
        return np.asarray(np.nanmax(shares, axis=-1))

    def comparison(self, at: int | tuple[()]) -> Comparison:
        """Of one of the pairs."""
        low, high = self.low[at], self.high[at]
        keeps = True if bool(self.kept[at]) else False if bool(self.exceeded[at]) else None
        if self.mu:
            least = float(high[0])
            return Comparison(keeps, parameter=least if math.isfinite(least) and least - low[0] < 1e-6 else None)
        if self.orders is None:
            return Comparison(keeps)
        with np.errstate(invalid="ignore"):
            excess = (low - self.allowed) / np.maximum(self.allowed, 1e-300)
        worst = int(np.argmax(np.where(np.isfinite(self.allowed), excess, -np.inf)))
        return Comparison(keeps, float(self.orders[worst]), float(low[worst]), float(self.allowed[worst]))

    @property
    def _room(self) -> Floats:
        if self.orders is None and not self.mu:
            return ROUNDING * self.allowed
        with np.errstate(invalid="ignore"):
            return ROUNDING * np.maximum(1.0, np.where(np.isfinite(self.allowed), self.allowed, 1.0)) + 1e-12


def _orders(curve: Renyi | ZeroConcentrated) -> tuple[Floats, Floats]:
    """The orders at which a claim is compared with divergences, and what it allows there."""
    if isinstance(curve, Renyi):
        alphas, limits = (np.array(part, dtype=np.float64) for part in zip(*curve.orders, strict=True))
        return alphas, limits
    return np.append(ORDERS, math.inf), np.append(curve.rho * ORDERS, math.inf)


def worst_comparison(comparisons: list[Comparison]) -> Comparison | None:
    """The one of several pairs that decides: a violation first, then one that was left open."""
    order = {False: 0, None: 1, True: 2}

    def key(one: Comparison) -> tuple[int, float]:
        return order[one.keeps], -(one.divergence or 0.0) / (one.allowed or 1.0)

    return min(comparisons, key=key, default=None)


def _keeps_lines(lines: tuple[tuple[float, float], ...], pair: Losses) -> bool | None:
    epsilons, deltas = (np.array(part) for part in zip(*lines, strict=True))
    allowed = deltas * (1 + ROUNDING) + 1e-13
    low = [pair.wider.delta(Fraction(repr(epsilon))).low for epsilon in epsilons.tolist()]
    high = [pair.narrower.delta(Fraction(repr(epsilon))).high for epsilon in epsilons.tolist()]
    if (np.array(low) > allowed).any():
        return False
    return True if bool((np.array(high) <= allowed).all()) else None


def _densities_keep(curve: GaussianDP, pair: Losses) -> bool | None:
    moves = pair.moves
    if not moves.laplace and not moves.geometric and pair.wider is pair.noise:
        # Gaussian noise is μ-GDP with μ² the sum of squared moves, and no less
        allowed = Fraction(repr(curve.mu)) ** 2 * (1 + Fraction(repr(ROUNDING)))
        return sum((move * move for move in moves.gaussian), Fraction(0)) <= allowed
    if moves.gaussian or pair.wider is not pair.noise:
        return None
    # both profiles fall: between two ε the pair's is at most its value at the first, the claim's at least at the second
    reach = sum(float(move) for move in moves.laplace) + sum(n / float(scale) for n, scale in moves.geometric)
    grid = np.linspace(0.0, reach * (1 + 1e-12), FINE)
    exact = np.asarray(pair.noise.curve(grid[:-1])) * (1 + 1e-9)
    claimed = np.array([curve.delta_at(epsilon) for epsilon in grid[1:].tolist()]) * (1 - 1e-9)
    return True if bool((exact <= claimed).all()) else None


def _by_divergence(curve: Renyi | ZeroConcentrated, pair: Losses) -> Comparison:
    alphas, limits = _orders(curve)
    exact = _divergences(pair, alphas)
    if exact is None:
        return Comparison(None)
    # closed forms, in doubles
    margins = Margins(exact, exact, limits, alphas, curve.rho if isinstance(curve, ZeroConcentrated) else None)
    one = margins.comparison(())
    if isinstance(curve, ZeroConcentrated) and one.keeps is None and _gaussian_alone(pair):
        # at every order D_α is α times the same number
        return replace(one, keeps=True)
    return one


def _fine(exact: Floats, rho: float) -> BoolArray:
    """Whether D_α ≤ ρα between all orders of the grid, as (α − 1) D_α is convex in α and so below its chords."""
    alphas = ORDERS
    heights = (alphas - 1) * exact
    # on a chord h(α) ≤ ρα(α − 1) holds if it does at the ends and at the point where the difference is largest
    a, b, u, v = alphas[:-1], alphas[1:], heights[..., :-1], heights[..., 1:]
    with np.errstate(invalid="ignore"):
        slope = (v - u) / (b - a)
        at = np.clip((slope / rho + 1) / 2, a, b)
        chord = u + slope * (at - a)
        below = chord <= rho * at * (at - 1) * (1 + ROUNDING) + 1e-12
    # below the first order D_α is at most its value there
    first = exact[..., 0] <= rho * (1 + ROUNDING)
    return np.asarray(first & below.all(axis=-1))


def _gaussian_alone(pair: Exact) -> bool:
    return isinstance(pair, Losses) and not pair.moves.laplace and not pair.moves.geometric


def _divergences(pair: Losses, alphas: Floats) -> Floats | None:
    """The Rényi divergence at each order above 1, the same in both directions; None where none is computed."""
    if pair.moves.geometric or pair.wider is not pair.noise:
        return None
    total = np.zeros(len(alphas))
    for move in map(float, pair.moves.gaussian):
        total = total + alphas * move * move / 2
    for t in map(float, pair.moves.laplace):
        # Mironov 2017, Table II
        finite = np.where(np.isinf(alphas), 2.0, alphas)
        both = np.logaddexp(
            np.log(finite / (2 * finite - 1)) + (finite - 1) * t, np.log((finite - 1) / (2 * finite - 1)) - finite * t
        )
        total = total + np.where(np.isinf(alphas), t, both / (finite - 1))
    return total


# -- bounds


def curve_record(
    claim: Claim, sampled: SampledEvidence | None, comparison: Comparison | None, exact: Exact | None, *,
    refuted: bool,
) -> CurveRecord | None:
    """What is known of the parameter of a curve's family; None for a claim that is none.

    The lower bound follows from that on ε: with the confidence of the audit, p > e^ε q + δ for some event at every ε
    below it.

    Args:
        claim: the claim.
        sampled: the best counts.
        comparison: of exact distributions with the whole curve.
        exact: the worst pair.
        refuted: whether the claim is.
    """
    curve = claim.curve
    if curve is None:
        return None
    epsilon = sampled.epsilon_lower if sampled is not None else 0.0
    parameter, claimed, lower, known = "", 0.0, None, None
    match curve:
        case GaussianDP():
            parameter, claimed = "μ", curve.mu
            if epsilon > 0:
                lower = _least(lambda mu: GaussianDP(mu).delta_at(epsilon), claim.delta, curve.mu)
            known = comparison.parameter if comparison is not None else None
            if isinstance(exact, Losses) and _gaussian_alone(exact):
                known = math.sqrt(sum(float(move) ** 2 for move in exact.moves.gaussian))
        case ZeroConcentrated():
            parameter, claimed = "ρ", curve.rho
            if epsilon > 0:
                lower = _least(lambda rho: ZeroConcentrated(rho).delta_at(epsilon), claim.delta, curve.rho)
            if comparison is not None and comparison.divergence is not None and comparison.order:
                ratio = comparison.divergence / comparison.order
                known = ratio if math.isfinite(ratio) else None
        case Renyi():
            order, claimed = curve.orders[0]
            if comparison is not None and comparison.order is not None and comparison.divergence is not None:
                order, claimed = comparison.order, comparison.allowed or 0.0
                known = comparison.divergence if math.isfinite(comparison.divergence) else None
            elif epsilon > 0:
                least = [_least_divergence(a, epsilon, claim.delta) for a, _ in curve.orders]
                at = max(range(len(least)), key=lambda i: least[i] / max(curve.orders[i][1], 1e-300))
                (order, claimed), lower = curve.orders[at], least[at]
            parameter = f"ε at order {'∞' if math.isinf(order) else f'{order:.6g}'}"
        case _:
            parameter, claimed = f"δ at ε = {claim.epsilon:.6g}", claim.delta
            if sampled is not None:
                p, _ = clopper_pearson.interval(sampled.x, sampled.n, alpha=sampled.alpha)
                _, q = clopper_pearson.interval(sampled.y, sampled.m, alpha=sampled.alpha)
                lower = max(0.0, p - math.exp(min(claim.epsilon, LARGEST)) * q)
    one = isinstance(curve, GaussianDP | ZeroConcentrated) or (isinstance(curve, Renyi) and len(curve.orders) == 1)
    if lower is not None and refuted and one:
        # samples that refute a curve of one parameter show that it is larger
        lower = max(lower, claimed)
    if known is not None and not refuted:
        # it exceeds the claim by rounding at most
        known = min(known, claimed)
    return CurveRecord(
        text=curve.text, allowance=curve.allowance, label=curve.label, points=len(claim.points), parameter=parameter,
        claimed=claimed, lower=lower, exact=known,
    )


def _least(delta: Callable[[float], float], wanted: float, start: float) -> float:
    """The largest parameter, to 1e-6, at which δ, which grows with it, is below `wanted`."""
    low, high = 0.0, start
    while delta(high) < wanted and high < 1e6:
        low, high = high, 2 * high
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) < wanted else (low, middle)
    return low


def _least_divergence(order: float, epsilon: float, delta: float) -> float:
    """The least D_α of two bits with p ≥ e^ε q + δ, in the direction of the event."""
    ratio = math.exp(min(epsilon, LARGEST))
    if math.isinf(order):
        return epsilon
    q = np.geomspace(1e-12, 1.0, 4_000) * (1 - delta) / ratio
    p = np.minimum(1.0, ratio * q + delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.log(p) + (order - 1) * (np.log(p) - np.log(q))
        other = np.where(p < 1, np.log1p(-p) + (order - 1) * (np.log1p(-p) - np.log1p(-q)), -np.inf)
    least = float(np.min(np.logaddexp(first, other))) / (order - 1)
    # the grid may miss the minimum by a little
    return max(0.0, least * (1 - 1e-3))
