"""Claims as privacy profiles, and their algebra: group privacy, basic and advanced composition.

A claim gives the δ allowed at every ε, for pairs related by its `relation`. A claim of zCDP is tested at one ε, and
allows the largest δ there that any ρ-zCDP mechanism can reach. A claim of a curve (`dpaudit.language.curves`) is tested
at several ε together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.language.checks import at_least, positive, probability, whole
from dpaudit.language.curves import Curve, GaussianDP, ZeroConcentrated
from dpaudit.language.relation import REPLACE_ONE, Relation
from dpaudit.language.zcdp import zcdp_delta, zcdp_of_pure
from dpaudit.stats.enclosed import exp, expm1, fsum, is_enclosed, log, near, sqrt, unwatched

LOSSES = 1_000_000
"""With more distinct privacy losses than this, optimal composition falls back to basic composition."""


@dataclass(frozen=True)
class Claim:
    """(ε, δ)-differential privacy under a relation; δ = 0 is pure.

    Args:
        epsilon: ≥ 0, natural units.
        delta: in [0, 1].
        relation: replace-one by default.
        rho: ρ, for a ρ-zCDP claim made by `Claim.zcdp`; it is then tested at epsilon and delta.
        curve: for a claim made by `Claim.of`; epsilon and delta are then the point of it that results report.

    Raises:
        ParameterError: outside these ranges, or not finite; or a delta that does not follow from rho or the curve at
            epsilon.
    """

    epsilon: float
    delta: float = 0.0
    relation: Relation = REPLACE_ONE
    rho: float | None = None
    curve: Curve | None = None

    def __post_init__(self) -> None:
        at_least("epsilon", self.epsilon, 0)
        probability("delta", self.delta)
        if self.rho is not None:
            positive("rho", self.rho)
        for name in ("epsilon", "delta", "rho"):
            value = getattr(self, name)
            if not (value is None or type(value) in (int, float) or is_enclosed(value)):
                # numpy numbers and fractions print differently from the float they equal
                object.__setattr__(self, name, float(value))
        # the numbers of such a claim are doubles even in an enclosed run, as no draw uses them
        if self.rho is not None and near(self.delta) != zcdp_delta(near(self.rho), near(self.epsilon)):
            raise ParameterError(
                f"delta = {self.delta!r} is not what {self.rho!r}-zCDP allows at epsilon = {self.epsilon!r}; "
                "make the claim with Claim.zcdp(rho, epsilon=…)."
            )
        if self.curve is not None and self.delta != self.curve.delta_at(near(self.epsilon)):
            raise ParameterError(
                f"delta = {self.delta!r} is not what {self.curve.label} allows at epsilon = {self.epsilon!r}; "
                "make the claim with Claim.of(curve, epsilon=…)."
            )

    @classmethod
    def of(cls, curve: Curve, *, epsilon: float | None = None, relation: Relation = REPLACE_ONE) -> Claim:
        """A curve as a claim: audits test it at all of its points together.

        Args:
            curve: `GaussianDP`, `ZeroConcentrated`, `Renyi`, `TradeOff` or `Profile`.
            epsilon: the point of the curve that results report if no other one decides; by default the one at which a
                mechanism with twice the privacy loss shows first.
            relation: replace-one by default.

        Raises:
            ParameterError: epsilon is negative.
        """
        at = curve.typical if epsilon is None else at_least("epsilon", epsilon, 0)
        return cls(at, curve.delta_at(at), relation, None, curve)

    def at(self, epsilon: float) -> Claim:
        """The same claim of a curve, reported at another ε."""
        return self if self.curve is None else Claim.of(self.curve, epsilon=epsilon, relation=self.relation)

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """The (ε, δ) at which the claim is tested; all follow from it."""
        return ((self.epsilon, self.delta),) if self.curve is None else self.curve.points

    @classmethod
    def zcdp(cls, rho: float, *, epsilon: float, relation: Relation = REPLACE_ONE) -> Claim:
        """ρ-zCDP, tested at one ε: no event of a ρ-zCDP mechanism has p − e^ε q above δ (`zcdp_delta`).

        A refutation at (ε, δ) refutes ρ-zCDP. If the test finds nothing, ρ-zCDP may still fail at another ε, or
        without any single event that shows it: ρ-zCDP is stronger than all of its (ε, δ) together.

        Args:
            rho: > 0.
            epsilon: ≥ 0, the ε at which p − e^ε q is tested.
            relation: replace-one by default.

        Raises:
            ParameterError: outside these ranges.

        Source: Bun and Steinke, Concentrated Differential Privacy (2016), Definition 1.1.
        """
        positive("rho", rho)
        at_least("epsilon", epsilon, 0)
        return cls(epsilon, zcdp_delta(near(rho), near(epsilon)), relation, rho)

    def delta_at(self, epsilon: float) -> float:
        """δ allowed at ε ≥ 0: the claim's privacy profile.

        If ε is at least the claimed ε₀, this is the claimed δ. Below ε₀ it is the largest hockey-stick divergence of
        any pair of output distributions that satisfy the claim: δ + (1 − δ)(e^ε₀ − e^ε)/(1 + e^ε₀) (Kairouz, Oh and
        Viswanath 2015: randomised response with a leak dominates). A zCDP claim allows at every ε what ρ allows there,
        and a curve what it says.
        """
        if self.curve is not None:
            return self.curve.delta_at(near(epsilon))
        if self.rho is not None:
            return zcdp_delta(self.rho, at_least("epsilon", epsilon, 0))
        if epsilon >= self.epsilon:
            return self.delta
        # divided by e^ε₀ throughout, so that a huge ε₀ does not overflow
        slack = -expm1(epsilon - self.epsilon) / (1 + exp(-self.epsilon))
        return min(1.0, self.delta + (1 - self.delta) * slack)

    def group(self, k: int) -> Claim:
        """The claim for groups of k records: (kε, k·e^{kε}·δ), capped at δ = 1; k²ρ, tested at kε, for zCDP.

        Source: thesis Theorem 3.7; Bun and Steinke 2016 on group privacy of zCDP; `Curve.group`.

        Raises:
            ParameterError: nothing is proved of groups for this curve.
        """
        whole("the size of a group", k, least=1)
        if k == 1:
            return self
        if self.curve is not None:
            return Claim.of(self.curve.group(k), relation=self.relation.group(k))
        if self.rho is not None:
            return Claim.zcdp(k * k * self.rho, epsilon=k * self.epsilon, relation=self.relation.group(k))
        delta = min(1.0, k * exp(min(700.0, k * self.epsilon)) * self.delta)
        return Claim(k * self.epsilon, delta, self.relation.group(k))

    def chained(self, k: int) -> Claim:
        """What (ε, δ) implies for groups of k records, going from neighbour to neighbour: (kε, δ·Σ_{i<k} e^{iε}).

        Its δ is at most that of `group`, and the least that holds for every (ε, δ)-DP mechanism (`GroupPrivacy`
        attains it).

        Raises:
            ParameterError: k < 1, or a claim of zCDP or of a curve.
        """
        whole("the size of a group", k, least=1)
        if self.rho is not None:
            raise ParameterError("A claim of zCDP has no δ to add up over a chain; use group.")
        if self.curve is not None:
            raise ParameterError(f"A claim of {self.curve.label} has no δ to add up over a chain; use group.")
        links = fsum(exp(min(700.0, i * self.epsilon)) for i in range(k))
        return Claim(k * self.epsilon, min(1.0, links * self.delta), self.relation.group(k) if k > 1 else self.relation)

    def scaled(self, k: float) -> Claim:
        """k adaptive uses: (kε, kδ); kρ, tested at kε, for zCDP; for a curve what is proved of it, else its point.

        Source: thesis Theorem 3.5; Bun and Steinke 2016 on composition of zCDP; `Curve.repeated`.
        """
        if self.curve is not None and (repeated := self.curve.repeated(k)) is not None:
            return Claim.of(repeated, relation=self.relation)
        if self.rho is not None:
            return Claim.zcdp(k * self.rho, epsilon=k * self.epsilon, relation=self.relation)
        return Claim(k * self.epsilon, min(1.0, k * self.delta), self.relation)

    def under(self, relation: Relation) -> Claim:
        """The same numbers under another relation."""
        return replace(self, relation=relation)

    def implies(self, other: Claim) -> bool:
        """Whether every mechanism that satisfies this claim satisfies the other (same relation; up to rounding).

        zCDP follows from zCDP, and from pure DP with ρ = ε²/2; never from δ > 0, which allows infinite Rényi
        divergences. Of a curve only what its kind makes easy to see is said to follow.
        """
        if other.curve is not None:
            return self.relation == other.relation and self._implies_curve(other.curve)
        if other.rho is not None:
            implied_rho = self.rho if self.rho is not None else zcdp_of_pure(self.epsilon) if self.pure else math.inf
            if isinstance(self.curve, ZeroConcentrated):
                implied_rho = self.curve.rho
            return self.relation == other.relation and implied_rho <= other.rho * (1 + 1e-12)
        # a yes-or-no check up to rounding: doubles are enough
        with unwatched():
            own = replace(self, epsilon=near(self.epsilon), delta=near(self.delta))
            allowed = own.delta_at(near(other.epsilon) * (1 + 1e-12))
            return self.relation == other.relation and allowed <= near(other.delta) * (1 + 1e-12) + 1e-15

    def _implies_curve(self, curve: Curve) -> bool:
        if self.curve is not None:
            return self.curve.implies(curve)
        rho = self.rho if self.rho is not None else zcdp_of_pure(near(self.epsilon)) if self.pure else None
        if rho and ZeroConcentrated(near(rho)).implies(curve):
            return True
        stated = getattr(curve, "lines", None)
        return stated is not None and all(self.delta_at(e) <= delta * (1 + 1e-12) + 1e-15 for e, delta in stated)

    @property
    def pure(self) -> bool:
        """Whether δ = 0, and the claim is not one of zCDP or of a curve."""
        return self.delta == 0 and self.rho is None and self.curve is None

    def __repr__(self) -> str:
        # without a curve as ever: ids of results are made from it
        more = "" if self.curve is None else f", curve={self.curve!r}"
        stated = f"epsilon={self.epsilon!r}, delta={self.delta!r}, relation={self.relation!r}, rho={self.rho!r}"
        return f"Claim({stated}{more})"

    def __str__(self) -> str:
        if self.curve is not None:
            return f"{self.curve.label} under {self.relation.name}"
        if self.rho is not None:
            where = f"({self.epsilon:.6g}, {self.delta:.6g})"
            return f"{self.rho:.6g}-zCDP under {self.relation.name}, tested at {where}"
        numbers = f"{self.epsilon:.6g}" if self.pure else f"({self.epsilon:.6g}, {self.delta:.6g})"
        return f"{numbers}-DP under {self.relation.name}"


def basic_composition(claims: Iterable[Claim]) -> Claim:
    """Σε, Σδ of mechanisms used one after the other, adaptively; Σρ, tested at Σε, if all claims are zCDP.

    If only some claims are zCDP, each of those counts as the (ε, δ) at which it is tested. Claims of Gaussian DP alone
    compose to √Σμ², curves of zCDP alone to Σρ; other curves count as the (ε, δ) that they report.

    Source: thesis Theorems 3.4 and 3.5; Bun and Steinke 2016 on composition of zCDP; Dong, Roth and Su 2022,
    Corollary 3.3.

    Raises:
        ParameterError: no claims, or claims under different relations.
    """
    parts = list(claims)
    if not parts:
        raise ParameterError("Nothing to compose: basic composition needs at least one claim.")
    if len({part.relation for part in parts}) > 1:
        raise ParameterError("Claims under different relations do not compose.")
    curves = [part.curve for part in parts]
    mus = [curve.mu for curve in curves if isinstance(curve, GaussianDP)]
    if len(mus) == len(parts):
        return Claim.of(GaussianDP(math.hypot(*mus)), relation=parts[0].relation)
    concentrated = [curve.rho for curve in curves if isinstance(curve, ZeroConcentrated)]
    if len(concentrated) == len(parts):
        return Claim.of(ZeroConcentrated(math.fsum(concentrated)), relation=parts[0].relation)
    epsilon = fsum(part.epsilon for part in parts)
    rhos = [part.rho for part in parts if part.rho is not None]
    if len(rhos) == len(parts):
        return Claim.zcdp(fsum(rhos), epsilon=epsilon, relation=parts[0].relation)
    return Claim(epsilon, min(1.0, fsum(part.delta for part in parts)), parts[0].relation)


def advanced_composition(claim: Claim, k: int, delta_prime: float) -> Claim:
    """k adaptive uses: (√(2k·ln(1/δ′))·ε + 2kε², kδ + δ′).  Source: thesis Theorem 3.6.

    Raises:
        ParameterError: ε or δ′ outside (0, 1], or k < 1.
    """
    whole("k", k, least=1)
    if not 0 < positive("delta_prime", delta_prime) <= 1:
        raise ParameterError(f"delta_prime must lie in (0, 1], not {delta_prime!r}.")
    if not 0 < claim.epsilon <= 1:
        raise ParameterError(f"Theorem 3.6 needs 0 < epsilon ≤ 1, not {claim.epsilon!r}.")
    epsilon = sqrt(2 * k * log(1 / delta_prime)) * claim.epsilon + 2 * k * claim.epsilon**2
    return Claim(epsilon, min(1.0, k * claim.delta + delta_prime), claim.relation)


def advanced_share(epsilon: float, delta_prime: float, k: int) -> float:
    """The largest ε₀ ≤ 1 with √(2k·ln(1/δ′))·ε₀ + 2kε₀² ≤ ε: the privacy budget of each of k adaptive uses.

    Source: thesis Theorem 3.6.

    Raises:
        ParameterError: ε ≤ 0, δ′ outside (0, 1], or k < 1.
    """
    whole("k", k, least=1)
    if not 0 < positive("delta_prime", delta_prime) <= 1:
        raise ParameterError(f"delta_prime must lie in (0, 1], not {delta_prime!r}.")
    root = sqrt(2 * k * log(1 / delta_prime))
    # the positive root of a quadratic, in the form without cancellation
    share = 2 * positive("epsilon", epsilon) / (root + sqrt(root * root + 8 * k * epsilon))
    while not is_enclosed(share) and root * share + 2 * k * share * share > epsilon:
        share = math.nextafter(share, 0.0)
    return min(1.0, share)


def optimal_composition(claims: Iterable[Claim], epsilon: float) -> float:
    """The least δ at ε guaranteed for the adaptive composition of any mechanisms with these claims.

    1 − Π(1 − δᵢ)·(1 − δ_RR(ε)), where δ_RR is the hockey-stick divergence of independent randomised responses; equal
    claims are counted together. With too many different ε it is an upper bound, the δ of basic composition.

    Source: Kairouz, Oh and Viswanath 2015 on optimal composition; Murtagh and Vadhan 2016 where the claims differ.
    """
    parts = list(claims)
    from scipy.special import gammaln  # half of the time that the language takes to import, and nothing else needs it

    counts = Counter(part.epsilon for part in parts)
    if math.prod(k + 1 for k in counts.values()) > LOSSES:
        return basic_composition(parts).delta_at(epsilon)
    losses, masses = np.zeros(1), np.ones(1)
    for e, k in counts.items():
        lies = np.arange(k + 1)
        log_truth = -math.log1p(math.exp(-e))  # ln of the probability of a true answer
        logs = gammaln(k + 1) - gammaln(lies + 1) - gammaln(k - lies + 1) + k * log_truth - lies * e
        losses = np.add.outer(losses, e * (k - 2.0 * lies)).ravel()
        masses = np.multiply.outer(masses, np.exp(logs)).ravel()
    above = losses > epsilon
    responses = float((masses[above] * -np.expm1(epsilon - losses[above])).sum())
    kept = math.fsum(math.log1p(-part.delta) for part in parts if part.delta < 1)
    if any(part.delta == 1 for part in parts):
        return 1.0
    return min(1.0, -math.expm1(kept) + math.exp(kept) * responses)
