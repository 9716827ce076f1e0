"""Exact distances of outputs, against hand-made values."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpaudit.errors import OutputError
from dpaudit.evidence.output_distance import Distance, output_distance
from dpaudit.outputs.canonical import Raised
from dpaudit.results.stability import shown_number

NAN, INF = math.nan, math.inf
FAR = None
"""No finite distance."""


@pytest.mark.parametrize(
    ("metric", "left", "right", "distance"),
    [
        ("absolute", 3, 1, 2),
        ("absolute", True, False, 1),
        ("absolute", 0.1, 0.3, Fraction(0.3) - Fraction(0.1)),
        ("absolute", Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)),
        ("absolute", Decimal("0.1"), 0, Fraction(1, 10)),
        ("absolute", np.float32(0.1), np.int8(0), Fraction(float(np.float32(0.1)))),
        ("absolute", np.array(2.5), 0, Fraction(5, 2)),
        ("absolute", 10**400, -(10**400), 2 * 10**400),
        ("absolute", 1e308, -1e308, 2 * Fraction(1e308)),
        ("absolute", 0.0, -0.0, 0),
        ("absolute", NAN, NAN, 0),
        ("absolute", INF, INF, 0),
        ("absolute", NAN, 1.0, FAR),
        ("absolute", INF, -INF, FAR),
        ("absolute", 0, -INF, FAR),
        ("l1", [1, 2], [3, -1], 5),
        ("l1", (), [], 0),
        ("l1", [1], [1, 2], FAR),
        ("l1", [1], 1, FAR),
        ("l1", 2, 5, 3),
        ("l1", np.ones((2, 2)), np.zeros((2, 2)), 4),
        ("l1", [[1], [2]], [[1], [4]], 2),
        ("l1", {"a": 1}, {"b": 2}, 3),
        ("l1", {"a": [1, 2]}, {}, 3),
        ("l1", {"a": 1}, [1], FAR),
        ("l1", pd.Series([1, 2], index=["a", "b"]), pd.Series([2, 1], index=["b", "a"]), 0),
        ("l1", pd.DataFrame({"x": [1], "y": [2]}), pd.DataFrame({"x": [0], "y": [0]}), 3),
        ("linf", [1, 2], [3, -1], 3),
        ("linf", [], [], 0),
        ("linf", [NAN, 1], [NAN, 0], 1),
        ("linf", [NAN, 1], [0, NAN], FAR),
        ("symmetric", [1, 1, 2], [2, 3], 3),
        ("symmetric", [1, 2], [2, 1], 0),
        ("symmetric", np.array([[1.0, NAN]]), np.array([[1.0, NAN], [0.0, 0.0]]), 1),
        ("symmetric", pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [2]}), 1),
        ("insert-delete", [1, 2], [2, 1], 2),
        ("insert-delete", [0, 1, 2], [2, 1, 0], 4),
        ("change-one", [1, 2], [2, 3], 1),
        ("change-one", [1, 2], [2], FAR),
        ("hamming", [1, 2], [2, 1], 2),
        ("hamming", [1, 2], [1, 2, 3], FAR),
        ("discrete", "a", "b", 1),
        ("discrete", [1, "x"], (1, "x"), 0),
        ("discrete", NAN, NAN, 0),
    ],
)
def test_distances(metric: str, left: Any, right: Any, distance: Fraction | int | None) -> None:
    for one, other in ((left, right), (right, left)):
        found = output_distance(metric, one, other, "f")
        assert found.value == distance
        assert not found.squared
        assert found.exceeds(Fraction(10**500)) is (distance is FAR)
        assert bool(found.why) is (distance is FAR)
        if distance is not FAR:
            assert not found.exceeds(Fraction(distance))
            assert distance == 0 or found.exceeds(Fraction(distance) - Fraction(1, 10**30))


def test_euclidean_distances_are_compared_without_a_root() -> None:
    found = output_distance("l2", [0, 0], [1, 2], "f")
    assert (found.value, found.squared) == (Fraction(5), True)
    assert found.text() == found.shown() == "√5"
    assert float(found) == math.sqrt(5)
    # the double below √5, and the one above it
    below = Fraction(math.sqrt(5)) if Fraction(math.sqrt(5)) ** 2 < 5 else Fraction(math.nextafter(math.sqrt(5), 0))
    assert found.exceeds(below)
    assert not found.exceeds(Fraction(math.nextafter(float(below), 9)))
    assert output_distance("l2", [0, 0], [3, 4], "f").text() == "5"
    assert output_distance("l2", [0], [0.5], "f").text() == "1/2"
    assert output_distance("l2", [0, 0], [0.5, 0.5], "f").text() == "√(1/2)"


def test_a_call_that_raises_on_one_dataset_alone() -> None:
    failure = Raised("ValueError", "ValueError: no records (f.py, line 3)")
    found = output_distance("absolute", 1, failure, "f")
    assert (found.value, found.raises) == (None, True)
    assert found.why == "on D′ alone the call raised ValueError: no records (f.py, line 3)"
    assert output_distance("absolute", failure, failure, "f").value == 0


@pytest.mark.parametrize(
    ("metric", "output", "sentence"),
    [
        ("absolute", [1], "f returned a list; give --metric l1, l2 or linf for vectors"),
        ("absolute", {"a": 1}, "f returned a dict; give --metric l1"),
        ("absolute", "1", "f returned str '1'; give --metric"),
        ("absolute", None, "f returned None; give"),
        ("l1", ["a"], "f returned str 'a'; give --metric symmetric, insert-delete"),
        ("l1", [1j], "f returned complex 1j"),
        ("symmetric", 3, "f returned a int; give --metric absolute, l1"),
        ("hamming", {"a": 1}, "f returned a dict; give --metric absolute"),
        ("symmetric", "ab", "f returned a str; give"),
    ],
)
def test_outputs_that_do_not_suit_the_metric(metric: str, output: Any, sentence: str) -> None:
    with pytest.raises(OutputError, match=sentence):
        output_distance(metric, output, output, "f")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"), (Fraction(1, 3), "1/3"), (Fraction(0.1), "0.1"), (Fraction(1, 10), "1/10"),
        (Fraction(1 + 2**-52), "1.0000000000000002"), (Fraction(1, 3) ** 60, "about 2.3589824875925728e-29"),
        (Fraction(10**400), "more than 1.8e+308"),
    ],
)
def test_numbers_as_shown(value: Fraction, text: str) -> None:
    assert shown_number(value) == text


def test_an_infinite_distance() -> None:
    assert Distance(None, why="so").text() == "infinite"
    assert float(Distance(None)) == INF
