"""Audit plan for LearnRectangles (thesis §6.6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.goals import BETA
from dpaudit_algorithms.half_spaces.learn_rectangles import Cell, LearnRectangles, SignificantCells
from dpaudit_algorithms.half_spaces.release_thresholds import ReleaseThresholds
from dpaudit_algorithms.pac.concepts import Examples, Truth, all_examples
from dpaudit_audits.half_spaces.release_figures import BoxFigure

TARGET = ((2, 3), (5, 6))
"""The target rectangle of the figures."""


@dataclass(frozen=True)
class LittleNoise(SignificantCells):
    """A wrong histogram: an eighth of the required noise."""

    @property
    def scale(self) -> float:
        return 1 / (4 * self.epsilon)


@dataclass(frozen=True)
class TooLittleNoise(LearnRectangles):
    """A wrong learner, with the wrong histogram."""

    def significant(self, axis: int, parts: tuple[Cell, ...], records: int) -> SignificantCells:
        return LittleNoise(self.part.epsilon, axis, parts, self.threshold(records, len(parts)))


@dataclass(frozen=True)
class KnownCells(LearnRectangles):
    """A wrong learner: the cells are computed from the raw coordinates."""

    @property
    def release(self) -> ReleaseThresholds:
        return _AsItIs(self.size, self.alpha, self.epsilon, self.delta)


@dataclass(frozen=True)
class _AsItIs(ReleaseThresholds):
    """The input itself, instead of synthetic data."""

    def run(self, S: Any) -> Any:
        return Multiset.of(S)


def cases() -> tuple[Case, ...]:
    """Exact on small domains; more records; wrong learners that must fail."""
    line, plane = tiny(3, 1, 2), tiny(2, 2, 1)
    drawn, group = LearnRectangles(8, 2, 0.5), tiny(4, 1, 1, delta=1e-6)
    return (
        Case("small domain, exhaustive: an interval, |X| = 2", tiny(2, 1, 2), runs=0, scope=_scope(2, 1, 4)),
        Case("small domain, exhaustive: an interval, |X| = 3", line, runs=0, scope=_scope(3, 1, 2)),
        Case("small domain, exhaustive: a rectangle, |X| = 2", plane, runs=0, scope=_scope(2, 2, 2)),
        Case("small domain, exhaustive: three axes, |X| = 2", tiny(2, 3, 1), runs=0, scope=_scope(2, 3, 1)),
        Case("large ε", tiny(3, 1, 2, epsilon=4.0), runs=0, scope=_scope(3, 1, 2)),
        Case("an interval, more examples", tiny(4, 1, 1), _line_pairs(1), runs=0),
        Case("a rectangle, more examples", tiny(2, 2, 1), _plane_pairs(1), runs=0),
        Case(
            "in the plane",
            drawn,
            (grid_pair(60),),
            runs=100,
            expected=Verdict.INCONCLUSIVE,
            drawing=BoxFigure(TARGET),
            note="Fewer examples than the derivation requires, so the border moves; for the figure.",
        ),
        Case(
            "|X| = 2^16, two steps",
            LearnRectangles(dimension=1, alpha=1.0, steps=2),
            _relabelled_far(),
            runs=1_000,
        ),
        *(
            Case(f"group of {g}", group, _line_pairs(g), group.claim.group(g), runs=0)
            for g in (2, 3)
        ),
        *(
            Case(label, wrong, pairs, runs=0, expected=Verdict.FAIL, deliberate=True, note=note)
            for label, wrong, pairs, note in (
                (
                    "an eighth of the noise",
                    TooLittleNoise(2, 1, 1.0, 1.0, 0.01, base=1, steps=1, room=0),
                    (_relabelled("the only positive relabelled", {((0,), 1): 1, ((1,), 0): 3}, ((0,), 1), ((0,), 0)),),
                    "A wrong learner under this name; the audit must detect it.",
                ),
                (
                    "cells computed from the raw data",
                    KnownCells(4, 1, 1.0, 0.1, 0.01),
                    (_relabelled("a value that only one dataset has", {((0,), 1): 1}, ((0,), 1), ((3,), 1)),),
                    "A wrong learner under this name: the bounds of its cells are a function of the data.",
                ),
            )
        ),
    )


def utility() -> tuple[UtilityCase, ...]:
    """At the derivation's number of examples, for one to three axes, on hard distributions."""
    cases: list[UtilityCase] = []
    for mechanism, runs in (
        (LearnRectangles(8, 1, 0.5), 50),
        (LearnRectangles(40, 1, 0.5, base=40), 15),
        (LearnRectangles(6, 2, 0.5), 40),
        (LearnRectangles(4, 3, 0.5), 40),
        (LearnRectangles(2**16, 1, 0.5), 10),
    ):
        n = mechanism.least_records(BETA)
        label = f"ℓ = {mechanism.dimension}, |X| = {mechanism.size}"
        truths = light_truths(mechanism) if mechanism.size == 40 else hard_truths(mechanism)
        sources = tuple(Examples(mechanism.concepts, truth, n) for truth in truths)
        cases += [
            UtilityCase(f"{label}: {claim.goal}", mechanism, claim, sources, runs=runs, exact=False)
            for claim in mechanism.utility(n)
        ]
    return tuple(cases)


def light_truths(mechanism: LearnRectangles) -> tuple[Truth, ...]:
    """All points of X on a line, each lighter than a cell: a border within a cell, and many light positives with total
    mass about α/2."""
    every = range(mechanism.size)
    points = tuple((x,) for x in every)
    # the points 0, …, 23 have a total mass of α/2 + 1/100
    positive = float(mechanism.alpha) / 2 + 0.01
    light = tuple(positive / 24 if x < 24 else (1 - positive) / (mechanism.size - 24) for x in every)
    return (
        Truth(points, (1.0,) * len(points), ((11,), (25,))),
        Truth(points, light, ((0,), (23,))),
    )


def hard_truths(mechanism: LearnRectangles) -> tuple[Truth, ...]:
    """Thin rectangles, heavy points on a border, few positives, no positives.

    The points lie on a diagonal or on a grid, and for small X cover X: every axis has light cells at the border.
    """
    ell, last, alpha = mechanism.dimension, mechanism.size - 1, mechanism.alpha
    steps = sorted({last * i // 7 for i in range(8)})
    diagonal = [(x,) * ell for x in steps]
    middle = steps[len(steps) // 2]
    thin = ((middle, *(0,) * (ell - 1)), (middle, *(last,) * (ell - 1)))
    half = ((steps[1],) * ell, (middle,) * ell)
    # a border that depends on one light point next to a heavy point
    weights = [8.0 if x == steps[1] else 1.0 for x in steps]
    # positives with mass just over α: the learner must not lose them
    few = [float(alpha) * 1.05 / (1 - float(alpha) * 1.05) * (len(steps) - 1) if x == middle else 1.0 for x in steps]
    points = tuple(product(steps[:: 2 if ell > 1 else 1], repeat=ell))
    return (
        Truth(points, (1.0,) * len(points), half),
        Truth(points, (1.0,) * len(points), thin),
        Truth(tuple(diagonal), tuple(weights), half),
        Truth(tuple(diagonal), tuple(few), ((middle,) * ell, (middle,) * ell)),
        Truth(tuple(diagonal), (1.0,) * len(diagonal), mechanism.empty),
    )


def grid_pair(each: int) -> Pair:
    """`each` examples at every point of an 8 × 8 grid, labelled by the target; one example relabelled."""
    (a1, a2), (b1, b2) = TARGET
    counts = {((x, y), int(a1 <= x <= b1 and a2 <= y <= b2)): each for x, y in product(range(8), repeat=2)}
    return _relabelled("one example outside relabelled", counts, ((0, 0), 0), ((0, 0), 1))


def tiny(size: int, dimension: int, steps: int, *, epsilon: float = 1.0, delta: float = 0.01) -> LearnRectangles:
    """Few steps on every axis, counts in {0, …, n}."""
    return LearnRectangles(size, dimension, 1.0, epsilon, delta, base=1, steps=steps, room=0)


def _scope(size: int, dimension: int, records: int) -> Scope:
    points = product(range(size), repeat=dimension)
    return Scope(all_examples(points), records)


def _line_pairs(g: int) -> tuple[Pair, ...]:
    return (
        _relabelled("relabelled in the middle", {((1,), 1): 4, ((3,), 0): 2}, ((1,), 1), ((1,), 0), g),
        _relabelled("moved to the end", {((1,), 1): 4, ((3,), 0): 2}, ((1,), 1), ((3,), 1), g),
        _relabelled("the first positives", {((0,), 0): 6}, ((0,), 0), ((3,), 1), g),
    )


def _plane_pairs(g: int) -> tuple[Pair, ...]:
    positive = {((1, 1), 1): 3, ((0, 0), 0): 1}
    return (
        _relabelled("relabelled", positive, ((1, 1), 1), ((1, 1), 0), g),
        _relabelled("moved along both axes", positive, ((1, 1), 1), ((0, 0), 1), g),
        _relabelled("the first positive", {((0, 0), 0): 4}, ((0, 0), 0), ((0, 1), 1), g),
    )


def _relabelled_far() -> tuple[Pair, ...]:
    counts = {((9_000,), 1): 600, ((50_000,), 0): 600}
    return (
        _relabelled("one example relabelled", counts, ((9_000,), 1), ((9_000,), 0)),
        _relabelled("one example moved", counts, ((9_000,), 1), ((65_535,), 1)),
    )


def _relabelled(label: str, counts: dict[Any, int], old: Any, new: Any, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """An interval on few points."""
    size = max(2, domain)
    return tiny(size, 1, 1), _scope(size, 1, records)


PLAN = Plan("LearnRectangles", cases, small, utility=utility)
