"""The probability that a goal is reached: exactly, from the laws of inputs and outputs, and by runs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from numpy.random import Generator

from dpaudit.errors import MechanismError, NotEnumerableError, TimeLimitError
from dpaudit.interpret import LawCache, interval_law, of_one_kind, sample
from dpaudit.interpret.parameters import exact_value
from dpaudit.interpret.walk import refuse_failures
from dpaudit.language import Dataset, Goal, Instance, IntegerRange, Output, Trial
from dpaudit.stats.arb import PRECISION
from dpaudit.stats.arrays import BoolArray
from dpaudit.stats.enclosed import Roundings, watching

MOST_PATHS = 200_000
"""Laws with more paths are left to runs."""
MOST_INSTANCES = 5_000
MOST_MEMBERS = 100_000
"""A range with more members is not judged one by one."""


@dataclass(frozen=True)
class Judged(Trial):
    """The same trial, many at once: the outputs on one instance are drawn together, and equal ones judged once."""

    def bulk(self, dataset: Dataset, size: int, rng: Generator) -> BoolArray:
        """`size` independent trials, in no order."""
        hits = 0
        for instance, times in sample(self.instances, (), size, seed=rng).each():
            refuse_failures(self.instances.name, [instance])
            given = checked(instance)
            outputs = sample(self.subject, given.dataset, times, seed=rng)
            refuse_failures(self.subject.name, outputs.counts)
            hits += sum(count for value, count in outputs.each() if self.goal.reached(given, value))
        return np.arange(size) < hits


@dataclass(frozen=True)
class Success:
    """Pr[success] between two doubles.

    Args:
        low, high: enclose it.
        nearest: the double next to it.
        rounded: what the programs rounded to doubles on the way, in words; [] where nothing was.
    """

    low: float
    nearest: float
    high: float
    rounded: list[str]


def exactly(trial: Trial) -> Success:
    """Pr[success], enclosed.

    Raises:
        NotEnumerableError: inputs or outputs have no law that can be enumerated, or too large a one.
    """
    return of_one_kind(lambda cache: _exactly(trial, cache))


def _exactly(trial: Trial, cache: LawCache) -> Success:
    instances = interval_law(trial.instances, (), path_limit=MOST_PATHS)
    rounded, judge = dict.fromkeys(instances.rounded), _Judge(trial.goal)
    if len(instances) > MOST_INSTANCES:
        raise NotEnumerableError(f"There are more than {MOST_INSTANCES:,} different inputs; only some are sampled.")
    with ctx.workprec(PRECISION):
        total = arb(0)
        refuse_failures(trial.instances.name, instances.values)
        for instance, mass in instances.as_dict().items():
            law = interval_law(trial.subject, checked(instance).dataset, cache=cache, path_limit=MOST_PATHS)
            refuse_failures(trial.subject.name, law.values)
            rounded |= dict.fromkeys(law.rounded)
            for value, p in law.as_dict().items():
                total += mass * p * judge.share(checked(instance), value)
    low, high = math.nextafter(float(total.lower()), -math.inf), math.nextafter(float(total.upper()), math.inf)
    return Success(max(0.0, low), min(1.0, float(total.mid())), min(1.0, high), [*rounded, *judge.roundings.notes])


def checked(instance: object) -> Instance:
    """The argument, if it is an instance.

    Raises:
        MechanismError: it is not.
    """
    if not isinstance(instance, Instance):
        raise MechanismError(f"A source of instances returned {instance!r}; return an Instance.")
    return instance


class _Judge:
    """A goal evaluated with exact numbers, as programs are; goals that reject such numbers are evaluated in doubles,
    which is noted."""

    def __init__(self, goal: Goal) -> None:
        self.roundings = Roundings()
        self._given = goal
        self._exact: Goal | None = None
        with self._noting(), watching(self.roundings):
            self._exact = exact_value(goal, self.roundings)

    def share(self, instance: Instance, value: Output) -> int | arb:
        """The share of good outputs: 0 or 1 for one output, any share for a range."""
        if self._exact is not None:
            with self._noting(), watching(self.roundings):
                return _share(self._exact, exact_value(instance, self.roundings), value)
        return _share(self._given, instance, value)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except (TimeLimitError, NotEnumerableError):
            raise
        except Exception as error:
            self._exact = None
            self.roundings.note(f"all numbers of the goal, which does not accept exact ones ({error})")


def _share(goal: Goal, instance: Instance, value: Output) -> int | arb:
    """The share of good outputs: 0 or 1 for one output, any share for a range."""
    if not isinstance(value, IntegerRange):
        return int(goal.reached(instance, value))
    good = goal.reached_among(instance, value)
    if good is None:
        if value.size > MOST_MEMBERS:
            raise NotEnumerableError(f"A range of {value.size:,} outputs is too long to evaluate them one by one.")
        good = sum(goal.reached(instance, one) for one in range(value.start, value.stop))
    return arb(good) / arb(value.size)
