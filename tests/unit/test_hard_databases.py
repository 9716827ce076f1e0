"""The lower bound for interior points as an adversary: exact arithmetic, D_n, M(S), and the inequality of each step."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from dpaudit.interpret import law, sample
from dpaudit.language import (
    WITH,
    WITHOUT,
    Claim,
    DatasetError,
    Game,
    InteriorPoint,
    Mechanism,
    ParameterError,
    Program,
    Trial,
    Uniform,
)
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.interior_point_baselines import Maximum, Median, Minimum, NoisyMedian
from dpaudit_algorithms.lower_bounds.hard_databases import DigitGuessing, HardDatabase, HardReduction, OnHardDomain
from dpaudit_algorithms.lower_bounds.hard_distributions import (
    Numerals,
    base_at,
    numerals,
    success_bound,
    success_bound_of,
    universe,
)


@dataclass(frozen=True)
class RandomRecord(Mechanism):
    """A record at random: an interior point always, and (0, 1/n)-DP, for one record is chosen so often."""

    n: int

    @property
    def claim(self) -> Claim:
        return Claim(0.0, 1 / self.n)

    def run(self, S: Any) -> Program:
        return tuple(S)[(yield Uniform(range(self.n)))]


def chance(mechanism: Mechanism, dataset: Any = ()) -> float:
    """Pr[True], exactly."""
    return law(mechanism, dataset).as_dict().get(True, 0.0)


def by_depth(n: int, base: int | None, epsilon: float) -> OnHardDomain:
    return OnHardDomain(InteriorPointByMedianCorrected(epsilon, 2), "domain", n, base, first=1)


def success(mechanism: Mechanism, n: int, base: int) -> float:
    return chance(Trial(HardDatabase(n, base), mechanism, InteriorPoint()))


# --- sizes and digits -------------------------------------------------------------------------------------------------


def test_sizes() -> None:
    assert [universe(n) for n in (1, 2)] == [2, 200**2]
    assert universe(3) == 450**40_000
    assert [universe(n, 2) for n in range(1, 6)] == [2, 4, 16, 2**16, 2**65_536]
    with pytest.raises(ParameterError, match="too long"):
        universe(4)
    for bad in (0, -1):
        with pytest.raises(ParameterError):
            universe(bad)


@pytest.mark.parametrize(("base", "length"), [(2, 5), (3, 4), (7, 3), (200, 2)])
def test_digits_by_hand(base: int, length: int) -> None:
    rng = np.random.default_rng(1)
    digits = Numerals(base, length)

    def written(y: int) -> list[int]:
        found = []
        for _ in range(length):
            y, digit = divmod(y, base)
            found.append(digit)
        return found[::-1]

    for y, z in rng.integers(0, digits.size, (300, 2)).tolist():
        assert [digits.digit(y, place) for place in range(1, length + 1)] == written(y)
        same = next((i for i in range(length) if written(y)[i] != written(z)[i]), length)
        assert digits.agreement(y, z) == digits.agreement(z, y) == same
        kept = int(rng.integers(0, length + 1))
        tail = int(rng.integers(0, digits.tails(kept)))
        completed = digits.completed(y, kept, tail)
        assert written(completed)[:kept] == written(y)[:kept]
        assert completed % digits.tails(kept) == tail


def test_agreement_through_a_carry() -> None:
    digits = Numerals(10, 6)
    assert digits.agreement(199_999, 200_000) == 0
    assert digits.agreement(123_999, 124_000) == 2
    assert digits.agreement(123_456, 123_456) == 6


def test_digits_of_forty_thousand() -> None:
    digits = numerals(3)
    rng = np.random.default_rng(2)
    (y, z), *_ = sample(_Pairs(digits.size), (), 1, seed=3).counts
    for kept in (0, 1, 17_000, 39_999):
        other = digits.completed(y, kept, z % digits.tails(kept))
        # the next digits agree with probability 1/450, then the prefix is longer
        assert digits.agreement(y, other) >= kept
        if digits.digit(y, kept + 1) != digits.digit(other, kept + 1):
            assert digits.agreement(y, other) == kept
    place = int(rng.integers(1, 40_001))
    assert digits.digit(y, place) == y // 450 ** (40_000 - place) % 450


@dataclass(frozen=True)
class _Pairs(Mechanism):
    size: int

    def run(self, dataset: Any) -> Program:
        first = yield Uniform(range(self.size))
        second = yield Uniform(range(self.size))
        return (first, second)


# --- D_n --------------------------------------------------------------------------------------------------------------


def by_hand(n: int, base: int) -> Counter[tuple[int, ...]]:
    """D_n digit by digit, as weights."""
    if n == 1:
        return Counter({(0,): 1, (1,): 1})
    length = universe(n - 1, base)
    found: Counter[tuple[int, ...]] = Counter()
    for S, times in by_hand(n - 1, base).items():
        for y0 in product(range(base), repeat=length):
            for rows in product(product(range(base), repeat=length), repeat=n - 1):
                if all(row[:x] == y0[:x] for row, x in zip(rows, S, strict=True)):
                    # a prefix of x digits leaves base^(length − x) completions
                    weight = times * base ** sum(S)
                    found[tuple(_spelled(row, base) for row in (y0, *rows))] += weight
    return found


def _spelled(digits: tuple[int, ...], base: int) -> int:
    value = 0
    for digit in digits:
        value = value * base + digit
    return value


@pytest.mark.slow(only=["3-*"])
@pytest.mark.parametrize(("n", "base"), [(1, 2), (2, 2), (2, 3), (2, 5), (3, 2)])
def test_d_n_is_drawn_as_printed(n: int, base: int) -> None:
    weights = by_hand(n, base)
    total = sum(weights.values())
    drawn = {instance.dataset: p for instance, p in law(HardDatabase(n, base), ()).as_dict().items()}
    assert drawn.keys() == weights.keys()
    for S, weight in weights.items():
        assert drawn[S] == pytest.approx(weight / total)


def test_d_3_as_printed() -> None:
    digits = numerals(3)
    for instance in sample(HardDatabase(3), (), 3, seed=4).counts:
        y0, y1, y2 = instance.dataset
        assert all(0 <= y < 450**40_000 for y in instance.dataset)
        # each x_i is uniform on 40,000 values: one of six is 20 or less with probability 3e-3 over seeds
        assert 20 < min(digits.agreement(y0, y1), digits.agreement(y0, y2)) < 40_000


# --- the bound --------------------------------------------------------------------------------------------------------


def test_printed_bound_stays_below_three_quarters() -> None:
    # Σ 1/(50j²) = π²/300 = 0.0329 ≤ 1/20, and at ε = 1/4 even 1/20 gives 0.6764
    assert math.pi**2 / 300 < 1 / 20
    factor = math.exp(0.25)
    assert factor / (factor + 1) + (factor + 1) / 20 == pytest.approx(0.676378, abs=1e-6)
    for epsilon in (1e-9, 0.1, 0.2499999):
        bounds = [success_bound(n, epsilon) for n in (1, 2, 3, 10, 10_000)]
        assert bounds == sorted(bounds)
        assert bounds[-1] < 0.6374 < 0.75
    with pytest.raises(ParameterError, match="epsilon"):
        success_bound(1, 0.25)


def test_printed_bound_follows_from_the_one_of_the_proof() -> None:
    for n in (1, 2, 3, 7):
        assert success_bound_of(Claim(0.2, 1 / base_at(n)), n) <= success_bound(n, 0.2)


@pytest.mark.slow(only=["2-*"])
@pytest.mark.parametrize(
    ("n", "base", "epsilon", "delta"), [(1, 2, 0.2, 0.0), (1, 2, 0.2, 1 / 50), (1, 2, 1.0, 0.1), (2, 3, 0.2, 0.02)]
)
def test_no_private_mechanism_beats_the_bound(n: int, base: int, epsilon: float, delta: float) -> None:
    # the best of all (ε, δ)-DP mechanisms on all of [T(n)]ⁿ, by a linear programme; for n = 1 the bound is attained
    best = best_success(n, base, epsilon, delta)
    bound = success_bound_of(Claim(epsilon, delta), n, base)
    assert bound < 1
    assert best <= bound + 1e-7
    if n == 1:
        assert best == pytest.approx(bound)


def best_success(n: int, base: int, epsilon: float, delta: float) -> float:
    """max over (ε, δ)-DP mechanisms of Pr[interior point of D_n].

    p[S, y] are the probabilities of outputs in [T(n)]; neighbours S, S′ ask for Σ_y max(0, p[S, y] − e^ε·p[S′, y]) ≤ δ.
    """
    size = universe(n, base)
    datasets = list(product(range(size), repeat=n))
    place = {S: i * size for i, S in enumerate(datasets)}
    weights = by_hand(n, base)
    total = sum(weights.values())
    pairs = [
        (S, (*S[:i], x, *S[i + 1 :])) for S in datasets for i in range(n) for x in range(size) if x != S[i]
    ]
    many = len(datasets) * size
    gains = np.zeros(many + len(pairs) * size)
    for S, weight in weights.items():
        gains[place[S] + min(S) : place[S] + max(S) + 1] = -weight / total
    rows, columns, entries, limits = [], [], [], []
    for k, (S, other) in enumerate(pairs):
        for y in range(size):
            row, excess = len(limits), many + k * size + y
            rows += [row, row, row]
            columns += [place[S] + y, place[other] + y, excess]
            entries += [1.0, -math.exp(epsilon), -1.0]
            limits.append(0.0)
        rows += [len(limits)] * size
        columns += [many + k * size + y for y in range(size)]
        entries += [1.0] * size
        limits.append(delta)
    inequalities = coo_matrix((entries, (rows, columns)), shape=(len(limits), len(gains)))
    whole = coo_matrix(
        (np.ones(many), (np.repeat(np.arange(len(datasets)), size), np.arange(many))),
        shape=(len(datasets), len(gains)),
    )
    found = linprog(gains, A_ub=inequalities, b_ub=limits, A_eq=whole, b_eq=np.ones(len(datasets)), bounds=(0, 1))
    assert found.success, found.message
    return -float(found.fun)


def test_larger_delta_wins() -> None:
    # a record at random is (0, 1/n)-DP and always an interior point: the lemma needs δ(n) well below 1/n
    for n, base in ((1, 2), (2, 3)):
        subject = RandomRecord(n)
        assert success(subject, n, base) == pytest.approx(1.0)
        assert success_bound_of(subject.claim, n, base) >= 1


@pytest.mark.slow
def test_baselines_exceed_the_printed_bound() -> None:
    # exactly at n = 1; by hand at n = 2: the noisy median of two records is the smaller plus noise, an interior point
    # where the noise is at least 0 and no more than their distance
    for subject in (Median(), Minimum(), Maximum()):
        assert chance(Trial(HardDatabase(1), subject, InteriorPoint())) == 1.0 > success_bound(1, 0.2)
    assert chance(Trial(HardDatabase(1), NoisyMedian(), InteriorPoint())) == pytest.approx(math.tanh(0.5))
    counts = sample(Trial(HardDatabase(2), NoisyMedian(), InteriorPoint()), (), 4_000, seed=6).counts
    # five standard deviations of 0.0071 above the bound 0.6054: false alarms below 3e-7
    assert counts[True] / 4_000 > success_bound(2, 0.2) + 5 * 0.0071


# --- the steps of the induction, exactly ------------------------------------------------------------------------------


SUBJECTS = [
    ("depth, ε = 0.2", lambda n, base: by_depth(n, base, 0.2)),
    ("depth, ε = 3", lambda n, base: by_depth(n, base, 3.0)),
    ("a record at random", lambda n, base: RandomRecord(n)),
    ("noisy median", lambda n, base: NoisyMedian(1.0, 0.0, 0.3)),
    ("minimum", lambda n, base: Minimum()),
]


@pytest.mark.slow(only=["depth, * = 3-3", "noisy median-3"])
@pytest.mark.parametrize("base", [2, 3])
@pytest.mark.parametrize("make", [make for _, make in SUBJECTS], ids=[name for name, _ in SUBJECTS])
def test_reduction_loses_no_more_than_the_digit(make: Any, base: int) -> None:
    # of any mechanism, private or not: x ≥ min S wherever y is an interior point, and x > max S only where y has y_0's
    # digit w + 1
    subject = make(2, base)
    inner = subject if subject.claim is not None else _Nominal(subject)
    won = success(HardReduction(inner, 1, base), 1, base)
    p = chance(DigitGuessing(subject, 2, base), WITH)
    assert won >= success(subject, 2, base) - p - 1e-12


@dataclass(frozen=True)
class _Nominal(Mechanism):
    """A mechanism with a claim, so that the reduction takes it."""

    inner: Mechanism

    @property
    def claim(self) -> Claim:
        return Claim(1.0, 0.5)

    def run(self, S: Any) -> Any:
        return self.inner.run(S)


@pytest.mark.slow(only=["3"])
@pytest.mark.parametrize("base", [2, 3])
def test_digit_is_a_guess_without_the_secret(base: int) -> None:
    for subject in (by_depth(2, base, 0.2), by_depth(2, base, 3.0), RandomRecord(2), Median(), Maximum()):
        assert chance(DigitGuessing(subject, 2, base), WITHOUT) == pytest.approx(1 / base)
    # an output outside [T(2)] has no digit
    assert chance(DigitGuessing(NoisyMedian(1.0, 0.0, 0.3), 2, base), WITHOUT) < 1 / base


@pytest.mark.slow(only=["0.2-4"])
@pytest.mark.parametrize("base", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_private_ones_keep_the_inequality_of_the_game(base: int, epsilon: float) -> None:
    p = chance(DigitGuessing(by_depth(2, base, epsilon), 2, base), WITH)
    assert p <= math.exp(epsilon) / base
    # a record at random attains (0, 1/2) but for the chance that the other record has the digit too
    q = 1 / base
    assert chance(DigitGuessing(RandomRecord(2), 2, base), WITH) == pytest.approx(q + (1 - q) / 2)


def test_game_of_one_record() -> None:
    # Pr[M(x) = x] against Pr[M(1 − x) = x], by hand: e^{ε/2} to 1 for the exponential mechanism of one record
    subject = by_depth(1, None, 0.2)
    p, q = (chance(DigitGuessing(subject, 1), side) for side in Game.sides)
    assert math.log(p / q) == pytest.approx(0.1)
    assert [chance(DigitGuessing(Median(), 1), side) for side in Game.sides] == [1.0, 0.0]


def test_digit_after_the_last_shared_one_exists() -> None:
    # w = max S ≤ T(n) − 1, so that digit w + 1 is one of the T(n)
    for n, base in ((1, 2), (2, 2), (2, 3)):
        length = numerals(n + 1, base).length
        assert max(max(instance.dataset) for instance in law(HardDatabase(n, base), ()).values) + 1 == length


# --- M(S) -------------------------------------------------------------------------------------------------------------


def test_reduction_by_hand() -> None:
    # Minimum on S = (1), base 2: y_0 and y_1 have two digits and share the first; their minimum is y_0 with
    # probability 3/4 (equal or smaller), then the length is 2, and otherwise 1
    found = law(HardReduction(_Nominal(Minimum()), 1, 2), (1,)).as_dict()
    assert found == pytest.approx({2: 0.75, 1: 0.25})


def test_reduction_refuses() -> None:
    with pytest.raises(ParameterError, match="claim"):
        HardReduction(Median(), 1, 2)
    reduction = HardReduction(by_depth(3, 2, 1.0), 2, 2)
    for bad in ((0,), (0, 4), (0, -1), (0, True)):
        with pytest.raises(DatasetError):
            sample(reduction, bad, 1)


def test_an_output_outside_agrees_on_nothing() -> None:
    assert set(law(HardReduction(_Nominal(_Outside()), 1, 3), (1,)).as_dict()) == {0}


@dataclass(frozen=True)
class _Outside(Mechanism):
    def run(self, S: Any) -> int:
        return -1


# --- Theorem 7.7 ------------------------------------------------------------------------------------------------------


def test_printed_bound_on_t_n_is_false_for_two_to_four() -> None:
    # T(n) ≤ tower^(n−1)(2 + n·loglog(50n²)); compared after n − 1 logarithms of both sides, or as many as leave numbers
    def argument(n: int) -> float:
        return 2 + n * math.log2(math.log2(50 * n * n))

    assert universe(1) <= argument(1)
    assert universe(2) > 2 ** argument(2)  # 40,000 > 234
    bits_of_t3 = 40_000 * math.log2(450)
    assert bits_of_t3 > 2 ** argument(3)  # T(3) = 2^352,549 > 2^2,739
    # log₂log₂ T(4) = log₂ T(3) + log₂log₂ 800, against 2^argument after two logarithms of tower^(3)
    after_two = bits_of_t3 + math.log2(math.log2(800))
    assert after_two > 2 ** argument(4)
    # from n = 5 on it holds: after four logarithms it is log₂log₂log₂ T(4) against the argument
    assert math.log2(after_two) < argument(5)


def test_corrected_bound_on_t_n() -> None:
    # T(n) ≤ tower^(n)(1 + n·loglog(50n²)): after n − 1 logarithms of both sides 2^argument is left on the right
    def argument(n: int) -> float:
        return 1 + n * math.log2(math.log2(50 * n * n))

    after_two = 40_000 * math.log2(450) + math.log2(math.log2(800))
    left = {1: 2.0, 2: math.log2(40_000), 3: math.log2(40_000 * math.log2(450)), 4: math.log2(after_two)}
    for n, value in left.items():
        assert value <= 2 ** argument(n)
