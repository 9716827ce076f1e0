"""Events in the making: half-lines of a scale, unions of its cells, and sets of atoms, each with its counts.

Cells and atoms are put in the order of their likelihood ratio on all folds but one and counted on that one, so that the
counts of a union are those of fresh runs but for the choice among the few unions of that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpaudit.adversary.events.blocks import FOLDS, Block, Ints
from dpaudit.adversary.events.empirical_bayes import sets
from dpaudit.adversary.events.event import Event, Interval
from dpaudit.adversary.events.optimistic_bound import log_ratios, rarity
from dpaudit.adversary.events.scales import Scale
from dpaudit.adversary.events.tail_extrapolation import Foreseen, foresee
from dpaudit.outputs.columns import Floats
from dpaudit.stats.arrays import BoolArray

LEVELS = 100
"""Levels of the likelihood ratio at which an order of cells is cut, at most."""
COARSE = 10
"""Cells of the coarser of a scale's two orders."""
MOST_ATOMS = 20_000
"""Atoms that have a cell of their own; rarer ones are in no event of atoms."""
FEW = 8
"""Atoms up to which their order costs nothing."""
FORESEEN = 4
"""Half-lines of a scale from one end, and in one direction, of which so many are foreseen."""
SHRUNK_MOST = 64
"""Atoms up to which fresh shares are foreseen by shrinkage. Of many atoms most are rare, and often differ more than
common ones do; one prior for all does not know that, and its error is in every atom of a set alike."""
JOINED = 1.0
"""Nats that atoms beside a half-line cost."""
ORDERED = 3.0
"""Nats that the order of a few cells costs: it takes more than one choice."""
FINE = 2.0
"""Nats that the order of all cells costs more."""
UNREACHED = 2.0
"""Nats in favour of a half-line of a stepped scale into which the other side has never fallen."""


@dataclass(frozen=True)
class Offers:
    """Events in one direction, arrays of shape (k,).

    Args:
        x: hits on the side where they are likelier, of n runs.
        y: hits on the other side, of m runs.
        cost: nats that the choice within their families costs; below 0 where an event is favoured.
        rarity: nats that their being rare costs.
        foreseen: what is expected in fresh runs, with the side of x on its left.
    """

    x: Floats
    n: int
    y: Floats
    m: int
    cost: Floats
    rarity: Floats
    foreseen: Foreseen


Worth = Callable[[Offers], tuple[Floats, Floats]]
"""What events are worth, and what decides among equals."""
Hope = Callable[[Floats, int, Floats, int], Floats]
"""(hits where events are likelier, of so many runs, hits on the other side, of so many) → what they promise at best."""


@dataclass
class Candidates:
    """Counts of many events on the left and on the right, and how to make each."""

    left: list[Floats] = field(default_factory=list)
    right: list[Floats] = field(default_factory=list)
    cost: list[Floats] = field(default_factory=list)
    most_rare: list[Floats] = field(default_factory=list)
    reverse: list[BoolArray] = field(default_factory=list)
    foreseen: list[Foreseen] = field(default_factory=list)
    nested: list[bool] = field(default_factory=list)
    makers: list[tuple[int, Callable[[int], Event], str]] = field(default_factory=list)

    def offer(
        self, left: Floats, right: Floats, reverse: bool, cost: Floats | float, family: str,
        make: Callable[[int], Event], *, most_rare: Floats | float = math.inf, foreseen: Foreseen | None = None,
        nested: bool = False,
    ) -> None:
        """Some events of one kind; `make(i)` gives the i-th, whose rarity costs `most_rare` at most.

        Where they are `nested` half-lines of a scale, the rare ones can be foreseen from the others.
        """
        if len(left):
            self.nested.append(nested)
            self.foreseen.append(foreseen or Foreseen.nothing(len(left)))
            self.left.append(left)
            self.right.append(right)
            self.cost.append(np.broadcast_to(cost, (len(left),)))
            self.most_rare.append(np.broadcast_to(most_rare, (len(left),)))
            self.reverse.append(np.full(len(left), reverse))
            self.makers.append((len(left), make, family))

    def at(self, index: int) -> tuple[Event, str]:
        """The event of this number, and its family."""
        for size, make, family in self.makers:
            if index < size:
                return make(index), family
            index -= size
        raise IndexError(index)

    def foresee(self, sizes: tuple[int, int], hope: Hope) -> None:
        """Foresee the half-lines of the few scales that promise most; it takes long.

        Args:
            sizes: runs on the left and on the right.
            hope: what nested events promise at best.
        """
        promises: list[tuple[float, int]] = []
        for at, nested in enumerate(self.nested):
            if nested:
                sides = ((self.left[at], sizes[0]), (self.right[at], sizes[1]))
                (x, n), (y, m) = sides[::-1] if self.reverse[at][0] else sides
                promises.append((float(hope(x, n, y, m).max()), at))
        for promise, at in sorted(promises, reverse=True)[:FORESEEN]:
            if promise > 0:
                self.foreseen[at] = foresee(self.left[at], self.right[at], sizes)

    def best(self, sizes: tuple[int, int], worth: Worth) -> Chosen | None:
        """The event that is worth most, then decides most; None where there is none.

        Args:
            sizes: runs on the left and on the right.
        """
        if not self.left:
            return None
        left, right = np.concatenate(self.left), np.concatenate(self.right)
        reverse, cost = np.concatenate(self.reverse), np.concatenate(self.cost)
        rare = np.minimum(rarity((left + right) / sum(sizes)), np.concatenate(self.most_rare))
        foreseen = Foreseen.joined(self.foreseen)
        best: tuple[float, float, int] | None = None
        for backwards in (False, True):
            where = np.flatnonzero(reverse == backwards)
            if not len(where):
                continue
            sides = ((left[where], sizes[0]), (right[where], sizes[1]))
            (x, n), (y, m) = sides[::-1] if backwards else sides
            told = foreseen.of(where, reverse=backwards)
            first, second = worth(Offers(x, n, y, m, cost[where], rare[where], told))
            at = int(np.lexsort((second, first))[-1])
            key = (float(first[at]), float(second[at]), int(where[at]))
            if best is None or key[:2] > best[:2]:
                best = key
        assert best is not None
        index = best[2]
        event, family = self.at(index)
        hits = (round(float(left[index])), round(float(right[index])))
        return Chosen(event, bool(reverse[index]), hits, family, float(cost[index]), float(rare[index]))


@dataclass(frozen=True)
class Chosen:
    """The best of many events.

    Args:
        event: the event.
        reverse: False: likelier on the left; True: on the right.
        hits: on the left and on the right.
        family: where it comes from.
        cost: nats that the choice within its family costs; below 0 where the event is favoured.
        rarity: nats that its being rare costs.
    """

    event: Event
    reverse: bool
    hits: tuple[int, int]
    family: str
    cost: float
    rarity: float


def half_lines(found: Candidates, scale: Scale) -> None:
    """Above and below every edge."""
    for hits, ray, top in _rays(scale):

        def make(i: int, ray: Callable[[int], Interval] = ray) -> Event:
            return _on_axis(scale, (ray(i),))

        for reverse in (False, True):
            cost, most_rare = _stepped(scale, hits, top, reverse) if scale.stepped else (scale.cost, math.inf)
            if scale.both or reverse != top:
                found.offer(
                    hits[0], hits[1], reverse, cost, scale.family, make, most_rare=most_rare, nested=True
                )


def unions(found: Candidates, scale: Scale, atoms: Block, sizes: tuple[int, int]) -> None:
    """Cells of an axis, coarse and fine, and atoms that are not on it, in order of likelihood ratio."""
    lone, lone_hits = _unscored(scale, atoms)
    if lone:
        _half_lines_with_atoms(found, scale, lone, lone_hits, sizes)
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
        _by_ratio(found, both, sizes, scale.cost + price, "bins", make)


def atom_sets(
    found: Candidates, atoms: Block, rows: Sequence[Block], sizes: tuple[int, int], *, last: bool = False
) -> None:
    """Atoms in order of likelihood ratio; all real outputs together are one more.

    When it is the `last` time, a few atoms are in the order of shrunk ratios, and foreseen by them.
    """
    values, times = list(atoms.values), atoms.times.astype(np.float64)
    if len(values) > MOST_ATOMS:
        kept = np.sort(np.argsort(-times.sum(axis=(0, 1)), kind="stable")[:MOST_ATOMS])
        values, times = [values[i] for i in kept.tolist()], times[:, :, kept]
    # of other outputs some have a score and some have none
    if rows and all(block.shape is not None for block in rows):
        real = sum((block.times.sum(axis=2, dtype=np.float64) for block in rows), np.zeros((2, FOLDS)))
        times = np.concatenate([times, real[:, :, None]], axis=2)

    def make(chosen: Ints) -> Event:
        picked = chosen.tolist()
        every = ((-math.inf, math.inf),) if len(values) in picked else ()
        return Event(frozenset(values[i] for i in picked if i < len(values)), every)

    if last and times.shape[2] <= SHRUNK_MOST:
        _shrunk_sets(found, times.sum(axis=1), sizes, make)
    else:
        _by_ratio(found, times, sizes, math.log(max(1.0, len(values) / FEW)), "atoms", make)


def _shrunk_sets(found: Candidates, hits: Floats, sizes: tuple[int, int], make: Callable[[Ints], Event]) -> None:
    """Atoms in the order of their shrunk ratios from either end; hits of shape (2, atoms)."""
    for reverse in (False, True):
        sides = hits[::-1] if reverse else hits
        order, foreseen = sets(sides[0], sides[1], sizes[::-1] if reverse else sizes)

        def made(i: int, order: Ints = order) -> Event:
            return make(np.sort(order[: i + 1]))

        foreseen = foreseen.swapped() if reverse else foreseen
        # the order was learned on all runs: its own counts would flatter it
        counts = (foreseen.left * sizes[0], foreseen.right * sizes[1])
        found.offer(counts[0], counts[1], reverse, 0.0, "atoms", made, foreseen=foreseen)


def _rays(scale: Scale) -> list[tuple[Floats, Callable[[int], Interval], bool]]:
    """Above and below every edge: hits of shape (2, edges), the i-th half-line, and whether it is the upper one."""
    both = scale.hits.sum(axis=1)
    below = np.cumsum(both, axis=1)[:, :-1]
    above = both.sum(axis=1, keepdims=True) - below
    edges = scale.edges.tolist()
    return [(above, lambda i: (edges[i], math.inf), True), (below, lambda i: (-math.inf, edges[i]), False)]


def _stepped(scale: Scale, hits: Floats, top: bool, reverse: bool) -> tuple[Floats, Floats]:
    """Cost, and largest cost of rarity, of the half-lines from one end of a scale of few steps, shape (edges,) each.

    A rare half-line is one of no more than there are different ones that hold less. Of those that the other side never
    reached the largest is the best, so there is no choice; and that is how such scales give a dataset away.

    Args:
        hits: shape (2, edges), shrinking with the number of the edge where `top`, else growing.
    """
    forth = slice(None, None, -1 if top else 1)
    # two cuts with nothing between them are one
    different = np.cumsum(np.diff(hits.sum(axis=0)[forth], prepend=0.0) > 0)[forth]
    unreached = hits[0 if reverse else 1] == 0
    return scale.cost - UNREACHED * unreached, np.where(unreached, 0.0, np.log1p(different))


def _unscored(scale: Scale, atoms: Block) -> tuple[list[Hashable], Floats]:
    """Atoms that have no score on a scale whose unions they join, and their hits, shape (2, FOLDS, atoms)."""
    if not scale.unscored or not len(atoms.values):
        return [], np.zeros((2, FOLDS, 0))
    off = np.isnan(scale.axis.scores(atoms.values))
    lone = [value for value, is_off in zip(atoms.values, off, strict=True) if is_off]
    return lone, atoms.times[:, :, off].astype(np.float64)


def _half_lines_with_atoms(
    found: Candidates, scale: Scale, lone: Sequence[Hashable], lone_hits: Floats, sizes: tuple[int, int]
) -> None:
    """Half-lines together with all atoms that lean to the same side."""
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
            found.offer(counts[0], counts[1], reverse, scale.cost + JOINED, scale.family, make)


def _by_ratio(
    found: Candidates, cells: Floats, sizes: tuple[int, int], cost: float, family: str, make: Callable[[Ints], Event]
) -> None:
    """Cells in the order of their smoothed likelihood ratio: learned on all folds but one, counted on that one.

    Args:
        cells: hits, shape (2, FOLDS, cells).
        make: from the numbers of the chosen cells to the event.
    """
    if cells.shape[2] < 2:
        return
    totals = cells.sum(axis=1)
    # cells that tie must stay together: their order in the table tells on which side they came first
    scores = np.round(np.stack([log_ratios(totals - cells[:, fold], sizes) for fold in range(FOLDS)]), 9)
    final = np.round(log_ratios(totals, sizes), 9)
    for reverse in (False, True):
        # from here on, the lower the likelier on the event's side
        sign = 1.0 if reverse else -1.0
        ranks, leaning = sign * scores.ravel(), sign * final
        order = np.argsort(ranks, kind="stable")
        x, y = (np.cumsum(cells[side].ravel()[order]) for side in (0, 1))
        # every level of the ratio that makes a difference to the final event, half-way to the next cell's: at a cell's
        # own ratio the folds that saw less of it would leave it out
        levels = np.unique(leaning)
        levels = (levels[:-1] + levels[1:]) / 2
        if not len(levels):
            continue
        if len(levels) > LEVELS:
            levels = levels[np.unique(np.linspace(0, len(levels) - 1, LEVELS).astype(int))]
        at = np.searchsorted(ranks[order], levels, side="right") - 1

        def made(i: int, levels: Floats = levels, leaning: Floats = leaning) -> Event:
            return make(np.flatnonzero(leaning <= levels[i]))

        found.offer(np.where(at >= 0, x[at], 0.0), np.where(at >= 0, y[at], 0.0), reverse, cost, family, made)


def _grouped(weights: Floats, most: int) -> Ints:
    """Neighbouring cells in at most so many groups of about equal weight, numbered from 0."""
    share = (np.cumsum(weights) - weights / 2) / max(1.0, float(weights.sum()))
    rough = np.minimum((share * most).astype(np.int64), most - 1) if most < len(weights) else np.arange(len(weights))
    return np.unique(rough, return_inverse=True)[1].astype(np.int64)


def _on_axis(scale: Scale, intervals: tuple[Interval, ...], atoms: frozenset[Hashable] = frozenset()) -> Event:
    return Event(atoms, intervals, axis=scale.axis)


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
