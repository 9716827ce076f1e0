"""Solve_D with a learner for disjunctions: the hardness amplification of Remark 7.27."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.language import THESIS, Card
from dpaudit_algorithms.lower_bounds.solve_d import SolveAxis


@dataclass(frozen=True)
class SolveDisjunction(SolveAxis):
    """Finds a concept for labelled examples of X by a learner for disjunctions of ℓ concepts: they stand on a random
    axis, fresh samples of 𝒟 on every other, and all other coordinates are p₀.

    It is Solve_D by de Morgan's laws: a disjunction of concepts of C is the complement of a conjunction of their
    complements, which all label p₀ with 1. So the proof of Theorem 7.26 applies with all labels exchanged:

    1. Privacy: one example of D is one of S, and the other axes do not depend on D: the learner's claim.
    2. S is labelled by a disjunction: for the concepts c_t that label the axes, and z with x on axis t,
       (c_1, …, c_ℓ)(z) = c_1(p₀) ∨ … ∨ c_t(x) ∨ … ∨ c_ℓ(p₀) = c_t(x).
    3. Utility, where D is drawn from 𝒟 as well: if the learner errs on at most αℓn of the ℓn examples with probability
       1 − β, then fewer than βℓ axes have more than αn/β errors (on axis t the disjunction is h_t), and the axes are
       alike: the output is (α/β)-consistent with probability (1 − β)² > 1 − 2β.

    What follows, if every (ε, δ)-DP algorithm fails with probability 2β or more to find an (α/β)-consistent concept of
    C for D drawn from 𝒟, of n examples:

    - An (ε, δ)-DP (α, β)-accurate proper *empirical* learner for disjunctions needs more than ℓn examples.
    - A PAC learner needs more than ℓn/9, if ε ≤ 1: Lemma 7.20 makes an empirical learner for 9m examples of a PAC
      learner for m (for ε > 3.474 that is refuted: finding 11).

    So Remark 7.27's "sample complexity ℓn" is Ω(ℓn) with 1/9 for PAC learners. The n is that of C at α/β and 2β, not
    at the α and β of the disjunctions, where the remark would be false: for a fixed ℓ and β → 0, ε-DP learners of
    C = {0, 1_{x}} and of its disjunctions need the same number of examples up to a factor that tends to 1. At ε = 1,
    α = 0.1 and β = 0.05 C needs 56 and two disjuncts at most 102; at β = 0.001 C needs 154 and ten at most 345.

    What it says about points: with p₀ added to X, POINT_X has ℓ-fold sample complexity, but only of an n that does not
    depend on |X| for δ > 0, so Ω(ℓ) for given α, β, ε, δ; conjunctions of points are points, and need no such factor.
    For δ = 0, n grows like log|X|, and both need ℓ·log|X| up to constants.

    Args:
        inner: 𝒜, a learner for disjunctions whose outputs name ℓ concepts of C.
        ell: ℓ ≥ 1.
        source: 𝒟, a mechanism from () to an `Instance`, or a dataset, of labelled examples (x, y) of X.
        concepts: C.
        p0: an element that every concept of C labels with 0.

    Raises:
        ParameterError: a learner that claims nothing, or a concept that labels p0 with 1.

    Source: Stemmer's thesis, section 7.6, Remark 7.27, after algorithm Solve_D and Theorem 7.26.
    """

    p0: Any

    @property
    def neutral(self) -> tuple[str, Any, int]:
        """p₀, which every concept labels with 0: a disjunction is its concept on an axis."""
        return "p0", self.p0, 0

    _place = "§7.6, Remark 7.27, by the proof of Theorem 7.26"


# --- cards: what is claimed where, and where the text here departs from the print ---

SolveDisjunction.card = Card(
    name="SolveDisjunction",
    system="H10",
    title="Solve_D for disjunctions: one axis solved by a learner for ℓ of them",
    paper=THESIS,
    place="§7.6, Remark 7.27",
    claim="(ε, δ)-DP if the learner is; (α/β)-consistent with probability above 1 − 2β if that is (α, β)-accurate, so "
    "that empirical learners of disjunctions need more than ℓn examples, PAC learners with ε ≤ 1 more than ℓn/9",
    inputs="n labelled examples (x, y), x in X; a learner for ℓn examples of X^ℓ; ℓ, a source 𝒟, C and p0",
    output="a concept of C",
    deviations=(
        "The remark prints no algorithm: this is Solve_D with p0 for p1, and C^ℓ of Definition 7.25 with ∨ for ∧.",
        "Its \"sample complexity ℓn\" is read as in Theorem 7.26: Ω(ℓn), for n examples of C at α/β and 2β. With the "
        "same α and β for C and the disjunctions it would be false.",
        "No class of the thesis has a p0 in X; the audits add one to thresholds and points.",
        "The databases of the source have as many examples as D; others are refused.",
    ),
    variants=("SolveD",),
)
