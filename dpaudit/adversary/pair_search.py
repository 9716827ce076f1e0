"""Search for pairs of datasets that show a claim to be false, when nothing is known of the program but its outputs.

First what a good tester tries by hand (`starting_pairs`), then small changes of what looks best so far (`mutations`),
kept or dropped by an estimated bound (`climb`). Nothing here runs a mechanism: the caller's `score` does, and since it
is an estimate from runs, what the search returns is a suggestion; the verdict needs fresh runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mode

from numpy.random import Generator

from dpaudit.adversary.describe import Records
from dpaudit.adversary.mutations import mutations
from dpaudit.adversary.pairs import Pair
from dpaudit.adversary.starting_pairs import RANDOM, random_related_pairs, starting_pairs
from dpaudit.language import Dataset, Relation

__all__ = ["Climbed", "Scored", "climb", "mutations", "starting_pairs"]

CHILDREN = 6
"""Mutations of every kept pair in a round of a climb; `RANDOM` new random pairs come to them."""


@dataclass(frozen=True)
class Scored:
    """A pair with the last estimate of its bound, and the effort of that estimate."""

    pair: Pair
    score: float
    effort: int


@dataclass(frozen=True)
class Climbed:
    """Where a climb stands.

    Args:
        best: the kept pairs, best first.
        rounds: rounds that are done; the starting pairs are the first.
        calls: calls of `score` so far.
        work: their efforts, added up.
    """

    best: tuple[Scored, ...]
    rounds: int
    calls: int
    work: int


def climb(
    starts: Sequence[Pair],
    score: Callable[[Pair, int], float],
    *,
    relation: Relation,
    records: Records,
    rng: Generator,
    rounds: int = 12,
    width: int = 4,
    patience: int = 4,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Climbed]:
    """Beam search for the pair of the highest estimated bound; yields where it stands after every round.

    A round scores its candidates at effort 1, the better half again at effort 2, and so on until `width` are left
    (successive halving: Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013). Pairs
    kept from the round before compete again from effort 1, so that a lucky estimate does not survive.

    Args:
        starts: pairs of the first round.
        score: (pair, effort) → estimated bound from fresh runs, as many as the effort (1, 2, 4, …) says; NaN counts
            as −∞. The same pair is asked again and again, and must get new runs every time.
        relation, records: where mutations stay.
        rng: for mutations and for ties; the climb is a function of it and of the scores.
        rounds: at most so many, the first one included.
        width: pairs that are kept.
        patience: rounds without a new best pair after which it ends.
        stop: asked before every call of `score`; once it says True, the round is left unfinished. The last state
            then holds the pairs of the last complete round (of the first one, what has been scored).
    """
    if not starts:
        return
    size = mode(len(pair.left) for pair in starts)
    race = _Race(score, width, rng, stop)
    candidates, kept, idle = list(starts), list[Scored](), 0
    for done in range(1, rounds + 1):
        ranked = race.run(candidates)
        if race.stopped and kept:
            yield Climbed(tuple(kept), done - 1, race.calls, race.work)
            return
        known = {scored.pair: scored.score for scored in kept}
        # an old best pair may have lost its seat: then it is compared by the last fresh estimate that it had
        incumbent = max((race.last.get(pair, -math.inf) for pair in known), default=-math.inf)
        improved = bool(ranked) and ranked[0].pair not in known and ranked[0].score > incumbent
        idle = 0 if improved else idle + 1
        kept = ranked[:width]
        yield Climbed(tuple(kept), done, race.calls, race.work)
        if race.stopped or idle >= patience:
            return
        fresh = [scored.pair for scored in kept]
        for scored in kept:
            fresh += mutations(scored.pair, relation, records, rng, CHILDREN)
        fresh += random_related_pairs(relation, records, size, rng, RANDOM)
        different: dict[tuple[Dataset, Dataset], Pair] = {}
        for pair in fresh:
            different.setdefault((pair.left, pair.right), pair)
        candidates = list(different.values())


class _Race:
    """Successive halving with a count of what it cost."""

    def __init__(
        self, score: Callable[[Pair, int], float], width: int, rng: Generator, stop: Callable[[], bool]
    ) -> None:
        self.score, self.width, self.rng, self.stop = score, width, rng, stop
        self.calls = self.work = 0
        self.stopped = False
        self.last: dict[Pair, float] = {}

    def run(self, pairs: list[Pair]) -> list[Scored]:
        """The last `width` pairs, best first; when stopped, what has been scored, the highest effort first."""
        effort = 1
        self.last = {}
        ranked: list[Scored] = []
        while True:
            level: list[Scored] = []
            for pair in pairs:
                if self.stop():
                    self.stopped = True
                    again = {scored.pair for scored in level}
                    return [*self._ranked(level), *(scored for scored in ranked if scored.pair not in again)]
                value = float(self.score(pair, effort))
                self.calls, self.work = self.calls + 1, self.work + effort
                self.last[pair] = -math.inf if math.isnan(value) else value
                level.append(Scored(pair, self.last[pair], effort))
            ranked = self._ranked(level)
            if len(ranked) <= self.width:
                return ranked
            pairs = [scored.pair for scored in ranked[: max(self.width, (len(ranked) + 1) // 2)]]
            effort *= 2

    def _ranked(self, level: list[Scored]) -> list[Scored]:
        """Best first, equal scores in random order: on a plateau the search must wander."""
        shuffled = [level[i] for i in self.rng.permutation(len(level))]
        return sorted(shuffled, key=lambda scored: -scored.score)
