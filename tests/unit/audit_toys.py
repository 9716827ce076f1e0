"""Toy mechanisms, functions and a toy catalogue that the tests of the engine and command line share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from dpaudit.adversary import Pair
from dpaudit.language import (
    BOTTOM,
    Card,
    Categorical,
    Claim,
    Gaussian,
    Laplace,
    Mechanism,
    Program,
    Softmax,
    exp,
)
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit.results.model import Verdict
from dpaudit.testing import RandomisedResponse

E = math.e
PAIR = ((0,), (1,))


@dataclass(frozen=True)
class Response(RandomisedResponse):
    """Randomised response with a card, so that it can be registered."""

    card: ClassVar[Card] = Card(
        name="Response",
        system="T1",
        title="Randomised response",
        paper="Warner, Randomized response (1965)",
        place="section 2",
        claim="ε-DP under replace-one",
        inputs="a dataset of one bit",
        output="a bit",
    )


@dataclass(frozen=True)
class TwoLeaks(Mechanism):
    """Claims ε = 0.3; a common output has a loss of 0.42, a rare one of 1.2."""

    @property
    def claim(self) -> Claim:
        return Claim(0.3)

    def run(self, dataset: Any) -> Categorical:
        (bit,) = dataset
        common, rare = 0.4 * exp(-0.42 * bit), 0.004 * exp(-1.2 * bit)
        return Categorical(("common", "rare", "other"), (common, rare, 1 - common - rare))


@dataclass(frozen=True)
class Choice(Mechanism):
    """The exponential mechanism over `options`, by multiplicity."""

    epsilon: float = 1.0
    options: int = 5

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Softmax:
        return Softmax(np.array([float(list(dataset).count(v)) for v in range(self.options)]), self.epsilon / 2)


@dataclass(frozen=True)
class NoisySum(Mechanism):
    """Laplace or Gaussian noise, released as it is: a density and no law."""

    epsilon: float = 1.0
    gaussian: bool = False

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Any:
        scale = 1 / self.epsilon
        return Gaussian(float(sum(dataset)), scale) if self.gaussian else Laplace(float(sum(dataset)), scale)


@dataclass(frozen=True)
class Folded(NoisySum):
    """The distance of a noisy sum from 0: no law, and more than the noise released."""

    def run(self, dataset: Any) -> Program:
        return abs((yield Laplace(float(sum(dataset)), 1 / self.epsilon)))


@dataclass(frozen=True)
class Gated(Mechanism):
    """⊥, or a noisy sum: an output that is half atom, half real."""

    epsilon: float = 1.0

    def run(self, dataset: Any) -> Program:
        total = float(sum(dataset))
        if (yield Laplace(total, 1 / self.epsilon) < 0.5):
            return BOTTOM
        return Laplace(total, 1 / self.epsilon)


@dataclass(frozen=True)
class Breaks(Mechanism):
    """Raises on datasets that start with 1, in its text or in its `bulk`."""

    def run(self, dataset: Any) -> Any:
        if dataset[0] == 1:
            raise RuntimeError("no ones, please")
        return Categorical((0, 1), (0.5, 0.5))


def response(dataset: Any, rng: Generator) -> int:
    """Randomised response at ε = 1, one run at a time."""
    return int(dataset[0]) if rng.random() < E / (1 + E) else 1 - int(dataset[0])


def responses(dataset: Any, rng: Generator, size: int) -> Any:
    """The same, vectorised."""
    return np.where(rng.random(size) < E / (1 + E), dataset[0], 1 - dataset[0])


_GIVEN = Pair(*PAIR, "one bit", "specified")
_MIDDLE = Pair((1, 0, 2), (1, 2, 2), "the middle one", "specified")

RESPONSE = Plan(
    "Response",
    lambda: (
        Case("exact and sampled", Response(), (_GIVEN,), runs=2_000),
        Case("every pair", Response(), scope=Scope((0, 1), 1), runs=0),
        Case("claims too little", Response(1.0, 0.5), (_GIVEN,), runs=2_000, expected=Verdict.FAIL),
    ),
)
CHOICE = Plan("Choice", lambda: (Case("three options", Choice(1.0, 3), (_MIDDLE,), runs=2_000, note="a note"),))
EMPTY = Plan("Empty", lambda: ())

ALGORITHMS = {
    "Response": "audit_toys:Response",
    "Choice": "audit_toys:Choice",
    "Empty": "audit_toys:NoisySum",
    "Broken": "no_such_module_at_all:Broken",
    "NoClass": "audit_toys:PAIR",
}
AUDITS = {
    "Response": "audit_toys:RESPONSE",
    "Choice": "audit_toys:CHOICE",
    "Empty": "audit_toys:EMPTY",
    "NoClass": "audit_toys:PAIR",
}
