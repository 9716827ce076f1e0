"""Comparisons: algorithms for one task on the same inputs, with the same claim, at growing sizes."""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.errors import ParameterError
from dpaudit.interpret import sample
from dpaudit.language import Goal, Mechanism, UtilityClaim
from dpaudit.plans.plan import Case, UtilityCase
from dpaudit.plans.request import Versus
from dpaudit.results.contest_rows import ONE_RUN, ContestRecord, ContestRow
from dpaudit.results.model import Result

TIMED_RUNS = 5
"""Single runs of which the median is an algorithm's time."""


@dataclass(frozen=True)
class Entrant:
    """An algorithm of a comparison.

    Args:
        name: as in the table.
        make: number of records → the instance to run on so many.
    """

    name: str
    make: Callable[[int], Mechanism]


class Contest(ABC):
    """A comparison, as a frozen dataclass; its fields are what may be changed: at least `epsilon` and `delta`."""

    name: ClassVar[str]
    title: ClassVar[str]
    sizes: ClassVar[tuple[int, ...]]
    """Numbers of records, ascending, unless others are asked for."""
    runs: ClassVar[int] = 20_000
    epsilon: float
    delta: float

    @property
    @abstractmethod
    def goal(self) -> Goal:
        """What all of them are to do."""

    @abstractmethod
    def entrants(self) -> tuple[Entrant, ...]:
        """Who takes part."""

    @abstractmethod
    def instances(self, records: int) -> tuple[Mechanism, ...]:
        """Where the inputs of so many records come from."""

    @abstractmethod
    def pairs(self, mechanism: Mechanism, records: int) -> tuple[Pair, ...]:
        """Neighbouring inputs (under the relation of the mechanism's claim) on which its privacy is looked at."""


@dataclass(frozen=True)
class Bout:
    """One algorithm at one size: what is to be audited, or why it cannot be."""

    entrant: str
    records: int
    utility: UtilityCase | None
    privacy: Case | None
    note: str = ""


def bouts(contest: Contest, versus: Versus) -> list[Bout]:
    """Everything that a comparison audits, algorithm by algorithm."""
    found = []
    for entrant in contest.entrants():
        for records in versus.sizes or contest.sizes:
            try:
                mechanism = entrant.make(records)
            except ParameterError as error:
                found.append(Bout(entrant.name, records, None, None, str(error)))
                continue
            label = f"{records:,} records"
            utility = UtilityCase(
                label, mechanism, _promise(contest, mechanism, records), contest.instances(records), contest.runs
            )
            case = Case(label, mechanism, contest.pairs(mechanism, records), runs=contest.runs)
            found.append(Bout(entrant.name, records, utility, case))
    return found


def recorded(contest: Contest, versus: Versus, result: Result) -> Result:
    """The result with the comparison's table in it, as far as its audits had ended."""
    utility = {(audit.name, audit.case): i for i, audit in enumerate(result.utility)}
    audits = {(audit.name, audit.case): i for i, audit in enumerate(result.audits)}
    rows = []
    for bout in bouts(contest, versus):
        key = (bout.entrant, f"{bout.records:,} records")
        rows.append(ContestRow(bout.entrant, bout.records, utility.get(key), audits.get(key), bout.note))
    record = ContestRecord(
        contest.name, contest.title, str(contest.goal), contest.epsilon, contest.delta, rows
    )
    return replace(result, contest=record)


def timed(contest: Contest, versus: Versus, result: Result) -> Result:
    """The result with the seconds that one run of each takes, alone, on the first kind of inputs."""
    assert result.contest is not None
    seconds = dict(result.timings.audits)
    cases = {(bout.entrant, bout.records): bout.utility for bout in bouts(contest, versus)}
    for row in result.contest.rows:
        case = cases[row.algorithm, row.records]
        if row.utility is None or case is None or result.utility[row.utility].crashed:
            continue
        spent = [_one_run(case, seed) for seed in range(TIMED_RUNS)]
        seconds[result.utility[row.utility].replay + ONE_RUN] = statistics.median(spent)
    return replace(result, timings=replace(result.timings, audits=seconds))


def _one_run(case: UtilityCase, seed: int) -> float:
    (instance,) = sample(case.instances[0], (), 1, seed=SeedSequence([seed, 0])).counts
    dataset: Any = instance.dataset  # type: ignore[attr-defined]  # an `Instance`, as instances' mechanisms return
    begun = time.perf_counter()
    sample(case.mechanism, dataset, 1, seed=SeedSequence([seed, 1]))
    return time.perf_counter() - begun


def _promise(contest: Contest, mechanism: Mechanism, records: int) -> UtilityClaim:
    """What the algorithm's source promises of the goal on so many records; probability 0 where it promises nothing."""
    promised = [claim for claim in mechanism.utility(records) if claim.goal == contest.goal and not claim.at_most]
    nothing = UtilityClaim(contest.goal, 0.0, "nothing promised")
    return max(promised, key=lambda claim: claim.probability, default=nothing)
