"""`dpaudit.audit` of functions as people write them: the verdict is the truth of each.

A correct claim is refuted with probability α = 0.001 an audit at most; the seeds are fixed.
"""

from __future__ import annotations

import pytest
from functions import CASES, CORRECT, WRONG, Case

import dpaudit
from dpaudit.results.model import Verdict

QUICK = {
    "large_orders", "first_crowded_day", "winner", "adults", "whole_count", "dose_with_nan", "mean_between_extremes",
    "winner_with_one_noise", "crowded_days", "reproducible_total",
}  # fmt: skip
"""Less than two seconds of CPU each."""


def test_half_of_them_are_wrong() -> None:
    assert len(CASES) >= 40
    assert len(CORRECT) == len(WRONG)
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)
def test_a_wrong_one_is_refuted_on_its_pair(case: Case) -> None:
    result = dpaudit.audit(
        case.function, epsilon=case.epsilon, delta=case.delta, relation=case.relation, pair=case.pair, runs=5_000
    )
    assert result.verdict is Verdict.FAIL, case.why
    assert result.audit.epsilon_lower > case.epsilon
    # nobody can use a distinguishing event that is not described
    assert result.audit.event.description not in ("", "no output")


@pytest.mark.parametrize("case", CORRECT, ids=lambda case: case.name)
def test_a_correct_one_is_not_refuted_on_a_hard_pair(case: Case) -> None:
    result = dpaudit.audit(
        case.function, epsilon=case.epsilon, delta=case.delta, relation=case.relation, pair=case.pair, runs=1_000
    )
    assert result.verdict is Verdict.PASS, case.why


@pytest.mark.slow(fast=QUICK)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_verdict_is_the_truth_on_pairs_that_are_found(case: Case) -> None:
    result = dpaudit.audit(
        case.function, epsilon=case.epsilon, delta=case.delta, relation=case.relation, data=case.data, size=case.size,
        runs=5_000,
    )  # fmt: skip
    assert result.verdict is (Verdict.PASS if case.correct else Verdict.FAIL), f"{case.why}\n{result}"
