"""A mechanism whose claim holds for neighbours, but is too strong for groups."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.language import THESIS, Card, Claim, KnownBug
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy


@dataclass(frozen=True)
class GroupPrivacyMisprinted(GroupPrivacy):
    """`GroupPrivacy` with the claim (kε, kδ) for groups of k, instead of (kε, k·e^{kε}·δ).

    With p(0) = 0, no ones against k ones need δ·(e^{kε} − 1)/(e^ε − 1) at kε (see `GroupPrivacy`). For k = 2 that is
    (1 + e^ε)·δ, above 2δ for every ε > 0. Every pair of neighbours satisfies (ε, δ), by the recursion
    p(s) ≤ e^ε·p(s − 1) + δ and 1 − p(s − 1) ≤ e^ε·(1 − p(s)) + δ that defines p. Hence no audit of neighbours detects
    the bug.

    Args, Raises: as for `GroupPrivacy`.

    Source: Stemmer's thesis, Theorem 3.7, without the factor e^{kε} (the thesis has it).
    """

    epsilon: float = 1.0
    delta: float = 0.02

    def group_claim(self, k: int) -> Claim:
        """(kε, kδ), which does not follow from (ε, δ)."""
        single = self.claim
        return Claim(k * single.epsilon, min(1.0, k * single.delta), single.relation.group(k))


# --- cards: claims, sources and deviations from the papers ---

GroupPrivacyMisprinted.card = Card(
    name="GroupPrivacyMisprinted",
    system="corpus",
    title="Group privacy with a factor left out",
    paper=THESIS,
    place="Theorem 3.7, misprinted",
    claim="(ε, δ)-DP under replace-one, and (kε, kδ)-DP for groups of k",
    inputs="n records, each 0 or 1; epsilon > 0, delta and start in [0, 1]",
    output="True or False",
    known_bug=KnownBug(
        bug="group privacy without its factor in δ",
        effect="Every pair of neighbours satisfies the claim; groups of 2 or more need a larger δ than claimed.",
        epsilon="infinite at 2δ: True has probability (1 + e^ε)·δ with two ones (0.0744 at ε = 1, δ = 0.02, "
        "against 0.04) and 0 with no ones",
    ),
)
