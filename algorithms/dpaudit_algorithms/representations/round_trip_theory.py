"""Theorem 5.18 in numbers: what both of its ends are for given parameters, and a distribution that is hard to learn."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    Instance,
    Mechanism,
    Multinomial,
    Program,
    SampleSize,
    Uniform,
    UtilityClaim,
    as_written,
    checks,
    exp,
    log,
)
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.pac.concepts import GeneralisationError, Thresholds, Truth
from dpaudit_algorithms.representations.representation import HypothesisError, Labelling, Representation

PLACE = "§5.2.1, Theorem 5.18"
LOST = math.log(8 * math.log(4))
"""ln(8·ln 4) = 2.406, which the lower bound takes off RepDim(C)."""


class RoundTripTheory(Mechanism):
    """Of both versions; the parameters are those of `RoundTrip`."""

    epsilon: float
    alpha: float
    beta: float
    representation: Representation
    rounds: int | None

    @property
    @abstractmethod
    def labelling(self) -> Labelling:
        """What the learner's outputs mean."""

    @property
    @abstractmethod
    def enough(self) -> int:
        """The number of examples from which (α, β) is guaranteed."""

    @property
    def _formula(self) -> str:
        return "(18/(αε))·(T·(k + ln M) + ln(4/β)), T = ⌈14·ln(12/α)⌉, M = ⌈ln(4T/β)⌉"

    @property
    def _place(self) -> str:
        return PLACE

    @property
    def guaranteed(self) -> UtilityClaim:
        """Error at most α with probability at least 1 − β."""
        goal = HypothesisError(self.representation.concepts, self.labelling, self.alpha)
        return UtilityClaim(goal, all_but(self.beta), self._place)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(α, β) from the stated number of examples on, with T as printed."""
        return (self.guaranteed,) if self.rounds is None and records >= self.enough else ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """`enough` examples, where T is as printed."""
        if self.rounds is not None:
            return ()
        return (SampleSize(self.enough, self._formula, str(self.guaranteed), self._place),)


class RoundTripCorrectedTheory(RoundTripTheory):
    """Of `RoundTripCorrected`, where it differs."""

    @property
    def _formula(self) -> str:
        return "(18/α)·max{1, 1/ε}·(T·(k + ln M) + ln(4/β)), T = ⌈14·ln(12/α)⌉, M = ⌈ln(4T/β)⌉"

    @property
    def _place(self) -> str:
        return f"{PLACE}, corrected"


# --- both ends of the theorem ----------------------------------------------------------------------------------------


def printed_rounds(alpha: float) -> int:
    """T = ⌈14·ln(2/(α/6))⌉: the classes of a majority, for error α/6."""
    return math.ceil(14 * log(12 / alpha))


def sufficient(dimension: float, alpha: float, beta: float, epsilon: float) -> float:
    """The n of the theorem's proof, from which an (α, β, ε)-PPAC learner is made.

    By Claim 5.16 and Lemma 5.17 there is an (α/6, β/4)-probabilistic representation of size T·(RepDim(C) + ln M), with
    T = ⌈14·ln(12/α)⌉ and M = ⌈ln(4T/β)⌉, and by Lemma 5.12 a learner from (3/((α/6)·ε))·(that size + ln(4/β)) examples.

    Args:
        dimension: RepDim(C), or a bound on it from above.
        alpha: in (0, 1/4].
        beta: in (0, 1/2].
        epsilon: > 0.
    """
    T = printed_rounds(alpha)
    M = math.ceil(log(4 * T / beta))
    return 18 / (alpha * epsilon) * (T * (dimension + log(M)) + log(4 / beta))


def necessary(dimension: float, alpha: float, epsilon: float) -> float:
    """(RepDim(C) − ln(8·ln 4))/(8αε): an (α, 1/2, ε)-PPAC learner has no fewer examples. Below 0 it says nothing.

    Args:
        dimension: RepDim(C), or a bound on it from below.
        alpha: in (0, 1/4].
        epsilon: > 0.
    """
    return (dimension - LOST) / (8 * alpha * epsilon)


def gap(alpha: float) -> int:
    """144·T: what the ratio of both ends tends to as RepDim(C) grows, for every β and ε. It is Θ(ln(1/α))."""
    return 144 * printed_rounds(alpha)


# --- thresholds, which have a representation dimension that grows ----------------------------------------------------


def milestones(bits: int, j: int) -> tuple[int, ...]:
    """The points at which a binary search for j in {0, …, 2^bits − 1} asks whether x ≤ j; all are ≥ 1."""
    low, points = 0, []
    for bit in reversed(range(bits)):
        points.append(low + (1 << bit))
        low = points[-1] if points[-1] <= j else low
    return tuple(points)


def guessed(bits: int) -> Fraction:
    """Pr[Bin(bits, 1/2) ≤ bits/4]: the most with which a fixed hypothesis is 1/4-good for c_j and D_j, j random.

    D_j is uniform on the milestones of j. What was asked before decides where the next milestone is, so h answers it
    with a fixed bit; and the right answer, a bit of j, is a fair coin.
    """
    return Fraction(sum(math.comb(bits, k) for k in range(bits // 4 + 1)), 1 << bits)


def thresholds_need(bits: int) -> float:
    """A lower bound on RepDim(THRESH_X), |X| = 2^bits: ln⌈3/(4g)⌉, g as of `guessed`.

    A class of K hypotheses has a 1/4-good one for a random c_j and D_j with probability at most K·g; a
    (1/4, 1/4)-probabilistic representation draws one that has with probability 3/4 at least.
    """
    return log(math.ceil(Fraction(3, 4) / guessed(bits)))


@dataclass(frozen=True)
class HiddenThreshold(Mechanism):
    """Instances of n examples of a random threshold c_j: each at point 0 with probability 1 − 4α, else at one of the
    milestones of j, uniformly. They are the D̃ of the proof of Lemma 5.15, for the D_j of `guessed`.

    Args:
        bits: |X| = 2^bits.
        alpha: in (0, 1/4].
        records: n.
    """

    bits: checks.Count
    alpha: checks.OpenUnit
    records: checks.Natural

    def run(self, dataset: Any) -> Program:
        j = yield Uniform(range(1 << self.bits))
        points = milestones(self.bits, j)
        away = 4 * as_written(self.alpha)
        weights = (float(1 - away), *(float(away / self.bits) for _ in points))
        truth = Truth((0, *points), weights, j)
        examples = tuple((x, int(x <= j)) for x in truth.points)
        sample = yield Multinomial(examples, truth.weights, self.records)
        return Instance(sample, truth)

    def __str__(self) -> str:
        return f"{self.records:,} examples of a random threshold of 2^{self.bits}, at its milestones"


def learned_at_most(bits: int, alpha: float, epsilon: float, records: int) -> UtilityClaim:
    """How often any ε-DP learner can be α-good for a `HiddenThreshold`: E[min{1, e^{εk}·g}], k ~ Bin(n, 4α).

    k is the number of examples not at point 0. A hypothesis that is α-good for D̃ is 1/4-good for D_j. On n examples
    at point 0, which all have the label 1, the learner's output is 1/4-good for D_j with probability at most g, and its
    outputs on a sample are at most e^{εk} times as likely. Below the necessary n this is below 1/2.

    Args:
        bits: |X| = 2^bits.
        alpha: in (0, 1/4].
        epsilon: of the learner, > 0.
        records: n.
    """
    away, g = float(4 * as_written(alpha)), float(guessed(bits))
    most = math.fsum(
        math.comb(records, k) * away**k * (1 - away) ** (records - k) * min(1.0, g * exp(min(epsilon * k, 700.0)))
        for k in range(records + 1)
    )
    goal = GeneralisationError(Thresholds(1 << bits), alpha)
    return UtilityClaim(goal, min(1.0, most * (1 + 1e-12)), f"{PLACE}, the lower bound", at_most=True)
