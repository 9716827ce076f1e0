"""Analysts of interactive mechanisms: with fixed queries, adaptive and overfitting, or after one record."""

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
    """Asks queries that are fixed in advance, in order.

    Args:
        queries: q_1, …, q_k, k ≥ 1.
        distribution: D of the game Acc, if any.
        records: S of the game SampAcc, if any.

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
    """Asks for k subsets of X, drawn uniformly in advance.

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
        """k subsets, each a number; bit i is set if the subset holds the i-th point."""
        return Product((Uniform(range(1 << len(self.points))),) * self.k)

    def query(self, coins: Any, answers: tuple[Any, ...]) -> Predicate:
        subset = coins[len(answers)]
        return Among(frozenset(x for i, x in enumerate(self.points) if subset >> i & 1))


@dataclass(frozen=True)
class Overfitter(Analyst):
    """Asks for every cell of a uniform D, then for the union of the cells whose answers exceeded their mass.

    Let m be the number of cells and N_i ~ Bin(n, 1/m) the number of records in cell i. With exact answers, the union's
    share of the sample exceeds its mass by Σ_i (N_i/n − 1/m)⁺, the largest error of any query. With p = 1/m and
    ν = ⌊n/m⌋ + 1 its expectation is (m/n)·E(N − n/m)⁺ = (m/n)·(1 − p)·ν·C(n, ν)·p^ν·(1 − p)^{n−ν} (half of de Moivre's
    mean deviation): about √(m/(2πn)) for m ≪ n, and (1 − 1/m)^n ≈ e^{−n/m} for n < m.

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
        # for answers that are rounded counts over n, comparing doubles gives the exact result
        return Among(frozenset(i for i, answer in enumerate(answers[: self.cells]) if answer > 1 / self.cells))

    def gap(self, records: int) -> Fraction:
        """The expected error of exact answers on the last query, for n ≥ 1 records."""
        n, m = checks.whole("records", records, least=1), self.cells
        v = n // m + 1
        return Fraction(v * math.comb(n, v) * (m - 1) ** (n - v + 1), n * m**n)


@dataclass(frozen=True)
class LossHunter(Analyst):
    """Asks k times for one of the two records in which two neighbouring datasets differ.

    `suspect` is the record in D, `other` the record in D′. Each answer changes the log-likelihood ratio by its distance
    from the midpoint of the two possible answers. The sum of these distances is the evidence so far (up to a factor,
    for Gaussian noise), and the analyst asks for the record that the evidence favours. Every query changes by 1/n
    between the datasets, the largest possible change.

    Args:
        suspect, other: the exchanged records.
        share: share of the suspect in D; it is smaller by 1/n in D′.
        other_share: share of the other record in D.
        records: n ≥ 1.
        k: ≥ 1.

    Raises:
        ParameterError: k or records below 1, or the two records are equal.
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
