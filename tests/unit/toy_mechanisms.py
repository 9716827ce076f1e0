"""Small mechanisms that the interpreters' tests share."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpaudit.language import (
    BOTTOM,
    Bernoulli,
    Categorical,
    Claim,
    Draw,
    Gaussian,
    Laplace,
    Mechanism,
    Product,
    Program,
    Softmax,
    Uniform,
)

EXECUTIONS: Counter[str] = Counter()
"""How often each counting mechanism's text was started."""


@dataclass(frozen=True)
class NoisyCount(Mechanism):
    """A last draw that is continuous."""

    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Draw:
        return Laplace(len(dataset), 1 / self.epsilon)


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    epsilon: float = 1.0

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, bit: Any) -> Program:
        truth = yield Bernoulli(1 / (1 + np.exp(-self.epsilon)))
        return bit if truth else 1 - bit


@dataclass(frozen=True)
class Tree(Mechanism):
    """A decision tree: a leaf's output, or (distribution, one child per value), or a sub-mechanism and children."""

    node: Any
    label: str = ""

    def run(self, dataset: Any) -> Program:
        if self.label:
            EXECUTIONS[self.label] += 1
        node = self.node
        while isinstance(node, tuple) and isinstance(node[-1], dict):
            draw, children = node
            value = yield draw
            node = children[value]
        return node


@dataclass(frozen=True)
class Bits(Mechanism):
    """2^bits paths, counted; the output is their sum."""

    bits: int
    label: str

    def run(self, dataset: Any) -> Program:
        EXECUTIONS[self.label] += 1
        total = 0
        for _ in range(self.bits):
            total += yield Bernoulli(0.5)
        return total


@dataclass(frozen=True)
class Outer(Mechanism):
    """Uses another mechanism twice, then ends in a tail call or a distribution."""

    inner: Mechanism
    tail: bool = True

    def run(self, dataset: Any) -> Program:
        first = yield self.inner.on(dataset)
        second = yield self.inner.on(dataset)
        if first == second and self.tail:
            return self.inner.on(dataset)
        return Categorical((first, second) if first != second else (first,), (0.5, 0.5) if first != second else (1.0,))


@dataclass(frozen=True)
class MidPath(Mechanism):
    """A continuous draw in the middle: floats at the end are no atoms, ⊥ is."""

    def run(self, dataset: Any) -> Program:
        x = yield Laplace(0, 1)
        if x < 0:
            return BOTTOM
        y = yield Gaussian(0, 1)
        return x + y


@dataclass(frozen=True)
class Returns(Mechanism):
    """Returns what it was given."""

    value: Any

    def run(self, dataset: Any) -> Any:
        return self.value


# --- texts that are not functions of their draws ---------------------------------------------------------------


@dataclass(frozen=True)
class FreshGenerator(Mechanism):
    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5)
        return int(np.random.default_rng().integers(1 << 60))


@dataclass(frozen=True)
class FreshGeneratorOnOneBranch(Mechanism):
    """The first path walked is clean."""

    def run(self, dataset: Any) -> Program:
        branch = yield Uniform(range(4))
        return int(np.random.default_rng().integers(1 << 60)) if branch % 2 else -1


@dataclass(frozen=True)
class FreshGeneratorInAParameter(Mechanism):
    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5)
        yield Bernoulli(float(np.random.default_rng().random()))
        return 0


@dataclass(frozen=True)
class FreshGeneratorInAContinuation(Mechanism):
    def run(self, dataset: Any) -> Draw:
        shift = float(np.random.default_rng().random())
        return Uniform((0, 1)).then(lambda v: v + shift)


@dataclass(frozen=True)
class GlobalRandom(Mechanism):
    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5)
        # two draws of a generator that is put back: equal outputs, but the global state was used
        return random.random() < 2


@dataclass(frozen=True)
class LegacyNumpy(Mechanism):
    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5)
        return bool(np.random.rand() < 2)  # noqa: NPY002


@dataclass(frozen=True)
class BulkWithLegacyNumpy(Mechanism):
    def run(self, dataset: Any) -> Draw:
        return Uniform((0, 1))

    def bulk(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        return np.random.randint(0, 2, size)  # noqa: NPY002


@dataclass(frozen=True)
class Remembering(Mechanism):
    """A counter that outlives the run; the output changes after the `patience`-th call."""

    patience: int
    calls: list[int] = field(default_factory=list, compare=False)

    def run(self, dataset: Any) -> Program:
        self.calls.append(1)
        yield Uniform(range(4))
        return len(self.calls) > self.patience


@dataclass(frozen=True)
class CountingAttribute(Mechanism):
    count: ClassVar[int] = 0

    def run(self, dataset: Any) -> Program:
        type(self).count += 1
        yield Bernoulli(0.5)
        return type(self).count


@dataclass(frozen=True)
class FurtherDraw(Mechanism):
    """Asks for one draw more every second time."""

    calls: list[int] = field(default_factory=list, compare=False)

    def run(self, dataset: Any) -> Program:
        self.calls.append(1)
        yield Bernoulli(0.5)
        if len(self.calls) % 2 == 0:
            yield Bernoulli(0.5)
        return 0


class _Token:
    """Hashes in an order that changes, as addresses do."""

    made = 0

    def __init__(self, value: int) -> None:
        type(self).made += 1
        self.value = value
        self.place = type(self).made * 5 % 7

    def __hash__(self) -> int:
        return self.place

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass(frozen=True)
class SetOrder(Mechanism):
    def run(self, dataset: Any) -> Program:
        order = [token.value for token in {_Token(v) for v in range(4)}]
        yield Uniform((0, 1))
        return tuple(order)


NONDETERMINISTIC: list[Mechanism] = [
    FreshGenerator(), FreshGeneratorOnOneBranch(), FreshGeneratorInAParameter(), FreshGeneratorInAContinuation(),
    GlobalRandom(), LegacyNumpy(), Remembering(1), Remembering(2), Remembering(4), CountingAttribute(), FurtherDraw(),
    SetOrder(),
]


# --- texts that fail -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raising(Mechanism):
    """Raises at the start, after a draw, in a continuation, or in a mapped function."""

    where: str

    def run(self, dataset: Any) -> Any:
        if self.where == "plain":
            raise KeyError("k")
        return self._text()

    def _text(self) -> Program:
        if self.where == "start":
            raise KeyError("k")
        yield Bernoulli(0.5)
        if self.where == "draw":
            raise KeyError("k")
        if self.where == "continuation":
            return Uniform((0, 1)).then(self._fail)
        if self.where == "map":
            yield Uniform((0, 1)).map(self._fail)
        return Uniform((0, 1)).map(self._fail)

    def _fail(self, value: Any) -> Any:
        raise KeyError("k")


@dataclass(frozen=True)
class LossBreakdown(Mechanism):
    """Marks its draws; `marked` of three."""

    outer: Claim | None
    marked: int = 3

    @property
    def claim(self) -> Claim | None:
        return self.outer

    def run(self, dataset: Any) -> Program:
        draws = [Bernoulli(0.5), Softmax([0.0, 1.0], 1.0), Product((Bernoulli(0.5), Uniform((0, 1))))]
        spent = [d.spending(Claim(0.1, 1e-6)) if i < self.marked else d for i, d in enumerate(draws)]
        yield spent[0]
        yield spent[1]
        return spent[2]
