"""Records and datasets as Hypothesis strategies."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dpaudit.adversary.describe import (
    Floats,
    Integers,
    Just,
    Lists,
    Records,
    SampledFrom,
    Tuples,
    parse_records,
)
from dpaudit.auditing.datasets import as_dataset
from dpaudit.errors import ParameterError
from dpaudit.language import Dataset, Multiset
from dpaudit.language.checks import whole

Described: TypeAlias = "SearchStrategy[Any] | Records | str"
"""What records are: a strategy, or a description such as "integers(0, 100)"."""


def records_of(records: Described) -> SearchStrategy[Any]:
    """A strategy for single records.

    Args:
        records: a strategy, of which lists and arrays become tuples, as in datasets; or a description
            (`dpaudit.adversary.describe`).

    Raises:
        DatasetError: a text that describes no records.
        ParameterError: neither of the two.
    """
    if isinstance(records, SearchStrategy):
        # what is not equal to itself is in no relation to anything
        return records.map(_as_record).filter(_equals_itself)
    if isinstance(records, str):
        records = parse_records(records)
    match records:
        case Integers(low, high):
            return st.integers(low, high)
        case Floats(low, high):
            return st.floats(low, high)
        case SampledFrom(choices):
            return st.sampled_from(choices)
        case Tuples(parts):
            return st.tuples(*map(records_of, parts))
        case Lists(entry, least, most):
            return st.lists(records_of(entry), min_size=least, max_size=most).map(tuple)
        case Just(value):
            return st.just(value)
    raise ParameterError(
        f"records must be a Hypothesis strategy or a description such as 'integers(0, 100)', not {records!r}."
    )


def datasets(
    records: Described, *, min_size: int = 0, max_size: int = 10, unique: bool = False, ordered: bool = True
) -> SearchStrategy[Dataset]:
    """Datasets of these records.

    Args:
        records: a strategy of records, or a description ("integers(0, 100)").
        min_size, max_size: numbers of records.
        unique: whether all records of a dataset differ.
        ordered: tuples; False for multisets, whose records must have an order.

    Raises:
        DatasetError: a text that describes no records.
        ParameterError: sizes that are no whole numbers with 0 ≤ min_size ≤ max_size.
    """
    sizes(min_size, max_size)
    lists = st.lists(records_of(records), min_size=min_size, max_size=max_size, unique=unique)
    return lists.map(tuple if ordered else Multiset.of)


def sizes(least: int, most: int) -> None:
    """Check the sizes of datasets.

    Raises:
        ParameterError: they are no whole numbers with 0 ≤ min_size ≤ max_size.
    """
    whole("max_size", most, least=whole("min_size", least, least=0))


def _as_record(value: Any) -> Any:
    (record,) = as_dataset([value])
    return record


def _equals_itself(record: Any) -> bool:
    return bool(record == record)
