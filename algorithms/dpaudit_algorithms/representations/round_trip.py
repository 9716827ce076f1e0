"""Theorem 5.18 as an algorithm: from a private learner to a representation, and by boosting back to a private learner
with any α and β."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from dpaudit.language import (
    THESIS,
    Applied,
    BoolArray,
    Card,
    Claim,
    Mechanism,
    ParameterError,
    Program,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.pac.concepts import ConceptClass, Thresholds
from dpaudit_algorithms.representations.representation import Hypotheses, Labelling, OnesAt, Representation, labels_at
from dpaudit_algorithms.representations.representation_boosting import AlphaBoosted, BetaBoosted
from dpaudit_algorithms.representations.representation_learner import (
    RepresentationLearner,
    RepresentationLearnerCorrected,
)
from dpaudit_algorithms.representations.round_trip_theory import (
    PLACE,
    RoundTripCorrectedTheory,
    RoundTripTheory,
    printed_rounds,
)

MOST_VOTES = 1 << 22
"""Numbers of votes at all points, up to which majorities are found."""
Drawn: TypeAlias = tuple[tuple[tuple[Any, ...], int], ...]
"""Classes by the names of their members, and how often each was drawn."""


@dataclass(frozen=True)
class MajorityFunctions(Representation):
    """What `AlphaBoosted` represents, with MAJ(H_1, …, H_T) as a set of functions on X: its members can be listed.

    Different choices of h_1, …, h_T often have the same majority; a hypothesis class has it once.

    Args:
        boosted: draws T classes. X is small, or all hypotheses are thresholds on an X of any size.

    Raises:
        ParameterError: not so.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.17.
    """

    boosted: AlphaBoosted

    def __post_init__(self) -> None:
        super().__post_init__()
        votes = (-(-self.boosted.T // 2) + 1) ** min(64, len(self.concepts.points))
        if not isinstance(self.boosted.representation.labelling, Thresholds) and votes > MOST_VOTES:
            raise ParameterError("boosted must be of a smaller domain, or of fewer rounds, or of thresholds.")

    @property
    def concepts(self) -> ConceptClass:  # type: ignore[override]  # the inner one's
        """C."""
        return self.boosted.concepts

    @property
    def alpha(self) -> float:  # type: ignore[override]
        """The inner one's."""
        return self.boosted.alpha

    @property
    def beta(self) -> float:  # type: ignore[override]
        """The inner one's."""
        return self.boosted.beta

    @property
    def labelling(self) -> Labelling:
        """Thresholds, if all hypotheses are; otherwise functions are named by their ones."""
        inner = self.boosted.representation.labelling
        return inner if isinstance(inner, Thresholds) else OnesAt()

    @property
    def printed_size(self) -> float:
        """k_1·14·ln(2/α)."""
        return self.boosted.printed_size

    @property
    def size(self) -> float:
        """k_1·T, which the lemma counts: it is larger than ln of the number of different functions."""
        return self.boosted.size

    def run(self, dataset: Any) -> Program:
        inner = self.boosted.representation
        one = Union(inner.representation, inner.M) if isinstance(inner, BetaBoosted) else Union(inner, 1)
        drawn = yield Draws(one, self.boosted.T).on(())
        labelling: Any = inner.labelling  # hashable, as any frozen dataclass
        return majority_functions(labelling, tuple(self.concepts.points), drawn)


@dataclass(frozen=True)
class Union(Mechanism):
    """The union of classes drawn independently, which is what `BetaBoosted` draws, as the names of its members.

    One half after the other, so that an output distribution merges equal unions.

    Args:
        representation: draws the classes.
        times: ≥ 1.
    """

    representation: Representation
    times: int

    def run(self, dataset: Any) -> Program:
        if self.times == 1:
            H = yield self.representation.on(())
            return H.members
        half = self.times // 2
        first = yield Union(self.representation, half).on(())
        second = yield Union(self.representation, self.times - half).on(())
        return tuple(sorted({*first, *second}))


@dataclass(frozen=True)
class Draws(Mechanism):
    """How often each class came in this many independent draws: pairs (names, count), ascending.

    A few after the others, so that an output distribution merges equal counts.

    Args:
        union: draws a class.
        times: ≥ 1.
    """

    union: Union
    times: int

    def run(self, dataset: Any) -> Program:
        if self.times == 1:
            members = yield self.union.on(())
            return ((members, 1),)
        few = min(3, self.times // 2)
        first = yield Draws(self.union, self.times - few).on(())
        second = yield Draws(self.union, few).on(())
        return tuple(sorted((Counter(dict(first)) + Counter(dict(second))).items()))


@lru_cache(maxsize=1 << 12)
def majority_functions(labelling: Any, points: tuple[Any, ...], drawn: Drawn) -> Hypotheses:
    """{maj_{h_1, …, h_T} : h_i ∈ H_i} as functions on X; maj(x) = 1 iff at least T/2 of the h_i are 1 at x.

    Args:
        labelling: a `Labelling`, of the hypotheses.
        points: X.
        drawn: the classes by the names of their members, and how many of H_1, …, H_T are each.
    """
    if not all(members for members, _ in drawn):
        return Hypotheses(labelling, ())
    needed = -(-sum(count for _, count in drawn) // 2)
    if isinstance(labelling, Thresholds):
        return Hypotheses.of(labelling, _medians(drawn, needed))
    reached: BoolArray = np.zeros((needed + 1,) * len(points), dtype=bool)
    reached[(0,) * len(points)] = True
    for members, count in drawn:
        votes = {tuple(labels_at(labelling, name, points)) for name in members}
        for _ in range(count):
            after = np.zeros_like(reached)
            for vote in votes:
                after |= _added(reached, vote)
            reached = after
    ones = (tuple(x for x, v in zip(points, at, strict=True) if v == needed) for at in np.argwhere(reached).tolist())
    return Hypotheses.of(OnesAt(), ones)


def _added(reached: BoolArray, vote: tuple[int, ...]) -> BoolArray:
    """The numbers of votes that are reached with one more; at T/2 they are cut off."""
    for axis, label in enumerate(vote):
        if label:
            moved = np.roll(reached, 1, axis)
            first, last = ((*(slice(None),) * axis, at) for at in (0, -1))
            moved[first] = False
            moved[last] |= reached[last]
            reached = moved
    return reached


def _medians(drawn: Drawn, needed: int) -> list[int]:
    """The majorities of thresholds j_1, …, j_T are their needed-th largest; those that there can be, ascending.

    v can be it if and only if some class has it, at least `needed` classes have a threshold ≥ v, and fewer than
    `needed` have only thresholds > v. They are needed, as j_i ≥ v for at least `needed` i, and j_i > v for fewer. They
    are enough: take a threshold > v from the classes that have only such, and from as many other classes without v as
    are there, up to needed − 1 in all; v from all that have it; and from the rest one < v. If there were fewer than
    needed − 1 of the first two kinds, every class with a threshold ≥ v gave one; otherwise a class with v is the
    needed-th.
    """
    classes = [(members[0], members[-1], count) for members, count in drawn]
    return [
        v
        for v in sorted({v for members, _ in drawn for v in members})
        if sum(count for low, _, count in classes if low > v) < needed
        <= sum(count for _, high, count in classes if high >= v)
    ]


@dataclass(frozen=True)
class _RoundTrip(RoundTripTheory):
    """Base class of both versions: everything but how many examples they ask for."""

    epsilon: checks.Positive
    alpha: checks.Number
    beta: checks.Number
    representation: Representation
    rounds: checks.Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha <= 0.25:
            raise ParameterError(f"alpha must lie in (0, 1/4], not {self.alpha!r}.")
        if not 0 < self.beta <= 0.5:
            raise ParameterError(f"beta must lie in (0, 1/2], not {self.beta!r}.")
        _ = self.learner  # the boosting checks the representation

    @property
    def claim(self) -> Claim:
        """ε: that of the learner of Lemma 5.12; the representation reads no data."""
        return Claim(self.epsilon)

    @property
    def boosted(self) -> AlphaBoosted:
        """The (α/6, β/4)-probabilistic representation: β boosted to (β/4)/T, then α to α/6."""
        T = self.T
        return AlphaBoosted(BetaBoosted(self.representation, self.beta / (4 * T)), self.alpha / 6, self.rounds)

    @property
    def T(self) -> int:
        """⌈14·ln(12/α)⌉, unless another number was given."""
        return printed_rounds(self.alpha) if self.rounds is None else self.rounds

    @property
    @abstractmethod
    def learner(self) -> RepresentationLearner | RepresentationLearnerCorrected:
        """The learner of Lemma 5.12 from the boosted representation."""

    @property
    def labelling(self) -> Labelling:
        """What the learner's outputs mean."""
        return self.learner.representation.labelling

    @property
    def enough(self) -> int:
        """That of the learner."""
        return self.learner.enough

    def run(self, S: Any) -> Applied:
        return self.learner.on(S)


@dataclass(frozen=True)
class RoundTrip(_RoundTrip):
    """An (α, β, ε)-PPAC learner from a (1/4, 1/4)-probabilistic representation, which may itself come from a learner.

    With `RepresentationFromLearnerRefined(A, C, n, α_0)` as the representation this is the way of the theorem there and
    back: A is an (α_0, 1/2, ε_0)-PPAC learner of C from n examples; its outcomes on zeros are a representation of size
    k = ln(8·ln 4) + 8α_0ε_0n (Lemma 5.15). RepDim(C) ≤ k, so that n ≥ (RepDim(C) − ln(8·ln 4))/(8α_0ε_0). The
    representation is boosted (Claim 5.16, Lemma 5.17), and Lemma 5.12 makes a learner of it, with any α, β and ε.

    Privacy holds for every ε. Of the utility "for every ε" is false, as in Lemma 5.12: at large ε the printed n is
    smaller than any learner needs, and vanishes. See finding 25 and `RoundTripCorrected`. The lower bound is false for
    two complementary concepts: finding 34.

    Args:
        epsilon: > 0.
        alpha: in (0, 1/4].
        beta: in (0, 1/2].
        representation: a (1/4, 1/4)-probabilistic representation of C, of size k; see `MajorityFunctions`.
        rounds: T, ≥ 1; ⌈14·ln(12/α)⌉ without it. With another number nothing is said of the utility.

    Raises:
        ParameterError: a parameter outside its range, or a representation that is too large for `MajorityFunctions`.

    Source: Stemmer's thesis, section 5.2.1, Theorem 5.18.
    """

    @property
    def learner(self) -> RepresentationLearner:
        """That of Lemma 5.12."""
        return RepresentationLearner(self.epsilon, MajorityFunctions(self.boosted))


@dataclass(frozen=True)
class RoundTripCorrected(RoundTripCorrectedTheory, _RoundTrip):
    """The same algorithm, from n = (18/α)·max{1, 1/ε}·(T·(k + ln M) + ln(4/β)) examples: (α, β) for every ε.

    The boosted representation is (α/6, β/4)-probabilistic and of size at most T·(k + ln M), and
    `RepresentationLearnerCorrected` is (6·α/6, 4·β/4)-PAC from (3/(α/6))·max{1, 1/ε}·(size + ln(1/(β/4))) examples.

    Args:
        epsilon, alpha, beta, representation, rounds: as of `RoundTrip`.

    Raises:
        ParameterError: as of `RoundTrip`.

    Source: Stemmer's thesis, section 5.2.1, Theorem 5.18, corrected.
    """

    @property
    def learner(self) -> RepresentationLearnerCorrected:
        """That of Lemma 5.12, corrected."""
        return RepresentationLearnerCorrected(self.epsilon, MajorityFunctions(self.boosted))


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = (
    "n labelled examples (x, y), x in X, y in {0, 1}; epsilon > 0, 0 < alpha ≤ 1/4, 0 < beta ≤ 1/2, a "
    "(1/4, 1/4)-probabilistic representation of C: that from an (α_0, 1/2, ε_0)-PPAC learner, or any other"
)
_OUTPUT = "the name of a majority of hypotheses: a threshold if they are thresholds, else the points that it labels 1"
_DEVIATIONS = (
    "n is computed with the size k of the given representation in place of RepDim(C), which is seldom known; "
    "`sufficient` and `necessary` have RepDim(C).",
    "T and M are rounded up to whole numbers, and the number of executions in k is, too.",
    "MAJ(H_1, …, H_T) is a set of functions on X: the exponential mechanism has each majority once, however many "
    "h_1, …, h_T have it; n has the size k_1·T that the lemma counts.",
    "ln ln ln(1/α), which is below 0 for α > e^{−e}, is not used: n has ln M, M = ⌈ln(4T/β)⌉.",
    "The lower bound (RepDim(C) − ln(8·ln 4))/(8αε) is for n ≥ 3·ln(4)/(4α), as the proof of Lemma 5.15 assumes.",
    "It is Ω(RepDim(C)/(αε)) only where RepDim(C) is above ln(8·ln 4) = 2.41 by a constant factor, and says nothing of "
    "smaller classes: the two constants on one point are learned from (2/ε)·ln(1/β) examples, for every α.",
)

RoundTrip.card = Card(
    name="RoundTrip",
    system="P8",
    title="A private learner from the representation that another private learner gives, boosted to any α and β",
    paper=THESIS,
    place=PLACE,
    claim="ε-DP; Θ̃_β(RepDim(C)/(αε)) samples are necessary and sufficient for the private learning of C",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=_DEVIATIONS,
    variants=("RoundTripCorrected",),
    findings=(FINDINGS[25], FINDINGS[34]),
)

RoundTripCorrected.card = Card(
    name="RoundTripCorrected",
    system="P8",
    title="A private learner by way of a representation, with enough examples for every ε",
    paper=THESIS,
    place=f"{PLACE}, corrected",
    claim="ε-DP; (α, β)-PAC learns C from (18/α)·max{1, 1/ε}·(T·(k + ln M) + ln(4/β)) examples",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, "n has max{1, 1/ε} in place of 1/ε."),
    variants=("RoundTrip",),
)
