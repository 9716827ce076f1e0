"""Private multiplicative weights: answers from a synthetic distribution, updated when NumericSparse finds an error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from numpy.random import Generator

from dpaudit.language import (
    BOTTOM,
    DWORK_ROTH,
    Applied,
    Card,
    Claim,
    DatasetError,
    Laplace,
    Multiset,
    ParameterError,
    Program,
    cached,
    checks,
    exp,
    fsum,
    log,
    sqrt,
    to_float,
)
from dpaudit_algorithms.generalization.interaction import Analyst, Answering, Predicate, Share
from dpaudit_algorithms.generalization.multiplicative_weights_theory import MultiplicativeWeightsTheory
from dpaudit_algorithms.generalization.numeric_sparse import SparseNoise
from dpaudit_algorithms.generalization.numeric_sparse_theory import ROOT_512

Weights: TypeAlias = tuple[float, ...]
"""x^t, one weight for every point, in order."""
Points: TypeAlias = tuple[Any, ...] | range


def mw(x: Weights, f: tuple[int, ...], v: float, eta: float) -> Weights:
    """x^{t+1} for an answer v: points with f = 1 lose a factor e^{−η} if v < f(x^t), otherwise points with f = 0.

    Source: Dwork and Roth, section 4.2.1, Algorithm 5.
    """
    lost = 1 if v < mean(f, x) else 0
    moved = [weight * exp(-eta) if inside == lost else weight for weight, inside in zip(x, f, strict=True)]
    total = fsum(moved)
    return tuple(weight / total for weight in moved)


@dataclass(frozen=True)
class PrivateMultiplicativeWeights(MultiplicativeWeightsTheory):
    """Answers f(x^t) while the synthetic x^t is near f(S); otherwise, by NumericSparse, answers from S and updates x^t.

    Only NumericSparse reads the data, with queries f − f(x^t) and f(x^t) − f of sensitivity 1/n. So the privacy is that
    of `NumericSparse` with noise scaled by 1/n. x^t, and hence the next query, follows from the transcript: an answer
    is f(x^t) itself, or a real number that differs from it almost surely.

    Utility: with η = α/2 an update in the right direction at a query with |f(S) − f(x^t)| ≥ α lowers
    KL(S ‖ x^t) ≤ ln|X| by at least α²/4 (Theorem 4.10), so c = ⌈4·ln|X|/α²⌉ updates are never used up. In rounds with
    ⊥ the error is at most T plus NumericSparse's α_N, and T = 2·α_N, so 3α is guaranteed if α ≥ α_N. As printed,
    Theorem 4.14 requires only α ≥ (8/9)·α_N: it has 32, but its c and T give 36. Its guarantee still holds at 32: with
    T = 2.25α, an error above 3α in a round with ⊥ needs noise Lap(σ) + Lap(2σ) above 0.75α, where 2σ = (9/16)·α/Λ and
    Λ = ln(8ck/β). Its probability is at most (2/3)·e^{−(4/3)Λ} in each of 2k comparisons.

    Args:
        epsilon: > 0, for the whole conversation.
        delta: in [0, 1).
        alpha: in (0, 1); sets η = α/2, and the printed c and T.
        points: X, distinct, |X| ≥ 2; a tuple, or a range.
        records: n ≥ 1, the size of the dataset.
        analyst: the analyst; |Q| = k is the number of its rounds.
        beta: in (0, 1); for T and the utility claim.
        c: number of updates; None for ⌈4·ln|X|/α²⌉. Privacy holds for any.
        threshold: T; None for the printed one. Privacy holds for any.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth, section 4.2.2, Algorithm 6, Theorems 4.10, 4.13, 4.14 and 4.15; Stemmer's thesis,
    Corollary 4.12.
    """

    epsilon: checks.Positive
    delta: checks.Probability
    alpha: checks.OpenUnit
    points: Points
    records: checks.Count
    analyst: Analyst
    beta: checks.OpenUnit = 0.05
    c: checks.Count | None = None
    threshold: checks.Number | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        distinct = isinstance(self.points, range) or len(set(self.points)) == len(self.points)
        if len(self.points) < 2 or not distinct:
            raise ParameterError("points must be distinct, and at least two.")
        _ = self.noise

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 4.13."""
        return Claim(self.epsilon, self.delta)

    @property
    def updates(self) -> int:
        """c = 4·ln|X|/α², rounded up."""
        return math.ceil(4 * log(len(self.points)) / self.alpha**2) if self.c is None else self.c

    @cached_property
    def noise(self) -> SparseNoise:
        """NumericSparse's scales for shares of n records."""
        return SparseNoise(self.epsilon, self.delta, self.updates, unit=1 / self.records)

    @cached_property
    def T(self) -> float:
        """18c(ln 2k + ln(4c/β))/(εn), and with δ > 0 (2 + 32√2)·√(c·ln(2/δ))·(ln 2k + ln(4c/β))/(εn)."""
        if self.threshold is not None:
            return self.threshold
        c = self.updates
        logs = log(2 * self.analyst.rounds) + log(4 * c / self.beta)
        if not self.delta:
            return 18 * c * logs / (self.epsilon * self.records)
        root = sqrt(c * log(2 / self.delta))
        return 2 * (1 + ROOT_512) * root * logs / (self.epsilon * self.records)

    def begin(self, S: Any) -> Program:
        noisy = self.T + (yield Laplace(0, self.noise.threshold))  # initialise NumericSparse, with T̂_0
        return (uniform(self.points), noisy, 0)  # t ← 0, x^0 uniform

    def answer(self, S: Any, state: Any, query: Predicate) -> Answering:
        x, noisy, count = state
        noise, f = self.noise, values(query, self.points)
        if count >= self.updates:  # NumericSparse has halted
            return BOTTOM, state
        here, (there,) = mean(f, x), Share(query, self.records, self.points)(S)  # f_i(x^t), f_i(S)
        said: list[float | None] = [None, None]  # a'_{2i−1}, a'_{2i}, None for ⊥
        # f'_{2i−1} = f_i − f_i(x^t), f'_{2i} = f_i(x^t) − f_i
        for which, gap in enumerate((there - here, here - there)):
            if count < self.updates and (yield Laplace(gap, noise.compared) >= noisy):
                said[which] = yield Laplace(gap, noise.released)
                count += 1
                noisy = self.T + (yield Laplace(0, noise.threshold))
        first, second = said
        if first is not None:
            a = here + first  # a_i = f_i(x^t) + a'_{2i−1}
        elif second is not None:
            a = here - second  # a_i = f_i(x^t) − a'_{2i}
        else:
            return here, (x, noisy, count)  # both are ⊥: a_i = f_i(x^t)
        return a, (mw(x, f, a, self.alpha / 2), noisy, count)  # x^{t+1} = MW(x^t, f_i, a_i), t ← t + 1

    def _held(self, S: Any) -> Multiset:
        held = Multiset.of(S)
        if len(held) != self.records:
            raise DatasetError(f"The noise is for {self.records:,} records, and the dataset has {len(held):,}.")
        if not set(held.values) <= set(self.points):
            raise DatasetError("Every record must be one of the points.")
        return held

    def bulk(self, S: Any, size: int, rng: Generator) -> Any:
        held, drawn = self._held(S), self.analyst.coins()
        if drawn is None:
            return self._conversations(held, None, size, rng)
        if isinstance(drawn, Applied):
            raise ParameterError("In bulk runs an analyst must draw its coins from a distribution.")
        transcripts: list[Any] = []
        for coins, times in drawn.grouped(rng, size):
            transcripts += [(coins, answers) for answers in self._conversations(held, coins, times, rng)]
        return transcripts

    def _conversations(self, held: Multiset, coins: Any, size: int, rng: Generator) -> list[tuple[Any, ...]]:
        """Transcripts with the same coins: they are equal until their first updates, then simulated one by one."""
        x, transcripts, said = uniform(self.points), list[tuple[Any, ...]](), tuple[Any, ...]()
        noisy = self.T + rng.laplace(0, self.noise.threshold, size)
        while len(noisy) and len(said) < self.analyst.rounds:
            query = self.analyst.query(coins, said)
            if query is None:
                break
            here = mean(values(query, self.points), x)
            gap = shared(query, held) - here
            nu = rng.laplace(0, self.noise.compared, (2, len(noisy)))
            first = gap + nu[0] >= noisy
            second = ~first & (nu[1] - gap >= noisy)
            for known, rows in (((True,), first), ((False, True), second)):
                transcripts += [self._alone(held, coins, said, T, known, rng) for T in noisy[rows].tolist()]
            noisy = noisy[~(first | second)]
            said = (*said, here)
        return transcripts + [said] * len(noisy)

    def _alone(
        self, held: Multiset, coins: Any, said: tuple[Any, ...], noisy: float, known: tuple[bool, ...], rng: Generator
    ) -> tuple[Any, ...]:
        """A transcript from its first update on; `known` gives the results of the next comparisons with T̂ = `noisy`."""
        noise, x, count = self.noise, uniform(self.points), 0
        while len(said) < self.analyst.rounds and (query := self.analyst.query(coins, said)) is not None:
            if count >= self.updates:
                return (*said, BOTTOM)
            f = values(query, self.points)
            here, a = mean(f, x), None
            for sign in (1, -1):
                gap = sign * (shared(query, held) - here)
                if count >= self.updates:
                    above = False
                elif known:
                    above, known = known[0], known[1:]
                else:
                    above = gap + rng.laplace(0, noise.compared) >= noisy
                if above:
                    released = here + sign * (gap + rng.laplace(0, noise.released))
                    a = released if a is None else a
                    count += 1
                    noisy = self.T + rng.laplace(0, noise.threshold)
            if a is not None:
                x = mw(x, f, a, self.alpha / 2)
            said = (*said, here if a is None else a)
        return said


def mean(f: tuple[int, ...], x: Weights) -> float:
    """f(x^t), the weight of the points with f = 1."""
    return fsum(weight for weight, inside in zip(x, f, strict=True) if inside)


def uniform(points: Points) -> Weights:
    """x^0."""
    return (1 / len(points),) * len(points)


@lru_cache(maxsize=4096)
def values(query: Predicate, points: Points) -> tuple[int, ...]:
    """f(x) for every point, in order."""
    return tuple(query(x) for x in points)


@cached(maxsize=4096)
def shared(query: Predicate, held: Multiset) -> float:
    """f(S)."""
    return to_float(query.share(held))


# --- cards: claims, sources and deviations from the papers ---

PrivateMultiplicativeWeights.card = Card(
    name="PrivateMultiplicativeWeights",
    system="G4",
    title="Private multiplicative weights, online, by NumericSparse",
    paper=DWORK_ROTH,
    place="§4.2, Algorithms 5 and 6, Theorems 4.10, 4.13, 4.14 and 4.15; thesis, Corollary 4.12",
    claim="(ε, δ)-DP under replace-one over k adaptively chosen queries",
    inputs="n records of X; epsilon > 0, 0 ≤ delta < 1, 0 < alpha < 1, X finite, n ≥ 1 (public), an analyst, "
    "beta; c updates and the threshold, as printed without them",
    output="the transcript: at most k real numbers, ⊥ when c updates are used up, with the analyst's coins before "
    "them if there are any",
    deviations=(
        "Corollary 4.12 of the thesis cites Hardt and Rothblum, whose n is only an O(·); this is the algorithm of "
        "Dwork and Roth's book, whose n has constants.",
        "The book's theorems and proofs were read in a translation. Its pictures of Algorithms 5 and 6 are the book's "
        "own text, which the lines here follow.",
        "n is public: a dataset of another size is rejected, and the neighbour relation is replace-one. The noise of "
        "NumericSparse, for sensitivity 1, is divided by n, and so is T.",
        "Logs are natural, as the proof of Theorem 4.10 needs. c, the number of updates paid for, is rounded up.",
        "T has log k if δ > 0 and log 2|Q| if δ = 0; both are read as the number of NumericSparse's queries, 2k.",
        "Both queries of a round are asked even if the first is above, so one round may use two of the c updates; if "
        "the first reaches c, the second is not asked. After c the answer is ⊥, which ends the conversation.",
    ),
    variants=("NumericSparse",),
)
