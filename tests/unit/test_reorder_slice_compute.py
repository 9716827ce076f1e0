"""ReorderSliceCompute: its explicit bound against exact, and the two things that Lemma 20 gets wrong."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import combinations_with_replacement

import pytest

from dpaudit.interpret import Law, law, sample
from dpaudit.interpret.enclosures import probabilities
from dpaudit.language import ADD_REMOVE_ONE, Claim, CutGeometric, DatasetError, Multiset, ParameterError
from dpaudit_algorithms.half_spaces.reorder_slice_compute import ReorderSliceCompute
from dpaudit_algorithms.half_spaces.reorder_slice_compute_theory import least_delta, slice_composition, unsynchronised
from dpaudit_algorithms.half_spaces.slice_algorithms import Alarm, Balance
from dpaudit_algorithms.half_spaces.sorters import (
    ByParity,
    Farthest,
    FarthestFromMedian,
    Largest,
    Listed,
    Smallest,
    Sorter,
    estranged,
)
from dpaudit_audits.half_spaces.reorder_slice_compute import ONCE, PARITIES, TWICE, alarming


def delta_needed(one: Law, other: Law, epsilon: float) -> float:
    """δ at ε of the first law over the second."""
    p, q = one.as_dict(), other.as_dict()
    return math.fsum(max(0.0, mass - math.exp(epsilon) * q.get(output, 0.0)) for output, mass in p.items())


FIXED: tuple[Sorter, ...] = (Smallest(), Largest(), Farthest(1.5), Listed((2, 0, 3, 1)))


# --- the bound -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 1.0])
def test_rho_in_closed_form_is_the_sum_and_keeps_the_proofs_inequality(epsilon: float, share: float) -> None:
    c = math.exp(2 * epsilon)
    factor = c + share  # λ between e^{2ε} and e^{2ε} + 1
    beta, total, j = 1.0, 0.0, 0
    while beta > 0:
        total += -math.expm1(-epsilon) * math.exp(-epsilon * j) * beta
        following = max(0.0, 1 - factor + c * beta)
        assert c * beta + (1 - following) <= factor * (1 + 1e-12)
        beta, j = following, j + 1
    assert unsynchronised(epsilon, factor) == pytest.approx(total, rel=1e-9)


def test_rho_at_its_ends() -> None:
    assert unsynchronised(0.5, math.exp(1.0)) == 1.0
    assert unsynchronised(0.5, math.exp(1.0) + 1) == pytest.approx(-math.expm1(-0.5))


def test_the_bound_does_not_grow_with_tau() -> None:
    many, more = (slice_composition(0.1, 1e-6, tau, 1e-3) for tau in (100, 10_000))
    assert more.epsilon == many.epsilon < 2 * 100 * 0.1
    assert more.delta == pytest.approx(many.delta)
    # 2.234·ε·ln(1/δ′) for small ε, but for whole h
    assert 2.0 < slice_composition(1e-3, 0.0, 10**5, 1e-9).epsilon / (1e-3 * math.log(1e9)) < 2.234


@pytest.mark.slow(fast=["?-sorters0", "2-sorters1"])
@pytest.mark.parametrize("sorters", [FIXED[:1], FIXED[:2], (FIXED[0], FIXED[0]), FIXED[2:]])
@pytest.mark.parametrize("m", [1, 2])
def test_the_bound_holds_on_every_pair_of_a_scope(sorters: tuple[Sorter, ...], m: int) -> None:
    for inner, delta in ((Balance(0.7, 1), 0.0), (Balance(0.7, 1, 0.05), 0.05)):
        mechanism = ReorderSliceCompute(0.7, delta, len(sorters), m, sorters, inner, 0.0)
        laws = {
            (S := Multiset.of(chosen)): law(mechanism, S)
            for size in (2, 3)
            for chosen in combinations_with_replacement(range(3), size)
        }
        claims = [replace(mechanism, delta_prime=delta_prime).claim for delta_prime in (0.0, 0.3)]
        for S in laws:
            for x in range(3) if len(S) == 2 else ():
                P, Q = laws[S], laws[S.changed(add=(x,))]
                for claim in claims:
                    assert delta_needed(P, Q, claim.epsilon) <= claim.delta + 1e-12
                    assert delta_needed(Q, P, claim.epsilon) <= claim.delta + 1e-12


def test_the_smaller_dataset_never_needs_more_than_two_epsilon() -> None:
    # S against S + x: (2ε, δ), whatever τ; the other way round it is more
    mechanism = ReorderSliceCompute(1.0, 0.0, 3, 1, (Smallest(),) * 3, Balance(1.0, 3))
    P, Q = law(mechanism, (1, 2)), law(mechanism, (0, 1, 2))
    assert delta_needed(P, Q, 2.0) == 0
    assert delta_needed(Q, P, 2.5) > 0


def test_equal_slices_spend_nothing() -> None:
    mechanism = ReorderSliceCompute(1.0, 0.0, 1, 1, (Smallest(),), Balance(1.0, 2))
    P, Q = law(mechanism, (0, 0, 0, 0)), law(mechanism, (0, 0, 0, 0, 7))
    # only runs that take all five see the 7: m̃ ≥ 5
    assert delta_needed(P, Q, 0.0) < math.exp(-4)


# --- Lemma 20 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 0.8, 1.0])
def test_its_delta_by_hand_and_exactly(epsilon: float) -> None:
    delta, p = 0.01, -math.expm1(-epsilon)
    mechanism = alarming(ONCE, epsilon, delta)
    S = ONCE[1]
    assert law(mechanism, S).probability(any) == 0
    said = law(mechanism, S.changed(add=(0,))).probability(any)
    # m̃ = 1 with probability p: two steps away, δ(1 + e^ε); else one step, δ
    assert said == pytest.approx(p * delta * (1 + math.exp(epsilon)) + (1 - p) * delta)
    assert said == pytest.approx(delta * math.exp(epsilon)) == pytest.approx(least_delta(epsilon, delta, 1))
    assert (said > mechanism.lemma_20(1.0).delta) == (epsilon > math.log(2))


def test_its_delta_for_two_iterations() -> None:
    mechanism = alarming(TWICE, 1.0, 0.01)
    assert law(mechanism, TWICE[1]).probability(any) == 0
    said = law(mechanism, TWICE[1].changed(add=(0,))).probability(any)
    # a little below the sum of both iterations, as both may say True
    assert 0.04 + 1e-4 < said < least_delta(1.0, 0.01, 2)
    assert said > mechanism.lemma_20(1000.0).delta


def test_its_delta_sampled() -> None:
    mechanism = alarming(ONCE, 1.0, 0.01)
    seen = sample(mechanism, ONCE[1].changed(add=(0,)), 200_000, seed=3).counts[(True,)]
    # by hand 0.01·e; five standard deviations, false alarms 6e-7; Lemma 20 allows 0.0201
    assert abs(seen / 2e5 - 0.01 * math.e) < 5 * math.sqrt(0.0272 / 2e5)
    assert mechanism.lemma_20(10.0).delta < 0.0202


def test_its_delta_sampled_for_two_iterations() -> None:
    counts = sample(alarming(TWICE, 1.0, 0.01), TWICE[1].changed(add=(0,)), 200_000, seed=3).counts
    seen = sum(count for output, count in counts.items() if any(output))
    # exactly 0.0437267; five standard deviations, false alarms 6e-7; Lemma 20 allows 0.0401
    assert abs(seen / 2e5 - 0.0437267) < 5 * math.sqrt(0.0437 / 2e5)
    assert seen / 2e5 > 0.0401


def test_where_its_delta_is_too_little() -> None:
    def short(epsilon: float, tau: int) -> bool:
        return least_delta(epsilon, 1.0, tau) > 2 * tau

    for tau, root in ((1, math.log(2)), (2, math.log(2.5))):
        assert short(root + 1e-9, tau)
        assert not short(root - 1e-9, tau)
    assert not any(short(1.0, tau) for tau in range(3, 50))


def test_it_needs_a_condition_on_sorters() -> None:
    m = len(PARITIES) // 2
    mechanism = ReorderSliceCompute(0.5, 0.0, 1, m, (ByParity(),), Balance(0.5, m), unchecked=True)
    P, Q = law(mechanism, PARITIES), law(mechanism, PARITIES.changed(add=(1,)))
    printed = mechanism.lemma_20(4.0)
    assert delta_needed(P, Q, printed.epsilon) > 0.8 > printed.delta


# --- sorters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sorter", FIXED)
def test_fixed_orders_keep_neighbours(sorter: Sorter) -> None:
    assert estranged(sorter, (0, 1, 2, 3), 5) is None
    assert pickle.loads(pickle.dumps(sorter)) == sorter
    assert hash(sorter) == hash(pickle.loads(pickle.dumps(sorter)))
    assert " at 0x" not in repr(sorter)


@pytest.mark.parametrize("sorter", [ByParity(), FarthestFromMedian()])
def test_others_are_refused_with_the_two_datasets(sorter: Sorter) -> None:
    found = estranged(sorter, (0, 1, 2, 3), 4)
    assert found is not None
    with pytest.raises(ParameterError, match="does not map neighbours to neighbours") as refusal:
        ReorderSliceCompute(1.0, 0.0, 1, 1, (sorter,), Balance(1.0, 2), values=(0, 1, 2, 3))
    assert all(repr(dataset) in str(refusal.value) for dataset in found)
    with pytest.raises(ParameterError, match="values"):
        ReorderSliceCompute(1.0, 0.0, 1, 1, (sorter,), Balance(1.0, 2))
    assert ReorderSliceCompute(1.0, 0.0, 1, 1, (sorter,), Balance(1.0, 2), unchecked=True).tau == 1


def test_orders() -> None:
    S = Multiset.of((0, 1, 1, 3))
    assert Largest()(S) == (3, 1, 1, 0)
    assert Smallest()(S) == (0, 1, 1, 3)
    assert Farthest(1.0)(S) == (3, 0, 1, 1)
    assert Listed((1, 3, 0))(S) == (1, 1, 3, 0)
    with pytest.raises(DatasetError):
        Listed((1,))(S)


# --- the rest --------------------------------------------------------------------------------------------------------


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="needs 2 sorters"):
        ReorderSliceCompute(1.0, 0.0, 2, 1, (Smallest(),), Balance(1.0, 2))
    with pytest.raises(ParameterError, match="must be"):
        ReorderSliceCompute(0.5, 0.0, 1, 1, (Smallest(),), Balance(1.0, 2))
    with pytest.raises(ParameterError, match="delta_prime"):
        ReorderSliceCompute(1.0, 0.0, 1, 1, (Smallest(),), Balance(1.0, 2), 0.0).lemma_20(1.0)
    with pytest.raises(ParameterError, match="most 1/2"):
        Alarm(1.0, (Multiset.of(()),), start=0.3)


def test_slices_by_hand() -> None:
    # the inner answer is exact: the clipped noise of a large ε is gone, so r tells the slice
    mechanism = ReorderSliceCompute(40.0, 0.0, 2, 2, (Smallest(), Largest()), Balance(40.0, 9))
    assert mechanism.claim == Claim(160.0, 0.0, ADD_REMOVE_ONE)
    found = law(mechanism, (1, 3, 5, 0, 2)).as_dict()
    # {0, 1} balances, then {5, 3}
    assert found[(0, -2)] == pytest.approx(1.0)


def test_inner_algorithms_keep_their_claims() -> None:
    silent = (Multiset.of((1,)), Multiset.of((0, 2)))
    for inner in (Balance(0.6, 2), Balance(0.6, 1, 0.1), Alarm(0.6, silent, 0.02, 0.05, 3)):
        for chosen in combinations_with_replacement(range(3), 2):
            for x in range(3):
                P, Q = law(inner, chosen), law(inner, (*chosen, x))
                for one, other in ((P, Q), (Q, P)):
                    assert delta_needed(one, other, inner.claim.epsilon) <= inner.claim.delta + 1e-12


def test_geometric_numbers() -> None:
    draw = CutGeometric(0.3, 5)
    q = math.exp(-0.3)
    assert draw.probs.tolist() == pytest.approx([(1 - q) * q**k for k in range(5)] + [q**5])
    assert CutGeometric(0.3, 0).probs.tolist() == [1.0]
    assert [float(p.mid()) for p in probabilities(draw)] == pytest.approx(draw.probs.tolist(), rel=1e-14)
    with pytest.raises(ParameterError):
        CutGeometric(0.0, 3)
