"""The ledger: the private mechanisms that an algorithm uses, their total privacy loss, and its claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator, SeedSequence, default_rng

from dpaudit.interpret.known_paths import Known
from dpaudit.interpret.sample import split
from dpaudit.interpret.walk import Last, Run, Watch, blaming, continued
from dpaudit.language import Applied, Claim, Distribution, Mechanism, basic_composition, canonical, optimal_composition
from dpaudit.language.distributions import Product, Then
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import Output

FOLLOWED = "a draw and what follows"
"""The name of an entry with these two parts."""


@dataclass(frozen=True)
class Entry:
    """A mechanism or draw in the composition tree.

    `claim` is its own claim; `composed` is the basic composition of its parts: None for a leaf, if a part has no claim,
    or if claims are under different relations.
    """

    text: str
    claim: Claim | None
    composed: Claim | None
    parts: tuple[Entry, ...]

    @property
    def balanced(self) -> bool | None:
        """Whether the composition of the parts implies the claim; None if there is nothing to compare.

        By basic composition, or by optimal composition, which is at least as tight as any composition theorem.
        """
        if self.claim is None or self.composed is None:
            return None
        if self.composed.relation != self.claim.relation:
            return False
        claims = [claim for part in self.parts for claim in part.spent if claim is not None]
        return self.composed.implies(self.claim) or optimal_composition(claims, self.claim.epsilon) <= (
            self.claim.delta * (1 + 1e-9) + 1e-15
        )

    @property
    def spent(self) -> tuple[Claim | None, ...]:
        """Its privacy loss in an outer budget: its own claim, else those of its parts; None for an unknown part."""
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
        """Of two runs of the same mechanism, the one with the larger privacy loss."""
        losses = [(e.composed or e.claim) for e in (self, other)]
        if losses[0] is None or losses[1] is None:
            return self if losses[0] is None else other
        return self if (losses[0].epsilon, losses[0].delta) >= (losses[1].epsilon, losses[1].delta) else other


def ledger(mechanism: Mechanism, dataset: object, *, runs: int = 16, seed: int | SeedSequence = 0) -> Entry:
    """The composition tree with the largest privacy loss among `runs` sampled runs.

    A mechanism that uses no other mechanism and marks no draw with `.spending(claim)` is a leaf: its own claim is
    taken as given. In any other mechanism an unmarked draw is not accounted for, and the tree is not `complete`.

    Raises:
        MechanismError and its subclasses: as in `sample`.
    """
    rng, dataset, watch = default_rng(seed), plain_records(dataset), Watch(mechanism)
    entry, _ = _record(mechanism, dataset, rng, watch, drawn=False)
    for _ in range(runs - 1):
        entry = entry.worst(_record(mechanism, dataset, rng, watch, drawn=False)[0])
    watch.close()
    return entry


def _record(
    mechanism: Mechanism, dataset: object, rng: Generator, watch: Watch, *, drawn: bool
) -> tuple[Entry, Output]:
    """One run: its entry, and its output if `drawn` (else None)."""
    run = Run(mechanism, dataset)
    parts: list[Entry] = []
    with blaming(mechanism):
        while not isinstance(run.node, Last):
            part, value = spend(run.node, rng, watch, drawn=True)
            parts.append(part)
            run.send(value)
        output = run.node.value
        if isinstance(output, Distribution | Applied):
            part, output = spend(output, rng, watch, drawn=drawn)
            parts.append(part)
    if all(part.claim is None and not part.parts for part in parts):
        parts = []
    entry = Entry(mechanism.name, mechanism.claim, composed(parts), tuple(parts))
    return entry, canonical(output) if drawn else None


def spend(node: Distribution | Applied, rng: Generator, watch: Watch, *, drawn: bool) -> tuple[Entry, Output]:
    """One draw: its entry, and its value if `drawn`."""
    if isinstance(node, Applied):
        return _record(node.mechanism, node.dataset, rng, watch, drawn=drawn)
    if isinstance(node, Then) and node.claim is None:
        inner, value = spend(node.base, rng, watch, drawn=True)
        following = continued(node, value)
        if not isinstance(following, Distribution | Applied):
            return inner, following
        rest, value = spend(following, rng, watch, drawn=drawn)
        return Entry(FOLLOWED, None, composed((inner, rest)), (inner, rest)), value
    value = split(Known(node=node), 1, rng, watch)[0][0] if drawn else None
    if isinstance(node, Product) and node.claim is None and any(part.claim for part in node.parts):
        parts = tuple(spend(part, rng, watch, drawn=False)[0] for part in node.parts)
        return Entry("independent draws", None, composed(parts), parts), value
    return Entry(repr(node)[:80], node.claim, None, ()), value


def composed(parts: Sequence[Entry]) -> Claim | None:
    """Basic composition; None if a part has no claim, or if the claims are under different relations."""
    claims = [claim for part in parts for claim in part.spent]
    known = [claim for claim in claims if claim is not None]
    if not known or len(known) < len(claims) or len({claim.relation for claim in known}) > 1:
        return None
    return basic_composition(known)
