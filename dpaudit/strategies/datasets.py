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
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.minimize import simplicity
from dpaudit.errors import DatasetError, ParameterError
from dpaudit.language import Dataset, Multiset
from dpaudit.language.checks import whole
from dpaudit.language.records import as_record, exception_of, leaves_of, plain_record
from dpaudit.language.relation import plain_records
from dpaudit.results.datasets import as_dataset

ORDINARY = 9
"""So many ordinary records to one that is NaN, infinite or −0.0."""

LOOKS, LOOKED_AT = 40, 50
"""Lists of records in which exceptional ones are looked for, and how many records each of them has."""
MOST_EXCEPTIONAL = 12
"""Exceptional records that a search mixes in."""

Described: TypeAlias = "SearchStrategy[Any] | Records | str"
"""What records are: a strategy, or a description such as "integers(0, 100)"."""


def records_of(records: Described) -> SearchStrategy[Any]:
    """A strategy for single records, NaN and −0.0 among them where they are described or given.

    Args:
        records: a strategy, of which lists and arrays become tuples, as in datasets; or a description
            (`dpaudit.adversary.pairs.description`).

    Raises:
        DatasetError: a text that describes no records.
        ParameterError: neither of the two.
    """
    return comparable_records(records).map(plain_record)


def comparable_records(records: Described) -> SearchStrategy[Any]:
    """The same with records as datasets hold them, which compare as records do (`dpaudit.language.records`).

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


def with_some(records: SearchStrategy[Any], exceptional: Sequence[Any]) -> SearchStrategy[Any]:
    """Records, one in ten of them an exceptional one: of a dataset of many NaN most outputs are NaN, too."""
    if not exceptional:
        return records
    # the other way round, Hypothesis would shrink towards the exceptional ones
    return st.integers(0, ORDINARY).flatmap(lambda at: records if at < ORDINARY else st.sampled_from(exceptional))


def exceptional_records(data: SearchStrategy[Any]) -> list[Any]:
    """Records of a strategy that hold NaN, an infinity or −0.0, the simplest of each kind first.

    Hypothesis draws them rarely, NaN in one of hundreds of records: a search of some hundred pairs may never compare a
    dataset with such a record to one without. So they are looked for before, by a fixed seed.
    """
    found: dict[tuple[str, ...], Any] = {}
    drawn = floats = 0

    def look(records: list[Any]) -> None:
        nonlocal drawn, floats
        drawn += 1
        for record in as_dataset(records):
            leaves = list(leaves_of(record))
            floats += sum(isinstance(leaf, float) for leaf in leaves)
            # which fields are exceptions, and which they are
            kind = tuple(repr(leaf) if exception_of(leaf) else "" for leaf in leaves)
            if any(kind) and (kind not in found or simplicity(record) < simplicity(found[kind])):
                found[kind] = record
        if drawn > LOOKS // 10 and not floats:
            raise _NoFloatsError

    lists = st.lists(data, min_size=LOOKED_AT, max_size=LOOKED_AT)
    settings = quiet_settings(LOOKS, None, (Phase.generate,))
    with suppress(_NoFloatsError, Unsatisfiable, DatasetError):
        settings(hypothesis.seed(0)(hypothesis.given(lists)(look)))()
    return sorted(found.values(), key=simplicity)[:MOST_EXCEPTIONAL]


class _NoFloatsError(Exception):
    """What ends the look at a strategy without floats."""


def quiet_settings(
    examples: int, database: ExampleDatabase | None, phases: tuple[Phase, ...]
) -> hypothesis.settings:
    """Settings under which Hypothesis searches for dpaudit, and says nothing."""
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
    lists = st.lists(comparable_records(records), min_size=min_size, max_size=max_size, unique=unique)
    made = lists.map(tuple if ordered else Multiset.of)
    return made.map(plain_records)


def sizes(least: int, most: int) -> None:
    """Check the sizes of datasets.

    Raises:
        ParameterError: they are no whole numbers with 0 ≤ min_size ≤ max_size.
    """
    whole("max_size", most, least=whole("min_size", least, least=0))


def _as_record(value: Any) -> Any:
    (record,) = as_dataset([value])
    return record
