"""Records and datasets as Hypothesis strategies."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

from dpaudit.adversary.pairs.describe import Floats, Integers, Just, Lists, Records, SampledFrom, Tuples
from dpaudit.adversary.pairs.description import parse_description, parse_records
from dpaudit.adversary.pairs.minimize import simplicity
from dpaudit.errors import DatasetError, ParameterError
from dpaudit.language import Dataset, Multiset
from dpaudit.language.checks import whole
from dpaudit.language.containers import Container, Frame, library
from dpaudit.language.records import as_record, exception_of, leaves_of, plain_record
from dpaudit.language.relation import plain_records
from dpaudit.results.datasets import as_dataset

ORDINARY = 9
"""Number of ordinary records per record that is NaN, infinite or −0.0."""

LISTS, LIST_SIZE = 40, 50
"""Number of lists searched for exceptional records, and number of records in each."""
MOST_EXCEPTIONAL = 12
"""Most exceptional records that a search mixes in."""

Described: TypeAlias = "SearchStrategy[object] | Records | str"
"""The kind of record: a strategy, or a description such as "integers(0, 100)"."""


def records_of(records: Described) -> SearchStrategy[object]:
    """A strategy for single records, including NaN and −0.0 if the description or strategy includes them.

    Args:
        records: a strategy, whose lists and arrays become tuples, as in datasets; or a description
            (`dpaudit.adversary.pairs.description`).

    Raises:
        DatasetError: the string is not a description of records.
        ParameterError: it is neither a strategy nor a string.
    """
    return comparable_records(records).map(plain_record)


def comparable_records(records: Described) -> SearchStrategy[object]:
    """The same with records as datasets store them, which compare correctly (`dpaudit.language.records`).

    Raises:
        DatasetError, ParameterError: as `records_of`.
    """
    if isinstance(records, SearchStrategy):
        return records.map(_as_record)
    if isinstance(records, str):
        records = parse_records(records)
    match records:
        case Integers(low, high):
            return st.integers(low, high)
        case Floats(low, high):
            numbers = st.floats(low, high).map(as_record).filter(records.contains)
            return with_some(numbers, records.exceptional)
        case SampledFrom(choices):
            return st.sampled_from(choices)
        case Tuples(parts):
            return st.tuples(*map(comparable_records, parts))
        case Lists(entry, least, most):
            return st.lists(comparable_records(entry), min_size=least, max_size=most).map(tuple)
        case Just(value):
            return st.just(value)
    raise ParameterError(
        f"records must be a Hypothesis strategy or a description such as 'integers(0, 100)', not {records!r}."
    )


def with_some(records: SearchStrategy[object], exceptional: Sequence[object]) -> SearchStrategy[object]:
    """Records, one in ten of them exceptional: a dataset with many NaN would mostly lead to NaN outputs."""
    if not exceptional:
        return records
    # in the opposite order, Hypothesis would shrink towards the exceptional ones
    return st.integers(0, ORDINARY).flatmap(lambda at: records if at < ORDINARY else st.sampled_from(exceptional))


def exceptional_records(data: SearchStrategy[object]) -> list[object]:
    """Records of a strategy that contain NaN, an infinity or −0.0, the simplest of each kind first.

    Hypothesis draws them rarely, NaN in one of hundreds of records: a search of a few hundred pairs may never compare a
    dataset with such a record to one without. So this function searches for them in advance, with a fixed seed.
    """
    simplest: dict[tuple[str, ...], object] = {}
    drawn = floats = 0

    def collect(records: list[object]) -> None:
        nonlocal drawn, floats
        drawn += 1
        for record in as_dataset(records):
            leaves = list(leaves_of(record))
            floats += sum(isinstance(leaf, float) for leaf in leaves)
            # the exceptional fields, and the kind of each exception
            kind = tuple(repr(leaf) if exception_of(leaf) else "" for leaf in leaves)
            if any(kind) and (kind not in simplest or simplicity(record) < simplicity(simplest[kind])):
                simplest[kind] = record
        if drawn > LISTS // 10 and not floats:
            raise _NoFloatsError

    lists = st.lists(data, min_size=LIST_SIZE, max_size=LIST_SIZE)
    settings = quiet_settings(LISTS, None, (Phase.generate,))
    with suppress(_NoFloatsError, Unsatisfiable, DatasetError):
        settings(hypothesis.seed(0)(hypothesis.given(lists)(collect)))()
    return sorted(simplest.values(), key=simplicity)[:MOST_EXCEPTIONAL]


class _NoFloatsError(Exception):
    """Stops the search in a strategy without floats."""


def quiet_settings(
    examples: int, database: ExampleDatabase | None, phases: tuple[Phase, ...]
) -> hypothesis.settings:
    """Settings for silent Hypothesis searches by dpaudit."""
    return hypothesis.settings(
        max_examples=examples,
        database=database,
        derandomize=False,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        print_blob=False,
    )


def datasets(
    records: Described, *, min_size: int = 0, max_size: int = 10, unique: bool = False, ordered: bool = True
) -> SearchStrategy[Any]:
    """A strategy for datasets of these records.

    Args:
        records: a strategy of records, or a description: "integers(0, 100)", or "frame(age=integers(18, 100))" for data
            frames, and likewise for series and arrays.
        min_size, max_size: bounds on the number of records.
        unique: whether all records of a dataset differ.
        ordered: True for tuples, frames and arrays; False for multisets, whose records must have an order.

    Raises:
        DatasetError: the string is not a description of records.
        ParameterError: sizes that are not whole numbers with 0 ≤ min_size ≤ max_size, or multisets of a frame's rows.
        UsageError: pandas or polars is described and is not installed.
    """
    sizes(min_size, max_size)
    described, container = described_records(records, ordered=ordered)
    lists = st.lists(comparable_records(described), min_size=min_size, max_size=max_size, unique=unique)
    made: SearchStrategy[Dataset] = lists.map(tuple if ordered else Multiset.of)
    return made.map(lambda dataset: handed_over(dataset, container))


def described_records(
    records: Described, *, ordered: bool
) -> tuple[SearchStrategy[object] | Records, Container | None]:
    """The kind of record, and what the records of a dataset are in; None for tuples and multisets.

    Raises:
        DatasetError: the string is not a description of records.
        ParameterError: a frame or an array is described, whose records have an order, and multisets are wanted.
        UsageError: pandas or polars is described and is not installed.
    """
    if not isinstance(records, str):
        return records, None
    described = parse_description(records)
    container = described.container
    if container is not None and not ordered:
        raise ParameterError(f"{container.shown} has its records in an order; omit ordered.")
    if isinstance(container, Frame):
        # at once, not when Hypothesis draws
        library(container.library)
    return described.records, container


def handed_over(dataset: Dataset, container: Container | None) -> Any:
    """A dataset as a function gets it: plain records, or a new frame or array."""
    records = plain_records(dataset)
    return records if container is None else container.made(tuple(records))


def sizes(least: int, most: int) -> None:
    """Check the sizes of datasets.

    Raises:
        ParameterError: they are not whole numbers with 0 ≤ min_size ≤ max_size.
    """
    whole("max_size", most, least=whole("min_size", least, least=0))


def _as_record(value: object) -> object:
    (record,) = as_dataset([value])
    return record
