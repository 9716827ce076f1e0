"""The ledger: what composes, what balances, what is not accounted for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import toy_mechanisms as toys

from dpaudit.interpret import ledger
from dpaudit.language import (
    ADD_REMOVE_ONE,
    Bernoulli,
    Claim,
    Laplace,
    Mechanism,
    Product,
    Program,
    Uniform,
    advanced_composition,
)


def test_a_leaf_is_taken_at_its_word() -> None:
    entry = ledger(toys.RandomizedResponse(0.5), 1)
    assert entry.claim == Claim(0.5)
    assert entry.parts == ()
    assert entry.composed is None
    assert entry.balanced is None
    assert entry.complete
    assert not ledger(toys.Returns(Uniform((0, 1))), ()).complete


def test_marked_draws_compose() -> None:
    entry = ledger(toys.LossBreakdown(Claim(0.3, 3e-6)), ())
    assert len(entry.parts) == 3
    assert entry.composed is not None
    assert entry.composed.epsilon == pytest.approx(0.3)
    assert entry.composed.delta == pytest.approx(3e-6)
    assert entry.balanced is True
    assert entry.complete
    assert ledger(toys.LossBreakdown(Claim(0.29, 3e-6)), ()).balanced is False
    assert ledger(toys.LossBreakdown(Claim(0.3, 2e-6)), ()).balanced is False
    assert ledger(toys.LossBreakdown(None), ()).balanced is None


def test_an_unmarked_draw_is_not_accounted_for() -> None:
    entry = ledger(toys.LossBreakdown(Claim(0.3, 3e-6), marked=2), ())
    assert not entry.complete
    assert entry.composed is None
    assert entry.balanced is None
    # with no mark at all it is a leaf
    assert ledger(toys.LossBreakdown(Claim(0.3), marked=0), ()).parts == ()


@dataclass(frozen=True)
class Twice(Mechanism):
    inner: Mechanism
    budget: float

    @property
    def claim(self) -> Claim:
        return Claim(self.budget)

    def run(self, dataset: Any) -> Program:
        a = yield self.inner.on(dataset)
        if a:
            return self.inner.on(dataset)
        return a


def test_the_dearest_run_counts() -> None:
    entry = ledger(Twice(toys.RandomizedResponse(0.5), 1.0), 1, runs=30)
    assert len(entry.parts) == 2
    assert entry.composed == Claim(1.0)
    assert entry.balanced is True
    assert ledger(Twice(toys.RandomizedResponse(0.5), 0.9), 1, runs=30).balanced is False
    assert [part.text for part in entry.parts] == ["RandomizedResponse"] * 2


def test_trees_nest() -> None:
    entry = ledger(Twice(Twice(toys.RandomizedResponse(0.25), 0.5), 1.0), 1, runs=30)
    assert entry.balanced
    assert entry.complete
    assert all(part.balanced in (True, None) for part in entry.parts)
    assert max(len(part.parts) for part in entry.parts) >= 1


@dataclass(frozen=True)
class Ends(Mechanism):
    last: Any

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5).spending(Claim(0.5))
        return self.last


def test_continuations_are_accounted_for() -> None:
    marked = Uniform((0, 1)).spending(Claim(0.2)).then(lambda v: Laplace(v, 1).spending(Claim(0.3)))
    entry = ledger(Ends(marked), ())
    assert entry.composed == Claim(1.0)
    assert entry.complete
    half = ledger(Ends(Uniform((0, 1)).spending(Claim(0.2)).then(lambda v: Laplace(v, 1))), ())
    assert half.composed is None
    assert not half.complete
    output = ledger(Ends(Uniform((0, 1)).spending(Claim(0.5)).then(lambda v: v)), ())
    assert output.composed == Claim(1.0)


def test_post_processing_is_free() -> None:
    entry = ledger(Ends(Laplace(0, 1).spending(Claim(0.5)).map(round)), ())
    assert entry.composed == Claim(1.0)
    assert entry.complete


def test_independent_parts_add_up() -> None:
    part = Bernoulli(0.5).spending(Claim(0.25))
    entry = ledger(Ends(Product((part, part))), ())
    assert entry.composed == Claim(1.0)
    assert entry.complete
    assert not ledger(Ends(Product((part, Bernoulli(0.5)))), ()).complete


def test_claims_under_different_relations_are_not_composed() -> None:
    entry = ledger(Ends(Laplace(0, 1).spending(Claim(0.5, relation=ADD_REMOVE_ONE))), ())
    assert entry.composed is None
    assert entry.balanced is None
    assert entry.complete


def test_texts_hold_no_addresses_and_seeds_repeat() -> None:
    mechanism = Ends(Laplace(0, 1).spending(Claim(0.5)).map(lambda v: v))
    assert ledger(mechanism, (), seed=1) == ledger(mechanism, (), seed=1)
    assert " at 0x" not in str(ledger(mechanism, ()))


@dataclass(frozen=True)
class Many(Mechanism):
    """k uses, claimed by a theorem that is better than basic composition."""

    k: int
    outer: Claim

    @property
    def claim(self) -> Claim:
        return self.outer

    def run(self, dataset: Any) -> Program:
        total = 0
        for _ in range(self.k):
            total += yield toys.RandomizedResponse(0.1).on(dataset)
        return total


def test_a_claim_by_a_better_theorem_than_basic_composition() -> None:
    theorem = advanced_composition(Claim(0.1), 50, 1e-3)
    entry = ledger(Many(50, theorem), 1, runs=2)
    assert entry.composed is not None
    assert entry.composed.epsilon == pytest.approx(5.0)
    assert not entry.composed.implies(Claim(3.0, 1e-3))
    assert entry.balanced is True
    assert ledger(Many(50, Claim(1.0, 1e-3)), 1, runs=2).balanced is False
    assert ledger(Many(50, theorem.under(ADD_REMOVE_ONE)), 1, runs=2).balanced is False


def test_the_tree_is_that_of_the_values_drawn() -> None:
    """What a part gave decides what is used next; deep trees are run once."""
    toys.EXECUTIONS["ledger"] = 0
    mechanism: Mechanism = toys.Bits(1, "ledger")
    for _ in range(12):
        mechanism = Twice(mechanism, 1.0)
    ledger(mechanism, (), runs=1)
    assert toys.EXECUTIONS["ledger"] <= 2**12
