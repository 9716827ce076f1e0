"""SyntheticData: a database that is close to released answers, in place of the answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpaudit.language import (
    REPLACE_ONE,
    THESIS,
    Card,
    Claim,
    DatasetError,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    checks,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.half_spaces.synthetic_data_theory import SyntheticDataTheory
from dpaudit_algorithms.lower_bounds.query_release_theory import exactly
from dpaudit_algorithms.pac.concepts import ConceptClass, Thresholds


@dataclass(frozen=True)
class SyntheticData(SyntheticDataTheory):
    """Releases answers to all counting queries of C, and returns a database of n records that is α-close to them.

    Privacy: post-processing, as n = |S| is public under replace-one: the claim of the release.

    Utility: if Est is α-close to S, then S itself is a database of n records that is α-close to Est, so that the search
    finds one; by the triangle inequality |Q_c(S) − Q_c(Ŝ)| ≤ |Q_c(S) − Est(c)| + |Est(c) − Q_c(Ŝ)| ≤ 2α for every c.
    So an (α, β, ε, δ, n)-query release mechanism becomes a (2α, β, ε, δ, n) one that produces synthetic data.

    The 2α is attained: with the answers Q_c(S) − α on X = {0, 1} for thresholds the first database found is 2α off. And
    no rule would be much better, for Ŝ of any size. Let k = |X| ≥ 2, 0 < α ≤ 1/2, and n such that 2αn and (1 − 2α)n/k
    are whole; let all answers for POINT_X be a = (1 − 2α)/k + α. For every x the database S_x with the share a + α of
    x, and a − α of each other element, is α-close to them: its shares add up to a + α + (k − 1)(a − α) = 1. Any Ŝ has a
    share of at most 1/k of some x, and 1/k = a + α − 2α(1 − 1/k): it is at least 2α(1 − 1/k) off from that S_x.

    Args:
        inner: a release of answers (Est), in the order of the class.
        concepts: C.
        alpha: α in (0, 1], exactly as written in decimals, or a fraction.

    Raises:
        ParameterError: the release claims nothing, or under another relation than replace-one; alpha outside its range.

    Source: Stemmer's thesis, section 6.6.1, Definitions 6.20 and 6.21, Remark 6.22.
    """

    inner: Mechanism
    concepts: ConceptClass
    alpha: checks.ExactUnit

    def __post_init__(self) -> None:
        super().__post_init__()
        if claim_of(self.inner).relation != REPLACE_ONE:
            raise ParameterError("The number of records must be public: the release must be private under replace-one.")

    @property
    def claim(self) -> Claim:
        """That of the release."""
        return claim_of(self.inner)

    def run(self, S: Any) -> Program:
        records = _within(self.concepts, Multiset.of(S))
        # Est
        answers: Sequence[Any] = yield self.inner.on(records)
        # Ŝ of n records, α-close to Est; a fixed database if there is none, when Est is not α-close to S
        found = close_database(self.concepts, answers, len(records), self.alpha)
        return Multiset.counted({self.concepts.points[0]: len(records)}) if found is None else found


def close_database(
    concepts: ConceptClass, answers: Sequence[Any], records: int, alpha: float | Fraction
) -> Multiset | None:
    """The first database of n records with |Q_c(Ŝ) − Est(c)| ≤ α for every c, or None if there is none.

    First means: with the fewest records at the first point, among these at the second, and so on. For thresholds this
    takes one pass over X; for other classes a search that remembers dead ends, which can take exponential time.

    Args:
        concepts: C.
        answers: Est(c), in the order of the class: fractions or numbers, which are not rounded.
        records: n ≥ 1.
        alpha: > 0, exactly as written in decimals, or a fraction.

    Raises:
        ParameterError: not one answer for every concept.
    """
    if len(answers) != len(concepts.concepts):
        raise ParameterError(f"The release must give {len(concepts.concepts)} answers, not {len(answers)}.")
    exact, width = [Fraction(a) for a in answers], exactly(alpha)
    low = tuple(max(0, math.ceil((a - width) * records)) for a in exact)
    high = tuple(min(records, math.floor((a + width) * records)) for a in exact)
    if isinstance(concepts, Thresholds):
        counts = _staircase(low, high, records)
    else:
        counts = _search(_columns(concepts), low, high, records)
    return None if counts is None else Multiset.counted(dict(zip(concepts.points, counts, strict=True)))


def _staircase(low: Sequence[int], high: Sequence[int], records: int) -> list[int] | None:
    """Counts of the elements, such that those up to j sum to a number of low[j], …, high[j], and all to n.

    The least sums are the greatest lower bounds so far: if one of them is too high, so are all others.
    """
    counts, reached, end = [], 0, len(low) - 1
    for j, (least, most) in enumerate(zip(low, high, strict=True)):
        total = max(reached, least, records if j == end else 0)
        if total > most:
            return None
        counts.append(total - reached)
        reached = total
    return counts


@lru_cache(maxsize=64)
def _columns(concepts: ConceptClass) -> tuple[tuple[frozenset[int], ...], tuple[int, ...]]:
    """For every point the concepts that label it 1, and for every concept the last such point (−1: none)."""
    names = tuple(concepts.concepts)
    columns = tuple(frozenset(c for c, name in enumerate(names) if concepts.label(name, x)) for x in concepts.points)
    last = [-1] * len(names)
    for i, column in enumerate(columns):
        for c in column:
            last[c] = i
    return columns, tuple(last)


def _search(
    about: tuple[tuple[frozenset[int], ...], tuple[int, ...]], low: Sequence[int], high: Sequence[int], records: int
) -> list[int] | None:
    """Counts of the points, such that those of every concept sum to a number of low, …, high, and all to n.

    Depth first; a dead end is a point, the records left, and the sums of the concepts that later points add to.
    """
    columns, last = about
    if any(low[c] > high[c] or (end < 0 < low[c]) for c, end in enumerate(last)):
        return None
    left, sums, counts = records, [0] * len(last), [0] * len(columns)

    def state() -> tuple[int, int, tuple[int, ...]]:
        i = len(tries)
        return i, left, tuple(sums[c] for c, end in enumerate(last) if end >= i)

    def choices(i: int) -> Iterator[int]:
        """How many records may be at point i, so that no concept is beyond repair."""
        # later points take at most what their concepts have room for
        room = sum(min((high[c] - sums[c] for c in column), default=left) for column in columns[i + 1 :])
        least, most = max(0, left - room), left
        for c, end in enumerate(last):
            if c in columns[i]:
                most = min(most, high[c] - sums[c])
                if end == i:
                    least = max(least, low[c] - sums[c])
            elif end > i:
                # the records that are left afterwards must be enough for c
                most = min(most, left - (low[c] - sums[c]))
        return iter(range(least, most + 1))

    dead = set()
    tries: list[Iterator[int]] = []
    tries.append(choices(0))
    while tries:
        i = len(tries) - 1
        # the count tried last is taken back, and the next one tried
        count = next(tries[-1], None)
        change = (0 if count is None else count) - counts[i]
        counts[i] += change
        left -= change
        for c in columns[i]:
            sums[c] += change
        if count is None:
            tries.pop()
            dead.add(state())
        elif len(tries) == len(columns):
            return counts
        elif state() not in dead:
            tries.append(choices(i + 1))
    return None


@lru_cache(maxsize=256)
def _within(concepts: ConceptClass, records: Multiset) -> Multiset:
    """The records, if there is at least one and all are in X.

    Raises:
        DatasetError: otherwise.
    """
    outside = [x for x in records.values if x not in concepts.points]
    if outside or not records.items:
        raise DatasetError(f"There must be at least one record, all in X, not {outside[:1] or 'none'}.")
    return records


# --- cards: what is claimed where, and where the text here departs from the print ---

SyntheticData.card = Card(
    name="SyntheticData",
    system="H9",
    title="Synthetic data from released answers: a database that is close to them",
    paper=THESIS,
    place="§6.6.1, Remark 6.22",
    claim="(ε, δ)-DP under replace-one if the release is; 2α-close to S with probability 1 − β if Est is α-close with "
    "probability 1 − β",
    inputs="n ≥ 1 records in X; a release of answers for C, in its order; C, alpha",
    output="Ŝ: n records, a multiset",
    deviations=(
        "Ŝ has n = |S| records, as S has, which is why one exists; the remark does not say.",
        "Of the databases that are α-close to Est, the first is taken: the fewest records at the first point of X, "
        "among these at the second, and so on. The remark takes any.",
        "If none is α-close to Est, which then is not α-close to S, the output is n copies of the first point.",
        "The search is one pass for thresholds, and depth first for other classes; the remark ignores computation.",
    ),
    variants=("ThresholdRelease", "ReleaseThresholds"),
)
