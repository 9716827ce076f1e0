"""Scores in pieces: the same as scores one by one, and ranges too long for a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import ParameterError
from dpaudit.interpret import law
from dpaudit.interpret.range_laws import members
from dpaudit.language import (
    Draw,
    Given,
    IntegerRange,
    Mechanism,
    Multiplicity,
    Scored,
    Scores,
    StepScores,
    StepSoftmax,
    step_scores,
)
from dpaudit.language.distributions import plain
from dpaudit.language.scores import LISTED
from dpaudit.outputs.ranges import wholes

LISTS = st.lists(st.integers(0, 3), min_size=1, max_size=12)
BIG = 2**64


@dataclass(frozen=True)
class Chosen(Mechanism):
    """The exponential mechanism on scores."""

    def run(self, S: Any) -> Draw:
        return Given()(S).softmax(0.7)


def listed(scores: Scores | StepScores) -> dict[int, float]:
    if isinstance(scores, Scores):
        return dict(zip(plain(scores.solutions), scores.values.tolist(), strict=True))
    pieces = zip(scores.starts.tolist(), scores.stops.tolist(), scores.values.tolist(), strict=True)
    return {i: value for start, stop, value in pieces for i in range(start, stop)}


@settings(max_examples=200)
@given(LISTS, st.sampled_from([0, 1, -2, BIG]))
def test_the_same_as_one_by_one(values: list[int], first: int) -> None:
    dense = Scores(values, range(first, first + len(values)))
    steps = dense.steps
    assert listed(steps) == listed(dense)
    assert steps.size == len(steps) == dense.size
    assert steps.best() == dense.best()
    if len(values) > 1:
        assert steps.two_highest() == dense.two_highest()
    assert listed(steps.at_least(2)) == listed(dense.at_least(2))
    exact = law(Chosen(), steps)
    found, probs = members(exact.values, exact.probs, "law")
    softmax = dense.softmax(0.7)
    assert dict(zip(plain(found), probs.tolist(), strict=True)) == pytest.approx(
        dict(zip(plain(softmax.values), softmax.probs.tolist(), strict=True)), rel=1e-14
    )


@settings(max_examples=200)
@given(LISTS, st.lists(st.integers(-2, 14), min_size=2, max_size=4, unique=True))
def test_parts_are_those_of_a_list(values: list[int], cuts: list[int]) -> None:
    cuts.sort()
    ranges = [IntegerRange(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    expected = {i: float(v) for i, v in enumerate(values) if any(i in range_ for range_ in ranges)}
    assert listed(Scores(values).only(ranges)) == expected
    assert listed(Scores(values).steps.only(ranges)) == expected


@settings(max_examples=300)
@given(LISTS, st.booleans())
def test_joined_extended_and_without_the_first(values: list[int], big: bool) -> None:
    steps = Scores(values).steps
    if big:  # the same with Python's own integers
        steps = StepScores._of(*(np.array(e, dtype=object) for e in (steps.starts, steps.stops)), steps.values)
    pairs = [float(max(values[i : i + 2])) for i in range(0, len(values), 2)]
    assert listed(steps.joined()) == dict(enumerate(pairs))
    assert listed(steps.without_first()) == dict(enumerate(map(float, values[1:])))
    assert listed(steps.extended(len(values) + 3, 1.0)) == dict(enumerate([*map(float, values), 1.0, 1.0, 1.0]))
    assert steps.extended(len(values), 1.0) == steps
    twice = [float(max(values[i : i + 4])) for i in range(0, len(values), 4)]
    assert listed(steps.joined().joined()) == dict(enumerate(twice))
    shifted = [float(max(values[i : i + 2])) for i in range(1, len(values), 2)]
    assert listed(steps.without_first().joined()) == dict(enumerate(shifted))


def test_pieces_are_compared_by_content() -> None:
    assert StepScores((0, 2, 4), (1, 1, 2), 5) == StepScores((0, 4), (1.0, 2.0), 5)
    assert hash(StepScores((0, 2), (0.0, -0.0), 3)) == hash(StepScores((0,), (0,), 3))
    different = [StepScores((0,), (1,), 3), StepScores((0,), (1,), 4), StepScores((1,), (1,), 4), Scores([1, 1, 1])]
    assert len(set(different)) == 4


def test_ranges_of_any_length() -> None:
    steps = StepScores((0, BIG - 2, BIG - 1), (1, 5, 5), BIG)
    assert steps.size == BIG
    with pytest.raises(OverflowError):
        len(steps)
    assert steps.two_highest() == (Scored(BIG - 2, 5.0), Scored(BIG - 1, 5.0))
    assert steps.joined() == StepScores((0, BIG // 2 - 1), (1, 5), BIG // 2)
    assert steps.only([IntegerRange(BIG - 1, BIG + 7)]) == StepScores((BIG - 1,), (5,), BIG)
    assert StepScores((0,), (1,), 9).only([IntegerRange(-BIG, BIG)]).size == 9
    assert not steps.only([]).size
    assert Given()(steps) is steps
    spread = StepSoftmax(steps, 1.0).spread
    assert spread.masses.sum() == pytest.approx(1)
    assert StepScores((0,), (0,), 2**5000).softmax(1.0).spread.masses.tolist() == [1.0]


def test_small_ranges_are_listed() -> None:
    assert isinstance(step_scores((0, 3), (1, 2), LISTED), Scores)
    assert isinstance(step_scores((0, 3), (1, 2), LISTED + 1), StepScores)
    assert step_scores((1, 3), (1, 2), 5) == Scores([1, 1, 2, 2], range(1, 5))


@pytest.mark.parametrize("top", [20, LISTED + 3, BIG])
def test_multiplicities_in_a_range(top: int) -> None:
    scores = Multiplicity(range(1, top))((3, 3, 4, top - 1, 0, "other")[:5])
    assert scores.two_highest() == (Scored(3, 2.0), Scored(4, 1.0))
    assert scores.size == top - 1
    kept = scores.at_least(1)
    assert listed(kept) == {3: 2.0, 4: 1.0, top - 1: 1.0}


@pytest.mark.parametrize(
    ("starts", "values", "stop", "says"),
    [
        ((0, 1), (1.0,), 3, "1 scores and 2 pieces"),
        ((0, 0), (1.0, 2.0), 3, "ascend"),
        ((0, 3), (1.0, 2.0), 3, "ascend"),
        ((0,), (float("inf"),), 3, "finite"),
    ],
)
def test_bad_pieces(starts: tuple[int, ...], values: tuple[float, ...], stop: int, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        StepScores(starts, values, stop)


def test_what_has_no_pieces_says_so() -> None:
    with pytest.raises(ParameterError, match="consecutive"):
        _ = Scores([1, 2], ("a", "b")).steps
    with pytest.raises(ParameterError, match="at least two"):
        StepScores((4,), (1,), 5).two_highest()
    with pytest.raises(ParameterError, match="at least one"):
        StepScores((), (), 0).softmax(1.0)
    with pytest.raises(TypeError):
        wholes([1.5])  # type: ignore[list-item]
