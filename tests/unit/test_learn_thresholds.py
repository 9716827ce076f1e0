"""LearnThresholds: its quality, constants, utility at the paper's sample size, and where its claim fails."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.errors import DatasetError, MechanismError, ParameterError
from dpaudit.interpret import align, law, ledger, sample
from dpaudit.language import Multiset
from dpaudit.stats.hockey_stick import profile_symmetric
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds, LearnThresholdsCorrected


def test_quality_counts_consistent_examples() -> None:
    rng = np.random.default_rng(0)
    S = tuple((int(x), int(y)) for x, y in zip(rng.integers(0, 9, 40), rng.integers(0, 2, 40), strict=True))
    expected = [sum(int((x <= j) == bool(y)) for x, y in S) for j in range(9)]
    assert Consistency(9)(S).values.tolist() == expected


def test_shares_and_sample_size() -> None:
    learner = LearnThresholds()
    assert learner.depth == 4
    inner = learner.run(((0, 1),))
    assert (inner.mechanism.alpha, inner.mechanism.epsilon, inner.mechanism.delta, inner.mechanism.promise) == (
        0.05, 1 / 12, 1e-6 / 12, 1.0,
    )  # fmt: skip
    two = LearnThresholds(2**16, 0.1, 1.0, 1e-6, N=2)
    logs = math.log2(24 / (0.1 * 1e-6)) + 4  # log log 2^16 = 4
    assert two.sample_size(0.1) == math.ceil(64 * 144 / 0.1 * logs)


@pytest.mark.parametrize("version", [LearnThresholds, LearnThresholdsCorrected])
@pytest.mark.parametrize("target", [0, 1, 30_000, 65_534, 65_535])
def test_theorem_6_17_at_its_sample_size(
    version: type[LearnThresholds] | type[LearnThresholdsCorrected], target: int
) -> None:
    learner, beta = version(2**16, 0.5, 1.0, 1e-6, N=2), 0.1
    n = learner.sample_size(beta)
    points = np.random.default_rng(target).integers(0, 2**16, 1000).tolist()
    S = Multiset.counted({(x, int(x <= target)): n // len(set(points)) + 1 for x in set(points)})
    correct = Consistency(2**16)(S).values
    # by law: error_S ≤ α/2 but for a probability of β/2
    out = law(learner, S).as_dict()
    assert sum(p for k, p in out.items() if correct[k] < (1 - learner.alpha / 2) * len(S)) <= beta / 2
    runs = 1000
    errors = sum(times for k, times in sample(learner, S, runs, seed=1).counts.items() if correct[k] < 0.75 * len(S))
    # Hoeffding: a false alarm with probability 1e-9 at most
    assert errors <= runs * beta / 2 + math.sqrt(runs * math.log(1e9) / 2)


def test_large_epsilon_costs_more_than_delta() -> None:
    left = Multiset.counted({(5, 1): 100, (6, 0): 100, (13, 1): 1, (20, 1): 101, (21, 0): 101})
    right = left.changed(remove=((13, 1),), add=((13, 0),))
    printed, corrected = (v(41, 1.0, 15.0, 0.06, N=2) for v in (LearnThresholds, LearnThresholdsCorrected))
    excess = []
    for learner in (printed, corrected):
        _, p, q = align(law(learner, left), law(learner, right))
        excess.append(float(profile_symmetric(p, q, [15.0])[0]))
    passes = 0.5 * math.exp(5 - math.log2(100))
    assert excess[0] == pytest.approx(1 - (1 - passes) ** 2)
    assert excess[0] > 3 * 0.06
    assert excess[1] < 0.06


def test_wrong_inputs_are_named() -> None:
    with pytest.raises(ParameterError, match="log"):
        LearnThresholds(2**16, N=5)
    with pytest.raises(ParameterError, match="size"):
        LearnThresholds(1)
    with pytest.raises((DatasetError, MechanismError), match="example"):
        law(LearnThresholds(8), (3,))


def test_the_ledger_of_the_corrected_version_balances() -> None:
    entry = ledger(LearnThresholdsCorrected(64, N=2), Multiset.of(((20, 1), (30, 0))))
    assert entry.balanced
    assert entry.complete
