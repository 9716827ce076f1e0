"""The script that compares two JSON results field by field."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import compare_results

BEFORE: dict[str, Any] = {
    "audits": [
        {"name": "A", "case": "one", "verdict": "pass", "exact": [{"epsilon": 1.0}, {"epsilon": 0.5}]},
        {"name": "A", "case": "one", "verdict": "fail", "exact": []},
    ],
    "utility": [{"name": "A", "case": "two", "runs": 10}],
}


def test_equal_results_have_no_differences() -> None:
    assert list(compare_results.differences(BEFORE, copy.deepcopy(BEFORE))) == []


def test_every_kind_of_difference_is_listed() -> None:
    after = copy.deepcopy(BEFORE)
    after["audits"][0]["exact"][1]["epsilon"] = 0.25
    after["audits"][1]["exact"] = [{"epsilon": 2.0}]
    del after["utility"][0]
    assert list(compare_results.differences(BEFORE, after)) == [
        "audits.exact[].epsilon: differs in 2 of 2 audits, e.g. A, one: '0.5' → '0.25'",
        "audits.exact.length: differs in 1 of 2 audits, e.g. A, one: '0' → '1'",
        "utility: only before: A, two",
    ]


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), (None, 0), (float("nan"), 0.0)])
def test_values_that_python_calls_equal_differ(one: Any, other: Any) -> None:
    before, after = ({"audits": [{"name": "A", "case": "one", "epsilon": value}]} for value in (one, other))
    assert len(list(compare_results.differences(before, after))) == 1
    assert list(compare_results.differences(before, copy.deepcopy(before))) == []


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("before", BEFORE), ("after", {**BEFORE, "utility": []})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    before, after = str(tmp_path / "before.json"), str(tmp_path / "after.json")
    assert compare_results.main([before, before]) == 0
    assert compare_results.main([before, after]) == 1
    assert compare_results.main([before]) == 2
    assert compare_results.main([before, str(tmp_path / "missing.json")]) == 2
    (tmp_path / "list.json").write_text("[1]")
    assert compare_results.main([before, str(tmp_path / "list.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 3
