"""Runs as a learner keeps them: blocks of outputs, with how often each came on each side in each fold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from dpaudit.interpret import outcomes
from dpaudit.outputs.columns import Encoder, Floats, Values
from dpaudit.stats.arrays import IntArray

Ints = IntArray

FOLDS = 4
"""Parts of the runs; what is learned on some is counted on the others."""


@dataclass(frozen=True)
class Block:
    """Some outputs, and how often each came.

    Args:
        values: r outputs.
        times: shape (2, FOLDS, r): on the left and on the right, in every fold.
    """

    values: Values
    times: Ints

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Of one output when they are reals, else None."""
        return self.values.shape[1:] if isinstance(self.values, np.ndarray) else None

    @cached_property
    def entries(self) -> tuple[Ints, Ints, Ints, Floats]:
        """What is not 0 in `times`: fold, row, side · FOLDS + fold, and how often; four arrays of one length."""
        flat = self.times.reshape(2 * FOLDS, -1)
        group, row = np.nonzero(flat)
        return group % FOLDS, row, group, flat[group, row].astype(np.float64)

    def side(self, side: int) -> Floats:
        """The reals of one side, shape (r, *d)."""
        rows: Floats = np.asarray(self.values, dtype=np.float64)[self.times[side].sum(axis=0) > 0]
        return rows

    def listed(self, most: int) -> Sequence[Hashable]:
        """The first of the outputs one by one, vectors as tuples."""
        return outcomes(self.values[:most]) if isinstance(self.values, np.ndarray) else self.values[:most]


class Atoms:
    """All different outputs that were counted so far, in the order in which they first came."""

    def __init__(self) -> None:
        self._places: dict[Hashable, int] = {}
        self._times = np.zeros((2, FOLDS, 64), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Count some outputs, each different from the others of its block."""
        places = self._places
        at = np.fromiter((places.setdefault(value, len(places)) for value in block.values), dtype=np.int64)
        if len(places) > self._times.shape[2]:
            more = np.zeros((2, FOLDS, len(places)), dtype=np.int64)
            self._times = np.concatenate([self._times, more], axis=2)
        self._times[:, :, at] += block.times

    @property
    def block(self) -> Block:
        """All of them."""
        return Block(list(self._places), self._times[:, :, : len(self._places)].copy())


def capped(blocks: Iterable[Block], most: int) -> list[Block]:
    """Blocks, each of one side, until every side has so many outputs."""
    kept: list[Block] = []
    room = [most, most]
    for block in blocks:
        side = int(block.times[1].any())
        if room[side] > 0:
            take = min(room[side], len(block.values))
            kept.append(Block(block.values[:take], block.times[:, :, :take]))
            room[side] -= take
    return kept


def joined(blocks: Iterable[Block], most: int) -> list[Block]:
    """The same outputs in fewer blocks, of `most` outputs at most where they are put together; in no order."""
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
    """Runs to learn from, as rows of numbers.

    Args:
        encoder: what read them.
        columns: shape (r, columns of the encoder).
        times: how often each row came, shape (2, FOLDS, r).
    """

    encoder: Encoder
    columns: Floats
    times: Ints

    @classmethod
    def of(cls, encoder: Encoder, blocks: Sequence[Block]) -> Sample:
        """All blocks (at least one), read by an encoder."""
        # in their order, neighbours of one form at once
        together = [_one(list(group)) for _, group in groupby(blocks, key=lambda block: block.shape)]
        columns = np.vstack([encoder.encode(block.values) for block in together])
        return cls(encoder, columns, np.concatenate([block.times for block in together], axis=2))

    @property
    def fewest(self) -> int:
        """Runs on the side that has fewer."""
        return int(self.times.sum(axis=(1, 2)).min())

    @property
    def whole(self) -> Ints:
        """How often each row came, shape (2, r)."""
        times: Ints = self.times.sum(axis=1)
        return times

    def without(self, *folds: int) -> Ints:
        """How often each row came outside some folds, shape (2, r)."""
        times: Ints = self.times[:, [fold for fold in range(FOLDS) if fold not in folds]].sum(axis=1)
        return times
