"""Utility guarantees of RecConcave: Lemma 6.13 and Theorem 6.14(2), as printed and with the corrected A_dist."""

from __future__ import annotations

import math
from abc import abstractmethod

from dpaudit.language import (
    Mechanism,
    Quality,
    SampleSize,
    UtilityClaim,
    ceil_log2,
    checks,
    exp,
    exp2,
    log,
    log2,
)
from dpaudit_algorithms.foundations.goals import BETA, PromiseKept, all_but

_PRINTED_BASE = 32


class RecConcaveTheory(Mechanism):
    """Of both versions; the parameters are those of `RecConcave`."""

    T: int
    quality: Quality
    promise: float
    alpha: float
    epsilon: float
    delta: float
    base: int

    @property
    @abstractmethod
    def calls(self) -> int:
        """N: how many calls there are, the first one counted."""

    @property
    def _unclear(self) -> float:
        """The least β at which the promise makes A_dist's gaps large enough, where that is a demand of its own."""
        return 0.0

    @property
    def _places(self) -> tuple[str, str]:
        return "§6.4, Lemma 6.13", "§6.4, Theorem 6.14(2)"

    @property
    def _formula(self) -> str:
        return "8^N·(4/(αε))·(log(32/(βδ)) + log^⌈N⌉(T))"

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 6.13 and Theorem 6.14(2), each with the least β that the promise r affords, for any records."""
        N, T = self.calls, max(1, self.T)
        if self.base > _PRINTED_BASE or self.alpha > 0.5 or self.promise <= 0:
            return ()
        # r ≥ 8^N·(4/(αε))·(log(32/(βδ)) + log^⌈N⌉(T)), with failure 2βN
        given = self.promise * self.alpha * self.epsilon / (1 << 3 * N)
        lemma = max(32 / self.delta * _half_to(given / 4 - rounded_logs(T, N)), self._unclear)
        # r ≥ 8^N·(36N/(αε))·(log(6N/(βδ)) + log … log T), where the theorem's ε and δ are 3N times those of a step
        theorem = max(2 / self.delta * _half_to(given / 12 - iterated_log(T, N)), 2 * N * self._unclear)
        goal = PromiseKept(self.quality, self.promise, self.alpha)
        failures = zip((2 * N * lemma, theorem), self._places, strict=True)
        return tuple(UtilityClaim(goal, all_but(failure), place) for failure, place in failures if failure < 1)

    def least_promise(self, beta: float) -> float:
        """The r from which Lemma 6.13 lets it fail with probability at most 2·beta·N.

        Raises:
            ParameterError: beta outside (0, 1).
        """
        checks.probability("beta", beta, open_ends=True)
        logs = log2(32 / (beta * self.delta)) + rounded_logs(max(1, self.T), self.calls)
        return (1 << 3 * self.calls) * 4 / (self.alpha * self.epsilon) * logs

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The promise r of Lemma 6.13 for a failure of 0.05; a quality that counts records needs as many records."""
        return (
            SampleSize(
                math.ceil(self.least_promise(BETA / (2 * self.calls))),
                f"{self._formula}, β = {BETA:g}/(2N)",
                f"Q ≥ (1 − α)·r with probability at least {1 - BETA:g}, where so much is promised: r",
                self._places[0],
            ),
        )


class RecConcaveCorrectedTheory(RecConcaveTheory):
    """Of `RecConcaveCorrected`, where it differs."""

    def least_promise(self, beta: float) -> float:
        """The r from which it fails with probability at most 2·beta·N: as printed, or as `RecConcaveCorrected` has it.

        The greater of them.

        Raises:
            ParameterError: beta outside (0, 1).
        """
        printed = super().least_promise(beta)
        if self.calls == 1:
            return printed
        clear = 2 + 2 / self.epsilon * log(1 / (beta * self.delta))
        return max(printed, (1 << 3 * (self.calls - 1)) / (3 * self.alpha) * clear)

    @property
    def _unclear(self) -> float:
        if self.calls == 1:
            return 0.0
        clear = 3 * self.alpha * self.promise / (1 << 3 * (self.calls - 1))
        return exp(min(700.0, -self.epsilon / 2 * (clear - 2))) / self.delta

    @property
    def _places(self) -> tuple[str, str]:
        return "§6.4, Lemma 6.13, corrected", "§6.4, Theorem 6.14(2), corrected"

    @property
    def _formula(self) -> str:
        return f"max({super()._formula}, (8^{{N−1}}/(3α))·(2 + (2/ε)·ln(1/(βδ))))"


def rounded_logs(T: int, times: int) -> int:
    """log^⌈N⌉(T): ⌈log₂ ·⌉ applied N times to T ≥ 1; 0 stays 0."""
    for _ in range(times):
        T = ceil_log2(max(1, T))
    return T


def iterated_log(T: float, times: int) -> float:
    """log₂ applied N times to T ≥ 1; it stops where there is no logarithm."""
    for _ in range(times):
        if T <= 0:
            break
        T = log2(T)
    return T


def _half_to(power: float) -> float:
    """2^−power, large but finite where that overflows."""
    return exp2(min(1000.0, -power))
