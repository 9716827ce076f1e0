"""ReleaseThresholds: synthetic data for all thresholds, piece by piece with RecConcave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from dpaudit.language import (
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    DiscreteLaplace,
    Distribution,
    Multiset,
    ParameterError,
    Program,
    Quality,
    StepScores,
    advanced_share,
    cached,
    checks,
    log_star,
    step_scores,
    to_float,
)
from dpaudit_algorithms.half_spaces.release_thresholds_theory import ReleaseThresholdsTheory, between
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.lower_bounds.query_release_theory import exactly

LISTED = 4096
"""Above this number of solutions, scores are stored as pieces."""
APPROXIMATION = 0.5
"""RecConcave's α, the largest that Lemma 6.13 allows."""


@dataclass(frozen=True)
class PieceEnd(Quality):
    """Q(S, j) = min(#S[a, a + j] − τ/2, 3τ/2 − #S[a, a + j − 1]) for j in {0, …, size − 1 − a}.

    1-sensitive: a replaced record changes a count by at most 1. Quasi-concave: #S[a, b] increases with b, and
    −#S[a, b − 1] decreases. If #S[a, max X] ≥ τ, the least b with #S[a, b] ≥ τ has #S[a, b − 1] < τ, so Q ≥ τ/2 there.

    Args:
        size: |X|.
        start: a in {0, …, size − 1}.
        tau: τ, in records.
    """

    size: int
    start: int
    tau: float

    @property
    def n_solutions(self) -> int:
        return self.size - self.start

    def __call__(self, dataset: Any) -> AnyScores:
        return _ends(self, Multiset.of(dataset))


@cached(maxsize=512)
def _ends(Q: PieceEnd, S: Multiset) -> AnyScores:
    a, tau = Q.start, Q.tau
    scores, inside = {0: min(-tau / 2, 1.5 * tau)}, 0
    for value, count in S.items:
        if value < a:
            continue
        scores[value - a] = min(inside + count - tau / 2, 1.5 * tau - inside)
        inside += count
        if value + 1 < Q.size:
            scores[value + 1 - a] = min(inside - tau / 2, 1.5 * tau - inside)
    make = step_scores if Q.n_solutions <= LISTED else StepScores
    return make(list(scores), list(scores.values()), Q.n_solutions)


@dataclass(frozen=True)
class ReleaseThresholds(ReleaseThresholdsTheory):
    """Synthetic data for all thresholds on X = {0, …, size − 1}: pieces of about τ = αn/8 records from left to right.

    A step, after the pieces up to a − 1: b ← RecConcave on `PieceEnd` with the quality promise τ/2, and noisy counts of
    #S[a, b − 1] and #S[b, b]; then a = b + 1. The synthetic data hold n records: the noisy sums of counts, clamped to
    [0, n] and made non-decreasing, are the numbers of records up to b − 1 and up to b; the rest is at max X.

    Privacy: at most M = min(⌈16/α⌉, |X|) steps (a increases in every step), each with three (ε₀, δ₀)-DP mechanisms:
    RecConcave with N calls of (ε₀/(3N), δ₀/(3N)) per step, and two counts with noise of scale 1/ε₀. By Theorem 3.6 or
    3.5 over 3M mechanisms (`equal_parts`) the composition is (ε, δ)-DP. The stopping rule uses the public n minus the
    released counts, which is post-processing. A separate noisy count of #S[a, max X] would be a fourth mechanism
    without a gain: the answers are themselves sums of the released counts, with the same error as that difference.

    Utility. Let E be the largest |sum of the noise drawn so far|. Suppose that E ≤ τ, and that every RecConcave finds
    Q ≥ (1 − 1/2)·τ/2 if the maximum is at least τ/2.
    - When a step starts, the noisy remainder is above 2τ, so #S[a, max X] > 2τ − E ≥ τ: the quality promise holds. (The
      printed "stop when it is ≤ τ" would allow less than τ, without the quality promise.)
    - Then #S[a, b] ≥ 3τ/4 and #S[a, b − 1] ≤ 5τ/4. So ⌈16/α⌉ steps would take (16/α)·(3/4)·(αn/8) = 3n/2 > n records:
      the steps suffice, and at most 2τ + E ≤ 3τ records remain.
    - Up to a released end the synthetic data err by at most E (clamping to [0, n] and a running maximum do not move
      sums away from non-decreasing sums in [0, n]); within a piece by 5τ/4 + E, in the remainder by 3τ + E ≤ 4τ. That
      is (α/2)·n: they are α/2-close.
    - For K = 2M noise terms of scale s = 1/ε₀, E[e^{λz}] ≤ 1/(1 − λ²s²) for |λ| < 1/s (for two-sided geometric noise it
      is 1/(1 − sinh²(λ/2)/sinh²(1/(2s))), and sinh u/u increases). By the inequalities of Lévy and Markov,
      Pr[E > x] ≤ 4·e^{−λx}·(1 − λ²s²)^{−K}. Because 1 − u ≥ e^{−2u} for u ≤ 1/2, λ = √(L/(2K))/s or 1/(√2·s) gives
      Pr[E > √8·s·max(√(KL), L)] ≤ 4e^{−L}.
    - RecConcave fails in one step with the probability of Lemma 6.13 at r = τ/2; if it makes one call, with
      |X|·e^{−ε₀τ/24} (Proposition 3.27), if that is smaller.
    The failure probability is at most 4e^{−L} + M·(that of a step), L = min(y²/K, y), y = ε₀τ/√8; `sample_sizes` has
    the least n that makes it 0.05. It grows like 8^N·α^{−1.5} for RecConcave and like α^{−2} for the noise: Theorem
    6.23 allows α^{−2.5}·8^{log*|X|}.

    Args:
        size: |X| ≥ 2; the records are 0, …, size − 1.
        alpha: α in (0, 1], exactly as written in decimals, or a fraction.
        epsilon: > 0, in total.
        delta: in (0, 1), in total.
        N: bound on RecConcave's calls, 1 ≤ N ≤ log*|X|; by default no further bound.
        base: as in `RecConcave`.
        steps: M, ≥ 1; by default min(⌈16/α⌉, |X|).
        room: None for unclamped counts; a whole number ≥ 0 clamps them to [−room, n + room], which is post-processing
            and makes the output distribution finite.
        a_dist: "corrected" for RecConcaveCorrected, "printed" for RecConcave.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.6.1, Definitions 6.20 and 6.21 (the task), Theorem 6.23 (cited there, not
        printed); the construction is ours.
    """

    size: Annotated[int, checks.least(2)] = 2**16
    alpha: checks.ExactUnit = 0.25
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6
    N: checks.Count | None = None
    base: int = 32
    steps: checks.Count | None = None
    room: checks.Natural | None = None
    a_dist: Literal["corrected", "printed"] = "corrected"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.N is not None and log_star(self.size) < self.N:
            raise ParameterError(f"N must be at most log*|X| = {log_star(self.size)}, not {self.N}.")
        _ = self.end_finder(0, 1)

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 3.6 or 3.5 over three mechanisms per step."""
        return Claim(self.epsilon, self.delta)

    @cached_property
    def most_steps(self) -> int:
        """M."""
        return min(math.ceil(16 / exactly(self.alpha)), self.size) if self.steps is None else self.steps

    @cached_property
    def part(self) -> Claim:
        """(ε₀, δ₀) of each of the three mechanisms of a step."""
        return equal_parts(self.claim, 3 * self.most_steps)

    @cached_property
    def calls(self) -> int:
        """N, the number of calls of RecConcave on all of X."""
        quality = PieceEnd(self.size, 0, 1.0)
        return RecConcaveCorrected(self.size - 1, quality, 1.0, 0.5, 1.0, 0.5, self.N, self.base).calls

    def tau(self, records: int) -> float:
        """τ = αn/8, in records."""
        return to_float(exactly(self.alpha) * records / 8)

    def end_finder(self, start: int, records: int) -> RecConcave | RecConcaveCorrected:
        """RecConcave for the end of the piece that begins at `start`, as j = b − a."""
        N, tau, part = self.calls, self.tau(records), self.part
        kind = RecConcaveCorrected if self.a_dist == "corrected" else RecConcave
        quality = PieceEnd(self.size, start, tau)
        epsilon, delta = part.epsilon / (3 * N), part.delta / (3 * N)
        return kind(self.size - 1 - start, quality, tau / 2, APPROXIMATION, epsilon, delta, N, self.base)

    @property
    def count_claim(self) -> Claim:
        """ε₀, the claim of a count."""
        return Claim(self.part.epsilon)

    @property
    def scale(self) -> float:
        """1/ε₀, the noise scale of a count, in records."""
        return 1 / self.part.epsilon

    def run(self, S: Any) -> Program:
        records = within(self.size, S)
        n = len(records)
        tau = self.tau(n)
        a, left = 0, n
        sums: list[tuple[int, int]] = []  # (x, noisy #S[0, x])
        for _ in range(self.most_steps):  # at most M times, while the noisy remainder is above 2τ
            if a >= self.size or left <= 2 * tau:
                break
            # b ← RecConcave on Q(S, b) = min(#S[a, b] − τ/2, 3τ/2 − #S[a, b − 1]) with the promise τ/2
            b = a + (yield self.end_finder(a, n).on(records))
            # noisy #S[a, b − 1] and #S[b, b]
            if a < b:
                left -= yield self._noisy(between(records, a, b - 1), n)
                sums.append((b - 1, n - left))
            left -= yield self._noisy(between(records, b, b), n)
            sums.append((b, n - left))
            a = b + 1
        # the noisy sums of counts are the numbers of records up to b − 1 and up to b
        return synthetic(tuple(sums), n, self.size)

    def _noisy(self, count: int, n: int) -> Distribution:
        noisy = DiscreteLaplace(count, self.scale)
        if self.room is None:
            return noisy.spending(self.count_claim)
        return noisy.clip(-self.room, n + self.room).spending(self.count_claim)


def equal_parts(claim: Claim, k: int) -> Claim:
    """(ε₀, δ₀) such that k adaptive uses of (ε₀, δ₀)-DP mechanisms are (ε, δ)-DP, by the better of two theorems.

    Theorem 3.5: (ε/k, δ/k). Theorem 3.6 with δ′ = δ/2 and δ₀ = δ/(2k): √(2k·ln(2/δ))·ε₀ + 2kε₀² = ε, if that ε₀ is at
    most 1. The result is the one with the larger ε₀.

    Args:
        claim: (ε, δ), δ > 0.
        k: ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: thesis, Theorems 3.5 and 3.6.
    """
    checks.whole("k", k, least=1)
    epsilon, delta = checks.positive("epsilon", claim.epsilon), checks.probability("delta", claim.delta, open_ends=True)
    advanced = advanced_share(epsilon, delta / 2, k)
    if advanced > epsilon / k:
        return Claim(advanced, delta / (2 * k), claim.relation)
    return Claim(epsilon / k, delta / k, claim.relation)


def synthetic(sums: Sequence[tuple[int, int]], records: int, size: int) -> Multiset:
    """n records; for every x in `sums`, max{sums up to x, clamped to [0, n]} of them are at most x.

    Args:
        sums: (x, noisy number of records ≤ x), x ascending below `size`.
        records: n.
        size: the remaining records are at size − 1.
    """
    counts: dict[Any, int] = {}
    reached = 0
    for x, total in sums:
        more = min(max(total, reached), records) - reached
        counts[x] = counts.get(x, 0) + more
        reached += more
    counts[size - 1] = counts.get(size - 1, 0) + records - reached
    return Multiset.counted(counts)


def within(size: int, S: Any) -> Multiset:
    """The records, if there is at least one and all are whole numbers in 0, …, size − 1.

    Raises:
        DatasetError: otherwise.
    """
    return _within(size, Multiset.of(S))


@lru_cache(maxsize=256)
def _within(size: int, records: Multiset) -> Multiset:
    outside = [x for x in records.values if isinstance(x, bool) or not isinstance(x, int) or not 0 <= x < size]
    if outside or not records.items:
        raise DatasetError(f"There must be at least one record, all in 0, …, {size - 1}, not {outside[:1] or 'none'}.")
    return records


# --- cards: claims, sources and deviations from the papers ---

ReleaseThresholds.card = Card(
    name="ReleaseThresholds",
    system="H1",
    title="Query release for thresholds: synthetic data, piece by piece",
    paper=THESIS,
    place="§6.6.1, Theorem 6.23 (cited)",
    claim="(ε, δ)-DP under replace-one; α-close for all thresholds with probability 1 − β from a sample size on",
    inputs="n ≥ 1 records in {0, …, size − 1}; size = |X|, alpha, epsilon, delta in total; N, base, steps, "
    "room, a_dist",
    output="n synthetic records, a multiset",
    deviations=(
        "The thesis cites the mechanism but does not print it; this one is ours, from RecConcave and noisy counts.",
        "The remainder is n minus the released counts; it stops at 2τ, so the quality promise τ/2 holds in every step.",
        "The noise is two-sided geometric instead of Laplace, so counts are whole and need no rounding.",
        "The counts of all steps are of disjoint sets; a replaced record changes only two, so the loss is below the "
        "claim.",
        "An empty [a, b − 1] has no count. The remaining records at the end are at max X.",
        'a_dist = "corrected" runs RecConcaveCorrected; "printed" runs RecConcave, whose claim is refuted for N = 3.',
        "The steps that RecConcave leaves open are read as on its card.",
    ),
    variants=("LearnRectangles", "ThresholdRelease", "RecConcaveCorrected"),
)
