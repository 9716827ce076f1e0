"""A_SimpleH: half-spaces of the plane by learning a threshold of angles; and a corrected version."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from dpaudit.language import (
    ADD_REMOVE_ONE,
    HALFSPACES,
    AnyScores,
    Applied,
    Card,
    Claim,
    IntArray,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Quality,
    Scores,
    checks,
    log_star,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.goals import BETA
from dpaudit_algorithms.half_spaces.angles import AngleGrid, Sine
from dpaudit_algorithms.half_spaces.half_spaces import (
    CAPPED,
    READ_AS,
    RELATION,
    Angle,
    MakeData,
    MakeThrData,
    Plane,
    Ties,
    agreeing,
    directions,
    examples,
)
from dpaudit_algorithms.half_spaces.simple_half_spaces_theory import ASimpleHCorrectedTheory, ASimpleHTheory
from dpaudit_algorithms.interior_points.rec_concave import RecConcaveCorrected


@dataclass(frozen=True)
class ASimpleH(ASimpleHTheory):
    """MakeData, MakeThrData, and any private learner of thresholds on the resulting dataset of angles.

    Its claims fail for every reading. The C angles that MakeThrData keeps, and φ*, depend on q(S, ·) without noise: one
    example may replace all of them, and the learner only protects one. And a threshold that is correct on those angles
    need not be one of them: see findings 16, 17 and `ASimpleHCorrected`.

    Args:
        epsilon: > 0.
        sine: sin γ, in (0, 1]; 1/(2k²), or `minimum_angle(k)`, for X = {−k, …, k}.
        learner: A_Thr, a learner of thresholds on 0, …, ⌊2π/γ⌋, with examples (position, 0 or 1), with a claim.
        C: n_Thr, the number of examples for the learner; by default the first of its `sample_sizes`.
        budget: "printed", with ε each for MakeData and A_Thr; "halves", ε/2 each, as in Theorem 14. The learner's own ε
            must be equal to its part.
        ties: as in `MakeThrData`.
        turned_back: whether the angle is rotated back by the anchor before it is returned.
        angle, wrap, cap: as in `MakeData`.
        alpha, beta: for the utility guarantee, in (0, 1); the learner has its own.

    Raises:
        ParameterError: a parameter outside its range, or a learner without a claim, with another ε or another size.

    Source: half-spaces paper, section 3.1, Algorithm 3 and Theorem 14.
    """

    epsilon: checks.Positive
    sine: Sine
    learner: Mechanism
    C: checks.Count | None = None
    budget: Literal["printed", "halves"] = "printed"
    ties: Ties = "last"
    turned_back: bool = True
    angle: Angle = "point"
    wrap: bool = False
    cap: int | None = None
    alpha: checks.OpenUnit = 0.1
    beta: checks.OpenUnit = BETA

    def __post_init__(self) -> None:
        super().__post_init__()
        size = AngleGrid(self.sine).size
        if self.C is None and not self.learner.sample_sizes:
            raise ParameterError(f"{self.learner.name} prints no number of examples; give C.")
        own = claim_of(self.learner).epsilon
        if not math.isclose(own, self._share, rel_tol=1e-9):
            raise ParameterError(
                f"epsilon = {self.epsilon:g}, budget {self.budget!r}, needs a learner of {self._share:g}, not {own:g}."
            )
        places = _places(self.learner)
        if places is not None and places != size:
            raise ParameterError(f"The learner is for {places} places; the grid has {size} angles.")

    @property
    def _share(self) -> float:
        """ε of MakeData, and of the learner."""
        return self.epsilon if self.budget == "printed" else self.epsilon / 2

    @property
    def kept(self) -> int:
        """C = n_Thr."""
        return self.learner.sample_sizes[0].records if self.C is None else self.C

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 14, with the learner's δ."""
        return Claim(self.epsilon, claim_of(self.learner).delta, ADD_REMOVE_ONE)

    @property
    def make_data(self) -> MakeData:
        """Algorithm 1 with this reading."""
        return MakeData(self._share, self.sine, self.angle, self.wrap, self.cap)

    def run(self, S: Any) -> Program:
        # H_γ ← Discretize(γ), the grid of `make_data`
        S_H = yield self.make_data.on(S)  # S_H ← MakeData(ε, H_γ, S)
        # S_Thr ← MakeThrData(S_H, S, n_Thr)
        anchor, S_Thr = yield MakeThrData(self.sine, self.kept, self.ties).on((S_H, S))
        place = yield self.learner.on(S_Thr)  # apply A_Thr with input S_Thr and get φ*
        return (anchor + place) % AngleGrid(self.sine).size if self.turned_back else place  # h_{φ*}


def _places(learner: Mechanism) -> int | None:
    """The number of positions that a learner of the catalogue is for; None if unknown."""
    quality = getattr(learner, "quality", None)
    if isinstance(quality, Quality):
        return quality.n_solutions
    size = getattr(learner, "size", None)
    return size if isinstance(size, int) else None


# --- corrected -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgreeingOnHalf(Quality):
    """q(S, j) = the number of examples that the j-th normal of a half-circle labels correctly: 1-sensitive.

    Args:
        k: the points are in {−k, …, k}².
        half: 0 for normals at angles in [0, π), 1 for [π, 2π).
    """

    k: int
    half: int

    @property
    def n_solutions(self) -> int:
        return len(directions(self.k)) // 2

    def normal(self, j: int) -> Plane:
        """The j-th normal."""
        return directions(self.k)[self.half * self.n_solutions + j]

    def __call__(self, dataset: Any) -> AnyScores:
        return _agreeing_on_half(self.k, self.half, examples(dataset))


@lru_cache(maxsize=256)
def _agreeing_on_half(k: int, half: int, S: Multiset) -> Scores:
    normals = np.array(directions(k), dtype=np.int64)
    chosen = normals[half * len(normals) // 2 : (half + 1) * len(normals) // 2]
    right: IntArray = np.zeros(len(chosen), dtype=np.int64)
    for (x, y), count in S.items:
        right += count * (np.where(chosen @ np.array(x, dtype=np.int64) >= 0, 1, -1) == y)
    return Scores(right)


@dataclass(frozen=True)
class UnderAddRemove(Mechanism):
    """An optimiser of a 1-sensitive quality, with its claim under add/remove-one: it only reads the scores.

    Args:
        inner: private for datasets whose scores all differ by at most 1, for any neighbour relation.

    Raises:
        ParameterError: an inner mechanism without a claim.
    """

    inner: ExponentialMechanism | RecConcaveCorrected

    def __post_init__(self) -> None:
        claim_of(self.inner)

    @property
    def claim(self) -> Claim:
        """The inner claim's ε and δ."""
        return Claim(self.inner.claim.epsilon, self.inner.claim.delta, ADD_REMOVE_ONE)

    def run(self, S: Any) -> Applied:
        return self.inner.on(S)


@dataclass(frozen=True)
class ASimpleHCorrected(ASimpleHCorrectedTheory):
    """The best normal of either half-circle by a private quasi-concave optimiser, then the better of the two.

    The normals w, in whole numbers (`directions`), give all labellings of {−k, …, k}² by half-spaces ⟨w, x⟩ ≥ 0: they
    are the directions at which the label of a point changes, and one between any two adjacent ones. So the best of all
    angles is among them, even if it is only a border; a multiple of γ need not be.

    1. Q_i(S, j) = the number of examples that the j-th normal of half-circle i labels correctly, i = 0, 1.
    2. w_i ← RecConcaveCorrected on Q_i, with the quality promise r, α/2, ε̂ = ε/(9N) and δ̂ = δ/(6N); if that is one
       call (N = 1), the exponential mechanism on Q_i with ε/3.
    3. w ← w_0 or w_1 by the exponential mechanism with ε/3 on the number of examples that they label correctly.

    Privacy, for every dataset, under both add/remove-one and replace-one: every Q_i(·, j) changes by at most 1.
    RecConcaveCorrected with N calls is (3N·ε̂, 3N·δ̂) = (ε/3, δ/2)-DP on a 1-sensitive quality (the proof of Lemma 6.11
    needs nothing else of neighbours), the exponential mechanism ε/3-DP. Step 3 is ε/3-DP, because the scores of the two
    normals, which are fixed by then, change by at most 1. Basic composition gives (ε, δ).

    Utility, for a sample of r examples that a half-space h_θ explains. Let θ be in half-circle i. A positive example x
    is labelled correctly on the closed half-circle around it, which holds θ. So the path from θ up to θ + π (excluded)
    leaves it at most once and does not enter it again; the same holds downwards, and for a negative example, which is
    labelled correctly on an open half-circle that holds θ. So q(S, ·) does not increase from θ up to θ + π or down to
    θ − π, the ends excluded. The other half-circle holds θ + π, so on half-circle i q is quasi-concave, with maximum r
    at θ. Hence Q_i(w_i) ≥ (1 − α/2)·r except with probability β₁: m·e^{−εαr/12} for N = 1 (the exponential mechanism on
    m normals), otherwise the failure probability of Lemma 6.13. Step 3 loses more than αr/2 with probability at most
    e^{−εαr/12}. In total at most αr examples are wrong, except with probability β₁ + e^{−εαr/12}.

    Args:
        epsilon: > 0.
        delta: in (0, 1); not used if N = 1.
        k: the points are in {−k, …, k}², ≥ 1.
        records: r ≥ 1, the intended number of examples; public.
        alpha: in (0, 1].
        N: bound on RecConcave's calls, 1 ≤ N ≤ log*m; by default log*m.
        base: as in `RecConcave`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: half-spaces paper, section 3.1, Algorithm 3, with the optimiser of Stemmer's thesis, section 6.4.
    """

    epsilon: checks.Positive
    delta: checks.OpenUnit
    k: checks.Count
    records: checks.Count
    alpha: checks.Unit = 0.1
    N: checks.Count | None = None
    base: checks.Count = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.N is not None and log_star(self.solutions) < self.N:
            raise ParameterError(f"N must be at most log*m = {log_star(self.solutions)}, not {self.N}.")

    @property
    def claim(self) -> Claim:
        """(ε, δ), the proof above."""
        return Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)

    @property
    def solutions(self) -> int:
        """m, normals of a half-circle."""
        return AgreeingOnHalf(self.k, 0).n_solutions

    def optimiser(self, half: int) -> ExponentialMechanism | RecConcaveCorrected:
        """Step 2."""
        Q, T = AgreeingOnHalf(self.k, half), self.solutions - 1
        N = log_star(self.solutions) if self.N is None else self.N
        whole = RecConcaveCorrected(T, Q, float(self.records), self.alpha / 2, self.epsilon, self.delta, N, self.base)
        if whole.calls == 1:
            return ExponentialMechanism(self.epsilon / 3, Q)
        return replace(whole, epsilon=self.epsilon / (9 * whole.calls), delta=self.delta / (6 * whole.calls))

    def run(self, S: Any) -> Program:
        data = examples(S)
        normals = []
        # 1, 2. w_i ← RecConcaveCorrected on Q_i, for i = 0, 1
        for half in (0, 1):
            j = yield UnderAddRemove(self.optimiser(half)).on(data)
            normals.append(AgreeingOnHalf(self.k, half).normal(j))
        # 3. w ← w_0 or w_1 by the exponential mechanism with ε/3
        scores = Scores([agreeing(data, w) for w in normals], tuple(normals))
        return scores.softmax(self.epsilon / 6).spending(Claim(self.epsilon / 3, relation=ADD_REMOVE_ONE))


# --- cards: claims, sources and deviations from the papers ---

ASimpleH.card = Card(
    name="ASimpleH",
    system="H4",
    title="Half-spaces of the plane by learning a threshold of angles",
    paper=HALFSPACES,
    place="§3.1, Algorithms 2 and 3, Theorem 14",
    claim="(ε, δ)-DP; empirical error at most α with probability 1 − β",
    inputs="examples ((x1, x2), y), whole coordinates, y in {-1, 1}; epsilon, sin γ, a learner of thresholds, C",
    output="the index i of an angle iγ, for h(x) = 1 iff ⟨(cos iγ, sin iγ), x⟩ ≥ 0",
    deviations=(
        RELATION,
        *READ_AS,
        'budget = "printed": both parts get ε, as in Algorithm 3; "halves": both get ε/2, as in its theorem.',
        "The anchor φ′ is uniform over the elements of S_H ∖ max_C(S_H), copies counted; if none are left, there "
        "is no rotation.",
        "turned_back: the returned position is counted from the anchor and is rotated back; False leaves it.",
        'ties = "last": φ* is the largest of the best angles, last in the order (q, φ) of the preceding line; "least" '
        'the smallest; "last turned", "least turned": after the rotation.',
        "The C largest elements of S_H count copies; if there are fewer, all are taken.",
        "A_Thr gets positions on the circle counted from the anchor instead of angles, and labels 1, 0 for 1, −1.",
        "If γ divides 2π, the angles 0 and 2π are one direction at two positions.",
        CAPPED,
        "α and β only belong to the utility guarantee; the learner has its own.",
    ),
    variants=("ASimpleHCorrected",),
    findings=(FINDINGS[16], FINDINGS[17]),
)

ASimpleHCorrected.card = Card(
    name="ASimpleHCorrected",
    system="H4",
    title="Half-spaces of the plane by quasi-concave optimisation on two half-circles",
    paper=HALFSPACES,
    place="§3.1, Theorem 14, corrected",
    claim="(ε, δ)-DP under add/remove-one; empirical error at most α with probability 1 − β",
    inputs="examples ((x1, x2), y), x in {−k, …, k}², y in {-1, 1}; epsilon, delta, k, the number of examples r, alpha",
    output="a normal vector w of whole numbers, for h(x) = 1 iff ⟨w, x⟩ ≥ 0",
    deviations=(
        RELATION,
        "A different algorithm: it makes no dataset of angles, because the choice of its elements cannot be protected.",
        "The grid holds the angles of all borders and one between any two, so it holds the best one.",
        "r is a public argument; privacy does not depend on its being correct.",
    ),
    variants=("ASimpleH",),
)
