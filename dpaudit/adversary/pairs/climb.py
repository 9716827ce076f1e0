"""The search engine: beam search over pairs, score vectors or chains, given a score and a neighbourhood.

A search for pairs has three parts. The score of a candidate is a function (candidate, effort) → number: exact, or an
estimate from samples (`dpaudit.evidence`). A `Neighbourhood` generates similar candidates: `RecordMutations`,
`HistogramMutations`, `ScoreMutations`, `ChainMutations`. `minimize` shrinks refuting pairs, given a function
pair → bool. Nothing here runs a mechanism. If the score is an estimate, the result is only a suggestion: the verdict
needs fresh samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from collections.abc import Generator as Steps
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from numpy.random import Generator

T = TypeVar("T")


class Neighbourhood(Protocol[T]):
    """Generates and identifies the candidates of a search."""

    def around(self, kept: Sequence[T], rng: Generator) -> list[T]:
        """Candidates of the next round besides the kept ones: small changes of them, and some new ones."""

    def key(self, candidate: T) -> Hashable:
        """Equal for candidates that have the same score."""


@dataclass(frozen=True)
class Scored(Generic[T]):
    """A candidate, its latest score, and the effort of that score."""

    item: T
    score: float
    effort: int


@dataclass(frozen=True)
class Climbed(Generic[T]):
    """The state of a climb.

    Args:
        best: the kept candidates, best first.
        rounds: completed rounds; the first one scores the starting candidates.
        calls: calls of `score` so far.
        work: total effort of these calls.
    """

    best: tuple[Scored[T], ...]
    rounds: int
    calls: int
    work: int


def climb(
    starts: Sequence[T],
    score: Callable[[T, int], float],
    neighbourhood: Neighbourhood[T],
    *,
    rng: Generator,
    rounds: int = 12,
    width: int = 4,
    patience: int = 4,
    stop: Callable[[], bool] = lambda: False,
    every: int | None = None,
) -> Iterator[Climbed[T]]:
    """Beam search for the candidate with the highest score; yields its state after every round.

    A round scores its candidates at effort 1, the better half again at effort 2, and so on until `width` are left
    (successive halving: Karnin, Koren, Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013).
    Candidates kept from the round before compete again from effort 1, so that a lucky estimate does not survive.

    Args:
        starts: candidates of the first round.
        score: (candidate, effort) → score; NaN counts as −∞. The same candidate is scored repeatedly: an estimate
            from samples must use fresh ones every time, in proportion to the effort (1, 2, 4, …).
        neighbourhood: generates candidates near a candidate, and identifies equal ones.
        rng: for the neighbourhood and for ties; the climb is a function of it and of the scores.
        rounds: maximum number of rounds, including the first.
        width: number of candidates kept.
        patience: stop after this many rounds without a new best candidate.
        stop: called before every call of `score`; once it returns True, the round is left unfinished. The last state
            then holds the candidates of the last complete round (in the first round, those scored so far).
        every: also yield the state of the round before after so many calls of `score`, to show progress; None not to.
    """
    if not starts:
        return
    race = _Race(score, neighbourhood, width, rng, stop, every)
    candidates, kept, idle = list(starts), list[Scored[T]](), 0
    for done in range(1, rounds + 1):
        ranked = yield from race.run(candidates, kept, done - 1)
        if race.stopped and kept:
            yield Climbed(tuple(kept), done - 1, race.calls, race.work)
            return
        known = {neighbourhood.key(scored.item) for scored in kept}
        # the old best candidate may have been dropped: compare it by its latest fresh estimate
        incumbent = max((race.last.get(key, -math.inf) for key in known), default=-math.inf)
        improved = bool(ranked) and neighbourhood.key(ranked[0].item) not in known and ranked[0].score > incumbent
        idle = 0 if improved else idle + 1
        kept = ranked[:width]
        yield Climbed(tuple(kept), done, race.calls, race.work)
        if race.stopped or idle >= patience:
            return
        best = [scored.item for scored in kept]
        different: dict[Hashable, T] = {}
        for item in [*best, *neighbourhood.around(best, rng)]:
            different.setdefault(neighbourhood.key(item), item)
        candidates = list(different.values())


class _Race(Generic[T]):
    """Successive halving that counts its cost."""

    def __init__(
        self,
        score: Callable[[T, int], float],
        neighbourhood: Neighbourhood[T],
        width: int,
        rng: Generator,
        stop: Callable[[], bool],
        every: int | None,
    ) -> None:
        self.score, self.neighbourhood, self.width, self.rng, self.stop = score, neighbourhood, width, rng, stop
        self.every = every
        self.calls = self.work = 0
        self.stopped = False
        self.last: dict[Hashable, float] = {}

    def run(self, items: list[T], kept: list[Scored[T]], rounds: int) -> Steps[Climbed[T], None, list[Scored[T]]]:
        """The last `width` candidates, best first; if stopped, those scored so far, highest effort first.

        Args:
            items: the candidates.
            kept, rounds: of the rounds before; the states that it yields on the way have them.
        """
        effort = 1
        self.last = {}
        ranked: list[Scored[T]] = []
        while True:
            level: list[Scored[T]] = []
            for item in items:
                key = self.neighbourhood.key(item)
                if self.stop():
                    self.stopped = True
                    again = {self.neighbourhood.key(scored.item) for scored in level}
                    rest = (scored for scored in ranked if self.neighbourhood.key(scored.item) not in again)
                    return [*self._ranked(level), *rest]
                value = float(self.score(item, effort))
                self.calls, self.work = self.calls + 1, self.work + effort
                self.last[key] = -math.inf if math.isnan(value) else value
                level.append(Scored(item, self.last[key], effort))
                if self.every is not None and self.calls % self.every == 0:
                    yield Climbed(tuple(kept), rounds, self.calls, self.work)
            ranked = self._ranked(level)
            if len(ranked) <= self.width:
                return ranked
            items = [scored.item for scored in ranked[: max(self.width, (len(ranked) + 1) // 2)]]
            effort *= 2

    def _ranked(self, level: list[Scored[T]]) -> list[Scored[T]]:
        """Best first, equal scores in random order, so that the search can cross a plateau."""
        shuffled = [level[i] for i in self.rng.permutation(len(level))]
        return sorted(shuffled, key=lambda scored: -scored.score)
