"""Audit plans for A_ConstrHalf and A_LearnHalf (private-public mixtures, §4).

In the worst pairs, one replaced record lowers the errors of hypotheses with nearly all of the weight in step 9 and
raises the errors of the hypothesis in the event. The loss approaches ε as the remaining weight gets small, but never
reaches it: the log ratio of the two sums is less than ε/2 if both kinds of hypotheses have some weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from numpy.random import default_rng

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import PRIVATE, PUBLIC, REPLACE_ONE, Claim, Fixed, Mechanism, Multiset, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.mixtures.mixtures import ConstrHalf, LearnHalf
from dpaudit_algorithms.mixtures.mixtures_data import PRINTED, Deviation, ExcessError, NearErm
from dpaudit_algorithms.mixtures.record_sources import (
    Mixed,
    Mixture,
    flipped_bits,
    label_determined,
    noisy_labels,
    private_ones,
)
from dpaudit_audits.mixtures.mixture_figures import MixtureFigure

Row = tuple[tuple[int, ...], int, str]
RUNS = 20_000

TRIANGLE = ((0, 0), (4, 0), (0, 4))
LINE = ((0, 0), (1, 0))
SIMPLEX = ((0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 3))
NOT_COVERED = (
    "Lemma 4.1 does not cover public records, and private-rows rejects such a pair; under replace-one the hypothesis "
    "class itself reveals which points are public."
)


def public(*points: tuple[int, ...], label: int = 0) -> tuple[Row, ...]:
    """Public records at these points."""
    return tuple((x, label, PUBLIC) for x in points)


def private(x: tuple[int, ...], label: int, times: int = 1) -> tuple[Row, ...]:
    """`times` private records (x, label)."""
    return ((x, label, PRIVATE),) * times


def relabelled(fixed: tuple[Row, ...], x: tuple[int, ...], others: int, moved: int = 1) -> Pair:
    """Private records (x, 0); on D `moved` have label 1. On D′, hypotheses with h(x) = 1 err more, others less."""
    left = (*fixed, *private(x, 0, others), *private(x, 1, moved))
    right = (*fixed, *private(x, 0, others + moved))
    label = f"{len(fixed)} public, {others + moved} private records at {x}, {moved} relabelled"
    return Pair(Multiset.of(left), Multiset.of(right), label)


def replaced(fixed: tuple[Row, ...], old: tuple[int, ...], new: tuple[int, ...], others: int, moved: int = 1) -> Pair:
    """All private records have label 1, as in the label-determined model; `moved` of them move from old to new."""
    left = (*fixed, *private(new, 1, others), *private(old, 1, moved))
    right = (*fixed, *private(new, 1, others + moved))
    label = f"{len(fixed)} public, {others + moved} private records of label 1, {moved} moved from {old} to {new}"
    return Pair(Multiset.of(left), Multiset.of(right), label)


def published(size: int = 200, n_pub: int = 60) -> Pair:
    """Random points of a 20,001² grid, very likely in general position; one private record relabelled."""
    rng = default_rng(4)
    points = [tuple(int(c) for c in row) for row in rng.integers(-10_000, 10_001, (size, 2))]
    fixed = public(*points[:n_pub])
    rest = tuple((x, int(sum(x) > 0), PRIVATE) for x in points[n_pub:-1])
    left, right = private((0, 0), 1), private((0, 0), 0)
    return Pair(
        Multiset.of((*fixed, *rest, *left)), Multiset.of((*fixed, *rest, *right)), f"n = {size}, n_pub = {n_pub}"
    )


def rows(grid: Sequence[int], dimension: int) -> tuple[Row, ...]:
    """All records over a grid."""
    return tuple((x, y, p) for x in product(grid, repeat=dimension) for y in (0, 1) for p in (PRIVATE, PUBLIC))


def cases() -> tuple[Case, ...]:
    """The claim for every kind of public part and every reading, exhaustively on tiny grids; and a pair outside it."""
    plane, line, space = LearnHalf(1.0, 2), LearnHalf(1.0, 1), LearnHalf(1.0, 3)
    triangle, flat, drawn = public(*TRIANGLE), public(*LINE), MixtureFigure(plane)
    readings = (
        ("supports aligned", LearnHalf(1.0, 2, supports="aligned")),
        ("Ŝ = ∅ gives x₁ ≥ 0", LearnHalf(1.0, 2, empty_subset="axis")),
        ("step 8 alone", LearnHalf(1.0, 2, all_ones="steps")),
        ("private records have label 0", LearnHalf(1.0, 2, private_label=0)),
    )
    replacing_public = Pair(
        Multiset.of((*triangle, *private((1, 1), 1, 5))),
        Multiset.of((*triangle[:2], *public((1, 1)), *private((1, 1), 1, 5))),
        "a public record moved",
    )
    return (
        Case(
            "default",
            plane,
            (relabelled(triangle, (1, 1), 20), replaced(triangle, (1, 1), (9, 9), 20)),
            runs=RUNS,
            drawing=drawn,
        ),
        Case("equally many private records for and against", plane, (relabelled(triangle, (1, 1), 3),), runs=RUNS),
        Case(
            "n = 200, n_pub = 60",
            plane,
            (published(),),
            runs=10_000,
            exact=False,
            note="6.7 million hypotheses.",
            drawing=drawn,
        ),
        Case("every pair of 4 records of a line of 2 points", line, runs=0, scope=Scope(rows(range(2), 1), 4)),
        Case("every pair of 3 records of a line of 3 points", line, runs=0, scope=Scope(rows(range(3), 1), 3)),
        Case("every pair of 3 records of a 2 × 2 grid", plane, runs=0, scope=Scope(rows(range(2), 2), 3)),
        *(
            Case(f"{name}, every pair of 2 records of a 2 × 2 grid", m, runs=0, scope=Scope(rows(range(2), 2), 2))
            for name, m in readings
        ),
        *(Case(f"{name}, public points on a line", m, (relabelled(flat, (2, 0), 20),), runs=0) for name, m in readings),
        Case(
            "public points on a line",
            plane,
            (relabelled(flat, (2, 0), 20), relabelled(flat, (0, 1), 20)),
            runs=0,
            drawing=drawn,
        ),
        Case("equal public points", plane, (relabelled(public((0, 0), (0, 0)), (0, 0), 20),), runs=0),
        Case("no public points", plane, (relabelled((), (0, 0), 20),), runs=0),
        Case("three dimensions", space, (relabelled(public(*SIMPLEX), (1, 1, 1), 20),), runs=0),
        Case("three dimensions, public points in a plane", space, (_in_a_plane(),), runs=0),
        Case(
            "group of 2",
            plane,
            (relabelled(triangle, (1, 1), 30, 2), replaced(triangle, (1, 1), (9, 9), 20, 2)),
            plane.claim.group(2),
            runs=RUNS,
        ),
        Case("group of 3", plane, (relabelled(triangle, (1, 1), 30, 3),), plane.claim.group(3), runs=0),
        _not_covered(plane, replacing_public),
    )


def construction_cases() -> tuple[Case, ...]:
    """A_ConstrHalf ignores private records and depends only on public ones."""
    plane, triangle = ConstrHalf(), public(*TRIANGLE)
    pair = relabelled(triangle, (1, 1), 3)
    moved = Multiset.of((*triangle[:2], *public((1, 1))))
    replacing_public = Pair(Multiset.of(triangle), moved, "a public record moved")
    return (
        Case("default", plane, (pair,), runs=RUNS),
        Case("every pair of 3 records of a 2 × 2 grid", plane, runs=0, scope=Scope(rows(range(2), 2), 3)),
        Case("public points on a line", plane, (relabelled(public(*LINE), (2, 0), 3),), runs=0),
        Case("aligned", ConstrHalf(supports="aligned"), (relabelled(public(*LINE), (2, 0), 3),), runs=0),
        Case("no public points", plane, (relabelled((), (0, 0), 3),), runs=0),
        Case("three dimensions", ConstrHalf(3), (relabelled(public(*SIMPLEX), (1, 1, 1), 3),), runs=0),
        Case("group of 2", plane, (relabelled(triangle, (1, 1), 3, 2),), plane.claim.group(2), runs=0),
        Case("group of 3", plane, (relabelled(triangle, (1, 1), 3, 3),), plane.claim.group(3), runs=0),
        _not_covered(plane, replacing_public),
    )


def _not_covered(mechanism: Mechanism, pair: Pair) -> Case:
    """A pair that private-rows rejects, tested against a claim that the paper does not make."""
    return Case(
        "a public record is replaced",
        mechanism,
        (pair,),
        Claim(1.0, relation=REPLACE_ONE),
        runs=RUNS,
        expected=Verdict.FAIL,
        note=NOT_COVERED,
        deliberate=True,
    )


def utility() -> tuple[UtilityCase, ...]:
    """Claim 4.7, Theorems 4.9 and 4.10 and the bounds on |err − err^|; and readings for which they fail."""
    return (*_on_the_sample(), *_under_the_distribution(), *_deviations())


def _on_the_sample() -> tuple[UtilityCase, ...]:
    """Claim 4.7 at α = 0.1, on datasets where most hypotheses have a large error."""
    line, plane, space = LearnHalf(0.5, 1), LearnHalf(0.5, 2), LearnHalf(0.5, 3)
    between = (*public((0,), (1,), (3,)), *private((2,), 1, 40), *private((4,), 1, 40))
    corner = (*public(*TRIANGLE, (1, 1)), *private((3, 3), 1, 200), *private((0, 5), 1, 200))
    thin = (*public(*LINE * 100), *private((2, 0), 1, 200))
    mixed = (*public(*LINE * 100), *public((5, 0), (6, 1), label=1), *private((2, 0), 1, 200))
    inside = (*public(*SIMPLEX), *private((2, 2, 2), 1, 700))
    mirrored = tuple((x, 1 - y, p) for x, y, p in thin)
    aligned = LearnHalf(0.5, 2, supports="aligned")
    steps = LearnHalf(0.5, 1, all_ones="steps")
    alone = (*public((0,)), *private((0,), 1, 199))
    return (
        _sample_case("Claim 4.7, a line, no halfspace without errors", line, between),
        _sample_case("Claim 4.7, the plane", plane, corner),
        _sample_case("Claim 4.7, the plane, public points on a line", plane, thin),
        _sample_case("Claim 4.7, public records with both labels", plane, mixed),
        _sample_case("Claim 4.7, three dimensions", space, inside),
        _sample_case("Claim 4.7, one public record among private ones at the same point", line, alone),
        _sample_case(
            "Claim 4.7, supports aligned, public points on a line",
            aligned,
            thin,
            expected=Verdict.FAIL,
            note="The supported halfspaces contain the line, so no hypothesis separates public from private points.",
        ),
        _sample_case(
            "Claim 4.7, step 8 alone",
            steps,
            alone,
            expected=Verdict.FAIL,
            note="A single closed halfspace is never empty, so no hypothesis labels the point 1.",
            deliberate=True,
        ),
        _sample_case(
            "Claim 4.7, private iff y = 0",
            plane,
            mirrored,
            expected=Verdict.FAIL,
            note="The definition of label-determined in section 3 allows it; section 4 does not.",
            deliberate=True,
        ),
        _sample_case("Claim 4.7, private iff y = 0, labels exchanged", LearnHalf(0.5, 2, private_label=0), mirrored),
    )


def _under_the_distribution() -> tuple[UtilityCase, ...]:
    """Theorems 4.9 and 4.10 and the relaxations of section 4 at the proofs' numbers, α = 0.4, β = 0.2."""
    line, plane = LearnHalf(0.5, 1), LearnHalf(0.5, 2)
    aligned = LearnHalf(0.5, 2, supports="aligned")
    steps_up = label_determined({((x,), int(x > 1)): 1 for x in range(4)})
    square = label_determined({((x, y), int(x + y > 2)): 1 for x in range(3) for y in range(3)})
    thin = label_determined({((0, 0), 0): 1, ((1, 0), 0): 1, ((2, 0), 1): 2})
    noisy = noisy_labels([((x,), 1) for x in range(4)], lambda x: int(x[0] > 1), 0.1)
    both = private_ones({((x,), int(x > 1)): 1 for x in range(4)}, 0.5)
    flips = flipped_bits({((x,), int(x > 1)): 1 for x in range(4)}, 0.02)
    return (
        _excess_case("Theorem 4.9, a line", line, steps_up),
        _excess_case("Theorem 4.9, a 3 × 3 grid", plane, square),
        _excess_case("Theorem 4.9, all points on a line of the plane", plane, thin),
        _excess_case("relaxation (ii), half of label 1 public", line, both),
        _excess_case("relaxation (i), 2 % of the bits flipped", line, flips),
        _excess_case("Theorem 4.10, one label in ten wrong", line, label_determined(noisy), agnostic=True),
        _excess_case(
            "Theorem 4.9, supports aligned, all points on a line of the plane",
            aligned,
            thin,
            expected=Verdict.FAIL,
            note="Once both public points are drawn, every hypothesis is constant on the line: error 1/2.",
        ),
        _excess_case(
            "Theorem 4.9, supports aligned, α = 0.2",
            aligned,
            thin,
            alpha=0.2,
            expected=Verdict.FAIL,
            note="If one public point is drawn the error is 1/4 or 1/2, and else 1/2.",
        ),
        UtilityCase(
            "Theorem 4.9, supports aligned, α = 0.2, 24 records",
            aligned,
            UtilityClaim(ExcessError(aligned, 0.2), all_but(0.2), "§4, Theorem 4.9, for every n"),
            (Mixed(thin, 24),),
            runs=300,
            expected=Verdict.FAIL,
            note="The probability of success is 0 for every n, ε and β.",
            finding=23,
        ),
    )


def _deviations() -> tuple[UtilityCase, ...]:
    """Lemma 4.8 with k = d², and the step in the proof of Theorem 4.10 that omits the square root."""
    line, coin = LearnHalf(0.5, 1), label_determined({((0,), 0): 1, ((0,), 1): 1})
    beta, records = 0.125, 100_000
    fair = (Mixed(coin, records),)
    lemma = UtilityClaim(Deviation(line, beta), all_but(beta), "§4, Lemma 4.8 with k = d²")
    printed = UtilityClaim(Deviation(line, beta, PRINTED), all_but(beta), "§4, Theorem 4.10, its proof, with β/4 = 1/8")
    few = UtilityClaim(Deviation(line, beta), all_but(beta), "§4, Lemma 4.8 with k = d²")
    return (
        UtilityCase("Lemma 4.8, one point, fair labels", line, lemma, fair, runs=2_000, exact=False),
        UtilityCase("Lemma 4.8, 80 records", line, few, (Mixed(coin, 80),), runs=2_000),
        UtilityCase(
            "Theorem 4.10's proof: the bound without the square root",
            line,
            printed,
            fair,
            runs=4_000,
            exact=False,
            expected=Verdict.FAIL,
            note="Every hypothesis labels the one point 0 or 1, so err^ is the fraction of a label and err is 1/2.",
            finding=24,
        ),
    )


def _sample_case(
    label: str,
    learner: LearnHalf,
    S: tuple[Row, ...],
    *,
    expected: Verdict = Verdict.PASS,
    note: str = "",
    deliberate: bool = False,
) -> UtilityCase:
    dataset = Multiset.of(S)
    shown = f"{len(dataset)} records at {len({x for x, _, _ in S})} points"
    source = Fixed(dataset, label=shown)
    return UtilityCase(
        label, learner, learner.guarantee(0.1, dataset), (source,), expected=expected, note=note, deliberate=deliberate,
        finding=23,
    )


def _excess_case(
    label: str,
    learner: LearnHalf,
    truth: Mixture,
    *,
    alpha: float = 0.4,
    agnostic: bool = False,
    expected: Verdict = Verdict.PASS,
    note: str = "",
) -> UtilityCase:
    number = bounds.mixture_agnostic if agnostic else bounds.mixture_realisable
    size = number(learner.dimension, learner.epsilon, alpha, 0.2)
    claim = UtilityClaim(ExcessError(learner, alpha), all_but(0.2), size.place)
    source: Mechanism = Mixed(truth, size.records)
    return UtilityCase(
        label, learner, claim, (source,), runs=300, exact=False, expected=expected, note=note, finding=23
    )


def _in_a_plane() -> Pair:
    return relabelled(public((0, 0, 0), (1, 0, 0), (0, 1, 0)), (2, 2, 0), 20)


def _small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """About `domain` possible records, four for each point of a line: label 0 or 1, private or public."""
    return LearnHalf(1.0, 1), Scope(rows(range(-(-domain // 4)), 1), records)


def _small_construction(domain: int, records: int) -> tuple[Mechanism, Scope]:
    return ConstrHalf(1), Scope(rows(range(-(-domain // 4)), 1), records)


PLAN = Plan("LearnHalf", cases, _small, utility=utility)
CONSTRUCTION_PLAN = Plan("ConstrHalf", construction_cases, _small_construction)

__all__ = ["CONSTRUCTION_PLAN", "PLAN", "NearErm", "private", "public", "published", "relabelled", "replaced", "rows"]

