"""Composition of private mechanisms, run at its worst case: concatenation, basic and advanced composition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    Mechanism,
    ParameterError,
    Program,
    advanced_composition,
    basic_composition,
    checks,
)
from dpaudit_algorithms.foundations.dominating import LIKELY_1, SURELY_0, SURELY_1, DominatingMechanism, bits

Seen: TypeAlias = int | str
"""An adversary's observations of a record: how many interactions said "likely 1"; or "surely 0", "surely 1"."""

_LEAKS = {SURELY_0: "surely 0", SURELY_1: "surely 1"}


@dataclass(frozen=True)
class Interactions(Mechanism):
    """k interactions with `each`, one after the other; the output is what has been seen of each record.

    A leak settles a record. Without one, the likelihood ratio of the transcript is e^{±ε(2c − k)}, where c is the
    number of answers "likely 1". So c, or the leak, is a sufficient statistic, and the privacy profile is that of the
    whole transcript. The last interaction is added to the k − 1 before it, of which equal outputs are one state.

    Args:
        each: the mechanism interacted with.
        k: how often, ≥ 1.

    Raises:
        ParameterError: k is not a whole number ≥ 1.
    """

    each: DominatingMechanism
    k: checks.Count

    def run(self, S: Any) -> Program:
        seen: tuple[Seen, ...] = (0,) * len(bits(S))
        if self.k > 1:
            seen = yield Interactions(self.each, self.k - 1).on(S)  # interactions 1, …, k − 1
        answers: tuple[int, ...] = yield self.each.on(S)  # interaction k
        return tuple(_after(*one) for one in zip(seen, answers, strict=True))


def _after(seen: Seen, answer: int) -> Seen:
    """The observations of a record after one more answer."""
    if isinstance(seen, str):
        return seen
    return _LEAKS.get(answer, seen + (answer == LIKELY_1))


@dataclass(frozen=True)
class BasicComposition(Mechanism):
    """k adaptive interactions with (ε, δ)-DP mechanisms, held against (kε, kδ).

    Exactly: all answers "likely b" without a leak have the ratio e^{kε}, so δ at kε is that of a leak, 1 − (1 − δ)^k.

    Args:
        epsilon: of one interaction, ≥ 0.
        delta: of one interaction, in [0, 1].
        k: number of interactions, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.5.
    """

    epsilon: float
    delta: float
    k: int

    def __post_init__(self) -> None:
        _ = self.interactions

    @property
    def claim(self) -> Claim:
        """(kε, kδ), Theorem 3.5."""
        return Claim(self.epsilon, self.delta).scaled(self.k)

    @property
    def interactions(self) -> Interactions:
        """The k interactions."""
        return Interactions(DominatingMechanism(self.epsilon, self.delta), self.k)

    def run(self, S: Any) -> Program:
        return (yield self.interactions.on(S))


@dataclass(frozen=True)
class AdvancedComposition(Mechanism):
    """k adaptive interactions with (ε, δ)-DP mechanisms, held against (ε′, kδ + δ′),
    ε′ = √(2k·ln(1/δ′))·ε + 2kε².

    Args:
        epsilon: of one interaction, in (0, 1].
        delta: of one interaction, in [0, 1].
        k: number of interactions, ≥ 1.
        delta_prime: δ′, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.6.
    """

    epsilon: float
    delta: float
    k: int
    delta_prime: float

    def __post_init__(self) -> None:
        _ = self.interactions, self.claim

    @property
    def claim(self) -> Claim:
        """(ε′, kδ + δ′), Theorem 3.6."""
        return advanced_composition(Claim(self.epsilon, self.delta), self.k, self.delta_prime)

    @property
    def interactions(self) -> Interactions:
        """The k interactions."""
        return Interactions(DominatingMechanism(self.epsilon, self.delta), self.k)

    def run(self, S: Any) -> Program:
        return (yield self.interactions.on(S))


@dataclass(frozen=True)
class Concatenation(Mechanism):
    """⟨A₁(S), A₂(S)⟩ of two mechanisms with different claims, held against (ε₁ + ε₂, δ₁ + δ₂).

    Args:
        first, second: the two mechanisms; the default of the audits is the worst case, `DominatingMechanism`.

    Raises:
        ParameterError: a mechanism without a claim, or claims under different relations.

    Source: Stemmer's thesis, Theorem 3.4.
    """

    first: Mechanism
    second: Mechanism

    def __post_init__(self) -> None:
        _ = self.claim

    @property
    def claim(self) -> Claim:
        """(ε₁ + ε₂, δ₁ + δ₂), Theorem 3.4."""
        return basic_composition(claim_of(part) for part in (self.first, self.second))

    def run(self, S: Any) -> Program:
        y1 = yield self.first.on(S)
        y2 = yield self.second.on(S)
        return (y1, y2)


def claim_of(mechanism: Mechanism) -> Claim:
    """The mechanism's claim.

    Raises:
        ParameterError: it has none.
    """
    if mechanism.claim is None:
        raise ParameterError(f"{mechanism.name} claims nothing, so nothing can be concluded from it.")
    return mechanism.claim


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUT = "n ≥ 1 records, each 0 or 1"
_OUTPUT = 'for each record, how many of the k interactions said "likely 1"; or "surely 0", "surely 1"'
_WORST = (
    "Every interaction is with the mechanism that dominates all (ε, δ)-DP mechanisms: no adaptive choice does worse.",
    "The output is a sufficient statistic of the transcript: the k answers tell an adversary nothing more.",
)

BasicComposition.card = Card(
    name="BasicComposition",
    system="F5",
    title="Basic composition at its worst case",
    paper=THESIS,
    place="§3.1.1, Theorem 3.5",
    claim="(kε, kδ)-DP",
    inputs=_INPUT + "; epsilon ≥ 0, delta in [0, 1], k ≥ 1",
    output=_OUTPUT,
    deviations=_WORST,
    variants=("AdvancedComposition", "Concatenation"),
)

AdvancedComposition.card = Card(
    name="AdvancedComposition",
    system="F5",
    title="Advanced composition at its worst case",
    paper=THESIS,
    place="§3.1.1, Theorem 3.6",
    claim="(ε′, kδ + δ′)-DP with ε′ = √(2k·ln(1/δ′))·ε + 2kε², for 0 < ε, δ′ ≤ 1",
    inputs=_INPUT + "; 0 < epsilon ≤ 1, delta in [0, 1], k ≥ 1, 0 < delta_prime ≤ 1",
    output=_OUTPUT,
    deviations=_WORST,
    variants=("BasicComposition",),
)

Concatenation.card = Card(
    name="Concatenation",
    system="F5",
    title="Two mechanisms on the same dataset",
    paper=THESIS,
    place="§3.1.1, Theorem 3.4",
    claim="(ε₁ + ε₂, δ₁ + δ₂)-DP",
    inputs="a dataset of both mechanisms",
    output="the pair of their outputs",
    variants=("BasicComposition",),
)
