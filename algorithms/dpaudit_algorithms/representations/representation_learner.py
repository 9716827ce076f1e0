"""A private learner from a probabilistic representation: draw a hypothesis class, then choose from it privately."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Quality,
    SampleSize,
    Scores,
    UtilityClaim,
    as_written,
    checks,
    exp,
    expm1,
    log,
)
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.representations.representation import (
    Hypotheses,
    HypothesisError,
    Representation,
    error,
    truth_of,
)

_PLACE = "§5.2.1, Lemma 5.12"


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


@dataclass(frozen=True)
class _RepresentationLearner(Mechanism):
    """What both versions share: everything but how many examples they ask for."""

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
    def enough(self) -> int:
        """The least whole number of examples from which (6α, 4β) is promised."""
        raise NotImplementedError

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

    @property
    def _place(self) -> str:
        return _PLACE

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(6α, 4β) from the stated number of examples on."""
        return (self.guaranteed,) if records >= self.enough else ()

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

    @property
    def with_class(self) -> Mechanism:
        """The same algorithm, which tells the class beside the hypothesis: for E_3."""
        return WithClass(self)

    def run(self, S: Any) -> Program:
        H = yield self.representation.on(())  # step 1
        if not H.members:
            raise DatasetError("The representation drew a class without hypotheses; give one that never does.")
        return Agreement(H)(S).softmax(self.epsilon / 2)  # step 2


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
    on. See FINDINGS.md and `RepresentationLearnerCorrected`.

    Args:
        epsilon: > 0.
        representation: an (α, β)-probabilistic representation of a class C.

    Raises:
        ParameterError: epsilon outside its range, or something else than a representation.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.12 and Example 5.13.
    """

    @property
    def enough(self) -> int:
        """⌈(3/(αε))·(size(H) + ln(1/β))⌉."""
        return math.ceil(3 / (self.representation.alpha * self.epsilon) * self._logs)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """As printed."""
        return (SampleSize(self.enough, "(3/(αε))·(size(H) + ln(1/β))", str(self.guaranteed), _PLACE),)


@dataclass(frozen=True)
class RepresentationLearnerCorrected(_RepresentationLearner):
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

    @property
    def enough(self) -> int:
        """⌈(3/α)·max{1, 1/ε}·(size(H) + ln(1/β))⌉."""
        return math.ceil(3 / self.representation.alpha * max(1.0, 1 / self.epsilon) * self._logs)

    @property
    def _place(self) -> str:
        return f"{_PLACE}, corrected"

    def e3(self, records: int) -> UtilityClaim:
        """Pr[E_3] ≥ 1 − |H|·e^{−αεn/2}, of `with_class` on a sample."""
        exponent = self.representation.alpha * self.epsilon * records / 2
        return self._e3(records, exponent, "§5.2.1, proof of Lemma 5.12, E_3, corrected")

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """With max{1, 1/ε}."""
        formula = "(3/α)·max{1, 1/ε}·(size(H) + ln(1/β))"
        return (SampleSize(self.enough, formula, str(self.guaranteed), f"{_PLACE}, corrected"),)


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
    place=_PLACE,
    claim="ε-DP; (6α, 4β)-PAC learns C from n = (3/(αε))·(size(H) + ln(1/β)) examples, for every ε",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(_SIZE, "n is printed as O(…) in the lemma; its proof has the constant 3."),
    variants=("RepresentationLearnerCorrected",),
)

RepresentationLearnerCorrected.card = Card(
    name="RepresentationLearnerCorrected",
    system="P3",
    title="A private learner from a probabilistic representation, with enough examples for every ε",
    paper=THESIS,
    place=f"{_PLACE}, corrected",
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
