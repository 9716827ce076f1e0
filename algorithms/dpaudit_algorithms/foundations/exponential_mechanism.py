"""The exponential mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    Mechanism,
    ParameterError,
    Quality,
    Softmax,
    StepSoftmax,
    Symmetry,
    UtilityClaim,
    checks,
    exp,
    log,
)
from dpaudit_algorithms.foundations.goals import BETA, NearBest, all_but


@dataclass(frozen=True)
class ExponentialMechanism(Mechanism):
    """Chooses h with probability ∝ exp(ε·q(S, h)/2).

    Utility: the output has a score of at most max q − Δm with probability at most |H|·exp(−εΔm/2).

    Args:
        epsilon: > 0.
        quality: of sensitivity 1 under the claim's relation, over a finite non-empty H.

    Raises:
        ParameterError: epsilon outside its range, or a quality of sensitivity above 1.

    Source: Stemmer's thesis, section 3.5.2, Proposition 3.27.
    """

    epsilon: checks.Positive
    quality: Quality

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quality.sensitivity > 1:
            raise ParameterError(
                f"The exponential mechanism needs a quality of sensitivity 1, not {self.quality.sensitivity!r}."
            )

    @property
    def claim(self) -> Claim:
        """ε, Proposition 3.27(i)."""
        return Claim(self.epsilon)

    def guarantee(self, solutions: int, below: float) -> UtilityClaim:
        """Proposition 3.27(ii) for |H| = `solutions` and Δm = `below` > 0, in units of the score."""
        failure = solutions * exp(-self.epsilon * below / 2)
        return UtilityClaim(NearBest(self.quality, below), all_but(failure), "§3.5.2, Proposition 3.27(ii)")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Proposition 3.27(ii) with the Δm at which its bound is 0.05; () where the quality does not tell |H|."""
        solutions = self.quality.n_solutions
        if solutions is None:
            return ()
        return (self.guarantee(solutions, 2 / self.epsilon * log(solutions / BETA)),)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """All those of the quality: the weight exp(ε·q/2) of a solution is a function of its score."""
        return self.quality.symmetries(domain)

    def run(self, S: Any) -> Softmax | StepSoftmax:
        return self.quality(S).softmax(self.epsilon / 2)  # steps 1 and 2


# --- cards: what is claimed where, and where the text here departs from the print ---

ExponentialMechanism.card = Card(
    name="ExponentialMechanism",
    system="F2",
    title="Exponential mechanism",
    paper=THESIS,
    place="§3.5.2, Proposition 3.27",
    claim="ε-DP under replace-one",
    inputs="a dataset that the quality scores; epsilon > 0, a 1-sensitive quality over a finite set H",
    output="a solution of H",
)
