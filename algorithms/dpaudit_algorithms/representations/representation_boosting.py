"""Boosting a probabilistic representation: unions of classes for β, classes of majorities for α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import THESIS, Card, ParameterError, Program, as_written, checks, log
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.pac.concepts import ConceptClass
from dpaudit_algorithms.representations.majorities import Majorities, Majority
from dpaudit_algorithms.representations.representation import Executions, Hypotheses, Labelling, Representation
from dpaudit_algorithms.representations.representation_boosting_theory import AlphaBoostedTheory, BetaBoostedTheory


@dataclass(frozen=True)
class BetaBoosted(BetaBoostedTheory):
    """H¹: the union of M classes drawn independently from a (1/4, 1/4)-probabilistic representation, M = ⌈ln(1/β)⌉.

    M = ln(1/β) as printed is no whole number. (1/4)^M ≤ β needs M ≥ log_4(1/β), and size(H¹) ≤ k_0 + ln ln(1/β) needs
    M ≤ ln(1/β): no whole M does both for β in (e^{−2}, 1/4) and in (e^{−3}, 1/16). Rounded up, M keeps β for every β,
    and the printed size where ln(1/β) is whole. "For every β" cannot be meant: for β > 1/e, ln ln(1/β) < 0, and a class
    of one concept, RepDim 0, would be represented by classes of fewer than one hypothesis; the proof takes β < 1/4.

    Args:
        representation: a (1/4, 1/4)-probabilistic representation, or a better one.
        beta: in (0, 1/4).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 5.2.1, Claim 5.16.
    """

    representation: Representation
    beta: checks.Number

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.representation)
        if self.representation.beta > 0.25:
            raise ParameterError(f"representation must have β ≤ 1/4, not {self.representation.beta!r}.")
        if not 0 < self.beta < 0.25:
            raise ParameterError(f"beta must lie strictly between 0 and 1/4, not {self.beta!r}.")

    @property
    def concepts(self) -> ConceptClass:  # type: ignore[override]  # the inner one's
        """C."""
        return self.representation.concepts

    @property
    def alpha(self) -> float:  # type: ignore[override]  # always the same
        """1/4."""
        return 0.25

    @property
    def labelling(self) -> Labelling:
        """The inner one's."""
        return self.representation.labelling

    @property
    def M(self) -> int:
        """⌈ln(1/β)⌉."""
        return math.ceil(log(1 / self.beta))

    @property
    def printed_size(self) -> float:
        """k_0 + ln ln(1/β)."""
        return self.representation.size + log(log(1 / self.beta))

    @property
    def size(self) -> float:
        """k_0 + ln M."""
        return self.representation.size + log(self.M)

    def run(self, dataset: Any) -> Program:
        # 1, 2. for i = 1, …, M = ⌈ln(1/β)⌉: choose H_i⁰ ∈ H⁰ according to P⁰
        classes = yield Executions(self.representation, self.M).on(())
        # 3. H¹ = ∪ H_i⁰
        return Hypotheses.of(self.labelling, (h for H in classes for h in H.members))


@dataclass(frozen=True)
class AlphaBoosted(AlphaBoostedTheory):
    """MAJ(H_1, …, H_T) of T = ⌈14·ln(2/α)⌉ classes drawn independently from a (1/4, β/T)-probabilistic representation.

    A step of the proof is wrong by a factor 2, which its conclusion survives: see finding 28. D_t is made by the
    rounds i < t, and of the T/2 rounds at least that err on x ∈ R_t one is t itself; so only
    D_t(R_t) ≥ D(R_t)·½·(4/3)^{T/2} follows (even T), not D(R_t)·(4/3)^{T/2}. Nor is D(R) ≤ (T/8)·(3/4)^{T/2}, their
    sum, true for every T: for T = 2 it is 2/5 in the audits, above 0.1875. But the partition into R_t is not needed.
    D_{T+1} is made by all rounds, of which T/2 at least double a point of R, and the others leave 2/3 of it at least:

        1 ≥ D_{T+1}(R) ≥ D(R)·(4/3)^{T/2}, so that error_D(c, h_fin) = D(R) ≤ (3/4)^{T/2},

    which is at most the printed bound from T = 8 on, and (α/2)^{2.01} at T = 14·ln(2/α) > 9.7. It falls in T, and for
    odd T is less still, ½·(3/4)^{(T − 1)/2}, so that rounding T up does no harm.

    Args:
        representation: a (1/4, β/T)-probabilistic representation, or a better one.
        alpha: in (0, 1).
        rounds: T, ≥ 1; 14·ln(2/α), rounded up, without it.

    Raises:
        ParameterError: a parameter outside its range, or T times the representation's β is 1 or more.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.17.
    """

    representation: Representation
    alpha: checks.OpenUnit
    rounds: checks.Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.representation)
        if self.T * self.representation.beta >= 1:
            raise ParameterError(f"representation must have β < 1/T = 1/{self.T}, not {self.representation.beta!r}.")

    @property
    def concepts(self) -> ConceptClass:  # type: ignore[override]  # the inner one's
        """C."""
        return self.representation.concepts

    @property
    def T(self) -> int:
        """⌈14·ln(2/α)⌉, unless another number was given."""
        return math.ceil(14 * log(2 / self.alpha)) if self.rounds is None else self.rounds

    @property
    def beta(self) -> float:  # type: ignore[override]  # made of the inner one's
        """T times the β of the given representation: the union bound."""
        return float(self.T * as_written(self.representation.beta))

    @property
    def labelling(self) -> Labelling:
        """That of majorities."""
        return Majority(self.representation.labelling)

    @property
    def printed_size(self) -> float:
        """k_1·14·ln(2/α)."""
        return self.representation.size * 14 * log(2 / self.alpha)

    @property
    def size(self) -> float:
        """k_1·T."""
        return self.representation.size * self.T

    def run(self, dataset: Any) -> Program:
        classes: tuple[Hypotheses, ...] = ()
        for _ in range(self.T):  # for j = 1, …, T
            H = yield self.representation.on(())  # choose H_{i_j} ∈ H¹ according to P¹
            classes = (*classes, H)
        return Majorities(classes)  # MAJ(H_{i_1}, …, H_{i_T})


def _check(representation: Any) -> None:
    if not isinstance(representation, Representation):
        raise ParameterError(f"representation must be a Representation, not {representation!r}.")
    if representation.alpha > 0.25:
        raise ParameterError(f"representation must have α ≤ 1/4, not {representation.alpha!r}.")


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "nothing: its dataset is ignored; a representation with α ≤ 1/4 and its β"

BetaBoosted.card = Card(
    name="BetaBoosted",
    system="P6",
    title="Boosting β of a probabilistic representation: the union of several classes",
    paper=THESIS,
    place="§5.2.1, Claim 5.16",
    claim="a (1/4, β)-probabilistic representation of size ≤ k_0 + ln ln(1/β); it reads no data: it is 0-DP",
    inputs=f"{_INPUTS}, β ≤ 1/4; beta in (0, 1/4)",
    output="a hypothesis class: the union of M classes",
    deviations=("M = ln(1/β) is rounded up, which keeps β, and the printed size only where ln(1/β) is whole.",),
)

AlphaBoosted.card = Card(
    name="AlphaBoosted",
    system="P6",
    title="Boosting α of a probabilistic representation: classes of majorities",
    paper=THESIS,
    place="§5.2.1, Lemma 5.17",
    claim="an (α, β)-probabilistic representation of size ≤ k_1·T; it reads no data, so that it is 0-DP",
    inputs=f"{_INPUTS}; alpha in (0, 1)",
    output="T hypothesis classes, which denote the class of all majorities of one hypothesis of each",
    deviations=(
        "T = 14·ln(2/α) is rounded up to a whole number.",
        "β is T times that of the given representation; the print chooses that one with β/T.",
        "A good majority is sought by the proof's thought experiment, past rounds that fail; where majorities are "
        "few, all are tried.",
    ),
    findings=(FINDINGS[28],),
)
