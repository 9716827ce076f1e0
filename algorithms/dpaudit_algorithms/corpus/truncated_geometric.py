"""GeoSample: truncated geometric noise from integers alone, with two readings of a logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpaudit.language import (
    ANSWERS_L1,
    Card,
    Categorical,
    Claim,
    DatasetError,
    KnownBug,
    Mechanism,
    ParameterError,
    ceil_log2,
    checks,
    log,
)


@dataclass(frozen=True)
class TruncatedGeometric(Mechanism):
    """GeoSample with k = ⌈ln(2/ε)⌉, as implemented for DP-Sniper: broken, because the logarithm must be binary.

    Args:
        epsilon: in (0, 2].
        n: ≥ 1, the number of individuals.

    Raises:
        ParameterError: a parameter outside its range.
        DatasetError: from `run`: the dataset is not one count in {0, …, n}.

    Source: Balcer and Vadhan, Differential Privacy on Finite Computers (2017), GeoSample and its theorem.
    """

    epsilon: checks.Positive = 0.1
    n: checks.Count = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > 2:
            raise ParameterError(f"epsilon must be at most 2, not {self.epsilon!r}.")

    @property
    def claim(self) -> Claim:
        """ε, as claimed; the true value is ln(1 + 2^−k)."""
        return Claim(self.epsilon, 0.0, ANSWERS_L1)

    @property
    def k(self) -> int:
        """Bits of precision: ⌈ln(2/ε)⌉."""
        return math.ceil(log(2 / self.epsilon))

    @property
    def d(self) -> int:
        """Number of values of u: (2^{k+1} + 1)(2^k + 1)^{n−1}."""
        return int((2 ** (self.k + 1) + 1) * (2**self.k + 1) ** (self.n - 1))

    def F(self, z: int, c: int) -> int:
        """d times the probability of an output ≤ z on the count c (step 2 of the algorithm); 0 below z = 0."""
        n, power = self.n, int(2**self.k)
        if z < 0:
            return 0
        if z >= n:
            return self.d
        if z < c:
            return int(power ** (c - z) * (power + 1) ** (n - (c - z)))
        return int(self.d - power ** (z - c + 1) * (power + 1) ** (n - 1 - (z - c)))

    def run(self, dataset: tuple[int, ...]) -> Categorical:
        c = self._count(dataset)
        masses = [self.F(z, c) - self.F(z - 1, c) for z in range(self.n + 1)]
        return Categorical(range(self.n + 1), [mass / self.d for mass in masses])

    def _count(self, dataset: tuple[int, ...]) -> int:
        if len(dataset) != 1 or dataset[0] not in range(self.n + 1):
            raise DatasetError(f"{self.name} needs one count in 0, …, {self.n}, not {dataset!r}.")
        return int(dataset[0])


@dataclass(frozen=True)
class TruncatedGeometricBase2(TruncatedGeometric):
    """GeoSample with k = ⌈log₂(2/ε)⌉: correct.

    Args, Raises: as for `TruncatedGeometric`.

    Source: Balcer and Vadhan, Differential Privacy on Finite Computers (2017), GeoSample and its theorem.
    """

    @property
    def k(self) -> int:
        """Bits of precision: ⌈log₂(2/ε)⌉."""
        return ceil_log2(math.ceil(2 / self.epsilon))  # 2^k is whole


# --- cards: claims, sources and deviations from the papers ---

_UNIFORM = (
    "The draw of u from {1, …, d} and the search for the smallest z with F(z) ≥ u are one draw of z with probability "
    "(F(z) − F(z − 1))/d, computed from exact integers and rounded to doubles."
)
_COUNT = "The dataset is the count itself; neighbours move it by at most 1."

TruncatedGeometric.card = Card(
    name="TruncatedGeometric",
    system="corpus",
    title="Truncated geometric noise, natural logarithm",
    paper="Balcer and Vadhan, Differential Privacy on Finite Computers (2017), arXiv:1709.05396",
    place="GeoSample and its theorem",
    claim="ln(1 + 2^−k)-DP for a count out of n, where k = ⌈log(2/ε)⌉ is meant to make that at most ε",
    inputs="one count in {0, …, n}; epsilon in (0, 2], as published 0.1; n ≥ 1 individuals, as published 5",
    output="a whole number in {0, …, n}",
    deviations=(
        "The logarithm in k is natural, as in DP-Sniper's implementation. That implementation correctly states the "
        "resulting privacy, ln(1 + 2^−⌈ln(2/ε)⌉); the claim under test is the requested ε.",
        _UNIFORM,
        _COUNT,
    ),
    variants=("TruncatedGeometricBase2",),
    known_bug=KnownBug(
        bug="natural logarithm for a binary one",
        effect="2^−k must be at most ε/2, but k = ⌈ln(2/ε)⌉ only makes e^−k that small: at ε = 0.1 the noise is "
        "that for ln(9/8).",
        epsilon="0.11778 = ln(1 + 2^−3) = ln(9/8): k = ⌈ln 20⌉ = 3; attained by {0} on every pair of counts",
    ),
)

TruncatedGeometricBase2.card = replace(
    TruncatedGeometric.card,
    name="TruncatedGeometricBase2",
    title="Truncated geometric noise, binary logarithm",
    deviations=("The logarithm in k is binary; with this reading the mechanism is ε-DP.", _UNIFORM, _COUNT),
    variants=("TruncatedGeometric",),
    known_bug=KnownBug(
        bug="",
        effect="None: 2^−k ≤ ε/2, so ln(1 + 2^−k) ≤ ε/2.",
        epsilon="0.03077 = ln(1 + 2^−5) = ln(33/32): k = ⌈log₂ 20⌉ = 5; attained by {0} on every pair of counts",
    ),
)
