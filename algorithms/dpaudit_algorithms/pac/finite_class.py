"""The private learner for finite classes: the exponential mechanism over all hypotheses, with its sign as printed and
as it is meant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    PAC_OVERVIEW,
    Card,
    Claim,
    Draw,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    Quality,
    SampleSize,
    Scores,
    UtilityClaim,
    cached,
    checks,
    exp,
    expm1,
    log,
)
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError, GeneralisationError

_LEARNER = "a PAC learner: error ≤ 1/4 with probability at least 3/4"


@dataclass(frozen=True)
class TrainingScore(Quality):
    """score(S, h) = −n·err_S(h): less the number of examples that h labels wrongly; 1-sensitive.

    Source: Sivakumar, section 3.
    """

    concepts: ConceptClass

    def __call__(self, dataset: Any) -> Scores:
        return _training_score(self.concepts, Multiset.of(dataset))


@cached(maxsize=1024)
def _training_score(concepts: ConceptClass, dataset: Multiset) -> Scores:
    names = tuple(concepts.concepts)
    return Scores([-concepts.wrong(h, dataset) for h in names], names)


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


@dataclass(frozen=True)
class _FiniteClassLearner(Mechanism):
    """What both versions share: everything but the sign."""

    epsilon: checks.Positive
    concepts: ConceptClass

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > 1:
            raise ParameterError(f"Theorem 3.3 needs 0 < epsilon ≤ 1, not {self.epsilon!r}.")

    @property
    def claim(self) -> Claim:
        """ε: the exponential mechanism on a score of sensitivity 1."""
        return Claim(self.epsilon)

    @property
    def size(self) -> int:
        """|H|."""
        return len(self.concepts.concepts)

    @property
    def printed_size(self) -> int:
        """The least n ≥ 16·ln(8|H|)/ε, at which Lemma 3.2 with a = ln 8 promises training error ≤ 1/8."""
        return math.ceil(16 * log(8 * self.size) / self.epsilon)

    def _printed(self, records: int) -> list[UtilityClaim]:
        """Theorem 3.3, and Lemma 3.2 with a = ln 8 where it promises anything of n examples that some h labels."""
        promises = []
        if records >= self.printed_size:
            good = GeneralisationError(self.concepts, 0.25)
            promises.append(UtilityClaim(good, 0.75, "§3, Theorem 3.3, with the constants of its proof"))
        gap = 2 * log(8 * self.size) / self.epsilon
        if records > gap:
            few = EmpiricalError(self.concepts, gap / records)
            promises.append(UtilityClaim(few, 0.875, "§3, Lemma 3.2 with a = ln 8"))
        return promises


@dataclass(frozen=True)
class FiniteClassLearner(_FiniteClassLearner):
    """A′ as printed: a hypothesis with probability ∝ e^{−ε·score_S(h)/2}, score_S(h) = −n·err_S(h).

    The two minus signs make a plus: hypotheses that label more examples wrongly are likelier, by e^{ε/2} an example.
    Its privacy claim holds, for a softmax with coefficient −ε/2 is as private as with ε/2; its utility claim is false
    for every n: see FINDINGS.md and `FiniteClassLearnerCorrected`.

    Args:
        epsilon: in (0, 1].
        concepts: the finite class H.

    Raises:
        ParameterError: epsilon outside its range.

    Source: Sivakumar, section 3, algorithm A′, Lemma 3.2 and Theorem 3.3.
    """

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Error ≤ 1/4 with probability 3/4 from the printed size on, and what Lemma 3.2 says of the training error."""
        return tuple(self._printed(records))

    def no_bad_sample(self, records: int) -> UtilityClaim:
        """The step Pr[S ∈ S_bad] ≤ |H|·e^{−n/8} of the proof: of the sample, whatever the output.

        By the Chernoff bound that it names, Pr[Bin(n, p) ≤ np/2] ≤ e^{−np/8}, which is e^{−n/32} at p = 1/4.
        """
        promised = max(0.0, 1 - self.size * exp(-records / 8))
        return UtilityClaim(NoBadSample(self.concepts), promised, "§3, proof of Theorem 3.3, Pr[S ∈ S_bad]")

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

    def run(self, S: Any) -> Draw:
        return TrainingScore(self.concepts)(S).softmax(-self.epsilon / 2)


@dataclass(frozen=True)
class FiniteClassLearnerCorrected(_FiniteClassLearner):
    """A′ with the sign that is meant: a hypothesis with probability ∝ e^{ε·score_S(h)/2}.

    Privacy: one replaced example moves every score by at most 1; the exponential mechanism.

    Utility: let w(h) = e^{−ε·k/2} for a hypothesis that labels k of the n examples wrongly. The target has w = 1, so a
    hypothesis h of error p > 1/4 comes out with probability at most E[w(h)] = (1 − p·(1 − e^{−ε/2}))^n, over sample
    and coins. So the error is above 1/4 with probability at most (|H| − 1)·q^n, q = 1 − (1 − e^{−ε/2})/4; that needs
    neither the Chernoff bound nor Lemma 3.2, and is at most 1/4 from n = ln(4(|H| − 1))/ln(1/q) on. At the printed
    proof's n = 16·ln(8|H|)/ε it is below 0.04, as 1 − e^{−ε/2} ≥ 0.393·ε for ε ≤ 1; so the theorem holds there.

    The proof's own way, mended: Pr[S ∈ S_bad] ≤ |H|·e^{−n/32}, at most 1/8 from n = 32·ln(8|H|) on.

    Args:
        epsilon: in (0, 1].
        concepts: the finite class H.

    Raises:
        ParameterError: epsilon outside its range.

    Source: Sivakumar, section 3, algorithm A′ and Theorem 3.3, with the sign that Lemma 3.2 needs.
    """

    @property
    def kept(self) -> float:
        """q = 1 − (1 − e^{−ε/2})/4: by what an example lowers the mean weight of a concept of error 1/4."""
        return 1 + expm1(-self.epsilon / 2) / 4

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """As printed, and error ≤ 1/4 with probability at least 1 − (|H| − 1)·q^n for every n."""
        mended = max(0.0, 1 - (self.size - 1) * self.kept**records)
        good = GeneralisationError(self.concepts, 0.25)
        return (*self._printed(records), UtilityClaim(good, mended, "§3, Theorem 3.3, mended"))

    def no_bad_sample(self, records: int) -> UtilityClaim:
        """Pr[S ∈ S_bad] ≤ |H|·e^{−n/32}: of the sample, whatever the output."""
        promised = max(0.0, 1 - self.size * exp(-records / 32))
        return UtilityClaim(NoBadSample(self.concepts), promised, "§3, proof of Theorem 3.3, Pr[S ∈ S_bad], mended")

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
                "§3, Theorem 3.3, mended",
            ),
            SampleSize(
                math.ceil(proof), "max(32, 16/ε)·ln(8|H|)", _LEARNER, "§3, proof of Theorem 3.3, mended"
            ),
        )

    def run(self, S: Any) -> Draw:
        return TrainingScore(self.concepts)(S).softmax(self.epsilon / 2)


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


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "n labelled examples (x, y), x in X, y in {0, 1}; 0 < epsilon ≤ 1, a finite class H of concepts"
_OUTPUT = "the name of a concept of H"
_CONSTANTS = (
    "O(log|H|/ε) is read with the constants that its proof gives: Lemma 3.2 with a = ln 8, and training error ≤ 1/8."
)

FiniteClassLearner.card = Card(
    name="FiniteClassLearner",
    system="P2",
    title="The private learner A′ for finite classes, with its sign as printed: private and useless",
    paper=PAC_OVERVIEW,
    place="§3, Theorem 3.3",
    claim="ε-DP for 0 < ε ≤ 1; a PAC learner from O(log|H|/ε) samples",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(_CONSTANTS,),
    variants=("FiniteClassLearnerCorrected",),
)

FiniteClassLearnerCorrected.card = Card(
    name="FiniteClassLearnerCorrected",
    system="P2",
    title="The private learner A′ for finite classes, with the sign that is meant",
    paper=PAC_OVERVIEW,
    place="§3, Theorem 3.3, mended",
    claim="ε-DP for 0 < ε ≤ 1; a PAC learner from O(log|H|/ε) samples",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=("A hypothesis has probability ∝ e^{ε·score/2}; the print has e^{−ε·score/2}.", _CONSTANTS),
    variants=("FiniteClassLearner",),
)
