"""Random small mechanisms whose exact ε is known by enumeration, with outputs that are odd Python objects.

Nothing here is computed by dpaudit: probabilities are fractions over 256, and which outcomes are one is known from how
the outputs are made. Two outcomes of the kernel that are given the same object of `OBJECTS` are one outcome; any two
different objects differ in what they hold, or in an unmistakable kind. How an object is made (`path`) may depend on the
data and must play no part, so it never changes what the object holds; `coin` is independent of the data, so what it
changes cannot matter: not even whether np.int8(41) and 41 are one outcome, or the order of a dict is part of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from shapes import ADAPTER, FUNCTION, MECHANISM, VECTORISED, WITH_PANDAS, Answer, Frozen, Loose, Named

from dpaudit.language import Bernoulli, Categorical, Claim, Laplace, Mechanism
from dpaudit.subjects.adapters import Adapted

TOTAL = 256
"""Probabilities are so many parts: exact as doubles too."""
_BUFFER: list[Any] = []

Row = tuple[Fraction, ...]
Make = Callable[[bool, bool], Any]
"""(path, coin) → an object."""


def _buffered(path: bool, coin: bool) -> list[Any]:
    found = _BUFFER if path else []
    found[:] = [101.5, 102]
    return found


def _pandas(name: str, *args: Any, **more: Any) -> Any:
    import pandas

    return getattr(pandas, name)(*args, **more)


OBJECTS: tuple[tuple[str, Make], ...] = (
    ("", lambda path, coin: 7),
    ("", lambda path, coin: -3),
    ("", lambda path, coin: 10**30 + 1 - path + path),
    ("", lambda path, coin: np.int8(41) if coin else 41),
    ("", lambda path, coin: 0.1 + 0.2 if path else 0.30000000000000004),
    ("", lambda path, coin: np.float32(2.25) if coin else 2.25),
    ("", lambda path, coin: math.inf),
    ("", lambda path, coin: np.float64(-math.inf) if coin else -math.inf),
    ("", lambda path, coin: True),
    ("", lambda path, coin: "a"),
    ("", lambda path, coin: "".join(["a", "b"]) if path else "ab"),
    ("", lambda path, coin: "\ud800"),
    ("", lambda path, coin: np.str_("word") if coin else "word"),
    ("", lambda path, coin: b"x"),
    ("", lambda path, coin: bytes([255, 254]) if path else b"\xff\xfe"),
    ("missing", lambda path, coin: None),
    ("missing", lambda path, coin: math.inf - math.inf if path else math.nan),
    ("empty", lambda path, coin: ""),
    ("empty", lambda path, coin: b""),
    ("empty", lambda path, coin: ()),
    ("empty", lambda path, coin: []),
    ("empty", lambda path, coin: {}),
    ("empty", lambda path, coin: set() if path else set(range(0))),
    ("empty", lambda path, coin: np.empty(0)),
    ("empty", lambda path, coin: np.empty((2, 0))),
    ("", lambda path, coin: np.array([[1.25, 9.0], [3.5, 9.0]])[:, 0] if path else np.array([1.25, 3.5])),
    ("", lambda path, coin: np.array([1.25, 3.5, 4.0])),
    ("", lambda path, coin: np.array([21, 22], dtype=np.int16 if coin else np.int64)),
    ("", lambda path, coin: np.array([[31.5, 32], [33, 34]], order="F" if path else "C")),
    ("", lambda path, coin: np.full((1, 2, 3), 35.5)),
    ("", lambda path, coin: np.array(103.5)),
    ("", lambda path, coin: np.array(["s", None, 36], dtype=object)),
    ("", lambda path, coin: [[43.5], [44, 45.5]]),
    ("", lambda path, coin: [[43.5], [44], 45.5]),
    ("", _buffered),
    ("", lambda path, coin: ("x", 1.5)),
    ("", lambda path, coin: ("x", 1.75)),
    ("", lambda path, coin: ("y", None, 51)),
    ("", lambda path, coin: ((52,), ((53.5,),))),
    ("", lambda path, coin: dict([("a", 61), ("b", 62.5)][:: -1 if coin else 1])),
    ("", lambda path, coin: dict([("a", 61), ("b", 63.5)][:: -1 if coin else 1])),
    ("", lambda path, coin: {"a": {"b": [64.5]}, 3: None}),
    ("", lambda path, coin: set(["p", "q", 71][:: -1 if path else 1])),
    ("", lambda path, coin: frozenset([("r", 72), ("s", 73)][:: -1 if path else 1])),
    ("", lambda path, coin: Answer.NO),
    ("", lambda path, coin: Answer.YES),
    ("", lambda path, coin: Frozen("f", 81.5)),
    ("", lambda path, coin: Loose("l", [82.5, 83])),
    ("", lambda path, coin: Named("n", 84.5)),
    ("pandas", lambda path, coin: _pandas("Series", {"b": 92.0, "a": 91.5} if coin else {"a": 91.5, "b": 92.0})),
    ("pandas", lambda path, coin: _pandas("DataFrame", {"c": [93, 94]})),
    ("pandas", lambda path, coin: _pandas("DataFrame", {"c": [93, 94, 95]})),
    ("pandas", lambda path, coin: _pandas("Timestamp", "2024-02-29")),
)  # fmt: skip
"""What outputs are: a group, and the object. A mechanism has at most one of the empty ones, and one of the missing."""
WRAPS: tuple[Callable[[Any, float], Any], ...] = (
    lambda made, noise: (made, noise),
    lambda made, noise: [noise, made],
    lambda made, noise: {"answer": made, "noise": noise},
)


def epsilon_at(p: Row, q: Row, delta: Fraction) -> Fraction | None:
    """The least e^ε ≥ 1 with p(S) ≤ e^ε q(S) + δ for every S; None where there is none.

    It is the largest (p(S) − δ) / q(S), which one of the sets of largest ratios attains.
    """
    order = sorted(range(len(p)), key=lambda i: -p[i] / q[i] if q[i] else -math.inf)
    most, a, b = Fraction(1), Fraction(0), Fraction(0)
    for i in order:
        a, b = a + p[i], b + q[i]
        if not b and a > delta:
            return None
        if b:
            most = max(most, (a - delta) / b)
    return most


def larger(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """The larger of two ratios, of which None is infinite."""
    return None if left is None or right is None else max(left, right)


def logarithm(ratio: Fraction | None) -> Decimal:
    """ε to 60 digits."""
    if ratio is None:
        return Decimal("inf")
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


@dataclass(frozen=True)
class Kernel:
    """A random mechanism on datasets of `size` records from {0, …, domain − 1}, which looks at their sum alone.

    Args:
        seed: of everything.
        size, domain: of the datasets.
        rows: the outcomes' probabilities for every sum, shape (inputs, outcomes).
        objects: which of `OBJECTS` each outcome is, shape (outcomes,).
        delta: of the claim.
        epsilon: of the claim, as a double.
        wrap: which of `WRAPS` puts noise beside the object when the mechanism is sampled; None for none.
        fails: an outcome for which a function raises, or None.
    """

    seed: int
    size: int
    domain: int
    rows: tuple[Row, ...]
    objects: tuple[int, ...]
    delta: Fraction
    epsilon: float
    wrap: int | None
    fails: int | None

    @cached_property
    def merged(self) -> tuple[Row, ...]:
        """The probabilities of the different outputs for every sum."""
        return merged(self.rows, self.objects)

    @property
    def datasets(self) -> list[tuple[int, ...]]:
        """All, as sorted tuples."""
        return list(combinations_with_replacement(range(self.domain), self.size))

    @property
    def sums(self) -> list[tuple[int, int]]:
        """Of neighbouring datasets: one record is another one."""
        rest = {sum(one) for one in combinations_with_replacement(range(self.domain), self.size - 1)}
        return sorted({(r + a, r + b) for r in rest for a in range(self.domain) for b in range(self.domain) if a != b})

    def pair(self, sums: tuple[int, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Neighbouring datasets with these sums."""
        for rest in combinations_with_replacement(range(self.domain), self.size - 1):
            a, b = (total - sum(rest) for total in sums)
            if 0 <= a < self.domain and 0 <= b < self.domain:
                return (*rest, a), (*rest, b)
        raise AssertionError(sums)

    def ratio(self, sums: tuple[int, int]) -> Fraction | None:
        """The exact e^ε of a pair, in both directions."""
        p, q = (self.merged[total] for total in sums)
        return larger(epsilon_at(p, q, self.delta), epsilon_at(q, p, self.delta))

    @cached_property
    def worst(self) -> Fraction | None:
        """The exact e^ε of all neighbouring pairs."""
        worst: Fraction | None = Fraction(1)
        for sums in self.sums:
            worst = larger(worst, self.ratio(sums))
        return worst

    @cached_property
    def tried(self) -> tuple[int, int]:
        """Sums of the pair on which it is sampled: the worst one that has a finite ε, if any has."""
        finite = [(ratio, sums) for sums in self.sums if (ratio := self.ratio(sums)) is not None]
        return max(finite)[1] if finite else self.sums[0]

    def made(self, outcome: int, coin: bool) -> Any:
        """The object of an outcome; by which path, its number says."""
        return OBJECTS[self.objects[outcome]][1](outcome % 2 == 1, coin)

    def output(self, dataset: Any, rng: np.random.Generator, *, failing: bool) -> Any:
        """One sample."""
        row = np.cumsum([float(p) for p in self.rows[sum(dataset)]])
        outcome = int(np.searchsorted(row, rng.random(), side="right"))
        noise, coin = float(rng.laplace()), bool(rng.random() < 0.5)
        if failing and self.fails is not None and self.objects[outcome] == self.objects[self.fails]:
            raise ArithmeticError("no answer")
        made = self.made(outcome, coin)
        return made if self.wrap is None else WRAPS[self.wrap](made, noise)

    def subject(self, way: str) -> Any:
        """What is given to dpaudit."""
        if way == MECHANISM:
            return RandomMechanism(self.seed, sampled=True)
        if way == FUNCTION:
            return lambda dataset, rng: self.output(dataset, rng, failing=True)

        def several(dataset: Any, rng: np.random.Generator, size: int) -> list[Any]:
            return [self.output(dataset, rng, failing=False) for _ in range(size)]

        if way == VECTORISED:
            return lambda dataset, rng, size: several(dataset, rng, size)
        assert way == ADAPTER
        return Adapted(f"kernel {self.seed}", Claim(self.epsilon, float(self.delta)), "kernels.py", several)


def merged(rows: tuple[Row, ...], objects: tuple[int, ...]) -> tuple[Row, ...]:
    """Rows in which outcomes with the same object are one."""
    kinds = sorted(set(objects))
    return tuple(
        tuple(sum((p for p, kind in zip(row, objects, strict=True) if kind == one), Fraction(0)) for one in kinds)
        for row in rows
    )


@dataclass(frozen=True)
class RandomMechanism(Mechanism):
    """A kernel in dpaudit's language; with its noise where it is sampled."""

    seed: int
    sampled: bool = False

    @property
    def claim(self) -> Claim:
        kernel = kernel_of(self.seed)
        return Claim(kernel.epsilon, float(kernel.delta))

    def run(self, dataset: Any) -> Generator[Any, Any, Any]:
        kernel = kernel_of(self.seed)
        row = [(k, float(p)) for k, p in enumerate(kernel.rows[sum(dataset)]) if p]
        outcome = yield Categorical(tuple(k for k, _ in row), tuple(p for _, p in row))
        made = kernel.made(outcome, bool((yield Bernoulli(0.5))))
        if self.sampled and kernel.wrap is not None:
            return WRAPS[kernel.wrap](made, (yield Laplace(0.0, 1.0)))
        return made


SCOPES = ((1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 2), (2, 3), (3, 2), (5, 2))
"""(size, domain): 2 to 6 inputs."""


@cache
def kernel_of(seed: int) -> Kernel:
    """The random mechanism of a seed: at the boundary of its claim in half of the cases, private in three quarters."""
    rng = np.random.default_rng([seed, 2024])
    size, domain = SCOPES[rng.integers(len(SCOPES))]
    inputs, outcomes = size * (domain - 1) + 1, int(rng.integers(2, 13))
    base, spread = rng.exponential(size=outcomes) + 0.05, rng.choice([0.1, 0.4, 1.0])
    groups = rng.integers(max(1, inputs - int(rng.integers(0, 3))), size=inputs)
    factors = np.exp(rng.normal(0, spread, (inputs, outcomes)))
    zeros = rng.random((inputs, outcomes)) < rng.choice([0.0, 0.0, 0.1])
    # inputs of one group have one row
    rows = tuple(_fractions(np.where(zeros[g], 0.0, base * factors[g])) for g in groups)
    delta = Fraction(int(rng.choice([0, 0, 1, 4, 16])), TOTAL)
    objects = _objects(rng, outcomes)
    wrap = int(rng.integers(len(WRAPS))) if rng.random() < 0.3 else None
    fails = int(rng.integers(outcomes)) if rng.random() < 0.2 else None
    if fails is not None:
        shares = (sum(p for p, kind in zip(row, objects, strict=True) if kind == objects[fails]) for row in rows)
        if 1 in shares:
            fails = None  # a mechanism that fails in every call is reported as that
    plain = Kernel(seed, size, domain, rows, objects, delta, 0.0, wrap, fails)
    worst = logarithm(plain.worst)
    factor = rng.choice([1.0, 1.0, 1.3, 0.7])
    epsilon = float(worst) * float(factor) if worst.is_finite() else 1.0
    return Kernel(seed, size, domain, rows, objects, delta, epsilon, wrap, fails)


def _fractions(weights: Any) -> Row:
    """Weights as parts of TOTAL, exactly."""
    if not weights.any():
        weights = np.ones(len(weights))
    ends = np.round(np.cumsum(weights) / weights.sum() * TOTAL).astype(int)
    return tuple(Fraction(int(part), TOTAL) for part in np.diff(ends, prepend=0))


def _objects(rng: np.random.Generator, outcomes: int) -> tuple[int, ...]:
    """An object for every outcome; outcomes often share one."""
    known = [i for i, (group, _) in enumerate(OBJECTS) if WITH_PANDAS or group != "pandas"]
    chosen: list[int] = []
    for i in rng.permutation(known).tolist():
        taken = {OBJECTS[one][0] for one in chosen} & {"missing", "empty"}
        if OBJECTS[i][0] not in taken:
            chosen.append(i)
    kinds = int(rng.integers(2, outcomes + 1))
    return tuple(chosen[int(kind)] for kind in rng.integers(kinds, size=outcomes))
