"""Datasets as they are given: frames and arrays from Python, files and JSON from a command line.

Every front end makes of them the records that dpaudit works with, and the container that the function gets them in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import DatasetError, DpauditError
from dpaudit.language import Dataset, Record
from dpaudit.language.containers import Container, container_of, in_common, library
from dpaudit.language.relation import plain_records
from dpaudit.options import DATA
from dpaudit.results.datasets import as_dataset, parse_dataset

FILES = (".csv", ".parquet", ".npy", ".json")
"""What files of datasets are called."""
_MOST_REASON = 200


@dataclass(frozen=True)
class GivenPair:
    """Two datasets, and what a function gets them in.

    Args:
        datasets: D and D′.
        container: None for lists.
        files: the words of a command line, if they named files.
    """

    datasets: tuple[Dataset, Dataset]
    container: Container | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A real dataset, whose neighbours are to be searched for.

    Args:
        name: in messages: a file, or "a pandas DataFrame".
        records: at least one.
        container: what a function gets them in; None for a list.
    """

    name: str
    records: tuple[Record, ...]
    container: Container | None


def given_pair(left: object, right: object) -> GivenPair:
    """The two datasets of `pair=`: lists, multisets, arrays, frames or series.

    Raises:
        DatasetError: one is no dataset, or they are of different kinds or have different columns.
    """
    container = in_common(container_of(left, "D"), container_of(right, "D′"), (_length(left), _length(right)))
    datasets = as_dataset(left), as_dataset(right)
    if container is None:
        return GivenPair(datasets)
    # whole numbers that became floats
    first, second = (container.records(container.made(tuple(plain_records(one)))) for one in datasets)
    return GivenPair((first, second), container)


def parse_pair(left: str, right: str) -> GivenPair:
    """The two datasets of `--pair`: JSON, @FILE with JSON, or files with one of `FILES`.

    Raises:
        DatasetError: a file or JSON that cannot be read, or two datasets that do not go together.
    """
    words = left, right
    named = tuple(word for word in words if is_file(word))
    if not named:
        return GivenPair((parse_dataset(left), parse_dataset(right)))
    made = given_pair(*(read_file(word) if is_file(word) else parse_dataset(word) for word in words))
    return GivenPair(made.datasets, made.container, words)


def table_of(data: object) -> Table | None:
    """The table of `data=` or `--data`: a frame, an array or a file; None for a description or a strategy.

    Raises:
        DatasetError: it cannot be read, or has no records.
    """
    if isinstance(data, str):
        if not is_file(data):
            return None
        name, value = data, read_file(data)
    else:
        value = data
        name = ""
    container = container_of(value, name or "data")
    if container is None and not name:
        return None
    records = tuple(as_dataset(value))
    name = name or container.shown if container is not None else name
    if not records:
        raise DatasetError("{} {} has no rows, so there is nothing to remove or replace.", DATA, name)
    return Table(name, records, container)


def is_file(word: str) -> bool:
    """Whether a word names a file of a dataset, and is no JSON and no description."""
    return word.lower().endswith(FILES) and not word.startswith(("@", "[", "{"))


def read_file(path: str) -> Any:
    """What a file holds: a pandas DataFrame (.csv, .parquet), a numpy array (.npy), or a dataset in JSON.

    Raises:
        DatasetError: there is no such file, or it cannot be read.
        UsageError: it needs pandas or pyarrow, which is not installed.
    """
    if not Path(path).is_file():
        raise DatasetError(f"There is no file {path}.")
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        return parse_dataset(f"@{path}")
    try:
        if suffix == ".npy":
            return np.load(path, allow_pickle=False)
        pandas = library("pandas", f"to read {path}")
        if suffix == ".csv":
            return pandas.read_csv(path)
        library("pyarrow", f"to read {path}")
        return pandas.read_parquet(path)
    except DpauditError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:_MOST_REASON].rstrip(".") or type(error).__name__
        raise DatasetError(f"Cannot read {path}: {reason}.") from None


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 1
