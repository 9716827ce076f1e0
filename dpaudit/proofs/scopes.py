"""The datasets that a proof covers, and their neighbours."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dpaudit.errors import ParameterError
from dpaudit.proofs.exact import exactly

Neighbours: TypeAlias = Literal["replace-one", "add-remove-one"]
Container: TypeAlias = Literal["tuple", "list", "vector"]
"""What a program gets its answers or records in; a vector is a numpy array of floats."""
Moves: TypeAlias = Literal["each", "one", "total"]
Block: TypeAlias = tuple[range, Moves, Fraction]
"""Answers by their places, which of them differ between neighbours, and by how much at most."""


@dataclass(frozen=True)
class Answers:
    """All vectors of k real answers; a neighbour's answers differ by at most `by`.

    Args:
        k: number of answers, ≥ 1.
        moves: "each": every answer may differ; "one": a single answer may; "total": several may, and their differences
            add up.
        by: largest difference of one answer, or of all of them in total, > 0.
        whole: whether answers are whole numbers.

    Raises:
        ParameterError: a parameter outside its range.
    """

    k: int
    moves: Moves = "each"
    by: float | Fraction = 1
    whole: bool = False

    def __post_init__(self) -> None:
        _count("k", self.k)
        _word("moves", self.moves, ("each", "one", "total"))
        _positive("by", self.by)
        if self.whole and exactly(self.by).denominator != 1:
            raise ParameterError(f"by must be a whole number for whole answers, not {self.by!r}.")

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The answers that differ independently of each other."""
        return ((range(self.k), self.moves, exactly(self.by)),)

    def __str__(self) -> str:
        numbers = "whole numbers" if self.whole else "real numbers"
        which = {"each": "each", "one": "one of them", "total": "all together"}[self.moves]
        return f"all vectors of {self.k} answers that are {numbers}, {which} differing by at most {float(self.by):g}"


@dataclass(frozen=True)
class Stated:
    """A query of a program, or a quality function, and what it states.

    Args:
        subject: the `Query` or `Quality`.
        k: number of its answers, or of its scores.
        moves: "total": its answers differ by at most its sensitivity in total; "each": every score does.
        sensitivity: > 0.
    """

    subject: Any
    k: int
    moves: Moves
    sensitivity: Fraction


@dataclass(frozen=True)
class Queries:
    """All datasets and their neighbours, of which a program sees the answers of queries and nothing else.

    Args:
        relation: the neighbouring relation, in words; queries state their sensitivity under "replace-one".
        group: number of records that may differ, ≥ 1.
    """

    relation: str = "replace-one"
    group: int = 1

    def __str__(self) -> str:
        differing = f", groups of {self.group}" if self.group > 1 else ""
        return f"all datasets, {self.relation}{differing}"


@dataclass(frozen=True)
class Asked(Answers):
    """The answers of the queries that a program asks, one after the other.

    Args:
        asked: the queries and quality functions.
        queries: the scope of the claim.
    """

    asked: tuple[Stated, ...] = ()
    queries: Queries = Queries()

    @property
    def blocks(self) -> tuple[Block, ...]:
        found, first = [], 0
        for each in self.asked:
            found.append((range(first, first + each.k), each.moves, each.sensitivity * self.queries.group))
            first += each.k
        return tuple(found)

    def __str__(self) -> str:
        return str(self.queries)


@dataclass(frozen=True)
class Stream:
    """Streams of real answers, of every length; a neighbour's answers differ by at most `by` each.

    Args:
        by: largest difference of one answer, > 0.

    Raises:
        ParameterError: by is not above 0.
    """

    by: float | Fraction = 1

    def __post_init__(self) -> None:
        _positive("by", self.by)

    def __str__(self) -> str:
        return f"streams of real answers of every length, each answer differing by at most {float(self.by):g}"


@dataclass(frozen=True)
class Records:
    """All datasets of n real records in [low, high].

    Args:
        n: number of records, ≥ 1. Under add-remove-one, the larger of the two datasets has n records.
        low, high: bounds of every record, low < high.
        relation: "replace-one" or "add-remove-one".

    Raises:
        ParameterError: a parameter outside its range.
    """

    n: int
    low: float | Fraction
    high: float | Fraction
    relation: Neighbours = "replace-one"

    def __post_init__(self) -> None:
        _count("n", self.n)
        if not exactly(self.low) < exactly(self.high):
            raise ParameterError(f"low must be below high, not {self.low!r} and {self.high!r}.")
        _word("relation", self.relation, ("replace-one", "add-remove-one"))

    def __str__(self) -> str:
        return f"all datasets of {self.n} real records in [{float(self.low):g}, {float(self.high):g}], {self.relation}"


@dataclass(frozen=True)
class Domain:
    """All datasets of n records from a finite domain.

    Args:
        n: number of records, ≥ 1. Under add-remove-one, the larger of the two datasets has n records.
        values: the domain, at least two distinct values.
        relation: "replace-one" or "add-remove-one".

    Raises:
        ParameterError: a parameter outside its range.
    """

    n: int
    values: tuple[Hashable, ...]
    relation: Neighbours = "replace-one"

    def __post_init__(self) -> None:
        _count("n", self.n)
        try:
            object.__setattr__(self, "values", tuple(self.values))
            distinct = len(set(self.values))
        except TypeError:
            raise ParameterError(f"values must be distinct hashable records, not {self.values!r}.") from None
        numbers = [exactly(value) for value in self.values if isinstance(value, int | float | Fraction)]
        if distinct < 2 or distinct < len(self.values) or len(set(numbers)) < len(numbers):
            raise ParameterError(f"values must be at least two distinct records, not {self.values!r}.")
        _word("relation", self.relation, ("replace-one", "add-remove-one"))

    def __str__(self) -> str:
        shown = ", ".join(repr(value) for value in self.values[:6]) + (", …" if len(self.values) > 6 else "")
        return f"all datasets of {self.n} records in {{{shown}}}, {self.relation}"


Scope: TypeAlias = Answers | Stream | Records | Domain
ScopeOfClaim: TypeAlias = Scope | Queries


def _count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name} must be a whole number ≥ 1, not {value!r}.")


def _positive(name: str, value: float | Fraction) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not 0 < value < float("inf"):
        raise ParameterError(f"{name} must be a number above 0, not {value!r}.")


def _word(name: str, value: str, words: tuple[str, ...]) -> None:
    if value not in words:
        raise ParameterError(f"{name} must be {' or '.join(map(repr, words))}, not {value!r}.")
