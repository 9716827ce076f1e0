"""Probabilistic representations from private learners: what many executions on a database without information give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    BOTTOM,
    THESIS,
    Applied,
    Card,
    Claim,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    as_written,
    checks,
    exp,
    log,
    to_float,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.subsampling import replace_one_claim
from dpaudit_algorithms.pac.concepts import ConceptClass
from dpaudit_algorithms.representations.representation import Executions, Hypotheses, Labelling
from dpaudit_algorithms.representations.representation_from_learner_theory import (
    FromLearnerRefinedTheory,
    FromLearnerTheory,
)

MOST_EXECUTIONS = 1 << 30
"""More executions than this are not made; e^{nε} grows quickly."""


@dataclass(frozen=True)
class _FromLearner(FromLearnerTheory):
    """Base class of both versions: everything but how often the learner is run, and on what."""

    learner: Mechanism
    concepts: ConceptClass
    n: checks.Count
    alpha: checks.OpenUnit
    hypotheses: Labelling | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if replace_one_claim(self.learner).delta > 0:
            raise ParameterError(f"The learner must be ε-DP, with δ = 0; {self.learner.name} claims more than that.")
        if self.exponent > log(MOST_EXECUTIONS) - 2:
            raise ParameterError(f"n must be smaller: {self.learner.name} would have to be run too often.")

    @property
    def epsilon(self) -> float:
        """ε of the learner."""
        return replace_one_claim(self.learner).epsilon

    @property
    def beta(self) -> float:  # type: ignore[override]  # always the same
        """1/4."""
        return 0.25

    @property
    def labelling(self) -> Labelling:
        """What the learner's outputs mean: concepts, unless something else was given."""
        return self.concepts if self.hypotheses is None else self.hypotheses

    def _of(self, outcomes: frozenset[Any]) -> Hypotheses:
        return Hypotheses.of(self.labelling, (h for h in outcomes if h is not BOTTOM))

    def _zeros(self, label: int) -> Multiset:
        """n copies of the first element of X with a label."""
        return Multiset.counted({(self.concepts.points[0], label): self.n})


@dataclass(frozen=True)
class RepresentationFromLearner(_FromLearner):
    """H: the outcomes of ⌈2·ln(4)·e^{nε}⌉ independent executions of a private learner on a database of n zeros.

    On some database S of n examples the learner is α-good with probability 1/2 at least, so on any other with
    probability at least e^{−nε}/2; so many executions all miss with probability at most 1/4. size(H) ≤ nε + 2 has room
    for the rounding: ⌈2·ln(4)·y⌉ ≤ 2·ln(4)·y + 1 ≤ e²·y for every y ≥ 1.

    Args:
        learner: ε-DP under replace-one, an (α, 1/2)-PAC learner of C from n examples that looks at multiplicities only.
        concepts: C; zeros are its first point, labelled 0.
        n: ≥ 1.
        alpha: of the learner, in (0, 1).
        hypotheses: what the learner's outputs mean; names of concepts of C without it.

    Raises:
        ParameterError: a parameter outside its range, or a learner without a claim of ε-DP under replace-one, or one
            that would have to be run more than 2^30 times.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.14.
    """

    @property
    def exponent(self) -> float:
        """nε."""
        return self.n * self.epsilon

    @property
    def executions(self) -> int:
        """⌈2·ln(4)·e^{nε}⌉."""
        return math.ceil(2 * log(4) * exp(self.exponent))

    def run(self, dataset: Any) -> Program:
        # the outcomes of 2·ln(4)·e^{nε} independent executions of A on n zeros
        outcomes = yield OnFixedData(self.learner, self._zeros(0), self.executions).on(())
        return self._of(outcomes)


@dataclass(frozen=True)
class RepresentationFromLearnerRefined(FromLearnerRefinedTheory, _FromLearner):
    """H: the outcomes of ⌈4·ln(4)·e^{8αεn}⌉ executions on n zeros labelled 0, and of as many on n zeros labelled 1.

    What the construction has is size(H) = ln(8·ln 4) + 8αεn, up to rounding. The printed last step
    "ln(8·ln 4) + 8αεn ≤ nεα + 3" is false as soon as 7αεn > 3 − ln(8·ln 4) = 0.5939; and as the proof needs
    n ≥ 3·ln(4)/(4α), so that αn ≥ 1.0397, for every n that it allows once ε > 0.0816: see finding 29. The lemma says
    that some representation of size nεα + 3 exists; no class is known to us for which none does. Theorem 5.18 uses the
    true size.

    Args:
        learner, concepts, n, hypotheses: as in `RepresentationFromLearner`; n ≥ 3·ln(4)/(4α).
        alpha: of the learner, in (0, 1/4].

    Raises:
        ParameterError: as `RepresentationFromLearner`, or too small an n.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.15.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha > 0.25:
            raise ParameterError(f"alpha must be at most 1/4, not {self.alpha!r}.")
        if self.n < self.least:
            raise ParameterError(f"n must be at least 3·ln(4)/(4α), which is {self.least} here, not {self.n}.")

    @property
    def least(self) -> int:
        """⌈3·ln(4)/(4α)⌉: below it a sample need not hold enough zeros with probability 3/4."""
        return math.ceil(3 * log(4) / (4 * self.alpha))

    @property
    def exponent(self) -> float:
        """8αεn."""
        return to_float(8 * as_written(self.alpha)) * self.epsilon * self.n

    @property
    def executions(self) -> int:
        """⌈4·ln(4)·e^{8αεn}⌉ on either database."""
        return math.ceil(4 * log(4) * exp(self.exponent))

    def run(self, dataset: Any) -> Program:
        # the outcomes of 4·ln(4)·e^{8αεn} independent executions of A on n zeros labelled 0, and on n labelled 1
        outcomes = yield OnFixedData(self.learner, self._zeros(0), self.executions).on(())
        others = yield OnFixedData(self.learner, self._zeros(1), self.executions).on(())
        return self._of(outcomes | others)


@dataclass(frozen=True)
class OnFixedData(Mechanism):
    """The set of what so many executions of a mechanism give on data that are part of the text, and nobody's.

    Args:
        mechanism: what is executed.
        data: what it is run on, whatever dataset comes in.
        times: ≥ 1.
    """

    mechanism: Mechanism
    data: Multiset
    times: int

    @property
    def claim(self) -> Claim:
        """0: the dataset is not looked at."""
        return Claim(0.0)

    def run(self, dataset: Any) -> Applied:
        return Executions(self.mechanism, self.times).on(self.data)


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = (
    "nothing: its dataset is ignored; an ε-DP (α, 1/2)-PAC learner for n examples, its class"
)
_OUTPUT = "a hypothesis class: what the executions gave"
_DEVIATIONS = (
    "That the learner is (α, 1/2)-accurate on n examples is what the user says of it; its own claim gives ε.",
    "The number of executions is rounded up to a whole number.",
    "Where the learner outputs ⊥ there is no hypothesis, and that execution adds none.",
)

RepresentationFromLearner.card = Card(
    name="RepresentationFromLearner",
    system="P5",
    title="A probabilistic representation from a private learner, by its outcomes on zeros",
    paper=THESIS,
    place="§5.2.1, Lemma 5.14",
    claim="an (α, 1/4)-probabilistic representation of size ≤ nε + 2; it reads no data, so that it is 0-DP",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=_DEVIATIONS,
    variants=("RepresentationFromLearnerRefined",),
)

RepresentationFromLearnerRefined.card = Card(
    name="RepresentationFromLearnerRefined",
    system="P5",
    title="A smaller probabilistic representation from a private learner, by its outcomes on zeros of both labels",
    paper=THESIS,
    place="§5.2.1, Lemma 5.15",
    claim="a (1/4, 1/4)-probabilistic representation of size ≤ nεα + 3; it reads no data, so that it is 0-DP",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        *_DEVIATIONS,
        "n < 3·ln(4)/(4α) is refused: the proof assumes more, without loss of generality but for the size.",
    ),
    variants=("RepresentationFromLearner",),
    findings=(FINDINGS[29],),
)
