"""Scales: axes cut into cells, and the count of every cell per dataset and fold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

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
DECIMALS = 9
"""Scores on a learned axis that are equal when rounded to this many decimals count as equal."""


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
        sample: what the axis and its members were learned from; None if there are no other members than the axis.
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
    sample: Sample | None = None

    def threshold(self, edge: float) -> float:
        """The threshold on the axis above which there are as many samples as above this edge on the members' scores.

        The mean of several scores varies less than each of them, so their own thresholds would contain too few outputs.
        """
        if self.sample is None or math.isinf(edge):
            return edge
        counts = self.hits.sum(axis=(0, 1))
        share = counts[np.searchsorted(self.edges, edge) + 1 :].sum() / counts.sum()
        thresholds, above = self._above
        return float(thresholds[np.abs(above - share).argmin()])

    @cached_property
    def _above(self) -> tuple[Floats, Floats]:
        """Thresholds between the sample's scores on the axis, ascending, and the share of the sample above each."""
        assert self.sample is not None
        scores, weights = np.round(self.axis.of(self.sample.columns), DECIMALS), self.sample.whole.sum(axis=0)
        known = ~np.isnan(scores)
        distinct, at = np.unique(scores[known], return_inverse=True)
        held = np.bincount(at, weights=weights[known])
        below, above = distinct[:-1], 1 - np.cumsum(held)[:-1] / held.sum()
        if not len(below):
            return distinct, np.zeros(1)
        with np.errstate(invalid="ignore", over="ignore"):
            # half-way, so that rounding moves no output to the other side
            middle = (below + distinct[1:]) / 2
        return np.where(np.isfinite(middle), middle, below), above

    def add(self, counted: Block | Sample, scores: Sequence[Floats]) -> None:
        """Count outputs, given the scores of all of them for each fold; those without a score are ignored."""
        cells = len(self.edges) + 1
        fold, row, group, number = counted.entries
        # NaN sorts above every edge, into an extra cell that is dropped
        if all(of_its is scores[0] for of_its in scores):
            at = self._cells(scores[0])[row]
        else:
            at = np.empty(len(row), dtype=np.int64)
            for k, of_its in enumerate(scores):
                of_fold = fold == k
                at[of_fold] = self._cells(of_its[row[of_fold]])
        counts = np.bincount(group * (cells + 1) + at, weights=number, minlength=2 * FOLDS * (cells + 1))
        self.hits[:] += counts.reshape(2, FOLDS, cells + 1)[:, :, :cells]

    def _cells(self, scores: Floats) -> Ints:
        cells = len(self.edges) + 1
        return np.where(np.isnan(scores), cells, np.searchsorted(self.edges, scores, side="left"))


def cut(
    sample: Sample, family: str, axis: Axis, members: tuple[Axis, ...] | None = None, *, cost: float = 0.0,
    both: bool = False, binned: bool = False, unscored: bool = False, stepped: bool = False,
) -> list[Scale]:
    """An axis cut into cells by the scores of a sample, with the sample's hits; empty if no output has a score."""
    folds = members or (axis,) * FOLDS
    scores = _scored(sample.columns, sample.times, folds)
    if members is None:
        every, weights = scores[0], sample.times.sum(axis=(0, 1))
    else:
        times = sample.times.sum(axis=0)
        every = np.concatenate([of_its[some > 0] for of_its, some in zip(scores, times, strict=True)])
        weights = np.concatenate([some[some > 0] for some in times])
    known = ~np.isnan(every) & (weights > 0)
    if not known.any():
        return []
    edges = cuts(every[known], weights[known])
    hits = np.zeros((2, FOLDS, len(edges) + 1))
    learned_from = None if members is None else sample
    scale = Scale(family, axis, folds, edges, hits, cost, both, binned, unscored, stepped, learned_from)
    scale.add(sample, scores)
    return [scale]


def _scored(columns: Floats, times: Ints, members: Sequence[Axis]) -> list[Floats]:
    """The scores of all rows for each fold, by its member; if there are several, NaN for the rows of other folds."""
    if all(member is members[0] for member in members):
        return [members[0].of(columns)] * len(members)
    found: dict[int, Floats] = {}
    for member in members:
        if id(member) not in found:
            folds = [fold for fold, its in enumerate(members) if its is member]
            some = np.flatnonzero(times[:, folds].any(axis=(0, 1)))
            scores = found[id(member)] = np.full(len(columns), np.nan)
            scores[some] = member.of(columns, some)
    return [found[id(member)] for member in members]


def count(scales: Iterable[Scale], block: Block) -> None:
    """Add a block to the hits of every scale; each encoder encodes it once."""
    rows: dict[int, Floats] = {}
    for scale in scales:
        encoder = scale.axis.encoder
        if id(encoder) not in rows:
            rows[id(encoder)] = encoder.encode(block.values)
        scale.add(block, _scored(rows[id(encoder)], block.times, scale.members))


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
