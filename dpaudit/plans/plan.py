"""What to try against an algorithm: the form in which the audits of the catalogue are written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.errors import UsageError
from dpaudit.language import Claim, Mechanism, Quality, UtilityClaim
from dpaudit.results.figures import Drawing
from dpaudit.results.model import Verdict


@dataclass(frozen=True)
class Scope:
    """A finite scope to enumerate exhaustively: every neighbouring pair of datasets of `records` records.

    Args:
        domain: possible records.
        records: size of the datasets (add/remove-one: at most).
        ordered: False when the mechanism depends on multiplicities only.
        reduced: whether one law is computed for all datasets that declared symmetries make equal.
    """

    domain: tuple[object, ...]
    records: int
    ordered: bool = False
    reduced: bool = True

    def __str__(self) -> str:
        kind = "sequences" if self.ordered else "multisets"
        domain = "{" + ", ".join(map(str, self.domain)) + "}" if len(self.domain) <= 8 else f"{len(self.domain)} values"
        return f"{kind} of {self.records} record{'' if self.records == 1 else 's'} from {domain}"


@dataclass(frozen=True)
class Seen:
    """What is known of a pair when it is drawn.

    Args:
        pair: the two datasets.
        kind: "exact" where probabilities are of the laws, "sampled" where they are shares of runs, "" where nothing
            is known of the outputs.
        values: outputs, all different; an `IntegerRange` stands for so many whole numbers.
        left, right: their probabilities, shape (k,).
        event: which of them are in the reported event, shape (k,).
    """

    pair: Pair
    kind: str
    values: Sequence[Any] = ()
    left: Sequence[float] = ()
    right: Sequence[float] = ()
    event: Sequence[bool] = ()

    @property
    def probability(self) -> tuple[float, float]:
        """Of the event, on the left dataset and on the right one."""
        left = math.fsum(p for p, inside in zip(self.left, self.event, strict=True) if inside)
        right = math.fsum(q for q, inside in zip(self.right, self.event, strict=True) if inside)
        return left, right


@dataclass(frozen=True)
class Case:
    """One audit of an algorithm.

    Args:
        label: "paper constants", "group of 2", …; unique within the plan.
        mechanism: the instance to run.
        pairs: specified pairs, the worst that the authors could find.
        claim: what to test; the mechanism's own claim without it. For groups: `mechanism.claim.group(2)`.
        runs: most samples per dataset of each pair, learning included; 0 for an audit by law only.
        exact: compute the exact law of both datasets of every pair, or the privacy losses of their densities.
        scope: enumerate every neighbouring pair of it.
        expected: the verdict that the catalogue expects; a finding explains a FAIL.
        note: a sentence for the report.
        bits: whether what the low bits of doubles give away counts in the verdict.
        deliberate: whether it runs a wrong (inner) mechanism on purpose, so that its FAIL is no finding.
        finding: the number of the finding that its FAIL shows; 0 where the card has only one of its kind.
        drawing: a figure of the deciding pair and of what comes out, for the report; None for none.
    """

    label: str
    mechanism: Mechanism
    pairs: tuple[Pair, ...] = ()
    claim: Claim | None = None
    runs: int = 200_000
    exact: bool = True
    scope: Scope | None = None
    expected: Verdict = Verdict.PASS
    note: str = ""
    bits: bool = False
    deliberate: bool = False
    finding: int = 0
    drawing: Callable[[Seen], Drawing | None] | None = None

    @property
    def tested(self) -> Claim | None:
        """The claim under test."""
        return self.claim or self.mechanism.claim


@dataclass(frozen=True)
class UtilityCase:
    """One utility guarantee of an algorithm, tried.

    Args:
        label: unique within the plan's utility cases.
        mechanism: the instance to run.
        claim: what is guaranteed; usually one of `mechanism.utility(records)`.
        instances: where its inputs come from, each a mechanism from () to an `Instance`; each is held against
            the claim.
        runs: runs on each source of instances.
        exact: compute the exact probability of success, where there is a law.
        expected: the verdict that the catalogue expects; a finding explains a FAIL.
        note: a sentence for the report.
        deliberate: whether it runs a wrong (inner) mechanism on purpose, so that its FAIL is no finding.
        finding: as of a `Case`.
        drawing: a figure for the report, from runs of its own with the generator that it is given; None for none.
    """

    label: str
    mechanism: Mechanism
    claim: UtilityClaim
    instances: tuple[Mechanism, ...]
    runs: int = 20_000
    exact: bool = True
    expected: Verdict = Verdict.PASS
    note: str = ""
    deliberate: bool = False
    finding: int = 0
    drawing: Callable[[Generator], Drawing | None] | None = None


@dataclass(frozen=True)
class Plan:
    """All audits of one algorithm; `cases` is called when they are wanted."""

    name: str
    cases: Callable[[], tuple[Case, ...]]
    small: Callable[[int, int], tuple[Mechanism, Scope]] | None = None
    """(points of the domain, records) → the algorithm on so small a domain, and all its datasets, for `dpaudit verify`;
    None where it has no exact law."""
    natural: Callable[[int], Quality] | None = None
    """Number of solutions → the quality whose datasets may realise a pair of score vectors, for `dpaudit worst`."""
    utility: Callable[[], tuple[UtilityCase, ...]] | None = None
    """Its utility guarantees, tried; None where none is printed."""


def refuse_twins(name: str, cases: Sequence[Case] | Sequence[UtilityCase]) -> None:
    """Refuse cases of a plan that share a label: their audits would share an id.

    An audit whose process died would then be given the result of the other one, and so would evidence.

    Raises:
        UsageError: two do.
    """
    label, times = max(Counter(case.label for case in cases).items(), key=lambda one: one[1], default=("", 0))
    if times > 1:
        raise UsageError(f"The plan of {name} has {times} cases {label!r}; give each of them a label of its own.")
