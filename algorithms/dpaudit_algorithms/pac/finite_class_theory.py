"""Utility guarantees of the private learner for finite classes: Theorem 3.3, as printed and corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Goal, Instance, Mechanism, SampleSize, UtilityClaim, checks, exp, expm1, log
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError, GeneralisationError

_LEARNER = "a PAC learner: error ≤ 1/4 with probability at least 3/4"


@dataclass(frozen=True)
class NoBadSample(Goal):
    """S is not in S_bad: no concept of true error above 1/4 has training error ≤ 1/8. The output is not looked at.

    Source: Sivakumar, section 3, proof of Theorem 3.3.
    """

    concepts: ConceptClass

    def reached(self, instance: Instance, output: Any) -> bool:
        good, few = GeneralisationError(self.concepts, 0.25), EmpiricalError(self.concepts, 0.125)
        return all(good.reached(instance, h) or not few.reached(instance, h) for h in self.concepts.concepts)

    def __str__(self) -> str:
        return "every concept of error > 1/4 has training error > 1/8"


class FiniteClassTheory(Mechanism):
    """Of both versions; the parameters are those of `FiniteClassLearner`."""

    epsilon: float
    concepts: ConceptClass

    @property
    def size(self) -> int:
        """|H|."""
        return len(self.concepts.concepts)

    @property
    def printed_size(self) -> int:
        """The least n ≥ 16·ln(8|H|)/ε, at which Lemma 3.2 with a = ln 8 guarantees training error ≤ 1/8."""
        return math.ceil(16 * log(8 * self.size) / self.epsilon)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Error ≤ 1/4 with probability 3/4 from the printed size on, and what Lemma 3.2 says of the training error."""
        guarantees = []
        if records >= self.printed_size:
            good = GeneralisationError(self.concepts, 0.25)
            guarantees.append(UtilityClaim(good, 0.75, "§3, Theorem 3.3, with the constants of its proof"))
        # Lemma 3.2 with a = ln 8, where it guarantees anything for n examples that some h labels
        gap = 2 * log(8 * self.size) / self.epsilon
        if records > gap:
            few = EmpiricalError(self.concepts, gap / records)
            guarantees.append(UtilityClaim(few, 0.875, "§3, Lemma 3.2 with a = ln 8"))
        return tuple(guarantees)

    def no_bad_sample(self, records: int) -> UtilityClaim:
        """The step Pr[S ∈ S_bad] ≤ |H|·e^{−n/8} of the proof: of the sample, for any output.

        By the Chernoff bound that it names, Pr[Bin(n, p) ≤ np/2] ≤ e^{−np/8}, which is e^{−n/32} at p = 1/4.
        """
        guaranteed = max(0.0, 1 - self.size * exp(-records / 8))
        return UtilityClaim(NoBadSample(self.concepts), guaranteed, "§3, proof of Theorem 3.3, Pr[S ∈ S_bad]")

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        logs = log(8 * self.size)
        proof = "§3, proof of Theorem 3.3"
        return (
            SampleSize(
                self.printed_size, "O(log|H|/ε); 16·ln(8|H|)/ε by its proof", _LEARNER, "§3, Theorem 3.3"
            ),
            SampleSize(
                math.ceil(32 * logs / self.epsilon),
                "32·ln(8|H|)/ε",
                'training error ≤ 1/16 with probability 7/8 (the text has 1/16 in one place, 1/8 in another)',
                proof,
            ),
            SampleSize(
                math.ceil(8 * logs),
                "8·ln(8|H|)",
                "every concept of error > 1/4 has training error > 1/8, with probability 7/8",
                proof,
            ),
        )


class FiniteClassCorrectedTheory(FiniteClassTheory):
    """Of `FiniteClassLearnerCorrected`, where it differs."""

    @property
    def kept(self) -> float:
        """q = 1 − (1 − e^{−ε/2})/4: by what an example lowers the mean weight of a concept of error 1/4."""
        return 1 + expm1(-self.epsilon / 2) / 4

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """As printed, and error ≤ 1/4 with probability at least 1 − (|H| − 1)·q^n for every n."""
        corrected = max(0.0, 1 - (self.size - 1) * self.kept**records)
        good = GeneralisationError(self.concepts, 0.25)
        return (*super().utility(records), UtilityClaim(good, corrected, "§3, Theorem 3.3, corrected"))

    def no_bad_sample(self, records: int) -> UtilityClaim:
        """Pr[S ∈ S_bad] ≤ |H|·e^{−n/32}: of the sample, for any output."""
        guaranteed = max(0.0, 1 - self.size * exp(-records / 32))
        place = "§3, proof of Theorem 3.3, Pr[S ∈ S_bad], corrected"
        return UtilityClaim(NoBadSample(self.concepts), guaranteed, place)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        enough = log(4 * max(1, self.size - 1)) / -log(self.kept)
        proof = max(32.0, 16 / self.epsilon) * log(8 * self.size)
        return (
            SampleSize(
                self.printed_size, "O(log|H|/ε); 16·ln(8|H|)/ε by its proof", _LEARNER, "§3, Theorem 3.3"
            ),
            SampleSize(
                math.ceil(enough), "ln(4(|H| − 1))/ln(1/q), q = 1 − (1 − e^{−ε/2})/4", _LEARNER,
                "§3, Theorem 3.3, corrected",
            ),
            SampleSize(
                math.ceil(proof), "max(32, 16/ε)·ln(8|H|)", _LEARNER, "§3, proof of Theorem 3.3, corrected"
            ),
        )


def lemma_3_2(size: int, epsilon: float, a: float) -> tuple[float, float]:
    """The worst case of Lemma 3.2 with Δ = 1: one best output, and |H| − 1 that are just 2(ln|H| + a)/ε behind.

    Args:
        size: |H| ≥ 1.
        epsilon: > 0.
        a: > 0.

    Returns:
        The probability that one of the others comes out, and the printed bound e^{−a}: the former is
        (1 − 1/|H|)·e^{−a}/(1 + (1 − 1/|H|)·e^{−a}), always the smaller.

    Raises:
        ParameterError: an argument outside its range.
    """
    checks.whole("size", size, least=1)
    gap = 2 * (log(size) + checks.positive("a", a)) / checks.positive("epsilon", epsilon)
    weight = (size - 1) * exp(-epsilon * gap / 2)
    return weight / (1 + weight), exp(-a)
