"""A private learner from a probabilistic representation: draw a hypothesis class, then choose from it privately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Quality,
    Scores,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.representations.representation import Hypotheses, Representation
from dpaudit_algorithms.representations.representation_learner_theory import (
    PLACE,
    RepresentationLearnerCorrectedTheory,
    RepresentationLearnerTheory,
)


@dataclass(frozen=True)
class Agreement(Quality):
    """q(S, h) = |{i : h(x_i) = y_i}| for h ∈ H: how many examples h labels rightly; 1-sensitive.

    Source: thesis, section 5.2.1, algorithm A, step 2.
    """

    H: Hypotheses

    def __call__(self, dataset: Any) -> Scores:
        S = Multiset.of(dataset)
        n = len(S)
        return Scores([n - wrong for wrong in self.H.wrong(S)], self.H.members)


@dataclass(frozen=True)
class _RepresentationLearner(RepresentationLearnerTheory):
    """Base class of both versions: everything but how many examples they ask for."""

    epsilon: checks.Positive
    representation: Representation

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.representation, Representation):
            raise ParameterError(f"representation must be a Representation, not {self.representation!r}.")

    @property
    def claim(self) -> Claim:
        """ε: the class is drawn without the data, and the score has sensitivity 1."""
        return Claim(self.epsilon)

    @property
    def with_class(self) -> Mechanism:
        """The same algorithm, which tells the class beside the hypothesis: for E_3."""
        return WithClass(self)

    def run(self, S: Any) -> Program:
        # 1. choose H_i ∈ H according to P
        H = yield self.representation.on(())
        if not H.members:
            raise DatasetError("The representation drew a class without hypotheses; give one that never does.")
        # 2. choose h ∈ H_i by the exponential mechanism with q(S, h) = |{i : h(x_i) = y_i}|
        return Agreement(H)(S).softmax(self.epsilon / 2)


@dataclass(frozen=True)
class WithClass(Mechanism):
    """Algorithm A with the output (H_i, h)."""

    learner: _RepresentationLearner

    def run(self, S: Any) -> Program:
        H = yield self.learner.representation.on(())
        h = yield Agreement(H)(S).softmax(self.learner.epsilon / 2)
        return H, h


@dataclass(frozen=True)
class RepresentationLearner(_RepresentationLearner):
    """Algorithm A: draws H_i ~ P, then h ∈ H_i by the exponential mechanism on the number of examples labelled rightly.

    Privacy holds for every ε. Of the utility, "for every ε" is false: at large ε the printed
    n = (3/(αε))·(size(H) + ln(1/β)) is smaller than what E_1 and E_2 need, whatever the privacy, and vanishes. A step
    of the proof is false too: Pr[E_3] ≥ 1 − |H|·e^{−εn/2} lacks the α of 1 − |H|·e^{−αεn/2}, with which the proof goes
    on. See findings 25, 26 and `RepresentationLearnerCorrected`.

    Args:
        epsilon: > 0.
        representation: an (α, β)-probabilistic representation of a class C.

    Raises:
        ParameterError: epsilon outside its range, or something else than a representation.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.12 and Example 5.13.
    """


@dataclass(frozen=True)
class RepresentationLearnerCorrected(RepresentationLearnerCorrectedTheory, _RepresentationLearner):
    """Algorithm A from n = (3/α)·max{1, 1/ε}·(size(H) + ln(1/β)) examples: then (6α, 4β) holds for every ε.

    E_1 fails with probability at most β + e^{−nα/3} ≤ 2β as n ≥ (3/α)·ln(1/β). E_2: a hypothesis of error above 6α has
    empirical error ≤ 3α with probability at most e^{−6αn/8}, so that E_2 fails with probability at most
    |H|·e^{−3αn/4} ≤ β as n ≥ (4/(3α))·ln(|H|/β). E_3: the exponential mechanism falls short of the best by more than
    αn with probability at most |H|·e^{−αεn/2} ≤ β as n ≥ (2/(αε))·ln(|H|/β). All three are at most n; for ε ≤ 1 it is
    the printed number.

    Args:
        epsilon, representation: as in `RepresentationLearner`.

    Raises:
        ParameterError: epsilon outside its range, or something else than a representation.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.12, corrected.
    """


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "n labelled examples (x, y), x in X, y in {0, 1}; epsilon > 0, an (α, β)-probabilistic representation of C"
_OUTPUT = "the name of a hypothesis, which need not be a concept of C"
_SIZE = (
    "size(H) is ln of the largest number of hypotheses in a class as it is drawn here: a whole number, which the "
    "representation may have rounded up."
)

RepresentationLearner.card = Card(
    name="RepresentationLearner",
    system="P3",
    title="A private learner from a probabilistic representation, with its printed number of examples",
    paper=THESIS,
    place=PLACE,
    claim="ε-DP; (6α, 4β)-PAC learns C from n = (3/(αε))·(size(H) + ln(1/β)) examples, for every ε",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(_SIZE, "n is printed as O(…) in the lemma; its proof has the constant 3."),
    variants=("RepresentationLearnerCorrected",),
    findings=(FINDINGS[25], FINDINGS[26]),
)

RepresentationLearnerCorrected.card = Card(
    name="RepresentationLearnerCorrected",
    system="P3",
    title="A private learner from a probabilistic representation, with enough examples for every ε",
    paper=THESIS,
    place=f"{PLACE}, corrected",
    claim="ε-DP; (6α, 4β)-PAC learns C from n = (3/α)·max{1, 1/ε}·(size(H) + ln(1/β)) examples",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        _SIZE,
        "n has max{1, 1/ε} in place of 1/ε.",
        "Of E_3, 1 − |H|·e^{−αεn/2} is guaranteed instead of 1 − |H|·e^{−εn/2}.",
    ),
    variants=("RepresentationLearner",),
)
