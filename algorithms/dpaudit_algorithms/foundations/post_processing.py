"""Post-processing: a randomised function of a private output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import THESIS, Card, Categorical, Claim, Mechanism, ParameterError, Product, Program, fsum
from dpaudit_algorithms.foundations.composition import claim_of


@dataclass(frozen=True)
class PostProcessing(Mechanism):
    """B(A(S)): every answer y in the output of A is turned into z with probability channel[y][z].

    The worst case of the theorem is a B that loses nothing, e.g. the identity; a noisy one stays strictly inside.

    Args:
        first: A, with outputs that are tuples of answers 0, …, r − 1.
        channel: B, shape (r, m); every row is a distribution on 0, …, m − 1.

    Raises:
        ParameterError: A claims nothing, or a row is not a distribution, or the rows differ in length.

    Source: Stemmer's thesis, Theorem 3.3.
    """

    first: Mechanism
    channel: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        claim_of(self.first)
        if not self.channel or len({len(row) for row in self.channel}) != 1:
            raise ParameterError("The channel needs at least one row, and rows of the same length.")
        for y, row in enumerate(self.channel):
            if not row or min(row) < 0 or abs(fsum(row) - 1) > 1e-9:
                raise ParameterError(f"Row {y} of the channel must be probabilities that sum to 1, not {row!r}.")

    @property
    def claim(self) -> Claim:
        """That of the first mechanism, Theorem 3.3."""
        return claim_of(self.first)

    def run(self, S: Any) -> Program:
        answers = yield self.first.on(S)
        rows = [self.channel[y] for y in answers]
        noise = Product(tuple(Categorical(range(len(row)), row) for row in rows))
        return noise.spending(Claim(0.0, relation=self.claim.relation))


# --- cards: what is claimed where, and where the text here departs from the print ---

PostProcessing.card = Card(
    name="PostProcessing",
    system="F5",
    title="A randomised function of a private output",
    paper=THESIS,
    place="§3.1.1, Theorem 3.3",
    claim="(ε, δ)-DP if the first mechanism is",
    inputs="a dataset of the first mechanism; a channel of shape (r, m), each row a distribution",
    output="as many answers as the first mechanism gives, each in {0, …, m − 1}",
)
