"""Scores, their ties, and their digests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import ParameterError
from dpaudit.language import Given, Multiplicity, Multiset, Scored, Scores


@settings(max_examples=200)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_two_highest_break_ties_by_order(values: list[int]) -> None:
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    scores = Scores(values)
    assert scores.two_highest() == (Scored(order[0], values[order[0]]), Scored(order[1], values[order[1]]))
    assert scores.best() == scores.two_highest()[0]


def test_one_solution() -> None:
    assert Scores([4.0], ["only"]).best() == Scored("only", 4.0)
    with pytest.raises(ParameterError, match="at least two"):
        Scores([4.0]).two_highest()


@pytest.mark.parametrize("values", [[1.0, float("nan")], [float("inf")], [[1.0, 2.0]], 3.0])
def test_bad_scores(values: object) -> None:
    with pytest.raises(ParameterError, match="vector of finite numbers"):
        Scores(values)


def test_another_number_of_solutions() -> None:
    with pytest.raises(ParameterError, match="2 scores and 3 solutions"):
        Scores([1, 2], "abc")


def test_equal_by_content() -> None:
    assert Scores([1, 2], ("a", "b")) == Scores(np.array([1.0, 2.0]), ("a", "b"))
    assert hash(Scores([1, 2])) == hash(Scores((1.0, 2.0)))
    other_values = [Scores([1, 2]), Scores([1, 3]), Scores([1, 2, 0])]
    other_solutions = [Scores([1, 2], ("a", "b")), Scores([1, 2], (0.0, 1.0))]
    assert len({*other_values, *other_solutions}) == 5
    # solutions that print alike because the middle is left out
    left, right = np.arange(5000), np.arange(5000)
    right[2500] = -1
    assert repr(left) == repr(right)
    assert Scores(np.zeros(5000), left) != Scores(np.zeros(5000), right)  # type: ignore[arg-type]


def test_a_callers_array_is_left_alone() -> None:
    mine = np.array([1.0, 2.0])
    scores = Scores(mine)
    mine[0] = 7
    assert scores.values.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0] = 3


def test_multiplicity_counts() -> None:
    quality = Multiplicity(("a", "b", "c"))
    assert quality(("b", "a", "b", "z")).values.tolist() == [1, 2, 0]
    assert quality(Multiset.of("bab")).best() == Scored("b", 2)
    assert (quality.growth, quality.sensitivity) == (1, 1.0)


def test_given_scores() -> None:
    scores = Scores([3, 1])
    assert Given()(scores) is scores
    assert Given()((3, 1)) == scores


def test_prints_short() -> None:
    assert repr(Scores([1, 2])) == "Scores([1.0, 2.0])"
    assert repr(Scores(np.zeros(1 << 16))) == "Scores of 65536 solutions"
