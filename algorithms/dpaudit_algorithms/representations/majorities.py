"""Classes of majorities, and the thought experiment that finds a good one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress, product
from typing import Any

from dpaudit.language import Mechanism, ParameterError, Program, checks, fsum
from dpaudit_algorithms.pac.concepts import ConceptClass, Truth
from dpaudit_algorithms.representations.representation import (
    Hypotheses,
    Labelling,
    Representation,
    error,
    labels_at,
)

ROUNDING = 1e-9
"""By how much a mass of D_t may exceed 1/4, or fall short of a bound, for doubles to have done it."""
MOST_MAJORITIES = 1 << 12
"""More majorities than this are not tried one by one."""


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
        """h_1, …, h_T of the proof's thought experiment, each the best for c and D_t; None where it fails."""
        rounds = self._rounds(concepts, truth)
        return tuple(one.name for one in rounds) if rounds and all(one.good for one in rounds) else None

    def has_good(self, concepts: ConceptClass, truth: Truth, alpha: Fraction) -> bool:
        """Whether a majority of error ≤ α was found: a True is certain, a False is so only where all were tried.

        It is sought by the thought experiment, which goes on past rounds without a good hypothesis (their best one
        votes, and D_t stays as it is), and where the majorities are few, among all of them.
        """
        rounds = self._rounds(concepts, truth)
        hypotheses = tuple(one.name for one in rounds)
        if rounds and error(self.labelling, hypotheses, concepts, truth) <= alpha:
            return True
        if self.count > MOST_MAJORITIES:
            return False
        names = product(*(H.members for H in self.classes))
        return any(error(self.labelling, name, concepts, truth) <= alpha for name in names)

    def _rounds(self, concepts: ConceptClass, truth: Truth) -> list[Round]:
        """All T rounds with the best hypotheses; none where a class is empty."""
        start, rounds = Start(truth, concepts), list[Round]()
        masses = start.masses
        for H in self.classes:
            tried = [start.round(H.labelling, name, masses) for name in H.members]
            if not tried:
                return []
            rounds.append(min(tried, key=lambda one: one.error))
            masses = rounds[-1].after if rounds[-1].good else masses
        return rounds


@dataclass(frozen=True)
class ThoughtExperiment(Mechanism):
    """The proof's thought experiment with H_1, …, H_T drawn one after the other: h_1, …, h_T, or None where it fails.

    Its dataset is the `Truth`: the target c and D, which the proof knows and nobody has to keep secret. The print takes
    *a* 1/4-good hypothesis of H_t; here that is the best one, or the worst.

    Args:
        representation: a (1/4, β/T)-probabilistic representation.
        T: how many rounds, ≥ 1.
        best: whether the best of the good hypotheses is taken.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 5.2.1, proof of Lemma 5.17.
    """

    representation: Representation
    T: checks.Count
    best: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.representation, Representation):
            raise ParameterError(f"representation must be a Representation, not {self.representation!r}.")

    def run(self, truth: Truth) -> Program:
        start = Start(truth, self.representation.concepts)
        names: tuple[Any, ...] = ()
        masses = start.masses  # D_1 = D
        for _ in range(self.T):  # for t = 1, …, T
            H = yield self.representation.on(())
            tried = (start.round(H.labelling, name, masses) for name in H.members)
            good = [one for one in tried if one.good]
            # 1. fail if H_{i_t} does not contain a 1/4-good hypothesis for c, D_t
            if not good:
                return None
            # 2. h_t ∈ H_{i_t}, a 1/4-good hypothesis for c, D_t
            h = (min if self.best else max)(good, key=lambda one: one.error)
            # 3. D_{t+1}
            names, masses = (*names, h.name), h.after
        return names


@dataclass(frozen=True)
class Round:
    """One round t of the thought experiment.

    D_t is in doubles, as the digits of fractions would double in every round.

    Args:
        masses: D_t(x) at each point.
        name: of h_t.
        wrong: at each point, whether h_t errs there.
    """

    masses: tuple[float, ...]
    name: Any
    wrong: tuple[bool, ...]

    @cached_property
    def error(self) -> float:
        """error_{D_t}(c, h_t)."""
        return fsum(compress(self.masses, self.wrong))

    @property
    def good(self) -> bool:
        """Whether h_t is 1/4-good for c and D_t."""
        return self.error <= 0.25 + ROUNDING

    @property
    def after(self) -> tuple[float, ...]:
        """D_{t+1}: twice the mass where h_t errs, 1 − ε_t/(1 − ε_t) times it elsewhere, ε_t its error ≤ 1/4."""
        less = 1 - self.error / (1 - self.error)
        masses = [2 * m if wrong else less * m for m, wrong in zip(self.masses, self.wrong, strict=True)]
        total = fsum(masses)
        return tuple(m / total for m in masses)


@dataclass(frozen=True)
class Start:
    """D_1 = D, and what h_1, h_2, … are held against.

    Args:
        truth: the target c and D.
        concepts: the class of c.
    """

    truth: Truth
    concepts: ConceptClass

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """D(x) at each point."""
        total = fsum(self.truth.weights)
        return tuple(float(w) / total for w in self.truth.weights)

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """c(x) at each point."""
        return tuple(self.concepts.label(self.truth.target, x) for x in self.truth.points)

    def round(self, labelling: Labelling, name: Any, masses: tuple[float, ...]) -> Round:
        """The round in which that hypothesis is h_t, and `masses` are D_t."""
        labels = labels_at(labelling, name, self.truth.points)
        return Round(masses, name, tuple(label != target for label, target in zip(labels, self.targets, strict=True)))

    def rounds(self, labelling: Labelling, names: Sequence[Any]) -> list[Round]:
        """Those in which h_1, …, h_T are these, all of them good."""
        rounds: list[Round] = []
        for name in names:
            rounds.append(self.round(labelling, name, rounds[-1].after if rounds else self.masses))
        return rounds
