"""A_HighH: half-spaces in d dimensions by learning a threshold for each angle; and a corrected version."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np

from dpaudit.language import (
    ADD_REMOVE_ONE,
    HALFSPACES,
    Card,
    Claim,
    CutGeometric,
    IntArray,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Softmax,
    checks,
    log2,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.foundations.goals import BETA
from dpaudit_algorithms.half_spaces.angles import Sine
from dpaudit_algorithms.half_spaces.half_spaces import CAPPED, RELATION, Ties, labelled, largest
from dpaudit_algorithms.half_spaces.high_dim_data import (
    DATA,
    READ_AS,
    Angle,
    MakeHighDimData,
    Meant,
    box_agreements,
    coordinate_quality,
    examples,
    near,
    reach,
)
from dpaudit_algorithms.half_spaces.high_dim_half_spaces_theory import AHighHCorrectedTheory, AHighHTheory


@dataclass(frozen=True)
class AHighH(AHighHTheory):
    """Algorithm 6: for each angle, learn a threshold from the best elements of a noisy dataset of angles.

    Its claims fail for every reading. The elements that MakeHighDimThrData keeps, and φ*_i, depend on Q(S, ·) without
    noise, and sorting angles by Q does not map neighbours to neighbours, as Lemma 20 needs. And most half-spaces are
    not on the grid (of the 290 that differ on {−1, 0, 1}³ it holds 62), so Lemma 17 is false: see findings 19, 20 and
    `AHighHCorrected`.

    Args:
        epsilon: > 0.
        delta: in (0, 1).
        sine: sin γ, in (0, 1]; 1/(2k²), or `minimum_angle(k)`, for X = {−k, …, k}.
        learner: A_Thr, a learner of thresholds on 0, …, ⌊2π/γ⌋, with examples (position, 0 or 1), with a claim.
        C: n_Thr, ≥ 1.
        dimension: d ≥ 2.
        budget: "printed", with (ε, δ) for every part, or "theorem", constant·ε/log₂(1/δ′) and (δ − δ′)/(2(d − 1)).
        delta_prime: δ′ in (0, δ), for the budget "theorem".
        constant: > 0, instead of the O(·) of that budget.
        ties: which of the best angles of max_C~(S_H) is φ*_i: the last or the least, before or after the rotation.
        removed: which examples are removed with S_Thr.
        turned_back: whether an angle is rotated back by the anchor before it is returned.
        angle, meant, wrap, cap: as in `MakeHighDimData`.
        alpha, beta: for the utility guarantee, in (0, 1); the learner has its own.

    Raises:
        ParameterError: a parameter outside its range, or a learner without a claim or with a larger one.

    Source: half-spaces paper, section 3.2, Algorithms 5 and 6, Theorem 21.
    """

    epsilon: checks.Positive
    delta: checks.OpenUnit
    sine: Sine
    learner: Mechanism
    C: checks.Count
    dimension: Annotated[int, checks.least(2)] = 3
    budget: Literal["printed", "theorem"] = "printed"
    delta_prime: float | None = None
    constant: checks.Positive = 1.0
    ties: Ties = "last"
    removed: Literal["near", "counted", "none"] = "near"
    turned_back: bool = True
    angle: Angle = "point"
    meant: Meant = "plane"
    wrap: bool = False
    cap: int | None = None
    alpha: checks.OpenUnit = 0.1
    beta: checks.OpenUnit = BETA

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget == "theorem" and not 0 < (self.delta_prime or 0) < self.delta:
            raise ParameterError(
                f"delta_prime must lie between 0 and delta ({self.delta!r}), not {self.delta_prime!r}."
            )
        share, own = self.share, claim_of(self.learner)
        if own.epsilon > share.epsilon * (1 + 1e-9) or own.delta > share.delta:
            raise ParameterError(f"The learner must be {share} for this budget; {self.learner.name} is {own}.")
        _ = self.data(1, ())

    @property
    def share(self) -> Claim:
        """The (ε, δ) of A_Thr."""
        if self.budget == "printed":
            return Claim(self.epsilon, self.delta)
        assert self.delta_prime is not None
        epsilon = self.constant * self.epsilon / log2(1 / self.delta_prime)
        return Claim(epsilon, (self.delta - self.delta_prime) / (2 * (self.dimension - 1)))

    @property
    def claim(self) -> Claim:
        """(ε, δ), Theorem 21."""
        return Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)

    def data(self, i: int, prefix: tuple[int, ...]) -> MakeHighDimData:
        """Algorithm 4 with this reading."""
        given = prefix if self.meant == "prefix" else ()
        return MakeHighDimData(
            self.share.epsilon, self.sine, i, self.dimension, self.angle, self.meant, self.wrap, self.cap, given
        )

    def coordinate(self, i: int, chosen: tuple[int, ...]) -> Mechanism:
        """Iteration i: from S_{i−1} to (the index of φ*_i, S_i), after the angles `chosen`."""
        return _Coordinate(self, i, chosen)

    def run(self, S: Any) -> Program:
        left: Multiset = examples(S, self.dimension)  # S_0 ← S
        chosen: tuple[int, ...] = ()
        for i in range(1, self.dimension):  # for i = 1, 2, …, d − 1 do
            angle, left = yield self.coordinate(i, chosen).on(left)  # φ*_i, S_i
            chosen = (*chosen, angle)
        return chosen  # h_{(φ*_1, …, φ*_{d−1})}


@dataclass(frozen=True)
class _Coordinate(Mechanism):
    """Iteration i of the loop, on S_{i−1}: φ*_i and S_i; a separate mechanism, computed once for equal remainders."""

    whole: AHighH
    i: int
    chosen: tuple[int, ...]

    def run(self, S: Any) -> Program:
        whole, data = self.whole, self.whole.data(self.i, self.chosen)
        S_H: tuple[int, ...] = yield data.on(S)  # S_H ← MakeHighDimData(H_γ, S_{i−1}, i)
        # S_Thr, S_C~ ← MakeHighDimThrData(ε, S_H, S_{i−1}, n_Thr, φ*_1, …, φ*_{i−1}), Algorithm 5:
        Q = coordinate_quality(whole.sine, whole.dimension, S, self.chosen)  # line 1: Q(S, φ_i) for every φ_i
        more: int = yield CutGeometric(whole.share.epsilon, max(0, sum(S_H) - whole.C))
        kept, others = largest(Q, tuple(S_H), whole.C + more)  # line 2: max_C~(S_H), and the rest
        anchor: int = 0 if others is None else (yield others)  # line 4: φ′_i
        S_Thr = labelled(Q, kept, anchor, whole.ties)  # lines 3 and 5 to 9: φ*_i, and the labels of max_C~(S_H)
        place = yield whole.learner.on(S_Thr)  # apply A_Thr with input S_Thr and get φ*_i
        angle = (anchor + place) % len(Q) if whole.turned_back else place
        return angle, self._without(S, data, {j for j, _ in kept})  # S_i ← S_{i−1} ∖ S_C~

    def _without(self, S: Multiset, data: MakeHighDimData, angles: set[int]) -> Multiset:
        """S_i: the examples that do not correspond to any of these angles."""
        if self.whole.removed == "none":
            return S
        rightly = self.whole.removed == "counted"
        return Multiset.counted(
            {(x, y): n for (x, y), n in S.items if angles.isdisjoint(data.counted(x, y) if rightly else near(data, x))}
        )


# --- corrected -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AHighHCorrected(AHighHCorrectedTheory):
    """Choose the coordinates of a normal vector one by one, each by the exponential mechanism with ε/d on Q.

    Candidates are the w ≠ 0 in {−B, …, B}^d, B = `reach`(k, d), which give all labellings of {−k, …, k}^d by
    half-spaces (proof there), including those of borders. With q(S, w) the number of examples that w labels correctly,
    Q(S, w_i) given w_1, …, w_{i−1} is the best q of any completion.

    Privacy, under both add/remove-one and replace-one: one example changes every q(S, w), and hence every maximum of
    them, by at most 1 (Lemma 16). Each of d choices is ε/d-DP; adaptive basic composition gives ε, with δ = 0.

    Utility: step i is Δ or more below the best of its at most 2B + 1 values with probability at most
    (2B + 1)·e^{−εΔ/(2d)}. The best value of step i + 1 is the chosen one of step i. So in total at most dΔ examples of
    the best labelling are lost, except with probability d(2B + 1)·e^{−εΔ/(2d)}. On n examples that a half-space
    explains, Δ = αn/d makes that error at most α with probability 1 − β from n ≥ (2d²/(αε))·ln(d(2B + 1)/β) on. With B
    about d·(√d·k)^{d−1} that is O(d³·log(dk)/(αε)), not linear in d and log* of |X| as in Corollary 22.

    Args:
        epsilon: > 0.
        k: the points are in {−k, …, k}^d, ≥ 1.
        dimension: d ≥ 2.
        alpha: in (0, 1), for the utility guarantee.

    Raises:
        ParameterError: a parameter outside its range, or too many candidates.

    Source: half-spaces paper, section 3.2, Algorithm 6 and Lemma 16, with exponential mechanisms instead of its
    learner.
    """

    epsilon: checks.Positive
    k: checks.Count
    dimension: Annotated[int, checks.least(2)] = 3
    alpha: checks.OpenUnit = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if (2 * self.reach + 1) ** self.dimension > 1 << 24:
            raise ParameterError(
                f"k = {self.k} has too many candidates in {self.dimension} dimensions; use a smaller k."
            )

    @property
    def reach(self) -> int:
        """B."""
        return reach(self.k, self.dimension)

    @property
    def claim(self) -> Claim:
        """ε, the proof above."""
        return Claim(self.epsilon, relation=ADD_REMOVE_ONE)

    def run(self, S: Any) -> Program:
        data, B = examples(S, self.dimension), self.reach
        w: tuple[int, ...] = ()
        for _ in range(self.dimension):  # w_i, for i = 1, …, d, by the exponential mechanism with ε/d on Q(S, w_i)
            Q = best_completions(self.k, self.dimension, data, w)
            labels = tuple(c for c in range(-B, B + 1) if Q[c + B] >= 0)  # w = 0 is not a half-space
            scores = Q[[c + B for c in labels]].astype(np.float64)
            step_claim = Claim(self.epsilon / self.dimension, relation=ADD_REMOVE_ONE)
            c: int = yield Softmax(scores, self.epsilon / (2 * self.dimension), labels).spending(step_claim)
            w = (*w, c)
        return w


@lru_cache(maxsize=4096)
def best_completions(k: int, dimension: int, S: Multiset, chosen: tuple[int, ...]) -> IntArray:
    """Q(S, w_i) given w_1, …, w_{i−1}, for w_i = −B, …, B; −1 for w = 0. Shape (2B + 1,)."""
    B = reach(k, dimension)
    q = box_agreements(k, dimension, S)[tuple(c + B for c in chosen)]
    best: IntArray = q.max(axis=tuple(range(1, q.ndim))) if q.ndim > 1 else q
    return best


# --- cards: claims, sources and deviations from the papers ---

AHighH.card = Card(
    name="AHighH",
    system="H5",
    title="Half-spaces in d dimensions by learning a threshold for each angle",
    paper=HALFSPACES,
    place="§3.2, Algorithms 5 and 6, Theorem 21",
    claim="(ε, δ)-DP; empirical error at most α with probability 1 − β",
    inputs=f"{DATA}; epsilon, delta, sin γ, a learner of thresholds, C = n_Thr, d",
    output="the indices of d − 1 angles, for h(x) = 1 iff ⟨n, x⟩ ≥ 0",
    deviations=(
        RELATION,
        *READ_AS,
        "Algorithm 6 calls MakeHighDimData without ε; here it gets the ε of the other parts.",
        'budget = "printed": every part has the ε and δ of Algorithm 6; "theorem": those of Theorem 21, with a '
        "constant for its O(·), log to base 2.",
        "The C~ = C + Geom(1 − e^{−ε}) largest elements of S_H count copies; if there are fewer, all are taken.",
        "Geom is truncated at the number of remaining elements; a larger value would take no more.",
        "The anchor φ′ is uniform over S_H ∖ max_C~(S_H), copies counted; if none are left, there is no rotation.",
        "turned_back: the returned position is counted from the anchor and is rotated back; False leaves it.",
        'ties = "last": φ*_i is the largest of the best angles, last in the order (Q, φ) of the preceding line; '
        '"least" the smallest; "last turned", "least turned": after the rotation.',
        'removed = "near": "the points corresponding to the elements in S_Thr" are the examples with '
        '|φ_i(x) − φ| < γ for an angle φ of S_Thr; "counted": only if φ also labels them correctly; "none": none.',
        "A_Thr gets positions on the circle counted from the anchor instead of angles, and labels 1, 0 for 1, −1.",
        "If γ divides 2π, the angles 0 and 2π are one direction at two positions.",
        CAPPED,
        "α and β only belong to the utility guarantee; the learner has its own.",
    ),
    variants=("AHighHCorrected",),
    findings=(FINDINGS[19], FINDINGS[20]),
)

AHighHCorrected.card = Card(
    name="AHighHCorrected",
    system="H5",
    title="Half-spaces in d dimensions, coordinate by coordinate, by exponential mechanisms",
    paper=HALFSPACES,
    place="§3.2, Theorem 21, corrected",
    claim="ε-DP under add/remove-one; empirical error at most α with probability 1 − β",
    inputs=f"{DATA}, x in {{−k, …, k}}^d; epsilon, k, d",
    output="a normal vector w of d whole numbers, for h(x) = 1 iff ⟨w, x⟩ ≥ 0",
    deviations=(
        RELATION,
        "A different algorithm: it makes no dataset of angles, because the choice of its elements cannot be protected.",
        "The grid consists of normal vectors in whole numbers and covers every labelling.",
    ),
    variants=("AHighH",),
)
