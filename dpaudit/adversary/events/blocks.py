"""The samples of a learner: blocks of outputs, with the count of each per dataset and fold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit.interpret import outcomes
from dpaudit.outputs.columns import Encoder, Floats, Values
from dpaudit.stats.arrays import IntArray

Ints = IntArray

FOLDS = 4
"""Folds of the samples: learn on some, count on the others."""


Entries = tuple[Ints, Ints, Ints, Floats]
"""Of counts of shape (2, FOLDS, r), those that are not 0: fold, row, dataset · FOLDS + fold, and count."""


@dataclass(frozen=True)
class Block:
    """Some outputs, and how often each occurred.

    Args:
        values: r outputs.
        times: counts, shape (2, FOLDS, r): under D and under D′, in every fold.
    """

    values: Values
    times: Ints

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of one output if the outputs are reals, else None."""
        return self.values.shape[1:] if isinstance(self.values, np.ndarray) else None

    @cached_property
    def entries(self) -> Entries:
        """The nonzero entries of `times`."""
        return _entries(self.times)

    def reals(self, which: int) -> Floats:
        """The reals of one dataset (0 or 1), shape (r, *d)."""
        rows: Floats = np.asarray(self.values, dtype=np.float64)[self.times[which].sum(axis=0) > 0]
        return rows

    def listed(self, most: int) -> Sequence[Hashable]:
        """The first `most` outputs as a list, vectors as tuples."""
        return outcomes(self.values[:most]) if isinstance(self.values, np.ndarray) else self.values[:most]


class Atoms:
    """All distinct outputs counted so far, in order of first occurrence."""

    def __init__(self) -> None:
        self._places: dict[Hashable, int] = {}
        self._times = np.zeros((2, FOLDS, 64), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Count some outputs; those in one block are distinct."""
        places = self._places
        at = np.fromiter((places.setdefault(value, len(places)) for value in block.values), dtype=np.int64)
        if len(places) > self._times.shape[2]:
            more = np.zeros((2, FOLDS, len(places)), dtype=np.int64)
            self._times = np.concatenate([self._times, more], axis=2)
        self._times[:, :, at] += block.times

    @property
    def block(self) -> Block:
        """All outputs counted so far."""
        return Block(list(self._places), self._times[:, :, : len(self._places)].copy())


def _entries(times: Ints) -> Entries:
    flat = times.reshape(2 * FOLDS, -1)
    group, row = np.nonzero(flat)
    return group % FOLDS, row, group, flat[group, row].astype(np.float64)


def joined(blocks: Iterable[Block], most: int) -> list[Block]:
    """The same outputs merged into fewer blocks of about `most` outputs, in no particular order."""
    alike: dict[tuple[int, ...] | None, list[list[Block]]] = {}
    room: dict[tuple[int, ...] | None, int] = {}
    for block in blocks:
        groups = alike.setdefault(block.shape, [])
        if room.get(block.shape, 0) < len(block.values):
            groups.append([])
            room[block.shape] = most
        groups[-1].append(block)
        room[block.shape] -= len(block.values)
    return [_one(group) for groups in alike.values() for group in groups]


def _one(blocks: Sequence[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    times = np.concatenate([block.times for block in blocks], axis=2)
    if blocks[0].shape is None:
        return Block([value for block in blocks for value in block.values], times)
    return Block(np.concatenate([np.asarray(block.values) for block in blocks]), times)


@dataclass(frozen=True)
class Sample:
    """Samples to learn from, as rows of numbers.

    Args:
        encoder: the encoder that made the rows.
        columns: shape (r, columns of the encoder).
        times: the count of each row, shape (2, FOLDS, r).
    """

    encoder: Encoder
    columns: Floats
    times: Ints

    @classmethod
    def of(cls, encoder: Encoder, blocks: Sequence[Block]) -> Sample:
        """All blocks (at least one), encoded."""
        together = joined(blocks, sum(len(block.values) for block in blocks))
        columns = np.vstack([encoder.encode(block.values) for block in together])
        return cls(encoder, columns, np.concatenate([block.times for block in together], axis=2))

    @cached_property
    def entries(self) -> Entries:
        """The nonzero entries of `times`."""
        return _entries(self.times)

    @property
    def fewest(self) -> int:
        """The smaller of the two datasets' sample counts."""
        return int(self.times.sum(axis=(1, 2)).min())

    @property
    def whole(self) -> Ints:
        """The count of each row, shape (2, r)."""
        times: Ints = self.times.sum(axis=1)
        return times

    def without(self, *folds: int) -> Ints:
        """The count of each row outside some folds, shape (2, r)."""
        times: Ints = self.times[:, [fold for fold in range(FOLDS) if fold not in folds]].sum(axis=1)
        return times
