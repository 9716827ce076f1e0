"""Values that are equal in Python and not the same, such as 1 and True, are refused wherever they would be added up.

Runs that draw the same value go on together: a program that was sent 1 in the place of True would be sampled wrongly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from numpy.random import SeedSequence

from dpaudit.errors import OutputError
from dpaudit.interpret import Tally, law, sample
from dpaudit.language import Mechanism, Uniform
from dpaudit.subjects.target import MechanismTarget

Program = Any
"""Of a mechanism: a generator."""
EQUAL = [(True, 1), (1, True), (False, 0), ((1, 0), (True, 0)), (((2, True),), ((2, 1),)), (Fraction(1), 1)]


@dataclass(frozen=True)
class Part(Mechanism):
    values: tuple[Any, ...]

    def run(self, dataset: Any) -> Program:
        return self.values[(yield Uniform(tuple(range(len(self.values)))))]


@dataclass(frozen=True)
class Told(Mechanism):
    """It says what kind of value a part has drawn."""

    values: tuple[Any, ...]
    draw: Callable[[tuple[Any, ...], Any], Any]

    def run(self, dataset: Any) -> Program:
        return repr((yield self.draw(self.values, dataset)))


def applied(values: tuple[Any, ...], dataset: Any) -> Any:
    return Part(values).on(dataset)


def continued(values: tuple[Any, ...], dataset: Any) -> Any:
    return Uniform(tuple(range(len(values)))).then(lambda place: values[place])


def applied_after(values: tuple[Any, ...], dataset: Any) -> Any:
    return Uniform(tuple(range(len(values)))).then(lambda place: Part((values[place],)).on(dataset))


DRAWS = pytest.mark.parametrize("draw", [applied, continued, applied_after])


@DRAWS
@pytest.mark.parametrize("values", EQUAL, ids=repr)
def test_no_program_is_sent_the_one_for_the_other(draw: Any, values: tuple[Any, Any]) -> None:
    with pytest.raises(OutputError, match="equal in Python"):
        sample(Told(values, draw), (0,), 1_000, seed=1)
    with pytest.raises(OutputError, match="equal in Python"):
        law(Told(values, draw), (0,))


@DRAWS
def test_others_are_sampled(draw: Any) -> None:
    values = (True, False, 2, "1", None, (1, 0), (True, 2), Fraction(1, 2))
    counts = sample(Told(values, draw), (0,), 8_000, seed=1).counts
    assert set(counts) == set(map(repr, values))


def test_blocks_are_not_merged_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MechanismTarget, "block", 1)
    for part, refused in ((Part((1, True)), True), (Part((1, 0)), False)):
        target = MechanismTarget("it", "here", part)
        with pytest.raises(OutputError, match="equal in Python") if refused else contextlib.nullcontext():
            assert target.runs((0,), 50, SeedSequence(1)).runs == 50


@pytest.mark.parametrize("values", EQUAL, ids=repr)
def test_they_are_not_counted_as_one(values: tuple[Any, Any]) -> None:
    tally, other = Tally(strict=True), Tally()
    tally.add(values[0], 3)
    other.add(values[1], 2)
    with pytest.raises(OutputError, match="equal in Python"):
        tally.merge(other.outputs())
    with pytest.raises(OutputError, match="equal in Python"):
        tally.add(values[1], 2)
    tally.add(values[0], 4)
    assert list(tally.outputs().counts.values()) == [7]
