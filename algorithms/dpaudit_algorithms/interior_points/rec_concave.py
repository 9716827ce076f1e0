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
    Draw,
    Given,
    Mechanism,
    ParameterError,
    Program,
    Quality,
    SampleSize,
    Scores,
    Span,
    StepScores,
    Symmetry,
    UtilityClaim,
    cached,
    ceil_log2,
    checks,
    exp,
    exp2,
    log,
    log2,
)
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.goals import BETA, PromiseKept, all_but

_PRINTED_BASE = 32


@dataclass(frozen=True)
class _RecConcave(Mechanism):
    """What both versions share: everything but A_dist."""

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

    @property
    def _unclear(self) -> float:
        """The least β at which the promise makes A_dist's gaps large enough, where that is a demand of its own."""
        return 0.0

    @property
    def _places(self) -> tuple[str, str]:
        return "§6.4, Lemma 6.13", "§6.4, Theorem 6.14(2)"

    @property
    def _formula(self) -> str:
        return "8^N·(4/(αε))·(log(32/(βδ)) + log^⌈N⌉(T))"

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 6.13 and Theorem 6.14(2), each with the least β that the promise r affords, whatever the records."""
        N, T = self.calls, max(1, self.T)
        if self.base > _PRINTED_BASE or self.alpha > 0.5 or self.promise <= 0:
            return ()
        # r ≥ 8^N·(4/(αε))·(log(32/(βδ)) + log^⌈N⌉(T)), with failure 2βN
        given = self.promise * self.alpha * self.epsilon / (1 << 3 * N)
        lemma = max(32 / self.delta * _half_to(given / 4 - rounded_logs(T, N)), self._unclear)
        # r ≥ 8^N·(36N/(αε))·(log(6N/(βδ)) + log … log T), where the theorem's ε and δ are 3N times those of a step
        theorem = max(2 / self.delta * _half_to(given / 12 - iterated_log(T, N)), 2 * N * self._unclear)
        goal = PromiseKept(self.quality, self.promise, self.alpha)
        failures = zip((2 * N * lemma, theorem), self._places, strict=True)
        return tuple(UtilityClaim(goal, all_but(failure), place) for failure, place in failures if failure < 1)

    def least_promise(self, beta: float) -> float:
        """The r from which Lemma 6.13 lets it fail with probability at most 2·beta·N.

        Raises:
            ParameterError: beta outside (0, 1).
        """
        checks.probability("beta", beta, open_ends=True)
        logs = log2(32 / (beta * self.delta)) + rounded_logs(max(1, self.T), self.calls)
        return (1 << 3 * self.calls) * 4 / (self.alpha * self.epsilon) * logs

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The promise r of Lemma 6.13 for a failure of 0.05; a quality that counts records needs as many records."""
        return (
            SampleSize(
                math.ceil(self.least_promise(BETA / (2 * self.calls))),
                f"{self._formula}, β = {BETA:g}/(2N)",
                f"Q ≥ (1 − α)·r with probability at least {1 - BETA:g}, where so much is promised: r",
                self._places[0],
            ),
        )

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """With one call, all those of the quality, as for the exponential mechanism.

        With more, only those that leave all scores as they are: families of intervals begin at 0, and A_dist prefers
        the earlier one, so that mirrored scores do not give the mirrored law.
        """
        found = self.quality.symmetries(domain)
        return found if self.calls == 1 else tuple(symmetry for symmetry in found if symmetry.output is None)

    def run(self, S: Any) -> Program | Draw:
        Q = self.quality(S)
        if Q.size != self.T + 1:
            raise DatasetError(f"The quality gives {Q.size} scores; the range [0, {self.T}] needs {self.T + 1}.")
        if Q.steps.starts[0] != 0 or Q.steps.stops[-1] != self.T + 1:
            raise DatasetError(f"The solutions that RecConcave scores are 0, …, {self.T}; give them these numbers.")
        if self.base >= self.T or self.N == 1:  # step 1
            return Q.softmax(self.epsilon / 2).spending(Claim(self.epsilon))
        return self._recurse(Q)

    def _recurse(self, Q: AnyScores) -> Program:
        lengths, families = _intervals(Q.steps, self.promise, self.alpha)  # steps 2–5, and 7, 8 for every K
        k = yield self.next_level.on(lengths)  # step 6
        a_family, b_family = families[k]
        A = yield self.a_dist.on(a_family)  # step 9
        B = yield self.a_dist.on(b_family)
        K = 1 << k
        chosen = Q.only(_union(A, B, K, self.T))
        if not chosen.size:
            return 0
        return chosen.softmax(self.epsilon / 2).spending(Claim(self.epsilon))  # step 10


@dataclass(frozen=True)
class RecConcave(_RecConcave):
    """RecConcave as printed, with A_dist as printed.

    Its privacy claim is refuted: see FINDINGS.md and `RecConcaveCorrected`.

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
class RecConcaveCorrected(_RecConcave):
    """RecConcave with `ADistCorrected` in step 9: then the proof of Lemma 6.11 holds as it is printed.

    Every interval's quality is 1-sensitive (Observation 6.10), so that each of the at most three mechanisms of a
    call is (ε, δ)-DP and N calls are (3Nε, 3Nδ)-DP by basic composition. (The last call uses one mechanism, so the
    calls really spend (3N − 2)·ε and (2N − 2)·δ.)

    Utility: the proof of Lemma 6.13 uses of A_dist that it finds a lead of (3/8)·α·r, at every level with its own α and
    r: r is α/2 of it one level down, and an eighth of that at every further one, where α is 1/4. With N ≥ 2 calls the
    least such lead is 3αr/8^{N − 1}, and `ADistCorrected` finds it where r ≥ (8^{N − 1}/(3α))·(2 + (2/ε)·ln(1/(βδ))).
    The printed r is at least that for ε ≤ 240 (the printed lead is ≥ (96/ε)·log(32/(βδ))); beyond, both are needed.

    Args:
        T, quality, promise, alpha, epsilon, delta, N, base: as in `RecConcave`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.4, algorithm RecConcave, with step 9 mended.
    """

    def least_promise(self, beta: float) -> float:
        """The r from which it fails with probability at most 2·beta·N: the printed one, or the one above if greater.

        Raises:
            ParameterError: beta outside (0, 1).
        """
        printed = super().least_promise(beta)
        if self.calls == 1:
            return printed
        clear = 2 + 2 / self.epsilon * log(1 / (beta * self.delta))
        return max(printed, (1 << 3 * (self.calls - 1)) / (3 * self.alpha) * clear)

    @property
    def _unclear(self) -> float:
        if self.calls == 1:
            return 0.0
        clear = 3 * self.alpha * self.promise / (1 << 3 * (self.calls - 1))
        return exp(min(700.0, -self.epsilon / 2 * (clear - 2))) / self.delta

    @property
    def _places(self) -> tuple[str, str]:
        return "§6.4, Lemma 6.13, mended", "§6.4, Theorem 6.14(2), mended"

    @property
    def _formula(self) -> str:
        return f"max({super()._formula}, (8^{{N−1}}/(3α))·(2 + (2/ε)·ln(1/(βδ))))"

    @property
    def a_dist(self) -> Mechanism:
        """A_dist with noise for a gap that moves by 2."""
        return ADistCorrected(self.epsilon, self.delta, Given())


def rounded_logs(T: int, times: int) -> int:
    """log^⌈N⌉(T): ⌈log₂ ·⌉ applied N times to T ≥ 1; 0 stays 0."""
    for _ in range(times):
        T = ceil_log2(max(1, T))
    return T


def iterated_log(T: float, times: int) -> float:
    """log₂ applied N times to T ≥ 1; it stops where there is no logarithm."""
    for _ in range(times):
        if T <= 0:
            break
        T = log2(T)
    return T


def _half_to(power: float) -> float:
    """2^−power, large but finite where that overflows."""
    return exp2(min(1000.0, -power))


@cached(maxsize=64)
def _intervals(Q: StepScores, r: float, alpha: float) -> tuple[Scores, tuple[tuple[StepScores, StepScores], ...]]:
    """Steps 2 to 5 and 8, in time and memory of log T times the number of pieces of Q.

    Returns:
        q(S, ·) on {0, …, log T′}, and for every K = 2^k the qualities u(S, ·) of the A_i and of the B_i.
    """
    log_T = ceil_log2(Q.size - 1)
    padded = Q.extended((1 << log_T) + 1, min(0.0, Q.values.tolist()[-1]))  # step 2
    # step 3: L(j), the best that an interval of length 2^j has throughout
    best = [-math.inf] * (log_T + 1)
    for score, length in _lengths_above(padded):
        j = length.bit_length() - 1
        best[j] = max(best[j], score)
    L = [*accumulate(reversed(best), max)][::-1]
    L.append(min(0.0, L[log_T]))
    q = [min(L[j] - (1 - alpha) * r, r - L[j + 1]) for j in range(log_T + 1)]  # step 4
    # steps 7, 8: maxima over aligned blocks of 4K; A_i joins blocks 2i and 2i + 1, B_i blocks 2i + 1 and 2i + 2
    blocks = padded.joined().joined()
    families = []
    for _ in range(log_T + 1):
        families.append((blocks.joined(), blocks.without_first().joined()))
        blocks = blocks.joined()
    return Scores(q), tuple(families)


def _lengths_above(Q: StepScores) -> list[tuple[float, int]]:
    """Scores h and lengths of intervals with no score below h: for every score of Q one that cannot be made longer.

    In time linear in the pieces: one that waits has not met a lower score on its right.
    """
    found: list[tuple[float, int]] = []
    waiting: list[tuple[int, float]] = []  # where its interval begins, and its score; scores ascend
    end = int(Q.stops[-1])
    for start, value in [*zip(Q.starts.tolist(), Q.values.tolist(), strict=True), (end, -math.inf)]:
        begin = start
        while waiting and waiting[-1][1] >= value:
            begin, score = waiting.pop()
            found.append((score, start - begin))
        waiting.append((begin, value))
    return found


def _union(A: Any, B: Any, K: int, T: int) -> list[Span]:
    """A ∪ B within [0, T], ascending: A_A = [8KA, 8KA + 8K), B_B = [8KB + 4K, 8KB + 12K)."""
    starts = sorted(8 * K * i + shift for i, shift in ((A, 0), (B, 4 * K)) if i is not BOTTOM)
    parts, reached = [], 0
    for start in starts:
        first, stop = max(start, reached), min(start + 8 * K, T + 1)
        if first < stop:
            parts.append(Span(first, stop))
        reached = start + 8 * K
    return parts


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
    "Utility is promised for base ≤ 32, for which the proof of Lemma 6.13 holds as it is. Its log is to base 2.",
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
)

RecConcaveCorrected.card = Card(
    name="RecConcaveCorrected",
    system="I3",
    title="RecConcave with the A_dist that replace-one asks for",
    paper=THESIS,
    place="§6.4, Lemma 6.11, mended",
    claim="(3Nε, 3Nδ)-DP under replace-one for a 1-sensitive Q, over N recursive calls",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, "Step 9 uses ADistCorrected: gaps move by 2 under replace-one."),
    variants=("RecConcave",),
)
