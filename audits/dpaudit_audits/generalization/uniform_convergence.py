"""Audit plans for the generalisation bounds (thesis, Theorems 3.17 and 3.18, Lemma 3.19), which are not private."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.generalization.uniform_convergence import UniformConvergence, UniformConvergenceCorrected
from dpaudit_algorithms.pac.concepts import (
    AgnosticExamples,
    AnyLabels,
    ConceptClass,
    Examples,
    Points,
    Thresholds,
    Truth,
    all_examples,
)
from dpaudit_algorithms.pac.grid_concepts import Halfspaces, Rectangles, ThresholdsND

NOMINAL = Claim(1.0, 1e-6)
EXACT = 400
"""Above this number of examples, samples are drawn rather than enumerated: their probabilities have too many digits."""
EXAMPLES = all_examples(range(3))


def cases(kind: type[UniformConvergence]) -> tuple[Case, ...]:
    """One example changes the published numbers."""
    default, small = kind(Thresholds(8), 0.3, 0.1), kind(Thresholds(3), 0.3, 0.1)
    return (
        Case("default", default, (_moved(1),), NOMINAL, runs=20_000, expected=Verdict.FAIL),
        Case("every pair of 3 records", small, (), NOMINAL, runs=0, scope=Scope(EXAMPLES, 3), expected=Verdict.FAIL),
        *(
            Case(f"group of {k}", default, (_moved(k),), NOMINAL.group(k), runs=20_000, expected=Verdict.FAIL)
            for k in (2, 3)
        ),
    )


def utility(kind: type[UniformConvergence]) -> tuple[UtilityCase, ...]:
    """Errors just above α, on either side of the target; for Theorem 3.18 also where n is one."""
    refuted = Verdict.FAIL if kind is UniformConvergence else Verdict.PASS
    thresholds = Thresholds(8)
    both = Truth((0, 3, 4), (0.399998, 0.300001, 0.300001), 3)
    left, right = Truth((0, 3), (0.699999, 0.300001), 3), Truth((0, 4), (0.699999, 0.300001), 3)
    plane, boxes, half = ThresholdsND(3, 2), Rectangles(3, 1), Halfspaces(2, 2)
    fair = AnyLabels(((0, 0), (0, 1)), (1, 1))
    tossed = AnyLabels(((3, 0), (3, 1)), (1, 1))
    scattered = AnyLabels(tuple((x, 0) for x in range(126)), (1,) * 126)
    return (
        _tried("Lemma 3.19", kind(thresholds, 0.3, 0.1), 2, (both, left, right)),
        _tried("Lemma 3.19, small α", kind(thresholds, 0.05, 0.2), 2, (_near(3, 3, 0.05), _near(4, 3, 0.05))),
        _tried("Lemma 3.19, large α and β", kind(thresholds, 0.9, 0.9), 2, (_near(3, 3, 0.9),)),
        _tried("Theorem 3.17, thresholds", kind(thresholds, 0.5, 0.5), 0, (_near(3, 3, 0.5), _near(4, 3, 0.5))),
        _tried("Theorem 3.17, points", kind(Points(8), 0.5, 0.5), 0, (_near(3, 3, 0.5),)),
        _tried(
            "Theorem 3.17, two dimensions",
            kind(plane, 0.5, 0.5),
            0,
            (Truth(((0, 0), (1, 0)), (0.499999, 0.500001), (0, 2)),),
        ),
        _tried("Theorem 3.17, intervals", kind(boxes, 0.5, 0.5), 0, (Truth(((0,), (2,)), (0.4, 0.6), ((0,), (0,))),)),
        _tried(
            "Theorem 3.17, halfspaces of a square",
            kind(half, 0.9, 0.9),
            0,
            (Truth(((0, 0), (1, 1)), (0.05, 0.95), half.concepts[0]),),
        ),
        _tried("Theorem 3.18, thresholds", kind(thresholds, 0.3, 0.1), 1, (tossed,)),
        _tried("Theorem 3.18, a certain label", kind(thresholds, 0.3, 0.1), 1, (AnyLabels(((3, 0),), (1,)),)),
        _tried(
            "Theorem 3.18, one concept",
            kind(Thresholds(1), 0.1, 0.05),
            1,
            (fair,),
            refuted,
            "VC(H) = 0: the printed n is one example, with empirical error 0 or 1; the concept's true error is 1/2.",
        ),
        _tried(
            "Theorem 3.18, αβ near 1",
            kind(Points(126), 0.992, 0.992),
            1,
            (scattered,),
            refuted,
            "(50/α²)·ln(1/(αβ)) = 0.82 gives one example, on which some c_x has error 1; its true error is 1/126.",
            runs=500,
        ),
    )


def _tried(
    label: str,
    mechanism: UniformConvergence,
    which: int,
    truths: tuple[Truth | AnyLabels, ...],
    expected: Verdict = Verdict.PASS,
    note: str = "",
    runs: int = 5_000,
) -> UtilityCase:
    """The guarantee of a sample size, at exactly that size; exact if there are not too many samples."""
    size = mechanism.sample_sizes[which]
    claim = next(c for c in mechanism.utility(size.records) if c.place == size.place)
    sources = tuple(_source(mechanism.concepts, truth, size.records) for truth in truths)
    exact = size.records <= EXACT and all(len(truth.weights) <= 3 for truth in truths)
    return UtilityCase(label, mechanism, claim, sources, runs, exact or size.records == 1, expected, note)


def _source(concepts: ConceptClass, truth: Truth | AnyLabels, records: int) -> Mechanism:
    return Examples(concepts, truth, records) if isinstance(truth, Truth) else AgnosticExamples(truth, records)


def _near(x: int, target: int, alpha: float) -> Truth:
    """Mass just above α at one point, and the rest at a point on which neighbouring concepts agree."""
    return Truth((0, x), (1 - alpha - 1e-6, alpha + 1e-6), target) if alpha < 1 else Truth((x,), (1,), target)


def _moved(k: int) -> Pair:
    """Positive examples at 1 and negative ones at 6; on D′ k positive examples are at 5."""
    left = Multiset.counted({(1, 1): 4, (6, 0): 4})
    right = Multiset.counted({(1, 1): 4 - k, (5, 1): k, (6, 0): 4})
    return Pair(left, right, f"{k} positive example(s) moved from 1 to 5")


PLAN = Plan("UniformConvergence", lambda: cases(UniformConvergence), utility=lambda: utility(UniformConvergence))
CORRECTED_PLAN = Plan(
    "UniformConvergenceCorrected",
    lambda: cases(UniformConvergenceCorrected),
    utility=lambda: utility(UniformConvergenceCorrected),
)
