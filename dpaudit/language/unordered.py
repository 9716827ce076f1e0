"""Neighbouring relations of datasets without an order: D and D′ may list their records in different orders.

A database has no order, and a function of a list may depend on it: a sum of floats does, and so does whatever pairs its
records up. These relations are on tuples, so that a function can be tried on several orders of one dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from dpaudit.errors import ParameterError
from dpaudit.language.records import Record
from dpaudit.language.relation import AddRemoveOne, Dataset, Relation, ReplaceOne, as_records


@dataclass(frozen=True)
class AddRemoveUnordered(AddRemoveOne):
    """One record more, and the records in any order; two orders of the same records are one step apart, too."""

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        a, b = as_records(left), as_records(right)
        return 0 if a == b else max(1, sum(_moved(a, b)))

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        """The neighbours of `add-remove-one` in every order, and the dataset itself in every other order."""
        return _orders(dataset, super().neighbours(dataset, domain))


@dataclass(frozen=True)
class ReplaceUnordered(ReplaceOne):
    """One record replaced, and the records in any order; two orders of the same records are one step apart, too."""

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        a, b = as_records(left), as_records(right)
        return None if len(a) != len(b) else 0 if a == b else max(1, _moved(a, b)[0])

    def neighbours(self, dataset: Dataset, domain: Sequence[Record]) -> Iterator[Dataset]:
        """The neighbours of `replace-one` in every order, and the dataset itself in every other order."""
        return _orders(dataset, super().neighbours(dataset, domain))


def unordered(relation: Relation) -> Relation:
    """The relation on datasets whose records have no order.

    Raises:
        ParameterError: it is neither replace-one nor add-remove-one.
    """
    if type(relation) is AddRemoveOne:
        return AddRemoveUnordered(relation.size)
    if type(relation) is ReplaceOne:
        return ReplaceUnordered(relation.size)
    raise ParameterError(f"Records may come in any order under replace-one and add-remove-one, not {relation.name}.")


def _moved(left: Dataset, right: Dataset) -> tuple[int, int]:
    """How many records each has that the other has not."""
    a, b = Counter(left), Counter(right)
    return (a - b).total(), (b - a).total()


def _orders(dataset: Dataset, neighbours: Iterator[Dataset]) -> Iterator[Dataset]:
    seen: set[Dataset] = {tuple(dataset)}
    for near in (dataset, *neighbours):
        for order in permutations(near):
            if order not in seen:
                seen.add(order)
                yield order
