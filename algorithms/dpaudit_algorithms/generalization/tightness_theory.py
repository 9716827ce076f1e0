"""Utility guarantees of the tightness algorithm, Theorem 4.5 as printed and corrected, and records from U[0, 1]."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    Goal,
    Instance,
    Mechanism,
    Program,
    SampleSize,
    Uniform,
    UtilityClaim,
    as_written,
    checks,
    independent,
)
from dpaudit_algorithms.foundations.goals import all_but

FINEST = 1 << 53
"""Records are drawn as whole numbers below this number, and divided by it."""


class TightnessTheory(Mechanism):
    """Of both versions; the parameters are those of `GeneralizationTightness`."""

    alpha: float
    delta: float

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """h(S) ≥ h(U) + α with probability at least δ/(2α), for n ≥ 1/α records from U[0, 1]."""
        if records * as_written(self.alpha) < 1:
            return ()
        return (UtilityClaim(HoldsAShare(self.alpha), self.delta / (2 * self.alpha), "§4.3, Theorem 4.5"),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """n ≥ 1/α."""
        least = math.ceil(1 / as_written(self.alpha))
        return (SampleSize(least, "1/α", "h(S) ≥ h(U) + α with probability at least δ/(2α)", "§4.3, Theorem 4.5"),)


class TightnessCorrectedTheory(TightnessTheory):
    """Of `GeneralizationTightnessCorrected`, where it differs."""

    @abstractmethod
    def chance(self, records: int) -> Fraction:
        """δ·n/⌈αn⌉."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """The printed bound, and the exact δ·n/⌈αn⌉, which is δ/α if αn is whole."""
        printed = super().utility(records)
        if not printed:
            return ()
        corrected = all_but(1 - float(self.chance(records)))
        return (*printed, UtilityClaim(HoldsAShare(self.alpha), corrected, "§4.3, Theorem 4.5, corrected"))


@dataclass(frozen=True)
class HoldsAShare(Goal):
    """h(S) ≥ α, where the output lists the points on which h is 1; h(U) = 0, because they are finitely many.

    Args:
        alpha: exactly as written in decimals, > 0.

    Source: Stemmer's thesis, Theorem 4.5.
    """

    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        held = frozenset(output)
        return sum(x in held for x in instance.dataset) >= as_written(self.alpha) * len(instance.dataset)

    def __str__(self) -> str:
        return f"h(S) ≥ h(U) + {self.alpha:.6g}"


@dataclass(frozen=True)
class UnitInterval(Mechanism):
    """Instances of n records drawn from U[0, 1], in order; `Instance.truth` is "U".

    Args:
        records: n ≥ 1.
    """

    records: checks.Count

    def run(self, dataset: Any) -> Program:
        wholes = yield independent(Uniform(range(FINEST)), self.records)
        return Instance(tuple(x / FINEST for x in wholes), "U")

    def __str__(self) -> str:
        return f"{self.records:,} records from U[0, 1]"
