"""The best events on a pair with known output distributions: the reference for an auditor's results."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from dpaudit.language import Claim, FloatArray
from dpaudit.stats import power, score_test

Floats = FloatArray
ROUNDING = 1e-7
CANDIDATES = 400
"""Number of events per direction to which the curves are thinned before limits are computed."""


@dataclass(frozen=True)
class Oracle:
    """The events {likelihood ratio of D to D′ ≥ t} for descending t, which are optimal (Neyman–Pearson).

    Args:
        p: their probabilities under D, ascending, shape (k,).
        q: their probabilities under D′, shape (k,).
        exact: whether p and q come from output distributions or closed forms; False if they are averages over runs,
            weighted by the true density.
        rest: the probabilities of the complements under D and D′, if 1 − p and 1 − q would lose precision.

    The complements are the events of the other direction.
    """

    p: Floats
    q: Floats
    exact: bool = True
    rest: tuple[Floats, Floats] | None = None

    @classmethod
    def of_laws(cls, left: Mapping[Hashable, float], right: Mapping[Hashable, float]) -> Oracle:
        """The oracle from the probabilities of every output under D and D′."""
        values = list(dict.fromkeys([*left, *right]))
        p = np.array([left.get(value, 0.0) for value in values])
        q = np.array([right.get(value, 0.0) for value in values])
        return cls.of_atoms(p, q)

    @classmethod
    def of_atoms(cls, p: Floats, q: Floats) -> Oracle:
        """The oracle from the probabilities of atoms, or of small cells that partition the outputs; shape (k,) each."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(p > 0, np.where(q > 0, p / q, np.inf), 0.0)
        order = np.argsort(-ratio, kind="stable")
        p, q = p[order], q[order]

        def after(side: Floats) -> Floats:
            rest: Floats = np.append(np.cumsum(side[::-1])[::-1][1:], 0.0)
            return np.clip(rest, 0.0, 1.0)

        return cls(np.minimum(np.cumsum(p), 1.0), np.minimum(np.cumsum(q), 1.0), rest=(after(p), after(q)))

    def events(self) -> list[tuple[float, float]]:
        """The events of both directions, thinned: (larger probability, probability under the other dataset)."""
        # evenly on a log scale in both tails: rare events matter as much as frequent ones
        ends = np.geomspace(1e-9, 0.5, CANDIDATES // 2)
        shares = np.concatenate([ends, 1 - ends])
        at = np.unique(np.clip(np.searchsorted(self.p, shares), 0, len(self.p) - 1))
        back = np.unique(np.clip(np.searchsorted(self.q, shares), 0, len(self.q) - 1))
        keep = np.unique(np.concatenate([at, back]))
        left = [(float(self.p[i]), float(self.q[i])) for i in keep]
        if self.rest is not None:
            return left + [(float(self.rest[1][i]), float(self.rest[0][i])) for i in keep]
        # complements of events with probability near 1 are dominated by rounding
        return left + [(1 - q, 1 - p) for p, q in left if max(p, q) < 1 - 1e-9]

    def information_limit(self, claim: Claim, alpha: float) -> float:
        """n*: samples per dataset that the best event needs to refute the claim at error alpha; inf if it holds."""
        # many mechanisms attain their ε, and an excess within rounding error is not a violation
        limits = (
            power.information_limit(p, q, epsilon=claim.epsilon, delta=claim.delta, alpha=alpha)
            for p, q in self.events()
            if p > (math.exp(claim.epsilon) * q + claim.delta) * (1 + ROUNDING) + ROUNDING**2
        )
        return min(limits, default=math.inf)

    def bound(self, runs: int, delta: float, alpha: float) -> float:
        """The largest lower confidence bound on ε of any event, at the expected counts of `runs` samples per dataset.

        The score test gives the bound, with the event known in advance. It is the reference column for auditors.
        """
        def rough(event: tuple[float, float]) -> float:
            p, q = event
            if p <= delta:
                return -math.inf
            error = 1.645 * math.sqrt((1 - p) / (p * runs) + (1 - q) / max(q * runs, 1.0)) if p > 0 else math.inf
            return math.log((p - delta) / max(q, 1 / runs)) - error

        best = sorted(self.events(), key=rough, reverse=True)[:12]
        return max(
            score_test.epsilon_lower(round(p * runs), runs, round(q * runs), runs, delta=delta, alpha=alpha)
            for p, q in best
        )

    def epsilon(self, delta: float = 0.0) -> float:
        """The true ε of the pair at δ, up to the thinning of the curve: the largest ln((p − δ)/q)."""
        largest = 0.0
        for p, q in self.events():
            if p > delta:
                largest = max(largest, math.log((p - delta) / q) if q > 0 else math.inf)
        return largest
