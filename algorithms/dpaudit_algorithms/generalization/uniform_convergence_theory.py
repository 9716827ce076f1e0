"""Theorems 3.17 and 3.18 and Lemma 3.19 as utility guarantees, as printed and corrected."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpaudit.language import Goal, Instance, Mechanism, ParameterError, SampleSize, UtilityClaim, as_written
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.pac.concepts import AnyLabels, ConceptClass, Thresholds, Truth


class UniformConvergenceTheory(Mechanism):
    """Of `UniformConvergence`, whose parameters these are."""

    concepts: ConceptClass
    alpha: float
    beta: float

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


class UniformConvergenceCorrectedTheory(UniformConvergenceTheory):
    """Of `UniformConvergenceCorrected`, where it differs."""

    @property
    def _agnostic(self) -> SampleSize:
        return bounds.agnostic_generalisation_corrected(self.concepts.vc, self.alpha, self.beta)


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
