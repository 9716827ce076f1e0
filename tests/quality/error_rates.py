"""Audits of mechanisms whose exact ε is known, many times over: what the tests of error rates count.

The engine trains, searches, certifies and counts as ever. Only the last step is cut short: where the certified bound
lies above ε₀, the test of "p ≤ e^ε₀ q + δ" rejects (the bound is the end of an interval of rejected ε), and that one
test costs a hundredth of its inversion. So what is counted here is at least what an audit would overstate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dpaudit.adversary import Pair
from dpaudit.audit import exact, sampled
from dpaudit.audit.request import Job, Request, jobs_of
from dpaudit.audit.runner import Runner
from dpaudit.interpret import LawCache
from dpaudit.language import Categorical, Claim, Laplace, Mechanism, Softmax
from dpaudit.stats import hockey_stick, score_test


@dataclass(frozen=True)
class RandomisedResponse(Mechanism):
    """Exactly ε-DP."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Categorical:
        (bit,) = dataset
        return Categorical((bit, 1 - bit), (1 / (1 + math.exp(-self.epsilon)), 1 / (1 + math.exp(self.epsilon))))


@dataclass(frozen=True)
class Leak(Mechanism):
    """Tells all with probability δ, and is randomised response otherwise: exactly (ε, δ)-DP."""

    epsilon: float = 1.0
    delta: float = 0.05

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, self.delta)

    def run(self, dataset: Any) -> Categorical:
        (bit,) = dataset
        lie = (1 - self.delta) / (1 + math.exp(self.epsilon))
        return Categorical((("leak", bit), bit, 1 - bit), (self.delta, math.exp(self.epsilon) * lie, lie))


@dataclass(frozen=True)
class LaplaceCount(Mechanism):
    """A Laplace count, rounded up and cut to 0, …, `most`: exactly ε-DP."""

    epsilon: float = 1.0
    most: int = 5

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Any:
        return Laplace(float(sum(dataset)), 1 / self.epsilon).ceil().clip(0, self.most)


@dataclass(frozen=True)
class Exponential(Mechanism):
    """The exponential mechanism over `options` by multiplicity; on the pair tried it spends less than ε."""

    epsilon: float = 2.0
    options: int = 6

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Softmax:
        scores = np.array([float(list(dataset).count(v)) for v in range(self.options)])
        return Softmax(scores, self.epsilon / 2)


@dataclass(frozen=True)
class Gap(Mechanism):
    """A_dist where ⊥ has probability one half, and half that times e^−ε on the neighbour."""

    epsilon: float = 2.0

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Categorical:
        p = 0.5 if dataset[0] == 0 else 0.5 * math.exp(-self.epsilon)
        return Categorical(("⊥", "solution"), (p, 1 - p))


BIT = ((0,), (1,))
SUBJECTS: dict[str, tuple[Mechanism, tuple[Any, Any]]] = {
    "randomised response": (RandomisedResponse(), BIT),
    "randomised response with a leak": (Leak(), BIT),
    "Laplace count, rounded and cut": (LaplaceCount(), ((1, 1, 0), (1, 1, 1))),
    "exponential mechanism": (Exponential(), ((0, 1, 2), (3, 1, 2))),
}


@cache
def exact_epsilon(name: str) -> float:
    """The exact ε of the pair tried, at the claim's δ."""
    mechanism, pair = SUBJECTS[name]
    assert mechanism.claim is not None
    laws = exact.compare(mechanism, Pair(*pair), LawCache())
    return hockey_stick.epsilon_at_symmetric(laws.left, laws.right, mechanism.claim.delta)


def job(subject: Mechanism, pair: tuple[Any, Any], *, seed: int, alpha: float, runs: int, **more: Any) -> Job:
    """The engine's own job for an audit."""
    (made,) = jobs_of(Request((subject,), seed=seed, alpha=alpha, runs=runs, pair=pair, **more))
    return made


def certified(made: Job, *, seed: int, alpha: float) -> sampled.Certified:
    """What the engine's own sampling certifies: training, selection and certification."""
    out = sampled.Collected()
    for _ in sampled.collect(made, seed, alpha, Runner(), out):
        pass
    (found,) = out.certified
    return found


@contextmanager
def counts_alone() -> Iterator[None]:
    """Inside, the engine certifies counts without weighing them: no bound, no p-value, no power."""
    weigh = sampled._weigh
    sampled._weigh = lambda *_: None  # type: ignore[assignment]
    try:
        yield
    finally:
        sampled._weigh = weigh


def counts(made: Job, *, seed: int, alpha: float) -> tuple[int, int, int]:
    """Runs a side, and how many of them fell into the event on the likelier and on the other dataset."""
    with counts_alone():
        return certified(made, seed=seed, alpha=alpha).trail[-1]


def rejects(made: Job, epsilon: float, *, seed: int, alpha: float) -> bool:
    """Whether the test of ε rejects; where the audit's bound lies above ε it does."""
    n, x, y = counts(made, seed=seed, alpha=alpha)
    return score_test.rejects(x, n, y, n, epsilon=epsilon, delta=made.claim.delta, alpha=alpha)
