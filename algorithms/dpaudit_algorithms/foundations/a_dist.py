"""A_dist: output the best solution if it beats all others by a noisy margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    BOTTOM,
    THESIS,
    Card,
    Claim,
    Laplace,
    Mechanism,
    ParameterError,
    Program,
    Quality,
    Symmetry,
    UtilityClaim,
    checks,
    log,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.goals import BETA, ClearBest, all_but


@dataclass(frozen=True)
class ADist(Mechanism):
    """A_dist as printed: the gap between the two highest scores is released with Lap(1/ε).

    Its privacy claim is refuted under replace-one: see finding 1 and `ADistCorrected`.

    Args:
        epsilon: > 0.
        delta: in (0, 1).
        quality: q: X* × H → ℝ of sensitivity 1 under the claim's relation.
        log_base: base of the printed "log(1/δ)", > 1. 2 is that of RecConcave's logarithms and the kinder reading (a
            higher threshold); `math.e` is the reading of Smith and Thakurta, and of "log" in the thesis's Claim 4.4.

    Raises:
        ParameterError: a parameter outside its range, or a quality of sensitivity above 1.

    Source: Stemmer's thesis, section 3.5.3, algorithm A_dist and Proposition 3.28.
    """

    epsilon: float
    delta: float
    quality: Quality
    log_base: checks.Number = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.epsilon, self.delta, self.quality)
        if self.log_base <= 1:
            raise ParameterError(f"log_base must be above 1, not {self.log_base!r}.")

    @property
    def claim(self) -> Claim:
        """(ε, δ), Proposition 3.28(i)."""
        return Claim(self.epsilon, self.delta)

    @property
    def threshold(self) -> float:
        """(1/ε)·log(1/δ): a noisy gap below it gives ⊥; in units of the score."""
        return log(1 / self.delta, self.log_base) / self.epsilon

    def guarantee(self, beta: float) -> UtilityClaim:
        """Proposition 3.28(ii) for a beta in (0, 1): with gap ≥ (1/ε)·log(1/(βδ)), h₁ with probability ≥ 1 − β.

        It holds with room: the noise has to fall by (1/ε)·log(1/β), which it does with probability β^{log₂e}/2 (β/2
        where log is natural).
        """
        checks.probability("beta", beta, open_ends=True)
        lead = log(1 / (beta * self.delta), self.log_base) / self.epsilon
        return UtilityClaim(ClearBest(self.quality, lead), all_but(beta), "§3.5.3, Proposition 3.28(ii)")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Proposition 3.28(ii) with β = 0.05, for any number of records."""
        return (self.guarantee(BETA),)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those that leave all scores as they are; ties go to the earlier solution, so solutions are not exchanged."""
        return _of_equal_scores(self.quality, domain)

    def run(self, S: Any) -> Program:
        scores = self.quality(S)
        if scores.size < 2:
            return scores.best().solution if scores.size else BOTTOM
        h1, h2 = scores.two_highest()  # step 1
        gap = h1.score - h2.score  # step 2: gap* = gap + Lap(1/ε)
        if (yield Laplace(gap, 1 / self.epsilon) < self.threshold):  # step 3
            return BOTTOM
        return h1.solution  # step 4


@dataclass(frozen=True)
class ADistCorrected(Mechanism):
    """A_dist with the noise and the threshold that replace-one asks for.

    Replacing a record moves every score by at most 1, hence the gap by at most 2, while the print adds noise for a
    gap that moves by 1. Here gap* = gap + Lap(2/ε) and the threshold is 2 + (2/ε)·ln(1/δ).

    Proof of (ε, δ). Let S, S′ be neighbours with maximisers a, a′ and gaps g, g′.

    1. a = a′. Only a and ⊥ can come out, and which of them is a function of gap*. Since |g − g′| ≤ 2 (the best
       score and the best score of the others each move by at most 1), gap* is ε-DP, and so is the output.
    2. a ≠ a′. Then q(S, a) − q(S, a′) ≥ g and q(S′, a′) − q(S′, a) ≥ g′; added up, the left sides are
       [q(S, a) − q(S′, a)] + [q(S′, a′) − q(S, a′)] ≤ 2, so g + g′ ≤ 2. Hence |g − g′| ≤ 2 and ⊥ keeps ε as before;
       and a comes out of S with probability Pr[g + Lap(2/ε) ≥ threshold] ≤ Pr[Lap(2/ε) ≥ (2/ε)·ln(1/δ)] = δ/2.
       So Pr[A(S) ∈ F] ≤ e^ε·Pr[A(S′) ∈ F] + δ/2 for every F.

    The "2 +" is needed: g = 2 and g′ = 0 occur, where a replaced record turns a lead of 2 into a tie that goes to the
    other solution.

    Utility, in place of Proposition 3.28(ii): with gap ≥ 2 + (2/ε)·ln(1/(βδ)) the maximiser comes out with
    probability at least 1 − β (in fact 1 − β/2).

    Args:
        epsilon: > 0.
        delta: in (0, 1).
        quality: of sensitivity 1 under the claim's relation.

    Raises:
        ParameterError: a parameter outside its range, or a quality of sensitivity above 1.

    Source: Stemmer's thesis, section 3.5.3, algorithm A_dist, with steps 2 and 3 corrected.
    """

    epsilon: float
    delta: float
    quality: Quality

    def __post_init__(self) -> None:
        _check(self.epsilon, self.delta, self.quality)

    @property
    def claim(self) -> Claim:
        """(ε, δ), proved above."""
        return Claim(self.epsilon, self.delta)

    @property
    def threshold(self) -> float:
        """2 + (2/ε)·ln(1/δ): a noisy gap below it gives ⊥; in units of the score."""
        return 2 + 2 / self.epsilon * log(1 / self.delta)

    def guarantee(self, beta: float) -> UtilityClaim:
        """With gap ≥ 2 + (2/ε)·ln(1/(βδ)), h₁ with probability ≥ 1 − β, for a beta in (0, 1)."""
        checks.probability("beta", beta, open_ends=True)
        lead = 2 + 2 / self.epsilon * log(1 / (beta * self.delta))
        return UtilityClaim(ClearBest(self.quality, lead), all_but(beta), "§3.5.3, Proposition 3.28(ii), corrected")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """The guarantee with β = 0.05, for any number of records."""
        return (self.guarantee(BETA),)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those that leave all scores as they are; ties go to the earlier solution, so solutions are not exchanged."""
        return _of_equal_scores(self.quality, domain)

    def run(self, S: Any) -> Program:
        scores = self.quality(S)
        if scores.size < 2:
            return scores.best().solution if scores.size else BOTTOM
        h1, h2 = scores.two_highest()  # step 1
        gap = h1.score - h2.score  # step 2, corrected: gap* = gap + Lap(2/ε)
        if (yield Laplace(gap, 2 / self.epsilon) < self.threshold):  # step 3, corrected
            return BOTTOM
        return h1.solution  # step 4


def _check(epsilon: float, delta: float, quality: Quality) -> None:
    checks.positive("epsilon", epsilon)
    checks.probability("delta", delta, open_ends=True)
    if quality.sensitivity > 1:
        raise ParameterError(f"A_dist needs a quality of sensitivity 1, not {quality.sensitivity!r}.")


def _of_equal_scores(quality: Quality, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
    return tuple(symmetry for symmetry in quality.symmetries(domain) if symmetry.output is None)


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "a dataset that the quality scores; epsilon > 0, 0 < delta < 1, a 1-sensitive quality over a finite set H"
_OUTPUT = "the solution of highest score, or ⊥"
_EMPTY = "H with one solution: output it; H without solutions: ⊥ (the print needs two solutions)."
_TIES = "Ties go to the solution that is earlier in H, independently of the data."

ADist.card = Card(
    name="ADist",
    system="F3",
    title="A_dist: the best solution, if its lead is clear",
    paper=THESIS,
    place="§3.5.3, Proposition 3.28",
    claim="(ε, δ)-DP under replace-one",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        '"log(1/δ)" is read to base 2 (log_base = 2), the reading kinder to the claim; '
        "log_base = e is that of Smith and Thakurta.",
        _EMPTY,
        _TIES,
    ),
    variants=("ADistCorrected",),
    findings=(FINDINGS[1],),
)

ADistCorrected.card = Card(
    name="ADistCorrected",
    system="F3",
    title="A_dist with noise for a gap that moves by 2",
    paper=THESIS,
    place="§3.5.3, Proposition 3.28, corrected",
    claim="(ε, δ)-DP under replace-one",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        "Step 2 adds Lap(2/ε), not Lap(1/ε): replacing a record moves the gap by up to 2.",
        "Step 3 compares with 2 + (2/ε)·ln(1/δ), so that a maximiser that changes costs at most δ.",
        _EMPTY,
        _TIES,
    ),
    variants=("ADist",),
)
