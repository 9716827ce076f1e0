"""Scores that are constant on long runs of solutions: n records cut a range of any size into about n + 1 pieces."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
from numpy.random import Generator

from dpaudit.errors import ParameterError
from dpaudit.language.checks import number
from dpaudit.language.distributions.base import Distribution, Values
from dpaudit.language.numbers import written
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.outputs.ranges import IntegerRange, Spread, Wholes, wholes
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosed import finite, is_enclosed, near, nears, note, shorts, to_float, vector, watched

Solution: TypeAlias = Any
"""One of the solutions that scores rank: any hashable value."""

ROUNDED_SCORES = "scores, which are doubles of many digits"


def number_at(values: FloatArray, i: int) -> float:
    """One number of a vector, as a Python number."""
    number = values[i]
    return to_float(number) if is_enclosed(number) else float(number)


def bytes_of(values: FloatArray) -> bytes:
    """The content of a vector of numbers; −0.0 counts as 0.0."""
    if values.dtype.kind != "O":
        return (values + 0.0).tobytes()
    return repr(fingerprint(values.tolist())).encode()


def salt(values: FloatArray) -> int:
    """For enclosed numbers, a value that differs between runs, because their hashes do too."""
    return 0 if values.dtype.kind != "O" else hash(tuple(v for v in values.tolist() if is_enclosed(v)))


@dataclass(frozen=True)
class Scored:
    """A solution and its score."""

    solution: Solution
    score: float


class StepScores:
    """Scores of whole numbers, in pieces: all solutions starts[i], …, starts[i + 1] − 1 have the score values[i].

    Compares and hashes by content: adjacent pieces with the same score are merged. The solutions are in ascending
    order, which breaks ties. Time and memory depend on the number of pieces, not of solutions.

    Args:
        starts: shape (k,), whole numbers of any size, strictly ascending; empty if there are no solutions.
        values: shape (k,), finite.
        stop: the end of the last piece (exclusive).

    Raises:
        ParameterError: starts that do not ascend below `stop`, values that are not finite, or not k values.
    """

    starts: Wholes
    stops: Wholes

    def __init__(self, starts: Sequence[int], values: Iterable[SupportsFloat], stop: int) -> None:
        scores = vector(values)
        if scores.ndim != 1 or not finite(scores):
            raise ParameterError("Scores must be a vector of finite numbers.")
        if len(starts) != len(scores):
            raise ParameterError(f"There are {len(scores)} scores and {len(starts)} pieces.")
        ends = wholes([*starts, stop])
        if len(scores) and not np.all(ends[1:] > ends[:-1]):
            raise ParameterError("The starts of pieces must ascend strictly, and lie below the stop.")
        self._hold(ends[:-1], ends[1:], scores)

    @classmethod
    def of_list(cls, values: FloatArray, first: int) -> StepScores:
        """From the scores of first, first + 1, … one by one, shape (k,), finite."""
        starts = wholes([first, first + len(values)])[:1] + np.arange(len(values))
        return cls._of(starts, starts + 1, values)

    @classmethod
    def _of(cls, starts: Wholes, stops: Wholes, values: FloatArray) -> StepScores:
        """From pieces already known to be in order; there may be gaps between them."""
        made = cls.__new__(cls)
        made._hold(starts, stops, values)
        return made

    def _hold(self, starts: Wholes, stops: Wholes, values: FloatArray) -> None:
        if len(values) > 1:
            new = np.ones(len(values) + 1, dtype=np.bool_)
            new[1:-1] = (starts[1:] != stops[:-1]) | (values[1:] != values[:-1]).astype(np.bool_)
            if not new.all():
                starts, stops, values = starts[new[:-1]], stops[new[1:]], values[new[:-1]]
        if starts.dtype != stops.dtype:
            starts, stops = starts.astype(object), stops.astype(object)
        self.starts, self.stops, self._values = starts, stops, values
        for array in (starts, stops, values):
            array.flags.writeable = False

    @property
    def values(self) -> FloatArray:
        """The scores of the pieces, shape (k,)."""
        if watched() is not None and not self._short:
            note(ROUNDED_SCORES)
        return self._values

    @cached_property
    def _short(self) -> bool:
        return shorts(self._values)

    @cached_property
    def size(self) -> int:
        """The number of solutions; `len` cannot return more than 2^63 − 1."""
        return sum((self.stops - self.starts).tolist())

    def __len__(self) -> int:
        return self.size

    @cached_property
    def digest(self) -> bytes:
        """A 16-byte digest of the content."""
        image = blake2b(bytes_of(self._values), digest_size=16)
        for ends in (self.starts.tolist(), self.stops.tolist()):
            # as bytes: Python refuses to print numbers of many thousands of digits
            image.update(len(ends).to_bytes(8, "little"))
            for end in ends:
                size = end.bit_length() // 8 + 1
                image.update(size.to_bytes(8, "little") + end.to_bytes(size, "little", signed=True))
        return image.digest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, StepScores) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash((self.digest, salt(self._values)))

    def __repr__(self) -> str:
        return f"StepScores of {written(self.size)} solutions in {len(self.values)} pieces"

    def __fingerprint__(self) -> Hashable:
        return self.digest

    @property
    def steps(self) -> StepScores:
        """These scores themselves, as every kind of scores can be written in pieces."""
        return self

    def best(self) -> Scored:
        """The best solution; ties go to the earlier one."""
        return self._scored(int(np.argmax(self.values)))

    def two_highest(self) -> tuple[Scored, Scored]:
        """The best solution and the next; ties go to the earlier solution, independent of the data.

        Raises:
            ParameterError: fewer than two solutions.
        """
        if self.size < 2:
            raise ParameterError("Two highest scores need at least two solutions.")
        i = int(np.argmax(self.values))
        first = self._scored(i)
        if self.stops[i] - self.starts[i] > 1:
            return first, Scored(first.solution + 1, first.score)
        others = self.values.copy()
        others[i] = -math.inf
        return first, self._scored(int(np.argmax(others)))

    def of(self, solution: Solution) -> float | None:
        """The score of a solution; None if it is not a solution."""
        if not isinstance(solution, int):
            return None
        i = bisect_right(self.starts, solution) - 1
        return number_at(self.values, i) if i >= 0 and solution < self.stops[i] else None

    def _scored(self, i: int) -> Scored:
        return Scored(int(self.starts[i]), number_at(self.values, i))

    def only(self, ranges: Iterable[IntegerRange]) -> StepScores:
        """The scores of the solutions in some ranges, which are disjoint and ascending."""
        parts = []
        for one in ranges:
            # numpy's search would round bounds that do not fit its integers
            i, j = bisect_right(self.stops, one.start), bisect_left(self.starts, one.stop)
            if i < j:
                starts, stops = self.starts[i:j].copy(), self.stops[i:j].copy()
                starts[0], stops[-1] = max(starts[0], one.start), min(stops[-1], one.stop)
                parts.append((starts, stops, self.values[i:j]))
        if not parts:
            return StepScores((), (), 0)
        return StepScores._of(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def at_least(self, least: float) -> StepScores:
        """The solutions whose score is at least this."""
        kept = self.values >= least
        return StepScores._of(self.starts[kept], self.stops[kept], self.values[kept])

    def extended(self, stop: int, value: float) -> StepScores:
        """These scores, extended by the score `value` for the solutions from the end of the last piece to stop − 1."""
        if not len(self.values) or stop <= self.stops[-1]:
            return self
        starts, stops = np.append(self.starts, self.stops[-1:]), np.append(self.stops, wholes([stop]))
        return StepScores._of(starts, stops, vector([*self.values.tolist(), value]))

    def without_first(self) -> StepScores:
        """The scores of 1, 2, …, renumbered to 0, 1, …; for scores that begin with solution 0."""
        rest = self.only([IntegerRange(1, int(self.stops[-1]))] if len(self.values) else [])
        return StepScores._of(rest.starts - 1, rest.stops - 1, rest.values)

    def joined(self) -> StepScores:
        """Maxima of the pairs 2i, 2i + 1; an unpaired last score stays alone.

        For scores that begin with solution 0 and have no gaps.
        """
        starts, values = self.starts, self.values
        if not len(values):
            return self
        # every piece gives two pieces: the pair in which it starts, and the pairs after that …
        ends = np.empty(2 * len(values) + 1, dtype=starts.dtype)
        ends[:-1:2], ends[-1] = starts >> 1, self.stops[-1] + 1 >> 1
        ends[1::2] = ends[:-1:2] + 1
        joined = np.repeat(values, 2)
        # … if the start is odd, the previous piece reaches into that pair …
        odd = (starts[1:] & 1).astype(np.bool_)
        joined[2::2][odd] = np.maximum(values[1:], values[:-1])[odd]
        # … drop empty pieces: if two pieces start in the same pair, the second one has the maximum
        kept = np.ones(len(ends), dtype=np.bool_)
        kept[:-1:2] = ends[2::2] > ends[:-1:2]
        kept[1::2] = ends[2::2] > ends[1::2]
        ends, joined = ends[kept], joined[kept[:-1]]
        return StepScores._of(ends[:-1], ends[1:], joined)

    def softmax(self, coefficient: float) -> StepSoftmax:
        """The draw of the exponential mechanism: a solution with probability ∝ exp(coefficient · score)."""
        return StepSoftmax(self, coefficient)


@dataclass(frozen=True, repr=False)
class StepSoftmax(Distribution):
    """A solution with probability ∝ exp(coefficient · its score): draw a piece of the scores, then uniformly in it.

    Its exact law is given by the masses of the pieces: see `Distribution.spread`.

    Args:
        scores: of at least one solution.
        coefficient: ε/2 for a 1-sensitive score.

    Raises:
        ParameterError: no solutions.
    """

    scores: StepScores
    coefficient: float

    def __post_init__(self) -> None:
        if not len(self.scores.values):
            raise ParameterError("A softmax needs at least one solution.")
        number("coefficient", self.coefficient)

    def __repr__(self) -> str:
        return f"Softmax over {written(self.scores.size)} outcomes with coefficient {near(self.coefficient):.6g}"

    @property
    def remedy(self) -> str:
        return "use it as the last draw, where its outcomes need not be enumerated, or choose among fewer solutions"

    @cached_property
    def spread(self) -> Spread:
        values, coefficient, size = nears(self.scores.values), near(self.coefficient), self.scores.size
        # subtract first: the product of the coefficient and a large score would lose digits
        with np.errstate(over="ignore"):  # −∞ is the right exponent for a score this far below the best
            exponents = coefficient * (values - (values.max() if coefficient > 0 else values.min()))
        # relative lengths: the lengths themselves may exceed the range of floats
        weights = np.exp(exponents) * ((self.scores.stops - self.scores.starts) / size).astype(np.float64)
        return Spread(self.scores.starts, self.scores.stops, weights / weights.sum())

    def draw(self, rng: Generator, size: int) -> Values:
        return self.spread.draw(rng, size)
