"""What the audit of one case has gathered so far: all kinds of evidence, before the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpaudit.evidence.curves import Comparison
from dpaudit.evidence.density import ComparedPair
from dpaudit.evidence.needed import Needed
from dpaudit.evidence.sampled import Collected
from dpaudit.interpret import LawCache
from dpaudit.plans.job import PrivacyJob
from dpaudit.results.model import Alignment, AssumptionRecord, Chain, ExactEvidence, Proof
from dpaudit.results.notes import Note


@dataclass(frozen=True)
class Enumeration:
    """Every pair of a finite domain, compared exactly.

    Args:
        what: "all 9 replace-one pairs of …".
        differing: a sentence about messages of exceptions that are not the same on every dataset; "" for none.
        proof: bounds for the worst pair; None where there is no pair.
        refutes: whether the worst pair exceeds the claim.
    """

    what: str
    differing: str
    proof: Proof | None = None
    refutes: bool = False


@dataclass
class Findings:
    """What one case's audit has gathered so far."""

    exact: list[ExactEvidence] = field(default_factory=list)
    worst: ComparedPair | None = None
    """Of the pairs in `exact`, the one that needs the largest ε."""
    delta: float | None = None
    """Largest exact δ at the claimed ε over every pair enumerated, also those that are not kept in `exact`."""
    laws: LawCache = field(default_factory=LawCache)
    """Exact laws of the pairs compared, and of what the mechanism uses on the way."""
    enumeration: Enumeration | None = None
    """None where not every pair of a finite domain was compared."""
    alignment: Alignment | None = None
    """A proof for every dataset of a scope; None where none was found."""
    whole_curve: Comparison | None = None
    """Of a claim that is a curve, the worst comparison of a pair with all of it; None where none was made."""
    collected: Collected | None = None
    searched: int = 0
    """Samples used to search for pairs and to minimise them, of both datasets."""
    chain: Chain | None = None
    cut_short: bool = False
    crash: str | None = None
    crashed: bool = False
    interrupted: bool = False
    """Whether the user ended the audit; what it had until then is reported."""
    job: PrivacyJob | None = None
    """The job with the pairs that a search found."""
    notes: list[Note] = field(default_factory=list)
    assumptions: list[AssumptionRecord] = field(default_factory=list)
    call_time: float | None = None
    """Seconds that a first call of a user's function took."""
    needed: Needed | None = None
    """The samples that the claim needs, where it matters: calls are slow, or there is a time limit."""

    def withdraw(self) -> None:
        """Take back all that was computed exactly: it is of no one mechanism, or of nothing but failures."""
        self.exact.clear()
        self.worst = self.delta = self.chain = self.enumeration = self.whole_curve = None
