"""The ledger: which private mechanisms an algorithm uses, what they cost together, and what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator, SeedSequence, default_rng

from dpaudit.interpret.sample import split
from dpaudit.interpret.walk import Last, Run, blaming
from dpaudit.language import Applied, Claim, Distribution, Mechanism, basic_composition
from dpaudit.language.distributions import Product, Then


@dataclass(frozen=True)
class Entry:
    """A mechanism or draw in the composition tree.

    `claim` is what it says of itself; `composed` is the basic composition of its parts, None for a leaf or where a
    part has no claim or where claims are under different relations.
    """

    text: str
    claim: Claim | None
    composed: Claim | None
    parts: tuple[Entry, ...]

    @property
    def balanced(self) -> bool | None:
        """Whether the parts, composed, keep the claim; None where there is nothing to hold against each other."""
        if self.claim is None or self.composed is None:
            return None
        return self.composed.implies(self.claim)

    @property
    def complete(self) -> bool:
        """Whether every draw in the tree is accounted for."""
        if not self.parts:
            return self.claim is not None
        return all(part.complete for part in self.parts)

    def worst(self, other: Entry) -> Entry:
        """Of two runs of the same mechanism, the one that spent more."""
        spent = [(e.composed or e.claim) for e in (self, other)]
        if spent[0] is None or spent[1] is None:
            return self if spent[0] is None else other
        return self if (spent[0].epsilon, spent[0].delta) >= (spent[1].epsilon, spent[1].delta) else other


def ledger(mechanism: Mechanism, dataset: Any, *, runs: int = 16, seed: int | SeedSequence = 0) -> Entry:
    """The composition tree of the dearest of `runs` sampled runs.

    A mechanism that uses no other mechanism and marks no draw with `.spending(claim)` is a leaf: its own claim is
    taken as given. In one that does, a draw without a mark is not accounted for and the tree is not `complete`.

    Raises:
        MechanismError and its kinds: as in `sample`.
    """
    rng = default_rng(seed)
    entry = _record(mechanism, dataset, rng)
    for _ in range(runs - 1):
        entry = entry.worst(_record(mechanism, dataset, rng))
    return entry


def _record(mechanism: Mechanism, dataset: Any, rng: Generator) -> Entry:
    run = Run(mechanism, dataset)
    parts: list[Entry] = []
    with blaming(mechanism):
        while not isinstance(run.node, Last):
            parts.append(_entry(run.node, rng))
            ((value, *_),) = split(run.node, 1, rng)
            run.send(value)
        if isinstance(run.node.value, Distribution | Applied):
            parts.append(_entry(run.node.value, rng))
    if all(part.claim is None and not part.parts for part in parts):
        return Entry(mechanism.name, mechanism.claim, None, ())
    return Entry(mechanism.name, mechanism.claim, _composed(parts), tuple(parts))


def _composed(parts: Sequence[Entry]) -> Claim | None:
    """Basic composition; None where a part has no claim, or where they are under different relations."""
    spent = [claim for part in parts if (claim := part.claim or part.composed) is not None]
    if len(spent) < len(parts) or len({claim.relation for claim in spent}) > 1:
        return None
    return basic_composition(spent)


def _entry(node: Distribution | Applied, rng: Generator) -> Entry:
    if isinstance(node, Applied):
        return _record(node.mechanism, node.dataset, rng)
    if isinstance(node, Then) and node.claim is None:
        inner = _entry(node.base, rng)
        ((value, *_),) = split(node.base, 1, rng)
        following = node.continuation(value)
        if isinstance(following, Distribution | Applied):
            parts = (inner, _entry(following, rng))
            return Entry("a draw and what follows", None, _composed(parts), parts)
        return inner
    if isinstance(node, Product) and node.claim is None and any(part.claim for part in node.parts):
        each = tuple(_entry(part, rng) for part in node.parts)
        return Entry("independent draws", None, _composed(each), each)
    return Entry(repr(node)[:80], node.claim, None, ())
