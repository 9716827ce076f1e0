"""Solve_D: a learner for conjunctions along ℓ axes, used for one axis; the hardness amplification of thesis §7.6."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    Uniform,
    UtilityClaim,
    checks,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError


@dataclass(frozen=True)
class SolveAxis(Mechanism):
    """What Solve_D and its form for disjunctions share: everything but the element on the other axes.

    Args:
        inner: 𝒜, a learner for ℓ axes whose outputs name ℓ concepts of C.
        ell: ℓ ≥ 1.
        source: 𝒟, a mechanism from () to an `Instance`, or a dataset, of labelled examples (x, y) of X.
        concepts: C.

    Source: Stemmer's thesis, section 7.6, algorithm Solve_D.
    """

    inner: Mechanism
    ell: checks.Count
    source: Mechanism
    concepts: ConceptClass

    def __post_init__(self) -> None:
        super().__post_init__()
        claim_of(self.inner)
        name, element, label = self.neutral
        if not all(self.concepts.label(c, element) == label for c in self.concepts.concepts):
            raise ParameterError(f"{name} must be labelled {label} by every concept; {element!r} is not.")

    @property
    @abstractmethod
    def neutral(self) -> tuple[str, Any, int]:
        """The element that all other axes hold: its name, itself, and the label that every concept gives it."""

    @property
    def claim(self) -> Claim:
        """The learner's."""
        return claim_of(self.inner)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(α/β)-consistent with probability 1 − 2β, where the learner is α-consistent with 1 − β on ℓn examples."""
        return tuple(
            UtilityClaim(EmpiricalError(self.concepts, claim.goal.alpha / beta), 1 - 2 * beta, self._place)
            for claim in self.inner.utility(self.ell * records)
            if isinstance(claim.goal, EmpiricalError) and claim.goal.alpha < (beta := 1 - claim.probability) < 0.5
        )

    _place = "§7.6, Theorem 7.26"

    def run(self, D: Any) -> Program:
        D = Multiset.of(D)
        S = dict[Any, int]()  # step 1
        r: int = yield Uniform(range(1, self.ell + 1))  # step 2
        self._place_on(S, D, r)  # step 3
        for t in range(1, self.ell + 1):  # step 4
            if t != r:
                drawn = yield self.source.on(())  # step 4(a)
                fresh = Multiset.of(drawn.dataset if isinstance(drawn, Instance) else drawn)
                if len(fresh) != len(D):
                    raise DatasetError(f"The source gave {len(fresh)} examples, and D has {len(D)}.")
                self._place_on(S, fresh, t)  # step 4(b)
        h = yield self.inner.on(Multiset.counted(S))  # step 5
        return h[r - 1]  # step 6

    def _place_on(self, S: dict[Any, int], examples: Multiset, axis: int) -> None:
        """Adds to S the examples with x as the coordinate `axis`, counted from 1, and p in all others."""
        _, p, _ = self.neutral
        for (x, y), count in examples.items:
            z = (p,) * (axis - 1) + (x,) + (p,) * (self.ell - axis)
            S[z, y] = S.get((z, y), 0) + count


@dataclass(frozen=True)
class SolveD(SolveAxis):
    """Finds a concept for labelled examples of X by a learner for C^ℓ: they stand on a random axis, fresh samples of 𝒟
    on every other.

    Privacy: one example of D is one of S, and the other axes do not depend on D: the learner's claim.

    Utility, where D is drawn from 𝒟 as well: if the learner errs on at most αℓn of the ℓn examples with probability
    1 − β, then fewer than βℓ axes have more than αn/β errors (on an axis the conjunction is its own concept, as all
    others label p₁ with 1), and the axes are alike: the output is (α/β)-consistent with probability (1 − β)² > 1 − 2β.

    Args:
        inner: 𝒜, a learner for C^ℓ whose outputs name ℓ concepts of C.
        ell: ℓ ≥ 1.
        source: 𝒟, a mechanism from () to an `Instance`, or a dataset, of labelled examples (x, y) of X.
        concepts: C.
        p1: an element that every concept of C labels with 1 (min X for thresholds).

    Raises:
        ParameterError: a learner that claims nothing, or a concept that labels p1 with 0.

    Source: Stemmer's thesis, section 7.6, algorithm Solve_D, Theorems 7.24 and 7.26.
    """

    p1: Any = 0

    @property
    def neutral(self) -> tuple[str, Any, int]:
        """p₁, which every concept labels with 1: a conjunction is its concept on an axis."""
        return "p1", self.p1, 1


# --- cards: what is claimed where, and where the text here departs from the print ---

SolveD.card = Card(
    name="SolveD",
    system="L4",
    title="Solve_D: one axis solved by a learner for ℓ of them",
    paper=THESIS,
    place="§7.6, Theorems 7.24 and 7.26",
    claim="(ε, δ)-DP if the learner is; (α/β)-consistent with probability above 1 − 2β if that is (α, β)-accurate",
    inputs="n labelled examples (x, y), x in X; a learner for ℓn examples of X^ℓ; ℓ, a source 𝒟, C and p1",
    output="a concept of C",
    deviations=("The databases of the source have as many examples as D; others are refused.",),
    variants=("SolveDisjunction",),
)
