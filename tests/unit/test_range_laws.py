"""Laws in spans of whole numbers: mixtures, refinements, draws, and what an audit makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.adversary import Event, Pair
from dpaudit.errors import NotEnumerableError, OutputError
from dpaudit.evidence.exact import PairLaws, compare, evidence
from dpaudit.evidence.figures import exact_outputs, sampled_outputs
from dpaudit.interpret import Law, LawCache, Outputs, align, interval_law, interval_laws, law, sample
from dpaudit.interpret.range_laws import members
from dpaudit.language import BOTTOM, Bernoulli, Claim, IntegerRange, Mechanism, Multiset, Scores, StepScores, Uniform
from dpaudit.outputs.ranges import Spread, below, mixed, together, wholes
from dpaudit.stats.enclosure import epsilon_at
from dpaudit.stats.hockey_stick import epsilon_at as epsilon_at_doubles
from dpaudit.stats.hockey_stick import epsilon_at_symmetric, profile_symmetric
from dpaudit_algorithms.pac.learn_points import LearnPoints
from dpaudit_algorithms.pac.learn_thresholds import LearnThresholds

BIG = 2**64
CUTS = st.lists(st.integers(0, 30), min_size=2, max_size=7, unique=True).map(sorted)


@dataclass(frozen=True)
class Toy(Mechanism):
    """⊥, or one of a few numbers, or a tie between two overlapping ranges, of which the first is the dataset's."""

    top: int = BIG

    def run(self, S: Any) -> Any:
        if (yield Bernoulli(0.25)):
            return BOTTOM
        if (yield Bernoulli(0.5)):
            return Uniform((1, 2, 1, self.top - 1))
        if (yield Bernoulli(S)):
            return Uniform(range(self.top))
        return Uniform(range(self.top // 2, 2 * self.top))


@dataclass(frozen=True)
class GoesOn(Mechanism):
    """Draws from another and asks whether the output is even, if there is one."""

    inner: Mechanism

    def run(self, S: Any) -> Any:
        drawn = yield self.inner.on(S)
        return drawn if drawn is BOTTOM else drawn % 2 == 0


@dataclass(frozen=True)
class Gives(Mechanism):
    """An output, or a last draw."""

    end: Any

    def run(self, S: Any) -> Any:
        return self.end


@dataclass(frozen=True)
class InPieces(Mechanism):
    """The exponential mechanism."""

    scores: Any

    def run(self, S: Any) -> Any:
        return self.scores.softmax(0.5)


def spread(cuts: list[int], shift: int) -> Spread:
    """Every other gap is left out."""
    ends = [(a + shift, b + shift) for i, (a, b) in enumerate(pairwise(cuts)) if i % 2 == 0]
    masses = np.arange(1.0, len(ends) + 1)
    return Spread(wholes(a for a, _ in ends), wholes(b for _, b in ends), masses / masses.sum())


def density(parts: list[tuple[Spread, float]], at: int) -> Fraction:
    total = Fraction(0)
    for part, weight in parts:
        for start, stop, p in zip(part.starts.tolist(), part.stops.tolist(), part.masses.tolist(), strict=True):
            if start <= at < stop:
                total += Fraction(weight) * Fraction(p) / (stop - start)
    return total


@settings(max_examples=150)
@given(st.lists(CUTS, min_size=1, max_size=4), st.sampled_from([0, 2**80]))
def test_mixtures_are_sums_of_densities(cuts: list[list[int]], shift: int) -> None:
    parts = [(spread(one, shift), 2.0**-i) for i, one in enumerate(cuts)]
    total = mixed(parts)
    ranges = list(zip(total.starts.tolist(), total.stops.tolist(), total.masses.tolist(), strict=True))
    assert all(a < b for a, b, _ in ranges)
    assert all(one[1] <= two[0] for one, two in pairwise(ranges))
    for i in range(shift, shift + 31):
        here = [Fraction(p) / (b - a) for a, b, p in ranges if a <= i < b]
        assert float(sum(here)) == pytest.approx(float(density(parts, i)), rel=1e-14)


def test_what_is_rare_keeps_its_digits_beside_what_is_not() -> None:
    wide = Spread(wholes([0]), wholes([2**200]), np.ones(1))
    narrow = Spread(wholes([5]), wholes([6]), np.ones(1))
    total = mixed([(wide, 1e-250), (narrow, 1.0)])
    # 2^200 members would have a density beyond floats one by one
    assert total.masses.tolist() == [1e-250 * 5 / 2**200, 1.0, pytest.approx(1e-250)]
    assert mixed([]).masses.shape == (0,)


def test_laws_with_spans_are_those_of_their_members() -> None:
    small = Toy(2**25)
    assert any(isinstance(value, IntegerRange) for value in law(small, 0.5).values)
    dense_like = {True: 0.0}
    top = 2**25
    for outcome, p in law(small, 0.5).as_dict().items():
        if isinstance(outcome, IntegerRange):
            middle = outcome.start
            inside = 0.1875 * ((middle < top) / top + (middle >= top // 2) / (1.5 * top))
            assert p == pytest.approx(inside * outcome.size, rel=1e-14)
        else:
            dense_like[outcome] = p
    assert dense_like[BOTTOM] == 0.25
    # 1, 2, 1 and top − 1
    assert dense_like[1] == pytest.approx(0.375 / 2 + 0.1875 / top)
    assert dense_like[2] == pytest.approx(0.375 / 4 + 0.1875 / top)
    assert dense_like[top - 1] == pytest.approx(0.375 / 4 + 0.1875 * (1 / top + 1 / (1.5 * top)))
    assert law(small, 0.5).probs.sum() == pytest.approx(1)


def test_two_laws_over_their_common_refinement() -> None:
    left = Law((IntegerRange(0, 10), BOTTOM), np.array([0.5, 0.5]))
    right = Law((3, IntegerRange(5, 20), None), np.array([0.1, 0.6, 0.3]))
    values, p, q = align(left, right)
    assert values == (IntegerRange(0, 3), 3, 4, IntegerRange(5, 10), IntegerRange(10, 20), BOTTOM, None)
    assert p.tolist() == pytest.approx([0.15, 0.05, 0.05, 0.25, 0, 0.5, 0])
    assert q.tolist() == pytest.approx([0, 0.1, 0, 0.2, 0.4, 0, 0.3])
    singles = [Law(*members(one.values, one.probs, "law")) for one in (left, right)]
    _, a, b = align(*singles)
    for delta in (0.3, 0.6, 0.9):
        assert epsilon_at_symmetric(p, q, delta) == pytest.approx(epsilon_at_symmetric(a, b, delta))
    assert profile_symmetric(p, q, [0.5]) == pytest.approx(profile_symmetric(a, b, [0.5]))
    assert left.probability(lambda v: v in (0, BOTTOM)) == pytest.approx(0.55)
    _, first, second = align(singles[0], Law(np.arange(2), np.array([0.5, 0.5])))
    assert first.sum() == pytest.approx(second.sum())


@pytest.mark.parametrize(
    "end", [IntegerRange(0, 3), Uniform((IntegerRange(0, 3), IntegerRange(4, 5))), (1, IntegerRange(0, 3))]
)
def test_a_span_is_no_output(end: Any) -> None:
    for read in (law, lambda mechanism, data: sample(mechanism, data, 10)):
        with pytest.raises(OutputError, match=r"return \(start, stop\)"):
            read(Gives(end), None)


def test_what_goes_on_needs_the_members() -> None:
    with pytest.raises(NotEnumerableError, match=r"draw 1 of GoesOn has .* values, and the program may branch on each"):
        law(GoesOn(Toy()), 0.5)
    with pytest.raises(NotEnumerableError, match="The law has"):
        law(Toy(), 0.5).probability(lambda v: v is BOTTOM)
    assert sample(GoesOn(Toy()), 0.5, 1000, seed=100).runs == 1000
    # few members are distinguished
    steps = StepScores((0, 3), (1, 2), 9)
    few, one_by_one = (law(GoesOn(InPieces(form)), None).as_dict() for form in (steps, Scores([1] * 3 + [2] * 6)))
    assert few == pytest.approx(one_by_one)


@pytest.mark.parametrize("bound", [1, 3, 2**63 + 5, 2**64, 2**64 + 1, 3 * 2**130])
def test_uniform_numbers_of_any_size(bound: int) -> None:
    drawn = below(np.random.default_rng(100), bound, 3000)
    assert len(drawn) == 3000
    assert all(0 <= value < bound for value in drawn)
    thirds = [sum(1 for v in drawn if 3 * v // bound == i) for i in range(3)]
    if bound >= 3:
        # six standard deviations of a share of 1/3
        assert max(abs(one - 1000) for one in thirds) < 6 * 26


@pytest.mark.parametrize("top", [2**30, BIG])
def test_draws_follow_the_law(top: int) -> None:
    runs = 40_000
    outputs = sample(Toy(top), 0.75, runs, seed=102)
    assert outputs.runs == runs
    assert all(type(value) is not float for value in outputs.counts)
    for start, stop, p in ((2, top // 2, 0.375 * 0.75 / 2), (top // 2, top, 0.375 * (0.75 / 2 + 0.25 / 3))):
        p += 0.375 / 4
        seen = sum(n for v, n in outputs.each() if isinstance(v, int | float) and start <= v < stop)
        assert abs(seen - runs * p) < 6 * (runs * p * (1 - p)) ** 0.5


def test_the_audit_of_two_to_the_64_thresholds() -> None:
    learner = LearnThresholds(BIG, 0.5, 6.0, 0.01, N=2)
    data = Multiset.counted({(9_000, 1): 40, (BIG // 2, 0): 40})
    pair = Pair(data, data.changed(remove=((9_000, 1),), add=((BIG - 1, 0),)), "one moved")
    comparison = compare(learner, pair, LawCache())
    assert comparison.left.sum() == pytest.approx(1)
    exact, event = evidence(comparison, pair, Claim(6.0, 0.01))
    assert exact.epsilon is not None
    assert exact.epsilon < 6
    assert event.ranges
    assert all(one.stop < two.start for one, two in pairwise(event.ranges))
    runs = 200_000
    left, right = (sample(learner, side, runs, seed=103 + i) for i, side in enumerate((pair.left, pair.right)))
    sides = (left, right) if exact.direction == "left/right" else (right, left)
    for outputs, p in zip(sides, (exact.p, exact.q), strict=True):
        assert abs(event.count(outputs) - runs * p) < 6 * (runs * p * (1 - p)) ** 0.5 + 1
    exactly, seen = exact_outputs(comparison, event), sampled_outputs(left, right, event)
    assert sum(exactly.left) == pytest.approx(1)
    assert sum(exactly.right) == pytest.approx(1)
    assert sum(seen.left) == pytest.approx(1)


def test_points_of_two_to_the_64() -> None:
    learner = LearnPoints(1.0, 1e-6, BIG)
    exact = law(learner, ((BIG - 1, 1),) * 30)
    assert exact.as_dict()[BIG - 1] == pytest.approx(1, abs=1e-3)
    assert any(isinstance(value, IntegerRange) for value in exact.values)


def test_events_of_spans() -> None:
    event = Event(frozenset({BOTTOM}), ranges=(IntegerRange(3, 6), IntegerRange(BIG, BIG + 10)))
    assert event.marks([2, 3, 5, 6, BIG + 9, 4.0, 4.5, "x", BOTTOM, IntegerRange(3, 5)]).tolist() == [
        False, True, True, False, True, True, False, False, True, True,
    ]  # fmt: skip
    assert event.count(Outputs({3: 2, BIG: 5, 9: 7, BOTTOM: 1})) == 8
    assert event.spec["ranges"] == [[3, 5], [BIG, BIG + 9]]
    assert event.spec["atoms"] == ["⊥"]
    assert "3–5" in event.description
    comparison = PairLaws((IntegerRange(0, 5), 5, IntegerRange(6, 9), 12, BOTTOM), np.full(5, 0.2), np.full(5, 0.2))
    chosen = comparison.event(np.ones(5, dtype=np.bool_))
    assert chosen == Event(frozenset({BOTTOM}), ranges=(IntegerRange(0, 9), IntegerRange(12, 13)))
    assert together([IntegerRange(0, 2), IntegerRange(2, 3), IntegerRange(4, 5)]) == [
        IntegerRange(0, 3),
        IntegerRange(4, 5),
    ]


def test_spans_in_bins() -> None:
    size = 40 << 10
    values = tuple(IntegerRange(i * size, (i + 1) * size) for i in range(41))
    p = np.arange(41.0) / 820
    plot = exact_outputs(PairLaws(values, p, p[::-1]), Event(ranges=(IntegerRange(0, 10 * size),)))
    assert len(plot.labels) == 40
    assert sum(plot.left) == pytest.approx(1)
    assert plot.left[0] == pytest.approx(p[0] + p[1] / 40)
    assert plot.event == [True] * 10 + [False] * 30
    assert plot.labels[:2] == ["0–41983", "41984–83967"]
    # where all happens in a small part of a wide range, that part has most bins
    values = (*(IntegerRange(i, i + 2) for i in range(0, 160, 2)), IntegerRange(2**60, BIG), IntegerRange(BIG, 2 * BIG))
    p, q = np.append(np.full(80, 0.01), [0.1, 0.1]), np.append(np.full(80, 0.005), [0.1, 0.5])
    plot = exact_outputs(PairLaws(values, p, q), Event(ranges=(IntegerRange(BIG, 2 * BIG),)))
    assert 20 < len(plot.labels) <= 40
    assert plot.labels[-1] == f"{BIG}–{2 * BIG - 1}"
    assert (plot.left[-1], plot.right[-1], plot.event[-1]) == pytest.approx((0.1, 0.5, True))
    assert sum(plot.left) == pytest.approx(sum(plot.right)) == pytest.approx(1)


@pytest.mark.parametrize("dataset", [0.25, 0.75])
@pytest.mark.parametrize("mechanism", [Toy(), GoesOn(Toy(64)), Toy(40)], ids=["2^64", "goes on", "40"])
def test_balls_on_long_ranges_agree_with_doubles(mechanism: Mechanism, dataset: float) -> None:
    doubles, enclosures = law(mechanism, dataset).as_dict(), interval_law(mechanism, dataset).as_dict()
    laws = interval_laws(mechanism, dataset, 0.5)
    p, q = laws.left, laws.right
    _, a, b = align(law(mechanism, dataset), law(mechanism, 0.5))
    assert {v: float(x.mid()) for v, x in enclosures.items()} == pytest.approx(doubles, rel=1e-12)
    assert sorted(float(x.mid()) for x in p) == pytest.approx(sorted(a.tolist()), rel=1e-12)
    assert sorted(float(x.mid()) for x in q) == pytest.approx(sorted(b.tolist()), rel=1e-12)


def test_an_enclosure_at_two_to_the_sixty_four() -> None:
    """The ε of a pair of LearnThresholds, which a thousand examples decide and no list of 2^64 outcomes."""
    mechanism = LearnThresholds(BIG, 0.5, 2.0, 1e-6)
    left = Multiset.counted({(2**40, 1): 500, (2**63, 0): 500})
    right = left.changed(remove=((2**40, 1),), add=((BIG - 1, 0),))
    _, a, b = align(law(mechanism, left), law(mechanism, right))
    laws = interval_laws(mechanism, left, right)
    p, q = laws.left, laws.right
    for (top, bottom), (x, y) in (((p, q), (a, b)), ((q, p), (b, a))):
        found = epsilon_at(top, bottom, 1e-6)
        assert found.low == pytest.approx(epsilon_at_doubles(x, y, 1e-6), rel=1e-9, abs=1e-12)
        assert found.high - found.low < 1e-14
