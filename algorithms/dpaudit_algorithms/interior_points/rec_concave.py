"""RecConcave: approximately maximise a quasi-concave quality, by recursion on the lengths of good intervals."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Self

from dpaudit.language import (
    BOTTOM,
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    Given,
    IntegerRange,
    Mechanism,
    ParameterError,
    Program,
    Quality,
    Scores,
    StepScores,
    Symmetry,
    cached,
    ceil_log2,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.interior_points.rec_concave_theory import RecConcaveCorrectedTheory, RecConcaveTheory


@dataclass(frozen=True)
class _RecConcave(RecConcaveTheory):
    """The common part of both versions: everything but A_dist."""

    T: checks.Natural
    quality: Quality
    promise: checks.Number
    alpha: checks.Positive
    epsilon: checks.Positive
    delta: checks.OpenUnit
    N: checks.Count | None = None
    base: checks.Count = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quality.sensitivity > 1:
            raise ParameterError(f"RecConcave needs a quality of sensitivity 1, not {self.quality.sensitivity!r}.")

    @property
    def claim(self) -> Claim:
        """(3Nε, 3Nδ), Lemma 6.11."""
        return Claim(self.epsilon, self.delta).scaled(3 * self.calls)

    @property
    def calls(self) -> int:
        """N: how many calls there are, the first one counted; at most the bound."""
        T, calls = self.T, 1
        while self.base < T and calls != self.N:
            T, calls = ceil_log2(T), calls + 1
        return calls

    @property
    @abstractmethod
    def a_dist(self) -> Mechanism:
        """The mechanism of step 9, on scores."""

    @property
    def next_level(self) -> Self:
        """The recursive call of step 6: the range {0, …, log(T′)}, promise R = (α/2)·r (step 5), α = 1/4."""
        return replace(
            self,
            T=ceil_log2(self.T),
            quality=Given(),
            promise=self.alpha / 2 * self.promise,
            alpha=0.25,
            N=None if self.N is None else self.N - 1,
        )

    def run(self, S: Any) -> Program:
        Q = self.quality(S)
        _check_range(Q, self.T)
        # 1. T ≤ 32 or N = 1: the exponential mechanism
        if self.base >= self.T or self.N == 1:
            return Q.softmax(self.epsilon / 2).spending(Claim(self.epsilon))
        # 2. Q(S, i) = min{0, Q(S, T)} for T < i ≤ T′
        padded = _padded(Q.steps)
        # 3, 4. L(S, j), and q(S, j) = min(L(S, j) − (1 − α)r, r − L(S, j + 1)), for 0 ≤ j ≤ log T′
        q = _lengths(padded, self.promise, self.alpha)
        # 5, 6. k ← RecConcave on {0, …, log T′} with q, the promise R = (α/2)·r, and 1/4
        k = yield self.next_level.on(q)
        K = 1 << k
        # 7, 8. u(S, I) = max Q(S, i) over i ∈ I, for the A_i and for the B_i, of length 8K
        u_A, u_B = _families(padded)[k]
        # 9. A_dist twice
        A = yield self.a_dist.on(u_A)
        B = yield self.a_dist.on(u_B)
        # 10. the exponential mechanism on A ∪ B
        chosen = Q.only(_union(A, B, K, self.T))
        return chosen.softmax(self.epsilon / 2).spending(Claim(self.epsilon)) if chosen.size else 0

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """With one call, all those of the quality, as for the exponential mechanism.

        With more, only those that leave all scores as they are: families of intervals begin at 0, and A_dist prefers
        the earlier one, so mirrored scores do not give the mirrored distribution.
        """
        symmetries = self.quality.symmetries(domain)
        return symmetries if self.calls == 1 else tuple(symmetry for symmetry in symmetries if symmetry.output is None)


@dataclass(frozen=True)
class RecConcave(_RecConcave):
    """RecConcave as printed, with A_dist as printed.

    Its privacy claim is refuted: see finding 3 and `RecConcaveCorrected`.

    Args:
        T: the solutions are 0, …, T; ≥ 0.
        quality: Q: X* × [0, T] → ℝ of sensitivity 1; `Given()` takes the scores as the dataset.
        promise: r, with max Q(S, ·) ≥ r; public.
        alpha: approximation parameter, > 0; Lemma 6.13 asks for ≤ 1/2.
        epsilon: of every private step, > 0.
        delta: of every private step, in (0, 1).
        N: bound on the number of calls, ≥ 1; none without it.
        base: T up to which the exponential mechanism is used, ≥ 1.
        log_base: of A_dist's threshold, see `ADist`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.4, algorithm RecConcave, Lemmas 6.11 and 6.13.
    """

    log_base: float = 2.0

    @property
    def a_dist(self) -> Mechanism:
        """A_dist as printed."""
        return ADist(self.epsilon, self.delta, Given(), self.log_base)


@dataclass(frozen=True)
class RecConcaveCorrected(RecConcaveCorrectedTheory, _RecConcave):
    """RecConcave with `ADistCorrected` in step 9: then the proof of Lemma 6.11 holds as it is printed.

    Every interval's quality is 1-sensitive (Observation 6.10), so that each of the at most three mechanisms of a
    call is (ε, δ)-DP and N calls are (3Nε, 3Nδ)-DP by basic composition. (The last call uses one mechanism, and
    `ADistCorrected` is (ε, δ/2)-DP, so the calls really cost (3N − 2)·ε and (N − 1)·δ.)

    Utility: the proof of Lemma 6.13 uses of A_dist that it finds a lead of (3/8)·α·r, at every level with its own α and
    r: r is α/2 of it one level down, and an eighth of that at every further one, where α is 1/4. With N ≥ 2 calls the
    least such lead is 3αr/8^{N − 1}, and `ADistCorrected` finds it where r ≥ (8^{N − 1}/(3α))·(2 + (2/ε)·ln(1/(βδ))).
    The printed r is at least that for ε ≤ 240 (the printed lead is ≥ (96/ε)·log(32/(βδ))); beyond, both are needed.

    Args:
        T, quality, promise, alpha, epsilon, delta, N, base: as in `RecConcave`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.4, algorithm RecConcave, with step 9 corrected.
    """

    @property
    def a_dist(self) -> Mechanism:
        """A_dist with noise for a gap that moves by 2."""
        return ADistCorrected(self.epsilon, self.delta, Given())


def _as_printed(
    Q: Sequence[float], r: float, alpha: float
) -> tuple[list[float], list[tuple[list[float], list[float]]]]:
    """Steps 2 to 4, 7 and 8 as printed, score by score; `_padded`, `_lengths` and `_families` do them in pieces.

    Args:
        Q: Q(S, 0), …, Q(S, T), T ≥ 1.

    Returns:
        q(S, ·) on {0, …, log T′}, and for every K = 2^k the qualities u(S, ·) of the A_i and of the B_i.
    """
    T, log_T = len(Q) - 1, ceil_log2(len(Q) - 1)
    Q = [*Q, *[min(0.0, Q[T])] * (2**log_T - T)]  # 2
    L = [max(min(Q[a : a + 2**j]) for a in range(len(Q) - 2**j + 1)) for j in range(log_T + 1)]  # 3
    L.append(min(0.0, L[log_T]))
    q = [min(L[j] - (1 - alpha) * r, r - L[j + 1]) for j in range(log_T + 1)]  # 4
    families = []
    for K in (2**k for k in range(log_T + 1)):
        A, B = ([Q[a : a + 8 * K] for a in range(first, len(Q), 8 * K)] for first in (0, 4 * K))  # 7
        families.append(([*map(max, A)], [*map(max, B)]))  # 8
    return q, families


@cached(maxsize=64)
def _padded(Q: StepScores) -> StepScores:
    """Step 2: Q on [0, T′]."""
    return Q.extended((1 << ceil_log2(Q.size - 1)) + 1, min(0.0, Q.values.tolist()[-1]))


@cached(maxsize=64)
def _lengths(Q: StepScores, r: float, alpha: float) -> Scores:
    """Steps 3 and 4: q(S, ·) on {0, …, log T′}, in time and memory of the pieces of Q."""
    log_T = ceil_log2(Q.size - 1)
    # L(j), the best that an interval of length 2^j has throughout
    best = [-math.inf] * (log_T + 1)
    for score, length in _lengths_above(Q):
        j = length.bit_length() - 1
        best[j] = max(best[j], score)
    L = [*accumulate(reversed(best), max)][::-1]
    L.append(min(0.0, L[log_T]))
    return Scores([min(L[j] - (1 - alpha) * r, r - L[j + 1]) for j in range(log_T + 1)])


@cached(maxsize=64)
def _families(Q: StepScores) -> tuple[tuple[StepScores, StepScores], ...]:
    """Steps 7 and 8: for every K = 2^k the qualities u(S, ·) of the A_i and of the B_i, in log T times the pieces."""
    # maxima over aligned blocks of 4K; A_i joins blocks 2i and 2i + 1, B_i blocks 2i + 1 and 2i + 2
    blocks, families = Q.joined().joined(), []
    for _ in range(ceil_log2(Q.size - 1) + 1):
        families.append((blocks.joined(), blocks.without_first().joined()))
        blocks = blocks.joined()
    return tuple(families)


def _lengths_above(Q: StepScores) -> list[tuple[float, int]]:
    """Scores h and lengths of intervals with no score below h: for every score of Q one that cannot be made longer.

    In time linear in the pieces: one that waits has not met a lower score on its right.
    """
    lengths: list[tuple[float, int]] = []
    waiting: list[tuple[int, float]] = []  # where its interval begins, and its score; scores ascend
    end = int(Q.stops[-1])
    for start, value in [*zip(Q.starts.tolist(), Q.values.tolist(), strict=True), (end, -math.inf)]:
        begin = start
        while waiting and waiting[-1][1] >= value:
            begin, score = waiting.pop()
            lengths.append((score, start - begin))
        waiting.append((begin, value))
    return lengths


def _union(A: Any, B: Any, K: int, T: int) -> list[IntegerRange]:
    """A ∪ B within [0, T], ascending: A_A = [8KA, 8KA + 8K), B_B = [8KB + 4K, 8KB + 12K)."""
    starts = sorted(8 * K * i + shift for i, shift in ((A, 0), (B, 4 * K)) if i is not BOTTOM)
    parts, reached = [], 0
    for start in starts:
        first, stop = max(start, reached), min(start + 8 * K, T + 1)
        if first < stop:
            parts.append(IntegerRange(first, stop))
        reached = start + 8 * K
    return parts


def _check_range(Q: AnyScores, T: int) -> None:
    if Q.size != T + 1:
        raise DatasetError(f"The quality gives {Q.size} scores; the range [0, {T}] needs {T + 1}.")
    if Q.steps.starts[0] != 0 or Q.steps.stops[-1] != T + 1:
        raise DatasetError(f"The solutions that RecConcave scores are 0, …, {T}; give them these numbers.")


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "a dataset; T, a 1-sensitive quality with T + 1 real scores, the promise r, alpha, epsilon, delta, N; base"
_OUTPUT = "an index j in {0, …, T}, meant to have Q(S, j) ≥ (1 − α)·r"
_DEVIATIONS = (
    "The promise r is public: an argument that must not depend on the data.",
    "A family of intervals with one member: A_dist outputs it; with none (4K > T′ leaves no B_i): ⊥.",
    "⊥ from one A_dist: the other interval alone; from both: index 0.",
    "A_i and B_i divide the padded range [0, T′], as printed; step 10 keeps to [0, T], index 0 if nothing is left.",
    "The size 32 of the base case is a parameter; the privacy proof does not use it.",
    "N is the exact number of calls, counting the first, which T alone determines, or the bound N if that is less; so "
    "that N ≤ log*T, beyond which the printed log^⌈N⌉(T) does not exist.",
    "The utility guarantee is for base ≤ 32, for which the proof of Lemma 6.13 holds as it is. Its log is to base 2.",
)

RecConcave.card = Card(
    name="RecConcave",
    system="I3",
    title="RecConcave: quasi-concave promise problems by recursion on interval lengths",
    paper=THESIS,
    place="§6.4, Lemma 6.11",
    claim="(3Nε, 3Nδ)-DP under replace-one for a 1-sensitive Q, over N recursive calls",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, "A_dist's log(1/δ) is read to base 2 (log_base = 2)."),
    variants=("RecConcaveCorrected",),
    findings=(FINDINGS[3],),
)

RecConcaveCorrected.card = Card(
    name="RecConcaveCorrected",
    system="I3",
    title="RecConcave with the A_dist that replace-one asks for",
    paper=THESIS,
    place="§6.4, Lemma 6.11, corrected",
    claim="(3Nε, 3Nδ)-DP under replace-one for a 1-sensitive Q, over N recursive calls",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, "Step 9 uses ADistCorrected: gaps move by 2 under replace-one."),
    variants=("RecConcave",),
)
