"""The tightness algorithm: what it publishes, how private that is, and how often it overfits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from dpaudit.errors import DatasetError
from dpaudit.interpret import law, sample
from dpaudit.language import Fixed, Instance, Mechanism, Multiset, ParameterError, Trial
from dpaudit_algorithms.generalization.tightness import GeneralizationTightness, GeneralizationTightnessCorrected
from dpaudit_algorithms.generalization.tightness_theory import HoldsAShare, UnitInterval

KINDS = [GeneralizationTightness, GeneralizationTightnessCorrected]
Kind = type[GeneralizationTightness] | type[GeneralizationTightnessCorrected]


def total_variation(mechanism: Mechanism, left: tuple[float, ...], right: tuple[float, ...]) -> float:
    p, q = law(mechanism, left).as_dict(), law(mechanism, right).as_dict()
    return math.fsum(max(0.0, p.get(h, 0.0) - q.get(h, 0.0)) for h in {*p, *q})


def overfits(mechanism: GeneralizationTightness | GeneralizationTightnessCorrected, n: int) -> float:
    """Pr[h(S) ≥ α] on n distinct records, exactly."""
    trial = Trial(Fixed(tuple(range(n))), mechanism, HoldsAShare(mechanism.alpha))
    return law(trial, ()).probability(bool)


def test_blocks_are_published_one_by_one() -> None:
    # by hand: two blocks of two, each with probability 1/4
    found = law(GeneralizationTightness(0.5, 0.25), (3, 1, 2, 4)).as_dict()
    assert found == {(): 9 / 16, (1, 3): 3 / 16, (2, 4): 3 / 16, (1, 2, 3, 4): 1 / 16}


def test_windows_go_around_the_end() -> None:
    # by hand: ⌈0.5·3⌉ = 2 of three records, with probability 0.25·3/2 in all
    found = law(GeneralizationTightnessCorrected(0.5, 0.25), (3, 1, 2)).as_dict()
    assert found == pytest.approx({(): 5 / 8, (1, 3): 1 / 8, (1, 2): 1 / 8, (2, 3): 1 / 8})


@pytest.mark.parametrize("kind", KINDS)
def test_equal_records_are_one_point_of_the_set(kind: Kind) -> None:
    assert set(law(kind(0.5, 0.25), (7, 7, 7, 7)).as_dict()) == {(), (7,)}
    # h(S) counts records: the point 7 alone holds all four
    assert HoldsAShare(1.0).reached(Instance((7, 7, 7, 7)), (7,))


@pytest.mark.slow(only=["0.25-0.125-4-GeneralizationTightness"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("alpha", "delta", "n"), [(0.25, 0.125, 4), (0.5, 0.25, 4), (0.3, 0.25, 5), (1.0, 0.5, 3)])
def test_delta_is_attained_and_never_exceeded(kind: Kind, alpha: float, delta: float, n: int) -> None:
    mechanism, worst = kind(alpha, delta), 0.0
    for left in product((0, 1), repeat=n):
        for i in range(n):
            right = (*left[:i], 2, *left[i + 1 :])
            worst = max(worst, total_variation(mechanism, left, right), total_variation(mechanism, right, left))
    assert worst == pytest.approx(delta, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 10, 12])
@pytest.mark.parametrize(("alpha", "delta"), [(0.125, 0.1), (0.3, 0.25), (0.4, 0.1), (0.51, 0.5), (1.0, 0.9)])
def test_how_often_it_overfits(alpha: float, delta: float, n: int) -> None:
    blocks, windows = GeneralizationTightness(alpha, delta), GeneralizationTightnessCorrected(alpha, delta)
    size = math.ceil(Fraction(str(alpha)) * n)
    assert overfits(blocks, n) == pytest.approx(1 - (1 - delta) ** (n // size)) == pytest.approx(blocks.chance(n))
    assert overfits(windows, n) == pytest.approx(delta * n / size) == pytest.approx(float(windows.chance(n)))
    if alpha * n >= 1:
        assert overfits(windows, n) >= delta / (2 * alpha)
        assert overfits(windows, n) <= delta / alpha + 1e-12  # Markov's inequality, as in its docstring


def test_whole_blocks_are_enough_whether_or_not_their_number_is_whole() -> None:
    # αn whole: ⌊1/α⌋ blocks; the closest case is α just above 1/2 with δ just below α
    for n in range(1, 60):
        for size in range(1, n + 1):
            for share in (0.01, 0.5, 0.999):
                alpha = size / n
                assert -math.expm1((n // size) * math.log1p(-share * alpha)) >= share / 2


def test_blocks_that_do_not_fit_are_too_few() -> None:
    three = GeneralizationTightness(0.34, 0.1)
    assert overfits(three, 3) == pytest.approx(0.1)
    assert three.utility(3)[0].probability == pytest.approx(0.1 / 0.68)
    assert overfits(three, 3) < three.utility(3)[0].probability


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_drawn_records(kind: Kind) -> None:
    mechanism, runs = kind(0.25, 0.2), 5_000
    hits = sample(Trial(UnitInterval(8), mechanism, HoldsAShare(0.25)), (), runs, seed=4).counts[True]
    p = overfits(mechanism, 8)
    # five standard deviations: false alarms 6e-7
    assert abs(hits / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refused(kind: Kind) -> None:
    for alpha, delta in ((1.01, 0.1), (0.1, 0.1), (0.1, 0.2), (0.5, -0.1)):
        with pytest.raises(ParameterError):
            kind(alpha, delta)
    with pytest.raises(DatasetError, match="order"):
        law(kind(0.5, 0.1), Multiset.of((1, 2)))
    assert law(kind(0.5, 0.1), ()).as_dict() == {(): 1.0}


def test_nothing_is_guaranteed_of_fewer_records() -> None:
    for kind in KINDS:
        assert kind(0.1, 0.05).utility(9) == ()
        assert kind(0.1, 0.05).sample_sizes[0].records == 10  # 1/0.1 as written, not as a double
        assert kind(0.3, 0.05).sample_sizes[0].records == 4
