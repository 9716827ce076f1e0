"""Hypothesis strategies as the data of `dp_audit`: real searches, their database, and what does not go with them.

A correct claim is refuted with probability α = 0.001 a session at most; the seeds are fixed.
"""

from __future__ import annotations

import pytest
from hypothesis.database import InMemoryExampleDatabase
from plugin_runs import Runs

SUITE = """
from hypothesis import strategies as st
from dpaudit import strategies as dst

def total(dataset, rng, size):
    return np.round(sum(min(x, 5) for x in dataset) + rng.laplace(0, 2.0, size))
"""
FEW = "--dp-runs=600"


@pytest.mark.slow
def test_a_strategy_of_records(runs: Runs) -> None:
    ran = runs(
        SUITE
        + """
@pytest.mark.dp(data=st.integers(0, 10), size=3, min_power=float("inf"))
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_it(dp_audit, epsilon):
    result = dp_audit(total, epsilon=epsilon)
    assert result.audits[0].case == "found pairs"
""",
        FEW,
    )
    assert [audit["verdict"] for audit in ran.audits] == ["fail", "pass"]
    assert ran.text.count("(1 record)") == 2, "the pair is shrunk"
    assert "D   [‹" in ran.text


@pytest.mark.slow
def test_a_strategy_of_pairs(runs: Runs) -> None:
    ran = runs(
        SUITE
        + """
PAIRS = dst.neighbours("add-remove-one", "integers(0, 10)", max_size=4)

@pytest.mark.dp(relation="add-remove-one", min_power=float("inf"))
def test_it(dp_audit):
    dp_audit(total, epsilon=2.6, data=PAIRS)
    dp_audit(total, epsilon=1.0, data=PAIRS)

def test_of_another_relation(dp_audit):
    dp_audit(total, epsilon=1.0, data=PAIRS)

def test_of_groups(dp_audit):
    dp_audit(total, epsilon=1.0, data=st.integers(0, 1), groups=2)
""",
        FEW,
    )
    assert [audit["verdict"] for audit in ran.audits] == ["pass", "fail"]
    assert ran.text.count("(0 records)") == 1, "the pair is shrunk"
    assert "The strategy yields no two different datasets that are replace-one neighbours" in ran.text
    assert "leave groups out and give relation='replace-one:2'" in ran.text


@pytest.mark.slow
def test_the_same_seed_has_the_same_outcome_with_an_empty_database_and_after(
    runs: Runs, kept: InMemoryExampleDatabase
) -> None:
    tests = (
        SUITE
        + """
def test_it(dp_audit):
    dp_audit(total, epsilon=1.0, data=st.integers(0, 10), size=3)

def test_of_the_same_function(dp_audit):
    dp_audit(total, epsilon=2.6, data=st.integers(0, 10), size=3, min_power=float("inf"))
"""
    )
    first = runs(tests, FEW)
    assert [audit["verdict"] for audit in first.audits] == ["fail", "pass"]
    assert kept.data
    again = runs(tests, FEW)
    assert again.numbers == first.numbers


@pytest.mark.slow
def test_a_pair_that_refuted_is_met_again_by_another_seed(runs: Runs, kept: InMemoryExampleDatabase) -> None:
    """One record of a million breaks the claim: too rare to be found twice, but it is kept."""
    suite = (
        SUITE
        + """
def bugged(dataset, rng, size):
    return 40 * dataset.count(777_777) + rng.laplace(0, 1, size)

def test_it(dp_audit):
    dp_audit(bugged, epsilon=1.0, data=RECORDS)
"""
    )
    lucky = suite + "RECORDS = st.integers(0, 10**6) | st.integers(777_777, 777_777)\n"
    plain = suite + "RECORDS = st.integers(0, 10**6) | st.integers(0, 10**6)\n"
    options = (FEW, "--dp-seed=3")
    assert [audit["verdict"] for audit in runs(plain, *options).audits] == ["pass"]
    kept.data.clear()
    assert [audit["verdict"] for audit in runs(lucky, FEW).audits] == ["fail"]
    assert [audit["verdict"] for audit in runs(plain, *options).audits] == ["fail"]
