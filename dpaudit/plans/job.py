"""Audits made ready: what to run against which claim, and where the pairs come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import Records
from dpaudit.language import Claim, Quality, UtilityClaim
from dpaudit.plans.alpha_shares import LEAST_LEARNING_RECORDED, learning_runs
from dpaudit.plans.plan import Scope, Seen, UtilityCase
from dpaudit.plans.request import WorstCaseMode
from dpaudit.results.figures import Drawing
from dpaudit.results.model import Verdict
from dpaudit.results.notes import Note
from dpaudit.subjects.recorded import Followed, RecordedTarget
from dpaudit.subjects.target import MechanismTarget, Target

TESTS_OF_FOUND_PAIRS = 3
"""How many of the pairs that a search found are tested and certified."""


@dataclass(frozen=True, kw_only=True)
class PrivacyJob:
    """What every audit of privacy has; the kinds below say where its pairs come from.

    Args:
        target: what is audited.
        label: what the case is called, unique among the cases of a name.
        claim: to test.
        replay: id of the audit.
        expected: the verdict that the catalogue expects; None for none.
        runs: samples of each dataset and pair, at most; 0 for an audit by exact output distributions alone.
        pairs: to compare and to sample; a search puts there what it found.
        exact: whether exact output distributions and densities are used where there are any.
        black_box: whether the mechanism's output distributions and its density are left alone.
        bits, drawing: as of a `Case`.
        notes: of the case, or of the function.
    """

    target: Target
    label: str
    claim: Claim
    replay: str
    expected: Verdict | None = None
    runs: int = 0
    pairs: tuple[Pair, ...] = ()
    exact: bool = True
    black_box: bool = False
    bits: bool = False
    notes: tuple[Note, ...] = ()
    drawing: Callable[[Seen], Drawing | None] | None = None

    @property
    def learning(self) -> int:
        """Samples per dataset of each pair from which its event is learned."""
        return learning_runs(self.runs)

    @property
    def tests(self) -> int:
        """Pairs that go to certification; each spends one share of α."""
        return len(self.pairs) if self.runs else 0


@dataclass(frozen=True, kw_only=True)
class GivenPairs(PrivacyJob):
    """The claim is tested on pairs that somebody gave."""


@dataclass(frozen=True, kw_only=True)
class RecordedSamples(PrivacyJob):
    """The claim is tested on recorded outputs, of which there are no more.

    Args:
        claimed: whether anything is claimed; otherwise a lower confidence bound on ε is wanted, and no verdict.
    """

    target: RecordedTarget
    claimed: bool = True

    @property
    def followed(self) -> Followed | None:
        """The files that are read as they come, if they do; then the e-process is the only test."""
        stream = self.target.recorded.stream
        return stream if isinstance(stream, Followed) else None

    @property
    def learning(self) -> int:
        """Fewer than where more samples can be drawn."""
        return learning_runs(self.runs, least=LEAST_LEARNING_RECORDED)


@dataclass(frozen=True, kw_only=True)
class PairSearch(PrivacyJob):
    """Pairs are searched for by samples, beginning with `pairs`.

    Args:
        records: what records are.
        sizes: least and most records of a dataset, where the user gave a size; None for any.
        small: all datasets of these records where they are few: they are enumerated besides, although nobody asked for
            it, and where that fails samples remain.
    """

    records: Records
    sizes: tuple[int, int] | None = None
    small: Scope | None = None

    @property
    def tests(self) -> int:
        """Of what it begins with, and of what it finds."""
        return min(super().tests, TESTS_OF_FOUND_PAIRS)


@dataclass(frozen=True, kw_only=True)
class ExhaustiveDomain(PrivacyJob):
    """Every pair of a finite domain is compared by exact output distributions; `pairs` come first.

    Args:
        scope: the domain.
    """

    target: MechanismTarget
    scope: Scope


@dataclass(frozen=True, kw_only=True)
class WorstCaseSearch(PrivacyJob):
    """The worst pair is searched for by exact output distributions.

    Args:
        mode: what was asked for.
        records: what records are.
        starts: pairs to begin with, besides those that the search makes itself.
        natural: the quality whose datasets may realise scores.
    """

    target: MechanismTarget
    mode: WorstCaseMode
    records: Records
    starts: tuple[Pair, ...] = ()
    natural: Quality | None = None


@dataclass(frozen=True, kw_only=True)
class GroupChains(PrivacyJob):
    """Chains of neighbours are walked to datasets k steps apart.

    Args:
        claims: those for groups of 1, …, k; the last is the one to test.
        starts: pairs to begin with.
        records: what records are.
        most: records of a dataset, at most; None for as many as it takes.
    """

    claims: tuple[Claim, ...]
    starts: tuple[Pair, ...]
    records: Records
    most: int | None = None

    @property
    def tests(self) -> int:
        """The ends of the worst chain."""
        return 1 if self.runs else 0


@dataclass(frozen=True, kw_only=True)
class UtilityJob:
    """A utility guarantee is tried on every source of inputs.

    Args:
        target: what is audited.
        case: the guarantee, and where inputs come from.
        replay: id of the audit.
        expected: the verdict that the catalogue expects; None for none.
        runs: samples on each source of inputs; 0 for an audit by exact output distributions alone.
    """

    target: MechanismTarget
    case: UtilityCase
    replay: str
    expected: Verdict | None
    runs: int

    @property
    def label(self) -> str:
        """What the case is called."""
        return self.case.label

    @property
    def claim(self) -> UtilityClaim:
        """What is guaranteed."""
        return self.case.claim

    @property
    def tests(self) -> int:
        """How many sources are sampled: each uses one share of α."""
        return len(self.case.instances) if self.runs else 0


Job: TypeAlias = PrivacyJob | UtilityJob
"""An audit of privacy, of one of the kinds above, or of utility."""
