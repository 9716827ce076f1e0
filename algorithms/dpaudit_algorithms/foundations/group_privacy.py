"""Group privacy at its worst case: a mechanism whose every record in a group costs the whole claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    THESIS,
    Bernoulli,
    Card,
    Claim,
    Mechanism,
    Multiset,
    ParameterError,
    Symmetry,
    cached,
    checks,
    exchanges,
    exp,
)


@dataclass(frozen=True)
class GroupPrivacy(Mechanism):
    """Says True with probability p(s), s the number of records equal to 1, where p grows as fast as (ε, δ) lets it:

        p(0) = start,   p(s) = min(e^ε·p(s−1) + δ, 1 − e^{−ε}·(1 − p(s−1) − δ), 1).

    While the first term is the least, p(k) = e^{kε}·p(0) + δ·(e^{kε} − 1)/(e^ε − 1). So no records against k ones
    need exactly δ_k = δ·(e^{kε} − 1)/(e^ε − 1) at kε: the best that group privacy can guarantee. Theorem 3.7 states
    k·e^{kε}·δ, which is larger; with δ = 0 both are 0, and kε is attained.

    Args:
        epsilon: > 0.
        delta: in [0, 1].
        start: p(0), in [0, 1]; above 0 unless delta is, or the output is constant.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorem 3.7; the recursion is that of Desfontaines, Voss, Gipson and Mandayam,
    Differentially private partition selection (2022), Theorem 1.
    """

    epsilon: checks.Positive
    delta: checks.Probability = 0.0
    start: checks.Probability = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta == 0 == self.start:
            raise ParameterError("start must be above 0 where delta is 0; otherwise the output is constant.")

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Records other than 1 are not looked at. True and False are not exchanged: p(s) grows from its start alone."""
        return exchanges("exchange of records that are not counted", [record for record in domain if record != 1])

    def run(self, S: Any) -> Bernoulli:
        ones = dict(Multiset.of(S).items).get(1, 0)
        return Bernoulli(*_grown(self.epsilon, self.delta, self.start, ones))


@cached(maxsize=1024)
def _grown(epsilon: float, delta: float, start: float, ones: int) -> tuple[float, float]:
    """p(ones) and 1 − p(ones), each to its own relative precision."""
    p, rest = start, 1 - start
    for _ in range(ones):
        rising = exp(epsilon) * p + delta
        falling = exp(-epsilon) * (rest - delta)
        if rising <= 1 - falling:
            p, rest = rising, 1 - rising
        else:
            p, rest = 1 - max(0.0, falling), max(0.0, falling)
    return p, rest


# --- cards: what is claimed where, and where the text here departs from the print ---

GroupPrivacy.card = Card(
    name="GroupPrivacy",
    system="F5",
    title="Group privacy at its worst case",
    paper=THESIS,
    place="§3.1.1, Theorem 3.7",
    claim="(ε, δ)-DP under replace-one, hence (kε, k·e^{kε}·δ)-DP for groups of k",
    inputs="n records, each 0 or 1; epsilon > 0, delta and start in [0, 1]",
    output="True or False",
    deviations=("Not in the thesis: the mechanism on which its theorem is tested.",),
)
