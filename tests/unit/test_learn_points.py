"""LearnPoints: inherited refutation, law, the learner's lemma measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, Multiset, ParameterError
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.pac.learn_points import LearnPoints, LearnPointsCorrected, PositiveExamples


def positive(records: int, moved: int) -> tuple[Multiset, Multiset]:
    return Multiset.counted({(0, 1): records}), Multiset.counted({(0, 1): records - moved, (1, 1): moved})


@pytest.mark.parametrize(("kind", "chooser"), [(LearnPoints, ADist), (LearnPointsCorrected, ADistCorrected)])
def test_law_mixes_the_random_concept(kind: Any, chooser: Any) -> None:
    S = Multiset.counted({(3, 1): 20, (2, 1): 1, (5, 0): 9})
    stops = law(chooser(1.0, 1e-6, PositiveExamples(8)), S).as_dict()[BOTTOM]
    exact = law(kind(1.0, 1e-6, 8), S).as_dict()
    assert exact[3] == pytest.approx(1 - stops * 7 / 8)
    assert all(exact[j] == pytest.approx(stops / 8) for j in range(8) if j != 3)


@pytest.mark.parametrize(("domain", "records", "exact"), [(256, 22, 1.999998), (2, 21, 1.542216), (2, 22, 1.999996)])
def test_refuted_as_a_dist_is(domain: int, records: int, exact: float) -> None:
    found = exact_epsilon(LearnPoints(1.0, 1e-6, domain), *positive(records, 1), 1e-6)
    assert found == pytest.approx(exact, abs=5e-7)


@pytest.mark.slow(fast=["LearnPointsCorrected-False-0.2-0.1"])
@pytest.mark.parametrize(("alpha", "beta"), [(0.2, 0.1), (0.1, 0.2)])
@pytest.mark.parametrize("heavy", [True, False])
@pytest.mark.parametrize("kind", [LearnPoints, LearnPointsCorrected])
def test_learner_is_accurate(
    alpha: float, beta: float, heavy: bool, kind: type[LearnPoints] | type[LearnPointsCorrected]
) -> None:
    # heavy: the target's mass is above α, so every other answer fails; light: the target has no mass, as many points
    # as possible have more than α, and ⊥ leads to a random concept. 400 samples of the lemma's size; more failures than
    # β·400 + 5 standard deviations are a false alarm of 6e-7 at most
    domain = math.ceil(2 / (alpha * beta))
    mechanism = kind(1.0, 1e-4, domain)
    printed = max(8 / alpha * math.log(4 / (beta * 1e-4)), 16 / alpha * math.log(2 / beta))
    n = mechanism.sample_size(alpha, beta) if isinstance(mechanism, LearnPointsCorrected) else math.ceil(printed)
    target, chosen = domain - 1, 1 if heavy else math.floor(1 / (1.01 * alpha))
    bad = slice(target, domain) if heavy else slice(0, chosen)
    weights = np.full(domain, (1 - chosen * 1.01 * alpha) / (domain - chosen - (not heavy)))
    weights[target] = 0.0
    weights[bad] = 1.01 * alpha
    rng = np.random.default_rng(8)
    failures = 0
    for seed in range(400):
        points = rng.choice(domain, n, p=weights)
        S = Multiset.of((int(x), int(x == target)) for x in points)
        (j,) = sample(mechanism, S, 1, seed=seed).counts
        error = 0.0 if j == target else weights[target] + weights[j]  # type: ignore[index]
        failures += error > alpha
    assert failures <= beta * 400 + 5 * math.sqrt(400 * beta * (1 - beta))


def test_one_point() -> None:
    assert law(LearnPoints(1.0, 1e-6, 1), ((0, 0),)).as_dict() == {0: 1.0}


@pytest.mark.parametrize(
    "bad",
    [
        lambda: LearnPoints(1.0, 1e-6, 0),
        lambda: LearnPoints(0.0, 1e-6, 4),
        lambda: LearnPointsCorrected(1.0, 0.0, 4),
        lambda: LearnPointsCorrected(1.0, 1e-6, 4).sample_size(0.0, 0.1),
    ],
)
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(ParameterError):
        bad()
