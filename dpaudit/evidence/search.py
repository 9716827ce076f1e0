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
from dpaudit.evidence.estimate import LEAST_RUNS, SampledObjective
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.sampling import MINIMIZE, SEARCH
from dpaudit.evidence.sequential import Sequential, Track
from dpaudit.language import Dataset
from dpaudit.language.records import exception_of, leaves_of
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS, PairSearch
from dpaudit.results.notes import ExceptionalFloat, Minimized, NotMinimized, SearchErrors, SearchTimeLimit
from dpaudit.results.stream import Progress
from dpaudit.stats.martingale import Martingale
from dpaudit.subjects.runner import Runner

ESTIMATES = 500
"""The cheapest estimates that a search may cost; together as many runs as one pair may have."""
MINIMIZE_ERROR = 0.01
"""Error of the tests that say whether a smaller pair still refutes; the certificate comes from fresh runs."""
MINIMIZE_TESTS = 60


def find_pairs(
    job: PairSearch, runner: Runner, findings: Findings, *, seed: int
) -> Generator[Progress, None, PairSearch]:
    """The job with the most promising pairs; the samples of the search are used for nothing else."""
    objective = SampledObjective(job, runner, seed)
    least = max(LEAST_RUNS, job.runs // ESTIMATES)
    counter = 0
    errors: list[DpauditError] = []

    def score(pair: Pair, effort: int) -> float:
        nonlocal counter
        counter += 1
        runs = least * effort
        try:
            estimated = objective.estimate(pair, runs, index=counter)
        except (MechanismError, DatasetError, OutputError) as error:
            # it may ask for more records than a pair has; other pairs are tried before that is the result
            errors.append(error)
            return -math.inf
        findings.searched += 2 * runs
        return estimated.epsilon

    best = list(job.pairs)
    search = climb(
        best, score, RecordMutations.like(best, job.claim.relation, job.records, job.sizes),
        rng=default_rng([seed, SEARCH]),
        stop=lambda: findings.searched >= 2 * least * ESTIMATES,
    )
    try:
        for state in search:
            # pairs on which the mechanism fails are used only if it fails on all
            best = [scored.item for scored in state.best if scored.score > -math.inf] or best
            highest = max((scored.score for scored in state.best), default=0.0)
            what = f"searching for pairs, {state.calls:,} estimates, the best ε ≥ {max(highest, 0.0):.3g}"
            yield Progress(min(findings.searched, ESTIMATES * least * 2), ESTIMATES * least * 2, what, None)
    except TimeLimitError:
        findings.notes.append(SearchTimeLimit("pairs"))
    if errors:
        findings.notes.append(SearchErrors(len(errors), errors[0]))
    kept = tuple(replace(pair, source="found") for pair in best[:TESTS_OF_FOUND_PAIRS])
    return replace(job, pairs=kept)


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

    def refutes(pair: Pair) -> bool:
        nonlocal tests
        tests += 1
        tried = objective.test(pair, runs, index=tests, phase=MINIMIZE, alpha=MINIMIZE_ERROR)
        findings.searched += 2 * tried.runs
        learned[pair.left, pair.right] = tried.learner
        return tried.refuted

    yield Progress(used, job.runs, "minimising the refuting pair", state.epsilon_lower)
    try:
        minimized = minimize(
            strongest.pair, refutes, relation=job.claim.relation, records=job.records, budget=MINIMIZE_TESTS,
            sizes=job.sizes,
        )
    except (TimeLimitError, DpauditError) as error:
        findings.notes.append(NotMinimized(error))
        return
    if not minimized.steps:
        return
    left, right = len(strongest.pair.left), len(strongest.pair.right)
    findings.notes.append(Minimized(len(minimized.steps), strongest.pair.label, left, right))
    state.smaller = Track(
        len(state.tracks),
        replace(minimized.pair, source="shrunk"),
        learned[minimized.pair.left, minimized.pair.right],
        Martingale(state.epsilons, job.claim.delta, at=state.at),
        strongest.bits,
        Martingale(state.epsilons, job.claim.delta, at=state.at),
        runs=runs,
    )
