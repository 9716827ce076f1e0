"""Boosting a probabilistic representation: unions of classes for β, classes of majorities for α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress, product
from typing import Any, ClassVar

from dpaudit.language import (
    THESIS,
    Card,
    ConceptClass,
    Executions,
    Hypotheses,
    Labelling,
    ParameterError,
    Program,
    Representation,
    Truth,
    UtilityClaim,
    as_written,
    checks,
    error,
)

_INPUTS = "nothing: whatever dataset it is given is not looked at; a representation with α ≤ 1/4 and its β"
ROUNDING = 1e-9
"""By how much a mass of D_t may exceed 1/4 for doubles to have rounded it up."""
MOST_MAJORITIES = 1 << 12
"""More majorities than this are not tried one by one."""


@dataclass(frozen=True)
class BetaBoosted(Representation):
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
    beta: float

    card: ClassVar[Card] = Card(
        name="BetaBoosted",
        system="P6",
        title="Boosting β of a probabilistic representation: the union of several classes",
        paper=THESIS,
        place="§5.2.1, Claim 5.16",
        claim="a (1/4, β)-probabilistic representation of size ≤ k_0 + ln ln(1/β); it reads no data: it is 0-DP",
        inputs=f"{_INPUTS}, β ≤ 1/4; beta in (0, 1/4)",
        output="a hypothesis class: the union of M classes",
        differs=("M = ln(1/β) is rounded up, which keeps β, and the printed size only where ln(1/β) is whole.",),
    )

    def __post_init__(self) -> None:
        _check(self.representation)
        if self.representation.beta > 0.25:
            raise ParameterError(f"representation must have β ≤ 1/4, not {self.representation.beta!r}.")
        if not 0 < checks.number("beta", self.beta) < 0.25:
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
        return self.representation.labelling

    @property
    def M(self) -> int:
        """⌈ln(1/β)⌉."""
        return math.ceil(math.log(1 / self.beta))

    @property
    def least(self) -> int:
        """The least whole M with (1/4)^M ≤ β."""
        M, failure = 1, Fraction(1, 4)
        while failure > as_written(self.beta):
            M, failure = M + 1, failure / 4
        return M

    @property
    def printed_size(self) -> float:
        """k_0 + ln ln(1/β)."""
        return self.representation.size + math.log(math.log(1 / self.beta))

    @property
    def size(self) -> float:
        """k_0 + ln M."""
        return self.representation.size + math.log(self.M)

    def run(self, dataset: Any) -> Program:
        classes = yield Executions(self.representation, self.M).on(())
        return Hypotheses.of(self.labelling, (h for H in classes for h in H.members))


@dataclass(frozen=True)
class Majority:
    """Hypotheses named (h_1, …, h_T): 1 where at least T/2 of them are 1."""

    labelling: Labelling

    def label(self, concept: tuple[Any, ...], x: Any) -> int:
        return int(2 * sum(self.labelling.label(h, x) for h in concept) >= len(concept))


@dataclass(frozen=True)
class Majorities:
    """MAJ(H_1, …, H_T): the majorities of h_1 ∈ H_1, …, h_T ∈ H_T; kept as a product, never listed.

    Source: thesis, proof of Lemma 5.17.
    """

    classes: tuple[Hypotheses, ...]

    @property
    def count(self) -> int:
        """How many choices there are; `len` holds no more than 2^63 − 1."""
        return math.prod(map(len, self.classes))

    @property
    def labelling(self) -> Majority:
        """What the names of majorities mean."""
        return Majority(self.classes[0].labelling)

    def chosen(self, concepts: ConceptClass, truth: Truth) -> tuple[Any, ...] | None:
        """h_1, …, h_T of the proof's thought experiment, each the best for c and D_t; None where it fails.

        D_{t+1} has twice the mass of D_t where h_t errs, and 1 − ε_t/(1 − ε_t) times it elsewhere, ε_t its error. These
        masses are doubles, as the digits of fractions would double in every round; what the experiment is for, the
        error of the majority under D, is computed exactly.
        """
        masses = [float(w) / math.fsum(truth.weights) for w in truth.weights]
        targets = [(x, concepts.label(truth.target, x)) for x in truth.points]
        names: list[Any] = []
        for H in self.classes:
            errs = [[H.label(h, x) != target for x, target in targets] for h in H.members]
            errors = [math.fsum(compress(masses, wrong)) for wrong in errs]
            if not errors or min(errors) > 0.25 + ROUNDING:
                return None
            best = errors.index(min(errors))
            names.append(H.members[best])
            less = 1 - errors[best] / (1 - errors[best])
            masses = [2 * m if wrong else less * m for m, wrong in zip(masses, errs[best], strict=True)]
            masses = [m / math.fsum(masses) for m in masses]
        return tuple(names)

    def has_good(self, concepts: ConceptClass, truth: Truth, alpha: Fraction) -> bool:
        """Whether the thought experiment gives a majority of error ≤ α, or where they are few, whether any has it."""
        found = self.chosen(concepts, truth)
        if found is not None and error(self.labelling, found, concepts, truth) <= alpha:
            return True
        if self.count > MOST_MAJORITIES:
            return False
        names = product(*(H.members for H in self.classes))
        return any(error(self.labelling, name, concepts, truth) <= alpha for name in names)


@dataclass(frozen=True)
class AlphaBoosted(Representation):
    """MAJ(H_1, …, H_T) of T = ⌈14·ln(2/α)⌉ classes drawn independently from a (1/4, β/T)-probabilistic representation.

    A step of the proof is wrong by a factor 2, which its conclusion survives. D_t is made by the rounds i < t, and of
    the T/2 rounds at least that err on x ∈ R_t one is t itself; so only D_t(R_t) ≥ D(R_t)·½·(4/3)^{T/2} follows (even
    T), and it is attained. The sum over t = T/2, …, T has T/2 + 1 terms. Hence the error is at most

        ((T + 2)/4)·(3/4)^{T/2} in place of (T/8)·(3/4)^{T/2};  odd T: ((T + 1)/8)·(3/4)^{(T − 1)/2}.

    At T = 14·L, L = ln(2/α), the first is α·e^{−1.0137·L}·(14·L + 2)/8 ≤ 0.735·α for every α ≤ 1 (the most at
    L = 0.843), and both fall in T from 5 on, so that rounding T up does no harm.

    Args:
        representation: a (1/4, β/T)-probabilistic representation, or a better one.
        alpha: in (0, 1).
        rounds: T, ≥ 1; 14·ln(2/α), rounded up, without it.

    Raises:
        ParameterError: a parameter outside its range, or T times the representation's β is 1 or more.

    Source: Stemmer's thesis, section 5.2.1, Lemma 5.17.
    """

    representation: Representation
    alpha: float
    rounds: int | None = None

    card: ClassVar[Card] = Card(
        name="AlphaBoosted",
        system="P6",
        title="Boosting α of a probabilistic representation: classes of majorities",
        paper=THESIS,
        place="§5.2.1, Lemma 5.17",
        claim="an (α, β)-probabilistic representation of size ≤ k_1·T; it reads no data, so that it is 0-DP",
        inputs=f"{_INPUTS}; alpha in (0, 1)",
        output="T hypothesis classes, which stand for the class of all majorities of one hypothesis of each",
        differs=(
            "T = 14·ln(2/α) is rounded up to a whole number.",
            "β is T times that of the given representation; the print chooses that one with β/T.",
            "The proof's thought experiment decides whether a majority is good; where they are few, all are tried.",
        ),
    )

    def __post_init__(self) -> None:
        _check(self.representation)
        checks.probability("alpha", self.alpha, open_ends=True)
        if self.rounds is not None:
            checks.whole("rounds", self.rounds, least=1)
        if self.T * self.representation.beta >= 1:
            raise ParameterError(f"representation must have β < 1/T = 1/{self.T}, not {self.representation.beta!r}.")

    @property
    def concepts(self) -> ConceptClass:  # type: ignore[override]  # the inner one's
        """C."""
        return self.representation.concepts

    @property
    def T(self) -> int:
        """⌈14·ln(2/α)⌉, unless another number was given."""
        return math.ceil(14 * math.log(2 / self.alpha)) if self.rounds is None else self.rounds

    @property
    def beta(self) -> float:  # type: ignore[override]  # made of the inner one's
        """T times the β of the given representation: the union bound."""
        return float(self.T * as_written(self.representation.beta))

    @property
    def labelling(self) -> Labelling:
        return Majority(self.representation.labelling)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """It represents C, with T as printed, or with another T as far as the proof goes."""
        return (self.represents,) if self.rounds is None or error_bound(self.T) <= self.alpha else ()

    @property
    def printed_size(self) -> float:
        """k_1·14·ln(2/α)."""
        return self.representation.size * 14 * math.log(2 / self.alpha)

    @property
    def size(self) -> float:
        """k_1·T."""
        return self.representation.size * self.T

    def run(self, dataset: Any) -> Program:
        classes: tuple[Hypotheses, ...] = ()
        for _ in range(self.T):
            H = yield self.representation.on(())
            classes = (*classes, H)
        return Majorities(classes)


def error_bound(T: int, *, printed: bool = False) -> Fraction | float:
    """What the proof of Lemma 5.17 bounds the error of a majority of T by: as printed, or as it follows.

    Args:
        T: ≥ 1.
        printed: whether as printed.
    """
    if printed:
        return T / 8 * math.exp(T / 2 * math.log(0.75))
    half = T // 2
    power: Fraction = Fraction(3**half, 4**half)
    bound: Fraction = power * (Fraction(T + 1, 8) if T % 2 else Fraction(T + 2, 4))
    return bound


def _check(representation: Any) -> None:
    if not isinstance(representation, Representation):
        raise ParameterError(f"representation must be a Representation, not {representation!r}.")
    if representation.alpha > 0.25:
        raise ParameterError(f"representation must have α ≤ 1/4, not {representation.alpha!r}.")
