"""The choosing mechanism: the exponential mechanism among the few solutions that the data supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    BOTTOM,
    THESIS,
    AnyScores,
    Card,
    Claim,
    Laplace,
    Mechanism,
    ParameterError,
    Program,
    Quality,
    Symmetry,
    UtilityClaim,
    cached,
    checks,
    log,
)
from dpaudit_algorithms.foundations.goals import NearBestOrBottom, Supported, all_but


@dataclass(frozen=True)
class ChoosingMechanism(Mechanism):
    """The choosing mechanism for a quality of k-bounded growth.

    The quality's `Scores` may leave out any solution of score 0: neither OPT(S) nor G(S) = {f : q(S, f) ≥ 1} sees
    it. So a solution set of 2^17 prefixes costs no more than the prefixes present in the data.

    G(S) can be empty although the noisy optimum passed; the output is ⊥ then. That keeps Lemma 7.9: an empty G(S)
    means OPT(S) = 0, which is the proof's case (a), where passing has a probability of at most ½·(βεδ/4k)² ≤ δ/4,
    and Pr[⊥] only grows on S, which is what the neighbours of S need.

    Args:
        beta: failure probability of the utility lemmas, in (0, 1).
        epsilon: in (0, 2], as Lemma 7.9 asks.
        delta: in (0, 1).
        quality: q: X* × F → ℕ; its `growth` is k.

    Raises:
        ParameterError: a parameter outside its range, or a quality whose growth is not bounded.

    Source: Stemmer's thesis, section 7.3.1, algorithm Choosing Mechanism and Lemmas 7.9, 7.10 and 7.11.
    """

    beta: checks.OpenUnit
    epsilon: checks.Positive
    delta: checks.OpenUnit
    quality: Quality

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > 2:
            raise ParameterError(f"Lemma 7.9 needs epsilon ≤ 2, not {self.epsilon!r}.")
        if self.quality.growth is None:
            raise ParameterError("The choosing mechanism needs a quality of bounded growth: set its `growth` to k.")
        checks.whole("the growth of the quality", self.quality.growth, least=1)

    @property
    def claim(self) -> Claim:
        """(ε, δ), Lemma 7.9."""
        return Claim(self.epsilon, self.delta)

    @property
    def log_term(self) -> float:
        """ln(4k/(βεδ)), on which every bound of the mechanism is built."""
        return log(4 * (self.quality.growth or 1) / (self.beta * self.epsilon * self.delta))

    @property
    def threshold(self) -> float:
        """(8/ε)·ln(4k/(βεδ)): a noisy optimum below it gives ⊥; in units of the score."""
        return 8 / self.epsilon * self.log_term

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 7.10 (for n ≥ 1, where its logarithm exists) and Lemma 7.11."""
        probability = all_but(self.beta)
        guaranteed = Supported(self.quality, 2 * self.threshold)
        supported = UtilityClaim(guaranteed, probability, "§7.3.1, Lemma 7.11")
        if records < 1:
            return (supported,)
        below = 16 / self.epsilon * (self.log_term + log(records))
        return UtilityClaim(NearBestOrBottom(self.quality, below), probability, "§7.3.1, Lemma 7.10"), supported

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """All those of the quality, with ⊥ as it is: step 1 sees the best score and not whose it is, G(S) moves with
        the scores, and the weights of its solutions are functions of them.
        """
        return tuple(symmetry.keeping(BOTTOM) for symmetry in self.quality.symmetries(domain))

    def run(self, S: Any) -> Program:
        scores = self.quality(S)
        optimum = scores.best().score if scores.size else 0.0
        # 1. OPT~(S) = OPT(S) + Lap(4/ε); if OPT~(S) < (8/ε)·ln(4k/(βεδ)), return ⊥
        if (yield Laplace(optimum, 4 / self.epsilon) < self.threshold):
            return BOTTOM
        # 2. G(S) = {f : q(S, f) ≥ 1}; f ∈ G(S) by the exponential mechanism
        supported = _supported(scores)
        if not supported.size:
            return BOTTOM
        # "the exponential mechanism with parameter ε/2": probability ∝ exp((ε/2)·q/2)
        return supported.softmax(self.epsilon / 4)


@cached(maxsize=256)
def _supported(scores: AnyScores) -> AnyScores:
    """G(S) with its scores."""
    return scores.at_least(1)


# --- cards: what is claimed where, and where the text here departs from the print ---

ChoosingMechanism.card = Card(
    name="ChoosingMechanism",
    system="F4",
    title="Choosing mechanism: an exponential mechanism over the solutions that the data supports",
    paper=THESIS,
    place="§7.3.1, Lemmas 7.9–7.11",
    claim="(ε, δ)-DP under replace-one for 0 < ε ≤ 2 and a quality of k-bounded growth",
    inputs="a dataset that the quality scores; beta, delta in (0, 1), epsilon in (0, 2], a quality of growth k",
    output="a solution f with q(S, f) ≥ 1, or ⊥",
    deviations=(
        "No solution with q ≥ 1 although the noisy optimum passed: ⊥.",
        "Lemma 7.10 guarantees a solution even where the optimum is too small to pass step 1; ⊥ is read as a good "
        "answer there, as its proof does.",
        "The quality may leave out solutions of score 0.",
    ),
)
