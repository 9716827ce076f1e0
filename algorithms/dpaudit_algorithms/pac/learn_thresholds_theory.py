"""Utility guarantees of LearnThresholds: Theorem 6.17, as printed and corrected."""

from __future__ import annotations

import math
from abc import abstractmethod

from dpaudit.language import Mechanism, SampleSize, UtilityClaim, as_written, checks, exp, exp2, log, log2
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.interior_points.rec_concave_theory import iterated_log
from dpaudit_algorithms.pac.concepts import EmpiricalError, GeneralisationError, Thresholds


class LearnThresholdsTheory(Mechanism):
    """Of both versions; the parameters are those of `LearnThresholds`."""

    size: int
    alpha: float
    epsilon: float
    delta: float
    base: int

    @property
    @abstractmethod
    def depth(self) -> int:
        """N, log*|X| without a choice."""

    def sample_size(self, beta: float) -> int:
        """n ≥ 8^N·(72N/(αε))·(log(12N/(βδ)) + log…log|X|, N times), log to base 2.

        Raises:
            ParameterError: beta outside (0, 1).
        """
        checks.probability("beta", beta, open_ends=True)
        logs = log2(12 * self.depth / (as_written(beta) * self.delta)) + iterated_log(self.size, self.depth)
        return math.ceil((1 << 3 * self.depth) * 72 * self.depth / (self.alpha * self.epsilon) * logs)

    def _least_beta(self, records: int) -> float:
        """The β that this many records afford, by the printed sample size."""
        given = records * self.alpha * self.epsilon / ((1 << 3 * self.depth) * 72 * self.depth)
        power = given - iterated_log(self.size, self.depth)
        return 12 * self.depth / self.delta * exp2(min(1000.0, -power))

    @property
    def _place(self) -> str:
        return "§6.5, Theorem 6.17"

    @property
    def _formula(self) -> str:
        return "8^N·(72N/(αε))·(log(12N/(βδ)) + log…log|X|)"

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Theorem 6.17, with the least β that this many records afford.

        On examples labelled by a threshold: empirical error ≤ α/2 with probability 1 − β/2, as its proof has it for
        every sample; and where they are drawn from a distribution, generalisation error ≤ α with probability 1 − β.
        """
        beta = self._least_beta(records)
        if self.base > 32 or beta >= 1:
            return ()
        concepts = Thresholds(self.size)
        return (
            UtilityClaim(EmpiricalError(concepts, self.alpha / 2), all_but(beta / 2), f"{self._place}, its proof"),
            UtilityClaim(GeneralisationError(concepts, self.alpha), all_but(beta), self._place),
        )

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Theorem 6.17's number of examples, at β = 0.05."""
        return (
            SampleSize(
                self.sample_size(BETA),
                f"{self._formula}, N times log, β = {BETA:g}",
                f"(α, β)-PAC: generalisation error ≤ α with probability at least {1 - BETA:g}",
                self._place,
            ),
        )


class LearnThresholdsCorrectedTheory(LearnThresholdsTheory):
    """Of `LearnThresholdsCorrected`, where it differs."""

    def sample_size(self, beta: float) -> int:
        """The greatest of the three numbers of records that `LearnThresholdsCorrected` names.

        Raises:
            ParameterError: beta outside (0, 1).
        """
        N, printed = self.depth, super().sample_size(beta)
        clear = 2 + 6 * N / self.epsilon * log(12 * N**2 / (as_written(beta) * self.delta)) if N > 1 else 0.0
        others = max(8 / self.alpha * log(4 / as_written(beta)), (2 << 3 * (N - 1)) / (3 * self.alpha) * clear)
        return max(printed, math.ceil(others))

    def _least_beta(self, records: int) -> float:
        N, betas = self.depth, [super()._least_beta(records), 4 * exp(-self.alpha * records / 8)]
        if N > 1:
            clear = 3 * self.alpha * records / (2 << 3 * (N - 1))
            betas.append(12 * N**2 / self.delta * exp(min(500.0, -self.epsilon / (6 * N) * (clear - 2))))
        return max(betas)

    @property
    def _place(self) -> str:
        return "§6.5, Theorem 6.17, corrected"

    @property
    def _formula(self) -> str:
        clear = ", (2·8^{N−1}/(3α))·(2 + (6N/ε)·ln(12N²/(βδ)))" if self.depth > 1 else ""
        return f"max({super()._formula}, (8/α)·ln(4/β){clear})"
