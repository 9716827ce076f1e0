"""Functions of frames and arrays: the verdict is the truth of each, on pairs of frames and on pairs that are found.

From Python, the command line, a test's fixture and Hypothesis. A correct claim is refuted with probability α = 0.001 an
audit, command or session at most; the seeds are fixed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frames import CASES, CORRECT, Case

import dpaudit

# pytester forgets modules that an inner run has imported first, and numpy cannot be imported twice
import dpaudit.pytest_plugin.auditor
import dpaudit.pytest_plugin.reports
from dpaudit import strategies as dst
from dpaudit.cli import commands
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


@pytest.mark.slow(fast=QUICK)
@pytest.mark.parametrize("case", [case for case in CASES if case.name in FOUND], ids=lambda case: case.name)
def test_the_verdict_is_the_truth_on_pairs_of_a_strategy(case: Case) -> None:
    pairs = dst.neighbours(case.relation, case.data)
    result = dpaudit.audit(case.function, epsilon=case.epsilon, relation=case.relation, data=pairs, runs=600)
    assert right(case, result), f"{case.why}\n{result}"


@pytest.mark.slow(fast=QUICK)
@pytest.mark.parametrize("case", [case for case in CASES if case.name in FOUND], ids=lambda case: case.name)
def test_the_verdict_is_the_truth_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: Case
) -> None:
    for name in ("functions.py", "frames.py"):
        (tmp_path / name).write_bytes(Path(__file__).with_name(name).read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPAUDIT_STORE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    words = ["check", f"frames.py:{case.name}", "--data", case.data, "--epsilon", str(case.epsilon)]
    words += ["--relation", case.relation, "--runs", "1000", "--jobs", "1", "--json", "result.json"]
    words += [] if case.size is None else ["--size", str(case.size)]
    monkeypatch.setattr(sys, "argv", ["dpaudit", *words])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    said = capsys.readouterr()
    (audit,) = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["audits"]
    assert audit["verdict"] == ("pass" if case in CORRECT else "fail"), f"{case.why}\n{said.out}"
    assert ended.value.code == (case not in CORRECT)


SUITE = """
import pytest
from frames import CASES
from test_frames import given

@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it(dp_audit, case):
    pair = tuple(given(case, records) for records in case.pair)
    dp_audit(case.function, epsilon=case.epsilon, relation=case.relation, pair=pair, runs=1_000)
"""


@pytest.mark.slow
def test_the_wrong_ones_fail_on_pairs_of_frames(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.dpaudit]\n")
    pytester.syspathinsert(Path(__file__).parent)
    pytester.makepyfile(SUITE)
    ran = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider", "-q", "-rfE")
    lines = [line for line in ran.stdout.str().splitlines() if line.startswith("FAILED ")]
    failed = {line.partition("[")[2].partition("]")[0] for line in lines}
    assert ran.parseoutcomes().get("errors", 0) == 0
    assert failed == {case.name for case in CASES if case not in CORRECT}
