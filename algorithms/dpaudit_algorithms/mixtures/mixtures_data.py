"""Goals of A_LearnHalf: comparison with the best halfspace, on the sample and under the distribution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpaudit.language import Goal, Instance, Multiset, ParameterError, as_written, checks
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.mixtures.mixtures_geometry import least_errors
from dpaudit_algorithms.mixtures.record_sources import Mixture

LEMMA, PRINTED = "Lemma 4.8", "Theorem 4.10, its proof"
"""Which bound on |err − err^|: with the square root, or without it, as in the printed proof of Theorem 4.10."""


class Labels(Protocol):
    """A hypothesis."""

    def label(self, x: Any) -> int: ...


class HalfspaceLearner(Protocol):
    """The interface of A_LearnHalf for its goals: an output is the number of a hypothesis of a dataset's class."""

    @property
    def dimension(self) -> int: ...

    def hypothesis(self, S: Any, output: int) -> Labels: ...


def best_errors(S: Any) -> int:
    """Errors of the ERM halfspace on the records of a dataset, exactly."""
    return _best(((x, y), count) for (x, y, _), count in Multiset.of(S).items)


def best_error(truth: Mixture) -> Fraction:
    """min_h err(h; D̃) over all halfspaces of ℝ^d, exactly."""
    return Fraction(_best(truth.examples.items()), sum(truth.weights))


def population_error(learner: HalfspaceLearner, S: Any, output: int, truth: Mixture) -> Fraction:
    """err(g; D̃) of the hypothesis of an output, exactly."""
    g = learner.hypothesis(S, output)
    wrong = sum(weight for (x, y), weight in truth.examples.items() if g.label(x) != y)
    return Fraction(wrong, sum(truth.weights))


def sample_errors(learner: HalfspaceLearner, S: Any, output: int) -> int:
    """The number of records that the hypothesis of an output labels wrongly."""
    g = learner.hypothesis(S, output)
    return sum(count for (x, y, _), count in Multiset.of(S).items if g.label(x) != y)


@dataclass(frozen=True)
class NearErm(Goal):
    """err^(ĝ; S′) ≤ err^(h_ERM; S′) + α.  Source: Bassily, Moran and Nandi, Claim 4.7."""

    learner: HalfspaceLearner
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        S = Multiset.of(instance.dataset)
        if not isinstance(output, int):
            return False
        wrong = sample_errors(self.learner, S, output)
        return wrong <= best_errors(S) + as_written(self.alpha) * len(S)

    def __str__(self) -> str:
        return f"an error on the sample at most {self.alpha:.4g} above the best halfspace's"


@dataclass(frozen=True)
class ExcessError(Goal):
    """err(ĝ; D̃) ≤ min_h err(h; D̃) + α, for instances of `Mixed`.  Source: Bassily, Moran and Nandi, Definition 3.2."""

    learner: HalfspaceLearner
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        truth = _truth(instance)
        if not isinstance(output, int):
            return False
        error = population_error(self.learner, instance.dataset, output, truth)
        return error <= best_error(truth) + as_written(self.alpha)

    def __str__(self) -> str:
        return f"an error at most {self.alpha:.4g} above the best halfspace's"


@dataclass(frozen=True)
class Deviation(Goal):
    """|err(ĝ; D̃) − err^(ĝ; S′)| within the bound of Lemma 4.8 with k = d², or of the proof of Theorem 4.10.

    d² public points determine ĝ also if m = dim Aff < d: m + 1 of them determine Aff, and m each the d halfspaces
    within it, (d + 1)m + 1 ≤ d² in total. They do not determine which of two opposite halfspaces is used, whether ĝ
    labels everything 1, or m: there are up to (d + 1)(2^d + 1) maps ℬ instead of one. A union bound over them adds the
    logarithm of that to d²·ln(n/β), which is less than the slack in the factor 2 of `bounds.compression`.

    Args:
        learner: A_LearnHalf.
        beta: the failure probability β of the bound.
        bound: "Lemma 4.8", or "Theorem 4.10, its proof" for the bound without the square root.
    """

    learner: HalfspaceLearner
    beta: checks.OpenUnit
    bound: str = LEMMA

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bound not in (LEMMA, PRINTED):
            raise ParameterError(f"bound must be {LEMMA!r} or {PRINTED!r}, not {self.bound!r}.")

    def reached(self, instance: Instance, output: Any) -> bool:
        truth, S = _truth(instance), Multiset.of(instance.dataset)
        if not isinstance(output, int):
            return False
        on_sample = Fraction(sample_errors(self.learner, S, output), len(S))
        apart = abs(population_error(self.learner, S, output, truth) - on_sample)
        error = float(on_sample) if self.bound == LEMMA else 0.0
        return apart <= bounds.compression(self.learner.dimension**2, len(S), self.beta, error)

    def __str__(self) -> str:
        return f"an error within the bound of {self.bound} from that on the sample, for β = {self.beta:g}"


def _best(examples: Iterable[tuple[tuple[Any, int], int]]) -> int:
    counts: dict[Any, list[int]] = {}
    for (x, y), count in examples:
        counts.setdefault(x, [0, 0])[y] += count
    return least_errors(tuple((x, zero, one) for x, (zero, one) in sorted(counts.items()))) if counts else 0


def _truth(instance: Instance) -> Mixture:
    if not isinstance(instance.truth, Mixture):
        raise ParameterError("This goal needs records drawn from a mixture: see `Mixed`.")
    return instance.truth
