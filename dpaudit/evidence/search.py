"""Pairs for a program of which only samples are known: searched for before the test, minimised after a refutation."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

from numpy.random import default_rng

from dpaudit.adversary import Pair
from dpaudit.adversary.events.learner import Learner
from dpaudit.adversary.pairs.climb import climb
from dpaudit.adversary.pairs.minimize import minimize
from dpaudit.adversary.pairs.mutations import RecordMutations
from dpaudit.errors import DatasetError, DpauditError, MechanismError, OutputError, TimeLimitError
from dpaudit.evidence.estimate import LEAST_RUNS, SampledObjective, Tried
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.pace import SEARCH_SHARE, pairs_in_time
from dpaudit.evidence.sampling import MINIMIZE, SEARCH
from dpaudit.evidence.sequential import Sequential, Track
from dpaudit.language import Dataset
from dpaudit.language.records import exception_of, leaves_of
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS, PairSearch
from dpaudit.results.notes import ExceptionalFloat, Minimized, NotMinimized, SearchCutShort, SearchErrors
from dpaudit.results.stream import Progress
from dpaudit.stats.eprocess import EProcess
from dpaudit.subjects.runner import Runner

ESTIMATES = 500
"""The cheapest estimates that a search may cost; together as many runs as one pair may have."""
SHOWN_EVERY = 8
"""Estimates between two reports of progress."""
IN_TIME = 60
"""The cheapest estimates that a search should have time for: it takes fewer samples for each where calls are slow."""
WORTHWHILE = 4
"""With time for fewer estimates there is no search."""
OVERWHELMING = 1e-6
"""Error of the test that ends a search because the claim seems refuted: its pair is audited alone."""
TEST_GROWTH = 1.5
"""Growth of that test's samples from batch to batch."""
TEST_RUNS = 4
"""Samples of that test, as a multiple of those of the estimate that made the pair suspicious."""
TESTED = 0.1
"""Samples of all these tests together, as a share of those of the estimates."""
TESTS_FROM = 1_000_000
"""The first index of these tests' random streams; smaller ones are those of estimates."""
CERTAINLY_FAILING = 16
"""Estimates that must all fail, with no other among them, before the search gives up."""
MINIMIZE_ERROR = 0.01
"""Error of the tests that say whether a smaller pair still refutes; the certificate comes from fresh runs."""
MINIMIZE_TESTS = 60


def find_pairs(
    job: PairSearch, runner: Runner, findings: Findings, *, seed: int, at_once: bool = True,
    needed: int | None = None,
) -> Generator[Progress, None, PairSearch]:
    """The job with the most promising pairs; the samples of the search are used for nothing else.

    The search takes at most half of the time that the audit has. What it has found then is audited with the rest.

    Args:
        at_once: whether a pair on which the claim seems refuted ends the search.
        needed: samples per dataset with which an audit of one pair has power; with time for no more, one is audited.
            None if unknown.
    """
    with runner.within(SEARCH_SHARE * runner.share):
        search = _Search(job, runner, findings, seed, at_once, needed)
        try:
            yield from search.run()
        except KeyboardInterrupt:
            findings.job = search.found()
            raise
    if search.errors:
        findings.notes.append(SearchErrors(len(search.errors), search.errors[0]))
    if search.by_the_clock:
        findings.notes.append(SearchCutShort(search.estimates, by_the_clock=True))
    return search.found()


class _Search:
    """A search for pairs in progress."""

    def __init__(
        self, job: PairSearch, runner: Runner, findings: Findings, seed: int, at_once: bool, needed: int | None
    ) -> None:
        self.job, self.findings, self.seed, self.at_once = job, findings, seed, at_once
        self.objective = SampledObjective(job, runner, seed)
        self.best = list(job.pairs)
        self.estimates = 0
        self.errors: list[DpauditError] = []
        self.refuted: Pair | None = None
        """A pair on which the claim seems refuted; it ends the search."""
        self.late = self.worthless = False
        self.least = max(LEAST_RUNS, job.runs // ESTIMATES)
        self.enough = self.least * ESTIMATES
        self.for_tests = TESTED * self.enough
        self.most_pairs = TESTS_OF_FOUND_PAIRS
        self.slow = self._adapt(runner, needed)

    @property
    def by_the_clock(self) -> bool:
        """Whether the pairs depend on how fast this machine is."""
        return self.slow or self.late

    def found(self) -> PairSearch:
        """The job with the best pairs so far."""
        best = self.best[: self.most_pairs]
        return replace(self.job, pairs=tuple(replace(pair, source="found") for pair in best))

    def run(self) -> Generator[Progress, None, None]:
        """Search; afterwards `best` has the most promising pairs, best first."""
        if self.worthless:
            return
        job = self.job
        neighbourhood = RecordMutations.like(self.best, job.claim.relation, job.records, job.sizes)
        climbed = climb(
            self.best, self._score, neighbourhood, rng=default_rng([self.seed, SEARCH]), stop=self._stop,
            every=SHOWN_EVERY,
        )
        yield self._progress(0.0)
        for state in climbed:
            # pairs on which the mechanism fails are used only if it fails on all
            self.best = [scored.item for scored in state.best if scored.score > -math.inf] or self.best
            yield self._progress(max((scored.score for scored in state.best), default=0.0))
        if self.refuted is not None:
            self.best = [self.refuted]
        elif self.estimates >= CERTAINLY_FAILING and len(self.errors) == self.estimates:
            raise self.errors[0]

    def _adapt(self, runner: Runner, needed: int | None) -> bool:
        """Do with fewer samples, or fewer pairs, where calls are too slow for the time; whether that was so."""
        left, pace = runner.left, runner.pace.get(self.job.target.name, 0.0)
        if left is None or not pace:
            return False
        in_time = int(left / (2 * pace))
        self.worthless = in_time < WORTHWHILE * LEAST_RUNS
        least = max(LEAST_RUNS, in_time // IN_TIME)
        after = left / SEARCH_SHARE - (0 if self.worthless else left)
        pairs = pairs_in_time(self.most_pairs, needed, seconds=after, pace=pace)
        changed = self.worthless or least < self.least or pairs < self.most_pairs
        self.least, self.most_pairs = min(least, self.least), pairs
        return changed

    def _progress(self, highest: float) -> Progress:
        tried = f", {self.estimates:,} tried" if self.estimates else ""
        best = f", ε ≈ {highest:.2g} at best" if highest > 0 else ""
        what = f"searching for pairs{tried}{best}"
        return Progress(min(self.findings.searched, 2 * self.enough), 2 * self.enough, what, None)

    def _stop(self) -> bool:
        failing = len(self.errors) == self.estimates >= CERTAINLY_FAILING
        spent = self.findings.searched >= 2 * self.enough
        return spent or failing or self.late or self.refuted is not None

    def _score(self, pair: Pair, effort: int) -> float:
        self.estimates += 1
        runs = self.least * effort
        try:
            estimated = self.objective.estimate(pair, runs, index=self.estimates)
            self.findings.searched += 2 * runs
            if self.at_once and estimated.suspicious and self.for_tests > 0:
                self._test(pair, TEST_RUNS * runs)
        except TimeLimitError:
            self.late = True
            return -math.inf
        except (MechanismError, DatasetError, OutputError) as error:
            # it may ask for more records than a pair has; other pairs are tried before that is the result
            self.errors.append(error)
            return -math.inf
        return estimated.epsilon

    def _test(self, pair: Pair, runs: int) -> None:
        """Whether the claim is refuted on a suspicious pair, by samples of their own."""
        tried = self.objective.test(
            pair, runs, index=TESTS_FROM + self.estimates, phase=SEARCH, alpha=OVERWHELMING, stop_early=True,
            growth=TEST_GROWTH,
        )
        self.findings.searched += 2 * tried.runs
        self.for_tests -= tried.runs
        if tried.refuted:
            self.refuted = pair


def described_exceptions(pair: Pair, data: str) -> list[ExceptionalFloat]:
    """Notes if a found pair contains NaN, an infinity or −0.0, which the description includes."""
    if "floats" not in data:
        # the values were listed one by one
        return []
    records = [record for dataset in (pair.left, pair.right) for record in dataset]
    holds = {exception_of(value) for record in records for value in leaves_of(record)}
    return [
        ExceptionalFloat(value, keyword, data)
        for value, keyword in (("NaN", "allow_nan"), ("an infinity", "allow_infinity"), ("−0.0", "allow_negative_zero"))
        if keyword in holds
    ]


def minimize_strongest(
    job: PairSearch, state: Sequential, runner: Runner, findings: Findings, *, seed: int, used: int
) -> Generator[Progress, None, None]:
    """Minimise the refuting pair.

    The verdict does not depend on these samples: the e-process has refuted the claim on the larger pair, and the bound
    on the smaller one uses fresh samples.
    """
    strongest, objective = state.strongest, SampledObjective(job, runner, seed)
    runs = min(max(2 * used, 100), learning_runs(job.runs))
    learned: dict[tuple[Dataset, Dataset], Learner] = {}
    tests = 0
    late: TimeLimitError | None = None

    def refutes(pair: Pair) -> bool:
        nonlocal tests, late
        if late is not None:
            return False
        tests += 1
        try:
            tried = test(pair)
        except TimeLimitError:
            late = TimeLimitError("Half of the time that was left was over.")
            return False
        findings.searched += 2 * tried.runs
        learned[pair.left, pair.right] = tried.learner
        return tried.refuted

    def test(pair: Pair) -> Tried:
        return objective.test(pair, runs, index=tests, phase=MINIMIZE, alpha=MINIMIZE_ERROR)

    yield Progress(used, job.runs, "refuted; minimising the pair", state.epsilon_lower)
    try:
        with runner.within(SEARCH_SHARE * runner.share):
            minimized = minimize(
                strongest.pair, refutes, relation=job.claim.relation, records=job.records, budget=MINIMIZE_TESTS,
                sizes=job.sizes,
            )
    except DpauditError as error:
        findings.notes.append(NotMinimized(error))
        return
    if late is not None:
        findings.notes.append(NotMinimized(late, further=bool(minimized.steps), by_the_clock=True))
    if not minimized.steps:
        return
    left, right = len(strongest.pair.left), len(strongest.pair.right)
    findings.notes.append(Minimized(len(minimized.steps), strongest.pair.label, left, right))
    state.smaller = Track(
        len(state.tracks),
        replace(minimized.pair, source="shrunk"),
        learned[minimized.pair.left, minimized.pair.right],
        EProcess(state.epsilons, job.claim.delta),
        strongest.bits,
        EProcess(state.epsilons, job.claim.delta),
        runs=runs,
    )
