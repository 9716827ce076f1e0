"""Finding what the packing argument needs: the colours of a learner's datasets, and vertices that all have one.

Ramsey's theorem says that a large enough domain has such vertices, for any learner; here they are searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from dpaudit.errors import ParameterError
from dpaudit.interpret import LawCache, law, sample
from dpaudit.language import IntegerRange, Mechanism
from dpaudit.language.checks import whole
from dpaudit_algorithms.lower_bounds.packing_game import Packing, PackingGame, balanced, interval_of

Colour = Callable[[tuple[Any, ...]], int]
"""From n ascending points to the index of an interval, 0, …, n − 2."""
MOST_EDGES = 20_000
"""More datasets than this are not looked at."""
TRIALS = 32
"""Datasets by which the order of the colours is settled."""


def shares(answers: Mapping[Hashable, float], points: tuple[Any, ...], lower: int = 0) -> list[float]:
    """The share of a distribution, or of counts, in each interval of n points, shape (n − 1,)."""
    totals = [0.0] * (len(points) - 1)
    for answer, mass in answers.items():
        for value, share in _members(answer):
            place = interval_of(value, points, lower)
            if place is not None:
                totals[place] += mass * share
    return totals


@dataclass
class Colouring:
    """The colour of balanced datasets: the interval that holds most of the answers, the first of equals.

    Args:
        subject: a learner of thresholds.
        lower: label of the lower half (see `Packing`).
        runs: colour by this many samples; exactly without it.
        seed: of the runs; every dataset has a seed of its own.
    """

    subject: Mechanism
    lower: int = 0
    runs: int | None = None
    seed: int = 0
    known: dict[tuple[Any, ...], int] = field(default_factory=dict)
    cache: LawCache = field(default_factory=LawCache)

    def __call__(self, points: tuple[Any, ...]) -> int:
        """Colour of the balanced dataset on ascending points.

        Raises:
            NotEnumerableError: no exact distribution, and no runs were requested.
        """
        if points not in self.known:
            masses = shares(self._answers(points), points, self.lower)
            self.known[points] = int(np.argmax(masses))
        return self.known[points]

    def _answers(self, points: tuple[Any, ...]) -> Mapping[Hashable, float]:
        dataset = balanced(points, self.lower)
        if self.runs is None:
            return law(self.subject, dataset, cache=self.cache).as_dict()
        seed = np.random.SeedSequence(self.seed, spawn_key=(len(self.known),))
        outputs = sample(self.subject, dataset, self.runs, seed=seed)
        counts: Counter[Hashable] = Counter()
        for answer, times in outputs.each():
            counts[answer] += times
        return counts


@dataclass(frozen=True)
class Clique:
    """The result of a search for points of one colour.

    Args:
        points: ascending; () if none were found.
        colour: of all their datasets.
        complete: whether there are none, where none were found.
    """

    points: tuple[Any, ...]
    colour: int
    complete: bool


def monochromatic(
    domain: Sequence[Any], records: int, vertices: int, colour: Colour, *, limit: int = MOST_EDGES
) -> Clique:
    """Points of a domain such that every `records` have the same colour.

    A backtracking search in the order of the domain: a point is taken if all datasets that it makes with the points
    taken have the wanted colour. Every colour is tried, first those that some datasets all over the domain have
    often, each with an equal share of the limit.

    Args:
        domain: the points.
        records: in a dataset, n.
        vertices: points wanted, ≥ n.
        colour: of ascending points.
        limit: most datasets to look at.

    Raises:
        ParameterError: fewer vertices than records.
    """
    if vertices < records:
        raise ParameterError(f"vertices must be at least the number of records, {records}, not {vertices}.")
    order, complete = sorted(set(domain)), True
    for wanted in _by_frequency(order, records, colour):
        search = _Search(records, vertices, colour, wanted, limit // (records - 1))
        points = search.grown((), order)
        if points:
            return Clique(points, wanted, True)
        complete = complete and search.left > 0
    return Clique((), 0, complete)


@dataclass
class _Search:
    """For points of one colour; `left` is how many datasets may still be looked at."""

    records: int
    vertices: int
    colour: Colour
    wanted: int
    left: int

    def grown(self, taken: tuple[Any, ...], rest: list[Any]) -> tuple[Any, ...]:
        """The points taken and more, all of one colour; () if there are none."""
        if len(taken) == self.vertices:
            return taken
        for at, point in enumerate(rest):
            if len(taken) + len(rest) - at < self.vertices or self.left <= 0:
                return ()
            if all(self._fits((*others, point)) for others in combinations(taken, self.records - 1)):
                points = self.grown((*taken, point), rest[at + 1 :])
                if points:
                    return points
        return ()

    def _fits(self, points: tuple[Any, ...]) -> bool:
        self.left -= 1
        return self.colour(points) == self.wanted


def _by_frequency(order: list[Any], records: int, colour: Colour) -> list[int]:
    """All colours, the more frequent ones first."""
    if len(order) < records:
        return []
    rng = np.random.default_rng(0)
    trials = (sorted(rng.choice(len(order), records, replace=False).tolist()) for _ in range(TRIALS))
    seen = Counter(colour(tuple(order[i] for i in places)) for places in trials)
    return sorted(range(records - 1), key=lambda c: (-seen[c], c))


@dataclass(frozen=True)
class Found:
    """The result of a search for a packing.

    Args:
        game: to be audited on its two sides; None where nothing was found.
        text: a sentence about it.
        coloured: how many datasets were coloured.
    """

    game: PackingGame | None
    text: str
    coloured: int


def packing_pair(
    subject: Mechanism,
    domain: Sequence[Any],
    records: int,
    *,
    vertices: int | None = None,
    lower: int = 0,
    runs: int | None = None,
    seed: int = 0,
    limit: int = MOST_EDGES,
) -> Found:
    """A set of vertices of one colour for a learner, and the game that holds it against all their datasets at once.

    Args:
        subject: a learner of thresholds: examples (x, y) to a threshold.
        domain: the points that may be vertices.
        records: n, even, ≥ 2.
        vertices: how many are wanted; 15n as printed without it (14n − 1 are used there, for J = 13n datasets).
        lower: 0 where c_t(x) = 1 iff x ≥ t, 1 where c_t(x) = 1 iff x ≤ t.
        runs: colour by this many samples, if there is no exact distribution.
        seed: of those runs.
        limit: most datasets to look at.

    Raises:
        ParameterError: odd records, or too few vertices.
        NotEnumerableError: the learner has no exact distribution, and no runs were requested.

    Source: Sivakumar, section 3.2, proof of Theorem 3.4.
    """
    if whole("records", records, least=2) % 2:
        raise ParameterError(f"records must be even for balanced datasets, not {records}.")
    wanted = 15 * records if vertices is None else whole("vertices", vertices, least=records)
    colouring = Colouring(subject, lower, runs, seed)
    clique = monochromatic(domain, records, wanted, colouring, limit=limit)
    coloured = len(colouring.known)
    if not clique.points:
        some = "No" if clique.complete else f"Before the limit of {limit:,} datasets was reached, no"
        text = f"{some} {wanted} of the {len(set(domain))} points have one colour in all their datasets of {records}."
        return Found(None, text, coloured)
    packing = Packing(clique.points, records, clique.colour, lower)
    text = (
        f"Of the datasets of {records} of {wanted} points all have the most likely answer in interval {clique.colour} "
        f"({coloured:,} coloured): {packing.size} datasets within two records of one, with disjoint answers."
    )
    return Found(PackingGame(subject, packing), text, coloured)


def _members(answer: Any) -> Iterable[tuple[Any, float]]:
    """Answers with their shares of a mass: those of a span, one by one."""
    if isinstance(answer, IntegerRange):
        return ((value, 1 / answer.size) for value in range(answer.start, answer.stop))
    return ((answer, 1.0),)
