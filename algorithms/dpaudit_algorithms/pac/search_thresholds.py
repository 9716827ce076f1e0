"""The threshold learner that the thesis sketches before RecConcave, by a noisy binary search for a length."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Annotated, Any

import numpy as np

from dpaudit.language import (
    BOTTOM,
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    IntArray,
    Laplace,
    Mechanism,
    Multiset,
    Program,
    Quality,
    Scores,
    ceil_log2,
    checks,
    step_scores,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.pac.concepts import Thresholds
from dpaudit_algorithms.pac.search_thresholds_theory import SearchThresholdsCorrectedTheory, SearchThresholdsTheory


@dataclass(frozen=True)
class BothLabels(Quality):
    """q(I) = min{zeros in I, ones in I} of I_i = [shift + i·length, shift + (i + 1)·length), i ≥ 0; 1-sensitive.

    Args:
        size: X = {0, …, size − 1}.
        length: ≥ 1.
        shift: of the first interval, ≥ 0; the last one ends with X.
    """

    size: int
    length: int
    shift: int

    @property
    def n_solutions(self) -> int:
        return max(0, -(-(self.size - self.shift) // self.length))

    def __call__(self, dataset: Any) -> AnyScores:
        counts: dict[int, list[int]] = {}
        for (x, y), count in _examples(self.size, Multiset.of(dataset)).items:
            if x >= self.shift:
                counts.setdefault((x - self.shift) // self.length, [0, 0])[y] += count
        if not self.n_solutions:
            return Scores([])
        starts, values = [0], [0]
        for i, both in sorted(counts.items()):
            for start, value in ((i, min(both)), (i + 1, 0)):
                if start == starts[-1]:
                    values[-1] = value
                elif start < self.n_solutions:
                    starts.append(start)
                    values.append(value)
        return step_scores(starts, values, self.n_solutions)


@dataclass(frozen=True)
class FewConcepts(Quality):
    """The number of examples that c_j labels as they are, for a few j of X = {0, …, size − 1}; 1-sensitive."""

    size: int
    concepts: tuple[int, ...]

    @property
    def n_solutions(self) -> int:
        return len(self.concepts)

    def __call__(self, dataset: Any) -> AnyScores:
        S = _examples(self.size, Multiset.of(dataset))
        wrong = [Thresholds(self.size).wrong(j, S) for j in self.concepts]
        return Scores([float(len(S) - errors) for errors in wrong], list(self.concepts))


class _SearchThresholds(SearchThresholdsTheory):
    """The common part of both versions: everything but which A_dist they use."""

    @property
    def claim(self) -> Claim:
        """(ε, δ), by composition of what is claimed of the parts."""
        return Claim(self.epsilon, self.delta)

    @abstractmethod
    def a_dist(self, quality: Quality) -> Mechanism:
        """A_dist with ε/4 and δ/2."""

    def run(self, S: Any) -> Program:
        examples = _examples(self.size, Multiset.of(S))
        if self.size == 1:
            return 0
        # noisy binary search for a power j with Q(2^j) ≥ (α/4)n and Q(2^{j − 1}) ≤ (3α/4)n, by comparisons with (α/2)n
        small, big = 0, ceil_log2(self.size)
        part = self.epsilon / (4 * max(1, self.comparisons))
        while big - small > 1:
            j = (small + big) // 2
            noisy = Laplace(most_of_both(examples, self.size, 1 << j), 1 / part).spending(Claim(part))
            if (yield noisy >= self.alpha / 2 * len(examples)):
                big = j
            else:
                small = j
        # A_dist on the intervals of length 2J, and on those that are shifted by J
        J = 1 << big
        A = yield self.a_dist(BothLabels(self.size, 2 * J, 0)).on(S)
        B = yield self.a_dist(BothLabels(self.size, 2 * J, J)).on(S)
        if A is BOTTOM and B is BOTTOM:
            return 0
        first = 2 * J * A if A is not BOTTOM else J + 2 * J * B
        # four equal parts, and the exponential mechanism on the five concepts that switch at their edges
        edges = [min(max(first - 1 + i * J // 2, 0), self.size - 1) for i in range(5)]
        chooser = ExponentialMechanism(self.epsilon / 4, FewConcepts(self.size, tuple(sorted(set(edges)))))
        return (yield chooser.on(S))


@dataclass(frozen=True)
class SearchThresholds(_SearchThresholds):
    """The learner of section 6.3 as it is described, on A_dist as printed.

    It inherits the refutation of A_dist: see finding 1 and `SearchThresholdsCorrected`.

    Args:
        size: |X| ≥ 2.
        alpha: error, in (0, 1].
        epsilon: of the whole, > 0.
        delta: of the whole, in (0, 1).
        log_base: base of A_dist's log(1/δ), see `ADist`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.3 with Remark 6.4.
    """

    size: Annotated[int, checks.least(2)] = 2**16
    alpha: checks.Unit = 0.1
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6
    log_base: float = 2.0

    def a_dist(self, quality: Quality) -> Mechanism:
        """A_dist as printed."""
        return ADist(self.epsilon / 4, self.delta / 2, quality, self.log_base)


@dataclass(frozen=True)
class SearchThresholdsCorrected(SearchThresholdsCorrectedTheory, _SearchThresholds):
    """The learner of section 6.3 on `ADistCorrected`: (ε, δ) by composition.

    All qualities are 1-sensitive: a replaced example changes the zeros and the ones of an interval by at most 1 each,
    so their minimum, and the maximum of that over intervals, by at most 1.

    Proof of the utility, on n examples that a threshold labels, with at least (3α/4)n of either label. If no noise of
    the search is beyond (α/4)n, then Q(2^j) ≥ (α/4)n and Q(2^{j − 1}) ≤ (3α/4)n at the j that it finds: at `big` it
    was compared, or Q(|X|) ≥ (3α/4)n; at `small` it was compared, or Q(1) = 0. An interval of length J with (α/4)n
    zeros and ones lies in some A_i or B_i; the target switches in it, so that all others of the family have no zeros or
    no ones, and that one leads by (α/4)n, at which `ADistCorrected` answers. If it answers on the other family too, the
    target switches in that interval as well, unless all qualities are 0: there it answers with probability
    (δ/4)·e^{−ε/4}. The target switches in one of the four parts, of length J/2, which has at most (3α/4)n zeros or at
    most so many ones; the concept of one of its two edges errs on these alone. The exponential mechanism loses less
    than (α/4)n.

    Args:
        size, alpha, epsilon, delta: as of `SearchThresholds`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.3 with Remark 6.4, on the corrected A_dist.
    """

    size: Annotated[int, checks.least(2)] = 2**16
    alpha: checks.Unit = 0.1
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6

    def a_dist(self, quality: Quality) -> Mechanism:
        """The corrected A_dist."""
        return ADistCorrected(self.epsilon / 4, self.delta / 2, quality)


def most_of_both(S: Multiset, size: int, length: int) -> int:
    """Q(J): the most that an interval [a, b] ⊆ X of J points has of both labels, min{zeros, ones}.

    Args:
        S: examples (x, y), x in {0, …, size − 1}.
        size: |X|.
        length: J, of 1 to `size` points; more are read as `size`.
    """
    length = min(length, size)
    points = sorted({x for x, _ in S.values})
    ones, zeros = (_totals(S, points, label) for label in (1, 0))
    # an interval that has most can be moved until it begins or ends at an example
    starts = {min(max(start, 0), size - length) for x in points for start in (x, x - length + 1)}
    best = 0
    for start in starts:
        low, high = bisect_left(points, start), bisect_right(points, start + length - 1)
        best = max(best, min(int(ones[high] - ones[low]), int(zeros[high] - zeros[low])))
    return best


def _totals(S: Multiset, points: list[int], label: int) -> IntArray:
    counts = dict(S.items)
    return np.asarray([0, *accumulate(counts.get((x, label), 0) for x in points)])


@lru_cache(maxsize=64)
def _examples(size: int, S: Multiset) -> Multiset:
    """The examples.

    Raises:
        DatasetError: a record is none.
    """
    for record in S.values:
        if not (isinstance(record, tuple) and len(record) == 2 and 0 <= record[0] < size and record[1] in (0, 1)):
            raise DatasetError(f"An example is (x, y) with x in 0, …, {size - 1} and y in 0, 1, not {record!r}.")
    return S


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "examples (x, y), x in {0, …, size − 1}, y in {0, 1}; size = |X|, alpha, epsilon, delta of the whole"
_OUTPUT = "k in {0, …, size − 1}, which denotes the concept c_k with c_k(x) = 1 iff x ≤ k"
_DEVIATIONS = (
    "The sketch gives no budget: ε/4 for the search, for each of the two A_dist and for the exponential mechanism, and "
    "δ/2 for each A_dist.",
    "The search is over j in {0, …, ⌈log|X|⌉}; its noisy comparisons are with (α/2)n, the middle of the two bounds of "
    "Remark 6.4. It takes Q(1) as small and Q(|X|) as big, as the text does.",
    "A_dist is run once on the A_i and once on the B_i; if both answer, the A_i is taken, and after two ⊥ c_0.",
    "An interval that ends beyond X ends with X, and an edge before the first point is the first point.",
)

SearchThresholds.card = Card(
    name="SearchThresholds",
    system="I10",
    title="a threshold learner by binary search for an interval's length",
    paper=THESIS,
    place="§6.3, Remark 6.4",
    claim="(ε, δ)-DP under replace-one, by composition",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, 'A_dist\'s "log(1/δ)" is read to base 2 (log_base = 2).'),
    variants=("SearchThresholdsCorrected", "LearnThresholds"),
    findings=(FINDINGS[1],),
)

SearchThresholdsCorrected.card = Card(
    name="SearchThresholdsCorrected",
    system="I10",
    title="a threshold learner by binary search, on the corrected A_dist",
    paper=THESIS,
    place="§6.3, Remark 6.4, corrected",
    claim="(ε, δ)-DP under replace-one",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(*_DEVIATIONS, "ADistCorrected takes the place of A_dist."),
    variants=("SearchThresholds",),
)
