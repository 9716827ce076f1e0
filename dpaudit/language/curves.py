"""Claims that are curves: Gaussian DP, zCDP, Rényi DP, trade-off functions and privacy profiles.

Every such claim limits the probabilities (p, q) of an event on two neighbouring datasets to a convex region, and this
region is known by its privacy profile: the largest p − e^ε q, δ at every ε ≥ 0. A curve gives an upper bound on it, so
that an event above the bound refutes the claim. `points` are the (ε, δ) at which audits test the claim: all follow from
it, so that all can be tested with one α.

    >>> from dpaudit.language import GaussianDP, REPLACE_ONE
    >>> str(GaussianDP(0.5).under(REPLACE_ONE))
    '0.5-GDP under replace-one'
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.language.checks import at_least, number, positive, probability, whole
from dpaudit.language.zcdp import renyi_delta, renyi_delta_by_moments, zcdp_delta, zcdp_delta_by_moments
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosed import near

POINTS = 16
"""Points of a smooth curve at which audits test it."""
MOST_POINTS = 32
"""Most points of a curve that is given by points at which audits test it."""
SMALL_SHARE = 1e-3
"""A smooth curve is tested up to the ε at which δ is this share of δ(0)."""
ABOUT = 0.8
"""Fraction of the best standard score that a point with a larger ε may have to be the one that is reported."""
LARGEST = 700.0
"""The exponential of a larger ε is no double."""
UP = 1e-12
"""By how much, relative, a δ that is computed in doubles is rounded up."""

Floats = FloatArray


class Curve(ABC):
    """A claim of privacy that is more than one (ε, δ), without its relation; `Claim.of` makes it a claim."""

    kind: ClassVar[str]
    """Its name in texts: "gdp", "zcdp", "rdp", "tradeoff" or "profile"."""

    @abstractmethod
    def delta_at(self, epsilon: float) -> float:
        """An upper bound on the largest p − e^ε q of an event that the claim allows, at ε ≥ 0."""

    @abstractmethod
    def group(self, k: int) -> Curve:
        """What the claim implies for groups of k records.

        Raises:
            ParameterError: nothing is proved.
        """

    @abstractmethod
    def scaled(self, factor: float) -> Curve:
        """A claim of the same kind whose privacy loss is `factor` times as large: what an audit must be able to see."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The form that `parse_curve` reads, such as "gdp(0.5)"."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The claim in a sentence on the mechanism, such as "0.5-GDP"."""

    @property
    @abstractmethod
    def allowance(self) -> str:
        """The claim where a sentence says what it allows, such as "μ = 0.5"."""

    def repeated(self, k: float) -> Curve | None:
        """What the claim implies for k adaptive uses; None where no theorem is used here."""
        return None

    def implies(self, other: Curve) -> bool:
        """Whether this claim is known to imply the other (up to rounding)."""
        return self == other

    def epsilon_at(self, delta: float, *, tolerance: float = 1e-12) -> float:
        """The least ε ≥ 0 at which at most δ is allowed, up to `tolerance` more; infinity where no ε is enough."""
        probability("delta", delta)
        if self.delta_at(0.0) <= delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.delta_at(high) > delta:
            low, high = high, 2 * high
            if high > LARGEST:
                return math.inf
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta_at(middle) <= delta else (middle, high)
            if high - low <= tolerance * high:
                break
        return high

    @cached_property
    def points(self) -> tuple[tuple[float, float], ...]:
        """The (ε, δ) at which audits test the claim, ε ascending."""
        return _points(self)

    @cached_property
    def typical(self) -> float:
        """Of `points`, an ε at which a mechanism with twice the privacy loss shows with few samples.

        Of points that are about as good (`ABOUT`) the largest ε, because a bound on ε says most there.
        """
        twice = self.scaled(2.0)
        scores: list[tuple[float, float]] = []
        # a lower bound on ε cannot be below 0, so nothing would show there that the claim keeps
        usable = [point for point in self.points if point[0] > 0] or self.points
        for epsilon, delta in usable[:: max(1, len(usable) // 8)]:
            # the event at which the line of slope e^ε touches the curve of the other claim
            h = 1e-3 * max(epsilon, 0.1)
            slope = (twice.delta_at(epsilon + h) - twice.delta_at(epsilon)) / (math.exp(epsilon) * math.expm1(h))
            q = min(1.0, max(1e-12, -slope))
            p = min(1.0, twice.delta_at(epsilon) + math.exp(epsilon) * q)
            excess = p - math.exp(epsilon) * q - delta
            noise = p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)
            scores.append((excess / math.sqrt(max(noise, 1e-12)), epsilon))
        most = max(scores)[0]
        return max(epsilon for score, epsilon in scores if score >= ABOUT * most)

    def drawn(self, epsilons: Sequence[float]) -> list[float]:
        """δ at some ε, for figures: between `points`, in a straight line in e^ε."""
        ends, deltas = zip(*self.points, strict=True)
        inside = np.interp(np.exp(np.minimum(epsilons, LARGEST)), np.exp(np.minimum(ends, LARGEST)), deltas)
        return [
            float(delta) if epsilon <= ends[-1] else self.delta_at(epsilon)
            for epsilon, delta in zip(epsilons, inside, strict=True)
        ]

    def _reach(self) -> float:
        """Up to where a smooth curve is tested."""
        return self.epsilon_at(SMALL_SHARE * self.delta_at(0.0))


@lru_cache(maxsize=256)
def _points(curve: Curve) -> tuple[tuple[float, float], ...]:
    grid = np.linspace(0.0, curve._reach(), POINTS)
    return tuple((epsilon, curve.delta_at(epsilon)) for epsilon in grid.tolist())


@dataclass(frozen=True)
class GaussianDP(Curve):
    """μ-Gaussian DP: the two datasets are at least as hard to tell apart as N(0, 1) and N(μ, 1).

    Args:
        mu: > 0.

    Raises:
        ParameterError: it is not.

    Source: Dong, Roth and Su, Gaussian Differential Privacy (JRSS B 2022), Definition 2.6 (2.4 in arXiv 1905.02383);
    the profile is Corollary 2.13 there (Balle and Wang 2018, Theorem 8).
    """

    mu: float
    kind: ClassVar[str] = "gdp"

    def __post_init__(self) -> None:
        # a double even in an enclosed run, as no draw uses it
        object.__setattr__(self, "mu", positive("mu", near(self.mu)))

    def delta_at(self, epsilon: float) -> float:
        """Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), rounded up (interval arithmetic)."""
        return _gaussian_delta(self.mu, at_least("epsilon", epsilon, 0))

    def drawn(self, epsilons: Sequence[float]) -> list[float]:
        """δ at some ε."""
        return [self.delta_at(epsilon) for epsilon in epsilons]

    def group(self, k: int) -> GaussianDP:
        """kμ.  Source: Dong, Roth and Su 2022, Theorem 2.14 and what follows it."""
        return GaussianDP(whole("the size of a group", k, least=1) * self.mu)

    def scaled(self, factor: float) -> GaussianDP:
        """`factor`·μ."""
        return GaussianDP(factor * self.mu)

    def repeated(self, k: float) -> GaussianDP:
        """√k·μ.  Source: Dong, Roth and Su 2022, Corollary 3.3."""
        return GaussianDP(math.sqrt(k) * self.mu)

    def implies(self, other: Curve) -> bool:
        """μ is at most the other's; or the other is a curve that the Gaussian profile or divergence keeps."""
        match other:
            case GaussianDP():
                return self.mu <= other.mu * (1 + UP)
            case Profile() | TradeOff():
                return all(self.delta_at(epsilon) <= delta * (1 + UP) for epsilon, delta in other.lines)
        return False

    @property
    def text(self) -> str:
        """E.g. "gdp(0.5)"."""
        return f"gdp({self.mu!r})"

    @property
    def label(self) -> str:
        """E.g. "0.5-GDP"."""
        return f"{self.mu:.6g}-GDP"

    @property
    def allowance(self) -> str:
        """E.g. "μ = 0.5"."""
        return f"μ = {self.mu:.6g}"


@lru_cache(maxsize=4096)
def _gaussian_delta(mu: float, epsilon: float) -> float:
    from flint import arb, ctx

    from dpaudit.stats.enclosure import decimal, outward

    with ctx.workprec(256):
        m, e = decimal(mu), decimal(epsilon)
        root = arb(2).sqrt()

        def normal(x: arb) -> arb:
            return (-x / root).erfc() / 2

        delta = outward(normal(m / 2 - e / m) - e.exp() * normal(-m / 2 - e / m)).high
    return min(1.0, max(0.0, delta)) if math.isfinite(delta) else 1.0


@dataclass(frozen=True)
class ZeroConcentrated(Curve):
    """ρ-zCDP, tested at several ε: D_α ≤ ρα in both directions for all orders α > 1.

    `Claim.zcdp` is the same claim, tested at one ε.

    Args:
        rho: > 0.

    Raises:
        ParameterError: it is not.

    Source: Bun and Steinke, Concentrated Differential Privacy (2016), Definition 1.1; `zcdp_delta` for the profile.
    """

    rho: float
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", positive("rho", near(self.rho)))

    def delta_at(self, epsilon: float) -> float:
        """The smallest δ that covers all events (`zcdp_delta`)."""
        return zcdp_delta(self.rho, at_least("epsilon", epsilon, 0))

    def group(self, k: int) -> ZeroConcentrated:
        """k²ρ.  Source: Bun and Steinke 2016, Proposition 1.9."""
        return ZeroConcentrated(whole("the size of a group", k, least=1) ** 2 * self.rho)

    def scaled(self, factor: float) -> ZeroConcentrated:
        """ρ times the square of `factor`, as ρ grows with the square of the privacy loss."""
        return ZeroConcentrated(factor * factor * self.rho)

    def repeated(self, k: float) -> ZeroConcentrated:
        """kρ.  Source: Bun and Steinke 2016, Lemma 1.7."""
        return ZeroConcentrated(k * self.rho)

    def implies(self, other: Curve) -> bool:
        """ρ is at most the other's, or ρα is at every order of a Rényi claim."""
        match other:
            case ZeroConcentrated():
                return self.rho <= other.rho * (1 + UP)
            case Renyi():
                return all(self.rho * a <= limit * (1 + UP) for a, limit in other.orders)
        return False

    @property
    def text(self) -> str:
        """E.g. "zcdp(0.1)"."""
        return f"zcdp({self.rho!r})"

    @property
    def label(self) -> str:
        """E.g. "0.1-zCDP"."""
        return f"{self.rho:.6g}-zCDP"

    @property
    def allowance(self) -> str:
        """E.g. "ρ = 0.1"."""
        return f"ρ = {self.rho:.6g}"

    def _reach(self) -> float:
        # the standard conversion is fast, and only says where to stop
        return _least_epsilon(lambda e: zcdp_delta_by_moments(self.rho, e), SMALL_SHARE * self.delta_at(0.0))


@dataclass(frozen=True, init=False)
class Renyi(Curve):
    """(α, ε)-Rényi DP at one or more orders: D_α ≤ ε in both directions.

    Args:
        orders: ε ≥ 0 by order α > 1, such as {2: 0.5, 8: 1.1}; the order infinity is pure DP.

    Raises:
        ParameterError: no order, or one outside these ranges.

    Source: Mironov, Rényi Differential Privacy (CSF 2017), Definition 4; `renyi_delta` for the profile.
    """

    orders: tuple[tuple[float, float], ...]
    kind: ClassVar[str] = "rdp"

    def __init__(self, orders: Mapping[float, float] | Iterable[tuple[float, float]]) -> None:
        given = sorted(_pairs(orders, "Renyi takes ε by order, such as Renyi({2: 0.5, 8: 1.1})"))
        for a, limit in given:
            if not a > 1:
                raise ParameterError(f"An order of Rényi DP must be above 1, not {a!r}.")
            at_least("the ε of a Rényi claim", limit, 0)
        if len({a for a, _ in given}) < len(given):
            raise ParameterError("An order of a Rényi claim is given twice; give each once.")
        object.__setattr__(self, "orders", tuple(given))

    def delta_at(self, epsilon: float) -> float:
        """The smallest δ that covers all events that the bounds allow (`renyi_delta`)."""
        return renyi_delta(self._alphas, self._limits, at_least("epsilon", epsilon, 0))

    def group(self, k: int) -> Renyi:
        """With 2^c ≥ k: 3^c·ε at order α/2^c, for all orders α ≥ 2^(c+1).

        Raises:
            ParameterError: every order is below that.

        Source: Mironov 2017, Proposition 2 (in the form of its group privacy for RDP: c-stable transformations).
        """
        c = (whole("the size of a group", k, least=1) - 1).bit_length()
        orders = [(a / 2**c, 3**c * limit) for a, limit in self.orders if a >= 2 ** (c + 1)] if c else self.orders
        if not orders:
            raise ParameterError(
                f"Group privacy of Rényi DP for groups of {k} needs an order of at least {2 ** (c + 1)}; the claim has "
                f"none (Mironov 2017, Proposition 2)."
            )
        return Renyi(orders)

    def scaled(self, factor: float) -> Renyi:
        """`factor`·ε at every order."""
        return Renyi((a, factor * limit) for a, limit in self.orders)

    def repeated(self, k: float) -> Renyi:
        """k·ε at every order.  Source: Mironov 2017, Proposition 1."""
        return self.scaled(k)

    def implies(self, other: Curve) -> bool:
        """At every order of the other claim, one of this claim's at or above it has at most its ε (D_α grows with α).
        """
        if not isinstance(other, Renyi):
            return False
        return all(
            any(own >= a and limit <= most * (1 + UP) for own, limit in self.orders) for a, most in other.orders
        )

    @property
    def text(self) -> str:
        """E.g. "rdp(2: 0.5, 8: 1.1)"."""
        return f"rdp({_listed(self.orders)})"

    @property
    def label(self) -> str:
        """E.g. "RDP(2: 0.5, 8: 1.1)"."""
        return f"RDP({_few(self.orders)})"

    @property
    def allowance(self) -> str:
        """E.g. "RDP(2: 0.5, 8: 1.1)"."""
        return self.label

    @cached_property
    def points(self) -> tuple[tuple[float, float], ...]:
        """As of a smooth curve; and p ≤ e^ε q, of the order infinity."""
        pure = [(limit, 0.0) for a, limit in self.orders if math.isinf(a)]
        return tuple(sorted({*_points(self), *pure}))

    @property
    def _alphas(self) -> tuple[float, ...]:
        return tuple(a for a, _ in self.orders)

    @property
    def _limits(self) -> tuple[float, ...]:
        return tuple(limit for _, limit in self.orders)

    def _reach(self) -> float:
        small = SMALL_SHARE * self.delta_at(0.0)
        return _least_epsilon(lambda e: renyi_delta_by_moments(self._alphas, self._limits, e), small)


class _Lines(Curve):
    """A claim that is known by some (ε, δ), all of which hold."""

    lines: tuple[tuple[float, float], ...]

    def delta_at(self, epsilon: float) -> float:
        """The largest p − e^ε q of all (p, q) that every (ε, δ) of the claim allows, in both directions."""
        at_least("epsilon", epsilon, 0)
        stated = [delta for e, delta in self.lines if e <= epsilon]
        vertices = self._vertices
        largest = float((1 - vertices[:, 1] - math.exp(min(epsilon, LARGEST)) * vertices[:, 0]).max())
        return min(1.0, *stated, max(0.0, largest * (1 + UP) + 1e-15))

    def drawn(self, epsilons: Sequence[float]) -> list[float]:
        """δ at some ε."""
        return [self.delta_at(epsilon) for epsilon in epsilons]

    def group(self, k: int) -> TradeOff:
        """The trade-off function 1 − (1 − f)∘…∘(1 − f).  Source: Dong, Roth and Su 2022, Theorem 2.14."""
        whole("the size of a group", k, least=1)
        vertices = self._vertices

        def composed(alpha: float) -> float:
            reached = alpha
            for _ in range(k):
                reached = 1 - float(np.interp(reached, vertices[:, 0], vertices[:, 1]))
            return 1 - reached

        return TradeOff.of(composed)

    @cached_property
    def points(self) -> tuple[tuple[float, float], ...]:
        """The stated (ε, δ), of many a part."""
        lines = [(epsilon, delta) for epsilon, delta in self.lines if delta < 1]
        if len(lines) <= MOST_POINTS:
            return tuple(lines) or self.lines[:1]
        chosen = np.unique(np.linspace(0, len(lines) - 1, MOST_POINTS).round().astype(int))
        return tuple(lines[i] for i in chosen.tolist())

    @cached_property
    def _vertices(self) -> Floats:
        """Of the convex region above the claim's trade-off curve: (α, β), α ascending."""
        return _envelope(self.lines)

    def implies(self, other: Curve) -> bool:
        """Every (ε, δ) of the other claim is allowed by this one."""
        if not isinstance(other, _Lines):
            return False
        return all(self.delta_at(epsilon) <= delta * (1 + 1e-9) + 1e-14 for epsilon, delta in other.lines)


@dataclass(frozen=True, init=False)
class Profile(_Lines):
    """A privacy profile: (ε, δ)-DP at every listed ε.

    Args:
        deltas: δ by ε ≥ 0, such as {0: 0.38, 1: 0.13}; or the function δ(ε), which is then taken at `epsilons`.
        epsilons: where a function is taken.
        name: what the profile is of, for sentences.

    Raises:
        ParameterError: no point, or one outside these ranges.

    Source: Balle, Barthe and Gaboardi, Privacy Amplification by Subsampling (NeurIPS 2018), for privacy profiles.
    """

    lines: tuple[tuple[float, float], ...]
    name: str = ""
    kind: ClassVar[str] = "profile"

    def __init__(
        self,
        deltas: Mapping[float, float] | Iterable[tuple[float, float]] | Callable[[float], float],
        *,
        epsilons: Sequence[float] | None = None,
        name: str = "",
    ) -> None:
        if callable(deltas):
            if epsilons is None:
                raise ParameterError("A profile that is a function needs the ε at which to take it: epsilons=[…].")
            deltas = [(float(epsilon), float(deltas(float(epsilon)))) for epsilon in epsilons]
        given = sorted(_pairs(deltas, "Profile takes δ by ε, such as Profile({0: 0.38, 1: 0.13})"))
        for epsilon, delta in given:
            at_least("the ε of a profile", epsilon, 0)
            probability("the δ of a profile", delta)
        if len({epsilon for epsilon, _ in given}) < len(given):
            raise ParameterError("An ε of a profile is given twice; give each once.")
        object.__setattr__(self, "lines", tuple(given))
        object.__setattr__(self, "name", name)

    def scaled(self, factor: float) -> Profile:
        """The same δ at `factor`·ε (at ε + 0.1 where ε is 0)."""
        deltas: dict[float, float] = {}
        for epsilon, delta in self.lines:
            at = factor * epsilon if epsilon else 0.1 * factor
            # what is stated at 0 may meet what is stated at 0.1
            deltas[at] = min(delta, deltas.get(at, 1.0))
        return Profile(deltas)

    @property
    def text(self) -> str:
        """E.g. "profile(0: 0.38, 1: 0.13)"."""
        return self.name if self.name.endswith(")") else f"profile({_listed(self.lines)})"

    @property
    def label(self) -> str:
        """E.g. "DP with the profile δ(0) = 0.38, δ(1) = 0.13"."""
        return self.name or f"DP with the profile {_few(self.lines, 'δ({}) = {}')}"

    @property
    def allowance(self) -> str:
        """E.g. "the profile"."""
        return self.name or "the profile"


@dataclass(frozen=True, init=False)
class TradeOff(_Lines):
    """f-DP: every test of D against D′ at type I error α has a type II error of at least f(α), in both directions.

    Args:
        vertices: f(α) by α, the vertices of a piecewise linear f. f is their lower convex hull. To give samples of a
            smooth f, use `TradeOff.of`: straight lines between samples lie above a convex curve.

    Raises:
        ParameterError: fewer than two vertices, one outside [0, 1], or f above 1 − α.

    Source: Dong, Roth and Su 2022, Definitions 2.1 and 2.3; both directions together are Proposition 2.4 there.
    """

    vertices: tuple[tuple[float, float], ...]
    lines: tuple[tuple[float, float], ...] = field(init=False, repr=False)
    kind: ClassVar[str] = "tradeoff"

    def __init__(self, vertices: Mapping[float, float] | Iterable[tuple[float, float]]) -> None:
        given = sorted(_pairs(vertices, "TradeOff takes f(α) by α, such as TradeOff({0: 1, 0.2: 0.2, 1: 0})"))
        for alpha, beta in given:
            probability("the type I error of a trade-off function", alpha)
            if not probability("the type II error of a trade-off function", beta) <= 1 - alpha + 1e-12:
                raise ParameterError(
                    f"A trade-off function lies below 1 − α, as a test may ignore its input; f({alpha!r}) = {beta!r} "
                    "does not."
                )
        if len(given) < 2:
            raise ParameterError("A trade-off function needs at least two vertices, such as {0: 1, 1: 0}.")
        object.__setattr__(self, "vertices", tuple(given))
        object.__setattr__(self, "lines", _lines_below(np.array(given, dtype=np.float64)))

    @classmethod
    def of(cls, function: Callable[[float], float], *, samples: int = 400) -> TradeOff:
        """A convex, non-increasing f that is given as a function: a piecewise linear curve that lies below it.

        Between two samples a convex curve lies above the lines through its neighbouring samples, and these lines make
        the curve.
        """
        grid = np.unique(np.concatenate([
            np.linspace(0, 1, samples), np.geomspace(1e-9, 0.5, samples // 4), 1 - np.geomspace(1e-9, 0.5, samples // 4)
        ]))
        values = np.array([number("f", float(function(alpha))) for alpha in grid.tolist()])
        if not ((values >= -1e-12) & (values <= 1 - grid + 1e-9)).all():
            raise ParameterError("A trade-off function has values between 0 and 1 − α; this function has others.")
        return cls(_below(grid, np.minimum(np.maximum(values, 0.0), 1 - grid)).tolist())

    def scaled(self, factor: float) -> Profile:
        """The profile of the curve, the same δ at `factor`·ε."""
        return Profile(self.lines).scaled(factor)

    @property
    def text(self) -> str:
        """E.g. "tradeoff(0: 1.0, 0.2: 0.2, 1: 0.0)"."""
        return f"tradeoff({_listed(self.vertices)})"

    @property
    def label(self) -> str:
        """E.g. "f-DP with f(0) = 1, f(0.2) = 0.2, f(1) = 0"."""
        return f"f-DP with {_few(self.vertices, 'f({}) = {}')}"

    @property
    def allowance(self) -> str:
        """E.g. "f"."""
        return "the trade-off function"


def _pairs(given: Mapping[float, float] | Iterable[tuple[float, float]], how: str) -> list[tuple[float, float]]:
    try:
        pairs = [(float(near(a)), float(near(b))) for a, b in (given.items() if isinstance(given, Mapping) else given)]
    except (TypeError, ValueError):
        raise ParameterError(f"{how}, not {given!r}.") from None
    if not pairs:
        raise ParameterError(f"{how}; nothing was given.")
    return pairs


def _listed(pairs: Iterable[tuple[float, float]]) -> str:
    return ", ".join(f"{a:g}: {b!r}" if f"{a:g}" == repr(a).removesuffix(".0") else f"{a!r}: {b!r}" for a, b in pairs)


def _few(pairs: Sequence[tuple[float, float]], form: str = "{}: {}") -> str:
    """At most four of the pairs, in words."""
    shown = [form.format(f"{a:.4g}".replace("inf", "∞"), f"{b:.4g}") for a, b in pairs]
    return ", ".join(shown if len(shown) <= 4 else [*shown[:2], "…", shown[-1]])


def _least_epsilon(delta: Callable[[float], float], small: float) -> float:
    low, high = 0.0, 1e-3
    while delta(high) > small and high < LARGEST:
        low, high = high, 2 * high
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if delta(middle) <= small else (middle, high)
    return high


def _envelope(lines: Sequence[tuple[float, float]]) -> Floats:
    """Vertices (α, β) of the largest of 0, the lines 1 − δ − e^ε α and their mirror images, over [0, 1]."""
    highest: dict[float, float] = {0.0: 0.0}
    for epsilon, delta in lines:
        ratio = math.exp(min(epsilon, LARGEST))
        for slope, height in ((-ratio, 1 - delta), (-1 / ratio, (1 - delta) / ratio)):
            highest[slope] = max(height, highest.get(slope, 0.0))
    hull: list[tuple[float, float]] = []
    for line in sorted(highest.items()):
        # the last line is nowhere the largest if the new one overtakes the line before it earlier
        while len(hull) > 1 and _meet(hull[-2], line) <= _meet(hull[-2], hull[-1]):
            hull.pop()
        hull.append(line)
    cuts = [0.0, *(_meet(*pair) for pair in pairwise(hull)), 1.0]
    alphas = np.unique(np.clip(np.array(cuts), 0.0, 1.0))
    slopes, heights = np.array(hull).T
    return np.column_stack([alphas, (slopes[:, None] * alphas + heights[:, None]).max(axis=0)])


def _meet(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Where two lines (slope, height) meet."""
    return (one[1] - other[1]) / (other[0] - one[0])


def _lines_below(vertices: Floats) -> tuple[tuple[float, float], ...]:
    """(ε, δ), ε ≥ 0, of the edges of the lower convex hull; an edge flatter than −1 is one of the other direction."""
    from dpaudit.stats.tradeoff import lower_hull

    # f does not increase, so it is at least its first value before it
    hull = lower_hull(np.concatenate([[[0.0, vertices[0, 1]]], vertices, [[1.0, 0.0]]]))
    lines: dict[float, float] = {}
    for way in (hull, hull[::-1, ::-1]):
        for (a, b), (c, d) in pairwise(way.tolist()):
            if not (c > a and b > d and b - d >= c - a):
                continue
            epsilon = math.log((b - d) / (c - a))
            if epsilon > LARGEST:
                continue
            # of all vertices, so that the line lies below f also after rounding
            most = float((1 - way[:, 1] - math.exp(epsilon) * way[:, 0]).max())
            delta = min(1.0, max(0.0, most) * (1 + UP) + UP * math.exp(epsilon) * a + 1e-15)
            lines[epsilon] = min(delta, lines.get(epsilon, 1.0))
    # f = 0, or so steep that no ε says it: nothing but δ = 1 − f(0)
    return tuple(sorted(lines.items())) or ((LARGEST, min(1.0, 1 - float(hull[0, 1]) + 1e-15)),)


def _below(grid: Floats, values: Floats) -> Floats:
    """Vertices of a convex curve below a convex f, from its samples on [0, 1]: where lines through neighbours meet."""
    from dpaudit.stats.tradeoff import lower_hull

    points = lower_hull(np.column_stack([grid, values])).tolist()
    lines = [
        (slope, b - slope * a) for (a, b), (c, d) in pairwise(points) for slope in ((d - b) / (c - a),)
    ]
    # before the first sample but one there is no line from the left, and none from the right after the last but one
    below = [(0.0, max(0.0, min(points[0][1], lines[1][1] if len(lines) > 1 else points[0][1]))), (1.0, 0.0)]
    for i in range(1, len(lines) - 1):
        left, right = lines[i - 1], lines[i + 1]
        if left[0] < right[0]:
            at = min(max(_meet(left, right), points[i][0]), points[i + 1][0])
            below.append((at, max(0.0, min(left[0] * at + left[1], right[0] * at + right[1]))))
    if len(lines) > 1 and lines[-2][0] < 0:
        at = min(1.0, -lines[-2][1] / lines[-2][0])
        below.append((at, max(0.0, lines[-2][0] * at + lines[-2][1])))
    return np.array(sorted(below))
