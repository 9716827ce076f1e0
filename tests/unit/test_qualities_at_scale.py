"""The catalogue's qualities in pieces, against their definitions solution by solution, on ranges of any length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpaudit.cli.requests import parameter
from dpaudit.errors import DatasetError
from dpaudit.interpret import law
from dpaudit.language import Multiplicity, Multiset, Quality
from dpaudit.outputs.canonical import Raised
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.interior_points.interior_point import Depth, InteriorPointByMedian, MedianUtility
from dpaudit_algorithms.pac.learn_points import PositiveExamples
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds

SIZES = (1, 2, 50, 2**16, 2**16 + 1, 2**64, 2**200)
Definition = Callable[[list[Any], int], float]


def _consistent(S: list[Any], j: int) -> float:
    return sum((x <= j) == bool(y) for x, y in S)


def _positive(S: list[Any], j: int) -> float:
    return sum(x == j and y == 1 for x, y in S)


def _median(S: list[Any], y: int) -> float:
    return -abs(len(S) / 2 - sum(x <= y for x in S))


def _depth(S: list[Any], y: int) -> float:
    return min(sum(x >= y for x in S), sum(x <= y for x in S))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("quality", "definition", "first", "labelled"),
    [
        (Consistency, _consistent, 0, True),
        (PositiveExamples, _positive, 0, True),
        (MedianUtility, _median, 1, False),
        (Depth, _depth, 1, False),
        (lambda size: Multiplicity(range(1, size + 1)), list.count, 1, False),
    ],
)
def test_definitions(
    size: int, quality: Callable[[int], Quality], definition: Definition, first: int, labelled: bool
) -> None:
    rng = np.random.default_rng(size % 1000 + 100)
    for n in (0, 1, 7, 40):
        places = [first + int(x) * size // 2**40 for x in rng.integers(0, 2**40, n)]
        places += [first, first + size - 1] * (n > 1) + places[:3]
        S = [(x, int(rng.integers(2))) for x in places] if labelled else places
        scores = quality(size)(Multiset.of(S)).steps
        assert scores.size == size
        assert len(scores.values) <= 2 * len(S) + 1
        asked = {first, first + size - 1, *(x + d for x in places for d in (-1, 0, 1))}
        for j in sorted(a for a in asked if first <= a < first + size):
            (value,) = [v for a, b, v in zip(scores.starts, scores.stops, scores.values, strict=True) if a <= j < b]
            assert value == definition(S, j)


@pytest.mark.parametrize(
    ("mechanism", "dataset"),
    [
        (LearnThresholds(2**64), ((2**64, 1),)),
        (LearnThresholds(2**64), ((0.5, 1),)),
        (InteriorPointByMedian(1.0, 2**64), (0,)),
        (InteriorPointByMedian(1.0, 2**64), (1.5,)),
    ],
)
def test_records_outside_are_refused(mechanism: Any, dataset: Any) -> None:
    try:
        found = law(mechanism, dataset)
    except DatasetError:
        return
    assert all(isinstance(value, Raised) for value in found.values)


def test_the_choosing_mechanism_sees_few_of_many_solutions() -> None:
    S = Multiset.counted({3: 200, 2**64: 190})
    everywhere, listed = (
        law(ChoosingMechanism(0.5, 2.0, 0.5, Multiplicity(solutions)), S).as_dict()
        for solutions in (range(1, 2**64 + 1), (3, 5, 2**64))
    )
    assert everywhere == pytest.approx(listed)


@pytest.mark.parametrize(
    ("text", "value"), [("size=2**64", 2**64), ("size= 10**2 ", 100), ("size=16", 16), ("size=2**x", "2**x")]
)
def test_sizes_on_the_command_line(text: str, value: object) -> None:
    assert parameter(text) == ("size", value)
