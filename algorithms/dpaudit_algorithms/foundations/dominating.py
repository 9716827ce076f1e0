"""The mechanism that every (ε, δ)-DP mechanism is a post-processing of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import THESIS, Card, Categorical, Claim, DatasetError, Mechanism, Product, checks, exp

SURELY_0, LIKELY_0, LIKELY_1, SURELY_1 = range(4)
"""The four outputs, numbered as by Kairouz, Oh and Viswanath."""


@dataclass(frozen=True)
class DominatingMechanism(Mechanism):
    """Randomised response with a leak, of every record by itself: on a bit b,

        SURELY_b with probability δ,
        LIKELY_b with probability (1 − δ)·e^ε/(1 + e^ε),
        LIKELY_{1−b} with probability (1 − δ)/(1 + e^ε).

    For any (ε, δ)-DP mechanism and neighbours S₀, S₁ there is a randomised map that turns its output on b into the
    output on S_b. So a theorem about all (ε, δ)-DP mechanisms has its worst case here, on one record. On n records
    each answers for itself: replacing one changes one answer, which is (ε, δ); replacing k changes k, so that groups
    of k need kε.

    Args:
        epsilon: ≥ 0.
        delta: in [0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Kairouz, Oh and Viswanath, The composition theorem for differential privacy (2015), section 3; used for
    Stemmer's thesis, Theorems 3.3–3.7.
    """

    epsilon: checks.NonNegative
    delta: checks.Probability = 0.0

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta)

    def run(self, S: Any) -> Product:
        return Product(tuple(self._answer(b) for b in bits(S)))

    def _answer(self, b: int) -> Categorical:
        truth = (1 - self.delta) / (1 + exp(-self.epsilon))
        lie = (1 - self.delta) * exp(-self.epsilon) / (1 + exp(-self.epsilon))
        if b:
            return Categorical((LIKELY_0, LIKELY_1, SURELY_1), (lie, truth, self.delta))
        return Categorical((SURELY_0, LIKELY_0, LIKELY_1), (self.delta, truth, lie))


def bits(S: Any) -> tuple[int, ...]:
    """The records of a dataset in {0, 1}ⁿ, n ≥ 1; a multiset in ascending order, where neighbours differ in one place.

    Raises:
        DatasetError: another dataset.
    """
    records = tuple(S)
    if not records or any(b not in (0, 1) for b in records):
        raise DatasetError(f"The dataset must be at least one record, each 0 or 1, not {S!r}.")
    return records


# --- cards: what is claimed where, and where the text here departs from the print ---

DominatingMechanism.card = Card(
    name="DominatingMechanism",
    system="F5",
    title="Randomised response with a leak: the worst (ε, δ)-DP mechanism",
    paper=THESIS,
    place="§3.1.1, the worst case of Theorems 3.3–3.7 (Kairouz, Oh and Viswanath 2015, §3)",
    claim="(ε, δ)-DP under replace-one, attained at every point of its profile",
    inputs="n ≥ 1 records, each 0 or 1; epsilon ≥ 0, delta in [0, 1]",
    output="n answers: 0: surely 0, 1: likely 0, 2: likely 1, 3: surely 1",
    deviations=("Not in the thesis: the building block on which its composition theorems are tested.",),
)
