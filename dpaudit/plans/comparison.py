"""Comparisons: algorithms for one task on the same inputs, with the same claim, at growing sizes."""

from __future__ import annotations

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.errors import ParameterError
from dpaudit.interpret import sample
from dpaudit.language import Goal, Mechanism, UtilityClaim
from dpaudit.plans.plan import Case, UtilityCase
from dpaudit.plans.request import ComparisonSpec
from dpaudit.results.comparison import ONE_RUN, ComparisonRecord, ComparisonRow
from dpaudit.results.model import Result

TIMED_RUNS = 5
"""Single runs of which the median is an algorithm's time."""


@dataclass(frozen=True)
class Method:
    """An algorithm of a comparison.

    Args:
        name: as in the table.
        make: number of records → the instance to run on so many.
    """

    name: str
    make: Callable[[int], Mechanism]


class Comparison(ABC):
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
    def methods(self) -> tuple[Method, ...]:
        """Who takes part."""

    @abstractmethod
    def instances(self, records: int) -> tuple[Mechanism, ...]:
        """Where the inputs of so many records come from."""

    @abstractmethod
    def pairs(self, mechanism: Mechanism, records: int) -> tuple[Pair, ...]:
        """Neighbouring inputs (under the relation of the mechanism's claim) on which its privacy is audited."""


@dataclass(frozen=True)
class ComparisonEntry:
    """One algorithm at one size: what is to be audited, or why it cannot be."""

    method: str
    records: int
    utility: UtilityCase | None
    privacy: Case | None
    note: str = ""


def comparison_entries(comparison: Comparison, spec: ComparisonSpec) -> list[ComparisonEntry]:
    """Everything that a comparison audits, algorithm by algorithm."""
    entries = []
    for method in comparison.methods():
        for records in spec.sizes or comparison.sizes:
            try:
                mechanism = method.make(records)
            except ParameterError as error:
                entries.append(ComparisonEntry(method.name, records, None, None, str(error)))
                continue
            label = f"{records:,} records"
            utility = UtilityCase(
                label,
                mechanism,
                _guarantee(comparison, mechanism, records),
                comparison.instances(records),
                comparison.runs,
            )
            case = Case(label, mechanism, comparison.pairs(mechanism, records), runs=comparison.runs)
            entries.append(ComparisonEntry(method.name, records, utility, case))
    return entries


def recorded(comparison: Comparison, spec: ComparisonSpec, result: Result) -> Result:
    """The result with the comparison's table in it, as far as its audits had ended."""
    utility = {(audit.name, audit.case): i for i, audit in enumerate(result.utility)}
    audits = {(audit.name, audit.case): i for i, audit in enumerate(result.audits)}
    rows = []
    for entry in comparison_entries(comparison, spec):
        key = (entry.method, f"{entry.records:,} records")
        rows.append(ComparisonRow(entry.method, entry.records, utility.get(key), audits.get(key), entry.note))
    record = ComparisonRecord(
        comparison.name, comparison.title, str(comparison.goal), comparison.epsilon, comparison.delta, rows
    )
    return replace(result, comparison=record)


def timed(comparison: Comparison, spec: ComparisonSpec, result: Result) -> Result:
    """The result with the seconds that one run of each takes, alone, on the first kind of inputs."""
    assert result.comparison is not None
    seconds = dict(result.timings.audits)
    cases = {(entry.method, entry.records): entry.utility for entry in comparison_entries(comparison, spec)}
    for row in result.comparison.rows:
        case = cases[row.algorithm, row.records]
        if row.utility is None or case is None or result.utility[row.utility].crashed:
            continue
        durations = [_one_run(case, seed) for seed in range(TIMED_RUNS)]
        seconds[result.utility[row.utility].replay + ONE_RUN] = statistics.median(durations)
    return replace(result, timings=replace(result.timings, audits=seconds))


def _one_run(case: UtilityCase, seed: int) -> float:
    (instance,) = sample(case.instances[0], (), 1, seed=SeedSequence([seed, 0])).counts
    dataset: object = instance.dataset  # type: ignore[attr-defined]  # an `Instance`, as instances' mechanisms return
    begun = time.perf_counter()
    sample(case.mechanism, dataset, 1, seed=SeedSequence([seed, 1]))
    return time.perf_counter() - begun


def _guarantee(comparison: Comparison, mechanism: Mechanism, records: int) -> UtilityClaim:
    """What the algorithm's source guarantees of the goal on so many records; probability 0 for no guarantee."""
    guaranteed = [claim for claim in mechanism.utility(records) if claim.goal == comparison.goal and not claim.at_most]
    nothing = UtilityClaim(comparison.goal, 0.0, "no guarantee printed")
    return max(guaranteed, key=lambda claim: claim.probability, default=nothing)
