"""Utility guarantees of LearnPoints: Lemma 6.2, as printed and corrected."""

from __future__ import annotations

import math
from typing import ClassVar

from dpaudit.language import Mechanism, SampleSize, UtilityClaim, checks, exp, log
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.pac.concepts import GeneralisationError, Points, PointsAndZero

ALPHA = 0.1
"""The error at which the learner's guarantee, which holds for every α, is shown."""


class LearnPointsTheory(Mechanism):
    """Of both versions; the parameters are those of `LearnPoints`."""

    epsilon: float
    delta: float
    domain: int
    zero: ClassVar[bool] = False
    """Whether c_0 ≡ 0 is returned in place of a random concept (Remark 6.3), which asks nothing of |X|."""

    def sample_size(self, alpha: float, beta: float) -> int:
        """n ≥ (8/(αε))·ln(4/(βδ)) and n ≥ (16/α)·ln(2/β): the proof's numbers, where |X| ≥ 2/(alpha·beta) or `zero`.

        Raises:
            ParameterError: alpha or beta outside (0, 1).
        """
        _check_accuracy(alpha, beta)
        answers = 8 / (alpha * self.epsilon) * log(4 / (beta * self.delta))
        return math.ceil(max(answers, 16 / alpha * log(2 / beta)))

    def guarantee(self, alpha: float, records: int) -> UtilityClaim | None:
        """Lemma 6.2 for this alpha in (0, 1), with the least β for |X| and this many examples; None if it is ≥ 1.

        Raises:
            ParameterError: alpha outside (0, 1).
        """
        answers = 4 / self.delta * exp(-alpha * self.epsilon * records / 8)
        return self._accurate(alpha, records, answers, "Lemma 6.2")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 6.2 with α = 0.1, with the least β that the parameters and this many examples afford."""
        claim = self.guarantee(ALPHA, records)
        return () if claim is None else (claim,)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Those of the proof of Lemma 6.2, at α = 0.1, β = 0.05 (or the least that |X| affords)."""
        return self._shown("max((8/(αε))·ln(4/(βδ)), (16/α)·ln(2/β))", 0.0, "Lemma 6.2, its proof")

    def _shown(self, formula: str, least: float, place: str) -> tuple[SampleSize, ...]:
        """The formula at the β at which it is shown: 0.05, or what |X| ≥ 2/(αβ) and `least` ask for, below 1."""
        beta = max(BETA, least, 0.0 if self.zero else 2 / (ALPHA * self.domain))
        if beta >= 1:
            return ()
        guarantee = f"(α, β)-PAC: generalisation error ≤ {ALPHA:g} with probability at least {1 - beta:.4g}"
        at = f"{formula}, α = {ALPHA:g}, β = {beta:.4g}"
        return (SampleSize(self.sample_size(ALPHA, beta), at, guarantee, self._placed(place)),)

    def _accurate(self, alpha: float, records: int, beta: float, place: str) -> UtilityClaim | None:
        """α-good with probability 1 − β, where β is at least what |X| and the Chernoff bound ask for."""
        checks.probability("alpha", alpha, open_ends=True)
        asked = 0.0 if self.zero else 2 / (alpha * self.domain)
        beta = max(beta, asked, 2 * exp(-alpha * records / 16))
        concepts = PointsAndZero(self.domain) if self.zero else Points(self.domain)
        good = GeneralisationError(concepts, alpha)
        return UtilityClaim(good, all_but(beta), self._placed(place)) if beta < 1 else None

    def _placed(self, place: str) -> str:
        return f"§6.2, {place}{', with Remark 6.3' if self.zero else ''}"


class LearnPointsCorrectedTheory(LearnPointsTheory):
    """Of `LearnPointsCorrected`, where it differs."""

    def sample_size(self, alpha: float, beta: float) -> int:
        """Labelled examples for an (alpha, beta)-PAC learner where |X| ≥ 2/(alpha·beta) or `zero`, and δ ≤ beta.

        Raises:
            ParameterError: alpha or beta outside (0, 1).
        """
        _check_accuracy(alpha, beta)
        gap = 2 + 2 / self.epsilon * log(1 / (beta * self.delta))
        return math.ceil(max(16 / alpha * log(2 / beta), 4 * gap / alpha))

    def guarantee(self, alpha: float, records: int) -> UtilityClaim | None:
        """As printed, where `LearnPointsCorrected` proves it: the least β also depends on δ.

        Raises:
            ParameterError: alpha outside (0, 1).
        """
        answers = exp(min(500.0, -self.epsilon / 2 * (alpha * records / 4 - 2))) / self.delta
        return self._accurate(alpha, records, max(answers, self.delta), "Lemma 6.2, corrected")

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """At α = 0.1, β = 0.05 (or the least that |X| and δ afford)."""
        return self._shown(
            "max((16/α)·ln(2/β), (4/α)·(2 + (2/ε)·ln(1/(βδ))))", self.delta, "Lemma 6.2, corrected"
        )


def _check_accuracy(alpha: float, beta: float) -> None:
    checks.probability("alpha", alpha, open_ends=True)
    checks.probability("beta", beta, open_ends=True)
