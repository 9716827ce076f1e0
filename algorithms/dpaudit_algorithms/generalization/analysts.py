"""Analysts who question interactive mechanisms: beforehand, adaptively until they overfit, or after one record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

from dpaudit.language import Multiset, ParameterError, Product, Uniform, checks
from dpaudit_algorithms.generalization.interaction import Analyst, Population, Predicate
from dpaudit_algorithms.generalization.predicates import Among


@dataclass(frozen=True)
class AskingAll(Analyst):
    """Asks queries that are fixed beforehand, in order.

    Args:
        queries: q_1, …, q_k, k ≥ 1.
        distribution: D of the game Acc; None where it is not played.
        records: S of the game SampAcc; None where it is not played.

    Raises:
        ParameterError: no queries.
    """

    queries: tuple[Predicate, ...]
    distribution: Population | None = None
    records: Multiset | None = None

    def __post_init__(self) -> None:
        if not self.queries:
            raise ParameterError("queries must hold at least one query.")

    @property
    def rounds(self) -> int:
        return len(self.queries)

    @property
    def population(self) -> Population | None:
        return self.distribution

    @property
    def sample(self) -> Multiset | None:
        return self.records

    def query(self, coins: Any, answers: tuple[Any, ...]) -> Predicate:
        return self.queries[len(answers)]


@dataclass(frozen=True)
class RandomSubsets(Analyst):
    """Asks for k subsets of X that it has drawn uniformly beforehand.

    Args:
        points: X, distinct; D is uniform on it.
        k: ≥ 1.

    Raises:
        ParameterError: no points, or k < 1.
    """

    points: tuple[Any, ...]
    k: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.population

    @property
    def rounds(self) -> int:
        return self.k

    @property
    def population(self) -> Population:
        return Population.uniform(self.points)

    def coins(self) -> Product:
        """k subsets, each a number whose bit i says whether it holds the i-th point."""
        return Product((Uniform(range(1 << len(self.points))),) * self.k)

    def query(self, coins: Any, answers: tuple[Any, ...]) -> Predicate:
        subset = coins[len(answers)]
        return Among(frozenset(x for i, x in enumerate(self.points) if subset >> i & 1))


@dataclass(frozen=True)
class Overfitter(Analyst):
    """Asks for every cell of a uniform D, then for the union of the cells that seemed to hold more than their share.

    Let m be the number of cells, N_i ~ Bin(n, 1/m) the records in cell i. Of exact answers, the union's share of the
    sample exceeds its mass by Σ_i (N_i/n − 1/m)⁺, which no query of any kind exceeds. With p = 1/m and ν = ⌊n/m⌋ + 1
    its expectation is (m/n)·E(N − n/m)⁺ = (m/n)·(1 − p)·ν·C(n, ν)·p^ν·(1 − p)^{n−ν} (half of de Moivre's mean
    deviation): about √(m/(2πn)) for m ≪ n, and (1 − 1/m)^n ≈ e^{−n/m} for n < m.

    Args:
        cells: m ≥ 2; X = {0, …, m − 1}, and k = m + 1.

    Raises:
        ParameterError: cells < 2.

    Source: Stemmer's thesis, section 4.5, the game Acc of Figure 4.1; the analyst is this project's.
    """

    cells: Annotated[int, checks.least(2)]

    @property
    def rounds(self) -> int:
        return self.cells + 1

    @cached_property
    def _population(self) -> Population:
        return Population.uniform(range(self.cells))

    @property
    def population(self) -> Population:
        return self._population

    def query(self, coins: Any, answers: tuple[Any, ...]) -> Predicate:
        if len(answers) < self.cells:
            return Among(frozenset((len(answers),)))
        # doubles decide as the numbers themselves would where answers are counts over n, rounded
        return Among(frozenset(i for i, answer in enumerate(answers[: self.cells]) if answer > 1 / self.cells))

    def gap(self, records: int) -> Fraction:
        """E of the error of exact answers on the last query, for n ≥ 1 records."""
        n, m = checks.whole("records", records, least=1), self.cells
        v = n // m + 1
        return Fraction(v * math.comb(n, v) * (m - 1) ** (n - v + 1), n * m**n)


@dataclass(frozen=True)
class LossHunter(Analyst):
    """Asks after the record of which two neighbouring datasets differ, k times: whether it is there, or the other one.

    `suspect` is the record on the left, `other` that on the right. Each answer moves the log-likelihood ratio by its
    distance from the middle of the two possible answers, so the sum of these distances is the evidence so far (up to a
    factor, for Gaussian noise); it asks for the record that the evidence speaks for. Every query moves by one record,
    and no query moves by more.

    Args:
        suspect, other: the records that are exchanged.
        share: of the suspect in the left dataset; one record's worth, 1/n, less in the right one.
        other_share: of the other in the left dataset.
        records: n ≥ 1.
        k: ≥ 1.

    Raises:
        ParameterError: k or records below 1, or the two records are one.
    """

    suspect: Any
    other: Any
    share: float
    other_share: float
    records: checks.Count
    k: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.suspect == self.other:
            raise ParameterError(f"other must be another record than {self.suspect!r}.")

    @property
    def rounds(self) -> int:
        return self.k

    def query(self, coins: Any, answers: tuple[Any, ...]) -> Predicate:
        evidence, left = 0.0, True
        for answer in answers:
            middle = self.share - 0.5 / self.records if left else self.other_share + 0.5 / self.records
            evidence += answer - middle if left else middle - answer
            left = evidence >= 0
        return Among(frozenset((self.suspect if left else self.other,)))
