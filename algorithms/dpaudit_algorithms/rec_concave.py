"""RecConcave: approximately maximise a quasi-concave quality, by recursion on the lengths of good intervals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import (
    BOTTOM,
    THESIS,
    Card,
    Claim,
    DatasetError,
    Draw,
    Given,
    Mechanism,
    ParameterError,
    Program,
    Quality,
    Scores,
    Softmax,
    ceil_log2,
    checks,
)
from dpaudit_algorithms.a_dist import ADist, ADistCorrected

Floats: TypeAlias = NDArray[np.float64]

_INPUTS = "a dataset; T, a 1-sensitive quality with T + 1 real scores, the promise r, alpha, epsilon, delta, N; base"
_OUTPUT = "an index j in {0, …, T}, meant to have Q(S, j) ≥ (1 − α)·r"
_DIFFERS = (
    "The promise r is public: an argument that must not depend on the data.",
    "A family of intervals with one member: A_dist outputs it; with none (4K > T′ leaves no B_i): ⊥.",
    "⊥ from one A_dist: the other interval alone; from both: index 0.",
    "A_i and B_i divide the padded range [0, T′], as printed; step 10 keeps to [0, T], index 0 if nothing is left.",
    "The size 32 of the base case is a parameter; the privacy proof does not use it.",
    "N is the exact number of calls, counting the first, which T alone determines, or the bound N if that is less.",
)


@dataclass(frozen=True)
class _RecConcave(Mechanism):
    """What both versions share: everything but A_dist."""

    T: int
    quality: Quality
    promise: float
    alpha: float
    epsilon: float
    delta: float
    N: int | None = None
    base: int = 32

    def __post_init__(self) -> None:
        checks.whole("T", self.T, least=0)
        checks.number("promise", self.promise)
        checks.positive("alpha", self.alpha)
        checks.positive("epsilon", self.epsilon)
        checks.probability("delta", self.delta, open_ends=True)
        checks.whole("base", self.base, least=1)
        if self.N is not None:
            checks.whole("N", self.N, least=1)
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

    def run(self, S: Any) -> Program | Draw:
        Q = self.quality(S)
        if len(Q) != self.T + 1:
            raise DatasetError(f"The quality gives {len(Q)} scores; the range [0, {self.T}] needs {self.T + 1}.")
        if self.base >= self.T or self.N == 1:  # step 1
            return Softmax(Q.values, self.epsilon / 2).spending(Claim(self.epsilon))
        return self._recurse(Q)

    def _recurse(self, Q: Scores) -> Program:
        lengths, families = _intervals(Q, self.promise, self.alpha)  # steps 2–5, and 7, 8 for every K
        k = yield self.next_level.on(lengths)  # step 6
        a_family, b_family = families[k]
        A = yield self.a_dist.on(a_family)  # step 9
        B = yield self.a_dist.on(b_family)
        K = 1 << k
        chosen = _union(A, B, K, self.T)
        if not len(chosen):
            return 0
        return Softmax(Q.values[chosen], self.epsilon / 2, chosen).spending(Claim(self.epsilon))  # step 10


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

    card: ClassVar[Card] = Card(
        name="RecConcave",
        system="I3",
        title="RecConcave: quasi-concave promise problems by recursion on interval lengths",
        paper=THESIS,
        place="§6.4, Lemma 6.11",
        claim="(3Nε, 3Nδ)-DP under replace-one for a 1-sensitive Q, over N recursive calls",
        inputs=_INPUTS,
        output=_OUTPUT,
        differs=(*_DIFFERS, "A_dist's log(1/δ) is read to base 2 (log_base = 2)."),
        variants=("RecConcaveCorrected",),
    )

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

    Args:
        T, quality, promise, alpha, epsilon, delta, N, base: as in `RecConcave`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.4, algorithm RecConcave, with step 9 mended.
    """

    card: ClassVar[Card] = Card(
        name="RecConcaveCorrected",
        system="I3",
        title="RecConcave with the A_dist that replace-one asks for",
        paper=THESIS,
        place="§6.4, Lemma 6.11, mended",
        claim="(3Nε, 3Nδ)-DP under replace-one for a 1-sensitive Q, over N recursive calls",
        inputs=_INPUTS,
        output=_OUTPUT,
        differs=(*_DIFFERS, "Step 9 uses ADistCorrected: gaps move by 2 under replace-one."),
        variants=("RecConcave",),
    )

    @property
    def a_dist(self) -> Mechanism:
        """A_dist with noise for a gap that moves by 2."""
        return ADistCorrected(self.epsilon, self.delta, Given())


@lru_cache(maxsize=64)
def _intervals(Q: Scores, r: float, alpha: float) -> tuple[Scores, tuple[tuple[Scores, Scores], ...]]:
    """Steps 2 to 5 and 8, in time and memory O(T) but for a factor log T in the time of L.

    Returns:
        q(S, ·) on {0, …, log T′}, and for every K = 2^k the qualities u(S, ·) of the A_i and of the B_i.
    """
    values, T = Q.values, len(Q) - 1
    log_T = ceil_log2(T)
    padded = np.full((1 << log_T) + 1, min(0.0, values[T]))  # step 2
    padded[: T + 1] = values
    # step 3: minima over all windows of length 2^j from those of length 2^(j−1)
    window, L = padded.copy(), [float(padded.max())]
    for j in range(1, log_T + 1):
        half = 1 << (j - 1)
        window = np.minimum(window[:-half], window[half:])
        L.append(float(window.max()))
    L.append(min(0.0, L[log_T]))
    q = [min(L[j] - (1 - alpha) * r, r - L[j + 1]) for j in range(log_T + 1)]  # step 4
    # steps 7, 8: maxima over aligned blocks of 4K; A_i joins blocks 2i and 2i + 1, B_i blocks 2i + 1 and 2i + 2
    blocks = _joined(_joined(padded))
    families = []
    for _ in range(log_T + 1):
        families.append((Scores(_joined(blocks)), Scores(_joined(blocks[1:]))))
        blocks = _joined(blocks)
    return Scores(q), tuple(families)


def _joined(blocks: Floats) -> Floats:
    """Maxima of neighbours 2i, 2i + 1; an odd last one stays alone."""
    pairs = np.maximum(blocks[: len(blocks) // 2 * 2 : 2], blocks[1::2])
    return np.append(pairs, blocks[-1]) if len(blocks) % 2 else pairs


@lru_cache(maxsize=256)
def _union(A: Any, B: Any, K: int, T: int) -> NDArray[np.int64]:
    """A ∪ B within [0, T], ascending: A_A = [8KA, 8KA + 8K), B_B = [8KB + 4K, 8KB + 12K)."""
    starts = sorted(8 * K * i + shift for i, shift in ((A, 0), (B, 4 * K)) if i is not BOTTOM)
    parts, reached = [], 0
    for start in starts:
        parts.append(np.arange(max(start, reached), min(start + 8 * K, T + 1)))
        reached = start + 8 * K
    union: NDArray[np.int64] = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    union.flags.writeable = False
    return union
