"""The probability that a goal is reached: exactly, from the laws of inputs and outputs, and by runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.errors import MechanismError, NotEnumerableError
from dpaudit.interpret import ball_law, sample
from dpaudit.interpret.balls import PRECISION
from dpaudit.interpret.walk import refuse_failures
from dpaudit.language import Instance, Span, Trial

MOST_PATHS = 200_000
"""Laws with more paths are left to runs."""
MOST_INSTANCES = 5_000
MOST_MEMBERS = 100_000
"""A span with more members is not judged one by one."""


@dataclass(frozen=True)
class Judged(Trial):
    """The same trial, many at once: the outputs on one instance are drawn together, and equal ones judged once."""

    def bulk(self, dataset: Any, size: int, rng: Generator) -> NDArray[np.bool_]:
        """`size` independent trials, in no order."""
        hits = 0
        for instance, times in sample(self.instances, (), size, seed=rng).each():
            refuse_failures(self.instances.name, [instance])
            given = checked(instance)
            outputs = sample(self.subject, given.dataset, times, seed=rng)
            refuse_failures(self.subject.name, outputs.counts)
            hits += sum(count for value, count in outputs.each() if self.goal.reached(given, value))
        return np.arange(size) < hits


def exactly(trial: Trial) -> tuple[float, float, float]:
    """Pr[success], and the doubles that enclose it: (low, nearest, high).

    Raises:
        NotEnumerableError: inputs or outputs have no law that can be enumerated, or too large a one.
    """
    instances = ball_law(trial.instances, (), path_limit=MOST_PATHS)
    if len(instances) > MOST_INSTANCES:
        raise NotEnumerableError(f"There are more than {MOST_INSTANCES:,} different inputs; runs draw some of them.")
    with ctx.workprec(PRECISION):
        total = arb(0)
        refuse_failures(trial.instances.name, instances.values)
        for instance, mass in instances.as_dict().items():
            law = ball_law(trial.subject, checked(instance).dataset, path_limit=MOST_PATHS)
            refuse_failures(trial.subject.name, law.values)
            for value, p in law.as_dict().items():
                share = _share(trial, checked(instance), value)
                total += mass * p * share
    low, high = math.nextafter(float(total.lower()), -math.inf), math.nextafter(float(total.upper()), math.inf)
    return max(0.0, low), min(1.0, float(total.mid())), min(1.0, high)


def checked(instance: Any) -> Instance:
    """It, if it is an instance.

    Raises:
        MechanismError: it is something else.
    """
    if not isinstance(instance, Instance):
        raise MechanismError(f"A source of instances returned {instance!r}; return an Instance.")
    return instance


def _share(trial: Trial, instance: Instance, value: Any) -> Any:
    """Of an outcome, how much is good: 0 or 1, of a span any share."""
    if not isinstance(value, Span):
        return int(trial.goal.reached(instance, value))
    good = trial.goal.reached_among(instance, value)
    if good is None:
        if value.size > MOST_MEMBERS:
            raise NotEnumerableError(f"A span of {value.size:,} outputs is too long to judge them one by one.")
        good = sum(trial.goal.reached(instance, one) for one in range(value.start, value.stop))
    return arb(good) / arb(value.size)
