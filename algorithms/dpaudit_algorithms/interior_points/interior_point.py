"""Interior points by the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpaudit.language import (
    INTERIOR_POINT_NOTES,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    Draw,
    InteriorPoint,
    Mechanism,
    Multiset,
    Quality,
    SampleSize,
    Symmetry,
    UtilityClaim,
    checks,
    exp,
    log,
    step_scores,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.goals import BETA, all_but


@dataclass(frozen=True)
class MedianUtility(Quality):
    """−u(y; S) = −|n/2 − #{i: x_i ≤ y}| for y in {1, …, domain}; 1-sensitive under replace-one.

    Source: lecture notes on interior points, "Algorithms for Interior Point".
    """

    domain: int

    @property
    def n_solutions(self) -> int:
        return self.domain

    def __call__(self, dataset: Any) -> AnyScores:
        return _median_utility(self.domain, Multiset.of(dataset))

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """x → m + 1 − x with y → m − y, where m is the size of X and y = m stays.

        #{x_i ≤ y} becomes #{x_i ≥ m + 1 − y} = n − #{x_i ≤ m − y}, whose distance from n/2 is that of #{x_i ≤ m − y};
        and at y = m it is always n. So the mirror image of an output is its neighbour's: y → m + 1 − y does not hold.
        """
        m = self.domain
        return (Symmetry("reflection", lambda x: m + 1 - x, lambda y: m - y if y < m else y, (m,)),)


@dataclass(frozen=True)
class Depth(Quality):
    """q(S, y) = min(#{i: x_i ≥ y}, #{i: x_i ≤ y}) for y in {1, …, domain}; 1-sensitive under replace-one.

    y is an interior point if and only if q(S, y) ≥ 1.  Source: Stemmer's thesis, algorithm RecPrefix, step 1.
    """

    domain: int

    @property
    def n_solutions(self) -> int:
        return self.domain

    def __call__(self, dataset: Any) -> AnyScores:
        return _depth(self.domain, Multiset.of(dataset))

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """x → m + 1 − x with y → m + 1 − y, where m is the size of X: #{x_i ≥ y} and #{x_i ≤ y} change places."""
        m = self.domain
        return (Symmetry("reflection", lambda x: m + 1 - x, lambda y: m + 1 - y, ()),)


@dataclass(frozen=True)
class InteriorPointByMedian(Mechanism):
    """Chooses y with probability ∝ exp(−(ε/2)·|n/2 − #{i: x_i ≤ y}|).

    Its privacy claim holds. Its utility claim, that the output lies between the least and the greatest record but
    with probability |X|·e^{−εn/4}, is false where records are equal: with n equal records every y has utility n/2 and
    the output is uniform on X. See finding 5 and `InteriorPointByMedianCorrected`.

    Args:
        epsilon: > 0.
        domain: |X|; the records are in {1, …, |X|}.

    Raises:
        ParameterError: a parameter outside its range.

    Source: lecture notes on interior points, "Algorithms for Interior Point".
    """

    epsilon: checks.Positive
    domain: checks.Count

    @property
    def claim(self) -> Claim:
        """ε, by the exponential mechanism."""
        return Claim(self.epsilon)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """An interior point with probability at least 1 − |X|·e^{−εn/4}, for every dataset."""
        return _interior(self.epsilon, self.domain, records, _PLACE)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """n ≥ 4·ln(|X|/β)/ε, at β = 0.05."""
        return _enough(self.epsilon, self.domain, _PLACE)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """That of the score."""
        return MedianUtility(self.domain).symmetries(domain)

    def run(self, S: Any) -> Draw:
        # P(y) ∝ exp(−(ε/2)·|n/2 − #{i: x_i ≤ y}|)
        return MedianUtility(self.domain)(S).softmax(self.epsilon / 2)


@dataclass(frozen=True)
class InteriorPointByMedianCorrected(Mechanism):
    """Chooses y with probability ∝ exp((ε/2)·min(#{i: x_i ≥ y}, #{i: x_i ≤ y})).

    Privacy: replacing a record moves either count by at most 1, hence their minimum; Proposition 3.27.

    Utility as printed, for every dataset of n ≥ 1 records: the record of rank ⌈n/2⌉ has at least n/2 records on
    either side of it (itself counted on both), so the best score is ≥ n/2; a point that is no interior point has
    score 0, and there are at most |X| − 1 of them. So the output is no interior point with probability at most
    (|X| − 1)·e^{−εn/4}.

    Args:
        epsilon: > 0.
        domain: |X|; the records are in {1, …, |X|}.

    Raises:
        ParameterError: a parameter outside its range.

    Source: lecture notes on interior points, "Algorithms for Interior Point", with the score of Stemmer's thesis,
    algorithm RecPrefix, step 1.
    """

    epsilon: checks.Positive
    domain: checks.Count

    @property
    def claim(self) -> Claim:
        """ε, by the exponential mechanism."""
        return Claim(self.epsilon)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """An interior point with probability at least 1 − |X|·e^{−εn/4}, for every dataset."""
        return _interior(self.epsilon, self.domain, records, _CORRECTED)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """n ≥ 4·ln(|X|/β)/ε, at β = 0.05."""
        return _enough(self.epsilon, self.domain, _CORRECTED)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """That of the score."""
        return Depth(self.domain).symmetries(domain)

    def run(self, S: Any) -> Draw:
        # P(y) ∝ exp((ε/2)·min(#{i: x_i ≥ y}, #{i: x_i ≤ y}))
        return Depth(self.domain)(S).softmax(self.epsilon / 2)


def _interior(epsilon: float, domain: int, records: int, place: str) -> tuple[UtilityClaim, ...]:
    return (UtilityClaim(InteriorPoint(), all_but(domain * exp(-epsilon * records / 4)), place),)


def _enough(epsilon: float, domain: int, place: str) -> tuple[SampleSize, ...]:
    records = math.ceil(4 * log(domain / BETA) / epsilon)
    guarantee = f"an interior point with probability at least {1 - BETA:g}"
    return (SampleSize(records, f"4·ln(|X|/β)/ε, β = {BETA:g}", guarantee, place),)


def _at_most(domain: int, dataset: Multiset) -> list[tuple[int, int, int]]:
    """Every value y of the dataset with #{i: x_i ≤ y} and with how often it occurs, ascending."""
    counts, at_most = [], 0
    for value, count in dataset.items:
        if not 1 <= value <= domain:
            raise DatasetError(f"The records must lie in 1, …, {domain}; {value!r} does not.")
        at_most += count
        counts.append((value, at_most, count))
    return counts


@lru_cache(maxsize=256)
def _median_utility(domain: int, dataset: Multiset) -> AnyScores:
    # constant from one value of the dataset to the next
    scores = {1: -len(dataset) / 2}
    for value, at_most, _ in _at_most(domain, dataset):
        scores[value] = -abs(len(dataset) / 2 - at_most)
    return step_scores(list(scores), list(scores.values()), domain + 1)


@lru_cache(maxsize=256)
def _depth(domain: int, dataset: Multiset) -> AnyScores:
    # constant between the values of the dataset, each of which has a score of its own
    scores = {1: 0}
    for value, at_most, count in _at_most(domain, dataset):
        at_least = len(dataset) - at_most + count
        scores[value] = min(at_least, at_most)
        if value < domain:
            scores[value + 1] = min(at_least - count, at_most)
    return step_scores(list(scores), list(scores.values()), domain + 1)


# --- cards: what is claimed where, and where the text here departs from the print ---

_PLACE = '"Algorithms for Interior Point"'
_CORRECTED = f"{_PLACE}, corrected"
_INPUTS = "n records of X = {1, …, domain}; epsilon > 0, domain ≥ 1"
_OUTPUT = "a point of X"

InteriorPointByMedian.card = Card(
    name="InteriorPointByMedian",
    system="I1",
    title="Interior point by the exponential mechanism with the median utility",
    paper=INTERIOR_POINT_NOTES,
    place=_PLACE,
    claim="ε-DP under replace-one; an interior point with probability at least 1 − |X|·e^{−εn/4}",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        "The domain is finite.",
        'The printed "log" of the number of records is natural, as the inequality |X|·e^{−εn/4} ≤ β asks; '
        "to base 2 it would be 1.44 times as many.",
    ),
    variants=("InteriorPointByMedianCorrected",),
    findings=(FINDINGS[5],),
)

InteriorPointByMedianCorrected.card = Card(
    name="InteriorPointByMedianCorrected",
    system="I1",
    title="Interior point by the exponential mechanism with a score that ties do not fool",
    paper=INTERIOR_POINT_NOTES,
    place=_CORRECTED,
    claim="ε-DP under replace-one; an interior point with probability at least 1 − |X|·e^{−εn/4}",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        "The score is min(#{x_i ≥ y}, #{x_i ≤ y}), that of RecPrefix, and not −|n/2 − #{x_i ≤ y}|.",
        "The domain is finite.",
    ),
    variants=("InteriorPointByMedian",),
)
