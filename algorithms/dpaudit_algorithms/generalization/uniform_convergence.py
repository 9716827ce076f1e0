"""The empirical errors of a whole concept class, which the generalisation bounds are about: not private."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpaudit.language import (
    THESIS,
    Card,
    Goal,
    Instance,
    Mechanism,
    Multiset,
    ParameterError,
    SampleSize,
    UtilityClaim,
    as_written,
)
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.pac.concepts import AnyLabels, ConceptClass, Thresholds, Truth


@dataclass(frozen=True)
class NoBadConcept(Goal):
    """No concept has error > α under D and error ≤ α/2 on the sample; the output has their error counts.

    Source: Stemmer's thesis, Theorem 3.17 and Lemma 3.19.
    """

    concepts: ConceptClass
    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        alpha, records = as_written(self.alpha), len(instance.dataset)
        errors = _errors(self.concepts, _labelled(self.concepts, instance.truth))
        return not any(e > alpha and 2 * wrong <= alpha * records for e, wrong in zip(errors, output, strict=True))

    def __str__(self) -> str:
        return f"no concept of error > {self.alpha:.4g} has error ≤ {self.alpha / 2:.4g} on the sample"


@dataclass(frozen=True)
class UniformlyClose(Goal):
    """Every concept's error on the sample is within α of its error under P; the output has their error counts.

    Source: Stemmer's thesis, Theorem 3.18.
    """

    concepts: ConceptClass
    alpha: float

    def reached(self, instance: Instance, output: Any) -> bool:
        alpha, records = as_written(self.alpha), len(instance.dataset)
        errors = _errors(self.concepts, _labelled(self.concepts, instance.truth))
        return all(abs(e - Fraction(wrong, records)) <= alpha for e, wrong in zip(errors, output, strict=True))

    def __str__(self) -> str:
        return f"all errors on the sample within {self.alpha:.4g} of the true ones"


@dataclass(frozen=True)
class UniformConvergence(Mechanism):
    """Publishes the number of errors of every concept of a class.

    Theorem 3.17 and Lemma 3.19 hold. Theorem 3.18 as printed fails if VC(H) = 0 or αβ is near 1, where it requires only
    one example. See FINDINGS.md and `UniformConvergenceCorrected`.

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

    @property
    def _agnostic(self) -> SampleSize:
        return bounds.agnostic_generalisation(self.concepts.vc, self.alpha, self.beta)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The printed sample sizes; that of Lemma 3.19 only for thresholds."""
        general = bounds.generalisation(self.concepts.vc, self.alpha, self.beta)
        if isinstance(self.concepts, Thresholds):
            return (general, self._agnostic, bounds.threshold_generalisation(self.alpha, self.beta))
        return (general, self._agnostic)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """The guarantees that apply to this number of records, in the order of `sample_sizes`."""
        probability = float(1 - as_written(self.beta))
        close, no_bad = UniformlyClose(self.concepts, self.alpha), NoBadConcept(self.concepts, self.alpha)
        return tuple(
            UtilityClaim(close if size == self._agnostic else no_bad, probability, size.place)
            for size in self.sample_sizes
            if records >= size.records
        )

    def run(self, S: Any) -> tuple[int, ...]:
        return _mistakes(self.concepts, Multiset.of(S))


@dataclass(frozen=True)
class UniformConvergenceCorrected(UniformConvergence):
    """`UniformConvergence` with n ≥ (50·max{1, VC(H)}/α²)·ln(4/(αβ)) in Theorem 3.18.

    See `bounds.agnostic_generalisation_corrected` for the proof.

    Args:
        concepts, alpha, beta: as in `UniformConvergence`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, sections 3.2.3 and 3.3, with Theorem 3.18 corrected.
    """

    @property
    def _agnostic(self) -> SampleSize:
        return bounds.agnostic_generalisation_corrected(self.concepts.vc, self.alpha, self.beta)


def _labelled(concepts: ConceptClass, truth: Any) -> AnyLabels:
    """The distribution of labelled examples of a truth."""
    if isinstance(truth, AnyLabels):
        return truth
    if not isinstance(truth, Truth):
        raise ParameterError("A generalisation error needs examples drawn from a distribution: see `Examples`.")
    return AnyLabels(tuple((x, concepts.label(truth.target, x)) for x in truth.points), truth.weights)


@lru_cache(maxsize=64)
def _errors(concepts: ConceptClass, truth: AnyLabels) -> tuple[Fraction, ...]:
    """error_P(h) of every concept, exactly."""
    weights = [Fraction(w) for w in truth.weights]
    return tuple(
        sum((w for (x, y), w in zip(truth.examples, weights, strict=True) if concepts.label(h, x) != y), Fraction(0))
        / sum(weights)
        for h in concepts.concepts
    )


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
