"""ReleaseThresholds: synthetic data for all thresholds, cut off the line piece by piece with RecConcave."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Annotated, Any, Literal

from dpaudit.language import (
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    DiscreteLaplace,
    Distribution,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Quality,
    SampleSize,
    StepScores,
    UtilityClaim,
    advanced_share,
    cached,
    checks,
    exp,
    log_star,
    sqrt,
    step_scores,
    to_float,
)
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.lower_bounds.query_release import exactly

LISTED = 4096
"""Scores of more solutions than this are held in pieces."""
APPROXIMATION = 0.5
"""RecConcave's α, the greatest that Lemma 6.13 allows."""


@dataclass(frozen=True)
class CloseData(Goal):
    """The output is a database Ŝ with |Q_c(S) − Q_c(Ŝ)| ≤ α for every threshold c.

    Args:
        alpha: > 0, exactly as written in decimals, or a fraction.

    Source: thesis, Definition 6.20 for THRESH_X.
    """

    alpha: checks.ExactPositive

    def reached(self, instance: Instance, output: Any) -> bool:
        return distance(Multiset.of(instance.dataset), Multiset.of(output)) <= exactly(self.alpha)

    def __str__(self) -> str:
        return f"synthetic data {float(self.alpha):.4g}-close for thresholds"


def distance(S: Multiset, other: Multiset) -> Fraction:
    """The greatest |Q_c(S) − Q_c(other)| over thresholds c, of two databases that are not empty; 1 if one is."""
    if not S.items or not other.items:
        return Fraction(1)
    n, m = len(S), len(other)
    # both sides are constant between values
    return max(
        Fraction(abs(m * up_to(S, x) - n * up_to(other, x)), n * m) for x in {*S.values, *other.values}
    )


def up_to(S: Multiset, x: int) -> int:
    """#S[min X, x]."""
    values, totals = _totals(S)
    return totals[bisect_right(values, x)]


def between(S: Multiset, low: int, high: int) -> int:
    """#S[low, high], 0 where low > high."""
    return up_to(S, high) - up_to(S, low - 1) if low <= high else 0


@lru_cache(maxsize=256)
def _totals(S: Multiset) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Distinct values, ascending, and how many records there are before each of them and in all."""
    return S.values, (0, *accumulate(count for _, count in S.items))


def equal_parts(claim: Claim, k: int) -> Claim:
    """(ε₀, δ₀) such that k adaptive uses of (ε₀, δ₀)-DP mechanisms keep (ε, δ), by the better of two theorems.

    Theorem 3.5: (ε/k, δ/k). Theorem 3.6 with δ′ = δ/2 and δ₀ = δ/(2k): √(2k·ln(2/δ))·ε₀ + 2kε₀² = ε, where that
    ε₀ is at most 1. The one with the greater ε₀.

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


def least_records(failure: Callable[[int], float], beta: float) -> int:
    """The least n with failure(n) ≤ beta, where failure falls.

    Raises:
        ParameterError: beta outside (0, 1), or none up to 2^60.
    """
    checks.probability("beta", beta, open_ends=True)
    high = 1
    while failure(high) > beta:
        high *= 2
        if high > 1 << 60:
            raise ParameterError(f"No number of records is enough for beta = {beta} with these steps and this base.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if failure(middle) <= beta else (middle, high)
    return high


@dataclass(frozen=True)
class PieceEnd(Quality):
    """Q(S, j) = min(#S[a, a + j] − τ/2, 3τ/2 − #S[a, a + j − 1]) for j in {0, …, size − 1 − a}.

    1-sensitive: a replaced record moves a count by 1 at most. Quasi-concave: #S[a, b] grows with b, and
    −#S[a, b − 1] falls. If #S[a, max X] ≥ τ, the least b with #S[a, b] ≥ τ has #S[a, b − 1] < τ, so that Q ≥ τ/2 there.

    Args:
        size: |X|.
        start: a in {0, …, size − 1}.
        tau: τ, in records.
    """

    size: int
    start: int
    tau: float

    @property
    def how_many(self) -> int:
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
    make = step_scores if Q.how_many <= LISTED else StepScores
    return make(list(scores), list(scores.values()), Q.how_many)


@dataclass(frozen=True)
class ReleaseThresholds(Mechanism):
    """Synthetic data for all thresholds on X = {0, …, size − 1}: pieces of about τ = αn/8 records from left to right.

    A step with the pieces up to a − 1 done: b ← RecConcave on `PieceEnd` with the promise τ/2, and noisy counts of
    #S[a, b − 1] and #S[b, b]; then a = b + 1. The synthetic data hold n records: of every noisy sum of counts as many
    as it says up to b − 1 and up to b (moved into [0, n], and never falling), the rest at max X.

    Privacy: at most M = min(⌈16/α⌉, |X|) steps (a grows in every one), each of three mechanisms that are (ε₀, δ₀)-DP:
    RecConcave with N calls of (ε₀/(3N), δ₀/(3N)) a step, and two counts with noise of scale 1/ε₀. By Theorem 3.6 or
    3.5 over 3M mechanisms (`equal_parts`) the whole is (ε, δ)-DP. When to stop is decided by n, which is public, less
    the released counts: post-processing. A noisy count of #S[a, max X] of its own would be a fourth mechanism, and gain
    nothing: the answers themselves are sums of the released counts, and as wrong as that difference.

    Utility. Let E be the greatest |sum of the noises drawn so far|, and suppose that E ≤ τ and that every RecConcave
    finds Q ≥ (1 − 1/2)·τ/2 where τ/2 is there.
    - Going on, the noisy remainder is above 2τ, so that #S[a, max X] > 2τ − E ≥ τ: the promise holds. (The printed
      "stop when it is ≤ τ" would leave room for less than τ, and no promise.)
    - Then #S[a, b] ≥ 3τ/4 and #S[a, b − 1] ≤ 5τ/4. So ⌈16/α⌉ steps would take (16/α)·(3/4)·(αn/8) = 3n/2 > n records:
      the steps do not run out before the remainder does, of which at most 2τ + E ≤ 3τ are left.
    - Up to a released end the synthetic data are off by E at most (moving into [0, n] and a running maximum bring sums
      no further from sums that lie in [0, n] and do not fall); within a piece by 5τ/4 + E, in the remainder by
      3τ + E ≤ 4τ. That is (α/2)·n: they are α/2-close.
    - Of K = 2M noises of scale s = 1/ε₀, E[e^{λz}] ≤ 1/(1 − λ²s²) for |λ| < 1/s (for two-sided geometric noise it is
      1/(1 − sinh²(λ/2)/sinh²(1/(2s))), and sinh u/u grows). By Lévy's inequality and Markov's,
      Pr[E > x] ≤ 4·e^{−λx}·(1 − λ²s²)^{−K}; as 1 − u ≥ e^{−2u} for u ≤ 1/2, λ = √(L/(2K))/s or 1/(√2·s) gives
      Pr[E > √8·s·max(√(KL), L)] ≤ 4e^{−L}.
    - RecConcave fails in one step with the probability of Lemma 6.13 at r = τ/2; where it makes one call, with
      |X|·e^{−ε₀τ/24} (Proposition 3.27), if that is less.
    The failure is at most 4e^{−L} + M·(that of a step), L = min(y²/K, y), y = ε₀τ/√8; `sample_sizes` has the least n
    that makes it 0.05. It grows like 8^N·α^{−1.5} for RecConcave and like α^{−2} for the noise: Theorem 6.23 allows
    α^{−2.5}·8^{log*|X|}.

    Args:
        size: |X| ≥ 2; the records are 0, …, size − 1.
        alpha: α in (0, 1], exactly as written in decimals, or a fraction.
        epsilon: of the whole, > 0.
        delta: of the whole, in (0, 1).
        N: bound on RecConcave's calls, 1 ≤ N ≤ log*|X|; as many as it makes without it.
        base: as in `RecConcave`.
        steps: M, ≥ 1; min(⌈16/α⌉, |X|) without it.
        room: None for the counts as they are; a whole number ≥ 0 moves them into [−room, n + room], which is
            post-processing and gives them finitely many values, so that the output has a law.
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
        """(ε, δ), Theorem 3.6 or 3.5 over three mechanisms a step."""
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
        """N: how many calls RecConcave makes on the whole of X."""
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
        """ε₀, of a count."""
        return Claim(self.part.epsilon)

    @property
    def scale(self) -> float:
        """1/ε₀, of the noise of a count, in records."""
        return 1 / self.part.epsilon

    def failure(self, records: int) -> float:
        """The bound on the probability that the synthetic data are not α/2-close, at least 1 where it says nothing."""
        M, tau = self.most_steps, self.tau(records)
        if records < 1 or min(math.ceil(16 / exactly(self.alpha)), self.size) > M:
            return 1.0
        y = tau / (sqrt(8) * self.scale)
        noise = 4 * exp(-min(y * y / (2 * M), y))
        return noise + M * self._step_fails(records)

    def _step_fails(self, records: int) -> float:
        """RecConcave does not find half of the promise that is there."""
        promised = self.end_finder(0, records).utility(0)
        found = 1 - promised[0].probability if promised else 1.0
        if self.calls == 1:
            found = min(found, self.size * exp(-self.part.epsilon / 24 * self.tau(records)))
        return found

    def least_records(self, beta: float) -> int:
        """The least n from which the failure is at most beta.

        Raises:
            ParameterError: beta outside (0, 1), or no n at all: fewer steps than the proof needs, or base > 32.
        """
        return least_records(self.failure, beta)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """α-close, and α/2-close as the proof has it, with the least β that so many records afford."""
        beta = self.failure(records)
        if beta >= 1:
            return ()
        place = "Definition 6.20, by the construction"
        goals = (CloseData(self.alpha), CloseData(exactly(self.alpha) / 2))
        return tuple(UtilityClaim(goal, all_but(beta), place) for goal in goals)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The least n for β = 0.05, where the construction promises anything."""
        try:
            records = self.least_records(BETA)
        except ParameterError:
            return ()
        return (
            SampleSize(
                records,
                f"4e^(−L) + M·(failure of RecConcave at r = αn/16) ≤ {BETA:g}, L = min(y²/(2M), y), y = ε₀αn/(8√8)",
                f"{float(self.alpha):.4g}-close for all thresholds with probability at least {1 - BETA:g}",
                "Theorem 6.23, by the construction",
            ),
        )

    def run(self, S: Any) -> Program:
        records = within(self.size, S)
        n = len(records)
        tau = self.tau(n)
        a, left = 0, n
        sums: list[tuple[int, int]] = []  # (x, noisy #S[0, x])
        for _ in range(self.most_steps):
            if a >= self.size or left <= 2 * tau:
                break
            b = a + (yield self.end_finder(a, n).on(records))
            if a < b:
                left -= yield self._noisy(between(records, a, b - 1), n)
                sums.append((b - 1, n - left))
            left -= yield self._noisy(between(records, b, b), n)
            sums.append((b, n - left))
            a = b + 1
        return synthetic(tuple(sums), n, self.size)

    def _noisy(self, count: int, n: int) -> Distribution:
        noisy = DiscreteLaplace(count, self.scale)
        if self.room is None:
            return noisy.spending(self.count_claim)
        return noisy.clip(-self.room, n + self.room).spending(self.count_claim)


def synthetic(sums: Sequence[tuple[int, int]], records: int, size: int) -> Multiset:
    """n records of which max{sums up to x, moved into [0, n]} are at most x, for every x that has a sum.

    Args:
        sums: (x, noisy number of records ≤ x), x ascending below `size`.
        records: n.
        size: the rest stands at size − 1.
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
    """The records, at least one, all of them whole numbers in 0, …, size − 1.

    Raises:
        DatasetError: they are not.
    """
    return _within(size, Multiset.of(S))


@lru_cache(maxsize=256)
def _within(size: int, records: Multiset) -> Multiset:
    outside = [x for x in records.values if isinstance(x, bool) or not isinstance(x, int) or not 0 <= x < size]
    if outside or not records.items:
        raise DatasetError(f"The records must be at least one, in 0, …, {size - 1}, not {outside[:1] or 'none'}.")
    return records


# --- cards: what is claimed where, and where the text here departs from the print ---

ReleaseThresholds.card = Card(
    name="ReleaseThresholds",
    system="H1",
    title="Query release for thresholds: synthetic data, piece by piece",
    paper=THESIS,
    place="§6.6.1, Theorem 6.23 (cited)",
    claim="(ε, δ)-DP under replace-one; α-close for all thresholds with probability 1 − β from a sample size on",
    inputs="n ≥ 1 records in {0, …, size − 1}; size = |X|, alpha, epsilon, delta of the whole; N, base, steps, "
    "room, a_dist",
    output="n synthetic records, a multiset",
    deviations=(
        "The thesis cites the mechanism and prints none: this one is ours, of RecConcave and noisy counts.",
        "The remainder is n less the released counts; it stops at 2τ, so that the promise τ/2 holds whenever it "
        "goes on.",
        "The noise is two-sided geometric in place of Laplace, so that counts are whole and need no rounding.",
        "The counts of all steps are of disjoint sets, of which a replaced record moves two: less than is claimed.",
        "An empty [a, b − 1] has no count. What is left at the end stands at max X.",
        'a_dist = "corrected" runs RecConcaveCorrected; "printed" RecConcave, whose claim is refuted for N = 3.',
        "The steps that RecConcave leaves open are read as on its card.",
    ),
    variants=("LearnRectangles", "ThresholdRelease", "RecConcaveCorrected"),
)
