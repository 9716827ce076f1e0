"""Intervals that are certain contain the exact value, and nothing that was rounded calls itself certain."""

from __future__ import annotations

import json
import math
import operator
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

import dpaudit
import dpaudit.language as language
from dpaudit.adversary import Pair
from dpaudit.evidence.density import losses_of
from dpaudit.evidence.exact import compare, enclosed, evidence
from dpaudit.evidence.kept_laws import KeptLaws, Part
from dpaudit.evidence.success import exactly
from dpaudit.interpret import LawCache, interval_law, interval_laws
from dpaudit.interpret.parameters import exact_mechanism
from dpaudit.journal import Journal
from dpaudit.language import Claim, IntegerRange, Laplace, Mechanism, Multiset, Program, Trial
from dpaudit.language.distributions import Bernoulli, Gaussian
from dpaudit.plans import registry
from dpaudit.report import wording
from dpaudit.report.html import to_html
from dpaudit.report.markdown import to_markdown
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Bounds, EvidenceKind, Verdict
from dpaudit.results.recheck import contradiction
from dpaudit.results.refutation import refutes
from dpaudit.stats.enclosed import Enclosed, Roundings, as_decimal, enclose, short, watching
from dpaudit.stats.enclosure import decimal, epsilon_at
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds
from dpaudit_audits.interior_points.rec_concave import three_calls_of_examples

DIGITS = 400
"""Bits of the values that intervals are held against."""


# --- row 11 -----------------------------------------------------------------------------------------------------------

Piece = tuple[int, Fraction]


def exact(number: Fraction | int) -> Any:
    """An interval of a fraction."""
    number = Fraction(number)
    with ctx.workprec(DIGITS):
        return arb(fmpq(number.numerator, number.denominator))


def rec_concave(pieces: list[Piece], T: int, r: Fraction, alpha: Fraction, epsilon: Any, delta: Any) -> list[Any]:
    """RecConcave's probability of every piece of a step function, from the steps of section 6.4 and nothing of dpaudit.

    Scores are fractions, probabilities intervals of 400 bits; 32 is the printed size of the base case.
    """
    if T <= 32:
        return softmax(pieces, [(0, T + 1)], epsilon, T)
    levels = (T - 1).bit_length()
    end = 1 << levels
    padded = [*pieces, *([(T + 1, min(Fraction(0), pieces[-1][1]))] if end > T else [])]
    L = [best_window(padded, end, 1 << j) for j in range(levels + 1)]
    L.append(min(Fraction(0), L[-1]))
    q = [(j, min(L[j] - (1 - alpha) * r, r - L[j + 1])) for j in range(levels + 1)]
    found = [arb(0)] * len(pieces)
    for k, p in enumerate(rec_concave(q, levels, alpha / 2 * r, Fraction(1, 4), epsilon, delta)):
        size = 8 << k
        for A, p_A in a_dist(two_best(padded, end, 0, size), epsilon, delta):
            for B, p_B in a_dist(two_best(padded, end, size // 2, size), epsilon, delta):
                chosen = [(s, min(s + size, T + 1)) for s in (A, B) if s is not None and s <= T]
                if len(chosen) == 2 and abs(chosen[0][0] - chosen[1][0]) < size:
                    chosen = [(min(a for a, _ in chosen), max(b for _, b in chosen))]
                shares = softmax(pieces, chosen, epsilon, T) if chosen else [arb(1)] + [arb(0)] * (len(pieces) - 1)
                found = [mass + p * p_A * p_B * share for mass, share in zip(found, shares, strict=True)]
    return found


def ranges_of(pieces: list[Piece], end: int) -> list[tuple[int, int, Fraction]]:
    stops = [start for start, _ in pieces[1:]] + [end + 1]
    return [(start, stop, height) for (start, height), stop in zip(pieces, stops, strict=True)]


def softmax(pieces: list[Piece], ranges: list[tuple[int, int]], epsilon: Any, T: int) -> list[Any]:
    counts = [sum(max(0, min(e, b) - max(s, a)) for a, b in ranges) for s, e, _ in ranges_of(pieces, T)]
    top = max(height for (_, height), n in zip(pieces, counts, strict=True) if n)
    weights = [n * (epsilon / 2 * exact(height - top)).exp() for (_, height), n in zip(pieces, counts, strict=True)]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def best_window(pieces: list[Piece], end: int, length: int) -> Fraction:
    ranges = ranges_of(pieces, end)
    at = {s for s, _, _ in ranges} | {e - length for _, e, _ in ranges}
    return max(min(h for s, e, h in ranges if s < a + length and e > a) for a in at if 0 <= a <= end + 1 - length)


def two_best(pieces: list[Piece], end: int, first: int, size: int) -> list[Piece]:
    ranges = ranges_of(pieces, end)
    number = max(0, -(-(end + 1 - first) // size))
    near = {(x - first) // size + d for s, e, _ in ranges for x in (s, e - 1) for d in (-1, 0, 1, 2)}
    scored = []
    for i in sorted(near):
        if 0 <= i < number:
            a, b = first + i * size, min(first + (i + 1) * size, end + 1)
            scored.append((a, max(h for s, e, h in ranges if s < b and e > a)))
    return sorted(scored, key=lambda one: -one[1])[:2]


def a_dist(best: list[Piece], epsilon: Any, delta: Any) -> list[tuple[int | None, Any]]:
    if len(best) < 2:
        return [(best[0][0] if best else None, arb(1))]
    missing = (1 / delta).log() / arb(2).log() - epsilon * exact(best[0][1] - best[1][1])
    bottom = 1 - (-missing).exp() / 2 if missing > 0 else missing.exp() / 2
    return [(best[0][0], 1 - bottom), (None, bottom)]


@pytest.mark.slow(only=["8000-*"])
@pytest.mark.parametrize(("n", "digits"), [(8_000, "1.0894759621130121"), (35_121_921, "1.0870417904348687")])
def test_the_interval_of_finding_4_contains_the_value_of_a_calculation_apart(n: int, digits: str) -> None:
    """Step 4 computes L − (1 − α)r at r = 35,121,921: in doubles that is off by 2e-9."""
    pair = three_calls_of_examples(1 / 9, 1e-6 / 9, 0.05, n)
    mechanism = LearnThresholds(2**33 + 1, N=3)
    laws = []
    # the ends of the law's spans, so that events are fine enough to be the best ones
    ranges = [value for value in interval_law(mechanism, pair.left).values if isinstance(value, IntegerRange)]
    starts = sorted({0, *(end for range_ in ranges for end in (range_.start, range_.stop) if end <= 2**33)})
    with ctx.workprec(DIGITS):
        for dataset in (pair.left, pair.right):
            steps = Consistency(2**33 + 1)(dataset).steps
            pieces = [(x, Fraction(int(steps.values[bisect_right(steps.starts, x) - 1]))) for x in starts]
            laws.append(rec_concave(
                pieces, 2**33, Fraction(n), Fraction(1, 20), exact(Fraction(1, 9)), exact(Fraction(1, 9 * 10**6))
            ))
        events = []
        for p, q in (laws, laws[::-1]):
            order = sorted(range(len(p)), key=lambda i: float((p[i] / q[i]).log()), reverse=True)
            for k in range(1, len(order)):
                mass, other = (sum((law[i] for i in order[:k]), arb(0)) for law in (p, q))
                if mass > exact(Fraction(1, 10**6)):
                    events.append(((mass - exact(Fraction(1, 10**6))) / other).log())
        truth = max(events, key=lambda one: one.mid())
        assert abs(truth - arb(digits)) < arb("1e-15")
    found, _ = evidence(compare(mechanism, pair, LawCache()), pair, mechanism.claim)
    shown = enclosed(found, compare(mechanism, pair, LawCache()), mechanism, pair, mechanism.claim, LawCache())
    assert shown.bounds is not None
    assert shown.bounds.rounded == []
    assert shown.bounds.epsilon_low is not None
    assert shown.bounds.epsilon_high is not None
    assert arb(shown.bounds.epsilon_low) <= truth <= arb(shown.bounds.epsilon_high)
    assert shown.bounds.epsilon_high - shown.bounds.epsilon_low < 1e-15


# --- the numbers ------------------------------------------------------------------------------------------------------

FRACTIONS = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
ARITHMETIC: list[Callable[[Any, Any], Any]] = [operator.add, operator.sub, operator.mul, operator.truediv]


def interval_of(number: Any) -> Any:
    return number.interval if type(number) is Enclosed else exact(number)


@given(FRACTIONS, FRACTIONS, st.sampled_from(ARITHMETIC), st.booleans(), st.booleans())
@example(Fraction(2), Fraction(1), operator.truediv, True, True)
@example(Fraction(2), Fraction(0), operator.sub, True, True)
@example(Fraction(2), Fraction(0), operator.truediv, True, True)
def test_arithmetic_contains_the_exact_value(
    a: Fraction, b: Fraction, does: Callable[[Any, Any], Any], logs: bool, swapped: bool
) -> None:
    """Of fractions it is the fraction, of logarithms an interval around what 400 bits give."""
    assume(b != 0 or does is not operator.truediv or (logs and swapped))
    run = Roundings()
    x, y = Enclosed(a, run), Enclosed(b, run)
    if not logs:
        found = does(x, y) if not swapped else does(a, y)
        assert found.exact == does(a, b)
        return
    assume(abs(a) > Fraction(1, 1000) and abs(a) != 1)
    x = language.log(abs(x))
    with ctx.workprec(DIGITS):
        log = exact(abs(a)).log()
        truth = does(exact(b), log) if swapped else does(log, exact(b))
    found = does(b, x) if swapped else does(x, y)
    assert interval_of(found).contains(truth.mid()) or (truth.rad() > 0 and interval_of(found).overlaps(truth))
    assert run.notes == []


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=60, max_denominator=10**5),
    st.sampled_from(["log", "log2", "log1p", "exp", "expm1", "exp2", "sqrt", "tanh"]),
)
def test_functions_contain_the_exact_value(a: Fraction, name: str) -> None:
    """And on floats they are those of `math`, to the last bit."""
    truths: dict[str, Callable[[Any], Any]] = {
        "log": lambda z: z.log(), "log2": lambda z: z.log() / arb(2).log(), "log1p": lambda z: (1 + z).log(),
        "exp": lambda z: z.exp(), "expm1": lambda z: z.exp() - 1, "exp2": lambda z: (z * arb(2).log()).exp(),
        "sqrt": lambda z: z.sqrt(), "tanh": lambda z: z.tanh(),
    }
    run = Roundings()
    function = getattr(language, name)
    with ctx.workprec(DIGITS):
        truth = truths[name](exact(a))
    found = interval_of(function(Enclosed(a, run)))
    assert found.overlaps(truth)
    assert found.rad() < arb(2) ** -160
    assert run.notes == []
    assert function(float(a)) == getattr(math, name)(float(a))


@given(FRACTIONS, FRACTIONS)
def test_comparisons_and_whole_numbers(a: Fraction, b: Fraction) -> None:
    run = Roundings()
    x, y = Enclosed(a, run), Enclosed(b, run)
    for compares in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        assert compares(x, y) == compares(a, b)
        assert compares(x, b) == compares(a, x) == compares(a, a) or a != b
        assert compares(x, math.inf) == compares(a, math.inf)
    assert (math.floor(x), math.ceil(x), round(x), int(x)) == (math.floor(a), math.ceil(a), round(a), int(a))
    assert (abs(x).exact, (-x).exact, max(x, y).exact, min(x, y).exact) == (abs(a), -a, max(a, b), min(a, b))
    if b:
        assert ((x // y).exact, (x % y).exact) == (a // b, a % b)
    assert (x**3).exact == a**3
    assert (Fraction(1, 3) * x).exact == a / 3
    assert x.is_integer() == (a.denominator == 1)
    assert isinstance(x, float)
    assert run.notes == []


def test_what_intervals_leave_open_is_noted() -> None:
    run = Roundings()
    two = Enclosed(Fraction(2), run)
    root = language.sqrt(two)
    assert (root * root - two).exact is None
    _ = root * root == two
    assert run.notes == ["a comparison of two numbers that are too close to distinguish"]
    assert language.log(Enclosed(Fraction(1, 8), run), 2).exact == -3
    assert language.log(two) - language.log(two) == 0
    assert len(run.notes) == 1
    again = Roundings()
    assert math.floor(language.log(Enclosed(Fraction(5), again))) == 1
    assert again.notes == []
    assert math.floor(language.exp(language.log(Enclosed(Fraction(5), again)))) in (4, 5)
    assert len(again.notes) == 1


def test_other_computations_are_other_numbers() -> None:
    """Equal origins count as equal numbers, even if their intervals differ."""
    run = Roundings()
    two, three = Enclosed(Fraction(2), run), Enclosed(Fraction(3), run)
    a, b = language.log(two), language.log(three)
    numbers = [
        a, b, a + b, a - b, b - a, a * b, a / b, b / a, -a, -b, a + 2, a - 2, 2 - a, a * 2, a / 2, 2 / a, a + 3, a**2,
        a**3, language.exp(a), language.exp(b), language.sqrt(two), language.sqrt(three), language.sqrt(a),
    ]
    ascending = sorted(numbers, key=lambda number: number.near)
    assert len({number.near for number in numbers}) == len(numbers)
    for at, low in enumerate(ascending):
        assert low == low + 0
        assert all(low < high and low != high for high in ascending[at + 1 :])
    assert a - b == a - b
    assert not any("compar" in note for note in run.notes)


def test_parameters_are_decimals() -> None:
    """0.1 is one tenth, as the claim that is printed is; a double of the program's own is what it is, and noted."""
    run = Roundings()
    assert as_decimal(0.1, run).exact == Fraction(1, 10)
    assert decimal(0.1).overlaps(exact(Fraction(1, 10)))
    assert not decimal(0.1).overlaps(exact(Fraction(0.1)))
    assert language.canonical(as_decimal(0.1, run)) == 0.1
    assert run.notes == []
    met = enclose(0.1, run)
    assert met is not None
    assert met.exact == Fraction(0.1) != Fraction(1, 10)
    assert run.notes == ["the double 0.1, which the program contains or has computed"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_short_numbers_have_few_digits(number: float) -> None:
    if short(number):
        assert Fraction(number).denominator <= 1024
        assert abs(number) < 2**31


# --- programs that round ----------------------------------------------------------------------------------------------


class Base(Mechanism):
    """Noise on a count, compared with a threshold."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)


@dataclass(frozen=True)
class Clean(Base):
    epsilon: float = 0.3
    delta: float = 0.01

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / self.epsilon) < language.log(1 / self.delta) / self.epsilon)


@dataclass(frozen=True)
class ByMath(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / self.epsilon) < math.log(1 / self.delta) / self.epsilon)


@dataclass(frozen=True)
class ByFloat(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / float(self.epsilon)) < 3)


@dataclass(frozen=True)
class ByFloatOfFewDigits(Clean):
    """1/0.1 is 10.0 in doubles."""

    epsilon: float = 0.1

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / float(self.epsilon)) < 3)


@dataclass(frozen=True)
class ByNumpy(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / self.epsilon) < np.cbrt(self.epsilon))


@dataclass(frozen=True)
class ByArray(Clean):
    def run(self, S: Any) -> Program:
        scales = np.array([self.epsilon, self.delta], dtype=np.float64)
        return (yield Laplace(len(S), 1 / scales[0]) < 3)


@dataclass(frozen=True)
class ByLiteral(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 2) < 0.7)


SHARED = 0.1


@dataclass(frozen=True)
class ByGlobal(Clean):
    """1/0.1 is 10.0 in doubles, which looks like a number that nobody rounded."""

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / SHARED) < 3)


@dataclass(frozen=True)
class ByClassAttribute(Clean):
    share = 0.1

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 1 / self.share) < 3)


@dataclass(frozen=True)
class ByHelper(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 10) < _helped(self.epsilon))


def _helped(epsilon: float) -> float:
    return math.exp(epsilon)


@dataclass(frozen=True)
class ByText(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 10) < float(f"{self.epsilon / 7:.3f}"))


@dataclass(frozen=True)
class ByRefusal(Clean):
    """It does not run on numbers that are no floats."""

    def run(self, S: Any) -> Program:
        if type(self.epsilon) is not float:
            raise TypeError("epsilon")
        return (yield Laplace(len(S), 1 / self.epsilon) < 3)


@dataclass(frozen=True)
class ByTable(Clean):
    """A table of floats has lost a number that hashes as none of them: the law is one of another program."""

    epsilon: float = 0.5

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), {0.5: 2, 1.0: 1}.get(self.epsilon, 7)) < 3)


@dataclass(frozen=True)
class ByMadeAtStart(Clean):
    """What is computed when it is made is computed anew."""

    scale: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", math.exp(self.epsilon))

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), self.scale) < 3)


@dataclass(frozen=True)
class ByFewDigitsMadeAtStart(Clean):
    epsilon: float = 0.1
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", 1 / float(self.epsilon))

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), self.scale) < 3)


@dataclass(frozen=True)
class ByRoundedScores(Clean):
    def run(self, S: Any) -> Any:
        return language.Scores([len(S) / 7, 1, 2]).softmax(self.epsilon / 2)


@dataclass(frozen=True)
class ByWholeNumbers(Clean):
    """No number of it is a float for long."""

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), math.ceil(math.log(len(S) + 7))) < 3)


@dataclass(frozen=True)
class ByWholeNumbersOfNumpy(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), int(np.ceil(np.log2(len(S) + 7)))) < 3)


class ByNoDataclass(Base):
    def __init__(self) -> None:
        self.epsilon = 0.3
        self.scale = 1 / self.epsilon

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), self.scale) < 3)


@dataclass(frozen=True)
class ByDefault(Clean):
    def run(self, S: Any, share: float = 0.1) -> Program:
        return (yield Laplace(len(S), 1 / share) < 3)


def _closed_over(share: float) -> Callable[[], float]:
    return lambda: 1 / share


@dataclass(frozen=True)
class ByClosure(Clean):
    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), _inverse()) < 3)


_inverse = _closed_over(0.1)

ROUNDING = [
    ByMath(), ByFloat(), ByNumpy(), ByArray(), ByLiteral(), ByGlobal(), ByClassAttribute(), ByHelper(), ByText(),
    ByFloatOfFewDigits(), ByFewDigitsMadeAtStart(), ByDefault(), ByClosure(),
    ByRefusal(), ByTable(), ByMadeAtStart(), ByRoundedScores(), ByWholeNumbers(),
    ByWholeNumbersOfNumpy(), ByNoDataclass(),
]


@pytest.mark.parametrize("mechanism", ROUNDING, ids=lambda m: type(m).__name__)
def test_a_program_that_rounds_is_not_certain(mechanism: Mechanism) -> None:
    left, right = Multiset.of((0, 0, 0)), Multiset.of((0, 0, 0, 0))
    # twice, from the same caches: the note does not get lost
    for _ in range(2):
        assert interval_law(mechanism, left).rounded
        assert interval_laws(mechanism, left, right).rounded
    pair = Pair(left, right)
    found, _ = evidence(compare(mechanism, pair, LawCache()), pair, Claim(5.0))
    bounds = enclosed(found, compare(mechanism, pair, LawCache()), mechanism, pair, Claim(5.0), LawCache()).bounds
    assert bounds is not None
    assert not bounds.certain


def test_a_program_that_does_not_round_is_certain() -> None:
    law = interval_law(Clean(), Multiset.of((0, 0, 0)))
    assert law.rounded == ()
    below = law.as_dict()[True]
    with ctx.workprec(DIGITS):
        z = (exact(100).log() / exact(Fraction(3, 10)) - 3) * exact(Fraction(3, 10))
        truth = 1 - (-z).exp() / 2
    assert below.contains(truth.mid())
    assert below.rad() < arb("1e-30")


@dataclass(frozen=True)
class Cached(Clean):
    """A helper with a cache of its own, and one of the language's."""

    by_language: bool = False

    def run(self, S: Any) -> Program:
        helper = _kept if self.by_language else _forgetful
        return (yield Laplace(len(S), 10) < helper(self.epsilon))


@lru_cache(maxsize=8)
def _forgetful(epsilon: float) -> int:
    return math.ceil(math.log(epsilon + 7))


@language.cached(maxsize=8)
def _kept(epsilon: float) -> int:
    return math.ceil(math.log(epsilon + 7))


@dataclass(frozen=True)
class Held(Clean):
    @cached_property
    def level(self) -> int:
        return math.ceil(math.log(self.epsilon + 7))

    def run(self, S: Any) -> Program:
        return (yield Laplace(len(S), 10) < self.level)


@pytest.mark.parametrize("mechanism", [Cached(), Cached(by_language=True), Held()], ids=["lru", "cached", "property"])
def test_caches_do_not_lose_what_was_rounded(mechanism: Mechanism) -> None:
    """A whole number says nothing of the logarithm that it was rounded up from."""
    data = Multiset.of((0, 0))
    # in doubles first: what they leave in a cache is not taken for exact
    compare(mechanism, Pair(data, Multiset.of((0,))), LawCache())
    for _ in range(3):
        assert interval_law(mechanism, data).rounded
    shared = LawCache()
    assert interval_law(mechanism, data, cache=shared).rounded
    assert interval_law(mechanism, data, cache=shared).rounded


def test_a_cache_of_the_language_computes_anew_for_exact_numbers() -> None:
    calls = []

    @language.cached(maxsize=4)
    def inverse(x: float) -> Any:
        calls.append(x)
        return 1 / x

    assert inverse(3.0) == inverse(3.0) == 1 / 3.0
    assert len(calls) == 1
    run = Roundings()
    with watching(run):
        three = Enclosed(Fraction(3), run)
        assert inverse(three).exact == inverse(three).exact == Fraction(1, 3)
    assert len(calls) == 2
    assert run.notes == []
    assert inverse(3.0) == 1 / 3.0
    other = Roundings()
    with watching(other):
        assert inverse(Enclosed(Fraction(3), other)).roundings is other


# --- verdicts ---------------------------------------------------------------------------------------------------------


def test_by_how_much_an_interval_must_exceed_a_claim() -> None:
    """2e-11 where something was rounded, or where that is not known; the rounding of the claim where nothing was."""
    pair = Pair(Multiset.of((0,)), Multiset.of((0, 0)))
    found, _ = evidence(compare(Clean(), pair, LawCache()), pair, Claim(1.0))
    for excess, rounded, refuted in (
        (1e-11, ["one"], False), (1e-11, None, False), (1e-11, [], True), (3e-11, ["one"], True), (1e-13, [], False),
    ):
        bounds = Bounds(1 + excess, 1 + 2 * excess, 1e-3, 2e-3, rounded)
        assert refutes(replace(found, epsilon=1 + excess, bounds=bounds), Claim(1.0)) == refuted


@dataclass(frozen=True)
class Answer(Mechanism):
    """Randomised response: ε at every pair."""

    epsilon: float = 0.3

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, S: Any) -> Program:
        (bit,) = Multiset.of(S).values
        told = yield Bernoulli(1 / (1 + language.exp(-self.epsilon)))
        return bit if told else 1 - bit


@dataclass(frozen=True)
class RoundedAnswer(Answer):
    def run(self, S: Any) -> Program:
        (bit,) = Multiset.of(S).values
        told = yield Bernoulli(1 / (1 + math.exp(-self.epsilon)))
        return bit if told else 1 - bit


def test_only_a_program_that_rounds_nothing_is_proved_and_files_say_so() -> None:
    for kind in (Answer, RoundedAnswer):
        result = dpaudit.verify(kind(), domain=2, size=1, groups=1, progress=False)
        audit = result.audit
        assert audit.verdict is Verdict.PASS
        certain = kind is Answer
        assert wording.verdict_phrase(audit) == ("PASS · proved" if certain else "PASS · not refuted")
        assert audit.proof is not None
        assert audit.proof.certain == certain
        assert all(one.bounds is not None and one.bounds.certain == certain for one in audit.exact)
        assert any("rounded to doubles" in note.sentence for note in audit.notes) == (not certain)
        assert wording.rounds(audit) == (not certain)
        text = to_json(result)
        again = from_json(text, where="results.json")
        assert again.audits[0].proof == audit.proof
        assert contradiction(again) is None
        assert "rounded" in json.loads(text)["audits"][0]["proof"]
        for shown in (to_html(result), to_markdown(result)):
            assert ("rounded to doubles" in shown) == (not certain)
        if not certain:
            forged = replace(again, audits=[replace(again.audits[0], evidence=EvidenceKind.EXHAUSTIVE)])
            assert "proves nothing" in str(contradiction(forged))
        # a file that does not say what was rounded is not taken for certain
        old = json.loads(text)
        for audit_form in old["audits"]:
            del audit_form["proof"]["rounded"]
            for one in audit_form["exact"]:
                del one["bounds"]["rounded"]
        loaded = from_json(json.dumps(old), where="old.json").audits[0]
        assert loaded.proof is not None
        assert loaded.proof.rounded is None
        assert not loaded.proof.certain


@pytest.mark.parametrize("notes", [(), ("the double 0.1, which was passed to a draw",)])
def test_the_journal_keeps_what_was_rounded(
    notes: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    half = np.full((1, 2), 0.5)
    journal = Journal("dpaudit verify", tmp_path / "journal.sqlite3")
    KeptLaws(journal, "key", [1]).keep(0, Part((0, 1), ("", ""), half, half, notes))
    journal.write()
    read = KeptLaws(journal, "key", [1])
    journal.close()
    assert read.trouble == ""
    assert read.parts[0].rounded == notes


# --- released noise ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noisy(Base):
    epsilon: float = 0.3
    normal: bool = True

    @property
    def scale(self) -> float:
        return language.sqrt(2 / self.epsilon)

    def run(self, S: Any) -> Any:
        return Gaussian(len(S), self.scale) if self.normal else Laplace(len(S), self.scale)


@dataclass(frozen=True)
class NoisyByMath(Noisy):
    @property
    def scale(self) -> float:
        return math.sqrt(2 / self.epsilon)


@pytest.mark.parametrize("normal", [True, False])
def test_released_noise_of_a_scale_that_is_no_fraction(normal: bool) -> None:
    """σ = √(2/ε): its interval contains the exact profile; by `math.sqrt` it is one of a rounded program."""
    pair = Pair(Multiset.of((0,)), Multiset.of((0, 0)))
    losses = losses_of(Noisy(normal=normal), pair)
    assert losses.draws.rounded == ()
    assert losses_of(NoisyByMath(normal=normal), pair).draws.rounded
    low, high = losses.wider.delta(Fraction(1, 10)).low, losses.narrower.delta(Fraction(1, 10)).high
    with ctx.workprec(DIGITS):
        sigma = exact(Fraction(20, 3)).sqrt()
        mu, e = 1 / sigma, exact(Fraction(1, 10))
        if normal:
            first, second = (((e / mu + side * mu / 2) / arb(2).sqrt()).erfc() / 2 for side in (-1, 1))
            truth = first - e.exp() * second
        else:
            truth = 1 - ((e - mu) / 2).exp()
    assert arb(low) <= truth <= arb(high)
    assert high - low < 1e-12


# --- the catalogue ----------------------------------------------------------------------------------------------------

CERTAIN = {
    "RecConcave": 3, "ADist": 2, "ADistCorrected": 2, "RecPrefix": 2, "LearnPoints": 1, "TreeLog": 2,
    "ChoosingMechanism": 2, "ReorderSliceCompute": 4, "ExponentialMechanism": 2, "LearnThresholds": 2,
    "DominatingMechanism": 2, "GroupPrivacy": 2, "RecConcaveCorrected": 2,
}
"""Algorithms, and how many of their cases are looked at."""


@contextmanager
def no_doubles() -> Iterator[None]:
    """Inside, no number of a program can be made a float."""

    def refuse(self: Enclosed) -> float:
        raise AssertionError("a parameter was converted to a double")

    before = Enclosed.__float__
    Enclosed.__float__ = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        Enclosed.__float__ = before  # type: ignore[method-assign]


@pytest.mark.slow(only=["LearnThresholds", "RecConcave"])
@pytest.mark.parametrize("name", CERTAIN)
def test_what_calls_itself_certain_uses_no_double_of_its_parameters(name: str) -> None:
    looked = 0
    for case in registry.plan(name).cases():
        for pair in case.pairs[:1]:
            if looked == CERTAIN[name] or not case.exact:
                break
            with no_doubles():
                laws = interval_laws(case.mechanism, pair.left, pair.right)
            assert laws.rounded == (), case.label
            looked += 1
    assert looked


@pytest.mark.slow(only=["AlgorithmB"])
@pytest.mark.parametrize("name", ["ADist", "RecConcave", "AlgorithmB"])
def test_guarantees_are_certain(name: str) -> None:
    plan = registry.plan(name)
    assert plan.utility is not None
    for case in plan.utility()[:4]:
        for source in case.instances[:1]:
            found = exactly(Trial(source, case.mechanism, case.claim.goal))
            assert found.rounded == [], case.label
            assert 0 <= found.low <= found.high <= 1


def test_exact_copies_leave_the_mechanism_as_it_is() -> None:
    mechanism = LearnThresholds(2**33 + 1, N=3)
    copy = exact_mechanism(mechanism, Roundings())
    assert type(mechanism.alpha) is float
    assert type(copy.alpha) is Enclosed  # type: ignore[attr-defined]
    assert copy.alpha == Fraction(1, 10)  # type: ignore[attr-defined]
    assert repr(copy) == repr(mechanism)


def test_intervals_of_a_bernoulli_are_of_the_decimal() -> None:
    @dataclass(frozen=True)
    class Coin(Base):
        p: float = 0.1

        def run(self, S: Any) -> Any:
            return Bernoulli(self.p if len(S) else 2 * self.p)

    laws = interval_laws(Coin(), Multiset.of(()), Multiset.of((0,)))
    assert laws.rounded == ()
    found = max(epsilon_at(laws.left, laws.right, 0).high, epsilon_at(laws.right, laws.left, 0).high)
    assert found == pytest.approx(math.log(2), abs=1e-15)
    assert laws.left[0].overlaps(exact(Fraction(1, 5)))
    assert not laws.left[0].overlaps(exact(Fraction(0.2)))
