"""NumericSparse, the sparse vector technique that releases numbers and stops after c of them; and a corrected version.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import (
    DWORK_ROTH,
    Card,
    Claim,
    FloatArray,
    Laplace,
    ParameterError,
    Program,
    Query,
    checks,
    log,
    sqrt,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.sparse_vector_outputs import BELOW, Outputs
from dpaudit_algorithms.generalization.numeric_sparse_theory import (
    ROOT_512,
    NumericSparseCorrectedTheory,
    NumericSparseTheory,
    SparseNoiseTheory,
)

Floats = FloatArray


@dataclass(frozen=True)
class NumericSparse(NumericSparseTheory):
    """Compare noisy answers with a noisy threshold, release those above with fresh noise, halt after c of them.

    Privacy: the composition of c AboveThresholds and c Laplace mechanisms, with (ε, δ) divided as in `SparseNoise`.
    With δ = 0, c = 1, nine answers that one record lowers and a last one that it raises, all far above T, the loss
    comes arbitrarily close to ε.

    Theorem 3.28 has two errors. If δ > 0, releases have noise Lap(√8·α/Λ), Λ = ln k + ln(4c/β), so a release is off by
    more than α with probability (β/(4ck))^{1/√8}: 0.21 for c = k = 1 and β = 0.05. (With δ = 0 the noise is Lap(α/Λ)
    and the probability is β/(4ck).) And the theorem guarantees no halt before f_k if up to c queries are at least
    T − α; but if exactly c are, without f_k, it halts with the last of them. `NumericSparseCorrected` corrects both.

    Args:
        epsilon: > 0.
        delta: in [0, 1).
        threshold: T.
        c: number of answers above after which it halts, ≥ 1.
        queries: f_1, …, f_k, k ≥ 1, each with one answer of sensitivity at most 1.
        beta: in (0, 1); only for the utility claim.

    Raises:
        ParameterError: a parameter outside its range, no queries, or a query of sensitivity above 1.

    Source: Dwork and Roth, section 3.6, Algorithm 3, Theorems 3.27 and 3.28; Stemmer's thesis, Corollary 4.12.
    """

    epsilon: float
    delta: float
    threshold: checks.Number
    c: int
    queries: tuple[Query, ...]
    beta: checks.OpenUnit = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.noise
        if not self.queries:
            raise ParameterError("queries must hold at least one query.")
        if any(query.sensitivity > 1 for query in self.queries):
            raise ParameterError("queries must have sensitivity at most 1.")

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 3.27."""
        return Claim(self.epsilon, self.delta)

    @cached_property
    def noise(self) -> SparseNoise:
        """The scales, as printed."""
        return SparseNoise(self.epsilon, self.delta, self.c)

    def answers(self, D: Any) -> tuple[float, ...]:
        """f_1(D), …, f_k(D)."""
        return tuple(answer for query in self.queries for answer in query(D))

    def run(self, D: Any) -> Program:
        noise, T = self.noise, self.threshold
        noisy = T + (yield Laplace(0, noise.threshold))  # T̂_0 = T + Lap(σ(ε₁))
        count, said = 0, list[Hashable]()
        for answer in self.answers(D):  # for each query i do
            if (yield Laplace(answer, noise.compared) >= noisy):  # ν_i = Lap(2σ(ε₁)); f_i(D) + ν_i ≥ T̂_count
                said.append((yield Laplace(answer, noise.released)))  # υ_i = Lap(σ(ε₂)); output f_i(D) + υ_i
                count += 1
                noisy = T + (yield Laplace(0, noise.threshold))  # T̂_count = T + Lap(σ(ε₁))
            else:
                said.append(BELOW)  # output a_i = ⊥
            if count >= self.c:
                break  # halt
        return tuple(said)

    def bulk(self, D: Any, size: int, rng: Generator) -> Outputs:
        noise, answers = self.noise, self.answers(D)
        noisy = self.threshold + _laplace(rng, noise.threshold, size)
        count, length = np.zeros(size, dtype=np.int64), np.full(size, len(answers))
        said = np.full((size, len(answers)), BELOW, dtype=object)
        for i, answer in enumerate(answers):
            above = np.flatnonzero((answer + _laplace(rng, noise.compared, size) >= noisy) & (count < self.c))
            said[above, i] = answer + _laplace(rng, noise.released, len(above))
            count[above] += 1
            noisy[above] = self.threshold + _laplace(rng, noise.threshold, len(above))
            length[above[count[above] >= self.c]] = i + 1
        return [tuple(row[:end]) for row, end in zip(said.tolist(), length.tolist(), strict=True)]


@dataclass(frozen=True)
class NumericSparseCorrected(NumericSparseCorrectedTheory, NumericSparse):
    """`NumericSparse` with shares of ε and a condition for which Theorem 3.28 holds.

    ε₁ = 8ε/9 and ε₂ = 2ε/9 also if δ > 0, so both parts of the error have the same scale: with Λ = ln k + ln(4c/β) and
    s = √(c·ln(2/δ))/ε the comparisons err by α = √512·(9/8)·Λ·s (Theorem 3.26 at β/2), and the releases have
    σ(ε₂) = √32·(9/2)·s = α/Λ, so each is off by more than α with probability β/(4ck). The printed shares √512 : 1 fit
    single releases with Lap(1/ε); √512 : √8 = 8 : 1 fits c of them. α grows by a factor 9√512/(8(√512 + 1)) = 1.077.

    There is no halt before f_k if fewer than c of f_1, …, f_{k−1} are at least T − α: no other query is above if the
    comparisons err by less than α.

    Args:
        epsilon: > 0.
        delta: in [0, 1).
        threshold: T.
        c: number of answers above after which it halts, ≥ 1.
        queries: f_1, …, f_k, k ≥ 1, each with one answer of sensitivity at most 1.
        beta: in (0, 1); only for the utility claim.

    Raises:
        ParameterError: a parameter outside its range, no queries, or a query of sensitivity above 1.

    Source: Dwork and Roth, section 3.6, Algorithm 3, Theorems 3.27 and 3.28, corrected.
    """

    @cached_property
    def noise(self) -> SparseNoise:
        return SparseNoise(self.epsilon, self.delta, self.c, printed=False)


@dataclass(frozen=True)
class SparseNoise(SparseNoiseTheory):
    """The scales of NumericSparse's noise, for answers of sensitivity `unit`.

    T̂ has noise Lap(σ(ε₁)), the compared answers Lap(2σ(ε₁)), the released answers Lap(σ(ε₂)). So the queries up to an
    answer above are AboveThreshold with loss 2/σ(ε₁), and a release has loss 1/σ(ε₂). With δ = 0 and σ(ε) = 2c/ε these
    are ε₁/c and ε₂/(2c), together 8ε/9 + ε/9. With δ > 0 and σ(ε) = √(32c·ln(2/δ))/ε they are ε₁/√(8c·ln(2/δ)) and
    (ε₂/2)/√(8c·ln(2/δ)), as Corollary 3.21 allows for (ε₁, δ/2) and (ε₂/2, δ/2).

    Args:
        epsilon: > 0.
        delta: in [0, 1).
        c: number of answers above after which it halts, ≥ 1.
        unit: > 0.
        printed: whether to use the printed shares of ε; the corrected ones differ if δ > 0.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth, section 3.6, Algorithm 3; its constants were checked against Theorems 3.25 to 3.28 and
    their proofs.
    """

    epsilon: checks.Positive
    delta: checks.Probability
    c: checks.Count
    unit: checks.Positive = 1.0
    printed: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta == 1:
            raise ParameterError(f"delta must be below 1, not {self.delta!r}.")

    @property
    def shares(self) -> tuple[float, float]:
        """ε₁ and ε₂: 8ε/9 and 2ε/9, with δ > 0 as printed √512·ε/(√512 + 1) and 2ε/(√512 + 1)."""
        if self.delta and self.printed:
            return ROOT_512 * self.epsilon / (ROOT_512 + 1), 2 * self.epsilon / (ROOT_512 + 1)
        return 8 * self.epsilon / 9, 2 * self.epsilon / 9

    def sigma(self, epsilon: float) -> float:
        """σ(ε), for sensitivity 1."""
        return sqrt(32 * self.c * log(2 / self.delta)) / epsilon if self.delta else 2 * self.c / epsilon

    @cached_property
    def threshold(self) -> float:
        """The scale of T̂."""
        return self.unit * self.sigma(self.shares[0])

    @property
    def compared(self) -> float:
        """The scale of ν."""
        return 2 * self.threshold

    @cached_property
    def released(self) -> float:
        """The scale of υ."""
        return self.unit * self.sigma(self.shares[1])


def _laplace(rng: Generator, scale: float, size: int) -> Floats:
    return rng.laplace(0, scale, size)


# --- cards: claims, sources and deviations from the papers ---

NumericSparse.card = Card(
    name="NumericSparse",
    system="G4",
    title="NumericSparse, the sparse vector technique that releases c answers",
    paper=DWORK_ROTH,
    place="§3.6, Algorithm 3, Theorems 3.27 and 3.28",
    claim="(ε, δ)-DP for queries of sensitivity 1",
    inputs="a dataset that the queries answer; epsilon > 0, 0 ≤ delta < 1, a threshold, c ≥ 1, k ≥ 1 queries of "
    "sensitivity 1, beta",
    output='the answers up to the halt, each "below" or a number',
    deviations=(
        "The thesis only cites Hardt and Rothblum, who build on it; this is the algorithm of Dwork and Roth's book.",
        "The book's theorems and proofs were read in a translation. Its pictures of Algorithms 2 and 3 are the book's "
        "own text, which the lines follow; but Algorithm 3 prints ε₂ = 2/(√512 + 1) for δ > 0, where 2ε/(√512 + 1) "
        "is meant.",
        "The queries are fixed in advance; in PrivateMultiplicativeWeights they depend on earlier answers.",
        "The proof cites Corollary 3.21, which requires ε < 1; by Theorem 3.20 the same noise is enough for "
        "ε ≤ 3.2·ln(2/δ). The claim is printed, and tested, without a bound on ε.",
    ),
    variants=("NumericSparseCorrected",),
    findings=(FINDINGS[30], FINDINGS[31]),
)

NumericSparseCorrected.card = Card(
    name="NumericSparseCorrected",
    system="G4",
    title="NumericSparse with shares of ε for which its accuracy theorem holds",
    paper=DWORK_ROTH,
    place=NumericSparse.card.place,
    claim=NumericSparse.card.claim,
    inputs=NumericSparse.card.inputs,
    output=NumericSparse.card.output,
    deviations=(
        *NumericSparse.card.deviations,
        "Also for δ > 0, the comparisons get 8ε/9 and the releases ε/9; the book has √512 : 1.",
        "Fewer than c queries before the last may be at least T − α; the book allows c in total, but then it halts.",
    ),
    variants=("NumericSparse",),
)
