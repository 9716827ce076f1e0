"""A registry of small algorithms: sound ones, and for every clause of the contract one that breaks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import (
    BOTTOM,
    Bernoulli,
    Card,
    Categorical,
    Claim,
    Laplace,
    Mechanism,
    Program,
    Symmetry,
    checks,
    exp,
    relabellings,
)
from dpaudit.plans.plan import Case, Plan, Scope


def card(name: str, **changes: Any) -> Card:
    parts: dict[str, Any] = {
        "system": "T1", "title": "A toy", "paper": "Nobody (2026)", "place": "Theorem 1", "claim": "ε",
        "inputs": "bits", "output": "a bit",
    }
    return Card(name, **{**parts, **changes})


@dataclass(frozen=True)
class Toy(Mechanism):
    """Randomised response.  Source: a toy."""

    epsilon: float = 1.0

    card: ClassVar[Card | None] = card("Toy")

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Any:
        truth = yield Bernoulli(1 / (1 + exp(-self.epsilon)))
        return S[0] if truth else 1 - S[0]


@dataclass(frozen=True)
class ToyContinuous(Toy):
    """No law, but a bulk.  Source: a toy."""

    card: ClassVar[Card | None] = card("ToyContinuous")

    def run(self, S: Any) -> Program:
        noise = yield Laplace(0, 1 / self.epsilon)
        if noise > 3:
            return BOTTOM
        return S[0] + noise

    def bulk(self, S: Any, size: int, rng: np.random.Generator) -> Any:
        noise = rng.laplace(0, 1 / self.epsilon, size)
        return [BOTTOM if x > 3 else S[0] + x for x in noise]


@dataclass(frozen=True)
class ToyRare(Toy):
    """A law far from even.  Source: a toy."""

    card: ClassVar[Card | None] = card("ToyRare")

    def run(self, S: Any) -> Program:
        rare = yield Laplace(S[0], 1 / self.epsilon) > 12
        return "rare" if rare else BOTTOM


@dataclass(frozen=True)
class ToyParts(Toy):
    """Two halves of the budget, and a bulk of what has a law.  Source: a toy."""

    card: ClassVar[Card | None] = card("ToyParts")

    def run(self, S: Any) -> Program:
        a = yield Toy(self.epsilon / 2).on(S)
        b = yield Toy(self.epsilon / 2).on(S)
        return a + b

    def bulk(self, S: Any, size: int, rng: np.random.Generator) -> Any:
        p = 1 / (1 + exp(-self.epsilon / 2))
        return rng.binomial(2, p if S[0] else 1 - p, size)


@dataclass(frozen=True)
class ToyMirrored(Toy):
    """Randomised response on whether most are 1, which declares that 0 and 1 are alike.  Source: a toy."""

    card: ClassVar[Card | None] = card("ToyMirrored")

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        return relabellings("relabelling", domain)

    def run(self, S: Any) -> Any:
        truth = yield Bernoulli(1 / (1 + exp(-self.epsilon)))
        most = self.most(sum(S), len(S))
        return most if truth or most == BOTTOM else 1 - most

    def most(self, ones: int, of: int) -> Any:
        """The commoner one."""
        return BOTTOM if 2 * ones == of else int(2 * ones > of)


# --- what each clause catches ----------------------------------------------------------------------------------------


class NoCard(Toy):
    """Source: a toy."""

    card = None


class OtherName(Toy):
    """Source: a toy."""

    card = card("Another")


class NoSource(Toy):
    """Nothing."""

    card = card("NoSource")


class WithLambda(Toy):
    """Source: a toy."""

    card = card("WithLambda")

    def __reduce__(self) -> Any:
        return (WithLambda, (self.epsilon + 1,))


class Address(Toy):
    """Source: a toy."""

    card = card("Address")

    def __repr__(self) -> str:
        return "<Address at 0x1>"


class AcceptsAnything(Toy):
    """Source: a toy."""

    card = card("AcceptsAnything")

    def __post_init__(self) -> None:
        """No check."""


class TwoSentences(Toy):
    """Source: a toy."""

    card = card("TwoSentences")

    def __post_init__(self) -> None:
        if self.epsilon != 1:
            raise checks.ParameterError("The epsilon is wrong. It is bad.")


class Overspends(ToyParts):
    """Source: a toy."""

    card = card("Overspends")

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon * 0.99)


class BulkOfAnother(ToyParts):
    """Source: a toy."""

    card = card("BulkOfAnother")

    def bulk(self, S: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.binomial(2, 0.51 / (1 + exp(-self.epsilon / 2)), size)


class BulkWithoutLaw(ToyContinuous):
    """Source: a toy."""

    card = card("BulkWithoutLaw")

    def bulk(self, S: Any, size: int, rng: np.random.Generator) -> Any:
        return [BOTTOM if x > 3 else S[0] + x for x in rng.laplace(0, 1.3 / self.epsilon, size)]


class Half(Categorical):
    """Draws something else than its law says, by one per cent of one value."""

    def grouped(self, rng: np.random.Generator, size: int) -> list[tuple[Any, int]]:
        ones = int(rng.binomial(size, 0.5 * 1.01))
        return [(1, ones), (0, size - ones)]


class WrongSampler(Toy):
    """Source: a toy."""

    card = card("WrongSampler")

    def run(self, S: Any) -> Any:
        return Half((0, 1), (0.5, 0.5))


class Lopsided(ToyMirrored):
    """Source: a toy."""

    card = card("Lopsided")

    def most(self, ones: int, of: int) -> int:
        return int(2 * ones >= of)


class WrongLaw(Toy):
    """Source: a toy."""

    card = card("WrongLaw")

    def run(self, S: Any) -> Any:
        return Unnormalised((0, 1), (0.5, 0.5))


class Unnormalised(Categorical):
    """Sums to 1 + 1e-6."""

    @property
    def probs(self) -> Any:
        return np.array([0.5, 0.5 + 1e-6])


def plan_of(mechanism: Mechanism, **changes: Any) -> Plan:
    claim = mechanism.claim or Claim(1.0)

    def cases() -> tuple[Case, ...]:
        single = (Pair((0, 1), (1, 1), "one moved"),)
        several = (Pair((0, 0, 0), (1, 1, 0), "two moved"),)
        parts: dict[str, Case] = {
            "pair": Case("pair", mechanism, single),
            "scope": Case("scope", mechanism, scope=Scope((0, 1), 2, ordered=True)),
            "2": Case("group of 2", mechanism, several, claim.group(2)),
            "3": Case("group of 3", mechanism, several, claim.group(3)),
        }
        return tuple(case for case in {**parts, **changes}.values() if case is not None)

    return Plan(type(mechanism).__name__, cases)


SOUND = (Toy(), ToyContinuous(), ToyRare(), ToyParts(), ToyMirrored())
