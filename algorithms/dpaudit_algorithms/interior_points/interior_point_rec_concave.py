"""An interior point by RecConcave: the interior point problem as a quasi-concave promise problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from dpaudit.language import (
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    Draw,
    Multiset,
    ParameterError,
    Quality,
    checks,
    log_star,
    step_scores,
)
from dpaudit_algorithms.interior_points.interior_point_rec_concave_theory import (
    InteriorPointByRecConcaveTheory,
)
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected


@dataclass(frozen=True)
class DepthFrom0(Quality):
    """q(S, y) = min(#{i: x_i ≥ y}, #{i: x_i ≤ y}) for y in {0, …, size − 1}: quasi-concave, 1-sensitive.

    Quasi-concave, as the one count falls and the other grows with y. The record of rank ⌈n/2⌉ has q ≥ ⌈n/2⌉.
    """

    size: int

    def __call__(self, dataset: Any) -> AnyScores:
        return _depths(self.size, Multiset.of(dataset))


@dataclass(frozen=True)
class InteriorPointByRecConcave(InteriorPointByRecConcaveTheory):
    """RecConcave on min(#{x_i ≥ y}, #{x_i ≤ y}) with the promise r = ⌈n/2⌉: a point of quality (1 − α)·r > 0 is one
    between the least and the greatest record.

    Args:
        size: |X| ≥ 2; the records are 0, …, size − 1.
        epsilon: of the whole, > 0.
        delta: of the whole, in (0, 1).
        N: bound on RecConcave's calls, 1 ≤ N ≤ log*|X|; as many as it makes without it.
        alpha: approximation parameter, in (0, 1/2] as Lemma 6.13 asks.
        beta: failure probability for which `sample_sizes` are given, in (0, 1).
        base: as in `RecConcave`.
        a_dist: "corrected" for RecConcaveCorrected, "printed" for RecConcave.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.4, Lemma 6.13 and Theorem 6.14.
    """

    size: Annotated[int, checks.least(2)] = 2**16
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6
    N: checks.Count | None = None
    alpha: checks.Number = 0.5
    beta: checks.OpenUnit = 0.1
    base: int = 32
    a_dist: Literal["corrected", "printed"] = "corrected"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha <= 0.5:
            raise ParameterError(f"alpha must lie in (0, 1/2], not {self.alpha!r}.")
        if self.N is not None and log_star(self.size) < self.N:
            raise ParameterError(f"Theorem 6.14 needs N ≤ log*|X| = {log_star(self.size)}, not {self.N}.")
        _ = self.maximiser(0)

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 6.14(1)."""
        return Claim(self.epsilon, self.delta)

    @property
    def calls(self) -> int:
        """N."""
        if self.N is not None:
            return self.N
        return RecConcaveCorrected(self.size - 1, DepthFrom0(self.size), 0, 0.5, 1.0, 0.5, None, self.base).calls

    def maximiser(self, records: int) -> RecConcave | RecConcaveCorrected:
        """RecConcave with ε/(3N), δ/(3N) and the promise ⌈n/2⌉ for n records."""
        N = self.calls
        kind = RecConcaveCorrected if self.a_dist == "corrected" else RecConcave
        r = float(-(-records // 2))
        epsilon, delta = self.epsilon / (3 * N), self.delta / (3 * N)
        return kind(self.size - 1, DepthFrom0(self.size), r, self.alpha, epsilon, delta, N, self.base)

    def run(self, S: Any) -> Draw:
        return self.maximiser(len(S)).on(S)  # RecConcave on the depth with the promise ⌈n/2⌉


@lru_cache(maxsize=256)
def _depths(size: int, S: Multiset) -> AnyScores:
    # constant between the values of the dataset, each of which has a score of its own
    scores, at_most = {0: 0}, 0
    for value, count in S.items:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
            raise DatasetError(f"The records must be whole numbers in 0, …, {size - 1}, not {value!r}.")
        at_least = len(S) - at_most
        at_most += count
        scores[value] = min(at_least, at_most)
        if value + 1 < size:
            scores[value + 1] = min(at_least - count, at_most)
    return step_scores(list(scores), list(scores.values()), size)


# --- cards: what is claimed where, and where the text here departs from the print ---

InteriorPointByRecConcave.card = Card(
    name="InteriorPointByRecConcave",
    system="I3",
    title="Interior point as a quasi-concave promise problem, by RecConcave",
    paper=THESIS,
    place="§6.4, Theorem 6.14",
    claim="(ε, δ)-DP under replace-one; an interior point with probability 1 − β if "
    "⌈n/2⌉ ≥ 8^N·(36N/(αε))·(log(6N/(βδ)) + log…log T)",
    inputs="n records in {0, …, size − 1}; size = |X|, epsilon, delta of the whole; N, alpha, beta, base, a_dist",
    output="a point of X = {0, …, size − 1}",
    deviations=(
        "The thesis says that this is such a problem; quality, promise ⌈n/2⌉ and α = 1/2 are chosen here.",
        'a_dist = "corrected" runs RecConcaveCorrected; "printed" RecConcave, whose claim is refuted for N = 3.',
        "N is the number of calls that RecConcave makes where it is not given; the thesis lets one choose.",
        "The steps that RecConcave leaves open are read as on its card.",
    ),
    variants=("RecConcave", "InteriorPointByMedianCorrected", "RecPrefix"),
)
