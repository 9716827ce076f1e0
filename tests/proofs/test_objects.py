"""Counters, dataclasses, named tuples and `match` are followed where nothing depends on which keys there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof
from dpaudit.proofs.scopes import Domain, Records

LETTERS = ("a", "b", "c")


def counts(records: Any, rng: Any) -> Any:
    counted = Counter(records)
    return {letter: counted[letter] + rng.laplace(0, 2) for letter in LETTERS}


def counts_with_get(records: Any, rng: Any) -> Any:
    counted = Counter(records)
    return [counted.get(letter, 0) + rng.laplace(0, 2) for letter in LETTERS]


def counts_one_by_one(records: Any, rng: Any) -> Any:
    counted: Any = defaultdict(int)
    for record in records:
        counted[record] += 1
    return {letter: counted[letter] + rng.laplace(0, 2) for letter in LETTERS}


@dataclass(frozen=True)
class Released:
    total: float
    n: int = 0

    @property
    def mean(self) -> float:
        return self.total / self.n


def in_a_dataclass(records: Any, rng: Any) -> Any:
    return Released(sum(records) + rng.laplace(0, 1), len(records))


def property_of_a_dataclass(records: Any, rng: Any) -> Any:
    return Released(sum(records) + rng.laplace(0, 1), n=len(records)).mean


class Both(NamedTuple):
    total: float
    first: float

    def sum(self) -> float:
        return self.total + self.first


def in_a_named_tuple(records: Any, rng: Any) -> Any:
    both = Both(sum(records) + rng.laplace(0, 2), records[0] + rng.laplace(0, 2))
    total, _ = both
    return both, total, both[1], both.sum()


def even_or_odd(records: Any, rng: Any) -> str:
    match int(sum(records) + rng.laplace(0, 1)) % 3:
        case 0 | 1:
            return "low"
        case _:
            return "high"


@pytest.mark.parametrize("program", [counts, counts_with_get, counts_one_by_one])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove-one"])
def test_counts_cost_what_a_histogram_costs(program: Any, relation: Any) -> None:
    outcome = prove(program, Domain(3, LETTERS, relation), epsilon=1, refute=False)
    assert isinstance(outcome, Proof), outcome
    assert outcome.epsilon == (1 if relation == "replace-one" else 0.5)


@pytest.mark.parametrize("program", [in_a_dataclass, property_of_a_dataclass, in_a_named_tuple, even_or_odd])
def test_objects_of_plain_classes(program: Any) -> None:
    outcome = prove(program, Records(3, 0, 1), epsilon=1, refute=False)
    assert isinstance(outcome, Proof), outcome
    assert outcome.epsilon == 1
