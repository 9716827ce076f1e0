"""Audits of deterministic representations of point functions (thesis §5.2, Examples 5.2 and 5.5), exactly.

Small classes on every concept and distribution at once; larger ones on distributions on points whose codewords agree
often. Classes with too few hypotheses fail: two points that no hypothesis tells apart are enough for that, or three
points of which every two are distinguished. A code is also what the learner of Lemma 5.12 chooses from.
"""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import ConceptClass, Examples, Points, Thresholds, Truth, all_examples
from dpaudit_algorithms.representations.deterministic_representation import (
    DeterministicRepresentation,
    PointCode,
    PointPolynomials,
)
from dpaudit_algorithms.representations.deterministic_representation_theory import (
    QUARTER,
    counterexample,
    indistinct,
)
from dpaudit_algorithms.representations.representation import Hypotheses, Labelling, OnesAt, Representation
from dpaudit_algorithms.representations.representation_learner import RepresentationLearner
from dpaudit_audits.representations.point_representation import PAIR, distributions, fixed, just_above
from dpaudit_audits.representations.representation_boosting import Digits

HUGE = 1 << 64
STARS = ((0, 1, 2), (0, 3, 4), (1, 3, 5), (2, 4, 5))
"""Four hypotheses on six points: a point for every two of them, which label it 1. They tell all pairs of points apart,
and fewer cannot (Sperner's theorem). With the constant 0 they represent POINT for α = 1/3, by thirds."""


def listed(concepts: ConceptClass, names: tuple[tuple[int, ...], ...], alpha: float) -> DeterministicRepresentation:
    """Hypotheses by the points that they label 1."""
    return DeterministicRepresentation(concepts, Hypotheses.of(OnesAt(), names), alpha)


def digits(count: int, domain: int) -> DeterministicRepresentation:
    """The first binary digits as hypotheses."""
    return DeterministicRepresentation(Points(domain), Hypotheses.of(Digits(), range(count)), 0.25)


def code_cases() -> tuple[Case, ...]:
    """No data is read; a learner that chooses from it reads them."""
    learner = RepresentationLearner(1.0, PointCode(6, 0.45, 5))
    return (
        *_cases(PointCode(12, 0.45), PointCode(512, 0.25)),
        Case("a learner on it, every pair of 2 examples", learner, runs=0, scope=Scope(all_examples(range(6)), 2)),
    )


def polynomial_cases() -> tuple[Case, ...]:
    """No data is read."""
    return _cases(PointPolynomials(16, 0.45), PointPolynomials(HUGE, 0.25))


def _cases(small: Representation, large: Representation) -> tuple[Case, ...]:
    return (
        Case("default", small, (PAIR,), runs=0),
        Case("large", large, (PAIR,), runs=0),
        *(
            Case(f"group of {k}", small, (Pair((0,) * k, (1,) * k, PAIR.label),), Claim(0.0).group(k), runs=0)
            for k in (2, 3)
        ),
    )


def code_utility_cases() -> tuple[UtilityCase, ...]:
    """Every distribution on small domains, points that agree often on larger ones; classes that are too small."""
    small, large = (PointCode(12, 0.45), PointCode(12, 0.45, 5), PointCode(20, 0.25)), PointCode(512, 0.25)
    learner = RepresentationLearner(1.0, PointCode(1000, 0.04))
    return (
        *(_everywhere(f"|X| = {one.domain}, α = {one.alpha}, {one.q} letters", one) for one in (*small, large)),
        *(_sized(f"|H|, |X| = {one.domain}, α = {one.alpha}", one) for one in (PointCode(12, 0.45), large)),
        UtilityCase("512 points that agree often", large, large.represents, fixed(_agreeing(large)), runs=100),
        _learns("learned with a code, |X| = 1,000", learner),
        *_least(),
        *_too_small(),
    )


def polynomial_utility_cases() -> tuple[UtilityCase, ...]:
    """The same; any domain."""
    small, wide = (PointPolynomials(8, 0.45), PointPolynomials(49, 0.25)), PointPolynomials(HUGE, 0.25)
    learner = RepresentationLearner(1.0, PointPolynomials(1 << 16, 0.04))
    return (
        *(_everywhere(f"|X| = {one.domain}, α = {one.alpha}", one) for one in small),
        *(_sized(f"|H|, |X| = 2^{bits}", PointPolynomials(1 << bits, 0.25)) for bits in (6, 64, 696)),
        UtilityCase("|X| = 2^64, polynomials that agree often", wide, wide.represents, fixed(_touching(wide)), runs=20),
        UtilityCase(
            "|X| = 2^64, all just above α", wide, wide.represents, fixed(distributions(HUGE, 0.25)), runs=20
        ),
        _learns("learned with polynomials, |X| = 2^16", learner),
    )


def _everywhere(label: str, one: PointCode | PointPolynomials | DeterministicRepresentation) -> UtilityCase:
    source = Fixed((), None, "every concept and distribution")
    return UtilityCase(f"every distribution, {label}", one, one.everywhere, (source,), runs=1)


def _sized(label: str, one: PointCode | PointPolynomials) -> UtilityCase:
    return UtilityCase(label, one, one.sized, (Fixed((), None, "nothing is read"),), runs=1)


def _least() -> tuple[UtilityCase, ...]:
    """The fewest hypotheses, on 6 points; and for α = 1/2, where two are enough for every class."""
    few = listed(Points(6), ((), *STARS), 0.34)
    constants = ((), tuple(range(6)))
    return (
        _everywhere("5 hypotheses for 6 points, α = 0.34", few),
        _everywhere("POINT on 7 points by itself", listed(Points(7), tuple((x,) for x in range(7)), 0.25)),
        *(
            _everywhere(f"α = 1/2, the two constants for {name} on 6 points", listed(concepts, constants, 0.5))
            for name, concepts in (("points", Points(6)), ("thresholds", Thresholds(6)))
        ),
    )


def _too_small() -> tuple[UtilityCase, ...]:
    """Classes that lack hypotheses, each on a distribution under which all are wrong."""
    note = "Too few hypotheses, on purpose: a class that does not represent POINT_X."
    pairs, thirds = listed(Points(6), STARS, 0.25), listed(Points(6), ((), *STARS), 0.25)
    cases = (
        ("7 hypotheses for 2^8 points", digits(7, 256), indistinct(digits(7, 256).H, range(256))),
        ("8 hypotheses for 2^8 points, one a subset", digits(8, 256), indistinct(digits(8, 256).H, range(256))),
        ("4 hypotheses for 6 points", pairs, counterexample(pairs.H, pairs.concepts, QUARTER)),
        ("5 hypotheses for 6 points", thirds, counterexample(thirds.H, thirds.concepts, QUARTER)),
    )
    return tuple(
        UtilityCase(
            label, one, one.represents, (Fixed((), truth, f"c_{truth.target}, D on {len(truth.points)} points"),),
            runs=1, expected=Verdict.FAIL, note=note, deliberate=True,
        )
        for label, one, truth in cases
        if truth is not None
    )


def _agreeing(one: PointCode) -> dict[str, Truth]:
    """The target and points that agree with it: those that do so most, or one that does at every position."""
    word = {x: _word(one.labelling, one, x) for x in range(one.domain)}
    common = {y: sum(a == b for a, b in zip(word[0], word[y], strict=True)) for y in range(1, one.domain)}
    most = max(common, key=lambda y: common[y])
    cover = tuple(dict.fromkeys(next(y for y in common if word[y][i] == word[0][i]) for i in range(one.m)))
    above = one.alpha + 2**-20
    rest = tuple(range(1, one.domain))
    return {
        f"half on the target, half on a point that agrees at {common[most]} of {one.m} positions": Truth(
            (0, most), (1, 1), 0
        ),
        f"{len(cover)} points that agree, one at every position": Truth((0, *cover), (above, *_even(cover, above)), 0),
        "uniform on the others": Truth(rest, (1,) * len(rest), 0),
        "uniform": Truth((0, *rest), (1,) * one.domain, 0),
        "just above α on the target, the rest even": Truth((0, *rest), (above, *_even(rest, above)), 0),
        "as many as there is room for just above α": just_above(one.domain, one.alpha),
    }


def _word(labelling: Labelling, one: PointCode, x: int) -> tuple[int, ...]:
    return tuple(next(a for a in range(one.q) if labelling.label((i, a), x)) for i in range(one.m))


def _touching(one: PointPolynomials) -> dict[str, Truth]:
    """The polynomial 0, and polynomials that are 0 at k − 1 positions each, at every position one of them."""
    code = one.labelling
    others = []
    for first in range(0, code.m, code.k - 1):
        coefficients = [1]
        for root in range(first, min(first + code.k - 1, code.m)):
            shifted, scaled = [0, *coefficients], [*(-root * c for c in coefficients), 0]
            coefficients = [(a + b) % code.p for a, b in zip(shifted, scaled, strict=True)]
        others.append(sum(c * code.p**i for i, c in enumerate(coefficients)))
    assert all(y < one.domain for y in others)
    count = len(others)
    # 1/4 at most on each other one, so that α is met, hardly
    return {
        f"{count} polynomials that agree at {code.k - 1} of {code.m} positions": Truth(
            (0, *others), (2**-20, *[(1 - 2**-20) / count] * count), 0
        ),
        "just above α on the target": Truth((0, *others), (one.alpha + 2**-20, *_even(others, one.alpha + 2**-20)), 0),
    }


def _even(points: tuple[int, ...] | list[int], above: float) -> list[float]:
    return [(1 - above) / len(points)] * len(points)


def _learns(label: str, learner: RepresentationLearner) -> UtilityCase:
    """Lemma 5.12 with a deterministic representation: (6α, 4β) from its printed number of examples on."""
    code = learner.representation
    assert isinstance(code, PointCode | PointPolynomials)
    truths = distributions(code.domain, 6 * code.alpha).values()
    return UtilityCase(
        label, learner, learner.guaranteed, tuple(Examples(code.concepts, truth, learner.enough) for truth in truths),
        runs=100, exact=False, note=f"From {learner.enough} examples, of {len(code.hypotheses):,} hypotheses.",
    )


PLAN = Plan("PointCode", code_cases, utility=code_utility_cases)
POLYNOMIALS_PLAN = Plan("PointPolynomials", polynomial_cases, utility=polynomial_utility_cases)
