"""The worst pair that a search finds, by exact laws: what a scope too large to enumerate hides."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numpy.random import Generator as Random
from numpy.random import default_rng

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.climb import Neighbourhood, climb
from dpaudit.adversary.pairs.histogram_mutations import HistogramMutations
from dpaudit.adversary.pairs.minimize import minimize
from dpaudit.adversary.pairs.mutations import RecordMutations
from dpaudit.adversary.pairs.score_mutations import ScoreMutations
from dpaudit.errors import DpauditError, MechanismError, NotEnumerableError, TimeLimitError
from dpaudit.evidence.density import losses_of
from dpaudit.evidence.exact import compare, finite
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.kept_comparisons import KeptComparisons
from dpaudit.evidence.symmetries import order_seen
from dpaudit.interpret import LawCache, of_one_kind
from dpaudit.language import Claim, Mechanism, PiecewiseConstantScore, Quality
from dpaudit.options import COMPARED, ORDERED, SIZE
from dpaudit.plans.job import WorstCaseSearch
from dpaudit.results.notes import (
    Note,
    PairsCompared,
    Scores,
    ScoresAttained,
    ScoresNotAttained,
    ScoresOfNoQuality,
    SearchTimeLimit,
    SmallerPair,
    Stated,
)
from dpaudit.results.stream import Progress
from dpaudit.stats import hockey_stick
from dpaudit.subjects.runner import Runner

_T = TypeVar("_T")

WORST = 0x3057
"""Marks the search's own stream of random numbers."""
PATIENCE = 12
"""Rounds without a worse pair after which a climb ends and the next begins."""
WIDTH = 4
STARTS = 3
"""One in so many of all comparisons goes to what a search begins with."""
TRIED = 20
"""Most candidates that are considered for each one that may be compared."""
MOST_MINIMIZING = 300
"""Laws compared to find a smaller pair that still refutes."""
MINIMIZED_RECORDS = 400
"""Pairs of larger datasets are not minimised."""
SCORED = Pair((0,), (1,), "two vectors of scores", "found")


@dataclass(frozen=True)
class Subject:
    """A mechanism and the pair it is to be tried on."""

    mechanism: Mechanism
    pair: Pair


def find_worst(
    job: WorstCaseSearch, runner: Runner, findings: Findings, *, seed: int
) -> Generator[Progress, None, WorstCaseSearch]:
    """The job with the pair of the largest exact ε at the claimed δ that was found, and the mechanism that it is for.

    Raises:
        NotEnumerableError: the mechanism has no law, or depends on the order of records without `ordered`.
        MechanismError: it fails on every pair.
    """
    search = _Search(job, job.mode.compared, KeptComparisons(runner.journal, job, seed))
    ended = False
    try:
        found = yield from _found(job, search, runner, findings, seed)
        ended = not search.cut_short
        return found
    except (MechanismError, NotEnumerableError):
        # another run would find the same
        ended = True
        raise
    finally:
        search.kept.close(finished=ended)


def _found(
    job: WorstCaseSearch, search: _Search, runner: Runner, findings: Findings, seed: int
) -> Generator[Progress, None, WorstCaseSearch]:
    try:
        if job.mode.scores:
            yield from _by_scores(job, search, runner, seed)
        else:
            yield from _by_records(job, search, runner, seed)
    except TimeLimitError:
        search.cut_short = True
        findings.notes.append(SearchTimeLimit(""))
    if search.best is None:
        if search.crash is not None:
            raise search.crash
        whose = "that datasets attain" if job.mode.realised else "whose output distributions could be compared"
        raise NotEnumerableError("No pair was found {}; raise {} or {}.", whose, SIZE, COMPARED)
    epsilon, subject = search.best
    datasets = (subject.pair.left, subject.pair.right)
    seen = None if job.mode.ordered else of_one_kind(lambda cache: order_seen(subject.mechanism, datasets, cache))
    if seen is not None:
        # neighbouring multisets may be sequences that differ in many rows
        raise NotEnumerableError("The order of records matters to {}: search with {}.", job.target.name, ORDERED)
    findings.notes.append(PairsCompared(search.compared, job.mode.scores, search.climbs))
    quality = getattr(subject.mechanism, "quality", None)
    if job.mode.scores and isinstance(quality, PiecewiseConstantScore):
        findings.notes.append(Scores(str(quality)))
        findings.notes.append(_realised(job, quality, epsilon))
    if epsilon > job.claim.epsilon and not job.mode.scores and len(subject.pair.left) <= MINIMIZED_RECORDS:
        yield Progress(search.compared, job.mode.compared, "minimising the refuting pair", epsilon)
        subject = _smaller(job, subject, search, runner, findings)
    target = replace(job.target, subject=subject.mechanism)
    return replace(job, target=target, pairs=(replace(subject.pair, source="found"),))


@dataclass
class _Search:
    """What has been compared, and the best of it."""

    job: WorstCaseSearch
    most: int
    kept: KeptComparisons
    compared: int = 0
    tried: int = 0
    climbs: int = 0
    best: tuple[float, Subject] | None = None
    crash: MechanismError | None = None
    cut_short: bool = False

    @property
    def exhausted(self) -> bool:
        """Whether the search is over; most attempts may have scores that no dataset attains."""
        return self.compared >= self.most or self.tried >= TRIED * self.most

    def progress(self) -> Progress:
        """The progress of the search."""
        best = max(0.0, self.best[0]) if self.best is not None else 0.0
        what = f"searching for the worst pair, {self.compared:,} compared, the worst has ε = {best:.6g}"
        return Progress(self.compared, self.most, what, None)

    def score(self, subject: Subject) -> float:
        """The exact ε at the claimed δ; if it is 0, a negative distance to a positive one."""
        self.compared += 1
        what = (self.compared, subject.mechanism, subject.pair)
        score = self.kept.find(*what)
        if score is None:
            try:
                score = needed(subject, self.job.claim)
            except MechanismError as error:
                # it may ask for more records than a pair has
                self.crash = error
                return -math.inf
            self.kept.keep(*what, score)
        if self.best is None or score > self.best[0]:
            self.best = score, subject
        return score

    def run(
        self,
        given: Sequence[_T],
        others: Sequence[_T],
        neighbourhood: Neighbourhood[_T],
        subject: Callable[[_T], Subject | None],
        runner: Runner,
        seed: int,
        rng: Random,
    ) -> Generator[Progress, None, None]:
        """Climb from the starts, then again from elsewhere, as long as there is something to spend.

        Args:
            given: starts that somebody gave.
            others: further starts; as many of them as leave most of what may be compared to the climbs.
            rng: which of the others.
        """
        known: dict[Hashable, float] = {}
        best: list[_T] = []

        def score(item: _T, _: int) -> float:
            key = neighbourhood.key(item)
            if key not in known:
                self.tried += 1
                before = self.best
                with runner.guarded(self.job.target.name):
                    made = subject(item)
                    known[key] = -math.inf if made is None else self.score(made)
                if self.best is not before:
                    best[:] = [item]
            return known[key]

        order = rng.permutation(len(others))[: max(1, self.most // STARTS)]
        starts = [*given, *(others[i] for i in order)]
        while not self.exhausted and starts:
            rng = default_rng([seed, WORST, self.climbs])
            self.climbs += 1
            asked = len(known)
            for item in starts:
                # the climb finds them known; what is shown must not wait for its whole first round
                if not self.exhausted:
                    score(item, 1)
                    yield self.progress()
            for _ in climb(
                starts,
                score,
                neighbourhood,
                rng=rng,
                rounds=self.most,
                width=WIDTH,
                patience=PATIENCE,
                stop=lambda: self.exhausted,
            ):
                yield self.progress()
            if len(known) == asked:
                # everything around is known
                return
            fresh = neighbourhood.around((), default_rng([seed, WORST, 1, self.climbs]))
            # every other climb goes on from the best; the others begin elsewhere
            starts = [*best, *fresh] if self.climbs % 2 else fresh


def needed(subject: Subject, claim: Claim, cache: LawCache | None = None) -> float:
    """The smallest ε that a pair needs at the claimed δ; a negative number where 0 is more than enough.

    Laws that the cache holds are not computed again.

    Raises:
        NotEnumerableError: the mechanism has no law, or too large a one, and does more with its noise than release it.
    """
    try:
        laws = compare(subject.mechanism, subject.pair, LawCache() if cache is None else cache)
    except NotEnumerableError:
        noise = losses_of(subject.mechanism, subject.pair).noise
        bounds = noise.epsilon(claim.delta)
        return bounds.low if bounds.low > 0 else noise.delta(0.0).high - claim.delta
    directions = ((laws.left, laws.right), (laws.right, laws.left))
    epsilon = max(hockey_stick.epsilon_at(p, q, claim.delta) for p, q in directions)
    return epsilon if epsilon > 0 else max(hockey_stick.hockey_stick(p, q, 0.0) for p, q in directions) - claim.delta


def _by_records(
    job: WorstCaseSearch, search: _Search, runner: Runner, seed: int
) -> Generator[Progress, None, None]:
    """Over pairs of datasets: by counts, or record by record where their order matters."""
    relation, worst_case, records = job.claim.relation, job.mode, job.records
    rng = default_rng([seed, WORST])
    most = max([worst_case.records, *(len(dataset) for pair in job.starts for dataset in (pair.left, pair.right))])
    neighbourhood = (
        RecordMutations(relation, records, worst_case.records)
        if worst_case.ordered
        else HistogramMutations(relation, records, most)
    )
    yield from search.run(
        job.starts, neighbourhood.starts(rng), neighbourhood, lambda pair: Subject(job.target.subject, pair), runner,
        seed, rng,
    )


def _by_scores(
    job: WorstCaseSearch, search: _Search, runner: Runner, seed: int
) -> Generator[Progress, None, None]:
    """Over pairs of score vectors that differ by at most 1 for every solution."""
    mechanism: Any = job.target.subject
    own: Quality = mechanism.quality
    dataset = job.starts[0].left if job.starts else (job.records.extremes[0],)
    neighbourhood = ScoreMutations(own(dataset).size, finest=1.0 if job.mode.realised else 0.125)
    rng = default_rng([seed, WORST])
    of_starts = (neighbourhood.between(own(pair.left), own(pair.right)) for pair in job.starts)
    given = [own] if isinstance(own, PiecewiseConstantScore) else [one for one in of_starts if one is not None]

    def subject(quality: PiecewiseConstantScore) -> Subject | None:
        if job.mode.realised and (job.natural is None or job.natural.realised(*quality.sides) is None):
            return None
        return Subject(replace(mechanism, quality=quality), SCORED)

    yield from search.run(given, neighbourhood.starts(rng), neighbourhood, subject, runner, seed, rng)


def _realised(job: WorstCaseSearch, quality: PiecewiseConstantScore, epsilon: float) -> Note:
    """Whether two datasets attain these scores, checked by computing them."""
    natural = job.natural
    if natural is None:
        return ScoresOfNoQuality()
    name = type(natural).__name__
    try:
        datasets = natural.realised(*quality.sides)
    except NotImplementedError as error:
        return Stated(str(error))
    if datasets is None:
        return ScoresNotAttained(name)
    mechanism: Any = job.target.subject
    exact = needed(Subject(replace(mechanism, quality=natural), Pair(*datasets)), job.claim)
    return ScoresAttained(name, len(datasets[0]), repr(datasets[0]), repr(datasets[1]), finite(exact))


def _smaller(
    job: WorstCaseSearch, subject: Subject, search: _Search, runner: Runner, findings: Findings
) -> Subject:
    """A pair with fewer or simpler records that still refutes."""

    def refutes(pair: Pair) -> bool:
        with runner.guarded(job.target.name):
            return search.score(replace(subject, pair=pair)) > job.claim.epsilon * (1 + 1e-9)

    try:
        minimized = minimize(
            subject.pair, refutes, relation=job.claim.relation, records=job.records, budget=MOST_MINIMIZING
        )
    except (TimeLimitError, DpauditError):
        return subject
    if minimized.steps:
        left, right = minimized.pair.left, minimized.pair.right
        epsilon = needed(replace(subject, pair=minimized.pair), job.claim)
        findings.notes.append(SmallerPair(len(left), repr(left), repr(right), finite(epsilon)))
    return subject
