"""`dpaudit plan`: what an audit would take, before it is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from numpy.random import Generator
from typer.testing import CliRunner

import dpaudit
from dpaudit.cli.commands import app
from dpaudit.engine.planned import WORKERS, PlannedCase, planned
from dpaudit.errors import MechanismError
from dpaudit.plans.request import Request

PAIR = ((1, 0), (1, 1))


def noisy(data: Any, rng: Generator) -> float:
    return float(sum(data) + rng.laplace(0, 1))


def many(data: Any, rng: Generator, size: int) -> Any:
    return sum(data) + rng.laplace(0, 4, (size, 4))


def fails(data: Any, rng: Generator) -> float:
    raise ValueError("never")


def one(target: Any, **more: Any) -> PlannedCase:
    (case,) = planned(Request((target,), epsilon=1.1, **{"pair": PAIR, **more}))
    return case


@pytest.mark.parametrize("function", [noisy, many])
def test_the_samples_are_those_that_check_draws(function: Any) -> None:
    case = one(function, runs=3_000)
    audit = dpaudit.audit(function, pair=([1, 0], [1, 1]), epsilon=1.1, runs=3_000, progress=False).audit
    assert case.samples == audit.runs == 6_000
    assert audit.sampled[0].n == case.certification / 2


def test_bytes_are_those_of_the_outputs() -> None:
    assert one(noisy, runs=1_000).size == 8
    assert one(many, runs=1_000).size == 32


def test_tasks_are_whole_blocks() -> None:
    case = one(noisy, runs=1_000_000)
    assert case.longest % 10 == 0
    assert case.tasks == -(-case.samples // case.longest)
    assert one(many, runs=1_000_000).longest % 100_000 == 0


def test_more_workers_take_less_time_down_to_that_of_a_task_for_each_phase() -> None:
    case = PlannedCase("f", "pair", "1-DP", runs=1_000, learning=400, certification=1_600, pace=10.0, longest=10)
    assert [case.seconds(number) for number in WORKERS] == [20_000, 1_250, 200, 200]
    alone = PlannedCase("f", "pair", "1-DP", runs=1_000, certification=2_000, pace=10.0, longest=10, portable=False)
    assert {alone.seconds(number) for number in WORKERS} == {20_000.0}


def test_more_samples_detect_smaller_violations() -> None:
    some = [one(noisy, runs=runs).detectable for runs in (1_000, 100_000)]
    assert some[0] is not None
    assert some[1] is not None
    assert some[0] > some[1] > 1.1
    assert one(noisy, runs=20).detectable is None


def test_a_function_that_always_fails_is_said() -> None:
    case = one(fails)
    assert isinstance(case.failure, MechanismError)
    assert "never" in str(case.failure)


def test_a_search_has_samples_of_its_own() -> None:
    assert one(noisy, pair=None, data="integers(0, 1)", size=2).search > 0
    assert one(noisy).search == 0


def test_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.py").write_text("def f(data, rng):\n    return float(sum(data) + rng.laplace(0, 1))\n", encoding="utf-8")
    asked = ["plan", "f.py:f", "--epsilon", "1", "--pair", "[0]", "[1]", "--runs", "10000"]
    printed = CliRunner().invoke(app, [*asked, "--json", "plan.json"])
    assert printed.exit_code == 0
    assert "10,000 per dataset of one pair: 20,000 in all" in printed.stdout
    assert "4,096" in printed.stdout
    (case,) = json.loads(Path("plan.json").read_text(encoding="utf-8"))["cases"]
    assert case["samples"] == 20_000
    assert set(case["seconds"]) == {str(number) for number in WORKERS}


def test_exact_cases_have_no_samples() -> None:
    unsampled = [case.unsampled for case in planned(Request(("RecPrefix",))) if not case.samples]
    assert unsampled
    assert set(unsampled) == {"its output distributions are computed"}
