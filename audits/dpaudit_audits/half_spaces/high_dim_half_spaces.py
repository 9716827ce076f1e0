"""Audit plans for half-spaces in d dimensions (half-spaces paper, §3.2).

The pairs have one example against none, for every reading of the steps that the paper leaves open. The utility cases
use samples that no direction of the grid explains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, FloatArray, Mechanism, Multiset, Program, Softmax, checks
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.half_spaces.angles import AngleGrid, Sine, minimum_angle
from dpaudit_algorithms.half_spaces.high_dim_data import MakeHighDimData, MakeHighDimDataCorrected
from dpaudit_algorithms.half_spaces.high_dim_half_spaces import AHighH, AHighHCorrected
from dpaudit_audits.half_spaces.half_space_figures import angles_of
from dpaudit_audits.half_spaces.simple_half_spaces import CoinThresholds

QUARTERS, TWELFTHS, FINE = Fraction(1), Fraction(1, 2), Fraction(1, 18)
"""sin γ: five angles; thirteen, as Lemma 11 has it for {−1, 0, 1}³; 114, for {−3, …, 3}³."""
ONE = (((1, 0, 0), -1),)
"""One example, labelled correctly if and only if φ_1 has a negative cosine."""
MISSED = (((1, 0, 0), -1), ((1, -1, 0), 1), ((0, 1, 1), 1))
"""Explained by n = (−1, −2, 3); by no direction of the grid of {−1, 0, 1}³, γ being 30° or 45°."""
NARROW = (((0, -1, 1), 1), ((1, -1, -1), 1), ((-1, 1, 0), 1))
"""Explained by all n with n₃ > n₂, n₁ > n₂ + n₃ and n₂ > n₁, e.g. `NARROW_NORMAL`; by no direction of `TWELFTHS`."""
NARROW_NORMAL = (-6, -5, -3)
OPPOSITE = (((1, 1, 1), 1), ((-1, -1, -1), 1))
"""Explained by the directions perpendicular to (1, 1, 1); no direction of the grid is."""


EXPLAINED = (((0, 1, 0), -1), ((0, 0, 1), 1), ((0, 0, -1), -1))
"""Explained by n with n₂ < 0 < n₃, e.g. the direction of the grid with φ_1 = π/2, φ_2 = 5π/6."""


@dataclass(frozen=True)
class QuickThresholds(Mechanism):
    """The exponential mechanism on thresholds 0, …, size − 1: probability ∝ e^{−ε·(wrong examples)/2}.

    Args:
        epsilon: > 0.
        size: the number of thresholds.
        ahead: how many examples the largest threshold is ahead of the others before any is counted.
    """

    epsilon: float
    size: int
    ahead: int = 0

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Softmax:
        at = np.zeros((2, self.size))
        for (place, y), count in Multiset.of(S).items:
            at[y, place] += count
        wrong = np.cumsum(at[0]) + at[1].sum() - np.cumsum(at[1])
        wrong[-1] -= self.ahead
        return Softmax(-wrong, self.epsilon / 2)


@dataclass(frozen=True)
class FirstAngle(Mechanism):
    """φ*_1 of A_HighH, a part of its output: its claim holds if the claim of the whole does."""

    subject: AHighH

    @property
    def claim(self) -> Claim:
        return self.subject.claim

    def run(self, S: Any) -> Program:
        angle, _ = yield self.subject.coordinate(1, ()).on(Multiset.of(S))
        return angle


def grid_directions(sine: Sine) -> FloatArray:
    """The unit vectors of all pairs of angles of a grid, rounded, shape (size², 3); for figures."""
    angles = AngleGrid(sine).angles
    first, second = (a.ravel() for a in np.meshgrid(angles, angles, indexing="ij"))
    return np.stack([np.cos(first), np.sin(first) * np.cos(second), np.sin(first) * np.sin(second)], axis=1)


def corners(sample: Sequence[tuple[tuple[int, ...], int]]) -> tuple[tuple[int, ...], ...]:
    """The extreme rays of {n : y·⟨n, x⟩ ≥ 0 for all (x, y)} in space, as whole numbers; for figures."""
    signed = [tuple(y * c for c in x) for x, y in sample]
    crossed = [ray for a, b in combinations(signed, 2) for ray in (np.cross(a, b), np.cross(b, a)) if any(ray)]
    kept = [ray // np.gcd.reduce(ray) for ray in crossed if all(int(np.dot(ray, x)) >= 0 for x in signed)]
    return tuple(dict.fromkeys(tuple(int(c) for c in ray) for ray in kept))


def halfspaces(sine: Sine, C: int, epsilon: float = 1.0, **readings: Any) -> AHighH:
    """A_HighH with a learner for its budget; one copy of each angle by default."""
    readings = {"cap": 1} | readings
    share = epsilon
    if readings.get("budget") == "theorem":
        share *= readings.get("constant", 1.0) / math.log2(1 / readings["delta_prime"])
    return AHighH(epsilon, 0.01, sine, QuickThresholds(share, AngleGrid(sine).size), C, **readings)


def cases() -> tuple[Case, ...]:
    """Theorem 21 fails for every reading."""
    default, fails = halfspaces(TWELFTHS, 13), Verdict.FAIL
    # the paper has ε < 1
    inside, least = halfspaces(TWELFTHS, 13, 0.9), halfspaces(minimum_angle(1), 9, 0.9)
    shared = halfspaces(Fraction(1, 32), 202, 0.9, budget="theorem", delta_prime=0.005)
    cases = [
        Case("default", default, _one(), runs=20_000, expected=Verdict.FAIL, note=_WHY),
        *(
            Case(
                f"k = 4, C = 90, ε = 0.9{label}", FirstAngle(AHighH(0.9, 0.001, Fraction(1, 32), learner, 90)), _one(),
                runs=20_000, expected=fails, note=_KEPT,
            )
            for label, learner in (
                (", A_Thr a coin", CoinThresholds(0.9, 202)), ("", QuickThresholds(0.9, 202, ahead=30)),
            )
        ),
        Case("k = 1, ε = 0.9", inside, _one(), runs=20_000, expected=fails, note=_WHY),
        Case("k = 1, ε = 0.9, γ the minimum angle", least, _one(), runs=0, expected=fails, note=_WHY),
        Case(
            "k = 1, ε = 0.9, C = 4, and Geom", FirstAngle(halfspaces(TWELFTHS, 4, 0.9)), _one(), runs=0,
            expected=fails, note=_WHY,
        ),
        Case(
            "k = 4, ε = 0.9, budget of Theorem 21 with δ′ = 0.005", FirstAngle(shared), _one(), runs=0,
            expected=fails, note=_WHY,
        ),
        Case("five angles, all kept", halfspaces(QUARTERS, 5), _one(), runs=0, expected=Verdict.FAIL, note=_WHY),
        Case("five angles, C = 3, and Geom", halfspaces(QUARTERS, 3), _one(), runs=0, expected=Verdict.FAIL, note=_WHY),
        Case("k = 3, no cap", halfspaces(FINE, 155, cap=None), _one(), runs=1_000, expected=Verdict.FAIL, note=_WHY),
        Case(
            "k = 3, the first angle",
            FirstAngle(halfspaces(FINE, 114)),
            _one(),
            runs=0,
            expected=Verdict.FAIL,
            note=_WHY,
            drawing=angles_of(FINE, plane=False),
        ),
    ]
    for label, readings in READINGS.items():
        mechanism = halfspaces(TWELFTHS, 13, **readings)
        cases.append(Case(label, mechanism, _one(), runs=0, expected=Verdict.FAIL, note=_WHY))
    for delta_prime in (0.005, 0.001):
        mechanism = halfspaces(FINE, 114, budget="theorem", delta_prime=delta_prime)
        label = f"k = 3, budget of Theorem 21 with δ′ = {delta_prime:g}"
        cases.append(Case(label, FirstAngle(mechanism), _one(), runs=0, expected=Verdict.FAIL, note=_WHY))
    for k in (2, 3):
        mechanism = halfspaces(FINE, 114)
        cases.append(
            Case(
                f"group of {k}", FirstAngle(mechanism), _one(k), mechanism.claim.group(k), runs=0, expected=Verdict.FAIL
            )
        )
    return tuple(cases)


_WHY = "One example moves φ*_1 and with it the labels of many angles; S_H has the same distribution on both datasets."
_KEPT = "As printed, without a bound on copies: one example changes which angles are kept, and so the choice of φ′."
READINGS: dict[str, dict[str, Any]] = {
    'ties = "least"': {"ties": "least"},
    'ties = "last turned"': {"ties": "last turned"},
    'ties = "least turned"': {"ties": "least turned"},
    'angle = "border"': {"angle": "border"},
    'meant = "prefix"': {"meant": "prefix"},
    "wrap": {"wrap": True},
    'removed = "counted"': {"removed": "counted"},
    'removed = "none"': {"removed": "none"},
    "not turned back": {"turned_back": False},
}
"""Maps a label to the deviations from the literal reading."""


def utility() -> tuple[UtilityCase, ...]:
    """Theorem 21's accuracy: on samples that the grid cannot explain, and on one that it can."""
    missed, why = halfspaces(TWELFTHS, 13), "Even the best direction of the grid labels one of the points wrongly."
    least = halfspaces(minimum_angle(1), 9)
    cases = [
        _accurate(label, mechanism, sample, 10, why)
        for label, mechanism, sample in (
            ("three points that no grid explains", missed, MISSED),
            ("three points that no grid explains, γ the minimum angle", least, MISSED),
            ("three points of a narrow cell", missed, NARROW),
            ("two opposite points of one label", missed, OPPOSITE),
        )
    ]
    # with 111 examples the learner itself is (0.1, 0.05)-accurate: 13·e^{−0.1·111/2} ≤ 0.05
    why = "A threshold with few errors need not give a half-space with few, and later angles miss removed examples."
    tried: tuple[dict[str, Any], ...] = (
        {},
        {"removed": "counted"},
        {"removed": "none"},
        {"angle": "border"},
        {"meant": "prefix"},
    )
    for readings in tried:
        label = ", ".join(f'{name} = "{value}"' for name, value in readings.items()) or "literally"
        mechanism = halfspaces(TWELFTHS, 111, cap=None, **readings)
        cases.append(_accurate(f"three points that the grid explains, {label}", mechanism, EXPLAINED, 40, why))
    return tuple(cases)


def _accurate(label: str, mechanism: AHighH, sample: tuple[Any, ...], copies: int, note: str) -> UtilityCase:
    S = Multiset.counted(dict.fromkeys(sample, copies))
    claim = mechanism.utility(len(S))[0]
    return UtilityCase(label, mechanism, claim, (Fixed(S),), runs=500, exact=False, expected=Verdict.FAIL, note=note)


def data_utility() -> tuple[UtilityCase, ...]:
    """Corollary 18's second sentence, Lemma 17: the output contains a best angle."""
    mechanism, least = (MakeHighDimData(1.0, sine, cap=1) for sine in (TWELFTHS, minimum_angle(1)))
    tried = (
        ("three points that no grid explains", mechanism, MISSED, Verdict.FAIL),
        ("three points that no grid explains, γ the minimum angle", least, MISSED, Verdict.FAIL),
        ("three points of a narrow cell", mechanism, NARROW, Verdict.FAIL),
        ("two opposite points of one label", mechanism, OPPOSITE, Verdict.FAIL),
        ("two of the three points", mechanism, NARROW[:2], Verdict.PASS),
    )
    return tuple(
        UtilityCase(label, made, made.utility(len(S))[0], (Fixed(Multiset.of(S)),), runs=500, expected=expected)
        for label, made, S, expected in tried
    )


def data_cases() -> tuple[Case, ...]:
    """Corollary 18 fails if an example counts at two angles, and holds if it counts at one."""
    every: tuple[tuple[str, dict[str, Any], tuple[Any, ...], bool], ...] = (
        ("default", {}, (1, 1, 1), False),
        ("i = 2", {"i": 2}, (0, 1, 1), False),
        ('meant = "prefix", i = 2', {"i": 2, "meant": "prefix", "prefix": (1,)}, (0, 1, 1), False),
        ('angle = "border"', {"angle": "border"}, (1, 1, 1), True),
        ('angle = "border", i = 2', {"angle": "border", "i": 2}, (1, 1, 1), True),
    )
    cases = []
    for label, readings, x, holds in every:
        mechanism = MakeHighDimData(1.0, QUARTERS, cap=2, **readings)
        pairs = tuple(Pair((), ((x, y),), f"an example of label {y}, or none") for y in (1, -1))
        cases.append(
            Case(
                label,
                mechanism,
                pairs,
                runs=4_000,
                expected=Verdict.PASS if holds else Verdict.FAIL,
                note="" if holds else _TWICE,
            )
        )
    for label, sine in (("k = 1, ε = 0.9", TWELFTHS), ("k = 1, ε = 0.9, γ the minimum angle", minimum_angle(1))):
        pair = Pair((), (((1, 1, 1), 1),), "an example, or none")
        inside = MakeHighDimData(0.9, sine, cap=2)
        cases.append(Case(label, inside, (pair,), runs=4_000, expected=Verdict.FAIL, note=_TWICE))
    circle = MakeHighDimData(1.0, QUARTERS, 2, 3, "border", wrap=True, cap=2)
    cases.append(
        Case(
            'angle = "border", i = 2, wrap',
            circle,
            (Pair((), (((1, 1, -1), 1),), "an example with its border near 0, which the grid lists twice"),),
            runs=0,
            expected=Verdict.FAIL,
            note="0 and 2π are the same direction on the circle, and both count.",
        )
    )
    for k in (2, 3):
        default = MakeHighDimData(1.0, QUARTERS, cap=k + 1)
        pair = Pair((), (((1, 1, 1), 1),) * k, f"{k} examples, or none")
        cases.append(Case(f"group of {k}", default, (pair,), default.claim.group(k), runs=0, expected=Verdict.FAIL))
    return tuple(cases)


_TWICE = "An example counts at the angles on both sides of its own."


def data_corrected_cases() -> tuple[Case, ...]:
    """Noise calibrated to the number of angles at which an example counts."""
    cases = []
    every: tuple[tuple[str, dict[str, Any]], ...] = (
        ("default", {}),
        ("i = 2", {"i": 2}),
        ("on the circle", {"i": 2, "wrap": True}),
    )
    for label, readings in every:
        mechanism = MakeHighDimDataCorrected(1.0, QUARTERS, cap=2, **readings)
        pairs = tuple(Pair((), ((x, y),), f"{x}, {y}") for x in ((1, 1, 1), (1, 1, -1)) for y in (1, -1))
        cases.append(Case(label, mechanism, pairs[:1] if label == "default" else pairs, runs=0 if readings else 20_000))
    for k in (2, 3):
        default = MakeHighDimDataCorrected(1.0, QUARTERS, cap=k + 1)
        pair = Pair((), (((1, 1, 1), 1),) * k, f"{k} examples, or none")
        cases.append(Case(f"group of {k}", default, (pair,), default.claim.group(k), runs=0))
    return tuple(cases)


def corrected_cases() -> tuple[Case, ...]:
    """Exponential mechanisms on the normal's coordinates."""
    default, plane = AHighHCorrected(1.0, 1), AHighHCorrected(1.0, 1, 2)
    every = tuple(((a, b), y) for a, b in ((1, 0), (1, 1), (-1, 0), (0, 1)) for y in (1, -1))
    x, z = ((1, 0, 0), -1), ((1, 1, 1), 1)
    return (
        Case(
            "default",
            default,
            (Pair((), (x,), "an example or none"), Pair((z,) * 2, (z, z, x), "two and one more")),
            runs=500,
        ),
        Case("every pair of 2 examples in the plane", plane, runs=0, scope=Scope(every, 2)),
        *(
            Case(
                f"group of {k}", plane, (Pair((), (every[0],) * k, f"{k} examples"),), plane.claim.group(k), runs=2_000
            )
            for k in (2, 3)
        ),
    )


def corrected_utility() -> tuple[UtilityCase, ...]:
    """The corrected guarantee on the samples that the grid cannot explain, and in the plane."""
    cases = []
    for dimension, sample in ((3, NARROW), (3, OPPOSITE), (2, (((1, 1), 1), ((-1, -1), 1)))):
        mechanism = AHighHCorrected(1.0, 1, dimension, 0.3)
        n = mechanism.sample_sizes[0].records
        share = -(-n // len(sample))
        S = Multiset.counted(dict.fromkeys(sample, share))
        cases.append(
            UtilityCase(
                f"{len(sample)} points in {dimension} dimensions, at the sufficient sample size",
                mechanism,
                mechanism.utility(len(S))[0],
                (Fixed(S),),
                runs=2_000,
                exact=dimension == 2,
            )
        )
    return tuple(cases)


def _one(k: int = 1) -> tuple[Pair, ...]:
    return (Pair((), ONE * k, "one example, or none" if k == 1 else f"{k} equal examples, or none"),)


def _small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    points = [((a, b), y) for a, b in ((1, 0), (1, 1), (0, 1), (-1, 1)) for y in (1, -1)]
    return AHighHCorrected(1.0, 1, 2), Scope(tuple(points[:domain]), records)


def _small_data(
    kind: type[MakeHighDimData] | type[MakeHighDimDataCorrected],
) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    points = [((a, b, c), y) for a, b, c in ((1, 0, 0), (1, 1, 1), (0, 1, 1)) for y in (1, -1)]
    return lambda domain, records: (kind(1.0, QUARTERS, cap=2), Scope(tuple(points[:domain]), records))


def _small_printed(domain: int, records: int) -> tuple[Mechanism, Scope]:
    points = [((a, b, c), y) for a, b, c in ((1, 0, 0), (1, 1, 1), (0, 1, 1)) for y in (-1, 1)]
    return halfspaces(QUARTERS, 5), Scope(tuple(points[:domain]), records)


DATA_PLAN = Plan("MakeHighDimData", data_cases, _small_data(MakeHighDimData), utility=data_utility)
DATA_CORRECTED_PLAN = Plan("MakeHighDimDataCorrected", data_corrected_cases, _small_data(MakeHighDimDataCorrected))
PLAN = Plan("AHighH", cases, _small_printed, utility=utility)
CORRECTED_PLAN = Plan("AHighHCorrected", corrected_cases, _small, utility=corrected_utility)
