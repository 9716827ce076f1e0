"""Functions of frames and arrays: the verdict is the truth of each, on pairs of frames and on pairs that are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from frames import CASES, CORRECT, Case

import dpaudit
from dpaudit.results.model import Verdict

pd = pytest.importorskip("pandas")

QUICK = {"column_means_with_the_noise_of_one", "largest_city_without_noise"}
FOUND = {
    *QUICK, "column_means", "histogram", "mean_income_unclipped", "people_by_city_that_occurs",
    "histogram_of_its_own_range",
}
"""For which searches take seconds; others spend half a millisecond a call in pandas."""


def given(case: Case, records: list[Any]) -> Any:
    if case.data.startswith("array"):
        return np.array(records)
    return pd.DataFrame(records, columns=["age", "city", "income"])


def right(case: Case, result: dpaudit.Result) -> bool:
    return result.verdict is (Verdict.PASS if case in CORRECT else Verdict.FAIL)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_verdict_is_the_truth_on_a_pair_of_frames(case: Case) -> None:
    one, other = (given(case, records) for records in case.pair)
    result = dpaudit.audit(
        case.function, epsilon=case.epsilon, relation=case.relation, pair=(one, other), runs=1_000
    )
    assert right(case, result), f"{case.why}\n{result}"


@pytest.mark.slow(fast=QUICK)
@pytest.mark.parametrize("case", [case for case in CASES if case.name in FOUND], ids=lambda case: case.name)
def test_the_verdict_is_the_truth_on_pairs_that_are_found(case: Case) -> None:
    result = dpaudit.audit(
        case.function, epsilon=case.epsilon, relation=case.relation, data=case.data, size=case.size, runs=1_000
    )
    assert right(case, result), f"{case.why}\n{result}"
