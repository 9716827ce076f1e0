"""Exact distances between two outputs of a deterministic function, in rational numbers.

A float is the rational number that it stands for, so the distance of two floats is exact, whatever was rounded on the
way to them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpaudit.errors import DpauditError, OutputError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE
from dpaudit.language.records import Record
from dpaudit.options import METRIC
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.results.datasets import as_dataset
from dpaudit.results.stability import shown_number


@dataclass(frozen=True)
class Distance:
    """How far two outputs are apart.

    Args:
        value: the distance; of `squared` ones the square. None where it is infinite.
        squared: whether `value` is the square of the distance, which may be irrational.
        why: what makes it infinite, as a clause: "the output is NaN on D′ alone"; "" where it is finite.
        raises: whether a call raised on one of the datasets.
    """

    value: Fraction | None
    squared: bool = False
    why: str = ""
    raises: bool = False

    def __float__(self) -> float:
        if self.value is None:
            return math.inf
        value = _as_float(self.value)
        return math.sqrt(value) if self.squared else value

    def exceeds(self, limit: Fraction) -> bool:
        """Whether it is larger than this, exactly."""
        if self.value is None:
            return True
        return self.value > (limit * limit if self.squared else limit)

    def text(self) -> str:
        """It as an exact number: "3", "1/3", "√5", "infinite"."""
        return self._text(str)

    def shown(self) -> str:
        """It as a person reads it, see `shown_number`."""
        return self._text(shown_number)

    def _text(self, write: Callable[[Fraction], str]) -> str:
        if self.value is None:
            return "infinite"
        if not self.squared:
            return write(self.value)
        root = Fraction(math.isqrt(self.value.numerator), math.isqrt(self.value.denominator))
        inside = write(self.value)
        return write(root) if root * root == self.value else f"√{inside}" if inside.isdigit() else f"√({inside})"


def output_distance(metric: str, left: object, right: object, name: str) -> Distance:
    """The distance of two outputs, one or both of which may be that the call raised.

    NaN and infinities are values: a distance is infinite where one dataset gives them and the other does not, and 0
    where both give the same. Under l1, l2 and linf a key that one dict lacks counts as 0.

    Args:
        metric: one of `dpaudit.plans.stability.METRICS`.
        left, right: the outputs on D and on D′.
        name: of the function, for messages.

    Raises:
        OutputError: the metric is not for such outputs.
    """
    for one, other, where in ((left, right, "D"), (right, left, "D′")):
        if isinstance(one, Raised) and not isinstance(other, Raised):
            return Distance(None, why=f"on {where} alone the call raised {one.where or one.error}", raises=True)
    if isinstance(left, Raised) or isinstance(right, Raised):
        return Distance(Fraction(0))
    try:
        return _METRICS[metric](left, right)
    except _InfiniteError as error:
        return Distance(None, why=str(error))
    except _UnfitError as error:
        raise OutputError("{} returned {}; give {} {}.", name, error, METRIC, _ADVICE[metric]) from None


class _InfiniteError(Exception):
    """The outputs have no finite distance; the message is a clause."""


class _UnfitError(Exception):
    """The outputs are none of the metric; the message says what was returned."""


_Numbers: TypeAlias = Iterator[Fraction]


def _absolute(left: object, right: object) -> Distance:
    for output in (left, right):
        if isinstance(_plain(output), list | tuple | Mapping):
            raise _UnfitError(f"a {type(output).__name__}")
    return Distance(next(_gaps(left, right)))


def _l1(left: object, right: object) -> Distance:
    return Distance(sum(_gaps(left, right), Fraction(0)))


def _l2(left: object, right: object) -> Distance:
    return Distance(sum((gap * gap for gap in _gaps(left, right)), Fraction(0)), squared=True)


def _linf(left: object, right: object) -> Distance:
    return Distance(max(_gaps(left, right), default=Fraction(0)))


def _symmetric(left: object, right: object) -> Distance:
    a, b = Counter(_records(left)), Counter(_records(right))
    return Distance(Fraction((a - b).total() + (b - a).total()))


def _insert_delete(left: object, right: object) -> Distance:
    return Distance(Fraction(ADD_REMOVE_ONE.distance(_records(left), _records(right)) or 0))


def _change_one(left: object, right: object) -> Distance:
    a, b = _of_one_size(left, right)
    return Distance(Fraction((Counter(a) - Counter(b)).total()))


def _hamming(left: object, right: object) -> Distance:
    return Distance(Fraction(REPLACE_ONE.distance(*_of_one_size(left, right)) or 0))


def _discrete(left: object, right: object) -> Distance:
    # in tuples, where one NaN equals another
    return Distance(Fraction((canonical(left),) != (canonical(right),)))


_METRICS: Mapping[str, Callable[[object, object], Distance]] = {
    "absolute": _absolute, "l1": _l1, "l2": _l2, "linf": _linf, "symmetric": _symmetric,
    "insert-delete": _insert_delete, "change-one": _change_one, "hamming": _hamming, "discrete": _discrete,
}
_OF_DATASETS = "symmetric, insert-delete, change-one or hamming for datasets"
_ADVICE = {
    "absolute": f"l1, l2 or linf for vectors and dicts of numbers, {_OF_DATASETS}, or discrete for other values",
    **dict.fromkeys(("l1", "l2", "linf"), f"{_OF_DATASETS}, or discrete for other values; this one is for numbers"),
    **dict.fromkeys(
        ("symmetric", "insert-delete", "change-one", "hamming"),
        "absolute, l1, l2 or linf for numbers, or discrete for other values; this one is for datasets",
    ),
    "discrete": "of another kind",
}


def _records(output: object) -> tuple[Record, ...]:
    if isinstance(output, Mapping | str | bytes):
        raise _UnfitError(f"a {type(output).__name__}")
    try:
        return tuple(as_dataset(output))
    except DpauditError:
        raise _UnfitError(f"a {type(output).__name__}") from None


def _of_one_size(left: object, right: object) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    a, b = _records(left), _records(right)
    if len(a) != len(b):
        raise _InfiniteError(f"the output has {len(a)} records on D and {len(b)} on D′")
    return a, b


_MISSING = object()


def _gaps(left: object, right: object) -> _Numbers:
    """|a − b| of every number a of one output and b of the other in the same place."""
    left, right = (one if one is _MISSING else _plain(one) for one in (left, right))
    if isinstance(left, Mapping) or isinstance(right, Mapping):
        if not all(one is _MISSING or isinstance(one, Mapping) for one in (left, right)):
            raise _InfiniteError("the output is a dict on one dataset alone")
        keys = dict.fromkeys(key for one in (left, right) if isinstance(one, Mapping) for key in one)
        for key in keys:
            yield from _gaps(*(one.get(key, _MISSING) if isinstance(one, Mapping) else one for one in (left, right)))
        return
    if isinstance(left, list | tuple) or isinstance(right, list | tuple):
        sizes = [len(one) for one in (left, right) if isinstance(one, list | tuple)]
        if not all(one is _MISSING or isinstance(one, list | tuple) for one in (left, right)):
            raise _InfiniteError("the output is a list on one dataset alone")
        if len(set(sizes)) > 1:
            raise _InfiniteError(f"the output has {sizes[0]} entries on D and {sizes[1]} on D′")
        for i in range(sizes[0]):
            yield from _gaps(*(one if one is _MISSING else _entry(one, i) for one in (left, right)))
        return
    yield _gap(*(Fraction(0) if one is _MISSING else _number(one) for one in (left, right)))


def _entry(several: object, at: int) -> object:
    assert isinstance(several, list | tuple)
    return several[at]


def _plain(output: Any) -> object:
    """Arrays as lists, a series as a dict by its index, and a frame as lists of rows."""
    library = type(output).__module__.partition(".")[0]
    if library == "pandas" and hasattr(output, "to_dict") and hasattr(output, "index"):
        return output.to_dict() if output.ndim == 1 and output.index.is_unique else output.to_numpy().tolist()
    if library == "polars" and hasattr(output, "to_numpy"):
        return output.to_numpy().tolist()
    if isinstance(output, np.ndarray):
        return output[()] if output.ndim == 0 else list(output)
    return output


def _number(value: Any) -> Fraction | float:
    """The rational number; NaN and infinities as floats."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating | Decimal):
        return Fraction(*value.as_integer_ratio()) if math.isfinite(value) else float(value)
    if isinstance(value, complex | str | bytes) or value is None:
        raise _UnfitError(f"{type(value).__name__} {value!r}" if value is not None else "None")
    raise _UnfitError(f"a {type(value).__name__}")


def _gap(left: Fraction | float, right: Fraction | float) -> Fraction:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return abs(left - right)
    if left == right or (left != left and right != right):
        return Fraction(0)
    if not isinstance(left, Fraction) and not isinstance(right, Fraction):
        raise _InfiniteError(f"the output is {left} on D and {right} on D′")
    odd, where = (right, "D′") if isinstance(left, Fraction) else (left, "D")
    raise _InfiniteError(f"the output is {'NaN' if odd != odd else odd} on {where} alone")


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
