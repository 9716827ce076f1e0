"""How many samples there is time for, and that an audit with a time limit takes no more."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpaudit
from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.describe import Integers
from dpaudit.engine import orchestrator
from dpaudit.evidence.needed import samples_needed
from dpaudit.evidence.pace import foreseen, measure, within_time
from dpaudit.evidence.side_by_side import Work, share_of_time
from dpaudit.language import Claim
from dpaudit.plans.job import GivenPairs, PairSearch
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.subjects.target import FunctionTarget

PAIR = ((0, 1), (1, 1))
POWER: dict[str, Any] = {"alpha": 0.0003, "min_power": 2.0}
NEEDED = samples_needed(Claim(1.0), **POWER).for_power


def slow(data: Any, rng: Any) -> Any:
    time.sleep(0.001)
    return sum(data) + rng.laplace(0, 1)


def job(*, pairs: int = 1, kind: Any = GivenPairs, **more: Any) -> Any:
    of = FunctionTarget("slow", "", slow)
    return kind(
        target=of, label="pairs", claim=Claim(1.0), replay="0", runs=100_000, pairs=(Pair(*PAIR, "a pair"),) * pairs,
        **more,
    )


def test_samples_fit_into_the_time() -> None:
    fewer = within_time(job(), pace=0.01, seconds=60, workers=1, **POWER)
    assert NEEDED is not None
    assert NEEDED < fewer.runs < 60 / 0.02
    assert fewer.runs == 2_300
    assert within_time(job(), pace=0.01, seconds=60, workers=2, **POWER).runs == 4_600
    assert within_time(job(pairs=2), pace=0.01, seconds=60, workers=1, **POWER).runs == 1_100


def test_with_time_for_all_samples_none_is_missing() -> None:
    assert within_time(job(), pace=1e-6, seconds=60, workers=1, **POWER) == job()
    assert within_time(job(), pace=0.0, seconds=60, workers=1, **POWER) == job()


def test_with_no_time_for_power_every_sample_tests_the_claim() -> None:
    assert within_time(job(), pace=0.1, seconds=60, workers=1, **POWER) == job()
    assert within_time(job(), pace=0.1, seconds=-1, workers=1, **POWER) == job()


def test_a_search_takes_half_of_the_time_and_leaves_pairs_with_power() -> None:
    searched = job(kind=PairSearch, pairs=3, records=Integers(0, 1))
    one = foreseen(searched, pace=0.02, seconds=60, workers=1, final=0.0003, min_power=2.0)
    assert (one.tests, one.runs) == (1, 560)
    three = foreseen(searched, pace=0.002, seconds=60, workers=1, final=0.0003, min_power=2.0)
    assert (three.tests, three.runs) == (3, 1_800)


def test_of_several_audits_each_has_its_share_but_no_less_than_power_needs() -> None:
    third = within_time(job(), pace=0.01, seconds=60, workers=1, share=1 / 3, **POWER)
    assert third.runs == 720
    tenth = within_time(job(), pace=0.01, seconds=60, workers=1, share=0.1, **POWER)
    assert tenth.runs == NEEDED
    searched = job(kind=PairSearch, pairs=3, records=Integers(0, 1))
    half = foreseen(searched, pace=0.002, seconds=120, workers=1, final=0.0003, min_power=2.0, share=0.5)
    # the search takes 30 seconds, and half of the other 90 are for samples
    assert (half.tests, half.runs) == (3, 2_800)


def test_shares_are_in_proportion_to_tests_and_those_at_once_count_together() -> None:
    work = [Work(job(pairs=pairs), 0.01) for pairs in (1, 3, 2)]
    assert share_of_time(work) == 1 / 6
    assert share_of_time(work[1:]) == 3 / 5
    assert share_of_time(work[2:]) == 1
    assert share_of_time(work, at_once=2) == 1 / 3
    assert share_of_time(work[1:], at_once=2) == 1
    assert share_of_time([Work(replace(job(), runs=0), 0.01)]) == 1


def test_the_pace_is_that_of_a_sample() -> None:
    target = FunctionTarget("slow", "", slow)
    some = measure([(target, data) for data in PAIR], seed=1)
    assert some.seconds > 0.001
    assert some.drawn >= sum(outputs.runs for outputs in some.outputs) > 2


def test_an_audit_of_slow_calls_ends_within_its_time_with_a_verdict() -> None:
    found = dpaudit.audit(slow, epsilon=1.0, pair=PAIR, time=10.0, progress=False)
    assert found.verdict == Verdict.PASS
    (evidence,) = found.audit.sampled
    (note,) = [note for note in found.audit.notes if note.code == "samples_in_time"]
    runs = note.values["runs"]
    assert isinstance(runs, int)
    assert evidence.n == runs - evidence.runs_trained
    assert evidence.runs_trained < evidence.n
    assert f"{runs:,} samples per dataset" in found.audit.reason
    again = dpaudit.audit(slow, epsilon=1.0, pair=PAIR, runs=runs, progress=False)
    assert again.audit.sampled == found.audit.sampled


def test_samples_that_are_asked_for_are_not_made_fewer() -> None:
    found = dpaudit.audit(slow, epsilon=1.0, pair=PAIR, time=1.5, runs=50_000, progress=False)
    assert found.verdict == Verdict.INCONCLUSIVE
    assert found.audit.reason_code == "time_limit"


@pytest.mark.parametrize("seconds", [20.0, 0.5])
def test_a_slow_function_is_told_what_there_is_time_for(seconds: float, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(data: Any, rng: Any) -> Any:
        time.sleep(0.005)
        return sum(data) + rng.laplace(0, 0.02)

    dpaudit.audit(broken, epsilon=1.0, pair=PAIR, time=seconds, progress=True)
    said = " ".join(capsys.readouterr().err.split())
    assert ("The time limit has time for about 1," in said) == (seconds == 20.0)


@pytest.mark.slow
def test_a_search_for_chains_leaves_time_for_its_ends() -> None:
    found = dpaudit.audit(slow, epsilon=1.0, data="integers(0, 1)", groups=2, time=24.0, progress=False)
    assert found.verdict == Verdict.PASS
    assert any(note.code == "samples_in_time" for note in found.audit.notes)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_several_slow_functions_all_have_a_verdict(jobs: int, tmp_path: Path) -> None:
    lines = ["import time"]
    for name in "fgh":
        lines += [f"def {name}(data, rng):", "    time.sleep(0.002)", "    return sum(data) + rng.laplace(0, 1)"]
    (tmp_path / "slow_functions.py").write_text("\n".join(lines), encoding="utf-8")
    names = tuple(f"{tmp_path / 'slow_functions.py'}:{name}" for name in "fgh")
    found = orchestrator.run(Request(names, epsilon=1.0, pair=PAIR, time=24.0, jobs=jobs))
    assert [audit.verdict for audit in found.audits] == [Verdict.PASS] * 3
    assert all(any(note.code == "samples_in_time" for note in audit.notes) for audit in found.audits)
