"""The exponential mechanism: law, closest approach to ε, utility."""

from __future__ import annotations

import math

import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law
from dpaudit.language import Given, Multiplicity, Multiset, ParameterError, Scores
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism


def test_two_solutions_approach_epsilon() -> None:
    # Pr[1] = 1/(1 + e^{ε(c₀ − c₁)/2}): moving a record moves the exponent by ε
    mechanism = ExponentialMechanism(1.0, Multiplicity((0, 1)))
    for n in (4, 12, 40):
        predicted = math.log((1 + math.exp(n / 2)) / (1 + math.exp(n / 2 - 1)))
        left, right = Multiset.counted({0: n}), Multiset.counted({0: n - 1, 1: 1})
        assert exact_epsilon(mechanism, left, right, 0.0) == pytest.approx(predicted)
        assert predicted < 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("solutions", [2, 50])
def test_utility_as_printed(epsilon: float, solutions: int) -> None:
    # Proposition 3.27(ii), exactly, on scores spread over 100 points
    values = [100.0 * i / (solutions - 1) for i in range(solutions)]
    exact = law(ExponentialMechanism(epsilon, Given()), Scores(values)).as_dict()
    for off in (5.0, 20.0, 60.0):
        tail = sum(p for h, p in exact.items() if values[h] <= 100 - off)  # type: ignore[index]
        assert tail <= solutions * math.exp(-epsilon * off / 2)


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError):
        ExponentialMechanism(0.0, Given())
    with pytest.raises(ParameterError):
        law(ExponentialMechanism(1.0, Given()), Scores([]))
