"""What kind of fault an audit shows: the rules of the SARIF form, of dpaudit's own and of the corpus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from dpaudit.errors import DpauditError
from dpaudit.language.card import KnownBug
from dpaudit.plans import registry
from dpaudit.report import wording
from dpaudit.results.faults import Fault
from dpaudit.results.model import Audit, EvidenceKind, UtilityAudit, Verdict


@dataclass(frozen=True)
class BugClass:
    """A kind of fault, explained once.

    Args:
        id: stable, in kebab-case; those of the corpus begin with "corpus/".
        name: in CamelCase.
        short: a sentence for lists.
        full: what it is.
        remedy: what to do.
        level: "error", "warning" or "note".
        precision: how sure a finding is: "very-high" (computed), "high" (at the confidence of the run) or "medium".
        tags: words to filter by.
    """

    id: str
    name: str
    short: str
    full: str
    remedy: str
    level: str = "error"
    precision: str = "high"
    tags: tuple[str, ...] = ("privacy",)


_REPLAY = "The message ends with the command that repeats the audit."
_OWN = (
    BugClass(
        "privacy-claim-refuted-by-samples", "PrivacyClaimRefutedBySamples",
        "Samples refute the claimed (ε, δ).",
        "Under one of two neighbouring datasets an event is more likely than the claim allows. The lower bound on ε "
        "holds with the confidence of the run, over all audits.",
        f"Look at the pair and the event, and fix the mechanism or its claim. {_REPLAY}",
    ),
    BugClass(
        "privacy-claim-refuted-exactly", "PrivacyClaimRefutedExactly",
        "Exact output distributions refute the claimed (ε, δ).",
        "The exact output distributions on two neighbouring datasets need a larger ε, or a larger δ, than is "
        "claimed. There is no sampling error.",
        f"Look at the pair and the event, and fix the mechanism or its claim. {_REPLAY}",
        precision="very-high",
    ),
    BugClass(
        "unbounded-privacy-loss", "UnboundedPrivacyLoss",
        "No finite ε satisfies the claim at its δ.",
        "An outcome is possible on one dataset and impossible on its neighbour, more often than the claimed δ allows: "
        "an observer of this outcome knows the dataset with certainty.",
        f"Make every outcome possible on both datasets, or claim a δ as large as its probability. {_REPLAY}",
        precision="very-high",
    ),
    BugClass(
        "group-claim-refuted", "GroupClaimRefuted",
        "The claim for groups of records is refuted.",
        "On two datasets that differ in several records, the privacy loss exceeds the claim for groups of that size.",
        "If the claim for one record holds, (ε, δ) becomes (kε, δ·(e^(kε) − 1)/(e^ε − 1)) for groups of k. "
        f"{_REPLAY}",
    ),
    BugClass(
        "floating-point-vulnerability", "FloatingPointVulnerability",
        "The low-order bits of floating-point outputs reveal the dataset.",
        "The mechanism on the real numbers may satisfy its claim, but the program does not: the set of possible "
        "floating-point outputs depends on the data.",
        f"Draw noise from a grid: discrete Laplace or Gaussian noise, or the snapping mechanism. {_REPLAY}",
        level="warning", tags=("privacy", "floating-point"),
    ),
    BugClass(
        "utility-guarantee-refuted", "UtilityGuaranteeRefuted",
        "A utility guarantee is refuted.",
        "On some inputs the probability of success is lower (or higher) than guaranteed, computed exactly or with the "
        "confidence of the run.",
        f"Look at the inputs, and fix the algorithm or its guarantee. {_REPLAY}",
        tags=("utility",),
    ),
    BugClass(
        "stability-claim-violated", "StabilityClaimViolated",
        "A deterministic function is less stable than claimed.",
        "On two neighbouring datasets the outputs are farther apart than is claimed. Both distances are exact. Noise "
        "that is added for the claimed distance is too small.",
        f"Look at the pair and both outputs; fix the function, or claim more and add noise for that. {_REPLAY}",
        precision="very-high", tags=("privacy", "stability"),
    ),
    BugClass(
        "unexpected-verdict", "UnexpectedVerdict",
        "The verdict is not the one that the catalogue expects.",
        "A claim that is known to be false was not refuted: either the mechanism was fixed, or the audit lost power.",
        f"Compare with the earlier audit; then fix the audit or the expectation. {_REPLAY}",
        precision="medium", tags=("regression",),
    ),
    BugClass(
        "mechanism-crashed", "MechanismCrashed",
        "The mechanism raised an error or could not be run.",
        "Earlier findings hold, but the claim is not decided.",
        f"Fix the error. {_REPLAY}",
        precision="very-high", tags=("crash",),
    ),
    BugClass(
        "inconclusive", "Inconclusive",
        "The samples could not decide.",
        "The samples were too few, or the time too short, for a refutation of any mechanism.",
        f"The message says which option to raise. {_REPLAY}",
        level="note", precision="very-high", tags=("budget",),
    ),
)
OWN = MappingProxyType({one.id: one for one in _OWN})
"""Those that are decided from a result alone, by id."""


def bug_class(audit: Audit | UtilityAudit, problem: Fault) -> BugClass:
    """What kind of fault an audit shows.

    A FAIL of a member of the corpus is of the class that its card names; its members' effects are the help of it.
    """
    if problem is Fault.CRASHED:
        return OWN["mechanism-crashed"]
    if problem is Fault.INCONCLUSIVE:
        return OWN["inconclusive"]
    if problem is Fault.UNEXPECTED:
        return OWN["unexpected-verdict"]
    if isinstance(audit, UtilityAudit):
        return OWN["utility-guarantee-refuted"]
    known_bug = known_bug_of(audit)
    if known_bug is not None and known_bug.broken:
        return _of_the_corpus(known_bug)
    if wording.refuted_by_bits(audit):
        return OWN["floating-point-vulnerability"]
    if audit.claim.group > 1:
        return OWN["group-claim-refuted"]
    if audit.evidence is EvidenceKind.SAMPLED:
        return OWN["privacy-claim-refuted-by-samples"]
    if wording.exact_is_infinite(audit):
        return OWN["unbounded-privacy-loss"]
    return OWN["privacy-claim-refuted-exactly"]


def leaks_besides(audit: Audit | UtilityAudit) -> bool:
    """Whether its floating point leaks and the verdict does not say so."""
    return isinstance(audit, Audit) and wording.leaks(audit) and audit.verdict is not Verdict.FAIL


def known_bug_of(audit: Audit | UtilityAudit) -> KnownBug | None:
    """The card's word on a member of the corpus; None of anything else, and where the corpus is not installed."""
    try:
        card = registry.algorithm(audit.name).card if audit.name in registry.names(registry.CORPUS) else None
    except DpauditError:
        return None
    # a function of the same name is another one
    return card.known_bug if card is not None and card.source == audit.source else None


def _of_the_corpus(known_bug: KnownBug) -> BugClass:
    words = re.sub(r"[^a-z0-9]+", " ", known_bug.bug.lower()).split()
    return BugClass(
        f"corpus/{'-'.join(words)}",
        "".join(word.capitalize() for word in words),
        f"{known_bug.bug[:1].upper()}{known_bug.bug[1:]}.",
        f"A known bug from the corpus of broken mechanisms: {known_bug.bug}.",
        f"Compare with the correct counterpart listed next to it by `dpaudit list --corpus`. {_REPLAY}",
        tags=("privacy", "corpus"),
    )
