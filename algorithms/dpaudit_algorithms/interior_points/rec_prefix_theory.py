"""The utility guarantees of RecPrefix: Lemma 7.14 for one level, Theorem 7.8 for the whole."""

from __future__ import annotations

import math
from abc import abstractmethod

from dpaudit.language import InteriorPoint, Mechanism, SampleSize, UtilityClaim, log, log_star
from dpaudit_algorithms.foundations.goals import DeepPoint, all_but

_PRINTED_BASE = 32


class RecPrefixLevelTheory(Mechanism):
    """Of `RecPrefixLevel`, whose parameters these are."""

    size: int
    epsilon: float
    delta: float
    beta: float
    k: int | None
    base: int

    @property
    @abstractmethod
    def calls(self) -> int:
        """N: how many calls there are, the first one counted."""

    @property
    @abstractmethod
    def trim(self) -> int:
        """k, half the number of greatest records that step 2 leaves out."""

    @property
    def least(self) -> float:
        """(1540/ε)·ln(4/(βεδ)), the number of records that Lemma 7.14 asks of every call."""
        return 1540 / self.epsilon * self._log

    @property
    def _log(self) -> float:
        return log(4 / (self.beta * self.epsilon * self.delta))

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 7.14 with probability 1 − 3βN, where every call gets the records that it asks for."""
        size = records
        for _ in range(self.calls - 1):
            size = max(0, size - 2 * self.trim) // 2
        if self.k is not None or self.base > _PRINTED_BASE or size < self.least:
            return ()
        place = "§7.3.2, Lemma 7.14"
        return (UtilityClaim(DeepPoint(self.trim), all_but(3 * self.beta * self.calls), place),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Observation 7.13."""
        records = (1 << log_star(self.size)) * 2312 / self.epsilon * self._log
        return (
            SampleSize(
                max(0, math.ceil(records)),
                "2^{log*|X|}·(2312/ε)·ln(4/(βεδ))",
                "every call gets the (1540/ε)·ln(4/(βεδ)) records for which Lemma 7.14 holds",
                "§7.3.2, Observation 7.13",
            ),
        )


class RecPrefixTheory(Mechanism):
    """Of `RecPrefix`, whose parameters these are."""

    epsilon: float
    delta: float
    beta: float
    k: int | None
    base: int

    @property
    @abstractmethod
    def levels(self) -> int:
        """log*|X|, which bounds the recursive calls."""

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Theorem 7.8(2): an interior point with probability 1 − β, from its number of records on."""
        (size,) = self.sample_sizes
        if self.k is not None or self.base > _PRINTED_BASE or records < size.records:
            return ()
        return (UtilityClaim(InteriorPoint(), all_but(self.beta), size.place),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Theorem 7.8."""
        t = self.levels
        records = 18500 / self.epsilon * (1 << t) * t * log(4 * t / (self.beta * self.epsilon * self.delta))
        return (
            SampleSize(
                max(1, math.ceil(records)),
                "(18500/ε)·2^{log*|X|}·log*|X|·ln(4·log*|X|/(βεδ))",
                "an interior point with probability at least 1 − β",
                "§7.3.2, Theorem 7.8(2)",
            ),
        )
