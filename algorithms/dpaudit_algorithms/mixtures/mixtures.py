"""A_ConstrHalf and A_LearnHalf: learning halfspaces from mixtures of private and public records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.language import (
    BOTTOM,
    MIXTURES,
    PRIVATE_ROWS,
    Card,
    Claim,
    DatasetError,
    FloatArray,
    LevelSoftmax,
    Mechanism,
    Multiset,
    ParameterError,
    cached,
    checks,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.mixtures.mixtures_class import AllOnes, Errors, Hypothesis
from dpaudit_algorithms.mixtures.mixtures_geometry import EmptySubset, Supports, constr_half
from dpaudit_algorithms.mixtures.mixtures_theory import LearnHalfTheory


@dataclass(frozen=True)
class ConstrHalf(Mechanism):
    """A_ConstrHalf: halfspaces through at most d public points each, and the affine hull of all; deterministic.

    It ignores private records, so it is 0-DP under private-rows; public records appear in the output unprotected.

    Args:
        dimension: d, 1 to 3.
        supports: "transversal" or "aligned", see `mixtures_geometry.constr_half`.
        empty_subset: "skip" or "axis", see there.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bassily, Moran and Nandi, Algorithm 1.
    """

    dimension: Dimension = 2
    supports: Supports = "transversal"
    empty_subset: EmptySubset = "skip"

    @property
    def claim(self) -> Claim:
        """ε = 0: the proof of Lemma 4.1."""
        return Claim(0.0, relation=PRIVATE_ROWS)

    def run(self, S: Any) -> Any:
        # 1 to 8. C̃_pub and Aff of the public points: `constr_half`
        levels = Errors(_records(S), self.dimension, self.supports, self.empty_subset, "assumed")
        return levels.family.halfspaces, levels.family.equations


@dataclass(frozen=True)
class LearnHalf(LearnHalfTheory):
    """A_LearnHalf: the exponential mechanism over intersections of at most d halfspaces of A_ConstrHalf.

    Privacy (Lemma 4.1): 𝒢 is a function of the public records. Replacing a private record changes the errors of every g
    by at most 1, so exp(−ε·errors/2) and its sum over 𝒢 change by factors of at most e^{ε/2}.

    Lemma 4.5 for "transversal": with m = dim Aff ≤ d, let T ≠ ∅ be the public points outside the best halfspace h*.
    A facet of the hull of T within its affine hull A is spanned by dim A points of T. Public points that complete A to
    Aff extend it to m affinely independent points whose hyperplane of Aff does not contain A, and extend each of A's
    own hyperplanes to one that does. So the hull of T is an intersection of h ∩ Aff, h in C̃_pub, if the boundary of
    the h from such a set of m points meets Aff only in their affine hull. That is always so for m = d; for m < d
    "transversal" ensures it. The rest follows by Helly's theorem, as printed. For T = ∅ the hypothesis that labels
    everything 1 works: private records have label 1, and h* labels all public points 1.

    So g* = h* on the public points for any labels, and g* is 1 wherever h* is. If all private records have label 1, as
    in relaxation (ii) of section 4, nothing changes. If not, as in (i), g* may label private records 1 that h* labels
    0, so it has at most as many more errors than h* as there are private records of label 0.

    The paper says that 𝒢 "is assumed to also contain" the hypothesis that labels everything 1, "since we consider the
    intersection of at most d halfspaces" and it "corresponds to the empty set". But step 8 has j ≥ 1, and an
    intersection of no halfspaces would be Aff, not ∅: in one dimension step 8 never produces this hypothesis.

    Args:
        epsilon: > 0.
        dimension: d, 1 to 3.
        supports: "transversal" or "aligned", see `mixtures_geometry.constr_half`.
        empty_subset: "skip" or "axis", see there.
        all_ones: "assumed": 𝒢 contains the hypothesis that labels everything 1; "steps": only if step 8 produces it.
        private_label: the label of private records, 1 as in section 4; 0 is the mirrored case that section 3 allows,
            with all labels swapped before and after.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bassily, Moran and Nandi, Algorithm 2 and Lemma 4.1.
    """

    epsilon: checks.Positive
    dimension: Dimension = 2
    supports: Supports = "transversal"
    empty_subset: EmptySubset = "skip"
    all_ones: AllOnes = "assumed"
    private_label: Literal[0, 1] = 1

    @property
    def claim(self) -> Claim:
        """ε under private-rows, Lemma 4.1."""
        return Claim(self.epsilon, relation=PRIVATE_ROWS)

    def run(self, S: Any) -> Any:
        # 1 to 8. 𝒢 as in `printed`, not listed, and the errors on S′ of all g ∈ 𝒢
        draw = self.chooser(S)
        # 9, 10. output ĝ, by the exponential mechanism with the score −err^(g; S′)
        return BOTTOM if draw is None else draw.spending(self.claim)

    def printed(self, S: Any) -> list[Hypothesis]:
        """𝒢 as in steps 1 to 8, as an explicit list; `levels` represents the same class without listing it."""
        # 1 to 4. S_pub, of which only the points matter
        public, flipped = public_points(S), not self.private_label
        # 5. {C̃_pub, Aff} ← A_ConstrHalf(S_pub)
        family = constr_half(public, self.dimension, self.supports, self.empty_subset)
        # 8. add g, 1 outside of h_1 ∩ … ∩ h_j ∩ Aff, for j ∈ [d] and h_1, …, h_j ∈ C̃_pub, in the order of the numbers
        G = [Hypothesis(None, (), flipped)] if self.all_ones == "assumed" else []
        for j in range(1, self.dimension + 1):
            collections = sorted(combinations(range(len(family.halfspaces)), j), key=lambda c: c[::-1])
            G += [Hypothesis(tuple(family.halfspaces[i] for i in c), family.equations, flipped) for c in collections]
        return G

    def chooser(self, S: Any) -> LevelSoftmax | None:
        """The draw of step 9; None if 𝒢 is empty (no public points, and 𝒢 only from step 8)."""
        return _chooser(self, _records(S))

    def levels(self, S: Any) -> Errors:
        """𝒢 and the errors of its members on the dataset, minus the errors that all have in common."""
        return _levels(self, _records(S))

    def hypothesis(self, S: Any, number: int) -> Hypothesis:
        """The hypothesis with this number, an output."""
        return self.levels(S).hypothesis(number)

    def log_density(self, S: Any, outputs: NDArray[Any]) -> FloatArray:
        """ln of the probability of each of these outputs, shape (r,)."""
        draw = self.chooser(S)
        if draw is None:
            return np.zeros(len(outputs))
        numbers = np.asarray(outputs).reshape(len(outputs), -1)[:, 0].astype(np.int64)
        known = (numbers >= 0) & (numbers < draw.levels.size)
        logs = np.full(len(numbers), -math.inf)
        logs[known] = draw.log_probs(self.levels(S).of(numbers[known]))
        return logs


def _one_to_three(name: str, value: Any) -> None:
    if checks.whole(name, value, least=1) > 3:
        raise ParameterError(f"{name} must be 1, 2 or 3, not {value!r}.")


Dimension: TypeAlias = Annotated[int, checks.Check(_one_to_three)]


def public_points(S: Any) -> tuple[Any, ...]:
    """The distinct public points of a dataset, ascending."""
    return tuple(sorted({x for x, _, p in _records(S).values if p == "pub"}))


def private_points(S: Any) -> tuple[Any, ...]:
    """The distinct private points of a dataset, ascending."""
    return tuple(sorted({x for x, _, p in _records(S).values if p == "priv"}))


@cached(maxsize=256)
def _levels(learner: LearnHalf, S: Multiset) -> Errors:
    return Errors(S, learner.dimension, learner.supports, learner.empty_subset, learner.all_ones, learner.private_label)


@cached(maxsize=256)
def _chooser(learner: LearnHalf, S: Multiset) -> LevelSoftmax | None:
    levels = _levels(learner, S)
    _ = levels.examples  # raises for invalid examples
    return LevelSoftmax(levels, -learner.epsilon / 2) if levels.size else None


def _records(S: Any) -> Multiset:
    records = Multiset.of(S)
    for record in records.values:
        if not isinstance(record, tuple) or len(record) != 3 or record[2] not in ("priv", "pub"):
            raise DatasetError(f"A record must be (x, y, 'priv') or (x, y, 'pub'), not {record!r}.")
    return records


__all__ = ["ConstrHalf", "LearnHalf", "constr_half", "private_points", "public_points"]


# --- cards: claims, sources and deviations from the papers ---

_SUPPORTS = (
    '"Find a halfspace that is supported by Ŝ" (step 5): Lemma 4.5 needs one whose boundary does not contain Aff '
    '(supports = "transversal"); "aligned" takes one whose boundary does, if any.'
)
_EMPTY = 'Ŝ = ∅ is in 𝒲 and supports every halfspace: it is skipped (empty_subset = "skip") or gives x₁ ≥ 0 ("axis").'
_POINTS = "Points are exact: whole numbers or fractions; equal public points, and equal halfspaces, count once."

ConstrHalf.card = Card(
    name="ConstrHalf",
    system="H7",
    title="A_ConstrHalf: a finite family of halfspaces from the public points",
    paper=MIXTURES,
    place="§4, Algorithm 1",
    claim="a function of only the public records: 0-DP under private-rows",
    inputs='n records (x, y, p), x in ℚ^d, y in {0, 1}, p = "priv" or "pub"; d = 1, 2 or 3',
    output="(halfspaces (w₀, w₁, …, w_d) for Σ wᵢxᵢ ≥ w₀, equations (e₀, e₁, …, e_d) of Aff)",
    deviations=(_SUPPORTS, _EMPTY, _POINTS),
)

LearnHalf.card = Card(
    name="LearnHalf",
    system="H7",
    title="A_LearnHalf: learning halfspaces from private and public records",
    paper=MIXTURES,
    place="§4, Algorithm 2, Lemma 4.1",
    claim="ε-DP with respect to the private records (private-rows), for every public part",
    inputs='n records (x, y, p), x in ℚ^d, y in {0, 1}, p = "priv" or "pub"; epsilon > 0; d = 1, 2 or 3',
    output="the number of a hypothesis in an enumeration of 𝒢 that depends only on public records; ⊥ if 𝒢 is empty",
    deviations=(
        _SUPPORTS,
        _EMPTY,
        '𝒢 has the hypothesis that labels everything 1, as the paper assumes (all_ones = "assumed"); step 8 '
        'alone does not produce it (all_ones = "steps").',
        "𝒢 has one member for every set of halfspaces of step 8, even if two are the same function.",
        "Step 9 weights g with exp(−ε·(errors of g)/2): the score −err^ has sensitivity 1/n.",
        "Halfspaces that contain the same points of the data are computed once and counted with their multiplicity: "
        "the output distribution is the same.",
        "If private records have label 0 (private_label = 0), labels are swapped before and after.",
        _POINTS,
    ),
    findings=(FINDINGS[23], FINDINGS[24]),
)
