"""What a function gets its records in: a list, a numpy array, or a frame or series of pandas or polars.

Inside dpaudit a dataset is a tuple of records, whatever it was given as: a row of a frame or of a 2-D array is a tuple
of its cells. Neighbours, distances, mutations, minimisation and JSON know only records. A `Container` says how the
records are handed to the user's function, which gets what it would get outside of an audit.

Cells are plain values: numbers, booleans, text, None for a missing value (NaN in columns of floats), and the text of a
date or a duration. The column's dtype makes a date of it again.

A pandas index that numbers the rows (unnamed, of whole numbers) is made anew as 0, 1, …: neighbours are often made by
dropping a row, and the gap in the index would tell the two datasets apart. Any other index holds data: its labels are
the first cell of every record, and it is handed over as an index.

pandas and polars are imported only where a dataset is one of theirs.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any, ClassVar, Literal, Self, TypeAlias
from uuid import UUID

import numpy as np

from dpaudit.errors import DatasetError, UsageError
from dpaudit.language.records import Record, as_record, plain_record

Library: TypeAlias = Literal["pandas", "polars"]
MOST_NAMED = 20
"""Most entries of an array's row that are shown as columns."""


@dataclass(frozen=True)
class Column:
    """A column of a frame, a series, or a pandas index.

    Args:
        name: text or a whole number; None for a series or an index without a name.
        dtype: as the library writes it, such as "int64" or "datetime64[ns]".
        categories: of a categorical column; None for another one.
        ordered: whether the categories are.
    """

    name: str | int | None
    dtype: str
    categories: tuple[Record, ...] | None = None
    ordered: bool = False

    def to_json(self) -> list[object]:
        """Plain JSON, which `from_json` reads."""
        return [self.name, self.dtype, None if self.categories is None else list(self.categories), self.ordered]

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> Self:
        """The column that `to_json` wrote."""
        name, dtype, categories, ordered = value
        return cls(name, dtype, None if categories is None else tuple(map(as_record, categories)), ordered)


class Container(ABC):
    """What records are handed over in; a value, equal for datasets of the same columns and dtypes."""

    kind: ClassVar[str]
    """"array" or "frame", in JSON."""

    @property
    @abstractmethod
    def shown(self) -> str:
        """With its article: "a pandas DataFrame"."""

    @property
    @abstractmethod
    def fields(self) -> tuple[str, ...]:
        """Names of the cells of a record; () for records that are one value."""

    @property
    @abstractmethod
    def finite(self) -> tuple[bool, ...]:
        """For each cell of a record (or the one value), whether only values that were seen are possible."""

    @abstractmethod
    def made(self, records: Sequence[Record]) -> Any:
        """A new object of these records, which are as a mechanism sees them (`plain_records`)."""

    @abstractmethod
    def records(self, value: Any) -> tuple[Record, ...]:
        """The records of such an object."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """Plain JSON, which `container_from_json` reads."""

    def copier(self, records: Sequence[Record]) -> Callable[[], Any]:
        """Makes a fresh object of the same records at each call: a function may change its input.

        The object is built once and copied: building a frame of ten rows takes six times as long.
        """
        made = self.made(records)
        copy: Callable[[], Any] = getattr(made, "copy", None) or made.clone
        return copy


@dataclass(frozen=True)
class Array(Container):
    """A numpy array, with one record for each entry of its first axis.

    Args:
        dtype: as numpy writes it; "str" for text of any length.
        shape: of one record; () for a 1-D array.
    """

    dtype: str
    shape: tuple[int, ...] = ()
    kind = "array"

    @property
    def shown(self) -> str:
        return f"a {len(self.shape) + 1}-D numpy array"

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(map(str, range(*self.shape))) if len(self.shape) == 1 and self.shape[0] <= MOST_NAMED else ()

    @property
    def finite(self) -> tuple[bool, ...]:
        return (False,) * (self.shape[0] if self.shape else 1)

    def made(self, records: Sequence[Record]) -> Any:
        if self.dtype == "object":
            array = np.empty((len(records), *self.shape), dtype=object)
            if not self.shape:
                # numpy would make more axes of tuples
                for at, record in enumerate(records):
                    array[at] = record
                return array
        return np.array(records, dtype=self.dtype).reshape((len(records), *self.shape))

    def records(self, value: Any) -> tuple[Record, ...]:
        value = np.asarray(value)
        if value.dtype.kind == "M":
            value = np.where(np.isnat(value), None, np.datetime_as_string(value))
        elif value.dtype.kind == "m":
            value = value.astype(np.int64)
        return tuple(map(_nested, value.tolist()))

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "dtype": self.dtype, "shape": list(self.shape)}


@dataclass(frozen=True)
class Frame(Container):
    """A frame or a series of pandas or polars, with one record for each row.

    Args:
        library: "pandas" or "polars".
        columns: in order; one for a series.
        index: the pandas index, if it holds data; its label is the first cell of every record.
        series: whether it is a series; its records are its values, or with an index (label, value).
    """

    library: Library
    columns: tuple[Column, ...]
    index: Column | None = None
    series: bool = False
    kind = "frame"

    @property
    def shown(self) -> str:
        return f"a {self.library} {'Series' if self.series else 'DataFrame'}"

    @property
    def _all(self) -> tuple[Column, ...]:
        return self.columns if self.index is None else (self.index, *self.columns)

    @property
    def _single(self) -> bool:
        """Whether a record is its one cell, and no tuple."""
        return self.series and self.index is None

    @property
    def fields(self) -> tuple[str, ...]:
        if self._single:
            return ()
        names = [_cell_name(column.name, "value" if self.series else "") for column in self.columns]
        return tuple(names if self.index is None else [_cell_name(self.index.name, "index"), *names])

    @property
    def finite(self) -> tuple[bool, ...]:
        return tuple(
            column.categories is not None or not column.dtype.lower().startswith(("int", "uint", "float"))
            for column in self._all
        )

    def made(self, records: Sequence[Record]) -> Any:
        cells = [records] if self._single else [[record[i] for record in records] for i in range(len(self._all))]
        if self.library == "polars":
            pl = library("polars")
            made = [_polars_series(pl, c, values) for c, values in zip(self.columns, cells, strict=True)]
            return made[0] if self.series else pl.DataFrame(made)
        pd = library("pandas")
        values = [_pandas_values(pd, column, cell) for column, cell in zip(self._all, cells, strict=True)]
        index = pd.RangeIndex(len(records)) if self.index is None else pd.Index(values.pop(0), name=self.index.name)
        if self.series:
            # the index is set afterwards: a series of objects with an index is matched by label, which gives NaN
            series = pd.Series(values[0], name=self.columns[0].name)
            series.index = index
            return series
        made = pd.DataFrame(dict(enumerate(values)))
        made.columns, made.index = [column.name for column in self.columns], index
        return made

    def records(self, value: Any) -> tuple[Record, ...]:
        read = _polars_cells if self.library == "polars" else _pandas_cells
        cells = [read(part) for part in _parts(self, value)]
        rows = cells[0] if self._single else zip(*cells, strict=True)
        return tuple(as_record(tuple(rows)))

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "library": self.library,
            "columns": [column.to_json() for column in self.columns],
            "index": None if self.index is None else self.index.to_json(),
            "series": self.series,
        }


def container_from_json(value: Any) -> Container:
    """The container that `to_json` wrote.

    Raises:
        LookupError, TypeError, ValueError: it is no such value.
    """
    if value["kind"] == Array.kind:
        return Array(value["dtype"], tuple(value["shape"]))
    index = value["index"]
    return Frame(
        value["library"], tuple(map(Column.from_json, value["columns"])),
        None if index is None else Column.from_json(index), value["series"],
    )


def container_of(value: object, where: str = "the dataset") -> Container | None:
    """The container of an object from Python; None for a list, a multiset, or anything else without one.

    Args:
        value: the dataset as it was given.
        where: names it in messages.

    Raises:
        DatasetError: it is an array, a frame or a series of a kind that cannot be taken apart and made again.
    """
    match type(value).__module__.partition(".")[0]:
        case "numpy":
            return _array_of(value, where) if isinstance(value, np.ndarray) else None
        case "pandas":
            pd = sys.modules["pandas"]
            made = _pandas_frame(value, where) if type(value) in (pd.DataFrame, pd.Series) else None
        case "polars":
            pl = sys.modules["polars"]
            if isinstance(value, pl.LazyFrame):
                raise DatasetError(f"{where} is a polars LazyFrame; give .collect() of it.")
            made = _polars_frame(value, where) if type(value) in (pl.DataFrame, pl.Series) else None
        case _:
            made = None
            for name in ("DataFrame", "Series"):
                for owner in ("pandas", "polars"):
                    kind = getattr(sys.modules.get(owner), name, None)
                    if kind is not None and isinstance(value, kind):
                        raise DatasetError(
                            f"{where} is a {type(value).__qualname__} of {type(value).__module__.partition('.')[0]}; "
                            f"give a plain {owner} {name}."
                        )
    if made is not None:
        _refuse_unlike(made, value, where)
    return made


def in_common(left: Container | None, right: Container | None, lengths: tuple[int, int]) -> Container | None:
    """The one container of both datasets of a pair.

    Where one has whole numbers and the other floats, both become floats: reading a file with a missing value does that
    to one of them. A dataset without rows has the types of the other.

    Raises:
        DatasetError: they are of different kinds, columns or types.
    """
    if left == right:
        return left
    if left is None or right is None or left.shown != right.shown:
        shown = ["a list" if one is None else one.shown for one in (left, right)]
        raise DatasetError(f"D is {shown[0]} and D′ is {shown[1]}; give both datasets in the same form.")
    if isinstance(left, Array) and isinstance(right, Array):
        if left.shape != right.shape:
            shapes = [" × ".join(map(str, one.shape)) for one in (left, right)]
            raise DatasetError(
                f"The rows of D have {shapes[0] or 'no'} entries and those of D′ {shapes[1] or 'no'}; neighbours "
                "differ in rows, not in columns."
            )
        return Array(_common_dtype("The entries", left.dtype, right.dtype, lengths), left.shape)
    assert isinstance(left, Frame)
    assert isinstance(right, Frame)
    if left.fields != right.fields or (left.index is None) != (right.index is None):
        raise DatasetError(
            f"D has the columns {', '.join(left.fields) or 'without a name'}, and D′ has "
            f"{', '.join(right.fields) or 'without a name'}; neighbours differ in rows, not in columns."
        )
    columns = [_common_column(a, b, lengths) for a, b in zip(left._all, right._all, strict=True)]
    index = None if left.index is None else columns.pop(0)
    return Frame(left.library, tuple(columns), index, left.series)


def library(name: Library | Literal["pyarrow"], purpose: str = "") -> Any:
    """A library that dpaudit does without where no dataset is of it.

    Raises:
        UsageError: it is not installed; with the pip command.
    """
    try:
        return import_module(name)
    except ImportError:
        wanted = f" {purpose}" if purpose else ""
        raise UsageError(f"{name} is needed{wanted} and is not installed: pip install {name}") from None


def _cell_name(name: object, otherwise: str) -> str:
    return otherwise if name is None else str(name)


def _nested(value: object) -> Record:
    return tuple(map(_nested, value)) if isinstance(value, list) else as_record(value)


# -- numpy


def _array_of(value: np.ndarray[Any, Any], where: str) -> Array:
    if type(value) is not np.ndarray:
        raise DatasetError(f"{where} is a {type(value).__name__}; give a plain numpy array (np.asarray).")
    if value.ndim == 0:
        raise DatasetError(f"{where} is a numpy array without an axis; give one with a record for each entry.")
    if value.dtype.names is not None or value.dtype.kind == "V":
        raise DatasetError(f"{where} is a structured numpy array; give a pandas DataFrame (pd.DataFrame(array)).")
    if value.dtype.hasobject:
        _refuse_cells(value.ravel().tolist(), where)
    dtype = {"U": "str", "S": "bytes", "O": "object"}.get(value.dtype.kind, str(value.dtype))
    return Array(dtype, value.shape[1:])


# -- pandas


def _pandas_frame(value: Any, where: str) -> Frame:
    pd = sys.modules["pandas"]
    series = isinstance(value, pd.Series)
    if isinstance(value.index, pd.MultiIndex):
        raise DatasetError(f"{where} has an index of several levels (MultiIndex); call .reset_index() first.")
    if not series:
        if isinstance(value.columns, pd.MultiIndex):
            raise DatasetError(f"{where} has columns of several levels (MultiIndex); give it one name per column.")
        if not value.shape[1]:
            raise DatasetError(f"{where} is a DataFrame without columns; there is nothing to compare.")
        _refuse_names(list(value.columns), where)
    parts = [value] if series else [value.iloc[:, i] for i in range(value.shape[1])]
    numbers_rows = value.index.name is None and pd.api.types.is_integer_dtype(value.index.dtype)
    index = None if numbers_rows else _pandas_column(value.index.to_series(), value.index.name, where)
    return Frame("pandas", tuple(_pandas_column(part, part.name, where) for part in parts), index, series)


def _pandas_column(part: Any, name: object, where: str) -> Column:
    dtype = part.dtype
    column = Column(name if name is None or isinstance(name, str | int) else str(name), str(dtype))
    if column.dtype == "category":
        categories = tuple(as_record(_plain_cell(value)) for value in dtype.categories.tolist())
        return replace(column, categories=categories, ordered=bool(dtype.ordered))
    if column.dtype == "object":
        kinds = {type(cell) for cell in part.tolist() if cell is not None}
        if len(kinds) == 1 and (of := kinds.pop()) in _READ_OBJECTS:
            return replace(column, dtype=f"object of {of.__name__}")
        _refuse_cells(part.tolist(), _of(column, where))
    return column


def _refuse_cells(cells: Sequence[object], shown: str) -> None:
    """Reject cells of a column of any objects that a record cannot hold.

    Raises:
        DatasetError: a cell does not hash, or is pandas' NA.
    """
    for cell in cells:
        try:
            hash(cell)
        except TypeError:
            raise DatasetError(
                f"{shown} holds a {type(cell).__name__}, which cannot be compared; make a tuple or text of each."
            ) from None
        if type(cell).__name__ in ("NAType", "NaTType"):
            raise DatasetError(f"{shown} is of dtype object and holds {cell!r}; call .convert_dtypes() first.")


def _refuse_names(names: Sequence[Hashable], where: str) -> None:
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise DatasetError(f"{where} has two columns named {twice!r}; rename one.")
    odd = next((name for name in names if not isinstance(name, str | int) or isinstance(name, bool)), None)
    if odd is not None:
        raise DatasetError(f"{where} has a column named {odd!r}; names must be text or whole numbers.")


def _pandas_cells(part: Any) -> list[Record]:
    dtype = str(part.dtype)
    cells: list[Record] = part.tolist()
    if isinstance(part.dtype, np.dtype) and part.dtype.kind in "iufb":
        return cells
    if dtype == "object":
        return [cell if cell is None or type(cell) not in _READ_OBJECTS else str(cell) for cell in cells]
    missing = part.isna().tolist()
    return [None if gone else _plain_cell(cell) for cell, gone in zip(cells, missing, strict=True)]


def _pandas_values(pd: Any, column: Column, cells: Sequence[Record]) -> Any:
    if column.categories is not None:
        return pd.Categorical(list(cells), categories=list(column.categories), ordered=column.ordered)
    base, _, kind = column.dtype.partition(" of ")
    if kind:
        read = next(read for of, read in _READ_OBJECTS.items() if of.__name__ == kind)
        cells = [None if cell is None else read(cell) for cell in cells]
    if base == "object" or (base == "str" and int(pd.__version__.partition(".")[0]) < 3):
        # in these versions objects are the default for text; a series, or a frame would take text for their type
        return pd.Series(_objects(cells), dtype=object)
    return pd.array(list(cells), dtype=column.dtype) if cells else pd.Series([], dtype=column.dtype).array


_READ_OBJECTS: dict[type, Callable[[str], object]] = {
    date: date.fromisoformat, time: time.fromisoformat, Decimal: Decimal, UUID: UUID
}
"""What columns of objects may hold instead of plain values, and how it is read from its text."""


def _objects(cells: Sequence[Record]) -> Any:
    made = np.empty(len(cells), dtype=object)
    for at, cell in enumerate(cells):
        made[at] = cell
    return made


def _plain_cell(cell: Any) -> Record:
    """A cell as plain JSON holds it: dates and durations as text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if hasattr(cell, "isoformat") and not isinstance(cell, timedelta):
        return cell.isoformat()
    if isinstance(cell, timedelta) or type(cell).__name__ == "Period":
        return str(cell)
    return cell


# -- polars


def _polars_frame(value: Any, where: str) -> Frame:
    pl = sys.modules["polars"]
    series = isinstance(value, pl.Series)
    if not series and not value.width:
        raise DatasetError(f"{where} is a DataFrame without columns; there is nothing to compare.")
    parts = [value] if series else value.get_columns()
    return Frame("polars", tuple(_polars_column(pl, part, where) for part in parts), None, series)


def _polars_column(pl: Any, part: Any, where: str) -> Column:
    dtype = part.dtype
    name = str(dtype.base_type())
    if name in ("Datetime", "Duration"):
        zone = getattr(dtype, "time_zone", None)
        name += f"[{dtype.time_unit}{f', {zone}' if zone else ''}]"
    elif name == "Enum":
        return Column(part.name, name, tuple(dtype.categories.to_list()))
    elif dtype.is_nested() or name in ("Object", "Decimal", "Binary", "Unknown"):
        raise DatasetError(
            f"Column {part.name!r} of {where} is of dtype {dtype}; dpaudit reads numbers, text, booleans, dates and "
            "categories."
        )
    return Column(part.name, name)


def _polars_cells(part: Any) -> list[Record]:
    return [_polars_cell(cell) for cell in part.to_list()]


def _polars_cell(cell: Any) -> Record:
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        # whole microseconds, which a float of seconds would round
        return cell // timedelta(microseconds=1)
    return cell


def _polars_series(pl: Any, column: Column, cells: Sequence[Record]) -> Any:
    base, _, unit = column.dtype.removesuffix("]").partition("[")
    name = column.name or ""
    if base == "Enum":
        return pl.Series(name, list(cells), dtype=pl.Enum(list(column.categories or ())))
    if base == "Duration":
        return pl.Series(name, list(cells), dtype=pl.Int64).cast(pl.Duration("us")).cast(pl.Duration(unit))
    read = {"Date": date.fromisoformat, "Time": time.fromisoformat, "Datetime": datetime.fromisoformat}.get(base)
    values = list(cells) if read is None else [None if cell is None else read(cell) for cell in cells]
    if base != "Datetime":
        return pl.Series(name, values, dtype=getattr(pl, base))
    at, _, zone = unit.partition(", ")
    return pl.Series(name, values, dtype=pl.Datetime(at, zone or None))


# -- all


def _refuse_unlike(made: Frame, value: Any, where: str) -> None:
    """Make every column anew, and reject one that differs: a dtype that is not known here, or digits that are lost.

    Raises:
        DatasetError: it differs; the column is named.
    """
    for column, part in zip(made._all, _parts(made, value), strict=True):
        alone = Frame(made.library, (column,), None, series=True)
        try:
            cells = alone.records(part)
            hash(cells)
            again = alone.made(plain_record(cells))
            if made.library == "polars":
                alike = again.equals(part, null_equal=True) and again.dtype == part.dtype
            else:
                alike = again.equals(part.reset_index(drop=True)) and again.dtype == part.dtype
        except Exception:
            alike = False
        if not alike:
            raise DatasetError(
                f"{_of(column, where)} is of dtype {part.dtype}, which dpaudit cannot make again from its values; "
                "convert it, for example with .astype(str)."
            )


def _parts(frame: Frame, value: Any) -> list[Any]:
    """The index if it holds data, and the columns, each as a series."""
    if frame.library == "polars":
        return [value] if frame.series else list(value.get_columns())
    columns = [value] if frame.series else [value.iloc[:, i] for i in range(value.shape[1])]
    return columns if frame.index is None else [value.index.to_series(), *columns]


def _of(column: Column, where: str) -> str:
    return f"A column of {where}" if column.name is None else f"Column {column.name!r} of {where}"


def _common_column(left: Column, right: Column, lengths: tuple[int, int]) -> Column:
    if left == right or not lengths[1]:
        return left
    if not lengths[0]:
        return right
    shown = f"Column {_cell_name(left.name, 'value')!r}"
    if left.categories is not None and right.categories is not None:
        raise DatasetError(
            f"{shown} has other categories in D than in D′; give both the same pd.CategoricalDtype (or pl.Enum)."
        )
    return Column(left.name, _common_dtype(shown, left.dtype, right.dtype, lengths))


def _common_dtype(shown: str, left: str, right: str, lengths: tuple[int, int]) -> str:
    if left == right or not lengths[1]:
        return left
    if not lengths[0]:
        return right
    kinds = {name.rstrip("0123456789").lower().removeprefix("u") for name in (left, right)}
    if kinds == {"int", "float"} and left[0].isupper() == right[0].isupper():
        return left if left.lower().startswith("float") else right
    verb = "are" if shown.endswith("s") else "is"
    raise DatasetError(f"{shown} {verb} {left} in D and {right} in D′; convert one, so that both have the same type.")
