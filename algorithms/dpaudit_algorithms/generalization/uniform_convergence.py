"""The empirical errors of a whole concept class, which the generalisation bounds are about: not private."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Multiset,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.generalization.uniform_convergence_theory import (
    UniformConvergenceCorrectedTheory,
    UniformConvergenceTheory,
)
from dpaudit_algorithms.pac.concepts import ConceptClass


@dataclass(frozen=True)
class UniformConvergence(UniformConvergenceTheory):
    """Publishes the number of errors of every concept of a class.

    Theorem 3.17 and Lemma 3.19 hold. Theorem 3.18 as printed fails if VC(H) = 0 or αβ ≥ e^{−α²/50}, where it
    requires only one example. See finding 12 and `UniformConvergenceCorrected`.

    Args:
        concepts: the class.
        alpha: error, in (0, 1].
        beta: probability of failure, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, sections 3.2.3 and 3.3, Theorems 3.17 and 3.18, Lemma 3.19.
    """

    concepts: ConceptClass
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        _ = self.sample_sizes

    def run(self, S: Any) -> tuple[int, ...]:
        return _mistakes(self.concepts, Multiset.of(S))


@dataclass(frozen=True)
class UniformConvergenceCorrected(UniformConvergenceCorrectedTheory, UniformConvergence):
    """`UniformConvergence` with n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ)) in Theorem 3.18.

    See `bounds.agnostic_generalisation_corrected` for the proof.

    Args:
        concepts, alpha, beta: as in `UniformConvergence`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, sections 3.2.3 and 3.3, with Theorem 3.18 corrected.
    """


@lru_cache(maxsize=1024)
def _mistakes(concepts: ConceptClass, S: Multiset) -> tuple[int, ...]:
    return tuple(concepts.wrong(h, S) for h in concepts.concepts)


# --- cards: claims, sources and deviations from the papers ---

_INPUTS = "n ≥ 1 examples (x, y), y in {0, 1}; a finite class of concepts, alpha and beta in (0, 1]"
_OUTPUT = "for every concept, in order, the number of examples that it labels wrongly"
_DEVIATIONS = (
    "The theorems are about samples, not about an algorithm; this one publishes all errors that they are about.",
    "The class is finite; if a formula allows 0 examples, 1 is used, because an error needs at least one example.",
)

UniformConvergence.card = Card(
    name="UniformConvergence",
    system="F6",
    title="The empirical errors of a whole class, which are near the true ones: not private",
    paper=THESIS,
    place="§3.2.3 and §3.3, Theorems 3.17 and 3.18, Lemma 3.19",
    claim="no privacy; from the printed sample sizes, a small error on the sample implies a small error, for all",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=_DEVIATIONS,
    variants=("UniformConvergenceCorrected",),
    private=False,
    findings=(FINDINGS[12],),
)

UniformConvergenceCorrected.card = Card(
    name="UniformConvergenceCorrected",
    system="F6",
    title="The empirical errors of a whole class, with the sample size that Theorem 3.18 needs: not private",
    paper=THESIS,
    place="§3.2.3 and §3.3, Theorems 3.17 and 3.18, Lemma 3.19, corrected",
    claim="no privacy; from these sample sizes, a small error on the sample implies a small error, for all concepts",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=("Theorem 3.18 with n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ)).", *_DEVIATIONS),
    variants=("UniformConvergence",),
    private=False,
)
