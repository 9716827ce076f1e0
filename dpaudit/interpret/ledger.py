"""The ledger: which private mechanisms an algorithm uses, what they cost together, and what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator, SeedSequence, default_rng

from dpaudit.interpret.sample import split
from dpaudit.interpret.walk import Last, Run, blaming, continued
from dpaudit.language import Applied, Claim, Distribution, Mechanism, basic_composition, canonical, optimal_composition
from dpaudit.language.distributions import Product, Then
from dpaudit.language.relation import plain_records

FOLLOWED = "a draw and what follows"
"""What an entry is called whose two parts are these."""


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
        """Whether the parts, composed, keep the claim; None where there is nothing to hold against each other.

        By basic composition, or by optimal composition, which whatever theorem the claim rests on cannot beat.
        """
        if self.claim is None or self.composed is None:
            return None
        if self.composed.relation != self.claim.relation:
            return False
        spent = [claim for part in self.parts for claim in part.spent if claim is not None]
        return self.composed.implies(self.claim) or optimal_composition(spent, self.claim.epsilon) <= (
            self.claim.delta * (1 + 1e-9) + 1e-15
        )

    @property
    def spent(self) -> tuple[Claim | None, ...]:
        """What it takes from an outer budget: its own claim, or else what its parts take; None for an unknown part."""
        if self.claim is not None or not self.parts:
            return (self.claim,)
        return tuple(claim for part in self.parts for claim in part.spent)

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
    rng, dataset = default_rng(seed), plain_records(dataset)
    entry, _ = _record(mechanism, dataset, rng, drawn=False)
    for _ in range(runs - 1):
        entry = entry.worst(_record(mechanism, dataset, rng, drawn=False)[0])
    return entry


def _record(mechanism: Mechanism, dataset: Any, rng: Generator, *, drawn: bool) -> tuple[Entry, Any]:
    """One run: what it used, and with `drawn` its output (else None)."""
    run = Run(mechanism, dataset)
    parts: list[Entry] = []
    with blaming(mechanism):
        while not isinstance(run.node, Last):
            part, value = spend(run.node, rng, drawn=True)
            parts.append(part)
            run.send(value)
        output = run.node.value
        if isinstance(output, Distribution | Applied):
            part, output = spend(output, rng, drawn=drawn)
            parts.append(part)
    if all(part.claim is None and not part.parts for part in parts):
        parts = []
    entry = Entry(mechanism.name, mechanism.claim, composed(parts), tuple(parts))
    return entry, canonical(output) if drawn else None


def spend(node: Distribution | Applied, rng: Generator, *, drawn: bool) -> tuple[Entry, Any]:
    """One draw: its entry, and with `drawn` what came."""
    if isinstance(node, Applied):
        return _record(node.mechanism, node.dataset, rng, drawn=drawn)
    if isinstance(node, Then) and node.claim is None:
        inner, value = spend(node.base, rng, drawn=True)
        following = continued(node, value)
        if not isinstance(following, Distribution | Applied):
            return inner, following
        rest, value = spend(following, rng, drawn=drawn)
        return Entry(FOLLOWED, None, composed((inner, rest)), (inner, rest)), value
    value = split(node, 1, rng)[0][0] if drawn else None
    if isinstance(node, Product) and node.claim is None and any(part.claim for part in node.parts):
        parts = tuple(spend(part, rng, drawn=False)[0] for part in node.parts)
        return Entry("independent draws", None, composed(parts), parts), value
    return Entry(repr(node)[:80], node.claim, None, ()), value


def composed(parts: Sequence[Entry]) -> Claim | None:
    """Basic composition; None where a part has no claim, or where they are under different relations."""
    spent = [claim for part in parts for claim in part.spent]
    known = [claim for claim in spent if claim is not None]
    if not known or len(known) < len(spent) or len({claim.relation for claim in known}) > 1:
        return None
    return basic_composition(known)
