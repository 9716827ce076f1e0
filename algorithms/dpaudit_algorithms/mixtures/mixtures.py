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
    SampleSize,
    UtilityClaim,
    cached,
    checks,
    exp,
)
from dpaudit_algorithms.foundations.goals import BETA, all_but
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.mixtures.mixtures_class import AllOnes, Errors, Hypothesis
from dpaudit_algorithms.mixtures.mixtures_data import NearErm
from dpaudit_algorithms.mixtures.mixtures_geometry import EmptySubset, Supports, constr_half

ALPHA = 0.1
"""The error at which promises are shown that hold for every α."""


def _one_to_three(name: str, value: Any) -> None:
    if checks.whole(name, value, least=1) > 3:
        raise ParameterError(f"{name} must be 1, 2 or 3, not {value!r}.")


Dimension: TypeAlias = Annotated[int, checks.Check(_one_to_three)]


@dataclass(frozen=True)
class ConstrHalf(Mechanism):
    """A_ConstrHalf: halfspaces through at most d public points each, and the affine hull of all. It draws nothing.

    The private records do not enter, so that it is 0-DP under private-rows; the public ones are shown as they are.

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
        levels = Errors(_records(S), self.dimension, self.supports, self.empty_subset, "assumed")
        return levels.family.halfspaces, levels.family.equations


@dataclass(frozen=True)
class LearnHalf(Mechanism):
    """A_LearnHalf: the exponential mechanism over intersections of at most d halfspaces of A_ConstrHalf.

    Privacy (Lemma 4.1): 𝒢 is a function of the public records; replacing a private record moves the errors of every g
    by at most 1, so exp(−ε·errors/2) and its sum over 𝒢 by factors of at most e^{ε/2}.

    Lemma 4.5 for "transversal": with m = dim Aff ≤ d, let T be the public points outside the best halfspace h*, not ∅.
    A facet of the hull of T within its affine hull A is spanned by dim A points of T; public points completing A to Aff
    make of it m affinely independent points whose hyperplane of Aff does not contain A, and of each of A's own
    hyperplanes one that does. So the hull of T is an intersection of h ∩ Aff, h in C̃_pub, if the boundary of the h that
    such a set of m points gives meets Aff in their affine hull alone. Where m = d it cannot do otherwise, whatever
    was chosen; where m < d "transversal" sees to it. Then Helly's theorem, as printed. For T = ∅ the hypothesis that
    labels everything 1 does it: private records have label 1, and h* labels all public points 1.

    So g* = h* on the public points, whatever their labels, and g* is 1 wherever h* is: with private records of label 1
    alone, relaxation (ii) of section 4, nothing changes; with any, as in (i), g* errs on at most the private records of
    label 0 more than h*, since it may label those 1 that h* labels 0.

    Of the hypothesis that labels everything 1 the text says that 𝒢 "is assumed to also contain" it, "since we consider
    the intersection of at most d halfspaces" and it "corresponds to the empty set". Step 8 has j ≥ 1, and an
    intersection of no halfspaces would be Aff and not ∅: in one dimension step 8 never makes it.

    Args:
        epsilon: > 0.
        dimension: d, 1 to 3.
        supports: "transversal" or "aligned", see `mixtures_geometry.constr_half`.
        empty_subset: "skip" or "axis", see there.
        all_ones: "assumed": 𝒢 contains the hypothesis that labels everything 1; "steps": where step 8 makes it.
        private_label: the label of private records, 1 as in section 4; 0 is the mirror image that section 3 allows,
            with all labels exchanged before and after.

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
        draw = self.chooser(S)  # steps 1 to 8: 𝒢, and the errors of its members
        return BOTTOM if draw is None else draw.spending(self.claim)  # steps 9 and 10

    def printed(self, S: Any) -> list[Hypothesis]:
        """𝒢 as steps 1 to 8 print it, one collection after the other; `levels` has the same without making them."""
        public, flipped = public_points(S), not self.private_label  # steps 1 to 4
        family = constr_half(public, self.dimension, self.supports, self.empty_subset)  # step 5
        G = [Hypothesis(None, (), flipped)] if self.all_ones == "assumed" else []
        for j in range(1, self.dimension + 1):  # step 8, in the order of the numbers
            collections = sorted(combinations(range(len(family.halfspaces)), j), key=lambda c: c[::-1])
            G += [Hypothesis(tuple(family.halfspaces[i] for i in c), family.equations, flipped) for c in collections]
        return G

    def chooser(self, S: Any) -> LevelSoftmax | None:
        """The draw of step 9; None where 𝒢 is empty: without public points, if only step 8 makes it."""
        return _chooser(self, _records(S))

    def levels(self, S: Any) -> Errors:
        """𝒢 and the errors of its members on the dataset, less what all have in common."""
        return _levels(self, _records(S))

    def hypothesis(self, S: Any, number: int) -> Hypothesis:
        """The hypothesis that an output stands for."""
        return self.levels(S).hypothesis(number)

    def log_density(self, S: Any, outputs: NDArray[Any]) -> FloatArray:
        """ln of the probability of each of these outputs, shape (r,)."""
        draw = self.chooser(S)
        if draw is None:
            return np.zeros(len(outputs))
        numbers = np.asarray(outputs).reshape(len(outputs), -1)[:, 0].astype(np.int64)
        known = (numbers >= 0) & (numbers < draw.levels.size)
        found = np.full(len(numbers), -math.inf)
        found[known] = draw.log_probs(self.levels(S).of(numbers[known]))
        return found

    def failure(self, alpha: float, size: int, records: int) -> float:
        """|𝒢|·e^{−εnα/2}: what Lemma 4.6's proof gives for errors of more than the best plus αn."""
        return size * exp(max(-700.0, -self.epsilon * records * alpha / 2))

    def promise(self, alpha: float, S: Any) -> UtilityClaim:
        """Claim 4.7 on this dataset: err^ ≤ that of the best halfspace + alpha, but for |𝒢|·e^{−εnα/2}.

        Raises:
            ParameterError: alpha outside (0, 1).
        """
        checks.probability("alpha", alpha, open_ends=True)
        failure = self.failure(alpha, self.levels(S).size, len(S))
        return UtilityClaim(NearErm(self, alpha), all_but(failure), "§4, Claim 4.7, with the constants of its proof")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Claim 4.7 with α = 0.1 and the least β that so many records afford, all of them public."""
        if not records:
            return ()
        log_size = bounds.log_hypotheses(self.dimension, records)
        failure = exp(min(0.0, log_size - self.epsilon * records * ALPHA / 2))
        claim = UtilityClaim(NearErm(self, ALPHA), all_but(failure), "§4, Claim 4.7, with the constants of its proof")
        return (claim,) if failure < 1 else ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Claim 4.7, Theorems 4.9 and 4.10 at α = 0.1, β = 0.05, with the constants of their proofs."""
        given = (self.dimension, self.epsilon, ALPHA, BETA)
        return (
            bounds.mixture_empirical(*given),
            bounds.mixture_realisable(*given),
            bounds.mixture_agnostic(*given),
        )


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
    _ = levels.examples  # refuses what is no example
    return LevelSoftmax(levels, -learner.epsilon / 2) if levels.size else None


def _records(S: Any) -> Multiset:
    records = Multiset.of(S)
    for record in records.values:
        if not isinstance(record, tuple) or len(record) != 3 or record[2] not in ("priv", "pub"):
            raise DatasetError(f"A record must be (x, y, 'priv') or (x, y, 'pub'), not {record!r}.")
    return records


__all__ = ["ConstrHalf", "LearnHalf", "constr_half", "private_points", "public_points"]


# --- cards: what is claimed where, and where the text here departs from the print ---

_SUPPORTS = (
    '"Find a halfspace that is supported by Ŝ" (step 5): Lemma 4.5 needs one whose boundary does not contain Aff '
    '(supports = "transversal"); "aligned" takes one that does, where there is one.'
)
_EMPTY = 'Ŝ = ∅ is in 𝒲 and supports every halfspace: left out (empty_subset = "skip"), or x₁ ≥ 0 ("axis").'
_POINTS = "Points are exact: whole numbers or fractions; equal public points, and equal halfspaces, count once."

ConstrHalf.card = Card(
    name="ConstrHalf",
    system="H7",
    title="A_ConstrHalf: a finite family of halfspaces from the public points",
    paper=MIXTURES,
    place="§4, Algorithm 1",
    claim="a function of the public records alone: 0-DP under private-rows",
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
    output="the number of a hypothesis in an enumeration of 𝒢 that public records determine; ⊥ where 𝒢 is empty",
    deviations=(
        _SUPPORTS,
        _EMPTY,
        '𝒢 has the hypothesis that labels everything 1, as the text assumes (all_ones = "assumed"); step 8 '
        'alone does not make it (all_ones = "steps").',
        "𝒢 has one member for every set of halfspaces of step 8, also where two are the same function.",
        "Step 9 weighs g with exp(−ε·(errors of g)/2): the score −err^ has sensitivity 1/n.",
        "Halfspaces that contain the same points of the data are computed once and counted as often as they are: "
        "the law is the same.",
        "Labels are exchanged before and after where private records have label 0 (private_label = 0).",
        _POINTS,
    ),
)
