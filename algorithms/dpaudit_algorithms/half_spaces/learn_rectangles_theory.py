"""Utility guarantees of LearnRectangles: Theorem 6.24, by the construction."""

from __future__ import annotations

import math
from abc import abstractmethod

from dpaudit.language import Claim, Mechanism, ParameterError, SampleSize, UtilityClaim, exp
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.half_spaces.release_thresholds_theory import ReleaseThresholdsTheory, least_records
from dpaudit_algorithms.pac.concepts import EmpiricalError, GeneralisationError
from dpaudit_algorithms.pac.grid_concepts import Rectangles


class LearnRectanglesTheory(Mechanism):
    """Of `LearnRectangles`, whose parameters these are."""

    dimension: int
    alpha: float

    @property
    @abstractmethod
    def part(self) -> Claim:
        """(ε₁, δ₁) of each of the 2ℓ mechanisms."""

    @property
    @abstractmethod
    def release(self) -> ReleaseThresholdsTheory:
        """The mechanism for the coordinates of an axis."""

    @property
    @abstractmethod
    def most_cells(self) -> int:
        """The largest K."""

    @abstractmethod
    def threshold(self, records: int, many: int) -> float:
        """t for `many` cells, in examples."""

    @property
    @abstractmethod
    def concepts(self) -> Rectangles:
        """RECTANGLE_X^ℓ."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Training error ≤ α/2 on examples of a rectangle, and generalisation error ≤ α, with the least β for each."""
        rough, more = self.failure(records), self.overfits(records)
        place = "§6.6.2, Theorem 6.24, by the construction"
        claims = []
        if rough < 1:
            claims.append(UtilityClaim(EmpiricalError(self.concepts, self.alpha / 2), all_but(rough), place))
        if rough + more < 1:
            claims.append(UtilityClaim(GeneralisationError(self.concepts, self.alpha), all_but(rough + more), place))
        return tuple(claims)

    def failure(self, records: int) -> float:
        """The bound on the probability that the training error is above α/2; at least 1 if vacuous."""
        ell, K, scale = self.dimension, self.most_cells, 2 / self.part.epsilon
        noise = 2 * exp(-self.threshold(records, K) / scale) / (1 + exp(-1 / scale))
        return ell * self.release.failure(records) + ell * K * noise

    def overfits(self, records: int) -> float:
        """β′ of Theorem 3.17 for this number of examples."""
        power = records * self.alpha / (64 * self.concepts.vc) if self.concepts.vc else math.inf
        return 512 / self.alpha * exp(-min(power, 700.0))

    def least_records(self, beta: float) -> int:
        """The least n for which this is an (α, beta)-PAC learner by the proof.

        Raises:
            ParameterError: beta outside (0, 1), or no n is enough: fewer steps than the proof needs, or base > 32.
        """
        return least_records(lambda n: self.failure(n) + self.overfits(n), beta)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The least n for β = 0.05, if the construction has a guarantee."""
        try:
            records = self.least_records(BETA)
        except ParameterError:
            return ()
        return (
            SampleSize(
                records,
                f"ℓ·(failure of a release) + 2ℓK·e^(−αnε₁/(16ℓK))/(1 + e^(−ε₁/2)) + (512/α)·e^(−αn/(64·VC)) ≤ {BETA:g}",
                f"(α, β)-PAC: generalisation error ≤ α with probability at least {1 - BETA:g}",
                "§6.6.2, Theorem 6.24, by the construction",
            ),
        )
