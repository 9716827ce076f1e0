"""Games: a fresh pair of neighbours, with its own event, for every run.

If a mechanism is (ε, δ)-DP, then for secrets s drawn from any distribution, any neighbours S_s, S′_s and events E_s,

    E_s Pr[M(S_s) ∈ E_s] ≤ e^ε · E_s Pr[M(S′_s) ∈ E_s] + δ.

So a game is itself a mechanism, on two one-record "datasets" WITH and WITHOUT: it draws the secret, builds the dataset
with or without it, runs the mechanism, and returns a view of the output and the secret together (often only whether the
output revealed the secret). For any view, its claim is the mechanism's.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from dpaudit.language.claim import Claim
from dpaudit.language.mechanism import Mechanism, Program
from dpaudit.language.relation import Dataset

WITH, WITHOUT = ("with",), ("without",)
"""The two datasets of a game, of one record each."""


class Game(Mechanism):
    """A mechanism attacked by a game, as a frozen dataclass with a field `subject`, the mechanism.

    A subclass defines `play`. The two datasets of a secret must be related as the claim requires; if they differ in
    more than one record, `claim` is the subject's claim for groups of that size.
    """

    subject: Mechanism
    sides: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = (WITH, WITHOUT)

    @abstractmethod
    def play(self, secret_in: bool) -> Program:
        """One run: draw the secret, build the dataset with or without it, run the subject, return the view."""

    def run(self, dataset: Dataset) -> Program:
        return self.play(tuple(dataset) == WITH)

    @property
    def claim(self) -> Claim | None:
        """The subject's claim: the inequality holds on average over secrets."""
        return self.subject.claim
