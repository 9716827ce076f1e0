"""Declared symmetries of a mechanism: confirmed on some datasets of a scope, then used on all of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import SymmetryError, TimeLimitError
from dpaudit.evidence.kept_laws import Part
from dpaudit.interpret import LawCache, NotOnExact, first_difference, interval_law
from dpaudit.interpret.interval_ranges import cuts_of
from dpaudit.interpret.range_laws import has_ranges
from dpaudit.language import Dataset, Mechanism, Multiset, Relation, Symmetry
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.stats.arrays import IntArray
from dpaudit.subjects.user_errors import described

Ints = IntArray

CONFIRMED_ON = 32
"""Datasets of a scope on which each symmetry is confirmed: half of them such that it leaves as they are, because there
a rule for ties shows, and half of them others, as far as there are any."""
ORDERS_TRIED = 8
"""Datasets of which the rows are turned round, to see whether their order matters."""
LONGEST_ROWS = 10_000
PATHS = 200_000


@dataclass(frozen=True)
class Action:
    """Symmetries as they act on the datasets of a domain.

    Args:
        symmetries: of which every composition is one too.
        records: of each, record → record, a permutation of the domain.
    """

    symmetries: tuple[Symmetry, ...] = ()
    records: tuple[dict[object, object], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Each name once."""
        return tuple(dict.fromkeys(symmetry.name for symmetry in self.symmetries))

    def only(self, kept: Callable[[Symmetry], bool]) -> Action:
        """Some of the symmetries."""
        both = [(s, r) for s, r in zip(self.symmetries, self.records, strict=True) if kept(s)]
        return Action(tuple(s for s, _ in both), tuple(r for _, r in both))


@dataclass(frozen=True)
class Orbits:
    """Datasets that symmetries make equal.

    Args:
        first: of every dataset, the number of the first one of its orbit, shape (datasets,).
        size: of every dataset, how many are in its orbit, shape (datasets,).
        path: (dataset, the one that it is the image of, by which symmetry): for all that are not the first of their
            orbit, and those after the dataset that they come from.
    """

    first: Ints
    size: Ints
    path: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def of(cls, datasets: Sequence[Dataset], action: Action) -> Orbits:
        """The orbits of datasets, of which every image is among them."""
        alone = np.arange(len(datasets))
        if not action.symmetries:
            return cls(alone, np.ones_like(alone))
        numbers = {dataset: at for at, dataset in enumerate(datasets)}
        images = [[numbers[moved(dataset, records)] for dataset in datasets] for records in action.records]
        first, path = np.full(len(datasets), -1), list[tuple[int, int, int]]()
        smallest: list[int] = first.tolist()
        for start in range(len(datasets)):
            if smallest[start] >= 0:
                continue
            smallest[start] = start
            waiting = deque([start])
            while waiting:
                at = waiting.popleft()
                for by, image in enumerate(images):
                    if smallest[image[at]] < 0:
                        smallest[image[at]] = start
                        path.append((image[at], at, by))
                        waiting.append(image[at])
        first = np.array(smallest, dtype=np.int64)
        return cls(first, np.bincount(first, minlength=len(datasets))[first], tuple(path))

    @property
    def firsts(self) -> Ints:
        """The first dataset of every orbit, ascending."""
        return np.flatnonzero(self.first == np.arange(len(self.first)))


def moved(dataset: Dataset, records: dict[object, object]) -> Dataset:
    """A dataset with every record replaced by its image."""
    if isinstance(dataset, Multiset):
        return Multiset(tuple(sorted((records[value], count) for value, count in dataset.items)))
    return tuple(records[value] for value in dataset)


def declared(mechanism: Mechanism, relation: Relation, domain: Sequence[object]) -> Action:
    """The symmetries of a mechanism that permute the records of the domain and keep neighbours neighbours."""
    if not relation.of_records or not _of_its_run(mechanism):
        return Action()
    symmetries, maps = [], []
    known = set(domain)
    try:
        for symmetry in mechanism.symmetries(domain):
            records = {record: symmetry.record(record) for record in domain}
            # one that moves no record makes no two datasets equal
            if set(records.values()) == known and any(a != b for a, b in records.items()):
                symmetries.append(symmetry)
                maps.append(records)
    except (TypeError, ValueError, LookupError, AttributeError):
        # records that the mechanism does not take: its law says so in its own words
        return Action()
    return Action(tuple(symmetries), tuple(maps))


def _of_its_run(mechanism: Mechanism) -> bool:
    """Whether `symmetries` was written for its `run`, and not for one that a subclass has replaced."""
    kinds = type(mechanism).__mro__
    run, symmetries = (
        next(at for at, kind in enumerate(kinds) if name in vars(kind)) for name in ("run", "symmetries")
    )
    return symmetries <= run


def confirmed(
    mechanism: Mechanism, action: Action, datasets: Sequence[Dataset], name: str, cache: LawCache
) -> tuple[Action, int]:
    """The symmetries that can be used on these datasets, and on how many of them each was confirmed at least.

    The laws of a dataset and its image are compared in interval arithmetic; symmetries that do not act on laws with
    integer ranges are left out where there are such.

    Raises:
        SymmetryError: one that is declared does not hold.
    """
    usable, tried = list[Symmetry](), list[int]()
    for symmetry, records in zip(action.symmetries, action.records, strict=True):
        chosen = _spread(datasets, records)
        holds = [_holds(mechanism, symmetry, dataset, moved(dataset, records), cache, name) for dataset in chosen]
        if all(holds):
            usable.append(symmetry)
            tried.append(len(chosen))
    return action.only(usable.__contains__), min(tried, default=0)


def _spread(datasets: Sequence[Dataset], records: dict[object, object]) -> list[Dataset]:
    """Datasets to confirm a symmetry on, from all over the scope; the same ones every time."""
    stays, moves = list[Dataset](), list[Dataset]()
    # of a large scope every few datasets will do; a step without small divisors does not follow the scope's own rhythm
    step = max(1, len(datasets) // (64 * CONFIRMED_ON))
    for dataset in datasets[:: step if step == 1 else step | 1]:
        (stays if moved(dataset, records) == dataset else moves).append(dataset)
    half = CONFIRMED_ON // 2
    few = min(len(stays), max(half, CONFIRMED_ON - len(moves)))
    return [*_evenly(stays, few), *_evenly(moves, CONFIRMED_ON - few)]


def _evenly(items: list[Dataset], most: int) -> list[Dataset]:
    if len(items) <= most:
        return items
    return [items[at] for at in np.linspace(0, len(items) - 1, most).round().astype(int).tolist()] if most else []


def _holds(
    mechanism: Mechanism, symmetry: Symmetry, dataset: Dataset, image: Dataset, cache: LawCache, name: str
) -> bool:
    """Whether it acts on the law of this dataset; where it does, its image must be the image's law.

    Raises:
        SymmetryError: it is not.
    """
    laws = [interval_law(mechanism, each, cache=cache, path_limit=PATHS) for each in (dataset, image)]
    before, after = (law.as_dict() for law in laws)
    if not symmetry.moves_ranges and has_ranges((*before, *after)):
        return False
    try:
        difference = first_difference(before, after, symmetry)
        same = {symmetry.on(outcome): text for outcome, text in laws[0].forms.items()} == laws[1].forms
    except Exception as error:
        raise SymmetryError(
            f"{name} declares the symmetry {symmetry.name!r}, which fails on an output of {dataset!r} "
            f"({described(error)}); fix `symmetries` or remove it."
        ) from error
    if difference is not None:
        outcome, there, here = difference
        raise SymmetryError(
            f"{name} declares the symmetry {symmetry.name!r}, which does not hold: {outcome!r} has probability "
            f"{here:.6g} on {image!r}, and its preimage has probability {there:.6g} on {dataset!r}; fix "
            "`symmetries` or remove it."
        )
    # if types of outputs distinguish a dataset from its image, the symmetry is not used
    return same


def order_seen(mechanism: Mechanism, datasets: Sequence[Dataset], cache: LawCache) -> tuple[object, ...] | None:
    """A sequence whose law is not that of its multiset: some multisets are turned round and tried.

    None where there is none among them, or the mechanism takes multisets alone.
    """
    several: list[Dataset] = [
        dataset
        for dataset in datasets
        if isinstance(dataset, Multiset) and len(dataset.items) > 1 and len(dataset) <= LONGEST_ROWS
    ]
    apart = LawCache(cache.doubles)
    for dataset in _evenly(several, ORDERS_TRIED):
        rows = tuple(dataset)[::-1]
        try:
            # apart: the types of its outputs are no others' than those of this order
            turned = interval_law(mechanism, rows, cache=apart, path_limit=PATHS)
        except (TimeLimitError, NotOnExact):
            raise
        except Exception:
            return None
        law = interval_law(mechanism, dataset, cache=cache, path_limit=PATHS)
        if law.forms != turned.forms or first_difference(law.as_dict(), turned.as_dict(), None) is not None:
            return rows
    return None


def moves_all(action: Action, parts: Iterable[Part]) -> bool:
    """Whether all symmetries act on laws with these outcomes."""
    return all(s.moves_ranges for s in action.symmetries) or not any(has_ranges(part.outcomes) for part in parts)


# --- outcomes ---------------------------------------------------------------------------------------------------------


def closed_cuts(outcomes: Iterable[Hashable], symmetries: Sequence[Symmetry], most: int) -> list[int]:
    """Where integer ranges are cut so that symmetries permute the pieces, ascending; at most so many."""
    values = list(dict.fromkeys(outcomes))
    # of whole numbers too: where the image of one lies in a range, it is cut out of it
    ranges = sorted((min(both), max(both)) for value in values if (both := cuts_of([value])))
    cuts = cuts_of(values) | {cut for symmetry in symmetries for cut in symmetry.cuts or ()}
    while len(cuts) <= most:
        ends = sorted(cuts)
        inside = _covered(ends, ranges)
        new = {
            end
            for symmetry in symmetries
            for piece in inside
            for end in cuts_of([symmetry.on(piece)])
        } - cuts
        if not new:
            return ends
        cuts |= new
    raise SymmetryError(
        f"Symmetries cut the outputs into more than {most:,} pieces; make the domain smaller, or fix `symmetries`."
    )


def _covered(ends: list[int], ranges: list[tuple[int, int]]) -> list[IntegerRange]:
    """The pieces between neighbouring ends that lie in some range (start, stop); ranges ascend."""
    covered, at, reached = [], 0, None
    for low, high in pairwise(ends):
        while at < len(ranges) and ranges[at][0] <= low:
            reached = ranges[at][1] if reached is None else max(reached, ranges[at][1])
            at += 1
        if reached is not None and high <= reached:
            covered.append(IntegerRange(low, high))
    return covered


def closed(outcomes: Sequence[Hashable], symmetries: Sequence[Symmetry], most: int) -> tuple[Hashable, ...]:
    """The outcomes and all their images, so that symmetries permute them."""
    reached = dict.fromkeys(outcomes)
    edge: list[Hashable] = list(reached)
    while edge and len(reached) <= most:
        images = dict.fromkeys(symmetry.on(outcome) for symmetry in symmetries for outcome in edge)
        edge = [image for image in images if image not in reached]
        reached.update(dict.fromkeys(edge))
    if edge:
        raise SymmetryError(f"Symmetries map {len(outcomes):,} outputs to more than {most:,}; fix `symmetries`.")
    return tuple(reached)


def turns(
    outcomes: Sequence[Hashable], symmetries: Sequence[Symmetry], orbits: Orbits
) -> tuple[NDArray[np.int32], Ints]:
    """How to read the law of a dataset from that of the first dataset of its orbit.

    Returns:
        columns, shape (k, outcomes), and which of these rows each dataset takes, shape (datasets,): the probability of
        outcome c on dataset T is that of outcome columns[turn[T], c] on the first of its orbit.

    Raises:
        SymmetryError: a symmetry maps two outcomes to one.
    """
    place = {outcome: at for at, outcome in enumerate(outcomes)}
    backward = []
    for symmetry in symmetries:
        # outcome h of a dataset is outcome symmetry.on(h) of its image
        forward = np.array([place[symmetry.on(outcome)] for outcome in outcomes], dtype=np.int32)
        back = np.full(len(place), -1, dtype=np.int32)
        back[forward] = np.arange(len(place))
        if np.any(back < 0):
            raise SymmetryError(f"The symmetry {symmetry.name!r} maps two outputs to one; fix `symmetries`.")
        backward.append(back)
    columns = [np.arange(len(place), dtype=np.int32)]
    known = {columns[0].tobytes(): 0}
    after: dict[tuple[int, int], int] = {}
    turn: list[int] = [0] * len(orbits.first)
    for dataset, origin, by in orbits.path:
        step = (turn[origin], by)
        if step not in after:
            column = columns[step[0]][backward[by]]
            after[step] = known.setdefault(column.tobytes(), len(columns))
            if after[step] == len(columns):
                columns.append(column)
        turn[dataset] = after[step]
    return np.stack(columns), np.array(turn, dtype=np.int64)
