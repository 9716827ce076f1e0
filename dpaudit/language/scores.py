"""Scores of solutions on a dataset, one by one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import SupportsFloat, TypeAlias

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.language.distributions import Softmax
from dpaudit.language.distributions.step_scores import (
    ROUNDED_SCORES,
    Scored,
    Solution,
    StepScores,
    bytes_of,
    number_at,
    salt,
)
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosed import finite, note, shorts, vector, watched

LISTED = 1 << 16
"""Scores of more solutions than this are stored in pieces, and so are the laws of choices among them."""


class Scores:
    """The score of every solution, as an array; compares and hashes by content.

    Scores computed from exact parameters stay exact: then `values` is an array of objects.

    Args:
        values: shape (k,), finite.
        solutions: k distinct hashable solutions; 0, …, k − 1 by default. Their order breaks ties and must not
            depend on the data.

    Raises:
        ParameterError: not a vector of finite numbers, or the number of solutions is not k.
    """

    def __init__(self, values: Iterable[SupportsFloat], solutions: Sequence[Solution] | None = None) -> None:
        self._values = vector(values)
        if self._values.ndim != 1 or not finite(self._values):
            raise ParameterError("Scores must be a vector of finite numbers.")
        self.solutions: Sequence[Solution] = range(len(self._values)) if solutions is None else solutions
        if len(self.solutions) != len(self._values):
            raise ParameterError(f"There are {len(self._values)} scores and {len(self.solutions)} solutions.")
        self._values.flags.writeable = False

    @property
    def values(self) -> FloatArray:
        """The scores, shape (k,)."""
        # at every use: the scores may be cached from another run
        if watched() is not None and not self._short:
            note(ROUNDED_SCORES)
        return self._values

    @cached_property
    def _short(self) -> bool:
        return shorts(self._values)

    @cached_property
    def digest(self) -> bytes:
        """A 16-byte digest of the content."""
        image = blake2b(bytes_of(self._values), digest_size=16)
        image.update(repr(fingerprint(self.solutions)).encode())
        return image.digest()

    def __len__(self) -> int:
        return len(self._values)

    @property
    def size(self) -> int:
        """The number of solutions."""
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Scores) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash((self.digest, salt(self._values)))

    def __repr__(self) -> str:
        return f"Scores of {len(self)} solutions" if len(self) > 8 else f"Scores({self._values.tolist()})"

    def __fingerprint__(self) -> Hashable:
        return self.digest

    def two_highest(self) -> tuple[Scored, Scored]:
        """The best solution and the next; ties go to the earlier solution, independent of the data.

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

    def of(self, solution: Solution) -> float | None:
        """The score of a solution; None if it is not a solution."""
        place = self._places.get(solution)
        return None if place is None else number_at(self.values, place)

    @cached_property
    def _places(self) -> dict[Solution, int]:
        return {solution: i for i, solution in enumerate(self.solutions)}

    @cached_property
    def steps(self) -> StepScores:
        """The same scores in pieces; the solutions must be consecutive whole numbers.

        Raises:
            ParameterError: other solutions.
        """
        return StepScores.of_list(self.values, self._first)

    def only(self, ranges: Iterable[IntegerRange]) -> Scores:
        """The scores of the solutions in some ranges, which are disjoint and ascending.

        Raises:
            ParameterError: the solutions are not consecutive whole numbers.
        """
        first = self._first
        ends = [(max(one.start - first, 0), min(one.stop - first, self.size)) for one in ranges]
        kept = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(a, b) for a, b in ends if a < b)])
        return Scores(self.values[kept], kept + first)  # type: ignore[arg-type]

    @property
    def _first(self) -> int:
        """The first solution, if they are consecutive whole numbers."""
        if isinstance(self.solutions, range) and self.solutions.step == 1:
            return self.solutions.start
        raise ParameterError("Scores have pieces only if the solutions are consecutive whole numbers: pass a range.")

    def at_least(self, least: float) -> Scores:
        """The solutions whose score is at least this."""
        at = np.flatnonzero(self.values >= least)
        return Scores(self.values[at], tuple(self.solutions[i] for i in at.tolist()))

    def softmax(self, coefficient: float) -> Softmax:
        """The draw of the exponential mechanism: a solution with probability ∝ exp(coefficient · score)."""
        return Softmax(self.values, coefficient, self.solutions)

    def _scored(self, i: int) -> Scored:
        return Scored(self.solutions[i], number_at(self.values, i))


AnyScores: TypeAlias = Scores | StepScores
"""The scores that a quality returns: both kinds have the same methods, for few solutions or for few pieces."""


def step_scores(starts: Sequence[int], values: Sequence[float], stop: int) -> AnyScores:
    """Scores of the solutions starts[0], …, stop − 1, equal to values[i] from starts[i] to the next start.

    Listed one by one up to `LISTED` solutions, so that the outcomes of a small law are listed one by one too; stored in
    pieces beyond that.

    Raises:
        ParameterError: as `StepScores` does.
    """
    steps = StepScores(starts, values, stop)
    if steps.size > LISTED:
        return steps
    return Scores(np.repeat(steps.values, (steps.stops - steps.starts).astype(np.int64)), range(starts[0], stop))


def _argmax(values: FloatArray, low: int, high: int) -> int:
    return low + int(np.argmax(values[low:high])) if low < high else -1
