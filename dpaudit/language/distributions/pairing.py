"""Random pairings of a multiset: the pairs of a random permutation, up to order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from dpaudit.errors import NotEnumerableError
from dpaudit.language.distributions.base import Finite, Values
from dpaudit.language.multiset import Multiset
from dpaudit.language.records import Record
from dpaudit.stats.arrays import FloatArray, IntArray

Number = TypeVar("Number", float, Fraction)

ENUMERATED_RECORDS = 48
"""Pairings of more records than this are sampled, never enumerated."""
ENUMERATED_STATES = 200_000
FEW_RECORDS, MANY_DRAWS = 12, 100_000
"""With at least this many draws of at most this many records, all draws are one multinomial draw from their law."""


@dataclass(frozen=True)
class RandomPairing(Finite):
    """Shuffle the records, pair them two by two, and keep the multiset of `image(a, b)` over the pairs.

    Only the contingency table of the pairing matters, so a draw needs hypergeometric draws per pair of distinct
    values, for any number of records, and small cases are enumerated exactly. With an odd number of records
    the last record in the shuffled order is dropped.

    Args:
        records: the multiset to pair.
        image: symmetric in its two arguments; hashable and orderable values.
    """

    records: Multiset
    image: Callable[[Record, Record], Hashable] = field(repr=False)

    @property
    def finite(self) -> bool:
        return len(self.records) <= ENUMERATED_RECORDS or len(self.records.items) == 1

    @property
    def remedy(self) -> str:
        return f"use at most {ENUMERATED_RECORDS} records, or equal ones"

    def grouped(self, rng: Generator, size: int) -> list[tuple[Hashable, int]]:
        if size >= MANY_DRAWS and len(self.records) <= FEW_RECORDS:
            return super().grouped(rng, size)
        tables, images = Counter(map(tuple, self._tables(rng, size).tolist())), self._images[0]
        return [
            (Multiset(tuple((v, c) for v, c in zip(images, table, strict=True) if c)), tables[table])
            for table in sorted(tables)
        ]

    def draw(self, rng: Generator, size: int) -> list[Multiset]:
        images = self._images[0]
        return [
            Multiset(tuple((v, c) for v, c in zip(images, row, strict=True) if c))
            for row in self._tables(rng, size).tolist()
        ]

    @cached_property
    def _images(self) -> tuple[list[Any], IntArray]:
        """Distinct images, ascending, and for each pair of distinct values the index of its image."""
        values = self.records.values
        table = [[self.image(a, b) for b in values] for a in values]
        images: list[Any] = sorted({image for row in table for image in row})
        place = {image: i for i, image in enumerate(images)}
        return images, np.array([[place[image] for image in row] for row in table], dtype=np.int64).reshape(
            len(values), len(values)
        )

    def _tables(self, rng: Generator, size: int) -> IntArray:
        """Counts of every image in `size` pairings, shape (size, number of images)."""
        images, place = self._images
        out = np.zeros((size, len(images)), dtype=np.int64)
        if not len(self.records):
            return out
        counts = np.tile(self.records.counts, (size, 1))
        if len(self.records) % 2:
            dropped = rng.choice(counts.shape[1], size, p=self.records.counts / len(self.records))
            counts[np.arange(size), dropped] -= 1
        # the first of every pair is a uniformly random half of the records …
        first = _subset(rng, counts, counts.sum(axis=1) // 2)
        second = counts - first
        # … and value by value, its partners are a uniformly random subset of the rest of the other half
        for i in range(counts.shape[1]):
            partners = _subset(rng, second, first[:, i])
            second = second - partners
            for j in range(counts.shape[1]):
                out[:, place[i, j]] += partners[:, j]
        return out

    @cached_property
    def _law(self) -> dict[Multiset, float]:
        return self._enumerated(1.0)

    def fractions(self) -> dict[Multiset, Fraction]:
        """The probability of every outcome, exactly, in the order of `values`.

        Raises:
            NotEnumerableError: too many records, or too many states on the way.
        """
        return self._enumerated(Fraction(1))

    def _enumerated(self, one: Number) -> dict[Multiset, Number]:
        """The law in the arithmetic of `one`."""
        if not self.finite:
            raise NotEnumerableError(f"A random pairing of {len(self.records):,} records is too large: {self.remedy}.")
        images, place = self._images
        if len(self.records.items) == 1:
            pairs = len(self.records) // 2
            return {Multiset(((images[0], pairs),) if pairs else ()): one}
        counts = tuple(self.records.counts.tolist())
        none = (0,) * len(images)
        states: dict[tuple[tuple[int, ...], tuple[int, ...]], Number]
        states = {(counts, none): one} if len(self.records) % 2 == 0 else {
            (_less(counts, i), none): one * c / len(self.records) for i, c in enumerate(counts) if c
        }
        for _ in range(len(self.records) // 2):
            following: dict[tuple[tuple[int, ...], tuple[int, ...]], Number] = {}
            for (left, seen), p in states.items():
                # by symmetry the next pair may be the one with the smallest remaining record
                i = next(k for k, c in enumerate(left) if c)
                rest = _less(left, i)
                total = sum(rest)
                for j, c in enumerate(rest):
                    if c:
                        key = (_less(rest, j), _more(seen, int(place[i, j])))
                        following[key] = following.get(key, 0 * one) + p * c / total
            states = following
            if len(states) > ENUMERATED_STATES:
                raise NotEnumerableError(
                    f"A random pairing of {self.records!r} has more than {ENUMERATED_STATES:,} states; "
                    "use fewer records or fewer distinct values."
                )
        law: dict[Multiset, Number] = {}
        for (_, seen), p in states.items():
            outcome = Multiset(tuple((v, c) for v, c in zip(images, seen, strict=True) if c))
            law[outcome] = law.get(outcome, 0 * one) + p
        return law

    @property
    def values(self) -> Values:
        return tuple(self._law)

    @property
    def probs(self) -> FloatArray:
        return np.array(list(self._law.values()))


def _subset(rng: Generator, counts: IntArray, sizes: IntArray) -> IntArray:
    """Row by row, the composition of a uniformly random subset of `sizes` out of `counts` (multivariate
    hypergeometric, by its conditional one-dimensional draws; shape of `counts`)."""
    taken = np.zeros_like(counts)
    left, rest = sizes.copy(), counts.sum(axis=1)
    for j in range(counts.shape[1] - 1):
        rest = rest - counts[:, j]
        taken[:, j] = rng.hypergeometric(counts[:, j], rest, left)
        left = left - taken[:, j]
    taken[:, -1] = left
    return taken


def _less(counts: tuple[int, ...], i: int) -> tuple[int, ...]:
    return (*counts[:i], counts[i] - 1, *counts[i + 1 :])


def _more(counts: tuple[int, ...], i: int) -> tuple[int, ...]:
    return (*counts[:i], counts[i] + 1, *counts[i + 1 :])
