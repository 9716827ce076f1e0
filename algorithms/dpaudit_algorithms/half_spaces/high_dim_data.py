"""Half-spaces through the origin in d dimensions: the quality Q of an angle, and MakeHighDimData's noisy angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from dpaudit.language import (
    ADD_REMOVE_ONE,
    HALFSPACES,
    Card,
    Claim,
    DatasetError,
    Goal,
    Instance,
    IntArray,
    Mechanism,
    Multiset,
    NoisyCopies,
    ParameterError,
    UtilityClaim,
    cached,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.half_spaces.angles import GAMMA, AngleGrid, Sine, is_fine
from dpaudit_algorithms.half_spaces.half_spaces import CAPPED, RELATION

Point: TypeAlias = tuple[int, ...]
"""A point of the integer grid, shape (d,)."""
Angle: TypeAlias = Literal["point", "border"]
"""The definition of the angle φ_i(x): see the card."""
Meant: TypeAlias = Literal["plane", "prefix"]
"""The half-space h_φ for a single given angle: see the card."""


@dataclass(frozen=True)
class _MakeHighDimData(Mechanism):
    """Base class of both versions, which differ only in the scale of the noise."""

    epsilon: checks.Positive
    sine: Sine
    i: checks.Count = 1
    dimension: Annotated[int, checks.least(2)] = 3
    angle: Angle = "point"
    meant: Meant = "plane"
    wrap: bool = False
    cap: checks.Count | None = None
    prefix: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        AngleGrid(self.sine)
        if self.i >= self.dimension:
            raise ParameterError(f"i must be below the dimension, {self.dimension}, not {self.i!r}.")
        if self.meant == "prefix" and len(self.prefix) != self.i - 1:
            raise ParameterError(f'meant = "prefix" needs i − 1 = {self.i - 1} chosen angles, not {self.prefix!r}.')

    @property
    def claim(self) -> Claim:
        """ε, Corollary 18."""
        return Claim(self.epsilon, relation=ADD_REMOVE_ONE)

    @property
    def scale(self) -> float:
        """Scale of the noise, in copies."""
        raise NotImplementedError

    @property
    def sensitivity(self) -> int:
        """The largest number of angles at which an example counts, for any grid: the L1 distance of neighbours' counts.

        Without `wrap`, two adjacent grid angles are less than γ from φ_i(x), or one if φ_i(x) is on the grid. With
        angle = "border" and meant = "plane", x changes sides between the two, so it counts at only one. On the circle,
        the last angle and 0 are less than γ apart, which adds one.
        """
        return (1 if (self.angle, self.meant) == ("border", "plane") else 2) + int(self.wrap)

    def counted(self, x: Point, y: int) -> tuple[int, ...]:
        """The indices j of the angles at which an example counts: |φ_i(x) − jγ| < γ and h_{jγ}(x) = y."""
        return counted(self, x, y)

    def counts(self, S: Any) -> tuple[int, ...]:
        """n_φ of every angle of the grid, in their order."""
        counts = [0] * AngleGrid(self.sine).size
        for (x, y), count in examples(S, self.dimension).items:
            for j in self.counted(x, y):
                counts[j] += count
        return tuple(counts)

    def run(self, S: Any) -> NoisyCopies:
        # for φ ∈ H_γ: n_φ ← |{(x, y) ∈ S : |φ_i(x) − φ| < γ and h_φ(x) = y}|; add max(⌈n_φ + Lap⌉, 1) copies of φ
        return NoisyCopies(self.counts(S), self.scale, self.cap)


@dataclass(frozen=True)
class MakeHighDimData(_MakeHighDimData):
    """Copies of every angle of H_γ: the noisy number, with Lap(1/ε), of correct examples with a nearby i-th angle.

    Its privacy claim fails as printed, like that of MakeData: an example counts at two angles, but the noise is for
    one. It holds for angle = "border" and meant = "plane" if |φ_i(x) − φ| is not taken on the circle.

    Args:
        epsilon: > 0.
        sine: sin γ, in (0, 1]; 1/(2k²), or `minimum_angle(k)`, for X = {−k, …, k} (Lemma 11).
        i: which angle, 1 ≤ i < dimension.
        dimension: d ≥ 2.
        angle, meant, wrap: readings, see the card.
        cap: largest number of copies of an angle, ≥ 1.
        prefix: the indices of φ*_1, …, φ*_{i−1}; used only for meant = "prefix".

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.2, Algorithm 4 and Corollary 18.
    """

    @property
    def scale(self) -> float:
        """1/ε, as printed."""
        return 1 / self.epsilon

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Corollary 18's second sentence, for φ_1: with probability 1, for every sample that a half-space explains."""
        if self.i > 1:
            return ()
        return (UtilityClaim(HoldsBestAngle(self.sine, self.dimension), 1.0, "§3.2, Corollary 18"),)


@dataclass(frozen=True)
class MakeHighDimDataCorrected(_MakeHighDimData):
    """MakeHighDimData with noise Lap(s/ε), where s is the sensitivity of its reading: 1, 2 or 3.

    Privacy: the counts of neighbours differ by at most s in L1 (see `sensitivity`), so the Laplace mechanism (Lemma 5)
    and rounding (Lemma 2) give ε. There is no guarantee of a best angle: the grid may hold none.

    Args:
        epsilon, sine, i, dimension, angle, meant, wrap, cap, prefix: as in `MakeHighDimData`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.2, Algorithm 4, with the noise of Lemma 5.
    """

    @property
    def scale(self) -> float:
        """s/ε."""
        return self.sensitivity / self.epsilon


def examples(S: Any, dimension: int) -> Multiset:
    """The dataset as a multiset of examples.

    Raises:
        DatasetError: a record that is not an example.
    """
    return _examples(Multiset.of(S), dimension)


@lru_cache(maxsize=1024)
def _examples(S: Multiset, dimension: int) -> Multiset:
    for record in S.values:
        pair = isinstance(record, tuple) and len(record) == 2 and record[1] in (-1, 1)
        if not (pair and _is_point(record[0], dimension)):
            raise DatasetError(f"An example is (x, y), x of {dimension} whole numbers, y in -1, 1; not {record!r}.")
    return S


def _is_point(x: Any, dimension: int) -> bool:
    return isinstance(x, tuple) and len(x) == dimension and all(type(c) is int for c in x)


# --- qualities -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=128)
def agreements(sine: Sine, dimension: int, S: Multiset, prefix: tuple[int, ...] = ()) -> IntArray:
    """q(S, ·) for all choices of the angles after `prefix`: whole numbers, shape (size,) · (d − 1 − len(prefix))."""
    grid = AngleGrid(sine)
    q = np.zeros((grid.size,) * (dimension - 1 - len(prefix)), dtype=np.int64)
    for (x, y), count in examples(S, dimension).items:
        q += count * ((grid.sides(x)[prefix] >= 0) == (y == 1))
    q.flags.writeable = False
    return q


@lru_cache(maxsize=512)
def coordinate_quality(sine: Sine, dimension: int, S: Multiset, prefix: tuple[int, ...] = ()) -> IntArray:
    """Q(S, jγ) given the angles chosen before: the best q of any completion by angles of H_γ, shape (size,).

    Lemma 16: adding, removing or replacing one example changes every q, and hence every Q(S, jγ), by at most 1.

    Source: half-spaces paper, section 3.2.
    """
    q = agreements(sine, dimension, S, prefix)
    best: IntArray = q.max(axis=tuple(range(1, q.ndim))) if q.ndim > 1 else q
    return best


@dataclass(frozen=True)
class HoldsBestAngle(Goal):
    """Some angle of the output has, as φ_1, the quality of the best half-space of all.

    Also reached if no half-space explains the sample, or γ is larger than in Lemma 11 for its points.

    Source: half-spaces paper, Lemma 17 and Corollary 18.
    """

    sine: Sine
    dimension: int

    def reached(self, instance: Instance, output: Any) -> bool:
        S = examples(instance.dataset, self.dimension)
        if not is_meant(self.sine, self.dimension, S):
            return True
        held = [j for j, copies in enumerate(output) if copies]
        return int(coordinate_quality(self.sine, self.dimension, S)[held].max()) == len(S)

    def __str__(self) -> str:
        return "an angle that is best among all angles"


# --- which angles are near a point -----------------------------------------------------------------------------------


@cached(maxsize=65536)
def counted(data: _MakeHighDimData, x: Point, y: int) -> tuple[int, ...]:
    """As `MakeHighDimData.counted`."""
    return tuple(j for j in near(data, x) if _label(data, j, x) == y)


@cached(maxsize=65536)
def near(data: _MakeHighDimData, x: Point) -> tuple[int, ...]:
    """The indices j of the angles with |φ_i(x) − jγ| < γ."""
    i = data.i
    if data.angle == "border":
        x, i = (-x[i], x[i - 1]), 1
    return AngleGrid(data.sine).near(x, i, wrap=data.wrap) if any(x[i - 1 :]) else ()


def _label(data: _MakeHighDimData, j: int, x: Point) -> int:
    """h_φ(x), φ = jγ, with the other angles according to the reading."""
    grid = AngleGrid(data.sine)
    if data.meant == "plane":
        side = grid.side((j,), (x[data.i - 1], x[data.i]))
    else:
        side = grid.side((*data.prefix, j, *(0,) * (data.dimension - 1 - data.i)), x)
    return 1 if side >= 0 else -1


# --- all half-spaces, in whole numbers -------------------------------------------------------------------------------


def reach(k: int, dimension: int) -> int:
    """B such that w in {−B, …, B}^d, as ⟨w, x⟩ ≥ 0, give all labellings of {−k, …, k}^d by half-spaces.

    The planes x⊥ divide space into faces on which the signs of all ⟨w, x⟩ are constant. The unit vectors are among the
    points, so a face of dimension f is a pointed cone, and the sum of f independent extreme rays of it is inside.
    A ray is the intersection of d − 1 planes, a vector of minors of d − 1 points, each at most
    (d − 1)^{(d−1)/2}·k^{d−1} (Hadamard). So B = d times that (rounded down) is enough, with w ≠ 0.
    """
    return dimension * math.isqrt((dimension - 1) ** (dimension - 1) * k ** (2 * (dimension - 1)))


@lru_cache(maxsize=64)
def box_agreements(k: int, dimension: int, S: Multiset) -> IntArray:
    """The number of examples that every w in {−B, …, B}^d labels correctly; −1 for w = 0. Shape (2B + 1,) · d."""
    B = reach(k, dimension)
    line = np.arange(-B, B + 1)
    q = np.zeros((2 * B + 1,) * dimension, dtype=np.int64)
    for (x, y), count in examples(S, dimension).items:
        if max(map(abs, x)) > k:
            raise DatasetError(f"The points must lie in {{-{k}, …, {k}}}^{dimension}; {x!r} does not.")
        inner = np.zeros((1,) * dimension, dtype=np.int64)
        for axis, c in enumerate(x):
            inner = inner + (c * line).reshape(*(1,) * axis, -1, *(1,) * (dimension - 1 - axis))
        q += count * ((inner >= 0) == (y == 1))
    q[(B,) * dimension] = -1
    q.flags.writeable = False
    return q


def best_agreement(S: Multiset, dimension: int) -> int:
    """max q(S, ·) over all half-spaces, exactly."""
    k = max((max(map(abs, x)) for (x, _) in S.values), default=1)
    return int(box_agreements(max(1, k), dimension, S).max())


def is_meant(sine: Sine | None, dimension: int, S: Multiset) -> bool:
    """Whether some half-space explains the sample, and γ is small enough for the domain of its points."""
    k = max((max(map(abs, x)) for (x, _) in S.values), default=1)
    return (sine is None or is_fine(sine, k)) and best_agreement(S, dimension) == len(S)


# --- cards: claims, sources and deviations from the papers ---

DATA = "examples (x, y), x of d whole coordinates, y in {-1, 1}"
READ_AS = (
    GAMMA,
    'angle = "point": φ_i(x), "the i-th angle corresponding to x", is the i-th spherical angle of x itself; "border" '
    "is the angle φ at which (cos φ, sin φ) is perpendicular to (x_i, x_{i+1}), a quarter of a turn further.",
    "An x without that angle (all coordinates from the i-th on are 0) does not count.",
    'meant = "plane": h_φ with one angle is the half-space whose normal lies in the plane of coordinates i and i + 1 '
    '(earlier angles π/2, later ones 0), because Algorithm 4 is given only i; "prefix": the earlier angles are those '
    "chosen before, the later ones 0.",
    "wrap = False: |φ_i(x) − φ| is the difference of two numbers; wrap = True: the distance on the circle.",
)

MakeHighDimData.card = Card(
    name="MakeHighDimData",
    system="H5",
    title="MakeHighDimData: a noisy dataset of angles for one coordinate",
    paper=HALFSPACES,
    place="§3.2, Algorithm 4 and Corollary 18",
    claim="ε-DP; some angle of the output has the best quality of all angles",
    inputs=f"{DATA}; epsilon > 0, sin γ, 1 ≤ i < d",
    output="the number of copies of each angle jγ, j = 0, …, ⌊2π/γ⌋",
    deviations=(RELATION, *READ_AS, CAPPED),
    variants=("MakeHighDimDataCorrected",),
    findings=(FINDINGS[18], FINDINGS[19]),
)

MakeHighDimDataCorrected.card = Card(
    name="MakeHighDimDataCorrected",
    system="H5",
    title="MakeHighDimData with noise for all angles at which an example counts",
    paper=HALFSPACES,
    place="§3.2, Algorithm 4 and Corollary 18, corrected",
    claim="ε-DP",
    inputs=f"{DATA}; epsilon > 0, sin γ, 1 ≤ i < d",
    output="the number of copies of each angle jγ, j = 0, …, ⌊2π/γ⌋",
    deviations=(RELATION, *READ_AS, CAPPED, "The noise is Lap(s/ε), s the sensitivity of the reading."),
    variants=("MakeHighDimData",),
)
