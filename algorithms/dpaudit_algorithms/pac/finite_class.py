"""The private learner for finite classes: the exponential mechanism over all hypotheses, with its sign as printed and
as it is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    PAC_OVERVIEW,
    Card,
    Claim,
    Draw,
    Multiset,
    ParameterError,
    Quality,
    Scores,
    cached,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.pac.concepts import ConceptClass
from dpaudit_algorithms.pac.finite_class_theory import FiniteClassCorrectedTheory, FiniteClassTheory


@dataclass(frozen=True)
class TrainingScore(Quality):
    """score(S, h) = −n·err_S(h): less the number of examples that h labels wrongly; 1-sensitive.

    Source: Sivakumar, section 3.
    """

    concepts: ConceptClass

    @property
    def n_solutions(self) -> int:
        return len(self.concepts.concepts)

    def __call__(self, dataset: Any) -> Scores:
        return _training_score(self.concepts, Multiset.of(dataset))


@cached(maxsize=1024)
def _training_score(concepts: ConceptClass, dataset: Multiset) -> Scores:
    names = tuple(concepts.concepts)
    return Scores([-concepts.wrong(h, dataset) for h in names], names)


@dataclass(frozen=True)
class _FiniteClassLearner(FiniteClassTheory):
    """The common part of both versions: everything but the sign."""

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


@dataclass(frozen=True)
class FiniteClassLearner(_FiniteClassLearner):
    """A′ as printed: a hypothesis with probability ∝ e^{−ε·score_S(h)/2}, score_S(h) = −n·err_S(h).

    The two minus signs make a plus: hypotheses that label more examples wrongly are more likely, by e^{ε/2} each.
    Its privacy claim holds, for a softmax with coefficient −ε/2 is as private as with ε/2; its utility claim is false
    for every n: see finding 13 and `FiniteClassLearnerCorrected`.

    Args:
        epsilon: in (0, 1].
        concepts: the finite class H.

    Raises:
        ParameterError: epsilon outside its range.

    Source: Sivakumar, section 3, algorithm A′, Lemma 3.2 and Theorem 3.3.
    """

    def run(self, S: Any) -> Draw:
        return TrainingScore(self.concepts)(S).softmax(-self.epsilon / 2)


@dataclass(frozen=True)
class FiniteClassLearnerCorrected(FiniteClassCorrectedTheory, _FiniteClassLearner):
    """A′ with the sign that is meant: a hypothesis with probability ∝ e^{ε·score_S(h)/2}.

    Privacy: one replaced example moves every score by at most 1; the exponential mechanism.

    Utility: let w(h) = e^{−ε·k/2} for a hypothesis that labels k of the n examples wrongly. The target has w = 1, so a
    hypothesis h of error p > 1/4 comes out with probability at most E[w(h)] = (1 − p·(1 − e^{−ε/2}))^n, over sample
    and coins. So the error is above 1/4 with probability at most (|H| − 1)·q^n, q = 1 − (1 − e^{−ε/2})/4; that needs
    neither the Chernoff bound nor Lemma 3.2, and is at most 1/4 from n = ln(4(|H| − 1))/ln(1/q) on. At the printed
    proof's n = 16·ln(8|H|)/ε it is below 0.04, as 1 − e^{−ε/2} ≥ 0.393·ε for ε ≤ 1; so the theorem holds there.

    The proof's own way, corrected: Pr[S ∈ S_bad] ≤ |H|·e^{−n/32}, at most 1/8 from n = 32·ln(8|H|) on.

    Args:
        epsilon: in (0, 1].
        concepts: the finite class H.

    Raises:
        ParameterError: epsilon outside its range.

    Source: Sivakumar, section 3, algorithm A′ and Theorem 3.3, with the sign that Lemma 3.2 needs.
    """

    def run(self, S: Any) -> Draw:
        return TrainingScore(self.concepts)(S).softmax(self.epsilon / 2)


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
    findings=(FINDINGS[13], FINDINGS[14]),
)

FiniteClassLearnerCorrected.card = Card(
    name="FiniteClassLearnerCorrected",
    system="P2",
    title="The private learner A′ for finite classes, with the sign that is meant",
    paper=PAC_OVERVIEW,
    place="§3, Theorem 3.3, corrected",
    claim="ε-DP for 0 < ε ≤ 1; a PAC learner from O(log|H|/ε) samples",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=("A hypothesis has probability ∝ e^{ε·score/2}; the print has e^{−ε·score/2}.", _CONSTANTS),
    variants=("FiniteClassLearner",),
)
