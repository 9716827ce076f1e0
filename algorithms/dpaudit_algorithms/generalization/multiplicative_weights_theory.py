"""Accuracy of private multiplicative weights: Theorems 4.10, 4.14 and 4.15, and Corollary 4.12 of the thesis."""

from __future__ import annotations

import math
from typing import Any

from dpaudit.language import Multiset, SampleSize, UtilityClaim, fsum, log, log2, sqrt
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.generalization.interaction import AccurateAnswers, Interactive
from dpaudit_algorithms.generalization.numeric_sparse_theory import ROOT_512

COROLLARIES = "thesis, §4.5.2, Corollaries 4.10 and 4.12"


class MultiplicativeWeightsTheory(Interactive):
    """Of `PrivateMultiplicativeWeights`, whose parameters these are."""

    epsilon: float
    delta: float
    alpha: float
    points: tuple[Any, ...] | range
    records: int
    beta: float
    c: int | None
    threshold: float | None

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(3α, β)-accurate on the sample, and (3α + 10ε, 2β)-accurate on D, at the printed n, c and T.

        An ε-DP mechanism is (ε, δ′)-DP: Corollary 4.10 with δ′ = εβ, from n ≥ (1/ε²)·log(2k/β) on.
        """
        as_printed = self.c is None and self.threshold is None
        if not as_printed or self.records < self.printed_records():
            return ()
        goal = AccurateAnswers(self.analyst, 3 * self.alpha, "sample")
        sample = UtilityClaim(goal, all_but(self.beta), self._theorem)
        enough = self.records >= log2(2 * self.analyst.rounds / self.beta) / self.epsilon**2
        if self.delta or not enough or self.epsilon >= 1 / 3 or self.beta >= 1 / 4 or self.analyst.population is None:
            return (sample,)
        on_D = AccurateAnswers(self.analyst, 3 * self.alpha + 10 * self.epsilon)
        return (sample, UtilityClaim(on_D, 1 - 2 * self.beta, COROLLARIES))

    def printed_records(self) -> int:
        """The least n with α ≥ 32·ln|X|·Λ/(εα²n), or with δ > 0 (2 + 32√2)·√(ln|X|·ln(2/δ))·Λ/(εα²n).

        Λ = ln|Q| + ln(32·ln|X|/(α²β)). By its c and T the printed α² of the second would be α; it requires more.
        """
        size = log(len(self.points))
        logs = log(self.analyst.rounds) + log(32 * size / (self.alpha**2 * self.beta))
        factor = 2 * (1 + ROOT_512) * sqrt(size * log(2 / self.delta)) if self.delta else 32 * size
        return math.ceil(factor * logs / (self.epsilon * self.alpha**3))

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Theorem 4.14, or 4.15 if δ > 0."""
        formula = (
            "(2 + 32√2)·√(ln|X|·ln(2/δ))·(ln k + ln(32·ln|X|/(α²β)))/(εα³)"
            if self.delta
            else "32·ln|X|·(ln k + ln(32·ln|X|/(α²β)))/(εα³)"
        )
        return (SampleSize(self.printed_records(), formula, "all answers within 3α of the sample", self._theorem),)

    @property
    def _theorem(self) -> str:
        return f"§4.2.2, Theorem 4.{15 if self.delta else 14}"


def potential(records: Multiset, points: tuple[Any, ...] | range, x: tuple[float, ...]) -> float:
    """Ψ = KL(records ‖ x), in nats.  Source: Dwork and Roth, proof of Theorem 4.10."""
    n = len(records)
    at = dict(zip(points, x, strict=True))
    return fsum(times / n * log(times / n / at[record]) for record, times in records.items)
