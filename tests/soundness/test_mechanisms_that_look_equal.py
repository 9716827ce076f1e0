"""Output distributions are computed once for equal mechanisms, and only for those: what looks equal need not be.

A distribution that is taken for another mechanism's makes a wrong proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from dpaudit.engine import orchestrator
from dpaudit.interpret import LawCache, law
from dpaudit.language import Claim, Laplace, Mechanism
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.plans.request import Request, VerifyMode
from dpaudit.results.model import Verdict

Score = Callable[[Sequence[int]], float]
Program = Any
"""Of a mechanism: a generator."""


@dataclass(frozen=True)
class Scored(Mechanism):
    """Whether a noisy score is above 1: private if the score changes by at most 1."""

    score: Score
    claim = Claim(1.0)

    def run(self, dataset: Any) -> Program:
        return bool((yield Laplace(self.score(dataset), 1.0) > 1))


def of_its_own_class(score: Score) -> Mechanism:
    @dataclass(frozen=True)
    class OfItsOwnClass(Mechanism):
        claim = Claim(1.0)

        def run(self, dataset: Any) -> Program:
            return bool((yield Laplace(score(dataset), 1.0) > 1))

    return OfItsOwnClass()


@dataclass(frozen=True)
class Hidden(Mechanism):
    """Its weights are not part of its ==, as those that hold an array often are not."""

    weights: Any = field(compare=False)
    claim = Claim(1.0)

    def run(self, dataset: Any) -> Program:
        return bool((yield Laplace(float(self.weights[sum(dataset)]), 1.0) > 1))


PRIVATE, LEAKING = np.array([0, 1, 2, 3, 4, 5]), np.array([0, 1, 2, 3, 4, 0])
LOOK_EQUAL: dict[str, Callable[[], tuple[Mechanism, Mechanism]]] = {
    "lambdas": lambda: (Scored(lambda d: sum(d)), Scored(lambda d: sum(d) % 5)),
    "classes": lambda: (of_its_own_class(lambda d: sum(d)), of_its_own_class(lambda d: sum(d) % 5)),
    "fields that == leaves out": lambda: (Hidden(PRIVATE), Hidden(LEAKING)),
}


def exactly(low: float, high: float) -> float:
    """ε of the threshold's two outputs, by the distribution function of Laplace noise."""

    def above(score: float) -> float:
        return 0.5 * math.exp(score - 1) if score < 1 else 1 - 0.5 * math.exp(1 - score)

    p, q = above(low), above(high)
    return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))


@pytest.mark.parametrize("kind", LOOK_EQUAL)
@pytest.mark.parametrize("first", [0, 1])
def test_each_audit_of_a_command_is_of_its_own_mechanism(kind: str, first: int) -> None:
    mechanisms = LOOK_EQUAL[kind]()
    request = Request(
        (mechanisms[first], mechanisms[1 - first]), data="sampled_from([0, 1])", verify=VerifyMode(None, 5)
    )
    audits = orchestrator.run(request).audits
    private, leaking = audits[first], audits[1 - first]
    assert private.verdict is Verdict.PASS
    assert private.proof is not None
    assert private.proof.epsilon_high == pytest.approx(1.0)
    assert leaking.verdict is Verdict.FAIL
    assert leaking.proof is not None
    assert leaking.proof.epsilon_low == pytest.approx(max(exactly(4, 0), 1.0))


@pytest.mark.parametrize("kind", LOOK_EQUAL)
def test_each_part_of_a_mechanism_has_its_own_distribution(kind: str) -> None:
    """Both are applied in one program, so that they share a cache."""

    @dataclass(frozen=True)
    class Both(Mechanism):
        def run(self, dataset: Any) -> Program:
            parts = LOOK_EQUAL[kind]()
            private = yield parts[0].on(dataset)
            leaking = yield parts[1].on(dataset)
            return private, leaking

    dataset = (1, 1, 1, 1, 1)
    cache = LawCache()
    both = law(Both(), dataset, cache=cache)
    alone = [law(part, dataset) for part in LOOK_EQUAL[kind]()]
    for at in (0, 1):
        share = sum(p for answers, p in both.as_dict().items() if answers[at])
        assert share == pytest.approx(alone[at].as_dict()[True])
    assert alone[0].as_dict()[True] != pytest.approx(alone[1].as_dict()[True])


def test_records_that_hide_a_part_are_told_apart() -> None:
    @dataclass(frozen=True)
    class Person:
        name: str
        weight: int = field(compare=False)

    mechanism, cache = Scored(lambda d: d[0].weight), LawCache()
    light, heavy = (Person("A", 0),), (Person("A", 3),)
    assert light == heavy
    laws = [law(mechanism, one, cache=cache).as_dict()[True] for one in (light, heavy)]
    assert laws[1] > 2 * laws[0]


def test_a_function_is_known_by_its_code_and_not_by_its_name() -> None:
    def made(shift: int) -> Callable[[int], int]:
        return lambda x: x + shift

    def twice() -> list[Callable[[int], int]]:
        return [lambda x: x + 1, lambda x: x + 2, lambda x: x + 1]

    one, two, other = map(fingerprint, twice())
    assert one != two
    assert one == other  # on another line
    assert fingerprint(made(1)) == fingerprint(made(1)) != fingerprint(made(2))
    assert fingerprint(lambda x, *, by=1: x + by) != fingerprint(lambda x, *, by=2: x + by)
    assert fingerprint(lambda x: x in {"a", "b"}) != fingerprint(lambda x: x in {"a", "c"})


def test_a_field_that_is_filled_during_a_run_is_no_other_draw() -> None:
    """A cache that == leaves out: replays request the same draws."""

    @dataclass(frozen=True)
    class Caching(Mechanism):
        seen: dict[Any, float] = field(default_factory=dict, compare=False)

        def run(self, dataset: Any) -> Program:
            score = self.seen.setdefault(tuple(dataset), float(sum(dataset)))
            return bool((yield Laplace(score, 1.0) > 1))

    @dataclass(frozen=True)
    class Outer(Mechanism):
        part: Mechanism = field(default_factory=Caching)

        def run(self, dataset: Any) -> Program:
            once = yield self.part.on(dataset)
            twice = yield self.part.on(dataset)
            return once, twice

    found = law(Outer(), (1, 1))
    assert len(found) == 4
    below = 0.5 * math.exp(-1)
    assert found.as_dict()[False, False] == pytest.approx(below**2)
