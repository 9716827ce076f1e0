"""Audit plans for A_SimpleH (half-spaces paper §3.1, Algorithms 2 and 3) and its corrected version."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Mechanism, Multiset, Program, Uniform, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.half_spaces.angles import AngleGrid, Sine, minimum_angle
from dpaudit_algorithms.half_spaces.half_spaces import Angle, HoldsBest, MakeThrData, directions
from dpaudit_algorithms.half_spaces.simple_half_spaces import ASimpleH, ASimpleHCorrected
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefix
from dpaudit_algorithms.lower_bounds.thresholds_reductions import ThresholdsFromInteriorPointCorrected
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds, LearnThresholdsCorrected
from dpaudit_algorithms.pac.search_thresholds import FewConcepts
from dpaudit_audits.half_spaces.half_space_figures import angles_of
from dpaudit_audits.half_spaces.half_spaces import COARSE, DOMAIN, UNIT, borderline

EAST, NORTH, WEST, SOUTH = (1, 0), (0, 1), (-1, 0), (0, -1)
NEVER = "All angles of S_H have the same number of copies here, so MakeData has no privacy loss."


def of_grid(k: int) -> Fraction:
    """sin γ of Lemma 11 for {−k, …, k}."""
    return Fraction(1, 2 * k * k)


def learned(sine: Sine, C: int, epsilon: float = 1.0, **readings: Any) -> ASimpleH:
    """A_SimpleH over the exponential mechanism, scored by the number of examples that a threshold labels correctly."""
    share = epsilon / 2 if readings.get("budget") == "halves" else epsilon
    return ASimpleH(epsilon, sine, ExponentialMechanism(share, Consistency(AngleGrid(sine).size)), C, **readings)


@dataclass(frozen=True)
class EndThresholds(Mechanism):
    """The exponential mechanism over the least and the greatest threshold: kept angles hardly come out."""

    epsilon: float
    size: int

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Program:
        return (yield ExponentialMechanism(self.epsilon, FewConcepts(self.size, (0, self.size - 1))).on(S))


@dataclass(frozen=True)
class CoinThresholds(Mechanism):
    """A fair coin between the least and the greatest threshold.

    It reads nothing, so that it is ε-DP for every ε. On every realizable sample one of the two is right on half of the
    examples or more, so that it is a (1/2, 1/2)-empirical learner.
    """

    epsilon: float
    size: int

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Uniform:
        return Uniform((0, self.size - 1))


def enough(sine: Sine, alpha: float = 0.1, beta: float = 0.05, epsilon: float = 1.0) -> int:
    """n_Thr of the exponential mechanism: (2/(αε))·ln(|H_γ|/β), by Proposition 3.27."""
    return math.ceil(2 / (alpha * epsilon) * math.log(AngleGrid(sine).size / beta))


def added(example: Any, *before: Any) -> Pair:
    """The examples in `before`, and the same with one more."""
    left = Multiset.of(before)
    return Pair(left, left.changed(add=(example,)), f"{len(left)} examples against {len(left) + 1}")


READINGS: tuple[tuple[str, bool, tuple[Pair, ...]], ...] = (
    ("last", True, (added((SOUTH, -1)),)),
    ("last", False, (added((NORTH, 1)),)),
    ("least", True, (added(((-1, -1), 1), (SOUTH, 1)), added((SOUTH, 1)))),
    ("least", False, (added((SOUTH, 1)),)),
    ("last turned", True, (added((NORTH, 1)),)),
    ("last turned", False, (added((WEST, 1), ((-1, -1), -1)),)),
    ("least turned", True, (added(((-1, -1), -1)),)),
    ("least turned", False, (added(((-1, -1), -1), (SOUTH, 1)),)),
)
"""For every reading: which of the best angles is φ*, whether the angle is turned back, and the worst small pairs."""


def large(n: int, which: str = "last") -> Pair:
    """n examples and one more, all explained by one half-space: φ* moves by a quarter circle."""
    base, more = ((EAST, 1), (NORTH, 1)) if which == "last" else ((WEST, 1), (NORTH, 1))
    left = Multiset.counted({base: n})
    return Pair(left, left.changed(add=(more,)), f"{n:,} examples against {n + 1:,}")


def balanced(m: int) -> Pair:
    """At k = 1, γ = 30°, every angle is right on m of 2m examples; one more, and those of a half-circle are better."""
    left = Multiset.counted({((1, 1), 1): m, ((-1, -1), 1): m})
    return Pair(left, left.changed(add=(((1, 1), 1),)), f"{2 * m:,} examples against {2 * m + 1:,}")


def cases() -> tuple[Case, ...]:
    """A case for every reading; readings for which the claim always fails come first."""
    cases = []
    for ties, turned_back, pairs in READINGS:
        cases.append(
            Case(
                f"k = 1, φ* {ties}, {'turned back' if turned_back else 'not turned back'}",
                learned(UNIT, 9, cap=1, ties=ties, turned_back=turned_back),
                pairs,
                runs=20_000 if "turned" not in ties else 0,
                expected=Verdict.FAIL,
                note=f"The claim fails for this reading, with C = 9 of 13 elements. {NEVER}",
                drawing=angles_of(UNIT) if (ties, turned_back) == ("last", True) else None,
            )
        )
    cases.append(
        Case(
            "k = 1, 400 examples, A_Thr a coin",
            ASimpleH(0.9, UNIT, CoinThresholds(0.9, AngleGrid(UNIT).size), 600),
            (balanced(200),),
            runs=4_000,
            expected=Verdict.FAIL,
            note="A_Thr reads nothing. One example decides whether φ′ is near 45° or near 225°. As printed, without a "
            "bound on copies.",
        )
    )
    least, bound = minimum_angle(2), Fraction(1, 8)
    cases += [
        Case(
            f"k = 2, C = 10, ε = 0.9, {label}",
            ASimpleH(0.9, sine, learner, 10),
            (added(((1, 1), -1)),),
            runs=4_000,
            expected=Verdict.FAIL,
            note="The example counts at no angle, so that S_H has the same distribution; as printed, without a bound "
            f"on copies. A_Thr {how} the least and the greatest threshold.",
        )
        for label, sine, learner, how in (
            ("A_Thr a coin", least, CoinThresholds(0.9, AngleGrid(least).size), "is a fair coin between"),
            ("γ the minimum angle", least, EndThresholds(0.9, AngleGrid(least).size), "chooses between"),
            ("sin γ = 1/8", bound, EndThresholds(0.9, AngleGrid(bound).size), "chooses between"),
        )
    ]
    cases.append(
        Case(
            "k = 1, ε = 0.9, γ the minimum angle",
            learned(minimum_angle(1), 6, 0.9, cap=1),
            READINGS[0][2],
            runs=0,
            expected=Verdict.FAIL,
            note=f"The claim fails with C = 6 of 9 elements. {NEVER}",
        )
    )
    cases.append(
        Case(
            "k = 1, ε/2 for both parts",
            learned(UNIT, 9, budget="halves", cap=1),
            READINGS[0][2],
            runs=20_000,
            expected=Verdict.FAIL,
            note=f"The claim also fails for this reading. {NEVER}",
        )
    )
    cases += [
        Case(
            f"five angles, φ(x) is {angle}, {'on the circle' if wrap else 'as numbers'}",
            learned(COARSE, 4, angle=angle, wrap=wrap, cap=2),
            (added((SOUTH, -1)),),
            runs=0,
            expected=Verdict.FAIL,
            note="The claim fails for this reading; the output distribution includes MakeData's noise.",
        )
        for angle in get_args(Angle)
        for wrap in (False, True)
    ]
    cases += [
        Case(
            "the example of section 3.1",
            learned(UNIT, 9, cap=1),
            (added((SOUTH, 1), (NORTH, 1)),),
            runs=0,
            expected=Verdict.FAIL,
            note="The paper's own example of a choice of angles that is not private.",
        ),
        Case(
            "one element kept, every pair of 2 examples",
            learned(UNIT, 1, cap=1),
            runs=0,
            scope=Scope(DOMAIN[2:8], 2),
            note="With this learner, over all thresholds, C ≤ 2 is not refuted; with one over two thresholds C = 2 is.",
        ),
        Case(
            "three elements kept, every pair of 2 examples",
            learned(UNIT, 3, cap=1),
            runs=0,
            scope=Scope(DOMAIN[2:8], 2),
            expected=Verdict.FAIL,
            note=f"The smallest C for which the claim fails. {NEVER}",
        ),
        *(_large(angle) for angle in get_args(Angle)),
        Case(
            "k = 3, φ* least, 200 examples",
            learned(of_grid(3), enough(of_grid(3)), ties="least"),
            (large(200, "least"),),
            runs=800,
            expected=Verdict.FAIL,
            note="The learner gets n_Thr examples, as its accuracy requires.",
        ),
        Case(
            "k = 20, 200 examples",
            learned(of_grid(20), enough(of_grid(20))),
            (large(200),),
            runs=300,
            expected=Verdict.FAIL,
            note="5,027 angles; the learner gets n_Thr examples, as its accuracy requires.",
            drawing=angles_of(of_grid(20)),
        ),
        *(
            Case(
                f"k = 3, A_Thr = {learner.name}",
                ASimpleH(1.0, of_grid(3), learner, cap=1),
                (large(200),),
                runs=0,
                expected=Verdict.FAIL,
                note="Its n_Thr exceeds the number of elements of S_H, so it takes all of them and there is no anchor.",
            )
            for learner in learners(AngleGrid(of_grid(3)).size)
        ),
    ]
    group = learned(UNIT, 9, 0.5, cap=1)
    for g in (2, 3):
        pair = Pair(Multiset.of([]), Multiset.of([(SOUTH, -1)] * g), f"{g} equal examples")
        cases.append(Case(f"group of {g}", group, (pair,), group.claim.group(g), 0, expected=Verdict.FAIL))
    return tuple(cases)


def _large(angle: Angle) -> Case:
    return Case(
        f"k = 3, φ(x) is {angle}, 200 examples",
        learned(of_grid(3), enough(of_grid(3)), angle=angle),
        (large(200),),
        runs=800,
        expected=Verdict.FAIL,
        note="As printed, without a bound on copies; the learner gets n_Thr examples, as its accuracy requires.",
        drawing=angles_of(of_grid(3)) if angle == "point" else None,
    )


def learners(size: int) -> tuple[Mechanism, ...]:
    """The catalogue's learners of thresholds on `size` points, (1, ·)-DP, with their own sample sizes."""
    inner = RecPrefix(size, 0.5, 1e-6, 0.1, base=size)
    return (
        LearnThresholds(size),
        LearnThresholdsCorrected(size),
        ThresholdsFromInteriorPointCorrected(inner, 2 * size, 0.5, 0.1, 0, size - 1),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Lemma 13 and Theorem 14, on samples whose best angles are only a border, and an arc."""
    cases = []
    for k, C in ((1, enough(UNIT)), (3, enough(of_grid(3)))):
        size, sine = AngleGrid(of_grid(k)).size, of_grid(k)
        lemma = UtilityClaim(HoldsBest(sine), 1.0, "§3.1, Lemma 13")
        quarter = Multiset.counted({(EAST, 1): 100, (NORTH, 1): 100})
        mechanism = learned(sine, C)
        (theorem,) = mechanism.utility(200)
        for label, S, best in (
            ("best only on a border", borderline(200), False),
            ("best on a quarter circle", quarter, True),
        ):
            cases.append(
                UtilityCase(
                    f"Lemma 13, k = {k}, {label}",
                    MakeThrData(sine, C),
                    lemma,
                    (Fixed(((2,) * size, S), label="two copies of each angle"),),
                    runs=200,
                    expected=Verdict.PASS if best else Verdict.FAIL,
                )
            )
            cases.append(
                UtilityCase(
                    f"Theorem 14, k = {k}, {label}",
                    mechanism,
                    theorem,
                    (Fixed(S, label="200 examples"),),
                    runs=200,
                    exact=False,
                    expected=Verdict.FAIL,
                    note="All of S_Thr has the label 1, so every threshold beyond φ* labels it correctly."
                    if best
                    else "Every angle of the grid is wrong on half of the examples.",
                )
            )
    return tuple(cases)


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Thirteen angles with one copy each; the first `domain` examples of the eight directions."""
    return learned(UNIT, 9, cap=1), Scope(DOMAIN[: max(1, min(domain, len(DOMAIN)))], records)


# --- corrected -------------------------------------------------------------------------------------------------------


def corrected_cases() -> tuple[Case, ...]:
    """The pairs of the printed version, for the corrected version."""
    default, full = ASimpleHCorrected(1.0, 1e-6, 1, 20), ASimpleHCorrected(1.0, 1e-6, 1, 200)
    deep = ASimpleHCorrected(1.0, 1e-6, 20, 200)
    pairs = tuple(pair for _, _, tried in READINGS for pair in tried)
    cases = [
        Case("k = 1, the printed version's pairs", default, tuple(dict.fromkeys(pairs)), runs=0),
        Case(
            "k = 1, 200 examples", full, (large(200), large(200, "least")), runs=10_000, drawing=angles_of(None)
        ),
        Case("every pair of 2 examples", default, runs=0, scope=Scope(DOMAIN, 2)),
        Case(
            "k = 20, two calls, 200 examples",
            deep,
            (large(200),),
            runs=2_000,
            exact=False,
            note="2,048 normals, in two half-circles of 1,024: RecConcave makes two calls.",
        ),
    ]
    for g in (2, 3):
        pair = Pair(Multiset.of([]), Multiset.of([(SOUTH, -1)] * g), f"{g} equal examples")
        cases.append(Case(f"group of {g}", default, (pair,), default.claim.group(g), runs=0))
    return tuple(cases)


def corrected_utility() -> tuple[UtilityCase, ...]:
    """Samples with just enough examples: best only on a border, and all other normals just too bad."""
    cases = []
    for k, epsilon, alpha in ((1, 1.0, 0.1), (3, 1.0, 0.2), (20, 4.0, 0.5)):
        n = ASimpleHCorrected(epsilon, 1e-6, k, 1, alpha).sample_sizes[0].records
        n += n % 2
        mechanism = ASimpleHCorrected(epsilon, 1e-6, k, n, alpha)
        (claim,) = mechanism.utility(n)
        sources = (
            Fixed(borderline(n), label="best only on a border"),
            Fixed(barely(k, n, alpha), label="all normals except one just too bad"),
        )
        one_call = isinstance(mechanism.optimiser(0), ExponentialMechanism)
        cases.append(
            UtilityCase(
                f"k = {k}, {n:,} examples", mechanism, claim, sources, runs=2_000 if one_call else 500, exact=one_call
            )
        )
    return tuple(cases)


def barely(k: int, n: int, alpha: float) -> Multiset:
    """n examples that few half-spaces explain; all others are wrong on slightly more than αn of them."""
    wrong = math.floor(alpha * n) + 1
    here = directions(k)[2]  # the second direction of the grid; its border is at one normal
    opposite = (-here[0], -here[1])
    counts = {(here, 1): wrong, (opposite, 1): wrong}
    rest = n - 2 * wrong
    if rest > 0:
        counts[(0, 0), 1] = rest
    else:
        counts = {(here, 1): n - n // 2, (opposite, 1): n // 2}
    return Multiset.counted(counts)


PLAN = Plan("ASimpleH", cases, small, utility=utility)


def corrected_small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Eight normals on either half-circle; the first `domain` examples of the eight directions."""
    return ASimpleHCorrected(1.0, 1e-6, 1, max(1, records)), Scope(DOMAIN[: max(1, min(domain, len(DOMAIN)))], records)


CORRECTED_PLAN = Plan("ASimpleHCorrected", corrected_cases, corrected_small, utility=corrected_utility)
