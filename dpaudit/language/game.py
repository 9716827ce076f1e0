"""Games: a fresh pair of neighbours, and an event of its own, for every run.

If a mechanism is (ε, δ)-DP, then for secrets s drawn from any law, and any neighbours S_s, S′_s and events E_s,

    E_s Pr[M(S_s) ∈ E_s] ≤ e^ε · E_s Pr[M(S′_s) ∈ E_s] + δ.

So a game is itself a mechanism, on two "datasets" that only name the side: it draws the secret, builds that side's
dataset, runs the mechanism, and returns a view of the output and the secret together (often only whether the output
gave the secret away). Its claim is the mechanism's, whatever the view.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from dpaudit.language.claim import Claim
from dpaudit.language.mechanism import Mechanism, Program

WITH, WITHOUT = ("with",), ("without",)
"""The two sides of a game: datasets of one record."""


class Game(Mechanism):
    """A mechanism attacked by a game, as a frozen dataclass with a field `subject`, the mechanism.

    A subclass writes `play`. The two datasets of a secret must be related as the claim says; where they differ in more
    than one record, `claim` is the subject's for such groups.
    """

    subject: Mechanism
    sides: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = (WITH, WITHOUT)

    @abstractmethod
    def play(self, secret_in: bool) -> Program:
        """One run: draw the secret and the dataset (of the side that holds it, or of the other), run the subject,
        return the view."""

    def run(self, dataset: Any) -> Program:
        return self.play(tuple(dataset) == WITH)

    @property
    def claim(self) -> Claim | None:
        """The subject's: the inequality holds on average over secrets."""
        return self.subject.claim
