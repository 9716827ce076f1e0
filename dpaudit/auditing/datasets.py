"""Datasets as JSON: what `--pair` reads and results write."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from dpaudit.adversary.event import jsonable
from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Multiset


def parse_dataset(text: str) -> Dataset:
    """A dataset from the command line: JSON, or @FILE that holds JSON.

    A list is a sequence of records; {"multiset": [[value, count], …]} is a dataset by multiplicities; lists inside
    are records of several fields.

    Raises:
        DatasetError: no such file, broken JSON, or JSON of another form.
    """
    where = "the dataset"
    if text.startswith("@"):
        where = text[1:]
        if not where:
            raise DatasetError("'@' names no file: write @FILE, or the dataset itself, such as '[0, 1, 1]'.")
        try:
            text = Path(where).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"Cannot read the dataset {where}: {_reason(error)}.") from None
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        shown = where if where != "the dataset" else repr(text if len(text) < 60 else text[:57] + "…")
        raise DatasetError(f"{shown} is not a dataset in JSON ({error}); write a list such as '[0, 1, 1]'.") from None
    return dataset_from_json(value)


def dataset_from_json(value: Any) -> Dataset:
    """The dataset that a JSON value stands for.

    Raises:
        DatasetError: neither a list nor {"multiset": …}, or a record that is an object.
    """
    if isinstance(value, dict) and set(value) == {"multiset"}:
        items = value["multiset"]
        if not isinstance(items, list) or not all(isinstance(item, list) and len(item) == 2 for item in items):
            raise DatasetError('A multiset is written {"multiset": [[value, count], …]}.')
        counts: dict[Any, Any] = {}
        for given, count in items:
            if (value := _record(given)) in counts:
                raise DatasetError(f"The multiset lists {json.dumps(given)[:60]} twice; add its counts up.")
            counts[value] = count
        return Multiset.counted(counts)
    if not isinstance(value, list):
        raise DatasetError(f"A dataset is a list of records, not {json.dumps(value)[:60]}; write '[0, 1, 1]'.")
    return tuple(_record(record) for record in value)


def dataset_to_json(dataset: Dataset) -> Any:
    """The JSON form that `dataset_from_json` reads back (records that JSON cannot hold are shown by their repr)."""
    if isinstance(dataset, Multiset):
        return {"multiset": [[jsonable(value), count] for value, count in dataset.items]}
    return [jsonable(record) for record in dataset]


def as_dataset(value: Any) -> Dataset:
    """A dataset from Python: a multiset, or any iterable of records.

    Raises:
        DatasetError: it is neither, or a record does not hash.
    """
    if isinstance(value, Multiset):
        return value
    try:
        dataset = tuple(_record(r) for r in (value.tolist() if hasattr(value, "tolist") else value))
        hash(dataset)
    except TypeError:
        raise DatasetError(f"A dataset must be a sequence of records, not {value!r}.") from None
    return dataset


def _record(value: Any) -> Any:
    if hasattr(value, "tolist"):
        # numpy's scalars and arrays
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_record(part) for part in value)
    if isinstance(value, dict):
        raise DatasetError("A record may be a number, a string, a boolean, null or a list of these, not an object.")
    return value


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_constant(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that a dataset may hold")


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
