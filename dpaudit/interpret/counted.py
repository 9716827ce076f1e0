"""What is left of outputs once an event has been counted in them: its size does not grow with the number of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from math import copysign
from typing import TypeAlias

import numpy as np

from dpaudit.interpret.sample import Outputs, outcomes
from dpaudit.outputs.canonical import Raised, real_shape
from dpaudit.outputs.columns import placed
from dpaudit.outputs.form import Forms


@dataclass(frozen=True)
class Counted:
    """Runs of which only the hits of an event are kept, and what the assumptions of a bound are tested with.

    Args:
        runs: how many.
        hits: how many of them gave an output in the event.
        failures: how many raised, by exception.
        minus_zeros: outputs with −0.0 in them.
        same: the outcome, if all runs gave one and the same; empty otherwise.
        first: the first few outputs, as of `Outputs`.
        forms: counts of the output forms that the outcomes omit.
    """

    runs: int
    hits: int
    failures: dict[Raised, int]
    minus_zeros: int
    same: tuple[Hashable, ...]
    first: Outputs | None = None
    forms: Forms = field(default_factory=Forms, compare=False)


Drawn: TypeAlias = Outputs | Counted
"""What came of some runs."""


def counted(outputs: Outputs, count: Callable[[Outputs], int]) -> Counted:
    """Outputs, counted.

    Args:
        outputs: at least one.
        count: gives the number of outputs in the event.
    """
    failures = {outcome: times for outcome, times in outputs.counts.items() if isinstance(outcome, Raised)}
    first = lone_outcome(outputs)
    same = (first,) if are_all(outputs, first) else ()
    return Counted(
        outputs.runs, count(outputs), failures, minus_zeros(outputs), same, outputs.first, outputs.forms
    )


def summed(parts: Sequence[Counted]) -> Counted:
    """All runs of several counts; of the first few outputs, those of the first."""
    if len(parts) == 1:
        return parts[0]
    failures, forms = Counter[Raised](), Forms()
    for part in parts:
        failures.update(part.failures)
        forms.merge(part.forms)
    same = parts[0].same if all(part.same == parts[0].same for part in parts) else ()
    return Counted(
        sum(part.runs for part in parts), sum(part.hits for part in parts), dict(failures),
        sum(part.minus_zeros for part in parts), same, parts[0].first, forms,
    )


def lone_outcome(outputs: Outputs) -> Hashable:
    """One of the outcomes, which is the only one if all are the same."""
    if outputs.counts:
        return next(iter(outputs.counts))
    return outcomes(outputs.blocks[0][:1])[0] if outputs.blocks else outputs.others[0]


def are_all(outputs: Outputs, outcome: Hashable) -> bool:
    """Whether all outcomes are this one."""
    return (
        set(outputs.counts) <= {outcome}
        and set(outputs.others) <= {outcome}
        and all(real_shape(outcome) == block.shape[1:] and bool((block == outcome).all()) for block in outputs.blocks)
    )


def minus_zeros(outputs: Outputs) -> int:
    """The number of outcomes that hold a −0.0, among those that are stored one by one."""
    found = 0
    for outcome in outputs.others:
        found += any(type(one) is float and one == 0 and copysign(1, one) < 0 for _, one in placed(outcome))
    for block in outputs.blocks:
        minus = (block == 0) & np.signbit(block)
        found += int(minus.reshape(len(block), -1).any(axis=1).sum())
    return found
