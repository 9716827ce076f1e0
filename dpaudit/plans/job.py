"""A case made ready to be audited: what to run, on which pairs, against which claim."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import Records
from dpaudit.language import Card, Claim, Quality
from dpaudit.plans.plan import Case, Scope
from dpaudit.plans.request import WorstCaseMode
from dpaudit.results.model import Verdict
from dpaudit.subjects.target import Target


@dataclass(frozen=True)
class SearchSpec:
    """Where the worst pair is searched for by exact laws.

    Args:
        seek: what was asked for.
        starts: pairs to begin with, besides those that the search makes itself.
        natural: the quality whose datasets may realise scores.
    """

    seek: WorstCaseMode
    starts: tuple[Pair, ...] = ()
    natural: Quality | None = None


@dataclass(frozen=True)
class Walk:
    """Where chains of neighbours are walked to datasets k steps apart.

    Args:
        claims: those for groups of 1, …, k.
        starts: pairs to begin with.
        records: what records are.
        most: records of a dataset, at most; None for as many as it takes.
    """

    claims: tuple[Claim, ...]
    starts: tuple[Pair, ...]
    records: Records
    most: int | None = None


@dataclass(frozen=True)
class Job:
    """A case made ready: what to run, on which pairs, against which claim."""

    target: Target
    case: Case
    claim: Claim
    card: Card | None
    expected: Verdict | None
    tests: int
    """Pairs that go to certification; each spends one share of α."""
    replay: str
    records: Records | None = None
    """What records are, where pairs are searched for."""
    black_box: bool = False
    """Whether the mechanism's law and density are left alone."""
    scope_unasked: bool = False
    """Whether the scope is enumerated on the auditor's own account: where that fails, runs remain."""
    spec: SearchSpec | None = None
    """Where the worst pair is searched for by exact laws."""
    walk: Walk | None = None
    """Where the pair is to be the ends of a chain."""

    @property
    def runs(self) -> int:
        """Runs a side and pair at most."""
        return self.case.runs

    @property
    def scope(self) -> Scope | None:
        """What is enumerated."""
        return self.case.scope
