"""LearnRectangles: a proper learner for axis-aligned rectangles, axis by axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    DiscreteLaplace,
    Mechanism,
    Multiset,
    Program,
    checks,
    to_float,
)
from dpaudit_algorithms.half_spaces.learn_rectangles_theory import LearnRectanglesTheory
from dpaudit_algorithms.half_spaces.release_thresholds import ReleaseThresholds, equal_parts
from dpaudit_algorithms.lower_bounds.query_release_theory import exactly
from dpaudit_algorithms.pac.grid_concepts import Rectangles

Cell: TypeAlias = tuple[int, int]
"""[low, high], inclusive."""


@dataclass(frozen=True)
class LearnRectangles(LearnRectanglesTheory):
    """A proper learner for RECTANGLE_X^ℓ: divides every axis into light cells and takes the outermost significant ones.

    On axis i: `ReleaseThresholds` on the i-th coordinates; `cells` of its synthetic data with at most a share
    w = α/(16ℓ) each; noisy counts of the positive examples in each of the K cells. A cell is significant if its count
    is ≥ t = αn/(8ℓK). The rectangle goes from the left end of the first significant cell to the right end of the last;
    it is empty if an axis has none.

    Privacy: 2ℓ mechanisms, ℓ releases and ℓ histograms, each (ε₁, δ₁)-DP on examples, because a replaced example
    replaces one coordinate on every axis: (ε, δ) by Theorem 3.6 or 3.5 (`equal_parts`).

    Utility, on examples labelled by a rectangle. Let the synthetic data of every axis be γ-close, γ = α/(32ℓ)
    (`ReleaseThresholds` with accuracy 2γ, whose proof gives γ), and let all noise of the histograms lie in (−t, t).
    - A significant cell holds a positive example, an insignificant one fewer than 2t.
    - Positive examples outside the rectangle lie, on some axis, in insignificant cells: fewer than 2t·K = αn/(4ℓ) per
      axis, αn/4 in total. If an axis has no significant cell, these are all positive examples.
    - A negative example in the rectangle lies, on some axis, outside the target but not outside the outermost positive
      examples' cells: in the first or last significant cell, beyond a positive example in it. So that cell has more
      than one point and holds at most (w + 2γ)n examples: 2ℓ·(w + 2γ)·n = αn/4 in total.
    - So the training error is at most α/2, and Theorem 3.17 with VC = 2ℓ gives a generalisation error ≤ α for
      n ≥ (64·VC/α)·ln(512/(αβ′)).
    K is at most 2⌈1/w⌉ − 1 and |X|, and t is about α²n/(256ℓ²) or more: significance needs n of the order (ℓ²/α²)/ε₁,
    the releases need 8^N·(ℓ/α)^{1.5}/ε₁ + (ℓ/α)²/ε₁, where ε₁ is about ε/√ℓ. The failure probability is the sum of ℓ
    times that of a release, 2ℓK·e^{−tε₁/2}/(1 + e^{−ε₁/2}) and β′; `sample_sizes` has the least n that makes it 0.05.

    Args:
        size: |X| ≥ 2; coordinates are 0, …, size − 1.
        dimension: ℓ ≥ 1.
        alpha: error, in (0, 1], exactly as written in decimals.
        epsilon: > 0, in total.
        delta: in (0, 1), in total.
        N, base, steps, room, a_dist: as in `ReleaseThresholds`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.6.2, Theorem 6.24.
    """

    size: int = 2**16
    dimension: checks.Count = 2
    alpha: checks.Unit = 0.25
    epsilon: checks.Positive = 1.0
    delta: checks.OpenUnit = 1e-6
    N: int | None = None
    base: int = 32
    steps: checks.Count | None = None
    room: checks.Natural | None = None
    a_dist: Literal["corrected", "printed"] = "corrected"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.release

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 3.6 or 3.5 over two mechanisms per axis."""
        return Claim(self.epsilon, self.delta)

    @cached_property
    def part(self) -> Claim:
        """(ε₁, δ₁) of each of the 2ℓ mechanisms."""
        return equal_parts(self.claim, 2 * self.dimension)

    @cached_property
    def release(self) -> ReleaseThresholds:
        """The mechanism for the coordinates of an axis: α/(32ℓ)-close by its proof."""
        alpha, part = exactly(self.alpha) / (16 * self.dimension), self.part
        return ReleaseThresholds(
            self.size, alpha, part.epsilon, part.delta, self.N, self.base, self.steps, self.room, self.a_dist
        )

    @property
    def share(self) -> Fraction:
        """w, the largest share of the synthetic data in a cell."""
        return exactly(self.alpha) / (16 * self.dimension)

    @property
    def most_cells(self) -> int:
        """The largest K."""
        return min(2 * math.ceil(1 / self.share) - 1, self.size)

    def threshold(self, records: int, many: int) -> float:
        """t for `many` cells, in examples."""
        return to_float(exactly(self.alpha) * records / (8 * self.dimension * many))

    def significant(self, axis: int, parts: tuple[Cell, ...], records: int) -> SignificantCells:
        """The histogram of an axis with these cells."""
        return SignificantCells(self.part.epsilon, axis, parts, self.threshold(records, len(parts)))

    @property
    def concepts(self) -> Rectangles:
        """RECTANGLE_X^ℓ."""
        return Rectangles(self.size, self.dimension)

    @property
    def empty(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The name of the empty rectangle."""
        return (1,) * self.dimension, (0,) * self.dimension

    def run(self, S: Any) -> Program:
        examples = _examples(self.size, self.dimension, Multiset.of(S))
        n, release = len(examples), self.release
        a, b = [], []
        for axis in range(self.dimension):
            # divide the axis: cells with at most a share w of synthetic data for its coordinates
            data = yield release.on(_along(examples, axis))
            parts = cells(data, self.share * n, self.size)
            # the first and the last cell with a significant number of positive examples
            outermost = yield self.significant(axis, parts, n).on(examples)
            if outermost is None:
                return self.empty
            a.append(parts[outermost[0]][0])
            b.append(parts[outermost[1]][1])
        return tuple(a), tuple(b)


@dataclass(frozen=True)
class SignificantCells(Mechanism):
    """The first and the last cell of an axis with a noisy count of positive examples ≥ threshold.

    A histogram: two-sided geometric noise of scale 2/ε on every count, because a replaced example changes two counts by
    1 (Theorem 3.25 with k = 2). The choice of cells is post-processing, and unused noise is not drawn.

    Args:
        epsilon: > 0.
        axis: the coordinate, from 0.
        cells: disjoint intervals, ascending.
        threshold: in examples.

    Raises:
        ParameterError: epsilon is not above 0.

    Source: Stemmer's thesis, section 6.6.2 (the step), Theorem 3.25 (the histogram).
    """

    epsilon: checks.Positive
    axis: int
    cells: tuple[Cell, ...]
    threshold: float

    @property
    def claim(self) -> Claim:
        """ε, Theorem 3.25 with k = 2."""
        return Claim(self.epsilon)

    @property
    def scale(self) -> float:
        """2/ε, in examples."""
        return 2 / self.epsilon

    def run(self, S: Any) -> Program:
        counts = _positives(Multiset.of(S), self.axis, self.cells)
        # from the left, the first significant cell
        first = None
        for i, count in enumerate(counts):
            if (yield DiscreteLaplace(count, self.scale) >= self.threshold):
                first = i
                break
        if first is None:
            return None
        # from the right, the last one
        for i in range(len(counts) - 1, first, -1):
            if (yield DiscreteLaplace(counts[i], self.scale) >= self.threshold):
                return first, i
        return first, first


def cells(data: Multiset, most: Fraction, size: int) -> tuple[Cell, ...]:
    """Divide {0, …, size − 1} into intervals, in order: single points, or intervals with at most `most` of the data.

    From the left, an interval takes values while it holds at most `most` records; a value with more is an interval by
    itself. Two adjacent intervals together hold more than `most`, so n records give fewer than 2n/most + 1 intervals.

    Args:
        data: values in {0, …, size − 1}, with their multiplicities.
        most: in records.
        size: ≥ 1.
    """
    intervals: list[Cell] = []
    start, last, mass = 0, 0, 0
    for value, count in data.items:
        if count > most:
            if start < value:
                intervals.append((start, value - 1))
            intervals.append((value, value))
            start, mass = value + 1, 0
            continue
        if mass + count > most:
            intervals.append((start, last))
            start, mass = last + 1, 0
        mass, last = mass + count, value
    if start < size:
        intervals.append((start, size - 1))
    return tuple(intervals)


@lru_cache(maxsize=1024)
def _positives(S: Multiset, axis: int, parts: tuple[Cell, ...]) -> tuple[int, ...]:
    """The number of examples (x, 1) with x_axis in each of the cells."""
    along: dict[int, int] = {}
    for (x, y), count in S.items:
        if y == 1:
            along[x[axis]] = along.get(x[axis], 0) + count
    return tuple(sum(count for value, count in along.items() if low <= value <= high) for low, high in parts)


@lru_cache(maxsize=1024)
def _along(examples: Multiset, axis: int) -> Multiset:
    """The coordinates of an axis."""
    counts: dict[Any, int] = {}
    for (x, _), count in examples.items:
        counts[x[axis]] = counts.get(x[axis], 0) + count
    return Multiset.counted(counts)


@lru_cache(maxsize=256)
def _examples(size: int, dimension: int, S: Multiset) -> Multiset:
    for record in S.values:
        if not _is_example(record, size, dimension):
            raise DatasetError(
                f"An example is (x, y) with x in {{0, …, {size - 1}}}^{dimension} and y in 0, 1, not {record!r}."
            )
    if not S.items:
        raise DatasetError("The learner needs at least one example.")
    return S


def _is_example(record: Any, size: int, dimension: int) -> bool:
    if not (isinstance(record, tuple) and len(record) == 2 and record[1] in (0, 1)):
        return False
    x = record[0]
    return isinstance(x, tuple) and len(x) == dimension and all(isinstance(c, int) and 0 <= c < size for c in x)


# --- cards: claims, sources and deviations from the papers ---

LearnRectangles.card = Card(
    name="LearnRectangles",
    system="H2",
    title="A proper learner for axis-aligned rectangles",
    paper=THESIS,
    place="§6.6.2, Theorem 6.24",
    claim="(ε, δ)-DP under replace-one; a proper (α, β)-PAC learner",
    inputs="n ≥ 1 examples (x, y), x in {0, …, size − 1}^dimension, y in {0, 1}; size = |X|, dimension, alpha, "
    "epsilon, delta in total; N, base, steps, room, a_dist",
    output="(a, b), two points of X^dimension: the concept that labels x with 1 iff a_i ≤ x_i ≤ b_i for all i",
    deviations=(
        "The thesis describes the learner in words; w = α/(16ℓ), closeness α/(32ℓ) and t = αn/(8ℓK) are ours.",
        '"Significant" means a noisy count of positive examples of at least αn/(8ℓK), if the axis has K cells.',
        "If an axis has no significant cell, the rectangle is empty: a = (1, …, 1), b = (0, …, 0).",
        "The query release is ReleaseThresholds; the thesis cites a construction but does not print it.",
        "Theorem 6.24 prints its n as a function of n instead of ℓ. Its O(·) is not tested.",
        "The VC dimension is 2ℓ, as printed, for |X| ≥ 3.",
    ),
    variants=("ReleaseThresholds",),
)
