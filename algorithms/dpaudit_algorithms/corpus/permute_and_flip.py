"""Permute-and-flip, and the zCDP bound of the exponential mechanism, which it does not satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.language import (
    ANSWERS_LINF,
    Bernoulli,
    Card,
    Claim,
    KnownBug,
    Mechanism,
    Program,
    Softmax,
    Uniform,
    checks,
    exp,
)

PERMUTE_AND_FLIP = (
    "McKenna and Sheldon, Permute-and-Flip: A New Mechanism for Differentially Private Selection (NeurIPS 2020)"
)
BOUNDED_RANGE = "Cesar and Rogers, Bounding, Concentrating, and Truncating (ALT 2021)"


@dataclass(frozen=True)
class PermuteAndFlip(Mechanism):
    """Visit the candidates in random order; choose each with probability exp(ε(score − best score)/2).

    Args:
        epsilon: > 0; scores of sensitivity 1.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: McKenna and Sheldon 2020: the mechanism and its privacy theorem.
    """

    epsilon: checks.Positive = 1.0

    @property
    def claim(self) -> Claim:
        """ε."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    def run(self, scores: Any) -> Program:
        best = max(scores)
        remaining = tuple(range(len(scores)))
        while True:
            r = yield Uniform(remaining)  # the next of a random permutation
            if (yield Bernoulli(exp(self.epsilon / 2 * (scores[r] - best)))):
                return r
            remaining = tuple(other for other in remaining if other != r)


@dataclass(frozen=True)
class PermuteAndFlipBoundedRange(PermuteAndFlip):
    """Permute-and-flip, claimed to satisfy the exponential mechanism's ε²/8-zCDP.

    That bound needs a bounded range: the privacy losses of any two outputs differ by at most ε. For permute-and-flip
    with two candidates they differ by up to ε + ln(2 − e^-ε).

    Args:
        epsilon: > 0; scores of sensitivity 1.
        tested: the ε at which the zCDP claim is tested, ≥ 0.

    Raises:
        ParameterError: a parameter outside its range.

    Source: McKenna and Sheldon 2020; Cesar and Rogers 2021 (bounded range implies ε²/8-zCDP), applied to a mechanism
    without that bounded range.
    """

    epsilon: float = 1.0
    tested: checks.NonNegative = 0.3

    @property
    def claim(self) -> Claim:
        """ε²/8-zCDP, which holds for the exponential mechanism."""
        return Claim.zcdp(self.epsilon**2 / 8, epsilon=self.tested, relation=ANSWERS_LINF)


@dataclass(frozen=True)
class ExponentialZCDP(Mechanism):
    """The exponential mechanism under its zCDP bound: candidate r with probability ∝ exp(ε·score/2), ρ = ε²/8.

    Args:
        epsilon: > 0; scores of sensitivity 1.
        tested: the ε at which the zCDP claim is tested, ≥ 0.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Cesar and Rogers 2021; Dong, Durfee and Rogers 2020 for the bounded range.
    """

    epsilon: checks.Positive = 1.0
    tested: checks.NonNegative = 0.3

    @property
    def claim(self) -> Claim:
        """ε²/8-zCDP."""
        return Claim.zcdp(self.epsilon**2 / 8, epsilon=self.tested, relation=ANSWERS_LINF)

    def run(self, scores: Any) -> Softmax:
        return Softmax(np.asarray(scores, dtype=np.float64), self.epsilon / 2)


# --- cards: claims, sources and deviations from the papers ---

PermuteAndFlip.card = Card(
    name="PermuteAndFlip",
    system="corpus",
    title="Permute-and-flip selection",
    paper=PERMUTE_AND_FLIP,
    place="the mechanism and its privacy theorem",
    claim="ε-DP for scores of sensitivity 1",
    inputs="a score for each candidate; epsilon > 0",
    output="the number of a candidate",
    variants=("PermuteAndFlipBoundedRange", "ExponentialZCDP"),
    known_bug=KnownBug(
        bug="",
        effect="Selection without a softmax; the claim is attained.",
        epsilon="ε, attained: with scores (0, 0) against (1, −1) the second candidate has probability 1/2 against "
        "e^-ε/2",
    ),
)

PermuteAndFlipBoundedRange.card = Card(
    name="PermuteAndFlipBoundedRange",
    system="corpus",
    title="Permute-and-flip under the exponential mechanism's zCDP bound",
    paper=PERMUTE_AND_FLIP,
    place="the mechanism, with the bound of Cesar and Rogers (2021) for the exponential mechanism",
    claim="ε²/8-zCDP, as the exponential mechanism",
    inputs="a score for each candidate; epsilon > 0, and the ε at which zCDP is tested",
    output="the number of a candidate",
    deviations=(
        "No paper states the claim: it follows from the false assumption that permute-and-flip is ε-bounded-range.",
    ),
    variants=("PermuteAndFlip", "ExponentialZCDP"),
    known_bug=KnownBug(
        bug="composition bound of another mechanism",
        effect="The privacy loss of many uses, accounted for at ε²/8 each, is up to four times the accounted one.",
        epsilon="ε as pure DP; ρ is at least KL((1/2, 1/2) ‖ (e^-ε/2, 1 − e^-ε/2)) = (ε − ln(2 − e^-ε))/2: "
        "0.255 against 1/8 at ε = 1; p − e^0.3 q = 0.2517 where 1/8-zCDP allows 0.1438",
    ),
)

ExponentialZCDP.card = Card(
    name="ExponentialZCDP",
    system="corpus",
    title="Exponential mechanism under its zCDP bound",
    paper=BOUNDED_RANGE,
    place="bounded range implies ε²/8-zCDP",
    claim="ε²/8-zCDP for scores of sensitivity 1",
    inputs="a score for each candidate; epsilon > 0, and the ε at which zCDP is tested",
    output="the number of a candidate",
    variants=("PermuteAndFlip", "PermuteAndFlipBoundedRange"),
    known_bug=KnownBug(
        bug="",
        effect="Its range is bounded by ε, so ρ = ε²/8 rather than ε²/2 (Hoeffding's lemma).",
        epsilon="at most ε as pure DP; p − e^0.3 q = 0.1128 at ε = 1 and scores (1, 0) against (0, 1), where "
        "1/8-zCDP allows 0.1438",
    ),
)
