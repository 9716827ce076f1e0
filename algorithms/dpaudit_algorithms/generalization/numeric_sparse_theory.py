"""Accuracy of NumericSparse, Theorem 3.28, and what its parts compose to, as printed and corrected."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Goal, Instance, Mechanism, Query, UtilityClaim, checks, expm1, log, sqrt
from dpaudit_algorithms.foundations.sparse_vector_outputs import BELOW

ROOT_512 = sqrt(512)


class SparseNoiseTheory(checks.Checked, ABC):
    """Of `SparseNoise`, whose parameters these are."""

    epsilon: float
    delta: float
    c: int
    unit: float
    printed: bool

    @property
    @abstractmethod
    def threshold(self) -> float:
        """The scale of T̂."""

    @property
    @abstractmethod
    def released(self) -> float:
        """The scale of υ."""

    def accuracy(self, k: int, beta: float) -> float:
        """α of Theorem 3.28 for k queries, in the unit of the answers.

        The comparisons err by less with probability 1 − β/2 (Theorem 3.26): 9c(ln k + ln(4c/β))/ε with δ = 0, else
        √(c·ln(2/δ))·(ln k + ln(4c/β))·√512·ε/ε₁, divided by ε; the last factor is √512 + 1 as printed, and corrected
        √512·9/8. The printed α is too small for the releases if δ > 0, the corrected one is not (`NumericSparse`).
        """
        logs = log(k) + log(4 * self.c / beta)
        if not self.delta:
            return self.unit * 9 * self.c * logs / self.epsilon
        factor = ROOT_512 + 1 if self.printed else 9 * ROOT_512 / 8
        return self.unit * logs * sqrt(self.c * log(2 / self.delta)) * factor / self.epsilon

    @property
    def composed(self) -> float:
        """The composed ε of all parts at δ, each half by basic composition or by Theorem 3.20 with δ/2.

        It is at most ε if δ = 0, or for every c if δ > 0 and ε ≤ 3.2·ln(2/δ) (Corollary 3.21 requires ε < 1). For a
        half with ε' and ε₀ = ε'/√(8cL), L = ln(2/δ): if c ≤ 8L, then cε₀ ≤ ε'. Otherwise √(2cL)·ε₀ = ε'/2, and
        cε₀(e^{ε₀} − 1) ≤ ε'/2 iff s·(e^{ε'/(8Ls)} − 1) ≤ 1/2 with s = √(c/(8L)) ≥ 1. The left side decreases in s, and
        at s = 1 the condition is ε' ≤ 8L·ln(3/2) = 3.24·L.
        """
        return self._half(2 * self.unit / self.threshold) + self._half(self.unit / self.released)

    def _half(self, each: float) -> float:
        basic = self.c * each
        if not self.delta:
            return basic
        advanced = sqrt(2 * self.c * log(2 / self.delta)) * each + basic * expm1(min(each, 700.0))
        return min(basic, advanced)


class NumericSparseTheory(Mechanism):
    """Of `NumericSparse`, whose parameters these are."""

    threshold: float
    c: int
    queries: tuple[Query, ...]
    beta: float

    @property
    @abstractmethod
    def noise(self) -> SparseNoiseTheory:
        """The scales."""

    @property
    def alpha(self) -> float:
        """α of Theorem 3.28."""
        return self.noise.accuracy(len(self.queries), self.beta)

    @property
    def goal(self) -> AccurateNumbers:
        """Definition 3.10 under the condition of Theorem 3.28."""
        return AccurateNumbers(self.queries, self.threshold, self.alpha, self.c)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(α, β)-accurate if at most c queries are at least T − α, for any number of records."""
        return (UtilityClaim(self.goal, 1 - self.beta, "§3.6, Theorem 3.28"),)


class NumericSparseCorrectedTheory(NumericSparseTheory):
    """Of `NumericSparseCorrected`, where it differs."""

    @property
    def goal(self) -> AccurateNumbers:
        """Definition 3.10 if fewer than c queries before the last are at least T − α."""
        return AccurateNumbers(self.queries, self.threshold, self.alpha, self.c, before_last=True)


@dataclass(frozen=True)
class AccurateNumbers(Goal):
    """No halt before the last query; |a_i − f_i(D)| ≤ α for numbers, and f_i(D) ≤ T + α for answers ⊥.

    The goal is reached trivially if too many queries are at least T − α, because the guarantee does not apply.

    Args:
        queries: f_1, …, f_k.
        threshold: T.
        alpha: > 0.
        c: as printed, at most c queries may be at least T − α.
        before_last: instead, fewer than c queries before the last may be at least T − α.

    Source: Dwork and Roth, Definition 3.10 and Theorem 3.28.
    """

    queries: tuple[Query, ...]
    threshold: float
    alpha: float
    c: int
    before_last: bool = False

    def reached(self, instance: Instance, output: Any) -> bool:
        answers = [answer for query in self.queries for answer in query(instance.dataset)]
        near = [answer >= self.threshold - self.alpha for answer in answers]
        if sum(near[:-1]) >= self.c if self.before_last else sum(near) > self.c:
            return True
        return len(output) == len(answers) and all(
            answer <= self.threshold + self.alpha if said == BELOW else abs(said - answer) <= self.alpha
            for said, answer in zip(output, answers, strict=True)
        )

    def __str__(self) -> str:
        return f"no answer off by more than {self.alpha:.6g} and no early halt"
