"""Thresholds from interior points, and interior points from thresholds: two reductions over any inner algorithm."""

from __future__ import annotations

import math
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
    Draw,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    as_written,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.lower_bounds.thresholds_reductions_theory import (
    InteriorPointFromThresholdsTheory,
    ThresholdsFromInteriorPointTheory,
)


@dataclass(frozen=True)
class _Reduction(Mechanism):
    """The common part of both directions: parameters, and the claim for two changed rows."""

    inner: Mechanism
    n: checks.Count
    alpha: checks.OpenUnit
    beta: checks.OpenUnit
    low: checks.Integer
    high: checks.Integer

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high < self.low:
            raise ParameterError(f"high must be at least low = {self.low}, not {self.high!r}.")
        if claim_of(self.inner).relation != REPLACE_ONE:
            raise ParameterError("The lemma is about an inner algorithm that is private under replace-one.")

    @property
    def claim(self) -> Claim:
        """(2ε, (1 + e^ε)·δ), Lemma 7.22: at most two rows change, and (ε, δ) twice in a row is that."""
        twice = claim_of(self.inner).chained(2)
        return Claim(twice.epsilon, twice.delta)


@dataclass(frozen=True)
class ThresholdsFromInteriorPoint(_Reduction, ThresholdsFromInteriorPointTheory):
    """Lemma 7.22(1) as its proof has it: an interior point of the greatest n/2 examples of label 1 and the least n/2
    of label 0 is a threshold that labels at most n/2 of all examples wrongly.

    Its privacy claim holds. Its utility claim fails where examples of label 0 are equal: an interior point may be
    one of them, and c_x labels x with 1. See finding 9 and `ThresholdsFromInteriorPointCorrected`.

    Args:
        inner: an interior-point algorithm for n records of X, private under replace-one.
        n: records that the inner algorithm takes, ≥ 1.
        alpha: error, in (0, 1); counts as the decimal that it is written as.
        beta: failure probability of the inner algorithm, in (0, 1).
        low, high: the ends of X.

    Raises:
        ParameterError: a parameter outside its range, or an inner algorithm without a claim under replace-one.

    Source: Stemmer's thesis, section 7.5, Lemma 7.22(1) and Theorem 7.21(1).
    """

    def run(self, D: Any) -> Draw:
        # A on D′: the largest n/2 elements of D labelled 1 and the smallest n/2 labelled 0, padded
        return self.inner.on(_nearest(Multiset.of(D), self.n, self.low, self.high, 0))


@dataclass(frozen=True)
class ThresholdsFromInteriorPointCorrected(ThresholdsFromInteriorPoint):
    """Lemma 7.22(1) with every example (x, 0) given to the inner algorithm as x − 1 (not below low).

    Utility, with the printed constants. Let c_j label D, let A be the elements of label 1, B those of label 0, so that
    A ≤ j < B, and let x be an interior point of D′.

    1. x ≥ j. Then c_x is right on A. If B has ⌊n/2⌋ elements or more, let b be the ⌊n/2⌋-th smallest. All of D′ is
       ≤ b − 1 (A and its pads are ≤ j < b), so x < b, and at most ⌊n/2⌋ − 1 elements of B are ≤ x. If B has fewer
       elements, so many are all. (⌊n/2⌋ = 0: D′ is one element of A, or low, so x = j, and nothing is wrong.)
    2. x < j. Then c_x is right on B. If A has ⌈n/2⌉ elements or more, let a be the ⌈n/2⌉-th greatest. What D′ has of B,
       lowered, and its pads are ≥ j > x, so x ≥ a, and at most ⌈n/2⌉ − 1 elements of A are above x. If A has fewer
       elements, so many are all.

    So c_x is wrong on at most ⌈n/2⌉ − 1 < n/2 ≤ α·|D| examples. Where labels are given by a concept, no element of
    B is low, so that x − 1 is in X; the floor at low is for other datasets.

    Privacy: D′ is still two blocks, each of which changes by one row at most.

    Args:
        inner, n, alpha, beta, low, high: as in `ThresholdsFromInteriorPoint`.

    Raises:
        ParameterError: a parameter outside its range, or an inner algorithm without a claim under replace-one.

    Source: Stemmer's thesis, section 7.5, Lemma 7.22(1), corrected.
    """

    def run(self, D: Any) -> Draw:
        # A on D′, in which an element x labelled 0 is x − 1
        return self.inner.on(_nearest(Multiset.of(D), self.n, self.low, self.high, 1))


@dataclass(frozen=True)
class InteriorPointFromThresholds(_Reduction, InteriorPointFromThresholdsTheory):
    """Lemma 7.22(2) as its proof has it: a threshold that labels the smaller half of the records with 1 and the
    greater half with 0, up to α of a padded dataset, is an interior point.

    Its privacy claim holds. Its utility claim fails where the two middle records are equal: then no threshold labels
    the padded dataset, and the learner guarantees nothing. See finding 10 and
    `InteriorPointFromThresholdsCorrected`. Where they differ, the claim holds as printed: c_v with v the lesser of them
    labels everything rightly, and a threshold outside [min, max] is wrong on ⌊n/2⌋ examples or more.

    Args:
        inner: a proper empirical learner of thresholds over X, private under replace-one.
        n: records, ≥ 2; ≥ 1 if nothing is guaranteed.
        alpha: error of the learner, in (0, 1/shrink]; counts as the decimal that it is written as.
        beta: failure probability of the learner, in (0, 1).
        low, high: the ends of X.
        shrink: D has n/(shrink·α) examples: 3 in the thesis, 1 in the lecture notes.

    Raises:
        ParameterError: a parameter outside its range, or an inner algorithm without a claim under replace-one.

    Source: Stemmer's thesis, section 7.5, Lemma 7.22(2) and Theorem 7.21(2); with shrink = 1 the lecture notes on
    interior points, "Learning Thresholds with DP".
    """

    shrink: checks.Integer = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shrink not in (1, 3):
            raise ParameterError(f"shrink must be 3 (the thesis) or 1 (the lecture notes), not {self.shrink}.")
        if self.shrink * as_written(self.alpha) > 1:
            raise ParameterError(f"alpha must be at most 1/{self.shrink}, so that n/({self.shrink}α) is at least n.")

    @property
    def examples(self) -> int:
        """How many the learner gets: n/(shrink·α), rounded up to n and an even number of pads."""
        least = math.ceil(Fraction(self.n) / (self.shrink * as_written(self.alpha)))
        return least + (least - self.n) % 2

    def run(self, dataset: Any) -> Program | Draw:
        # A′ on D: the smaller n/2 points labelled 1, the larger n/2 labelled 0, and as many (low, 1) as (high, 0)
        return self.inner.on(_halves(self._records(dataset), self.examples, self.low, self.high))

    def _records(self, dataset: Any) -> Multiset:
        S = Multiset.of(dataset)
        if len(S) != self.n:
            raise DatasetError(f"The dataset must have n = {self.n} records, not {len(S)}.")
        return S


@dataclass(frozen=True)
class InteriorPointFromThresholdsCorrected(InteriorPointFromThresholds):
    """Lemma 7.22(2) with the greater half moved up: a record x of it becomes (x + 1, 0), max X becomes (min X, 1), and
    all pads are (min X, 1).

    Utility, with the printed constants and the same X, for α ≤ 1/shrink, which the padding needs (at α = 1 the lemma is
    false, as the learner may ignore its data). With v the ⌈n/2⌉-th smallest record, c_v labels all of D
    rightly: the smaller half is at most v, the greater half at least v + 1 or (min X, 1), on which every concept is
    right. So the learner's guarantee applies. If z < min S, c_z is wrong on the smaller half; if z > max S, no record
    is max X, and c_z is wrong on the greater half, since x + 1 ≤ z. Either is ⌊n/2⌋ examples or more, beyond α; so z is
    interior.

    Privacy: replacing a record changes at most one element of either half, two rows of D in all.

    Args:
        inner, n, alpha, beta, low, high, shrink: as in `InteriorPointFromThresholds`.

    Raises:
        ParameterError: a parameter outside its range, or an inner algorithm without a claim under replace-one.

    Source: Stemmer's thesis, section 7.5, Lemma 7.22(2), corrected.
    """

    def run(self, dataset: Any) -> Program | Draw:
        return self.inner.on(_moved_up(self._records(dataset), self.examples, self.low, self.high))


@lru_cache(maxsize=4096)
def _nearest(D: Multiset, n: int, low: int, high: int, lowered: int) -> Multiset:
    """D′: the ⌈n/2⌉ greatest elements of label 1 and the ⌊n/2⌋ smallest of label 0, padded with low and high."""
    ones: dict[int, int] = {}
    zeros: dict[int, int] = {}
    for record, count in D.items:
        if not (isinstance(record, tuple) and len(record) == 2 and low <= record[0] <= high and record[1] in (0, 1)):
            raise DatasetError(f"An example is (x, y) with x in {low}, …, {high} and y in 0, 1, not {record!r}.")
        (ones if record[1] else zeros)[record[0]] = count
    kept: dict[int, int] = {}
    for counts, room, pad, down in ((ones, n - n // 2, low, 0), (zeros, n // 2, high, lowered)):
        for x in sorted(counts, reverse=counts is ones):
            taken = min(room, counts[x])
            at = max(low, x - down)
            kept[at] = kept.get(at, 0) + taken
            room -= taken
        kept[pad] = kept.get(pad, 0) + room
    return Multiset.counted(kept)


@lru_cache(maxsize=4096)
def _halves(S: Multiset, examples: int, low: int, high: int) -> Multiset:
    """D: the smaller half labelled 1, the greater half 0, with as many (low, 1) as (high, 0) up to `examples`."""
    if S.items and not low <= S.values[0] <= S.values[-1] <= high:
        raise DatasetError(f"The records must lie in {low}, …, {high}, not {S!r}.")
    n, kept = len(S), dict[Any, int]()
    room = n - n // 2
    for x, count in S.items:
        ones = min(room, count)
        kept[x, 1], kept[x, 0] = ones, count - ones
        room -= ones
    pads = (examples - n) // 2
    kept[low, 1] = kept.get((low, 1), 0) + pads
    kept[high, 0] = kept.get((high, 0), 0) + pads
    return Multiset.counted(kept)


@lru_cache(maxsize=4096)
def _moved_up(S: Multiset, examples: int, low: int, high: int) -> Multiset:
    """D: the smaller half labelled 1; x of the greater half as (x + 1, 0), high as (low, 1); padded with (low, 1)."""
    kept = {(low, 1): examples - len(S)}
    for (x, y), count in _halves(S, len(S), low, high).items:
        example = (x, 1) if y else (x + 1, 0) if x < high else (low, 1)
        kept[example] = kept.get(example, 0) + count
    return Multiset.counted(kept)


# --- cards: what is claimed where, and where the text here departs from the print ---

_CLAIM = "(2ε, (1 + e^ε)δ)-DP under replace-one"
_LEARNS = "; error at most α on its n/(2α) examples with probability 1 − β, for every concept that labels them"
_FINDS = "; an interior point of every dataset of n records with probability 1 − β"
_EXAMPLES = (
    "examples (x, y), x in X = {low, …, high}, y in {0, 1}; an interior-point algorithm for n records of X, its beta"
)
_CONCEPT = "a threshold z in X, which denotes c_z (c_z(x) = 1 iff x ≤ z)"
_TO_LEARN = (
    "Odd n: ⌈n/2⌉ elements with label 1 and ⌊n/2⌋ with label 0; sizes are public.",
    "n/(2α) that is not whole is rounded up, and more examples are taken as they come: the construction is the same.",
    "Labels that no threshold gives are handled in the same way: the privacy claim is for every dataset.",
    "X is finite, and low and high are its ends.",
)
_TO_FIND = (
    "Odd n: the ⌈n/2⌉ smallest have label 1, the ⌊n/2⌋ greatest label 0; sizes are public.",
    "n/(3α) that is not whole is rounded up, by one more where pads would not be equally many.",
    "shrink = 1 is the version with fake samples of the lecture notes, which pads to n/α.",
    "X is finite, and low and high are its ends.",
)

ThresholdsFromInteriorPoint.card = Card(
    name="ThresholdsFromInteriorPoint",
    system="I6",
    title="A threshold learner from an interior-point algorithm",
    paper=THESIS,
    place="§7.5, Lemma 7.22(1)",
    claim=_CLAIM + _LEARNS,
    inputs=_EXAMPLES,
    output=_CONCEPT,
    deviations=_TO_LEARN,
    variants=("ThresholdsFromInteriorPointCorrected", "InteriorPointFromThresholds"),
    findings=(FINDINGS[9],),
)

ThresholdsFromInteriorPointCorrected.card = Card(
    name="ThresholdsFromInteriorPointCorrected",
    system="I6",
    title="A threshold learner from an interior-point algorithm that equal examples do not fool",
    paper=THESIS,
    place="§7.5, Lemma 7.22(1), corrected",
    claim=_CLAIM + _LEARNS,
    inputs=_EXAMPLES,
    output=_CONCEPT,
    deviations=(*_TO_LEARN, "An element x of label 0 is given to the inner algorithm as x − 1, not below low."),
    variants=("ThresholdsFromInteriorPoint",),
)

InteriorPointFromThresholds.card = Card(
    name="InteriorPointFromThresholds",
    system="I6",
    title="An interior point from a threshold learner",
    paper=THESIS,
    place="§7.5, Lemma 7.22(2)",
    claim=_CLAIM + _FINDS,
    inputs="n records of X = {low, …, high}; a proper learner for n/(3α) examples, its alpha and beta; shrink",
    output="a point of X, or what else the learner gives",
    deviations=_TO_FIND,
    variants=("InteriorPointFromThresholdsCorrected", "ThresholdsFromInteriorPoint"),
    findings=(FINDINGS[10],),
)

InteriorPointFromThresholdsCorrected.card = Card(
    name="InteriorPointFromThresholdsCorrected",
    system="I6",
    title="An interior point from a threshold learner whose examples a threshold always labels",
    paper=THESIS,
    place="§7.5, Lemma 7.22(2), corrected",
    claim=_CLAIM + _FINDS,
    inputs="n records of X = {low, …, high}; a proper learner for n/(3α) examples, its alpha and beta; shrink",
    output="a point of X, or what else the learner gives",
    deviations=(
        *_TO_FIND, "A record x of the greater half is given to the learner as (x + 1, 0), high as (low, 1).",
        "All pads are (low, 1).",
    ),
    variants=("InteriorPointFromThresholds",),
)
