"""Utility guarantees of LearnPoints: Lemma 6.2, as printed and corrected."""

from __future__ import annotations

import math

from dpaudit.language import Mechanism, SampleSize, UtilityClaim, checks, exp, log
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.pac.concepts import GeneralisationError, Points

ALPHA = 0.1
"""The error at which the learner's guarantee, which holds for every α, is shown."""


class LearnPointsTheory(Mechanism):
    """Of both versions; the parameters are those of `LearnPoints`."""

    epsilon: float
    delta: float
    domain: int

    def sample_size(self, alpha: float, beta: float) -> int:
        """n ≥ (8/(αε))·ln(4/(βδ)) and n ≥ (16/α)·ln(2/β): the proof's numbers, where |X| ≥ 2/(alpha·beta).

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
        return _accurate(self.domain, alpha, records, answers, "§6.2, Lemma 6.2")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 6.2 with α = 0.1, with the least β that the parameters and this many examples afford."""
        claim = self.guarantee(ALPHA, records)
        return () if claim is None else (claim,)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Those of the proof of Lemma 6.2, at α = 0.1, β = 0.05 (or the least that |X| affords)."""
        beta = _shown_beta(self.domain)
        if beta is None:
            return ()
        formula = f"max((8/(αε))·ln(4/(βδ)), (16/α)·ln(2/β)), α = {ALPHA:g}, β = {beta:.4g}"
        return (SampleSize(self.sample_size(ALPHA, beta), formula, _shown(beta), "§6.2, Lemma 6.2, its proof"),)


class LearnPointsCorrectedTheory(LearnPointsTheory):
    """Of `LearnPointsCorrected`, where it differs."""

    def sample_size(self, alpha: float, beta: float) -> int:
        """Labelled examples that make it an (alpha, beta)-PAC learner where |X| ≥ 2/(alpha·beta) and δ ≤ beta.

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
        return _accurate(self.domain, alpha, records, max(answers, self.delta), "§6.2, Lemma 6.2, corrected")

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """At α = 0.1, β = 0.05 (or the least that |X| and δ afford)."""
        beta = _shown_beta(self.domain, self.delta)
        if beta is None:
            return ()
        formula = f"max((16/α)·ln(2/β), (4/α)·(2 + (2/ε)·ln(1/(βδ)))), α = {ALPHA:g}, β = {beta:.4g}"
        return (SampleSize(self.sample_size(ALPHA, beta), formula, _shown(beta), "§6.2, Lemma 6.2, corrected"),)


def _check_accuracy(alpha: float, beta: float) -> None:
    checks.probability("alpha", alpha, open_ends=True)
    checks.probability("beta", beta, open_ends=True)


def _accurate(domain: int, alpha: float, records: int, beta: float, place: str) -> UtilityClaim | None:
    """α-good with probability 1 − β, where β is at least what |X| and the Chernoff bound ask for."""
    checks.probability("alpha", alpha, open_ends=True)
    beta = max(beta, 2 / (alpha * domain), 2 * exp(-alpha * records / 16))
    return UtilityClaim(GeneralisationError(Points(domain), alpha), all_but(beta), place) if beta < 1 else None


def _shown_beta(domain: int, least: float = 0.0) -> float | None:
    """The β at which a sample size is shown: 0.05, or what |X| ≥ 2/(αβ) asks for; None where that is ≥ 1."""
    beta = max(BETA, 2 / (ALPHA * domain), least)
    return beta if beta < 1 else None


def _shown(beta: float) -> str:
    return f"(α, β)-PAC: generalisation error ≤ {ALPHA:g} with probability at least {1 - beta:.4g}"
