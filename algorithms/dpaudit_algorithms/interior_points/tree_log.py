"""TreeLog: an interior point of a dataset, by recursion on the levels of a random path in a binary tree."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Annotated, Any

from dpaudit.language import (
    ADD_REMOVE_ONE,
    BOTTOM,
    Card,
    Claim,
    DatasetError,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Scores,
    Softmax,
    ceil_log2,
    checks,
    exp,
    log2,
    log_star,
)
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.interior_points.rec_prefix import Agreements, check_records

TREE_LOG = "Kaplan, Ligett, Mansour, Naor and Stemmer, Privately Learning Thresholds (COLT 2020)"


@dataclass(frozen=True)
class TreeLog(Mechanism):
    """TreeLog of 2020.

    A random path from the root of the binary tree over X follows the records' weight; the levels at which weight
    leaves it are a dataset over {0, …, log|X|}, of which an interior point is found by recursion: a level at which
    some node has much weight, but not all. One such node is chosen, and one of four leaves under it.

    Args:
        size: |X| ≥ 1; the records are 0, …, size − 1.
        epsilon: of every private step, > 0; at most 2 where there is a choosing mechanism (Lemma 7.9).
        delta: in (0, 1).
        n: in the claim, ≥ 2: the most records that a dataset may have.
        t: how many records are left out at either end, and the weight at which the path ends; ≥ 0;
            ⌈(1/ε)·log₂(1/δ)⌉ without it.
        beta: of the choosing mechanism, in (0, 1).
        base: |X| up to which the exponential mechanism is used, ≥ 4 (below, the recursion would not end).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Kaplan, Ligett, Mansour, Naor and Stemmer 2020, Algorithm 1, cited in the lecture notes on interior points.
    """

    size: checks.Count = 2**16
    epsilon: checks.Positive = 0.05
    delta: checks.OpenUnit = 1e-13
    n: Annotated[int, checks.least(2)] = 20_000
    t: checks.Natural | None = None
    beta: checks.OpenUnit = 0.1
    base: Annotated[int, checks.least(4)] = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size > self.base and self.epsilon > 2:
            raise ParameterError(f"The choosing mechanism of step 7 needs epsilon ≤ 2, not {self.epsilon!r}.")

    @property
    def claim(self) -> Claim:
        """(5ε·log*|X|·log n, 3δn·log*|X|·e^{3ε·log*|X|·log n}) under add/remove-one, |X| = 1 with log* = 1."""
        levels, logs = max(1, log_star(self.size)), log2(self.n)
        grown = exp(min(700.0, 3 * self.epsilon * levels * logs))
        delta = min(1.0, 3 * self.delta * self.n * levels * grown)
        return Claim(5 * self.epsilon * levels * logs, delta, ADD_REMOVE_ONE)

    @property
    def bits(self) -> int:
        """⌈log₂|X|⌉, the level of the leaves."""
        return ceil_log2(self.size)

    @property
    def trim(self) -> int:
        """t."""
        return math.ceil(log2(1 / self.delta) / self.epsilon) if self.t is None else self.t

    @property
    def calls(self) -> int:
        """How many calls there are, the first one counted; at most log*|X|, as for RecPrefix."""
        return 1 if self.size <= self.base else 1 + self.next_level.calls

    @property
    def next_level(self) -> TreeLog:
        """The recursive call of step 6, on the levels {0, …, ⌈log₂|X|⌉}."""
        return replace(self, size=self.bits + 1, t=self.trim)

    def run(self, dataset: Any) -> Program:
        S = Multiset.of(dataset)
        if len(S) > self.n:
            raise DatasetError(f"The dataset may have at most n = {self.n:,} records, not {len(S):,}.")
        check_records(S, self.size)
        # 1. |X| = O(1): the exponential mechanism on X
        if self.size <= self.base:
            return self._among(range(self.size), S)
        # 2. Ŝ: S without its t greatest and t smallest records
        t, bits = self.trim, self.bits
        trimmed = _trimmed(S, t)
        # 3. w(v): the records of Ŝ under v; a node of level ℓ is a number of ℓ bits
        w = _weights(trimmed, bits)
        # 4. a random path from the root, to a leaf or to weight t: child b with probability ∝ exp(ε·w(v_b))
        path = [0]
        while len(path) <= bits and w(len(path) - 1, path[-1]) > t:
            left, right = (w(len(path), 2 * path[-1] + b) for b in (0, 1))
            b = int(left == 0) if left == 0 or right == 0 else (yield Scores([left, right]).softmax(self.epsilon))
            path.append(2 * path[-1] + b)
        # 5. D: every level as often as weight leaves the path there
        D = _levels(tuple(w(level, v) for level, v in enumerate(path)), len(S) - 3 * t)
        # 6. ℓ* ← TreeLog(D)
        level = min((yield self.next_level.on(D)), bits)
        # 7. v*: a node of level ℓ* with much weight, by the choosing mechanism
        v = yield ChoosingMechanism(self.beta, self.epsilon, self.delta, Agreements(bits, level)).on(trimmed)
        # 8, 9. the outer and inner leaves under v*: the exponential mechanism among them
        return self._among(_leaves(0 if v is BOTTOM else v, bits - level, self.size), S)

    def _among(self, points: Iterable[int], S: Multiset) -> Softmax:
        """The exponential mechanism over some points with min(#≤, #≥)."""
        chosen = tuple(points)
        depths = [min(S.at_most(x), S.at_least(x)) for x in chosen]
        return Scores(depths, chosen).softmax(self.epsilon / 2).spending(Claim(self.epsilon, relation=ADD_REMOVE_ONE))


@dataclass(frozen=True)
class _Weights:
    """w(v), the number of records under the node v of a level, by two look-ups."""

    bits: int
    values: tuple[int, ...]
    below: tuple[int, ...]
    """How many records come before the i-th value; at last, all."""

    def __call__(self, level: int, v: int) -> int:
        shift = self.bits - level
        first, stop = (self.below[bisect_left(self.values, end << shift)] for end in (v, v + 1))
        return stop - first


@lru_cache(maxsize=4096)
def _weights(S: Multiset, bits: int) -> _Weights:
    return _Weights(bits, S.values, tuple(accumulate((count for _, count in S.items), initial=0)))


@lru_cache(maxsize=4096)
def _trimmed(S: Multiset, t: int) -> Multiset:
    """S without its t greatest and t smallest records; empty if there are no more than these."""
    kept, skip = [], t
    for value, count in S.smallest(len(S) - t).items:
        gone = min(skip, count)
        skip -= gone
        kept.append((value, count - gone))
    return Multiset.counted(dict(kept))


@lru_cache(maxsize=4096)
def _levels(weights: tuple[int, ...], size: int) -> Multiset:
    """D: every level as often as records leave the path there, and its last level, `size` records in all.

    Args:
        weights: of the nodes of the path, from the root on; the other child of a node has what the next one lacks.
        size: n − 3t.
    """
    D: dict[int, int] = {}
    room = max(0, size)
    for level, weight in enumerate(weights):
        last = level + 1 == len(weights)
        D[level] = room if last else min(weight - weights[level + 1], room)
        room -= D[level]
    return Multiset.counted(D)


def _leaves(v: int, height: int, size: int) -> tuple[int, ...]:
    """The left-most leaf under v, the right-most, the right-most of its left child, the left-most of its right child;
    different ones, ascending, none beyond the last element of X."""
    first, stop = v << height, (v + 1) << height
    middle = (first + stop) // 2
    inner = {middle - 1, middle} if height else set[int]()
    return tuple(sorted({min(x, size - 1) for x in {first, stop - 1} | inner}))


# --- cards: what is claimed where, and where the text here departs from the print ---

TreeLog.card = Card(
    name="TreeLog",
    system="I9",
    title="TreeLog: a private interior point by recursion on the levels of a random path",
    paper=TREE_LOG,
    place="Algorithm 1",
    claim="(5ε·log*|X|·log n, 3δn·log*|X|·e^{3ε·log*|X|·log n})-DP under add/remove-one",
    inputs="at most n records in {0, …, size − 1}; size = |X|, epsilon, delta of every step; n; t, beta, base",
    output="a point of X = {0, …, size − 1}, meant to lie between the least and the greatest record",
    deviations=(
        "n is private under add/remove: the algorithm uses the dataset's own, the claim a bound on it, n ≥ 2.",
        '"t = Θ((1/ε)·log(1/δ))" is read as ⌈(1/ε)·log₂(1/δ)⌉; t is a parameter, as is the base case |X| = O(1).',
        "|X| is padded to 2^⌈log₂|X|⌉ for the tree; leaves beyond X are read as its last element.",
        "The levels are 0 (the root), …, ⌈log₂|X|⌉ (the leaves), one value more than log|X|.",
        "n ≤ 2t: Ŝ is empty; n ≤ 3t: the path is the root, and D is empty; the recursion goes on with it.",
        "The choosing mechanism is the thesis's, with a beta of its own; what it claims is for replace-one.",
        "⊥ from the choosing mechanism: v* is the left-most node of the level.",
        "A leaf v*, or one whose children are leaves: the four leaves are the one or two different ones.",
        "The base case chooses in X itself, which is not padded.",
    ),
)
