"""Half-spaces of the plane through the origin: MakeData and MakeThrData, which map examples to angles."""

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
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.half_spaces.angles import GAMMA, AngleGrid, Sine, is_fine

Plane: TypeAlias = tuple[int, int]
"""A point of the integer grid in the plane, or a direction."""
Angle: TypeAlias = Literal["point", "border", "borders"]
"""The definition of the angle φ(x): see the card."""
Ties: TypeAlias = Literal["last", "least", "last turned", "least turned"]
"""Which of the best angles is φ*: the last or the least, before or after the rotation."""


@dataclass(frozen=True)
class _MakeData(Mechanism):
    """Base class of both versions, which differ only in the scale of the noise."""

    epsilon: checks.Positive
    sine: Sine
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
        """Scale of the noise, in copies."""
        raise NotImplementedError

    @property
    def sensitivity(self) -> int:
        """The largest number of angles at which one example counts: the L1 distance of neighbours' counts.

        Without `wrap`, two adjacent grid angles are less than γ from φ(x), or one if φ(x) is on the grid. In the
        reading "point" all h_φ there give x the label 1, so a positive example counts at two. In the reading "border"
        the two sides disagree, so it counts at one. On the circle, the last angle of the grid and 0 are less than γ
        apart, which adds one.
        """
        return {"point": 2, "border": 1, "borders": 2}[self.angle] + int(self.wrap)

    def sensitivity_on(self, k: int) -> int:
        """`sensitivity` for the points of {−k, …, k}² only."""
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
    """Copies of every angle of H_γ: the noisy number, with Lap(1/ε), of nearby examples that h_φ labels correctly.

    Its privacy claim fails as printed: an example counts at two angles, but the noise is for one. The claim holds if
    φ(x) is read as the angle of the half-space whose border passes through x and |φ(x) − φ| is not taken on the
    circle; and for the literal reading at k = 1 and γ = 45°. Its other claim, that some angle
    of the output is best among all angles, fails for every reading on samples whose best angles are only a border: see
    finding 15 and `MakeDataCorrected`.

    Args:
        epsilon: > 0.
        sine: sin γ, in (0, 1]; 1/(2k²), or `minimum_angle(k)`, for X = {−k, …, k} (Lemma 11).
        angle: "point", "border" or "borders", the definition of φ(x).
        wrap: whether angles are compared on the circle.
        cap: largest number of copies of an angle, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.1, Algorithm 1 and Lemma 12.
    """

    @property
    def scale(self) -> float:
        """1/ε, as printed."""
        return 1 / self.epsilon

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Lemma 12's second sentence: with probability 1, for every sample that some half-space explains."""
        return (UtilityClaim(HoldsBest(self.sine), 1.0, "§3.1, Lemma 12"),)


@dataclass(frozen=True)
class MakeDataCorrected(_MakeData):
    """MakeData with noise Lap(s/ε), where s is the true sensitivity of its reading (`sensitivity`): 1, 2 or 3.

    Privacy: the counts of neighbours differ by at most s in L1 (see `sensitivity` for the proof), so the Laplace
    mechanism (Lemma 5) and rounding (Lemma 2) give ε. There is no guarantee of a best angle: the grid may hold none.

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

    S_H is the number of copies of each angle, the output of `MakeData`. The examples are (j, y) with j the position of
    the angle counted from the anchor around the circle, and y = 1 or 0 for the paper's 1 and −1, as the threshold
    learners here expect. It claims no privacy and has none.

    Args:
        sine: sin γ.
        C: number of elements of S_H kept, copies counted, ≥ 1.
        ties: which of the best angles of max_C(S_H) is φ*: the last or the least, before or after the rotation.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.1, Algorithm 2.
    """

    sine: Sine
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
        q = qualities(self.sine, examples(S))  # calculate q(S, φ) for every φ
        kept, others = largest(q, tuple(S_H), self.C)  # max_C(S_H), the C largest by (q(S, φ), φ); S_H ∖ max_C(S_H)
        anchor: int = 0 if others is None else (yield others)  # randomly select φ′ ∈ S_H ∖ max_C(S_H), if there is one
        # rotate so that φ′ = 0; φ* := argmax q(S, φ); add (φ, y) to S_Thr, y ← 1 if φ ≤ φ*, for φ ∈ max_C(S_H)
        return anchor, labelled(q, kept, anchor, self.ties)


def largest(
    q: IntArray, S_H: tuple[int, ...], kept: int
) -> tuple[tuple[tuple[int, int], ...], Categorical | None]:
    """The `kept` largest elements of S_H by (q, φ) as (index, copies), and the uniform draw of another one, if any.

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
    """S_Thr: the kept angles with their copies, rotated by the anchor, with labels 1 up to φ* and 0 beyond."""
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
        DatasetError: a record that is not an example.
    """
    records = Multiset.of(S)
    for record in records.values:
        if not (isinstance(record, tuple) and len(record) == 2 and record[1] in (-1, 1) and _is_point(record[0])):
            raise DatasetError(f"An example is ((x1, x2), y) with whole x1, x2 and y in -1, 1, not {record!r}.")
    return records


def _is_point(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) == 2 and all(type(c) is int for c in x)


@lru_cache(maxsize=256)
def qualities(sine: Sine, S: Multiset) -> IntArray:
    """q(S, iγ) = |{(x, y) ∈ S : h_{iγ}(x) = y}| for every i, shape (size,)."""
    grid = AngleGrid(sine)
    q = np.zeros(grid.size, dtype=np.int64)
    for (x, y), count in S.items:
        q += count * (grid.labels(x) == y)
    q.flags.writeable = False
    return q


@lru_cache(maxsize=16)
def directions(k: int) -> tuple[Plane, ...]:
    """Normals w for all labellings of {−k, …, k}² by half-spaces ⟨w, x⟩ ≥ 0, from (1, 0) on around the circle.

    The labels change at normals that are perpendicular to a point, which are again the directions of points. The sum of
    two adjacent ones represents all normals between them. The second half are the antipodes of the first half.
    """
    reach = range(-checks.whole("k", k, least=1), k + 1)
    primitive = sorted(
        # angles of different directions differ by more than 1/(2k²), far more than the rounding error
        ((a, b) for a in reach for b in reach if math.gcd(a, b) == 1),
        key=lambda w: math.atan2(w[1], w[0]) % (2 * math.pi),
    )
    normals: list[Plane] = []
    for (a, b), (c, d) in pairwise([*primitive, primitive[0]]):
        normals += [(a, b), (a + c, b + d)]
    return tuple(normals)


@lru_cache(maxsize=256)
def best_quality(S: Multiset) -> int:
    """max q(S, φ) over all φ ∈ [0, 2π), exactly."""
    k = max((max(map(abs, x)) for (x, _) in S.values), default=1)
    return max(agreeing(S, w) for w in directions(max(1, k)))


def agreeing(S: Multiset, w: Plane) -> int:
    """The number of examples that the half-space with the normal w labels correctly."""
    return sum(count for (x, y), count in S.items if (1 if w[0] * x[0] + w[1] * x[1] >= 0 else -1) == y)


def is_meant(sine: Sine, S: Multiset) -> bool:
    """Whether some half-space explains the sample, and γ is small enough for the domain of its points."""
    k = max((max(map(abs, x)) for (x, _) in S.values), default=1)
    return is_fine(sine, k) and best_quality(S) == len(S)


@dataclass(frozen=True)
class HoldsBest(Goal):
    """The multiset of angles holds an angle with the best quality of all angles in [0, 2π).

    Also reached if no half-space explains the sample, or γ is larger than in Lemma 11 for its points.
    The output is that of MakeData, or of MakeThrData on (S_H, S).

    Source: half-spaces paper, Lemmas 12 and 13.
    """

    sine: Sine

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
def _counted(sine: Sine, angle: Angle, wrap: bool, x: Plane, y: int) -> tuple[int, ...]:
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
def _counts(sine: Sine, angle: Angle, wrap: bool, S: Multiset) -> tuple[int, ...]:
    counts = [0] * AngleGrid(sine).size
    for (x, y), count in S.items:
        for i in _counted(sine, angle, wrap, x, y):
            counts[i] += count
    return tuple(counts)


# --- cards: claims, sources and deviations from the papers ---

RELATION = "Neighbours have one example more or less, as in the paper (Lemma 16, Algorithm 7)."
READ_AS = (
    GAMMA,
    'angle = "point" is the literal reading of "the angle corresponding to x": the paper writes a vector as (r, φ), '
    'and section 3.2 has "the i-th angle corresponding to x"; "border" (φ + π/2, where x is on the border of h_φ) and '
    '"borders" (φ ± π/2) are the angles at which h_φ "passes through" x.',
    "wrap = False: |φ(x) − φ| is the difference of two numbers in [0, 2π); wrap = True: the distance on the circle.",
    "The origin has no angle and does not count.",
)
CAPPED = "cap: a public bound on the copies of an angle, which makes the output distribution finite; None as printed."
_DATA = "examples ((x1, x2), y), whole coordinates, y in {-1, 1}"

MakeData.card = Card(
    name="MakeData",
    system="H3",
    title="Discretize and MakeData: a noisy dataset of angles",
    paper=HALFSPACES,
    place="§3.1, Algorithm 1 and Lemma 12",
    claim="(ε, 0)-DP; some angle of the output has the best quality of all angles",
    inputs=f"{_DATA}; epsilon > 0, sin γ",
    output="the number of copies of each angle iγ, i = 0, …, ⌊2π/γ⌋",
    deviations=(RELATION, *READ_AS, CAPPED),
    variants=("MakeDataCorrected",),
    findings=(FINDINGS[15], FINDINGS[16]),
)

MakeDataCorrected.card = Card(
    name="MakeDataCorrected",
    system="H3",
    title="MakeData with noise for all angles at which an example counts",
    paper=HALFSPACES,
    place="§3.1, Algorithm 1 and Lemma 12, corrected",
    claim="(ε, 0)-DP",
    inputs=f"{_DATA}; epsilon > 0, sin γ",
    output="the number of copies of each angle iγ, i = 0, …, ⌊2π/γ⌋",
    deviations=(RELATION, *READ_AS, CAPPED, "The noise is Lap(s/ε), s the sensitivity of the reading."),
    variants=("MakeData",),
)
