"""The Laplace mechanism, and the queries it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    Exchange,
    Goal,
    Instance,
    Laplace,
    Mechanism,
    Multiset,
    ParameterError,
    Product,
    Query,
    Symmetry,
    UtilityClaim,
    checks,
    exchanges,
    exp,
    log,
)
from dpaudit_algorithms.foundations.goals import BETA, all_but

_UNCOUNTED = "exchange of records that are not counted"


@dataclass(frozen=True)
class Count(Query):
    """How many records equal `value`: ℓ = 1, k = 1."""

    value: Any = 1

    @property
    def sensitivity(self) -> float:
        return 1.0

    def __call__(self, dataset: Any) -> tuple[float, ...]:
        return (float(dict(Multiset.of(dataset).items).get(self.value, 0)),)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Values that are not counted may be permuted. (n less the count is not a permutation of coordinates.)"""
        return exchanges(_UNCOUNTED, [record for record in domain if record != self.value])


@dataclass(frozen=True)
class Histogram(Query):
    """How many records equal each of `values` (distinct): ℓ = len(values).

    Replacing a record lowers one count and raises another, so k = 2; k = 1 with a single value.

    Raises:
        ParameterError: no values, or one that comes twice.
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) != len(self.values):
            raise ParameterError(f"A histogram needs at least one value, all of them distinct, not {self.values!r}.")

    @property
    def coordinates(self) -> int:
        return len(self.values)

    @property
    def sensitivity(self) -> float:
        return 2.0 if len(self.values) > 1 else 1.0

    def __call__(self, dataset: Any) -> tuple[float, ...]:
        counts = dict(Multiset.of(dataset).items)
        return tuple(float(counts.get(value, 0)) for value in self.values)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Renaming values that are counted permutes their counts; what is not counted is all the same."""
        counted = [record for record in domain if record in self.values]
        places = [self.values.index(record) for record in counted]
        return (
            *(
                Symmetry("relabelling", Exchange(*records), _Swap(*coordinates))
                for records, coordinates in zip(pairwise(counted), pairwise(places), strict=True)
            ),
            *exchanges(_UNCOUNTED, [record for record in domain if record not in self.values]),
        )


@dataclass(frozen=True)
class _Swap:
    """Two coordinates of a vector change places."""

    i: int
    j: int

    def __call__(self, vector: tuple[int, ...]) -> tuple[int, ...]:
        moved = list(vector)
        moved[self.i], moved[self.j] = vector[self.j], vector[self.i]
        return tuple(moved)


@dataclass(frozen=True)
class LaplaceMechanism(Mechanism):
    """f(S) with independent noise Lap(k/ε) on each of its ℓ coordinates.

    Utility: some coordinate is off by more than Δ with probability at most ℓ·exp(−εΔ/k).

    Args:
        epsilon: > 0.
        query: f, with its sensitivity k under replace-one.

    Raises:
        ParameterError: epsilon or the query's sensitivity is not above 0.

    Source: Stemmer's thesis, section 3.5.1, Theorem 3.25.
    """

    epsilon: checks.Positive
    query: Query

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.positive("the sensitivity of the query", self.query.sensitivity)

    @property
    def claim(self) -> Claim:
        """ε, Theorem 3.25."""
        return Claim(self.epsilon)

    @property
    def scale(self) -> float:
        """k/ε, in units of the answers."""
        return self.query.sensitivity / self.epsilon

    def guarantee(self, off_by: float) -> UtilityClaim:
        """Theorem 3.25's bound for Δ = `off_by` > 0, in units of the answers."""
        bound = tail_bound(self.epsilon, self.query.sensitivity, self.query.coordinates, off_by)
        return UtilityClaim(AnswersWithin(self.query, off_by), all_but(bound), "§3.5.1, Theorem 3.25")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Theorem 3.25 with the Δ at which its bound is 0.05, for any number of records."""
        return (self.guarantee(self.scale * log(self.query.coordinates / BETA)),)

    def run(self, S: Any) -> Laplace | Product:
        noisy = tuple(Laplace(answer, self.scale) for answer in self.query(S))
        return noisy[0] if len(noisy) == 1 else Product(noisy)


@dataclass(frozen=True)
class LaplaceMechanismRounded(Mechanism):
    """The Laplace mechanism with every coordinate rounded down and clipped to [low, high].

    Rounding is post-processing (Theorem 3.3), so the claim is that of `LaplaceMechanism`. The output distribution
    can be computed, so the claim can be proved on a finite domain. If a count moves by one whole unit the two ends
    attain ε exactly.

    Args:
        epsilon: > 0.
        query: f, with its sensitivity k under replace-one.
        low, high: least and greatest output of a coordinate, whole numbers with low < high.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Theorems 3.3 and 3.25.
    """

    epsilon: checks.Positive
    query: Query
    low: checks.Integer
    high: checks.Integer

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.positive("the sensitivity of the query", self.query.sensitivity)
        if self.low >= self.high:
            raise ParameterError(f"low must be below high, not {self.low!r} and {self.high!r}.")

    @property
    def claim(self) -> Claim:
        """ε, Theorems 3.25 and 3.3."""
        return Claim(self.epsilon)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of the query: every coordinate has the same noise, rounding and ends, independently."""
        return self.query.symmetries(domain)

    def run(self, S: Any) -> Any:
        scale = self.query.sensitivity / self.epsilon
        seen = tuple(Laplace(answer, scale).floor().clip(self.low, self.high) for answer in self.query(S))
        return seen[0] if len(seen) == 1 else Product(seen)


def tail_bound(epsilon: float, sensitivity: float, coordinates: int, off_by: float) -> float:
    """ℓ·exp(−εΔ/k): bounds the probability that some coordinate is off by more than Δ.  Source: Theorem 3.25."""
    return min(1.0, coordinates * exp(-epsilon * off_by / sensitivity))


@dataclass(frozen=True)
class AnswersWithin(Goal):
    """Every coordinate of the output is at most `off_by` from that of f(S).

    Args:
        query: f.
        off_by: Δ > 0, in units of the answers.

    Source: thesis, Theorem 3.25.
    """

    query: Query
    off_by: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        answers = self.query(instance.dataset)
        seen = (output,) if len(answers) == 1 else output
        return all(abs(a - b) <= self.off_by for a, b in zip(seen, answers, strict=True))

    def __str__(self) -> str:
        return f"answers off by at most {self.off_by:.6g}"


# --- cards: what is claimed where, and where the text here departs from the print ---

LaplaceMechanism.card = Card(
    name="LaplaceMechanism",
    system="F1",
    title="Laplace mechanism",
    paper=THESIS,
    place="§3.5.1, Theorem 3.25",
    claim="ε-DP under replace-one for a k-sensitive query",
    inputs="a dataset that the query answers; epsilon > 0, a query to ℝ^ℓ with its L1 sensitivity k",
    output="a real number (ℓ = 1), or a vector of ℓ real numbers",
    deviations=("The output is a double, not a real number; the claim is about the reals.",),
    variants=("LaplaceMechanismRounded",),
)

LaplaceMechanismRounded.card = Card(
    name="LaplaceMechanismRounded",
    system="F1",
    title="Laplace mechanism, rounded and clipped",
    paper=THESIS,
    place="§3.5.1, Theorem 3.25 with Theorem 3.3",
    claim="ε-DP under replace-one for a k-sensitive query",
    inputs="a dataset that the query answers; epsilon > 0, a query with its L1 sensitivity, integers low < high",
    output="a whole number in [low, high] (ℓ = 1), or ℓ of them",
    deviations=("The answer is rounded down and clipped, which is post-processing.",),
    variants=("LaplaceMechanism",),
)
