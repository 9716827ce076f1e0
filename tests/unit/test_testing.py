"""The toy mechanisms of `dpaudit.testing` need exactly the ε that their docstrings state."""

from __future__ import annotations

import math

import pytest
from numpy.random import default_rng

import dpaudit
from dpaudit.interpret import align, law
from dpaudit.language import Laplace, Mechanism
from dpaudit.results.model import Verdict
from dpaudit.stats import hockey_stick
from dpaudit.testing import (
    BIT,
    LaplaceSum,
    LeakyResponse,
    RandomisedResponse,
    RoundedLaplaceSum,
    WithoutBulk,
    randomised_response,
    randomised_responses,
)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize(
    ("kind", "delta"), [(RandomisedResponse, 0.0), (LeakyResponse, 0.1), (RoundedLaplaceSum, 0.0)]
)
def test_the_true_epsilon_is_that_of_the_output_distributions(
    kind: type[Mechanism], delta: float, epsilon: float
) -> None:
    mechanism = kind(epsilon)  # type: ignore[call-arg]
    _, left, right = align(*(law(mechanism, dataset) for dataset in BIT))
    for p, q in ((left, right), (right, left)):
        assert hockey_stick.epsilon_at(p, q, delta) == pytest.approx(epsilon)
        if delta:
            assert hockey_stick.epsilon_at(p, q, delta * 0.999) == math.inf
    assert mechanism.claim is not None
    assert (mechanism.claim.epsilon, mechanism.claim.delta) == (epsilon, delta)


def test_the_true_epsilon_is_that_of_the_densities() -> None:
    found = dpaudit.audit(LaplaceSum(0.7), pair=BIT, runs=200, seed=1, progress=False)
    assert found.epsilon_exact == pytest.approx(0.7)
    assert LaplaceSum(0.7).run((1, 1)) == Laplace(2.0, 1 / 0.7)


def test_a_claim_of_its_own_is_refuted() -> None:
    told = RandomisedResponse(1.2, claimed=1.0)
    assert dpaudit.verify(told, domain=2, size=1, progress=False).verdict is Verdict.FAIL
    assert dpaudit.verify(RandomisedResponse(1.2), domain=2, size=1, progress=False).verdict is Verdict.PASS


@pytest.mark.parametrize("dataset", BIT)
def test_functions_have_the_output_distribution_of_the_mechanism(dataset: tuple[int]) -> None:
    """False alarm: 5 standard deviations, at most 6e-7 for each of the four comparisons."""
    p, runs = law(RandomisedResponse(1.0), dataset).as_dict()[1], 4_000
    rng = default_rng(5)
    one_by_one = [randomised_response(dataset, rng) for _ in range(runs)]
    for ones in (sum(one_by_one), sum(randomised_responses(dataset, rng, runs))):
        assert abs(ones - runs * p) <= 5 * math.sqrt(runs * p * (1 - p))


def test_without_bulk_the_program_and_the_claim_stay() -> None:
    assert not hasattr(WithoutBulk(LaplaceSum()), "bulk")
    assert WithoutBulk(LaplaceSum()).claim == LaplaceSum().claim
    assert WithoutBulk(LaplaceSum()).run((1,)) == LaplaceSum().run((1,))
