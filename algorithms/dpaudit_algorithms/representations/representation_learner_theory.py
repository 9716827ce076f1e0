"""Utility guarantees of algorithm A: Lemma 5.12 and the three events of its proof, as printed and corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    Goal,
    Instance,
    Mechanism,
    Multiset,
    SampleSize,
    UtilityClaim,
    as_written,
    exp,
    expm1,
    log,
)
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.representations.representation import HypothesisError, Representation, error, truth_of

PLACE = "§5.2.1, Lemma 5.12"


class RepresentationLearnerTheory(Mechanism):
    """Of both versions; the parameters are those of `RepresentationLearner`."""

    epsilon: float
    representation: Representation

    @property
    def enough(self) -> int:
        """The number of examples from which (6α, 4β) is guaranteed: ⌈(3/(αε))·(size(H) + ln(1/β))⌉."""
        return math.ceil(3 / (self.representation.alpha * self.epsilon) * self._logs)

    @property
    def _formula(self) -> str:
        return "(3/(αε))·(size(H) + ln(1/β))"

    @property
    def _place(self) -> str:
        return PLACE

    @property
    def _logs(self) -> float:
        """size(H) + ln(1/β)."""
        return self.representation.size + log(1 / self.representation.beta)

    @property
    def guaranteed(self) -> UtilityClaim:
        """Error at most 6α with probability at least 1 − 4β."""
        alpha, beta = as_written(self.representation.alpha), as_written(self.representation.beta)
        goal = HypothesisError(self.representation.concepts, self.representation.labelling, float(6 * alpha))
        return UtilityClaim(goal, all_but(float(4 * beta)), self._place)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(6α, 4β) from the stated number of examples on."""
        return (self.guaranteed,) if records >= self.enough else ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """`enough` examples."""
        return (SampleSize(self.enough, self._formula, str(self.guaranteed), self._place),)

    def e1(self, records: int) -> UtilityClaim:
        """Pr[E_1] ≥ (1 − β)·(1 − e^{−nα/3}), of the representation on a sample."""
        alpha, beta = self.representation.alpha, self.representation.beta
        guaranteed = max(0.0, (1 - beta) * -expm1(-records * alpha / 3))
        return UtilityClaim(SomeFewErrors(alpha), guaranteed, "§5.2.1, proof of Lemma 5.12, E_1")

    def e2(self, records: int) -> UtilityClaim:
        """Pr[E_2] ≥ 1 − |H|·e^{−nα/4}, of the representation on a sample; 1 − β where n ≥ (4/(3α))·ln(|H|/β).

        The second needs e^{−3nα/4}, which is what the Chernoff bound gives: a hypothesis of error above 6α is wrong on
        more than 6αn examples on average, and on at most half as many with probability at most e^{−6αn/8}.
        """
        alpha, beta = self.representation.alpha, self.representation.beta
        failure = exp(self.representation.size - records * alpha / 4)
        if records >= 4 / (3 * alpha) * self._logs:
            failure = min(failure, beta)
        return UtilityClaim(
            NoneLooksGood(self.representation, alpha), all_but(min(1.0, failure)), "§5.2.1, proof of Lemma 5.12, E_2"
        )

    def e3(self, records: int) -> UtilityClaim:
        """What is said of E_3, of `with_class` on a sample."""
        return self._e3(records, self.epsilon * records / 2, "§5.2.1, proof of Lemma 5.12, E_3")

    def _e3(self, records: int, exponent: float, place: str) -> UtilityClaim:
        failure = exp(min(0.0, self.representation.size - exponent))
        return UtilityClaim(NearBestOfClass(self.representation.alpha), all_but(failure), place)


class RepresentationLearnerCorrectedTheory(RepresentationLearnerTheory):
    """Of `RepresentationLearnerCorrected`, where it differs."""

    @property
    def enough(self) -> int:
        """⌈(3/α)·max{1, 1/ε}·(size(H) + ln(1/β))⌉."""
        return math.ceil(3 / self.representation.alpha * max(1.0, 1 / self.epsilon) * self._logs)

    @property
    def _formula(self) -> str:
        return "(3/α)·max{1, 1/ε}·(size(H) + ln(1/β))"

    @property
    def _place(self) -> str:
        return f"{PLACE}, corrected"

    def e3(self, records: int) -> UtilityClaim:
        """Pr[E_3] ≥ 1 − |H|·e^{−αεn/2}, of `with_class` on a sample."""
        exponent = self.representation.alpha * self.epsilon * records / 2
        return self._e3(records, exponent, "§5.2.1, proof of Lemma 5.12, E_3, corrected")


@dataclass(frozen=True)
class SomeFewErrors(Goal):
    """E_1: the class H_i has a hypothesis with error_S(h) ≤ 2α.  Source: thesis, proof of Lemma 5.12."""

    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        S = Multiset.of(instance.dataset)
        return bool(min(output.wrong(S)) <= 2 * as_written(self.alpha) * len(S))

    def __str__(self) -> str:
        return f"a class with a hypothesis of empirical error ≤ 2·{self.alpha:.4g}"


@dataclass(frozen=True)
class NoneLooksGood(Goal):
    """E_2: every h ∈ H_i with error_S(h) ≤ 3α has error_D(c, h) ≤ 6α.  Source: thesis, proof of Lemma 5.12."""

    representation: Representation
    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        S, alpha = Multiset.of(instance.dataset), as_written(self.alpha)
        labelling, concepts, truth = output.labelling, self.representation.concepts, truth_of(instance)
        return all(
            wrong > 3 * alpha * len(S) or error(labelling, h, concepts, truth) <= 6 * alpha
            for h, wrong in zip(output.members, output.wrong(S), strict=True)
        )

    def __str__(self) -> str:
        return f"a class whose hypotheses of empirical error ≤ 3·{self.alpha:.4g} all have error ≤ 6·{self.alpha:.4g}"


@dataclass(frozen=True)
class NearBestOfClass(Goal):
    """E_3: of an output (H, h), error_S(h) ≤ α + min_{f ∈ H} error_S(f).  Source: thesis, proof of Lemma 5.12."""

    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        H, h = output
        S = Multiset.of(instance.dataset)
        wrong = H.wrong(S)
        return bool(wrong[H.members.index(h)] <= as_written(self.alpha) * len(S) + min(wrong))

    def __str__(self) -> str:
        return f"a hypothesis of empirical error ≤ {self.alpha:.4g} above the least of its class"
