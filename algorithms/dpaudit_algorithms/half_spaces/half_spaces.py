"""Half-spaces of the plane through the origin: MakeData and MakeThrData, which turn examples into angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from dpaudit.language import (
    ADD_REMOVE_ONE,
    HALFSPACES,
    Card,
    Categorical,
    Claim,
    DatasetError,
    Goal,
    Instance,
    IntArray,
    Mechanism,
    Multiset,
    NoisyCopies,
    Program,
    UtilityClaim,
    checks,
    to_float,
)
from dpaudit_algorithms.half_spaces.angles import AngleGrid

Plane: TypeAlias = tuple[int, int]
"""A point of the integer grid in the plane, or a direction."""
Angle: TypeAlias = Literal["point", "border", "borders"]
"""Which angle φ(x) is: see `READ_AS`."""
Ties: TypeAlias = Literal["last", "least", "last turned", "least turned"]
"""Which of the best angles is φ*: the last or the least, as angles, or as turned ones."""
RELATION = "Neighbours have one example more or less: the text adds one (Lemma 16, Algorithm 7)."
READ_AS = (
    'angle = "point" is the literal reading of "the angle corresponding to x": the text turns a vector into (r, φ), '
    'and section 3.2 has "the i-th angle corresponding to x"; "border" (φ + π/2, where x is on the border of h_φ) and '
    '"borders" (φ ± π/2) are the angles at which h_φ "passes through" x.',
    "wrap = False: |φ(x) − φ| is the difference of two numbers in [0, 2π); wrap = True takes it on the circle.",
    "The origin has no angle and counts nowhere.",
)
CAPPED = "cap: a public bound on the copies of an angle, which makes the law finite; None as printed."


@dataclass(frozen=True)
class _MakeData(Mechanism):
    """What both versions share: everything but the scale of the noise."""

    epsilon: checks.Positive
    sine: Fraction
    angle: Angle = "point"
    wrap: bool = False
    cap: checks.Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        AngleGrid(self.sine)

    @property
    def claim(self) -> Claim:
        """ε, Lemma 12."""
        return Claim(self.epsilon, relation=ADD_REMOVE_ONE)

    @property
    def grid(self) -> AngleGrid:
        """H_γ."""
        return AngleGrid(self.sine)

    @property
    def scale(self) -> float:
        """Of the noise, in copies."""
        raise NotImplementedError

    @property
    def sensitivity(self) -> int:
        """The most angles at which one example counts, over all points and labels: the L1 distance of neighbours.

        Angles less than γ from φ(x), as numbers: two neighbours on the grid, or one where φ(x) is on the grid. All
        h_φ there give x the label 1 in the reading "point", so that a positive example counts at two; in the reading
        "border" those on either side disagree: one. On the circle, the last angle of the grid and 0 are less than γ
        apart: one more.
        """
        return {"point": 2, "border": 1, "borders": 2}[self.angle] + int(self.wrap)

    def sensitivity_on(self, k: int) -> int:
        """`sensitivity`, over the points of {−k, …, k}² alone."""
        reach = range(-checks.whole("k", k, least=1), k + 1)
        return max(len(self.counted((a, b), y)) for a in reach for b in reach for y in (-1, 1))

    def counted(self, x: Plane, y: int) -> tuple[int, ...]:
        """The indices i of the angles iγ at which an example counts: |φ(x) − iγ| < γ and h_{iγ}(x) = y."""
        return _counted(self.sine, self.angle, self.wrap, x, y)

    def counts(self, S: Any) -> tuple[int, ...]:
        """n_φ of every angle of the grid, in their order."""
        return _counts(self.sine, self.angle, self.wrap, examples(S))

    def run(self, S: Any) -> NoisyCopies:
        # for φ ∈ H_γ: n_φ ← |{(x, y) ∈ S : |φ(x) − φ| < γ and h_φ(x) = y}|; add max(⌈n_φ + Lap⌉, 1) copies of φ
        return NoisyCopies(self.counts(S), self.scale, self.cap)


@dataclass(frozen=True)
class MakeData(_MakeData):
    """As many copies of every angle of H_γ as examples near it that its half-space labels rightly, with Lap(1/ε).

    Its privacy claim fails as printed: an example counts at two angles, and the noise is for one. With φ(x) read as
    the angle of a border it holds, if |φ(x) − φ| is not taken on the circle. Its other claim, that some angle of the
    output is best among all angles, fails in every reading, where the best angles are those of a border alone: see
    FINDINGS.md and `MakeDataCorrected`.

    Args:
        epsilon: > 0.
        sine: sin γ, a Fraction in (0, 1]; 1/(2k²) for X = {−k, …, k} (Lemma 11).
        angle: "point", "border" or "borders", which angle φ(x) is.
        wrap: whether angles are compared on the circle.
        cap: at most so many copies of an angle, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.1, Algorithm 1 and Lemma 12.
    """

    @property
    def scale(self) -> float:
        """1/ε, as printed."""
        return 1 / self.epsilon

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 12's second sentence: for certain, for every sample that some half-space explains."""
        return (UtilityClaim(HoldsBest(self.sine), 1.0, "§3.1, Lemma 12"),)


@dataclass(frozen=True)
class MakeDataCorrected(_MakeData):
    """MakeData with noise Lap(s/ε), where s is the true sensitivity of its reading (`sensitivity`): 1, 2 or 3.

    Privacy: the counts of neighbours are at most s apart in L1 (the proof is at `sensitivity`), so the Laplace
    mechanism (Lemma 5) and rounding (Lemma 2) give ε. No promise of a best angle is kept: the grid does not hold one.

    Args:
        epsilon, sine, angle, wrap, cap: as in `MakeData`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.1, Algorithm 1, with the noise of Lemma 5.
    """

    @property
    def scale(self) -> float:
        """s/ε."""
        return self.sensitivity / self.epsilon


@dataclass(frozen=True)
class MakeThrData(Mechanism):
    """Algorithm 2: (S_H, S) → the anchor's index, and the C best elements of S_H as labelled examples of a threshold.

    S_H is how many copies of each angle there are, as `MakeData` gives it. The examples are (j, y) with j the place of
    the angle as counted from the anchor around the circle, and y = 1 or 0 for the paper's 1 and −1, which is what
    the threshold learners here take. Nothing is claimed of its privacy, and it has none.

    Args:
        sine: sin γ.
        C: how many elements of S_H are kept, copies counted, ≥ 1.
        ties: which of the best angles of max_C(S_H) is φ*: the last or the least, as angles, or as turned ones.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.1, Algorithm 2.
    """

    sine: Fraction
    C: checks.Count
    ties: Ties = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        AngleGrid(self.sine)

    @property
    def grid(self) -> AngleGrid:
        """H_γ."""
        return AngleGrid(self.sine)

    def run(self, data: tuple[tuple[int, ...], Any]) -> Program:
        S_H, S = data
        q = qualities(self.sine, examples(S))  # q(S, φ) for every φ
        kept, others = largest(q, tuple(S_H), self.C)  # max_C(S_H), S_H ∖ max_C(S_H)
        anchor = 0  # no rotation where nothing is left to choose from
        if others is not None:
            anchor = yield others  # φ′
        return anchor, labelled(q, kept, anchor, self.ties)


def largest(
    q: IntArray, S_H: tuple[int, ...], kept: int
) -> tuple[tuple[tuple[int, int], ...], Categorical | None]:
    """The `kept` largest elements of S_H by (q, φ) as (index, copies), and the law of a random other one, if any.

    Args:
        q: the quality of every angle, shape (size,).
        S_H: copies of every angle, as many.
        kept: ≥ 1, copies counted.
    """
    copies = np.array(S_H, dtype=np.int64)
    order = np.lexsort((np.arange(len(q)), q))[::-1]
    before = np.cumsum(copies[order]) - copies[order]
    inside = order[before < kept]
    taken = np.zeros_like(copies)
    taken[inside] = np.minimum(copies[inside], kept - before[: len(inside)])
    left = copies - taken
    (at,) = np.nonzero(left)
    others = Categorical(at, [to_float(Fraction(n, int(left.sum()))) for n in left[at].tolist()]) if len(at) else None
    return tuple((j, int(taken[j])) for j in inside.tolist()), others


def labelled(q: IntArray, kept: tuple[tuple[int, int], ...], anchor: int, ties: Ties) -> Multiset:
    """S_Thr: the kept angles with their copies, turned by the anchor, with labels 1 up to φ* and 0 beyond."""
    size = len(q)
    top = max(int(q[j]) for j, _ in kept)
    turned = {j: (j - anchor) % size for j, _ in kept}
    best = [j for j, _ in kept if q[j] == top]
    pick = max if ties.startswith("last") else min
    star = turned[pick(best, key=turned.__getitem__ if ties.endswith("turned") else None)]  # φ*
    return Multiset.counted({(turned[j], int(turned[j] <= star)): copies for j, copies in kept})


# --- qualities -------------------------------------------------------------------------------------------------------


def examples(S: Any) -> Multiset:
    """The dataset as a multiset of examples ((x1, x2), y).

    Raises:
        DatasetError: a record that is none.
    """
    found = Multiset.of(S)
    for record in found.values:
        if not (isinstance(record, tuple) and len(record) == 2 and record[1] in (-1, 1) and _is_point(record[0])):
            raise DatasetError(f"An example is ((x1, x2), y) with whole x1, x2 and y in -1, 1, not {record!r}.")
    return found


def _is_point(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) == 2 and all(type(c) is int for c in x)


@lru_cache(maxsize=256)
def qualities(sine: Fraction, S: Multiset) -> IntArray:
    """q(S, iγ) = |{(x, y) ∈ S : h_{iγ}(x) = y}| for every i, shape (size,)."""
    grid = AngleGrid(sine)
    q = np.zeros(grid.size, dtype=np.int64)
    for (x, y), count in S.items:
        q += count * (grid.labels(x) == y)
    q.flags.writeable = False
    return q


@lru_cache(maxsize=16)
def directions(k: int) -> tuple[Plane, ...]:
    """Normals w of all ways in which half-spaces ⟨w, x⟩ ≥ 0 label {−k, …, k}², from (1, 0) on around the circle.

    The labels change at normals that are perpendicular to a point, and these are the points' directions once more;
    between two that are next to each other, their sum stands for all. The second half are the first half's antipodes.
    """
    reach = range(-checks.whole("k", k, least=1), k + 1)
    primitive = sorted(
        # angles of different directions differ by more than 1/(2k²), far more than a rounded angle is off
        ((a, b) for a in reach for b in reach if math.gcd(a, b) == 1),
        key=lambda w: math.atan2(w[1], w[0]) % (2 * math.pi),
    )
    found: list[Plane] = []
    for (a, b), (c, d) in pairwise([*primitive, primitive[0]]):
        found += [(a, b), (a + c, b + d)]
    return tuple(found)


@lru_cache(maxsize=256)
def best_quality(S: Multiset) -> int:
    """max q(S, φ) over all φ ∈ [0, 2π), exactly."""
    k = max((max(map(abs, x)) for (x, _) in S.values), default=1)
    return max(agreeing(S, w) for w in directions(max(1, k)))


def agreeing(S: Multiset, w: Plane) -> int:
    """How many examples the half-space with the normal w labels rightly."""
    return sum(count for (x, y), count in S.items if (1 if w[0] * x[0] + w[1] * x[1] >= 0 else -1) == y)


def is_meant(sine: Fraction, S: Multiset) -> bool:
    """Whether some half-space explains the sample, and its points lie in a domain for which γ is small enough."""
    k = max((max(map(abs, x)) for (x, _) in S.values), default=1)
    return 2 * k * k * sine <= 1 and best_quality(S) == len(S)


@dataclass(frozen=True)
class HoldsBest(Goal):
    """The multiset of angles holds one whose quality is the best of all angles in [0, 2π).

    Counts as reached where no half-space explains the sample, or γ is larger than Lemma 11 has it for its points.
    The output is that of MakeData, or of MakeThrData on (S_H, S).

    Source: half-spaces paper, Lemmas 12 and 13.
    """

    sine: Fraction

    def reached(self, instance: Instance, output: Any) -> bool:
        S_H = output
        S = instance.dataset
        if isinstance(output[1], Multiset):
            anchor, chosen = output
            held = [(anchor + j) % AngleGrid(self.sine).size for j, _ in chosen.values]
            S = S[1]
        else:
            held = [i for i, copies in enumerate(S_H) if copies]
        S = examples(S)
        return not is_meant(self.sine, S) or max(qualities(self.sine, S)[held].tolist()) == best_quality(S)

    def __str__(self) -> str:
        return "an angle that is best among all angles"


# --- which angles are near a point -----------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def _counted(sine: Fraction, angle: Angle, wrap: bool, x: Plane, y: int) -> tuple[int, ...]:
    if not any(x):
        return ()
    a, b = x
    grid = AngleGrid(sine)
    # φ(x) + π/2 is the angle of (−b, a), φ(x) − π/2 that of (b, −a)
    turned = {"point": [(a, b)], "border": [(-b, a)], "borders": [(-b, a), (b, -a)]}[angle]
    near = {i for z in turned for i in grid.near(z, wrap=wrap)}
    labels = grid.labels(x)
    return tuple(i for i in sorted(near) if labels[i] == y)


@lru_cache(maxsize=256)
def _counts(sine: Fraction, angle: Angle, wrap: bool, S: Multiset) -> tuple[int, ...]:
    found = [0] * AngleGrid(sine).size
    for (x, y), count in S.items:
        for i in _counted(sine, angle, wrap, x, y):
            found[i] += count
    return tuple(found)


# --- cards: what is claimed where, and where the text here departs from the print ---

_DATA = "examples ((x1, x2), y), whole coordinates, y in {-1, 1}"

MakeData.card = Card(
    name="MakeData",
    system="H3",
    title="Discretize and MakeData: a noisy dataset of angles",
    paper=HALFSPACES,
    place="§3.1, Algorithm 1 and Lemma 12",
    claim="(ε, 0)-DP; some angle of the output has the best quality of all angles",
    inputs=f"{_DATA}; epsilon > 0, sin γ",
    output="how many copies of each angle iγ, i = 0, …, ⌊2π/γ⌋",
    deviations=(RELATION, *READ_AS, CAPPED),
    variants=("MakeDataCorrected",),
)

MakeDataCorrected.card = Card(
    name="MakeDataCorrected",
    system="H3",
    title="MakeData with noise for as many angles as an example counts at",
    paper=HALFSPACES,
    place="§3.1, Algorithm 1 and Lemma 12, mended",
    claim="(ε, 0)-DP",
    inputs=f"{_DATA}; epsilon > 0, sin γ",
    output="how many copies of each angle iγ, i = 0, …, ⌊2π/γ⌋",
    deviations=(RELATION, *READ_AS, CAPPED, "The noise is Lap(s/ε), s the sensitivity of the reading."),
    variants=("MakeData",),
)
