"""What the proofs of Claim 5.16 and Lemma 5.17 say of the boosted representations, as printed and as it follows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress
from typing import Any

from dpaudit.language import Goal, Instance, UtilityClaim, as_written, exp, fsum, log
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.pac.concepts import Truth
from dpaudit_algorithms.representations.majorities import ROUNDING, Majority, Start, ThoughtExperiment
from dpaudit_algorithms.representations.representation import Representation, error, truth_of

_PROOF = "§5.2.1, proof of Lemma 5.17"


class BetaBoostedTheory(Representation):
    """Of `BetaBoosted`, whose parameters these are."""

    @property
    def least(self) -> int:
        """The least whole M with (1/4)^M ≤ β."""
        M, failure = 1, Fraction(1, 4)
        while failure > as_written(self.beta):
            M, failure = M + 1, failure / 4
        return M


class AlphaBoostedTheory(Representation):
    """Of `AlphaBoosted`, whose parameters these are."""

    representation: Representation
    rounds: int | None

    @property
    @abstractmethod
    def T(self) -> int:
        """The number of classes."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """It represents C, with T as printed, or with another T as far as the proof goes."""
        return (self.represents,) if self.rounds is None or error_bound(self.T) <= self.alpha else ()

    def experiment(self, *, best: bool = True) -> ThoughtExperiment:
        """The proof's thought experiment on its own, with the best or the worst of the good hypotheses."""
        return ThoughtExperiment(self.representation, self.T, best)

    @property
    def succeeds(self) -> UtilityClaim:
        """Of the experiment: every round fails with β/T at most, so that all succeed with 1 − β, and then error ≤ α."""
        place = f"{_PROOF}, the thought experiment"
        return UtilityClaim(Succeeds(self.representation, self.alpha), all_but(self.beta), place)

    def mass_grows(self, *, printed: bool = True) -> UtilityClaim:
        """Of the experiment: D_t(R_t) ≥ (4/3)^{T/2}·D(R_t) for every t; not as printed, the half of it (even T)."""
        goal = MassGrows(self.representation, float(growth(self.T, printed=printed)))
        return UtilityClaim(goal, 1.0, f"{_PROOF}, D_t(R_t){'' if printed else ', corrected'}")

    def error_bounded(self, *, printed: bool = True) -> UtilityClaim:
        """Of the experiment: its majority has error ≤ (T/8)·(3/4)^{T/2}; not as printed, what follows."""
        goal = ErrorBounded(self.representation, float(error_bound(self.T, printed=printed)))
        return UtilityClaim(goal, 1.0, f"{_PROOF}, D(R){'' if printed else ', corrected'}")


@dataclass(frozen=True)
class Succeeds(Goal):
    """The thought experiment does not fail, and the majority of its h_1, …, h_T has error ≤ α.

    Source: thesis, proof of Lemma 5.17.
    """

    representation: Representation
    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        return output is not None and _error(self.representation, instance, output) <= as_written(self.alpha)

    def __str__(self) -> str:
        return f"a thought experiment that succeeds, with a majority of error ≤ {self.alpha:.4g}"


@dataclass(frozen=True)
class MassGrows(Goal):
    """If the thought experiment succeeds, D_t(R_t) ≥ g·D(R_t) for every t.

    R is where the majority errs, R_t where h_t is the last to err of all that do.

    Args:
        representation: of the experiment.
        growth: g.

    Source: thesis, proof of Lemma 5.17.
    """

    representation: Representation
    growth: float

    def reached(self, instance: Instance, output: Any) -> bool:
        return output is None or all(
            later >= self.growth * first * (1 - ROUNDING)
            for first, later in last_errors(self.representation, truth_of(instance), output)
        )

    def __str__(self) -> str:
        return f"a failed thought experiment, or D_t(R_t) ≥ {self.growth:.4g}·D(R_t) for every t"


@dataclass(frozen=True)
class ErrorBounded(Goal):
    """If the thought experiment succeeds, the majority of its h_1, …, h_T has error ≤ `bound`.

    Source: thesis, proof of Lemma 5.17.
    """

    representation: Representation
    bound: float

    def reached(self, instance: Instance, output: Any) -> bool:
        return output is None or _error(self.representation, instance, output) <= self.bound * (1 + ROUNDING)

    def __str__(self) -> str:
        return f"a failed thought experiment, or a majority of error ≤ {self.bound:.4g}"


def last_errors(representation: Representation, truth: Truth, names: Sequence[Any]) -> list[tuple[float, float]]:
    """(D(R_t), D_t(R_t)) for every t = 1, …, T whose R_t has mass.

    Args:
        representation: the h_t are hypotheses of.
        truth: c and D.
        names: h_1, …, h_T.
    """
    start = Start(truth, representation.concepts)
    majority = start.round(Majority(representation.labelling), tuple(names), start.masses)
    left = list(majority.wrong)  # R without what errs later
    masses: list[tuple[float, float]] = []
    for one in reversed(start.rounds(representation.labelling, names)):
        last = [inside and wrong for inside, wrong in zip(left, one.wrong, strict=True)]
        left = [inside and not wrong for inside, wrong in zip(left, one.wrong, strict=True)]
        first = fsum(compress(start.masses, last))
        if first:
            masses.append((first, fsum(compress(one.masses, last))))
    return masses[::-1]


def growth(T: int, *, printed: bool = False) -> Fraction | float:
    """What the proof multiplies D(R_t) by to bound D_t(R_t) from below: as printed, or as it follows.

    A point of R_t errs in ⌈T/2⌉ rounds at least, of which t is the last. D_t is made by the rounds before t: ⌈T/2⌉ − 1
    at least that double the point, at most ⌊T/2⌋ that multiply it by 2/3 or more.

    Args:
        T: ≥ 1.
        printed: (4/3)^{T/2}, which counts t itself among the rounds that double.
    """
    if printed:
        return exp(T / 2 * log(4 / 3))
    return Fraction(2) ** ((T + 1) // 2 - 1) * Fraction(2, 3) ** (T // 2)


def error_bound(T: int, *, printed: bool = False) -> Fraction | float:
    """What the proof of Lemma 5.17 bounds the error of a majority of T by: as printed, or as it follows.

    A point of R errs in ⌈T/2⌉ rounds at least, so that D_{T+1}(R), which is at most 1, is D(R)·2^⌈T/2⌉·(2/3)^⌊T/2⌋ at
    least. For even T that makes D(R) ≤ (3/4)^{T/2}, which is at most the printed bound from T = 8 on.

    Args:
        T: ≥ 1.
        printed: (T/8)·(3/4)^{T/2}, the sum of what is printed of D(R_t).
    """
    if printed:
        return T / 8 * exp(T / 2 * log(0.75))
    return Fraction(1, 2) ** ((T + 1) // 2) * Fraction(3, 2) ** (T // 2)


def _error(representation: Representation, instance: Instance, names: tuple[Any, ...]) -> Fraction:
    return error(Majority(representation.labelling), names, representation.concepts, truth_of(instance))
