"""Utility cases for Theorems 4.1, 4.3 and 4.7 of the thesis: private algorithms on samples, at the printed n.

For ε > 1/10 the theorems are vacuous, because 10ε > 1. The algorithms with the highest failure probability use all of
their δ: they publish or memorise half of S with probability 2δ, and δ/ε is allowed.
"""

from __future__ import annotations

from dpaudit.language import Fixed, Mechanism, Multiplicity, UtilityClaim
from dpaudit.plans.plan import UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.composition import Concatenation
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.laplace_mechanism import Histogram, LaplaceMechanism
from dpaudit_algorithms.generalization.algorithm_b import AlgorithmB
from dpaudit_algorithms.generalization.interaction import Population, Samples
from dpaudit_algorithms.generalization.predicates import (
    EachByItself,
    ItsErrors,
    ItsParts,
    ItsPoint,
    ItsPoints,
    LargestCell,
    LargestCells,
    MemorisedErrors,
    PredicatesOf,
    Reading,
)
from dpaudit_algorithms.generalization.tightness import GeneralizationTightness, GeneralizationTightnessCorrected
from dpaudit_algorithms.generalization.tightness_theory import UnitInterval
from dpaudit_algorithms.pac.concepts import Points, Thresholds
from dpaudit_algorithms.pac.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_algorithms.pac.learn_points import LearnPointsCorrected

EPSILON, DELTA = 0.05, 0.012
"""10ε = 1/2; δ is just below ε/4, which allows the most failures and minimises the printed n."""
FAIR, SKEWED = Population((0, 1), (1, 1)), Population((0, 1), (9, 1))
TWENTY = tuple(range(20))


def generalisation_cases() -> tuple[UtilityCase, ...]:
    """Exact if all samples are equivalent or have two kinds of records; sampled for twenty kinds."""
    return (*_one_predicate(), *_several_predicates(), *_learners())


def _one_predicate() -> tuple[UtilityCase, ...]:
    """k = 1: Theorem 4.1."""
    half = _bounded(GeneralizationTightness(0.5, DELTA), ItsPoints())
    window = _bounded(GeneralizationTightnessCorrected(0.5, DELTA), ItsPoints())
    corner = _bounded(GeneralizationTightness(1.0, 0.0249), ItsPoints(), epsilon=0.1, delta=0.0249)
    drawn = _bounded(GeneralizationTightness(0.09, 0.0224), ItsPoints(), epsilon=0.09, delta=0.0224)
    cells = _bounded(ExponentialMechanism(EPSILON, Multiplicity(FAIR.points)), ItsPoint())
    noisy = _bounded(LaplaceMechanism(EPSILON, Histogram(TWENTY)), LargestCell(TWENTY))
    n = window.printed_size
    return (
        _held("Theorem 4.1, all of S leaks", corner, _distinct(corner.printed_size)),
        _held("Theorem 4.1, half of S leaks", half, _distinct(n)),
        _held("Theorem 4.1, half of S leaks with the largest probability", window, _distinct(n)),
        _held("Theorem 4.1, S from U[0, 1]", drawn, (UnitInterval(drawn.printed_size),), runs=100, exact=False),
        _held("Theorem 4.1, the more frequent of two points", cells, (Samples(FAIR, n), Samples(SKEWED, n)), runs=100),
        _held(
            "Theorem 4.1, the largest noisy count", noisy, (Samples(Population.uniform(TWENTY), n),), runs=200,
            exact=False,
        ),
        UtilityCase(
            "Theorem 4.1, an algorithm that is not private",
            PredicatesOf(GeneralizationTightness(1.0, 0.99), ItsPoints()),
            _guaranteed(half),
            _distinct(n),
            runs=2_000,
            expected=Verdict.FAIL,
            note="It publishes S almost always; the theorem is about private algorithms and fails for this one.",
            deliberate=True,
        ),
    )


def _several_predicates() -> tuple[UtilityCase, ...]:
    """k > 1: Theorem 4.3, with the n for that k."""
    n = _bounded(GeneralizationTightness(0.5, DELTA), ItsPoints(), k=2).printed_size
    halves = _bounded(GeneralizationTightness(0.5, DELTA), ItsParts((n / 2, n)), k=2)
    once = ExponentialMechanism(EPSILON / 2, Multiplicity(FAIR.points))
    twice = _bounded(Concatenation(once, once), EachByItself((ItsPoint(), ItsPoint())), k=2)
    ten = _bounded(LaplaceMechanism(EPSILON, Histogram(TWENTY)), LargestCells(TWENTY, 10), k=10)
    return (
        _held("Theorem 4.3, k = 2, either half of S leaks", halves, _distinct(n)),
        _held("Theorem 4.3, k = 2, two choices of a point", twice, (Samples(FAIR, n),), runs=100),
        _held(
            "Theorem 4.3, k = 10, the 1, …, 10 largest noisy counts", ten,
            (Samples(Population.uniform(TWENTY), ten.printed_size),), runs=200, exact=False,
        ),
        UtilityCase(
            "Theorem 4.3, k = 2, an algorithm that is not private",
            PredicatesOf(GeneralizationTightness(0.5, 0.49), ItsParts((n / 2, n))),
            _guaranteed(halves),
            _distinct(n),
            runs=2_000,
            expected=Verdict.FAIL,
            note="Each half of S is published with probability 0.49, which is not (ε, δ)-DP.",
            deliberate=True,
        ),
    )


def _learners() -> tuple[UtilityCase, ...]:
    """Theorem 4.7: pure learners, and (ε, δ)-DP learners; one of them memorises half of its sample."""
    two, points, many = Thresholds(2), Points(2), Points(len(TWENTY))
    positive = Population(((0, 1), (1, 1)), (1, 1))
    realizable = Population(((0, 1), (1, 0)), (1, 1))
    ones = Population.uniform(tuple((x, 1) for x in TWENTY))
    private, useless = (
        _bounded(kind(EPSILON, two), ItsErrors(two)) for kind in (FiniteClassLearnerCorrected, FiniteClassLearner)
    )
    memorising = _bounded(GeneralizationTightnessCorrected(0.5, DELTA), MemorisedErrors())
    learner = _bounded(LearnPointsCorrected(EPSILON, DELTA, 2), ItsErrors(points))
    wide = _bounded(LearnPointsCorrected(EPSILON, DELTA, many.size), ItsErrors(many))
    n = learner.printed_size
    return (
        _held("Theorem 4.7, a private learner", private, (Samples(positive, n),), runs=100),
        _held("Theorem 4.7, a useless private learner", useless, (Samples(positive, n),), runs=100),
        _held("Theorem 4.7, δ > 0: half of S memorised", memorising, _distinct(n)),
        _held(
            "Theorem 4.7, δ > 0: LearnPoints", learner,
            tuple(Samples(population, n) for population in (realizable, positive)), runs=100,
        ),
        _held("Theorem 4.7, δ > 0: LearnPoints, 20 points", wide, (Samples(ones, n),), runs=200, exact=False),
    )


def _bounded(
    algorithm: Mechanism, reading: Reading, *, k: int = 1, epsilon: float = EPSILON, delta: float = DELTA
) -> AlgorithmB:
    """Algorithm B around A, which holds the theorem's n and guarantee; it is not run, so D does not matter."""
    return AlgorithmB(PredicatesOf(algorithm, reading), FAIR, epsilon, delta, k)


def _held(
    label: str, mechanism: AlgorithmB, instances: tuple[Mechanism, ...], *, runs: int = 500, exact: bool = True
) -> UtilityCase:
    """A itself on samples of the printed n."""
    return UtilityCase(label, mechanism.inner, _guaranteed(mechanism), instances, runs, exact)


def _guaranteed(mechanism: AlgorithmB) -> UtilityClaim:
    guarantee = mechanism.generalises(mechanism.printed_size)
    assert guarantee is not None
    return guarantee


def _distinct(n: int) -> tuple[Mechanism, ...]:
    """Distinct records; they stand for U[0, 1], because algorithms that only publish records treat them alike."""
    return (Fixed(tuple(range(n)), "U", f"{n:,} distinct records, as from U[0, 1]"),)
