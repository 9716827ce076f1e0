"""Inner algorithms for testing ReorderSliceCompute: a plain one, and the worst one for given slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    ADD_REMOVE_ONE,
    Bernoulli,
    Claim,
    DiscreteLaplace,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    checks,
    expm1,
)


@dataclass(frozen=True)
class Balance(Mechanism):
    """The noisy number of even records minus odd records, clamped to {−bound, …, bound}.

    One more record changes it by 1: with two-sided geometric noise of scale 1/ε it is ε-DP, and the extreme answers
    attain ε. With probability `delta` the noise is omitted: (ε, δ). Replacing an even record by an odd one costs 2ε.

    Args:
        epsilon: > 0.
        bound: ≥ 0.
        delta: in [0, 1].
    """

    epsilon: checks.Positive
    bound: checks.Natural
    delta: checks.Probability = 0.0

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)

    def run(self, S: Any) -> Program:
        balance = sum(1 if record % 2 == 0 else -1 for record in Multiset.of(S))
        if self.delta and (yield Bernoulli(self.delta)):
            return ("exactly", balance)
        return (yield DiscreteLaplace(balance, 1 / self.epsilon).clip(-self.bound, self.bound))


@dataclass(frozen=True)
class Alarm(Mechanism):
    """Returns True with the largest (ε, δ)-DP probability for the distance d to the nearest `silent` dataset:
    p(0) = start, p(d + 1) = e^ε·p(d) + δ, up to d = `farthest`.

    One more record changes d by at most 1; for the other answer, 1 − p(d) ≤ e^ε(1 − p(d + 1)) + δ if no p is above 1/2.
    If the silent datasets are the slices of a run, it is the worst inner algorithm for that run.

    Args:
        epsilon: > 0.
        silent: at least one dataset.
        start: p(0), in [0, 1].
        delta: δ, in [0, 1).
        farthest: ≥ 1.

    Raises:
        ParameterError: a parameter outside its range, or a probability above 1/2.
    """

    epsilon: checks.Positive
    silent: tuple[Multiset, ...]
    start: checks.Probability = 0.0
    delta: checks.Probability = 0.0
    farthest: checks.Count = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.silent or self._said(self.farthest) > 0.5:
            raise ParameterError(
                "An Alarm needs a silent dataset, and start and delta such that Pr[True] is at most 1/2."
            )

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)

    def _said(self, d: int) -> float:
        grown = expm1(d * self.epsilon)
        return self.start * (1 + grown) + self.delta * grown / expm1(self.epsilon)

    def run(self, S: Any) -> Bernoulli:
        T = Multiset.of(S)
        return Bernoulli(self._said(min(self.farthest, *(_apart(T, other) for other in self.silent))))


def _apart(left: Multiset, right: Multiset) -> int:
    """The number of records to add and to remove to get from one to the other."""
    a, b = dict(left.items), dict(right.items)
    return sum(abs(a.get(record, 0) - b.get(record, 0)) for record in a.keys() | b.keys())
