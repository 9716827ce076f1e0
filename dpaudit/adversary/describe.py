"""Descriptions of data, for `--data`: a small language of record types, written like hypothesis strategies.

    integers(0, 100)   floats(0, 1)   booleans()   sampled_from(["a", "b"])   tuples(integers(0, 9), booleans())
"""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from dpaudit.errors import DatasetError


@dataclass(frozen=True)
class Records(ABC):
    """A kind of record: how to draw one, and its two extremes."""

    @abstractmethod
    def draw(self, rng: Generator) -> Any:
        """One random record."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[Any, Any]:
        """The lowest and the highest record (for choices: the first and the last)."""


@dataclass(frozen=True)
class Integers(Records):
    """Whole numbers from low to high, both included."""

    low: int
    high: int

    def draw(self, rng: Generator) -> int:
        return int(rng.integers(self.low, self.high + 1))

    @property
    def extremes(self) -> tuple[Any, Any]:
        return self.low, self.high


@dataclass(frozen=True)
class Floats(Records):
    """Real numbers from low to high."""

    low: float
    high: float

    def draw(self, rng: Generator) -> float:
        return float(rng.uniform(self.low, self.high))

    @property
    def extremes(self) -> tuple[Any, Any]:
        return self.low, self.high


@dataclass(frozen=True)
class SampledFrom(Records):
    """One of some given records."""

    choices: tuple[Any, ...]

    def draw(self, rng: Generator) -> Any:
        return self.choices[int(rng.integers(len(self.choices)))]

    @property
    def extremes(self) -> tuple[Any, Any]:
        return self.choices[0], self.choices[-1]


@dataclass(frozen=True)
class Tuples(Records):
    """Records of several fields."""

    parts: tuple[Records, ...]

    def draw(self, rng: Generator) -> Any:
        return tuple(part.draw(rng) for part in self.parts)

    @property
    def extremes(self) -> tuple[Any, Any]:
        ends = [part.extremes for part in self.parts]
        return tuple(low for low, _ in ends), tuple(high for _, high in ends)


def parse_records(text: str) -> Records:
    """Read a description of data.

    Raises:
        DatasetError: it is none, with the forms that are known.
    """
    try:
        return _build(ast.parse(text.strip(), mode="eval").body, text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        if isinstance(error, DatasetError):
            raise
        raise _unknown(text) from None


def _build(node: ast.expr, text: str) -> Records:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        raise _unknown(text)
    if node.func.id == "tuples" and node.args:
        return Tuples(tuple(_build(arg, text) for arg in node.args))
    values = [ast.literal_eval(arg) for arg in node.args]
    match node.func.id, values:
        case "integers", [int(low), int(high)] if low < high:
            if not -(2**63) <= low < high < 2**63:
                raise DatasetError(f"--data {text!r}: integers must fit into 64 bits; choose a smaller range.")
            return Integers(int(low), int(high))
        case "floats", [int() | float() as low, int() | float() as high] if low < high:
            if not math.isfinite(float(high) - float(low)):
                raise DatasetError(f"--data {text!r}: the range of floats must be finite; choose a smaller one.")
            return Floats(float(low), float(high))
        case "booleans", []:
            return SampledFrom((False, True))
        case "sampled_from", [list() | tuple() as choices] if len(set(records := _records(choices, text))) > 1:
            return SampledFrom(records)
    raise _unknown(text)


def _records(choices: Any, text: str) -> tuple[Any, ...]:
    """Lists become tuples, at any depth; what no dataset in JSON can hold is refused."""
    found: list[Any] = []
    for choice in choices:
        if isinstance(choice, list | tuple):
            found.append(_records(choice, text))
        elif choice is None or isinstance(choice, bool | int | str) or (
            isinstance(choice, float) and math.isfinite(choice)
        ):
            found.append(choice)
        else:
            raise _unknown(text)
    return tuple(found)


def _unknown(text: str) -> DatasetError:
    return DatasetError(
        f"--data {text!r} describes no data; use integers(low, high), floats(low, high), booleans(), "
        "sampled_from([…]) of different records, or tuples(…) of these, with low < high."
    )
