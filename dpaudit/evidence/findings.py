"""What the audit of one case has gathered so far: all kinds of evidence, before the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpaudit.adversary import Event, Pair
from dpaudit.evidence.density import Exact
from dpaudit.evidence.sampled import Collected
from dpaudit.interpret import LawCache
from dpaudit.results.model import AssumptionRecord, Chain, ExactEvidence, Proof


@dataclass
class Findings:
    """What one case's audit has gathered so far."""

    exact: list[ExactEvidence] = field(default_factory=list)
    worst: ExactEvidence | None = None
    delta: float | None = None
    """Largest exact δ at the claimed ε over every pair enumerated, also those that are not kept in `exact`."""
    worst_pair: Pair | None = None
    worst_event: Event = field(default_factory=Event)
    comparison: Exact | None = None
    laws: LawCache = field(default_factory=LawCache)
    """Exact laws of the pairs compared, and of what the mechanism uses on the way."""
    differing: str = ""
    """A sentence about messages of exceptions that are not the same on every dataset of the scope; "" for none."""
    scope: str | None = None
    scope_done: bool = False
    proof: Proof | None = None
    refuted_by_scope: bool = False
    """Whether its worst pair exceeds the claim."""
    enumerated: int = 0
    collected: Collected | None = None
    searched: int = 0
    """Runs spent on searching for pairs and on shrinking them, both sides."""
    chain: Chain | None = None
    cut_short: bool = False
    crash: str | None = None
    crashed: bool = False
    notes: list[str] = field(default_factory=list)
    assumptions: list[AssumptionRecord] = field(default_factory=list)
