"""Descriptions of data, for `--data`: a small language of record types, written like hypothesis strategies.

    integers(0, 100)   floats(0, 1)   booleans()   sampled_from(["a", "b"])   tuples(integers(0, 9), booleans())
"""

from __future__ import annotations

import ast
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
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise _unknown(text) from None
    return _build(tree, text)


def _build(node: ast.expr, text: str) -> Records:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        raise _unknown(text)
    if node.func.id == "tuples" and node.args:
        return Tuples(tuple(_build(arg, text) for arg in node.args))
    try:
        values = [ast.literal_eval(arg) for arg in node.args]
    except ValueError:
        raise _unknown(text) from None
    match node.func.id, values:
        case "integers", [int(low), int(high)] if low < high:
            return Integers(low, high)
        case "floats", [int() | float() as low, int() | float() as high] if low < high:
            return Floats(float(low), float(high))
        case "booleans", []:
            return SampledFrom((False, True))
        case "sampled_from", [list() | tuple() as choices] if len(choices) > 1:
            return SampledFrom(tuple(tuple(c) if isinstance(c, list) else c for c in choices))
    raise _unknown(text)


def _unknown(text: str) -> DatasetError:
    return DatasetError(
        f"--data {text!r} describes no data; use integers(low, high), floats(low, high), booleans(), "
        "sampled_from([…]) or tuples(…) of these, with low < high."
    )
