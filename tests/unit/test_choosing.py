"""The choosing mechanism: its threshold, its set of good solutions, Lemmas 7.9 to 7.11."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from exact_pairs import exact_epsilon

from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, Given, Multiplicity, Multiset, ParameterError, Quality, Scores
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism

THREE = Multiplicity((0, 1, 2))


@dataclass(frozen=True)
class Present(Quality):
    """Multiplicities of the values that occur; all others are left out."""

    growth = 1

    def __call__(self, dataset: Any) -> Scores:
        records = Multiset.of(dataset)
        return Scores(records.counts, records.values)


def test_law_by_hand() -> None:
    mechanism = ChoosingMechanism(0.5, 2.0, 0.05, THREE)
    passes = 0.5 * math.exp(-(4 * math.log(80) - 6) / 2)
    weights = np.exp([3.0, 1.0])  # (ε/4)·q = q/2 for q = 6, 2
    exact = law(mechanism, Multiset.counted({0: 6, 1: 2})).as_dict()
    assert exact[BOTTOM] == pytest.approx(1 - passes)
    assert exact[0] == pytest.approx(passes * weights[0] / weights.sum())
    assert exact[1] == pytest.approx(passes * weights[1] / weights.sum())
    assert 2 not in exact  # q = 0 is not good


def test_absent_solutions_may_be_left_out() -> None:
    for counts in ({0: 9, 2: 3}, {1: 1}, {}):
        mechanisms = [ChoosingMechanism(0.5, 2.0, 0.05, quality) for quality in (THREE, Present())]
        laws = [law(mechanism, Multiset.counted(counts)).as_dict() for mechanism in mechanisms]
        assert laws[0].keys() == laws[1].keys()
        assert laws[0] == pytest.approx(laws[1])


def test_no_good_solution_gives_bottom() -> None:
    mechanism = ChoosingMechanism(0.9, 2.0, 0.9, THREE)
    assert law(mechanism, Multiset.counted({7: 4})).as_dict() == {BOTTOM: pytest.approx(1.0)}


def test_constants_of_the_printed_proof() -> None:
    """Every inequality of the proof of Lemma 7.9 at the corners of its range."""
    for beta in (1e-6, 0.5, 1.0):
        for epsilon in (1e-3, 0.5, 2.0):
            for delta in (1e-9, 1.0):
                for k in (1, 7):
                    term = math.log(4 * k / (beta * epsilon * delta))
                    case_a = 0.5 * math.exp(-term)  # Pr[Lap(4/ε) > (4/ε)·ln(…)]
                    fact_1 = math.exp(epsilon / 4) * beta * epsilon * delta / (4 * k)
                    x = math.exp(term)
                    fact_3 = k * math.exp(epsilon / 4) + math.exp(epsilon / 4) * x
                    assert case_a <= delta
                    assert fact_1 <= delta / k
                    assert fact_3 <= math.exp(epsilon / 2) * x


def test_privacy_loss_stays_within_three_quarters() -> None:
    # passing the threshold costs ε/4, and two even solutions ε/2 more
    mechanism = ChoosingMechanism(0.1, 1.0, 1e-6, Multiplicity((0, 1)))
    worst = max(
        exact_epsilon(
            mechanism, Multiset.counted({0: n, 1: m}), Multiset.counted({0: n - 1, 1: m + 1}), 1e-6
        )
        for n in range(100, 180, 8)
        for m in range(0, 180, 8)
    )
    assert 0.4 < worst < 0.75


def test_lemma_7_11_measured() -> None:
    # OPT = (16/ε)·ln(4k/(βεδ)) and one solution each of quality 1: the lemma guarantees q ≥ 1 but for β = 0.2
    mechanism = ChoosingMechanism(0.2, 1.0, 0.01, Multiplicity(tuple(range(20))))
    n = math.ceil(2 * mechanism.threshold)
    counts = sample(mechanism, Multiset.counted({0: n, **dict.fromkeys(range(1, 20), 1)}), 20_000, seed=3).counts
    # Clopper–Pearson is not needed: the truth is below 1e-6, so more than 10 failures have probability below 1e-20
    assert counts.get(BOTTOM, 0) <= 10


def test_lemma_7_10_exactly() -> None:
    mechanism = ChoosingMechanism(0.2, 1.0, 0.01, Multiplicity(tuple(range(20))))
    n = 300 + 19 * 5
    slack = 16 * math.log(4 * n / (0.2 * 0.01))
    assert slack < 300 - 5  # so that solution 0 alone is good
    exact = law(mechanism, Multiset.counted({0: 300, **dict.fromkeys(range(1, 20), 5)})).as_dict()
    assert sum(p for f, p in exact.items() if f is BOTTOM or f != 0) <= 0.2


def test_huge_solution_set_costs_nothing() -> None:
    mechanism = ChoosingMechanism(0.1, 1.0, 1e-6, Present())
    S = Multiset.counted({2**16 + i: 300 for i in range(20)})
    assert len(law(mechanism, S)) <= 21


@pytest.mark.parametrize(
    "bad",
    [
        lambda: ChoosingMechanism(0.0, 1.0, 1e-6, THREE),
        lambda: ChoosingMechanism(0.1, 2.5, 1e-6, THREE),
        lambda: ChoosingMechanism(0.1, 0.0, 1e-6, THREE),
        lambda: ChoosingMechanism(0.1, 1.0, 0.0, THREE),
        lambda: ChoosingMechanism(0.1, 1.0, 1e-6, Given()),
    ],
)
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(ParameterError):
        bad()
