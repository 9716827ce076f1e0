"""Audit plans for MakeData (half-spaces paper §3.1, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, get_args

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import REPLACE_ONE, Claim, Fixed, Mechanism, Multiset, NoisyCopies
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.half_spaces.angles import minimum_angle
from dpaudit_algorithms.half_spaces.half_spaces import Angle, MakeData, MakeDataCorrected, directions

UNIT = Fraction(1, 2)
"""sin γ of Lemma 11 for X = {−1, 0, 1}: γ = 30°, thirteen angles; the last is 360°."""
COARSE = Fraction(1)
"""γ = 90°, five angles: a grid too coarse for any X, but small enough to compute every output distribution."""
DIAGONAL = ((1, 1), 1)
AGAINST = ((-1, -1), 1)
"""With `DIAGONAL`: two examples that only the half-spaces at 135° and 315° explain."""
OPEN = (((0, -1), -1), ((-1, 1), -1))
"""Explained by the angles between 0° and 45° alone, without the ends."""
DOMAIN = tuple(((a, b), y) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0) for y in (-1, 1))
"""All examples of {−1, 0, 1}² except at the origin."""


@dataclass(frozen=True)
class Seen(Mechanism):
    """The copies of only a few angles: post-processing, so the claim is that of the inner mechanism."""

    inner: MakeData | MakeDataCorrected
    angles: tuple[int, ...]

    @property
    def claim(self) -> Claim:
        return self.inner.claim

    def run(self, S: Any) -> NoisyCopies:
        counts = self.inner.counts(S)
        return NoisyCopies(tuple(counts[i] for i in self.angles), self.inner.scale, self.inner.cap)


def near(mechanism: MakeData | MakeDataCorrected, *added: Any) -> Seen:
    """`mechanism` restricted to the angles at which the `added` examples count."""
    return Seen(mechanism, tuple(sorted({i for x, y in added for i in mechanism.counted(x, y)})))


def survives(angle: Angle, wrap: bool) -> bool:
    """Whether Lemma 12's ε holds for a reading."""
    return angle == "border" and not wrap


def plan(name: str, kind: type[MakeData] | type[MakeDataCorrected]) -> Plan:
    """The same cases for both versions; as printed, all readings except one fail."""
    printed = kind is MakeData

    def verdict(kept: bool) -> Verdict:
        return Verdict.PASS if kept or not printed else Verdict.FAIL

    def cases() -> tuple[Case, ...]:
        default, pairs = kind(1.0, UNIT), (one(DIAGONAL),)
        cases = [
            Case("k = 1, as printed", default, pairs, runs=20_000 if printed else 5_000, expected=verdict(False)),
            Case(
                "k = 1, at most two copies of the angles near the example",
                near(kind(1.0, UNIT, cap=2), DIAGONAL),
                pairs,
                runs=0,
                expected=verdict(False),
            ),
        ]
        for label, sine in (("sin γ = 1/8", Fraction(1, 8)), ("γ the minimum angle", minimum_angle(2))):
            mechanism = near(kind(0.5, sine, cap=2), DIAGONAL)
            cases.append(Case(f"k = 2, ε = 0.5, {label}", mechanism, pairs, runs=20_000, expected=verdict(False)))
        cases.append(
            Case(
                "k = 1, γ the minimum angle",
                near(kind(1.0, minimum_angle(1), cap=2), DIAGONAL),
                pairs,
                runs=0,
                note="Every point's angle is on this grid, so that an example counts at one angle: the claim holds.",
            )
        )
        for angle in get_args(Angle):
            for wrap in (False, True):
                reading = kind(1.0, UNIT, angle, wrap, cap=2)
                example = max(DOMAIN, key=lambda one: len(reading.counted(*one)))
                kept = survives(angle, wrap)
                cases.append(
                    Case(
                        f"φ(x) is {_ANGLE_LABELS[angle]}, {'on the circle' if wrap else 'as numbers'}",
                        near(reading, example),
                        (one(example),),
                        runs=20_000 if printed else 0,
                        expected=verdict(kept),
                        note=f"The claim {'holds' if kept else 'fails'} for this reading: an example counts at "
                        f"{reading.sensitivity_on(1)}.",
                    )
                )
        for k in (3, 20) if printed else (20,):
            fine = kind(1.0, Fraction(1, 2 * k * k))
            cases.append(
                Case(
                    f"k = {k}, the angles near one example",
                    near(fine, DIAGONAL),
                    (Pair(*_beside(200, DIAGONAL), "200 examples and one more"),),
                    runs=20_000,
                    expected=verdict(False),
                )
            )
        survivor = kind(1.0, COARSE, "border", cap=3)
        point, three = kind(1.0, COARSE, cap=2), Multiset.counted({DIAGONAL: 3, AGAINST: 3})
        cases += [
            Case("every pair of 3 examples, φ(x) is the border's", survivor, runs=0, scope=Scope(DOMAIN[:8], 3)),
            Case(
                "every pair of 2 examples, φ(x) is x's", point, runs=0, scope=Scope(DOMAIN, 2), expected=verdict(False)
            ),
            Case(
                "φ(x) is the border's, one example replaced",
                near(kind(1.0, UNIT, "border", cap=6), DIAGONAL, AGAINST),
                (Pair(three, three.changed(remove=[DIAGONAL], add=[AGAINST]), "an example replaced by its antipode"),),
                claim=Claim(1.0, relation=REPLACE_ONE),
                runs=0,
                expected=Verdict.FAIL,
                deliberate=True,
                note="The paper does not make this claim: replace-one changes two counts and needs 2ε.",
            ),
        ]
        for g in (2, 3):
            pair = Pair(Multiset.of([]), Multiset.of([DIAGONAL] * g), f"{g} equal examples")
            shown = near(kind(1.0, UNIT, cap=g + 1), DIAGONAL)
            cases.append(Case(f"group of {g}", shown, (pair,), shown.claim.group(g), 20_000, expected=verdict(False)))
            border = near(kind(1.0, UNIT, "border", cap=g + 1), DIAGONAL)
            cases.append(Case(f"group of {g}, φ(x) is the border's", border, (pair,), border.claim.group(g), runs=0))
        return tuple(cases)

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        # five angles; the examples are the first `domain` ones of the eight directions of {−1, 0, 1}²
        return kind(1.0, COARSE, cap=2), Scope(DOMAIN[: max(1, min(domain, len(DOMAIN)))], records)

    return Plan(name, cases, small, utility=utility if printed else None)


_ANGLE_LABELS = {"point": "x's", "border": "the border's", "borders": "both borders'"}


def utility() -> tuple[UtilityCase, ...]:
    """Lemma 12's second sentence, on samples whose best angles are an arc, and only a border."""
    cases = []
    for k in (1, 2, 5, 20):
        mechanism = MakeData(1.0, Fraction(1, 2 * k * k))
        (claim,) = mechanism.utility(2)
        arcs = (
            Fixed(Multiset.of([((1, 0), 1), ((0, 1), 1)]), label="a quarter circle is best"),
            Fixed(Multiset.of(narrow(k)), label="the narrowest arc between two points' borders is best"),
        )
        note = "Borders are at least γ apart, so every arc contains an angle of the grid."
        cases.append(UtilityCase(f"k = {k}, best on an arc", mechanism, claim, arcs, runs=200, exact=False, note=note))
        cases.append(
            UtilityCase(
                f"k = {k}, best only on a border",
                mechanism,
                claim,
                tuple(Fixed(borderline(n), label=f"{n:,} examples on one border") for n in (2, 200)),
                runs=200,
                exact=False,
                expected=Verdict.FAIL,
                note="Only 135° and 315° are correct on both examples, and neither is a multiple of γ.",
            )
        )
    for k, S, about in (
        (1, OPEN, "neighbours on the grid's borders leave an open arc"), (2, (DIAGONAL, AGAINST), "one border alone"),
    ):
        mechanism = MakeData(1.0, minimum_angle(k))
        (claim,) = mechanism.utility(2)
        cases.append(
            UtilityCase(
                f"k = {k}, γ the minimum angle", mechanism, claim, (Fixed(Multiset.of(S), label=about),), runs=200,
                exact=False, expected=Verdict.FAIL,
                note="At k = 1 all borders are angles of the grid; from k = 2 on γ/π is irrational here too.",
            )
        )
    return tuple(cases)


# --- datasets --------------------------------------------------------------------------------------------------------


def one(example: Any) -> Pair:
    """The empty dataset against one example."""
    return Pair(Multiset.of([]), Multiset.of([example]), "one example against none")


def borderline(n: int) -> Multiset:
    """n examples (n even), half `DIAGONAL` and half `AGAINST`: all angles except 135° and 315° are wrong on half."""
    return Multiset.counted({DIAGONAL: n // 2, AGAINST: n // 2})


def narrow(k: int) -> list[Any]:
    """Two examples explained by only the narrowest arc between the borders of points of {−k, …, k}²."""
    around = directions(k)[::2]  # the cross product of neighbours is 1, so the longest are the closest
    v, w = max(pairwise(around), key=lambda pair: math.prod(math.hypot(*z) for z in pair))
    return [(w, 1), ((-v[0], -v[1]), 1)]


def _beside(n: int, example: Any) -> tuple[Multiset, Multiset]:
    """n examples, and the same with one more, all explained by one half-space."""
    left = Multiset.counted({example: n - n // 2, ((1, 0), 1): n // 2})
    return left, left.changed(add=(example,))


PLAN = plan("MakeData", MakeData)
CORRECTED_PLAN = plan("MakeDataCorrected", MakeDataCorrected)
