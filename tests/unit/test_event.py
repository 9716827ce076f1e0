"""Events count what a person would count, and say what they count."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.adversary.events.event import Event, score
from dpaudit.interpret import Outputs
from dpaudit.language import BOTTOM
from dpaudit.outputs.columns import Column, Linear, Numbers, Vectors
from dpaudit.outputs.plain_json import abridged, jsonable

_atoms = st.sampled_from([0, 1, 2, -3, "a", "b", BOTTOM, None, (1, "x"), True])
_real = st.sampled_from([-2.0, -1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.25])
_ends = st.lists(st.sampled_from([-math.inf, -1.5, -1.0, 0.0, 0.5, 1.0, 2.5, math.inf]), unique=True, max_size=8)


def _intervals(ends: list[float]) -> tuple[tuple[float, float], ...]:
    ends = sorted(ends)
    return tuple(zip(ends[::2], ends[1::2], strict=False))


def _brute(event: Event, values: list[Any]) -> int:
    hits = 0
    for value in values:
        if isinstance(value, tuple) and value and value[0] == "vector":
            weights = event.weights or (1.0,) * len(value[1:])
            position = sum(w * x for w, x in zip(weights, value[1:], strict=True))
            hits += any(low < position <= high for low, high in event.intervals)
        elif isinstance(value, float):
            hits += value in event.atoms or any(low < value <= high for low, high in event.intervals)
        else:
            hits += value in event.atoms
    return hits


@settings(max_examples=300)
@given(st.lists(_atoms), st.lists(_real), st.frozensets(_atoms), _ends)
def test_counts_are_those_of_brute_force(
    atoms: list[Any], reals: list[float], chosen: frozenset[Any], ends: list[float]
) -> None:
    event = Event(chosen, _intervals(ends))
    outputs = Outputs(dict(Counter(atoms)), (np.array(reals),))
    assert event.count(outputs) == _brute(event, [*atoms, *reals])


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1),
    _ends,
    st.none() | st.tuples(st.integers(-2, 2).map(float), st.integers(-2, 2).map(float)),
)
def test_vectors_are_counted_by_their_score(
    rows: list[tuple[int, int]], ends: list[float], weights: tuple[float, float] | None
) -> None:
    event = Event(frozenset(), _intervals(ends), weights)
    outputs = Outputs({}, (np.array(rows, dtype=np.float64),))
    assert event.count(outputs) == _brute(event, [("vector", *map(float, row)) for row in rows])


def test_intervals_are_open_below_and_closed_above() -> None:
    outputs = Outputs({}, (np.array([1.0, 2.0]),))
    assert Event(frozenset(), ((1.0, 2.0),)).count(outputs) == 1
    assert Event(frozenset(), ((0.0, 1.0),)).count(outputs) == 1
    assert Event(frozenset(), ((-math.inf, math.inf),)).count(outputs) == 2
    assert Event().count(outputs) == 0


def test_an_event_and_its_complement_share_all_runs() -> None:
    reals = np.random.default_rng(0).normal(size=1_000)
    outputs = Outputs({}, (reals,))
    for cut in (-1.0, 0.0, 0.3):
        below, above = Event(frozenset(), ((-math.inf, cut),)), Event(frozenset(), ((cut, math.inf),))
        assert below.count(outputs) + above.count(outputs) == 1_000


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Event(), "no output"),
        (Event(frozenset({3})), "output is 3"),
        (Event(frozenset({BOTTOM, 2, 1})), "output is one of {⊥, 1, 2}"),
        (Event(frozenset(range(0, 40, 2))), "output is one of {0, 2, 4, 6, 8, 10, … 14 more}"),
        (Event(frozenset(range(20))), "output is one of {0–19}"),
        (Event(frozenset({BOTTOM, 1, 2, 7, 8, 9})), "output is one of {⊥, 1, 2, 7–9}"),
        (Event(frozenset(), ((3.25, math.inf),)), "output > 3.25"),
        (Event(frozenset(), ((-math.inf, 2.0),)), "output ≤ 2"),
        (Event(frozenset(), ((1.0, 2.0),)), "1 < output ≤ 2"),
        (Event(frozenset(), ((-math.inf, math.inf),)), "output is any number"),
        (
            Event(frozenset(), ((0.0, 1.0), (2.0, math.inf)), (1.0, 0.5)),
            "0 < weights · output ≤ 1 or weights · output > 2",
        ),
        (Event(frozenset({4, 5}), ((3.0, math.inf),), None, (">", 3.0)), "output > 3"),
        (Event(frozenset({4, BOTTOM}), ((3.0, math.inf),), None, (">", 3.0)), "output > 3, or output is ⊥"),
        (Event(frozenset({BOTTOM}), ((3.0, math.inf),)), "output is ⊥, or output > 3"),
        (
            Event(frozenset(), tuple((float(i), i + 0.5) for i in range(6))),
            "0 < output ≤ 0.5 or 1 < output ≤ 1.5 or 2 < output ≤ 2.5 or 3 < output ≤ 3.5 or 2 more intervals",
        ),
    ],
)
def test_descriptions(event: Event, says: str) -> None:
    assert event.description == says


def test_the_json_form_is_plain_and_stable() -> None:
    event = Event(frozenset({"b", "a", BOTTOM, (1, BOTTOM)}), ((-math.inf, 1.5),), (1.0, 0.25))
    assert event.spec == {
        "atoms": ["⊥", "a", "b", [1, "⊥"]],
        "ranges": [],
        "intervals": [[None, 1.5]],
        "weights": [1.0, 0.25],
    }
    assert json.loads(json.dumps(event.spec, allow_nan=False)) == event.spec


def test_consecutive_numbers_are_ranges_in_the_json_form() -> None:
    spec = Event(frozenset({BOTTOM, True, -1, 0, 5, 6, 7, 2**70, *range(100, 200)})).spec
    assert spec["ranges"] == [[5, 7], [100, 199]]
    assert sorted(map(str, spec["atoms"])) == sorted(map(str, [-1, 0, True, 2**70, "⊥"]))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (1, 1),
        (True, True),
        (None, None),
        ("x", "x"),
        (0.5, 0.5),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        ((1, (2.0, BOTTOM)), [1, [2.0, "⊥"]]),
        (frozenset({"b", "a"}), "{'a', 'b'}"),
        (b"x", "b'x'"),
    ],
)
def test_jsonable(value: Any, plain: Any) -> None:
    assert jsonable(value) == plain


def test_scores() -> None:
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert score(rows, None).tolist() == [3.0, 7.0]
    assert score(rows, (1.0, -1.0)).tolist() == [-1.0, -1.0]
    assert score(np.array([5.0]), None).tolist() == [5.0]


def _linear(weights: tuple[float, float]) -> Linear:
    """On the two coordinates of a vector."""
    return Linear(Vectors((0.0,) * 4, (1.0,) * 4, 2), (0, 1), weights, 0.0)


def test_marks_and_counts_agree_on_every_kind_of_output() -> None:
    others = ((1.0, 2.0), (BOTTOM, 0.5))
    outputs = Outputs({1: 2, BOTTOM: 3}, (np.array([[1.0, 2.0], [0.0, 0.5]]),), others)
    for event in (
        Event(frozenset({BOTTOM}), ((1.0, math.inf),)),
        Event(frozenset({1}), ((0.0, 3.0),), (1.0, 1.0)),
        Event(frozenset(), ((0.9, math.inf),), axis=Column(Numbers())),
        Event(frozenset({BOTTOM}), ((2.5, math.inf),), axis=_linear((1.0, 1.0))),
    ):
        one_by_one = [1, 1, BOTTOM, BOTTOM, BOTTOM, *others]
        expected = int(event.marks(one_by_one).sum()) + int(event.marks(outputs.reals).sum())
        assert event.count(outputs) == expected


def test_two_events_are_counted_together() -> None:
    """In numbers, in outcomes that are counted, and in those that are kept one by one."""
    outputs = Outputs({BOTTOM: 3, "a": 4, "b": 5}, (np.array([0.5, 1.5, 2.5, 3.5]),), ((1.0, BOTTOM), ("a", 2.0)))
    one = Event(frozenset({"a", "b", (1.0, BOTTOM)}), ((1.0, 3.0),))
    other = Event(frozenset({"b", BOTTOM, ("a", 2.0)}), ((2.0, math.inf),))
    assert one.count_with(other, outputs) == (one.count(outputs), other.count(outputs), 5 + 1)
    assert one.count_with(one, outputs) == (one.count(outputs),) * 3 == (12,) * 3
    assert one.count_with(Event(), outputs) == (12, 0, 0)


def test_a_vector_is_marked_alike_in_an_array_and_alone() -> None:
    event = Event(frozenset(), ((2.5, math.inf),), (1.0, 1.0))
    rows = [(1.0, 2.0), (0.0, 0.5)]
    assert event.marks(rows).tolist() == event.marks(np.array(rows)).tolist() == [True, False]


def test_an_axis_is_described() -> None:
    whole = Event(frozenset({BOTTOM}), ((3.0, math.inf),), axis=Column(Numbers()))
    assert whole.description == "output is ⊥, or output > 3"
    assert whole.marks([BOTTOM, 3, 4, "x"]).tolist() == [True, False, True, False]
    linear = Event(frozenset(), ((0.31, math.inf),), axis=_linear((1.0, -2.0)))
    assert linear.description == (
        "score of a logistic regression on 2 features (largest weights -2 · output[1], 1 · output[0]) > 0.31"
    )
    assert linear.spec["score"] == {
        "family": "linear", "features": ["output[0]", "output[1]"], "weights": [1.0, -2.0], "bias": 0.0,
        "threshold": 0.31,
    }


def test_long_texts_of_outcomes_are_cut_and_stay_apart() -> None:
    class Long:
        def __init__(self, end: str) -> None:
            self.end = end

        def __repr__(self) -> str:
            return "x" * 5_000 + self.end

    a, b = Long("a"), Long("b")
    event = Event(atoms=frozenset({a, b, (1, a)}))
    texts = [text for atom in event.spec["atoms"] for text in (atom if isinstance(atom, list) else [atom])]
    cut = [text for text in texts if isinstance(text, str)]
    assert {len(text) for text in cut} <= set(range(150, 220))
    assert len(set(cut)) == 2
    assert "5,001 characters" in cut[0]
    assert len(event.description) < 1_000
    assert abridged("y" * 1_000) == "y" * 1_000
    assert jsonable(a) == repr(a)  # records of a dataset are given whole


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (-math.inf, 1.0, "output ≤ 1"),
        (-math.inf, math.nextafter(1.0, 0), "output < 1"),
        (math.nextafter(100.0, 0), math.inf, "output ≥ 100"),
        (-5e-324, math.inf, "output ≥ 0"),
        (0.5, math.inf, "output > 0.5"),
        (math.nextafter(0.5, 0), 2.0, "0.5 ≤ output ≤ 2"),
        (0.5, math.nextafter(2.0, 0), "0.5 < output < 2"),
    ],
)
def test_an_edge_just_below_a_number_is_not_shown_as_that_number(low: float, high: float, says: str) -> None:
    assert Event(frozenset(), ((low, high),)).description == says
