"""Datasets as JSON: what `--pair` reads and results write."""

from __future__ import annotations

import json
import math
from typing import Any

from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Multiset
from dpaudit.language.containers import container_of
from dpaudit.language.records import as_record
from dpaudit.language.relation import as_records
from dpaudit.outputs.plain_json import jsonable
from dpaudit.whole_files import read_file

_FLOAT = "float"
"""The key of a float that plain JSON cannot hold, as in {"float": "nan"}: a record is never an object otherwise."""
_NAMED_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def parse_dataset(text: str) -> Dataset:
    """A dataset from the command line: JSON, or @FILE that holds JSON.

    A list is a sequence of records; {"multiset": [[value, count], …]} is a dataset by multiplicities; lists inside
    are records of several fields. NaN, Infinity and -Infinity are records as well, and so is -0.0.

    Raises:
        DatasetError: no such file, broken JSON, or JSON of another form.
    """
    where = "the dataset"
    if text.startswith("@"):
        where = text[1:]
        if not where:
            raise DatasetError("'@' names no file: write @FILE, or the dataset itself, such as '[0, 1, 1]'.")
        try:
            text = read_file(where)
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"Cannot read the dataset {where}: {_reason(error)}.") from None
    try:
        value = json.loads(text, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        shown = where if where != "the dataset" else repr(text if len(text) < 60 else text[:57] + "…")
        raise DatasetError(f"{shown} is not a dataset in JSON ({error}); write a list such as '[0, 1, 1]'.") from None
    return dataset_from_json(value)


def dataset_from_json(value: object) -> Dataset:
    """The dataset that a JSON value stands for.

    Raises:
        DatasetError: neither a list nor {"multiset": …}, or a record that is an object other than {"float": "nan"},
            {"float": "inf"} and {"float": "-inf"}.
    """
    if isinstance(value, dict) and set(value) == {"multiset"}:
        items = value["multiset"]
        if not isinstance(items, list) or not all(isinstance(item, list) and len(item) == 2 for item in items):
            raise DatasetError('A multiset is written {"multiset": [[value, count], …]}.')
        counts: dict[object, int] = {}
        for given, count in items:
            if (value := _record(given)) in counts:
                raise DatasetError(f"The multiset lists {json.dumps(given)[:60]} twice; add its counts up.")
            counts[value] = count
        return Multiset.counted(counts)
    if not isinstance(value, list):
        raise DatasetError(f"A dataset is a list of records, not {json.dumps(value)[:60]}; write '[0, 1, 1]'.")
    return tuple(_record(record) for record in value)


def dataset_to_json(dataset: Dataset) -> object:
    """The plain JSON form that `dataset_from_json` reads back (what it cannot hold is shown by its repr)."""
    if isinstance(dataset, Multiset):
        return {"multiset": [[_to_json(value), count] for value, count in dataset.items]}
    return [_to_json(record) for record in dataset]


def json_text(value: object) -> str:
    """A dataset or record in plain JSON form as a person writes it, with NaN, Infinity and -Infinity.

    What cannot be typed or seen makes it ASCII. `parse_dataset` reads a dataset's back.
    """
    text = json.dumps(_with_floats(value), ensure_ascii=False)
    return text if text.isprintable() else json.dumps(_with_floats(value))


def as_dataset(value: Any) -> Dataset:
    """A dataset from Python: a multiset, an array, a frame (row by row), or any iterable of records.

    Raises:
        DatasetError: it is none of them, or a record does not hash.
    """
    if isinstance(value, Multiset):
        return as_records(value)
    if (container := container_of(value)) is not None:
        return container.records(value)
    try:
        dataset = tuple(map(_record, value))
        hash(dataset)
    except TypeError:
        raise DatasetError(f"A dataset must be a sequence of records, not {value!r}.") from None
    return dataset


def _record(value: object) -> object:
    if hasattr(value, "tolist"):
        # numpy's scalars and arrays
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_record(part) for part in value)
    if isinstance(value, dict):
        if (named := _named_float(value)) is None:
            raise DatasetError("A record may be a number, a string, a boolean, null or a list of these, not an object.")
        value = named
    return as_record(value)


def _named_float(value: dict[object, object]) -> float | None:
    """The float that {"float": "nan"} stands for; None for another object."""
    named = value.get(_FLOAT)
    return _NAMED_FLOATS.get(named) if len(value) == 1 and isinstance(named, str) else None


def _to_json(record: object) -> object:
    if isinstance(record, float):
        # a record as a mechanism sees it, whatever class of float holds it
        return float(record) if math.isfinite(record) else {_FLOAT: repr(float(record))}
    if isinstance(record, tuple):
        return [_to_json(part) for part in record]
    return jsonable(record)


def _with_floats(value: object) -> object:
    if isinstance(value, dict):
        named = _named_float(value)
        return {key: _with_floats(part) for key, part in value.items()} if named is None else named
    return [_with_floats(part) for part in value] if isinstance(value, list) else value


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large for a float; write Infinity if that is meant")
    return value


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
