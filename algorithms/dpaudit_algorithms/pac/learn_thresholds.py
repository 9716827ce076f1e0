"""LearnThresholds: a proper learner for thresholds, by RecConcave on the number of consistent examples."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Annotated, Any

import numpy as np

from dpaudit.language import (
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    Draw,
    Mechanism,
    Multiset,
    ParameterError,
    Quality,
    Realised,
    StepScores,
    Symmetry,
    checks,
    exchanges,
    log_star,
    step_scores,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.pac.learn_thresholds_theory import LearnThresholdsCorrectedTheory, LearnThresholdsTheory

MOST_STEPS = 40
"""Steps of scores of which the replaced example is looked for at every two."""


@dataclass(frozen=True)
class Consistency(Quality):
    """Q(S, j) = |{i : c_j(x_i) = y_i}| with c_j(x) = 1 iff x ≤ j, for j in {0, …, size − 1}: 1-sensitive."""

    size: int

    @property
    def n_solutions(self) -> int:
        return self.size

    def __call__(self, dataset: Any) -> AnyScores:
        return _consistent(self.size, Multiset.of(dataset))

    def realised(self, left: AnyScores, right: AnyScores, records: int | None = None) -> Realised | None:
        """Whole scores v₀, v₁, … of which one replaced example makes the others.

        From one piece to the next the score grows by the number of examples (start, 1) there, or falls by that of
        (start, 0), which c_j with j < start labelled rightly; examples (0, 1) count for every j, and (0, 0) for none.
        So all whole scores are those of n examples where v₀ ≥ Σ falls and n ≥ v₀ + Σ rises. The two datasets share
        all but one example, whose scores, 0 or 1, have one step.
        """
        replacements = [
            (shared, old, new)
            for old in _examples(left, right)
            for new in _examples(left, right)
            if (shared := _without(left, right, self.size, old, new)) is not None
        ]
        if not replacements:
            return None
        shared, old, new = min(replacements, key=lambda one: len(one[0]))
        if records is not None:
            if records <= len(shared):
                return None
            shared = shared.changed(add=((0, 0),) * (records - 1 - len(shared)))
        return shared.changed(add=(old,)), shared.changed(add=(new,))

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """(x, y) → (m − x, 1 − y) for x ≥ 1 with j → m − 1 − j, where m = size; examples (0, y) stay.

        c_{m−1−j}(m − x) = 1 iff m − x ≤ m − 1 − j iff x > j iff c_j(x) = 0, and x = 0 has the label 1 from every c_j.
        """
        m = self.size
        return (Symmetry("reflection", _Mirrored(m), lambda j: m - 1 - j, ()),)


@dataclass(frozen=True)
class _Mirrored:
    """(x, y) → (size − x, 1 − y) for x ≥ 1."""

    size: int

    def __call__(self, example: tuple[int, int]) -> tuple[int, int]:
        x, y = example
        return (self.size - x, 1 - y) if x else example


@dataclass(frozen=True)
class _LearnThresholds(LearnThresholdsTheory):
    """The common part of both versions: everything but which RecConcave they use."""

    size: Annotated[int, checks.least(2)] = 2**16
    alpha: checks.Unit = 0.1
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6
    N: checks.Count | None = None
    base: checks.Count = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.N is not None and log_star(self.size) < self.N:
            raise ParameterError(f"Theorem 6.17 needs N ≤ log*|X| = {log_star(self.size)}, not {self.N}.")

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 6.17."""
        return Claim(self.epsilon, self.delta)

    @property
    def depth(self) -> int:
        """N, log*|X| without a choice."""
        return log_star(self.size) if self.N is None else self.N

    @abstractmethod
    def rec_concave(self, promise: float, alpha: float, epsilon: float, delta: float) -> Mechanism:
        """The mechanism of step 3, for the consistency."""

    def run(self, S: Any) -> Draw:
        # 1. α̂ = α/2, ε̂ = ε/(3N), δ̂ = δ/(3N)
        alpha, epsilon, delta = self.alpha / 2, self.epsilon / (3 * self.depth), self.delta / (3 * self.depth)
        # 2. Q(S, j) = |{i : c_j(x_i) = y_i}|, which is `Consistency`
        # 3, 4. k ← RecConcave on {0, …, |X| − 1} with Q and the promise n
        return self.rec_concave(float(len(S)), alpha, epsilon, delta).on(S)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """None but where RecConcave makes one call, which is the exponential mechanism on the consistency.

        Then that has the consistency's reflection; and an example (0, y) adds the same to all scores, whatever y,
        which the exponential mechanism does not see. With more calls the promise would tell: it is the number of
        examples, and not of those that some c_j may label.
        """
        if self.size - 1 > self.base and self.depth > 1:
            return ()
        at_0 = [record for record in domain if record[0] == 0]
        return (*Consistency(self.size).symmetries(domain), *exchanges("exchange of labels at 0", at_0))


@dataclass(frozen=True)
class LearnThresholds(_LearnThresholds):
    """LearnThresholds as printed, with RecConcave as printed.

    Its privacy claim is refuted: in ε with N = 3, at ε = 1, δ = 1e-6 and |X| = 2^33 + 1, so at ε̂ = ε/(3N) = 1/9; and in
    δ with two calls where 1 − (1 − π)² > 6δ̂, π = ½·e^{2ε̂}·δ̂^{1.4427}, so at large ε̂. With one call it holds, and in ε
    it does with N = log*|X| for |X| ≤ 2^64. Its printed sample size goes to 0 as ε grows. See findings 4 and 8 and
    `LearnThresholdsCorrected`.

    Args:
        size: |X| ≥ 2.
        alpha: error, in (0, 1].
        epsilon: of the whole, > 0.
        delta: of the whole, in (0, 1).
        N: bound on RecConcave's calls, 1 ≤ N ≤ log*|X|; log*|X| without it.
        base: as in `RecConcave`.
        log_base: as in `RecConcave`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.5, algorithm LearnThresholds and Theorem 6.17.
    """

    log_base: float = 2.0

    def rec_concave(self, promise: float, alpha: float, epsilon: float, delta: float) -> Mechanism:
        """RecConcave as printed."""
        return RecConcave(
            self.size - 1, Consistency(self.size), promise, alpha, epsilon, delta, self.depth, self.base, self.log_base
        )


@dataclass(frozen=True)
class LearnThresholdsCorrected(LearnThresholdsCorrectedTheory, _LearnThresholds):
    """LearnThresholds with `RecConcaveCorrected`: then Theorem 6.14 gives (ε, δ) as printed.

    The sample size is the greatest of the printed one; of (8/α)·ln(4/β), which Lemma 3.19 (generalisation) asks for
    and which the print leaves out, so that its number goes to 0 as ε grows (finding 8); and, where N ≥ 2, of
    (2·8^{N − 1}/(3α))·(2 + (6N/ε)·ln(12N²/(βδ))), what `RecConcaveCorrected` needs beside the printed promise. The
    first is the greatest for every ε ≤ 72·N.

    Args:
        size, alpha, epsilon, delta, N, base: as in `LearnThresholds`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.5, algorithm LearnThresholds, with RecConcave's step 9 corrected.
    """

    def rec_concave(self, promise: float, alpha: float, epsilon: float, delta: float) -> Mechanism:
        """RecConcave with the corrected A_dist."""
        return RecConcaveCorrected(
            self.size - 1, Consistency(self.size), promise, alpha, epsilon, delta, self.depth, self.base
        )


def _examples(left: AnyScores, right: AnyScores) -> list[tuple[int, int]]:
    """Examples that may be the replaced one: at a step of either side."""
    starts = sorted({int(s) for scores in (left, right) for s in scores.steps.starts})
    return [(x, y) for x in starts for y in (0, 1)] if len(starts) <= MOST_STEPS else []


def _without(
    left: AnyScores, right: AnyScores, size: int, old: tuple[int, int], new: tuple[int, int]
) -> Multiset | None:
    """The examples that are left of the one side without `old`, of the other without `new`; None if they differ."""
    rests = []
    for scores, example in ((left, old), (right, new)):
        own = _consistent(size, Multiset.of([example])).steps
        steps = scores.steps
        starts = sorted({int(s) for s in (*steps.starts, *own.starts)})
        values = [
            float(steps.values[bisect_right(steps.starts, x) - 1] - own.values[bisect_right(own.starts, x) - 1])
            for x in starts
        ]
        rests.append(StepScores(starts, values, size))
    if rests[0] != rests[1] or np.any(rests[0].values != np.floor(rests[0].values)):
        return None
    whole = [int(v) for v in rests[0].values]
    turns = zip(rests[0].starts.tolist()[1:], whole, whole[1:], strict=False)
    counts: dict[Any, int] = {(x, int(b > a)): abs(b - a) for x, a, b in turns}
    spare = whole[0] - sum(count for (_, y), count in counts.items() if not y)
    return None if spare < 0 else Multiset.counted({**counts, (0, 1): spare})


@lru_cache(maxsize=64)
def _consistent(size: int, S: Multiset) -> AnyScores:
    change, score = {0: 0}, 0
    for record, count in S.items:
        if not (isinstance(record, tuple) and len(record) == 2 and 0 <= record[0] < size and record[1] in (0, 1)):
            raise DatasetError(f"An example is (x, y) with x in 0, …, {size - 1} and y in 0, 1, not {record!r}.")
        x, y = record
        # from j = x on, c_j labels x with 1
        change[x] = change.get(x, 0) + (count if y else -count)
        score += 0 if y else count
    starts = sorted(change)
    return step_scores(starts, [score + gained for gained in accumulate(change[x] for x in starts)], size)


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "examples (x, y), x in {0, …, size − 1}, y in {0, 1}; size = |X|, alpha, epsilon, delta of the whole, N; base"
_OUTPUT = "k in {0, …, size − 1}, which denotes the concept c_k with c_k(x) = 1 iff x ≤ k"
_DEVIATIONS = (
    "The output is the index k of the concept c_k.",
    "The steps that RecConcave leaves open are read as on its card.",
    "|X| ≥ 2, so that N ≥ 1 exists.",
)

LearnThresholds.card = Card(
    name="LearnThresholds",
    system="I4",
    title="LearnThresholds: a proper learner for thresholds",
    paper=THESIS,
    place="§6.5, Theorem 6.17",
    claim="(ε, δ)-DP under replace-one",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=_DEVIATIONS,
    variants=("LearnThresholdsCorrected",),
    findings=(FINDINGS[4], FINDINGS[8]),
)

LearnThresholdsCorrected.card = Card(
    name="LearnThresholdsCorrected",
    system="I4",
    title="LearnThresholds with the A_dist that replace-one asks for",
    paper=THESIS,
    place="§6.5, Theorem 6.17, corrected",
    claim="(ε, δ)-DP under replace-one",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, "RecConcaveCorrected takes the place of RecConcave."),
    variants=("LearnThresholds",),
)
