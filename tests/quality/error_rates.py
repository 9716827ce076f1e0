"""Audits of mechanisms whose exact ε is known, many times over: what the tests and the benchmark of error rates count.

The engine learns, bets, stops, certifies and decides as ever. Only the inversion of the certificate is cut short: where
the certified bound lies above ε₀, the test of "p ≤ e^ε₀ q + δ" rejects (the bound is the end of an interval of rejected
ε), and that one test costs a fraction of its inversion. So what is counted here is at least what an audit overstates.
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
from dpaudit.auditing import engine, exact, sampled
from dpaudit.auditing.request import Request
from dpaudit.auditing.results import Audit, SampledEvidence, Verdict
from dpaudit.interpret import LawCache
from dpaudit.language import Categorical, Claim, Laplace, Mechanism, Product, Softmax, independent
from dpaudit.stats import clopper_pearson, hockey_stick, score_test


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


@dataclass(frozen=True)
class LaplaceNumber(Mechanism):
    """A count with Laplace noise, as a real number: exactly ε-DP, attained by every half-line outside both counts."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Laplace:
        return Laplace(float(sum(dataset)), 1 / self.epsilon)


@dataclass(frozen=True)
class LaplaceVector(Mechanism):
    """The same count, answered `copies` times with ε/copies each: exactly ε-DP, where all answers are at an end."""

    epsilon: float = 1.0
    copies: int = 3

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Product:
        return independent(Laplace(float(sum(dataset)), self.copies / self.epsilon), self.copies)


BIT = ((0,), (1,))
SUBJECTS: dict[str, tuple[Mechanism, tuple[Any, Any]]] = {
    "randomised response": (RandomisedResponse(), BIT),
    "randomised response with a leak": (Leak(), BIT),
    "Laplace count, rounded and cut": (LaplaceCount(), ((1, 1, 0), (1, 1, 1))),
    "exponential mechanism": (Exponential(), ((0, 1, 2), (3, 1, 2))),
    "Laplace count, a real number": (LaplaceNumber(), BIT),
    "vector of 3 Laplace counts": (LaplaceVector(), BIT),
}
REAL = ("Laplace count, a real number", "vector of 3 Laplace counts")
"""Without a law; their ε is their claim's."""


@cache
def exact_epsilon(name: str) -> float:
    """The exact ε of the pair tried, at the claim's δ."""
    mechanism, pair = SUBJECTS[name]
    assert mechanism.claim is not None
    if name in REAL:
        return mechanism.claim.epsilon
    laws = exact.compare(mechanism, Pair(*pair), LawCache())
    return hockey_stick.epsilon_at_symmetric(laws.left, laws.right, mechanism.claim.delta)


@dataclass(frozen=True)
class Errors:
    """Where one audit was wrong.

    Args:
        fail: verdict FAIL.
        overstated: `epsilon_lower` above the exact ε.
        sequential: the e-process' own bound is.
        certificate: the certificate's own bound is.
    """

    fail: bool
    overstated: bool
    sequential: bool
    certificate: bool


def audited(name: str, *, seed: int, alpha: float, runs: int, epsilon: float, certify: bool) -> Audit:
    """A whole audit by runs alone, of the claim ε at the mechanism's δ."""
    mechanism, pair = SUBJECTS[name]
    request = Request(
        (mechanism,), seed=seed, alpha=alpha, runs=runs, pair=pair, epsilon=epsilon, black_box=True, certify=certify
    )
    (audit,) = engine.run(request).audits
    assert not audit.crashed, audit.reason
    return audit


def errors(name: str, *, seed: int, alpha: float, runs: int, claimed: float = 1.0, certify: bool = False) -> Errors:
    """What is wrong with the audit of the claim `claimed` · ε, ε being exact."""
    truth = exact_epsilon(name)
    with weighed_against(truth):
        audit = audited(name, seed=seed, alpha=alpha, runs=runs, epsilon=claimed * truth, certify=certify)
    assert audit.epsilon_lower is not None
    assert audit.sequential is not None
    (evidence,) = audit.sampled
    return Errors(
        fail=audit.verdict is Verdict.FAIL,
        overstated=audit.epsilon_lower > truth,
        sequential=audit.sequential.epsilon_lower > truth or (claimed == 1 and audit.sequential.refuted_at is not None),
        certificate=evidence.epsilon_lower > truth,
    )


@contextmanager
def weighed_against(epsilon: float) -> Iterator[None]:
    """Inside, a certificate's bound is just above ε if the score test rejects ε, and Clopper–Pearson's otherwise."""
    weigh = sampled._weigh

    def light(job: Any, track: Any, witness: Any, last: tuple[int, int, int], alpha: float) -> SampledEvidence:
        n, x, y = last
        delta = job.claim.delta
        rejects = score_test.rejects(x, n, y, n, epsilon=epsilon, delta=delta, alpha=alpha)
        by_split = clopper_pearson.epsilon_lower(x, n, y, n, delta=delta, alpha=alpha)
        return SampledEvidence(
            pair=exact.pair_record(track.pair, job.claim),
            direction="right/left" if witness.reverse else "left/right",
            event=sampled.event_record(witness.event),
            x=x,
            n=n,
            y=y,
            m=n,
            p_value=alpha if rejects else 1.0,
            epsilon_lower=math.nextafter(epsilon, math.inf) if rejects else min(by_split, epsilon),
            epsilon_lower_clopper_pearson=by_split,
            alpha=alpha,
            detectable_epsilon=None,
            runs_trained=track.runs,
            family=witness.family,
        )

    sampled._weigh = light
    try:
        yield
    finally:
        sampled._weigh = weigh
