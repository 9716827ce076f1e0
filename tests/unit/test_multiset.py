"""Multisets against plain counters."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import DatasetError
from dpaudit.language import Multiset

RECORDS = st.lists(st.integers(-3, 5), max_size=12)
quick = settings(max_examples=100)


@quick
@given(RECORDS)
def test_is_the_sorted_records(records: list[int]) -> None:
    dataset = Multiset.of(records)
    assert list(dataset) == sorted(records)
    assert len(dataset) == len(records)
    assert dataset == Multiset.of(reversed(records)) == Multiset.counted(Counter(records)) == Multiset.of(dataset)
    assert hash(dataset) == hash(Multiset.of(sorted(records)))
    assert dataset.values == tuple(sorted(set(records)))
    assert dataset.counts.tolist() == [records.count(v) for v in dataset.values]
    assert dataset.counts.dtype == np.int64


@quick
@given(RECORDS, st.integers(-2, 14), st.integers(-4, 6))
def test_order_statistics(records: list[int], size: int, value: int) -> None:
    dataset = Multiset.of(records)
    assert list(dataset.smallest(size)) == sorted(records)[: max(0, size)]
    assert dataset.at_least(value) == sum(r >= value for r in records)
    assert dataset.at_most(value) == sum(r <= value for r in records)


@quick
@given(RECORDS, RECORDS)
def test_change(records: list[int], more: list[int]) -> None:
    dataset = Multiset.of(records)
    assert dataset.changed(add=more) == Multiset.of(records + more)
    assert dataset.changed(add=more).changed(remove=more) == dataset
    assert dataset.changed(remove=records[:2]) == Multiset.of(records[2:])
    assert list(dataset) == sorted(records)


def test_cannot_remove_what_is_not_there() -> None:
    with pytest.raises(DatasetError, match="no record 4 to remove"):
        Multiset.of((1, 1)).changed(remove=(4,))
    with pytest.raises(DatasetError, match="no record 1 to remove"):
        Multiset.of((1, 1)).changed(remove=(1, 1, 1))


@pytest.mark.parametrize("count", [-1, 1.0, True, "2", None])
def test_bad_multiplicities(count: object) -> None:
    with pytest.raises(DatasetError, match="whole number"):
        Multiset.counted({3: count})  # type: ignore[dict-item]


def test_numpy_multiplicities() -> None:
    assert Multiset.counted({3: np.int64(2), 4: np.int64(0)}) == Multiset.of((3, 3))


@pytest.mark.parametrize("records", [(1, "a"), ([1],), ({},)])
def test_records_that_form_no_multiset(records: tuple[object, ...]) -> None:
    with pytest.raises(DatasetError, match="cannot form a multiset"):
        Multiset.of(records)  # type: ignore[arg-type]


def test_unorderable_values_of_a_counter() -> None:
    with pytest.raises(DatasetError, match="cannot form a multiset"):
        Multiset.counted({1: 2, "a": 3})


def test_prints_by_multiplicity() -> None:
    assert repr(Multiset.counted({0: 745_000, 3: 1})) == "{0×745,000, 3×1}"
    assert len(Multiset.counted({0: 745_000, 3: 1})) == 745_001


def test_more_records_than_can_be_counted_are_refused() -> None:
    assert len(Multiset.counted({0: 2**63 - 1})) == 2**63 - 1
    with pytest.raises(DatasetError, match="at most 9,223,372,036,854,775,807 records"):
        Multiset.counted({0: 2**63 - 1, 1: 1})
