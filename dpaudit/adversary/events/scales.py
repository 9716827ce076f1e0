"""Scales: axes cut into cells, and the count of every cell per dataset and fold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.adversary.events.blocks import FOLDS, Block, Ints, Sample
from dpaudit.outputs.columns import Axis, Floats

TAILS = (3e-6, 0.02, 14)
"""Outermost and innermost quantile of the cuts in a tail, and the number of cuts, in geometric steps."""
MIDDLE = 40
"""Most cells of equal weight."""
OWN_CELL = 0.004
"""A repeated score with at least this share of the samples gets its own cell."""
OWN_CELLS = 64


@dataclass(frozen=True)
class Scale:
    """An axis in cells: cell i is (edges[i−1], edges[i]] of its score.

    Args:
        family: the family of its events.
        axis: the score that its events use.
        members: the score used for each fold: the axis itself, or one learned without the fold.
        edges: ascending.
        hits: counts of the cells, shape (2, FOLDS, cells).
        cost: nats for the choice of this axis.
        both: whether either end may be more likely under either dataset; a learned score is high for D.
        binned: whether unions of its cells are events too.
        unscored: whether atoms without a score join its unions of cells.
        stepped: whether it is a scale of few steps, each with about half as many samples as the one before: then rare
            threshold events are not more numerous than common ones.
    """

    family: str
    axis: Axis
    members: tuple[Axis, ...]
    edges: Floats
    hits: Floats
    cost: float
    both: bool
    binned: bool
    unscored: bool
    stepped: bool = False

    def add(self, block: Block, columns: Floats) -> None:
        """Count outputs, given as rows of the axis's encoder; those without a score are ignored."""
        cells = len(self.edges) + 1
        fold, row, group, number = block.entries
        # NaN sorts above every edge, into an extra cell that is dropped
        at = np.full(len(row), cells)
        places: dict[int, Ints] = {}
        for k, member in enumerate(self.members):
            of_fold = fold == k
            if member.rowwise:
                at[of_fold] = self._cells(member.of(columns[row[of_fold]]))
                continue
            if id(member) not in places:
                places[id(member)] = self._cells(member.of(columns))
            at[of_fold] = places[id(member)][row[of_fold]]
        counts = np.bincount(group * (cells + 1) + at, weights=number, minlength=2 * FOLDS * (cells + 1))
        self.hits[:] += counts.reshape(2, FOLDS, cells + 1)[:, :, :cells]

    def _cells(self, scores: Floats) -> Ints:
        cells = len(self.edges) + 1
        return np.where(np.isnan(scores), cells, np.searchsorted(self.edges, scores, side="left"))


def cut(
    sample: Sample, family: str, axis: Axis, members: tuple[Axis, ...] | None = None, *, cost: float = 0.0,
    both: bool = False, binned: bool = False, unscored: bool = False, stepped: bool = False,
) -> list[Scale]:
    """An axis cut into cells by the scores of a sample, still without hits; empty if no output has a score."""
    if members is None:
        scores, weights = axis.of(sample.columns), sample.times.sum(axis=(0, 1))
    else:
        scores, weights = _of_folds(sample, members)
    known = ~np.isnan(scores) & (weights > 0)
    if not known.any():
        return []
    edges = cuts(scores[known], weights[known])
    hits = np.zeros((2, FOLDS, len(edges) + 1))
    return [Scale(family, axis, members or (axis,) * FOLDS, edges, hits, cost, both, binned, unscored, stepped)]


def _of_folds(sample: Sample, members: Sequence[Axis]) -> tuple[Floats, Ints]:
    """The scores of every fold's rows by its member, and the counts of these rows in the fold."""
    scores, weights = [], []
    whole: dict[int, Floats] = {}
    for fold, member in enumerate(members):
        times = sample.times[:, fold].sum(axis=0)
        some = times > 0
        if member.rowwise:
            scores.append(member.of(sample.columns[some]))
        else:
            if id(member) not in whole:
                whole[id(member)] = member.of(sample.columns)
            scores.append(whole[id(member)][some])
        weights.append(times[some])
    return np.concatenate(scores), np.concatenate(weights)


def count(scales: Iterable[Scale], block: Block) -> None:
    """Add a block to the hits of every scale; each encoder encodes it once."""
    rows: dict[int, Floats] = {}
    for scale in scales:
        encoder = scale.axis.encoder
        if id(encoder) not in rows:
            rows[id(encoder)] = encoder.encode(block.values)
        scale.add(block, rows[id(encoder)])


def cuts(scores: Floats, weights: Ints) -> Floats:
    """Cuts at quantiles, dense in both tails, and around often repeated values; ascending, at least one.

    Args:
        scores: shape (r,), r ≥ 1.
        weights: the count of each score, ≥ 1.
    """
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    held = np.cumsum(weights)
    total = int(held[-1])
    tails = [c for c in np.geomspace(*TAILS).tolist() if c * total >= 3]
    middle = np.linspace(0, 1, min(MIDDLE, max(4, total // 4)) + 1)[1:-1]
    levels = np.unique([*tails, *middle.tolist(), *(1 - c for c in tails)])
    at = np.minimum(np.searchsorted(held, levels * total), len(scores) - 1)
    edge_list = scores[at].tolist()
    starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    mass = np.add.reduceat(weights, starts)
    heavy = np.argsort(-mass, kind="stable")[:OWN_CELLS]
    for value in scores[starts[heavy[mass[heavy] >= max(3.0, OWN_CELL * total)]]].tolist():
        edge_list += [math.nextafter(value, -math.inf), value]
    edges = np.unique(edge_list)
    # no score lies above the largest edge
    edges = edges[edges < scores[-1]]
    return edges if len(edges) else np.array([scores[-1]])
