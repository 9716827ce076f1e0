"""Scores of solutions on a dataset: what the exponential mechanism, A_dist and the choosing mechanism choose by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import ParameterError
from dpaudit.language.fingerprint import fingerprint
from dpaudit.language.multiset import Multiset


@dataclass(frozen=True)
class Scored:
    """A solution and its score."""

    solution: Any
    score: float


class Scores:
    """The score of every solution, as an array; compares and hashes by content.

    Args:
        values: shape (k,), finite.
        solutions: k distinct hashable solutions; 0, …, k − 1 without them. Their order breaks ties and must not
            depend on the data.

    Raises:
        ParameterError: not a vector of finite numbers, or another number of solutions.
    """

    def __init__(self, values: Any, solutions: Sequence[Any] | None = None) -> None:
        self.values: NDArray[np.float64] = np.array(values, dtype=np.float64)
        if self.values.ndim != 1 or not np.all(np.isfinite(self.values)):
            raise ParameterError("Scores must be a vector of finite numbers.")
        self.solutions: Sequence[Any] = range(len(self.values)) if solutions is None else solutions
        if len(self.solutions) != len(self.values):
            raise ParameterError(f"There are {len(self.values)} scores and {len(self.solutions)} solutions.")
        self.values.flags.writeable = False

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that stand for the content."""
        image = blake2b(self.values.tobytes(), digest_size=16)
        image.update(repr(fingerprint(self.solutions)).encode())
        return image.digest()

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Scores) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Scores of {len(self)} solutions" if len(self) > 8 else f"Scores({self.values.tolist()})"

    def __fingerprint__(self) -> Hashable:
        return self.digest

    def two_highest(self) -> tuple[Scored, Scored]:
        """The best solution and the next; ties go to the earlier solution, whatever the data.

        Raises:
            ParameterError: fewer than two solutions.
        """
        if len(self) < 2:
            raise ParameterError("Two highest scores need at least two solutions.")
        first = int(np.argmax(self.values))
        others = (_argmax(self.values, 0, first), _argmax(self.values, first + 1, len(self)))
        second = max((i for i in others if i >= 0), key=lambda i: (self.values[i], -i))
        return self._scored(first), self._scored(second)

    def best(self) -> Scored:
        """The best solution; ties go to the earlier one."""
        return self._scored(int(np.argmax(self.values)))

    def _scored(self, i: int) -> Scored:
        return Scored(self.solutions[i], float(self.values[i]))


class Quality(ABC):
    """A quality function q(S, ·): a frozen dataclass called on a dataset."""

    sensitivity: float = 1.0
    growth: int | None = None
    """k if it is of k-bounded growth (thesis §7.3.1)."""

    @abstractmethod
    def __call__(self, dataset: Any) -> Scores:
        """Scores of all solutions; computed once per dataset (cache it: generators are replayed)."""


@dataclass(frozen=True)
class Multiplicity(Quality):
    """q(S, x) = how often x stands in S: 1-sensitive, of 1-bounded growth.

    Args:
        solutions: the solution set, in its fixed order.
    """

    solutions: tuple[Any, ...]
    growth = 1

    def __call__(self, dataset: Any) -> Scores:
        return _multiplicities(self.solutions, Multiset.of(dataset))


@lru_cache(maxsize=256)
def _multiplicities(solutions: tuple[Any, ...], dataset: Multiset) -> Scores:
    counts = dict(dataset.items)
    return Scores([counts.get(solution, 0) for solution in solutions], solutions)


@dataclass(frozen=True)
class Given(Quality):
    """The dataset *is* the scores: for qualities computed by an outer algorithm."""

    def __call__(self, dataset: Any) -> Scores:
        return dataset if isinstance(dataset, Scores) else Scores(tuple(dataset))


def _argmax(values: NDArray[np.float64], low: int, high: int) -> int:
    return low + int(np.argmax(values[low:high])) if low < high else -1
