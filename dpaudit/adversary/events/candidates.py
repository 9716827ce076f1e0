"""Candidate events: threshold events of a scale, unions of its cells, and sets of atoms, each with its counts.

Cells and atoms are sorted by their likelihood ratio on all folds but one and counted on that one. So the counts of a
union are those of fresh samples, except for the choice among the few unions of that order.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from dpaudit.adversary.events.blocks import FOLDS, Block, Ints
from dpaudit.adversary.events.empirical_bayes import sets
from dpaudit.adversary.events.event import Event, Interval
from dpaudit.adversary.events.optimistic_bound import log_ratios, rarity
from dpaudit.adversary.events.scales import Scale
from dpaudit.adversary.events.tail_extrapolation import Prediction, predict
from dpaudit.outputs.columns import Column, Floats
from dpaudit.stats.arrays import BoolArray

LEVELS = 100
"""Most levels of the likelihood ratio at which an order of cells is cut."""
COARSE = 10
"""Number of cells in the coarser of a scale's two orders."""
MOST_ATOMS = 20_000
"""Most atoms with their own cell; rarer atoms are not in any event."""
FEW = 8
"""Up to this many atoms, ordering them costs nothing."""
PREDICTED = 32
"""Extrapolate the tails of at most so many families (one end of a scale, one direction) of threshold events."""
SHRUNK_MOST = 64
"""Up to this many atoms, empirical Bayes predicts fresh shares. Among many atoms most are rare, and often differ more
than common ones do; one prior for all ignores that, and makes the same error for every atom of a set."""
JOINED = 1.0
"""Nats for adding atoms to a threshold event."""
ORDERED = 3.0
"""Nats for ordering a few cells, which takes more than one choice."""
FINE = 2.0
"""Additional nats for ordering all cells."""
UNREACHED = 2.0
"""Nats in favour of a threshold event of a stepped scale that the other dataset has never hit."""


@dataclass(frozen=True)
class Offers:
    """Events in one direction, arrays of shape (k,).

    Args:
        x: hits on the dataset where the events are more likely, among n samples.
        y: hits on the other dataset, among m samples.
        cost: nats for the choice within the events' families; below 0 if an event is favoured.
        rarity: nats for the rarity of the events.
        predicted: predicted shares in fresh samples; its `left` is the dataset of x.
        plain: whether the event is a threshold on a part of the output that has a name, which is easy to read.
    """

    x: Floats
    n: int
    y: Floats
    m: int
    cost: Floats
    rarity: Floats
    predicted: Prediction
    plain: BoolArray


ScoreFunction = Callable[[Offers], tuple[Floats, Floats]]
"""Returns the scores of events, and a second score that breaks ties."""
BoundFunction = Callable[[Floats, int, Floats, int], Floats]
"""(hits x, samples n where events are more likely; hits y, samples m on the other dataset) → optimistic bounds."""


@dataclass
class Group:
    """Some events of one kind in one direction, counted.

    Args:
        left, right: hits under D and D′, shape (k,).
        reverse: whether they are more likely under D′.
        cost: nats for the choice, one number or shape (k,).
        family: how they were learned.
        make: returns the i-th event.
        most_rare: the most that the rarity of each may cost, one number or shape (k,).
        predicted: their shares in fresh samples, if known.
        nested: whether they are threshold events of a scale: the rare ones can be predicted from the others.
        plain: as in `Offers`.
    """

    left: Floats
    right: Floats
    reverse: bool
    cost: Floats | float
    family: str
    make: Callable[[int], Event]
    most_rare: Floats | float = math.inf
    predicted: Prediction | None = None
    nested: bool = False
    plain: bool = False


@dataclass
class Candidates:
    """The counts of many events under D and D′, and a way to construct each."""

    groups: list[Group] = field(default_factory=list)

    def offer(self, group: Group) -> None:
        """Add some events."""
        if len(group.left):
            self.groups.append(group)

    def predict(self, sizes: tuple[int, int], score: ScoreFunction, optimistic: BoundFunction) -> None:
        """Predict the threshold events of scales that may have the best one, the most promising first; this is slow.

        Args:
            sizes: numbers of samples of D and D′.
            score: as of `best`.
            optimistic: optimistic bounds of events; a scale where none exceeds the best score so far is left out.
        """
        best, promising = 0.0, []
        for group in self.groups:
            offers = _offers([group], sizes, backwards=group.reverse)
            highest = float(score(offers)[0].max())
            if group.nested:
                promising.append((highest, float(optimistic(offers.x, offers.n, offers.y, offers.m).max()), group))
            else:
                best = max(best, highest)
        promising.sort(key=lambda one: one[:2], reverse=True)
        # a lucky rare event has a large optimistic bound, so that alone must not decide which are predicted
        left = PREDICTED
        for _, most, group in promising:
            if most > best and left:
                group.predicted = predict(group.left, group.right, sizes)
                left -= 1
                best = max(best, float(score(_offers([group], sizes, backwards=group.reverse))[0].max()))

    def best(self, sizes: tuple[int, int], score: ScoreFunction) -> list[Chosen]:
        """The event with the highest score in each direction, ties broken by the second score; the better one first.

        There are fewer than two where no event is more likely under one of the datasets.

        Args:
            sizes: numbers of samples of D and D′.
        """
        best: list[tuple[float, float, Group, int]] = []
        for backwards in (False, True):
            groups = [group for group in self.groups if group.reverse == backwards]
            if not groups:
                continue
            first, second = score(_offers(groups, sizes, backwards=backwards))
            at = int(np.lexsort((second, first))[-1])
            ends = list(accumulate(len(group.left) for group in groups))
            which = bisect_right(ends, at)
            group = groups[which]
            best.append((float(first[at]), float(second[at]), group, at - ends[which] + len(group.left)))
        # of equal ones the first stays first
        best.sort(key=lambda key: key[:2], reverse=True)
        return [
            Chosen(
                group.make(i), group.family, group.reverse,
                (round(float(group.left[i])), round(float(group.right[i]))), first,
            )
            for first, _, group, i in best
        ]


def _offers(groups: Sequence[Group], sizes: tuple[int, int], *, backwards: bool) -> Offers:
    """All events of some groups of one direction, one group after the other."""
    lengths = [len(group.left) for group in groups]
    left, right = (np.concatenate([one.left for one in groups]), np.concatenate([one.right for one in groups]))
    rare = np.minimum(rarity((left + right) / sum(sizes)), _each([one.most_rare for one in groups], lengths))
    predicted = Prediction.joined([one.predicted for one in groups], lengths)
    samples = ((left, sizes[0]), (right, sizes[1]))
    (x, n), (y, m) = samples[::-1] if backwards else samples
    return Offers(
        x, n, y, m, _each([one.cost for one in groups], lengths), rare,
        predicted.swapped() if backwards else predicted, np.repeat([one.plain for one in groups], lengths),
    )


def _each(values: Sequence[Floats | float], lengths: Sequence[int]) -> Floats:
    """One number for every event: those of each group, or the same for all of it."""
    alike = [0.0 if isinstance(value, np.ndarray) else value for value in values]
    every: Floats = np.repeat(np.array(alike, dtype=np.float64), lengths)
    for value, end in zip(values, accumulate(lengths), strict=True):
        if isinstance(value, np.ndarray):
            every[end - len(value) : end] = value
    return every


@dataclass(frozen=True)
class Chosen:
    """The best of many events.

    Args:
        event: the event.
        family: how it was learned.
        reverse: False: more likely under D; True: under D′.
        hits: hits under D and D′.
        score: by which it is the best.
    """

    event: Event
    family: str
    reverse: bool
    hits: tuple[int, int]
    score: float


def threshold_events(candidates: Candidates, scale: Scale) -> None:
    """The threshold events above and below every edge."""
    plain = scale.axis.encoder.readable and isinstance(scale.axis, Column)
    for hits, ray, top in _rays(scale):

        def make(i: int, ray: Callable[[int], Interval] = ray) -> Event:
            return _on_axis(scale, (ray(i),))

        for reverse in (False, True):
            cost, most_rare = _stepped(scale, hits, top, reverse) if scale.stepped else (scale.cost, math.inf)
            if scale.both or reverse != top:
                candidates.offer(Group(
                    hits[0], hits[1], reverse, cost, scale.family, make, most_rare=most_rare, nested=True, plain=plain
                ))


def unions(candidates: Candidates, scale: Scale, atoms: Block, sizes: tuple[int, int]) -> None:
    """Unions of cells of an axis, coarse and fine, and of atoms off the axis, in order of likelihood ratio."""
    lone, lone_hits = _unscored(scale, atoms)
    if lone:
        _thresholds_with_atoms(candidates, scale, lone, lone_hits, sizes)
    ends = np.concatenate([[-np.inf], scale.edges, [np.inf]])
    cells = scale.hits.shape[2]
    for most, price in ((COARSE, ORDERED), (cells, ORDERED + FINE)):
        groups = _grouped(scale.hits.sum(axis=(0, 1)), most)
        coarse = np.stack([scale.hits[:, :, groups == g].sum(axis=2) for g in range(int(groups.max()) + 1)], axis=2)

        def make(chosen: Ints, groups: Ints = groups, size: int = coarse.shape[2]) -> Event:
            picked = set(chosen.tolist())
            intervals = _joined(ends, [cell for cell, group in enumerate(groups.tolist()) if group in picked])
            return _on_axis(scale, intervals, frozenset(lone[i - size] for i in picked if i >= size))

        both = np.concatenate([coarse, lone_hits], axis=2)
        _by_ratio(candidates, both, sizes, scale.cost + price, "bins", make)


def atom_sets(
    candidates: Candidates, atoms: Block, rows: Sequence[Block], sizes: tuple[int, int], *, last: bool = False,
    cost: float = 0.0,
) -> None:
    """Sets of atoms in order of likelihood ratio; all real outputs together count as one more atom.

    If this is the `last` choice and there are few atoms, empirical Bayes orders them and predicts their shares.

    Args:
        cost: nats for choosing a set of atoms at all.
    """
    values, times = list(atoms.values), atoms.times.astype(np.float64)
    if len(values) > MOST_ATOMS:
        kept = np.sort(np.argsort(-times.sum(axis=(0, 1)), kind="stable")[:MOST_ATOMS])
        values, times = [values[i] for i in kept.tolist()], times[:, :, kept]
    # among other outputs some have a score and some do not
    if rows and all(block.shape is not None for block in rows):
        real = sum((block.times.sum(axis=2, dtype=np.float64) for block in rows), np.zeros((2, FOLDS)))
        times = np.concatenate([times, real[:, :, None]], axis=2)

    def make(chosen: Ints) -> Event:
        picked = chosen.tolist()
        every = ((-math.inf, math.inf),) if len(values) in picked else ()
        return Event(frozenset(values[i] for i in picked if i < len(values)), every)

    if last and times.shape[2] <= SHRUNK_MOST:
        _shrunk_sets(candidates, times.sum(axis=1), sizes, make, cost)
    else:
        _by_ratio(candidates, times, sizes, cost + math.log(max(1.0, len(values) / FEW)), "atoms", make)


def _shrunk_sets(
    candidates: Candidates, hits: Floats, sizes: tuple[int, int], make: Callable[[Ints], Event], cost: float
) -> None:
    """Sets of atoms in the order of their shrunk ratios, from either end; hits of shape (2, atoms)."""
    for reverse in (False, True):
        more, less = hits[::-1] if reverse else hits
        order, predicted = sets(more, less, sizes[::-1] if reverse else sizes)

        def made(i: int, order: Ints = order) -> Event:
            return make(np.sort(order[: i + 1]))

        predicted = predicted.swapped() if reverse else predicted
        # the order was learned on all samples, so its own counts would be biased
        counts = (predicted.left * sizes[0], predicted.right * sizes[1])
        candidates.offer(Group(counts[0], counts[1], reverse, cost, "atoms", made, predicted=predicted))


def readable(event: Event, scales: Iterable[Scale], values: Sequence[Hashable]) -> Event:
    """A threshold event of one column that contains the same of these outputs as a set of atoms; else the set."""
    axes = [scale for scale in scales if isinstance(scale.axis, Column) and scale.axis.encoder.readable]
    inside = event.marks(values)
    if axes and inside.any() and not inside.all():
        # readable columns all have one encoder
        columns = axes[0].axis.encoder.encode(values)
        for scale in axes:
            scores = scale.axis.of(columns)
            marked, others = scores[inside], scores[~inside]
            others = others[~np.isnan(others)]
            if not len(others) or np.isnan(marked).any():
                continue
            if marked.min() > others.max():
                return _on_axis(scale, ((float(others.max()), math.inf),))
            if marked.max() < others.min():
                return _on_axis(scale, ((-math.inf, float(marked.max())),))
    return event


def _rays(scale: Scale) -> list[tuple[Floats, Callable[[int], Interval], bool]]:
    """The rays above and below every edge: hits of shape (2, edges), the i-th ray, and whether it is the upper one."""
    both = scale.hits.sum(axis=1)
    below = np.cumsum(both, axis=1)[:, :-1]
    above = both.sum(axis=1, keepdims=True) - below
    edges = scale.edges.tolist()
    return [(above, lambda i: (edges[i], math.inf), True), (below, lambda i: (-math.inf, edges[i]), False)]


def _stepped(scale: Scale, hits: Floats, top: bool, reverse: bool) -> tuple[Floats, Floats]:
    """Cost, and largest rarity cost, of the threshold events at one end of a stepped scale, shape (edges,) each.

    A rare threshold event competes only with the distinct ones that contain fewer samples. Among those that the other
    dataset never hit the largest is the best, so nothing is chosen; such scales typically reveal a dataset this way.

    Args:
        hits: shape (2, edges), decreasing in the index of the edge if `top`, else increasing.
    """
    forth = slice(None, None, -1 if top else 1)
    # two cuts with no samples between them count as one
    different = np.cumsum(np.diff(hits.sum(axis=0)[forth], prepend=0.0) > 0)[forth]
    unreached = hits[0 if reverse else 1] == 0
    return scale.cost - UNREACHED * unreached, np.where(unreached, 0.0, np.log1p(different))


def _unscored(scale: Scale, atoms: Block) -> tuple[list[Hashable], Floats]:
    """Atoms without a score on the scale whose unions they join, and their hits, shape (2, FOLDS, atoms)."""
    if not scale.unscored or not len(atoms.values):
        return [], np.zeros((2, FOLDS, 0))
    off = np.isnan(scale.axis.scores(atoms.values))
    lone = [value for value, is_off in zip(atoms.values, off, strict=True) if is_off]
    return lone, atoms.times[:, :, off].astype(np.float64)


def _thresholds_with_atoms(
    candidates: Candidates, scale: Scale, lone: Sequence[Hashable], lone_hits: Floats, sizes: tuple[int, int]
) -> None:
    """Threshold events together with all atoms that are more likely under the same dataset."""
    totals = lone_hits.sum(axis=1)
    leaning = (totals[0] + 0.5) / (sizes[0] + 1) > (totals[1] + 0.5) / (sizes[1] + 1)
    for reverse in (False, True):
        joined = frozenset(value for value, leans in zip(lone, leaning, strict=True) if bool(leans) != reverse)
        if not joined:
            continue
        extra = totals[:, leaning != reverse].sum(axis=1, keepdims=True)
        for hits, ray, _ in _rays(scale):

            def make(
                i: int, ray: Callable[[int], Interval] = ray, joined: frozenset[Hashable] = joined
            ) -> Event:
                return _on_axis(scale, (ray(i),), joined)

            counts = hits + extra
            candidates.offer(Group(counts[0], counts[1], reverse, scale.cost + JOINED, scale.family, make))


def _by_ratio(
    candidates: Candidates,
    cells: Floats,
    sizes: tuple[int, int],
    cost: float,
    family: str,
    make: Callable[[Ints], Event],
) -> None:
    """Cells in the order of their smoothed likelihood ratio: learned on all folds but one, counted on that one.

    Args:
        cells: hits, shape (2, FOLDS, cells).
        make: constructs the event from the indices of the chosen cells.
    """
    if cells.shape[2] < 2:
        return
    totals = cells.sum(axis=1)
    # cells that tie must stay together: their order in the table depends on the dataset where they first occurred
    scores = np.round(np.stack([log_ratios(totals - cells[:, fold], sizes) for fold in range(FOLDS)]), 9)
    final = np.round(log_ratios(totals, sizes), 9)
    for reverse in (False, True):
        # from here on, lower means more likely under the event's dataset
        sign = 1.0 if reverse else -1.0
        ranks, leaning = sign * scores.ravel(), sign * final
        order = np.argsort(ranks, kind="stable")
        x, y = (np.cumsum(cells[side].ravel()[order]) for side in (0, 1))
        # every level of the ratio that changes the final event, half-way to the next cell's ratio: at a cell's own
        # ratio, the folds that saw less of it would omit it
        levels = np.unique(leaning)
        levels = (levels[:-1] + levels[1:]) / 2
        if not len(levels):
            continue
        if len(levels) > LEVELS:
            levels = levels[np.unique(np.linspace(0, len(levels) - 1, LEVELS).astype(int))]
        at = np.searchsorted(ranks[order], levels, side="right") - 1

        def made(i: int, levels: Floats = levels, leaning: Floats = leaning) -> Event:
            return make(np.flatnonzero(leaning <= levels[i]))

        left, right = (np.where(at >= 0, of_its[at], 0.0) for of_its in (x, y))
        candidates.offer(Group(left, right, reverse, cost, family, made))


def _grouped(weights: Floats, most: int) -> Ints:
    """Adjacent cells in at most `most` groups of about equal weight, numbered from 0."""
    share = (np.cumsum(weights) - weights / 2) / max(1.0, float(weights.sum()))
    rough = np.minimum((share * most).astype(np.int64), most - 1) if most < len(weights) else np.arange(len(weights))
    return np.unique(rough, return_inverse=True)[1].astype(np.int64)


def _on_axis(scale: Scale, intervals: tuple[Interval, ...], atoms: frozenset[Hashable] = frozenset()) -> Event:
    ends = tuple((scale.threshold(low), scale.threshold(high)) for low, high in intervals)
    return Event(atoms, ends, axis=scale.axis)


def _joined(ends: Floats, chosen: Iterable[int]) -> tuple[Interval, ...]:
    """Cells joined into disjoint ascending intervals."""
    joined: list[Interval] = []
    for i in sorted(chosen):
        low, high = float(ends[i]), float(ends[i + 1])
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)
