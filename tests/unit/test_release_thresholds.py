"""ReleaseThresholds: the quality, the budget, the synthetic data, and the steps of its proof against an adversary."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law, ledger, sample
from dpaudit.language import (
    REPLACE_ONE,
    Applied,
    Claim,
    DatasetError,
    DiscreteLaplace,
    Instance,
    Laplace,
    Mechanism,
    Multiset,
    ParameterError,
    advanced_composition,
)
from dpaudit_algorithms.half_spaces.release_thresholds import PieceEnd, ReleaseThresholds, equal_parts, synthetic
from dpaudit_algorithms.half_spaces.release_thresholds_theory import CloseData, between, distance, up_to
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.lower_bounds.query_release_theory import share
from dpaudit_algorithms.pac.concepts import Thresholds


def played(mechanism: Mechanism, dataset: Any, answer: Callable[[Any], Any]) -> Any:
    """The output where every draw is what `answer` says."""
    program = mechanism.run(dataset)
    drawn = next(program)  # type: ignore[call-overload]
    while True:
        try:
            drawn = program.send(answer(drawn))  # type: ignore[union-attr]
        except StopIteration as stop:
            return stop.value


# --- the quality ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1, 3])
@pytest.mark.parametrize("tau", [0.5, 1.0, 2.5])
def test_quality_is_what_it_says_sensitive_quasi_concave_and_keeps_its_promise(start: int, tau: float) -> None:
    size = 5
    Q = PieceEnd(size, start, tau)
    guaranteed = 0
    for records in combinations_with_replacement(range(size), 4):
        S = Multiset.of(records)
        scores = Q(S)
        values = [scores.of(j) for j in range(size - start)]
        for j, value in enumerate(values):
            b = start + j
            inside = sum(start <= x <= b for x in records)
            before = sum(start <= x < b for x in records)
            assert value == min(inside - tau / 2, 1.5 * tau - before)
        for i in range(len(values)):
            for k in range(i, len(values)):
                assert all(values[j] >= min(values[i], values[k]) for j in range(i, k))  # type: ignore[type-var]
        if sum(x >= start for x in records) >= tau:
            guaranteed += 1
            assert max(values) >= tau / 2  # type: ignore[type-var]
        for other in REPLACE_ONE.neighbours(S, range(size)):
            assert all(abs(Q(other).of(j) - value) <= 1 for j, value in enumerate(values))  # type: ignore[operator]
    assert guaranteed > 10


def test_quality_in_pieces_is_the_same() -> None:
    S = Multiset.counted({3: 4, 4: 1, 70_000: 6, 99_999: 2})
    large, small = PieceEnd(100_000, 4, 3.0)(S), PieceEnd(2_000, 4, 3.0)(Multiset.counted({3: 4, 4: 1}))
    assert [large.of(j) for j in (0, 1, 500)] == [small.of(j) for j in (0, 1, 500)]
    for x in (69_999, 70_000, 70_001, 99_998, 99_999):
        inside, before = between(S, 4, x), between(S, 4, x - 1)
        assert large.of(x - 4) == min(inside - 1.5, 4.5 - before)


# --- the budget -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 6, 48, 192, 3_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_equal_parts_compose_to_the_claim_and_to_no_less(k: int, epsilon: float) -> None:
    whole = Claim(epsilon, 1e-6)
    part = equal_parts(whole, k)
    more = Claim(part.epsilon * 1.001, part.delta)
    by_five = part.scaled(k)
    if by_five.implies(whole):
        assert not more.scaled(k).implies(whole)
    else:
        assert advanced_composition(part, k, whole.delta / 2).implies(whole)
        assert not advanced_composition(more, k, whole.delta / 2).implies(whole)
    assert part.epsilon >= epsilon / k


def test_theorem_3_6_takes_over_where_it_is_better() -> None:
    assert equal_parts(Claim(1.0, 1e-6), 6) == Claim(1 / 6, 1e-6 / 6)
    assert equal_parts(Claim(1.0, 1e-6), 192).epsilon > 2 / 192


@pytest.mark.parametrize("a_dist", ["corrected", "printed"])
def test_budget_of_every_draw(a_dist: str) -> None:
    mechanism = ReleaseThresholds(5, 1.0, 1.0, 0.01, base=2, room=2, a_dist=a_dist)
    entry = ledger(mechanism, Multiset.counted({0: 3, 2: 3, 4: 2}), runs=200, seed=3)
    assert entry.complete
    assert 3 <= len(entry.parts) <= 3 * mechanism.most_steps
    for part in entry.parts:
        assert part.claim is not None
        assert part.claim.implies(mechanism.part)
    assert entry.balanced
    kind = RecConcave if a_dist == "printed" else RecConcaveCorrected
    assert type(mechanism.end_finder(0, 8)) is kind


def test_steps() -> None:
    assert ReleaseThresholds().most_steps == 64
    assert ReleaseThresholds(alpha=Fraction(3, 10)).most_steps == 54
    assert ReleaseThresholds(40).most_steps == 40
    assert ReleaseThresholds(40, steps=2).most_steps == 2
    assert ReleaseThresholds(40, steps=2).utility(10**9) == ()  # they may run out
    assert ReleaseThresholds(40, steps=2).sample_sizes == ()


# --- synthetic data -------------------------------------------------------------------------------------------------


def test_distance_is_that_of_definition_6_20() -> None:
    rng = random.Random(2)
    for _ in range(200):
        S, T = (Multiset.of(rng.choices(range(6), k=rng.randint(1, 7))) for _ in range(2))
        expected = max(abs(share(Thresholds(6), j, S) - share(Thresholds(6), j, T)) for j in range(6))
        assert distance(S, T) == expected
        goal = CloseData(expected) if expected else CloseData(Fraction(1, 10**9))
        assert goal.reached(Instance(S), T)
        assert expected == 0 or not CloseData(expected - Fraction(1, 10**9)).reached(Instance(S), T)


def test_synthetic_data_follow_the_running_maximum() -> None:
    rng = random.Random(3)
    for _ in range(300):
        n, size = rng.randint(1, 9), 8
        ends = sorted(rng.sample(range(size), rng.randint(0, 5)))
        sums = [(x, rng.randint(-3, n + 3)) for x in ends]
        data = synthetic(sums, n, size)
        assert len(data) == n
        for i, (x, _) in enumerate(sums):
            best = max(min(max(total, 0), n) for _, total in sums[: i + 1])
            assert up_to(data, x) == (n if x == size - 1 else best)
        assert set(data.values) <= {*ends, size - 1}


def test_synthetic_data_are_no_worse_than_their_sums() -> None:
    # moving into [0, n] and a running maximum bring sums no further from those of a database
    rng = random.Random(4)
    for _ in range(300):
        S = Multiset.of(rng.choices(range(8), k=9))
        ends = sorted(rng.sample(range(7), 4))
        noise = [rng.randint(-4, 4) for _ in ends]
        data = synthetic([(x, up_to(S, x) + z) for x, z in zip(ends, noise, strict=True)], 9, 8)
        worst = max(map(abs, noise))
        assert all(abs(up_to(data, x) - up_to(S, x)) <= worst for x in ends)


# --- the proof, against an adversary --------------------------------------------------------------------------------


class Adversary:
    """Any end that half of the promise allows, and noises whose sums stay within τ; it takes extremes half the time."""

    def __init__(self, mechanism: ReleaseThresholds, S: Multiset, rng: random.Random) -> None:
        self.tau, self.rng, self.total = mechanism.tau(len(S)), rng, 0
        self.kept: list[bool] = []

    def __call__(self, drawn: Any) -> int:
        if isinstance(drawn, Applied):
            Q: Any = drawn.mechanism.quality  # type: ignore[attr-defined]
            scores = Q(drawn.dataset)
            self.kept.append(between(drawn.dataset, Q.start, Q.size - 1) >= self.tau)
            good = [j for j in range(scores.size) if scores.of(j) >= self.tau / 4]
            return self.rng.choice([good[0], good[-1], self.rng.choice(good)])
        assert isinstance(drawn, DiscreteLaplace)
        room = math.floor(self.tau)
        total = self.rng.choice([-room, room, self.rng.randint(-room, room)])
        noise, self.total = total - self.total, total
        return drawn.loc + noise


def test_the_promise_holds_whenever_it_goes_on_and_the_data_are_half_alpha_close() -> None:
    rng = random.Random(5)
    worst = Fraction(0)
    for _ in range(400):
        alpha = rng.choice([1.0, 0.5, 0.25])
        n, size = rng.choice([160, 400]), rng.choice([6, 12, 200])
        mechanism = ReleaseThresholds(size, alpha)
        weights = [rng.choice([0, 1, 1, 30]) + 1e-9 for _ in range(size)]
        S = Multiset.of(rng.choices(range(size), weights, k=n))
        adversary = Adversary(mechanism, S, rng)
        data = played(mechanism, S, adversary)
        assert all(adversary.kept)
        off = distance(S, data)
        assert off <= Fraction(str(alpha)) / 2
        worst = max(worst, off / Fraction(str(alpha)))
    assert worst > Fraction(1, 4)  # the adversary comes near


def test_a_stop_at_tau_would_not_keep_the_promise() -> None:
    # τ = 10: one record fewer than τ is left, and noise of 1 hides it; then no b has Q ≥ τ/2
    S, tau = Multiset.counted({0: 71, 5: 9}), 10.0
    left_by_count = 80 - 71 + 2
    assert left_by_count > tau
    scores = PieceEnd(8, 1, tau)(S)
    assert max(scores.of(j) for j in range(7)) < tau / 2  # type: ignore[type-var, operator]


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_two_sided_geometric_noise_has_no_greater_moments_than_laplace(scale: float) -> None:
    # beyond them e^(−0.05·1000) is left
    z = np.arange(-math.ceil(1_000 * scale), math.ceil(1_000 * scale) + 1)
    logs = -np.abs(z) / scale + math.log(math.tanh(1 / (2 * scale)))
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-9)
    for part in (0.1, 0.5, 0.7, 0.95):
        moment = float(np.exp(logs + part / scale * z).sum())
        assert moment <= 1 / (1 - part**2) * (1 + 1e-9)
        exact = 1 / (1 - math.sinh(part / scale / 2) ** 2 / math.sinh(1 / (2 * scale)) ** 2)
        assert moment == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("K", [1, 4, 30])
@pytest.mark.parametrize("L", [1.5, 2.5, 4.0])
def test_sums_of_noise_stay_within_the_bound(K: int, L: float) -> None:
    rng, runs = np.random.default_rng(6), 20_000
    noise = Laplace(0.0, 1.0).draw(rng, runs * K).reshape(runs, K)
    beyond = int((np.abs(noise.cumsum(axis=1)).max(axis=1) > math.sqrt(8) * max(math.sqrt(K * L), L)).sum())
    # the bound holds with room: at L = 1.5 it is 0.89, at 4 it is 0.073, and the truth is a tenth of that at most;
    # above the bound with probability below 1e-9
    assert beyond / runs <= 4 * math.exp(-L)


def test_sample_sizes_are_the_least_and_grow_as_told() -> None:
    for mechanism in (ReleaseThresholds(32), ReleaseThresholds(), ReleaseThresholds(8, 0.5, 0.3)):
        (size,) = mechanism.sample_sizes
        assert mechanism.failure(size.records) <= 0.05 < mechanism.failure(size.records - 1)
        assert mechanism.utility(size.records)[0].probability >= 0.95 - 1e-12
    # Theorem 6.23 allows α^−2.5; this is α^−1.5 but for logarithms where RecConcave asks for more than the noise does
    coarse, fine = (ReleaseThresholds(2**20, alpha).least_records(0.05) for alpha in (1 / 16, 1 / 256))
    assert 1.4 < math.log(fine / coarse, 16) < 2.0


def test_release_sampled_at_its_sample_size() -> None:
    mechanism = ReleaseThresholds(16, 0.5)
    n = mechanism.least_records(0.05)
    S = Multiset.counted({x: n // 16 + (x < n % 16) for x in range(16)})
    outputs = sample(mechanism, S, 60, seed=7)
    # the promise is 0.95: 10 failures of 60 have probability below 1e-3 at that; the truth is far less
    failures = sum(times for data, times in outputs.counts.items() if distance(S, data) > Fraction(1, 4))  # type: ignore[arg-type]
    assert failures < 10


# --- privacy --------------------------------------------------------------------------------------------------------


def test_law_of_one_step_by_hand() -> None:
    # |X| = 2, one step, counts in {0, …, n}: b by the exponential mechanism, then one or two noisy counts
    mechanism = ReleaseThresholds(2, 1.0, 3.0, 0.03, steps=1, room=0)
    S, n = Multiset.counted({0: 2, 1: 1}), 3
    scores = [mechanism.end_finder(0, n).quality(S).of(j) for j in (0, 1)]
    weights = [math.exp(mechanism.end_finder(0, n).epsilon / 2 * s) for s in scores]  # type: ignore[operator]
    first = weights[0] / sum(weights)
    expected: dict[Multiset, float] = {}
    # either way the one count that shows is that of 0: as [0, 0] or as [0, b − 1]; that of 1 is n less it
    for count in range(n + 1):
        p = dict(zip(range(n + 1), DiscreteLaplace(2, mechanism.scale).clip(0, n).probs.tolist(), strict=True))[count]
        data = Multiset.counted({0: count, 1: n - count})
        expected[data] = expected.get(data, 0.0) + p * (first + (1 - first))
    assert law(mechanism, S).as_dict() == pytest.approx(expected)


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_claim_holds_exactly(steps: int, epsilon: float) -> None:
    mechanism = ReleaseThresholds(3, 1.0, epsilon, 1e-6, base=1, steps=steps, room=1)
    for left, right in (({0: 4}, {0: 3, 2: 1}), ({0: 2, 1: 2}, {0: 2, 1: 1, 2: 1})):
        found = exact_epsilon(mechanism, Multiset.counted(left), Multiset.counted(right), 1e-6)
        assert 0 < found <= epsilon


def test_bad_input() -> None:
    for wrong, name in (
        ({"size": 1}, "size"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1.5}, "alpha"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"steps": 0}, "steps"),
        ({"room": -1}, "room"),
        ({"N": 9}, "N"),
        ({"a_dist": "other"}, "a_dist"),
    ):
        with pytest.raises(ParameterError, match=name):
            ReleaseThresholds(**wrong)  # type: ignore[arg-type]
    for bad in ((), (0, 8), (True,), ("0",)):
        with pytest.raises(DatasetError, match="0, …, 7"):
            law(ReleaseThresholds(8, steps=1, room=0), bad)
    assert not CloseData(0.5).reached(Instance((1,)), ())
