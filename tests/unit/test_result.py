"""The result that `dpaudit`'s functions return: one or several audits, text, files; it is neither true nor false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import example_results
import pytest
from sample_audits import sample_audits, sample_comparison

import dpaudit
from dpaudit.api.result import Result
from dpaudit.errors import ReportError, UnknownNameError, UsageError
from dpaudit.results import json_form
from dpaudit.results.model import Result as Plain
from dpaudit.results.model import Verdict

EXAMPLES = example_results.every()
VERDICTS = {
    "fail": Verdict.FAIL, "proved": Verdict.PASS, "inconclusive": Verdict.INCONCLUSIVE, "several": Verdict.FAIL,
    "utility": Verdict.FAIL,
}  # fmt: skip


def made(name: str) -> Result:
    return Result.of(EXAMPLES[name])


@pytest.mark.slow(fast=["proved", "inconclusive", "crashed", "density", "prior", "none", "utility_alone"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_there_and_back(name: str, tmp_path: Path) -> None:
    result = made(name)
    text = result.to_json()
    assert text == json_form.to_json(EXAMPLES[name]), "the same bytes as the command line's"
    back = Result.from_json(text)
    assert type(back) is Result
    assert back == result
    assert back.to_json() == text
    result.save(tmp_path / "r.json")
    assert dpaudit.load(tmp_path / "r.json") == result
    result.save(str(tmp_path / "r.HTML"))
    assert (tmp_path / "r.HTML").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.parametrize("audited", [sample_audits, sample_comparison])
def test_audits_there_and_back(audited: Callable[[], Plain], tmp_path: Path) -> None:
    result = Result.of(audited())
    result.save(tmp_path / "r.json")
    assert dpaudit.load(tmp_path / "r.json") == result
    assert len(result) == len(result.every) > 10


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"must end in \.json or \.html"):
        made("fail").save(tmp_path / "r.pdf")
    with pytest.raises(ReportError, match="No such file"):
        made("fail").save(tmp_path / "nowhere" / "r.json")
    with pytest.raises(ReportError, match="Cannot read"):
        dpaudit.load(tmp_path / "r.json")
    with pytest.raises(ReportError, match="the text: this is not JSON"):
        Result.from_json("{")


@pytest.mark.parametrize(("name", "verdict"), VERDICTS.items())
def test_the_verdict_is_the_worst(name: str, verdict: Verdict) -> None:
    assert made(name).verdict is verdict


def test_one_audit_is_asked_directly() -> None:
    result, audit = made("fail"), EXAMPLES["fail"].audits[0]
    assert (result.audit, result.claim, result.reason) == (audit, audit.claim, audit.reason)
    assert (result.epsilon_lower, result.epsilon_exact) == (1.3741, 1.3912)


def test_of_several_one_is_taken() -> None:
    several = made("several")
    with pytest.raises(UsageError, match=r"has 6 audits \('paper constants'.*result\[0\], or result\.only\(case\)"):
        _ = several.claim
    with pytest.raises(UsageError, match="has no privacy audit"):
        _ = made("utility_alone").audit
    with pytest.raises(UsageError, match="no audits, so it has no verdict"):
        _ = made("none").verdict
    assert [one.audit for one in several] == several.audits == [several[i].audit for i in range(len(several))]
    assert several[-1].audit == several.audits[-1]
    with pytest.raises(IndexError):
        _ = several[6]
    assert several.only("group of 2").audit.case == "group of 2"
    assert several.only("noisy_mean").audit.name == "noisy_mean"
    assert several.only("NoisyMax · paper constants").audit.name == "NoisyMax"
    with pytest.raises(UnknownNameError, match="Did you mean paper constants"):
        several.only("paper constant")
    twice = replace(several, audits=[several.audits[0]] * 2)
    with pytest.raises(UsageError, match="2 audits of this result are called"):
        twice.only("paper constants")
    guarantee = made("utility")[2]
    assert guarantee.audits == []
    assert len(guarantee.utility) == 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_neither_true_nor_false(name: str) -> None:
    with pytest.raises(TypeError, match="assert_private"):
        assert made(name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_text(name: str) -> None:
    result = made(name)
    text, line = str(result), repr(result)
    assert all(audit.name in text for audit in result.every)
    assert max(map(len, text.splitlines()), default=0) <= 80
    assert "\x1b" not in text
    assert line.startswith("<dpaudit.Result ")
    assert "\n" not in line
    if len(result) == 1:
        assert line.partition(":")[2]


def test_text_is_what_the_command_line_prints() -> None:
    text = (Path(__file__).parents[1] / "snapshots" / "console_fail.txt").read_text(encoding="utf-8")
    assert str(made("fail")).split() == text.split()


def test_it_is_a_result_for_everything_that_takes_one() -> None:
    assert isinstance(made("fail"), Plain)
    assert made("fail") != EXAMPLES["fail"], "equal results are of one class"
    assert made("fail").exit_code == 1
