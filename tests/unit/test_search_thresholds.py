"""The threshold learner of thesis §6.3: its qualities by brute force, its utility, and A_dist's violation in it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.interpret import align, law
from dpaudit.language import Instance, Multiset
from dpaudit.stats.hockey_stick import epsilon_at_symmetric
from dpaudit_algorithms.pac.concepts import Thresholds
from dpaudit_algorithms.pac.search_thresholds import (
    BothLabels,
    FewConcepts,
    SearchThresholds,
    SearchThresholdsCorrected,
    most_of_both,
)
from dpaudit_audits.pac.search_thresholds import diverse, two_families

examples = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 1)), min_size=1, max_size=12).map(Multiset.of)


def both(S: Multiset, start: int, stop: int) -> int:
    inside = [y for x, y in S if start <= x < stop]
    return min(sum(inside), len(inside) - sum(inside))


@given(examples, st.integers(1, 14))
def test_most_of_both_is_the_best_interval(S: Multiset, length: int) -> None:
    best = max(both(S, a, a + length) for a in range(max(1, 12 - length + 1)))
    assert most_of_both(S, 12, length) == best


@given(examples, st.integers(1, 5), st.integers(0, 4))
def test_qualities_of_intervals(S: Multiset, length: int, shift: int) -> None:
    quality = BothLabels(12, length, shift)
    scores = quality(S)
    assert scores.size == quality.n_solutions == len(range(shift, 12, length))
    for i in range(scores.size):
        start = shift + i * length
        assert scores.of(i) == both(S, start, min(12, start + length))


@given(examples, st.data())
def test_qualities_are_one_sensitive(S: Multiset, data: st.DataObject) -> None:
    old = data.draw(st.sampled_from(list(S)))
    new = data.draw(st.tuples(st.integers(0, 11), st.integers(0, 1)))
    other = S.changed(remove=(old,), add=(new,))
    for length in (1, 2, 4, 8):
        assert abs(most_of_both(S, 12, length) - most_of_both(other, 12, length)) <= 1
        left, right = (BothLabels(12, length, 0)(T) for T in (S, other))
        assert all(abs(left.of(i) - right.of(i)) <= 1 for i in range(left.size))  # type: ignore[operator]


def test_few_concepts_count_right_labels() -> None:
    S = Multiset.of(((1, 1), (2, 1), (2, 0), (5, 0)))
    scores = FewConcepts(8, (1, 2, 6))(S)
    assert [scores.of(j) for j in (1, 2, 6)] == [3, 3, 2]


@pytest.mark.parametrize("size", [4, 5, 16])
def test_utility_for_every_switch(size: int) -> None:
    learner = SearchThresholdsCorrected(size, 0.25, 2.0, 1e-3)
    n = learner.sample_size(0.1)
    (claim,) = learner.utility(n)
    assert claim.probability >= 0.9
    for target in range(size - 1):
        for x, z in ((0, size - 1), (target, target + 1)):
            S = Multiset.counted({(x, 1): n // 2, (z, 0): n - n // 2})
            p = law(learner, S).probability(lambda k, S=S: claim.goal.reached(Instance(S), k))
            assert p >= claim.probability, (target, x, z)


def test_samples_of_the_audit_are_diverse() -> None:
    for size, alpha, n in ((2**16, 0.1, 3783), (1000, 0.2, 308)):
        for label, S in diverse(size, alpha, n):
            assert len(S) == n
            ones = sum(count for (_, y), count in S.items if y)
            assert min(ones, n - ones) >= 0.75 * alpha * n, label
            assert any(Thresholds(size).wrong(j, S) == 0 for j in {x for x, y in S if y}), label


def test_the_refuting_pair_by_hand() -> None:
    """The probability that A_dist gives ⊥ on the A_i and answers on the B_i, and that c_10, …, c_13 is chosen."""
    pair, learner = two_families(), SearchThresholds(16, 0.01)
    p, q = align(law(learner, pair.left), law(learner, pair.right))[-2:]
    assert epsilon_at_symmetric(p, q, 1e-6) == pytest.approx(1.12343, abs=1e-5)

    n, t = len(pair.left), 4 * math.log2(2e6)

    def below(x: float, scale: float) -> float:
        return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

    chosen = []
    for S, lead_a, lead_b in ((pair.left, 86, 81), (pair.right, 84, 83)):
        # log|X| = 4: the search compares Q(4) and Q(2) with 0.005·n, each with Lap(2/(ε/4)), and finds J = 2
        found = math.prod(1 - below(0.005 * n - most_of_both(S, 16, J), 8) for J in (4, 2))
        right = {j: sum(y == (x <= j) for x, y in S) for j in (9, 10, 11, 12, 13)}
        weights = {j: math.exp((r - max(right.values())) / 8) for j, r in right.items()}
        late = sum(w for j, w in weights.items() if j >= 10) / sum(weights.values())
        chosen.append(found * below(t - lead_a, 4) * (1 - below(t - lead_b, 4)) * late)
    outputs = [law(learner, S).probability(lambda k: 10 <= k <= 13) for S in (pair.left, pair.right)]
    # after J = 4 or more they do not come out
    assert outputs == pytest.approx(chosen, rel=1e-6)
    assert math.log((chosen[1] - 1e-6) / chosen[0]) > 1.12


def test_corrected_on_the_refuting_pair() -> None:
    pair, learner = two_families(), SearchThresholdsCorrected(16, 0.01)
    p, q = align(law(learner, pair.left), law(learner, pair.right))[-2:]
    assert epsilon_at_symmetric(p, q, 1e-6) < 0.4


def test_bad_input() -> None:
    learner = SearchThresholds(8)
    for record in (3, (8, 1), (0, 2), (-1, 0)):
        with pytest.raises(DatasetError):
            law(learner, Multiset.of((record,)))
    for parameters in ({"size": 1}, {"alpha": 0.0}, {"alpha": 1.5}, {"epsilon": 0.0}, {"delta": 0.0}):
        with pytest.raises(ParameterError):
            SearchThresholds(**parameters)  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        SearchThresholds(delta=0.9).sample_size(0.05)


def test_number_of_comparisons() -> None:
    assert [SearchThresholds(size).comparisons for size in (2, 3, 4, 5, 16, 17, 2**16, 2**16 + 1)] == [
        0, 1, 1, 2, 2, 3, 4, 5
    ]
