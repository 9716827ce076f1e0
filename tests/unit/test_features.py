"""What a learner sees: rows of numbers that are the same for an array and for the same outputs one by one."""

from __future__ import annotations

import math
import pickle
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from dpaudit.adversary.events.mixed import Mixed
from dpaudit.language import BOTTOM
from dpaudit.outputs.columns import Column, Density, Encoder, Linear, Numbers, Table, Values, Vectors, as_number, flat

ROWS = np.random.default_rng(0).normal(size=(50, 3))
TUPLES = [tuple(row) for row in ROWS.tolist()]
MIXED: list[Any] = [(BOTTOM, 0.5), (0.25,), "ab", 3, None, (1, (2.0, "x")), True, (), 10**400, *TUPLES[:5]]


@pytest.mark.parametrize("encoder", [Vectors.of(ROWS, ROWS + 1), Mixed.of([*TUPLES, (BOTTOM, 1.0)])])
def test_arrays_and_tuples_are_read_alike(encoder: Encoder) -> None:
    assert np.array_equal(encoder.encode(ROWS), encoder.encode(TUPLES), equal_nan=True)
    assert encoder.encode(ROWS).shape == (50, len(encoder.names))


@pytest.mark.parametrize("encoder", [Numbers(), Vectors.of(ROWS, ROWS + 1), Mixed.of(MIXED)])
def test_rows_do_not_depend_on_their_neighbours(encoder: Encoder) -> None:
    whole = encoder.encode(MIXED)
    alone = np.vstack([encoder.encode([value]) for value in MIXED])
    assert np.array_equal(whole, alone, equal_nan=True)
    again = pickle.loads(pickle.dumps(encoder))
    assert np.array_equal(whole, again.encode(MIXED), equal_nan=True)
    groups = {j for columns in encoder.groups.values() for j in columns}
    assert groups == set(range(len(encoder.names)))


def test_numbers() -> None:
    found = Numbers().encode([1, 0.5, True, "x", (1.0,), 10**400])[:, 0]
    # True is 1, and a vector of one number is read as it
    assert found[[0, 1, 2, 4]].tolist() == [1.0, 0.5, 1.0, 1.0]
    assert np.isnan(found[[3, 5]]).all()
    assert np.isnan(Numbers().encode(ROWS)).all()


def test_what_does_not_fit_has_no_score() -> None:
    encoder = Vectors.of(ROWS, ROWS)
    linear = Linear(encoder, (0, 1), (1.0, 2.0), 0.5)
    scores = linear.scores([(1.0, 2.0, 0.0), (1.0, 2.0), BOTTOM, "abc", (1.0, 2.0, None)])
    assert scores[0] == 5.5
    assert np.isnan(scores[1:]).all()


def test_columns_of_vectors() -> None:
    encoder = Vectors.of(ROWS, ROWS)
    row = dict(zip(encoder.names, encoder.encode([(1.0, 4.0, 2.0)])[0].tolist(), strict=True))
    assert row["output[1]"] == 4.0
    assert row["output[0] − 0"] == 1.0
    assert row["output[2] − output[1]"] == -2.0
    assert row["sum"] == 7.0
    assert row["largest step"] == 3.0
    assert row["place of the largest"] == 1.0
    assert row["rank 2 of the sorted output"] == 4.0


def test_columns_of_mixed_outputs() -> None:
    encoder = Mixed.of([(0, 0, BOTTOM), (0, 1), (0.5, BOTTOM, 1), (0,)])
    row = dict(zip(encoder.names, encoder.encode([(0, 1, BOTTOM)])[0].tolist(), strict=True))
    assert row["length"] == 3
    assert row["count of 0"] == 1
    assert row["index of the first 1"] == 1
    assert row["output[2] is ⊥"] == 1


def test_density_takes_arrays_alone() -> None:
    def ratio(rows: Any) -> Any:
        assert isinstance(rows, np.ndarray)
        return np.where(rows > 1, np.inf, rows) if rows.ndim == 1 else rows.sum(axis=1)

    scores = Column(Density(ratio)).scores([0.5, 2, BOTTOM, (1.0, 2.0)])
    assert scores[:2].tolist() == [0.5, 1e300]
    assert np.isnan(scores[2])
    assert scores[3] == 3.0


def test_tables_know_their_values_alone() -> None:
    table = Table(Numbers(), 0, (1.0, 3.0), (-0.5, 0.5))
    assert table.scores([1, 3]).tolist() == [-0.5, 0.5]
    assert np.isnan(table.scores([0, 2, 4, "x"])).all()


def test_flat() -> None:
    assert flat((1, (2.0, ("x",)))) == (1, 2.0, "x")
    assert flat("ab") == ("a", "b")
    assert flat(None) == (None,)
    assert flat(b"ab") == ("a", "b")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (Decimal("0.5"), 0.5), (Fraction(1, 4), 0.25), (True, 1.0), (timedelta(days=1, seconds=0.5), 86_400.5),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=1))), 3600.0),
        (datetime(1970, 1, 2, 0, 0, 1), 86_401.0),
        (time(1, 2, 3, 500_000), 3723.5), (np.timedelta64(7, "us"), 7.0), (UUID(int=12), 12.0),
    ],
)  # fmt: skip
def test_values_that_are_read_as_numbers(value: Any, number: float) -> None:
    assert as_number(value) == number


def test_every_day_is_another_number() -> None:
    days = [as_number(date.fromordinal(737_000 + day)) for day in range(1000)]
    assert np.unique(np.diff(days)).tolist() == [86_400.0]


@pytest.mark.parametrize("value", ["1", b"1", None, BOTTOM, math.inf, Decimal("NaN"), 10**400, (1,), object()])
def test_what_is_no_finite_number_is_not_read_as_one(value: Any) -> None:
    assert math.isnan(as_number(value))


def test_members_of_a_set_have_one_order() -> None:
    """Numbers by size, and others by their text: the order of a set of strings is another one in every process."""
    for members in permutations([10.5, -2, 3, "b", "a", "c"]):
        assert flat(frozenset(members)) == (-2, 3, 10.5, "a", "b", "c")


def test_numbers_beyond_doubles_have_finite_features() -> None:
    values = [("a", number) for number in (math.inf, -math.inf, 1e308, -1e308, 10**400, 5e-324)]
    with np.errstate(all="raise"):
        encoder = Mixed.of(values)
        features = encoder.encode(values)
    assert np.isfinite(features).all()
    assert len(np.unique(features, axis=0)) >= 3


def test_of_long_vectors_those_coordinates_are_looked_at_that_tell_most() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(200, 5_000)), rng.normal(size=(200, 5_000))
    right[:, 4_321] += 3.0
    right[:, 17] *= 9.0
    encoder = Vectors.of(left, right)
    assert len(encoder.names) < 300
    assert {"output[4321]", "output[17]"} <= set(encoder.names)
    columns = encoder.encode(left)
    assert columns.shape == (200, len(encoder.names))
    assert np.array_equal(columns[:, encoder.names.index("output[4321]")], left[:, 4_321])
    assert columns[:, encoder.names.index("sum")] == pytest.approx(left.sum(axis=1))
    # one at a time as all together
    assert np.array_equal(encoder.encode(left[:1]), columns[:1])


def test_only_monotone_copies_are_not_distinct() -> None:
    """Rows in the order of some distinct column are in order in every other column: trees lose nothing without it."""
    rng = np.random.default_rng(20)
    rows = rng.laplace(size=(400, 4))
    tuples = [(float(a), "⊥" if b > 0 else float(b), None if c > 1 else float(c)) for a, b, c, _ in rows]
    encoded: list[tuple[Encoder, Values]] = [(Vectors.of(rows[:200], rows[200:]), rows), (Mixed.of(tuples), tuples)]
    for encoder, values in encoded:
        columns = encoder.encode(values)
        others = sorted(set(range(len(encoder.names))) - set(encoder.distinct))
        assert others
        for j in others:
            in_order = (
                np.diff(columns[np.lexsort((columns[:, j], columns[:, i])), j]) >= -1e-12 for i in encoder.distinct
            )
            assert any(steps.all() for steps in in_order), encoder.names[j]
