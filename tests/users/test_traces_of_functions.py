"""Traces of the functions of this folder: no alarm for a correct one, and most wrong ones are located."""

from __future__ import annotations

import inspect

import frames
import functions
import numpy as np
import pytest
from functions import Case

import dpaudit
from dpaudit.traces.alarms import Trace

pd = pytest.importorskip("pandas")

SILENT = {"whole_count", "median_doubled", "bestseller", "crowded_days", "colours_told"}
"""Wrong ones of which a trace says nothing: truncated noise, a choice, an argmax, a threshold, randomised response."""
TABLES = {case.name: case for case in frames.CASES}


def _traced(case: Case, seed: int) -> Trace:
    pair = case.pair
    if case in frames.CASES:
        array = case.data.startswith("array")
        pair = tuple(
            np.array(records) if array else pd.DataFrame(records, columns=["age", "city", "income"])
            for records in case.pair
        )
    return dpaudit.trace(
        case.function, epsilon=case.epsilon, delta=case.delta, relation=case.relation, pair=pair, seed=seed
    )


@pytest.mark.parametrize("case", [*functions.CORRECT, *frames.CORRECT], ids=lambda case: case.name)
def test_a_correct_one_gets_no_alarm(case: Case) -> None:
    for seed in range(3):
        trace = _traced(case, seed)
        assert not trace.alarms, str(trace)
        assert trace.executions <= 20


@pytest.mark.parametrize("case", [*functions.WRONG, *frames.WRONG], ids=lambda case: case.name)
def test_a_wrong_one_is_located_in_its_own_lines(case: Case) -> None:
    trace = _traced(case, 0)
    lines, first = inspect.getsourcelines(case.function)
    if case.name in SILENT:
        assert not trace.alarms
        return
    assert trace.alarms, str(trace)
    for alarm in trace.alarms:
        assert all(first <= place.line < first + len(lines) for place in alarm.places), str(alarm)
